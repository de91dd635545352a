"""A diagnosis of labelled rows: whether they can be learned, how hard that is, and which way is best."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from novikoff.data.arrays import is_sparse
from novikoff.data.labels import LabelRuns, as_text
from novikoff.data.sources.features import Features
from novikoff.proof.clock import Clock
from novikoff.proof.folding import times, unit
from novikoff.proof.geometry import by_row, stepped, unit_bracket
from novikoff.proof.maxmargin import MaxMargin, solve
from novikoff.proof.problem import CHUNK, Problem, read_problem
from novikoff.proof.separability import Inseparable, Separable, Verdict, decide
from novikoff.theory import hindsight
from novikoff.theory.contradictions import contradictions
from novikoff.theory.findings import KINDS, Bracket, Diagnosis, Made
from novikoff.theory.trace import trace
from novikoff.theory.trials import in_orders, run
from novikoff.theory.ways import Effort, held_out
from novikoff.theory.words import PYTHON, Words
from novikoff.training.weights import Floats

Watch = Callable[[str, float | None], None]

GAP = 1e-3  # relative gap of the bracket on γ
MOMENT = 0.05  # least time for every question, in seconds
EPOCHS = 1000  # the most, if the rows are separable
MOST_UPDATES = 20_000  # up to this many, every update of a run is stored
MOST_MARGINS = 200_000  # the most rows whose margins are stored


def diagnose(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    ties: str = "positive",
    n_orders: int = 100,
    random_state: int = 0,
    time_limit: float | None = 20.0,
    sample_weight: Any = None,
    watch: Watch | None = None,
    rounding: str = "never",
) -> Diagnosis:
    """Examine labelled rows before learning from them.

    Parameters
    ----------
    X, y : rows and labels, dense or sparse, two classes or more
    fit_intercept, intercept_scaling, ties
        As in the estimators. Separability is always decided both with and without a bias.
    n_orders : int
        The maximum number of random orders to try; fewer if the time limit is reached.
    random_state : int
        Seed of the orders and of the held-out rows.
    time_limit : float, optional
        Approximate limit in seconds; each question gets a part of it. None: no limit. It also says how many
        splits are tried, of how many rows; these are counted, not timed.
    sample_weight : array of n numbers ≥ 0, optional
        Factors on each row's step; rows of weight 0 are left out.
    watch : callable, optional
        Called as watch(text, fraction) to report progress.
    rounding : {'never', 'nearest'}
        Whether numbers that no double holds are refused, or rounded with a warning.

    Returns
    -------
    Diagnosis
        After Ctrl-C, the results so far, with `interrupted` true.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.theory import diagnose
    >>> X = np.array([[10.0], [12.0]])
    >>> found = diagnose(X, [1, 2], n_orders=5)
    >>> found.verdict_with_bias, found.verdict_without_bias, found.contradictions.groups
    ('separable', 'inseparable', 0)
    """
    if not isinstance(n_orders, int) or n_orders < 1:
        raise ValueError(f"n_orders={n_orders!r} is not possible: expected a whole number ≥ 1.")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit={time_limit!r} is not possible: expected None or seconds > 0.")
    problem = read_problem(
        X,
        y,
        fit_intercept=fit_intercept,
        intercept_scaling=intercept_scaling,
        sample_weight=sample_weight,
        rounding=rounding,
    )
    return diagnose_problem(
        problem,
        intercept_scaling=intercept_scaling,
        ties=ties,
        n_orders=n_orders,
        random_state=random_state,
        time_limit=time_limit,
        watch=watch,
    )


def diagnose_problem(
    problem: Problem,
    *,
    intercept_scaling: float = 1.0,
    ties: str = "positive",
    n_orders: int = 100,
    random_state: int = 0,
    time_limit: float | None = 20.0,
    features: Features | None = None,
    watch: Watch | None = None,
    words: Words = PYTHON,
) -> Diagnosis:
    """`diagnose` for a problem that has already been read.

    `intercept_scaling` is used for the verdict with a bias if the problem has none. `features` describes the
    columns of a source and decides which of them are centred when the scaling 'standard' is tried. `words`
    are those of the interface in use.
    """
    limit = time_limit
    if limit is not None:  # the ways to learn take a counted part
        limit = max(limit - Effort.of(problem, limit).seconds, MOMENT)
    scaling = problem.bias or intercept_scaling
    examination = _Examination(problem, scaling, ties, Clock(limit), watch)
    examination.known = {
        "asked": {"n_orders": n_orders, "random_state": random_state, "time_limit": time_limit},
        "words": words,
    }
    return examination.all(features)


class _Examination:
    """The questions in turn, and the results so far."""

    def __init__(
        self, problem: Problem, scaling: float, ties: str, clock: Clock, watch: Watch | None
    ) -> None:
        self.problem, self.scaling, self.ties, self.clock, self.watch = problem, scaling, ties, clock, watch
        self.known: dict[str, Any] = {}
        self.u: Floats | None = None  # the best weights known
        self.started = time.monotonic()

    def say(self, text: str, fraction: float | None = None) -> None:
        if self.watch is not None:
            self.watch(text, fraction)

    def all(self, features: Features | None) -> Diagnosis:
        n_orders, seed, limit = self.known["asked"].values()
        self._look()
        interrupted = False
        questions: list[Callable[[], None]] = [
            self._contradictions,
            self._separability,
            self._margin,
            lambda: self._run(seed),
            lambda: self._orders(n_orders, seed),
            lambda: self._held_out(seed, limit, features),
            self._hindsight,
            self._pictured,
        ]
        try:
            for question in questions:
                question()
        except KeyboardInterrupt:
            interrupted = True
        self.known |= {"seconds": time.monotonic() - self.started, "interrupted": interrupted}
        return Diagnosis(**self.known)

    # -- simple facts
    def _look(self) -> None:
        p = self.problem
        self.say("reading the rows")
        counts = np.bincount(p.labels, minlength=p.n_classes).tolist()
        runs = LabelRuns()
        runs.add(p.labels)
        plain = Problem(p.X, p.labels, p.classes, 0.0, None)
        rows, power = plain.measurable
        row_radius = float(rows.lengths().max()) / (math.sqrt(2) if p.is_joint else 1.0)
        self.known |= {
            "n_rows": p.n_rows,
            "n_features": p.n_features,
            "class_counts": {as_text(c): n for c, n in zip(p.classes.tolist(), counts, strict=True)},
            "fit_intercept": p.bias > 0,
            "intercept_scaling": self.scaling,
            "ties": self.ties,
            "radius": p.radius(),
            "radius_square": p.radius_square(),
            "row_radius": float(times(row_radius, -power)),
            "spread": float(times(_spread(rows.X), -power)),
            "heaviest": 1.0 if p.weights is None else float(p.weights.max()),
            "in_runs": runs.are_long,
        }

    def _contradictions(self) -> None:
        self.say("comparing rows")
        self.known["contradictions"] = contradictions(self.problem)

    # -- separability and margin
    def _separability(self) -> None:
        """With and without a bias: weights without one are weights with a bias of 0."""
        p = self.problem
        proof = self._decided(p, 0.3)
        lifted = p.bias > 0
        mine, other = ("with", "without") if lifted else ("without", "with")
        self.known |= {"proof": proof, f"verdict_{mine}_bias": proof.verdict}
        if isinstance(proof, Separable):
            self.u = proof.u
        self._bracket_of(proof)
        if getattr(proof, "interrupted", False):
            raise KeyboardInterrupt
        implied = "inseparable" if lifted else "separable"
        if proof.verdict == implied:
            self.known[f"verdict_{other}_bias"] = implied
        else:
            twin = Problem(p.X, p.labels, p.classes, 0.0 if lifted else self.scaling, p.weights)
            found = self._decided(twin, 0.2)
            self.known[f"verdict_{other}_bias"] = found.verdict
            if getattr(found, "interrupted", False):
                raise KeyboardInterrupt

    def _bracket_of(self, proof: Verdict) -> None:
        """The bracket on γ that the verdict already gives."""
        if isinstance(proof, Inseparable):
            self.known["margin"] = self.known["unit_margin"] = Bracket(-math.inf, 0.0)
        elif self.problem.weights is None:  # verdicts ignore weights, margins do not
            lower = proof.margin if isinstance(proof, Separable) else proof.lower
            self.known["margin"] = Bracket(lower, proof.upper)
        else:
            self.known["margin"] = Bracket(-math.inf, math.inf)

    def _decided(self, problem: Problem, share: float) -> Verdict:
        bias = "a bias" if problem.bias else "no bias"
        self.say(f"are they separable with {bias}?")
        return decide(problem, ties=self.ties, time_limit=self.clock.part(share, MOMENT), watch=self.watch)

    def _margin(self) -> None:
        if not self._is_separable:
            return
        lower, upper = self.known["margin"].lower, self.known["margin"].upper
        found = self._bracketed(self.problem, 0.3)
        self.u = found.u if found.lower > lower else self.u
        self.known["margin"] = Bracket(max(found.lower, lower), min(found.upper, upper))
        if found.interrupted:
            raise KeyboardInterrupt
        unit = self._bracketed(stepped(self.problem, "normalized"), 0.3)
        self.known["unit_margin"] = Bracket(*unit_bracket(self.problem, unit.lower, unit.upper))
        if unit.interrupted:
            raise KeyboardInterrupt

    def _bracketed(self, problem: Problem, share: float) -> MaxMargin:
        self.say("how wide is the margin?")
        limit = self.clock.part(share, MOMENT)
        return solve(problem, gap=GAP, time_limit=limit, start_u=self.u, watch=self.watch)

    # -- trying the perceptron
    @property
    def _is_separable(self) -> bool:
        return isinstance(self.known.get("proof"), Separable)

    def _run(self, seed: int) -> None:
        self.say("learning, in the given order")
        epochs = EPOCHS if self._is_separable else 10
        part = Clock(self.clock.part(0.15, MOMENT))
        try:
            model, made = run(
                self.problem,
                "perceptron",
                self.ties,
                max_epochs=epochs,
                order="cyclic",
                seed=seed,
                clock=part,
            )
        except OverflowError as error:
            self.known["overflow"] = str(error).removesuffix(" The model is as it was before the call.")
            return
        first = int(made.history[0]["mistakes"])
        self.known["run"] = Made(model.total("mistakes"), first, len(made.history), made.converged)
        if self.u is None:
            self.u = self.problem.lifted().vector(*model.coef(averaged=False))

    def _orders(self, n_orders: int, seed: int) -> None:
        epochs = EPOCHS if self._is_separable else 1
        part = Clock(self.clock.part(0.4, MOMENT))
        tried = in_orders(
            self.problem, KINDS, self.ties, n_orders=n_orders, max_epochs=epochs, seed=seed, clock=part
        )
        for k, orders in enumerate(tried):
            self.known["orders"] = orders
            self.say(f"learning, in random order {k + 1}", (k + 1) / n_orders)

    def _held_out(self, seed: int, limit: float | None, features: Features | None) -> None:
        self.say("ways to learn, on held-out rows")
        splits = Effort.of(self.problem, limit).splits
        tried = held_out(self.problem, self.ties, seed=seed, time_limit=limit, features=features)
        for k, trials in enumerate(tried):
            self.known["trials"] = trials
            self.say(f"ways to learn, on held-out rows {k + 1}", (k + 1) / splits)

    def _hindsight(self) -> None:
        """The bound that needs no separability, if one pass was measured."""
        if self._is_separable or self.clock.left <= 0:
            return
        self.say("the best bound in hindsight")
        late = False

        def timed(text: str, fraction: float | None) -> None:
            nonlocal late
            self.say(text, fraction)
            if self.clock.left <= 0:
                late = True
                raise KeyboardInterrupt  # stop with the best so far

        self.known["hindsight"] = found = hindsight.solve(self.problem, watch=timed)
        if found.interrupted and not late:
            raise KeyboardInterrupt
        if found.v.any():  # otherwise v = 0 is best
            self.u = found.v

    def _pictured(self) -> None:
        """The data of the pictures: the margins of the rows, and the run update by update."""
        p = self.problem
        if self.u is None or not self.u.any():
            return
        step = max(p.n_rows // MOST_MARGINS, 1)
        some = p if step == 1 else p.some(np.arange(0, p.n_rows, step))
        rows, power = some.measurable
        self.known["margins"] = times(by_row(rows, rows.scores(unit(self.u))), -power)
        made: Made | None = self.known.get("run")
        if made is None:
            return
        updates = made.mistakes if self._is_separable else made.first_epoch
        if updates <= MOST_UPDATES and self.clock.left > 0:
            self.say("the run, update by update")
            with suppress(OverflowError):  # figures beyond the range of floats
                self.known["trace"] = trace(
                    p.X,
                    p.labels,
                    self.u,
                    ties=self.ties,
                    max_epochs=made.epochs if self._is_separable else 1,
                    margins=0,
                    fit_intercept=p.bias > 0,
                    intercept_scaling=self.scaling,
                    sample_weight=p.weights,
                )


def _spread(X: Any) -> float:
    """The largest distance of a row from the mean row; NaN for sparse rows, which centring makes dense."""
    if is_sparse(X):
        return math.nan
    step = max(CHUNK // (8 * max(X.shape[1], 1)), 1)
    parts = [slice(begin, begin + step) for begin in range(0, X.shape[0], step)]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = sum(X[part].sum(axis=0, dtype=np.float64) for part in parts) / X.shape[0]
        return max(float(np.linalg.norm(X[part] - mean, axis=1).max()) for part in parts)
