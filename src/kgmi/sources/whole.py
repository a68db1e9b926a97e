"""Files as they are, for what looks at their values before it knows what they mean."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.errors import DataError, first_line
from kgmi.sources.arrow import check_kind, declares, pandas_index, part_of
from kgmi.sources.found import LOOSE_TEXT, Held, check_file, check_start, ending_of, kind_of, read_errors, refuse
from kgmi.sources.memory import npy_header

__all__ = ["whole_file"]


def whole_file(path: Path) -> Any:
    """Return a file as it is: an Arrow table, an array, or the bytes of a text file, unpacked."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; give a file in it")
    check_file(path)
    kind = "text" if ending_of(path) in LOOSE_TEXT else kind_of(path) or refuse(path)
    held = Held.of(path, keep=True)
    if kind == "NumPy":
        npy_header(held)
        with read_errors(path), held.open() as stream:
            return np.load(stream, allow_pickle=False)
    if kind == "text":
        content = held.content or b""
        check_start(path, content[:8])
        try:
            return gzip.decompress(content) if path.suffix.lower() == ".gz" else content
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path} cannot be read: {first_line(error)}") from None
    check_kind(held, kind)
    with read_errors(path):
        table = part_of(held, kind).to_table()
        table = table.drop_columns(sorted(pandas_index(table.schema) & {*table.column_names}))
        for number, one in enumerate(table.schema):
            if hasattr(one.type, "value_type") and hasattr(one.type, "ordered") and not declares(one):
                table = table.set_column(number, one.name, table.column(number).cast(one.type.value_type))
        return table
