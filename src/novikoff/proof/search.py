"""The search for a proof that rows are separable or inseparable, as described in `separability`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.arrays import some_rows
from novikoff.proof.clock import Clock, TimeUp
from novikoff.proof.maxmargin import solve
from novikoff.proof.opposites import opposite_rows, signs_of, zero_row
from novikoff.proof.problem import Pairs, Problem
from novikoff.proof.rational import Relation, alternative, for_rows, is_relation, relation, to_integers
from novikoff.proof.verdicts import ByPair, Inseparable, Separable, Undecided, Verdict
from novikoff.proof.wholes import distance, least, margin, wholes
from novikoff.proof.working_set import WorkingSet
from novikoff.training.examples import ArrayExamples
from novikoff.training.linear import LinearTrainer
from novikoff.training.loop import train
from novikoff.training.plan import Plan
from novikoff.training.run import Record
from novikoff.training.weights import Floats, Model, Settings

Watch = Callable[[str, float | None], Any]
Bools = npt.NDArray[np.bool_]

SMALL = 3_000  # numbers in all z up to which the exact simplex method is used at once
EXACT = 40_000  # numbers in all z up to which it is used if floats do not decide
PATIENCE = 1.0  # seconds for the perceptron, after at least `FEW` epochs
FEW, MANY = 5, 100  # epochs
MOST_STEPS = 2**33  # multiply-adds of the search with counted effort
FEWEST = 10_000  # the most z whose sum is computed in integers
DIGITS = 2.0**-48  # relative allowance for rounding in a bound
NEAR = 1e-6  # relative to ‖u‖·R: below minus this, u·z is wrong, not only rounded
TINY = 2.0**-900  # smaller margins are computed in integers


class SeparabilitySearch:
    """The state of the search for one verdict."""

    def __init__(self, problem: Problem, ties: str, clock: Clock, watch: Watch | None) -> None:
        self.problem, self.ties, self.clock, self.watch = problem, ties, clock, watch
        self.scaled, self.power = problem.equilibrated()  # for steps in floats
        n, k = problem.n_rows, problem.n_classes
        self.alpha_shape = (n, k) if problem.is_joint else (n,)
        self.consistent: bool | None = None
        self.lower, self.upper = -math.inf, math.inf
        self.support: Pairs = np.zeros(0, dtype=np.int64)  # of the best α
        self.shares: Floats = np.zeros(0)
        self.hard: Pairs = np.zeros(0, dtype=np.int64)  # the z updated by the perceptron, most frequent first
        self.by_pair: ByPair | None = None

    def say(self, text: str, fraction: float | None = None) -> None:
        if self.watch is not None:
            self.watch(text, fraction)

    def run(self, start: Floats | None) -> Verdict:
        reason, interrupted = "the time limit was reached", False
        found: Verdict | None
        try:
            if start is not None:
                u = np.asarray(start, dtype=np.float64).reshape(self.problem.shape)
                found = self.separated(*self.problem.coefficients(u), "given")
                if found is not None:
                    return self.with_pairs(found)
            for step in STEPS:
                self.clock.tick()
                found = step(self)
                if found is not None:
                    return self.with_pairs(found)
            reason = "the problem is too hard for floats and too large for the exact method"
        except TimeUp:
            pass
        except KeyboardInterrupt:
            reason, interrupted = "interrupted", True
        upper = self.bound()
        alpha = np.zeros(self.alpha_shape)
        alpha.flat[self.support] = self.shares
        return Undecided(
            min(self.lower, 0.0), upper, alpha, reason, self.consistent, self.by_pair, interrupted
        )

    # -- the witnesses
    def suggested(self, u: Floats, how: str) -> Separable | None:
        """The verdict, if a u found on the scaled rows separates the given rows."""
        top = float(np.abs(u).max(initial=0.0))
        if not (top > 0 and math.isfinite(top)):
            return None
        coef, intercept = self.scaled.coefficients(np.ldexp(u, -math.frexp(top)[1]))
        half = self.power // 2  # (coef, intercept/2^power), both times a power of two
        return self.separated(np.ldexp(coef, half), np.ldexp(intercept, half - self.power), how)

    def separated(self, coef: Floats, intercept: Floats, how: str) -> Separable | None:
        """The verdict, if these weights separate exactly; updates the lower bound in any case."""
        top = max(float(np.abs(coef).max(initial=0.0)), float(np.abs(intercept).max(initial=0.0)))
        if not (top > 0 and math.isfinite(top)):
            return None
        exponent = -math.frexp(top)[1]
        coef, intercept = np.ldexp(coef, exponent), np.ldexp(intercept, exponent)
        smallest = self.problem.smallest_of(coef, intercept, ties=self.ties)
        if not smallest.wrong:
            self.consistent = True
        u, power = self.direction(coef, intercept)
        if self.problem.is_moderate:
            gamma = smallest.value / math.ldexp(math.sqrt(math.fsum(np.square(u).ravel())), -power)
            gamma -= abs(gamma) * DIGITS
            self.lower = max(self.lower, gamma)
        if not smallest.value > 0:
            return None
        if not self.problem.is_moderate or gamma < TINY:
            exact = least(self.problem, coef, intercept)
            if not exact > 0:
                return None
            gamma = margin(self.problem, coef, intercept, exact)
            self.lower = max(self.lower, gamma)
        return Separable(u, coef.copy(), intercept.copy(), gamma, max(self.bound(), gamma), how)

    def direction(self, coef: Floats, intercept: Floats) -> tuple[Floats, int]:
        """u = (coef, intercept/c) times 2^power, with a largest coordinate of about 1; and the power."""
        mantissa, exponent = np.frexp(coef)
        if self.problem.bias:
            half, digits = math.frexp(self.problem.bias)
            last, more = np.frexp(np.frexp(intercept)[0] / half)
            more += np.frexp(intercept)[1] - digits
            mantissa = np.column_stack([mantissa, last])
            exponent = np.column_stack([exponent, more])
        top = int(np.where(mantissa == 0, -(1 << 20), exponent).max())
        return np.ldexp(mantissa, exponent - top).reshape(self.problem.shape), -top

    def separated_by(self, coef: Any, intercept: Any, how: str) -> Separable | None:
        """The verdict, if these integers separate; in floats, if they are accurate enough."""
        top = max(int(abs(value)).bit_length() for value in (*coef.flat, *intercept.flat))
        floats = [(numbers / (1 << top)).astype(np.float64) for numbers in (coef, intercept)]
        found = self.separated(floats[0], floats[1], how)
        if found is not None:
            return found
        u, _ = self.direction(floats[0], floats[1])
        worst = self.problem.smallest_of(floats[0], floats[1]).value
        if worst < -NEAR * self.problem.radius() * math.sqrt(self.problem.dimension):
            return None
        exact = least(self.problem, coef, intercept, above=True)
        if not exact > 0:
            return None
        self.consistent = True
        gamma = margin(self.problem, coef, intercept, exact)
        self.lower = max(self.lower, gamma)
        return Separable(u, coef, intercept, gamma, max(self.bound(), gamma), how)

    def bound(self) -> float:
        """An upper bound on γ: the best so far, or the shortest ‖z‖."""
        lengths = self.problem.lengths()
        row = int(lengths.argmin())
        shortest = math.nextafter(float(lengths[row]) * (1 + DIGITS), math.inf) if lengths[row] else 0.0
        if shortest < self.upper:
            self.upper = shortest
            own, k = int(self.problem.labels[row]), self.problem.n_classes
            self.support = np.array([row * k + (own == 0) if self.problem.is_joint else row], dtype=np.int64)
            self.shares = np.ones(1)
        return self.upper

    def suggest(self, pairs: Pairs, shares: Floats) -> None:
        """Use these convex weights for the bound γ ≤ ‖Σ α·z‖/Σα, rounded up."""
        total = float(shares.sum())
        if not (total > 0 and math.isfinite(total)):
            return
        if not self.problem.is_moderate:
            upper = distance(self.problem, pairs, shares) if len(pairs) <= FEWEST else math.inf
            if upper < self.upper:
                self.upper, self.support, self.shares = upper, pairs, shares / total
            return
        alpha = np.zeros(self.alpha_shape)
        alpha.flat[pairs] = shares
        sizes = self.problem.lengths()[pairs // (self.problem.n_classes if self.problem.is_joint else 1)]
        vector = self.problem.combine(alpha)
        power = math.frexp(float(np.abs(vector).max(initial=0.0)))[1]
        length = math.ldexp(float(np.linalg.norm(np.ldexp(vector, -power))), power)
        slack = (len(pairs) + self.problem.n_classes + 8) * 2.0**-52 * float(shares @ sizes)
        upper = (length + slack) / total * (1 + DIGITS) + self.problem.dimension * 2.0**-1070
        if upper < self.upper:
            self.upper, self.support, self.shares = upper, pairs, shares / total

    def strict(self, pairs: Pairs) -> Bools:
        """Whether a tie at this z is a mistake."""
        if self.ties == "mistake":
            return np.ones(len(pairs), dtype=bool)
        if self.problem.is_joint:
            rows, rivals = np.divmod(pairs, self.problem.n_classes)
            return np.asarray(rivals < self.problem.labels[rows])
        return np.asarray(self.problem.labels[pairs] == 0)

    def cancelled(self, pairs: Pairs, weights: list[int], how: str) -> Inseparable | None:
        """The verdict, if the weights are positive and Σ weights·z = 0, in integers."""
        kept = np.flatnonzero([w != 0 for w in weights])
        pairs, weights = pairs[kept], [weights[k] for k in kept]
        if not weights or min(weights) < 0 or len(pairs) > self.problem.dimension + 1:
            return None
        if not is_relation(self.integers(pairs), weights):
            return None
        common, order = math.gcd(*weights), np.argsort(pairs)
        exact = tuple(weights[k] // common for k in order)
        pairs = pairs[order]
        if self.strict(pairs).any():
            self.consistent = False
        elif self.consistent is None:
            self.say("looking for zero errors", None)
            self.consistent = self.zero_errors(pairs)
        return Inseparable(pairs, exact, self.alpha_shape, self.consistent, how, self.by_pair)

    def integers(self, pairs: Pairs) -> Any:
        """These z in integers, each column times its own power of two, without columns of zeros."""
        return to_integers(self.problem.compact_rows(pairs))

    # -- the steps
    def cancelling(self) -> Inseparable | None:
        """One z that is zero, or two that cancel out."""
        problem, k = self.problem, self.problem.n_classes
        labels = problem.labels
        row = zero_row(problem)
        if row is not None:
            own = int(labels[row])
            pair = row * k + (own == 0) if problem.is_joint else row
            return self.cancelled(np.array([pair], dtype=np.int64), [1], "a row of zeros")
        self.say("looking for rows that cancel out", None)
        pair_of_rows = opposite_rows(problem)
        if pair_of_rows is None:
            return None
        return self.cancelled(opposite_pairs(problem, *pair_of_rows), [1, 1], "opposite rows")

    def question(self) -> Verdict | None:
        """The nearest point of the hull, with counted effort that doubles; not for small problems."""
        if self.problem.n_pairs * self.problem.dimension <= SMALL:
            return None  # for the simplex method, which always decides
        from novikoff.proof.quick import Question  # which needs this class

        question, epochs = Question(self.problem, self.ties), 10.0
        while not question.is_over and question.effort.made < MOST_STEPS:
            self.clock.tick()
            self.say("looking for the nearest point of the hull", None)
            found = question.ask(epochs)
            if found is not None:
                if found.consistent is None:
                    return None
                self.consistent = found.consistent
                return found
            epochs *= 2
        return None

    def perceptron(self) -> Verdict | None:
        """Epochs of the perceptron, until it converges, repeats a w, or is not worth more time."""
        problem = self.scaled
        settings = Settings(ties=self.ties, bias_square=problem.bias**2)
        model = Model(problem.n_classes, problem.n_features, settings)
        native = model.learners[0].native
        counts: list[tuple[Pairs, Floats]] = []  # per epoch: the updated pairs
        seen: dict[bytes, int] = {}
        repeated: list[int] = []
        began = time.monotonic()
        small = problem.n_pairs * problem.dimension <= SMALL
        wide = problem.dimension > WorkingSet.WIDEST  # too wide for linear programs

        def after(record: Record) -> bool:
            rows, _, rivals, steps, _ = native.recorded()
            pairs = rows * problem.n_classes + rivals if problem.is_joint else rows
            counts.append((pairs.astype(np.int64), steps))
            epoch = int(record["epoch"])
            self.say(f"perceptron, epoch {epoch}: {record['mistakes']:,.0f} mistakes", None)
            weights = model.learners[0].weights
            key = weights.tobytes() + model.learners[0].bias.tobytes() if weights.size < 5000 else b""
            if len(rows) and key and seen.setdefault(key, epoch) != epoch:
                repeated.append(seen[key])
                return True
            spent = time.monotonic() - began
            falling = epoch < 2 * FEW or len(rows) < max(0.9 * len(counts[-FEW][0]), 0.02 * problem.n_rows)
            hopeless = spent > PATIENCE * (10 if wide else 1) or not (falling or wide)
            return self.clock.left <= 0 or (epoch >= FEW and hopeless and not small)

        epochs = MANY if small else 100_000
        plan = Plan(max_epochs=epochs, order="cyclic", callback=after, record_updates=True)
        if problem.dimension < 5000:
            seen[bytes(8 * (model.learners[0].weights.size + model.learners[0].bias.size))] = 0
        examples = ArrayExamples(problem.X, problem.labels, None, plan, model)
        run = train(LinearTrainer(model, examples, plan), plan)
        pairs = np.concatenate([p for p, _ in counts]) if counts else np.zeros(0, dtype=np.int64)
        if len(pairs):
            which, times = np.unique(pairs, return_counts=True)
            self.hard = which[np.argsort(-times, kind="stable")]
            self.suggest(which, times.astype(np.float64))
        if run.interrupted:
            raise KeyboardInterrupt
        if run.witness is not None:
            found = self.suggested(problem.vector(*run.witness), "perceptron")
            if found is not None:
                return found
        if repeated:
            between = np.concatenate([p for p, _ in counts[repeated[0] :]])
            which, times = np.unique(between, return_counts=True)
            return self.fewer(which, times.tolist())
        return None

    def fewer(self, pairs: Pairs, weights: list[int]) -> Inseparable | None:
        """The verdict with at most dimension + 1 of the z (Carathéodory's theorem), if Σ weights·z = 0."""
        z = self.integers(pairs)
        how = "w repeated"
        if not is_relation(z, weights):  # the data are not integers: w repeated only in floats
            return None
        if len(pairs) <= z.shape[1] + 1:
            return self.cancelled(pairs, weights, how)
        self.hard = pairs
        if z.size > SMALL:
            return None  # these z suffice for the linear program
        found = alternative(z, tick=self.clock.tick)
        assert isinstance(found, Relation)
        return self.cancelled(pairs[found.rows], found.weights, how)

    def small(self) -> Verdict | None:
        """The whole problem by the simplex method in integers."""
        if self.problem.n_pairs * self.problem.dimension > SMALL:
            return None
        return self.exactly(self.all_pairs(), "exact simplex method")

    def all_pairs(self) -> Pairs:
        if not self.problem.is_joint:
            return np.arange(self.problem.n_rows)
        other = np.ones(self.alpha_shape, dtype=bool)
        other[np.arange(self.problem.n_rows), self.problem.labels] = False
        return np.flatnonzero(other)

    def exactly(self, pairs: Pairs, how: str) -> Verdict | None:
        """Decide for these z: they cancel out, or their u may separate all z."""
        z = self.problem.dense_rows(pairs)
        found = alternative(to_integers(z), tick=self.clock.tick)
        if isinstance(found, Relation):
            return self.cancelled(pairs[found.rows], found.weights, how)
        u = np.array(for_rows(found.u, z), dtype=object)
        u = u.reshape(-1, self.problem.width)
        return self.separated_by(*self.whole_coefficients(u), how)

    def whole_coefficients(self, u: Any) -> tuple[Any, Any]:
        """u as (coef, intercept), all integers."""
        if not self.problem.bias:
            return u, np.array([0] * len(u), dtype=object)
        (c,), exponent = wholes([self.problem.bias])
        return u[:, :-1] << max(-exponent, 0), (u[:, -1] * c) << max(exponent, 0)

    def two_classes(self) -> Inseparable | None:
        """Each pair of classes: if one pair is inseparable, so is the whole problem."""
        problem, k = self.problem, self.problem.n_classes
        if not problem.is_joint:
            return None
        self.by_pair = {}
        result = None
        both = list(combinations(range(k), 2))
        names = problem.classes.tolist()
        for number, (a, b) in enumerate(both):
            name = names[a], names[b]
            self.by_pair[name] = "undecided"
            if self.clock.left <= 0:
                continue
            rows = np.flatnonzero((problem.labels == a) | (problem.labels == b))
            labels = (problem.labels[rows] == b).astype(np.int32)
            part = Problem(some_rows(problem.X, rows), labels, problem.classes[[a, b]], problem.bias, None)
            # half of the time for the pairs, shared fairly; the other half for all classes together
            share = 0.5 / (len(both) - number) if result is None else 1 / (len(both) - number)
            search = SeparabilitySearch(part, self.ties, Clock(self.clock.part(share)), None)
            self.say(f"classes {name[0]} and {name[1]}", number / len(both))
            verdict = search.run(None)
            self.by_pair[name] = verdict.verdict
            if isinstance(verdict, Undecided) and verdict.interrupted:
                raise KeyboardInterrupt
            if result is None and isinstance(verdict, Inseparable):
                own = rows[verdict.pairs]
                pairs = own * k + np.where(problem.labels[own] == a, b, a)
                result = self.cancelled(pairs, list(verdict.weights), f"two classes: {verdict.how}")
        return None if result is None else replace(result, by_pair=self.by_pair)

    def programs(self) -> Verdict | None:
        """Linear programs over a working set."""
        working = WorkingSet(self.scaled, self.hard, self.clock.tick, lambda: self.clock.left)
        for objective, pairs, shares, u in working.rounds():
            self.say(f"linear program over {len(working.pairs):,} of {self.problem.n_pairs:,}", None)
            self.suggest(pairs, shares)
            if u is not None:
                found: Verdict | None = self.suggested(u, "linear program")
                if found is not None:
                    return found
            if objective <= WorkingSet.ZERO:
                found = self.solved(pairs, working)
                if found is not None:
                    return found
        return None

    def nearest_point(self) -> Verdict | None:
        """The point of the hull of the z nearest to the origin, if linear programs would be too wide."""
        if self.problem.dimension <= WorkingSet.WIDEST:
            return None
        left = self.clock.left
        limit = None if math.isinf(left) else max(left, 0.01)
        found = solve(
            self.scaled, gap=1e-3, time_limit=limit, stop_when="separating", watch=self.watch
        )  # fmt: skip
        if found.interrupted:
            raise KeyboardInterrupt
        pairs = np.flatnonzero(found.alpha)
        self.suggest(pairs, found.alpha.flat[pairs])
        separated = self.suggested(found.u, "largest margin")
        if separated is not None:
            return separated
        if len(pairs) <= WorkingSet.WIDEST:
            weights = relation(self.integers(pairs), self.clock.tick)
            if weights is not None:
                return self.cancelled(pairs, weights, "nearest point of the hull")
        self.clock.tick()
        return None

    def medium(self) -> Verdict | None:
        """The whole problem by the simplex method in integers, if nothing else has decided."""
        if self.problem.n_pairs * self.problem.dimension > EXACT:
            return None
        return self.exactly(self.all_pairs(), "exact simplex method")

    def solved(self, pairs: Pairs, working: WorkingSet) -> Verdict | None:
        """An exact answer from the support found in floats."""
        weights = relation(self.integers(pairs), self.clock.tick)
        if weights is not None:
            found = self.cancelled(pairs, weights, "linear program")
            if found is not None:
                return found
        for some in (pairs, working.tight, working.pairs):
            if len(some) * self.problem.dimension <= EXACT:
                verdict = self.exactly(some, "linear program, then the exact simplex method")
                if verdict is not None:
                    return verdict
        return None

    # -- zero errors
    def zero_errors(self, witness: Pairs) -> bool | None:
        """Whether zero errors are possible although Σ α·z = 0, on z whose ties are no mistakes."""
        problem = self.problem
        pairs = self.all_pairs()
        strict = self.strict(pairs)
        if not strict.any():
            return True
        if problem.n_pairs * problem.dimension <= EXACT:
            z = problem.dense_rows(pairs)
            try:
                return not isinstance(alternative(to_integers(z), strict, self.clock.tick), Relation)
            except TimeUp:
                return None
        nonzero = np.flatnonzero(signs_of(problem.X))
        if len(nonzero) < problem.n_rows:  # a row of zeros is always tied, and here its tie is no mistake
            verdict = SeparabilitySearch(
                problem.some(nonzero), self.ties, Clock(self.clock.part(0.9)), None
            ).run(None)
            return verdict.consistent
        return None

    def with_pairs(self, verdict: Verdict) -> Verdict:
        """The verdict together with those of each pair of classes."""
        if not self.problem.is_joint or verdict.by_pair is not None or isinstance(verdict, Undecided):
            return verdict
        if isinstance(verdict, Separable):
            names = self.problem.classes.tolist()  # may be objects
            return replace(verdict, by_pair=dict.fromkeys(combinations(names, 2), "separable"))
        if self.by_pair is None:
            with suppress(KeyboardInterrupt):  # the verdict itself is known
                self.two_classes()
        return replace(verdict, by_pair=self.by_pair)


STEPS: tuple[Callable[[SeparabilitySearch], Verdict | None], ...] = (
    SeparabilitySearch.cancelling,
    SeparabilitySearch.question,
    SeparabilitySearch.perceptron,
    SeparabilitySearch.small,
    SeparabilitySearch.two_classes,
    SeparabilitySearch.programs,
    SeparabilitySearch.nearest_point,
    SeparabilitySearch.medium,
)


def opposite_pairs(problem: Problem, i: int, j: int) -> Pairs:
    """The z of two rows that cancel out."""
    if not problem.is_joint:
        return np.array([i, j], dtype=np.int64)
    k, a, b = problem.n_classes, int(problem.labels[i]), int(problem.labels[j])
    if a == b:  # x = −x', without a bias: any rival is possible
        a = b = int(a == 0)
    return np.array([i * k + b, j * k + a], dtype=np.int64)
