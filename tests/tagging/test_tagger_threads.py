"""Taggers under threads, in forked children, and in the hands of the code that gives them sentences.

The index of templates is shared by all calls: what reads sentences must not hold it. Whatever could wait
forever runs in a child (`children.Child`), which is killed only if it does.
"""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from novikoff import SequenceTagger, Templates
from novikoff.tagging.features import TemplateFeatures
from support.children import Child
from support.sentences import corpus

LINES = ["columns: w", "w[-1..1]", "w[-1]|w[0]", "suffix(lower(w[0]),1..2)", 'has(w[0],"[aeiou]$")']
WORDS, TAGS = corpus(80, noise=0.1)
NEW = [[f"{w}{k}" for w in s] for k, s in enumerate(corpus(40, seed=5)[0])]  # words that nobody has met


def fitted(**more):
    return SequenceTagger(features=Templates(LINES), random_state=0, max_epochs=3, **more).fit(WORDS, TAGS)


BEGIN = f"""
import os, sys, threading
sys.path.insert(0, {str(Path(__file__).parent)!r})  # itself
from test_tagger_threads import NEW, WORDS, fitted
tagger = fitted()
right = fitted().predict(NEW)

def check(found, what):
    print(what if found == right else f"not {{what}}", flush=True)
"""


def ends(code, *said):
    """The code, in a child, comes to its end, and says these lines."""
    with Child.python(BEGIN + code) as child:
        for line in said:
            child.wait_for(line)
        assert child.end() == 0, child.output


# ---- code of the caller that runs during a call ------------------------------------------------------
def test_an_iterator_over_sentences_may_tag_with_the_same_tagger():
    """The lock was not re-entrant, and was held while the iterator ran."""
    ends(
        """
def sentences():
    for sentence in NEW:
        tagger.predict([sentence])
        yield sentence

check(tagger.predict(sentences()), "re-entered")

class Word(list):  # a token that tags when it is looked at
    def __getitem__(self, place):
        tagger.predict(NEW[:2])
        return super().__getitem__(place)

check(tagger.predict([[Word([w]) for w in s] for s in NEW]), "from inside a token")
""",
        "re-entered",
        "from inside a token",
    )


def test_an_iterator_that_waits_for_another_thread_that_tags():
    """While one call waits for its next sentence, another thread's goes through: nobody holds anything."""
    ends(
        """
def sentences():
    yield NEW[0]
    other = threading.Thread(target=lambda: check(tagger.predict(NEW), "meanwhile"))
    other.start()
    other.join()
    yield from NEW[1:]

check(tagger.predict(sentences()), "afterwards")
""",
        "meanwhile",
        "afterwards",
    )


class Gone(Exception):
    pass


@pytest.mark.parametrize("hash_bits", [None, 10])
def test_an_iterator_that_fails_leaves_the_tagger_as_it_was(hash_bits):
    tagger, right = fitted(hash_bits=hash_bits), fitted(hash_bits=hash_bits).predict(NEW)

    def sentences():
        yield from NEW[:3]
        raise Gone

    with pytest.raises(Gone):
        tagger.predict(sentences())
    with pytest.raises(ValueError, match="sentence 1, token 0"):
        tagger.predict([NEW[0], [3]])
    assert tagger.predict(NEW) == right


def test_reading_gives_no_numbers_before_all_is_read():
    """An iterator that fails while features grow adds no value and no feature."""
    features = TemplateFeatures(Templates(LINES))
    features.expand(WORDS)
    before = features.n_columns, [features._index.met(d) for d in range(3)]

    def sentences():
        yield ["entirely", "new"]
        raise Gone

    with pytest.raises(Gone):
        features.expand(sentences())
    assert (features.n_columns, [features._index.met(d) for d in range(3)]) == before


# ---- threads -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("hash_bits", [None, 10])
@pytest.mark.parametrize("memory", [1 << 20, 0])
def test_tagging_from_several_threads_is_as_tagging_from_one(monkeypatch, hash_bits, memory):
    """Also where calls make one another forget values between two steps (a memory of 0)."""
    monkeypatch.setattr("novikoff.tagging.features.FORGET", memory)
    tagger = fitted(hash_bits=hash_bits)
    parts = [NEW[k::8] for k in range(8)]
    right = [fitted(hash_bits=hash_bits).predict(part) for part in parts]
    start = threading.Barrier(8)

    def tag(k):
        start.wait()
        return [tagger.predict(parts[k]) for _ in range(30)]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for k, found in enumerate(pool.map(tag, range(8))):
                assert found == [right[k]] * 30
    finally:
        sys.setswitchinterval(interval)


def test_growing_from_several_threads_numbers_every_feature_once():
    """Which thread is first decides the numbers; what they mean is the same in all calls."""
    shared, start = TemplateFeatures(Templates(LINES)), threading.Barrier(4)

    def grow(k):
        start.wait()
        return [shared.expand([sentence]) for sentence in NEW[k::4]]

    with ThreadPoolExecutor(4) as pool:
        grown = [x for each in pool.map(grow, range(4)) for x in each]
    alone = TemplateFeatures(Templates(LINES))
    wanted = [alone.expand([sentence]) for k in range(4) for sentence in NEW[k::4]]
    assert shared.n_columns == alone.n_columns == len(set(shared.names(range(shared.n_columns))))
    for x, y in zip(grown, wanted, strict=True):
        assert shared.names(x.ids) == alone.names(y.ids)


# ---- forked children ---------------------------------------------------------------------------------
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@needs_fork
def test_a_child_forked_while_another_thread_reads_sentences():
    """The other thread is in the middle of a call, for certain: the child found its lock held, and hung."""
    ends(
        """
reading, go_on = threading.Event(), threading.Event()

def sentences():
    yield NEW[0]
    reading.set()
    go_on.wait()
    yield from NEW[1:]

other = threading.Thread(target=lambda: check(tagger.predict(sentences()), "the other thread"))
other.start()
reading.wait()
child = os.fork()
if not child:
    check(tagger.predict(NEW), "the child")
    os._exit(0)
os.waitpid(child, 0)
go_on.set()
other.join()
""",
        "the child",
        "the other thread",
    )


@needs_fork
def test_children_forked_while_other_threads_tag():
    """Forks at any moment of other threads' calls: native code is never left in the middle by a child."""
    ends(
        """
done, begun = threading.Event(), threading.Barrier(4)

def tag(k):
    begun.wait()
    turn = 0
    while not done.is_set():
        turn += 1
        tagger.predict([[f"{w}-{k}-{turn}" for w in s] for s in WORDS])

threads = [threading.Thread(target=tag, args=(k,)) for k in range(3)]
for thread in threads:
    thread.start()
begun.wait()
for number in range(40):
    child = os.fork()
    if not child:
        os._exit(0 if tagger.predict(NEW) == right else 1)
    assert os.waitpid(child, 0)[1] == 0, number
done.set()
for thread in threads:
    thread.join()
print("forty children", flush=True)
""",
        "forty children",
    )


@needs_fork
def test_a_child_forked_while_another_thread_prepares_the_weights():
    """In Python 3.11 functools.cached_property holds a lock for all taggers while it works."""
    ends(
        """
import novikoff.tagging.tagger as module
Scorer, waiting, go_on = module.Scorer, threading.Event(), threading.Event()

def slow(*parts):
    if threading.current_thread() is not threading.main_thread():
        waiting.set()
        go_on.wait()
    return Scorer(*parts)

module.Scorer = slow
first, second = fitted().to_model(), fitted().to_model()
for each in (first, second):
    vars(each).pop("scorer", None)
other = threading.Thread(target=first.tag, args=(NEW,))
other.start()
waiting.wait()
child = os.fork()
if not child:
    check(second.tag(NEW), "the child")
    os._exit(0)
os.waitpid(child, 0)
go_on.set()
other.join()
""",
        "the child",
    )


@needs_fork
def test_pools_of_forked_processes():
    """As multiprocessing makes them, while threads of the parent tag."""
    ends(
        """
import multiprocessing
done = threading.Event()

def tag():
    while not done.is_set():
        tagger.predict(WORDS)

other = threading.Thread(target=tag)
other.start()
with multiprocessing.get_context("fork").Pool(2) as pool:
    check([tags for part in pool.map(tagger.predict, [NEW[:20], NEW[20:]]) for tags in part], "a pool")
done.set()
other.join()
""",
        "a pool",
    )
