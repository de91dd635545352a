"""OnlinePerceptron as a classifier of river."""

import numpy as np
import pytest

from novikoff import OnlinePerceptron


def test_in_river():
    from river import base, compose, datasets, evaluate, metrics, preprocessing

    import novikoff.integrations.river

    assert novikoff.integrations.river.OnlinePerceptron is OnlinePerceptron
    model = OnlinePerceptron(classes=[False, True])  # so that there is an answer from the start
    accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert accuracy.get() == pytest.approx(1 - model.n_mistakes_ / model.n_visits_)
    model = OnlinePerceptron("pa1", C=0.5)
    assert isinstance(model, base.Classifier)
    pipeline = preprocessing.StandardScaler() | model
    assert isinstance(pipeline, compose.Pipeline)
    metric = evaluate.progressive_val_score(datasets.Phishing(), pipeline, metrics.Accuracy() + metrics.F1())
    assert metric[0].get() > 0.8
    fresh = pipeline.clone()
    assert fresh["OnlinePerceptron"].n_visits_ == 0
    assert fresh["OnlinePerceptron"].get_params() == model.get_params()
    assert np.array_equal(model.clone(include_attributes=True).coef_, model.coef_)
    assert model.clone({"C": 2.0}).C == 2.0
    assert model._raw_memory_usage > 0
    several = evaluate.progressive_val_score(
        datasets.ImageSegments().take(500),
        preprocessing.StandardScaler() | OnlinePerceptron(average=True),
        metrics.MacroF1(),
    )
    assert several.get() > 0.7
    with pytest.raises(NotImplementedError, match="labels"):
        evaluate.progressive_val_score(datasets.Phishing(), OnlinePerceptron(), metrics.LogLoss())
