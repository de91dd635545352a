"""Label the tokens of sentences: from files with one token per line to a tagger, and back.

'novikoff tag COMMAND --help' says more.
"""
