"""Arrays in files, tables in memory, and batches that come one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.errors import DataError, first_line
from kgmi.sources.base import Block, Choice, Fragment, Source, block_rows, row_ranges
from kgmi.sources.found import Files, Held, held_files, read_errors
from kgmi.table import Batch, default_names
from kgmi.where import Filter

__all__ = [
    "ArrayFiles",
    "Batches",
    "InMemory",
    "Passing",
    "npy_header",
    "open_batches",
    "open_lazy_frame",
    "open_reader",
    "selected",
]


@dataclass(eq=False)
class ArrayFiles(Files):
    """Files of ``numpy.save``, read in ranges of rows; ``shapes`` are their headers."""

    shapes: tuple[tuple[tuple[int, int], bool, str, int], ...]

    @classmethod
    def opened(
        cls, paths: tuple[Path, ...], constants: tuple[dict[str, Any], ...], choice: Choice, description: str
    ) -> ArrayFiles:
        """Open array files; their headers are read."""
        import pyarrow as pa

        if any(constants):
            raise DataError(
                f"{description}: arrays in folders that name columns are not read; give the files alone"
            )
        held = held_files(paths)
        shapes = tuple(npy_header(one) for one in held)
        width = shapes[0][0][1]
        for path, (shape, *_) in zip(paths, shapes, strict=True):
            if shape[1] != width:
                raise DataError(
                    f"{path} has {shape[1]} columns, {paths[0]} has {width}; give arrays with the same columns"
                )
        kind = {"f": pa.float64(), "b": pa.bool_(), "u": pa.uint64(), "i": pa.int64()}[np.dtype(shapes[0][2]).kind]
        columns, where = choice.select(pa.schema([(name, kind) for name in default_names(width)]))
        made = cls("array", columns, where, description, held, constants, shapes)
        ranges = [row_ranges(shape[0], choice.fragment_rows) for shape, *_ in shapes]
        made.cut_files([[(one, 1 + one[1] - one[0], one[0]) for one in some] for some in ranges], "rows")
        return made

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield some rows; read, not mapped, so that a file that is cut off meanwhile is an error."""
        held, (shape, by_column, dtype, start) = self.held[fragment.file], self.shapes[fragment.file]
        names, size = default_names(shape[1]), np.dtype(dtype).itemsize
        with read_errors(held.path, held), held.open() as stream:
            first, last = fragment.pieces
            for row in range(first, last + 1, most := block_rows(shape[1])):
                n_rows = min(most, last + 1 - row)
                block = np.empty((n_rows, shape[1]), dtype=dtype, order="F" if by_column else "C")
                for number, line in enumerate(block.T if by_column else block[None]):
                    stream.seek(start + size * (number * shape[0] + row if by_column else row * shape[1]))
                    data = stream.read(line.nbytes)
                    if len(data) < line.nbytes:
                        raise EOFError("it ends before its last row")
                    line[...] = np.frombuffer(data, dtype=dtype).reshape(line.shape)
                yield from self.blocks(Batch(block, names, "array"))
        held.check_unchanged()


def npy_header(held: Held) -> tuple[tuple[int, int], bool, str, int]:
    """Return shape, whether columns are stored one after the other, type and first byte of a ``.npy`` file."""
    from tokenize import TokenError

    path = held.path
    try:
        with held.open() as stream:
            version = np.lib.format.read_magic(stream)
            if version > (2, 0):
                raise ValueError("it has named fields")
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, by_column, dtype = read(stream)
            start = stream.tell()
    except (ValueError, EOFError, OverflowError, SyntaxError, TypeError, TokenError) as error:
        raise DataError(f"{path} cannot be read as a .npy array: {first_line(error)}; save whole numbers") from None
    if len(shape) != 2 or min(shape) < 1:
        raise DataError(f"{path}: rows must be a table [row, node] with at least one row and column, got {shape}")
    if dtype.hasobject or dtype.kind not in "iubf":
        raise DataError(f"{path} cannot be read as a .npy array: it is of type {dtype}; save whole numbers")
    claimed, there = prod(shape) * int(dtype.itemsize), held.size - start
    if claimed != there:
        raise DataError(
            f"{path}: its header announces {claimed:,} bytes of values, but {there:,} follow; write it again"
        )
    return (int(shape[0]), int(shape[1])), bool(by_column), dtype.str, start


def selected(batch: Batch, choice: Choice) -> tuple[tuple[str, ...], Filter | None]:
    """Return the columns that are read, and the filter, by the types of the first row."""
    import pyarrow as pa

    head = batch.part(0, 1)
    kinds = [pa.null() if choice.where is None else head.arrow(name).type for name in batch.names]
    return choice.select(pa.schema(list(zip(batch.names, kinds, strict=True))))


@dataclass(eq=False)
class InMemory(Source):
    """A table in memory; its fragments are ranges of rows, so that threads can share them."""

    batch: Batch

    @classmethod
    def opened(cls, source: Any, choice: Choice) -> InMemory:
        """Take a table in memory."""
        batch = Batch.of(source)
        n_rows = len(batch)
        if n_rows == 0:
            raise DataError(f"rows must be a table [row, node] with at least one row, got (0, {len(batch.names)})")
        made = cls(batch.form, *selected(batch, choice), f"the table of {n_rows:,} rows", batch)
        made.cut(
            Fragment(f"rows {first:,} to {last:,}", n_rows=1 + last - first, pieces=(first, last), first=first)
            for first, last in row_ranges(n_rows, choice.fragment_rows)
        )
        return made

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a fragment."""
        first, last = fragment.pieces
        return self.blocks(self.batch.part(first, last + 1))


@dataclass(eq=False)
class Batches(Source):
    """Tables in memory that come one after the other.

    Attributes
    ----------
    known
        The columns that there may be; None: any.
    """

    known: tuple[str, ...] | None

    def blocks_of(self, batches: Iterable[Any], description: str) -> Iterator[Block]:
        """Yield the rows of batches; one with other columns than the first, or of another kind, is refused."""
        for number, rows in enumerate(batches):
            batch, where = Batch.of(rows), f"batch {number} of {description}"
            if batch.form != self.form:
                raise DataError(f"{where} is of another kind than the first batch; give all in one form")
            self.check_columns(where, batch.names, "the first batch", self.known)
            yield from self.blocks(batch)


@dataclass(eq=False)
class Passing(Batches):
    """Batches that come one after the other; all of them are one fragment."""

    rows: Iterable[Any]
    is_taken: bool = field(default=False, init=False)

    @classmethod
    def opened(
        cls, rows: Iterable[Any], model: Any, choice: Choice, description: str, *, rereadable: bool = False
    ) -> Passing:
        """Take batches; ``model`` is a table with their columns."""
        batch = Batch.of(model)
        known = batch.names if choice.columns is None else None
        made = cls(batch.form, *selected(batch, choice), description, known, rows, rereadable=rereadable)
        made.cut([Fragment(description)])
        return made

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows."""
        if self.is_taken and not self.rereadable:
            raise DataError(f"{self.description} can be read once only, and it was; give files, or the source anew")
        self.is_taken = True
        return self.blocks_of(self.rows, self.description)

    def __getstate__(self) -> dict[str, Any]:
        raise DataError(f"{self.description} cannot be sent to other processes; give files, or a table in memory")


def open_batches(source: Iterable[Any], choice: Choice) -> Passing:
    """Take arrays, data frames or record batches that an iterator yields, or those in a list."""
    once = isinstance(source, Iterator)
    rows = iter(source)
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


@dataclass(eq=False)
class LazyFrame(Passing):
    """A lazy data frame of polars, computed in batches; only the needed columns are asked for."""

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows as they are computed."""
        frame: Any = self.rows
        with _computed():
            wanted = frame.select(list(self.needed))
            batches = wanted.collect_batches(chunk_size=block_rows(len(self.needed)), maintain_order=True)
            yield from self.blocks_of(batches, self.description)


def open_lazy_frame(frame: Any, choice: Choice) -> Passing:
    """Take a lazy data frame of polars."""
    import polars as pl

    if not hasattr(frame, "collect_batches"):
        raise DataError(
            f"polars {pl.__version__} cannot hand out a lazy frame in batches; update it, or write the frame with "
            "sink_parquet and give that file"
        )
    with _computed():
        model = frame.head(0).collect()
    return LazyFrame.opened(frame, model, choice, "the lazy frame", rereadable=True)


@contextmanager
def _computed() -> Iterator[None]:
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"the lazy frame cannot be computed: {first_line(error)}") from None
