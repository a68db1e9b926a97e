"""Tables in memory, batches that come one after the other, and partitions of Dask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Self

from kgmi.cells import Cells
from kgmi.errors import DataError, KgmiError, first_line
from kgmi.sources.base import Choice, Fragment, Stream, block_rows, ranges
from kgmi.table import Batch
from kgmi.where import Filter


def _selected(batch: Batch, choice: Choice) -> tuple[tuple[str, ...], Filter | None]:
    """Return the columns that are read, and the filter, by the types of the first row."""
    import pyarrow as pa

    head = batch.part(0, 1)
    kinds = [pa.null() if choice.where is None else head.arrow(name).type for name in batch.names]
    return choice.select(pa.schema(list(zip(batch.names, kinds, strict=True))))


@dataclass(eq=False)
class InMemory(Stream):
    """A table in memory; its fragments are ranges of rows, so that threads can share them."""

    batch: Batch

    @classmethod
    def opened(cls, source: Any, choice: Choice) -> InMemory:
        """Take a table in memory."""
        batch = Batch.of(source)
        made = cls(batch.form, *_selected(batch, choice), f"the table of {len(batch):,} rows", batch)
        made.fragments = made.numbered(ranges(len(batch), choice.fragment_rows, "the table"))
        return made

    def read(self, fragment: Fragment) -> Iterator[list[Cells]]:
        """Yield the rows of a fragment."""
        first, last = fragment.pieces
        return self.blocks(self.batch.part(first, last + 1))


@dataclass(eq=False)
class BatchStream(Stream):
    """A sequence of tables, which is read as one fragment."""

    rows: Iterable[Any]  # the tables: a list, an iterator, a reader of record batches, or a lazy frame of polars
    known: tuple[str, ...] | None  # the columns that there may be; None: any
    taken: list[Fragment] = field(default_factory=list)  # what was read by this stream or by a copy of it

    @classmethod
    def opened(cls, rows: Iterable[Any], model: Any, choice: Choice, description: str) -> Self:
        """Take tables; ``model`` is one with their columns."""
        batch, rereadable = Batch.of(model), not isinstance(rows, Iterator)
        known = batch.names if choice.columns is None else None
        made = cls(batch.form, *_selected(batch, choice), description, rows, known, rereadable=rereadable)
        made.fragments = made.numbered([Fragment(description)])
        return made

    def read(self, fragment: Fragment) -> Iterator[list[Cells]]:
        """Yield the rows of all tables."""
        if self.taken and not self.rereadable:
            raise DataError(f"{self.description} can be read once only, and it was; give files, or the source anew")
        self.taken.append(fragment)
        return self.blocks_of(self._tables(), fragment.label)

    def _tables(self) -> Iterator[Any]:
        rows: Any = self.rows
        with computing(self.description):
            if hasattr(rows, "collect_batches"):  # a lazy frame, of which only the needed columns are computed
                wanted = rows.select(list(self.needed))
                rows = wanted.collect_batches(chunk_size=block_rows(len(self.needed)), maintain_order=True)
            yield from rows

    def blocks_of(self, tables: Iterable[Any], label: str) -> Iterator[list[Cells]]:
        """Yield the rows of tables; one with other columns than the first, or of another kind, is refused."""
        for number, rows in enumerate(tables):
            where = f"batch {number} of {label}"
            with computing(where):
                batch = Batch.of(rows)
            if batch.form != self.form:
                raise DataError(f"{where} is of another kind than the first; give all batches in one form")
            self.check_columns(where, batch.names, "the first batch", self.known)
            yield from self.blocks(batch)

    def __getstate__(self) -> dict[str, Any]:
        raise DataError(f"{self.description} cannot be sent to other processes; give files, or a table in memory")


def open_batches(source: Any, choice: Choice) -> BatchStream:
    """Take arrays, data frames or record batches: a list, an iterator, a reader, or a lazy frame of polars."""
    import pyarrow as pa

    description = f"the batches ({type(source).__name__})"
    with computing(description):
        if hasattr(source, "collect_batches"):
            return BatchStream.opened(source, source.head(0).collect(), choice, description)
        if hasattr(source, "__arrow_c_stream__"):
            source = pa.RecordBatchReader.from_stream(source)
            return BatchStream.opened(source, source.schema.empty_table(), choice, description)
        rows = iter(source)
        first = next(rows, None)
    if first is None:
        raise DataError(f"{description} are empty: there are no rows")
    return BatchStream.opened(chain([first], rows) if rows is source else source, first, choice, description)


@dataclass(eq=False)
class Partitions(BatchStream):
    """Tables that Dask holds; each partition is a fragment, and is counted where it was computed.

    ``rows`` are the tables of the fragment that is read, where they are here.
    """

    partitions: tuple[Any, ...] = ()  # delayed tables, one for each fragment; workers get none of them

    def read(self, fragment: Fragment) -> Iterator[list[Cells]]:
        """Yield the rows of a partition, which are computed and brought here where they are not."""
        rows = self.rows or [_computed(self.partitions[fragment.number], None, fragment.label)]
        return self.blocks_of(rows, fragment.label)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"partitions": ()}


def open_partitions(source: Any, choice: Choice) -> Partitions:
    """Return the stream of a ``dask.dataframe``, a ``dask.array`` [row, column] or a list of delayed tables."""
    from dask.delayed import Delayed

    parts: Any = [source] if isinstance(source, Delayed) else source
    sizes: list[int | None] = []
    if isinstance(parts, list | tuple) and all(isinstance(one, Delayed) for one in parts):
        if len({one.key for one in parts}) < len(parts):
            raise DataError("a delayed table is in the list twice, so that its rows would count twice; drop one")
        kind, model = "list of delayed tables", _computed(parts[0], 1, "partition 0 of the list")
    elif hasattr(source, "rechunk") and source.ndim == 2 and source.shape[1] == source.shape[1]:  # NaN: not known
        kind, whole = "array", source.rechunk({1: -1})
        model, parts = whole._meta.reshape(0, source.shape[1]), whole.to_delayed()[:, 0]
        sizes = [int(size) if size == size else None for size in whole.chunks[0]]
    elif hasattr(source, "npartitions") and hasattr(source, "columns"):
        kind, model = "data frame", source._meta
    else:
        raise DataError(
            f"rows cannot be read from {type(source).__module__}.{type(source).__name__}; give a dask.dataframe, a "
            "dask.array [row, column], or a list of delayed tables"
        )
    made = Partitions.opened((), model, choice, f"the Dask {kind}")
    if kind == "data frame":  # other columns are not computed
        chosen = source if made.known else source[[one for one in source if str(one) in made.needed]]
        parts = chosen.to_delayed()
    made.partitions = tuple(parts)
    made.fragments = made.numbered(
        Fragment(f"partition {number} of {made.description}", n_rows=size)
        for number, size in enumerate(sizes or [None] * len(parts))
    )
    return made


def _computed(part: Any, n_rows: int | None, label: str) -> Any:
    """Return the first rows of a delayed table, computed by the open client or as Dask's configuration says."""
    from dask import delayed

    with computing(label):
        return delayed(_first_rows)(part, n_rows).compute()


def _first_rows(table: Any, n_rows: int | None) -> Any:
    """Return the first rows of a table of any kind, as such a table."""
    batch = Batch.of(table)
    rows = batch.rows[:n_rows]
    return rows.to_native() if batch.form == "typed" else rows


@contextmanager
def computing(label: str) -> Iterator[None]:
    """Turn errors of the code that computes rows into errors that name them."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{label}: {error}") from None
    except (KgmiError, MemoryError):
        raise
    except Exception as error:
        raise uncomputed(error, label) from error


def uncomputed(error: BaseException, label: str) -> DataError:
    """Return the error on rows that code of the user could not compute."""
    return DataError(f"{label} cannot be computed: {type(error).__name__}: {first_line(error)}")
