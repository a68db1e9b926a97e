"""How much memory work may take: a limit is set around a call, and blocks of work are cut so that they fit it.

The limit belongs to the call and its threads (a context variable), not to the process: two fits at a time may have
two limits. Nothing but the size of blocks depends on it, so results do not.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import Any, ParamSpec, TypeVar

from kgmi.errors import SettingError, TooLargeError

__all__ = [
    "Remembered",
    "at_most",
    "carried",
    "check_fits",
    "free_bytes",
    "peak_bytes",
    "read_bytes",
    "shown_bytes",
    "thread_failures",
    "within",
]

_UNITS = {"": 1, "B": 1, "KB": 1_000, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}

_NO_LIMIT: tuple[int | None, int | None] = (None, None)
_LIMIT = ContextVar("limit of the whole, and room for a block of work", default=_NO_LIMIT)

_In = ParamSpec("_In")
_Out = TypeVar("_Out")
_Key = TypeVar("_Key")

# What PyArrow and Python say when there is no memory for the stack of a thread.
_NO_THREAD = ("Failed to launch worker thread", "can't start new thread")
_MOST_REMEMBERED = 2_000_000_000  # bytes
_SHARE = 4  # what is remembered in one place may take one part in so many of the limit


@contextmanager
def within(limit: int | None, room: int | None = None) -> Iterator[None]:
    """For a while, let a block of work take at most ``room`` bytes and all of it ``limit``; None: as usual."""
    token = _LIMIT.set((limit, limit if room is None else room))
    try:
        yield
    finally:
        _LIMIT.reset(token)


@contextmanager
def thread_failures() -> Iterator[None]:
    """Raise a MemoryError where a thread cannot be started: memory is what it lacks, whatever the library says."""
    try:
        yield
    except Exception as error:
        if any(words in str(error) for words in _NO_THREAD):
            raise MemoryError(str(error)) from error
        raise


def at_most(usual: int, bytes_each: float) -> int:
    """How many cells a block of work may have, each of ``bytes_each`` with all copies: as usual, or fewer."""
    room = _LIMIT.get()[1]
    return usual if room is None else max(1, min(usual, int(room / bytes_each)))


class Remembered(dict[_Key, _Out]):
    """Values that were computed before; all are forgotten when their arrays would take too much memory."""

    def __init__(self) -> None:
        super().__init__()
        self._n_bytes = 0

    def keep(self, key: _Key, value: _Out, n_bytes: int) -> _Out:
        """Remember a value whose arrays take so many bytes, and return it."""
        if self._n_bytes + n_bytes > at_most(_MOST_REMEMBERED, _SHARE):
            self.clear()
            self._n_bytes = 0
        self[key] = value
        self._n_bytes += n_bytes
        return value


def check_fits(n_bytes: float, what: str, advice: str) -> None:
    """Refuse, before it is made, what would not fit into the limit."""
    limit = _LIMIT.get()[0]
    if limit is not None and n_bytes > limit:
        raise TooLargeError(
            f"{what} {shown_bytes(n_bytes)} of memory, and memory_limit is {shown_bytes(limit)}; {advice}"
        )


def carried(work: Callable[_In, _Out]) -> Callable[_In, _Out]:
    """The work with the limit that holds now, to be done later or in another thread."""
    limit, room = _LIMIT.get()
    if limit is None:
        return work

    def limited(*args: _In.args, **kwargs: _In.kwargs) -> _Out:
        with within(limit, room):
            return work(*args, **kwargs)

    return limited


def read_bytes(amount: Any, name: str = "memory_limit") -> int | None:
    """A number of bytes, or a text like 500MB or 2GB; None stays None."""
    if amount is None:
        return None
    number, unit = math.nan, ""
    if isinstance(amount, str) and (found := re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([A-Za-z]*)\s*", amount)):
        number, unit = float(found[1]), found[2].upper()
    elif isinstance(amount, Real) and amount is not True:
        number = float(amount)
    if not math.isfinite(number) or unit not in _UNITS:
        raise SettingError(f"{name} must be a number of bytes or a text like '500MB' or '2GB', got {amount!r}")
    if number * _UNITS[unit] < 1:
        raise SettingError(f"{name} must be more than nothing, got {amount!r}")
    return int(number * _UNITS[unit])


def shown_bytes(n_bytes: float) -> str:
    """An amount of memory as people read it."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            number = n_bytes / size
            return f"{number:.1f} {unit}" if number < 10 else f"{number:,.0f} {unit}"
    return f"{n_bytes:.0f} bytes"


def free_bytes() -> int | None:
    """Memory that is free on this machine, as far as it tells."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            known = dict(line.split(":", 1) for line in lines)
        return int(known["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):  # no Linux
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def peak_bytes() -> int | None:
    """The most memory that this process has held at any time, as far as the system tells."""
    try:
        # On Linux getrusage begins with what the process that started this one had held; this record does not.
        with open("/proc/self/status", encoding="ascii") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, ValueError, StopIteration):  # no Linux
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if os.uname().sysname == "Darwin" else int(peak) * 1024
