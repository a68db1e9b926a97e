"""Counts of pairs of columns that all have one alphabet, from bits: what most tables are.

First what all pairs of lines of bits have in common, which takes little room; then the table, in one go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kgmi.statistics.methods import Method
from kgmi.statistics.observed import Observed
from kgmi.threads import spread
from kgmi.types import Ints

__all__ = ["count_alike"]

_NODES_AT_ONCE = 16  # whose tables a thread writes


def count_alike(rows: Observed, chunks: Iterable[slice], method: Method, *, parallel: bool) -> Ints:
    """Counts [i, j, s', s] of all pairs of columns; the rows are packed in chunks and counted in blocks."""
    from kgmi.statistics.alike_kernels import count_lines, fill_pairs

    n_rows, n_nodes = rows.codes.shape
    n_states, n_planes = rows.sizes[0], rows.sizes[0] - 1 + rows.has_gaps
    n_lines, step = n_nodes * n_planes, method.n_nodes(n_states) * max(1, n_planes)
    inner = np.zeros((n_lines, n_lines), dtype=np.int32 if n_rows < 2**31 else np.int64)
    ones = np.zeros((n_nodes, n_planes), dtype=np.int64)
    blocks = [(a, b) for a in range(0, n_lines, step) for b in range(a, n_lines, step)]
    for chunk in chunks:
        packed = method.prepare(rows.codes[chunk], n_states, rows.has_gaps)
        ones += packed.ones
        lines = packed.words.reshape(n_lines, packed.words.shape[2])

        def count(block: tuple[int, int], lines: Any = lines) -> None:
            a, b = block
            count_lines(lines[a : a + step], lines[b : b + step], a, b, inner)

        spread(count, blocks, parallel=parallel)
    out = np.empty((n_nodes, n_nodes, n_states, n_states), dtype=np.int64)

    def fill(start: int) -> None:
        fill_pairs(inner, ones, n_rows, int(rows.has_gaps), start, min(start + _NODES_AT_ONCE, n_nodes), out)

    spread(fill, range(0, n_nodes, _NODES_AT_ONCE), parallel=parallel)
    return out
