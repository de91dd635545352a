"""The experiments that show what lectures state, each against the statement or by hand."""

import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from novikoff import datasets
from novikoff.theory import experiments, minimax_risk
from novikoff.theory.experiments.limits import least_hinge, least_squares
from novikoff.theory.experiments.mistakes import picked_updates
from support.lecture import SIX, SIX_Y


# ---- mistakes ------------------------------------------------------------------------------------------
def test_majorities_over_n_and_r():
    """UCLA CS269, section 3: mistakes ≤ n·r of both rules, with sign(0) = +1 and no bias."""
    result = experiments.majorities((11, 31), (1, 3, 9), 400)
    found = result.figures
    assert result.holds and found["n·r"] == [n * r for n, r in zip(found["n"], found["r"], strict=True)]
    assert found["n"] == [11, 11, 11, 31, 31, 31]
    assert found["mistakes"][3] > found["mistakes"][0] and found["mistakes"][2] > found["mistakes"][0]


def test_majorities_on_all_rows_of_signs():
    """All 2ⁿ rows for r = n = 3, by hand: the perceptron without a bias, sign(0) = +1."""
    X = np.array([[1 - 2 * (not k >> j & 1) for j in range(3)] for k in range(8)], dtype=float)
    y, w, mistakes = np.sign(X.sum(axis=1)), np.zeros(3), 0
    for _ in range(20):
        for x, label in zip(X, y, strict=True):
            if (1 if w @ x >= 0 else -1) != label:
                w, mistakes = w + label * x, mistakes + 1
    assert experiments.majorities((3,), (3,), None).figures["mistakes"] == [mistakes]
    with pytest.raises(ValueError, match="n ≤ 16"):
        experiments.majorities((17,), (1,), None)


def test_any_misclassified_row_may_be_picked():
    """Berkeley, theorem 2.1: on the six points at most r²/δ² = 5 updates for every sequence of picks."""
    made = {picked_updates(SIX, SIX_Y, "any", seed) for seed in range(30)}
    assert max(made) <= 5 and len(made) > 1
    assert picked_updates(SIX, SIX_Y, "first") == 3
    result = experiments.picks(150, 4, 0.1, seeds=8)
    assert result.holds and result.figures["any, the fewest"] < result.figures["any, the most"]


def test_freund_schapire_in_one_pass():
    """CMU, theorem 2: ((R + D)/γ)²; without flipped labels D = 0 and it is theorem 0.1, (R/γ)² = 25."""
    result = experiments.freund_schapire(200, 4, flips=(0, 4, 30))
    found = result.figures
    assert result.holds and found["D"][0] == 0 and found["((R + D)/γ)²"][0] == pytest.approx(25)
    assert found["D"] == sorted(found["D"]) and found["mistakes"][2] > found["mistakes"][0]


# ---- what mistakes do not depend on --------------------------------------------------------------------
def test_neither_dimension_nor_number_of_examples_is_in_the_bound():
    assert experiments.dimension((3, 30, 300), n_rows=200).holds
    assert experiments.examples((20, 2000)).holds


def test_scaling_needs_the_constant_too():
    """CMU's remark: ×100 changes nothing without a bias; with x₀ = 1 fixed it does on these rows."""
    for factor in (3.0, 100.0):
        result = experiments.scaling(factor)
        first, second = result.figures["with the constant 1"]
        assert result.holds and first != second


def test_a_shift_changes_the_bound():
    """The ball is centred at the origin: R and (R/γ)² grow with the shift, γ falls."""
    found = experiments.shift((0, 1, 3)).figures
    assert found["R"] == sorted(found["R"]) and found["γ at least"] == sorted(found["γ at least"])[::-1]
    assert all(k <= b for k, b in zip(found["mistakes"], found["(R/γ)²"], strict=True))


def test_the_number_of_labels_is_not_in_the_bound():
    result = experiments.labels((2, 300), n_rows=60)
    assert result.holds and all(0 < made <= 100 for made in result.figures["mistakes"])


# ---- risk ------------------------------------------------------------------------------------------------
class Contrary:
    """Remembers the rows of its sample, and predicts − everywhere else."""

    def get_params(self, deep=True):
        return {}

    def set_params(self):
        return self

    def fit(self, X, y):
        self.known = {tuple(x): label for x, label in zip(X.tolist(), y, strict=True)}
        return self

    def predict(self, X):
        return np.array([self.known.get(tuple(x), -1) for x in X.tolist()])


def test_minimax_holds_for_any_learner():
    """Berkeley, theorem 3.1: a bound for every method; one that never generalizes well can only be worse."""
    mine = experiments.minimax(10, 5, 600)
    theirs = experiments.minimax(10, 5, 600, learner=Contrary())
    assert mine.holds and theirs.holds and "Contrary" in theirs.claim
    assert mine.figures["formula"] == minimax_risk(10, 5) == pytest.approx(0.069736, abs=5e-7)
    assert theirs.figures["mean risk"] >= mine.figures["formula"] - 4 * theirs.figures["standard error"]


def test_minimax_values_of_the_lecture():
    values = {(10, 5): 0.069736, (10, 20): 0.156905, (100, 11): 0.018302, (1000, 101): 0.018385}
    for (n, d), value in values.items():
        assert round(minimax_risk(n, d), 6) == value


def test_risk_falls_with_rows_per_dimension():
    """Never below Φ(−Δ/2); the average of one pass comes near it, the last weights do not."""
    result = experiments.risk_by_rows(8, (1, 8, 64), repeats=10)
    found = result.figures
    assert result.holds and found["optimal"] == pytest.approx(0.5 * math.erfc(1 / math.sqrt(2)))
    assert found["averaged"][-1] < found["optimal"] + 0.02 < found["last"][-1]


def test_generalization_of_an_endless_stream():
    result = experiments.generalization(20, 0.1, 20_000, 1000)
    errors = result.curves["error on new rows"]
    assert result.holds and errors[-5:].max() < errors[0]
    assert round(errors.sum() * 1000) == result.figures["mistakes"] <= 100


# ---- limits ----------------------------------------------------------------------------------------------
def test_no_surrogate_has_fewer_errors_than_the_fewest():
    result = experiments.zero_one(18, repeats=6)
    best = result.curves["fewest possible"]
    for name in ("pocket", "averaged perceptron", "last perceptron", "hinge loss", "squared loss"):
        assert (result.curves[name] >= best).all(), name
    assert result.figures["last perceptron"] > result.figures["fewest possible"]


def test_surrogates_minimize_their_losses():
    """No nearby vector has a smaller loss; both are convex."""
    rng = np.random.default_rng(0)
    data = datasets.gaussians(30, 2, 1.0, random_state=0)
    own = data.y[:, None] * np.hstack([data.X, np.ones((30, 1))])
    losses = {
        least_hinge: lambda w: np.maximum(1 - own @ w, 0).sum(),
        least_squares: lambda w: ((1 - own @ w) ** 2).sum(),
    }
    for learner, loss in losses.items():
        w = learner(data.X, data.y)
        assert all(loss(w + 0.01 * rng.standard_normal(3)) >= loss(w) - 1e-9 for _ in range(50))


def test_more_epochs_overfit():
    result = experiments.overfitting(100, 80, 60)
    assert result.holds and result.figures["training errors, last epoch"] <= 1
    assert result.figures["risk, last epoch"] > 1.1 * result.figures["least risk"]


def test_recent_mistakes_win():
    result = experiments.recent_mistakes(100, 10, repeats=60, parts=5)
    last = result.figures["last weights"]
    assert result.holds and last[-1] == min(last)


# ---- pictures ----------------------------------------------------------------------------------------------
SMALL = {
    "majority": {"n_rows": 200},
    "majorities": {"ns": (5, 9), "rs": (1, 3), "n_rows": None},
    "stream": {"d": 5, "margin": 0.2, "n_rows": 4000},
    "adversarial": {"n": 5},
    "independent": {"n": 5, "d": 8, "n_labellings": 5},
    "normalizing_wins": {"n_rows": 100},
    "normalizing_loses": {},
    "picks": {"n_rows": 60, "seeds": 3},
    "freund_schapire": {"n_rows": 60, "flips": (0, 3)},
    "dimension": {"ds": (2, 5), "n_rows": 50},
    "examples": {"ns": (10, 100)},
    "scaling": {},
    "shift": {"offsets": (0, 1)},
    "labels": {"ks": (2, 4), "n_rows": 20},
    "gaussians": {"n_rows": 200, "d": 3, "n_test": 500},
    "minimax": {"n": 5, "d": 3, "repeats": 100},
    "risk_by_rows": {"d": 4, "ratios": (1, 4), "repeats": 2},
    "generalization": {"d": 5, "margin": 0.2, "n_rows": 4000, "block": 500},
    "xor": {},
    "bias_needed": {},
    "zero_one": {"n_rows": 12, "repeats": 2},
    "overfitting": {"n_rows": 40, "d": 30, "epochs": 10},
    "recent_mistakes": {"n_rows": 50, "d": 4, "repeats": 5},
    "disjunctions": {"ns": (8, 16), "n_rows": 100},
    "worst_disjunctions": {"ns": (8, 16)},
    "conjunction_kernel": {"ns": (6, 12), "n_rows": 200},
}


def test_every_experiment_is_tried_here():
    helpers = {"Experiment", "Picture", "minimax_exact", "forced_disjunction"}
    assert {*experiments.__all__} - helpers == {*SMALL}


@pytest.mark.parametrize("name", SMALL)
def test_every_experiment_has_a_picture_of_its_numbers(name):
    """What is drawn are the curves and figures, with names, and no two lines differ in colour alone."""
    result = getattr(experiments, name)(**SMALL[name])
    picture = result.drawn
    shown = result.plot(Figure().add_subplot())
    for line in (*picture.lines, *picture.points, *picture.bounds):
        np.testing.assert_array_equal(shown.lines_[line].get_ydata(), result.curves[line])
        np.testing.assert_array_equal(shown.lines_[line].get_xdata(), result.curves[picture.x])
    for level in picture.levels:
        assert {*shown.lines_[level].get_ydata()} == {result.figures[level]}
    for bar in picture.bars:
        assert shown.lines_[bar].get_height() == result.figures[bar]
    assert shown.lines_ and shown.ax_.get_title(loc="left").replace("\n", " ") == result.claim
    looks = [(line.get_marker(), line.get_linestyle()) for line in shown.ax_.get_lines()]
    assert len({*looks}) == len(looks)
    if picture.x is not None:
        assert shown.ax_.get_xlabel() and shown.ax_.get_ylabel()
