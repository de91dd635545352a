"""Parameters of `Perceptron`, `VotedPerceptron`, `OnlinePerceptron`, `Pocket` and `Winnow`."""

from __future__ import annotations

import math
from dataclasses import replace

from novikoff.parameters.common import AUTO, PARAMETERS, PREDICT_WITH
from novikoff.parameters.files import SCALES
from novikoff.parameters.parameter import (
    BOOLEAN,
    Parameter,
    auto_or,
    is_number,
    none_or,
    number,
    one_of,
    table,
    whole,
)

STEP_RULES = ("perceptron", "normalized", "margin", "pa", "pa1", "pa2")  # they add τ·y·x
VARIANCE_RULES = ("arow", "scw", "second-order")  # they add τ·y·Σx, with a variance for each weight
RULES = STEP_RULES + VARIANCE_RULES
PHI = 1.2815515655446004  # Φ⁻¹ of the default η
DRAWN_ORDERS = ("shuffle", "riffle", "cyclic", "draw")

LINEAR_PARAMETERS = PARAMETERS | table(
    Parameter(
        "rule",
        "perceptron",
        "The step τ in w ← w + τ·y·x. 'perceptron': 1 at a mistake. 'normalized': 1/‖x‖ at a mistake, "
        "where the norm of a row includes its bias coordinate. 'margin': 1 whenever y·s ≤ `margin`. "
        "'pa', 'pa1', 'pa2': the passive-aggressive steps, whenever y·s < 1. 'arow', 'scw', 'second-order': "
        "each weight has a variance, which shrinks as it is learned, and steps in proportion; one or few "
        "epochs, and columns of any size.",
        *one_of(*RULES),
    ),
    Parameter(
        "intercept_scaling",
        1.0,
        "The value of the bias coordinate. R and γ are measured with it.",
        "a number between 1e-100 and 1e100",
        lambda v: is_number(1e-100)(v) and v <= 1e100,
    ),
    Parameter("margin", 0.0, "β of the 'margin' rule: update whenever y·s ≤ β.", *number(0)),
    Parameter(
        "C",
        1.0,
        "Aggressiveness: the largest step of 'pa1' and 'scw'; a smaller C gives smaller steps of 'pa2' and "
        "'arow' (r = 1/C), and slower variances of 'second-order' (a = 1/C).",
        *number(0, strict=True),
    ),
    Parameter(
        "eta",
        0.9,
        "η of the 'scw' rule: the probability, for weights drawn by their variances, with which a row shall "
        "be right after its update.",
        "a number between 0.5 and 1, both excluded",
        lambda v: is_number(0.5, strict=True)(v) and v < 1,
    ),
    Parameter(
        "class_weight",
        None,
        "Factors on the step by class: a dict of class → weight, or 'balanced'.",
        "None, 'balanced' or a dict of class → number ≥ 0",
        lambda v: (
            v is None
            or (isinstance(v, str) and v == "balanced")
            or (isinstance(v, dict) and all(map(is_number(0), v.values())))
        ),
    ),
    Parameter(
        "warm_start", False, "Let `fit` continue from the weights and counts of the previous fit.", *BOOLEAN
    ),
    Parameter(
        "predict_with",
        "voted",
        "How to predict: 'voted' by all weight vectors of the run, 'averaged' or 'last'. "
        "It can be changed after the fit.",
        *one_of(*PREDICT_WITH),
    ),
)

SCALE = Parameter(
    "scale",
    AUTO,
    "'auto': where columns differ in size by more than a factor of 16 or so, each is learned times the "
    "power of two that brings its largest |x| into the range from 1/16 to 2. The weights are those of the "
    "rows as they are. A first call of `partial_fit` with 100 rows or more decides for later ones. None: "
    "columns are learned as they are.",
    *none_or("'auto'", lambda v: isinstance(v, str) and v == AUTO),
)

SCALINGS = replace(
    SCALE,
    help=SCALE.help.replace(
        " None:",
        " 'standard': columns of numbers to mean 0 and deviation 1, the columns of sparse rows and "
        "categories only to deviation 1. 'maxabs': to a largest |x| of 1. 'unit': rows to norm 1. With "
        "these three, weights and everything that is proved are about the scaled rows. None:",
    ),
    expected=f"None or one of {', '.join(SCALES)}",
    legal=lambda v: v is None or (isinstance(v, str) and v in SCALES),
)

PERCEPTRON_PARAMETERS = LINEAR_PARAMETERS | table(  # batch learners that may ask about their rows
    replace(PARAMETERS["order"], default="riffle"),
    Parameter(
        "max_epochs",
        AUTO,
        "The largest number of epochs per fit. 'auto': ten; unless one of them was clean, the rows are then "
        "examined with about the effort made so far. If it is proved that no epoch will ever be clean, "
        "training ends; if the rows were separated, it goes on until an epoch is clean, for up to 1000; "
        "otherwise the epochs are doubled, up to 160, until mistakes no longer fall.",
        *auto_or(whole(1)),
    ),
    Parameter(
        "average",
        AUTO,
        "Predict with the mean of the weights after each visit instead of the last weights. 'auto': predict "
        "with the last weights if they make no error on the rows of the fit, otherwise with the mean.",
        *auto_or(BOOLEAN),
    ),
    SCALINGS,
)

# Votes and mixtures are of sums of τ·y·x.
_STEPS = table(
    replace(
        LINEAR_PARAMETERS["rule"],
        help=LINEAR_PARAMETERS["rule"].help.partition(" 'arow'")[0],
        expected=one_of(*STEP_RULES)[0],
        legal=one_of(*STEP_RULES)[1],
        choices=STEP_RULES,
    ),
    replace(
        LINEAR_PARAMETERS["C"],
        help="Aggressiveness: the largest step of 'pa1'; for 'pa2' a smaller C gives smaller steps.",
    ),
)
STEP_PARAMETERS = LINEAR_PARAMETERS | _STEPS
VOTED_PARAMETERS = PERCEPTRON_PARAMETERS | _STEPS | table(SCALE)

POCKET_PARAMETERS = LINEAR_PARAMETERS | table(
    SCALE,
    Parameter(
        "order",
        "draw",
        "How an epoch of n visits chooses among the n rows. 'draw': each visit draws a row with replacement, "
        "as in Gallant (1990). 'shuffle': a new permutation in each epoch. 'riffle': 32 runs of neighbours, "
        "interleaved at random, anew in each epoch. 'cyclic': as stored.",
        *one_of(*DRAWN_ORDERS),
    ),
    replace(PARAMETERS["max_epochs"], default=100),
    Parameter(
        "ratchet",
        True,
        "Replace the weights in the pocket only by weights that get strictly more of the training rows "
        "right, by weight; a longer run alone is not enough.",
        *BOOLEAN,
    ),
)

WINNOW_PARAMETERS = PARAMETERS | table(
    replace(POCKET_PARAMETERS["order"], default="shuffle"),
    POCKET_PARAMETERS["max_epochs"],
    Parameter(
        "alpha",
        2.0,
        "The factor of a promotion, and the divisor of a demotion.",
        "a number from 1.001 to 1e6",
        lambda v: is_number(1.001)(v) and v <= 1e6,
    ),
    Parameter(
        "threshold",
        None,
        "θ: the second class is predicted when w·x ≥ θ. None: the number of features.",
        *none_or("a finite number", is_number(-math.inf)),
    ),
    Parameter(
        "balanced",
        False,
        "Give each feature two weights, w⁺ and w⁻ = 1/w⁺, and use w⁺ − w⁻: then features can count against "
        "the second class, and values can be negative.",
        *BOOLEAN,
    ),
    Parameter(
        "eliminate",
        False,
        "Winnow1: a demotion sets weights to 0 permanently, instead of dividing them by `alpha` (Winnow2). "
        "For disjunctions without noise; not with `balanced`.",
        *BOOLEAN,
    ),
)


def phi_of(eta: float) -> float:
    """Φ⁻¹(η), the number of standard deviations that the 'scw' rule asks for.

    Its last digit depends on the machine's logarithm, so it is computed once and stored in the model.

    >>> phi_of(0.9) == PHI
    True
    """
    from statistics import NormalDist

    return PHI if eta == LINEAR_PARAMETERS["eta"].default else NormalDist().inv_cdf(float(eta))
