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
from kgmi.graph.naming import quoted
from kgmi.prepare_columns import Column, Verdict, column_of, judge, missing_suspects, one_alphabet, shown_cell
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
    gaps = MISSING.difference(declared or (), ["None"]).union(map(str, missing_values))
    chosen = _chosen(sheet.names, columns, drop)
    raws, notes = _columns(sheet, chosen, gaps, is_chosen=columns is not None)
    raws, joined = _join_spellings(raws, declared or ())
    as_states = one_alphabet(raws)
    verdicts = [judge(raw, n_bins=n_bins, as_states=as_states, states=declared) for raw in raws]
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
    suspects = {} if declared else {name: missing_suspects(one.column) for name, one in kept.items()}
    reasons = dict.fromkeys(drop or (), "as asked") | {one.column.name: one.reason for one in left}
    dropped = [f"{_listed([*map(quoted, drop)])} left out, as asked."] if drop else []
    further = [_noted(one, suspects.get(one.column.name, ()), missing) for one in verdicts]
    return Prepared(
        table,
        (*sheet.notes, *notes, *dropped, *_notes_on(further), *joined, *_on_copies(table)),
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


def _columns(
    sheet: Sheet, chosen: Sequence[int], missing: Collection[str], *, is_chosen: bool
) -> tuple[list[Column], list[str]]:
    """Return some columns without rows that have no value, and a note on these."""
    raws = [column_of(sheet.names[k], sheet.cells[k], missing, comma=sheet.comma) for k in chosen]
    filled = np.logical_or.reduce([raw.index >= 0 for raw in raws])
    n_empty = int(np.count_nonzero(~filled))  # such as spreadsheets leave at the end
    if n_empty in (0, filled.size):
        filled[:], n_empty = True, 0
    notes = [f"{n_empty:,} {'row' if n_empty == 1 else 'rows'} without any value left out."] if n_empty else []
    pairs = zip(chosen, raws, strict=True)
    return [replace(raw, index=raw.index[filled], is_first=k == 0, is_chosen=is_chosen) for k, raw in pairs], notes


# ---- spellings ---------------------------------------------------------------------------------------------------

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
    best = {
        one: next((text for text in some if text in states), some.most_common(1)[0][0])
        for one, some in found.items()
    }
    better = {text: best[one] for one, some in found.items() for text in some if text != best[one]}
    joined = list(columns)
    for place, some in enumerate(words):
        if not better.keys().isdisjoint(some):
            texts = pa.array([better.get(text, text) for text in columns[place].texts], pa.large_string())
            joined[place] = columns[place].recoded(texts, np.zeros(len(texts), dtype=bool))
    told = _listed([f'"{text}" as "{other}"' for text, other in better.items()])
    return joined, [f"Spellings that differ only in capital letters are joined: {told}."] if better else []


def _words(column: Column) -> dict[str, int]:
    """Return texts that are words, and in how many rows; of short ones, only those for true and false."""
    if column.kind != "text" or column.n_values > min(_MOST_VALUES, column.n_filled / 2):
        return {}
    folded = {text.casefold() for text in column.texts}
    words = {one for one in folded if len({*filter(str.isalpha, one)}) >= _LETTERS}
    words |= set().union(*(style for style in _TRUTH if style <= folded))
    return {text: count for text, count in column.occurring.items() if text.casefold() in words}


# ---- notes -------------------------------------------------------------------------------------------------------

_EACH = 8  # so many columns of one kind have a sentence of their own
_SHOWN = 8  # names in a sentence
_ROWS_PER_PAIR = 5  # with fewer rows, states correspond by chance


def _notes_on(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the notes on columns; if what is said is the same of many, without details."""
    said: dict[str, dict[str, str]] = defaultdict(dict)
    for verdict in verdicts:
        for what, details in verdict.notes:
            said[what][quoted(verdict.column.name)] = details
    notes = []
    for what, of in said.items():
        together = len(of) > _EACH or len(of) > 1 == len({*of.values()})
        each = [f"{name} {what}{details}." for name, details in of.items()]
        notes += [f"{_listed([*of])}: each {what}."] if together else each
    return notes


def _noted(verdict: Verdict, suspects: Sequence[str], missing: str) -> Verdict:
    """Return a verdict with notes on how the values of a column that is kept were read, and on doubtful ones."""
    column, notes = verdict.column, [*verdict.notes]
    if verdict.cells is None:
        return verdict
    notes += [(f"has {remark}", "") for remark in column.remarks]
    if n_gaps := int(np.count_nonzero(verdict.cells.index < 0)):
        texts = [text for text, _ in Counter(column.gaps).most_common() if text]
        written = f", some of them written {_cells(texts)}" if texts else ""
        done = "a state of their own" if missing == "category" else "left out of the counts that need them"
        notes.append((f"has missing values, {done}", f" ({n_gaps:,}{written})"))
    if suspects:
        n_rows, use = sum(column.occurring[text] for text in suspects), f"missing_values={[*suspects]}"
        what = f"has {_cells(suspects)}, perhaps a missing value: if so, leave these cells empty, or use {use}"
        notes.append((what, f" ({n_rows:,} rows)"))
    return replace(verdict, notes=tuple(notes))


def _cells(texts: Iterable[str]) -> str:
    return _listed([shown_cell(text) for text in texts])


def _listed(shown: Sequence[str]) -> str:
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else "")


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
            notes.append(f"{quoted(table.names[one])} and {_listed(same)} carry the same information: {advice}.")
    return notes
