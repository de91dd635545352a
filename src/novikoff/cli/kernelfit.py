"""The options of `novikoff fit` for kernel models, and how one is learned from files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novikoff.cli.options import Learning, default, flag_of, given_on, option, read
from novikoff.parameters import KERNEL_PARAMETERS

if TYPE_CHECKING:
    from novikoff.labels import StreamClasses
    from novikoff.models.kernel import KernelModel
    from novikoff.sources.source import Source
    from novikoff.streaming import Watch
    from novikoff.training import Plan

LINEAR_ONLY = (
    *("rule", "average", "margin", "C", "intercept_scaling", "class_weight", "weight"),
    *("early_stopping", "validation_fraction", "n_epochs_no_change"),
    *("cache", "checkpoint", "every", "resume"),
)
STARTS_OTHERWISE = ("fit_intercept", "multiclass", "order")


@dataclass
class Kernels:
    """A kernel, and what belongs to it."""

    kernel: Annotated[str | None, option("kernel")] = default("kernel")
    gamma: Annotated[str, option("gamma", metavar="scale|auto|NUMBER")] = default("gamma")
    degree: Annotated[int, option("degree")] = default("degree")
    coef0: Annotated[float, option("coef0")] = default("coef0")
    predict_with: Annotated[str, option("predict_with")] = default("predict_with")
    cache_mb: Annotated[float, option("cache_mb")] = default("cache_mb")

    def settle(self, ctx: typer.Context, *groups: Any) -> None:
        """Refuse what cannot be had together; fill in what starts otherwise with a kernel."""
        given = given_on(ctx)
        if self.kernel is None:
            alone = given & vars(self).keys()
            if alone:
                raise typer.BadParameter(
                    "is only possible with --kernel.",
                    param_hint=flag_of(min(alone, key=list(vars(self)).index)),
                )
            return
        for name in LINEAR_ONLY:
            if name in given:
                raise typer.BadParameter("is not possible with --kernel.", param_hint=flag_of(name))
        if self.kernel != "poly" and given & {"degree", "coef0"}:
            name = "degree" if "degree" in given else "coef0"
            raise typer.BadParameter("is only possible with --kernel poly.", param_hint=flag_of(name))
        if self.kernel in ("linear", "cosine") and "gamma" in given:
            raise typer.BadParameter(f"is not possible with --kernel {self.kernel}.", param_hint="--gamma")
        for group in groups:
            for name in STARTS_OTHERWISE:
                if hasattr(group, name) and name not in given:
                    setattr(group, name, KERNEL_PARAMETERS[name].default)


def learn(
    source: Source,
    classes: StreamClasses,
    kernels: Kernels,
    learning: Learning,
    plan: Plan,
    watch: Watch | None,
    made: dict[str, Any],
) -> KernelModel:
    """Read all rows into memory, and learn from them."""
    from novikoff import dualtraining
    from novikoff.arrays import read_matrix
    from novikoff.dualmodel import DualModel
    from novikoff.kernels import kernel_by_name
    from novikoff.models.kernel import KernelModel
    from novikoff.streaming import SourceExamples

    examples = SourceExamples(source, classes, watch=watch)
    X, labels, weights = examples.read_all(learning.scale, balanced=False)
    if weights is not None:
        raise ValueError(f"{source.name}: the rows have weights, which kernel models cannot learn with.")
    classes.check_two(source.name)
    X = dualtraining.sound(read_matrix(X))
    assert kernels.kernel is not None
    kernel = kernel_by_name(
        kernels.kernel,
        X,
        gamma=read("gamma", kernels.gamma),
        degree=kernels.degree,
        coef0=kernels.coef0,
        offset=1.0 if learning.fit_intercept else 0.0,
    )
    joint = learning.multiclass == "joint" and classes.n_classes > 2
    dual, run = dualtraining.fit(
        DualModel.empty(kernel, classes.n_classes, joint=joint, like=X),
        X,
        labels,
        plan,
        tie_is_mistake=learning.ties == "mistake",
        cache_bytes=int(kernels.cache_mb * 2**20),
    )
    if kernels.predict_with == "last" and run.consistent:
        run.training_errors = 0
    return KernelModel(
        dual,
        classes.labels,
        source.features,
        predict_with=kernels.predict_with,
        scaling=examples.scaling,
        parameters={name: value for name, value in made.items() if name not in LINEAR_ONLY},
        run=run,
        order=plan.order,
    )
