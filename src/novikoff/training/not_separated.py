"""The warning that training rows were not separated, and what may help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from novikoff.parameters.common import AUTO
from novikoff.parameters.parameter import parameters_of
from novikoff.training.run import Run

MORE_EPOCHS = "more epochs (max_epochs)"
ASK = "asking whether they can be separated at all (novikoff.theory.separability)"


def has_chosen(owner: Any) -> bool:
    """Whether the user chose how long to train, or whether to average: then no warning is due."""
    usual = {name: parameter.default for name, parameter in parameters_of(owner).items()}
    return any(
        getattr(owner, name) not in (AUTO, usual[name]) for name in ("max_epochs", "average") if name in usual
    )


def not_separated(run: Run, advice: Sequence[str]) -> str:
    """The text of the warning; it advises `MORE_EPOCHS` only if mistakes may still be falling.

    It contains no figures, so that Python's filters recognise a repeated warning.
    """
    if run.verdict == "separated":
        return (
            "The training rows can be separated, as witness_ shows, but training ended before an epoch was "
            "clean. What may help: columns of one size; the weights of novikoff.theory.max_margin."
        )
    what, useless = "The training rows were not separated", set()
    if run.verdict == "inseparable":
        what, useless = "The training rows cannot be separated, as was proved", {MORE_EPOCHS, ASK}
    elif _falling([int(r["mistakes"]) for r in run.history]) is False:
        useless = {MORE_EPOCHS}
    useful = [each for each in advice if each not in useless]
    return f"{what}. What may help: {'; '.join(useful)}." if useful else f"{what}."


def _falling(mistakes: Sequence[int]) -> bool | None:
    """Whether the last quarter of the epochs made fewer mistakes than the quarter before; None: too few."""
    quarter = len(mistakes) // 4
    if not quarter:
        return None if len(mistakes) < 2 else mistakes[-1] < mistakes[0]
    return sum(mistakes[-quarter:]) < sum(mistakes[-2 * quarter : -quarter])
