"""Calls from several threads take turns: one that learns by itself, those that only read together.

A model's native loops run without the interpreter's lock, and a call of `partial_fit` is several of them with
Python in between. So each call of an estimator or of an online learner asks for its turn first.
"""

from __future__ import annotations

import os
from threading import Condition, Lock, get_ident
from typing import Any


class Turns:
    """Whose turn it is with one object: ``with turns.learning:`` and ``with turns.reading:``.

    Whoever learns waits for all others, and all others for it. A thread may read inside of its own turn. It
    cannot begin to learn there: what it is in the middle of would be about another model, so that is a
    RuntimeError. In a forked child the turns of other threads have ended; a model that one of them was
    learning with may be half of one state and half of another, and every call says so.

    Examples
    --------
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

    def __init__(self) -> None:
        self._learner = 0  # the thread that learns; 0: none
        self._readers: dict[int, int] = {}  # how many turns each thread has
        self._broken = False
        self._renew()
        self.learning, self.reading = _Learning(self), _Reading(self)

    def _renew(self) -> None:
        """A lock that nobody holds or waits for."""
        self._lock = Lock()
        self._change = Condition(self._lock)
        self._waiting = 0  # threads
        self._wanted = 0  # those among them that want to learn: new readers let them pass
        self._era = _era

    def _after_fork(self, me: int) -> None:
        """In a child the thread that forked is the only one left."""
        self._broken = self._broken or self._learner not in (0, me)
        self._readers = {me: self._readers[me]} if me in self._readers else {}
        self._learner = self._learner if self._learner == me else 0
        self._renew()

    def _check(self) -> None:
        if self._broken:
            raise RuntimeError(
                "the process was forked while another thread was learning with this model: load or fit it "
                "anew here."
            )

    def _wait(self, *, to_learn: bool) -> None:
        """Until nobody stands in the way; the lock is held before and after."""
        self._waiting += 1
        self._wanted += to_learn
        try:
            while self._learner or (self._readers if to_learn else self._wanted):
                self._change.wait()
        finally:
            self._waiting -= 1
            self._wanted -= to_learn
            if self._waiting:
                self._change.notify_all()  # who would read may have waited for one that was interrupted

    def __reduce__(self) -> tuple[Any, ...]:
        return Turns, ()  # a copy is nobody's yet


class _Turn:
    """One kind of turn, as a context. It is on the way of every call: hence no layers."""

    __slots__ = ("_of",)

    def __init__(self, of: Turns) -> None:
        self._of = of


class _Learning(_Turn):
    def __enter__(self) -> None:
        of, me = self._of, get_ident()
        if of._era is not _era:
            of._after_fork(me)
        with of._lock:
            if of._learner or of._readers or of._broken:
                of._check()
                if of._learner == me or me in of._readers:
                    raise RuntimeError(
                        "this call would learn inside another call of the same model (from a callback, a "
                        "kernel, or a method such as __hash__ or __float__ of what it is given): learn when "
                        "that has returned."
                    )
                of._wait(to_learn=True)
            of._learner = me

    def __exit__(self, *_: object) -> None:
        of = self._of
        if of._era is not _era:
            of._after_fork(get_ident())
        with of._lock:
            of._learner = 0
            if of._waiting:
                of._change.notify_all()


class _Reading(_Turn):
    def __enter__(self) -> None:
        of, me = self._of, get_ident()
        if of._era is not _era:
            of._after_fork(me)
        with of._lock:
            if of._learner or of._wanted or of._broken:
                of._check()
                if of._learner != me and me not in of._readers:
                    of._wait(to_learn=False)
            of._readers[me] = of._readers.get(me, 0) + 1

    def __exit__(self, *_: object) -> None:
        of, me = self._of, get_ident()
        if of._era is not _era:
            of._after_fork(me)
        with of._lock:
            left = of._readers.pop(me) - 1
            if left:
                of._readers[me] = left
            elif of._waiting:
                of._change.notify_all()


_era = object()  # another one in a forked child


def _new_era() -> None:
    global _era
    _era = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_era)


def turns_of(owner: Any) -> Turns:
    """The turns of an object, made when they are first asked for."""
    turns = vars(owner).get("_turns")
    if turns is None:
        turns = vars(owner).setdefault("_turns", Turns())  # of two threads both get the same
    return turns  # type: ignore[no-any-return]
