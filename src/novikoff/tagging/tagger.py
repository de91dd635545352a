"""A trained sequence tagger as plain data: it tags, shows its weights, and can be saved to a file."""

from __future__ import annotations

import os
import reprlib
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.data import state as data_state
from novikoff.data.labels import as_text
from novikoff.data.text_labels import taken
from novikoff.modelfile import checks
from novikoff.modelfile.container import Arrays, Facts, read_file, write_file
from novikoff.parameters.parameter import is_whole
from novikoff.parameters.tagging import SCHEMES
from novikoff.shown import as_html, table_html
from novikoff.tagging import reading
from novikoff.tagging import training as tagging
from novikoff.tagging.chain import Allowed, ChainWeights, Counts, Pairs, Scorer
from novikoff.tagging.explanation import TagExplanation
from novikoff.tagging.features import SequenceFeatures, TemplateFeatures
from novikoff.tagging.made_once import made_once
from novikoff.tagging.sequences import Floats, Ids, Offsets, Sequences
from novikoff.tagging.spelling import Spelling
from novikoff.tagging.summary import summarize
from novikoff.training import state as training_state
from novikoff.training.report import Report
from novikoff.training.run import Record, Run

Labels = npt.NDArray[Any]

KIND = "tagger"
OFFSETS = "features.name_offsets"  # where each feature name begins


class PatternWarning(UserWarning):
    """A model file will load only with ``trust_patterns=True``."""


@dataclass(eq=False, repr=False)
class Tagger:
    """The content of a tagger's model file.

    Parameters
    ----------
    classes : array of labels, sorted
        The labels that have weights.
    features : NamedFeatures or TemplateFeatures
        Numbers the features of tokens.
    pairs : novikoff.tagging.chain.Pairs
        The nonzero weights of (feature, label) pairs, and the sums from which their means are computed.
    transitions, transition_sums : arrays of (labels, labels)
        The same for label bigrams, indexed by the label before and the label after.
    allowed : novikoff.tagging.chain.Allowed
        Which label may follow which.
    counts : novikoff.tagging.chain.Counts
    n_seen : int
        Number of features seen in training; a file contains only those with a weight.
    parameters : dict
        Training parameters, as far as JSON can represent them.
    run : novikoff.training.run.Run, optional
        The record of training.
    name, order : str
        Names for the report: of the model, and of the order of the sentences.
    written : str, optional
        The scheme of chunk labels in which predictions are written, if it is not that of `classes`.

    Examples
    --------
    >>> import tempfile, novikoff
    >>> X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=a"], ["w=cat"], ["w=sleeps"]]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"]]
    >>> tagger = novikoff.SequenceTagger(random_state=0).fit(X, y).to_model()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tagger.save(f"{folder}/pos.novikoff")
    ...     loaded = novikoff.load_model(f"{folder}/pos.novikoff")
    >>> loaded
    Tagger(name='SequenceTagger', n_features=0, classes=['DET', 'NOUN', 'VERB'])
    >>> loaded.predict([[["w=a"], ["w=dog"], ["w=sleeps"]], []])
    [['DET', 'NOUN', 'VERB'], []]
    >>> loaded.predict_one([["w=the"], ["w=cat"]])
    ['DET', 'NOUN']
    """

    classes: Labels
    features: SequenceFeatures
    pairs: Pairs
    transitions: Floats
    transition_sums: Floats | None
    allowed: Allowed
    counts: Counts
    n_seen: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)
    run: Run | None = None
    name: str = "SequenceTagger"
    order: str = "shuffle"
    written: str | None = None

    @classmethod
    def of(
        cls, classes: Labels, features: SequenceFeatures, weights: ChainWeights, pairs: Pairs, **rest: Any
    ) -> Tagger:
        """The tagger with these trained weights."""
        bigrams, sums = weights.bigrams()
        seen = features.n_columns
        return cls(classes, features, pairs, bigrams, sums, weights.allowed, weights.counts, seen, **rest)

    def __repr__(self) -> str:
        shown = {"name": repr(self.name), "n_features": str(self.features.n_columns)}
        shown["classes"] = reprlib.repr(self.labels.tolist())
        return f"Tagger({', '.join(map('='.join, shown.items()))})"

    def _repr_html_(self) -> str:
        """Its report, with the labels that it writes."""
        labels = ", ".join(as_text(label) for label in self.labels.tolist())
        about = table_html([("labels", labels), ("features", f"{self.n_seen:,} ({self.features.kind})")])
        return f"{as_html(repr(self)) if self.report is None else self.report._repr_html_()}{about}"

    # -- inspection --------------------------------------------------------------------------------
    @made_once
    def labels(self) -> Labels:
        """The labels that `predict` writes."""
        return self.writing()[0]

    @property
    def history(self) -> list[Record]:
        """One record per epoch."""
        return [] if self.run is None else self.run.history

    @property
    def report(self) -> Report | None:
        """The report of the training run."""
        if self.run is None:
            return None
        shown = self.n_seen, len(self.classes), self.name, self.order
        return summarize(self.counts, self.run, *shown, averaged=self.pairs.u is not None)

    @made_once
    def scorer(self) -> Scorer:
        """Decodes with the averaged weights if there are any, else with the last ones."""
        return Scorer(self.pairs, self.transitions, self.transition_sums, self.allowed, self.counts.visits)

    def weights(self) -> ChainWeights:
        """A dense copy of the weights, for further training."""
        parts = self.pairs, self.transitions, self.transition_sums, self.allowed, self.counts
        return ChainWeights.from_pairs(*parts)

    def top_features(
        self, label: Any = None, n: int = 20, *, against: bool = False
    ) -> list[tuple[str, Any, float]]:
        """The n largest (feature, label, weight), of one `label` or all; `against`: the most negative."""
        w = self.scorer.w / self.scorer.scale
        chosen = (
            np.arange(len(w)) if label is None else np.flatnonzero(self.pairs.label == self._index(label))
        )
        signed = -w[chosen] if against else w[chosen]
        chosen, signed = chosen[signed > 0], signed[signed > 0]
        first = chosen[np.argsort(-signed, kind="stable")[:n]]
        rows = self.pairs.feature[np.searchsorted(self.pairs.at, first, side="right") - 1]
        names, labels = self.features.names(rows.tolist()), self.classes[self.pairs.label[first]].tolist()
        return list(zip(names, labels, w[first].tolist(), strict=True))

    def top_transitions(self, n: int = 20, *, against: bool = False) -> list[tuple[Any, Any, float]]:
        """The n largest (label before, label after, weight); with `against`, the most negative."""
        a = self.scorer.a / self.scorer.scale
        signed = np.where(self.allowed.step, -a if against else a, 0.0).reshape(-1)
        first = np.argsort(-signed, kind="stable")[:n]
        first = first[signed[first] > 0]
        labels = self.classes.tolist()
        k = len(labels)
        return [(labels[j // k], labels[j % k], float(a.reshape(-1)[j])) for j in first.tolist()]

    def _index(self, label: Any) -> int:
        places = np.flatnonzero(self.classes == label)
        if not len(places):
            raise ValueError(f"the model has no label {label!r}; it has {self.classes.tolist()}")
        return int(places[0])

    # -- using it ----------------------------------------------------------------------------------
    def sequences(self, X: Any) -> Sequences:
        """Sentences as feature numbers of this model; `Sequences` are returned unchanged."""
        return X if isinstance(X, Sequences) else reading.sequences(X, self.features)

    def predict(self, X: Any, n_jobs: int | None = None) -> list[list[Any]]:
        """The labels of each sentence."""
        x = self.sequences(X)
        labels, write = self.writing()
        return x.parts(taken(labels, write(x.starts, tagging.tag(self.scorer, x, n_jobs))).tolist())

    tag = predict

    def predict_one(self, sentence: Any) -> list[Any]:
        """The labels of one sentence."""
        return self.predict([sentence])[0]

    def predict_k(self, X: Any, k: int, n_jobs: int | None = None) -> list[list[tuple[list[Any], float]]]:
        """For each sentence the k best labellings with their scores, best first.

        The list is exact: no other labelling scores higher than its last. It is shorter than k if fewer
        labellings are allowed. Among equal scores, the labelling that is smallest when read from the end
        comes first, so the first is that of `predict`.
        """
        if not is_whole(1)(k):
            raise ValueError(f"k={k!r} is not possible: expected a whole number ≥ 1.")
        labels, write = self.writing()
        found = self.best(self.sequences(X), int(k), write, n_jobs)
        return [[(taken(labels, y).tolist(), score) for score, y in best] for best in found]

    def best(
        self, x: Sequences, k: int, write: Callable[[Offsets, Ids], Ids], n_jobs: int | None = None
    ) -> list[list[tuple[float, Ids]]]:
        """The k best labellings as `write` writes them, each once, with their scores."""
        asked = k
        while True:
            found = tagging.k_best(self.scorer, x, asked, n_jobs)
            out, complete = [], True
            for best in found:
                own: dict[bytes, tuple[float, Ids]] = {}
                for score, y in best:
                    text = write(np.array([0, len(y)]), y)
                    own.setdefault(text.tobytes(), (score, text))
                complete = complete and (len(own) >= k or len(best) < asked)
                out.append(list(own.values())[:k])
            if complete:
                return out
            asked *= 2  # several labellings were written alike

    def writing(self, scheme: str | None = None) -> tuple[Labels, Callable[[Offsets, Ids], Ids]]:
        """The labels of predictions in a scheme, and the function that gives their numbers.

        The function takes the numbers of `classes` of all tokens, and where each sentence starts. Without a
        scheme, labels are written as in the training data.
        """
        spelling = Spelling(self.classes, scheme or self.written)
        return spelling.labels, spelling.write

    def explain(self, sentence: Any) -> TagExplanation:
        """Why a sentence gets its labels: each token's label, and the terms of its score, largest first.

        A term is a feature with its weight for the label times its value, or the weight of the label behind
        the label before, named ``after`` and that label. All terms of all tokens add up to the score of the
        labelling. The labels are those that have weights (`classes`).

        >>> import novikoff
        >>> X, y = [[["w=dogs"]], [["w=the"], ["w=dog"]]], [["NOUN"], ["DET", "NOUN"]]
        >>> tagger = novikoff.SequenceTagger(random_state=0, average=False).fit(X, y).to_model()
        >>> tagger.explain([["w=dogs"]])
        [('NOUN', [('w=dogs', 1.0)])]
        """
        x = self.sequences([sentence])
        tags = tagging.tag(self.scorer, x).tolist()
        scorer, labels, out = self.scorer, self.classes.tolist(), TagExplanation()
        for t, c in enumerate(tags):
            at = slice(int(x.indptr[t]), int(x.indptr[t + 1]))
            names = self.features.names(x.ids[at].tolist())
            values = [1.0] * len(names) if x.values is None else x.values[at].tolist()
            weights = [self._weight(f, c) for f in x.ids[at].tolist()]
            terms = [(name, w * v) for name, w, v in zip(names, weights, values, strict=True) if w]
            if t and (step := float(scorer.a[tags[t - 1], c] / scorer.scale)):
                terms.append((f"after {labels[tags[t - 1]]}", step))
            out.append((labels[c], sorted(terms, key=lambda term: -abs(term[1]))))
        return out

    def _weight(self, feature: int, label: int) -> float:
        """The weight of a pair."""
        pairs, i = self.pairs, int(np.searchsorted(self.pairs.feature, feature))
        if i == len(pairs.feature) or pairs.feature[i] != feature:
            return 0.0
        begin, end = int(pairs.at[i]), int(pairs.at[i + 1])
        places = np.flatnonzero(pairs.label[begin:end] == label)
        return float(self.scorer.w[begin + places[0]] / self.scorer.scale) if len(places) else 0.0

    def scores(self, X: Any, n_jobs: int | None = None) -> list[Floats]:
        """One array (tokens, labels) per sentence: the score of the best labelling with that label there.

        The largest value of each row is the score of the best labelling overall; −∞: none is allowed.
        """
        x = self.sequences(X)
        return x.parts(tagging.max_marginals(self.scorer, x, n_jobs))

    def margins(self, X: Any, n_jobs: int | None = None) -> list[Floats]:
        """For each token, by how much the best labelling beats the best one with another label there."""
        x = self.sequences(X)
        scores = tagging.max_marginals(self.scorer, x, n_jobs)
        if scores.shape[1] < 2:
            return x.parts(np.full(len(scores), np.inf))
        top = np.partition(scores, -2, axis=1)
        return x.parts(top[:, -1] - top[:, -2])

    # -- files -------------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, atomically; equal models give equal files.

        Only nonzero weights are written, each array in the narrowest type that holds its numbers exactly,
        and only the names of features that have one. Training can be continued from the file.

        Warns
        -----
        PatternWarning
            If a template has a regular expression that `load` accepts only with ``trust_patterns=True``.
        """
        if isinstance(self.features, TemplateFeatures) and (slow := self.features.templates.slow_patterns()):
            warnings.warn(
                f"{os.fspath(path)}: the pattern {slow[0]!r} of the templates is not known to be matched in "
                "linear time: loading the file will need trust_patterns=True.",
                PatternWarning,
                stacklevel=2,
            )
        write_file(path, *self.state(), KIND)

    def state(self) -> tuple[Facts, Arrays]:
        """The content of a model file: facts and arrays."""
        count = np.diff(self.pairs.at)
        used = self.pairs.feature[count > 0]
        hashed = self.features.hash_bits is not None
        features = self.features
        if not hashed and len(used) < self.pairs.n_features:
            kept = np.zeros(self.pairs.n_features, dtype=bool)
            kept[used] = True
            features = self.features.some(kept)
        parts = {
            "classes": data_state.classes_state(self.classes),
            "features": data_state.features_state(features),
        }
        if self.run is not None:
            parts["run"] = training_state.run_state(self.run)
        facts, arrays = checks.together(parts)
        own: Arrays = {
            "pairs.count": count[count > 0],
            "pairs.label": self.pairs.label,
            "pairs.w": self.pairs.w,
            "transitions.w": self.transitions,
            "allowed.step": self.allowed.step,
            "allowed.start": self.allowed.start,
            "allowed.end": self.allowed.end,
        }
        if hashed:
            own["pairs.place"] = used
        if self.pairs.u is not None and self.transition_sums is not None:
            own |= {"pairs.u": self.pairs.u, "transitions.u": self.transition_sums}
        if OFFSETS in arrays:
            own[OFFSETS] = arrays[OFFSETS]
        facts |= {"parameters": self.parameters, "name": self.name, "order": self.order}
        if self.written is not None:
            facts["written"] = self.written
        facts |= {"n_labels": len(self.classes), "n_seen": self.n_seen, "counts": asdict(self.counts)}
        return facts, arrays | {name: narrow(a) for name, a in own.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (*self.state(), self.run)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, trust_patterns: bool = False) -> Tagger:
        """Load a tagger that `save` wrote. Runs no code from the file; checks all of it.

        `trust_patterns` is as in `novikoff.load_model`.
        """
        facts, arrays = read_file(path, KIND)
        try:
            return cls.from_state(facts, arrays, trust_patterns=trust_patterns)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    @classmethod
    def from_state(cls, facts: Facts, arrays: Arrays, *, trust_patterns: bool = False) -> Tagger:
        """The tagger from a file's facts and arrays; a ValueError if they are inconsistent."""
        n = checks.count(facts, "n_labels", 1, 1 << 20)
        part = partial(checks.part, facts, arrays)

        def numbers(name: str, kind: Any, shape: tuple[int | None, ...]) -> Any:
            return checks.array(_widened(arrays, name, kind), name, kind, shape)

        arrays |= _widened(arrays, OFFSETS, np.int64)
        features = data_state.features_from_state(*part("features"), None, trust_patterns=trust_patterns)
        if not isinstance(features, SequenceFeatures):
            raise ValueError(f"its features are {features.kind}, which a tagger does not have")
        count = numbers("pairs.count", np.int64, (None if features.hash_bits else features.n_columns,))
        place = np.arange(len(count))
        if features.hash_bits:
            place = numbers("pairs.place", np.int64, (len(count),))
            if len(place) and (
                place[0] < 0 or place[-1] >= features.n_columns or (np.diff(place) <= 0).any()
            ):
                raise ValueError(f"the places of features do not rise from 0 to below {features.n_columns}")
        label = numbers("pairs.label", np.int32, (None,))
        if (count < 0).any() or (count > len(label)).any() or ((label < 0) | (label >= n)).any():
            raise ValueError("the weights refer to labels that do not exist")
        total = int(count.sum())
        label = numbers("pairs.label", np.int32, (total,))
        averaged = "pairs.u" in arrays
        at = np.concatenate([[0], np.cumsum(count)])
        stored = {"fractional": 1} | checks.fact(facts, "counts", dict)  # not in files of earlier versions
        counts = Counts()
        for name, value in vars(counts).items():
            whole = isinstance(value, int)
            setattr(counts, name, checks.count(stored, name) if whole else checks.number(stored, name, 0.0))
        return cls(
            data_state.classes_from_state(*part("classes"), n),
            features,
            Pairs(
                features.n_columns,
                place,
                at,
                label,
                numbers("pairs.w", np.float64, (total,)),
                numbers("pairs.u", np.float64, (total,)) if averaged else None,
            ),
            numbers("transitions.w", np.float64, (n, n)),
            numbers("transitions.u", np.float64, (n, n)) if averaged else None,
            Allowed(
                checks.array(arrays, "allowed.step", np.uint8, (n, n)),
                checks.array(arrays, "allowed.start", np.uint8, (n,)),
                checks.array(arrays, "allowed.end", np.uint8, (n,)),
            ),
            counts,
            checks.count(facts, "n_seen"),
            parameters=checks.fact(facts, "parameters", dict),
            run=training_state.run_from_state(*part("run")) if "run" in facts else None,
            name=checks.fact(facts, "name", str),
            order=checks.fact(facts, "order", str),
            written=_scheme_from(facts),
        )


def _scheme_from(facts: Facts) -> str | None:
    """The scheme of predictions in a file; earlier versions had none."""
    scheme = checks.fact(facts, "written", str) if "written" in facts else None
    if scheme is not None and scheme not in SCHEMES:
        raise ValueError(f"the labels are written in the scheme {scheme!r}, which does not exist")
    return scheme


def narrow(a: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers in the narrowest type that holds them all exactly.

    >>> narrow(np.array([3.0, -200.0])).dtype, narrow(np.array([0.5])).dtype
    (dtype('int16'), dtype('float64'))
    """
    if a.dtype.kind not in "iuf" or a.dtype.itemsize == 1:
        return a
    low, high = (float(a.min()), float(a.max())) if a.size else (0.0, 0.0)
    if a.dtype.kind == "f" and (max(-low, high) >= 2.0**53 or (a != np.trunc(a)).any()):
        return a
    kinds: Iterable[Any] = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.int64)
    kind = next(k for k in kinds if np.iinfo(k).min <= low and high <= np.iinfo(k).max)
    return a.astype(kind)


def _widened(arrays: Arrays, name: str, kind: Any) -> Arrays:
    """The array as it was before `narrow`, if it has a type that `narrow` may have chosen."""
    found = arrays.get(name)
    if found is None or found.dtype.kind not in "iu":
        return arrays
    return {name: found.astype(kind)}


def _rebuilt(facts: Facts, arrays: Arrays, run: Run | None) -> Tagger:
    """A tagger from another process. Its run includes the seconds, which files omit."""
    tagger = Tagger.from_state(facts, arrays, trust_patterns=True)
    tagger.run = run
    return tagger
