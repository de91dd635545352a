"""A theorem is stated only beside runs that meet its hypotheses: what the ledger knows, and what is said."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff import Perceptron, Pocket, StructuredPerceptron, VotedPerceptron, _core
from novikoff.data.arrays import rows_of
from novikoff.parameters.linear import RULES
from novikoff.reference.digest import digest as plain_digest
from novikoff.theory import bounds, max_margin
from novikoff.training.ledger import (
    GREW,
    OTHER_ROWS,
    STARTED_ELSEWHERE,
    UNKNOWN_ROWS,
    WEIGHTED,
    Call,
    Ledger,
    Seen,
)
from support.lecture import SIX, SIX_Y
from support.structured_problems import Plainly, separable_sequences

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

XOR = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
XOR_Y = np.array([0, 1, 1, 0])


def seen(X, labels, weights=None):
    digest = _core.Digest()
    digest.add(_core.Examples(rows_of(X), np.asarray(labels, dtype=np.int32), weights), 0, X.shape[0])
    return Seen.of(digest)


# ---- the digest --------------------------------------------------------------------------------------
def sample(seed, n=13, d=23):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, d)) * (rng.random((n, d)) < 0.5)
    return X.astype(np.float64), rng.integers(0, 3, n).astype(np.int32), rng


@pytest.mark.parametrize("seed", range(5))
def test_the_digest_is_that_of_its_plain_twin(seed):
    rng = np.random.default_rng(seed)
    for d in (1, 3, 4, 7, 16, 33):
        X = np.where(
            rng.random((6, d)) < 0.6, rng.standard_normal((6, d)) * 10.0 ** rng.integers(-300, 300), 0
        )
        X[0, 0] = -0.0
        labels, weights = rng.integers(0, 3, 6).astype(np.int32), rng.choice([1.0, 0.5, 3.0], 6)
        rows = [dict(enumerate(row)) for row in X.tolist()]
        expected = plain_digest(rows, labels.tolist(), weights.tolist())
        assert seen(X, labels, weights) == seen(sp.csr_array(X), labels, weights) == Seen(expected, 6)


@pytest.mark.parametrize("seed", range(3))
def test_the_digest_knows_values_and_not_how_they_are_stored(seed):
    X, labels, rng = sample(seed)
    expected = seen(X, labels)
    wide = np.zeros((len(X), 40))
    wide[:, : X.shape[1]] = X
    negative = np.where(X == 0, -0.0, X)
    explicit = sp.csr_array(np.where(X == 0, 9.0, X))
    explicit.data[explicit.data == 9] = 0
    indices = sp.csr_array(X)
    indices.indices, indices.indptr = indices.indices.astype(np.int64), indices.indptr.astype(np.int64)
    for same in (
        X.astype(np.float32),
        X.astype(np.uint8),
        sp.csr_array(X),
        sp.csr_array(X.astype(np.float32)),
        wide,
        negative,
        explicit,
        indices,
    ):
        assert seen(same, labels) == expected
    assert seen(X, labels, np.ones(len(X))) == expected
    order = rng.permutation(len(X))
    assert seen(X[order], labels[order]) == expected  # a multiset: no theorem depends on the order
    assert seen(X[:5], labels[:5]) + seen(X[5:], labels[5:]) == expected
    assert seen(np.vstack([X, X]), np.tile(labels, 2)) == expected * 2


@pytest.mark.parametrize("seed", range(3))
def test_any_change_of_a_value_label_or_weight_changes_the_digest(seed):
    X, labels, _ = sample(seed)
    ones = np.ones(len(X))
    expected, others = seen(X, labels), set()
    for i in range(len(X)):
        for j in range(X.shape[1]):
            for value in (X[i, j] + 1, -X[i, j] - 1, np.nextafter(X[i, j], 9)):
                changed = X.copy()
                changed[i, j] = value
                others.add(seen(changed, labels).digest)
        for changed_labels in ((labels[i] + 1) % 3, (labels[i] + 2) % 3):
            y = labels.copy()
            y[i] = changed_labels
            others.add(seen(X, y).digest)
        c = ones.copy()
        c[i] = np.nextafter(1, 2)
        others.add(seen(X, labels, c).digest)
        others.add(seen(np.delete(X, i, 0), np.delete(labels, i)).digest)
    for j in range(X.shape[1] - 1):  # columns that change places
        swapped = X.copy()
        swapped[:, [j, j + 1]] = swapped[:, [j + 1, j]]
        if (swapped != X).any():
            others.add(seen(swapped, labels).digest)
    assert expected.digest not in others


def test_columns_of_ones_are_told_apart():
    """One 1 in a column of many: a row's hash is what tells the columns apart."""
    columns = 20_000
    found = set()
    for j in range(0, columns, 7):
        X = sp.csr_array(([1.0, 1.0], ([0, 0], [j, (7 * j + 3) % columns])), shape=(1, columns))
        found.add(seen(X, [0]).digest)
    assert len(found) == len({frozenset((j, (7 * j + 3) % columns)) for j in range(0, columns, 7)})


@pytest.mark.parametrize("order", ["cyclic", "shuffle", "worst"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_every_way_of_fitting_notes_the_same_rows(order, classes, multiclass):
    rng = np.random.default_rng(3)
    X, y = rng.integers(-3, 4, (40, 6)).astype(float), rng.integers(0, classes, 40)
    for data in (X, X.astype(np.float32), sp.csr_array(X)):
        model = Perceptron(order=order, max_epochs=4, random_state=0, multiclass=multiclass).fit(data, y)
        ledger = model._model.ledger
        assert ledger.last == seen(X, y)
        assert ledger.copies_of(seen(X, y)) >= 1
        if order in ("cyclic", "shuffle"):
            assert ledger.copies_of(seen(X, y)) == model.n_epochs_


def test_passes_by_chunks_are_recognised_as_passes():
    X, y = np.random.default_rng(0).standard_normal((30, 4)), np.arange(30) % 2
    model = Perceptron()
    for _ in range(3):
        for part in np.array_split(np.random.default_rng(1).permutation(30), 7):
            model.partial_fit(X[part], y[part], classes=[0, 1])
    assert model._model.ledger.copies_of(seen(X, y)) == 3
    model.set_params(warm_start=True, max_epochs=2).fit(X, y)
    assert model._model.ledger.copies_of(seen(X, y)) == 3 + model.n_epochs_
    model.partial_fit(X[:1], y[:1])
    assert model._model.ledger.copies_of(seen(X, y)) is None


def test_rows_of_weight_0_are_no_part():
    weights = np.array([1, 0, 1, 1, 0, 2.0])
    model = Perceptron(max_epochs=3).fit(SIX, SIX_Y, sample_weight=weights)
    kept = weights > 0
    assert model._model.ledger.last == seen(SIX[kept], SIX_Y[kept] == 1, weights[kept])
    found = bounds(SIX, SIX_Y, model, sample_weight=weights)["novikoff"]
    assert found.made == model.n_mistakes_ and found.holds


def test_facts_come_back():
    ledger = Ledger().after(Call(Seen(2**64 - 5, 7), 3, "draw", heaviest=2.0, weighted=True, dropped=1.5))
    assert Ledger.from_facts(ledger.facts()) == ledger
    assert Ledger.from_facts(Ledger.unknown().facts()) == Ledger.unknown()
    for broken in ({"learned": ["xyz", 1]}, {"calls": -1}, {"weighted": 3}, {"held_out": None}):
        with pytest.raises(ValueError, match="ledger"):
            Ledger.from_facts(ledger.facts() | broken)


# ---- Freund and Schapire where rows repeat -------------------------------------------------------------
def test_repeated_rows_count_as_often_as_they_are_updated_on():
    X = np.array([[1.0, 0], [1, 0]] + [[0, 1]] * 20)
    y = np.array([1, -1] + [1] * 20)
    model = Perceptron(order="worst", max_epochs=1, fit_intercept=False).fit(X, y)
    found = bounds(X, y, model)
    for bound in found:
        assert bound.holds in (None, True), bound
    assert found["freund-schapire in hindsight"].made == model.n_mistakes_
    assert "online-to-batch" in found.missing and "leave-one-out vote" in found.missing
    with pytest.raises(KeyError, match="visits every row once"):
        found["online-to-batch"]
    assert model.n_updates_ == 22 and found["freund-schapire in hindsight"].upper >= 22


def test_drawn_rows_count_as_often_as_they_were_drawn():
    X, y = np.random.default_rng(0).standard_normal((50, 3)), np.arange(50) % 2
    model = Pocket(order="draw", max_epochs=3, random_state=0).fit(X, y)
    ledger, rng = model._model.ledger, np.random.default_rng(0)
    drawn = np.concatenate([rng.integers(0, 50, 50) for _ in range(model.n_epochs_)])
    assert ledger.copies_of(seen(X, y)) == np.bincount(drawn).max() > 3
    assert ledger.orders == ("draw",) and ledger.first is None
    assert not model.report().missing


def test_trace_of_the_worst_order_stays_within_its_bound():
    from novikoff.theory import trace

    X = np.array([[1.0, 0], [1, 0]] + [[0, 1]] * 20)
    y = np.array([1, -1] + [1] * 20)
    run = trace(X, y, order="worst", max_epochs=1, fit_intercept=False)
    assert run.updates <= run.bound


# ---- bounds beside a model -----------------------------------------------------------------------------
def test_given_weights_are_no_run_from_zero():
    model = Perceptron(order="cyclic", fit_intercept=False)
    model.fit(SIX, SIX_Y, coef_init=[[-50.0, 7.0]])
    found = bounds(SIX, SIX_Y, model)
    assert model.n_mistakes_ > found["novikoff"].upper
    assert found["novikoff"].made is None and found["novikoff"].holds is None
    assert found["novikoff"].missing == STARTED_ELSEWHERE and STARTED_ELSEWHERE in str(found)
    assert all(bound.made is None for bound in found) and "online-to-batch" not in {b.name for b in found}
    assert "not stated: the run started from given weights" in model.report().in_full()
    model.set_params(warm_start=True).fit(SIX, SIX_Y)  # goes on from there
    assert model.report().missing == STARTED_ELSEWHERE and model.margin_upper_ == math.inf


def test_many_partial_fits_are_many_passes():
    model = Perceptron(fit_intercept=True)
    for _ in range(20):
        model.partial_fit(XOR, XOR_Y)
    found = bounds(XOR, XOR_Y, model)
    best = found["freund-schapire in hindsight"]
    assert best.ingredients["epochs"] == 20 and best.made == model.n_mistakes_ and best.holds
    assert "online-to-batch" in found.missing
    one = Perceptron().partial_fit(XOR[:2], XOR_Y[:2]).partial_fit(XOR[2:], XOR_Y[2:])
    told = bounds(XOR, XOR_Y, one)
    assert told["online-to-batch"].ingredients["M"] == one.n_mistakes_  # one pass, in two chunks
    assert told["freund-schapire in hindsight"].holds


def test_a_warm_start_counts_over_all_calls():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((60, 5)), rng.integers(0, 2, 60)
    model = Perceptron(max_epochs=3, warm_start=True, random_state=0).fit(X, y).fit(X, y)
    found = bounds(X, y, model)
    assert found["freund-schapire in hindsight"].ingredients["epochs"] == 6
    assert found["freund-schapire in hindsight"].holds and "several calls" in found.missing["online-to-batch"]
    model.fit(X[:30], y[:30])
    found = bounds(X, y, model)
    assert found["novikoff"].made is None and "not the rows" in found["novikoff"].missing


@pytest.mark.parametrize("rule", ["perceptron", "normalized", "margin", "pa1"])
def test_weights_are_part_of_the_rows(rule):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((40, 4))
    y = (X @ [1.0, -1, 2, 0] > 0).astype(int)
    weights = rng.choice([0.25, 1.0], 40)
    model = Perceptron(rule, margin=0.5, max_epochs=500).fit(X, y, sample_weight=weights)
    name = "novikoff" if rule == "perceptron" else rule
    without = bounds(X, y, model)[name]
    assert without.made is None and without.missing
    if rule == "pa1":
        assert model.report().missing == WEIGHTED and model.report().bound_upper == math.inf
        return
    beside = bounds(X, y, model, sample_weight=weights)[name]
    assert beside.made is not None and beside.holds
    assert "online-to-batch" in bounds(X, y, model, sample_weight=weights).missing
    assert bounds(X, y, model, sample_weight=weights[::-1].copy())[name].made is None


def test_passive_aggressive_rules_with_weights_up_to_one_state_no_theorem():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 3))
    y = (X[:, 0] > 0).astype(int)
    weights = np.full(30, 1e-3)
    weights[0] = 1.0
    model = Perceptron("pa", max_epochs=200).fit(X, y, sample_weight=weights)
    report = model.report()
    assert report.missing == WEIGHTED and (report.bound_lower, report.bound_upper) == (0.0, math.inf)
    assert "not stated: rows had weights" in report.in_full()
    assert not Perceptron("pa").fit(X, y, sample_weight=np.ones(30)).report().missing


def test_early_stopping_learns_from_fewer_rows():
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((100, 4)), rng.integers(0, 2, 100)
    model = Perceptron(early_stopping=True, validation_fraction=0.2, random_state=0, max_epochs=20).fit(X, y)
    found = bounds(X, y, model)  # the rows it learned from are among these
    assert found["online-to-batch"].ingredients["n"] == model.report().n_rows < 100
    assert found["freund-schapire in hindsight"].made == model.n_mistakes_
    assert found["freund-schapire in hindsight"].holds


def test_voted_supports_only_for_one_cyclic_call():
    model = VotedPerceptron(order="cyclic", fit_intercept=False).fit(SIX, SIX_Y)
    assert bounds(SIX, SIX_Y, model)["leave-one-out"].ingredients["supports"] == len(model.support_)
    model.partial_fit(SIX, SIX_Y)
    assert "leave-one-out" in bounds(SIX, SIX_Y, model).missing
    shuffled = VotedPerceptron(order="shuffle", random_state=0).fit(SIX, SIX_Y)
    assert "cyclic" in bounds(SIX, SIX_Y, shuffled).missing["leave-one-out"]
    assert "online-to-batch" in {b.name for b in bounds(SIX, SIX_Y, shuffled)}


# ---- report ------------------------------------------------------------------------------------------
def test_a_warm_start_on_other_rows_brackets_nothing():
    rng = np.random.default_rng(8)
    hard = np.array([[1.0, 1e-3], [1.0, -1e-3]])
    easy = rng.standard_normal((20, 2)) + np.array([3.0, 0.0])
    easy_y = (easy[:, 0] > 0).astype(int)
    easy_y[0], easy[0] = 0, [-5.0, 0.0]
    model = Perceptron(order="cyclic", warm_start=True, fit_intercept=False).fit(hard, [0, 1])
    assert not model.report().missing and model.report().bound_lower <= model.report().bound_upper
    model.fit(easy, easy_y)
    report = model.report()
    assert report.missing == OTHER_ROWS and report.margin_upper == model.margin_upper_ == math.inf
    assert (report.bound_lower, report.bound_upper) == (0.0, math.inf)
    assert "(R/γ)² is not stated: the model was also trained on other rows" in report.in_full()
    again = Perceptron(order="cyclic", warm_start=True, fit_intercept=False).fit(hard, [0, 1])
    again.fit(hard, [0, 1])  # the same rows: stated over both
    assert not again.report().missing and again.report().mistakes <= again.report().bound_upper


def separable_with_a_fraction_held_out():
    rng = np.random.default_rng(11)
    X = rng.standard_normal((300, 8))
    X *= np.exp(rng.standard_normal((300, 1)) * 2)
    y = (X @ rng.standard_normal(8) > 0).astype(int)
    return X, y


def test_the_normalized_bound_is_that_of_the_weights_put_back():
    X, y = separable_with_a_fraction_held_out()
    for seed in range(20):
        model = Perceptron(
            "normalized", early_stopping=True, n_epochs_no_change=2, random_state=seed, fit_intercept=False
        ).fit(X, y)
        report = model.report()
        assert report.bound_lower <= report.bound_upper * (1 + 1e-9)
        if model._model.ledger.dropped:
            break
    else:
        raise AssertionError("nothing was put back")


def test_structured_margins_know_what_was_put_back():
    """γ is at most ‖w‖ over the updates that w is made of, not over all that were made."""
    put_back = 0
    for seed in range(12):
        X, Y, gamma = separable_sequences(seed)
        model = StructuredPerceptron(
            Plainly("array"),
            early_stopping=True,
            validation_fraction=0.3,
            n_epochs_no_change=1,
            random_state=seed,
        ).fit(X, Y)
        put_back += model._learner.dropped > 0
        assert gamma <= model.margin_upper_ * (1 + 1e-12)
        report = model.report()
        assert report.bound_lower <= report.bound_upper * (1 + 1e-12)
    assert put_back


def test_structured_files_keep_what_was_put_back(tmp_path):
    X, Y, _ = separable_sequences(0)
    model = StructuredPerceptron(Plainly("array"), random_state=0).fit(X, Y)
    model._learner.dropped = 2
    model.save(tmp_path / "s.novikoff")
    again = StructuredPerceptron.load(tmp_path / "s.novikoff", problem=Plainly("array"))
    assert again._learner.dropped == 2


# ---- files -------------------------------------------------------------------------------------------
def test_a_model_file_keeps_the_ledger(tmp_path):
    model = Perceptron(order="cyclic", warm_start=True).fit(SIX, SIX_Y).fit(SIX, SIX_Y)
    model.save(tmp_path / "m.novikoff")
    again = Perceptron.load(tmp_path / "m.novikoff")
    assert again._model.ledger == model._model.ledger
    assert again.report().proof.lines[2] == model.report().proof.lines[2]
    assert bounds(SIX, SIX_Y, again)["novikoff"].made == model.n_mistakes_


def test_a_file_without_a_ledger_states_no_more_than_is_known(tmp_path):
    from novikoff.training import state as training_state

    model = Perceptron(order="cyclic", fit_intercept=False).fit(SIX, SIX_Y)
    facts, arrays = training_state.model_state(model._model)
    del facts["ledger"]
    old = training_state.model_from_state(facts, arrays)
    assert old.from_zero and old.ledger == Ledger.unknown()
    again = Perceptron._from_model({"fit_intercept": False}, old, model.classes_, None, model._run)
    assert again.report().missing == UNKNOWN_ROWS and again.margin_upper_ == math.inf
    found = bounds(SIX, SIX_Y, again)["novikoff"]
    assert found.made is None and found.missing == UNKNOWN_ROWS
    facts["ledger"] = {"calls": "many"}
    with pytest.raises(ValueError, match="ledger"):
        training_state.model_from_state(facts, arrays)


def test_files_and_checkpoints_note_the_rows(tmp_path):
    import novikoff

    path = tmp_path / "six.svm"
    lines = [
        f"{y} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v)
        for x, y in zip(SIX, SIX_Y, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    model = Perceptron(order="cyclic", fit_intercept=False).fit_source(novikoff.open_source(str(path)))
    assert model._model.ledger.copies_of(seen(SIX, SIX_Y == 1)) == model.n_epochs_
    assert bounds(SIX, SIX_Y.astype(float), model)["novikoff"].made == 3


def test_an_online_model_keeps_counts_and_no_rows():
    from novikoff import OnlinePerceptron

    online = OnlinePerceptron(classes=[0, 1])
    for x, y in zip(SIX, SIX_Y, strict=True):
        online.learn_one({"a": x[0], "b": x[1]}, int(y > 0))
    frozen = online.freeze()
    assert frozen._model.ledger.learned is None and not frozen.report().missing
    assert bounds(SIX, (SIX_Y > 0).astype(int), frozen)["novikoff"].missing == UNKNOWN_ROWS


# ---- whatever is stated holds ------------------------------------------------------------------------


def drawn_rows(rng, n, d):
    return rng.integers(-3, 4, (n, d)) * 10.0 ** rng.integers(-2, 2)


def learned_somehow(model, how, rng, X, y, weights):
    """One call, or some that together are one pass; False where early stopping has too few rows for it."""
    n, d, k = *X.shape, int(y.max()) + 1

    def chunk(part, **classes):
        own = None if weights is None else weights[part]
        if own is None or own.any():
            model.partial_fit(X[part], y[part], sample_weight=own, **classes)

    try:
        if how == "fit":
            model.fit(X, y, sample_weight=weights)
        elif how == "partial_fit":
            chunk(slice(None), classes=range(k))
        elif how == "chunks":
            for part in np.array_split(rng.permutation(n), 3):
                chunk(part, classes=range(k))
        elif how == "growing" and not hasattr(model, "classes_"):
            chunk(y < 2)
            if k > 2:
                chunk(y == 2)
        elif how == "other rows":
            model.partial_fit(drawn_rows(rng, n, d), y, classes=range(k))
        elif how == "init":
            model.fit(X, y, coef_init=rng.integers(-9, 9, (1 if k == 2 else k, d)), sample_weight=weights)
    except ValueError as error:
        assert "early_stopping" in str(error)
        return False
    return hasattr(model, "classes_")


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_stated_holds(seed):
    """Random small problems, rules, orders and ways of going on: no count passes a bound stated beside it."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(4, 14)), int(rng.integers(1, 4)), int(rng.choice([2, 2, 3]))
    X = drawn_rows(rng, n, d)
    y = (X @ rng.standard_normal((d, k))).argmax(axis=1) if rng.random() < 0.7 else rng.integers(0, k, n)
    y[:k] = np.arange(k)
    weights = rng.choice([0.0, 0.5, 1.0, 1.0], n) if rng.random() < 0.4 else None
    if weights is not None:
        weights[:k] = 1.0
    rule = str(rng.choice(RULES))
    model = Perceptron(
        rule,
        order=str(rng.choice(["cyclic", "shuffle", "worst"])),
        max_epochs=int(rng.integers(1, 30)),
        fit_intercept=bool(rng.integers(2)),
        margin=float(rng.choice([0.1, 1.0])),
        warm_start=True,
        random_state=seed,
        early_stopping=bool(rng.random() < 0.3 and n > 3 * k and weights is None),
        validation_fraction=0.2,
        n_epochs_no_change=1,
    )
    ways = ["fit", "partial_fit", "chunks", "growing", "other rows", "init"]
    for how in rng.choice(ways, int(rng.integers(1, 4)), p=[0.35, 0.15, 0.15, 0.15, 0.1, 0.1]):
        if not learned_somehow(model, how, rng, X, y, weights):
            return
    report, last = model.report(), model._model.ledger.last
    assert (model.n_updates_ if rule == "margin" else model.n_mistakes_) <= report.bound_upper * (1 + 1e-9)
    assert report.bound_lower <= report.bound_upper * (1 + 1e-9)
    found = bounds(X, y, model, sample_weight=weights, gap=1e-6)
    for bound in found:
        assert bound.made is None or (bound.made <= bound.upper * (1 + 1e-6) and not bound.missing), bound
    kept = slice(None) if weights is None else weights > 0
    if model._run.judged and last == seen(X[kept], y[kept], weights if weights is None else weights[kept]):
        gamma = max_margin(X, y, sample_weight=weights, fit_intercept=model.fit_intercept, gap=1e-6)
        assert gamma.lower <= model.margin_upper_ * (1 + 1e-9)
        own = "novikoff" if rule == "perceptron" else rule
        if not report.missing:  # the brackets of the same bound overlap
            assert report.bound_lower <= found[own].upper * (1 + 1e-6)
            assert found[own].lower <= report.bound_upper * (1 + 1e-6)


@pytest.mark.parametrize("rule", ["margin", "pa", "pa1", "pa2"])
def test_growing_from_two_classes_is_not_covered_by_every_theorem(rule):
    X, y = np.array([[1.0, 2], [2, -1], [-3, 1], [1, 1]]), np.array([0, 1, 0, 2])
    model = Perceptron(rule, margin=1.0).partial_fit(X[:3], y[:3]).partial_fit(X[3:], y[3:])
    assert model._model.ledger.copies_of(seen(X, y)) == 1
    assert model.report().missing == GREW and bounds(X, y, model)[rule].missing == GREW
    plain = Perceptron().partial_fit(X[:3], y[:3]).partial_fit(X[3:], y[3:])
    assert not plain.report().missing and bounds(X, y, plain)["novikoff"].made == plain.n_mistakes_
