"""A lock for a model used by several threads: one learns alone, or any number read at the same time.

A model's native loops run without the interpreter's lock, and a call of `partial_fit` runs several of them
with Python in between. So each call of an estimator or of an online learner first takes a turn:
``with turns.learning:`` or ``with turns.reading:``.

A thread that learns excludes all others. A thread may read inside its own turn, but not start to learn there:
that would change the model under the outer call, so it is a RuntimeError. In a forked child the turns of
other threads have ended; a model that one of them was training may be in a mixed state, and every call
reports this. Turns are implemented natively (`native/memory/turns.cpp`), so that an interrupt releases them.

>>> turns = Turns()
>>> with turns.learning, turns.reading:
...     "reading inside"
'reading inside'
>>> with turns.reading, turns.learning:  # doctest: +ELLIPSIS
...     "learning inside"
Traceback (most recent call last):
    ...
RuntimeError: this call would learn inside another call of the same model...
"""

from __future__ import annotations

from typing import Any

from novikoff import _core

Turns = _core.Turns


def fresh() -> _core.Turns:
    """New turns that no thread holds, for a copy of a model."""
    return Turns()


def turns_of(owner: Any) -> _core.Turns:
    """The turns of an object, created on first use."""
    turns = vars(owner).get("_turns")
    if turns is None:
        turns = vars(owner).setdefault("_turns", Turns())  # atomic: two threads get the same object
    return turns  # type: ignore[no-any-return]
