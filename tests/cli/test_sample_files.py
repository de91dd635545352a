"""The sample files: every format has one, each can be made again, and all can be read."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from novikoff.parameters.files import FORMATS
from novikoff.parameters.tag_commands import SENTENCE_FORMATS
from support.commands import run
from support.places import ROOT

SAMPLES = ROOT / "examples" / "data"
ROWS = {  # the files that `fit` reads, with the options that they need and the rows that the README states
    "iris.csv": ((), 150),
    "guests.csv": (("--label", "again", "--text", "remark", "--ignore", "guest"), 200),
    "messages.tsv": (("--text", "message"), 120),
    "messages-later.tsv": (("--text", "message"), 40),
    "messages.vw": ((), 120),
    "visits.jsonl": ((), 150),
    "wine-train.svm": ((), 119),
    "wine-test.svm": ((), 59),
    "wine.parquet": ((), 178),
    "tumours.arrow": ((), 569),
}
SENTENCES = ("pos.conllu", "chunks.conll", "chunks.crfsuite")


def test_there_is_one_for_every_format_and_the_readme_lists_it():
    listed = (SAMPLES / "README.md").read_text(encoding="utf-8")
    files = {path.name for path in SAMPLES.iterdir() if path.suffix not in (".md", ".py") and path.is_file()}
    assert files == {*ROWS, *SENTENCES}
    assert all(f"`{name}`" in listed for name in files)
    suffixes = {Path(name).suffix[1:] for name in files}
    assert suffixes == {"svm" if format == "libsvm" else format for format in (*FORMATS, *SENTENCE_FORMATS)}


def test_they_are_what_the_script_makes(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    made = runpy.run_path(str(SAMPLES / "make.py"))
    made["main"](tmp_path)
    for name in (*ROWS, *SENTENCES):
        if name.endswith("parquet"):  # whose bytes name the version of pyarrow
            tables = [parquet.read_table(folder / name) for folder in (tmp_path, SAMPLES)]
        elif name.endswith("arrow"):
            tables = [feather.read_table(str(folder / name)) for folder in (tmp_path, SAMPLES)]
        else:
            assert (tmp_path / name).read_bytes() == (SAMPLES / name).read_bytes(), name
            continue
        assert isinstance(tables[0], pyarrow.Table) and tables[0].equals(tables[1]), name


@pytest.mark.parametrize("name", ROWS)
def test_fit_learns_from_each_without_a_warning(name, tmp_path):
    if Path(name).suffix in (".csv", ".tsv", ".parquet", ".arrow"):
        pytest.importorskip("pyarrow")
    options, rows = ROWS[name]
    result = run("fit", SAMPLES / name, *options, "--model", tmp_path / "m", "--json")
    report = json.loads(result.stdout)["report"]
    assert "warning" not in result.stderr
    assert report["n_rows"] == rows
    assert report["training"]["accuracy"] > report["training"]["baseline"] + 0.05


@pytest.mark.parametrize("name", SENTENCES)
def test_tag_fit_learns_from_each(name, tmp_path):
    result = run("tag", "fit", SAMPLES / name, "--model", tmp_path / "m", "--json")
    figures = json.loads(result.stdout)["report"]
    assert figures["training"]["accuracy"] > 0.99
    text = (SAMPLES / name).read_text(encoding="utf-8")
    assert text.count("\n\n") == 100 and text.endswith("\n\n")


def test_heads_of_the_sentences_are_trees():
    """CoNLL-U: each token has one head, one of them is the root, and all lead to it."""
    for block in (SAMPLES / "pos.conllu").read_text(encoding="utf-8").strip().split("\n\n"):
        heads = [int(line.split("\t")[6]) for line in block.splitlines() if not line.startswith("#")]
        assert heads.count(0) == 1
        for token in range(1, len(heads) + 1):
            seen = set()
            while token:
                assert token not in seen
                seen.add(token)
                token = heads[token - 1]
