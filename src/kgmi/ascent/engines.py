"""Who takes the next epochs: NumPy at first, compiled code as soon as that pays."""

from __future__ import annotations

import sys
from typing import Literal

import numpy as np

from kgmi.ascent import compiled, plain
from kgmi.ascent.columns import Columns
from kgmi.ascent.trace import Recorder
from kgmi.types import Bools

__all__ = ["PATIENCE", "Climb", "Engine"]

Engine = Literal["auto", "plain", "compiled"]

_CHUNK = 200_000_000  # group-epochs between two looks at progress and Ctrl-C: some tenths of a second, compiled
_PLAIN_WORK = 10_000_000  # group-epochs in NumPy that take as long as loading numba
_CALL = 1_000  # group-epochs that take as long as the calls of an epoch in NumPy


class Climb:
    """The epoch reached, and who takes the next ones."""

    def __init__(
        self, columns: Columns, recorder: Recorder, wanted: Bools, rate: float, stop: float, engine: Engine
    ) -> None:
        self.epoch = 0
        self._columns, self._wanted = columns, wanted
        self._how = (recorder, rate, stop)
        self._engine = engine

    @property
    def waits(self) -> bool:
        """Whether a column that is waited for still moves."""
        return bool((self._wanted & (self._columns.stopped < 0)).any())

    def go_on(self, end: int) -> None:
        """Some epochs further, at most to ``end``; less when all columns that are waited for have stopped."""
        moving = self._columns.stopped < 0
        work = int(self._columns.width[moving].sum())
        trusting = self._engine == "auto" and PATIENCE.lasts()
        use = plain.advance if trusting or self._engine == "plain" else compiled.advance
        cost = work if use is compiled.advance else work + _CALL
        budget = _CHUNK if use is compiled.advance else PATIENCE.left if trusting else _PLAIN_WORK
        upto = min(end, self.epoch + max(1, budget // cost))
        if trusting:
            PATIENCE.left -= (upto - self.epoch) * cost
        use(self._columns, np.flatnonzero(moving & self._wanted), self.epoch, upto, *self._how)
        if not self.waits:
            upto = int(self._columns.stopped[self._wanted].max())
        if len(others := np.flatnonzero(moving & ~self._wanted)):
            use(self._columns, others, self.epoch, upto, *self._how)
        self.epoch = upto


class _Patience:
    """How much more this process does in NumPy before it loads numba; many short runs are a long one too."""

    def __init__(self) -> None:
        self.left = _PLAIN_WORK

    def lasts(self) -> bool:
        """Whether to go on without numba; a process that has loaded it has nothing to save by going without."""
        return self.left > 0 and "numba" not in sys.modules


PATIENCE = _Patience()
