"""Every parameter's name, default, help and legal values, written once.

Estimators, the command line and the documentation all read them here. The module is light on
purpose: showing help must not load NumPy.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

RULES = ("perceptron", "normalized", "margin", "pa", "pa1", "pa2")
ORDERS = ("shuffle", "cyclic", "worst")
DRAWN_ORDERS = ("shuffle", "cyclic", "draw")
TIES = ("positive", "mistake")
MULTICLASS = ("joint", "ovr")
ROUNDINGS = ("never", "nearest")
PREDICT_WITH = ("voted", "averaged", "last")
OTHER = "other"  # what labels become that are not the positive one
FORMATS = ("libsvm", "vw", "jsonl", "csv", "tsv", "parquet", "arrow")
SCALES = ("standard", "maxabs", "unit")


@dataclass(frozen=True)
class Parameter:
    """One parameter: what it is called, what it starts as, what it means, what it may be."""

    name: str
    default: Any
    help: str
    expected: str
    legal: Callable[[Any], bool]
    choices: tuple[str, ...] = ()  # all legal values, where they can be listed

    def check(self, value: Any) -> None:
        """Raise one clear error unless `value` is legal."""
        if not self.legal(value):
            raise ValueError(f"{self.name}={value!r} is not possible: expected {self.expected}.")


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ == "bool"  # numpy's too


def _real(low: float, *, strict: bool = False) -> Callable[[Any], bool]:
    def legal(value: Any) -> bool:
        if not isinstance(value, numbers.Real) or _is_bool(value):
            return False
        try:
            number = float(value)
        except OverflowError:  # an integer beyond every double
            return False
        return math.isfinite(number) and (number > low if strict else number >= low)

    return legal


def _whole(low: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, numbers.Integral) and not _is_bool(value) and int(value) >= low


def _one_of(*names: str) -> tuple[str, Callable[[Any], bool], tuple[str, ...]]:
    return "one of " + ", ".join(repr(n) for n in names), lambda v: isinstance(v, str) and v in names, names


def _none_or(
    expected: str, legal: Callable[[Any], bool], choices: tuple[str, ...] = ()
) -> tuple[str, Callable[[Any], bool], tuple[str, ...]]:
    return f"None or {expected}", lambda v: v is None or legal(v), choices


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_character(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 1 and value.isascii()


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_name, value))


def _some(legal: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list | tuple) and len(value) > 0 and all(map(legal, value))


def _table(*parameters: Parameter) -> dict[str, Parameter]:
    return {p.name: p for p in parameters}


PARAMETERS = _table(
    Parameter(
        "rule",
        "perceptron",
        "The step τ in w ← w + τ·y·x. 'perceptron': 1 at a mistake. 'normalized': 1/‖x‖ at a mistake, "
        "where the norm of a row includes its bias coordinate. 'margin': 1 whenever y·s ≤ `margin`. "
        "'pa', 'pa1', 'pa2': the passive-aggressive steps, whenever y·s < 1.",
        *_one_of(*RULES),
    ),
    Parameter(
        "average",
        False,
        "Predict with the mean of the weights after each visit instead of the last weights.",
        "True or False",
        _is_bool,
    ),
    Parameter(
        "fit_intercept",
        True,
        "Learn a bias, as the weight of one more coordinate that is `intercept_scaling` for every row.",
        "True or False",
        _is_bool,
    ),
    Parameter(
        "intercept_scaling",
        1.0,
        "The size of the bias coordinate. R and γ are measured with it.",
        "a number between 1e-100 and 1e100",
        lambda v: _real(1e-100)(v) and v <= 1e100,
    ),
    Parameter("max_epochs", 1000, "The most epochs a fit may take.", "a whole number ≥ 1", _whole(1)),
    Parameter(
        "order",
        "shuffle",
        "How an epoch visits the rows. 'shuffle': a new permutation each epoch (memory-mapped arrays: "
        "blocks of rows in random order, shuffled within). 'cyclic': as they lie. 'worst': each visit "
        "goes to the most violated row; a pass over the data for every update.",
        *_one_of(*ORDERS),
    ),
    Parameter(
        "random_state",
        None,
        "Seed, Generator or RandomState from which permutations and held-out rows are drawn.",
        "None, a whole number ≥ 0, a numpy Generator or a RandomState",
        lambda v: v is None or _whole(0)(v) or type(v).__name__ in ("Generator", "RandomState"),
    ),
    Parameter(
        "ties",
        "positive",
        "What a score of exactly 0 means. 'positive': it predicts the second class (with three or more "
        "classes the lowest of those tied). 'mistake': it counts as a mistake for every label.",
        *_one_of(*TIES),
    ),
    Parameter("margin", 0.0, "β of the 'margin' rule: update whenever y·s ≤ β.", "a number ≥ 0", _real(0)),
    Parameter(
        "C",
        1.0,
        "Aggressiveness of 'pa1' (the largest step) and 'pa2' (softens the step).",
        "a number > 0",
        _real(0, strict=True),
    ),
    Parameter(
        "multiclass",
        "joint",
        "Three classes or more. 'joint': one weight vector a class, learned together. 'ovr': one "
        "perceptron a class against the rest, each on its own.",
        *_one_of(*MULTICLASS),
    ),
    Parameter(
        "class_weight",
        None,
        "Factors on the step by class: a dict of class → weight, or 'balanced'.",
        "None, 'balanced' or a dict of class → number ≥ 0",
        lambda v: v is None or v == "balanced" or (isinstance(v, dict) and all(map(_real(0), v.values()))),
    ),
    Parameter(
        "early_stopping",
        False,
        "Hold rows out and stop when their accuracy no longer improves; keeps the best epoch's weights.",
        "True or False",
        _is_bool,
    ),
    Parameter(
        "validation_fraction",
        0.1,
        "The share of rows that early stopping holds out, class by class.",
        "a number between 0 and 1, both excluded",
        lambda v: _real(0, strict=True)(v) and v < 1,
    ),
    Parameter(
        "n_epochs_no_change",
        5,
        "Epochs without a better held-out accuracy before early stopping stops.",
        "a whole number ≥ 1",
        _whole(1),
    ),
    Parameter(
        "warm_start",
        False,
        "Let `fit` go on from the weights and counts of the fit before.",
        "True or False",
        _is_bool,
    ),
    Parameter(
        "n_jobs",
        None,
        "Threads for prediction and for one-vs-rest classes; −1 for all cores. Never changes a result.",
        "None or a whole number that is not 0",
        lambda v: v is None or (isinstance(v, numbers.Integral) and not _is_bool(v) and v != 0),
    ),
    Parameter("verbose", 0, "1 prints a line an epoch.", "a whole number ≥ 0", _whole(0)),
    Parameter(
        "callback",
        None,
        "Called after each epoch with that epoch's record; returning True stops the fit.",
        "None or a callable",
        lambda v: v is None or callable(v),
    ),
    Parameter(
        "predict_with",
        "voted",
        "How to predict: 'voted' by all weight vectors of the run, 'averaged' or 'last'. "
        "May be changed after the fit.",
        *_one_of(*PREDICT_WITH),
    ),
    Parameter(
        "rounding",
        "never",
        "What becomes of integers, timestamps, long doubles and fractions that no double holds. 'never': "
        "they are refused, the first named. 'nearest': rounded to the nearest double, with a warning. "
        "Decimals always mean the nearest double.",
        *_one_of(*ROUNDINGS),
    ),
    Parameter(
        "classes",
        None,
        "All labels, in the order that decides ties; any other label is then refused. Without it "
        "classes come in order of appearance, the first two by size where they are numbers.",
        "None or a list of at least two labels",
        lambda v: v is None or (not isinstance(v, str) and hasattr(v, "__len__") and len(v) >= 2),
    ),
    Parameter(
        "hash_bits",
        None,
        "Fix the memory at 2**hash_bits weights a class: a feature's place is a hash of its name, the same "
        "in every process and on every machine. Values that meet at one place are added.",
        "None or a whole number from 1 to 30",
        lambda v: v is None or (_whole(1)(v) and v <= 30),
    ),
    Parameter(
        "seed",
        0,
        "Chooses the hash; not used without `hash_bits`.",
        "a whole number from 0 to 2**64 - 1",
        lambda v: _whole(0)(v) and v < 2**64,
    ),
)

# On a cluster: what only that knows, and what means something else there.
MIXINGS = ("uniform", "updates", "single-shot")
DISTRIBUTED_PARAMETERS = PARAMETERS | _table(
    replace(
        PARAMETERS["order"],
        help="How an epoch visits the rows of a shard. 'shuffle': a new permutation each epoch. 'cyclic': as "
        "they lie, which is how files are always read. 'worst': each visit goes to the most violated row of "
        "the shard.",
    ),
    replace(
        PARAMETERS["n_jobs"],
        help="Threads for predicting rows in memory; −1 for all cores. Never changes a result.",
    ),
    Parameter(
        "mixing",
        "uniform",
        "What the shared weights become after an epoch. 'uniform': the mean of the shards' weights. "
        "'updates': their mean weighted by the updates that each shard made. 'single-shot': every shard "
        "learns by itself to the end, and the mean is taken once, which may separate nothing even where the "
        "rows can be separated.",
        *_one_of(*MIXINGS),
    ),
    Parameter(
        "n_shards",
        None,
        "Into how many shards to join neighbouring blocks, partitions or files. Without it each is a shard.",
        *_none_or("a whole number ≥ 1", _whole(1)),
    ),
    Parameter(
        "client",
        None,
        "The cluster: a distributed.Client, or the address of a scheduler. None: the default client where "
        "there is one, else a local cluster of processes, one a core, which is closed after the fit.",
        "None, a distributed.Client, or an address such as 'tcp://10.0.0.1:8786'",
        lambda v: v is None or _is_name(v) or type(v).__name__ == "Client",
    ),
    Parameter(
        "checkpoint",
        None,
        "Folder in which the fit is kept after every epoch. When the scheduler is lost, the same fit goes on "
        "from there, on any cluster, and ends with the same bits; at its end the file is removed.",
        *_none_or("a folder", lambda v: _is_name(v) or hasattr(v, "__fspath__")),
    ),
)

# Kernel perceptrons: what only they know, and what starts otherwise there.
FILE_KERNELS = ("linear", "poly", "rbf", "laplacian", "chi2", "cosine", "monotone_conjunction")
KERNELS = (*FILE_KERNELS, "precomputed")
KERNEL_PARAMETERS = PARAMETERS | _table(
    Parameter(
        "kernel",
        "rbf",
        "K(x, z). 'linear': x·z. 'poly': (γ·x·z + coef0)^degree. 'rbf': exp(−γ‖x − z‖²). 'laplacian': "
        "exp(−γ‖x − z‖₁). 'chi2': exp(−γ Σ (x − z)²/(x + z)), for numbers ≥ 0. 'cosine': x·z/(‖x‖‖z‖). "
        "'monotone_conjunction': 2^|x ∧ z|, for rows of 0 and 1. 'precomputed': X holds the values, a column "
        "a training row. Or a function of two blocks of rows that returns the matrix of their values.",
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
        lambda v: (isinstance(v, str) and v in ("scale", "auto")) or _real(0, strict=True)(v),
    ),
    Parameter("degree", 3, "The degree of 'poly'.", "a whole number ≥ 1", _whole(1)),
    Parameter(
        "coef0", 1.0, "The constant of 'poly': 0 leaves out the lower degrees.", "a number ≥ 0", _real(0)
    ),
    Parameter(
        "kernel_params",
        None,
        "More arguments, by name, for a kernel that is a function.",
        "None or a dict",
        lambda v: v is None or isinstance(v, dict),
    ),
    replace(
        PARAMETERS["fit_intercept"],
        default=False,
        help="Learn a bias: 1 is added to every kernel value.",
    ),
    replace(PARAMETERS["max_epochs"], default=10),
    replace(
        PARAMETERS["order"],
        help="How an epoch visits the rows. 'shuffle': a new permutation each epoch. 'cyclic': as they lie. "
        "'worst': each visit goes to the most violated row.",
    ),
    replace(PARAMETERS["multiclass"], default="ovr"),
    Parameter(
        "predict_with",
        None,
        "How to predict: 'voted' by all hypotheses of the run, 'averaged' or 'last'. None: 'voted', or with "
        "a `budget`, which keeps no hypotheses, 'averaged', or 'last' where the policy removes supports. May "
        "be changed after the fit.",
        *_none_or(*_one_of(*PREDICT_WITH)),
    ),
    Parameter(
        "budget",
        None,
        "The most supports that are ever kept; None keeps all. With a budget every row is learned from by "
        "itself, in constant time and memory.",
        "None or a whole number ≥ 1",
        lambda v: v is None or _whole(1)(v),
    ),
    Parameter(
        "budget_policy",
        "projectron",
        "What happens to a mistake when the budget is full. 'projectron': it is projected onto the supports "
        "there are. 'projectron++': so are rows that are right by too little. 'forgetron': all coefficients "
        "shrink, and the oldest support goes. 'oldest', 'random': that support goes.",
        *_one_of("projectron", "projectron++", "forgetron", "oldest", "random"),
    ),
    Parameter(
        "cache_mb",
        1024,
        "Memory for the scores of all rows and for kernel values that are needed again, in 2²⁰ bytes.",
        "a number > 0",
        _real(0, strict=True),
    ),
)

# Pocket and Winnow: what only they know, and what starts otherwise there.
POCKET_PARAMETERS = PARAMETERS | _table(
    Parameter(
        "order",
        "draw",
        "How an epoch of n visits goes over the n rows. 'draw': each visit draws a row, with replacement, as "
        "Gallant has it. 'shuffle': a new permutation each epoch. 'cyclic': as they lie.",
        *_one_of(*DRAWN_ORDERS),
    ),
    replace(PARAMETERS["max_epochs"], default=100),
    Parameter(
        "ratchet",
        True,
        "Replace the weights in the pocket only by weights that get strictly more of the training rows "
        "right, by weight; a longer run alone does not do.",
        "True or False",
        _is_bool,
    ),
)
WINNOW_PARAMETERS = PARAMETERS | _table(
    replace(POCKET_PARAMETERS["order"], default="shuffle"),
    replace(PARAMETERS["max_epochs"], default=100),
    Parameter(
        "alpha",
        2.0,
        "The factor of a promotion, and the divisor of a demotion.",
        "a number from 1.001 to 1e6",
        lambda v: _real(1.001)(v) and v <= 1e6,
    ),
    Parameter(
        "threshold",
        None,
        "θ: the second class is predicted when w·x ≥ θ. None: the number of features.",
        *_none_or("a finite number", _real(-math.inf)),
    ),
    Parameter(
        "balanced",
        False,
        "Give each feature two weights, w⁺ and w⁻ = 1/w⁺, and use w⁺ − w⁻: then features may count against "
        "the second class, and values may be negative.",
        "True or False",
        _is_bool,
    ),
    Parameter(
        "eliminate",
        False,
        "Winnow1: a demotion sets weights to 0 for good, instead of dividing them by alpha (Winnow2). For "
        "disjunctions without noise; not with `balanced`.",
        "True or False",
        _is_bool,
    ),
)

# Sequence taggers: what only they know, and what starts otherwise there.
TRANSITIONS = ("first-order", "any", "bio", "iobes")
TAGGER_PARAMETERS = PARAMETERS | _table(
    Parameter(
        "features",
        None,
        "Templates that make features of tokens with columns, or the name of ready-made ones: 'chunking', "
        "'pos', 'ner'. None: X has the features, as lists of names or as dicts.",
        "None, Templates or the name of ready-made ones",
        lambda v: v is None or _is_name(v) or type(v).__name__ == "Templates",
    ),
    replace(PARAMETERS["average"], default=True),
    replace(PARAMETERS["max_epochs"], default=10),
    Parameter(
        "order",
        "shuffle",
        "How an epoch visits the sentences. 'shuffle': a new permutation each epoch. 'cyclic': as they lie.",
        *_one_of("shuffle", "cyclic"),
    ),
    Parameter(
        "min_count",
        1,
        "Leave out features that occur fewer times in the training data.",
        "a whole number ≥ 1",
        _whole(1),
    ),
    Parameter(
        "transitions",
        "first-order",
        "Which label may follow which. 'first-order': those seen in training. 'any': all. 'bio', 'iobes': "
        "what these schemes allow. Every bigram of labels has a weight.",
        *_one_of(*TRANSITIONS),
    ),
    replace(
        PARAMETERS["hash_bits"],
        help="Fix the memory at 2**hash_bits weights a label: a feature's place is a hash of its name, the "
        "same in every process and on every machine. Values that meet at one place are added.",
    ),
    replace(
        PARAMETERS["early_stopping"],
        help="Hold sentences out and stop when their tokens' accuracy no longer improves; keeps the best "
        "epoch's weights.",
    ),
    replace(PARAMETERS["validation_fraction"], help="The share of sentences that early stopping holds out."),
    replace(PARAMETERS["n_jobs"], help="Threads for tagging; −1 for all cores. Never changes a result."),
)
DISTRIBUTED_TAGGER_PARAMETERS = TAGGER_PARAMETERS | _table(
    *(DISTRIBUTED_PARAMETERS[name] for name in ("mixing", "client", "checkpoint")),
    replace(
        DISTRIBUTED_PARAMETERS["n_shards"],
        help="Into how many shards to cut the sentences. None, for files only: each file is a shard.",
    ),
)

# Structured perceptrons: what only they know, and what starts otherwise there.
STRUCTURED_PARAMETERS = PARAMETERS | _table(
    Parameter(
        "problem",
        None,
        "What is predicted: an object with `features(x, y)` and `decode(x, w)`; `structured.Problem` says "
        "what it may have besides.",
        "an object with the methods features(x, y) and decode(x, w)",
        lambda v: (
            not isinstance(v, type)
            and all(callable(getattr(v, name, None)) for name in ("features", "decode"))
        ),
    ),
    Parameter(
        "cost_augmented",
        False,
        "Learn from the output with the highest score plus loss(y, z): then right outputs come to score more "
        "than any other by its loss. The problem needs `loss(y, z)` and `decode(x, w, y)`.",
        "True or False",
        _is_bool,
    ),
    replace(PARAMETERS["max_epochs"], default=100),
    replace(
        PARAMETERS["order"],
        help="How an epoch visits the examples. 'shuffle': a new permutation each epoch. 'cyclic': as they "
        "lie. 'worst': each visit goes to the most violated example; all are decoded for every update.",
    ),
    replace(
        PARAMETERS["early_stopping"],
        help="Hold examples out and stop when their score no longer improves; keeps the best epoch's "
        "weights.",
    ),
    replace(PARAMETERS["validation_fraction"], help="The share of examples that early stopping holds out."),
)

# Files, streams and the command line: what only they know, and what starts otherwise there.
FILE_PARAMETERS = PARAMETERS | _table(
    replace(
        PARAMETERS["rounding"],
        help="What becomes of integers (digits alone, or of a column's type) and times that no double holds. "
        "'never': they are refused, the first named. 'nearest': rounded to the nearest double, with a "
        "warning. Decimals always mean the nearest double.",
    ),
    Parameter(
        "kernel",
        None,
        "Learn a kernel perceptron, with all rows in memory, instead of weights. 'linear': x·z. 'poly': "
        "(γ·x·z + coef0)^degree. 'rbf': exp(−γ‖x − z‖²). 'laplacian': exp(−γ‖x − z‖₁). 'chi2': exp(−γ Σ (x − "
        "z)²/(x + z)), for numbers ≥ 0. 'cosine': x·z/(‖x‖‖z‖). 'monotone_conjunction': 2^|x ∧ z|, for rows "
        "of 0 and 1. With it --order is shuffle, --multiclass ovr and there is no bias, unless given "
        "otherwise.",
        *_none_or(*_one_of(*FILE_KERNELS)),
    ),
    *(KERNEL_PARAMETERS[name] for name in ("gamma", "degree", "coef0", "cache_mb", "budget_policy")),
    replace(
        KERNEL_PARAMETERS["budget"],
        help="The most supports that a kernel model ever keeps. Without it all are kept. With it every row "
        "is learned from by itself, and no hypotheses are kept that could vote.",
    ),
    replace(
        KERNEL_PARAMETERS["predict_with"],
        help="What a kernel model predicts with: the votes of all its hypotheses, their mean, or the last. "
        "Without it the votes, or with `budget` the mean, or the last where the policy removes supports.",
    ),
    replace(
        PARAMETERS["max_epochs"],
        default=10,
        help="The most epochs: passes over the files, of which there are fewer when one passes without an "
        "update (the estimator's max_epochs is 1000). Standard input can be read only once: 1.",
    ),
    replace(
        PARAMETERS["order"],
        default="cyclic",
        help="How an epoch visits the rows. 'cyclic': as they lie in the files, a few blocks in memory at a "
        "time. 'shuffle' (the estimator's default): all rows are read into memory, and come in a new order "
        "each epoch. 'worst': in memory too, each visit goes to the most violated row.",
    ),
    replace(
        PARAMETERS["random_state"],
        default=0,
        help="Seed from which the order of the rows and held-out rows are drawn (the estimator draws a new "
        "one each time).",
    ),
    replace(
        PARAMETERS["early_stopping"],
        help="Hold rows out and stop when their accuracy no longer improves; keeps the best epoch's weights. "
        "Reads all rows into memory.",
    ),
    replace(
        PARAMETERS["class_weight"],
        help="Factors on the step by class: 'balanced', or such as spam=2,ham=1.",
        expected="'balanced', or LABEL=WEIGHT with commas between, weights being numbers ≥ 0",
    ),
    replace(
        PARAMETERS["n_jobs"],
        default=-1,
        help="Threads that read and predict; -1 for all cores. Never changes a result.",
    ),
    replace(
        PARAMETERS["verbose"],
        default=False,
        help="Print a line an epoch.",
        expected="True or False",
        legal=_is_bool,
    ),
    Parameter(
        "classes",
        None,
        "All labels, such as ham,spam, in the order that decides ties (of two, the second is positive); any "
        "other label is then an error. 'grow': as they come, in order of appearance, the first two by size "
        "where they are numbers. Without it they are found in the files, and sorted.",
        "None, 'grow', or at least two labels with commas between",
        lambda v: v is None or v == "grow" or (isinstance(v, list) and len(v) >= 2 and len(set(v)) == len(v)),
    ),
    Parameter(
        "positive",
        None,
        f"Learn this label against all others, which become '{OTHER}'.",
        *_none_or("a label", _is_name),
    ),
    Parameter(
        "relabel",
        (),
        "Take the label OLD for NEW, before anything else is done with it; can be given several times. An = "
        "in a label is written \\=.",
        "OLD=NEW, with one = that has no \\ before it, and each OLD once",
        lambda v: isinstance(v, dict) or not v,
    ),
    Parameter(
        "format",
        None,
        "What the files hold. Without it their names tell, and else their first lines.",
        *_none_or(*_one_of(*FORMATS)),
    ),
    Parameter(
        "label",
        None,
        "The column with the labels, by name or by number from 1. Without it in tables: the one called "
        "label, class, target or y; the last one where columns have no names. In JSON lines: 'label'.",
        *_none_or("a column", _is_name),
    ),
    Parameter(
        "weight",
        None,
        "The column with the weights of the rows, which multiply their steps.",
        *_none_or("a column", _is_name),
    ),
    Parameter("ignore", (), "Columns to leave out, with commas between.", "columns", _are_names),
    Parameter(
        "text",
        (),
        "Columns of a table to take as bags of words, with commas between.",
        "columns",
        _are_names,
    ),
    Parameter(
        "ngrams",
        1,
        "Words in a row that make one feature of a text column, at most.",
        "a whole number from 1 to 5",
        lambda v: _whole(1)(v) and v <= 5,
    ),
    Parameter(
        "categorical",
        (),
        "Columns of a table to take as categories although they hold numbers, with commas between.",
        "columns",
        _are_names,
    ),
    Parameter(
        "header",
        None,
        "Whether the first line of a CSV or TSV file names the columns. Without it: yes when it has the "
        "given name of the label's column, or when it has no number, but a usual name of labels, or the "
        "second line has a number; no when it has a number; otherwise yes for CSV and no for TSV. A line "
        "with numbers and a usual name of labels is refused, unless the line below has a number there or it "
        "begins with label, as in tables written by novikoff.",
        *_none_or("True or False", _is_bool),
    ),
    Parameter(
        "skip_lines", 0, "Lines before the table in every CSV or TSV file.", "a whole number ≥ 0", _whole(0)
    ),
    Parameter(
        "delimiter",
        None,
        "What stands between the cells of a CSV or TSV file.",
        *_none_or("one ASCII character", _is_character),
    ),
    Parameter(
        "quote",
        None,
        "What stands around cells that hold the delimiter.",
        *_none_or("one ASCII character", _is_character),
    ),
    Parameter(
        "zero_based", False, "LIBSVM text counts features from 0 instead of 1.", "True or False", _is_bool
    ),
    Parameter(
        "n_features",
        None,
        "Columns of LIBSVM text, when not as many as the largest index asks for.",
        *_none_or("a whole number ≥ 1", _whole(1)),
    ),
    Parameter(
        "scale",
        None,
        "Scale the features, as measured on the training rows: 'standard' (number columns of a table to mean "
        "0, all columns to deviation 1) and 'maxabs' (to a largest value of 1) take one more pass; 'unit' "
        "scales each row to norm 1.",
        *_none_or(*_one_of(*SCALES)),
    ),
    Parameter(
        "skip_bad_lines",
        False,
        "Pass over malformed lines, and count and show them.",
        "True or False",
        _is_bool,
    ),
    Parameter(
        "max_line",
        1 << 26,
        "Longest line in bytes: a file with a longer one is taken for something else.",
        "a whole number ≥ 1",
        _whole(1),
    ),
    Parameter(
        "max_columns",
        1 << 26,
        "Most columns that rows may ask for, if no number of them is declared: one large index would "
        "otherwise take the memory of all columns before it.",
        "a whole number ≥ 1",
        _whole(1),
    ),
    Parameter(
        "max_expansion",
        1000,
        "How many times its size a compressed file may expand to; up to 64 MiB are never refused.",
        "a whole number ≥ 1",
        _whole(1),
    ),
    Parameter(
        "cache",
        False,
        "Keep a compact binary copy beside the first file, from which later passes and runs read.",
        "True or False",
        _is_bool,
    ),
    Parameter(
        "checkpoint",
        None,
        "Folder in which the fit is kept while it is under way; --resume goes on from there.",
        *_none_or("a folder", _is_name),
    ),
    Parameter(
        "every",
        1_000_000,
        "Rows between two checkpoints; on a cluster there is one after every epoch.",
        "a whole number ≥ 1",
        _whole(1),
    ),
    Parameter(
        "resume",
        False,
        "Go on from the checkpoint, or from the beginning when there is none yet. The model will be the "
        "same, bit for bit, as without the interruption.",
        "True or False",
        _is_bool,
    ),
    Parameter(
        "dask",
        None,
        "Learn on a Dask cluster, by iterative parameter mixing: the address of its scheduler, such as "
        "tcp://10.0.0.1:8786, or 'local' for processes on this machine, one a core. Every file is a shard, "
        "and is read by the workers, under the name it has here.",
        *_none_or("the address of a scheduler, or 'local'", _is_name),
    ),
    *(DISTRIBUTED_PARAMETERS[name] for name in ("mixing", "n_shards")),
    Parameter(
        "folds",
        5,
        "Tuning: the number of parts, each of which is held out once.",
        "a whole number ≥ 2",
        _whole(2),
    ),
    Parameter(
        "split",
        None,
        "Tuning: hold out this share of the rows, once, instead of folds.",
        *_none_or("a number between 0 and 1, both excluded", lambda v: _real(0, strict=True)(v) and v < 1),
    ),
    Parameter(
        "rules",
        ("perceptron", "pa1"),
        "Tuning: the rules to try, with commas between.",
        f"one or more of {', '.join(RULES)}, with commas between",
        _some(lambda v: v in RULES),
    ),
    Parameter(
        "averages",
        (False, True),
        "Tuning: whether to try averaged weights.",
        "'both', 'yes' or 'no'",
        _some(_is_bool),
    ),
    Parameter(
        "epochs",
        (1, 2, 5, 10),
        "Tuning: numbers of epochs to try, with commas between. The largest is run, and looked at on the "
        "way.",
        "whole numbers ≥ 1, with commas between",
        _some(_whole(1)),
    ),
    Parameter(
        "scales",
        (None, *SCALES),
        "Tuning: the scalings to try, with commas between.",
        f"one or more of none, {', '.join(SCALES)}, with commas between",
        _some(lambda v: v is None or v in SCALES),
    ),
    Parameter(
        "Cs",
        (1.0,),
        "Tuning: values of C to try for the rules 'pa1' and 'pa2', with commas between.",
        "numbers > 0, with commas between",
        _some(_real(0, strict=True)),
    ),
    Parameter(
        "n_orders",
        100,
        "Diagnosis: random orders in which to learn, at most; fewer when the time is up.",
        "a whole number ≥ 1",
        _whole(1),
    ),
    Parameter(
        "time_limit",
        20.0,
        "Seconds to think, about, without reading the files; what is not decided by then stays open.",
        "a number > 0",
        _real(0, strict=True),
    ),
    Parameter("quiet", False, "Show no progress and no notes, only the outcome.", "True or False", _is_bool),
    Parameter(
        "json",
        False,
        "Write the outcome as JSON to standard output, and nothing else there.",
        "True or False",
        _is_bool,
    ),
)

# Files of sentences and the command line of taggers: what only they know, and what starts otherwise there.
SENTENCE_FORMATS = ("conll", "conllu", "crfsuite")
TAG_FILE_PARAMETERS = TAGGER_PARAMETERS | _table(
    *(FILE_PARAMETERS[name] for name in ("verbose", "quiet", "json")),
    Parameter(
        "templates",
        None,
        "What makes features of a token's columns: a file with a template a line, or the name of ready-made "
        "ones, such as 'chunking', 'pos' or 'ner'. Without it: 'pos' for CoNLL-U and for files of a word and "
        "its label, 'chunking' for a word, its part of speech and its label. Files in CRFsuite's text have "
        "their features, and need none.",
        *_none_or("a file's name or ready-made templates", _is_name),
    ),
    Parameter(
        "format",
        None,
        "What the files hold: columns as in the CoNLL tasks, CoNLL-U, or CRFsuite's text. Without it their "
        "names tell, and else their first lines.",
        *_none_or(*_one_of(*SENTENCE_FORMATS)),
    ),
    Parameter(
        "label",
        None,
        "The column with the labels, by number from 0 or by name. Without it: the last; in CoNLL-U upos.",
        *_none_or("a column", _is_name),
    ),
    replace(
        FILE_PARAMETERS["random_state"],
        help="Seed from which the order of the sentences and held-out ones are drawn (the estimator draws a "
        "new one each time).",
    ),
    replace(FILE_PARAMETERS["n_jobs"], help="Threads that tag; -1 for all cores. Never changes a result."),
    Parameter(
        "trust_patterns",
        False,
        "Take regular expressions from the model file that may take very long to match; without it a tagger "
        "whose templates have one is refused.",
        "True or False",
        _is_bool,
    ),
)


def default(name: str, table: Mapping[str, Parameter] = PARAMETERS) -> Any:
    """The default of the parameter called `name`."""
    return table[name].default


def check_parameters(
    owner: object, names: Iterable[str], table: Mapping[str, Parameter] = PARAMETERS
) -> None:
    """Check the attributes `names` of `owner`, and say what is wrong with the first that is."""
    for name in names:
        table[name].check(getattr(owner, name))


def what_predicts(predict_with: str | None, budget: int | None, policy: str) -> str:
    """What a kernel model predicts with: what was asked for, or without that the best that there is.

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


def parameter_help(names: Iterable[str], table: Mapping[str, Parameter] = PARAMETERS) -> str:
    """The numpydoc `Parameters` entries for `names`.

    >>> print(parameter_help(["seed"]))
    seed : default 0
        Chooses the hash; not used without `hash_bits`.
    """
    return "\n".join(f"{n} : default {table[n].default!r}\n    {table[n].help}" for n in names)


def document(
    cls: type, names: Iterable[str], table: Mapping[str, Parameter] = PARAMETERS, **defaults: Any
) -> None:
    """Write the help of its parameters into the docstring of a class, in place of ``{parameters}``.

    `defaults` are those that this class has instead of the table's. Under ``python -OO`` there are no
    docstrings, and nothing to write into.

    >>> class Hasher:
    ...     '''A hash.
    ...
    ...     Parameters
    ...     ----------
    ...     {parameters}
    ...     '''
    >>> document(Hasher, ["seed"], seed=7)
    >>> "seed : default 7" in Hasher.__doc__
    True
    """
    if cls.__doc__ is not None:
        own = {**table, **{name: replace(table[name], default=value) for name, value in defaults.items()}}
        entries = parameter_help(names, own).replace("\n", "\n    ")
        cls.__doc__ = cls.__doc__.replace("{parameters}", entries)


# ---- files -------------------------------------------------------------------------------------------
# What a call may use of the machine, where it puts things and what it shows: the call says it, or the default
# holds. A model file may have them, as a note of how it was made; nobody takes them from there.
OF_THE_CALL = frozenset(
    {
        *("n_jobs", "cache_mb", "max_line", "max_expansion", "time_limit"),
        *("cache", "checkpoint", "every", "resume", "client", "dask"),
        *("verbose", "callback", "quiet", "json"),
    }
)


def said_by_file(parameters: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Those of a model file's parameters that have these names and are about what is learned or read.

    >>> said_by_file({"rule": "pa", "n_jobs": 1000, "new": 1}, PARAMETERS)
    {'rule': 'pa'}
    """
    known = set(names) - OF_THE_CALL
    return {name: value for name, value in parameters.items() if name in known}
