"""`StructuredPerceptron` as an estimator: conventions, files, bad input."""

import copy
import math
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import novikoff
from novikoff import Perceptron, StructuredPerceptron
from novikoff.structured import Chains, DependencyTrees, Matching, Multiclass, Ranking
from support.marks import may_not_separate
from support.structured_problems import (
    Costly,
    Plainly,
    Trap,
    separable_sequences,
)


# ---- the estimator ---------------------------------------------------------------------------------------
def test_scikit_learn_conventions():
    X, Y, _ = separable_sequences(0, n=30)
    X = [x.tolist() for x in X]
    model = StructuredPerceptron(Plainly(), average=True, max_epochs=50, random_state=1)
    assert clone(model).get_params()["max_epochs"] == 50 and set(model.get_params()) >= {"problem", "order"}
    assert cross_val_score(model, X, Y, cv=3).shape == (3,)
    search = GridSearchCV(model, {"average": [False, True], "problem": [Plainly(), Costly()]}, cv=2)
    assert search.fit(X, Y).best_score_ <= 1
    model.fit(X, Y)
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert copied.predict(X) == model.predict(X) and dict(copied.weights_) == dict(model.weights_)
    with pytest.raises(ValueError, match=r"not fitted|isn't fitted"):
        StructuredPerceptron(Plainly()).predict(X)


@may_not_separate
def test_partial_fit_is_one_pass_and_goes_on():
    X, Y, _ = separable_sequences(3)
    once = StructuredPerceptron(Plainly(), order="cyclic", average=True, max_epochs=2).fit(X, Y)
    again = StructuredPerceptron(Plainly(), average=True).partial_fit(X[:7], Y[:7]).partial_fit(X[7:], Y[7:])
    again.partial_fit(X, Y)
    assert dict(again.weights_) == dict(once.weights_) and again.n_updates_ == once.n_updates_


@may_not_separate
def test_early_stopping_keeps_the_best_epoch():
    X, Y, _ = separable_sequences(4, n=40)
    Y = [y if i % 4 else tuple(1 - b for b in y) for i, y in enumerate(Y)]  # noise
    model = StructuredPerceptron(Plainly(), early_stopping=True, n_epochs_no_change=2, random_state=0).fit(
        X, Y
    )
    scores = [record["validation_score"] for record in model.history_]
    assert len(scores) == scores.index(max(scores)) + 3 < 100  # two more epochs were no better
    kept = model.history_[scores.index(max(scores))]["norm"]
    assert math.dist(model.weights_.values(), [0] * len(model.weights_)) == pytest.approx(kept)


@may_not_separate
def test_callback_verbose_and_interrupt(capsys):
    X, Y, _ = separable_sequences(3)
    seen = []
    StructuredPerceptron(Plainly(), verbose=1, callback=lambda r: seen.append(r) or True).fit(X, Y)
    assert len(seen) == 1 and seen[0].keys() >= {"epoch", "mistakes", "updates", "norm", "seconds"}
    assert "epoch    1" in capsys.readouterr().err

    class Interrupted(Plainly):
        calls = 0

        def decode(self, x, w):
            Interrupted.calls += 1
            if Interrupted.calls == 40:
                raise KeyboardInterrupt
            return super().decode(x, w)

    model = StructuredPerceptron(Interrupted(), order="cyclic")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.n_updates_ > 0 and len(model.predict(X)) == len(X) and not model.converged_


# ---- files -----------------------------------------------------------------------------------------------
@may_not_separate
def test_shipped_problems_are_saved_and_loaded(tmp_path):
    rng = np.random.default_rng(0)
    cases = [
        (Multiclass(), rng.normal(size=(9, 2)), list("abcabcabc")),
        (Chains(), [[["a", "é"], ["b"]], [{"a": 0.5}], []], [["p", "q"], ["q"], []]),
        (Ranking(), list(rng.normal(size=(5, 3, 2))), [[0, 2, 1]] * 5),
        (Matching(), list(rng.normal(size=(5, 2, 3, 2))), [[0, 2]] * 5),
        (DependencyTrees(10), [[("a", "X"), ("b", "Y")], [("c", "X")], []], [[2, 0], [0], []]),
    ]
    for problem, X, Y in cases:
        model = StructuredPerceptron(problem, average=True, max_epochs=3, random_state=0).fit(X, Y)
        model.save(tmp_path / "model")
        loaded = StructuredPerceptron.load(tmp_path / "model")
        assert loaded.predict(X) == model.predict(X) == novikoff.load_model(tmp_path / "model").predict(X)
        assert np.array_equal(loaded.weights_, model.weights_) and loaded.problem_ == model.problem_
        figures = [str(m.report().to_dict() | {"seconds": 0}) for m in (loaded, model)]
        assert figures[0] == figures[1]
        assert str(loaded.partial_fit(X, Y).report())
        model.partial_fit(X, Y)
        assert np.array_equal(loaded.weights_, model.weights_)  # goes on bit by bit
        model.save(tmp_path / "one")
        loaded.save(tmp_path / "two")
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_problem_of_ones_own_is_given_when_loading(tmp_path):
    X, Y, _ = separable_sequences(0)
    model = StructuredPerceptron(Plainly(), random_state=0).fit(X, Y)
    model.save(tmp_path / "model")
    loaded = StructuredPerceptron.load(tmp_path / "model", problem=Plainly())
    assert loaded.predict(X) == Y and dict(loaded.weights_) == dict(model.weights_)
    with pytest.raises(ValueError, match=r"Plainly, a user-defined problem: pass it"):
        StructuredPerceptron.load(tmp_path / "model")
    with pytest.raises(ValueError, match="structured perceptron, whose outputs are not the classes"):
        Perceptron.load(tmp_path / "model")
    Perceptron(fit_intercept=False).fit([[1.0], [-1.0]], [0, 1]).save(tmp_path / "linear")
    with pytest.raises(ValueError, match="holds a novikoff model, expected a structured"):
        StructuredPerceptron.load(tmp_path / "linear")

    class Odd(Plainly):
        def features(self, x, y):
            return {frozenset([name]): v for name, v in super().features(x, y).items()}

    with pytest.raises(ValueError, match="text, numbers or tuples"):
        StructuredPerceptron(Odd()).fit(X, Y).save(tmp_path / "odd")


# ---- bad input -------------------------------------------------------------------------------------------
class Faulty(Plainly):
    def __init__(self, wrong):
        super().__init__()
        self.wrong = wrong

    def features(self, x, y):
        return self.wrong(super().features(x, y)) if len(y) > 1 else super().features(x, y)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda f: f | {"odd": math.nan}, r"features\(x\[0\], y\[0\]\) has nan for 'odd'"),
        (lambda f: f | {"odd": -math.inf}, "has -inf for 'odd'"),
        (lambda f: f | {"odd": "text"}, "has 'text' for 'odd': expected a number"),
        (lambda f: np.zeros(3), "do not have the form"),
        (lambda f: "text", "expected a dict of name"),
        (lambda f: f | {"odd": 1e308}, None),
    ],
)
def test_bad_features(wrong, message):
    good = StructuredPerceptron(Plainly(), order="cyclic").fit([[[1.0, 0, 0]]], [(1,)])
    weights, updates = dict(good.weights_), good.n_updates_
    good.problem = good.problem_ = Faulty(wrong)
    if message is None:  # the same for y and z: it cancels out
        good.partial_fit([[[1.0, 0, 0], [0, 1, 0]]], [(1, 0)])
        return
    with pytest.raises((ValueError, TypeError), match=message):
        good.partial_fit([[[1.0, 0, 0], [0, 1, 0]]], [(1, 0)])
    assert (
        dict(good.weights_) == weights
        and good.n_updates_ == updates
        and good.predict([[[1.0, 0, 0]]]) == [(1,)]
    )


def test_weights_that_overflow_are_an_error():
    class Huge:
        def features(self, x, y):
            return {y: 1.7e308 * x}

        def decode(self, x, w):
            return max("ab", key=lambda z: w[z] * x)

    with pytest.raises(OverflowError, match=r"'b' would no longer be finite.*scale the features down"):
        StructuredPerceptron(Huge(), order="cyclic").fit([1.0, -0.5, -0.9, -1.0], ["b", "b", "b", "b"])


@pytest.mark.parametrize(
    ("fitting", "message"),
    [
        (lambda: StructuredPerceptron().fit([1], [1]), "problem=None is not possible"),
        (lambda: StructuredPerceptron(Plainly).fit([1], [1]), "problem=.* is not possible"),
        (lambda: StructuredPerceptron(Plainly(), order="odd").fit([1], [1]), "order='odd'"),
        (
            lambda: StructuredPerceptron(Plainly()).fit([[]], [(), ()]),
            "X has 1 examples, but y has 2 outputs",
        ),
        (lambda: StructuredPerceptron(Plainly()).fit([], []), "no examples"),
        (lambda: StructuredPerceptron(Plainly()).fit(iter([1]), [1]), "has no length"),
        (lambda: StructuredPerceptron(Plainly()).fit("ab", [(), ()]), "X is a str"),
        (lambda: StructuredPerceptron(Plainly()).fit([[]], [None]), r"y\[0\] is None"),
        (lambda: StructuredPerceptron(Plainly()).fit([[[1, 1, 1]]], [[1]]), r"a tuple, but y\[0\] is a list"),
        (lambda: StructuredPerceptron(Plainly(), cost_augmented=True).fit([[]], [()]), "needs a loss"),
        (
            lambda: StructuredPerceptron(Plainly(loss=lambda y, z: 1), cost_augmented=True).fit([[]], [()]),
            r"needs Plainly.decode\(x, w, y\)",
        ),
        (lambda: StructuredPerceptron(Trap(), cost_augmented=True).fit([[]], [()]), "needs a loss"),
        (
            lambda: StructuredPerceptron(Trap()).fit([0], [("N", "X")]),
            "step 1 of y is 'X', but the choices are 'V'",
        ),
        (lambda: StructuredPerceptron(Trap()).fit([0], [("N",)]), "ends after 1 steps"),
        (lambda: Trap(width=0), "width=0"),
        (lambda: Trap(update="late"), "update='late'"),
        (
            lambda: StructuredPerceptron(Chains()).fit([[["a"]]], [["p", "q"]]),
            "example 0: there are 1 tokens, but 2",
        ),
        (
            lambda: StructuredPerceptron(Chains(("p",))).fit([[["a"]]], [["q"]]),
            "'q' of token 0 is not one of 'p'",
        ),
        (lambda: StructuredPerceptron(Multiclass("ab")).fit([[1.0]], ["c"]), "'c' is not one of the classes"),
        (lambda: StructuredPerceptron(Ranking()).fit([[[1.0], [2.0]]], [[0, 0]]), "each once"),
        (lambda: StructuredPerceptron(Matching()).fit([np.ones((2, 2, 1))], [[1, 1]]), "2 different numbers"),
        (lambda: StructuredPerceptron(Matching()).fit([np.ones((3, 2, 1))], [[1, 0, 1]]), "left ≤ right"),
        (lambda: DependencyTrees(hash_bits=40), "hash_bits=40"),
        (lambda: tree([2, 1]), "0 words have the head 0"),
        (lambda: tree([0, 3, 2]), "form a cycle at word 2"),
        (lambda: tree([3, 0, 2, 1]), "the arc of word 1 crosses another"),
        (lambda: tree([5, 0]), "not whole numbers from 0 to 2"),
    ],
)
def test_bad_input(fitting, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fitting()


def tree(heads):
    StructuredPerceptron(DependencyTrees(8)).fit([[("a", "X")] * len(heads)], [heads])


def test_a_decoder_cannot_change_the_weights():
    class Greedy(Plainly):
        def decode(self, x, w):
            w["place"] = 7.0

    with pytest.raises(TypeError, match="may read the weights"):
        StructuredPerceptron(Greedy()).fit([[[1, 1, 1]]], [(1,)])

    class Forgetful(Plainly):
        def decode(self, x, w):
            pass

    with pytest.raises(TypeError, match="decode returned None"):
        StructuredPerceptron(Forgetful()).fit([[[1, 1, 1]]], [(1,)])
