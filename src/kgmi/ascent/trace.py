"""What is kept of the way from uniform attention to the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kgmi.ascent.columns import Columns
from kgmi.attention import best_objective, candidate_mask
from kgmi.errors import SettingError
from kgmi.types import Floats, Ints, ScoreTable

__all__ = ["Recorder", "Trace", "record_epochs"]

_TRACE_BYTES = 64_000_000


@dataclass(frozen=True, eq=False)
class Trace:
    """What was seen along the way.

    Attributes
    ----------
    epochs
        Epochs at which something was kept, from 0 to the last.
    objective
        L at those epochs.
    best_objective
        L*, so that ``best_objective - objective`` is the suboptimality.
    attention
        [epoch, head, child, candidate] at those epochs, or None where that would take over 64 MB.
    """

    epochs: Ints
    objective: Floats
    best_objective: float
    attention: Floats | None


class Recorder:
    """Room for what the engines keep on the way: the value of every column, and its attention where there is room.

    Attributes
    ----------
    epochs
        Epochs to keep, rising.
    value
        [kept, column]: Σ attention · score, the column's part of the objective.
    attention
        [kept, column, group], or empty where that would take over 64 MB.
    """

    def __init__(self, scores: ScoreTable, columns: Columns, epochs: Ints) -> None:
        self._scores, self._columns = scores, columns
        self._with_attention = (len(epochs) + 2) * scores.size * 8 <= _TRACE_BYTES
        self.epochs = epochs.copy()  # writable, or the kernels would be compiled once more
        # With a place before and one after for the start and the end.
        self._value = np.empty((len(epochs) + 2, len(columns.place)))
        self._attention = np.empty((len(epochs) + 2 if self._with_attention else 0, *columns.attention.shape))
        self.value, self.attention = self._value[1:-1], self._attention[1:-1]
        self._value[0], self._attention[:1] = columns.value(), columns.attention

    def after(self, epoch: int) -> int:
        """Number of the first epoch to keep that comes after ``epoch``."""
        return int(np.searchsorted(self.epochs, epoch, side="right"))

    def trace(self, last: int) -> Trace:
        """The way from the start to epoch ``last``, both of them included."""
        columns, n_kept = self._columns, self.after(last - 1)
        size = n_kept + 2 if last else 1
        epochs = np.zeros(size, dtype=np.int64)
        epochs[1:] = [*self.epochs[:n_kept], last][: size - 1]
        ended = (columns.stopped >= 0) & (epochs[:, None] >= columns.stopped)  # from its stop on, as it ended
        ended[1:][-1:] = True
        value = np.where(ended, columns.value(), self._value[:size]).sum(axis=1)
        fixed = np.where(candidate_mask(self._scores), self._scores * columns.start, 0.0).sum(axis=-1).reshape(-1)
        fixed[columns.place] = 0.0
        attention = None
        if self._with_attention:
            attention = columns.tables(np.where(ended[..., None], columns.attention, self._attention[:size]))
        return Trace(epochs, (value + fixed.sum()) / fixed.size, best_objective(self._scores), attention)


def record_epochs(record_at: Sequence[int] | None, epochs: int) -> Ints:
    """Epochs to keep after the start, rising: as told, or about 60 evenly on a log scale."""
    if record_at is None:
        return _log_epochs(epochs)
    if any(e < 0 for e in record_at):
        raise SettingError("record_at lists epochs, which are not negative")
    return np.array(sorted({int(e) for e in record_at if 0 < e <= epochs}), dtype=np.int64)


@lru_cache(maxsize=8)
def _log_epochs(epochs: int) -> Ints:
    grid = np.unique(np.geomspace(1, max(epochs, 1), 60).astype(np.int64))
    grid = grid[grid <= epochs]
    grid.setflags(write=False)
    return grid
