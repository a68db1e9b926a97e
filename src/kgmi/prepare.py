"""``prepare``: any table made ready for learning by plain rules, with a sentence on everything that was done."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from kgmi.alphabets import MISSING, Alphabet, Rules
from kgmi.bins import Bins, checked_bins
from kgmi.errors import DataError, SettingError
from kgmi.graph.naming import quoted, shown_list
from kgmi.prepare_columns import Column, Verdict, column_of, judge, one_alphabet, shown_cell, understood
from kgmi.prepare_read import Sheet, read_sheet
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
        Values that may stand for missing ones, such as "-9", by column; they were not changed, and can be given to
        :func:`prepare` as ``missing_values``.
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
    letters; missing values are left out of the counts that need them. In text files, the encoding, the delimiter,
    comment lines before the table, decimal commas, separators of thousands and units are found out. The order of
    the columns stays, and is for you to judge: :data:`ORDER_NOTE`.

    Parameters
    ----------
    source
        The path of a file: ``.csv``, ``.tsv`` or ``.txt`` (also with ``.gz``), ``.parquet``, ``.feather``,
        ``.arrow``, ``.ipc`` or ``.npy``; or a data frame, an array or lists. Of a :class:`kgmi.Table`, columns can
        be chosen.
    columns
        Which columns are used, in this order; by default all. Numbers that increase from row to row are not taken
        for numbers of the rows in columns that are named here.
    drop
        Columns that are left out.
    header
        Whether the first line of a text file names the columns.
    states, n_states
        The states of all columns, in their order, or how many there are: 0, 1, …, as those of a kernel. A column is
        left out if less than 90 % of its values are states; but measurements are cut into as many bins if the
        states are numbers from 0, which the bins then get. Other values are missing.
    missing
        What a missing value is: left out of the counts that need it (``pairwise``), or a state (``category``).
    missing_values
        Further values that are missing values, such as "-9".
    alphabet
        Whether all columns share one alphabet (``shared``), each has its ``own``, or columns over one set of values
        share it and the others have their own (``auto``).
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
    raws, notes = _columns(sheet, _chosen(sheet.names, columns, drop), {*(declared or ())}, missing_values)
    raws = [replace(raw, is_chosen=columns is not None) for raw in raws]
    raws, joined = _join_spellings(raws, declared or ())
    as_states = one_alphabet(raws)
    verdicts = [judge(raw, n_bins=n_bins, as_states=as_states, states=declared) for raw in raws]
    kept = [verdict for verdict in verdicts if verdict.cells is not None]
    left = [verdict for verdict in verdicts if verdict.cells is None]
    if len(kept) < 2:
        what, because = "one column" if kept else "no column", " ".join(["", *_on_columns(left)])
        raise DataError(
            f"{sheet.name} has {what} that can be learned from, and a graph needs two.{because} Give a table of "
            "more columns with states in them"
        )
    names = tuple(verdict.column.name for verdict in kept)
    table = table_of_cells([verdict.cells for verdict in kept if verdict.cells is not None], names, "typed", rules)
    suspects = {name: one.suspects for name, one in zip(names, kept, strict=True) if one.suspects}
    dropped = [f"{_some(tuple(drop))} left out, as asked."] if drop else []
    notes = [*sheet.notes, *notes, *dropped, *_on_columns(verdicts), *joined, *_on_alike(kept)]
    notes += [*_on_missing(kept, missing), *_on_suspects(kept), *_on_copies(table)]
    reasons = dict.fromkeys(drop or (), "as asked") | {one.column.name: one.sentence for one in left}
    cuts = {one.column.name: one.bins for one in kept if one.bins is not None}
    reasons = {name: reasons[name].removeprefix("left out: ") for name in sheet.names if name in reasons}
    return Prepared(
        table, tuple(notes), MappingProxyType(reasons), MappingProxyType(cuts), MappingProxyType(suspects)
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


def _columns(
    sheet: Sheet, chosen: Sequence[int], states: Collection[str], missing: Collection[str]
) -> tuple[list[Column], list[str]]:
    """Return some columns as numbers, dates and texts, without rows that have no value, and a note on these."""
    gaps, unwanted = {*MISSING} - {"None", *states}, {str(value) for value in missing}
    raws = [column_of(sheet.names[k], sheet.cells[k], gaps).without(unwanted) for k in chosen]
    raws = [replace(raw, is_first=k == 0) for k, raw in zip(chosen, raws, strict=True)]
    filled = np.logical_or.reduce([raw.index >= 0 for raw in raws])
    notes, n_empty = [], int(np.count_nonzero(~filled))  # such as spreadsheets leave at the end
    if 0 < n_empty < filled.size:
        raws = [replace(raw, index=raw.index[filled]) for raw in raws]
        notes = [f"{'1 row' if n_empty == 1 else f'{n_empty:,} rows'} without any value left out."]
    return [understood(raw, comma=sheet.comma) for raw in raws], notes


# ---- spellings ---------------------------------------------------------------------------------------------------

_MOST_VALUES = 1_000  # of a column of states
_LETTERS = 3  # different ones that make a word; AA, Aa and aa are genotypes
# Words for true and false, each pair of its own style.
_TRUTH = ({"yes", "no"}, {"true", "false"}, {"y", "n"}, {"t", "f"}, {"on", "off"}, {"1", "0"})


def _join_spellings(columns: Sequence[Column], states: Collection[str]) -> tuple[list[Column], list[str]]:
    """Return the columns with every word in the declared or else most frequent spelling, and a note on it."""
    import pyarrow as pa

    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    words = {place: _words(column) for place, column in enumerate(columns)}
    for text, count in (pair for some in words.values() for pair in some.items()):
        spellings[text.casefold()][text] += count
    better: dict[str, str] = {}
    for found in spellings.values():
        if len(found) > 1 and all(text in (text.lower(), text.upper(), text.capitalize()) for text in found):
            best = next((text for text in found if text in states), found.most_common(1)[0][0])
            better |= {text: best for text in found if text != best}
    joined = list(columns)
    for place, some in words.items():
        if not better.keys().isdisjoint(some):
            texts = [better.get(text, text) for text in columns[place].texts]
            arrow = pa.array(texts, pa.large_string())
            joined[place] = columns[place].recoded(arrow, np.zeros(len(texts), dtype=bool))
    told = [f'"{text}" as "{best}"' for text, best in better.items()]
    more = f" and {len(told) - _SHOWN:,} more" if len(told) > _SHOWN else ""
    note = f"Spellings that differ only in capital letters are joined: {', '.join(told[:_SHOWN])}{more}."
    return joined, [note] if better else []


def _words(column: Column) -> dict[str, int]:
    """Return texts that are words, and in how many rows; of short ones, only those for true and false."""
    if column.kind != "text" or column.n_values > min(_MOST_VALUES, column.n_filled / 2):
        return {}
    found = column.occurring
    truth = set().union(*(style for style in _TRUTH if style <= {text.casefold() for text in found}))
    return {
        text: count
        for text, count in found.items()
        if text.casefold() in truth or len({*filter(str.isalpha, text.casefold())}) >= _LETTERS
    }


# ---- notes -------------------------------------------------------------------------------------------------------

_EACH = 8  # so many columns of one kind have a sentence of their own
_SHOWN = 8  # names in a sentence
_ROWS_PER_PAIR = 5  # with fewer rows, states correspond by chance
# What is said of many columns at a time, in this order.
_TOGETHER = {
    "names rows": "left out: they identify or count the rows",
    "constant": "left out: they have one value only",
    "empty": "left out: they have no value in any row",
    "sparse": "left out: they have a value in few rows only",
    "dates": "left out: they hold dates or times",
    "no state": "left out: they hold lists or other values that cannot be states",
    "rare": "left out: none of their values is frequent",
    "other states": "left out: their values are not among the declared states",
    "cut": "cut into up to {most} bins of about equally many rows: they are measurements",
    "joined": 'have rare values, which are joined as "other"',
}


def _on_columns(verdicts: Sequence[Verdict]) -> list[str]:
    """Return notes on the columns that are not as they were."""
    notes = []
    for why, together in _TOGETHER.items():
        alike = [verdict for verdict in verdicts if verdict.why == why]
        if len(alike) > _EACH:
            most = max(len(verdict.bins.centres) if verdict.bins else 0 for verdict in alike)
            names = _some([one.column.name for one in alike])
            notes.append(f"{len(alike):,} columns {together.format(most=most)} ({names}).")
        else:
            notes += [_sentence(quoted(one.column.name), one.sentence) for one in alike]
    remarks: dict[str, list[str]] = {}
    for one in verdicts:
        for remark in one.column.remarks if one.cells is not None else ():
            remarks.setdefault(remark, []).append(one.column.name)
    return [*notes, *(_sentence(_some(names), remark) for remark, names in remarks.items())]


def _sentence(name: str, rest: str) -> str:
    return f"{name}{' ' if rest.startswith(('left out', 'cut')) else ': '}{rest}."


def _some(names: Sequence[str]) -> str:
    return shown_list(names[:_SHOWN]) + (f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else "")


def _on_alike(kept: Sequence[Verdict]) -> list[str]:
    """Return notes on states that may mean the same, as spellings or as words for true and false."""
    notes = []
    for column in (one.column for one in kept if one.column.kind in ("text", "declared")):
        folded = Counter(text.casefold() for text in column.occurring)
        is_truth = len(folded) > 2 and set().union(*_TRUTH).issuperset(folded)
        alike = sorted(text for text in column.occurring if is_truth or folded[text.casefold()] > 1)
        if alike:
            shown = ", ".join(map(shown_cell, alike[:_SHOWN])) + (", …" if len(alike) > _SHOWN else "")
            meant = f"{shown} remain {len(alike)} states; if some mean the same, write them alike"
            notes.append(_sentence(quoted(column.name), meant))
    return notes[:_EACH]


def _on_missing(kept: Sequence[Verdict], missing: str) -> list[str]:
    """Return notes on missing values, and on the texts that were taken for them."""
    done = "a state of their own" if missing == "category" else "left out of the counts that need them"
    lacking = {one: int(np.count_nonzero(one.cells.index < 0)) for one in kept if one.cells is not None}
    lacking = {one: n_gaps for one, n_gaps in lacking.items() if n_gaps}
    groups = [[one] for one in lacking] if len(lacking) <= _EACH else [list(lacking)]
    notes = []
    for group in groups:
        n_gaps, texts = sum(lacking[one] for one in group), Counter[str]()
        for one in group:
            texts.update({text: count for text, count in one.column.gaps.items() if text})
        written = [shown_cell(text) for text, _ in texts.most_common(3)] + ["…"] * (len(texts) > 3)
        where = quoted(group[0].column.name)
        if len(group) > 1:
            where = f"{len(group):,} columns: {_some([one.column.name for one in group])}"
        values = "1 missing value" if n_gaps == 1 else f"{n_gaps:,} missing values"
        shown = f" (some are written {', '.join(written)})" if written else ""
        if written and sum(texts.values()) == n_gaps:
            shown = f" (written {', '.join(written)})"
        notes.append(f"{values} in {where}{shown}: {done}.")
    return notes


def _on_suspects(kept: Sequence[Verdict]) -> list[str]:
    """Return notes on values that may stand for missing ones."""
    notes = []
    for values in dict.fromkeys(one.suspects for one in kept if one.suspects):
        columns = [one.column for one in kept if one.suspects == values]
        n_cells = sum(column.occurring[value] for column in columns for value in values)
        cells = "1 cell" if n_cells == 1 else f"{n_cells:,} cells"
        notes.append(
            f"{_some([column.name for column in columns])}: {', '.join(map(shown_cell, values))} kept, but perhaps "
            f"a missing value ({cells}): if so, leave these cells empty, or use missing_values={list(values)}."
        )
    return notes


def _on_copies(table: Table) -> list[str]:
    """Return notes on columns that carry the same information, under the same states or others."""
    ranks: Codes = np.empty_like(table.codes, dtype=np.int64)
    for number, codes in enumerate(table.codes.T):  # states are numbered by their first row
        _, first, places = np.unique(codes, return_index=True, return_inverse=True)
        ranks[:, number] = np.argsort(np.argsort(first))[places]
    notes, advice = [], "which of them is a parent is arbitrary; leave all but one out"
    for one, *others in duplicate_columns(ranks)[:_EACH]:
        rows = np.unique(ranks[:, one], return_index=True)[1]
        codes, states, same = table.codes[rows], table.column_states, []
        for other in others:
            pairs = [(states[one][a], states[other][b]) for a, b in codes[:, [one, other]] if a >= 0]
            if all(a == b for a, b in pairs):
                same.append(quoted(table.names[other]))
            elif len(table.codes) >= _ROWS_PER_PAIR * len(pairs):
                shown = ", ".join(f"{a} = {b}" for a, b in pairs[:3]) + (", …" if len(pairs) > 3 else "")
                same.append(f"{quoted(table.names[other])} ({shown})")
        if same:
            more = f" and {len(same) - _SHOWN:,} more" if len(same) > _SHOWN else ""
            names = f"{quoted(table.names[one])} and {', '.join(same[:_SHOWN])}{more}"
            notes.append(f"{names} carry the same information in every row: {advice}.")
    return notes
