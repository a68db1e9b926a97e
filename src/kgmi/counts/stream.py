"""``count_stream``: a stream of rows to counts in one pass, by threads or on a cluster, from a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from contextvars import copy_context
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from inspect import signature
from typing import Any, TypeAlias

import numpy as np

from kgmi.alphabets import Seen, choose_alphabets, whole_number
from kgmi.counts.counted import CountedTable
from kgmi.counts.sets import Sets
from kgmi.counts.tally import Tallier, Tally, family_width, tally_bytes
from kgmi.errors import DataError, SettingError, TooLargeError
from kgmi.memory import shown_bytes
from kgmi.progress import tell
from kgmi.sources import (
    Coded,
    Fragment,
    Passing,
    Stream,
    header_of,
    joined_seen,
    no_rows,
    recode_maps,
    recoded,
    stream,
)
from kgmi.table import Table
from kgmi.threads import n_workers
from kgmi.types import PathLike

__all__ = [
    "MOST_BYTES",
    "Part",
    "Work",
    "check_size",
    "count",
    "count_source",
    "count_stream",
    "first_sizes",
    "sample_table",
]

MOST_BYTES = 128_000_000
"""Most memory of the counts of a part; about five are in memory at a time, and all of it stays below 1 GB."""

_FIRST_ROWS = 20_000  # that the checks of a fit look at one by one

Heard: TypeAlias = Callable[[int], object]
"""Called with numbers of rows as they are counted."""


@dataclass(frozen=True, eq=False)
class Part:
    """Counts of some fragments, with what their codes mean so far; parts add up, in any order, to the same counts.

    Attributes
    ----------
    seen
        What the codes of each column mean.
    tally
        The counts.
    marks
        Which fragments were counted: none may be counted twice.
    first
        The first rows of fragments, with the number of each; as many as it takes for those of the stream.
    """

    seen: tuple[Seen, ...]
    tally: Tally
    marks: tuple[str, ...]
    first: tuple[tuple[int, Coded], ...] = ()

    def merge(self, other: Part) -> Part:
        """Return the counts of both."""
        if twice := set(self.marks) & set(other.marks):
            raise DataError(f"{len(twice)} of the fragments would be counted twice")
        marks = tuple(sorted((*self.marks, *other.marks)))
        first, n_rows = sorted((*self.first, *other.first), key=lambda some: some[0]), 0
        for place, (_, rows) in enumerate(first):
            if n_rows >= _FIRST_ROWS:
                del first[place:]
                break
            n_rows += rows.columns.shape[1]
        for empty, full in ((self, other), (other, self)):
            if empty.tally.rows == 0:  # it may not even know what kind of rows there are
                return replace(full, marks=marks, first=tuple(first))
        seen = joined_seen(self.seen, other.seen)
        return Part(seen, _recoded(self, seen).merge(_recoded(other, seen)), marks, tuple(first))


def _recoded(part: Part, seen: Sequence[Seen]) -> Tally:
    """Return the counts of a part in the codes of all that was seen."""
    sizes, has_gaps = _shape(seen)
    check_size(sizes, part.tally.width, has_gaps, part.tally.sets)
    pairs = zip(recode_maps(part.seen, seen), part.tally.sizes, strict=True)
    maps = [np.arange(size) if new is None else new[:-1].astype(np.int64) for new, size in pairs]
    return part.tally.recoded(maps, sizes, has_gaps=has_gaps)


@dataclass(frozen=True, eq=False)
class Work:
    """What is counted of every fragment of a stream, by threads of this process or by workers elsewhere."""

    stream: Stream
    width: int
    sets: Sets | None = None

    def __call__(self, fragment: Fragment, heard: Heard | None = None) -> Part:
        """Count one fragment, batch by batch.

        Where a batch has states that those before did not have, counting begins anew and what was counted so far is
        added: alphabets only grow.
        """
        total: Part | None = None
        tallier: Tallier | None = None
        seen: tuple[Seen, ...] = (Seen(),) * len(self.stream.names)
        first: list[Coded] = []
        wanted = _FIRST_ROWS
        for batch in self.stream.batches(fragment):
            if tallier is None or batch.seen != seen:
                if tallier is not None:
                    total = _added(total, Part(seen, tallier.tally(), ()))
                seen = batch.seen
                sizes, has_gaps = _shape(seen)
                self._check(seen, sizes, has_gaps)
                tallier = Tallier(sizes, self.width, has_gaps, self.sets)
            tallier.add(batch.columns)
            if wanted > 0:
                first.append(Coded(batch.columns[:, :wanted].copy(), batch.seen))
                wanted -= batch.columns.shape[1]
            if heard is not None:
                heard(batch.columns.shape[1])
        marks = (self.stream.mark_of(fragment),)
        if tallier is None:
            empty = Tally.of_nothing((0,) * len(self.stream.names), self.width, sets=self.sets)
            return Part(seen, empty, marks)
        found = _added(total, Part(seen, tallier.tally(), ()))
        return replace(found, marks=marks, first=((fragment.number, _joined(first)),))

    def _check(self, seen: Sequence[Seen], sizes: tuple[int, ...], has_gaps: bool) -> None:
        """Refuse counts that would fill the memory, now or once columns share their alphabets."""
        rules = self.stream.rules
        check_size(sizes, self.width, has_gaps, self.sets)
        final = [max(len(some), rules.n_declared) for some in rules.column_states([one.texts for one in seen])]
        try:
            check_size(final, self.width, has_gaps, self.sets)
        except TooLargeError as error:
            raise TooLargeError(f"{error}; or let each column have its own states (alphabet='own')") from None


def _shape(seen: Sequence[Seen]) -> tuple[tuple[int, ...], bool]:
    """Return how many states each column has, and whether values are missing."""
    return tuple(len(one.texts) for one in seen), any(one.has_gaps for one in seen)


def _added(total: Part | None, part: Part) -> Part:
    return part if total is None else total.merge(part)


def _joined(batches: Sequence[Coded]) -> Coded:
    """Return batches as one, in the codes of the last."""
    seen = batches[-1].seen
    return Coded(np.concatenate([np.stack(recoded(one, seen)) for one in batches], axis=1), seen)


def check_size(sizes: Sequence[int], width: int, has_gaps: bool, sets: Sets | None) -> None:
    """Refuse counts that would fill the memory, before they are made."""
    needed = tally_bytes(sizes, width, has_gaps=has_gaps, sets=sets)
    if needed > MOST_BYTES:
        raise TooLargeError(
            f"counts of all sets of {width} of {len(sizes)} columns with up to {max(sizes)} states take "
            f"{shown_bytes(needed)}, and {shown_bytes(MOST_BYTES)} are allowed; take fewer columns (columns=…), "
            "fewer parents, or columns with fewer states"
        )


def count_stream(
    stream: Stream, width: int, *, sets: Sets | None = None, client: Any = None, checkpoint: Any = None
) -> CountedTable:
    """Count all rows of a stream in one pass.

    Parameters
    ----------
    stream
        The rows.
    width
        Columns of a set: K + 1 for K parents.
    sets
        Sets of columns to be counted; None: all.
    client
        A client of Dask that counts; by default threads of this process.
    checkpoint
        A :class:`kgmi.counts.files.Checkpoint`, where parts are kept, so that a run that was ended goes on from
        there.
    """
    n_nodes = len(stream.names)
    if not 1 <= width <= n_nodes:
        raise SettingError(f"sets of {width} columns cannot be made of {n_nodes} columns")
    if unseen := [name for name in stream.names if not name or not name.isprintable()]:
        raise DataError(
            f"{stream.description}: the name {unseen[0]!a} has characters that cannot be shown; rename it"
        )
    check_size((2,) * n_nodes, width, False, sets)  # the least it can be, before anything is read
    total, left = (None, list(stream.fragments)) if checkpoint is None else checkpoint.load(stream.fragments)
    heard = _teller(stream.n_rows, 0 if total is None else total.tally.rows)
    work = Work(stream, width, sets)
    source = stream.source
    can_be_sent = hasattr(source, "held") or isinstance(source, Passing)  # other tables are as fast counted as sent
    if hasattr(source, "partitions") or (client is not None and can_be_sent):
        from kgmi.counts.dask import parts_on

        parts = parts_on(client, work, left, heard, one_by_one=checkpoint is not None)
    else:
        parts = _parts_in_threads(work, left, heard)
    with closing(parts):
        for part in parts:
            if checkpoint is not None:
                checkpoint.store(part)
            total = _added(total, part)
    if total is None or total.tally.rows == 0:
        raise DataError(no_rows(stream))
    return settle(stream, total)


def count(
    source: Any,
    *,
    n_parents: int = 2,
    width: int | None = None,
    checkpoint: PathLike | None = None,
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
    checkpoint
        Folder in which the counts of finished fragments are kept: a run that was ended goes on from there, and no
        row is counted twice.
    cluster
        What counts: ``local:4`` starts so many worker processes, ``tcp://…`` is the address of a Dask scheduler, or
        a ``distributed.Client``. By default threads of this process.
    **options
        Options of :func:`kgmi.stream`.
    """
    if isinstance(source, Stream):
        if options:
            raise SettingError(f"{next(iter(options))} says how rows are read; give it to kgmi.stream")
        rows = source
    else:
        known = [*signature(stream).parameters][1:]
        if unknown := next((name for name in options if name not in known), None):
            close = get_close_matches(unknown, [*known, "n_parents", "width", "checkpoint", "cluster"], 1)
            advice = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
            raise SettingError(f"kgmi.count has no option {unknown}; {advice}")
        rows = stream(source, **options)
    if whole_number("n_parents", n_parents) < 1:
        raise SettingError(f"n_parents must be at least 1, got {n_parents}")
    if width is None:
        width = family_width(n_parents, len(rows.names), has_gaps=rows.rules.missing == "pairwise")
    return count_source(rows, whole_number("width", width), checkpoint=checkpoint, cluster=cluster)


def count_source(
    rows: Stream, width: int, *, sets: Sets | None = None, checkpoint: PathLike | None = None, cluster: Any = None
) -> CountedTable:
    """Count a stream; ``checkpoint`` and ``cluster`` are those of :func:`count`."""
    with ExitStack() as stack:
        client = kept = None
        if cluster is not None:
            from kgmi.counts.dask import connect

            client = stack.enter_context(connect(cluster))
        if checkpoint is not None:
            from kgmi.counts.files import Checkpoint

            kept = stack.enter_context(Checkpoint(checkpoint, rows, width, sets))
        return count_stream(rows, width, sets=sets, client=client, checkpoint=kept)


def settle(stream: Stream, total: Part) -> CountedTable:
    """Return the counts of all parts with the final alphabets."""
    rules, tally = stream.rules, total.tally
    filled = [int(tally.table((node,)).sum()) for node in range(len(stream.names))]
    found = choose_alphabets(total.seen, stream.names, rules, filled, header=header_of(stream))
    has_gaps = tally.has_gaps and found.gap is None
    check_size(found.sizes, tally.width, has_gaps, tally.sets)
    is_state = tally.has_gaps and found.gap is not None
    maps = [codes if is_state else codes[:-1] for codes in found.maps]
    final = tally.recoded([np.maximum(one, 0) for one in maps], found.sizes, has_gaps=has_gaps)
    reading: dict[str, Any] = {"missing": rules.missing, "alphabet": rules.alphabet}
    reading |= {"where": stream.where} if stream.where else {}
    reading |= {"gap": found.gap} if found.gap is not None else {}
    rows = [found.coded(recoded(some, total.seen)) for _, some in total.first]
    first = np.concatenate(rows)[:_FIRST_ROWS] if rows else None
    marks = tuple(sorted(stream.source.marks)) or total.marks
    return CountedTable(stream.names, found.states, found.own, final, marks, reading, first)


def _parts_in_threads(work: Work, fragments: Sequence[Fragment], heard: Heard) -> Generator[Part]:
    """Count fragments in threads of this process; at most one for each is under way, so memory stays bounded."""
    one, left, n_threads = partial(work, heard=heard), list(reversed(fragments)), n_workers()
    if n_threads < 2 or len(left) < 2:
        yield from map(one, fragments)  # in this thread, which Ctrl-C can interrupt
        return
    here, running = copy_context(), set[Future[Part]]()
    with ThreadPoolExecutor(n_threads, "kgmi-count") as pool:
        while left or running:
            while left and len(running) < n_threads:
                running.add(pool.submit(here.copy().run, one, left.pop()))
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in finished)


def _teller(total: int | None, before: int) -> Heard:
    """Return a function that reports how many rows were counted, from any thread."""
    from threading import Lock

    lock, done = Lock(), [before]
    tell("counting", before, total, "rows")

    def heard(n_rows: int) -> None:
        with lock:
            done[0] += n_rows
            now = done[0]
        tell("counting", now, total, "rows")

    return heard


def first_sizes(stream: Stream) -> tuple[tuple[int, ...], bool]:
    """Return how many states each column has at least, by the first rows, and whether values are missing there."""
    least = stream.rules.n_declared or 2
    sizes = (least,) * len(stream.names)
    if not stream.rereadable or not hasattr(stream.source, "held"):  # elsewhere a look may take as long as all
        return sizes, False
    for fragment in stream.fragments[:1]:
        for batch in stream.batches(fragment):
            states = stream.rules.column_states([one.texts for one in batch.seen])
            return tuple(max(least, len(one)) for one in states), any(one.has_gaps for one in batch.seen)
    return sizes, False


def sample_table(stream: Stream, most: int) -> Table:
    """Return about ``most`` rows, the first ones of fragments that lie evenly over the stream."""
    if not stream.rereadable:
        raise DataError(
            f"with so many columns rows are read twice, and {stream.description} can be read once only; write them "
            "to a Parquet file first, or take fewer columns"
        )
    fragments = stream.fragments
    places = dict.fromkeys(np.linspace(0, len(fragments) - 1, min(16, len(fragments))).astype(int).tolist())
    each, batches = -(-most // max(1, len(places))), list[Coded]()
    for place in places:
        wanted = each
        for batch in stream.batches(fragments[place]):
            batches.append(Coded(batch.columns[:, :wanted], batch.seen))
            wanted -= batch.columns.shape[1]
            if wanted <= 0:
                break
    return stream.joined(batches)
