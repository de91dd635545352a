"""Every bound with its ingredients: on mistakes and updates, and on the risk of the learned weights.

The bounds on mistakes hold from w = 0, for any order and any number of epochs, with R and γ of the vectors z
of `novikoff.proof.problem`, which include weights, bias and multiple classes. γ is known up to a bracket, and
so is the bound: between top/γ_upper² and top/γ_lower², which is infinite if nothing separates. The bounds of
Freund and Schapire need no separability; they hold for sequences of updates in which no row occurs more than
e times, such as those of e epochs.

A model's count is shown with a bound only if its ledger shows that it is a count on these rows and that the
theorem's hypotheses are met; otherwise `missing` says which is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.data.arrays import rows_of
from novikoff.outward import at_least, at_most, root_up
from novikoff.proof.folding import times, unit
from novikoff.proof.geometry import as_vector, by_row, length, stepped, unit_bracket
from novikoff.proof.maxmargin import ORIGIN, MaxMargin
from novikoff.proof.maxmargin import solve as solve_margin
from novikoff.proof.problem import Problem, read_problem
from novikoff.proof.separability import Inseparable, decide
from novikoff.theory import hindsight
from novikoff.theory.formulas import (
    Bound,
    Bounds,
    leave_one_out,
    majority_bound,
    minimax_risk,
    online_to_batch,
)
from novikoff.training import linear as training
from novikoff.training.examples import not_all_one
from novikoff.training.ledger import INDEPENDENT, OTHER_ROWS, WEIGHTED, Ledger, Seen
from novikoff.training.plan import Plan
from novikoff.training.summary import theorem
from novikoff.training.weights import Model, Settings


def bounds(
    X: Any,
    y: Any,
    model: Any = None,
    *,
    v: Any = None,
    epochs: int = 1,
    margin: float = 1.0,
    C: float = 1.0,
    relevant: int | None = None,
    delta: float = 0.05,
    gap: float = 1e-3,
    hindsight_gap: float = 0.01,
    time_limit: float | None = 60.0,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    sample_weight: Any = None,
    watch: Any = None,
    rounding: str = "never",
) -> Bounds:
    """Every bound that applies to these rows, with the counts of a perceptron.

    Parameters
    ----------
    X, y : rows and labels, dense or sparse
    model : fitted estimator, optional
        Its weights are tried as v, and it determines `fit_intercept`, `intercept_scaling`, β and C. If it
        learned from these rows and no others, from w = 0, its counts over all calls are shown with its rule's
        bound; otherwise `missing` says why not. The rows may include some that its early stopping held out.
        Where it learned columns times powers of two (`scale_`), every bound is of the rows times these.
        Without a model, a plain perceptron makes `epochs` passes over the rows in their order.
    v : vector of the lifted space, (coef, intercept) or model, optional
        Where to evaluate the bounds of Freund and Schapire; it is not rescaled. It is for the rows as they
        are.
    epochs : int
        The number of passes for those bounds, if the model's number is unknown.
    margin, C : float
        β of the margin rule, C of 'pa1' and 'pa2'.
    relevant : int, optional
        r, if the labels are the majority of r of the columns, which are signs.
    delta : float
        Probabilistic bounds hold with probability 1 − δ.
    gap, hindsight_gap : float
        The relative gaps to which γ, and the best bound in hindsight, are computed.
    time_limit : float, optional
        Seconds for each of γ and γₙ.
    sample_weight : array of n numbers ≥ 0, optional
        The weights of the model's fit, multiplied by those of `class_weight`. The bounds are for the weighted
        rows; with other weights they are different rows.
    watch : callable, optional
    rounding : {'never', 'nearest'}
        Whether numbers that no double holds are refused, or rounded with a warning.

    Examples
    --------
    >>> X = [[-1.0, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> found = bounds(X, [-1, 1, 1, -1, -1, 1], fit_intercept=False, epochs=2, gap=1e-6)
    >>> novikoff = found["novikoff"]
    >>> round(novikoff.value, 4), novikoff.made, round(found["normalized"].value, 4)
    (5.0, 3, 5.0)
    """
    fit_intercept = getattr(model, "fit_intercept", fit_intercept)
    intercept_scaling = getattr(model, "intercept_scaling", intercept_scaling)
    problem = read_problem(
        X,
        y,
        fit_intercept=fit_intercept,
        intercept_scaling=intercept_scaling,
        sample_weight=sample_weight,
        rounding=rounding,
    )
    made = _made_by(model, problem, epochs) if model is not None else _one_run(problem, epochs)
    given, factors = problem, getattr(model, "scale_", None)
    if factors is not None:
        problem = problem.scaled(factors)
    margin = getattr(model, "margin", margin) if made.rule == "margin" else margin
    C = getattr(model, "C", C) if made.rule in ("pa1", "pa2") else C
    statements = _Statements(problem, made, gap, time_limit, watch)
    found = list(statements.margin_bounds(margin, C))
    for norm, name in (("l2", "freund-schapire"), ("l1", "freund-schapire l1")):
        for where, vector in (("given", v), ("model", model)):
            if vector is not None:
                u = as_vector(given, vector)
                if factors is not None:
                    u = np.concatenate([u[..., : len(factors)] / factors, u[..., len(factors) :]], axis=-1)
                found.append(statements.at(u, norm, f"{name} at {where}", where))
        found.append(statements.best(norm, name, hindsight_gap))
    if relevant is not None:
        found.append(statements.majority(relevant))
    unsaid = dict.fromkeys(("online-to-batch", "online-to-batch vote", "leave-one-out vote"), made.no_pass)
    unsaid |= {"leave-one-out": made.no_pass or made.no_supports}
    unsaid |= dict.fromkeys(("pa", "pa1", "pa2"), WEIGHTED if statements.weighted else "")
    if made.first is not None:
        n, supports = made.first_rows, made.supports
        found += online_to_batch(made.first, n, delta=delta)
        found += leave_one_out(made.first, n, supports=None if supports is None else min(supports, n))
    if not problem.is_joint:
        d = problem.width
        risk = minimax_risk(problem.n_rows, d)
        told_by = {"n": float(problem.n_rows), "d": float(d)}
        text = "any learner from n examples, for some separable distribution in d dimensions"
        formula = "min((n−1)/2n, (d−1)/2n)·(1−1/n)^n"
        found.append(Bound("minimax", formula, risk, risk, risk, told_by, text, "risk"))
    return Bounds(tuple(found), {name: why for name, why in unsaid.items() if why})


@dataclass(frozen=True)
class _Made:
    """The counts of a run, and the bounds with which they may be shown."""

    rule: str
    epochs: int  # the most updates on any row
    mistakes: float
    updates: float
    missing: str = ""  # why they are shown with no bound of these rows
    first: int | None = None  # mistakes of a first pass over each row once
    first_rows: int = 0  # the number of rows in that pass
    no_pass: str = ""  # why there is no such pass
    supports: int | None = None  # rows with updates in a cyclic run that converged
    no_supports: str = ""


NO_SUPPORTS = "it needs a cyclic run of one call that converged"


SMALL = 2.0**-900  # for R ≥ this, subnormal steps are negligible compared with R
DRIFT = 2.0**-20  # for a smaller R, the share of R by which rounding may move w in total
LARGE = 2.0**510  # up to this R, 1/R² is a normal float


def _rounded_away(model: Model, problem: Problem) -> str:
    """Why the theorems do not cover a run, if steps were lost to underflow; else empty."""
    R = problem.radius()
    if model.settings.rule.startswith("pa") and R > LARGE:
        return "its steps, loss/‖x‖², are so small that floats lose most of their digits: scale X"
    if problem.weights is None or R >= SMALL:
        return ""
    if max(learner.native.drift for learner in model.learners) <= DRIFT * R:
        return ""
    return "its steps, weight·x, are so small that floats lose most of their digits: multiply sample_weight"


def _made_by(model: Any, problem: Problem, epochs: int) -> _Made:
    lacking = [n for n in ("rule", "n_mistakes_", "n_updates_", "n_epochs_") if not hasattr(model, n)]
    if lacking:
        raise ValueError(f"model has no {lacking[0]}: pass a fitted Perceptron or VotedPerceptron.")
    if getattr(model, "multiclass", "joint") == "ovr" and len(model.classes_) > 2:
        raise ValueError(
            "model is one-vs-rest: its bounds are those of each class, to be fitted and requested separately."
        )
    held = getattr(model, "_model", None)
    ledger: Ledger = Ledger.unknown() if held is None else held.ledger
    rule: str = model.rule if held is None else held.settings.rule
    rows = _examples(problem, model.classes_)
    copies, missing = ledger.copies_of(rows), ledger.missing(rule, rows)
    if missing == OTHER_ROWS:
        missing = "these are not the rows, labels and weights that the model learned from, or not all of them"
    missing = missing or ("" if held is None else _rounded_away(held, problem))
    counts: tuple[float, float] = int(model.n_mistakes_), int(model.n_updates_)
    if getattr(model, "n_shards_", 1) > 1:  # the theorems bound Σ μ·k over the shards
        counts = model.mixed_mistakes_, model.mixed_mistakes_
    made = _Made(rule, epochs if copies is None else copies, *counts, missing)
    return replace(made, **_pass_of(made, model, ledger, rows))


def _pass_of(made: _Made, model: Any, ledger: Ledger, rows: Seen) -> dict[str, Any]:
    """The first pass and, if the run converged, its supports, where available."""
    if made.missing:
        return {"no_pass": made.missing}
    if made.rule != "perceptron" or ledger.weighted:
        return {"no_pass": "it is stated for the perceptron rule without weights"}
    if not set(ledger.orders) <= set(INDEPENDENT):
        why = "it needs a pass that visits every row once, in an order chosen independently of the rows"
        return {"no_pass": why}
    if ledger.first is not None and ledger.calls == 1:
        first, n = ledger.first_mistakes, ledger.first.count
    elif ledger.learned == rows:  # in chunks
        first, n = int(model.n_mistakes_), rows.count
    else:
        return {"no_pass": "it needs one pass over the rows, and the model had several calls"}
    found: dict[str, Any] = {"first": first, "first_rows": n}
    if not model.converged_ or ledger.calls > 1 or ledger.orders != ("cyclic",) or ledger.dropped:
        return found | {"no_supports": NO_SUPPORTS}
    support = getattr(model, "support_", None)  # else the number of updates, which is no smaller
    return found | {"supports": int(model.n_updates_) if support is None else len(support)}


def _examples(problem: Problem, classes: Any) -> Seen:
    """The rows of a problem as a ledger records them, with labels numbered as in `classes`."""
    places = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    unknown = len(places)
    numbers = [places.get(label, unknown) for label in problem.classes.tolist()]
    labels = np.array(numbers, dtype=np.int32)[problem.labels]
    digest = _core.Digest()
    digest.add(_core.Examples(rows_of(problem.X), labels, problem.weights), 0, problem.n_rows)
    return Seen.of(digest)


def _one_run(problem: Problem, epochs: int) -> _Made:
    rows = problem.lifted()
    settings = Settings(bias_square=rows.bias**2)
    plan = Plan(max_epochs=epochs, order="cyclic", record_updates=True)
    try:
        model, run = training.fit(rows.X, rows.labels, rows.n_classes, settings, plan, weights=rows.weights)
    except OverflowError as error:
        reason = str(error).removesuffix(" The model is as it was before the call.")
        why = f"a plain perceptron cannot be run on these rows. {reason}"
        return _Made("perceptron", epochs, math.nan, math.nan, why, no_pass=why)
    made = _Made("perceptron", epochs, model.total("mistakes"), model.total("updates"))
    if why := _rounded_away(model, problem):
        return replace(made, missing=why, no_pass=why)
    if model.ledger.weighted:
        return replace(made, no_pass="it is stated for the perceptron rule without weights")
    made = replace(made, first=int(run.history[0]["mistakes"]), first_rows=problem.n_rows)
    if not run.converged:
        return replace(made, no_supports=NO_SUPPORTS)
    return replace(made, supports=len(np.unique(model.learners[0].native.recorded()[0])))


class _Statements:
    """The bounds of one problem with the counts of one run."""

    def __init__(
        self, problem: Problem, made: _Made, gap: float, time_limit: float | None, watch: Any
    ) -> None:
        self.problem, self.made = problem, made
        self.gap, self.time_limit, self.watch = gap, time_limit, watch
        self.R = problem.radius()
        self.square = problem.radius_square()
        self.heaviest = 1.0 if problem.weights is None else float(problem.weights.max())
        self.weighted = not_all_one(problem.weights)

    def _margin(self, problem: Problem) -> MaxMargin:
        return solve_margin(
            problem, gap=self.gap, max_passes=1000, time_limit=self.time_limit, watch=self.watch
        )

    def _is_inseparable(self) -> bool:
        """Whether inseparability is proved; used if γ is 0 up to rounding."""
        return isinstance(decide(self.problem, time_limit=self.time_limit, watch=self.watch), Inseparable)

    def margin_bounds(self, beta: float, C: float) -> Iterator[Bound]:
        """top/γ² of every rule."""
        p, copies = self.problem, 2 if self.problem.is_joint else 1
        gamma, gamma_n = self._margin(p), self._margin(stepped(p, "normalized"))
        proved = gamma.upper <= ORIGIN * self.R and self._is_inseparable()
        who = "joint updates of " if p.is_joint else ""
        who += f"the {{}} rule from w = 0, any order{', weighted rows' if self.weighted else ''}"
        for rule in ("perceptron", "normalized", "margin", "pa", "pa1", "pa2"):
            if rule.startswith("pa") and self.weighted:
                continue  # its theorems do not cover weights
            settings = Settings(rule=rule, margin=beta, C=C)
            least, (formula, top) = (theorem(settings, s, self.heaviest, copies) for s in self.square)
            lower, upper = gamma.lower, gamma.upper
            if rule == "normalized":
                lower, upper = unit_bracket(p, gamma_n.lower, gamma_n.upper)
            R = root_up(top) if rule == "normalized" else self.R
            parts = {"R": R, "gamma_lower": lower, "gamma_upper": upper}
            parts |= {"beta": beta} if rule == "margin" else {"C": C} if rule in ("pa1", "pa2") else {}
            low, high = at_least(least[1], upper), at_most(top, lower)
            low = math.inf if proved else low
            counts = "updates" if rule == "margin" else "mistakes"
            name = "novikoff" if rule == "perceptron" else rule
            counted = self._counted(rule, counts)
            yield Bound(name, formula, high, low, high, parts, who.format(rule), counts, **counted)

    def _counted(self, rule: str, counts: str = "mistakes") -> dict[str, Any]:
        """The run's count, if it used this rule; or why it cannot be shown."""
        if self.made.rule != rule:
            return {}
        return {"missing": self.made.missing} if self.made.missing else {"made": getattr(self.made, counts)}

    def at(self, v: Any, norm: str, name: str, where: str) -> Bound:
        """Freund and Schapire's bound at one v; a model's v is first scaled to the best length."""
        (rows, power), e = self.problem.measurable, self.made.epochs
        if where == "model":
            along = unit(v)
            best = along * hindsight.best_length(by_row(rows, rows.scores(along)), rows.radius(), e)[0]
            found, v = hindsight.bound_at(rows, best, norm=norm, epochs=e), times(best, power)
        else:
            found = hindsight.bound_at(self.problem, v, norm=norm, epochs=e)
        parts = {"R": self.R, "v_norm": length(v), "epochs": float(e)}
        text = "its weights, with the scale that is best for L2" if where == "model" else "the given v"
        text = f"the perceptron rule, no row updated on more than {e} time(s), any order, at {text}"
        counted = self._counted("perceptron")
        return Bound(name, _FORMULAS[norm], found, found, found, parts, text, "mistakes", **counted)

    def best(self, norm: str, name: str, gap: float) -> Bound:
        """The bound at the best v."""
        e = self.made.epochs
        best = hindsight.solve(self.problem, norm=norm, epochs=e, gap=gap, watch=self.watch)
        parts = {"R": self.R, "v_norm": best.v_norm, "loss": best.loss, "epochs": float(e), "gap": best.gap}
        text = f"the perceptron rule, no row updated on more than {e} time(s), any order, at the best v"
        name, formula, counted = f"{name} in hindsight", f"min {_FORMULAS[norm]}", self._counted("perceptron")
        low, high = best.dual_value, best.value
        return Bound(name, formula, high, low, high, parts, text, "mistakes", **counted)

    def majority(self, r: int) -> Bound:
        p = self.problem
        values = p.X if isinstance(p.X, np.ndarray) else p.X.toarray()
        if p.is_joint or p.weights is not None or not (np.abs(values) == 1).all():
            raise ValueError("relevant needs two classes and columns of −1 and +1 only, without weights.")
        value = majority_bound(p.n_features, r, p.bias > 0, p.bias)
        parts = {"n": float(p.n_features), "r": float(r), "c": p.bias}
        formula = "(n + c²)·r" if p.bias else "n·r"
        text = "the perceptron rule, any order, where the label is a majority of r signs"
        counted = self._counted("perceptron")
        return Bound("majority", formula, value, value, value, parts, text, "mistakes", **counted)


_FORMULAS = {
    "l2": "(R‖v‖ + √e·‖hinge‖₂)²",
    "l1": "((R‖v‖ + √(R²‖v‖² + 4e‖hinge‖₁))/2)²",
}
