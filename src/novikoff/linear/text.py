"""A linear model as text that a person can read, and back.

The head has ``key: value`` lines. After an empty line there is one line per feature with a weight, the
heaviest first: its name as a JSON string, its column, and its weights, one for two classes (for the second),
else one per class in the order of the classes. After another empty line the tail describes features and
scaling, for reading the model back. Numbers are the shortest decimals that give the same double, so a model
read back has the same weights, bit for bit, and predicts the same.

Running sums, counts and the report are not kept. The weights are those that predict, for an averaged model
the averages; a model read back can continue to learn as one that starts from given weights.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data import state as data_state
from novikoff.linear.model import LinearModel
from novikoff.modelfile import checks
from novikoff.modelfile.container import DTYPES, Arrays, Facts, canonical, parse
from novikoff.training import state as training_state
from novikoff.training.ledger import Ledger
from novikoff.training.weights import Floats, Model

FORMAT = 1
TITLE = "novikoff linear model as text, format"


# ---- writing -----------------------------------------------------------------------------------------
def to_text(linear: LinearModel) -> str:
    """The model as text.

    Examples
    --------
    >>> from novikoff import Perceptron
    >>> from novikoff.linear.text import to_text
    >>> model = Perceptron(order="cyclic", average=False, max_epochs=9)
    >>> model = model.fit([[0.5, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> for line in to_text(model.to_linear()).splitlines():
    ...     print(line if len(line) < 60 else line[:57] + "...")
    novikoff linear model as text, format: 1
    name: "Perceptron"
    classes: {"labels":["ham","spam"],"type":"str"}
    settings: {"C":1.0,"average":false,"bias_square":1.0,"mar...
    parameters: {"C":1.0,"average":false,"callback":null,"cla...
    n_features: 2
    bias: 0.0
    <BLANKLINE>
    "2" @1 -1.0
    "1" @0 0.5
    <BLANKLINE>
    features: {"kind":"numbered","state":{"n_columns":2,"zero...
    """
    intercept = linear.weights()[1]
    columns, weights = linear.used_weights()
    head = {
        TITLE: FORMAT,
        "name": linear.name,
        "classes": _state_to_json(data_state.classes_state(linear.classes)),
        "settings": asdict(linear.model.settings),
        "parameters": linear.parameters,
        "n_features": linear.model.n_features,
    }
    lines = [f"{key}: {canonical(value)}" for key, value in head.items()]
    lines += [f"bias: {_numbers(intercept)}", ""]
    order = np.argsort(-np.abs(weights).max(axis=0), kind="stable")
    used, weights = columns[order], weights[:, order]
    for i, (name, j) in enumerate(zip(linear.features.names(used.tolist()), used.tolist(), strict=True)):
        lines.append(f"{json.dumps(name)} @{j} {_numbers(weights[:, i])}")
    lines += ["", f"features: {canonical(_state_to_json(data_state.features_state(linear.features)))}"]
    if linear.scaling is not None:
        lines.append(f"scaling: {canonical(_state_to_json(linear.scaling.state()))}")
    return "\n".join(lines) + "\n"


def _numbers(values: Floats) -> str:
    return " ".join(map(repr, values.tolist()))


def _state_to_json(state: tuple[Facts, Arrays]) -> Facts:
    """Facts with the arrays included: as numbers if a person may want to read them, else as base64."""
    facts, arrays = state
    return facts | ({"arrays": {name: _array_to_json(a) for name, a in arrays.items()}} if arrays else {})


def _array_to_json(a: npt.NDArray[Any]) -> Facts:
    if a.dtype.kind == "f" or a.size < 100:
        return {"type": a.dtype.name, "shape": list(a.shape), "values": a.reshape(-1).tolist()}
    plain = np.ascontiguousarray(a, dtype=a.dtype.newbyteorder("<")).tobytes()
    return {"type": a.dtype.name, "shape": list(a.shape), "base64": base64.b64encode(plain).decode()}


# ---- reading -----------------------------------------------------------------------------------------
def from_text(text: str) -> LinearModel:
    """The model that `to_text` wrote, or a person has edited.

    Raises
    ------
    ValueError
        In one line that gives the place of the error in the text.
    """
    head, weights, tail = _sections(text)
    if head.get(TITLE) != FORMAT:
        expected = f"{TITLE}: {FORMAT}"
        raise ValueError(f"line 1: this is not a text model that this version reads, expected {expected!r}")
    settings = training_state.settings(checks.fact(head, "settings", dict))
    facts, arrays = _state_from_json(head, "classes")
    n_classes = len(arrays["labels"] if "labels" in arrays else checks.fact(facts, "labels", list))
    if n_classes < 2:
        raise ValueError(f"classes: there are {n_classes}, expected two or more")
    classes = data_state.classes_from_state(facts, arrays, n_classes)
    n_features = checks.count(head, "n_features", 0, checks.LARGEST // n_classes)
    features = data_state.features_from_state(*_state_from_json(tail, "features"), n_features)
    k = 1 if n_classes == 2 else n_classes
    biases, (places, values) = _bias(head, k), _read_weights(weights, n_features, k)
    used = np.array(list(places), dtype=np.int64)
    order = np.argsort(used)
    try:
        model = Model(n_classes, n_features, settings, used[order])
    except MemoryError:
        raise ValueError(f"n_features: this process cannot reserve {n_features:,} weights") from None
    for view, bias in zip(training_state.columns(model, "bias"), biases, strict=True):
        view[...] = bias
    for view, column in zip(training_state.columns(model, "weights"), values.T, strict=True):
        view[used] = column
    for (j, (at, name)), expected in zip(places.items(), features.names(list(places)), strict=True):
        if name != expected:
            raise ValueError(
                f"line {at}: column {j} is called {name!r} here, but {expected!r} in the features"
            )
    for learner in model.learners:
        learner.tell_used(used[order])
    model.ledger = Ledger.unknown(from_zero=not model.norm())
    return LinearModel(
        model,
        classes,
        features,
        scaling=data_state.scaling_from_state(*_state_from_json(tail, "scaling"), n_features)
        if "scaling" in tail
        else None,
        parameters=checks.fact(head, "parameters", dict),
        name=checks.fact(head, "name", str),
    )


Lines = list[tuple[int, str]]


def _sections(text: str) -> tuple[Facts, Lines, Facts]:
    """The head, the numbered lines of the weights, and the tail."""
    parts: list[Lines] = [[]]
    for at, line in enumerate(text.split("\n"), 1):
        if line.strip():
            parts[-1].append((at, line))
        elif parts[-1] or len(parts) == 2:  # the weights may be empty
            parts.append([])
    while parts and not parts[-1]:
        parts.pop()
    if len(parts) != 3:
        raise ValueError(f"there are {len(parts)} sections, expected a head, weights and a tail")
    return _facts(parts[0]), parts[1], _facts(parts[2])


def _facts(lines: Lines) -> Facts:
    facts: Facts = {}
    for at, line in lines:
        key, colon, value = line.partition(": ")
        if not colon or key in facts:
            raise ValueError(f"line {at}: {line[:40]!r}, expected 'key: value', and every key once")
        try:
            facts[key] = value if key == "bias" else parse(value.encode("utf-8", "surrogatepass"))
        except ValueError as error:
            raise ValueError(f"line {at}: {key} {error}") from None
    return facts


def _bias(head: Facts, k: int) -> list[float]:
    return _read_numbers(checks.fact(head, "bias", str), k, "bias")


def _read_weights(lines: Lines, n: int, k: int) -> tuple[dict[int, tuple[int, str]], Floats]:
    """The line and name of each column, all below n; and the k weights of each, in the order of the lines."""
    decoder, values = json.JSONDecoder(), []
    places: dict[int, tuple[int, str]] = {}
    for at, line in lines:
        try:
            name, end = decoder.raw_decode(line)
        except (ValueError, RecursionError):
            name, end = None, 0
        mark, _, numbers = line[end:].strip().partition(" ")
        if not isinstance(name, str) or mark[:1] != "@" or not mark[1:].isdecimal():
            raise ValueError(f'line {at}: {line[:40]!r}, expected "name" @column and weights')
        j = int(mark[1:]) if len(mark) < 20 else n
        if j >= n or j in places:
            raise ValueError(f"line {at}: column {j} is repeated, or not below {n}")
        places[j] = at, name
        values.append(_read_numbers(numbers, k, f"line {at}"))
    return places, np.array(values, dtype=np.float64).reshape(-1, k)


def _read_numbers(text: str, k: int, where: str) -> list[float]:
    try:
        values = [float(word) for word in text.split()]
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if len(values) != k or not all(map(math.isfinite, values)):
        raise ValueError(f"{where}: {text[:40]!r}, expected {k} finite number(s)")
    return values


def _state_from_json(facts: Facts, name: str) -> tuple[Facts, Arrays]:
    """The inverse of `_state_to_json`."""
    state = dict(checks.fact(facts, name, dict))
    arrays = checks.fact(state, "arrays", dict) if "arrays" in state else {}
    state.pop("arrays", None)
    return state, dict(_arrays_from_json(arrays))


def _arrays_from_json(arrays: Facts) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    for name in arrays:
        a = checks.fact(arrays, name, dict)
        dtype = np.dtype(checks.choice(a, "type", tuple(DTYPES)))
        shape = checks.fact(a, "shape", list)
        try:
            if "base64" in a:
                values = np.frombuffer(base64.b64decode(a["base64"], validate=True), dtype=dtype)
            else:
                values = np.array(checks.fact(a, "values", list), dtype=dtype)
            yield name, values.reshape(shape)
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"the array {name!r} cannot be read ({error})") from None
