"""Sentences with parts of speech and phrases, and files of them in every format."""

import random

from novikoff.tagging.features import TemplateFeatures
from novikoff.tagging.templates import Templates

PHRASES = {
    "NP": (("the", "DT"), ("old", "JJ"), ("dog", "NN"), ("cats", "NNS"), ("plans", "NNS"), ("plan", "NN")),
    "VP": (("plans", "VBZ"), ("to", "TO"), ("bark", "VB"), ("plan", "VBP"), ("slept", "VBD")),
    "PP": (("to", "TO"), ("in", "IN")),
}
OUTSIDE = ((",", ","), (".", "."), ("and", "CC"))
Sentence = list[tuple[str, str, str]]  # word, part of speech, label


def sentences(n: int = 60, seed: int = 0) -> list[Sentence]:
    """Random phrases, so that some words have several labels."""
    rng = random.Random(seed)
    out = []
    for _ in range(n):
        tokens: Sentence = []
        for _ in range(rng.randint(1, 5)):
            if rng.random() < 0.25:
                tokens.append((*rng.choice(OUTSIDE), "O"))
                continue
            kind = rng.choice(list(PHRASES))
            for k in range(rng.randint(1, 3)):
                tokens.append((*rng.choice(PHRASES[kind]), f"{'BI'[k > 0]}-{kind}"))
        out.append(tokens)
    return out


def conll(data: list[Sentence], mark: str = " ") -> str:
    return "".join("".join(mark.join(token) + "\n" for token in s) + "\n" for s in data)


def conllu(data: list[Sentence]) -> str:
    lines = []
    for number, sentence in enumerate(data):
        lines.append(f"# sent_id = {number}")
        lines.append("1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_")
        for t, (word, pos, label) in enumerate(sentence, 1):
            lines.append(f"{t}\t{word}\t_\t{pos}\t{label}\t_\t_\t_\t_\t_")
        lines += ["1.1\tempty\t_\t_\t_\t_\t_\t_\t_\t_", ""]
    return "\n".join(lines) + "\n"


def crfsuite(data: list[Sentence], templates: str = "crfsuite-chunking") -> str:
    features, lines = TemplateFeatures(Templates.named(templates)), []
    for sentence in data:
        tokens = features.attributes([token[:2] for token in sentence])
        for token, names in zip(sentence, tokens, strict=True):
            escaped = [name.replace("\\", "\\\\").replace(":", "\\:") for name in names]
            lines.append("\t".join([token[2], *escaped]))
        lines.append("")
    return "\n".join(lines) + "\n"
