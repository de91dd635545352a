"""What can be learned, and what it costs: margins, bounds, separability, certificates.

Names are resolved when they are first used.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from novikoff.lazy import resolve

_MODULES: dict[str, tuple[str, ...]] = {  # each module, and the names that come from it
    "diagnosis": ("Diagnosis", "diagnose"),
    "certificates": ("Certificate", "certify", "read_certificate"),
    "separability": ("Inseparable", "Separable", "Undecided", "Verdict", "decide", "separability"),
    "bounds": ("bounds",),
    "formulas": (
        "Bound",
        "Bounds",
        "leave_one_out",
        "majority_bound",
        "minimax_risk",
        "online_to_batch",
    ),
    "geometry": (
        "Reduction",
        "distance",
        "empirical_risk",
        "foot",
        "margin",
        "margins",
        "project",
        "radius",
        "reduce_norm",
        "reduce_threshold",
    ),
    "hindsight": ("Hindsight", "best_in_hindsight"),
    "trace": ("Trace", "trace"),
    "maxmargin": ("MaxMargin", "max_margin"),
}
_PROOF = ("certificates", "separability", "geometry", "maxmargin")  # need only rows and labels, and lie lower
_HOMES = {
    name: f"novikoff.{'proof' if module in _PROOF else 'theory'}.{module}"
    for module, names in _MODULES.items()
    for name in names
}
_HOMES |= {"Pocket": "novikoff.linear.pocket", "Winnow": "novikoff.linear.winnow"}  # too

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    return resolve(__name__, name, _HOMES)


class _Package(ModuleType):
    """A package in which a function that has its module's name is found under it, not the module.

    Importing a module makes it an attribute of its package; that must not hide `separability` or `trace`.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        hides = isinstance(value, ModuleType) and name in _HOMES
        super().__setattr__(name, getattr(value, name) if hides else value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
