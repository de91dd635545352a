"""What docstrings say of parameters and fitted attributes holds for every estimator, whatever was called.

The statements: the defaults are those of the signature; every attribute that is documented is there, and no
other; `n_epochs_` and `history_` are of the last call, counts over all calls from the last beginning on;
`converged_` is an epoch without an update; `training_errors_` is what `predict` gets wrong; a loaded or
pickled estimator is what it was.
"""

from __future__ import annotations

import copy
import inspect
import io
import pickle
import re
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import novikoff
from novikoff import (
    KernelPerceptron,
    MaxMarginClassifier,
    OnlineKernelPerceptron,
    OnlinePerceptron,
    Perceptron,
    Pocket,
    SequenceTagger,
    StructuredPerceptron,
    VotedPerceptron,
    Winnow,
)
from novikoff.structured import Chains, Multiclass
from support.marks import may_not_separate

pytestmark = may_not_separate

rng = np.random.default_rng(14)
X = rng.normal(size=(40, 4)).round(2)
TWO = (X[:, 0] + X[:, 1] > 0.1).astype(int)  # which a line separates
NOISY = np.where(rng.random(40) < 0.2, 1 - TWO, TWO)  # which none does
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
BITS = (X > 0).astype(float)
SENTENCES = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=cats"], ["w=sleep"]], [["w=a"], ["w=cat"]]] * 2
TAGS = [["D", "N", "V"], ["N", "V"], ["D", "N"], ["D", "N", "N"], ["N", "V"], ["D", "N"]]

few = {"max_epochs": 5, "random_state": 0}
MODELS: dict[str, tuple[Any, Any, Any]] = {
    "separated": (Perceptron(random_state=0), X, TWO),
    "noisy": (Perceptron(**few), X, NOISY),
    "averaged": (Perceptron(average=True, **few), X, THREE),
    "ovr": (Perceptron(multiclass="ovr", **few), X, THREE),
    "cyclic margin": (Perceptron("margin", margin=0.5, order="cyclic", **few), X, TWO),
    "worst": (Perceptron(order="worst", **few), X, NOISY),
    "worst separated": (Perceptron(order="worst", **few), X, TWO),
    "kernel worst": (KernelPerceptron(order="worst", random_state=0), X, TWO),
    "pa1": (Perceptron("pa1", average=True, **few), X, NOISY),
    "voted": (VotedPerceptron(random_state=0), X, TWO),
    "voted three": (VotedPerceptron(predict_with="averaged", **few), X, THREE),
    "voted last": (VotedPerceptron(predict_with="last", random_state=0), X, TWO),
    "pocket": (Pocket(**few), X, NOISY),
    "pocket three": (Pocket(**few), X, THREE),
    "winnow": (Winnow(random_state=0, max_epochs=6), BITS, TWO),
    "winnow three": (Winnow(balanced=True, random_state=0, max_epochs=6), X, THREE),
    "max margin": (MaxMarginClassifier(), X, TWO),
    "max margin of three": (MaxMarginClassifier(gap=0.1), X, TWO + (X[:, 0] + X[:, 1] > 1)),
    "kernel": (KernelPerceptron(random_state=0, gamma=5.0, max_epochs=50), X, TWO),
    "kernel last": (KernelPerceptron("poly", predict_with="last", max_epochs=50, random_state=0), X, TWO),
    "kernel three": (KernelPerceptron(**few), X, THREE),
    "kernel joint": (KernelPerceptron("monotone_conjunction", multiclass="joint", **few), BITS, THREE),
    "budget": (KernelPerceptron(budget=5, **few), X, TWO),
    "budget oldest": (KernelPerceptron(budget=5, budget_policy="oldest", **few), X, THREE),
    "tagger": (SequenceTagger(random_state=0), SENTENCES[:3], TAGS[:3]),
    "tagger averaged": (SequenceTagger(average=True, **few), SENTENCES, TAGS),
    "structured": (StructuredPerceptron(Multiclass(), **few), list(X), THREE.tolist()),
    "structured averaged": (StructuredPerceptron(Chains(), average=True, **few), SENTENCES, TAGS),
}
ESTIMATORS = sorted({type(model) for model, _, _ in MODELS.values()}, key=lambda cls: cls.__name__)
STREAMS = [OnlinePerceptron, OnlineKernelPerceptron]
CASES = pytest.mark.parametrize("case", MODELS)


def fitted(case: str) -> tuple[Any, Any, Any]:
    model, rows, labels = MODELS[case]
    model = clone(model)
    assert model.fit(rows, labels) is model
    return model, rows, labels


# ---- what docstrings say -----------------------------------------------------------------------------
def section(cls: type, name: str) -> list[str]:
    found = re.search(rf"^    {name}\n    -+\n(.*?)(?=^    \w+\n    ---|\Z)", cls.__doc__ or "", re.M | re.S)
    assert found, (cls, name)
    return [line[4:] for line in found[1].splitlines() if re.match(r"    \w", line)]


def documented(cls: type) -> set[str]:
    return {name for line in section(cls, "Attributes") for name in line.partition(" :")[0].split(", ")}


def public(model: Any) -> set[str]:
    names = {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}
    return {name for name in names if hasattr(model, name)}


def clusters() -> list[Any]:
    try:
        from novikoff.dask import DistributedPerceptron, DistributedTagger
    except ImportError:
        return []
    return [DistributedPerceptron, DistributedTagger]


@pytest.mark.parametrize("cls", [*ESTIMATORS, *STREAMS, *clusters()])
def test_every_parameter_is_documented_with_its_default(cls: type) -> None:
    lines = [line for line in section(cls, "Parameters") if " : " in line and ", default " in line]
    documented = {line.partition(" : ")[0]: line.rpartition(", default ")[2] for line in lines}
    own = inspect.signature(cls).parameters
    assert list(documented) == list(own)
    assert {name: repr(own[name].default) for name in documented} == documented


NOT_ALWAYS = {"feature_names_in_", "features_"}  # only where columns have names; of files
OF_UPDATES = {"update_order_", "update_moves_", "update_visits_"}  # only where no budget forgets them


@CASES
def test_the_attributes_are_those_documented(case: str) -> None:
    model, rows, labels = fitted(case)
    absent = NOT_ALWAYS | (OF_UPDATES if getattr(model, "budget", None) else set())
    assert public(model) == documented(type(model)) - absent
    if hasattr(model, "partial_fit"):
        model.partial_fit(rows, labels)
        assert public(model) == documented(type(model)) - absent


@pytest.mark.parametrize("cls", STREAMS)
def test_the_attributes_of_streams_are_those_documented(cls: Any) -> None:
    model = cls()
    assert public(model) <= documented(cls)
    model.learn_many([({"a": 1.0}, 0), ({"b": 1.0}, 1)])
    assert public(model) == documented(cls)


SOURCES = {
    "libsvm": b"1 1:1 3:2\n0 2:1\n1 1:3\n0 2:2 3:1\n",
    "vw": b"1 |a price:0.5 red\n-1 |b size:2\n",
    "csv": b"label,age,colour\nyes,31.5,red\nno,12,green\nyes,44,red\nno,9.25,blue\n",
}


@pytest.mark.parametrize("hash_bits", [None, 5])
@pytest.mark.parametrize("format", SOURCES)
@pytest.mark.parametrize("model", [Perceptron(), KernelPerceptron(budget=3)])
def test_features_of_files_stay_through_files_and_pickles(
    model: Any, format: str, hash_bits: int | None, tmp_path: Any
) -> None:
    """What docs/files.md does with `features_` works for a model that was loaded, and saved again, too."""
    if format == "csv":
        pytest.importorskip("pyarrow")
    if format == "libsvm" and hash_bits:
        return  # its columns have numbers

    def source(**options: Any) -> Any:
        return novikoff.open_source(io.BytesIO(SOURCES[format]), format=format, **options)

    options = {"hash_bits": hash_bits} if hash_bits else {}
    model = clone(model).fit_source(source(**options))
    assert public(model) >= {"features_"} and public(model) <= documented(type(model))
    predicted = [model.predict(block.X).tolist() for block in source(features=model.features_).blocks()]
    model.save(tmp_path / "0")
    once = type(model).load(tmp_path / "0")
    once.save(tmp_path / "1")
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()
    for again in (once, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.features_.kind == model.features_.kind and again.features_.fixed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # blocks have no names
            found = [again.predict(block.X).tolist() for block in source(features=again.features_).blocks()]
        assert found == predicted
    model.fit(X, TWO)
    assert not hasattr(model, "features_")


@pytest.mark.parametrize("cls", [Perceptron, KernelPerceptron, SequenceTagger, StructuredPerceptron, Winnow])
def test_epochs_are_said_to_be_of_the_last_call(cls: type) -> None:
    assert re.search(r"^    n_epochs_.*\n        (Of|Epochs of) the last call", cls.__doc__ or "", re.M)


# ---- what is counted ---------------------------------------------------------------------------------
COUNTS = {"mistakes": "n_mistakes_", "updates": "n_updates_"}


def check_call(model: Any, before: dict[str, int], *, worst: bool = False) -> None:
    """What must hold after a call that began with these counts."""
    history = model.history_
    assert model.n_epochs_ == len(history) and [record["epoch"] for record in history] == [
        *range(1, len(history) + 1)
    ]
    for name, attribute in COUNTS.items():
        if hasattr(model, attribute):
            assert getattr(model, attribute) == before.get(attribute, 0) + sum(r[name] for r in history)
    if worst:  # each epoch but the last has an update at every visit
        assert model.converged_ == (history[-1]["updates"] < len(X))
    elif not isinstance(model, Pocket):  # which ends when the pocket makes no error
        calm = [not record.get("updates", record["mistakes"]) for record in history]
        assert model.converged_ == calm[-1] and not any(calm[:-1])


def counted(model: Any) -> dict[str, int]:
    return {name: getattr(model, name) for name in COUNTS.values() if hasattr(model, name)}


@CASES
def test_epochs_are_of_the_last_call_and_counts_of_all(case: str) -> None:
    model, rows, labels = fitted(case)
    if isinstance(model, MaxMarginClassifier):
        return  # it has no epochs
    check_call(model, {}, worst=getattr(model, "order", None) == "worst")
    first = counted(model), model.n_epochs_
    model.fit(rows, labels)  # from scratch
    assert (counted(model), model.n_epochs_) == first
    if not hasattr(model, "partial_fit"):
        return
    for turn in (-1, 1):
        before = counted(model)
        assert model.partial_fit(rows[::turn], labels[::turn]) is model
        check_call(model, before)
        assert model.n_epochs_ == 1
        assert getattr(model, "training_errors_", None) is None
        assert np.isnan(getattr(model, "margin_", np.nan))
        assert getattr(model, "verdict_", "undecided") == "undecided"
    model.fit(rows, labels)
    assert (counted(model), model.n_epochs_) == first


@pytest.mark.parametrize("average", [False, True])
def test_a_warm_start_goes_on_counting(average: bool) -> None:
    model = Perceptron(average=average, warm_start=True, max_epochs=2, random_state=0)
    before: dict[str, int] = {}
    for _ in range(3):
        model.fit(X, NOISY)
        check_call(model, before)
        assert model.n_epochs_ == 2
        before = counted(model)


@pytest.mark.parametrize("ties", ["positive", "mistake"])
@pytest.mark.parametrize("cls", STREAMS)
def test_streams_count_visits_and_progressive_mistakes(cls: Any, ties: str) -> None:
    model = cls(ties=ties)
    for k, (x, label) in enumerate(zip(X.tolist(), THREE.tolist(), strict=True)):
        example = dict(zip("abcd", x, strict=True))
        known = (
            label in model.classes_ and len(model.classes_) > 1
        )  # else the counts may be of a class turned
        before = model.predict_one(example), model.n_mistakes_
        model.learn_one(example, label)
        assert model.n_visits_ == k + 1 and model.n_features_in_ == 4
        assert not known or model.n_mistakes_ == before[1] + (before[0] != label)
    tie = dict.fromkeys("abcd", 0.0)
    model = cls(fit_intercept=False, ties=ties, classes=[0, 1])
    model.learn_one(tie, 1)
    assert model.predict_one(tie) == 1 and model.n_mistakes_ == (ties == "mistake")


# ---- what is said of the training rows ---------------------------------------------------------------
@CASES
def test_training_errors_are_what_predict_gets_wrong(case: str) -> None:
    model, rows, labels = fitted(case)
    if getattr(model, "training_errors_", None) is not None:
        wrong = sum(p != t for p, t in zip(list(model.predict(rows)), list(labels), strict=True))
        assert model.training_errors_ == wrong
        assert type(model.training_errors_) is int
    if isinstance(model, Pocket):
        assert model.training_errors_ == model.n_errors_


@CASES
def test_separated_rows_have_a_margin(case: str) -> None:
    model, _, _ = fitted(case)
    if not hasattr(model, "verdict_"):
        return
    assert model.verdict_ in ("separated", "consistent", "undecided")
    if model.verdict_ == "separated":
        assert model.margin_ > 0 and model.converged_
        assert model.n_mistakes_ or model.margin_upper_ == np.inf


@CASES
def test_the_classes_are_those_given(case: str) -> None:
    model, rows, labels = fitted(case)
    if hasattr(model, "classes_"):
        given = (
            {label for sentence in labels for label in sentence} if isinstance(labels, list) else {*labels}
        )
        assert model.classes_.tolist() == sorted(given)
    if isinstance(rows, np.ndarray):
        assert model.n_features_in_ == rows.shape[1]


# ---- what stays ---------------------------------------------------------------------------------------
def same(a: Any, b: Any) -> bool:
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        keys = [{*record} - {"seconds"} for record in (a, b)]  # which a file does not keep
        return keys[0] == keys[1] and all(same(a[key], b[key]) for key in keys[0])
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return a is b or bool(a == b or (a != a and b != b))


def check_same(again: Any, model: Any, rows: Any, *, but: tuple[str, ...] = ()) -> None:
    assert public(again) - {"features_"} == public(model) - {"features_"}  # which a loaded model has
    for name in public(model) - {"features_", *but}:
        assert same(getattr(again, name), getattr(model, name)), name
    assert same(list(again.predict(rows)), list(model.predict(rows)))


@CASES
def test_a_loaded_model_is_what_it_was(case: str, tmp_path: Any) -> None:
    model, rows, labels = fitted(case)
    if not hasattr(model, "save"):
        return
    lost = ("witness_", "problem_", "weights_") if isinstance(model, StructuredPerceptron) else ()
    model.save(tmp_path / "m")
    again = type(model).load(tmp_path / "m")
    if isinstance(model, MaxMarginClassifier):  # files do not hold these
        del model.support_, model.dual_coef_
    check_same(again, model, rows, but=lost)
    assert not hasattr(model, "report") or again.report().in_full()
    if not hasattr(model, "partial_fit"):
        return
    for one in (model, again):
        one.partial_fit(rows[::-1], labels[::-1])
    check_same(again, model, rows, but=lost)


@CASES
def test_a_pickled_model_is_what_it_was_and_a_clone_is_not_fitted(case: str) -> None:
    model, rows, _ = fitted(case)
    lost = ("witness_", "problem_", "weights_") if isinstance(model, StructuredPerceptron) else ()
    check_same(pickle.loads(pickle.dumps(model)), model, rows, but=lost)
    fresh = clone(model)
    assert public(fresh) == set()
    for name in ("report", "to_model", "to_linear"):
        if hasattr(fresh, name):
            with pytest.raises(NotFittedError):
                getattr(fresh, name)()


# ---- one shape for one name --------------------------------------------------------------------------
@pytest.mark.parametrize("labels", [TWO, THREE])
@pytest.mark.parametrize("budget", [None, 5])
def test_dual_coefficients_have_one_shape(labels: Any, budget: int | None) -> None:
    """(1, supports) for two classes and (classes, supports) for more, in bulk and one by one."""
    k = 1 if labels is TWO else 3
    model = KernelPerceptron("rbf", gamma=1.0, budget=budget, order="cyclic", max_epochs=1).fit(X, labels)
    online = OnlineKernelPerceptron("rbf", gamma=1.0, budget=budget, classes=np.unique(labels).tolist())
    assert online.dual_coef_.shape == (k, 0)
    online.learn_many(list(X), labels.tolist())
    assert model.dual_coef_.shape == (k, len(model.support_)) and model.dual_coef_.flags.c_contiguous
    assert online.dual_coef_.shape == (k, online.n_supports_) and online.dual_coef_.flags.c_contiguous
    order = [np.argsort(one.support_) for one in (model, online)]
    np.testing.assert_array_equal(model.dual_coef_[:, order[0]], online.dual_coef_[:, order[1]])
