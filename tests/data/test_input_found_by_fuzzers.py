"""Input that is inconsistent, as the fuzzers have found it: refused by one error."""

import datetime
import json
import zlib
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

import novikoff
from novikoff import Perceptron, _core, open_source, theory
from novikoff.data.scaling import Scaling
from novikoff.data.sources.cache import FOOTER, MAGIC, cached
from novikoff.modelfile import container as modelfile
from novikoff.parameters.linear import LINEAR_PARAMETERS
from support import model_files

Y = [0, 1, 0, 1]


def sparse(make, kind=np.float64):
    return make(np.array([[1, 0, 2], [0, 3, 0], [4, 0, 0], [0, 0, 5]], dtype=kind))


SPOILED = {
    "indptr beyond what is stored": lambda X: X.indptr.__setitem__(2, 10**6),
    "indptr that falls": lambda X: X.indptr.__setitem__(1, 5),
    "indptr below 0": lambda X: X.indptr.__setitem__(0, -1),
    "indptr too short": lambda X: setattr(X, "indptr", X.indptr[:-1]),
    "an index beyond the shape": lambda X: X.indices.__setitem__(1, 10**6),
    "an index below 0": lambda X: X.indices.__setitem__(1, -7),
    "fewer indices than values": lambda X: setattr(X, "indices", X.indices[:2]),
    "fewer values than indices": lambda X: setattr(X, "data", X.data[:2]),
}


@pytest.mark.parametrize("spoil", SPOILED)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csc_matrix, sp.bsr_array])
def test_sparse_matrices_whose_arrays_do_not_fit(make, kind, spoil):
    """scipy's own conversions do not look: they end the process."""
    X = sparse(make, kind)
    SPOILED[spoil](X)
    for use in (lambda: Perceptron(max_epochs=2).fit(X, Y), lambda: theory.radius(X)):
        with pytest.raises(ValueError, match=r"not sound|sparse X|CSR matrix"):
            use()


def test_coordinates_outside_the_shape():
    X = sp.coo_array(sparse(sp.csr_array))
    X.coords[1][0] = 10**6
    with pytest.raises(ValueError, match=r"values outside its shape, \(4, 3\)"):
        Perceptron().fit(X, Y)


@pytest.mark.parametrize("form", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
@pytest.mark.parametrize("kind", [float, int])
def test_every_form_of_sparse_is_the_dense_one(form, kind):
    X = sparse(sp.csr_array, kind)
    model = Perceptron(order="cyclic", max_epochs=5)
    expected = model.fit(X.toarray().astype(float), Y).coef_.tolist()
    assert model.fit(X.asformat(form), Y).coef_.tolist() == expected


def at_odd_address(array):
    memory = np.zeros(array.nbytes + 1, np.uint8)[1:]
    out = memory.view(array.dtype).reshape(array.shape)
    out[...] = array
    return out


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_core_reads_only_what_is_aligned(kind):
    """What is not is copied; the core refuses what was not."""
    X = at_odd_address(np.arange(6, dtype=kind).reshape(3, 2))
    assert not X.flags.aligned
    with pytest.raises(ValueError, match="aligned"):
        _core.Rows(X)
    assert Perceptron(order="cyclic").fit(X, [0, 1, 1]).coef_.shape == (1, 2)
    good = sp.csr_array(np.eye(3, dtype=kind))
    with pytest.raises(ValueError, match="aligned"):
        _core.Rows(at_odd_address(good.data), good.indices, good.indptr, 3)


def test_points_without_any_weight_are_no_hull():
    alpha = np.array([-1.0, np.nan])
    assert _core.mdm(np.eye(2), alpha, 10, 1e-9) == 0


# ---- files -------------------------------------------------------------------------------------------------
def test_a_time_that_python_cannot_say(tmp_path):
    times = pa.array([2**62 + 1, 0], pa.timestamp("us"))
    path = tmp_path / "t.arrow"
    table = pa.table({"label": ["a", "b"], "when": times})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(OverflowError):
        str(times[0])
    with pytest.raises(ValueError, match=r"4611686018427387905 \(us\)"):
        list(open_source(path, label="label").blocks())
    good = pa.array([datetime.datetime(2020, 1, 1)] * 2)
    assert str(good[0]).startswith("2020")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("parameters", []),
        ("class_weight", 3),
        ("class_weight", {"a": "x"}),
        ("surveyed", 1),
        ("heaviest", "1"),
        ("visited", -1),
        ("rows", 1.5),
        ("history", [{"epoch": 1}]),
        ("history", [{"mistakes": 1, "updates": 1}]),
        ("before", 0.5),
        ("before", [1]),
        ("began", [[0, "x"]]),
        ("settled_at", {"a": 1}),
        ("digest", [[], 1]),
        ("digest", ["00", -1]),
        ("scaling", None),
    ],
)
def test_a_checkpoint_that_says_something_else_is_refused(key, value, tmp_path):
    """Though its digest fits."""
    path = tmp_path / "checkpoint"
    model_files.checkpoint(path)
    facts, arrays = modelfile.read_file(path, "checkpoint")
    assert key in facts
    modelfile.write_file(path, facts | {key: value}, arrays, "checkpoint")
    with pytest.raises(ValueError, match="checkpoint"):
        model_files.see_checkpoint(path)


def forged_block(path, array, at, value):
    """Another number in the first block of a cache, under checksums that fit."""
    whole = bytearray(path.read_bytes())
    begin = int.from_bytes(whole[-FOOTER:][:8], "little")
    arrays = load_arrays(bytes(whole[begin:-FOOTER]))
    directory = json.loads(arrays.pop("directory").tobytes())
    entry = directory["blocks"][0]
    place = entry["at"]
    for name, (kind, *shape) in entry["arrays"].items():
        if name == array:
            whole[place + 4 * at : place + 4 * at + 4] = value.to_bytes(4, "little", signed=True)
        place += -(-int(np.dtype(kind).itemsize * np.prod(shape)) // 8) * 8
    entry["crc"] = zlib.crc32(whole[entry["at"] : entry["at"] + entry["size"]])
    said = np.frombuffer(json.dumps(directory).encode(), np.uint8)
    content = save_arrays({"directory": said} | arrays)
    footer = begin.to_bytes(8, "little") + len(content).to_bytes(8, "little")
    path.write_bytes(
        bytes(whole[:begin]) + content + footer + blake2b(content, digest_size=32).digest() + MAGIC
    )


@pytest.mark.parametrize("value", [7, -1, 2**31 - 1])
def test_a_forged_block_of_a_cache_is_refused(value, tmp_path):
    """A column between those there are and those there is memory for was followed in the second epoch."""
    data = tmp_path / "rows.vw"
    data.write_text(model_files.ROWS["vw"] * 5)

    def fit():
        return Perceptron(max_epochs=3, order="cyclic").fit_source(cached(open_source(data, block_size=100)))

    fit()
    (path,) = tmp_path.glob("*.cache")
    forged_block(path, "indices", 2, value)
    with pytest.raises(ValueError, match="the cache is damaged"):
        fit()


def test_scaling_of_too_few_columns():
    scaling = Scaling("maxabs", np.zeros(0), np.ones(2))
    with pytest.raises(ValueError, match="the rows have 3 columns, but the scaling was measured for 2"):
        scaling.transform(np.ones((2, 3)))


@pytest.mark.parametrize("name", ["C", "margin", "intercept_scaling"])
def test_a_parameter_beyond_every_double(name):
    with pytest.raises(ValueError, match=name):
        LINEAR_PARAMETERS[name].check(10**400)
    with pytest.raises(ValueError, match=name):
        novikoff.Perceptron(**{name: 10**400}).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("name", ["radius", "largest_loss"])
def test_an_infinite_figure_of_a_structured_model_is_refused(tmp_path, name):
    """Such a file was taken, and its report an OverflowError."""
    kept = model_files.FOLDER / "0.1.0" / "structured-trees"
    facts, arrays = modelfile.read_file(kept, "structured")
    where = next(part for part in (facts, *facts.values()) if isinstance(part, dict) and name in part)
    where[name] = float("inf")
    modelfile.write_file(tmp_path / "forged", facts, arrays, "structured")
    with pytest.raises(ValueError, match=f"{name} is inf, expected a finite number"):
        novikoff.StructuredPerceptron.load(tmp_path / "forged")


@pytest.mark.parametrize("value", [float("inf"), -1, 0.5, 2**63])
def test_counts_in_a_history_are_counts(tmp_path, value):
    facts, arrays = modelfile.read_file(model_files.FOLDER / "0.1.0" / "linear-two", "model")
    facts["run"]["history"][0]["mistakes"] = value
    modelfile.write_file(tmp_path / "forged", facts, arrays, "model")
    with pytest.raises(ValueError, match="history has"):
        novikoff.load_model(tmp_path / "forged")
