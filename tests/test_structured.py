"""The structured perceptron: Collins' theorem and its relatives, equality with simpler learners, bad input."""

import copy
import math
import pickle
from itertools import permutations, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import novikoff
from novikoff import Perceptron, StructuredPerceptron
from novikoff.structured import BeamSearch, Chains, DependencyTrees, Matching, Multiclass, Ranking, Sparse
from novikoff.structured.eisner import crossing
from novikoff.structured.weights import exact_dot
from strategies import cancelling, datasets, decimals, integers, plain

quiet = pytest.mark.filterwarnings("ignore:The training rows were not separated")


# ---- problems of a user's own, by definition: every output is looked at ----------------------------------
class Plainly:
    """Sequences of 0 and 1 of the length of x, with features of one form; the best is the first maximum."""

    def __init__(self, form="dict", **also):
        self.form = form
        for name, value in also.items():
            setattr(self, name, value)

    def outputs(self, x):
        return list(product((0, 1), repeat=len(x)))

    def features(self, x, y):
        full = np.zeros(7)
        for t, (a, b) in enumerate(zip(x, y, strict=True)):
            full[3 * b : 3 * b + 3] += a
            full[6] += t > 0 and y[t - 1] == b
        if self.form == "dict":
            return {("place", j): float(v) for j, v in enumerate(full) if v}
        if self.form == "sparse":
            return Sparse(np.flatnonzero(full), full[full != 0], 7)
        return sp.csr_array(full[None, :]) if self.form == "scipy" else full

    def value(self, x, z, w):
        phi = self.features(x, z)
        if self.form == "dict":
            return w.dot(phi)
        return phi.dot(w) if self.form == "sparse" else float((phi @ w).item())

    def decode(self, x, w):
        return max(self.outputs(x), key=lambda z: self.value(x, z, w))


class Costly(Plainly):
    """The same with a loss."""

    def loss(self, y, z):
        return float(sum(a != b for a, b in zip(y, z, strict=True)))

    def decode(self, x, w, y=None):
        extra = (lambda z: 0.0) if y is None else (lambda z: self.loss(y, z))
        return max(self.outputs(x), key=lambda z: self.value(x, z, w) + extra(z))


def separable_sequences(seed, n=25, whole=True):
    """(X, Y, γ): sequences labelled by known weights, and the margin that these have over all outputs."""
    rng, problem = np.random.default_rng(seed), Plainly("array")
    u = rng.standard_normal(7)
    X, Y, gaps = [], [], []
    while len(X) < n:
        x = rng.integers(-3, 4, (rng.integers(1, 5), 3)).astype(float) if whole else rng.normal(size=(3, 3))
        scores = {z: u @ problem.features(x, z) for z in problem.outputs(x)}
        best, second = sorted(scores.values())[:-3:-1]
        if best - second > 0.3:
            X.append(x)
            Y.append(max(scores, key=scores.get))
            gaps.append(best - second)
    return X, Y, min(gaps) / np.linalg.norm(u)


# ---- theorems --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("order", ["shuffle", "cyclic", "worst"])
@pytest.mark.parametrize("seed", range(4))
def test_collins_bound(seed, order):
    """Collins 2002, theorem 1: updates ≤ R²/γ², R the largest ‖Φ(x, y) − Φ(x, z)‖ of all outputs z."""
    X, Y, gamma = separable_sequences(seed)
    problem = Plainly("array")
    model = StructuredPerceptron(problem, order=order, random_state=seed, max_epochs=1000).fit(X, Y)
    R = max(
        np.linalg.norm(problem.features(x, y) - problem.features(x, z))
        for x, y in zip(X, Y, strict=True)
        for z in problem.outputs(x)
    )
    assert model.converged_ and model.verdict_ == "separated" and model.predict(X) == Y
    assert model.n_updates_ * gamma**2 <= R**2
    assert model.radius_ <= R and model.n_updates_ * gamma**2 <= model.radius_**2
    assert gamma <= model.margin_upper_ * (1 + 1e-12)  # the margin sandwich
    gap = min(
        model.witness_ @ (problem.features(x, y) - problem.features(x, z))
        for x, y in zip(X, Y, strict=True)
        for z in problem.outputs(x)
        if z != y
    )
    norm = np.linalg.norm(model.witness_)
    assert gap >= 1 and 1 / norm == model.margin_  # strict, and whole numbers: no less than 1
    assert model.report().bound_lower <= model.report().bound_upper
    assert model.n_updates_ <= model.report().bound_upper


@pytest.mark.parametrize("seed", range(4))
def test_cost_augmented_bound(seed):
    """w·Δ ≤ loss at an update, so ‖w‖² grows by at most R² + 2·max loss: updates ≤ (R² + 2·max loss)/γ²."""
    X, Y, gamma = separable_sequences(seed, whole=False)
    problem = Costly("array")
    model = StructuredPerceptron(problem, cost_augmented=True, random_state=seed, max_epochs=1000).fit(X, Y)
    assert model.converged_ and model.verdict_ == "separated"
    largest = max(len(y) for y in Y)
    assert model.n_updates_ * gamma**2 <= model.radius_**2 + 2 * largest
    assert model.n_mistakes_ <= model.n_updates_ and model.n_invalid_ == 0
    for x, y in zip(X, Y, strict=True):  # what convergence means: every other output is behind by its loss
        own = problem.value(x, y, model.weights_)
        assert all(own + 1e-9 >= problem.value(x, z, model.weights_) + problem.loss(y, z) for z in problem.outputs(x))


@pytest.mark.parametrize("seed", range(3))
def test_ranking_bound_and_margin(seed):
    """Items ranked by a known u: R²/γ², and the margin that is reported is the smallest gap over all orders."""
    rng = np.random.default_rng(seed)
    u, problem = rng.standard_normal(3), Ranking()
    X = [x for x in rng.normal(size=(300, 4, 3)) if np.diff(np.sort(x @ u)).min() > 0.2][:20]
    Y = [np.argsort(-(x @ u)).tolist() for x in X]

    def gap(w):
        return min(
            w @ (problem.features(x, y) - problem.features(x, list(z)))
            for x, y in zip(X, Y, strict=True)
            for z in permutations(range(4))
            if list(z) != y
        ) / np.linalg.norm(w)

    model = StructuredPerceptron(problem, random_state=seed).fit(X, Y)
    assert model.verdict_ == "separated" and model.predict(X) == Y and model.score(X, Y) == 1
    assert model.n_updates_ * gap(u) ** 2 <= model.radius_**2
    assert model.margin_ == pytest.approx(gap(model.witness_))


def test_margin_by_the_runner_up_for_every_shipped_problem():
    """`margin_` is min over all z ≠ y of w·ΔΦ/‖w‖: by brute force over all outputs."""
    rng = np.random.default_rng(5)
    chains = [[["a"], ["b", "c"]], [["c"], ["a"], ["b"]], [["b"]]]
    pairs = rng.integers(-2, 3, (3, 2, 3, 4)).astype(float)
    trees = [[("a", "X"), ("b", "Y"), ("c", "X")], [("d", "Y"), ("a", "X")], [("e", "Z")]]
    rows = rng.integers(-3, 4, (6, 3)).astype(float)
    cases = [
        (Chains(), chains, [["p", "q"], ["q", "q", "p"], ["p"]], lambda x: map(list, product("pq", repeat=len(x)))),
        (Matching(), list(pairs), [[0, 1], [2, 0], [1, 2]], lambda x: map(list, permutations(range(3), 2))),
        (DependencyTrees(12), trees, [[0, 1, 2], [2, 0], [0]], lambda x: all_trees(len(x))),
        (Multiclass(), rows, ["u", "v", "u", "x", "x", "v"], lambda x: "uvx"),
    ]
    for problem, X, Y, outputs in cases:
        model = StructuredPerceptron(problem, order="cyclic", max_epochs=1000).fit(X, Y)
        problem, w = model.problem_, model.witness_
        gaps = [
            novikoff.structured.weights.dot(w, problem.features(x, y))
            - novikoff.structured.weights.dot(w, problem.features(x, z))
            for x, y in zip(X, Y, strict=True)
            for z in outputs(x)
            if z != y
        ]
        assert model.verdict_ == "separated", problem
        assert model.margin_ == pytest.approx(min(gaps) / np.linalg.norm(w)), problem


# ---- equality with simpler learners ----------------------------------------------------------------------
kinds = st.sampled_from([integers, decimals, cancelling, plain])


@quiet
@given(datasets(3, kinds), st.sampled_from(["shuffle", "cyclic", "worst"]), st.booleans(), st.booleans())
def test_multiclass_is_the_joint_perceptron(data, order, average, bias):
    """Update for update and weight for weight, on whole numbers and on sums that cancel, in every order."""
    X, y = data
    joint = Perceptron(
        order=order, average=average, fit_intercept=bias, max_epochs=4, random_state=3, multiclass="joint"
    ).fit(X, y)
    model = StructuredPerceptron(
        Multiclass(fit_intercept=bias), order=order, average=average, max_epochs=4, random_state=3
    ).fit(X, y.tolist())
    W = model.weights_.reshape(3, -1)
    assert [r["updates"] for r in model.history_] == [r["updates"] for r in joint.history_]
    assert model.n_mistakes_ == joint.n_mistakes_
    assert np.array_equal(W[:, : X.shape[1]], joint.coef_)
    assert not bias or np.array_equal(W[:, -1], joint.intercept_)
    assert model.predict(X) == joint.predict(X).tolist()


@quiet
@pytest.mark.parametrize("form", ["dict", "array", "sparse", "scipy"])
@pytest.mark.parametrize("average", [False, True])
def test_all_forms_of_features_learn_the_same(form, average):
    """On whole numbers, where every sum is exact; the average is the plain mean of the weights after visits."""
    X, Y, _ = separable_sequences(1)
    model = StructuredPerceptron(Plainly(form), order="cyclic", max_epochs=3, average=average).fit(X, Y)
    weights = [model.weights_[("place", j)] for j in range(7)] if form == "dict" else model.weights_
    w, after, problem = np.zeros(7), [], Plainly("array")
    for _ in range(model.n_epochs_):
        for x, y in zip(X, Y, strict=True):
            w = w + problem.features(x, y) - problem.features(x, problem.decode(x, w))
            after.append(w)
    assert np.array_equal(weights, np.mean(after, axis=0) if average else w)
    assert model.decision_function(X[:3]) == pytest.approx(
        [weights @ problem.features(x, z) for x, z in zip(X[:3], model.predict(X[:3]), strict=True)]
    )


words = st.lists(st.lists(st.sampled_from("abc"), max_size=3), max_size=4)


@quiet
@given(st.lists(words, min_size=1, max_size=4), st.data())
def test_chains_is_a_plain_tagger(X, data):
    """Against Collins' algorithm over all label sequences, ties going to the smallest read from the end."""
    labels = ["p", "q", "r"]
    Y = [[data.draw(st.sampled_from(labels)) for _ in x] for x in X]
    model = StructuredPerceptron(Chains(labels=tuple(labels)), order="cyclic", max_epochs=3).fit(X, Y)
    w = {}

    def count(x, y):
        pairs = [(f, c) for token, c in zip(x, y, strict=True) for f in token]
        return pairs + [("", a, b) for a, b in zip(y, y[1:], strict=False)]

    def best(x):
        def value(y):
            return -sum(w.get(f, 0) for f in count(x, y)), y[::-1]

        return min(map(list, product(labels, repeat=len(x))), key=value)

    updates = 0
    for _ in range(model.n_epochs_):
        for x, y in zip(X, Y, strict=True):
            z = best(x)
            updates += z != y
            for f in count(x, y):
                w[f] = w.get(f, 0) + 1
            for f in count(x, z):
                w[f] = w.get(f, 0) - 1
    assert model.n_updates_ == updates
    table = model.weights_.reshape(-1, 3)
    names = model.problem_.names
    for i, f in enumerate(names):
        assert table[i].tolist() == [w.get((f, c), 0) for c in labels]
    assert table[len(names) :].tolist() == [[w.get(("", a, b), 0) for b in labels] for a in labels]
    assert model.predict(X) == [best(x) for x in X]


# ---- decoders against brute force ------------------------------------------------------------------------
def all_trees(n):
    """Every projective tree with one root over n words."""
    for heads in product(range(n + 1), repeat=n):
        if heads.count(0) == 1 and all(h != m for m, h in enumerate(heads, 1)):
            tree = list(heads)
            if all(_reaches_root(tree, m) for m in range(1, n + 1)) and not crossing(tree):
                yield tree


def _reaches_root(heads, m):
    for _ in heads:
        m = heads[m - 1]
        if not m:
            return True
    return False


TREES = {n: list(all_trees(n)) for n in range(1, 6)}


def test_there_are_as_many_trees_as_known():
    """Projective trees with a single root below an artificial one: 1, 2, 7, 30, 143 (OEIS A006013)."""
    assert [len(TREES[n]) for n in range(1, 6)] == [1, 2, 7, 30, 143]


@given(st.integers(1, 6), st.randoms(use_true_random=False), st.booleans())
def test_eisner_finds_the_best_projective_tree(n, random, ties):
    from novikoff.structured.eisner import eisner

    size = 2 if ties else 10**6
    S = np.array([[random.randint(-size, size) for _ in range(n + 1)] for _ in range(n + 1)], dtype=float)
    if n == 6 and n not in TREES:
        TREES[6] = list(all_trees(6))
    m = np.arange(1, n + 1)
    found = eisner(S)
    assert found in TREES[n]
    assert S[found, m].sum() == max(S[heads, m].sum() for heads in TREES[n])


@given(st.integers(1, 4), st.integers(0, 2), st.randoms(use_true_random=False), st.booleans())
def test_matching_and_its_cost_against_all_permutations(n, more, random, augmented):
    x = np.array([[[random.randint(-4, 4) for _ in range(2)] for _ in range(n + more)] for _ in range(n)], float)
    w, problem = np.array([random.randint(-3, 3), 1.0]), Matching()
    every = [list(z) for z in permutations(range(n + more), n)]
    y = random.choice(every)

    def value(z):
        return w @ problem.features(x, z) + (problem.loss(y, z) if augmented else 0)

    assert value(problem.decode(x, w, y if augmented else None)) == max(map(value, every))
    others = [z for z in every if z != y]
    second = problem.runner_up(x, w, y)
    augmented = False
    assert (second is None) == (not others)
    assert second is None or (second != y and value(second) == max(map(value, others)))


@given(st.integers(1, 4), st.randoms(use_true_random=False), st.booleans())
def test_ranking_and_its_cost_against_all_orders(n, random, augmented):
    x = np.array([[random.randint(-4, 4) for _ in range(2)] for _ in range(n)], float)
    w, problem = np.array([random.randint(-3, 3), 1.0]), Ranking()
    every = [list(z) for z in permutations(range(n))]
    y = random.choice(every)

    def value(z):
        return w @ problem.features(x, z) + (problem.loss(y, z) if augmented else 0)

    assert value(problem.decode(x, w, y if augmented else None)) == max(map(value, every))


@given(words, st.randoms(use_true_random=False), st.booleans())
def test_chains_with_cost_and_runner_up_against_all_sequences(x, random, augmented):
    problem = Chains(labels=("p", "q"), names=("a", "b", "c"))
    w = np.array([random.randint(-2, 2) for _ in range(problem.n_weights)], float)
    every = [list(z) for z in product("pq", repeat=len(x))]
    y = random.choice(every)

    def value(z):
        return problem.features(x, z).dot(w) + (problem.loss(y, z) if augmented else 0)

    best = max(map(value, every))
    found = problem.decode(x, w, y if augmented else None)
    assert found == min((z for z in every if value(z) == best), key=lambda z: z[::-1])
    augmented = False
    second = problem.runner_up(x, w, y)
    others = [z for z in every if z != y]
    assert (second is None) == (not others)
    assert second is None or (second != y and value(second) == max(map(value, others)))


@given(st.integers(1, 4), st.randoms(use_true_random=False))
def test_trees_with_cost_and_runner_up_against_all_trees(n, random):
    problem = DependencyTrees(8)
    x = [(random.choice("abc"), random.choice("XY")) for _ in range(n)]
    w = np.array([random.randint(-2, 2) for _ in range(256)], float)
    y = random.choice(TREES[n])

    def value(z, cost=0.0):
        return problem.features(x, z).dot(w) + cost * problem.loss(y, z)

    assert value(problem.decode(x, w)) == max(map(value, TREES[n]))
    assert value(problem.decode(x, w, y), 1.0) == max(value(z, 1.0) for z in TREES[n])
    second, others = problem.runner_up(x, w, y), [z for z in TREES[n] if z != y]
    assert (second is None) == (not others)
    assert second is None or (second != y and value(second) == max(map(value, others)))


# ---- inexact decoders ------------------------------------------------------------------------------------
class Path(BeamSearch):
    """Words to tags, by the word and by the tag before."""

    tags = ("N", "V")

    def choices(self, x, made):
        return self.tags if len(made) < len(x) else ()

    def step(self, x, made, choice):
        return {(x[len(made)], choice): 1.0, (made[-1:], choice): 1.0}


@quiet
def test_max_violation_ends_where_standard_updates_do_not():
    """Huang, Fayong and Guo 2012: violation-fixing updates end on separable data, the standard ones need not."""
    found = {}
    rng = np.random.default_rng(0)
    for trial in range(300):
        X = [["abc"[i] for i in rng.integers(0, 3, 3)] for _ in range(3)]
        Y = [tuple("NV"[i] for i in rng.integers(0, 2, 3)) for _ in X]
        ends = []
        for update in ("standard", "early", "max-violation"):
            model = StructuredPerceptron(Path(1, update), order="cyclic", max_epochs=60).fit(X, Y)
            assert model.verdict_ != "separated"
            assert (model.verdict_ == "consistent") == (model.predict(X) == Y) or not model.converged_
            assert update == "standard" or model.n_invalid_ == 0
            ends.append(model.converged_)
        found.setdefault(tuple(ends), trial)
    assert (False, True, True) in found  # standard goes on for ever where both others end
    assert (True, False, False) not in found


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_wide_beams_are_exact_and_violations_are_violations(x, random):
    w = StructuredPerceptron(Path(width=16)).fit([["a"]], [("V",)])._learner
    names = [(c, t) for c in "abc" for t in "NV"] + [((a,), b) for a in "NV" for b in "NV"] + [((), "N"), ((), "V")]
    w.update((names, np.array([random.randint(-3, 3) for _ in names], float)), 0.0, "test")
    w = w.weights
    every = [tuple(z) for z in product("NV", repeat=len(x))]
    y = random.choice(every)
    best = max(w.dot(Path().features(x, z)) for z in every)
    assert w.dot(Path().features(x, Path(width=16).decode(x, w))) == best
    for width, update in product((1, 2, 16), ("early", "max-violation")):
        problem = Path(width, update)
        found = problem.violation(x, w, y)
        assert (found is None) == (problem.decode(x, w) == y)
        if found is not None:
            good, bad = found
            assert good == y[: len(good)] and len(bad) == len(good) and bad != good
            assert w.dot(problem.features(x, good)) <= w.dot(problem.features(x, bad))


@quiet
def test_inexact_decoders_are_consistent_at_best_and_found_out():
    X, Y, _ = separable_sequences(2)
    declared = StructuredPerceptron(Plainly(exact=False), random_state=0).fit(X, Y)
    assert declared.converged_ and declared.verdict_ == "consistent"
    assert declared.report().bound_upper == math.inf and "need not find" in str(declared.report())

    class Careless(Plainly):
        """Says that it is exact, but looks at half of the outputs, and at the others only in the end."""

        calls = 0

        def outputs(self, x):
            self.calls += 1
            every = super().outputs(x)
            return every if self.calls > 30 else every[::2]

    model = StructuredPerceptron(Careless(), order="cyclic").fit(X, Y)
    assert model.n_invalid_ > 0 and model.verdict_ != "separated"
    assert model.report().bound_lower == 0


def test_ties_are_carried_on_to_a_strict_witness_or_stay_undecided():
    """decode returns y for every example, and yet another output scores as much."""

    class Tied:
        def features(self, x, y):
            return {y: 1.0}

        def decode(self, x, w):
            return max("ab", key=lambda z: w[z])

    model = StructuredPerceptron(Tied()).fit([0], ["a"])
    assert model.n_updates_ == 0 and not model.weights_ and model.converged_
    assert model.verdict_ == "separated" and dict(model.witness_) == {"a": 1.0, "b": -1.0}
    assert model.margin_ <= 2 / math.sqrt(2)
    nothing = StructuredPerceptron(Multiclass(("a", "b"), fit_intercept=False)).fit([[0.0]], ["a"])
    assert nothing.verdict_ == "undecided" and nothing.training_errors_ == 0
    assert "scores as much" in str(nothing.report())
