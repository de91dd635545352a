"""Labels as they are written, and how often predicted ones are right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.text_labels import is_text, text_array
from novikoff.tagging.chunks import f1_of, spell_chunks
from novikoff.tagging.schemes import Rewriting
from novikoff.tagging.sequences import Ids, Offsets
from novikoff.training.tally import Tally

Labels = npt.NDArray[Any]


class Spelling:
    """Writes labels, given by their numbers, in the scheme of predictions.

    Parameters
    ----------
    classes : array of labels
        As they are learned.
    scheme : str, optional
        The scheme of chunk labels to write; None: as they are learned.

    Attributes
    ----------
    labels : array of labels
        Those that are written; `write` gives their numbers, from where each sentence starts and the numbers
        in `classes` of all tokens.

    Examples
    --------
    >>> spelling = Spelling(np.array(["B-NP", "E-NP", "O", "S-NP"]), "iob2")
    >>> wrong, tally = spelling.count(np.array([0, 2, 3]), np.array([0, 1, 3]), np.array([0, 1, 2]))
    >>> wrong, tally.score
    (1, Score(errors=1, n=3, largest=2, f1=0.6666666666666666))
    """

    def __init__(self, classes: Labels, scheme: str | None = None) -> None:
        self.labels = classes
        self.write: Callable[[Offsets, Ids], Ids] = _unchanged
        if scheme is None:
            return
        if not _are_chunks(classes):
            names = classes.tolist()
            raise ValueError(
                f"scheme={scheme!r} is for chunk labels such as B-NP, I-NP and O, but the model has "
                f"{', '.join(map(repr, names[:5]))}{', …' * (len(names) > 5)}."
            )
        rewriting = Rewriting(classes.tolist(), scheme)
        self.labels, self.write = text_array(rewriting.names), rewriting

    def count(self, starts: Offsets, true: Ids, found: Ids) -> tuple[int, Tally]:
        """The sentences with a wrong label, and the tokens with their errors; with the F1 of chunks."""
        true, found = self.write(starts, true), self.write(starts, found)
        tally, differs = Tally(), np.concatenate([[0], np.cumsum(true != found)])
        tally.add(true, found)
        if len(true) and _are_chunks(self.labels):
            tally.f1 = f1_of(self.labels.tolist(), starts, true, found)
        return int(np.count_nonzero(np.diff(differs[starts]))), tally


def _are_chunks(labels: Labels) -> bool:
    return is_text(labels) and spell_chunks(labels.tolist())


def _unchanged(starts: Offsets, numbers: Ids) -> Ids:
    """Labels are written as they were learned."""
    return numbers
