"""Label the tokens of sentences: tag fit, tag predict, tag evaluate.

Files have one token per line: columns as in the CoNLL tasks, CoNLL-U, or CRFsuite's text.
'novikoff tag COMMAND --help' shows the common options of a command, and examples.
"""
