"""Calls from several threads take turns: one that learns by itself, those that only read together.

A model's native loops run without the interpreter's lock, and a call of `partial_fit` is several of them with
Python in between. So each call of an estimator or of an online learner asks for its turn first:
``with turns.learning:`` or ``with turns.reading:``.

Whoever learns waits for all others, and all others for it. A thread may read inside of its own turn. It
cannot begin to learn there: what it is in the middle of would be about another model, so that is a
RuntimeError. In a forked child the turns of other threads have ended; a model that one of them was learning
with may be half of one state and half of another, and every call says so. Turns are taken natively
(`native/turns.cpp`), so that an interrupt leaves none behind.

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
    """Turns that nobody has: what a copy gets."""
    return Turns()


def turns_of(owner: Any) -> _core.Turns:
    """The turns of an object, made when they are first asked for."""
    turns = vars(owner).get("_turns")
    if turns is None:
        turns = vars(owner).setdefault("_turns", Turns())  # of two threads both get the same
    return turns  # type: ignore[no-any-return]
