"""Counting of bits that numba compiles. Import it where it is needed: this loads the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.jit import compiled, inlined
from kgmi.statistics.bit_kernels import count_common

__all__ = ["count_block"]


@inlined
def _put(
    counts: Any, ones: Any, has_gaps: Any, is_half: Any, has_mirror: Any, at: Any, sizes: Any, out: Any
) -> None:
    """Add what was counted to ``out``, with the last states as the rest of each margin; see :func:`count_block`.

    Where values are missing, the last lines of a pair are its margins over the rows that count.
    """
    left, right = sizes[0] - 1, sizes[1] - 1  # the last states
    for i in range(len(at[0])):
        for j in range(i if is_half else 0, len(at[1])):
            a, b = i * (left + has_gaps), j * (right + has_gaps)
            table, mirror = out[at[0][i], at[1][j]], out[at[1][j], at[0][i]]
            corner = counts[a + left, b + right] if has_gaps else ones[2]
            for t in range(right):
                rest = counts[a + left, b + t] if has_gaps else ones[1][j, t]
                corner -= rest
                for s in range(left):
                    rest -= counts[a + s, b + t]
                    table[s, t] += counts[a + s, b + t]
                table[left, t] += rest
            for s in range(left):
                rest = counts[a + s, b + right] if has_gaps else ones[0][i, s]
                for t in range(right):
                    rest -= counts[a + s, b + t]
                corner -= rest
                table[s, right] += rest
            table[left, right] += corner
            if has_mirror:
                for s in range(left + 1):
                    for t in range(right + 1):
                        mirror[t, s] = table[s, t]


@compiled
def count_block(
    left: Any, right: Any, ones: Any, has_gaps: int, is_half: bool, has_mirror: bool, at: Any, out: Any
) -> None:
    """Add the counts of columns ``left`` against ``right`` [node, plane, word] to ``out`` [i, j, s', s].

    Parameters
    ----------
    ones
        Bits set in the planes [node, plane] of the left and of the right, and the number of rows.
    is_half, has_mirror
        Whether both sides are the same columns, so that j ≥ i will do; whether [j, i, s, s'] is written, too.
    at
        Where the columns of the left and of the right are in ``out``.
    """
    x = left.reshape(len(left) * left.shape[1], left.shape[2])
    y = right.reshape(len(right) * right.shape[1], right.shape[2])
    counts = np.zeros((len(x) + 2, len(y) + 2), np.int64)
    count_common(x, y, is_half, counts)
    if is_half:  # of a column with itself, too, only half was counted
        for i in range(len(left)):
            own = counts[i * left.shape[1] :, i * left.shape[1] :]
            for s in range(left.shape[1]):
                own[s, :s] = own[:s, s]
    sizes = left.shape[1] + 1 - has_gaps, right.shape[1] + 1 - has_gaps
    _put(counts, ones, has_gaps, is_half, has_mirror, at, sizes, out)
