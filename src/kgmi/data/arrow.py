"""Tables from Parquet, Feather and Arrow files, by the rules for data frames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kgmi.data.convert import as_table
from kgmi.data.rules import Rules
from kgmi.data.table import Table
from kgmi.errors import DataError, TooLargeError
from kgmi.memory import free_bytes, shown_bytes, thread_failures

__all__ = ["NO_HEADER", "arrow_table", "declares_nothing", "index_names", "read_arrow"]

_CELL_BYTES = 8  # of every cell, while its column becomes codes
NO_HEADER = "its columns have names, so that header=False (--no-header) means nothing; leave it out"
"""What is wrong about that option where files have typed columns."""


def read_arrow(path: Path, header: bool, rules: Rules) -> Table:
    """The same table as the data frame that pandas, polars or PyArrow read from the file."""
    table = arrow_table(path, header)
    try:
        return as_table(
            table, states=rules.states, n_states=rules.n_states, missing=rules.missing, alphabet=rules.alphabet
        )
    except DataError as error:
        raise type(error)(f"{path}: {error}") from None


def arrow_table(path: Path, header: bool = True) -> Any:
    """The columns of a file as a PyArrow table, without those that pandas wrote for the index."""
    import pyarrow as pa

    if not header:
        raise DataError(f"{path}: {NO_HEADER}")
    with path.open("rb") as stream:
        start = stream.read(6)
    try:
        with thread_failures():
            table = _parquet(path) if start[:4] == b"PAR1" else _ipc(path, start)
        table.validate(full=True)  # what is wrong within a column would end the process when it is looked at
    except MemoryError:
        raise TooLargeError(f"{path} does not fit into memory; give a part of its rows or columns") from None
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        if isinstance(error, DataError | TooLargeError):
            raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} cannot be read, it may be damaged or cut off: {reason}; write it again") from None
    table = _without_index(table)
    if table.num_columns == 0:
        raise DataError(f"{path} has no columns")
    if table.num_rows == 0:
        raise DataError(f"{path} has columns but no rows")
    _check_size(path, table.num_rows, table.num_columns)
    return _without_shared_categories(table)


def _parquet(path: Path) -> Any:
    from pyarrow import parquet

    with parquet.ParquetFile(path, memory_map=True) as file:
        _check_size(path, file.metadata.num_rows, file.metadata.num_columns)
        return file.read()


def _ipc(path: Path, start: bytes) -> Any:
    """An Arrow file (Feather is one) or a stream; the columns stay on disk until they are looked at."""
    import pyarrow as pa

    if start == b"ARROW1":
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    if start[:4] == b"\xff\xff\xff\xff":
        return pa.ipc.open_stream(pa.memory_map(str(path))).read_all()
    if start[:4] == b"FEA1":
        raise DataError(
            f"{path} is a Feather file of the old version 1; write it again as version 2, or as Parquet"
        )
    raise DataError(
        f"{path} does not start like a Parquet, Feather or Arrow file; if it is text, name it .csv or .tsv"
    )


def _check_size(path: Path, n_rows: int, n_columns: int) -> None:
    """Refuse what will not fit into memory, before it is unpacked: a few bytes may stand for many equal cells."""
    needed, free = n_rows * n_columns * _CELL_BYTES, free_bytes()
    if free is not None and needed > free:
        raise TooLargeError(
            f"{path} has {n_rows:,} rows of {n_columns:,} columns, about {shown_bytes(needed)} of memory, and "
            f"{shown_bytes(free)} are free; give a part of its rows or columns"
        )


def _without_index(table: Any) -> Any:
    """Without the columns that pandas keeps beside the frame: they name rows, as they do in memory."""
    named = index_names(table.schema)
    kept = [number for number, name in enumerate(table.column_names) if name not in named]
    return table if len(kept) == table.num_columns else table.select(kept)


def index_names(schema: Any) -> set[str]:
    """The columns of a PyArrow schema that pandas wrote for the index of a frame."""
    try:
        index = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    except (ValueError, AttributeError):
        return set()
    return {name for name in index if isinstance(name, str)} if isinstance(index, list) else set()


def declares_nothing(field: Any) -> bool:
    """Whether the values of a PyArrow field's dictionary belong to all Categorical columns of polars."""
    return any(key.startswith(b"_PL_CATEGORICAL") for key in field.metadata or {})


def _without_shared_categories(table: Any) -> Any:
    """A Categorical of polars as text: its list of values belongs to all such columns and declares nothing."""
    import pyarrow as pa

    text = pa.large_string()
    for number, field in enumerate(table.schema):
        if declares_nothing(field) and pa.types.is_dictionary(field.type):
            # Not a cast of the column: PyArrow has none where the texts are views, as polars writes them.
            pieces = [piece.dictionary.cast(text).take(piece.indices) for piece in table.column(number).chunks]
            table = table.set_column(number, field.name, pa.chunked_array(pieces, text))
    return table
