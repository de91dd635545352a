"""How commands read: quoted line breaks, standard input read twice, caches elsewhere, small classes."""

import json
from pathlib import Path

import numpy as np
import pytest

import novikoff
from novikoff import load_model
from novikoff.data.sources.tables import TableSource
from support.commands import error_of, run

pytest.importorskip("pyarrow")

BROKEN = 'note,age,label\n"one\ntwo",1,x\n"say ""so""",2,y\n"d\n\ne",3,x\n'
PEOPLE = "age,job,label\n4,cook,yes\n2,nurse,no\n5,cook,yes\n1,clerk,no\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE)


# ---- line breaks in quoted cells -----------------------------------------------------------------------
def test_line_breaks_in_quoted_cells_are_read():
    Path("broken.csv").write_text(BROKEN)
    run("fit", "broken.csv", "--model", "broken.novikoff")
    assert run("predict", "broken.novikoff", "broken.csv").stdout.split() == ["x", "y", "x"]
    source = TableSource("broken.csv")
    (block,) = source.blocks()
    assert source.features.names(range(4)) == ["age", "note=one\ntwo", 'note=say "so"', "note=d\n\ne"]
    assert [block.where(k) for k in range(3)] == [f"broken.csv, line {n}" for n in (2, 4, 5)]


def test_a_quote_that_is_text_opens_nothing():
    Path("inches.csv").write_text('size,age,label\n5" pipe,1,x\n3" rod,2,y\n5" pipe,3,x\n')
    source = TableSource("inches.csv")
    (block,) = source.blocks()
    assert block.n_rows == 3 and source.features.names([1]) == ['size=5" pipe']


def test_a_quote_that_never_ends_is_named_by_its_line():
    Path("open.csv").write_text('note,age,label\nfine,1,x\n"open,2,y\nfine,3,x\n')
    assert "open.csv, line 3: a quote does not end on its line" in error_of("fit", "open.csv")


def test_line_breaks_that_come_late_need_the_option():
    rows = "".join(f"plain,{k % 7},{'xy'[k % 2]}\n" for k in range(120_000))
    Path("late.csv").write_text("note,age,label\n" + rows + '"a\nb",1,x\n')
    assert "line 120002: a quote does not end on its line" in error_of("fit", "late.csv", "--epochs", 1)
    said = run("fit", "late.csv", "--epochs", 1, "--newlines-in-values", "--json").stdout
    assert '"n_rows": 120001' in said


# ---- standard input ------------------------------------------------------------------------------------
def test_standard_input_is_kept_where_scaling_reads_it_twice():
    said = run("fit", "-", "--scale", "standard", "--model", "piped.novikoff", input=PEOPLE)
    assert "standard input is kept, beyond 64 MiB in a temporary file" in said.stderr
    run("fit", "people.csv", "--scale", "standard", "--model", "read.novikoff")
    piped, read = load_model("piped.novikoff"), load_model("read.novikoff")
    np.testing.assert_array_equal(piped.weights()[0], read.weights()[0])
    run("fit", "-", "--scale", "maxabs", "--quiet", input=PEOPLE)
    assert Path("stdin.novikoff").exists()
    for option in ("--cache", "--cache-path=x.cache", "--checkpoint=folder"):
        said = run("fit", "-", "--scale", "standard", option, input=PEOPLE, code=2)
        assert "input that can be read only once" in said.stderr


# ---- caches --------------------------------------------------------------------------------------------
def test_a_cache_can_be_elsewhere():
    Path("folder").mkdir()
    for _ in range(2):
        run("fit", "people.csv", "--cache-path", "folder/people.cache", "--model", "cached.novikoff")
    assert Path("folder/people.cache").exists() and not list(Path().glob("*.cache"))
    run("fit", "people.csv", "--model", "read.novikoff")
    cached, read = load_model("cached.novikoff"), load_model("read.novikoff")
    np.testing.assert_array_equal(cached.weights()[0], read.weights()[0])
    assert "is not a cache, so it is neither read nor replaced" in error_of(
        "fit", "people.csv", "--cache-path", "people.csv"
    )


# ---- formats and classes -------------------------------------------------------------------------------
def test_a_test_file_may_have_another_format():
    lines = '{"age": 4, "job": "cook", "label": "yes"}\n{"age": 1, "job": "nurse", "label": "no"}\n'
    Path("test.jsonl").write_text(lines)
    said = json.loads(run("fit", "people.csv", "--test", "test.jsonl", "--json").stdout)
    assert said["test"]["rows"] == 2 and said["test"]["errors"] == 0


def test_a_class_with_one_row_is_learned_from():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((40, 2)) + 3, rng.standard_normal((40, 2)) - 3, [[50.0, -50.0]]])
    y = np.repeat([0, 1, 2], [40, 40, 1])
    model = novikoff.Perceptron(early_stopping=True, random_state=0).fit(X, y)
    assert model.predict([[50.0, -50.0]]).tolist() == [2] and "validation_score" in model.history_[0]
    with pytest.raises(ValueError, match="each has one example only"):
        novikoff.Perceptron(early_stopping=True).fit([[0.0], [1.0]], [0, 1])
