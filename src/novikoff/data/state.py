"""Classes, features, scaling and sparse tables as facts and arrays of a model file, and back."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.arrays import IN_PLACE, SPARSE_IN_PLACE
from novikoff.data.sources.features import Features
from novikoff.data.text_labels import text_array
from novikoff.data.zero_tables import Indices, used_rows
from novikoff.modelfile import checks
from novikoff.modelfile.container import Arrays, Facts

Floats = npt.NDArray[np.float64]

MOST_HASH_BITS, MOST_NGRAMS = 30, 5  # as in `parameters`
CLASS_TYPES = (*(f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)), "bool", "float32", "float64")
# Kinds of features and scaling, and the classes that read them; loaded only when a file has one.
HOMES = {
    "numbered": ("novikoff.data.sources.features", "NumberedFeatures"),
    "named": ("novikoff.data.sources.features", "NamedFeatures"),
    "table": ("novikoff.data.sources.columns", "TableFeatures"),
    "templates": ("novikoff.tagging.features", "TemplateFeatures"),
    "scaling": ("novikoff.data.scaling", "Scaling"),
}


# ---- weights -----------------------------------------------------------------------------------------
def pack_rows(name: str, rows: Floats) -> Arrays:
    """A matrix, either whole or, if that is smaller, as its nonzero rows and their numbers."""
    return pack_columns(name, list(rows.T))


def pack_columns(name: str, columns: list[Floats], used: Indices | None = None) -> Arrays:
    """The same for a matrix given by its columns; all rows except `used`, where given, are zero."""
    n = len(columns[0])
    if used is None:
        used = used_rows(*(column[:, None] for column in columns))
    return pack_used(name, n, used, np.stack([column[used] for column in columns], axis=-1))


def pack_used(name: str, n: int, used: Indices, values: Floats) -> Arrays:
    """The same for a matrix of n rows given by some of them; all others are zero."""
    held = np.ascontiguousarray(values).view(np.int64).any(axis=1)  # by bits: a negative zero is kept
    if (1 + values.shape[1]) * np.count_nonzero(held) < n * values.shape[1]:
        return {f"{name}.rows": used[held].astype(np.int64, copy=False), f"{name}.values": values[held]}
    whole = np.zeros((n, values.shape[1]))
    whole[used] = values
    return {name: whole}


def rows_from_state(name: str, arrays: Arrays, n: int, k: int) -> tuple[Indices | None, Floats]:
    """The numbers of the rows that a file has of a matrix (None: all rows), and their values.

    However many rows the file claims, this takes no more memory than its content.
    """
    if name in arrays:
        return None, checks.array(arrays, name, np.float64, (n, k))
    used = checks.array(arrays, f"{name}.rows", np.int64, (None,))
    values = checks.array(arrays, f"{name}.values", np.float64, (len(used), k))
    if len(used) and (used[0] < 0 or used[-1] >= n or (np.diff(used) <= 0).any()):
        raise ValueError(f"the rows of {name!r} are not increasing numbers below {n}")
    return used, values


def unpack_rows(name: str, arrays: Arrays, n: int, k: int, out: list[Floats]) -> Indices | None:
    """Write the matrix of n rows, column by column, into zero-filled views `out`; return the rows written."""
    used, values = rows_from_state(name, arrays, n, k)
    for c, view in enumerate(out):
        view[slice(None) if used is None else used] = values[:, c]
    return used


# ---- classes -----------------------------------------------------------------------------------------
def classes_state(classes: npt.NDArray[Any]) -> checks.State:
    """Labels in the model's order: numbers as an array, text as facts."""
    if classes.dtype.name in CLASS_TYPES:
        return {"type": classes.dtype.name}, {"labels": classes}
    labels = classes.tolist()
    if all(type(label) is int and -(2**63) <= label < 2**63 for label in labels):  # an array of objects
        return {"type": "int64"}, {"labels": classes.astype(np.int64)}
    if not all(type(label) is str for label in labels):
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        kinds = kinds if kinds != "int" else "integers of more than 64 bits"
        raise ValueError(f"a model file holds labels that are numbers or text, not {kinds}")
    return {"type": "object" if classes.dtype.kind == "O" else "str", "labels": labels}, {}


def classes_from_state(facts: Facts, arrays: Arrays, n: int) -> npt.NDArray[Any]:
    """The labels with this `classes_state`."""
    kind = checks.choice(facts, "type", ("str", "object", *CLASS_TYPES))
    if kind in CLASS_TYPES:
        labels = checks.array(arrays, "labels", np.dtype(kind).type, (n,))
    else:
        texts = checks.fact(facts, "labels", list)
        if len(texts) != n or not all(type(text) is str for text in texts):
            raise ValueError(f"the labels are not {n} texts")
        labels = np.array(texts, dtype=object) if kind == "object" else text_array(texts)
    if len(set(labels.tolist())) != n:
        raise ValueError("some labels are repeated")
    return labels


# ---- features and scaling ----------------------------------------------------------------------------
def _home(kind: str) -> Any:
    module, name = HOMES[kind]
    return getattr(import_module(module), name)


def features_state(features: Features) -> checks.State:
    """The kind of features, and their own state."""
    facts, arrays = features.state()
    return {"kind": features.kind, "state": facts}, arrays


def features_from_state(
    facts: Facts, arrays: Arrays, n_features: int | None, *, trust_patterns: bool = False
) -> Features:
    """The features with this `features_state`: as many as there are weights, if known."""
    kind = checks.choice(facts, "kind", ("numbered", "named", "table", "templates"))
    state = checks.fact(facts, "state", dict)
    _check_features(kind, state)
    trust = {"trust_patterns": trust_patterns} if kind == "templates" else {}
    features: Features = _believe(_home(kind), "features", state, arrays, **trust)
    if n_features is not None and features.n_columns != n_features:
        raise ValueError(f"it has {features.n_columns:,} features by name, but weights for {n_features:,}")
    return features


def _check_features(kind: str, state: Facts) -> None:
    """Sizes and types, before anything is made from them."""
    if kind == "numbered":
        checks.count(state, "n_columns", 0, checks.LARGEST), checks.fact(state, "zero_based", bool)
        return
    if kind == "table":
        recipe = checks.fact(state, "table", dict)
        checks.fact(recipe, "columns", list), checks.fact(recipe, "has_names", bool)
        checks.count(recipe, "ngrams", 1, MOST_NGRAMS)
        state = checks.fact(state, "vocabulary", dict)
    if state.get("hash_bits") is not None:
        checks.count(state, "hash_bits", 1, MOST_HASH_BITS)
    checks.count(state, "seed", 0, 2**64 - 1)
    if kind == "templates":
        checks.fact(state, "templates", str)
        for n in checks.fact(state, "n_values", list) if state.get("hash_bits") is None else ():
            checks.count({"n_values": n}, "n_values")


def scaling_from_state(facts: Facts, arrays: Arrays, n_features: int | None = None) -> Any:
    """The scaling with this `state`; it must match the number of features, if known."""
    centre = checks.array(arrays, "centre", np.float64, (None,))
    scale = checks.array(
        arrays, "scale", np.float64, (n_features if np.size(arrays.get("scale", ())) else None,)
    )
    if (scale <= 0).any() or len(centre) > len(scale):
        raise ValueError(
            "its scaling divides by numbers that are not above 0, or centres columns that it does not scale"
        )
    return _believe(_home("scaling"), "scaling", facts, arrays)


def _believe(cls: Any, what: str, facts: Facts, arrays: Arrays, **how: Any) -> Any:
    """`cls.from_state`, with errors about unreadable facts as one-line ValueErrors."""
    try:
        return cls.from_state(facts, arrays, **how)
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"its {what} cannot be read ({type(error).__name__}: {reason})") from None


# ---- rows in their storage format ----------------------------------------------------------------------
def check_numbers(support: Indices, n_rows: int) -> None:
    """Check that the supports' numbers are distinct rows of those ever given."""
    if len(support) and (
        support.min() < 0 or support.max() >= n_rows or len(np.unique(support)) < len(support)
    ):
        raise ValueError(f"the supports' numbers are not distinct ones below {n_rows:,}")


def sparse_state(name: str, rows: Any) -> Arrays:
    """The arrays of CSR rows."""
    return {f"{name}.{part}": getattr(rows, part) for part in ("data", "indices", "indptr")}


def dense_from_state(arrays: Arrays, name: str, shape: tuple[int, int]) -> npt.NDArray[Any]:
    """Dense rows, in one of the types that are read in place."""
    return checks.array(arrays, name, _type(arrays, name, IN_PLACE), shape)


def sparse_from_state(arrays: Arrays, name: str, shape: tuple[int, int]) -> Any:
    """The CSR rows with this `sparse_state`, whose columns are in order."""
    import scipy.sparse as sp

    m, d = shape
    data = checks.array(arrays, f"{name}.data", _type(arrays, f"{name}.data", SPARSE_IN_PLACE), (None,))
    width = _type(arrays, f"{name}.indices", (np.dtype(np.int32), np.dtype(np.int64)))
    indices = checks.array(arrays, f"{name}.indices", width, (len(data),))
    indptr = checks.array(arrays, f"{name}.indptr", width, (m + 1,))
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ValueError("the rows of the supports do not begin and end where their values do")
    if len(indices) and not 0 <= indices.min() <= indices.max() < d:
        raise ValueError(f"the supports have columns that are not from 0 to {d - 1}")
    starts = np.zeros(len(data) + 1, dtype=bool)
    starts[indptr] = True
    if not (starts[1:-1] | (np.diff(indices) > 0)).all():
        raise ValueError("the columns of a support are not in order")
    return sp.csr_array((data, indices, indptr), shape=shape)


def _type(arrays: Arrays, name: str, known: tuple[Any, ...]) -> type:
    """The type of an array if it is `known`; otherwise the first known type, for the error message."""
    dtype = arrays[name].dtype if name in arrays else known[0]
    return (dtype if dtype in known else known[0]).type
