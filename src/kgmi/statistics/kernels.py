"""What numba compiles. Import it where it is needed: this loads the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.jit import compiled, inlined
from kgmi.types import Ints

__all__ = ["count_words"]

_PAIRS, _FOURS, _EIGHTS = (
    np.uint64(0x5555555555555555),
    np.uint64(0x3333333333333333),
    np.uint64(0x0F0F0F0F0F0F0F0F),
)
_ONES = np.uint64(0x0101010101010101)
_ONE, _TWO, _FOUR, _TOP = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


@inlined
def _bits(x: Any) -> Any:
    """Number of bits that are set; the usual sums over pairs, fours and eights, which compilers know."""
    x = x - ((x >> _ONE) & _PAIRS)
    x = (x & _FOURS) + ((x >> _TWO) & _FOURS)
    x = (x + (x >> _FOUR)) & _EIGHTS
    return (x * _ONES) >> _TOP


@compiled
def count_words(words: Any) -> Ints:
    """[i, j]: bits that are set in both rows of ``words`` [row, word], 64 to a word."""
    n_rows, n_words = words.shape
    out = np.zeros((n_rows, n_rows), np.int64)
    for i in range(n_rows):
        for j in range(i, n_rows):
            total = np.uint64(0)
            for k in range(n_words):
                total += _bits(words[i, k] & words[j, k])
            out[i, j] = total
            out[j, i] = total
    return out
