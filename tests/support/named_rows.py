"""Rows of named features as plain Python, for the tests of whatever reads them."""

from itertools import pairwise

import numpy as np

from novikoff import _core
from novikoff.data.sources.features import NamedFeatures
from novikoff.data.sources.text import labels_of


def plain(data, indices, indptr, names):
    """Each row as a list of (name, value), in the row's order."""
    names = names.strings() if isinstance(names, _core.Names) else names
    return [
        [(names[j], x) for j, x in zip(indices[b:e].tolist(), data[b:e].tolist(), strict=True)]
        for b, e in pairwise(indptr)
    ]


def read_all(parser, text):
    """Rows (label, weight, [(name, value), ...]) of text without an error."""
    assert parser.parse(text), parser.problem
    labels, weights, *matrix = parser.take()
    n = len(matrix[2]) - 1
    labels = [None] * n if labels is None else labels_of(labels).tolist()
    weights = [1.0] * n if weights is None else weights.tolist()
    return list(zip(labels, weights, plain(*matrix), strict=True))


def added(pairs):
    """Pairs with the values of repeated names added, in order of appearance: the definition of a row."""
    row = {}
    for name, x in pairs:
        row[name] = row[name] + x if name in row else x
    return list(row.items())


def placed(parser, blocks, features):
    """The rows of all blocks over the columns of `features`: (data, indices, indptr) of each."""
    out = []
    for block in blocks:
        parser.clear()
        assert parser.parse(block), parser.problem
        _, _, data, indices, indptr, names = parser.view()
        out.append([a.copy() for a in _core.recolumn(data, indices, indptr, features.place(names))])
    return out


def joined(parts):
    """One CSR matrix, as bytes that can be compared, from consecutive blocks."""
    data = np.concatenate([p[0] for p in parts])
    indices = np.concatenate([p[1] for p in parts])
    lengths = np.concatenate([np.diff(p[2]) for p in parts])
    return data.tobytes(), indices.tolist(), lengths.tolist()


def check_cuts(parser, text, **parameters):
    """However text is cut into blocks of whole lines, columns, names and values are the same."""
    lines = text.splitlines(keepends=True)
    whole = NamedFeatures(**parameters)
    expected = joined(placed(parser, [text], whole))
    for size in (1, 2, 3):
        features = NamedFeatures(**parameters)
        blocks = [b"".join(lines[i : i + size]) for i in range(0, len(lines), size)]
        assert joined(placed(parser, blocks, features)) == expected
        columns = range(features.n_columns)
        assert features.names(columns) == whole.names(columns)
