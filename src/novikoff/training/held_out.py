"""Which examples early stopping holds out: one rule for every family."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[Any]


def hold_out(
    groups: Iterable[Indices], fraction: float, rng: np.random.Generator, what: str
) -> tuple[Indices, Indices]:
    """The examples to learn from and those to hold out, both in ascending order.

    From each group of m examples, ⌈fraction·m⌉ are drawn without replacement and held out. Each class is a
    group; without classes, all examples form one group. The one example of a class is learned from. `what`
    describes a group in messages.

    >>> kept, held = hold_out([np.arange(10)], 0.25, np.random.default_rng(0), "of the examples")
    >>> len(kept), len(held)
    (7, 3)
    >>> kept, held = hold_out([np.arange(4), np.array([4])], 0.25, np.random.default_rng(0), "of every class")
    >>> len(kept), len(held), 4 in kept
    (4, 1, True)
    """
    groups = list(groups)
    held = []
    for group in groups:
        if len(group) == 1 < len(groups):
            continue
        size = math.ceil(fraction * len(group))
        if size >= len(group):
            raise ValueError(
                f"early_stopping holds out {fraction:g} {what}, which of {len(group)} leaves none "
                "to learn from: give more, or a smaller validation_fraction."
            )
        held.append(rng.permutation(group)[:size])
    if not held:
        raise ValueError(
            f"early_stopping holds out {fraction:g} {what}, but each has one example only: give more."
        )
    chosen = np.sort(np.concatenate(held))
    return np.setdiff1d(np.concatenate(groups), chosen, assume_unique=True), chosen
