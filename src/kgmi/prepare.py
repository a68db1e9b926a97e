"""``prepare``: any table made ready for learning by plain rules, with a sentence on everything that was done."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from kgmi.alphabets import MISSING, Alphabet, Rules, in_order, listed, whole_number
from kgmi.bins import Bins, quantile_bins, shown_numbers
from kgmi.cells import Cells
from kgmi.errors import DataError, SettingError
from kgmi.graph.naming import quoted
from kgmi.prepare_read import FEW_WHOLE, MOST_NUMBERS, NO_VALUE, Column, column_of, read_sheet, text_of
from kgmi.table import Table, duplicate_columns, table_of_cells
from kgmi.types import Names
from kgmi.where import unknown_column

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
        Columns that are not in the table, with the reason.
    bins
        Where each column of measurements was cut.
    suspects
        Values that may stand for missing ones, such as "-9", by column; they were kept. See ``missing_values``.
    """

    table: Table
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    bins: Mapping[str, Bins] = field(default_factory=dict)
    suspects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

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
    columns, drop
        Which columns are used, in this order, or left out. Those in ``columns`` may identify the rows.
    header
        Whether the first line of a text file names the columns.
    states, n_states
        The states of all columns, in their order, or how many there are: 0, 1, …, as those of a kernel. A column is
        left out if less than 90 % of its values are states; other values are missing. Measurements are cut into as
        many bins if the states are numbers from 0.
    missing, missing_values
        What a missing value is: left out of the counts that need it (``pairwise``), or a state (``category``); and
        further values that are missing values, such as "-9".
    alphabet
        Which columns share an alphabet: all (``shared``), none (``own``), those over one set of values (``auto``).
    bins
        Into how many bins measurements are cut; by default 4, or 3 if there are fewer than 400 numbers.
    """
    if missing not in ("pairwise", "category"):
        raise SettingError(f"missing must be 'pairwise' or 'category' for a table to be prepared, got {missing!r}")
    rules = Rules(states, n_states, missing, alphabet)
    n_bins = None if bins is None else whole_number("bins", bins, least=2)
    columns = None if columns is None else [*map(str, listed("columns", columns))]
    drop = [*map(str, listed("drop", () if drop is None else drop))]
    further = {text: _as_number(text) for one in listed("missing_values", missing_values) if (text := text_of(one))}
    if isinstance(source, Table):
        if n_bins or further or rules.n_declared:
            raise SettingError("a kgmi.Table has states already; leave states, bins and missing_values out")
        return Prepared(source.in_order([*map(source.names.index, _chosen(source.names, columns, drop))]))
    sheet = read_sheet(source, header)
    usual, notes = MISSING.difference(rules.declared, ["None"]), [*sheet.notes]
    names = _chosen([*sheet.columns], columns, drop)
    extra = {*further, *further.values()}
    found = [column_of(name, sheet.columns[name], usual, extra, decimal=sheet.decimal) for name in names]
    notes += [
        f'"{text}" is a missing value, as asked, and is in no column.'
        for text, number in further.items()
        if all({text, number}.isdisjoint(map(str.strip, column.gaps)) for column in found)
    ]
    filled = np.logical_or.reduce([column.index >= 0 for column in found])
    if 0 < (n_empty := int(np.count_nonzero(~filled))) < filled.size:  # such as spreadsheets leave at the end
        found = [replace(column, index=column.index[filled]) for column in found]
        notes.append(f"Rows without any value are left out: {n_empty:,}.")
    found, spellings = _join_spellings(found, rules.declared)
    judged, shared = [], _share_states(found)
    for column in found:
        is_first = column.name == next(iter(sheet.columns))
        identity = _identity(column, is_first=is_first) if columns is None else ""
        with_suspects = replace(column, suspects={} if rules.declared else _suspects(column))
        judged.append(_judge(with_suspects, identity, n_bins, rules.declared, shared))
    kept = [column for column in judged if not column.left_out]
    if len(kept) < 2:
        what = "one column" if kept else "no column"
        because = _sentences({column.name: _remarks_on(column, missing) for column in judged if column.left_out})
        problem = f"{sheet.name} has {what} that can be learned from, and a graph needs two."
        advice = "Give more columns with states in them, or declare the states in their order: states=… (--states)"
        raise DataError(" ".join([problem, *because, advice]))
    table = table_of_cells([_cells(one) for one in kept], tuple(one.name for one in kept), "typed", rules)
    remarks = {name: ["is left out: as asked"] for name in drop}
    remarks |= {column.name: _remarks_on(column, missing) for column in judged}
    return Prepared(
        table,
        (*notes, *_sentences(remarks), *spellings, *_on_copies(table)),
        dict.fromkeys(drop, "as asked") | {one.name: one.left_out for one in judged if one.left_out},
        {column.name: column.bins for column in kept if column.bins is not None},
        {column.name: (*column.suspects,) for column in kept if column.suspects},
    )


def _as_number(text: str) -> str:
    """Return a number as it is shown: -9.0 as -9; other texts as they are."""
    try:
        return shown_numbers([float(text)])[0]
    except ValueError:
        return text


def _chosen(names: Sequence[str], columns: Names | None, drop: Names) -> list[str]:
    """Return the names of the columns that are used."""
    for option, given in (("columns", columns or ()), ("drop", drop)):
        if unknown := [name for name in given if name not in names]:
            raise unknown_column(unknown[0], names, option)
    chosen = [name for name in dict.fromkeys(names if columns is None else columns) if name not in drop]
    if len(chosen) < 2 <= len(names):
        raise SettingError(f"a graph needs at least two columns, {len(chosen)} would be used")
    return chosen


_LETTERS = 3  # different ones that make a word; AA, Aa and aa are genotypes
_SHORT = ({"yes", "no"}, {"y", "n"}, {"t", "f"}, {"on", "off"})  # words too, if a column has both


def _join_spellings(columns: list[Column], states: Collection[str]) -> tuple[list[Column], list[str]]:
    """Return the columns with every word in the declared or else most frequent spelling, and a note on it."""
    words = [_words(column) for column in columns]
    rows = sum(words, Counter[str]())
    best = {text.casefold(): text for text in sorted(rows, key=lambda text: (text in states, rows[text], text))}
    better = {text: best[text.casefold()] for text in rows if best[text.casefold()] != text}
    if not better:
        return columns, []
    pairs = zip(columns, words, strict=True)
    joined = [one.recoded([better.get(text, text) for text in one.texts]) if some else one for one, some in pairs]
    shown = _listed([f'"{text}" as "{other}"' for text, other in better.items()])
    return joined, [f"Spellings that differ only in capital letters are joined: {shown}."]


def _words(column: Column) -> Counter[str]:
    """Return texts that are words, and in how many rows; of short ones, only those for true and false."""
    if column.kind != "text" or 2 * len(column.texts) > column.n_filled:
        return Counter()
    folded = {text.casefold() for text in column.texts}
    words = {text for text in folded if len({*filter(str.isalpha, text)}) >= _LETTERS}
    words = words.union(*(pair for pair in _SHORT if pair <= folded))
    return Counter({text: n_rows for text, n_rows in column.texts.items() if text.casefold() in words})


_LARGEST_SHARED, _ROWS_PER_STATE = 30, 10  # states that all columns have in common, and rows for each of them


def _share_states(columns: Sequence[Column]) -> bool:
    """Return whether all columns have their states in common, so that even many of them are states."""
    varied = [column for column in columns if len(column.values) > 1]
    most = min(_LARGEST_SHARED, columns[0].index.size / _ROWS_PER_STATE)
    if max((len(column.values) for column in varied), default=0) > most:
        return False
    return len({*Rules().column_states([column.texts for column in varied])}) == 1


_LEAST_ROWS = 5  # with fewer rows, numbers increase and states correspond by chance, and a value is rare
_MANY_ROWS = 20  # from which on all rules about identifiers hold
_NAMES = 0.9  # share of different texts from which on they identify rows
_IDENTIFIER = re.compile(
    r"(^|[ _.-])(?i:id|identifier|index|idx|key|uuid|guid|nr|no|num|number)$|"
    r"[a-z](Id|ID|Index|Idx|Key|Nr|No|Num|Number)$|"
    r"^(?i:row|rows|row[ _.]?(names?|numbers?|nums?|ids?)|case|cases|obs|observation|record|serial|subject|"
    r"participant|respondent|#)$|^column \d+$|^Unnamed(: \d+)?"
)
_YEAR = re.compile(r"(?i:year|(^|[ _.-])yr)")


def _identity(column: Column, *, is_first: bool) -> str:
    """Return why a column only identifies the rows, by texts or whole numbers that differ; empty if it does not.

    Whole numbers do if they increase and have the name of a numbering, or two of these hold: there are many rows,
    it is the first column, they fill half of their range. In many rows, they also do in any order if they have such
    a name or are consecutive. No rule holds for years.
    """
    n_values, n_filled = len(column.values), column.n_filled
    is_many = n_filled >= _MANY_ROWS
    if column.kind != "number":
        is_identity = n_values == n_filled >= _LEAST_ROWS or (is_many and n_values > _NAMES * n_filled)
        return f"{n_values:,} different values in {n_filled:,} rows" if is_identity else ""
    if n_values < n_filled or n_filled < _LEAST_ROWS or not column.is_whole or _YEAR.search(column.name):
        return ""
    low, high = int(column.values[0]), int(column.values[-1])
    span, is_named = high - low + 1, _IDENTIFIER.search(column.name) is not None
    is_rising = bool((np.diff(column.index[column.index >= 0]) > 0).all())
    rising_counts = is_rising and (is_named or is_many + is_first + (span <= 2 * n_filled) >= 2)
    if rising_counts or (is_many and (is_named or span == n_filled)):
        return f"{n_filled:,} different numbers from {low} to {high}; to keep it, name it in columns: {column.name}"
    return ""


_SPARSE = 20  # a column with values in fewer than one of so many rows is left out
_FEW_TEXTS = 10  # categories that remain as they are
_FEW_BROKEN = 5  # other numbers than whole ones that remain as they are, such as doses
_FOUR_BINS = 400  # rows from which on there are four bins
_RARE = 0.02  # share of the rows


def _judge(column: Column, identity: str, n_bins: int | None, states: tuple[str, ...], shared: bool) -> Column:
    """Return a column with its states as values, or with the reason why it is left out.

    ``identity`` is why it only identifies the rows, ``states`` are the declared ones; with ``shared``, all columns
    have the same ones.
    """
    if column.left_out:
        return column
    if states:
        column, n_bins = _with_declared(column, states), len(states)
    has_states = column.declared == states if states else shared
    n_values, n_filled, n_rows = len(column.values), column.n_filled, column.index.size
    n_bins = n_bins or (4 if n_filled >= _FOUR_BINS else 3)
    n_few = min(FEW_WHOLE if column.is_whole else _FEW_BROKEN, n_filled // _LEAST_ROWS)
    is_measured = column.kind == "number" and n_values > max(n_bins, n_few)
    reason = ""
    if n_filled == 0:
        reason = "it has no value in any row"
    elif n_values == 1:
        some = f" in the {n_filled:,} rows that have one; if empty means no, write no" if n_filled < n_rows else ""
        reason = f"it has one value only ({_shown(column.texts)}{some})"
    elif n_filled * _SPARSE < n_rows:
        reason = f"it has a value in few rows ({n_filled:,} of {n_rows:,})"
    elif has_states:
        return column
    elif states and not (is_measured and states == tuple(map(str, range(n_bins)))):
        reason = f"its values are not among the states {_listed(states)} ({_shown(column.texts)})"
    elif column.kind == "date" and n_values > min(_FEW_TEXTS, n_filled / 2):
        advice = "to use it, write the year, the month or the like into a column of its own"
        reason = f"it holds dates or times ({_shown(column.texts)}; {advice})"
    elif identity:
        reason = f"it identifies the rows ({identity})"
    elif is_measured:
        return _in_bins(column, n_bins, states)
    elif column.kind != "number" and n_values > _FEW_TEXTS:
        return _with_few_texts(column)
    return replace(column, left_out=reason)


def _with_declared(column: Column, states: tuple[str, ...]) -> Column:
    """Return a column with the declared states if almost all of its values are among them, or as it is.

    Those that may stand for missing values do not count.
    """
    other = {text: n_rows for text, n_rows in column.texts.items() if text not in states}
    n_strange = sum(other.values()) - sum(_suspects(column).get(text, 0) for text in other)
    if len(other) == len(column.values) or n_strange > (1 - MOST_NUMBERS) * column.n_filled:
        return column
    return replace(column.without(other), declared=states)


def _with_few_texts(column: Column) -> Column:
    """Return a column of many texts or categories with rare ones joined to one."""
    n_values, n_filled = len(column.values), column.n_filled
    least = max(_LEAST_ROWS, math.ceil(_RARE * n_filled))
    by_count = Counter(column.texts).most_common(_FEW_TEXTS - 1)
    frequent = {text: n_rows for text, n_rows in by_count if n_rows >= least}
    if not frequent:
        reason = f"it has no frequent value ({n_values:,} different values in {n_filled:,} rows, none in {least:,})"
        return replace(column, left_out=reason)
    other = next((text for text in frequent if text.casefold() == "other"), "other")
    order = in_order(frequent) if column.declared is None else column.declared
    n_rare, n_rows = n_values - len(frequent), n_filled - sum(frequent.values())
    note = f'has rare values, which are joined as "{other}" ({n_rare:,} of {n_values:,}, in {n_rows:,} rows)'
    texts = [text if text in frequent else other for text in column.texts]
    states = (*(text for text in order if text in frequent and text != other), other)
    return column.recoded(texts, declared=states, notes=(note,))


def _in_bins(column: Column, n_bins: int, states: tuple[str, ...]) -> Column:
    """Return a column of measurements cut into bins, which are called by the ``states`` if these are declared."""
    bins = quantile_bins(np.repeat(column.values, column.counts), n_bins)
    labels = states or bins.labels(whole=column.is_whole)
    called = f"called {', '.join(labels)}; " if states else ""
    details = f"at {', '.join(shown_numbers(bins.edges))}; {called}{len(column.values):,} different numbers"
    notes = (f"is a measurement and is cut into {len(bins.centres)} bins ({details})", *column.notes)
    values = [labels[place] for place in np.searchsorted(bins.edges, column.values, side="right")]
    return column.recoded(values, kind="declared", declared=labels, bins=bins, notes=notes)


def _cells(column: Column) -> Cells:
    """Return a column to be coded; texts that could be missing values or numbers (None, 01) are declared."""
    is_odd = column.kind == "text" and any(text in MISSING or text[-1:].isdigit() for text in column.texts)
    declared = in_order(column.texts) if is_odd and column.declared is None else column.declared
    return Cells(column.index, [*column.texts], declared)


_MISSING_CODES = {-1, -8, -9, -88, -98, -99, -999, -9999, -99999, 99, 999, 9999, 99999}
_MISSING_TEXTS = NO_VALUE.difference(["no"]).union(["-8", "-9", "-88", "-98", "-99"])


def _suspects(column: Column) -> dict[str, int]:
    """Return the values of a column that may stand for missing ones, and in how many rows they are.

    These are "None", "-", "-9" and the like among words; and in numbers, -1, -8, -9, -99 … if no other number is
    negative, and -99, 99, 999 … if they are at least five times as large as all others.
    """
    found: set[Any]
    if column.kind == "number":
        found = _MISSING_CODES.intersection(column.values)
    else:
        found = {text for text in column.texts if text.casefold() in _MISSING_TEXTS}
    others = [value for value in column.values if value not in found] if found else []
    if len(others) < (2 if column.kind == "number" else 1):  # -1 and 1 may be two states
        return {}
    if column.kind == "number":
        large = 5 * max(-others[0], others[-1])
        found = {code for code in found if abs(code) >= large or code < 0 <= others[0]}
    elif not all(any(map(str.isalnum, text)) for text in others):
        return {}
    pairs = zip(column.texts.items(), column.values, strict=True)
    return {text: n_rows for (text, n_rows), value in pairs if value in found}


_SHOWN, _LONGEST = 8, 40  # names or cells in a sentence, and characters of a cell


def _remarks_on(column: Column, missing: str) -> list[str]:
    """Return what is noted on a column, also on missing values and on values that may stand for them."""
    if column.left_out:
        return [f"is left out: {column.left_out}"]
    remarks = [*column.notes]
    if n_gaps := int(np.count_nonzero(column.index < 0)):
        texts = [text for text, _ in Counter(column.gaps).most_common() if text]
        written = f", some of them written {_shown(texts)}" if texts else ""
        done = "a state of their own" if missing == "category" else "left out of the counts that need them"
        remarks.append(f"has missing values, {done} ({n_gaps:,}{written})")
    if column.suspects:
        shown, n_rows = _shown(column.suspects), sum(column.suspects.values())
        advice = f"leave these cells empty, or use missing_values={[*column.suspects]}"
        remarks.append(f"has {shown}, perhaps a missing value: if so, {advice} ({n_rows:,} rows)")
    return remarks


def _sentences(remarks: Mapping[str, Sequence[str]]) -> list[str]:
    """Return remarks on columns as sentences; those on many columns as one, without the details in parentheses."""
    columns: dict[str, dict[str, str]] = defaultdict(dict)
    for name, some in remarks.items():
        for remark in some:
            columns[remark.partition(" (")[0]][quoted(name)] = remark
    sentences = []
    for what, of in columns.items():
        if len(of) > _SHOWN or len(of) > 1 == len({*of.values()}):
            sentences.append(f"{_listed([*of])}: each {what}.")
        else:
            sentences += [f"{name} {remark}." for name, remark in of.items()]
    return sentences


def _shown(texts: Iterable[str]) -> str:
    """Return texts of cells in quotes, the long ones shortened."""
    return _listed([f'"{text[:_LONGEST]}{"…" * (len(text) > _LONGEST)}"' for text in texts])


def _listed(texts: Sequence[str]) -> str:
    n_more = len(texts) - _SHOWN
    return ", ".join(texts[:_SHOWN]) + (f" and {n_more:,} more" if n_more > 0 else "")


def _on_copies(table: Table) -> list[str]:
    """Return notes on columns that carry the same information, under the same states or others."""
    firsts, notes = np.full(table.codes.shape, -1), []  # firsts[row]: the first row with the same state
    for column, codes in enumerate(table.codes.T):
        _, first, place = np.unique(codes, return_index=True, return_inverse=True)
        firsts[codes >= 0, column] = first[place][codes >= 0]
    for group in duplicate_columns(firsts):
        if len(firsts) >= _LEAST_ROWS * len({*firsts[:, group[0]].tolist()}):
            shown = _listed([quoted(table.names[column]) for column in group])
            notes.append(f"{shown} carry the same information, perhaps under other states; leave all but one out.")
    return notes[:_SHOWN]
