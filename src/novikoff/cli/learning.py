"""The settings, plan and classes that the options describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from novikoff.cli.options import Options
from novikoff.parameters.table import OTHER

if TYPE_CHECKING:
    from novikoff.data.labels import Renaming, StreamClasses
    from novikoff.training.plan import Plan
    from novikoff.training.weights import Settings


def settings_of(options: Options) -> Settings:
    """The settings of one update."""
    from novikoff.training.weights import Settings

    return Settings(
        rule=options.rule,
        ties=options.ties,
        margin=options.margin,
        C=options.C,
        bias_square=options.intercept_scaling**2 if options.fit_intercept else 0.0,
        average=options.average,
        multiclass=options.multiclass,
    )


def plan_of(options: Options, callback: Any = None) -> Plan:
    """How often, and in which order, the examples are visited."""
    import numpy as np

    from novikoff.training.plan import Plan

    return Plan(
        max_epochs=options.max_epochs,
        order=options.order,
        rng=np.random.default_rng(options.random_state),
        early_stopping=options.early_stopping,
        validation_fraction=options.validation_fraction,
        n_epochs_no_change=options.n_epochs_no_change,
        n_jobs=options.n_jobs,
        verbose=int(options.verbose),
        callback=callback,
    )


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
