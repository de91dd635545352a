"""Files of kernel models, and the commands that make and use them.

What is saved is what is loaded: the supports and the update sequence decide every prediction, so a loaded
model predicts as the saved one, bit by bit. Nothing in a file is believed that does not fit.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import novikoff
from novikoff import KernelModel, KernelPerceptron, Perceptron
from novikoff.data.sources.block import Block
from novikoff.kernel.function import kernel_values
from novikoff.kernel.kernels import NamedKernel
from novikoff.modelfile import container as modelfile
from support.children import run_python
from support.commands import run
from support.marks import may_not_separate
from support.tampered import check_changed_bytes, edit, loaded, put, put_anything, refused, saved, tampered

pytestmark = may_not_separate
WAYS = ("last", "averaged", "voted")


def data(n_classes=2, n=80, d=3, seed=0):
    """Classes that lie about the origin like onion skins: no line separates them."""
    X = np.random.default_rng(seed).standard_normal((n, d)).round(2)
    return X, np.searchsorted(np.linspace(0, 2.5, n_classes + 1)[1:-1], np.linalg.norm(X, axis=1))


def fitted(X, y, **params):
    return KernelPerceptron(
        **({"kernel": "poly", "degree": 2, "max_epochs": 3, "random_state": 1} | params)
    ).fit(X, y)


STORED = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "uint8": lambda X: np.abs(4 * X).astype(np.uint8),
    "csr": lambda X: sp.csr_array(np.where(np.abs(X) > 0.6, X, 0)),
}


# ---- files -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize(("n_classes", "multiclass"), [(2, "ovr"), (3, "ovr"), (3, "joint")])
def test_round_trip(tmp_path, stored, n_classes, multiclass):
    """All three ways of predicting, the report, the arrays and `partial_fit` are those of the saved model."""
    X, y = data(n_classes)
    X = STORED[stored](X)
    model = fitted(X, y, multiclass=multiclass, fit_intercept=True)
    for way in WAYS:
        model.set_params(predict_with=way).save(tmp_path / "m")
        plain, again = novikoff.load_model(tmp_path / "m"), KernelPerceptron.load(tmp_path / "m")
        assert isinstance(plain, KernelModel) and again.predict_with == plain.predict_with == way
        np.testing.assert_array_equal(plain.predict(X), model.predict(X))
        np.testing.assert_array_equal(plain.scores(X), model.decision_function(X))
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.support_vectors_.dtype == model.support_vectors_.dtype
    for name in ("support_", "dual_coef_", "update_order_", "update_moves_", "update_visits_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    unkept = {"seconds": None, "compensated": None, "accumulator": None}
    assert again.report().to_dict() == model.report().to_dict() | unkept == plain.report.to_dict()
    more, labels = data(n_classes, seed=5)
    more = STORED[stored](more)
    for one in (model, again):
        one.partial_fit(more, labels)
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
    np.testing.assert_array_equal(again.update_visits_, model.update_visits_)


@pytest.mark.parametrize(
    "params",
    [
        {"kernel": "linear"},
        {"kernel": "rbf", "gamma": "auto"},
        {"kernel": "laplacian", "gamma": 0.3},
        {"kernel": "chi2", "gamma": 0.3},
        {"kernel": "cosine"},
    ],
)
def test_every_kernel_with_a_name(tmp_path, params):
    X, y = data()
    X = np.abs(X)
    model = fitted(X, y, **params)
    model.save(tmp_path / "m")
    again = KernelPerceptron.load(tmp_path / "m")
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_precomputed(tmp_path):
    """The file holds the numbers of the columns; what is predicted needs a column a training row."""
    X, y = data()
    gram = (1 + X @ X.T) ** 2
    model = fitted(gram, y, kernel="precomputed")
    model.save(tmp_path / "m")
    loaded = novikoff.load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.scores(gram[:7]), model.decision_function(gram[:7]))
    with pytest.raises(ValueError, match="expects rows of 80 features"):
        loaded.predict(gram[:, :5])


def test_names_and_labels(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = data()
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = fitted(frame, np.array(["in", "out"])[y])
    model.save(tmp_path / "m")
    again = KernelPerceptron.load(tmp_path / "m")
    assert again.feature_names_in_.tolist() == ["a", "b", "c"]
    assert again.predict(frame).tolist() == model.predict(frame).tolist()


def test_equal_models_are_equal_files(tmp_path):
    X, y = data()
    for name in "ab":
        fitted(X, y).save(tmp_path / name)
    novikoff.load_model(tmp_path / "a").save(tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


def test_functions_cannot_be_saved(tmp_path):
    X, y = data()
    model = fitted(X, y, kernel=lambda A, B: (1 + A @ B.T) ** 2)
    with pytest.raises(ValueError, match="the kernel is a Python function, which a file of data cannot hold"):
        model.save(tmp_path / "m")
    words = KernelPerceptron(lambda A, B: np.array([[float(a == b) for b in B] for a in A])).fit(
        ["a", "b", "c"], [0, 1, 0]
    )
    with pytest.raises(ValueError, match="Python function"):
        words.save(tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_the_two_kinds_are_told_apart(tmp_path):
    X, y = data()
    Perceptron(max_epochs=2).fit(X, y).save(tmp_path / "linear")
    fitted(X, y).save(tmp_path / "kernel")
    with pytest.raises(ValueError, match="kernel: holds a kernel model"):
        Perceptron.load(tmp_path / "kernel")
    with pytest.raises(ValueError, match="linear: holds a linear model"):
        KernelPerceptron.load(tmp_path / "linear")


def test_bad_rows(tmp_path):
    X, y = data()
    fitted(X, y).save(tmp_path / "m")
    loaded = novikoff.load_model(tmp_path / "m")
    with pytest.raises(ValueError, match="expects rows of 3 features"):
        loaded.predict(X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        loaded.predict([[0.0, np.nan, 1.0]])


# ---- files that cannot be believed -------------------------------------------------------------------
@pytest.fixture(scope="module")
def good():
    return saved(fitted(*data(3, n=30)))


def crafted(change, stored="float64", **params):
    """The file of a model after this change."""
    X, y = data(3, n=30)
    return tampered(saved(fitted(STORED[stored](X), y, **params)), change)


def test_every_cut_is_refused(tmp_path, good):
    for size in (*range(0, len(good), 97), len(good) - 1):
        refused(tmp_path / "m", good[:size])


@given(st.data())
def test_changed_bytes_are_refused_or_change_nothing(tmp_path_factory, good, draw):
    check_changed_bytes(tmp_path_factory.mktemp("fuzz") / "m", good, draw)


def test_a_newer_format(tmp_path, monkeypatch):
    X, y = data()
    monkeypatch.setattr(modelfile, "FORMAT", 2)
    fitted(X, y).save(tmp_path / "m")
    monkeypatch.undo()
    assert "written by a newer novikoff" in refused(tmp_path / "m", (tmp_path / "m").read_bytes())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put("dual", "kernel", "name", value="os.system"), "name is 'os.system', expected one of linear"),
        (put("dual", "kernel", "gamma", value=0.0), "gamma is 0"),
        (put("dual", "kernel", "gamma", value=float("inf")), "expected a finite number"),
        (put("dual", "kernel", "coef0", value=-1.0), "coef0 is -1"),
        (put("dual", "kernel", "degree", value=0), "degree is 0"),
        (put("dual", "kernel", "degree", value=1 << 20), "beyond what float64 holds"),
        (put("dual", "kernel", value=[]), "kernel is [], expected dict"),
        (put("dual", "storage", value="pickle"), "storage is 'pickle', expected one of dense, sparse"),
        (put("dual", "n_features", value=7), "the array 'vectors' has type float64"),
        (put("dual", "n_classes", value=4), "the array 'moves' has type int8"),
        (put("dual", "n_classes", value=1), "n_classes is 1"),
        (put("dual", "joint", value=True), "moves of an update are not one +1 and one −1"),
        (put("dual", "n_visits", value=3), "not increasing numbers below 3"),
        (put("dual", "n_rows", value=2), "not distinct ones below 2"),
        (put("dual", "radius", value=float("nan")), "radius is nan"),
        (put("predict_with", value="luck"), "predict_with is 'luck'"),
        (put("features", "state", "n_columns", value=9), "9 features by name, but its supports have 3"),
        (put("run", "verdict", value="proved"), "verdict is 'proved'"),
        (edit("dual.vectors", (0, 0), np.nan), "holds NaN or infinity"),
        (edit("dual.vectors", (0, 0), 1e200), "beyond what float64 holds"),
        (edit("dual.used", 0, -1), "updates name supports that are not from 0"),
        (edit("dual.used", 0, 10**6), "updates name supports that are not from 0"),
        (edit("dual.visit", 0, 10**6), "visits of the updates are not increasing"),
        (edit("dual.support", 0, -1), "not distinct ones"),
        (edit("dual.moves", 0, 2), "moves of an update are not −1, 0 and +1"),
        (edit("dual.moves", 0, 0), "moves of an update are not −1, 0 and +1"),
        (edit("dual.squares", 0, -1.0), "negative"),
        (lambda facts, arrays: arrays.pop("dual.moves"), "'moves' is missing"),
        (lambda facts, arrays: arrays.update({"dual.used": arrays["dual.used"].astype(float)}), "float64"),
    ],
)
def test_parts_that_do_not_fit_each_other(tmp_path, change, said):
    """With a digest that is right, so that only the checks of each part stand between it and a model."""
    assert said in refused(tmp_path / "m", crafted(change))


@pytest.mark.parametrize(
    ("name", "place", "value", "said"),
    [
        ("indptr", 0, 1, "do not begin and end"),
        ("indptr", 1, 10**6, "do not begin and end"),
        ("indptr", -1, 0, "do not begin and end"),
        ("indices", 0, -1, "columns that are not from 0 to 2"),
        ("indices", 0, 3, "columns that are not from 0 to 2"),
    ],
)
def test_sparse_supports_that_do_not_fit(tmp_path, name, place, value, said):
    content = crafted(edit(f"dual.vectors.{name}", place, value), stored="csr")
    assert said in refused(tmp_path / "m", content)


def test_sparse_supports_out_of_order(tmp_path):
    def change(facts, arrays):
        start = arrays["dual.vectors.indptr"]
        row = int(np.flatnonzero(np.diff(start) > 1)[0])
        part = slice(start[row], start[row + 1])
        arrays["dual.vectors.indices"][part] = arrays["dual.vectors.indices"][part][::-1].copy()

    assert "not in order" in refused(tmp_path / "m", crafted(change, stored="csr"))


def test_numbers_of_columns_that_do_not_fit(tmp_path):
    X, y = data(n=30)
    fitted(X @ X.T, y, kernel="precomputed").save(tmp_path / "m")
    facts, arrays = modelfile.read_file(tmp_path / "m", "model")
    arrays["dual.vectors"] = arrays["dual.vectors"] + 30
    modelfile.write_file(tmp_path / "m", facts, arrays, "model")
    assert "not numbers from 0 to 29" in refused(tmp_path / "m", (tmp_path / "m").read_bytes())


# ---- the command line --------------------------------------------------------------------------------
@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("train", 0), ("test", 1)):
        X, y = data(seed=seed)
        rows = zip(X.tolist(), y.tolist(), strict=True)
        lines = [f"{'in' if k == 0 else 'out'}," + ",".join(map(repr, row)) for row, k in rows]
        Path(f"{name}.csv").write_text("\n".join(["label,a,b,c", *lines]) + "\n")
    return tmp_path


def rows_of(name):
    lines = [line.split(",") for line in Path(name).read_text().splitlines()[1:]]
    return np.array([[float(v) for v in line[1:]] for line in lines]), [line[0] for line in lines]


POLY = ("--kernel", "poly", "--degree", 2, "--gamma", 1, "--quiet")


@pytest.mark.parametrize("way", WAYS)
def test_the_command_learns_as_the_estimator(folder, way):
    """The same rows, seed and parameters: the same supports, and the same predictions."""
    run("fit", "train.csv", "--label", "label", *POLY, "--predict-with", way, "--epochs", 4, "--cache-mb", 8)
    X, y = rows_of("train.csv")
    model = KernelPerceptron("poly", degree=2, gamma=1, predict_with=way, max_epochs=4, random_state=0).fit(
        X, y
    )
    loaded = KernelPerceptron.load("train.novikoff")
    np.testing.assert_array_equal(loaded.support_, model.support_)
    np.testing.assert_array_equal(loaded.dual_coef_, model.dual_coef_)
    test, labels = rows_of("test.csv")
    predicted = model.predict(test).tolist()
    assert run("predict", "train.novikoff", "test.csv").stdout.splitlines() == predicted
    found = json.loads(run("evaluate", "train.novikoff", "test.csv", "--json").stdout)
    assert found["errors"] == sum(p != t for p, t in zip(predicted, labels, strict=True))
    scored = run("predict", "train.novikoff", "test.csv", "--scores").stdout.splitlines()
    scores = [float(line.split("\t")[1]) for line in scored]
    np.testing.assert_array_equal(scores, model.decision_function(test))


def test_orders_bias_and_scaling(folder):
    """--order, --intercept and --scale do what they say; a model that scales is no estimator."""
    run(
        "fit", "train.csv", "--label", "label", *POLY, "--order", "cyclic", "--intercept", "--ties", "mistake"
    )
    X, y = rows_of("train.csv")
    model = KernelPerceptron("poly", degree=2, gamma=1, order="cyclic", fit_intercept=True, ties="mistake")
    model.fit(X, y)
    loaded = KernelPerceptron.load("train.novikoff")
    np.testing.assert_array_equal(loaded.update_order_, model.update_order_)
    assert loaded.fit_intercept and loaded.ties == "mistake"
    run("fit", "train.csv", "--label", "label", *POLY, "--scale", "standard")
    model = novikoff.load_model("train.novikoff")
    assert model.scaling.kind == "standard"
    rows = np.array([[0.5, 2.0, 1.0], [1.0, -1.0, 0.0]])
    scaled = np.asarray(model.scaling.transform(rows))
    np.testing.assert_array_equal(model.K(rows, rows), kernel_values(model.dual.kernel, scaled, scaled))
    assert model.K(rows[0], rows[1]) == model.K(rows, rows)[0, 1] != kernel_values(model.dual.kernel, *rows)
    run("predict", "train.novikoff", "test.csv")
    with pytest.raises(ValueError, match="scales its input"):
        KernelPerceptron.load("train.novikoff")


def test_sparse_files_of_three_classes(tmp_path, monkeypatch):
    """A LIBSVM file is CSR; classes are apart, or joint as asked."""
    monkeypatch.chdir(tmp_path)
    X, y = data(3)
    X = np.where(np.abs(X) > 0.5, X, 0)
    lines = [
        f"{k} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v)
        for k, row in zip(y, X.tolist(), strict=True)
    ]
    Path("t.svm").write_text("\n".join(lines) + "\n")
    for multiclass in ("ovr", "joint"):
        run("fit", "t.svm", *POLY, "--multiclass", multiclass)
        loaded = KernelPerceptron.load("t.novikoff")
        model = fitted(sp.csr_array(X), y, gamma=1, max_epochs=10, random_state=0, multiclass=multiclass)
        np.testing.assert_array_equal(loaded.dual_coef_, model.dual_coef_)
        assert loaded.classes_.tolist() == [0, 1, 2] and sp.issparse(loaded.support_vectors_)


def test_inspect(folder):
    said = run("fit", "train.csv", "--label", "label", *POLY, "--test", "test.csv").stdout
    assert "KernelPerceptron('poly')" in said and "test " in said
    shown = run("inspect", "train.novikoff").stdout
    model = novikoff.load_model("train.novikoff")
    assert "poly, gamma=1, degree=2, coef0=1" in shown
    assert f"{len(model.dual.support)} of 80 rows" in shown and "the votes of all hypotheses" in shown
    facts = json.loads(run("inspect", "train.novikoff", "--json").stdout)
    expected = {"name": "poly", "gamma": 1.0, "coef0": 1.0, "degree": 2, "offset": 0.0}
    assert facts["kernel"] == expected and facts["n_supports"] == len(model.dual.support)
    assert facts["report"]["mistakes"] == model.dual.n_updates == sum(facts["updates_by_class"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--kernel", "rbf", "--rule", "pa"), "--rule is not possible with --kernel"),
        (("--kernel", "rbf", "--average"), "--average is not possible with --kernel"),
        (("--kernel", "rbf", "--class-weight", "balanced"), "--class-weight is not possible with --kernel"),
        (("--kernel", "rbf", "--early-stopping"), "--early-stopping is not possible with --kernel"),
        (("--kernel", "rbf", "--checkpoint", "here"), "--checkpoint is not possible with --kernel"),
        (("--kernel", "rbf", "--degree", "3"), "--degree is only possible with --kernel poly"),
        (("--kernel", "linear", "--gamma", "2"), "--gamma is not possible with --kernel linear"),
        (("--degree", "3"), "--degree is only possible with --kernel"),
        (("--predict-with", "last"), "--predict-with is only possible with --kernel"),
        (("--kernel", "rbf", "--gamma", "-1"), "expected 'scale', 'auto' or a number > 0"),
        (("--kernel", "rbf", "--gamma", "wide"), "expected 'scale', 'auto' or a number > 0"),
        (("--kernel", "precomputed"), "expected one of 'linear'"),
    ],
)
def test_options_that_make_no_sense_together(folder, options, said):
    result = run("fit", "train.csv", "--label", "label", *options, code=2)
    assert said in " ".join(result.stderr.split())
    assert not Path("train.novikoff").exists()


def test_what_only_linear_models_can(folder):
    run("fit", "train.csv", "--label", "label", *POLY)
    assert "holds a kernel model" in run("convert", "train.novikoff", "m.onnx", code=1).stderr


def test_weighted_rows_are_refused(folder):
    Path("w.vw").write_text("1 2.0 | a:1 b:2\n-1 1.0 | a:2\n")
    assert "the rows have weights" in run("fit", "w.vw", *POLY, code=1).stderr


def test_the_command_needs_no_scikit_learn(folder):
    code = (
        "import sys; from novikoff.cli import main; sys.argv = ['novikoff', *sys.argv[1:]]\n"
        "try: main()\nexcept SystemExit as end: assert not end.code, end.code\n"
        "assert not any(name.split('.')[0] == 'sklearn' for name in sys.modules)"
    )
    for arguments in (
        ["fit", "train.csv", "--label", "label", "--kernel", "rbf"],
        ["predict", "train.novikoff", "test.csv"],
    ):
        run_python("-c", code, *arguments)


def test_kernel_by_name_settles_gamma_once(tmp_path):
    """The file holds the number that 'scale' stood for: 1/(d · variance)."""
    X, y = data()
    fitted(X, y, kernel="rbf").save(tmp_path / "m")
    kernel = novikoff.load_model(tmp_path / "m").dual.kernel
    assert isinstance(kernel, NamedKernel)
    assert kernel.gamma == pytest.approx(1 / (3 * X.var()))


@given(st.data())
def test_any_fact_replaced_by_anything(tmp_path_factory, good, draw):
    """No value of any fact leads to another error than a ValueError of one line."""
    model = loaded(tmp_path_factory.mktemp("facts") / "m", tampered(good, put_anything(draw)))
    if model is not None:
        model.predict(np.ones((1, 3)))


@pytest.mark.parametrize("multiclass", ["ovr", "joint"])
def test_a_run_holds_its_earlier_stages(multiclass):
    """An update sequence cut after k epochs is the model of k epochs: all stages of a table from one fit."""
    X, y = data(3)
    whole = fitted(X, y, max_epochs=4, multiclass=multiclass).to_model()
    for epochs in (1, 2, 3):
        early = fitted(X, y, max_epochs=epochs, multiclass=multiclass).to_model()
        cut = whole.dual.until(epochs * len(X))
        assert np.array_equal(cut.votes(X), early.dual.votes(X))
        for averaged in (False, True):
            expected = early.dual.scores(X, averaged=averaged)
            assert np.array_equal(cut.scores(X, averaged=averaged), expected)


def test_blocks_of_rows_are_predicted_as_arrays_are():
    X, y = data(3)
    model = fitted(X, y).to_model()
    blocks = [Block(X[:50], None, None, 0, str), Block(X[50:], None, None, 50, str)]
    assert np.array_equal(np.concatenate(list(model.predict_blocks(blocks))), model.predict(X))
    assert np.array_equal(np.concatenate(list(model.score_blocks(blocks))), model.scores(X))
