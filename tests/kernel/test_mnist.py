"""Freund and Schapire's experiment (1999) on MNIST, where it is at hand: see docs/mnist.md."""

import gzip

import numpy as np
import pytest

from novikoff import KernelPerceptron
from support.marks import may_not_separate
from support.places import LONG, at_hand

pytestmark = may_not_separate


def images(part):
    def read(name, head):
        path = at_hand(f"mnist/{part}-{name}-ubyte.gz")
        return np.frombuffer(gzip.decompress(path.read_bytes())[head:], np.uint8)

    return read("images-idx3", 16).reshape(-1, 784), read("labels-idx1", 8)


def errors(degree, rows, epochs):
    """Test errors in percent by the last, averaged and voted weights of one fit; pixels in [0, 1]."""
    (X, y), (test, digits) = images("train"), images("t10k")
    model = KernelPerceptron("poly", degree=degree, gamma=1 / 255**2, max_epochs=epochs, random_state=0)
    model.fit(X[:rows], y[:rows])
    ways = ("last", "averaged", "voted")
    return [100 * np.mean(model.set_params(predict_with=way).predict(test) != digits) for way in ways]


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_averaging_and_voting_beat_the_last_weights(degree):
    """As they reported for low degrees; here on 3,000 digits and one epoch, where it shows already."""
    last, averaged, voted = errors(degree, 3000, 1)
    assert averaged < last
    assert voted < last


@pytest.mark.skipif(not LONG, reason="takes long: make real-data")
def test_ten_epochs_at_the_best_degree():
    last, _, voted = errors(4, None, 10)
    assert voted <= 1.6
    assert voted < last
