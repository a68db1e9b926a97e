"""Bits in common, compiled by numba: what all counting of bits is made of. Importing it loads the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from kgmi.jit import inlined

__all__ = ["bits", "count_common"]

_WORDS_AT_ONCE = 256  # 2 KB of a line, so that a block of lines stays in the cache however many rows there are


@intrinsic  # type: ignore[untyped-decorator]
def bits(context: Any, x: Any) -> Any:
    """Number of bits that are set in a word: one instruction of the processor."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@inlined
def count_common(x: Any, y: Any, is_half: Any, counts: Any) -> None:
    """Add to counts[a, b] the bits that lines a of ``x`` and b of ``y`` [line, word] have in common.

    Three lines against three: each word that is read serves three times. Where there are too few lines, the last
    stands for those missing, for whom ``counts`` has room. Where both sides are the same lines, half of the pairs
    will do.
    """
    last_x, last_y = len(x) - 1, len(y) - 1
    for start in range(0, x.shape[1], _WORDS_AT_ONCE):
        words = slice(start, min(start + _WORDS_AT_ONCE, x.shape[1]))
        for a in range(0, len(x), 3):
            p, q, r = x[a, words], x[min(a + 1, last_x), words], x[min(a + 2, last_x), words]
            for b in range(a if is_half else 0, len(y), 3):
                u, v, w = y[b, words], y[min(b + 1, last_y), words], y[min(b + 2, last_y), words]
                pu, pv, pw = np.uint64(0), np.uint64(0), np.uint64(0)
                qu, qv, qw = np.uint64(0), np.uint64(0), np.uint64(0)
                ru, rv, rw = np.uint64(0), np.uint64(0), np.uint64(0)
                for k in range(len(p)):
                    pu += bits(p[k] & u[k])
                    pv += bits(p[k] & v[k])
                    pw += bits(p[k] & w[k])
                    qu += bits(q[k] & u[k])
                    qv += bits(q[k] & v[k])
                    qw += bits(q[k] & w[k])
                    ru += bits(r[k] & u[k])
                    rv += bits(r[k] & v[k])
                    rw += bits(r[k] & w[k])
                counts[a, b] += pu
                counts[a, b + 1] += pv
                counts[a, b + 2] += pw
                counts[a + 1, b] += qu
                counts[a + 1, b + 1] += qv
                counts[a + 1, b + 2] += qw
                counts[a + 2, b] += ru
                counts[a + 2, b + 1] += rv
                counts[a + 2, b + 2] += rw
