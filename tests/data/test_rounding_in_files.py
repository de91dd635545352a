"""Numbers in files that no double holds: refused exactly, or rounded on request and told."""

import io
import warnings
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff
from novikoff.data.rounding import RoundingWarning
from support.children import run_python

ODD = 2**53 + 1  # the first integer that no double holds
LONG = np.finfo(np.longdouble).nmant > 52  # whether a long double holds more than a double
PAIR = np.array([[2**53], [ODD]])


# ---- files ---------------------------------------------------------------------------------------------
def read(text, format, **options):
    if isinstance(text, str):
        text = text.encode()
    source = novikoff.open_source(io.BytesIO(text), format=format, **options)
    return source, list(source.blocks())


INTEGER_TEXT = [
    ("libsvm", "1 1:1\n-1 1:{}\n", 2),
    ("libsvm", "1 1:1\n\n-1 1:{} 2:1 # ends here\n", 3),
    ("vw", "1 | a:1\n-1 | a:{}\n", 2),
    ("vw", "1 |n a:1\n-1 {} |n a:1\n", 2),
    ("vw", "1 |n a:1\n-1 |n:{} a:1\n", 2),
    ("jsonl", '{{"label": 1, "a": 1}}\n{{"label": 0, "a": {}}}\n', 2),
    ("jsonl", '{{"label": 1, "a": [1, {{"b": {}}}]}}\n', 1),
    ("csv", "a,y\n1,0\n{},1\n", 3),
    ("csv", "a,b,y\n1,x,0\n{},x,1\n", 3),
    ("csv", "a,b,y\n0.5,x,0\n{},x,1\n,x,1\n", 3),
    ("tsv", "a\ty\n0.5\t0\n{}\t1\n", 3),
]


@pytest.mark.parametrize(("format", "text", "line"), INTEGER_TEXT)
@pytest.mark.parametrize("number", [str(ODD), f"-{ODD}", "1" + "0" * 30 + "1", "18446744073709551617"])
def test_integer_text_that_no_double_holds(format, text, line, number):
    if number.startswith("-") and ("{} |" in text or "-1 {}" in text):
        number = number[1:]  # a weight
    labelled = text.format(number)
    with pytest.raises(ValueError, match=rf"line {line}: .*{number}.*no double holds.*rounding='nearest'"):
        read(labelled, format)
    with pytest.warns(
        RoundingWarning, match=rf"1 value rounded to the nearest double; .*{number}.*line {line}"
    ):
        source, blocks = read(labelled, format, rounding="nearest")
    assert source.rounded.count == 1
    _, decimal = read(text.format(number + ".0"), format)  # which means the nearest double
    for one, other in zip(blocks, decimal, strict=True):
        np.testing.assert_array_equal(dense(one.X), dense(other.X))


@pytest.mark.parametrize(("format", "text", "line"), INTEGER_TEXT)
@pytest.mark.parametrize(
    "number", [str(2**53), str(2**53 + 2), str(2**200), "0" * 30 + "7", f"{ODD}.5", f"{ODD}e0"]
)
def test_text_that_doubles_hold_or_that_is_decimal(format, text, line, number):
    if format == "jsonl" and number.startswith("00"):
        return  # JSON has no such numbers
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, blocks = read(text.format(number), format)
    values = np.concatenate([dense(block.X).ravel() for block in blocks])
    assert float(number) in values or "{} |" in text or "-1 {}" in text


def dense(X):
    return (
        X
        if isinstance(X, np.ndarray)
        else sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape).toarray()
    )


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("libsvm", "1 1:1\n{} 1:2\n"),
        ("vw", "1 | a\n{} | b\n"),
        ("jsonl", '{{"label": 1, "a": 1}}\n{{"label": {}, "a": 2}}\n'),
        ("jsonl", '{{"label": 1, "a": 1}}\n{{"label": "{}", "a": 2}}\n'),
        ("csv", "a,y\n1,0\n2,{}\n"),
        ("csv", "a,b,y\n1,x,0\n2,x,{}\n"),
    ],
)
def test_labels_in_files_are_never_rounded(format, text):
    for options in ({}, {"rounding": "nearest"}):
        with pytest.raises(ValueError, match=r"line [23]: .*label 9007199254740993 .*no double holds.*text"):
            read(text.format(ODD), format, **options)
    read(text.format(2**60), format)


def test_what_is_ignored_may_be_anything():
    line = f'{{"id": {ODD}, "label": 1, "features": {{"a": 1}}, "more": {ODD}}}\n'
    read(line + line.replace('"label": 1', '"label": 0'), "jsonl")
    read(f'{{"id": {ODD}, "label": 1, "a": 1}}\n', "jsonl", ignore=["id"])
    read(f"id,a,y\n{ODD},1,0\n{ODD + 1},2,1\n", "csv", ignore=["id"])
    read(f"id,a,y\n{ODD},1,0\n{ODD + 1},2,1\n", "csv", categorical=["id"])


def test_lines_that_are_skipped_are_not_rounded():
    text = f"1 1:{ODD} 2:x\n-1 1:{ODD}\n1 1:{ODD} 2:3\n"
    with pytest.warns(RoundingWarning, match=r"2 values.*first is 9007199254740993 at <BytesIO>, line 2"):
        source, _ = read(text, "libsvm", rounding="nearest", skip_bad_lines=True)
    assert source.skipped.count == 1


def test_load_refuses_and_rounds(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text(f"1 1:{ODD}\n-1 1:3\n")
    with pytest.raises(
        ValueError, match=r"a\.svm, line 1: value 9007199254740993 is an integer that no double"
    ):
        novikoff.load(path)
    with pytest.warns(RoundingWarning, match=r"1 value .*9007199254740993 at .*a\.svm, line 1"):
        X, _ = novikoff.load(path, rounding="nearest")
    assert X.data.tolist() == [2.0**53, 3.0]
    source = novikoff.open_source(path, rounding="nearest")
    with pytest.warns(RoundingWarning):
        list(source.blocks())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(source.blocks())  # once is enough
    with pytest.raises(ValueError, match="rounding='up' is not possible"):
        novikoff.load(path, rounding="up")
    for format in ("libsvm", "vw", "jsonl", "csv"):
        with pytest.raises(ValueError, match="rounding='up' is not possible"):
            read("1", format, rounding="up")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_typed_columns(tmp_path, kind):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet

    path = tmp_path / f"a.{kind}"
    write = pyarrow.parquet.write_table if kind == "parquet" else pyarrow.feather.write_feather

    def rows(column, **options):
        write(pa.table({"a": column, "y": [0, 1, 1]}), path)
        source = novikoff.open_source(path, **options)
        return np.concatenate([dense(block.X)[:, 0] for block in source.blocks()])

    bad = {
        "int64": (pa.array([1, ODD, 2]), "9007199254740993"),
        "uint64": (pa.array([1, 2**63 + 1, 2], pa.uint64()), "9223372036854775809"),
        "nulls": (pa.array([None, ODD, 2]), "9007199254740993"),
        "decimal": (
            pa.array([Decimal(1), Decimal(ODD), Decimal(2)], pa.decimal128(20, 0)),
            "9007199254740993",
        ),
        "nanoseconds": (pa.array([0, 1_800_000_000_000_000_001, 2], pa.timestamp("ns")), "2027-01-15"),
        "microseconds of the year 9000": (
            pa.array([0, 222_000_000_000_000_001, 2], pa.timestamp("us")),
            "9004",
        ),
        "durations": (pa.array([0, 1_800_000_000_000_000_001, 2], pa.duration("ns")), "20833 days"),
    }
    for name, (column, shown) in bad.items():
        with pytest.raises(ValueError, match=rf"row 2: the column 'a' is {shown}.*no double holds"):
            rows(column)
            pytest.fail(name)
        with pytest.warns(RoundingWarning, match=rf"1 value .*{shown}.*row 2"):
            rows(column, rounding="nearest")
    good = {
        "int64": pa.array([1, 2**60, -(2**63)]),
        "uint64": pa.array([1, 2**63, 2**53 + 2], pa.uint64()),
        "decimal": pa.array([Decimal("0.1"), Decimal("9007199254740993.5"), None], pa.decimal128(20, 1)),
        "whole seconds in ns": pa.array([0, 1_800_000_000_000_000_000, None], pa.timestamp("ns")),
        "microseconds": pa.array([0, 1_800_000_000_000_001, -1_800_000_000_000_001], pa.timestamp("us")),
        "microseconds in ns": pa.array([0, 1_800_000_000_000_001_000, 5000], pa.timestamp("ns")),
        "milliseconds of the year 9000": pa.array([0, 222_000_000_000_001, 2], pa.timestamp("ms")),
        "seconds of the year 9000 in us": pa.array([0, 222_000_000_001_000_000, 2], pa.timestamp("us")),
        "times of day": pa.array([1, 86_399_999_999_999, 2], pa.time64("ns")),
        "days": pa.array([1, 2**31 - 1, -5], pa.date32()),
        "durations": pa.array([1, 2**50 + 1, -5], pa.duration("ns")),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for column in good.values():
            rows(column)


def test_a_label_of_a_typed_column(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pa.table({"a": [1, 2], "y": [0, ODD]}), path)
    with pytest.raises(ValueError, match=r"row 2: the label 9007199254740993 .*no double holds"):
        list(novikoff.open_source(path).blocks())


def test_a_cache_tells_what_was_rounded(tmp_path):
    from novikoff.data.sources.cache import cached

    path = tmp_path / "a.svm"
    path.write_text(f"1 1:{ODD}\n-1 1:3\n")
    for _ in range(2):  # written, then read
        source = cached(novikoff.open_source(path, rounding="nearest"))
        with pytest.warns(RoundingWarning, match=r"1 value .*line 1"):
            list(source.blocks())
    with pytest.raises(ValueError, match=r"line 1: .*no double"):  # another option, another cache
        list(cached(novikoff.open_source(path)).blocks())


def test_commands(tmp_path):
    path, model = tmp_path / "a.svm", tmp_path / "a.novikoff"
    path.write_text(f"1 1:{ODD}\n-1 1:3\n")
    done = run("fit", path, "--model", model)
    assert done.returncode == 1
    assert done.stderr == (
        f"novikoff: error: {path}, line 1: value 9007199254740993 is an integer that no double holds: "
        "subtract an offset or scale it first, or ask for --rounding nearest.\n"
    )
    done = run("fit", path, "--model", model, "--rounding", "nearest", "--quiet")
    assert done.returncode == 0
    said = "1 value rounded to the nearest double; the first is 9007199254740993"
    assert done.stderr == f"novikoff: warning: {said} at {path}, line 1.\n"
    done = run("predict", model, path)  # as the model was made
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2
    done = run("fit", path, "--rounding", "up")
    assert done.returncode == 2


def run(*arguments):
    return run_python("-m", "novikoff", *arguments, code=None)
