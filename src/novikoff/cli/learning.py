"""The settings, plan and classes that the options describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from novikoff.cli.options import Options
from novikoff.parameters.files import OTHER

if TYPE_CHECKING:
    from novikoff.data.labels import Renaming, StreamClasses
    from novikoff.training.plan import Plan
    from novikoff.training.weights import Settings


def settings_of(options: Options) -> Settings:
    """The settings of one update."""
    from novikoff.training.weights import Settings

    return Settings.of(options)


def plan_of(options: Options, callback: Any = None) -> Plan:
    """How often, and in which order, the examples are visited."""
    from novikoff.proof.asked import ask
    from novikoff.training.plan import Plan

    return Plan.of(options, callback=callback, ask=ask)


def renaming_of(options: Options) -> Renaming:
    """The renaming of labels when they are read."""
    from novikoff.data.labels import Renaming

    return Renaming(options.relabel, options.positive)


def classes_of(options: Options) -> StreamClasses:
    """The classes, if the options declare them."""
    from novikoff.data.labels import StreamClasses

    grow = options.classes == "grow"
    declared = None if grow else options.classes
    if declared is None and options.positive is not None:
        declared = [OTHER, options.positive]
    return StreamClasses(declared, grow=grow, rename=renaming_of(options))
