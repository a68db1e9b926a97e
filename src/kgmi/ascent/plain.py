"""The ascent in NumPy: all columns at once, epoch by epoch. Needs no compiler: the choice for short runs."""

from __future__ import annotations

import numpy as np

from kgmi.ascent.columns import Columns
from kgmi.ascent.trace import Recorder
from kgmi.types import Floats, Ints

__all__ = ["advance"]


def advance(
    columns: Columns, which: Ints, start: int, end: int, recorder: Recorder, rate: float, stop: float
) -> None:
    """Take the columns ``which`` from epoch ``start`` to ``end``, or to the epoch at which they stop.

    ``rate`` is η/(KT). With Q the weights, attention ∝ exp(Q), so that a step of Q multiplies the attention
    by exp(step) before it is normalised: Q itself need not be kept.
    """
    moving, kept = which, recorder.after(start)
    state = _State(columns, moving)
    for epoch in range(start + 1, end + 1):
        if not len(moving):
            return
        state.step(rate)
        done = state.attention[:, 0] > 1.0 - stop if stop > 0 else np.zeros(0, dtype=bool)
        if done.any():
            columns.attention[moving] = state.attention
            columns.stopped[moving[done]] = epoch
            moving = moving[~done]
            state = _State(columns, moving)
        if kept < len(recorder.epochs) and recorder.epochs[kept] == epoch:
            recorder.value[kept, moving] = state.value()
            if len(recorder.attention):
                recorder.attention[kept, moving] = state.attention
            kept += 1
    columns.attention[moving] = state.attention


class _State:
    """The columns that move, packed together, with room to compute in."""

    def __init__(self, columns: Columns, moving: Ints) -> None:
        self.attention = columns.attention[moving]
        self._scores = columns.scores[moving]
        self._count = columns.count[moving]
        self._weighted = self._scores * self._count
        self._change = np.empty_like(self.attention)

    def value(self) -> Floats:
        """[column]: Σ attention · score."""
        return np.asarray(np.einsum("cg,cg->c", self.attention, self._weighted))

    def step(self, rate: float) -> None:
        """One epoch, in place: this runs thousands of times."""
        now, change = self.attention, self._change
        mean = self.value()
        np.subtract(self._scores, mean[:, None], out=change)
        change *= now
        change *= rate
        # The largest change is that of the best candidate; less it, no power overflows.
        np.subtract(change, change[:, :1].copy(), out=change)
        np.exp(change, out=change)
        now *= change
        now /= np.einsum("cg,cg->c", now, self._count)[:, None]
