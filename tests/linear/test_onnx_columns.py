"""ONNX graphs that take the columns of a table: the labels are novikoff's on the same values."""

import numpy as np
import pytest

from novikoff import Perceptron, load_model
from novikoff.linear.onnx import to_onnx
from support.commands import error_of, run, usage_error
from support.marks import may_not_separate

ort = pytest.importorskip("onnxruntime")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytestmark = may_not_separate

JOBS = ["cook", "nurse", "clerk", "null", "a=b", "größe"]


def frame_of(n, seed, more=()):
    """Numbers and categories, with cells missing in every column."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "job": rng.choice([*JOBS, *more], n),
            "size = 2": rng.normal(0, 100, n).round(2),
            "job=b": rng.choice(["x", "y"], n),
        }
    )
    for name in frame:
        frame.loc[rng.random(n) < 0.1, name] = None
    return frame


def labels_of(frame, k):
    return np.array(["no", "yes", "perhaps"])[(frame["size = 2"].fillna(0).to_numpy() > 0) + (k - 2)]


def fed(session, frame):
    """The columns of a frame as the inputs of a session: text with "" for missing, numbers with NaN."""
    kinds = {"tensor(string)": object, "tensor(float)": np.float32, "tensor(double)": np.float64}
    inputs = {}
    for each in session.get_inputs():
        column = frame[each.name]
        inputs[each.name] = (column.fillna("") if each.type == "tensor(string)" else column).to_numpy(
            kinds[each.type]
        )
    return session.run(None, inputs)


def session_of(linear, **how):
    return ort.InferenceSession(to_onnx(linear, **how).SerializeToString())


@pytest.mark.parametrize("float32", [False, True])
@pytest.mark.parametrize("scale", [None, "standard", "maxabs"])
@pytest.mark.parametrize("k", [2, 3])
def test_every_row_gets_its_label(tmp_path, monkeypatch, scale, k, float32):
    """Missing cells and unknown categories included, and with numbers that are float32."""
    monkeypatch.chdir(tmp_path)
    frame = frame_of(300, 0)
    frame.assign(label=np.arange(300) % k).to_csv("t.csv", index=False)
    run(
        "fit", "t.csv", "--epochs", "3", "-q", "--model", "t.novikoff", *(("--scale", scale) if scale else ())
    )
    run("convert", "t.novikoff", "t.onnx", *(("--float32",) if float32 else ()))
    linear, session = load_model("t.novikoff"), ort.InferenceSession("t.onnx")
    kind = "tensor(float)" if float32 else "tensor(double)"
    assert [(each.name, each.type, each.shape) for each in session.get_inputs()] == [
        ("age", kind, ["n"]),
        ("job", "tensor(string)", ["n"]),
        ("size = 2", kind, ["n"]),
        ("job=b", "tensor(string)", ["n"]),
    ]
    new = frame_of(300, 1, more=["astronaut", "COOK", "b=y"])
    if float32:
        new = new.astype({"age": "float32", "size = 2": "float32"})
    labels, scores = fed(session, new)
    assert labels.tolist() == linear.predict(new).tolist()
    np.testing.assert_allclose(scores, linear.scores(new), rtol=1e-12, atol=1e-12)
    assert fed(session, new[:0])[0].shape == (0,)


def test_an_estimator_that_learned_a_frame():
    frame = frame_of(200, 2)
    model = Perceptron(max_epochs=3, random_state=0).fit(frame, labels_of(frame, 3))
    new = frame_of(100, 3, more=["astronaut"])
    labels, _ = fed(session_of(model.to_linear()), new)
    assert labels.tolist() == model.predict(new).tolist()


def test_a_frame_of_numbers_by_column_or_as_a_matrix():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 3)), columns=["a", "b=null", "b"])
    model = Perceptron(max_epochs=3, random_state=0).fit(frame, np.arange(50) % 2)
    expected = model.predict(frame).tolist()
    matrix, columns = session_of(model.to_linear()), session_of(model.to_linear(), inputs="columns")
    assert [each.name for each in matrix.get_inputs()] == ["X"]
    assert matrix.run(None, {"X": frame.to_numpy()})[0].tolist() == expected
    assert fed(columns, frame)[0].tolist() == expected
    single = session_of(model.to_linear(), float32=True)
    X = frame.to_numpy(np.float32)
    assert (
        single.run(None, {"X": X})[0].tolist()
        == model.predict(pd.DataFrame(X, columns=frame.columns)).tolist()
    )


def test_the_matrix_of_a_table_has_a_column_per_feature():
    frame = pd.DataFrame({"n": [1.0, 2.0, 3.0], "c": ["x", "y", "x"]})
    model = Perceptron(max_epochs=3, random_state=0).fit(frame, [0, 1, 0])
    X = np.array([[1.0, 1, 0], [2, 0, 1], [3, 1, 0]])
    assert session_of(model.to_linear(), inputs="matrix").run(None, {"X": X})[0].tolist() == [0, 1, 0]


def test_what_cannot_be_an_input(tmp_path, monkeypatch):
    """One error that names the columns and what to do."""
    monkeypatch.chdir(tmp_path)
    with open("t.csv", "w") as file:  # noqa: PTH123
        file.write("day,note,n,class\n2024-01-05,a b,1,x\n2024-02-05,b c,2,y\n2024-02-06,c a,3,x\n")
    run("fit", "t.csv", "--text", "note", "-q", "--label", "class", "--model", "t.novikoff")
    message = error_of("convert", "t.novikoff", "t.onnx")
    assert "the columns 'day', 'note' cannot be an input: ONNX has no operators for dates, words" in message
    assert "--inputs matrix" in message
    run("convert", "t.novikoff", "m.onnx", "--inputs", "matrix")
    assert [each.name for each in ort.InferenceSession("m.onnx").get_inputs()] == ["X"]
    run(
        "fit",
        "t.csv",
        "--ignore",
        "day,note",
        "--hash-bits",
        "4",
        "-q",
        "--label",
        "class",
        "--model",
        "h.novikoff",
    )
    assert "hashes its features" in error_of("convert", "h.novikoff", "h.onnx")
    run("fit", "t.csv", "--ignore", "day,note", "-q", "--label", "class", "--model", "n.novikoff")
    assert "is for ONNX only" in usage_error("convert", "n.novikoff", "n.txt", "--float32")
    assert "is for ONNX only" in usage_error("convert", "t.csv", "t.svm", "--inputs", "columns")


@pytest.mark.parametrize("name", ["label", "scores", "/pad"])
def test_names_that_the_graph_needs(name):
    frame = pd.DataFrame({name: [1.0, 2.0], "c": ["x", "y"]})
    model = Perceptron(max_epochs=3, random_state=0).fit(frame, [0, 1])
    with pytest.raises(ValueError, match="not possible for an input"):
        to_onnx(model.to_linear())


def test_one_feature_of_two_columns():
    """The value b=c of a is the feature a=b=c, as the value c of a=b is; novikoff adds the two."""
    frame = pd.DataFrame({"a": ["b=c", "d", "b=c", "d"], "a=b": ["c", "e", "e", "c"]})
    model = Perceptron(max_epochs=3, random_state=0).fit(frame, [0, 1, 1, 1])
    assert model.feature_names_in_.tolist().count("a=b=c") == 1
    labels, scores = fed(session_of(model.to_linear()), frame)
    assert labels.tolist() == model.predict(frame).tolist()
    np.testing.assert_allclose(scores, model.decision_function(frame), rtol=1e-12)


def test_models_without_names_or_other_inputs():
    model = Perceptron(max_epochs=3, random_state=0).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).to_linear()
    with pytest.raises(ValueError, match="have no names"):
        to_onnx(model, inputs="columns")
    with pytest.raises(ValueError, match="expected one of columns, matrix"):
        to_onnx(model, inputs="rows")
