"""Words of text columns: against a plain twin, in every form in which Arrow keeps texts."""

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import _core
from support.named_rows import added, plain


def twin(text, prefix, ngrams, lowercase):
    """Letters, digits, underscores and all beyond ASCII make words; at each the n-grams that end there."""
    words = re.findall(r"[A-Za-z0-9_\u0080-\U0010ffff]+", text or "")
    if lowercase:
        words = [re.sub("[A-Z]+", lambda m: m.group().lower(), w) for w in words]
    return added(
        (prefix + " ".join(words[i + 1 - n : i + 1]), 1.0)
        for i in range(len(words))
        for n in range(1, min(ngrams, i + 1) + 1)
    )


def word_rows(column, *options):
    """The words of an Arrow array, from its own buffers."""
    valid, offsets, data = column.buffers()
    offset_type = np.int64 if pa.types.is_large_string(column.type) else np.int32
    empty = np.empty(0, np.uint8)
    return plain(
        *_core.Words(*options).rows(
            np.frombuffer(offsets, offset_type),
            empty if data is None else np.frombuffer(data, np.uint8),
            column.offset,
            len(column),
            None if valid is None else np.frombuffer(valid, np.uint8),
        )
    )


TEXTS = st.text(st.sampled_from("abAB_09 .,'-\n\0éÉß😀"), max_size=20)


@given(
    st.lists(st.none() | TEXTS, min_size=1, max_size=12),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from([pa.string(), pa.large_string()]),
    st.data(),
)
def test_counts_what_the_twin_counts(texts, ngrams, lowercase, kind, data):
    column = pa.array(texts, kind)
    begin = data.draw(st.integers(0, len(texts) - 1))
    expected = [twin(t, "body=", ngrams, lowercase) for t in texts[begin:]]
    assert word_rows(column.slice(begin), "body=", ngrams, lowercase) == expected


def test_documented_example():
    (row,) = word_rows(pa.array(["Don't stop, DON'T!"]), "t=", 2)
    assert row == [
        ("t=don", 2.0),
        ("t=t", 2.0),
        ("t=don t", 2.0),
        ("t=stop", 1.0),
        ("t=t stop", 1.0),
        ("t=stop don", 1.0),
    ]


def test_refuses_what_leads_outside():
    offsets, data = np.array([0, 2, 4], np.int32), np.frombuffer(b"a bc", np.uint8)
    _core.Words("").rows(offsets, data, 0, 2)
    for bad in (
        (offsets[:0], data, 0, 0),
        (offsets, data, 0, 3),
        (offsets, data, 2, 1),
        (offsets, data, 3, 0),
        (offsets, data[:3], 0, 2),
        (offsets[::-1].copy(), data, 0, 2),
        (np.array([-1, 2], np.int32), data, 0, 1),
        (offsets, data, 0, 2, np.empty(0, np.uint8)),
        (offsets.astype(np.int16), data, 0, 2),
    ):
        with pytest.raises(ValueError):
            _core.Words("").rows(*bad)
    for ngrams in (0, 6):
        with pytest.raises(ValueError):
            _core.Words("", ngrams).rows(offsets, data, 0, 2)
