"""What workers do: count a fragment, add parts up. Dask sends these functions by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from kgmi.cluster.client import check_version
from kgmi.cluster.paths import UnseenFile, is_gone, path_of
from kgmi.counting.part import Part, Work
from kgmi.errors import DataError
from kgmi.statistics.sets import Sets
from kgmi.statistics.tally import Tally
from kgmi.streams import Fragment
from kgmi.threads import one_thread

__all__ = ["added", "counted", "counted_rows", "held", "joined", "rows_of"]


def held(work: Work, version: str) -> Work:
    """The work as it is, on a worker that has the same kgmi; one that came late was not asked before."""
    check_version(version, "the process that sent this work")
    return work


def counted(work: Work, fragment: Fragment) -> Part:
    """The counts of a fragment, on one core: the others have fragments of their own."""
    try:
        with one_thread():
            return work(fragment)
    except DataError:
        path = path_of(work.stream.source, fragment)
        if path is None or not is_gone(path):
            raise
    raise UnseenFile(str(path), _address())


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)


def counted_rows(work: Work, fragment: Fragment, rows: Any) -> Part:
    """The counts of a fragment whose rows are a partition that Dask has computed here."""
    source: Any = work.stream.source
    return counted(
        replace(work, stream=replace(work.stream, source=source.holding(fragment, rows), _marks={})), fragment
    )


def added(parts: Sequence[Part]) -> Part:
    """The sum of parts."""
    return reduce(add, parts)


def rows_of(part: Part) -> int:
    """How many rows were counted: all that is told while the counts stay where they are."""
    return part.n_rows


def joined(parts: Sequence[Part], sets: Sets | None) -> Part:
    """Counts of the same rows, each of one block of sets, as those of all ``sets``."""
    first = parts[0]
    for part in parts[1:]:
        if _rows(part) != _rows(first):
            raise DataError("rows changed while they were counted: two workers read different ones. Count again")
    one = first.tally
    cells = np.concatenate([part.tally.cells for part in parts])
    whole = Tally(one.sizes, one.width, one.n_rows, cells, one.has_gaps, sets)
    return Part(first.names, first.alphabets, whole, first.marks)


def _rows(part: Part) -> tuple[Any, ...]:
    return part.names, part.alphabets, part.tally.sizes, part.tally.has_gaps, part.n_rows, part.marks
