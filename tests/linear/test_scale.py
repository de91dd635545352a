"""`scale="auto"`: columns of very different size are learned times powers of two, which loses nothing.

The definition: let s be the factors and z = s·x. A run on x with these factors is the run on the rows z, made
once as an array, with v = s·w for its weights: the same mistakes, decisions, R and margins, bit for bit.
"""

import math
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff
from novikoff import Perceptron, Pocket, VotedPerceptron, _core, theory
from novikoff.data.arrays import rows_of
from novikoff.data.scaling import ALIKE, power_factors
from novikoff.linear.updates import times
from novikoff.parameters.linear import RULES
from novikoff.reference.linear import Twin
from novikoff.training import linear as training
from novikoff.training.plan import Plan
from novikoff.training.weights import Model, Settings

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SIZES = 2.0 ** np.array([0, 9, -7, 3, 12, -20])


def uneven(n=60, classes=2, seed=0, *, noise=0.5):
    """Rows of six columns of very different size, and labels that depend on all of them."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.8)
    scores = Z @ rng.normal(size=(6, classes)) + noise * rng.normal(size=(n, classes))
    return Z * SIZES, scores.argmax(axis=1).astype(np.int32)


def factors_of(X):
    return power_factors(np.abs(np.asarray(X, dtype=float)).max(axis=0))


# ---- the factors -----------------------------------------------------------------------------------------
def test_every_column_comes_to_between_a_sixteenth_and_two():
    sizes = np.array([0.3, 7e5, 1.0, 2.0, 1.999, 5e-324, 1e-70, 1e70])
    factors = power_factors(sizes)
    assert (np.frexp(factors)[0] == 0.5).all()  # powers of two
    rest = sizes * factors
    assert ((rest >= 1 / 16) & (rest < 2))[sizes > 1e-80].all()
    assert (factors[[0, 2, 4]] == 1).all()  # they are there already
    assert ((rest >= 1) & (rest < 2))[sizes >= 2].all() and (rest < 1 / 8)[sizes < 1 / 16].all()  # no farther
    assert np.log2(factors[5]) == 300  # the largest factor


def test_equal_columns_have_equal_factors_whatever_the_others_are():
    rng = np.random.default_rng(1)
    for _ in range(100):
        sizes = np.exp2(rng.integers(-30, 30, 8)) * rng.uniform(1, 2, 8)
        sizes[rng.integers(0, 8, 2)] = 0
        factors, order = power_factors(sizes), rng.permutation(8)
        other = power_factors(sizes[order])
        assert (factors is None) == (other is None)
        if factors is not None:
            np.testing.assert_array_equal(factors[order], other)


def test_columns_that_are_alike_are_left_as_they_are():
    assert power_factors(2.0 ** np.arange(ALIKE + 1)) is None
    assert power_factors(2.0 ** np.arange(ALIKE + 2)) is not None
    assert power_factors(np.zeros(3)) is None
    assert power_factors(np.array([1.0, np.inf])) is None


def test_the_native_sizes_are_the_largest_values():
    X, _ = uneven()
    order = np.array([3, 1, 7, 50], dtype=np.int64)
    for rows in (X, X.astype(np.float32), sp.csr_array(X), sp.csr_array(X.astype(np.float32))):
        sizes = np.zeros(6)
        _core.column_sizes(_core.Examples(rows_of(rows), None, None, order), 0, 4, sizes)
        whole = rows.toarray() if sp.issparse(rows) else rows
        np.testing.assert_array_equal(sizes, np.abs(whole[order]).max(axis=0))


# ---- a run with factors ------------------------------------------------------------------------------------
STORED = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sp.csr_array,
    "sparse float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_loops_equal_the_twin(rule, classes):
    X, y = uneven(40, classes)
    for (name, store), weighted, bias in product(STORED.items(), (False, True), (0.0, 1.0, 0.01)):
        rows = store(X)
        whole = np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)
        weights = np.random.default_rng(0).choice([1.0, 0.3, 2.0], len(y)) if weighted else None
        twin = Twin(classes, 6, rule=rule, margin=0.5, bias_square=bias, factors=factors_of(whole))
        model = Model(classes, 6, Settings(rule, "positive", 0.5, 1.0, bias, True, phi=twin.phi))
        model.set_factors(twin.factors)
        for _ in range(2):
            twin.epoch(whole, y, weights=weights)
            training.learn(model, rows, y, classes, weights)
        (learner,) = model.learners
        k = 1 if classes == 2 else classes
        assert twin.updates, name
        assert (learner.native.mistakes, learner.native.updates) == (twin.mistakes, twin.updates), name
        np.testing.assert_array_equal(learner.weights[:, :k].T, twin.weights)
        np.testing.assert_array_equal(learner.bias[:k], twin.bias)
        np.testing.assert_array_equal(learner.weight_sums[:, :k].T, twin.weight_sums)
        np.testing.assert_array_equal(learner.confidences[:, :k].T, twin.confidences) if rule in (
            "arow",
            "scw",
            "second-order",
        ) else None


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_a_run_with_factors_is_the_run_on_scaled_rows(rule, classes, multiclass):
    for seed, noise in ((0, 0.0), (1, 0.5)):
        X, y = uneven(80, classes, seed, noise=noise)
        how = {"rule": rule, "margin": 0.5, "multiclass": multiclass, "random_state": 3}
        model = Perceptron(**how).fit(X, y)
        s = model.scale_
        np.testing.assert_array_equal(s, factors_of(X))
        once = Perceptron(**how, scale=None).fit(X * s, y)
        assert once.scale_ is None
        assert [r["mistakes"] for r in model.history_] == [r["mistakes"] for r in once.history_]
        np.testing.assert_array_equal(model.coef_, s * once.coef_)
        np.testing.assert_array_equal(model.intercept_, once.intercept_)
        assert (model.verdict_, model.predicts_with_) == (once.verdict_, once.predicts_with_)
        assert (model.radius_, model.margin_, model.margin_upper_) == (
            once.radius_,
            once.margin_,
            once.margin_upper_,
        )
        assert (model.witness_ is None) == (once.witness_ is None)
        if model.witness_ is not None:
            np.testing.assert_array_equal(model.witness_[0], s * once.witness_[0])
        np.testing.assert_array_equal(model.predict(X), once.predict(X * s))
        report, other = model.report(), once.report()
        bounds = [(one.bound_lower, one.bound_upper) for one in (report, other)]
        assert bounds[0] == pytest.approx(bounds[1], rel=1e-12)  # γₙ allows for the rounding of norms
        scaled = str(report.proof).splitlines()
        assert [line for line in scaled if "  scale " in line]
        assert not [line for line in str(other.proof).splitlines() if "  scale " in line]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_storage_makes_no_difference(n_classes):
    X, y = uneven(200, n_classes)
    X = X.astype(np.float32)
    forms = [
        X,
        X.astype(np.float64),
        sp.csr_array(X),
        sp.csr_array(X.astype(np.float64)),
        np.asfortranarray(X),
    ]
    models = [Perceptron(random_state=0, average=True, max_epochs=3).fit(form, y) for form in forms]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        assert (model.radius_, model.margin_) == (models[0].radius_, models[0].margin_)


def test_rows_without_weight_and_held_out_rows_do_not_count():
    X, y = uneven(100)
    X[0] = 2.0**40
    weights = np.ones(100)
    weights[0] = 0
    model = Perceptron(random_state=0).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.scale_, factors_of(X[1:]))
    held = Perceptron(random_state=0, early_stopping=True, max_epochs=3).fit(X[1:], y[1:])
    assert held.scale_ is not None


# ---- what is said about the rows as they are ---------------------------------------------------------------
def test_certificates_are_about_the_rows_as_they_are():
    for seed in range(3):
        X, y = uneven(60, 2, seed, noise=0.0)
        model = Perceptron(random_state=0).fit(X, y)
        assert model.verdict_ == "separated"
        assert model.certificate(X, y).verify(X, y)[0].startswith("separable")
        X[0], X[1], y[0], y[1] = X[2], X[2], 0, 1  # equal rows with different labels
        model = Perceptron(random_state=0).fit(X, y)
        assert model.verdict_ == "inseparable"
        assert model.certificate(X, y).verify(X, y)[0].startswith("inseparable")


def test_bounds_are_of_the_scaled_rows():
    X, y = uneven(60, 2, 0, noise=0.0)
    model = Perceptron(order="cyclic").fit(X, y)
    found = theory.bounds(X, y, model)
    once = Perceptron(order="cyclic", scale=None).fit(X * model.scale_, y)
    expected = theory.bounds(X * model.scale_, y, once)
    for name in ("novikoff", "freund-schapire at model", "freund-schapire in hindsight"):
        assert found[name].value == expected[name].value
        assert found[name].made == expected[name].made == model.n_mistakes_
    assert found["novikoff"].made <= found["novikoff"].value


# ---- other learners, files and streams ---------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("store", STORED.values(), ids=STORED)
def test_votes_are_those_of_the_run_on_scaled_rows(classes, store):
    X, y = uneven(80, classes, 2)
    X = store(X)
    model = VotedPerceptron(random_state=1, max_epochs=3).fit(X, y)
    scaled = times(X, model.scale_)
    once = VotedPerceptron(random_state=1, max_epochs=3, scale=None).fit(scaled, y)
    for way in ("voted", "averaged", "last"):
        model.predict_with = once.predict_with = way
        np.testing.assert_array_equal(model.predict(X), once.predict(scaled))
    whole = X.toarray() if sp.issparse(X) else X
    own = model.support_vectors_.toarray() if sp.issparse(X) else model.support_vectors_
    np.testing.assert_array_equal(own, whole[model.support_])


def test_the_pocket_is_that_of_scaled_rows():
    X, y = uneven(80)
    model = Pocket(random_state=0, max_epochs=5).fit(X, y)
    once = Pocket(random_state=0, max_epochs=5, scale=None).fit(X * model.scale_, y)
    np.testing.assert_array_equal(model.coef_, model.scale_ * once.coef_)
    assert model.n_errors_ == once.n_errors_


def test_partial_fit_keeps_the_factors_of_its_first_call():
    X, y = uneven(300)
    model = Perceptron().partial_fit(X[:150], y[:150], classes=[0, 1])
    np.testing.assert_array_equal(model.scale_, factors_of(X[:150]))
    model.partial_fit(X[150:] * 1024, y[150:])
    np.testing.assert_array_equal(model.scale_, factors_of(X[:150]))
    few = Perceptron().partial_fit(X[:99], y[:99], classes=[0, 1])
    assert few.scale_ is None


def test_a_warm_start_keeps_the_factors():
    X, y = uneven(100)
    model = Perceptron(warm_start=True, max_epochs=2, random_state=0).fit(X, y)
    factors = model.scale_
    model.fit(X * 4, y)
    np.testing.assert_array_equal(model.scale_, factors)


def test_coef_init_is_about_the_rows_as_they_are():
    X, y = uneven(100, noise=0.0)
    first = Perceptron(random_state=0).fit(X, y)
    again = Perceptron(random_state=0).fit(X, y, coef_init=first.coef_, intercept_init=first.intercept_)
    assert again.n_updates_ == 0


@pytest.mark.parametrize("rule", ["perceptron", "normalized", "arow"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_file_keeps_the_factors(tmp_path, rule, classes):
    X, y = uneven(150, classes)
    model = Perceptron(rule, max_epochs=2, random_state=0, average=True).fit(X[:120], y[:120])
    model.save(tmp_path / "m.novikoff")
    loaded = Perceptron.load(tmp_path / "m.novikoff")
    np.testing.assert_array_equal(loaded.scale_, model.scale_)
    assert loaded.margin_upper_ == model.margin_upper_
    np.testing.assert_array_equal(novikoff.load_model(tmp_path / "m.novikoff").predict(X), model.predict(X))
    for each in (model, loaded):
        each.partial_fit(X[120:], y[120:])
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    loaded.save(tmp_path / "two.novikoff")
    model.save(tmp_path / "one.novikoff")
    assert (tmp_path / "one.novikoff").read_bytes() == (tmp_path / "two.novikoff").read_bytes()


def svm(path, X, y):
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row.tolist()) if v)
        for row, label in zip(X, y, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("order", ["riffle", "cyclic"])
def test_files_are_learned_as_arrays_are(tmp_path, order):
    X, y = uneven(120)
    source = novikoff.open_source(svm(tmp_path / "rows.svm", X, y))
    streamed = Perceptron(random_state=0, order=order).fit_source(source)
    model = Perceptron(random_state=0, order=order).fit(X, y)
    np.testing.assert_array_equal(streamed.scale_, model.scale_)
    np.testing.assert_array_equal(streamed.coef_, model.coef_)
    assert (streamed.verdict_, streamed.n_epochs_) == (model.verdict_, model.n_epochs_)


def test_classes_that_come_later_keep_the_factors():
    X, y = uneven(300, 3)
    first = y < 2
    for multiclass in ("joint", "ovr"):
        model = Perceptron(multiclass=multiclass).partial_fit(X[first], y[first])
        factors = model.scale_
        model.partial_fit(X, y)
        np.testing.assert_array_equal(model.scale_, factors)
        scaled = Perceptron(multiclass=multiclass, scale=None).partial_fit(X[first] * factors, y[first])
        scaled.partial_fit(X * factors, y)
        np.testing.assert_array_equal(model.coef_, scaled.coef_ * factors)


# ---- at the ends of the range ------------------------------------------------------------------------------
def test_extreme_sizes():
    X, y = uneven(60, noise=0.0)
    far = X * 2.0 ** np.array([500, -500, 250, -250, 0, 0])
    model = Perceptron(random_state=0).fit(far, y)
    s = model.scale_
    assert np.abs(np.log2(s)).max() == 300
    assert np.isfinite(model.coef_).all()
    far = X * 2.0 ** np.array([280, -280, 250, -250, 0, 0])  # the largest factors suffice
    model = Perceptron(random_state=0).fit(far, y)
    assert model.verdict_ == "separated"
    assert (model.predict(far) == y).all()
    coef, intercept = model.witness_
    for row, label in zip(far.tolist(), y.tolist(), strict=True):
        score = math.fsum([a * b for a, b in zip(row, coef[0].tolist(), strict=True)] + intercept.tolist())
        assert (score > 0) == (label == 1)


def test_illegal_factors_are_refused():
    model = Model(2, 3, Settings())
    for factors in ([1.0, 2.0], [1.0, 3.0, 1.0], [1.0, 0.0, 1.0], [1.0, 2.0**301, 1.0], [1.0, np.nan, 1.0]):
        with pytest.raises(ValueError, match=r"factors"):
            model.set_factors(np.array(factors))


def test_the_question_is_asked_about_scaled_rows():
    X, y = uneven(400, noise=0.0, seed=5)
    plan = Plan(max_epochs=10, order="cyclic")
    model, _ = training.fit(X, y, 2, Settings(), plan, scale="auto")
    from novikoff.proof.asked import ask

    (learner,) = model.learners
    start = learner.coef(), learner.intercept()
    proof = ask(X, y, 2, bias_square=1.0, ties="positive", epochs=10, start=start, factors=model.factors)
    assert proof is not None
    assert proof.is_possible
    assert (np.where(y == 1, 1, -1) * (X @ proof.coef[0] + proof.intercept) > 0).all()


# ---- scaling that rounds, on request -----------------------------------------------------------------------
def centred(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1, 50, 0.01, 3] + [100, -3000, 5, 0]
    return X, (np.median(X @ [0.3, 0.004, 20, -0.1]) < X @ [0.3, 0.004, 20, -0.1]).astype(int)


@pytest.mark.parametrize("kind", ["standard", "maxabs", "unit"])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_explicit_scaling_is_that_of_the_rows(tmp_path, kind, store):
    X, y = centred()
    X = store(X)
    model = Perceptron(scale=kind, random_state=0, max_epochs=5, average=True).fit(X, y)
    scaled = model.scaling_.of(X)
    whole = np.asarray(X.todense() if sp.issparse(X) else X)
    if kind == "standard":
        expected = whole - (0 if sp.issparse(X) else whole.mean(axis=0))
        expected = expected / whole.std(axis=0)
    elif kind == "maxabs":
        expected = whole / np.abs(whole).max(axis=0)
    else:
        expected = whole / np.linalg.norm(whole, axis=1)[:, None]
    np.testing.assert_allclose(scaled.toarray() if sp.issparse(scaled) else scaled, expected, rtol=1e-9)
    once = Perceptron(scale=None, random_state=0, max_epochs=5, average=True).fit(scaled, y)
    np.testing.assert_array_equal(model.coef_, once.coef_)
    np.testing.assert_array_equal(model.predict(X), once.predict(scaled))
    np.testing.assert_array_equal(model.decision_function(X), once.decision_function(scaled))
    assert model.score(X, y) > 0.9 or kind != "standard" or sp.issparse(X)  # centring is what these rows need
    model.save(tmp_path / "m.novikoff")
    for loaded in (Perceptron.load(tmp_path / "m.novikoff"), novikoff.load_model(tmp_path / "m.novikoff")):
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    loaded = Perceptron.load(tmp_path / "m.novikoff")
    assert loaded.get_params()["scale"] == kind
    for each in (model, loaded):
        each.partial_fit(X, y)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)


def test_certificates_are_not_about_rows_that_were_rounded():
    X, y = centred()
    model = Perceptron(scale="standard", random_state=0).fit(X, y)
    assert model.verdict_ == "separated"
    with pytest.raises(ValueError, match=r"after scale='standard'"):
        model.certificate(X, y)
    Z = model.scaling_.of(X)
    assert Perceptron(scale=None, random_state=0).fit(Z, y).certificate(Z, y).verify(Z, y)


def test_a_loaded_model_of_an_earlier_version_is_not_scaled():
    """It was learned from the columns as they are, and so it is learned again."""
    from pathlib import Path

    for path in sorted(Path(__file__).parents[1].glob("files/0.1.0/*linear*")):
        try:
            model = Perceptron.load(path)
        except ValueError:
            continue
        assert model.scale is None
        assert model.scale_ is None


# ---- advice ------------------------------------------------------------------------------------------------
def test_advice_to_centre_is_given_where_rows_lie_far_from_0():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) + 1000
    y = (rng.random(400) < 0.5).astype(int)
    model = Perceptron(random_state=0).fit(X, y)
    assert "scale='standard'" in model.report().advice
    assert "scale='standard'" not in Perceptron(random_state=0).fit(X - 1000, y).report().advice
    assert "scale='standard'" not in Perceptron(random_state=0, scale="standard").fit(X, y).report().advice


def test_advice_to_scale_is_given_where_columns_were_left_as_they_are():
    X, y = uneven(400)
    assert "scale='auto'" in Perceptron(random_state=0, scale=None).fit(X, y).report().advice
    assert "scale='auto'" not in Perceptron(random_state=0).fit(X, y).report().advice


def test_no_advice_to_scale_where_auto_has_decided():
    """A sample may look more uneven than the rows are: here one row of a thousand holds the largest "
    "values."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 2)) * [1, 1e-6], rng.integers(0, 2, 1000)
    X[7, 1] = 1.0
    for model in (Perceptron(random_state=0), Perceptron(random_state=0, scale=None)):
        advised = "scale='auto'" in model.fit(X, y).report().advice
        assert advised is (model.scale is None)


# ---- what is refused, and what is converted ----------------------------------------------------------------
def test_a_refused_fit_leaves_model_and_scaling_as_they_were():
    X, y = centred()
    model = Perceptron(scale="standard", random_state=0).fit(X, y)
    before = model.decision_function(X)
    model.set_params(scale="maxabs", random_state=1)
    bad = X.copy()
    bad[5, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(bad, y)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(bad, y)
    np.testing.assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_of_scaled_rows_can_be_folded(classes):
    """As the shards of a cluster learn them: z as rows, then v = s·w, with the figures of a run with "
    "factors."""
    X, y = uneven(80, classes)
    plan = {"max_epochs": 3, "order": "cyclic"}
    model, _ = training.fit(X, y, classes, Settings(average=True), Plan(**plan), scale="auto")
    folded, _ = training.fit(X * model.factors, y, classes, Settings(average=True), Plan(**plan))
    folded.fold(model.factors)
    for averaged in (False, True):
        for a, b in zip(folded.coef(averaged=averaged), model.coef(averaged=averaged), strict=True):
            np.testing.assert_array_equal(a, b)
    assert (folded.radius(), folded.margin_upper()) == (model.radius(), model.margin_upper())


def test_kernel_models_of_files_scale_scipy_rows(tmp_path):
    X, y = uneven(60)
    path = svm(tmp_path / "rows.svm", X, y)
    run_command = ["fit", str(path), "--kernel", "rbf", "--scale", "standard", "--quiet"]
    from novikoff.cli.app import run

    assert not run([*run_command, "--model", str(tmp_path / "k.novikoff")])
    model = novikoff.load_model(tmp_path / "k.novikoff")
    np.testing.assert_array_equal(model.predict(sp.csr_array(X)), model.predict(X))
