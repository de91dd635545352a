"""Certificates honestly made, and forged."""

import copy
import json
import math

import numpy as np

from novikoff.theory import certify, trace

POOLS = {
    "integers": [0.0, 0.0, 1.0, -1.0, 2.0, -2.0, 3.0],
    "decimals": [0.1, 0.2, 0.3, -0.1, 0.6, 1.4, 4.199999999999999, -0.7, 0.0],
    "tiny": [5e-324, -5e-324, 1e-323, 1e-310, -1e-310, 2.0**-1022, 1e-160, 0.0],
    "huge": [1e308, -1e308, 1.7e308, 1e300, -1e154, 1.0, 0.0],
    "wide": [1e308, -1e308, 5e-324, -5e-324, 1.0, -1.0, 1e-160, 0.0],
    "cancelling": [1.0, 1 + 2.0**-52, -1.0, -1 - 2.0**-52, 2.0**53, -(2.0**53), 2.0**-53, 0.0],
}


def drawn(rng):
    """Few rows with labels 0 and 1 (2), each class present, from one of the pools."""
    name = str(rng.choice(list(POOLS)))
    k, d = int(rng.choice([2, 2, 3])), int(rng.integers(1, 4))
    n = int(rng.integers(k, 6))
    X = rng.choice(POOLS[name], (n, d))
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    if rng.integers(3) == 0:  # rows that repeat, and rows that are opposite
        X[-1] = X[0] * rng.choice([1.0, -1.0])
    lift = {
        "fit_intercept": bool(rng.integers(2)),
        "intercept_scaling": float(rng.choice([1, 0.1, 1e160, 1e-170])),
    }
    return X, y, lift | {"ties": str(rng.choice(["positive", "mistake"]))}


class Linear:
    def __init__(self, coef, intercept, classes):
        self.coef_, self.intercept_, self.classes_ = coef, intercept, classes


def certified(rng):
    """Certificates of all kinds, honestly made."""
    X, y, settings = drawn(rng)
    made = [certify(X, y, **settings)]
    rows = int(y.max()) + 1 if y.max() > 1 else 1
    w = rng.choice([0.0, 1.0, -1.0, 0.1, 1e-310, 1e300], (rows, X.shape[1] + 1))
    made.append(certify(X, y, Linear(w[:, :-1], w[:, -1], np.arange(int(y.max()) + 1)), **settings))
    moderate = not X.any() or 1e-50 < np.abs(X).max() < 1e50
    if made[0].claims[0]["claim"] == "separable" and moderate and settings["intercept_scaling"] in (1.0, 0.1):
        made.append(certify(X, y, trace=trace(X, y, max_epochs=5, margins=0, **settings)))
    return X, y, [json.loads(each.to_json()) for each in made]


NUMBERS = [
    0,
    0.0,
    -0.0,
    1,
    -1,
    2,
    5e-324,
    -5e-324,
    1e300,
    1e-300,
    2**53,
    2**53 + 1,
    10**400,
    True,
    None,
    "0",
    "-1",
    "f" * 300,
]


WORDS = ["separable", "inseparable", "margin at most", "errors", "run", "kernel separable"]


def places(value, at=()):
    """The way to every value, lists and objects included."""
    if at:
        yield at
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*at, key))


def changed(value, rng):
    choice = int(rng.integers(6))
    if choice == 0:
        return NUMBERS[rng.integers(len(NUMBERS))]
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, str):
        if choice < 3:
            return WORDS[rng.integers(len(WORDS))]
        try:
            whole = int(value, 16)
        except ValueError:
            return ["positive", "mistake", "cyclic", "0", "1", "2", ""][rng.integers(7)]
        return f"{[whole + 1, whole - 1, 2 * whole, -whole, 0][rng.integers(5)]:x}"
    if isinstance(value, list):
        if not value:
            return [[0], [1], [0, 1], [0.0]][rng.integers(4)]
        k = int(rng.integers(len(value)))
        return [value[:k], value[::-1], value + value[:1], [], [value[k]] * len(value), value[k]][
            rng.integers(6)
        ]
    if isinstance(value, dict):
        return [{}, [], value | {"more": 0}][rng.integers(3)]
    if isinstance(value, int):
        return [value + 1, value - 1, -value, 2 * value, float(value % 10**300), 0][rng.integers(6)]
    near = [math.nextafter(value, math.inf), math.nextafter(value, -math.inf), value * 1.01, value * 0.99]
    return [*near, -value, 0.0, value + 1, 2 * value, value / 2, 1e300, str(value)][rng.integers(11)]


def forged(content, rng):
    """A certificate that was changed in one to three places; gamma grows and epsilon shrinks more often."""
    content = copy.deepcopy(content)
    for _ in range(int(rng.integers(1, 4))):
        ways = [way for way in places(content) if way[0] != "digest"]
        sharp = [
            way for way in ways if way[-1] in ("gamma", "epsilon", "errors", "visits", "updates", "claim")
        ]
        ways = sharp if sharp and rng.integers(3) == 0 else ways
        way = ways[rng.integers(len(ways))]
        inner = content
        for key in way[:-1]:
            inner = inner[key]
        inner_value = inner[way[-1]]
        inner[way[-1]] = changed(inner_value, rng)
        if rng.integers(8) == 0:  # fields that change places, go or come
            keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
            a, b = keys[rng.integers(len(keys))], keys[rng.integers(len(keys))]
            inner[a], inner[b] = inner[b], inner[a]
        if rng.integers(20) == 0:
            inner.pop(way[-1])
        if not content.get("claims"):
            break
    return content
