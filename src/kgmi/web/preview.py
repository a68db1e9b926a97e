"""How a file begins: the names of its columns and its first rows as text, however badly the rest may fit."""

from __future__ import annotations

import csv
import io
import zlib
from pathlib import Path
from typing import Any

__all__ = ["N_ROWS", "preview"]

N_ROWS = 8
_BEGINNING = 200_000  # bytes of a text file that are looked at
_LONGEST = 60  # letters of a cell that are shown
_DELIMITERS = ",;\t|"


def preview(path: Path, most_columns: int = 60) -> dict[str, Any]:
    """``names``, ``rows`` and ``n_columns`` in all; nothing where the file cannot be read."""
    try:
        names, rows = _binary(path) if path.suffix in (".parquet", ".arrow", ".feather", ".npy") else _text(path)
    except Exception:  # noqa: BLE001  # reading it in earnest says what is wrong; this is only a look at it
        names, rows = [], []
    return {
        "names": [_short(name) for name in names[:most_columns]],
        "rows": [[_short(cell) for cell in row[:most_columns]] for row in rows[:N_ROWS]],
        "n_columns": len(names),
    }


def _short(cell: object) -> str:
    text = "" if cell is None else str(cell)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _text(path: Path) -> tuple[list[str], list[list[Any]]]:
    with path.open("rb") as stream:
        beginning = stream.read(_BEGINNING)
    if path.suffix == ".gz":
        # Only so much comes out of it as is looked at, however far the rest would swell.
        beginning = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(beginning, _BEGINNING)
    text = beginning.decode("utf-8-sig", errors="replace")
    first = text.split("\n", 1)[0]
    delimiter = "\t" if ".tsv" in path.name else max(_DELIMITERS, key=first.count)
    rows = []
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        if row:
            rows.append(row)
        if len(rows) > N_ROWS:
            break
    return rows[0], rows[1:]


def _binary(path: Path) -> tuple[list[str], list[list[Any]]]:
    if path.suffix == ".npy":
        import numpy as np

        array = np.load(path, mmap_mode="r", allow_pickle=False)
        names = [f"X{number}" for number in range(1, array.shape[1] + 1)]
        return names, array[:N_ROWS].tolist()
    if path.suffix == ".parquet":
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            batch = next(file.iter_batches(N_ROWS))
    else:
        from pyarrow import feather

        batch = feather.read_table(path, memory_map=True).slice(0, N_ROWS)
    columns = [batch.column(number).to_pylist() for number in range(batch.num_columns)]
    return list(batch.schema.names), [list(row) for row in zip(*columns, strict=True)]
