"""Rows whose columns have names: a frame, a dict, a table and a JSON line of one row are the same row."""

import datetime
import io
import json

import numpy as np
import pytest

import novikoff
from novikoff.data.named_rows import encoded_frame, rows_by_name
from novikoff.linear.model import LinearModel

pytest.importorskip("pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CSV = b"""age,job,city,since,member,label
41,cook,Rome,2020-01-05,true,yes
17,nurse,Oslo,2021-02-06,false,no
,cook,,2022-03-07,true,yes
29,clerk,Rome,2020-01-08,false,no
63,nurse,Rome,,true,no
"""
RECORDS = [
    {"age": 41, "job": "cook", "city": "Rome", "since": "2020-01-05", "member": True},
    {"age": 17, "job": "nurse", "city": "Oslo", "since": "2021-02-06", "member": False},
    {"age": None, "job": "cook", "city": None, "since": "2022-03-07", "member": True},
    {"age": 29, "job": "clerk", "city": "Rome", "since": "2020-01-08", "member": False},
    {"age": 63, "job": "nurse", "city": "Rome", "since": None, "member": True},
]
LABELS = ["yes", "no", "yes", "no", "no"]
NUMBERS_AND_TEXT = b"label,age,job\nyes,3,cook\nno,1,nurse\nyes,2,cook\n"
SAME_AS_JSON = b"""{"label": "yes", "age": 3, "job": "cook"}
{"label": "no", "age": 1, "job": "nurse"}
{"label": "yes", "age": 2, "job": "cook"}
"""


def source_of(content, format="csv", **options):
    return novikoff.open_source(io.BytesIO(content), format=format, **options)


def rows_of_source(source):
    """The rows over the features' columns, as a dense array."""
    blocks = list(source.blocks())
    source.features.fixed = True
    return dense(blocks[0].X, source.features.n_columns)


def dense(X, n_columns):
    if isinstance(X, np.ndarray):
        return X
    out = np.zeros((X.shape[0], n_columns))
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        out[i, X.indices[part]] = X.data[part]
    return out


def as_lines(records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def pandas_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(RECORDS)
    frame["since"] = [datetime.date.fromisoformat(v) if isinstance(v, str) else None for v in frame["since"]]
    return frame


def polars_frame():
    pl = pytest.importorskip("polars")
    return pl.DataFrame(RECORDS).with_columns(pl.col("since").str.to_date())


def arrow_table():
    import pyarrow as pa

    table = pa.Table.from_pylist(RECORDS)
    at = table.column_names.index("since")
    return table.set_column(at, "since", table["since"].cast(pa.date32()))


FRAMES = {"pandas": pandas_frame, "polars": polars_frame, "pyarrow": arrow_table}


@pytest.fixture
def fitted():
    """Features and rows of the CSV file."""
    source = source_of(CSV)
    return source.features, rows_of_source(source)


# ---- a model of a table --------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_is_encoded_as_its_csv_file(kind, fitted):
    features, expected = fitted
    frame = FRAMES[kind]()
    made = encoded_frame(frame)
    n = features.n_columns
    assert made.features.names(range(n)) == features.names(range(n)) and made.features.n_columns == n
    np.testing.assert_array_equal(dense(made.X, n), expected)
    np.testing.assert_array_equal(dense(rows_by_name(frame, features), n), expected)


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_match_in_any_order_and_further_ones_are_ignored(kind, fitted):
    features, expected = fitted
    frame = FRAMES[kind]()
    order = ["member", "since", "age", "city", "job"]
    turned = frame[order] if kind == "pandas" else frame.select(order)
    np.testing.assert_array_equal(dense(rows_by_name(turned, features), features.n_columns), expected)
    without = frame[order[:3]] if kind == "pandas" else frame.select(order[:3])
    with pytest.raises(ValueError, match="X: the columns 'job', 'city' are missing; there are 'member'"):
        rows_by_name(without, features)


def test_dicts_and_json_lines_are_rows_of_a_table(fitted):
    features, expected = fitted
    n = features.n_columns
    np.testing.assert_array_equal(dense(rows_by_name(RECORDS, features), n), expected)
    np.testing.assert_array_equal(dense(rows_by_name(RECORDS[1], features), n), expected[1:2])
    further = [record | {"label": "?", "shoe": [1, {"size": 2}]} for record in reversed(RECORDS)]
    np.testing.assert_array_equal(dense(rows_by_name(further, features), n), expected[::-1])
    lines = source_of(as_lines(RECORDS), "jsonl", features=features, labelled=False)
    np.testing.assert_array_equal(rows_of_source(lines), expected)
    labelled = [record | {"label": y} for record, y in zip(RECORDS, LABELS, strict=True)]
    for options in ({}, {"block_size": 64, "n_jobs": 2}):
        source = source_of(as_lines(labelled), "jsonl", features=features, **options)
        blocks = list(source.blocks())
        assert [y for block in blocks for y in np.asarray(block.labels).tolist()] == LABELS
        assert np.vstack([dense(b.X, n) for b in blocks]).tolist() == expected.tolist()
    nested = as_lines([{"features": record, "label": "no"} for record in RECORDS])
    np.testing.assert_array_equal(rows_of_source(source_of(nested, "jsonl", features=features)), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": "old"}, r"the column 'age' is 'old': expected a number"),
        ({"age": float("nan")}, r"the column 'age' holds NaN; a number must be finite"),
        ({"age": 2**53 + 1}, r"the column 'age'.*9007199254740993.*no double"),
        ({"job": ["cook"]}, r"the column 'job' is \['cook'\]: expected text or a number"),
        ({"since": "soon"}, r"the column 'since' is 'soon': expected a date in ISO 8601"),
        ({"since": 3}, r"the column 'since' is 3: expected a date"),
    ],
)
def test_a_wrong_value_is_named(fitted, change, message):
    with pytest.raises(ValueError, match=r"^X\[1\]: .*" + message) as wrong:
        rows_by_name([RECORDS[0], RECORDS[1] | change], fitted[0])
    assert "\n" not in str(wrong.value)
    if "age" not in change or change["age"] == change["age"]:  # JSON has no NaN
        lines = as_lines([RECORDS[0], RECORDS[1] | change])
        with pytest.raises(ValueError, match="^<BytesIO>, line 2: .*" + message):
            rows_of_source(source_of(lines, "jsonl", features=fitted[0], labelled=False))


def test_a_missing_key_is_an_error_and_a_missing_label_too(fitted):
    short = {name: value for name, value in RECORDS[1].items() if name != "job"}
    with pytest.raises(ValueError, match=r"^X\[1\]: the column 'job' is missing; there are 'age', 'city'"):
        rows_by_name([RECORDS[0], short], fitted[0])
    with pytest.raises(ValueError, match="line 2: the column 'job' is missing"):
        rows_of_source(source_of(as_lines([RECORDS[0], short]), "jsonl", features=fitted[0], labelled=False))
    with pytest.raises(ValueError, match="line 1: there is no label in the column 'label'"):
        rows_of_source(source_of(as_lines(RECORDS), "jsonl", features=fitted[0]))
    with pytest.raises(ValueError, match=r"^X\[1\] is of type int, but X\[0\] is a dict"):
        rows_by_name([RECORDS[0], 3], fitted[0])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"age": 3', "line 2: column 10: expecting"),
        (b"[1, 2]", "line 2: expected an object"),
        (b'{"age": 3, "age": 4}', "line 2: the key 'age' is there twice"),
        (b'{"age": NaN}', "line 2: NaN is not a number that JSON has"),
        (b"[" * 100_000, "line 2: "),
        (b"\xff", "line 2: "),
    ],
)
def test_malformed_lines_for_a_table(fitted, line, message):
    text = as_lines(RECORDS[:1]) + line + b"\n" + as_lines(RECORDS[2:])
    with pytest.raises(ValueError, match=message):
        rows_of_source(source_of(text, "jsonl", features=fitted[0], labelled=False))
    source = source_of(text, "jsonl", features=fitted[0], labelled=False, skip_bad_lines=True)
    assert rows_of_source(source).tolist() == fitted[1][[0, 2, 3, 4]].tolist()
    assert source.skipped.count == 1


def test_numbers_as_categories_and_times():
    text = b"zip,at,label\n8001,2020-01-05 10:30:00,a\n9000,2020-02-06 23:00:00,b\n"
    source = source_of(text, categorical=["zip"])
    expected = rows_of_source(source)
    records = [
        {"zip": 8001, "at": "2020-01-05 10:30:00"},
        {"zip": 9000.0, "at": datetime.datetime(2020, 2, 6, 23)},
    ]
    np.testing.assert_array_equal(dense(rows_by_name(records, source.features), expected.shape[1]), expected)


def test_words_of_a_text_column():
    source = source_of(b"body,label\nfree offer free,spam\nlunch now,ham\n", text=["body"])
    expected = rows_of_source(source)
    records = [{"body": "free offer free"}, {"body": "lunch now"}]
    np.testing.assert_array_equal(dense(rows_by_name(records, source.features), expected.shape[1]), expected)


def test_a_table_without_names_matches_no_keys():
    source = source_of(b"1,2,a\n3,4,b\n", header=False)
    with pytest.raises(ValueError, match="X: the model was learned from a table whose columns have no names"):
        rows_by_name([{"1": 3}], source.features)
    with pytest.raises(ValueError, match="columns have no names"):
        source_of(b'{"1": 3}\n', "jsonl", features=source.features)


# ---- a model of named features -------------------------------------------------------------------------
def test_a_table_and_json_lines_of_the_same_names_are_the_same():
    lines = source_of(SAME_AS_JSON, "jsonl")
    expected = rows_of_source(lines)
    table = source_of(NUMBERS_AND_TEXT, features=lines.features)
    np.testing.assert_array_equal(rows_of_source(table), expected)
    assert [b.labels.tolist() for b in source_of(NUMBERS_AND_TEXT, features=lines.features).blocks()] == [
        ["yes", "no", "yes"]
    ]
    unlabelled = source_of(b"job,age,more\nnurse,1,x\n", features=lines.features, labelled=False)
    np.testing.assert_array_equal(rows_of_source(unlabelled), expected[1:2])
    frame = pytest.importorskip("pandas").DataFrame({"job": ["cook", "nurse", "cook"], "age": [3, 1, 2]})
    np.testing.assert_array_equal(dense(rows_by_name(frame, lines.features), 3), expected)
    records = [{"job": "cook", "age": 3, "new": 1}, {"job": "nurse", "age": np.int64(1)}]
    np.testing.assert_array_equal(dense(rows_by_name(records, lines.features), 3), expected[:2])
    assert dense(rows_by_name({"job": "cook"}, lines.features), 3).sum() == 1  # what a dict lacks is 0


def test_numbers_that_the_model_knows_as_text_are_text():
    lines = source_of(b'{"label": "a", "zip": "08001"}\n{"label": "b", "zip": "9000"}\n', "jsonl")
    expected = rows_of_source(lines)
    table = source_of(b"zip,label\n08001,a\n9000,b\n", features=lines.features)
    np.testing.assert_array_equal(rows_of_source(table), expected)


def test_a_table_must_have_the_columns_of_named_features():
    lines = source_of(SAME_AS_JSON, "jsonl")
    rows_of_source(lines)
    with pytest.raises(ValueError, match="<BytesIO>: the column 'job' is missing; there are 'age'"):
        source_of(b"age\n3\n", features=lines.features, labelled=False)
    with pytest.raises(ValueError, match="the columns of the table have none"):
        source_of(b"3,cook\n", features=lines.features, labelled=False, header=False)
    frame = pytest.importorskip("pandas").DataFrame({"height": [3.0], "width": [1]})
    with pytest.raises(
        ValueError, match="X: the columns 'age', 'job' are missing; there are 'height', 'width'"
    ):
        rows_by_name(frame, lines.features)


def test_hashed_features_take_every_column():
    lines = source_of(SAME_AS_JSON, "jsonl", hash_bits=6)
    expected = rows_of_source(lines)
    table = source_of(NUMBERS_AND_TEXT, features=lines.features)
    np.testing.assert_array_equal(rows_of_source(table), expected)


def test_numbered_features_take_numbers_as_keys():
    model = novikoff.Perceptron(random_state=0).fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    assert model.predict([{1: 3.0}, {"2": 2.0}]).tolist() == ["a", "b"]
    assert model.predict({"2": 1.0}).tolist() == ["b"]


# ---- estimators and loaded models ----------------------------------------------------------------------
ESTIMATORS = {
    "perceptron": lambda: novikoff.Perceptron(random_state=0),
    "averaged": lambda: novikoff.Perceptron("pa", average=True, max_epochs=5, random_state=0),
    "voted": lambda: novikoff.VotedPerceptron(max_epochs=5, random_state=0),
    "pocket": lambda: novikoff.Pocket(max_epochs=5, random_state=0),
    "winnow": lambda: novikoff.Winnow(balanced=True, max_epochs=5, random_state=0),
    "kernel": lambda: novikoff.KernelPerceptron("poly", degree=2, max_epochs=5, random_state=0),
    "budget": lambda: novikoff.KernelPerceptron("rbf", gamma=0.1, budget=3, max_epochs=5, random_state=0),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_estimators_learn_from_frames_with_categories(name, kind, fitted):
    features, expected = fitted
    frame = FRAMES[kind]()
    model = ESTIMATORS[name]().fit(frame, LABELS)
    names = features.names(range(features.n_columns))
    assert model.feature_names_in_.tolist() == names and model.n_features_in_ == len(names)
    assert model.features_.names(range(len(names))) == names
    plain = ESTIMATORS[name]().fit(expected, LABELS)
    answers = plain.predict(expected).tolist()
    turned = (
        frame[list(reversed(RECORDS[0]))] if kind == "pandas" else frame.select(list(reversed(RECORDS[0])))
    )
    for given in (frame, turned, RECORDS):
        assert model.predict(given).tolist() == answers
        np.testing.assert_allclose(model.decision_function(given), plain.decision_function(expected))
    assert model.predict(RECORDS[1]).tolist() == answers[1:2]
    if hasattr(plain, "coef_"):
        np.testing.assert_allclose(model.coef_, plain.coef_)
    with pytest.raises(ValueError, match="the column 'age' is missing"):
        model.predict(frame.drop(columns="age") if kind == "pandas" else frame.drop("age"))
    model.fit(expected, LABELS)
    assert not hasattr(model, "features_") and not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("name", ["perceptron", "voted", "winnow", "kernel"])
def test_partial_fit_keeps_the_columns_of_its_first_frame(name):
    frame = pandas_frame()
    model = ESTIMATORS[name]().partial_fit(frame[:3], LABELS[:3], classes=["no", "yes"])
    model.partial_fit(frame[list(reversed(RECORDS[0]))][3:], LABELS[3:])  # 'clerk' is new: it has no column
    assert "job=clerk" not in model.feature_names_in_.tolist()
    assert len(model.predict(frame)) == 5


@pytest.mark.parametrize("name", ["averaged", "kernel"])
def test_saved_models_take_frames_and_dicts(name, tmp_path):
    frame = pandas_frame()
    model = ESTIMATORS[name]().fit(frame, LABELS)
    model.save(tmp_path / "m.novikoff")
    loaded = novikoff.load_model(tmp_path / "m.novikoff")
    answers = model.predict(frame).tolist()
    turned = frame[list(reversed(RECORDS[0]))]
    for given in (frame, turned, polars_frame(), arrow_table(), RECORDS):
        assert loaded.predict(given).tolist() == answers
    assert loaded.predict(RECORDS[0]).tolist() == answers[:1]
    again = type(model).load(tmp_path / "m.novikoff")
    assert again.predict(turned).tolist() == answers
    source = novikoff.open_source(io.BytesIO(CSV), features=loaded.features)
    assert np.concatenate([loaded.predict(b.X) for b in source.blocks()]).tolist() == answers


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_of_numbers_match_by_name(kind):
    library = pytest.importorskip(kind)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), rng.integers(0, 2, 30)
    frame = library.DataFrame({name: X[:, j] for j, name in enumerate("abc")})
    model = novikoff.Perceptron(random_state=0, max_epochs=3).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"] and not hasattr(model, "features_")
    answers = model.predict(frame).tolist()
    more = frame.assign(z=1) if kind == "pandas" else frame.with_columns(z=library.lit(1))
    for columns in (["c", "a", "b"], ["z", "b", "c", "a"]):
        assert model.predict(more[columns]).tolist() == answers
    assert model.predict([dict(zip("abc", row, strict=True)) for row in X.tolist()]).tolist() == answers
    with pytest.raises(ValueError, match="X: the columns 'b', 'c' are missing; there are 'a', 'z'"):
        model.predict(more[["a", "z"]])
    linear = model.to_linear()
    assert isinstance(linear, LinearModel) and linear.predict(more[["c", "z", "a", "b"]]).tolist() == answers


def test_bad_frames_to_learn_from():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="the column 'a' of X holds values of several types"):
        novikoff.Perceptron().fit(pd.DataFrame({"a": ["x", 3], "b": [1, 2]}), [0, 1])
    with pytest.raises(ValueError, match="must be named by text, but one has the name 7"):
        novikoff.Perceptron().fit(pd.DataFrame({7: ["x", "y"]}), [0, 1])
    with pytest.raises(ValueError, match=r"X, row 1: the column 'b' holds infinity"):
        novikoff.Perceptron().fit(pd.DataFrame({"a": ["x", "y"], "b": [1, np.inf]}), [0, 1])
    with pytest.raises(ValueError, match="'a' is of type list"):
        novikoff.Perceptron().fit(pd.DataFrame({"a": [[1], [2]]}), [0, 1])


@pytest.mark.parametrize("hash_bits", [None, 3])
def test_a_missing_cell_is_a_missing_key_of_named_features(hash_bits):
    """In lines with names a missing value is no feature, hashed or not, so it is none in a table either."""
    pd = pytest.importorskip("pandas")
    how = {} if hash_bits is None else {"hash_bits": hash_bits}
    source = source_of(SAME_AS_JSON, "jsonl", **how)
    rows_of_source(source)
    record = {"age": None, "job": None}
    frame = pd.DataFrame({"age": [None], "job": [None]}, dtype=object).astype({"age": "Float64"})
    table = source_of(b"age,job\n,\n", features=source.features, labelled=False)
    (block,) = table.blocks()
    for X in (rows_by_name(frame, source.features), rows_by_name(record, source.features), block.X):
        assert not dense(X, source.features.n_columns).any()
