"""The question of training about its rows: `quick`, asked once, with an answer that a `Run` can hold.

`training` lies below this package, so that estimators and commands hand `ask` to its plan.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from novikoff.proof.problem import Problem
from novikoff.proof.quick import Question
from novikoff.proof.verdicts import Separable
from novikoff.training.run import Proof
from novikoff.training.weights import Floats, Ints


def ask(
    X: Any,
    labels: Ints,
    n_classes: int,
    *,
    bias_square: float,
    ties: str,
    epochs: int,
    start: tuple[Floats, Floats],
    factors: Floats | None = None,
) -> Proof | None:
    """Whether some weights separate these rows, asked with the effort of so many epochs; None: still open.

    The answer is a function of the arguments alone, whatever was asked before. `start` is (coef, intercept)
    of the perceptron trained so far. With `factors`, powers of two, the search is among the columns times
    these; its answer is about the rows as they are, because w·z = v·x, and vectors z cancel out where x do.

    >>> start = np.zeros((1, 1)), np.zeros(1)
    >>> proof = ask(np.array([[1.0], [1.0]]), np.array([0, 1], dtype=np.int32), 2, bias_square=1.0,
    ...             ties="positive", epochs=10, start=start)
    >>> proof.is_possible, proof.pairs.tolist(), proof.weights, proof.consistent
    (False, [0, 1], (1, 1), False)
    """
    problem = Problem(X, labels, np.arange(n_classes), math.sqrt(bias_square), None)
    if factors is not None:
        problem, start = problem.scaled(factors), (start[0] / factors, start[1])
    answer = Question(problem, ties).ask(epochs, start=start)
    if answer is None:
        return None
    if not isinstance(answer, Separable):
        return Proof(False, pairs=answer.pairs, weights=answer.weights, consistent=answer.consistent)
    if answer.coef.dtype == object:  # integers that no float is precise enough for
        return None
    coef = answer.coef.astype(float)
    coef = coef if factors is None else coef * factors
    return Proof(True, coef, answer.intercept.astype(float), consistent=True)
