"""The inputs of an ONNX graph as the rows of a model: a matrix, or the columns of a table by their names.

`data.sources.columns` defines the features of a column: a number c is the feature c, and c=null where it is
missing; the value v of a category is the feature c=v, and c=null where it is missing. What the model has not
met has no feature, and counts for nothing.
"""

from __future__ import annotations

import numpy as np

from novikoff.data.sources.columns import FEATURES, Column, TableFeatures, listed
from novikoff.data.sources.features import Features, NamedFeatures
from novikoff.linear.onnx_graph import OUTPUTS, Graph, double

MATRIX = 'inputs="matrix" (--inputs matrix) exports one value per feature instead'
MOST_INPUTS = 10_000


def matrix_input(graph: Graph, features: Features) -> str:
    """The input ``X``, with a column per feature."""
    return graph.numbers("X", ["n", features.n_columns])


def columns_input(graph: Graph, features: Features) -> str:
    """One input per column; the name of the rows over the model's features that they give."""
    columns, vocabulary = _columns(features)
    _check(columns)
    names = vocabulary.kept_names()
    places = {name: k for k, name in enumerate(names)}
    marks: dict[str, list[tuple[str, int]]] = {column.name: [] for column in columns}
    tabular = places if isinstance(features, TableFeatures) else {}
    for name, k in tabular.items():  # a feature c=v may belong to any column c, whatever marks it contains
        for at, mark in enumerate(name):
            if mark == "=" and name[:at] in marks:
                marks[name[:at]].append((name[at + 1 :], k))
    parts: list[str] = []
    filled: list[int] = []
    for column in columns:
        if column.kind == "number":
            parts += _number(graph, column, places, marks, filled)
        else:
            parts += _category(graph, column, marks, filled)
    rows = graph.add("Concat", parts, axis=1) if len(parts) > 1 else parts[0]
    return _gathered(graph, rows, filled, len(names))


def _gathered(graph: Graph, rows: str, filled: list[int], n_features: int) -> str:
    """Rows in the order of the model's features: `filled` says which feature each column of `rows` is.

    Where several columns are one feature, as for the value c of a=b and the value b=c of a, they add up.
    """
    if filled == list(range(n_features)):
        return rows
    nowhere = len(filled)
    layers: list[list[int]] = [[nowhere] * n_features]
    for at, k in enumerate(filled):
        layer = next((each for each in layers if each[k] == nowhere), None)
        if layer is None:
            layer = [nowhere] * n_features
            layers.append(layer)
        layer[k] = at
    if any(nowhere in layer for layer in layers):
        rows = graph.add("Pad", [rows, graph.constant(np.array([0, 0, 0, 1]))])
    total = ""
    for layer in layers:
        part = graph.add("Gather", [rows, graph.constant(np.array(layer))], axis=1)
        total = graph.add("Add", [total, part]) if total else part
    return total


def _columns(features: Features) -> tuple[list[Column], NamedFeatures]:
    """The columns that make features, and the names of the features."""
    if not isinstance(features, TableFeatures | NamedFeatures):
        raise ValueError(f"the columns of the model have no names. {MATRIX}.")
    if features.hashed:
        raise ValueError(f"the model hashes its features, which ONNX cannot do. {MATRIX}.")
    if isinstance(features, NamedFeatures):
        return [Column(name, "number", "double") for name in features.kept_names()], features
    columns = [column for column in features.columns if column.kind in FEATURES]
    other = [column for column in columns if column.kind not in ("number", "category")]
    if other:
        kinds = ", ".join(
            sorted({"words" if column.kind == "text" else f"{column.kind}s" for column in other})
        )
        raise ValueError(
            f"{'the column' if len(other) == 1 else 'the columns'} {listed([c.name for c in other])} cannot "
            f"be an input: ONNX has no operators for {kinds}. Learn without it (`ignore`), or from numbers "
            f"or categories made of it; or: {MATRIX}."
        )
    return columns, features.vocabulary


def _check(columns: list[Column]) -> None:
    if len(columns) > MOST_INPUTS:
        raise ValueError(f"{len(columns):,} columns are too many for one input each. {MATRIX}.")
    for column in columns:
        if not column.name or column.name in OUTPUTS or column.name.startswith("/"):
            raise ValueError(
                f"a column is named {column.name!r}, which is not possible for an input of the graph: rename "
                f"it and learn again. {MATRIX}."
            )


def _number(
    graph: Graph,
    column: Column,
    places: dict[str, int],
    marks: dict[str, list[tuple[str, int]]],
    filled: list[int],
) -> list[str]:
    """A column of numbers: its feature, and the one for missing values if there is one."""
    side = graph.constant(np.array([1]))
    value = graph.numbers(column.name, ["n"], "a number; NaN if missing")
    value = graph.add("Unsqueeze", [value, side])
    missing = graph.add("IsNaN", [value])
    parts = [graph.add("Where", [missing, graph.constant(0.0), value])]
    filled.append(places[column.name])
    null = dict(marks[column.name]).get("null")
    if null is not None:
        parts.append(graph.add("Cast", [missing], to=double()))
        filled.append(null)
    return parts


def _category(
    graph: Graph, column: Column, marks: dict[str, list[tuple[str, int]]], filled: list[int]
) -> list[str]:
    """A category: a feature per known value, of which one is 1, or none for an unknown value."""
    values = marks[column.name]
    known = [value for value, _ in values]
    text = graph.strings(column.name, ["n"], f"a category, empty if missing; known: {listed(known)}")
    keys = {value: k for k, value in enumerate(known)}
    if "null" in keys:
        keys[""] = keys["null"]
    if not keys:  # all its values were ignored: the input still has to be used
        keys[""] = 0
    at = graph.add(
        "LabelEncoder",
        [text],
        domain="ai.onnx.ml",
        keys_strings=list(keys),
        values_int64s=list(keys.values()),
        default_int64=-1,
    )
    if not known:
        return []
    at = graph.add("Unsqueeze", [at, graph.constant(np.array([1]))])
    hot = graph.add("Equal", [at, graph.constant(np.arange(len(known)))])
    filled += [k for _, k in values]
    return [graph.add("Cast", [hot], to=double())]
