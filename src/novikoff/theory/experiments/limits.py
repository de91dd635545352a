"""What lines, and the perceptron's last weights, can and cannot do."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from novikoff import datasets
from novikoff.linear.pocket import Pocket
from novikoff.theory.experiments.experiment import Curve, Experiment, Picture, fit, plain
from novikoff.theory.experiments.risk import gaussian_risk
from novikoff.theory.fewest_errors import fewest_errors


def xor(max_epochs: int = 200) -> Experiment:
    """No line separates XOR: the perceptron never converges, and the pocket finds the optimum, 1 error of 4.

    >>> xor().figures
    {'perceptron converged': False, 'errors in the pocket': 1}
    """
    data = datasets.xor()
    model = fit(plain(fit_intercept=True, max_epochs=max_epochs), data.X, data.y)
    pocket = Pocket(max_epochs=max_epochs, random_state=0).fit(data.X, data.y)
    figures = {"perceptron converged": model.converged_, "errors in the pocket": pocket.n_errors_}
    claim = "the perceptron cycles; the fewest errors are 1"
    curves = {
        "epoch": np.arange(1, 21),
        "perceptron": np.array([record["mistakes"] for record in model.history_[:20]]),
        "errors in the pocket": np.full(20, pocket.n_errors_),
    }
    picture = Picture(
        x="epoch", lines=("perceptron",), levels=("errors in the pocket",), ylabel="mistakes in the epoch"
    )
    holds = not model.converged_ and pocket.n_errors_ == 1
    return Experiment("xor", claim, holds, figures, curves, picture)


def bias_needed(max_epochs: int = 200) -> Experiment:
    """Points on one ray: without a bias the perceptron cycles; with one it separates them.

    >>> bias_needed().figures
    {'converged without': False, 'verdict with': 'separated'}
    """
    data = datasets.needs_bias()
    without = fit(plain(max_epochs=max_epochs), data.X, data.y)
    with_one = plain(fit_intercept=True).fit(data.X, data.y)
    figures = {"converged without": without.converged_, "verdict with": with_one.verdict_}
    holds = not without.converged_ and with_one.verdict_ == "separated"
    made = [[record["mistakes"] for record in model.history_] for model in (without, with_one)]
    shown = min(2 * len(made[1]), len(made[0]))
    curves = {
        "epoch": np.arange(1, shown + 1),
        "without a bias": np.array(made[0][:shown]),
        "with a bias": np.array((made[1] + [0] * shown)[:shown]),
    }
    picture = Picture(x="epoch", lines=("without a bias", "with a bias"), ylabel="mistakes in the epoch")
    claim = "separable with a bias and not without"
    return Experiment("bias needed", claim, holds, figures, curves, picture)


# ---- the fewest errors ---------------------------------------------------------------------------------
def zero_one(
    n_rows: int = 30, distance: float = 1.5, repeats: int = 20, *, random_state: Any = 0
) -> Experiment:
    """The fewest training errors of any line, by enumeration, beside those of the learners.

    Minimizing the 0-1 loss is NP-hard in general; in the plane, n rows have few dichotomies. The perceptron
    does not minimize it, averaged or not, the pocket nearly does, and the convex surrogates (hinge, by a
    linear program, and squared loss) do not need to. Mean numbers over `repeats` draws of two Gaussians.

    >>> result = zero_one(16, repeats=3)
    >>> result.holds, result.figures["fewest possible"] <= result.figures["hinge loss"]
    (True, True)
    """
    rng = np.random.default_rng(random_state)
    found: dict[str, list[int]] = {}
    for _ in range(repeats):
        data = datasets.gaussians(n_rows, 2, distance, random_state=rng)
        y = data.y.copy()
        y[:2] = -1, 1  # both classes occur
        epochs = plain(fit_intercept=True, max_epochs=100)
        pocket = Pocket(max_epochs=100, random_state=0).fit(data.X, y)
        made = {
            "fewest possible": fewest_errors(data.X, y).errors,
            "pocket": _errors(pocket, data.X, y),
            "averaged perceptron": _errors(fit(epochs.set_params(average=True), data.X, y), data.X, y),
            "last perceptron": _errors(fit(epochs.set_params(average=False), data.X, y), data.X, y),
            "hinge loss": _wrong(data.X, y, least_hinge(data.X, y)),
            "squared loss": _wrong(data.X, y, least_squares(data.X, y)),
        }
        for name, errors in made.items():
            found.setdefault(name, []).append(errors)
    best = np.array(found["fewest possible"])
    return Experiment(
        "zero-one",
        "no learner has fewer training errors than the best line",
        all(bool(np.all(np.array(errors) >= best)) for errors in found.values()),
        {"rows": n_rows} | {name: float(np.mean(errors)) for name, errors in found.items()},
        {"draw": np.arange(repeats)} | {name: np.array(errors) for name, errors in found.items()},
        Picture(bars=tuple(found), ylabel=f"training errors of {n_rows} rows, mean"),
    )


def _errors(model: Any, X: Curve, y: Curve) -> int:
    return int(np.count_nonzero(model.predict(X) != y))


def _wrong(X: Curve, y: Curve, w: Curve) -> int:
    return int(np.count_nonzero(np.where(X @ w[:-1] + w[-1] >= 0, 1, -1) != y))


def least_squares(X: Curve, y: Curve) -> Curve:
    """(w, b) with the least Σ (w·x + b − y)².

    >>> least_squares(np.array([[1.0], [-1.0]]), np.array([1, -1])).round(12).tolist()
    [1.0, 0.0]
    """
    found: Curve = np.linalg.lstsq(np.hstack([X, np.ones((len(X), 1))]), y.astype(float), rcond=None)[0]
    return found


def least_hinge(X: Curve, y: Curve) -> Curve:
    """(w, b) with the least Σ max(0, 1 − y·(w·x + b)), by a linear program.

    >>> w = least_hinge(np.array([[1.0], [-1.0], [2.0]]), np.array([1, -1, 1]))
    >>> bool(np.all(np.array([1, -1, 1]) * (np.array([1.0, -1, 2]) * w[0] + w[1]) >= 1 - 1e-9))
    True
    """
    from scipy.optimize import linprog

    n, lifted = len(X), np.hstack([X, np.ones((len(X), 1))])
    cost = np.concatenate([np.zeros(lifted.shape[1]), np.ones(n)])
    A = np.hstack([-y[:, None] * lifted, -np.eye(n)])
    free = [(None, None)] * lifted.shape[1] + [(0, None)] * n
    solved = linprog(cost, A_ub=A, b_ub=-np.ones(n), bounds=free, method="highs")
    found: Curve = solved.x[: lifted.shape[1]]
    return found


# ---- what is learned last, and too well ------------------------------------------------------------------
def overfitting(
    n_rows: int = 150,
    d: int = 100,
    epochs: int = 100,
    noise: float = 0.15,
    *,
    distance: float = 3.0,
    random_state: Any = 0,
) -> Experiment:
    """No parameters to tune, and yet it overfits: the number of epochs is one.

    Two Gaussians with a share of wrong labels, in so many dimensions that the rows can still be separated. As
    the epochs go by the training errors vanish, while the risk (that of the true labels, exact) rises again.

    >>> result = overfitting()
    >>> result.holds, result.figures["training errors, last epoch"]
    (True, 0)
    """
    rng = np.random.default_rng(random_state)
    both = datasets.gaussians(n_rows, d, distance, 0.0, random_state=rng)
    y = np.where(rng.random(n_rows) < noise, -both.y, both.y)
    model = plain(fit_intercept=True, average=True)
    wrong, risks = [], []
    for _ in range(epochs):
        model.partial_fit(both.X, y, classes=[-1, 1])
        wrong.append(_errors(model, both.X, y) / n_rows)
        risks.append(gaussian_risk(both, model.coef_[0], float(model.intercept_[0])))
    best = int(np.argmin(risks))
    return Experiment(
        "overfitting",
        "more epochs make fewer training errors, and from some epoch on a higher risk",
        wrong[-1] < wrong[best] and risks[-1] > risks[best],
        {
            "epoch of the least risk": best + 1,
            "least risk": risks[best],
            "training errors then": round(wrong[best] * n_rows),
            "risk, last epoch": risks[-1],
            "training errors, last epoch": round(wrong[-1] * n_rows),
        },
        {"epoch": np.arange(1, epochs + 1), "training errors": np.array(wrong), "risk": np.array(risks)},
        Picture(x="epoch", lines=("training errors", "risk"), ylabel="share of rows", log="x"),
    )


def recent_mistakes(
    n_rows: int = 200,
    d: int = 20,
    noise: float = 0.2,
    repeats: int = 200,
    parts: int = 10,
    *,
    random_state: Any = 0,
) -> Experiment:
    """The inductive bias of the last weights: recent mistakes win.

    After one pass over rows that nothing separates, the last weights are right more often on rows that were
    visited late, since their updates were not overruled. The average of the pass rather favours the rows that
    were visited first, because their updates are part of nearly all of its weights.

    >>> result = recent_mistakes(100, 10, repeats=50)
    >>> result.holds, result.figures["last weights"][-1] < result.figures["last weights"][0]
    (True, True)
    """
    rng = np.random.default_rng(random_state)
    wrong = {"last weights": np.zeros(parts), "averaged weights": np.zeros(parts)}
    edges = np.linspace(0, n_rows, parts + 1).astype(int)
    for _ in range(repeats):
        both = datasets.gaussians(n_rows, d, 2.0, 0.0, random_state=rng)
        y = np.where(rng.random(n_rows) < noise, -both.y, both.y)
        for name, errors in wrong.items():
            model = plain(fit_intercept=True, average=name != "last weights")
            off = model.partial_fit(both.X, y, classes=[-1, 1]).predict(both.X) != y
            errors += [off[a:b].mean() / repeats for a, b in pairwise(edges)]
    gain = {name: float(errors[0] - errors[-1]) for name, errors in wrong.items()}
    return Experiment(
        "recent mistakes",
        "the last weights err least on the rows visited last, and more so than the average",
        gain["last weights"] > max(gain["averaged weights"], 0.0),
        {
            "part of the pass": list(range(1, parts + 1)),
            **{name: [round(float(e), 4) for e in errors] for name, errors in wrong.items()},
            **{f"first part − last, {name}": round(value, 4) for name, value in gain.items()},
        },
        {"part of the pass": np.arange(1, parts + 1), **wrong},
        Picture(
            x="part of the pass",
            lines=("last weights", "averaged weights"),
            xlabel="part of the pass in which the row was visited",
            ylabel="share of its rows that are wrong afterwards",
        ),
    )
