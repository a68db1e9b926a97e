"""Tables from CSV, TSV and .npy files, with errors that name the line and the column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kgmi.data.arrays import read_npy
from kgmi.data.checks import NUL_ADVICE, check_delimiter, check_names
from kgmi.data.columns import Column
from kgmi.data.encode import table_of
from kgmi.data.lines import line_of, refuse_broken
from kgmi.data.origin import Origin
from kgmi.data.rules import Alphabet, Missing, Rules
from kgmi.data.table import Table, default_names
from kgmi.errors import DataError
from kgmi.types import Names, PathLike

__all__ = ["read_table"]

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_STANDARD_INPUT = {"-", "/dev/stdin"}  # the latter may be a file on some days and a pipe on others


def read_table(
    path: PathLike,
    *,
    header: bool = True,
    states: Names | None = None,
    n_states: int | None = None,
    missing: Missing = "error",
    alphabet: Alphabet = "shared",
) -> Table:
    """Read a table of discrete states.

    Parameters
    ----------
    path
        ``.csv`` or ``.tsv`` (also with ``.gz``) in UTF-8, or ``.npy`` with whole numbers [row, column].
        Blank lines are passed over; spaces around names and values are not part of them.
    header
        Whether the first line names the columns; without one they are X1, X2, …. A first line of which every
        name is also a state is refused, because it is probably data.
    states
        The alphabet in its order. By default the texts that occur in any column: numbers by value, then texts.
        Texts that are the same number (1 and 1.0) are then refused.
        A declared state is a state even where it reads like a gap (``NA``, ``?``, …).
    n_states
        The size of the alphabet, so that whole numbers 0..S-1 are read as codes even where one never occurs.
    missing
        What a cell without a value is: an ``error``, a ``category`` (one more state, named ``missing``), or
        nothing (``pairwise``: code -1, and the row drops out of exactly the counts that need the value). The
        texts that mean «no value» are the empty one, NA, N/A, NaN, nan, null, NULL, None and ?; in ``.npy`` files
        they are NaN and, unless missing values are errors, -1.
    alphabet
        Whether all columns share one alphabet (``shared``) or each has its ``own``: the texts that occur in it.
    """
    rules = Rules(states, n_states, missing, alphabet)
    path = Path(path)
    _check_file(path)
    ending = path.suffix.lower()
    if ending == ".npy":
        return read_npy(path, rules)
    if ending == ".gz":
        ending = Path(path.stem).suffix.lower()
    if ending not in _DELIMITERS:
        raise DataError(
            f"{path} is not a .csv, .tsv, .csv.gz, .tsv.gz or .npy file; other formats are not read yet"
        )
    return _read_text(path, _DELIMITERS[ending], header, rules)


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise DataError(f"{path} is a folder; give a file in it")
    if str(path) in _STANDARD_INPUT or (path.exists() and not path.is_file()):
        # An error is looked up in a second pass, and a pipe can be read only once.
        raise DataError(f"{path}: standard input and pipes are not read; give a file")
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty")


def _read_text(path: Path, delimiter: str, header: bool, rules: Rules) -> Table:
    arrow = _arrow_table(path, delimiter, header)
    if arrow.num_columns == 1:
        check_delimiter(path, delimiter, arrow.column_names[0] if header else arrow.column(0)[0].as_py())
    names = tuple(n.strip() for n in arrow.column_names) if header else default_names(arrow.num_columns)
    if harmed := next((name for name in names if "\0" in name), None):
        raise DataError(f"line {line_of(path, delimiter, 0)} of {path}: the name {harmed!r} {NUL_ADVICE}")
    check_names(path, names)
    if arrow.num_rows == 0:
        raise DataError(f"{path} has a header but no rows")

    def place(row: int, label: str) -> str:
        return f"line {line_of(path, delimiter, row + header)} of {path} (row {row + 1}), {label}"

    columns = [_column(name, arrow.column(number)) for number, name in enumerate(names)]
    return table_of(columns, rules, Origin(str(path), place, is_text=True, has_header=header))


def _column(name: str, arrow: Any) -> Column:
    """Text is kept once per column (dictionary) and the codes alone per row."""
    encoded = arrow.combine_chunks().dictionary_encode()
    texts = tuple(encoded.dictionary.to_pylist())
    # Not np.asarray, with which PyArrow loads pandas, where there is one: longer than reading a small file.
    codes: Any = np.from_dlpack(encoded.indices)
    return Column(name, f"column '{name}'", texts, codes)


def _arrow_table(path: Path, delimiter: str, header: bool) -> Any:
    """All columns as text; where lines are ragged, a second, careful pass finds the first of them."""
    import pyarrow as pa
    from pyarrow import csv

    options = {
        "read_options": csv.ReadOptions(autogenerate_column_names=not header),
        "parse_options": csv.ParseOptions(delimiter=delimiter),
    }
    try:
        with csv.open_csv(path, **options) as reader:
            names = reader.schema.names
        text = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
        return csv.read_csv(path, convert_options=text, **options)
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
    if "columns" in reason or "multiple lines" in reason:
        refuse_broken(path, delimiter)
    if "Empty CSV" in reason:
        raise DataError(f"{path} has no rows")
    if "UTF" in reason.upper():
        reason = "it is not UTF-8 text; save it as UTF-8"
    raise DataError(f"{path} cannot be read: {reason}")
