"""The typical mistakes of a first hour: each gets one clear error that says what, where and what to do."""

from __future__ import annotations

import gzip
import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from support.commands import error_of, run, svm_text, usage_error
from support.places import ROOT

SAMPLES = ROOT / "examples" / "data"
ROWS = b"a,b,class\n1,2,x\n3,4,y\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text(svm_text(40))
    return tmp_path


def zipped(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in names:
            file.writestr(name, "content")
    return out.getvalue()


def arrays(save, value) -> bytes:
    out = io.BytesIO()
    save(out, value)
    return out.getvalue()


# ---- files that are something else ---------------------------------------------------------------------
FOREIGN = {
    "sheet.xlsx": (
        zipped("[Content_Types].xml", "xl/workbook.xml"),
        "is an Excel file: save the sheet as CSV",
    ),
    "rows.zip": (zipped("rows.csv"), "is a ZIP archive: unpack it first"),
    "rows.csv.zip": (zipped("rows.csv"), "is a ZIP archive: unpack it first"),
    "X.npz": (zipped("X.npy"), "is a NumPy archive: save the arrays as CSV or Parquet"),
    "X.npy": (arrays(np.save, np.eye(2)), "is a NumPy array"),
    "model.pkl": (pickle.dumps([1, 2]), "is a Python pickle, which could run code"),
    "rows.h5": (b"\x89HDF\r\n\x1a\n" + bytes(64), "is an HDF5 file"),
    "rows.db": (b"SQLite format 3\0" + bytes(64), "is an SQLite database"),
    "page.csv": (b"<!DOCTYPE html><html>404</html>", "perhaps an error page in place of the data"),
    "paper.pdf": (b"%PDF-1.7\n", "is a PDF file"),
    "utf16.csv": ("a,b,class\n1,2,x\n".encode("utf-16"), "is UTF-16 text: convert it to UTF-8"),
    "mac.csv": (ROWS.replace(b"\n", b"\r"), "lines that end in carriage returns alone"),
    "array.json": (b'[{"label": "x", "a": 1}]', "is one JSON array: write one object per line"),
    "pretty.json": (b'{\n  "label": "x"\n}\n', "has a JSON object on several lines"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_another_kind_is_named_with_what_to_do(name):
    content, said = FOREIGN[name]
    Path(name).write_bytes(content)
    assert f"{name} {said}" in error_of("fit", name) or said in error_of("fit", name)
    Path("zipped.gz").write_bytes(gzip.compress(content))
    format = (
        ()
        if not name.endswith((".json", ".csv"))
        else ("--format", name[-4:].strip(".") + "l" * ("json" in name))
    )
    assert said in error_of("fit", "zipped.gz", *format)
    assert not list(Path().glob("*.novikoff"))


def test_no_sample_file_is_foreign():
    from novikoff.data.sources.foreign import HEAD, foreign
    from novikoff.data.sources.formats import format_of_name

    for path in SAMPLES.iterdir():
        if path.is_file():
            assert foreign(path.read_bytes()[:HEAD], format_of_name(path.name) or "") == "", path.name


def test_a_model_is_not_data_and_comes_first():
    run("fit", "rows.svm", "--quiet")
    assert "rows.novikoff is a novikoff file, such as a model, not data" in error_of("fit", "rows.novikoff")
    for command in ("predict", "evaluate"):
        message = usage_error(command, "rows.svm", "rows.novikoff")
        assert "rows.svm is not a model, but rows.novikoff is: the model comes first" in message
        assert "is not a novikoff model file" in error_of(command, "rows.svm", "rows.svm")
        assert "No such file" in error_of(command, "nowhere.novikoff", "rows.svm")


def test_folders_and_missing_files():
    assert error_of("fit", "nowhere.svm") == "nowhere.svm: No such file or directory"
    assert "Is a directory; name its files" in error_of("fit", ".")
    assert "No file matches this pattern" in error_of("fit", "*.nothing")


def test_compression_is_recognised_by_content_and_damage_is_named():
    Path("plain.svm.gz").write_text(svm_text(40))
    run("fit", "plain.svm.gz")
    Path("cut.svm.gz").write_bytes(gzip.compress(svm_text(400).encode())[:-40])
    assert "cut.svm.gz: the gzip data ends too early" in error_of("fit", "cut.svm.gz")


# ---- tables that are nearly right ----------------------------------------------------------------------
def table(name: str, content: bytes | str) -> None:
    pytest.importorskip("pyarrow")
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def test_line_ends_and_marks_of_windows_change_nothing():
    table("plain.csv", ROWS)
    run("fit", "plain.csv", "--model", "plain")
    for name, content in (("win.csv", ROWS.replace(b"\n", b"\r\n")), ("bom.csv", b"\xef\xbb\xbf" + ROWS)):
        Path(name).write_bytes(content)
        run("fit", name, "--model", name + "m")
        assert Path(name + "m").read_bytes() == Path("plain").read_bytes()


def test_decimal_commas_are_refused_with_their_line():
    table("semi.csv", "a;b;class\n1;2,25;x\n3;4,75;y\n2;4;y\n")
    message = error_of("fit", "semi.csv")
    assert "the column 'b' has numbers with a decimal comma, such as '2,25' in line 2" in message
    assert "--categorical" in message
    run("fit", "semi.csv", "--categorical", "b", "--model", "m")
    table("names.csv", "a;b;class\n1;x,25;x\n3;4,75;y\n")  # not all of them are numbers
    run("fit", "names.csv", "--model", "m")


def test_a_wrong_delimiter_and_a_title_are_suggested():
    table("rows.csv", ROWS)
    message = error_of("fit", "rows.csv", "--delimiter", ";")
    assert "one column only, 'a,b,class', whose name has ',' in it: set --delimiter" in message
    table("title.csv", b"All my rows\n" + ROWS)
    message = error_of("fit", "title.csv")
    assert "the first line, 'All my rows', has one cell, but the next has 3: --skip-lines" in message
    run("fit", "title.csv", "--skip-lines", "1", "--model", "m")


def test_latin_text_is_named_with_its_line():
    table("latin.csv", "name,class\nMüller,x\nMeier,y\n".encode("latin-1"))
    assert "latin.csv: line 2 is not UTF-8 text: from Latin-1, convert it" in error_of("fit", "latin.csv")


def test_a_table_of_other_columns_names_what_is_missing():
    table("rows.csv", ROWS)
    table("other.csv", "c,d,e,outcome\n1,2,3,x\n")
    run("fit", "rows.csv", "--model", "m")
    assert "none of which has one of the model's names" in error_of("predict", "m", "other.csv")
    table("part.csv", "a,class\n1,x\n")
    assert "the column 'b' is missing" in error_of("predict", "m", "part.csv")


def test_text_as_labels_is_doubted():
    words = ["one two three four", "five six seven eight", "nine ten eleven twelve"]
    rows = [f"{i % 2}\t{words[i % 3]} {i}" for i in range(30)]
    table("sms.tsv", "\n".join(rows) + "\n")
    shown = run("fit", "sms.tsv", "--dry-run")
    assert "the labels in '2' look like free text (30 different ones" in shown.stderr
    assert "--label" in shown.stderr
    table("long.tsv", "\n".join(f"{i % 2}\t{i} {'word ' * 30}" for i in range(30)) + "\n")
    assert "word wor… (" in run("fit", "long.tsv", "--dry-run").stdout


# ---- files of several formats --------------------------------------------------------------------------
def test_a_test_file_of_another_format_is_checked_before_training():
    pytest.importorskip("pyarrow")
    train = SAMPLES / "iris.csv"
    message = error_of("fit", train, "--test", SAMPLES / "wine-test.svm", "-q", "--model", "m")
    assert "wine-test.svm: the file has numbered features" in message
    message = error_of("fit", SAMPLES / "wine-train.svm", "--test", train, "-q", "--model", "m")
    assert "the format is csv, but that of the training files libsvm" in message
    cells = '"sepal_length": 1, "sepal_width": 1, "petal_length": 1, "petal_width"'
    Path("bad.jsonl").write_text(f'{{"class": "setosa", {cells}: 1}}\n{{"class": "setosa", {cells} 1}}\n')
    message = error_of("fit", train, "--test", "bad.jsonl", "--label", "class", "-q", "--model", "m")
    assert "bad.jsonl, line 2" in message
    assert not Path("m").exists()
    run("convert", train, "iris.jsonl")
    Path("iris.jsonl").write_text(Path("iris.jsonl").read_text().replace('"label"', '"class"'))
    shown = run("fit", train, "--test", "iris.jsonl", "--label", "class", "--model", "m").stdout
    assert "on 150 rows" in shown.partition("  test ")[2]


def test_a_file_without_rows_is_an_empty_batch():
    pytest.importorskip("pyarrow")
    run("fit", SAMPLES / "iris.csv", "--model", "m")
    header = (SAMPLES / "iris.csv").read_text().partition("\n")[0] + "\n"
    for content in ("", header):
        assert run("predict", "m", "-", input=content).stdout == ""
        assert run("predict", "m", "-", "--to", "csv", "--format", "csv", input=content).stdout == "label\n"


def test_standard_input_has_its_name():
    pytest.importorskip("pyarrow")
    message = error_of("fit", "-", "--format", "csv", "--quiet", input=b"a,b\n1,2\n3,4\n")
    assert message.startswith("standard input: no column is named label")


# ---- options and commands ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("--rule", "perceptrn"), "Did you mean 'perceptron'?"),
        (("--kernel", "gaussian"), "Did you mean 'rbf'?"),
        (("--kernel", "RBF"), "Did you mean 'rbf'?"),
        (("--scale", "minmax"), "Did you mean 'maxabs'?"),
        (("--format", "json"), "Did you mean 'jsonl'?"),
        (("--order", "random"), ""),
    ],
)
def test_values_suggest_the_nearest(words, meant):
    message = usage_error("fit", "rows.svm", *words)
    assert "is not possible: expected one of" in message
    assert message.rstrip().endswith(meant or ".")


def test_a_sentence_about_an_option_begins_with_it():
    assert "\nError: --degree is only possible with --kernel.\n" in usage_error(
        "fit", "rows.svm", "--degree", 2
    )
    assert "\nError: --resume needs --checkpoint" in usage_error("fit", "rows.svm", "--resume")
    assert "\nError: --label is not an option of the format 'libsvm'" in usage_error(
        "fit", "rows.svm", "--label", "2"
    )
    assert "Invalid value for --rule: 'x' is not possible" in usage_error("fit", "rows.svm", "--rule", "x")


def test_help_is_a_command_too_and_a_file_is_not():
    assert run("help").stdout == run("--help").stdout
    assert run("help", "fit").stdout == run("fit", "--help").stdout
    assert run("help", "tag", "fit").stdout == run("tag", "fit", "--help").stdout
    assert "To learn from this file: novikoff fit rows.svm" in usage_error("rows.svm")


def test_evaluate_refuses_to_rename_labels_that_no_row_has():
    run("fit", "rows.svm", "--quiet")
    message = usage_error("evaluate", "rows.novikoff", "rows.svm", "--relabel", "+2=1")
    assert "--relabel: '+2' is not one of the labels of the files" in message


def test_predictions_are_no_excel_file():
    run("fit", "rows.svm", "--quiet")
    message = usage_error("predict", "rows.novikoff", "rows.svm", "-o", "out.xlsx")
    assert "--output cannot be an Excel file: Excel opens .csv files" in message
    assert not Path("out.xlsx").exists()


def test_a_dry_run_says_its_plan_as_options():
    plan = run("fit", "rows.svm", "--dry-run", "--no-average", "--epochs", "1").stdout.partition("plan")[2]
    assert plan.split("\n")[0].split() == [
        "--rule",
        "perceptron",
        "--no-average",
        "--scale",
        "auto",
        "--epochs",
        "1",
        "--order",
        "riffle",
    ]
