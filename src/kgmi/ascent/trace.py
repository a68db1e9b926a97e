"""What is kept of the way from uniform attention to the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from kgmi.ascent.columns import Columns
from kgmi.ascent.surveyed import Survey
from kgmi.errors import SettingError
from kgmi.memory import at_most
from kgmi.types import Floats, Ints

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
        Maximum of L over all columns, so that ``best_objective - objective`` is the suboptimality.
    attention
        [epoch, head, child, candidate] at those epochs, or None where that would take over 64 MB.
    """

    epochs: Ints
    objective: Floats
    best_objective: float
    attention: Floats | None


class Recorder:
    """What is kept of all columns at some epochs: their values, and their attention where it takes up to 64 MB.

    Attributes
    ----------
    epochs
        Epochs to keep, rising.
    with_attention
        Whether the attention is kept too.
    """

    def __init__(self, columns: Columns, seen: Survey, epochs: Ints) -> None:
        self._columns, self._seen = columns, seen
        self._notes: list[tuple[int, Ints, Floats]] = []
        self._start = columns.value.copy()
        self.epochs = epochs.copy()  # writable, or the kernels would be compiled once more
        self.with_attention = (len(epochs) + 2) * columns.scores.size * 8 <= at_most(_TRACE_BYTES, 1)

    @cached_property
    def value(self) -> Floats:
        """[kept, column]: Σ attention · score, the column's part of the objective."""
        return np.zeros((len(self.epochs), len(self._columns.scores)))

    @cached_property
    def attention(self) -> Floats:
        """[kept, column, candidate], or empty where it is not kept."""
        return np.zeros((len(self.epochs) if self.with_attention else 0, *self._columns.scores.shape))

    def after(self, epoch: int) -> int:
        """Number of the first epoch to keep that comes after ``epoch``."""
        return int(np.searchsorted(self.epochs, epoch, side="right"))

    def epoch(self, kept: int) -> int:
        """The epoch to keep of that number, -1 past the last."""
        return int(self.epochs[kept]) if kept < len(self.epochs) else -1

    def note(self, kept: int, which: Ints, attention: Floats, value: Callable[[], Floats]) -> None:
        """Keep what columns are like. Notes are only put in their places when somebody looks at the trace."""
        if self.with_attention:
            self._notes.append((kept, which, attention.copy()))
        else:
            self.value[kept, which] = value()

    def _place_notes(self) -> None:
        """Write what was noted into ``value`` and ``attention``."""
        for kept, which, attention in self._notes:
            self.attention[kept, which] = attention
            self.value[kept, which] = np.vecdot(attention, np.nan_to_num(self._columns.scores[which]))
        self._notes.clear()

    def trace(self, last: int) -> Trace:
        """The way from the start to epoch ``last``, both of them included."""
        columns, n_kept = self._columns, self.after(last - 1)
        self._place_notes()
        epochs = np.array([0, *self.epochs[:n_kept], last] if last else [0], dtype=np.int64)
        between = epochs[1:-1, None]
        # From its stop on a column is as it ended; one that does not move is so from the start.
        ended = ~self._seen.moves.reshape(-1) | ((columns.stopped >= 0) & (between >= columns.stopped))
        value = np.empty((len(epochs), len(columns.value)))
        value[-1], value[0] = columns.value, self._start
        value[1:-1] = np.where(ended, columns.value, self.value[: len(between)])
        attention = None
        if self.with_attention:
            shape = (*self._seen.best.shape, columns.scores.shape[-1])
            attention = np.empty((len(epochs), *columns.scores.shape))
            attention[-1], attention[0] = columns.attention, self._uniform()
            attention[1:-1] = np.where(ended[..., None], columns.attention, self.attention[: len(between)])
            attention = attention.reshape(-1, *shape)
        best = np.where(np.isfinite(self._seen.best), self._seen.best, 0.0).sum() / self._seen.best.size
        return Trace(epochs, value.sum(axis=1) / len(columns.value), float(best), attention)

    def _uniform(self) -> Floats:
        return ~np.isnan(self._columns.scores) / np.maximum(self._columns.n_candidates, 1)[:, None]


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
