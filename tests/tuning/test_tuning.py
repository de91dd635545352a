"""Tuning: the same figures as a plain loop in memory over the same parts, and the very model of a fit."""

import gzip
import io
from collections import Counter

import numpy as np
import pytest

import novikoff
from novikoff.data.labels import Renaming, StreamClasses
from novikoff.data.scaling import Scaling
from novikoff.data.sources.cache import cached
from novikoff.data.sources.features import NumberedFeatures
from novikoff.training import streaming
from novikoff.training.plan import Plan
from novikoff.training.riffle import Riffle
from novikoff.training.weights import Settings
from novikoff.tuning import Candidate, Grid, tune
from novikoff.tuning.parts import Parts, splitmix64
from support.rows import libsvm

EVERYTHING = Grid(
    rules=["perceptron", "normalized", "margin", "pa", "pa1", "pa2", "arow", "scw"],
    averages=[False, True],
    epochs=[1, 3],
    scales=[None, "auto", "standard", "maxabs", "unit"],
    Cs=[0.1, 1.0],
)


USED = [("perceptron", 1.0)] + [(rule, C) for rule in ("pa1", "arow") for C in (0.1, 1.0, 10.0)]


def fold_of(first, n, seed, folds, split):
    return Parts.of(folds, split, seed).folds(np.arange(first, first + n))[0]


def problem(n=240, d=6, classes=2, seed=0, noise=0.5):
    """Rows that a line almost tells apart, with columns of very different size."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** np.arange(-2, d - 2)
    X[rng.random((n, d)) < 0.3] = 0.0
    scores = (X / 10.0 ** np.arange(-2, d - 2)) @ rng.normal(size=(d, classes)) + noise * rng.normal(
        size=(n, classes)
    )
    return X, scores.argmax(axis=1) * 2 - 1


def source_of(X, y, **how):
    return novikoff.open_source(io.BytesIO(libsvm(X, y)), **how)


def visited(learn, order, seed, epoch):
    """The rows learned from, in the order of an epoch, as places among them."""
    n = len(learn)
    every = Riffle(n, np.random.default_rng([seed, epoch])).order() if order == "riffle" else np.arange(n)
    return (np.cumsum(learn) - 1)[every[learn[every]]]


def twin(X, y, grid, fold, parts, settings=None, class_weight=None, order="riffle", seed=0):
    """Right predictions on held-out rows, by partial_fit on arrays, one candidate at a time."""
    settings = settings or {}
    classes = np.unique(y)
    found = Counter()
    for part in range(parts):
        learn, held = fold != part, fold == part
        for scale in grid.scales:
            A, B = X[learn], X[held]
            if scale is not None:
                block = streaming.Block(A, None, None, 0, str)
                scaling = Scaling.measure(scale, [block], NumberedFeatures(X.shape[1]))
                A, B = scaling.transform(A), scaling.transform(B)
            for rule in grid.rules:
                for C in grid.Cs if rule in ("pa1", "pa2", "arow", "scw") else [1.0]:
                    for average in grid.averages:
                        model = novikoff.Perceptron(rule=rule, C=C, average=average, scale=None, **settings)
                        done = False
                        for epoch in range(1, max(grid.epochs) + 1):
                            if not done:
                                before = getattr(model, "n_updates_", 0)
                                weight = None
                                if class_weight == "balanced":
                                    own = Counter(y[learn].tolist())
                                    weight = np.array(
                                        [learn.sum() / (len(own) * own[c]) for c in y[learn].tolist()]
                                    )
                                at = visited(learn, order, seed, epoch)
                                own_weight = None if weight is None else weight[at]
                                model.partial_fit(
                                    A[at], y[learn][at], classes=classes, sample_weight=own_weight
                                )
                                done = model.n_updates_ == before
                            if epoch in grid.epochs:
                                right = int((model.predict(B) == y[held]).sum())
                                found[Candidate(scale, rule, C, average, epoch)] += right
    return found


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("split", [None, 0.3])
@pytest.mark.parametrize("block_size", [500, 1 << 19])
@pytest.mark.parametrize("order", ["riffle", "cyclic"])
def test_as_a_plain_loop_in_memory(classes, split, block_size, order):
    X, y = problem(classes=classes)
    source = source_of(X, y, block_size=block_size)
    how = {"folds": 3, "split": split, "order": order, "random_state": 7, "n_jobs": 2, "thorough": True}
    result = tune(source, StreamClasses(), grid=EVERYTHING, **how)
    fold = fold_of(0, len(X), 7, 3, split)
    want = twin(X, y, EVERYTHING, fold, 3 if split is None else 1, order=order, seed=7)
    assert {outcome.candidate: sum(outcome.correct) for outcome in result.table} == dict(want)
    for outcome in result.table:
        assert sum(outcome.held_out) == np.count_nonzero(fold >= 0)
        assert outcome.accuracy == sum(outcome.correct) / sum(outcome.held_out)
    assert len({outcome.accuracy for outcome in result.table}) > 10, "there is something to choose"


def test_runs_that_converge_stay_as_they_are():
    """An averaged model is that of the epoch that made no update: later ones are never run."""
    X, y = problem(noise=0.0, n=60, d=3)
    grid = Grid(rules=["perceptron"], epochs=[1, 2, 40, 500], scales=["standard"])
    result = tune(source_of(X, y), StreamClasses(), grid=grid, folds=2, thorough=True)
    want = twin(X, y, grid, fold_of(0, len(X), 0, 2, None), 2)
    assert {outcome.candidate: sum(outcome.correct) for outcome in result.table} == dict(want)


@pytest.mark.parametrize("settings", [{"multiclass": "ovr"}, {"ties": "mistake"}, {"fit_intercept": False}])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_what_all_candidates_share(settings, class_weight):
    X, y = problem(classes=3, seed=3)
    grid = Grid(rules=["perceptron", "pa1"], epochs=[2], scales=[None])
    given = {k: v for k, v in settings.items() if k != "fit_intercept"}
    own = Settings(**given, bias_square=float(settings.get("fit_intercept", True)))
    source = source_of(X, y)
    result = tune(source, StreamClasses(), own, grid, folds=3, class_weight=class_weight, refit=False)
    want = twin(X, y, grid, fold_of(0, len(X), 0, 3, None), 3, settings, class_weight)
    assert {outcome.candidate: sum(outcome.correct) for outcome in result.table} == dict(want)
    assert result.learned is None


@pytest.mark.parametrize("scale", [None, "auto", "standard", "maxabs", "unit"])
@pytest.mark.parametrize("average", [False, True])
def test_the_model_is_that_of_a_fit(scale, average):
    X, y = problem(classes=3)
    grid = Grid(rules=["pa1"], averages=[average], epochs=[2, 4], scales=[scale], Cs=[0.1])
    found = tune(source_of(X, y), StreamClasses(), grid=grid)
    best = found.best
    settings = Settings(rule=best.rule, C=best.C, average=best.average)
    plain = streaming.fit(
        source_of(X, y),
        StreamClasses(),
        settings,
        Plan(max_epochs=best.epochs, order="riffle", rng=np.random.default_rng(0)),
        scale=scale,
    )
    assert found.learned is not None and found.classes == plain.classes.tolist()
    for averaged in (False, True):
        for a, b in zip(
            found.learned.model.coef(averaged=averaged), plain.model.coef(averaged=averaged), strict=True
        ):
            assert a.tobytes() == b.tobytes()


def test_memory_and_threads_change_nothing():
    X, y = problem()
    grid = Grid(rules=["perceptron", "pa1"], epochs=[1, 3])
    for thorough in (False, True):
        results = [
            tune(source_of(X, y), grid=grid, max_memory=memory, n_jobs=jobs, thorough=thorough)
            for memory, jobs in ((1, 1), (1000, 2), (1 << 30, 3))
        ]
        assert results[0].table == results[1].table == results[2].table


def test_the_better_half_goes_on():
    """The definition: after each number of epochs but the last, by the better of the last and the mean."""
    X, y = problem(noise=3.0)
    grid = Grid(rules=["perceptron", "pa1", "arow"], epochs=[1, 3, 4], scales=[None, "standard", "unit"])
    full, some = (
        {o.candidate: o for o in tune(source_of(X, y), grid=grid, folds=3, thorough=t, refit=False).table}
        for t in (True, False)
    )
    ways = list(dict.fromkeys((s, r, C) for s in grid.scales for r, C in USED))
    assert len(full) == 2 * 3 * len(ways) == 2 * 3 * 21
    going, expected = ways, set()
    for epochs in grid.epochs:
        tried = {way: [Candidate(*way, mean, epochs) for mean in (False, True)] for way in going}
        expected |= {candidate for each in tried.values() for candidate in each}
        best = {way: max(full[c].score for c in each) for way, each in tried.items()}
        chosen = sorted(going, key=lambda way: -best[way])[: -(-len(going) // 2)]  # of equals the first
        going = [way for way in going if way in chosen]
    assert len(expected) == 2 * (21 + 11 + 6)
    assert some == {candidate: full[candidate] for candidate in expected}


def test_the_first_part_decides_who_goes_on(monkeypatch):
    """Of 1,000 rows or more; those left at the end are judged by all parts, and one of them is chosen."""
    monkeypatch.setattr("novikoff.tuning.race.FEW_ROWS", 200)
    X, y = problem(noise=3.0)
    grid = Grid(rules=["perceptron", "pa1", "arow"], epochs=[1, 3, 4], scales=[None, "standard", "unit"])
    full = {o.candidate: o for o in tune(source_of(X, y), grid=grid, folds=3, thorough=True).table}
    found = tune(source_of(X, y), grid=grid, folds=3, max_memory=3000)
    left = [o for o in found.table if len(o.tallies) == 3]
    assert found.table[: len(left)] == left == [full[o.candidate] for o in left]
    assert len(left) == 6 * 3 * 2
    ways = {(o.candidate.scale, o.candidate.rule, o.candidate.C) for o in left}
    rest = found.table[len(left) :]
    assert len(rest) == 2 * (10 + 2 * 5)  # dropped after one epoch, and after three
    for outcome in rest:
        assert outcome.tallies == full[outcome.candidate].tallies[:1]
        assert (outcome.candidate.scale, outcome.candidate.rule, outcome.candidate.C) not in ways
    assert found.best == max(left, key=lambda o: (o.score, -o.candidate.epochs)).candidate


def test_few_ways_are_all_tried_to_the_end():
    X, y = problem()
    grid = Grid(rules=["perceptron", "normalized"], epochs=[1, 2, 3], scales=[None, "unit"])
    one, other = (tune(source_of(X, y), grid=grid, thorough=t, refit=False).table for t in (True, False))
    assert one == other
    assert len(one) == 4 * 2 * 3


@pytest.mark.parametrize(("n", "parts", "held"), [(240, 20, 4), (1200, 5, 1)])
def test_few_rows_are_divided_in_four_ways(n, parts, held):
    X, y = problem(n=n)
    grid = Grid(rules=["perceptron"], averages=[True], epochs=[2], scales=["standard"])
    result = tune(source_of(X, y), grid=grid, refit=False)
    (outcome,) = result.table
    folds = Parts.of("auto", None, 0).for_rows(n).folds(np.arange(n))
    assert len(outcome.tallies) == parts
    assert sum(outcome.held_out) == held * n
    for division in range(held):
        own = twin(X, y, grid, folds[division], 5)
        assert sum(outcome.correct[5 * division : 5 * division + 5]) == own[outcome.candidate]
    assert len({row.tobytes() for row in folds}) == held


def test_of_many_rows_one_part_is_held_out(monkeypatch):
    monkeypatch.setattr("novikoff.tuning.parts.MANY_ROWS", 240)
    X, y = problem()
    grid = Grid(rules=["perceptron"], epochs=[1], scales=["maxabs"])
    one = tune(source_of(X, y), grid=grid, refit=False)
    five = tune(source_of(X, y), grid=grid, folds=5, refit=False)
    assert one.parts == "1 of 5 folds"
    assert {o.candidate: o.correct for o in one.table} == {o.candidate: o.correct[:1] for o in five.table}


def test_sorted_rows_are_no_trap():
    """In the order of their classes rows give poor weights; tuning riffles them, and its model is good."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 100)
    X = rng.normal(size=(600, 12)) + 2 * np.eye(12)[y]
    found = tune(source_of(X, y))
    assert found.table[0].accuracy > 0.6
    in_order = tune(source_of(X, y), order="cyclic", grid=Grid(rules=["perceptron"], averages=[False]))
    assert in_order.table[0].accuracy < found.table[0].accuracy - 0.1


def test_of_equals_the_simplest_is_taken():
    text = b"".join(b"%d 1:1 2:%d\n" % (i % 2, 2 * (i % 2) - 1) for i in range(100))
    grid = Grid(
        rules=["pa1", "perceptron"], averages=[True, False], epochs=[5, 3, 4], scales=["unit", None], Cs=[1.0]
    )
    result = tune(novikoff.open_source(io.BytesIO(text)), StreamClasses(), grid=grid)
    assert {outcome.accuracy for outcome in result.table} == {1.0}
    assert result.best == Candidate("unit", "pa1", 1.0, True, 3)
    assert [outcome.candidate.epochs for outcome in result.table] == [3] * 8 + [4] * 8 + [5] * 8


def test_scaling_never_sees_what_is_held_out():
    """A held-out row of enormous values changes nothing for those who learn without it."""
    X, y = problem(n=60, d=3)
    fold = fold_of(0, 60, 0, 3, None)
    grid = Grid(rules=["perceptron"], epochs=[2], scales=["standard"])
    base = tune(source_of(X, y), StreamClasses(), grid=grid, folds=3, refit=False)
    row = int(np.flatnonzero(fold == 1)[0])
    X[row] *= 1e9
    moved = tune(source_of(X, y), StreamClasses(), grid=grid, folds=3, refit=False)
    changed = {o.candidate: o.correct[1] for o in moved.table}
    for outcome in base.table:
        assert abs(outcome.correct[1] - changed[outcome.candidate]) <= 1, (
            "only this row may be judged otherwise"
        )


def test_rows_of_weight_zero_are_not_there():
    X, y = problem(n=80, d=3)
    lines = [
        f"{label} {0 if i % 4 == 0 else 2} | " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1))
        for i, (row, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True))
    ]
    grid = Grid(rules=["perceptron"], epochs=[1], scales=[None])
    source = novikoff.open_source(io.BytesIO("\n".join(lines).encode()), format="vw")
    result = tune(source, StreamClasses(), grid=grid, folds=2, order="cyclic")
    kept = np.arange(80) % 4 != 0
    want = twin(X[kept], y[kept], grid, fold_of(0, 80, 0, 2, None)[kept], 2, order="cyclic")
    assert {outcome.candidate: sum(outcome.correct) for outcome in result.table} == dict(want)
    assert sum(result.table[0].held_out) == 60 and result.n_rows == 80


def test_named_features_and_text_labels():
    text = "\n".join(
        f"{'spam' if i % 3 else 'ham'} | {'money' if i % 3 else 'lunch'} w{i % 17}" for i in range(200)
    )
    source = novikoff.open_source(io.BytesIO(text.encode()), format="vw", block_size=100)
    classes = StreamClasses(["nothing", "spam"], rename=Renaming({"ham": "nothing"}))
    result = tune(source, classes, grid=Grid(scales=[None, "standard"]), n_jobs=2)
    assert result.table[0].accuracy == 1.0 and result.classes == ["nothing", "spam"]


def test_parts_are_even_and_fixed():
    """The hash is SplitMix64, whose first outputs are published."""
    outputs = splitmix64(np.arange(3, dtype=np.uint64)).tolist()
    assert outputs == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert fold_of(0, 10, 0, 5, None).tolist() == fold_of(0, 20, 0, 5, None)[:10].tolist()
    assert fold_of(5, 10, 3, 5, None).tolist() == fold_of(0, 20, 3, 5, None)[5:15].tolist()
    assert fold_of(0, 10, 0, 5, None).tolist() != fold_of(0, 10, 1, 5, None).tolist()
    counts = np.bincount(fold_of(0, 100_000, 0, 5, None))
    assert len(counts) == 5 and abs(counts - 20_000).max() < 5 * np.sqrt(16_000)
    held = fold_of(0, 100_000, 0, 1, 0.25)
    assert set(held.tolist()) == {-1, 0} and abs((held == 0).sum() - 25_000) < 5 * np.sqrt(18_750)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"folds": 1}, "folds=1 is not possible: expected 'auto' or a whole number ≥ 2"),
        ({"split": 1.0}, "split=1.0 is not possible: expected None or a number between 0 and 1"),
        ({"random_state": None}, "random_state must be a whole number"),
        ({"grid": Grid(rules=["adaboost"])}, "rules=.*expected one or more of perceptron"),
        ({"grid": Grid(epochs=[0])}, "epochs=.*expected whole numbers ≥ 1"),
        ({"grid": Grid(epochs=[])}, "epochs=.*expected whole numbers ≥ 1"),
        ({"grid": Grid(scales=["log"])}, "scales=.*expected one or more of none, auto, standard"),
        ({"grid": Grid(Cs=[0.0])}, "Cs=.*expected numbers > 0"),
        ({"classes": StreamClasses(grow=True)}, "tuning finds the classes first"),
    ],
)
def test_impossible_requests(options, match):
    options = {"classes": StreamClasses()} | options
    with pytest.raises(ValueError, match=match):
        tune(novikoff.open_source(io.BytesIO(b"1 1:1\n2 1:2\n")), **options)


def test_a_class_of_one_row_is_wrong_where_it_is_held_out():
    """With three classes or more nobody has to remove it."""
    X, y = problem(n=200, classes=2, noise=0.0)
    X, y = np.vstack([X, 1000 * np.eye(6)[:1]]), np.append(y, 7)
    grid = Grid(rules=["perceptron"], epochs=[2], scales=["standard"])
    result = tune(source_of(X, y), grid=grid, folds=4)
    want = twin(X, y, grid, fold_of(0, 201, 0, 4, None), 4)
    assert {outcome.candidate: sum(outcome.correct) for outcome in result.table} == dict(want)
    assert all(sum(tally.right[2] for tally in outcome.tallies) == 0 for outcome in result.table)
    assert result.classes == [-1, 1, 7]


def test_too_little_to_tune_on():
    class Once(io.BytesIO):
        def seekable(self):
            return False

    def on(text, **options):
        return tune(novikoff.open_source(io.BytesIO(text), format="libsvm"), StreamClasses(), **options)

    with pytest.raises(ValueError, match="can be read only once, which is not enough for tuning"):
        tune(novikoff.open_source(Once(b"1 1:1\n2 1:2\n"), format="libsvm"), StreamClasses())
    with pytest.raises(ValueError, match=r"too few rows \(3\) to tune: part \d of 5 holds none out"):
        on(b"1 1:1\n2 1:1\n1 1:2\n")
    with pytest.raises(ValueError, match="at least two classes, but every row has the label '1'"):
        on(b"1 1:1\n" * 100)
    with pytest.raises(
        ValueError, match=r"no row of the class '3' is left for training when part . of 5 is held"
    ):
        on(b"1 1:1\n" * 50 + b"3 1:3\n", folds=5)
    with pytest.raises(ValueError, match="line 3: expected index:value"):
        on(b"1 1:1\n2 1:1\n1 oops\n")


@pytest.mark.parametrize("order", ["riffle", "cyclic"])
def test_columns_that_are_found_late(tmp_path, order):
    """Rows of a cache and kept rows, from before the last columns were found, are as wide as the weights."""
    lines = [
        f"{'spam' if i % 3 else 'ham'}\tword{i} {'now' if i % 3 else 'later'} word{i // 2}" for i in range(90)
    ]
    text = "\n".join(["label\ttext", *lines]).encode()
    options = {"format": "tsv", "label": "label", "text": "text", "block_size": 300}
    grid = Grid(rules=["perceptron"], epochs=[2], scales=[None, "maxabs"])
    plain, packed = tmp_path / "rows.tsv", tmp_path / "rows.tsv.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    found = [
        tune(source, grid=grid, folds=3, order=order).table
        for source in (
            novikoff.open_source(plain, **options),
            novikoff.open_source(packed, **options),
            cached(novikoff.open_source(plain, **options)),
            cached(novikoff.open_source(packed, **options)),
        )
    ]
    assert all(table == found[0] for table in found)
