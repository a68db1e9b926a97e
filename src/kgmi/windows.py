"""One long sequence as rows of its last positions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kgmi.alphabets import Missing, code_type, whole_number
from kgmi.errors import DataError, SettingError
from kgmi.table import Table, array_of, as_table
from kgmi.types import Names

_LONGEST_WINDOW = 100_000  # positions; each is a node


def window_table(
    sequence: object,
    n: int,
    *,
    states: Names | None = None,
    n_states: int | None = None,
    missing: Missing = "error",
) -> Table:
    """Return rows of the last ``n`` positions of a sequence: row t is (x[t - n + 1], …, x[t]).

    The codes are a read-only view of one copy of the sequence: long windows need no more memory than short ones.

    Parameters
    ----------
    sequence
        An array or a list of one axis, a series (pandas, polars, PyArrow), a data frame or table of one column, or
        a text, which is a sequence of characters: all of these are states, spaces and question marks too.
    n
        The length of a window: the newest position, and n - 1 lags as candidates for its parents.
    states, n_states, missing
        See :func:`kgmi.table.as_table`.
    """
    names = window_names(n)
    length = len(names)
    if isinstance(sequence, str):
        if states is None and n_states is None and len(set(sequence)) > 1:
            states = tuple(sorted(set(sequence)))
        sequence = np.array(list(sequence), dtype="U1")
    table = as_table(_one_column(sequence), states=states, n_states=n_states, missing=missing)
    if len(table.names) > 1:
        raise DataError(f"a sequence is one column, got a table of {len(table.names)}; choose one of its columns")
    if len(table.codes) < length + 1:
        raise DataError(
            f"windows of {length} positions need a sequence of at least {length + 1}, got {len(table.codes)}; use "
            "shorter windows"
        )
    compact = table.codes[:, 0].astype(code_type(max(table.sizes)))  # a copy
    return Table(sliding_window_view(compact, length), names, table.column_states[0])


def window_names(n: int) -> tuple[str, ...]:
    """Return the names of the positions of a window: lag n-1, …, lag 1, now."""
    length = whole_number("windows", n)
    if not 2 <= length <= _LONGEST_WINDOW:
        raise SettingError(f"windows must be between 2 and {_LONGEST_WINDOW:,}, got {length:,}")
    return (*(f"lag {lag}" for lag in range(length - 1, 0, -1)), "now")


def _one_column(sequence: Any) -> Any:
    """Return a sequence as a table of one column."""
    if isinstance(sequence, np.ndarray | list | tuple):
        array = array_of(sequence)
        return array[:, None] if array.ndim == 1 else array
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    native = pa.chunked_array([sequence]) if isinstance(sequence, pa.Array) else sequence
    series = nw.from_native(native, pass_through=True, allow_series=True)
    is_series = isinstance(series, nw.Series)
    return series.alias("sequence").to_frame() if is_series else sequence  # many a series has no name
