"""Small tagged sentences for the tests of taggers."""

import numpy as np

WORDS = ["the", "a", "dog", "cat", "bird", "sees", "hears", "likes", "old", "young", "and", "it"]
TAGS = dict(zip(WORDS, ["D", "D", "N", "N", "N", "V", "V", "V", "A", "A", "C", "P"], strict=True))


def corpus(n, seed=0, length=9, noise=0.0):
    """Sentences of random words, and tags that depend on the word; `noise` of them on nothing."""
    rng = np.random.default_rng(seed)
    words = [rng.choice(WORDS, rng.integers(1, length)).tolist() for _ in range(n)]
    tags = [[TAGS[w] if rng.random() >= noise else "X" for w in s] for s in words]
    return words, tags


def listed(words):
    """Feature lists: the word, the one before, and where it stands."""
    return [[[f"w={w}", f"w-1={s[t - 1]}" if t else "BOS"] for t, w in enumerate(s)] for s in words]


WORDS_OF, Y = corpus(60, noise=0.1)
X = listed(WORDS_OF)
