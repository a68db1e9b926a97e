"""Tables that Dask holds in partitions, as streams: data frames, arrays, lists of delayed tables.

Each partition is a fragment, and is counted where it lies. What it holds is known only when it is computed, so its
mark is that of its rows, and a checkpoint, which compares marks before anything is read, needs files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kgmi.cluster.client import check_workers, current_client, need_dask
from kgmi.cluster.computing import computed, rows_between
from kgmi.cluster.failing import uncomputed
from kgmi.counting.threads import Runner
from kgmi.errors import DataError
from kgmi.streams import Fragment
from kgmi.streams.alphabets import Form
from kgmi.streams.batches import Batch, batch_of
from kgmi.streams.files import select
from kgmi.streams.filters import Filter
from kgmi.streams.fragment import Choice, Piece
from kgmi.streams.passing import Passing

__all__ = ["Partitions", "Reading", "open_partitions"]

_DELAYED = "list of delayed tables"
_HEAD = 1 << 15  # rows of a partition that come here first: mostly nobody asks for more


@dataclass(frozen=True, eq=False)
class Reading:
    """How partitions are read, as a source that has none of them: what workers get of :class:`Partitions`."""

    model: Batch
    columns: tuple[str, ...]
    filter: Filter | None
    every: bool
    description: str
    fragments: tuple[Fragment, ...] = ()
    rereadable: bool = True

    @property
    def form(self) -> Form:
        """What the rows come as."""
        return self.model.form

    def holding(self, fragment: Fragment, *rows: Any) -> Held:
        """The same with the rows of one fragment, as one table or several."""
        return Held(lambda: rows, self.model, self.columns, self.filter, self.every, self.label(fragment), True)

    def label(self, fragment: Fragment) -> str:
        """What people call a fragment."""
        return f"{fragment.label} of {self.description}"

    def read(self, fragment: Fragment) -> Iterator[Piece]:
        """A worker reads what it holds."""
        raise DataError(f"{self.label(fragment)} is not here")

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Where a cell stands, in words."""
        return self.holding(fragment).place(fragment)


class Held(Passing):
    """The rows of one partition."""

    def read(self, fragment: Fragment) -> Iterator[Piece]:
        """The rows; where they are no table, an error that names the partition."""
        try:
            yield from super().read(fragment)
        except DataError as error:
            raise uncomputed(error, self.description) from None

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Where a cell stands, in words."""
        place = super().place(fragment)
        return lambda row, label: f"{self.description}: {place(row, label)}"


@dataclass(frozen=True, eq=False)
class Partitions(Reading):
    """Partitions of Dask as a source of rows; ``parts`` are its delayed tables."""

    parts: tuple[Any, ...] = ()

    @property
    def bare(self) -> Reading:
        """The same without the partitions."""
        return Reading(self.model, self.columns, self.filter, self.every, self.description)

    def runner(self) -> Runner:
        """Who counts them, if nobody else is named: the client that is open, or Dask in this process."""
        from kgmi.cluster.runner import DaskRunner, DaskThreads

        client = current_client()
        if client is None:
            return DaskThreads()
        check_workers(client)
        return DaskRunner(client)

    def read(self, fragment: Fragment) -> Iterator[Piece]:
        """The rows of a partition, brought here: some, and the rest only if it is asked for."""
        from dask import delayed

        part, label = self.parts[fragment.number], self.label(fragment)

        def tables() -> Iterator[Any]:
            yield (head := computed(delayed(rows_between)(part, 0, _HEAD), label))
            if batch_of(head).n_rows == _HEAD:
                yield computed(delayed(rows_between)(part, _HEAD, None), label)

        held = self.holding(fragment)
        held.begin = tables
        yield from held.read(fragment)


def open_partitions(source: Any, choice: Choice) -> Partitions:
    """A collection of Dask as a source."""
    need_dask()
    kind, model, parts, sizes = _parts(source, choice)
    chosen, where = select(model.names, choice, None if choice.where is None else model.schema)
    fragments = tuple(
        Fragment(number, "", size if where is None else None, f"partition {number}")
        for number, size in enumerate(sizes)
    )
    bare = Batch("array", None, model.names, model.form)  # what the others are compared with has no rows
    described = _described(kind, len(parts))
    return Partitions(bare, chosen, where, choice.columns is None, described, fragments, True, tuple(parts))


def _described(kind: str, n_parts: int) -> str:
    return f"the Dask {kind} ({n_parts:,} partition{'s' if n_parts > 1 else ''})"


def _parts(source: Any, choice: Choice) -> tuple[str, Batch, Sequence[Any], Sequence[int | None]]:
    """What it is, a table that has its columns, its delayed tables, and how many rows they have, where known."""
    from dask import delayed
    from dask.delayed import Delayed

    if isinstance(source, Delayed):  # first of all, as it claims to have whatever it is asked for
        source = [source]
    if isinstance(source, list | tuple):
        if not all(isinstance(one, Delayed) for one in source):
            raise DataError("a list of partitions must hold delayed tables only (dask.delayed)")
        if len({one.key for one in source}) < len(source):
            raise DataError(
                "a delayed table is in the list twice, so that its rows would count twice; leave one out"
            )
        label = f"partition 0 of {_described(_DELAYED, len(source))}"
        model = batch_of(computed(delayed(rows_between)(source[0], 0, 1), label))
        return _DELAYED, model, source, [None] * len(source)
    if hasattr(source, "to_delayed") and hasattr(source, "chunks") and hasattr(source, "rechunk"):
        if source.ndim != 2:
            raise DataError(f"rows must be a table [row, node], got an array with shape {source.shape}")
        whole = source.rechunk({1: -1})
        known = [int(size) if size == size else None for size in whole.chunks[0]]  # NaN: nobody knows yet
        return "array", batch_of(whole._meta.reshape(0, source.shape[1])), list(whole.to_delayed()[:, 0]), known
    if hasattr(source, "to_delayed") and hasattr(source, "columns") and hasattr(source, "npartitions"):
        model = batch_of(source._meta)
        needed = select(model.names, choice, None if choice.where is None else model.schema)
        wanted = {*needed[0], *(() if needed[1] is None else needed[1].columns)}
        lean = source if choice.columns is None else source[[one for one in source.columns if str(one) in wanted]]
        parts = lean.to_delayed()
        return "data frame", model, parts, [None] * len(parts)
    raise DataError(
        f"rows cannot be read from {type(source).__module__}.{type(source).__name__}; give a dask.dataframe, a "
        "dask.array [row, column], or a list of delayed tables"
    )
