"""Parameters of `KernelPerceptron` and `OnlineKernelPerceptron`."""

from __future__ import annotations

from dataclasses import replace

from novikoff.parameters.common import PARAMETERS, PREDICT_WITH
from novikoff.parameters.parameter import Parameter, is_number, none_or, number, one_of, table, whole

FILE_KERNELS = ("linear", "poly", "rbf", "laplacian", "chi2", "cosine", "monotone_conjunction")
KERNELS = (*FILE_KERNELS, "precomputed")
FORMULAS = (
    "'linear': x·z. 'poly': (γ·x·z + coef0)^degree. 'rbf': exp(−γ‖x − z‖²). 'laplacian': exp(−γ‖x − z‖₁). "
    "'chi2': exp(−γ Σ (x − z)²/(x + z)), for numbers ≥ 0. 'cosine': x·z/(‖x‖‖z‖). 'monotone_conjunction': "
    "2^|x ∧ z|, for rows of 0 and 1."
)

KERNEL_PARAMETERS = PARAMETERS | table(
    Parameter(
        "kernel",
        "rbf",
        f"K(x, z). {FORMULAS} 'precomputed': X holds the kernel values, with one column per training row. Or "
        "a function of two blocks of rows that returns the matrix of their kernel values.",
        "one of " + ", ".join(map(repr, KERNELS)) + ", or a function",
        lambda v: callable(v) or (isinstance(v, str) and v in KERNELS),
        KERNELS,
    ),
    Parameter(
        "gamma",
        "scale",
        "γ of the kernels that have one: a number, 'scale' for 1/(n_features · variance of X), 'auto' for "
        "1/n_features.",
        "'scale', 'auto' or a number > 0",
        lambda v: (isinstance(v, str) and v in ("scale", "auto")) or is_number(0, strict=True)(v),
    ),
    Parameter("degree", 3, "The degree of 'poly'.", *whole(1)),
    Parameter("coef0", 1.0, "The constant of 'poly'; 0 leaves out the lower degrees.", *number(0)),
    Parameter(
        "kernel_params",
        None,
        "Keyword arguments for a kernel that is a function.",
        *none_or("a dict", lambda v: isinstance(v, dict)),
    ),
    replace(
        PARAMETERS["fit_intercept"], default=False, help="Learn a bias: 1 is added to every kernel value."
    ),
    replace(PARAMETERS["max_epochs"], default=10),
    replace(
        PARAMETERS["order"],
        help="The order in which an epoch visits the rows. 'shuffle': a new permutation in each epoch. "
        "'riffle': 32 runs of neighbours, interleaved at random. 'cyclic': as stored. 'worst': each visit "
        "goes to the most violated row.",
    ),
    replace(PARAMETERS["multiclass"], default="ovr"),
    Parameter(
        "predict_with",
        None,
        "How to predict: 'voted' by all hypotheses of the run, 'averaged' or 'last'. None means 'voted'; "
        "with a `budget`, which keeps no hypotheses, it means 'averaged', or 'last' if the policy removes "
        "supports. It can be changed after the fit.",
        *none_or(*one_of(*PREDICT_WITH)),
    ),
    Parameter(
        "budget",
        None,
        "The largest number of supports that are ever kept; None keeps all. With a budget the model "
        "learns from one row at a time, in constant time and memory.",
        *none_or(*whole(1)),
    ),
    Parameter(
        "budget_policy",
        "projectron",
        "What happens at a mistake when the budget is full. 'projectron': the row is projected onto the "
        "existing supports. 'projectron++': so are rows that are right by too little. 'forgetron': all "
        "coefficients shrink, and the oldest support is removed. 'oldest', 'random': that support is "
        "removed.",
        *one_of("projectron", "projectron++", "forgetron", "oldest", "random"),
    ),
    Parameter(
        "cache_mb",
        1024,
        "Memory for the scores of all rows and for kernel values that are needed again, in units of 2²⁰ "
        "bytes.",
        *number(0, strict=True),
    ),
)

ONLINE_KERNEL_PARAMETERS = KERNEL_PARAMETERS | table(
    Parameter("gamma", 1.0, "γ of the kernels that have one.", *number(0, strict=True)),
    Parameter(
        "predict_with",
        "last",
        "How to predict: with the 'averaged' coefficients, if no supports are removed, or with the 'last' "
        "ones. It can be changed at any time.",
        *one_of("averaged", "last"),
    ),
)


def what_predicts(predict_with: str | None, budget: int | None, policy: str) -> str:
    """The way a kernel model predicts: `predict_with`, or by default the best one that is available.

    >>> [what_predicts(None, *how) for how in [(None, "oldest"), (9, "projectron"), (9, "oldest")]]
    ['voted', 'averaged', 'last']
    """
    averages = budget is None or policy.startswith("projectron")  # the others remove supports
    if predict_with is None:
        return "voted" if budget is None else "averaged" if averages else "last"
    if predict_with == "voted" and budget is not None:
        raise ValueError(
            "predict_with='voted' is not possible with a budget, which keeps no hypotheses that could vote: "
            "expected None, 'averaged' or 'last'."
        )
    if predict_with == "averaged" and not averages:
        raise ValueError(
            f"predict_with='averaged' is not possible with budget_policy={policy!r}, which removes supports: "
            "expected 'last', or a projectron."
        )
    return predict_with
