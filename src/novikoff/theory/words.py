"""What a diagnosis calls rows, parameters and learners: as Python does, or as another interface does."""

from __future__ import annotations

from typing import Any

from novikoff.parameters.linear import PERCEPTRON_PARAMETERS

SCALED = {
    "maxabs": "after dividing each column by its largest |x|",
    "standard": "after standardizing the columns (not centring them, if they are sparse)",
    "unit": "after dividing each row by its norm",
}


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
        own = {name: value for name, value in parameters.items() if name in PERCEPTRON_PARAMETERS}
        parts = [repr(own.pop("rule"))] if "rule" in own else []
        call = f"Perceptron({', '.join([*parts, *(self.setting(*each) for each in own.items())])})"
        scale = parameters.get("scale")
        return call if "scale" in own or scale is None else f"{call} {SCALED[scale]}"

    def next(self, **parameters: Any) -> str:
        """What to do next to learn in this way, ready to be copied; empty if `learner` says so already."""
        return ""


PYTHON = Words()
