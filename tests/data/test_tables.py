"""Tables as a source. The definition is the twin below: one row at a time, in plain Python."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import io
import lzma
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data.sources.columns import Column, TableFeatures
from novikoff.data.sources.delimited import Buffers
from novikoff.data.sources.encoding import _sparse, placed
from novikoff.data.sources.features import NamedFeatures
from novikoff.data.sources.tables import TableSource
from support.children import run_python, threads

EPOCH = dt.datetime(1970, 1, 1)


def twin(table: pa.Table, label: str) -> tuple[list[str], list[dict[str, float]]]:
    """Names in order of appearance, and each row as a dict, as the docstring of `columns` says."""
    names: list[str] = []
    rows = []
    numeric = [n for n, t in zip(table.column_names, table.schema.types, strict=True) if not is_category(t)]
    names += [name for name in numeric if name != label]
    for record in table.to_pylist():
        row: dict[str, float] = {}
        for name, value in record.items():
            if name == label:
                continue
            type_ = table.schema.field(name).type
            if value is None or (isinstance(value, str) and not value.strip()):
                row[f"{name}=null"] = 1.0
            elif isinstance(value, str):
                row[f"{name}={value.strip()}"] = 1.0
            elif isinstance(value, dt.datetime | dt.date):
                moment = value if isinstance(value, dt.datetime) else dt.datetime.combine(value, dt.time())
                since = moment - EPOCH
                seconds = since.seconds * 10**6 + since.microseconds
                row[name] = since.days + seconds / 86_400_000_000
                row[f"{name}.month={value.month}"] = 1.0
                row[f"{name}.weekday={value.isoweekday()}"] = 1.0
                if pa.types.is_timestamp(type_):
                    row[f"{name}.hour={value.hour}"] = 1.0
            else:
                row[name] = float(value)
        rows.append({key: value for key, value in row.items() if value != 0})
        names += [key for key in row if key not in names]
    return names, rows


def is_category(type_: pa.DataType) -> bool:
    return pa.types.is_string(type_) or pa.types.is_dictionary(type_) or pa.types.is_null(type_)


def read(source: TableSource) -> tuple[list[str], list[dict[str, float]], list[Any]]:
    """Names, rows as dicts, and labels of a whole source."""
    rows: list[dict[str, float]] = []
    labels: list[Any] = []
    for block in source.blocks():
        X = block.X
        if isinstance(X, np.ndarray):
            assert X.flags.c_contiguous and X.dtype == np.float64
            names = source.features.names(range(X.shape[1]))
            rows += [{n: v for n, v in zip(names, row, strict=True) if v} for row in X.tolist()]
        else:
            names = source.features.names(range(X.shape[1]))
            for i in range(X.shape[0]):
                part = slice(X.indptr[i], X.indptr[i + 1])
                columns = X.indices[part].tolist()
                assert len(set(columns)) == len(columns)
                rows.append({names[j]: v for j, v in zip(columns, X.data[part].tolist(), strict=True)})
        if block.labels is not None:
            assert len(block.labels) == block.n_rows
            labels += block.labels.tolist()
    return source.features.names(range(source.features.n_columns)), rows, labels


def csv_of(lines: str, **options: Any) -> TableSource:
    return TableSource(io.BytesIO(lines.encode()), **{"format": "csv", **options})


def written(table: pa.Table, form: str) -> io.BytesIO:
    sink = io.BytesIO()
    if form in ("csv", "tsv"):
        quoting = "needed" if form == "csv" else "none"
        mark = "," if form == "csv" else "\t"
        sink.write(f"{mark.join(table.column_names)}\n".encode())  # pyarrow would put quotes around them
        options = pa.csv.WriteOptions(include_header=False, delimiter=mark, quoting_style=quoting)
        plain = [c.cast(pa.string()) if pa.types.is_dictionary(c.type) else c for c in table.columns]
        pa.csv.write_csv(pa.table(plain, names=table.column_names), sink, options)
    elif form == "parquet":
        pa.parquet.write_table(table, sink, row_group_size=5)
    elif form == "feather":
        pa.feather.write_feather(table, sink, chunksize=3)
    else:
        with pa.ipc.new_stream(sink, table.schema) as out:
            out.write_table(table, max_chunksize=4)
    sink.seek(0)
    return sink


FORMS = ("csv", "tsv", "parquet", "feather", "stream")
MIXED = pa.table(
    {
        "age": pa.array([39, None, 0, 53, 28, 39, 17], pa.int32()),
        "job": pa.array(["cook", "nurse", None, "cook", "pilot", " cook ", ""]),
        "pay": pa.array([1.5, 0.1, -2.25, 0.0, 1e300, None, 3.0]),
        "since": pa.array(
            [None, *(dt.datetime(2024, 1, k, 3 * k, 30, 1) for k in range(1, 7))], pa.timestamp("us")
        ),
        "day": pa.array([dt.date(1969, 12, 28) + dt.timedelta(40 * k) for k in range(7)]),
        "member": pa.array([True, False, None, True, True, False, False]),
        "class": pa.array(["a", "b", "a", "b", "c", "a", "b"]),
    }
)
NUMBERS = pa.table({"a": [1.0, 2.5, 0.0, -1.0], "b": [3, 0, 5, 6], "y": [1, -1, 1, 2]})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("block_size", [1, 60, 1 << 20])
def test_every_format_and_block_size_gives_the_twins_rows(form: str, block_size: int) -> None:
    names, rows = twin(MIXED, "class")
    format = "arrow" if form == "stream" else form
    source = TableSource(written(MIXED, form), format=format, block_size=block_size, n_jobs=2)
    assert source.format == ("arrow" if form == "feather" else format)
    for _ in range(2):  # a source can be read again, and nothing is new then
        assert read(source) == (names, rows, ["a", "b", "a", "b", "c", "a", "b"])


@pytest.mark.parametrize("form", FORMS)
def test_numbers_alone_are_dense(form: str) -> None:
    source = TableSource(written(NUMBERS, form), format="arrow" if form == "stream" else form)
    (block,) = list(source.blocks()) if form in ("csv", "tsv") else [next(source.blocks())]
    assert isinstance(block.X, np.ndarray)
    assert read(source) == (*twin(NUMBERS, "y"), [1.0, -1.0, 1.0, 2.0])


COLUMNS, KINDS = [Column(name, "", "") for name in "awy"], ("number", "weight", "label")
PLAIN_CELLS = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["0", "1", " 7 ", "+3", "-0", "1.", ".5", "1e5", "1E-3", "2e999", "0x1", "1_0", "1 2"]),
    st.sampled_from(["", " ", "NA", "?", "nan", "inf", '"4"', '4"', "e5", ".", "-", "é", "1\r"]),
)
PLAIN_LINES = st.lists(
    st.lists(PLAIN_CELLS, min_size=3, max_size=3) | st.lists(PLAIN_CELLS, max_size=4), max_size=4
)


@given(PLAIN_LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_the_short_way_of_numbers_agrees_with_pyarrow(
    lines: list[list[str]], line_end: str, ended: bool, skip_bad: bool
) -> None:
    """Whatever the cells: the same rows, labels and weights, or the same error either way."""
    text = line_end.join(["a,w,y", "1,1,2", *(",".join(cells) for cells in lines)]) + line_end * ended

    def outcome(short: bool) -> Any:
        source = csv_of(text, weight="w", header=True, skip_bad_lines=skip_bad, n_jobs=1)
        # the types are told from all lines, so they are fixed here to what the first one says
        columns = [
            column._replace(kind=kind, type="double") for column, kind in zip(COLUMNS, KINDS, strict=True)
        ]
        source.features = TableFeatures(columns, has_names=True, ngrams=1, vocabulary=NamedFeatures())
        reader = source._reader(0, ["a", "w", "y"], Buffers())
        if not short:
            reader._targets = None
        parsed = reader(text.encode()[text.index("1,1,2") :])
        if parsed.problem is not None:
            return parsed.problem
        assert parsed.local is not None
        X = placed(parsed.local, source.features)
        if isinstance(X, np.ndarray):
            X = placed(_sparse(X), source.features)
        labels = None if parsed.labels is None else parsed.labels.tolist()
        weights = None if parsed.weights is None else parsed.weights.tolist()
        return X.data.tolist(), X.indptr.tolist(), labels, weights, parsed.skipped

    assert outcome(True) == outcome(False)


def test_blocks_may_share_memory() -> None:
    text = "a,b,y\n" + "".join(f"{k},{-k},{k % 2}\n" for k in range(100))
    source = csv_of(text, block_size=64, n_jobs=2)
    kept = np.concatenate([np.array(block.X) for block in source.blocks(reuse=True)])
    assert np.array_equal(kept, np.concatenate([block.X for block in source.blocks()]))
    assert kept[:, 0].tolist() == list(range(100)) and kept[:, 1].tolist() == [-k for k in range(100)]


def test_a_null_among_numbers_makes_the_later_blocks_sparse() -> None:
    source = csv_of("a,b,y\n1,2,0\n3,,1\n5,6,0\n", block_size=1)
    kinds = [isinstance(block.X, np.ndarray) for block in source.blocks()]
    assert kinds == [True, False, False]
    assert all(block.X.shape[1] == 3 for block in source.blocks())  # read again: of the width there is now
    assert read(source)[1] == [{"a": 1, "b": 2}, {"a": 3, "b=null": 1}, {"a": 5, "b": 6}]


CELLS = {
    "int": st.none() | st.integers(-(2**53), 2**53),
    "float": st.none() | st.floats(allow_nan=False, allow_infinity=False),
    "string": st.none() | st.sampled_from(["", " x", "x", "y ", "é=1", "null", 'say "hi"', "a;b", "x y"]),
    "bool": st.none() | st.booleans(),
    "date": st.none() | st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    "stamp": st.none() | st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)),
}
TYPES = {
    "int": pa.int64(),
    "float": pa.float64(),
    "string": pa.string(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "stamp": pa.timestamp("us"),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    n = draw(st.integers(1, 8))
    columns = {
        f"{kind}{k}": draw(st.lists(CELLS[kind], min_size=n, max_size=n)) for k, kind in enumerate(kinds)
    }
    arrays = {name: pa.array(cells, TYPES[name.rstrip("0123456789")]) for name, cells in columns.items()}
    if draw(st.booleans()):
        arrays = {n: a.dictionary_encode() if pa.types.is_string(a.type) else a for n, a in arrays.items()}
    label = draw(st.lists(st.sampled_from(["p", "q"]), min_size=n, max_size=n))
    return pa.table({**arrays, "label": label})


@given(tables(), st.sampled_from(FORMS), st.integers(1, 200), st.sampled_from([1, 2]))
def test_any_table_gives_the_twins_rows(table: pa.Table, form: str, block_size: int, n_jobs: int) -> None:
    if form in ("csv", "tsv"):
        for column in table.columns[:-1]:
            texts = [cell for cell in column.to_pylist() if cell is not None]
            if not texts or (form == "tsv" and any('"' in str(text) for text in texts)):
                return  # text tells no types where there is no value; quotes in TSV would need quotes
    source = TableSource(
        written(table, form),
        format="arrow" if form == "stream" else form,
        header=True,
        block_size=block_size,
        n_jobs=n_jobs,
    )
    names, rows, labels = read(source)
    assert (names, rows) == twin(table, "label")
    assert labels == table["label"].to_pylist()


@given(tables(), st.integers(1, 12))
def test_hashed_rows_are_the_named_ones_added_up(table: pa.Table, bits: int) -> None:
    exact = TableSource(written(table, "feather"))
    hashed = TableSource(written(table, "feather"), hash_bits=bits, seed=7)
    names = read(exact)[0]
    columns = dict(zip(names, hashed.features.place(names).tolist(), strict=True))
    expected = []
    for row in read(exact)[1]:
        sums: dict[int, float] = {}
        for name in row:  # in the row's order
            sums[columns[name]] = sums.get(columns[name], 0.0) + row[name]
        if not all(map(math.isfinite, sums.values())):
            return
        expected.append(sums)
    found = []
    for block in hashed.blocks():
        assert block.X.shape[1] == 2**bits
        for i in range(block.n_rows):
            part = slice(block.X.indptr[i], block.X.indptr[i + 1])
            found.append(dict(zip(block.X.indices[part].tolist(), block.X.data[part].tolist(), strict=True)))
    assert found == expected


def test_numbers_of_every_type_are_the_nearest_doubles() -> None:
    from decimal import Decimal

    table = pa.table(
        {
            "dec": pa.array([Decimal("0.1"), Decimal("123456789012345678.123"), None], pa.decimal128(30, 3)),
            "half": pa.array(np.array([0.5, 1.5, 2.0], dtype=np.float16)),
            "big": pa.array([2**63, 1, 2], pa.uint64()),
            "took": pa.array([1500, None, -1], pa.duration("ms")),
            "at": pa.array([dt.time(12), dt.time(0, 0, 0, 1), None], pa.time64("us")),
            "zone": pa.array(
                [EPOCH, EPOCH + dt.timedelta(hours=30), None], pa.timestamp("ns", "Europe/Paris")
            ),
            "y": [0, 1, 0],
        }
    )
    rows = read(TableSource(written(table, "parquet")))[1]
    assert rows[0] == {
        "dec": 0.1,
        "half": 0.5,
        "big": float(2**63),
        "took": 1.5,
        "at": 0.5,
        "at.hour=12": 1,
        "zone.month=1": 1,
        "zone.weekday=4": 1,
        "zone.hour=0": 1,
    }
    assert rows[1]["dec"] == 123456789012345678.123
    assert rows[1]["zone"] == 1.25 and rows[1]["zone.hour=6"] == 1 and rows[1]["took=null"] == 1
    assert rows[2]["took"] == -0.001 and rows[2]["at=null"] == 1 and rows[2]["zone=null"] == 1


def test_numbers_as_categories() -> None:
    table = pa.table({"zip": [7, 12, 7], "f": [7.0, 0.5, 7.0], "y": [0, 1, 1]})
    for form in ("csv", "parquet"):
        source = TableSource(written(table, form), categorical=["zip", 2])
        assert read(source)[1] == [{"zip=7": 1, "f=7": 1}, {"zip=12": 1, "f=0.5": 1}, {"zip=7": 1, "f=7": 1}]


WORDS = pa.table(
    {
        "n": [1, 2, 0, 4],
        "body": pa.array(["The cat, the hat", None, "", "a cat_2 été"]),
        "kind": ["u", "v", None, "u"],
        "title": pa.array(["Cat", "dog cat", "x", None]).dictionary_encode(),
        "y": [0, 1, 0, 1],
    }
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("block_size", [1, 1000])
def test_text_columns_are_bags_of_words(form: str, block_size: int) -> None:
    format = "arrow" if form == "stream" else form
    source = TableSource(written(WORDS, form), format=format, text=["body", "title"], block_size=block_size)
    names, rows, _ = read(source)
    assert rows == [
        {"n": 1, "body=the": 2, "body=cat": 1, "body=hat": 1, "kind=u": 1, "title=cat": 1},
        {"n": 2, "kind=v": 1, "title=dog": 1, "title=cat": 1},
        {"kind=null": 1, "title=x": 1},
        {"n": 4, "body=a": 1, "body=cat_2": 1, "body=été": 1, "kind=u": 1},
    ]
    expected = ["n"]
    for row in rows:
        expected += [name for name in row if name not in expected]
    assert names == expected
    pairs = TableSource(written(WORDS, form), format=format, text="body", ignore="title", ngrams=2)
    assert read(pairs)[1][0] == {
        "n": 1,
        "body=the": 2,
        "body=cat": 1,
        "body=the cat": 1,
        "body=cat the": 1,
        "body=hat": 1,
        "body=the hat": 1,
        "kind=u": 1,
    }
    with pytest.raises(ValueError, match=r"the column 'n' is of type .*, but was read as text"):
        read(TableSource(written(WORDS, "parquet"), text="n"))


def test_names_that_meet_are_added_up() -> None:
    rows = read(csv_of("a,a=b,y\nb=c,c,0\nx,z,1\n"))[1]
    assert rows == [{"a=b=c": 2}, {"a=x": 1, "a=b=z": 1}]


@pytest.mark.parametrize(
    ("names", "label"), [("x,Y,Target", "Target"), ("y,x,class", "class"), ("LABEL,target,x", "LABEL")]
)
def test_the_usual_names_of_labels(names: str, label: str) -> None:
    (column,) = [c.name for c in csv_of(f"{names}\n1,2,3\n").features.columns if c.kind == "label"]
    assert column == label


def test_labels_are_numbers_when_they_read_as_numbers() -> None:
    assert read(csv_of("x,y\n1, +1\n2,1.0\n3,-1e0\n"))[2] == [1.0, 1.0, -1.0]
    assert read(csv_of("x,y\n1,one\n2,nan\n"))[2] == ["one", "nan"]
    assert read(csv_of("x,y\n1,0x1\n2,1_0\n"))[2] == ["0x1", "1_0"]
    with pytest.raises(
        ValueError, match=r"line 3: the label 'a' is no number, but the labels before it are numbers"
    ):
        read(csv_of("x,y\n1,1\n2,a\n"))
    with pytest.raises(
        ValueError, match=r"line 3: the label '2' is a number, but the labels before it are text"
    ):
        read(csv_of("x,y\n1,a\n2,2\n", block_size=1))


def test_weights() -> None:
    source = csv_of("x,w,y\n1,0.5,0\n2,0,1\n", weight="w")
    (block,) = source.blocks()
    assert block.weights is not None and block.weights.tolist() == [0.5, 0]
    assert source.features.names(range(source.features.n_columns)) == ["x"]
    for cell, shown in (("-1", "-1"), ("", "null"), ("nan", "NaN")):
        with pytest.raises(ValueError, match=rf"line 2: .*'w'.*{shown}"):
            read(csv_of(f"x,w,y\n1,{cell},0\n2,0,1\n", weight="w"))


@pytest.mark.parametrize(
    ("text", "format", "names"),
    [
        ("a,b,y\n1,2,3\n", "csv", ["a", "b"]),
        ("a,b,c\nd,e,f\n", "csv", None),  # a header, though without a column for labels
        ("1,b,c\nd,e,f\n", "csv", ["1", "2"]),
        ("a\tb\nc\td\n", "tsv", ["1"]),
        ("a\ty\n1\td\n", "tsv", ["a"]),
        ("a;b;y\nm,5;2;3\n", "csv", ["a", "b"]),
        ('"a;b";b;y\n1;2;3\n', "csv", ["a;b", "b"]),
        ("a\tb\ty\n1\t2\t3\n", "csv", ["a", "b"]),
        ("\ufeffa,,y\r\n1,2,3\r\n", "csv", ["a", "2"]),
    ],
)
def test_headers_and_delimiters(text: str, format: str, names: list[str] | None) -> None:
    if names is None:
        with pytest.raises(ValueError, match="no column is named label, class, target or y"):
            csv_of(text)
        return
    source = csv_of(text, format=format)
    assert [c.name for c in source.features.columns if c.kind != "label"] == names
    read(source)


def test_a_first_line_with_a_long_text() -> None:
    text = "spam\t" + "win " * 100_000 + "\nham\thello\n"
    assert read(csv_of(text, format="tsv", label=1, text=2))[1] == [{"2=win": 100_000}, {"2=hello": 1}]


def test_blank_and_skipped_lines_keep_their_numbers() -> None:
    source = csv_of("% made by hand\n\na,y\n1,0\n\n2,1\n\r\n3,0\n", skip_lines=1, block_size=3)
    where = [block.where(i) for block in source.blocks() for i in range(block.n_rows)]
    assert where == [f"<BytesIO>, line {k}" for k in (4, 6, 8)]


def test_quoted_cells() -> None:
    text = 'a,b,y\n1,"x, ""z""",0\n2,"two\nlines",1\n3,5" pipe,0\n'
    expected = [{"a": 1, 'b=x, "z"': 1}, {"a": 2, "b=two\nlines": 1}, {"a": 3, 'b=5" pipe': 1}]
    for block_size in (1, 20, 1000):
        with pytest.raises(ValueError, match="line 3: a quote does not end on its line"):
            read(csv_of(text, newlines_in_values=False, block_size=block_size))
        assert read(csv_of(text, block_size=block_size))[1] == expected  # the first lines show it
    for block_size in (1, 20, 1000):
        source = csv_of(text, newlines_in_values=True, block_size=block_size)
        assert read(source)[1] == expected
        assert [b.where(i) for b in source.blocks() for i in range(b.n_rows)][-1] == "<BytesIO>, line 5"
    assert read(csv_of('1\t"a\n2\tb\n', format="tsv", label=1))[1] == [{'2="a': 1}, {"2=b": 1}]


@pytest.mark.parametrize("block_size", [1, 1000])
def test_bad_lines_are_skipped_and_counted(block_size: int) -> None:
    rows = ["a,b,y", "1,u,0", "2,v", "x,w,1", "3,w,1", "4,w,1,1", "nan,w,0", '5,"w,0', "6,u,", "7,u,1"]
    # what tells the types must not be what is wrong
    text = "\n".join([*rows[:1], *["1,u,0"] * 3, *rows[1:]]) + "\n"
    source = csv_of(text.replace("x,w,1\n", ""), skip_bad_lines=True, block_size=block_size)
    kept = [row["a"] for row in read(source)[1]]
    assert kept == [1, 1, 1, 1, 3, 7]
    assert source.skipped.count == 5
    assert source.skipped.first[0] == "<BytesIO>, line 6: expected 3 cells, found 2."
    assert "line 8: expected 3 cells, found 4" in source.skipped.first[1]
    assert "line 9: the column 'a' holds NaN" in source.skipped.first[2]
    assert "line 10: a quote does not end" in source.skipped.first[3]
    assert "line 11: there is no label" in source.skipped.first[4]
    read(source)
    assert source.skipped.count == 5  # counted anew in every pass


def late(cell: str) -> str:
    """A table of numbers with one odd cell behind what the types are told from."""
    return "a,b,y\n" + "1,2,0\n" * 200_000 + f"1,{cell},1\n" + "1,2,0\n" * 10


def test_a_late_cell_that_is_no_number() -> None:
    match = r"line 200002: the column 'b' holds 'x', but was read as a number .* declare it as categorical"
    for n_jobs in (1, 2):
        with pytest.raises(ValueError, match=match):
            read(csv_of(late("x"), n_jobs=n_jobs, block_size=1 << 16))
    source = csv_of(late("x"), skip_bad_lines=True)
    assert sum(block.n_rows for block in source.blocks()) == 200_010
    assert source.skipped.count == 1
    names, rows, _ = read(csv_of(late("x"), categorical="b"))
    assert names == ["a", "b=2", "b=x"] and rows[200_000] == {"a": 1, "b=x": 1}


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "the file is empty"),
        ("\n\n", {}, "the file is empty"),
        ("a,b,y\n", {"header": True}, "there is a header, but no row after it"),
        ("a,b,y\n", {}, "there is a header, but no row after it"),
        ("a\n1\n", {"label": "a"}, "there is no feature column: the table has one column only, 'a'"),
        ("a,b,y\n1,2,3\n", {"ignore": ["a", "b"]}, "there is no feature column, as all are ignored"),
        ("a,a,y\n1,2,3\n", {}, "'a' is the name of more than one column"),
        ("a,b,c\n1,2,3\n", {}, "no column is named .*; there are 'a', 'b', 'c'"),
        ("a,b,c\n1,2,3\n", {"label": "d"}, "label='d' is not one of the 3 columns: 'a', 'b', 'c'"),
        ("a,b,c\n1,2,3\n", {"label": 4}, "label=4 is not one of the 3 columns"),
        ("a,b,c\n1,2,3\n", {"label": 1, "text": 1}, "'a' holds the labels, and cannot be text too"),
        ("a,b,c\n1,2,3\n", {"label": 1, "text": 2, "ignore": 2}, "'b' cannot be both ignored and text"),
        ("a,b,y\n1,2,3\n1,2\n", {}, "line 3: expected 3 cells, found 2"),
        ("a,b,y\n1,2,3\n1,2,\n", {}, "line 3: there is no label in the column 'y'"),
        ("a,b,y\n1,2,3\n1,inf,4\n", {}, "line 3: the column 'b' holds infinity"),
        ("a,y\n1,2\n", {"skip_lines": 9}, "there is no line after skip_lines=9"),
        ("a,y\n1,2\n", {"delimiter": "ab"}, "delimiter must be one ASCII character"),
        ("a,y\n1,2\n", {"format": "xls"}, "format must be one of csv"),
        ("a,y\n1,2\n", {"ngrams": 0}, "ngrams must be a whole number from 1 to 5"),
        ("a,y\n1,2\n", {"format": "parquet"}, "not a valid Parquet file"),
        ("a,y\n1,2\n", {"format": "arrow"}, "not a valid Arrow or Feather file"),
    ],
)
@pytest.mark.parametrize("block_size", [1, 1000])
def test_bad_tables(text: str, options: dict[str, Any], message: str, block_size: int) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read(csv_of(text, block_size=block_size, **options))
    assert "\n" not in str(caught.value)


def test_text_that_is_not_utf8() -> None:
    for head, tail, message in (
        (b"a,b,y\n1,\xff,0\n", b"", "line 2 is not UTF-8"),
        (b"a,b,y\n1,x,0\n", b"1,\xff,0\n", "line 3: the cell of the column 'b' is not UTF-8 text"),
        ("a,b,y\n1,x,0\n".encode("utf-16"), b"", "UTF-16"),
    ):
        with pytest.raises(ValueError, match=message):
            read(TableSource(io.BytesIO(head + tail), format="csv"))


@pytest.mark.parametrize("form", ["parquet", "feather", "stream"])
def test_bad_columnar_files(form: str, tmp_path: Path) -> None:
    def source(table: pa.Table, **options: Any) -> TableSource:
        return TableSource(written(table, form), **options)

    with pytest.raises(ValueError, match="name the label column with `label`; there are 'a', 'b'"):
        source(pa.table({"a": [1], "b": [2]}))
    with pytest.raises(ValueError, match=r"row 2: the column 'a' holds NaN"):
        read(source(pa.table({"a": [1.0, math.nan], "y": [2, 3]})))
    with pytest.raises(ValueError, match="row 2: there is no label in the column 'y'"):
        read(source(pa.table({"a": [1.0, 2.0], "y": [2.0, math.nan]})))
    nested = pa.table({"a": [1], "b": [[1, 2]], "y": [2]})
    with pytest.raises(
        ValueError, match=r"the column 'b' is of type list<.*>, which cannot be a feature: ignore it"
    ):
        source(nested)
    assert read(source(nested, ignore="b"))[1] == [{"a": 1}]
    data = written(MIXED, form).getvalue()
    path = tmp_path / "cut"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"^[^:]*cut: this is not a valid .* decompressed first\.$"):
        read(TableSource(path))


def test_a_pipe_can_send_an_arrow_stream_but_no_index() -> None:
    for form in FORMS:
        from_there, to_here = os.pipe()
        with os.fdopen(to_here, "wb") as there:
            there.write(written(MIXED, form).getvalue())
        with os.fdopen(from_there, "rb") as here:
            if form in ("parquet", "feather"):
                with pytest.raises(ValueError, match="cannot be read from a pipe"):
                    TableSource(here)
                continue
            source = TableSource(here, header=True)
            assert read(source)[:2] == twin(MIXED, "class")
            with pytest.raises(ValueError, match="only once"):
                read(source)


def test_several_files_are_one_stream(tmp_path: Path) -> None:
    for k, text in enumerate(("a,b,y\n1,u,0\n", "y,b,a,more\n1,v,2,9\n0,u,3,9\n", "b,y,a\n\nw,1,4\n")):
        (tmp_path / f"part{k}.csv.gz").write_bytes(gzip.compress(text.encode()))
    source = TableSource(str(tmp_path / "part*.csv.gz"))
    names, rows, labels = read(source)
    assert names == ["a", "b=u", "b=v", "b=w"]
    assert [row["a"] for row in rows] == [1, 2, 3, 4] and labels == [0, 1, 0, 1]
    where = [block.where(i) for block in source.blocks() for i in range(block.n_rows)]
    assert where[-1].endswith("part2.csv.gz, line 3") and where[1].endswith("part1.csv.gz, line 2")
    consumed = [block.consumed for block in source.blocks()]
    assert consumed == sorted(consumed) and consumed[-1] == source.size
    (tmp_path / "part3.csv").write_text("a,c,y\n1,2,3\n")
    with pytest.raises(ValueError, match=r"part3.csv: the column 'b' is missing; there are 'a', 'c', 'y'"):
        read(TableSource([str(tmp_path / "part0.csv.gz"), str(tmp_path / "part3.csv")]))


@pytest.mark.parametrize(
    "pack",
    [gzip.compress, bz2.compress, lzma.compress, lambda data: pa.Codec("zstd").compress(data, asbytes=True)],
)
def test_compressed_text(pack: Any, tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(pack(written(MIXED, "csv").getvalue()))
    assert read(TableSource(path))[:2] == twin(MIXED, "class")


def fixed(source: TableSource) -> TableFeatures:
    """What a model file would keep of the features."""
    import json

    facts, arrays = source.features.state()
    return TableFeatures.from_state(json.loads(json.dumps(facts)), arrays)


def test_a_models_recipe_applied_to_other_tables() -> None:
    source = csv_of("a,b,w,skip,y\n1,u,1,q,0\n2,v,1,q,1\n", weight="w", ignore="skip")
    read(source)
    features = fixed(source)
    assert features.n_columns == 3 and features.fixed

    def rows(text: str, **options: Any) -> list[dict[str, float]]:
        other = csv_of(text, features=features, **options)
        found = read(other)
        assert found[0] == ["a", "b=u", "b=v"]
        return found[1]

    assert rows("y,more,b,a,w\n1,?,v,7,1\n") == [{"a": 7, "b=v": 1}]  # another order, one column more
    assert rows("b,a\nnew,7\nu,\n", labelled=False) == [{"a": 7}, {"b=u": 1}]
    assert rows("3,v,1,q,0\n") == [{"a": 3, "b=v": 1}]  # no header: by position
    assert rows("3,v,q\n", labelled=False) == [{"a": 3, "b=v": 1}]  # without label and weight
    with pytest.raises(ValueError, match=r"the columns 'b', 'w', 'y' are missing; there are 'a', 'c'"):
        rows("a,c\n1,2\n")
    with pytest.raises(ValueError, match="expected 5 columns, but there are 4"):
        rows("1,2,3,4\n")
    table = pa.table({"b": pa.array(["v", None]).dictionary_encode(), "a": pa.array([7, 0], pa.int8())})
    other = TableSource(written(table, "parquet"), features=features, labelled=False)
    assert read(other)[1] == [{"a": 7, "b=v": 1}, {}]
    (block,) = other.blocks()
    assert block.labels is None and block.weights is None
    table = pa.table({"b": ["v"], "a": ["7"]})
    with pytest.raises(ValueError, match="the column 'a' is of type string, but was read as a number"):
        read(TableSource(written(table, "parquet"), features=features, labelled=False))


def test_dates_for_a_model_of_timestamps() -> None:
    stamps = pa.table({"t": pa.array([EPOCH, EPOCH + dt.timedelta(days=1)], pa.timestamp("ms")), "y": [0, 1]})
    source = TableSource(written(stamps, "parquet"))
    read(source)
    for type_ in (pa.date32(), pa.date64()):
        dates = pa.table({"t": pa.array([dt.date(1970, 1, 2)], type_), "y": [0]})
        rows = read(TableSource(written(dates, "parquet"), features=fixed(source)))[1]
        assert rows == [{"t": 1, "t.month=1": 1, "t.weekday=5": 1, "t.hour=0": 1}]


def test_reading_loads_neither_pandas_nor_scipy(tmp_path: Path) -> None:
    for form in FORMS:
        (tmp_path / form).write_bytes(written(MIXED, form).getvalue())
    program = (
        "import sys; from novikoff.data.sources.tables import TableSource\n"
        f"for form in {FORMS!r}:\n"
        f"    for block in TableSource({str(tmp_path)!r} + '/' + form, header=True).blocks(): pass\n"
        "assert not {'pandas', 'scipy', 'sklearn'} & set(sys.modules)"
    )
    run_python("-c", program)


def test_a_damaged_recipe_is_refused() -> None:
    facts, arrays = csv_of("a,b,y\n1,u,0\n").features.state()
    for column in (["a", "number"], ["a", "magic", "double"], ["c", "number", "double"], ["a", 1, "double"]):
        facts["table"]["columns"][0] = column
        with pytest.raises(ValueError, match="column of the table"):
            TableFeatures.from_state(facts, arrays)


def test_nothing_but_bad_lines() -> None:
    with pytest.raises(ValueError, match=r"expected at least one row, .* skipped .*line 2: expected 2 cells"):
        read(csv_of("a,y\n1\n1,2,3\n", skip_bad_lines=True))
    with pytest.raises(ValueError, match="expected at least one row"):
        read(TableSource(written(MIXED.slice(0, 0), "parquet")))
    with pytest.raises(ValueError, match="line 3: a quote does not end within max_line=50 bytes"):
        read(csv_of('a,y\n1,2\n1,"' + "x\n" * 50, newlines_in_values=True, max_line=50, block_size=8))


def test_labels_may_be_missing_when_predicting() -> None:
    source = csv_of("a,y\n1,\n2,\n", labelled=False)
    (block,) = source.blocks()
    assert block.labels is None and block.n_rows == 2
    (block,) = csv_of("a,b\n1,2\n", labelled=False).blocks()
    assert block.labels is None and block.X.shape == (1, 2)


def test_features_of_another_kind_are_refused() -> None:
    from novikoff.data.sources.features import NumberedFeatures

    with pytest.raises(ValueError, match="trained on another format"):
        csv_of("a,y\n1,2\n", features=NumberedFeatures(3))


@pytest.mark.parametrize("form", FORMS)
def test_a_source_abandoned_halfway_leaves_no_thread(form, monkeypatch) -> None:
    """Even where someone else still holds what was reading, as a closed generator of Python 3.12.3 does."""
    before, name = threads(), "_text_blocks" if form in ("csv", "tsv") else "_columnar_blocks"
    read, held = getattr(TableSource, name), []
    monkeypatch.setattr(TableSource, name, lambda *given: held.append(read(*given)) or held[0])
    blocks = TableSource(
        written(MIXED, form), format="arrow" if form == "stream" else form, block_size=1
    ).blocks()
    next(blocks)
    blocks.close()  # type: ignore[attr-defined]
    assert held and threads() <= before


FLIPS = """
import random, sys, warnings
from pathlib import Path
import novikoff
warnings.simplefilter("ignore")
whole, n, path = Path(sys.argv[1]).read_bytes(), int(sys.argv[2]), Path(sys.argv[1] + ".flipped")
for seed in range(n):
    flipped, draw = bytearray(whole), random.Random(seed)
    flipped[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
    path.write_bytes(flipped)
    try:
        source = novikoff.open_source(path, format="arrow", label="label")
        novikoff.Perceptron(max_epochs=2).fit_source(source)
    except (ValueError, MemoryError):
        pass
print("done")
"""


def test_a_flipped_bit_in_an_arrow_file_is_an_error_or_other_rows(tmp_path):
    """Never the end of the process: offsets, indices and text are validated before they are used."""
    colours = pa.array(["red", "green", None, "blue"] * 25).dictionary_encode()
    columns = {"label": ["a", "b"] * 50, "x": np.arange(100.0), "colour": colours}
    columns |= {"text": [f"u{i % 7}" for i in range(100)], "whole": pa.array(range(100), pa.int64())}
    path = tmp_path / "rows.arrow"
    pyarrow.feather.write_feather(pa.table(columns), str(path), compression="uncompressed")
    n = "4000" if os.environ.get("HYPOTHESIS_PROFILE") == "long" else "150"
    assert run_python("-c", FLIPS, path, n).stdout == "done\n"


def test_labels_with_zero_bytes_are_refused():
    """As in the formats of lines: NumPy would drop one at the end, and make one label of two."""
    table = pa.table({"x": [1.0, 2.0], "label": ["a", "a\0"]})
    out = io.BytesIO()
    pa.parquet.write_table(table, out)
    source = TableSource(io.BytesIO(out.getvalue()), format="parquet")
    with pytest.raises(ValueError, match=r"row 2: the label 'a\\x00' .* has a NUL character"):
        list(source.blocks())
