"""The tagger against its definitions: brute force over all labellings, the plain twin, the plain mean."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.reference import tagging as twin
from novikoff.tagging import training as tagging
from novikoff.tagging.chain import Allowed, ChainWeights, Pairs, Scorer
from novikoff.tagging.sequences import Sequences


def rules_of(allowed):
    return twin.Rules(allowed.step, allowed.start, allowed.end)


def pack(sentences, valued):
    """Sentences of (feature, value) lists as `Sequences`."""
    tokens = [token for sentence in sentences for token in sentence]
    starts = np.cumsum([0, *map(len, sentences)])
    indptr = np.cumsum([0, *map(len, tokens)])
    flat = [pair for token in tokens for pair in token]
    ids = np.array([f for f, _ in flat], dtype=np.int32)
    return Sequences(starts, indptr, ids, np.array([v for _, v in flat], dtype=float) if valued else None)


def flat(labels):
    return np.array([c for y in labels for c in y], dtype=np.int32)


@st.composite
def allowed_sets(draw, n):
    def bits(count):
        free = draw(st.booleans())
        made = [1] * count if free else draw(st.lists(st.integers(0, 1), min_size=count, max_size=count))
        return np.array(made, dtype=np.uint8)

    return Allowed(bits(n * n).reshape(n, n), bits(n), bits(n))


VALUES = {
    "ones": st.just(1.0),
    "whole": st.integers(-3, 3).map(float),
    "any": st.floats(-2, 2, allow_nan=False).map(lambda v: round(v, 3)),
}


@st.composite
def problems(draw, longest=5, most_labels=4, kinds=tuple(VALUES)):
    """(labels, features, sentences, their labels, allowed, kind of values)."""
    n, m = draw(st.integers(1, most_labels)), draw(st.integers(1, 6))
    kind = draw(st.sampled_from(kinds))
    token = st.lists(st.tuples(st.integers(0, m - 1), VALUES[kind]), max_size=4)
    sentences = draw(st.lists(st.lists(token, max_size=longest), min_size=1, max_size=6))
    labels = [draw(st.lists(st.integers(0, n - 1), min_size=len(s), max_size=len(s))) for s in sentences]
    return n, m, sentences, labels, draw(allowed_sets(n)), kind


def some_weights(draw, n, m, whole):
    number = st.integers(-3, 3).map(float) if whole else st.floats(-2, 2, allow_nan=False)
    w = np.array(draw(st.lists(number, min_size=n * m, max_size=n * m))).reshape(m, n)
    return w, np.array(draw(st.lists(number, min_size=n * n, max_size=n * n))).reshape(n, n)


def scorer_of(w, a, allowed):
    """Dense weights as the scorer takes them."""
    at = np.arange(len(w) + 1, dtype=np.int64) * w.shape[1]
    label = np.tile(np.arange(w.shape[1], dtype=np.int32), len(w))
    return Scorer(
        Pairs(len(at) - 1, np.arange(len(at) - 1), at, label, w.reshape(-1), None), a, None, allowed, 0
    )


@given(problems(), st.booleans(), st.data())
def test_decoding_is_the_best_of_all_labellings_and_of_equal_ones_the_smallest_from_the_end(p, whole, data):
    n, m, sentences, _, allowed, kind = p
    w, a = some_weights(data.draw, n, m, whole)
    x = pack(sentences, kind != "ones")
    found = x.parts(tagging.tag(scorer_of(w, a, allowed), x).tolist())
    for sentence, y in zip(sentences, found, strict=True):
        e, rules = twin.emissions(sentence, w), rules_of(allowed)
        assert y == twin.viterbi(e, a, rules)
        if whole and kind != "any":  # sums are exact, so that ties are ties
            assert y == twin.brute_force(e, a, rules)
        else:
            assert np.isclose(twin.score(e, a, y), twin.score(e, a, twin.brute_force(e, a, rules)))


@given(problems(longest=4, most_labels=3, kinds=("ones", "whole")), st.data())
def test_scores_through_every_label_and_distances_to_the_runner_up(p, data):
    n, m, sentences, labels, allowed, kind = p
    w, a = some_weights(data.draw, n, m, True)
    x, scorer, rules = pack(sentences, kind != "ones"), scorer_of(w, a, allowed), rules_of(allowed)
    through = x.parts(tagging.max_marginals(scorer, x))
    gaps = np.zeros(len(x))
    scorer.native.gaps(x.native, flat(labels), 0, len(x), gaps)
    for sentence, y, found, gap in zip(sentences, labels, through, gaps, strict=True):
        e = twin.emissions(sentence, w)
        assert np.array_equal(found, twin.through(e, a, rules).reshape(found.shape))
        if rules.allow(y):
            assert gap == (twin.gap(e, a, rules, y) if y else np.inf)


@given(problems(longest=4, most_labels=3), st.integers(1, 30), st.booleans(), st.data())
def test_the_k_best_are_the_first_of_all_labellings_sorted(p, k, whole, data):
    n, m, sentences, _, allowed, kind = p
    w, a = some_weights(data.draw, n, m, whole)
    x = pack(sentences, kind != "ones")
    scorer = scorer_of(w, a, allowed)
    found = tagging.k_best(scorer, x, k)
    best = x.parts(tagging.tag(scorer, x).tolist())
    for sentence, labellings, first in zip(sentences, found, best, strict=True):
        e, rules = twin.emissions(sentence, w), rules_of(allowed)
        got = [(score, y.tolist()) for score, y in labellings]
        assert got == twin.k_best(e, a, rules, k)
        assert got[0][1] == first
        expected = twin.brute_force_k(e, a, rules, k)
        if whole and kind != "any":  # sums are exact, so that ties are ties
            assert got == expected
        else:
            assert np.allclose([s for s, _ in got], [s for s, _ in expected])
        assert len({tuple(y) for _, y in got}) == len(got) == len(expected)


def test_the_k_best_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    n, m = 21, 30
    sentences = [[[(int(f), 1.0) for f in rng.integers(0, m, 3)] for _ in range(9)] for _ in range(7)]
    w, a = rng.integers(-5, 6, (m, n)).astype(float), rng.integers(-5, 6, (n, n)).astype(float)
    allowed = Allowed.everything(n)
    x, scorer = pack(sentences, False), scorer_of(w, a, allowed)
    found, on_threads = (tagging.k_best(scorer, x, 40, jobs) for jobs in (1, 3))
    for sentence, one, other in zip(sentences, found, on_threads, strict=True):
        expected = twin.k_best(twin.emissions(sentence, w), a, rules_of(allowed), 40)
        for got in (one, other):
            assert [(score, y.tolist()) for score, y in got] == expected


def train(p, orders, average=True, dtype=None):
    n, m, sentences, labels, allowed, kind = p
    x, y = pack(sentences, kind != "ones"), flat(labels)
    whole = kind == "ones" if dtype is None else dtype == np.int32
    weights = ChainWeights.zeros(m, allowed, average=average, whole=whole)
    plain = twin.Twin(m, n, rules_of(allowed), keep_trail=True)
    for order in orders:
        tagging.epoch(weights, x, y, np.array(order, dtype=np.int64))
        plain.epoch(sentences, labels, order)
    return weights, plain


def same(weights, plain):
    n = plain.n_labels
    assert np.array_equal(weights.dense(weights.emissions), plain.w)
    assert np.array_equal(weights.transitions[:, :n], plain.a)
    assert not weights.emissions[:, n:].any()
    assert not weights.emissions[0].any()
    counts = weights.counts
    for name in ("visits", "mistakes", "wrong_tokens"):
        assert getattr(counts, name) == getattr(plain, name), name
    assert counts.norm2 == pytest.approx((plain.w**2).sum() + (plain.a**2).sum(), abs=1e-9)
    assert counts.radius2 == pytest.approx(plain.radius2, abs=1e-9)


@st.composite
def runs(draw, **kinds):
    p = draw(problems(**kinds))
    orders = draw(st.lists(st.permutations(range(len(p[2]))), min_size=1, max_size=5))
    return p, orders


@given(runs())
def test_learning_is_the_twin_weight_for_weight(run):
    """For any values: the same sums in the same order, so the same bits."""
    weights, plain = train(*run)
    same(weights, plain)
    n = plain.n_labels
    assert np.array_equal(weights.dense(weights.emission_sums), plain.u)
    assert np.array_equal(weights.transition_sums[:, :n], plain.ua)


@given(runs(kinds=("ones", "whole")))
def test_the_lazy_mean_is_the_plain_mean_exactly_on_whole_numbers(run):
    weights, plain = train(*run)
    scorer = tagging.scorer(weights)
    dense = np.zeros((plain.n_features, plain.n_labels))
    rows = np.repeat(scorer.pairs.feature, np.diff(scorer.pairs.at))
    dense[rows, scorer.pairs.label] = scorer.w
    assert np.array_equal(dense, sum(w for w, _ in plain.trail))
    assert np.array_equal(scorer.a, sum(a for _, a in plain.trail))
    assert weights.counts.updates == plain.updates
    assert weights.counts.radius2 == plain.radius2


@given(runs(kinds=("ones",)))
def test_whole_and_floating_weights_are_equal_and_averaging_changes_no_update(run):
    whole, plain = train(*run, average=False)
    floating, _ = train(*run, dtype=np.float64)
    assert whole.emissions.dtype == np.int32
    assert whole.emission_sums is None
    same(whole, plain)
    same(floating, plain)


@given(runs(kinds=("ones",)), st.integers(1, 5))
def test_an_epoch_goes_on_from_given_weights(run, cut):
    """State is arrays and counts: learned in parts, and sent elsewhere in between, nothing changes."""
    p, orders = run
    whole, _ = train(p, orders)
    x, y = pack(p[2], False), flat(p[3])
    weights = ChainWeights.zeros(p[1], p[4], average=True)
    for order in orders:
        for part in (order[:cut], order[cut:]):
            weights = pickle.loads(pickle.dumps(weights.copy()))
            tagging.epoch(weights, x, y, np.array(part, dtype=np.int64))
    for name in ("emissions", "emission_sums"):
        assert np.array_equal(weights.dense(getattr(weights, name)), whole.dense(getattr(whole, name)))
    assert weights.counts == whole.counts


@pytest.mark.parametrize("n", [5, 8, 9, 17, 25, 33, 70])
def test_any_number_of_labels(n):
    """Rows of one to nine vectors: each has a loop of its own up to four."""
    rng = np.random.default_rng(n)
    sentences = [[[(int(f), 1.0) for f in rng.integers(0, 30, 3)] for _ in range(7)] for _ in range(12)]
    labels = [rng.integers(0, n, 7).tolist() for _ in sentences]
    p = n, 30, sentences, labels, Allowed.everything(n), "ones"
    weights, plain = train(p, [range(12)] * 4)
    same(weights, plain)
    scorer = tagging.scorer(weights, last=True)
    found = tagging.tag(scorer, pack(sentences, False))
    assert found.tolist() == [c for s in sentences for c in plain.decode(s)]


def test_sums_beyond_int32_are_taken_in_float64():
    """Weights near 2**24 over many tokens: int32 sums would wrap around."""
    n, m, length = 3, 4, 500
    rng = np.random.default_rng(0)
    sentences = [[[(int(f), 1.0) for f in rng.integers(0, m, 2)] for _ in range(length)] for _ in range(3)]
    labels = [rng.integers(0, n, length).tolist() for _ in sentences]
    allowed = Allowed.everything(n)
    weights = ChainWeights.zeros(m, allowed, average=True)
    plain = twin.Twin(m, n, rules_of(allowed))
    big = rng.integers(-(2**24), 2**24, (m, n))
    weights.slots[...] = np.arange(1, m + 1)
    weights.rows = m
    weights.emissions[1:, :n] = plain.w[...] = big
    weights.counts.largest, weights.counts.norm2 = float(2**24), float((big.astype(float) ** 2).sum())
    x, y = pack(sentences, False), flat(labels)
    for _ in range(3):
        tagging.epoch(weights, x, y)
        plain.epoch(sentences, labels, range(3))
    assert np.array_equal(weights.dense(weights.emissions), plain.w)
    assert np.array_equal(weights.transition_sums[:, :n], plain.ua)


@pytest.mark.parametrize(
    ("starts", "indptr", "ids", "values"),
    [
        ([0, 2], [0, 1], [0], None),
        ([0, 1], [0, 2], [0], None),
        ([0, 1], [0, 1], [-1], None),
        ([0, 1], [0, 1], [0], []),
    ],
)
def test_sequences_that_do_not_fit_together_are_refused(starts, indptr, ids, values):
    arrays = np.array(starts), np.array(indptr), np.array(ids, dtype=np.int32)
    with pytest.raises(ValueError, match=r"rise|negative"):
        _ = Sequences(*arrays, None if values is None else np.array(values, dtype=float)).native
