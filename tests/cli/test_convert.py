"""`novikoff convert` and `novikoff tune`: what they write, what they refuse, and that nothing is lost."""

import gzip
import json
import lzma

import numpy as np
import pytest

from novikoff.loading import load_model
from novikoff.modelfile.container import write_file
from support.commands import error_of, run, svm_text, usage_error

CHAIN = ["x.vw", "x.jsonl.gz", "x.csv.xz", "x.tsv.bz2", "x.parquet", "x.feather", "x.vw.zst", "back.svm"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows_of_text(text):
    return [(float(line.split()[0]), line.split()[1:]) for line in text.splitlines()]


def test_data_through_all_formats_and_back(folder):
    """The chain ends where it began, and each file on the way gives the same predictions."""
    text = "".join(line for line in svm_text().splitlines(keepends=True) if ":" in line)
    (folder / "x.svm").write_text(text)
    here = "x.svm"
    for there in CHAIN:
        extra = ["--number-by", "name"] if there == "back.svm" else []
        said = json.loads(run("convert", here, there, "--json", *extra).stdout)
        assert said["output"] == there and said["rows"] == len(text.splitlines()) and said["features"] == 12
        here = there
    assert rows_of_text((folder / "back.svm").read_text()) == rows_of_text(text)
    models = []
    for name in ("x.svm", *CHAIN):
        run("fit", name, "--epochs", 3, "--average", "--model", f"{name}.novikoff")
        model = load_model(f"{name}.novikoff")
        coef, bias = model.weights()
        names = model.features.names(range(coef.shape[1]))
        models.append((dict(zip(names, coef[0].tolist(), strict=True)), bias.tolist()))
    assert all(model == models[0] for model in models)


def test_several_files_and_standard_input(folder):
    (folder / "a.svm").write_text("1 1:1\n")
    (folder / "b.svm").write_text("2 2:1\n")
    assert "2 rows, 2 features" in run("convert", "a.svm", "b.svm", "c.vw").stdout
    assert (folder / "c.vw").read_text() == "1 | 1:1\n2 | 2:1\n"
    run("convert", "*.svm", "d.vw", "-q")
    assert (folder / "d.vw").read_text() == "1 | 1:1\n2 | 2:1\n"
    run("convert", "-", "e.svm", "--format", "vw", input=b"5 | a b\n6 |\n")
    assert (folder / "e.svm").read_text() == "5 1:1 2:1\n6\n"
    assert "read only once" in error_of("convert", "-", "f.csv", "--format", "vw", input=b"5 | a b\n")
    piped = run("convert", "-", "-", "--format", "vw", "--to", "libsvm", input=b"5 | a b\n")
    assert piped.stdout == "5 1:1 2:1\n"
    assert run("convert", "a.svm", "-", "--to", "csv").stdout == "label,1\n1,1\n"
    assert "the format to write cannot be recognized" in error_of("convert", "a.svm", "-")
    assert "for data only" in usage_error("convert", "a.svm", "-", "--to", "csv", "--json")
    run("convert", "a.svm", "/dev/null", "--to", "csv")


def test_where_the_outcome_goes(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "x.svm.gz").write_bytes(gzip.compress(b"1 1:1\n2 2:1\n"))
    run("convert", "sub/x.svm.gz", "--to", "vw")
    assert (folder / "x.vw").read_text() == "1 | 1:1\n2 | 2:1\n"
    assert error_of("convert", "sub/x.svm.gz", "x.vw") == "x.vw exists: --force replaces it."
    run("convert", "sub/x.svm.gz", "x.vw", "--force", "--to", "jsonl")
    assert (folder / "x.vw").read_text().startswith('{"label": 1, ')
    assert "expected at least one file to read" in usage_error("convert", "sub/x.svm.gz")
    assert "the format to write cannot be recognized" in error_of("convert", "sub/x.svm.gz", "x.dat")
    assert "expected one of libsvm, vw" in usage_error("convert", "sub/x.svm.gz", "y", "--to", "onnx")
    assert "expected one of auto, name" in usage_error("convert", "sub/x.svm.gz", "y.svm", "--number-by", "z")
    assert "No such file" in error_of("convert", "absent.svm", "y.vw")
    assert sorted(path.name for path in folder.iterdir()) == ["sub", "x.vw"]


def test_tables_and_their_names(folder):
    (folder / "t.csv").write_text("age,job,pay,w\n41,cook,low,1\n30,nurse,high,2\n")
    options = ["--label", "pay", "--weight", "w"]
    assert "LIBSVM text cannot hold" in error_of("convert", "t.csv", "t.svm", *options)
    run("convert", "t.csv", "t.svm", "--label", "pay", "--ignore", "w", "--names", "t.names")
    assert (folder / "t.svm").read_text() == "low 1:41 2:1\nhigh 1:30 3:1\n"
    assert (folder / "t.names").read_text() == "1\tage\n2\tjob=cook\n3\tjob=nurse\n"
    run("convert", "t.csv", "t.jsonl", *options, "--label-name", "pay", "--weight-name", "n")
    assert (folder / "t.jsonl").read_text() == (
        '{"pay": "low", "n": 1, "features": {"age": 41, "job=cook": 1}}\n'
        '{"pay": "high", "n": 2, "features": {"age": 30, "job=nurse": 1}}\n'
    )
    assert "no column is named label" in error_of("convert", "t.csv", "u.vw")
    run("convert", "t.csv", "u.vw", "--unlabelled", "--ignore", "w,pay,job")
    assert (folder / "u.vw").read_text() == "| age:41\n| age:30\n"


def test_lines_that_are_skipped_are_shown(folder):
    (folder / "x.svm").write_text("1 1:1\noops:\n2 1:1\n")
    assert "line 2" in error_of("convert", "x.svm", "x.vw")
    assert "1 malformed line(s)" in run("convert", "x.svm", "x.vw", "--skip-bad-lines").stdout


# ---- models ----------------------------------------------------------------------------------------------
@pytest.fixture
def model(folder):
    (folder / "x.svm").write_text(svm_text(labels=("a", "b", "c")))
    run("fit", "x.svm", "--epochs", 3, "--average", "--scale", "standard", "--model", "m.novikoff")
    return load_model("m.novikoff")


def test_a_model_as_text_and_back(folder, model):
    run("convert", "m.novikoff", "m.txt")
    run("convert", "m.txt", "again.novikoff")
    again = load_model("again.novikoff")
    X = np.random.default_rng(0).normal(size=(50, 12))
    assert again.predict(X).tolist() == model.predict(X).tolist()
    for a, b in zip(again.weights(), model.weights(), strict=True):
        assert a.tobytes() == b.tobytes()
    run("convert", "again.novikoff", "--to", "text")
    assert (folder / "again.txt").read_text().splitlines()[6:] == (folder / "m.txt").read_text().splitlines()[
        6:
    ]


def test_a_model_as_onnx(folder, model):
    onnxruntime = pytest.importorskip("onnxruntime")
    run("convert", "m.novikoff", "--to", "onnx")
    session = onnxruntime.InferenceSession(str(folder / "m.onnx"))
    X = np.random.default_rng(0).normal(size=(50, 12))
    assert session.run(["label"], {"X": X})[0].tolist() == model.predict(X).tolist()


def test_models_that_cannot_be_converted(folder, model):
    assert "is a model: 'vw' is not possible" in usage_error("convert", "m.novikoff", "m.vw", "--to", "vw")
    assert "the suffix is not that of a model format" in error_of("convert", "m.novikoff", "m.vw")
    write_file("c.novikoff", {}, {}, "checkpoint")
    assert "holds a novikoff checkpoint" in error_of("convert", "c.novikoff", "c.txt")
    run("convert", "m.novikoff", "m.txt")
    text = (folder / "m.txt").read_text()
    (folder / "bad.txt").write_text(text.replace("n_features: 12", "n_features: x"))
    assert error_of("convert", "bad.txt", "bad.novikoff").startswith("bad.txt: line")
    data = (folder / "m.novikoff").read_bytes()
    (folder / "cut.novikoff").write_bytes(data[:-10])
    assert "cut.novikoff" in error_of("convert", "cut.novikoff", "cut.txt")
    assert not (folder / "bad.novikoff").exists() and not (folder / "cut.txt").exists()


# ---- tuning ----------------------------------------------------------------------------------------------
GRID = ["--rules", "perceptron,pa1", "--epochs", "1,3", "--scales", "none,standard", "--C", "0.1,1"]


@pytest.mark.parametrize("held", [["--folds", 3], ["--split", 0.3]])
def test_tune(folder, held):
    """The model file is that of `novikoff fit` with the options that were chosen, byte for byte."""
    (folder / "x.svm.xz").write_bytes(lzma.compress(svm_text(600).encode()))
    (folder / "t.svm").write_text(svm_text(200, seed=1))
    said = json.loads(
        run("tune", "x.svm.xz", "--test", "t.svm", *GRID, *held, "--model", "m.novikoff", "--json").stdout
    )
    assert len(said["tried"]) == (6 + 4) * 2 and said["rows"] == 600 and said["test"]["rows"] == 200
    best = said["best"]
    ranks = [(-row["correct"], row["epochs"]) for row in said["tried"]]
    assert ranks == sorted(ranks) and {k: said["tried"][0][k] for k in best} == best
    options = ["--order", "riffle", "--rule", best["rule"], "--C", best["C"], "--epochs", best["epochs"]]
    options += ["--average" if best["average"] else "--no-average", "--scale", best["scale"] or "none"]
    fitted = json.loads(
        run("fit", "x.svm.xz", "--test", "t.svm", *options, "--model", "f.novikoff", "--json").stdout
    )
    assert (folder / "m.novikoff").read_bytes() == (folder / "f.novikoff").read_bytes()
    assert fitted["test"] == said["test"]
    cached = run(
        "tune", "x.svm.xz", "--test", "t.svm", *GRID, *held, "--model", "c.novikoff", "--json", "--cache"
    )
    assert json.loads(cached.stdout)["tried"] == said["tried"]
    assert (folder / "m.novikoff").read_bytes() == (folder / "c.novikoff").read_bytes()
    shown = run("tune", "x.svm.xz", *GRID, *held, "--thorough", "--model", "m.novikoff").stdout
    assert "tried 24 ways to learn on" in shown and "and 14 more; --json shows all" in shown
    assert ("lowest" in shown) == (held[0] == "--folds") and "saved      m.novikoff" in shown


def test_a_model_of_another_seed_is_that_of_a_fit_with_that_seed(folder):
    (folder / "x.svm").write_text(svm_text(300))
    how = ["x.svm", "--order", "riffle", "--random-state", 3]
    one = ["--rules", "pa1", "--C", 1, "--epochs", 3, "--scales", "none", "--average", "yes"]
    run("tune", *how, *one, "--model", "m.novikoff", "--n-jobs", 1)
    fit = ["--rule", "pa1", "--epochs", 3, "--average", "--scale", "none"]
    run("fit", *how, *fit, "--model", "f.novikoff")
    assert (folder / "m.novikoff").read_bytes() == (folder / "f.novikoff").read_bytes()


def test_the_test_file_chooses_nothing(folder):
    (folder / "x.svm").write_text(svm_text(300))
    (folder / "t.svm").write_text(svm_text(100, seed=1, labels=("+1", "-1")))  # the other way round
    a = json.loads(run("tune", "x.svm", *GRID, "--model", "m", "--json").stdout)
    b = json.loads(run("tune", "x.svm", *GRID, "--model", "m", "--json", "--test", "t.svm").stdout)
    assert a["tried"] == b["tried"] and a["best"] == b["best"] and b["test"]["accuracy"] < 0.5


def test_rows_of_one_class_that_lie_together_are_noted(folder):
    (folder / "x.svm").write_text("".join(sorted(svm_text(300).splitlines(keepends=True))))
    in_order = ["tune", "x.svm", *GRID, "--model", "m", "--order", "cyclic"]
    assert "rows of one class are grouped together" in run(*in_order).stderr
    assert run(*in_order, "--quiet").stderr == ""
    assert run("tune", "x.svm", *GRID, "--model", "m").stderr == ""  # riffled


def test_what_tune_refuses(folder):
    (folder / "x.svm").write_text(svm_text(100))
    assert "read only once" in error_of("tune", "-", input=b"1 1:1\n")
    for flag, value, match in (
        ("--rules", "perceptron,svm", "expected one or more of perceptron, normalized"),
        ("--epochs", "1,x", "expected whole numbers ≥ 1"),
        ("--epochs", "0", "expected whole numbers ≥ 1"),
        ("--scales", "log", "expected one or more of none, auto"),
        ("--C", "0", "expected numbers > 0"),
        ("--average", "maybe", "expected 'both', 'yes' or 'no'"),
        ("--folds", "1", "expected 'auto' or a whole number ≥ 2"),
        ("--split", "1", "between 0 and 1"),
        ("--classes", "grow", "they cannot grow"),
        ("--order", "shuffle", "in order riffle or cyclic"),
    ):
        assert match in " ".join(usage_error("tune", "x.svm", flag, value).split()), flag
    (folder / "few.svm").write_text("1 1:1\n2 2:1\n")
    assert "too few rows (2) to tune" in error_of("tune", "few.svm")
    (folder / "one.svm").write_text("1 1:1\n" * 50)
    assert "at least two classes" in error_of("tune", "one.svm")
    assert not list(folder.glob("*.novikoff"))
