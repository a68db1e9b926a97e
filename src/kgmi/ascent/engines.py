"""Epochs in chunks, by compiled code or by NumPy."""

from __future__ import annotations

from typing import Literal

import numpy as np

from kgmi.ascent import compiled, plain
from kgmi.ascent.columns import Columns
from kgmi.ascent.trace import Recorder
from kgmi.types import Bools

__all__ = ["Climb", "Engine"]

Engine = Literal["compiled", "plain"]

_CHUNK = 200_000_000  # candidate-epochs between two looks at progress and Ctrl-C: some tenths of a second, compiled
_FIRST = 200  # epochs that most runs need no more than; those that do are long, and worth threads
_LEAST = 20  # epochs to take at a time at least: setting out costs as much as some of them


class Climb:
    """The epoch reached, and what takes the next ones. ``moves`` and ``waited`` mark columns."""

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
        advance = plain.advance if self._engine == "plain" else compiled.advance
        upto = max(_LEAST, _CHUNK // work)
        upto = upto if self.epoch else min(upto, _FIRST)
        start, upto = self.epoch, min(end, self.epoch + upto)
        advance(self._columns, np.flatnonzero(moving & self._waited), start, upto, recorder, rate, stop)
        if not self.waits:
            upto = int(self._columns.stopped[self._waited].max())
        if len(others := np.flatnonzero(moving & ~self._waited)):
            advance(self._columns, others, start, upto, recorder, rate, stop)
        self.epoch = upto
