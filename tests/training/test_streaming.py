"""Learning from a source: what is read block by block gives the bits of the same rows in memory."""

import io
import json
from hashlib import blake2b

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from novikoff import Perceptron, open_source
from novikoff.data.labels import Renaming, StreamClasses
from novikoff.data.sources.cache import cache_path, cached
from novikoff.parameters.linear import RULES
from novikoff.training import streaming
from novikoff.training.checkpoint import Checkpoint
from novikoff.training.plan import Plan
from novikoff.training.weights import Settings
from support.rows import libsvm


def rows(seed=0, n=200, d=12, classes=2, values=None):
    rng = np.random.default_rng(seed)
    X = rng.choice([0, 0, 1, -1, 0.1, 0.7], (n, d)) if values is None else values(rng, (n, d))
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    return X, y


def stream(content, settings=None, *, epochs=3, classes=None, block_size=97, n_jobs=1, **options):
    source = open_source(io.BytesIO(content), block_size=block_size, n_jobs=n_jobs)
    plan = Plan(max_epochs=epochs, order="cyclic")
    return streaming.fit(source, classes or StreamClasses(), settings or Settings(), plan, **options)


def same(learned, model, *, averaged=False):
    coef, intercept = learned.model.coef(averaged=averaged)
    np.testing.assert_array_equal(coef, model.coef_[:, : coef.shape[1]])
    assert not model.coef_[:, coef.shape[1] :].any()  # columns without any value are not known to a stream
    np.testing.assert_array_equal(intercept, model.intercept_)
    for name in ("mistakes", "updates"):
        assert learned.model.total(name) == getattr(model, f"n_{name}_")
    assert learned.run.verdict == model.verdict_
    # R and ‖w‖ are float sums, for the report: their last digit may depend on how a row is stored
    np.testing.assert_allclose(learned.model.radius(), model.radius_, rtol=1e-15)
    np.testing.assert_allclose(learned.run.margin, model.margin_, rtol=1e-14)


pytestmark = pytest.mark.filterwarnings("ignore")


@given(
    st.integers(0, 10**6),
    st.sampled_from(RULES),
    st.booleans(),
    st.sampled_from([2, 3, 5]),
    st.sampled_from(["joint", "ovr"]),
    st.integers(1, 3000),
    st.integers(1, 3),
)
def test_a_stream_gives_the_bits_of_the_same_rows_in_memory(
    seed, rule, average, k, multiclass, block_size, n_jobs
):
    """Sections 2 and 4 of the design: the same rows in the same order give the same weights."""
    X, y = rows(seed, n=60, classes=k)
    settings = Settings(rule=rule, average=average, multiclass=multiclass, margin=0.5, C=0.7)
    learned = stream(libsvm(X, y), settings, block_size=block_size, n_jobs=n_jobs)
    model = Perceptron(
        rule=rule, average=average, multiclass=multiclass, margin=0.5, C=0.7, order="cyclic", max_epochs=3
    ).fit(X, y)
    same(learned, model, averaged=average)
    assert learned.classes.tolist() == model.classes_.tolist()


def test_separable_rows_are_separated_and_lifted_off_ties():
    X = np.array([[1.0, 0.0], [0.0, 0.0]])
    learned = stream(libsvm(X, [1, 0]), epochs=100)
    same(learned, Perceptron(order="cyclic", average=False, max_epochs=100).fit(X, [1, 0]))
    assert learned.run.verdict == "separated"


def test_a_class_that_comes_late_changes_nothing():
    """Classes are sorted as those of an array are, although the first block does not have them all."""
    X, y = rows(3, n=120, classes=3)
    y = np.sort(y)[::-1]
    learned = stream(libsvm(X, y), block_size=200)
    same(learned, Perceptron(order="cyclic", average=False, max_epochs=3).fit(X, y))
    assert learned.classes.tolist() == [0, 1, 2]


@given(st.integers(0, 10**6), st.sampled_from(["joint", "ovr"]), st.integers(1, 2000), st.booleans())
def test_classes_that_grow_do_not_depend_on_blocks(seed, multiclass, block_size, average):
    rng = np.random.default_rng(seed)
    X, _ = rows(seed, n=80)
    y = np.maximum.accumulate(rng.integers(0, 4, 80))  # each class begins somewhere
    settings = Settings(multiclass=multiclass, average=average)
    if len(set(y.tolist())) < 2:
        with pytest.raises(ValueError, match="at least two classes"):
            stream(libsvm(X, y), settings, classes=StreamClasses(grow=True))
        return
    one, other = (
        stream(libsvm(X, y), settings, classes=StreamClasses(grow=True), block_size=size)
        for size in (block_size, 10**6)
    )
    for averaged in {False, average}:
        for a, b in zip(one.model.coef(averaged=averaged), other.model.coef(averaged=averaged), strict=True):
            np.testing.assert_array_equal(a, b)
    assert one.model.total("mistakes") == other.model.total("mistakes")
    assert one.classes.tolist() == other.classes.tolist() == sorted(set(y.tolist()))
    assert one.run.n_rows == 80


def test_growing_classes_keep_the_order_of_their_appearance():
    learned = stream(b"spam 1:1\nham 2:1\neggs 3:1\n" * 3, classes=StreamClasses(grow=True))
    assert learned.classes.tolist() == ["spam", "ham", "eggs"]


def test_declared_classes_decide_ties_and_refuse_others():
    learned = stream(b"1 1:1\n-1 2:1\n", classes=StreamClasses(["1", "-1"]))
    assert learned.classes.tolist() == [1, -1]
    with pytest.raises(ValueError, match=r"line 2: the label '-1' is not one of the classes 1, 2"):
        stream(b"1 1:1\n-1 2:1\n", classes=StreamClasses([1, 2]))
    with pytest.raises(ValueError, match="declared classes are spam, ham, but the labels are numbers"):
        stream(b"1 1:1\n-1 2:1\n", classes=StreamClasses(["spam", "ham"]))


def test_one_class_is_not_enough():
    with pytest.raises(ValueError, match="at least two classes, but every row has the label '1'"):
        stream(b"1 1:1\n1 2:1\n")


def test_labels_under_other_names():
    X, y = rows(5, classes=4)
    learned = stream(libsvm(X, y), classes=StreamClasses(rename=Renaming(positive="2")))
    assert learned.classes.tolist() == ["2", "other"]
    model = Perceptron(order="cyclic", average=False, max_epochs=3).fit(X, np.where(y == 2, "2", "other"))
    same(learned, model)
    merged = stream(libsvm(X, y), classes=StreamClasses(rename=Renaming({"3": "0"})))
    same(merged, Perceptron(order="cyclic", average=False, max_epochs=3).fit(X, y % 3))


@given(st.integers(0, 10**6), st.integers(1, 500))
def test_weights_of_rows_and_classes(seed, block_size):
    X, y = rows(seed, n=60, classes=3)
    weights = np.random.default_rng(seed).choice([0.0, 1.0, 0.5, 2.0], 60)
    weights[:3] = 1
    for given_weight in (None, {0: 2.0, 2: 0.25}, "balanced"):
        by_name = (
            {str(c): v for c, v in given_weight.items()} if isinstance(given_weight, dict) else given_weight
        )
        learned = stream(libsvm(X, y, weights), block_size=block_size, class_weight=by_name)
        model = Perceptron(order="cyclic", average=False, max_epochs=3, class_weight=given_weight)
        model.fit(X, y, sample_weight=weights)
        names = learned_columns(X, y, weights)
        coef, intercept = learned.model.coef(averaged=False)
        np.testing.assert_array_equal(coef, model.coef_[:, names])
        np.testing.assert_array_equal(intercept, model.intercept_)


def learned_columns(X, y, weights):
    """Which column of X each column of the model is: names come in order of appearance."""
    source = open_source(io.BytesIO(libsvm(X, y, weights)))
    for _ in source.blocks():
        pass
    return [int(name) - 1 for name in source.features.names(range(source.features.n_columns))]


# ---- scaling -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["standard", "maxabs", "unit"])
@given(seed=st.integers(0, 10**6), block_size=st.integers(1, 2000))
def test_scaling_is_measured_on_all_rows_and_does_not_depend_on_blocks(kind, seed, block_size):
    X, y = rows(seed, n=50, values=lambda rng, shape: rng.choice([0, 0, 3.0, -1.5, 0.1], shape))
    learned = stream(libsvm(X, y), scale=kind, block_size=block_size)
    if kind == "unit":
        norms = np.sqrt((X**2).sum(axis=1, keepdims=True))
        expected = X / np.where(norms > 0, norms, 1)
    else:
        scale = X.std(axis=0) if kind == "standard" else np.abs(X).max(axis=0)
        expected = X / np.where(scale > 0, scale, 1)
    whole = stream(libsvm(X, y), scale=kind, block_size=10**6)
    np.testing.assert_array_equal(whole.model.coef(averaged=False)[0], learned.model.coef(averaged=False)[0])
    source = open_source(io.BytesIO(libsvm(X, y)))
    (block,) = source.blocks()
    scaled = learned.scaling.transform(block.X)
    found = sp.csr_array((scaled.data, scaled.indices, scaled.indptr), shape=scaled.shape).toarray()
    np.testing.assert_allclose(found, expected[:, : found.shape[1]], rtol=1e-12)


def test_a_column_far_from_zero_keeps_its_spread():
    """1e9 ± 1: plain sums of squares would lose all of it."""
    from novikoff.data.scaling import Scaling
    from novikoff.data.sources.block import Block
    from novikoff.data.sources.features import NumberedFeatures

    X = 1e9 + np.array([[-1.0, 5], [1.0, 5], [-1.0, 5], [1.0, 5]])
    features = NumberedFeatures(2)
    features.n_numbers = 2
    scaling = Scaling.measure("standard", [Block(X, None, None, 0, str)], features)
    np.testing.assert_array_equal(scaling.transform(X), [[-1, 0], [1, 0], [-1, 0], [1, 0]])


# ---- checkpoints -------------------------------------------------------------------------------------
class Stop(Exception):
    pass


@given(
    st.integers(0, 10**6),
    st.integers(0, 40),
    st.sampled_from(["joint", "ovr"]),
    st.booleans(),
    st.sampled_from([None, "standard"]),
)
def test_a_fit_that_is_taken_up_again_ends_with_the_same_bits(
    tmp_path_factory, seed, end, multiclass, grow, scale
):
    folder = tmp_path_factory.mktemp("checkpoint")
    X, y = rows(seed, n=60, classes=3)
    (folder / "rows.svm").write_bytes(libsvm(X, y))
    settings = Settings(average=True, multiclass=multiclass)

    def fit(watch=None, block_size=100):
        source = open_source(folder / "rows.svm", block_size=block_size, n_jobs=1)
        keep = Checkpoint(folder / "kept", every=7, parameters={"rule": "perceptron"})
        plan, classes = Plan(max_epochs=4, order="cyclic"), StreamClasses(grow=grow)
        return streaming.fit(source, classes, settings, plan, watch=watch, checkpoint=keep, scale=scale)

    seen = 0

    def stop(progress):
        nonlocal seen
        seen += 1
        if seen > end:
            raise Stop

    undisturbed = stream(libsvm(X, y), settings, epochs=4, classes=StreamClasses(grow=grow), scale=scale)
    try:
        resumed = fit(stop)
    except Stop:
        resumed = fit(block_size=130)
    for averaged in (False, True):
        for a, b in zip(
            resumed.model.coef(averaged=averaged), undisturbed.model.coef(averaged=averaged), strict=True
        ):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(resumed.model.learners, undisturbed.model.learners, strict=True):
        assert a.counts() == b.counts()
    strip = [{k: v for k, v in r.items() if k != "seconds"} for r in resumed.run.history]
    assert strip == [{k: v for k, v in r.items() if k != "seconds"} for r in undisturbed.run.history]
    assert resumed.run.n_rows == 60


def test_a_checkpoint_of_another_fit_or_of_other_data_is_refused(tmp_path):
    X, y = rows(1)
    path = tmp_path / "rows.svm"
    path.write_bytes(libsvm(X, y))

    def fit(parameters, fail=False):
        def watch(progress):
            if fail and progress.doing == "epoch 1" and progress.rows > 100:
                raise Stop

        keep = Checkpoint(tmp_path, every=10, parameters=parameters)
        source = open_source(path, block_size=100)
        plan = Plan(max_epochs=2, order="cyclic")
        return streaming.fit(source, StreamClasses(), Settings(), plan, watch=watch, checkpoint=keep)

    with pytest.raises(Stop):
        fit({"rule": "pa"}, fail=True)
    with pytest.raises(ValueError, match="another fit: rule was 'pa' and is 'pa1'"):
        fit({"rule": "pa1"})
    path.write_bytes(libsvm(X[::-1], y))
    with pytest.raises(ValueError, match="belongs to other data"):
        fit({"rule": "pa"})


# ---- in memory, and from a cache -----------------------------------------------------------------------
def test_shuffled_in_memory_as_the_estimator_does():
    X, y = rows(7, classes=3)
    source = open_source(io.BytesIO(libsvm(X, y)), block_size=300)
    plan = Plan(max_epochs=4, order="shuffle", rng=np.random.default_rng(5))
    learned = streaming.fit(source, StreamClasses(), Settings(), plan)
    same(
        learned,
        Perceptron(order="shuffle", average=False, max_epochs=4, random_state=5).fit(sp.csr_array(X), y),
    )


def test_early_stopping_in_memory_as_the_estimator_does():
    X, y = rows(8, n=300)
    source = open_source(io.BytesIO(libsvm(X, y)), block_size=300)
    plan = Plan(max_epochs=9, order="shuffle", rng=np.random.default_rng(5), early_stopping=True)
    learned = streaming.fit(source, StreamClasses(), Settings(), plan)
    how = {"order": "shuffle", "average": False, "early_stopping": True}
    same(learned, Perceptron(max_epochs=9, random_state=5, **how).fit(sp.csr_array(X), y))


VALUES = {
    "ones": lambda rng, shape: rng.integers(0, 2, shape).astype(float),
    "float32": lambda rng, shape: rng.choice([0, 0.5, 3, -0.25], shape),
    "float64": lambda rng, shape: rng.choice([0, 0.1, 1e300, -0.3], shape) * 1e-3,
}


@pytest.mark.parametrize("values", VALUES)
def test_a_cached_source_gives_the_same_rows(tmp_path, values):
    X, y = rows(9, classes=3, values=VALUES[values])
    weights = np.random.default_rng(0).random(len(X))
    for name, content in (("rows.svm", libsvm(X, y)), ("rows.vw", libsvm(X, y, weights))):
        path = tmp_path / name
        path.write_bytes(content)
        plain = list(open_source(path, block_size=300).blocks())
        for _ in range(3):  # written, read by whoever wrote it, read by another
            source = cached(open_source(path, block_size=300))
            for _ in range(2):
                found = list(source.blocks())
                assert len(found) == len(plain)
                for a, b in zip(found, plain, strict=True):
                    for left, right in zip(a.X[:3], b.X[:3], strict=True):
                        np.testing.assert_array_equal(left, right)
                    np.testing.assert_array_equal(a.labels, b.labels)
                    assert (a.weights is None) == (b.weights is None) == name.endswith("svm")
                    np.testing.assert_array_equal(a.weights, b.weights)
            assert source.features.n_columns == 12
        assert cache_path(open_source(path)).exists()


def test_a_cache_belongs_to_its_bytes_and_options(tmp_path):
    X, y = rows(9)
    path = tmp_path / "rows.svm"
    path.write_bytes(libsvm(X, y))

    def read(**options):
        return [b.X.shape for b in cached(open_source(path, **options)).blocks()]

    first = read()
    assert read() == first and read(n_features=20)[0][1] == 20
    path.write_bytes(libsvm(X[:50], y[:50]))
    assert read()[0][0] == 50


def test_a_damaged_cache_is_made_anew_or_refused(tmp_path):
    X, y = rows(9)
    path = tmp_path / "rows.svm"
    path.write_bytes(libsvm(X, y))
    list(cached(open_source(path)).blocks())
    cache = cache_path(open_source(path))
    whole = cache.read_bytes()
    cache.write_bytes(whole[:-5])  # cut short: made anew
    list(cached(open_source(path)).blocks())
    assert cache.read_bytes() == whole
    cache.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
    with pytest.raises(ValueError, match="cache is damaged; delete it"):
        list(cached(open_source(path)).blocks())


def test_fits_with_other_options_have_other_caches(tmp_path):
    """Two fits that read one file in different ways at the same time do not learn each other's rows."""
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n" + "".join(f"{i % 2},{i % 3 > 0:d},{i % 5}\n" for i in range(60)))
    one, other = (cached(open_source(path, label=label)) for label in "ab")
    plain = [np.concatenate([b.labels for b in open_source(path, label=v).blocks()]) for v in "ab"]
    for source in (one, other, one, other):
        found = np.concatenate([b.labels for b in source.blocks()])
        np.testing.assert_array_equal(found, plain[source is other])


def test_a_fit_keeps_to_the_cache_that_it_began_with(tmp_path):
    X, y = rows(9)
    path = tmp_path / "rows.svm"
    path.write_bytes(libsvm(X, y))
    source = cached(open_source(path))
    first = [block.labels for block in source.blocks()]
    cache = cache_path(open_source(path))
    cache.unlink()
    cache.write_bytes(b"another cache, put in its place")
    np.testing.assert_array_equal(np.concatenate(first), np.concatenate([b.labels for b in source.blocks()]))


def test_a_cache_that_is_written_to_between_passes_is_refused(tmp_path):
    X, y = rows(9)
    path = tmp_path / "rows.svm"
    path.write_bytes(libsvm(X, y))
    source = cached(open_source(path))
    for _ in range(2):
        list(source.blocks())
    cache = cache_path(open_source(path))
    with cache.open("r+b") as file:
        file.seek(40)
        file.write(b"\xff\xff\xff")
    with pytest.raises(ValueError, match="cache is damaged; delete it"):
        list(source.blocks())


def test_what_is_no_cache_of_ones_own_is_neither_read_nor_replaced(tmp_path):
    X, y = rows(9)
    path = tmp_path / "rows.svm"
    path.write_bytes(libsvm(X, y))
    cache = cache_path(open_source(path))
    cache.write_bytes(b"my notes")
    with pytest.raises(ValueError, match="is not a cache, so it is neither read nor replaced"):
        cached(open_source(path))
    assert cache.read_bytes() == b"my notes"
    cache.unlink()
    cache.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="is a link"):
        cached(open_source(path))
    cache.unlink()
    list(cached(open_source(path)).blocks())
    cache.chmod(0o666)
    with pytest.raises(ValueError, match="may be written to by other users"):
        cached(open_source(path))


def forged(whole, change):
    """A cache with another directory, whose digest is right."""
    at = int.from_bytes(whole[-64:-56], "little")
    arrays = load_arrays(whole[at:-64])
    directory = json.loads(arrays["directory"].tobytes())
    change(directory)
    arrays["directory"] = np.frombuffer(json.dumps(directory).encode(), dtype=np.uint8)
    content = save_arrays(arrays)
    sizes = at.to_bytes(8, "little") + len(content).to_bytes(8, "little")
    return whole[:at] + content + sizes + blake2b(content, digest_size=32).digest() + whole[-16:]


@pytest.mark.parametrize(
    "key, value",
    [
        ("rows", 10**12),
        ("rows", -1),
        ("size", 10**12),
        ("size", -8),
        ("at", 10**12),
        ("at", -1),
        ("decimals", "x"),
        ("arrays", {"indices": ["<i4", 10**12], "indptr": ["<i4", 2]}),
        ("arrays", {"indices": ["<i4", 5], "indptr": ["<i4", 2]}),
        ("arrays", {"indices": ["|O", 5], "indptr": ["<i4", 2]}),
        ("arrays", {}),
        ("arrays", None),
    ],
)
def test_a_forged_directory_is_refused(tmp_path, key, value):
    X, y = rows(9)
    path = tmp_path / "rows.svm"
    path.write_bytes(libsvm(X, y))
    list(cached(open_source(path)).blocks())
    cache = cache_path(open_source(path))
    cache.write_bytes(forged(cache.read_bytes(), lambda d: d["blocks"][0].update({key: value})))
    with pytest.raises(ValueError, match="cache is damaged; delete it"):
        list(cached(open_source(path)).blocks())


def test_a_file_that_grows_during_the_last_pass_is_noticed(tmp_path):
    X, y = rows(9)
    path = tmp_path / "rows.svm"
    path.write_bytes(libsvm(X, y))
    with pytest.raises(ValueError, match="has changed since it was first read"):
        for _ in open_source(path, block_size=100).blocks():
            with path.open("ab") as file:
                file.write(b"1 1:1\n")


def test_an_abandoned_pass_leaves_no_cache(tmp_path):
    X, y = rows(9)
    path = tmp_path / "rows.svm"
    path.write_bytes(libsvm(X, y))
    blocks = cached(open_source(path, block_size=100)).blocks()
    next(blocks)
    blocks.close()
    assert [p.name for p in tmp_path.iterdir()] == ["rows.svm"]


# ---- what can be read only once ------------------------------------------------------------------------
class Once(io.RawIOBase):
    """A pipe: no seeking."""

    def __init__(self, content):
        self._content = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._content.readinto(buffer)


def test_a_pipe_is_learned_from_once():
    X, y = rows(2)

    def fit(epochs=1, classes=None, **options):
        plan = Plan(max_epochs=epochs, order="cyclic")
        return streaming.fit(
            open_source(Once(libsvm(X, y))), classes or StreamClasses(grow=True), Settings(), plan, **options
        )

    learned = fit(classes=StreamClasses([0, 1]))
    np.testing.assert_array_equal(
        learned.model.coef(averaged=False)[0],
        Perceptron(order="cyclic", average=False, max_epochs=1).fit(X, y).coef_,
    )
    assert learned.run.consistent is None  # no second pass to look
    for options, what in (
        ({"epochs": 2}, "max_epochs=2"),
        ({"scale": "maxabs"}, "scaling"),
        ({"class_weight": "balanced"}, "balanced"),
        ({"classes": StreamClasses()}, "finding the classes first"),
    ):
        with pytest.raises(ValueError, match=f"read only once, which is not enough for {what}"):
            fit(**options)


# ---- the estimator -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "options", [{}, {"order": "cyclic"}, {"order": "cyclic", "max_epochs": 4, "average": True}]
)
def test_fit_source_is_fit_on_the_same_rows(tmp_path, options):
    X, y = rows(11, classes=3)
    source = open_source(io.BytesIO(libsvm(X, y)), block_size=200)
    how = {"class_weight": {0: 2.0}, "random_state": 0} | options
    model, twin = Perceptron(**how).fit_source(source), Perceptron(**how).fit(X, y)
    np.testing.assert_array_equal(model.coef_, twin.coef_)
    assert model.classes_.tolist() == [0, 1, 2] and model.n_features_in_ == 12
    more = open_source(io.BytesIO(libsvm(X, y)), features=model.features_, labelled=False)
    (block,) = more.blocks()
    np.testing.assert_array_equal(model.predict(block.X), twin.predict(X))
    model.save(tmp_path / "m")
    loaded = Perceptron.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.coef_, twin.coef_)
    assert not hasattr(model.fit(X, y), "features_")
    with pytest.raises(ValueError, match="early_stopping needs all rows in memory"):
        Perceptron(early_stopping=True).fit_source(source)


def test_fit_source_keeps_names(tmp_path):
    source = open_source(io.BytesIO(b"1 | free:2 now\n0 | lunch now\n"))
    model = Perceptron().fit_source(source, classes=[1, 0])
    assert model.classes_.tolist() == [1, 0]
    model.save(tmp_path / "m")
    from novikoff import load_model

    assert load_model(tmp_path / "m").top_features()[0][0][0] == "lunch"
