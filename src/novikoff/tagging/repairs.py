"""Labels of files that break the scheme of all others: repaired and counted, or refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.text_labels import text_array
from novikoff.tagging.chunks import PLACES, O, parted
from novikoff.tagging.schemes import Rewriting, is_few, scheme_of
from novikoff.tagging.sequences import Ids, Offsets

Tokens = npt.NDArray[np.int64]

SHOWN = 3  # repairs that a report names

Where = Callable[[int], str]  # the place of a token in words, such as "train.txt, line 12"


@dataclass(frozen=True)
class Repairs:
    """What was found about the labels of files."""

    scheme: str | None = None  # None: they are not chunk labels
    count: int = 0  # of labels that were replaced
    shown: tuple[str, ...] = ()  # the first of them


def repaired(
    classes: npt.NDArray[Any], starts: Offsets, numbers: Ids, where: Where, *, strict: bool = False
) -> tuple[npt.NDArray[Any], Ids, Repairs]:
    """Labels that follow their scheme: the new labels, their numbers, and what was repaired.

    Labels that are not chunk labels are returned unchanged. A malformed label is read as the one that it
    resembles: ``b-NP`` and ``B_NP`` as ``B-NP``, the bare type ``NP`` as ``I-NP``, anything else as ``O``.
    Then the labels of each chunk are written as the scheme of the others demands, so that in IOB2 ``O I-NP``
    becomes ``O B-NP``.

    Raises
    ------
    ValueError
        With `strict`, if a label had to be replaced; the message names the place of the first.

    Examples
    --------
    >>> labels, numbers, repairs = repaired(
    ...     np.array(["B-NP", "I-NP", "O"]), np.array([0, 4]), np.array([0, 1, 2, 1]), "line {}".format
    ... )
    >>> labels[numbers].tolist(), repairs.shown
    (['B-NP', 'I-NP', 'O', 'B-NP'], ("line 3: 'I-NP' is read as 'B-NP'",))
    """
    labels, unchanged = classes.tolist(), (classes, numbers, Repairs())
    named = {name for place, name in map(parted, labels) if place != O and name}
    meant = [label if is_chunk_label(label) else _resembled(label, named) for label in labels]
    malformed = np.array([a != b for a, b in zip(labels, meant, strict=True)], dtype=bool)[numbers]
    if not named or not is_few(int(np.count_nonzero(malformed)), len(numbers)):
        return unchanged
    found = scheme_of(meant, starts, numbers)
    if found is None:
        return unchanged
    scheme, broken = found
    if not (malformed.any() or broken.any()):
        return classes, numbers, Repairs(scheme)
    rewriting = Rewriting(meant, scheme)
    new = rewriting(starts, numbers)
    changed: Tokens = np.flatnonzero(malformed | broken)

    def told(token: int) -> str:
        return f"{where(token)}: {labels[numbers[token]]!r} is read as {rewriting.names[new[token]]!r}"

    if strict:
        first = int(changed[0])
        raise ValueError(
            f"{where(first)}: the label {labels[numbers[first]]!r} breaks {scheme.upper()}, which the other "
            f"labels follow; expected {rewriting.names[new[first]]!r}."
        )
    used = np.unique(new)
    place = np.zeros(len(rewriting.names), dtype=np.int32)
    place[used] = np.arange(len(used))
    shown = tuple(told(int(token)) for token in changed[:SHOWN])
    names = text_array([rewriting.names[k] for k in used.tolist()])
    return names, place[new], Repairs(scheme, len(changed), shown)


def is_chunk_label(label: str) -> bool:
    """Whether a label is O, or a place and a type.

    >>> [is_chunk_label(label) for label in ("B-NP", "O", "NP", "B-")]
    [True, True, False, False]
    """
    place, name = parted(label)
    return label == "O" or (place != O and name != "")


def _resembled(label: str, types: set[str]) -> str:
    """The chunk label that a malformed one was probably meant to be."""
    if label in types:
        return f"I-{label}"
    known = {name.lower(): name for name in sorted(types)}
    for mark in "-_:/":
        place, _, name = label.partition(mark)
        if place.upper() in PLACES and name:
            return f"{place.upper()}-{known.get(name.lower(), name)}"
    return "O"
