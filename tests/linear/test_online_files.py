"""Files of `OnlinePerceptron`: the loaded model goes on as the saved one would."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff
from novikoff import OnlinePerceptron
from novikoff.modelfile.container import read_file, write_file

STREAM = [
    ({"colour": "red", 7: 1.5, "size": 0.1}, "stop"),
    ({"colour": "green", "new\nline": 0.2}, "go"),
    ({"colour": "red", "7": 0.3, "size": 0.7}, "go"),
    ({"colour": "amber", "size": 0.18257}, "wait"),
    ({}, "stop"),
]
PARAMS = [
    {},
    {"average": True, "rule": "pa1"},
    {"hash_bits": 6, "seed": 3},
    {"hash_bits": 16, "average": True, "classes": ["go", "stop", "wait"]},
]


def same_state(a, b):
    first, second = a._get_state(), b._get_state()
    assert first.keys() == second.keys()
    for key in first.keys() - {"aliases"}:  # a cache of keys met, which fills again
        np.testing.assert_array_equal(first[key], second[key])


@pytest.mark.parametrize("params", PARAMS, ids=str)
def test_saved_and_loaded_at_every_step(tmp_path, params):
    """A model that is saved and loaded before every example ends as the one that never was."""
    undisturbed, model = OnlinePerceptron(**params), OnlinePerceptron(**params)
    for x, y in itertools.islice(itertools.cycle(STREAM), 23):
        model.save(tmp_path / "m")
        model = OnlinePerceptron.load(tmp_path / "m")
        assert model.predict_one(x) == undisturbed.predict_one(x)
        assert model.score_one(x) == undisturbed.score_one(x)
        for each in (model, undisturbed):
            each.learn_one(x, y)
        same_state(model, undisturbed)
    assert model.get_params() == undisturbed.get_params() and model.n_mistakes_ > 0
    assert model.feature_names_in_.tolist() == undisturbed.feature_names_in_.tolist()
    model.save(tmp_path / "a")
    undisturbed.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_labels(tmp_path):
    """Their types are kept; what is not data is refused."""
    model = OnlinePerceptron()
    model.learn_many([({"a": 1}, 1), ({"b": 1}, 2.5), ({"c": 1}, "x"), ({"c": 2}, False)])
    model.save(tmp_path / "m")
    assert list(map(repr, OnlinePerceptron.load(tmp_path / "m").classes_)) == ["1", "2.5", "'x'", "False"]
    model.learn_one({"a": 1}, ("a", "tuple"))
    with pytest.raises(ValueError, match=r"numbers or text, not tuple: \('a', 'tuple'\)"):
        model.save(tmp_path / "m")


def test_kinds_do_not_mix(tmp_path):
    OnlinePerceptron().save(tmp_path / "m")
    said = r"m: holds a novikoff online, expected a model: novikoff\.load_model, or OnlinePerceptron\.load"
    with pytest.raises(ValueError, match=said):
        novikoff.KernelPerceptron.load(tmp_path / "m")


def saved(folder):
    model = OnlinePerceptron(average=True)
    model.learn_many(STREAM)
    model.save(folder / "m")
    return read_file(folder / "m", "online")


@pytest.mark.parametrize(
    ("where", "name", "value", "said"),
    [
        ("parameters", "rule", "best", "rule='best' is not possible"),
        (
            "parameters",
            "shell",
            "rm",
            "parameters of OnlinePerceptron that this version does not know ('shell')",
        ),
        ("parameters", "hash_bits", 4, "names where hashes are expected"),
        ("parameters", "classes", ["a", "b"], "differ from the declared ones"),
        ("state", "classes", ["a", "a", "b"], "repeated"),
        ("state", "classes", ["a", [], "b"], "neither numbers nor text"),
        ("state", "visits", -1, "visits is -1"),
        ("state", "norm2", ["x"], "norm2"),
    ],
)
def test_parts_that_do_not_fit(tmp_path, where, name, value, said):
    facts, arrays = saved(tmp_path)
    facts[where][name] = value
    write_file(tmp_path / "m", facts, arrays, "online")
    with pytest.raises(ValueError) as info:
        OnlinePerceptron.load(tmp_path / "m")
    assert said in str(info.value) and "\n" not in str(info.value)


@given(st.data())
def test_any_fact_replaced(tmp_path_factory, draw):
    """Another value is refused in one line, or makes a model that works."""
    folder = tmp_path_factory.mktemp("online")
    facts, arrays = saved(folder)
    part = facts[draw.draw(st.sampled_from(["parameters", "state"]))]
    simple = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
    small = st.integers(0, 9) | simple  # 2**30 hashed weights would be legal, and large
    part[draw.draw(st.sampled_from(sorted(part)))] = draw.draw(small | st.lists(small, max_size=3))
    write_file(folder / "m", facts, arrays, "online")
    try:
        OnlinePerceptron.load(folder / "m").predict_one({"size": 1.0})
    except ValueError as error:
        assert "\n" not in str(error)
