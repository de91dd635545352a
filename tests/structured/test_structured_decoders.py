"""The decoders of the shipped problems against brute force over all outputs."""

from itertools import permutations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novikoff.reference import trees as reference_trees
from novikoff.structured import Chains, DependencyTrees, Matching, Ranking
from novikoff.structured.eisner import crossing, eisner
from novikoff.structured.trees import EXTRA, TABLE, TEMPLATES
from novikoff.structured.weights import exact_dot
from support.strategies import cancelling, decimals
from support.structured_problems import TREES, all_trees, words


def test_there_are_as_many_trees_as_known():
    """Projective trees with a single root below an artificial one: 1, 2, 7, 30, 143 (OEIS A006013)."""
    assert [len(TREES[n]) for n in range(1, 6)] == [1, 2, 7, 30, 143]


@given(st.integers(1, 6), st.randoms(use_true_random=False), st.booleans())
def test_eisner_finds_the_best_projective_tree(n, random, ties):
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
    x = np.array(
        [[[random.randint(-4, 4) for _ in range(2)] for _ in range(n + more)] for _ in range(n)], float
    )
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


@given(st.integers(1, 4), st.integers(0, 2**32))
def test_trees_with_cost_and_runner_up_against_all_trees(n, seed):
    problem, rng = DependencyTrees(8), np.random.default_rng(seed)
    x = [(str(rng.choice(list("abc"))), str(rng.choice(list("XY")))) for _ in range(n)]
    w = rng.integers(-2, 3, 256).astype(float)
    y = TREES[n][rng.integers(len(TREES[n]))]

    def value(z, cost=0.0):
        return problem.features(x, z).dot(w) + cost * problem.loss(y, z)

    assert value(problem.decode(x, w)) == max(map(value, TREES[n]))
    assert value(problem.decode(x, w, y), 1.0) == max(value(z, 1.0) for z in TREES[n])
    second, others = problem.runner_up(x, w, y), [z for z in TREES[n] if z != y]
    assert (second is None) == (not others)
    assert second is None or (second != y and value(second) == max(map(value, others)))


@given(st.lists(st.tuples(cancelling, decimals | cancelling), max_size=8))
def test_exact_dot_is_correctly_rounded(pairs):
    from novikoff.reference.linear import exact_dot as by_fractions
    from novikoff.reference.linear import rounded

    a, b = np.array([p for p, _ in pairs]), np.array([q for _, q in pairs])
    assert exact_dot(a, b) == rounded(by_fractions(a, b))


@given(st.integers(1, 12), st.integers(0, 2**32))
def test_native_trees_equal_their_twin(n, seed):
    """Bit for bit: scores of arcs under any weights, features of trees, and the best tree, ties included."""
    problem, rng = DependencyTrees(8), np.random.default_rng(seed)
    x = [(str(rng.choice(list("abc"))), str(rng.choice(list("WXYZ")))) for _ in range(n)]
    w = rng.standard_normal(256)
    codes, has = reference_trees.arcs(*problem._codes(x), TABLE, EXTRA, 8)
    scores = reference_trees.arc_scores(codes, has, w, len(TEMPLATES))
    arcs = ~np.eye(n + 1, dtype=bool)
    arcs[:, 0] = False
    assert np.array_equal(problem._scores(x, w)[arcs], scores[arcs])
    heads = eisner(scores)
    assert heads == reference_trees.eisner(scores) and not crossing(heads)
    m = np.arange(1, n + 1)
    places = codes[:, heads, m][has[:, heads, m]]
    assert sorted(problem.features(x, heads).indices.tolist()) == sorted(places.tolist())
    small = rng.integers(-1, 2, (n + 1, n + 1)).astype(float)
    assert eisner(small) == reference_trees.eisner(small)
