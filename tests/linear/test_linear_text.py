"""Models as text: readable, and the same weights when read back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron
from novikoff.data.sources.features import NamedFeatures, NumberedFeatures
from novikoff.linear.model import LinearModel
from novikoff.linear.text import from_text, to_text
from novikoff.training.weights import Model, Settings


def fitted(n_classes=2, **params):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 7)).round(2)
    X[:, 4] = 0  # a feature without a weight
    y = np.array(["ham", "spam", "egg\n", "\ud800"])[np.arange(60) % n_classes]
    return X, Perceptron(max_epochs=3, random_state=0, **params).partial_fit(X, y)


def same_bits(a, b):
    return a.shape == b.shape and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


@pytest.mark.parametrize("params", [{}, {"average": True}, {"rule": "pa2", "multiclass": "ovr"}])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_round_trip(n_classes, params):
    """Weights and predictions are the same bits, and so is the text of what was read back."""
    X, model = fitted(n_classes, **params)
    text = to_text(model.to_linear())
    back = from_text(text)
    assert all(map(same_bits, back.weights(), (model.coef_, model.intercept_)))
    assert back.predict(X).tolist() == model.predict(X).tolist()
    assert same_bits(back.scores(X), model.decision_function(X))
    assert to_text(back) == text and '"5" @4' not in text
    assert back.report is None and not back.model.from_zero
    again = Perceptron.from_linear(back)
    assert again.get_params() == model.get_params()
    again.partial_fit(X, model.predict(X))  # it can learn on


def test_the_heaviest_come_first():
    _, model = fitted()
    lines = to_text(model.to_linear()).split("\n\n")[1].splitlines()
    sizes = [abs(float(line.split()[-1])) for line in lines]
    assert sizes == sorted(sizes, reverse=True) and len(sizes) == 6


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), min_size=6, max_size=6))
def test_any_weights(weights):
    """The shortest decimals are exact, from subnormals to the largest doubles."""
    weights = np.array(weights) + 0.0  # a model has no negative zeros
    model = Model(3, 2, Settings())
    model.learners[0].weights[:, :3] = weights.reshape(2, 3)
    back = from_text(to_text(LinearModel(model, np.arange(3), NumberedFeatures(2))))
    assert same_bits(back.weights()[0], model.coef(averaged=False)[0])


def test_a_model_without_weights():
    linear = LinearModel(Model(2, 3, Settings()), np.array([0.5, 2.0]), NumberedFeatures(3, zero_based=True))
    back = from_text(to_text(linear))
    assert back.classes.tolist() == [0.5, 2.0] and back.model.from_zero
    assert back.features.names([0]) == ["0"]


def test_names_with_blanks_and_newlines():
    names = ["two words", "new\nline", 'quote"', "@3", "naïve"]
    features = NamedFeatures()
    features.place(names)
    model = Model(2, 5, Settings())
    model.learners[0].weights[:, 0] = [1, 2, 3, 4, 5]
    text = to_text(LinearModel(model, np.arange(2), features))
    assert '"new\\nline" @1 2.0' in text.splitlines()
    back = from_text(text)
    assert back.features.names(range(5)) == names
    assert same_bits(back.weights()[0], model.coef(averaged=False)[0])


def test_a_person_may_change_it():
    """A weight changed, a line removed, another order: it is what it says."""
    _, model = fitted()
    head, weights, tail = to_text(model.to_linear()).split("\n\n")
    lines = weights.splitlines()[::-1]
    lines[0] = lines[0].rpartition(" ")[0] + " 0.25"
    back = from_text("\n\n".join([head, "\n".join(lines[:-1]), tail]))
    coef = back.weights()[0]
    assert 0.25 in coef and np.count_nonzero(coef) == 5


GOOD = to_text(fitted()[1].to_linear())
FIRST = GOOD.split("\n\n")[1].splitlines()[0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("format: 1", "format: 2", "line 1: this is not a text model"),
        (GOOD, "hello", "there are 1 sections"),
        (GOOD, "", "there are 0 sections"),
        (FIRST, FIRST + " 1.0", "expected 1 finite number"),
        (FIRST, FIRST.rpartition(" ")[0] + " nan", "expected 1 finite number"),
        (FIRST, FIRST.rpartition(" ")[0] + " much", "could not convert"),
        (FIRST, FIRST + "\n" + FIRST, "is repeated, or not below 7"),
        (FIRST, '"99" @98 1.0', "line 9: column 98 is repeated, or not below 7"),
        (FIRST, '"99" @999999999999999999999999999 1.0', "not below 7"),
        (FIRST, '"x" @4 1.0', "is called 'x' here, but '5' in the features"),
        (FIRST, "x 1.0", 'expected "name" @column and weights'),
        ('"labels":["ham","spam"]', '"labels":["ham"]', "classes: there are 1"),
        ('"labels":["ham","spam"]', '"labels":7', "labels is 7, expected list"),
        ("classes: {", "classes: [{", "line 3: classes is damaged"),
        ("n_features: 7", "n_features: 8", "7 features by name, but weights for 8"),
        ("bias: ", "bias: 1 ", "bias: "),
        ("name: ", "name; ", "expected 'key: value'"),
        ('"rule":"perceptron"', '"rule":"best"', "expected one of perceptron"),
    ],
)
def test_bad_text(old, new, said):
    assert old in GOOD
    with pytest.raises(ValueError) as info:
        from_text(GOOD.replace(old, new))
    assert said in str(info.value) and "\n" not in str(info.value)


@given(st.data())
def test_damaged_text(draw):
    """Whatever is cut, doubled or put in: a model or a ValueError."""
    a, b = sorted(draw.draw(st.integers(0, len(GOOD))) for _ in range(2))
    between = draw.draw(st.sampled_from(["", "\n", '"', "{", "1e999", GOOD[a:b] * 2]) | st.text(max_size=4))
    try:
        from_text(GOOD[:a] + between + GOOD[b:])
    except ValueError as error:
        assert "\n" not in str(error)
