"""Calls from several threads take turns: one that learns by itself, those that only read together.

A model's native loops run without the interpreter's lock, and a call of `partial_fit` is several of them with
Python in between. So each call of an estimator or of an online learner asks for its turn first.
"""

from __future__ import annotations

from os import getpid
from threading import Condition, get_ident
from types import TracebackType
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
    >>> with turns.learning:
    ...     with turns.reading:
    ...         with turns.learning:
    ...             pass
    Traceback (most recent call last):
        ...
    RuntimeError: this call would learn inside another call of the same model...
    """

    def __init__(self) -> None:
        self._change = Condition()
        self._process = getpid()
        self._learner = 0  # the thread that learns; 0: none
        self._readers: dict[int, int] = {}  # how many turns each thread has
        self._waiting = 0  # threads that want to learn: new readers let them pass
        self._broken = False
        self.learning, self.reading = _Turn(self._learn, self._learned), _Turn(self._read, self._have_read)

    def _here(self) -> int:
        """The thread that asks; in a forked child this is the only one left."""
        me = get_ident()
        if self._process != getpid():
            self._broken = self._broken or self._learner not in (0, me)
            self._readers = {me: self._readers[me]} if me in self._readers else {}
            self._learner, self._waiting = self._learner if self._learner == me else 0, 0
            self._change, self._process = Condition(), getpid()
        return me

    def _check(self) -> None:
        if self._broken:
            raise RuntimeError(
                "the process was forked while another thread was learning with this model: load or fit it "
                "anew here."
            )

    def _learn(self) -> None:
        me = self._here()
        self._check()
        with self._change:
            if self._learner == me or me in self._readers:
                raise RuntimeError(
                    "this call would learn inside another call of the same model (from a callback, a kernel, "
                    "or a method such as __hash__ or __float__ of what it is given): learn when that has "
                    "returned."
                )
            self._waiting += 1
            try:
                while self._learner or self._readers:
                    self._change.wait()
            finally:
                self._waiting -= 1
                if self._waiting == 0:
                    self._change.notify_all()  # who would read may have waited for one that was interrupted
            self._learner = me

    def _learned(self) -> None:
        self._here()
        with self._change:
            self._learner = 0
            self._change.notify_all()

    def _read(self) -> None:
        me = self._here()
        self._check()
        with self._change:
            if self._learner != me and me not in self._readers:
                while self._learner or self._waiting:
                    self._change.wait()
            self._readers[me] = self._readers.get(me, 0) + 1

    def _have_read(self) -> None:
        me = self._here()
        with self._change:
            self._readers[me] -= 1
            if not self._readers[me]:
                del self._readers[me]
                if not self._readers:
                    self._change.notify_all()

    def __reduce__(self) -> tuple[Any, ...]:
        return Turns, ()  # a copy is nobody's yet


class _Turn:
    """One kind of turn, as a context."""

    __slots__ = ("_begin", "_end")

    def __init__(self, begin: Any, end: Any) -> None:
        self._begin, self._end = begin, end

    def __enter__(self) -> None:
        self._begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()


def turns_of(owner: Any) -> Turns:
    """The turns of an object, made when they are first asked for."""
    turns = vars(owner).get("_turns")
    if turns is None:
        turns = vars(owner).setdefault("_turns", Turns())  # of two threads both get the same
    return turns  # type: ignore[no-any-return]
