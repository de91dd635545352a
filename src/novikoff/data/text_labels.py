"""Text labels as codes: a row keeps one number, however long the labels are.

NumPy's arrays of str give every element the size of the longest one: with 180,000 rows one label of 10 kB
would take 7 GB. So labels pass from readers to learners as `TextLabels`, and become arrays only on request,
and arrays of str only if those are small enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]

NARROW = 64  # characters that every element of an array of str may have
ROOM = 1 << 22  # characters that such an array may always have: 16 MiB


class TextLabels:
    """The labels of some rows: each row's index among the distinct texts, which are in order of appearance.

    Examples
    --------
    >>> labels = TextLabels.of(["spam", "ham", "spam"])
    >>> labels.codes.tolist(), labels.texts, labels[1]
    ([0, 1, 0], ['spam', 'ham'], 'ham')
    >>> labels[1:].texts
    ['ham', 'spam']
    >>> np.asarray(labels)
    array(['spam', 'ham', 'spam'], dtype='<U4')
    """

    __slots__ = ("codes", "texts")

    def __init__(self, codes: Codes, texts: list[str]) -> None:
        """Unchecked: the texts are distinct, each occurs in some row, and they are in order of appearance."""
        self.codes, self.texts = codes, texts

    @classmethod
    def of(cls, labels: Any) -> TextLabels:
        """Make them from one text per row."""
        numbers: dict[str, int] = {}
        texts = labels.tolist() if isinstance(labels, np.ndarray) else labels
        codes = [numbers.setdefault(text, len(numbers)) for text in texts]
        return cls(np.array(codes, dtype=np.int32), list(numbers))

    @classmethod
    def coded(cls, codes: npt.NDArray[Any], texts: Sequence[str]) -> TextLabels:
        """Make them from indices into any list: equal texts are merged, and unused ones left out.

        >>> TextLabels.coded(np.array([2, 0, 2]), ["b", "unused", "a"]).texts
        ['a', 'b']
        """
        n = len(codes)
        first = np.full(len(texts), n)
        first[codes[::-1]] = np.arange(n)[::-1]  # of several assignments the last one holds
        used = np.argsort(first, kind="stable")[: np.count_nonzero(first < n)]
        numbers: dict[str, int] = {}
        new = np.zeros(len(texts), dtype=np.int32)
        new[used] = [numbers.setdefault(texts[k], len(numbers)) for k in used.tolist()]
        return cls(new[codes], list(numbers))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Any:
        """The label of one row as a str; the labels of several rows as `TextLabels`."""
        codes = self.codes[rows]
        return self.texts[codes] if np.ndim(codes) == 0 else TextLabels.coded(codes, self.texts)

    def __iter__(self) -> Iterator[str]:
        return (self.texts[code] for code in self.codes.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        labels = taken(text_array(self.texts), self.codes)
        return labels if dtype is None else labels.astype(dtype)

    def __repr__(self) -> str:
        return f"TextLabels({np.asarray(self)!r})"

    def __str__(self) -> str:
        return str(np.asarray(self))

    def tolist(self) -> list[str]:
        """One str per row."""
        return list(self)

    def counts(self) -> npt.NDArray[np.int64]:
        """The number of rows with each text."""
        return np.bincount(self.codes, minlength=len(self.texts))


def concatenated(parts: Sequence[TextLabels]) -> TextLabels:
    """The labels of all parts, in order."""
    numbers: dict[str, int] = {}
    codes = [np.zeros(0, dtype=np.int32)]
    for part in parts:
        new = [numbers.setdefault(text, len(numbers)) for text in part.texts]
        codes.append(np.array(new, dtype=np.int32)[part.codes])
    return TextLabels(np.concatenate(codes), list(numbers))


def _fits(n: int, width: int) -> bool:
    """Whether n elements of `width` characters each may be an array of str."""
    return width <= NARROW or n * width <= ROOM


def text_array(texts: Sequence[str]) -> npt.NDArray[Any]:
    """Texts as an array of str, or of objects if one very long text would make each element large.

    >>> text_array(["a", "bc"]).dtype.kind, text_array(["a" * 10_000] + ["b"] * 10_000).dtype.kind
    ('U', 'O')
    """
    if _fits(len(texts), max(map(len, texts), default=0)):
        return np.array(texts, dtype=np.str_)
    objects = np.empty(len(texts), dtype=object)
    objects[:] = texts
    return objects


def taken(classes: npt.NDArray[Any], places: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """``classes[places]``, as objects if one very long label would make each element large."""
    if classes.dtype.kind == "U" and not _fits(len(places), classes.dtype.itemsize // 4):
        classes = classes.astype(object)
    labels: npt.NDArray[Any] = classes[places]
    return labels


def of_many_rows(classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The classes in the type that `taken` uses for many rows, whatever the number of rows."""
    return classes.astype(object) if classes.dtype.kind == "U" and classes.itemsize > 4 * NARROW else classes


def is_text(labels: npt.NDArray[Any] | TextLabels) -> bool:
    """Whether labels or classes from files are text and not numbers."""
    return isinstance(labels, TextLabels) or labels.dtype.kind in "UO"
