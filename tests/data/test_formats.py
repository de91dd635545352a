"""Every format written from the same data reads back as the same rows, and gives the same model."""

import errno
import io
import json
import resource

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff
from novikoff import _core
from novikoff.data.labels import StreamClasses
from novikoff.data.sources.block import Csr
from novikoff.data.writers import row_text as rowtext
from novikoff.data.writers.row_text import Columns
from novikoff.data.writers.rows import write_source
from novikoff.training import streaming
from novikoff.training.plan import Plan
from novikoff.training.weights import Settings

SUFFIXES = {
    "libsvm": ".svm",
    "vw": ".vw",
    "jsonl": ".jsonl",
    "csv": ".csv",
    "tsv": ".tsv",
    "parquet": ".parquet",
    "arrow": ".feather",
}
WEIGHT_OPTION = ("jsonl", "csv", "tsv", "parquet", "arrow")


def rows_by_name(source):
    """Every row as (label, weight, {name: value}), without zeros, which say the same as nothing."""
    out = []
    for block in source.blocks():
        X = rowtext.sparse(block.X)
        for i in range(block.n_rows):
            part = slice(X.indptr[i], X.indptr[i + 1])
            names = source.features.names(X.indices[part].tolist())
            values = X.data[part].tolist()
            label = None if block.labels is None else block.labels.tolist()[i]
            weight = 1.0 if block.weights is None else block.weights[i].item()
            out.append((label, weight, {k: v for k, v in zip(names, values, strict=True) if v}))
    return out


def weights_by_name(source, average=True):
    """The model of two epochs in the file's order, as exact numbers: bias, and weights by name."""
    plan = Plan(max_epochs=2, order="cyclic")
    learned = streaming.fit(source, StreamClasses(), Settings(average=average), plan)
    figures = []
    for averaged in (False, True):
        coef, bias = learned.model.coef(averaged=averaged)
        names = source.features.names(range(coef.shape[1]))
        used = {name: coef[:, j].tolist() for j, name in enumerate(names) if coef[:, j].any()}
        figures.append((bias.tolist(), used))
    return learned.classes.tolist(), learned.run.history[-1]["mistakes"], figures


def jsonl(rows):
    """The same rows as JSON by Python's own writer."""
    lines = [json.dumps({"label": label, "weight": w, "features": features}) for label, w, features in rows]
    return io.BytesIO("\n".join(lines).encode())


VALUES = (
    st.sampled_from(
        [1.0, -1.0, 0.1, 1e22, -5e-324, 1.7976931348623157e308, 2.0**53, 123456.0, 1e-5, 0.0, -0.0]
    )
    | st.floats(allow_nan=False, allow_infinity=False, width=64)
    | st.integers(-1000, 1000).map(float)
)
LABELS = st.sampled_from([["spam", "ham", "naïve"], [1.0, -1.0, 2.5], [0.0, 1.0, 1e300]])
WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters=":|", exclude_categories=("Z", "C")), min_size=1
)
NAMES = st.sampled_from(["a", "b=c", "ns^x", "ü", "label2", 'quo"te', "a,b", "x.y", "7"]) | WORDS


@st.composite
def tables(draw, names=NAMES, values=VALUES):
    labels = draw(LABELS)
    is_weighted = draw(st.booleans())
    weights = st.sampled_from([1.0, 0.5, 2.0, 0.1]) if is_weighted else st.just(1.0)
    features = st.dictionaries(names, values, max_size=5)
    rows = draw(st.lists(st.tuples(st.sampled_from(labels), weights, features), min_size=1, max_size=8))
    return rows, is_weighted


def written(source, folder, format, compression=""):
    path = folder / f"x{SUFFIXES[format]}{compression}"
    return path, write_source(source, path)


@given(tables(), st.sampled_from(["", ".gz", ".bz2", ".xz", ".zst"]), st.sampled_from([1, 50, 1 << 19]))
def test_any_rows_read_back_from_any_format(tmp_path_factory, table, compression, block_size):
    """LIBSVM text aside: its features have only numbers, and its rows no weights."""
    rows, is_weighted = table
    folder = tmp_path_factory.mktemp("rows")
    weight = {"weight": "weight"} if is_weighted else {}
    source = novikoff.open_source(jsonl(rows), format="jsonl", block_size=block_size, **weight)
    want = [(label, w, {k: v for k, v in features.items() if v}) for label, w, features in rows]
    assert rows_by_name(source) == want
    for format in ("vw", "jsonl", "csv", "tsv", "parquet", "arrow"):
        if format == "tsv" and any("\t" in name for _, _, features in rows for name in features):
            continue
        if format not in ("vw", "jsonl") and not any(features for _, _, features in rows):
            continue  # a table without columns
        path, done = written(source, folder, format, "" if format in ("parquet", "arrow") else compression)
        assert (done.format, done.rows) == (format, len(rows))
        options = weight if format in WEIGHT_OPTION else {}
        assert rows_by_name(novikoff.open_source(path, **options)) == want, format


NUMBERS = st.integers(1, 30).map(str)
TAME = st.sampled_from([1.0, -1.0, 0.1, 2.5, 1e-3, 3.0, 1 / 3])


@given(tables(NUMBERS, TAME).filter(lambda t: len({label for label, _, _ in t[0]}) > 1))
def test_every_format_gives_the_same_model(tmp_path_factory, table):
    """The rows of one LIBSVM file, by way of every format, to the same weights under the same names."""
    rows, is_weighted = table
    if not any(features for _, _, features in rows):
        return
    folder = tmp_path_factory.mktemp("models")
    weight = {"weight": "weight"} if is_weighted else {}
    want = weights_by_name(novikoff.open_source(jsonl(rows), format="jsonl", **weight))
    for format in SUFFIXES:
        source = novikoff.open_source(jsonl(rows), format="jsonl", **weight)
        if format == "libsvm" and any(w != 1 for _, w, _ in rows):
            with pytest.raises(ValueError, match="the row has a weight, which LIBSVM text cannot hold"):
                written(source, folder, format)
            continue
        path, _ = written(source, folder, format)
        options = weight if format in WEIGHT_OPTION else {}
        assert weights_by_name(novikoff.open_source(path, **options)) == want, format


@pytest.mark.parametrize("through", SUFFIXES)
def test_a_file_goes_through_every_format_and_comes_back(through, tmp_path):
    rng = np.random.default_rng(1)
    lines = []
    for i in range(300):
        columns = np.sort(rng.choice(40, size=6, replace=False)) + 1
        lines.append(
            f"{i % 3 - 1} " + " ".join(f"{j}:{v!r}" for j, v in zip(columns, rng.normal(size=6), strict=True))
        )
    lines[0] = "-1 " + " ".join(f"{j}:1" for j in range(1, 41))
    text = "\n".join(lines) + "\n"
    text = text.replace("np.float64(", "").replace(")", "")
    (tmp_path / "x.svm").write_text(text)
    path, _ = written(novikoff.open_source(tmp_path / "x.svm"), tmp_path, through)
    write_source(novikoff.open_source(path), tmp_path / "back.svm")
    assert (tmp_path / "back.svm").read_text() == text


@given(st.lists(VALUES, min_size=1, max_size=20))
def test_numbers_are_the_shortest_that_read_back(values):
    """As short as repr, which is the shortest, but for whole numbers, which have no point."""
    x = np.array([values])
    head = np.zeros(0, np.uint8), np.zeros(2, np.int64)
    words = _core.RowFormat(b" ", b"").dense(x, *head).decode().split(" ")
    assert [float(word).hex() for word in words] == [value.hex() for value in values]
    for word, value in zip(words, values, strict=True):
        if value == int(value) and abs(value) < 2**53:
            assert word == ("-0" if str(value) == "-0.0" else str(int(value)))
        else:
            assert len(word) <= len(repr(value).removesuffix(".0"))
        assert rowtext.shortest(value) in (word, repr(value).removesuffix(".0"))


def test_tables_are_written_as_their_features(tmp_path):
    table = b"age,job,class\n41,cook,yes\n,nurse,no\n"
    write_source(novikoff.open_source(io.BytesIO(table), format="csv"), tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == (
        "label,age,job=cook,age=null,job=nurse\nyes,41,1,0,0\nno,0,0,1,1\n"
    )
    source = novikoff.open_source(io.BytesIO(table), format="csv")
    write_source(source, tmp_path / "x.svm", names=tmp_path / "x.names")
    assert (tmp_path / "x.svm").read_text() == "yes 1:41 2:1\nno 3:1 4:1\n"
    assert (tmp_path / "x.names").read_text() == "1\tage\n2\tjob=cook\n3\tage=null\n4\tjob=nurse\n"


def test_numbering_features_of_libsvm_text(tmp_path):
    def text(content, **options):
        write_source(novikoff.open_source(io.BytesIO(content), format="vw"), tmp_path / "x.svm", **options)
        return (tmp_path / "x.svm").read_text()

    assert text(b"1 |\n1 | 7:2 3\n2 | 3:0.5 9\n") == "1\n1 3:1 7:2\n2 3:0.5 9:1\n"
    assert text(b"1 | 7:2 3\n2 | 3:0.5 9\n", number_by="column") == "1 1:2 2:1\n2 2:0.5 3:1\n"
    assert text(b"1 | b a\n2 | a:0.5 9\n") == "1 1:1 2:1\n2 2:0.5 3:1\n"
    for name in ("a", "0", "07", "-1", "1.0", "9" * 19):
        with pytest.raises(ValueError, match=f"line 2: the feature '{name}' is not a number from 1"):
            text(f"1 | 7:2 3\n2 | 3 {name}\n".encode())
    write_source(novikoff.open_source(io.BytesIO(b"1 0:2 5:1\n"), zero_based=True), tmp_path / "x.svm")
    assert (tmp_path / "x.svm").read_text() == "1 0:2 5:1\n"


def test_hashed_features_go_by_their_first_name(tmp_path):
    source = novikoff.open_source(io.BytesIO(b"1 | a b\n2 | c:2\n"), format="vw", hash_bits=20)
    write_source(source, tmp_path / "x.vw")
    assert (tmp_path / "x.vw").read_text() == "1 | a:1 b:1\n2 | c:2\n"


def test_rows_without_labels(tmp_path):
    def source():
        return novikoff.open_source(io.BytesIO(b"1:2 2:1\n2:4\n"), format="libsvm", labelled=False)

    want = {
        "libsvm": " 1:2 2:1\n 2:4\n",
        "vw": "| 1:2 2:1\n| 2:4\n",
        "jsonl": '{"features": {"1": 2, "2": 1}}\n{"features": {"2": 4}}\n',
        "csv": "1,2\n2,1\n0,4\n",
    }
    for format, text in want.items():
        path, _ = written(source(), tmp_path, format)
        assert path.read_text() == text


def test_what_a_format_cannot_say_is_refused(tmp_path):
    def refused(rows, name, match, **options):
        before = sorted(tmp_path.iterdir())
        source = novikoff.open_source(jsonl(rows), format="jsonl", weight="weight")
        with pytest.raises(ValueError, match=match):
            write_source(source, tmp_path / name, **options)
        assert sorted(tmp_path.iterdir()) == before, "nothing half-written"

    for name in ("a b", "a:b", "a|b", "a\tb", "\n"):
        refused(
            [("x", 1, {"fine": 1}), ("y", 1, {name: 1})], "x.vw", "the feature .* cannot be written as VW"
        )
    for label in ("a b", "a:b", "a|b", "'a", "a,b"):
        refused([("x", 2, {"fine": 1}), (label, 1, {"a": 1})], "x.vw", "line 2: the label .* written as VW")
    for label in ("a b", "a:b", "a#b"):
        refused([("x", 1, {"1": 1}), (label, 1, {"2": 1})], "x.svm", "the label .* written as LIBSVM")
    refused([("x", 2, {"1": 1})], "x.svm", "line 1: the row has a weight, which LIBSVM text cannot hold")
    for name in ("a\nb", " a", "a ", "\t"):
        refused([("x", 1, {name: 1})], "x.csv", "the feature .* cannot be written here: cells")
    refused([("x", 1, {"a\tb": 1})], "x.tsv", "the feature .* cannot be written here: cells")
    refused([("x y\n", 1, {"a": 1})], "x.csv", "line 1: the label .* cannot be written here")
    refused([("x", 1, {"a;b;c;d": 1})], "x.csv", "so many ';' or tabs")
    for format in ("csv", "parquet"):
        refused([("x", 1, {"label": 1})], f"x.{format}", "two columns would be named 'label'")
    refused([("x", 1, {})], "x.csv", "no row has a feature")
    refused([("x", 1, {"a": 1})], "x.dat", "the format to write cannot be recognized from the name")
    refused([("x", 1, {"a": 1})], "x.svm", "format='xml' is not known", format="xml")
    refused([("x", 1, {"a": 1})], "x.parquet.gz", "is not compressed as a whole")
    refused([("x", 1, {"a": 1})], "x.svm", "number_by='x' is not possible", number_by="x")
    refused([("x", 1, {"a": 1})], "x.vw", "vw contains the names itself", names=tmp_path / "n")
    wide = [("x", 1, {str(k): 1 for k in range(10_001)})]
    refused(
        wide, "x.csv", "10,001 features, and a table with more than 10,000 columns.*write libsvm, vw or jsonl"
    )
    source = novikoff.open_source(jsonl([("x", 1, {"label": 1})]), format="jsonl")
    write_source(source, tmp_path / "x.csv", columns=Columns(label="class"))
    assert (tmp_path / "x.csv").read_text() == "class,label\nx,1\n"


def test_a_stream_that_can_be_read_once(tmp_path, monkeypatch):
    class Once(io.BytesIO):
        def seekable(self):
            return False

    source = novikoff.open_source(Once(b"1 1:1\n2 2:1\n"), format="libsvm")
    with pytest.raises(ValueError, match="read only once, which is not enough for a table"):
        write_source(source, tmp_path / "x.csv")
    assert write_source(source, tmp_path / "x.vw").rows == 2


def test_a_full_disk_leaves_the_old_file(tmp_path):
    text = b"".join(b"%d 1:%d.125\n" % (i % 2, i) for i in range(20_000))
    path = tmp_path / "x.vw"
    path.write_text("1 | old\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))
    try:
        with pytest.raises(
            OSError, match="nothing was saved, and what was there before is untouched"
        ) as info:
            write_source(novikoff.open_source(io.BytesIO(text)), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert info.value.errno == errno.EFBIG
    assert path.read_text() == "1 | old\n" and list(tmp_path.iterdir()) == [path]


def test_a_bad_line_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.vw"
    path.write_text("1 | old\n")
    source = novikoff.open_source(io.BytesIO(b"1 1:1\n" * 100_000 + b"1 oops\n"))
    with pytest.raises(ValueError, match="line 100001: expected index:value"):
        write_source(source, path)
    assert path.read_text() == "1 | old\n" and list(tmp_path.iterdir()) == [path]


def test_formatting_checks_what_it_is_given():
    head = np.zeros(0, np.uint8), np.zeros(2, np.int64)
    one, zero = np.ones(1), np.zeros(1, np.int64)
    ends = np.array([0, 1])
    for arguments in (
        (one, zero, np.array([0, 2]), *head, None),
        (one, zero, np.zeros(0, np.int64), *head, None),
        (one, zero, ends, head[0], np.array([0, 5]), None),
        (one, zero + 1, ends, *head, head),
        (one, zero - 1, ends, *head, head),
        (one, np.zeros(2, np.int64), ends, *head, None),
    ):
        with pytest.raises(ValueError):
            _core.RowFormat(b"", b"", arguments[-1]).sparse(*arguments[:-1])
    with pytest.raises(ValueError):
        _core.RowFormat(b"", b"").dense(np.ones((2, 1)), *head)


def test_sparse_of_dense_rows():
    X = rowtext.sparse(np.array([[0.0, 2.0], [0.0, 0.0], [3.0, 4.0]]))
    assert isinstance(X, Csr) and X.data.tolist() == [2, 3, 4]
    assert X.indices.tolist() == [1, 0, 1] and X.indptr.tolist() == [0, 1, 1, 3]
