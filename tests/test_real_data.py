"""Figures that real data must give, where they are at hand: ../shared/data, or NOVIKOFF_DATA."""

import io
import lzma
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from novikoff import Perceptron

DATA = Path(os.environ.get("NOVIKOFF_DATA", Path(__file__).parents[2] / "shared" / "data"))


def load(name):
    path = DATA / "libsvm" / f"{name}.xz"
    if not path.exists():
        pytest.skip(f"{name} is not at hand")
    return load_svmlight_file(io.BytesIO(lzma.decompress(path.read_bytes())))


@pytest.mark.filterwarnings("ignore:The training rows were not separated")
def test_phishing_updates_do_not_depend_on_storage():
    """Every value is 0.18257, so scores nearly cancel: 1018/897/871 updates, from CSR and from dense."""
    X, y = load("phishing.txt")
    assert X.shape == (11_055, 68)
    permuted = np.random.default_rng(0).permutation(68)
    padded = np.hstack([X.toarray(), np.zeros((len(y), 5))])
    for layout in (X, X.toarray(), X.toarray()[:, permuted], X[:, permuted], padded):
        model = Perceptron(order="cyclic", max_epochs=3).fit(layout, y)
        assert [r["updates"] for r in model.history_] == [1018, 897, 871]


def test_mushrooms_are_separable():
    X, y = load("mushrooms.txt")
    model = Perceptron(random_state=0).fit(X, y)
    assert model.verdict_ == "separated" and model.score(X, y) == 1.0
    assert model.n_mistakes_ <= model.report().bound_upper
