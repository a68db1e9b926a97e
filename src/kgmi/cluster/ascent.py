"""The ascent on a cluster: columns (head, child) in blocks, each on the worker that has it.

Every column is a problem of its own, but all are taken the same number of epochs at a time, which depends on how
many still move; so the run is led from here, and only stops and what is kept for the trace come back from each
stretch. Columns are taken further by the same code as in one process: with the same engine, the same bits on the
same kind of processor. Which engine is taken by default depends on what a process has done before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from kgmi.ascent import Ascent, ascend
from kgmi.ascent.columns import Columns
from kgmi.ascent.engines import Engine, advance
from kgmi.ascent.trace import Notes
from kgmi.cluster.client import PATIENCE, check_workers
from kgmi.cluster.failing import connected
from kgmi.cluster.waiting import aside, fetched
from kgmi.threads import one_thread
from kgmi.types import Floats, Ints, ScoreTable

__all__ = ["ascend_on"]

_SPREAD_FROM = 100_000_000  # candidate-epochs in one go, a tenth of a second, from which sending them away pays
_BLOCKS_EACH = 2  # for every thread of the cluster, so that none waits long for the last one
_MOST_BLOCK = 4_000_000  # bytes of scores; with as much attention, Dask warns of more in one task


def ascend_on(client: Any, scores: ScoreTable, *, patience: float = PATIENCE, **options: Any) -> Ascent:
    """Gradient ascent with the columns spread over workers; short runs stay here.

    Parameters
    ----------
    client
        A ``distributed.Client``; see :func:`kgmi.cluster.connect`.
    scores
        Score table; NaN masks a candidate.
    patience
        Seconds to wait for a worker when all have gone.
    **options
        Those of :func:`kgmi.ascent.ascend`. With one ``engine`` (not ``auto``) it gives the same result bit for bit
        on the same kind of processor; the two engines differ by rounding.
    """
    spread = _Spread(client, patience)
    with aside(), connected(client):
        found = ascend(scores, advance=spread, **options)
        spread.bring_back()
    return found


class _Spread:
    """Takes columns further: here at first, and on the workers from the first long way on."""

    def __init__(self, client: Any, patience: float) -> None:
        self._client, self._patience = client, patience
        self._columns: Columns | None = None
        self._blocks: list[_Block] = []

    def __call__(
        self,
        engine: Engine,
        columns: Columns,
        which: Ints,
        start: int,
        end: int,
        notes: Notes,
        rate: float,
        stop: float,
    ) -> None:
        if not self._blocks:
            if (end - start) * int(columns.n_candidates[which].sum()) < _SPREAD_FROM:
                advance(engine, columns, which, start, end, notes, rate, stop)
                return
            self._columns, self._blocks = columns, self._cut(columns)
        kept = slice(notes.after(start), notes.after(end))
        way = _Way(engine, start, end, rate, stop, notes.epochs[kept], notes.with_attention)
        busy = [block for block in self._blocks if len(block.among(which))]
        parts = [block.among(which) - block.first for block in busy]
        states = self._client.map(_taken, [block.state for block in busy], parts, way=way, pure=False)
        told = self._client.map(_told, states, pure=False)
        for block, state, seen in zip(busy, states, fetched(self._client, told, self._patience), strict=True):
            here, block.state = block.among(which), state
            columns.stopped[here] = seen.stopped
            notes.value[kept, here] = seen.value
            if notes.with_attention:
                notes.attention[kept, here] = seen.attention

    def _cut(self, columns: Columns) -> list[_Block]:
        """Neighbouring columns as blocks of about the same work."""
        check_workers(self._client, self._patience)
        n_blocks = _BLOCKS_EACH * sum(self._client.nthreads().values())
        work = np.cumsum(columns.n_candidates + 1)
        ends = np.searchsorted(work, np.arange(1, n_blocks) * (work[-1] / n_blocks)) + 1
        most = max(1, _MOST_BLOCK // (8 * columns.scores.shape[1]))
        edges = np.unique([*range(0, len(work), most), *ends.tolist(), len(work)]).tolist()
        return [_Block.sent(self._client, columns, *pair) for pair in pairwise(edges)]

    def bring_back(self) -> None:
        """Write into the columns how far the workers have come."""
        if self._columns is None:
            return
        states = fetched(self._client, [block.state for block in self._blocks], self._patience)
        for block, (state, _) in zip(self._blocks, states, strict=True):
            here = slice(block.first, block.end)
            self._columns.attention[here] = state.attention
            self._columns.value[here] = state.value


@dataclass
class _Block:
    """Columns from ``first`` to before ``end``; ``state`` is the future of how far they have come."""

    first: int
    end: int
    state: Any

    @classmethod
    def sent(cls, client: Any, columns: Columns, first: int, end: int) -> _Block:
        # As part of a task, not scattered: what was scattered is lost with the worker that has it.
        part = _part(columns, slice(first, end))
        return cls(first, end, client.submit(_begun, part, pure=False))

    def among(self, which: Ints) -> Ints:
        """Those of the columns ``which``, in rising order, that are in this block."""
        return which[np.searchsorted(which, self.first) : np.searchsorted(which, self.end)]


@dataclass(frozen=True)
class _Way:
    """From which epoch to which, how, and what to keep on it."""

    engine: Engine
    start: int
    end: int
    rate: float
    stop: float
    keep: Ints
    with_attention: bool


@dataclass(frozen=True)
class _Seen:
    """What is told of some columns: their stops, and values [kept, column] and attention at the epochs to keep."""

    stopped: Ints
    value: Floats
    attention: Floats


def _part(columns: Columns, which: slice) -> Columns:
    return Columns(**{name: getattr(columns, name)[which] for name in Columns.__dataclass_fields__})


def _begun(columns: Columns) -> tuple[Columns, None]:
    return columns, None


def _taken(state: tuple[Columns, Any], which: Ints, way: _Way) -> tuple[Columns, _Seen]:
    """What a worker does. The state before is left as it is: the task may have to be done again."""
    before = state[0]
    moved = {name: getattr(before, name).copy() for name in ("attention", "value", "stopped")}
    fixed = {
        name: np.require(getattr(before, name), requirements="W")
        for name in ("scores", "n_candidates", "best", "least")
    }
    columns = replace(before, **moved, **fixed)
    notes = Notes(columns, way.keep, way.with_attention)
    with one_thread():
        advance(way.engine, columns, which.copy(), way.start, way.end, notes, way.rate, way.stop)
    notes.place_notes()
    attention = notes.attention[:, which] if way.with_attention else notes.attention
    return columns, _Seen(columns.stopped[which], notes.value[:, which], attention)


def _told(state: tuple[Columns, _Seen]) -> _Seen:
    return state[1]
