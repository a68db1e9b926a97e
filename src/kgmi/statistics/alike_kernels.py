"""Counting of columns of one alphabet, compiled by numba. Importing it loads the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.jit import compiled, inlined
from kgmi.statistics.bit_kernels import count_common

__all__ = ["count_lines", "fill_pairs"]


@compiled
def count_lines(x: Any, y: Any, x_start: int, y_start: int, inner: Any) -> None:
    """Add what lines ``x`` and ``y`` [line, word] have in common to ``inner`` [a, b] and [b, a]."""
    is_half = x_start == y_start
    counts = np.zeros((len(x) + 2, len(y) + 2), np.int64)
    count_common(x, y, is_half, counts)
    for a in range(len(x)):
        for b in range(a if is_half else 0, len(y)):
            inner[x_start + a, y_start + b] += counts[a, b]
    for b in range(len(y)):
        for a in range(b if is_half else len(x)):
            inner[y_start + b, x_start + a] = inner[x_start + a, y_start + b]


@inlined
def _fill(inner: Any, ones: Any, n_rows: Any, has_gaps: Any, start: Any, stop: Any, last: Any, out: Any) -> None:
    """:func:`fill_pairs`, with ``last`` as the last state."""
    n_planes = last + has_gaps
    for i in range(start, stop):
        for j in range(out.shape[1]):
            a, b = i * n_planes, j * n_planes
            table = out[i, j]
            corner = np.int64(inner[a + last, b + last]) if has_gaps else n_rows
            for t in range(last):
                rest = np.int64(inner[a + last, b + t]) if has_gaps else ones[j, t]
                corner -= rest
                for s in range(last):
                    rest -= inner[a + s, b + t]
                    table[s, t] = inner[a + s, b + t]
                table[last, t] = rest
            for s in range(last):
                rest = np.int64(inner[a + s, b + last]) if has_gaps else ones[i, s]
                for t in range(last):
                    rest -= inner[a + s, b + t]
                corner -= rest
                table[s, last] = rest
            table[last, last] = corner


@compiled
def fill_pairs(inner: Any, ones: Any, n_rows: int, has_gaps: int, start: int, stop: int, out: Any) -> None:
    """Write the counts ``out`` [i, j, s', s] of some i: what was counted, and the rest of each margin.

    Parameters
    ----------
    inner
        Bits in common of all pairs of lines [node · planes + plane].
    ones
        Bits set in the planes [node, plane]: the margins, where no value is missing. Where one is, the last plane
        of each node has them, over the rows that count.
    start, stop
        Which i.
    """
    if out.shape[2] == 3 and not has_gaps:  # twice as fast where the compiler knows it
        _fill(inner, ones, n_rows, 0, start, stop, 2, out)
    else:
        _fill(inner, ones, n_rows, has_gaps, start, stop, out.shape[2] - 1, out)
