"""Taggers compared with python-crfsuite's averaged perceptron and NLTK's, from the same files, in one run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.exactness import DATA
from benchmarks.table import Row, faster, skipped
from benchmarks.tagging_peers import (
    attributes,
    columns,
    crfsuite_tag_file,
    crfsuite_tagger,
    crfsuite_train,
)
from novikoff import SequenceTagger, load_model
from novikoff.data.sources.bytestream import ByteStream
from novikoff.tagging import training as tagging
from novikoff.tagging.conll import open_sentences
from novikoff.tagging.features import TemplateFeatures
from novikoff.tagging.tagger import Tagger

CONLL = DATA / "conll2000"
EWT = DATA / "ud_english_ewt"
OURS = 3  # our runs per run of the peer, which takes far longer


def chunking(repeat: int) -> Iterator[Row]:
    """CoNLL-2000: whole programs from text to model and from text to tags; the training alone."""
    if not CONLL.exists():
        yield skipped("CoNLL-2000", "not at hand")
        return
    rounds = max(repeat // 3, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, test = (unpacked(CONLL / f"{part}.txt.gz", folder) for part in ("train", "test"))
        ours, theirs = folder / "m.novikoff", folder / "m.crfsuite"
        seconds, takes = best_times(
            novikoff("tag", "fit", train, "--templates", "crfsuite-chunking", "--model", ours, "--quiet"),
            peer("crfsuite-fit", train, theirs),
            rounds,
        )
        work = "CoNLL-2000 chunking, train.txt to a saved model, 10 epochs, whole programs"
        yield faster(work, seconds, "python-crfsuite ap, the same features", takes, at_least=8)
        sentences = list(columns(train))
        X = [attributes(sentence) for sentence in sentences]
        y = [[token[-1] for token in sentence] for sentence in sentences]
        seconds, takes = best_times(
            lambda: SequenceTagger(random_state=0).fit(X, y).save(folder / "lists.novikoff"),
            lambda: crfsuite_train(X, y, str(folder / "lists.crfsuite")),
            rounds,
        )
        yield faster(
            "training from ready feature lists", seconds, "python-crfsuite append + train", takes, at_least=4
        )
        tagger, other = load_model(ours), crfsuite_tagger(str(theirs))
        seconds, takes = best_times(
            lambda: tag_file(tagger, test, folder / "ours.txt"),
            lambda: crfsuite_tag_file(other, str(test), str(folder / "theirs.txt")),
            max(rounds, 3),
        )
        work = "tagging test.txt, text to tags, the model loaded"
        yield faster(work, seconds, "python-crfsuite", takes, at_least=8)
        seconds, takes = best_times(
            novikoff("tag", "predict", ours, test, "--output", folder / "ours.txt"),
            peer("crfsuite-tag", theirs, test, folder / "theirs.txt"),
            max(rounds, 2),
        )
        work = "tagging test.txt, whole programs from their start"
        yield faster(work, seconds, "python-crfsuite", takes)
        own, other = scores(ours, test), f1_of(folder / "theirs.txt", test)
        sizes = ours.stat().st_size, theirs.stat().st_size
        yield Row(
            f"size of the model (F1 {100 * own['f1']:.2f} against {100 * other:.2f})",
            f"{sizes[0] / 1e6:.1f} MB", "python-crfsuite", f"{sizes[1] / 1e6:.1f} MB",
            f"{sizes[0] / sizes[1]:.2f}", "≤ 1", sizes[0] <= sizes[1],
        )  # fmt: skip


def parts_of_speech(_: int) -> Iterator[Row]:
    """UD English EWT: a CoNLL-U file to a model."""
    if not EWT.exists():
        yield skipped("UD English EWT", "not at hand")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, test = (unpacked(EWT / f"en_ewt-ud-{part}.conllu.xz", folder) for part in ("train", "test"))
        ours, theirs = folder / "pos.novikoff", folder / "pos.json"
        seconds, takes = best_times(
            novikoff("tag", "fit", train, "--model", ours, "--quiet"), peer("nltk-fit", train, theirs), 1
        )
        work = "UD EWT parts of speech, CoNLL-U to a saved model, 10 epochs, whole programs"
        yield faster(work, seconds, "NLTK's PerceptronTagger", takes, at_least=20)
        own, other = scores(ours, test)["accuracy"], nltk_accuracy(theirs, test)
        yield Row(
            "correct tokens in the test sentences", f"{100 * own:.2f} %", "NLTK's PerceptronTagger",
            f"{100 * other:.2f} %", f"{100 * (own - other):+.2f}", "higher", own > other,
        )  # fmt: skip


def tag_file(tagger: Tagger, path: Path, out: Path) -> None:
    """As `novikoff tag predict` does."""
    features = tagger.features
    assert isinstance(features, TemplateFeatures)
    source = open_sentences(path, features.templates, labelled=None)
    with out.open("wb") as file:
        for block in source.blocks(features):
            tags = tagging.tag(tagger.scorer, block.sequences, -1)
            file.write(block.tagged(tags, tagger.classes.tolist()))


def best_times(ours: Callable[[], Any], peer: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """The best times of both, taken in turn; ours before and after each run of the peer."""
    own, other = [], []
    for _ in range(rounds):
        own += [timed(ours) for _ in range(OURS - 1)]
        other.append(timed(peer))
        own.append(timed(ours))
    return min(own), min(other)


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def novikoff(*arguments: object) -> Callable[[], None]:
    return program("novikoff", *arguments)


def peer(*arguments: object) -> Callable[[], None]:
    return program("benchmarks.tagging_peers", *arguments)


def program(module: str, *arguments: object) -> Callable[[], None]:
    command = [sys.executable, "-m", module, *map(str, arguments)]
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{tempfile.gettempdir()}/novikoff-pyc"}

    def run() -> None:  # with compiled modules, as installed programs have them
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | compiled)

    return run


def unpacked(path: Path, folder: Path) -> Path:
    """The file without compression, so that no reader spends time on it."""
    target = folder / path.with_suffix("").name
    with ByteStream(path).reader() as packed, target.open("wb") as out:
        shutil.copyfileobj(packed, out)
    return target


def scores(model: Path, test: Path) -> dict[str, Any]:
    """The output of `novikoff tag evaluate --json`."""
    command = [sys.executable, "-m", "novikoff", "tag", "evaluate", str(model), str(test), "--json"]
    said: dict[str, Any] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    return said


def f1_of(tagged: Path, test: Path) -> float:
    """F1 of a tagged file, counted by seqeval."""
    from seqeval.metrics import f1_score

    labels = [[[token[-1] for token in s] for s in columns(path)] for path in (test, tagged)]
    return float(f1_score(*labels))


def nltk_accuracy(model: Path, test: Path) -> float:
    command = [sys.executable, "-m", "benchmarks.tagging_peers", "nltk-accuracy", str(model), str(test)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
