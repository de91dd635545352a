"""`novikoff fit --dask` on a real cluster of processes: the same models, errors in one line, and resuming."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dask
import numpy as np
import pytest

from distributed import Client
from novikoff import load_model
from novikoff.dask import DistributedPerceptron
from novikoff.data.scaling import ColumnSums
from novikoff.data.sources.features import NumberedFeatures
from novikoff.distributed.checkpoint import MixingCheckpoint
from novikoff.distributed.cluster import local_cluster
from novikoff.modelfile.container import read_file
from support.children import until
from support.clusters import credentials
from support.commands import error_of, run, svm_text, usage_error
from support.places import TESTS

pytestmark = pytest.mark.filterwarnings("ignore:The training rows (were not|cannot be) separated")
FILES = ("part0.svm", "part1.svm", "part2.svm")


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def address(client) -> Iterator[str]:
    """Where the scheduler is, with Dask configured for it."""
    with dask.config.set(credentials(client.security)):
        yield client.scheduler.address


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for k, name in enumerate(FILES):
        Path(name).write_text(svm_text(40 + 60 * k, seed=k, labels=("a", "b", "c")))
    return tmp_path


def learned(path):
    """Everything in a model file that learning decides."""
    facts, arrays = read_file(path, "model")
    run = {name: facts["run"][name] for name in ("verdict", "converged", "n_rows", "training_errors")}
    counts = [{k: v for k, v in part.items() if k != "seconds"} for part in facts["model"]["parts"]]
    return {name: a.tobytes() for name, a in arrays.items()}, counts, run, facts["classes"]


def left_behind(client):
    """Tasks of ours that the scheduler still has, once it has heard that nobody wants them."""

    def ours(dask_scheduler):
        return [key for key in map(str, dask_scheduler.tasks) if "novikoff" in key]

    return until(lambda: client.run_on_scheduler(ours), wanted=lambda found: not found)


# ---- models --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "options",
    [
        ("--average", "--scale", "standard", "--class-weight", "balanced"),
        ("--rule", "pa1", "--scale", "unit", "--relabel", "c=b", "--multiclass", "ovr"),
        ("--positive", "b", "--scale", "maxabs", "--skip-bad-lines", "--no-intercept"),
        ("--classes", "c,a,b", "--ties", "mistake"),
    ],
)
def test_with_one_shard_a_fit_is_that_of_one_machine(address, options):
    if "--skip-bad-lines" in options:
        Path(FILES[1]).write_text("b 3:1 oops\n" + Path(FILES[1]).read_text())
    more = (*FILES, *options, "--epochs", 3)
    average = () if "--average" in options else ("--no-average",)
    alone = run("fit", *more, *average, "--order", "cyclic", "--model", "alone.novikoff").stdout
    said = run("fit", "--dask", address, "--n-shards", 1, *more, "--model", "shard.novikoff").stdout
    assert learned("shard.novikoff") == learned("alone.novikoff")
    assert ("skipped" in said) == ("skipped" in alone) == ("--skip-bad-lines" in options)
    made = load_model("shard.novikoff").parameters
    assert made == load_model("alone.novikoff").parameters | {"mixing": "uniform", "n_shards": 1}


def test_a_model_of_shards_is_that_of_the_estimator_and_is_used_as_any_other(client, address):
    outcome = run(
        "fit", "--dask", address, "part*.svm", "--average", "--mixing", "updates", "--epochs", 4,
        "--test", FILES[0], "--json", "--model", "m.novikoff",
    )  # fmt: skip
    said = json.loads(outcome.stdout)
    model = DistributedPerceptron(average=True, mixing="updates", max_epochs=4, client=client).fit(
        "part*.svm"
    )
    loaded = load_model("m.novikoff")
    assert [a.tobytes() for a in loaded.weights()] == [model.coef_.tobytes(), model.intercept_.tobytes()]
    assert said["report"]["n_shards"] == 3 and said["report"]["mixed"] == model.mixed_mistakes_
    assert [record["shard_mistakes"] for record in said["history"]] == [
        record["shard_mistakes"] for record in model.history_
    ]
    assert sum(said["history"][-1]["mixing_weights"]) == pytest.approx(1)
    assert 0.5 < said["test"]["accuracy"] <= 1
    tested = run("evaluate", "m.novikoff", FILES[0], "--json").stdout
    assert json.loads(tested)["accuracy"] == said["test"]["accuracy"]


def test_every_epoch_is_told(address):
    result = run("fit", "--dask", address, *FILES, "--epochs", 2, "--verbose")
    lines = [line for line in result.stderr.splitlines() if line.startswith("epoch")]
    assert len(lines) == 2 and "MB moved" in lines[0] and "lost to the slowest" in lines[0]
    assert "3 shard(s)" in result.stdout and "Σ μ·mistakes = " in result.stdout
    assert Path("part0.novikoff").exists()


def test_scaling_is_measured_over_all_shards_as_over_all_rows():
    """Sums of shards are put together with what rounding took from them, as the sums of rows are."""
    X = np.random.default_rng(0).normal(loc=(0, 1e7, 1e-7), size=(90, 3))
    parts = []
    for rows in (X[:7], X[7:8], X[8:]):
        parts.append(ColumnSums())
        parts[-1].add(rows, str)
    whole = ColumnSums()
    whole.add(X, str)
    for part in parts[1:]:
        parts[0].join(part)
    for kind in ("standard", "maxabs"):
        one, other = (sums.scaling(kind, NumberedFeatures(3)) for sums in (parts[0], whole))
        np.testing.assert_allclose(one.scale, other.scale, rtol=1e-15)
        np.testing.assert_allclose(one.centre, other.centre, rtol=1e-15)
    np.testing.assert_allclose(other.scale, np.abs(X).max(axis=0))


# ---- what is refused -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--order", "shuffle"), "--order"),
        (("--kernel", "rbf"), "--kernel"),
        (("--early-stopping",), "--early-stopping"),
        (("--classes", "grow"), "--classes"),
        (("--cache",), "--cache"),
        (("--every", "7"), "--every"),
        (("--order", "riffle"), "--order"),
        (("--epochs", "auto"), "--epochs"),
        (("--n-shards", "0"), "--n-shards"),
        (("--mixing", "geometric"), "--mixing"),
        (("-",), "standard input"),
    ],
)
def test_what_a_cluster_cannot_do_is_an_error_of_usage(options, named):
    assert named in usage_error("fit", "--dask", "local", *FILES, *options)


def test_options_of_clusters_need_one():
    assert "only possible with --dask" in usage_error("fit", *FILES, "--mixing", "updates")
    assert "only possible with --dask" in usage_error("fit", *FILES, "--n-shards", 2)


def test_errors_are_one_line_and_the_cluster_is_left_clean(client, address):
    Path("bad.svm").write_text("a 1:1\nb 1:x\n")
    said = error_of("fit", "--dask", address, FILES[0], "bad.svm")
    assert "bad.svm, line 2" in said and "on worker tls://" in said
    Path("one.svm").write_text("a 1:1\na 2:1\n")
    assert "only one class: 'a'" in error_of("fit", "--dask", address, "one.svm", "-q")
    assert "only one class: 'other'" in error_of("fit", "--dask", address, *FILES, "--positive", "d")
    assert "not declared" in error_of("fit", "--dask", address, *FILES, "--classes", "a,b")
    assert "there are only 3 file(s)" in error_of("fit", "--dask", address, *FILES, "--n-shards", 4)
    assert "--hash-bits is not an option" in error_of("fit", "--dask", address, *FILES, "--hash-bits", 4)
    assert not list(Path().glob("*.novikoff"))
    assert left_behind(client) == []


def test_a_cluster_that_is_not_there_or_has_no_workers(monkeypatch):
    with monkeypatch.context() as hurried:
        hurried.setattr("novikoff.distributed.cluster.ANSWER", "100ms")
        said = error_of("fit", "--dask", "tcp://127.0.0.1:1", *FILES)
    assert "no scheduler answers at 'tcp://127.0.0.1:1'" in said
    monkeypatch.setattr("novikoff.distributed.cluster.WORKERS", "1ms")
    with local_cluster(0) as empty, dask.config.set(credentials(empty.security)):
        said = error_of("fit", "--dask", empty.scheduler_address, *FILES)
    assert "has no workers: start some with" in said


def test_the_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'novikoff[dask]'" in error_of("fit", "--dask", "local", *FILES)
    script = "import sys; sys.modules['distributed'] = None; import novikoff; novikoff.dask.DistributedTagger"
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert child.stderr.splitlines()[-1].startswith("ImportError") and "novikoff[dask]" in child.stderr


def test_dask_is_loaded_only_when_asked_for():
    script = (
        "import sys; from novikoff.cli.app import run\n"
        "assert run(['fit', *sys.argv[1:], '-q']) == 0\n"
        "print([name for name in ('dask', 'distributed', 'sklearn') if name in sys.modules])"
    )
    said = subprocess.run(
        [sys.executable, "-c", script, *FILES], check=True, capture_output=True, text=True
    ).stdout
    assert said.splitlines()[-1] == "[]"


# ---- the scheduler is lost -----------------------------------------------------------------------------
CLUSTER = """
import json, sys
sys.path.append(sys.argv[1])
from support.clusters import credentials
from novikoff.distributed.cluster import local_cluster
if __name__ == "__main__":
    with local_cluster(1) as cluster:
        print(json.dumps([cluster.scheduler_address, credentials(cluster.security)]), flush=True)
        sys.stdin.read()
"""


def test_a_fit_whose_scheduler_is_killed_resumes_to_the_same_bits(address, folder, monkeypatch):
    fit = (*FILES, "--average", "--scale", "maxabs", "--epochs", 8, "-q")
    Path("cluster.py").write_text(CLUSTER)
    with (
        subprocess.Popen(
            [sys.executable, "cluster.py", str(TESTS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process,
        monkeypatch.context() as patch,
    ):
        (where, keys), kept = json.loads(process.stdout.readline()), folder / "kept/checkpoint.novikoff"
        save = MixingCheckpoint.save

        def last_save(*given):
            save(*given)
            process.kill()
            process.wait()

        def lost():
            with dask.config.set(keys):
                return error_of("fit", "--dask", where, *fit, "--checkpoint", "kept", "--model", "m.novikoff")

        patch.setattr(MixingCheckpoint, "save", last_save)
        patch.setattr("novikoff.distributed.cluster.ANSWER", "1s")  # and for a lost scheduler
        said = until(lost, wanted=lambda said: "there is no scheduler" not in said)
    assert process.returncode == -signal.SIGKILL
    assert f"the scheduler at {where} was lost" in said and "--resume" in said
    assert kept.exists() and not Path("m.novikoff").exists()
    assert len(read_file(kept, "checkpoint of shards")[0]["history"]) == 1

    again = ("fit", "--dask", address, "--checkpoint", "kept", "--model", "m.novikoff")
    assert "unfinished fit" in error_of(*again, *fit)
    assert "--epochs was 8 and is 9" in error_of(*again, *fit, "--resume", "--epochs", 9)
    assert "belongs to other data" in error_of(*again, FILES[0], *fit, "--resume")
    run(*again, *fit, "--resume")
    run("fit", "--dask", address, *fit, "--model", "whole.novikoff")
    assert Path("m.novikoff").read_bytes() == Path("whole.novikoff").read_bytes()
    assert not kept.exists()


def test_what_was_learned_before_an_interrupt_is_kept(client, folder):
    """In the library: a fit that stops by an error goes on from its checkpoint, shuffled orders and all."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    da = pytest.importorskip("dask.array")
    data = da.from_array(X, chunks=(20, 4)), da.from_array(y, chunks=20)
    how = {"average": True, "max_epochs": 6, "random_state": 5, "client": client}
    whole = DistributedPerceptron(**how).fit(*data)

    def stop(record):
        if record["epoch"] == 3:
            raise OSError("enough")

    model = DistributedPerceptron(**how, checkpoint=folder / "kept", callback=stop)
    with pytest.raises(OSError, match="enough"):
        model.fit(*data)
    assert not hasattr(model, "coef_")
    other = da.from_array(-X, chunks=(20, 4)), data[1]
    with pytest.raises(ValueError, match="other data"):
        model.fit(*other)
    with pytest.raises(ValueError, match="average was True and is False"):
        model.set_params(callback=None, average=False).fit(*data)
    model.set_params(average=True).fit(*data)
    assert model.coef_.tobytes() == whole.coef_.tobytes()
    assert [r["norm"] for r in model.history_] == [r["norm"] for r in whole.history_]
    assert (model.mixed_mistakes_, model.radius_) == (whole.mixed_mistakes_, whole.radius_)
    assert not list((folder / "kept").iterdir())
