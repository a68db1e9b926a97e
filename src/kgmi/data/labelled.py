"""Tables that carry the labelled tail of appendix C-B in their last K + 1 columns."""

from __future__ import annotations

from collections.abc import Sequence

from kgmi.data.table import Table
from kgmi.errors import DataError
from kgmi.sampling import LabelledRows

__all__ = ["split_tail", "tail_length", "tail_names"]


def tail_names(n_parents: int) -> tuple[str, ...]:
    """Names of the tail: uniform1, …, uniformK, label."""
    return (*(f"uniform{head}" for head in range(1, n_parents + 1)), "label")


def tail_length(names: Sequence[str]) -> int:
    """Length K + 1 of the labelled tail that the last names spell, or 0; each name is read at most twice."""
    start = max((place for place, name in enumerate(names) if name == "uniform1"), default=len(names))
    tail = tuple(names[start:])  # a tail names its first column once, so that no other can begin there
    return len(tail) if len(tail) > 1 and tail == tail_names(len(tail) - 1) else 0


def split_tail(table: Table, n_parents: int) -> tuple[LabelledRows, tuple[str, ...]]:
    """The rows with their tail, and the names of the columns before it."""
    tail = n_parents + 1
    if table.codes.shape[1] <= tail:
        raise DataError(
            f"a labelled table for {n_parents} parents ends with {tail} columns "
            f"({', '.join(tail_names(n_parents))}) behind those of the nodes; "
            f"this one has {table.codes.shape[1]} columns in all"
        )
    rows = LabelledRows(table.codes[:, :-tail], table.codes[:, -tail:-1], table.codes[:, -1])
    return rows, table.names[:-tail]
