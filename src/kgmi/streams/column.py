"""``ColumnCoder``: one column of a fragment to codes, with tables that know every value that was met before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from kgmi.data.columns import no_state
from kgmi.data.origin import column_label
from kgmi.data.rules import MISSING_ADVICE, Rules
from kgmi.errors import DataError
from kgmi.streams.alphabets import Form
from kgmi.streams.meaning import Meaning
from kgmi.streams.raw import Listed, Numbers, Raw, listed_numbers, same_list
from kgmi.streams.seen import Seen
from kgmi.types import Codes, Ints

__all__ = ["ColumnCoder"]

_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_GAP, _NEW = -1, -2  # what a table says of a value that is none, and of one that was not met yet
_WIDE = 1 << 16  # a range of whole numbers beyond which a table does not pay
_LARGEST_WHOLE = 2**53  # above, a float no longer tells whole numbers apart
_LOOK_ROWS = 1 << 12  # mostly enough to meet all values, and quickly sorted


class ColumnCoder:
    """Codes one column; see :class:`kgmi.streams.coding.Coder` for the parameters."""

    def __init__(
        self, name: str, own_name: str, rules: Rules, form: Form, number: int, place: Callable[[int, str], str]
    ) -> None:
        self._label = column_label(name, 0)
        self._place_of = place
        self._missing = rules.missing
        self._meaning = Meaning(self._label, own_name, rules, form, number)
        self._low, self._is_truth = 0, False
        self._by_number: Ints = np.full(0, _NEW, dtype=np.int64)
        self._list: Any = None
        self._declares = False
        self._by_place: Ints = np.full(0, _NEW, dtype=np.int64)

    def _place(self, row: int) -> str:
        return self._place_of(row, self._label)

    @property
    def n_texts(self) -> int:
        """How many states were met."""
        return self._meaning.n_texts

    def seen(self) -> Seen:
        """What was seen so far."""
        return self._meaning.seen()

    def code(self, raw: Raw, out: Codes, row: int) -> bool:
        """Write the codes of some rows, the first of which is ``row``; False where ``out`` cannot hold them."""
        if isinstance(raw, Numbers) or raw.declared is None:
            self._meaning.has_plain = True
        fits = self._code_numbers(raw, out, row) if isinstance(raw, Numbers) else self._code_listed(raw, out, row)
        if fits and out.min() == _GAP:
            self._note_gaps(raw, out, row)
        return fits

    def _code_numbers(self, raw: Numbers, out: Codes, row: int) -> bool:
        values, gaps = self._whole(raw, row)
        if values is None:
            out[:] = _GAP
            return True
        if raw.is_truth != self._is_truth:  # 1 and True are different values
            self._is_truth, self._by_number = raw.is_truth, self._by_number[:0]
        places = self._places(values)
        if places is None:
            return self._code_listed(listed_numbers(Numbers(values, gaps, raw.is_truth)), out, row)

        def value_of(place: int) -> bool | int:
            number = self._low + place
            return bool(number) if raw.is_truth else number

        return self._look_up(places, gaps, self._by_number, value_of, out, row)

    def _code_listed(self, raw: Listed, out: Codes, row: int) -> bool:
        declares = raw.declared is not None  # the same list means something else where it is one of categories
        if self._list is None or declares != self._declares or not same_list(raw.source, self._list):
            self._by_place = np.full(len(raw.source), _NEW, dtype=np.int64)
            if (categories := raw.categories) is not None:
                self._meaning.declare(categories)
        self._list, self._declares = raw.source, declares
        index, gaps = raw.index, raw.gaps
        if index.dtype.kind == "i" and index.min() < 0:
            below = index < 0
            gaps = below if gaps is None else gaps | below
        if gaps is not None:
            if gaps.all():
                out[:] = _GAP
                return True
            index = np.where(gaps, index[int(gaps.argmin())], index)
        if int(index.max()) >= len(self._by_place):
            raise DataError(f"{self._label} refers to categories that it does not have; the rows are damaged")
        return self._look_up(index, gaps, self._by_place, lambda place: raw.values[place], out, row)

    def _look_up(
        self, places: _Array, gaps: _Array | None, table: Ints, value_of: Callable[[int], Any], out: Codes, row: int
    ) -> bool:
        """Write ``table[places]``, whose new entries are filled in before; False where ``out`` cannot hold them."""
        np.take(table.astype(out.dtype), places, out=out, mode="clip")
        while out.min() == _NEW:
            first = int(np.argmax(out == _NEW))
            rows = first + np.flatnonzero(out[first : first + _LOOK_ROWS] == _NEW)
            self._learn(places, rows, table, value_of, row)
            if self.n_texts - 1 > np.iinfo(out.dtype).max:
                return False
            np.take(table.astype(out.dtype), places, out=out, mode="clip")
        if gaps is not None:
            out[gaps] = _GAP
        return True

    def _learn(self, places: _Array, rows: Ints, table: Ints, value_of: Callable[[int], Any], row: int) -> None:
        """Enter values that were not met before, in the order of the rows."""
        different, first = np.unique(places[rows], return_index=True)
        order = np.argsort(first)
        for place, at in zip(different[order].tolist(), rows[first[order]].tolist(), strict=True):
            table[place] = self._meaning.code_of(value_of(place), partial(self._place, row + at), row + len(places))

    def _whole(self, raw: Numbers, row: int) -> tuple[_Array | None, _Array | None]:
        """Whole numbers and where the gaps are, which hold some number of the column; None: there are only gaps."""
        values, gaps = raw.values, raw.gaps
        if values.dtype.kind == "f":
            unknown = np.isnan(values)
            if unknown.any():
                gaps = unknown if gaps is None else gaps | unknown
        if gaps is not None:
            if gaps.all():
                return None, gaps
            values = np.where(gaps, values[int(gaps.argmin())], values)
        if values.dtype.kind != "f":
            return values, gaps
        if max(abs(float(values.min())), abs(float(values.max()))) <= _LARGEST_WHOLE:
            whole = values.astype(np.int64)
            if np.array_equal(whole, values):
                return whole, gaps
            bad = int(np.flatnonzero(whole != values)[0])
        else:
            bad = int(np.flatnonzero(np.abs(values) > _LARGEST_WHOLE)[0])
        raise no_state(self._place(row + bad), values[bad].item())

    def _places(self, values: _Array) -> _Array | None:
        """Places of whole numbers in a table from the least to the largest of them; None: it would be too long."""
        low, high = int(values.min()), int(values.max())
        if len(self._by_number):
            low, high = min(low, self._low), max(high, self._low + len(self._by_number) - 1)
        elif 0 <= low < _WIDE // 2:
            low = 0  # so that nothing need be subtracted
        if high - low >= _WIDE:
            return None
        if (low, high) != (self._low, self._low + len(self._by_number) - 1):
            table: Ints = np.full(high - low + 1, _NEW, dtype=np.int64)
            start = self._low - low
            table[start : start + len(self._by_number)] = self._by_number
            self._low, self._by_number = low, table
        if low == 0:
            return values
        # Narrow numbers would run over. Below 0 is no number without a sign, and then the largest is small too.
        wide = np.uint64 if values.dtype == np.uint64 and low > 0 else np.int64
        return np.subtract(values.astype(wide, copy=False), wide(low))

    def _note_gaps(self, raw: Raw, out: Codes, row: int) -> None:
        """Note that there are gaps; where they are errors, refuse the first of them."""
        if self._missing == "error":
            at = int(np.flatnonzero(out == _GAP)[0])
            raise DataError(
                f"{self._place(row + at)}: the value is missing ({_shown(raw, at)}). Fill it in or drop the row, "
                f"or say what it means: {MISSING_ADVICE}"
            )
        self._meaning.has_gaps = True


def _shown(raw: Raw, row: int) -> str:
    """How a cell without a value reads."""
    if isinstance(raw, Numbers) or raw.index[row] < 0 or (raw.gaps is not None and raw.gaps[row]):
        return "no value"
    value: Sequence[Any] | Any = raw.values[raw.index[row]]
    return repr(value.strip()) if isinstance(value, str) else "no value"
