"""The predictions of a tagger as `novikoff tag predict` writes them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.cli import output
from novikoff.cli.options import Options, UsageError
from novikoff.data.labels import as_text
from novikoff.tagging import training as tagging
from novikoff.tagging.conll import SentenceBlock, SentenceFile

if TYPE_CHECKING:
    from novikoff.tagging.plain_text import PlainText, TextBlock
    from novikoff.tagging.tagger import Tagger

NONE = "_"  # in place of a labelling that does not exist


class Predictions:
    """What a tagger predicts for the sentences of a block, as text or as lines of JSON."""

    def __init__(self, tagger: Tagger, options: Options) -> None:
        self.tagger, self.options = tagger, options
        labels, self.write = tagger.writing(options.scheme)
        self.labels: list[Any] = labels.tolist()
        self.names = [as_text(label) for label in self.labels]
        self.more = options.scores or options.k_best > 1
        self._known = {as_text(label) for label in tagger.classes.tolist()} | set(self.names)
        self._looked = False
        if not options.json:
            output.check_labels(self.names, "--json writes such labels.")

    def check(self, source: SentenceFile | PlainText) -> None:
        """Refuse options that the format of the files has no room for."""
        options = self.options
        if source.format in ("conll", "text") or options.json:
            last = source.format == "text" or getattr(source, "layout", {}).get("label", "last") == "last"
            if self.more and not (last or options.beside or options.json):
                name = "--scores" if options.scores else "--k-best"
                raise UsageError(
                    "is not possible where the label is not the last column: add --beside or --json.", name
                )
        for name in ("beside", "scores", "k_best"):
            set_here = name in options.given and not (options.json and name != "beside")
            if set_here and source.format not in ("conll", "text"):
                raise UsageError(
                    f"is not possible for the format '{source.format}', which has no column for it"
                    f"{': add --json' * (name != 'beside')}.",
                    f"--{name.replace('_', '-')}",
                )

    def of(self, block: SentenceBlock | TextBlock, source: SentenceFile | PlainText) -> bytes:
        """The output for a block."""
        self._refuse_text(block, source)
        options, x = self.options, block.sequences
        if options.json:
            return self._json(block, source)
        if not self.more:
            tags, names = self.write(x.starts, tagging.tag(self.tagger.scorer, x, options.n_jobs)), self.names
        else:  # every token has a text of its own
            names = [block.joint.join(cells) for cells in self._cells(block)]
            tags = np.arange(len(names), dtype=np.int32)
        if isinstance(block, SentenceBlock):
            return block.tagged(tags, names, behind=options.beside)
        return block.tagged(tags, names)

    def _cells(self, block: SentenceBlock | TextBlock) -> list[list[str]]:
        """What is written for each token: its labels in the k best labellings, and its score."""
        options, x = self.options, block.sequences
        best = self.tagger.best(x, options.k_best, self.write, options.n_jobs)
        out: list[list[str]] = []
        for length, found in zip(x.lengths.tolist(), best, strict=True):
            by_rank = [[self.names[k] for k in y.tolist()] for _, y in found]
            by_rank += [[NONE] * length] * (options.k_best - len(found))
            out += [list(cells) for cells in zip(*by_rank, strict=True)]
        if options.scores:
            margins = np.concatenate([np.zeros(0), *self.tagger.margins(x, options.n_jobs)]).tolist()
            for cells, margin in zip(out, margins, strict=True):
                cells.append(repr(margin))
        return out

    def _json(self, block: SentenceBlock | TextBlock, source: SentenceFile | PlainText) -> bytes:
        options, x = self.options, block.sequences
        best = self.tagger.best(x, options.k_best, self.write, options.n_jobs)
        words = None if source.format == "crfsuite" else x.parts(self._words(block, source.format))
        margins = self.tagger.margins(x, options.n_jobs) if options.scores else []
        lines = []
        for s, found in enumerate(best):
            row: dict[str, Any] = {} if words is None else {"tokens": words[s]}
            row["labels"] = [self.labels[k] for k in found[0][1].tolist()]
            if options.scores:
                row["score"] = found[0][0]
                row["margins"] = [m if math.isfinite(m) else None for m in margins[s].tolist()]
            if options.k_best > 1:
                row["best"] = [
                    {"labels": [self.labels[k] for k in y.tolist()], "score": score} for score, y in found
                ]
            lines.append(output.json_line(row) + "\n")
        return "".join(lines).encode()

    def _words(self, block: SentenceBlock | TextBlock, format: str) -> list[str]:
        """The tokens as they are in the file."""
        if isinstance(block, SentenceBlock):
            return block.words(1 if format == "conllu" else 0)
        return block.words()

    def _refuse_text(self, block: SentenceBlock | TextBlock, source: SentenceFile | PlainText) -> None:
        """Refuse to replace labels none of which the tagger knows: the cells may be words of plain text."""
        if self._looked or not isinstance(block, SentenceBlock) or not isinstance(source, SentenceFile):
            return
        if block.labels is None or not len(block.labels):
            return
        self._looked, options = True, self.options
        if {"label", "format"} & options.given or options.beside or source.format != "conll":
            return
        found = [source.label_values[k] for k in dict.fromkeys(block.labels.tolist())]
        if not self._known & set(found) and not set(found) <= {NONE, "-", "?"}:
            raise ValueError(
                f"{block.where(0)}: {found[0]!r} is in the labels' column, but the tagger knows no label "
                "there: --tokenize reads plain text, --beside keeps the column, and --label names the one "
                "to replace."
            )
