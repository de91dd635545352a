"""LIBSVM text: against scikit-learn's loader, against `float`, and with every kind of damage."""

import bz2
import gzip
import io
import lzma
import os
import re
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

import novikoff
from novikoff.data.rounding import nearest_double
from support.places import at_hand

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**40), 10**40).map(str),
    st.floats(0, 1).map(lambda v: f"{v:.4f}"),
    st.floats(-1e6, 1e6).map(lambda v: f"{v:g}"),
    st.sampled_from(
        ["1", "0", "-0", "+1", ".5", "5.", "-.5", "+.25", "1E+05", "1e-320", "1e-400", "-1e-400"]
    ),
    # digits, point and power in all proportions
    st.from_regex(r"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,2})?", fullmatch=True),
)


# Rows in the middle of a block, with others around them, are read in another way than those at its ends.
AROUND = b"7 1:1 2:0.25\n" * 12


def read(text, **parameters):
    """As the peer reads integers: those that no double holds are rounded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", novikoff.RoundingWarning)
        given = {"rounding": "nearest", "max_columns": 2**63 - 1} | parameters
        return novikoff.load(io.BytesIO(text), **given)


def same(first, second):
    """The same shape, types and bits."""
    (X, y), (Z, z) = first[:2], second[:2]
    assert X.shape == Z.shape and y.dtype == z.dtype
    for a, b in ((X.data, Z.data), (X.indices, Z.indices), (X.indptr, Z.indptr), (y, z)):
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes()


def like_peer(got, text, **parameters):
    X, y = got
    Z, z = load_svmlight_file(io.BytesIO(text), zero_based=False, **parameters)
    assert (X.shape[0], max(X.shape[1], 1)) == Z.shape  # the peer invents a column where there is none
    np.testing.assert_array_equal(X.indptr, Z.indptr)
    np.testing.assert_array_equal(X.indices, Z.indices)
    assert X.data.tobytes() == Z.data.tobytes()
    np.testing.assert_array_equal(y, z)


@st.composite
def files(draw):
    """Text in the format, with all that may vary about it."""
    lines = []
    blank = draw(st.sampled_from([" ", "  ", "\t", " \t "]))
    for _ in range(draw(st.integers(1, 8))):
        label = draw(st.sampled_from(["1", "-1", "+1", "0", "2.5", "1e2", "7"]))
        indices = sorted(draw(st.sets(st.integers(1, 2**31 - 2) | st.integers(1, 30), max_size=8)))
        query = draw(st.sampled_from(["", "", "qid:3"]))
        pairs = [f"{i}:{draw(NUMBERS)}" for i in indices]
        comment = draw(st.sampled_from(["", "", " # 4:5 and more", "#", " "]))
        lines.append(blank.join([label, *([query] if query else []), *pairs]) + comment)
        lines += draw(st.sampled_from([[], [], [""], ["# all comment"], ["  "]]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return (end.join(lines) + draw(st.sampled_from([end, ""]))).encode()


@given(files())
@example(b"1\n")
@example(b"1 1:1\r")
def test_reads_what_the_peer_reads(text):
    like_peer(read(text), text)
    like_peer(read(AROUND + text + b"\n" + AROUND), AROUND + text + b"\n" + AROUND)


@given(NUMBERS)
@example("123456789012345678901234567890")
@example("9007199254740993")  # 2^53 + 1, a tie between two doubles
@example("179769313486231580793e288")  # rounds to the largest double
@example("2.4703282292062327208e-324")  # just below half of the smallest
@example("0." + "0" * 400 + "1e400")
@example("1" + "0" * 400 + "e-400")
@example("0e999999999999999999999")
def test_numbers_are_correctly_rounded(number):
    """As label and as value, in the middle of a block and at its very end, and as Python reads them."""
    want = np.float64(float(number))
    label = number if nearest_double(number)[1] else "7"  # labels are never rounded
    for text in (
        f"1 1:{number} 2:1 3:1 4:1 5:1",
        f"1 1:{number}",
        f"1 1:{number}\r\n",
        f"{label} 1:{number}#",
    ):
        X, y = read(text.encode(), dtype=np.float64)
        assert X.data[:1].tobytes() == want.tobytes()
    assert y[0] == float(label)
    X, y = read(AROUND + f"{label} 4:{number} 123456:{number}\n".encode() + AROUND)
    assert X.data[24:26].tobytes() == np.array([want, want]).tobytes() and y[12] == float(label)


@given(NUMBERS.filter(lambda s: abs(float(s)) < 1e38))
def test_float32_is_rounded_from_the_double(number):
    X, _ = read(f"1 1:{number}".encode(), dtype="float32")
    assert X.dtype == np.float32 and X.data.tobytes() == np.float32(float(number)).tobytes()
    X, _ = read(AROUND + f"1 1:{number}\n".encode() + AROUND, dtype="float32")
    assert X.data[24].tobytes() == np.float32(float(number)).tobytes()


SAMPLE = (
    b"+1 1:0.5 3:2 12:-1e-3\r\n# comment 1:1\n\n-1 qid:4 2:1 30:0.0312 # x\n  3\n2.5\t7:12345678.25 \n"
    b"1 1:1 2:1 3:1 4:1 1234567:0.123456789012345678"
)


def test_every_split_gives_the_same_arrays():
    whole = read(SAMPLE)
    assert whole[0].shape == (5, 1234567) and whole[1].tolist() == [1.0, -1.0, 3.0, 2.5, 1.0]
    for size in range(1, len(SAMPLE) + 2):
        same(read(SAMPLE, block_size=size), whole)
    same(read(SAMPLE, block_size=7, n_jobs=3), whole)
    for cut in range(
        len(SAMPLE) + 1
    ):  # an open file is read from where it stands, in whatever pieces it gives

        class Pieces(io.BytesIO):
            def read(self, size=-1, cut=cut):
                at = self.tell()
                return super().read(min(size, cut - at) if at < cut else size)

        same(novikoff.load(Pieces(SAMPLE)), whole)


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    lines = [
        f"{i % 2} "
        + " ".join(f"{j}:{v!r}" for j, v in enumerate(rng.normal(size=rng.integers(0, 20)).tolist(), 1))
        for i in range(3000)
    ]
    text = "\n".join(lines).encode()
    whole = read(text)
    like_peer(whole, text)
    for jobs in (2, 5, -1):
        same(read(text, n_jobs=jobs, block_size=1000), whole)
    bad = text.replace(b"\n", b"\n1 x\n", 1) + b"\n1 y"
    with pytest.raises(ValueError, match=r"^<BytesIO>, line 2: .*'x'"):  # the first, whoever meets it first
        read(bad, n_jobs=2, block_size=100)


def test_indices():
    X, y = read(b"1 0:5 3:1\n0 1:2\n", zero_based=True)
    assert X.toarray().tolist() == [[5, 0, 0, 1], [0, 2, 0, 0]] and y.dtype == np.int64
    assert X.has_sorted_indices and X.has_canonical_format
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert read(b"1 2:0\n")[0].nnz == 1, "a stored zero stays"
    assert read(b"1 2:1\n", n_features=9)[0].shape == (1, 9)
    assert read(b"1\n2\n")[0].shape == (2, 0)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("size", [1, 30, 1000])
def test_large_indices_make_both_index_arrays_int64(jobs, size):
    text = b"1 1:1 2147483647:2\n2 qid:5 3:1 2147483649:2.5 9223372036854775806:3\n1 00000000004:1\n"
    X, y, qid = read(text, n_jobs=jobs, block_size=size, query_id=True)
    assert X.shape == (3, 2**63 - 2) and X.indices.dtype == X.indptr.dtype == np.int64
    assert X.indices.tolist() == [0, 2**31 - 2, 2, 2**31, 2**63 - 3, 3]
    assert X.data.tolist() == [1, 2, 1, 2.5, 3, 1] and X.indptr.tolist() == [0, 2, 5, 6]
    assert y.tolist() == [1, 2, 1] and qid.tolist() == [-1, 5, -1]
    assert read(b"1 2147483647:1")[0].indices.dtype == np.int32


@pytest.mark.parametrize("jobs", [1, 2])
def test_query_ids(jobs):
    lines = [f"{i} " + (f"qid:{i * 7} " if i in (3, 4, 8) else "") + "1:1" for i in range(12)]
    _, _, qid = read("\n".join(lines).encode(), query_id=True, n_jobs=jobs, block_size=20)
    assert qid.tolist() == [i * 7 if i in (3, 4, 8) else -1 for i in range(12)]
    assert read(b"1 1:1\n", query_id=True)[2].tolist() == [-1]


def test_labels_are_int64_when_whole():
    assert read(b"+1\n-0\n3.0\n1e3\n")[1].tolist() == [1, 0, 3, 1000]
    for text, dtype in (
        (b"1\n2", "int64"),
        (b"1\n.5", "float64"),
        (b"1e300", "float64"),
        (b"-1e19", "float64"),
    ):
        assert read(text)[1].dtype == dtype


MALFORMED = {
    "no label": (b" 1:1 2:3", "expected a number as label, found '1:1'"),
    "byte order mark": (b"\xef\xbb\xbf1 1:1", r"as label, found '\xef\xbb\xbf1'"),
    "several labels": (b"1,2 1:1", "expected one label, found several: '1,2'"),
    "label not finite": (b"nan 1:1", "expected a finite label, found 'nan'"),
    "label too large": (b"1e999 1:1", "label '1e999' is too large for float64"),
    "label with a control character": (b"a\x01b 1:1", "as label, found 'a\\x01b'"),
    "label not in UTF-8": (b"caf\xe9 1:1", "as label, found 'caf\\xe9'"),
    "long label": (b"a" * 256 + b" 1:1", "expected a "),
    "no colon": (b"1 1:1 23 4:5", "expected index:value, found '23'"),
    "word": (b"1 1:1 spam", "expected index:value, found 'spam'"),
    "long word": (b"1 " + b"ab" * 50, "found '" + "ab" * 20 + "...'"),
    "negative index": (b"1 -3:1", "expected index:value, found '-3:1'"),
    "index with a point": (b"1 1.5:1", "expected index:value, found '1.5:1'"),
    "no index": (b"1 :1", "expected index:value, found ':1'"),
    "index 0": (b"1 0:1", "index 0 found, but indices start at 1; pass zero_based=True"),
    "index twice": (b"1 2:1 2:3", "index 2 twice: indices must increase in a line"),
    "index order": (b"1 2:1 5:1 3:1", "index 3 after 5: indices must increase in a line"),
    "index too large": (b"1 9223372036854775807:1", "is too large"),
    "index far too large": (b"1 99999999999999999999999:1", "is too large"),
    "no value": (b"1 3:", "expected a number as value, found the end of the line"),
    "no value, \\r": (b"1 3:\r", "expected a number as value, found the end of the line"),
    "blank before the value": (b"1 3: 5", "expected a number as value, found ' 5'"),
    "value": (b"1 3:x", "expected a number as value, found 'x'"),
    "value glued": (b"1 3:1.5.2 4:1", "expected a number as value, found '1.5.2'"),
    "two colons": (b"1 3:1:2", "expected a number as value, found '1:2'"),
    "point alone": (b"1 3:. 4:1 5:1", "expected a number as value, found '.'"),
    "sign alone": (b"1 3:- 4:1 5:1", "expected a number as value, found '-'"),
    "two signs": (b"1 3:--1 4:1", "expected a number as value, found '--1'"),
    "power alone": (b"1 3:1e 4:1", "expected a number as value, found '1e'"),
    "power without digits": (b"1 3:1e+ 4:1", "expected a number as value, found '1e+'"),
    "hexadecimal": (b"1 3:0x10 4:1", "expected a number as value, found '0x10'"),
    "underscore": (b"1 3:1_0 4:1", "expected a number as value, found '1_0'"),
    "NaN": (b"1 3:NaN 4:1", "expected a finite value, found 'NaN'"),
    "infinity": (b"1 3:-inf 4:1", "expected a finite value, found '-inf'"),
    "too large": (b"1 3:1e400 4:1", "value '1e400' is too large for float64"),
    "carriage return": (b"1 3:1\r4:1", "expected a number as value, found '1\\x0d4:1'"),
    "NUL": (b"1 3:1\0 4:1", "found '1\\x00'"),
    "qid": (b"1 qid:x 3:1", "expected qid: and a whole number of at most 18 digits, found 'qid:x'"),
    "negative qid": (b"1 qid:-1 3:1", "found 'qid:-1'"),
    "late qid": (b"1 3:1 qid:4", "expected qid only once, directly after the label, found 'qid:4'"),
    "qid twice": (b"1 qid:3 qid:4", "expected qid only once, directly after the label, found 'qid:4'"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_line(name, tmp_path):
    """The file, the line, what was found and what was expected, wherever the line stands."""
    line, message = MALFORMED[name]
    path = tmp_path / "bad.txt"
    for before, after, number in (
        (b"", b"", 1),
        (b"# c\n1 1:1\r\n\n", b"", 4),
        (b"1 1:1 2:2\n", b"\n2 3:4\n", 2),
        (AROUND, b"\n" + AROUND, 13),
    ):
        path.write_bytes(before + line + after)
        for parameters in ({}, {"block_size": 3}, {"n_jobs": 2, "block_size": 3}):
            with pytest.raises(ValueError) as caught:
                novikoff.load(path, **parameters)
            assert str(caught.value).startswith(f"{path}, line {number}: ")
            assert message in str(caught.value)


def test_limits_are_named_with_the_line():
    text = b"1 1:1\n1 4:1\n2 1:1e39 3:4\n"
    with pytest.raises(ValueError, match="line 2: index 4 is too large for n_features=3"):
        read(text, n_features=3)
    with pytest.raises(ValueError, match="line 2: index 4 is too large for n_features=4"):
        read(text, n_features=4, zero_based=True)
    with pytest.raises(ValueError, match="line 3: value '1e39' is too large for float32"):
        read(text, dtype=np.float32)
    assert read(b"1 1:3.4028235677973362e38", dtype=np.float32)[0].data[0] == np.finfo(np.float32).max
    with pytest.raises(ValueError, match="too large for float32"):
        read(b"1 1:3.4028235677973366e38", dtype=np.float32)
    for size in (1, 5, 1000):
        for jobs in (1, 2):
            with pytest.raises(ValueError, match="line 3: the line has more than max_line=11 bytes"):
                read(text, max_line=11, block_size=size, n_jobs=jobs)
        same(read(text, max_line=12, block_size=size), read(text))


PACKED = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("form", PACKED)
def test_compressed(form, tmp_path):
    """Known by their first bytes, whatever the name; cut short or damaged they give one error."""
    rng = np.random.default_rng(1)
    text = "".join(f"{i % 3} 1:{v!r} 7:1\n" for i, v in enumerate(rng.normal(size=5000).tolist())).encode()
    whole, packed = read(text), PACKED[form](text)
    for name in (f"data.{form}", "data.txt"):
        path = tmp_path / name
        path.write_bytes(packed)
        for parameters in ({}, {"n_jobs": 2, "block_size": 5000}):
            same(novikoff.load(path, **parameters), whole)
            same(novikoff.load(str(path), **parameters), whole)
        with path.open("rb") as file:
            same(novikoff.load(file), whole)
            assert not file.closed
    same(read(packed), whole)
    same(read(PACKED[form](text[:500]) + PACKED[form](text[500:])), whole)  # two streams, one after the other
    for cut in (len(packed) // 2, len(packed) - 1, 8):
        path.write_bytes(packed[:cut])
        with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: the .* data ends too early"):
            novikoff.load(path)
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0xFF
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=re.escape(str(path))):
        novikoff.load(path)
    with pytest.raises(ValueError, match="line 2: "):
        read(PACKED[form](b"1 1:1\nx"))


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="absent"):
        novikoff.load(tmp_path / "absent.txt")
    with pytest.raises(IsADirectoryError, match=re.escape(str(tmp_path))):
        novikoff.load(tmp_path)
    secret = tmp_path / "secret.txt"
    secret.write_bytes(b"1 1:1\n")
    secret.chmod(0)
    if not os.access(secret, os.R_OK):  # for whom nothing is forbidden there is nothing to see
        with pytest.raises(PermissionError, match="secret"):
            novikoff.load(secret)
    for content, message in ((b"", "holds nothing"), (b"\n# a comment\n", "only blank lines and comments")):
        path = tmp_path / "empty.txt"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"{re.escape(str(path))}: expected at least one row.*{message}"):
            novikoff.load(path)
    with pytest.raises(ValueError, match="the Zstandard data"):
        read(b"\x28\xb5\x2f\xfd" + bytes(20))
    with pytest.raises(TypeError, match=r"binary mode; its read\(\) returned str"):
        novikoff.load(io.StringIO("1 1:1"))
    with pytest.raises(TypeError, match="path must be a str, a path or an open binary file, not int"):
        novikoff.load(3)

    class Broken(io.BytesIO):
        def read(self, size=-1):
            raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output error"):
        novikoff.load(Broken())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"zero_based": "auto"}, "zero_based must be True or False, not 'auto'"),
        ({"n_features": -1}, "n_features must be a whole number ≥ 0, not -1"),
        ({"n_features": 2.5}, "n_features must be a whole number"),
        ({"max_line": 0}, "max_line must be a whole number ≥ 1"),
        ({"block_size": 0}, "block_size must be a whole number ≥ 1"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"dtype": "int32"}, "dtype must be float32 or float64, not 'int32'"),
        ({"dtype": "spam"}, "dtype must be float32 or float64, not 'spam'"),
        ({"dtype": None}, "dtype must be float32 or float64, not None"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        read(b"1 1:1\n", **parameters)


@given(files(), st.data())
def test_damaged_text_is_read_or_refused(text, data):
    """Random bytes put anywhere: rows that fit together, or a ValueError, however it is cut."""
    text = bytearray(text)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        junk = data.draw(
            st.binary(max_size=6)
            | st.sampled_from([b":", b" ", b"\n", b"\r", b".", b"e", b"qid:", b"9" * 20])
        )
        text[at : at + data.draw(st.integers(0, 3))] = junk
    if data.draw(st.booleans()):
        text = AROUND + text + b"\n" + AROUND
    outcomes = []
    for parameters in ({}, {"block_size": 3}, {"n_jobs": 2, "block_size": 16}):
        try:
            outcomes.append(read(bytes(text), zero_based=True, **parameters))
        except ValueError as error:
            outcomes.append(str(error))
    for other in outcomes[1:]:
        if isinstance(outcomes[0], str):
            assert other == outcomes[0]
        else:
            same(other, outcomes[0])
            outcomes[0][0].check_format(full_check=True)


@given(st.binary(max_size=200))
def test_any_bytes(junk):
    try:
        X, y = read(junk)
    except ValueError as error:
        assert "<BytesIO>" in str(error)
    else:
        assert X.shape[0] == len(y) > 0


@pytest.mark.parametrize(
    ("name", "shape", "positive"),
    [
        ("a9a.xz", (32_561, 123), 7_841),
        ("mushrooms.txt.xz", (8_124, 112), None),
        ("phishing.txt.xz", (11_055, 68), None),
        ("ijcnn1.trn.bz2", (49_990, 22), None),
    ],
)
def test_real_files(name, shape, positive):
    path = at_hand(f"libsvm/{name}")
    X, y = novikoff.load(path, n_jobs=2)
    assert X.shape == shape and y.dtype == np.int64
    assert positive is None or np.count_nonzero(y == 1) == positive
    unpack = bz2 if name.endswith("bz2") else lzma
    like_peer((X, y), unpack.decompress(path.read_bytes()))
