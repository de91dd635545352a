"""Vowpal Wabbit text and JSON lines through `open_source`: the rows of LIBSVM text, however they are read."""

import io
import json

import numpy as np
import pytest

import novikoff
from novikoff.data.sources.features import NamedFeatures
from support.named_rows import plain

RNG = np.random.default_rng(3)
ROWS = [
    (
        int(RNG.choice([-1, 1])),
        {int(j): round(float(RNG.normal()), 4) for j in sorted(set(RNG.integers(1, 60, 9)))},
    )
    for _ in range(200)
]
LIBSVM = "".join(f"{y} " + " ".join(f"{j}:{x}" for j, x in row.items()) + "\n" for y, row in ROWS)
VW = "".join(f"{y} | " + " ".join(f"{j}:{x}" for j, x in row.items()) + "\n" for y, row in ROWS)
JSONL = "".join(json.dumps({"label": y, **row}) + "\n" for y, row in ROWS)


def opened(text, format, **options):
    return novikoff.open_source(io.BytesIO(text.encode()), format=format, **options)


def read(source, reuse=False):
    """(labels, weights, rows as pairs of name and value), all blocks together."""
    labels, weights, rows = [], [], []
    for block in source.blocks(reuse=reuse):
        names = source.features.names(range(block.X.shape[1]))
        rows += plain(block.X.data, block.X.indices, block.X.indptr, names)
        labels += block.labels.tolist()
        weights += [1.0] * block.n_rows if block.weights is None else block.weights.tolist()
    return labels, weights, rows


def test_every_format_gives_the_same_rows_by_name():
    expected = read(opened(LIBSVM, "libsvm"))
    for text, format in ((VW, "vw"), (JSONL, "jsonl")):
        assert read(opened(text, format)) == expected


@pytest.mark.parametrize(("text", "format"), [(VW, "vw"), (JSONL, "jsonl")])
@pytest.mark.parametrize("features", [{}, {"hash_bits": 4, "seed": 9}])
def test_blocks_and_threads_change_nothing(text, format, features):
    whole = opened(text, format, n_jobs=1, **features)
    expected = read(whole)
    for options in ({"block_size": 1}, {"block_size": 700, "n_jobs": 3}):
        for reuse in (False, True):
            source = opened(text, format, **options, **features)
            assert read(source, reuse) == expected
            assert source.features.names(range(16)) == whole.features.names(range(16))


@pytest.mark.parametrize(("text", "format"), [(VW, "vw"), (JSONL, "jsonl")])
def test_the_features_of_a_model_stay_as_they_are(text, format):
    features = NamedFeatures()
    features.place(["7", "31"])
    features.fixed = True
    _, _, rows = read(opened(text, format, features=features))
    expected = [[(str(j), x) for j, x in row.items() if j in (7, 31)] for _, row in ROWS]
    assert rows == expected and features.n_columns == 2


def test_mistakes_are_reported_with_file_and_line(tmp_path):
    path = tmp_path / "some.vw"
    path.write_text("1 | a\n\n1 | b:x:y\n")
    with pytest.raises(ValueError, match=r"some\.vw, line 3: expected feature\[:value\], found 'b:x:y'\.$"):
        list(novikoff.open_source(path).blocks())
    patient = novikoff.open_source(path, skip_bad_lines=True)
    assert read(patient)[2] == [[("a", 1.0)]]
    assert patient.skipped.count == 1 and "line 3" in patient.skipped.first[0]
    path = tmp_path / "some.jsonl"
    path.write_text('{"y": 1}\n{"y": 1, "a": }\n')
    with pytest.raises(ValueError, match=r"some\.jsonl, line 2: column 15: expected a value, found '}'\.$"):
        list(novikoff.open_source(path, label="y").blocks())


def test_one_kind_of_labels():
    for size in (1, 100):
        with pytest.raises(
            ValueError, match="line 2: expected a number as label, as in the rows before, found 'x'"
        ):
            read(opened("1 | a\nx | b\n", "vw", block_size=size))


def test_options():
    source = opened('{"y": "a", "w": 2, "id": 5, "x": 1}\n', "jsonl", label="y", weight="w", ignore="id")
    assert read(source) == (["a"], [2.0], [[("x", 1.0)]])
    (block,) = opened("| a\n| b\n", "vw", labelled=False).blocks()
    assert block.labels is None
    for options, message in (
        ({"hash_bits": 31}, "hash_bits"),
        ({"features": novikoff.data.sources.features.NumberedFeatures()}, "the model's are numbered"),
        ({"features": NamedFeatures(), "hash_bits": 3}, "hash_bits=3, but the model has hash_bits=None"),
        ({"ignore": "a"}, "ignore is not an option"),
    ):
        with pytest.raises(ValueError, match=message):
            opened(VW, "vw", **options)
