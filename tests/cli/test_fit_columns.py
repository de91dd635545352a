"""What `fit` says of columns before and after learning, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import error_of, run, svm_text, usage_error

pytestmark = pytest.mark.usefixtures("table")


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Forty rows: an identifier, numbers, a category, free text, numbers with one bad cell, and classes."""
    monkeypatch.chdir(tmp_path)
    jobs, words = ("cook", "nurse", "driver"), ("red", "blue", "green", "grey", "black")
    rows = ["id,age,job,note,bad,price,class"]
    for i in range(40):
        note = f"a {words[i % 5]} thing of size {i} and weight {7 * i}"
        bad = "n.a" if i == 7 else str(i % 11)
        rows.append(f"u{i},{20 + i % 17},{jobs[i % 3]},{note},{bad},{i / 8},{'yes' if i % 17 > 8 else 'no'}")
    Path("t.csv").write_text("\n".join(rows) + "\n")
    Path("t.svm").write_text(svm_text(40))


def columns_of(stdout: str) -> list[str]:
    lines = stdout.splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("  columns "))
    return [lines[at][13:], *[line[13:] for line in lines[at + 1 :] if line.startswith(" " * 13)]]


def test_a_fit_shows_what_columns_became_and_doubts_some():
    result = run("fit", "t.csv", "--ignore", "price")
    assert columns_of(result.stdout) == [
        "1 number: age",
        "4 categories: id (40 values), job (3 values), note (40 values), bad (12 values)",
        "1 ignored: price",
        "label: class",
    ]
    first, second, third = (line for line in result.stderr.splitlines() if "warning" in line)
    assert "'id' has a different value in each of the first 40 rows" in first and "--ignore" in first
    assert "'note' looks like free text" in second and "--text" in second
    assert "'bad' holds numbers" in third and "'n.a' in t.csv, line 9" in third


def test_nothing_is_doubted_that_was_asked_for():
    asked = "--text", "note", "--ignore", "price,id", "--categorical", "bad"
    result = run("fit", "t.csv", *asked)
    assert "warning" not in result.stderr
    assert "1 text: note (" in result.stdout and "2 ignored: id, price" in result.stdout
    facts = json.loads(run("fit", "t.csv", *asked, "--json").stdout)["columns"]
    assert {"name": "job", "kind": "category", "n_values": 3} in facts


def test_measurements_as_labels_are_doubted():
    assert (
        "'price' look like measurements (40 different numbers"
        in run("fit", "t.csv", "--label", "price").stderr
    )


def test_a_dry_run_shows_columns_classes_and_plan_and_writes_no_model():
    shown = run("fit", "t.csv", "--rule", "pa1", "--dry-run").stdout
    assert "1 number" not in shown and "2 numbers: age, price" in shown
    assert "no (60.00 %), yes (40.00 %)" in shown and "--rule pa1" in shown and "t.novikoff" in shown
    assert not Path("t.novikoff").exists()
    Path("nameless.csv").write_text(Path("t.csv").read_text().replace("class", "outcome"))
    assert "no label: name its column with --label" in run("fit", "nameless.csv", "--dry-run").stdout
    assert json.loads(run("fit", "t.svm", "--dry-run", "--json").stdout)["columns"] is None


def test_a_written_schema_reads_the_same_and_can_be_changed():
    run("fit", "t.csv", "--dry-run", "--write-schema", "s.json")
    schema = json.loads(Path("s.json").read_text())
    assert schema["job"] == "category" and schema["class"] == "label"
    run("fit", "t.csv")
    usual = Path("t.novikoff").read_bytes()
    run("fit", "t.csv", "--schema", "s.json")
    assert Path("t.novikoff").read_bytes() == usual
    Path("s.json").write_text(json.dumps(schema | {"id": "ignored", "note": "text", "bad": "number"}))
    assert "t.csv, line 9: the column 'bad' holds 'n.a'" in error_of(
        "fit", "t.csv", "--schema", "s.json", "-q"
    )
    Path("s.json").write_text('{"ages": "number"}')
    message = error_of("fit", "t.csv", "--schema", "s.json")
    assert "the schema names the column 'ages'" in message and "did you mean 'age'?" in message
    Path("s.json").write_text('{"age": "integer"}')
    assert "as 'integer'; expected one of number, " in error_of("fit", "t.csv", "--schema", "s.json")
    Path("s.json").write_text("[1]")
    assert "is no schema" in usage_error("fit", "t.csv", "--schema", "s.json")


def test_a_wrong_label_column_suggests_the_nearest_name():
    assert "--label clas is not one of the 7 columns (did you mean 'class'?)" in error_of(
        "fit", "t.csv", "--label", "clas"
    )


@pytest.mark.parametrize(
    ("given", "needed"),
    [
        (("--margin", "0.5"), "--rule margin; the rule is perceptron"),
        (("--C", "2"), "--rule pa1 or pa2"),
        (("--C", "2", "--rule", "normalized"), "--rule pa1 or pa2"),
        (("--intercept-scaling", "2", "--no-intercept"), "a bias"),
        (("--validation-fraction", "0.2"), "--early-stopping"),
        (("--every", "10"), "--checkpoint"),
        (("--ngrams", "2"), "--text"),
        (("--seed", "2"), "--hash-bits"),
    ],
)
def test_options_without_effect_are_refused(given, needed):
    message = usage_error("fit", "t.csv", *given)
    assert f"has an effect only with {needed}" in message and given[0] in message
    assert not Path("t.novikoff").exists()


def test_labels_that_do_not_exist_are_refused_before_anything_is_written():
    for given, known in (
        (("--class-weight", "yess=2"), "did you mean 'yes'?"),
        (("--relabel", "nope=yes"), "'no', 'yes'"),
        (("--classes", "no,yes", "--class-weight", "maybe=2"), "one of the declared classes"),
        (("--classes", "no,yes", "--positive", "maybe"), "one of the declared classes"),
    ):
        assert known in usage_error("fit", "t.csv", "--quiet", *given)
        assert not Path("t.novikoff").exists()
    message = error_of("fit", "t.csv", "--quiet", "--positive", "Yes")
    assert "--positive Yes is not one of the labels (did you mean 'yes'?): 'no', 'yes'" in message
    Path("test.csv").write_text(
        Path("t.csv").read_text().replace(",yes\n", ",yes.\n").replace(",no\n", ",no.\n")
    )
    renamed = "--relabel", "yes.=yes", "--relabel", "no.=no", "--test", "test.csv"
    assert "test       " in run("fit", "t.csv", *renamed).stdout


def test_a_malformed_test_file_is_found_before_training():
    Path("test.csv").write_text("id,age,job,note,bad,price,class\nu1,x,cook,a,1,2,yes\nu1,3,cook\n")
    assert "test.csv, line 3" in error_of("fit", "t.csv", "--test", "test.csv", "-q")
    Path("test.csv").write_text("id,job,note,bad,price,class\nu1,cook,a,1,2,yes\n")
    assert "the column 'age' is missing" in error_of("fit", "t.csv", "--test", "test.csv", "-q")
    assert not Path("t.novikoff").exists()


def test_a_malformed_test_file_of_another_format_is_found_before_training():
    """Whatever its format, it is read with the columns of the table, and no model is written."""
    rows = [dict(zip(("id", "age", "job", "note", "bad", "price"), range(6), strict=True))]
    rows[0] |= {"job": "cook", "id": "u1", "note": "x", "bad": "3", "class": "yes"}
    Path("test.jsonl").write_text(json.dumps(rows[0]) + "\n" + json.dumps(rows[0] | {"age": "old"}) + "\n")
    message = error_of(
        "fit", "t.csv", "-q", "--test", "test.jsonl", "--label", "class", "--model", "m.novikoff"
    )
    assert message == "test.jsonl, line 2: the column 'age' is 'old': expected a number.\n".strip()
    assert not Path("m.novikoff").exists()
