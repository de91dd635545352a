"""The hand trace of a kernel perceptron, in terms of α.

Only the rows of the mistakes are written down, with α_i, the number of mistakes on row i: the score of x is
s = Σ α_i·y_i·K(x_i, x), and a mistake adds 1 to the α of its own row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data.arrays import as_objects, read_matrix
from novikoff.data.labels import number
from novikoff.data.targets import read_labels
from novikoff.kernel.dual_model import DualModel
from novikoff.kernel.settings import KernelSettings
from novikoff.parameters.kernel import KERNEL_PARAMETERS
from novikoff.shown import Shown
from novikoff.theory.steps import Step, Steps, column_names
from novikoff.training.linear import sound
from novikoff.training.loop import train
from novikoff.training.plan import Plan

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class KernelTrace(Shown):
    """A run of the kernel perceptron; `example` and `visit` have one entry per update."""

    example: Counts  # the row
    visit: Counts  # visits made before it
    alpha: npt.NDArray[np.int64]  # of each row at the end: for two classes the mistakes on it, else per class
    order: Counts  # the row of every visit
    n_rows: int
    n_visits: int
    mistakes: int
    converged: bool
    kernel: str
    classes: npt.NDArray[Any]
    dual: DualModel = field(repr=False)
    X: Any = field(repr=False)
    labels: npt.NDArray[np.int32] = field(repr=False)
    names: list[str] | None = None

    def steps(self, limit: int | None = None) -> Steps:
        """Each visit (the first `limit`): x, y, the score, mistake or not, and α after it.

        Examples
        --------
        >>> X, y = [[1, 1], [1, -1], [-1, 1], [-1, -1]], [1, -1, -1, 1]
        >>> print(kernel_trace(X, y, "poly", degree=2, gamma=1).steps(5))
        the first 5 of 16 visits: 2 mistakes (1 on -1, 1 on 1)
          visit  epoch  example  x          y  score  outcome  α after
              1      1        0  (1, 1)     1      0           0
              2      1        1  (1, -1)   -1      0  mistake  α[1] = 1
              3      1        2  (-1, 1)   -1     -1           α[1] = 1
              4      1        3  (-1, -1)   1     -1  mistake  α[1] = 1, α[3] = 1
              5      2        0  (1, 1)     1      0           α[1] = 1, α[3] = 1
        """
        dual, count = self.dual, self.n_visits if limit is None else min(limit, self.n_visits)
        order, two = self.order[:count], len(self.classes) == 2
        distinct, place = np.unique(order, return_inverse=True)
        values = dual.values(self.X[distinct]) if len(dual.support) else np.zeros((len(distinct), 0))
        alpha = np.zeros((len(dual.support), dual.n_columns))  # signed, as the model has them
        signs = np.where(self.labels[dual.support] == 1, 1.0, -1.0)
        shown: dict[int, Any] = {}
        labels, steps, k = self.classes.tolist(), [], 0
        for t, row in enumerate(order.tolist()):
            line = np.ascontiguousarray(values[place[t]])
            exact = [_core.exact_dot(np.ascontiguousarray(column), line) for column in alpha.T]
            scores = np.array([value or sign * 5e-324 for sign, value in exact])
            taken = int(scores[0] >= 0) if two else int(scores.argmax())
            before = k
            while k < len(self.visit) and self.visit[k] == t:
                alpha[dual.used[k]] += dual.moves[k]
                k += 1
            if k > before:
                kept = np.flatnonzero(alpha.any(axis=1))
                own = alpha[:, 0] * signs if two else alpha
                shown = {int(dual.support[j]): own[j] for j in kept[np.argsort(dual.support[kept])]}
                shown = {at: int(a) if two else a.astype(np.int64) for at, a in shown.items()}
            x = self.X[row : row + 1]
            x = x.toarray() if hasattr(x, "toarray") else x
            steps.append(
                Step(
                    visit=t + 1,
                    epoch=t // self.n_rows + 1,
                    example=row,
                    x=np.asarray(x[0], dtype=np.float64) if x.ndim == 2 else x[0],
                    y=labels[self.labels[row]],
                    score=float(scores[0]) if two else scores,
                    predicted=labels[taken],
                    mistake=k > before if two else taken != self.labels[row] or (k > before and dual.joint),
                    update=k > before,
                    alpha=shown,
                )
            )
        return Steps(steps, self.names, self.n_visits)

    @property
    def mistakes_by_class(self) -> dict[Any, int]:
        """The mistakes on rows of each class: false positives are those on the first of two classes.

        Under one-vs-rest, which counts a mistake of each class apart, these are the updates on such rows.
        """
        counts = np.bincount(self.labels[self.example], minlength=len(self.classes))
        return dict(zip(self.classes.tolist(), counts.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values, without the rows."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("dual", "X", "labels")}
        return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in own.items()}

    def __str__(self) -> str:
        ending = "converged" if self.converged else "not converged"
        nonzero = np.flatnonzero(self.alpha if self.alpha.ndim == 1 else self.alpha.any(axis=1))
        return (
            f"kernel perceptron, {self.kernel}: {self.mistakes:,} mistakes in {self.n_visits:,} visits to "
            f"{self.n_rows:,} rows, {ending}\n  α ≠ 0 on {len(nonzero):,} rows"
        )


class _Noted(Plan):
    """A plan that keeps the orders that it draws."""

    drawn: list[Counts]

    def drawn_order(self, n: int) -> Counts:
        order = super().drawn_order(n)
        order = np.arange(n, dtype=np.int64) if order is None else order
        vars(self).setdefault("drawn", []).append(order)
        return order


def kernel_trace(
    X: Any,
    y: Any,
    kernel: Any = "rbf",
    *,
    gamma: Any = "scale",
    degree: int = 3,
    coef0: float = 1.0,
    kernel_params: dict[str, Any] | None = None,
    fit_intercept: bool = False,
    ties: str = "positive",
    order: str = "cyclic",
    random_state: int | None = None,
    max_epochs: int = 1000,
    multiclass: str = "ovr",
    classes: Any = None,
    names: list[str] | None = None,
) -> KernelTrace:
    """Run the kernel perceptron from α = 0, and record every visit.

    Parameters
    ----------
    X, y : rows and labels
        Rows as for `KernelPerceptron`; for a kernel that is a function also any objects.
    kernel, gamma, degree, coef0, kernel_params, fit_intercept, ties, multiclass
        As in `KernelPerceptron`.
    order : {'cyclic', 'shuffle', 'riffle', 'worst'}
    random_state : int, optional
        Seed of 'shuffle' and 'riffle'.
    max_epochs : int
        The run also ends after an epoch without a mistake.
    classes : array of labels, optional
        Then `y` holds indices into it.
    names : list of str, optional
        Of the columns; those of a frame are known.

    Examples
    --------
    >>> X, y = [[1, 1], [1, -1], [-1, 1], [-1, -1]], [1, -1, -1, 1]
    >>> run = kernel_trace(X, y, "poly", degree=2, gamma=1)
    >>> run.alpha.tolist(), run.mistakes_by_class, run.converged
    ([1, 1, 1, 1], {-1: 2, 1: 2}, True)
    """
    own = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0, "ties": ties}
    own |= {"kernel_params": kernel_params, "fit_intercept": fit_intercept, "multiclass": multiclass}
    own |= {"predict_with": None, "budget": None, "budget_policy": "projectron", "cache_mb": 1024}
    for name, value in [
        *own.items(),
        ("order", order),
        ("max_epochs", max_epochs),
    ]:
        KERNEL_PARAMETERS[name].check(value)

    names = column_names(X) if names is None else names
    objects = as_objects(X) if callable(kernel) else None
    rows = sound(read_matrix(X)) if objects is None else objects
    if classes is None:
        classes, labels = number(read_labels(y, rows.shape[0]))
    else:
        classes, labels = np.asarray(classes), np.ascontiguousarray(y, dtype=np.int32)
    if len(classes) < 2:
        raise ValueError(f"there must be two classes, but every row has the label {classes.tolist()[0]!r}.")
    if order == "worst" and len(classes) > 2 and multiclass == "ovr":
        raise ValueError(
            "order='worst' visits a row for each class under one-vs-rest: use multiclass='joint' to trace it."
        )
    plan = _Noted(max_epochs=max_epochs, order=order, rng=np.random.default_rng(random_state))
    trainer = KernelSettings(**own).trainer(rows, labels, len(classes), plan)
    run = train(trainer, plan)
    dual = trainer.model()
    assert isinstance(dual, DualModel)
    example = dual.support[dual.used]
    if order == "worst":
        visited = example[np.unique(dual.visit, return_index=True)[1]]
    else:
        visited = np.concatenate(vars(plan)["drawn"])[: dual.n_visits]
    alpha = np.zeros((len(labels), dual.n_columns), dtype=np.int64)
    np.add.at(alpha, example, dual.moves.astype(np.int64))
    return KernelTrace(
        example=example,
        visit=dual.visit,
        alpha=alpha[:, 0] * np.where(labels == 1, 1, -1) if len(classes) == 2 else alpha,
        order=visited,
        n_rows=len(labels),
        n_visits=dual.n_visits,
        mistakes=dual.n_mistakes,
        converged=run.converged,
        kernel=str(dual.kernel),
        classes=classes,
        dual=dual,
        X=rows,
        labels=labels,
        names=names,
    )
