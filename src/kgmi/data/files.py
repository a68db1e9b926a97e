"""Tables from CSV, TSV and .npy files, with errors that name the line and the column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kgmi.data.codes import checked_codes
from kgmi.data.table import MISSING, Table, as_codes, choose_states, default_names
from kgmi.errors import DataError
from kgmi.types import Names, PathLike

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
        ``.csv`` or ``.tsv`` (also with ``.gz``), or ``.npy`` with whole-number codes [row, column].
    header
        Whether the first line names the columns; without one they are X1, X2, ….
    states
        The alphabet in its order. By default the texts that occur in any column: numbers by value, then texts.
    n_states
        The size of the alphabet, so that whole numbers 0..S-1 are read as codes even where one never occurs.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty")
    endings = [suffix for suffix in path.suffixes if suffix != ".gz"]
    ending = endings[-1].lower() if endings else ""
    if ending == ".npy":
        return _read_npy(path, states, n_states)
    if ending not in _DELIMITERS:
        raise DataError(f"{path} is not a .csv, .tsv or .npy file; other formats are not read yet")
    return _read_text(path, _DELIMITERS[ending], header, states, n_states)


def _read_npy(path: Path, states: Names | None, n_states: int | None) -> Table:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise DataError(f"{path} cannot be read as a .npy array: {error}") from None
    size = len(states) if states is not None else n_states
    codes, size = checked_codes(array, size)
    labels = tuple(states) if states is not None else tuple(str(code) for code in range(size))
    return Table(codes, default_names(codes.shape[1]), labels)


def _read_text(path: Path, delimiter: str, header: bool, states: Names | None, n_states: int | None) -> Table:
    arrow = _arrow_table(path, delimiter, header)
    names = tuple(arrow.column_names) if header else default_names(arrow.num_columns)
    _check_names(path, names)
    if arrow.num_rows == 0:
        raise DataError(f"{path} has a header but no rows")
    # Text is kept once per column (dictionary) and the codes alone per row.
    columns = [arrow.column(k).combine_chunks().dictionary_encode() for k in range(arrow.num_columns)]
    texts = [np.array([t.strip() for t in column.dictionary.to_pylist()], dtype=object) for column in columns]
    indices = [np.asarray(column.indices) for column in columns]
    first = 2 if header else 1
    for name, text, index in zip(names, texts, indices, strict=True):
        _check_missing(path, name, text, index, first)
        if len(set(text)) > _MOST_STATES:
            raise DataError(
                f"column '{name}' of {path} has {len(set(text)):,} different values; it looks like a measurement "
                "or an identifier, not a state. Leave it out or bin it"
            )
    alphabet = choose_states(sorted({t for text in texts for t in text}), states, n_states)
    codes = np.empty((arrow.num_rows, len(names)), dtype=np.int16)
    for k, (name, text, index) in enumerate(zip(names, texts, indices, strict=True)):
        number = as_codes(text, alphabet)
        if (number < 0).any():
            row = int(np.flatnonzero(number[index] < 0)[0])
            raise DataError(
                f"line {row + first} of {path}, column '{name}': {text[index[row]]!r} is not among the states "
                f"{', '.join(alphabet)}"
            )
        codes[:, k] = number[index]
    return Table(codes, names, alphabet)


def _arrow_table(path: Path, delimiter: str, header: bool) -> Any:
    """All columns as text; where lines are ragged, a second, careful pass finds the first of them."""
    import pyarrow as pa
    from pyarrow import csv

    bad: list[Any] = []

    def note(row: Any) -> str:
        bad.append(row)
        return "error"

    def options(careful: bool) -> dict[str, Any]:
        handler = {"invalid_row_handler": note} if careful else {}
        return {
            "read_options": csv.ReadOptions(autogenerate_column_names=not header, use_threads=not careful),
            "parse_options": csv.ParseOptions(delimiter=delimiter, **handler),
        }

    try:
        try:
            with csv.open_csv(path, **options(careful=False)) as reader:
                names = reader.schema.names
            convert = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
            return csv.read_csv(path, convert_options=convert, **options(careful=False))
        except pa.ArrowInvalid:
            csv.read_csv(path, **options(careful=True))
            raise
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as error:
        if bad:
            row = bad[0]
            raise DataError(
                f"line {row.number} of {path} has {row.actual_columns} values where {row.expected_columns} are "
                f"expected: {row.text[:60]!r}"
            ) from None
        reason = str(error).splitlines()[0]
        if "UTF8" in reason.upper():
            reason = "it is not UTF-8 text"
        raise DataError(f"{path} cannot be read: {reason}") from None


def _check_names(path: Path, names: tuple[str, ...]) -> None:
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise DataError(
            f"two columns of {path} are named {twice!r}; rename one, or, if the first line is data, say that "
            "there is no header"
        )
    if any(not name.strip() for name in names):
        raise DataError(f"column {[not n.strip() for n in names].index(True) + 1} of {path} has no name")


def _check_missing(path: Path, name: str, texts: Any, indices: Any, first: int) -> None:
    gaps = np.array([text in MISSING for text in texts])
    if gaps.any():
        rows = np.flatnonzero(gaps[indices])
        if rows.size == indices.size:
            raise DataError(f"column '{name}' of {path} has no value in any row; leave it out")
        raise DataError(
            f"line {rows[0] + first} of {path}, column '{name}': the value is missing "
            f"({texts[indices[rows[0]]]!r}; {rows.size} such cells in this column). Fill it in or drop the row"
        )
