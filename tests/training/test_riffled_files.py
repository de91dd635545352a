"""A riffle of files gives the bits of the same riffle in memory, whatever reads the files, and how."""

import bz2
import gzip
import io
import json
import lzma
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron, open_source
from novikoff.data.labels import StreamClasses
from novikoff.data.sources import gunzip, kept
from novikoff.data.sources.block import Csr, gather
from novikoff.data.sources.cache import cached
from novikoff.training import piles, streaming
from novikoff.training.checkpoint import Checkpoint
from novikoff.training.plan import Plan
from novikoff.training.weights import Settings
from support.commands import run, svm_text, usage_error
from support.rows import libsvm

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(params=["kept", "read in every epoch"])
def small(request, monkeypatch):
    """Small batches; and a source that is kept after the first epoch, or is too large for that."""
    monkeypatch.setattr(piles, "BATCH_BYTES", 2000)
    if request.param != "kept":
        monkeypatch.setattr(piles, "KEPT_BYTES", 0)


def rows(seed=0, n=300, d=12, classes=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    X = np.round(rng.standard_normal((n, d)), 2) * (rng.random((n, d)) < 0.5)
    X[np.arange(n), y] += 1
    return X, y


def riffled(source, *, epochs=3, seed=5, settings=None, classes=None, **options):
    plan = Plan(max_epochs=epochs, order="riffle", rng=np.random.default_rng(seed))
    settings = settings or Settings(average=True)
    return streaming.fit(source, classes or StreamClasses(), settings, plan, **options)


def in_memory(content, **options):
    """The same riffle of the same rows, read into memory; and its source."""
    source = open_source(io.BytesIO(content), **options)
    block = gather(source.blocks())
    X = block.X if not isinstance(block.X, Csr) else sp.csr_array(block.X[:3], shape=block.X.shape)
    model = Perceptron(order="riffle", max_epochs=3, random_state=5, average=True, scale=None)
    return model.fit(X, np.asarray(block.labels), sample_weight=block.weights), source


def same(learned, model):
    for averaged, coef in ((True, model.coef_), (False, model._model.coef(averaged=False)[0])):
        np.testing.assert_array_equal(learned.model.coef(averaged=averaged)[0], coef)
    assert learned.model.total("mistakes") == model.n_mistakes_
    assert learned.run.n_rows == model._run.n_rows
    assert learned.model.ledger.learned == model._model.ledger.learned


# ---- formats ---------------------------------------------------------------------------------------------
def vw(X, y, weights):
    names = "abcdefghijkl"
    pairs = [" ".join(f"{names[j]}:{v!r}" for j, v in enumerate(row) if v) for row in X.tolist()]
    return "".join(f"{c} {w!r} | {p}\n" for c, w, p in zip(y, weights.tolist(), pairs, strict=True)).encode()


def jsonl(X, y, weights):
    lines = [
        json.dumps({f"f{j}": v for j, v in enumerate(row) if v} | {"label": f"c{c}", "w": w})
        for row, c, w in zip(X.tolist(), y.tolist(), weights.tolist(), strict=True)
    ]
    return ("\n".join(lines) + "\n").encode()


def numbers(X, y, _):
    lines = [",".join(map(repr, row)) + f",{c}" for row, c in zip(X.tolist(), y.tolist(), strict=True)]
    return ("\n".join([",".join([*(f"f{j}" for j in range(X.shape[1])), "label"]), *lines]) + "\n").encode()


def table(X, y, weights):
    lines = [
        f"{row[0]!r},{'red' if row[1] else 'blue' if row[2] else ''},k{i % 7},{w!r},c{c}"
        for i, (row, c, w) in enumerate(zip(X.tolist(), y.tolist(), weights.tolist(), strict=True))
    ]
    return ("\n".join(["x,colour,kind,w,label", *lines]) + "\n").encode()


FORMATS = {
    "libsvm": (lambda X, y, w: libsvm(X, y), {}),
    "vw": (vw, {}),
    "hashed vw": (vw, {"hash_bits": 8}),
    "jsonl": (jsonl, {"weight": "w"}),
    "csv of numbers": (numbers, {}),
    "csv": (table, {"weight": "w"}),
}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("block_size", [60, 1000, 1 << 20])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_file_gives_the_bits_of_its_rows_in_memory(name, block_size, n_jobs):
    """Rows of weight 0 too, which are no visits."""
    X, y = rows()
    write, options = FORMATS[name]
    content = write(X, y, np.random.default_rng(1).integers(0, 3, len(y)).astype(float))
    options = options | {"format": name.split()[-1] if "csv" not in name else "csv"}
    model, _ = in_memory(content, **options)
    source = open_source(io.BytesIO(content), block_size=block_size, n_jobs=n_jobs, **options)
    learned = riffled(source)
    same(learned, model)
    assert learned.order == "riffle"


@given(st.integers(0, 10**6), st.integers(1, 400), st.integers(1, 2000), st.integers(1, 4000))
def test_blocks_and_batches_change_nothing(seed, n, block_size, batch):
    X, y = rows(seed, n=max(n, 3))
    content = libsvm(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(piles, "BATCH_BYTES", batch)
        patch.setattr(piles, "KEPT_BYTES", seed % 3 * 1000)
        learned = riffled(open_source(io.BytesIO(content), block_size=block_size, n_jobs=1), epochs=3)
    same(learned, in_memory(content)[0])


@pytest.mark.usefixtures("small")
def test_several_files_are_one_sequence_of_rows(tmp_path):
    X, y = rows()
    parts = [slice(0, 1), slice(1, 150), slice(150, 150), slice(150, 300)]
    for k, part in enumerate(parts):
        (tmp_path / f"{k}.svm").write_bytes(b"# a comment\n\n" + libsvm(X[part], y[part]).removesuffix(b"\n"))
    learned = riffled(open_source([tmp_path / f"{k}.svm" for k in range(4)], block_size=500))
    same(learned, in_memory(libsvm(X, y))[0])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["vw", "csv of numbers", "csv"])
def test_a_cache_gives_the_same_bits(tmp_path, name):
    X, y = rows()
    write, options = FORMATS[name]
    path = tmp_path / f"rows.{name.split()[0]}"
    path.write_bytes(write(X, y, np.ones(len(y))))
    model, _ = in_memory(path.read_bytes(), format=name.split()[0], **options)
    for block_size in (300, 1 << 20):  # the second fit finds the cache of the first
        same(riffled(cached(open_source(path, block_size=block_size, **options))), model)
    (cache,) = tmp_path.glob("*.cache")
    damaged = bytearray(cache.read_bytes())
    source = cached(open_source(path, **options))
    damaged[40] ^= 1
    cache.write_bytes(damaged)
    with pytest.raises(ValueError, match="the cache is damaged"):
        riffled(source)


def test_classes_without_weight_are_not_visited():
    X, y = rows()
    weight = {"0": 2.0, "1": 0.0}
    learned = riffled(open_source(io.BytesIO(libsvm(X, y)), block_size=200), class_weight=weight)
    how = {"order": "riffle", "max_epochs": 3, "random_state": 5, "average": True}
    same(learned, Perceptron(class_weight={0: 2.0, 1: 0.0}, **how).fit(sp.csr_array(X), y))
    assert learned.run.n_rows == np.count_nonzero(y != 1)


@pytest.mark.parametrize("scale", ["standard", "maxabs", "unit"])
@pytest.mark.parametrize("balanced", [False, True])
def test_scaling_and_balance_are_found_in_the_same_pass(scale, balanced):
    X, y = rows()
    passes = []
    source = open_source(io.BytesIO(libsvm(X, y)), block_size=400)
    weight = "balanced" if balanced else None
    one = riffled(source, scale=scale, class_weight=weight, watch=lambda p: passes.append(p.doing))
    assert list(dict.fromkeys(passes))[:4] == ["first look", "epoch 1", "epoch 2", "epoch 3"]
    plan = Plan(max_epochs=3, order="riffle", rng=np.random.default_rng(5))
    examples = streaming.SourceExamples(open_source(io.BytesIO(libsvm(X, y))), StreamClasses())
    trainer = examples.in_memory(scale, plan, Settings(average=True), balanced=balanced)
    streaming.train(trainer, plan)
    for averaged in (False, True):
        np.testing.assert_array_equal(
            one.model.coef(averaged=averaged)[0], trainer.model.coef(averaged=averaged)[0]
        )


def test_classes_may_grow_or_be_declared():
    X, y = rows()
    content = libsvm(X, y)
    declared = riffled(open_source(io.BytesIO(content)), classes=StreamClasses([0, 1, 2]))
    grown = riffled(open_source(io.BytesIO(content)), classes=StreamClasses(grow=True))
    assert declared.classes.tolist() == grown.classes.tolist() == [0, 1, 2]
    same(declared, in_memory(content)[0])
    same(grown, in_memory(content)[0])
    with pytest.raises(ValueError, match="line 3: the label '2' is not one of the classes 0, 1"):
        riffled(open_source(io.BytesIO(content)), classes=StreamClasses([0, 1]))


def test_one_class_is_not_enough():
    with pytest.raises(ValueError, match="at least two classes"):
        riffled(open_source(io.BytesIO(b"1 1:1\n1 2:1\n" * 50)))


# ---- messages --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("block_size", [50, 1 << 20])
def test_errors_name_the_file_and_line(tmp_path, block_size):
    X, y = rows()
    lines = libsvm(X, y).splitlines(keepends=True)
    (tmp_path / "a.svm").write_bytes(b"".join(lines[:100]))
    (tmp_path / "b.svm").write_bytes(b"".join([*lines[100:150], b"1 x:2\n", *lines[150:]]))
    names = [tmp_path / "a.svm", tmp_path / "b.svm"]
    with pytest.raises(ValueError, match=r"b\.svm, line 51: "):
        riffled(open_source(names, block_size=block_size))
    learned = riffled(open_source(names, block_size=block_size, skip_bad_lines=True))
    same(learned, in_memory(libsvm(X, y))[0])


@pytest.mark.usefixtures("small")
def test_an_error_while_learning_names_the_line(tmp_path):
    """Where a row overflows the weights, which no first pass can tell."""
    X, y = rows()
    lines = libsvm(X, y).splitlines()
    lines[200] = b"0 1:1.7e308 2:1.7e308"
    lines[201] = b"1 1:1.7e308 2:1.7e308"
    path = tmp_path / "rows.svm"
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(OverflowError, match=r"rows\.svm, line 20[12]: "):
        riffled(open_source(path, block_size=300), epochs=50)


def test_a_file_that_changes_between_passes_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(piles, "KEPT_BYTES", 0)
    X, y = rows()
    path = tmp_path / "rows.svm"
    path.write_bytes(libsvm(X, y))

    def change(progress):
        if progress.doing == "epoch 1":
            path.write_bytes(libsvm(X[:-1], y[:-1]))

    with pytest.raises(ValueError, match="has changed since it was first read"):
        riffled(open_source(path), watch=change)


# ---- files that can be read only in order ------------------------------------------------------------------
def test_a_large_compressed_file_is_read_in_its_order_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "MOST_BYTES", 0)
    X, y = rows()
    path = tmp_path / "rows.svm.xz"
    path.write_bytes(lzma.compress(libsvm(X, y)))
    learned = riffled(open_source(path))
    assert learned.order == "cyclic"
    model = Perceptron(order="riffle", max_epochs=3, random_state=5).fit_source(open_source(path))
    assert "rows in the order of arrival" in str(model.report())
    same(riffled(cached(open_source(path))), in_memory(libsvm(X, y))[0])


def test_what_can_be_read_only_in_order_is_kept_if_it_is_small(tmp_path, monkeypatch):
    X, y = rows()
    path = tmp_path / "rows.svm.bz2"
    path.write_bytes(bz2.compress(libsvm(X, y)))
    assert open_source(path).only_in_order == f"{path} is compressed by bzip2"
    want = in_memory(libsvm(X, y))[0]
    for block_size in (200, 1 << 20):
        same(riffled(open_source(path, block_size=block_size)), want)
    size = sum(map(kept.bytes_of, open_source(path).blocks()))
    assert size == sum(map(kept.bytes_of, open_source(path, block_size=200).blocks()))
    monkeypatch.setattr(kept, "MOST_BYTES", size)
    assert riffled(open_source(path)).order == "riffle"
    monkeypatch.setattr(kept, "MOST_BYTES", size - 1)
    learned = riffled(open_source(path))
    assert learned.order == "cyclic"
    cyclic = Perceptron(order="cyclic", max_epochs=len(learned.run.history)).fit_source(open_source(path))
    assert cyclic.n_updates_ == learned.model.total("updates")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["libsvm", "csv"])
@pytest.mark.parametrize("is_path", [False, True])
def test_gzip_files_are_entered_in_the_middle(tmp_path, monkeypatch, name, is_path):
    """With no row kept, and so few copies of the decompressor that many bytes are decompressed again."""
    monkeypatch.setattr(kept, "MOST_BYTES", 0)
    monkeypatch.setattr(gunzip, "SPACING", 100)
    monkeypatch.setattr(gunzip, "MOST", 5)
    X, y = rows()
    write, options = FORMATS[name]
    content = write(X, y, np.ones(len(y)))
    half = len(content) // 2
    packed = gzip.compress(content[:half]) + bytes(7) + gzip.compress(content[half:]) + bytes(3)
    (tmp_path / "rows.gz").write_bytes(packed)
    model, _ = in_memory(content, format=name, **options)
    for block_size in (60, 1000):
        file = tmp_path / "rows.gz" if is_path else io.BytesIO(packed)
        source = open_source(file, format=name, block_size=block_size, **options)
        assert source.only_in_order == ""
        learned = riffled(source)
        assert learned.order == "riffle"
        same(learned, model)


def test_a_gzip_file_is_read_again_from_any_place(monkeypatch):
    monkeypatch.setattr(gunzip, "MOST", 6)
    monkeypatch.setattr(gunzip, "CHUNK", 50)
    rng = np.random.default_rng(0)
    content = b"".join(b"%d\n" % n for n in rng.integers(0, 10**6, 20_000).tolist())
    cuts = [0, 1, 40_000, 40_000, 90_000, len(content)]
    packed = b"".join(gzip.compress(content[a:b]) for a, b in pairwise(cuts))
    fetched = []

    def fetch(at, size):
        fetched.append(size)
        return packed[at : at + size]

    entries = gunzip.Entries(fetch)
    entries._spacing = 1000
    reader = gunzip.Gunzip(fetch, entries)
    assert reader.read() == content
    assert 3 <= len(entries._copies) <= 6
    fetched.clear()
    for at in [*rng.integers(0, len(content) - 500, 50).tolist(), 0, len(content) - 500]:
        view = bytearray(500)
        entries.read_into(memoryview(view), at)
        assert bytes(view) == content[at : at + 500]
    assert sum(fetched) < 50 * len(packed) / 2  # on average less than half of the file is read again
    with pytest.raises(EOFError):
        entries.read_into(memoryview(bytearray(2)), len(content) - 1)


def test_a_gzip_file_that_changes_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "MOST_BYTES", 0)
    monkeypatch.setattr(piles, "KEPT_BYTES", 0)
    X, y = rows()
    path = tmp_path / "rows.svm.gz"
    path.write_bytes(gzip.compress(libsvm(X, y)))

    def change(progress):
        if progress.doing == "epoch 1":
            path.write_bytes(gzip.compress(libsvm(X[:-1], y[:-1])))

    with pytest.raises(ValueError, match="has changed since it was first read"):
        riffled(open_source(path, block_size=1000), watch=change)


def test_rows_of_several_lines_are_read_in_order(monkeypatch):
    content = b'x,note,label\n1,"two\nlines",a\n2,"one line",b\n'
    source = open_source(io.BytesIO(content), format="csv", newlines_in_values=True, text="note")
    assert source.only_in_order == "a row of <BytesIO> may have several lines"
    assert riffled(source).order == "riffle"
    monkeypatch.setattr(kept, "MOST_BYTES", 0)
    assert riffled(source).order == "cyclic"


def test_fit_source_riffles_if_asked_to(tmp_path):
    X, y = rows()
    path = tmp_path / "rows.svm"
    path.write_bytes(libsvm(X, y))
    model = Perceptron(order="riffle", max_epochs=3, random_state=5).fit_source(open_source(path))
    other = Perceptron(order="riffle", max_epochs=3, random_state=5).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert "riffle of 32 runs" in str(model.report())


# ---- checkpoints -----------------------------------------------------------------------------------------
class Stop(Exception):
    pass


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("end", [0, 3, 11, 24])
@pytest.mark.parametrize("scale", [None, "standard"])
def test_a_fit_that_is_taken_up_again_ends_with_the_same_bits(tmp_path, end, scale):
    X, y = rows()
    path = tmp_path / "rows.svm"
    path.write_bytes(libsvm(X, y))
    seen = 0

    def stop(progress):
        nonlocal seen
        seen += progress.doing.startswith("epoch")
        if seen > end:
            raise Stop

    keep = lambda: Checkpoint(tmp_path / "kept", every=7, parameters={"order": "riffle"})  # noqa: E731
    whole = riffled(open_source(path), scale=scale)
    with pytest.raises(Stop):
        riffled(open_source(path, block_size=400), scale=scale, checkpoint=keep(), watch=stop)
    assert keep().exists()
    resumed = riffled(open_source(path, block_size=700), scale=scale, checkpoint=keep())
    for averaged in (False, True):
        np.testing.assert_array_equal(
            resumed.model.coef(averaged=averaged)[0], whole.model.coef(averaged=averaged)[0]
        )
    strip = [{k: v for k, v in r.items() if k != "seconds"} for r in resumed.run.history]
    assert strip == [{k: v for k, v in r.items() if k != "seconds"} for r in whole.run.history]
    assert resumed.run.n_rows == 300
    assert resumed.model.ledger == whole.model.ledger


# ---- the command -----------------------------------------------------------------------------------------
@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train.svm").write_text(svm_text(3000, labels=("a", "b", "c")))


@pytest.mark.usefixtures("folder")
def test_the_command_riffles_files():
    fit = ["fit", "train.svm", "--order", "riffle", "--average", "--epochs", 3]
    said = run(*fit, "--model", "one.novikoff")
    assert "riffle of 32 runs" in said.stdout
    assert said.stderr == ""
    run(*fit, "--model", "two.novikoff", "--n-jobs", 1, "--checkpoint", "kept", "--every", 100)
    assert Path("one.novikoff").read_bytes() == Path("two.novikoff").read_bytes()
    run(*fit, "--model", "other.novikoff", "--random-state", 1)
    assert Path("one.novikoff").read_bytes() != Path("other.novikoff").read_bytes()


@pytest.mark.usefixtures("folder")
def test_the_command_says_what_cannot_be_riffled(monkeypatch):
    monkeypatch.setattr(kept, "MOST_BYTES", 0)
    Path("train.svm.xz").write_bytes(lzma.compress(Path("train.svm").read_bytes()))
    fit = ["fit", "train.svm.xz", "--order", "riffle", "--epochs", 2]
    said = run(*fit)
    assert (
        "train.svm.xz is compressed by xz: rows were visited in their order, not riffled; --cache"
        in said.stderr
    )
    assert "cyclic" in said.stdout
    said = run(*fit, "--cache")
    assert "riffle of 32 runs" in said.stdout
    assert said.stderr == ""
    once = ["fit", "-", "--scale", "none", "--order", "riffle", "--model", "m.novikoff"]
    said = run(*once, input=Path("train.svm").read_bytes())
    assert "standard input can be read only once: rows were visited in their order" in said.stderr
    assert "--order cyclic or riffle" in usage_error(*fit, "--checkpoint", "kept", "--early-stopping")
