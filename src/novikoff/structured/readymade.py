"""Templates that come with the package."""

READYMADE = {
    # those of CRFsuite's tutorial on chunking, attribute for attribute
    "crfsuite-chunking": """\
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
""",
}
