"""Columns of a table that is prepared: how their values are read, and what becomes of each column."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np

from kgmi.alphabets import in_order
from kgmi.cells import MISSING, Cells, is_missing
from kgmi.errors import DataError, SettingError
from kgmi.types import Bools, Floats, Ints

__all__ = [
    "Bins",
    "Numerals",
    "Raw",
    "Verdict",
    "as_floats",
    "as_measured",
    "checked_bins",
    "judge",
    "number_raw",
    "one_alphabet",
    "quantile_bins",
    "read_numerals",
    "shown_number",
    "text_raw",
]


# ---- bins ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bins:
    """Where a column of measurements is cut.

    Attributes
    ----------
    edges
        Increasing; bin b holds the values from ``edges[b - 1]`` up to, but not including, ``edges[b]``.
    centres
        ``centres[bin]``: the median of the values from which the bin was made.
    single
        ``single[bin]``: whether the bin was made from one value only, which is then its centre.
    """

    edges: tuple[float, ...]
    centres: tuple[float, ...]
    single: tuple[bool, ...] = ()

    def cut(self, values: Floats, label: str) -> Floats:
        """Return the number of each value's bin; NaN where the value is missing."""
        _check_finite(values, label)
        return np.where(np.isnan(values), np.nan, np.searchsorted(self.edges, values, side="right"))

    def labels(self, *, whole: bool = False) -> tuple[str, ...]:
        """Return the names of the bins: "below 118", "118 to 127", "127 or more"; "0" for one value.

        For ``whole`` numbers, both ends of "118 to 126" are in the bin.
        """
        alone = self.single or (False,) * len(self.centres)
        names = [shown_number(centre) for centre in self.centres]
        if len({name for name, one in zip(names, alone, strict=True) if one}) < sum(alone):
            names = [repr(centre) for centre in self.centres]
        cuts = self.shown_edges
        if not cuts:
            return (names[0],)
        last = [shown_number(edge - 1) for edge in self.edges] if whole else cuts
        inner = (f"{low} to {high}" for low, high in zip(cuts[:-1], last[1:], strict=True))
        ranges = (f"below {cuts[0]}", *inner, f"{cuts[-1]} or more")
        return tuple(name if one else text for text, name, one in zip(ranges, names, alone, strict=True))

    @property
    def shown_edges(self) -> tuple[str, ...]:
        """The edges as texts, rounded as long as they remain different."""
        short = tuple(shown_number(edge) for edge in self.edges)
        return short if len(set(short)) == len(short) else tuple(repr(edge) for edge in self.edges)


def quantile_bins(values: Floats, n_bins: int, label: str) -> Bins:
    """Return bins with about equally many values each; one for each value if there are at most ``n_bins`` values.

    If the smallest value alone fills so many bins that no cut remains, it is one bin, and the other values are another.
    """
    _check_finite(values, label)
    present = np.sort(values[~np.isnan(values)])
    starts = np.flatnonzero(np.diff(present, prepend=-np.inf) > 0)  # of every different value
    cuts = present[starts]
    if cuts.size > n_bins:
        shares = np.arange(1, n_bins) / n_bins
        chosen = np.unique(np.quantile(present, shares, method="higher"))  # values that occur: no bin is empty
        cuts = chosen if chosen[-1] > cuts[0] else cuts[:2]
    edges = cuts[cuts > present[0]]
    bounds = np.concatenate([[0], np.searchsorted(present, edges), [present.size]])
    groups = [present[low:high] for low, high in pairwise(bounds)]
    centres = tuple(float(np.quantile(group, 0.5, method="higher")) for group in groups)
    return Bins(tuple(edges.tolist()), centres, tuple(bool(group[0] == group[-1]) for group in groups))


def shown_number(number: float) -> str:
    """Return a number as text: whole ones in full, others with six digits."""
    whole = abs(number) < 1e15 and number == int(number)
    return str(int(number)) if whole else f"{number:.6g}"


def _full_number(number: float) -> str:
    """Return a number as text with all of its digits."""
    return str(int(number)) if abs(number) < 1e15 and number == int(number) else repr(number)


def as_measured(values: Floats | None) -> Floats | None:
    """Return numbers of which some are not whole, so that they are not codes; None for all others."""
    if values is None:
        return None
    present = values[~np.isnan(values)]
    return values if (present != np.rint(present)).any() or np.isinf(present).any() else None


def as_floats(cells: list[Any]) -> Floats | None:
    """Return a list of numbers and missing values as floats, with NaN for the latter; None if there is anything else."""
    if not all(isinstance(cell, Real | Decimal) or is_missing(cell) for cell in cells):
        return None
    return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])


def checked_bins(bins: object) -> int | None:
    """Return the number of bins: at least 2, or None if measurements are to be refused."""
    if bins is None:
        return None
    if isinstance(bins, bool) or not isinstance(bins, Integral) or int(bins) < 2:
        raise SettingError(
            f"bins must be a whole number of at least 2, or None to refuse measurements; got {bins!r}"
        )
    return int(bins)


def _check_finite(values: Floats, label: str) -> None:
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise DataError(
            f"row {row}, {label} is {values[row]}; a measurement must be finite: correct it or drop the row"
        )


# ---- columns before it is known what they are ----------------------------------------------------------------------

Kind: TypeAlias = Literal["text", "number", "date", "declared", "fixed", "other"]
"""Texts (which may be numbers), numbers, dates, categories of a categorical type, the states that the caller declared,
or values that cannot be states."""


@dataclass(frozen=True, eq=False)
class Raw:
    """A column of any kind, in which every different value is stored once.

    Attributes
    ----------
    name, kind
        Its name, and what its values are.
    index
        ``index[row]``: position in ``values``; -1 where the value is missing.
    values
        The different values: an array of numbers, or texts in an Arrow array.
    declared
        The states that are declared, in their order; None if there are none.
    gap_texts
        Texts that were read as missing values, and in how many rows.
    is_first
        Whether it is the first column of the table.
    is_chosen
        Whether the caller named it in ``columns``.
    """

    name: str
    kind: Kind
    index: Ints
    values: Any
    declared: tuple[str, ...] | None = None
    gap_texts: Mapping[str, int] = field(default_factory=dict)
    is_first: bool = False
    is_chosen: bool = False

    @cached_property
    def counts(self) -> Ints:
        """``counts[value]``: number of rows that have it."""
        found: Ints = np.bincount(self.index + 1, minlength=len(self.values) + 1)[1:]
        return found

    @property
    def n_filled(self) -> int:
        """Number of rows that have a value."""
        return int(self.counts.sum())

    @property
    def n_values(self) -> int:
        """Number of different values that occur."""
        return int(np.count_nonzero(self.counts))

    @cached_property
    def texts(self) -> list[str]:
        """The different values as texts."""
        if not isinstance(self.values, np.ndarray):
            return [str(text) for text in self.values.to_pylist()]
        if self.values.dtype.kind in "iu":
            return [str(value) for value in self.values.tolist()]
        short = [shown_number(value) for value in self.values.tolist()]
        return short if len({*short}) == len(short) else [_full_number(value) for value in self.values.tolist()]

    @property
    def occurring(self) -> dict[str, int]:
        """The texts that occur, and in how many rows."""
        return {text: int(count) for text, count in zip(self.texts, self.counts, strict=True) if count}

    def without(self, unwanted: Bools) -> Raw:
        """Return the column with some of its values, marked by their position, read as missing."""
        gone = {
            self.texts[place]: int(self.counts[place]) for place in np.flatnonzero(unwanted & (self.counts > 0))
        }
        index = np.where(np.append(unwanted, False)[self.index], -1, self.index)
        return replace(self, index=index, gap_texts={**self.gap_texts, **gone})


def number_raw(name: str, numbers: Any) -> Raw:
    """Return a column of numbers; NaN is missing."""
    values, index = np.unique(numbers, return_inverse=True)
    if values.dtype.kind == "f" and values.size and np.isnan(values[-1]):
        index = np.where(index == values.size - 1, -1, index)
        values = values[:-1]
    return Raw(name, "number", index.astype(np.int64), values)


def text_raw(name: str, arrow: Any, states: Collection[str] = ()) -> Raw:
    """Return a column of texts (an Arrow array) without the spaces around them.

    Texts that stand for a missing value (:data:`kgmi.cells.MISSING`) are missing unless they are among the declared
    ``states``. "None" is decided later, by the other values of the column.
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    encoded = arrow if pa.types.is_dictionary(arrow.type) else arrow.dictionary_encode()
    first = positions(encoded.indices)
    trimmed = pc.utf8_trim_whitespace(encoded.dictionary.cast(pa.large_string()))
    gap = pc.is_in(trimmed, value_set=pa.array(sorted(MISSING - {"None"} - {*states}), pa.large_string()))
    again = pc.if_else(gap, pa.scalar(None, pa.large_string()), trimmed).dictionary_encode()
    places = np.append(positions(again.indices), -1)  # a missing value (-1) looks up the last
    index, values = places[first], again.dictionary
    used = np.bincount(index + 1, minlength=len(values) + 1)[1:] > 0
    if not used.all():
        index = np.append(np.cumsum(used) - 1, -1)[index]
        values = values.filter(pa.array(used))
    gaps: dict[str, int] = {}
    if pc.any(gap).as_py():
        counts = np.bincount(first + 1, minlength=len(trimmed) + 1)[1:]
        for place in np.flatnonzero(pc.fill_null(gap, False).to_numpy(zero_copy_only=False) & (counts > 0)):
            text = trimmed[int(place)].as_py()
            gaps[text] = gaps.get(text, 0) + int(counts[place])
    return Raw(name, "text", index, values, gap_texts=gaps)


def positions(indices: Any) -> Ints:
    """Return the positions of an Arrow dictionary array, -1 for a missing value."""
    import pyarrow as pa

    found: Any = indices.cast(pa.int64()).fill_null(-1)
    return np.array(found.to_numpy(zero_copy_only=False), dtype=np.int64)


# ---- numbers in texts ----------------------------------------------------------------------------------------------

_SPACES = "\u00a0\u202f' "  # between thousands: no-break spaces, apostrophe, plain space
_MONEY = "$€£¥₹₽"
_LETTERS = "A-Za-zµμΩ"
_NUMERAL = (
    rf"^(?P<open>\(?)\s*(?P<sign>[+-]?)\s*(?P<before>[{_MONEY}]|USD|EUR|GBP|CHF|JPY)?\s*(?P<inner>[+-]?)"
    rf"(?P<number>[0-9.,](?:[0-9.,{_SPACES}]*[0-9.,])?(?:[eE][+-]?[0-9]{{1,3}})?)"
    rf"[{_SPACES}]*(?P<after>[%‰°{_MONEY}{_LETTERS}][%‰°{_LETTERS}]{{0,11}}(?:/[{_LETTERS}]{{1,9}})?[23²³]?)?"
    r"\s*(?P<close>\)?)$"
)
_PLAIN = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
_CODE = r"^[+-]?0[0-9]"  # 01234 is a code of a place or a part, not a number
_THOUSANDS = rf"^[+-]?[0-9]{{1,3}}([,{_SPACES}][0-9]{{3}})+(\.[0-9]+)?$"
_DECIMAL_COMMA = rf"^[+-]?([0-9]+|[0-9]{{1,3}}([.{_SPACES}][0-9]{{3}})+)(,[0-9]+)?$"
_SURE_COMMA = r",([0-9]{1,2}|[0-9]{4,})$"  # a comma that is not followed by exactly three digits


@dataclass(frozen=True, eq=False)
class Numerals:
    """Numbers that were read from texts.

    Attributes
    ----------
    numbers
        ``numbers[value]``; NaN if the text is not a number.
    remark
        How they are written, if it is not the plain way.
    """

    numbers: Floats
    remark: str = ""


def read_numerals(texts: Any, *, comma: bool, counts: Ints | None = None) -> Numerals | None:
    """Return the numbers in an Arrow array of texts; None if there are none, or codes such as 01234.

    A number may have a sign of money or per cent, or a unit such as ``km``. One unit is accepted in a column: that of
    most rows (``counts``). A unit of letters must follow every number except 0, because 1.2k and 900 do not
    compare; signs may be absent. Amounts in parentheses are negative, unless all are in parentheses. ``comma`` says that
    a comma before three digits is a decimal comma, as in files with semicolons between the columns.
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    texts = pc.replace_substring(texts, "\u2212", "-")
    if len(texts) == 0 or _matches(texts, _CODE).any():
        return None
    if _matches(texts, _PLAIN).all():
        return Numerals(_floats(texts))
    parts = pc.extract_regex(texts, _NUMERAL)
    part = {name: pc.fill_null(pc.struct_field(parts, name), "") for name in ("open", "sign", "before", "inner")}
    part |= {name: pc.fill_null(pc.struct_field(parts, name), "") for name in ("number", "after", "close")}
    opened, closed = _matches(part["open"], r"^\($"), _matches(part["close"], r"^\)$")
    valid = _matches(part["number"], "[0-9]") & (opened == closed)
    if not valid.any() or (opened & valid).sum() == valid.sum():
        return None
    minus = pc.if_else(pa.array(opened), "-", "").cast(texts.type)
    empty = pa.scalar("", texts.type)
    bare = pc.binary_join_element_wise(minus, part["sign"], part["inner"], part["number"], empty)
    units = np.array(pc.binary_join_element_wise(part["before"], part["after"], empty).to_pylist(), dtype=object)
    unit, has_unit = _main_unit(units, valid, np.ones(len(texts), dtype=np.int64) if counts is None else counts)
    remarks = [] if not unit else [f'the unit "{unit}" is not part of the numbers']
    if (opened & valid).any():
        remarks.append("amounts in parentheses are negative")
    found, written = _read_bare(bare, valid, comma)
    found[~(has_unit | ((found == 0) & (units == "")))] = np.nan
    return None if np.isnan(found).all() else Numerals(found, " and ".join((*remarks, *written)))


def _main_unit(units: Any, valid: Bools, counts: Ints) -> tuple[str, Bools]:
    """Return the unit of most rows, and which values have it."""
    rows: dict[str, int] = {}
    for unit, count in zip(units[valid].tolist(), counts[valid].tolist(), strict=True):
        rows[unit] = rows.get(unit, 0) + count
    words = {unit: n_rows for unit, n_rows in rows.items() if any(letter.isalpha() for letter in unit)}
    signs = {unit: n_rows for unit, n_rows in rows.items() if unit and unit not in words}
    word = max(words, key=lambda unit: words[unit], default="")
    sign = max(signs, key=lambda unit: signs[unit], default="")
    if word and words[word] > sum(rows.values()) - sum(words.values()):
        return word, valid & (units == word)
    return sign, valid & ((units == sign) | (units == ""))


def _read_bare(bare: Any, valid: Bools, comma: bool) -> tuple[Floats, list[str]]:
    """Return numbers without units, and remarks on their decimal comma and their separators of thousands."""
    import pyarrow as pa
    from pyarrow import compute as pc

    found, remarks = np.full(len(bare), np.nan), []
    plain = _matches(bare, _PLAIN) & valid
    sure = comma or bool((_matches(bare, _SURE_COMMA) & _matches(bare, _DECIMAL_COMMA) & valid).any())
    written = _matches(bare, _DECIMAL_COMMA if sure else _THOUSANDS) & valid
    if sure and (written & ~plain).any():
        points = _matches(bare, r"\.")
        grouped = bool((written & points).any())
        plain &= ~points | ~written
        point = pc.replace_substring(pc.replace_substring_regex(bare, f"[.{_SPACES}]", ""), ",", ".")
        remarks.append("the comma is the decimal sign" + (", the point separates thousands" if grouped else ""))
    else:
        point = pc.replace_substring_regex(bare, f"[,{_SPACES}]", "")
        if (written & ~plain).any():
            remarks.append("separators of thousands are removed")
    for chosen, source in ((written & ~plain, point), (plain, bare)):
        if chosen.any():
            found[chosen] = _floats(source.filter(pa.array(chosen)))
    return found, remarks


def _matches(texts: Any, pattern: str) -> Bools:
    from pyarrow import compute as pc

    return np.array(pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _floats(texts: Any) -> Floats:
    import pyarrow as pa
    from pyarrow import compute as pc

    numbers = pc.utf8_ltrim(texts, characters="+").cast(pa.float64())
    found = np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
    return np.where(np.isfinite(found), found, np.nan)  # 1e999 cannot be cut


# ---- what becomes of a column --------------------------------------------------------------------------------------

_LEAST_ROWS, _MANY_ROWS = 5, 20  # from which rows on some, and from which on all, rules about identifiers hold
_SPARSE = 20  # a column with values in fewer than one of so many rows is left out
_FEW_TEXTS = 10  # categories that remain as they are
_FEW_WHOLE, _FEW_BROKEN = 12, 5  # whole and other numbers that are states, such as months and doses
_FEW_DATES = 12
_ROWS_PER_NUMBER = 5  # with fewer rows even few numbers are cut
_FOUR_BINS = 400  # rows from which on there are four bins
_NAMES = 0.9  # share of different texts from which on they identify rows
_RARE = 0.02  # share of the rows
_MOST_NUMBERS = 0.9  # share of rows from which on the other texts are remarks in a column of numbers
_LARGEST_SHARED, _ROWS_PER_STATE = 30, 10  # states that all columns have in common, and rows for each of them
_LONG = 7  # digits of a number that identifies something
_OTHER = "other"

_DATE = (
    r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})( .*)?|"
    r"\d{1,2}:\d{2}(:\d{2}.*)?|\d{1,2}\.?[ -][A-Za-z]{3,9}\.?[ -]\d{2,4}( .*)?|"
    r"[A-Za-z]{3,9}\.? \d{1,2},? \d{4}( .*)?)$"
)
# What people and spreadsheets write into a column of numbers or dates if there is no value; compared without case.
_NO_VALUE = {"-", "--", "–", "—", ".", "..", "…", "n/a", "na", "n.a.", "#n/a", "#na", "<na>", "nan", "nat", "nil"}
_NO_VALUE |= {
    "#div/0!",
    "#value!",
    "#ref!",
    "#name?",
    "#num!",
    "#null!",
    "null",
    "none",
    "no",
    "unknown",
    "missing",
}
_WORDS = {"no", "none"}  # which are states if they are more frequent than the numbers
_IDENTIFIER = re.compile(
    r"(^|[ _.-])(?i:id|index|idx|key|uuid|guid|nr|no|num|number)$|[a-z](Id|ID|Index|Idx|Key|Nr|No|Num|Number)$|"
    r"^(?i:row|rows|row[ _.]?(names?|numbers?|nums?|ids?)|case|cases|obs|observation|record|serial|subject|"
    r"participant|respondent|#)$|^column \d+$|^Unnamed(: \d+)?"
)
_YEAR = re.compile(r"(?i:(^|[ _.-])(year|yr)s?$)|[a-z](Year|Yr)$")
_MINUS_CODES = (-1, -8, -9, -88, -98, -99, -999, -9999, -99999)
_NINES = (99, 999, 9999, 99999)


@dataclass(frozen=True, eq=False)
class Verdict:
    """What becomes of a column.

    Attributes
    ----------
    name
        Its name.
    why
        The rule that applied; columns of one rule share a note if they are many.
    sentence
        What was done, to follow the name; empty if the column is kept as it is.
    cells
        Its states; None if it is left out.
    bins
        Where it was cut, if it was.
    remarks
        Further notes, to follow the name.
    gap_texts
        Texts that were read as missing values.
    suspects
        Numbers that may stand for missing values, as texts; they are kept.
    """

    name: str
    why: str
    sentence: str
    cells: Cells | None = None
    bins: Bins | None = None
    remarks: tuple[str, ...] = ()
    gap_texts: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()

    @property
    def n_gaps(self) -> int:
        """Number of missing values in a column that is kept."""
        return 0 if self.cells is None else int(np.count_nonzero(self.cells.index < 0))


def judge(raw: Raw, n_rows: int, *, comma: bool, n_bins: int | None, as_states: bool) -> Verdict:
    """Return what becomes of a column; ``as_states`` says that all columns have their states in common."""
    n_filled = raw.n_filled
    if raw.kind == "other":
        return _left_out(raw, "no state", "it holds lists or other values that cannot be states")
    if n_filled == 0:
        return _left_out(raw, "empty", "no value in any row")
    if raw.n_values == 1:
        (only,) = raw.occurring
        where = (
            "" if n_filled == n_rows else f" in the {n_filled:,} rows that have one; if empty means no, write no"
        )
        return _left_out(raw, "constant", f"one value only ({_quoted(only)}){where}")
    if raw.kind == "fixed":
        return _kept(raw)
    if n_filled * _SPARSE < n_rows:
        return _left_out(raw, "sparse", f"a value in only {n_filled:,} of {n_rows:,} rows")
    if as_states:
        numbers = raw.values if raw.kind == "number" else None
        if numbers is None and _all_match(raw, _PLAIN):
            numbers = _floats(raw.values)
        kept = _kept(raw)
        return kept if numbers is None else _with_suspects(kept, raw, np.asarray(numbers, dtype=np.float64))
    if raw.kind in ("text", "date"):
        found = _dates(raw)
        if found is not None:
            return _judge_dates(found)
    return _judge_values(raw, comma, n_bins)


def one_alphabet(columns: Sequence[Raw], n_rows: int) -> bool:
    """Return whether all columns have their states in common, so that even many of them are states."""
    varied = [raw for raw in columns if raw.n_values > 1]
    largest = max((raw.n_values for raw in varied), default=0)
    if not 0 < largest <= min(_LARGEST_SHARED, n_rows / _ROWS_PER_STATE) or len({raw.kind for raw in varied}) > 1:
        return False
    if varied[0].kind not in ("text", "number") or 2 * min(raw.n_values for raw in varied) < largest:
        return False
    if varied[0].kind == "number" and any((raw.values != np.rint(raw.values)).any() for raw in varied):
        return False
    return len({text for raw in varied for text in raw.occurring}) == largest


def _left_out(raw: Raw, why: str, reason: str) -> Verdict:
    return Verdict(raw.name, why, f"left out: {reason}")


def _kept(raw: Raw, **more: Any) -> Verdict:
    """Return the verdict on a column whose values are its states.

    States that would be read as missing values ("None") or as numbers (01) are declared, so that they are neither.
    """
    declared, occurring = raw.declared, raw.occurring
    if declared is None and any(text in MISSING or re.match(_CODE, text) for text in occurring):
        declared = in_order(occurring)
    if "None" in occurring and raw.kind == "text":
        more["remarks"] = (*more.get("remarks", ()), _NONE_REMARK)
    cells = Cells(raw.index, list(raw.texts), None, declared)
    return Verdict(raw.name, "kept", "", cells, gap_texts=tuple(raw.gap_texts), **more)


_NONE_REMARK = '"None" is a state; if it stands for a missing value, leave these cells empty'


# ---- dates and texts -----------------------------------------------------------------------------------------------


def _dates(raw: Raw) -> Raw | None:
    """Return a column of dates without the texts that stand for a missing value; None for any other column."""
    if raw.kind == "date":
        return raw
    if not _all_match(raw, _DATE, sample=True):
        return None
    gaps = _no_values(raw)
    return None if gaps.all() else raw.without(gaps)


def _judge_dates(raw: Raw) -> Verdict:
    if 1 < raw.n_values <= _FEW_DATES and 2 * raw.n_values <= raw.n_filled:
        return _kept(raw)
    first = next(iter(raw.occurring))
    advice = "to use it, write the year, the month or the like into a column of its own"
    return _left_out(raw, "dates", f"it holds dates or times ({_quoted(first)}, …); {advice}")


def _all_match(raw: Raw, pattern: str, *, sample: bool = False) -> bool:
    """Return whether all values match, apart from those that stand for a missing value (with ``sample``)."""
    if not sample:
        return bool(_matches(raw.values, pattern).all())
    for values in (raw.values[:100], raw.values):  # usually the first values decide
        if not (_matches(values, pattern) | _no_values(raw, len(values))).all():
            return False
    return True


def _no_values(raw: Raw, n_values: int | None = None) -> Bools:
    """Return which of the first values stand for a missing value in a column of numbers or dates."""
    from pyarrow import compute as pc
    from pyarrow import large_string

    wanted = pc.is_in(pc.utf8_lower(raw.values[:n_values]), value_set=_arrow(sorted(_NO_VALUE), large_string()))
    return np.array(wanted.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _arrow(values: Sequence[Any], kind: Any) -> Any:
    import pyarrow as pa

    return pa.array(values, kind)


def _judge_texts(raw: Raw) -> Verdict:
    """Return what becomes of a column of texts or of declared categories."""
    n_values, n_filled = raw.n_values, raw.n_filled
    if raw.kind == "text" and {*raw.occurring} <= {"True", "False", "None"} and n_values == 3:
        raw = raw.without(np.array([text == "None" for text in raw.texts]))  # as Python writes truth values
    all_different = n_values == n_filled >= _LEAST_ROWS
    if all_different or (n_filled >= _MANY_ROWS and n_values > _NAMES * n_filled):
        return _left_out(raw, "names rows", f"{n_values:,} different values in {n_filled:,} rows identify the rows")
    few = n_values <= _FEW_TEXTS and len(raw.declared or ()) <= 2 * _FEW_TEXTS
    verdict = _kept(raw) if few else _joined(raw)
    if verdict.cells is None:
        return verdict
    alike: dict[str, list[str]] = {}
    for state in dict.fromkeys(verdict.cells.values):
        alike.setdefault(state.casefold(), []).append(state)
    remarks = tuple(
        f"{', '.join(map(_quoted, some))} differ only in capital letters and remain {len(some)} states"
        for some in alike.values()
        if len(some) > 1
    )
    return replace(verdict, remarks=(*verdict.remarks, *remarks))


def _joined(raw: Raw) -> Verdict:
    """Return the frequent categories, with all others joined to one."""
    least = max(_LEAST_ROWS, math.ceil(_RARE * raw.n_filled))
    by_count = np.argsort(-raw.counts, kind="stable")
    frequent = [int(place) for place in by_count[: _FEW_TEXTS - 1] if raw.counts[place] >= least]
    if not frequent:
        reason = f"{raw.n_values:,} different values in {raw.n_filled:,} rows, none of them in {least:,} or more"
        return _left_out(raw, "rare", reason)
    rare = np.setdiff1d(np.flatnonzero(raw.counts), frequent)
    if len(rare) <= 1 and raw.n_values <= _FEW_TEXTS + 1:
        return _kept(raw)
    texts = {place: raw.texts[place] for place in frequent}
    other = next((text for text in texts.values() if text.casefold() == _OTHER), _OTHER)
    apart = [text for text in texts.values() if text != other]
    known = in_order(apart) if raw.declared is None else [text for text in raw.declared if text in apart]
    order = (*known, other)
    codes = np.full(len(raw.values) + 1, len(order) - 1, dtype=np.int64)
    codes[-1] = -1  # a missing value (-1) looks up the last
    for place, text in texts.items():
        codes[place] = order.index(text)
    sentence = f'the {len(rare):,} rarest of {raw.n_values:,} values are joined as "{other}"'
    return Verdict(
        raw.name,
        "joined",
        f"{sentence} ({int(raw.counts[rare].sum()):,} rows)",
        Cells(codes[raw.index], list(order), None, order),
        remarks=(_NONE_REMARK,) if "None" in order else (),
        gap_texts=tuple(raw.gap_texts),
    )


# ---- numbers -------------------------------------------------------------------------------------------------------


def _judge_values(raw: Raw, comma: bool, n_bins: int | None) -> Verdict:
    """Return what becomes of numbers, or else of categories."""
    if raw.kind == "declared":
        return _judge_texts(raw)
    if raw.kind == "number":
        numbers = np.asarray(raw.values, dtype=np.float64)
        return _judge_numbers(raw, np.where(np.isinf(numbers), np.nan, numbers), n_bins, "")
    found = read_numerals(raw.values, comma=comma, counts=raw.counts)
    if found is None or not _are_numbers(raw, found.numbers):
        return _judge_texts(raw)
    return _judge_numbers(raw, found.numbers, n_bins, found.remark)


def _are_numbers(raw: Raw, numbers: Floats) -> bool:
    """Return whether a column of texts is one of numbers, possibly with some remarks among them."""
    others, n_filled = np.isnan(numbers), raw.n_filled
    n_numbers = int(raw.counts[~others].sum())
    if (_no_values(raw) | ~others).all():
        words = {raw.texts[place].casefold() for place in np.flatnonzero(others)} & _WORDS
        return not words or (2 * n_numbers >= n_filled and int(np.count_nonzero(~others)) > 1)
    return n_numbers >= _MOST_NUMBERS * n_filled and int(np.count_nonzero(~others)) > _FEW_WHOLE


def _judge_numbers(raw: Raw, numbers: Floats, n_bins: int | None, remark: str) -> Verdict:
    """Return what becomes of a column of numbers; ``numbers[value]`` is NaN if the value is none."""
    strange = np.isnan(numbers)
    full, raw = raw, raw.without(strange)
    present = np.unique(numbers[~strange & (raw.counts > 0)])
    n_filled = raw.n_filled
    if present.size < 2:
        return _left_out(raw, "constant", f"one number only in the {n_filled:,} rows that have one")
    whole = bool((present == np.rint(present)).all())
    if whole and (reason := _identifies_rows(raw, numbers, present)):
        return _left_out(raw, "names rows", reason)
    n_bins = n_bins or (4 if n_filled >= _FOUR_BINS else 3)
    few = present.size <= (_FEW_WHOLE if whole else _FEW_BROKEN) and _ROWS_PER_NUMBER * present.size <= n_filled
    remarks = (*([remark] if remark else []), *_told_strange(full, strange))
    if few or present.size <= n_bins:
        kept = _kept(raw) if not remark else _kept(_ordered(raw, numbers))
        return _with_suspects(replace(kept, remarks=remarks), raw, numbers)
    bins = quantile_bins(np.append(numbers, np.nan)[raw.index], n_bins, f"column '{raw.name}'")
    labels = bins.labels(whole=whole)
    places = np.searchsorted(bins.edges, np.append(numbers, np.nan), side="right")
    sentence = f"cut into {len(labels)} bins at {', '.join(bins.shown_edges)}: it is a measurement"
    verdict = Verdict(
        raw.name,
        "cut",
        f"{sentence} ({present.size:,} different numbers)",
        Cells(np.where(raw.index < 0, -1, places[raw.index]), list(labels), None, labels),
        bins,
        remarks,
        tuple(full.gap_texts),
    )
    return _with_suspects(verdict, raw, numbers)


def _identifies_rows(raw: Raw, numbers: Floats, present: Floats) -> str:
    """Return why a column of whole numbers only identifies the rows; empty if it does not.

    Only columns of at least 5 values, all different, can be identifiers. Such a column is left out if its numbers

    - are consecutive, and increase from row to row or are 20 or more;
    - have a name of an identifier (``id``, ``PatientNr``, ``EmployeeNumber``, ``rownames``, ``case``, ``Unnamed: 0``, no name
      …), and increase from row to row or are 20 or more;
    - increase from row to row, and the column is the first one, with 20 or more values or few gaps in the numbering;
    - increase from row to row, are 20 or more, and are a numbering: all steps are equal, or at least half of the
      numbers between the smallest and the largest occur;
    - are 20 or more, and all have the same number of digits, at least 7.

    The rules on numbers that increase do not hold for a column that the caller named in ``columns``, and none holds for
    years (by name and range). So a sorted measurement that is not the first column is kept: its steps differ.
    """
    n_filled = raw.n_filled
    if np.count_nonzero(raw.counts) < n_filled or n_filled < _LEAST_ROWS:
        return ""
    low, high = int(present[0]), int(present[-1])
    if _YEAR.search(raw.name) and low >= 1500 and high <= 2200:
        return ""
    many, rising = n_filled >= _MANY_ROWS, bool((np.diff(numbers[raw.index[raw.index >= 0]]) > 0).all())
    if high - low == n_filled - 1 and (many or (rising and n_filled == raw.index.size)):
        return f"it counts the rows, from {low} to {high}"
    different = f"{n_filled:,} different whole numbers in {n_filled:,} rows"
    if _IDENTIFIER.search(raw.name) and (rising or many):
        return f"{different} identify the rows"
    steps = np.diff(present)
    is_numbering = 2 * n_filled > high - low or bool((steps == steps[0]).all())
    if rising and not raw.is_chosen and ((many and is_numbering) or (raw.is_first and (many or is_numbering))):
        return f"it numbers the rows: whole numbers that increase from row to row, from {low} to {high}" + (
            f" (to keep it, name it in columns: {raw.name})" if not is_numbering else ""
        )
    if many and low > 0 and len(str(low)) == len(str(high)) >= _LONG:
        return f"{different}, all of {len(str(low))} digits, identify the rows"
    return ""


def _ordered(raw: Raw, numbers: Floats) -> Raw:
    """Return few numbers, written with a unit or a comma, in their most frequent spelling and in their order."""
    best: dict[float, str] = {}
    for place in np.argsort(-raw.counts, kind="stable"):
        if raw.counts[place]:
            best.setdefault(float(numbers[place]), raw.texts[place])
    order = sorted(best)
    lookup = np.append(np.searchsorted(order, np.nan_to_num(numbers)), -1)
    states = tuple(best[number] for number in order)
    index = np.where(raw.index < 0, -1, lookup[raw.index])
    return replace(raw, kind="declared", index=index, values=_arrow(states, None), declared=states)


def _told_strange(raw: Raw, strange: Bools) -> tuple[str, ...]:
    """Return the remark on cells that are not numbers, if there are any."""
    places = np.flatnonzero(strange & (raw.counts > 0))
    if not places.size:
        return ()
    n_cells = int(raw.counts[places].sum())
    some = ", ".join(_quoted(raw.texts[place]) for place in places[:3]) + (", …" if places.size > 3 else "")
    cells = "1 cell is not a number" if n_cells == 1 else f"{n_cells:,} cells are not numbers"
    return (f"{cells} ({some}) and read as missing",)


def _with_suspects(verdict: Verdict, raw: Raw, numbers: Floats) -> Verdict:
    """Return the verdict with a remark on numbers that may stand for a missing value; they are not changed.

    These are -1, -8, -9, -99 … if all other numbers are whole and not negative, and 99, 999, 9999 … if these are at
    most a fifth of it; 99 only if they are few.
    """
    occurs = ~np.isnan(numbers) & (raw.counts > 0)
    present = np.unique(numbers[occurs])
    rest = present[~np.isin(present, (*_MINUS_CODES, *_NINES))]
    if rest.size < 2 or rest[0] < 0 or (rest != np.rint(rest)).any():
        return verdict
    few, top = rest.size <= _FEW_WHOLE, rest[-1]
    nines = {code for code in _NINES if code >= 5 * top and (few or code > 99)}
    suspects = [number for number in present if number in _MINUS_CODES or number in nines]
    if not suspects:
        return verdict
    texts = tuple(shown_number(number) for number in suspects)
    n_rows = int(raw.counts[occurs & np.isin(numbers, suspects)].sum())
    remark = (
        f"{', '.join(texts)} ({n_rows:,} {'row' if n_rows == 1 else 'rows'}) may stand for a missing value, as all other "
        f"numbers are from {int(rest[0])} to {int(top)}; if so, leave these cells empty"
    )
    return replace(verdict, remarks=(*verdict.remarks, remark), suspects=texts)


def _quoted(text: str) -> str:
    return f'"{text if len(text) <= 40 else text[:39] + "…"}"'
