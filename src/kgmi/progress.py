"""How far a run has come, told to whoever listens.

Work says where it stands with :func:`tell`, which costs next to nothing where nobody listens. Who listens belongs
to the call and its threads (a context variable), not to the process: two fits at a time may have two listeners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from threading import Lock
from time import monotonic
from typing import TypeAlias, TypeVar

__all__ = ["Listener", "Step", "tell", "telling", "tick", "told"]

_PAUSE = 0.05  # seconds between two steps of one phase: more often nobody can read it

_In = TypeVar("_In")
_Out = TypeVar("_Out")


@dataclass(frozen=True)
class Step:
    """Where a run stands: ``done`` of ``total`` in a phase, in a unit such as rows, nodes, rounds or epochs.

    ``total`` is None where nobody knows beforehand how many there will be.
    """

    phase: str
    done: int
    total: int | None
    unit: str


Listener: TypeAlias = Callable[[Step], object]
"""Called with a step now and then, maybe from a thread of ours; what it raises stops the run."""


class _Ear:
    """A listener that is called once at a time, and within a phase not more often than it can follow."""

    __slots__ = ("_again_at", "_counters", "_listener", "_lock", "_phase", "_raised")

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._lock = Lock()
        self._phase = ""
        self._again_at = 0.0
        self._raised: BaseException | None = None
        self._counters: dict[str, count[int]] = {}

    def counter(self, phase: str) -> count[int]:
        """Counts what a phase has done, from 1; taking the next number is safe in threads."""
        return self._counters.setdefault(phase, count(1))

    def hear(self, phase: str, done: int, total: int | None, unit: str) -> None:
        if self._raised is not None:  # it was stopped in another thread: so is this one
            raise self._raised
        now = monotonic()
        if (phase == self._phase and now < self._again_at) or not self._lock.acquire(blocking=False):
            return
        try:
            self._phase, self._again_at = phase, now + _PAUSE
            self._listener(Step(phase, int(done), None if total is None else int(total), unit))
        except BaseException as error:
            self._raised = error
            raise
        finally:
            self._lock.release()


_EAR: ContextVar[_Ear | None] = ContextVar("who is told how far a run has come", default=None)


@contextmanager
def telling(listener: Listener | None) -> Iterator[None]:
    """For a while, have ``listener`` called with a :class:`Step` now and then; None: nobody is told.

    What the listener raises comes out of the work that it listens to, which ends there.
    """
    token = _EAR.set(None if listener is None else _Ear(listener))
    try:
        yield
    finally:
        _EAR.reset(token)


def tell(phase: str, done: int, total: int | None = None, unit: str = "") -> None:
    """Say how far the work has come, to whoever listens; a new phase is told at once."""
    ear = _EAR.get()
    if ear is not None:
        ear.hear(phase, done, total, unit)


def tick(phase: str, unit: str) -> None:
    """Say that one more is done, where nobody knows how many there will be."""
    ear = _EAR.get()
    if ear is not None:
        ear.hear(phase, next(ear.counter(phase)), None, unit)


def told(
    work: Callable[[_In], _Out], phase: str, unit: str, total: int | None = None, before: int = 0
) -> Callable[[_In], _Out]:
    """The work, with one more told as done after each call, from whatever thread; itself where nobody listens.

    ``before`` were done before; without a ``total`` all that the phase has done so far are counted.
    """
    ear = _EAR.get()
    if ear is None:
        return work
    numbers = ear.counter(phase) if total is None else count(before + 1)

    def one(piece: _In) -> _Out:
        found = work(piece)
        ear.hear(phase, next(numbers), total, unit)
        return found

    return one
