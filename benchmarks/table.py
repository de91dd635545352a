"""Rows of the results, and their formatting as a table that is readable both as text and as Markdown."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

HEADER = ("work", "novikoff", "compared with", "takes", "ratio", "target", "reached")


@dataclass(frozen=True)
class Row:
    """A piece of work, the costs of novikoff and of a peer, and the target."""

    work: str
    novikoff: str
    peer: str = ""
    takes: str = ""
    ratio: str = ""
    target: str = ""
    reached: bool | None = None  # None: there is no target

    def cells(self) -> tuple[str, ...]:
        reached = {True: "yes", False: "no", None: ""}[self.reached]
        return self.work, self.novikoff, self.peer, self.takes, self.ratio, self.target, reached


def skipped(work: str, reason: str) -> Row:
    return Row(work, f"skipped: {reason}")


def faster(
    work: str, novikoff: float, peer: str, takes: float, *, at_least: float = 0.0, aim: float = 0.0
) -> Row:
    """How many times faster novikoff is; `at_least` is required, `aim` is optional, 0 means no target."""
    ratio = takes / novikoff
    target = (f"≥ {at_least:g}×" if at_least else "") + (f", aim {aim:g}×" if aim else "")
    reached = ratio >= at_least if at_least else None
    return Row(work, span(novikoff), peer, span(takes), f"{ratio:.2f}×", target, reached)


def share(work: str, novikoff: float, peer: str, takes: float, *, at_least: float) -> Row:
    """The fraction of the peer's speed that novikoff reaches."""
    part = takes / novikoff
    return Row(work, span(novikoff), peer, span(takes), f"{part:.2f}", f"≥ {at_least:g}", part >= at_least)


def span(seconds: float) -> str:
    """A time with three digits in a suitable unit."""
    unit, size = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e-3)) if seconds >= s), ("µs", 1e-6))
    return f"{seconds / size:.3g} {unit}"


def aligned(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table with aligned columns."""
    lines = [HEADER, *(row.cells() for row in rows)]
    widths = [max(_width(line[k]) for line in lines) for k in range(len(HEADER))]
    texts = [" | ".join(_padded(c, w) for c, w in zip(line, widths, strict=True)) for line in lines]
    texts.insert(1, " | ".join("-" * w for w in widths))
    return "\n".join(f"| {text} |" for text in texts)


def _width(text: str) -> int:
    return sum(not unicodedata.combining(c) for c in text)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))
