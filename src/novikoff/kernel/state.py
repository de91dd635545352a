"""Kernels and supports in a model file: as facts and arrays, and back.

Nothing read is trusted: invalid content raises a ValueError with what was found and what was expected.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from novikoff.data.arrays import IN_PLACE, is_sparse
from novikoff.data.state import dense_from_state, sparse_from_state, sparse_state
from novikoff.kernel.conjunctions import MonotoneConjunction
from novikoff.kernel.kernels import BY_NAME, Kernel, NamedKernel, PrecomputedKernel
from novikoff.modelfile.checks import LARGEST, State, array, choice, count, number
from novikoff.modelfile.container import Arrays, Facts


# ---- kernels -----------------------------------------------------------------------------------------
def kernel_state(kernel: Kernel) -> Facts:
    """A kernel as facts; a function raises an error."""
    facts = {"name": kernel.title, "offset": kernel.offset}
    if isinstance(kernel, NamedKernel):
        return facts | {name: getattr(kernel, name) for name in ("gamma", "coef0", "degree")}
    if isinstance(kernel, PrecomputedKernel):
        return facts | {"n_columns": kernel.n_columns}
    if isinstance(kernel, MonotoneConjunction):
        return facts
    raise ValueError(
        "the kernel is a Python function, which a file of data cannot hold: save a model whose kernel has a "
        "name, or keep its supports, dual_coef_ and function yourself."
    )


def kernel_from_state(facts: Facts) -> Kernel:
    """The kernel with this `kernel_state`."""
    name = choice(facts, "name", (*BY_NAME, "monotone_conjunction", "precomputed"))
    offset = _finite(facts, "offset", 0.0)
    if name == "precomputed":
        return PrecomputedKernel(count(facts, "n_columns", 1, LARGEST), offset)
    if name == "monotone_conjunction":
        if offset not in (0.0, 1.0):
            raise ValueError(f"offset is {offset}, expected 0 or 1")
        return MonotoneConjunction(offset)
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
def vectors_state(vectors: Any, kernel: Kernel) -> State:
    """Rows in their storage format: dense, CSR, or (for a precomputed kernel) column numbers.

    Dense rows of 0 and 1 are packed, eight columns per byte, if the kernel takes no others.
    """
    if is_sparse(vectors):
        return {"storage": "sparse", "n_features": int(vectors.shape[1])}, sparse_state("vectors", vectors)
    facts = {"n_features": int(vectors.shape[-1])}
    if vectors.ndim == 1:
        return facts | {"storage": "columns"}, {"vectors": vectors}
    if not isinstance(kernel, MonotoneConjunction):
        return facts | {"storage": "dense"}, {"vectors": vectors}
    packed = np.packbits(vectors != 0, axis=1)
    return facts | {"storage": "bits", "type": vectors.dtype.name}, {"vectors": packed}


def vectors_from_state(facts: Facts, arrays: Arrays, kernel: Kernel, m: int) -> Any:
    """The m supports, checked so that their kernel values cannot overflow."""
    vectors = _stored(facts, arrays, kernel, m)
    if kernel.is_known:
        try:
            kernel.measure(vectors)  # values of accepted rows cannot overflow
        except OverflowError as error:
            raise ValueError(str(error)) from None
    return vectors


def _stored(facts: Facts, arrays: Arrays, kernel: Kernel, m: int) -> Any:
    d = count(facts, "n_features", 0, LARGEST)
    if isinstance(kernel, PrecomputedKernel):
        choice(facts, "storage", ("columns",))
        places = array(arrays, "vectors", np.int64, (m,))
        if len(places) and not 0 <= places.min() <= places.max() < kernel.n_columns:
            raise ValueError(f"the supports are not numbers from 0 to {kernel.n_columns - 1}")
        return places
    dense = "bits" if isinstance(kernel, MonotoneConjunction) else "dense"
    storage = choice(facts, "storage", (dense, "sparse"))
    if storage == "dense":
        return dense_from_state(arrays, "vectors", (m, d))
    if storage == "bits":
        packed = array(arrays, "vectors", np.uint8, (m, -(-d // 8)))
        if d % 8 and (packed[:, -1] & (0xFF >> d % 8)).any():
            raise ValueError("the packed supports have ones beyond their last column")
        dtype = np.dtype(choice(facts, "type", tuple(known.name for known in IN_PLACE)))
        return np.unpackbits(packed, axis=1, count=d).astype(dtype)
    return sparse_from_state(arrays, "vectors", (m, d))
