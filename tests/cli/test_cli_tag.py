"""`novikoff tag`: one tagger from every format, files written back, figures as seqeval has them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from seqeval.metrics import f1_score, precision_score, recall_score

import novikoff
from novikoff.cli import app, progress
from novikoff.tagging.templates import Templates
from support.children import PATIENCE, Child, with_small_files
from support.commands import error_of, run
from support.places import DATA
from support.sentence_files import conll, conllu, crfsuite, sentences

PYTHON = sys.executable


def fit(*arguments: object, **more):
    return run("tag", "fit", *arguments, "--quiet", **more)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("train.txt").write_text(conll(sentences()))
    Path("test.txt").write_text(conll(sentences(25, seed=1)))
    return tmp_path


@pytest.fixture
def model(folder) -> Path:
    fit("train.txt", "--templates", "crfsuite-chunking", "--epochs", 3)
    return Path("train.novikoff")


def weights_of(path: str | Path) -> list[object]:
    """All numbers of a tagger."""
    tagger = novikoff.load_model(path)
    pairs = tagger.pairs
    arrays = [tagger.classes, pairs.at, pairs.label, pairs.w, pairs.u, tagger.transitions]
    arrays += [tagger.transition_sums, tagger.allowed.step]
    return [[a.tolist() for a in arrays], tagger.features.names(range(len(pairs.at) - 1))]


# ---- formats ------------------------------------------------------------------------------------------
def test_every_format_gives_the_same_tagger():
    """CoNLL columns with blanks or tabs, CoNLL-U and CRFsuite's text: the same weights, bit for bit."""
    data = sentences()
    Path("tabs.txt").write_text(conll(data, "\t"))
    Path("u.conllu").write_text(conllu(data))
    Path("a.crfsuite").write_text(crfsuite(data))
    Path("crlf.txt").write_bytes(conll(data).replace("\n", "\r\n").encode())
    chosen = ["--templates", "crfsuite-chunking", "--epochs", 4]
    fit("train.txt", *chosen, "--model", "blanks.novikoff")
    fit("tabs.txt", *chosen)
    fit("crlf.txt", *chosen)
    fit("u.conllu", *chosen, "--label", "xpos")
    fit("a.crfsuite", "--epochs", 4)
    expected = weights_of("blanks.novikoff")
    for name in ("tabs", "crlf", "u", "a"):
        assert weights_of(f"{name}.novikoff") == expected, name
    tagged = {
        ("blanks", "test.txt"): conll(sentences(25, seed=1)),
        ("u", "test.conllu"): conllu(sentences(25, seed=1)),
        ("a", "test.crfsuite"): crfsuite(sentences(25, seed=1)),
    }
    figures = []
    for (name, path), text in tagged.items():
        Path(path).write_text(text)
        said = json.loads(run("tag", "evaluate", f"{name}.novikoff", path, "--json").stdout)
        figures.append({key: value for key, value in said.items() if key != "model"})
    assert figures[0] == figures[1] == figures[2]


def test_compressed_files_and_standard_input_give_the_same_tagger():
    text = Path("train.txt").read_bytes()
    packed = {
        "gz": gzip.compress(text),
        "bz2": bz2.compress(text),
        "xz": lzma.compress(text),
        "zst": pyarrow.compress(text, "zstd", asbytes=True),
    }
    fit("train.txt", "--epochs", 2)
    expected = Path("train.novikoff").read_bytes()
    for suffix, data in packed.items():
        Path(f"{suffix}.txt.{suffix}").write_bytes(data)
        fit(f"{suffix}.txt.{suffix}", "--epochs", 2)
        assert Path(f"{suffix}.novikoff").read_bytes() == expected
    fit("-", "--epochs", 2, input=packed["gz"])
    assert Path("stdin.novikoff").read_bytes() == expected
    half = text.index(b"\n\n", len(text) // 2) + 2
    Path("a.txt").write_bytes(text[:half])
    Path("b.txt").write_bytes(text[half:])
    fit("a.txt", "b.txt", "--epochs", 2, "--model", "both.novikoff")
    assert Path("both.novikoff").read_bytes() == expected


def test_any_number_of_threads_gives_the_same(model):
    outputs = {run("tag", "predict", model, "test.txt", "--n-jobs", n).stdout for n in (1, 2, 5)}
    assert len(outputs) == 1


def test_it_is_the_estimators_tagger(model):
    data = sentences()
    estimator = novikoff.SequenceTagger(features="crfsuite-chunking", max_epochs=3, random_state=0)
    estimator.fit([[t[:2] for t in s] for s in data], [[t[2] for t in s] for s in data])
    estimator.save("estimator.novikoff")
    assert weights_of(model) == weights_of("estimator.novikoff")
    loaded = novikoff.SequenceTagger.load(model)
    assert loaded.get_params()["max_epochs"] == 3
    X = [[t[:2] for t in s] for s in sentences(25, seed=1)]
    assert loaded.predict(X) == estimator.predict(X)


# ---- predict ------------------------------------------------------------------------------------------
def test_predictions_take_the_place_of_labels(model):
    data = sentences(25, seed=1)
    tags = novikoff.load_model(model).tag([[token[:2] for token in s] for s in data])
    assert tags != [[token[2] for token in s] for s in data]  # or the test could not fail
    expected = conll(
        [[(*t[:2], tag) for t, tag in zip(s, k, strict=True)] for s, k in zip(data, tags, strict=True)]
    )
    assert run("tag", "predict", model, "test.txt").stdout == expected
    bare = "".join("".join(" ".join(token[:2]) + "\n" for token in s) + "\n" for s in data)
    Path("bare.txt").write_text(bare)
    assert run("tag", "predict", model, "bare.txt").stdout == expected
    assert run("tag", "predict", model, "-", input=bare).stdout == expected
    run("tag", "predict", model, "test.txt", "--output", "out.txt.gz")
    assert gzip.decompress(Path("out.txt.gz").read_bytes()).decode() == expected
    assert run("tag", "predict", model, "out.txt.gz").stdout == expected


def test_what_is_no_token_is_written_back_as_it_was():
    text = "\n\n# a comment\n" + conllu(sentences(8)) + "# the end\n"
    Path("u.conllu").write_text(conllu(sentences(80)))
    Path("new.conllu").write_text(text)
    fit("u.conllu", "--templates", "crfsuite-chunking", "--label", "xpos", "--epochs", 20)
    assert run("tag", "predict", "u.novikoff", "new.conllu").stdout == text  # it has learned these by heart
    blank = "".join(
        "\t".join(c if k != 4 or not line[0].isdigit() else "_" for k, c in enumerate(line.split("\t")))
        for line in text.splitlines(keepends=True)
    )
    assert run("tag", "predict", "u.novikoff", "-", "--format", "conllu", input=blank).stdout == text


def test_labels_of_crfsuites_text_are_escaped():
    Path("a.crfsuite").write_text("N\\:X\tw=a\\:b\nV\tw=c\n\n" * 3)
    fit("a.crfsuite")
    assert novikoff.load_model("a.novikoff").classes.tolist() == ["N:X", "V"]
    assert run("tag", "predict", "a.novikoff", "a.crfsuite").stdout == Path("a.crfsuite").read_text()


def test_predictions_beside_labels_are_what_conlleval_reads(model):
    """The last two columns; counted by seqeval they give the figures of `evaluate`."""
    lines = run("tag", "predict", model, "test.txt", "--beside").stdout.split("\n\n")
    pairs = [[line.split()[-2:] for line in s.splitlines()] for s in lines if s.strip()]
    true, found = ([[pair[k] for pair in s] for s in pairs] for k in (0, 1))
    assert true == [[token[2] for token in s] for s in sentences(25, seed=1)]
    said = json.loads(run("tag", "evaluate", model, "test.txt", "--json").stdout)
    for name, measure in (("precision", precision_score), ("recall", recall_score), ("f1", f1_score)):
        assert said[name] == pytest.approx(measure(true, found), abs=1e-12)
        for kind, own in said["types"].items():
            by_type = measure(true, found, average=None)
            assert own[name] == pytest.approx(by_type[sorted(said["types"]).index(kind)], abs=1e-12)
    assert 0 < said["f1"] < 1
    assert said["accuracy"] == np.mean([a == b for s in pairs for a, b in s])
    assert said["right_sentences"] == sum(a == b for a, b in zip(true, found, strict=True))


def test_predict_streams(model):
    """What is read is written before all has been read."""
    text = Path("test.txt").read_bytes() * (3_000_000 // os.path.getsize("test.txt"))  # noqa: PTH202
    process = subprocess.Popen(
        [PYTHON, "-m", "novikoff", "tag", "predict", str(model), "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    first, all_read = threading.Event(), []

    def read() -> None:
        all_read.append(process.stdout.read(100_000))
        first.set()
        all_read.append(process.stdout.read())

    reader = threading.Thread(target=read)
    reader.start()
    process.stdin.write(text)
    process.stdin.flush()
    came = first.wait(timeout=PATIENCE)  # standard input is still open
    process.stdin.close()
    reader.join(timeout=PATIENCE)
    process.stdout.close()
    assert process.wait(timeout=PATIENCE) == 0
    assert came
    assert b"".join(all_read).count(b"\n") == text.count(b"\n")


# ---- evaluate, and what fit says ----------------------------------------------------------------------
def test_labels_that_are_no_chunks_are_counted_by_token():
    data = [[(w, "_", pos) for w, pos, _ in s] for s in sentences(40)]
    Path("pos.txt").write_text("".join("".join(f"{w}\t{k}\n" for w, _, k in s) + "\n" for s in data))
    done = run("tag", "fit", "pos.txt", "--test", "pos.txt", "--epochs", 2)
    assert "templates  pos, the default" in done.stdout
    assert "% of tokens correct" in done.stdout
    said = json.loads(run("tag", "evaluate", "pos.novikoff", "pos.txt", "--json").stdout)
    assert said["counted"] == "tokens"
    assert said["accuracy"] == said["precision"] == said["recall"] == said["f1"]
    assert sum(each["true"] for each in said["types"].values()) == said["tokens"] == sum(map(len, data))


def test_json_of_fit_has_everything():
    said = json.loads(run("tag", "fit", "train.txt", "--test", "test.txt", "--epochs", 3, "--json").stdout)
    assert said["model"] == "train.novikoff"
    assert said["classes"] == novikoff.load_model("train.novikoff").classes.tolist()
    assert {"precision", "recall", "f1", "accuracy", "types"} <= said["test"].keys()
    assert [record["epoch"] for record in said["history"]] == [1, 2, 3][: len(said["history"])]
    assert said["parameters"]["templates"] == "chunking"
    assert Templates(said["templates"]) == Templates.named("chunking")
    alone = json.loads(run("tag", "evaluate", "train.novikoff", "test.txt", "--json").stdout)
    assert alone == {"model": "train.novikoff"} | said["test"]


def test_labels_that_the_tagger_does_not_know_are_errors(model):
    text = Path("test.txt").read_text()
    Path("new.txt").write_text(text.replace("B-PP", "B-NEW"))
    known, new = (
        json.loads(run("tag", "evaluate", model, f, "--json").stdout) for f in ("test.txt", "new.txt")
    )
    assert new["unknown_labels"] == {"B-NEW": text.count("B-PP")}
    assert new["accuracy"] < known["accuracy"]
    assert new["types"]["NEW"]["recall"] == 0
    assert "does not know" in run("tag", "evaluate", model, "new.txt").stdout


def test_inspect_shows_templates_features_and_transitions(model):
    shown = run("inspect", model, "--top", 2).stdout
    tagger = novikoff.load_model(model)
    (feature, _, weight), *_ = tagger.top_features("B-VP", 1)
    (before, after, step), *_ = tagger.top_transitions(1)
    assert "pos[-1]|pos[0]" in shown
    assert f"{weight:>12.6g}  {feature}" in shown
    assert f"{step:>12.6g}  {before} {after}" in shown
    said = json.loads(run("inspect", model, "--json").stdout)
    assert said["top_transitions"][0] == [before, after, step]
    assert said["n_weights"] == len(tagger.pairs.w)


def test_progress_counts_sentences(monkeypatch):
    """What the bar is told while reading, learning and evaluating."""
    told = []

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(progress, "figures", lambda p, to_come=0: told.append(p) or "")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", Terminal())
        assert app.run(["tag", "fit", "train.txt", "--test", "test.txt", "--epochs", "2"]) == 0
    assert {p.what for p in told} == {"sentences"}
    assert [p.doing for p in told][:2] == ["reading", "epoch 1"]
    assert [p.rows for p in told] == [60, 60, 60, 25]
    assert told[1].mistakes > 0


# ---- what is loaded -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (("tag", "--help"), set()),
        (("tag", "fit", "--help"), set()),
        (("tag", "fit", "train.txt"), {"numpy"}),
        (("tag", "predict", "train.novikoff", "test.txt"), {"numpy"}),
        (("tag", "evaluate", "train.novikoff", "test.txt"), {"numpy"}),
        (("inspect", "train.novikoff"), {"numpy"}),
    ],
)
def test_no_command_loads_more_than_it_needs(arguments, heavy, model):
    every = ("numpy", "scipy", "sklearn", "pyarrow", "rich")
    code = (
        "import sys, atexit\n"
        f"atexit.register(lambda: print('loaded', *[m for m in {every} if m in sys.modules]))\n"
        "from novikoff.cli import main\n"
        "main()"
    )
    done = subprocess.run([PYTHON, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert set(done.stdout.splitlines()[-1].split()[1:]) == heavy


# ---- bad input ----------------------------------------------------------------------------------------
def test_bad_lines_are_named_by_file_and_line(model):
    good = "the DT B-NP\ndog NN I-NP\n\n"
    Path("ragged.txt").write_text(good + "in IN\n")
    assert error_of("tag", "fit", "ragged.txt").startswith("ragged.txt, line 4: expected 3 columns")
    assert error_of("tag", "evaluate", model, "ragged.txt").startswith("ragged.txt, line 4: ")
    assert error_of("tag", "predict", model, "ragged.txt", "-o", "o.txt").startswith("ragged.txt, line 4: ")
    assert not Path("o.txt").exists()
    Path("latin.txt").write_bytes(good.encode() + b"caf\xe9 NN O\n")
    assert error_of("tag", "fit", "latin.txt").startswith("latin.txt, line 4: ")
    Path("id.conllu").write_text("1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n3\tb\t_\tX\t_\t_\t_\t_\t_\t_\n")
    assert error_of("tag", "fit", "id.conllu").startswith("id.conllu, line 2: ")
    Path("bad.crfsuite").write_text("X\tw=a\nX\tw=b:nan\n")
    assert error_of("tag", "fit", "bad.crfsuite").startswith("bad.crfsuite, line 2: ")
    assert sorted(p.name for p in Path().glob("*.novikoff")) == ["train.novikoff"]


def test_bad_files_and_options(model, folder):
    Path("empty.txt").write_text("")
    Path("words.txt").write_text("the\ndog\n")
    Path("wide.txt").write_text("a b c d e O\n")
    Path("broken.tpl").write_text("w[0]\nw[0\n")
    Path("far.tpl").write_text("columns: a b c d\nd[0]\n")
    assert "No such file" in error_of("tag", "fit", "missing.txt")
    assert "at least one sentence" in error_of("tag", "fit", "empty.txt")
    assert error_of("tag", "fit", "words.txt").startswith("words.txt, line 1: expected a token and its label")
    assert "--templates" in error_of("tag", "fit", "wide.txt")
    assert "chunking" in error_of("tag", "fit", "train.txt", "--templates", "chunkng")
    assert "broken.tpl: template line 2" in error_of("tag", "fit", "train.txt", "--templates", "broken.tpl")
    assert "'d'" in error_of("tag", "fit", "train.txt", "--templates", "far.tpl")
    assert "--transitions bio needs labels of the form B-" in error_of(
        "tag", "fit", "train.txt", "--templates", "pos", "--label", 2, "--transitions", "bio"
    )
    assert "is not possible" in run("tag", "fit", "train.txt", "--epochs", 0, code=2).stderr
    assert "is not possible" in run("tag", "fit", "train.txt", "--format", "csv", code=2).stderr
    assert "no folder" in run("tag", "fit", "train.txt", "--model", "no/x.novikoff", code=2).stderr
    assert "is not a novikoff file" in error_of("tag", "fit", "train.txt", "--model", "test.txt")
    Path("u.conllu").write_text(conllu(sentences(3)))
    assert (
        "--beside" in run("tag", "predict", model, "u.conllu", "--label", "xpos", "--beside", code=2).stderr
    )
    assert "which has 3 columns" in error_of("tag", "fit", "train.txt", "--label", 4)
    assert "a name needs --templates" in error_of("tag", "fit", "train.txt", "--label", "chunk")
    Path("bare.txt").write_text("the DT\n")
    assert "expected 3 columns with the label" in error_of("tag", "evaluate", model, "bare.txt")
    assert sorted(p.name for p in Path().glob("*.novikoff")) == ["train.novikoff"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"the\tDT\tB-NP\ndog NN I-NP\n",
            "line 2: expected 3 columns, as in line 1, which has tabs between them",
        ),
        (
            b"# comment\nthe DT B-NP\n",
            "line 2: expected 2 columns, as in line 1, where # begins no comment",
        ),
        (b"the,DT,B-NP\n", "line 1: expected a token and its label, separated by blanks or tabs, found one"),
        ("the DT B-NP\n".encode("utf-16"), "the text is UTF-16"),
        (b"\n \n", "expected at least one sentence"),
    ],
)
def test_typical_mistakes_have_one_clear_error(content, said):
    Path("bad.txt").write_bytes(content)
    error = error_of("tag", "fit", "bad.txt")
    assert error.startswith("bad.txt")
    assert said.split(" found")[0] in error
    assert not Path("bad.novikoff").exists()


def test_byte_order_marks_and_windows_line_ends_are_no_mistakes(model):
    text = conll(sentences()).replace("\n", "\r\n").encode()
    Path("windows.txt").write_bytes(b"\xef\xbb\xbf" + text)
    fit("windows.txt", "--templates", "crfsuite-chunking", "--epochs", 3)
    assert weights_of("windows.novikoff") == weights_of(model)


def test_missing_empty_lines_are_reported_or_refused():
    """A sentence of hundreds of tokens is learned from, as it may be one."""
    Path("long.txt").write_text("the DT B-NP\n" * 120)
    done = run("tag", "fit", "long.txt", "--epochs", 1)
    said = (
        "long.txt, line 1: the only sentence that begins here has 120 tokens; an empty line ends a sentence."
    )
    assert f"warning: {said}" in done.stderr
    assert error_of("tag", "fit", "long.txt", "--strict") == said
    Path("long.txt").write_text("a DT B-NP\n\n" + "the DT B-NP\n" * 120)
    assert "warning" not in run("tag", "fit", "long.txt", "--epochs", 1).stderr
    Path("long.txt").write_text("a DT B-NP\n\n" + "the DT B-NP\n" * 500)
    assert "long.txt, line 3: the sentence" in run("tag", "fit", "long.txt", "--epochs", 1).stderr


def test_a_bad_test_file_is_found_before_training(monkeypatch):
    good = Path("train.txt").read_text()
    wrong = {
        "ragged.txt": (good + "x\n", f"line {good.count(chr(10)) + 1}: expected 3 columns"),
        "none.txt": ("", "at least one sentence"),
        "bare.txt": ("the DT\n\n", "expected 3 columns with the label"),
        "a.crfsuite": (crfsuite(sentences(2)), "the file has attributes"),
    }
    for name, (text, said) in wrong.items():
        Path(name).write_text(text)
        error = error_of("tag", "fit", "train.txt", "--test", name)
        assert error.startswith(name)
        assert said in error
    assert not list(Path().glob("*.novikoff"))
    monkeypatch.setattr("novikoff.cli.tag.inputs.TEST_BYTES", 10)  # of larger files the first block is read
    assert error_of("tag", "fit", "train.txt", "--test", "bare.txt").startswith("bare.txt")


def test_nothing_to_tag_is_no_error(model):
    for text in ("", "\n\n"):
        assert run("tag", "predict", model, "-", input=text).stdout == ""
        assert run("tag", "predict", model, "-", "--json", input=text).stdout == ""
    Path("none.txt").write_text("")
    run("tag", "predict", model, "none.txt", "-o", "out.txt")
    assert Path("out.txt").read_bytes() == b""
    assert error_of("tag", "predict", model, "none.txt", "test.txt").startswith("none.txt: expected at least")
    assert "at least one sentence" in error_of("tag", "evaluate", model, "none.txt")
    Path("u.conllu").write_text(conllu(sentences(20)))
    fit("u.conllu", "--epochs", 1)
    Path("only.conllu").write_text("# only a comment\n\n")
    assert run("tag", "predict", "u.novikoff", "only.conllu").stdout == "# only a comment\n\n"


def test_fit_says_first_how_good_it_is():
    """F1 and tokens on training, held-out and test sentences, as `evaluate` counts them."""
    done = run("tag", "fit", "train.txt", "--test", "test.txt", "--epochs", 3, "--early-stopping")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["training", "held", "test"]
    assert all("F1 " in line for line in lines[1:4])
    for how in ("given", "iobes"):
        command = [
            "tag",
            "fit",
            "train.txt",
            "--test",
            "train.txt",
            "--learn-as",
            how,
            "--epochs",
            2,
            "--json",
        ]
        said = json.loads(run(*command).stdout)
        training, test = said["report"]["training"], said["test"]
        assert training["f1"] == pytest.approx(test["f1"], abs=1e-12)
        assert 0 < training["f1"] < 1
        assert training["accuracy"] == pytest.approx(test["accuracy"], abs=1e-12)
        assert training["baseline"] == pytest.approx(test["baseline"], abs=1e-12)
        assert said["report"]["training_errors"] == test["sentences"] - test["right_sentences"]
    again = run("inspect", "train.novikoff").stdout  # the file has these figures
    assert f"F1 {100 * training['f1']:.2f}, " in again


def test_models_of_another_kind(model):
    Path("rows.svm").write_text("1 1:1\n-1 1:-1\n")
    run("fit", "rows.svm", "--quiet")
    assert "model for rows" in error_of("tag", "predict", "rows.novikoff", "test.txt")
    assert "`novikoff tag`" in error_of("predict", model, "rows.svm")
    damaged = bytearray(model.read_bytes())
    damaged[-9] ^= 1
    Path("damaged.novikoff").write_bytes(damaged)
    assert "digest" in error_of("tag", "predict", "damaged.novikoff", "test.txt")
    Path("text.novikoff").write_text("no model at all")
    assert "is not a novikoff model file" in error_of("tag", "evaluate", "text.novikoff", "test.txt")
    Path("a.crfsuite").write_text(crfsuite(sentences(5)))
    assert (
        "a.crfsuite: the file has attributes, but the tagger was trained on files with columns"
        in error_of("tag", "predict", model, "a.crfsuite")
    )
    fit("a.crfsuite", "--model", "a.novikoff")
    assert "test.txt: the file has columns, but" in error_of("tag", "predict", "a.novikoff", "test.txt")


# ---- what is left behind ------------------------------------------------------------------------------
def test_a_full_disk_leaves_the_old_model(model):
    before, names = model.read_bytes(), sorted(p.name for p in Path().iterdir())
    for arguments in (("fit", "train.txt"), ("predict", "train.novikoff", "test.txt", "-o", "out.txt")):
        command = with_small_files([PYTHON, "-m", "novikoff", "tag", *arguments])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        assert "nothing was saved" in done.stderr
    assert model.read_bytes() == before
    assert sorted(p.name for p in Path().iterdir()) == names


def test_an_interrupt_saves_what_was_learned():
    Path("long.txt").write_text(conll(sentences(3000)))
    with Child.novikoff("tag", "fit", "long.txt", "--epochs", "1000000000", "-v") as child:
        child.wait_for("epoch")
        child.interrupt()
        assert child.end() == 130
    assert "saved in long.novikoff" in child.output
    assert run("tag", "evaluate", "long.novikoff", "long.txt").stdout.startswith("F1 ")


def test_a_killed_fit_leaves_nothing():
    Path("long.txt").write_text(conll(sentences(3000)))
    with Child.novikoff("tag", "fit", "long.txt", "--epochs", "1000000000", "-v") as child:
        child.wait_for("epoch")
        child.kill()
        child.end()
    assert sorted(p.name for p in Path().iterdir()) == ["long.txt", "test.txt", "train.txt"]


# ---- real data ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("train", "test", "templates", "measure", "at_least"),
    [
        ("conll2000/train.txt.gz", "conll2000/test.txt.gz", "chunking", "f1", 0.935),
        (
            "ud_english_ewt/en_ewt-ud-train.conllu.xz",
            "ud_english_ewt/en_ewt-ud-test.conllu.xz",
            "pos",
            "accuracy",
            0.9415,  # what NLTK's tagger reaches
        ),
    ],
)
def test_one_command_makes_a_good_tagger(train, test, templates, measure, at_least):
    if not (DATA / train).exists() or not (DATA / test).exists():
        pytest.skip(f"{train} and {test} are not at hand")
    command = ["tag", "fit", DATA / train, "--test", DATA / test, "--model", "m.novikoff", "--json"]
    said = json.loads(run(*command).stdout)
    assert said["parameters"]["templates"] == templates
    assert said["test"][measure] >= at_least
