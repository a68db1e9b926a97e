"""Counts of pairs of columns from bits: AND, and how many are set."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from kgmi.statistics.packed import Packed
from kgmi.statistics.places import Block
from kgmi.types import Ints

__all__ = ["count_bits", "count_bits_plain"]

_PIECE_WORDS = 16_384  # 128 KB: larger memory is asked for anew each time, which costs more than the counting


def count_bits(left: Packed, right: Packed, block: Block, out: Ints) -> None:
    """Add the counts of a block to ``out`` [i, j, s', s], compiled."""
    from kgmi.statistics.kernels import count_block

    rows, columns = block.rows, block.columns
    ones = left.ones[rows], right.ones[columns], left.n_rows
    x, y = left.words[rows], right.words[columns]
    count_block(x, y, ones, int(left.has_gaps), block.is_half, block.has_mirror, block.at, out)


def count_bits_plain(left: Packed, right: Packed, block: Block, out: Ints) -> None:
    """:func:`count_bits` with NumPy alone."""
    counts = _pairs_plain(left, right, block)
    size = np.s_[: counts.shape[2], : counts.shape[3]]
    out[(*_places(*block.at), *size)] += counts
    if block.has_mirror and not block.is_half:  # half a block is a whole one here
        out[(*_places(*block.at[::-1]), *size[::-1])] += counts.transpose(1, 0, 3, 2)


def _places(i: Ints, j: Ints) -> tuple[Any, Any]:
    """An index of rows ``i`` and columns ``j``; slices, which are quicker, where they lie side by side."""
    if all(nodes[-1] - nodes[0] == len(nodes) - 1 for nodes in (i, j)):
        return slice(i[0], i[-1] + 1), slice(j[0], j[-1] + 1)
    return i[:, None], j


def _pairs_plain(left: Packed, right: Packed, block: Block) -> Ints:
    """Counts [i, j, s', s] of a block, all states: the last as the rest of each margin."""
    x, y = left.words[block.rows], right.words[block.columns]
    n_words = x.shape[2]
    flat, other = x.reshape(-1, n_words), y.reshape(-1, n_words)
    common = _common_with_itself(flat) if block.is_half else _common(flat, other)
    counts: Any = common.reshape(*x.shape[:2], *y.shape[:2]).transpose(0, 2, 1, 3)
    a, b = left.n_states - 1, right.n_states - 1
    if left.has_gaps:
        margins, others, rest = counts[:, :, :a, b], counts[:, :, a, :b], counts[:, :, a, b]
    else:
        margins, others, rest = left.ones[block.rows, None], right.ones[None, block.columns], left.n_rows
    inner = counts[:, :, :a, :b]
    full = np.empty((len(x), len(y), a + 1, b + 1), dtype=np.int64)
    full[:, :, :a, :b] = inner
    full[:, :, :a, b] = margins - inner.sum(axis=3)
    full[:, :, a, :b] = others - inner.sum(axis=2)
    full[:, :, a, b] = rest - margins.sum(axis=2) - full[:, :, a, :b].sum(axis=2)
    return full


def _common(x: Any, y: Any) -> Ints:
    """[a, b]: bits that are set in line a of ``x`` and line b of ``y``."""
    out = np.empty((len(x), len(y)), dtype=np.int64)
    step = max(1, _PIECE_WORDS // max(1, x.shape[1]))
    for a, line in enumerate(x):
        for start in range(0, len(y), step):
            out[a, start : start + step] = _sums(line & y[start : start + step])
    return out


def _common_with_itself(x: Any) -> Ints:
    """:func:`_common` of ``x`` and ``x``, each pair once."""
    first, second = _pairs(len(x))
    counts = np.empty(len(first), dtype=np.int64)
    step = max(1, _PIECE_WORDS // max(1, x.shape[1]))
    for start in range(0, len(first), step):
        here = slice(start, start + step)
        counts[here] = _sums(x[first[here]] & x[second[here]])
    out = np.empty((len(x), len(x)), dtype=np.int64)
    out[first, second] = out[second, first] = counts
    return out


def _sums(words: Any) -> Any:
    return np.bitwise_count(words).sum(axis=1, dtype=np.uint32 if words.shape[1] < 2**26 else np.int64)


@lru_cache(maxsize=4)
def _pairs(n: int) -> tuple[Ints, Ints]:
    """All i ≤ j."""
    first, second = np.triu_indices(n)
    return first, second
