"""Work on several cores: our own threads over independent pieces, and BLAS at one thread inside them.

A product of small matrices on two BLAS threads is many times slower than on one when the other core is busy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import lru_cache
from typing import Any, TypeVar

__all__ = ["n_workers", "one_blas_thread", "one_thread", "spread"]

_In = TypeVar("_In")
_Out = TypeVar("_Out")


_ALONE = ContextVar("whether this piece of work has one core to itself", default=False)


def n_workers() -> int:
    """Cores that this process may use."""
    if _ALONE.get():
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def one_thread() -> Iterator[None]:
    """For a while, use one core: the others belong to pieces of work that somebody else has spread already."""
    token = _ALONE.set(True)
    try:
        yield
    finally:
        _ALONE.reset(token)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS at one thread for a while, whatever it was set to."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # looking through the loaded libraries takes milliseconds: once is enough


def spread(work: Callable[[_In], _Out], pieces: Iterable[_In], *, parallel: bool) -> list[_Out]:
    """The work on every piece, in order; on all cores where that is asked for.

    Threads are in the same context as the caller: a limit of memory holds in them, and they tell how far they are.
    What interrupts one piece, or the caller, ends the run: pieces that wait are not begun.
    """
    if not parallel or n_workers() < 2:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(n_workers()) as pool:
        here = copy_context()  # each piece takes a copy: a context is entered by one thread at a time
        return list(pool.map(lambda piece: here.copy().run(work, piece), pieces))
