"""Make the sample files beside this one: ``python examples/data/make.py [FOLDER]``; see README.md there.

Iris, wine and breast cancer come from scikit-learn; everything else is written or drawn here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

Row = dict[str, Any]


def chosen(rng: Random, values: Sequence[Any]) -> Any:
    """One of the values; `random` alone gives the same numbers in every version of Python."""
    return values[int(rng.random() * len(values))]


def lines(path: Path, texts: Iterable[str]) -> None:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8", newline="\n")


def csv(path: Path, rows: list[Row], separator: str = ",") -> None:
    """Cells that hold the separator, and no others, are quoted."""

    def cell(value: Any) -> str:
        text = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
        return f'"{text}"' if separator in text else text

    lines(path, [separator.join(rows[0]), *(separator.join(map(cell, row.values())) for row in rows)])


# ---- from scikit-learn ---------------------------------------------------------------------------------
def flowers() -> list[Row]:
    from sklearn.datasets import load_iris

    data = load_iris()
    names = [name.removesuffix(" (cm)").replace(" ", "_") for name in data.feature_names]
    return [
        dict(zip(names, x, strict=True)) | {"class": str(data.target_names[k])}
        for x, k in zip(data.data.tolist(), data.target, strict=True)
    ]


def wines() -> list[Row]:
    from sklearn.datasets import load_wine

    data = load_wine()
    names = [name.replace("/", "_") for name in data.feature_names]
    return [
        dict(zip(names, x, strict=True)) | {"class": f"cultivar_{k + 1}"}
        for x, k in zip(data.data.tolist(), data.target, strict=True)
    ]


def tumours() -> list[Row]:
    """The first ten of the thirty measurements."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    names = [name.replace(" ", "_") for name in data.feature_names[:10]]
    return [
        dict(zip(names, x, strict=False)) | {"class": str(data.target_names[k])}
        for x, k in zip(data.data[:, :10].tolist(), data.target, strict=True)
    ]


def libsvm(rows: list[Row]) -> list[str]:
    def line(row: Row) -> str:
        *values, label = row.values()
        return f"{label[-1]} " + " ".join(f"{j + 1}:{value:g}" for j, value in enumerate(values))

    return [line(row) for row in rows]


# ---- people who were asked whether they would come again: numbers, categories and a text ----------------
GOOD = ("friendly staff", "lovely view", "quiet room", "great breakfast", "clean and bright", "good bed")
BAD = ("rude staff", "noisy street", "cold room", "stale bread", "dirty bath", "hard bed")
NEUTRAL = ("near the station", "third floor", "two nights", "paid by card", "came by train", "with dog")


def guests(n: int = 200) -> list[Row]:
    rng, rows = Random(1), []
    for i in range(n):
        season, room = (
            chosen(rng, ("spring", "summer", "autumn", "winter")),
            chosen(rng, ("single", "double")),
        )
        age, nights = 18 + int(60 * rng.random()), 1 + int(7 * rng.random())
        price = round(50 + 20 * nights + 60 * rng.random(), 2)
        liked = 0.03 * (age - 45) + 0.3 * nights - 0.02 * (price - 130) + (season == "summer") - 0.6
        liked += 1.5 * (rng.random() - 0.5)
        remarks = [chosen(rng, GOOD if liked > 0 else BAD), chosen(rng, NEUTRAL)]
        if rng.random() < 0.3:
            remarks.append(chosen(rng, (*GOOD, *BAD)))
        row: Row = {"guest": f"G{1001 + i}", "age": age if rng.random() > 0.03 else None, "nights": nights}
        row |= {"price": price, "room": room, "season": season, "remark": ", ".join(remarks)}
        rows.append(row | {"again": "yes" if liked > 0 else "no"})
    return rows


# ---- messages ------------------------------------------------------------------------------------------
HAM = (
    "{name}, are we still on for {meal} on {day}?",
    "the {thing} is on your desk, {name}",
    "can you send me the {thing} before {day}?",
    "thanks for {meal}, see you on {day}",
    "running late, start {meal} without me",
    "{name} says the meeting is on {day} at {number}",
    "did you read the {thing} that {name} wrote?",
    "happy birthday, {name}! {meal} on {day}?",
)
SPAM = (
    "win a free {prize} now, only until {day}!",
    "{name}, you have been chosen for a {prize}: click here",
    "cheap loans from {number} percent, no questions",
    "claim your free {prize}: call {number} now",
    "congratulations! your {prize} is waiting, click now",
    "lose {number} pounds by {day}, money back",
    "last offer: a free {prize} with every loan",
    "act now, {name}: your account wins a {prize}",
)
WORDS = {
    "name": ("Ann", "Bob", "Chris", "Dana", "Eve", "Frank"),
    "meal": ("lunch", "dinner", "coffee", "breakfast"),
    "day": ("Monday", "Tuesday", "Friday", "Saturday"),
    "thing": ("report", "contract", "letter", "list", "draft"),
    "prize": ("phone", "holiday", "car", "voucher", "laptop"),
    "number": ("5", "7", "10", "12", "20"),
}


def messages(n: int, seed: int) -> list[Row]:
    rng, rows = Random(seed), []
    for _ in range(n):
        label = "spam" if rng.random() < 0.4 else "ham"
        words = {name: chosen(rng, values) for name, values in WORDS.items()}
        text = chosen(rng, SPAM if label == "spam" else HAM).format(**words)
        rows.append({"label": label, "message": text})
    return rows


def vw(row: Row) -> str:
    text = "".join(c if c.isalnum() else " " for c in row["message"].lower())
    signs = sum(row["message"].count(c) for c in "!?")
    return f"{row['label']} |word {' '.join(text.split())} |sign marks:{signs} length:{len(row['message'])}"


def visit(rng: Random) -> Row:
    """A visit to a shop, with lists and an object inside, as JSON lines can hold them."""
    pages = [
        chosen(rng, ("home", "sale", "shoes", "coats", "help", "cart"))
        for _ in range(1 + int(5 * rng.random()))
    ]
    minutes = round(0.3 + 5 * rng.random(), 1)
    kind = chosen(rng, ("phone", "laptop", "tablet"))
    device = {"kind": kind, "touch": kind != "laptop"}
    bought = ("cart" in pages) + 0.25 * minutes + 0.4 * ("sale" in pages) - 0.8 * ("help" in pages) > 1.2
    if rng.random() < 0.05:
        bought = not bought
    return {"label": "bought" if bought else "left", "pages": pages, "minutes": minutes, "device": device}


# ---- sentences -----------------------------------------------------------------------------------------
PEOPLE = ("Ann", "Bob", "Clara", "David")
NOUNS = ("dog", "cat", "house", "child", "teacher", "garden", "letter", "river")
ADJECTIVES = ("small", "old", "green", "happy", "quiet")
VERBS = ("sees", "likes", "finds", "follows", "paints")
ADVERBS = ("often", "never", "slowly", "today")
PLACES = (("in", "ADP", "IN"), ("near", "ADP", "IN"), ("behind", "ADP", "IN"))
LEMMAS = {"sees": "see", "likes": "like", "finds": "find", "follows": "follow", "paints": "paint"}


class Sentence:
    """Tokens as (form, lemma, UPOS, XPOS, head, relation, chunk); a head is a number from 1, or 0."""

    def __init__(self, rng: Random) -> None:
        self.rng, self.tokens = rng, list[list[Any]]()
        subject = self.noun_phrase("nsubj")
        adverb = self.add(chosen(rng, ADVERBS), "ADV", "RB", "advmod", "B-ADVP") if rng.random() < 0.3 else 0
        verb = self.add(chosen(rng, VERBS), "VERB", "VBZ", "root", "B-VP")
        target = self.noun_phrase("obj")
        where = 0
        if rng.random() < 0.5:
            form, upos, xpos = chosen(rng, PLACES)
            case = self.add(form, upos, xpos, "case", "B-PP")
            where = self.noun_phrase("obl")
            self.tokens[case - 1][4] = where
        stop = self.add(".", "PUNCT", ".", "punct", "O")
        for token in filter(None, (subject, adverb, target, where, stop)):
            self.tokens[token - 1][4] = verb
        self.tokens[0][0] = self.tokens[0][0][:1].upper() + self.tokens[0][0][1:]

    def add(self, form: str, upos: str, xpos: str, relation: str, chunk: str) -> int:
        self.tokens.append([form, LEMMAS.get(form, form), upos, xpos, 0, relation, chunk])
        return len(self.tokens)

    def noun_phrase(self, relation: str) -> int:
        """Add a name, or an article with adjectives and a noun; return the number of its head."""
        rng = self.rng
        if rng.random() < 0.3:
            return self.add(chosen(rng, PEOPLE), "PROPN", "NNP", relation, "B-NP")
        begin = self.add(chosen(rng, ("the", "a")), "DET", "DT", "det", "B-NP")
        while rng.random() < 0.4:
            self.add(chosen(rng, ADJECTIVES), "ADJ", "JJ", "amod", "I-NP")
        head = self.add(chosen(rng, NOUNS), "NOUN", "NN", relation, "I-NP")
        for token in self.tokens[begin - 1 : head - 1]:
            token[4] = head
        return head

    def conllu(self, number: int) -> list[str]:
        text = " ".join(token[0] for token in self.tokens).replace(" .", ".")
        rows = [
            [k + 1, form, lemma, upos, xpos, "_", head, relation, "_", "_"]
            for k, (form, lemma, upos, xpos, head, relation, _) in enumerate(self.tokens)
        ]
        rows[-2][-1] = "SpaceAfter=No"
        return [f"# sent_id = {number}", f"# text = {text}", *("\t".join(map(str, row)) for row in rows), ""]

    def conll(self) -> list[str]:
        return [*(f"{form} {xpos} {chunk}" for form, _, _, xpos, _, _, chunk in self.tokens), ""]

    def crfsuite(self) -> list[str]:
        def line(k: int) -> str:
            form, _, _, xpos, _, _, chunk = self.tokens[k]
            before = self.tokens[k - 1][3] if k else "START"
            return "\t".join([chunk, f"w={form.lower()}", f"pos={xpos}", f"before={before}"])

        return [*map(line, range(len(self.tokens))), ""]


def main(folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import feather, parquet

    csv(folder / "iris.csv", flowers())
    csv(folder / "guests.csv", guests())
    wine = wines()
    lines(folder / "wine-train.svm", libsvm([row for k, row in enumerate(wine) if k % 3 != 2]))
    lines(folder / "wine-test.svm", libsvm([row for k, row in enumerate(wine) if k % 3 == 2]))
    parquet.write_table(pa.Table.from_pylist(wine), folder / "wine.parquet", compression="zstd")
    feather.write_feather(pa.Table.from_pylist(tumours()), str(folder / "tumours.arrow"), compression="zstd")
    csv(folder / "messages.tsv", messages(120, seed=2), "\t")
    csv(folder / "messages-later.tsv", messages(40, seed=3), "\t")
    lines(folder / "messages.vw", map(vw, messages(120, seed=2)))
    rng = Random(4)
    lines(folder / "visits.jsonl", (json.dumps(visit(rng)) for _ in range(150)))
    rng = Random(5)
    sentences = [Sentence(rng) for _ in range(100)]
    lines(folder / "pos.conllu", (line for k, s in enumerate(sentences) for line in s.conllu(k + 1)))
    rng = Random(6)
    sentences = [Sentence(rng) for _ in range(100)]
    lines(folder / "chunks.conll", (line for s in sentences for line in s.conll()))
    lines(folder / "chunks.crfsuite", (line for s in sentences for line in s.crfsuite()))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
