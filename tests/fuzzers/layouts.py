"""Rows however they lie in memory: strides, types, byte orders, offsets; and sparse ones that are spoiled.

Values are small whole numbers that every type holds, so that all forms must give the bits of the plain one.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import novikoff
from fuzzers.mutation import Rng, extreme, one_of
from novikoff import checker, theory
from novikoff.parameters.linear import RULES

KINDS = ("f8", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "longdouble", "bool", "O")
INDICES = ("int32", "int64", "int16", "int8", "uint8", "uint16", "uint32", "uint64")
TOLD = (ValueError, TypeError)


def estimators(rng: Rng) -> Any:
    common = {"max_epochs": int(rng.integers(1, 4)), "random_state": 0}
    rule = one_of(rng, RULES)
    kernel = one_of(rng, ("linear", "poly", "rbf", "laplacian", "cosine", "chi2", "monotone_conjunction"))
    order = one_of(rng, ("cyclic", "shuffle"))
    policy = one_of(rng, ("projectron", "projectron++", "forgetron", "oldest", "random"))
    return one_of(
        rng,
        (
            novikoff.Perceptron(
                rule, average=bool(rng.integers(2)), order=one_of(rng, (order, "worst")), **common
            ),
            novikoff.Perceptron(rule, multiclass="ovr", fit_intercept=False, order=order, **common),
            novikoff.VotedPerceptron(order=order, **common),
            novikoff.Pocket(**common),
            novikoff.Winnow(balanced=bool(rng.integers(2)), order=order, **common),
            novikoff.KernelPerceptron(kernel, gamma=0.5, order=order, **common),
            novikoff.KernelPerceptron(
                kernel,
                gamma=0.5,
                multiclass="joint",
                predict_with=one_of(rng, ("last", "averaged")),
                **common,
            ),
            novikoff.KernelPerceptron(kernel, gamma=0.5, budget=2, budget_policy=policy, **common),
        ),
    )


# ---- one-dimensional and two-dimensional arrays of the same values ---------------------------------------
def spread(values: np.ndarray[Any, Any], rng: Rng) -> np.ndarray[Any, Any]:
    """The same values with other bytes around and between them, in any order of memory."""
    filler = (
        np.asarray(99).astype(values.dtype) if values.dtype.kind not in "bO" else np.zeros((), values.dtype)
    )
    pads = [tuple(int(p) for p in rng.integers(0, 3, 2)) for _ in values.shape]
    steps = [int(one_of(rng, (1, 1, 2, 3, -1, -2))) for _ in values.shape]
    shape = [n * abs(s) + a + b for n, s, (a, b) in zip(values.shape, steps, pads, strict=True)]
    whole = np.full(shape, filler, dtype=values.dtype, order=one_of(rng, ("C", "F")))
    view = whole[
        tuple(
            slice(a, a + n * abs(s), abs(s)) for n, s, (a, _) in zip(values.shape, steps, pads, strict=True)
        )
    ]
    view = view[tuple(slice(None, None, -1 if s < 0 else 1) for s in steps)]
    view[...] = values
    return view


def unaligned(values: np.ndarray[Any, Any], rng: Rng) -> np.ndarray[Any, Any]:
    """The same values at an address that is no multiple of their size."""
    if values.dtype.kind == "O":
        return values
    shift = int(rng.integers(0, 16))
    memory = np.zeros(values.nbytes + 16, np.uint8)
    view = memory[shift : shift + values.nbytes].view(values.dtype).reshape(values.shape)
    view[...] = values
    return view


def swapped(values: np.ndarray[Any, Any], rng: Rng) -> np.ndarray[Any, Any]:
    """The same values in the other byte order."""
    return values.astype(values.dtype.newbyteorder())


def frozen(values: np.ndarray[Any, Any], rng: Rng) -> np.ndarray[Any, Any]:
    values = values.copy()
    values.flags.writeable = False
    return values


def field(values: np.ndarray[Any, Any], rng: Rng) -> np.ndarray[Any, Any]:
    """The same values as a field of packed records."""
    if values.dtype.kind == "O":
        return values
    records = np.zeros(values.shape, np.dtype([("before", "u1"), ("value", values.dtype), ("after", "S3")]))
    records["value"] = values
    return records["value"]


FORMS = (spread, spread, unaligned, swapped, frozen, field)


def somehow(values: np.ndarray[Any, Any], rng: Rng) -> np.ndarray[Any, Any]:
    for _ in range(int(rng.integers(0, 3))):
        values = one_of(rng, FORMS)(values, rng)
    return values


# ---- matrices ------------------------------------------------------------------------------------------
def sparse(X: np.ndarray[Any, Any], kind: str, rng: Rng) -> Any:
    """CSR or CSC whose arrays lie anyhow; indices out of order and repeated, their values adding up."""
    make = one_of(rng, (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix))
    good = make(X)
    data, indices, indptr = good.data, good.indices, good.indptr
    if rng.integers(3) == 0:  # out of order
        for a, b in pairwise(indptr.tolist()):
            order = rng.permutation(b - a)
            data[a:b], indices[a:b] = data[a:b][order], indices[a:b][order]
    if rng.integers(4) == 0 and len(data):  # every value in two parts
        data = np.repeat(data, 2)
        data[::2], data[1::2] = data[::2] - 1, 1
        if kind.startswith("u") or kind == "bool":
            data = np.repeat(good.data, 2) * np.tile([1, 0], len(good.data))
        indices, indptr = np.repeat(indices, 2), indptr * 2
    kind = {"O": "f8", "f2": "f4"}.get(kind, kind)  # scipy has no loops for these
    widths = [i for i in INDICES if np.iinfo(i).max >= max(int(indptr[-1]), max(X.shape))]
    parts = {
        "data": somehow(data.astype(kind), rng),
        "indices": somehow(indices.astype(one_of(rng, widths)), rng),
        "indptr": somehow(indptr.astype(one_of(rng, widths)), rng),
    }
    if rng.integers(2):
        parts["indptr"] = somehow(np.asarray(indptr).astype(parts["indices"].dtype.newbyteorder("=")), rng)
    out = make(X.shape, dtype=parts["data"].dtype.newbyteorder("="))
    for name, array in parts.items():
        setattr(out, name, array)
    return out


def spoiled(X: Any, rng: Rng) -> Any:
    """A sparse matrix whose arrays do not fit each other."""
    parts = {"data": X.data.copy(), "indices": X.indices.copy(), "indptr": X.indptr.copy()}
    for _ in range(int(rng.integers(1, 3))):
        name = one_of(rng, sorted(parts))
        array = parts[name]
        choice = int(rng.integers(5))
        if choice < 3 and array.size and name != "data":
            near = (-1, len(parts["data"]) + 1, X.shape[1], X.shape[0], 0)
            value = one_of(rng, (*near, extreme(array.dtype, rng)))
            array[int(rng.integers(len(array)))] = np.asarray(value).astype(array.dtype)
        elif choice == 3:
            parts[name] = array[: int(rng.integers(len(array) + 1))]
        else:
            parts[name] = np.concatenate([array, array[:1]])
    out = type(X)(X.shape, dtype=X.dtype.newbyteorder("="))
    for name, array in parts.items():
        setattr(out, name, array)
    return out


def drawn(rng: Rng) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    n, d = int(rng.integers(2, 12)), int(one_of(rng, (1, 2, 3, 5, 15, 16, 17, 33)))
    X = rng.integers(0, one_of(rng, (2, 2, 4)), (n, d)).astype(float)
    X[rng.random((n, d)) < 0.4] = 0
    y = rng.integers(0, int(rng.integers(2, 4)), n)
    y[:2] = 0, 1
    return X, y


class Fuzzer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, rng: Rng) -> str:
        X, y = drawn(rng)
        kind = one_of(rng, KINDS)
        if X.max() > 1 and kind == "bool":
            kind = "u1"
        do, broken = self._something(rng), False
        if rng.integers(2):
            given = self._dense(X.astype(kind), rng)
        else:
            given = sparse(X, kind, rng)
            if rng.integers(3) == 0:
                given, broken = spoiled(given, rng), True
        labels = somehow(y, rng)
        try:
            expected = do(X.copy(), y)
        except TOLD as error:  # some learners refuse some rows
            expected = type(error)
        try:
            found = do(given, labels)
        except TOLD as error:
            if not broken and expected is not type(error) and not refusable(kind, given, str(error)):
                raise AssertionError(f"refused: {error}") from error
            return "refused"
        if broken:
            return "accepted"
        assert same(found, expected), (found, expected)
        return "same"

    def _dense(self, X: np.ndarray[Any, Any], rng: Rng) -> Any:
        choice = int(rng.integers(8))
        if choice == 0 and X.dtype.kind != "O":
            path = self.folder / "rows.dat"
            X.tofile(path)
            return np.memmap(path, X.dtype, "r", shape=X.shape)
        if choice == 1:
            return np.asfortranarray(X)
        if choice == 2:
            return X.tolist()
        return somehow(X, rng)

    def _something(self, rng: Rng) -> Any:
        estimator, more, choice = estimators(rng), bool(rng.integers(2)), int(rng.integers(8))

        def learn(X: Any, y: Any) -> Any:
            import sklearn

            model = sklearn.clone(estimator).fit(X, y)
            if more and hasattr(model, "partial_fit"):
                model.partial_fit(X, y)
            return [model.decision_function(X), model.predict(X), getattr(model, "n_mistakes_", None)]

        def look(X: Any, y: Any) -> Any:
            two = np.asarray(y) > 0
            return [
                theory.radius(X),
                theory.separability(X, two).verdict,
                checker.Data(X, np.asarray(y).tolist()).digest,
            ]

        def prove(X: Any, y: Any) -> Any:
            made = theory.certify(X, y)
            assert made.verify(X, y)
            return [
                [claim["claim"] for claim in made.claims]
            ]  # their numbers are sums, in the order of storage

        return learn if choice < 6 else look if choice == 6 else prove


def refusable(kind: str, X: Any, said: str) -> bool:
    """What may be refused though its numbers are fine, and is by scipy or by the checker, which says so."""
    if kind in ("O", "longdouble"):
        return "64 bits or less" in said or sp.issparse(X)
    return sp.issparse(X) and (
        "a row has the same column twice" in said or "scipy.sparse does not support" in said
    )


def same(a: Any, b: Any) -> bool:
    """Equal, except for the last digits of float scores: those of kernels depend on how rows are stored."""
    if isinstance(b, type):
        return False
    for one, other in zip(a, b, strict=True):
        if isinstance(other, np.ndarray) and other.dtype.kind == "f":
            if one.shape != other.shape or not np.allclose(one, other, rtol=1e-9, atol=1e-9):
                return False
        elif isinstance(other, np.ndarray):
            if one.shape != other.shape or (one != other).any():
                return False
        elif one != other:
            return False
    return True
