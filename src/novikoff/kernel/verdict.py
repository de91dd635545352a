"""The verdict on a dual model: is every row strictly on its own side, and how far from the other?"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from novikoff.kernel.kernels import PART
from novikoff.outward import margin_down
from novikoff.training.run import Run
from novikoff.training.weights import Floats

if TYPE_CHECKING:
    from novikoff.kernel.dual import DualTrainer


class Smallest(NamedTuple):
    """The smallest d of all rows, per column; over all columns if classes are joint."""

    d: Floats
    wrong: bool  # some row is wrong under the tie rule
    strict: bool  # every d is > 0, exactly
    least: Floats  # d, rounded down
    spare: Floats  # how far a tie may be lifted: the smallest d of the rows that this hurts


def judge(trainer: DualTrainer, run: Run) -> None:
    """Is every row strictly on its own side? Decided exactly, by the last scores.

    If only ties at 0 are in the way and there is a bias, they are lifted through it by half the slack of the
    other rows.
    """
    found, squares = _smallest(trainer), trainer.model().enclosed_squares()
    run.consistent = not found.wrong
    if run.consistent and not found.strict and trainer.earlier.kernel.offset > 0:
        lift = _lift(trainer, found)
        lifted = _smallest(trainer, lift)
        if lifted.strict:
            found, run.witness_is = lifted, "lifted"
            moves = sum((u.move for u in trainer.updates), trainer.earlier.moves.sum(axis=0))
            offset = Fraction(trainer.earlier.kernel.offset)
            for c, (up, count) in enumerate(zip(map(Fraction, lift.tolist()), moves.tolist(), strict=True)):
                more = 2 * up * Fraction(count) + up * up / offset  # w's last coordinate grows by up/√offset
                squares[c] = max(squares[c][0] + more, Fraction(0)), squares[c][1] + more
    run.verdict = "separated" if found.strict and run.consistent else "undecided"
    if trainer.joint:
        squares = [
            (sum((low for low, _ in squares), Fraction(0)), sum((high for _, high in squares), Fraction(0)))
        ]
    slack = _value_error(trainer)
    pairs = zip(found.least.tolist(), squares, strict=True)
    margins = [margin_down(d if math.isinf(d) else Fraction(d) - slack, *square)[0] for d, square in pairs]
    run.margin = min(margins)


def _value_error(trainer: DualTrainer) -> Fraction:
    """How far the error of the computed kernel values may move d; 0 if they are K by definition."""
    if trainer.is_whole or trainer.rounding.measured.radius == math.inf:
        return Fraction(0)
    n = len(trainer.earlier.used) + len(trainer.updates)
    return 2 * n * trainer.earlier.kernel.value_slack(trainer.X) * Fraction(trainer.model().radius) ** 2


def _lift(trainer: DualTrainer, found: Smallest) -> Floats:
    """The lift of the scores of columns with ties; larger for lower classes if classes are joint."""
    half = np.where(np.isfinite(found.spare), np.maximum(found.spare, 0.0) / 2, 1.0)
    k = trainer.earlier.n_columns
    return np.asarray(half * np.arange(k, 0, -1) / (k - 1) if trainer.joint else half * (found.d == 0))


def _smallest(trainer: DualTrainer, lift: Floats | None = None) -> Smallest:
    """Scan all rows; with `lift`, d counts as strict only beyond its rounding error."""
    k, joint = trainer.earlier.n_columns, trainer.joint
    slack, sizes = trainer.rounding.slack, trainer.rounding.sizes
    d, least, spare = np.full(k, math.inf), np.full(k, math.inf), np.full(k, math.inf)
    wrong, strict = False, True
    for begin in range(0, len(trainer.labels), PART):
        labels = trainer.labels[begin : begin + PART]
        scores, here = trainer.scores[begin : begin + PART], np.arange(len(labels))
        if lift is not None:
            scores = scores + lift
        error = sizes[begin : begin + PART, None] * slack
        positive = labels[:, None] == (1 if k == 1 else np.arange(k))
        if joint:
            signed = scores[here, labels][:, None] - scores
            error = 1.01 * (error + error[here, labels][:, None])
            signed[positive], error[positive] = math.inf, 0.0
            tie_hurts, guarded = np.arange(k) < labels[:, None], np.arange(k) < labels[:, None]
        else:
            signed = np.where(positive, scores, -scores)
            tie_hurts, guarded = ~positive, ~positive
        tie_hurts = tie_hurts | trainer.tie_is_mistake
        doubt = np.where(np.isinf(signed), 0.0, error)
        if lift is None:
            for row, c in np.argwhere((np.abs(signed) <= error) & (error > 0)).tolist():
                signed[row, c] = _exactly(trainer, begin + row, c)
                doubt[row, c] = 0.0
                least[c] = min(least[c], _below(signed[row, c]))
            wrong = wrong or bool(((signed < 0) | ((signed == 0) & tie_hurts)).any())
            error = np.zeros_like(signed)
        else:
            error = error + np.where(np.isinf(signed), 0.0, np.abs(signed)) * 2.0**-50
        _lower(trainer, begin, signed, doubt, lift, least)
        strict = strict and bool((signed > error).all())
        d = np.minimum(d, signed.min(axis=0, initial=math.inf))
        spare = np.minimum(spare, np.where(guarded, signed - error, math.inf).min(axis=0, initial=math.inf))
    if joint:
        d, least, spare = d.min(keepdims=True), least.min(keepdims=True), np.full(k, spare.min())
    return Smallest(d, wrong, strict, least, spare)


def _lower(
    trainer: DualTrainer, begin: int, signed: Floats, doubt: Floats, lift: Floats | None, least: Floats
) -> None:
    """Lower `least` to the smallest d of these rows, rounded down; d is known up to `doubt`."""
    close = trainer.close  # this is a measurement, not a decision
    for c in range(signed.shape[1]):
        column, off = signed[:, c], doubt[:, c]
        if not len(column):
            continue
        highest = float((column + off).min())
        highest = min(least[c], highest + abs(highest) * 2.0**-50)
        for row in np.flatnonzero((column - off <= highest) & (off > 0)).tolist():
            d, label = _exactly(trainer, begin + row, c), int(trainer.labels[begin + row])
            if lift is not None:
                mine = label == (1 if len(lift) == 1 else c)
                d = _below(d + (lift[label] - lift[c] if trainer.joint else lift[c] if mine else -lift[c]))
            least[c] = min(least[c], _below(d))
        least[c] = min(least[c], column[off == 0].min(initial=math.inf))
    trainer.close = close


def _below(d: float) -> float:
    """A lower bound of every number that rounds to d; d = 0 is exact."""
    return math.nextafter(d, -math.inf) if d else 0.0


def _exactly(trainer: DualTrainer, row: int, c: int) -> float:
    """d of a row and a column, correctly rounded and with its exact sign."""
    label = int(trainer.labels[row])
    of: Callable[[Floats], Floats] = itemgetter((slice(None), c))
    flip = 1.0
    if trainer.joint:
        of = lambda moves: moves[:, label] - moves[:, c]  # noqa: E731
    elif label != (1 if trainer.earlier.n_columns == 1 else c):
        flip = -1.0
    sign, value = trainer.exact(row, of)
    return flip * (value or sign * 5e-324)
