"""The options of `novikoff fit` for kernel models, and how one is learned from files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novikoff.cli.options import Learning, default, flag_of, given_on, option, read
from novikoff.cli.running import as_options
from novikoff.parameters.table import KERNEL_PARAMETERS, what_predicts

if TYPE_CHECKING:
    from novikoff.data.labels import StreamClasses
    from novikoff.data.scaling import Scaling
    from novikoff.data.sources.progress import Watch
    from novikoff.data.sources.source import Source
    from novikoff.kernel.budget_streaming import BudgetStreamTrainer
    from novikoff.kernel.budget_training import BudgetTrainer
    from novikoff.kernel.model import KernelModel
    from novikoff.kernel.settings import KernelSettings
    from novikoff.kernel.trainer import KernelTrainer
    from novikoff.training.plan import Plan

LINEAR_ONLY = (
    *("rule", "average", "margin", "C", "intercept_scaling", "class_weight", "weight"),
    *("early_stopping", "validation_fraction", "n_epochs_no_change"),
    *("checkpoint", "every", "resume"),
)
STARTS_OTHERWISE = ("fit_intercept", "multiclass", "order")


@dataclass
class Kernels:
    """A kernel, and what belongs to it."""

    kernel: Annotated[str | None, option("kernel")] = default("kernel")
    gamma: Annotated[str, option("gamma", metavar="scale|auto|NUMBER")] = default("gamma")
    degree: Annotated[int, option("degree")] = default("degree")
    coef0: Annotated[float, option("coef0")] = default("coef0")
    predict_with: Annotated[str | None, option("predict_with")] = default("predict_with")
    budget: Annotated[int | None, option("budget")] = default("budget")
    budget_policy: Annotated[str, option("budget_policy")] = default("budget_policy")
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
        self._check_kernel(given)
        self._check_budget(given, **{name: value for group in groups for name, value in vars(group).items()})
        for group in groups:
            for name in STARTS_OTHERWISE:
                if hasattr(group, name) and name not in given:
                    setattr(group, name, KERNEL_PARAMETERS[name].default)
        if "cache" in given and not self.streams(*groups):
            raise typer.BadParameter(
                "is only possible with --kernel where rows are read again and again: with --budget and "
                "--order cyclic.",
                param_hint="--cache",
            )

    def streams(self, *groups: Any) -> bool:
        """Whether rows are read block by block: with a budget, in the order they come in."""
        in_order = any(getattr(group, "order", "") == "cyclic" for group in groups)
        return self.budget is not None and in_order and self.kernel != "monotone_conjunction"

    def _check_kernel(self, given: set[str]) -> None:
        if self.kernel != "poly" and given & {"degree", "coef0"}:
            name = "degree" if "degree" in given else "coef0"
            raise typer.BadParameter("is only possible with --kernel poly.", param_hint=flag_of(name))
        if self.kernel in ("linear", "cosine", "monotone_conjunction") and "gamma" in given:
            raise typer.BadParameter(f"is not possible with --kernel {self.kernel}.", param_hint="--gamma")

    def _check_budget(self, given: set[str], *, order: str, **_: Any) -> None:
        if self.budget is None:
            if "budget_policy" in given:
                raise typer.BadParameter("is only possible with --budget.", param_hint="--budget-policy")
            return
        if order == "worst":
            raise typer.BadParameter("worst is not possible with --budget.", param_hint="--order")
        try:
            what_predicts(self.predict_with, self.budget, self.budget_policy)
        except ValueError as error:
            said = as_options(str(error)).removeprefix("--predict-with ")
            raise typer.BadParameter(said, param_hint="--predict-with") from None


def learn(
    source: Source,
    classes: StreamClasses,
    kernels: Kernels,
    learning: Learning,
    plan: Plan,
    watch: Watch | None,
    made: dict[str, Any],
    *,
    in_memory: bool,
) -> KernelModel:
    """Learn from all rows at once, or block by block."""
    from novikoff.kernel.model import KernelModel
    from novikoff.training.loop import train

    settings = _settings(kernels, learning)
    trainer: KernelTrainer | BudgetTrainer | BudgetStreamTrainer
    if in_memory:
        trainer, scaling = _in_memory(source, classes, settings, learning.scale, plan, watch)
        run = train(trainer, plan)
        dual = settings.fitted(trainer, run)
    else:
        from novikoff.kernel import budget_streaming

        trainer = budget_streaming.trainer_of(
            source, classes, settings, plan, scale=learning.scale, watch=watch
        )
        run = train(trainer, plan)
        dual, scaling = trainer.fitted(run), trainer.examples.scaling
    return KernelModel(
        dual,
        classes.labels,
        source.features,
        predict_with=kernels.predict_with,
        scaling=scaling,
        parameters={name: value for name, value in made.items() if name not in LINEAR_ONLY},
        run=run,
        order=plan.order,
    )


def _settings(kernels: Kernels, learning: Learning) -> KernelSettings:
    from novikoff.kernel.settings import KernelSettings

    return KernelSettings(
        kernel=kernels.kernel,
        gamma=read("gamma", kernels.gamma),
        degree=kernels.degree,
        coef0=kernels.coef0,
        kernel_params=None,
        fit_intercept=learning.fit_intercept,
        predict_with=kernels.predict_with,
        ties=learning.ties,
        multiclass=learning.multiclass,
        budget=kernels.budget,
        budget_policy=kernels.budget_policy,
        cache_mb=kernels.cache_mb,
    )


def _in_memory(
    source: Source,
    classes: StreamClasses,
    settings: KernelSettings,
    scale: str | None,
    plan: Plan,
    watch: Watch | None,
) -> tuple[KernelTrainer | BudgetTrainer, Scaling | None]:
    from novikoff.data.arrays import read_matrix
    from novikoff.data.sources.block import by_name
    from novikoff.training.linear import sound
    from novikoff.training.streaming import SourceExamples

    examples = SourceExamples(source, classes, watch=watch)
    X, labels, weights = examples.read_all(scale, balanced=False)
    if weights is not None:
        raise ValueError(f"{source.name}: the rows have weights, which kernel models cannot learn with.")
    classes.check_two(source.name)
    with by_name(examples.where, source.features):
        trainer = settings.trainer(sound(read_matrix(X)), labels, classes.n_classes, plan)
    return trainer, examples.scaling
