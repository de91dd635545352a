"""A linear model and its run as the facts and arrays of a model file, and back."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np

from novikoff.data import state as data_state
from novikoff.data.scaling import FARTHEST
from novikoff.data.zero_tables import Indices
from novikoff.modelfile import checks
from novikoff.modelfile.container import Arrays, Facts
from novikoff.outward import at_most
from novikoff.parameters.common import AUTO, MULTICLASS, TIES
from novikoff.parameters.linear import PHI, RULES
from novikoff.training.ledger import Ledger
from novikoff.training.run import Proof, Record, Run
from novikoff.training.tally import Score
from novikoff.training.weights import Floats, Model, Settings, Weights


def columns(model: Model, name: str) -> list[Floats]:
    """Views of the class columns of the learners' array `name`, without padding."""
    return [getattr(part, name)[..., c] for part in model.learners for c in range(part.n_columns())]


def model_state(model: Model, *, under_way: bool = False) -> checks.State:
    """Everything needed to predict and to continue learning, without padding.

    With `under_way`, also the state of the filter and the number of decisions that were too close for it.
    Both depend on how rows were divided into calls, so they are omitted for a finished model.
    """
    parts: list[Facts] = [learner.counts() | {"filter": learner.native.filter} for learner in model.learners]
    if not under_way:
        parts = [{k: v for k, v in part.items() if k not in ("filter", "fallbacks")} for part in parts]
    facts = {
        "n_classes": model.n_classes,
        "n_features": model.n_features,
        "from_zero": model.from_zero,
        "ledger": model.ledger.facts(),
        "settings": {k: v for k, v in asdict(model.settings).items() if k != "phi" or v != PHI},
        "parts": parts,
    }
    if model.settings.average == AUTO:
        facts["last_are_right"] = model.last_are_right
    arrays: Arrays = {}
    if model.factors is not None:
        arrays["factor_columns"] = np.flatnonzero(model.factors != 1)
        arrays["factor_exponents"] = np.frexp(model.factors[arrays["factor_columns"]])[1].astype(np.int64) - 1
    used = model.used()
    for weights, bias in model.settings.tables():
        arrays |= data_state.pack_columns(weights, columns(model, weights), used)
        arrays[bias] = np.stack(columns(model, bias))
    return facts, arrays


def model_from_state(facts: Facts, arrays: Arrays) -> Model:
    """The inverse of `model_state`."""
    how = settings(checks.fact(facts, "settings", dict))
    n_classes, n_features = checks.count(facts, "n_classes", 2, 1 << 31), checks.count(facts, "n_features")
    parts = n_classes if how.multiclass == "ovr" and n_classes > 2 else 1
    k = 1 if n_classes == 2 else n_classes
    if k * n_features > checks.LARGEST:
        raise ValueError(f"claims {n_features:,} features and {n_classes:,} classes, expected fewer")
    counts = checks.fact(facts, "parts", list)
    if len(counts) != parts or not all(isinstance(part, dict) for part in counts):
        raise ValueError(f"parts has {len(counts)} entries, expected {parts}")
    arrays_of = how.tables()
    for _, bias in arrays_of:  # small arrays are checked before large ones are allocated
        checks.array(arrays, bias, np.float64, (k,))
    held = [data_state.rows_from_state(weights, arrays, n_features, k)[0] for weights, _ in arrays_of]
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
        data_state.unpack_rows(weights, arrays, n_features, k, columns(model, weights))
        for value, view in zip(arrays[bias], columns(model, bias), strict=True):
            view[...] = value
    if "factor_columns" in arrays:
        model.set_factors(_factors(arrays, n_features))
    for learner, part in zip(model.learners, counts, strict=True):
        _set_counts(learner, part, used)
    if how.average == AUTO:
        model.last_are_right = checks.fact(facts, "last_are_right", bool)
    from_zero = checks.fact(facts, "from_zero", bool)
    model.ledger = Ledger.unknown(from_zero=from_zero)  # in a file of an earlier version
    if "ledger" in facts:
        model.ledger = Ledger.from_facts(checks.fact(facts, "ledger", dict))._replace(from_zero=from_zero)
    return model


def _factors(arrays: Arrays, n_features: int) -> Floats:
    """The factors of all columns."""
    columns = checks.array(arrays, "factor_columns", np.int64, (None,))
    exponents = checks.array(arrays, "factor_exponents", np.int64, columns.shape)
    data_state.check_numbers(columns, n_features)
    if len(exponents) and max(-exponents.min(), exponents.max()) > FARTHEST:
        raise ValueError(f"factors of columns are beyond 2^{FARTHEST}")
    factors = np.ones(n_features)
    factors[columns] = np.ldexp(1.0, exponents)
    return factors


def _set_counts(learner: Weights, part: Facts, used: Indices | None) -> None:
    native = learner.native
    for name in ("visits", "mistakes", "updates", "most_stored"):
        setattr(native, name, checks.count(part, name))
    if used is None:
        learner.reset_norm()
    else:
        learner.tell_used(used)
    native.ties = checks.count(part, "ties") if "ties" in part else 0
    for name in ("step_sum", "radius", "largest_row"):
        setattr(native, name, checks.number(part, name, 0.0))
    if "drift" in part:
        for name in ("square_low", "square_high", "drift"):
            setattr(native, name, checks.number(part, name, 0.0))
    else:
        widen(native)
    if "filter" in part:
        compensated, accumulator = checks.counts(part, "fallbacks", 2)
        native.fallbacks = compensated, accumulator
        known = checks.fact(part, "filter", list)
        expected = len(native.filter)  # earlier versions lack the last
        if len(known) not in (expected, expected - 1) or not all(type(v) is float for v in known):
            raise ValueError(f"filter is {checks.short(known)}, expected {expected} numbers")
        native.filter = known


def widen(native: Any) -> None:
    """Widen the enclosures of R and w from files of earlier versions, which round them to nearest.

    ‖w‖ is at most R·Στ at every update, so the total rounding error is at most (updates + 3)·u·R·Στ.
    """
    slack = 1 + (native.most_stored + 16) * 2.0**-51
    square = native.radius * native.radius
    native.square_low, native.square_high = square / slack, square * slack
    native.radius *= slack
    native.drift = 1.01 * (native.updates + 3) * 2.0**-53 * native.radius * native.step_sum


def settings(facts: Facts) -> Settings:
    """The settings of a learner. Those missing from an older file have their defaults."""
    checks.refuse_unknown(facts, (field.name for field in fields(Settings)), "settings")
    facts = asdict(Settings()) | facts
    return Settings(
        rule=checks.choice(facts, "rule", RULES),
        ties=checks.choice(facts, "ties", TIES),
        margin=checks.finite(facts, "margin"),
        C=checks.finite(facts, "C", zero=False),
        bias_square=checks.finite(facts, "bias_square"),
        average=AUTO if facts["average"] == AUTO else checks.fact(facts, "average", bool),
        multiclass=checks.choice(facts, "multiclass", MULTICLASS),
        phi=checks.finite(facts, "phi"),
    )


# ---- the run -----------------------------------------------------------------------------------------
PASSING = ("seconds", "seconds_lost", "bytes_moved")  # these depend on the machines


NEWER = ("whole_values", "score", "way", "held_out", "in_runs")  # written only if set


def run_state(run: Run) -> checks.State:
    """The state of a run without its seconds, so that equal runs give equal files; only sums over shards.

    The witness consists of the model's last weights and a separate bias, unless it was found by asking.
    """
    dropped = (
        "history",
        "witness",
        "interrupted",
        "call",
        "uneven",
        "off_centre",
        *(() if run.n_shards else ("n_shards", "mixed")),
    )
    dropped += ("proofs", *(() if run.witness_is != "last" else ("witness_is",)))
    dropped += tuple(name for name in NEWER if not getattr(run, name))
    facts = {f.name: getattr(run, f.name) for f in fields(Run) if f.name not in dropped}
    facts |= {name: _score_facts(facts[name]) for name in ("score", "held_out") if name in facts}
    facts["history"] = lasting(run.history)
    impossible = {k: proof for k, proof in run.proofs.items() if not proof.is_possible}
    if impossible:
        facts["proofs"] = proofs_state(impossible)[0]
    if run.witness is None:
        return facts, {}
    found = data_state.pack_columns("witness", list(run.witness[0])) if run.witness_is == "found" else {}
    return facts, found | {"witness_bias": np.array(run.witness[1])}


def proofs_state(proofs: dict[int, Proof]) -> checks.State:
    """The proofs of a run's learners, by their numbers."""
    facts: Facts = {}
    arrays: Arrays = {}
    for k, proof in proofs.items():
        if proof.coef is not None and proof.intercept is not None:
            facts[str(k)] = {}
            arrays[f"proof.{k}.coef"], arrays[f"proof.{k}.intercept"] = proof.coef, proof.intercept
        elif proof.pairs is not None:
            weights = [f"{weight:x}" for weight in proof.weights]  # JSON readers truncate long numbers
            facts[str(k)] = {
                "pairs": proof.pairs.tolist(),
                "weights": weights,
                "consistent": proof.consistent,
            }
    return facts, arrays


def proofs_from_state(facts: Facts, arrays: Arrays) -> dict[int, Proof]:
    """The inverse of `proofs_state`."""
    proofs: dict[int, Proof] = {}
    for key in facts:
        proof, k = checks.fact(facts, key, dict), int(key)
        if "pairs" not in proof:
            coef = checks.array(arrays, f"proof.{k}.coef", np.float64, (None, None))
            intercept = checks.array(arrays, f"proof.{k}.intercept", np.float64, (len(coef),))
            proofs[k] = Proof(True, coef, intercept, consistent=True)
            continue
        texts = checks.fact(proof, "weights", list)
        if not texts or not all(type(text) is str and text.isalnum() for text in texts):
            raise ValueError(f"weights of a proof are {checks.short(texts)}, expected whole numbers")
        pairs = np.array(checks.counts(proof, "pairs", len(texts)), dtype=np.int64)
        consistent = proof.get("consistent")
        if consistent is not None:
            checks.fact(proof, "consistent", bool)
        proofs[k] = Proof(
            False, pairs=pairs, weights=tuple(int(text, 16) for text in texts), consistent=consistent
        )
    return proofs


def lasting(history: list[Record]) -> list[Record]:
    """The records without what depends on the machine."""
    kinds = int, float
    return [{k: v for k, v in r.items() if k not in PASSING and type(v) in kinds} for r in history]


COUNTED = ("mistakes", "updates")  # in every record


def records(facts: Facts, *, lists: bool = False, counted: tuple[str, ...] = COUNTED) -> list[Record]:
    """A history: for each epoch numbers by name; with `lists`, also lists with one number per shard."""

    def sound(value: Any) -> bool:
        if lists and type(value) is list:
            return all(type(v) is not list and sound(v) for v in value)
        return type(value) is float or (type(value) is int and -checks.MOST <= value <= checks.MOST)

    history: list[Record] = checks.fact(facts, "history", list)
    for record in history:
        good = isinstance(record, dict) and all(map(sound, record.values()))
        if not good or not all(_is_count(record.get(name)) for name in counted):
            expected = f"numbers with {' and '.join(counted)}"
            raise ValueError(f"history has {checks.short(record)}, expected {expected}")
    return history


def _is_count(value: Any) -> bool:
    """Whether it is a whole number from 0 to the largest count, as an int or a float."""
    return type(value) in (int, float) and 0 <= value <= checks.MOST and value == int(value)


def run_from_state(facts: Facts, arrays: Arrays, model: Model | None = None) -> Run:
    """The inverse of `run_state`; seconds are lost."""
    history = records(facts)
    witness = None
    known = ("last", "lifted", "found")
    witness_is = checks.choice(facts, "witness_is", known) if "witness_is" in facts else "last"
    if "witness_bias" in arrays and model is not None:
        k = 1 if model.n_classes == 2 else model.n_classes
        coef = model.coef(averaged=False)[0]
        if witness_is == "found":
            coef = np.zeros((k, model.n_features))
            data_state.unpack_rows("witness", arrays, model.n_features, k, list(coef))
        witness = coef, checks.array(arrays, "witness_bias", np.float64, (k,))
    consistent, errors = facts.get("consistent"), facts.get("training_errors")
    return Run(
        history=history,
        converged=checks.fact(facts, "converged", bool),
        verdict=checks.choice(facts, "verdict", ("separated", "consistent", "inseparable", "undecided")),
        consistent=consistent if consistent is None else checks.fact(facts, "consistent", bool),
        margin=float(checks.fact(facts, "margin", float)),
        v_square=_v_square(facts),
        unit_margin=float(checks.fact(facts, "unit_margin", float)),
        witness=witness,
        witness_is=witness_is,
        proofs=proofs_from_state(checks.fact(facts, "proofs", dict), {}) if "proofs" in facts else {},
        training_errors=errors if errors is None else checks.count(facts, "training_errors"),
        score=_score(facts, "score"),
        way=checks.fact(facts, "way", str) if "way" in facts else "",
        held_out=_score(facts, "held_out"),
        in_runs=checks.fact(facts, "in_runs", bool) if "in_runs" in facts else False,
        n_rows=checks.count(facts, "n_rows"),
        as_given=checks.fact(facts, "as_given", bool),
        heaviest=checks.finite(facts, "heaviest"),
        shuffled_in_blocks=checks.count(facts, "shuffled_in_blocks"),
        n_shards=checks.count(facts, "n_shards") if "n_shards" in facts else 0,
        mixed=checks.number(facts, "mixed", 0.0) if "mixed" in facts else 0.0,
        whole_values=checks.fact(facts, "whole_values", bool) if "whole_values" in facts else False,
    )


def _score_facts(score: Score) -> list[Any]:
    return list(score if score.f1 is not None else score[:3])


def _score(facts: Facts, name: str) -> Score | None:
    """Errors, n, the size of the largest class, which may be unknown, and for chunks F1."""
    given = checks.fact(facts, name, list) if name in facts else []
    if not given:
        return None
    if len(given) not in (3, 4) or not all(_is_count(part) for part in given[: 2 if given[2] is None else 3]):
        raise ValueError(f"{name} has {checks.short(given)}, expected errors, rows and the largest class")
    errors, n, largest = given[:3]
    f1 = given[3] if len(given) == 4 else None
    if f1 is not None and not (type(f1) is float and 0 <= f1 <= 1):
        raise ValueError(f"{name} has the F1 {checks.short(f1)}, expected a number from 0 to 1")
    if not max(errors, largest or 0, 1) <= n:
        raise ValueError(f"{name} counts {errors} errors and {largest} rows of a class in {n} rows")
    return Score(errors, n, largest, f1)


def _v_square(facts: Facts) -> float:
    """1/margin², rounded up. Files of earlier versions lack it, and their margin is rounded to nearest."""
    if "v_square" in facts:
        return float(checks.fact(facts, "v_square", float))
    margin = float(checks.fact(facts, "margin", float))
    return at_most(1.0, margin * (1 - 2.0**-46))
