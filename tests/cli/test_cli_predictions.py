"""`novikoff predict`: predictions as text, CSV, TSV, Parquet and JSON lines, with ids and scores."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from novikoff import load_model
from support.commands import error_of, run

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TABLE = """name,age,job,label
007,4,cook,yes
012,2,nurse,no
"O""Neil, A",5,cook,yes
x,1,nurse,no
"""
RECORDS = [
    {"name": "007", "age": 4, "job": "cook"},
    {"name": "012", "age": 2, "job": "nurse"},
    {"name": 'O"Neil, A', "age": 5, "job": "cook"},
    {"name": "x", "age": 1, "job": "nurse"},
]
NAMES = [record["name"] for record in RECORDS]
ANSWERS = ["yes", "no", "yes", "no"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(TABLE)
    Path("people.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    run("fit", "people.csv", "--ignore", "name", "--model", "people.novikoff")


def rows_of(path):
    """The rows of predictions in a file, as lists of text, after the names of the columns."""
    path = Path(path)
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return [table.column_names, *[list(map(str, row.values())) for row in table.to_pylist()]]
    text = path.read_text()
    if path.suffix == ".csv":
        return list(csv.reader(text.splitlines()))
    return [line.split("\t") for line in text.splitlines()]


@pytest.mark.parametrize("data", ["people.csv", "people.jsonl"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_tables_have_ids_labels_and_scores(data, suffix):
    run("predict", "people.novikoff", data, "--id", "name", "--scores", "-o", f"out.{suffix}")
    header, *rows = rows_of(f"out.{suffix}")
    assert header == ["name", "label", "score"]
    assert [row[0] for row in rows] == NAMES and [row[1] for row in rows] == ANSWERS
    scores = load_model("people.novikoff").scores(RECORDS).tolist()
    assert [float(row[2]) for row in rows] == scores
    run("predict", "people.novikoff", data, "-o", f"plain.{suffix}")
    assert rows_of(f"plain.{suffix}") == [["label"], *[[answer] for answer in ANSWERS]]


def test_json_lines_and_text_have_ids_too():
    said = run("predict", "people.novikoff", "people.csv", "--id", "name", "--to", "jsonl").stdout
    assert [json.loads(line) for line in said.splitlines()] == [
        {"name": name, "label": label} for name, label in zip(NAMES, ANSWERS, strict=True)
    ]
    run("predict", "people.novikoff", "people.csv", "--id", "name", "-o", "out.jsonl")
    assert Path("out.jsonl").read_text() == said
    text = run("predict", "people.novikoff", "people.csv", "--id", "name").stdout
    assert text.splitlines() == [f"{name}\t{label}" for name, label in zip(NAMES, ANSWERS, strict=True)]
    assert run("predict", "people.novikoff", "people.csv").stdout.split() == ANSWERS


def test_the_format_can_be_named():
    run("predict", "people.novikoff", "people.csv", "--to", "csv", "-o", "out.txt")
    assert Path("out.txt").read_text() == "label\nyes\nno\nyes\nno\n"
    assert (
        run("predict", "people.novikoff", "people.csv", "--to", "tsv").stdout == "label\nyes\nno\nyes\nno\n"
    )
    run("predict", "people.novikoff", "people.csv", "-o", "out.csv.gz")
    assert gzip.decompress(Path("out.csv.gz").read_bytes()) == b"label\nyes\nno\nyes\nno\n"
    both = run("predict", "people.novikoff", "people.csv", "--json", "--to", "csv", code=2)
    assert "--json means --to jsonl" in both.stderr


def test_three_classes_have_a_score_each():
    Path("three.csv").write_text("a,b,label\n1,0,x\n0,1,y\n-1,-1,z\n")
    run("fit", "three.csv", "--model", "three.novikoff")
    run("predict", "three.novikoff", "three.csv", "--scores", "-o", "out.parquet")
    table = pq.read_table("out.parquet")
    assert table.column_names == ["label", "score.x", "score.y", "score.z"]
    scores = np.column_stack([table[name].to_numpy() for name in table.column_names[1:]])
    assert np.array(["x", "y", "z"])[scores.argmax(axis=1)].tolist() == table["label"].to_pylist()


def test_ids_keep_the_type_of_their_column():
    pq.write_table(pa.table({"key": [7, 8], "age": [4.0, 1.0], "job": ["cook", "nurse"]}), "new.parquet")
    run("predict", "people.novikoff", "new.parquet", "--id", "key", "-o", "out.parquet")
    table = pq.read_table("out.parquet")
    assert table.to_pydict() == {"key": [7, 8], "label": ["yes", "no"]} and table["key"].type == pa.int64()


def test_an_id_may_be_a_feature_and_a_number_of_a_column():
    assert run("predict", "people.novikoff", "people.csv", "--id", "age").stdout.splitlines()[:2] == [
        "4\tyes",
        "2\tno",
    ]
    Path("bare.csv").write_text("1,0,x,a\n0,1,y,b\n")
    run("fit", "bare.csv", "--no-header", "--label", "4", "--ignore", "3", "--model", "bare.novikoff")
    said = run("predict", "bare.novikoff", "bare.csv", "--no-header", "--id", "3").stdout
    assert said.splitlines() == ["x\ta", "y\tb"]


def test_what_cannot_be_an_id():
    assert "--id nam is not one of the 4 columns" in error_of(
        "predict", "people.novikoff", "people.csv", "--id", "nam", "-o", "out.csv"
    )
    assert not Path("out.csv").exists()
    assert "people.jsonl, line 1: there is no id under the key 'nam'; there are 'name'" in error_of(
        "predict", "people.novikoff", "people.jsonl", "--id", "nam"
    )
    assert "the column of ids is named 'label'" in error_of(
        "predict", "people.novikoff", "people.csv", "--id", "label", "--to", "csv"
    )
    Path("train.svm").write_text("a 1:1\nb 2:1\n")
    run("fit", "train.svm")
    said = run("predict", "train.novikoff", "train.svm", "--id", "1", code=2).stderr
    assert "--id is not an option of the format 'libsvm'" in said
    Path("tabs.csv").write_text('name,age,job\n"a\tb",1,cook\n')
    assert "has a tab or a line break" in error_of(
        "predict", "people.novikoff", "tabs.csv", "--id", "name", "--to", "tsv"
    )


@pytest.mark.parametrize("content", ["", TABLE.splitlines()[0] + "\n"])
@pytest.mark.parametrize("to", ["text", "jsonl", "csv", "tsv"])
def test_an_empty_batch_has_empty_predictions(content, to):
    Path("none.csv").write_text(content)
    header = "label\n" if to in ("csv", "tsv") else ""
    assert run("predict", "people.novikoff", "none.csv", "--to", to).stdout == header
    assert run("predict", "people.novikoff", "-", "--to", to, input=content.encode()).stdout == header
    run("predict", "people.novikoff", "none.csv", "--to", to, "-o", "out.txt")
    assert Path("out.txt").read_text() == header


def test_an_empty_batch_of_other_formats():
    Path("none.jsonl").write_text("")
    pq.write_table(
        pa.table({"age": pa.array([], pa.float64()), "job": pa.array([], pa.string())}), "none.parquet"
    )
    for data in ("none.jsonl", "none.parquet"):
        assert run("predict", "people.novikoff", data).stdout == ""
        run("predict", "people.novikoff", data, "--scores", "-o", "out.parquet")
        table = pq.read_table("out.parquet")
        assert table.num_rows == 0 and table.column_names == ["label", "score"]
    Path("train.svm").write_text("a 1:1\nb 2:1\n")
    run("fit", "train.svm")
    Path("none.svm").write_text("")
    assert run("predict", "train.novikoff", "none.svm").stdout == ""


def test_ids_in_lines_name_themselves_and_whole_numbers_stay_whole():
    result = run("predict", "people.novikoff", "people.csv", "--id", "age", "--to", "jsonl")
    assert [json.loads(line)["age"] for line in result.stdout.splitlines()] == [4, 2, 5, 1]
    assert '"age": 4,' in result.stdout
    Path("broken.csv").write_text('name,age,job\n"a\nb",4,cook\n')
    assert "the id 'a\\nb' contains a line break" in error_of(
        "predict", "people.novikoff", "broken.csv", "--id", "name"
    )
