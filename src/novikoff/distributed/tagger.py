"""`DistributedTagger`: `SequenceTagger` on a Dask cluster."""

from __future__ import annotations

from typing import Any, Self

from novikoff.distributed.checkpoint import kept_in
from novikoff.distributed.cluster import session
from novikoff.distributed.estimator import OnCluster
from novikoff.distributed.files import are_paths
from novikoff.distributed.rounds import trainer_of
from novikoff.distributed.sentences import load_files, load_lists
from novikoff.distributed.tagging_shard import ChainMethod
from novikoff.parameters.table import DISTRIBUTED_TAGGER_PARAMETERS, check_parameters, default, document
from novikoff.tagging import reading
from novikoff.tagging.estimator import TaggerEstimator
from novikoff.tagging.tagger import Tagger
from novikoff.training.loop import train


def _default(name: str) -> Any:
    return default(name, DISTRIBUTED_TAGGER_PARAMETERS)


class DistributedTagger(OnCluster, TaggerEstimator):
    """A sequence tagger that learns on a Dask cluster, by iterative parameter mixing.

    Every shard of sentences learns an epoch from the shared weights; the new shared weights are the mixture
    of what the shards have then (McDonald, Hall and Mann 2010, who tagged named entities so). With one shard
    this is `SequenceTagger`; with more it depends on how the sentences are sharded, but not on the number of
    workers, their speed or their deaths.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_, n_features_in_, converged_, verdict_, margin_, margin_upper_, radius_, training_errors_ …
        As those of `SequenceTagger`. `converged_`: an epoch passed without an update on any shard.
    n_shards_ : int
        Shards of the fit.
    mixed_mistakes_ : float
        Σ μ·k over epochs and shards: mistakes that moved the weights, each counted by the mixing weight of
        its shard. The bound R²/γ² is on this sum.
    history_ : list of dict
        Per epoch what `DistributedPerceptron` has.

    Examples
    --------
    >>> from novikoff.dask import DistributedTagger
    >>> X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=cats"], ["w=sleep"]], [["w=a"], ["w=cat"]]]
    >>> y = [["DET", "NOUN", "VERB"], ["NOUN", "VERB"], ["DET", "NOUN"]]
    >>> tagger = DistributedTagger(n_shards=2, random_state=0).fit(X, y)      # doctest: +SKIP
    >>> tagger.predict([[["w=a"], ["w=dog"], ["w=sleep"]]])                   # doctest: +SKIP
    [['DET', 'NOUN', 'VERB']]
    """

    _names = (
        "features",
        "average",
        "max_epochs",
        "order",
        "random_state",
        "min_count",
        "transitions",
        "hash_bits",
        "n_jobs",
        "verbose",
        "callback",
        "mixing",
        "n_shards",
        "client",
        "checkpoint",
    )
    _table = DISTRIBUTED_TAGGER_PARAMETERS

    def __init__(
        self,
        *,
        features: Any = _default("features"),
        average: bool = _default("average"),
        max_epochs: int = _default("max_epochs"),
        order: str = _default("order"),
        random_state: Any = _default("random_state"),
        min_count: int = _default("min_count"),
        transitions: str = _default("transitions"),
        hash_bits: int | None = _default("hash_bits"),
        n_jobs: int | None = _default("n_jobs"),
        verbose: int = _default("verbose"),
        callback: Any = _default("callback"),
        mixing: str = _default("mixing"),
        n_shards: int | None = _default("n_shards"),
        client: Any = _default("client"),
        checkpoint: Any = _default("checkpoint"),
    ) -> None:
        self.features = features
        self.average = average
        self.max_epochs = max_epochs
        self.order = order
        self.random_state = random_state
        self.min_count = min_count
        self.transitions = transitions
        self.hash_bits = hash_bits
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.mixing = mixing
        self.n_shards = n_shards
        self.client = client
        self.checkpoint = checkpoint

    # -- learning ------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any = None, **options: Any) -> Self:
        """Learn from sentences X and their labels y, or from files.

        Parameters
        ----------
        X : list of sentences, or names of files
            A list as `SequenceTagger` takes it, which is cut into `n_shards`. Or files, by a list of names or
            a pattern, which the workers read as `novikoff.tagging.conll.open_sentences` does. Each file is
            a shard, or all sentences are cut into `n_shards` of as many neighbours.
        y : list of label lists, one label a token
            None for files, which have their own.
        **options
            How to read files: what `open_sentences` takes.
        """
        check_parameters(self, self._names, self._table)
        features = reading.begin(self._templates(), self.hash_bits)
        about = self._about()
        kept = kept_in(self.checkpoint, about["parameters"] | {"features": features.state()[0]})
        how = self.n_shards, int(self.min_count), self.transitions
        plan = self._plan()
        with session(self.client, kept) as own:
            if are_paths(X):
                if y is not None:
                    raise ValueError("files have their own labels: leave out y.")
                shards = load_files(own, X, features, *how, options)
            elif options:
                raise TypeError(f"{next(iter(options))} is an option for reading files, but X is none.")
            else:
                shards = load_lists(own, X, y, features, *how)
            n_features = shards.features.n_columns
            method = ChainMethod(n_features, shards.allowed, bool(self.average), self.order)
            trainer = trainer_of(own, shards.futures, method, method.begin(), plan, self.mixing, kept)
            run = train(trainer, trainer.plan, trainer.run)
            weights = method.weights(trainer.bring(), trainer.standing)
        tagger = Tagger.of(shards.classes, shards.features, weights, weights.pairs(), run=run, **about)
        self._finish(tagger)
        if kept is not None:
            kept.remove()
        return self

    def _set_tagger(self, tagger: Tagger) -> None:
        super()._set_tagger(tagger)
        if tagger.run is not None:
            self.n_shards_, self.mixed_mistakes_ = tagger.run.n_shards, tagger.run.mixed

    def _about(self) -> dict[str, Any]:
        about = super()._about()
        about["parameters"] |= {"client": self._address(), "checkpoint": None}
        return about


document(DistributedTagger, DistributedTagger._names, DISTRIBUTED_TAGGER_PARAMETERS)
