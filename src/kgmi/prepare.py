"""``prepare``: any table made ready for learning by plain rules, with a sentence on everything that was done."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from kgmi.alphabets import MISSING, Alphabet, Rules, in_order
from kgmi.bins import Bins, checked_bins, quantile_bins, shown_number
from kgmi.cells import Cells
from kgmi.errors import DataError, SettingError
from kgmi.graph.naming import quoted
from kgmi.prepare_read import CODE, FEW_WHOLE, MOST_NUMBERS, NO_VALUE, Column, column_of, read_sheet
from kgmi.table import Table, duplicate_columns, table_of_cells
from kgmi.types import Codes, Names
from kgmi.where import unknown_column

__all__ = ["ORDER_NOTE", "Prepared", "prepare"]

ORDER_NOTE = (
    "The columns are taken in the order in which they are, parents before children; if they are in no such order, "
    "have it found: order='learn' (--order learn)."
)
"""What no table shows; it is said wherever a prepared one is learned in its own order."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table ready for learning; :func:`kgmi.learn` takes it as it is.

    Attributes
    ----------
    table
        The table: names, states of every column, codes, and -1 for missing values.
    notes
        Everything that was done, each in a sentence; none if the table could be learned from as it was.
    left_out
        Columns that are not in the table, in their order, with the reason.
    bins
        Where each column of measurements was cut.
    suspects
        Values that may stand for missing ones, such as "-9", by column; they were kept. See ``missing_values``.
    """

    table: Table
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    bins: Mapping[str, Bins] = field(default_factory=lambda: MappingProxyType({}))
    suspects: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def notes_for(self, order: object, tiers: object) -> tuple[str, ...]:
        """Return the notes and, for a fit in the order of the columns, that this order is assumed."""
        is_assumed = isinstance(order, str) and order == "given" and tiers is None
        return (*self.notes, *((ORDER_NOTE,) if is_assumed else ()))


def prepare(
    source: Any,
    *,
    columns: Names | None = None,
    drop: Names | None = None,
    header: bool = True,
    states: Names | None = None,
    n_states: int | None = None,
    missing: Literal["pairwise", "category"] = "pairwise",
    missing_values: Collection[str] = (),
    alphabet: Alphabet = "auto",
    bins: int | None = None,
) -> Prepared:
    """Make any table ready for learning; everything that is done is noted, and a ready table stays as it is.

    Columns that identify or count the rows, or hold one value or dates, are left out; measurements are cut into
    bins at their quantiles; rare categories are joined, and so are spellings of a word that differ only in capital
    letters. In text files, the encoding, the delimiter, comment lines before the table, decimal commas, separators
    of thousands and units are found out. The order of the columns stays, and is for you to judge.

    Parameters
    ----------
    source
        The path of a file (``.csv``, ``.tsv`` or ``.txt``, also with ``.gz``, ``.parquet``, ``.feather``,
        ``.arrow``, ``.ipc``, ``.npy``), a data frame, an array, lists, or a :class:`kgmi.Table` to choose from.
    columns
        Which columns are used, in this order; by default all. One that is named may increase from row to row.
    drop
        Columns that are left out.
    header
        Whether the first line of a text file names the columns.
    states, n_states
        The states of all columns, in their order, or how many there are: 0, 1, …, as those of a kernel. A column is
        left out if less than 90 % of its values are states; other values are missing. Measurements are cut into as
        many bins if the states are numbers from 0.
    missing
        What a missing value is: left out of the counts that need it (``pairwise``), or a state (``category``).
    missing_values
        Further values that are missing values, such as "-9".
    alphabet
        Which columns share an alphabet: all (``shared``), none (``own``), those over one set of values (``auto``).
    bins
        Into how many bins measurements are cut; by default 4, or 3 if there are fewer than 400 numbers.
    """
    if missing not in ("pairwise", "category"):
        raise SettingError(f"missing must be 'pairwise' or 'category' for a table to be prepared, got {missing!r}")
    rules, n_bins = Rules(states, n_states, missing, alphabet), checked_bins(bins)
    if isinstance(source, Table):
        return Prepared(source.in_order(_chosen(source.names, columns, drop)))
    declared = None if not rules.n_declared else tuple(rules.states or map(str, range(rules.n_declared)))
    sheet = read_sheet(source, header)
    gaps = MISSING.difference(declared or (), ["None"]).union(map(str, missing_values))
    chosen, is_chosen, notes = _chosen(sheet.names, columns, drop), columns is not None, [*sheet.notes]
    raws = [column_of(sheet.names[k], sheet.cells[k], gaps, comma=sheet.comma) for k in chosen]
    raws = [replace(raw, is_first=k == 0, is_chosen=is_chosen) for k, raw in zip(chosen, raws, strict=True)]
    filled = np.logical_or.reduce([raw.index >= 0 for raw in raws])
    if 0 < (n_empty := int(np.count_nonzero(~filled))) < filled.size:  # such as spreadsheets leave at the end
        raws = [replace(raw, index=raw.index[filled]) for raw in raws]
        notes.append(f"{n_empty:,} {'row' if n_empty == 1 else 'rows'} without any value left out.")
    raws, joined = _join_spellings(raws, declared or ())
    as_states = _are_states(raws)
    verdicts = [_judge(raw, n_bins=n_bins, as_states=as_states, states=declared) for raw in raws]
    kept = {one.column.name: one for one in verdicts if one.cells is not None}
    left = [one for one in verdicts if one.cells is None]
    if len(kept) < 2:
        what, because = "one column" if kept else "no column", " ".join(["", *_notes_on(left)])
        raise DataError(
            f"{sheet.name} has {what} that can be learned from, and a graph needs two.{because} Give a table of "
            "more columns with states in them"
        )
    cells = [one.cells for one in kept.values() if one.cells is not None]
    table = table_of_cells(cells, tuple(kept), "typed", rules)
    suspects = {} if declared else {name: _suspects(one.column) for name, one in kept.items()}
    reasons = dict.fromkeys(drop or (), "as asked") | {one.column.name: one.reason for one in left}
    dropped = [f"{_listed([*map(quoted, drop)])} left out, as asked."] if drop else []
    further = [_noted(one, suspects.get(one.column.name, ()), missing) for one in verdicts]
    return Prepared(
        table,
        (*notes, *dropped, *_notes_on(further), *joined, *_on_copies(table)),
        MappingProxyType({name: reasons[name] for name in sheet.names if name in reasons}),
        MappingProxyType({name: one.bins for name, one in kept.items() if one.bins is not None}),
        MappingProxyType({name: some for name, some in suspects.items() if some}),
    )


def _chosen(names: Sequence[str], columns: Names | None, drop: Names | None) -> list[int]:
    """Return the positions of the columns that are used."""
    for option, given in (("columns", columns), ("drop", drop)):
        if isinstance(given, str) or not isinstance(given, Iterable | None):
            raise SettingError(f"{option} must be a list of names, got {given!r}")
        if unknown := [name for name in given or () if name not in names]:
            raise unknown_column(unknown[0], names, option)
    wanted = names if columns is None else [*dict.fromkeys(columns)]
    chosen = [names.index(name) for name in wanted if name not in {*(drop or ())}]
    if len(chosen) < 2 <= len(names):
        raise SettingError(f"a graph needs at least two columns, {len(chosen)} would be used")
    return chosen


_MOST_VALUES = 1_000  # of a column of states
_LETTERS = 3  # different ones that make a word; AA, Aa and aa are genotypes
# Words for true and false, each pair of its own style.
_TRUTH = ({"yes", "no"}, {"true", "false"}, {"y", "n"}, {"t", "f"}, {"on", "off"}, {"1", "0"})


def _join_spellings(columns: Sequence[Column], states: Collection[str]) -> tuple[list[Column], list[str]]:
    """Return the columns with every word in the declared or else most frequent spelling, and a note on it."""
    import pyarrow as pa

    found: dict[str, Counter[str]] = defaultdict(Counter)
    words = [_words(column) for column in columns]
    for text, count in (pair for some in words for pair in some.items()):
        found[text.casefold()][text] += count
    better: dict[str, str] = {}
    for same in found.values():
        best = max(same, key=lambda text: (text in states, same[text]))
        better |= {text: best for text in same if text != best}
    joined = list(columns)
    for place, some in enumerate(words):
        if not better.keys().isdisjoint(some):
            texts = pa.array([better.get(text, text) for text in columns[place].texts], pa.large_string())
            joined[place] = columns[place].recoded(texts, np.zeros(len(texts), dtype=bool))
    told = _listed([f'"{text}" as "{other}"' for text, other in better.items()])
    return joined, [f"Spellings that differ only in capital letters are joined: {told}."] if better else []


def _words(column: Column) -> dict[str, int]:
    """Return texts that are words, and in how many rows; of short ones, only those for true and false."""
    if column.kind != "text" or len(column.values) > min(_MOST_VALUES, column.n_filled / 2):
        return {}
    folded = {text.casefold() for text in column.texts}
    words = {one for one in folded if len({*filter(str.isalpha, one)}) >= _LETTERS}
    words |= set().union(*(style for style in _TRUTH if style <= folded))
    return {text: count for text, count in column.occurring.items() if text.casefold() in words}


_LEAST_ROWS, _MANY_ROWS = 5, 20  # from which rows on some, and from which on all, rules about identifiers hold
_SPARSE = 20  # a column with values in fewer than one of so many rows is left out
_FEW_TEXTS = 10  # categories that remain as they are
_FEW_BROKEN = 5  # other numbers than whole ones that remain as they are, such as doses
_ROWS_PER_NUMBER = 5  # with fewer rows even few numbers are cut
_FOUR_BINS = 400  # rows from which on there are four bins
_NAMES = 0.9  # share of different texts from which on they identify rows
_RARE = 0.02  # share of the rows
_LARGEST_SHARED, _ROWS_PER_STATE = 30, 10  # states that all columns have in common, and rows for each of them

_IDENTIFIER = re.compile(
    r"(^|[ _.-])(?i:id|identifier|index|idx|key|uuid|guid|nr|no|num|number)$|"
    r"[a-z](Id|ID|Index|Idx|Key|Nr|No|Num|Number)$|"
    r"^(?i:row|rows|row[ _.]?(names?|numbers?|nums?|ids?)|case|cases|obs|observation|record|serial|subject|"
    r"participant|respondent|#)$|^column \d+$|^Unnamed(: \d+)?"
)
_YEAR = re.compile(r"(?i:(^|[ _.-])(year|yr)s?$)|[a-z](Year|Yr)$")


@dataclass(frozen=True, eq=False)
class _Verdict:
    """What becomes of a column."""

    column: Column
    cells: Cells | None = None  # its states; None if it is left out
    bins: Bins | None = None  # where it was cut, if it was
    reason: str = ""  # why it is left out
    notes: tuple[tuple[str, str], ...] = ()  # what was done, and details, to follow the name


def _judge(
    column: Column, *, n_bins: int | None = None, as_states: bool = False, states: Sequence[str] | None = None
) -> _Verdict:
    """Return what becomes of a column; ``as_states``: all have states in common; ``states``: those declared."""
    n_values, n_filled, n_rows = len(column.values), column.n_filled, column.index.size
    if column.kind == "other":
        return _left_out(column, "it holds lists or other values that cannot be states")
    if n_filled == 0:
        return _left_out(column, "it has no value in any row")
    if n_values == 1:
        some = f" in the {n_filled:,} rows that have one; if empty means no, write no" if n_filled < n_rows else ""
        return _left_out(column, "it has one value only", f" ({_shown(column.texts)}{some})")
    if n_filled * _SPARSE < n_rows:
        return _left_out(column, "it has a value in few rows", f" ({n_filled:,} of {n_rows:,})")
    if states is not None:
        return _judge_declared(column, states)
    if as_states:
        return _kept(column)
    if column.kind == "date" and n_values > min(_FEW_TEXTS, n_filled / 2):
        advice = "to use it, write the year, the month or the like into a column of its own"
        return _left_out(column, "it holds dates or times", f" ({_shown(column.texts)}); {advice}")
    return _judge_numbers(column, n_bins) if column.kind == "number" else _judge_texts(column)


def _are_states(columns: Sequence[Column]) -> bool:
    """Return whether all columns have their states in common, so that even many of them are states."""
    varied = [column for column in columns if len(column.values) > 1]
    sizes, kinds = [len(column.values) for column in varied], {column.kind for column in varied}
    if kinds not in ({"text"}, {"number"}) or 2 * min(sizes) < max(sizes):
        return False
    if kinds == {"number"} and any((column.values != np.rint(column.values)).any() for column in varied):
        return False
    largest = min(_LARGEST_SHARED, columns[0].index.size / _ROWS_PER_STATE)
    return max(sizes) <= largest and len({text for one in varied for text in one.texts}) == max(sizes)


def _left_out(column: Column, reason: str, details: str = "") -> _Verdict:
    return _Verdict(column, reason=reason + details, notes=((f"is left out: {reason}", details),))


def _kept(column: Column, states: Sequence[str] | None = None) -> _Verdict:
    """Return the verdict on a column whose values are its states."""
    declared, occurring = column.declared if states is None else tuple(states), column.occurring
    # States that would be read as missing values ("None") or as numbers (01) are declared.
    if declared is None and any(text in MISSING or re.match(CODE, text) for text in occurring):
        declared = in_order(occurring)
    return _Verdict(column, Cells(column.index, column.texts, None, declared))


def _judge_declared(column: Column, states: Sequence[str]) -> _Verdict:
    """Return what becomes of a column if the caller declared the states.

    It is kept if almost all of its values are among them, apart from those that may stand for missing ones.
    Measurements are cut into as many bins if the states are whole numbers from 0, as those of a kernel.
    """
    other = {text: count for text, count in column.occurring.items() if text not in states}
    n_strange = sum(count for text, count in other.items() if text not in _suspects(column))
    if len(other) < len(column.values) and n_strange <= (1 - MOST_NUMBERS) * column.n_filled:
        column = column.without(other)
        return _kept(column, states) if len(column.values) > 1 else _judge(column)
    if column.kind == "number" and tuple(states) == tuple(map(str, range(len(states)))):
        verdict = _judge_numbers(column, len(states), states)
        if verdict.bins is not None or verdict.cells is None:
            return verdict
    return _left_out(column, "its values are not among the declared states", f" ({_shown(column.texts)})")


def _judge_texts(column: Column) -> _Verdict:
    """Return what becomes of a column of texts or of declared categories: rare ones are joined to one."""
    n_values, n_filled = len(column.values), column.n_filled
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
    return _Verdict(column, Cells(codes[column.index], list(states), None, states), notes=(notes,))


def _judge_numbers(column: Column, n_bins: int | None, states: Sequence[str] | None = None) -> _Verdict:
    """Return what becomes of a column of numbers; bins are called by the ``states``, if these are declared."""
    present, n_filled = column.values, column.n_filled
    whole = bool((present == np.rint(present)).all())
    if whole and (details := _identifies_rows(column)):
        return _left_out(column, "it identifies the rows", f" ({details})")
    n_bins = n_bins or (4 if n_filled >= _FOUR_BINS else 3)
    few = present.size <= (FEW_WHOLE if whole else _FEW_BROKEN) and _ROWS_PER_NUMBER * present.size <= n_filled
    if few or present.size <= n_bins:
        return _kept(column)
    values = np.append(column.values.astype(np.float64), np.nan)
    bins = quantile_bins(values[column.index], n_bins, column.name)
    labels = bins.labels(whole=whole) if states is None else tuple(states)
    places = np.where(np.isnan(values), -1, np.searchsorted(bins.edges, values, side="right"))
    called = "" if states is None else f" (called {', '.join(labels)})"
    what = f"is a measurement and is cut into {len(bins.centres)} bins"
    notes = (what, f" at {', '.join(bins.shown_edges)}{called} ({present.size:,} different numbers)")
    return _Verdict(column, Cells(places[column.index], list(labels), None, labels), bins, notes=(notes,))


def _identifies_rows(column: Column) -> str:
    """Return why a column of whole numbers, all different, only identifies the rows; empty if it does not.

    The rules for numbers that increase from row to row are not for columns that the caller named in ``columns``; a
    numbering has equal steps, or at least half of the numbers between the smallest and the largest. So a sorted
    measurement that is not the first column is kept. No rule holds for years (by name and range).
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
    advice = "" if is_numbering else f"; to keep it, name it in columns: {column.name}"
    rules = {
        f"it counts them from {low} to {high}": many and high - low == n_filled - 1,
        f"{n_filled:,} different numbers, and its name": (many or rising) and _IDENTIFIER.search(column.name),
        f"numbers that increase from {low} to {high}{advice}": is_rising,
    }
    return next((reason for reason, holds in rules.items() if holds), "")


_MISSING_CODES = (-1, -8, -9, -88, -98, -99, -999, -9999, -99999, 99, 999, 9999, 99999)
_MISSING_TEXTS = NO_VALUE.difference(["no"]).union(map(str, _MISSING_CODES[1:6]))


def _suspects(column: Column) -> tuple[str, ...]:
    """Return the states of a column that may stand for a missing value.

    These are "None", "-", "-9" and the like among words; and in numbers, -1, -8, -9, -99 … if no other number is
    negative (-1, -8 and -9 only among whole numbers) and -99, 999 … if they are at least five times as large as all
    others, 99 only if these are few.
    """
    if column.kind != "number":
        texts = tuple(text for text in column.texts if text.casefold() in _MISSING_TEXTS)
        others = {*column.texts}.difference(texts)
        return texts if others and all(any(map(str.isalnum, text)) for text in others) else ()
    numbers = column.values
    found = np.isin(numbers, _MISSING_CODES)
    rest = numbers[~found]
    if rest.size < 2 or not found.any():
        return ()
    top, few, whole = np.abs(rest).max(), rest.size <= FEW_WHOLE, bool((rest == np.rint(rest)).all())
    return tuple(
        shown_number(code)
        for code in numbers[found]
        if (code < 0 <= rest.min() and (whole or code <= -88)) or (abs(code) >= 5 * top and (few or abs(code) > 99))
    )


_SHOWN, _LONGEST = 8, 40  # names or cells in a sentence, and characters of a cell
_ROWS_PER_PAIR = 5  # with fewer rows, states correspond by chance


def _notes_on(verdicts: Sequence[_Verdict]) -> list[str]:
    """Return the notes on columns; if what is said is the same of many, without details."""
    said: dict[str, dict[str, str]] = defaultdict(dict)
    for verdict in verdicts:
        for what, details in verdict.notes:
            said[what][quoted(verdict.column.name)] = details
    notes = []
    for what, of in said.items():
        together = len(of) > _SHOWN or len(of) > 1 == len({*of.values()})
        each = [f"{name} {what}{details}." for name, details in of.items()]
        notes += [f"{_listed([*of])}: each {what}."] if together else each
    return notes


def _noted(verdict: _Verdict, suspects: Sequence[str], missing: str) -> _Verdict:
    """Return a verdict with notes on how the values of a column that is kept were read, and on doubtful ones."""
    column, notes = verdict.column, [*verdict.notes]
    if verdict.cells is None:
        return verdict
    notes += [(f"has {remark}", "") for remark in column.remarks]
    if n_gaps := int(np.count_nonzero(verdict.cells.index < 0)):
        texts = [text for text, _ in Counter(column.gaps).most_common() if text]
        written = f", some of them written {_shown(texts)}" if texts else ""
        done = "a state of their own" if missing == "category" else "left out of the counts that need them"
        notes.append((f"has missing values, {done}", f" ({n_gaps:,}{written})"))
    if suspects:
        n_rows, use = sum(column.occurring[text] for text in suspects), f"missing_values={[*suspects]}"
        what = f"has {_shown(suspects)}, perhaps a missing value: if so, leave these cells empty, or use {use}"
        notes.append((what, f" ({n_rows:,} rows)"))
    return replace(verdict, notes=tuple(notes))


def _shown(cells: Sequence[str]) -> str:
    return _listed([f'"{text if len(text) <= _LONGEST else text[:_LONGEST] + "…"}"' for text in cells])


def _listed(shown: Sequence[str]) -> str:
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else "")


def _on_copies(table: Table) -> list[str]:
    """Return notes on columns that carry the same information, under the same states or others."""
    ranks: Codes = np.empty_like(table.codes, dtype=np.int64)
    for number, codes in enumerate(table.codes.T):  # states are numbered by their first row
        _, first, places = np.unique(codes, return_index=True, return_inverse=True)
        ranks[:, number] = np.argsort(np.argsort(first))[places]
    notes, advice = [], "which of them is a parent is arbitrary; leave all but one out"
    for one, *others in duplicate_columns(ranks)[:_SHOWN]:
        rows = np.unique(ranks[:, one], return_index=True)[1]
        codes, states, same = table.codes[rows], table.column_states, []
        for other in others:
            pairs = [(states[one][a], states[other][b]) for a, b in codes[:, [one, other]] if a >= 0]
            differ = [f"{a} = {b}" for a, b in pairs if a != b]
            if not differ or len(table.codes) >= _ROWS_PER_PAIR * len(pairs):
                same.append(quoted(table.names[other]) + (f" ({_listed(differ)})" if differ else ""))
        if same:
            notes.append(f"{quoted(table.names[one])} and {_listed(same)} carry the same information: {advice}.")
    return notes
