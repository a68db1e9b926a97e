"""Counts of pairs of columns that all have one alphabet, from bits: what most tables are.

First what all pairs of lines of bits have in common, which takes little room; then the table, in one go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgmi.progress import told
from kgmi.statistics.methods import Method
from kgmi.statistics.observed import Observed
from kgmi.statistics.packed import Packed
from kgmi.threads import spread
from kgmi.types import Ints

__all__ = ["common_bits", "count_alike"]

_NODES_AT_ONCE = 16  # whose tables a thread writes
_LINES_AT_ONCE = 96  # on one side of a block
_WORDS_FOR_THREADS = 10_000_000  # pairs of words that take longer than starting threads


def common_bits(packed: Packed) -> NDArray[np.int32]:
    """[a, b]: rows in which lines a and b of bits, planes of all nodes one after the other, are both set."""
    n_lines = packed.n_nodes * packed.words.shape[1]
    inner = np.zeros((n_lines, n_lines), dtype=np.int32)
    lines = packed.words.reshape(n_lines, packed.words.shape[2])
    _add_common(lines, inner, _LINES_AT_ONCE, parallel=n_lines**2 * lines.shape[1] >= _WORDS_FOR_THREADS)
    return inner


def _add_common(lines: Any, inner: Any, step: int, *, parallel: bool, number: int = 0, n_chunks: int = 1) -> None:
    """Add the bits that all pairs of lines have in common; these are the lines of one chunk of rows of several."""
    from kgmi.statistics.alike_kernels import count_lines

    def count(block: tuple[int, int]) -> None:
        a, b = block
        count_lines(lines[a : a + step], lines[b : b + step], a, b, inner)

    blocks = [(a, b) for a in range(0, len(lines), step) for b in range(a, len(lines), step)]
    work = told(count, "counting", "blocks", n_chunks * len(blocks), number * len(blocks))
    spread(work, blocks, parallel=parallel)


def count_alike(rows: Observed, chunks: Sequence[slice], method: Method, *, parallel: bool) -> Ints:
    """Counts [i, j, s', s] of all pairs of columns; the rows are packed in chunks and counted in blocks."""
    from kgmi.statistics.alike_kernels import fill_pairs

    n_rows, n_nodes = rows.codes.shape
    n_states, n_planes = rows.sizes[0], rows.sizes[0] - 1 + rows.has_gaps
    n_lines, step = n_nodes * n_planes, method.n_nodes(n_states) * max(1, n_planes)
    inner = np.zeros((n_lines, n_lines), dtype=np.int32 if n_rows < 2**31 else np.int64)
    ones = np.zeros((n_nodes, n_planes), dtype=np.int64)
    for number, chunk in enumerate(chunks):
        packed = method.prepare(rows.codes[chunk], n_states, rows.has_gaps)
        ones += packed.ones
        lines = packed.words.reshape(n_lines, packed.words.shape[2])
        _add_common(lines, inner, step, parallel=parallel, number=number, n_chunks=len(chunks))
    out = np.empty((n_nodes, n_nodes, n_states, n_states), dtype=np.int64)

    def fill(start: int) -> None:
        fill_pairs(inner, ones, n_rows, int(rows.has_gaps), start, min(start + _NODES_AT_ONCE, n_nodes), out)

    spread(fill, range(0, n_nodes, _NODES_AT_ONCE), parallel=parallel)
    return out
