"""Beam search: outputs built step by step, of which only the best few are kept at each step.

A beam may lose the right output at some step although it would have won in the end; the perceptron's proof
does not cover an update towards it. An update needs a *violation*: parts of equal length of which the wrong
one scores no less (Huang, Fayong and Guo 2012). Whenever the beam ends with a wrong output there is one:

- "early": at the step where the right part falls out of the beam, all parts kept score no less than it
  (Collins and Roark 2004); if it never does, the whole outputs;
- "max-violation": at the step where the best part kept exceeds the right one by the largest difference;
- "standard": the whole outputs, violation or not. It may never converge where the others do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

UPDATES = ("early", "max-violation", "standard")


class Item(NamedTuple):
    """A part of an output that the beam keeps."""

    score: float
    part: tuple[Any, ...]
    right: bool


class BeamSearch(ABC):
    """Abstract: outputs are tuples of choices, made one after the other by beam search.

    A subclass defines the possible choices after those made, and the features of the next one.

    Parameters
    ----------
    width : int, default 8
        The number of parts kept at each step.
    update : {'max-violation', 'early', 'standard'}
        The violation for the update when the beam ends with a wrong output.

    Examples
    --------
    Words are tagged from left to right, from the word, the word before, and the tag before:

    >>> from novikoff import StructuredPerceptron
    >>> class Tags(BeamSearch):
    ...     def choices(self, words, made):
    ...         return ("noun", "verb") if len(made) < len(words) else ()
    ...     def step(self, words, made, choice):
    ...         word, before = words[len(made)], words[: len(made)][-1:]
    ...         return {(word, choice): 1, (*before, "before", choice): 1, (made[-1:], choice): 1}
    >>> X = ["time flies", "fruit flies like fruit", "people like fruit"]
    >>> Y = ["noun verb", "noun noun verb noun", "noun verb noun"]
    >>> X, Y = [x.split() for x in X], [tuple(y.split()) for y in Y]
    >>> model = StructuredPerceptron(Tags(width=2), order="cyclic").fit(X, Y)
    >>> model.predict([["time", "flies"], ["fruit", "flies"]]), model.verdict_
    ([('noun', 'verb'), ('noun', 'noun')], 'consistent')
    """

    exact = False  # the best output may fall out of the beam

    def __init__(self, width: int = 8, update: str = "max-violation") -> None:
        if not isinstance(width, int) or width < 1:
            raise ValueError(f"width={width!r} is not possible: expected a whole number ≥ 1.")
        if update not in UPDATES:
            raise ValueError(f"update={update!r} is not possible: expected one of {', '.join(UPDATES)}.")
        self.width, self.update = width, update

    @abstractmethod
    def choices(self, x: Any, made: tuple[Any, ...]) -> Iterable[Any]:
        """The choices possible after those in `made`; none if the output is complete.

        All outputs for x must have the same number of steps.
        """

    @abstractmethod
    def step(self, x: Any, made: tuple[Any, ...], choice: Any) -> Mapping[Hashable, float]:
        """The features of the next choice; an output has the sum over its steps."""

    # -- the interface for the learner
    def features(self, x: Any, y: tuple[Any, ...]) -> dict[Hashable, float]:
        """The sum of the features of all steps of an output, or of a part of one."""
        total: dict[Hashable, float] = {}
        for t, choice in enumerate(y):
            for name, value in self.step(x, y[:t], choice).items():
                total[name] = total.get(name, 0.0) + value
        return total

    def check(self, x: Any, y: Any) -> None:
        """Reject outputs that no choices lead to."""
        if not isinstance(y, tuple):
            raise ValueError(f"y is a {type(y).__name__}: expected a tuple of choices.")
        for t, choice in enumerate(y):
            offered = list(self.choices(x, y[:t]))
            if choice not in offered:
                shown = ", ".join(map(repr, offered[:10])) or "nothing: the output is complete"
                raise ValueError(f"step {t} of y is {choice!r}, but the choices are {shown}.")
        if any(True for _ in self.choices(x, y)):
            raise ValueError(f"y ends after {len(y)} steps, but more steps are possible.")

    def decode(self, x: Any, w: Any) -> tuple[Any, ...]:
        """The best output that the beam finds; in a tie, choices offered earlier come first."""
        beam = [Item(0.0, (), True)]
        while following := self._following(x, w, beam, None):
            beam = following
        return beam[0].part

    def violation(self, x: Any, w: Any, y: tuple[Any, ...]) -> tuple[Any, Any] | None:
        """None if the beam ends with y, else the parts to learn from."""
        beam, right_score = [Item(0.0, (), True)], 0.0
        largest, at_largest = -1.0, (y, y)
        early: tuple[Any, Any] | None = None
        for t in range(len(y)):
            right_score += w.dot(self.step(x, y[:t], y[t]))
            beam = self._following(x, w, beam, y)
            best = beam[0]
            if not best.right and best.score - right_score > largest:
                largest, at_largest = best.score - right_score, (y[: t + 1], best.part)
            if early is None and not any(item.right for item in beam):
                early = y[: t + 1], best.part
                if self.update == "early":
                    return early
        if beam[0].right:
            return None
        whole = y, beam[0].part
        if self.update == "standard":
            return whole
        return early or whole if self.update == "early" else at_largest

    def _following(self, x: Any, w: Any, beam: list[Item], y: tuple[Any, ...] | None) -> list[Item]:
        """The best parts that are one step longer."""
        longer = []
        for score, part, right in beam:
            for choice in self.choices(x, part):
                on = right and y is not None and choice == y[len(part)]
                longer.append(Item(score + w.dot(self.step(x, part, choice)), (*part, choice), on))
        longer.sort(key=lambda item: -item.score)  # stable: in a tie the earlier one stays first
        return longer[: self.width]
