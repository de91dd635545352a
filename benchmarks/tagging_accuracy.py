"""Accuracy of taggers, compared with python-crfsuite and NLTK: the tables of docs/tag-commands.md.

python -m benchmarks.tagging_accuracy [chunking] [pos]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.tagging import CONLL, EWT, nltk_accuracy, peer, unpacked
from benchmarks.tagging_peers import attributes, columns, crfsuite_tagger, crfsuite_train, words
from novikoff import SequenceTagger
from novikoff.tagging.chunks import chunk_scores
from novikoff.tagging.features import TemplateFeatures
from novikoff.tagging.templates import Templates

SEEDS = range(5)

Labels = list[list[str]]


def ours(make: Callable[[int], Any], X: Any, y: Labels, test: Any, score: Callable[[Labels], float]) -> str:
    """The mean over seeds, and the smallest and largest."""
    found = [score(make(seed).fit(X, y).predict(test)) for seed in SEEDS]
    return f"{sum(found) / len(found):.2f} ({min(found):.2f} – {max(found):.2f})"


def crfsuite(X: Any, y: Labels, test: Any, score: Callable[[Labels], float]) -> str:
    """One figure, because its averaged perceptron visits the sentences in one fixed order."""
    with tempfile.TemporaryDirectory() as folder:
        crfsuite_train(X, y, f"{folder}/m.crfsuite")
        tagger = crfsuite_tagger(f"{folder}/m.crfsuite")
        return f"{score([tagger.tag(sentence) for sentence in test]):.2f}"


def chunking() -> None:
    """F1 of CoNLL-2000's chunks."""
    with tempfile.TemporaryDirectory() as name:
        paths = (unpacked(CONLL / f"{part}.txt.gz", Path(name)) for part in ("train", "test"))
        train, test = (list(columns(path)) for path in paths)
    y, true = ([[token[-1] for token in s] for s in part] for part in (train, test))
    tokens, new = ([[tuple(token[:-1]) for token in s] for s in part] for part in (train, test))

    def f1(found: Labels) -> float:
        return 100 * chunk_scores(true, found).all.f1

    lists, new_lists = ([attributes(s) for s in part] for part in (train, test))
    rows = [
        (
            "novikoff, the 19 templates",
            ours(lambda s: SequenceTagger(random_state=s), lists, y, new_lists, f1),
        ),
        ("python-crfsuite `ap`, the same features", crfsuite(lists, y, new_lists, f1)),
    ]
    del lists, new_lists

    def shipped(seed: int) -> SequenceTagger:
        return SequenceTagger(features="chunking", random_state=seed)

    rows.append(("novikoff, `--templates chunking`", ours(shipped, tokens, y, new, f1)))
    table("CoNLL-2000 chunks, ten epochs", "F1 on test.txt", rows)


def pos() -> None:
    """The share of correct tokens on UD English EWT's parts of speech."""
    templates = Templates.named("pos")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, test = (unpacked(EWT / f"en_ewt-ud-{part}.conllu.xz", folder) for part in ("train", "test"))
        peer("nltk-fit", train, folder / "nltk.json")()
        nltk = 100 * nltk_accuracy(folder / "nltk.json", test)
        read = [list(words(path)) for path in (train, test)]
    y, true = ([[label for _, label in s] for s in part] for part in read)
    X, new = ([[word for word, _ in s] for s in part] for part in read)

    def accuracy(found: Labels) -> float:
        return 100 * chunk_scores(true, found).accuracy

    features = TemplateFeatures(templates)
    lists, new_lists = ([features.attributes(s) for s in part] for part in (X, new))

    def shipped(seed: int) -> SequenceTagger:
        return SequenceTagger(features=templates, random_state=seed)

    rows = [
        ("novikoff, `--templates pos`", ours(shipped, X, y, new, accuracy)),
        ("python-crfsuite `ap`, the same features", crfsuite(lists, y, new_lists, accuracy)),
        ("NLTK's `PerceptronTagger`, its own features", f"{nltk:.2f}"),
    ]
    table("UD English EWT parts of speech, ten epochs", "% of test tokens right", rows)


def table(title: str, measure: str, rows: Sequence[tuple[str, str]]) -> None:
    print(f"\n| {title} | {measure} |\n|---|---|", flush=True)
    for name, figure in rows:
        print(f"| {name} | {figure} |", flush=True)


TABLES = {"chunking": chunking, "pos": pos}

if __name__ == "__main__":
    for each in sys.argv[1:] or TABLES:
        TABLES[each]()
