"""The figures by which tuning chooses: those of scikit-learn's metrics on the same predictions and scores."""

import io
import math

import numpy as np
import pytest
from sklearn import metrics

import novikoff
from novikoff.data.labels import StreamClasses
from novikoff.scoring import SCORINGS, Tally, area
from novikoff.tuning import Grid, tune
from novikoff.tuning.parts import Parts
from support.rows import libsvm


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(5))
def test_as_scikit_learn_counts_them(classes, seed):
    rng = np.random.default_rng(seed)
    y, predicted = rng.integers(0, classes, (2, 200))
    predicted = np.where(rng.random(200) < 0.6, y, predicted)
    tally = Tally.of(classes)
    for part in np.array_split(np.arange(200), 7):  # in blocks
        tally.add(y[part], predicted[part])
    assert tally.value("accuracy") == pytest.approx(metrics.accuracy_score(y, predicted))
    assert tally.value("balanced_accuracy") == pytest.approx(metrics.balanced_accuracy_score(y, predicted))
    average = "binary" if classes == 2 else "macro"
    assert tally.value("f1") == pytest.approx(metrics.f1_score(y, predicted, average=average))


@pytest.mark.parametrize("seed", range(5))
def test_the_area_counts_ties_one_half(seed):
    rng = np.random.default_rng(seed)
    y, scores = rng.integers(0, 2, 300), rng.integers(-4, 5, 300).astype(float)
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[y == 1] for b in scores[y == 0]]
    assert area(scores, y) == pytest.approx(np.mean(pairs), rel=1e-15)
    assert area(scores, y) == pytest.approx(metrics.roc_auc_score(y, scores))


def test_edges():
    assert math.isnan(area(np.ones(3), np.zeros(3, dtype=int)))
    assert Tally.of(2).value("f1") == 0.0
    never = Tally.of(2)
    never.add(np.zeros(4, dtype=int), np.zeros(4, dtype=int))
    assert never.value("f1") == 0.0 and never.value("balanced_accuracy") == 1.0
    with pytest.raises(ValueError, match="expected one of accuracy"):
        never.value("kappa")


def imbalanced(n=600):
    """One row in ten is positive, and the classes overlap."""
    rng = np.random.default_rng(4)
    y = (rng.random(n) < 0.1).astype(int)
    return rng.normal(size=(n, 4)) + 0.8 * y[:, None], y


@pytest.mark.parametrize("scoring", SCORINGS)
def test_tuning_reports_the_figure_that_it_chooses_by(scoring):
    """By partial_fit on arrays, one part at a time: the very numbers."""
    X, y = imbalanced()
    source = novikoff.open_source(io.BytesIO(libsvm(X, y)))
    grid = Grid(rules=["perceptron"], averages=[True], epochs=[1], scales=[None])
    how = {"grid": grid, "folds": 3, "order": "cyclic", "refit": False}
    outcome = tune(source, StreamClasses(), scoring=scoring, **how).table[0]
    fold, pooled, by_fold = Parts.of(3, None, 0).folds(np.arange(len(X)))[0], Tally.of(2), []
    for part in range(3):
        learn, held = fold != part, fold == part
        model = novikoff.Perceptron(average=True).partial_fit(X[learn], y[learn], classes=[0, 1])
        tally = Tally.of(2)
        tally.add(y[held], model.predict(X[held]), model.decision_function(X[held]))
        by_fold.append(tally.value(scoring))
        pooled += tally
    assert outcome.by_fold == by_fold
    assert outcome.score == (np.mean(by_fold) if scoring == "auc" else pooled.value(scoring))


def test_the_area_needs_two_classes_before_anything_is_learned():
    X, _ = imbalanced(60)
    three = novikoff.open_source(io.BytesIO(libsvm(X, np.arange(60) % 3)))
    with pytest.raises(ValueError, match="needs two classes, but there are 3"):
        tune(three, scoring="auc")
    rare = np.zeros(60, dtype=int)
    rare[:2] = 1
    two = novikoff.open_source(io.BytesIO(libsvm(X, rare)))
    with pytest.raises(ValueError, match="held-out rows of both classes, but part"):
        tune(two, scoring="auc", folds=5)
    with pytest.raises(ValueError, match="scoring"):
        tune(two, scoring="kappa")
