"""One example at a time: dicts in, labels out, features and classes as they come."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from novikoff import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from novikoff.perceptron import Perceptron

RULES = ("perceptron", "normalized", "margin", "pa", "pa1", "pa2")
TIES = ("positive", "mistake")
MOST_HASH_BITS = 30


def _one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value!r} is unknown; there are {', '.join(map(repr, choices))}")


def _check_parameters(
    rule: str,
    margin: float,
    C: float,
    ties: str,
    classes: Sequence[Hashable] | None,
    hash_bits: int | None,
    seed: int,
) -> None:
    _one_of("rule", rule, RULES)
    _one_of("ties", ties, TIES)
    if not (margin >= 0 and isfinite(margin)):
        raise ValueError(f"margin={margin!r} must be a finite number, 0 or more")
    if not (C > 0 and isfinite(C)):
        raise ValueError(f"C={C!r} must be a finite number greater than 0")
    if hash_bits is not None and not (isinstance(hash_bits, int) and 1 <= hash_bits <= MOST_HASH_BITS):
        raise ValueError(f"hash_bits={hash_bits!r} must be None or an integer from 1 to {MOST_HASH_BITS}")
    if not (isinstance(seed, int) and 0 <= seed < 2**64):
        raise ValueError(f"seed={seed!r} must be an integer from 0 to 2**64 - 1")
    if isinstance(classes, str) or (classes is not None and len(classes) < 2):
        raise ValueError(f"classes={classes!r} must be None or a list of at least two labels")


class OnlinePerceptron(_core.OnlineLearner):
    """A perceptron that learns from one dict at a time.

    An example is a dict of feature to number; a string value ``{"colour": "red"}`` is the feature
    ``"colour=red"`` of value 1. Labels are any hashables. Features get their place, and classes
    theirs, when they are first learned from; `predict_one` and `score_one` never change the model.

    Parameters
    ----------
    rule : {"perceptron", "normalized", "margin", "pa", "pa1", "pa2"}
        How far an update goes: 1; 1/‖x‖; 1 whenever y·s ≤ `margin`; the passive-aggressive steps.
    average : bool
        Predict with the mean of the weights after each visit. Learning itself uses the last ones.
    fit_intercept : bool
        Give every example one more coordinate, always 1.
    classes : list, optional
        All labels, in the order that decides ties; any other label is then refused. Without it
        classes come in order of appearance.
    hash_bits : int, optional
        Fix the memory at 2**hash_bits weights per class: a feature's place is a hash of its name,
        the same in every process and on every machine. Values that meet at one place are added.
    seed : int
        Chooses the hash. Not used without `hash_bits`.
    margin : float
        The β of the margin rule.
    C : float
        The largest step of "pa1"; the softness of "pa2".
    ties : {"positive", "mistake"}
        Whether a score of exactly 0 predicts the second class (the lowest of several classes), or
        is a mistake whatever the label.

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
        been wrong. A label never seen before is always one. With ``ties="mistake"`` ties count.
    radius_ : float
        The largest norm of an example, intercept included.

    Notes
    -----
    *Names.* A feature's name is a str; an int or another key goes by its ``str()``, so 7 and "7"
    are one feature. A value is a float, int, bool or anything with ``__float__``; NaN and infinity
    are refused. An example that is refused leaves the model as it was.

    *Classes.* Two classes share one vector, the second is the positive one. With none or one known
    there is nothing to learn: visits are counted, and the mean includes them. When a third class
    appears, w becomes (−w, +w, 0), which is what the joint rule of three classes would hold had it
    made the same updates: the score s of the two classes becomes −s and +s, `score_one` a dict, and
    a tie, so far the second class's, goes to the lowest class. Later classes start at 0. Labels that
    are equal in Python (1, 1.0, True) are one class.

    *Same as in bulk.* Decisions are exact, so the same rows in the same order with the same declared
    classes give the weights of `Perceptron`, bit by bit.

    *Threads and processes.* A call holds the global interpreter lock from the moment its example is
    read to its end: calls from several threads follow one another in some order, and none is lost.
    There are no locks or threads inside, so a forked child has an independent copy. Pickles and deep
    copies hold the whole state and do not depend on Python's string hashing.

    Examples
    --------
    >>> from novikoff.online import OnlinePerceptron
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
    (6, 4, 2)
    """

    def __init__(
        self,
        rule: str = "perceptron",
        average: bool = False,
        fit_intercept: bool = True,
        classes: Sequence[Hashable] | None = None,
        hash_bits: int | None = None,
        seed: int = 0,
        *,
        margin: float = 0.0,
        C: float = 1.0,
        ties: str = "positive",
    ) -> None:
        _check_parameters(rule, margin, C, ties, classes, hash_bits, seed)
        self.rule = rule
        self.average = average
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.hash_bits = hash_bits
        self.seed = seed
        self.margin = margin
        self.C = C
        self.ties = ties
        super().__init__(
            rule,
            ties == "mistake",
            float(margin),
            float(C),
            bool(fit_intercept),
            bool(average),
            hash_bits,
            seed,
            None if classes is None else list(classes),
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
            w = (visits * w - state[sums]) / visits
        return np.ascontiguousarray(w.T)

    def get_params(self) -> dict[str, Any]:
        """The parameters given at construction, by name."""
        return {name: getattr(self, name) for name in _PARAMETERS}

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
        from novikoff.perceptron import Perceptron

        params = {
            name: getattr(self, name) for name in ("rule", "average", "fit_intercept", "margin", "C", "ties")
        }
        state = self._get_state()
        counts = {
            "n_mistakes": self.n_mistakes_,
            "n_updates": self.n_updates_,
            "n_visits": self.n_visits_,
            "step_sum": state["step_sum"],
            "radius": self.radius_,
        }
        return Perceptron._from_weights(
            self.coef_, self.intercept_, self.classes_, self.feature_names_in_, params, counts
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"attributes": dict(self.__dict__), "core": self._get_state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        attributes = state["attributes"]
        OnlinePerceptron.__init__(self, **{name: attributes[name] for name in _PARAMETERS})
        self.__dict__.update(attributes)
        self._set_state(state["core"])

    def __repr__(self) -> str:
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if repr(v) != repr(_PARAMETERS[k])]
        return f"OnlinePerceptron({', '.join(changed)})"


_PARAMETERS: dict[str, Any] = {
    "rule": "perceptron",
    "average": False,
    "fit_intercept": True,
    "classes": None,
    "hash_bits": None,
    "seed": 0,
    "margin": 0.0,
    "C": 1.0,
    "ties": "positive",
}
