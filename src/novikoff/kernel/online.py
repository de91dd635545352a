"""A kernel perceptron that learns from one example at a time, with or without a budget."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import KW_ONLY
from os import PathLike, fspath
from typing import Any

import numpy as np

from novikoff import _core
from novikoff.data.arrays import is_sparse
from novikoff.data.labels import precedes
from novikoff.data.rounding import exact_doubles
from novikoff.data.sources.block import Csr
from novikoff.kernel.budget import BudgetModel, budget_model, own_generator, row_budget
from novikoff.kernel.budget_state import budget_from_state, budget_state
from novikoff.kernel.kernels import BY_NAME, FunctionKernel, Kernel, NamedKernel
from novikoff.kernel.state import kernel_state
from novikoff.modelfile.checks import count, fact, sub, together
from novikoff.modelfile.container import Arrays, Facts, read_file, write_file
from novikoff.modelfile.online import (
    labels_from_state,
    names_from_state,
    names_state,
    parameters_from_state,
    plain_parameters,
)
from novikoff.parameters.kernel import ONLINE_KERNEL_PARAMETERS, what_predicts
from novikoff.parameters.parameter import (
    DEFAULT,
    check_parameters,
    parameter_repr,
    parameter_values,
    parameters_for_file,
    with_parameters,
)
from novikoff.training import one_by_one
from novikoff.training.turns import Turns, turns_of
from novikoff.training.weights import Floats

KIND = "online kernel"  # of model files


@with_parameters(ONLINE_KERNEL_PARAMETERS)
class OnlineKernelPerceptron:
    """A kernel perceptron for streams: one example at a time, at most `budget` of them kept.

    An example is a dict that maps features to numbers or strings, as for `OnlinePerceptron`, or an array of
    numbers; for a kernel function it may be any object. Labels are any hashables. `predict_one` and
    `score_one` never change the model.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : list
        The known labels.
    n_supports_ : int
        The number of examples kept, never more than `budget`.
    support_ : ndarray of int
        Their numbers, counted from the first example learned from.
    dual_coef_ : ndarray of shape (1, n_supports_), or (classes, n_supports_) for three classes or more
        Their coefficients: one row for the second of two classes, else one row per class.
    n_visits_, n_updates_ : int
        Examples learned from; updates made (one-vs-rest: each class counts its own).
    n_mistakes_ : int
        Progressive mistakes of the last coefficients: how often `predict_one`, called just before
        `learn_one`, would have been wrong if it had known the example's class. With ``ties="mistake"`` ties
        count too.
    n_features_in_ : int
        The number of known features, if examples are dicts or arrays.
    feature_names_in_ : ndarray of str
        Their names, if examples are dicts.
    memory_ : int
        Bytes that the supports and coefficients take.

    Notes
    -----
    *Budget.* Without a budget the model grows by one example per mistake. With one, memory and time per
    example are bounded; docs/budgets.md describes the policies. All feature names are kept: for streams of
    dicts with ever new names, `hash_bits` bounds them too.

    *Averages.* ``predict_with="averaged"`` needs ``budget=None`` or a projectron; it can be set at any time.

    *Classes.* As for `OnlinePerceptron`: two classes share one column of coefficients; numbers and booleans
    are sorted, other labels keep their order of appearance. While only one class is known, it is learned as
    the first. If it turns out to be the second, its supports are removed or, with ``ties="mistake"``, α
    becomes −α, as if both had been declared. When a third class appears, α becomes (−α, +α, 0); later ones
    start at 0.

    A refused example leaves the model unchanged. Files (`save`) and pickles hold the whole state.

    *Threads.* Calls from several threads run one after another in some order, and none is lost; calls that
    only predict may run at the same time. A kernel function, or a ``__float__`` or ``__hash__`` of an
    argument, may predict with the model that called it; learning with it raises a RuntimeError.

    Examples
    --------
    The exclusive or of two features, with one support for each of the four examples:

    >>> from novikoff import OnlineKernelPerceptron
    >>> model = OnlineKernelPerceptron("rbf", budget=4)
    >>> stream = [({"a": 0, "b": 0}, "same"), ({"a": 0, "b": 1}, "other"), ({"a": 1, "b": 0}, "other"),
    ...           ({"a": 1, "b": 1}, "same")]
    >>> for x, y in stream * 5:
    ...     model.learn_one(x, y)
    >>> [model.predict_one(x) for x, _ in stream], model.n_supports_
    (['same', 'other', 'other', 'same'], 4)
    """

    kernel: Any = DEFAULT
    _: KW_ONLY
    gamma: float = DEFAULT
    degree: int = DEFAULT
    coef0: float = DEFAULT
    kernel_params: dict[str, Any] | None = DEFAULT
    budget: int | None = DEFAULT
    budget_policy: str = DEFAULT
    predict_with: str = DEFAULT
    fit_intercept: bool = DEFAULT
    classes: Sequence[Hashable] | None = DEFAULT
    multiclass: str = DEFAULT
    ties: str = DEFAULT
    random_state: Any = DEFAULT
    hash_bits: int | None = DEFAULT
    seed: int = DEFAULT

    def __post_init__(self) -> None:
        self._kernel = self._checked_kernel()
        self._rng = own_generator(np.random.default_rng(self.random_state))
        self._labels: dict[Any, int] = {}
        self._n_mistakes = 0
        self._learner: BudgetModel | None = None  # made at the first example, which shows the kind of rows
        self._reader: _core.DictReader | None = None  # of dicts
        for label in self.classes or ():
            if label in self._labels:
                raise ValueError(f"classes: {label!r} is given twice")
            self._labels[label] = len(self._labels)

    def _checked_kernel(self) -> Kernel:
        if self.predict_with in (None, "voted"):
            raise ValueError(
                f"predict_with={self.predict_with!r} is not possible online: expected 'last' or 'averaged'."
            )
        if isinstance(self.gamma, str):
            raise ValueError(f"gamma={self.gamma!r} needs all rows at once: expected a number > 0.")
        check_parameters(self)
        what_predicts(self.predict_with, self.budget, self.budget_policy)
        offset = 1.0 if self.fit_intercept else 0.0
        if callable(self.kernel):
            return FunctionKernel(self.kernel, dict(self.kernel_params or {}), offset)
        if self.kernel not in BY_NAME:
            names = ", ".join(map(repr, BY_NAME))
            raise ValueError(
                f"kernel={self.kernel!r} is not possible online: expected one of {names}, or a function."
            )
        degree = int(self.degree) if self.kernel == "poly" else 1
        return NamedKernel(self.kernel, float(self.gamma), float(self.coef0), degree, offset)

    # -- one example ---------------------------------------------------------------------------------
    def predict_one(self, x: Any) -> Any:
        """The predicted label; None before any label was seen. The model does not change."""
        with turns_of(self).reading:
            if len(self._labels) < 2 or self._learner is None:
                return self.classes_[0] if len(self._labels) == 1 else self._undecided()
            return self.classes_[int(self._learner.winners(self._scores(x))[0])]

    def _undecided(self) -> Any:
        """The prediction before anything was learned: every score is 0, and the tie rule decides."""
        return None if not self._labels else self.classes_[1 if len(self._labels) == 2 else 0]

    def score_one(self, x: Any) -> Any:
        """The score of the second class (two classes), or a dict of class to score (more)."""
        with turns_of(self).reading:
            several = len(self._labels) > 2
            if len(self._labels) < 2 or self._learner is None:
                return dict.fromkeys(self.classes_, 0.0) if several else 0.0
            scores = self._scores(x)[0].tolist()
            return dict(zip(self.classes_, scores, strict=True)) if several else scores[0]

    def _scores(self, x: Any) -> Floats:
        assert self._learner is not None
        return self._learner.scores(self._row(x, add=False), averaged=self.predict_with == "averaged")

    def predict(self, X: Iterable[Any]) -> Any:
        """The label of each of many examples, or of each row of a data frame. Learns nothing."""
        return one_by_one.predict(self, X)

    def scores(self, X: Iterable[Any]) -> Floats:
        """The scores of many examples: (n,) for two classes, (n, classes) for more; see `score_one`."""
        return one_by_one.scores(self, X)

    def top_features(self, k: int = 20, label: Any = None) -> Any:
        """Not possible: a kernel model has no weight per feature."""
        raise ValueError(self._no_weights())

    def explain(self, x: Any, label: Any = None) -> Any:
        """Not possible: a kernel model has no weight per feature."""
        raise ValueError(self._no_weights())

    def _no_weights(self) -> str:
        return (
            f"a kernel model has no weight per feature: a score is a sum over its {self.n_supports_:,} "
            "supports, so there are no top features, and no example is a sum over its features."
        )

    def learn_one(self, x: Any, y: Hashable) -> None:
        """Learn from one example and its label. A refused example changes nothing."""
        with turns_of(self).learning:
            label = self._find(y)
            row = self._row(x, add=True)
            try:
                learner = self._learner or self._begin(row)
                row = learner.checked(row)
                self._learn(learner, row, y, label)
            except BaseException:
                if self._reader is not None:
                    self._reader.undo()
                raise

    def _learn(self, learner: BudgetModel, row: Any, y: Hashable, label: int) -> None:
        """Learn from a row; while only one class is known, it is treated as the first of two."""
        labels, mistakes = self._labels, self._n_mistakes
        if label == len(labels):
            turns = label == 1 and precedes(y, next(iter(labels)))
            if turns or label > 1:  # a function may still fail, and this cannot be undone
                learner = copy.deepcopy(learner)
            if turns:
                learner.turn()
                label, mistakes = 0, mistakes if learner.tie_is_mistake else 0
            elif label > 1:
                learner.add_class()
            ordered = [y, *labels] if turns else [*labels, y]
            labels = {known: place for place, known in enumerate(ordered)}
        before, n_rows = learner.native.wrong, learner.n_rows
        try:
            learner.visit_rows(row, np.array([label], dtype=np.int32))
        except BaseException:
            learner.n_rows = n_rows
            raise
        self._n_mistakes = mistakes + learner.native.wrong - before
        self._learner, self._labels = learner, labels

    def learn_many(self, examples: Iterable[Any], y: Iterable[Hashable] | None = None) -> None:
        """Learn from pairs (x, y), or, given `y`, from examples alone.

        A refused example stops the call with an error that gives its position, counted from 0; the examples
        before it have been learned.
        """
        pairs = examples if y is None else zip(examples, y, strict=True)
        for position, (x, label) in enumerate(pairs):
            try:
                self.learn_one(x, label)
            except (TypeError, ValueError, OverflowError) as error:
                raise type(error)(f"example {position}: {error}") from error

    def _find(self, y: Hashable) -> int:
        """The class of a label, or the number of classes when it is new."""
        if y is None:
            raise TypeError("None is not a label: predict_one returns it when it knows no class")
        try:
            label = self._labels.get(y)
        except TypeError:
            raise TypeError(f"a label must be hashable, got {type(y).__name__}") from None
        if label is not None:
            return label
        if self.classes is not None:
            raise ValueError(f"label {y!r} is not among the declared classes {self.classes_!r}")
        if y != y:
            raise ValueError(f"a label must equal itself, got {y!r}")
        return len(self._labels)

    # -- examples as rows ----------------------------------------------------------------------------
    def _row(self, x: Any, *, add: bool) -> Any:
        """The example as a matrix of one row, of the same kind as the first example."""
        if isinstance(self._kernel, FunctionKernel):
            return _block(x)
        if isinstance(x, dict):
            if self._reader is None:
                if self._learner is not None:
                    raise TypeError("x is a dict, but the examples so far were arrays")
                self._reader = _core.DictReader(self.hash_bits, self.seed)
            values, columns = self._reader.read(x, add)
            # the learner may know more columns: names may have been taken back
            known = 0 if self._learner is None else self._learner.n_features
            indptr = np.array([0, len(values)], dtype=np.int64)
            return Csr(values, columns, indptr, (1, max(self._reader.columns, known)))
        if self._learner is not None and self._reader is not None:
            raise TypeError(f"x is {type(x).__name__}, but the examples so far were dicts")
        row = _numbers(x)
        if row is None:
            raise TypeError(f"x is a dict of features or an array of numbers, got {type(x).__name__}")
        if self._learner is not None and row.shape[1] != self.n_features_in_:
            raise ValueError(
                f"x has {row.shape[1]} values, but the examples so far had {self.n_features_in_}"
            )
        return row

    def _begin(self, row: Any) -> BudgetModel:
        options: dict[str, Any] = {
            "budget": self.budget,
            "policy": self.budget_policy,
            "tie_is_mistake": self.ties == "mistake",
            "rng": self._rng,
            "joint": self.multiclass == "joint",
        }
        n_classes = max(len(self._labels), 2)
        if self._reader is not None:
            return row_budget(self._kernel, n_classes, row.shape[1], sparse=True, **options)
        return budget_model(self._kernel, n_classes, row, **options)

    # -- contents ------------------------------------------------------------------------------------
    def _held(self, of: Callable[[BudgetModel], Any], otherwise: Any) -> Any:
        with turns_of(self).reading:
            return otherwise if self._learner is None else of(self._learner)

    @property
    def classes_(self) -> list[Any]:
        return list(self._labels)

    @property
    def n_supports_(self) -> int:
        return int(self._held(lambda m: m.native.size, 0))

    @property
    def support_(self) -> Any:
        return self._held(lambda m: m.support, np.zeros(0, dtype=np.int64))

    @property
    def dual_coef_(self) -> Floats:
        columns = 1 if len(self._labels) <= 2 else len(self._labels)
        alpha: Floats = self._held(lambda m: m.coefficients(averaged=False), np.zeros((0, columns)))
        return np.ascontiguousarray(alpha.T)

    @property
    def n_visits_(self) -> int:
        return int(self._held(lambda m: m.n_visits, 0))

    @property
    def n_updates_(self) -> int:
        return int(self._held(lambda m: m.native.updates, 0))

    @property
    def n_mistakes_(self) -> int:
        return self._n_mistakes

    @property
    def n_features_in_(self) -> int:
        if self._reader is not None and self._learner is not None:
            return self._reader.columns
        return int(self._held(lambda m: m.n_features, 0))

    @property
    def feature_names_in_(self) -> Any:
        if self._reader is None:
            raise AttributeError("features have names only where examples are dicts")
        names = self._reader.names() if self.hash_bits is None else range(self.n_features_in_)
        return np.array([n if isinstance(n, str) else f"hash_{n}" for n in names], dtype=object)

    @property
    def memory_(self) -> int:
        """Bytes that the supports and coefficients take."""
        return int(self._held(lambda m: m.memory, 0))

    def get_params(self) -> dict[str, Any]:
        """The parameters given at construction, by name."""
        return parameter_values(self)

    # -- files ---------------------------------------------------------------------------------------
    def save(self, path: str | PathLike[str]) -> None:
        """Write the model atomically to a file that holds only data.

        Raises
        ------
        ValueError
            When the kernel is a function, or a label is not a str, int, float or bool: a file holds no other
            objects.
        """
        with turns_of(self).reading:
            facts, arrays = self._state()
        write_file(path, facts, arrays, KIND)

    def _state(self) -> tuple[Facts, Arrays]:
        """The facts and arrays of a file."""
        kernel_state(self._kernel)  # raises an error if it is not data
        params = plain_parameters(parameters_for_file(self, kernel_params=None), self.classes_)
        parts, named = {}, self._reader is not None and self._learner is not None
        if self._learner is not None:
            parts["learner"] = budget_state(self._learner)
        facts, arrays = together(parts)
        if self._reader is not None and named:
            arrays |= names_state(self._reader.names())
        facts |= {"parameters": params, "classes": self.classes_}
        return facts | {"n_mistakes": self._n_mistakes, "named": named}, arrays

    @classmethod
    def load(cls, path: str | PathLike[str]) -> OnlineKernelPerceptron:
        """Load the model that `save` wrote; it continues to learn as the saved one would.

        No code from the file is run. An invalid file raises a ValueError with a message of one line.
        """
        facts, arrays = read_file(path, KIND)
        try:
            model = cls(**parameters_from_state(facts, cls))
            model._take(facts, arrays)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{fspath(path)}: {' '.join(str(error).split())}") from None
        return model

    def _take(self, facts: Facts, arrays: Arrays) -> None:
        """Take over the learned state of a file, which must match the parameters."""
        labels = labels_from_state(facts, self.classes)
        self._labels = {label: place for place, label in enumerate(labels)}
        self._n_mistakes = count(facts, "n_mistakes")
        if "learner" not in facts:
            return
        learner = budget_from_state(fact(facts, "learner", dict), sub("learner", arrays))
        made = learner.kernel, learner.budget, learner.policy, learner.joint, learner.tie_is_mistake
        wanted = self._kernel, self.budget, self.budget_policy, self.multiclass == "joint"
        if made != (*wanted, self.ties == "mistake") or learner.n_classes != max(len(labels), 2):
            raise ValueError("the learned state does not match the parameters or the labels")
        if fact(facts, "named", bool):
            self._reader = _core.DictReader(self.hash_bits, self.seed)
            self._reader.add_names(names_from_state(arrays, self.hash_bits))
        if is_sparse(learner.vectors) != (self._reader is not None) or (
            self._reader is not None and self._reader.columns > learner.n_features
        ):
            raise ValueError("the supports do not fit the names of the features")
        self._learner, self._rng = learner, learner.rng

    def __getstate__(self) -> dict[str, Any]:
        with turns_of(self).reading:
            names = None if self._reader is None else self._reader.names()
            learner = copy.copy(self._learner)  # a snapshot: it may learn while this is written
            return vars(self) | {"_reader": names, "_learner": learner, "_turns": Turns()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self._reader is not None:
            self._reader = _core.DictReader(self.hash_bits, self.seed)
            self._reader.add_names(state["_reader"])

    def __repr__(self) -> str:
        return parameter_repr(self)


def _numbers(x: Any) -> Floats | None:
    """A vector of numbers as a matrix of one row; None if x is not such a vector."""
    if isinstance(x, str | bytes | set | frozenset | dict):
        return None
    try:
        row = np.asarray(x)
    except ValueError:
        return None
    if row.ndim != 1 or row.dtype.kind not in "biuf":
        return None
    return np.ascontiguousarray(exact_doubles(x, "x[{}]".format).reshape(1, -1))


def _block(x: Any) -> Any:
    """An example as a function gets it: numbers as a row of a matrix, anything else in an object array."""
    row = _numbers(x)
    if row is not None:
        return row
    block = np.empty(1, dtype=object)
    block[0] = x
    return block
