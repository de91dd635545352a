"""The hand trace of a run: a line for each visit, as it is written on a board.

A `Steps` object is a sequence of the visits that shows itself as a table, in text and in notebooks, and whose
`rows` and `to_csv` give the same as data. `theory.trace(...).steps()` makes one, and so does
`theory.kernel_trace(...).steps()`, in terms of α.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from os import PathLike
from typing import Any, overload

import numpy as np

from novikoff.outfile import replacing
from novikoff.shown import Shown
from novikoff.theory.visits import Visits
from novikoff.training.weights import Floats

SHOWN = 40  # visits that are listed in text, unless a number is given
COORDINATES = 6  # of a vector that are shown in text
RIGHT = ("visit", "epoch", "example", "y", "w·x", "w·x + b", "score", "b after")  # columns of numbers
VALUES = 1 << 27  # numbers in the weights of all visits: 1 GiB


@dataclass(frozen=True, eq=False)
class Step:
    """One visit."""

    visit: int  # from 1
    epoch: int  # from 1
    example: int  # the row, from 0
    x: Any  # its values; of a kernel, which may take any objects, the row as it was given
    y: Any  # its label
    score: Any  # before the update; with three classes or more one per class
    predicted: Any  # the label that the score predicts
    mistake: bool
    update: bool
    w: Floats | None = None  # after the visit; with three classes or more a line per class
    b: Any = None  # the bias after the visit; None: there is none
    alpha: dict[int, Any] | None = None  # of a kernel: α of each row that has one, after the visit

    @property
    def outcome(self) -> str:
        """'mistake', 'update' (of a rule that also updates without a mistake), or nothing."""
        return "mistake" if self.mistake else "update" if self.update else ""

    def to_dict(self) -> dict[str, Any]:
        """The visit as JSON values."""
        found: dict[str, Any] = {"visit": self.visit, "epoch": self.epoch, "example": self.example}
        found |= {"x": _plain(self.x), "y": _plain(self.y), "score": _plain(self.score)}
        found |= {"predicted": _plain(self.predicted), "mistake": self.mistake, "update": self.update}
        if self.alpha is not None:
            return found | {"alpha": {str(row): _plain(value) for row, value in self.alpha.items()}}
        found["w"] = _plain(self.w)
        return found if self.b is None else found | {"b": _plain(self.b)}


class Steps(Shown, Sequence[Step]):
    """Visits in their order; indexed and iterated like a list.

    Parameters
    ----------
    all : the visits
    names : the names of the columns, if they have any
    n_visits : the visits of the whole run, of which `all` may be the first

    Examples
    --------
    >>> from novikoff.theory import trace
    >>> steps = trace([[1.0, 0], [0, 1]], [1, -1], [1.0, -1.0], fit_intercept=False).steps(2)
    >>> len(steps), steps[1].w.tolist(), steps.mistakes
    (2, [0.0, -1.0], 1)
    >>> print(steps.to_csv(), end="")
    visit,epoch,example,x1,x2,y,score,predicted,mistake,update,w1,w2
    1,1,0,1.0,0.0,1,0.0,1,False,False,0.0,0.0
    2,1,1,0.0,1.0,-1,0.0,1,True,True,0.0,-1.0
    """

    def __init__(self, all: Iterable[Step], names: list[str] | None = None, n_visits: int | None = None):
        self._all = list(all)
        self.names = names
        self.n_visits = len(self._all) if n_visits is None else n_visits

    @overload
    def __getitem__(self, at: int) -> Step: ...
    @overload
    def __getitem__(self, at: slice) -> Steps: ...
    def __getitem__(self, at: int | slice) -> Step | Steps:
        if isinstance(at, slice):
            return Steps(self._all[at], self.names, self.n_visits)
        return self._all[at]

    def __len__(self) -> int:
        return len(self._all)

    @property
    def mistakes(self) -> int:
        """The mistakes among these visits."""
        return sum(step.mistake for step in self._all)

    @property
    def mistakes_by_class(self) -> dict[Any, int]:
        """Those on rows of each class; classes without a mistake are left out."""
        found = Counter(_plain(step.y) for step in self._all if step.mistake)
        return {label: found[label] for label in sorted(found, key=lambda label: (str(type(label)), label))}

    # -- as data
    def rows(self) -> list[dict[str, Any]]:
        """One dict of JSON values per visit, as `pandas.DataFrame` and `json.dumps` take them."""
        return [step.to_dict() for step in self._all]

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """A line per visit with a column per coordinate; also written to a file, if `path` is given."""
        out = io.StringIO()
        lines = [self._flat(row) for row in self.rows()]
        writer = csv.DictWriter(out, list(lines[0]) if lines else [], lineterminator="\n")
        if lines:
            writer.writeheader()
        writer.writerows(lines)
        if path is not None:
            with replacing(path) as file:
                file.write(out.getvalue().encode())
        return out.getvalue()

    def _flat(self, row: dict[str, Any]) -> dict[str, Any]:
        """A column for each coordinate, named after the columns of the data: x1 or x_age."""
        flat: dict[str, Any] = {}
        for key, value in row.items():
            if key == "alpha":
                flat[key] = " ".join(f"{at}:{_alpha(a)}" for at, a in value.items())
            elif key in ("x", "w", "score", "b") and isinstance(value, list):
                flat |= self._spread(key, value)
            else:
                flat[key] = value
        return flat

    def _spread(self, key: str, value: list[Any]) -> dict[str, Any]:
        if value and isinstance(value[0], list):  # a line per class
            parts = (self._spread(f"{key}{c + 1}_", line) for c, line in enumerate(value))
            return {name: item for part in parts for name, item in part.items()}
        by_name = self.names is not None and len(self.names) == len(value) and key not in ("score", "b")
        ends = [f"_{name}" for name in self.names or ()] if by_name else map(str, range(1, len(value) + 1))
        return {f"{key}{end}".replace("__", "_"): item for end, item in zip(ends, value, strict=True)}

    # -- as text
    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, limit: int | None = None) -> str:
        """A table of the first visits: 40, or `limit` of them."""
        limit = SHOWN if limit is None else limit
        head, lines = self._cells(limit)
        wide = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
        text = [self._title()]
        if self.names is not None and len(self.names) <= COORDINATES + 2:
            text.append(f"  x = ({', '.join(self.names)})")
        for line in (head, *lines):
            cells = [
                f"{cell:>{w}}" if name in RIGHT else f"{cell:<{w}}"
                for name, cell, w in zip(head, line, wide, strict=True)
            ]
            text.append(("  " + "  ".join(cells)).rstrip())
        if len(self) > limit:
            text.append(f"  and {len(self) - limit:,} more visits: to_text(limit) and to_csv() have them")
        return "\n".join(text)

    def _repr_html_(self) -> str:
        head, lines = self._cells(SHOWN)
        first = "".join(f"<th>{escape(name)}</th>" for name in head)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in lines)
        more = f"<p>and {len(self) - SHOWN:,} more visits</p>" if len(self) > SHOWN else ""
        table = f"<table><thead><tr>{first}</tr></thead><tbody>{body}</tbody></table>"
        return f"<div><b>{escape(self._title())}</b>{table}{more}</div>"

    def _title(self) -> str:
        part = (
            f"{len(self):,} visits"
            if len(self) == self.n_visits
            else (f"the first {len(self):,} of {self.n_visits:,} visits")
        )
        each = ", ".join(f"{count:,} on {label}" for label, count in self.mistakes_by_class.items())
        count = self.mistakes
        return f"{part}: {count:,} mistake{'' if count == 1 else 's'}{f' ({each})' if each else ''}"

    def _cells(self, limit: int) -> tuple[list[str], list[list[str]]]:
        """The heads of the columns, and the cells of the first visits."""
        shown = self._all[:limit]
        has_epochs = any(step.epoch > 1 for step in shown)
        has_bias = any(step.b is not None for step in shown)
        of_kernel = any(step.alpha is not None for step in shown)
        head = ["visit", *["epoch"] * has_epochs, "example", "x", "y"]
        head += ["score" if of_kernel else "w·x + b" if has_bias else "w·x", "outcome"]
        head += ["α after"] if of_kernel else ["w after", *["b after"] * has_bias]
        lines = []
        for step in shown:
            line = [str(step.visit), *[str(step.epoch)] * has_epochs, str(step.example)]
            line += [vector_text(step.x), str(step.y), vector_text(step.score), step.outcome]
            if step.alpha is not None:
                line.append(", ".join(f"α[{at}] = {_alpha(a)}" for at, a in step.alpha.items()) or "0")
            else:
                line += [vector_text(step.w), *[vector_text(step.b)] * has_bias]
            lines.append(line)
        return head, lines


def vector_text(value: Any) -> str:
    """A number, a vector (only its first coordinates if it is long), or a vector per class.

    >>> vector_text([1.0, -2.5]), vector_text(0.1 + 0.2), vector_text([[1.0, 0], [0, 2]])
    ('(1, -2.5)', '0.3', '(1, 0) (0, 2)')
    """
    if isinstance(value, str):
        return value if len(value) <= 40 else value[:39] + "…"
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, list | tuple):
        if value and isinstance(value[0], list | tuple):
            return " ".join(map(vector_text, value))
        more = [f"… {len(value):,} in all"] if len(value) > COORDINATES + 2 else []
        return f"({', '.join([*map(vector_text, value[: COORDINATES if more else None]), *more])})"
    if isinstance(value, int | float):
        return f"{value:.6g}" if value else "0"
    return vector_text(str(value))


def _alpha(value: Any) -> str:
    return vector_text(value).replace(", ", "/")


def _plain(value: Any) -> Any:
    value = value.tolist() if hasattr(value, "tolist") else value
    return value if isinstance(value, str | int | float | bool | list | None) else str(value)


def column_names(X: Any) -> list[str] | None:
    """The names of a frame's columns; None: they have none.

    >>> column_names([[1.0, 2.0]]) is None
    True
    """
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def steps_of(run: Visits, names: list[str] | None = None, limit: int | None = None) -> Steps:
    """The first visits of a run, made once more: the updates and weights are the same bits."""
    p = run.problem
    rows, epochs = run.rows(), run.epochs()
    count = len(rows) if limit is None else min(limit, len(rows))
    if count * p.dimension > VALUES:
        raise ValueError(
            f"the weights of {count:,} visits are {count * p.dimension:,} numbers, too many to list: "
            f"set the limit to {max(VALUES // p.dimension, 1):,} visits or fewer."
        )
    again, labels = run.again(rows), p.classes.tolist()
    w, b = _after(again.w, p)
    found = []
    for t, row in enumerate(rows[:count].tolist()):
        scores, predicted = again.look(row)
        mistake, update = again.visit()
        if update:
            w, b = _after(again.w, p)
        x = p.X[row : row + 1]
        x = np.asarray(x.toarray() if hasattr(x, "toarray") else x, dtype=np.float64)[0]
        score = scores if p.is_joint else float(scores[0])
        own, taken = labels[p.labels[row]], labels[predicted]
        found.append(Step(t + 1, int(epochs[t]), row, x, own, score, taken, mistake, update, w, b))
    return Steps(found, names, len(rows))


def _after(w: Floats, p: Any) -> tuple[Floats, Any]:
    """The weights and the bias of a vector of the lifted space."""
    coef, intercept = p.coefficients(w)
    if not p.is_joint:
        return coef[0], float(intercept[0]) if p.bias else None
    return coef, intercept if p.bias else None
