"""One row from a dict is the row that files give: the same decision by `predict_one` and by blocks."""

import io
import json
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff
from novikoff import Perceptron
from novikoff.data.one_row import row_reader
from novikoff.data.sources.features import NamedFeatures, NumberedFeatures
from novikoff.linear.model import LinearModel
from support.children import run_python
from support.marks import may_not_separate

pytestmark = may_not_separate


def fitted(tmp_path, format, text, *options):
    """The model that `novikoff fit` makes of a file."""
    data = tmp_path / f"rows.{format}"
    data.write_text(text)
    fit = ("-m", "novikoff", "fit", data, "--model", tmp_path / "m", "--quiet", "--epochs", 3)
    run_python(*fit, *options)
    return novikoff.load_model(tmp_path / "m"), data


def by_block(model, data, **options):
    source = novikoff.open_source(data, features=model.features, **options)
    return np.concatenate([model.predict(block.X) for block in source.blocks()]).tolist()


# ---- columns of a table --------------------------------------------------------------------------------
def table_rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        row = {"age": round(float(rng.normal()), 2), "height": int(rng.integers(-3, 4))}
        row["colour"] = ["red", "green", None, " blue ", "=", "café"][rng.integers(6)]
        row["note"] = ["", "Old friend", "a-b_c naïve", "friend of a friend"][rng.integers(4)]
        row["sun"] = [None, 1.5, -2.0, 0.0][rng.integers(4)]
        rows.append(row)
    return rows


def as_csv(rows, labels):
    cell = {None: ""}.get
    lines = [",".join(["label", *rows[0]])]
    lines += [
        ",".join([y, *(str(cell(v, v) if v is None else v) for v in r.values())])
        for y, r in zip(labels, rows, strict=True)
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("more", [(), ("--hash-bits", 5), ("--epochs", 1, "--average")])
@pytest.mark.parametrize("scale", ["none", "standard", "maxabs", "unit"])
def test_a_dict_of_a_tables_columns_is_its_row(scale, more, tmp_path):
    """Numbers, categories, words and missing values, for every scaling and with hashed names."""
    pytest.importorskip("pyarrow")
    rows = table_rows()
    labels = np.random.default_rng(1).choice(["x", "y", "z"], len(rows)).tolist()
    options = ["--label", "label", "--text", "note", *more]
    options += [] if scale == "none" else ["--scale", scale]
    model, data = fitted(tmp_path, "csv", as_csv(rows, labels), *options)
    said = [model.predict_one(row) for row in rows]
    assert said == by_block(model, data)
    assert all(type(label) is str for label in said)
    extra = [{"id": object(), **dict(reversed(row.items()))} for row in rows]  # in another order, and more
    assert [model.predict_one(row) for row in extra] == said


def test_the_columns_of_a_table_are_needed(tmp_path):
    pytest.importorskip("pyarrow")
    model, _ = fitted(tmp_path, "csv", "label,age,colour\nyes,3,red\nno,1,green\n", "--label", "label")
    assert model.predict_one({"age": 3, "colour": "red"}) == "yes"
    assert model.predict_one({"age": np.float32(3), "colour": np.str_("red")}) == "yes"
    with pytest.raises(ValueError, match=r"the column 'colour' is missing.*None stands for a missing value"):
        model.predict_one({"age": 3})
    with pytest.raises(TypeError, match=r"the column 'age' is one of numbers, got the str '3'"):
        model.predict_one({"age": "3", "colour": "red"})
    with pytest.raises(ValueError, match=r"feature 'age' is NaN"):
        model.predict_one({"age": math.nan, "colour": "red"})
    with pytest.raises(TypeError, match=r"feature 'age': a value is a number or a str, got list"):
        model.predict_one({"age": [1], "colour": "red"})


# ---- named features ------------------------------------------------------------------------------------
names = st.sampled_from(["a", "b", "c=d", "c", "näme", "long name of a feature"])
values = st.one_of(
    st.floats(-1e6, 1e6).map(lambda v: round(v, 3)),
    st.integers(-5, 5),
    st.booleans(),
    st.none(),
    st.just("d"),
    st.text("dx=", max_size=4),
)
dicts = st.dictionaries(names, values, max_size=6)


@given(
    st.lists(st.tuples(dicts, st.sampled_from(["x", "y"])), min_size=2, max_size=8),
    st.sampled_from([None, 4]),
)
def test_a_dict_of_named_features_is_its_line_of_json(examples, bits):
    """The dict and the line of JSON that has it are the same row, in exact vocabularies and hashed ones."""
    text = "".join(json.dumps({"label": y, "features": x}) + "\n" for x, y in examples)
    labels = {y for _, y in examples}
    if len(labels) < 2:
        return
    options = {} if bits is None else {"hash_bits": bits}
    source = novikoff.open_source(io.BytesIO(text.encode()), format="jsonl", **options)
    model = Perceptron(max_epochs=3, average=True).fit_source(source).to_linear()
    again = novikoff.open_source(io.BytesIO(text.encode()), format="jsonl", features=model.features)
    expected = [label for block in again.blocks() for label in model.predict(block.X).tolist()]
    assert [model.predict_one(x) for x, _ in examples] == expected


def named(*names, weights=None):
    """A model of these columns, with random weights or after an update by these."""
    X = np.random.default_rng(0).standard_normal((20, len(names)))
    X = X if weights is None else np.array([weights, np.zeros(len(names))])
    model = Perceptron(max_epochs=2).fit(X, np.arange(len(X)) % 2).to_linear()
    features = NamedFeatures()
    features.place(list(names))
    return LinearModel(model.model, model.classes, features)


def test_keys_and_values_of_other_types():
    reader = row_reader(named("7", "b", "c=1.5").features)

    def read(x):
        values, columns = reader.read(x)
        return dict(zip(columns.tolist(), values.tolist(), strict=True))

    assert read({7: 2, "b": True}) == read({"7": 2.0, np.str_("b"): np.int8(1)}) == {0: 2.0, 1: 1.0}
    assert read({"b": Decimal("0.5"), "unknown": 3, "c": "1.5", "d": None}) == {1: 0.5, 2: 1.0}
    assert read({7: 1, "7": 2}) == {0: 3.0}  # one name: their values are added
    with pytest.raises(ValueError, match=r"feature 'b' is 9007199254740993, which no double holds"):
        read({"b": 2**53 + 1})
    with pytest.raises(ValueError, match=r"features that share index 0 add up to more than a float can hold"):
        read({7: 1e308, "7": 1e308})
    with pytest.raises(TypeError, match="x is a dict"):
        reader.read([1.0])


def test_numbered_features():
    for zero_based in (False, True):
        reader = row_reader(NumberedFeatures(3, zero_based=zero_based, fixed=True))
        first = 0 if zero_based else 1
        values, columns = reader.read({first: 1.5, str(first + 2): 2, first + 7: 9.0})
        assert (values.tolist(), columns.tolist()) == ([1.5, 2.0], [0, 2])
    with pytest.raises(ValueError, match="the model's features are numbered, and 'age' is not such a number"):
        reader.read({"age": 3})
    with pytest.raises(ValueError, match="the model's features are numbered from 1"):
        row_reader(NumberedFeatures(3)).read({0: 3})
    with pytest.raises(TypeError, match="feature 1: the model's features are numbers, got the str 'red'"):
        reader.read({1: "red"})


# ---- vectors -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_vector_is_one_row(n_classes):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 9)).round(1)
    model = Perceptron(max_epochs=3).fit(X, np.arange(40) % n_classes).to_linear()
    expected = model.predict(X).tolist()
    for rows in (X, X.astype(np.float32).astype(float), np.asfortranarray(X), X.tolist()):
        assert [model.predict_one(x) for x in rows] == model.predict(np.asarray(rows)).tolist()
    assert [model.predict_one(dict(enumerate(x.tolist(), 1))) for x in X] == expected
    with pytest.raises(ValueError, match="x has 8 values, but the model expects 9 features"):
        model.predict_one(X[0, :8])
    with pytest.raises(TypeError, match=r"x is one row: .*got an array of shape \(2, 9\)"):
        model.predict_one(X[:2])
    with pytest.raises(TypeError, match=r"x is one row: .*got str"):
        model.predict_one("x")
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.predict_one(np.full(9, np.nan))


def test_ties_and_close_decisions_are_exact():
    """w·x = 0 in exact arithmetic, though not in floating point: the second of two classes, as everywhere."""
    model = named("a", "b", "c", weights=[1e16, 1.0, -1e16])
    (w,), _ = model.weights()
    x = {"a": 1.0, "b": 0.0, "c": -1.0} if w[0] != -w[2] else {"a": 1.0, "c": 1.0}
    block = np.array([[x.get(name, 0.0) for name in "abc"]])
    assert model.predict_one(x) == model.predict(block)[0]


def test_the_weights_of_the_moment_predict():
    """After further learning `predict_one` uses the new weights, as `predict` does."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1])
    model = Perceptron(order="cyclic", average=False).fit(X, y)
    linear = model.to_linear()
    assert linear.predict_one([0.0, 1.0]) == 0
    for _ in range(3):
        model.partial_fit([[0.0, 1.0]], [1])
    assert linear.predict_one([0.0, 1.0]) == linear.predict([[0.0, 1.0]])[0] == 1
