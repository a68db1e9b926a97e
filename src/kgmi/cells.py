"""From cells to codes: what a value is, whether it is missing, and which code it gets.

Arrays, data frames, files and batches of a stream all come through here. A :class:`ColumnCoder` codes one column,
batch after batch, in the order in which values are met; :func:`kgmi.alphabets.choose_alphabets` then says what the
states are in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np

from kgmi.alphabets import MANY_STATES, MISSING, PREPARE_ADVICE, Rules, Seen, check_variety, code_type, some_of
from kgmi.errors import CellError, DataError
from kgmi.types import Codes, Ints

Form: TypeAlias = Literal["text", "typed", "array"]
"""How cells are read; see :class:`ColumnCoder`."""
Place: TypeAlias = Callable[[int, str], str]
"""Where a cell is, in words, from its row (counted from 0) and the name of its column."""

_LARGEST_WHOLE = 2**53  # above, a float cannot represent every whole number
_WIDE = 1 << 16  # a range of whole numbers beyond which a lookup table does not pay
_GAP, _NEW = -1, -2
_FIRST = 1_024  # rows that are looked at first for values that are new
_TRUTH, _BOOL = ("False", "True"), (bool, np.bool_)
_NO_STATE = (
    "states must be whole numbers, texts, truth values or categories; leave the column out, bin it or write it as "
    f"text, {PREPARE_ADVICE}"
)


@dataclass(frozen=True, eq=False)
class Cells:
    """Some rows of one column."""

    index: np.ndarray[Any, np.dtype[Any]]  # [row]: position in ``values``; -1 where the value is missing
    values: Sequence[
        Any
    ]  # the different values, a list or a range; may have values that do not occur, or missing ones
    declared: tuple[str, ...] | None = None  # the categories of a categorical type, in their order
    is_full: bool = False  # whether it is known that no value is missing

    def taken(self, rows: Ints) -> Cells:
        """Return some of the rows."""
        return replace(self, index=self.index[rows])


def cells_of_array(column: np.ndarray[Any, np.dtype[Any]], name: str) -> Cells:
    """Return a column of an array; types that hold no states are refused."""
    plain: Any = np.ma.getdata(column)
    gaps: Any = np.ma.getmask(column)
    if plain.dtype.kind not in "iubfUSTO":
        raise DataError(f"column '{name}' is of type {plain.dtype}; {_NO_STATE}")
    if plain.dtype.kind == "f":
        gaps = gaps | np.isnan(plain)
    if np.any(gaps):
        filled = cells_of_array(plain[~gaps], name)
        index = np.full(len(plain), -1)
        index[~gaps] = filled.index
        return replace(filled, index=index, is_full=False)
    if plain.dtype.kind == "f":
        plain = plain.astype(np.float64, copy=False)
        if ((np.abs(plain) <= _LARGEST_WHOLE) & (plain == np.rint(plain))).all():
            plain = plain.astype(np.int64)
    if plain.dtype.kind == "b":
        return Cells(plain.astype(np.int8), [False, True])
    if plain.dtype.kind in "iu" and plain.size:
        low, high = int(plain.min()), int(plain.max())
        if high - low < _WIDE:  # no need to search for the different numbers
            index = plain.astype(np.int64) - low if low < 0 else plain - low if low else plain
            return Cells(index, range(low, high + 1), is_full=True)
    if plain.dtype.kind in "iuf":
        different, index = np.unique(plain, return_inverse=True)
        return Cells(index, different.tolist())
    return cells_of_objects(plain.tolist())


def cells_of_objects(cells: Sequence[Any]) -> Cells:
    """Return a list of texts, numbers, truth values and missing values, in any mixture."""
    found = dict[Any, int]()
    try:  # with types, because 1 and True are equal in Python
        index = [found.setdefault((type(one), one), len(found)) for one in cells]
    except TypeError:  # lists, arrays and the like are not hashable, and no states
        return Cells(np.arange(len(cells)), cells)
    return Cells(np.array(index, dtype=np.int64), [one for _, one in found])


def cells_of_series(series: Any, name: str) -> Cells:
    """Return a column of a data frame (a narwhals series)."""
    import narwhals.stable.v2 as nw

    kind = series.dtype
    if kind in (nw.Categorical, nw.Enum) and series.implementation.is_pandas_like():
        native = series.to_native().cat
        return _categories(np.asarray(native.codes), native.categories.tolist())
    if kind in (nw.Object, nw.Unknown, nw.Decimal, nw.Int128, nw.UInt128):
        return cells_of_objects(series.to_list())
    # The list behind a Categorical of polars is shared by all of its columns, so it declares nothing.
    declares = not (kind == nw.Categorical and series.implementation.is_polars())
    return cells_of_arrow(one_chunk(series.to_arrow()), name, declares=declares)


def one_chunk(column: Any) -> Any:
    """Return Arrow data, chunked or not, as one array."""
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def cells_of_arrow(array: Any, name: str, *, declares: bool = True) -> Cells:
    """Return an Arrow array, without a copy where its type allows it; types that hold no states are refused.

    ``declares`` says whether a dictionary lists the categories of the column; otherwise it only stores its texts.
    """
    import pyarrow as pa
    from pyarrow import types

    if not types.is_primitive(array.type):
        array.validate(full=True)  # invalid UTF-8 would end the process later
    if types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    kind = array.type
    if kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):  # some store texts as bytes
        array, declares = array.dictionary_encode(), False
    if types.is_dictionary(array.type):
        places, values = array.indices, array.dictionary.to_pylist()
        index = _numpy(places.cast("int64").fill_null(-1) if places.null_count else places)
        return _categories(index, values) if declares else Cells(index, values)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        if not array.null_count:
            return cells_of_array(_numpy(array), name)
        filled = _numpy(array.fill_null(pa.scalar(0).cast(kind)))
        return cells_of_array(np.ma.array(filled, mask=_numpy(array.is_null())), name)
    if types.is_null(kind) or types.is_decimal(kind):
        return cells_of_objects(array.to_pylist())
    raise DataError(f"column '{name}' is of type {kind}; {_NO_STATE}")


def _numpy(array: Any) -> Any:
    """Return an Arrow array without missing values as it is in memory (its own methods import pandas)."""
    is_truth = str(array.type) == "bool"
    return np.from_dlpack(array.cast("uint8")).view(bool) if is_truth else np.from_dlpack(array)


def _categories(index: Any, values: list[Any]) -> Cells:
    """Return a column that declares its categories, which may be of any type."""
    read = ((read_value(one) or (str(one), None))[0] for one in values)
    return Cells(index, values, tuple(dict.fromkeys(text for text in read if text is not None)))


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
    if is_missing(value):
        return None, None
    if isinstance(value, Real | Decimal):
        number: Any = value
        if isinstance(value, Integral) or (abs(number) <= _LARGEST_WHOLE and number == int(number)):
            return str(int(number)), int(number)
    return None


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN or NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
    except ValueError:  # an array compares cell by cell
        return False


@dataclass(eq=False)
class ColumnCoder:
    """Codes one column, batch after batch; a value gets the next number when it is met first.

    ``form`` says where the cells come from: a ``text`` file, ``typed`` columns (data frames, Parquet), or an
    ``array``, in which -1 is a missing value, and numbers are positions among declared states. ``name`` and
    ``place`` are for messages.
    """

    name: str
    rules: Rules
    form: Form
    place: Place
    seen: Seen = field(default_factory=Seen, init=False)
    values: dict[str, Any] = field(default_factory=dict, init=False)  # the first value of each state
    _codes: dict[Any, int] = field(default_factory=dict, init=False)  # of the values that were met, by type
    _declared: tuple[str, ...] | None = field(default=None, init=False)  # the categories when they were met

    def code(self, cells: Cells, row: int = 0) -> Codes:
        """Return the codes of some rows, the first of which is ``row``; -1 where the value is missing."""
        if not len(cells.index):
            return np.zeros(0, dtype=np.int8)
        if cells.declared != self._declared:  # which decide what is a state
            self._declared, self._codes = cells.declared, {}
        codes, is_complete = self._known(cells)
        for most in (_FIRST, None):  # mostly, the first rows have all values
            if is_complete or codes.min() > _NEW:
                break
            new = np.flatnonzero(codes == _NEW)[:most]
            positions, first = np.unique(cells.index[new], return_index=True)
            self._meet(cells, positions.tolist(), (row + new[first]).tolist())
            codes, is_complete = self._known(cells)
        return codes

    def _known(self, cells: Cells) -> tuple[Codes, bool]:
        """Return the codes of some rows, -2 where the value was not met before, and whether all are known to be."""
        code_of = np.array([*map(self._code, cells.values), self._code(None)])  # the last is that of index -1
        dtype = code_type(len(self.seen.texts))
        is_same = (code_of[:-1] == np.arange(len(cells.values))).all()
        if is_same and (cells.is_full or code_of[-1] == _GAP or cells.index.min() >= 0):
            return cells.index.astype(dtype, copy=False), True
        return np.take(code_of.astype(dtype), cells.index), False

    def _code(self, value: Any) -> int:
        try:
            return self._codes.get((type(value), value), _NEW)
        except TypeError:  # a list or the like, which is no state
            return _NEW

    def _meet(self, cells: Cells, positions: Sequence[int], rows: Sequence[int]) -> None:
        """Learn the codes of values, each from the first row that has it."""
        values = [None if position < 0 else cells.values[position] for position in positions]
        texts: list[str | None] = [None] * len(values)
        for n in np.argsort(rows).tolist():  # so that the first of several bad cells is named
            texts[n] = self._state(values[n], rows[n], cells.declared)
        filled = [one for one in zip(texts, values, rows, strict=True) if one[0] is not None]
        declared = cells.declared
        if declared is None and filled and all(type(one) in _BOOL and text in _TRUTH for text, one, _ in filled):
            declared = _TRUTH
        states = tuple(dict.fromkeys(str(text) for text, _, _ in filled))
        lists = None if declared is None else (declared,)
        self.seen = self.seen.joined(Seen(states, lists, None in texts))
        code_of: dict[str | None, int] = {text: code for code, text in enumerate(self.seen.texts)}
        for text, value in zip(texts, values, strict=True):
            self._codes[type(value), value] = code_of.get(text, _GAP)
        self.values = {str(text): one for text, one, _ in filled} | self.values

    def _state(self, value: Any, row: int, declared: tuple[str, ...] | None) -> str | None:
        """Return the state that a value is, None where it is missing; refuse all others and too many states."""
        if len(self.seen.texts) > MANY_STATES:  # no column of states has so many: stop early
            check_variety(self.name, len(self.seen.texts), row, max(self.rules.n_declared, len(declared or ())))
        try:
            return self._state_of(value, declared)
        except CellError as problem:
            raise CellError(f"{self.place(row, self.name)}{problem}", self.name, row, value) from None

    def _state_of(self, value: Any, declared: tuple[str, ...] | None) -> str | None:
        """Return the state that a value is, None where it is missing; refuse all other values."""
        rules, states = self.rules, self.rules.states or ()
        read = read_value(value)
        if read is None and declared is None:
            raise CellError(f" is {value!r:.60}; {_NO_STATE}")
        text, number = read or (str(value), None)  # dates and intervals can be categories
        if text is not None and number is not None:
            text = self._state_of_number(text, number)
        elif text is not None and text not in states and text not in (declared or ()):
            if self.form == "text" and any(mark in text for mark in "\0\n\r"):
                raise CellError(
                    f": {text[:30]!r} contains a NUL byte or the end of a line; is a quote not closed, or the file "
                    "not in UTF-8?"
                )
            text = text.strip()
            text = None if text in MISSING else text
        if text is None and rules.missing == "error":
            shown = repr(value.strip()) if isinstance(value, str) else "NaN"
            if value == -1:
                shown = "-1 in an array; if it is a state, give texts: rows.astype(str)"
            raise CellError(
                f": the value is missing ({shown}). Fill it in, or drop the row; missing='pairwise' leaves such "
                f"cells out of the counts, missing='category' makes them a state, {PREPARE_ADVICE}"
            )
        if text is not None and states and text not in states:
            raise CellError(
                f": {text!r} is not among the states {some_of(states)}; correct it or declare it too; if it is a "
                "missing value, leave the cell empty, or write NA"
            )
        return text

    def _state_of_number(self, text: str, number: int) -> str | None:
        """Return the state that a whole number or a truth value is, None where it is a missing value."""
        rules, is_array = self.rules, self.form == "array"
        if is_array and number == -1:
            return None
        if is_array and number < 0 and rules.missing != "error":
            raise CellError(
                f" is {number}; with missing={rules.missing!r}, -1 is a missing value and no other number may be "
                "below 0; recode it or give texts"
            )
        names_numbers = text in _TRUTH or any(map(str.isdecimal, rules.states or ()))
        if not rules.n_declared or (names_numbers and not is_array):
            return text
        if not 0 <= number < rules.n_declared:
            raise CellError(
                f" is {number}, outside the alphabet 0..{rules.n_declared - 1}; recode it, raise n_states, or use "
                "missing='pairwise' if -1 is a missing value"
            )
        return str(number) if rules.states is None else rules.states[number]


def check_names(where: object, names: Sequence[str], *, header: bool = False) -> None:
    """Refuse columns without a name, or with the name of another; a ``header`` may be data taken for names."""
    if "" in names:
        raise DataError(
            f"column {names.index('') + 1} of {where} has no name; rename it, or leave it out if it is an index, "
            f"{PREPARE_ADVICE}"
        )
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        hint = ", or, if the first line is data, use header=False (--no-header)" if header else ""
        raise DataError(f"two columns are named {twice!r} in {where}; rename one{hint}")
