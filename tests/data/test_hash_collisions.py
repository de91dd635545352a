"""Names that were chosen to meet in a table: they meet only in one whose key is known.

The generators are of names that meet under hashes without a key, `hash_bytes` and `fold` of
native/text/hash.h, which tables once used: each look-up went through all of them. What is counted is places
of the table, not time.
"""

import io
import re

import numpy as np
import pytest

import novikoff
from novikoff import _core
from novikoff.data.sources.features import NamedFeatures

A, B, WORD = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 2**64 - 1
N = 20_000
# Keys are drawn per process, so the longest probe differs: it is about 15 for the short names and 40 for the
# long ones. Under 300 keys it was never 50 for the short names, where all 2,000 met before.
FEW = 500
SEPARATORS = re.compile(rb"[\x00-\x20:|,\x7f-\xff]")


def fold(a, b):
    product = a * b
    return (product ^ product >> 64) & WORD


def long_names(n):
    """Names of 17 bytes with one and the same `hash_bytes` of seed 0: the second word undoes the first."""
    rng, names = np.random.default_rng(1), []
    start = fold(A, B) ^ 17
    while len(names) < n:
        first = int.from_bytes(bytes(rng.integers(0x21, 0x7F, 8, dtype=np.uint8)), "little")
        second = fold(start ^ first ^ A, B) ^ A  # from here on the state is 0
        name = first.to_bytes(8, "little") + second.to_bytes(8, "little") + b"x"
        if not re.search(rb"[\x00-\x20:|\x7f]", name):
            names.append(name)
    return names


def short_names(n, bits):
    """Names of 8 bytes whose first place in a table of 2^bits was the same."""
    rng, names = np.random.default_rng(2), []
    low32 = np.uint64(0xFFFFFFFF)
    while len(names) < n:
        words = rng.integers(0x30, 0x7B, (1 << 18, 8), dtype=np.uint8)  # digits and letters, and a few marks
        x = words.view("<u8").ravel().astype(np.uint64) ^ np.uint64(A)
        with np.errstate(over="ignore"):
            xl, xh = x & low32, x >> np.uint64(32)
            bl, bh = np.uint64(B & 0xFFFFFFFF), np.uint64(B >> 32)
            middle = (xl * bl >> np.uint64(32)) + (xh * bl & low32) + xl * bh
            high = xh * bh + (xh * bl >> np.uint64(32)) + (middle >> np.uint64(32))
            home = (x * np.uint64(B) ^ high) & np.uint64((1 << bits) - 1)
        found = words[home == 0]
        names += [bytes(name) for name in found if not SEPARATORS.search(bytes(name))]
    return list(dict.fromkeys(names))[:n]


def feature_hash(name, seed=0):
    """The twin of `hash_bytes`: what decides columns with `hash_bits`."""
    n, h = len(name), fold(seed ^ A, B) ^ len(name)
    while n > 8:
        h = fold(h ^ int.from_bytes(name[:8], "little") ^ A, B)
        name, n = name[8:], n - 8
    if n == 8:
        rest = int.from_bytes(name, "little")
    elif n >= 4:
        rest = int.from_bytes(name[:4], "little") | int.from_bytes(name[-4:], "little") << 32
    else:
        rest = name[0] | name[n // 2] << 8 | name[-1] << 16 if n else 0
    return fold(fold(h ^ rest ^ A, B) ^ A, B)


def test_the_generators_are_right():
    assert len({feature_hash(name) for name in long_names(50)}) == 1
    homes = {fold(int.from_bytes(name, "little") ^ A, B) % 2**12 for name in short_names(50, 12)}
    assert homes == {0}


def read(names, **options):
    """The columns of a file with a name in each of its rows, and in some of them again."""
    lines = [b"%d | %s %s\n" % (k % 2, name, names[k // 2]) for k, name in enumerate(names)]
    source = novikoff.open_source(io.BytesIO(b"".join(lines)), format="vw", block_size=1 << 16, **options)
    columns = np.concatenate([block.X.indices for block in source.blocks()])
    return source, columns


@pytest.mark.parametrize("names", [long_names(N), short_names(2000, 12)], ids=["long", "short"])
def test_colliding_names_are_found_at_once(names):
    source, columns = read(names)
    assert source.features.n_columns == len(names)
    assert source.features._vocabulary.longest_probe < FEW
    twin: dict[bytes, int] = {}
    expected = [
        twin.setdefault(each, len(twin))
        for k, name in enumerate(names)
        for each in dict.fromkeys([name, names[k // 2]])
    ]
    assert columns.tolist() == expected


@pytest.mark.parametrize("seed", [0, 7])
def test_columns_by_hash_are_what_they_were(seed):
    """The key of tables never decides a column."""
    names = [*long_names(20), *short_names(20, 12), b"", b"a", b"abc", b"abcd", b"abcdefg", b"abcdefghi"]
    features = NamedFeatures(hash_bits=20, seed=seed)
    text = [name.decode("latin-1") for name in names]
    expected = [feature_hash(each.encode(), seed) % 2**20 for each in text]
    assert features.place(text).tolist() == expected
    assert features.place(text).tolist() == expected
    assert _core.Vocabulary(20, seed).longest_probe == 0


def test_ints_with_one_hash():
    """hash(k · (2⁶¹ − 1)) is 0 in Python; so were equal those of 64 bits that differ by 2⁶¹ − 1."""
    keys = [k * (2**61 - 1) for k in range(1, 3000)]
    assert {hash(key) for key in keys} == {0}
    learner = novikoff.OnlinePerceptron()
    for key in keys:
        learner.learn_one({key: 1.0}, key % 2)
    assert learner.n_features_in_ == len(keys)
    assert learner._longest_probe < FEW
    assert learner.score_one({keys[5]: 1.0}) == learner.score_one({str(keys[5]): 1.0})


# ---- SipHash-1-3, readable -----------------------------------------------------------------------------
def siphash13(text, k0, k1):
    def rotl(x, b):
        return (x << b | x >> (64 - b)) & WORD

    def rounds(v, count):
        v0, v1, v2, v3 = v
        for _ in range(count):
            v0 = (v0 + v1) & WORD
            v2 = (v2 + v3) & WORD
            v1, v3 = rotl(v1, 13) ^ v0, rotl(v3, 16) ^ v2
            v0 = (rotl(v0, 32) + v3) & WORD
            v2 = (v2 + v1) & WORD
            v1, v3 = rotl(v1, 17) ^ v2, rotl(v3, 21) ^ v0
            v2 = rotl(v2, 32)
        return [v0, v1, v2, v3]

    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    whole = len(text) // 8 * 8
    words = [int.from_bytes(text[k : k + 8], "little") for k in range(0, whole, 8)]
    for m in [*words, int.from_bytes(text[whole:], "little") | (len(text) % 256) << 56]:
        v[3] ^= m
        v = rounds(v, 1)
        v[0] ^= m
    v[2] ^= 0xFF
    v = rounds(v, 3)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def test_long_names_are_hashed_by_siphash():
    rng = np.random.default_rng(3)
    for n in [*range(40), 255, 256, 300]:
        text = bytes(rng.integers(0, 256, n, dtype=np.uint8))
        k0, k1 = (int(k) for k in rng.integers(0, 2**64, 2, dtype=np.uint64))
        assert _core.siphash13(text, k0, k1) == siphash13(text, k0, k1)
    assert _core.siphash13(b"", 0, 0) == 0xD1FBA762150C532C  # as the crate siphasher has it
