"""Parameters of tuning: how to hold rows out, and what to try."""

from __future__ import annotations

from novikoff.parameters.common import AUTO
from novikoff.parameters.files import SCALES
from novikoff.parameters.linear import RULES
from novikoff.parameters.parameter import (
    BOOLEAN,
    FRACTION,
    Parameter,
    are_all,
    auto_or,
    is_bool,
    is_number,
    is_whole,
    none_or,
    one_of,
    table,
    whole,
)

SCORINGS = ("accuracy", "balanced_accuracy", "f1", "auc")

TUNING_PARAMETERS = table(
    Parameter(
        "folds",
        AUTO,
        "Tuning: the number of parts, each of which is held out once. 'auto': 5; fewer than 1,000 rows are "
        "divided in four ways, and of 100,000 rows or more only one part is held out.",
        *auto_or(whole(2)),
    ),
    Parameter(
        "split", None, "Tuning: hold out this share of the rows once, instead of folds.", *none_or(*FRACTION)
    ),
    Parameter(
        "thorough",
        False,
        "Tuning: run all that is tried to the last number of epochs, with every part held out. Otherwise "
        "only the better half goes on after each number of epochs, by one part; those left are judged by "
        "all.",
        *BOOLEAN,
    ),
    Parameter(
        "scoring",
        "accuracy",
        "Tuning: the figure of the held-out rows that decides. 'accuracy': the share that is right. "
        "'balanced_accuracy': its mean over the classes. 'f1': F1 of the second of two classes, or the mean "
        "of all classes. 'auc': the area under the ROC curve of two classes.",
        *one_of(*SCORINGS),
    ),
    Parameter(
        "order",
        "riffle",
        "The order in which an epoch visits the rows. 'riffle': 32 runs of neighbours, interleaved at "
        "random. 'cyclic': as they are in the files.",
        *one_of("riffle", "cyclic"),
    ),
    Parameter(
        "rules",
        ("perceptron", "pa1", "arow", "scw"),
        "Tuning: the rules to try, separated by commas.",
        f"one or more of {', '.join(RULES)}, separated by commas",
        are_all(lambda v: v in RULES),
    ),
    Parameter(
        "averages",
        (False, True),
        "Tuning: whether to try averaged weights.",
        "'both', 'yes' or 'no'",
        are_all(is_bool),
    ),
    Parameter(
        "epochs",
        (1, 2, 5, 10),
        "Tuning: the numbers of epochs to try, separated by commas. Only the largest is run; the others are "
        "evaluated on the way.",
        "whole numbers ≥ 1, separated by commas",
        are_all(is_whole(1)),
    ),
    Parameter(
        "scales",
        (AUTO, "standard", "unit", None),
        "Tuning: the scalings to try, separated by commas.",
        f"one or more of none, {', '.join(SCALES)}, separated by commas",
        are_all(lambda v: v is None or v in SCALES),
    ),
    Parameter(
        "Cs",
        (0.1, 1.0, 10.0),
        "Tuning: the values of C to try for the rules that use it: 'pa1', 'pa2', 'arow', 'scw' and "
        "'second-order'; separated by commas.",
        "numbers > 0, separated by commas",
        are_all(is_number(0, strict=True)),
    ),
)
