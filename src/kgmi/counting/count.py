"""``count``: a stream of rows to counts, in one pass, resumed where a checkpoint has part of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, Protocol

import numpy as np

from kgmi.counting.counts import Counts, settle
from kgmi.counting.filtered import told_filter
from kgmi.counting.part import Part, Work, check_size
from kgmi.counting.plausible import wrong_name
from kgmi.counting.sample import first_rows, no_rows
from kgmi.counting.threads import Runner, Threads
from kgmi.errors import DataError, SettingError
from kgmi.progress import tell
from kgmi.statistics.sets import Sets
from kgmi.streams import Fragment, Stream

__all__ = ["Keeper", "count"]

_FIRST_ROWS = 20_000  # that are looked at one by one, for the checks


class Keeper(Protocol):
    """Keeps parts where a killed run left them; :class:`kgmi.counting.checkpoint.Checkpoint` does."""

    def load(self, fragments: Sequence[Fragment]) -> tuple[Part | None, list[Fragment]]:
        """What is counted already, and what is left."""
        ...

    def store(self, part: Part) -> None:
        """Keep a part."""
        ...


def count(
    stream: Stream,
    width: int,
    *,
    sets: Sets | None = None,
    runner: Runner | None = None,
    checkpoint: Keeper | None = None,
) -> Counts:
    """Count all rows of a stream.

    Parameters
    ----------
    stream
        The rows.
    width
        Columns of a set: K + 1 for K parents.
    sets
        Sets of columns to be counted; None: all.
    runner
        Who counts; by default threads of this process.
    checkpoint
        Where parts are kept, so that a run that was ended goes on from there.
    """
    n_nodes = len(stream.names)
    if wrong := wrong_name(stream.names):  # a file of the counts would be refused
        raise DataError(f"{stream.description}: {wrong}; rename it")
    if not 1 <= width <= n_nodes:
        raise SettingError(f"sets of {width} columns cannot be made of {n_nodes} columns")
    check_size((2,) * n_nodes, width, False, sets)  # the least it can be, before anything is read
    counted, left = (None, list(stream.fragments)) if checkpoint is None else checkpoint.load(stream.fragments)
    told = _Told(stream.n_rows, 0 if counted is None else counted.n_rows)
    store = None if checkpoint is None else checkpoint.store
    new = (runner or _usual(stream))(Work(stream, width, sets), left, store, told.more)
    parts = [part for part in (counted, new) if part is not None]
    if not parts or sum(part.n_rows for part in parts) == 0:
        raise DataError(no_rows(stream))
    total = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    return _settled(stream, total)


def _usual(stream: Stream) -> Runner:
    """Who counts where nobody else is named: threads, unless the source knows who is nearer to its rows."""
    made = getattr(stream.source, "runner", Threads)
    return made()


def _settled(stream: Stream, total: Part) -> Counts:
    rules = stream.rules
    filled = np.array([int(total.tally.family((node,)).sum()) for node in range(len(stream.names))])
    settled = total.alphabets.settled(stream.names, rules, filled)
    reading: dict[str, Any] = {"missing": rules.missing, "alphabet": rules.alphabet, **told_filter(stream)}
    reading |= {} if settled.gap is None else {"gap": settled.gap}
    first = first_rows(stream, total.alphabets, settled, _FIRST_ROWS)
    return replace(settle(total, settled, reading, first), contents=stream.contents)


class _Told:
    """Rows that were counted so far, told from all threads."""

    def __init__(self, total: int | None, before: int) -> None:
        self._lock, self._done, self._total = Lock(), before, total
        tell("counting", before, total, "rows")

    def more(self, n_rows: int) -> None:
        with self._lock:
            self._done += n_rows
            done = self._done
        tell("counting", done, self._total, "rows")
