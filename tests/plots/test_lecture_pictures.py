"""The pictures of the lectures: what is drawn are the numbers of the definition."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from novikoff import KernelPerceptron, Perceptron, VotedPerceptron, plots
from novikoff.plots.plane import axis_names, boundary
from novikoff.theory import separability, trace
from support.lecture import SIX, SIX_Y


@pytest.fixture(autouse=True)
def no_window():
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    with mpl.rc_context(mpl.rcParamsDefault):
        mpl.rcParams["backend"] = "agg"
        yield
    plt.close("all")


def axes():
    return Figure(figsize=(3, 3)).add_subplot()


def six_points(**options):
    return trace(SIX, SIX_Y, [1.0, 0.0], fit_intercept=False, **options)


# ---- one update ----------------------------------------------------------------------------------------
def test_the_three_updates_of_the_six_points():
    """x is added after a false negative and subtracted after a false positive; the score gains ‖x‖²."""
    run = six_points()
    for k, (w, x, y, after) in enumerate(
        [((0, 0), (-1, 2), -1, (1, -2)), ((1, -2), (1, 1), 1, (2, -1)), ((2, -1), (-1, -2), -1, (3, 1))]
    ):
        shown = plots.UpdateDisplay.from_trace(run, k, ax=axes())
        assert (shown.w.tolist(), shown.x.tolist(), shown.y) == ([*w], [*x], y)
        assert shown.after_.tolist() == [*after]
        before, now = (y * np.dot(v, x) for v in (w, after))
        assert now - before == shown.gain_ == np.dot(x, x)
        assert shown.kind == ("false negative: add x" if y > 0 else "false positive: subtract x")
    assert plots.UpdateDisplay([1, 0], [1, 0], 1).kind == "right, but by too little: add x"
    assert plots.UpdateDisplay([0, 0], [1, 0], 1).kind == "score 0: add x"


@pytest.mark.parametrize("rule", ["normalized", "margin"])
@pytest.mark.parametrize("bias", [False, True])
def test_an_update_is_that_of_the_run(rule, bias):
    run = trace(
        SIX, SIX_Y, np.ones(2 + bias), rule=rule, margin=1.0, fit_intercept=bias, intercept_scaling=2.0
    )
    for k in range(run.updates):
        shown = plots.UpdateDisplay.from_trace(run, k, ax=axes())
        np.testing.assert_allclose(shown.after_, run.weights[k + 1][:2], rtol=1e-15)
        if bias:
            assert shown.b_ == pytest.approx(2.0 * run.weights[k + 1][2])


def test_boundaries_are_drawn_where_the_scores_are_0():
    shown = plots.UpdateDisplay([1.0, -2.0], [1.0, 1.0], 1, 0.5, bias=1.0).plot(axes())
    lines = {line.get_label(): line.get_xydata() for line in shown.ax_.get_lines()}
    np.testing.assert_allclose(lines["boundary of w"] @ [1, -2] + 0.5, 0, atol=1e-12)
    np.testing.assert_allclose(lines["boundary of w′"] @ [2, -1] + 1.5, 0, atol=1e-12)
    assert boundary(np.zeros(2), 1.0, (0, 1), (0, 1)) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plots.UpdateDisplay([1, 2, 3], [1, 2], 1), "two coordinates"),
        (lambda: plots.UpdateDisplay([1, 2], [1, 2], 0), "−1 or \\+1"),
        (lambda: plots.UpdateDisplay.from_trace(six_points(), 3), "0 to 2"),
        (
            lambda: plots.UpdateDisplay.from_trace(trace(np.eye(3), [0, 1, 2], np.ones((3, 4)))),
            "two features",
        ),
        (lambda: plots.HalfSpaceDisplay([0, 0], 1), "w ≠ 0"),
        (lambda: plots.HalfSpaceDisplay([1, 2, 3]), "w ≠ 0"),
        (lambda: plots.MajorityDisplay([[1, 0]], 1), "−1 and \\+1"),
        (lambda: plots.MajorityDisplay([[1, 1]], 2), "odd"),
        (
            lambda: plots.CosineDisplay.from_trace(trace([[1.0], [1.0]], [0, 1], [1.0, 0])),
            "does not separate",
        ),
        (lambda: plots.FramesDisplay.of(trace(np.eye(3), [0, 1, 1], np.ones(4))), "two features"),
        (lambda: plots.FramesDisplay.of(six_points(), limit=0).plot(), "no visit"),
        (lambda: plots.FramesDisplay.of(six_points()).plot(np.array([axes()])), "limit=1"),
    ],
)
def test_what_cannot_be_drawn_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- half-spaces -----------------------------------------------------------------------------------------
def test_the_in_class_exercise():
    """CMU: 2x₁ + 3x₂ + 6 > 0 passes (−3, 0) and (0, −2), the origin is inside, at distance 6/√13."""
    shown = plots.HalfSpaceDisplay([2, 3], 6).plot(axes())
    assert shown.crossings_ == (-3, -2) and shown.has_origin_
    assert shown.distance_ == pytest.approx(6 / np.sqrt(13)) == np.linalg.norm(shown.foot_)
    assert shown.foot_ @ [2, 3] + 6 == pytest.approx(0)
    (arrow,) = [patch for patch in shown.ax_.patches if type(patch).__name__ == "FancyArrowPatch"]
    start, end = (np.array(point) for point in arrow._posA_posB)
    np.testing.assert_allclose(end - start, [2, 3])  # to scale
    np.testing.assert_allclose(start, shown.foot_)


def test_half_spaces_through_the_origin_and_along_an_axis():
    through = plots.HalfSpaceDisplay([1, 1]).plot(axes())
    assert through.distance_ == 0 and not through.has_origin_ and through.crossings_ == (0, 0)
    level = plots.HalfSpaceDisplay([0, 2], -4).plot(axes())
    assert level.crossings_ == (None, 2) and level.distance_ == 2


# ---- the cosine ------------------------------------------------------------------------------------------
def test_the_cosine_of_the_proof():
    """MIT, (9): cosines 1/√5, 2/√5, 3/√10 above √k/√5, which is 1 at k = 5."""
    shown = plots.CosineDisplay.from_trace(six_points(), ax=axes())
    expected = [1 / np.sqrt(5), 2 / np.sqrt(5), 3 / np.sqrt(10)]
    np.testing.assert_allclose(shown.lines_["cosine"].get_ydata(), expected)
    np.testing.assert_allclose(shown.floor, np.sqrt([0.2, 0.4, 0.6]))
    x, y = shown.lines_["floor"].get_data()
    np.testing.assert_allclose(y, np.sqrt(x / 5), atol=1e-6)
    assert x[-1] == pytest.approx(5) and {*shown.lines_["one"].get_ydata()} == {1}


@pytest.mark.parametrize("rule", ["normalized", "margin"])
def test_the_floor_of_other_rules_is_below_their_cosines(rule):
    shown = plots.CosineDisplay.from_trace(six_points(rule=rule, margin=1.0), ax=axes())
    assert (shown.floor <= shown.cosine + 1e-12).all()
    k = np.arange(1, len(shown.cosine) + 1)
    np.testing.assert_allclose(shown.floor, np.sqrt(k / shown.bound), rtol=1e-9)


# ---- majorities ------------------------------------------------------------------------------------------
def test_majorities_are_of_the_relevant_signs():
    shown = plots.MajorityDisplay.of(7, 3, 5, random_state=1, ax=axes())
    np.testing.assert_array_equal(shown.labels_, np.sign(shown.X[:, :3].sum(axis=1)))
    texts = [text.get_text() for text in shown.ax_.texts]
    assert sum(text in ("+", "−") for text in texts) == 35
    assert [t for t in texts if "→" in t and "sum" not in t] == [
        f"{s:+d}  →  {'+' if s > 0 else '−'}".replace("-", "−") for s in shown.sums_
    ]


# ---- frames ----------------------------------------------------------------------------------------------
def test_frames_are_the_visits():
    run = six_points()
    shown = plots.FramesDisplay.from_trace(run, limit=6, columns=3)
    titles = [ax.get_title() for ax in shown.axes_]
    assert titles == [
        "visit 1: w·x = 0, mistake",
        "visit 2: w·x = 1",
        "visit 3: w·x = −1, mistake",
        "visit 4: w·x = −2",
        "visit 5: w·x = 0, mistake",
        "visit 6: w·x = 2",
    ]
    for ax, step in zip(shown.axes_, shown.frames, strict=True):
        lines = {line.get_label(): line.get_xydata() for line in ax.get_lines()}
        np.testing.assert_allclose(lines["after"] @ step.w, 0, atol=1e-12)
    assert "before" in {line.get_label() for line in shown.axes_[2].get_lines()}
    assert len({ax.get_xlim() for ax in shown.axes_}) == 1  # one window for all


def test_updates_only_and_hidden_axes():
    shown = plots.FramesDisplay.from_trace(six_points(), updates_only=True, columns=2)
    assert [frame.visit for frame in shown.frames] == [1, 3, 5]
    assert [ax.get_visible() for ax in shown.axes_] == [True, True, True, False]
    with_bias = plots.FramesDisplay.of(trace(SIX, SIX_Y, [1.0, 0, 0]))
    assert with_bias.title(2) == "visit 3: w·x + b = −2, mistake"
    assert plots.FramesDisplay.of(six_points(), limit=1, updates_only=True).frames[0].visit == 1


def test_animation_and_files_are_the_same_every_time(tmp_path):
    first, second = (plots.FramesDisplay.of(six_points(), updates_only=True) for _ in range(2))
    paths = first.save_frames(tmp_path / "a", size=2, dpi=40)
    again = second.save_frames(tmp_path / "b", size=2, dpi=40)
    assert [path.name for path in paths] == ["frame-001.png", "frame-002.png", "frame-003.png"]
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in again]
    moving = first.animation(interval=10, size=2)
    seen = []
    first.draw = lambda ax, k: seen.append(k)
    moving.save(tmp_path / "run.gif", writer="pillow", dpi=30)
    assert (tmp_path / "run.gif").read_bytes().startswith(b"GIF8") and {*seen} == {0, 1, 2}


# ---- names of axes ---------------------------------------------------------------------------------------
def labels_of(shown):
    return shown.ax_.get_xlabel(), shown.ax_.get_ylabel()


def test_axes_are_named_after_the_columns_of_a_frame():
    pd = pytest.importorskip("pandas")
    frame, names = pd.DataFrame(SIX, columns=["age", "height"]), ("age", "height")
    run = trace(frame, SIX_Y, [1.0, 0, 0])
    voted = VotedPerceptron(order="cyclic").fit(frame, SIX_Y)
    kernel = KernelPerceptron("poly", order="cyclic").fit(frame, SIX_Y)
    verdict = separability(frame, [1, 1, 1, 1, -1, -1])
    drawn = [
        plots.BoundaryDisplay.from_estimator(Perceptron().fit(frame, SIX_Y), frame, SIX_Y, ax=axes()),
        plots.BoundaryDisplay.from_estimator(Perceptron().fit(frame, SIX_Y), SIX, SIX_Y, ax=axes()),
        plots.BoundaryDisplay.from_estimator(kernel, frame, SIX_Y, ax=axes()),
        plots.BoundaryDisplay.from_trace(run, frame, SIX_Y, ax=axes()),
        plots.VotesDisplay.from_estimator(voted, frame, SIX_Y),
        plots.UpdateDisplay.from_trace(run, 0, ax=axes()),
        plots.FramesDisplay.from_trace(run, 1),
    ]
    if verdict.verdict == "inseparable":
        drawn.append(plots.WitnessDisplay.from_verdict(verdict, frame, [1, 1, 1, 1, -1, -1], ax=axes()))
    assert {labels_of(shown) for shown in drawn} == {names}
    assert labels_of(plots.BoundaryDisplay.from_trace(run, SIX, SIX_Y, ax=axes())) == names
    assert axis_names(SIX) == ("$x_1$", "$x_2$")
    assert axis_names(pd.DataFrame({0: [1], 1: [2]})) == ("$x_1$", "$x_2$")
