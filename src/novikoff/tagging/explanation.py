"""Why a sentence got its labels: a list that shows itself in text and in HTML."""

from __future__ import annotations

from typing import Any

from novikoff.shown import as_html, table_text

SHOWN = 5  # terms of a token; the list has all


class TagExplanation(list[tuple[Any, list[tuple[str, float]]]]):
    """For each token its label, and the terms of its score, largest first: (name, value).

    >>> print(TagExplanation([("NOUN", [("w=dog", 2.0), ("after DET", 1.5)]), ("VERB", [])]))
    score 3.5
      NOUN       +3.5: +2 w=dog, +1.5 after DET
      VERB       +0
    """

    def __str__(self) -> str:
        totals = [sum(value for _, value in terms) for _, terms in self]
        rows = []
        for (label, terms), total in zip(self, totals, strict=True):
            shown = [f"{value:+.4g} {name}" for name, value in terms[:SHOWN]]
            if left := terms[SHOWN:]:
                shown.append(f"{sum(value for _, value in left):+.4g} by {len(left):,} more")
            rows.append((str(label), f"{total:+.4g}{': ' * bool(shown)}{', '.join(shown)}"))
        return table_text(f"score {sum(totals):.6g}", rows)

    def _repr_html_(self) -> str:
        return as_html(str(self))
