"""`proof.quick`: answers are true, and the same whatever the storage, the instructions or the threads."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff import Perceptron
from novikoff.data.sources.block import Csr
from novikoff.proof.problem import Problem, read_problem
from novikoff.proof.quick import LEAST, LONG, Question
from novikoff.proof.separability import separability
from novikoff.proof.verdicts import Inseparable, Separable
from novikoff.proof.wholes import least
from support.fraction_lp import is_consistent, is_separable
from support.oracles import dot, z_of
from support.places import load

TINY, HUGE = 5e-324, 1e308


def problem_of(X, y, classes, bias=1.0):
    return Problem(X, np.asarray(y, dtype=np.int32), np.arange(classes), bias, None)


def random_set(seed):
    """Rows with ties, zeros, repetitions and extreme values; two classes or three."""
    rng = np.random.default_rng(seed)
    n, d, classes = int(rng.integers(2, 9)), int(rng.integers(1, 4)), 2 + (seed % 3 == 0)
    X = rng.integers(-2, 3, (n, d)).astype(np.float64)
    if seed % 4 == 1:
        X = np.sign(X) * rng.choice([1.0, HUGE, TINY, 1e-160, 0.1], (n, d))
    if seed % 4 == 2:
        X += rng.standard_normal((n, d))
    if seed % 5 == 0:
        X[rng.integers(n)] = 0.0
    if seed % 7 == 0 and n > 2:
        X[1] = X[0] * rng.choice([1.0, -1.0])
    y = rng.integers(0, classes, n)
    if seed % 2 and classes == 2:  # often separable, narrowly
        y = (np.arctan(X) @ rng.standard_normal(d) + 0.3 > 0).astype(int)
    return X, y, classes


def strict_of(pairs, labels, ties, classes):
    if ties == "mistake":
        return [True for _ in pairs]
    return [labels[i] == 0 if classes == 2 else rival < labels[i] for i, rival in pairs]


@pytest.mark.parametrize("bias", [0.0, 1.0, 0.1])
@pytest.mark.parametrize("ties", ["positive", "mistake"])
def test_answers_are_the_truth_in_fractions(bias, ties):
    said = {"separable": 0, "inseparable": 0, "open": 0}
    for seed in range(120):
        X, y, classes = random_set(seed)
        z, labels = z_of({"classes": [str(k) for k in range(classes)], "bias": bias}, X, y)
        truth = is_separable(list(z.values()))
        question = Question(problem_of(X, y, classes, bias), ties)
        answer = question.ask()
        said["open" if answer is None else answer.verdict] += 1
        if answer is None:
            continue
        assert isinstance(answer, Separable) == truth, seed
        if isinstance(answer, Separable):
            assert least(question.problem, answer.coef, answer.intercept) > 0
            assert 0 <= answer.margin <= answer.upper
            continue
        places = list(z)
        numbers = {(i if classes == 2 else i * classes + rival): (i, rival) for i, rival in places}
        used = [numbers[int(pair)] for pair in answer.pairs]
        assert min(answer.weights) > 0
        sums = [dot(answer.weights, column) for column in zip(*(z[at] for at in used), strict=True)]
        assert not any(sums), seed
        strict = strict_of(places, labels, ties, classes)
        if answer.consistent is not None:
            assert answer.consistent == is_consistent(list(z.values()), strict), seed
        if any(strict_of(used, labels, ties, classes)):
            assert answer.consistent is False
    assert said["open"] == 0 and said["separable"] > 15 and said["inseparable"] > 15, said


def planted(seed, n=1000, d=20, margin=0.0):
    rng = np.random.default_rng(seed)
    X, u = rng.standard_normal((n, d)), rng.standard_normal(d)
    u /= np.linalg.norm(u)
    y = (X @ u > 0).astype(int)
    return X + np.where(y, margin, -margin)[:, None] * u, y


def test_all_separable_gaussian_sets_are_decided():
    for seed in range(50):
        assert isinstance(Question(read_problem(*planted(seed))).ask(), Separable), seed


def fingerprint(question, answer):
    effort = question.effort.made, question.passes
    if answer is None:
        return effort
    if isinstance(answer, Inseparable):
        return *effort, answer.how, tuple(answer.pairs.tolist()), answer.weights, answer.consistent
    vectors = answer.u.tobytes(), answer.coef.tobytes(), answer.intercept.tobytes()
    return *effort, answer.how, *vectors, answer.margin, answer.upper


def forms(X):
    wide = np.full((len(X), X.shape[1] + 5), 3.0)
    wide[:, : X.shape[1]] = X
    csr = sp.csr_array(X)
    yield from (X, wide[:, : X.shape[1]], csr)
    yield Csr(csr.data, csr.indices, csr.indptr, X.shape)  # of a file
    turned = [
        np.concatenate([part[::-1] for part in np.split(a, csr.indptr[1:-1])])
        for a in (csr.data, csr.indices)
    ]
    yield Csr(*turned, csr.indptr, X.shape, is_sorted=False)
    yield sp.csr_array((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), X.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        yield from (X.astype(t) for t in (np.float32, np.uint8) if (X.astype(t) == X).all())


def sets():
    rng = np.random.default_rng(5)
    yield planted(1, 700, 30, 0.01)
    X, y = planted(2, 400, 12, 0.1)
    y[:3] ^= 1
    yield X, y
    yield X * 10.0 ** np.arange(12), y  # columns of very different size
    whole = rng.integers(0, 250, (300, 25)).astype(np.float64) * (rng.random((300, 25)) < 0.3)
    yield whole, (whole @ rng.standard_normal(25) > 0).astype(int)
    yield whole, rng.integers(0, 2, 300)
    yield whole[:, :9], rng.integers(0, 3, 300)
    yield rng.standard_normal((90, 10)), rng.integers(0, 4, 90)
    yield rng.standard_normal((200, 300)) * (HUGE / 10), rng.integers(0, 2, 200)
    tiny = rng.integers(-3, 4, (37, 6)) * np.array([1.0, TINY, 1e-320, 1e-290, 1.0, TINY])
    yield tiny, rng.integers(0, 2, 37)  # weights for such columns would be infinite


@pytest.mark.parametrize("number", range(9))
def test_storage_changes_no_step(number):
    X, y = list(sets())[number]
    said = set()
    for form in forms(np.ascontiguousarray(X)):
        problem = read_problem(X, y)
        question = Question(replace(problem, X=form))
        answers = [question.ask(), question.ask(20)]
        said.add(fingerprint(question, answers[-1]))
    assert len(said) == 1


SCRIPT = """
import sys, hashlib
import numpy as np
from dataclasses import replace
from novikoff import _core
from novikoff.data.sources.block import as_sparse
from novikoff.proof.problem import read_problem
from novikoff.proof.quick import Question
rng = np.random.default_rng(3)
digest, verdicts = hashlib.sha256(), []
sizes = (500, 30, 2, 0), (300, 12, 2, 9), (5000, 50, 2, 0), (200, 8, 3, 0), (90, 10, 4, 9), (60, 3, 2, 0)
for n, d, k, flipped in sizes:
    X = rng.standard_normal((n, d))
    W = rng.standard_normal((k, d))
    y = (X @ W.T).argmax(axis=1)
    y[:flipped] = rng.integers(0, k, flipped)
    for form in (X, X.astype(np.float32), (X * 40 + 128).clip(0, 255).astype(np.uint8), X.round(1)):
        problem = read_problem(form, y)
        if form.dtype == float and (form != X).any():
            problem = replace(problem, X=as_sparse(form))
        question = Question(problem)
        answer = question.ask() or question.ask(40)
        said = "open" if answer is None else answer.verdict
        verdicts.append(said)
        digest.update(f"{said} {question.effort.made} {question.passes}".encode())
        if said == "separable":
            digest.update(answer.coef.tobytes() + answer.intercept.tobytes())
            digest.update(f"{answer.margin} {answer.upper}".encode())
        if said == "inseparable":
            digest.update(f"{answer.pairs.tolist()} {answer.weights}".encode())
others = sorted({m.split(".")[0] for m in sys.modules} & {"scipy", "sklearn", "threadpoolctl"})
print(_core.INSTRUCTIONS, digest.hexdigest(), ",".join(others) or "none", ",".join(sorted(set(verdicts))))
"""


def child(**environment):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_instructions_and_threads_change_no_step_and_scipy_is_not_loaded():
    base = child(NOVIKOFF_INSTRUCTIONS="base", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    other = child(NOVIKOFF_INSTRUCTIONS="", OPENBLAS_NUM_THREADS="4", OPENBLAS_CORETYPE="Prescott")
    assert base[0] == "base" and base[1] == other[1]
    assert base[2] == other[2] == "none"
    assert {"separable", "inseparable"} <= set(base[3].split(","))


def test_long_integers_cost_what_they_take():
    """Numbers from 5e-324 to 1e308 are integers of 2,000 bits, and those of the simplex method far longer."""
    rng = np.random.default_rng(21)
    X = rng.integers(-3, 4, (40, 8)) * rng.choice([1.0, HUGE / 4, TINY, 1e-160, 0.1], (40, 8))
    question = Question(problem_of(X, rng.integers(0, 3, 40), 3))
    pivots = []
    afford = question.effort.afford
    question.effort.afford = lambda steps: (pivots.append(steps), afford(steps))
    question.ask()
    assert max(pivots) > 1 << 24 and question.effort.made <= LEAST + LONG + 3 * question.size


def test_a_question_goes_on_from_where_it_was():
    X, y = planted(1, 20_000, 100, 0.03)
    question = Question(read_problem(X, y))
    answers, made = [], []
    for _ in range(8):
        answers.append(question.ask(10))
        made.append(question.effort.made)
        assert question.effort.made <= question.effort.granted + 3 * question.size  # checks are always made
        if answers[-1] is not None:
            break
    assert answers[0] is None and isinstance(answers[-1], Separable)
    assert question.ask() is answers[-1] and question.effort.made == made[-1]
    assert made[0] <= 10 * question.size + max(LEAST, 4 * question.size)


def test_training_helps_the_question():
    X, y = planted(4, 2000, 30, 0.02)
    problem = read_problem(X, y)
    model = Perceptron(max_epochs=10, random_state=0).fit(X, y)
    helped, alone = Question(problem), Question(problem)
    assert isinstance(helped.ask(start=(model.coef_, model.intercept_)), Separable)
    assert isinstance(alone.ask(), Separable)
    done = Perceptron(max_epochs=10_000, random_state=0).fit(X, y)
    sure = Question(problem)
    assert isinstance(sure.ask(start=(done.coef_, done.intercept_)), Separable) and sure.passes == 1
    hard = Question(problem)
    assert isinstance(hard.ask(hard=np.arange(40)), Separable)


def test_columns_of_very_different_size_are_no_hindrance():
    X, y = planted(6, 500, 10, 0.05)
    far = X * 10.0 ** np.arange(-12, 8, 2)
    assert isinstance(Question(read_problem(far, y)).ask(), Separable)
    y[:4] ^= 1
    assert isinstance(Question(read_problem(far, y)).ask(), Inseparable)


def test_two_classes_that_cannot_be_told_apart_decide_for_all():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((900, 40)), np.repeat([0, 1, 2], 300)
    X[y == 0] += 9.0  # the other two lie on one another
    question = Question(read_problem(X, y))
    for _ in range(10):
        answer = question.ask(40)
        if answer is not None:
            break
    assert isinstance(answer, Inseparable)
    assert set(y[answer.rows]) | set(answer.rivals) == {1, 2} and answer.how.startswith("two classes")


def test_rows_of_zeros_whose_ties_are_no_mistakes():
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.5]]), [1, 1, 0]
    answer = Question(problem_of(X, y, 2, 0.0)).ask()
    assert answer.verdict == "inseparable" and answer.consistent is True and answer.weights == (1,)
    assert Question(problem_of(X, y, 2, 0.0), "mistake").ask().consistent is False
    answer = Question(problem_of(np.vstack([X, [[2.0, 0.0]]]), [*y, 0], 2, 0.0)).ask()
    assert answer.consistent is False and answer.pairs.tolist() == [1, 3] and answer.alpha.shape == (4,)
    assert Question(problem_of(np.zeros((2, 1)), [1, 1], 2, 0.0)).ask().consistent is True


@pytest.mark.parametrize("name", ["a9a.xz", "w8a.xz", "ijcnn1.trn.bz2", "phishing.txt.xz", "splice.txt.xz"])
def test_real_sets_are_answered_within_ten_epochs(name):
    X, y = load(name)
    question = Question(read_problem(X, y))
    answer = question.ask(10)
    assert isinstance(answer, Inseparable) and answer.consistent is False
    assert question.effort.made <= max(LEAST, 10 * question.size) + 3 * question.size


def test_mushrooms_are_separable():
    X, y = load("mushrooms.txt.xz")
    answer = Question(read_problem(X, y)).ask(10)
    assert isinstance(answer, Separable)
    assert separability(X, y).verdict == "separable"
