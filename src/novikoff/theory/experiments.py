"""Theorems in experiments: each function runs one experiment and returns its claim and its outcome.

The data come from `novikoff.datasets`. Every result is an `Experiment`: figures by name, curves for plotting,
and `holds`, which is true if the claim was met.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import datasets
from novikoff.kernel.perceptron import KernelPerceptron
from novikoff.linear.perceptron import Perceptron
from novikoff.linear.pocket import Pocket
from novikoff.linear.voted import VotedPerceptron
from novikoff.linear.winnow import Winnow, disjunction_bound
from novikoff.shown import Shown, table_html
from novikoff.theory.formulas import majority_bound, minimax_risk

Curve = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(Shown):
    """The claim of an experiment, and its outcome."""

    name: str
    claim: str
    holds: bool
    figures: dict[str, Any]
    curves: dict[str, Curve] = field(default_factory=dict)  # arrays of equal length, for plotting

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        curves = {name: curve.tolist() for name, curve in self.curves.items()}
        own = {"name": self.name, "claim": self.claim, "holds": self.holds}
        return own | {"figures": dict(self.figures), "curves": curves}

    def __str__(self) -> str:
        width = max(map(len, self.figures), default=0)
        lines = [f"  {name:<{width}}  {_shown(value)}" for name, value in self.figures.items()]
        return "\n".join([f"{self.name}: {self.claim}", *lines, f"  {self._outcome}"])

    def __repr__(self) -> str:
        return f"<Experiment {self.name}: {self.claim}: {self._outcome}>"

    def _repr_html_(self) -> str:
        rows = [(name, _shown(value)) for name, value in self.figures.items()]
        return f"<div><b>{escape(f'{self.name}: {self.claim}')}: {self._outcome}</b>{table_html(rows)}</div>"

    @property
    def _outcome(self) -> str:
        return "holds" if self.holds else "FAILS"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _perceptron(rule: str = "perceptron", **options: Any) -> Perceptron:
    """The plain perceptron, about which the theorems are: rows in order, and the last weights."""
    plain: dict[str, Any] = {"order": "cyclic", "average": False, "max_epochs": 1000}
    return Perceptron(rule, **plain | options)


def _fit(model: Any, X: Any, y: Any) -> Any:
    """Fit the model; here unseparated rows are an outcome, not worth a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The training rows were not separated")
        return model.fit(X, y)


# ---- mistakes and their bounds -----------------------------------------------------------------------
def majority(
    n: int = 51, r: int = 5, n_rows: int = 2000, *, fit_intercept: bool = False, random_state: Any = 0
) -> Experiment:
    """Majorities of r of n signs: at most n·r mistakes, (n + 1)·r with a bias; the same after normalizing.

    Balanced Winnow with θ = 0 learns the same rows for comparison.

    >>> print(majority(21, 3, 500))
    majority: mistakes ≤ n·r = 63
      bound                63
      mistakes             33
      normalized mistakes  34
      Winnow's mistakes    17
      epochs               2
      separated            True
      holds
    """
    data = datasets.majority(n_rows, n, r, random_state)
    plain, unit = (  # a tie is a mistake, so convergence implies separation
        _perceptron(rule, fit_intercept=fit_intercept, ties="mistake").fit(data.X, data.y)
        for rule in ("perceptron", "normalized")
    )
    winnow = Winnow(balanced=True, threshold=0.0, order="cyclic").fit(data.X, data.y)
    bound = majority_bound(n, r, fit_intercept)
    formula = "(n + 1)·r" if fit_intercept else "n·r"
    return Experiment(
        "majority",
        f"mistakes ≤ {formula} = {bound:.0f}",
        max(plain.n_mistakes_, unit.n_mistakes_) <= bound and plain.verdict_ == unit.verdict_ == "separated",
        {
            "bound": bound,
            "mistakes": plain.n_mistakes_,
            "normalized mistakes": unit.n_mistakes_,
            "Winnow's mistakes": winnow.n_mistakes_,
            "epochs": plain.n_epochs_,
            "separated": plain.verdict_ == "separated",
        },
    )


def stream(
    d: int = 50, margin: float = 0.05, n_rows: int = 200_000, block: int = 2000, *, random_state: Any = 0
) -> Experiment:
    """A stream labelled by a fixed u with margin γ: mistakes never exceed (R/γ)², at any length.

    >>> result = stream(10, 0.1, n_rows=20_000)
    >>> result.holds, int(result.curves["mistakes"][-1])
    (True, 26)
    """
    model, rows, mistakes = _perceptron(fit_intercept=False), [], []
    blocks = datasets.stream(d, margin, block, random_state)
    for seen in range(block, n_rows + 1, block):
        X, y = next(blocks)
        model.partial_fit(X, y, classes=[-1, 1])
        rows.append(seen)
        mistakes.append(model.n_mistakes_)
    made, bound = np.array(mistakes), 1 / margin**2
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
    )


def adversarial(n: int = 20) -> Experiment:
    """The bound is attained: a sequence with exactly (R/γ)² = n mistakes.

    >>> adversarial(12).figures["mistakes"]
    12
    """
    data = datasets.adversarial(n)
    model = _perceptron(fit_intercept=False).fit(data.X, data.y)
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
        model = _perceptron(fit_intercept=False, max_epochs=100_000).fit(X, y)
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
        model = _perceptron(rule, fit_intercept=False, max_epochs=100_000).fit(data.X, data.y)
        made[name] = model.n_mistakes_
    unit = np.min(data.y * (data.X @ data.u) / np.linalg.norm(data.X, axis=1))
    plain_bound, unit_bound = (data.radius / data.margin) ** 2, 1 / float(unit) ** 2
    within = made["plain"] <= plain_bound * (1 + 1e-9) and made["normalized"] <= unit_bound * (1 + 1e-9)
    return Experiment(
        "normalizing wins",
        "mistakes ≤ (R/γ)², normalized ≤ 1/γₙ² ≤ (R/γ)²",
        within and unit_bound <= plain_bound * (1 + 1e-9),
        made | {"bound of plain": plain_bound, "bound of normalized": unit_bound},
    )


def normalizing_loses() -> Experiment:
    """Four points on which the plain rule makes 10 mistakes and the normalized one 69.

    >>> normalizing_loses().figures
    {'plain': 10, 'normalized': 69}
    """
    data, made = datasets.normalizing_loses(), {}
    for name, rule in (("plain", "perceptron"), ("normalized", "normalized")):
        model = _perceptron(rule, fit_intercept=False, ties="mistake").fit(data.X, data.y)
        made[name] = model.n_mistakes_
    claim = "a smaller bound does not mean fewer mistakes"
    return Experiment("normalizing loses", claim, made == {"plain": 10, "normalized": 69}, made)


# ---- risk ----------------------------------------------------------------------------------------------
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
    model = _fit(VotedPerceptron(order="shuffle", max_epochs=epochs, random_state=rng), X, y)
    risks = {
        "optimal": both.risk,
        "averaged": _risk(both, model.averaged_coef_[0], model.averaged_intercept_[0]),
        "last": _risk(both, model.coef_[0], model.intercept_[0]),
    }
    holds = min(risks["averaged"], risks["last"]) >= both.risk * (1 - 1e-12)
    voted = float(np.mean(model.predict(test) != truth))
    return Experiment(
        "gaussians", "no threshold's risk is below Φ(−Δ/2)", holds, risks | {"voted (on test rows)": voted}
    )


def _risk(both: datasets.Gaussians, coef: Any, intercept: float) -> float:
    """The risk of a linear threshold on two Gaussians: w·x + b is Gaussian for each of them."""
    spread = math.sqrt(2 * float(coef @ both.covariance @ coef))
    low, high = (both.means @ coef + intercept) / spread
    return 0.25 * (math.erfc(-low) + math.erfc(high))


def minimax(n: int = 20, d: int = 8, repeats: int = 2000, *, random_state: Any = 0) -> Experiment:
    """The distribution behind the minimax lower bound: the perceptron's expected risk is the bound itself.

    After one pass over n examples the perceptron (no bias, sign(0) = +1) is right on every point that it has
    seen and on the frequent one, and predicts + on the others. Its mean risk over `repeats` draws of labels
    and examples is compared with the formula, within four standard errors; `minimax_exact` gives the exact
    expectation.

    >>> result = minimax(10, 4, repeats=500)
    >>> result.holds, round(result.figures["formula"], 5)
    (True, 0.0523)
    """
    rng, risks = np.random.default_rng(random_state), np.empty(repeats)
    for k in range(repeats):
        points, probabilities, labels = datasets.minimax(n, d, rng)
        drawn = rng.choice(len(labels), n, p=probabilities)
        model = _perceptron(fit_intercept=False).partial_fit(points[drawn], labels[drawn], classes=[-1, 1])
        risks[k] = probabilities @ (model.predict(points) != labels)
    formula, mean = minimax_risk(n, d), float(risks.mean())
    error = float(risks.std(ddof=1)) / math.sqrt(repeats)
    return Experiment(
        "minimax",
        "E risk = min(n − 1, d − 1)/(2n)·(1 − 1/n)ⁿ",
        abs(mean - formula) <= 4 * error,
        {"formula": formula, "mean risk": mean, "standard error": error, "repeats": repeats},
        {"risks": risks},
    )


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


# ---- what lines can and cannot do ----------------------------------------------------------------------
def xor(max_epochs: int = 200) -> Experiment:
    """No line separates XOR: the perceptron never converges, and the pocket finds the optimum, 1 error of 4.

    >>> xor().figures
    {'perceptron converged': False, 'errors in the pocket': 1}
    """
    data = datasets.xor()
    model = _fit(_perceptron(max_epochs=max_epochs), data.X, data.y)
    pocket = Pocket(max_epochs=max_epochs, random_state=0).fit(data.X, data.y)
    figures = {"perceptron converged": model.converged_, "errors in the pocket": pocket.n_errors_}
    claim = "the perceptron cycles; the fewest errors are 1"
    return Experiment("xor", claim, not model.converged_ and pocket.n_errors_ == 1, figures)


def bias_needed(max_epochs: int = 200) -> Experiment:
    """Points on one ray: without a bias the perceptron cycles; with one it separates them.

    >>> bias_needed().figures
    {'converged without': False, 'verdict with': 'separated'}
    """
    data = datasets.needs_bias()
    without = _fit(_perceptron(fit_intercept=False, max_epochs=max_epochs), data.X, data.y)
    with_one = _perceptron().fit(data.X, data.y)
    figures = {"converged without": without.converged_, "verdict with": with_one.verdict_}
    holds = not without.converged_ and with_one.verdict_ == "separated"
    return Experiment("bias needed", "separable with a bias and not without", holds, figures)


# ---- Winnow and the perceptron -----------------------------------------------------------------------
def disjunctions(
    ns: Sequence[int] = (16, 64, 256, 1024), r: int = 3, n_rows: int = 2000, *, random_state: Any = 0
) -> Experiment:
    """Random rows labelled by a disjunction of r of n features, for growing n.

    Winnow2 makes at most 2 + 3r(1 + log₂ n) mistakes; the perceptron's grow with n.

    >>> print(disjunctions([16, 64, 256], n_rows=500))
    disjunctions: Winnow2's mistakes ≤ 2 + 3r(1 + log₂ n)
      n                [16, 64, 256]
      Winnow           [17, 25, 40]
      bound of Winnow  [47.0, 65.0, 83.0]
      perceptron       [37, 101, 287]
      holds
    """
    rng = np.random.default_rng(random_state)
    winnow, perceptron = [], []
    for n in ns:
        data = datasets.disjunction(n_rows, n, r, rng)
        winnow.append(Winnow(order="cyclic").fit(data.X, data.y).n_mistakes_)
        perceptron.append(_fit(_perceptron(), data.X, data.y).n_mistakes_)
    return _beside("disjunctions", ns, r, winnow, perceptron)


def worst_disjunctions(ns: Sequence[int] = (16, 32, 64, 128), r: int = 2) -> Experiment:
    """A sequence that forces the perceptron to make 2r(n − r + 1) + 1 mistakes; Winnow learns the same one.

    Kivinen, Warmuth and Auer (1997) show that Ω(rn) mistakes can be forced. The adversary here is greedy:
    `forced_disjunction` gives the sequence, on which the perceptron with a bias makes one mistake per row.
    Its length is an observation, not a theorem.

    >>> worst_disjunctions([16, 32]).figures["perceptron"]
    [61, 125]
    """
    winnow, perceptron = [], []
    for n in ns:
        X, y = forced_disjunction(n, r)
        perceptron.append(_perceptron().partial_fit(X, y, classes=[-1, 1]).n_mistakes_)
        winnow.append(Winnow().partial_fit(X, y, classes=[-1, 1]).n_mistakes_)
    result = _beside("worst disjunctions", ns, r, winnow, perceptron)
    forced = [2 * r * (n - r + 1) + 1 for n in ns]
    claim = f"{result.claim}; the perceptron's = 2r(n − r + 1) + 1"
    return Experiment(
        result.name, claim, result.holds and perceptron == forced, result.figures, result.curves
    )


def _beside(name: str, ns: Sequence[int], r: int, winnow: list[int], perceptron: list[int]) -> Experiment:
    bounds = [disjunction_bound(n, r) for n in ns]
    holds = all(made <= bound for made, bound in zip(winnow, bounds, strict=True))
    figures = {"n": list(ns), "Winnow": winnow, "bound of Winnow": bounds, "perceptron": perceptron}
    curves = {key: np.array(values) for key, values in figures.items()}
    return Experiment(name, "Winnow2's mistakes ≤ 2 + 3r(1 + log₂ n)", holds, figures, curves)


def conjunction_kernel(
    ns: Sequence[int] = (8, 16, 32, 64, 128), n_rows: int = 5000, *, random_state: Any = 0
) -> Experiment:
    """One pass over random rows labelled by their first bit: the kernel 2^|a ∧ b| and Winnow2.

    The label is itself one of the conjunctions, with a margin of at least 1/√5 in feature space (2·x₀ − 1 has
    length √5), but R² is 2^max|x|: the perceptron's bound grows exponentially, and Khardon, Roth and Servedio
    (2005) show that its mistakes can too. Here scores are dominated by the few supports that share the most
    ones with a row, whatever their first bit. Winnow on the bits makes at most 2 + 3(1 + log₂ n) mistakes.

    >>> print(conjunction_kernel([8, 16, 32], n_rows=1000))
    conjunction kernel: Winnow2's mistakes ≤ 2 + 3(1 + log₂ n), the kernel's grow with n, ≤ 5·2^max|x|
      n                      [8, 16, 32]
      Winnow                 [5, 8, 10]
      bound of Winnow        [14.0, 17.0, 20.0]
      kernel                 [15, 40, 89]
      log₂ of its bound      [10.32, 16.32, 26.32]
      kernel in second half  [0, 2, 30]
      holds
    """
    rng = np.random.default_rng(random_state)
    winnow, kernel, late, logs = [], [], [], []
    for n in ns:
        X = (rng.random((n_rows, n)) < 0.5).astype(np.float64)
        y = X[:, 0].astype(np.int64)
        winnow.append(_fit(Winnow(order="cyclic", max_epochs=1), X, y).n_mistakes_)
        model = _fit(KernelPerceptron("monotone_conjunction", order="cyclic", max_epochs=1), X, y)
        kernel.append(model.n_mistakes_)
        late.append(int(np.sum(model.update_visits_ >= n_rows // 2)))
        logs.append(math.log2(5) + float(X.sum(axis=1).max()))
    bounds = [disjunction_bound(n, 1) for n in ns]
    within = all(made <= bound for made, bound in zip(winnow, bounds, strict=True))
    within = within and all(math.log2(max(made, 1)) <= log for made, log in zip(kernel, logs, strict=True))
    figures = {
        "n": list(ns),
        "Winnow": winnow,
        "bound of Winnow": bounds,
        "kernel": kernel,
        "log₂ of its bound": [round(log, 2) for log in logs],
        "kernel in second half": late,
    }
    return Experiment(
        "conjunction kernel",
        "Winnow2's mistakes ≤ 2 + 3(1 + log₂ n), the kernel's grow with n, ≤ 5·2^max|x|",
        within and bool(np.all(np.diff(kernel) > 0)),
        figures,
        {"n": np.array(ns), "Winnow": np.array(winnow), "kernel": np.array(kernel)},
    )


def forced_disjunction(n: int, r: int) -> tuple[Curve, Curve]:
    """Rows labelled by the disjunction of the first r features; the perceptron makes a mistake on each.

    If every positive row has only one relevant feature, each mistake adds the same to w·u for the target u,
    whatever the label. So a large ‖w‖ delays learning, and ‖w‖² grows by ‖x‖² + 1 − 2|s| at a mistake of
    score s. Each row therefore has as many irrelevant features as possible while still being a mistake, and
    of a positive and a negative row the one with the larger growth is chosen, until neither exists.

    >>> X, y = forced_disjunction(8, 1)
    >>> len(y), bool(np.all((y > 0) == (X[:, 0] > 0)))
    (17, True)
    """
    if not 1 <= r < n:
        raise ValueError(f"r={r} is not possible: expected a number from 1 to n − 1 = {n - 1}.")
    w, b = np.zeros(n, dtype=np.int64), 0
    rows: list[Curve] = []
    labels: list[int] = []
    others = np.arange(r, n)
    while True:
        relevant = int(np.argmin(w[:r]))
        falling = others[np.argsort(-w[r:], kind="stable")]
        rising = others[np.argsort(w[r:], kind="stable")]
        low = b + np.concatenate([[0], np.cumsum(w[falling])])  # score of a negative row with k features
        high = b + w[relevant] + np.concatenate([[0], np.cumsum(w[rising])])  # of a positive row
        negative, positive = np.flatnonzero(low >= 0), np.flatnonzero(high < 0)
        if not len(negative) and not len(positive):
            return np.array(rows, dtype=np.float64), np.array(labels)
        growth = [-math.inf, -math.inf]
        if len(negative):
            growth[0] = negative[-1] + 1 - 2 * low[negative[-1]]
        if len(positive):
            growth[1] = positive[-1] + 2 + 2 * high[positive[-1]]
        x, y = np.zeros(n, dtype=np.int64), -1
        if growth[0] >= growth[1]:
            x[falling[: negative[-1]]] = 1
        else:
            x[rising[: positive[-1]]] = x[relevant] = y = 1
        rows.append(x)
        labels.append(y)
        w, b = w + y * x, b + y
