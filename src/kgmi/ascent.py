"""Gradient ascent on the attention weights (Algorithm 1 of the paper), and its limit point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.attention import best_objective, candidate_mask, masked_softmax, objective
from kgmi.errors import DataError, SettingError
from kgmi.types import Attention, Bools, Floats, Ints, ScoreTable

__all__ = ["Ascent", "Trace", "ascend", "check_steps", "limit"]

_TIE = 1e-12  # relative difference of scores below which two candidates are tied
_TRACE_BYTES = 64_000_000
_PROGRESS_EVERY = 1_000

Progress = Callable[[int, int], None]


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


@dataclass(frozen=True, eq=False)
class Ascent:
    """Where the ascent ended.

    Attributes
    ----------
    attention
        [head, child, candidate].
    stopped
        [head, child]: epoch at which the column's largest attention first exceeded 1 − ε_attn; -1 if it did
        not. Columns with one candidate stop at 0, and at the limit point all that have one best candidate.
    epochs
        Epochs that were run.
    trace
        The way there; None for the limit point.
    """

    attention: Attention
    stopped: Ints
    epochs: int
    trace: Trace | None


def limit(scores: ScoreTable) -> Ascent:
    """Limit point of the ascent from zero: all mass on the best candidate; tied candidates share it."""
    mask = _checked(scores)
    attention = _best(scores, mask).astype(float)
    attention /= np.maximum(attention.sum(axis=-1, keepdims=True), 1.0)
    settled = attention.max(axis=-1) == 1.0
    return Ascent(attention, np.where(settled, 0, -1), 0, None)


def ascend(
    scores: ScoreTable,
    *,
    rate: float = 10.0,
    epochs: int = 50_000,
    stop: float = 0.1,
    wait_for: Bools | None = None,
    record_at: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Ascent:
    """Gradient ascent from Q = 0 with a constant rate. Every column (head, child) is its own problem.

    Parameters
    ----------
    scores
        Score table; NaN masks a candidate.
    rate
        η, as in the paper.
    epochs
        Most iterations.
    stop
        ε_attn: a column is left as it is once its largest attention exceeds 1 − ε_attn. 0 never stops.
    wait_for
        [head, child] columns whose stop ends the whole run; by default all. Columns that are tied for their
        best candidate can never stop and are not waited for.
    record_at
        Epochs to keep in the trace, by default about 60 between 1 and the last, evenly on a log scale.
    progress
        Called now and then as ``progress(epoch, epochs)``.
    """
    check_steps(rate, epochs, stop)
    mask = _checked(scores)
    n_heads, n_nodes, _ = scores.shape
    columns = _Columns(scores.reshape(-1, n_nodes), mask.reshape(-1, n_nodes), rate / (n_heads * n_nodes), stop)
    wanted = np.ones((n_heads, n_nodes), dtype=bool) if wait_for is None else np.asarray(wait_for, dtype=bool)
    if wanted.shape != (n_heads, n_nodes):
        raise SettingError(f"wait_for must have shape [head, child] = {(n_heads, n_nodes)}, got {wanted.shape}")
    wanted = wanted & (limit(scores).stopped >= 0)
    recorder = _Recorder(scores, _record_epochs(record_at, epochs))
    recorder.note(0, columns.attention)
    epoch = 0
    while epoch < epochs and wanted.reshape(-1)[columns.moving].any():
        epoch += 1
        columns.step(epoch)
        if epoch in recorder.keep:
            recorder.note(epoch, columns.attention)
        if progress is not None and epoch % _PROGRESS_EVERY == 0:
            progress(epoch, epochs)
    if epoch not in recorder.keep:
        recorder.note(epoch, columns.attention)
    stopped = columns.stopped.reshape(n_heads, n_nodes)
    return Ascent(columns.attention.reshape(scores.shape), stopped, epoch, recorder.trace())


class _Recorder:
    """Keeps the objective, and the attention where there is room, at chosen epochs."""

    def __init__(self, scores: ScoreTable, keep: set[int]) -> None:
        self.keep = keep
        self._scores = scores
        self._with_attention = len(keep) * scores.size * 8 <= _TRACE_BYTES
        self._epochs: list[int] = []
        self._objective: list[float] = []
        self._attention: list[Attention] = []

    def note(self, epoch: int, attention: Attention) -> None:
        table = attention.reshape(self._scores.shape)
        self._epochs.append(epoch)
        self._objective.append(objective(self._scores, table))
        if self._with_attention:
            self._attention.append(table.copy())

    def trace(self) -> Trace:
        return Trace(
            epochs=np.array(self._epochs),
            objective=np.array(self._objective),
            best_objective=best_objective(self._scores),
            attention=np.stack(self._attention) if self._with_attention else None,
        )


class _Columns:
    """The state of all columns; those that still move are kept packed so that stopped ones cost nothing."""

    def __init__(self, scores: Floats, mask: Bools, rate: float, stop: float) -> None:
        self._attention = masked_softmax(np.zeros(scores.shape), mask)
        self.stopped = np.full(len(scores), -1, dtype=np.int64)
        self.stopped[mask.sum(axis=1) == 1] = 0
        tied = (_best(scores, mask) == mask).all(axis=1)
        self.moving = np.flatnonzero(~tied)
        self._rate, self._stop = rate, stop
        self._scores, self._mask, self._weights = scores, mask, np.zeros(scores.shape)
        self._pack()

    def _pack(self) -> None:
        self._active = np.where(self._mask[self.moving], self._scores[self.moving], 0.0)
        self._logits = np.where(self._mask[self.moving], self._weights[self.moving], -np.inf)
        self._current = self._attention[self.moving]
        self._buffer = np.empty_like(self._current)

    @property
    def attention(self) -> Attention:
        """[column, candidate] of all columns, moving or not."""
        self._attention[self.moving] = self._current
        return self._attention

    def step(self, epoch: int) -> None:
        """One epoch for the columns that still move."""
        current, change = self._current, self._buffer  # written in place: this runs up to a million times
        mean = np.einsum("cj,cj->c", current, self._active)
        np.subtract(self._active, mean[:, None], out=change)
        change *= current
        change *= self._rate
        self._logits += change
        np.subtract(self._logits, self._logits.max(axis=1, keepdims=True), out=current)
        np.exp(current, out=current)
        total = current.sum(axis=1, keepdims=True)
        current /= total
        # The largest power is exp(0) = 1, so the largest attention is one over the total.
        done = total[:, 0] * (1.0 - self._stop) < 1.0 if self._stop > 0 else np.zeros(0, dtype=bool)
        if done.any():
            self._attention[self.moving] = current
            self._weights[self.moving] = np.where(np.isfinite(self._logits), self._logits, 0.0)
            self.stopped[self.moving[done]] = epoch
            self.moving = self.moving[~done]
            self._pack()


def _best(scores: Floats, mask: Bools) -> Bools:
    """Candidates whose score is the best of their column, up to rounding."""
    known = np.where(mask, scores, -np.inf)
    top = known.max(axis=-1, keepdims=True)
    scale = np.where(mask, np.abs(scores), 0.0).max(axis=-1, keepdims=True)
    return np.asarray(mask & (known >= top - _TIE * np.maximum(scale, 1e-3)))


def _checked(scores: ScoreTable) -> Bools:
    if scores.ndim != 3 or scores.shape[1] != scores.shape[2]:
        raise DataError(f"scores must have shape [head, child, candidate], got {scores.shape}")
    if np.isinf(scores).any():
        head, child, candidate = np.argwhere(np.isinf(scores))[0]
        raise DataError(
            f"the score of head {head + 1}, child {child}, candidate {candidate} is infinite: a pair of states "
            "that the kernel allows never occurs together. Use smoothing > 0 on counts, or the divergence 'pearson'"
        )
    if np.isnan(scores).all():
        raise DataError("the score table is all NaN: no node has a candidate")
    return candidate_mask(scores)


def check_steps(rate: float, epochs: int, stop: float) -> None:
    """Refuse a rate, a number of epochs or a stop that make no sense."""
    if not (np.isfinite(rate) and rate > 0):
        raise SettingError(f"the rate η must be positive, got {rate}")
    if not (epochs >= 0 and float(epochs).is_integer()):
        raise SettingError(f"epochs must be a whole number, zero or more, got {epochs}")
    if not 0 <= stop < 1:
        raise SettingError(f"stop (ε_attn) must lie in [0, 1), got {stop}")


def _record_epochs(record_at: Sequence[int] | None, epochs: int) -> set[int]:
    if record_at is None:
        grid = np.unique(np.geomspace(1, max(epochs, 1), 60).astype(int))
        return {0, *(int(e) for e in grid)}
    if any(e < 0 for e in record_at):
        raise SettingError("record_at lists epochs, which are not negative")
    return {0, *(int(e) for e in record_at)}
