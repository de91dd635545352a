"""Compares a tagger with labelled files: the chunks, tokens and sentences that it gets right."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff.data.labels import as_text
from novikoff.data.sources.progress import Progress, Watch
from novikoff.tagging import training as tagging
from novikoff.tagging.chunks import ChunkScores, Score, score_numbers, spell_chunks
from novikoff.tagging.conll import SentenceFile
from novikoff.tagging.sequences import Ids
from novikoff.tagging.tagger import Tagger


@dataclass(frozen=True)
class TagScores:
    """The scores of a tagger on labelled sentences."""

    chunks: ChunkScores
    spelled: bool  # whether labels encode chunks; if not, each token counts as a chunk
    sentences: int
    right_sentences: int
    unknown: Counter[str] = field(default_factory=Counter)  # labels that the tagger does not have
    largest: int = 0  # tokens with the most frequent label

    @property
    def baseline(self) -> float:
        """The share of tokens that would be right if all had the most frequent label."""
        return self.largest / self.chunks.tokens if self.chunks.tokens else 0.0

    def to_dict(self) -> dict[str, Any]:
        """All figures by name."""
        return {
            **self.chunks.as_dict(),
            "sentences": self.sentences,
            "right_sentences": self.right_sentences,
            "counted": "chunks" if self.spelled else "tokens",
            "unknown_labels": dict(self.unknown),
            "baseline": self.baseline,
        }


def score_file(
    tagger: Tagger, source: SentenceFile, *, n_jobs: int | None = None, watch: Watch | None = None
) -> TagScores:
    """Tag the sentences of files and compare with their labels.

    A label that the tagger does not have counts as an additional label that is never found.
    """
    started = time.monotonic()
    written, write = tagger.writing()
    names = [as_text(label) for label in written.tolist()]
    place = {name: k for k, name in enumerate(names)}
    true: list[Ids] = []
    found: list[Ids] = []
    starts: list[Any] = [np.zeros(1, np.int64)]
    sentences = right = tokens = wrong = 0
    for block in source.blocks(tagger.features):
        for label in source.label_values:
            place.setdefault(label, len(place))
        numbers = np.array([place[label] for label in source.label_values], dtype=np.int32)
        assert block.labels is not None
        x, own = block.sequences, numbers[block.labels]
        tags = write(x.starts, tagging.tag(tagger.scorer, x, n_jobs))
        differs = np.concatenate([[0], np.cumsum(tags != own)])
        right += int(np.count_nonzero(np.diff(differs[x.starts]) == 0))
        true.append(own)
        found.append(tags)
        starts.append(x.starts[1:] + tokens)
        sentences, tokens, wrong = sentences + len(x), tokens + x.n_tokens, wrong + int(differs[-1])
        if watch is not None:
            seconds = time.monotonic() - started
            done = Progress(
                "evaluating", sentences, block.consumed, source.size, sentences - right, seconds, "sentences"
            )
            watch(done)
    y, z, at = np.concatenate(true), np.concatenate(found), np.concatenate(starts)
    labels, spelled = list(place), spell_chunks(names)
    counts = np.bincount(y, minlength=len(labels))[len(names) :].tolist()
    unknown = Counter({label: n for label, n in zip(labels[len(names) :], counts, strict=True) if n})
    scores = score_numbers(labels, at, y, z) if spelled else _by_token(labels, y, z)
    return TagScores(scores, spelled, sentences, right, unknown, int(np.bincount(y).max(initial=0)))


def _by_token(labels: list[str], true: Ids, found: Ids) -> ChunkScores:
    """Each token as a chunk whose type is its label: overall precision, recall and F1 equal the accuracy."""
    n = len(labels)
    counts = [np.bincount(which, minlength=n).tolist() for which in (true, found, true[true == found])]
    types = {
        label: Score(*own) for label, *own in sorted(zip(labels, *counts, strict=True)) if own[0] or own[1]
    }
    right = int(np.count_nonzero(true == found))
    return ChunkScores(Score(len(true), len(found), right), types, len(true), right)
