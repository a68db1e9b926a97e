"""The ascent in NumPy: many columns at once, epoch by epoch. Needs no compiler: the choice for short runs."""

from __future__ import annotations

import numpy as np

from kgmi.ascent.columns import Columns
from kgmi.ascent.trace import Recorder
from kgmi.memory import at_most
from kgmi.types import Floats, Ints

__all__ = ["advance"]

_BLOCK = 1_000_000  # candidates of the columns that are taken together, with three numbers for each
_LARGE = 2_000  # candidates from which it pays to leave out those of columns that have stopped
_SAFE = 600.0  # largest step of a weight whose power is a number


def advance(
    columns: Columns, which: Ints, start: int, end: int, recorder: Recorder, rate: float, stop: float
) -> None:
    """Take the columns ``which`` from epoch ``start`` to ``end``, or to the epoch at which they stop.

    ``rate`` is η/(KT). With Q the weights, attention ∝ exp(Q), so that a step of Q multiplies the attention
    by exp(step) before it is normalised: Q itself need not be kept.
    """
    step = max(1, at_most(_BLOCK, 24) // columns.scores.shape[1])
    for first in range(0, len(which), step):
        part = which[first : first + step]
        _advance(_State(columns, part, rate, stop), start, end, recorder, stop)
        columns.value[part] = np.vecdot(columns.attention[part], _numbers(columns, part))


def _numbers(columns: Columns, which: Ints) -> Floats:
    """The scores of columns, 0 where there are none: their attention is 0 too."""
    scores = columns.scores[which]
    scores[np.isnan(scores)] = 0.0
    return scores


def _advance(state: _State, start: int, end: int, recorder: Recorder, stop: float) -> None:
    kept = recorder.after(start)
    following = recorder.epoch(kept)
    for epoch in range(start + 1, end + 1):
        state.step()
        if stop > 0 and np.count_nonzero(done := state.top() > state.mark):
            state = state.leave(np.flatnonzero(done), epoch)
            if not state.n_moving:
                return
        if epoch == following:
            recorder.note(kept, state.which, state.attention, state.value)
            kept += 1
            following = recorder.epoch(kept)
    state.write(np.flatnonzero(state.mark < np.inf))


class _State:
    """Columns that move, side by side, with room to compute in."""

    def __init__(self, columns: Columns, which: Ints, rate: float, stop: float) -> None:
        best = columns.best[which]
        self._columns, self._rate, self._stop = columns, rate, stop
        self.which, self.n_moving = which, len(which)
        self.attention = columns.attention[which]
        self.mark = np.full(len(which), 1.0 - stop)  # attention at which a column stops; inf for those that have
        self._steps = rate * _numbers(columns, which)
        self._change = np.empty_like(self._steps)
        # The place of the best candidate of every column: its attention is the largest.
        at = (columns.scores[which] == best[:, None]).argmax(axis=1)
        self._best = at + np.arange(0, self._steps.size, self._steps.shape[1])
        self._lifts = bool((rate * (best - columns.least[which]) > _SAFE).any())
        self._mean, self._total = np.empty((len(which), 1)), np.empty((len(which), 1))

    def step(self) -> None:
        """One epoch, in place: this runs thousands of times."""
        now, change = self.attention, self._change
        np.vecdot(now, self._steps, out=self._mean[:, 0])
        np.subtract(self._steps, self._mean, out=change)
        np.multiply(change, now, out=change)
        if self._lifts:  # the largest change is that of the best candidate; less it, no power overflows
            np.subtract(change, change.take(self._best)[:, None], out=change)
        np.exp(change, out=change)
        np.multiply(now, change, out=now)
        np.add.reduce(now, axis=1, keepdims=True, out=self._total)
        np.divide(now, self._total, out=now)

    def top(self) -> Floats:
        """[column]: the largest attention."""
        return np.asarray(self.attention.take(self._best))

    def value(self) -> Floats:
        """[column]: Σ attention · score."""
        return np.asarray(np.vecdot(self.attention, self._steps) / self._rate)

    def write(self, places: Ints) -> None:
        """Keep how far the columns at these places have come."""
        self._columns.attention[self.which[places]] = self.attention[places]

    def leave(self, places: Ints, epoch: int) -> _State:
        """Let the columns at these places stop; they are carried on and not looked at, until they are too many."""
        self.write(places)
        self._columns.stopped[self.which[places]] = epoch
        self.mark[places] = np.inf
        self.n_moving -= len(places)
        if self.attention.size < _LARGE or 2 * self.n_moving > len(self.which) or not self.n_moving:
            return self
        moving = np.flatnonzero(self.mark < np.inf)
        self.write(moving)
        return _State(self._columns, self.which[moving], self._rate, self._stop)
