"""What a model file says of a model, its run, its classes and its features: facts and arrays, and back.

Reading trusts nothing: whatever does not fit is a ValueError that says what was found and what was expected.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, fields
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.ledger import Ledger
from novikoff.model import Floats, Learner, Model, Settings
from novikoff.models.modelfile import Arrays, Facts
from novikoff.outward import at_most
from novikoff.parameters import MULTICLASS, RULES, TIES
from novikoff.sources.features import Features
from novikoff.textlabels import text_array
from novikoff.training import Record, Run
from novikoff.zerotables import Rows, used_rows

State = tuple[Facts, Arrays]

MOST = 1 << 62  # of what is counted: so that learning on cannot overflow an int64
LARGEST = 1 << 34  # weights of a model (128 GiB): what claims more is not believed
MOST_HASH_BITS, MOST_NGRAMS = 30, 5  # as parameters.py has them
CLASS_TYPES = (*(f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)), "bool", "float32", "float64")

# Kinds of features and scaling, and the classes that read them; loaded only when a file has one.
HOMES = {
    "numbered": ("novikoff.sources.features", "NumberedFeatures"),
    "named": ("novikoff.sources.features", "NamedFeatures"),
    "table": ("novikoff.sources.columns", "TableFeatures"),
    "templates": ("novikoff.structured.expansion", "TemplateFeatures"),
    "scaling": ("novikoff.scaling", "Scaling"),
}


# ---- reading facts -----------------------------------------------------------------------------------
def fact(facts: Facts, name: str, kind: type | tuple[type, ...]) -> Any:
    """A fact of this type; True is no number here."""
    value = facts.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        expected = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
        raise ValueError(f"{name} is {_short(value)}, expected {expected}")
    return value


def count(facts: Facts, name: str, least: int = 0, most: int = MOST) -> int:
    """A whole number in this range."""
    value: int = fact(facts, name, int)
    if not least <= value <= most:
        raise ValueError(f"{name} is {_short(value)}, expected a whole number from {least} to {most}")
    return value


def counts(facts: Facts, name: str, n: int) -> list[int]:
    """So many whole numbers."""
    values = fact(facts, name, list)
    if len(values) != n:
        raise ValueError(f"{name} is {_short(values)}, expected {n} whole numbers")
    return [count({name: value}, name) for value in values]


def digest_of_rows(facts: Facts, name: str) -> tuple[int, int]:
    """The digest of some rows, and how many they were."""
    match facts.get(name):
        case [str(digest), n] if len(digest) == 16 and set(digest) <= set("0123456789abcdef"):
            return int(digest, 16), count({name: n}, name)
    raise ValueError(f"{name} is {_short(facts.get(name))}, expected 16 hexadecimal digits and a number")


def number(facts: Facts, name: str, least: float = -math.inf) -> float:
    """A number, not NaN and not below `least`."""
    given = fact(facts, name, (float, int))
    try:
        value = float(given)
    except OverflowError:
        raise ValueError(f"{name} is {_short(given)}, expected a number that float64 holds") from None
    if not value >= least:
        raise ValueError(f"{name} is {value}, expected a number ≥ {least:g}")
    return value


def choice(facts: Facts, name: str, names: tuple[str, ...]) -> str:
    """One of some names."""
    value: str = fact(facts, name, str)
    if value not in names:
        raise ValueError(f"{name} is {_short(value)}, expected one of {', '.join(names)}")
    return value


def array(
    arrays: Arrays, name: str, dtype: type, shape: tuple[int | None, ...], *, finite: bool = True
) -> npt.NDArray[Any]:
    """An array of this type and shape, None being any length; floats must be finite, as a rule."""
    found = arrays.get(name)
    if found is None:
        raise ValueError(f"the array {name!r} is missing")
    fits = len(found.shape) == len(shape) and all(
        n in (m, None) for m, n in zip(found.shape, shape, strict=True)
    )
    if found.dtype != dtype or not fits:
        wanted = tuple("any" if n is None else n for n in shape)
        raise ValueError(
            f"the array {name!r} has type {found.dtype} and shape {found.shape}, "
            f"expected {np.dtype(dtype)} and ({', '.join(map(str, wanted))})"
        )
    if finite and found.dtype.kind == "f" and not np.isfinite(found).all():
        raise ValueError(f"the array {name!r} holds NaN or infinity, expected finite numbers")
    return found


def refuse_unknown(facts: Facts, known: Iterable[str], what: str) -> None:
    """A ValueError where a file says of how it learns what this version does not know, and could not obey."""
    unknown = sorted(facts.keys() - set(known))
    if unknown:
        raise ValueError(
            f"it has {what} that this version does not know ({_short(', '.join(unknown))}): it is damaged, "
            "or was written by a newer novikoff; update novikoff"
        )


def _short(value: Any) -> str:
    try:
        text = "missing" if value is None else repr(value)
    except ValueError:  # an int of thousands of digits
        text = f"an integer of {value.bit_length():,} bits"
    return text if len(text) <= 60 else text[:57] + "..."


def sub(name: str, arrays: Arrays) -> Arrays:
    """The arrays under a prefix, without it."""
    return {key[len(name) + 1 :]: value for key, value in arrays.items() if key.startswith(f"{name}.")}


def under(name: str, arrays: Arrays) -> Arrays:
    """The arrays with a prefix."""
    return {f"{name}.{key}": value for key, value in arrays.items()}


def together(parts: dict[str, State]) -> State:
    """Named parts as one: a fact each, and their arrays under their names."""
    arrays: Arrays = {}
    for name, (_, held) in parts.items():
        arrays |= under(name, held)
    return {name: said for name, (said, _) in parts.items()}, arrays


# ---- weights -----------------------------------------------------------------------------------------
def pack_rows(name: str, rows: Floats) -> Arrays:
    """A matrix as it is, or, where that is smaller, only its rows that are not 0 and their numbers."""
    return pack_columns(name, list(rows.T))


def pack_columns(name: str, columns: list[Floats], used: Rows | None = None) -> Arrays:
    """The same of a matrix by its columns; `used`: rows beside which all are zero, where that is known."""
    n = len(columns[0])
    if used is None:
        used = used_rows(*(column[:, None] for column in columns))
    return pack_used(name, n, used, np.stack([column[used] for column in columns], axis=-1))


def pack_used(name: str, n: int, used: Rows, values: Floats) -> Arrays:
    """The same of a matrix of n rows by some of them, beside which all are zero."""
    held = np.ascontiguousarray(values).view(np.int64).any(axis=1)  # by bits: a negative zero is kept
    if (1 + values.shape[1]) * np.count_nonzero(held) < n * values.shape[1]:
        return {f"{name}.rows": used[held].astype(np.int64, copy=False), f"{name}.values": values[held]}
    whole = np.zeros((n, values.shape[1]))
    whole[used] = values
    return {name: whole}


def rows_from_state(name: str, arrays: Arrays, n: int, k: int) -> tuple[Rows | None, Floats]:
    """The rows of a matrix that a file has, and what they hold; without numbers where it has them all.

    However many rows the matrix is said to have, this takes no more memory than the file has given it.
    """
    if name in arrays:
        return None, array(arrays, name, np.float64, (n, k))
    used = array(arrays, f"{name}.rows", np.int64, (None,))
    values = array(arrays, f"{name}.values", np.float64, (len(used), k))
    if len(used) and (used[0] < 0 or used[-1] >= n or (np.diff(used) <= 0).any()):
        raise ValueError(f"the rows of {name!r} are not increasing numbers below {n}")
    return used, values


def unpack_rows(name: str, arrays: Arrays, n: int, k: int, out: list[Floats]) -> Rows | None:
    """Write the matrix of n rows, column by column, into the views `out` of zeros; the rows written to."""
    used, values = rows_from_state(name, arrays, n, k)
    for c, view in enumerate(out):
        view[slice(None) if used is None else used] = values[:, c]
    return used


def columns(model: Model, name: str) -> list[Floats]:
    """Views of every class's column of an array of the learners, padding left out."""
    return [getattr(part, name)[..., c] for part in model.learners for c in range(part.n_columns())]


def model_state(model: Model, *, under_way: bool = False) -> State:
    """Everything needed to predict and to go on learning, without padding.

    With `under_way` also what the filter knows, and how many decisions were too close for it. Both depend
    on how rows were cut into calls, so a finished model leaves them out.
    """
    parts: list[Facts] = [learner.counts() | {"filter": learner.native.filter} for learner in model.learners]
    if not under_way:
        parts = [{k: v for k, v in part.items() if k not in ("filter", "fallbacks")} for part in parts]
    facts = {
        "n_classes": model.n_classes,
        "n_features": model.n_features,
        "from_zero": model.from_zero,
        "ledger": model.ledger.facts(),
        "settings": asdict(model.settings),
        "parts": parts,
    }
    arrays: Arrays = {}
    used = model.used()
    for weights, bias in [("weights", "bias"), ("weight_sums", "bias_sums")][: 1 + model.settings.average]:
        arrays |= pack_columns(weights, columns(model, weights), used)
        arrays[bias] = np.stack(columns(model, bias))
    return facts, arrays


def model_from_state(facts: Facts, arrays: Arrays) -> Model:
    """The model that `model_state` was taken from."""
    how = settings(fact(facts, "settings", dict))
    n_classes, n_features = count(facts, "n_classes", 2, 1 << 31), count(facts, "n_features")
    parts = n_classes if how.multiclass == "ovr" and n_classes > 2 else 1
    k = 1 if n_classes == 2 else n_classes
    if k * n_features > LARGEST:
        raise ValueError(f"claims {n_features:,} features and {n_classes:,} classes, expected fewer")
    said = fact(facts, "parts", list)
    if len(said) != parts or not all(isinstance(part, dict) for part in said):
        raise ValueError(f"parts has {len(said)} entries, expected {parts}")
    arrays_of = [("weights", "bias"), ("weight_sums", "bias_sums")][: 1 + how.average]
    for _, bias in arrays_of:  # everything small is looked at before anything large is made
        array(arrays, bias, np.float64, (k,))
    held = [rows_from_state(weights, arrays, n_features, k)[0] for weights, _ in arrays_of]
    rows = [used for used in held if used is not None]
    used = np.unique(np.concatenate(rows)) if len(rows) == len(held) else None
    try:
        model = Model(n_classes, n_features, how, used)
    except MemoryError:
        raise ValueError(
            f"it claims {k * n_features:,} weights, for which this process cannot reserve the addresses: "
            "give it more memory"
        ) from None
    for weights, bias in arrays_of:
        unpack_rows(weights, arrays, n_features, k, columns(model, weights))
        for value, view in zip(arrays[bias], columns(model, bias), strict=True):
            view[...] = value
    for learner, part in zip(model.learners, said, strict=True):
        _set_counts(learner, part, used)
    from_zero = fact(facts, "from_zero", bool)
    model.ledger = Ledger.unknown(from_zero=from_zero)  # of a file of an earlier version
    if "ledger" in facts:
        model.ledger = Ledger.from_facts(fact(facts, "ledger", dict))._replace(from_zero=from_zero)
    return model


def _set_counts(learner: Learner, part: Facts, used: Rows | None) -> None:
    native = learner.native
    for name in ("visits", "mistakes", "updates", "most_stored"):
        setattr(native, name, count(part, name))
    if used is None:
        learner.reset_norm()
    else:
        learner.tell_used(used)
    native.ties = count(part, "ties") if "ties" in part else 0
    for name in ("step_sum", "radius", "largest_row"):
        setattr(native, name, number(part, name, 0.0))
    if "drift" in part:
        for name in ("square_low", "square_high", "drift"):
            setattr(native, name, number(part, name, 0.0))
    else:
        widen(native)
    if "filter" in part:
        compensated, accumulator = counts(part, "fallbacks", 2)
        native.fallbacks = compensated, accumulator
        known = fact(part, "filter", list)
        expected = len(native.filter)  # the last came later
        if len(known) not in (expected, expected - 1) or not all(type(v) is float for v in known):
            raise ValueError(f"filter is {_short(known)}, expected {expected} numbers")
        native.filter = known


def widen(native: Any) -> None:
    """R and w as files of earlier versions have them: rounded to nearest. Make room for what that may be off.

    ‖w‖ is at most R·Στ at every update, so in all rounding is at most (updates + 3)·u·R·Στ.
    """
    slack = 1 + (native.most_stored + 16) * 2.0**-51
    square = native.radius * native.radius
    native.square_low, native.square_high = square / slack, square * slack
    native.radius *= slack
    native.drift = 1.01 * (native.updates + 3) * 2.0**-53 * native.radius * native.step_sum


def finite(facts: Facts, name: str, *, zero: bool = True) -> float:
    """A number of (0, ∞), or of [0, ∞)."""
    value = number(facts, name, 0.0)
    if math.isinf(value) or not (value or zero):
        raise ValueError(f"{name} is {value}, expected a finite number {'≥' if zero else '>'} 0")
    return value


def settings(facts: Facts) -> Settings:
    """How a learner decides and steps. What a file does not have, being older, is as it has always been."""
    refuse_unknown(facts, (field.name for field in fields(Settings)), "settings")
    facts = asdict(Settings()) | facts
    return Settings(
        rule=choice(facts, "rule", RULES),
        ties=choice(facts, "ties", TIES),
        margin=finite(facts, "margin"),
        C=finite(facts, "C", zero=False),
        bias_square=finite(facts, "bias_square"),
        average=fact(facts, "average", bool),
        multiclass=choice(facts, "multiclass", MULTICLASS),
    )


# ---- the run -----------------------------------------------------------------------------------------
PASSING = ("seconds", "seconds_lost", "bytes_moved")  # what depends on the machines


def run_state(run: Run) -> State:
    """What a run did, without the seconds it took: equal runs are equal files. Of shards only sums are kept.

    The witness has the model's last weights, and a bias of its own.
    """
    dropped = ("history", "witness", "interrupted", "call", *(() if run.n_shards else ("n_shards", "mixed")))
    dropped += () if run.whole_values else ("whole_values",)
    facts = {f.name: getattr(run, f.name) for f in fields(Run) if f.name not in dropped}
    facts["history"] = [
        {k: v for k, v in record.items() if k not in PASSING and type(v) in (int, float)}
        for record in run.history
    ]
    return facts, {} if run.witness is None else {"witness_bias": np.array(run.witness[1])}


def records(facts: Facts, *, lists: bool = False) -> list[Record]:
    """A history: of each epoch numbers by name; `lists`: and lists of numbers, one for each shard."""

    def sound(value: Any) -> bool:
        if lists and type(value) is list:
            return all(type(v) is not list and sound(v) for v in value)
        return type(value) is float or (type(value) is int and -MOST <= value <= MOST)

    history: list[Record] = fact(facts, "history", list)
    for record in history:
        good = isinstance(record, dict) and all(map(sound, record.values()))
        if not good or not all(_is_count(record.get(name)) for name in ("mistakes", "updates")):
            raise ValueError(f"history has {_short(record)}, expected numbers with mistakes and updates")
    return history


def _is_count(value: Any) -> bool:
    """Whether it is a whole number from 0 to MOST, as an int or a float."""
    return type(value) in (int, float) and 0 <= value <= MOST and value == int(value)


def run_from_state(facts: Facts, arrays: Arrays, model: Model | None = None) -> Run:
    """The run that `run_state` was taken from, less its seconds."""
    history = records(facts)
    witness = None
    if "witness_bias" in arrays and model is not None:
        k = 1 if model.n_classes == 2 else model.n_classes
        witness = model.coef(averaged=False)[0], array(arrays, "witness_bias", np.float64, (k,))
    consistent, errors = facts.get("consistent"), facts.get("training_errors")
    return Run(
        history=history,
        converged=fact(facts, "converged", bool),
        verdict=choice(facts, "verdict", ("separated", "consistent", "inseparable", "undecided")),
        consistent=consistent if consistent is None else fact(facts, "consistent", bool),
        margin=float(fact(facts, "margin", float)),
        v_square=_v_square(facts),
        unit_margin=float(fact(facts, "unit_margin", float)),
        witness=witness,
        training_errors=errors if errors is None else count(facts, "training_errors"),
        n_rows=count(facts, "n_rows"),
        as_given=fact(facts, "as_given", bool),
        heaviest=finite(facts, "heaviest"),
        shuffled_in_blocks=count(facts, "shuffled_in_blocks"),
        n_shards=count(facts, "n_shards") if "n_shards" in facts else 0,
        mixed=number(facts, "mixed", 0.0) if "mixed" in facts else 0.0,
        whole_values=fact(facts, "whole_values", bool) if "whole_values" in facts else False,
    )


def _v_square(facts: Facts) -> float:
    """1/margin², rounded up. Files of earlier versions have none, and a margin that is rounded to nearest."""
    if "v_square" in facts:
        return float(fact(facts, "v_square", float))
    margin = float(fact(facts, "margin", float))
    return at_most(1.0, margin * (1 - 2.0**-46))


# ---- classes -----------------------------------------------------------------------------------------
def classes_state(classes: npt.NDArray[Any]) -> State:
    """Labels in the model's order: numbers as an array, text as facts."""
    if classes.dtype.name in CLASS_TYPES:
        return {"type": classes.dtype.name}, {"labels": classes}
    labels = classes.tolist()
    if all(type(label) is int and -(2**63) <= label < 2**63 for label in labels):  # an array of objects
        return {"type": "int64"}, {"labels": classes.astype(np.int64)}
    if not all(type(label) is str for label in labels):
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        kinds = kinds if kinds != "int" else "integers of more than 64 bits"
        raise ValueError(f"a model file holds labels that are numbers or text, not {kinds}")
    return {"type": "object" if classes.dtype.kind == "O" else "str", "labels": labels}, {}


def classes_from_state(facts: Facts, arrays: Arrays, n: int) -> npt.NDArray[Any]:
    """The labels that `classes_state` was taken from."""
    kind = choice(facts, "type", ("str", "object", *CLASS_TYPES))
    if kind in CLASS_TYPES:
        labels = array(arrays, "labels", np.dtype(kind).type, (n,))
    else:
        texts = fact(facts, "labels", list)
        if len(texts) != n or not all(type(text) is str for text in texts):
            raise ValueError(f"the labels are not {n} texts")
        labels = np.array(texts, dtype=object) if kind == "object" else text_array(texts)
    if len(set(labels.tolist())) != n:
        raise ValueError("some labels are repeated")
    return labels


# ---- features and scaling ----------------------------------------------------------------------------
def _home(kind: str) -> Any:
    module, name = HOMES[kind]
    return getattr(import_module(module), name)


def features_state(features: Features) -> State:
    """A kind, and what features of that kind say of themselves."""
    facts, arrays = features.state()
    return {"kind": features.kind, "state": facts}, arrays


def features_from_state(
    facts: Facts, arrays: Arrays, n_features: int | None, *, trust_patterns: bool = False
) -> Features:
    """The features that `features_state` was taken from: as many as there are weights, if known."""
    kind = choice(facts, "kind", ("numbered", "named", "table", "templates"))
    state = fact(facts, "state", dict)
    _check_features(kind, state)
    trust = {"trust_patterns": trust_patterns} if kind == "templates" else {}
    features: Features = _believe(_home(kind), "features", state, arrays, **trust)
    if n_features is not None and features.n_columns != n_features:
        raise ValueError(f"it has {features.n_columns:,} features by name, but weights for {n_features:,}")
    return features


def _check_features(kind: str, state: Facts) -> None:
    """Sizes and types, before anything is made from them."""
    if kind == "numbered":
        count(state, "n_columns", 0, LARGEST), fact(state, "zero_based", bool)
        return
    if kind == "table":
        recipe = fact(state, "table", dict)
        fact(recipe, "columns", list), fact(recipe, "has_names", bool)
        count(recipe, "ngrams", 1, MOST_NGRAMS)
        state = fact(state, "vocabulary", dict)
    if state.get("hash_bits") is not None:
        count(state, "hash_bits", 1, MOST_HASH_BITS)
    count(state, "seed", 0, 2**64 - 1)
    if kind == "templates":
        fact(state, "templates", str)
        for n in fact(state, "n_values", list) if state.get("hash_bits") is None else ():
            count({"n_values": n}, "n_values")


def scaling_from_state(facts: Facts, arrays: Arrays, n_features: int | None = None) -> Any:
    """The scaling whose `state` this is; it must fit the number of features, where that is known."""
    centre = array(arrays, "centre", np.float64, (None,))
    scale = array(arrays, "scale", np.float64, (n_features if np.size(arrays.get("scale", ())) else None,))
    if (scale <= 0).any() or len(centre) > len(scale):
        raise ValueError(
            "its scaling divides by numbers that are not above 0, or centres what it does not scale"
        )
    return _believe(_home("scaling"), "scaling", facts, arrays)


def _believe(cls: Any, what: str, facts: Facts, arrays: Arrays, **how: Any) -> Any:
    """`cls.from_state`, whose complaints about facts that it cannot read are ValueErrors in one line."""
    try:
        return cls.from_state(facts, arrays, **how)
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        said = " ".join(str(error).split())[:200]
        raise ValueError(f"its {what} cannot be read ({type(error).__name__}: {said})") from None
