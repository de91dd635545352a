"""Label the tokens of sentences: learn a tagger from files with one token per line, and tag files.

'novikoff tag COMMAND --help' says more.
"""
