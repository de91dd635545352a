"""The state of a dual model in a model file: kernel, supports and updates as facts and arrays, and back."""

from __future__ import annotations

import numpy as np

from novikoff.data.state import check_numbers
from novikoff.kernel.dual_model import DualModel
from novikoff.kernel.state import (
    kernel_from_state,
    kernel_state,
    vectors_from_state,
    vectors_state,
)
from novikoff.modelfile.checks import LARGEST, State, array, count, fact, number
from novikoff.modelfile.container import Arrays, Facts

FIGURES = ("n_classes", "joint", "n_visits", "n_rows", "radius", "log2_radius", "whole")


def dual_state(model: DualModel) -> State:
    """Everything except the count of close decisions, which belongs to the run that made them."""
    facts, arrays = vectors_state(model.vectors, model.kernel)
    facts |= {name: getattr(model, name) for name in FIGURES} | {"kernel": kernel_state(model.kernel)}
    moves = model.moves.astype(np.int8)  # −1, 0 and +1
    arrays |= {"support": model.support, "used": model.used, "visit": model.visit, "squares": model.squares}
    return facts, arrays | {"moves": moves}


def dual_from_state(facts: Facts, arrays: Arrays) -> DualModel:
    """The model with this `dual_state`."""
    kernel = kernel_from_state(fact(facts, "kernel", dict))
    n_classes, joint = count(facts, "n_classes", 2, LARGEST), fact(facts, "joint", bool)
    if joint and n_classes == 2:
        raise ValueError("joint is True, but there are only two classes")
    n_visits, n_rows = count(facts, "n_visits"), count(facts, "n_rows")
    k = 1 if n_classes == 2 else n_classes
    support, used = array(arrays, "support", np.int64, (None,)), array(arrays, "used", np.int64, (None,))
    m, updates = len(support), len(used)
    visit, moves = array(arrays, "visit", np.int64, (updates,)), array(arrays, "moves", np.int8, (updates, k))
    squares = array(arrays, "squares", np.float64, (k,), finite=False)
    check_numbers(support, n_rows)
    if updates and not 0 <= used.min() <= used.max() < m:
        raise ValueError(f"the updates name supports that are not from 0 to {m - 1:,}")
    if updates and (visit[0] < 0 or visit[-1] >= n_visits or (np.diff(visit) < 0).any()):
        raise ValueError(f"the visits of the updates are not increasing numbers below {n_visits:,}")
    if not (squares >= 0).all():
        raise ValueError("a squared norm is negative or NaN")
    up, down = (np.count_nonzero(moves == s, axis=1) for s in (1, -1))
    changed = np.count_nonzero(moves, axis=1)
    if (changed != up + down).any() or (changed < 1).any() or (joint and ((up != 1) | (down != 1)).any()):
        expected = "one +1 and one −1" if joint else "−1, 0 and +1, not all 0"
        raise ValueError(f"the moves of an update are not {expected}")
    return DualModel(
        kernel,
        n_classes,
        joint,
        vectors_from_state(facts, arrays, kernel, m),
        support,
        used,
        visit,
        moves.astype(np.float64),
        n_visits,
        n_rows,
        squares,
        radius=number(facts, "radius", 0.0) * (1.0 if "whole" in facts else 1 + 2.0**-46),  # once to nearest
        whole="whole" in facts and fact(facts, "whole", bool),
        log2_radius=number(facts, "log2_radius"),
    )
