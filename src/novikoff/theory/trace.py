"""The run of a perceptron as data: the quantities in the proof of the bound, at every update.

After k updates from w = 0 with steps on z_1 … z_k (from any rows), for any unit vector u:

    w·u = Σ u·z_j ≥ k·γ            where γ is the smallest u·z of all rows: the lower line
    ‖w‖² ≤ k·R²                    since w·z ≤ 0 at a mistake: the upper curve √k·R
    cos(w, u) = w·u/‖w‖ ≥ √k·γ/R   the floor; it reaches 1 at k = (R/γ)², which ends the run

The margin rule updates while w·z ≤ β, so its upper curve is √(k·(R² + 2β)). The normalized rule has the same
lines for the rows scaled to norm 1. Weights multiply z.

If u does not separate the rows (γ ≤ 0), the lower line is due to Freund and Schapire: with v along u and
hinge_i = max(0, 1 − v·z_i), v·w ≥ Σ (1 − hinge) ≥ k − √k·‖hinge‖₂ over e copies of the rows, so

    w·u ≥ (k − √(k·e)·H)/‖v‖       with H = ‖hinge(v)‖₂ over one copy of the rows, e epochs begun

and the floor of the cosine is the lower line divided by the upper curve, if that is not negative (else −1).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.arrays import is_sparse
from novikoff.modelfile.json_value import to_json_value
from novikoff.outward import at_most, ceil_text, margin_down, root_up, up
from novikoff.proof import wholes
from novikoff.proof.folding import times, unit
from novikoff.proof.geometry import by_row, direction, length, stepped, unit_bracket
from novikoff.proof.maxmargin import solve as solve_margin
from novikoff.proof.problem import Problem, read_problem
from novikoff.shown import Shown, table_text
from novikoff.theory.hindsight import best_length, losses_at
from novikoff.theory.hindsight import solve as solve_hindsight
from novikoff.theory.hindsight_search import UNIT
from novikoff.theory.steps import Steps, column_names, steps_of
from novikoff.theory.visits import Runner, Visits, alpha_of
from novikoff.training.summary import theorem
from novikoff.training.weights import Floats, Ints, Settings

Counts = npt.NDArray[np.int64]

RULES = ("perceptron", "normalized", "margin")
BUDGET = 1 << 28  # multiplications for margins, if `margins` is not given
BLOCK_BYTES = 1 << 24  # size of a block of weight vectors when a run is replayed
DIRECTION_SECONDS = 30.0  # for the default u
WIDE = 4096  # from this many coordinates, sparse rows are replayed one by one


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Shown):
    """A run, with one entry per update in every array.

    The arrays are `example` (the row), `rival` (the class that lost, with three classes or more), `visit`
    (visits made before it) and `epoch` (from 1); then, after the update, `wu` = w·u, `norm` = ‖w‖, `cosine`
    with its `cosine_floor`, the `lower` line ≤ wu and the `upper` curve ≥ norm, and `margin`, the smallest
    w·z/‖w‖ (NaN if not computed). `upper` is infinite if it is beyond the range of floats.
    """

    example: Counts
    visit: Counts
    epoch: Counts
    wu: Floats
    norm: Floats
    cosine: Floats
    cosine_floor: Floats
    lower: Floats
    upper: Floats
    margin: Floats
    rival: Ints | None
    u: Floats  # of norm 1
    w: Floats  # the last weights; both in the lifted space, the bias coordinate last
    gamma: float  # the smallest u·z of all rows, scaled as the rule scales them
    radius: float  # R of the same rows
    form: str  # of the lower line: "novikoff", or "freund-schapire" where γ ≤ 0
    v_norm: float  # ‖v‖ for "freund-schapire"; 1/γ for "novikoff"
    slack: float  # H = ‖hinge(v)‖₂ over one copy of the rows; 0 for "novikoff"
    n_rows: int
    n_visits: int
    mistakes: int
    updates: int
    converged: bool  # an epoch passed without an update
    separated: bool  # the last w has w·z > 0 for every z, decided exactly
    order: Counts | None  # the row of every visit; None: cyclic, row t mod n at visit t
    rule: str
    ties: str
    beta: float  # of the margin rule
    bias: float  # the lifted coordinate c; 0: none
    classes: npt.NDArray[Any]
    top: float = math.nan  # the numerator over γ² in the rule's bound, rounded up; NaN: an older record
    most: float = math.nan  # the updates that the lines allow, rounded up; NaN: an older record
    heaviest: float = 1.0  # the largest weight of a row
    step: Floats | None = None  # τ of each update, times the row's weight; None: an older record
    names: list[str] | None = None  # of the columns, if they have any
    run: Visits | None = field(default=None, repr=False)  # rows and visits; None after `from_dict`

    # -- the run, visit by visit
    def steps(self, limit: int | None = None) -> Steps:
        """The hand trace: x, y, w·x, mistake or not and w after, for each visit (the first `limit`).

        Examples
        --------
        >>> X = [[-1.0, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
        >>> run = trace(X, [-1, 1, 1, -1, -1, 1], [1.0, 0.0], fit_intercept=False)
        >>> print(run.steps(6))
        the first 6 of 12 visits: 3 mistakes (2 on -1, 1 on 1)
          visit  example  x          y  w·x  outcome  w after
              1        0  (-1, 2)   -1    0  mistake  (1, -2)
              2        1  (1, 0)     1    1           (1, -2)
              3        2  (1, 1)     1   -1  mistake  (2, -1)
              4        3  (-1, 0)   -1   -2           (2, -1)
              5        4  (-1, -2)  -1    0  mistake  (3, 1)
              6        5  (1, -1)    1    2           (3, 1)
        """
        return steps_of(self._with_rows("steps"), self.names, limit)

    @cached_property
    def weights(self) -> Floats:
        """All weight vectors: `weights[k]` is w after k updates, in the lifted space; `weights[0]` is 0.

        >>> run = trace([[1.0, 0], [0, 1]], [1, -1], [1.0, -1.0], fit_intercept=False)
        >>> run.weights.tolist(), run.weights_at(1).tolist()
        ([[0.0, 0.0], [0.0, -1.0]], [0.0, 0.0])
        """
        again = self._with_rows("weights").again(self.example)
        found = np.empty((self.updates + 1, *self.w.shape))
        found[0] = 0.0
        for k in range(self.updates):
            again.visit()
            found[k + 1] = again.w
        return found

    def weights_at(self, visit: int) -> Floats:
        """w before this visit (the first visit is 0); after the last one for `visit=n_visits`."""
        if not 0 <= visit <= self.n_visits:
            raise IndexError(f"visit={visit!r} is not possible: expected a number from 0 to {self.n_visits}.")
        found: Floats = self.weights[np.searchsorted(self.visit, visit)]
        return found

    @property
    def alpha(self) -> Floats:
        """α of the run: w = Σ α_i·y_i·x̃_i for two classes, where α_i ≥ 0 sums the steps that used row i.

        Under the perceptron rule without weights, α_i is the number of mistakes on row i. For three classes
        or more, α has one column per class, with w_c = Σ α_ic·x̃_i.

        >>> X = [[-1.0, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
        >>> run = trace(X, [-1, 1, 1, -1, -1, 1], [1.0, 0.0], fit_intercept=False)
        >>> run.alpha.tolist(), run.mistakes_by_class
        ([1.0, 0.0, 1.0, 0.0, 1.0, 0.0], {-1: 2, 1: 1})
        """
        if self.step is None:
            raise ValueError("this record was made by an older version, without its steps: run trace again.")
        if self.rival is None:
            return np.bincount(self.example, self.step, self.n_rows).astype(np.float64)
        return alpha_of(self._with_rows("alpha").problem, self.example, self.rival, self.step)

    @property
    def mistakes_by_class(self) -> dict[Any, int]:
        """The mistakes on rows of each class: false positives are those on the first of two classes."""
        run = self._with_rows("mistakes_by_class")
        at = self.example
        if self.rule == "margin":  # not every update is a mistake
            rows = run.rows()
            again = run.again(rows)
            at = rows[[again.visit()[0] for _ in rows]]
        counts = np.bincount(run.problem.labels[at], minlength=len(self.classes))
        return dict(zip(self.classes.tolist(), counts.tolist(), strict=True))

    def _with_rows(self, what: str) -> Visits:
        if self.run is None:
            raise ValueError(f"a trace from JSON has no rows, which `{what}` needs: run trace again.")
        return self.run

    @property
    def bound(self) -> float:
        """The updates that the lines allow: top/γ², or Freund and Schapire's bound.

        The latter is for the number of epochs begun, or the most visits to one row if an order repeats rows.
        """
        if not math.isnan(self.most):
            return self.most
        if self.form == "novikoff" and not math.isnan(self.top):
            return at_most(self.top, self.gamma)
        R = self.upper[0] if len(self.upper) else self.radius
        copies = int(self.epoch[-1]) if len(self.epoch) else 1
        return _allowed(R, self.v_norm, self.slack, max(math.ceil(self.n_visits / self.n_rows), copies, 1))

    @property
    def formula(self) -> str:
        """The rule's bound if u separates the rows."""
        copies = 2 if len(self.classes) > 2 else 1
        return theorem(Settings(rule=self.rule, margin=self.beta), 1.0, self.heaviest, copies)[0]

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, for JSON: arrays as lists, NaN as None; without the rows (`run`)."""
        return {f.name: to_json_value(getattr(self, f.name)) for f in fields(self) if f.name != "run"}

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Trace:
        """The inverse of `to_dict`."""
        names = {f.name for f in fields(cls)} - {"run"}
        if missing := names - data.keys() - {"top", "most", "heaviest", "step", "names"}:  # added later
            raise ValueError(f"this is not a trace: it lacks {', '.join(sorted(missing))}.")
        return cls(**{name: _restored(name, data[name]) for name in names & data.keys()})

    def __str__(self) -> str:
        ending = "converged" if self.converged else "not converged"
        title = (
            f"rule {self.rule}: {self.updates:,} updates in {self.n_visits:,} visits to "
            f"{self.n_rows:,} rows, {ending}"
        )
        sizes = f"R = {self.radius:.6g}, γ of u = {self.gamma:.6g}"
        rows = [("bound", f"updates ≤ {ceil_text(self.bound)} ({self.form}); {sizes}")]
        if self.updates:
            k = self.updates - 1
            rows += [
                ("w·u", f"{self.wu[k]:.6g} ≥ {self.lower[k]:.6g}"),
                ("‖w‖", f"{self.norm[k]:.6g} ≤ {self.upper[k]:.6g}"),
                ("cosine", f"{self.cosine[k]:.6g} ≥ {self.cosine_floor[k]:.6g}"),
            ]
        return table_text(title, rows)


_FLOATS = ("wu", "norm", "cosine", "cosine_floor", "lower", "upper", "margin", "u", "w", "step")
_DTYPES: dict[str, Any] = dict.fromkeys(("example", "visit", "epoch", "order"), np.int64)
_DTYPES |= dict.fromkeys(_FLOATS, np.float64) | {"rival": np.int32, "classes": None}


def _allowed(R: float, v_norm: float, slack: float, epochs: int) -> float:
    """Freund and Schapire's bound, rounded up."""
    root = (R * v_norm if v_norm else 0.0) + math.sqrt(epochs) * slack
    return float(root * root * (1 + 16 * UNIT))


def _restored(name: str, value: Any) -> Any:
    if value is None and name in ("v_norm", "top", "most"):
        return math.inf
    if name not in _DTYPES or value is None:
        return value
    if _DTYPES[name] is np.float64:
        no_float = math.inf if name == "upper" else math.nan
        return (
            np.array([no_float if x is None else x for x in value]) if value.count(None) else np.array(value)
        )
    return np.array(value, dtype=_DTYPES[name])


def trace(
    X: Any,
    y: Any,
    u: Any = None,
    *,
    rule: str = "perceptron",
    ties: str = "positive",
    order: Any = "cyclic",
    random_state: int | None = None,
    max_epochs: int = 1000,
    max_updates: int = 100_000,
    margin: float = 0.0,
    margins: int | None = None,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    sample_weight: Any = None,
    rounding: str = "never",
) -> Trace:
    """Run a perceptron from w = 0 and record the quantities in the proof of its bound, update by update.

    Parameters
    ----------
    X, y : rows and labels, dense or sparse
    u : array of the lifted space, (coef, intercept), or a model, optional
        The vector to compare with. By default, the direction of the largest margin if the data are found to
        be separable, else the best v in hindsight.
    rule : {'perceptron', 'normalized', 'margin'}
        The rules whose steps do not depend on w.
    ties : {'positive', 'mistake'}
    order : {'cyclic', 'shuffle', 'riffle', 'worst', 'first', 'any'} or array of row numbers
        'worst', 'first' and 'any' visit only rows that need an update: the most violated, the first, or one
        drawn at random. An array is visited once, in its order.
    random_state : int, optional
        Seed of 'shuffle', 'riffle' and 'any'.
    max_epochs, max_updates : int
        Limits; the run also ends after an epoch without an update.
    margin : float
        β of the margin rule.
    margins : int, optional
        The number of updates, evenly spaced and including the last, at which the margin of w is computed;
        each takes one pass over the rows. The default takes about a second in total.
    fit_intercept, intercept_scaling, sample_weight
        As in the estimators. Rows of weight 0 are removed before rows are numbered.
    rounding : {'never', 'nearest'}
        Whether numbers that no double holds are refused, or rounded with a warning.

    Examples
    --------
    >>> X = [[-1.0, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> run = trace(X, [-1, 1, 1, -1, -1, 1], [1.0, 0.0], fit_intercept=False)
    >>> run.example.tolist(), run.wu.tolist(), run.gamma, round(run.bound, 9)
    ([0, 2, 4], [1.0, 2.0, 3.0], 1.0, 5.0)
    """
    if rule not in RULES:
        raise ValueError(f"rule={rule!r} is not possible: expected one of {', '.join(RULES)}.")
    if ties not in ("positive", "mistake"):
        raise ValueError(f"ties={ties!r} is not possible: expected 'positive' or 'mistake'.")
    if not margin >= 0:
        raise ValueError(f"margin={margin!r} is not possible: expected a number ≥ 0.")
    problem = read_problem(
        X,
        y,
        fit_intercept=fit_intercept,
        intercept_scaling=intercept_scaling,
        sample_weight=sample_weight,
        rounding=rounding,
    )
    beta = margin if rule == "margin" else 0.0
    rows = problem.lifted()
    run = Runner(rows, Settings(rule=rule, ties=ties, margin=beta, bias_square=rows.bias**2))
    run.go(order, random_state, max_epochs, max_updates)
    return _TraceBuilder(problem, run, column_names(X)).trace(u, margins)


# ---- the trace ---------------------------------------------------------------------------------------
class _TraceBuilder:
    """From the recorded updates to the figures, computed for 2^power times the z that were added.

    `rows` has these scaled z, whose squares are floats.
    """

    def __init__(self, problem: Problem, run: Runner, names: list[str] | None = None) -> None:
        self.names = names
        self.given, self.run = problem, run
        self.problem = stepped(problem, run.settings.rule)
        self.rows, self.power = self.problem.measurable
        row, _, rival, step, visit = run.native.recorded()
        self.row, self.visit = row.astype(np.int64), visit.astype(np.int64)
        self.rival = rival.astype(np.int32) if problem.is_joint else None
        self.step = step.astype(np.float64)

    @property
    def pairs(self) -> Counts:
        return self.row if self.rival is None else self.row * self.problem.n_classes + self.rival

    def trace(self, u: Any, margins: int | None) -> Trace:
        p, rows, run = self.problem, self.rows, self.run
        w = run.problem.vector(run.learner.coef(), run.learner.intercept())
        vector = direction(self.given, self._default() if u is None else u)[0]
        vector = times(vector, -math.frexp(float(np.abs(vector).max()))[1])  # so that its products are floats
        gamma, wide = self._gamma(vector)
        along = unit(vector)
        scores = rows.scores(along)
        heaviest = 1.0 if self.given.weights is None else float(self.given.weights.max())
        top = theorem(run.settings, p.radius_square()[1], heaviest, 2 if p.is_joint else 1)[1]
        step, long = root_up(top), root_up(top * Fraction(4) ** self.power)  # √k times it: the upper curve
        R = step if run.settings.rule == "normalized" else p.radius()  # its z have norm 1 up to rounding
        k = np.arange(1.0, len(self.row) + 1)
        made = run.visits()
        epoch = made.epochs()[self.visit]
        last = int(epoch[-1]) if len(epoch) else 1
        if wide > 0:
            form, v_norm, slack = "novikoff", 1 / gamma if gamma else math.inf, 0.0
            lower, most = k * wide, at_most(top * Fraction(4) ** self.power, wide)
        else:
            form = "freund-schapire"
            size, slack = losses_at(rows, along * best_length(by_row(rows, scores), long, last)[0])
            lower = (k - np.sqrt(k * epoch) * slack) / size if size else k * wide
            v_norm = up(Fraction(size) * Fraction(2) ** self.power)
            most = _allowed(long, size, slack, max(math.ceil(run.native.visits / p.n_rows), last))
        wu = np.cumsum(scores.ravel()[self.pairs])
        norms, found = self._replay(margins)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            cosine = np.where(norms > 0, np.clip(wu / norms, -1.0, 1.0), 0.0)
            floor = np.where(lower >= 0, np.minimum(lower / (np.sqrt(k) * long), 1.0), -1.0)
            upper = np.sqrt(k) * step
        wu, norms, found = (times(figures, -self.power) for figures in (wu, norms, found))
        if not (math.isfinite(R) and np.isfinite(wu).all() and np.isfinite(norms).all()):
            raise self._too_long()
        return Trace(
            example=self.row,
            visit=self.visit,
            epoch=epoch,
            wu=wu,
            norm=norms,
            cosine=cosine,
            cosine_floor=floor,
            lower=self._down(lower),
            upper=upper,
            margin=found,
            rival=self.rival,
            u=along,
            w=w,
            gamma=gamma,
            radius=R,
            form=form,
            v_norm=v_norm,
            slack=slack,
            n_rows=p.n_rows,
            n_visits=run.native.visits,
            mistakes=run.native.mistakes,
            updates=run.native.updates,
            converged=run.converged,
            separated=bool(w.any()) and run.problem.smallest(w).value > 0,
            order=made.order,
            rule=run.settings.rule,
            ties=run.settings.ties,
            beta=run.settings.margin,
            bias=self.given.bias,
            top=up(top),
            most=most,
            heaviest=heaviest,
            classes=p.classes,
            step=self.step,
            run=made,
            names=self.names,
        )

    def _gamma(self, u: Floats) -> tuple[float, float]:
        """The margin of u, rounded down, for z and for 2^power·z."""
        p = self.problem
        if p.is_moderate:
            gamma = p.margin(u)
            if self.run.settings.rule == "normalized":
                gamma = unit_bracket(self.given, gamma, gamma)[0]
            return gamma, gamma
        coef, intercept = wholes.coefficients(p, u)
        least, square = wholes.least(p, coef, intercept), wholes.square(p, coef, intercept)
        gamma, wide = (margin_down(least * Fraction(2) ** e, square, square)[0] for e in (0, self.power))
        if self.run.settings.rule == "normalized":
            gamma = unit_bracket(self.given, gamma, gamma)[0]
            wide = math.nextafter(float(times(gamma, self.power)), -math.inf)
        return gamma, wide

    def _down(self, figures: Floats) -> Floats:
        """Figures for 2^power·z converted to figures for z, rounded down."""
        near = times(figures, -self.power)
        return np.where(times(near, self.power) > figures, np.nextafter(near, -math.inf), near)

    def _too_long(self) -> OverflowError:
        p, beta = self.given, self.run.settings.rule == "margin"
        powers = {"X and intercept_scaling": -math.frexp(max(p.largest, p.bias))[1]}
        powers |= {} if p.weights is None else {"sample_weight": -math.frexp(float(p.weights.max()))[1]}
        powers |= {"margin": sum(powers.values()) + powers["X and intercept_scaling"]} if beta else {}
        changes = ", ".join(f"{name} by 2**{power}" for name, power in powers.items())
        return OverflowError(
            "the longest row, or w, is longer than the largest float, so its norm cannot be computed: "
            f"multiply {changes}, which changes no update unless a value vanishes."
        )

    def _default(self) -> Floats:
        """The direction of the largest margin if the rows are separable, else the best v in hindsight."""
        p = self.problem
        w = self.run.problem.vector(self.run.learner.coef(), self.run.learner.intercept())
        found = solve_margin(p, gap=1e-4, time_limit=DIRECTION_SECONDS, start_u=w if w.any() else None)
        if found.lower > 0:
            return found.u
        v = solve_hindsight(p).v
        return v if v.any() else found.u

    # -- w after every update
    def _replay(self, margins: int | None) -> tuple[Floats, Floats]:
        """‖w‖ after every update, and the margin of w after the chosen ones."""
        count = len(self.row)
        norms, found = np.empty(count), np.full(count, math.nan)
        wanted = self._wanted(margins)
        if not count:
            return norms, found
        if is_sparse(self.rows.X) and self.rows.dimension > WIDE:
            self._one_by_one(norms, found, wanted)
        else:
            self._in_blocks(norms, found, wanted)
        return norms, found

    def _wanted(self, margins: int | None) -> Any:
        count = len(self.row)
        if margins is None:
            stored = self.rows.X.nnz if is_sparse(self.rows.X) else self.rows.X.size
            margins = max(BUDGET // max(stored * max(self.rows.n_classes - 1, 1), 1), 2)
        wanted = np.zeros(count, dtype=bool)
        if margins and count:
            wanted[np.linspace(count - 1, 0, min(margins, count)).astype(np.int64)] = True
        return wanted

    def _measure(self, w: Floats, norm: float) -> float:
        if not norm:
            return math.nan
        return float(by_row(self.rows, self.rows.scores(w.reshape(self.rows.shape))).min()) / norm

    def _in_blocks(self, norms: Floats, found: Floats, wanted: Any) -> None:
        """Prefix sums of the z in blocks: each w is the previous one plus z, as in training."""
        p, size = self.rows, max(BLOCK_BYTES // (8 * self.rows.dimension), 1)
        w = np.zeros((1, p.dimension))
        for begin in range(0, len(norms), size):
            z = p.signed_rows(self.pairs[begin : begin + size])
            z = z.toarray() if is_sparse(z) else z
            ws = np.add.accumulate(np.concatenate([w, z]), axis=0)
            w = ws[-1:].copy()
            norms[begin : begin + size] = np.sqrt(np.einsum("ij,ij->i", ws[1:], ws[1:]))
            for k in np.flatnonzero(wanted[begin : begin + size]):
                found[begin + k] = self._measure(ws[k + 1], float(norms[begin + k]))

    def _one_by_one(self, norms: Floats, found: Floats, wanted: Any) -> None:
        """‖w + z‖² = ‖w‖² + 2w·z + ‖z‖², recomputed at every margin and every thousand updates."""
        w, square, block = np.zeros(self.rows.dimension), 0.0, 1000
        for begin in range(0, len(norms), block):
            z = self.rows.signed_rows(self.pairs[begin : begin + block]).tocsr()
            for k in range(z.shape[0]):
                part = slice(z.indptr[k], z.indptr[k + 1])
                at, values = z.indices[part], z.data[part]
                old = w[at]
                w[at] = old + values
                square += float((2 * old + values) @ values)
                if k == z.shape[0] - 1 or wanted[begin + k]:
                    square = length(w) ** 2
                norms[begin + k] = math.sqrt(max(square, 0.0))
                if wanted[begin + k]:
                    found[begin + k] = self._measure(w, float(norms[begin + k]))
