"""Label the tokens of sentences: from files with a token a line to a tagger, and back.

'novikoff tag COMMAND --help' says more.
"""
