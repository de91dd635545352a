"""What the number of mistakes does not depend on, and what it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novikoff import datasets
from novikoff.proof.geometry import radius
from novikoff.proof.maxmargin import max_margin
from novikoff.structured.perceptron import StructuredPerceptron
from novikoff.theory.experiments.experiment import Curve, Experiment, Picture, fit, plain


def counts_against(x: str, xlabel: str) -> Picture:
    """Mistakes against what they do not depend on, below their bound."""
    return Picture(x=x, lines=("mistakes",), levels=("bound",), xlabel=xlabel, ylabel="mistakes", log="x")


def dimension(
    ds: Sequence[int] = (2, 10, 50, 250, 1000),
    margin: float = 0.1,
    n_rows: int = 500,
    *,
    random_state: Any = 0,
) -> Experiment:
    """The bound (R/γ)² does not contain the dimension: rows of the same R and γ in ever more dimensions.

    Columns of zeros change nothing at all, and neither does a rotation in exact arithmetic; new data of the
    same R and γ change the mistakes, but not their bound.

    >>> result = dimension((2, 20, 200), n_rows=200)
    >>> result.holds, result.figures["bound"]
    (True, 100.0)
    """
    rng = np.random.default_rng(random_state)
    found: dict[str, list[int]] = {"d": [], "mistakes": [], "with 1000 columns of zeros": []}
    for d in ds:
        data = datasets.separable(n_rows, d, margin, random_state=rng)
        made = plain().fit(data.X, data.y).n_mistakes_
        wide = plain().fit(np.hstack([data.X, np.zeros((n_rows, 1000))]), data.y).n_mistakes_
        for name, value in zip(found, (d, made, wide), strict=True):
            found[name].append(value)
    bound = (1 / margin) ** 2
    return Experiment(
        "dimension",
        f"mistakes ≤ (R/γ)² = {bound:.6g} in any dimension",
        max(found["mistakes"]) <= bound * (1 + 1e-9)
        and found["mistakes"] == found["with 1000 columns of zeros"],
        {"bound": bound} | found,
        {name: np.array(values) for name, values in found.items()},
        counts_against("d", "dimension d"),
    )


def examples(
    ns: Sequence[int] = (10, 100, 1000, 10_000, 100_000),
    d: int = 10,
    margin: float = 0.1,
    *,
    random_state: Any = 0,
) -> Experiment:
    """Nor does it contain the number of examples: more rows of the same R and γ.

    >>> result = examples((10, 1000))
    >>> result.holds, result.figures["bound"]
    (True, 100.0)
    """
    rng = np.random.default_rng(random_state)
    found: dict[str, list[int]] = {"n": [], "mistakes": []}
    for n in ns:
        data = datasets.separable(n, d, margin, random_state=rng)
        found["n"].append(n)
        found["mistakes"].append(plain().fit(data.X, data.y).n_mistakes_)
    bound = (1 / margin) ** 2
    return Experiment(
        "examples",
        f"mistakes ≤ (R/γ)² = {bound:.6g} for any number of examples",
        max(found["mistakes"]) <= bound * (1 + 1e-9),
        {"bound": bound} | found,
        {name: np.array(values) for name, values in found.items()},
        counts_against("n", "rows n"),
    )


def scaling(factor: float = 100.0, *, random_state: Any = 0) -> Experiment:
    """All rows times 100: the same mistakes without a bias, in general others with the constant 1.

    R and γ grow together, and so does every score. With a bias the constant coordinate must be multiplied as
    well: `intercept_scaling=100`. The rows are whole numbers, so that the factor is exact.

    >>> print(scaling())
    scaling: ×100 changes no mistake without a bias, or if the constant is multiplied too
      without a bias           [18, 18]
      with the constant 1      [16, 150]
      with the constant × too  [16, 16]
      holds
    """
    rng = np.random.default_rng(random_state)
    X = rng.integers(-9, 10, (60, 3)).astype(float)
    y = np.where(X @ [2.0, -1, 1] + 3 > 0, 1, -1)
    through = np.where(X @ [2.0, -1, 1] >= 0, 1, -1)
    times = factor * X
    made = {
        "without a bias": [plain().fit(rows, through).n_mistakes_ for rows in (X, times)],
        "with the constant 1": [plain(fit_intercept=True).fit(rows, y).n_mistakes_ for rows in (X, times)],
        "with the constant × too": [
            plain(fit_intercept=True, intercept_scaling=c).fit(rows, y).n_mistakes_
            for c, rows in ((1.0, X), (factor, times))
        ],
    }
    same = {name: len({*counts}) == 1 for name, counts in made.items()}
    return Experiment(
        "scaling",
        f"×{factor:g} changes no mistake without a bias, or if the constant is multiplied too",
        same["without a bias"] and same["with the constant × too"],
        dict(made),
        {"factor": np.array([1.0, factor])} | {name: np.array(counts) for name, counts in made.items()},
        Picture(x="factor", lines=tuple(made), xlabel="factor on all rows", ylabel="mistakes", log="x"),
    )


def shift(
    offsets: Sequence[float] = (0, 1, 2, 4, 8, 16), n_rows: int = 60, *, random_state: Any = 0
) -> Experiment:
    """The ball of the theorem is centred at the origin: moving all points changes R, γ and the mistakes.

    The points are separable with a bias wherever they are. R grows with the distance from the origin, and the
    margin of the lifted space shrinks, because (w, b) needs a larger b.

    >>> result = shift((0, 4))
    >>> result.holds, result.figures["(R/γ)²"][1] > 10 * result.figures["(R/γ)²"][0]
    (True, True)
    """
    rng = np.random.default_rng(random_state)
    y = np.where(np.arange(n_rows) % 2, 1, -1)
    centred = rng.normal(scale=0.4, size=(n_rows, 2)) + y[:, None] * [1.2, 1.2]
    found: dict[str, list[float]] = {"shift": [], "R": [], "γ at least": [], "(R/γ)²": [], "mistakes": []}
    for offset in offsets:
        X = centred + offset
        model = plain(fit_intercept=True).fit(X, y)
        gamma, R = max_margin(X, y, gap=1e-3).lower, radius(X)
        values = (offset, R, gamma, (R / gamma) ** 2, model.n_mistakes_)
        for name, value in zip(found, values, strict=True):
            found[name].append(value)
    grows = all(a < b for a, b in zip(found["(R/γ)²"], found["(R/γ)²"][1:], strict=False))
    within = all(k <= b for k, b in zip(found["mistakes"], found["(R/γ)²"], strict=True))
    return Experiment(
        "shift",
        "a shift away from the origin raises R and lowers γ; mistakes ≤ (R/γ)²",
        grows and within,
        dict(found),
        {name: np.array(values) for name, values in found.items()},
        Picture(
            x="shift",
            lines=("mistakes",),
            bounds=("(R/γ)²",),
            xlabel="shift of all points",
            ylabel="mistakes",
            log="y",
        ),
    )


class _Candidates:
    """x is a row of features for every candidate, y the number of the right one."""

    def features(self, x: Curve, y: int) -> Curve:
        chosen: Curve = x[y]
        return chosen

    def decode(self, x: Curve, w: Curve, y: Any = None) -> int:
        return int(np.argmax(x @ w))


def labels(
    ks: Sequence[int] = (2, 8, 32, 128, 1024),
    d: int = 20,
    margin: float = 0.2,
    n_rows: int = 200,
    *,
    random_state: Any = 0,
) -> Experiment:
    """The number of labels does not matter: candidates with unit vectors Φ, the right one better by γ.

    A structured perceptron has as many labels as there are candidates, here up to 1024, and the bound R²/γ²
    of Collins (2002), with R ≥ ‖Φ(x, y) − Φ(x, z)‖, contains R and γ only: with R = 2 it is 4/γ².

    >>> result = labels((2, 32), n_rows=50)
    >>> result.holds, round(result.figures["bound"])
    (True, 100)
    """
    rng = np.random.default_rng(random_state)
    learner: Any = StructuredPerceptron
    found: dict[str, list[int]] = {"labels": [], "mistakes": []}
    for k in ks:
        x, right = [], rng.integers(0, k, n_rows)
        for y in right:
            along = np.full(k, -margin / 2)
            along[y] = margin / 2
            across = rng.standard_normal((k, d - 1))
            across *= (np.sqrt(1 - along**2) / np.linalg.norm(across, axis=1))[:, None]
            x.append(np.hstack([along[:, None], across]))
        model = learner(_Candidates(), order="cyclic", max_epochs=1000)
        found["labels"].append(k)
        found["mistakes"].append(fit(model, x, right.tolist()).n_mistakes_)
    bound = (2 / margin) ** 2
    return Experiment(
        "labels",
        f"mistakes ≤ R²/γ² = {bound:.6g} for any number of labels",
        max(found["mistakes"]) <= bound,
        {"bound": bound} | found,
        {name: np.array(values) for name, values in found.items()},
        counts_against("labels", "number of labels"),
    )
