"""What the columns of a table that is prepared hold, and what becomes of each."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kgmi.alphabets import MISSING, in_order
from kgmi.bins import Bins, quantile_bins, shown_number
from kgmi.cells import Cells
from kgmi.numerals import CODE, read_numerals
from kgmi.prepare_read import Column
from kgmi.types import Floats

__all__ = ["Verdict", "judge", "missing_suspects", "one_alphabet", "shown_cell", "understood"]

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


def understood(column: Column, *, comma: bool) -> Column:
    """Return a column of texts as one of dates or numbers where that is what it holds; any other as it is."""
    if column.kind != "text" or not column.n_values:
        return column
    if all(_DATE.fullmatch(text) or text.casefold() in _NO_VALUE for text in column.values[:100].to_pylist()):
        words = np.array([text.casefold() in _NO_VALUE for text in column.texts])
        if not words.all() and all(_DATE.fullmatch(text) for text in np.array(column.texts)[~words]):
            return replace(column.without(words), kind="date")
    found = read_numerals(column.values, column.counts, comma=comma)
    if found is None or not _are_numbers(column, found[0]):
        return column
    others = np.isnan(found[0])
    values, places = np.unique(found[0][~others], return_inverse=True)
    lookup = np.full(len(others) + 1, -1)
    lookup[:-1][~others] = places
    gaps = column.without(others).gaps
    return replace(column, kind="number", index=lookup[column.index], values=values, gaps=gaps, remarks=found[1])


def _are_numbers(column: Column, numbers: Floats) -> bool:
    """Return whether a column of texts is one of numbers, possibly with some remarks among them."""
    others = np.isnan(numbers)
    if not others.any():
        return True
    n_numbers, n_different = int(column.counts[~others].sum()), int(np.count_nonzero(~others))
    words = {column.texts[place].casefold() for place in np.flatnonzero(others)}
    if words <= _NO_VALUE:  # "no" and "none" are states if they are more frequent than the numbers
        return not words & {"no", "none"} or (2 * n_numbers >= column.n_filled and n_different > 1)
    return n_numbers >= _MOST_NUMBERS * column.n_filled and n_different > _FEW_WHOLE


# ---- what becomes of a column ------------------------------------------------------------------------------------

_LEAST_ROWS, _MANY_ROWS = 5, 20  # from which rows on some, and from which on all, rules about identifiers hold
_SPARSE = 20  # a column with values in fewer than one of so many rows is left out
_FEW_TEXTS = 10  # categories that remain as they are
_FEW_DATES = 12
_ROWS_PER_NUMBER = 5  # with fewer rows even few numbers are cut
_FOUR_BINS = 400  # rows from which on there are four bins
_NAMES = 0.9  # share of different texts from which on they identify rows
_RARE = 0.02  # share of the rows
_LARGEST_SHARED, _ROWS_PER_STATE = 30, 10  # states that all columns have in common, and rows for each of them
_LONG = 7  # digits of a number that identifies something
_OTHER = "other"

_IDENTIFIER = re.compile(
    r"(^|[ _.-])(?i:id|identifier|index|idx|key|uuid|guid|nr|no|num|number)$|"
    r"[a-z](Id|ID|Index|Idx|Key|Nr|No|Num|Number)$|"
    r"^(?i:row|rows|row[ _.]?(names?|numbers?|nums?|ids?)|case|cases|obs|observation|record|serial|subject|"
    r"participant|respondent|#)$|^column \d+$|^Unnamed(: \d+)?"
)
_YEAR = re.compile(r"(?i:(^|[ _.-])(year|yr)s?$)|[a-z](Year|Yr)$")


@dataclass(frozen=True, eq=False)
class Verdict:
    """What becomes of a column.

    Attributes
    ----------
    column
        The column.
    why
        The rule that applied; columns of one rule share a note if they are many.
    sentence
        What was done, to follow the name; empty if the column is kept as it is.
    cells
        Its states; None if it is left out.
    bins
        Where it was cut, if it was.
    suspects
        Values of a column that is kept or cut that may stand for missing values.
    """

    column: Column
    why: str
    sentence: str = ""
    cells: Cells | None = None
    bins: Bins | None = None
    suspects: tuple[str, ...] = ()


def judge(
    column: Column, *, n_bins: int | None = None, as_states: bool = False, states: Sequence[str] | None = None
) -> Verdict:
    """Return what becomes of a column.

    ``as_states`` says that all columns have their states in common; ``states`` are those of all columns, if
    declared.
    """
    n_filled, n_rows = column.n_filled, column.index.size
    if column.kind == "other":
        return _left_out(column, "no state", "it holds lists or other values that cannot be states")
    if n_filled == 0:
        return _left_out(column, "empty", "no value in any row")
    if column.n_values == 1:
        (only,) = column.occurring
        some = f" in the {n_filled:,} rows that have one; if empty means no, write no" if n_filled < n_rows else ""
        return _left_out(column, "constant", f"one value only ({shown_cell(only)}){some}")
    if n_filled * _SPARSE < n_rows:
        return _left_out(column, "sparse", f"a value in only {n_filled:,} of {n_rows:,} rows")
    if states is not None:
        return _judge_declared(column, states)
    if as_states:
        verdict = _kept(column)
    elif column.kind == "date":
        verdict = _judge_dates(column)
    else:
        verdict = _judge_numbers(column, n_bins) if column.kind == "number" else _judge_texts(column)
    return verdict if verdict.cells is None else replace(verdict, suspects=_suspects(verdict.column))


def one_alphabet(columns: Sequence[Column]) -> bool:
    """Return whether all columns have their states in common, so that even many of them are states."""
    varied = [column for column in columns if column.n_values > 1]
    largest = max((column.n_values for column in varied), default=0)
    if (
        not 0 < largest <= min(_LARGEST_SHARED, columns[0].index.size / _ROWS_PER_STATE)
        or len({one.kind for one in varied}) > 1
    ):
        return False
    if varied[0].kind not in ("text", "number") or 2 * min(column.n_values for column in varied) < largest:
        return False
    if varied[0].kind == "number" and any((column.values != np.rint(column.values)).any() for column in varied):
        return False
    return len({text for column in varied for text in column.occurring}) == largest


def shown_cell(text: str) -> str:
    """Return the text of a cell in quotes, without its end if it is long."""
    return f'"{text if len(text) <= 40 else text[:39] + "…"}"'


def _left_out(column: Column, why: str, reason: str) -> Verdict:
    return Verdict(column, why, f"left out: {reason}")


def _kept(column: Column, states: Sequence[str] | None = None) -> Verdict:
    """Return the verdict on a column whose values are its states.

    States that would be read as missing values ("None") or as numbers (01) are declared, so that they are neither.
    """
    declared, occurring = column.declared if states is None else tuple(states), column.occurring
    if declared is None and any(text in MISSING or re.match(CODE, text) for text in occurring):
        declared = in_order(occurring)
    return Verdict(column, "kept", "", Cells(column.index, list(column.texts), None, declared))


def _judge_declared(column: Column, states: Sequence[str]) -> Verdict:
    """Return what becomes of a column if the caller declared the states.

    It is kept if almost all of its values are among them, apart from those that may stand for missing ones.
    Measurements are cut if the states are whole numbers from 0, as those of a kernel: into as many bins, in their
    order.
    """
    known = np.array([text in {*states} for text in column.texts])
    strange = ~known & ~np.isin(column.texts, _suspects(column))
    if known.any() and column.counts[strange].sum() <= (1 - _MOST_NUMBERS) * column.n_filled:
        column = column.without(~known)
        return _kept(column, states) if column.n_values > 1 else judge(column)
    if column.kind == "number" and tuple(states) == tuple(map(str, range(len(states)))):
        return _judge_numbers(column, len(states), states)
    return _of_other_states(column)


def _of_other_states(column: Column) -> Verdict:
    some = ", ".join(map(shown_cell, list(column.occurring)[:3])) + (", …" if column.n_values > 3 else "")
    return _left_out(column, "other states", f"its values ({some}) are not among the declared states")


def _judge_dates(column: Column) -> Verdict:
    if 1 < column.n_values <= _FEW_DATES and 2 * column.n_values <= column.n_filled:
        return _kept(column)
    first = shown_cell(next(iter(column.occurring)))
    advice = "to use it, write the year, the month or the like into a column of its own"
    return _left_out(column, "dates", f"it holds dates or times ({first}, …); {advice}")


def _judge_texts(column: Column) -> Verdict:
    """Return what becomes of a column of texts or of declared categories."""
    n_values, n_filled = column.n_values, column.n_filled
    all_different = n_values == n_filled >= _LEAST_ROWS
    if all_different or (n_filled >= _MANY_ROWS and n_values > _NAMES * n_filled):
        return _left_out(
            column, "names rows", f"{n_values:,} different values in {n_filled:,} rows identify the rows"
        )
    if n_values == 3 and column.kind == "text" and {*column.occurring} == {"True", "False", "None"}:
        column = column.without(
            np.array([text == "None" for text in column.texts])
        )  # as Python writes truth values
    few = n_values <= _FEW_TEXTS and len(column.declared or ()) <= 2 * _FEW_TEXTS
    verdict = _kept(column) if few else _joined(column)
    alike: dict[str, list[str]] = {}
    for state in dict.fromkeys(() if verdict.cells is None else verdict.cells.values):
        alike.setdefault(state.casefold(), []).append(state)
    remarks = [
        f"{', '.join(map(shown_cell, some))} differ only in capital letters and remain {len(some)} states"
        for some in alike.values()
        if len(some) > 1
    ]
    return replace(verdict, column=replace(column, remarks=(*column.remarks, *remarks)))


def _joined(column: Column) -> Verdict:
    """Return the frequent categories, with all others joined to one."""
    least = max(_LEAST_ROWS, math.ceil(_RARE * column.n_filled))
    by_count = np.argsort(-column.counts, kind="stable")
    frequent = [int(place) for place in by_count[: _FEW_TEXTS - 1] if column.counts[place] >= least]
    if not frequent:
        reason = (
            f"{column.n_values:,} different values in {column.n_filled:,} rows, none of them in {least:,} or more"
        )
        return _left_out(column, "rare", reason)
    rare = np.setdiff1d(np.flatnonzero(column.counts), frequent)
    if len(rare) <= 1 and column.n_values <= _FEW_TEXTS + 1:
        return _kept(column)
    texts = {place: column.texts[place] for place in frequent}
    other = next((text for text in texts.values() if text.casefold() == _OTHER), _OTHER)
    apart = [text for text in texts.values() if text != other]
    known = in_order(apart) if column.declared is None else [text for text in column.declared if text in apart]
    order = (*known, other)
    codes = np.full(len(column.values) + 1, len(order) - 1, dtype=np.int64)
    codes[-1] = -1  # a missing value (-1) looks up the last
    for place, text in texts.items():
        codes[place] = order.index(text)
    n_rows = int(column.counts[rare].sum())
    sentence = f'the {len(rare):,} rarest of {column.n_values:,} values are joined as "{other}" ({n_rows:,} rows)'
    return Verdict(column, "joined", sentence, Cells(codes[column.index], list(order), None, order))


def _judge_numbers(column: Column, n_bins: int | None, states: Sequence[str] | None = None) -> Verdict:
    """Return what becomes of a column of numbers; bins are called by the ``states``, if these are declared."""
    present = np.asarray(column.values[column.counts > 0], dtype=np.float64)
    n_filled, whole = column.n_filled, bool((present == np.rint(present)).all())
    if whole and (reason := _identifies_rows(column, present)):
        return _left_out(column, "names rows", reason)
    n_bins = n_bins or (4 if n_filled >= _FOUR_BINS else 3)
    few = present.size <= (_FEW_WHOLE if whole else _FEW_BROKEN) and _ROWS_PER_NUMBER * present.size <= n_filled
    if few or present.size <= n_bins:
        return _kept(column) if states is None else _of_other_states(column)
    values = np.append(column.values.astype(np.float64), np.nan)
    bins = quantile_bins(values[column.index], n_bins, column.name)
    labels = bins.labels(whole=whole) if states is None else tuple(states)
    places = np.where(np.isnan(values), -1, np.searchsorted(bins.edges, values, side="right"))
    called = "" if states is None else f" (called {', '.join(labels)})"
    sentence = f"cut into {len(bins.centres)} bins at {', '.join(bins.shown_edges)}{called}: it is a measurement"
    cells = Cells(places[column.index], list(labels), None, labels)
    return Verdict(column, "cut", f"{sentence} ({present.size:,} different numbers)", cells, bins)


def _identifies_rows(column: Column, present: Floats) -> str:
    """Return why a column of whole numbers only identifies the rows; empty if it does not.

    Only columns of at least 5 values, all different, can be identifiers. Such a column is left out if its numbers

    - are consecutive, and increase from row to row or are 20 or more;
    - have a name of an identifier (``id``, ``PatientNr``, ``EmployeeNumber``, ``rownames``, ``case``, none …), and
      increase from row to row or are 20 or more;
    - increase from row to row, and the column is the first one, with 20 or more values or few gaps;
    - increase from row to row, are 20 or more, and are a numbering: all steps are equal, or at least half of the
      numbers between the smallest and the largest occur;
    - are 20 or more, and all have the same number of digits, at least 7.

    The rules on numbers that increase do not hold for a column that the caller named in ``columns``, and none holds
    for years (by name and range). So a sorted measurement that is not the first column is kept: its steps differ.
    """
    n_filled, low, high = column.n_filled, int(present[0]), int(present[-1])
    if present.size < n_filled or n_filled < _LEAST_ROWS:
        return ""
    if _YEAR.search(column.name) and low >= 1500 and high <= 2200:
        return ""
    many, rising = n_filled >= _MANY_ROWS, bool((np.diff(column.index[column.index >= 0]) > 0).all())
    if high - low == n_filled - 1 and (many or (rising and n_filled == column.index.size)):
        return f"it counts the rows, from {low} to {high}"
    different = f"{n_filled:,} different whole numbers in {n_filled:,} rows"
    if _IDENTIFIER.search(column.name) and (rising or many):
        return f"{different} identify the rows"
    steps = np.diff(present)
    is_numbering = 2 * n_filled > high - low or bool((steps == steps[0]).all())
    if (
        rising
        and not column.is_chosen
        and ((many and is_numbering) or (column.is_first and (many or is_numbering)))
    ):
        advice = "" if is_numbering else f" (to keep it, name it in columns: {column.name})"
        return f"it numbers the rows: whole numbers that increase from row to row, from {low} to {high}{advice}"
    if many and low > 0 and len(str(low)) == len(str(high)) >= _LONG:
        return f"{different}, all of {len(str(low))} digits, identify the rows"
    return ""


# ---- values that may stand for missing ones ----------------------------------------------------------------------

_MISSING_CODES = (-1, -8, -9, -88, -98, -99, -999, -9999, -99999, 99, 999, 9999, 99999)
_MISSING_TEXTS = _NO_VALUE - {"no"}


def missing_suspects(texts: Collection[str]) -> tuple[str, ...]:
    """Return the states of a column that may stand for a missing value.

    These are "None", "n/a", "-" and the like among words and numbers; codes such as -9 among words; and in numbers,
    -1, -8, -9, -99 … if no other number is negative (-1, -8 and -9 only among whole numbers) and -99, 999 … if they
    are at least five times as large as all others, 99 only if these are few.
    """
    suspects = tuple(text for text in texts if text.casefold() in _MISSING_TEXTS)
    others = [text for text in texts if text not in suspects]
    if suspects:
        return suspects if others and all(any(map(str.isalnum, text)) for text in others) else ()
    codes = tuple(text for text in texts if text in map(str, _MISSING_CODES[1:6]))
    if codes and not any(any(map(str.isdigit, text)) for text in others if text not in codes):
        return codes
    if not all(re.fullmatch(r"-?\d+(\.\d+)?", text) for text in texts):
        return ()
    return _suspect_numbers(np.array([float(text) for text in texts]))


def _suspects(column: Column) -> tuple[str, ...]:
    if column.kind == "number":
        return _suspect_numbers(np.asarray(column.values[column.counts > 0], dtype=np.float64))
    return missing_suspects(list(column.occurring))


def _suspect_numbers(numbers: Floats) -> tuple[str, ...]:
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
