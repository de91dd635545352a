"""The parts of `novikoff fit` that differ with a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from novikoff.cli.errors import as_options
from novikoff.cli.options import KERNELS, Options, UsageError, flag_of, saved
from novikoff.parameters.common import AUTO
from novikoff.parameters.kernel import KERNEL_PARAMETERS, what_predicts

if TYPE_CHECKING:
    from collections.abc import Callable

    from novikoff.data.labels import StreamClasses
    from novikoff.data.scaling import Scaling
    from novikoff.data.sources.progress import Watch
    from novikoff.data.sources.source import Source
    from novikoff.kernel.model import KernelModel
    from novikoff.kernel.settings import Fitted, KernelSettings
    from novikoff.training.run import Run

LINEAR_ONLY = (
    *("rule", "average", "margin", "C", "intercept_scaling", "class_weight", "weight"),
    *("early_stopping", "validation_fraction", "n_epochs_no_change"),
    *("checkpoint", "every", "resume"),
)
OTHER_DEFAULTS = ("fit_intercept", "multiclass", "order", "max_epochs")


def settle(options: Options) -> None:
    """Refuse incompatible options, and set the defaults that differ for kernel models."""
    given, kernel = options.given, options.kernel
    if kernel is None:
        for name in KERNELS:
            if name in given:
                raise UsageError("is only possible with --kernel.", flag_of(name))
        return
    for name in LINEAR_ONLY:
        if name in given:
            raise UsageError("is not possible with --kernel.", flag_of(name))
    for name in ("degree", "coef0"):
        if kernel != "poly" and name in given:
            raise UsageError("is only possible with --kernel poly.", flag_of(name))
    if kernel in ("linear", "cosine", "monotone_conjunction") and "gamma" in given:
        raise UsageError(f"is not possible with --kernel {kernel}.", "--gamma")
    _check_budget(options)
    for name in OTHER_DEFAULTS:
        if name not in given:
            setattr(options, name, KERNEL_PARAMETERS[name].default)
    if "scale" not in given:
        options.scale = None
    if options.max_epochs == AUTO:
        raise UsageError("auto is not possible with --kernel.", "--epochs")
    if "cache" in given and not streams(options):
        raise UsageError(
            "is only possible with --kernel where each epoch reads the rows again: with --budget and --order "
            "cyclic.",
            "--cache",
        )


def _check_budget(options: Options) -> None:
    if options.budget is None:
        if "budget_policy" in options.given:
            raise UsageError("is only possible with --budget.", "--budget-policy")
        return
    if options.order == "worst":
        raise UsageError("worst is not possible with --budget.", "--order")
    try:
        what_predicts(options.predict_with, options.budget, options.budget_policy)
    except ValueError as error:
        message = as_options(str(error)).removeprefix("--predict-with ")
        raise UsageError(message, "--predict-with") from None


def streams(options: Options) -> bool:
    """Whether rows are read block by block: with a budget, in the order of the files."""
    in_order = options.order == "cyclic"
    return options.budget is not None and in_order and options.kernel != "monotone_conjunction"


def settings_of(options: Options) -> KernelSettings:
    """The settings of a kernel model."""
    from novikoff.kernel.settings import KernelSettings

    names = (*KERNELS, "fit_intercept", "ties", "multiclass")
    return KernelSettings(kernel_params=None, **{name: vars(options)[name] for name in names})


class Rows(NamedTuple):
    """All rows of files, ready for a kernel model to learn from."""

    X: Any
    labels: Any
    scaling: Scaling | None
    where: Callable[[int], str]


def read_rows(
    source: Source,
    classes: StreamClasses,
    *,
    scale: str | None,
    watch: Watch | None,
    scaling: Scaling | None = None,
) -> Rows:
    """Read all rows into memory, scaled as `scale` says or by a known `scaling`."""
    from novikoff.data.arrays import read_matrix
    from novikoff.data.sources.block import by_name
    from novikoff.training.linear import sound
    from novikoff.training.streaming import SourceExamples

    examples = SourceExamples(source, classes, watch=watch)
    examples.scaling = scaling
    X, labels, weights = examples.read_all(scale, balanced=False)
    if weights is not None:
        raise ValueError(f"{source.name}: the rows have weights, which kernel models do not support.")
    classes.check_two(source.name)
    with by_name(examples.where, source.features):
        return Rows(sound(read_matrix(X)), labels, examples.scaling, examples.where)


def model_of(
    options: Options,
    dual: Fitted,
    classes: StreamClasses,
    source: Source,
    scaling: Scaling | None,
    run: Run,
    made: dict[str, Any],
) -> KernelModel:
    """The learned model, with its features and parameters."""
    from novikoff.kernel.model import KernelModel

    made = made | saved(options, KERNELS)
    return KernelModel(
        dual,
        classes.labels,
        source.features,
        predict_with=options.predict_with,
        scaling=scaling,
        parameters={name: value for name, value in made.items() if name not in LINEAR_ONLY},
        run=run,
        order=options.order,
    )
