"""Ready-made templates."""

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
