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

_CHUNK = 200_000_000  # candidate-epochs between two looks at progress and Ctrl-C: some tenths of a second, compiled
_FIRST = 200  # epochs that most runs need no more than; those that do are long, and worth threads
_PLAIN_WORK = 10_000_000  # candidate-epochs in NumPy that take as long as loading numba
_CALL = 1_000  # candidate-epochs that take as long as the calls of an epoch in NumPy
_LEAST = 20  # epochs to take at a time at least: setting out costs as much as some of them


class Climb:
    """The epoch reached, and who takes the next ones. ``moves`` and ``waited`` mark columns."""

    def __init__(self, columns: Columns, moves: Bools, waited: Bools, engine: Engine) -> None:
        self.epoch = 0
        self._columns, self._moves, self._waited, self._engine = columns, moves, waited, engine

    @property
    def waits(self) -> bool:
        """Whether a column that is waited for still moves."""
        return bool((self._waited & (self._columns.stopped < 0)).any())

    def go_on(self, end: int, recorder: Recorder, rate: float, stop: float) -> None:
        """Some epochs further, at most to ``end``; less when all columns that are waited for have stopped."""
        moving = self._moves & (self._columns.stopped < 0)
        work = int(self._columns.n_candidates[moving].sum())
        trusting = self._engine == "auto" and PATIENCE.lasts(work + _CALL)
        advance = plain.advance if trusting or self._engine == "plain" else compiled.advance
        if advance is compiled.advance:
            upto = max(_LEAST, _CHUNK // work)
            upto = upto if self.epoch else min(upto, _FIRST)
        else:
            upto = max(1, (PATIENCE.left if trusting else _PLAIN_WORK) // (work + _CALL))
        start, upto = self.epoch, min(end, self.epoch + upto)
        advance(self._columns, np.flatnonzero(moving & self._waited), start, upto, recorder, rate, stop)
        if not self.waits:
            upto = int(self._columns.stopped[self._waited].max())
        if len(others := np.flatnonzero(moving & ~self._waited)):
            advance(self._columns, others, start, upto, recorder, rate, stop)
        if trusting:
            PATIENCE.left -= (upto - start) * (work + _CALL)
        self.epoch = upto


class _Patience:
    """How much more this process does in NumPy before it loads numba; many short runs are a long one too."""

    def __init__(self) -> None:
        self.left = _PLAIN_WORK

    def lasts(self, cost: int) -> bool:
        """Whether to go on without numba; a process that has loaded it has nothing to save by going without."""
        if "numba" in sys.modules:
            return False
        if self.left < _LEAST * cost:
            self.left = 0  # what is left is not worth a beginning
        return self.left > 0


PATIENCE = _Patience()
