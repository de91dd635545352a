"""Other kinds of models on a real cluster of processes: hashed features, and taggers of sequences."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

from distributed import Client, LocalCluster
from novikoff import OnlinePerceptron, SequenceTagger, load_model, open_source
from novikoff.dask import DistributedPerceptron, DistributedTagger
from novikoff.data.sources.features import NamedFeatures
from novikoff.distributed.cluster import local_cluster
from novikoff.distributed.linear_shard import generator_at, order_states
from novikoff.reference.mixing import MixingTwin
from novikoff.reference.tagging import Rules
from novikoff.reference.tagging import Twin as ChainTwin
from novikoff.tagging.constraints import allowed
from novikoff.tagging.sequences import Sequences
from novikoff.tagging.tagger import Tagger
from novikoff.tagging.templates import Templates
from support.marks import may_not_separate
from support.sentences import corpus, listed

pytestmark = may_not_separate


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


# ---- hashed models -------------------------------------------------------------------------------------
def rows_of_words(n, seed):
    """Dicts of words, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    words = [f"word{k}" for k in range(40)]
    rows = [dict.fromkeys(rng.choice(words, 5, replace=False).tolist(), 1.0) for _ in range(n)]
    return rows, ["yes" if any(w < "word2" for w in row) else "no" for row in rows]


@pytest.fixture
def json_files(tmp_path):
    paths = []
    for k in range(3):
        rows, labels = rows_of_words(30, seed=k)
        path = tmp_path / f"part{k}.jsonl"
        path.write_text(
            "".join(json.dumps({"label": y} | row) + "\n" for row, y in zip(rows, labels, strict=True))
        )
        paths.append(path)
    return paths


def test_one_shard_of_hashed_names_is_the_online_perceptron(client, json_files):
    model = DistributedPerceptron(max_epochs=1, average=True, client=client, n_shards=1)
    model.fit(json_files, hash_bits=5, seed=3)
    online = OnlinePerceptron(average=True, hash_bits=5, seed=3, classes=["no", "yes"])
    for k in range(3):
        online.learn_many(zip(*rows_of_words(30, seed=k), strict=True))
    assert model.coef_.tobytes() == online.coef_.tobytes() and model.coef_.shape == (1, 32)
    assert model.intercept_.tobytes() == online.intercept_.tobytes()


@pytest.mark.parametrize("suffix", ["jsonl", "vw"])
def test_shards_of_hashed_names_are_those_of_their_columns(client, json_files, tmp_path, suffix):
    """The same rows as arrays, which the tests of arrays compare with the twin."""
    paths = json_files
    if suffix == "vw":
        paths = [path.with_suffix(".vw") for path in json_files]
        for k, path in enumerate(paths):
            rows, labels = rows_of_words(30, seed=k)
            lines = (
                f"{2 * (y == 'yes') - 1} | {' '.join(row)}\n" for row, y in zip(rows, labels, strict=True)
            )
            path.write_text("".join(lines))
    how = {"average": True, "max_epochs": 4, "client": client, "mixing": "updates"}
    model = DistributedPerceptron(**how).fit(paths, hash_bits=5)
    X, y = [], []
    for path in paths:
        for block in open_source(path, hash_bits=5).blocks():
            dense = np.zeros(block.X.shape)
            row = np.repeat(np.arange(block.X.shape[0]), np.diff(block.X.indptr))
            np.add.at(dense, (row, block.X.indices), block.X.data)
            X.append(dense)
            y.append(block.labels)
    columns = da.from_array(np.concatenate(X), chunks=(30, 32)), da.from_array(np.concatenate(y), chunks=30)
    expected = DistributedPerceptron(order="cyclic", **how).fit(*columns)
    assert model.coef_.tobytes() == expected.coef_.tobytes() and model.n_shards_ == 3
    model.save(tmp_path / "hashed.novikoff")
    loaded = load_model(tmp_path / "hashed.novikoff")
    assert isinstance(loaded.features, NamedFeatures) and loaded.features.hash_bits == 5
    source = open_source(paths, hash_bits=5)
    assert sum(block.n_rows for block in source.blocks()) == 90
    assert loaded.features.names(range(32)) == source.features.names(range(32))  # as one reader names them


# ---- taggers -------------------------------------------------------------------------------------------
WORDS, Y = corpus(41, noise=0.1)
X = listed(WORDS)
VALUED = [[{name: 0.1 * (1 + j) for j, name in enumerate(token)} for token in sentence] for sentence in X]


class MixedChain(ChainTwin):
    """The plain twin of the tagger, under the names by which the twin of mixing knows what is mixed."""

    step_sum = 0.0
    weights = property(lambda self: self.w, lambda self, value: setattr(self, "w", value))
    weight_sums = property(lambda self: self.u, lambda self, value: setattr(self, "u", value))
    bias = property(lambda self: self.a, lambda self, value: setattr(self, "a", value))
    bias_sums = property(lambda self: self.ua, lambda self, value: setattr(self, "ua", value))


def state(model):
    """Everything that a tagger has learned, as it would be written to a file."""
    facts, arrays = model.to_model().state()
    kept = {name: facts[name] for name in ("counts", "classes", "features", "n_seen", "n_labels")}
    run = facts["run"]
    kept |= {name: run[name] for name in ("converged", "verdict", "margin", "training_errors", "n_rows")}
    names = ("epoch", "mistakes", "updates", "norm")
    kept["history"] = [{name: record[name] for name in names} for record in run["history"]]
    return kept, {name: (a.dtype.str, a.tobytes()) for name, a in arrays.items()}


@pytest.mark.parametrize("data", [X, VALUED], ids=["names", "values"])
@pytest.mark.parametrize("mixing", ["uniform", "updates"])
def test_taggers_are_mixed_as_the_plain_loop_mixes_them(client, data, mixing):
    """McDonald, Hall and Mann's algorithm: every shard's epoch by the twin, then the twin of mixing."""
    model = DistributedTagger(n_shards=3, mixing=mixing, max_epochs=4, random_state=2, client=client)
    model.fit(data, Y)
    x, _ = Sequences.from_lists(data)
    values = np.ones(len(x.ids)) if x.values is None else x.values
    tokens = [
        list(zip(x.ids[a:b].tolist(), values[a:b].tolist(), strict=True))
        for a, b in zip(x.indptr[:-1], x.indptr[1:], strict=True)
    ]
    sentences = x.parts(tokens)
    index = {label: c for c, label in enumerate(model.classes_.tolist())}
    labels = [[index[label] for label in sentence] for sentence in Y]
    flat = np.concatenate(labels).astype(np.int32)
    may = allowed("first-order", model.classes_.tolist(), x, flat)
    chain = MixedChain(int(x.ids.max()) + 1, len(index), Rules(may.step, may.start, may.end))
    twin = MixingTwin(chain, mixing)
    cuts = [len(X) * k // 3 for k in range(4)]
    orders = [generator_at(s) for s in order_states(np.random.default_rng(2), 3)]
    for record in model.history_:
        ends = []
        for a, b, rng in zip(cuts, cuts[1:], orders, strict=False):
            end = pickle.loads(pickle.dumps(twin.shared))
            end.epoch(sentences, labels, a + rng.permutation(b - a))
            end.step_sum += end.updates - twin.shared.updates
            ends.append(end)
        twin.mix(ends)
        assert record["shard_mistakes"] == twin.mistakes[-1]
        assert record["mixing_weights"] == twin.weights[-1]
        radius2 = max(end.radius2 for end in ends)
        twin.shared.radius2 = max(radius2, twin.shared.radius2)
    made = model.to_model().weights()
    assert np.array_equal(made.dense(made.emissions), twin.shared.w)
    assert np.array_equal(made.dense(made.emission_sums), twin.shared.u)
    assert np.array_equal(made.bigrams()[0], twin.shared.a)
    assert np.array_equal(made.bigrams()[1], twin.shared.ua)
    assert (model.n_mistakes_, model.n_updates_) == (twin.shared.mistakes, twin.shared.updates)
    assert model.mixed_mistakes_ == pytest.approx(twin.shared.step_sum)
    assert model.radius_ == pytest.approx(np.sqrt(twin.shared.radius2))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"average": False, "order": "cyclic", "transitions": "any"},
        {"min_count": 3, "mixing": "updates"},
        {"hash_bits": 4},
    ],
)
def test_one_shard_is_the_sequence_tagger(client, options):
    own = {name: value for name, value in options.items() if name != "mixing"}
    alone = SequenceTagger(max_epochs=5, random_state=1, **own).fit(X, Y)
    model = DistributedTagger(max_epochs=5, random_state=1, n_shards=1, client=client, **options).fit(X, Y)
    assert state(model) == state(alone)
    assert model.predict(X) == alone.predict(X)
    assert (model.margin_upper_, model.radius_) == (alone.margin_upper_, alone.radius_)


def test_values_that_are_not_whole_too(client):
    alone = SequenceTagger(max_epochs=5, random_state=1).fit(VALUED, Y).to_model()
    model = DistributedTagger(max_epochs=5, random_state=1, n_shards=1, client=client)
    mixed = model.fit(VALUED, Y).to_model()
    for name in ("w", "u", "at", "label"):
        assert getattr(mixed.pairs, name).tobytes() == getattr(alone.pairs, name).tobytes()
    assert mixed.transitions.tobytes() == alone.transitions.tobytes()


@pytest.fixture
def conll(tmp_path):
    """The sentences in two files of columns, of very different size."""
    for name, part in (("a.txt", slice(0, 6)), ("b.txt", slice(6, None))):
        text = "\n".join(
            "".join(f"{w} {t}\n" for w, t in zip(words, tags, strict=True))
            for words, tags in zip(WORDS[part], Y[part], strict=True)
        )
        (tmp_path / name).write_text(text)
    return [tmp_path / "a.txt", tmp_path / "b.txt"]


TEMPLATES = Templates(["columns: w", "w[-1..1]", "suffix(w[0],2)", "__BOS__"])


@pytest.mark.parametrize("options", [{}, {"min_count": 2}, {"hash_bits": 5, "min_count": 2}])
def test_files_are_the_same_sentences(client, conll, options):
    """Read by the workers, each numbering features by itself: the same model as from lists, name by name."""
    made = DistributedTagger(features=TEMPLATES, random_state=4, max_epochs=3, client=client, **options)
    tokens = [[(word,) for word in sentence] for sentence in WORDS]
    model = clone(made).set_params(n_shards=4)
    assert state(clone(model).fit(conll)) == state(clone(model).fit(tokens, Y))
    each = clone(made).fit([str(path) for path in conll])
    assert each.n_shards_ == 2 and each.history_[0]["mixing_weights"] == [0.5, 0.5]
    assert [len(record["shard_mistakes"]) for record in each.history_] == [2, 2, 2]


def test_the_number_of_workers_does_not_matter(client):
    models = [DistributedTagger(n_shards=5, random_state=0, max_epochs=4, client=client).fit(X, Y)]
    for n_workers in (1, 3):
        with (
            LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                processes=False,
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            ) as cluster,
            Client(cluster, set_as_default=False) as other,
        ):
            models.append(clone(models[0]).set_params(client=other).fit(X, Y))
    assert state(models[0]) == state(models[1]) == state(models[2])


def test_the_bound_of_mixing_holds_for_sentences(client):
    """Σ μ·k ≤ R²/γ², with γ at least the margin that the last weights have."""
    words, tags = corpus(60, seed=5)
    model = DistributedTagger(n_shards=4, random_state=0, max_epochs=50, client=client)
    model.fit(listed(words), tags)
    assert model.verdict_ == "separated" and model.converged_ and model.training_errors_ is not None
    assert 0 < model.margin_ <= model.margin_upper_
    assert 0 < model.mixed_mistakes_ * model.margin_**2 <= model.radius_**2
    report = model.report().in_full()
    assert "4 shard(s)" in report and "Σ μ·mistakes" in report


def test_shards_without_sentences_are_nothing(client):
    few = DistributedTagger(n_shards=5, random_state=0, max_epochs=3, client=client).fit(X[:3], Y[:3])
    assert sorted(few.history_[0]["mixing_weights"]) == pytest.approx([0, 0, 1 / 3, 1 / 3, 1 / 3])
    assert few.predict([[]]) == [[]]


def test_a_tagger_goes_on_from_its_checkpoint(client, tmp_path):
    made = DistributedTagger(n_shards=3, random_state=0, max_epochs=6, client=client)
    whole = clone(made).fit(X, Y)

    def stop(record):
        if record["epoch"] == 2:
            raise OSError("enough")

    model = clone(made).set_params(checkpoint=tmp_path / "kept", callback=stop)
    with pytest.raises(OSError, match="enough"):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="other data"):
        model.set_params(callback=None).fit(X[1:], Y[1:])
    with pytest.raises(ValueError, match="transitions was 'first-order' and is 'any'"):
        model.set_params(transitions="any").fit(X, Y)
    model.set_params(transitions="first-order").fit(X, Y)
    assert state(model) == state(whole)
    assert model.mixed_mistakes_ == whole.mixed_mistakes_
    assert not list((tmp_path / "kept").iterdir())


def test_a_distributed_tagger_is_an_estimator_with_files(client, tmp_path):
    model = DistributedTagger(n_shards=2, random_state=0, max_epochs=3, client=client).fit(X, Y)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.client is None and copy.predict(X) == model.predict(X)
    assert clone(model).client is client
    model.save(tmp_path / "t.novikoff")
    loaded = DistributedTagger.load(tmp_path / "t.novikoff")
    assert (loaded.n_shards_, loaded.mixed_mistakes_) == (2, model.mixed_mistakes_)
    assert loaded.n_shards == 2 and loaded.predict(X) == model.predict(X)
    assert isinstance(load_model(tmp_path / "t.novikoff"), Tagger)
    assert SequenceTagger.load(tmp_path / "t.novikoff").margin_upper_ == model.margin_upper_


def test_bad_input_is_told_and_the_model_stays(client, conll):
    model = DistributedTagger(n_shards=2, max_epochs=2, random_state=0, client=client).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="X has 41 sentences, but y has 40"):
        model.fit(X, Y[1:])
    with pytest.raises(ValueError, match="leave out y"):
        model.fit(conll, Y)
    with pytest.raises(ValueError, match=r"[ab]\.txt, on worker tls://.*give templates"):
        model.fit(conll)
    with pytest.raises(TypeError, match="label is an option for reading files"):
        model.fit(X, Y, label=1)
    model.set_params(features=TEMPLATES)
    with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
        model.fit([conll[0], Path("missing.txt")])
    conll[1].write_text("the D\ndog\n")
    with pytest.raises(ValueError, match=r"b\.txt, on worker tls://.*line 2"):
        model.fit(conll)
    with pytest.raises(ValueError, match="transitions='bio' needs"):
        model.set_params(transitions="bio").fit(conll[:1])
    with pytest.raises(ValueError, match="n_shards=None is not possible for a list"):
        model.set_params(n_shards=None, features=None, transitions="any").fit(X, Y)
    assert model.predict(X) == before
