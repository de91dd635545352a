"""Every parameter is written once, in a table, and every reader of the tables sees it as it is there.

The statements: signatures are those of version 0.1.0; help, validation, plans and settings agree with the
tables; estimators are what scikit-learn, pickle, subclasses and Dask take them for.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import pydoc
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import novikoff
from novikoff import parameters
from novikoff.parameters.commands import FILE_PARAMETERS
from novikoff.parameters.common import PARAMETERS
from novikoff.parameters.parameter import Parameter, Table, parameters_of
from novikoff.parameters.tag_commands import TAG_FILE_PARAMETERS
from novikoff.training.plan import Plan
from novikoff.training.weights import Settings

# What users can rely on, written out: the tables make them.
SIGNATURES = {
    "Perceptron": (
        "(rule='perceptron', *, average='auto', fit_intercept=True, intercept_scaling=1.0, "
        "max_epochs='auto', order='riffle', random_state=None, ties='positive', margin=0.0, C=1.0, "
        "eta=0.9, multiclass='joint', class_weight=None, early_stopping=False, validation_fraction=0.1, "
        "n_epochs_no_change=5, warm_start=False, n_jobs=None, verbose=0, callback=None, rounding='never', "
        "scale='auto')"
    ),
    "VotedPerceptron": (
        "(rule='perceptron', *, predict_with='voted', fit_intercept=True, intercept_scaling=1.0, "
        "max_epochs='auto', order='riffle', random_state=None, ties='positive', margin=0.0, C=1.0, "
        "class_weight=None, n_jobs=None, verbose=0, callback=None, rounding='never', "
        "scale='auto')"
    ),
    "Pocket": (
        "(ratchet=True, *, fit_intercept=True, intercept_scaling=1.0, max_epochs=100, order='draw', "
        "random_state=None, ties='positive', class_weight=None, n_jobs=None, verbose=0, callback=None, "
        "rounding='never', "
        "scale='auto')"
    ),
    "Winnow": (
        "(alpha=2.0, *, threshold=None, balanced=False, eliminate=False, max_epochs=100, order='shuffle', "
        "random_state=None, verbose=0, callback=None, rounding='never')"
    ),
    "OnlinePerceptron": (
        "(rule='perceptron', average=False, fit_intercept=True, classes=None, hash_bits=None, seed=0, *, "
        "margin=0.0, C=1.0, eta=0.9, ties='positive')"
    ),
    "KernelPerceptron": (
        "(kernel='rbf', *, gamma='scale', degree=3, coef0=1.0, kernel_params=None, predict_with=None, "
        "fit_intercept=False, max_epochs=10, order='shuffle', random_state=None, ties='positive', "
        "multiclass='ovr', budget=None, budget_policy='projectron', cache_mb=1024, n_jobs=None, "
        "verbose=0, callback=None, rounding='never')"
    ),
    "OnlineKernelPerceptron": (
        "(kernel='rbf', *, gamma=1.0, degree=3, coef0=1.0, kernel_params=None, budget=None, "
        "budget_policy='projectron', predict_with='last', fit_intercept=False, classes=None, "
        "multiclass='ovr', ties='positive', random_state=None, hash_bits=None, seed=0)"
    ),
    "SequenceTagger": (
        "(*, features=None, average=True, max_epochs=10, order='shuffle', random_state=None, min_count=1, "
        "transitions='first-order', learn_as='auto', hash_bits=None, early_stopping=False, "
        "validation_fraction=0.1, "
        "n_epochs_no_change=5, n_jobs=None, verbose=0, callback=None)"
    ),
    "StructuredPerceptron": (
        "(problem=None, *, average=False, cost_augmented=False, max_epochs=100, order='shuffle', "
        "random_state=None, early_stopping=False, validation_fraction=0.1, n_epochs_no_change=5, "
        "verbose=0, callback=None)"
    ),
    "DistributedPerceptron": (
        "(rule='perceptron', *, average=False, fit_intercept=True, intercept_scaling=1.0, "
        "max_epochs=1000, order='shuffle', random_state=None, ties='positive', margin=0.0, C=1.0, "
        "multiclass='joint', class_weight=None, warm_start=False, n_jobs=None, verbose=0, callback=None, "
        "rounding='never', mixing='uniform', n_shards=None, client=None, checkpoint=None)"
    ),
    "DistributedTagger": (
        "(*, features=None, average=True, max_epochs=10, order='shuffle', random_state=None, min_count=1, "
        "transitions='first-order', hash_bits=None, n_jobs=None, verbose=0, callback=None, "
        "mixing='uniform', n_shards=None, client=None, checkpoint=None)"
    ),
}

X = np.array([[-1.0, 2.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 0.0], [-1.0, -2.0], [1.0, -1.0]])
y = np.array([-1, 1, 1, -1, -1, 1])


def estimator(name: str) -> Any:
    if not name.startswith("Distributed"):
        return getattr(novikoff, name)
    pytest.importorskip("distributed")
    return getattr(importlib.import_module("novikoff.dask"), name)


def signature(cls: Any) -> str:
    plain = inspect.Signature.empty
    own = inspect.signature(cls)
    shown = [p.replace(annotation=plain) for p in own.parameters.values()]
    return str(own.replace(parameters=shown, return_annotation=plain))


def tables() -> dict[str, Table]:
    modules = [
        importlib.import_module(f"novikoff.parameters.{found.name}")
        for found in pkgutil.iter_modules(parameters.__path__)
    ]
    return {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if name.endswith("_PARAMETERS") or name == "PARAMETERS"
    }


def printed(code: str, *flags: str) -> str:
    done = subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


every_estimator = pytest.mark.parametrize("name", SIGNATURES)


@every_estimator
def test_the_signature_is_as_it_was(name: str) -> None:
    cls = estimator(name)
    assert signature(cls) == SIGNATURES[name]
    assert signature(cls.__init__) == SIGNATURES[name].replace("(", "(self, ", 1)
    assert list(parameters_of(cls)) == list(inspect.signature(cls).parameters)


@every_estimator
def test_annotations_can_be_evaluated(name: str) -> None:
    own = inspect.signature(estimator(name).__init__, eval_str=True).parameters
    assert own.keys() - {"self"} == parameters_of(estimator(name)).keys()
    assert not any(isinstance(p.annotation, str) for p in own.values())


@every_estimator
def test_help_lists_every_parameter_with_legal_values_default_and_help(name: str) -> None:
    cls = estimator(name)
    shown = pydoc.plain(pydoc.render_doc(cls))
    for parameter in parameters_of(cls).values():
        entry = f"{parameter.name} : {parameter.expected}, default {parameter.default!r}"
        assert entry in shown
        assert parameter.help in shown
    assert "{parameters}" not in shown


@every_estimator
def test_an_estimator_is_no_dataclass(name: str) -> None:
    """pandas, Dask and others take a dataclass for a record of its fields."""
    cls = estimator(name)
    assert not dataclasses.is_dataclass(cls)
    assert cls.__hash__ is object.__hash__
    assert cls.__eq__ is object.__eq__


def test_without_docstrings_signatures_are_the_same() -> None:
    names = [name for name in SIGNATURES if not name.startswith("Distributed")]
    code = f"import inspect, novikoff; print(*[inspect.signature(getattr(novikoff, n)) for n in {names}])"
    with_them, without = (printed(code, *flags) for flags in ([], ["-OO"]))
    assert with_them == without
    assert with_them.count("->") == len(names)


def test_tables_load_neither_numpy_nor_scipy() -> None:
    modules = [f"novikoff.parameters.{found.name}" for found in pkgutil.iter_modules(parameters.__path__)]
    code = f"import sys, {', '.join(modules)}; print(*{{'numpy', 'scipy', 'sklearn'}} & sys.modules.keys())"
    assert printed(code) == "\n"


@pytest.mark.parametrize("name", tables())
def test_a_table_is_consistent(name: str) -> None:
    for key, parameter in tables()[name].items():
        assert key == parameter.name
        assert parameter.help.endswith((".", ").")), key
        assert parameter.legal(parameter.default) or key == "problem", key
        assert all(map(parameter.legal, parameter.choices)), key


def test_an_estimator_checks_by_its_own_table() -> None:
    with pytest.raises(
        ValueError, match=r"^order='worst' .* one of 'shuffle', 'riffle', 'cyclic', 'draw'\.$"
    ):
        novikoff.Pocket(order="worst").fit(X, y)
    with pytest.raises(ValueError, match=r"^gamma=0 is not possible: expected a number > 0\.$"):
        novikoff.OnlineKernelPerceptron(gamma=0)


# ---- what is made from parameters ----------------------------------------------------------------------
@every_estimator
def test_plan_and_settings_take_what_they_share_by_name(name: str) -> None:
    cls = estimator(name)
    model = cls()
    own = parameters_of(cls)
    if "max_epochs" in own:
        plan = Plan.of(model)
        for field in dataclasses.fields(Plan):
            expected = own[field.name].default if field.name in own else field.default
            if field.name != "rng":
                assert getattr(plan, field.name) == expected
    if "rule" in own:
        settings = Settings.of(model)
        for field in dataclasses.fields(Settings):
            if field.name in own:
                assert getattr(settings, field.name) == own[field.name].default
        assert settings.bias_square == 1.0


def test_plan_and_settings_take_values_that_are_not_the_defaults() -> None:
    values = {
        "rule": "margin", "average": True, "max_epochs": np.int64(7), "order": "cyclic", "ties": "mistake",
        "margin": np.float32(0.5), "C": 2, "multiclass": "ovr", "early_stopping": np.True_,
        "validation_fraction": 0.25, "n_epochs_no_change": 3, "n_jobs": 2, "verbose": True, "callback": print,
    }  # fmt: skip
    model = novikoff.Perceptron(intercept_scaling=3, random_state=5, **values)  # type: ignore[arg-type]
    plan, settings = Plan.of(model), Settings.of(model)
    for name, value in values.items():
        taken = [getattr(made, name) for made in (plan, settings) if hasattr(made, name)]
        assert taken == [value], name
        assert type(taken[0]) not in (np.int64, np.float32, np.bool_)
    assert settings.bias_square == 9.0
    assert plan.rng.integers(1 << 30) == np.random.default_rng(5).integers(1 << 30)
    assert Settings.of(clone(model).set_params(fit_intercept=False)).bias_square == 0.0
    assert Plan.of(model, order="shuffle").order == "shuffle"


def test_defaults_of_plan_and_settings_are_those_of_perceptron() -> None:
    own = parameters_of(novikoff.Perceptron)
    shared = [field for kind in (Plan, Settings) for field in dataclasses.fields(kind) if field.name in own]
    assert len(shared) == 14
    other = {field.name for field in shared if field.default != own[field.name].default}
    assert other == {"average", "max_epochs", "order"}  # which only `Perceptron` and its like can leave open
    assert all(field.default == PARAMETERS[field.name].default for field in shared if field.name in other)


def test_the_tables_of_the_command_line_have_every_parameter_of_the_estimators() -> None:
    assert parameters_of(novikoff.Perceptron).keys() <= FILE_PARAMETERS.keys()
    assert parameters_of(novikoff.SequenceTagger).keys() <= TAG_FILE_PARAMETERS.keys()
    assert all(isinstance(p, Parameter) for p in (FILE_PARAMETERS | TAG_FILE_PARAMETERS).values())


# ---- what others take an estimator for -----------------------------------------------------------------
class Extended(novikoff.Perceptron):
    """A user's class, with a parameter of its own."""

    def __init__(self, rule: str = "pa", *, zoom: float = 2.0) -> None:
        super().__init__(rule, order="cyclic")
        self.zoom = zoom


class Renamed(novikoff.Perceptron):
    """A user's class without an ``__init__``."""


def test_users_can_subclass() -> None:
    model = Extended(zoom=3.0)
    assert model.get_params() == {"rule": "pa", "zoom": 3.0}
    assert clone(model).set_params(rule="margin").get_params() == {"rule": "margin", "zoom": 3.0}
    assert repr(model) == "Extended(zoom=3.0)"
    assert (model.order, model.max_epochs) == ("cyclic", "auto")
    same = Renamed("pa", max_epochs=3)
    assert repr(same) == "Renamed(max_epochs=3, rule='pa')"
    assert signature(Renamed) == SIGNATURES["Perceptron"]
    assert same.fit(X, y).predict(X).tolist() == y.tolist()


@every_estimator
def test_parameters_survive_clones_copies_and_pickles(name: str) -> None:
    model = estimator(name)()
    values = {p: getattr(model, p) for p in parameters_of(model)}
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    if isinstance(model, BaseEstimator):
        copies.append(clone(model))
        assert repr(model) == f"{name}()"
    assert all({p: getattr(other, p) for p in values} == values for other in copies)
    assert model.get_params() == values


def test_the_html_of_scikit_learn_shows_the_parameters() -> None:
    shown = novikoff.Perceptron(C=3.0)._repr_html_()
    assert all(f">{name}<" in shown or f"{name}</td>" in shown for name in parameters_of(novikoff.Perceptron))


def test_dask_tells_fitted_models_apart() -> None:
    tokenize = pytest.importorskip("dask.base").tokenize
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (novikoff.Perceptron(random_state=0).fit(X, labels) for labels in (y, -y))
    assert tokenize(one) != tokenize(two)
