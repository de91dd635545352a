"""The hand trace: against the lecture's table, and against the run that it is a trace of."""

import copy
import csv
import io
import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron
from novikoff.theory import trace
from support.lecture import SIX, SIX_Y
from support.strategies import datasets, integers, values

# CMU 10-601, lecture 6: x, y, w·x, mistake, w after; one pass over six points, no bias.
TABLE = [
    ((-1, 2), -1, 0, True, (1, -2)),
    ((1, 0), 1, 1, False, (1, -2)),
    ((1, 1), 1, -1, True, (2, -1)),
    ((-1, 0), -1, -2, False, (2, -1)),
    ((-1, -2), -1, 0, True, (3, 1)),
    ((1, -1), 1, 2, False, (3, 1)),
]


@pytest.mark.parametrize("ties", ["positive", "mistake"])
def test_the_table_of_the_lecture(ties):
    """Both readings of a tie give the same run; the second pass is clean."""
    run = trace(SIX, SIX_Y, [1.0, 0.0], fit_intercept=False, ties=ties)
    steps = run.steps()
    first = [(tuple(s.x), s.y, s.score, s.mistake, tuple(s.w)) for s in steps[:6]]
    assert first == TABLE
    assert [s.mistake for s in steps[6:]] == [False] * 6 and steps[11].epoch == 2
    assert run.mistakes_by_class == steps.mistakes_by_class == {-1: 2, 1: 1}
    assert run.weights.tolist() == [[0, 0], [1, -2], [2, -1], [3, 1]]
    assert run.alpha.tolist() == [1, 0, 1, 0, 1, 0]
    assert np.mean([s.w for s in steps[:6]], axis=0).tolist() == pytest.approx([2, -2 / 3])


def test_the_lectures_other_numbers():
    """Normalized: mistakes at visits 1 and 3. With x₀ = 1: (−1, 3, 1), or (0, 4, 1) if ties count."""
    run = trace(SIX, SIX_Y, [1.0, 0.0], fit_intercept=False, rule="normalized")
    assert [s.visit for s in run.steps() if s.mistake] == [1, 3]
    expected = [1 / np.sqrt(5) + 1 / np.sqrt(2), -2 / np.sqrt(5) + 1 / np.sqrt(2)]
    np.testing.assert_allclose(run.steps()[-1].w, expected, rtol=1e-15)
    for ties, mistakes, (b, *w) in (("positive", 3, (-1, 3, 1)), ("mistake", 4, (0, 4, 1))):
        steps = trace(SIX, SIX_Y, [1.0, 0, 0], ties=ties).steps()
        assert (steps.mistakes, steps[-1].b, steps[-1].w.tolist()) == (mistakes, b, w)


@given(
    st.integers(2, 3),
    st.data(),
    st.sampled_from(["perceptron", "normalized", "margin"]),
    st.sampled_from(["positive", "mistake"]),
    st.sampled_from(["cyclic", "shuffle", "worst", "first", "any"]),
    st.booleans(),
)
def test_steps_are_those_of_the_run(n_classes, data, rule, ties, order, sparse):
    """Updates at its visits with the mistakes that it counted, to its last weights, bit for bit."""
    X, y = data.draw(datasets(n_classes, values))
    lift = {"fit_intercept": data.draw(st.booleans())}
    width = X.shape[1] + lift["fit_intercept"]
    u = np.ones(width if len(np.unique(y)) < 3 else (len(np.unique(y)), width))
    rows = sp.csr_array(X) if sparse else X
    options = {"rule": rule, "ties": ties, "order": order, "random_state": 1, "margin": 0.5, "max_epochs": 4}
    run = trace(rows, y, u, margins=0, **options, **lift)
    steps, weights = run.steps(), run.weights
    assert len(steps) == run.n_visits and steps.mistakes == run.mistakes
    assert [s.visit - 1 for s in steps if s.update] == run.visit.tolist()
    assert [s.example for s in steps if s.update] == run.example.tolist()
    assert sum(run.mistakes_by_class.values()) == run.mistakes
    np.testing.assert_array_equal(weights[-1], run.w)
    for step in steps:
        np.testing.assert_array_equal(step.x, X[step.example])
        assert step.y == y[step.example]
        before = weights[np.searchsorted(run.visit, step.visit - 1)]
        np.testing.assert_array_equal(run.weights_at(step.visit - 1), before)
        if len(run.classes) == 2:
            after = run.weights_at(step.visit)
            np.testing.assert_array_equal(step.w, after[: X.shape[1]])
            assert step.b == (after[-1] if lift["fit_intercept"] else None)
            bias = before[-1] if lift["fit_intercept"] else 0.0
            assert step.score == pytest.approx(before[: X.shape[1]] @ step.x + bias, rel=1e-9, abs=1e-9)
            assert step.predicted == run.classes[int(step.score >= 0)]
            if ties == "positive":
                assert step.mistake == (step.predicted != step.y)


@given(st.integers(2, 3), st.data(), st.sampled_from(["perceptron", "margin"]))
def test_alpha_makes_the_weights(n_classes, data, rule):
    """w = Σ α_i·y_i·x̃_i, exactly in whole numbers; with three classes w_c = Σ α_ic·x̃_i."""
    X, y = data.draw(datasets(n_classes, st.just(integers)))
    bias = data.draw(st.booleans())
    lifted = np.hstack([X, np.ones((len(X), 1))]) if bias else X
    classes, labels = np.unique(y, return_inverse=True)
    u = np.ones(lifted.shape[1] if len(classes) < 3 else (len(classes), lifted.shape[1]))
    run = trace(
        X, y, u, rule=rule, margin=1.0, order="shuffle", random_state=0, max_epochs=5, fit_intercept=bias
    )
    alpha = run.alpha
    if len(classes) == 2:
        assert (alpha >= 0).all() and alpha.sum() == run.updates
        np.testing.assert_array_equal((alpha * np.where(labels == 1, 1, -1)) @ lifted, run.w)
    else:
        np.testing.assert_array_equal(alpha.T @ lifted, run.w)
        assert np.abs(alpha).sum() <= 2 * run.updates and (alpha.sum(axis=1) == 0).all()


@pytest.mark.parametrize("order", ["first", "any", "worst"])
@pytest.mark.parametrize("ties", ["positive", "mistake"])
def test_picked_rows_are_mistakes_until_there_is_none(order, ties):
    """Bartlett's algorithm: any misclassified example, at most (R/γ)² = 5 times."""
    for seed in range(5):
        run = trace(SIX, SIX_Y, [1.0, 0.0], order=order, ties=ties, random_state=seed, fit_intercept=False)
        assert run.converged and run.updates == run.n_visits <= 5
        assert all(step.mistake for step in run.steps())
        assert Perceptron(fit_intercept=False).fit(SIX, SIX_Y, coef_init=run.w).n_mistakes_ == 0
        for step, w in zip(run.steps(), run.weights[:-1], strict=True):
            own = SIX_Y * (SIX @ w)
            wrong = np.flatnonzero(own <= 0 if ties == "mistake" else (own < 0) | ((own == 0) & (SIX_Y < 0)))
            assert step.example in wrong
            if order == "first":
                assert step.example == wrong[0]


def test_any_pick_depends_on_the_seed_only():
    runs = [trace(SIX, SIX_Y, [1.0, 0, 0], order="any", random_state=seed) for seed in (0, 0, 1, 2, 3)]
    np.testing.assert_array_equal(runs[0].example, runs[1].example)
    assert len({tuple(run.example) for run in runs}) > 1


def test_exports_hold_every_number():
    steps = trace(SIX, SIX_Y, [1.0, 0, 0]).steps(6)
    lines = list(csv.DictReader(io.StringIO(steps.to_csv())))
    names = "visit,epoch,example,x1,x2,y,score,predicted,mistake,update,w1,w2,b"
    assert ",".join(lines[0]) == names
    for line, step in zip(lines, steps, strict=True):
        assert [float(line["x1"]), float(line["x2"])] == step.x.tolist()
        assert [float(line["w1"]), float(line["w2"]), float(line["b"])] == [*step.w, step.b]
        assert float(line["score"]) == step.score and line["mistake"] == str(step.mistake)
    assert json.loads(json.dumps(steps.rows())) == steps.rows()


def test_csv_file_is_the_text(tmp_path):
    steps = trace(SIX, SIX_Y, [1.0, 0, 0]).steps()
    text = steps.to_csv(tmp_path / "steps.csv")
    assert (tmp_path / "steps.csv").read_text() == text and text.count("\n") == 1 + len(steps)


def test_columns_of_a_frame_name_the_coordinates():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(SIX, columns=["age", "height"])
    header = trace(frame, SIX_Y, [1.0, 0, 0]).steps().to_csv().partition("\n")[0]
    assert "x_age,x_height" in header and "w_age,w_height,b" in header


def test_three_classes_have_a_score_and_weights_each():
    X, y = np.array([[1.0, 0], [0, 1], [-1, -1]]), np.array(["a", "b", "c"])
    steps = trace(X, y, np.ones((3, 3))).steps()
    assert steps[0].score.tolist() == [0, 0, 0] and steps[0].predicted == "a" and not steps[0].mistake
    assert steps[1].mistake and steps[1].w.tolist() == [[0, -1], [0, 1], [0, 0]]
    assert "w1_1,w1_2,w2_1" in steps.to_csv()
    assert "(0, -1) (0, 1) (0, 0)" in str(steps)


def test_text_is_short_and_says_what_it_leaves_out():
    X = np.arange(200.0).reshape(2, 100)
    run = trace(np.vstack([X] * 30), [0, 1] * 30, np.ones(101), max_epochs=2)
    text = str(run.steps())
    assert len(text.splitlines()) == 1 + 1 + 40 + 1 and "… 100 in all" in text
    assert f"and {run.n_visits - 40} more visits" in text
    html = run.steps()._repr_html_()
    assert html.count("<tr>") == 41 and "more visits" in html
    assert "<b>" in html and "&lt;" in trace([[1.0], [-1.0]], ["<b>", "c"], [1.0, 0]).steps()._repr_html_()
    with pytest.raises(IndexError, match="from 0 to"):
        run.weights_at(run.n_visits + 1)


def test_a_trace_can_be_copied_and_pickled():
    run = trace(SIX, SIX_Y, [1.0, 0, 0])
    for other in (copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        assert str(other.steps()) == str(run.steps())
