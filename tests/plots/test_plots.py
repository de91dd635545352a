"""Pictures: what is drawn is what is known, and looks as it did when it was last looked at.

The images are compared with those in tests/pictures, without any text, so that fonts do not matter.
NOVIKOFF_DRAW=1 draws them anew; look at them before they are kept.
"""

import os
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from novikoff import KernelPerceptron, Perceptron, VotedPerceptron, plots
from novikoff.plots.style import in_the_plane, label_indices
from novikoff.plots.witness import convex_hull
from novikoff.theory import bounds, diagnose, experiments, max_margin, separability, trace
from novikoff.training.plan import Plan
from support.children import run_python
from support.lecture import SIX, SIX_Y
from support.marks import may_not_separate
from support.places import TESTS

KEPT = TESTS / "pictures"
TOLERANCE = 8.0  # root mean square of the difference, of 255: lines that are a little thicker stay below

XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
XOR_LABELS = np.array([0, 0, 1, 1])


@pytest.fixture(autouse=True)
def plain_style():
    """matplotlib's own style, and no window."""
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    with mpl.rc_context(mpl.rcParamsDefault):
        mpl.rcParams["backend"] = "agg"
        yield
    plt.close("all")


def clusters(third=False):
    """Points about two or three centres, which can be separated."""
    rng = np.random.default_rng(1)
    centres = [(-0.9, -0.8), (1.1, 0.9)] + [(1.5, -2.2)] * third
    X = np.concatenate([rng.normal(centre, 0.5, (25, 2)) for centre in centres])
    return X, np.repeat(np.arange(len(centres)), 25)


def empty_axes(size=(3.2, 2.4)):
    return Figure(figsize=size, dpi=60).add_axes((0.1, 0.1, 0.85, 0.85))


def pixels(figure):
    """The figure without its text, as an array."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    for text in figure.findobj(Text):
        text.set_visible(False)
    for legend in [*(ax.get_legend() for ax in figure.axes), *figure.legends]:
        if legend is not None:  # its place depends on the width of text
            legend.set_visible(False)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def check_looks(figure, name, *, anew=bool(os.environ.get("NOVIKOFF_DRAW"))):
    """Compare with the picture that was kept."""
    path, now = KEPT / f"{name}.png", pixels(figure)
    from matplotlib.image import imread, imsave

    if anew:
        KEPT.mkdir(exist_ok=True)
        imsave(path, now)
    kept = (255 * imread(path)[..., :3]).round()
    assert kept.shape == now.shape
    difference = float(np.sqrt(np.mean((kept - now) ** 2)))
    assert difference <= TOLERANCE, f"{name} differs by {difference:.1f} of 255 from the picture that is kept"


# ---- images ------------------------------------------------------------------------------------------
def draw_boundary(ax):
    X, y = clusters()
    return plots.BoundaryDisplay.from_estimator(VotedPerceptron(order="cyclic").fit(X, y), X, y, ax=ax)


def draw_boundary_of_three(ax):
    X, y = clusters(third=True)
    return plots.BoundaryDisplay.from_estimator(VotedPerceptron(order="cyclic").fit(X, y), X, y, ax=ax)


def ring():
    """A class around another."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-2, 2, (90, 2))
    size = np.linalg.norm(X, axis=1)
    X = X[(np.abs(size - 1.2) > 0.15)]
    return X, (np.linalg.norm(X, axis=1) > 1.2).astype(int)


def draw_kernel_boundary(ax):
    X, y = ring()
    model = KernelPerceptron("poly", degree=2, gamma=1, predict_with="last", order="cyclic", max_epochs=50)
    return plots.BoundaryDisplay.from_estimator(model.fit(X, y), X, y, ax=ax)


def draw_kernel_boundary_of_three(ax):
    X, y = clusters(third=True)
    model = KernelPerceptron("rbf", gamma=0.5, predict_with="averaged", order="cyclic").fit(X, y)
    return plots.BoundaryDisplay.from_estimator(model, X, y, ax=ax)


def draw_sandwich(ax):
    return plots.SandwichDisplay.from_trace(six_points(), ax=ax)


def draw_mistakes(ax):
    run = six_points()
    return plots.MistakesDisplay(run.visit + 1, run.n_visits, [("a", 5.0), ("b", 9.0)], n_rows=6).plot(ax)


def draw_margins(ax):
    X, y = clusters()
    model = Perceptron(average=False).partial_fit(X[::7], y[::7])
    return plots.MarginHistogramDisplay.from_estimator(model, X, y, max_margin=max_margin(X, y), ax=ax)


def draw_orders(ax):
    k = np.arange(40)
    return plots.OrderDisplay({"a": 10 + k * k % 13, "b": 8 + k % 9}, {"a": 30.0}).plot(ax)


def draw_visits(ax):
    return plots.VisitsDisplay.of_rows(400, labels=np.repeat([0, 1, 2], [150, 150, 100])).plot(ax)


def draw_witness(ax):
    return plots.WitnessDisplay.from_verdict(separability(XOR, XOR_LABELS), XOR, XOR_LABELS, ax=ax)


def draw_witness_without_bias(ax):
    X, y = np.array([[1.0, 0.0], [-1.0, 2.0], [-0.5, -2.0], [2.0, 2.0]]), np.array([1, 1, 1, -1])
    return plots.WitnessDisplay.from_verdict(separability(X, y, fit_intercept=False), X, y, ax=ax)


def draw_update(ax):
    return plots.UpdateDisplay.from_trace(six_points(), 1, ax=ax)


def draw_update_with_bias(ax):
    return plots.UpdateDisplay.from_trace(trace(SIX, SIX_Y, [1.0, 0, 0]), 2, ax=ax)


def draw_half_space(ax):
    return plots.HalfSpaceDisplay([2, 3], 6).plot(ax)


def draw_cosine(ax):
    return plots.CosineDisplay.from_trace(six_points(), ax=ax)


def draw_majority(ax):
    return plots.MajorityDisplay.of(9, 3, 6, ax=ax)


def draw_frame(ax):
    shown = plots.FramesDisplay.of(six_points(), limit=1, updates_only=True)
    return shown.plot(np.array([ax]))


def draw_experiment(ax):
    result = experiments.Experiment(
        "x",
        "y",
        True,
        {"level": 12.0},
        {"n": np.array([1, 10, 100]), "a": np.array([1, 5, 9]), "b": np.array([3, 8, 20])},
        experiments.Picture(x="n", lines=("a",), bounds=("b",), levels=("level",), log="x"),
    )
    return result.plot(ax)


def draw_ways(ax):
    return plots.WaysDisplay({"a": (0.2, 0.02), "b": (0.1, 0.01)}, 0.25).plot(ax)


DRAWN = {
    f.__name__.removeprefix("draw_"): f
    for f in list(globals().values())
    if getattr(f, "__name__", "").startswith("draw_")
}


@pytest.mark.parametrize("name", DRAWN)
def test_pictures_look_as_they_did(name):
    ax = empty_axes()
    display = DRAWN[name](ax)
    assert display.ax_ is ax and display.figure_ is ax.figure
    check_looks(ax.figure, name)


@may_not_separate
def test_three_boundaries_look_as_they_did():
    X, y = clusters()
    X[y == 1] -= 1.1
    model = VotedPerceptron(order="shuffle", random_state=3, max_epochs=1).fit(X, y)
    figure = Figure(figsize=(6.0, 2.2), dpi=60)
    axes = figure.subplots(1, 3)
    display = plots.VotesDisplay.from_estimator(model, X, y, axes=axes, legend=False)
    assert list(display.axes_) == list(axes)
    check_looks(figure, "votes")


def test_an_image_test_can_fail():
    """A boundary somewhere else is another picture."""
    ax = empty_axes()
    X, y = clusters()
    model = VotedPerceptron(order="cyclic").fit(X, y)
    plots.BoundaryDisplay(X, y, [0, 1], -model.coef_, model.intercept_).plot(ax)
    with pytest.raises(AssertionError, match="differs by"):
        check_looks(ax.figure, "boundary", anew=False)


# ---- numbers -----------------------------------------------------------------------------------------
def six_points():
    return trace(SIX, SIX_Y, [1.0, 0.0], fit_intercept=False)


def test_sandwich_shows_the_trace():
    """Its lines are the arrays of the trace, from the origin; they meet at (R/γ)² = 5."""
    run = six_points()
    shown = plots.SandwichDisplay.from_trace(run, ax=empty_axes())
    for name, values in {"norm": run.norm, "along": run.wu, "lower": run.lower, "upper": run.upper}.items():
        line = shown.lines_[name]
        assert line.get_xdata().tolist() == [0, 1, 2, 3]
        assert line.get_ydata().tolist() == [0.0, *values.tolist()]
    assert shown.bound == pytest.approx(5.0)
    assert shown.ax_.get_xlim()[1] > 5


def test_mistakes_step_at_their_visits_under_the_bound():
    """The six points of the lecture notes: mistakes at the visits 1, 3 and 5, and at most 5."""
    shown = plots.MistakesDisplay.from_trace(six_points(), ax=empty_axes())
    assert shown.line_.get_xdata().tolist() == [0, 1, 3, 5, 12]
    assert shown.line_.get_ydata().tolist() == [0, 1, 2, 3, 3]
    (level,) = shown.bound_lines_
    assert list(level.get_ydata()) == pytest.approx([5.0, 5.0])
    assert shown.ax_.get_ylim()[1] > 5


@pytest.mark.parametrize(
    ("rule", "formula", "bound", "what"),
    [
        ("perceptron", "(R/\\gamma)^2", 5.0, "mistakes"),
        ("margin", "(R^2+2\\beta)/\\gamma^2", 7.0, "updates"),
        ("normalized", "1/\\gamma_n^2", 5.0, "mistakes"),
    ],
)
def test_pictures_are_of_the_rules_own_theorem(rule, formula, bound, what):
    """Of the margin rule with β = 1 updates are bounded by (5 + 2)/1, and not by (R/γ)² = 5."""
    run = trace(SIX, SIX_Y, [1.0, 0.0], rule=rule, margin=float(rule == "margin"), fit_intercept=False)
    shown = plots.MistakesDisplay.from_trace(run, ax=empty_axes())
    (level,), (line, text) = shown.bound_lines_, (t.get_text() for t in shown.ax_.get_legend().get_texts())
    assert list(level.get_ydata()) == pytest.approx([bound, bound]) and run.updates <= bound
    assert line == f"{what} made: {run.updates}" and formula in text and shown.ax_.get_ylabel() == what
    proof = plots.SandwichDisplay.from_trace(run, ax=empty_axes())
    assert proof.bound == pytest.approx(bound)
    assert any(formula in t.get_text() for t in proof.ax_.texts)
    found = bounds(SIX, SIX_Y, fit_intercept=False, margin=1.0)
    names = {name for name, _ in plots.MistakesDisplay.from_trace(run, found, ax=empty_axes()).bounds}
    own = {"perceptron": "novikoff"}.get(rule, rule)
    assert own in names and names & {"novikoff", "margin", "normalized", "pa", "pa1", "pa2"} == {own}
    assert not any("batch" in name or "minimax" in name for name in names)


def test_mistakes_take_what_bounds_gives():
    found = [SimpleNamespace(name="known", value=7.0), SimpleNamespace(name="not", value=np.inf)]
    shown = plots.MistakesDisplay.from_trace(six_points(), found, ax=empty_axes())
    assert shown.bounds == [("known", 7.0)]


def test_margin_histogram_counts_every_row_once():
    X, y = clusters()
    model = Perceptron(order="cyclic", fit_intercept=False).fit(X, y)
    shown = plots.MarginHistogramDisplay.from_estimator(model, X, y, ax=empty_axes())
    expected = np.where(y == 1, 1, -1) * (X @ model.coef_[0]) / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(shown.margins, expected, rtol=1e-12)
    assert shown.counts_.sum() == len(y)
    assert shown.n_wrong == 0 and 0.0 in shown.edges_
    assert sum(bar.get_height() for bar in shown.ax_.patches) == len(y)


def test_margins_of_a_multiclass_model_are_those_of_its_closest_rival():
    X, y = clusters(third=True)
    model = Perceptron(order="cyclic").fit(X, y)
    shown = plots.MarginHistogramDisplay.from_estimator(model, X, y, ax=empty_axes())
    scores = X @ model.coef_.T + model.intercept_
    own = scores[np.arange(len(y)), y]
    scores[np.arange(len(y)), y] = -np.inf
    size = np.hypot(np.linalg.norm(model.coef_), np.linalg.norm(model.intercept_))
    np.testing.assert_allclose(shown.margins, (own - scores.max(axis=1)) / size, atol=1e-12)


def test_boundary_strip_touches_the_nearest_row():
    """Its half-width is the smallest distance of a row from the line."""
    X, y = clusters()
    model = VotedPerceptron(order="cyclic").fit(X, y)
    shown = plots.BoundaryDisplay.from_estimator(model, X, y, ax=empty_axes())
    distances = np.abs(X @ model.coef_[0] + model.intercept_) / np.linalg.norm(model.coef_)
    assert shown.strip_ == pytest.approx(distances.min())
    assert shown.updates.sum() == model.n_updates_
    assert np.flatnonzero(shown.updates).tolist() == sorted(model.support_.tolist())


def test_kernel_boundary_rings_by_alpha():
    """A ring for each support that is still one, its area growing with |α|; what is wrong is crossed out."""
    X, y = ring()
    model = KernelPerceptron("poly", degree=2, gamma=1, predict_with="last", order="cyclic", max_epochs=50)
    model.fit(X, y)
    assert model.verdict_ == "separated"
    shown = plots.BoundaryDisplay.from_estimator(model, X, y, ax=empty_axes())
    assert shown.wrong_.tolist() == [] and shown.strip_ is None
    np.testing.assert_array_equal(shown.alpha[model.support_], np.abs(model.dual_coef_[0]))
    (rings,) = [dots for dots in shown.ax_.collections if "support" in str(dots.get_label())]
    alpha = shown.alpha[shown.alpha > 0]
    np.testing.assert_allclose(rings.get_sizes(), 60 + 240 * alpha / alpha.max())
    elsewhere = plots.BoundaryDisplay.from_estimator(model, X[:5], y[:5], ax=empty_axes())
    assert elsewhere.alpha is None  # other rows: nobody knows which supports they are
    with pytest.raises(ValueError, match="2 features"):
        plots.BoundaryDisplay.from_estimator(model, np.ones((3, 4)), [0, 1, 0])


def test_boundary_from_trace_is_that_of_the_model():
    X, y = clusters()
    model = VotedPerceptron(order="cyclic").fit(X, y)
    shown = plots.BoundaryDisplay.from_trace(trace(X, y), X, y, ax=empty_axes())
    np.testing.assert_array_equal(shown.coef, model.coef_)
    np.testing.assert_array_equal(shown.intercept, model.intercept_)
    other = plots.BoundaryDisplay.from_estimator(model, X, y, ax=empty_axes())
    np.testing.assert_array_equal(shown.updates, other.updates)


@may_not_separate
def test_boundary_marks_what_is_wrong_and_draws_no_strip_then():
    X, y = clusters()
    X[0] = X[-1]
    model = Perceptron(order="cyclic", max_epochs=3).fit(X, y)
    shown = plots.BoundaryDisplay.from_estimator(model, X, y, ax=empty_axes())
    assert shown.strip_ is None
    assert shown.wrong_.tolist() == np.flatnonzero(model.predict(X) != y).tolist() != []


def test_visits_are_those_of_a_fit():
    shown = plots.VisitsDisplay.of_rows(70, ("riffle", "shuffle"), random_state=3)
    for name, rows in shown.orders.items():
        np.testing.assert_array_equal(rows, Plan(order=name, rng=np.random.default_rng(3)).drawn_order(70))
        np.testing.assert_array_equal(np.sort(rows), np.arange(70))
    with pytest.raises(ValueError, match="'worst' cannot be drawn from the number of rows"):
        plots.VisitsDisplay.of_rows(70, ("worst",))


def test_orders_have_a_dot_each():
    shown = plots.OrderDisplay({"a": [3, 5, 4], "b": [9, 9, 9]}, {"a": 12.0}).plot(empty_axes())
    assert [dots.get_offsets()[:, 0].tolist() for dots in shown.dots_] == [[3, 5, 4], [9, 9, 9]]
    assert shown.ax_.get_xlim()[1] > 12


def test_votes_count_the_errors_of_each_way():
    X, y = clusters()
    model = VotedPerceptron(random_state=3, max_epochs=1).fit(X, y)
    shown = plots.VotesDisplay(model, X, y)
    for way, errors in shown.errors_.items():
        assert errors == np.count_nonzero(model.set_params(predict_with=way).predict(X) != y)
    with pytest.raises(TypeError, match="VotedPerceptron"):
        plots.VotesDisplay(Perceptron().fit(X, y), X, y)


def test_witness_is_a_point_of_both_hulls():
    """XOR: the two diagonals cross in the middle."""
    shown = plots.WitnessDisplay.from_verdict(separability(XOR, XOR_LABELS), XOR, XOR_LABELS, ax=empty_axes())
    assert shown.lifted
    for label in (0, 1):
        own = shown.labels[shown.rows] == label
        mean = shown.weights[own] @ XOR[shown.rows[own]] / shown.weights[own].sum()
        np.testing.assert_allclose(mean, shown.common_, atol=1e-12)
    assert shown.common_.tolist() == [0.5, 0.5]


def test_witness_without_bias_is_the_origin():
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), np.array([1, 1, -1])
    verdict = separability(X, y, fit_intercept=False)
    shown = plots.WitnessDisplay.from_verdict(verdict, X, y, ax=empty_axes())
    assert not shown.lifted and shown.common_.tolist() == [0, 0]
    signed = X[shown.rows] * np.where(y[shown.rows] == 1, 1, -1)[:, None]
    np.testing.assert_allclose(shown.weights @ signed, 0, atol=1e-12)
    with pytest.raises(ValueError, match="fit_intercept=False"):
        plots.WitnessDisplay.from_verdict(verdict, X, y, fit_intercept=True)
    with pytest.raises(ValueError, match="no witness"):
        plots.WitnessDisplay.from_verdict(separability(SIX, SIX_Y), SIX, SIX_Y)


def test_convex_hull_is_scipys():
    from scipy.spatial import ConvexHull

    points = np.random.default_rng(0).normal(size=(60, 2))
    expected = points[ConvexHull(points).vertices]
    assert sorted(convex_hull(points).tolist()) == sorted(expected.tolist())


def test_diagnosis_draws_what_it_found():
    X, y = clusters()
    shown = plots.DiagnosisDisplay.from_diagnosis(diagnose(X, y, n_orders=4))
    assert len(shown.axes_) == len(shown.titles) == 4 and shown.ax_ is shown.axes_[0]
    for title, image in plots.DiagnosisDisplay(diagnose(XOR, XOR_LABELS, n_orders=4)).images(dpi=40):
        assert title and image.startswith(b"\x89PNG")


# ---- bad input, and what is not loaded ---------------------------------------------------------------
def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"2 features, but X has the shape \(3, 4\)"):
        in_the_plane(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="label 7"):
        label_indices([1, 7], [0, 1])
    with pytest.raises(ValueError, match="3 features"):
        plots.BoundaryDisplay(XOR, XOR_LABELS, [0, 1], np.zeros((1, 3)), [0.0])
    with pytest.raises(ValueError, match="two classes"):
        plots.WitnessDisplay(XOR, [0, 1, 2, 2], [0, 1, 2], [0], [1], True)
    with pytest.raises(AttributeError, match="BoundaryDisplay"):
        _ = plots.Nothing


def test_new_figures_are_made_where_none_is_given():
    shown = plots.OrderDisplay([1, 2, 3]).plot()
    assert shown.figure_ is shown.ax_.figure


def test_without_matplotlib_the_extra_is_named():
    """And the module, its classes and what they know can be used without it and without scikit-learn."""
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from novikoff.plots import OrderDisplay\n"
        "assert 'sklearn' not in sys.modules\n"
        "try: OrderDisplay([1, 2]).plot()\n"
        "except ImportError as error: print(error)\n"
    )
    done = run_python("-c", code)
    assert "novikoff[plots]" in done.stdout


def test_pictures_draw_no_bound_that_is_for_fewer_epochs():
    """Freund and Schapire for one pass (4 on XOR) beside the mistakes of twenty: it is not about them."""
    X, y = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), [0, 0, 1, 1]
    run = trace(X, y, max_epochs=20)
    shown = plots.MistakesDisplay.from_trace(run, bounds(X, y), ax=empty_axes())
    assert len(shown.visits) > 70 and not shown.bounds
    shown = plots.MistakesDisplay.from_trace(run, bounds(X, y, epochs=20), ax=empty_axes())
    assert len(shown.bounds) == 2 and all(len(shown.visits) <= value for _, value in shown.bounds)


def test_pictures_and_formulas_name_the_largest_weight():
    """With weights c the margin rule has R² + 2cβ above γ², and the normalized rule c²."""
    X, y, weights = [[1.0, 0], [-1, 0.5]], [1, 0], [2.0, 1.0]
    for rule, beta, formula, drawn in (
        ("margin", 1.0, "(R² + 2cβ)/γ²", r"2c\beta"),
        ("normalized", 0.0, "c²/γₙ²", "$c^2/"),
    ):
        run = trace(X, y, rule=rule, margin=beta, sample_weight=weights)
        assert run.formula == formula and bounds(X, y, sample_weight=weights)[rule].formula == formula
        shown = plots.MistakesDisplay.from_trace(run, ax=empty_axes())
        assert drawn in shown.bounds[0][0]
        assert trace(X, y, rule=rule, margin=beta).formula == formula.replace("c²/", "1/").replace("c", "")
