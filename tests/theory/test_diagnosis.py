"""A diagnosis: every finding against its definition, on data where the answer is known."""

import itertools
import json
import math
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import novikoff
from novikoff import Perceptron
from novikoff.proof.problem import read_problem
from novikoff.proof.separability import Undecided
from novikoff.theory import Diagnosis, diagnose
from novikoff.theory.contradictions import Contradictions, contradictions
from novikoff.theory.trials import Orders
from novikoff.theory.ways import WAYS, Effort, Trial, Way, held_out, split
from support.html_pages import check_nesting
from support.lecture import SIX, SIX_Y


def clusters(n=60, distance=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(0, 0.4, (n, 3)) + distance * (2 * y[:, None] - 1), y


# ---- rows that contradict one another ----------------------------------------------------------------
def brute_force(X, y):
    """By definition: group equal rows, and look at the labels in each group."""
    groups = {}
    for i, row in enumerate(X.tolist()):
        groups.setdefault(tuple(row), []).append(i)
    mixed = [rows for rows in groups.values() if len({int(y[i]) for i in rows}) > 1]
    errors = sum(len(rows) - max(Counter(int(y[i]) for i in rows).values()) for rows in mixed)
    pairs = [
        (j, i) for rows in mixed for i, j in itertools.combinations(rows, 2) if y[i] != y[j] and i == rows[0]
    ]
    first = min(pairs, default=None)
    return Contradictions(len(mixed), sum(map(len, mixed)), errors, first and (first[1], first[0]))


@given(
    st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1), st.integers(0, 2)), min_size=2, max_size=25),
    st.booleans(),
)
def test_contradictions_are_those_of_the_definition(rows, sparse):
    X = np.array([row[:2] for row in rows], dtype=float)
    y = np.array([row[2] for row in rows])
    if len(np.unique(y)) < 2:
        return
    problem = read_problem(sp.csr_array(X) if sparse else X, y)
    assert contradictions(problem) == brute_force(X, y)


def test_minus_zero_and_stored_zeros_are_zeros():
    X = sp.csr_array((np.array([1.0, -0.0, 1.0]), np.array([0, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert contradictions(read_problem(X, [0, 1])).first == (0, 1)
    assert contradictions(read_problem(np.array([[-0.0], [0.0]]), [0, 1])).groups == 1


# ---- findings ----------------------------------------------------------------------------------------
def test_six_points_of_the_lecture_notes():
    """R² = 5, γ = 1, at most 5 mistakes; γₙ = 1/√5. The run in their own order makes 3."""
    found = diagnose(SIX, SIX_Y, fit_intercept=False, n_orders=20)
    assert found.verdict == found.verdict_without_bias == found.verdict_with_bias == "separable"
    assert found.radius == pytest.approx(math.sqrt(5))
    assert found.margin.lower <= 1 <= found.margin.upper
    assert found.margin.upper - found.margin.lower <= 1e-3
    assert found.unit_margin.lower <= 1 / math.sqrt(5) <= found.unit_margin.upper
    bounds = {b.name: b for b in found.bounds}
    for name in ("Novikoff", "normalized"):
        assert bounds[name].lower <= 5 <= bounds[name].upper
        assert bounds[name].made <= 5
    assert (found.run.mistakes, found.run.converged) == (3, True)
    assert found.trace.example.tolist() == [0, 2, 4]
    assert found.orders[0].mistakes.max() <= 5 and len(found.orders[0].mistakes) == 20


def test_mistakes_in_random_orders_are_those_of_the_estimator():
    X, y = clusters(distance=0.9, seed=3)
    found = diagnose(X, y, n_orders=5, random_state=7)
    for rule, orders in zip(("perceptron", "normalized"), found.orders, strict=True):
        assert orders.rule == rule
        expected = [
            Perceptron(rule, max_epochs=1000, random_state=7 + k).fit(X, y).n_mistakes_ for k in range(5)
        ]
        assert orders.mistakes.tolist() == expected


def test_a_bias_that_is_needed_is_found():
    found = diagnose([[10.0], [12.0]], [1, 2], n_orders=3)
    assert (found.verdict_with_bias, found.verdict_without_bias) == ("separable", "inseparable")
    assert any("Keep the bias" in text for text in found.advice)
    again = diagnose([[10.0], [12.0]], [1, 2], fit_intercept=False, n_orders=3)
    assert (again.verdict_with_bias, again.verdict_without_bias) == ("separable", "inseparable")
    assert again.verdict == "inseparable"


def test_normalizing_is_measured():
    """Long rows and short ones: what a long row adds to w takes many short ones to undo."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    X = X[np.abs(X[:, 0] + 0.3 * X[:, 1]) > 0.02]
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, -1)
    X[::10] *= 1000
    found = diagnose(X, y, fit_intercept=False, n_orders=10)
    medians = [np.median(orders.mistakes) for orders in found.orders]
    assert medians[0] > 2 * medians[1]
    assert any("Normalizing helps" in text for text in found.advice)


def test_contradicting_rows_are_named_first():
    X, y = clusters()
    X[7], y[7] = X[3], 1 - y[3]
    found = diagnose(X, y, n_orders=3)
    assert found.verdict_with_bias == found.verdict_without_bias == "inseparable"
    assert found.contradictions == Contradictions(1, 2, 1, (3, 7))
    assert "rows 3 and 7 (numbered from 0)" in found.advice[0]
    (bound,) = found.bounds
    assert bound.name == "best in hindsight" and found.run.first_epoch <= bound.made <= bound.upper
    assert all(orders.one_pass and (orders.epochs == 1).all() for orders in found.orders)


def test_a_quarter_of_each_class_is_held_out():
    """Other rows each time; a class of one row is learned from."""
    labels = np.array([0] * 40 + [1] * 9 + [2], dtype=np.int32)
    held = []
    for k in range(3):
        rest, kept = split(labels, 50, np.random.default_rng(k))
        assert sorted([*rest, *kept]) == list(range(50))
        assert np.bincount(labels[kept], minlength=3).tolist() == [10, 2, 0]
        held.append(kept.tolist())
    assert held[0] != held[1] != held[2]
    rest, kept = split(labels, 20, np.random.default_rng(0))
    assert len(rest) + len(kept) == len({*rest, *kept}) == 20


@pytest.mark.parametrize("way", [Way(), Way(average=False), Way("pa1"), Way("arow"), Way("scw")], ids=str)
def test_held_out_errors_are_those_of_the_estimator(way):
    """Split k is drawn from (seed, k), and the order of its rows from random_state = seed + k."""
    X, y = clusters(n=200, distance=0.3)
    problem = read_problem(X, y)
    *_, trials = held_out(problem, "positive", seed=5)
    assert [t.way for t in trials] == list(WAYS)
    (trial,) = (t for t in trials if t.way == way)
    assert len(trial.errors) == Effort.of(problem, None).splits == 10
    for k in range(len(trial.errors)):
        rest, held = split(problem.labels, 200, np.random.default_rng((5, k)))
        model = Perceptron(way.rule, average=way.average, max_epochs=10, random_state=5 + k)
        model.fit(X[rest], y[rest])
        assert trial.errors[k] == np.count_nonzero(model.predict(X[held]) != y[held])
        assert trial.rows[k] == len(held)


def test_ways_are_judged_by_the_mean_and_its_standard_error():
    """s/√n over the splits; a difference counts when it exceeds two standard errors of itself."""
    steady = Trial(Way("pa1"), (10, 10, 10, 10), (100,) * 4)
    lucky = Trial(Way(average=False), (2, 2, 30, 42), (100,) * 4)
    assert (steady.rate, steady.doubt) == (0.1, 0)
    assert lucky.rate == pytest.approx(0.19)
    assert lucky.doubt == pytest.approx(np.std([0.02, 0.02, 0.3, 0.42], ddof=1) / 2)
    assert str(lucky) == f"19.00 ± {100 * lucky.doubt:.2f} %"
    assert not steady.clearly_beats(lucky) and not lucky.clearly_beats(steady)
    worse = Trial(Way(), (12, 31, 12, 12), (100,) * 4)  # on every split, but unsteadily
    assert not steady.clearly_beats(worse)
    assert steady.clearly_beats(Trial(Way(), (12, 13, 12, 13), (100,) * 4))
    assert not steady.clearly_beats(steady)


def test_one_split_has_a_binomial_standard_error():
    """Ctrl-C may leave no more than one."""
    one = Trial(Way(), (10,), (100,))
    assert one.doubt == pytest.approx(math.sqrt(11 / 102 * 91 / 102 / 100))
    assert not one.clearly_beats(Trial(Way(), (14,), (100,)))
    assert one.clearly_beats(Trial(Way(), (40,), (100,)))


def test_the_defaults_are_advised_unless_another_way_is_clearly_better():
    usual = Trial(Way(), (100, 110), (1000,) * 2)
    lucky = Trial(Way("scw"), (20, 180), (1000,) * 2)  # fewer errors in the mean, by chance
    better = Trial(Way("arow"), (50, 52), (1000,) * 2)
    found = diagnosed(trials=[usual, lucky])
    assert found.best_way is usual and "The defaults are good here: 10.50 ± 0.50 % errors" in found.advice[0]
    found = diagnosed(trials=[usual, lucky, better])
    assert found.best_way is better
    assert "Use Perceptron('arow'): 5.10 ± 0.10 % errors" in found.advice[0]
    assert "the defaults make 10.50 ± 0.50 %" in found.advice[0]
    (line,) = (line for line in str(found).splitlines() if "advised" in line)
    assert line.split() == ["arow", "5.10", "±", "0.10", "%", "advised"]
    assert found.to_dict()["best_way"] == vars(Way("arow"))
    assert diagnosed(trials=[better]).best_way is better  # the defaults were left out


def test_the_effort_of_the_trials_is_counted():
    """It depends on the sizes and the limit, never on the clock: the same figures again and again."""
    problem = read_problem(*clusters(n=6000, distance=0.1))
    little, more = Effort.of(problem, 1e-6), Effort.of(problem, 1000.0)
    assert little[:2] == (5, 1000) and more[:2] == (10, 6000)
    seen = [list(held_out(problem, "positive", seed=1, time_limit=1e-6))[-1] for _ in range(2)]
    assert seen[0] == seen[1]
    assert all(len(t.rows) == 5 and {*t.rows} <= {249, 250} for t in seen[0])


@pytest.mark.parametrize("way", WAYS[1:], ids=str)
def test_advice_can_be_followed(way):
    """In Python it is a call of the estimator with these parameters."""
    usual, best = Trial(Way(), (500, 500), (1000,) * 2), Trial(way, (10, 10), (1000,) * 2)
    (text,) = (t for t in diagnosed(trials=[usual, best]).advice if " % errors on held-out rows" in t)
    call = text.removeprefix("Use ").partition(")")[0] + ")"
    model = eval(call, {"Perceptron": Perceptron})
    assert (model.rule, model.average) == (way.rule, way.average)
    assert model.scale == way.scale


def test_an_undecided_question_presumes_no_answer():
    trials = [Trial(Way(), (10, 12), (100,) * 2)]
    for found in (diagnosed(verdict_with_bias="undecided", trials=trials), diagnosed()):
        text = " ".join(found.advice)
        assert "was not decided; a larger time_limit may decide it" in text
        for presumption in ("inseparable", "never end", "No weights", "every row right, but", "bias"):
            assert presumption not in text


def test_advice_follows_its_own_tables():
    """Scaling and normalizing are not advised where the held-out rows show that they do not help."""
    few, many = np.array([100, 110]), np.array([200, 220])
    kinds = {"perceptron": many, "normalized": few}
    orders = [Orders(rule, made, made, made > 0, True) for rule, made in kinds.items()]
    usual, scaled = Trial(Way(), (10, 12), (100,) * 2), Trial(Way(scale="standard"), (11, 12), (100,) * 2)
    normalized = Trial(Way("normalized"), (40, 41), (100,) * 2)
    alone = diagnosed(orders=orders, row_radius=50.0)
    assert any("Normalizing helps" in text for text in alone.advice)
    assert any("Centre the columns" in text for text in alone.advice)
    tried = diagnosed(orders=orders, row_radius=50.0, trials=[usual, normalized, scaled])
    text = " ".join(tried.advice)
    assert "Normalizing helps" not in text and "Centre" not in text and "scale" not in text
    assert "fewer mistakes while it learns" in text and "40.50 ± 0.50 % errors" in text


def diagnosed(**findings):
    known = {
        "n_rows": 100,
        "n_features": 2,
        "class_counts": {"a": 60, "b": 40},
        "fit_intercept": True,
        "intercept_scaling": 1.0,
        "ties": "positive",
        "radius": 1.0,
        "row_radius": 1.0,
        "spread": 1.0,
        "heaviest": 1.0,
        "in_runs": False,
    }
    return Diagnosis(**(known | findings))


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ({"in_runs": True}, "Rows of one class are adjacent: mix them (order='riffle'"),
        ({"class_counts": {"a": 97, "b": 3}}, "Class b is rare"),
        ({"row_radius": 50.0}, "Centre the columns"),
        ({"row_radius": 500.0, "spread": 400.0}, "scale the columns"),
        ({"verdict_with_bias": "inseparable"}, "No weights get every row right"),
        ({"verdict_with_bias": "undecided"}, "not decided"),
        ({"trials": [Trial(Way(), (45,), (100,))]}, "hardly better than"),
    ],
)
def test_advice_follows_from_the_findings(findings, said):
    assert any(said in text for text in diagnosed(**findings).advice)
    if not {"verdict_with_bias"} & findings.keys():
        assert not any(said in text for text in diagnosed().advice)


# ---- other kinds of data -----------------------------------------------------------------------------
def test_sparse_rows_give_the_findings_of_dense_ones():
    X, y = clusters(distance=0.8)
    X = np.round(4 * X) / 4
    dense, sparse = (diagnose(a, y, n_orders=3).to_dict() for a in (X, sp.csr_array(X)))
    for name in ("verdict", "contradictions", "radius", "margin", "run", "orders"):
        assert dense[name] == sparse[name] or dense[name] == pytest.approx(sparse[name], rel=1e-3)


def test_three_classes():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(0, 0.4, (60, 2)) + 2 * np.array([[0, 1], [1, -1], [-1, -1]])[y]
    found = diagnose(X, y, n_orders=4)
    assert found.verdict == "separable" and found.n_classes == 3
    for bound in found.bounds:
        assert bound.made <= bound.upper
    assert "2/γₙ²" in str(found)


def test_weights_of_rows_count():
    X, y = clusters(distance=0.9, seed=3)
    weights = np.where(np.arange(len(y)) % 3 == 0, 0.0, 2.0)
    found = diagnose(X, y, sample_weight=weights, n_orders=3)
    kept = weights > 0
    assert found.n_rows == kept.sum()
    lengths = np.sqrt((X[kept] ** 2).sum(axis=1) + 1)
    assert found.radius == pytest.approx(2 * lengths.max())
    assert found.row_radius == pytest.approx(np.linalg.norm(X[kept], axis=1).max())
    plain = diagnose(X[kept], y[kept], n_orders=3)  # all that are left have the weight 2
    assert found.margin.lower == pytest.approx(2 * plain.margin.lower, rel=2e-3)
    assert found.margin.lower <= 2 * plain.margin.upper * (1 + 1e-9)
    assert found.margin.upper >= 2 * plain.margin.lower * (1 - 1e-9)
    for bound in found.bounds:
        assert bound.made <= bound.upper


# ---- saying it ---------------------------------------------------------------------------------------
def both():
    X, y = clusters()
    bad = y.copy()
    bad[:5] = 1 - bad[:5]
    return diagnose(X, y, n_orders=3), diagnose(X, bad, n_orders=3)


def test_text_json_and_page():
    pytest.importorskip("matplotlib")
    for found in both():
        text = str(found)
        assert found.verdict in text and all(line == line.rstrip() for line in text.splitlines())
        assert max(map(len, text.splitlines())) <= 110
        said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert said["verdict"] == found.verdict and said["rows"] == 60 and said["advice"] == found.advice
        page = found.to_html()
        check_nesting(page)
        assert f"novikoff {novikoff.__version__}" in page and "n_orders=3" in page
        assert "fit_intercept=True" in page and "time_limit=20.0" in page
        assert page.count("data:image/png;base64,") == 4 and "http" not in page
        assert found.to_html(pictures=False).count("<img") == 0
        check_nesting(found._repr_html_())


def test_labels_are_escaped_on_the_page():
    X, y = clusters()
    found = diagnose(X, np.where(y == 1, "<b>&", "ham"), n_orders=1)
    assert "&lt;b&gt;&amp;" in found.to_html(pictures=False)


# ---- limits, interruption, bad input -----------------------------------------------------------------
def test_an_interruption_keeps_what_is_known():
    X, y = clusters()

    def watch(text, fraction):
        if "random order 2" in text:
            raise KeyboardInterrupt

    found = diagnose(X, y, n_orders=50, watch=watch)
    assert found.interrupted and found.verdict == "separable" and found.margin.lower > 0
    assert len(found.orders[0].mistakes) == 2 and found.trials == []
    assert "interrupted" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    check_nesting(found.to_html())


def test_an_interruption_at_once():
    def watch(text, fraction):
        if "comparing" in text:
            raise KeyboardInterrupt

    found = diagnose(*clusters(), watch=watch)
    assert found.interrupted and found.proof is None and found.verdict == "undecided"
    assert str(found) and found.to_html()


def test_an_interrupted_search_keeps_its_bracket(monkeypatch):
    """Undecided is a finding too: its bracket on γ is shown."""
    known = Undecided(-math.inf, 0.25, np.zeros(6), "interrupted", interrupted=True)
    monkeypatch.setattr("novikoff.theory.diagnosis.decide", lambda *_, **__: known)
    found = diagnose(SIX, SIX_Y)
    assert found.interrupted and found.verdict == "undecided" and found.margin.upper == 0.25
    assert "γ ≤ 0.25" in str(found)


def test_little_time_is_enough_for_something():
    found = diagnose(*clusters(), time_limit=1e-6, n_orders=5000)
    assert not found.interrupted
    assert 1 <= len(found.orders[0].mistakes) < 5000
    assert str(found)


@pytest.mark.parametrize(
    ("given", "said"),
    [({"n_orders": 0}, "n_orders=0"), ({"time_limit": 0}, "time_limit=0"), ({"ties": "odd"}, "ties='odd'")],
)
def test_bad_parameters_are_named(given, said):
    with pytest.raises(ValueError, match=said):
        diagnose(SIX, SIX_Y, **given)


def test_margins_are_of_some_weights_even_where_no_bound_helps():
    """Labels by coin: the best v in hindsight may be 0, and the last weights are shown instead."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 1)) * 100, rng.integers(0, 2, 40)
    found = diagnose(X, y, n_orders=2)
    assert found.margins is not None and len(found.margins) == 40 and np.isfinite(found.margins).all()
