"""The columns of a table: the kind of each, and how it becomes features.

- *Numbers* (integers, floats, decimals; true and false as 1 and 0): the feature "column".
- *Strings*, dictionaries, and numbers named as `categorical`: "column=value" of value 1. Blanks around the
  value are removed, and an empty one counts as null; a whole number is written without a point.
- *Strings named as `text`*: "column=word" with the word's count (`native/text/words.h` defines words).
- *Dates and timestamps*, in UTC: "column" in days since 1970-01-01; "column.month=3", "column.weekday=1"
  (Monday) and, for timestamps, "column.hour=17" of value 1.
- *Times of day*: "column" in days, and "column.hour=17" of value 1. *Durations*: "column" in seconds.
- *Null*: "column=null" of value 1, for any kind of column except text, where it gives no feature.

NaN and infinity are refused, and so are columns of lists, structs or maps. The number 0 is
equivalent to no number. The features "column" of all columns come first, in the order of the table; the rest
are numbered as they first appear, row by row and from left to right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.data.sources.features import Features, NamedFeatures, State

NUMERIC = ("number", "date", "timestamp", "time", "duration")  # kinds with a feature named after the column
FEATURES = (*NUMERIC, "category", "text")
KINDS = (*FEATURES, "label", "weight", "ignored")
USUAL_LABELS = ("label", "class", "target", "y")


class Column(NamedTuple):
    """One column of the table that a model was trained on."""

    name: str
    kind: str  # one of KINDS
    type: str  # in Arrow's notation


class TableFeatures(Features):
    """A table's columns as features: the recipe, and the feature names.

    Parameters
    ----------
    columns : list of Column
        All columns of the table, including those that are not features.
    has_names : bool
        Whether the table itself names its columns; otherwise their names are "1", "2", ...
    ngrams : int
        The most consecutive words in one feature of a text column.
    vocabulary : NamedFeatures
        The mapping from names to columns.
    of_lines : bool, default False
        Whether the model was learned from lines with names, in which a missing value is no feature.
    """

    kind = "table"

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        has_names: bool,
        ngrams: int,
        vocabulary: NamedFeatures,
        of_lines: bool = False,
    ) -> None:
        self._nulls = {f"{column.name}=null" for column in columns} if of_lines else set()
        self.columns, self.has_names, self.ngrams = list(columns), has_names, ngrams
        self.vocabulary = vocabulary
        # the column of each feature that is named after a table column, by that column's number
        numeric = [k for k, column in enumerate(self.columns) if column.kind in NUMERIC]
        places = self.place([self.columns[k].name for k in numeric])
        self.numeric = dict(zip(numeric, places.tolist(), strict=True))
        comes_first = vocabulary.hash_bits is None and places.tolist() == list(range(len(numeric)))
        self.n_numbers = len(numeric) if comes_first else 0
        self.is_plain = comes_first and all(  # nothing but numbers, each in its own column: rows can be dense
            c.kind == "number" for c in self.columns if c.kind in FEATURES
        )

    @property
    def n_columns(self) -> int:
        return self.vocabulary.n_columns

    @property
    def hashed(self) -> bool:  # type: ignore[override]
        return self.vocabulary.hashed

    @property
    def fixed(self) -> bool:
        """Whether new names are refused a column."""
        return self.vocabulary.fixed

    @fixed.setter
    def fixed(self, value: bool) -> None:
        self.vocabulary.fixed = value

    @property
    def grows(self) -> bool:
        return self.vocabulary.grows

    def place(self, names: list[str]) -> npt.NDArray[np.int64]:
        """The column of each name, −1 where it has none."""
        places = self.vocabulary.place(names)
        if self._nulls:
            places[[name in self._nulls for name in names]] = -1
        return places

    def names(self, columns: Iterable[int]) -> list[str]:
        return self.vocabulary.names(columns)

    def state(self) -> State:
        facts, arrays = self.vocabulary.state()
        recipe = {
            "columns": [list(column) for column in self.columns],
            "has_names": self.has_names,
            "ngrams": self.ngrams,
        }
        return {"table": recipe, "vocabulary": facts}, arrays

    @classmethod
    def from_state(cls, facts: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> TableFeatures:
        recipe = facts["table"]
        for column in recipe["columns"]:
            if (
                len(column) != 3
                or not all(isinstance(text, str) for text in column)
                or column[1] not in KINDS
            ):
                raise ValueError(
                    f"a column of the table is declared as {column!r}: expected a name, kind and type."
                )
        features = cls(
            [Column(*column) for column in recipe["columns"]],
            has_names=bool(recipe["has_names"]),
            ngrams=int(recipe["ngrams"]),
            vocabulary=NamedFeatures.from_state(facts["vocabulary"], arrays),
        )
        if min(features.numeric.values(), default=0) < 0:
            raise ValueError("a column of the table is missing from the names.")
        return features

    def with_id(self, names: list[str], wanted: str | int) -> TableFeatures:
        """These features with a column of ids, which is found among `names`."""
        (at,) = find_columns(names, wanted, "id")
        columns = [*self.columns, Column(names[at], "id", "string")]
        return TableFeatures(
            columns,
            has_names=self.has_names,
            ngrams=self.ngrams,
            vocabulary=self.vocabulary,
            of_lines=bool(self._nulls),
        )

    def match(self, names: list[str], has_names: bool, *, label_optional: bool) -> dict[int, int]:
        """Match a table's columns with another table's: the number there, by the number here.

        By name if both tables have names, otherwise by position; ignored columns may be missing.

        Parameters
        ----------
        names : list of str
            The other table's columns.
        has_names : bool
            Whether they are names from the table, and not just numbers.
        label_optional : bool
            Whether labels and weights may be missing.

        Raises
        ------
        ValueError
            When a column is missing; the message does not name the file.
        """
        spare = ("label", "weight") if label_optional else ()
        if has_names and self.has_names:
            there = {name: k for k, name in enumerate(names)}
            needed = [(k, c) for k, c in enumerate(self.columns) if c.kind != "ignored"]
            missing = [c.name for _, c in needed if c.name not in there and c.kind not in spare]
            if missing:
                raise ValueError(
                    f"{'the column' if len(missing) == 1 else 'the columns'} {listed(missing)} "
                    f"{'is' if len(missing) == 1 else 'are'} missing; there are {listed(names)}"
                )
            return {k: there[c.name] for k, c in needed if c.name in there}
        ids = {k: int(c.name) - 1 for k, c in enumerate(self.columns) if c.kind == "id"}
        here = [k for k in range(len(self.columns)) if k not in ids]
        without = [k for k in here if self.columns[k].kind not in spare]
        for some in (here, [k for k in here if self.columns[k].kind != "label"] if spare else here, without):
            if len(some) == len(names):
                return {k: j for j, k in enumerate(some) if self.columns[k].kind != "ignored"} | ids
        lost = ", none of which has one of the model's names" if self.has_names else ""
        raise ValueError(f"expected {len(here)} columns, but there are {len(names)}{lost}")


def listed(names: Sequence[str], most: int = 30) -> str:
    """Names for a message: quoted, and at most `most` of them."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def find_columns(names: list[str], wanted: Any, option: str) -> list[int]:
    """The numbers (from 0) of the columns that an option names: by name, or by number from 1."""
    several = [wanted] if isinstance(wanted, str | int | np.integer) else list(wanted or ())
    return [_find(names, each, option) for each in several]


def _find(names: list[str], wanted: Any, option: str) -> int:
    if isinstance(wanted, str) and wanted in names:
        return names.index(wanted)
    number = int(wanted) if isinstance(wanted, str) and wanted.isdecimal() else wanted
    if isinstance(number, int | np.integer) and not isinstance(number, bool) and 1 <= number <= len(names):
        return int(number) - 1
    raise ValueError(
        f"{option}={wanted!r} is not one of the {len(names)} columns{nearest(str(wanted), names)}: "
        f"{listed(names)}"
    )


def nearest(wanted: str, names: Sequence[str]) -> str:
    """A question that suggests the most similar name, if there is one.

    >>> nearest("Clas", ["age", "class"]), nearest("x", ["age", "class"])
    (" (did you mean 'class'?)", '')
    """
    lower = {name.lower(): name for name in names}
    found = get_close_matches(wanted.lower(), lower, 1)
    return f" (did you mean {lower[found[0]]!r}?)" if found else ""


def _by_schema(names: list[str], kinds: list[tuple[str, str]], schema: Mapping[str, str]) -> dict[int, str]:
    """The columns that a schema names, by number, with their kinds."""
    found = {}
    for name, kind in schema.items():
        if name not in names:
            raise ValueError(
                f"the schema names the column {name!r}, which does not exist{nearest(name, names)}; "
                f"there are {listed(names)}"
            )
        k = names.index(name)
        if kind not in KINDS:
            raise ValueError(f"the schema has {name!r} as {kind!r}; expected one of {', '.join(KINDS)}")
        if kind in NUMERIC and kind not in ("number", kinds[k][0]):
            raise ValueError(
                f"the schema has {name!r} as a {kind}, but its first cells are of type {kinds[k][1]}"
            )
        found[k] = kind
    return found


def usual_label(names: list[str], has_names: bool) -> int:
    """The default label column: one with a usual name, or the last if columns have no names."""
    if not has_names:
        return len(names) - 1
    lower = [name.lower() for name in names]
    for usual in USUAL_LABELS:
        if usual in lower:
            return lower.index(usual)
    if len(names) == 1 and (found := [mark for mark in (",", ";", "\t", "|") if mark in names[0]]):
        raise ValueError(
            f"the table has one column only, {names[0]!r}, whose name has {found[0]!r} in it: set `delimiter`"
        )
    raise ValueError(
        f"no column is named {', '.join(USUAL_LABELS[:-1])} or {USUAL_LABELS[-1]}: "
        f"name the label column with `label`; there are {listed(names)}"
    )


def recipe(
    names: list[str],
    kinds: list[tuple[str, str]],
    has_names: bool,
    *,
    label: Any = None,
    weight: Any = None,
    ignore: Any = (),
    categorical: Any = (),
    text: Any = (),
    schema: Mapping[str, str] | None = None,
    label_optional: bool = False,
) -> list[Column]:
    """The kind of every column of a table.

    Parameters
    ----------
    names : list of str
    kinds : list of (kind, type)
        For each column, as inferred from the table; the kind is "" if the type cannot be a feature.
    has_names : bool
        Whether the names are from the table.
    label, weight, ignore, categorical, text
        Columns by name, or by number from 1.
    schema : mapping of str to str, optional
        The kinds of columns by name.
    label_optional : bool
        Whether the label may be missing.
    """
    repeated = (
        sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    )
    if repeated:
        raise ValueError(f"{listed(repeated)} is the name of more than one column; every name must be unique")
    given: dict[int, str] = {}
    options = {"ignored": ignore, "category": categorical, "text": text, "weight": weight}
    for kind, wanted in options.items():
        option = {"ignored": "ignore", "category": "categorical"}.get(kind, kind)
        for k in find_columns(names, wanted, option):
            if given.setdefault(k, kind) != kind:
                raise ValueError(f"the column {names[k]!r} cannot be both {given[k]} and {kind}")
    labels = [] if label is None else find_columns(names, label, "label")
    for k, kind in _by_schema(names, kinds, schema or {}).items():
        if kind == "label":
            labels.append(k)
        elif kind in ("ignored", "category", "text", "weight") and given.setdefault(k, kind) != kind:
            raise ValueError(f"the column {names[k]!r} cannot be both {given[k]} and {kind}")
        elif kind == "number":
            kinds = [*kinds[:k], (kind, kinds[k][1] if kinds[k][0] == kind else "double"), *kinds[k + 1 :]]
    if len(set(labels)) > 1:
        raise ValueError(f"there can be one label column, not {listed([names[k] for k in labels])}")
    if labels:
        at = labels[0]
    else:
        try:
            at = usual_label(names, has_names)
        except ValueError:
            if not label_optional:
                raise
            at = -1
    if given.get(at) is not None:
        raise ValueError(f"the column {names[at]!r} holds the labels, and cannot be {given[at]} too")
    given[at] = "label"
    out = []
    for k, (name, (kind, type_)) in enumerate(zip(names, kinds, strict=True)):
        kind = given.get(k, kind)
        if not kind:
            raise ValueError(
                f"the column {name!r} is of type {type_}, which cannot be a feature: "
                "ignore it, or flatten it first"
            )
        out.append(Column(name, kind, type_))
    if not any(column.kind in FEATURES for column in out):
        raise ValueError(
            "there is no feature column"
            + (
                f": the table has one column only, {names[0]!r}; check the format and the delimiter"
                if len(names) == 1
                else ", as all are ignored or hold labels or weights"
            )
        )
    return out


def columns_of(features: NamedFeatures, names: list[str], kinds: list[tuple[str, str]]) -> list[Column]:
    """The columns of a table as features of a model that was learned from lines with names.

    A column c of numbers is the feature c, and any other value v the feature c=v; so is a number if the model
    knows c only with values. A column that is missing is an error, unless names are hashed.
    """
    known = set() if features.hashed else set(features.kept_names())
    prefixes = {name[:k] for name in known for k, mark in enumerate(name) if mark == "="}
    there = set(names)
    missing: dict[str, None] = {}
    for name in known:
        if name not in there and not any(name[:k] in there for k, mark in enumerate(name) if mark == "="):
            missing[name.partition("=")[0]] = None
    if missing:
        shown = sorted(missing)
        raise ValueError(
            f"{'the column' if len(shown) == 1 else 'the columns'} {listed(shown)} "
            f"{'is' if len(shown) == 1 else 'are'} missing; there are {listed(names)}"
        )
    columns = []
    for name, (kind, type_) in zip(names, kinds, strict=True):
        if not features.hashed and name not in known and name not in prefixes:
            kind = "ignored"
        elif kind != "number" or (name not in known and name in prefixes):
            kind = "category"
        columns.append(Column(name, kind, type_))
    return columns
