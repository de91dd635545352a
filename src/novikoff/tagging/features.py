"""The features that templates make from tokens: their numbers, names and storage in model files."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff import _core
from novikoff.data.sources.features import Features, NamedFeatures, State
from novikoff.tagging.functions import Results, Step, results
from novikoff.tagging.packing import pack_ints, pack_texts, unpack_ints, unpack_texts
from novikoff.tagging.sequences import Sequences
from novikoff.tagging.templates import Part, Templates

Ints = npt.NDArray[np.int32]

FORGET = 1 << 20  # unknown values after which fixed features clear their cache


class TemplateFeatures(Features):
    """Features numbered by first appearance: token by token, and template by template at each token.

    Parameters
    ----------
    templates : Templates
    hash_bits : default None
        A feature's number is the hash of its name with this number of bits; names are not stored.
    seed : default 0
        Seed of the hash, which is the same as in `NamedFeatures`.

    Examples
    --------
    >>> features = TemplateFeatures(Templates(["columns: w", "w[-1]", "w[0]"]))
    >>> sequences = features.expand([["to", "be"], ["be"]])
    >>> sequences.ids.tolist(), sequences.indptr.tolist()
    ([0, 1, 2, 2], [0, 1, 3, 4])
    >>> features.names([0, 1, 2])
    ['w[0]=to', 'w[-1]=to', 'w[0]=be']
    """

    kind = "templates"

    def __init__(self, templates: Templates, *, hash_bits: int | None = None, seed: int = 0) -> None:
        self.templates, self.hash_bits, self.seed = templates, hash_bits, seed
        self.fixed = False
        self.columns = templates.used_columns()
        named, nowhere = templates.columns or templates.only_column(), np.iinfo(np.int32).max
        self._places = [  # the positions of the columns in a token that is a sequence
            int(c) if c.isdigit() else named.index(c) if c in named else nowhere for c in self.columns
        ]
        derived: dict[tuple[str, tuple[Step, ...]], int] = {}  # a column's functions → domain number
        for template in templates:
            for part in template.parts:
                if part.steps:
                    derived.setdefault((part.column, part.steps), len(self.columns) + len(derived))

        def domain(part: Part) -> int:
            return derived[part.column, part.steps] if part.steps else self.columns.index(part.column)

        self._functions = derived
        self._domains = [[domain(p) for p in t.parts] for t in templates]
        self._index = _core.TemplateIndex(
            len(self.columns),
            [self.columns.index(column) for column, _ in derived],
            [(t.name, [(domain(p), p.offset, p.padded) for p in t.parts], t.where) for t in templates],
        )

    @property
    def n_columns(self) -> int:
        return self._index.size if self.hash_bits is None else 1 << self.hash_bits

    def names(self, columns: Iterable[int]) -> list[str]:
        numbers = np.fromiter(columns, np.int64)
        if self.hash_bits is None:
            return self._index.names(numbers)
        return [f"hash_{j}" for j in numbers.tolist()]

    # ---- expanding -----------------------------------------------------------------------------------
    def expand(self, sentences: Iterable[Iterable[Any]]) -> Sequences:
        """Sentences of tokens as feature numbers.

        A token is a str, if there is one column; a tuple or list of str, one per column; or a dict from
        column names to str. None is a cell without a value. New features get numbers, or are left out if the
        features are fixed.

        Sentences are read completely before anything else happens, so an iterator over them may itself use
        these features. Several threads may call this at once; a forked child has its own copy.
        """
        return self._expanded(self._index.tokens(sentences, self._places, self.columns))

    def attributes(self, sentence: Iterable[Any]) -> list[list[str]]:
        """The names of every token's features, for one sentence.

        >>> templates = Templates(["columns: w pos", "w[-1..0]", "pos[-1]|pos[0]", "suffix(lower(w[0]),2)"])
        >>> TemplateFeatures(templates).attributes([("In", "IN"), ("THE", "DT"), ("end", "NN")])[1]
        ['w[-1]=In', 'w[0]=THE', 'pos[-1]|pos[0]=IN|DT', 'suffix(lower(w[0]),2)=he']
        """
        sequences = self.expand([list(sentence)])
        names = self.names(sequences.ids.tolist())
        return [names[a:b] for a, b in pairwise(sequences.indptr.tolist())]

    def parse(self, parser: _core.ColumnLines, text: Any) -> Sequences | None:
        """The sentences of a text as feature numbers; None if `parser.problem` has an error."""
        tokens = parser.parse(text)
        return None if tokens is None else self._expanded(tokens)

    def _expanded(self, tokens: _core.Tokens) -> Sequences:
        """Holds no lock between calls of the index: another thread may clear its cache, hence the loop."""
        while (found := self._features(tokens)) is None:
            self._derive(tokens)
        return Sequences(*found)

    def _features(self, tokens: _core.Tokens) -> tuple[Any, Any, Any] | None:
        if self.hash_bits is None:
            return self._index.expand(tokens, not self.fixed, FORGET)
        return self._index.expand_hashed(tokens, self.hash_bits, self.seed, FORGET)

    def _derive(self, tokens: _core.Tokens) -> None:
        """Compute the functions for the texts that still lack them."""
        for column in dict.fromkeys(column for column, _ in self._functions):
            number = self.columns.index(column)
            if texts := self._index.waiting(number, tokens):
                known: Results = {(): list(texts)}
                found = {
                    domain: results(steps, known)
                    for (name, steps), domain in self._functions.items()
                    if name == column
                }
                self._index.derive(number, texts, found)

    # ---- as data -------------------------------------------------------------------------------------
    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (*self.state(), self.fixed)

    def some(self, used: npt.NDArray[np.bool_]) -> TemplateFeatures:
        """Fixed features: only the used ones, in their order."""
        if self.hash_bits is not None:
            raise ValueError("hashed features share their numbers: none can be left out.")
        order, rows, values = self._content()
        kept = [
            table.reshape(-1, len(domains))[used[order == k]] if domains else table.reshape(0, 0)
            for k, (domains, table) in enumerate(zip(self._domains, rows, strict=True))
        ]
        present = [np.zeros(len(texts), dtype=bool) for texts in values]
        for domains, table in zip(self._domains, kept, strict=True):
            for j, d in enumerate(domains):
                present[d][table[:, j]] = True
        for domains, table in zip(self._domains, kept, strict=True):
            for j, d in enumerate(domains):
                table[:, j] = (np.cumsum(present[d]) - 1)[table[:, j]]
        texts = [[values[d][i] for i in np.flatnonzero(p).tolist()] for d, p in enumerate(present)]
        new = TemplateFeatures(self.templates)
        new._load(texts, order[used], [table.reshape(-1) for table in kept])
        return new

    def _content(self) -> tuple[npt.NDArray[np.uint16], list[Ints], list[list[str]]]:
        """The template of each feature, the value numbers of the features by template, and all values."""
        domains = range(len(self.columns) + len(self._functions))
        return *self._index.state(), [self._index.values(d) for d in domains]

    def _load(self, values: list[list[str]], order: npt.NDArray[np.uint16], rows: list[Ints]) -> None:
        self._index.load(values, order, rows)
        self.fixed = True

    def state(self) -> State:
        facts: dict[str, Any] = {
            "templates": self.templates.text,
            "hash_bits": self.hash_bits,
            "seed": self.seed,
        }
        if self.hash_bits is not None:
            return facts, {}
        order, rows, values = self._content()
        texts, lengths = pack_texts(text for domain in values for text in domain)
        packed = [pack_ints(table) for table in rows]
        facts["n_values"] = [len(domain) for domain in values]
        return facts, {
            "values": texts,
            "value_lengths": lengths,
            "order": pack_ints(order),
            "rows": np.concatenate(packed),
            "row_ends": np.cumsum([len(table) for table in packed]),
        }

    @classmethod
    def from_state(
        cls,
        facts: dict[str, Any],
        arrays: dict[str, npt.NDArray[Any]],
        *,
        trust_patterns: bool = False,
    ) -> TemplateFeatures:
        """The features that `state` was taken from, fixed."""
        bits = facts["hash_bits"]
        features = cls(
            Templates(facts["templates"], trust_patterns=trust_patterns),
            hash_bits=None if bits is None else int(bits),
            seed=int(facts["seed"]),
        )
        features.fixed = True
        if bits is not None:
            return features
        texts = unpack_texts(arrays["values"], arrays["value_lengths"])
        ends = np.cumsum(facts["n_values"]).tolist()
        if min(facts["n_values"], default=0) < 0 or len(texts) != sum(facts["n_values"]):
            raise ValueError("the number of values does not match the features")
        values = [texts[end - n : end] for end, n in zip(ends, facts["n_values"], strict=True)]
        rows, begin = [], 0
        for end in arrays["row_ends"].tolist():
            rows.append(unpack_ints(arrays["rows"][begin:end]).astype(np.int32))
            begin = end
        features._load(values, unpack_ints(arrays["order"]).astype(np.uint16), rows)
        return features


def _restored(facts: dict[str, Any], arrays: dict[str, npt.NDArray[Any]], fixed: bool) -> TemplateFeatures:
    """A copy or an unpickled object. Its patterns are trusted, like the object itself."""
    features = TemplateFeatures.from_state(facts, arrays, trust_patterns=True)
    features.fixed = fixed
    return features


SequenceFeatures = NamedFeatures | TemplateFeatures  # either numbers the features of tokens
