"""What speaks for a prediction, and for a class: results that show themselves in text and in HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import Any, NamedTuple

SHOWN = 10  # lines of a table; the object has all


class Contribution(NamedTuple):
    """What one feature adds to a score."""

    feature: str
    value: float
    weight: float
    contribution: float  # weight · value, rounded


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """A score as a sum over features.

    Parameters
    ----------
    label
        The predicted class or output.
    of
        The class or output whose score this is; by default the predicted one.
    score : float
        Its score: the sum of all products weight · value and of the bias, computed exactly and rounded once.
    bias : float
    contributions : list of (feature, value, weight, contribution)
        The largest first, by size. A value is that to which the weight applies, so after the model's scaling;
        contributions of 0 are left out. Each is rounded on its own: their sum with the bias is `score` up to
        half a unit in the last place of each of them.
    scores : dict
        The score of every class, as exact as `score`.

    Examples
    --------
    >>> import novikoff
    >>> model = novikoff.OnlinePerceptron()
    >>> model.learn_many([({"free": 2, "now": 1}, "spam"), ({"lunch": 1, "now": 1}, "ham")] * 2)
    >>> print(model.explain({"free": 1, "lunch": 3, "tea": 3}))
    'ham': score 1
      contribution       value      weight  feature
                +3           3           1  lunch
                -2           1          -2  free
    """

    label: Any
    of: Any
    score: float
    bias: float
    contributions: list[Contribution]
    scores: dict[Any, float] = field(default_factory=dict)

    @classmethod
    def of_terms(
        cls, label: Any, of: Any, bias: float, terms: Iterable[tuple[str, float, float]], **rest: Any
    ) -> Explanation:
        """The explanation of Σ value·weight + bias, from (feature, value, weight)."""
        terms = list(terms)
        parts = [Contribution(name, x, w, x * w) for name, x, w in terms if x * w]
        parts.sort(key=lambda part: -abs(part.contribution))
        return cls(label, of, exact_sum(((x, w) for _, x, w in terms), bias), bias, parts, **rest)

    def __repr__(self) -> str:
        more = "" if self.of == self.label else f" (predicted: {self.label!r})"
        lines = [f"{self.of!r}{more}: score {self.score:.6g}"]
        lines.append(f"  {'contribution':>12}  {'value':>10}  {'weight':>10}  feature")
        for name, x, w, product in self.contributions[:SHOWN]:
            lines.append(f"  {product:>+12.6g}  {x:>10.6g}  {w:>10.6g}  {name}")
        left = self.contributions[SHOWN:]
        if left:
            rest = sum(part.contribution for part in left)
            lines.append(f"  {rest:>+12.6g}  {'':>10}  {'':>10}  {len(left):,} more features")
        if self.bias:
            lines.append(f"  {self.bias:>+12.6g}  {'':>10}  {'':>10}  (bias)")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            [f"{part.contribution:+.6g}", f"{part.value:.6g}", f"{part.weight:.6g}", part.feature]
            for part in self.contributions[:SHOWN]
        ]
        left = self.contributions[SHOWN:]
        if left:
            rest = sum(part.contribution for part in left)
            rows.append([f"{rest:+.6g}", "", "", f"{len(left):,} more features"])
        if self.bias:
            rows.append([f"{self.bias:+.6g}", "", "", "(bias)"])
        head = f"<b>{escape(str(self.of))}</b>: score {self.score:.6g}"
        return f"<div>{head}</div>" + _table(["contribution", "value", "weight", "feature"], rows)


class TopFeatures(dict[Any, list[tuple[str, float]]]):
    """For each class, its features with the largest weights, and these weights, largest first.

    >>> TopFeatures({"spam": [("free", 2.0), ("now", 0.5)], "ham": []})
    'spam'
               2  free
             0.5  now
    'ham'
      no feature
    """

    def __repr__(self) -> str:
        lines = []
        for label, found in self.items():
            lines += [repr(label)] + [f"  {weight:>10.6g}  {feature}" for feature, weight in found]
            lines += [] if found else ["  no feature"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = []
        for label, found in self.items():
            rows = [[f"{weight:.6g}", feature] for feature, weight in found]
            parts.append(f"<div><b>{escape(str(label))}</b></div>" + _table(["weight", "feature"], rows))
        return "".join(parts)


def _table(head: list[str], rows: list[list[str]]) -> str:
    def line(tag: str, cells: list[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<table><thead>{line('th', head)}</thead><tbody>{body}</tbody></table>"


def exact_sum(products: Iterable[tuple[float, float]], bias: float = 0.0) -> float:
    """Σ a·b + bias, exactly and then rounded once.

    >>> exact_sum([(1e16, 1.0), (1.0, 1.0), (-1e16, 1.0)])
    1.0
    """
    total = Fraction(bias) + sum((Fraction(a) * Fraction(b) for a, b in products), Fraction(0))
    try:
        return float(total)
    except OverflowError:
        return float("inf") if total > 0 else float("-inf")


def check_number(k: Any) -> int:
    """The number of features to show, checked."""
    if isinstance(k, bool) or not hasattr(k, "__index__"):
        raise TypeError(f"k={k!r} is no number of features; for one class: top_features(label={k!r}).")
    if int(k) < 0:
        raise ValueError(f"k={k} is not possible: expected a whole number ≥ 0.")
    return int(k)
