"""``Table``: rows as state codes, with names of columns and states, made from anything in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain, compress
from os import PathLike
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kgmi.alphabets import (
    FEW_STATES,
    PREPARE_ADVICE,
    Alphabet,
    Coded,
    Missing,
    Rules,
    Seen,
    choose_alphabets,
    code_type,
    joined_seen,
    listed,
    some_of,
    whole_number,
)
from kgmi.cells import (
    Cells,
    ColumnCoder,
    Form,
    cells_of_array,
    cells_of_arrow,
    cells_of_series,
    check_names,
    one_chunk,
    read_value,
)
from kgmi.errors import CellError, DataError, SettingError, TooFewRowsError, first_line
from kgmi.types import Codes, Ints, Names

_FIRST_ROWS = 1_000  # that are looked at before all others
_LONGEST_WINDOW = 100_000  # positions; each is a node


@dataclass(frozen=True, eq=False)
class Table:
    """Rows over one shared alphabet, or over one alphabet for each column.

    Attributes
    ----------
    codes
        ``codes[row, column]``: position of the cell's state in the alphabet of its column; -1 where the value is
        missing, which only tables made with ``missing="pairwise"`` have.
    names
        Column names. In the order ``given``, parents come before their children.
    states
        The alphabet that all columns share, or else the states of all columns together.
    alphabets
        ``alphabets[column]``: the column's own states; None where all columns share ``states``.
    gap
        The state that missing values are, or would be; None where they are none, or where there are none.
    """

    codes: Codes
    names: tuple[str, ...]
    states: tuple[str, ...]
    alphabets: tuple[tuple[str, ...], ...] | None = None
    gap: str | None = None

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.shape[1] != len(self.names):
            raise DataError(f"{len(self.names)} names do not fit codes of shape {self.codes.shape}")
        own = self.alphabets
        if own is not None and (len(own) != len(self.names) or not set(self.states).issuperset(chain(*own))):
            raise DataError("alphabets must have one alphabet for each column, all of states of the table")

    @property
    def n_states(self) -> int:
        """Number of states S; of all columns together, where each has its own."""
        return len(self.states)

    @property
    def own_alphabets(self) -> bool:
        """Whether columns have alphabets of their own."""
        return self.alphabets is not None

    @property
    def column_states(self) -> tuple[tuple[str, ...], ...]:
        """``column_states[column]``: what the codes of the column mean, shared or not."""
        return (self.states,) * len(self.names) if self.alphabets is None else self.alphabets

    @property
    def sizes(self) -> tuple[int, ...]:
        """``sizes[column]``: number of states of the column."""
        return tuple(len(states) for states in self.column_states)

    @cached_property
    def missing_by_column(self) -> Ints:
        """``missing_by_column[column]``: number of missing values."""
        if self.codes.min(initial=0) >= 0:
            return np.zeros(len(self.names), dtype=np.int64)
        gaps: Ints = (self.codes < 0).sum(axis=0, dtype=np.int64)
        return gaps

    @property
    def n_missing(self) -> int:
        """Number of missing values."""
        return int(self.missing_by_column.sum())

    def in_order(self, order: Sequence[int]) -> Table:
        """Return the table with its columns in another order."""
        columns = list(order)
        own = None if self.alphabets is None else tuple(self.alphabets[column] for column in columns)
        names = tuple(self.names[column] for column in columns)
        return replace(self, codes=self.codes[:, columns], names=names, alphabets=own)


def default_names(n_nodes: int) -> tuple[str, ...]:
    """Return X1, X2, …: names for columns that have none, numbered as in the paper."""
    return tuple(f"X{number}" for number in range(1, n_nodes + 1))


def checked_names(names: Names | None, n_nodes: int) -> tuple[str, ...]:
    """Return names for all columns, each of them once."""
    if names is None:
        return default_names(n_nodes)
    chosen = tuple(map(str, listed("names", names)))
    if len(chosen) != n_nodes:
        raise DataError(f"{n_nodes} columns need as many names, got {len(chosen)}")
    check_names("the table", chosen)
    return chosen


def row_place(row: int, name: str) -> str:
    """Return where a cell of an array or a data frame is; rows are numbered from 0 as in NumPy."""
    return f"row {row}, column '{name}'"


def as_table(
    source: object,
    *,
    states: Names | None = None,
    n_states: int | None = None,
    names: Names | None = None,
    missing: Missing = "error",
    alphabet: Alphabet = "auto",
) -> Table:
    """Return rows in any form as a table of state codes; the source is not changed.

    Parameters
    ----------
    source
        - An array or lists [row, column] of whole numbers (also as floats), truth values or texts. The values that
          occur are the states: numbers by value, then texts. With ``states`` or ``n_states``, whole numbers are
          codes 0..S-1, positions in the alphabet. NaN, None, masked cells and -1 are missing values.
        - A data frame of any library that narwhals knows (pandas, polars, PyArrow, …). Categories that a column
          declares are states even where they never occur. Whole numbers are codes with ``n_states``, and with
          ``states`` unless one of these is a whole number.
        - A :class:`Table`, which keeps its missing values and its alphabets.
    states, n_states
        The alphabet in its order, or its size. A declared state is a state even where it never occurs or looks like
        a missing value (``NA``).
    names
        Names of the columns; by default those of the data frame, or X1, X2, ….
    missing
        What a missing value is: an ``error``, a ``category`` (one more state, named ``missing``), or left out of
        exactly the counts that need it (``pairwise``, code -1). In texts, missing values are the empty one, NA,
        N/A, NaN, nan, null, NULL, None, ?, ./. and .|.
    alphabet
        Whether all columns share one alphabet (``shared``: the union over the columns, or as declared) or each has
        its ``own``: its categories, or what occurs in it. With ``auto`` columns over one set of values share it,
        and columns whose values have nothing in common have their own.
    """
    rules = Rules(states, n_states, missing, alphabet)
    if isinstance(source, Table):
        return _from_table(source, rules, names)
    batch = Batch.of(source, names)
    table = _coded_already(batch.rows, batch.names, rules) if batch.form == "array" else None
    return table or table_of_cells(map(batch.cells, batch.names), batch.names, batch.form, rules)


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


def own_names(source: object) -> tuple[str, ...] | None:
    """Return what rows call their columns; None where they have no names."""
    if isinstance(source, Table):
        return source.names
    frame = as_frame(source)
    columns = getattr(source if frame is None else frame, "columns", None)
    return tuple(map(str, columns)) if isinstance(columns, Iterable) else None


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows in memory, of which columns can be coded: an array, a frame of narwhals, or Arrow data."""

    rows: Any
    names: tuple[str, ...]
    form: Form
    declaring: Collection[str] = ()  # columns of Arrow data whose type lists their categories

    @classmethod
    def of(cls, source: Any, names: Names | None = None) -> Batch:
        """Take an array or a frame of any kind; the ``names`` are by default those that it has."""
        frame = as_frame(source)
        rows = array_of(source) if frame is None else frame
        if len(rows.shape) != 2 or not rows.shape[1]:
            raise _no_table(source, rows.shape)
        called = own_names(source if frame is None else frame) if names is None else names
        return cls(rows, checked_names(called, rows.shape[1]), "array" if frame is None else "typed")

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, first: int, last: int) -> Batch:
        """Return some of the rows."""
        return replace(self, rows=self.rows[first:last])

    def cells(self, name: str) -> Cells:
        """Return a column to be coded."""
        column = self.column(name)
        if self._is_arrow:
            return cells_of_arrow(column, name, declares=name in self.declaring)
        return (cells_of_array if isinstance(column, np.ndarray) else cells_of_series)(column, name)

    def arrow(self, name: str) -> Any:
        """Return a column as an Arrow array, in which cells can be compared."""
        import pyarrow as pa

        column = self.column(name)
        if not isinstance(column, np.ndarray):
            return column if self._is_arrow else one_chunk(column.to_arrow())
        try:
            return pa.array(column.astype(np.float64).tolist() if column.dtype.kind == "f" else column.tolist())
        except (pa.ArrowException, TypeError) as error:
            raise DataError(f"where: cells of column {name!r} cannot be compared: {first_line(error)}") from None

    def column(self, name: str) -> Any:
        """Return a column: an array of NumPy or Arrow, or a series of narwhals."""
        return one_chunk(self.rows.column(name)) if self._is_arrow else self.rows[:, self._places[name]]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def _is_arrow(self) -> bool:
        return hasattr(self.rows, "num_rows")


def table_of_cells(columns: Iterable[Cells], names: tuple[str, ...], form: Form, rules: Rules) -> Table:
    """Return a table of columns that are in memory as a whole."""
    coders = [ColumnCoder(name, rules, form, row_place) for name in names]
    codes = [coder.code(cells) for coder, cells in zip(coders, columns, strict=True)]
    return table_of_codes([Coded(np.stack(codes), tuple(coder.seen for coder in coders))], names, rules)


def table_of_codes(
    batches: Sequence[Coded], names: tuple[str, ...], rules: Rules, header: Names | None = None
) -> Table:
    """Return the rows of all batches as a table; see :func:`kgmi.alphabets.choose_alphabets`."""
    seen = reduce(joined_seen, (batch.seen for batch in batches))
    filled = np.sum([[np.count_nonzero(codes >= 0) for codes in batch.columns] for batch in batches], axis=0)
    found = choose_alphabets(seen, names, rules, filled.tolist(), header=header)
    parts = [found.coded(batch) for batch in batches]
    return Table(np.concatenate(parts) if len(parts) > 1 else parts[0], names, found.states, found.own, found.gap)


def _coded_already(array: np.ndarray[Any, Any], names: tuple[str, ...], rules: Rules) -> Table | None:
    """Return the table of an array of small whole numbers that are their own codes; None for other arrays.

    All columns are looked at together, which is ten times as fast as one after the other.
    """
    if array.dtype.kind not in "iu" or isinstance(array, np.ma.MaskedArray) or not array.size:
        return None
    n_codes = int(array.max()) + 1
    if int(array.min()) < 0 or n_codes > min(FEW_STATES, rules.n_declared or FEW_STATES):
        return None
    states = rules.declared or tuple(map(str, range(n_codes)))
    occurs = np.zeros((array.shape[1], n_codes), dtype=np.bool_)
    for rows in (array[:_FIRST_ROWS], array):  # mostly all states occur in the first rows
        if not occurs.all():
            occurs = np.array([(rows == code).any(axis=0) for code in range(n_codes)]).T
    seen = [Seen(tuple(compress(states, some))) for some in occurs]
    found = choose_alphabets(seen, names, rules, [len(array)] * len(names))
    is_same = all(
        (new[:-1] == np.flatnonzero(old)).all() for new, old in zip(found.maps(seen), occurs, strict=True)
    )
    return Table(array, names, found.states, found.own, found.gap) if is_same else None


def as_frame(source: Any) -> Any:
    """Return a narwhals data frame, lazy ones computed; None for everything that is no table of columns."""
    if isinstance(source, np.ndarray | list | tuple | str | bytes):
        return None  # by far the most frequent, and narwhals need not be loaded
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(source, pass_through=True)
        if not isinstance(frame, nw.DataFrame | nw.LazyFrame) and hasattr(source, "__arrow_c_stream__"):
            import pyarrow as pa

            with suppress(TypeError, pa.ArrowInvalid):  # a single column
                frame = nw.from_native(pa.table(source))
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
    except DuplicateError as error:
        raise DataError(f"two columns have the same name: {' '.join(str(error).split())}; rename one") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def _no_table(source: object, shape: tuple[int, ...]) -> DataError:
    if len(shape) == 2:
        remedy = "give some columns"
    elif isinstance(source, str | PathLike):
        remedy = "kgmi.read_table, kgmi.stream, kgmi.load and kgmi.CountedTable.load read files"
    else:
        remedy = (
            "make a dict a pandas.DataFrame(rows) and a sparse matrix rows.toarray(); kgmi.stream reads datasets"
        )
    return DataError(
        "rows must be a table [row, node], an array or a data frame, with at least one column, got "
        f"{type(source).__name__} of shape {shape}; {remedy}"
    )


def array_of(rows: Any) -> np.ndarray[Any, Any]:
    """Return lists, arrays and the like as an array; numbers among texts stay numbers."""
    if isinstance(rows, np.ndarray):
        return rows if isinstance(rows, np.ma.MaskedArray) else np.asarray(rows)
    try:
        array = np.asarray(rows)
        return np.asarray(rows, dtype=object) if array.dtype.kind in "US" else array
    except ValueError:
        raise DataError("rows must be a table [row, node]; these rows are not equally long") from None


def _from_table(table: Table, rules: Rules, names: Names | None) -> Table:
    """Return a table that was made before, checked; alphabets and missing values stay what they are."""
    if rules.n_states not in (None, table.n_states):
        raise SettingError(f"n_states is {rules.n_states}, but there are {table.n_states} states in the table")
    if rules.states not in (None, table.states):
        raise SettingError(f"the table has states of its own ({some_of(table.states)}); leave states out")
    if table.codes.dtype.kind not in "iu":
        raise DataError(f"the codes of a table are whole numbers, these are of type {table.codes.dtype}")
    if names is not None:
        table = replace(table, names=checked_names(names, len(table.names)))
    outside = np.argwhere((table.codes < -1) | (table.codes >= np.array(table.sizes)))
    for row, column in outside[:1].tolist():
        name, code = table.names[column], int(table.codes[row, column])
        message = f"{row_place(row, name)} is {code}, outside the alphabet 0..{table.sizes[column] - 1}; recode it"
        raise CellError(message, name, row, code)
    makes_own = rules.own and not table.own_alphabets
    if not makes_own and (rules.missing != "category" or not table.n_missing):
        return table
    columns = []
    for codes, states in zip(table.codes.T, table.column_states, strict=True):
        met = np.unique(codes[codes >= 0]).tolist() if makes_own else range(len(states))
        columns.append(Cells(codes, states, tuple(states[code] for code in met)))
    missing: Missing = "category" if rules.missing == "category" else "pairwise"
    alphabet: Alphabet = "own" if rules.own or table.own_alphabets else "shared"
    made = table_of_cells(columns, table.names, "typed", Rules(missing=missing, alphabet=alphabet))
    return replace(made, gap=made.gap or (table.gap if table.gap in made.states else None))


def checked_codes(
    rows: Any, n_states: int | None = None, names: Names | None = None, *, missing: Missing = "error"
) -> tuple[Codes, int]:
    """Return whole-number codes 0..S-1, -1 for a missing value, and S: the numbers are codes and not values.

    ``n_states`` is by default one more than the largest code; ``names`` are what messages call the columns.
    """
    batch = Batch.of(rows, names)
    array = batch.rows if batch.form == "array" else batch.rows.to_numpy()
    if array.dtype.kind in "iu" and array.size and not isinstance(array, np.ma.MaskedArray):
        low, high = int(array.min()), int(array.max())
        if low >= (0 if missing == "error" else -1) and (n_states is None or high < n_states):
            return array, max(high + 1, 2) if n_states is None else n_states
    cells = [cells_of_array(column, name) for column, name in zip(array.T, batch.names, strict=True)]
    values = [read for one in cells for value in one.values if (read := read_value(value)) is not None]
    if any(text is not None and number is None for text, number in values):
        raise DataError("rows must be whole-number codes 0..S-1; read text with kgmi.read_table")
    if n_states is None:
        n_states = 1 + max([1, *(number for _, number in values if number is not None)])
    return table_of_cells(cells, batch.names, "array", Rules(None, n_states, missing)).codes, n_states


def duplicate_columns(codes: Codes) -> list[tuple[int, ...]]:
    """Return groups of columns that are identical in all rows, missing values included."""
    groups = [tuple(range(codes.shape[1]))]
    for rows in (codes[:1_024], codes):  # almost all columns that differ do so in the first rows
        alike: dict[tuple[int, bytes], list[int]] = {}
        for number, group in enumerate(groups):
            for column in group:
                alike.setdefault((number, rows[:, column].tobytes()), []).append(column)
        groups = [tuple(group) for group in alike.values() if len(group) > 1]
    return sorted(groups)


def check_learnable(counts: Sequence[Ints], names: Names, states: Sequence[Names]) -> None:
    """Refuse data with one column, a constant or empty column, or too few rows to learn from.

    ``counts[node]`` has the number of rows for every one of the ``states[node]``.
    """
    if len(counts) < 2:
        raise DataError("learning a graph needs at least two columns")
    for name, rows_of, alphabet in zip(names, counts, states, strict=True):
        n_filled, n_states = int(rows_of.sum()), len(alphabet)
        if n_filled == 0:
            raise TooFewRowsError(f"column '{name}' has no value in any row; leave it out, {PREPARE_ADVICE}")
        if n_filled < n_states:
            raise TooFewRowsError(
                f"column '{name}' has {n_states} states and a value in {n_filled} rows only; leave out columns of "
                "identifiers or measurements, or collect more rows"
            )
        if int(rows_of.max()) == n_filled:
            state = alphabet[int(rows_of.argmax())]
            raise TooFewRowsError(
                f"column '{name}' is constant (state {state!r} in all {n_filled} rows that have a value); leave it "
                f"out, {PREPARE_ADVICE}"
            )
