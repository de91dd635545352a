"""Winnow, which multiplies, beside the perceptron, which adds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from novikoff import datasets
from novikoff.kernel.perceptron import KernelPerceptron
from novikoff.linear.winnow import Winnow, disjunction_bound
from novikoff.theory.experiments.experiment import Curve, Experiment, Picture, fit, plain


def disjunctions(
    ns: Sequence[int] = (16, 64, 256, 1024), r: int = 3, n_rows: int = 2000, *, random_state: Any = 0
) -> Experiment:
    """Random rows labelled by a disjunction of r of n features, for growing n.

    Winnow2 makes at most 2 + 3r(1 + log₂ n) mistakes; the perceptron's grow with n.

    >>> print(disjunctions([16, 64, 256], n_rows=500))
    disjunctions: Winnow2's mistakes ≤ 2 + 3r(1 + log₂ n)
      n                [16, 64, 256]
      Winnow           [17, 25, 40]
      bound of Winnow  [47, 65, 83]
      perceptron       [37, 101, 287]
      holds
    """
    rng = np.random.default_rng(random_state)
    winnow, perceptron = [], []
    for n in ns:
        data = datasets.disjunction(n_rows, n, r, rng)
        winnow.append(Winnow(order="cyclic").fit(data.X, data.y).n_mistakes_)
        perceptron.append(fit(plain(fit_intercept=True, max_epochs=1000), data.X, data.y).n_mistakes_)
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
        perceptron.append(plain(fit_intercept=True).partial_fit(X, y, classes=[-1, 1]).n_mistakes_)
        winnow.append(Winnow().partial_fit(X, y, classes=[-1, 1]).n_mistakes_)
    result = _beside("worst disjunctions", ns, r, winnow, perceptron)
    forced = [2 * r * (n - r + 1) + 1 for n in ns]
    claim = f"{result.claim}; the perceptron's = 2r(n − r + 1) + 1"
    return Experiment(
        result.name,
        claim,
        result.holds and perceptron == forced,
        result.figures,
        result.curves,
        result.picture,
    )


def _beside(name: str, ns: Sequence[int], r: int, winnow: list[int], perceptron: list[int]) -> Experiment:
    bounds = [disjunction_bound(n, r) for n in ns]
    holds = all(made <= bound for made, bound in zip(winnow, bounds, strict=True))
    figures = {"n": list(ns), "Winnow": winnow, "bound of Winnow": bounds, "perceptron": perceptron}
    curves = {key: np.array(values) for key, values in figures.items()}
    picture = Picture(
        x="n",
        lines=("Winnow", "perceptron"),
        bounds=("bound of Winnow",),
        xlabel="features n",
        ylabel="mistakes",
        log="xy",
    )
    return Experiment(name, "Winnow2's mistakes ≤ 2 + 3r(1 + log₂ n)", holds, figures, curves, picture)


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
      bound of Winnow        [14, 17, 20]
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
        winnow.append(fit(Winnow(order="cyclic", max_epochs=1), X, y).n_mistakes_)
        model = fit(KernelPerceptron("monotone_conjunction", order="cyclic", max_epochs=1), X, y)
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
        {
            "n": np.array(ns),
            "Winnow": np.array(winnow),
            "kernel": np.array(kernel),
            "bound of Winnow": np.array(bounds),
        },
        Picture(
            x="n",
            lines=("Winnow", "kernel"),
            bounds=("bound of Winnow",),
            xlabel="features n",
            ylabel="mistakes",
            log="xy",
        ),
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
