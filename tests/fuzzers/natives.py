"""The core by itself: arrays of other values, types, shapes and strides in calls that were sound.

Nobody but the package calls it, which hands over what it has checked. That a wrong array is refused, and
never read or written beyond its end, is the second wall.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzzers.layouts import somehow, spread
from fuzzers.mutation import Rng, one_of, other_array
from novikoff import _core

Call = tuple[Callable[..., Any], list[Any]]


def dense(rng: Rng) -> np.ndarray[Any, Any]:
    return rng.integers(0, 3, (6, int(one_of(rng, (1, 3, 17))))).astype(one_of(rng, ("f8", "f4", "u1")))


def csr(rng: Rng) -> list[Any]:
    width, index = int(one_of(rng, (3, 17))), one_of(rng, ("i4", "i8"))
    X = rng.integers(0, 2, (6, width)).astype(one_of(rng, ("f8", "f4")))
    rows, columns = np.nonzero(X)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=6))])
    return [X[rows, columns], columns.astype(index), indptr.astype(index), width]


def rows(rng: Rng) -> _core.Rows:
    return _core.Rows(dense(rng)) if rng.integers(2) else _core.Rows(*csr(rng))


def learner(d: int, classes: int = 2) -> _core.Learner:
    k = 1 if classes == 2 else -(-classes // 4) * 4
    return _core.Learner(classes, np.zeros((d, k)), np.zeros(k), _core.Rule("perceptron"))


# ---- sound calls, each with its arguments --------------------------------------------------------------
def make_rows(rng: Rng) -> Call:
    return _core.Rows, [dense(rng)] if rng.integers(2) else csr(rng)


def scan_rows(rng: Rng) -> Call:
    """Rows that may be wrong inside, where only a loop sees it."""

    def use(*parts: Any) -> None:
        X = _core.Rows(*parts)
        if X.d < 1000:
            _core.scores(learner(X.d), X, 0, X.n, np.zeros((X.n, 1)))
            _core.row_norms(X, 1.0)
            _core.add_columns(X, np.zeros((X.d, 5)))

    return use, csr(rng)


def epoch(rng: Rng) -> Call:
    X, classes = rows(rng), int(one_of(rng, (2, 3)))
    labels = rng.integers(0, classes, X.n).astype(np.int32)
    order, weights = rng.permutation(X.n).astype(np.int64), np.ones(X.n)

    def use(labels: Any, weights: Any, order: Any, begin: int, end: int) -> None:
        _core.epoch(learner(X.d, classes), _core.Examples(X, labels, weights, order), begin, end, True)

    return use, [labels, weights, order, 0, X.n]


def lowest(rng: Rng) -> Call:
    X = rows(rng)
    labels = rng.integers(0, 2, X.n).astype(np.int32)

    def use(labels: Any, weights: Any, w: Any, b: Any, begin: int, end: int, k: int) -> None:
        native = _core.Learner(2, w, b, _core.Rule("perceptron"))
        _core.lowest(native, _core.Examples(X, labels, weights), begin, end, k)

    return use, [labels, np.ones(X.n), np.ones((X.d, 1)), np.zeros(1), 0, X.n, 3]


def make_learner(rng: Rng) -> Call:
    def use(classes: int, w: Any, b: Any, u: Any, v: Any) -> None:
        _core.Learner(classes, w, b, _core.Rule("pa", True), (u, v))

    return use, [3, np.zeros((5, 4)), np.zeros(4), np.zeros((5, 4)), np.zeros(4)]


def vocabulary(rng: Rng) -> Call:
    text = np.frombuffer(b"onetwothree", np.uint8)

    def use(*state: Any) -> None:
        names = _core.Vocabulary()
        names.load(*state)
        names.names(np.arange(names.size, dtype=np.int64))
        names.place(_core.Names(["one", "four"]), True)

    return use, [text, np.array([0, 3, 6, 11]), None]


def names_of(rng: Rng) -> Call:
    names = _core.Vocabulary()
    names.place(_core.Names(["a", "b", "c"]), True)
    return names.names, [np.array([0, 2, 1])]


def recolumn(rng: Rng) -> Call:
    data, indices, indptr, width = csr(rng)
    arrays = data.astype(float), indices.astype(np.int32), indptr.astype(np.int64)
    return _core.recolumn, [*arrays, rng.permutation(width).astype(np.int64)]


def words(rng: Rng) -> Call:
    text = b"a b  Cc d"
    offsets = np.array([0, 2, 5, len(text)], one_of(rng, ("i4", "i8")))
    valid = np.array([5], np.uint8)
    return _core.Words("t=", 2).rows, [offsets, np.frombuffer(text, np.uint8), 0, 3, valid]


def cells(rng: Rng) -> Call:
    text = np.frombuffer(b"1,2.5,a\n3,4,b\n", np.uint8)
    targets = np.array([0, -2, -1], np.int32)

    def use(targets: Any, *arrays: Any) -> None:
        _core.NumberCells(",", '"', targets).read(*arrays)

    return use, [targets, text, np.zeros((2, 1)), np.zeros(2), np.zeros(2)]


def eisner(rng: Rng) -> Call:
    return _core.eisner, [rng.standard_normal(25), np.zeros(4, np.int64)]


def hull(rng: Rng) -> Call:
    Z = rng.standard_normal((4, 3))
    solve = one_of(rng, (_core.mdm, _core.wolfe))
    return lambda gram, alpha: solve(gram, alpha, 20, 1e-9), [Z @ Z.T, np.full(4, 0.25)]


def dots(rng: Rng) -> Call:
    return _core.exact_dot, [rng.standard_normal(5), rng.standard_normal(5)]


def formatted(rng: Rng) -> Call:
    heads, begins = np.frombuffer(b"aabb", np.uint8), np.array([0, 2, 4])
    if rng.integers(2):
        return _core.RowFormat(b" ", b"\n").dense, [rng.standard_normal((2, 3)), heads, begins]
    data, indices, indptr = np.array([1.5, 2.0]), np.array([0, 1]), np.array([0, 1, 2])
    if rng.integers(2):
        return _core.RowFormat(b" ", b"\n").sparse, [data, indices, indptr, heads, begins]

    def use(text: Any, name_begins: Any, *arrays: Any) -> None:
        _core.RowFormat(b" ", b"\n", (text, name_begins)).sparse(*arrays)

    names = [np.frombuffer(b"xyz", np.uint8), np.array([0, 1, 3])]
    return use, [*names, data, indices, indptr, heads, begins]


def panel(rng: Rng) -> Call:
    X = rows(rng)

    def use(which: Any, order: Any, out: Any) -> None:
        _core.Panel(_core.Kernel("rbf", 0.5), X, which).values(X, 0, X.n, out, order)

    return use, [np.array([0, 2]), rng.permutation(X.n), np.zeros((X.n, 2))]


def votes(rng: Rng) -> Call:
    X = rows(rng)
    labels = np.array([1, 0], np.int32), np.array([0, 1], np.int32)

    def use(survived: Any, begin: int, end: int, out: Any, *updates: Any) -> None:
        assert survived.min(initial=0) >= 0 and survived.max(initial=0) < 2**31  # counts of visits
        _core.Hypotheses(X, 2, 1.0, updates, survived).vote(X, begin, end, out)

    updates = [np.array([0, 1]), *labels, np.ones(2)]
    return use, [np.array([1, 2, 3]), 0, X.n, np.zeros((X.n, 1), np.int64), *updates]


def winnow(rng: Rng) -> Call:
    X = rows(rng)
    labels, table = rng.integers(0, 2, X.n).astype(np.int32), 2.0 ** np.arange(-8, 8)
    exponents = np.zeros(X.d, np.int32)

    def use(exponents: Any, table: Any, labels: Any, order: Any, begin: int, end: int) -> None:
        examples = _core.Examples(X, labels, order=order)
        _core.Winnow(table, 2.0, False).epoch(exponents, examples, begin, end)

    return use, [exponents, table, labels, np.arange(X.n), 0, X.n]


def sentences(rng: Rng) -> Call:
    def use(starts: Any, indptr: Any, ids: Any, values: Any, labels: Any) -> None:
        x = _core.Sentences(starts, indptr, ids, values)
        n, features = len(starts) - 1, max(int(x.features), 3)
        if features > 1000:
            return
        allowed = _core.Allowed(np.ones(4, np.uint8), np.ones(2, np.uint8), np.ones(2, np.uint8))
        used, label = np.arange(features, dtype=np.int64), np.zeros(features, np.int32)
        at = np.arange(features + 1, dtype=np.int64)
        emissions = _core.Emissions(features, used, at, label, np.ones(features))
        scorer = _core.TaggerScorer(emissions, np.zeros((2, 8)), allowed)
        scorer.tag(x, 0, n, np.zeros(len(indptr) - 1, np.int32))
        scorer.gaps(x, labels, 0, n, np.zeros(n))

    starts, indptr = np.array([0, 2, 3]), np.array([0, 1, 3, 4])
    labels = np.array([0, 1, 1], np.int32)
    return use, [
        starts,
        indptr,
        np.array([0, 1, 2, 1], np.int32),
        np.ones(4) if rng.integers(2) else None,
        labels,
    ]


def scorer(rng: Rng) -> Call:
    def use(used: Any, at: Any, label: Any, weights: Any, transitions: Any, *allowed: Any) -> None:
        emissions = _core.Emissions(3, used, at, label, weights)
        made = _core.TaggerScorer(emissions, transitions, _core.Allowed(*allowed))
        x = _core.Sentences(np.array([0, 2]), np.array([0, 1, 2]), np.array([0, 1], np.int32))
        made.tag(x, 0, 1, np.zeros(2, np.int32))

    allowed = [np.ones(4, np.uint8), np.ones(2, np.uint8), np.ones(2, np.uint8)]
    used, at = np.array([0, 2]), np.array([0, 1, 3])
    return use, [used, at, np.array([0, 0, 1], np.int32), np.ones(3), np.zeros((2, 8)), *allowed]


def tagged(rng: Rng) -> Call:
    text, spots = b"a B\nb C\n", np.array([2, 3, 3, 6, 7, 7])
    return _core.tagged, [text, spots, np.array([0, 1], np.int32), ["x", "y"], " ", False]


def table(rng: Rng) -> Call:
    def made() -> _core.TemplateIndex:
        return _core.TemplateIndex(
            1, [], [("a", [(0, 0, False)], ""), ("b", [(0, -1, False), (0, 0, False)], "")]
        )

    first = made()
    tokens = first.tokens([[("x",), ("y",)], [("z",)]], [0], ["w"])
    first.expand(tokens, True, 1 << 20)
    order, parts = first.state()
    values = [first.values(0)]

    def use(order: Any, *parts: Any) -> None:
        index = made()
        index.load(values, order, list(parts))
        index.names(np.arange(index.size, dtype=np.int64))
        index.expand(index.tokens([[("y",), ("q",)]], [0], ["w"]), True, 1 << 20)

    return use, [order, *parts]


def conjunctions(rng: Rng) -> Call:
    X = _core.Rows(rng.integers(0, 2, (5, 9)).astype(float))
    bits = _core.Bits(X)

    def use(alpha: Any, begin: int, end: int, out: Any) -> None:
        _core.ConjunctionScores(bits, alpha, False, 1.0).scores(bits, begin, end, out)

    return use, [np.ones((5, 1), np.int64), 0, 5, np.zeros((5, 1))]


def row_budget(rng: Rng) -> Call:
    X = rows(rng)
    labels = rng.integers(0, 2, X.n).astype(np.int32)

    def use(labels: Any, order: Any, draws: Any, out: Any, number: Any) -> None:
        made = _core.RowBudget(_core.BudgetRule("random", 2, 1), _core.Kernel("rbf", 0.5), False, X.d)
        made.learn(_core.Examples(X, labels, order=order), 0, X.n, 0, draws)
        made.scores(X, 0, X.n, False, out)
        data, indices, indptr, _ = made.supports()
        made.set_supports(_core.Rows(data, indices, indptr, X.d), number[: made.size])

    return use, [labels, np.arange(X.n), rng.random(X.n), np.zeros((X.n, 1)), np.arange(X.n)]


CALLS = (
    *(
        make_rows,
        scan_rows,
        scan_rows,
        epoch,
        lowest,
        make_learner,
        vocabulary,
        names_of,
        recolumn,
        words,
        cells,
    ),
    *(
        eisner,
        hull,
        dots,
        formatted,
        panel,
        votes,
        winnow,
        sentences,
        scorer,
        tagged,
        table,
        conjunctions,
        row_budget,
    ),
)


class Fuzzer:
    def __init__(self, folder: Path) -> None:
        pass

    def __call__(self, rng: Rng) -> str:
        function, given = one_of(rng, CALLS)(rng)
        if rng.integers(8) == 0:
            function(*given)
            return "same"
        places = [k for k, value in enumerate(given) if isinstance(value, np.ndarray)]
        for _ in range(int(rng.integers(1, 3))):
            k = one_of(rng, places)
            if (
                rng.integers(4) == 0
            ):  # vectors are aligned in all that the package hands over; rows may be of anyone
                given[k] = somehow(given[k], rng) if function is _core.Rows else spread(given[k], rng)
            else:
                given[k] = other_array(given[k], rng)
        numbers = [k for k, value in enumerate(given) if type(value) is int]
        if numbers and rng.integers(5) == 0:
            given[one_of(rng, numbers)] = one_of(rng, (-1, 0, 5, 100, 2**31, 2**62, -(2**62)))
        try:
            function(*given)
        except (ValueError, TypeError, IndexError, OverflowError, RuntimeError, AssertionError):
            return "refused"
        return "accepted"
