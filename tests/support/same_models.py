"""Whether two models are the same."""

import numpy as np


def same_supports(model, other):
    """Whether two kernel models of the classes −1 and 1 have learned the same, bit by bit."""
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_array_equal(model.dual_coef_.ravel(), other.dual_coef_.ravel())
    assert (model.n_updates_, model.n_mistakes_) == (other.n_updates_, other.n_mistakes_)
    assert list(model.classes_) == list(other.classes_) == [-1, 1]
