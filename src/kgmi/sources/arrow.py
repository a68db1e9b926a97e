"""Files with typed columns: Parquet, Feather and Arrow, datasets of PyArrow, and arrays of NumPy.

Imported when such files are opened, because PyArrow takes a while to load.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from pyarrow import dataset, fs, parquet, types

from kgmi.cells import Form
from kgmi.errors import DataError, first_line
from kgmi.sources.base import Choice, Fragment, block_rows, ranges
from kgmi.sources.files import File, Files, declared, read_errors
from kgmi.table import Batch, default_names
from kgmi.where import Filter

FORMATS = {"Parquet": dataset.ParquetFileFormat(), "Arrow": dataset.IpcFileFormat()}
"""How files of a kind are read."""
_STREAM_END = b"\xff" * 4 + bytes(4)  # how saved streams of Arrow end; they begin with its first half


@dataclass(eq=False, kw_only=True)
class ArrowFile(File):
    """A Parquet or Arrow file, or another file of a dataset."""

    format: Any  # of pyarrow.dataset
    expression: Any = None  # what a dataset knows of all rows of the file

    unit: ClassVar[str] = "row groups"

    @cached_property
    def part(self) -> Any:
        """The file as a fragment of ``pyarrow.dataset``; None for a saved stream, of which there are none."""
        if isinstance(self.format, dataset.IpcFileFormat):
            with self.open() as stream:
                if stream.read(4) == _STREAM_END[:4]:
                    stream.seek(-len(_STREAM_END), 2)
                    if stream.read() != _STREAM_END:
                        raise EOFError("it has no end")
                    return None
        if self.content is not None:
            return self.format.make_fragment(pa.py_buffer(self.content))
        return self.format.make_fragment(self.path, self.system or fs.LocalFileSystem(), self.expression)

    @cached_property
    def schema(self) -> Any:
        """Names and Arrow types of its columns, without those that pandas wrote for the index of a frame."""
        with read_errors(self.path), self.open() as stream:
            own = pa.ipc.open_stream(stream).schema if self.part is None else self.part.physical_schema
            return _without_index(own)

    def pieces(self, most: int, where: Filter | None) -> Sequence[Fragment]:
        """Return neighbouring row groups of a Parquet file, in which rows may pass; others are not cut."""
        if not hasattr(self.part, "row_groups"):
            return [Fragment()]
        schema, sizes = self.part.physical_schema, [group.num_rows for group in self.part.row_groups]
        kept = list(range(len(sizes)))
        asked = None if where is None else where.on(schema)
        if asked is not None:
            kept = [group.id for group in self.part.subset(filter=asked).row_groups]
        ends = list(accumulate(sizes, initial=0))
        groups: list[list[int]] = []
        for number in (number for number in kept if sizes[number]):
            if groups and groups[-1][-1] == number - 1 and ends[number + 1] - ends[groups[-1][0]] <= most:
                groups[-1].append(number)
            else:
                groups.append([number])
        return [
            Fragment(n_rows=ends[group[-1] + 1] - ends[group[0]], pieces=tuple(group), first=ends[group[0]])
            for group in groups
        ]

    def batches(self, fragment: Fragment, names: Sequence[str]) -> Iterator[Any]:
        """Yield some columns of a piece as Arrow record batches."""
        size = block_rows(len(names))
        if self.part is None:
            with self.open() as stream:
                yield from (batch.select(names) for batch in pa.ipc.open_stream(stream))
        elif not fragment.pieces:
            options = {"use_threads": False, "batch_readahead": 1, "fragment_readahead": 1}
            yield from self.part.to_batches(columns=names, batch_size=size, **options)
        else:
            # A block of rows at a time: PyArrow's datasets would unpack a whole row group. No memory map: a file
            # that is cut off meanwhile would end the process.
            texts = [one.name for one in self.schema if not types.is_nested(one.type)]
            with self.part.open() as stream:
                reader = parquet.ParquetFile(
                    stream,
                    metadata=self.part.metadata,
                    read_dictionary=[*{*names}.intersection(texts).difference(declared(self.schema))],
                    buffer_size=1 << 20,
                    pre_buffer=False,
                    page_checksum_verification=True,
                )
                # One thread: the caller has threads of its own, each with a fragment.
                yield from reader.iter_batches(size, row_groups=fragment.pieces, columns=names, use_threads=False)


def open_dataset(source: Any, choice: Choice) -> Files:
    """Open a dataset of PyArrow, whose files may lie anywhere that PyArrow can reach."""
    try:
        parts = list(source.get_fragments())
    except ValueError:
        raise DataError(
            "this dataset was filtered or projected; give it as it was opened, with where=… and columns=…"
        ) from None
    if not parts:
        raise DataError("this dataset has no files")
    held = []
    for part in parts:
        system = None if part.filesystem.type_name == "local" else part.filesystem
        constants = dict(dataset.get_partition_keys(part.partition_expression))
        more = {"format": part.format, "expression": part.partition_expression}
        held.append(ArrowFile(part.path, system, constants, **more).look())
    return Files.opened(tuple(held), choice, f"a dataset of {len(parts):,} files", _without_index(source.schema))


def _without_index(schema: Any) -> Any:
    """Return a schema without the columns that pandas wrote for the index of a frame."""
    try:
        index = list(json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", []))
    except (ValueError, AttributeError, TypeError):  # it is damaged
        index = []
    return pa.schema([one for one in schema if one.name not in index])


@dataclass(eq=False)
class ArrayFile(File):
    """A file of ``numpy.save``, read in ranges of rows."""

    form: ClassVar[Form] = "array"

    @cached_property
    def layout(self) -> tuple[tuple[int, int], bool, np.dtype[Any], int]:
        """Its shape, whether columns lie one after the other, the type, and the place of the first cell."""
        try:
            with self.open() as stream:
                readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
                shape, by_column, dtype = readers[np.lib.format.read_magic(stream)](stream)
                start = stream.tell()
            if 0 in shape:
                raise ValueError("it has no rows, or no columns")
            if len(shape) != 2 or min(shape) < 0 or dtype.kind not in "iubf" or dtype.itemsize > 8:
                raise ValueError(f"it holds {dtype} of shape {shape}, not numbers [row, column]")
            if prod(shape) * int(dtype.itemsize) != self.size - start:
                raise ValueError(f"it announces {prod(shape):,} values, and {self.size - start:,} bytes follow")
        except Exception as error:  # headers are literals of Python, whose parser fails in many ways
            problem = f"{self.path} cannot be read as a .npy array: {first_line(error)}; save it again"
            raise DataError(problem) from error
        return (int(shape[0]), int(shape[1])), bool(by_column), dtype, start

    @property
    def schema(self) -> Any:
        """Names and Arrow types of its columns."""
        (_, n_columns), _, dtype, _ = self.layout
        return pa.schema([(name, pa.from_numpy_dtype(dtype)) for name in default_names(n_columns)])

    def pieces(self, most: int, where: Filter | None) -> Sequence[Fragment]:
        """Return ranges of rows."""
        return ranges(self.layout[0][0], most)

    def batches(self, fragment: Fragment, names: Sequence[str]) -> Iterator[Any]:
        """Yield some columns of a range of rows; read, not mapped, so that a file that is cut off is an error."""
        shape, by_column, dtype, start = self.layout
        wanted = [default_names(shape[1]).index(name) for name in names]
        first, last = fragment.pieces
        with self.open() as stream:

            def numbers(place: int, count: int) -> Any:
                stream.seek(start + place * dtype.itemsize)
                read = np.frombuffer(stream.read(count * dtype.itemsize), dtype)
                return read.astype(dtype.newbyteorder("="), copy=False)

            for row in range(first, last + 1, most := block_rows(shape[1])):
                count = min(most, last + 1 - row)
                if by_column:
                    columns = [numbers(column * shape[0] + row, count) for column in wanted]
                else:
                    block = numbers(row * shape[1], count * shape[1]).reshape(count, shape[1])
                    columns = [np.ascontiguousarray(block[:, column]) for column in wanted]
                yield pa.record_batch([pa.array(column) for column in columns], [*names])

    def whole(self) -> Batch:
        """Return the array."""
        with self.open() as stream:
            array = np.load(stream, allow_pickle=False)
        if array.ndim != 2:
            raise DataError(
                f"{self.path} holds an array of shape {array.shape}, not rows and columns; save a table"
            )
        return Batch.of(array)
