"""Which whole numbers an array holds, and where each of its cells stands among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from kgmi.types import Codes

__all__ = ["distinct_numbers", "places"]

_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_WIDE = 1 << 16  # a range of whole numbers beyond which looking them up in a list does not pay
_FEW = 8  # so many comparisons are faster than one count
_BLOCK_CELLS = 1 << 20  # cells that are laid out as wide numbers at a time


def distinct_numbers(numbers: _Array) -> list[int]:
    """The different numbers of an array of integers, in rising order."""
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= _WIDE:
        return [int(number) for number in np.unique(numbers)]
    if high - low < _FEW:
        return [number for number in range(low, high + 1) if (numbers == number).any()]
    seen = np.zeros(high - low + 1, dtype=np.bool_)
    n_rows = max(1, _BLOCK_CELLS * len(numbers) // numbers.size)
    for start in range(0, len(numbers), n_rows):
        steps = _steps(numbers[start : start + n_rows], low)
        seen |= np.bincount(steps.ravel(), minlength=seen.size) > 0
    return [low + int(step) for step in np.flatnonzero(seen)]


def places(numbers: _Array, distinct: Sequence[int]) -> Codes:
    """The place of each number in ``distinct``, which rises and holds all of them; of the narrowest type."""
    dtype = np.min_scalar_type(-len(distinct))
    low = distinct[0]
    if distinct[-1] - low >= _WIDE:
        return np.searchsorted(np.array(distinct, dtype=numbers.dtype), numbers).astype(dtype)
    place = np.zeros(distinct[-1] - low + 1, dtype=dtype)
    place[[number - low for number in distinct]] = np.arange(len(distinct))
    found: Codes = place[_steps(numbers, low)]
    return found


def _steps(numbers: _Array, low: int) -> Codes:
    """How far each number is above the lowest."""
    wide = np.int64 if numbers.dtype.kind == "i" else np.uint64  # narrow numbers would run over
    return np.subtract(numbers, wide(low), dtype=wide).astype(np.int64, copy=False)
