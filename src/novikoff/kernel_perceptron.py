"""`KernelPerceptron`: the perceptron in feature spaces too large to write down."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from novikoff import dualtraining
from novikoff.classifier import PerceptronClassifier, generator
from novikoff.conjunctions import MonotoneConjunction
from novikoff.dualmodel import DualModel
from novikoff.kernels import FunctionKernel, Kernel, NamedKernel, PrecomputedKernel
from novikoff.labels import Classes
from novikoff.model import Floats
from novikoff.parameters import KERNEL_PARAMETERS, check_parameters, default, parameter_help
from novikoff.training import Plan


def start(name: str) -> Any:
    """What a parameter is at first."""
    return default(name, KERNEL_PARAMETERS)


class KernelPerceptron(PerceptronClassifier):
    """A perceptron that sees its rows only through a kernel K(x, z) = φ(x)·φ(z).

    Weights are never made: w = Σ α_j·φ(x_j) over the rows that were mistaken, and s = Σ α_j·K(x_j, x). One fit
    gives the last, the averaged and the voted prediction (Freund and Schapire 1999).

    Parameters
    ----------
    {parameters}

    Examples
    --------
    XOR, which no line separates and a degree of 2 does:

    >>> import numpy as np
    >>> from novikoff import KernelPerceptron
    >>> X, y = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]), np.array([1, -1, -1, 1])
    >>> model = KernelPerceptron("poly", degree=2, gamma=1, order="cyclic").fit(X, y)
    >>> model.predict(X), model.verdict_
    (array([ 1, -1, -1,  1]), 'separated')
    """

    _names = (
        "kernel", "gamma", "degree", "coef0", "kernel_params", "predict_with", "fit_intercept", "max_epochs",
        "order", "random_state", "ties", "multiclass", "budget", "budget_policy", "cache_mb", "n_jobs", "verbose",
        "callback",
    )  # fmt: skip
    _dual: DualModel

    def __init__(
        self,
        kernel: Any = start("kernel"),
        *,
        gamma: Any = start("gamma"),
        degree: int = start("degree"),
        coef0: float = start("coef0"),
        kernel_params: dict[str, Any] | None = start("kernel_params"),
        predict_with: str = start("predict_with"),
        fit_intercept: bool = start("fit_intercept"),
        max_epochs: int = start("max_epochs"),
        order: str = start("order"),
        random_state: Any = start("random_state"),
        ties: str = start("ties"),
        multiclass: str = start("multiclass"),
        budget: int | None = start("budget"),
        budget_policy: str = start("budget_policy"),
        cache_mb: float = start("cache_mb"),
        n_jobs: int | None = start("n_jobs"),
        verbose: int = start("verbose"),
        callback: Any = start("callback"),
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.predict_with = predict_with
        self.fit_intercept = fit_intercept
        self.max_epochs = max_epochs
        self.order = order
        self.random_state = random_state
        self.ties = ties
        self.multiclass = multiclass
        self.budget = budget
        self.budget_policy = budget_policy
        self.cache_mb = cache_mb
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    # -- learning ------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from scratch."""
        raw = X
        X, classes, labels, _ = self._read_all(X, y, None)
        kernel = self._kernel(X)
        joint = self.multiclass == "joint" and len(classes) > 2
        empty = DualModel.empty(kernel, len(classes), joint=joint, like=X)
        model, run = dualtraining.fit(
            empty,
            X,
            labels,
            self._plan(),
            tie_is_mistake=self.ties == "mistake",
            cache_bytes=int(self.cache_mb * 2**20),
        )
        self._set_features(raw, X)
        self._set_classes(Classes(classes))
        self._dual, self._run = model, run
        self.history_ = run.history
        if run.interrupted:
            raise KeyboardInterrupt
        return self

    def _check_parameters(self) -> None:
        check_parameters(self, self._names, KERNEL_PARAMETERS)

    def _plan(self) -> Plan:
        return Plan(
            max_epochs=int(self.max_epochs),
            order=self.order,
            rng=generator(self.random_state),
            n_jobs=self.n_jobs,
            verbose=int(self.verbose),
            callback=self.callback,
        )

    def _kernel(self, X: Any) -> Kernel:
        """The kernel with its parameters, as the training rows decide them."""
        offset = 1.0 if self.fit_intercept else 0.0
        if callable(self.kernel):
            return FunctionKernel(self.kernel, dict(self.kernel_params or {}), offset)
        if self.kernel == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"a precomputed kernel must be square, but X has the shape {X.shape}.")
            return PrecomputedKernel(offset)
        if self.kernel == "monotone_conjunction":
            return MonotoneConjunction(offset)
        gamma = self.gamma
        if gamma == "auto":
            gamma = 1 / X.shape[1]
        elif gamma == "scale":
            variance = _variance(X)
            gamma = 1 / (X.shape[1] * variance) if variance > 0 else 1.0
        degree = int(self.degree) if self.kernel == "poly" else 1
        return NamedKernel(self.kernel, float(gamma), float(self.coef0), degree, offset)

    @property
    def verdict_(self) -> str:
        return self._run.verdict

    @property
    def support_(self) -> Any:
        return self._dual.support

    @property
    def support_vectors_(self) -> Any:
        return self._dual.vectors

    # -- predicting ----------------------------------------------------------------------------------
    def _scores(self, X: Any) -> Floats:
        X = self._checked(X)
        if self.predict_with == "voted":
            return self._dual.votes(X, self.n_jobs)
        return self._dual.scores(X, averaged=self.predict_with == "averaged", n_jobs=self.n_jobs)

    def predict(self, X: Any) -> Any:
        """The class of each row, as `predict_with` says."""
        return self.classes_[self._dual.winners(self._scores(X))]

    def __sklearn_is_fitted__(self) -> bool:
        return "_dual" in vars(self)


def _variance(X: Any) -> float:
    """The variance of all values, zeros included."""
    if sp.issparse(X):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(X.var(dtype=np.float64))


assert KernelPerceptron.__doc__ is not None
KernelPerceptron.__doc__ = KernelPerceptron.__doc__.format(
    parameters=parameter_help(KernelPerceptron._names, KERNEL_PARAMETERS).replace("\n", "\n    ")
)
