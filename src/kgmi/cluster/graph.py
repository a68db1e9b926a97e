"""Counting as tasks of Dask: one for every fragment, and their sums as a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import uuid4

import numpy as np

from kgmi.cluster.partitions import Partitions, Reading
from kgmi.cluster.paths import with_whole_paths
from kgmi.cluster.tasks import added, counted, counted_rows, held, joined
from kgmi.counting.part import Work
from kgmi.statistics.sets import all_sets
from kgmi.streams import Fragment
from kgmi.version import __version__

__all__ = ["Counting", "summed", "task"]

_TOGETHER = 8  # parts that are added in one task
_LEAST_SETS = 20_000  # of a block: its rows are read once more, and counting these takes longer (November 2026)


class Counting:
    """The tasks that count the fragments of a stream.

    Where there are fewer fragments than ``n_threads`` but many sets of columns, a fragment is several tasks, each
    with a block of the sets.
    """

    def __init__(self, work: Work, n_fragments: int, n_threads: int) -> None:
        self.name = uuid4().hex  # other tasks than those of another call, which may have found other files
        self._source: Any = work.stream.source
        self._sets = work.sets
        if isinstance(self._source, Partitions):
            work = replace(work, stream=replace(work.stream, source=self._source.bare, _marks={}))
        else:
            work = replace(work, stream=replace(work.stream, source=with_whole_paths(self._source)))
        self._blocks = _blocks(work, n_threads // max(n_fragments, 1))

    def works(self) -> list[Any]:
        """Tasks that hold what is to be counted, so that it is sent once and not with every fragment."""
        return [
            task(held, (f"kgmi-work-{self.name}", number), _literal(block), __version__)
            for number, block in enumerate(self._blocks)
        ]

    def label(self, fragment: Fragment) -> str:
        """What people call a partition, whose rows come from code of the user; empty for files."""
        return self._source.label(fragment) if isinstance(self._source, Partitions) else ""

    def part(self, works: Sequence[Any], fragment: Fragment) -> Any:
        """The task whose result is the part of a fragment; ``works`` are tasks or their futures."""
        key = (f"kgmi-count-{self.name}", fragment.number)
        if isinstance(self._source, Partitions):
            return task(counted_rows, key, works[0], fragment, self._source.parts[fragment.number])
        if len(works) == 1:
            return task(counted, key, works[0], fragment)
        first = fragment.number * len(works)
        blocks = [
            task(counted, (f"kgmi-block-{self.name}", first + number), work, fragment)
            for number, work in enumerate(works)
        ]
        return task(joined, key, blocks, self._sets)


def summed(parts: Sequence[Any], name: str) -> Any:
    """The sum of neighbours, and of their sums, until one is left."""
    level = 0
    while len(parts) > 1:
        level += 1
        groups = [parts[first : first + _TOGETHER] for first in range(0, len(parts), _TOGETHER)]
        parts = [task(added, (f"kgmi-sum{level}-{name}", number), group) for number, group in enumerate(groups)]
    return parts[0]


def task(work: Callable[..., Any], key: tuple[str, int], *arguments: Any) -> Any:
    """A task with a name; arguments may be other tasks, or futures."""
    from dask import delayed

    return delayed(work, pure=False)(*arguments, dask_key_name=key)


def _literal(value: Any) -> Any:
    """A value that Dask need not look into."""
    from dask import delayed

    return delayed(value, pure=False, traverse=False)


def _blocks(work: Work, n_blocks: int) -> list[Work]:
    """The work, for neighbouring sets of columns each."""
    if isinstance(work.stream.source, Reading) or n_blocks < 2:
        return [work]
    sets = all_sets(len(work.stream.names), work.width) if work.sets is None else work.sets
    n_blocks = min(n_blocks, len(sets) // _LEAST_SETS)
    edges = np.linspace(0, len(sets), n_blocks + 1).astype(int).tolist()
    return [work] if n_blocks < 2 else [replace(work, sets=sets[first:end]) for first, end in pairwise(edges)]
