"""A table as a task of the web page wants it: an example or a file that was sent, as it is or prepared."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from kgmi.alphabets import Alphabet, Missing
from kgmi.errors import SettingError, TooLargeError
from kgmi.graph.naming import shown_list
from kgmi.prepare import Prepared, prepare
from kgmi.sources import read_table
from kgmi.table import Table
from kgmi.web.gallery import GALLERY, Known

__all__ = ["read", "table_file"]


def table_file(folder: Path, task: dict[str, Any]) -> tuple[Path, Known]:
    """Where the table of a task is, and what is known of it; an example is written there first."""
    if "example" in task:
        path = folder / "table.csv"
        return path, GALLERY[task["example"]].make(path)
    return folder / task["file"], Known()


def read(path: Path, task: dict[str, Any], asked: dict[str, Any], n_states: int | None = None) -> Prepared:
    """Read the table as it is, or make it fit for learning first, as ``asked``; too large a one is refused.

    With ``n_states`` a known kernel says what the states are, and a sequence is one column: there is nothing to
    prepare.
    """
    if asked.get("prepare", True) and not asked.get("windows") and n_states is None:
        gaps: Literal["pairwise", "category"] = "category" if asked.get("missing") == "category" else "pairwise"
        found = prepare(path, missing=gaps, alphabet=asked.get("alphabet") or "auto")
    else:
        missing: Missing = asked.get("missing") or "error"
        alphabet: Alphabet = asked.get("alphabet") or "auto"
        found = Prepared(read_table(path, n_states=n_states, missing=missing, alphabet=alphabet))
    _check_size(found.table, task)
    return _without(found, set(asked.get("leave_out") or ()))


def _check_size(table: Table, task: dict[str, Any]) -> None:
    n_rows, n_columns = table.codes.shape
    most_columns, most_cells = task["most_columns"], task["most_cells"]
    if n_columns > most_columns:
        raise TooLargeError(
            f"the table has {n_columns:,} columns, and here at most {most_columns:,} are learned; kgmi learn on "
            "the command line has no such limit"
        )
    if n_rows * n_columns > most_cells:
        raise TooLargeError(
            f"the table has {n_rows:,} rows of {n_columns:,} columns, and here at most {most_cells:,} cells are "
            "learned from; kgmi learn on the command line has no such limit"
        )


def _without(found: Prepared, names: Collection[str]) -> Prepared:
    """The table without some of its columns."""
    if not names:
        return found
    table = found.table
    if unknown := sorted(set(names).difference(table.names, found.left_out)):
        raise SettingError(f"{shown_list(unknown[:3])}: the table has no such column to leave out")
    kept = [number for number, name in enumerate(table.names) if name not in names]
    if len(kept) < 2:
        raise SettingError("a graph needs at least two columns; leave fewer of them out")
    alphabets = None if table.alphabets is None else tuple(table.alphabets[number] for number in kept)
    fewer = Table(table.codes[:, kept], tuple(table.names[number] for number in kept), table.states, alphabets)
    gone = [name for name in table.names if name in names]
    note = f"{shown_list(gone)} left out, as asked."
    return replace(
        found, table=fewer, notes=(*found.notes, note), left_out={**found.left_out, **dict.fromkeys(gone, note)}
    )
