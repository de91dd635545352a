"""`load_model` reads every model file, and what it gives predicts, shows itself and needs no scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff
from novikoff import (
    KernelPerceptron,
    OnlineKernelPerceptron,
    OnlinePerceptron,
    Perceptron,
    Pocket,
    VotedPerceptron,
    Winnow,
)
from support.children import run_python
from support.marks import may_not_separate
from support.model_files import BITS, KINDS, THREE, TWO, X
from support.tampered import put, put_array, refused, saved, tampered

pytestmark = [may_not_separate, pytest.mark.filterwarnings("ignore:X does not have valid feature names")]


def same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


MODELS = sorted(name for name in KINDS if not name.startswith(("text", "certificate", "checkpoint")))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_file_is_read_without_scikit_learn(name, tmp_path):
    """Every kind; and the object that comes of it has the methods of a model, and one line that shows it."""
    if "csv" in name:
        pytest.importorskip("pyarrow")
    KINDS[name][0](tmp_path / "m")
    said = run_python(
        "-c",
        "import sys, novikoff; m = novikoff.load_model(sys.argv[1]);"
        "print(all(hasattr(m, a) for a in ('predict', 'predict_one', 'scores', 'save')),"
        "any(name.split('.')[0] == 'sklearn' for name in sys.modules), len(repr(m).splitlines()))",
        tmp_path / "m",
    )
    assert said.stdout.split() == ["True", "False", "1"]
    novikoff.load_model(tmp_path / "m").save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "made",
    [
        VotedPerceptron(random_state=0, max_epochs=4),
        VotedPerceptron(random_state=0, max_epochs=4, predict_with="averaged", intercept_scaling=0.3),
        VotedPerceptron("pa1", random_state=0, max_epochs=4, predict_with="last", fit_intercept=False),
        Pocket(random_state=0, max_epochs=4),
        Pocket(random_state=0, max_epochs=4, ratchet=False, fit_intercept=False),
        Winnow(random_state=0, max_epochs=4),
        Winnow(1.5, random_state=0, max_epochs=4, balanced=True, threshold=0.5),
        Winnow(random_state=0, max_epochs=4, eliminate=True),
    ],
    ids=repr,
)
def test_a_saved_estimator_comes_back(made, y, tmp_path):
    """Parameters, weights, counts and predictions; and what it learns next is what the saved one learns."""
    model = made.fit(BITS, y)
    model.save(tmp_path / "m")
    loaded = type(model).load(tmp_path / "m")
    assert loaded.get_params() == model.get_params()
    for name, value in vars(model).items():
        if name.endswith("_") and name != "history_":
            assert np.array_equal(np.asarray(getattr(loaded, name)), np.asarray(value)), name
    assert [{**r, "seconds": 0} for r in loaded.history_] == [{**r, "seconds": 0} for r in model.history_]
    plain = novikoff.load_model(tmp_path / "m")
    for rows in (BITS, sp.csr_array(BITS)):
        assert same_bits(loaded.predict(rows), model.predict(rows))
        assert same_bits(plain.predict(rows), model.predict(rows))
        assert same_bits(loaded.decision_function(rows), model.decision_function(rows))
        assert same_bits(plain.scores(rows), model.decision_function(rows))
    assert [plain.predict_one(x) for x in BITS] == model.predict(BITS).tolist()
    if hasattr(model, "partial_fit"):
        model.partial_fit(BITS[::-1], y[::-1])
        loaded.partial_fit(BITS[::-1], y[::-1])
        assert same_bits(loaded.coef_, model.coef_) and same_bits(loaded.predict(X**2), model.predict(X**2))


def test_names_of_columns_are_saved(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(BITS, columns=["a", "b", "c"])
    for made in (VotedPerceptron(), Pocket(), Winnow()):
        model = made.set_params(max_epochs=2).fit(frame, TWO)
        model.save(tmp_path / "m")
        assert type(model).load(tmp_path / "m").feature_names_in_.tolist() == ["a", "b", "c"]
        loaded = novikoff.load_model(tmp_path / "m")
        expected = model.predict(frame).tolist()
        assert [loaded.predict_one(dict(zip("abc", x, strict=True))) for x in BITS] == expected
        assert [loaded.predict_one(row) for _, row in frame.iterrows()] == expected


def test_every_estimator_saves_and_loads():
    """By its own name; the ones with a stream, a file or a cluster included."""
    from novikoff import SequenceTagger, StructuredPerceptron

    estimators = [Perceptron, VotedPerceptron, Pocket, Winnow, KernelPerceptron, OnlinePerceptron]
    estimators += [OnlineKernelPerceptron, SequenceTagger, StructuredPerceptron]
    for cls in estimators:
        assert callable(cls.save) and callable(cls.load), cls


def test_the_estimators_of_a_cluster_save_and_load():
    pytest.importorskip("distributed")
    for name in ("DistributedPerceptron", "DistributedTagger"):
        cls = getattr(novikoff.dask, name)
        assert callable(cls.save) and callable(cls.load)


def test_a_file_of_another_estimator_is_refused(tmp_path):
    VotedPerceptron(max_epochs=1).fit(BITS, TWO).save(tmp_path / "voted")
    Pocket(max_epochs=1).fit(BITS, TWO).save(tmp_path / "pocket")
    Perceptron(max_epochs=1).fit(BITS, TWO).save(tmp_path / "linear")
    Winnow(max_epochs=1).fit(BITS, TWO).save(tmp_path / "winnow")
    with pytest.raises(
        ValueError, match=r"voted: holds a novikoff voted perceptron, expected a model: novikoff"
    ):
        Perceptron.load(tmp_path / "voted")
    with pytest.raises(ValueError, match=r"pocket: .*Pocket.load, or novikoff.load_model, reads it"):
        Perceptron.load(tmp_path / "pocket")
    with pytest.raises(ValueError, match=r"linear: holds a Perceptron, expected a Pocket"):
        Pocket.load(tmp_path / "linear")
    with pytest.raises(ValueError, match=r"winnow: holds a novikoff Winnow, expected a voted"):
        VotedPerceptron.load(tmp_path / "winnow")


def test_models_can_be_copied_after_predicting(tmp_path):
    for made in (Perceptron(), VotedPerceptron(), Winnow(), KernelPerceptron()):
        made.set_params(max_epochs=2).fit(BITS, TWO).save(tmp_path / "m")
        loaded = novikoff.load_model(tmp_path / "m")
        loaded.predict_one(BITS[0])
        assert "_reader" not in loaded.__getstate__() and "_predictor" not in loaded.__getstate__()


# ---- nothing in a file is believed ---------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put("predict_with", value="best"), "predict_with is 'best', expected one of"),
        (put("sequence", "n_rows", value=-1), "n_rows is -1"),
        (put("sequence", "n_features", value=7), "'vectors' has type"),
        (put("sequence", "storage", value="disk"), "storage is 'disk', expected one of dense, sparse"),
        (put("linear", "settings", "multiclass", value="ovr"), "parts has 1 entries, expected 3"),
        (lambda f, a: a["sequence.used"].__setitem__(0, 99), "the updates name supports that are not from 0"),
        (
            lambda f, a: a["sequence.support"].__setitem__(0, 1 << 40),
            "the supports' numbers are not distinct",
        ),
        (
            lambda f, a: a["sequence.label"].__setitem__(0, 3),
            "the updates name classes that are not from 0 to 2",
        ),
        (lambda f, a: a["sequence.rival"].__setitem__(slice(None), a["sequence.label"]), "against itself"),
        (
            lambda f, a: a["sequence.visit"].__setitem__(0, 1 << 40),
            "the visits of the updates are not increasing",
        ),
        (lambda f, a: a["sequence.vectors"].__setitem__((0, 0), np.nan), "holds NaN or infinity"),
        (lambda f, a: a["sequence.step"].__setitem__(0, np.inf), "holds NaN or infinity"),
        (put_array("sequence.vectors", np.zeros((1, 1))), "'vectors' has type"),
    ],
)
def test_a_voted_perceptron_whose_parts_do_not_fit(change, said, tmp_path):
    content = saved(VotedPerceptron(max_epochs=2, random_state=0).fit(X, THREE))
    assert said in refused(tmp_path / "m", tampered(content, change, "voted perceptron"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put("winnow", "alpha", value=1.0), "alpha is 1.0, expected a number ≥ 1.001"),
        (put("winnow", "alpha", value=1e9), "alpha is 1000000000.0"),
        (put("winnow", "threshold", value=float("inf")), "threshold inf"),
        (put("winnow", "counts", "mistakes", value=-1), "mistakes is -1"),
        (put("winnow", "balanced", value=1), "balanced is 1, expected bool"),
        (put("run", "history", value=[{"mistakes": 1}]), "expected numbers with mistakes and promotions"),
        (lambda f, a: a["winnow.exponents"].__setitem__((0, 0), 9999), "the exponents are not from"),
        (put_array("winnow.exponents", np.zeros((1, 3))), "'exponents' has type float64"),
        (put_array("winnow.exponents", np.zeros((3, 3), dtype=np.int32)), "labels"),
        (put_array("winnow.exponents", np.zeros((1, 4), dtype=np.int32)), "by name, but weights for 4"),
    ],
)
def test_a_winnow_whose_parts_do_not_fit(change, said, tmp_path):
    content = saved(Winnow(max_epochs=2, random_state=0).fit(BITS, TWO))
    assert said in refused(tmp_path / "m", tampered(content, change, "Winnow"))
