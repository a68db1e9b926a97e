"""``read_table``: tables from files, with errors that name the line or row and the column."""

from __future__ import annotations

from pathlib import Path

from kgmi.data.arrays import read_npy
from kgmi.data.arrow import read_arrow
from kgmi.data.checks import NUL_ADVICE, check_delimiter, check_names
from kgmi.data.encode import table_of
from kgmi.data.kinds import ARROW_ENDINGS, DELIMITERS, check_content, check_file, ending_of, refuse_ending
from kgmi.data.lines import line_of
from kgmi.data.origin import Origin
from kgmi.data.rules import Alphabet, Missing, Rules
from kgmi.data.table import Table, default_names
from kgmi.data.text import Dialect, read_columns, text_column
from kgmi.errors import DataError
from kgmi.types import Names, PathLike

__all__ = ["read_table"]


def read_table(
    path: PathLike,
    *,
    header: bool = True,
    states: Names | None = None,
    n_states: int | None = None,
    missing: Missing = "error",
    alphabet: Alphabet = "auto",
) -> Table:
    """Read a table of discrete states.

    Parameters
    ----------
    path
        ``.csv`` or ``.tsv`` (also with ``.gz``) in UTF-8; ``.parquet``, ``.feather``, ``.arrow`` or ``.ipc``, which
        are read like the data frame that they hold (:func:`kgmi.data.as_table`); or ``.npy`` with whole numbers
        [row, column]. In text, blank lines are passed over, and spaces around names and values are not part of
        them. What pandas wrote for the index of a frame is no column.
    header
        Whether the first line of a text file names the columns; without one they are X1, X2, …. A first line of
        which every name is also a state is refused, because it is probably data.
    states
        The alphabet in its order. By default the texts that occur in any column: numbers by value, then texts.
        Texts that are the same number (1 and 1.0) are then refused.
        A declared state is a state even where it reads like a gap (``NA``, ``?``, …).
    n_states
        The size of the alphabet, so that whole numbers 0..S-1 are read as codes even where one never occurs.
    missing
        What a cell without a value is: an ``error``, a ``category`` (one more state, named ``missing``), or
        nothing (``pairwise``: code -1, and the row drops out of exactly the counts that need the value). The
        texts that mean «no value» are the empty one, NA, N/A, NaN, nan, null, NULL, None, ?, ./. and .|.; in
        ``.npy`` files they are NaN and, unless missing values are errors, -1.
    alphabet
        Whether all columns share one alphabet (``shared``), each has its ``own``, the texts that occur in it, or
        columns over one set of texts share it and the others have their own (``auto``).
    """
    rules = Rules(states, n_states, missing, alphabet)
    path = Path(path)
    check_file(path)
    ending = ending_of(path)
    if ending == ".npy":
        return read_npy(path, rules)
    if ending in ARROW_ENDINGS:
        return read_arrow(path, header, rules)
    if ending not in DELIMITERS:
        raise refuse_ending(path)
    return _read_text(path, DELIMITERS[ending], header, rules)


def _read_text(path: Path, delimiter: str, header: bool, rules: Rules) -> Table:
    check_content(path)
    arrow = read_columns(path, Dialect(delimiter), header)
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

    columns = [text_column(name, arrow.column(number)) for number, name in enumerate(names)]
    return table_of(columns, rules, Origin(str(path), place, is_text=True, has_header=header))
