"""``prepare``: any table made fit for learning, in plain rules, with a sentence on all that was done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from kgmi.data.bins import checked_bins
from kgmi.data.encode import table_of
from kgmi.data.prepared import Prepared
from kgmi.data.preparing.judge import judge, one_alphabet
from kgmi.data.preparing.notes import tell_columns, tell_repeated_rows, tell_table
from kgmi.data.preparing.raw import shown_float
from kgmi.data.preparing.sheet import Sheet, read_sheet
from kgmi.data.preparing.spellings import join_spellings, tell_truth_values
from kgmi.data.preparing.verdict import Verdict
from kgmi.data.rules import Alphabet, Rules
from kgmi.data.states import same_number
from kgmi.data.table import Table
from kgmi.errors import DataError, SettingError

__all__ = ["prepare"]


def prepare(
    source: object,
    *,
    header: bool = True,
    missing: Literal["pairwise", "category"] = "pairwise",
    alphabet: Alphabet = "auto",
    bins: int | None = None,
) -> Prepared:
    """Make any table fit for learning; all that is done is told, and a table that is fit stays as it is.

    Columns that name or count the rows, hold one value or dates are left out; measurements are cut into bins at
    their quantiles; rare categories are joined, and so are spellings of a word that differ in capital letters only;
    missing values are left out of the counts that need them. In text files, the letters, what stands between the
    columns, lines before the table, decimal commas and marks of thousands are found out. The order of the columns
    stays, and is for you to judge: :data:`kgmi.data.ORDER_NOTE`.

    Parameters
    ----------
    source
        The path of a file: ``.csv``, ``.tsv`` or ``.txt`` (also with ``.gz``), ``.parquet``, ``.feather``,
        ``.arrow``, ``.ipc`` or ``.npy``; or a data frame, an array or lists. A :class:`kgmi.Table` is taken as it
        is.
    header
        Whether the first line of a text file names the columns.
    missing
        What a missing value is: left out of the counts that need it (``pairwise``), or a state (``category``).
    alphabet
        Whether all columns share one alphabet (``shared``), each has its ``own``, or columns over one set of values
        share it and the others have their own (``auto``).
    bins
        Into how many bins measurements are cut; by default 4, or 3 where there are fewer than 400 numbers.
    """
    if missing not in ("pairwise", "category"):
        raise SettingError(f"missing must be 'pairwise' or 'category' for a table to be prepared, got {missing!r}")
    if alphabet not in get_args(Alphabet):
        raise SettingError(f"alphabet must be 'auto', 'shared' or 'own', got {alphabet!r}")
    n_bins = checked_bins(bins)
    if isinstance(source, Table):
        return Prepared(source)
    sheet = read_sheet(source, header)
    raws, joined = join_spellings(sheet.columns)
    as_states = one_alphabet(raws, sheet.n_rows)
    verdicts = [judge(raw, sheet.n_rows, comma=sheet.comma, n_bins=n_bins, as_states=as_states) for raw in raws]
    verdicts, spelled = _spelled_alike(verdicts)
    left = {verdict.name: verdict.sentence for verdict in verdicts if verdict.column is None}
    columns = [verdict.column for verdict in verdicts if verdict.column is not None]
    notes = [*sheet.notes, *tell_columns(verdicts), *joined, *spelled, *tell_truth_values(raws)]
    if len(columns) < 2:
        raise _too_few(sheet, len(columns), tell_columns([verdict for verdict in verdicts if not verdict.column]))
    table = table_of(columns, Rules(missing=missing, alphabet=alphabet), sheet.origin)
    gaps = [verdict.n_gaps for verdict in verdicts if verdict.column is not None]
    notes += [*tell_table(table, gaps, missing), *tell_repeated_rows(raws, sheet.n_rows)]
    cuts = {verdict.name: verdict.bins for verdict in verdicts if verdict.bins is not None}
    return Prepared(table, tuple(notes), MappingProxyType(left), MappingProxyType(cuts))


def _spelled_alike(verdicts: list[Verdict]) -> tuple[list[Verdict], list[str]]:
    """Numbers that are states and stand in the table in two spellings (1 and 1.0) in one."""
    numeric = [verdict for verdict in verdicts if verdict.numbers is not None and verdict.column is not None]
    texts = {text for verdict in numeric if verdict.column for text in verdict.column.texts if text is not None}
    same = same_number(sorted(texts))
    if same is None:
        return verdicts, []
    alike = [_in_one_spelling(verdict) if verdict in numeric else verdict for verdict in verdicts]
    return alike, [f"{same[0]} and {same[1]} are the same number and are read as one."]


def _in_one_spelling(verdict: Verdict) -> Verdict:
    assert verdict.column is not None
    assert verdict.numbers is not None
    texts = tuple(
        text if np.isnan(number) else shown_float(float(number))
        for text, number in zip(verdict.column.texts, verdict.numbers, strict=True)
    )
    return replace(verdict, column=replace(verdict.column, texts=texts))


def _too_few(sheet: Sheet, n_kept: int, notes: Sequence[str]) -> DataError:
    """The error on a table of which too little is left."""
    what = "no column" if n_kept == 0 else "one column"
    because = f" {' '.join(notes)}" if notes else ""
    return DataError(
        f"{sheet.origin} has {what} that can be learned from, and a graph needs two.{because} Give a table of more "
        "columns with states in them"
    )
