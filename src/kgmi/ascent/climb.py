"""``ascend`` and ``limit``: from a score table to attention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np

from kgmi.ascent.columns import columns_of
from kgmi.ascent.engines import Climb, Engine
from kgmi.ascent.surveyed import Survey, survey, survey_and_start
from kgmi.ascent.trace import Recorder, Trace, record_epochs
from kgmi.errors import DataError, SettingError
from kgmi.types import Attention, Bools, Ints, ScoreTable

__all__ = ["USUAL_RISE", "Ascent", "Engine", "Progress", "ascend", "check_steps", "has_tie", "limit"]

USUAL_RISE = 0.25  # of a logit in the first epochs, where the rate is chosen: then about twenty epochs are enough

_MOST_RATE = 1e100  # rate times score must be finite

Progress: TypeAlias = Callable[[int, int], None]


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
    retrace
        Makes :attr:`trace`.
    """

    attention: Attention
    stopped: Ints
    epochs: int
    retrace: Callable[[], Trace | None] = field(default=lambda: None, repr=False)

    @cached_property
    def trace(self) -> Trace | None:
        """The way there, put together when first looked at; None for the limit point."""
        return self.retrace()


def limit(scores: ScoreTable) -> Ascent:
    """Limit point of the ascent from zero: all mass on the best candidate; tied candidates share it."""
    _check_shape(scores)
    seen = survey(scores)
    _check(scores, seen)
    attention = (scores >= seen.enough[..., None]).astype(float)
    attention /= np.maximum(attention.sum(axis=-1, keepdims=True), 1.0)
    settled = attention.max(axis=-1) == 1.0
    return Ascent(attention, np.where(settled, 0, -1), 0)


def has_tie(scores: ScoreTable) -> Bools:
    """[head, child]: whether several candidates are best, or there is none, so that training cannot choose."""
    return survey(scores).tied


def ascend(
    scores: ScoreTable,
    *,
    rate: float = 10.0,
    epochs: int = 50_000,
    stop: float = 0.1,
    wait_for: Bools | None = None,
    record_at: Sequence[int] | None = None,
    progress: Progress | None = None,
    engine: Engine = "compiled",
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
    engine
        ``compiled`` (numba) or ``plain`` (NumPy); they agree up to rounding.
    """
    check_steps(rate, epochs, stop)
    if engine not in ("compiled", "plain"):
        raise SettingError(f"engine must be 'compiled' or 'plain', got {engine!r}")
    _check_shape(scores)
    n_heads, n_nodes, _ = scores.shape
    wanted = np.ones((n_heads, n_nodes), dtype=bool) if wait_for is None else np.asarray(wait_for, dtype=bool)
    if wanted.shape != (n_heads, n_nodes):
        raise SettingError(f"wait_for must have shape [head, child] = {(n_heads, n_nodes)}, got {wanted.shape}")
    seen, attention = survey_and_start(scores)
    _check(scores, seen)
    columns = columns_of(scores, seen, attention)
    recorder = Recorder(columns, seen, record_epochs(record_at, epochs))
    climb = Climb(columns, seen.moves.reshape(-1), (wanted & ~seen.tied).reshape(-1), engine)
    while climb.epoch < epochs and climb.waits:
        climb.go_on(epochs, recorder, rate / (n_heads * n_nodes), stop)
        if progress is not None:
            progress(climb.epoch, epochs)
    stopped = columns.stopped.reshape(n_heads, n_nodes)
    return Ascent(attention, stopped, climb.epoch, partial(recorder.trace, climb.epoch))


def _check_shape(scores: ScoreTable) -> None:
    if scores.ndim != 3 or scores.shape[1] != scores.shape[2]:
        raise DataError(f"scores must have shape [head, child, candidate], got {scores.shape}")


def _check(scores: ScoreTable, seen: Survey) -> None:
    if not seen.n_candidates.any():
        raise DataError("the score table is all NaN: no node has a candidate")
    if not (seen.best.max() < np.inf and seen.least.min() > -np.inf):
        head, child, candidate = np.argwhere(np.isinf(scores))[0]
        raise DataError(
            f"the score of head {head + 1}, child {child}, candidate {candidate} is infinite: a pair of states "
            "that the kernel allows never occurs together. Use smoothing > 0 on counts, or the divergence 'pearson'"
        )


def check_steps(rate: float, epochs: int, stop: float) -> None:
    """Refuse a rate, a number of epochs or a stop that make no sense."""
    if not 0 < float(rate) <= _MOST_RATE:
        raise SettingError(f"the rate η must be positive and at most {_MOST_RATE:g}, got {rate}")
    if not (epochs >= 0 and float(epochs).is_integer()):
        raise SettingError(f"epochs must be a whole number, zero or more, got {epochs}")
    if not 0 <= stop < 1:
        raise SettingError(f"stop (ε_attn) must lie in [0, 1), got {stop}")
