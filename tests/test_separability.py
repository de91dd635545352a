"""Verdicts of separability against exact linear programs in fractions, and against known cases."""

import json
import math
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from fraction_lp import is_consistent, is_separable
from hypothesis import given
from hypothesis import strategies as st

from novikoff.theory import separability as module_name  # noqa: F401  (the function, importable by name)
from novikoff.theory.problem import read_problem
from novikoff.theory.separability import Inseparable, Separable, Undecided, _Search, decide, separability

KINDS = ("plain", "collinear", "duplicated", "touching", "zeros", "parallel")
STEPS = ("cancelling", "perceptron", "small", "two_classes", "programs")


def draw(rng):
    """A small problem in integers (or halves), degenerate on purpose more often than not."""
    kind = KINDS[rng.integers(len(KINDS))]
    d, k = int(rng.integers(1, 7)), int(rng.choice([2, 2, 2, 3, 4]))
    n = int(rng.integers(k, 10 if k == 2 else 7))
    X = rng.integers(-2, 3, (n, d)) * rng.choice([0.5, 1.0, 3.0])
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    if kind == "collinear":
        X = rng.integers(-3, 4, (n, 1)) * rng.integers(-2, 3, d) + rng.integers(-1, 2, d) * 1.0
    elif kind == "duplicated":
        X = X[rng.integers(0, max(n // 2, 1), n)]
    elif kind == "touching" and n > k + 1:
        a, b = rng.integers(0, n - 1, 2)
        X[-1] = (X[a] + X[b]) / 2
    elif kind == "zeros":
        X[rng.integers(n)] = 0
        X[:, rng.integers(d)] = 0
    elif kind == "parallel" and n > 2:
        X[-1] = -2 * X[0]
    return X, y


def check(problem, ties, verdict):
    """The verdict is the one of the definition, and carries what proves it. The words it used."""
    search = _Search(problem, ties, None, None)
    pairs = search.all_pairs()
    z = problem.signed_rows(pairs)
    z = z.toarray() if sp.issparse(z) else z
    Z, strict = z.tolist(), search.strict(pairs)
    assert not isinstance(verdict, Undecided), verdict
    assert (verdict.verdict == "separable") == is_separable(Z)
    assert verdict.consistent == is_consistent(Z, strict)
    if isinstance(verdict, Separable):
        assert min(z @ verdict.u.ravel()) > 0
        assert 0 < verdict.margin <= verdict.upper * (1 + 1e-12)
        assert verdict.margin <= min(z @ verdict.u.ravel()) / np.linalg.norm(verdict.u)
    else:
        assert len(verdict.pairs) <= problem.dimension + 1 and min(verdict.weights) > 0
        chosen = problem.signed_rows(verdict.pairs)
        chosen = chosen.toarray() if sp.issparse(chosen) else chosen
        exact = [[int(4 * v) for v in row] for row in chosen]
        for column in zip(*exact, strict=True):
            assert sum(w * v for w, v in zip(verdict.weights, column, strict=True)) == 0
        assert verdict.alpha.sum() == pytest.approx(1)
    if problem.is_joint:
        for (a, b), word in verdict.by_pair.items():
            rows = np.flatnonzero(np.isin(problem.classes[problem.labels], [a, b]))
            signs = np.where(problem.classes[problem.labels[rows]] == a, 1, -1)
            X = np.hstack([problem.X[rows], np.full((len(rows), int(problem.bias > 0)), problem.bias)])
            assert word == ("separable" if is_separable((X * signs[:, None]).tolist()) else "inseparable")
    return verdict.verdict, verdict.consistent, verdict.how


@given(st.integers(0, 2**32 - 1))
def test_small_cases_agree_with_fractions(seed):
    """Six cases a seed: 360 in the suite, 6,000 in the long run."""
    rng = np.random.default_rng(seed)
    for _ in range(6):
        X, y = draw(rng)
        ties = str(rng.choice(["positive", "mistake"]))
        bias = float(rng.choice([0.0, 0.0, 1.0, 2.0]))
        problem = read_problem(X, y, fit_intercept=bias > 0, intercept_scaling=bias or 1.0)
        check(problem, ties, decide(problem, ties=ties))


@pytest.mark.parametrize("step", ["cancelling", "perceptron", "small", "two_classes", "programs"])
def test_each_step_alone_is_right(step, monkeypatch):
    """With the other steps taken out, whatever a step decides is so; programs decide everything."""
    for other in STEPS:
        if other != step:
            monkeypatch.setattr(_Search, other, lambda self: None)
    if step == "programs":
        monkeypatch.setattr("novikoff.theory.separability.SMALL", 0)
    rng = np.random.default_rng(5)
    words = Counter()
    for _ in range(120):
        X, y = draw(rng)
        if step == "two_classes":
            monkeypatch.setattr(_Search, "small", original_small)
        problem = read_problem(X, y, fit_intercept=bool(rng.integers(2)))
        if step in ("small", "programs", "perceptron", "cancelling") and problem.is_joint:
            verdict = _Search(problem, "positive", _clock(), None)
            found = getattr(verdict, step)()
            if found is None:
                words["undecided"] += 1
                continue
            Z = problem.signed_rows(verdict.all_pairs()).tolist()
            assert (found.verdict == "separable") == is_separable(Z)
            words[found.verdict] += 1
            continue
        verdict = decide(problem)
        words[verdict.verdict] += 1
        if not isinstance(verdict, Undecided):
            check(problem, "positive", verdict)
    print(step, words)
    if step in ("small", "programs"):
        assert words["undecided"] <= 1 and words["separable"] > 20 and words["inseparable"] > 20
    if step == "cancelling":
        assert words["inseparable"] > 20 and not words["separable"]
    if step == "perceptron":
        assert words["inseparable"] > 10 and words["separable"] > 20


original_small = _Search.small


def _clock():
    from novikoff.theory.separability import _Clock

    return _Clock(None)
