"""Tables from CSV, TSV and .npy files, with errors that name the line and the column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.data.codes import checked_codes
from kgmi.data.lines import line_of, refuse_broken
from kgmi.data.table import MISSING, Table, as_codes, choose_states, default_names
from kgmi.errors import DataError
from kgmi.types import Bools, Names, PathLike

__all__ = ["read_table"]

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_MOST_STATES = 1_000  # more different texts than this are measurements or identifiers, not states


def read_table(
    path: PathLike, *, header: bool = True, states: Names | None = None, n_states: int | None = None
) -> Table:
    """Read a table of discrete states.

    Parameters
    ----------
    path
        ``.csv`` or ``.tsv`` (also with ``.gz``) in UTF-8, or ``.npy`` with whole-number codes [row, column].
        Blank lines are passed over; spaces around names and values are not part of them.
    header
        Whether the first line names the columns; without one they are X1, X2, ….
    states
        The alphabet in its order. By default the texts that occur in any column: numbers by value, then texts.
        A declared state is a state even where it reads like a gap (``NA``, ``?``, …).
    n_states
        The size of the alphabet, so that whole numbers 0..S-1 are read as codes even where one never occurs.
    """
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder; give a file in it")
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty")
    ending = path.suffix.lower()
    if ending == ".npy":
        return _read_npy(path, states, n_states)
    if ending == ".gz":
        ending = Path(path.stem).suffix.lower()
    if ending not in _DELIMITERS:
        raise DataError(
            f"{path} is not a .csv, .tsv, .csv.gz, .tsv.gz or .npy file; other formats are not read yet"
        )
    return _read_text(path, _DELIMITERS[ending], header, states, n_states)


def _read_npy(path: Path, states: Names | None, n_states: int | None) -> Table:
    with path.open("rb") as stream:
        if stream.read(6) != b"\x93NUMPY":
            raise DataError(f"{path} is not a .npy file: it does not start as one; write it with numpy.save")
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        why = "it holds Python objects, which are not loaded" if "pickle" in str(error) else error
        raise DataError(f"{path} cannot be read as a .npy array: {why}; save whole numbers") from None
    declared = None if states is None else choose_states((), states, n_states)
    try:
        codes, size = checked_codes(array, n_states if declared is None else len(declared))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    labels = tuple(str(code) for code in range(size)) if declared is None else declared
    return Table(codes, default_names(codes.shape[1]), labels)


def _read_text(path: Path, delimiter: str, header: bool, states: Names | None, n_states: int | None) -> Table:
    arrow = _arrow_table(path, delimiter, header)
    names = tuple(n.strip() for n in arrow.column_names) if header else default_names(arrow.num_columns)
    _check_names(path, names)
    if arrow.num_rows == 0:
        raise DataError(f"{path} has a header but no rows")
    # Text is kept once per column (dictionary) and the codes alone per row.
    columns = [arrow.column(k).combine_chunks().dictionary_encode() for k in range(arrow.num_columns)]
    texts = [np.array(column.dictionary.to_pylist(), dtype=object) for column in columns]
    indices = [np.asarray(column.indices) for column in columns]

    def place(row: int, name: str) -> str:
        return f"line {line_of(path, delimiter, row + header)} of {path} (row {row + 1}), column '{name}'"

    for name, text, index in zip(names, texts, indices, strict=True):
        _check_lines(name, text, index, place)
        text[:] = [t.strip() for t in text]
        _check_missing(path, name, np.isin(text, list(MISSING.difference(states or ()))), text, index, place)
        if len(set(text)) > _MOST_STATES:
            raise DataError(
                f"column '{name}' of {path} has {len(set(text)):,} different values; it looks like a measurement "
                "or an identifier, not a state. Leave it out or bin it"
            )
    alphabet = choose_states(sorted({t for text in texts for t in text}), states, n_states)
    codes = np.empty((arrow.num_rows, len(names)), dtype=np.min_scalar_type(-len(alphabet)))
    for k, (name, text, index) in enumerate(zip(names, texts, indices, strict=True)):
        number = as_codes(text, alphabet)
        if (number < 0).any():
            row = int(np.flatnonzero(number[index] < 0)[0])
            raise DataError(
                f"{place(row, name)}: {text[index[row]]!r} is not among the states {', '.join(alphabet)}"
            )
        codes[:, k] = number[index]
    return Table(codes, names, alphabet)


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
        reason = "it is not UTF-8 text"
    raise DataError(f"{path} cannot be read: {reason}")


def _check_names(path: Path, names: tuple[str, ...]) -> None:
    if "" in names:
        raise DataError(f"column {names.index('') + 1} of {path} has no name")
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise DataError(
            f"two columns of {path} are named {twice!r}; rename one, or, if the first line is data, say that "
            "there is no header"
        )


def _check_lines(name: str, texts: Any, indices: Any, place: Callable[[int, str], str]) -> None:
    """Refuse a value of several lines: it is a quote that was not closed and took the next rows with it."""
    broken = np.array(["\n" in text or "\r" in text for text in texts])
    if broken.any():
        row = int(np.flatnonzero(broken[indices])[0])
        raise DataError(
            f"{place(row, name)}: the value runs over the end of the line ({texts[indices[row]][:30]!r}); is a "
            "quote not closed?"
        )


def _check_missing(
    path: Path, name: str, gaps: Bools, texts: Any, indices: Any, place: Callable[[int, str], str]
) -> None:
    """Refuse a column with gaps; ``gaps`` marks the texts that mean no value."""
    rows = np.flatnonzero(gaps[indices])
    if rows.size == indices.size:
        raise DataError(f"column '{name}' of {path} has no value in any row; leave it out")
    if rows.size:
        many = "1 such cell" if rows.size == 1 else f"{rows.size} such cells"
        raise DataError(
            f"{place(int(rows[0]), name)}: the value is missing ({texts[indices[rows[0]]]!r}; {many} in this "
            "column). Fill it in or drop the row"
        )
