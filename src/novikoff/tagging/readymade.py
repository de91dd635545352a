"""Ready-made templates, and those that a file of columns usually wants."""

from __future__ import annotations

from collections.abc import Sequence

from novikoff.tagging.chunks import O, parted, spell_chunks

PHRASES = frozenset(("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP"))

_TUTORIAL = """\
columns: w pos
w[-2..2]
w[-1]|w[0]
w[0]|w[1]
pos[-2..2]
pos[-2]|pos[-1]
pos[-1]|pos[0]
pos[0]|pos[1]
pos[1]|pos[2]
pos[-2]|pos[-1]|pos[0]
pos[-1]|pos[0]|pos[1]
pos[0]|pos[1]|pos[2]
__BOS__
__EOS__
"""

READYMADE = {
    # words and parts of speech to chunks
    "chunking": _TUTORIAL
    + """\
prefix(w[0],2..3)
suffix(w[0],2..3)
brief(w[0])
w[0]|pos[0]
w[-1]|pos[0]
w[1]|pos[0]
w[0]|pos[1]
w[0]|pos[-1]
""",
    # the nineteen templates of CRFsuite's tutorial, with the same attributes
    "crfsuite-chunking": _TUTORIAL,
    # words to parts of speech
    "pos": """\
columns: w
w[0]
lower(w[-2..2])
lower(w[-1])|lower(w[0])
lower(w[0])|lower(w[1])
prefix(lower(w[0]),1..4)
suffix(lower(w[0]),1..4)
suffix(lower(w[-1]),2..3)
suffix(lower(w[1]),2..3)
brief(w[0])
__BOS__
__EOS__
""",
    # words to names
    "ner": """\
columns: w
w[-2..2]
lower(w[0])
lower(w[-1])|lower(w[0])
lower(w[0])|lower(w[1])
prefix(w[0],1..4)
suffix(w[0],1..4)
brief(w[-2..2])
brief(w[-1])|brief(w[0])
brief(w[0])|brief(w[1])
brief(w[-1])|brief(w[0])|brief(w[1])
lower(w[-1])|brief(w[0])
brief(w[0])|lower(w[1])
digits(w[0])
__BOS__
__EOS__
""",
}


def usual(width: int, labels: Sequence[str]) -> str | None:
    """The templates for files of so many columns, the label last, from the labels of the first lines.

    Names of things are recognized by their scheme, such as B-PER and O; their types are no phrases, and most
    tokens are outside. Their templates need only words.

    >>> usual(3, ["B-NP", "I-NP", "O", "B-VP"]), usual(3, ["I-PER", "O", "O", "O"]), usual(2, ["NN", "VB"])
    ('chunking', 'ner', 'pos')
    """
    if width > 1 and spell_chunks(labels):
        types = {name for _, name in map(parted, labels)}
        outside = sum(parted(label)[0] == O for label in labels)
        if not types & PHRASES and 2 * outside >= len(labels):
            return "ner"
    return {2: "pos", 3: "chunking"}.get(width)
