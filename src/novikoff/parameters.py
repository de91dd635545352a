"""Every parameter's name, default, help and legal values, written once.

Estimators, the command line and the documentation all read them here. The module is light on
purpose: showing help must not load NumPy.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

RULES = ("perceptron", "normalized", "margin", "pa", "pa1", "pa2")
ORDERS = ("shuffle", "cyclic", "worst")
TIES = ("positive", "mistake")
MULTICLASS = ("joint", "ovr")
PREDICT_WITH = ("voted", "averaged", "last")


@dataclass(frozen=True)
class Parameter:
    """One parameter: what it is called, what it starts as, what it means, what it may be."""

    name: str
    default: Any
    help: str
    expected: str
    legal: Callable[[Any], bool]

    def check(self, value: Any) -> None:
        """Raise one clear error unless `value` is legal."""
        if not self.legal(value):
            raise ValueError(f"{self.name}={value!r} is not possible: expected {self.expected}.")


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ == "bool"  # numpy's too


def _real(low: float, *, strict: bool = False) -> Callable[[Any], bool]:
    def legal(value: Any) -> bool:
        if not isinstance(value, numbers.Real) or _is_bool(value) or not math.isfinite(value):
            return False
        return float(value) > low if strict else float(value) >= low

    return legal


def _whole(low: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, numbers.Integral) and not _is_bool(value) and int(value) >= low


def _one_of(*names: str) -> tuple[str, Callable[[Any], bool]]:
    return "one of " + ", ".join(repr(n) for n in names), lambda v: isinstance(v, str) and v in names


def _table(*parameters: Parameter) -> dict[str, Parameter]:
    return {p.name: p for p in parameters}


PARAMETERS = _table(
    Parameter(
        "rule",
        "perceptron",
        "The step τ in w ← w + τ·y·x. 'perceptron': 1 at a mistake. 'normalized': 1/‖x‖ at a mistake. "
        "'margin': 1 whenever y·s ≤ `margin`. 'pa', 'pa1', 'pa2': the passive-aggressive steps, "
        "whenever y·s < 1.",
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
        "classes",
        None,
        "All labels, in the order that decides ties; any other label is then refused. Without it "
        "classes come in order of appearance.",
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


def default(name: str) -> Any:
    """The default of the parameter called `name`."""
    return PARAMETERS[name].default


def check_parameters(owner: object, names: Iterable[str]) -> None:
    """Check the attributes `names` of `owner`, and say what is wrong with the first that is."""
    for name in names:
        PARAMETERS[name].check(getattr(owner, name))


def parameter_help(names: Iterable[str]) -> str:
    """The numpydoc `Parameters` entries for `names`.

    >>> print(parameter_help(["seed"]))
    seed : default 0
        Chooses the hash; not used without `hash_bits`.
    """
    return "\n".join(f"{n} : default {PARAMETERS[n].default!r}\n    {PARAMETERS[n].help}" for n in names)
