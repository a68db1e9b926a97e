"""Histograms that numba compiles. Import it where it is needed: this loads the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.jit import compiled, inlined

__all__ = ["count_histograms"]

_GAP = np.uint16(65535)  # -1, read without a sign
_ROWS_AT_ONCE = 4096  # 8 KB of a column: a block of them stays in the cache


@inlined
def _one(x: Any, y: Any, has_gaps: Any, table: Any) -> None:
    for r in range(len(x)):
        if not has_gaps or (x[r] != _GAP and y[r] != _GAP):
            table[x[r], y[r]] += 1


@inlined
def _four(x: Any, a: Any, b: Any, c: Any, d: Any, tables: Any) -> None:
    """Four tables at a time: an increment need not wait for the one before it."""
    t_a, t_b, t_c, t_d = tables
    for r in range(len(x)):
        s = x[r]
        t_a[s, a[r]] += 1
        t_b[s, b[r]] += 1
        t_c[s, c[r]] += 1
        t_d[s, d[r]] += 1


@compiled
def count_histograms(
    left: Any, right: Any, has_gaps: bool, is_half: bool, has_mirror: bool, at: Any, out: Any
) -> None:
    """Add the counts of columns ``left`` against ``right`` [node, row] to ``out`` [i, j, s', s].

    The other arguments are those of :func:`kgmi.statistics.kernels.count_block`.
    """
    n_rows = left.shape[1]
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        rows = slice(start, min(start + _ROWS_AT_ONCE, n_rows))
        for i in range(len(left)):
            j, x, tables = i if is_half else 0, left[i, rows], out[at[0][i]]
            while j + 4 <= len(right) and not has_gaps:
                y, k = right[j : j + 4, rows], at[1][j : j + 4]
                _four(x, y[0], y[1], y[2], y[3], (tables[k[0]], tables[k[1]], tables[k[2]], tables[k[3]]))
                j += 4
            while j < len(right):
                _one(x, right[j, rows], has_gaps, tables[at[1][j]])
                j += 1
    if has_mirror:
        for i in range(len(left)):
            for j in range(i + 1 if is_half else 0, len(right)):
                out[at[1][j], at[0][i]] = out[at[0][i], at[1][j]].T
