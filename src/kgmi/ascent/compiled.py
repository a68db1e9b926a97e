"""The ascent compiled by numba: each column with its own stop; threads over columns when it is long."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from kgmi.ascent.columns import Columns
from kgmi.ascent.trace import Recorder
from kgmi.types import Ints

__all__ = ["advance"]

_THREAD_WORK = 20_000_000  # group-epochs at most, tens of milliseconds, from which threads pay


def advance(
    columns: Columns, which: Ints, start: int, end: int, recorder: Recorder, rate: float, stop: float
) -> None:
    """Take the columns ``which`` from epoch ``start`` to ``end``, or to the epoch at which they stop."""
    from kgmi.ascent.kernels import BLOCK, advance_columns

    kept = (recorder.epochs, recorder.value, recorder.attention)
    arrays = (columns.scores, columns.count, columns.attention, columns.width, columns.stopped, *kept)
    steps = (int(start), int(end), float(rate), float(stop))  # other types would be compiled once more
    threads = min(_n_threads(), len(which))
    if threads < 2 or (end - start) * int(columns.width[which].sum()) < _THREAD_WORK:
        advance_columns(*arrays, which, *steps)
        return
    with ThreadPoolExecutor(threads) as pool:  # the compiled code lets go of the interpreter
        blocks = [which[k : k + BLOCK] for k in range(0, len(which), BLOCK)]
        for task in [pool.submit(advance_columns, *arrays, block, *steps) for block in blocks]:
            task.result()


@lru_cache(maxsize=1)
def _n_threads() -> int:
    """Cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
