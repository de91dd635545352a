"""Class labels: how they are numbered, added and renamed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.rounding import nearest_double
from novikoff.data.text_labels import TextLabels, is_text, text_array
from novikoff.parameters.files import OTHER

Ints = npt.NDArray[np.int32]
Labels = npt.NDArray[Any]
Given = Labels | TextLabels  # the labels of rows: numbers, or text

FEW = 32  # rows up to which a dict is faster than NumPy


def number(y: Labels) -> tuple[Labels, Ints]:
    """The classes found in `y`, sorted, and each row's index among them."""
    if y.dtype.kind in "iub" and len(y) and int(y.max()) - int(y.min()) < 1000:
        low = int(y.min())  # integers in a short range are counted instead of sorted
        beyond = y.dtype.kind == "u" and y.dtype.itemsize == 8  # may exceed int64
        places = (y - y.min()).astype(np.int64) if beyond else y.astype(np.int64) - low
        present = np.bincount(places) > 0
        found = [low + k for k in np.flatnonzero(present).tolist()]
        return np.array(found, dtype=y.dtype), (np.cumsum(present) - 1).astype(np.int32)[places]
    try:
        classes = np.unique(y[:1000])  # sorting a long y takes longer than an epoch
        labels = Classes(classes).find(y)
        if labels.min(initial=0) < 0:
            classes, places = np.unique(y, return_inverse=True)
            labels = places.astype(np.int32)
    except TypeError:
        raise _mixed(y) from None
    return classes, labels


def check_labels(y: Labels) -> Labels:
    """`y` itself, if all its values can be class labels."""
    if y.dtype.kind == "f":
        if np.isnan(y).any():
            raise ValueError("Input y contains NaN: every row needs a label.")
        if not np.isfinite(y).all() or (y != np.trunc(y)).any():
            raise ValueError(
                "Unknown label type: continuous. A classifier needs class labels, "
                "but y holds fractions or infinity."
            )
    return y


def precedes(label: Any, other: Any) -> bool:
    """Whether a label is the first (−) of two classes although `other` appeared before it.

    Numbers and booleans are sorted; other labels stay in order of appearance.

    >>> precedes(-1, 1), precedes(False, True), precedes("a", "b")
    (True, True, False)
    """
    numbers = all(isinstance(one, Real | Decimal | np.bool_) for one in (label, other))
    return numbers and bool(label < other)


class Classes:
    """The classes of a model, in its order, and the mapping from labels to their indices."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self._order = np.argsort(labels)
        self._sorted = labels[self._order]
        self._index = {label: i for i, label in enumerate(labels.tolist())}

    def find(self, y: Given) -> Ints:
        """The index of each label, −1 for those that are not among the classes."""
        if isinstance(y, TextLabels):
            return np.array([self._index.get(text, -1) for text in y.texts], dtype=np.int32)[y.codes]
        if not self._share_a_type(y):
            return np.array([self._index.get(label, -1) for label in y.tolist()], dtype=np.int32)
        if len(self.labels) == 2 and y.dtype.kind == "f":  # the common case, in a third of the time
            second: npt.NDArray[np.bool_] = y == self.labels[1]
            if (second | (y == self.labels[0])).all():
                return second.astype(np.int32)
        places = np.minimum(np.searchsorted(self._sorted, y), len(self._sorted) - 1)
        return np.where(self._sorted[places] == y, self._order[places], -1).astype(np.int32)

    def _share_a_type(self, y: Labels) -> bool:
        """Whether NumPy compares these labels without rounding: integers beyond 2⁵³ need one type."""
        kinds = {y.dtype.kind, self.labels.dtype.kind}
        if len(kinds) == 1 or not kinds <= set("iuf"):
            return True
        numbers = (a for a in (y, self.labels) if a.dtype.kind in "iu" and a.itemsize == 8 and a.size)
        return all(int(a.min()) >= -(2**53) and int(a.max()) <= 2**53 for a in numbers)

    def meet(self, y: Labels, *, grow: bool) -> tuple[Classes, Ints]:
        """The classes with those of `y` added at the end, if that is allowed, and y's indices.

        A second class may always be added to a single one; it comes first if `precedes` says so.
        """
        if len(y) <= FEW:
            few = [self._index.get(label, -1) for label in y.tolist()]
            if -1 not in few:
                return self, np.array(few, dtype=np.int32)
        try:
            labels = self.find(y)
            if labels.min() >= 0:
                return self, labels
            new = np.unique(y[labels < 0])
        except TypeError:
            raise _mixed(np.concatenate([self.labels, y])) from None
        alone = len(self.labels) == 1
        if not grow and not (alone and len(new) == 1):
            shown = ", ".join(map(repr, new[:5].tolist()))
            known = ", ".join(map(repr, self.labels[:20].tolist()))
            raise ValueError(f"y has classes that were not declared: {shown}; known are {known}.")
        if (new.dtype.kind in "iufb") != (self.labels.dtype.kind in "iufb"):
            raise _mixed(np.concatenate([self.labels.astype(object), new.astype(object)]))
        if alone:
            second = y[int(np.argmax(labels < 0))]  # the first to appear
            new = np.concatenate([new[new == second], new[new != second]])
        joined = np.concatenate([self.labels, new])  # at the end: no class changes its index
        for label, held in zip([*self.labels.tolist(), *new.tolist()], joined.tolist(), strict=True):
            if label != held:
                raise ValueError(
                    f"the label {label!r} is an integer that no double holds, and the other labels have "
                    "another type: use integers of one type, or text."
                )
        if alone and precedes(*joined[1::-1].tolist()):
            joined[:2] = joined[1::-1].copy()
        grown = Classes(joined)
        return grown, grown.find(y)

    def turned(self, before: Classes) -> bool:
        """Whether the only previous class is now the second."""
        return len(before.labels) == 1 < len(self.labels) and bool(self.labels[0] != before.labels[0])

    def check_same(self, classes: Any) -> None:
        """Refuse a declaration that differs from the first."""
        if set(np.asarray(classes).tolist()) != set(self._index):
            raise ValueError(
                f"`classes={list(classes)}` is not the same as on last call to partial_fit, "
                f"was: {self.labels.tolist()}."
            )


def whole(labels: npt.NDArray[np.float64]) -> Labels:
    """Numbers as int64 when that is lossless."""
    if np.all(np.abs(labels) <= 2.0**53) and np.all(labels == np.trunc(labels)):
        return labels.astype(np.int64)
    return labels


def as_text(label: Any) -> str:
    """A label as text: 1 for 1.0."""
    if isinstance(label, str):
        return str(label)  # not NumPy's
    try:
        return str(int(label)) if label == int(label) else str(label)
    except TypeError:
        raise TypeError(f"the label {label!r} is neither a number nor text.") from None


def declared_number(label: Any) -> float:
    """The number that a declared label means, as in files; a ValueError if no double holds it.

    >>> declared_number("1"), declared_number(2)
    (1.0, 2.0)
    """
    number, exact = nearest_double(label)
    if not exact or not math.isfinite(number):
        raise ValueError(f"the label {label!r} is not a number that a double holds")
    return number


@dataclass(frozen=True)
class Renaming:
    """Labels under other names: some replaced, or one class against all others."""

    replace: dict[str, str] = field(default_factory=dict)
    positive: str | None = None
    met: set[str] = field(default_factory=set, compare=False, repr=False)  # labels before their renaming

    def __call__(self, labels: Given) -> Given:
        """The new labels: numbers if all of them still are numbers.

        >>> Renaming({"ham.": "ham"})(np.array(["ham.", "spam"])).tolist()
        ['ham', 'spam']
        >>> Renaming(positive="2")(np.array([1.0, 2.0, 3.0])).tolist()
        ['other', '2', 'other']
        """
        if not self.replace and self.positive is None:
            return labels
        if isinstance(labels, TextLabels):
            self.met.update(map(str, labels.texts))
            return TextLabels.coded(labels.codes, [self._new(text) for text in labels.texts])
        found, places = np.unique(labels, return_inverse=True)
        self.met.update(map(as_text, found.tolist()))
        new = [self._new(as_text(label)) for label in found.tolist()]
        if self.positive is None and labels.dtype.kind == "f":
            try:
                return np.array([declared_number(label) for label in new])[places]
            except ValueError:
                pass
        return TextLabels.coded(places, new)

    def _new(self, label: str) -> str:
        label = self.replace.get(label, label)
        return label if self.positive in (None, label) else OTHER


class LabelRuns:
    """How often each class occurs, and how often the class changes from one row to the next."""

    def __init__(self) -> None:
        self.counts = np.zeros(0, dtype=np.int64)
        self.changes = 0
        self.last = -1  # the class of the last row

    def add(self, places: Ints) -> None:
        """Count consecutive rows."""
        counts = np.bincount(places, minlength=len(self.counts))
        counts[: len(self.counts)] += self.counts
        self.counts = counts
        self.changes += int(np.count_nonzero(places[1:] != places[:-1]))
        if len(places):
            self.changes += self.last not in (-1, places[0])
            self.last = int(places[-1])

    def turn(self) -> None:
        """Make the only class so far the second of two."""
        self.counts = np.concatenate([[0], self.counts])
        self.last = 1

    @property
    def are_long(self) -> bool:
        """Whether the class changes less than half as often as in randomly ordered rows.

        >>> runs = LabelRuns()
        >>> runs.add(np.repeat([0, 1, 2], 100))
        >>> runs.are_long
        True
        """
        n = int(self.counts.sum())
        return n >= 100 and self.changes / n < 0.5 * (1 - float(np.sum((self.counts / n) ** 2)))


class UnseenClass(Exception):
    """A label that is not one of the classes found before."""


class StreamClasses:
    """The classes of a stream: declared, found before, or added in order of appearance.

    Declared and found classes keep their number; another label is an error if they were declared, and
    `UnseenClass` if they were found. Of added classes, the first two are numbered by `precedes`, and the
    others in order of appearance.
    """

    def __init__(
        self, declared: list[Any] | None = None, *, grow: bool = False, rename: Renaming | None = None
    ) -> None:
        self.rename = rename or Renaming()
        self.declared, self.grows = declared, grow
        self.classes: Classes | None = None
        self.begun = False  # whether they are those of a model, so that rows of one class are enough
        self.seen: LabelRuns | None = LabelRuns()  # None: not all rows were counted

    @classmethod
    def of_model(cls, labels: Labels, *, grow: bool = False, rename: Renaming | None = None) -> StreamClasses:
        """The classes of a model that learns further; `grow`: new ones may be added.

        >>> classes = StreamClasses.of_model(np.array([1, 2]))
        >>> classes.find(np.array([2.0]), str).tolist(), classes.labels.tolist()
        ([1], [1, 2])
        """
        classes = cls(None if grow else labels.tolist(), grow=grow, rename=rename)
        known = text_array(labels.tolist()) if is_text(labels) else labels.astype(np.float64)
        classes.classes, classes.begun = Classes(known), True
        return classes

    @property
    def n_classes(self) -> int:
        """The number of classes so far."""
        return 0 if self.classes is None else len(self.classes.labels)

    @property
    def labels(self) -> Labels:
        """The classes, as int64 when they are whole numbers."""
        assert self.classes is not None
        labels = self.classes.labels
        return whole(labels) if labels.dtype.kind == "f" else labels

    def find(self, labels: Given, where: Callable[[int], str]) -> Ints:
        """The class of each row. If classes grow, new ones come last, in order of appearance."""
        labels = self.rename(_as_codes(labels))
        if self.classes is None:
            self.classes = self._first(labels)
        known = self.classes
        self._check_kind(labels, where)
        places = known.find(labels)
        if len(places) and places.min() < 0:
            if self.declared is not None:
                row = int(np.argmax(places < 0))
                listed = ", ".join(as_text(c) for c in known.labels[:20].tolist())
                raise ValueError(
                    f"{where(row)}: the label {as_text(labels[row])!r} is not one of the classes {listed}."
                )
            if not self.grows:
                raise UnseenClass
            self.classes = self._grown(_behind(known.labels, _as_they_come(labels[places < 0])))
            if self.seen is not None and self.classes.turned(known):
                self.seen.turn()
            places = self.classes.find(labels)
        if self.seen is not None:
            self.seen.add(places)
        return places

    def check_two(self, name: str) -> None:
        """Refuse rows of one class only, unless a model has more."""
        if self.begun:
            return
        met = np.flatnonzero([1] if self.seen is None else self.seen.counts)
        if self.n_classes < 2 or (self.seen is not None and len(met) == 1):
            self._check_positive(name)
            only = as_text(self.labels[met[0]])
            renamed = "" if self.rename == Renaming() else " (as renamed)"
            raise ValueError(
                f"{name}: there must be at least two classes, but every row has the label {only!r}{renamed}."
            )

    def _check_positive(self, name: str) -> None:
        from novikoff.data.sources.columns import listed, nearest

        wanted, labels = (
            self.rename.positive,
            sorted({self.rename.replace.get(a, a) for a in self.rename.met}),
        )
        if wanted is not None and wanted not in labels:
            raise ValueError(
                f"{name}: positive={wanted!r} is not one of the labels{nearest(wanted, labels)}: "
                f"{listed(labels)}."
            )

    def _check_kind(self, labels: Given, where: Callable[[int], str]) -> None:
        assert self.classes is not None
        known = self.classes.labels
        if is_text(labels) != is_text(known):
            kinds = ("text", "a number") if is_text(labels) else ("a number", "text")
            raise ValueError(
                f"{where(0)}: the label {as_text(labels[0])!r} is {kinds[0]}, but the "
                f"classes are {kinds[1]}, such as {as_text(known[0])!r}."
            )

    def _first(self, labels: Given) -> Classes:
        if self.declared is None:
            found = _as_they_come(labels)
            return self._grown(found) if self.grows else Classes(np.sort(found))
        if not is_text(labels):
            try:
                declared = np.array([declared_number(label) for label in self.declared])
            except ValueError:
                names = ", ".join(map(str, self.declared))
                raise ValueError(
                    f"the declared classes are {names}, but the labels are numbers that doubles hold."
                ) from None
        else:
            declared = text_array([as_text(label) for label in self.declared])
        if len(np.unique(declared)) < max(len(declared), 2):
            raise ValueError("declare at least two different classes, each once.")
        return Classes(declared)

    def _grown(self, labels: Labels) -> Classes:
        """The classes of labels in order of appearance."""
        if (len(labels) > 1 and self.n_classes < 2) and precedes(*labels[1::-1].tolist()):
            labels[:2] = labels[1::-1]
        return Classes(labels)

    def add(self, labels: Given, where: Callable[[int], str]) -> None:
        """Add the classes of these labels, before any is learned."""
        labels = self.rename(_as_codes(labels))
        found = _as_they_come(labels)
        if self.classes is not None:
            self._check_kind(labels, where)
            found = found[self.classes.find(found) < 0]
            if not len(found):
                return
            found = _behind(self.classes.labels, found)
        self.classes = Classes(np.sort(found))


def counts_of(labels: Given) -> dict[Any, int]:
    """How often each label occurs.

    >>> counts_of(TextLabels.of(["b", "a", "b"])), counts_of(np.array([2.0, 1.0, 2.0]))
    ({'b': 2, 'a': 1}, {1.0: 1, 2.0: 2})
    """
    labels = _as_codes(labels)
    if isinstance(labels, TextLabels):
        return dict(zip(labels.texts, labels.counts().tolist(), strict=True))
    found, counts = np.unique(labels, return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


def _as_codes(labels: Given) -> Given:
    return TextLabels.of(labels) if not isinstance(labels, TextLabels) and is_text(labels) else labels


def _behind(labels: Labels, more: Labels) -> Labels:
    """Distinct labels, followed by more of the same kind."""
    if not is_text(labels):
        return np.concatenate([labels, more])
    return text_array([*labels.tolist(), *more.tolist()])


def _as_they_come(labels: Given) -> Labels:
    """The distinct labels, in order of appearance."""
    if isinstance(labels, TextLabels):
        return text_array(labels.texts)
    found, first = np.unique(labels, return_index=True)
    return found[np.argsort(first)]


def _mixed(labels: Labels) -> TypeError:
    kinds = sorted({type(label).__name__ for label in labels.tolist()})
    return TypeError(f"All labels must be of one kind, but y mixes {' and '.join(kinds)}.")
