"""A forger at work: certificates changed in every way, each accepted claim judged in fractions.

The digest is always made anew by the forger, so that only the claims stand between a forgery and its success.
A few hundred forgeries run in the suite; HYPOTHESIS_PROFILE=long (`make long`) has many thousands.
"""

import json
import os
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff import checker
from novikoff.checker import Refused
from support.certified import certified, forged
from support.oracles import is_true, margin_square, vectors

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(400 if LONG else 10)


def forms(X, y):
    """The same rows and labels in all forms."""
    yield X, y
    yield np.asfortranarray(X), y.tolist()
    yield np.hstack([X, X])[:, : X.shape[1]], y.astype(float)
    yield X[::-1][::-1], y.astype(str)
    yield X.tolist(), tuple(y.tolist())
    yield sp.csr_array(X), y
    yield sp.csc_array(X), y.astype(np.int8)
    yield sp.csr_matrix(X), y.astype(object)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_honest_are_believed_whatever_the_form(seed, tmp_path):
    rng = np.random.default_rng([1, seed])
    X, y, made = certified(rng)
    svm = "\n".join(
        " ".join([str(k), *(f"{j + 1}:{v!r}" for j, v in enumerate(x.tolist()) if v)])
        for x, k in zip(X, y, strict=True)
    )
    (tmp_path / "a.svm").write_text(svm + "\n")
    names = ",".join([*(f"x{j}" for j in range(X.shape[1])), "y"])
    lines = [",".join([*map(repr, x.tolist()), str(k)]) for x, k in zip(X, y, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join([names, *lines]) + "\n")
    for content in made:
        for claim in content["claims"]:
            assert is_true(content, claim, X, y), claim
        said = checker.verify(content, (X, y))
        for rows in [*forms(X, y), *(checker.read_data(tmp_path / name) for name in ("a.svm", "a.csv"))]:
            assert checker.verify(content, rows) == said
        if X.shape[0] == X.shape[1] and not np.array_equal(X, X.T):
            with pytest.raises(Refused, match="other data"):
                checker.verify(content, (sp.csc_array(X).T.tocsc(), y))


@pytest.mark.parametrize("seed", SEEDS)
def test_no_forgery_is_believed_unless_it_is_true(seed):
    rng = np.random.default_rng([2, seed])
    X, y, made = certified(rng)
    accepted = 0
    for content in made:
        for _ in range(60):
            forgery = forged(content, rng)
            X_then, y_then = X.copy(), y.copy()
            if rng.integers(4) == 0:  # other data, with a digest that fits
                if rng.integers(2):
                    X_then.flat[rng.integers(X.size)] = rng.choice([0.0, 1.0, -1.0, 0.1, 5e-324])
                else:
                    y_then[rng.integers(len(y))] = rng.integers(0, int(y.max()) + 1)
            forgery["digest"] = checker.Data(X_then, y_then).digest
            try:
                said = checker.verify(checker.parse(json.dumps(forgery)), (X_then, y_then))
            except Refused:
                continue
            accepted += 1
            for claim, words in zip(forgery["claims"], said, strict=True):
                assert is_true(forgery, claim, X_then, y_then), claim
                assert words_hold(words, forgery, X_then, y_then), words
    assert accepted or seed  # the forger is not so clumsy that nothing passes


def words_hold(words, content, X, y):
    """What the words say of the margin of two classes, by the margin itself and not by the witness."""
    if len(content["classes"]) > 2:
        return True  # too many faces to try
    square = margin_of(
        X.tobytes(), X.shape, tuple(content["classes"].index(str(k)) for k in y), content["bias"]
    )
    if words.startswith("inseparable"):
        return square == 0
    if words.startswith("margin at most"):
        return square <= Fraction(float(words.split()[-1])) ** 2
    if words.startswith("separable, with margin at least"):
        return square >= Fraction(float(words.split(";")[0].split()[-1])) ** 2
    return not words.startswith("separable") or square > 0


@cache
def margin_of(values, shape, places, bias):
    return margin_square(vectors(np.frombuffer(values).reshape(shape), places, bias))
