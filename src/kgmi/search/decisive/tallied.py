"""Families that were counted before: all of two parents are there, whatever the number of rows."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kgmi.search.decisive.rows import BitRows
from kgmi.search.decisive.tiny import TinyScan
from kgmi.statistics.packed import Packed
from kgmi.statistics.sets import all_sets
from kgmi.statistics.tallied import Tallied
from kgmi.statistics.tally import Tally
from kgmi.types import Ints

__all__ = ["TalliedScan", "tallied_scan"]

_MOST_CELLS = 5_000_000  # of all families together, of which there are some copies


class TalliedScan(TinyScan):
    """All families (first, second, child) of increasing numbers, looked up."""

    tally: Tally

    @cached_property
    def _tables(self) -> Ints:
        nodes, n_states = self.rows.n_nodes, self.rows.n_states
        tables = self.tally.tables(all_sets(nodes, 3).astype(np.int64))
        return tables.reshape(-1, n_states, n_states, n_states)


def tallied_scan(observed: Tallied) -> TalliedScan | None:
    """Who scans counted families; None where they were not all counted, or are too many to look at all at once."""
    tally, n_states = observed.tally, observed.sizes[0]
    if tally.width < 3 or tally.sets is not None or tally.n_cells > _MOST_CELLS:
        return None
    first, second = np.tril_indices(tally.n_nodes, -1)
    inner = tally.tables(np.column_stack([first, second]))[:, :-1, :-1]
    pairs = np.zeros((tally.n_nodes, tally.n_nodes, n_states - 1, n_states - 1), dtype=np.int64)
    pairs[first, second] = inner
    pairs[second, first] = inner.transpose(0, 2, 1)
    singles = tally.tables(np.arange(tally.n_nodes)[:, None])
    no_bits = Packed(np.zeros((tally.n_nodes, n_states - 1, 0), np.uint64), tally.n_rows, n_states, False)
    scan = TalliedScan(BitRows(no_bits, pairs, singles))
    object.__setattr__(scan, "tally", tally)
    return scan
