"""Exact linear algebra against its definition, in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.proof import rational
from novikoff.proof.rational import Direction, Relation, alternative, is_relation, relation, to_integers
from support.fraction_lp import some_u

seeds = st.integers(0, 2**32 - 1)


@given(
    st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2),
        min_size=1,
        max_size=5,
    )
)
def test_integers_are_the_floats_times_one_power_of_two_a_column(values):
    whole = to_integers(np.array(values))
    for j in range(2):
        pairs = [(Fraction(row[j]), int(w)) for row, w in zip(values, whole[:, j], strict=True)]
        ratios = {w / f for f, w in pairs if f}
        assert all(w == 0 for f, w in pairs if not f)
        if ratios:
            (ratio,) = ratios
            top = max(ratio.numerator, ratio.denominator)
            assert top & (top - 1) == 0 and min(ratio.numerator, ratio.denominator) == 1
            assert any(w % 2 for _, w in pairs), "the smallest such power"


def fraction_kernel(rows):
    """All c with Σ c_i·rows_i = 0, by elimination in fractions: a basis of them."""
    m = len(rows)
    lines = [
        [Fraction(int(v)) for v in row] + [Fraction(i == k) for k in range(m)] for i, row in enumerate(rows)
    ]
    d = len(rows[0])
    used = 0
    for j in range(d):
        r = next((i for i in range(used, m) if lines[i][j]), None)
        if r is None:
            continue
        lines[used], lines[r] = lines[r], lines[used]
        for i in range(used + 1, m):
            f = lines[i][j] / lines[used][j]
            lines[i] = [a - f * b for a, b in zip(lines[i], lines[used], strict=True)]
        used += 1
    return [line[d:] for line in lines[used:]]


@given(seeds, st.integers(1, 8), st.integers(1, 8), st.sampled_from([2, 100, 2**40]), st.booleans())
def test_the_one_relation_is_found(seed, m, d, size, dependent):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-size, size + 1, (m, d))
    if dependent and m > 1:
        rows[-1] = rng.integers(-2, 3, m - 1) @ rows[:-1]
    kernel = fraction_kernel(rows.tolist())
    found = relation(rows)
    if len(kernel) != 1:
        assert found is None
    else:
        assert found is not None and is_relation(rows, found)
        k = next(i for i, v in enumerate(kernel[0]) if v)
        assert [Fraction(v, found[k]) for v in found] == [v / kernel[0][k] for v in kernel[0]]


def test_long_relations_need_many_digits():
    """Entries beyond 64 bits, more columns than a panel, and weights of thousands of bits."""
    rng = np.random.default_rng(0)
    rows = to_integers(rng.standard_normal((70, 69)) * 2.0 ** rng.integers(-30, 30, (70, 69)))
    assert rows.dtype == object
    found = relation(rows)
    assert found is not None and is_relation(rows, found) and max(map(abs, found)).bit_length() > 4000


def test_work_can_be_stopped():
    class Stop(Exception):
        pass

    def tick():
        raise Stop

    rows = np.array([[1, 2], [3, 4], [5, 7]])
    with pytest.raises(Stop):
        relation(rows, tick)
    with pytest.raises(Stop):
        alternative(rows, tick=tick)


@given(seeds, st.integers(1, 9), st.integers(1, 5), st.sampled_from([1, 3, 2**70]))
def test_exactly_one_alternative_holds(seed, n, d, size):
    """Motzkin: a direction, or weights; each is checked by its definition, and fractions agree which."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, (n, d)).astype(object) * size
    strict = rng.random(n) < 0.6
    found = alternative(rows, strict)
    possible = some_u(rows.tolist(), [int(s) for s in strict]) is not None
    if possible:
        assert isinstance(found, Direction)
        scores = rows @ np.array(found.u, dtype=object)
        assert all(s >= 0 for s in scores) and all(s > 0 for s in scores[strict])
    else:
        assert isinstance(found, Relation)
        assert min(found.weights) > 0 and len(found.rows) <= d + 1 and strict[found.rows].any()
        assert is_relation(rows[found.rows], found.weights)


def test_residues_are_exact_up_to_the_largest():
    p = rational.PRIME
    values = np.array(
        [0, 1, p - 1, p, p + 1, -1, -p, 2000 * (p - 1) ** 2, -2000 * (p - 1) ** 2], dtype=np.float64
    )
    assert rational._reduced(values.copy()).tolist() == [int(v) % p for v in values]
