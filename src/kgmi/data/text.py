"""Text files as columns of texts: CSV, TSV and their relatives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.data.columns import Column
from kgmi.data.kinds import PREPARE_ADVICE
from kgmi.data.lines import refuse_broken
from kgmi.errors import DataError, TooLargeError
from kgmi.memory import thread_failures

__all__ = ["Dialect", "csv_options", "read_columns", "text_column", "unreadable"]


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Attributes
    ----------
    delimiter
        What stands between the columns.
    encoding
        How its bytes are letters; ``utf-8-sig`` is UTF-8 with or without a mark at the start.
    skipped
        Lines before the first that is read.
    several_lines
        Whether a value in quotes may run over the end of a line.
    """

    delimiter: str
    encoding: str = "utf-8-sig"
    skipped: int = 0
    several_lines: bool = False


def read_columns(path: Path, dialect: Dialect, header: bool) -> Any:
    """All columns as text; where lines are ragged, a second, careful pass finds the first of them."""
    import pyarrow as pa
    from pyarrow import csv

    options = csv_options(dialect, header)
    try:
        with thread_failures():
            with csv.open_csv(path, **options) as reader:
                names = reader.schema.names
            text = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
            return csv.read_csv(path, convert_options=text, **options)
    except MemoryError:
        raise TooLargeError(f"{path} does not fit into memory; give a part of its rows or columns") from None
    except (pa.ArrowException, OSError, UnicodeError) as error:
        reason = str(error).splitlines()[0]
    raise unreadable(path, dialect, reason)


def csv_options(dialect: Dialect, header: bool, **reading: Any) -> dict[str, Any]:
    """What PyArrow has to know about a text file; ``reading``: further options of how it is read."""
    from pyarrow import csv

    return {
        "read_options": csv.ReadOptions(
            autogenerate_column_names=not header,
            skip_rows=dialect.skipped,
            encoding="utf8" if dialect.encoding == "utf-8-sig" else dialect.encoding,
            **reading,
        ),
        "parse_options": csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=dialect.several_lines),
    }


def unreadable(path: Path, dialect: Dialect, reason: str) -> DataError:
    """The error on a text file that PyArrow cannot read for this reason; the line is found where it is one."""
    if "columns" in reason or "multiple lines" in reason:
        refuse_broken(path, dialect.delimiter, dialect.encoding, dialect.skipped)
    if "Empty CSV" in reason:
        return DataError(f"{path} has no rows")
    if "charmap" in reason:
        reason = "it is neither UTF-8 nor Windows text; is it a table at all? Save it as UTF-8"
    elif "UTF" in reason.upper():
        reason = f"it is not UTF-8 text; save it as UTF-8, {PREPARE_ADVICE}"
    return DataError(f"{path} cannot be read: {reason}")


def text_column(name: str, arrow: Any) -> Column:
    """Text is kept once per column (dictionary) and the codes alone per row."""
    encoded = arrow.combine_chunks().dictionary_encode()
    texts = tuple(encoded.dictionary.to_pylist())
    # Not np.asarray, with which PyArrow loads pandas, where there is one: longer than reading a small file.
    codes: Any = np.from_dlpack(encoded.indices)
    return Column(name, f"column '{name}'", texts, codes)
