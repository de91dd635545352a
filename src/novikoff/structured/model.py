"""A structured perceptron as a plain object: the problem, the weights, and the record of training."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from novikoff.data import state as data_state
from novikoff.modelfile import checks
from novikoff.modelfile.container import Arrays, Facts, pack_text, read_file, unpack_text, write_file
from novikoff.structured.features import Floats, dot
from novikoff.structured.problem import Structure, as_examples, number_of
from novikoff.structured.summary import summarize
from novikoff.structured.weights import ArrayWeights, NamedWeights, StructuredWeights, Weights
from novikoff.training import state as training_state
from novikoff.training.explanation import Explanation, check_number
from novikoff.training.report import Report
from novikoff.training.run import Record, Run

# Built-in problems, imported only when a file names one.
SHIPPED = {
    "Chains": "novikoff.structured.chains",
    "DependencyTrees": "novikoff.structured.trees",
    "Matching": "novikoff.structured.matching",
    "Multiclass": "novikoff.structured.multiclass",
    "Ranking": "novikoff.structured.ranking",
}
COUNTS = ("visits", "updates", "mistakes", "invalid")


@dataclass(eq=False, repr=False)
class StructuredModel:
    """The content of a structured perceptron's model file.

    Parameters
    ----------
    problem : object with `features` and `decode`
    learner : novikoff.structured.weights.StructuredWeights
        Weights, their sums, and the counts: the state for further training.
    weights : mapping or array
        The weights that predict: the last ones, or their mean.
    parameters : dict
        Training parameters, as far as JSON can represent them.
    run : novikoff.training.run.Run
        The record of training; the report is made from it.

    Examples
    --------
    >>> import tempfile, novikoff
    >>> from novikoff.structured import Ranking
    >>> dishes = [np.array([[3.0, 1], [1, 1], [2, 0]])]
    >>> model = novikoff.StructuredPerceptron(Ranking()).fit(dishes, [[0, 2, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/ranking.novikoff")
    ...     loaded = novikoff.load_model(f"{folder}/ranking.novikoff")
    >>> loaded.predict(dishes)
    [[0, 2, 1]]
    """

    problem: Any
    learner: StructuredWeights
    weights: Any
    parameters: dict[str, Any] = field(default_factory=dict)
    run: Run = field(default_factory=Run)
    name: str = "StructuredPerceptron"

    # -- using it
    def predict(self, X: Any) -> list[Any]:
        """The best output of each input."""
        X, structure = as_examples(X, "X"), Structure(self.problem)
        return [structure.decode(X[i], self.weights) for i in range(number_of(X, "X"))]

    def predict_one(self, x: Any) -> Any:
        """The best output of one input."""
        return Structure(self.problem).decode(x, self.weights)

    def top_features(self, k: int = 20) -> list[tuple[Any, float]]:
        """The k features with the largest positive weights, and these weights, largest first.

        A problem whose features are an array has their indices as names.
        """
        found = self.weights.items() if hasattr(self.weights, "items") else enumerate(self.weights.tolist())
        positive = [(name, float(w)) for name, w in found if w > 0]
        return sorted(positive, key=lambda pair: -pair[1])[: check_number(k)]

    def explain(self, x: Any, output: Any = None) -> Explanation:
        """The score w·Φ(x, output) as a sum over features; by default that of the best output."""
        structure = Structure(self.problem)
        best = structure.decode(x, self.weights)
        of = best if output is None else output
        phi = structure.features(x, of, "x")
        if hasattr(phi, "items"):
            pairs = [(name, float(v)) for name, v in phi.items()]
            terms = [(str(name), v, float(self.weights.get(name, 0.0))) for name, v in pairs]
        else:
            sparse = hasattr(phi, "indices")
            indices = np.asarray(phi.indices) if sparse else np.flatnonzero(phi)
            values = np.asarray(phi.values if sparse else phi[indices], dtype=np.float64)
            own = self.weights[indices].tolist()
            terms = list(zip(map(str, indices.tolist()), values.tolist(), own, strict=True))
        return Explanation.of_terms(best, of, 0.0, terms)

    def __repr__(self) -> str:
        problem = type(self.problem).__name__
        return f"StructuredModel(name={self.name!r}, problem={problem}, n_weights={len(self.weights)})"

    def scores(self, X: Any) -> Floats:
        """The score w·Φ(x, ŷ) of each input's best output."""
        X, structure = as_examples(X, "X"), Structure(self.problem)
        outputs = self.predict(X)
        found = (structure.features(X[i], z, f"x[{i}], z") for i, z in enumerate(outputs))
        return np.array([dot(self.weights, phi) for phi in found])

    @property
    def report(self) -> Report:
        """The report of the training run."""
        name = f"{self.name}({type(self.problem).__name__})"
        order = str(self.parameters.get("order", "shuffle"))
        augmented = bool(self.parameters.get("cost_augmented", False))
        in_parts = hasattr(self.problem, "violation")
        return summarize(self.learner, self.run, name, order, cost_augmented=augmented, in_parts=in_parts)

    @property
    def history(self) -> list[Record]:
        """One record per epoch."""
        return self.run.history

    # -- files
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, atomically; equal models give equal files."""
        kind = type(self.problem).__name__
        shipped = type(self.problem).__module__ == SHIPPED.get(kind)
        state = self.problem.state() if shipped else None
        parts = {"weights": weights_state(self.learner), "run": training_state.run_state(self.run)}
        facts, arrays = checks.together(parts)
        facts |= {"problem": {"name": kind, "state": state}, "parameters": self.parameters}
        write_file(path, facts | {"name": self.name}, arrays, "structured")

    @classmethod
    def load(cls, path: str | os.PathLike[str], problem: Any = None) -> StructuredModel:
        """Load a model that `save` wrote; a user-defined problem must be given."""
        facts, arrays = read_file(path, "structured")
        try:
            return cls.from_state(facts, arrays, problem)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    @classmethod
    def from_state(cls, facts: Facts, arrays: Arrays, problem: Any = None) -> StructuredModel:
        """The model from a file's facts and arrays; a ValueError if they are inconsistent."""
        stored = checks.fact(facts, "problem", dict)
        kind = checks.fact(stored, "name", str)
        if problem is None:
            if stored.get("state") is None or kind not in SHIPPED:
                raise ValueError(
                    f"it was trained with {kind}, a user-defined problem: pass it, as in "
                    f"StructuredPerceptron.load(path, problem={kind}(...))."
                )
            home = getattr(import_module(SHIPPED[kind]), kind)
            try:
                problem = home.from_state(checks.fact(stored, "state", dict))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise ValueError(f"its {kind} is inconsistent ({error!r})") from None
        learner = weights_from_state(*checks.part(facts, arrays, "weights"))
        parameters = checks.fact(facts, "parameters", dict)
        run = training_state.run_from_state(*checks.part(facts, arrays, "run"))
        if learner.dropped is None and parameters.get("early_stopping") is False:
            learner.dropped = 0  # a file of an earlier version: only early stopping restores weights
        weights = learner.averaged() if parameters.get("average") is True else learner.weights
        size = getattr(problem, "n_weights", None)
        if size is not None and size != learner.n_features:
            raise ValueError(f"it has {learner.n_features:,} weights, but its {kind} needs {size:,}")
        return cls(problem, learner, weights, parameters, run, checks.fact(facts, "name", str))


# ---- weights as facts and arrays ---------------------------------------------------------------------
def weights_state(learner: StructuredWeights) -> checks.State:
    """Weights, sums and counts: by name, or by index without the entries that are 0."""
    facts: Facts = {name: getattr(learner, name) for name in COUNTS}
    facts |= {"radius": learner.radius, "largest_loss": learner.largest_loss, "whole": learner.whole}
    facts |= {"dropped": learner.dropped}
    if isinstance(learner, NamedWeights):
        names = list(learner.weights)
        content, offsets = pack_text(_text_of(name) for name in names)
        pairs = [[learner.weights[name], learner.sums[name]] for name in names]
        values = np.array(pairs, dtype=np.float64).reshape(-1, 2)
        return facts | {"kind": "named"}, {"names": content, "offsets": offsets, "values": values}
    assert isinstance(learner, ArrayWeights)
    facts |= {"kind": "array", "size": len(learner.array)}
    return facts, data_state.pack_columns("values", [learner.array, learner.sums], learner.used())


def weights_from_state(facts: Facts, arrays: Arrays) -> StructuredWeights:
    """The learner that `weights_state` was taken from."""
    learner: StructuredWeights
    used = None
    if checks.choice(facts, "kind", ("named", "array")) == "named":
        offsets = checks.array(arrays, "offsets", np.int64, (None,))
        names = [
            _name_of(text) for text in unpack_text(checks.array(arrays, "names", np.uint8, (None,)), offsets)
        ]
        values = checks.array(arrays, "values", np.float64, (len(names), 2))
        if len(set(names)) != len(names):
            raise ValueError("some feature names are repeated")
        learner = NamedWeights()
        learner._weights = Weights(zip(names, values[:, 0].tolist(), strict=True))
        learner.sums = dict(zip(names, values[:, 1].tolist(), strict=True))
    else:
        size = checks.count(facts, "size", 0, checks.LARGEST)
        used = data_state.rows_from_state("values", arrays, size, 2)[0]
        try:
            learner = ArrayWeights(size, used)
        except MemoryError:
            raise ValueError(
                f"it claims {size:,} weights, for which this process cannot reserve address space: give it "
                "more memory"
            ) from None
        data_state.unpack_rows("values", arrays, size, 2, [learner.array, learner.sums])
    for name in COUNTS:
        setattr(learner, name, checks.count(facts, name))
    if isinstance(learner, ArrayWeights) and used is not None:
        learner.tell_used(used)
    learner.radius = checks.finite(facts, "radius")
    learner.largest_loss = checks.finite(facts, "largest_loss")
    learner.whole = checks.fact(facts, "whole", bool)
    dropped = facts.get("dropped")  # not in a file of an earlier version
    learner.dropped = None if dropped is None else checks.count(facts, "dropped", 0, learner.updates)
    return learner


def _text_of(name: Hashable) -> str:
    """A feature's name as JSON: text, a number, or a tuple of these."""

    def is_plain(part: Any) -> bool:
        if isinstance(part, tuple):
            return all(map(is_plain, part))
        return part is None or type(part) in (str, int, float, bool)

    if not is_plain(name):
        raise ValueError(
            f"feature names in a model file must be text, numbers or tuples of these, not {name!r}."
        )
    return json.dumps(name, ensure_ascii=False)


def _name_of(text: str) -> Hashable:
    def tuples(value: Any) -> Any:
        if isinstance(value, dict):
            raise ValueError("a feature name is not a JSON list, text or number")
        return tuple(map(tuples, value)) if isinstance(value, list) else value

    try:
        return tuples(json.loads(text))  # type: ignore[no-any-return]
    except (json.JSONDecodeError, RecursionError):
        raise ValueError(f"the feature name {text[:40]!r} is not JSON") from None
