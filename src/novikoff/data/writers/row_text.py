"""Labels, names and numbers of rows, formatted for text and tables."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data.sources.block import Block, Csr, Matrix
from novikoff.data.sources.features import Features
from novikoff.data.text_labels import TextLabels

Integers = npt.NDArray[np.int64]
Texts = tuple[npt.NDArray[np.uint8], Integers]  # concatenated, and where each begins


@dataclass(frozen=True)
class Columns:
    """The names of labels and weights in formats that name them."""

    label: str = "label"
    weight: str = "weight"


def sparse(X: Matrix) -> Csr:
    """The matrix as CSR; for dense rows their nonzero values."""
    if isinstance(X, Csr):
        return X
    stored = X != 0
    indices = np.broadcast_to(np.arange(X.shape[1]), X.shape)[stored]
    return Csr(X[stored], indices, np.concatenate(([0], np.cumsum(stored.sum(axis=1)))), X.shape)


def shortest(number: float) -> str:
    """The shortest decimal that gives the same double; whole numbers have no point."""
    text = repr(float(number))
    return text.removesuffix(".0")


def joined(parts: list[str]) -> Texts:
    """Texts as one array of bytes and where each begins."""
    encoded = [part.encode() for part in parts]
    begins = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in encoded], out=begins[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), begins


def label_texts(block: Block, written: Callable[[str, bool], str]) -> list[str]:
    """Each row's label, formatted by `written(text, is_text)`; empty texts if there are no labels."""
    if block.labels is None:
        return [""] * block.n_rows
    is_text = isinstance(block.labels, TextLabels)
    found: list[Any]
    places: Integers
    if isinstance(block.labels, TextLabels):
        found, places = block.labels.texts, block.labels.codes.astype(np.int64)
        first = np.unique(places, return_index=True)[1].tolist()
    else:
        values, rows, places = np.unique(block.labels, return_index=True, return_inverse=True)
        found, first = values.tolist(), rows.tolist()
    texts = []
    for label, row in zip(found, first, strict=True):
        try:
            texts.append(written(label if is_text else shortest(label), is_text))
        except ValueError as error:
            raise ValueError(f"{block.where(row)}: {error}") from None
    return [texts[k] for k in places.tolist()]


class Names:
    """The text of each feature name, formatted when its column first appears."""

    def __init__(self, features: Features, written: Callable[[str], str]) -> None:
        self._features, self._written = features, written
        self._at: Integers = np.full(0, -1, dtype=np.int64)
        self._bytes, self._begins = bytearray(), array("q", [0])

    def find(self, X: Csr) -> Integers:
        """The index of each stored value's text."""
        if X.shape[1] > len(self._at):
            room = np.full(max(X.shape[1], 2 * len(self._at)) - len(self._at), -1)
            self._at = np.concatenate([self._at, room])
        found: Integers = self._at[X.indices]
        if len(found) and found.min() < 0:
            new = X.indices[found < 0]
            new = new[np.sort(np.unique(new, return_index=True)[1])]
            self._at[new] = len(self._begins) - 1 + np.arange(len(new))
            for name in self._features.names(new.tolist()):
                self._bytes += self._written(name).encode()
                self._begins.append(len(self._bytes))
            found = self._at[X.indices]
        return found

    def texts(self) -> Texts:
        """All texts so far; valid until the next call of `find`."""
        return np.frombuffer(self._bytes, np.uint8), np.frombuffer(self._begins, np.int64)
