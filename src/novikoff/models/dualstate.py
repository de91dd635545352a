"""What a model file says of a dual model: its kernel, supports and updates, as facts and arrays, and back.

Reading trusts nothing: whatever does not fit is a ValueError that says what was found and what was expected.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from novikoff.arrays import IN_PLACE, SPARSE_IN_PLACE, is_sparse
from novikoff.dualmodel import DualModel
from novikoff.kernels import BY_NAME, FunctionKernel, Kernel, NamedKernel, PrecomputedKernel
from novikoff.models.modelfile import Arrays, Facts
from novikoff.models.modelstate import LARGEST, State, array, choice, count, fact, number

FIGURES = ("n_classes", "joint", "n_visits", "n_rows", "radius", "log2_radius")


# ---- kernels -----------------------------------------------------------------------------------------
def kernel_state(kernel: Kernel) -> Facts:
    """A kernel as facts; one that is a function cannot be."""
    if isinstance(kernel, NamedKernel):
        numbers = {name: getattr(kernel, name) for name in ("gamma", "coef0", "degree", "offset")}
        return {"name": kernel.name} | numbers
    if isinstance(kernel, PrecomputedKernel):
        return {"name": "precomputed", "n_columns": kernel.n_columns, "offset": kernel.offset}
    if not isinstance(kernel, FunctionKernel):
        raise ValueError("a model with the kernel 'monotone_conjunction' has no file format.")
    raise ValueError(
        "the kernel is a Python function, which a file of data cannot hold: save a model whose kernel has a "
        "name, or keep its supports, dual_coef_ and function yourself."
    )


def kernel_from_state(facts: Facts) -> Kernel:
    """The kernel that `kernel_state` was taken from."""
    name, offset = choice(facts, "name", (*BY_NAME, "precomputed")), _finite(facts, "offset", 0.0)
    if name == "precomputed":
        return PrecomputedKernel(count(facts, "n_columns", 1, LARGEST), offset)
    gamma, coef0 = _finite(facts, "gamma", 0.0), _finite(facts, "coef0", 0.0)
    if gamma == 0:
        raise ValueError("gamma is 0, expected a number > 0")
    return NamedKernel(name, gamma, coef0, count(facts, "degree", 1, 1 << 30), offset)


def _finite(facts: Facts, name: str, least: float) -> float:
    value = number(facts, name, least)
    if math.isinf(value):
        raise ValueError(f"{name} is {value}, expected a finite number")
    return value


# ---- supports ----------------------------------------------------------------------------------------
def _vectors_state(vectors: Any) -> State:
    """Rows as they are stored: dense, CSR, or (of a precomputed kernel) numbers of columns."""
    if is_sparse(vectors):
        parts = {name: getattr(vectors, name) for name in ("data", "indices", "indptr")}
        return {"storage": "sparse", "n_features": int(vectors.shape[1])}, {
            f"vectors.{name}": part for name, part in parts.items()
        }
    storage = "dense" if vectors.ndim == 2 else "columns"
    return {"storage": storage, "n_features": int(vectors.shape[-1])}, {"vectors": vectors}


def _vectors_from_state(facts: Facts, arrays: Arrays, kernel: Kernel, m: int) -> Any:
    precomputed = isinstance(kernel, PrecomputedKernel)
    storage = choice(facts, "storage", ("columns",) if precomputed else ("dense", "sparse"))
    d = count(facts, "n_features", 0, LARGEST)
    if storage == "columns":
        assert isinstance(kernel, PrecomputedKernel)
        places = array(arrays, "vectors", np.int64, (m,))
        if len(places) and not 0 <= places.min() <= places.max() < kernel.n_columns:
            raise ValueError(f"the supports are not numbers from 0 to {kernel.n_columns - 1}")
        return places
    if storage == "dense":
        return array(arrays, "vectors", _type(arrays, "vectors", IN_PLACE), (m, d))
    import scipy.sparse as sp

    data = array(arrays, "vectors.data", _type(arrays, "vectors.data", SPARSE_IN_PLACE), (None,))
    width = _type(arrays, "vectors.indices", (np.dtype(np.int32), np.dtype(np.int64)))
    indices = array(arrays, "vectors.indices", width, (len(data),))
    indptr = array(arrays, "vectors.indptr", width, (m + 1,))
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ValueError("the rows of the supports do not begin and end where their values do")
    if len(indices) and not 0 <= indices.min() <= indices.max() < d:
        raise ValueError(f"the supports have columns that are not from 0 to {d - 1}")
    starts = np.zeros(len(data) + 1, dtype=bool)
    starts[indptr] = True
    if not (starts[1:-1] | (np.diff(indices) > 0)).all():
        raise ValueError("the columns of a support are not in order")
    return sp.csr_array((data, indices, indptr), shape=(m, d))


def _type(arrays: Arrays, name: str, known: tuple[Any, ...]) -> type:
    """The type of an array, if it may have it; the first of them otherwise, for the error to say."""
    dtype = arrays[name].dtype if name in arrays else known[0]
    return (dtype if dtype in known else known[0]).type


# ---- models ------------------------------------------------------------------------------------------
def dual_state(model: DualModel) -> State:
    """Everything but the count of close decisions, which belongs to the run that made them."""
    facts, arrays = _vectors_state(model.vectors)
    facts |= {name: getattr(model, name) for name in FIGURES} | {"kernel": kernel_state(model.kernel)}
    moves = model.moves.astype(np.int8)
    assert (moves == model.moves).all()
    arrays |= {"support": model.support, "used": model.used, "visit": model.visit, "squares": model.squares}
    return facts, arrays | {"moves": moves}


def dual_from_state(facts: Facts, arrays: Arrays) -> DualModel:
    """The model that `dual_state` was taken from."""
    kernel = kernel_from_state(fact(facts, "kernel", dict))
    n_classes, joint = count(facts, "n_classes", 2, LARGEST), fact(facts, "joint", bool)
    if joint and n_classes == 2:
        raise ValueError("joint is True, which two classes never are")
    n_visits, n_rows = count(facts, "n_visits"), count(facts, "n_rows")
    k = 1 if n_classes == 2 else n_classes
    support, used = array(arrays, "support", np.int64, (None,)), array(arrays, "used", np.int64, (None,))
    m, updates = len(support), len(used)
    visit, moves = array(arrays, "visit", np.int64, (updates,)), array(arrays, "moves", np.int8, (updates, k))
    squares = array(arrays, "squares", np.float64, (k,))
    if m and (support.min() < 0 or support.max() >= n_rows or len(np.unique(support)) < m):
        raise ValueError(f"the supports' numbers are not distinct ones below {n_rows:,}")
    if updates and not 0 <= used.min() <= used.max() < m:
        raise ValueError(f"the updates name supports that are not from 0 to {m - 1:,}")
    if updates and (visit[0] < 0 or visit[-1] >= n_visits or (np.diff(visit) < 0).any()):
        raise ValueError(f"the visits of the updates are not increasing numbers below {n_visits:,}")
    if (squares < 0).any():
        raise ValueError("a squared norm is negative")
    up, down = (np.count_nonzero(moves == s, axis=1) for s in (1, -1))
    changed = np.count_nonzero(moves, axis=1)
    if (changed != up + down).any() or (changed < 1).any() or (joint and ((up != 1) | (down != 1)).any()):
        expected = "one +1 and one −1" if joint else "−1, 0 and +1, not all 0"
        raise ValueError(f"the moves of an update are not {expected}")
    vectors = _vectors_from_state(facts, arrays, kernel, m)
    if kernel.is_known:
        try:
            kernel.measure(vectors)  # what it lets pass cannot overflow
        except OverflowError as error:
            raise ValueError(str(error)) from None
    return DualModel(
        kernel,
        n_classes,
        joint,
        vectors,
        support,
        used,
        visit,
        moves.astype(np.float64),
        n_visits,
        n_rows,
        squares,
        radius=number(facts, "radius", 0.0),
        log2_radius=number(facts, "log2_radius"),
    )
