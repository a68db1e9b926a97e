"""Arrays in files, tables in memory, and batches that come one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.cells import cells_of_array, cells_of_series, check_names
from kgmi.errors import DataError, first_line
from kgmi.sources.base import Block, Choice, Form, Fragment, block_rows
from kgmi.sources.found import Files, Held, fragment_marks, hashed, held_files, read_errors
from kgmi.table import array_of, as_frame, default_names, row_place
from kgmi.where import Filter

__all__ = [
    "ArrayFiles",
    "Batch",
    "InMemory",
    "LazyFrame",
    "Passing",
    "RecordReader",
    "passing",
    "passing_batches",
]


_ROW = "row number of kgmi"


@dataclass(eq=False)
class ArrayFiles(Files):
    """Files of ``numpy.save``, read in ranges of rows."""

    shapes: tuple[tuple[tuple[int, int], bool, str, int], ...] = ()  # shape, by column, type, first byte

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
        held, shapes = held_files(paths), []
        for path, one in zip(paths, held, strict=True):
            shapes.append(npy_header(one))
            if shapes[-1][0][1] != shapes[0][0][1]:
                raise DataError(
                    f"{path} has {shapes[-1][0][1]} columns, {paths[0]} has {shapes[0][0][1]}; give arrays "
                    "with the same columns"
                )
        names = default_names(shapes[0][0][1])
        kind = {"f": pa.float64(), "b": pa.bool_(), "u": pa.uint64(), "i": pa.int64()}[np.dtype(shapes[0][2]).kind]
        columns, where = choice.select(pa.schema([(name, kind) for name in names]))
        marks, text = fragment_marks(held), "" if where is None else where.text
        made: list[Fragment] = []
        for file, (path, (shape, *_)) in enumerate(zip(paths, shapes, strict=True)):
            n_parts = -(-shape[0] // choice.fragment_rows)
            for first, last in pairwise(shape[0] * part // n_parts for part in range(n_parts + 1)):
                mark = hashed(marks[file], (first, last), columns, text)
                label = str(path) if n_parts == 1 else f"{path}, rows {first:,} to {last - 1:,}"
                known = last - first if where is None else None
                start = first if where is None else 0
                made.append(Fragment(len(made), label, mark, known, file, (first, last), start))
        return cls("array", columns, where, tuple(made), description, held, constants, tuple(shapes))

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield some rows; read, not mapped, so that a file that is cut off meanwhile is an error."""
        held, (shape, by_column, dtype, start) = self.held[fragment.file], self.shapes[fragment.file]
        names, size = default_names(shape[1]), np.dtype(dtype).itemsize
        with read_errors(held.path, held), held.open() as stream:
            first, last = fragment.pieces
            for row in range(first, last, most := block_rows(shape[1])):
                n_rows = min(most, last - row)
                block = np.empty((n_rows, shape[1]), dtype=dtype, order="F" if by_column else "C")
                for number, line in enumerate(block.T if by_column else block[None]):
                    stream.seek(start + size * (number * shape[0] + row if by_column else row * shape[1]))
                    data = stream.read(line.nbytes)
                    if len(data) < line.nbytes:
                        raise EOFError("it ends before its last row")
                    line[...] = np.frombuffer(data, dtype=dtype).reshape(line.shape)
                yield from Batch(block, names, "array").blocks(self.columns, self.filter)
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


@dataclass(frozen=True, eq=False)
class Batch:
    """A table in memory: an array, or a data frame that narwhals knows."""

    rows: Any
    names: tuple[str, ...]
    form: Form

    @classmethod
    def of(cls, rows: Any) -> Batch:
        """Take a table of any kind."""
        import pyarrow as pa

        if isinstance(rows, pa.RecordBatch):
            rows = pa.Table.from_batches([rows])
        frame = as_frame(rows)
        if frame is not None:
            names = tuple(str(name) for name in frame.columns)
            if not names:
                raise DataError("rows must be a table [row, node] with at least one row and column, got no column")
            check_names("the table", names)
            return cls(frame, names, "typed")
        if isinstance(rows, list | tuple):
            rows = array_of(rows)
        if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.shape[1] == 0:
            raise DataError(
                "rows must come as arrays [row, column], data frames, or Arrow tables or record batches, got "
                f"{type(rows).__name__}{rows.shape if isinstance(rows, np.ndarray) else ''}"
            )
        return cls(rows, default_names(rows.shape[1]), "array")

    @property
    def schema(self) -> Any:
        """The types by which columns are filtered."""
        import pyarrow as pa

        head = self.part(0, 1)
        return pa.schema([(name, head._arrow(name).type) for name in self.names])

    def part(self, first: int, last: int) -> Batch:
        """Return some of the rows."""
        return Batch(self.rows[first:last], self.names, self.form)

    def blocks(self, columns: Sequence[str], where: Filter | None) -> Iterator[Block]:
        """Yield these columns, of the rows that pass, in blocks."""
        import pyarrow as pa

        read = cells_of_array if self.form == "array" else cells_of_series
        for start in range(0, len(self.rows), most := block_rows(len(columns))):
            block = self.part(start, start + most)
            cells = [read(block._column(name), name) for name in columns]
            if where is None:
                yield cells, len(block.rows)
                continue
            content = {name: block._arrow(name) for name in where.columns}
            table = pa.table({**content, _ROW: pa.array(np.arange(len(block.rows)))})
            rows = where.passing(table).column(_ROW).to_numpy()
            if len(rows):
                yield [one.taken(rows) for one in cells], len(rows)

    def _column(self, name: str) -> Any:
        place = self.names.index(name)
        return self.rows[:, place] if self.form == "array" else self.rows.get_column(self.rows.columns[place])

    def _arrow(self, name: str) -> Any:
        """Return a column as an Arrow array, in which cells can be compared."""
        import pyarrow as pa

        column = self._column(name)
        if self.form == "typed":
            made = column.to_arrow()
            return made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made
        try:
            return pa.array(column.astype(np.float64).tolist() if column.dtype.kind == "f" else column.tolist())
        except (pa.ArrowException, TypeError) as error:
            raise DataError(f"where: cells of column {name!r} cannot be compared: {first_line(error)}") from None


@dataclass(eq=False)
class InMemory:
    """A table in memory; its fragments are ranges of rows, so that threads can share them."""

    batch: Batch
    form: Form
    columns: tuple[str, ...]
    filter: Filter | None
    fragments: tuple[Fragment, ...]
    description: str
    rereadable: bool = True

    @classmethod
    def opened(cls, source: Any, choice: Choice) -> InMemory:
        """Take a table in memory."""
        batch = Batch.of(source)
        n_rows = len(batch.rows)
        if n_rows == 0:
            raise DataError(f"rows must be a table [row, node] with at least one row, got (0, {len(batch.names)})")
        columns, where = choice.select(batch.schema if choice.where is not None else _names_only(batch.names))
        n_parts = -(-n_rows // choice.fragment_rows)
        ranges = list(pairwise(n_rows * part // n_parts for part in range(n_parts + 1)))
        fragments = tuple(
            Fragment(
                k,
                f"rows {first:,} to {last - 1:,}",
                n_rows=None if where else last - first,
                pieces=(first, last),
                first=0 if where else first,
            )
            for k, (first, last) in enumerate(ranges)
        )
        return cls(batch, batch.form, columns, where, fragments, f"the table of {n_rows:,} rows")

    @property
    def marks(self) -> dict[str, str]:
        """No files."""
        return {}

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a fragment."""
        return self.batch.part(*fragment.pieces).blocks(self.columns, self.filter)

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Return a function that says where a cell is."""
        first = fragment.pieces[0]
        if self.filter is None:
            return row_place
        return lambda row, name: f"row {row} of those from row {first} that pass the filter, column '{name}'"


def _names_only(names: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.schema([(name, pa.null()) for name in names])


@dataclass(eq=False)
class Passing:
    """Batches that come one after the other; all of them are one fragment."""

    rows: Any
    model: Batch
    form: Form
    columns: tuple[str, ...]
    filter: Filter | None
    fragments: tuple[Fragment, ...]
    every: bool
    description: str
    rereadable: bool
    is_taken: bool = field(default=False, init=False)

    @property
    def marks(self) -> dict[str, str]:
        """No files."""
        return {}

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows."""
        if self.is_taken and not self.rereadable:
            raise DataError(f"{self.description} can be read once only, and it was; give files, or the source anew")
        self.is_taken = True
        for number, rows in enumerate(self.batches()):
            batch = Batch.of(rows)
            self._check(batch, number)
            yield from batch.blocks(self.columns, self.filter)

    def batches(self) -> Iterator[Any]:
        """Yield the batches as they come."""
        yield from self.rows

    def _check(self, batch: Batch, number: int) -> None:
        """Refuse a batch with other columns than the first, or whose cells are read in another way."""
        where = f"batch {number} of {self.description}"
        if batch.form != self.form:
            raise DataError(f"{where} is of another kind than the first batch; give all in one form")
        needed = (*self.columns, *(() if self.filter is None else self.filter.columns))
        lacking = next((name for name in needed if name not in batch.names), None)
        further = next((name for name in batch.names if name not in self.model.names), None)
        if lacking is not None:
            raise DataError(f"{where} has no column {lacking!r}, which the first batch has")
        if further is not None and self.every:
            raise DataError(f"{where} has a column {further!r} that the first batch does not have; say columns=…")

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Return a function that says where a cell is."""
        which = "" if self.filter is None else " of those that pass the filter"
        return lambda row, name: f"row {row}{which}, column '{name}'"

    def __getstate__(self) -> dict[str, Any]:
        raise DataError(f"{self.description} cannot be sent to other processes; give files, or a table in memory")


def passing(
    rows: Any, model: Batch, choice: Choice, description: str, *, rereadable: bool, made: type[Passing] = Passing
) -> Passing:
    """Return batches as a source; ``model`` has their columns."""
    columns, where = choice.select(model.schema if choice.where is not None else _names_only(model.names))
    fragments, every = (Fragment(0, description),), choice.columns is None
    return made(rows, model.part(0, 0), model.form, columns, where, fragments, every, description, rereadable)


def passing_batches(source: Iterable[Any], choice: Choice) -> Passing:
    """Take arrays, data frames or record batches that an iterator hands out, or a list that has them."""
    once = isinstance(source, Iterator)
    rows = iter(source)
    first = next(rows, None)
    if first is None:
        raise DataError("the iterator hands out no batch, so there are no rows")
    description = f"the {'iterator' if once else 'list'} of batches ({type(source).__name__})"
    given = chain([first], rows) if once else source
    return passing(given, Batch.of(first), choice, description, rereadable=not once)


class RecordReader(Passing):
    """Record batches of Arrow."""

    @classmethod
    def opened(cls, source: Any, choice: Choice) -> Passing:
        """Take anything that hands out record batches."""
        import pyarrow as pa

        description = f"the record-batch reader ({type(source).__name__})"
        with read_errors(description):
            reader = (
                source if isinstance(source, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(source)
            )
            model = Batch.of(reader.schema.empty_table())
        return passing(reader, model, choice, description, rereadable=False, made=cls)

    def batches(self) -> Iterator[Any]:
        """Yield the batches as they come."""
        with read_errors(self.description):
            yield from self.rows


class LazyFrame(Passing):
    """A lazy data frame of polars, computed in batches; only the needed columns are asked for."""

    @classmethod
    def opened(cls, frame: Any, choice: Choice) -> Passing:
        """Take a lazy data frame."""
        import polars as pl

        if not hasattr(frame, "collect_batches"):
            raise DataError(
                f"polars {pl.__version__} cannot hand out a lazy frame in batches; update it, or write the frame "
                "with sink_parquet and give that file"
            )
        with _computed():
            model = Batch.of(frame.head(0).collect())
        found = passing(frame, model, choice, "the lazy frame", rereadable=True, made=cls)
        found.every = False
        return found

    def batches(self) -> Iterator[Any]:
        """Yield the rows as they are computed."""
        needed = list(dict.fromkeys((*self.columns, *(() if self.filter is None else self.filter.columns))))
        with _computed():
            yield from self.rows.select(needed).collect_batches(
                chunk_size=block_rows(len(needed)), maintain_order=True
            )


@contextmanager
def _computed() -> Iterator[None]:
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"the lazy frame cannot be computed: {first_line(error)}") from None
