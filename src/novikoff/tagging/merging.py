"""Merges the features of several files, numbered as if one reader had read the files in sequence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from novikoff.data.sources.features import NamedFeatures
from novikoff.tagging.features import Ints, SequenceFeatures, TemplateFeatures
from novikoff.tagging.sequences import Offsets


def joined(parts: Sequence[SequenceFeatures]) -> tuple[SequenceFeatures, list[Offsets]]:
    """Fixed features that include those of all parts, and the new number of each feature of each part.

    Features are numbered by first appearance: those of the first part keep their numbers, and the new ones of
    each next part follow in their order there.

    >>> from novikoff.tagging.templates import Templates
    >>> one, two = (TemplateFeatures(Templates(["columns: w", "w[0]"])) for _ in range(2))
    >>> _, _ = one.expand([["to", "be"]]), two.expand([["or", "not", "to", "be"]])
    >>> both, numbers = joined([one, two])
    >>> both.names(range(4)), numbers[1].tolist()
    (['w[0]=to', 'w[0]=be', 'w[0]=or', 'w[0]=not'], [2, 3, 0, 1])
    """
    if isinstance(parts[0], TemplateFeatures):
        return _of_templates([part for part in parts if isinstance(part, TemplateFeatures)])
    named = NamedFeatures()
    numbers = [named.place(part.kept_names()) for part in parts if isinstance(part, NamedFeatures)]
    named.fixed = True
    return named, numbers


def _of_templates(parts: Sequence[TemplateFeatures]) -> tuple[TemplateFeatures, list[Offsets]]:
    first = parts[0]
    n_templates = len(first._domains)
    values: list[dict[str, int]] = [{} for _ in range(len(first.columns) + len(first._functions))]
    known: list[dict[bytes, int]] = [{} for _ in range(n_templates)]  # per template: values to number
    rows: list[list[Ints]] = [[] for _ in range(n_templates)]
    order: list[int] = []
    numbers: list[Offsets] = []
    for part in parts:
        places = [_placed(texts, part._index.values(d)) for d, texts in enumerate(values)]
        template_of, tables = part._index.state()
        own = [_in_values(places, d, table) for d, table in zip(part._domains, tables, strict=True)]
        taken = [0] * n_templates
        found = np.empty(len(template_of), dtype=np.int64)
        for f, k in enumerate(template_of.tolist()):
            row = own[k][taken[k]]
            taken[k] += 1
            number = known[k].setdefault(row.tobytes(), len(order))
            if number == len(order):
                order.append(k)
                rows[k].append(row)
            found[f] = number
        numbers.append(found)
    made = TemplateFeatures(first.templates)
    flat = [np.concatenate(r).astype(np.int32) if r else np.zeros(0, dtype=np.int32) for r in rows]
    made._load([list(texts) for texts in values], np.array(order, dtype=np.uint16), flat)
    return made, numbers


def _placed(texts: dict[str, int], more: list[str]) -> Ints:
    """The numbers of a part's values among all values; new values are appended."""
    return np.array([texts.setdefault(text, len(texts)) for text in more], dtype=np.int32)


def _in_values(places: list[Ints], domains: list[int], table: Ints) -> Ints:
    """A template's features by the numbers of their values: (features, values per feature)."""
    if not domains:
        return np.zeros((1, 0), dtype=np.int32)  # without values there is only one feature
    shaped = table.reshape(-1, len(domains))
    return np.stack([places[d][shaped[:, j]] for j, d in enumerate(domains)], axis=1)
