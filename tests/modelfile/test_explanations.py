"""`top_features` and `explain`: sums that are exactly scores, and one clear error where there are none."""

from fractions import Fraction

import numpy as np
import pytest

import novikoff
from novikoff import (
    KernelPerceptron,
    OnlineKernelPerceptron,
    OnlinePerceptron,
    Perceptron,
    Pocket,
    VotedPerceptron,
    Winnow,
    structured,
)
from novikoff.training.explanation import Explanation, TopFeatures, exact_sum
from support.children import run_python
from support.marks import may_not_separate
from support.model_files import BITS, KINDS, THREE, TWO, X

pytestmark = may_not_separate


def model_of(made, y, rows=X):
    fitted = made.fit(rows, y)
    return fitted.to_linear() if hasattr(fitted, "to_linear") else fitted.to_model()


MODELS = {
    "last": Perceptron(max_epochs=3),
    "averaged": Perceptron("pa1", average=True, max_epochs=3),
    "ovr": Perceptron(multiclass="ovr", max_epochs=3),
    "no bias": Perceptron(fit_intercept=False, max_epochs=3),
    "pocket": Pocket(max_epochs=3),
    "voted, averaged": VotedPerceptron(max_epochs=3, predict_with="averaged"),
    "winnow": Winnow(max_epochs=3, threshold=1.5),
    "winnow, balanced": Winnow(max_epochs=3, alpha=1.5, balanced=True),
}


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("name", MODELS)
def test_contributions_sum_to_the_score(name, y):
    """Against the definition in fractions; the label is that of `predict`."""
    rows = BITS if "winnow" in name else X
    model = model_of(MODELS[name].set_params(), y, rows)
    coef = fractions(model._weights_at(np.arange(3))[0])
    bias = fractions(model._weights_at(np.arange(3))[1])
    for x, label, scores in zip(rows, model.predict(rows).tolist(), model.scores(rows), strict=True):
        found = model.explain(x)
        assert found.label == found.of == label
        exact = [sum(w * Fraction(v) for w, v in zip(row, x.tolist(), strict=True)) for row in coef]
        exact = [total + b for total, b in zip(exact, bias, strict=True)]
        exact = [-exact[0], exact[0]] if len(exact) == 1 else exact
        assert list(found.scores.values()) == [float(total) for total in exact]
        assert np.allclose(np.ravel(scores), [float(t) for t in exact[-len(np.ravel(scores)) :]], rtol=1e-12)
        place = model.classes.tolist().index(label)
        assert found.score == float(exact[place])
        parts = found.contributions
        assert [abs(p.contribution) for p in parts] == sorted(
            (abs(p.contribution) for p in parts), reverse=True
        )
        assert all(p.contribution == p.weight * p.value != 0 for p in parts)
        slack = sum(abs(p.contribution) for p in parts) * 2.0**-52 + abs(found.score) * 2.0**-52
        assert abs(sum(p.contribution for p in parts) + found.bias - found.score) <= slack
        for other in model.classes.tolist():
            assert model.explain(x, other).score == found.scores[other]


def fractions(array):
    return (
        [[Fraction(v) for v in row] for row in array.tolist()]
        if array.ndim > 1
        else [*map(Fraction, array.tolist())]
    )


def test_an_exact_sum_is_rounded_once():
    assert exact_sum([(0.1, 3.0), (-0.3, 1.0)]) == float(Fraction(0.1) * 3 - Fraction(0.3)) != 0.1 * 3 - 0.3
    assert exact_sum([(1e200, 1e200)]) == float("inf") and exact_sum([(1e200, -1e200)]) == -float("inf")


def test_values_are_those_after_scaling(tmp_path):
    """With categories and `--scale standard`: the values that the weights meet, with their names."""
    pytest.importorskip("pyarrow")
    (tmp_path / "rows.csv").write_text("label,age,colour\nyes,30,red\nno,10,green\nyes,50,red\nno,20,blue\n")
    fit = (
        "-m",
        "novikoff",
        "fit",
        tmp_path / "rows.csv",
        "--label",
        "label",
        "--scale",
        "standard",
        "--quiet",
    )
    run_python(*fit, "--model", tmp_path / "m")
    model = novikoff.load_model(tmp_path / "m")
    found = model.explain({"age": 10, "colour": "green"})
    deviation = np.array([30.0, 10, 50, 20]).std()
    assert found.label == "no"
    values = {part.feature: part.value for part in found.contributions}
    assert values["age"] == (10 - 27.5) / deviation
    assert set(values) == {"age", "colour=green"}
    assert "'no': score" in repr(found) and "colour=green" in repr(found)
    html = found._repr_html_()
    assert html.startswith("<div><b>no</b>: score") and "<td>colour=green</td>" in html


def test_top_features_by_class():
    model = model_of(Perceptron(order="cyclic", max_epochs=2), THREE)
    (coef, _), top = model.weights(), model.top_features(2)
    assert isinstance(top, TopFeatures) and list(top) == [3, 5, 7]
    for c, label in enumerate(top):
        expected = sorted(
            ((str(j + 1), w) for j, w in enumerate(coef[c].tolist()) if w > 0), key=lambda p: -p[1]
        )
        assert top[label] == expected[:2]
        assert model.top_features(2, label) == {label: expected[:2]} == model.top_features(label=label, k=2)
    assert repr(top).splitlines()[0] == "3" and "<th>feature</th>" in top._repr_html_()
    with pytest.raises(TypeError, match=r"k='spam' is no number of features; .*top_features\(label='spam'\)"):
        model.top_features("spam")
    with pytest.raises(ValueError, match="k=-1 is not possible"):
        model.top_features(-1)
    with pytest.raises(ValueError, match=r"the model has no class 'x'; it has \[3, 5, 7\]"):
        model.explain(X[0], "x")


def test_names_are_escaped_in_html():
    found = Explanation.of_terms("<b>", "<b>", 0.5, [("<script>", 1.0, 2.0)])
    assert "<script>" not in found._repr_html_() and "&lt;script&gt;" in found._repr_html_()
    assert "<i>" not in TopFeatures({"<i>": [("<u>", 1.0)]})._repr_html_()


def test_long_explanations_show_the_largest_and_sum_up_the_rest():
    found = Explanation.of_terms("a", "a", 0.5, [(f"f{j}", 1.0, float(j)) for j in range(1, 31)])
    assert len(found.contributions) == 30 and found.score == 465.5
    lines = repr(found).splitlines()
    assert lines[-2].split() == ["+210", "20", "more", "features"] and lines[-1].split() == ["+0.5", "(bias)"]


@pytest.mark.parametrize("average", [False, True])
def test_an_online_model_explains_itself(average):
    model = OnlinePerceptron(average=average)
    model.learn_many(
        [({"job": "cook", "age": 3}, "x"), ({"job": "nurse", "age": 1}, "y"), ({"age": 2}, "z")] * 3
    )
    for x in ({"job": "cook", "age": 2}, {"age": 1.5, "new": 3}):
        found = model.explain(x)
        assert found.label == model.predict_one(x)
        assert found.scores == pytest.approx(model.score_one(x))
    top = model.top_features(5)
    assert list(top) == ["x", "y", "z"] and {n for f in top.values() for n, _ in f} <= {
        *model.feature_names_in_
    }
    assert model.predict([{"age": 2}]).tolist() == [model.predict_one({"age": 2})]
    assert model.scores([{"age": 2}]).shape == (1, 3)
    linear = model.to_linear()
    assert [linear.predict_one(x) for x in ({"age": 2}, {"job": "nurse"})] == [
        model.predict_one(x) for x in ({"age": 2}, {"job": "nurse"})
    ]


def test_an_online_model_of_one_class_has_no_weights_yet():
    model = OnlinePerceptron()
    model.learn_one({"a": 1}, "x")
    with pytest.raises(ValueError, match="a model needs two classes"):
        model.explain({"a": 1})


def test_a_structured_model_explains_its_best_output():
    model = novikoff.StructuredPerceptron(structured.Ranking(), max_epochs=3)
    dishes = [np.array([[3.0, 1], [1, 1], [2, 0]])]
    plain = model.fit(dishes, [[0, 2, 1]]).to_model()
    found = plain.explain(dishes[0])
    assert found.label == plain.predict_one(dishes[0]) == [0, 2, 1]
    assert found.score == plain.scores(dishes)[0]
    assert plain.explain(dishes[0], [1, 2, 0]).score < found.score
    assert plain.top_features(1) == sorted(plain.top_features(), key=lambda p: -p[1])[:1]


def test_a_structured_model_with_named_features(tmp_path):
    KINDS["structured-chains"][0](tmp_path / "m")
    model = novikoff.load_model(tmp_path / "m")
    assert all(w > 0 for _, w in model.top_features(3))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            lambda: KernelPerceptron(max_epochs=2).fit(X, TWO).to_model(),
            "a kernel model has no weight per feature",
        ),
        (lambda: VotedPerceptron(max_epochs=2).fit(X, TWO).to_model(), "weight vectors has a vote"),
        (lambda: online_kernel(), "a kernel model has no weight per feature"),
    ],
)
def test_a_model_without_weights_says_why(made, said):
    model = made()
    for call in (lambda: model.top_features(3), lambda: model.explain(X[0])):
        with pytest.raises(ValueError, match=said) as error:
            call()
        assert "\n" not in str(error.value)


def online_kernel():
    model = OnlineKernelPerceptron("rbf")
    model.learn_many([(x, y) for x, y in zip(X, TWO.tolist(), strict=True)])
    assert model.predict(X).tolist() == [model.predict_one(x) for x in X]
    assert model.scores(X).tolist() == [model.score_one(x) for x in X]
    return model
