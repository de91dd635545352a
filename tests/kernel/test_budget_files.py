"""Files of kernel models that are no plain sequence of updates: conjunctions, budgets, streams.

What is saved is what is loaded: coefficients, supports, the factor of the projection and the state of the
generator, so that predictions, and whatever is learned afterwards, are those of the saved model, bit by bit.
"""

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import novikoff
from novikoff import KernelModel, KernelPerceptron, OnlineKernelPerceptron, Perceptron
from novikoff.kernel.dual_model import DualModel
from novikoff.reference.budget import POLICIES
from support.commands import run
from support.marks import may_not_separate
from support.rows import libsvm
from support.tampered import edit, put, refused, saved, tampered

pytestmark = may_not_separate
WAYS = ("last", "averaged", "voted")


def bits(n=90, d=11, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, (n, d)).astype(np.float64), rng.integers(0, n_classes, n)


def points(n=120, n_classes=2, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, 3)).round(2)
    return X, np.searchsorted(np.linspace(0, 2.5, n_classes + 1)[1:-1], np.linalg.norm(X, axis=1))


def both(model, path, X):
    """The model read back as an estimator, found to be the same, and as plain data."""
    model.save(path)
    again, plain = KernelPerceptron.load(path), novikoff.load_model(path)
    assert isinstance(plain, KernelModel)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(plain.scores(X), model.decision_function(X))
    np.testing.assert_array_equal(plain.predict(X), model.predict(X))
    labels, scores = plain.predict_and_score(X)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_array_equal(scores, plain.scores(X))
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
    np.testing.assert_array_equal(again.support_, model.support_)
    rows = (m.support_vectors_ for m in (again, model))
    rows = [r.toarray() if sp.issparse(r) else r for r in rows]
    np.testing.assert_array_equal(*rows)
    unkept = {"seconds": None, "compensated": None, "accumulator": None}
    np.testing.assert_equal(again.report().to_dict(), model.report().to_dict() | unkept)  # NaN among them
    first = path.read_bytes()
    plain.save(path)
    assert path.read_bytes() == first
    again.save(path)
    assert path.read_bytes() == first
    return again


# ---- conjunctions ------------------------------------------------------------------------------------
STORED = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "uint8": lambda X: X.astype(np.uint8),
    "csr": sp.csr_array,
}


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize(("n_classes", "multiclass"), [(2, "ovr"), (3, "ovr"), (3, "joint")])
def test_conjunctions(tmp_path, stored, n_classes, multiclass):
    X, y = bits(n_classes=n_classes)
    X = STORED[stored](X)
    model = KernelPerceptron(
        "monotone_conjunction", max_epochs=3, random_state=1, multiclass=multiclass, fit_intercept=True
    ).fit(X, y)
    for way in WAYS:
        again = both(model.set_params(predict_with=way), tmp_path / "m", X)
    assert again.kernel == "monotone_conjunction"
    assert again.support_vectors_.dtype == model.support_vectors_.dtype
    for one in (model, again):
        one.partial_fit(X[::-1], y)
    np.testing.assert_array_equal(again.update_order_, model.update_order_)


def test_dense_bits_are_packed(tmp_path):
    """Eight columns a byte: 5,000 columns of float64 would take 40,000 bytes a support."""
    X = np.triu(np.ones((60, 5000)))[:, ::-1]
    model = KernelPerceptron("monotone_conjunction", order="cyclic", max_epochs=2, predict_with="last")
    model.fit(X, np.arange(60) % 2)
    again = both(model, tmp_path / "m", X)
    assert (tmp_path / "m").stat().st_size < 60 * 625 + 20_000
    assert again.radius_ == np.inf and again.log2_radius_ == model.log2_radius_ == 2500.0


# ---- budgets -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("n_classes", "multiclass"), [(2, "ovr"), (3, "joint")])
@pytest.mark.parametrize("sparse", [False, True])
def test_budgets(tmp_path, policy, n_classes, multiclass, sparse):
    """Every policy predicts alike, and goes on learning alike: the projection and the draws are kept."""
    X, y = points(n_classes=n_classes)
    if sparse:  # with so many columns of zeros that supports are kept sparse
        X = sp.csr_array(np.hstack([np.where(np.abs(X) > 0.4, X, 0), np.zeros((len(X), 60))]))
    model = KernelPerceptron(
        gamma=1.0, budget=12, budget_policy=policy, max_epochs=2, random_state=4, multiclass=multiclass
    ).fit(X, y)
    for way in ("last", "averaged", None) if policy.startswith("projectron") else ("last", None):
        again = both(model.set_params(predict_with=way), tmp_path / "m", X)
    assert again.get_params() == model.get_params()
    for one in (model, again):
        one.partial_fit(X[::-1], y[::-1])
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
    np.testing.assert_array_equal(again.support_, model.support_)
    assert again.n_mistakes_ == model.n_mistakes_


@pytest.mark.parametrize("policy", POLICIES)
def test_budgets_of_other_kernels(tmp_path, policy):
    X, y = bits()
    how = {"budget": 7, "budget_policy": policy, "max_epochs": 2, "random_state": 0}
    again = both(KernelPerceptron("monotone_conjunction", **how).fit(X, y), tmp_path / "m", X)
    assert len(again.support_) == 7
    both(KernelPerceptron("monotone_conjunction", **how).fit(sp.csr_array(X), y), tmp_path / "m", X)
    both(KernelPerceptron("precomputed", **how).fit(1 + X @ X.T, y), tmp_path / "m", (1 + X @ X.T)[:9])
    with pytest.raises(ValueError, match="Python function"):
        KernelPerceptron(lambda A, B: A @ B.T, **how).fit(X, y).save(tmp_path / "m")


def test_an_average_that_is_not_there(tmp_path):
    X, y = points()
    model = KernelPerceptron(budget=5, budget_policy="oldest").fit(X, y).set_params(predict_with="averaged")
    with pytest.raises(ValueError, match="'averaged' is not possible with budget_policy='oldest'"):
        model.save(tmp_path / "m")
    model = model.set_params(predict_with=None).to_model()
    model.predict_with = "averaged"  # as files of version 0.1 may have it
    model.save(tmp_path / "m")
    with pytest.raises(ValueError, match="'averaged' is not possible with budget_policy='oldest'"):
        novikoff.load_model(tmp_path / "m").predict(X)
    loaded = KernelPerceptron.load(tmp_path / "m").set_params(predict_with=None)
    assert len(loaded.predict(X)) == len(X)


def test_what_was_learned_before_an_interrupt_can_be_saved(tmp_path, monkeypatch):
    """The numbers of supports are those of rows that were given, wherever the interrupt came."""
    from novikoff.kernel.budget import _RowBudget

    X, y = points()
    visit_rows = _RowBudget.visit_rows

    def interrupted(self, X, labels, order):
        visit_rows(self, X, labels, order[:50])
        raise KeyboardInterrupt

    monkeypatch.setattr(_RowBudget, "visit_rows", interrupted)
    model = KernelPerceptron(budget=10, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    monkeypatch.undo()
    both(model, tmp_path / "m", X)


# ---- files that cannot be believed -------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put("budgeted", "budget", value=3), "it has 10 supports, expected at most 3"),
        (put("budgeted", "budget", value=0), "budget is 0"),
        (put("budgeted", "policy", value="newest"), "policy is 'newest', expected one of projectron"),
        (put("budgeted", "n_rows", value=4), "not distinct ones below 4"),
        (put("budgeted", "tie_is_mistake", value=1), "tie_is_mistake is 1, expected bool"),
        (put("budgeted", "joint", value=None), "joint is missing"),
        (put("budgeted", "visits", value=-1), "visits is -1"),
        (put("budgeted", "radius", value=float("nan")), "radius is nan"),
        (put("budgeted", "damage", value="much"), "damage is 'much'"),
        (
            put("budgeted", "n_classes", value=3),
            "the array 'alpha' has type float64 and shape (1, 10), expected float64 and (3",
        ),
        (put("budgeted", "n_features", value=2), "the array 'vectors' has type float64"),
        (put("budgeted", "generator", value={"state": 1}), "inc is missing"),
        (put("budgeted", "generator", value={"state": -1, "inc": 1}), "state is -1"),
        (edit("budgeted.alpha", (0, 0), np.nan), "holds NaN"),
        (edit("budgeted.basis", 0, 99), "do not fit"),
        (edit("budgeted.basis", 0, 1), "not that of distinct supports"),
        (edit("budgeted.factor", 0, 0.0), "not that of distinct supports"),
        (edit("budgeted.support", 0, -1), "not distinct"),
        (edit("budgeted.vectors", (0, 0), np.inf), "holds NaN or infinity"),
    ],
)
def test_parts_that_do_not_fit_each_other(tmp_path, change, said):
    X, y = points()
    model = KernelPerceptron(gamma=1.0, budget=10, random_state=0).fit(X, y)
    assert said in refused(tmp_path / "m", tampered(saved(model), change))


def test_bits_that_do_not_fit(tmp_path):
    X, y = bits()
    for rows, change, said in [
        (X, lambda f, a: a["dual.vectors"].__setitem__((0, -1), 0xFF), "ones beyond their last column"),
        (X, lambda f, a: f["dual"].update(type="complex128"), "type is 'complex128'"),
        (X, lambda f, a: f["dual"]["kernel"].update(offset=0.5), "offset is 0.5, expected 0 or 1"),
        (X, lambda f, a: f["dual"].update(storage="dense"), "storage is 'dense', expected one of bits"),
        (sp.csr_array(X), lambda f, a: a["dual.vectors.data"].__setitem__(0, 2.0), "takes rows of 0 and 1"),
    ]:
        model = KernelPerceptron("monotone_conjunction", random_state=0).fit(rows, y)
        assert said in refused(tmp_path / "m", tampered(saved(model), change))


# ---- streams -----------------------------------------------------------------------------------------
examples = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from("abcd"), st.integers(-3, 3), max_size=4),
        st.sampled_from(["x", "y", "z"]),
    ),
    min_size=1,
    max_size=14,
)


@given(
    examples,
    st.sampled_from(POLICIES),
    st.sampled_from([None, 1, 3]),
    st.sampled_from(["ovr", "joint"]),
    st.sampled_from([None, 4]),
    st.data(),
)
def test_a_stream_goes_on_where_it_was(tmp_path_factory, stream, policy, budget, multiclass, hashed, data):
    """Saved and loaded after any example, it is afterwards what it would have been."""
    path = tmp_path_factory.mktemp("stream") / "m"
    how = {"budget": budget, "budget_policy": policy, "multiclass": multiclass, "hash_bits": hashed}
    whole, parts = (OnlineKernelPerceptron("rbf", **how, random_state=1) for _ in range(2))
    cut = data.draw(st.integers(0, len(stream)))
    for i, (x, y) in enumerate(stream):
        if i == cut:
            parts.save(path)
            first = path.read_bytes()
            parts = OnlineKernelPerceptron.load(path)
            parts.save(path)
            assert path.read_bytes() == first
        whole.learn_one(x, y)
        parts.learn_one(x, y)
    assert parts.get_params() == whole.get_params() and parts.classes_ == whole.classes_
    np.testing.assert_array_equal(parts.dual_coef_, whole.dual_coef_)
    np.testing.assert_array_equal(parts.support_, whole.support_)
    for name in ("n_visits_", "n_updates_", "n_mistakes_", "n_features_in_"):
        assert getattr(parts, name) == getattr(whole, name)
    for x, _ in stream:
        assert parts.score_one(x) == whole.score_one(x) and parts.predict_one(x) == whole.predict_one(x)


def test_streams_of_arrays(tmp_path):
    X, y = points()
    model = OnlineKernelPerceptron("poly", gamma=1.0, budget=9, predict_with="averaged", ties="mistake")
    model.learn_many(X, y.tolist())
    model.save(tmp_path / "m")
    again = OnlineKernelPerceptron.load(tmp_path / "m")
    assert [again.score_one(x) for x in X] == [model.score_one(x) for x in X]
    again = pickle.loads(pickle.dumps(again))
    assert again.n_features_in_ == 3 and repr(again) == repr(model)


@pytest.mark.parametrize("budget", [None, 2])
def test_two_classes_share_a_column_also_jointly(budget):
    """With two classes there is nothing that a joint update could do otherwise."""
    X, y = points(40)
    apart, joint = (
        OnlineKernelPerceptron("rbf", budget=budget, multiclass=m, classes=[0, 1]) for m in ("ovr", "joint")
    )
    for model in (apart, joint):
        model.learn_many(X, y.tolist())
    np.testing.assert_array_equal(apart.dual_coef_, joint.dual_coef_)
    assert apart.n_mistakes_ == joint.n_mistakes_ and apart.n_updates_ == joint.n_updates_


def test_streams_that_cannot_be_files(tmp_path):
    path = tmp_path / "m"
    model = OnlineKernelPerceptron(lambda a, b: np.ones((len(a), len(b))))
    with pytest.raises(ValueError, match="Python function"):
        model.save(path)
    model = OnlineKernelPerceptron("linear")
    model.learn_one({"a": 1.0}, ("a", "tuple"))
    with pytest.raises(ValueError, match="labels that are numbers or text, not tuple"):
        model.save(path)
    assert not path.exists()


def test_streams_that_cannot_be_believed(tmp_path):
    path = tmp_path / "m"
    model = OnlineKernelPerceptron("linear", budget=3)
    model.learn_many([({"a": 1.0}, 0), ({"b": 2.0}, 1), ({"a": 3.0}, 0)])
    for change, said in [
        (lambda f, a: f["parameters"].update(gamma=2.0), "does not match the parameters"),
        (lambda f, a: f["parameters"].update(budget=4), "does not match the parameters"),
        (
            lambda f, a: f["parameters"].update(callback="os.system"),
            "parameters of OnlineKernelPerceptron that this version does not know",
        ),
        (lambda f, a: f["parameters"].update(kernel="os.system"), "kernel='os.system' is not possible"),
        (lambda f, a: f.update(classes=[0, 0]), "labels are repeated"),
        (lambda f, a: f.update(classes=[0, 1, 2]), "does not match the parameters or the labels"),
        (lambda f, a: f.update(named=False), "do not fit the names"),
        (lambda f, a: f.update(n_mistakes=-1), "n_mistakes is -1"),
        (lambda f, a: a.pop("names"), "'names' is missing"),
    ]:
        path.write_bytes(tampered(saved(model), change, "online kernel"))
        with pytest.raises(ValueError, match=said) as info:
            OnlineKernelPerceptron.load(path)
        assert str(info.value).startswith(f"{path}: ") and "\n" not in str(info.value)
        with pytest.raises(ValueError, match=said):
            novikoff.load_model(path)


# ---- the command line --------------------------------------------------------------------------------


def test_conjunctions_from_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = bits()
    Path("t.svm").write_bytes(libsvm(X, y))
    said = run("fit", "t.svm", "--kernel", "monotone_conjunction", "--quiet", "--test", "t.svm").stdout
    assert "KernelPerceptron('monotone_conjunction')" in said
    model = KernelPerceptron("monotone_conjunction", random_state=0).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(KernelPerceptron.load("t.novikoff").dual_coef_, model.dual_coef_)
    labels = [int(label) for label in run("predict", "t.novikoff", "t.svm").stdout.split()]
    assert labels == model.predict(X).tolist()
    lines = run("predict", "t.novikoff", "t.svm", "--scores").stdout.splitlines()
    assert [float(line.split("\t")[1]) for line in lines] == model.decision_function(X).tolist()
    assert f"{(labels != y).sum()} errors" in run("evaluate", "t.novikoff", "t.svm").stdout
    assert "monotone_conjunction" in run("inspect", "t.novikoff").stdout


@pytest.mark.parametrize("policy", POLICIES)
def test_budgets_from_files(tmp_path, monkeypatch, policy):
    monkeypatch.chdir(tmp_path)
    X, y = points()
    Path("t.svm").write_bytes(libsvm(X, y))
    run("fit", "t.svm", "--kernel", "rbf", "--budget", 9, "--budget-policy", policy, "--quiet")
    model = KernelPerceptron("rbf", budget=9, budget_policy=policy, random_state=0).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(KernelPerceptron.load("t.novikoff").dual_coef_, model.dual_coef_)
    labels = run("predict", "t.novikoff", "t.svm").stdout.split()
    assert [int(label) for label in labels] == model.predict(X).tolist()
    shown = run("inspect", "t.novikoff").stdout
    assert f"9 of 120 rows, at most 9 ({policy})" in shown
    assert ("the mean of" if policy.startswith("projectron") else "the last coefficients") in shown
    facts = json.loads(run("inspect", "t.novikoff", "--json").stdout)
    assert facts["budget"] == 9 and facts["budget_policy"] == policy and facts["n_supports"] == 9


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--budget", "5"), "--budget is only possible with --kernel"),
        (("--kernel", "rbf", "--budget-policy", "oldest"), "--budget-policy is only possible with --budget"),
        (("--kernel", "rbf", "--budget", "0"), "--budget: 0 is not possible: expected a whole number ≥ 1"),
        (("--kernel", "rbf", "--budget", "5", "--budget-policy", "newest"), "expected one of 'projectron'"),
        (("--kernel", "rbf", "--budget", "5", "--order", "worst"), "--order: worst is not possible"),
        (
            ("--kernel", "rbf", "--budget", "5", "--budget-policy", "oldest", "--predict-with", "averaged"),
            "--predict-with: averaged is not possible with --budget-policy oldest",
        ),
        (
            ("--kernel", "rbf", "--budget", "5", "--predict-with", "voted"),
            "--predict-with: voted is not possible with a budget",
        ),
        (("--kernel", "monotone_conjunction", "--gamma", "1"), "--gamma is not possible with --kernel mono"),
        (("--kernel", "monotone_conjunction", "--degree", "2"), "--degree is only possible with --kernel p"),
    ],
)
def test_options_that_make_no_sense(tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    Path("t.svm").write_bytes(libsvm(*points(10)))
    assert said in " ".join(run("fit", "t.svm", *options, code=2).stderr.split())
    assert not Path("t.novikoff").exists()


def test_values_that_are_no_bits(tmp_path, monkeypatch):
    """The first of them is named, by its row and column."""
    monkeypatch.chdir(tmp_path)
    Path("t.svm").write_text("1 1:1 3:1\n0 2:1 3:0.5\n1 1:7\n")
    said = run("fit", "t.svm", "--kernel", "monotone_conjunction", code=1).stderr
    assert "t.svm, line 2: feature '3' is 0.5: the monotone-conjunction kernel takes rows of 0 and 1" in said
    assert not Path("t.novikoff").exists()
    Path("u.svm").write_text("1 1:1 3:1\n0 2:1 3:1\n")
    run("fit", "u.svm", "--kernel", "monotone_conjunction", "--quiet")
    for command in ("predict", "evaluate"):
        assert "t.svm, line 2: feature '3' is 0.5" in run(command, "u.novikoff", "t.svm", code=1).stderr
    Path("v.svm").write_text("1 1:1 3:1\n0 2:1 3:-1\n")
    said = run("fit", "v.svm", "--kernel", "chi2", code=1).stderr
    assert "v.svm, line 2: feature '3' is -1: the kernel 'chi2' is for numbers ≥ 0" in said


def test_labels_and_scores_come_from_one_computation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.svm").write_bytes(libsvm(*points()))
    run("fit", "t.svm", "--kernel", "rbf", "--quiet")
    calls, votes = [], DualModel.votes
    monkeypatch.setattr(DualModel, "votes", lambda self, *a: calls.append(1) or votes(self, *a))
    lines = run("predict", "t.novikoff", "t.svm", "--scores").stdout.splitlines()
    assert len(calls) == 1  # one block
    assert all((float(score) >= 0) == (label == "1") for label, score in (line.split("\t") for line in lines))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_linear_models_give_both_at_once_too(tmp_path, n_classes):
    """Where scores tie, as those of small integers do, the label is the one that `predict` gives."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-1, 2, (200, 3)).astype(float), rng.integers(0, n_classes, 200)
    Perceptron(max_epochs=2, random_state=0).fit(X, y).save(tmp_path / "m")
    model = novikoff.load_model(tmp_path / "m")
    labels, scores = model.predict_and_score(X)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_array_equal(scores, model.scores(X))


def test_a_cache_too_small(tmp_path, monkeypatch):
    """What is declared as the least that works, does; a thousandth less does not."""
    monkeypatch.chdir(tmp_path)
    Path("t.svm").write_bytes(libsvm(*points()))
    options = ("fit", "t.svm", "--kernel", "rbf", "--quiet", "--n-jobs", 1, "--cache-mb")
    said = run(*options, 0.001, code=1).stderr
    assert "--cache-mb=0.001 is too small for 120 rows and 2 classes" in said
    least = float(re.search(r"values take ([\d.]+), the least that works", said)[1])
    run(*options, least)
    assert "too small" in run(*options, least - 0.001, code=1).stderr


# ---- kernels that are none ---------------------------------------------------------------------------
@pytest.mark.parametrize("budget", [None, 5])
@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (lambda A, B: B @ A.T, "must return an array of the shape"),
        (lambda A, B: A[:, 0], r"of the shape \(32, 32\), but returned one of the shape \(32,\)"),
        (lambda A, B: None, "an array of real numbers, but returned NoneType"),
        (lambda A, B: [["a"] * len(B)] * len(A), "an array of real numbers, but returned list"),
        (lambda A, B: A @ B.T * 1j, "but returned one of complex128"),
        (lambda A, B: np.where(A[:, :1] == 7.0, np.nan, A @ B.T), "NaN for rows 37 and 32"),
        (lambda A, B: A[:, :1] - B[:, :1].T, r"not symmetric: K\(0, 1\)"),
        (lambda A, B: -(A @ B.T), r"K\(x, x\) = -.* for row 0"),
    ],
)
def test_functions_that_are_no_kernels(kernel, said, budget):
    X, y = points()
    X[37, 0] = 7.0
    model = KernelPerceptron(kernel, budget=budget)
    with pytest.raises(ValueError, match=said):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("budget", [None, 5])
def test_matrices_that_are_no_kernels(budget):
    X, y = points(600)
    gram = X @ X.T
    gram[3, 570] += 1.0  # far from the diagonal
    for rows in (gram, sp.csr_array(gram)):
        with pytest.raises(ValueError, match=r"not symmetric: K\(3, 570\) = .* but K\(570, 3\)"):
            KernelPerceptron("precomputed", budget=budget).fit(rows, y)
    with pytest.raises(ValueError, match=r"the shape \(600, 599\), which is not square"):
        KernelPerceptron("precomputed", budget=budget).fit(gram[:, 1:], y)
    model = KernelPerceptron("precomputed", budget=budget, max_epochs=1).fit(X @ X.T, y)
    with pytest.raises(ValueError, match="a column for each of the 600 training rows"):
        model.predict(gram[:2, 1:])


def test_arguments_for_a_function_that_is_not_there():
    with pytest.raises(ValueError, match="is for a kernel that is a function"):
        KernelPerceptron("rbf", kernel_params={"a": 1}).fit(*points())


@pytest.mark.parametrize("budget", [None, 5])
def test_the_first_value_that_is_no_bit(budget):
    X, y = bits()
    X[5, 1], X[7, 0] = 2, -1
    for rows in (X, sp.csr_array(X), X.astype(np.float32)):
        with pytest.raises(ValueError, match=r"X\[5, 1\] is 2: the monotone-conjunction kernel takes rows"):
            KernelPerceptron("monotone_conjunction", budget=budget).fit(rows, y)
