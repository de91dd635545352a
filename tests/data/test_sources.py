"""Sources: however the text is cut, packed, spread over files and parsed, the rows are the same."""

import bz2
import gzip
import io
import lzma
import os
import re
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff
from novikoff.data.sources import bytestream, formats
from novikoff.data.sources.features import NumberedFeatures
from novikoff.data.sources.text import ParsedInOrder, TextSource
from support.children import run_python, threads


def zstandard(data):
    return pytest.importorskip("pyarrow").compress(data, "zstd", asbytes=True)


PACKED = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard,
}


def rows(source, *, reuse=False):
    """Every row as (label, indices, values, place), which copies what a block may take back."""
    out = []
    for block in source.blocks(reuse=reuse):
        X = block.X
        assert X.shape[0] == block.n_rows > 0 and X.indptr[0] == 0 and X.indptr[-1] == X.nnz
        for i in range(block.n_rows):
            part = slice(X.indptr[i], X.indptr[i + 1])
            label = None if block.labels is None else block.labels.tolist()[i]
            out.append((label, X.indices[part].tolist(), X.data[part].tolist(), block.where(i)))
    return out


LINES = st.lists(
    st.sampled_from([b"", b"# comment", b"  "])
    | st.builds(
        lambda label, pairs: b" ".join([label, *(b"%d:%d.5" % (j, v) for j, v in sorted(pairs.items()))]),
        st.sampled_from([b"1", b"-1", b"2.5"]),
        st.dictionaries(st.integers(1, 99), st.integers(-9, 9), max_size=5),
    ),
    min_size=1,
    max_size=20,
).filter(lambda lines: any(line.strip() and not line.startswith(b"#") for line in lines))


@given(
    LINES,
    st.lists(st.integers(0, 20), max_size=3),
    st.lists(st.sampled_from(list(PACKED)), min_size=4, max_size=4),
    st.integers(1, 80),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
    st.booleans(),
)
def test_any_cutting_gives_the_same_rows(tmp_path_factory, lines, cuts, forms, size, jobs, reuse, newline):
    """Into files (compressed or not, the last line with its end or not), blocks and threads."""
    whole = rows(novikoff.open_source(io.BytesIO(b"\n".join(lines)), format="libsvm", n_jobs=1))
    assert [where for *_, where in whole] == [
        f"<BytesIO>, line {k}" for k, line in enumerate(lines, 1) if line.strip() and line[:1] != b"#"
    ]
    folder = tmp_path_factory.mktemp("files")
    paths, places = [], {}
    for begin, end in pairwise(sorted({0, len(lines), *(min(cut, len(lines)) for cut in cuts)})):
        path = folder / f"{begin:02}.svm{forms[len(paths)]}"
        text = b"\n".join(lines[begin:end]) + (b"\n" if newline else b"")
        path.write_bytes(PACKED[forms[len(paths)]](text))
        paths.append(path)
        places |= {f"<BytesIO>, line {k + 1}": f"{path}, line {k - begin + 1}" for k in range(begin, end)}
    want = [(*row, places[where]) for *row, where in whole]
    for given_paths in (paths, str(folder / "*.svm*")):
        source = novikoff.open_source(given_paths, n_jobs=jobs, block_size=size)
        assert isinstance(source, TextSource) and source.format == "libsvm" and source.can_reread
        assert rows(source, reuse=reuse) == want
        assert rows(source, reuse=not reuse) == want, "a second pass"
        assert source.size == sum(path.stat().st_size for path in paths)
        assert [block.consumed for block in source.blocks()][-1] <= source.size
    got = novikoff.load(paths, n_jobs=jobs, block_size=size)
    once = novikoff.load(io.BytesIO(b"\n".join(lines)))
    assert (got[0] != once[0]).nnz == 0 and got[1].tolist() == once[1].tolist()


def test_blocks_without_reuse_keep_their_rows_and_places():
    text = b"".join(b"%d 1:%d\n" % (i % 2, i) for i in range(200))
    blocks = list(novikoff.open_source(io.BytesIO(text), block_size=64).blocks())
    assert len(blocks) > 10
    assert np.concatenate([block.X.data for block in blocks]).tolist() == list(range(200))
    assert [block.where(i) for block in blocks for i in range(block.n_rows)] == [
        f"<BytesIO>, line {i + 1}" for i in range(200)
    ]
    assert [block.consumed for block in blocks][-1] == len(text)
    assert all(a.consumed < b.consumed for a, b in pairwise(blocks))


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("jobs", [1, 3])
def test_the_first_error_of_the_files_is_the_one_raised(size, jobs, tmp_path):
    (tmp_path / "a.svm").write_bytes(b"1 1:1\n" * 50)
    (tmp_path / "b.svm").write_bytes(b"1 1:1\n" * 20 + b"1 oops\n" + b"1 1:1\n" * 20 + b"1 2:oops\n")
    source = novikoff.open_source(str(tmp_path / "*.svm"), n_jobs=jobs, block_size=size)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"b\.svm, line 21: expected index:value, found 'oops'"):
            list(source.blocks())


@pytest.mark.parametrize("jobs", [1, 4])
def test_leaving_early_ends_the_threads(jobs, monkeypatch):
    """Even where someone else still holds what was reading, as a closed generator of Python 3.12.3 does."""
    before = threads()
    source = novikoff.open_source(io.BytesIO(b"1 1:1\n" * 10_000), n_jobs=jobs, block_size=100)
    for _ in range(5):
        for k, block in enumerate(source.blocks(reuse=True)):
            assert block.n_rows
            if k == 10:
                break
    held, read = [], ParsedInOrder._pass
    monkeypatch.setattr(ParsedInOrder, "_pass", lambda *given: held.append(read(*given)) or held[0])
    blocks = source.blocks()
    next(blocks), next(blocks), next(blocks)
    blocks.close()
    assert held and threads() <= before
    monkeypatch.undo()
    assert len(rows(source)) == 10_000


@pytest.mark.parametrize("size", [1, 30, 1000])
@pytest.mark.parametrize("jobs", [1, 3])
def test_bad_lines_can_be_skipped(size, jobs):
    good = [b"1 1:%d" % i for i in range(40)]
    lines = [b"oops 5:", *good[:3], b"spam 1:1", b"1 2:1 1:1", b"# c", *good[3:], *([b"1 x"] * 12)]
    source = novikoff.open_source(
        io.BytesIO(b"\n".join(lines)), skip_bad_lines=True, n_jobs=jobs, block_size=size, format="libsvm"
    )
    for _ in range(2):
        assert [values for _, _, values, _ in rows(source)] == [[i] for i in range(40)]
        assert source.skipped.count == 15 and len(source.skipped.first) == 10
        assert source.skipped.first[:3] == [
            "<BytesIO>, line 1: expected a number as value, found the end of the line.",
            "<BytesIO>, line 5: expected a number as label, found 'spam'.",
            "<BytesIO>, line 6: index 1 after 2: indices must increase in a line.",
        ]
    empty = novikoff.open_source(io.BytesIO(b"1 x\n1 y\n"), skip_bad_lines=True, format="libsvm")
    with pytest.raises(ValueError, match=r"at least one row, .* skipped \(<BytesIO>, line 1: .*'x'"):
        list(empty.blocks())


@pytest.mark.parametrize("size", [1, 20, 1000])
def test_labels_are_of_one_kind(size):
    """Numbers or text, as the first row has it."""

    def labels(text, **options):
        source = novikoff.open_source(io.BytesIO(text), format="libsvm", block_size=size, n_jobs=2, **options)
        return [label for label, *_ in rows(source)]

    assert labels(b"ham 1:1\nspam 1:1\nna\xc3\xafve\n3rd\n\xf0\x9f\x8e\x89") == [
        "ham", "spam", "na\xefve", "3rd", "\U0001f389"
    ]  # fmt: skip
    assert labels(b"1 1:1\n-2.5\n") == [1, -2.5]
    with pytest.raises(ValueError, match="line 3: expected a number as label, found 'spam'"):
        labels(b"1 1:1\n\nspam 1:1\n2 2:2\n")
    with pytest.raises(ValueError, match="line 2: expected text as label, as in the rows before, found '1'"):
        labels(b"spam 1:1\n1 1:1\n")
    with pytest.raises(ValueError, match="line 2: expected a number as label, found '1:1'"):
        labels(b"spam 1:1\n1:1\n")
    assert labels(b"1:1 2:1\nqid:3 1:4\n", labelled=False) == [None, None]
    assert labels(b"1 1:1 2:1\n2 3:4\n", labelled=False) == [1, 2]
    with pytest.raises(ValueError, match="line 2: expected no label, as in the rows before, found '1'"):
        labels(b"1:1\n1 1:1\n", labelled=False)
    with pytest.raises(ValueError, match="line 2: expected a label, as in the rows before, found '1:1'"):
        labels(b"1 1:1\n1:1\n", labelled=False)
    X, y = novikoff.load(io.BytesIO(b"ham 1:1\nspam 2:1\n"), block_size=size)
    assert y.tolist() == ["ham", "spam"] and y.dtype == "U4" and X.shape == (2, 2)


def test_features_of_libsvm_text():
    text = b"1 1:1 3:1\n2 7:1\n"
    source = novikoff.open_source(io.BytesIO(text), block_size=1, n_jobs=1)
    assert [block.X.shape for block in source.blocks()] == [(1, 3), (1, 7)]
    assert source.features.n_columns == 7 and source.features.names([0, 6]) == ["1", "7"]
    again = novikoff.open_source(
        io.BytesIO(text), features=NumberedFeatures.from_state(*source.features.state())
    )
    assert [block.X.shape for block in again.blocks()] == [(2, 7)]
    narrow = NumberedFeatures(5, fixed=True)  # a model's: what it has not met has no column
    (block,) = novikoff.open_source(io.BytesIO(text), features=narrow).blocks()
    assert block.X.shape == (2, 5) and block.X.indices.max(initial=0) < 5
    assert block.X.nnz == block.X.indptr[-1] == len(block.X.indices)
    with pytest.raises(ValueError, match="line 2: index 7 is too large for n_features=5"):
        list(novikoff.open_source(io.BytesIO(text), n_features=5).blocks())
    assert next(novikoff.open_source(io.BytesIO(b"1 0:1"), zero_based=True).blocks()).X.indices.tolist() == [
        0
    ]
    with pytest.raises(ValueError, match="zero_based=True, but the model counts features from 1"):
        novikoff.open_source(io.BytesIO(text), features=narrow, zero_based=True)
    with pytest.raises(ValueError, match="n_features=4, but the model has 5"):
        novikoff.open_source(io.BytesIO(text), features=narrow, n_features=4)


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (b"+1 3:0.5 7:1e-3\n", "libsvm"),
        (b"# comment\n\nspam qid:1 3:-.5 # x", "libsvm"),
        (b"1\n0 17:1\n", "libsvm"),
        (b"3:1 4:1\n", "libsvm"),
        (b"1 " + b" ".join(b"%d:1.5" % j for j in range(1, 20_000)), "libsvm"),
        (b"1 | price:.23 sqft:.25\n", "vw"),
        (b"-1 2.5 'tag|ns a b c\n", "vw"),
        (b"1 |a 3:1\n", "vw"),
        (b'{"a": 1}\n', "jsonl"),
        (b"a,b,c\n1,2,3\n", "csv"),
        (b"a\tb\n1\t2\n", "tsv"),
        (b",".join(b"column%d" % j for j in range(20_000)) + b"\n1,2\n", "csv"),
        (b"x" * 65_000 + b"," + b"y" * 65_000 + b"\n1,2\n", "csv"),
        (b'{"' + b"x" * 70_000 + b'":1}\n', "jsonl"),
        (b"PAR1....", "parquet"),
        (b"ARROW1\0\0", "arrow"),
        (b"just words\n", None),
        (b"", None),
    ],
)  # fmt: skip
def test_formats_are_told_from_the_content(content, format):
    assert formats._by_content(content[: formats.HEAD], len(content) <= formats.HEAD) == format
    if format not in (None, "parquet", "arrow"):
        assert novikoff.open_source(io.BytesIO(content), labelled=False).format == format


def test_formats_are_told_from_the_name(tmp_path):
    for name, format in (("x.svm", "libsvm"), ("x.LIBSVM.gz", "libsvm"), ("a/x.vw.zst", "vw"),
                         ("x.tab", "tsv"), ("x.ndjson.bz2", "jsonl"), ("x.feather", "arrow"),
                         ("x.parquet", "parquet"), ("x.csv.xz", "csv"), ("x.xz", None)):  # fmt: skip
        assert formats.format_of_name(name) == format
    (tmp_path / "a.svm").write_bytes(b"1 1:1\n")
    (tmp_path / "b.csv").write_bytes(b"a,b\n")
    with pytest.raises(ValueError, match=r"a\.svm is libsvm and .*b\.csv is csv"):
        novikoff.open_source([tmp_path / "a.svm", tmp_path / "b.csv"])
    with pytest.raises(
        ValueError, match=r"neither the name nor the first lines determine the format.*libsvm, vw"
    ):
        novikoff.open_source(io.BytesIO(b"what is this"))
    with pytest.raises(ValueError, match="format='xml' is not known: expected one of libsvm"):
        novikoff.open_source(tmp_path / "a.svm", format="xml")
    with pytest.raises(
        ValueError, match="text_columns is not an option of the format 'libsvm', which has block"
    ):
        novikoff.open_source(tmp_path / "a.svm", text_columns=["a"])


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No such file.*absent"):
        novikoff.open_source(tmp_path / "absent.svm")
    with pytest.raises(FileNotFoundError, match=r"No file matches this pattern: .*\*\.svm"):
        novikoff.open_source(str(tmp_path / "*.svm"))
    with pytest.raises(IsADirectoryError, match="Is a directory; name its files"):
        novikoff.open_source(tmp_path)
    with pytest.raises(ValueError, match="paths is empty"):
        novikoff.open_source([])
    with pytest.raises(ValueError, match="twice"):
        novikoff.open_source(["-", "-"])
    empty = tmp_path / "empty.svm"
    empty.write_bytes(b"")
    with pytest.raises(ValueError, match=r"empty\.svm: expected at least one row"):
        list(novikoff.open_source(empty).blocks())
    (tmp_path / "[odd].svm").write_bytes(b"1 1:1\n")
    assert len(rows(novikoff.open_source(str(tmp_path / "[odd].svm")))) == 1, "a name before a pattern"


def test_a_file_that_changes_between_passes(tmp_path):
    path = tmp_path / "a.svm"
    path.write_bytes(b"1 1:1\n")
    source = novikoff.open_source(path)
    list(source.blocks())
    digest = source.digest()
    path.write_bytes(b"1 1:2\n2 1:1\n")
    for again in (lambda: list(source.blocks()), source.digest):
        with pytest.raises(ValueError, match=r"a\.svm: the file has changed"):
            again()
    assert novikoff.open_source(path).digest() != digest
    path.write_bytes(b"1 1:1\n")
    assert (
        novikoff.open_source(path).digest() == novikoff.open_source(io.BytesIO(b"1 1:1\n")).digest() == digest
    )


@pytest.mark.parametrize("form", [".gz", ".bz2", ".xz", ".zst"])
def test_compressed_data_that_expands_too_much(form, tmp_path, monkeypatch):
    monkeypatch.setattr(bytestream, "NEVER_REFUSED", 1000)
    path = tmp_path / f"a.svm{form}"
    path.write_bytes(PACKED[form](b"1 1:1\n" * 200_000))
    ratio = 1_200_000 // path.stat().st_size
    with pytest.raises(ValueError, match=f"expands to more than max_expansion={ratio // 2} times"):
        list(novikoff.open_source(path, max_expansion=ratio // 2).blocks())
    assert len(novikoff.load(path, max_expansion=ratio + 1)[1]) == 200_000
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match="ends too early: the file is cut short"):
        novikoff.load(path, max_expansion=10**6)


def test_zstandard_needs_pyarrow(tmp_path, monkeypatch):
    path = tmp_path / "a.svm.zst"
    path.write_bytes(PACKED[".zst"](b"1 1:1\n"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'novikoff[files]'")):
        list(novikoff.open_source(path).blocks())


@pytest.mark.parametrize("size", [1, 9, 1000])
def test_lines_that_are_too_long(size):
    for jobs in (1, 2):
        source = novikoff.open_source(
            io.BytesIO(b"1 1:1\n1 1:2\n1 1:12345678\n"), max_line=11, block_size=size, n_jobs=jobs
        )
        with pytest.raises(ValueError, match="line 3: the line has more than max_line=11 bytes"):
            list(source.blocks())


def test_standard_input():
    """Recognised without losing a byte, read once, and nothing heavy is loaded for it."""
    program = """
import sys, novikoff
source = novikoff.open_source("-", n_jobs=2, block_size=50)
assert source.format == "libsvm" and source.size is None and not source.can_reread
blocks = list(source.blocks())
print(sum(b.n_rows for b in blocks), blocks[-1].where(0).split(",")[0])
try:
    next(source.blocks())
except ValueError as error:
    print(error)
print([name for name in ("scipy", "sklearn", "pyarrow") if name in sys.modules])
"""
    text = b"".join(b"1 1:%d\n" % i for i in range(20_000))
    for data in (text, gzip.compress(text)):
        done = run_python("-c", program, input=data, text=False)
        assert done.stdout.decode().splitlines() == [
            "20000 standard input",
            "standard input can be read only once; save it to a file to read it again.",
            "[]",
        ]


def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"1 1:1\n" * 1000,))
    writer.start()
    source = novikoff.open_source(path)
    assert source.format == "libsvm" and not source.can_reread
    assert len(rows(source)) == 1000
    writer.join()
    with pytest.raises(ValueError, match="pipe can be read only once"):
        next(source.blocks())


def test_reader_gives_the_unpacked_bytes_after_a_look_at_them(tmp_path):
    for name, text in (("a.gz", b"one\ntwo"), ("b.gz", b"\nthree\n")):
        (tmp_path / name).write_bytes(gzip.compress(text))
    stream = bytestream.ByteStream(str(tmp_path / "*.gz"))
    assert stream.head(4) == b"one\n"
    with stream.reader() as file:
        assert file.read() == b"one\ntwo\nthree\n"
