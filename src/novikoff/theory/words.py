"""What a diagnosis calls rows, parameters and learners: as Python does, or as another interface does."""

from __future__ import annotations

from typing import Any


class Words:
    """The words of Python. Other interfaces replace what they call otherwise.

    >>> words = Words()
    >>> words.pair(3, 7), words.learner(rule="pa1"), words.setting("order", "riffle"), words.name("n_orders")
    ('rows 3 and 7 (numbered from 0)', "Perceptron('pa1')", "order='riffle'", 'n_orders')
    """

    data = ""  # the name of what was examined; arrays have none
    command = ""  # that made the diagnosis
    pocket = "Pocket keeps the weights with the fewest training errors."
    widest = "theory.max_margin finds the weights with the widest margin."
    kernel = "KernelPerceptron"

    def pair(self, i: int, j: int) -> str:
        """Two rows."""
        return f"rows {i:,} and {j:,} (numbered from 0)"

    def name(self, parameter: str) -> str:
        """A parameter."""
        return parameter

    def setting(self, parameter: str, value: Any) -> str:
        """A parameter with its value."""
        return f"{parameter}={value!r}"

    def learner(self, **parameters: Any) -> str:
        """A perceptron with these parameters, the others having their defaults."""
        own = dict(parameters)
        parts = [repr(own.pop("rule"))] if "rule" in own else []
        return f"Perceptron({', '.join([*parts, *(self.setting(*each) for each in own.items())])})"

    def next(self, **parameters: Any) -> str:
        """What to do next to learn in this way, ready to be copied; empty if `learner` says so already."""
        return ""


PYTHON = Words()
