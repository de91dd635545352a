"""Parameters of ``novikoff tag``, where they differ from those of `SequenceTagger` or are new."""

from __future__ import annotations

from dataclasses import replace

from novikoff.parameters.commands import FILE_PARAMETERS
from novikoff.parameters.parameter import BOOLEAN, Parameter, is_name, none_or, one_of, table, whole
from novikoff.parameters.tagging import SCHEMES, TAGGER_PARAMETERS

SENTENCE_FORMATS = ("conll", "conllu", "crfsuite")

TAG_FILE_PARAMETERS = TAGGER_PARAMETERS | table(
    *(FILE_PARAMETERS[name] for name in ("verbose", "quiet", "json")),
    Parameter(
        "templates",
        None,
        "What makes features of the columns of a token: a file with one template per line, or the name of "
        "ready-made ones, such as 'chunking', 'pos' or 'ner'. Default: 'pos' for CoNLL-U and for a label "
        "behind a word, 'chunking' for one behind a word and its part of speech, 'ner' where the labels "
        "are names in a scheme such as B-PER, I-PER and O. Files in CRFsuite's text have features already, "
        "and need no templates.",
        *none_or("a file's name or ready-made templates", is_name),
    ),
    Parameter(
        "format",
        None,
        "The format of the files: columns as in the CoNLL tasks, CoNLL-U, or CRFsuite's text. By default "
        "their names decide, or else their first lines.",
        *none_or(*one_of(*SENTENCE_FORMATS)),
    ),
    Parameter(
        "label",
        None,
        "The column of the labels, by name or by number from 1. Default: the last; in CoNLL-U upos.",
        *none_or("a column", is_name),
    ),
    Parameter(
        "strict",
        False,
        "Refuse a file in which a label breaks the scheme that the others follow, such as I-NP behind O in "
        "IOB2, or in which empty lines seem to be missing, and name the line. By default such labels are "
        "repaired and counted, and very long sentences are reported.",
        *BOOLEAN,
    ),
    Parameter(
        "scheme",
        None,
        "The scheme in which chunk labels are written. Default: that of the training labels.",
        *none_or(*one_of(*SCHEMES)),
    ),
    Parameter(
        "k_best",
        1,
        "Write the K best labellings of each sentence: one column each, the best first; _ where there are "
        "fewer. Their scores are in --json.",
        *whole(1),
    ),
    replace(
        FILE_PARAMETERS["random_state"],
        help="Seed from which the order of the sentences and the held-out ones are drawn (by default the "
        "estimator uses a new one each time).",
    ),
    replace(
        FILE_PARAMETERS["n_jobs"],
        help="The number of threads that tag; -1 uses all cores. It never changes a result.",
    ),
    Parameter(
        "trust_patterns",
        False,
        "Accept regular expressions from the model file that may take very long to match; by default a "
        "tagger with such an expression is refused.",
        *BOOLEAN,
    ),
)
