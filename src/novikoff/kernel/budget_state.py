"""The state of a kernel perceptron with a budget in a model file, and back: it can continue to learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from novikoff.data.state import check_numbers
from novikoff.kernel.budget import BudgetModel, restored
from novikoff.kernel.state import (
    kernel_from_state,
    kernel_state,
    vectors_from_state,
    vectors_state,
)
from novikoff.modelfile.checks import LARGEST, State, array, choice, count, fact, number
from novikoff.modelfile.container import Arrays, Facts
from novikoff.parameters.kernel import KERNEL_PARAMETERS

COUNTS = ("visits", "wrong", "mistakes", "updates", "close")
MEASURES = ("damage", "largest")
POLICIES = KERNEL_PARAMETERS["budget_policy"].choices


def budget_state(learner: BudgetModel) -> State:
    """Coefficients, their running sums, supports, the factor of projections, and the random state."""
    facts, arrays = vectors_state(learner.vectors, learner.kernel)
    facts |= {"kernel": kernel_state(learner.kernel), "n_classes": learner.n_classes}
    facts |= {"budget": learner.budget, "policy": learner.policy, "n_rows": learner.n_rows}
    facts |= {"joint": learner.joint, "tie_is_mistake": learner.tie_is_mistake, "radius": learner.radius}
    held = learner.native.state()
    facts |= dict(zip(COUNTS, held["counts"], strict=True)) | dict(
        zip(MEASURES, held["measures"], strict=True)
    )
    if learner.draws:
        facts["generator"] = learner.rng.bit_generator.state["state"]
    held["factor"] = held["factor"][np.triu_indices(len(held["basis"]))]  # the rest is 0
    names = ("alpha", "sums", "touched", "factor", "basis")
    return facts, arrays | {name: held[name] for name in names} | {"support": learner.support}


def budget_from_state(facts: Facts, arrays: Arrays) -> BudgetModel:
    """The learner with this `budget_state`."""
    kernel = kernel_from_state(fact(facts, "kernel", dict))
    n_classes = count(facts, "n_classes", 2, LARGEST)
    budget = None if facts.get("budget") is None else count(facts, "budget", 1)
    k, n_rows = 1 if n_classes == 2 else n_classes, count(facts, "n_rows")
    numbers = array(arrays, "support", np.int64, (None,))
    m = len(numbers)
    check_numbers(numbers, n_rows)
    if budget is not None and m > budget:
        raise ValueError(f"it has {m:,} supports, expected at most {budget:,}")
    basis = array(arrays, "basis", np.int64, (None,))
    q = len(basis)
    held: dict[str, Any] = {name: array(arrays, name, np.float64, (k, m)) for name in ("alpha", "sums")}
    held |= {"touched": array(arrays, "touched", np.int64, (m,)), "basis": basis}
    packed = array(arrays, "factor", np.float64, (q * (q + 1) // 2,))
    held["factor"] = np.zeros((q, q))
    held["factor"][np.triu_indices(q)] = packed
    if len(np.unique(basis)) < q or not (held["factor"].diagonal() > 0).all():
        raise ValueError("the factor of the projection is not that of distinct supports")
    held["counts"] = tuple(count(facts, name) for name in COUNTS)
    touched, visits = held["touched"], held["counts"][0]
    if m and not 0 <= touched.min() <= touched.max() <= visits:
        raise ValueError(f"the visits of the supports are not numbers from 0 to {visits:,}")
    held["measures"] = tuple(number(facts, name) for name in MEASURES)
    learner = restored(
        kernel,
        n_classes,
        vectors_from_state(facts, arrays, kernel, m),
        numbers,
        held,
        budget=budget,
        policy=choice(facts, "policy", POLICIES),
        joint=fact(facts, "joint", bool),
        tie_is_mistake=fact(facts, "tie_is_mistake", bool),
        rng=_generator(facts),
        n_features=count(facts, "n_features", 0, LARGEST),
    )
    learner.n_rows, learner.radius = n_rows, number(facts, "radius", 0.0)
    return learner


def _generator(facts: Facts) -> np.random.Generator:
    """PCG64 in its saved state; any generator if the learner draws nothing."""
    rng = np.random.default_rng(0)
    if "generator" in facts:
        given = fact(facts, "generator", dict)
        inner = {name: count(given, name, 0, 2**128 - 1) for name in ("state", "inc")}
        rng.bit_generator.state = {**rng.bit_generator.state, "state": inner}
    return rng
