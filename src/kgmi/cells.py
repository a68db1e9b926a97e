"""From cells to codes: what a state is, what a missing value is, and which columns share an alphabet.

Arrays, data frames, files and batches of a stream all come through here. A :class:`ColumnCoder` codes one column, batch
after batch, in the order in which values are met; :func:`choose_alphabets` then says what the states are in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import chain, count
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from kgmi.errors import CellError, DataError, SettingError, TooFewRowsError, TooLargeError
from kgmi.types import Bools, Codes, Ints, Names

__all__ = [
    "MISSING",
    "PREPARE_ADVICE",
    "Alphabet",
    "Alphabets",
    "Cells",
    "ColumnCoder",
    "Missing",
    "Place",
    "Rules",
    "Seen",
    "cells_of_array",
    "cells_of_arrow",
    "cells_of_objects",
    "cells_of_series",
    "check_names",
    "choose_alphabets",
    "code_type",
    "in_order",
    "is_missing",
    "whole_number",
]

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "./.", ".|."})
"""Texts that are missing values; the last two are genotypes that could not be called (VCF)."""
PREPARE_ADVICE = "or let kgmi.prepare (--prepare) do it"
"""What to do about a table that needs cleaning."""

Missing: TypeAlias = Literal["error", "category", "pairwise"]
"""What a missing value is: an error, one more state, or left out of the counts that need it (code -1)."""
Alphabet: TypeAlias = Literal["auto", "shared", "own"]
"""Whether all columns share one alphabet, each has its own, or the values decide."""
Place: TypeAlias = Callable[[int, str], str]
"""Where a cell is, in words, from its row (counted from 0) and the name of its column."""

MANY_STATES = 1_000  # more different values than this are measurements or identifiers
FEW_STATES = 20  # up to here, a short table may show a new state in every other row
_MOST_STATES = 1_000_000
_LARGEST_WHOLE = 2**53  # above, a float cannot represent every whole number
_WIDE = 1 << 16  # a range of whole numbers beyond which a lookup table does not pay
_GAP, _NEW = -1, -2
_TRUTH = ("False", "True")
_MISSING_ADVICE = "missing='pairwise' leaves such cells out of the counts, missing='category' makes them a state"


@dataclass(frozen=True)
class Rules:
    """How cells become codes; :func:`kgmi.table.as_table` describes the choices."""

    states: Names | None = None
    n_states: int | None = None
    missing: Missing = "error"
    alphabet: Alphabet = "auto"

    def __post_init__(self) -> None:
        for name, chosen, choices in (
            ("missing", self.missing, get_args(Missing)),
            ("alphabet", self.alphabet, get_args(Alphabet)),
        ):
            if not isinstance(chosen, str) or chosen not in choices:
                raise SettingError(f"{name} must be one of {', '.join(map(repr, choices))}, got {chosen!r}")
        if self.n_states is not None:
            size = whole_number("n_states", self.n_states)
            if size < 2:
                raise SettingError(f"n_states must be at least 2, got {size}")
            if size > _MOST_STATES:
                raise TooLargeError(f"n_states is {size:,}; the limit is {_MOST_STATES:,} states")
            object.__setattr__(self, "n_states", size)
        if self.states is not None:
            object.__setattr__(self, "states", self._checked_states())
        if self.own and self.n_declared:
            name = "n_states" if self.states is None else "states"
            raise SettingError(
                f"{name} declares one alphabet for all columns, alphabet='own' gives each column its own: leave "
                f"{name} out, or declare the categories of each column in a data frame"
            )

    def _checked_states(self) -> tuple[str, ...]:
        if not isinstance(self.states, Iterable) or isinstance(self.states, str):
            raise SettingError(f"states must be a list of texts, got {self.states!r}")
        states = tuple(self.states)
        if len(set(states)) != len(states) or len(states) < 2 or not all(isinstance(s, str) for s in states):
            raise DataError(f"the declared states must be two or more different texts, got {list(states)}")
        if self.n_states not in (None, len(states)):
            raise SettingError(f"n_states is {self.n_states}, but {len(states)} states are declared")
        return states

    @property
    def own(self) -> bool:
        """Whether each column has its own alphabet."""
        return self.alphabet == "own"

    @property
    def n_declared(self) -> int:
        """Number of declared states, or 0."""
        return self.n_states or 0 if self.states is None else len(self.states)

    def column_states(self, values: Sequence[Collection[str]]) -> list[frozenset[str]]:
        """Return the states of each column, given the values that occur or are declared in each.

        With ``auto``, columns over one set of values share it: columns with values in common, directly or through
        other columns, share all of them where one column has all, except columns that have fewer than half, which
        are grouped among themselves in the same way.
        """
        own = [frozenset(some) for some in values]
        if self.own:
            return own
        if self.alphabet == "shared" or self.n_declared:
            return [frozenset().union(*own)] * len(own)
        states = _shared_sets(own)
        return [states[some] for some in own]


def whole_number(option: str, given: Any) -> int:
    """Return a whole number of any integer type as an int."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise SettingError(f"{option} must be a whole number, got {given!r}")
    return int(given)


def _shared_sets(columns: Iterable[frozenset[str]]) -> dict[frozenset[str], frozenset[str]]:
    """Return the states that go with each set of values."""
    group_of: dict[str, set[frozenset[str]]] = {}  # one object for all values of a group
    for values in {*columns}:
        joined = {values}.union(*(group_of.get(value, ()) for value in values))
        group_of.update(dict.fromkeys((value for some in joined for value in some), joined))
    states = {values: values for values in columns}
    for group in {id(one): one for one in group_of.values()}.values():
        union = frozenset().union(*group)
        if union in group:
            few = {values for values in group if 1 < len(values) < len(union) / 2}
            states |= dict.fromkeys(group - few, union) | _shared_sets(few)
    return states


@dataclass(frozen=True, eq=False)
class Cells:
    """Some rows of one column.

    Attributes
    ----------
    index
        [row]: position in ``values``, negative for a missing value; the whole number itself where ``values`` is None.
    values
        The different values, a list or an Arrow array; None for whole numbers and truth values.
    gaps
        [row]: whether the value is missing, whatever ``index`` holds there; None: no further ones.
    declared
        The categories of a categorical type, in their order; None for all other types.
    is_truth
        Whether whole numbers are truth values.
    """

    index: np.ndarray[Any, np.dtype[Any]]
    values: Any = None
    gaps: Bools | None = None
    declared: tuple[str, ...] | None = None
    is_truth: bool = False

    def taken(self, rows: Ints) -> Cells:
        """Return some of the rows."""
        gaps = None if self.gaps is None else self.gaps[rows]
        return Cells(self.index[rows], self.values, gaps, self.declared, self.is_truth)


def cells_of_array(column: np.ndarray[Any, np.dtype[Any]], name: str, place: Place) -> Cells:
    """Return a column of an array."""
    gaps = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
    plain = np.ma.getdata(column)
    if plain.dtype.kind in "iu":
        return Cells(np.asarray(plain, dtype=plain.dtype.newbyteorder("=")), gaps=gaps)
    if plain.dtype.kind == "b":
        return Cells(plain.astype(np.uint8), gaps=gaps, is_truth=True)
    if plain.dtype.kind == "f":
        return _cells_of_floats(np.asarray(plain, dtype=np.float64), gaps, name, place)
    if plain.dtype.kind not in "USTO":
        raise DataError(
            f"column '{name}' is of type {plain.dtype}; states are texts, whole numbers or truth values: recode it"
        )
    cells = plain.tolist()
    if gaps is not None:
        cells = [None if gap else cell for cell, gap in zip(cells, gaps, strict=True)]
    return cells_of_objects(cells, name, place)


def _cells_of_floats(values: Any, gaps: Bools | None, name: str, place: Place) -> Cells:
    """Return floats that are whole numbers or missing (NaN); any other is an error at its cell."""
    missing = np.isnan(values)
    gaps = missing if gaps is None else gaps | missing
    values = np.where(gaps, 0.0, values)
    broken = ~(np.abs(values) <= _LARGEST_WHOLE) | (values != np.rint(values))
    if broken.any():
        row = int(broken.argmax())
        raise _no_state(values[row].item(), row, name, place)
    return Cells(values.astype(np.int64), gaps=gaps if gaps.any() else None)


def cells_of_objects(cells: Sequence[Any], name: str, place: Place) -> Cells:
    """Return a list of texts, numbers, truth values and missing values, in any mixture."""
    try:
        position = {key: number for number, key in enumerate(dict.fromkeys((type(one), one) for one in cells))}
    except TypeError:  # lists, arrays and the like are not hashable
        row = next(row for row, value in enumerate(cells) if not _is_hashable(value))
        raise _no_state(cells[row], row, name, place) from None
    index = np.fromiter((position[type(one), one] for one in cells), dtype=np.int64, count=len(cells))
    return Cells(index, [value for _, value in position])


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def cells_of_series(series: Any, name: str, place: Place) -> Cells:
    """Return a column of a data frame (a narwhals series)."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    kind = series.dtype
    if kind in (nw.Categorical, nw.Enum) and series.implementation.is_pandas_like():
        native = series.to_native().cat
        values = native.categories.tolist()
        return Cells(np.asarray(native.codes), values, None, _category_texts(values))
    if kind in (nw.Object, nw.Unknown, nw.Decimal, nw.Int128, nw.UInt128):
        return cells_of_objects(series.to_list(), name, place)
    arrow = series.to_arrow()
    if isinstance(arrow, pa.ChunkedArray):
        arrow = arrow.combine_chunks()
    # The list behind a Categorical of polars is shared by all of its columns, so it declares nothing.
    declares = not (kind == nw.Categorical and series.implementation.is_polars())
    return cells_of_arrow(arrow, name, place, declares=declares)


def cells_of_arrow(array: Any, name: str, place: Place, *, declares: bool = True) -> Cells:
    """Return an Arrow array, without a copy where its type allows it.

    ``declares`` says whether a dictionary lists the categories of the column, or is only how its texts are stored.
    """
    import pyarrow as pa
    from pyarrow import types

    kind = array.type
    if types.is_integer(kind):
        return Cells(_buffer(array, np.dtype(str(kind))), gaps=_nulls(array))
    if types.is_boolean(kind):
        return Cells(_buffer(array.cast(pa.uint8()), np.dtype(np.uint8)), gaps=_nulls(array), is_truth=True)
    if types.is_floating(kind):
        return _cells_of_floats(
            np.array(_buffer(array.cast(pa.float64()), np.dtype(np.float64))), _nulls(array), name, place
        )
    if types.is_null(kind):
        return Cells(np.full(len(array), -1, dtype=np.int8), [])
    if types.is_string_view(kind):
        array = array.cast(pa.large_string())
    if types.is_string(array.type) or types.is_large_string(array.type):
        array.validate(full=True)  # invalid UTF-8 would end the process later
        array, declares = array.dictionary_encode(), False
    elif types.is_decimal(kind):
        return cells_of_objects(array.to_pylist(), name, place)
    if not types.is_dictionary(array.type):
        raise DataError(
            f"column '{name}' is of type {kind}; a state is a text, a whole number, a truth value or a category: "
            f"leave the column out, bin it or write it as text, {PREPARE_ADVICE}"
        )
    array.dictionary.validate(full=True)
    indices = array.indices
    values = array.dictionary.to_pylist()
    return Cells(
        _buffer(indices, np.dtype(str(indices.type))),
        values,
        _nulls(indices),
        _category_texts(values) if declares else None,
    )


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
    texts = (str(one) if (read := _read(one)) is None else read[0] for one in categories if not is_missing(one))
    return tuple(dict.fromkeys(str(text) for text in texts))


def _read(value: Any) -> tuple[str | None, int | None] | None:
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


def _no_state(value: Any, row: int, name: str, place: Place) -> CellError:
    """Return the error on a cell that cannot be a state."""
    where = place(row, name)
    if isinstance(value, Real | Decimal):
        message = (
            f"{where} is {value}; states must be whole numbers or texts. It looks like a measurement: leave the "
            f"column out or bin it, {PREPARE_ADVICE}"
        )
    elif isinstance(value, bytes):
        message = f"{where} is {value[:30]!r}, which is not UTF-8 text; decode the column"
    else:
        message = (
            f"{where} holds a value of type {type(value).__name__}; a state is a text, a whole number or a truth "
            "value: leave the column out, bin it or write it as text"
        )
    return CellError(message, column=name, row=row, value=value)


@dataclass(frozen=True)
class Seen:
    """What was seen in one column so far; what several fragments saw is joined, in any order, to the same states.

    Attributes
    ----------
    texts
        ``texts[code]``: the state, in order of first appearance.
    declared
        The lists of categories that its type declared, each in its order; None where it declared none everywhere.
    has_gaps
        Whether a value was missing.
    is_truth
        Whether all values were truth values.
    """

    texts: tuple[str, ...] = ()
    declared: tuple[tuple[str, ...], ...] | None = None
    has_gaps: bool = False
    is_truth: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there was no cell at all."""
        return not self.texts and not self.has_gaps

    @property
    def categories(self) -> tuple[str, ...]:
        """The declared categories in one order that keeps the order of every list, or the usual order."""
        if self.declared is None:
            return _TRUTH if self.is_truth else ()
        return agreed_order(self.declared)

    def joined(self, other: Seen) -> Seen:
        """Return what was seen in both; codes of ``self`` keep their meaning."""
        if self == other or other.is_empty:
            return self
        if self.is_empty:
            return other
        declared = None
        if self.declared is not None and other.declared is not None:
            declared = tuple(sorted({*self.declared, *other.declared}))
        return Seen(
            tuple(dict.fromkeys((*self.texts, *other.texts))),
            declared,
            self.has_gaps or other.has_gaps,
            self.is_truth and other.is_truth,
        )


def agreed_order(lists: Iterable[Names]) -> tuple[str, ...]:
    """Return one order of all categories that keeps the order of every list; the usual one if they disagree."""
    different = sorted({tuple(names) for names in lists}, key=lambda names: (-len(names), names))
    position = {text: place for place, text in enumerate(dict.fromkeys(chain.from_iterable(different)))}
    for names in different:
        places = [position[text] for text in names]
        if places != sorted(places):
            return in_order(position)
    return tuple(position)


def in_order(texts: Collection[str], first: Names = ()) -> tuple[str, ...]:
    """Return categories as given, then the other texts: numbers by value, then words."""
    return (*first, *sorted(set(texts).difference(first), key=_number_or_text))


def _number_or_text(text: str) -> tuple[bool, Decimal, str]:
    number = _number(text)
    return (True, Decimal(0), text) if number is None else (False, number, text)


def _number(text: str) -> Decimal | None:
    """Return the number that a text writes, exactly: long identifiers must not become equal as floats do."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return None if number.is_nan() or "_" in text else number  # 1_000 is Python's spelling, not the data's


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
        Where the cells come from: a ``text`` file, ``typed`` columns (data frames, Parquet), or an ``array``, in which
        -1 is a missing value where missing values are allowed, and numbers are positions among declared states.
    place
        Where a cell is, in words.
    """

    name: str
    rules: Rules
    form: Literal["text", "typed", "array"]
    place: Place
    seen: Seen = field(default_factory=Seen, init=False)
    minus_one: int | None = field(default=None, init=False)  # the first row that holds -1, if any
    _codes: dict[str, int] = field(default_factory=dict, init=False)
    _low: int = field(default=0, init=False)
    _by_number: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), init=False)
    _is_truth: bool | None = field(default=None, init=False)
    _list: Any = field(default=None, init=False)
    _by_place: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), init=False)

    def code(self, cells: Cells, row: int = 0) -> Codes:
        """Return the codes of some rows, the first of which is ``row``; -1 where the value is missing."""
        if not len(cells.index):
            return np.zeros(0, dtype=np.int8)
        numbers = cells.values is None
        gaps = _all_gaps(cells)
        if gaps is not None and gaps.all():
            codes: Codes = np.full(len(gaps), _GAP, dtype=np.int8)
        else:
            index = cells.index if gaps is None else np.where(gaps, cells.index[int(gaps.argmin())], cells.index)
            if numbers and (int(index.max()) - int(index.min()) >= _WIDE or index.dtype == np.uint64):
                values, index = np.unique(index, return_inverse=True)
                cells, numbers = Cells(index, values.tolist(), is_truth=cells.is_truth), False
            places = self._number_places(index, cells.is_truth) if numbers else self._list_places(index, cells)
            codes = self._looked_up(places, cells, numbers, row)
            if gaps is not None:
                codes[gaps] = _GAP
        self._note(cells, codes, row)
        return codes

    def _number_places(self, values: Any, is_truth: bool) -> Any:
        """Return positions of whole numbers in the lookup table, which is extended where it is too short."""
        if is_truth != self._is_truth:
            self._is_truth, self._by_number = is_truth, self._by_number[:0]
        low, high = int(values.min()), int(values.max())
        if len(self._by_number):
            low, high = min(low, self._low), max(high, self._low + len(self._by_number) - 1)
        elif 0 <= low < _WIDE // 2:
            low = 0  # so that nothing need be subtracted
        if (low, high) != (self._low, self._low + len(self._by_number) - 1):
            table = np.full(high - low + 1, _NEW, dtype=np.int64)
            table[self._low - low : self._low - low + len(self._by_number)] = self._by_number
            self._low, self._by_number = low, table
        return values if low == 0 else values.astype(np.int64) - low

    def _list_places(self, index: Any, cells: Cells) -> Any:
        if self._list is not cells.values and self._list != cells.values:
            self._by_place = np.full(len(cells.values), _NEW, dtype=np.int64)
            self._list = cells.values
        if int(index.max()) >= len(self._by_place):
            raise DataError(
                f"column '{self.name}' refers to categories that it does not have; the rows are damaged"
            )
        return index

    def _looked_up(self, places: Any, cells: Cells, numbers: bool, row: int) -> Codes:
        """Return ``table[places]``, after values that were not met before got their codes."""
        table = self._by_number if numbers else self._by_place
        codes: Codes = np.take(table.astype(code_type(len(self._codes))), places)
        while int(codes.min()) == _NEW:
            for at in np.flatnonzero(codes == _NEW)[:4096].tolist():
                place = int(places[at])
                if table[place] == _NEW:
                    number = self._low + place if numbers else None
                    value = (bool(number) if cells.is_truth else number) if numbers else cells.values[place]
                    table[place] = self._code_of(value, row + at, cells.declared)
            codes = np.take(table.astype(code_type(len(self._codes))), places)
        return codes

    def _code_of(self, value: Any, row: int, declared: tuple[str, ...] | None) -> int:
        """Return the code of a value that was not met before, -1 for a missing value."""
        read = _read(value)
        if read is None and declared is not None:
            read = str(value), None  # dates or intervals that were declared to be categories
        if read is None:
            raise _no_state(value, row, self.name, self.place)
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
            raise CellError(
                f"{self.place(row, self.name)}: {text!r} is not among the states {_some(states)}; correct it, or "
                "declare it too; if it is a missing value, leave the cell empty, or write NA",
                column=self.name,
                row=row,
                value=value,
            )
        code = self._codes.setdefault(text, len(self._codes))
        if code == MANY_STATES:  # stop early: no column of states has so many
            check_variety(self.name, len(self._codes), row, max(self.rules.n_declared, len(declared or ())))
        return code

    def _text_of_number(self, text: str, number: int, row: int) -> str:
        """Return the state that a number is; an error where it is none."""
        rules = self.rules
        by_position = rules.states is not None and (
            self.form == "array" or not any(state.isdecimal() for state in rules.states)
        )
        if (self.form == "array" or by_position) and rules.n_declared:
            if not 0 <= number < rules.n_declared:
                advice = "recode it: codes start at 0" if number < 0 else "recode it or raise n_states"
                if number == -1 and rules.missing == "error":
                    advice += "; if -1 is a missing value, say so with missing='pairwise'"
                raise CellError(
                    f"{self.place(row, self.name)} is {number}, outside the alphabet 0..{rules.n_declared - 1}; {advice}",
                    column=self.name,
                    row=row,
                    value=number,
                )
            return str(number) if rules.states is None else rules.states[number]
        if self.form == "array" and number == -1 and self.minus_one is None:
            self.minus_one = row
        if self.form == "array" and number < -1 and rules.missing != "error":
            raise CellError(
                f"{self.place(row, self.name)} is {number}, but with missing='{rules.missing}' numbers below 0 other "
                "than -1, which is a missing value, are no states; recode it or give texts",
                column=self.name,
                row=row,
                value=number,
            )
        return text

    def _check_line(self, text: str, row: int) -> None:
        """Refuse a text of a file with a NUL byte, and one of several lines: a quote may not be closed."""
        if self.form != "text":
            return
        if "\0" in text:
            problem = "contains a NUL byte; the file is damaged or not UTF-8 text: correct it or save it as UTF-8"
        elif "\n" in text or "\r" in text:
            problem = "runs over the end of the line; is a quote not closed?"
        else:
            return
        where = self.place(row, self.name)
        raise CellError(f"{where}: the value {text[:30]!r} {problem}", column=self.name, row=row, value=text)

    def _note(self, cells: Cells, codes: Codes, row: int) -> None:
        """Update what was seen; refuse missing values where they are errors."""
        has_gaps = int(codes.min()) == _GAP
        if has_gaps and self.rules.missing == "error":
            at = int((codes == _GAP).argmax())
            shown = None if cells.values is None or cells.index[at] < 0 else cells.values[cells.index[at]]
            quoted = f" ({shown.strip()!r})" if isinstance(shown, str) else " (NaN)" if cells.values is None else ""
            raise CellError(
                f"{self.place(row + at, self.name)}: the value is missing{quoted}. Fill it in or drop the row, or say "
                f"what it means: {_MISSING_ADVICE}, {PREPARE_ADVICE}",
                column=self.name,
                row=row + at,
                value=shown,
            )
        before = self.seen
        declared = None
        if cells.declared is not None and (before.is_empty or before.declared is not None):
            declared = before.declared or ()
            declared = declared if cells.declared in declared else tuple(sorted((*declared, cells.declared)))
        is_truth = (cells.is_truth or _are_truth(cells)) and (before.is_empty or before.is_truth)
        changed = (
            len(self._codes) != len(before.texts)
            or declared != before.declared
            or has_gaps > before.has_gaps
            or is_truth != before.is_truth
        )
        if changed:
            self.seen = Seen(tuple(self._codes), declared, has_gaps or before.has_gaps, is_truth)


def _are_truth(cells: Cells) -> bool:
    values = cells.values if isinstance(cells.values, list) else ()
    return bool(values) and len(values) <= 4 and all(isinstance(v, bool) or is_missing(v) for v in values)


def _all_gaps(cells: Cells) -> Bools | None:
    """Return which rows have no value; None: all have one."""
    gaps = cells.gaps
    if cells.values is not None and cells.index.dtype.kind == "i" and int(cells.index.min()) < 0:
        below = cells.index < 0
        gaps = below if gaps is None else gaps | below
    return gaps if gaps is not None and gaps.any() else None


def code_type(n_states: int) -> np.dtype[Any]:
    """Return the smallest signed type that holds so many codes."""
    return np.min_scalar_type(-max(n_states, 2))


@dataclass(frozen=True, eq=False)
class Alphabets:
    """What the states are in the end.

    Attributes
    ----------
    states
        The alphabet that all columns share, or the states of all columns together.
    own
        The alphabet of each column; None where all share ``states``.
    maps
        ``maps[column][code]``: the final code of each code of a coder; the last entry is what a missing value becomes.
    gap
        The state that missing values are, or would be; None where they are none.
    """

    states: tuple[str, ...]
    own: tuple[tuple[str, ...], ...] | None
    maps: tuple[Ints, ...]
    gap: str | None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of states of every column."""
        return (len(self.states),) * len(self.maps) if self.own is None else tuple(map(len, self.own))

    def coded(self, columns: Sequence[Codes]) -> Codes:
        """Return final codes [row, column] from the codes of the coders."""
        dtype = code_type(max(self.sizes))
        out: Codes = np.empty((len(columns[0]), len(columns)), dtype=dtype)
        for number, (codes, final) in enumerate(zip(columns, self.maps, strict=True)):
            out[:, number] = final.astype(dtype)[codes]  # -1 looks up the last
        return out


def choose_alphabets(
    seen: Sequence[Seen], names: Names, rules: Rules, filled: Sequence[int], *, header: Names | None = None
) -> Alphabets:
    """Return the final alphabets of all columns.

    Parameters
    ----------
    seen
        What was seen in each column.
    names
        What messages call the columns.
    rules
        What the states are, and what a missing value is.
    filled
        Number of rows in which each column has a value.
    header
        The first line of a text file, which is refused if it looks like a row.
    """
    if all(one.is_empty for one in seen):
        raise TooFewRowsError("there are no rows")
    for one, name, n_filled in zip(seen, names, filled, strict=True):
        if not one.texts:
            failure = DataError if rules.missing == "error" else TooFewRowsError
            raise failure(f"column '{name}' has no value in any row; leave it out, {PREPARE_ADVICE}")
        check_variety(name, len(one.texts), int(n_filled), max(rules.n_declared, len(one.categories)))
    _check_numbers(seen, names, rules)
    texts = {text for one in seen for text in one.texts}
    wanted = rules.column_states([(*one.texts, *one.categories) for one in seen])
    has_gaps = any(one.has_gaps for one in seen)
    states = _all_states(texts, rules, seen, least=1 if has_gaps and rules.missing == "category" else 2)
    if header is not None and {*header} <= {*texts, *states}:
        raise DataError(
            f"the first line looks like data ({_some(header)} {'is' if len(header) == 1 else 'are'} also "
            f"{'a state' if len(header) == 1 else 'states'}): if it is, say so with header=False (--no-header); if "
            "not, rename the columns"
        )
    shared = not rules.own and len({*wanted}) == 1
    own = None if shared else _own_alphabets(seen, wanted, rules)
    return _with_gaps(states, own, seen, rules)


def check_variety(name: str, n_values: int, n_rows: int, n_declared: int) -> None:
    """Refuse a column of measurements or identifiers: many values, or a new one in more than every other row."""
    many = n_values > MANY_STATES or (n_values > FEW_STATES and 2 * n_values > n_rows)
    if many and n_values > n_declared:
        more_rows_help = n_values <= MANY_STATES and not n_declared
        raise (TooFewRowsError if more_rows_help else DataError)(
            f"column '{name}' has {n_values:,} different values in {n_rows:,} rows; it looks like a measurement or an "
            f"identifier, not a state. Leave it out, bin it, or declare the states, {PREPARE_ADVICE}"
        )


def _check_numbers(seen: Sequence[Seen], names: Names, rules: Rules) -> None:
    """Refuse one number written in two ways (1 and 1.0): as texts they would be two states."""
    if rules.states is not None:
        return
    columns = [(name, one.texts) for name, one in zip(names, seen, strict=True) if not one.declared]
    for group in [[one] for one in columns] if rules.own else [columns]:
        first: dict[Decimal, tuple[str, str]] = {}
        for name, texts in group:
            for text in sorted(texts):
                number = None if text.isdecimal() and text[0] != "0" else _number(text)
                key = Decimal(text) if number is None and text.isdecimal() else number
                if key is None:
                    continue
                other, where = first.setdefault(key, (text, name))
                if other != text:
                    raise DataError(
                        f"{other!r} (column '{where}') and {text!r} (column '{name}') are the same number: write "
                        f"them alike, or declare the states, {PREPARE_ADVICE}"
                    )


def _all_states(texts: set[str], rules: Rules, seen: Sequence[Seen], least: int) -> tuple[str, ...]:
    """Return the alphabet as declared, or 0..S-1 where that fits, or what was seen, in order."""
    if rules.states is not None:
        return tuple(rules.states)
    ordered = in_order(texts, agreed_order(one.categories for one in seen if one.categories))
    n_states = rules.n_states
    if n_states is not None:
        if all(text.isdecimal() and str(int(text)) == text and int(text) < n_states for text in ordered):
            return tuple(map(str, range(n_states)))
        if len(ordered) != n_states:
            raise (TooFewRowsError if len(ordered) < n_states else DataError)(
                f"{n_states} states were expected, the data have {len(ordered)}: {_some(ordered)}; declare the states "
                "in their order"
            )
    if len(ordered) < least:
        raise TooFewRowsError(
            f"the whole table has one state only ({_some(ordered)}), so there is nothing to learn"
        )
    return ordered


def _own_alphabets(
    seen: Sequence[Seen], wanted: Sequence[frozenset[str]], rules: Rules
) -> tuple[tuple[str, ...], ...]:
    """Return the states of each column in order; columns that share them agree on one order."""
    if rules.own:
        return tuple(in_order(some, one.categories) for one, some in zip(seen, wanted, strict=True))
    orders: dict[frozenset[str], list[Names]] = {}
    for one, some in zip(seen, wanted, strict=True):
        orders.setdefault(some, []).append(one.categories)
    ordered = {some: in_order(some, agreed_order(lists)) for some, lists in orders.items()}
    return tuple(ordered[some] for some in wanted)


def _with_gaps(
    states: tuple[str, ...], own: tuple[tuple[str, ...], ...] | None, seen: Sequence[Seen], rules: Rules
) -> Alphabets:
    """Return the alphabets with one more state for missing values, where these are a state."""
    gap, has_gaps = None, any(one.has_gaps for one in seen)
    if rules.missing == "category":
        is_declared = rules.states is not None and states[-1] == "missing"
        if is_declared or has_gaps:
            gap = "missing" if is_declared else gap_state(states)
        if has_gaps and not is_declared:
            states = (*states, str(gap))
        if has_gaps and own is not None and not is_declared:
            own = tuple(
                (*alphabet, str(gap)) if one.has_gaps else alphabet for alphabet, one in zip(own, seen, strict=True)
            )
    maps = []
    for column, one in enumerate(seen):
        code = {state: number for number, state in enumerate(states if own is None else own[column])}
        is_state = gap is not None and one.has_gaps
        maps.append(np.array([*(code[text] for text in one.texts), code[str(gap)] if is_state else _GAP]))
    return Alphabets(states, own, tuple(maps), gap)


def gap_state(taken: Collection[str]) -> str:
    """Return a name for missing values that no other state has: missing, missing_2, …."""
    names = ("missing" if number == 1 else f"missing_{number}" for number in count(1))
    return next(name for name in names if name not in taken)


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


def _some(texts: Sequence[str]) -> str:
    return ", ".join(texts[:8]) + (" …" if len(texts) > 8 else "")
