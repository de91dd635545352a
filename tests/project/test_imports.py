"""Who needs scikit-learn: the estimators, what they are made of, a few who use them, and nobody else."""

from __future__ import annotations

from importlib import import_module

import pytest

import novikoff
from novikoff import dask, plots, structured, theory

USERS = {
    *(  # these train them
        f"novikoff.theory.experiments.{name}"
        for name in ("experiment", "mistakes", "invariance", "risk", "limits", "multiplicative")
    ),
    "novikoff.linear.online",  # `freeze` gives a Perceptron
    "novikoff.estimator",  # is what they derive from
    "novikoff.integrations.river",  # knows OnlinePerceptron
}


def test_only_estimators_need_scikit_learn() -> None:
    """By the imports in the code, also those within functions; `make lint` has what reads them."""
    grimp = pytest.importorskip("grimp")
    base = import_module("sklearn.base").BaseEstimator
    estimators = {
        value
        for package in (novikoff, dask, plots, structured, theory)
        for value in (getattr(package, name) for name in package.__all__)
        if isinstance(value, type) and issubclass(value, base)
    }
    made_of = {kind.__module__ for estimator in estimators for kind in estimator.__mro__}
    graph = grimp.build_graph("novikoff", include_external_packages=True, exclude_type_checking_imports=True)
    need = {name for name in graph.find_downstream_modules("sklearn") if name.startswith("novikoff")}
    assert len(estimators) > 10
    assert need - made_of == USERS
