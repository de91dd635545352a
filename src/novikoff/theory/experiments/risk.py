"""Risk: the error on rows that were not seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import clone

from novikoff import datasets
from novikoff.linear.voted import VotedPerceptron
from novikoff.theory.experiments.experiment import Curve, Experiment, Picture, fit, plain
from novikoff.theory.experiments.mistakes import stream
from novikoff.theory.formulas import minimax_risk


def gaussians(
    n_rows: int = 2000,
    d: int = 10,
    distance: float = 2.0,
    epochs: int = 10,
    n_test: int = 50_000,
    *,
    random_state: Any = 0,
) -> Experiment:
    """Two Gaussians of one covariance: the risks of last, averaged and voted weights, and the optimal risk.

    The risk of linear weights is exact: Φ of their signed distance to each mean. The risk of the votes is
    measured on `n_test` rows. No rule has a risk below the optimal one.

    >>> result = gaussians(500, 5)
    >>> result.figures["optimal"] <= result.figures["averaged"] < result.figures["last"]
    True
    """
    rng = np.random.default_rng(random_state)
    both = datasets.gaussians(n_rows + n_test, d, distance, random_state=rng)
    (X, y), (test, truth) = ((both.X[part], both.y[part]) for part in (slice(n_rows), slice(n_rows, None)))
    model = fit(VotedPerceptron(max_epochs=epochs, order="shuffle", random_state=rng), X, y)
    risks = {
        "optimal": both.risk,
        "averaged": gaussian_risk(both, model.averaged_coef_[0], model.averaged_intercept_[0]),
        "last": gaussian_risk(both, model.coef_[0], model.intercept_[0]),
    }
    holds = min(risks["averaged"], risks["last"]) >= both.risk * (1 - 1e-12)
    voted = float(np.mean(model.predict(test) != truth))
    return Experiment(
        "gaussians",
        "no threshold's risk is below Φ(−Δ/2)",
        holds,
        risks | {"voted (on test rows)": voted},
        picture=Picture(
            bars=("averaged", "last", "voted (on test rows)"), levels=("optimal",), ylabel="risk"
        ),
    )


def gaussian_risk(both: datasets.Gaussians, coef: Any, intercept: float) -> float:
    """The risk of a linear threshold on two Gaussians: w·x + b is Gaussian for each of them."""
    spread = math.sqrt(2 * float(coef @ both.covariance @ coef))
    low, high = (both.means @ coef + intercept) / spread
    return 0.25 * (math.erfc(-low) + math.erfc(high))


def minimax(
    n: int = 20, d: int = 8, repeats: int = 2000, *, learner: Any = None, random_state: Any = 0
) -> Experiment:
    """The distribution behind the minimax lower bound: no learner's expected risk is below it.

    After one pass over n examples the perceptron (no bias, sign(0) = +1) is right on every point that it has
    seen and on the frequent one, and predicts + on the others: its expected risk is the bound itself. The
    mean over `repeats` draws of labels and examples is compared with the formula, within four standard
    errors; `minimax_exact` gives the perceptron's exact expectation.

    `learner` is any other classifier with `fit` and `predict`, a copy of which is fitted to each sample (if
    this has one class only, that class is predicted). For it the claim is the lower bound.

    >>> result = minimax(10, 4, repeats=500)
    >>> result.holds, round(result.figures["formula"], 5)
    (True, 0.0523)
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> minimax(10, 4, repeats=200, learner=KNeighborsClassifier(1)).holds
    True
    """
    rng, risks = np.random.default_rng(random_state), np.empty(repeats)
    for k in range(repeats):
        points, probabilities, labels = datasets.minimax(n, d, rng)
        drawn = rng.choice(len(labels), n, p=probabilities)
        risks[k] = probabilities @ (_learned(learner, points[drawn], labels[drawn], points) != labels)
    formula, mean = minimax_risk(n, d), float(risks.mean())
    error = float(risks.std(ddof=1)) / math.sqrt(repeats)
    claim = "E risk = min(n − 1, d − 1)/(2n)·(1 − 1/n)ⁿ"
    if learner is not None:
        claim = f"{claim.replace('=', '≥')} for {type(learner).__name__}"
    return Experiment(
        "minimax",
        claim,
        abs(mean - formula) <= 4 * error if learner is None else mean >= formula - 4 * error,
        {"formula": formula, "mean risk": mean, "standard error": error, "repeats": repeats},
        {"repeats": np.arange(1, repeats + 1), "mean so far": np.cumsum(risks) / np.arange(1, repeats + 1)},
        Picture(
            x="repeats",
            lines=("mean so far",),
            levels=("formula",),
            xlabel="draws",
            ylabel="mean risk",
            log="x",
        ),
    )


def _learned(learner: Any, X: Curve, y: Curve, points: Curve) -> Curve:
    """The predictions for the points after one sample."""
    if learner is None:
        predicted: Curve = plain().partial_fit(X, y, classes=[-1, 1]).predict(points)
    elif (y == y[0]).all():
        predicted = np.full(len(points), y[0])
    else:
        predicted = np.asarray(fit(clone(learner), X, y).predict(points))
    return predicted


def minimax_exact(n: int, d: int) -> Fraction:
    """The perceptron's expected risk on that distribution, by enumeration of all labels and all samples.

    The perceptron makes one pass over each of the m^n samples under each of the 2^(m−1) labellings, all at
    once in integers; each case is weighted by its probability.

    >>> minimax_exact(3, 2), minimax_exact(3, 2) == Fraction(1, 6) * Fraction(2, 3) ** 3
    (Fraction(4, 81), True)
    """
    m = min(n, d)
    if m**n * 2 ** (m - 1) > 10**7:
        raise ValueError(f"{m}^{n} samples are too many to enumerate: take a smaller n or d.")
    samples = np.stack(np.unravel_index(np.arange(m**n), (m,) * n), axis=1)
    # In units of n^−n: the first point has probability (n − m + 1)/n, the others 1/n.
    chances = (n - m + 1) ** np.count_nonzero(samples == 0, axis=1).astype(object)
    points, every = np.eye(m, dtype=np.int64), np.arange(len(samples))
    total = Fraction(0)
    for code in range(2 ** (m - 1)):
        labels = np.array([1, *(1 - 2 * (code >> k & 1) for k in range(m - 1))])
        W = np.zeros((len(samples), m), dtype=np.int64)
        for t in range(n):
            x, y = points[samples[:, t]], labels[samples[:, t]]
            guess = np.where(np.einsum("ij,ij->i", W, x) >= 0, 1, -1)
            W[every] += np.where(guess != y, y, 0)[:, None] * x
        wrong = np.where(W @ points.T >= 0, 1, -1) != labels
        risk = wrong.astype(object) @ np.array([n - m + 1, *[1] * (m - 1)], dtype=object)  # in units of 1/n
        total += Fraction(int(chances @ risk), n**n * n * 2 ** (m - 1))
    return total


def risk_by_rows(
    d: int = 20,
    ratios: Sequence[float] = (0.5, 1, 2, 4, 8, 16, 32, 64),
    distance: float = 2.0,
    repeats: int = 20,
    *,
    random_state: Any = 0,
) -> Experiment:
    """Isotropic Gaussians with opposite means: the risk falls with n/d, the examples per dimension.

    One pass without a bias; the risks are exact. Below them are the risk of the best threshold and the
    minimax lower bound for n examples in d dimensions, which is about another distribution for each n.

    >>> result = risk_by_rows(10, (1, 4, 16), repeats=5)
    >>> result.holds, [round(r, 3) for r in result.figures["averaged"]]
    (True, [0.272, 0.236, 0.181])
    """
    rng = np.random.default_rng(random_state)
    optimal = 0.5 * math.erfc(distance / 2 / math.sqrt(2))
    found: dict[str, list[float]] = {"n/d": [], "last": [], "averaged": [], "minimax bound": []}
    for ratio in ratios:
        n = max(round(ratio * d), 2)
        risks = np.zeros(2)
        for _ in range(repeats):
            u = rng.standard_normal(d)
            mean = u / np.linalg.norm(u) * distance / 2
            y = 2 * rng.integers(0, 2, n) - 1
            X = y[:, None] * mean + rng.standard_normal((n, d))
            for k, average in enumerate((False, True)):
                w = plain(average=average).partial_fit(X, y, classes=[-1, 1]).coef_[0]
                length = float(np.linalg.norm(w))
                risks[k] += 0.5 * math.erfc(float(w @ mean) / length / math.sqrt(2)) if length else 0.5
        for name, value in zip(found, (ratio, *(risks / repeats), minimax_risk(n, d)), strict=True):
            found[name].append(float(value))
    curves = {name: np.array(values) for name, values in found.items()}
    falls = found["averaged"][-1] < found["averaged"][0] and found["last"][-1] < found["last"][0]
    return Experiment(
        "risk by rows",
        "the risk falls with n/d, and is never below Φ(−Δ/2)",
        falls and min(*found["last"], *found["averaged"]) >= optimal * (1 - 1e-9),
        {"d": d, "optimal": optimal} | found,
        curves,
        Picture(
            x="n/d",
            lines=("last", "averaged"),
            bounds=("minimax bound",),
            levels=("optimal",),
            xlabel="examples per dimension, n/d",
            ylabel="risk",
            log="x",
        ),
    )


def generalization(
    d: int = 50, margin: float = 0.05, n_rows: int = 100_000, block: int = 5000, *, random_state: Any = 0
) -> Experiment:
    """If all rows that could ever come have the margin, a learner that is told its errors stops making them.

    Every row of an endless stream is new, so the share of mistakes in a block is the error on unseen rows. It
    falls to 0, since the mistakes in total are at most (R/γ)². The theorem does not say when they happen.

    >>> result = generalization(10, 0.1, n_rows=20_000, block=2000)
    >>> result.holds, result.figures["error on the first block"], result.figures["error on the last block"]
    (True, 0.01, 0.0)
    """
    whole = stream(d, margin, n_rows, block, random_state=random_state)
    rows, made = whole.curves["rows"], whole.curves["mistakes"]
    errors = np.diff(made, prepend=0) / block
    return Experiment(
        "generalization",
        f"mistakes in total ≤ (R/γ)² = {(1 / margin) ** 2:.6g}, so the error on new rows falls to 0",
        whole.holds and bool(errors[-1] < errors[0]),
        {
            "rows": n_rows,
            "mistakes": int(made[-1]),
            "bound": (1 / margin) ** 2,
            "error on the first block": float(errors[0]),
            "error on the last block": float(errors[-1]),
            "blocks without a mistake": int(np.count_nonzero(errors == 0)),
        },
        {
            "rows": rows,
            "error on new rows": errors,
            "bound/rows": (1 / margin) ** 2 / rows,
        },
        Picture(
            x="rows",
            lines=("error on new rows",),
            bounds=("bound/rows",),
            xlabel="rows seen",
            ylabel="share of mistakes in a block",
        ),
    )
