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


def usual(width: int, label: int, labels: Sequence[str]) -> str | None:
    """The templates for files of so many columns, of which number `label`, from 0, has these labels.

    Names of things are recognized by their scheme, such as B-PER and O; their types are no phrases, and most
    tokens are outside. Their templates need only words. Otherwise a label in the last column, or in one that
    was chosen, has the words and the parts of speech before it.

    >>> usual(3, 2, ["B-NP", "I-NP", "O", "B-VP"]), usual(3, 2, ["I-PER", "O", "O"])
    ('chunking', 'ner')
    >>> usual(2, 1, ["NN", "VB"]), usual(4, 1, ["NN", "VB"]), usual(4, 3, ["NN", "VB"])
    ('pos', 'pos', None)
    """
    if not 0 < label < width:
        return None
    if spell_chunks(labels):
        types = {name for _, name in map(parted, labels)}
        outside = sum(parted(each)[0] == O for each in labels)
        if not types & PHRASES and 2 * outside >= len(labels):
            return "ner"
    return {1: "pos", 2: "chunking"}.get(label)
