"""Bins of nodes, so that heat maps of many nodes have cells that can be seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgmi.types import Floats

__all__ = ["bin_centres", "bin_size", "binned", "is_triangle"]

_MOST_CELLS = 125  # across; with more nodes, several share a cell


def bin_size(n_nodes: int) -> int:
    """How many nodes, across and down, share a cell: 1 unless there are very many."""
    return -(-n_nodes // _MOST_CELLS)


def is_triangle(table: Floats) -> bool:
    """Whether no candidate comes after its child: table […, child, candidate] has only zeros and NaN there."""
    return not np.nan_to_num(table[..., *np.triu_indices(table.shape[-1])]).any()


def binned(table: Floats, triangle: bool = True) -> Floats:
    """The largest value of every bin of pairs, where they form a triangle of those with j < i; NaN where none."""
    size = bin_size(len(table))
    if size == 1:
        return table
    n_bins = -(-len(table) // size)
    padded = np.full((n_bins * size, n_bins * size), -np.inf)
    allowed = np.tril(~np.isnan(table), -1) if triangle else ~np.isnan(table) & ~np.eye(len(table), dtype=bool)
    padded[: len(table), : len(table)] = np.where(allowed, table, -np.inf)
    largest = padded.reshape(n_bins, size, n_bins, size).max(axis=(1, 3))
    return np.where(np.isneginf(largest), np.nan, largest)


def bin_centres(places: Sequence[tuple[int, int]], n_nodes: int) -> list[tuple[float, float]]:
    """The middles of the cells, each once, in which the pairs (candidate, child) lie."""
    size = bin_size(n_nodes)
    cells = dict.fromkeys((candidate // size, child // size) for candidate, child in places)
    middle = (size - 1) / 2
    return [(candidate * size + middle, child * size + middle) for candidate, child in cells]
