"""The warning that training rows were not separated, and what may help."""

from __future__ import annotations

from collections.abc import Sequence

from novikoff.training.run import Run

MORE_EPOCHS = "more epochs (max_epochs)"
ASK = "checking whether they are separable at all (novikoff.theory.separability)"


def not_separated(run: Run, advice: Sequence[str], *, bias: bool) -> str:
    """The text of the warning; it advises `MORE_EPOCHS` only if mistakes may still be falling."""
    mistakes = [int(r["mistakes"]) for r in run.history]
    what = f"The training rows were not separated in {len(mistakes)} epoch(s): "
    if run.verdict == "inseparable":
        useful = [a for a in advice if a not in (MORE_EPOCHS, ASK)]
        what += "w was 0 after an update, which proves that nothing separates them."
        return what + (f" What may help: {'; '.join(useful)}." if useful else "")
    what += f"{mistakes[-1]:,} mistakes in the last"
    if run.consistent:
        what += ". Every row is predicted correctly, but some score is exactly 0"
        return f"{what}." if bias else f"{what}. A bias (fit_intercept=True) may separate the rows strictly."
    falling = _falling(mistakes)
    useful = [a for a in advice if a != MORE_EPOCHS or falling is not False]
    trend = {True: ", still falling", False: ", no longer falling", None: ""}[falling]
    return f"{what}{trend}. What may help: {'; '.join(useful)}."


def _falling(mistakes: Sequence[int]) -> bool | None:
    """Whether the last quarter of the epochs made fewer mistakes than the quarter before; None: too few."""
    quarter = len(mistakes) // 4
    if not quarter:
        return None if len(mistakes) < 2 else mistakes[-1] < mistakes[0]
    return sum(mistakes[-quarter:]) < sum(mistakes[-2 * quarter : -quarter])
