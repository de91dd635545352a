"""The structured perceptron: Collins' theorem and its relatives, and equality with simpler learners."""

import math
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff
from novikoff import Perceptron, StructuredPerceptron
from novikoff.reference import tagging as reference_structured
from novikoff.structured import Chains, DependencyTrees, Matching, Multiclass, Ranking
from support.marks import may_not_separate
from support.strategies import cancelling, datasets, decimals, integers, plain
from support.structured_problems import (
    Costly,
    Path,
    Plainly,
    Trap,
    all_trees,
    separable_sequences,
    words,
)


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
    assert gap >= 1 and model.margin_ == pytest.approx(1 / norm, rel=1e-15)  # whole numbers: no less than 1
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
        assert all(
            own + 1e-9 >= problem.value(x, z, model.weights_) + problem.loss(y, z) for z in problem.outputs(x)
        )


@pytest.mark.parametrize("seed", range(3))
def test_ranking_bound_and_margin(seed):
    """Items ranked by a known u: R²/γ², and the margin reported is the smallest gap over all orders."""
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
    couples = [Matching().decode(x, np.array([1.0, 2.1, -3.3, 0.7])) for x in pairs]
    trees = [[("a", "X"), ("b", "Y"), ("c", "X")], [("d", "Y"), ("a", "X")], [("e", "Z")]]
    rows = rng.integers(-3, 4, (6, 3)).astype(float)
    cases = [
        (
            Chains(),
            chains,
            [["p", "q"], ["q", "q", "p"], ["p"]],
            lambda x: map(list, product("pq", repeat=len(x))),
        ),
        (Matching(), list(pairs), couples, lambda x: map(list, permutations(range(3), 2))),
        (DependencyTrees(12), trees, [[0, 1, 2], [2, 0], [0]], lambda x: all_trees(len(x))),
        (Multiclass(), rows, ["u", "v", "u", "x", "x", "v"], lambda x: "uvx"),
    ]
    for problem, X, Y, outputs in cases:
        model = StructuredPerceptron(problem, order="cyclic", max_epochs=1000).fit(X, Y)
        problem, w = model.problem_, model.witness_
        gaps = [
            novikoff.structured.features.dot(w, problem.features(x, y))
            - novikoff.structured.features.dot(w, problem.features(x, z))
            for x, y in zip(X, Y, strict=True)
            for z in outputs(x)
            if z != y
        ]
        assert model.verdict_ == "separated", problem
        assert model.margin_ == pytest.approx(min(gaps) / np.linalg.norm(w)), problem


# ---- equality with simpler learners ----------------------------------------------------------------------
kinds = st.sampled_from([integers, decimals, cancelling, plain])


@may_not_separate
@given(datasets(3, kinds), st.sampled_from(["shuffle", "cyclic", "worst"]), st.booleans(), st.booleans())
def test_multiclass_is_the_joint_perceptron(data, order, average, bias):
    """Update for update and weight for weight, on whole numbers and on sums that cancel, in every order."""
    X, y = data
    joint = Perceptron(
        order=order, average=average, fit_intercept=bias, max_epochs=4, random_state=3, scale=None
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


@may_not_separate
@pytest.mark.parametrize("form", ["dict", "array", "sparse", "scipy"])
@pytest.mark.parametrize("average", [False, True])
def test_all_forms_of_features_learn_the_same(form, average):
    """On whole numbers, where every sum is exact; the average is the plain mean over all visits."""
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


values = st.sampled_from([1.0, 2.0, 0.5, -1.0])


@may_not_separate
@given(
    st.lists(st.lists(st.dictionaries(st.sampled_from("abc"), values), max_size=4), min_size=1, max_size=4),
    st.data(),
    st.booleans(),
)
def test_chains_is_the_taggers_twin(X, data, average):
    """Update for update and weight for weight, with values whose sums are exact."""
    labels = (0, 1, 2)
    Y = [[data.draw(st.sampled_from(labels)) for _ in x] for x in X]
    model = StructuredPerceptron(Chains(labels), order="cyclic", max_epochs=3, average=average).fit(X, Y)
    names = model.problem_.names
    sentences = [[[(names.index(f), v) for f, v in token.items()] for token in x] for x in X]
    twin = reference_structured.Twin(len(names), 3, reference_structured.anything(3))
    for record in model.history_:
        before = twin.mistakes
        twin.epoch(sentences, Y, range(len(X)))
        assert twin.mistakes - before == record["mistakes"]
    w, a = twin.mean() if average else (twin.w, twin.a)
    table, visits = model.weights_.reshape(-1, 3), twin.visits if average else 1
    assert np.array_equal(table[: len(names)], w / visits) and np.array_equal(table[len(names) :], a / visits)


@may_not_separate
@given(st.lists(words, min_size=1, max_size=4), st.data())
def test_chains_is_a_plain_tagger(X, data):
    """Against Collins' algorithm over all label sequences, ties going to the smallest read from the end."""
    labels = ["p", "q", "r"]
    Y = [[data.draw(st.sampled_from(labels)) for _ in x] for x in X]
    model = StructuredPerceptron(Chains(labels=tuple(labels)), order="cyclic", max_epochs=3).fit(X, Y)
    w = {}

    def count(x, y):
        pairs = [(f, c) for token, c in zip(x, y, strict=True) for f in token]
        return pairs + [("", a, b) for a, b in pairwise(y)]

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


# ---- inexact decoders ------------------------------------------------------------------------------------
@may_not_separate
def test_max_violation_ends_where_standard_updates_do_not():
    """Huang, Fayong and Guo 2012: violation-fixing updates end on separable data, standard ones need not.

    Each standard update adds Φ(N, N) − Φ(V, ·) = (−1, 1), which makes the first step worse, for ever.
    """
    X, Y = ["x"], [("N", "N")]
    standard = StructuredPerceptron(Trap(1, "standard"), max_epochs=500).fit(X, Y)
    assert not standard.converged_ and standard.n_updates_ == 500 and standard.n_invalid_ == 499
    assert standard.verdict_ == "undecided" and dict(standard.weights_) == {"f": -500.0, "g": 500.0}
    for update in ("early", "max-violation"):
        model = StructuredPerceptron(Trap(1, update), max_epochs=500).fit(X, Y)
        assert model.converged_ and model.n_invalid_ == 0 and model.predict(X) == Y
        assert model.verdict_ == "consistent" and model.report().bound_upper == math.inf
        gamma = min(1.0, 1.0, 2.0) / math.sqrt(5)  # of u = (1, 2) over (N|V), (NN|NV), (NN|V·)
        assert model.n_updates_ * gamma**2 <= model.radius_**2
    wide = StructuredPerceptron(Trap(4, "standard"), max_epochs=500).fit(X, Y)
    assert wide.converged_ and wide.n_invalid_ == 0


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_wide_beams_are_exact_and_violations_are_violations(x, random):
    w = StructuredPerceptron(Path(width=16)).fit([["a"]], [("V",)])._learner
    names = (
        [(c, t) for c in "abc" for t in "NV"]
        + [((a,), b) for a in "NV" for b in "NV"]
        + [((), "N"), ((), "V")]
    )
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


@may_not_separate
def test_inexact_decoders_are_consistent_at_best_and_found_out():
    X, Y, _ = separable_sequences(2)
    declared = StructuredPerceptron(Plainly(exact=False), random_state=0).fit(X, Y)
    assert declared.converged_ and declared.verdict_ == "consistent"
    assert declared.report().bound_upper == math.inf and "may miss the best" in declared.report().in_full()

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
    assert "has the same score" in nothing.report().in_full()
