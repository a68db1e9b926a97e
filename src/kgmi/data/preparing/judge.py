"""What a column is: one that names rows, a measurement, a date, a category; and so what becomes of it."""

from __future__ import annotations

import numpy as np

from kgmi.data.preparing.categories import judge_texts
from kgmi.data.preparing.measured import judge_numbers
from kgmi.data.preparing.numerals import read_numerals
from kgmi.data.preparing.raw import Raw
from kgmi.data.preparing.verdict import Verdict, kept, left_out
from kgmi.types import Floats

__all__ = ["judge", "one_alphabet"]

_SPARSE = 20  # a column with values in fewer than one of so many rows tells next to nothing
_FEW_DATES = 12
_FEW_NUMBERS = 12
_SOME = 100
_MOST_NUMBERS = 0.9  # share of rows from which on the other texts are taken for remarks in a column of numbers
_LARGEST_SHARED = 30  # states of an alphabet that all columns have in common
_ROWS_PER_STATE = 10

_DATE = (
    r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})( .*)?|"
    r"\d{1,2}:\d{2}(:\d{2}.*)?|\d{1,2}\.?[ -][A-Za-z]{3,9}\.?[ -]\d{2,4}( .*)?|"
    r"[A-Za-z]{3,9}\.? \d{1,2},? \d{4}( .*)?)$"
)
# What people and spreadsheets write into a column of numbers where there is none.
_NO_NUMBER = {"-", "--", ".", "..", "…", "n/a", "na", "n.a.", "Na", "#N/A", "#NA", "<NA>", "NAN", "Nan", "NaT"}
_NO_NUMBER |= {"#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "Null", "none", "NONE", "nil"}


def judge(raw: Raw, n_rows: int, *, comma: bool, n_bins: int | None, as_states: bool) -> Verdict:
    """What becomes of a column; ``as_states`` says that all columns have one alphabet, so that this has states."""
    n_filled = raw.n_filled
    if raw.kind == "other":
        return left_out(raw, "no state", "it holds lists or other things that are no states")
    if n_filled == 0:
        return left_out(raw, "empty", "no value in any row")
    if raw.n_values == 1:
        only = raw.texts[int(raw.counts.argmax())]
        where = "" if n_filled == n_rows else f" in the {n_filled:,} rows that have one; if none means no, write no"
        return left_out(raw, "constant", f"one value only («{_short(only)}»){where}")
    if n_filled * _SPARSE < n_rows:
        return left_out(raw, "sparse", f"a value in {n_filled:,} of {n_rows:,} rows only")
    if as_states:
        return kept(raw)
    if raw.kind == "date" or (raw.kind == "text" and _all_match(raw, _DATE)):
        return _judge_dates(raw)
    return _judge_values(raw, comma, n_bins)


def one_alphabet(columns: list[Raw], n_rows: int) -> bool:
    """Whether all columns have their states in common, so that even many of them are states and no measurements."""
    varied = [raw for raw in columns if raw.n_values > 1]
    largest = max((raw.n_values for raw in varied), default=0)
    if not 0 < largest <= min(_LARGEST_SHARED, n_rows / _ROWS_PER_STATE) or len({raw.kind for raw in varied}) > 1:
        return False
    if varied[0].kind not in ("text", "number") or 2 * min(raw.n_values for raw in varied) < largest:
        return False
    if varied[0].kind == "number" and any((raw.values != np.rint(raw.values)).any() for raw in varied):
        return False
    return len({text for raw in varied for text in raw.texts}) == largest


def _judge_dates(raw: Raw) -> Verdict:
    if raw.n_values <= _FEW_DATES and 2 * raw.n_values <= raw.n_filled:
        return kept(raw)
    first = next(text for text, count in zip(raw.texts, raw.counts, strict=True) if count)
    advice = "to use it, write the year, the month or the like into a column of its own"
    return left_out(raw, "dates", f"it holds dates or times («{_short(first)}» …); {advice}")


def _judge_values(raw: Raw, comma: bool, n_bins: int | None) -> Verdict:
    """Numbers, or else categories."""
    if raw.kind == "declared":
        return judge_texts(raw)
    if raw.kind == "number":
        numbers = np.asarray(raw.values, dtype=np.float64)
        return judge_numbers(raw, np.where(np.isinf(numbers), np.nan, numbers), n_bins, "")
    found = read_numerals(raw.values, comma=comma)
    if found is None or not _are_numbers(raw, found.numbers):
        return judge_texts(raw)
    return judge_numbers(raw, found.numbers, n_bins, found.remark)


def _are_numbers(raw: Raw, numbers: Floats) -> bool:
    """Whether a column of texts is one of numbers, with a few remarks among them perhaps."""
    others = np.isnan(numbers)
    n_others = int(np.count_nonzero(others))
    if n_others <= len(_NO_NUMBER) and {raw.texts[place] for place in np.flatnonzero(others)} <= _NO_NUMBER:
        return True
    share = float(raw.counts[~others].sum()) / raw.n_filled
    return share >= _MOST_NUMBERS and int(np.count_nonzero(~others)) > _FEW_NUMBERS


def _all_match(raw: Raw, pattern: str) -> bool:
    from pyarrow import compute as pc

    for values in (raw.values[:_SOME], raw.values):  # mostly the first of them tell
        if not pc.all(pc.match_substring_regex(values, pattern)).as_py():
            return False
    return True


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
