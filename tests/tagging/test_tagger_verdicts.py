"""What reports of taggers say of the last weights, beside what these weights do."""

import random
import warnings

import pytest

from novikoff import SequenceTagger


def fitted(X, y, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SequenceTagger(average=False, **params).fit(X, y)


def test_weights_put_back_are_judged_and_not_the_last_epoch():
    """Without averages `predict` uses the weights that the verdict is about."""
    rng, early = random.Random(3), {"early_stopping": True, "validation_fraction": 0.3}
    said = set()
    for _ in range(150):
        X = [[rng.sample("abc", rng.randint(1, 3)) for _ in range(rng.randint(1, 2))] for _ in range(6)]
        y = [[rng.choice("AB") for _ in sentence] for sentence in X]
        if len({label for labels in y for label in labels}) < 2:
            continue
        report = fitted(X, y, max_epochs=20, n_epochs_no_change=2, random_state=1, **early).report()
        said.add(report.consistent)
        assert report.consistent == (report.training_errors == 0)
        assert report.training_errors <= report.n_rows == 4  # two are held out
    assert said == {True, False}


def test_a_tie_by_rounding_is_not_wrong():
    X = [[{"b": 0.7, "a": 0.1}, {"a": 0.3, "b": 0.3}], [{"b": 0.1}, {"b": 0.1}, {"a": 0.1}]]
    tagger = fitted(X, [["A", "B"], ["A", "B", "A"]], max_epochs=2, order="cyclic")
    assert tagger.training_errors_ == 0 and tagger.report().consistent


def test_values_whose_squares_vanish_are_refused():
    """They left R = 0, no updates and "converged" beside a mistake."""
    with pytest.raises(ValueError, match="a feature has the value 1e-170"):
        SequenceTagger().fit([[{"a": 1e-170}], [{"b": 1e-170}]], [["A"], ["B"]])
