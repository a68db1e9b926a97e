"""The ascent compiled by numba: column after column, each with its own stop; threads over columns when long."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np

from kgmi.ascent.columns import Columns
from kgmi.types import Floats, Ints

__all__ = ["advance", "advance_columns"]

_SMALL_STEP = 1 / 16  # largest step of a weight up to which the series below is exp to the last bit
_THREAD_WORK = 5_000_000  # group-epochs, some milliseconds, from which threads pay
_ORDER_FREE = {"contract", "reassoc", "nsz", "arcp"}  # sums in any order, so that they vectorise


def advance(columns: Columns, which: Ints, start: int, end: int, rate: float, stop: float) -> None:
    """Take the columns ``which`` from epoch ``start`` to ``end``, or to the epoch at which they stop."""
    run = _compiled()
    arrays = (columns.scores, columns.count, columns.attention, columns.width, columns.stopped)
    steps = (int(start), int(end), float(rate), float(stop))  # other types would be compiled once more
    threads = min(_n_threads(), len(which))
    if threads < 2 or (end - start) * int(columns.width[which].sum()) < _THREAD_WORK:
        run(*arrays, which, *steps)
        return
    with ThreadPoolExecutor(threads) as pool:  # the compiled code lets go of the interpreter
        tasks = [pool.submit(run, *arrays, which[k : k + 1], *steps) for k in range(len(which))]
        for task in tasks:
            task.result()


def advance_columns(
    scores: Floats,
    count: Floats,
    attention: Floats,
    width: Ints,
    stopped: Ints,
    which: Ints,
    start: int,
    end: int,
    rate: float,
    stop: float,
) -> None:
    """What is compiled. Attention is carried unnormalised from one epoch to the next, and divided as it is read."""
    for column in which:
        n = width[column]
        s, m, a = scores[column], count[column], attention[column]
        small = rate * (s[0] - s[n - 1]) <= _SMALL_STEP
        mean, share = 0.0, 1.0
        for g in range(n):
            mean += m[g] * a[g] * s[g]
        for epoch in range(start + 1, end + 1):
            total, weighted = 0.0, 0.0
            most = rate * share * a[0] * (s[0] - mean)  # no other step is larger
            for g in range(n):
                now = a[g] * share
                step = rate * now * (s[g] - mean)
                if small:  # Taylor's series: a few products, which vectorise; exp does not
                    power = 1.0 + step / 7 * (1.0 + step / 8)
                    power = 1.0 + step / 5 * (1.0 + step / 6 * power)
                    power = 1.0 + step / 3 * (1.0 + step / 4 * power)
                    power = 1.0 + step * (1.0 + step / 2 * power)
                else:
                    power = np.exp(step - most)
                now *= power
                a[g] = now
                total += m[g] * now
                weighted += m[g] * now * s[g]
            share = 1.0 / total
            mean = weighted * share
            if stop > 0 and a[0] * share > 1.0 - stop:
                stopped[column] = epoch
                break
        for g in range(n):
            a[g] *= share


@lru_cache(maxsize=1)
def _compiled() -> Callable[..., Any]:
    from numba import njit

    options: dict[str, Any] = {"nogil": True, "fastmath": _ORDER_FREE, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(advance_columns)  # type: ignore[no-any-return]
    except RuntimeError:  # nowhere to keep the compiled code: compile it in every process
        return njit(**options)(advance_columns)  # type: ignore[no-any-return]


def _n_threads() -> int:
    """Cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
