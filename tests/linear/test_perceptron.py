"""What `Perceptron` promises: the lecture's example, the theorems, verdicts, stopping, warnings."""

import math
import pickle
import threading
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from novikoff import Perceptron
from novikoff.parameters.linear import RULES
from support.children import Child
from support.lecture import SIX, SIX_Y
from support.marks import may_not_separate
from support.strategies import datasets, integers, separable, sparse


# ---- the lecture's six points -----------------------------------------------------------------------
def test_lecture_example_step_by_step():
    X, y = SIX, SIX_Y
    model = Perceptron(fit_intercept=False, average=False)
    path = []
    for i in range(6):
        before = 0 if i == 0 else model.n_mistakes_
        model.partial_fit(X[[i]], y[[i]], classes=[-1, 1])
        if model.n_mistakes_ > before:
            path.append((i + 1, model.coef_[0].tolist()))
    assert path == [(1, [1.0, -2.0]), (3, [2.0, -1.0]), (5, [3.0, 1.0])]


@may_not_separate
def test_lecture_example_averaged():
    X, y = SIX, SIX_Y
    model = Perceptron(fit_intercept=False, average=True, order="cyclic", max_epochs=1).fit(X, y)
    assert model.coef_.tolist() == [[2.0, -2 / 3]]


def test_lecture_example_margins():
    """R² = 5, the margin of (3, 1) is 1/√10, and ‖w‖/Στ = √10/3."""
    X, y = SIX, SIX_Y
    model = Perceptron(fit_intercept=False, order="cyclic").fit(X, y)
    assert model.radius_ == math.sqrt(5)
    assert model.margin_ == pytest.approx(1 / math.sqrt(10), rel=1e-15)
    assert model.margin_upper_ == pytest.approx(math.sqrt(10) / 3, rel=1e-15)
    report = model.report()
    assert report.mistakes == 3 and report.verdict == "separated"
    assert report.bound_lower <= 5 <= report.bound_upper  # γ = 1, so (R/γ)² = 5


# ---- verdicts ---------------------------------------------------------------------------------------
def test_consistent_is_not_separated():
    """(1,0)+, (−1,0)+, (0,1)−: no errors under the tie rule, yet no hyperplane through 0 separates them."""
    X, y = np.array([[1.0, 0], [-1, 0], [0, 1]]), np.array([1, 1, -1])
    model = Perceptron(fit_intercept=False, order="cyclic").fit(X, y)
    assert model.converged_ and model.score(X, y) == 1.0
    assert model.verdict_ == "undecided" and model.margin_ == 0
    assert model.report().consistent
    assert "but some score is exactly 0" in model.report().in_full()


def test_tie_is_lifted_through_the_bias():
    """A converged run with a positive at score 0 separates once its bias is raised."""
    X, y = np.array([[0.0], [1.0]]), np.array([1, -1])
    model = Perceptron(order="cyclic").fit(X, y)
    assert model.decision_function(X)[0] == 0  # the last weights still tie
    assert model.verdict_ == "separated" and model.margin_ > 0
    coef, intercept = model.witness_
    assert np.all(np.where(y == 1, 1, -1) * (X @ coef[0] + intercept[0]) > 0)


@given(data=datasets(3, st.just(integers)))
def test_multiclass_verdict_is_true(data):
    """'separated' always comes with a witness whose own class wins strictly on every row, and only then."""
    X, y = data
    model = Perceptron(order="cyclic", max_epochs=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    coef, intercept = model.witness_
    scores = [
        [sum(map(Fraction.__mul__, map(Fraction, w), map(Fraction, x))) for w in coef.tolist()]
        for x in X.tolist()
    ]
    strict = all(
        s[c] + Fraction(intercept[c])
        > max(v + Fraction(b) for k, (v, b) in enumerate(zip(s, intercept, strict=True)) if k != c)
        for s, c in zip(scores, y, strict=True)
    )
    assert strict == (model.verdict_ == "separated") == (model.margin_ > 0)
    if model.converged_:
        assert strict  # with a bias, a clean epoch can always be lifted


@may_not_separate
def test_duplicates_with_opposite_labels_are_undecided():
    X, y = np.array([[1.0, 2], [1, 2], [3, 1]]), np.array([0, 1, 1])
    model = Perceptron(max_epochs=50).fit(X, y)
    assert model.verdict_ == "undecided" and not model.converged_ and model.margin_ <= 0


@may_not_separate
@pytest.mark.parametrize("rule", RULES)
def test_zero_rows(rule):
    """A zero row has score 0 for ever without a bias: no step can help, none is infinite."""
    X, y = np.array([[0.0, 0], [1, 1], [-1, -1]]), np.array([0, 1, 0])
    model = Perceptron(rule, fit_intercept=False, max_epochs=5).fit(X, y)
    assert model.verdict_ == "undecided" and np.isfinite(model.coef_).all()


def test_average_may_err_though_the_last_weights_separate():
    """The averaged model's training errors are its own; the verdict is the last weights'."""
    for seed in range(50):
        X, y, _ = separable(np.random.default_rng(seed), n=60, d=3, margin=0.01)
        model = Perceptron(average=True, random_state=seed).fit(X, y)
        assert model.verdict_ == "separated"
        assert model.training_errors_ == np.count_nonzero(model.predict(X) != y)
        coef, intercept = model.witness_
        assert np.all(y * (X @ coef[0] + intercept[0]) > 0)
        if model.training_errors_:
            return
    pytest.fail("no averaged model erred")


# ---- stopping, warning, continuing ------------------------------------------------------------------
def noisy(seed=0, n=400):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0, "yes", "no")


def test_warns_once_with_advice_of_fixed_text(monkeypatch):
    monkeypatch.setattr("novikoff.linear.perceptron.ask", lambda *rows, **how: None)  # it stays open
    texts = []
    for seed in (0, 1):
        X, y = noisy()
        with pytest.warns(ConvergenceWarning) as caught:
            Perceptron(max_epochs="auto", average="auto", random_state=seed).fit(X, y)
        assert len(caught) == 1
        texts.append(str(caught[0].message))
    assert texts[0] == texts[1] and "theory.separability" in texts[0] and "centring" not in texts[0]
    with pytest.warns(ConvergenceWarning, match="centring the columns"):
        Perceptron(max_epochs="auto", random_state=0).fit(X + 1000, y)


@may_not_separate
def test_runs_all_epochs_without_a_hidden_tolerance():
    X, y = noisy()
    model = Perceptron(max_epochs=37).fit(X, y)
    assert model.n_epochs_ == len(model.history_) == 37
    assert {"mistakes", "updates", "norm", "seconds"} <= set(model.history_[0])
    assert sum(r["mistakes"] for r in model.history_) == model.n_mistakes_


@may_not_separate
def test_early_stopping_keeps_the_best_epoch():
    X, y = noisy(n=1000)
    model = Perceptron(early_stopping=True, random_state=0, n_epochs_no_change=4).fit(X, y)
    scores = [r["validation_score"] for r in model.history_]
    assert model.n_epochs_ < 1000 and max(scores[:-4]) == max(scores)
    upto = Perceptron(early_stopping=True, random_state=0, max_epochs=int(np.argmax(scores)) + 1).fit(X, y)
    np.testing.assert_array_equal(model.coef_, upto.coef_)


def test_callback_stops_and_sees_every_epoch():
    X, y = noisy()
    seen = []
    model = Perceptron(callback=lambda r: seen.append(r["epoch"]) or r["epoch"] == 3, random_state=0).fit(
        X, y
    )
    assert seen == [1, 2, 3] and model.n_epochs_ == 3


@may_not_separate
def test_warm_start_goes_on():
    X, y = noisy()
    once = Perceptron(order="cyclic", max_epochs=6).fit(X, y)
    twice = Perceptron(order="cyclic", max_epochs=3, warm_start=True).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(once.coef_, twice.coef_)
    assert once.n_mistakes_ == twice.n_mistakes_


@may_not_separate
def test_coef_init():
    X, y = noisy()
    plain = {"order": "cyclic", "average": False}
    first = Perceptron(max_epochs=2, **plain).fit(X, y)
    second = Perceptron(max_epochs=2, **plain)
    second.fit(X, y, coef_init=first.coef_, intercept_init=first.intercept_)
    np.testing.assert_array_equal(second.coef_, Perceptron(max_epochs=4, **plain).fit(X, y).coef_)
    assert second.margin_upper_ == math.inf and second.report().bound_upper == math.inf


@may_not_separate
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_weight_zero_removes_rows(multiclass):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((90, 3)), rng.integers(0, 3, 90)
    c = rng.integers(0, 3, 90).astype(float)
    a = Perceptron(multiclass=multiclass, random_state=3, max_epochs=7).fit(X, y, sample_weight=c)
    b = Perceptron(multiclass=multiclass, random_state=3, max_epochs=7).fit(
        X[c > 0], y[c > 0], sample_weight=c[c > 0]
    )
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert a.radius_ == b.radius_


@may_not_separate
def test_class_weight_scales_the_step():
    X, y = noisy()
    c = np.where(y == "yes", 3.0, 1.0)
    a = Perceptron(class_weight={"yes": 3.0}, random_state=0, max_epochs=5).fit(X, y)
    b = Perceptron(random_state=0, max_epochs=5).fit(X, y, sample_weight=c)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    Perceptron(class_weight="balanced", max_epochs=5).fit(X, y)


@may_not_separate
def test_ovr_is_one_binary_perceptron_a_class():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((200, 4)), rng.integers(0, 3, 200)
    whole = Perceptron(multiclass="ovr", order="cyclic", max_epochs=9, average=True).fit(X, y)
    for c in range(3):
        part = Perceptron(order="cyclic", max_epochs=9, average=True).fit(X, y == c)
        np.testing.assert_array_equal(whole.coef_[c], part.coef_[0])


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_classes_grow(multiclass):
    """An unseen class gets a zero row; from two to three classes w becomes −w, +w and 0."""
    X, y = SIX, SIX_Y
    model = Perceptron(multiclass=multiclass, average=False, fit_intercept=False).partial_fit(X, y)
    w = model.coef_[0].copy()
    assert model.coef_.shape == (1, 2)
    model.partial_fit(np.array([[9.0, 9.0]]), ["?"][:0] or np.array([5]))
    assert model.classes_.tolist() == [-1, 1, 5] and model.coef_.shape == (3, 2)
    grown = Perceptron(multiclass=multiclass, fit_intercept=False).partial_fit(X, y)
    grown._model.grow(3)
    coef, _ = grown._model.coef(averaged=False)
    np.testing.assert_array_equal(coef, [-w, w, [0, 0]])
    assert model.predict(np.array([[9.0, 9.0]])).tolist() == [5] or model.n_mistakes_ > grown.n_mistakes_
    model.partial_fit(X, y)
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[-1, 1])


# ---- living in Python -------------------------------------------------------------------------------
@may_not_separate
@pytest.mark.parametrize("average", [False, True])
def test_pickle_and_clone(average):
    X, y = noisy()
    model = Perceptron(average=average, max_epochs=3, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.coef_, again.coef_)
    assert again.report() == model.report()
    model.partial_fit(X, y)
    again.partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    assert not hasattr(clone(model), "coef_")


@may_not_separate
def test_scikit_learn_tools():
    X, y = noisy()
    pipe = make_pipeline(StandardScaler(), Perceptron(max_epochs=20, random_state=0))
    assert cross_val_score(pipe, X, y).mean() > 0.6
    search = GridSearchCV(
        Perceptron(max_epochs=10, random_state=0), {"rule": RULES, "average": [False, True]}
    )
    assert search.fit(X, y).best_score_ > 0.6
    assert CalibratedClassifierCV(Perceptron(max_epochs=10)).fit(X, y).predict_proba(X).shape == (len(X), 2)


@may_not_separate
def test_sparsify_and_densify_predict_alike():
    X, y = noisy()
    model = Perceptron(max_epochs=3).fit(X, y)
    before = model.predict(X)
    model.sparsify()
    assert sp.issparse(model.coef_)
    np.testing.assert_array_equal(model.predict(X), before)
    model.densify()
    np.testing.assert_array_equal(model.predict(X), before)


@may_not_separate
def test_coef_is_read_only_but_assignable():
    X, y = noisy()
    model = Perceptron(max_epochs=3).fit(X, y)
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[0, 0] = 1
    model.coef_ = -model.coef_
    model.intercept_ = -model.intercept_
    assert model.score(X, y) < 0.5


@may_not_separate
def test_many_threads_predict_at_once():
    X, y = noisy(n=2000)
    model = Perceptron(max_epochs=3, n_jobs=2).fit(X, y)
    expected, wrong = model.predict(X), []

    def work():
        for _ in range(20):
            if not np.array_equal(model.predict(X), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_interrupt_leaves_a_usable_model():
    """Ctrl-C ends a fit that would not end by itself, keeps what was learned, and is raised again."""
    code = """
import numpy as np
from novikoff import Perceptron

def told(record):
    if record["epoch"] == 2:
        print("learning", flush=True)

rng = np.random.default_rng(0)
X, y = rng.standard_normal((20_000, 50)), rng.integers(0, 2, 20_000)
model = Perceptron(max_epochs=10**9, callback=told, random_state=0)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("raised", model.predict(X).shape, model.n_mistakes_ > 0, model.n_epochs_ >= 2, model.verdict_)
"""
    with Child.python(code) as child:
        child.wait_for("learning")
        child.interrupt()
        assert child.end() == 0
    assert child.output == "learning\nraised (20000,) True True undecided\n"


@may_not_separate
def test_memory_mapped_arrays_are_shuffled_in_blocks(tmp_path, monkeypatch):
    from novikoff.training import examples as visits
    from novikoff.training.plan import Plan

    monkeypatch.setattr(visits, "BLOCK_BYTES", 8 * 5 * 32)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1000, 5)), rng.integers(0, 2, 1000)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    shuffled = {"order": "shuffle", "max_epochs": 2, "random_state": 0}
    model = Perceptron(**shuffled).fit(mapped, y)
    assert "shuffled in blocks of 31 rows" in model.report().in_full()
    assert Perceptron(**shuffled).fit(X, y).n_mistakes_ != model.n_mistakes_
    examples = visits.ArrayExamples(mapped, y.astype(np.int32), None, Plan())
    orders = [visit.order for visit in examples.epoch(model._model)]
    assert sorted(np.concatenate(orders)) == list(range(1000))
    assert all(np.ptp(o) < 31 for o in orders)


@may_not_separate
def test_frames():
    import pandas as pd
    import polars as pl

    X, y = noisy()
    names = [f"c{i}" for i in range(6)]
    plain = Perceptron(max_epochs=5, random_state=0).fit(X, y)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = Perceptron(max_epochs=5, random_state=0).fit(frame, y)
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        assert model.feature_names_in_.tolist() == names
        np.testing.assert_array_equal(model.predict(frame), plain.predict(X))


def test_report_reads_well():
    X, y = SIX, SIX_Y
    report = Perceptron(fit_intercept=False, order="cyclic").fit(X, y).report()
    assert "verdict    separated" in report.in_full() and "mistakes ≤ (R/γ)²" in report.in_full()
    assert "training   100.00 % correct: 0 errors on 6 rows" in str(report) and "R = " not in str(report)
    assert (
        "R = " in str(report.proof)
        and "<table>" in report._repr_html_()
        and "separated" in report._repr_html_()
    )
    assert report.to_dict()["updates"] == 3


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_worst_order_converges(multiclass):
    """Three clouds, worst row first: both readings of multiclass end with an epoch that finds nothing."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 2)) + 12 * np.array([[0, 1], [1, -1], [-1, -1]])[y]
    model = Perceptron(order="worst", multiclass=multiclass).fit(X, y)
    assert model.converged_ and model.verdict_ == "separated" and model.score(X, y) == 1.0


@may_not_separate
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_large_enough_for_huge_pages(n_classes):
    """Same model on many columns, most of them empty, as on the few that are used; pickled and continued."""
    rng = np.random.default_rng(0)
    X, y = sparse(rng, 60, 50, 0.2), rng.integers(0, n_classes, 60)
    columns = np.sort(rng.choice(300_000, 50, replace=False))
    wide = sp.csr_array((X.data, columns[X.indices], X.indptr), shape=(60, 300_000))
    a = Perceptron(random_state=0, max_epochs=3, average=True).fit(X, y)
    b = pickle.loads(pickle.dumps(Perceptron(random_state=0, max_epochs=3, average=True).fit(wide, y)))
    np.testing.assert_array_equal(a.coef_, b.coef_[:, columns])
    a.partial_fit(X, y)
    b.partial_fit(wide, y)
    np.testing.assert_array_equal(a.coef_, b.coef_[:, columns])
    np.testing.assert_array_equal(a.predict(X), b.predict(wide))
