"""Model files that are damaged, forged or of something else: refused by one line, before anything is used."""

import json
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save as save_tensors

import novikoff
from novikoff import Perceptron
from novikoff.modelfile import container as modelfile
from support.marks import may_not_separate
from support.tampered import (
    check_changed_bytes,
    loaded,
    put,
    put_anything,
    put_array,
    refused,
    saved,
    tampered,
)

pytestmark = may_not_separate


# ---- what is not believed ------------------------------------------------------------------------------
def small():
    X, y = np.random.default_rng(0).standard_normal((12, 4)).round(1), np.arange(12) % 3
    return Perceptron(max_epochs=2, random_state=0, average=True).fit(X, y).to_linear()


@pytest.fixture(scope="module")
def good():
    return saved(small())


def test_files_that_are_something_else(tmp_path, good):
    path = tmp_path / "m"
    assert "not in safetensors format" in refused(path, b"")
    assert "not in safetensors format" in refused(path, b"+1 3:0.5\n-1 2:1\n")
    assert "not in safetensors format" in refused(path, pickle.dumps({"weights": [1.0]}))
    assert "no 'novikoff' in its metadata" in refused(path, save_tensors({"a": np.zeros(3)}))
    assert "claims 1,152,921,504,606,846,976 bytes" in refused(path, struct.pack("<Q", 1 << 60) + good[8:])
    with pytest.raises(IsADirectoryError):
        novikoff.load_model(tmp_path)
    with pytest.raises(FileNotFoundError):
        novikoff.load_model(tmp_path / "missing")


def test_a_newer_format(tmp_path, monkeypatch):
    monkeypatch.setattr(modelfile, "FORMAT", 2)
    small().save(tmp_path / "m")
    monkeypatch.undo()
    said = refused(tmp_path / "m", (tmp_path / "m").read_bytes())
    assert "was written by a newer novikoff (format 2; this one reads up to 1)" in said


def test_a_header_that_claims_more_than_the_file_has(tmp_path, good):
    """Sizes are checked against the file before anything is allocated."""
    length = int.from_bytes(good[:8], "little")
    header = json.loads(good[8 : 8 + length])
    header["model.weights"]["shape"] = [1 << 40, 3]
    header["model.weights"]["data_offsets"][1] = header["model.weights"]["data_offsets"][0] + (3 << 43)
    text = json.dumps(header).encode()
    assert "damaged" in refused(tmp_path / "m", struct.pack("<Q", len(text)) + text + good[8 + length :])


def test_every_cut_is_refused(tmp_path, good):
    for size in (*range(0, len(good), 97), len(good) - 1):
        refused(tmp_path / "m", good[:size])
    refused(tmp_path / "m", good + b"\0")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put("model", "n_features", value=5), "'model.weights' has|'weights' has type float64 and shape"),
        (put("model", "n_features", value=1 << 60), "expected fewer"),
        (put("model", "n_features", value=-1), "n_features is -1, expected a whole number"),
        (put("model", "n_features", value=True), "n_features is True, expected int"),
        (put("model", "n_classes", value=4), "'bias' has type float64 and shape"),
        (put("model", "n_classes", value=1), "n_classes is 1"),
        (put("model", value=None), "model is missing, expected dict"),
        (put("model", "settings", "rule", value="best"), "rule is 'best', expected one of perceptron"),
        (put("model", "settings", "C", value=float("nan")), "C is nan"),
        (
            put("model", "settings", "more", value=1),
            "settings that this version does not know ('more')",
        ),
        (put("model", "parts", value=[]), "parts has 0 entries, expected 1"),
        (put("model", "parts", 0, "visits", value=-1), "visits is -1"),
        (put("model", "parts", 0, "visits", value=1 << 70), "visits is 1180591620717411303424"),
        (put("model", "from_zero", value="yes"), "from_zero is 'yes', expected bool"),
        (put("classes", "labels", value=["a"]), None),
        (put("classes", "type", value="str"), "labels"),
        (put("features", "kind", value="os.system"), "kind is 'os.system', expected one of numbered"),
        (put("features", "state", value={}), "n_columns is missing"),
        (put("features", "state", "n_columns", value=9), "9 features by name, but weights for 4"),
        (put("run", "history", value=[{"mistakes": "many"}]), "history has"),
        (put("run", "verdict", value="proved"), "verdict is 'proved'"),
        (put("name", value=7), "name is 7, expected str"),
        (put_array("model.weights", np.full((4, 3), np.nan)), "holds NaN or infinity"),
        (put_array("model.weights", np.zeros((4, 3), dtype=np.float32)), "has type float32"),
        (put_array("model.bias", np.zeros(4)), "expected float64 and (3)"),
        (put_array("classes.labels", [0, 1, 1]), "repeated"),
        (lambda facts, arrays: arrays.pop("model.weight_sums"), "is missing"),
    ],
)
def test_parts_that_do_not_fit_each_other(tmp_path, good, change, said):
    """With a digest that is right, so that only the checks of each part stand between it and a model."""
    content = tampered(good, change)
    if said is None:  # a fact that nobody reads
        (tmp_path / "m").write_bytes(content)
        novikoff.load_model(tmp_path / "m")
        return
    found = refused(tmp_path / "m", content)
    assert any(text in found for text in said.split("|")), found


def test_sparse_rows_that_do_not_fit(tmp_path, good):
    rows = [[2, 1], [0, 4], [-1, 2], [1, 1]]
    for bad in rows:

        def change(facts, arrays, bad=bad):
            del arrays["model.weights"]
            arrays["model.weights.rows"] = np.array(bad)
            arrays["model.weights.values"] = np.ones((2, 3))

        assert "not increasing numbers below 4" in refused(tmp_path / "m", tampered(good, change))


@given(st.data())
def test_changed_bytes_are_refused_or_change_nothing(tmp_path_factory, good, draw):
    check_changed_bytes(tmp_path_factory.mktemp("fuzz") / "m", good, draw)


def test_scaling_that_does_not_fit(tmp_path, good):
    """Checked before the scaling is made."""
    fits = {"scaling.centre": np.zeros(1), "scaling.scale": np.ones(4)}
    for name, wrong in [
        ("scale", np.ones(5)),
        ("scale", np.zeros(4)),
        ("scale", np.full(4, np.nan)),
        ("centre", np.ones(5)),
        ("centre", np.ones((1, 1))),
    ]:

        def change(facts, arrays, name=name, wrong=wrong):
            facts["scaling"] = {"kind": "standard"}
            arrays.update(fits | {f"scaling.{name}": wrong})

        said = refused(tmp_path / "m", tampered(good, change))
        assert name in said or "scaling" in said


@given(st.data())
def test_any_fact_replaced_by_anything(tmp_path_factory, good, draw):
    """No value of any fact leads to another error than a ValueError of one line."""
    path = tmp_path_factory.mktemp("facts") / "m"
    try:
        if (model := loaded(path, tampered(good, put_anything(draw)))) is not None:
            model.predict(np.ones((1, 4)))
    except ValueError as error:
        assert "\n" not in str(error)


def test_loading_an_estimator_checks_its_parameters(tmp_path, good):
    (tmp_path / "m").write_bytes(tampered(good, put("parameters", "max_epochs", value=0)))
    with pytest.raises(ValueError, match=r"m: max_epochs=0 is not possible"):
        Perceptron.load(tmp_path / "m")
