"""Vowpal Wabbit text: against a plain twin, with every kind of damage, and however it is cut."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import OnlinePerceptron, _core
from novikoff.data.sources.features import NamedFeatures
from support.named_rows import added, check_cuts, placed, plain, read_all

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def twin(text):
    """Sound text as rows (label, importance, [(name, value), ...]): the format, read plainly."""
    rows = []
    for line in text.decode().split("\n"):
        line = line.removesuffix("\r")
        if not line.strip(" \t"):
            continue
        head, *namespaces = line.split("|")
        fields = re.split("[ \t]+", head.strip(" \t")) if head.strip(" \t") else []
        if fields and (fields[-1].startswith("'") or head[-1] not in " \t"):
            fields.pop()  # the tag
        label = fields[0] if fields else None
        if label is not None and NUMBER.fullmatch(label):
            label = float(label)
        importance = float(fields[1]) if len(fields) > 1 else 1.0
        pairs = []
        for namespace in namespaces:
            prefix, scale, unnamed = "", 1.0, 0
            tokens = re.split("[ \t]+", namespace)
            name, _, factor = tokens[0].partition(":")
            prefix = name + "^" if name else ""
            scale = float(factor) if factor else 1.0
            for token in tokens[1:]:
                if not token:
                    continue
                name, colon, value = token.partition(":")
                if not name:
                    name, unnamed = str(unnamed), unnamed + 1
                if colon and not NUMBER.fullmatch(value):
                    name, value = f"{name}={value}", "1"
                pairs.append((prefix + name, (float(value) if colon else 1.0) * scale))
        rows.append((label, importance, added(pairs)))
    return rows


def read(text, **options):
    return read_all(_core.VwRows(_core.LineOptions(**options)), text)


NUMBERS = st.one_of(
    st.floats(-1e150, 1e150).map(repr),
    st.integers(-(10**20), 10**20).map(lambda v: str(int(float(v)))),  # as doubles hold them
    st.floats(0, 1).map(lambda v: f"{v:.4f}"),
    st.sampled_from(["1", "0", "-0", "+1", ".5", "5.", "1E+05", "1e-320"]),
)
WORDS = st.sampled_from(
    ["a", "b", "x1", "17", "1234567", "12345678", "123456789", "a_longer_name", "é", "=", "^", "'q"]
)


@st.composite
def files(draw):
    labels = draw(st.sampled_from([["1", "-1", "+1", "2.5", "1e2"], ["spam", "ham", "ü"]]))
    blank = draw(st.sampled_from([" ", "  ", "\t", " \t "]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = []
    for _ in range(draw(st.integers(1, 8))):
        head = [draw(st.sampled_from(labels))]
        head += draw(st.sampled_from([[], ["2"], ["0.5"], ["0", "0"], ["1", "0.0"]]))
        head = blank.join(head) + blank
        line = head + draw(st.sampled_from(["", "", "tag", "'tag", "'tag" + blank, "' "]))
        for _ in range(draw(st.integers(1, 3))):
            line += "|" + draw(
                st.sampled_from(["", "", "ns", "n", "space:2", ":0.5", "long_namespace:-1e-3"])
            )
            for _ in range(draw(st.integers(0, 6))):
                name, value = draw(WORDS), draw(NUMBERS)
                line += blank + draw(st.sampled_from([name, f"{name}:{value}", f":{value}", f"{name}:word"]))
            line += draw(st.sampled_from(["", blank]))
        lines += [line, *draw(st.sampled_from([[], [], [""], [blank]]))]
    return (end.join(lines) + draw(st.sampled_from([end, ""]))).encode()


@given(files())
def test_reads_what_the_twin_reads(text):
    assert read(text) == twin(text)


@given(files(), st.sampled_from([{}, {"hash_bits": 3}, {"hash_bits": 20, "seed": 5}]))
def test_cutting_changes_nothing(text, parameters):
    check_cuts(_core.VwRows(), text, **parameters)


@given(NUMBERS)
def test_numbers_are_correctly_rounded(number):
    """As label, importance, scale and value, in the middle and at the end, as Python reads them."""
    want = float(number)
    ((label, _, row),) = read(f"{number} | a:{number} b:1 c:1 d:{number}".encode())
    assert np.float64(label).tobytes() == np.float64(want).tobytes()
    assert [x for _, x in row] == [want, 1.0, 1.0, want]
    if want >= 0:
        assert read(f"1 {number} |n:{number} a:1".encode()) == [(1.0, want, [("n^a", want)])]


def test_documented_examples():
    text = (
        b"1 1.0 zebra|MetricFeatures:3.28 height:1.5 length:2.0 |Says black with white stripes "
        b"|OtherFeatures NumberOfLegs:4.0 HasStripes\n"
    )
    assert read(text) == twin(text)
    assert read(b"1 | a a:2 b:0 b:1 b:-1\n") == [
        (1.0, 1.0, [("a", 3.0), ("b", 0.0)])
    ]  # a sum of 0 stays stored
    assert read(b"-1 |f :2 x :3 |f :4 city:paris") == [
        (-1.0, 1.0, [("f^0", 6.0), ("f^x", 1.0), ("f^1", 3.0), ("f^city=paris", 1.0)])
    ]
    assert read(b"1 | x\n# | y\n", skip_bad=True) == [(1.0, 1.0, [("x", 1.0)])]  # no comments


def test_names_are_those_of_the_online_learner():
    """The same data as dicts: the same names in the same order."""
    rows = [({"a": 1.0, "a_longer_name": 2.0, "city": "paris"}, 1), ({"b": 0.5, "a": 3.0}, -1)]
    model = OnlinePerceptron()
    model.learn_many(rows)
    text = "\n".join(f"{y} | " + " ".join(f"{k}:{v}" for k, v in x.items()) for x, y in rows).encode()
    features = NamedFeatures()
    placed(_core.VwRows(), [text], features)
    assert features.names(range(features.n_columns)) == model.feature_names_in_.tolist()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"1 a", "expected | before the features, found the end of the line"),
        (b"1|a b", "expected a label, found only the tag '1' (a label needs a blank before |)"),
        (b"| a", "expected a label before |"),
        (b"2:0.5 |a", "expected a plain label, found '2:0.5' (labels with costs are not supported)"),
        (b"1,2 | a", "expected one label, found several: '1,2'"),
        (b"nan | a", "expected a finite label, found 'nan'"),
        (b"1e999 | a", "label '1e999' is too large for float64"),
        (b"x | a", "expected a number as label, as in the rows before, found 'x'"),
        (b"1 -1 |a", "expected a weight of 0 or more, found '-1'"),
        (b"1 x |a", "expected a number as importance, found 'x'"),
        (b"1 inf |a", "expected a finite importance, found 'inf'"),
        (b"1 1 2 |a", "a base other than 0 is not supported, found '2'"),
        (b"1 1 0 4 |a", "expected at most label, importance and base before |, found '4' too"),
        (b"1 't x |a b", "expected | after the tag ''t', found 'x'"),
        (b"1 | a:", "expected a number as value, found nothing"),
        (b"1 | a:1:2", "expected a number as value, found '1:2'"),
        (b"1 | a:b:c", "expected feature[:value], found 'a:b:c'"),
        (b"1 | a:1.2.3 b", "expected a number as value, found '1.2.3'"),
        (b"1 | a:-inf", "expected a finite value, found '-inf'"),
        (b"1 | a:1e999", "value '1e999' is too large for float64"),
        (b"1 | a\x01b", "expected a feature, found '\\x01b'"),
        (b"1 | a\rb", "expected a feature, found '\\x0db'"),
        (b"1 | a:1\x00", "expected a number as value, found '1\\x00'"),
        (b"1 |n:x a", "expected a number as namespace scale, found 'x'"),
        (b"1 |n:1e308 a:1e308", "the scaled value of 'n^a' is too large for float64"),
        (b"1 | a:1e308 a:1e308", "the values of 'a' add up to more than float64 can hold"),
    ],
)
def test_malformed_lines(line, message):
    parser = _core.VwRows()
    assert not parser.parse(b"3 | fine\n\n" + line + b"\n1 | next\n")
    assert (parser.lines, parser.n, parser.problem) == (2, 1, message)
    assert parser.take()[5].strings() == ["fine"]
    patient = _core.VwRows(_core.LineOptions(skip_bad=True))
    assert patient.parse(b"3 | fine\n\n" + line + b"\n1 2 | next fine\n")
    assert (patient.lines, patient.n_skipped, patient.skipped) == (4, 1, [(2, message)])
    assert [patient.row_line(i) for i in range(patient.n)] == [0, 3]
    labels, weights, *matrix = patient.take()
    assert labels.tolist() == [3.0, 1.0] and weights.tolist() == [1.0, 2.0]
    assert plain(*matrix) == [[("fine", 1.0)], [("next", 1.0), ("fine", 1.0)]]


def test_text_labels():
    assert [r[0] for r in read("ü |a\nspam |b\n<=50K |c\n".encode())] == ["ü", "spam", "<=50K"]
    parser = _core.VwRows()
    assert not parser.parse(b"spam | a\n1 | b\n") and parser.lines == 1
    assert parser.problem == "expected text as label, as in the rows before, found '1'"
    parser.clear()
    assert not parser.parse(b"\xff | a") and "is not UTF-8" in parser.problem


def test_labels_may_be_optional():
    assert [r[0] for r in read(b"| a\n'tag | b\n", label="optional")] == [None, None]
    for text, message in (
        (b"| a\n2 | b", "expected no label, as in the rows before, found '2'"),
        (b"2 | a\n| b", "expected a label before |"),
    ):
        parser = _core.VwRows(_core.LineOptions(label="optional"))
        assert not parser.parse(text) and (parser.lines, parser.problem) == (1, message)
    parser = _core.VwRows(_core.LineOptions(kind="text"))
    assert (
        not parser.parse(b"1 | a")
        and parser.problem == "expected text as label, as in the rows before, found '1'"
    )
    with pytest.raises(ValueError, match="'required' or 'optional'"):
        _core.VwRows(_core.LineOptions(label="none"))


def test_names_that_are_no_utf8_are_shown_by_their_codes():
    assert read(b"1 | caf\xe9") == [(1.0, 1.0, [("caf\\xe9", 1.0)])]


def test_many_bad_lines_are_counted_and_a_few_kept():
    parser = _core.VwRows(_core.LineOptions(skip_bad=True))
    assert parser.parse(b"1 a\n" * 30)
    assert parser.n_skipped == 30 and len(parser.skipped) == 10


def test_a_view_is_what_take_hands_over():
    parser = _core.VwRows()
    parser.parse(b"1 0.5 | a b:2\n2 |n c\n")
    viewed = parser.view()
    copies = [a.tolist() for a in viewed[:5]] + [viewed[5].strings()]
    taken = parser.take()
    assert [a.tolist() for a in taken[:5]] + [taken[5].strings()] == copies
    assert parser.n == 2 and parser.row_line(1) == 1  # messages still need it
    assert parser.parse(b"1 | z\n") and parser.n == 1 and parser.take()[5].strings() == ["z"]


@given(st.binary(max_size=80) | st.text("1-.e:| ab'^\t\n\r", max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(text):
    """Never a crash; what is skipped and what is read make up all lines."""
    strict = _core.VwRows(_core.LineOptions(label="optional"))
    sound = strict.parse(text)
    assert sound == (strict.problem == "")
    patient = _core.VwRows(_core.LineOptions(label="optional", skip_bad=True))
    assert patient.parse(text)
    assert sound == (patient.n_skipped == 0)
    assert patient.lines == len(text.split(b"\n")) - text.endswith(b"\n") if text else patient.lines == 0
    _, _, data, indices, indptr, names = patient.take()
    assert np.isfinite(data).all()
    assert indptr[-1] == len(data) == len(indices) and (len(indices) == 0 or indices.max() < len(names))
