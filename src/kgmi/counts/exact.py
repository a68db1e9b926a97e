"""The exact law of a process as counts: every state of all nodes is a row, with its probability as weight."""

from __future__ import annotations

from collections.abc import Sequence

from kgmi.counts.bits import RowCounts
from kgmi.exact import exact_rows
from kgmi.process import Process

__all__ = ["exact_counts"]


def exact_counts(process: Process, alphabets: Sequence[int] = ()) -> RowCounts | None:
    """Return the law of a process as counts with sum 1; None where it has too many joint states to list."""
    rows = exact_rows(process)
    if rows is None:
        return None
    codes, weights = rows
    return RowCounts(codes, (process.n_states,) * codes.shape[1], weights, alphabets, is_exact=True)
