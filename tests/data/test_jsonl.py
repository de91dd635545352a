"""JSON lines: against Python's `json` module and a plain walk, with every kind of damage, however cut."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import OnlinePerceptron, _core
from novikoff.data.rounding import nearest_double
from novikoff.data.sources.features import NamedFeatures
from support.named_rows import added, check_cuts, placed, plain, read_all


def features_of(name, value):
    """The definition: what a value under a name gives."""
    if isinstance(value, dict):
        return [pair for k, v in value.items() for pair in features_of(f"{name}.{k}", v)]
    if isinstance(value, list):
        return [
            pair
            for i, v in enumerate(value)
            for pair in features_of(name if isinstance(v, str) else f"{name}.{i}", v)
        ]
    if isinstance(value, str):
        return [(f"{name}={value}", 1.0)]
    return [] if value is None else [(name, float(value))]


def twin(objects, ignore=()):
    rows = []
    for line in objects:
        nested = isinstance(line.get("features"), dict)
        members = line["features"] if nested else line
        pairs = [
            pair
            for k, v in members.items()
            if k not in ignore and (nested or k not in ("label", "weight"))
            for pair in features_of(k, v)
        ]
        rows.append((line["label"], line.get("weight", 1.0), added(pairs)))
    return rows


def read(text, *keys, **options):
    return read_all(_core.JsonRows(_core.LineOptions(**options), *keys), text)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["a", "b", 'q"\\', "é", "😀"]
)
NUMBERS = st.floats(-1e100, 1e100) | st.integers(-(10**25), 10**25).map(
    lambda v: int(float(v))
)  # as doubles hold them
VALUES = st.recursive(
    NUMBERS | TEXT | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)


@st.composite
def objects(draw):
    labels = draw(
        st.sampled_from([st.sampled_from([1.0, -1.0, 2.5]), st.sampled_from(["spam", "häm", "x\ny"])])
    )
    lines = []
    for _ in range(draw(st.integers(1, 5))):
        names = TEXT.filter(
            lambda name: name not in ("label", "weight", "features")
        )  # those say other things
        features = draw(st.dictionaries(names, VALUES, max_size=5))
        line = [("label", draw(labels))]
        if draw(st.booleans()):
            line.append(("weight", draw(st.sampled_from([0.0, 0.5, 2.0]))))
        if draw(st.booleans()):
            line += [("features", features), ("more", draw(VALUES))]
        else:
            line += features.items()
        lines.append(dict(draw(st.permutations(line))))
    return lines


@st.composite
def texts(draw):
    """Objects and one of the ways to write them."""
    lines = draw(objects())
    style = draw(
        st.sampled_from(
            [{}, {"ensure_ascii": False}, {"separators": (",", ":")}, {"separators": (" ,\t", " :  ")}]
        )
    )
    end = draw(st.sampled_from(["\n", "\r\n", "\n\n", " \n"]))
    return lines, (
        end.join(json.dumps(line, **style) for line in lines) + draw(st.sampled_from(["", end]))
    ).encode()


@given(texts())
def test_reads_what_the_json_module_reads(case):
    lines, text = case
    assert read(text, "label", "weight") == twin(lines)
    assert read(text, "label", "weight", "features", ["a", "b"]) == twin(lines, ("a", "b"))


@given(texts(), st.sampled_from([{}, {"hash_bits": 3}, {"hash_bits": 20, "seed": 5}]))
def test_cutting_changes_nothing(case, parameters):
    check_cuts(_core.JsonRows(weight_key="weight"), case[1].replace(b"\r", b""), **parameters)


@given(
    st.lists(
        st.tuples(st.dictionaries(TEXT, NUMBERS | TEXT, max_size=5), st.sampled_from([-1.0, 1.0])), min_size=1
    )
)
def test_a_dict_is_what_it_is_to_the_online_learner(rows):
    """The same names in the same order, and the same hashed columns."""
    rows = [({k: v for k, v in x.items() if k != "label"}, y) for x, y in rows]
    text = "\n".join(json.dumps({"label": y} | x) for x, y in rows).encode()
    model, features = OnlinePerceptron(), NamedFeatures()
    model.learn_many(rows)
    placed(_core.JsonRows(), [text], features)
    assert features.names(range(features.n_columns)) == model.feature_names_in_.tolist()
    model, features = (
        OnlinePerceptron(hash_bits=5, fit_intercept=False, classes=[1.0, -1.0]),
        NamedFeatures(hash_bits=5),
    )
    ((data, indices, indptr),) = placed(_core.JsonRows(), [text], features)
    model.learn_one(rows[0][0], 1.0)  # predicted -1 at score 0, so a mistake: w = -x
    row = np.zeros(32)
    row[indices[: indptr[1]]] = data[: indptr[1]]
    np.testing.assert_array_equal(-row, model.coef_[0])


def test_documented_examples():
    assert read(
        b'{"label": "spam", "weight": 2, "features": {"age": 3, "job": "cook"}, "id": 17}', "label", "weight"
    ) == [("spam", 2.0, [("age", 3.0), ("job=cook", 1.0)])]
    assert read(
        b'{"y": true, "a": false, "b": true, "c": null, "d": [1, 2.5], "e": ["x", "y", "x"]}', "y"
    ) == [(1.0, 1.0, [("a", 0.0), ("b", 1.0), ("d.0", 1.0), ("d.1", 2.5), ("e=x", 2.0), ("e=y", 1.0)])]
    assert read(b'{"label": "1.5", "features": 3}') == [(1.5, 1.0, [("features", 3.0)])]
    assert read(b'{"label": 1, "a.b": 1, "a": {"b": 2}}') == [(1.0, 1.0, [("a.b", 3.0)])]
    assert read(b'{"a": 1}\n{"label": null, "a": 1}', label="optional")[1] == (None, 1.0, [("a", 1.0)])


def test_text_labels():
    assert [r[0] for r in read('{"label":"ü\\n"}\n{"label":"x"}'.encode())] == ["ü\n", "x"]
    parser = _core.JsonRows()
    assert not parser.parse(b'{"label":"a"}\n{"label":true}') and parser.lines == 1
    assert parser.problem == "column 10: expected text as label, as in the rows before, found 'true'"
    parser.clear()
    assert not parser.parse(b'{"label":"a\\u0000"}')
    assert parser.problem == "column 10: the label 'a\\x00' has a NUL character"


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,2})?", fullmatch=True))
def test_numbers_are_correctly_rounded(number):
    number += "" if nearest_double(number)[1] else ".0"  # digits alone that no double holds are refused
    ((label, _, row),) = read(f'{{"label":{number},"a":{number}}}'.encode())
    assert np.float64(label).tobytes() == np.float64(float(number)).tobytes() and row == [
        ("a", float(number))
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[]", "column 1: expected an object, found '[]'"),
        (b'{"a":1}', "expected a label under the key 'label', found none"),
        (b'{"label":null}', "expected a label under the key 'label', found none"),
        (b'{"label":{}}', "column 10: expected a number or a string as label, found '{}}'"),
        (b'{"label":"nan"}', "column 10: expected a finite label, found 'nan'"),
        (b'{"label":"x"}', "column 10: expected a number as label, as in the rows before, found 'x'"),
        (b'{"label":1,"weight":-1}', "column 21: expected a weight of 0 or more, found '-1'"),
        (b'{"label":1,"weight":"1"}', "column 21: expected a number as weight, found '\"1\"}'"),
        (b'{"label":1,"a":1,"a":2}', "column 18: the key 'a' comes twice"),
        (b'{"label":1,"label":2}', "column 12: the key 'label' comes twice"),
        (b'{"label":1,"a":{"b":1,"b":2}}', "column 23: the key 'b' comes twice"),
        (b'{"label":1,"a":01}', "column 16: expected a number without a zero in front, found '01}'"),
        (b'{"label":1,"a":1.}', "column 16: expected a number with a digit after the point, found '1.}'"),
        (b'{"label":1,"a":1e+}', "column 16: expected a number with digits after e, found '1e+}'"),
        (b'{"label":1,"a":+1}', "column 16: expected a value, found '+1}'"),
        (b'{"label":1,"a":1e999}', "column 16: the number '1e999' is too large for float64"),
        (b'{"label":1,"a":NaN}', "column 16: expected a value, found 'NaN}'"),
        (b'{"label":1,"a":nul}', "column 16: expected a value, found 'nul}'"),
        (b'{"label":1,}', "column 12: expected a key in double quotes, found '}'"),
        (b"{'label':1}", "column 2: expected a key in double quotes, found ''label':1}'"),
        (b'{"label" 1}', "column 10: expected a colon after the key, found '1}'"),
        (b'{"label":1', "column 11: expected a comma or } after a value, found the end of the line"),
        (
            b'{"label":1,"a":[1',
            "column 18: expected a comma or ] after an element, found the end of the line",
        ),
        (b'{"label":1} x', "column 13: expected the end of the line after the object, found 'x'"),
        (
            b'{"label":1,"a":"\\ud800"}',
            "column 17: expected both halves of a surrogate pair, found '\\ud800\"}'",
        ),
        (
            b'{"label":1,"a":"\\udc00"}',
            "column 17: expected the first half of a surrogate pair, found '\\udc00\"}'",
        ),
        (b'{"label":1,"a":"\\x"}', "column 17: expected an escape such as \\n or \\u00e9, found '\\x\"}'"),
        (b'{"label":1,"a":"\xc0\xaf"}', "column 17: the string is not UTF-8: '\\xc0\\xaf\"}'"),
        (b'{"label":1,"a":"\xed\xa0\x80"}', "column 17: the string is not UTF-8: '\\xed\\xa0\\x80\"}'"),
        (
            b'{"label":1,"a":"b\tc"}',
            "column 18: a control character in a string must be escaped, found '\\x09c\"}'",
        ),
        (
            b'{"label":1,"a":"b',
            "column 18: expected a double quote at the end of the string, found the end of the line",
        ),
        (b'{"label":1,"a":' + b"[" * 99, "column 79: more than 64 objects and arrays in one another"),
        (b'{"label":1,"a":' + b'{"":' * 99, "column 268: more than 64 objects and arrays in one another"),
        (
            b'{"label":1,"a":{"b":1e308},"a.b":1e308}',
            "the values of 'a.b' add up to more than float64 can hold",
        ),
    ],
)
def test_malformed_lines(line, message):
    sound = b'{"label": 3, "fine": 1}\n\n'
    parser = _core.JsonRows(weight_key="weight")
    assert not parser.parse(sound + line + b"\n")
    assert (parser.lines, parser.n, parser.problem) == (2, 1, message)
    patient = _core.JsonRows(_core.LineOptions(skip_bad=True), "label", "weight")
    assert patient.parse(sound + line + b'\n{"weight": 2, "label": 1, "next": 1}\n')
    assert (patient.lines, patient.n_skipped, patient.skipped) == (4, 1, [(2, message)])
    assert [patient.row_line(i) for i in range(patient.n)] == [0, 3]
    labels, weights, *matrix = patient.take()
    assert labels.tolist() == [3.0, 1.0] and weights.tolist() == [1.0, 2.0]
    assert plain(*matrix) == [[("fine", 1.0)], [("next", 1.0)]]


def as_strictly(line):
    """Python's reading with its liberties taken away; None where there is no object."""

    def once(pairs):
        if len({k for k, _ in pairs}) < len(pairs):
            raise ValueError
        return dict(pairs)

    def refuse(_):
        raise ValueError

    try:
        value = json.loads(line.decode(), object_pairs_hook=once, parse_constant=refuse)
        json.dumps(value, ensure_ascii=False).encode()  # no lone surrogates
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


@given(
    st.text('{}[]":,01-.eE+ \\ntrufals\té"a', max_size=30),
    st.sampled_from(['{"label": 1, "a": ', '{"a"', ""]),
)
def test_accepts_what_the_json_module_accepts(text, head):
    line = (head + text).replace("\n", " ").encode()
    value = as_strictly(line)
    parser = _core.JsonRows(_core.LineOptions("optional"))
    sound = parser.parse(line)
    if value is None:
        assert not sound or not line.strip(b" \t\r")
    elif "label" not in value:
        assert sound or "too large" in parser.problem or "add up" in parser.problem


@given(st.binary(max_size=80) | st.text('{}[]":,01-.eE+\\ untrfals\n', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(text):
    strict = _core.JsonRows(_core.LineOptions("optional"))
    sound = strict.parse(text)
    assert sound == (strict.problem == "")
    patient = _core.JsonRows(_core.LineOptions("optional", skip_bad=True))
    assert patient.parse(text) and sound == (patient.n_skipped == 0)
    assert patient.lines == len(text.split(b"\n")) - text.endswith(b"\n") if text else patient.lines == 0
