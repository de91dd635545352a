"""Structured problems for the tests: by definition, every output being looked at."""

from itertools import product

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from novikoff.structured import BeamSearch, Sparse
from novikoff.structured.eisner import crossing

words = st.lists(st.lists(st.sampled_from("abc"), max_size=3), max_size=4)


class Plainly:
    """Sequences of 0 and 1 of the length of x, with features of one form; the best is the first maximum."""

    def __init__(self, form="dict", **also):
        self.form = form
        for name, value in also.items():
            setattr(self, name, value)

    def outputs(self, x):
        return list(product((0, 1), repeat=len(x)))

    def features(self, x, y):
        full = np.zeros(7)
        for t, (a, b) in enumerate(zip(x, y, strict=True)):
            full[3 * b : 3 * b + 3] += a
            full[6] += t > 0 and y[t - 1] == b
        if self.form == "dict":
            return {("place", j): float(v) for j, v in enumerate(full) if v}
        if self.form == "sparse":
            return Sparse(np.flatnonzero(full), full[full != 0], 7)
        return sp.csr_array(full[None, :]) if self.form == "scipy" else full

    def value(self, x, z, w):
        phi = self.features(x, z)
        if self.form == "dict":
            return w.dot(phi)
        return phi.dot(w) if self.form == "sparse" else float((phi @ w).item())

    def decode(self, x, w):
        return max(self.outputs(x), key=lambda z: self.value(x, z, w))


class Costly(Plainly):
    """The same with a loss."""

    def loss(self, y, z):
        return float(sum(a != b for a, b in zip(y, z, strict=True)))

    def decode(self, x, w, y=None):
        extra = (lambda z: 0.0) if y is None else (lambda z: self.loss(y, z))
        return max(self.outputs(x), key=lambda z: self.value(x, z, w) + extra(z))


def separable_sequences(seed, n=25, whole=True):
    """(X, Y, γ): sequences labelled by known weights, and the margin that these have over all outputs."""
    rng, problem = np.random.default_rng(seed), Plainly("array")
    u = rng.standard_normal(7)
    X, Y, gaps = [], [], []
    while len(X) < n:
        x = rng.integers(-3, 4, (rng.integers(1, 5), 3)).astype(float) if whole else rng.normal(size=(3, 3))
        scores = {z: u @ problem.features(x, z) for z in problem.outputs(x)}
        best, second = sorted(scores.values())[:-3:-1]
        if best - second > 0.3:
            X.append(x)
            Y.append(max(scores, key=scores.get))
            gaps.append(best - second)
    return X, Y, min(gaps) / np.linalg.norm(u)


class Path(BeamSearch):
    """Words to tags, by the word and by the tag before."""

    tags = ("N", "V")

    def choices(self, x, made):
        return self.tags if len(made) < len(x) else ()

    def step(self, x, made, choice):
        return {(x[len(made)], choice): 1.0, (made[-1:], choice): 1.0}


class Trap(BeamSearch):
    """Two steps. The wrong first step V leads to twice the feature f that speaks for the right one, N.

    Φ(N, N) = (f, g) = (1, 0), Φ(N, V) = (1, −1), Φ(V, ·) = (2, −1): separable, step by step too, by w = (1,
    2).
    """

    def choices(self, x, made):
        return ("V", "N") if len(made) < 2 else ()

    def step(self, x, made, choice):
        if not made:
            return {"f": 1.0} if choice == "N" else {}
        if made == ("V",):
            return {"f": 2.0, "g": -1.0}
        return {"g": -1.0} if choice == "V" else {}


def all_trees(n):
    """Every projective tree with one root over n words."""
    for heads in product(range(n + 1), repeat=n):
        if heads.count(0) == 1 and all(h != m for m, h in enumerate(heads, 1)):
            tree = list(heads)
            if all(_reaches_root(tree, m) for m in range(1, n + 1)) and not crossing(tree):
                yield tree


def _reaches_root(heads, m):
    for _ in heads:
        m = heads[m - 1]
        if not m:
            return True
    return False


TREES = {n: list(all_trees(n)) for n in range(1, 6)}
