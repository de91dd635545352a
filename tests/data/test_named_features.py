"""Names and columns: against dicts, and against what `OnlinePerceptron` makes of the same names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import OnlinePerceptron, _core
from novikoff.data.sources.features import NamedFeatures
from support.named_rows import added, plain

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    ["a", "b", "12345678", "123456789"]
)


@given(st.lists(st.lists(NAMES, max_size=8), max_size=6))
def test_an_exact_vocabulary_counts_in_order_of_appearance(blocks):
    features, known = NamedFeatures(), {}
    for block in blocks:
        expected = [known.setdefault(name, len(known)) for name in block]
        assert features.place(block).tolist() == expected
    assert features.n_columns == len(known)
    assert features.names(range(len(known))) == list(known)
    features.fixed = True
    assert features.place(["never seen before, and long", *known]).tolist() == [-1, *known.values()]


def test_many_names():
    """The table grows, and chains of all lengths come up."""
    names = [f"{'x' * (i % 12)}{i}" for i in range(20000)]
    features = NamedFeatures()
    assert features.place(names).tolist() == list(range(20000))
    assert features.place(names[::-1]).tolist() == list(range(19999, -1, -1))


@given(st.lists(NAMES, min_size=1, max_size=8), st.integers(1, 8), st.sampled_from([0, 1, 7, 2**64 - 1]))
def test_hashed_columns_are_those_of_the_online_learner(names, bits, seed):
    features = NamedFeatures(hash_bits=bits, seed=seed)
    columns = features.place(names).tolist()
    assert features.n_columns == 2**bits
    for name, column in zip(names, columns, strict=True):
        model = OnlinePerceptron(fit_intercept=False, classes=[0, 1], hash_bits=bits, seed=seed)
        model.learn_one({name: 1}, 0)  # predicted 1 at score 0, so a mistake: w = -x
        assert np.flatnonzero(model.coef_[0]).tolist() == [column]
    first = {}
    for name, column in zip(names, columns, strict=True):
        first.setdefault(column, name)
    assert features.names(range(2**bits)) == [first.get(j, f"hash_{j}") for j in range(2**bits)]


@given(st.lists(NAMES, unique=True), st.sampled_from([{}, {"hash_bits": 4}, {"hash_bits": 9, "seed": 3}]))
def test_state_round_trip(names, parameters):
    features = NamedFeatures(**parameters)
    columns = features.place(names)
    facts, arrays = features.state()
    copy = NamedFeatures.from_state(facts, arrays)
    assert copy.fixed and copy.n_columns == features.n_columns
    assert copy.place(names).tolist() == columns.tolist()
    every = range(features.n_columns)
    assert copy.names(every) == features.names(every)
    again_facts, again = copy.state()
    assert again_facts == facts and all(again[k].tobytes() == arrays[k].tobytes() for k in arrays)
    if not parameters:
        assert copy.place(["\0 not among them \0"]).tolist() == [-1]


def test_a_fixed_hashed_vocabulary_keeps_no_new_names():
    features = NamedFeatures(hash_bits=10, fixed=True)
    (column,) = features.place(["x"])
    assert features.names([column]) == [f"hash_{column}"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name_offsets": np.array([], np.int64)}, "offsets"),
        ({"name_offsets": np.array([0, 3], np.int64)}, "offsets"),
        ({"name_offsets": np.array([0, 2, 1, 2], np.int64)}, "offsets"),
        ({"name_offsets": np.array([1, 2], np.int64)}, "offsets"),
        ({"name_columns": np.array([0, 1], np.int64)}, "hashed names"),
        ({"names": np.frombuffer(b"aa", np.uint8)}, "two names share column 0"),
    ],
)
def test_a_damaged_state_is_refused(change, message):
    features = NamedFeatures()
    features.place(["a", "b"])
    facts, arrays = features.state()
    with pytest.raises(ValueError, match=message):
        NamedFeatures.from_state(facts, arrays | change)


def test_a_hashed_state_of_another_seed_is_refused():
    features = NamedFeatures(hash_bits=12, seed=1)
    features.place(["a", "b"])
    facts, arrays = features.state()
    with pytest.raises(ValueError, match="another seed"):
        NamedFeatures.from_state(facts | {"seed": 2}, arrays)


@st.composite
def matrices(draw):
    n = draw(st.integers(1, 6))
    rows = draw(
        st.lists(
            st.permutations(range(n)).flatmap(lambda p: st.integers(0, n).map(lambda k: p[:k])), max_size=6
        )
    )
    columns = draw(st.lists(st.integers(-1, 4) | st.just(2**31), min_size=n, max_size=n))
    values = [draw(st.floats(-1e300, 1e300)) for row in rows for _ in row]
    return rows, columns, values


@given(matrices())
def test_recolumn_against_its_definition(matrix):
    rows, columns, values = matrix
    indptr = np.cumsum([0] + [len(row) for row in rows])
    flat = np.array([j for row in rows for j in row], np.int32)
    data, indices, pointers = _core.recolumn(np.array(values), flat, indptr, np.array(columns))
    wide = max(columns) >= 2**31
    assert indices.dtype == pointers.dtype == (np.int64 if wide else np.int32)
    got = plain(data, indices, pointers, {j: j for j in columns})
    expected = [
        added((columns[j], values[k]) for k, j in enumerate(row, indptr[i]) if columns[j] >= 0)
        for i, row in enumerate(rows)
    ]
    assert got == expected


def test_recolumn_refuses_what_leads_outside():
    x, j, p, c = np.ones(2), np.array([0, 1], np.int32), np.array([0, 2]), np.array([4, 5])
    _core.recolumn(x, j, p, c)
    for bad in (
        (x, j, np.array([0, 3]), c),
        (x, j, np.array([1, 2]), c),
        (x, j, np.array([0, 2, 1, 2]), c),
        (x, j, np.array([], np.int64), c),
        (x[:1], j, p, c),
        (x, np.array([0, 2], np.int32), p, c),
        (x, np.array([0, -1], np.int32), p, c),
    ):
        with pytest.raises(ValueError):
            _core.recolumn(*bad)
    with pytest.raises(ValueError, match="row 0: values that share a column"):
        _core.recolumn(np.full(2, 1e308), j, p, np.array([3, 3]))


def test_names_are_strings():
    with pytest.raises(TypeError):
        NamedFeatures().place([1])
    with pytest.raises(UnicodeEncodeError):
        NamedFeatures().place(["\ud800"])
    with pytest.raises(IndexError, match="no column 5"):
        NamedFeatures().names([5])
