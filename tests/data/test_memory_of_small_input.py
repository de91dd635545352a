"""A small input never costs much memory: what is allocated is in proportion to the file.

Each case runs in a child whose peak memory is compared with that of the same work on an ordinary file of the
same size. The address space of the child is limited, so that a failure is an error and no dead machine.
"""

import gzip
import io
import resource

import numpy as np
import pytest

import novikoff
from novikoff.data.sources.block import gather
from novikoff.data.sources.features import NumberedFeatures
from novikoff.data.text_labels import NARROW, ROOM, TextLabels, concatenated, taken, text_array
from support.children import run_python

LIMIT = 6 << 30  # bytes of address space: 4 times what an ordinary run maps, half of what the labels took
SLACK = 64 << 10  # KiB by which two runs of the same work may differ
LONG, SHORT = "L" * 10_000, "c"
ROWS = 60_000

CHILD = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
sys.argv[1:] = sys.argv[2:]
try:
    runpy.run_module("novikoff", run_name="__main__")
except SystemExit as end:
    if end.code:
        raise
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def run(*arguments, check=True):
    """A command in a child: its output, and its peak memory in KiB."""
    done = run_python("-c", CHILD, LIMIT, *arguments, code=0 if check else None)
    if not check:
        return done
    return done.stdout, int(done.stdout.rsplit("peak ", 1)[1])


def rows_of(label):
    """Rows of two classes that are told apart, and a few of a third."""
    two = [("a", "x"), ("b", "y")] * (ROWS // 2)
    return [*two, *[(label, "z")] * 3]


FORMATS = {
    "vw": lambda rows: "".join(f"{label} | {name}\n" for label, name in rows),
    "jsonl": lambda rows: "".join(f'{{"label":"{label}","{name}":1}}\n' for label, name in rows),
    "csv": lambda rows: "label,name\n" + "".join(f"{label},{name}\n" for label, name in rows),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    for suffix, written in FORMATS.items():
        for name, label in (("long", LONG), ("short", SHORT)):
            (folder / f"{name}.{suffix}").write_text(written(rows_of(label)))
    for name in ("long", "short"):
        run("fit", folder / f"{name}.vw", "--model", folder / f"{name}.novikoff", "--quiet")
        run("certify", folder / f"{name}.vw", "-o", folder / f"{name}.certificate", "--quiet")
    return folder


FIT = ["fit", "{file}.vw", "--model", "{file}.out", "--quiet"]
COMMANDS = {
    "fit": FIT,
    "fit in memory": [*FIT, "--order", "shuffle"],
    "fit from a cache": [*FIT, "--cache", "--epochs", "3"],
    "fit with class weights": [*FIT, "--class-weight", "balanced", "--positive", "a"],
    "fit jsonl": ["fit", "{file}.jsonl", "--model", "{file}.out", "--quiet"],
    "fit csv": ["fit", "{file}.csv", "--model", "{file}.out", "--quiet"],
    "fit kernel": [*FIT, "--kernel", "rbf", "--gamma", "1", "--epochs", "1"],
    "predict": ["predict", "{file}.novikoff", "{file}.vw", "--output", "{file}.txt"],
    "predict scores": ["predict", "{file}.novikoff", "{file}.vw", "--output", "{file}.txt", "--scores"],
    "evaluate": ["evaluate", "{file}.novikoff", "{file}.vw", "--json"],
    "convert": ["convert", "{file}.vw", "{file}-again.jsonl", "--quiet", "--force"],
    "convert to a table": ["convert", "{file}.vw", "{file}-again.parquet", "--quiet", "--force"],
    "tune": ["tune", "{file}.vw", "--model", "{file}.out", "--quiet", "--epochs", "1"],
    "diagnose": ["diagnose", "{file}.vw", "--quiet"],
    "certify": ["certify", "{file}.vw", "-o", "{file}.json", "--quiet"],
    "certify and verify": ["verify", "{file}.certificate", "{file}.vw"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_long_label_costs_its_length(files, name):
    """The same work on the file with the long label and on the one with a short label instead."""
    if "csv" in name or "table" in name:
        pytest.importorskip("pyarrow")
    long, short = (
        run(*[word.format(file=files / file) for word in COMMANDS[name]])[1] for file in ("long", "short")
    )
    assert long < short + SLACK


def test_predictions_are_those_of_the_file(files):
    run("predict", files / "long.novikoff", files / "long.vw", "--output", files / "told.txt")
    assert (files / "told.txt").read_text().split() == [label for label, _ in rows_of(LONG)]


# ---- what labels become --------------------------------------------------------------------------------
def test_arrays_are_of_str_in_proportion():
    assert text_array(["a", "bc"]).dtype == np.dtype("U2") and text_array([]).dtype.kind == "U"
    few = text_array(["a", LONG])
    assert few.dtype == np.dtype("U10000")
    assert taken(few, np.zeros(ROOM // 10_000, dtype=np.int32)).dtype == few.dtype
    many = taken(few, np.arange(ROOM // 10_000 + 1) % 2)
    assert many.dtype.kind == "O" and many.tolist()[:3] == ["a", LONG, "a"]
    wide = text_array(["a" * NARROW])
    assert taken(wide, np.zeros(ROOM, dtype=np.int8)[: ROOM // NARROW + 1]).dtype == wide.dtype
    numbers = np.array([3, 4])
    assert taken(numbers, np.array([1, 1, 0])).tolist() == [4, 4, 3]
    classes = text_array([f"{k}" for k in range(1000)] + [LONG])
    assert classes.dtype.kind == "O" and classes[-1] == LONG


def test_codes_say_what_an_array_says():
    rng = np.random.default_rng(0)
    texts = np.array(["spam", "ham", "é", "😀", ""])
    for n in (0, 1, 40):
        given = texts[rng.integers(0, 5, n)]
        labels = TextLabels.of(given)
        assert np.asarray(labels).tolist() == labels.tolist() == list(labels) == given.tolist()
        assert labels.texts == list(dict.fromkeys(given.tolist())) and len(labels) == n
        for rows in (slice(None, None, 2), rng.permutation(n), rng.integers(0, 2, n) > 0):
            assert labels[rows].tolist() == given[rows].tolist()
            assert labels[rows].texts == list(dict.fromkeys(given[rows].tolist()))
        both = concatenated([labels, labels[::-1]])
        assert both.tolist() == [*given.tolist(), *given[::-1].tolist()]
        assert dict(zip(both.texts, both.counts().tolist(), strict=True)) == {
            text: 2 * given.tolist().count(text) for text in set(given.tolist())
        }
    assert [labels[k] for k in range(40)] == given.tolist()


def test_an_estimator_predicts_many_rows_of_a_long_label():
    X = np.repeat(np.eye(2), 30_000, axis=0)
    model = novikoff.Perceptron().fit(np.eye(2), ["a", LONG])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert model.predict(np.eye(2)).dtype.kind == "U"
    told = model.predict(X)
    assert told.dtype.kind == "O" and set(told[:30_000]) == {"a"} and set(told[30_000:]) == {LONG}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + (500 << 10)


# ---- numbers that ask for memory -----------------------------------------------------------------------
WIDE = "a 100000000:1\nb 1:1\n"


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "{dir}/wide.svm", "--model", "{dir}/out"],
        ["fit", "{dir}/wide.svm", "--model", "{dir}/out", "--order", "shuffle"],
        ["fit", "{dir}/wide.svm", "--model", "{dir}/out", "--kernel", "rbf"],
        ["convert", "{dir}/wide.svm", "{dir}/out.csv"],
        ["tune", "{dir}/wide.svm"],
        ["diagnose", "{dir}/wide.svm"],
        ["certify", "{dir}/wide.svm", "-o", "{dir}/out.json"],
    ],
    ids=lambda command: " ".join(command[:1] + command[4:]),
)  # fmt: skip
def test_one_large_index_is_refused(tmp_path, command):
    (tmp_path / "wide.svm").write_text(WIDE)
    done = run(*[word.format(dir=tmp_path) for word in command], check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"novikoff: error: {tmp_path}/wide.svm, line 1: index 100000000 asks for more than "
        "--max-columns=67108864 columns; raise --max-columns if that is right.\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["wide.svm"]


def test_the_limit_of_columns(tmp_path):
    def n_columns(text, **options):
        source = novikoff.open_source(io.BytesIO(text.encode()), **options)
        assert sum(block.n_rows for block in source.blocks()) == text.count("\n")
        return source.features.n_columns

    for text, options, n in (
        ("a 5:1\nb 1:1\n", {}, 5),
        ("a 4:1\nb 0:1\n", {"zero_based": True}, 5),
        ("a | x y z\nb | u v\n", {"format": "vw"}, 5),
        ('{"label":1,"x":1,"y":"a","z":1}\n{"label":2,"u":1,"v":1}\n', {}, 5),
    ):
        assert n_columns(text, max_columns=n, **options) == n
        for size in (8, 1 << 20):
            with pytest.raises(ValueError, match=f"more than max_columns={n - 1}") as error:
                n_columns(text, max_columns=n - 1, block_size=size, **options)
            assert str(error.value).startswith("<BytesIO>, line ")
    assert n_columns("a 9:1\n", max_columns=3, n_features=9) == 9  # declared
    assert n_columns("1 | x y z\n", max_columns=3, hash_bits=4) == 16
    skipping = novikoff.open_source(io.BytesIO(b"a 9:1\nb 1:1\n"), max_columns=3, skip_bad_lines=True)
    assert [block.n_rows for block in skipping.blocks()] == [1] and skipping.skipped.count == 1
    known = NumberedFeatures(3, fixed=True)
    assert n_columns("a 9:1\n", max_columns=3, features=known) == 3  # has no column, and costs none
    X, _ = novikoff.load(io.BytesIO(b"a 3:1\n"), max_columns=3)
    assert X.shape == (1, 3)
    with pytest.raises(ValueError, match="<BytesIO>, line 1: index 4 asks for more than max_columns=3"):
        novikoff.load(io.BytesIO(b"a 4:1\n"), max_columns=3)
    with pytest.raises(ValueError, match="line 1: index 67108865 asks for more than max_columns=67108864"):
        novikoff.load(io.BytesIO(b"a 67108865:1\n"))
    assert novikoff.load(io.BytesIO(b"a 67108865:1\n"), n_features=10**12)[0].shape == (1, 10**12)
    for value in (0, -1, 2.5, "3"):
        with pytest.raises(ValueError, match="max_columns must be a whole number ≥ 1"):
            n_columns("a 1:1\n", max_columns=value)
        with pytest.raises(ValueError, match="max_columns must be a whole number ≥ 1"):
            novikoff.load(io.BytesIO(b"a 1:1\n"), max_columns=value)


def test_the_limit_of_columns_in_tables(tmp_path):
    pytest.importorskip("pyarrow")
    for text in ("x,y,z,label\n1,2,3,a\n4,5,6,b\n", "x,label\nu,a\nv,b\nw,a\n"):
        for most, fine in ((3, True), (2, False)):
            source = novikoff.open_source(io.BytesIO(text.encode()), format="csv", max_columns=most)
            if fine:
                assert list(source.blocks()) and source.features.n_columns == 3
            else:
                with pytest.raises(
                    ValueError, match=r"<BytesIO>, line \d: there are now 3 features, more than"
                ):
                    list(source.blocks())


def test_short_lines_below_many_columns(tmp_path):
    """Rows that are too short cost no memory for the cells that they lack."""
    pytest.importorskip("pyarrow")
    header = ",".join(f"c{k}" for k in range(100_000)) + ",label\n"
    row = ",".join(["1"] * 100_000) + ",0\n"
    (tmp_path / "ragged.csv").write_text(header + row + "1\n" * 400_000)
    done = run("fit", tmp_path / "ragged.csv", "--model", tmp_path / "out", check=False)
    assert done.returncode == 1 and "line 3: expected 100001 cells, found 1" in done.stderr


# ---- long first lines ----------------------------------------------------------------------------------
@pytest.mark.parametrize("width", [10, 70_000, 150_000])
@pytest.mark.parametrize("options", [{}, {"format": "csv"}, {"format": "csv", "header": True}])
def test_a_header_of_any_width(width, options):
    """65 kB and 1 MB are what is looked at first."""
    pytest.importorskip("pyarrow")
    names = [f"column{k}" for k in range(width)]
    text = ",".join(["label", *names]) + "\n"
    text += "".join(",".join([label, *["1"] * width]) + "\n" for label in ("a", "b"))
    for given in (io.BytesIO(text.encode()), io.BytesIO(gzip.compress(text.encode()))):
        source = novikoff.open_source(given, **options)
        assert source.format == "csv"
        (block,) = gathered(source)
        assert block.X.shape == (2, width) and block.labels.tolist() == ["a", "b"]
        assert source.features.names([0, width - 1]) == [names[0], names[-1]]
    with pytest.raises(ValueError, match="there is a header, but no row after it"):
        novikoff.open_source(io.BytesIO(text.partition("\n")[0].encode()), format="csv", header=True)


def test_a_header_longer_than_a_line_may_be():
    pytest.importorskip("pyarrow")
    text = ",".join(["label", *(f"column{k}" for k in range(200_000))]) + "\n"
    text += ",".join(["a", *["1"] * 200_000]) + "\n"
    source = novikoff.open_source(io.BytesIO(text.encode()), format="csv", max_line=1 << 22)
    assert [block.n_rows for block in source.blocks()] == [1]
    with pytest.raises(ValueError, match="line 1: the line has more than max_line=1048576 bytes"):
        for _ in novikoff.open_source(io.BytesIO(text.encode()), format="csv", max_line=1 << 20).blocks():
            pass


def test_lines_before_a_table_that_are_longer_than_what_is_looked_at():
    pytest.importorskip("pyarrow")
    text = b"# " + b"x" * (3 << 20) + b"\n" + b"\n" * 5 + b"label,x\na,1\nb,2\n"
    for options in ({}, {"format": "csv"}):
        source = novikoff.open_source(io.BytesIO(text), skip_lines=1, **options)
        (block,) = gathered(source)
        assert block.X.tolist() == [[1.0], [2.0]] and block.where(1) == "<BytesIO>, line 9"


def gathered(source):
    """All rows as one block."""
    return [gather(source.blocks())]
