"""What is kept of the way from uniform attention to the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.attention import best_objective, objective
from kgmi.errors import SettingError
from kgmi.types import Attention, Floats, Ints, ScoreTable

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
    """Keeps the objective, and the attention where there is room, at chosen epochs."""

    def __init__(self, scores: ScoreTable, n_epochs: int) -> None:
        self._scores = scores
        self._with_attention = n_epochs * scores.size * 8 <= _TRACE_BYTES
        self._epochs: list[int] = []
        self._objective: list[float] = []
        self._attention: list[Attention] = []

    def note(self, epoch: int, attention: Attention) -> None:
        """Keep one epoch; once is enough."""
        if self._epochs and self._epochs[-1] == epoch:
            return
        self._epochs.append(epoch)
        self._objective.append(objective(self._scores, attention))
        if self._with_attention:
            self._attention.append(attention)

    def trace(self) -> Trace:
        """All that was kept."""
        return Trace(
            epochs=np.array(self._epochs),
            objective=np.array(self._objective),
            best_objective=best_objective(self._scores),
            attention=np.stack(self._attention) if self._with_attention else None,
        )


def record_epochs(record_at: Sequence[int] | None, epochs: int) -> list[int]:
    """Epochs to keep after the start, rising: as told, or about 60 evenly on a log scale."""
    if record_at is None:
        return [int(e) for e in np.unique(np.geomspace(1, max(epochs, 1), 60).astype(int)) if e <= epochs]
    if any(e < 0 for e in record_at):
        raise SettingError("record_at lists epochs, which are not negative")
    return sorted({int(e) for e in record_at if 0 < e <= epochs})
