"""What is said of kernels that are only known to be symmetric: theorems about φ(x)·φ(z) need more."""

import math
import warnings

import numpy as np

from novikoff import KernelPerceptron

RNG = np.random.default_rng(14)


def fitted(gram, y, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KernelPerceptron("precomputed", order="cyclic", max_epochs=30, **params).fit(np.array(gram), y)


def separable(K, y):
    """Whether some f = Σ β·K(x_j, ·) has y·f(x) ≥ 1 on every row: a linear program."""
    from scipy.optimize import linprog

    signs = np.where(np.asarray(y) == 1, 1.0, -1.0)
    found = linprog(np.zeros(len(K)), -signs[:, None] * K, -np.ones(len(K)), bounds=(None, None))
    return found.status == 0


def test_no_norm_of_an_indefinite_kernel_proves_that_rows_are_inseparable():
    gram, y = [[0.0, 6, 5], [6, 2, 2], [5, 2, 4]], [1, 1, 0]
    model = fitted(gram, y, fit_intercept=False)
    assert separable(np.array(gram), y)
    assert model.verdict_ == "undecided" and model.margin_upper_ == math.inf
    assert "nothing separates" not in model.report().in_full()


def test_brackets_of_an_indefinite_kernel_do_not_cross():
    gram = [[0.0, 1, -1, 4], [1, 4, -3, -2], [-1, -3, 2, 2], [4, -2, 2, 4]]
    model = fitted(gram, [0, 1, 0, 0], fit_intercept=True)
    report = model.report()
    assert model.verdict_ == "separated" and model.margin_ <= model.margin_upper_
    assert report.bound_lower <= report.bound_upper == math.inf
    assert "(R/γ)² is not stated: the kernel is not positive semidefinite" in report.in_full()


def test_what_is_said_of_symmetric_matrices_is_true():
    said = set()
    for _ in range(300):
        n = int(RNG.integers(2, 6))
        gram = RNG.integers(-3, 4, (n, n)).astype(float)
        gram = gram + gram.T
        gram[np.diag_indices(n)] = np.abs(np.diag(gram))
        y = RNG.integers(0, 2, n)
        if len(set(y.tolist())) < 2:
            continue
        bias = bool(RNG.integers(2))
        model = fitted(gram, y, fit_intercept=bias)
        report, can = model.report(), separable(gram + bias, y)
        said.add(model.verdict_)
        assert model.verdict_ != ("inseparable" if can else "separated")
        assert model.margin_ <= model.margin_upper_ and report.mistakes <= report.bound_upper
        assert report.bound_lower <= report.bound_upper
    assert said >= {"separated", "undecided"}


def test_the_assumption_is_named_where_it_cannot_be_checked():
    assert "given a positive semidefinite kernel" in fitted([[2.0, 0], [0, 2]], [0, 1]).report().in_full()
    assert fitted([[1.0, 1], [1, 1]], [0, 1], fit_intercept=False).verdict_ == "inseparable"
    known = KernelPerceptron("linear", fit_intercept=True, order="cyclic").fit([[1.0, 0], [-1, 0]], [1, 0])
    assert "semidefinite" not in known.report().in_full()


def test_a_margin_within_rounding_is_not_shown_as_infinite():
    """x = 1/3 and 0.3 with opposite labels lie on one side of 0; only rounded products tell them apart."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelPerceptron("linear", fit_intercept=False, ties="mistake", order="cyclic")
        report = model.fit([[1 / 3], [0.3]], [1, 0]).report()
    assert "inf" not in report.in_full() and report.values_rounded


def test_the_radius_remembers_rows_that_caused_no_update():
    """R² = 2.25 of the first chunk, which is no whole number, was rounded to 2 after whole ones."""
    model = KernelPerceptron("linear", fit_intercept=False)
    model.partial_fit([[1.5]], [1], classes=[0, 1]).partial_fit([[-1.0], [1.0]], [0, 1])
    assert model.n_updates_ == 1 and model.radius_ >= 1.5
