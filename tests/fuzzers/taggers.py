"""Sentences: files of every format with text changed, templates drawn at random, lists of odd tokens.

What a file says is tagged and written back; templates that cannot be used are refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import novikoff
from fuzzers.mutation import Rng, damaged, one_of
from fuzzers.texts import rewritten
from novikoff.data.sources.features import NamedFeatures
from novikoff.tagging.conll import open_sentences
from novikoff.tagging.features import TemplateFeatures
from novikoff.tagging.templates import Templates
from support.sentence_files import conll, conllu, crfsuite, sentences

PARTS = (
    *(
        "w[0]",
        "w[-1]",
        "w[1]",
        "pos[0]",
        "0[0]",
        "1[2]",
        "lower(w[0])",
        "prefix(w[0],2)",
        "suffix(w[0],3)",
        "length(w[0])",
    ),
    *("shape(w[0])", "brief(w[0])", "case(w[0])", "digits(w[0])", 'has(w[0],"[0-9]")', 'find(w[0],"a(.)")'),
    *(
        'sub(w[0],"[ab]","x")',
        "pad(w[0])",
        "__BOS__",
        "__EOS__",
        '"bias"',
        "w[99]",
        "w[-99]",
        "nothing[0]",
        "w[0",
    ),
    *(
        "prefix(w[0],-1)",
        "lower(lower(w[0]))",
        'has(w[0],"(")',
        "U00:%x[0,0]",
        "",
        "|",
        '"',
        "w[2147483648]",
        "é[0]",
    ),
)
ODD = ("", "\0", "\ud800", "é" * 50, "|", "=", "_B-1", "\n", " ", "a\tb", "1", "x" * 1000)


def templates(rng: Rng) -> Templates:
    lines = [
        "|".join(one_of(rng, PARTS) for _ in range(int(rng.integers(1, 4))))
        for _ in range(int(rng.integers(1, 6)))
    ]
    if rng.integers(3) == 0:
        lines = damaged("\n".join(lines).encode(), rng).decode("utf-8", "replace").split("\n")
    return Templates(lines, columns=["w", "pos"])


class Fuzzer:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "sentences"
        data = sentences(12)
        self.tokens = [[token[:2] for token in sentence] for sentence in data]
        self.labels = [[token[2] for token in sentence] for sentence in data]
        self.texts = {"conll": conll(data), "conllu": conllu(data), "crfsuite": crfsuite(data)}

    def __call__(self, rng: Rng) -> str:
        return (self._file, self._lists, self._lists)[int(rng.integers(3))](rng)

    def _file(self, rng: Rng) -> str:
        name = one_of(rng, sorted(self.texts))
        text = rewritten(self.texts[name].encode(), rng)
        if rng.integers(2):
            text = damaged(text, rng, self.texts[one_of(rng, sorted(self.texts))].encode())
        self.path.write_bytes(text)
        told = []
        for size in (1 << 20, int(rng.integers(1, 200))):
            try:
                given = (
                    None if name == "crfsuite" else Templates(["w[0]", "w[-1]|w[1]"], columns=["w", "pos"])
                )
                features = NamedFeatures() if given is None else TemplateFeatures(given)
                file = open_sentences(self.path, given, format=name, block_size=size)
                tokens = []
                for block in file.blocks(features):
                    assert block.tagged(np.zeros(block.sequences.n_tokens, np.int32), ["a\tb"]) is not None
                    tokens += block.sequences.ids.tolist()
                    assert all(block.where(k) for k in range(block.sequences.n_tokens))
                told.append((tokens, file.label_values))
            except ValueError:
                told.append(None)
        assert told[0] == told[1], told
        return "refused" if told[0] is None else "accepted"

    def _lists(self, rng: Rng) -> str:
        given: Any = [[list(token) for token in sentence] for sentence in self.tokens]
        y: Any = [list(labels) for labels in self.labels]
        for _ in range(int(rng.integers(0, 4))):
            k = int(rng.integers(len(given)))
            if given[k]:
                t = int(rng.integers(len(given[k])))
                given[k][t] = one_of(
                    rng,
                    (
                        ["w", one_of(rng, ODD)],
                        [one_of(rng, ODD)],
                        [],
                        {"a": 1.5},
                        None,
                        3,
                        "ab",
                        ["a", "b", "c"],
                    ),
                )
            if rng.integers(6) == 0:
                y[k] = y[k][:-1]
            if rng.integers(6) == 0 and y[k]:
                y[k][0] = one_of(rng, (*ODD, None, 3))
        try:
            features = templates(rng) if rng.integers(2) else one_of(rng, ("templates", None))
            tagger = novikoff.SequenceTagger(max_epochs=2, average=bool(rng.integers(2)), order="cyclic")
            if isinstance(features, Templates):
                tagger.set_params(features=features)
                if rng.integers(2):
                    TemplateFeatures(features).attributes([tuple(token) for token in self.tokens[0]])
            if rng.integers(2):
                tagger.set_params(hash_bits=int(rng.integers(1, 12)))
            tagger.fit(given, y)
            out = tagger.predict(given)
            assert [len(labels) for labels in out] == [len(sentence) for sentence in given]
            tagger.predict_marginal_scores(given)
            tagger.partial_fit(given[::-1], y[::-1])
        except (ValueError, TypeError):
            return "refused"
        return "accepted"
