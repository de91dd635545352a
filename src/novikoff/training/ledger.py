"""The record of what the counts of a model count, and so of the theorems that apply to them.

The bounds on mistakes are about a run: from w = 0, on certain rows, with a number of visits to each. A
`Ledger` is stored with the weights and records the run; `missing` names a hypothesis that it does not meet.

Rows are identified by a digest (`native/rows/digest.h`; its twin is `reference/digest.py`) of their values,
labels and weights. It is a sum over rows, so it does not depend on their storage, order, or division into
blocks, chunks and shards; neither does any theorem here. The digest of e passes is e times the digest of one
pass, so any number of passes, by `fit`, `partial_fit` or both, is recognised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from novikoff import _core
from novikoff.parameters.linear import VARIANCE_RULES

MODULUS = 1 << 64
INDEPENDENT = (
    "cyclic",
    "shuffle",
    "riffle",
)  # of the rows: every one is visited once

NO_THEOREM = "no theorem is known that covers this rule with a variance for each weight"
STARTED_ELSEWHERE = "the run started from given weights, and the theorem needs w = 0"
UNKNOWN_ROWS = "the training rows of the model are unknown"
OTHER_ROWS = "the model was also trained on other rows"
WEIGHTED = "rows had weights, which the theorems of the passive-aggressive rules do not cover"
UNKNOWN_WEIGHTS = "it is unknown whether rows had weights"
GREW = "a third class came after updates of two, which the theorem of this rule does not cover"


@dataclass(frozen=True, slots=True)
class Seen:
    """Rows with their labels and weights, counted with repetitions, identified by their digest.

    >>> Seen(5, 2) + Seen(7, 1) == Seen(4, 1) * 3
    True
    """

    digest: int = 0
    count: int = 0

    @classmethod
    def of(cls, native: _core.Digest) -> Seen:
        """What was added to a native digest."""
        return cls(native.value, native.count)

    def __add__(self, other: Seen) -> Seen:
        return Seen((self.digest + other.digest) % MODULUS, self.count + other.count)

    def __mul__(self, times: int) -> Seen:
        return Seen(self.digest * times % MODULUS, self.count * times)


class Call(NamedTuple):
    """What one call learned from, and how."""

    rows: Seen | None  # once each; None: unknown
    copies: int  # the most updates on any row
    order: str
    heaviest: float = 1.0  # the largest weight of a row
    weighted: bool = False  # whether some weight is not 1
    held_out: Seen = Seen()  # for early stopping
    first_mistakes: int | None = None  # in its first epoch, if that is one pass of one learner
    dropped: float = 0.0  # counted updates that are not in the weights: those were restored, or mixed


class Ledger(NamedTuple):
    """The record of a model's run over all calls.

    Examples
    --------
    Two passes over the same rows, and one over others:

    >>> rows = Seen(3, 10)
    >>> ledger = Ledger().after(Call(rows, 1, "cyclic")).after(Call(rows, 1, "cyclic"))
    >>> ledger.copies_of(rows)
    2
    >>> ledger.after(Call(Seen(8, 10), 1, "cyclic")).copies_of(rows) is None
    True
    """

    from_zero: bool = True
    calls: int = 0
    learned: Seen | None = Seen()  # every row at least as often as it was updated on; None: unknown
    held_out: Seen = Seen()  # rows held out for early stopping, as often
    last: Seen | None = None  # the rows of the last call, once each
    first: Seen | None = None  # the rows of the first pass, if its order is in `INDEPENDENT` and w was 0
    first_mistakes: int = 0  # the mistakes of that pass
    orders: tuple[str, ...] = ()  # all that were used
    heaviest: float = 0.0  # the largest weight of a row
    weighted: bool | None = False  # whether some weight was not 1; None: unknown
    grown: bool = False  # from two classes to more, after updates
    dropped: float | None = 0.0  # counted updates that are not in the weights; None: unknown

    @classmethod
    def unknown(cls, *, from_zero: bool = True, weighted: bool | None = None, grown: bool = False) -> Ledger:
        """The ledger of a model with unrecorded rows, or (`weighted` is None) with no record at all."""
        dropped = None if weighted is None else 0.0
        return cls(from_zero, 1, None, heaviest=1.0, weighted=weighted, grown=grown, dropped=dropped)

    def after(self, call: Call) -> Ledger:
        """The ledger after one more call."""
        rows, learned = call.rows, None
        if rows is not None and self.learned is not None:
            learned = self.learned + (rows if call.copies == 1 else rows * call.copies)
        begins = self.from_zero and not self.calls and call.first_mistakes is not None
        ledger = self._replace(
            calls=self.calls + 1,
            learned=learned,
            held_out=self.held_out + call.held_out * call.copies if call.held_out.count else self.held_out,
            last=rows,
            orders=self.orders if call.order in self.orders else tuple(sorted({*self.orders, call.order})),
            heaviest=max(self.heaviest, call.heaviest),
            weighted=None if self.weighted is None else self.weighted or call.weighted,
            dropped=None if self.dropped is None else self.dropped + float(call.dropped),
        )
        if begins and rows is not None and call.order in INDEPENDENT:
            ledger = ledger._replace(first=rows, first_mistakes=call.first_mistakes or 0)
        return ledger

    def copies_of(self, rows: Seen | None) -> int | None:
        """e, if all updates were on these rows, with at most e updates on each; else, or if unknown, None.

        The rows may include some that were only held out.
        """
        if self.learned is None or rows is None or not rows.count:
            return None
        for seen in (self.learned, self.learned + self.held_out):
            copies = seen.count // rows.count
            if rows * copies == seen:
                return copies
        return None

    def missing(self, rule: str, rows: Seen | None = None) -> str:
        """A hypothesis of the rule's theorem that is not met, in words; empty if all are met.

        The theorem is about `rows`; without them, about all rows learned from.
        """
        if rule in VARIANCE_RULES:
            return NO_THEOREM
        if not self.from_zero:
            return STARTED_ELSEWHERE
        if rule.startswith("pa") and self.weighted:
            return WEIGHTED
        if rule != "perceptron" and self.weighted is None:
            return UNKNOWN_WEIGHTS
        if self.grown and rule not in ("perceptron", "normalized"):
            return GREW
        if rows is not None and self.copies_of(rows) is None:
            return UNKNOWN_ROWS if self.learned is None else OTHER_ROWS
        return ""

    def missing_for_last(self, rule: str) -> str:
        """`missing` for the rows of the last call."""
        if self.last is None and (reason := self.missing(rule)):
            return reason
        return UNKNOWN_ROWS if self.last is None else self.missing(rule, self.last)

    # -- as facts of a file
    def facts(self) -> dict[str, Any]:
        """The ledger as JSON values."""
        facts = self._asdict() | {"orders": list(self.orders)}
        for name in ("learned", "held_out", "last", "first"):
            rows: Seen | None = getattr(self, name)
            facts[name] = None if rows is None else [f"{rows.digest:016x}", rows.count]
        return facts

    @classmethod
    def from_facts(cls, facts: dict[str, Any]) -> Ledger:
        """The inverse of `facts`; a ValueError if they are not valid."""
        try:
            known = {name: facts[name] for name in cls._fields}
            for name in ("learned", "held_out", "last", "first"):
                if known[name] is not None:
                    digest, count = known[name]
                    known[name] = Seen(int(digest, 16) % MODULUS, _count(count))
            for name in ("calls", "first_mistakes"):
                _count(known[name])
            known["orders"] = tuple(str(order) for order in known["orders"])
            for name, kinds in _KINDS.items():
                if type(known[name]) not in kinds:
                    raise TypeError(name)
            for name in ("heaviest", "dropped"):
                if known[name] is not None and not 0 <= known[name] < float("inf"):
                    raise ValueError(f"{name} is {known[name]}")
            return cls(**known)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"its ledger cannot be read ({type(error).__name__}: {error})") from None


_KINDS = {
    "from_zero": (bool,),
    "weighted": (bool, type(None)),
    "grown": (bool,),
    "heaviest": (float,),
    "dropped": (float, type(None)),
    "held_out": (Seen,),
}


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= 1 << 62:
        raise TypeError(f"{value!r} is not a count")
    return value
