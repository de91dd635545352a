"""`DistributedPerceptron` on a real cluster of processes: what must hold whatever the cluster does."""

import os
import pickle
import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import novikoff
import novikoff.distributed.perceptron
from distributed import Client
from novikoff import Perceptron
from novikoff.dask import DistributedPerceptron
from novikoff.distributed.cluster import local_cluster
from novikoff.distributed.linear_shard import LinearMethod, generator_at, order_states
from novikoff.reference.linear import Twin
from novikoff.reference.mixing import MixingTwin
from novikoff.theory import bounds
from support.children import PATIENCE, until
from support.clusters import credentials

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not know this folder

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


def noisy(n=60, d=5, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, n_classes)) + 0.5 * rng.normal(size=(n, n_classes))
    return X, scores.argmax(axis=1)


def blocks(X, y, chunks):
    return da.from_array(X, chunks=(chunks, -1)), da.from_array(y, chunks=(chunks,))


def weights(model):
    """Everything that was learned, as bytes."""
    return b"".join(a.tobytes() for a in (*model._model.coef(averaged=False), model.coef_, model.intercept_))


def left_behind(client):
    """Tasks that the scheduler still has of ours, once it has heard that nobody wants them."""

    def ours(dask_scheduler):
        return [
            k for k in map(str, dask_scheduler.tasks) if "novikoff" in k or "numbered" in k or "survey" in k
        ]

    return until(lambda: client.run_on_scheduler(ours), wanted=lambda found: not found)


# ---- the same bits -------------------------------------------------------------------------------------
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("mixing", ["uniform", "updates"])
def test_bit_identical_to_the_twin_shard_by_shard(client, mixing, average):
    X, y = noisy()
    chunks = (20, 1, 3, 29, 0, 7)  # very different sizes, and an empty shard
    cuts = np.cumsum((0, *chunks))
    model = DistributedPerceptron(
        mixing=mixing, average=average, max_epochs=3, random_state=3, client=client
    ).fit(*blocks(X, y, chunks))
    twin = MixingTwin(Twin(2, 5), mixing)
    shards = [(X[a:b], y[a:b]) for a, b in pairwise(cuts)]
    orders = [generator_at(s) for s in order_states(np.random.default_rng(3), len(shards))]
    for record in model.history_:
        twin.epoch(shards, [g.permutation(len(s[1])) for g, s in zip(orders, shards, strict=True)])
        assert record["shard_mistakes"] == twin.mistakes[-1]
        assert record["mixing_weights"] == twin.weights[-1]
    coef, intercept = twin.shared.average() if average else (twin.shared.weights, twin.shared.bias)
    assert np.array_equal(model.coef_, coef) and np.array_equal(model.intercept_, intercept)
    assert model.n_updates_ == twin.shared.updates and model.n_shards_ == 6
    weighted = sum(
        m * k for ms, ks in zip(twin.weights, twin.updates, strict=True) for m, k in zip(ms, ks, strict=True)
    )
    assert model.mixed_mistakes_ == pytest.approx(weighted)


@pytest.mark.parametrize(
    "options",
    [
        {"average": True},
        {"order": "cyclic", "rule": "pa1", "class_weight": "balanced"},
        {"order": "worst", "fit_intercept": False},
        {"multiclass": "ovr", "mixing": "updates", "average": True},
        {"rule": "margin", "margin": 0.5, "ties": "mistake", "mixing": "single-shot"},
    ],
)
def test_one_shard_is_the_perceptron(client, options):
    X, y = noisy(n_classes=3 if "multiclass" in options else 2)
    weight = np.linspace(0, 2, len(y)).round(1)
    own = {"order": "shuffle", "average": False} | {k: v for k, v in options.items() if k != "mixing"}
    alone = Perceptron(max_epochs=4, random_state=7, **own).fit(X, y, sample_weight=weight)
    model = DistributedPerceptron(max_epochs=4, random_state=7, n_shards=1, client=client, **options)
    model.fit(*blocks(X, y, 25), sample_weight=weight)
    assert weights(model) == weights(alone)
    for name in (
        "n_updates_",
        "n_mistakes_",
        "verdict_",
        "radius_",
        "margin_",
        "margin_upper_",
        "training_errors_",
    ):
        assert getattr(model, name) == getattr(alone, name) or np.isnan(alone.margin_)
    assert model.predict(X).tolist() == alone.predict(X).tolist()
    if options.get("mixing") != "single-shot":
        assert [r["norm"] for r in model.history_] == [r["norm"] for r in alone.history_]
    elif alone.converged_:
        assert model.converged_


def test_sparse_blocks_and_frames_are_the_same_rows(client):
    X, y = noisy(d=3)
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0
    made = DistributedPerceptron(max_epochs=3, random_state=0, client=client)
    dense = weights(clone(made).fit(*blocks(X, y, 20)))
    X_blocks, y_blocks = blocks(X, y, 20)
    assert weights(clone(made).fit(X_blocks.map_blocks(sp.csr_matrix), y_blocks)) == dense
    frame = pd.DataFrame(X, columns=list("abc")).assign(label=np.where(y, "yes", "no"))
    parts = dd.from_pandas(frame, npartitions=3)
    model = clone(made).fit(parts[["a", "b", "c"]], parts["label"])
    assert weights(model) == dense
    assert model.feature_names_in_.tolist() == ["a", "b", "c"] and model.classes_.tolist() == ["no", "yes"]
    lazy = model.predict(parts[["a", "b", "c"]])
    assert isinstance(lazy, da.Array)
    assert client.compute(lazy).result().tolist() == model.predict(frame[["a", "b", "c"]]).tolist()


def test_predictions_are_lazy(client):
    X, y = noisy(n_classes=3)
    model = DistributedPerceptron(max_epochs=2, random_state=0, client=client).fit(*blocks(X, y, 30))
    labels, scores = model.predict(blocks(X, y, 7)[0]), model.decision_function(blocks(X, y, 7)[0])
    assert isinstance(labels, da.Array) and labels.shape == (60,) and scores.shape == (60, 3)
    assert client.compute(labels).result().tolist() == model.predict(X).tolist()
    assert np.array_equal(client.compute(scores).result(), model.decision_function(X))


def test_workers_load_no_scikit_learn(client):
    X, y = noisy()
    DistributedPerceptron(max_epochs=2, client=client).fit(*blocks(X, y, 30))
    assert not any(client.run(lambda: "sklearn" in sys.modules).values())


def test_an_epoch_is_told_in_a_line(client, capfd):
    X, y = noisy()
    model = DistributedPerceptron(max_epochs=2, verbose=1, random_state=0, client=client)
    model.fit(*blocks(X, y, 20))
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("epoch")]
    assert len(lines) == 2
    record = model.history_[1]
    low, high = min(record["shard_mistakes"]), max(record["shard_mistakes"])
    assert f"shards {low}–{high} mistakes, weights 0.333–0.333" in lines[1]
    assert record["bytes_moved"] > 0 and record["seconds_lost"] >= 0
    assert record["weighted_updates"] == pytest.approx(sum(record["shard_updates"]) / 3)


def test_partial_fit_goes_on(client):
    X, y = noisy(n_classes=3)
    alone = Perceptron(average=True)
    model = DistributedPerceptron(average=True, n_shards=1, client=client)
    for part in (slice(0, 25), slice(25, 60)):
        alone.partial_fit(X[part], y[part], classes=[0, 1, 2])
        model.partial_fit(*blocks(X[part], y[part], 10), classes=[0, 1, 2])
    assert weights(model) == weights(alone) and model.n_mistakes_ == alone.n_mistakes_
    with pytest.raises(ValueError, match="has 4 features, but DistributedPerceptron is expecting 5"):
        model.partial_fit(*blocks(X[:, :4], y, 30))
    assert weights(model) == weights(alone)


def test_a_fit_can_go_on_be_copied_and_saved(client, tmp_path):
    X, y = noisy()
    model = DistributedPerceptron(max_epochs=2, order="cyclic", warm_start=True, client=client)
    data = blocks(X, y, 20)
    for _ in range(2):
        model.fit(*data)
    whole = DistributedPerceptron(max_epochs=4, order="cyclic", client=client).fit(*data)
    assert weights(model) == weights(whole)
    assert model.mixed_mistakes_ == pytest.approx(whole.mixed_mistakes_)
    assert clone(model).client is client
    assert pickle.loads(pickle.dumps(model)).client is None
    model.save(tmp_path / "m.novikoff")
    loaded = DistributedPerceptron.load(tmp_path / "m.novikoff")
    assert weights(loaded) == weights(model) and str(loaded.report().mixed) == str(model.report().mixed)
    assert novikoff.load_model(tmp_path / "m.novikoff").predict(X).tolist() == model.predict(X).tolist()


# ---- the theorem ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("mixing", ["uniform", "updates"])
def test_the_bound_of_mcdonald_hall_and_mann(client, mixing):
    """Σ μ·k ≤ R²/γ² on separable rows of known γ, and k ≤ S·R²/γ² with uniform mixing."""
    rng = np.random.default_rng(2)
    u = np.array([0.6, -0.8, 0.0])
    X = rng.normal(size=(4000, 3))
    X = X[np.abs(X @ u) > 0.1][:1500]
    y = (X @ u > 0).astype(int)
    gamma, R = np.abs(X @ u).min(), np.linalg.norm(X, axis=1).max()
    model = DistributedPerceptron(mixing=mixing, fit_intercept=False, random_state=0, client=client).fit(
        *blocks(X, y, 300)
    )
    assert model.verdict_ == "separated" and model.converged_
    assert (y == 1).tolist() == (X @ model.witness_[0][0] > 0).tolist()
    assert 0 < model.mixed_mistakes_ <= R**2 / gamma**2
    assert model.mixed_mistakes_ < model.n_updates_ <= 5 * R**2 / gamma**2
    assert model.history_[-1]["shard_updates"] == [0] * 5
    report = model.report()
    assert "Σ μ·mistakes" in report.in_full() and "5 shard(s)" in report.in_full()
    assert report.bound_lower <= R**2 / gamma**2 * (1 + 1e-9)
    assert report.mixed <= report.bound_upper


@pytest.mark.parametrize("mixing", ["uniform", "updates"])
@pytest.mark.parametrize("rule", ["perceptron", "normalized", "margin", "pa1"])
def test_every_rule_keeps_its_bound_on_shards(client, rule, mixing):
    """Each proof is one about ‖w‖² or ‖w − u‖², which are convex: it holds for Σ μ·k, and so do brackets."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 3)) * np.exp(rng.normal(size=(80, 1)))
    X = X[np.abs(X @ [1.0, -2.0, 0.5]) > 0.5]
    y = (X @ [1.0, -2.0, 0.5] > 0).astype(int)
    model = DistributedPerceptron(rule, mixing=mixing, margin=0.3, max_epochs=8, client=client)
    model.set_params(random_state=0, fit_intercept=False, warm_start=True).fit(*blocks(X, y, 20))
    for _ in range(2):
        report = model.report()
        assert not report.missing and report.mixed <= report.bound_upper
        assert report.bound_lower <= report.bound_upper * (1 + 1e-9)
        beside = bounds(X, y, model)
        for bound in beside:
            assert bound.made is None or bound.made == model.mixed_mistakes_ <= bound.upper
        assert beside["novikoff" if rule == "perceptron" else rule].holds
        assert "online-to-batch" in beside.missing
        model.fit(*blocks(X, y, 15))  # the same rows in other shards: counted on
    model.partial_fit(*blocks(X[:30], y[:30], 15))
    assert bounds(X, y, model)["novikoff"].made is None


def test_single_shot_mixing_fails_where_iterative_mixing_succeeds(client):
    """Two shards that each learn to separate their own rows, and whose mean separates nothing."""
    X = np.array([[-1.0, 0.0], [2.0, 0.0], [-1.0, 0.0], [-1.0, -1.0]])
    y = np.array([1, 0, 1, 0])
    made = DistributedPerceptron(fit_intercept=False, order="cyclic", max_epochs=100, client=client)
    once = clone(made).set_params(mixing="single-shot").fit(*blocks(X, y, 2))
    assert once.verdict_ == "undecided" and (once.predict(X) != y).any()
    assert once.n_epochs_ == 1 and max(once.history_[0]["shard_epochs"]) < 100  # each separated its own rows
    for mixing in ("uniform", "updates"):
        model = clone(made).set_params(mixing=mixing).fit(*blocks(X, y, 2))
        assert model.verdict_ == "separated" and model.predict(X).tolist() == y.tolist()


# ---- files ---------------------------------------------------------------------------------------------
def write(folder, texts, suffix):
    paths = [folder / f"day{k}.{suffix}" for k in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


LIBSVM = ["1 1:0.5 3:2\n-1 2:1\n1 1:1\n", "", "-1 2:3 9:1\n-1 3:-1\n1 4:1\n"]
TABLES = [
    "colour,size,label\nred,1,ham\nblue,2.5,spam\n",
    "colour,size,label\ngreen,-1,ham\nred,4,spam\n",
]
VW = ["spam | free now:2\nham | lunch now\n", "ham | dinner lunch\nspam | free dinner:0.5\n"]


@pytest.mark.parametrize(
    ("texts", "suffix", "options"),
    [
        (LIBSVM, "svm", {}),
        (TABLES, "csv", {}),
        (VW, "vw", {}),
        (VW, "vw", {"hash_bits": 8}),
    ],
)
def test_files_read_by_workers_are_the_source_read_here(client, tmp_path, texts, suffix, options):
    """One shard of all files: the columns, their names and every bit are those of one reader."""
    paths = write(tmp_path, texts, suffix)
    filled = [path for path in paths if Path(path).stat().st_size]
    alone = Perceptron(max_epochs=3, average=True, order="cyclic")
    alone.fit_source(novikoff.open_source(filled, **options))
    pattern = str(tmp_path / f"day*.{suffix}")
    model = DistributedPerceptron(max_epochs=3, average=True, n_shards=1, client=client).fit(
        pattern, **options
    )
    assert weights(model) == weights(alone) and model.classes_.tolist() == alone.classes_.tolist()
    columns = range(min(model.n_features_in_, 20))
    assert model.features_.names(columns) == alone.features_.names(columns)
    several = DistributedPerceptron(max_epochs=3, client=client).fit(paths, **options)
    assert several.n_shards_ == len(paths) and several.n_features_in_ == alone.n_features_in_
    labels = client.compute(several.predict(paths, **options)).result()
    rows = sum(len(text.splitlines()) - (suffix == "csv") for text in texts if text)
    assert len(labels) == rows and set(labels) <= set(several.classes_)
    several.partial_fit(paths, **options)
    assert several.n_mistakes_ >= 1


# ---- bad input -----------------------------------------------------------------------------------------
def test_a_file_that_a_worker_cannot_read_is_named_with_the_worker(client, tmp_path):
    paths = write(tmp_path, ["1 1:1\n-1 2:1\n", "1 1:1\n-1 2:x\n"], "svm")
    with pytest.raises(ValueError, match=r"day1.svm, on worker tls://127.0.0.1:\d+: .*day1.svm, line 2"):
        DistributedPerceptron(client=client).fit(paths)
    missing = str(tmp_path / "day7.svm")
    with pytest.raises(FileNotFoundError, match=r"day7.svm, on worker tls://"):
        DistributedPerceptron(client=client).fit([paths[0], missing])
    with pytest.raises(FileNotFoundError, match="No file matches"):
        DistributedPerceptron(client=client).fit(str(tmp_path / "night*.svm"))
    with pytest.raises(ValueError, match="files have their own labels"):
        DistributedPerceptron(client=client).fit(paths, [1, 2])
    assert left_behind(client) == []


def test_bad_blocks_are_refused_and_leave_nothing_behind(client):
    X, y = noisy(n=8, d=3)
    Xb, yb = blocks(X, y, 4)
    made = DistributedPerceptron(client=client)
    ragged = da.concatenate([Xb[:4], Xb[4:].map_blocks(lambda b: b[:, :2], dtype=float)])
    bad = X.copy()
    bad[5, 1] = np.nan
    cases = [
        (ragged, yb, {}, "block 1 has 2 features, but X declares 3"),
        (Xb, yb[:7], {}, "X has 8 rows, but y has 7"),
        (da.from_array(X, chunks=(4, 2)), yb, {}, "2 blocks of columns"),
        (Xb, yb, {"classes": [1, 2]}, r"block \d has labels that were not declared: 0; known are 1, 2"),
        (Xb, da.zeros(8, chunks=4), {}, "only one class: .*0.0"),
        (Xb[:0], yb[:0], {}, "there are no rows to learn from"),
        (
            blocks(bad, y, 4)[0],
            yb,
            {},
            r"block 1, on worker tls://.*: Input X contains NaN at row 1, column 1",
        ),
        (Xb, da.where(yb == 1, np.nan, 0.0), {}, "on worker tls://.*Input y contains NaN"),
    ]
    for A, b, options, message in cases:
        with pytest.raises(ValueError, match=message):
            made.fit(A, b, **options)
    with pytest.raises(TypeError, match="X is a ndarray, but a cluster learns from dask arrays"):
        made.fit(X, y)
    with pytest.raises(ValueError, match="n_shards=5, but there are only 2 block"):
        clone(made).set_params(n_shards=5).fit(Xb, yb)
    assert not hasattr(made, "coef_")
    assert left_behind(client) == []


def test_frames_whose_rows_cannot_be_matched_are_refused(client):
    frame = pd.DataFrame({"a": np.arange(8.0), "b": 1.0, "y": [0, 1] * 4})
    parts = dd.from_pandas(frame, npartitions=2, sort=False)
    made = DistributedPerceptron(client=client, max_epochs=2)
    other = dd.from_pandas(frame, npartitions=4, sort=False)["y"]
    with pytest.raises(ValueError, match=r"X has 2 partitions and y has 4.*unknown divisions"):
        made.fit(parts[["a", "b"]].clear_divisions(), other.clear_divisions())
    with pytest.raises(ValueError, match="different divisions"):
        made.fit(parts[["a", "b"]], dd.from_pandas(frame, npartitions=4)["y"])
    shifted = dd.from_pandas(frame["y"].set_axis(np.arange(8) + 1), npartitions=2)
    with pytest.raises(ValueError, match=r"partition \d, on worker .*different indices"):
        made.fit(parts[["a", "b"]].clear_divisions(), shifted.clear_divisions())
    unknown = made.fit(parts[["a", "b"]].clear_divisions(), parts["y"].clear_divisions())  # by position
    assert unknown.n_shards_ == 2


# ---- whatever the cluster does -------------------------------------------------------------------------
@dataclass(frozen=True)
class Mortal(LinearMethod):
    """A method that kills its worker in the middle of the third epoch, once."""

    marker: str = ""

    def learn(self, shard, table, standing, order, epochs):
        outcome = super().learn(shard, table, standing, order, epochs)
        if standing.epoch == 2 and shard.name == "block 1" and not Path(self.marker).exists():
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return outcome


@pytest.mark.parametrize(("slice_bytes", "chunks"), [(1 << 23, 30), (64, 20)])
def test_a_worker_killed_and_one_added_change_no_bit(client, monkeypatch, tmp_path, slice_bytes, chunks):
    """Also with more workers than shards, and with the table in slices."""
    X, y = noisy()
    data = blocks(X, y, chunks)
    made = DistributedPerceptron(max_epochs=5, average=True, random_state=1, client=client)
    expected = clone(made).fit(*data)
    marker = str(tmp_path / "killed")

    def mortal(*arguments):
        return Mortal(*arguments, marker=marker)

    def more(record):
        if record["epoch"] == 1 and chunks == 30:
            client.cluster.scale(3)

    monkeypatch.setattr(novikoff.distributed.perceptron, "LinearMethod", mortal)
    monkeypatch.setattr(novikoff.distributed.rounds, "SLICE_BYTES", slice_bytes)
    model = clone(made).set_params(callback=more).fit(*data)
    assert Path(marker).exists()
    assert weights(model) == weights(expected)
    assert [r["shard_mistakes"] for r in model.history_] == [r["shard_mistakes"] for r in expected.history_]
    client.cluster.scale(2)
    assert left_behind(client) == []


def test_a_cluster_without_workers_is_refused(monkeypatch):
    monkeypatch.setattr("novikoff.distributed.cluster.WORKERS", "1ms")
    X, y = noisy()
    with (
        local_cluster(0) as cluster,
        dask.config.set(credentials(cluster.security)),
        pytest.raises(RuntimeError, match="has no workers: start some"),
    ):
        DistributedPerceptron(client=cluster.scheduler_address).fit(*blocks(X, y, 20))
    with pytest.raises(ValueError, match="client=3 is not possible"):
        DistributedPerceptron(client=3).fit(*blocks(X, y, 20))


def client_of(file):
    """A client that would look for a lost scheduler for a second only; None while there is none."""
    try:
        return Client(scheduler_file=str(file), timeout="1s", set_as_default=False) if file.exists() else None
    except (OSError, ValueError):
        return None


def test_a_lost_scheduler_is_a_clear_error_and_leaves_the_model_as_it_was(tmp_path):
    """A scheduler and a worker as processes of their own; the scheduler is killed between two epochs."""
    X, y = noisy()
    where = tmp_path / "scheduler.json"
    here = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(where)]
    dask = [sys.executable, "-m", "dask"]
    log = (tmp_path / "log").open("w")
    with log, ExitStack() as stack:
        scheduler = stack.enter_context(
            subprocess.Popen(
                [*dask, "scheduler", "--port", "0", "--dashboard-address", "127.0.0.1:0", *here], stderr=log
            )
        )
        stack.callback(scheduler.kill)
        worker = stack.enter_context(
            subprocess.Popen(
                [*dask, "worker", "--nthreads", "1", "--no-nanny", "--death-timeout", str(PATIENCE), *here],
                stderr=log,
            )
        )
        stack.callback(worker.kill)
        client = stack.enter_context(until(lambda: client_of(where)))
        client.wait_for_workers(1, timeout=PATIENCE)
        model = DistributedPerceptron(client=client, max_epochs=1, random_state=0).fit(*blocks(X, y, 20))
        before = weights(model)

        def lose(record):
            if record["epoch"] == 2:
                scheduler.kill()

        model.set_params(max_epochs=1000, callback=lose)
        with pytest.raises(ConnectionError, match=r"the scheduler at tcp://127.0.0.1:\d+ was lost"):
            model.fit(*blocks(X, y, 20))
        assert weights(model) == before
