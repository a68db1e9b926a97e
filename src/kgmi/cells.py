"""From cells to codes: what a value is, whether it is missing, and which code it gets.

Arrays, data frames, files and batches of a stream all come through here. A :class:`ColumnCoder` codes one column,
batch after batch, in the order in which values are met; :func:`kgmi.alphabets.choose_alphabets` then says what the
states are in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np

from kgmi.alphabets import MANY_STATES, MISSING, PREPARE_ADVICE, Rules, Seen, check_variety, code_type, some_of
from kgmi.errors import CellError, DataError
from kgmi.types import Bools, Codes, Ints

Form: TypeAlias = Literal["text", "typed", "array"]
"""How cells are read; see :class:`ColumnCoder`."""
Place: TypeAlias = Callable[[int, str], str]
"""Where a cell is, in words, from its row (counted from 0) and the name of its column."""

_LARGEST_WHOLE = 2**53  # above, a float cannot represent every whole number
_WIDE = 1 << 16  # a range of whole numbers beyond which a lookup table does not pay
_TRUTH = [False, True]
_GAP, _NEW = -1, -2
_MISSING_ADVICE = "missing='pairwise' leaves such cells out of the counts, missing='category' makes them a state"


@dataclass(frozen=True, eq=False)
class Cells:
    """Some rows of one column."""

    index: np.ndarray[Any, np.dtype[Any]]  # [row]: position in ``values``, negative for a missing value
    values: Sequence[Any]  # the different values, a list or a range; some may not occur
    gaps: Bools | None = None  # [row]: further missing values, whatever ``index`` holds there
    declared: tuple[str, ...] | None = None  # the categories of a categorical type, in their order

    def taken(self, rows: Ints) -> Cells:
        """Return some of the rows."""
        gaps = None if self.gaps is None else self.gaps[rows]
        return Cells(self.index[rows], self.values, gaps, self.declared)


def cells_of_array(column: np.ndarray[Any, np.dtype[Any]], name: str) -> Cells:
    """Return a column of an array; types that hold no states are refused."""
    gaps = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
    plain = np.ma.getdata(column)
    if plain.dtype.kind in "iu":
        return _cells_of_whole(np.asarray(plain, dtype=plain.dtype.newbyteorder("=")), gaps)
    if plain.dtype.kind == "b":
        return Cells(plain.astype(np.uint8), _TRUTH, gaps)
    if plain.dtype.kind == "f":
        return _cells_of_floats(np.asarray(plain, dtype=np.float64), gaps)
    if plain.dtype.kind not in "USTO":
        raise DataError(
            f"column '{name}' is of type {plain.dtype}; states are texts, whole numbers or truth values: recode it"
        )
    cells = plain.tolist()
    if gaps is not None:
        cells = [None if gap else cell for cell, gap in zip(cells, gaps, strict=True)]
    return cells_of_objects(cells)


def _cells_of_whole(numbers: Any, gaps: Bools | None) -> Cells:
    """Return whole numbers; a range that is not too wide needs no search for the different ones."""
    if gaps is not None and len(gaps):
        numbers = np.where(gaps, numbers[gaps.argmin()], numbers)
    if not len(numbers):
        return Cells(np.zeros(0, dtype=np.int8), [])
    low, high = int(numbers.min()), int(numbers.max())
    if low >= 0 and high < _WIDE:
        return Cells(numbers if numbers.dtype != np.uint64 else numbers.astype(np.int64), range(high + 1), gaps)
    if high - low < _WIDE and high < 2**63:
        return Cells(numbers.astype(np.int64) - low, range(low, high + 1), gaps)
    different, index = np.unique(numbers, return_inverse=True)
    return Cells(index, different.tolist(), gaps)


def _cells_of_floats(values: Any, gaps: Bools | None) -> Cells:
    """Return floats, of which NaN is missing, as whole numbers; as they are if one of them is no whole number."""
    missing = np.isnan(values)
    gaps = missing if gaps is None else gaps | missing
    values = np.where(gaps, 0.0, values)
    if ((np.abs(values) <= _LARGEST_WHOLE) & (values == np.rint(values))).all():
        return _cells_of_whole(values.astype(np.int64), gaps)
    different, index = np.unique(values, return_inverse=True)
    return Cells(index, different.tolist(), gaps)


def cells_of_objects(cells: Sequence[Any]) -> Cells:
    """Return a list of texts, numbers, truth values and missing values, in any mixture."""
    keys: list[Any] = [(type(one), one) for one in cells]
    try:
        values = dict(zip(keys, cells, strict=True))
    except TypeError:  # lists, arrays and the like are not hashable, and no states
        keys = [id(one) for one in cells]
        values = dict(zip(keys, cells, strict=True))
    position = {key: number for number, key in enumerate(values)}
    index = np.fromiter((position[key] for key in keys), dtype=np.int64, count=len(cells))
    return Cells(index, list(values.values()))


def cells_of_series(series: Any, name: str) -> Cells:
    """Return a column of a data frame (a narwhals series)."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    kind = series.dtype
    if kind in (nw.Categorical, nw.Enum) and series.implementation.is_pandas_like():
        native = series.to_native().cat
        values = native.categories.tolist()
        return Cells(np.asarray(native.codes), values, None, _category_texts(values))
    if kind in (nw.Object, nw.Unknown, nw.Decimal, nw.Int128, nw.UInt128):
        return cells_of_objects(series.to_list())
    arrow = series.to_arrow()
    if isinstance(arrow, pa.ChunkedArray):
        arrow = arrow.combine_chunks()
    # The list behind a Categorical of polars is shared by all of its columns, so it declares nothing.
    declares = not (kind == nw.Categorical and series.implementation.is_polars())
    return cells_of_arrow(arrow, name, declares=declares)


def cells_of_arrow(array: Any, name: str, *, declares: bool = True) -> Cells:
    """Return an Arrow array, without a copy where its type allows it; types that hold no states are refused.

    ``declares`` says whether a dictionary lists the categories of the column, or is only how its texts are stored.
    """
    import pyarrow as pa
    from pyarrow import types

    kind = array.type
    if types.is_integer(kind):
        return _cells_of_whole(_buffer(array, np.dtype(str(kind))), _nulls(array))
    if types.is_boolean(kind):
        return Cells(_buffer(array.cast(pa.uint8()), np.dtype(np.uint8)), _TRUTH, _nulls(array))
    if types.is_floating(kind):
        return _cells_of_floats(np.array(_buffer(array.cast(pa.float64()), np.dtype(np.float64))), _nulls(array))
    if types.is_null(kind):
        return Cells(np.full(len(array), -1, dtype=np.int8), [])
    if types.is_decimal(kind):
        return cells_of_objects(array.to_pylist())
    if types.is_string_view(kind):
        array = array.cast(pa.large_string())
    plain = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())  # some writers store texts as bytes
    if array.type in plain:
        array.validate(full=True)  # invalid UTF-8 would end the process later
        array, declares = array.dictionary_encode(), False
    if not types.is_dictionary(array.type):
        raise DataError(
            f"column '{name}' is of type {kind}; a state is a text, a whole number, a truth value or a category: "
            f"leave the column out, bin it or write it as text, {PREPARE_ADVICE}"
        )
    array.dictionary.validate(full=True)
    indices, values = array.indices, array.dictionary.to_pylist()
    index = _buffer(indices, np.dtype(str(indices.type)))
    return Cells(index, values, _nulls(indices), _category_texts(values) if declares else None)


def _buffer(array: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, np.dtype[Any]]:
    """Return the values of an Arrow array as they are in memory (np.asarray would import pandas)."""
    if len(array) == 0:
        return np.empty(0, dtype=dtype)
    return np.frombuffer(array.buffers()[1], dtype=dtype, count=len(array), offset=array.offset * dtype.itemsize)


def _nulls(array: Any) -> Bools | None:
    if array.null_count == 0:
        return None
    valid = np.unpackbits(np.frombuffer(array.buffers()[0], dtype=np.uint8), bitorder="little")
    return np.asarray(valid[array.offset : array.offset + len(array)] == 0)


def _category_texts(categories: Iterable[Any]) -> tuple[str, ...]:
    """Return categories of any type as texts."""
    texts = (
        str(one) if (read := read_value(one)) is None else read[0] for one in categories if not is_missing(one)
    )
    return tuple(dict.fromkeys(str(text) for text in texts))


def read_value(value: Any) -> tuple[str | None, int | None] | None:
    """Return a value as text (None: missing) and, if it is one, as a whole number; None for what is no state."""
    if isinstance(value, str):
        return str.__str__(value), None
    if isinstance(value, bytes):
        try:
            return value.decode(), None
        except UnicodeDecodeError:
            return None
    if isinstance(value, bool | np.bool_):
        return str(bool(value)), int(value)
    if isinstance(value, Integral):
        return str(int(value)), int(value)
    if isinstance(value, Real | Decimal) and value == value:
        number: Any = value
        whole = abs(number) <= _LARGEST_WHOLE and number == int(number)
        return (str(int(number)), int(number)) if whole else None
    return (None, None) if is_missing(value) else None


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN or NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
    except ValueError:  # an array compares cell by cell
        return False


def _no_state(value: Any) -> str:
    """Return why a value cannot be a state."""
    if isinstance(value, Real | Decimal):
        return (
            f" is {value}; states must be whole numbers or texts. It looks like a measurement: leave the column "
            f"out or bin it, {PREPARE_ADVICE}"
        )
    if isinstance(value, bytes):
        return f" is {value[:30]!r}, which is not UTF-8 text; decode the column"
    return (
        f" holds a value of type {type(value).__name__}; a state is a text, a whole number or a truth value: leave "
        "the column out, bin it or write it as text"
    )


@dataclass(eq=False)
class ColumnCoder:
    """Codes one column, batch after batch; a value gets the next number when it is met first.

    Parameters
    ----------
    name
        What messages call the column.
    rules
        What the states are, and what a missing value is.
    form
        Where the cells come from: a ``text`` file, ``typed`` columns (data frames, Parquet), or an ``array``, in
        which -1 is a missing value where missing values are allowed, and numbers are positions among declared
        states.
    place
        Where a cell is, in words.
    """

    name: str
    rules: Rules
    form: Form
    place: Place
    seen: Seen = field(default_factory=Seen, init=False)
    _minus_one: int | None = field(default=None, init=False)
    _codes: dict[str, int] = field(default_factory=dict, init=False)
    _given: Any = field(default=None, init=False)
    _table: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), init=False)

    def code(self, cells: Cells, row: int = 0) -> Codes:
        """Return the codes of some rows, the first of which is ``row``; -1 where the value is missing."""
        if not len(cells.index):
            return np.zeros(0, dtype=np.int8)
        gaps = _all_gaps(cells)
        if gaps is not None and gaps.all():
            codes: Codes = np.full(len(gaps), _GAP, dtype=np.int8)
        else:
            index = cells.index if gaps is None else np.where(gaps, cells.index[int(gaps.argmin())], cells.index)
            codes = self._looked_up(index, cells, row)
            if gaps is not None:
                codes[gaps] = _GAP
        self._note(cells, codes, row)
        return codes

    def _looked_up(self, places: Any, cells: Cells, row: int) -> Codes:
        """Return the codes of values by their positions; those that were not met before get one."""
        values = cells.values
        given = values, None if isinstance(values, range) else [*map(type, values)], cells.declared
        if self._given != given:  # with types, because 1 and True are equal in Python
            self._given, self._table = given, np.full(len(values), _NEW, dtype=np.int64)
        table = self._table
        if int(places.max()) >= len(table):
            raise DataError(
                f"column '{self.name}' refers to categories that it does not have; the rows are damaged"
            )
        codes: Codes = np.take(table.astype(code_type(len(self._codes))), places)
        n_looked = 16  # mostly enough to meet all values
        while int(codes.min()) == _NEW:
            for at in np.flatnonzero(codes == _NEW)[:n_looked].tolist():
                place = int(places[at])
                if table[place] == _NEW:
                    table[place] = self._code_of(values[place], row + at, cells.declared)
            n_looked *= 4
            codes = np.take(table.astype(code_type(len(self._codes))), places)
        return codes

    def _code_of(self, value: Any, row: int, declared: tuple[str, ...] | None) -> int:
        """Return the code of a value that was not met before, -1 for a missing value."""
        read = read_value(value)
        if read is None and declared is not None:
            read = str(value), None  # dates or intervals that were declared to be categories
        if read is None:
            raise self._error(_no_state(value), row, value)
        text, number = read
        if text is None:
            return _GAP
        states = self.rules.states
        if number is None:
            if text not in (states or ()) and text not in (declared or ()):
                self._check_line(text, row)
                text = text.strip()
                if text in MISSING:
                    return _GAP
        elif self.form == "array" and number == -1 and self.rules.missing != "error":
            return _GAP
        else:
            text = self._text_of_number(text, number, row)
        if states is not None and text not in states:
            raise self._error(
                f": {text!r} is not among the states {some_of(states)}; correct it, or declare it too; if it is a "
                "missing value, leave the cell empty, or write NA",
                row,
                value,
            )
        code = self._codes.setdefault(text, len(self._codes))
        if code == MANY_STATES:  # stop early: no column of states has so many
            check_variety(self.name, len(self._codes), row, max(self.rules.n_declared, len(declared or ())))
        return code

    def _text_of_number(self, text: str, number: int, row: int) -> str:
        """Return the state that a number is; an error where it is none."""
        rules, is_array = self.rules, self.form == "array"
        is_state = text in ("False", "True") or any(state.isdecimal() for state in rules.states or ())
        if rules.n_declared and (is_array or not is_state):
            if not 0 <= number < rules.n_declared:
                advice = "recode it: codes start at 0" if number < 0 else "recode it or raise n_states"
                if number == -1 and rules.missing == "error":
                    advice += "; if -1 is a missing value, say so with missing='pairwise'"
                raise self._error(
                    f" is {number}, outside the alphabet 0..{rules.n_declared - 1}; {advice}", row, number
                )
            return str(number) if rules.states is None else rules.states[number]
        if is_array and number == -1 and self._minus_one is None:
            self._minus_one = row
        if is_array and number < -1 and rules.missing != "error":
            raise self._error(
                f" is {number}, but with missing='{rules.missing}' numbers below 0 other than -1, which is a "
                "missing value, are no states; recode it or give texts",
                row,
                number,
            )
        return text

    def _check_line(self, text: str, row: int) -> None:
        """Refuse a text of a file with a NUL byte, and one of several lines: a quote may not be closed."""
        problem = ""
        if "\0" in text:
            problem = "contains a NUL byte; the file is damaged or not UTF-8 text: correct it or save it as UTF-8"
        elif "\n" in text or "\r" in text:
            problem = "runs over the end of the line; is a quote not closed?"
        if problem and self.form == "text":
            raise self._error(f": the value {text[:30]!r} {problem}", row, text)

    def _error(self, problem: str, row: int, value: object) -> CellError:
        return CellError(f"{self.place(row, self.name)}{problem}", column=self.name, row=row, value=value)

    def _note(self, cells: Cells, codes: Codes, row: int) -> None:
        """Update what was seen; refuse missing values where they are errors."""
        has_gaps = int(codes.min()) == _GAP
        if has_gaps and self.rules.missing == "error":
            at = int((codes == _GAP).argmax())
            is_null = cells.index[at] < 0 or (cells.gaps is not None and cells.gaps[at])
            shown = None if is_null else cells.values[cells.index[at]]
            quoted = f" ({shown.strip()!r})" if isinstance(shown, str) else " (NaN)"
            raise self._error(
                f": the value is missing{quoted}. Fill it in or drop the row, or say what it means: "
                f"{_MISSING_ADVICE}, {PREPARE_ADVICE}",
                row + at,
                shown,
            )
        declared = None if cells.declared is None else (cells.declared,)
        is_truth = _are_truth(cells.values) and {"False", "True"}.issuperset(self._codes)
        self.seen = self.seen.joined(Seen(tuple(self._codes), declared, has_gaps, is_truth, self._minus_one))


def _are_truth(values: Sequence[Any]) -> bool:
    return 0 < len(values) <= 4 and all(isinstance(one, bool) or is_missing(one) for one in values)


def _all_gaps(cells: Cells) -> Bools | None:
    """Return which rows have no value; None: all have one."""
    gaps = cells.gaps
    if cells.index.dtype.kind == "i" and int(cells.index.min()) < 0:
        below = cells.index < 0
        gaps = below if gaps is None else gaps | below
    return gaps if gaps is not None and gaps.any() else None


def check_names(where: object, names: Sequence[str], *, header: bool = False) -> None:
    """Refuse columns without a name, or with the name of another; a ``header`` may be data taken for names."""
    if "" in names:
        raise DataError(
            f"column {names.index('') + 1} of {where} has no name (an index column? leave it out, {PREPARE_ADVICE})"
        )
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        hint = ", or, if the first line is data, say so with header=False (--no-header)" if header else ""
        raise DataError(f"two columns of {where} are named {twice!r}; rename one{hint}")
