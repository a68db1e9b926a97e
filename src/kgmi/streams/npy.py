"""Rows of ``.npy`` files, read in ranges of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from kgmi.data.table import default_names
from kgmi.errors import DataError
from kgmi.streams.blocks import array_pieces
from kgmi.streams.files import File, listed_fragments, select
from kgmi.streams.fragment import Choice, Cuts, Fragment, Piece, block_rows, row_ranges
from kgmi.streams.intact import not_gone
from kgmi.streams.listing import Found
from kgmi.streams.marks import edges_mark
from kgmi.streams.projection import Projection
from kgmi.streams.sources import Files

__all__ = ["ArrayFiles", "open_npy"]


@dataclass(frozen=True)
class _Shape:
    """What the header of a file says."""

    n_rows: int
    n_columns: int
    dtype: str
    by_column: bool
    start: int


@dataclass(frozen=True)
class ArrayFiles(Files):
    """Files of arrays, as a source of rows."""

    shapes: tuple[_Shape, ...]
    names: tuple[str, ...]

    def _batches(self, file: File, fragment: Fragment) -> Iterator[Any]:
        shape = self.shapes[fragment.file]
        first, last = fragment.pieces
        most = block_rows(shape.n_columns)
        with file.path.open("rb") as stream:
            for start in range(first, last, most):
                yield _rows(stream, shape, start, min(start + most, last))

    def _pieces(self, batch: Any, file: File) -> Iterator[Piece]:
        return array_pieces(batch, self.names, self.columns, self.filter)


def open_npy(found: Found, choice: Choice) -> ArrayFiles:
    """Array files as a source; their headers are read."""
    if found.keys:
        raise DataError(f"{found.paths[0]}: arrays in folders that are named like {found.keys[0]}=… are not read")
    shapes, marks = [], []
    for path in found.paths:
        with not_gone(path):
            marks.append(edges_mark(path))
            shapes.append(_shape(path))
        if shapes[-1].n_columns != shapes[0].n_columns:
            raise DataError(
                f"{path} has {shapes[-1].n_columns} columns, {found.paths[0]} has {shapes[0].n_columns}; give "
                "arrays with the same columns"
            )
    names = default_names(shapes[0].n_columns)
    projection = Projection(*select(names, choice), frozenset(names))
    files = tuple(File(path, mark, {}) for path, mark in zip(found.paths, marks, strict=True))

    def cut(number: int) -> Cuts:
        ranges = row_ranges(shapes[number].n_rows, choice.fragment_rows)
        return [((first, last), first, last - first) for first, last in ranges]

    fragments = listed_fragments(files, cut, projection, "rows")
    return ArrayFiles(projection, fragments, found.description, files, "numbers", tuple(shapes), names)


def _shape(path: Path) -> _Shape:
    """The header of a file, checked against its size."""
    fmt = np.lib.format
    try:
        with path.open("rb") as stream:
            version = fmt.read_magic(stream)
            if version > (2, 0):  # only names of fields that are not ASCII need it
                raise ValueError("it has named fields")
            read = fmt.read_array_header_1_0 if version == (1, 0) else fmt.read_array_header_2_0
            shape, by_column, dtype = read(stream)
            start = stream.tell()
            held = path.stat().st_size - start
    except (ValueError, EOFError, OverflowError, SyntaxError, TypeError, TokenError) as error:
        raise DataError(f"{path} cannot be read as a .npy array: {error}; save whole numbers") from None
    if len(shape) != 2 or min(shape) < 1:
        raise DataError(f"{path}: rows must be a table [row, node] with at least one row and column, got {shape}")
    if dtype.hasobject or dtype.kind not in "iubf":
        raise DataError(f"{path} cannot be read as a .npy array: it is of type {dtype}; save whole numbers")
    claimed = prod(shape) * int(dtype.itemsize)  # whole numbers of Python, which do not overflow
    if claimed != held:
        raise DataError(
            f"{path}: its header announces {claimed:,} bytes of values, but {held:,} follow; write it again"
        )
    return _Shape(int(shape[0]), int(shape[1]), dtype.str, bool(by_column), start)


def _rows(stream: Any, shape: _Shape, first: int, last: int) -> np.ndarray[Any, np.dtype[Any]]:
    """Some rows; read, not mapped, so that a file that is cut off meanwhile is an error and not the end."""
    dtype = np.dtype(shape.dtype)
    n_rows = last - first
    if shape.by_column:
        block = np.empty((shape.n_columns, n_rows), dtype=dtype)
        for number in range(shape.n_columns):
            stream.seek(shape.start + (number * shape.n_rows + first) * dtype.itemsize)
            block[number] = _values(stream, dtype, n_rows)
        return block.T
    stream.seek(shape.start + first * shape.n_columns * dtype.itemsize)
    return _values(stream, dtype, n_rows * shape.n_columns).reshape(n_rows, shape.n_columns)


def _values(stream: Any, dtype: np.dtype[Any], count: int) -> np.ndarray[Any, np.dtype[Any]]:
    data = stream.read(count * dtype.itemsize)
    if len(data) < count * dtype.itemsize:
        raise EOFError("it ends before its last row")
    return np.frombuffer(data, dtype=dtype)
