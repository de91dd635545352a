"""Mistakes and their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novikoff import datasets
from novikoff.linear.winnow import Winnow
from novikoff.proof.problem import read_problem
from novikoff.theory.deviations import deviations
from novikoff.theory.experiments.experiment import Curve, Experiment, Picture, plain
from novikoff.theory.formulas import majority_bound
from novikoff.theory.visits import Runner
from novikoff.training.weights import Settings


def majority(
    n: int = 51, r: int = 5, n_rows: int = 2000, *, fit_intercept: bool = False, random_state: Any = 0
) -> Experiment:
    """Majorities of r of n signs: at most n·r mistakes, (n + 1)·r with a bias; the same after normalizing.

    sign(0) = +1, as in the lecture. Balanced Winnow with θ = 0 learns the same rows for comparison.

    >>> print(majority(21, 3, 500))
    majority: mistakes ≤ n·r = 63
      bound                63
      mistakes             32
      normalized mistakes  28
      Winnow's mistakes    17
      epochs               2
      no training error    True
      holds
    """
    data = datasets.majority(n_rows, n, r, random_state)
    made = {
        rule: plain(rule, fit_intercept=fit_intercept).fit(data.X, data.y)
        for rule in ("perceptron", "normalized")
    }
    winnow = Winnow(balanced=True, threshold=0.0, order="cyclic").fit(data.X, data.y)
    bound = majority_bound(n, r, fit_intercept)
    formula = "(n + 1)·r" if fit_intercept else "n·r"
    mistakes = [model.n_mistakes_ for model in made.values()]
    return Experiment(
        "majority",
        f"mistakes ≤ {formula} = {bound:.0f}",
        max(mistakes) <= bound and all(model.converged_ for model in made.values()),
        {
            "bound": bound,
            "mistakes": mistakes[0],
            "normalized mistakes": mistakes[1],
            "Winnow's mistakes": winnow.n_mistakes_,
            "epochs": made["perceptron"].n_epochs_,
            "no training error": made["perceptron"].training_errors_ == 0,
        },
        picture=Picture(bars=("mistakes", "normalized mistakes", "Winnow's mistakes"), levels=("bound",)),
    )


def majorities(
    ns: Sequence[int] = (11, 21, 41, 81),
    rs: Sequence[int] = (1, 3, 5, 9),
    n_rows: int | None = 1000,
    *,
    random_state: Any = 0,
) -> Experiment:
    """The same for many n and r: does the number of mistakes depend on n? The bound n·r does.

    `n_rows=None` takes all 2ⁿ rows of n signs, for n ≤ 16. There is no bias, and sign(0) = +1.

    >>> print(majorities((5, 7), (1, 3), None))
    majorities: mistakes ≤ n·r, with both rules
      n                    [5, 5, 7, 7]
      r                    [1, 3, 1, 3]
      n·r                  [5, 15, 7, 21]
      mistakes             [2, 4, 2, 8]
      normalized mistakes  [2, 4, 2, 8]
      holds
    """
    rng = np.random.default_rng(random_state)
    found: dict[str, list[int]] = {"n": [], "r": [], "n·r": [], "mistakes": [], "normalized mistakes": []}
    for n, r in ((n, r) for n in ns for r in rs if r <= n):
        X, y = _all_signs(n, r) if n_rows is None else datasets.majority(n_rows, n, r, rng)[:2]
        made = [plain(rule).fit(X, y).n_mistakes_ for rule in ("perceptron", "normalized")]
        for name, value in zip(found, (n, r, n * r, *made), strict=True):
            found[name].append(value)
    curves = {name: np.array(values) for name, values in found.items()}
    most = np.maximum(curves["mistakes"], curves["normalized mistakes"])
    return Experiment(
        "majorities",
        "mistakes ≤ n·r, with both rules",
        bool(np.all(most <= curves["n·r"])),
        dict(found),
        curves,
        Picture(
            x="n·r",
            points=("mistakes", "normalized mistakes"),
            diagonal=True,
            ylabel="mistakes",
            xlabel="the bound n·r",
            log="xy",
        ),
    )


def _all_signs(n: int, r: int) -> tuple[Curve, Curve]:
    """All rows of n signs, counted in binary, with the majority of the first r."""
    if n > 16:
        raise ValueError(f"n={n} has 2^{n} rows of signs: take n ≤ 16, or give n_rows.")
    X = 2.0 * (np.arange(2**n)[:, None] >> np.arange(n) & 1) - 1
    return X, np.sign(X[:, :r].sum(axis=1)).astype(np.int64)


def stream(
    d: int = 50, margin: float = 0.05, n_rows: int = 200_000, block: int = 2000, *, random_state: Any = 0
) -> Experiment:
    """A stream labelled by a fixed u with margin γ: mistakes never exceed (R/γ)², at any length.

    >>> result = stream(10, 0.1, n_rows=20_000)
    >>> result.holds, int(result.curves["mistakes"][-1])
    (True, 26)
    """
    model, rows, mistakes = plain(), [], []
    blocks = datasets.stream(d, margin, block, random_state)
    for seen in range(block, n_rows + 1, block):
        X, y = next(blocks)
        model.partial_fit(X, y, classes=[-1, 1])
        rows.append(seen)
        mistakes.append(model.n_mistakes_)
    made, bound = np.array(mistakes), (1 / margin) ** 2
    half = made[(len(made) - 1) // 2]
    return Experiment(
        "stream",
        f"mistakes ≤ (R/γ)² = {bound:.6g} at any length",
        bool(np.all(made <= bound)),
        {
            "rows": rows[-1],
            "bound": bound,
            "mistakes": int(made[-1]),
            "mistakes in the first half": int(half),
            "mistakes in the second half": int(made[-1] - half),
        },
        {"rows": np.array(rows), "mistakes": made},
        Picture(x="rows", lines=("mistakes",), levels=("bound",), xlabel="rows seen", ylabel="mistakes"),
    )


def adversarial(n: int = 20) -> Experiment:
    """The bound is attained: a sequence with exactly (R/γ)² = n mistakes.

    >>> adversarial(12).figures["mistakes"]
    12
    """
    data = datasets.adversarial(n)
    model = plain().fit(data.X, data.y)
    figures = {"bound": n, "mistakes": model.n_mistakes_}
    return Experiment("adversarial", f"mistakes = (R/γ)² = {n}", model.n_mistakes_ == n, figures)


def independent(n: int = 20, d: int = 50, n_labellings: int = 50, *, random_state: Any = 0) -> Experiment:
    """n ≤ d independent points fit any labels; γ ≥ 1/√(yᵀG⁻¹y), with equality when all y∘G⁻¹y ≥ 0.

    For every labelling, the mistakes are within (R/γ)² for that margin.

    >>> independent(5, 10, n_labellings=10).holds
    True
    """
    rng = np.random.default_rng(random_state)
    X = datasets.independent(n, d, [1] * n, rng).X
    inverse = np.linalg.inv(X @ X.T)
    mistakes, bounds, separated, largest = [], [], 0, 0
    for _ in range(n_labellings):
        y = 2 * rng.integers(0, 2, n) - 1
        y[0] = -y[1] if n > 1 else y[0]  # both classes must occur
        model = plain().fit(X, y)
        mistakes.append(model.n_mistakes_)
        bounds.append(np.linalg.norm(X, axis=1).max() ** 2 * (y @ inverse @ y))
        separated += model.verdict_ == "separated"
        largest += bool(np.all(y * (inverse @ y) >= 0))
    made, allowed = np.array(mistakes), np.array(bounds)
    return Experiment(
        "independent",
        "any labels are separated, mistakes ≤ R²·yᵀG⁻¹y",
        separated == n_labellings and bool(np.all(made <= allowed * (1 + 1e-9))),
        {
            "labellings": n_labellings,
            "separated": separated,
            "where that margin is the largest": largest,
            "most mistakes": int(made.max()),
            "smallest bound": float(allowed.min()),
        },
        {"mistakes": made, "bounds": allowed},
        Picture(
            x="bounds",
            points=("mistakes",),
            diagonal=True,
            xlabel="the bound of each labelling",
            ylabel="mistakes",
            log="xy",
        ),
    )


def normalizing_wins(
    n_rows: int = 400, d: int = 10, margin: float = 0.1, ratio: float = 100.0, *, random_state: Any = 0
) -> Experiment:
    """Small and large rows mixed: the normalized rule's bound 1/γₙ² is far below (R/γ)², and so are mistakes.

    >>> result = normalizing_wins()
    >>> result.holds, result.figures["normalized"] < result.figures["plain"]
    (True, True)
    """
    data = datasets.norm_mixture(n_rows, d, margin, ratio, random_state)
    assert data.u is not None and data.margin is not None and data.radius is not None
    made = {}
    for name, rule in (("plain", "perceptron"), ("normalized", "normalized")):
        model = plain(rule).fit(data.X, data.y)
        made[name] = model.n_mistakes_
    unit = np.min(data.y * (data.X @ data.u) / np.linalg.norm(data.X, axis=1))
    plain_bound, unit_bound = (data.radius / data.margin) ** 2, 1 / float(unit) ** 2
    within = made["plain"] <= plain_bound * (1 + 1e-9) and made["normalized"] <= unit_bound * (1 + 1e-9)
    return Experiment(
        "normalizing wins",
        "mistakes ≤ (R/γ)², normalized ≤ 1/γₙ² ≤ (R/γ)²",
        within and unit_bound <= plain_bound * (1 + 1e-9),
        made | {"bound of plain": plain_bound, "bound of normalized": unit_bound},
        picture=Picture(
            bars=("plain", "bound of plain", "normalized", "bound of normalized"), log="y", ylabel="mistakes"
        ),
    )


def normalizing_loses() -> Experiment:
    """Four points on which the plain rule makes 10 mistakes and the normalized one 69.

    >>> normalizing_loses().figures
    {'plain': 10, 'normalized': 69}
    """
    data, made = datasets.normalizing_loses(), {}
    for name, rule in (("plain", "perceptron"), ("normalized", "normalized")):
        model = plain(rule, ties="mistake").fit(data.X, data.y)
        made[name] = model.n_mistakes_
    claim = "a smaller bound does not mean fewer mistakes"
    return Experiment("normalizing loses", claim, made == {"plain": 10, "normalized": 69}, made)


def picks(
    n_rows: int = 300, d: int = 5, margin: float = 0.05, seeds: int = 20, *, random_state: Any = 0
) -> Experiment:
    """While a row is misclassified, any such row may be picked: the bound (R/γ)² holds for every sequence.

    The first misclassified row, the worst one, and one drawn at random by each of several seeds.

    >>> print(picks(100, 3, 0.1, seeds=5))
    picks: updates ≤ (R/γ)² = 100 whichever misclassified row is picked
      bound            100
      first            35
      worst            30
      any, the fewest  5
      any, the most    13
      holds
    """
    data = datasets.separable(n_rows, d, margin, random_state=random_state)

    def made(order: str, seed: int = 0) -> int:
        return picked_updates(data.X, data.y, order, seed)

    first, worst, drawn = made("first"), made("worst"), [made("any", seed) for seed in range(seeds)]
    bound = (1 / margin) ** 2
    return Experiment(
        "picks",
        f"updates ≤ (R/γ)² = {bound:.6g} whichever misclassified row is picked",
        max(first, worst, *drawn) <= bound * (1 + 1e-9),
        {
            "bound": bound,
            "first": first,
            "worst": worst,
            "any, the fewest": min(drawn),
            "any, the most": max(drawn),
        },
        {"seed": np.arange(seeds), "any": np.array(drawn)},
        Picture(
            x="seed",
            points=("any",),
            levels=("first", "worst", "bound"),
            ylabel="updates",
            xlabel="seed of 'any'",
        ),
    )


def picked_updates(X: Curve, y: Curve, order: str, seed: int = 0) -> int:
    """The updates until no row is misclassified, without a bias, if rows are picked in this order."""
    problem = read_problem(X, y, fit_intercept=False)
    runner = Runner(problem, Settings(rule="perceptron", bias_square=0.0))
    runner.go(order, seed, 1_000_000, 1_000_000)
    assert runner.converged
    return int(runner.native.updates)


def freund_schapire(
    n_rows: int = 400,
    d: int = 5,
    margin: float = 0.2,
    flips: Sequence[int] = (0, 1, 2, 5, 10, 20, 40),
    *,
    random_state: Any = 0,
) -> Experiment:
    """One pass over separable rows of which some labels were flipped: mistakes ≤ ((R + D)/γ)².

    The lifted rows of the proof are separable whatever the labels are, and the perceptron makes the same
    mistakes on them.

    >>> result = freund_schapire(100, 3, flips=(0, 3, 9))
    >>> result.figures["mistakes"], result.figures["mistakes on lifted rows"]
    ([3, 10, 17], [3, 10, 17])
    """
    rng = np.random.default_rng(random_state)
    data = datasets.separable(n_rows, d, margin, random_state=rng)
    turned = rng.permutation(n_rows)
    found: dict[str, list[Any]] = {"flipped labels": [], "D": [], "((R + D)/γ)²": [], "mistakes": []}
    found["mistakes on lifted rows"], separates = [], True
    for count in flips:
        y = data.y.copy()
        y[turned[:count]] *= -1
        far = deviations(data.X, y, data.u, margin * (1 - 1e-9), fit_intercept=False)
        lifted, u, gamma = far.lifted()
        separates &= bool(np.all(y * (lifted @ u) >= gamma * (1 - 1e-9)))
        made = [plain().partial_fit(X, y, classes=[-1, 1]).n_mistakes_ for X in (data.X, lifted)]
        for name, value in zip(found, (count, far.D, far.bound, *made), strict=True):
            found[name].append(value)
    within = all(k <= b for k, b in zip(found["mistakes"], found["((R + D)/γ)²"], strict=True))
    return Experiment(
        "freund-schapire",
        "mistakes of one pass ≤ ((R + D)/γ)²; the lifted rows are separable, with the same mistakes",
        within and separates and found["mistakes"] == found["mistakes on lifted rows"],
        found,
        {name: np.array(values) for name, values in found.items()},
        Picture(
            x="flipped labels",
            lines=("mistakes",),
            bounds=("((R + D)/γ)²",),
            ylabel="mistakes in one pass",
            log="y",
        ),
    )
