"""All pairs of columns counted in blocks: columns of one alphabet together, rows in chunks, blocks in threads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from kgmi.memory import at_most
from kgmi.progress import told
from kgmi.statistics.alike import count_alike
from kgmi.statistics.bits import count_bits
from kgmi.statistics.methods import Method
from kgmi.statistics.observed import Observed
from kgmi.statistics.packed import WORD
from kgmi.statistics.places import Block
from kgmi.threads import spread
from kgmi.types import Ints

__all__ = ["cost", "count_in_blocks"]

_CHUNK_CELLS = 32_000_000  # codes that are packed at a time
_COST_FOR_THREADS = 2_000_000.0  # nanoseconds of counting, from which on threads pay


class _Group(NamedTuple):
    """Columns of one alphabet."""

    size: int
    nodes: Ints


class _Pair(NamedTuple):
    """Two groups, how their columns are counted, and what that costs."""

    first: int
    second: int
    method: Method
    cost: float


def cost(rows: Observed, methods: Sequence[Method]) -> float:
    """About how many nanoseconds counting takes on one core, each pair of alphabets in the cheapest way."""
    groups = _groups(rows.sizes)
    return sum(pair.cost for pair in _pairs(rows, groups, methods))


def count_in_blocks(rows: Observed, methods: Sequence[Method]) -> Ints:
    """Counts [i, j, s', s] of all pairs of columns, each pair of alphabets in the cheapest of some ways."""
    n_rows, n_nodes = rows.codes.shape
    n_states = max(rows.sizes)
    groups = _groups(rows.sizes)
    pairs = _pairs(rows, groups, methods)
    parallel = methods[0].is_compiled and sum(pair.cost for pair in pairs) >= _COST_FOR_THREADS
    size = max(1, at_most(_CHUNK_CELLS, 3 + n_states / 8) // (n_nodes * WORD)) * WORD
    chunks = [slice(start, start + size) for start in range(0, n_rows, size)]
    if len(groups) == 1 and pairs[0].method.count is count_bits:
        return count_alike(rows, chunks, pairs[0].method, parallel=parallel)
    blocks = [(pair, block) for pair in pairs for block in _blocks(groups, pair)]
    out = np.zeros((n_nodes, n_nodes, n_states, n_states), dtype=np.int64)
    for number, chunk in enumerate(chunks):
        sides = _sides(rows, chunk, groups, pairs)

        def count(task: tuple[_Pair, Block], sides: dict[Any, Any] = sides) -> None:
            (first, second, method, _), block = task
            method.count(sides[method.prepare, first], sides[method.prepare, second], block, out)

        work = told(count, "counting", "blocks", len(chunks) * len(blocks), number * len(blocks))
        spread(work, blocks, parallel=parallel)
    return out


def _groups(sizes: Sequence[int]) -> list[_Group]:
    if min(sizes) == max(sizes):
        return [_Group(sizes[0], np.arange(len(sizes)))]
    return [_Group(int(size), np.flatnonzero(np.equal(sizes, size))) for size in np.unique(sizes)]


def _pairs(rows: Observed, groups: list[_Group], methods: Sequence[Method]) -> list[_Pair]:
    pairs = []
    for first, second in combinations_with_replacement(range(len(groups)), 2):
        left, right = groups[first], groups[second]
        n_pairs = len(left.nodes) * len(right.nodes) / (2 if left is right else 1)
        costs = [method.cost(left.size, right.size, rows.has_gaps, len(rows.codes)) for method in methods]
        pairs.append(_Pair(first, second, methods[costs.index(min(costs))], n_pairs * min(costs)))
    return pairs


def _blocks(groups: list[_Group], pair: _Pair) -> list[Block]:
    """The columns of two groups in blocks; of a group with itself, the half of them with j ≥ i."""
    left, right = groups[pair.first], groups[pair.second]
    width, other_width = pair.method.n_nodes(left.size), pair.method.n_nodes(right.size)
    blocks = []
    for i in range(0, len(left.nodes), width):
        rows = slice(i, i + width)
        for j in range(i if left is right else 0, len(right.nodes), other_width):
            columns = slice(j, j + other_width)
            at = left.nodes[rows], right.nodes[columns]
            blocks.append(Block(rows, columns, at, is_half=left is right and i == j))
    return blocks


def _sides(rows: Observed, chunk: slice, groups: list[_Group], pairs: list[_Pair]) -> dict[Any, Any]:
    """What the methods read of a chunk of rows, for each group that they count."""
    codes = rows.codes[chunk]
    needed = {(pair.method.prepare, group) for pair in pairs for group in (pair.first, pair.second)}
    return {
        (prepare, group): prepare(
            codes if len(groups) == 1 else codes[:, groups[group].nodes], groups[group].size, rows.has_gaps
        )
        for prepare, group in needed
    }
