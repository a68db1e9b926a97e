"""What the columns of a table that is prepared hold, and what becomes of each."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time, timedelta
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np

from kgmi.alphabets import MISSING, in_order
from kgmi.bins import Bins, quantile_bins, shown_number
from kgmi.cells import Cells, is_missing
from kgmi.types import Bools, Floats, Ints

__all__ = ["Column", "Verdict", "column_of", "judge", "missing_suspects", "one_alphabet", "shown_cell"]

Kind: TypeAlias = Literal["text", "number", "date", "declared", "other"]
"""Texts, numbers, dates, categories of a categorical type, or values that cannot be states."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column of any kind, in which every different value is stored once."""

    name: str
    kind: Kind
    index: Ints  # [row]: position in values, -1 where the value is missing
    values: Any  # an increasing array of numbers, or an Arrow array of texts
    declared: tuple[str, ...] | None = None  # the categories of a categorical type, in their order
    gaps: Mapping[str, int] = field(default_factory=dict)  # rows of each text that was read as a missing value
    remarks: tuple[str, ...] = ()  # on how its values were read, to follow "has"
    is_first: bool = False  # whether it is the first column of the table
    is_chosen: bool = False  # whether the caller named it in ``columns``

    @cached_property
    def counts(self) -> Ints:
        """``counts[value]``: number of rows that have it."""
        found: Ints = np.bincount(self.index + 1, minlength=len(self.values) + 1)[1:]
        return found

    @cached_property
    def n_filled(self) -> int:
        """Number of rows that have a value."""
        return int(self.counts.sum())

    @property
    def n_values(self) -> int:
        """Number of different values."""
        return len(self.values)

    @cached_property
    def texts(self) -> list[str]:
        """The different values as texts."""
        if not isinstance(self.values, np.ndarray):
            return list(self.values.to_pylist())
        numbers = self.values.tolist()
        short = [str(n) if isinstance(n, int) else shown_number(n) for n in numbers]
        return short if len({*short}) == len(short) else [shown_number(n, in_full=True) for n in numbers]

    @property
    def occurring(self) -> dict[str, int]:
        """The different values as texts, and in how many rows they are."""
        return dict(zip(self.texts, self.counts.tolist(), strict=True))

    def recoded(self, values: Any, gaps: Bools, **fields: Any) -> Column:
        """Return the column with other values in place of its own, or none; equal ones become one."""
        import pyarrow as pa

        kept = ~gaps & (self.counts > 0)
        if isinstance(values, np.ndarray):
            different, places = np.unique(values[kept], return_inverse=True)
        else:
            encoded = values.filter(pa.array(kept)).dictionary_encode()
            different, places = encoded.dictionary, encoded.indices.to_numpy()
        lookup = np.full(len(kept) + 1, -1, dtype=np.int64)  # a missing value looks up the last
        lookup[:-1][kept] = places
        gone = {self.texts[place]: int(self.counts[place]) for place in np.flatnonzero(gaps & (self.counts > 0))}
        return replace(self, index=lookup[self.index], values=different, gaps={**self.gaps, **gone}, **fields)

    def without(self, unwanted: Collection[str]) -> Column:
        """Return the column with some of its values read as missing."""
        gaps = np.array([text in unwanted for text in self.texts], dtype=bool)
        return self.recoded(self.values, gaps) if gaps.any() else self


def column_of(name: str, cells: Cells, missing: Collection[str], *, comma: bool = False) -> Column:
    """Return a column of any kind; texts among ``missing`` are missing values, and so are infinite numbers.

    ``comma`` says that a comma before three digits is a decimal comma, as in files with semicolons.
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    index, values = cells.index, cells.values
    if values is None:
        numbers, index = np.unique(index, return_inverse=True)
        values = [bool(number) for number in numbers] if cells.is_truth else numbers
    index = np.where(False if cells.gaps is None else cells.gaps, -1, index.astype(np.int64))
    if isinstance(values, np.ndarray):
        column = Column(name, "number", index, values)
        return column.recoded(values, np.zeros(len(values), dtype=bool)).without(missing)
    nulls = np.array([*map(is_missing, values), True])
    index = np.where(nulls[index], -1, index)
    types = {type(value) for value, is_null in zip(values, nulls, strict=False) if not is_null}
    if any(one.__hash__ is None for one in types):  # lists, dicts and the like
        return Column(name, "other", index, np.arange(len(values)))
    if types and cells.declared is None and all(map(_is_number, types)):
        floats = np.array([math.nan if gap else float(one) for one, gap in zip(values, nulls, strict=False)])
        return Column(name, "number", index, floats).recoded(floats, ~np.isfinite(floats)).without(missing)
    texts = pa.array(map(_text, values), pa.large_string())
    if cells.declared is not None:
        return Column(name, "declared", index, texts, cells.declared).recoded(texts, nulls[:-1])
    trimmed = pc.utf8_trim_whitespace(texts)
    gaps = pc.is_in(trimmed, value_set=pa.array(sorted(missing), pa.large_string()))
    column = Column(name, "text", index, texts).recoded(trimmed, gaps.to_numpy(zero_copy_only=False))
    return replace(column, kind="date") if types and all(map(_is_time, types)) else _understood(column, comma=comma)


def _is_number(kind: type) -> bool:
    return issubclass(kind, Real | Decimal) and not issubclass(kind, bool | np.bool_)


def _is_time(kind: type) -> bool:
    return issubclass(kind, date | time | timedelta | np.datetime64 | np.timedelta64) or hasattr(kind, "start_time")


def _text(cell: Any) -> str:
    if isinstance(cell, bytes):
        return cell.decode("utf-8", errors="replace")
    if isinstance(cell, float):
        return shown_number(cell, in_full=True)
    return str(cell).removesuffix(" 00:00:00") if isinstance(cell, date) else str(cell)


# ---- dates and numbers among texts -------------------------------------------------------------------------------

_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})( .*)?|"
    r"\d{1,2}:\d{2}(:\d{2}.*)?|\d{1,2}\.?[ -][A-Za-z]{3,9}\.?[ -]\d{2,4}( .*)?|"
    r"[A-Za-z]{3,9}\.? \d{1,2},? \d{4}( .*)?"
)
# What is written into a column of numbers or dates where there is no value; compared without case.
_NO_VALUE = frozenset(
    """- -- – — . .. … n/a na n.a. #n/a #na <na> nan nat nil null none no unknown missing
    #div/0! #value! #ref! #name? #num! #null!""".split()  # noqa: SIM905
)
_MOST_NUMBERS = 0.9  # share of rows from which on the other texts are remarks in a column of numbers
_FEW_WHOLE, _FEW_BROKEN = 12, 5  # whole and other numbers that are states, such as months and doses


def _understood(column: Column, *, comma: bool) -> Column:
    """Return a column of texts as one of dates or numbers where that is what it holds, or as it is."""
    if not column.n_values:
        return column
    words = {text for text in column.texts if text.casefold() in _NO_VALUE}
    if len(words) < column.n_values and all(text in words or _DATE.fullmatch(text) for text in column.texts):
        return replace(column.without(words), kind="date")
    numbers, remarks = _numbers_in(column, comma=comma)
    others = np.isnan(numbers)
    n_others, n_different = int(column.counts[others].sum()), int(np.count_nonzero(~others))
    strange = {column.texts[place] for place in np.flatnonzero(others)}
    if strange <= words:  # "no" and "none" are states if they are more frequent than the numbers
        is_number = {"no", "none"}.isdisjoint(map(str.casefold, strange)) or 2 * n_others <= column.n_filled
    else:
        is_number = n_others <= (1 - _MOST_NUMBERS) * column.n_filled and n_different > _FEW_WHOLE
    if not is_number or n_different <= (1 if strange else 0):
        return column
    return column.recoded(numbers, others, kind="number", remarks=remarks)


_CODE = r"^[+-]?(0[0-9]|[0-9]{17,}$)"  # codes are no numbers: 01234, and those with more digits than a float has
_SPACES = "\u00a0\u202f' "  # between thousands: no-break spaces, apostrophe, plain space
_MONEY = "(?:[$€£¥₹₽]|USD|EUR|GBP|CHF|JPY)"
_LETTERS = "A-Za-zµμΩ"


def _numeral(decimal: str, thousands: str) -> str:
    """Return the pattern of a number with its sign and unit."""
    whole = rf"[0-9]{{1,3}}(?:[{thousands}{_SPACES}][0-9]{{3}})+|[0-9]+"
    return (
        rf"^(?P<before>[+-]?\s*{_MONEY}?|{_MONEY}\s*[+-])\s*"
        rf"(?P<digits>(?:(?:{whole})(?:[{decimal}][0-9]*)?|[{decimal}][0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?)"
        rf"[{_SPACES}]*(?P<after>(?:[%‰°$€£¥₹₽{_LETTERS}][%‰°{_LETTERS}]{{0,11}}(?:/[{_LETTERS}]{{1,9}})?[23²³]?)?)$"
    )


def _numbers_in(column: Column, *, comma: bool) -> tuple[Floats, tuple[str, ...]]:
    """Return the numbers in a column of texts, NaN for other texts, and remarks on how they are written.

    The decimal sign, point or comma, is the one with which more of the texts are numbers. A number may have a sign
    of money or per cent, or a unit such as ``km``: that of most rows. A unit of letters must follow every number
    except 0, because 1.2k and 900 do not compare. Amounts in parentheses are negative; if all are, one of them must
    have a unit.
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    def matches(texts: Any, pattern: str) -> Any:
        return pc.match_substring_regex(texts, pattern).fill_null(False).to_numpy(zero_copy_only=False)

    texts = pc.replace_substring(column.values.cast(pa.string()), "\u2212", "-")
    nothing: Floats = np.full(len(texts), math.nan)
    if matches(texts, _CODE).any():
        return nothing, ()
    try:
        return _finite(texts.cast(pa.float64())), ()
    except pa.ArrowInvalid:
        in_parentheses = matches(texts, r"^\(.*\)$")
    texts = pc.replace_substring_regex(texts, r"^\(\s*(.*?)\s*\)$", r"-\1")
    decimal, thousands = ".,"
    found, other = (pc.extract_regex(texts, _numeral(*signs)) for signs in (".,", ",."))
    surplus = found.null_count - other.null_count
    if surplus > 0 or (surplus == 0 and comma and matches(texts, ",").any()):
        found, decimal, thousands = other, ",", "."
    before, digits, after = found.flatten()
    is_valid = found.is_valid().to_numpy(zero_copy_only=False)
    plain = pc.replace_substring_regex(digits, f"[{thousands}{_SPACES}]", "")
    numbers = _finite(pc.replace_substring(plain, decimal, ".").cast(pa.float64()))
    numbers = np.where(matches(before, "-"), -numbers, numbers)
    units = pc.binary_join_element_wise(pc.replace_substring_regex(before, r"[+\s-]", ""), after, "")
    written, rows = np.array(units.fill_null("").to_pylist(), dtype=object), Counter[str]()
    for one, count in zip(written[is_valid], column.counts[is_valid].tolist(), strict=True):
        rows[one] += count
    if not rows or ({*rows} == {""} and in_parentheses[is_valid].all()):
        return nothing, ()
    signs = Counter({one: n for one, n in rows.items() if one and not any(map(str.isalpha, one))})
    unit = rows.most_common(1)[0][0] or next(iter(dict(signs.most_common(1))), "")
    fits = is_valid & ((written == unit) | ((written == "") & ((numbers == 0) | (unit in signs))))
    remarks = {
        f'the unit "{unit}", which is not part of the numbers': bool(unit),
        "amounts in parentheses, which are negative": in_parentheses[is_valid].any(),
        "the comma as decimal sign": decimal == "," and matches(digits, ",").any(),
        "separators of thousands, which are removed": matches(digits, f"[{thousands}{_SPACES}]").any(),
    }
    return np.where(fits, numbers, math.nan), tuple(one for one, holds in remarks.items() if holds)


def _finite(numbers: Any) -> Floats:
    """Return Arrow numbers with NaN for infinite ones, such as 1e999, which cannot be cut."""
    found = np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
    return np.where(np.isfinite(found), found, np.nan)


# ---- what becomes of a column ------------------------------------------------------------------------------------

_LEAST_ROWS, _MANY_ROWS = 5, 20  # from which rows on some, and from which on all, rules about identifiers hold
_SPARSE = 20  # a column with values in fewer than one of so many rows is left out
_FEW_TEXTS = 10  # categories that remain as they are
_ROWS_PER_NUMBER = 5  # with fewer rows even few numbers are cut
_FOUR_BINS = 400  # rows from which on there are four bins
_NAMES = 0.9  # share of different texts from which on they identify rows
_RARE = 0.02  # share of the rows
_LARGEST_SHARED, _ROWS_PER_STATE = 30, 10  # states that all columns have in common, and rows for each of them
_LONG = 7  # digits of a number that identifies something

_IDENTIFIER = re.compile(
    r"(^|[ _.-])(?i:id|identifier|index|idx|key|uuid|guid|nr|no|num|number)$|"
    r"[a-z](Id|ID|Index|Idx|Key|Nr|No|Num|Number)$|"
    r"^(?i:row|rows|row[ _.]?(names?|numbers?|nums?|ids?)|case|cases|obs|observation|record|serial|subject|"
    r"participant|respondent|#)$|^column \d+$|^Unnamed(: \d+)?"
)
_YEAR = re.compile(r"(?i:(^|[ _.-])(year|yr)s?$)|[a-z](Year|Yr)$")


@dataclass(frozen=True, eq=False)
class Verdict:
    """What becomes of a column."""

    column: Column
    cells: Cells | None = None  # its states; None if it is left out
    bins: Bins | None = None  # where it was cut, if it was
    reason: str = ""  # why it is left out
    notes: tuple[tuple[str, str], ...] = ()  # what was done, and details, to follow the name


def judge(
    column: Column, *, n_bins: int | None = None, as_states: bool = False, states: Sequence[str] | None = None
) -> Verdict:
    """Return what becomes of a column.

    ``as_states`` says that all columns have their states in common; ``states`` are those of all columns, if
    declared.
    """
    n_values, n_filled, n_rows = column.n_values, column.n_filled, column.index.size
    if column.kind == "other":
        return _left_out(column, "it holds lists or other values that cannot be states")
    if n_filled == 0:
        return _left_out(column, "it has no value in any row")
    if n_values == 1:
        some = f" in the {n_filled:,} rows that have one; if empty means no, write no" if n_filled < n_rows else ""
        return _left_out(column, "it has one value only", f" ({_examples(column)}{some})")
    if n_filled * _SPARSE < n_rows:
        return _left_out(column, "it has a value in few rows", f" ({n_filled:,} of {n_rows:,})")
    if states is not None:
        return _judge_declared(column, states)
    if as_states:
        return _kept(column)
    if column.kind == "date" and n_values > min(_FEW_TEXTS, n_filled / 2):
        advice = "to use it, write the year, the month or the like into a column of its own"
        return _left_out(column, "it holds dates or times", f" ({_examples(column)}); {advice}")
    return _judge_numbers(column, n_bins) if column.kind == "number" else _judge_texts(column)


def one_alphabet(columns: Sequence[Column]) -> bool:
    """Return whether all columns have their states in common, so that even many of them are states."""
    varied = [column for column in columns if column.n_values > 1]
    sizes, kinds = [column.n_values for column in varied], {column.kind for column in varied}
    if kinds not in ({"text"}, {"number"}) or 2 * min(sizes) < max(sizes):
        return False
    if max(sizes) > min(_LARGEST_SHARED, columns[0].index.size / _ROWS_PER_STATE):
        return False
    if kinds == {"number"} and any((column.values != np.rint(column.values)).any() for column in varied):
        return False
    return len({text for column in varied for text in column.occurring}) == max(sizes)


def shown_cell(text: str) -> str:
    """Return the text of a cell in quotes, without its end if it is long."""
    return f'"{text if len(text) <= 40 else text[:39] + "…"}"'


def _examples(column: Column) -> str:
    return ", ".join(map(shown_cell, column.texts[:3])) + (", …" if column.n_values > 3 else "")


def _left_out(column: Column, reason: str, details: str = "") -> Verdict:
    return Verdict(column, reason=reason + details, notes=((f"is left out: {reason}", details),))


def _kept(column: Column, states: Sequence[str] | None = None) -> Verdict:
    """Return the verdict on a column whose values are its states.

    States that would be read as missing values ("None") or as numbers (01) are declared, so that they are neither.
    """
    declared, occurring = column.declared if states is None else tuple(states), column.occurring
    if declared is None and any(text in MISSING or re.match(_CODE, text) for text in occurring):
        declared = in_order(occurring)
    return Verdict(column, Cells(column.index, column.texts, None, declared))


def _judge_declared(column: Column, states: Sequence[str]) -> Verdict:
    """Return what becomes of a column if the caller declared the states.

    It is kept if almost all of its values are among them, apart from those that may stand for missing ones.
    Measurements are cut if the states are whole numbers from 0, as those of a kernel: into as many bins, in their
    order.
    """
    other = {text: count for text, count in column.occurring.items() if text not in states}
    n_strange = sum(count for text, count in other.items() if text not in missing_suspects(column))
    if len(other) < column.n_values and n_strange <= (1 - _MOST_NUMBERS) * column.n_filled:
        column = column.without(other)
        return _kept(column, states) if column.n_values > 1 else judge(column)
    if column.kind == "number" and tuple(states) == tuple(map(str, range(len(states)))):
        verdict = _judge_numbers(column, len(states), states)
        if verdict.bins is not None or verdict.cells is None:
            return verdict
    return _left_out(column, "its values are not among the declared states", f" ({_examples(column)})")


def _judge_texts(column: Column) -> Verdict:
    """Return what becomes of a column of texts or of declared categories: rare ones are joined to one."""
    n_values, n_filled = column.n_values, column.n_filled
    different = f"{n_values:,} different values in {n_filled:,} rows"
    if n_values == n_filled >= _LEAST_ROWS or (n_filled >= _MANY_ROWS and n_values > _NAMES * n_filled):
        return _left_out(column, "it identifies the rows", f" ({different})")
    if n_values <= _FEW_TEXTS and len(column.declared or ()) <= 2 * _FEW_TEXTS:
        return _kept(column)
    least = max(_LEAST_ROWS, math.ceil(_RARE * n_filled))
    by_count = Counter(column.occurring).most_common()
    frequent = [text for text, count in by_count[: _FEW_TEXTS - 1] if count >= least]
    if not frequent:
        return _left_out(column, "it has no frequent value", f" ({different}, none in {least:,} or more)")
    n_rare = n_values - len(frequent)
    if n_rare <= 1 and n_values <= _FEW_TEXTS + 1:
        return _kept(column)
    other = next((text for text in frequent if text.casefold() == "other"), "other")
    n_rows = sum(count for text, count in by_count if text not in frequent)
    order = in_order(frequent) if column.declared is None else column.declared
    states = (*(text for text in order if text in frequent and text != other), other)
    codes = np.array([states.index(text) if text in frequent else len(states) - 1 for text in column.texts] + [-1])
    notes = (
        f'has rare values, which are joined as "{other}"',
        f" ({n_rare:,} of {n_values:,}, in {n_rows:,} rows)",
    )
    return Verdict(column, Cells(codes[column.index], list(states), None, states), notes=(notes,))


def _judge_numbers(column: Column, n_bins: int | None, states: Sequence[str] | None = None) -> Verdict:
    """Return what becomes of a column of numbers; bins are called by the ``states``, if these are declared."""
    present, n_filled = column.values, column.n_filled
    whole = bool((present == np.rint(present)).all())
    if whole and (details := _identifies_rows(column)):
        return _left_out(column, "it identifies the rows", f" ({details})")
    n_bins = n_bins or (4 if n_filled >= _FOUR_BINS else 3)
    few = present.size <= (_FEW_WHOLE if whole else _FEW_BROKEN) and _ROWS_PER_NUMBER * present.size <= n_filled
    if few or present.size <= n_bins:
        return _kept(column)
    values = np.append(column.values.astype(np.float64), np.nan)
    bins = quantile_bins(values[column.index], n_bins, column.name)
    labels = bins.labels(whole=whole) if states is None else tuple(states)
    places = np.where(np.isnan(values), -1, np.searchsorted(bins.edges, values, side="right"))
    called = "" if states is None else f" (called {', '.join(labels)})"
    what = f"is a measurement and is cut into {len(bins.centres)} bins"
    notes = (what, f" at {', '.join(bins.shown_edges)}{called} ({present.size:,} different numbers)")
    return Verdict(column, Cells(places[column.index], list(labels), None, labels), bins, notes=(notes,))


def _identifies_rows(column: Column) -> str:
    """Return why a column of whole numbers only identifies the rows; empty if it does not.

    Only columns of at least 5 values, all different, can be identifiers. Such a column is left out if its numbers

    - are consecutive, and 20 or more;
    - have a name of an identifier (``id``, ``PatientNr``, ``EmployeeNumber``, ``rownames``, ``case``, none …), and
      increase from row to row or are 20 or more;
    - increase from row to row, and two of these hold: it is the first column; the numbers are 20 or more; they are
      a numbering, with equal steps or at least half of the numbers between the smallest and the largest;
    - are 20 or more, and all have the same number of digits, at least 7.

    The rule on numbers that increase does not hold for columns that the caller named in ``columns``, and none holds
    for years (by name and range). So a sorted measurement that is not the first column is kept: its steps differ.
    """
    present, n_filled = column.values, column.n_filled
    if len(present) < n_filled or n_filled < _LEAST_ROWS:
        return ""
    low, high, steps = int(present[0]), int(present[-1]), np.diff(present)
    if _YEAR.search(column.name) and low >= 1500 and high <= 2200:
        return ""
    many, rising = n_filled >= _MANY_ROWS, bool((np.diff(column.index[column.index >= 0]) > 0).all())
    is_numbering = 2 * n_filled > high - low or bool((steps == steps[0]).all())
    is_rising = rising and not column.is_chosen and column.is_first + many + is_numbering >= 2
    n_digits = len(str(low)) if low > 0 and len(str(low)) == len(str(high)) else 0
    advice = "" if is_numbering else f"; to keep it, name it in columns: {column.name}"
    rules = {
        f"it counts them from {low} to {high}": many and high - low == n_filled - 1,
        f"{n_filled:,} different numbers, and its name": (many or rising) and _IDENTIFIER.search(column.name),
        f"numbers that increase from {low} to {high}{advice}": is_rising,
        f"{n_filled:,} different numbers, all of {n_digits} digits": many and n_digits >= _LONG,
    }
    return next((reason for reason, holds in rules.items() if holds), "")


# ---- values that may stand for missing ones ----------------------------------------------------------------------

_MISSING_CODES = (-1, -8, -9, -88, -98, -99, -999, -9999, -99999, 99, 999, 9999, 99999)
_MISSING_TEXTS = _NO_VALUE - {"no"}


def missing_suspects(column: Column) -> tuple[str, ...]:
    """Return the states of a column that may stand for a missing value.

    These are "None", "n/a", "-" and the like among words; codes such as -9 among words; and in numbers, -1, -8, -9,
    -99 … if no other number is negative (-1, -8 and -9 only among whole numbers) and -99, 999 … if they are at
    least five times as large as all others, 99 only if these are few.
    """
    if column.kind != "number":
        texts = [*column.occurring]
        words = tuple(text for text in texts if text.casefold() in _MISSING_TEXTS)
        codes = tuple(text for text in texts if text in map(str, _MISSING_CODES[1:6]))
        others = [text for text in texts if text not in (words or codes)]
        if words:
            return words if others and all(any(map(str.isalnum, text)) for text in others) else ()
        return () if any(any(map(str.isdigit, text)) for text in others) else codes
    numbers = column.values
    found = np.isin(numbers, _MISSING_CODES)
    rest = numbers[~found]
    if rest.size < 2 or not found.any():
        return ()
    top, few, whole = np.abs(rest).max(), rest.size <= _FEW_WHOLE, bool((rest == np.rint(rest)).all())
    return tuple(
        shown_number(code)
        for code in numbers[found]
        if (code < 0 <= rest.min() and (whole or code <= -88)) or (abs(code) >= 5 * top and (few or abs(code) > 99))
    )
