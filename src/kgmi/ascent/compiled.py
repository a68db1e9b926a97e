"""The ascent compiled by numba: each column with its own stop; threads over columns when it is long."""

from __future__ import annotations

import numpy as np

from kgmi.ascent.columns import Columns
from kgmi.ascent.trace import Recorder
from kgmi.threads import spread
from kgmi.types import Ints

__all__ = ["advance"]

_THREAD_WORK = 5_000_000  # candidate-epochs at most, some milliseconds, from which threads pay
_PIECE = 16  # columns that a thread takes together at least
_PIECES = 64  # enough of them that all threads end at about the same time


def advance(
    columns: Columns, which: Ints, start: int, end: int, recorder: Recorder, rate: float, stop: float
) -> None:
    """Take the columns ``which`` from epoch ``start`` to ``end``, or to the epoch at which they stop."""
    from kgmi.ascent.kernels import advance_columns

    found = (columns.attention, columns.value, columns.stopped)
    arrays = (columns.scores, columns.scores.view(np.int64), columns.best, columns.least, *found)
    kept = (recorder.epochs, recorder.value, recorder.attention)
    steps = (int(start), int(end), float(rate), float(stop))  # other types would be compiled once more

    def go(part: Ints) -> None:
        advance_columns(*arrays, *kept, part, *steps)

    if (end - start) * int(columns.n_candidates[which].sum()) < _THREAD_WORK:
        go(which)
        return
    size = max(_PIECE, len(which) // _PIECES)
    spread(go, [which[first : first + size] for first in range(0, len(which), size)], parallel=True)
