"""The interface of a problem: features of an output, the best output under weights, and optional members.

Two methods are enough. The others are looked up by name, and each has a simple default.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from numbers import Number
from typing import Any, NamedTuple, Protocol

import numpy as np

from novikoff.structured.features import checked


class Problem(Protocol):
    """Any object with these two methods is a problem that can be learned.

    Methods
    -------
    features(x, y)
        Φ(x, y): a dict of name → number, an array, or a sparse vector (`Sparse`, or one row of scipy's).
    decode(x, w)
        The output z with the highest w·Φ(x, z). `w` is read-only: for dicts a mapping in which unknown names
        have weight 0, with `w.dot(features)`; otherwise an array.

    Optional members:

    exact : bool, default True
        Whether `decode` always finds the best output. If not, the verdict after an epoch without updates is
        "consistent", not "separated".
    loss(y, z) and decode(x, w, y)
        For `cost_augmented=True`: the loss of z when y is right, ≥ 0, and the output with the highest
        w·Φ(x, z) + loss(y, z).
    violation(x, w, y)
        None if there is nothing to learn, or (good, bad): two outputs, or parts of outputs, that `features`
        accepts, with w·Φ(x, good) ≤ w·Φ(x, bad). Default: (y, decode(x, w)) if these differ.
    runner_up(x, w, y)
        The best output other than y, or None if there is none. With it the margin is computed exactly.
    check(x, y)
        Raise a ValueError when y cannot be an output for x.
    prepared(X, Y)
        The problem to use for these training examples, for instance with their labels.
    agreement(y, z)
        (right, all): the number of right parts of z, and of all; `score` is the share. Default: one part.
    """

    def features(self, x: Any, y: Any) -> Any: ...

    def decode(self, x: Any, w: Any) -> Any: ...


class Violation(NamedTuple):
    """The result of a visit: the right and the wrong output (or parts of them), and the loss."""

    good: Any
    bad: Any
    loss: float
    mistake: bool


class Structure:
    """A problem as the learner sees it: with all optional members, and with checked results."""

    def __init__(self, problem: Any, *, cost_augmented: bool = False) -> None:
        self.problem, self.cost_augmented = problem, cost_augmented
        self.exact = bool(getattr(problem, "exact", True))
        self.runner_up: Callable[..., Any] | None = getattr(problem, "runner_up", None)
        self._violation: Callable[..., Any] | None = getattr(problem, "violation", None)
        self._check: Callable[..., Any] | None = getattr(problem, "check", None)
        self._agreement: Callable[..., Any] | None = getattr(problem, "agreement", None)
        if cost_augmented:
            self._check_augmented()

    def _check_augmented(self) -> None:
        name = type(self.problem).__name__
        if not callable(getattr(self.problem, "loss", None)):
            raise ValueError(f"cost_augmented=True needs a loss(y, z), which {name} does not have.")
        if self._violation is not None:
            raise ValueError(f"{name} chooses its own violations, so cost_augmented=True is not possible.")
        try:
            inspect.signature(self.problem.decode).bind(None, None, None)
        except TypeError:
            raise ValueError(
                f"cost_augmented=True needs {name}.decode(x, w, y): the output with the highest w·Φ(x, z) + "
                "loss(y, z)."
            ) from None

    def check(self, x: Any, y: Any, i: int) -> None:
        """Reject an impossible output."""
        if y is None:
            raise ValueError(f"y[{i}] is None: every training example needs an output.")
        if self._check is not None:
            try:
                self._check(x, y)
            except (ValueError, TypeError) as error:
                raise type(error)(f"example {i}: {error}") from None

    def features(self, x: Any, y: Any, where: str) -> Any:
        """Φ(x, y) in normal form."""
        return checked(self.problem.features(x, y), where)

    def decode(self, x: Any, w: Any) -> Any:
        """The best output, which must not be None."""
        return self._output(self.problem.decode(x, w))

    def _output(self, z: Any) -> Any:
        if z is None:
            raise TypeError(f"{type(self.problem).__name__}.decode returned None: expected an output.")
        return z

    def violation(self, x: Any, w: Any, y: Any, i: int) -> Violation | None:
        """The violation to learn from an example, or None."""
        if self._violation is not None:
            found = self._violation(x, w, y)
            if found is None:
                return None
            if not isinstance(found, tuple) or len(found) != 2:
                raise TypeError(
                    f"example {i}: violation returned {_shown(found)}, expected None or (good, bad)."
                )
            return Violation(*found, 0.0, True)
        if not self.cost_augmented:
            z = self._output(self.problem.decode(x, w))
            return None if self.same(y, z, i) else Violation(y, z, 0.0, True)
        z = self.problem.decode(x, w, y)
        if self.same(y, z, i):
            return None  # w·Φ(x, y) ≥ w·Φ(x, z) + loss for every z, so plain decoding finds y, too
        loss = self._loss(y, z, i)
        return Violation(y, z, loss, not self.same(y, self.decode(x, w), i))

    def _loss(self, y: Any, z: Any, i: int) -> float:
        loss = self.problem.loss(y, z)
        if not isinstance(loss, int | float | np.number | np.bool_) or not math.isfinite(loss) or loss < 0:
            raise ValueError(f"example {i}: loss(y, z) is {_shown(loss)}, expected a finite number ≥ 0.")
        return float(loss)

    def same(self, y: Any, z: Any, i: int) -> bool:
        """Whether two outputs are equal; outputs of different kinds are an error."""
        if y is z:
            return True
        if _kind(y) is not _kind(z):
            raise TypeError(
                f"example {i}: decode returned {_shown(z)}, a {type(z).__name__}, but y[{i}] is a "
                f"{type(y).__name__}: they can never be equal. Return outputs of the same kind as y."
            )
        equal = np.array_equal(y, z) if isinstance(y, np.ndarray) else y == z
        if isinstance(equal, bool | np.bool_):
            return bool(equal)
        raise TypeError(
            f"example {i}: comparing outputs of type {type(y).__name__} gives {_shown(equal)}, expected True "
            "or False: use outputs whose comparison gives one bool."
        )

    def agreement(self, y: Any, z: Any, i: int) -> tuple[float, float]:
        """The number of right parts of z, and of all."""
        if self._agreement is None:
            return float(self.same(y, z, i)), 1.0
        right, of = self._agreement(y, z)
        return float(right), float(of)


def _kind(y: Any) -> type:
    """The kind of a value; only values of one kind can be equal: all numbers, all texts, else one type."""
    if isinstance(y, Number | np.generic) and not isinstance(y, str | bytes):
        return Number
    if isinstance(y, str):
        return str
    return type(y)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def number_of(X: Any, name: str) -> int:
    """The number of examples."""
    try:
        return int(X.shape[0]) if hasattr(X, "shape") else len(X)
    except (TypeError, IndexError):
        raise TypeError(
            f"{name} is a {type(X).__name__}, which has no length: give a list or an array of examples."
        ) from None


def as_examples(X: Any, name: str) -> Any:
    """X in a form in which X[i] is example i: unchanged, or converted."""
    if isinstance(X, str | bytes | dict | set):
        raise TypeError(f"{name} is a {type(X).__name__}: give a list or an array, one entry per example.")
    n = number_of(X, name)
    if hasattr(X, "tocsr"):
        return X.tocsr()
    if hasattr(X, "iloc"):  # pandas counts from 0 only there
        return X.to_numpy()
    if n and not hasattr(X, "__getitem__"):
        raise TypeError(f"{name} is a {type(X).__name__}, which has no X[i]: give a list or an array.")
    return X
