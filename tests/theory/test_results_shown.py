"""Every result has a repr of one short line, and a form for notebooks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from novikoff import Perceptron, theory
from novikoff.evaluation import Evaluation
from novikoff.tagging.chunks import chunk_scores
from novikoff.theory import experiments
from support.html_pages import check_nesting


def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = rng.normal(size=(60, 3))
    X[:, 0] += 5 * y
    return X, y


def noisy():
    X, y = rows()
    y[:5] = 1 - y[:5]
    return X, y


RESULTS = {
    "separable": lambda: theory.separability(*rows()),
    "inseparable": lambda: theory.separability(*noisy()),
    "undecided": lambda: theory.Undecided(-math.inf, 0.25, np.zeros(600), "time limit"),
    "max_margin": lambda: theory.max_margin(*rows()),
    "certificate": lambda: theory.certify(*rows()),
    "bounds": lambda: theory.bounds(*rows()),
    "bound": lambda: next(iter(theory.bounds(*rows()))),
    "hindsight": lambda: theory.best_in_hindsight(*noisy()),
    "trace": lambda: theory.trace(*rows(), theory.max_margin(*rows()).u),
    "reduction": lambda: theory.reduce_norm(*rows())[1],
    "experiment": lambda: experiments.majority(21, 3, 500),
    "diagnosis": lambda: theory.diagnose(*rows(), n_orders=2),
    "orders": lambda: theory.diagnose(*rows(), n_orders=2).orders[0],
    "trial": lambda: theory.diagnose(*rows(), n_orders=2).trials[0],
    "certificate of a fit": lambda: (lambda m: m.certificate(*rows()))(Perceptron().fit(*rows())),
    "report": lambda: Perceptron().fit(*rows()).report(),
    "proof": lambda: Perceptron().fit(*rows()).report().proof,
    "evaluation": lambda: Evaluation(["ham", "spam"], np.array([[8, 2], [0, 5]])),
    "chunks": lambda: chunk_scores([["B-NP", "I-NP"]], [["B-NP", "O"]]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_repr_is_a_short_line_and_html_is_sound(name):
    result = RESULTS[name]()
    line = repr(result)
    assert "\n" not in line and len(line) <= 120 and "array(" not in line
    assert line.startswith(f"<{type(result).__name__}") and line.endswith(">")
    page = result._repr_html_()
    check_nesting(page)
    assert "array(" not in page and len(page) > 20


def test_long_texts_are_cut_in_reprs():
    bounds = theory.bounds(*rows())
    assert repr(bounds).startswith("<Bounds: novikoff, normalized") and repr(bounds).endswith("…>")
    assert all(bound.name in bounds._repr_html_() for bound in bounds)


def test_names_are_escaped():
    said = theory.Certificate({}, said=("a < b", "c & d"))
    assert said._repr_html_() == "<ul><li>a &lt; b</li><li>c &amp; d</li></ul>"


def test_what_is_not_known_is_not_shown_as_a_number():
    known, unknown = (
        theory.Undecided(-math.inf, upper, np.zeros(3), "time limit") for upper in (0.25, math.inf)
    )
    assert repr(known) == "<Undecided (time limit): γ ≤ 0.25>"
    assert repr(unknown) == "<Undecided (time limit): γ is not known>"
