"""One example at a time: dicts in, labels out, features and classes as they come."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import KW_ONLY
from os import PathLike, fspath
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from novikoff import _core
from novikoff.data.labels import precedes
from novikoff.parameters.linear import LINEAR_PARAMETERS
from novikoff.parameters.parameter import (
    DEFAULT,
    check_parameters,
    parameter_repr,
    parameter_values,
    parameters_of,
    with_parameters,
)
from novikoff.training.averaging import mean_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from novikoff.linear.perceptron import Perceptron
    from novikoff.training.weights import Model


@with_parameters(LINEAR_PARAMETERS)
class OnlinePerceptron(_core.OnlineLearner):
    """A perceptron that learns from one dict at a time.

    An example is a dict of feature to number; a string value ``{"colour": "red"}`` is the feature
    ``"colour=red"`` of value 1. Labels are any hashables. Features get their place, and classes
    theirs, when they are first learned from; `predict_one` and `score_one` never change the model.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : list
        The labels known.
    coef_, intercept_ : ndarray
        What predicts: weights of shape (1, d) for two classes, else (classes, d), averaged with
        ``average=True``; intercepts of shape (1,) or (classes,).
    feature_names_in_ : ndarray of str
        By column of `coef_`; ``hash_0``, ``hash_1``, … with `hash_bits`.
    n_features_in_, n_visits_, n_updates_ : int
        Features known, examples learned from, updates made.
    n_mistakes_ : int
        Progressive mistakes: how often `predict_one`, asked just before `learn_one`, would have
        been wrong had it known the example's class. With ``ties="mistake"`` ties count. Without
        averaging these are the mistakes that the bounds speak of.
    radius_ : float
        The largest norm of an example, intercept included.

    Notes
    -----
    *Names.* A feature's name is a str; an int or another key goes by its ``str()``, so 7 and "7"
    are one feature. A value is a float, int, bool or anything with ``__float__``; NaN and infinity
    are refused. An example that is refused leaves the model as it was.

    *Classes.* Two classes share one vector, the second is the positive one. Numbers and booleans are
    in their order, other labels in that of their appearance. While one class is known, it is learned
    as the first: at w = 0 the second is predicted, so its first example is a mistake. Should it turn
    out to be the second, because a smaller number comes, the model becomes what it would be had both
    been declared: for the rules 'perceptron' and 'normalized' w = 0 without mistakes, since ties were
    right; for other rules, and with ``ties="mistake"``, −w. Until then `predict_one` gives the only
    class and `score_one` 0, while the weights and counts are those of the first class. A model file
    of an earlier version that knows one class has visits of it, and w = 0. When a third class
    appears, w becomes (−w, +w, 0), which is what the joint rule of three classes would hold had it
    made the same updates: the score s of the two classes becomes −s and +s, `score_one` a dict, and
    a tie, so far the second class's, goes to the lowest class. Later classes start at 0. Labels that
    are equal in Python (1, 1.0, True) are one class.

    *Same as in bulk.* Decisions are exact, so the same rows in the same order with the same declared
    classes, or with two that are numbers, give the weights of `Perceptron`, bit by bit.

    *Threads and processes.* A call holds the global interpreter lock from the moment its example is
    read to its end: calls from several threads follow one another in some order, and none is lost. So do
    calls from inside a call, of a ``__float__``, ``__hash__`` or ``__repr__`` of what it is given: the inner
    example is learned first. There are no locks or threads inside, so a forked child has an independent
    copy. Pickles and deep copies hold the whole state, of one moment, and do not depend on Python's string
    hashing.

    Examples
    --------
    >>> from novikoff import OnlinePerceptron
    >>> model = OnlinePerceptron()
    >>> model.predict_one({"colour": "red"}) is None
    True
    >>> for x, y in [({"colour": "red"}, "stop"), ({"colour": "green"}, "go")] * 3:
    ...     model.learn_one(x, y)
    >>> model.predict_one({"colour": "red"}), model.predict_one({"colour": "green"})
    ('stop', 'go')
    >>> model.feature_names_in_.tolist(), model.coef_.tolist()
    (['colour=red', 'colour=green'], [[-1.0, 1.0]])
    >>> model.n_visits_, model.n_mistakes_, model.n_updates_
    (6, 2, 2)
    """

    rule: str = DEFAULT
    average: bool = DEFAULT
    fit_intercept: bool = DEFAULT
    classes: Sequence[Hashable] | None = DEFAULT
    hash_bits: int | None = DEFAULT
    seed: int = DEFAULT
    _: KW_ONLY
    margin: float = DEFAULT
    C: float = DEFAULT
    ties: str = DEFAULT

    def __post_init__(self) -> None:
        check_parameters(self)
        super().__init__(
            _core.Rule(
                self.rule,
                self.ties == "mistake",
                float(self.margin),
                float(self.C),
                float(bool(self.fit_intercept)),
            ),
            precedes,
            bool(self.average),
            self.hash_bits,
            self.seed,
            None if self.classes is None else list(self.classes),
        )

    def learn_many(self, examples: Iterable[Any], y: Iterable[Hashable] | None = None) -> None:
        """Learn from pairs (x, y), or, given `y`, from dicts or the rows of a data frame.

        An example that is refused stops the call with an error that says which it was, counted
        from 0; those before it have been learned. So does Ctrl-C.

        Parameters
        ----------
        examples : iterable of (dict, label) pairs; with `y`, iterable of dicts, or a data frame
        y : iterable of labels, optional

        Examples
        --------
        >>> model = OnlinePerceptron()
        >>> model.learn_many([({"a": 1}, 0), ({"b": 1}, 1), ({"b": None}, 1)])
        Traceback (most recent call last):
            ...
        TypeError: example 2: feature 'b': a value is a number or a str, got NoneType
        >>> model.n_visits_
        2
        """
        if y is not None:
            rows = examples.to_dict("records") if hasattr(examples, "to_dict") else examples
            examples = zip(rows, y, strict=True)
        self._learn_many(examples)

    @property
    def coef_(self) -> NDArray[np.float64]:
        return self._predicting("weights", "weight_sums")

    @property
    def intercept_(self) -> NDArray[np.float64]:
        return self._predicting("bias", "bias_sums")[:, 0]

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        names = self._names() if self.hash_bits is None else [f"hash_{j}" for j in range(self.n_features_in_)]
        return np.array(names, dtype=object)

    def _predicting(self, weights: str, sums: str) -> NDArray[np.float64]:
        state = self._get_state()
        w = cast("NDArray[np.float64]", state[weights])
        visits = float(self.n_visits_)
        if self.average and visits:
            w = mean_weights(w, cast("NDArray[np.float64]", state[sums]), visits)
        return np.ascontiguousarray(w.T)

    def get_params(self) -> dict[str, Any]:
        """The parameters given at construction, by name."""
        return parameter_values(self)

    def freeze(self) -> Perceptron:
        """The model as it predicts now, as a `Perceptron` with feature names.

        Raises
        ------
        ValueError
            When fewer than two classes are known.
        """
        if len(self.classes_) < 2:
            raise ValueError(
                f"a model needs two classes, so far there is {self.classes_!r}: learn more or declare them"
            )
        from novikoff.linear.perceptron import Perceptron

        names = ("rule", "average", "fit_intercept", "margin", "C", "ties")
        params = {name: getattr(self, name) for name in names}
        return Perceptron._from_model(params, self._model(), _labels(self.classes_), self.feature_names_in_)

    def _model(self) -> Model:
        """What was learned, as the batch estimators hold it."""
        from novikoff.training.ledger import Ledger
        from novikoff.training.weights import Model, Settings  # SciPy's import is felt; streams do without it

        model = Model(len(self.classes_), self.n_features_in_, Settings.of(self))
        state = self._get_state()
        (learner,) = model.learners
        for name in ("weights", "bias", "weight_sums", "bias_sums"):
            held = getattr(learner, name)
            if held is not None:
                values = np.asarray(state[name])
                held.reshape(len(values), -1)[:, : values.shape[1]] = values
        for name in ("visits", "updates", "most_stored", *_MEASURES, *_OUTWARD):
            setattr(learner.native, name, state[name])
        learner.native.mistakes = state["learner_mistakes"]  # of w, of which the bounds speak
        learner.reset_norm()
        grew = self.classes is None and len(self.classes_) > 2
        model.ledger = Ledger.unknown(weighted=False, grown=grew)  # counts are kept here, not rows
        return model

    # -- files ---------------------------------------------------------------------------------------
    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file of data only, at once or not at all.

        Raises
        ------
        ValueError
            When a label is not a str, int, float or bool: a file holds no other objects.
        """
        from novikoff.data.state import pack_rows, pack_used
        from novikoff.modelfile.container import write_file
        from novikoff.modelfile.online import names_state, plain_parameters

        params, state = plain_parameters(self.get_params(), self.classes_), self._get_state(sparse=True)
        arrays: dict[str, Any] = names_state(state["names"])
        for table, bias in (("weights", "bias"), ("weight_sums", "bias_sums")):
            if table in state:
                arrays |= pack_used(table, self.n_features_in_, *state[table]) | pack_rows(bias, state[bias])
        counts = (*_COUNTS, *_LATER_COUNTS, *_MEASURES, *_OUTWARD)
        facts = {name: state[name] for name in ("classes", *counts, "wide", "norm2")}
        write_file(path, {"parameters": params, "state": facts}, arrays, "online")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> OnlinePerceptron:
        """The model in a file that `save` wrote; it goes on learning as the saved one would.

        Runs no code from the file. Raises a ValueError in one line when the file is not what it should be.
        """
        from novikoff.modelfile.checks import fact
        from novikoff.modelfile.container import read_file
        from novikoff.modelfile.online import parameters_from_state

        facts, arrays = read_file(path, "online")
        try:
            model = cls(**parameters_from_state(facts, cls))
            model._set_state(_state(model, fact(facts, "state", dict), arrays))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{fspath(path)}: {' '.join(str(error).split())}") from None
        return model

    def __getstate__(self) -> dict[str, Any]:
        hashed = self.hash_bits is not None
        return {"attributes": dict(self.__dict__), "core": self._get_state(sparse=hashed)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        attributes = state["attributes"]
        known = {name: attributes[name] for name in parameters_of(self) if name in attributes}
        OnlinePerceptron.__init__(self, **known)
        self.__dict__.update(attributes)
        self._set_state(state["core"])

    def __repr__(self) -> str:
        return parameter_repr(self)


_COUNTS = ("visits", "updates", "mistakes", "most_stored")
_LATER_COUNTS = ("ties", "learner_mistakes", "learner_ties")  # which older files do not have
_MEASURES = ("step_sum", "radius", "largest_row")
_OUTWARD = ("square_low", "square_high", "drift")  # files of earlier versions have none of them


def _state(model: OnlinePerceptron, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The state in a file, checked, as the core takes it."""
    from novikoff.data.state import rows_from_state
    from novikoff.modelfile.checks import count, fact, number
    from novikoff.modelfile.online import labels_from_state, names_from_state
    from novikoff.training.state import widen

    labels = labels_from_state(facts, model.classes)
    names = names_from_state(arrays, model.hash_bits)
    n = len(names) if model.hash_bits is None else 1 << model.hash_bits
    k = 1 if len(labels) <= 2 else len(labels)
    state: dict[str, Any] = {"classes": labels, "names": names, "aliases": []}
    for name, rows in {"weights": n, "bias": 1, "weight_sums": n, "bias_sums": 1}.items():
        if model.average or not name.endswith("sums"):
            used, values = rows_from_state(name, arrays, rows, k)
            state[name] = values if used is None else (used, values)
    state |= {name: count(facts, name) for name in _COUNTS} | {
        name: number(facts, name, 0.0) for name in _MEASURES
    }
    state |= {name: count(facts, name) for name in _LATER_COUNTS if name in facts}
    if "drift" in facts:
        state |= {name: number(facts, name, 0.0) for name in _OUTWARD}
    else:
        old = SimpleNamespace(**state)
        widen(old)
        state |= {name: getattr(old, name) for name in ("radius", *_OUTWARD)}
    norms = fact(facts, "norm2", list)
    if not all(type(v) is float and v >= 0 for v in norms):
        raise ValueError("norm2 is not a list of numbers ≥ 0")
    return state | {"norm2": norms, "wide": fact(facts, "wide", bool)}


def _labels(classes: list[Any]) -> NDArray[Any]:
    """Labels as an array: of their own type when they share one that NumPy knows, else of objects."""
    if len({type(c) for c in classes}) == 1 and isinstance(classes[0], str | int | float | np.generic):
        return np.array(classes)
    labels = np.empty(len(classes), dtype=object)
    labels[:] = classes
    return labels
