"""A linear model as an ONNX graph that decides exactly, as novikoff does.

The sign of w·x must not depend on how a sum was rounded, and a runtime's MatMul may add in any order. So the
graph computes with whole numbers, for which every order is exact (the scheme of Ozaki et al. 2012):

- x, with a 1 for the bias, is divided by a power of two L ≥ max|x| and written in digits of base B = 2^β,
  x = L·Σ_i D_i·B^−(i+1); the weights are written in the same way, once at export, with all their digits;
- β is so small that Σ_{i+j=t} D_i·W_j stays below 2^52: products of digits and their sums are exact;
- carries are propagated from the lowest plane to the highest, so that every digit except the first lies in
  [−B/2, B/2). This form is unique: its first nonzero digit has the sign of the score, and scores compare like
  their digits, one after the other.

Every step is a rounding to whole numbers, a product or a sum of them, or a product with a power of two: no
reordering by an optimizer can change a bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.sources.columns import TableFeatures
from novikoff.linear.model import LinearModel
from novikoff.linear.onnx_graph import Graph, double, int64
from novikoff.linear.onnx_inputs import columns_input, matrix_input
from novikoff.training.weights import Floats

INPUTS = ("columns", "matrix")
COVERED = 96  # bits below the largest value of a row that the digits cover; 53 suffice for equal sizes


def to_onnx(linear: LinearModel, *, inputs: str | None = None, float32: bool = False) -> Any:
    """An `onnx.ModelProto` with the outputs ``label`` and ``scores``.

    ``label`` is int64 if all labels are whole numbers, else string or double. ``scores`` is double, (n,) for
    two classes and (n, classes) for more, correct to a few units in the last place and always with the exact
    sign.

    The label is exact, also on ties: a score of exactly 0 predicts the second of two classes; of several
    classes with the highest score the lowest wins. This holds for rows of finite values below 2^900 whose
    last bit lies within 96 bits of the row's largest value (or 1), which leaves 43 bits for differences in
    size; beyond that the error is below 2^−90·max|x|·max|w|. Rows scaled to norm 1 are exact up to the
    rounding of the norm.

    Parameters
    ----------
    linear : LinearModel
    inputs : {"columns", "matrix"}, optional
        "columns": one input per column, of shape (n,), with the column's name. A category is a string, where
        "" means missing and an unknown one counts for nothing, as for novikoff; blanks around it must have
        been removed. A number is a double, where NaN means missing. Columns of words or times are refused.
        "matrix": one input ``X`` of shape (n, features), with one value per feature of the model. Default:
        "columns" for a model of a table, otherwise "matrix". Scaling is part of the graph in both.
    float32 : bool
        Take numbers as float32; they are converted to double, which is exact, before anything else.

    Examples
    --------
    >>> from novikoff import Perceptron
    >>> from novikoff.linear.onnx import to_onnx
    >>> model = Perceptron(order="cyclic").fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> proto = to_onnx(model.to_linear())
    >>> [each.name for each in (*proto.graph.input, *proto.graph.output)]
    ['X', 'label', 'scores']
    """
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise ImportError("ONNX export needs the package onnx: pip install 'novikoff[onnx]'") from None
    if inputs is None:
        inputs = "columns" if isinstance(linear.features, TableFeatures) else "matrix"
    elif inputs not in INPUTS:
        raise ValueError(f"inputs={inputs!r} is not possible: expected one of {', '.join(INPUTS)}.")
    graph = Graph(float32=float32)
    x = (columns_input if inputs == "columns" else matrix_input)(graph, linear.features)
    x = _scaled(graph, x, linear.scaling, linear.model.n_features)
    scores, index = _decide(graph, x, *linear.weights())
    labels = _labels(linear.classes)
    graph.add("Gather", [graph.constant(labels), index], "label")
    graph.add("Identity", [scores], "scores")
    return graph.model(labels, len(linear.classes))


def _labels(classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if classes.dtype.kind in "iub":
        return classes.astype(np.int64)
    if classes.dtype.kind == "f":
        whole = (classes == np.trunc(classes)).all() and (abs(classes) < 2**53).all()
        return classes.astype(np.int64 if whole else np.float64)
    return np.array([str(label) for label in classes], dtype=object)


# ---- digits ------------------------------------------------------------------------------------------
def plan_digits(n_terms: int) -> tuple[int, int]:
    """(β, digits of a row): the longest digits whose sums of products stay below 2^52."""
    for count in range(1, 64):
        beta = min((52 - math.ceil(math.log2(n_terms * count))) // 2, 24)  # 24: float32 holds them
        if beta * count >= COVERED:
            return beta, count
    raise ValueError(f"{n_terms:,} features are too many for an exact ONNX graph")


def weight_digits(weights: Floats, beta: int) -> tuple[list[Floats], int]:
    """Matrices of whole numbers and an exponent e: weights = 2^e·Σ_j W_j·2^(−β(j+1)), exactly."""
    exponent = int(np.frexp(np.abs(weights).max(initial=0.0))[1])
    digits: list[Floats] = []
    # in one step: otherwise the smallest of weights near 1 would underflow
    rest = np.ldexp(weights, beta - exponent)
    while True:
        digits.append(np.rint(rest))
        rest = rest - digits[-1]
        if not rest.any():
            return digits, exponent
        rest = np.ldexp(rest, beta)


# ---- the graph ---------------------------------------------------------------------------------------
def _scaled(graph: Graph, x: str, scaling: Any, n_features: int) -> str:
    """x after the model's scaling, by the same operations."""
    if scaling is None:
        return x
    facts, arrays = scaling.state()
    match facts["kind"]:
        case "standard" | "maxabs":
            if len(arrays["centre"]):  # of the leading columns only
                centre = np.zeros(n_features)
                centre[: len(arrays["centre"])] = arrays["centre"]
                x = graph.add("Sub", [x, graph.constant(centre)])
            return graph.add("Div", [x, graph.constant(arrays["scale"])])
        case "unit":
            squares = graph.add("ReduceSum", [graph.add("Mul", [x, x]), graph.constant(np.array([1]))])
            norm = graph.add("Sqrt", [squares])
            zero = graph.add("Equal", [norm, graph.constant(0.0)])
            return graph.add("Div", [x, graph.add("Where", [zero, graph.constant(1.0), norm])])
    raise ValueError(f"the scaling {facts['kind']!r} has no ONNX form")


def _decide(graph: Graph, x: str, coef: Floats, intercept: Floats) -> tuple[str, str]:
    """The names of the scores and of the class index."""
    weights = np.vstack([coef.T, intercept])  # the bias is the weight of a column of ones
    beta, n_digits = plan_digits(len(weights))
    planes, exponent = weight_digits(weights, beta)
    ones = graph.constant(np.array([0, 0, 0, 1])), graph.constant(1.0)
    row, size = _unit_rows(graph, graph.add("Pad", [x, *ones]))
    base, unbase, half = graph.constant(2.0**beta), graph.constant(2.0**-beta), graph.constant(0.5)

    digits = []
    for i in range(n_digits):
        row = graph.add("Mul", [row, base])
        digits.append((i, graph.add("Round", [row])))
        row = graph.add("Sub", [row, digits[-1][1]])
    digits.append((n_digits - 1, row))  # the remainder, nearly always 0: the fraction of the last digit
    whole = graph.constant(np.hstack(planes).astype(np.float32))  # digits have at most 24 bits
    whole = graph.add("Cast", [whole], to=double())
    sums: list[list[str]] = [[] for _ in range(n_digits + len(planes) - 1)]
    for i, digit in digits:
        products = graph.add("MatMul", [digit, whole])
        for j, part in enumerate(graph.split(products, len(planes), axis=1)):
            sums[i + j].append(part)
    totals = [_sum(graph, parts) for parts in sums]
    for t in range(len(totals) - 1, 0, -1):
        carry = graph.add("Floor", [graph.add("Add", [graph.add("Mul", [totals[t], unbase]), half])])
        totals[t] = graph.add("Sub", [totals[t], graph.add("Mul", [carry, base])])
        totals[t - 1] = graph.add("Add", [totals[t - 1], carry])

    value = totals[-1]
    for total in reversed(totals[:-1]):
        value = graph.add("Add", [graph.add("Mul", [value, unbase]), total])
    unit = graph.add("Mul", [size, graph.constant(2.0 ** (exponent - 2 * beta))])
    scores = graph.add("Mul", [value, unit])
    if len(intercept) > 1:
        return scores, _largest(graph, totals)
    only = graph.constant(np.array([1]))
    positive = graph.add("GreaterOrEqual", [graph.add("Squeeze", [value, only]), graph.constant(0.0)])
    return graph.add("Squeeze", [scores, only]), graph.add("Cast", [positive], to=int64())


def _unit_rows(graph: Graph, x: str) -> tuple[str, str]:
    """The rows divided by the smallest power of two that no value exceeds, and that power, (n, 1).

    Rump, Ogita and Oishi (2008): with q = 2^53·m, (q + m) − q is that power, or 0 if m itself is one.
    """
    most = graph.add("ReduceMax", [graph.add("Abs", [x])], axes=[1], keepdims=1)
    far = graph.add("Mul", [most, graph.constant(2.0**53)])
    above = graph.add("Abs", [graph.add("Sub", [graph.add("Add", [far, most]), far])])
    power = graph.add("Max", [above, most])
    return graph.add("Div", [x, power]), power


def _sum(graph: Graph, parts: list[str]) -> str:
    total = parts[0]
    for part in parts[1:]:
        total = graph.add("Add", [total, part])
    return total


def _largest(graph: Graph, digits: list[str]) -> str:
    """The lowest class with the highest score: the candidates are narrowed down digit by digit."""
    lost = graph.constant(-np.inf)
    racing = ""
    for digit in digits:
        shown = graph.add("Where", [racing, digit, lost]) if racing else digit
        best = graph.add("ReduceMax", [shown], axes=[1], keepdims=1)
        racing = graph.add("Equal", [shown, best])
    return graph.add("ArgMax", [graph.add("Cast", [racing], to=int64())], axis=1, keepdims=0)
