"""What was done to a table, in sentences: one for each column, or one for many that were treated alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgmi.data.duplicates import duplicate_columns
from kgmi.data.preparing.raw import Raw
from kgmi.data.preparing.verdict import Verdict
from kgmi.data.table import Table
from kgmi.graph.naming import quoted, shown_list

__all__ = ["tell_columns", "tell_repeated_rows", "tell_table"]

_EACH = 8  # so many columns of one kind have a sentence of their own
_SHOWN = 8  # names in a sentence
_FEW_REPEATED = 3  # rows that are the same by chance
# What is said of many columns at a time, in this order.
_TOGETHER = {
    "names rows": "left out: they name or count the rows",
    "constant": "left out: they have one value only",
    "empty": "left out: they have no value in any row",
    "sparse": "left out: they have a value in few rows only",
    "dates": "left out: they hold dates or times",
    "no state": "left out: they hold lists or other things that are no states",
    "rare": "left out: none of their values is frequent",
    "cut": "cut into up to {most} bins of about equally many rows: they are measurements",
    "joined": "have rare values, which are joined as «other»",
}


def tell_columns(verdicts: Sequence[Verdict]) -> list[str]:
    """What became of the columns that are not as they were."""
    notes = []
    for why, together in _TOGETHER.items():
        alike = [verdict for verdict in verdicts if verdict.why == why]
        if len(alike) > _EACH:
            most = max(len(verdict.bins.centres) if verdict.bins else 0 for verdict in alike)
            notes.append(f"{len(alike):,} columns {together.format(most=most)} ({_some(alike)}).")
        else:
            notes += [_sentence(quoted(verdict.name), verdict.sentence) for verdict in alike]
    remarks = dict.fromkeys(remark for verdict in verdicts for remark in verdict.remarks)
    for remark in remarks:
        alike = [verdict for verdict in verdicts if remark in verdict.remarks]
        notes.append(_sentence(_some(alike), remark))
    return notes


def tell_table(table: Table, gaps: Sequence[int], missing: str) -> list[str]:
    """What holds for the table as it is now: its gaps, its alphabets, and columns that repeat others."""
    notes, done = [], "left out of the counts that need them"
    if missing == "category":
        done = "a state of their own"
    lacking = [(name, n_gaps) for name, n_gaps in zip(table.names, gaps, strict=True) if n_gaps]
    if len(lacking) > _EACH:
        shown = shown_list([name for name, _ in lacking[:_SHOWN]]) + " …"
        n_cells = sum(n_gaps for _, n_gaps in lacking)
        notes.append(f"{n_cells:,} missing values in {len(lacking)} columns ({shown}): {done}.")
    else:
        for name, n_gaps in lacking:
            values = "1 missing value" if n_gaps == 1 else f"{n_gaps:,} missing values"
            notes.append(f"{values} in {quoted(name)}: {done}.")
    n_alphabets = len(set(table.column_states))
    if 1 < n_alphabets < len(table.names):
        notes.append("Columns over the same values share their states; columns over other values have their own.")
    elif n_alphabets > 1:
        notes.append("Every column has its own states, as no two columns have the same values.")
    for group in duplicate_columns(table.codes)[:_EACH]:
        same = shown_list([table.names[column] for column in group[1 : 1 + _SHOWN]])
        notes.append(
            f"{quoted(table.names[group[0]])} and {same} say the same in every row: which of them is a parent is "
            "arbitrary; leave all but one out."
        )
    return notes


def tell_repeated_rows(columns: Sequence[Raw], n_rows: int) -> list[str]:
    """A word on rows that repeat others in all columns, where that can hardly be chance."""
    # Rows that are alike everywhere are alike in the column that tells most apart: few are left to compare.
    finest = max(columns, key=lambda raw: raw.n_values)
    twice = np.append(finest.counts > 1, False)[finest.index]
    if 2 * finest.n_values <= n_rows or np.count_nonzero(twice) < _FEW_REPEATED:
        return []
    rows = np.stack([raw.index[twice] for raw in columns], axis=1)
    n_repeated = len(rows) - len(np.unique(rows, axis=0))
    pairs = n_rows * (n_rows - 1) / 2
    alike = [float((raw.counts * (raw.counts - 1.0)).sum()) / (2 * pairs) for raw in columns]
    if n_repeated < _FEW_REPEATED or n_repeated <= 2 * pairs * np.prod(alike):
        return []
    return [f"{n_repeated:,} rows repeat others in all columns; if they were entered twice, take them out."]


def _sentence(name: str, rest: str) -> str:
    between = " " if rest.startswith(("left out", "cut")) else ": "
    return f"{name}{between}{rest}."


def _some(verdicts: Sequence[Verdict]) -> str:
    names = [verdict.name for verdict in verdicts]
    return shown_list(names[:_SHOWN]) + (f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else "")
