"""Learning from one example at a time: dicts in, labels out, new features and classes at any time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import KW_ONLY, replace
from os import PathLike, fspath
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from novikoff import _core
from novikoff.data.labels import precedes
from novikoff.parameters.linear import LINEAR_PARAMETERS, PHI, VARIANCE_RULES, phi_of
from novikoff.parameters.parameter import (
    DEFAULT,
    check_parameters,
    parameter_repr,
    parameter_values,
    parameters_of,
    with_parameters,
)
from novikoff.training import one_by_one
from novikoff.training.averaging import mean_weights
from novikoff.training.one_by_one import labels_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from novikoff.linear.model import LinearModel
    from novikoff.linear.perceptron import Perceptron
    from novikoff.training.explanation import Explanation, TopFeatures
    from novikoff.training.weights import Model


@with_parameters(LINEAR_PARAMETERS)
class OnlinePerceptron(_core.OnlineLearner):
    """A perceptron that learns from one dict at a time.

    An example is a dict that maps features to numbers; a string value ``{"colour": "red"}`` is the feature
    ``"colour=red"`` with value 1. Labels are any hashables. A feature or class gets its index when it is
    first learned from; `predict_one` and `score_one` never change the model.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : list
        The known labels.
    coef_, intercept_ : ndarray
        The weights that predict, of shape (1, d) for two classes, else (classes, d), averaged with
        ``average=True``; intercepts of shape (1,) or (classes,).
    feature_names_in_ : ndarray of str
        The name of each column of `coef_`; ``hash_0``, ``hash_1``, … with `hash_bits`.
    n_features_in_, n_visits_, n_updates_ : int
        The number of known features, of examples learned from, and of updates.
    n_mistakes_ : int
        Progressive mistakes: how often `predict_one`, called just before `learn_one`, would have been wrong
        if it had known the example's class. With ``ties="mistake"`` ties count too. Without averaging, the
        bounds are on these mistakes.
    radius_ : float
        The largest norm of an example, intercept included.

    Notes
    -----
    *Names.* The name of a feature is a str; any other key is converted by ``str()``, so 7 and "7" are one
    feature. A value is a float, int, bool or anything with ``__float__``; NaN and infinity are refused. A
    refused example leaves the model unchanged.

    *Classes.* Two classes share one vector, and the second is the positive one. Numbers and booleans are
    sorted; other labels keep their order of appearance. While only one class is known, it is learned as the
    first: w = 0 predicts the second, so its first example is a mistake. If it turns out to be the second,
    because a smaller number appears, the model becomes as if both had been declared: w = 0 without mistakes
    for the rules 'perceptron', 'normalized' and 'second-order', because ties were right; −w for other rules,
    and with ``ties="mistake"``. Until then `predict_one` returns the only class and `score_one` returns 0,
    while the weights and counts are those of the first class. A model file of an earlier version that knows
    one class has visits of it, and w = 0. When a third class appears, w becomes (−w, +w, 0), as the joint
    rule of three classes would have it after the same updates: the score s of the two classes becomes −s and
    +s, `score_one` returns a dict, and a tie, which predicted the second class before, goes to the lowest
    class. A weight's variance stays as it is, of −w and of +w alike.
    Later classes start at 0. Labels that are equal in Python (1, 1.0, True) are one class.

    *Equal to batch learning.* Decisions are exact, so the same rows in the same order, with the same declared
    classes or with two classes that are numbers, give the weights of `Perceptron`, bit for bit.

    *Threads and processes.* Once it has read its example, a call holds the global interpreter lock to its
    end: calls from several threads run one after another in some order, and none is lost. A ``__float__``,
    ``__hash__`` or ``__repr__`` of an argument may call the model too: the inner example is learned first.
    The model has no locks or threads, so a forked child has an independent copy. Pickles and deep copies hold
    the whole state at one moment, and do not depend on Python's string hashing.

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
    eta: float = DEFAULT
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
                phi_of(self.eta),
            ),
            precedes,
            bool(self.average),
            self.hash_bits,
            self.seed,
            None if self.classes is None else list(self.classes),
        )

    def learn_many(self, examples: Iterable[Any], y: Iterable[Hashable] | None = None) -> None:
        """Learn from pairs (x, y), or, given `y`, from dicts or the rows of a data frame.

        A refused example stops the call with an error that gives its position, counted from 0; the examples
        before it have been learned. Ctrl-C stops the call in the same way.

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

    def predict(self, X: Iterable[Any]) -> NDArray[Any]:
        """The label of each of many examples, or of each row of a data frame. Learns nothing."""
        return one_by_one.predict(self, X)

    def scores(self, X: Iterable[Any]) -> NDArray[np.float64]:
        """The scores of many examples: (n,) for two classes, (n, classes) for more; see `score_one`."""
        return one_by_one.scores(self, X)

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

    def to_linear(self) -> LinearModel:
        """The model with its current predictions as a `LinearModel`: for many rows, files and ONNX.

        Raises
        ------
        ValueError
            When fewer than two classes are known.
        """
        self._check_two()
        from novikoff.data.sources.features import NamedFeatures
        from novikoff.linear.model import LinearModel  # here: streams do not need it

        features = NamedFeatures(hash_bits=self.hash_bits, seed=self.seed)
        features.place(self._names())
        features.fixed = True
        parameters = parameter_values(self) | {"classes": None}
        return LinearModel(
            self._model(),
            labels_array(self.classes_),
            features,
            parameters=parameters,
            name="OnlinePerceptron",
        )

    def top_features(self, k: int = 20, label: Any = None) -> TopFeatures:
        """The k features with the largest positive weights, for every class or for this one.

        This reads all weights. Of two classes the first has the second's weights, negated.
        """
        return self.to_linear().top_features(k, label)

    def explain(self, x: Any, label: Any = None) -> Explanation:
        """The score of one example as a sum over its features; by default that of the predicted class.

        This reads all weights: for many examples call `explain` of the model that `to_linear` gives.
        """
        return self.to_linear().explain(x, label)

    def _check_two(self) -> None:
        if len(self.classes_) < 2:
            raise ValueError(
                f"a model needs two classes, so far there is {self.classes_!r}: learn more or declare them"
            )

    def freeze(self) -> Perceptron:
        """The model with its current predictions as a `Perceptron` with feature names.

        Raises
        ------
        ValueError
            When fewer than two classes are known.
        """
        self._check_two()
        from novikoff.linear.perceptron import Perceptron

        names = ("rule", "average", "fit_intercept", "margin", "C", "eta", "ties")
        params = {name: getattr(self, name) for name in names}
        return Perceptron._from_model(
            params, self._model(), labels_array(self.classes_), self.feature_names_in_
        )

    def _model(self) -> Model:
        """The learned model in the form of the batch estimators."""
        from novikoff.training.ledger import Ledger
        from novikoff.training.weights import Model, Settings  # here: it loads SciPy, streams do not

        state = self._get_state()
        settings = replace(Settings.of(self), phi=state["phi"])
        model = Model(len(self.classes_), self.n_features_in_, settings)
        (learner,) = model.learners
        for name in (name for names in settings.tables() for name in names):
            values = np.asarray(state[name])
            getattr(learner, name).reshape(len(values), -1)[:, : values.shape[1]] = values
        for name in ("visits", "updates", "most_stored", *_MEASURES, *_OUTWARD):
            setattr(learner.native, name, state[name])
        learner.native.mistakes = state["learner_mistakes"]  # of w: the bounds are on these
        learner.reset_norm()
        grew = self.classes is None and len(self.classes_) > 2
        model.ledger = Ledger.unknown(weighted=False, grown=grew)  # counts were kept, rows were not
        return model

    # -- files ---------------------------------------------------------------------------------------
    def save(self, path: str | PathLike[str]) -> None:
        """Write the model atomically to a file that holds only data.

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
        for table, bias in _TABLES:
            if table in state:
                arrays |= pack_used(table, self.n_features_in_, *state[table]) | pack_rows(bias, state[bias])
        counts = (*_COUNTS, *_LATER_COUNTS, *_MEASURES, *_OUTWARD)
        facts = {name: state[name] for name in ("classes", *counts, "wide", "norm2")}
        if state["phi"] != PHI:
            facts["phi"] = state["phi"]
        write_file(path, {"parameters": params, "state": facts}, arrays, "online")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> OnlinePerceptron:
        """Load the model that `save` wrote; it continues to learn as the saved one would.

        No code from the file is run. An invalid file raises a ValueError with a message of one line.
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


_TABLES = (("weights", "bias"), ("weight_sums", "bias_sums"), ("confidences", "bias_confidences"))
_COUNTS = ("visits", "updates", "mistakes", "most_stored")
_LATER_COUNTS = ("ties", "learner_mistakes", "learner_ties")  # missing in older files
_MEASURES = ("step_sum", "radius", "largest_row")
_OUTWARD = ("square_low", "square_high", "drift")  # missing in files of earlier versions


def _state(model: OnlinePerceptron, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The state in a file, checked, in the form that the core takes."""
    from novikoff.data.state import rows_from_state
    from novikoff.modelfile.checks import count, fact, number
    from novikoff.modelfile.online import labels_from_state, names_from_state
    from novikoff.training.state import widen

    labels = labels_from_state(facts, model.classes)
    names = names_from_state(arrays, model.hash_bits)
    n = len(names) if model.hash_bits is None else 1 << model.hash_bits
    k = 1 if len(labels) <= 2 else len(labels)
    state: dict[str, Any] = {"classes": labels, "names": names, "aliases": []}
    tables = _TABLES[: 1 + model.average] + _TABLES[2:] * (model.rule in VARIANCE_RULES)
    for name, rows in [(name, rows) for pair in tables for name, rows in zip(pair, (n, 1), strict=True)]:
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
    state["phi"] = number(facts, "phi", 0.0) if "phi" in facts else PHI
    return state | {"norm2": norms, "wide": fact(facts, "wide", bool)}
