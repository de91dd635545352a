"""Every native object, and every model that learns, used by several threads at once.

    PYTHONPATH=tests python -m support.threads_stress [NAME ...]        NOVIKOFF_STRESS=50 for more rounds

Each case is one function; it ends the process, or raises, where something is broken, and prints its name
where nothing is. `test_threads.py` runs each in a child. Under a sanitizer of threads, run it with the
instrumented module: a report of a race in native/ is a failure as well. Threads begin together at a barrier;
nothing waits for time to pass.
"""

# ruff: noqa: B023  (what a thread calls is called before the loop goes on)
from __future__ import annotations

import io
import os
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import novikoff
from novikoff import _core
from novikoff.data.arrays import rows_of
from novikoff.data.sources.features import NamedFeatures
from novikoff.training.weights import Settings, Weights
from support.children import run_all

ROUNDS = int(os.environ.get("NOVIKOFF_STRESS", "8"))
THREADS = 4
CASES: dict[str, Callable[[], None]] = {}


def case(f: Callable[[], None]) -> Callable[[], None]:
    CASES[f.__name__] = f
    return f


def together(*calls: Callable[[int], Any], rounds: int = ROUNDS, may_refuse: bool = False) -> list[int]:
    """Each call, with the number of its round, on a thread of its own; how many were not refused."""
    start, done, failures = threading.Barrier(len(calls)), [0] * len(calls), []

    def work(k: int) -> None:
        start.wait()
        for i in range(rounds):
            try:
                calls[k](i)
                done[k] += 1
            except RuntimeError as error:
                if not may_refuse or "in use" not in str(error):
                    failures.append(error)
            except BaseException as error:
                failures.append(error)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(len(calls))]
    run_all(workers)
    if failures:
        raise failures[0]
    return done


def block(seed: int, n: int = 60, d: int = 12, *, sparse: bool = False) -> tuple[Any, Any]:
    """Rows of small whole numbers whose labels no line separates."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    return (sp.csr_array(X) if sparse else X), rng.integers(0, 2, n).astype(np.int32)


def own_columns(k: int, *, n: int = 40, d: int = 5) -> tuple[Any, Any]:
    """Rows of thread k, which alone has their columns: the weights there depend on no other thread."""
    X, y = block(k, n, d)
    wide = np.zeros((n, d * THREADS))
    wide[:, k * d : (k + 1) * d] = X
    return wide, y


# ---- models ------------------------------------------------------------------------------------------
@case
def online() -> None:
    """No update is lost, and the weights are those of one thread after the other."""

    def examples(k: int, i: int) -> list[tuple[dict[Any, Any], int]]:
        X, y = block(100 * k + i, 20, 4)
        return [({f"{k}/{j}": v for j, v in enumerate(row)}, int(c)) for row, c in zip(X, y, strict=True)]

    def learn(model: Any, k: int, i: int) -> None:
        for x, y in examples(k, i):
            model.learn_one(x, y)
            model.predict_one(x)

    for average in (False, True):
        model, one = (novikoff.OnlinePerceptron(fit_intercept=False, classes=[0, 1]) for _ in range(2))
        if average:  # means depend on when the others learned: only counts are compared
            model = novikoff.OnlinePerceptron(fit_intercept=False, classes=[0, 1], average=True)
        together(
            *(lambda i, k=k: learn(model, k, i) for k in range(THREADS)),
            lambda i: (model.coef_, model.feature_names_in_, model.classes_, model.__getstate__()),
            lambda i: model.learn_many(examples(THREADS, i)),
        )
        for k in range(THREADS + 1):
            for i in range(ROUNDS):
                for x, y in examples(k, i):
                    one.learn_one(x, y)
        assert model.n_visits_ == one.n_visits_ == (THREADS + 1) * ROUNDS * 20
        assert model.n_updates_ == one.n_updates_
        if not average:
            by_name = (dict(zip(m.feature_names_in_, m.coef_[0], strict=True)) for m in (model, one))
            assert next(by_name) == next(by_name)


@case
def online_kernel() -> None:
    """The same with a kernel, by dicts."""

    def examples(k: int, i: int) -> list[tuple[dict[Any, Any], int]]:
        X, y = block(100 * k + i, 6, 4)
        return [({f"{k}/{j}": v for j, v in enumerate(row)}, int(c)) for row, c in zip(X, y, strict=True)]

    def learn(model: Any, k: int, i: int) -> None:
        for x, y in examples(k, i):
            model.learn_one(x, y)
            model.score_one(x)

    model, one = (
        novikoff.OnlineKernelPerceptron("poly", degree=1, coef0=0.0, fit_intercept=False, classes=[0, 1])
        for _ in "ab"
    )
    together(
        *(lambda i, k=k: learn(model, k, i) for k in range(THREADS)),
        lambda i: (model.dual_coef_, model.support_, model.memory_, model.n_mistakes_, model.__getstate__()),
    )
    for k in range(THREADS):
        for i in range(ROUNDS):
            learn(one, k, i)
    assert model.n_visits_ == one.n_visits_ == THREADS * ROUNDS * 6
    assert (model.n_updates_, model.n_mistakes_) == (one.n_updates_, one.n_mistakes_)
    for k in range(THREADS):
        for x, _ in examples(k, 0):
            assert model.score_one(x) == one.score_one(x)


@case
def online_kernel_budget() -> None:
    """With a budget and arrays, where what is learned depends on the order: all visits are counted."""
    X, y = block(1)
    for policy in ("projectron", "forgetron", "random", "oldest"):
        model = novikoff.OnlineKernelPerceptron("rbf", budget=10, budget_policy=policy, classes=[0, 1])
        together(
            *(lambda i: [model.learn_one(x, int(c)) for x, c in zip(X, y, strict=True)] for _ in range(3)),
            lambda i: [model.predict_one(x) for x in X],
            rounds=min(ROUNDS, 3),
        )
        assert model.n_visits_ == 3 * min(ROUNDS, 3) * len(X)
        assert model.n_supports_ <= 10


def learns_in_turns(make: Callable[[], Any], *, exact: bool = True, n: int = 2000) -> None:
    model, one = make(), make()
    chunks = [own_columns(k, n=n) for k in range(THREADS)]
    model.partial_fit(*chunks[0], classes=[0, 1])
    one.partial_fit(*chunks[0], classes=[0, 1])
    together(
        *(lambda i, k=k: model.partial_fit(*chunks[k]) for k in range(THREADS)),
        lambda i: (model.predict(chunks[0][0]), model.decision_function(chunks[1][0])),
        lambda i: model.score(*chunks[2]),
    )
    for k in range(THREADS):
        for _ in range(ROUNDS):
            one.partial_fit(*chunks[k])
    assert model.n_mistakes_ == one.n_mistakes_, (model.n_mistakes_, one.n_mistakes_)
    if exact:
        assert np.array_equal(model.coef_, one.coef_)


@case
def perceptron() -> None:
    learns_in_turns(lambda: novikoff.Perceptron(fit_intercept=False, average=False, scale=None))
    learns_in_turns(lambda: novikoff.Perceptron(fit_intercept=False, average=True), exact=False)


@case
def voted() -> None:
    for way in ("voted", "averaged", "last"):
        learns_in_turns(lambda way=way: novikoff.VotedPerceptron(fit_intercept=False, predict_with=way), n=40)
    model = novikoff.VotedPerceptron(fit_intercept=False)
    chunks = [own_columns(k, n=5000) for k in range(THREADS)]
    together(*(lambda i, k=k: model.partial_fit(*chunks[k], classes=[0, 1]) for k in range(THREADS)))
    assert model.survived_.sum() == THREADS * ROUNDS * len(chunks[0][0])
    assert len(model.update_support_) == model.n_updates_
    assert np.array_equal(
        (model.update_step_[:, None] * model.support_vectors_[model.update_support_]).sum(axis=0)[None],
        model.coef_,
    )


@case
def kernel_perceptron() -> None:
    make = {"kernel": "poly", "degree": 1, "gamma": 1.0, "coef0": 0.0, "fit_intercept": False}
    for more in ({}, {"budget": 500}):
        learns_in_turns(lambda more=more: novikoff.KernelPerceptron(**make, **more), exact=False, n=40)


@case
def winnow() -> None:
    X, y = block(3, 2000)
    model = novikoff.Winnow(balanced=True)
    together(
        *(lambda i: model.partial_fit(X, y, classes=[0, 1]) for _ in range(THREADS)),
        lambda i: model.predict(X) if hasattr(model, "classes_") else None,
    )
    assert np.abs(model.exponents_).max() <= model.reach_
    assert len(model.history_) == 1


@case
def fits_at_once() -> None:
    """`fit` of one object from several threads: the result is that of one of them."""
    pairs = [block(k) for k in range(THREADS)]
    makes: list[Callable[[], Any]] = [
        lambda: novikoff.Perceptron(random_state=0, max_epochs=3),
        lambda: novikoff.VotedPerceptron(random_state=0, max_epochs=3),
        lambda: novikoff.Pocket(random_state=0, max_epochs=3),
        lambda: novikoff.KernelPerceptron("rbf", gamma=0.1, random_state=0, max_epochs=3),
        lambda: novikoff.KernelPerceptron("rbf", gamma=0.1, budget=9, random_state=0, max_epochs=3),
    ]
    for make in makes:
        model = make()
        together(
            *(lambda i, k=k: model.fit(*pairs[k]) for k in range(THREADS)),
            lambda i: model.predict(pairs[0][0]) if hasattr(model, "classes_") else None,
            rounds=min(ROUNDS, 4),
        )
        found = model.decision_function(pairs[0][0])
        assert any(np.array_equal(found, make().fit(*pair).decision_function(pairs[0][0])) for pair in pairs)


@case
def taggers() -> None:
    sentences = [[f"w{(i * j) % 7}" for j in range(6)] for i in range(8)]
    labels = [[f"t{(i + j) % 3}" for j in range(6)] for i in range(8)]
    for templates in ("words", None):
        X = sentences if templates else [[[w, "b"] for w in s] for s in sentences]
        features = novikoff.Templates(["columns: w", "w[-1]", "lower(w[0])"]) if templates else None
        model = novikoff.SequenceTagger(features=features)
        model.partial_fit(X, labels, classes=["t0", "t1", "t2"])
        together(
            *(lambda i: model.partial_fit(X, labels) for _ in range(THREADS)),
            lambda i: model.predict([[[f"x{i}"]] if templates is None else [f"x{i}"]]),
            lambda i: model.predict(X),
        )
        one = novikoff.SequenceTagger(features=features).partial_fit(X, labels, classes=["t0", "t1", "t2"])
        for _ in range(THREADS * ROUNDS):
            one.partial_fit(X, labels)
        assert model.n_mistakes_ == one.n_mistakes_


# ---- sources -----------------------------------------------------------------------------------------
@case
def vocabulary() -> None:
    for bits in (None, 12):
        features = NamedFeatures(hash_bits=bits)
        found: list[dict[str, int]] = [{} for _ in range(THREADS)]

        def place(i: int, k: int, features: NamedFeatures = features, found: Any = found) -> None:
            names = [f"a name of thread {k % 2} and number {j}" for j in range(i * 3000, i * 3000 + 6000)]
            found[k] |= dict(zip(names, features.place(names).tolist(), strict=True))

        together(
            *(lambda i, k=k: place(i, k) for k in range(THREADS)),
            lambda i: (features.names(range(min(features.n_columns, 50))), features.kept_names()),
            lambda i: features.state(),
        )
        merged: dict[str, int] = {}
        for own in found:
            assert all(merged.setdefault(name, j) == j for name, j in own.items())
        if bits is None:
            assert features.n_columns == len(merged)
            assert features.names(range(features.n_columns)) == sorted(merged, key=merged.__getitem__)


@case
def names_during_fit_source() -> None:
    lines = [f"{i % 2} | {' '.join(f'name_{(i * 7 + j) % 5000}' for j in range(8))}\n" for i in range(3000)]
    source = novikoff.open_source(io.BytesIO("".join(lines).encode()), format="vw", block_size=1 << 12)
    model = novikoff.Perceptron(max_epochs=2)
    begun = threading.Event()

    def names(i: int) -> None:
        begun.wait()
        n = source.features.n_columns
        assert len(source.features.names(range(n))) == n

    def fit(i: int) -> None:
        if i == 0:
            begun.set()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit_source(source)

    together(fit, *(names for _ in range(3)), rounds=40)
    assert len(set(model.features_.names(range(model.n_features_in_)))) == model.n_features_in_ == 5000


@case
def blocks_kept_too_long() -> None:
    """Arrays of a block that was valid until the next hold other rows then, but stay memory."""
    lines = [f"{i % 2} | {' '.join(f'n{i * j}:{j}' for j in range(i % 60))}\n" for i in range(2000)]
    for text, kind in (
        ("".join(lines), "vw"),
        ("".join(f"{i % 2} {i % 90 + 1}:{i}\n" for i in range(9000)), "libsvm"),
    ):
        source = novikoff.open_source(io.BytesIO(text.encode()), format=kind, block_size=1 << 11)
        kept = list(source.blocks(reuse=True))
        assert sum(float(b.X.data.sum()) for b in kept) < np.inf
        for b in kept:
            try:
                rows_of(b.X)
            except ValueError as error:
                assert "indptr" in str(error)


# ---- native objects ----------------------------------------------------------------------------------
@case
def native_learner() -> None:
    X, y = block(5, 2000)
    for n_classes, average in ((2, False), (2, True), (5, True)):
        learner = Weights(n_classes, X.shape[1], Settings(average=average))
        native, rows, digest, streak = learner.native, rows_of(X), _core.Digest(), _core.Streak()
        native.record_updates()
        examples, n, out = _core.Examples(rows, y), len(X), np.empty(len(X), dtype=np.int32)
        done = together(
            *(lambda i: _core.epoch(native, examples, 0, n, True, digest) for _ in range(3)),
            lambda i: _core.pocket_epoch(native, streak, examples, 0, 0),
            lambda i: _core.predict(native.view(), rows, 0, n, out),
            lambda i: (native.recorded(), native.filter, native.seen, native.updates, native.fallbacks),
            lambda i: (_core.scan(native, examples, 0, n), native.measure_norm()),
            lambda i: _core.smallest(native, examples, 0, n, False, False),
            lambda i: (digest.value, digest.count, streak.run, digest.add(examples, 0, 0)),
            may_refuse=True,
        )
        assert native.visits == sum(done[:3]) * n
        assert sum(done[:3]) * n <= digest.count
        assert np.isfinite(learner.weights).all()


@case
def native_questions() -> None:
    X, y = block(7, 2000)
    rows, n = rows_of(X), len(X)
    search, passed = (
        _core.Cancelling(2, True, False),
        _core.Pass(np.ones((X.shape[1], 1)), np.zeros(1), 2, 50),
    )
    done = together(
        *(lambda i: search.look(rows, y, 0, n) for _ in range(2)),
        lambda i: (search.strict, search.lax, search.nonzeros, search.zero_rows),
        *(lambda i: passed.run(rows, y, 0, n) for _ in range(2)),
        lambda i: passed.found(),
        may_refuse=True,
    )
    assert sum(done[:2]) and sum(done[3:5])
    assert len(passed.found()[0]) <= 50


@case
def native_parsers() -> None:
    text = np.frombuffer(b"1 1:2 3:4\n-1 2:1\n" * 200, np.uint8)
    named = np.frombuffer(b"1 | a:2 some_longer_name:4\n-1 | c\n" * 200, np.uint8)
    json = np.frombuffer(b'{"label": 1, "features": {"a": 1}}\n' * 400, np.uint8)
    for make, given in ((_core.LibsvmRows, text), (_core.VwRows, named), (_core.JsonRows, json)):
        parser: Any = make()
        done = together(
            *(lambda i: parser.parse(given) for _ in range(THREADS)),
            lambda i: (
                parser.n,
                parser.lines,
                parser.problem,
                parser.skipped,
                parser.kind,
                parser.row_line(0),
            ),
            lambda i: parser.view(),
            may_refuse=True,
        )
        assert parser.n == 400 * sum(done[:THREADS])
        held = parser.view()
        names = held[-1]
        before = held[1 if make is _core.LibsvmRows else 2].copy()
        parser.clear()
        assert len(before)
        if make is not _core.LibsvmRows:
            try:
                names.strings()
            except RuntimeError as error:
                assert "valid until" in str(error)
            else:
                raise AssertionError("names of a block that has gone")
        together(
            *(lambda i: (parser.parse(given), parser.take(), parser.clear()) for _ in range(THREADS)),
            may_refuse=True,
        )


@case
def native_budget() -> None:
    X, y = block(6, 400)
    for policy in ("projectron", "forgetron", "random", "oldest"):
        native = _core.RowBudget(_core.BudgetRule(policy, 8, 1), _core.Kernel("rbf", 0.1), False, X.shape[1])
        rows, out = rows_of(X), np.empty((len(X), 1))
        examples = _core.Examples(rows, y)
        draws = np.zeros(len(X))
        done = together(
            *(lambda i: native.learn(examples, 0, len(X), 0, draws) for _ in range(3)),
            *(lambda i: native.scores(rows, 0, len(X), False, out) for _ in range(2)),
            lambda i: native.check(rows, 0, len(X)),
            lambda i: (
                native.state(),
                native.supports(),
                native.coefficients(True),
                native.bytes,
                native.size,
            ),
            lambda i: (native.needs_oldest, native.wrong, native.basis_size, native.features),
            may_refuse=True,
        )
        assert native.visits == sum(done[:3]) * len(X)
        assert native.size <= 8


@case
def native_dicts() -> None:
    reader = _core.DictReader(None, 0)
    together(
        *(
            lambda i, k=k: [reader.read({f"{k}/{j}": 1.0, "s": f"v{i}", j: True}, True) for j in range(99)]
            for k in range(THREADS)
        ),
        lambda i: (reader.names(), reader.columns, reader.undo()),
    )
    assert len(set(reader.names())) == reader.columns


@case
def native_conjunctions() -> None:
    X, y = block(7, 400)
    X = (X > 0).astype(float)
    bits = _core.Bits(rows_of(X))
    native = _core.ConjunctionLearner(bits, 1, False, False, False)
    order = np.arange(len(X))
    together(
        *(lambda i: native.visit(y, order, 0, len(X), 0, 50) for _ in range(3)),
        lambda i: native.push(0, len(X)),
        lambda i: (native.scores(), native.margins(y), native.norms_squared(), native.made(0), native.n_made),
        lambda i: (bits.ones(), bits.common(bits)),
        may_refuse=True,
    )


@case
def native_templates() -> None:
    parts = [("w", [(0, 0, False)], ""), ("pair", [(0, -1, True), (0, 0, False)], "")]
    index = _core.TemplateIndex(1, [], parts)
    line_parser = _core.ColumnLines("blanks", 2, [0], 1, "two cells")
    text = np.frombuffer("".join(f"w{i} x\n\n" for i in range(300)).encode(), np.uint8)
    tokens = index.tokens([["a", "b"]], [0], ["w"])

    def expand(i: int, k: int) -> None:
        own = index.tokens([[f"{k} {i} {j}" for j in range(900)]], [0], ["w"])
        index.expand(own, True, 1 << 20)
        index.expand_hashed(own, 8, 0, 1 << 20)

    together(
        *(lambda i, k=k: expand(i, k) for k in range(THREADS)),
        lambda i: (index.size, index.met(0), index.names(np.arange(min(index.size, 20)))),
        lambda i: (index.values(0), index.state(), index.waiting(0, tokens)),
        lambda i: line_parser.parse(text),
    )
    assert len(set(index.names(np.arange(index.size)))) == index.size


def main(names: list[str]) -> None:
    sys.setswitchinterval(1e-6)
    warnings.simplefilter("ignore")
    for name in names or CASES:
        CASES[name]()
        print(name, "held", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
