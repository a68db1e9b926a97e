"""Tables in memory, arrays in files, batches that come one after the other, and partitions of Dask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.errors import DataError, KgmiError, first_line
from kgmi.sources.base import Block, Choice, Fragment, Stream, block_rows
from kgmi.sources.files import Files, Held, held_files, read_errors
from kgmi.table import Batch, default_names
from kgmi.where import Filter

__all__ = [
    "ArrayFiles",
    "InMemory",
    "Partitions",
    "Passing",
    "open_batches",
    "open_lazy_frame",
    "open_partitions",
    "open_reader",
    "uncomputed",
    "whole_array",
]

_HEAD = 1 << 15  # rows of a partition that come first where rows are read here: mostly they are enough


def _ranges(n_rows: int, most: int) -> list[tuple[int, int]]:
    """Return first and last row of ranges of equal size, up to ``most`` rows."""
    n_parts = -(-n_rows // most)
    return [(n_rows * part // n_parts, n_rows * (part + 1) // n_parts - 1) for part in range(n_parts)]


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
        batch = Batch.filled(source, None)
        made = cls(batch.form, *_selected(batch, choice), f"the table of {len(batch):,} rows", batch)
        made.fragments = made.numbered(
            Fragment("the table", n_rows=1 + last - first, pieces=(first, last), first=first)
            for first, last in _ranges(len(batch), choice.fragment_rows)
        )
        return made

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a fragment."""
        first, last = fragment.pieces
        return self.blocks(self.batch.part(first, last + 1))


@dataclass(eq=False)
class ArrayFiles(Files):
    """Files of ``numpy.save``, read in ranges of rows.

    Attributes
    ----------
    headers
        Of each file: its shape, whether columns lie one after the other, the type, and the place of the first cell.
    """

    headers: tuple[tuple[tuple[int, int], bool, str, int], ...]

    @classmethod
    def opened(
        cls, paths: tuple[Path, ...], constants: tuple[dict[str, Any], ...], choice: Choice, description: str
    ) -> ArrayFiles:
        """Open array files; their headers are read."""
        import pyarrow as pa

        if any(constants):
            raise DataError(f"{description}: the columns of arrays have no names, so their folders cannot add one")
        held = held_files(paths, "NumPy")
        headers = tuple(map(_array_header, held))
        width = headers[0][0][1]
        for one, (shape, *_) in zip(held, headers, strict=True):
            if shape[1] != width:
                raise DataError(f"{one.path} has {shape[1]} columns, {paths[0]} has {width}; they must be the same")
        names = default_names(width)
        chosen = choice.select(pa.schema([(name, pa.from_numpy_dtype(headers[0][2])) for name in names]))
        made = cls("array", *chosen, description, held, constants, headers)
        ranges = [_ranges(shape[0], choice.fragment_rows) for shape, *_ in headers]
        pieces = [[(one, 1 + one[1] - one[0], one[0]) for one in some] for some in ranges]
        made.fragments = made.fragments_of(pieces, "rows")
        return made

    def batches_of(self, fragment: Fragment) -> Iterator[Batch]:
        """Yield some rows; read, not mapped, so that a file that is cut off meanwhile is an error."""
        held, (shape, by_column, dtype, start) = self.held[fragment.file], self.headers[fragment.file]
        first, last = fragment.pieces
        with held.open() as stream:
            for row in range(first, last + 1, most := block_rows(shape[1])):
                block = np.empty((min(most, last + 1 - row), shape[1]), dtype, order="F" if by_column else "C")
                for number, line in enumerate(block.T if by_column else block[None]):
                    place = number * shape[0] + row if by_column else row * shape[1]
                    stream.seek(start + place * block.itemsize)
                    line[...] = np.frombuffer(stream.read(line.nbytes), dtype).reshape(line.shape)
                yield Batch(block, default_names(shape[1]), "array")


def whole_array(path: Path) -> Any:
    """Return the array in a file."""
    (held,) = held_files((path,), "NumPy")
    _array_header(held)
    with read_errors(path), held.open() as stream:
        return np.load(stream, allow_pickle=False)


def _array_header(held: Held) -> tuple[tuple[int, int], bool, str, int]:
    """Return shape, whether columns are stored one after the other, type and first byte of a ``.npy`` file."""
    from tokenize import TokenError

    try:
        with held.open() as stream:
            version = np.lib.format.read_magic(stream)
            if version > (2, 0):
                raise ValueError("it has named fields")
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, by_column, dtype = read(stream)
            start = stream.tell()
        if len(shape) != 2 or min(shape) < 1 or dtype.kind not in "iubf":
            raise ValueError(f"it holds {dtype} of shape {shape}, not numbers [row, column]")
        if prod(shape) * int(dtype.itemsize) != held.size - start:
            raise ValueError(f"it announces {prod(shape):,} values, and {held.size - start:,} bytes follow")
    except (ValueError, EOFError, OverflowError, SyntaxError, TypeError, TokenError) as error:
        raise DataError(f"{held.path} cannot be read as a .npy array: {first_line(error)}; save it again") from None
    return (int(shape[0]), int(shape[1])), bool(by_column), dtype.str, start


class _Once:
    """Batches that can be gone through once."""

    def __init__(self, batches: Iterable[Any], description: str) -> None:
        self._batches, self._description, self._is_taken = batches, description, False

    def __iter__(self) -> Iterator[Any]:
        if self._is_taken:
            raise DataError(
                f"{self._description} can be read once only, and it was; give files, or the source anew"
            )
        self._is_taken = True
        return iter(self._batches)


@dataclass(frozen=True)
class _Anew:
    """Batches that are computed whenever they are gone through."""

    compute: Callable[[], Iterable[Any]]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.compute())


@dataclass(eq=False)
class Passing(Stream):
    """Tables in memory that come one after the other, all of them one fragment.

    Attributes
    ----------
    known
        The columns that there may be; None: any.
    rows
        The tables.
    """

    known: tuple[str, ...] | None
    rows: Iterable[Any]

    @classmethod
    def opened(
        cls, rows: Iterable[Any], model: Any, choice: Choice, description: str, *, rereadable: bool = False
    ) -> Passing:
        """Take tables; ``model`` is one with their columns."""
        batch = Batch.of(model)
        known, once = batch.names if choice.columns is None else None, _Once(rows, description)
        chosen = _selected(batch, choice)
        made = cls(batch.form, *chosen, description, known, rows if rereadable else once, rereadable=rereadable)
        made.fragments = made.numbered([Fragment(description)])
        return made

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of all tables."""
        return self.blocks_of(self.rows, fragment.label)

    def blocks_of(self, tables: Iterable[Any], label: str) -> Iterator[Block]:
        """Yield the rows of tables; one with other columns than the first, or of another kind, is refused."""
        for number, rows in enumerate(tables):
            where = f"batch {number} of {label}"
            try:
                batch = Batch.of(rows)
            except DataError as error:
                raise DataError(f"{where}: {error}") from None
            if batch.form != self.form:
                raise DataError(f"{where} is of another kind than the first; give all batches in one form")
            self.check_columns(where, batch.names, "the first batch", self.known)
            yield from self.blocks(batch)

    def __getstate__(self) -> dict[str, Any]:
        raise DataError(f"{self.description} cannot be sent to other processes; give files, or a table in memory")


def open_batches(source: Iterable[Any], choice: Choice) -> Passing:
    """Take arrays, data frames or record batches that an iterator yields, or those in a list."""
    once, rows = isinstance(source, Iterator), iter(source)
    first = next(rows, None)
    if first is None:
        raise DataError("the iterator yields no batch, so there are no rows")
    description = f"the {'iterator' if once else 'list'} of batches ({type(source).__name__})"
    return Passing.opened(chain([first], rows) if once else source, first, choice, description, rereadable=not once)


def open_reader(source: Any, choice: Choice) -> Passing:
    """Take any stream of Arrow record batches."""
    import pyarrow as pa

    description = f"the record-batch reader ({type(source).__name__})"

    def batches() -> Iterator[Any]:
        with read_errors(description):
            yield from reader

    with read_errors(description):
        reader = source if isinstance(source, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(source)
        model = reader.schema.empty_table()
    return Passing.opened(batches(), model, choice, description)


def open_lazy_frame(frame: Any, choice: Choice) -> Passing:
    """Take a lazy data frame of polars, computed in batches; only the needed columns are asked for."""
    import polars as pl

    def batches() -> Iterator[Any]:
        wanted = frame.select(list(made.needed))
        try:
            yield from wanted.collect_batches(chunk_size=block_rows(len(made.needed)), maintain_order=True)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise DataError(f"the lazy frame cannot be computed: {first_line(error)}") from None

    if not hasattr(frame, "collect_batches"):
        raise DataError(
            f"polars {pl.__version__} cannot hand out a lazy frame in batches; update it, or write the frame with "
            "sink_parquet and give that file"
        )
    try:
        model = frame.head(0).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"the lazy frame cannot be computed: {first_line(error)}") from None
    made = Passing.opened(_Anew(batches), model, choice, "the lazy frame", rereadable=True)
    return made


@dataclass(eq=False)
class Partitions(Passing):
    """Tables that Dask holds; each partition is a fragment, and is counted where it was computed.

    Attributes
    ----------
    rows
        The tables of the fragment that is read, where they are here.
    partitions
        Delayed tables, one for each fragment; workers get none of them.
    """

    partitions: tuple[Any, ...] = ()

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a partition, which are computed and brought here where they are not."""
        return self.blocks_of(self.rows or self._computed(fragment), fragment.label)

    def _computed(self, fragment: Fragment) -> Iterator[Any]:
        for first, last in ((0, _HEAD), (_HEAD, None)):
            yield (rows := _computed(self.partitions[fragment.number], first, last, fragment.label))
            if len(rows) < _HEAD:
                return

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
        kind, model = "list of delayed tables", _computed(parts[0], 0, 1, "partition 0 of the list")
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
    batch = Batch.of(model)
    chosen, known = _selected(batch, choice), batch.names if choice.columns is None else None
    made = Partitions(batch.form, *chosen, f"the Dask {kind}", known, ())
    if kind == "data frame":  # other columns are not computed
        parts = (source if known else source[[one for one in source if str(one) in made.needed]]).to_delayed()
    made.partitions = tuple(parts)
    made.fragments = made.numbered(
        Fragment(f"partition {number} of {made.description}", n_rows=size)
        for number, size in enumerate(sizes or [None] * len(parts))
    )
    return made


def _computed(part: Any, first: int, last: int | None, label: str) -> Any:
    """Return some rows of a delayed table, computed by the open client or as Dask's configuration says."""
    from dask import delayed

    try:
        return delayed(_rows_between)(part, first, last).compute()
    except KgmiError as error:
        raise DataError(f"{label}: {error}") from None
    except Exception as error:
        raise uncomputed(error, label) from error


def _rows_between(table: Any, first: int, last: int | None) -> Any:
    """Return some rows of a table of any kind, as such a table."""
    batch = Batch.of(table)
    rows = batch.part(first, len(batch) if last is None else last).rows
    return rows.to_native() if batch.form == "typed" else rows


def uncomputed(error: BaseException, label: str) -> DataError:
    """Return the error on rows that code of the user could not compute."""
    return DataError(f"{label} cannot be computed: {type(error).__name__}: {first_line(error)}")
