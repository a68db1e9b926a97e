"""``count``: a stream of rows to counts in one pass, by threads or on a cluster, from a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, islice
from math import comb
from operator import attrgetter
from threading import Lock
from typing import Any, TypeAlias

import numpy as np

from kgmi.alphabets import Coded, Rules, Seen, whole_number
from kgmi.counts.counted import FIRST_ROWS, CountedTable, added, check_size, code_sizes
from kgmi.counts.files import Checkpoint
from kgmi.counts.tally import Sets, Tallier, Tally, family_width
from kgmi.errors import DataError, SettingError
from kgmi.progress import tell
from kgmi.sources import stream
from kgmi.sources.base import Fragment, Stream
from kgmi.sources.files import Files
from kgmi.sources.memory import BatchStream, Partitions
from kgmi.table import Table
from kgmi.threads import n_workers
from kgmi.types import PathLike

_READERS = 4  # threads that read; more wait for each other, and need more memory (measured November 2026)
_MANY_SETS = 2_000  # from which on counting takes longer than reading

Report: TypeAlias = Callable[[int], object]
"""Called with numbers of rows as they are counted."""


@dataclass(frozen=True, eq=False)
class Work:
    """What is counted of every fragment of a stream, by threads of this process or by workers elsewhere."""

    stream: Stream
    width: int
    sets: Sets | None = None

    def __call__(self, fragment: Fragment, report: Report | None = None) -> CountedTable:
        """Count one fragment, batch by batch; batches with the same states are counted together."""
        total, first = self.nothing, list[tuple[int, Coded]]()
        for seen, batches in groupby(self.stream.batches(fragment), attrgetter("seen")):
            sizes, has_gaps = code_sizes(seen)
            check_size(_shared_sizes(self.stream.rules, seen), self.width, has_gaps, self.sets)
            tallier = Tallier(sizes, self.width, has_gaps, self.sets)
            for batch in batches:
                tallier.add(batch.columns)
                if not first:
                    first.append((fragment.number, _head(batch, FIRST_ROWS)))
                if report is not None:
                    report(batch.columns.shape[1])
            total = added(total, self._table(seen, tallier.tally()))
        return replace(total, marks=(fragment.mark or str(fragment.number),), first=tuple(first))

    @property
    def nothing(self) -> CountedTable:
        """The counts of no rows."""
        seen = (Seen(),) * len(self.stream.names)
        return self._table(seen, Tally.of_nothing((0,) * len(seen), self.width, sets=self.sets))

    def _table(self, seen: tuple[Seen, ...], tally: Tally) -> CountedTable:
        return CountedTable(self.stream.names, self.stream.rules, seen, tally, where=self.stream.where)


def _head(batch: Coded, n_rows: int) -> Coded:
    """Return a copy of the first rows, so that the others can be forgotten."""
    return Coded(batch.columns[:, :n_rows].copy(), batch.seen)


def _shared_sizes(rules: Rules, seen: Sequence[Seen], least: int = 0) -> tuple[int, ...]:
    """Return how many states each column has at least, once columns share alphabets."""
    states = rules.column_states([one.texts for one in seen])
    return tuple(max(len(some), rules.n_declared or least) for some in states)


def count(
    source: Any,
    *,
    n_parents: int = 2,
    width: int | None = None,
    sets: Sets | None = None,
    checkpoint: PathLike | Checkpoint | None = None,
    cluster: Any = None,
    **options: Any,
) -> CountedTable:
    """Count rows that need not fit into memory, in one pass; the counts are enough to learn from.

    Parameters
    ----------
    source
        Anything that :func:`kgmi.stream` takes, or a stream.
    n_parents
        K: all sets of K + 1 columns are counted, so that up to K parents can be learned; sets of K + 2 where
        missing values are left out (``missing='pairwise'``).
    width
        Columns of a set, where that is not K + 1; 2 are enough for the guides of pairs.
    sets
        The sets [set, column], ascending and in the order of ``kgmi.counts.tally.all_sets``; by default all.
    checkpoint
        File in which the counts so far are kept: a run that was ended continues from there, and no row is counted
        twice.
    cluster
        What counts: ``local:4`` starts so many worker processes, ``tcp://…`` is the address of a Dask scheduler, or
        a ``distributed.Client``. By default threads of this process.
    **options
        Options of :func:`kgmi.stream`.
    """
    if isinstance(source, Stream) and options:
        raise SettingError(f"{next(iter(options))} says how rows are read; give it to kgmi.stream")
    rows = source if isinstance(source, Stream) else stream(source, **options)
    if width is None:
        most = whole_number("n_parents", n_parents, least=1)
        width = family_width(most, len(rows.names), has_gaps=rows.rules.missing == "pairwise")
    if not 1 <= whole_number("width", width) <= len(rows.names):
        raise SettingError(f"sets of {width} columns cannot be made of {len(rows.names)} columns")
    if unseen := [name for name in rows.names if not name or not name.isprintable()]:
        raise DataError(
            f"{rows.description}: the name {unseen[0]!a} has characters that cannot be shown; rename it"
        )
    check_size((2,) * len(rows.names), width, False, sets)  # the least it can be, before anything is read
    work = Work(rows, width, sets)
    total, left, client = work.nothing, list(rows.fragments), None
    kept = checkpoint if isinstance(checkpoint, Checkpoint) else None
    with ExitStack() as stack:
        if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
            kept = stack.enter_context(Checkpoint(checkpoint))
        if kept is not None:
            total, left = kept.load(rows, total)
        if cluster is not None:
            from kgmi.counts.dask import connect

            client = stack.enter_context(connect(cluster))
        elif isinstance(rows, Partitions):
            from kgmi.counts.dask import open_client

            client = open_client()
        report = _reporter(rows.n_rows, total.n_rows)
        if client is not None and isinstance(rows, Files | BatchStream):
            from kgmi.counts.dask import parts_on

            parts = parts_on(client, work, left, report)
        else:  # tables in memory are counted as fast as they are sent
            parts = _parts_in_threads(work, left, report)
        for part in stack.enter_context(closing(parts)):
            total = added(total, part)
            if kept is not None:
                kept.store(total)
    if total.n_rows == 0:
        raise rows.no_rows()
    if kept is not None and kept.taken:  # parts that are stored have no rows
        total = replace(total, first=_first_rows(rows))
    total.final_alphabets(header=rows.columns if rows.has_header else None)  # refuses what are no states
    fingerprint = total.fingerprint  # refuses counts that are too large
    return replace(total, marks=rows.marks or (fingerprint,))


def _first_rows(rows: Stream) -> tuple[tuple[int, Coded], ...]:
    """Return the first rows of a stream, by the numbers of their fragments."""
    found, left = list[tuple[int, Coded]](), FIRST_ROWS
    for fragment in rows.fragments:
        if left <= 0:
            break
        for batch in islice(rows.batches(fragment), 1):
            found.append((fragment.number, _head(batch, left)))
            left -= batch.columns.shape[1]
    return tuple(found)


def _parts_in_threads(work: Work, fragments: Sequence[Fragment], report: Report) -> Generator[CountedTable]:
    """Count fragments in threads of this process; at most one for each is under way, so memory stays bounded."""
    one, left, n_threads = partial(work, report=report), list(reversed(fragments)), n_workers()
    n_sets = comb(len(work.stream.names), work.width) if work.sets is None else len(work.sets)
    if n_sets < _MANY_SETS:  # reading takes longest
        n_threads = min(n_threads, _READERS)
    if n_threads < 2 or len(left) < 2:
        yield from map(one, fragments)  # in this thread, which Ctrl-C can interrupt
        return
    here, running = copy_context(), set[Future[CountedTable]]()
    with ThreadPoolExecutor(n_threads, "kgmi-count") as pool:
        while left or running:
            while left and len(running) < n_threads:
                running.add(pool.submit(here.copy().run, one, left.pop()))
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in finished)


def _reporter(total: int | None, before: int) -> Report:
    """Return a function that reports how many rows were counted, from any thread."""
    lock, done = Lock(), before
    tell("counting", before, total, "rows")

    def report(n_rows: int) -> None:
        nonlocal done
        with lock:
            done += n_rows
        tell("counting", done, total, "rows")

    return report


def first_sizes(rows: Stream) -> tuple[tuple[int, ...], bool]:
    """Return how many states each column has at least, by the first rows, and whether values are missing."""
    seen: tuple[Seen, ...] = (Seen(),) * len(rows.names)
    if isinstance(rows, Files):  # of other sources the first rows may take as long as all
        seen = next((batch.seen for fragment in rows.fragments[:1] for batch in rows.batches(fragment)), seen)
    return _shared_sizes(rows.rules, seen, least=2), any(one.has_gaps for one in seen)


def sample_table(rows: Stream, most: int) -> Table:
    """Return about ``most`` rows, the first ones of fragments that lie evenly over the stream."""
    if not rows.rereadable:
        raise DataError(
            f"with so many columns rows are read twice, and {rows.description} can be read once only; write "
            "them to a Parquet file first, or take fewer columns"
        )
    n_places = min(16, len(rows.fragments))
    batches = list[Coded]()
    for place in np.linspace(0, len(rows.fragments) - 1, n_places).astype(int).tolist():
        wanted = -(-most // n_places)
        for batch in rows.batches(rows.fragments[place]):
            batches.append(_head(batch, wanted))
            wanted -= batch.columns.shape[1]
            if wanted <= 0:
                break
    return rows.joined(batches)
