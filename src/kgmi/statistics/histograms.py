"""Counts of pairs of columns as histograms of codes; faster than bits where there are many states."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.statistics.places import Block
from kgmi.types import Codes, Ints

__all__ = ["Columns", "count_histograms_plain", "count_in_histograms", "in_columns"]

Columns = tuple[Any, int, bool]
"""Codes [node, row] without a sign, so that -1 is 65535; number of states; whether a value is missing anywhere."""


def in_columns(codes: Codes, n_states: int, has_gaps: bool) -> Columns:
    """Codes [row, node] as :data:`Columns`; a table of pairs has no room for more states than fit 16 bits."""
    return codes.T.astype(np.int16, order="C").view(np.uint16), n_states, has_gaps


def count_in_histograms(left: Columns, right: Columns, block: Block, out: Ints) -> None:
    """Add the counts of a block to ``out`` [i, j, s', s], compiled."""
    from kgmi.statistics.histogram_kernels import count_histograms

    x, y = left[0][block.rows], right[0][block.columns]
    count_histograms(x, y, left[2], block.is_half, block.has_mirror, block.at, out)


def count_histograms_plain(left: Columns, right: Columns, block: Block, out: Ints) -> None:
    """:func:`count_in_histograms` with NumPy alone."""
    shape = left[1], right[1]
    size = np.s_[: shape[0], : shape[1]]
    for i, x in zip(block.at[0], left[0][block.rows], strict=True):
        keys = x.astype(np.int64) * shape[1]
        for j, y in zip(block.at[1], right[0][block.columns], strict=True):
            if block.is_half and j < i:
                continue
            both = keys + y
            if left[2]:
                both = both[np.maximum(x, y) < 65535]
            counts = np.bincount(both, minlength=shape[0] * shape[1]).reshape(shape)
            out[i, j][size] += counts
            if block.has_mirror and i != j:
                out[j, i][size[::-1]] += counts.T
