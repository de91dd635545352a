"""The peers of novikoff's tagger as separate programs: python-crfsuite and NLTK.

python -m benchmarks.tagging_peers crfsuite-fit TRAIN MODEL, and so on: see the end of the file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ITERATIONS = 10

# The nineteen templates of CRFsuite's tutorial on chunking: columns and offsets of the combined cells.
W, POS = 0, 1
TEMPLATES: tuple[tuple[tuple[int, int], ...], ...] = (
    ((W, -2),),
    ((W, -1),),
    ((W, 0),),
    ((W, 1),),
    ((W, 2),),
    ((W, -1), (W, 0)),
    ((W, 0), (W, 1)),
    ((POS, -2),),
    ((POS, -1),),
    ((POS, 0),),
    ((POS, 1),),
    ((POS, 2),),
    ((POS, -2), (POS, -1)),
    ((POS, -1), (POS, 0)),
    ((POS, 0), (POS, 1)),
    ((POS, 1), (POS, 2)),
    ((POS, -2), (POS, -1), (POS, 0)),
    ((POS, -1), (POS, 0), (POS, 1)),
    ((POS, 0), (POS, 1), (POS, 2)),
)
NAMES = ["|".join(f"{('w', 'pos')[c]}[{offset}]" for c, offset in parts) + "=" for parts in TEMPLATES]

Token = Sequence[str]


def attributes(sentence: Sequence[Token]) -> list[list[str]]:
    """The attributes of every token of a sentence."""
    n, out = len(sentence), []
    for t in range(n):
        found = []
        for name, template in zip(NAMES, TEMPLATES, strict=True):
            values = []
            for column, offset in template:
                p = t + offset
                if p < 0 or p >= n:
                    break
                values.append(sentence[p][column])
            else:
                found.append(name + "|".join(values))
        out.append(found)
    if out:
        out[0].append("__BOS__")
        out[-1].append("__EOS__")
    return out


def columns(path: str | Path) -> Iterator[list[list[str]]]:
    """Sentences of a CoNLL file as lists of cells."""
    sentence: list[list[str]] = []
    with open(path, encoding="utf-8") as lines:  # noqa: PTH123
        for line in lines:
            if line.strip():
                sentence.append(line.split())
            elif sentence:
                yield sentence
                sentence = []
    if sentence:
        yield sentence


def words(path: str | Path) -> Iterator[list[tuple[str, str]]]:
    """Words and parts of speech of a CoNLL-U file."""
    sentence: list[tuple[str, str]] = []
    with open(path, encoding="utf-8") as lines:  # noqa: PTH123
        for line in lines:
            if line.startswith("#"):
                continue
            cells = line.rstrip("\n").split("\t")
            if len(cells) == 10:
                if cells[0].isdigit():
                    sentence.append((cells[1], cells[3]))
            elif sentence:
                yield sentence
                sentence = []
    if sentence:
        yield sentence


# ---- python-crfsuite ---------------------------------------------------------------------------------
def crfsuite_train(X: Any, y: Any, model: str) -> None:
    """Append all sentences and train the averaged perceptron."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": ITERATIONS})
    for sentence, labels in zip(X, y, strict=True):
        trainer.append(sentence, labels)
    trainer.train(model)


def crfsuite_fit(train: str, model: str) -> None:
    sentences = list(columns(train))
    X = [attributes(sentence) for sentence in sentences]
    crfsuite_train(X, [[token[-1] for token in sentence] for sentence in sentences], model)


def crfsuite_tagger(model: str) -> Any:
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    return tagger


def crfsuite_tag(model: str, path: str, out: str) -> None:
    crfsuite_tag_file(crfsuite_tagger(model), path, out)


def crfsuite_tag_file(tagger: Any, path: str, out: str) -> None:
    with open(out, "w", encoding="utf-8") as file:  # noqa: PTH123
        for sentence in columns(path):
            for token, label in zip(sentence, tagger.tag(attributes(sentence)), strict=True):
                file.write(" ".join([*token[:-1], label]) + "\n")
            file.write("\n")


# ---- NLTK --------------------------------------------------------------------------------------------
def nltk_fit(train: str, model: str) -> None:
    from nltk.tag.perceptron import PerceptronTagger

    tagger = PerceptronTagger(load=False)
    tagger.train(list(words(train)), nr_iter=ITERATIONS)
    with open(model, "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(tagger.encode_json_obj(), file)


def nltk_accuracy(model: str, path: str) -> None:
    """Print the share of correct tokens."""
    from nltk.tag.perceptron import PerceptronTagger

    tagger = PerceptronTagger(load=False)
    with open(model, encoding="utf-8") as file:  # noqa: PTH123
        tagger.decode_json_params(json.load(file))
    right = tokens = 0
    for sentence in words(path):
        for (_, own), (_, tag) in zip(sentence, tagger.tag([w for w, _ in sentence]), strict=True):
            right, tokens = right + (own == tag), tokens + 1
    print(right / tokens)


PROGRAMS = {
    "crfsuite-fit": crfsuite_fit,
    "crfsuite-tag": crfsuite_tag,
    "nltk-fit": nltk_fit,
    "nltk-accuracy": nltk_accuracy,
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
