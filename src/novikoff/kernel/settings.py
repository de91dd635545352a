"""From parameters to a kernel model, with or without a budget: for the estimator and the command line."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.kernel.budget import BudgetModel, budget_model, own_generator
from novikoff.kernel.budget_training import BudgetTrainer
from novikoff.kernel.conjunctions import ConjunctionTrainer, MonotoneConjunction
from novikoff.kernel.dual import DualTrainer
from novikoff.kernel.dual_model import DualModel
from novikoff.kernel.kernels import (
    WITH_GAMMA,
    FunctionKernel,
    Kernel,
    NamedKernel,
    PrecomputedKernel,
    kernel_by_name,
)
from novikoff.kernel.summary import summarize
from novikoff.kernel.trainer import KernelTrainer
from novikoff.parameters.kernel import what_predicts
from novikoff.training.plan import Plan
from novikoff.training.report import Report
from novikoff.training.run import Run
from novikoff.training.tally import Tally, affordable
from novikoff.training.weights import Floats, Ints

Fitted = DualModel | BudgetModel


@dataclass(frozen=True)
class KernelSettings:
    """The parameters that make a kernel model, with their names in `novikoff.parameters`."""

    kernel: Any  # a name, or a function
    gamma: float | str
    degree: int
    coef0: float
    kernel_params: dict[str, Any] | None
    fit_intercept: bool
    predict_with: str | None
    ties: str
    multiclass: str
    budget: int | None
    budget_policy: str
    cache_mb: float

    def make_kernel(self, X: Any) -> Kernel:
        """The kernel with its parameters, some of which depend on the training rows."""
        offset = 1.0 if self.fit_intercept else 0.0
        if self.kernel_params and not callable(self.kernel):
            raise ValueError(
                f"kernel_params={self.kernel_params!r} is for a kernel that is a function, but kernel is "
                f"{self.kernel!r}, which has gamma, degree and coef0."
            )
        if callable(self.kernel):
            return FunctionKernel(self.kernel, dict(self.kernel_params or {}), offset)
        if self.kernel == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"a precomputed kernel has a row and a column for each training row, but X has the shape "
                    f"{X.shape}, which is not square."
                )
            return PrecomputedKernel(X.shape[0], offset)
        if self.kernel == "monotone_conjunction":
            return MonotoneConjunction(offset)
        return kernel_by_name(
            self.kernel, X, gamma=self.gamma, degree=self.degree, coef0=self.coef0, offset=offset
        )

    def begin(self, X: Any, n_classes: int, rng: np.random.Generator) -> Fitted:
        """An empty model for rows like those of X."""
        if self.budget is not None:
            return self.begin_budget(X, n_classes, rng)
        return DualModel.empty(self.make_kernel(X), n_classes, joint=self._is_joint(n_classes), like=X)

    def begin_budget(
        self,
        X: Any,
        n_classes: int,
        rng: np.random.Generator,
        *,
        sparse: bool | None = None,
        grows: bool = False,
    ) -> BudgetModel:
        """The same with a budget; `grows`: classes may be added later.

        `sparse`: columns can be added to the supports. None: as suits X.
        """
        return budget_model(
            self.make_kernel(X),
            n_classes,
            X,
            sparse=sparse,
            budget=self.budget,
            policy=self.budget_policy,
            joint=self.multiclass == "joint" if grows else self._is_joint(n_classes),
            tie_is_mistake=self.ties == "mistake",
            rng=own_generator(rng),
        )

    @property
    def gamma_by_rows(self) -> bool:
        """Whether gamma depends on all training rows."""
        return isinstance(self.gamma, str) and self.kernel in WITH_GAMMA

    def _is_joint(self, n_classes: int) -> bool:
        return self.multiclass == "joint" and n_classes > 2

    def trainer(self, X: Any, labels: Ints, n_classes: int, plan: Plan) -> KernelTrainer | BudgetTrainer:
        """The trainer of a fit from scratch; `plan` has the number of epochs and the order of the rows."""
        return self._trainer_of(self.begin(X, n_classes, plan.rng), X, labels, plan)

    def fitted(self, trainer: KernelTrainer | BudgetTrainer, run: Run) -> Fitted:
        """The model at the end of a fit."""
        model = trainer.fitted(run)
        if not run.interrupted:
            n, way = len(trainer.labels), way_of(model, self.predict_with)
            rows, tally = affordable(n, len(model.support)), Tally()
            found = scores(model, trainer.X[rows], way, trainer.plan.n_jobs)
            tally.add(trainer.labels[rows], model.winners(found))
            run.note(tally, way=way)
        return model

    def continuing(
        self, model: Fitted, X: Any, labels: Ints, plan: Plan, *, turned: bool = False
    ) -> KernelTrainer | BudgetTrainer:
        """The trainer for more rows; refused rows leave `model` unchanged.

        `turned`: the only class before these rows, learned as the first of two, is the second.
        """
        if not isinstance(model, BudgetModel):
            model = model.turned(tie_is_mistake=self.ties == "mistake") if turned else model
        elif turned or not isinstance(model.kernel, NamedKernel):  # values may fail half-way
            model = deepcopy(model)
            if turned:
                model.turn()
        return self._trainer_of(model, X, labels, plan, again=False)

    def _trainer_of(
        self, model: Fitted, X: Any, labels: Ints, plan: Plan, *, again: bool = True
    ) -> KernelTrainer | BudgetTrainer:
        """The trainer that suits the model."""
        if isinstance(model, BudgetModel):
            return BudgetTrainer(model, X, labels, plan, again=again)
        ties = self.ties == "mistake"
        if isinstance(model.kernel, MonotoneConjunction):
            return ConjunctionTrainer(model, X, labels, plan, tie_is_mistake=ties)
        cache_bytes = int(self.cache_mb * 2**20)
        return DualTrainer(model, X, labels, plan, tie_is_mistake=ties, cache_bytes=cache_bytes)

    def check_unchanged(self, model: Fitted) -> None:
        """Refuse to continue a model with parameters other than those it began with."""
        kernel = model.kernel
        same = self._is_joint(model.n_classes) == model.joint and bool(kernel.offset) == self.fit_intercept
        policy = getattr(model, "budget", None), getattr(model, "policy", self.budget_policy)
        same = same and policy == (self.budget, self.budget_policy)
        if isinstance(kernel, FunctionKernel):
            now = self.kernel, dict(self.kernel_params or {})
            same = same and now == (kernel.function, kernel.parameters)
        else:
            same = same and self.kernel == kernel.title
        if isinstance(kernel, NamedKernel):
            poly = kernel.name == "poly"
            same = same and (isinstance(self.gamma, str) or float(self.gamma) == kernel.gamma)
            same = same and (not poly or (self.degree, float(self.coef0)) == (kernel.degree, kernel.coef0))
        if not same:
            raise ValueError(
                "partial_fit cannot change the kernel, bias, multiclass or budget of a model: fit a clone."
            )


def parameters_learned_with(model: Fitted) -> dict[str, Any]:
    """The parameters of a model that its state determines; gamma is the number that was used."""
    kernel = model.kernel
    learned: dict[str, Any] = {
        "kernel": kernel.title,
        "fit_intercept": kernel.offset > 0,
        "kernel_params": None,
    }
    if isinstance(kernel, NamedKernel):
        learned["gamma"] = kernel.gamma
        if kernel.name == "poly":
            learned |= {"degree": kernel.degree, "coef0": kernel.coef0}
    if model.n_classes > 2:
        learned["multiclass"] = "joint" if model.joint else "ovr"
    if not isinstance(model, BudgetModel):
        return learned | {"budget": None}
    learned |= {"budget": model.budget, "budget_policy": model.policy}
    return learned | {"ties": "mistake" if model.tie_is_mistake else "positive"}


def way_of(model: Fitted, predict_with: str | None) -> str:
    """What a model with this `predict_with` predicts with."""
    if isinstance(model, BudgetModel):
        return what_predicts(predict_with, model.budget, model.policy)
    return predict_with or "voted"


def scores(model: Fitted, X: Any, predict_with: str | None, n_jobs: int | None = None) -> Floats:
    """(n, columns) scores: the mean vote, or by the averaged or the last coefficients."""
    way = way_of(model, predict_with)
    if way == "voted" and isinstance(model, DualModel):
        return model.votes(X, n_jobs) / max(model.n_visits, 1)
    return model.scores(X, averaged=way == "averaged", n_jobs=n_jobs)


def report(
    model: Fitted, run: Run, name: str, order: str, n_features: int, predict_with: str | None
) -> Report:
    """The report on `run`, which made `model`."""
    kernel = model.kernel
    shown = kernel.title if isinstance(kernel, FunctionKernel) else repr(kernel.title)
    return summarize(model, run, f"{name}({shown})", order, n_features, way_of(model, predict_with))
