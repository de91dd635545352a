"""Model files: what is saved is what is loaded, bit by bit, and nothing else is ever believed."""

import errno
import json
import resource

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load as load_tensors

import novikoff
from novikoff import Perceptron
from novikoff.data.sources.block import Block, Csr
from novikoff.data.sources.features import NamedFeatures, NumberedFeatures
from novikoff.linear.model import LinearModel
from novikoff.modelfile import container as modelfile
from novikoff.training import state as training_state
from novikoff.training.weights import Model, Settings, Weights
from support.children import run_python
from support.marks import may_not_separate

pytestmark = may_not_separate


def data(n_classes=2, n=60, d=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).round(1)
    return X, np.arange(n) % n_classes


def file_of(facts, arrays, kind):
    return b"".join(map(bytes, modelfile._serialized(facts, arrays, kind)))


def same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def same_model(a, b, *, under_way=False):
    """Close decisions are counted only while a fit is under way: they depend on how it was cut into calls."""
    assert a.settings == b.settings and a.from_zero == b.from_zero and a.apart == b.apart
    assert (a.n_classes, a.n_features) == (b.n_classes, b.n_features)
    for one, other in zip(a.learners, b.learners, strict=True):
        left_out = {} if under_way else {"fallbacks": None}
        assert one.counts() | left_out == other.counts() | left_out
        for name in ("weights", "bias", "weight_sums", "bias_sums"):
            mine, theirs = getattr(one, name), getattr(other, name)
            assert mine is theirs is None or same_bits(mine, theirs)


KINDS = [
    {"average": average, "rule": rule, "multiclass": multiclass}
    for average in (False, True)
    for rule in ("perceptron", "pa1")
    for multiclass in ("joint", "ovr")
]


@pytest.mark.parametrize("params", KINDS, ids=lambda p: "-".join(map(str, p.values())))
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_round_trip(tmp_path, params, n_classes):
    """The loaded estimator is the saved one: state, predictions, report, and what it learns next."""
    X, y = data(n_classes)
    model = Perceptron(max_epochs=5, random_state=3, intercept_scaling=0.7, **params).fit(X, y)
    model.save(tmp_path / "m.novikoff")
    loaded = Perceptron.load(tmp_path / "m.novikoff")
    same_model(model._model, loaded._model)
    assert same_bits(model.coef_, loaded.coef_) and same_bits(model.intercept_, loaded.intercept_)
    assert same_bits(model.predict(X), loaded.predict(X))
    assert same_bits(model.decision_function(X), loaded.decision_function(X))
    assert loaded.get_params() == model.get_params()
    first, second = model.report().to_dict(), loaded.report().to_dict()
    for name in ("seconds", "compensated", "accumulator"):  # of the session, not of the model
        assert first.pop(name) >= 0 and second.pop(name) is None
    np.testing.assert_equal(first, second)
    assert [r | {"seconds": 0} for r in model.history_] == [r | {"seconds": 0} for r in loaded.history_]
    assert (model.witness_ is None) == (loaded.witness_ is None)
    if model.witness_ is not None:
        assert all(map(same_bits, model.witness_, loaded.witness_))
    more, labels = data(n_classes + 1, seed=1)
    model.partial_fit(more, labels)
    loaded.partial_fit(more, labels)
    for one, other in zip(model._model.learners, loaded._model.learners, strict=True):
        assert same_bits(one.weights, other.weights) and same_bits(one.bias, other.bias)
        assert model.n_mistakes_ == loaded.n_mistakes_


def test_equal_models_are_equal_files(tmp_path):
    """No time, place or chance goes into the file, and what is loaded is saved the same."""
    X, y = data()
    for name in ("a", "b"):
        Perceptron(random_state=0, average=True, max_epochs=3).fit(X, y).save(tmp_path / name)
    Perceptron.load(tmp_path / "a").save(tmp_path / "c")
    novikoff.load_model(tmp_path / "b").save(tmp_path / "d")
    assert len({(tmp_path / name).read_bytes() for name in "abcd"}) == 1


def test_the_same_in_another_process(tmp_path):
    """String hashing is seeded for each process; the file does not depend on it."""
    code = (
        "import novikoff; novikoff.Perceptron(order='cyclic').fit([[0., 1], [1, 0]], ['a', 'b']).save({!r})"
    )
    for seed in "01":
        run_python("-c", code.format(str(tmp_path / seed)), environment={"PYTHONHASHSEED": seed})
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["ham", "spam", "naïve\nline", "\ud800"]),
        np.array(["a", "b", "c", "d"], dtype=object),
        np.array([0.0, 1.0, -2.0, 1e15]),
        np.array([3, -1, 7, 2**62]),
        np.array([1, 2, 3, 200], dtype=np.uint8),
    ],
    ids=["text", "objects", "floats", "ints", "bytes"],
)
def test_labels_of_every_kind(tmp_path, labels):
    X, y = data(4)
    model = Perceptron(max_epochs=3, random_state=0).fit(X, labels[y])
    model.save(tmp_path / "m")
    assert same_labels(Perceptron.load(tmp_path / "m").predict(X), model.predict(X))
    assert novikoff.load_model(tmp_path / "m").classes.tolist() == model.classes_.tolist()


def same_labels(a, b):
    return a.dtype.kind == b.dtype.kind and a.tolist() == b.tolist()


def test_labels_that_are_not_data(tmp_path):
    X, y = data()
    model = Perceptron(max_epochs=3).fit(X, np.array([(1, 2), (3, 4)], dtype="i,i").astype(object)[y])
    with pytest.raises(ValueError, match="labels that are numbers or text, not tuple"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_parameters(tmp_path):
    """What JSON cannot say is None in the loaded model; labels in class_weight keep their type."""
    X, y = data()
    model = Perceptron(
        class_weight={0: 1.0, 1: 2.5},
        random_state=np.random.default_rng(0),
        callback=lambda record: None,
        max_epochs=2,
    ).fit(X, y)
    model.save(tmp_path / "m")
    loaded = Perceptron.load(tmp_path / "m")
    assert loaded.get_params() == model.get_params() | {"random_state": None, "callback": None}


def test_assigned_weights_are_refused(tmp_path):
    X, y = data()
    model = Perceptron(max_epochs=2, random_state=0).fit(X, y)
    model.save(tmp_path / "a")
    model.sparsify().save(tmp_path / "b")  # the same weights in another form
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    model.coef_ = np.ones((1, 7))
    with pytest.raises(ValueError, match="assigned by hand"):
        model.save(tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_grown_models(tmp_path):
    """Two classes, then three (ovr parts), then five: the padding is not stored."""
    for multiclass in ("joint", "ovr"):
        model = Perceptron(average=True, multiclass=multiclass)
        for k in (2, 3, 5):
            model.partial_fit(*data(k, seed=k))
            model.save(tmp_path / "m")
            same_model(model._model, Perceptron.load(tmp_path / "m")._model)
        tensors = load_tensors((tmp_path / "m").read_bytes())
        assert tensors["model.weights"].shape == (7, 5) and tensors["model.bias"].shape == (5,)


def wide(n_features=1 << 16, n_classes=2, used=(3, 77, 65535)):
    model = Model(n_classes, n_features, Settings(average=True))
    k = 1 if n_classes == 2 else n_classes
    for j in used:
        model.learners[0].weights[j, :k] = np.arange(1, k + 1) / 3
        model.learners[0].weight_sums[j, :k] = -0.0
    model.learners[0].reset_norm()
    return LinearModel(model, np.arange(n_classes), NumberedFeatures(n_features))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_mostly_zero_weights_take_little_room(tmp_path, n_classes):
    """Rows that are 0 are left out where that is smaller; a negative zero is no zero here."""
    linear = wide(n_classes=n_classes)
    linear.save(tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 4000
    loaded = novikoff.load_model(tmp_path / "m")
    same_model(linear.model, loaded.model)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "again").read_bytes()


def test_order_of_memory():
    """Arrays are written as they lie in memory: Fortran order, slices and byte order must not scramble."""
    whole = np.arange(24.0).reshape(4, 6)
    for value in (whole.T, whole[:, ::2], whole[::-1], whole.astype(">f8"), np.asfortranarray(whole)):
        tensors = load_tensors(file_of({}, {"a": value}, "checkpoint"))
        np.testing.assert_array_equal(tensors["a"], value)


@pytest.mark.parametrize("dtype", sorted(modelfile.DTYPES))
def test_safetensors_reads_every_type(dtype):
    value = np.array([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    tensors = load_tensors(file_of({}, {"odd": np.ones(3, dtype=np.uint8), "a": value}, "model"))
    assert same_bits(tensors["a"], value)


def test_facts_and_arrays(tmp_path):
    """The lower layer, for checkpoints: everything comes back, NaN and infinity too."""
    facts = {"b": [1, 2.5, None, True, "é\ud800"], "a": {"nan": float("nan"), "inf": -float("inf")}}
    arrays = {
        "empty": np.zeros((0, 3)),
        "none": np.array(5, dtype=np.int8),
        "x": np.array([True, False]),
    }
    modelfile.write_file(tmp_path / "f", facts, arrays, "checkpoint")
    said, held = modelfile.read_file(tmp_path / "f", "checkpoint")
    np.testing.assert_equal(said, facts)
    assert held.keys() == arrays.keys() and all(same_bits(held[k], arrays[k]) for k in arrays)
    with pytest.raises(ValueError, match="f: holds a novikoff checkpoint, expected a model"):
        modelfile.read_file(tmp_path / "f", "model")
    with pytest.raises(ValueError, match="cannot hold the array 'o' of type object"):
        modelfile.write_file(tmp_path / "g", {}, {"o": np.array([None])}, "model")


@given(st.lists(st.text()))
def test_packed_text(texts):
    assert modelfile.unpack_text(*modelfile.pack_text(texts)) == texts


def test_packed_text_that_does_not_fit():
    content, offsets = modelfile.pack_text(["ab", "c"])
    for wrong in (offsets[:-1], offsets + 1, offsets[::-1].copy(), offsets[:0], offsets.astype(np.int32)):
        with pytest.raises(ValueError, match="packed text"):
            modelfile.unpack_text(content, wrong)


def test_a_learner_under_way_goes_on_as_if_nothing_had_happened():
    """With the filter's state even the counts of close decisions are those of the undisturbed run."""
    rng = np.random.default_rng(0)
    X = 0.18257 * rng.integers(0, 2, (400, 30))
    y = rng.integers(0, 3, 400).astype(np.int32)
    settings = Settings(average=True)

    def learn(model, begin, end):
        from novikoff import _core
        from novikoff.data.arrays import rows_of

        _core.epoch(model.learners[0].native, _core.Examples(rows_of(X), y), begin, end, True)

    undisturbed, model = Model(3, 30, settings), Model(3, 30, settings)
    for begin in range(0, 400, 50):
        learn(undisturbed, begin, begin + 50)
        facts, arrays = training_state.model_state(model, under_way=True)
        model = training_state.model_from_state(json.loads(json.dumps(facts)), arrays)
        learn(model, begin, begin + 50)
    same_model(undisturbed, model, under_way=True)
    assert undisturbed.learners[0].native.filter == model.learners[0].native.filter
    assert undisturbed.learners[0].native.fallbacks[0] > 0


# ---- predicting without scikit-learn -------------------------------------------------------------------
def test_load_model_predicts(tmp_path):
    """`load_model` needs no scikit-learn, and blocks, arrays and CSR give the estimator's answers."""
    X, y = data(3)
    model = Perceptron(max_epochs=3, random_state=0).fit(X, y)
    model.save(tmp_path / "m")
    loaded = novikoff.load_model(tmp_path / "m")
    rows = sp.csr_array(X)
    csr = Csr(rows.data, rows.indices, rows.indptr, rows.shape)
    for layout in (X, np.asfortranarray(X), X.tolist(), rows, rows.tocsc(), csr):
        assert same_bits(loaded.predict(layout), model.predict(X))
    block = Block(csr, None, None, 0, str)
    (labels,), (scores,) = loaded.predict_blocks([block]), loaded.score_blocks([block])
    assert same_bits(labels, model.predict(X)) and scores.argmax(axis=1).tolist() == labels.tolist()
    with pytest.raises(ValueError, match=r"X has shape \(60, 6\), but the model expects rows of 7 features"):
        loaded.predict(X[:, :6])
    code = (
        f"import sys, novikoff; m = novikoff.load_model({str(tmp_path / 'm')!r}); m.predict([[0.0] * 7]);"
        "m.save(sys.argv[1]); print(m.report, 'sklearn' in sys.modules, 'scipy' in sys.modules)"
    )
    assert run_python("-c", code, tmp_path / "n").stdout.endswith("False False\n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


def test_a_model_that_goes_on_learning_predicts_with_its_new_weights():
    X, y = data()
    model = Perceptron(average=True).partial_fit(X, y)
    linear = model.to_linear()
    before = linear.predict(X)
    model.partial_fit(X, 1 - y)
    assert same_bits(linear.predict(X), model.predict(X))
    assert not same_bits(linear.predict(X), before)


def test_top_features():
    """Those with the largest weights for the class, ties by column; the first of two classes has −w."""
    linear = wide(n_features=8, used=())
    w = linear.model.learners[0].weights
    w[:, 0] = [1, -2, 0, 3, 1, -0.5, 1, 3]
    assert linear.model.learners[0].native.visits == 0
    assert linear.top_features(4, 1)[1] == [("4", 3), ("8", 3), ("1", 1), ("5", 1)]
    assert linear.top_features(label=1)[1] == [("4", 3), ("8", 3), ("1", 1), ("5", 1), ("7", 1)]
    assert linear.top_features(5)[0] == [("2", 2), ("6", 0.5)]
    assert linear.top_features(0)[0] == []
    with pytest.raises(ValueError, match=r"no class 'x'; it has \[0, 1\]"):
        linear.top_features(label="x")


def test_feature_names(tmp_path):
    import pandas as pd

    X, y = data()
    frame = pd.DataFrame(X, columns=[*"abcdef", "g\nh"])
    model = Perceptron(max_epochs=2, random_state=0).fit(frame, y)
    model.save(tmp_path / "m")
    loaded = Perceptron.load(tmp_path / "m")
    assert loaded.feature_names_in_.tolist() == frame.columns.tolist()
    assert same_bits(loaded.predict(frame), model.predict(frame))


@pytest.mark.parametrize("hash_bits", [None, 18])
def test_named_features(tmp_path, hash_bits):
    """Names, or hashes with the first names that led to them, and the way from a name to its column."""
    features = NamedFeatures(hash_bits=hash_bits, seed=5)
    columns = features.place(["a b", "job=cook", "new\nline", "é"])
    model = Model(2, features.n_columns, Settings())
    model.learners[0].weights[columns, 0] = [1, 2, 3, -4]
    LinearModel(model, np.array(["x", "y"]), features).save(tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 4000
    loaded = novikoff.load_model(tmp_path / "m")
    assert loaded.top_features()["y"] == [("new\nline", 3.0), ("job=cook", 2.0), ("a b", 1.0)]
    assert loaded.features.place(["job=cook"]).tolist() == [columns[1]]
    facts, arrays = modelfile.read_file(tmp_path / "m", "model")
    for name in (name for name in arrays if name.startswith("features.")):
        for wrong in (arrays[name][:-1], arrays[name].reshape(1, -1), arrays[name] * 0 - 1):
            with pytest.raises(ValueError) as info:
                refused_file(tmp_path / "bad", facts, arrays | {name: wrong})
            assert "\n" not in str(info.value)


def refused_file(path, facts, arrays):
    modelfile.write_file(path, facts, arrays, "model")
    novikoff.load_model(path)


# ---- failing to write ----------------------------------------------------------------------------------
def test_a_full_disk_leaves_the_old_file(tmp_path):
    """RLIMIT_FSIZE stands in for a full disk: writing fails half way."""
    X, y = data(d=2000)
    path = tmp_path / "m.novikoff"
    Perceptron(max_epochs=1, random_state=0).fit(X[:, :3], y).save(path)
    old = path.read_bytes()
    large = Perceptron(max_epochs=1, random_state=0).fit(X, y)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))
    try:
        with pytest.raises(
            OSError, match=r"nothing was saved, and what was there before is untouched"
        ) as info:
            large.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert info.value.errno == errno.EFBIG and info.value.filename == str(path)
    assert path.read_bytes() == old and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failing_at_any_step_leaves_the_old_file(tmp_path, monkeypatch, step):
    path = tmp_path / "m"
    modelfile.write_file(path, {"version": 1}, {}, "model")

    def fail(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(modelfile.os if step == "fsync" else modelfile.Path, step, fail)
    with pytest.raises(OSError, match="No space left on device; nothing was saved"):
        modelfile.write_file(path, {"version": 2}, {}, "model")
    monkeypatch.undo()
    assert modelfile.read_file(path, "model")[0] == {"version": 1} and list(tmp_path.iterdir()) == [path]


def test_interrupted_while_writing(tmp_path, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(modelfile.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        modelfile.write_file(tmp_path / "m", {}, {}, "model")
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing was saved"):
        modelfile.write_file(tmp_path / "no" / "m", {}, {}, "model")
    with pytest.raises(IsADirectoryError, match="nothing was saved"):
        modelfile.write_file(tmp_path, {}, {}, "model")
    assert not list(tmp_path.iterdir())


def test_links_and_permissions(tmp_path):
    """A link goes on pointing to its file; a new file has the permissions that any new file has."""
    (tmp_path / "link").symlink_to("real")
    modelfile.write_file(tmp_path / "link", {}, {}, "model")
    (tmp_path / "plain").touch()
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").is_file()
    assert (tmp_path / "real").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_learner_counts_are_all_stored():
    """A count that is added to the learner must be added to the file as well."""
    stored = training_state.model_state(Model(2, 1, Settings()), under_way=True)[0]["parts"][0]
    assert set(stored) == {*Weights.COUNTS, "filter"}
