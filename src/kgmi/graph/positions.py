"""Places of nodes side by side, their order given: the last step of Sugiyama's method."""

from __future__ import annotations

import numpy as np

from kgmi.graph.layers import Pieces, n_sweeps, split
from kgmi.types import Floats, Ints

__all__ = ["straightened"]

_BEND = 0.4  # room of an edge that passes a layer, in rooms of a node
_PULL = np.array(
    [1.0, 2.0, 8.0]
)  # of a piece of an edge by how many of its ends are bends: long edges run straight
_STILL = 0.1  # weight of a point that nothing pulls


def straightened(pieces: Pieces, order: list[Ints]) -> Floats:
    """x of every point: near the weighted mean of its neighbours, in its order and with its room."""
    is_bend = np.arange(len(pieces.layer)) >= pieces.n_nodes
    half = np.where(is_bend, _BEND, 1.0) / 2
    x = np.zeros(len(half))
    rank = np.zeros(len(half), dtype=np.int64)
    offsets = []
    for points in order:
        offset = np.concatenate([[0.0], np.cumsum(half[points[1:]] + half[points[:-1]])])
        x[points], rank[points] = offset - offset[-1] / 2, np.arange(len(points))
        offsets.append(offset)
    pulls = _pulls(pieces, is_bend.astype(int), rank, [len(points) for points in order])
    for sweep in range(n_sweeps(len(order))):
        for layer in range(len(order)) if sweep % 2 == 0 else reversed(range(len(order))):
            points, (mine, other, pull, weight) = order[layer], pulls[layer]
            total = np.bincount(mine, weights=pull * x[other], minlength=len(points))
            wanted = np.where(weight > 0, total / np.maximum(weight, _STILL), x[points])
            offset = offsets[layer]
            x[points] = _increasing(wanted - offset, np.maximum(weight, _STILL)) + offset
    return x


def _pulls(pieces: Pieces, is_bend: Ints, rank: Ints, sizes: list[int]) -> list[tuple[Ints, Ints, Floats, Floats]]:
    """For each layer: (place of the point, its neighbour, weight) of each piece, and the weight of each point."""
    near = np.concatenate([pieces.up, pieces.down])
    far = np.concatenate([pieces.down, pieces.up])
    table = np.column_stack([rank[near], far, is_bend[near] + is_bend[far]])
    pulls = []
    for lines, size in zip(split(table, pieces.layer[near], len(sizes)), sizes, strict=True):
        pull: Floats = _PULL[lines[:, 2]]
        weight: Floats = np.bincount(lines[:, 0], weights=pull, minlength=size).astype(np.float64)
        pulls.append((lines[:, 0], lines[:, 1], pull, weight))
    return pulls


def _increasing(wanted: Floats, weight: Floats) -> Floats:
    """The nondecreasing sequence nearest to the wanted one in weighted least squares (pool adjacent violators)."""
    if np.all(wanted[1:] >= wanted[:-1]):
        return wanted
    means: list[float] = []
    weights: list[float] = []
    sizes: list[int] = []
    for value, heavy in zip(wanted.tolist(), weight.tolist(), strict=True):
        size = 1
        while means and means[-1] >= value:
            before = weights.pop()
            value = (means.pop() * before + value * heavy) / (before + heavy)
            heavy += before
            size += sizes.pop()
        means.append(value)
        weights.append(heavy)
        sizes.append(size)
    return np.repeat(means, sizes)
