"""`DistributedTagger`: `SequenceTagger` on a Dask cluster."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

from novikoff.distributed.checkpoint import kept_in
from novikoff.distributed.cluster import session
from novikoff.distributed.estimator import OnCluster
from novikoff.distributed.files import are_paths
from novikoff.distributed.rounds import trainer_of
from novikoff.distributed.sentences import load_files, load_lists
from novikoff.distributed.tagging_shard import ChainMethod
from novikoff.parameters.distributed import DISTRIBUTED_TAGGER_PARAMETERS
from novikoff.parameters.parameter import DEFAULT, check_parameters, with_parameters
from novikoff.tagging import reading
from novikoff.tagging.estimator import TaggerEstimator
from novikoff.tagging.tagger import Tagger
from novikoff.training.loop import train
from novikoff.training.plan import Plan


@with_parameters(DISTRIBUTED_TAGGER_PARAMETERS)
class DistributedTagger(OnCluster, TaggerEstimator):
    """A sequence tagger that learns on a Dask cluster, by iterative parameter mixing.

    Every shard of sentences learns one epoch from the shared weights; the new shared weights are a mixture of
    the shards' weights (McDonald, Hall and Mann 2010, for named entities). With one shard this is
    `SequenceTagger`. With more, the result depends on how the sentences are sharded, but not on the number,
    speed or failure of workers.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_, n_features_in_, converged_, verdict_, margin_, margin_upper_, radius_, training_errors_ …
        As in `SequenceTagger`. `converged_`: whether an epoch passed without an update on any shard.
    n_shards_ : int
        Number of shards of the fit.
    mixed_mistakes_ : float
        Σ μ·k over epochs and shards: mistakes that changed the weights, each multiplied by the mixing weight
        of its shard. The bound R²/γ² is on this sum.
    history_ : list of dict
        Per epoch, as in `DistributedPerceptron`.

    Examples
    --------
    >>> from novikoff.dask import DistributedTagger
    >>> X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=cats"], ["w=sleep"]], [["w=a"], ["w=cat"]]]
    >>> y = [["DET", "NOUN", "VERB"], ["NOUN", "VERB"], ["DET", "NOUN"]]
    >>> tagger = DistributedTagger(n_shards=2, random_state=0).fit(X, y)      # doctest: +SKIP
    >>> tagger.predict([[["w=a"], ["w=dog"], ["w=sleep"]]])                   # doctest: +SKIP
    [['DET', 'NOUN', 'VERB']]
    """

    _: KW_ONLY
    features: Any = DEFAULT
    average: bool = DEFAULT
    max_epochs: int = DEFAULT
    order: str = DEFAULT
    random_state: Any = DEFAULT
    min_count: int = DEFAULT
    transitions: str = DEFAULT
    hash_bits: int | None = DEFAULT
    n_jobs: int | None = DEFAULT
    verbose: int = DEFAULT
    callback: Any = DEFAULT
    mixing: str = DEFAULT
    n_shards: int | None = DEFAULT
    client: Any = DEFAULT
    checkpoint: Any = DEFAULT

    # -- learning ------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any = None, **options: Any) -> Self:
        """Learn from sentences X and their labels y, or from files.

        Parameters
        ----------
        X : list of sentences, or names of files
            A list as for `SequenceTagger`, which is split into `n_shards`. Or files, given as a list of names
            or a pattern, which the workers read with `novikoff.tagging.conll.open_sentences`. Each file is
            a shard, or all sentences are split into `n_shards` of equal numbers of consecutive sentences.
        y : list of label lists, one label per token
            None for files, which contain labels.
        **options
            Options of `open_sentences` for reading files.
        """
        check_parameters(self)
        features = reading.begin(self._templates(), self.hash_bits)
        about = self._about()
        kept = kept_in(self.checkpoint, about["parameters"] | {"features": features.state()[0]})
        how = self.n_shards, int(self.min_count), self.transitions
        plan = Plan.of(self)
        with session(self.client, kept) as own:
            if are_paths(X):
                if y is not None:
                    raise ValueError("files have their own labels: leave out y.")
                shards = load_files(own, X, features, *how, options)
            elif options:
                raise TypeError(f"{next(iter(options))} is an option for reading files, but X is not a file.")
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
