"""A small input never costs much memory: what is allocated is in proportion to the file.

Each case runs in a child whose peak memory is compared with that of the same work on an ordinary file of the
same size. The address space of the child is limited, so that a failure is an error and no dead machine.
"""

import resource
import subprocess
import sys

import numpy as np
import pytest

import novikoff
from novikoff.textlabels import NARROW, ROOM, TextLabels, concatenated, taken, text_array

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
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(LIMIT), *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if not check:
        return done
    assert done.returncode == 0, done.stderr[-2000:]
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
    return folder


def peaks(files, command):
    """Peak memory of a command on the file with the long label, and on the one with a short label instead."""
    return [run(*[str(word).format(name=name, dir=files) for word in command])[1] for name in ("long", "short")]


COMMANDS = {
    "fit": ["fit", "{dir}/{name}.vw", "--model", "{dir}/{name}.out", "--quiet"],
    "fit in memory": ["fit", "{dir}/{name}.vw", "--model", "{dir}/{name}.out", "--quiet", "--order", "shuffle"],
    "fit from a cache": ["fit", "{dir}/{name}.vw", "--model", "{dir}/{name}.out", "--quiet", "--cache", "--epochs", "3"],
    "fit with class weights": ["fit", "{dir}/{name}.vw", "--model", "{dir}/{name}.out", "--quiet", "--class-weight", "balanced", "--positive", "a"],
    "fit jsonl": ["fit", "{dir}/{name}.jsonl", "--model", "{dir}/{name}.out", "--quiet"],
    "fit csv": ["fit", "{dir}/{name}.csv", "--model", "{dir}/{name}.out", "--quiet"],
    "fit kernel": ["fit", "{dir}/{name}.vw", "--model", "{dir}/{name}.out", "--quiet", "--kernel", "rbf", "--gamma", "1", "--epochs", "1"],
    "predict": ["predict", "{dir}/{name}.novikoff", "{dir}/{name}.vw", "--output", "{dir}/{name}.txt"],
    "predict scores": ["predict", "{dir}/{name}.novikoff", "{dir}/{name}.vw", "--output", "{dir}/{name}.txt", "--scores"],
    "evaluate": ["evaluate", "{dir}/{name}.novikoff", "{dir}/{name}.vw", "--json"],
    "convert": ["convert", "{dir}/{name}.vw", "{dir}/{name}-again.jsonl", "--quiet", "--force"],
    "convert to a table": ["convert", "{dir}/{name}.vw", "{dir}/{name}-again.parquet", "--quiet", "--force"],
    "tune": ["tune", "{dir}/{name}.vw", "--model", "{dir}/{name}.out", "--quiet", "--epochs", "1"],
    "diagnose": ["diagnose", "{dir}/{name}.vw", "--quiet"],
    "certify": ["certify", "{dir}/{name}.vw", "-o", "{dir}/{name}.json", "--quiet"],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_a_long_label_costs_its_length(files, name):
    long, short = peaks(files, COMMANDS[name])
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
