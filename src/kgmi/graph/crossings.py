"""The order within each layer that leaves few crossings: the second step of Sugiyama's method."""

from __future__ import annotations

import numpy as np

from kgmi.graph.layers import Pieces, n_sweeps, split
from kgmi.types import Floats, Ints

__all__ = ["fewest_crossings"]

_PATIENCE = 6  # sweeps without fewer crossings after which no more are tried
_MOST_SWAPPED = 3_000  # points up to which neighbours also change places one by one


def fewest_crossings(pieces: Pieces) -> list[Ints]:
    """The points of each layer from left to right, in the best order that sweeps of barycentres find."""
    order = _first_order(pieces)
    place = np.zeros(len(pieces.layer))
    for points in order:
        place[points] = np.arange(len(points))
    sides = _by_layer(pieces, len(order))
    best, fewest, since = list(order), _crossings(pieces, place), 0
    for sweep in range(n_sweeps(len(order))):
        if not fewest or since == _PATIENCE:
            break
        downwards = sweep % 2 == 0
        for layer in range(len(order)) if downwards else reversed(range(len(order))):
            points, side = order[layer], sides[layer][0 if downwards else 1]
            if len(points) > 1 and len(side):
                order[layer] = points = points[_by_barycentre(points, side, place)]
                place[points] = np.arange(len(points))
        crossings = _crossings(pieces, place)
        since += 1
        if crossings < fewest:
            best, fewest, since = list(order), crossings, 0
    return best if not fewest or len(pieces.layer) > _MOST_SWAPPED else _swapped(pieces, best)


def _swapped(pieces: Pieces, order: list[Ints]) -> list[Ints]:
    """Neighbours of a layer change places as long as that leaves fewer crossings: what means alone do not see."""
    layers = [points.tolist() for points in order]
    place = {point: rank for layer in layers for rank, point in enumerate(layer)}
    ends: list[list[tuple[int, int]]] = [[] for _ in place]  # (side, other end)
    for up, down in zip(pieces.up.tolist(), pieces.down.tolist(), strict=True):
        ends[up].append((1, down))
        ends[down].append((0, up))
    for _ in range(_PATIENCE):
        changed = False
        for layer in layers:
            for rank in range(len(layer) - 1):
                left, right = layer[rank], layer[rank + 1]
                pairs = [place[a] - place[b] for side, a in ends[left] for other, b in ends[right] if side == other]
                if sum(gap > 0 for gap in pairs) > sum(gap < 0 for gap in pairs):
                    layer[rank], layer[rank + 1] = right, left
                    place[left], place[right] = rank + 1, rank
                    changed = True
        if not changed:
            break
    return [np.array(layer, dtype=np.int64) for layer in layers]


def _first_order(pieces: Pieces) -> list[Ints]:
    """Points of each layer as a walk down from the roots meets them: no crossings in a forest."""
    below: list[list[int]] = [[] for _ in pieces.layer]
    for up, down in zip(pieces.up.tolist(), pieces.down.tolist(), strict=True):
        below[up].append(down)
    seen = np.full(len(pieces.layer), -1)
    n_seen = 0
    tops = np.setdiff1d(np.arange(pieces.n_nodes), pieces.down)
    stack = tops[::-1].tolist()
    while stack:
        point = stack.pop()
        if seen[point] < 0:
            seen[point] = n_seen
            n_seen += 1
            stack += reversed(below[point])
    walk = np.lexsort([seen, pieces.layer])
    return np.split(walk, np.cumsum(np.bincount(pieces.layer))[:-1])


def _by_layer(pieces: Pieces, n_layers: int) -> list[tuple[Ints, Ints]]:
    """For each layer the pieces (its point, other end) that come from above, and those that go down."""
    above = split(np.column_stack([pieces.down, pieces.up]), pieces.layer[pieces.down], n_layers)
    below = split(np.column_stack([pieces.up, pieces.down]), pieces.layer[pieces.up], n_layers)
    return list(zip(above, below, strict=True))


def _by_barycentre(points: Ints, side: Ints, place: Floats) -> Ints:
    """Order of points by the mean place of their neighbours; those without any stay where they are."""
    rank = place[side[:, 0]].astype(int)
    count = np.bincount(rank, minlength=len(points))
    mean = np.bincount(rank, weights=place[side[:, 1]], minlength=len(points)) / np.maximum(count, 1)
    lonely = np.flatnonzero(count == 0)
    by_mean = np.argsort(mean, kind="stable")
    if not len(lonely):
        return by_mean
    kept = np.empty(len(points), dtype=int)
    kept[lonely] = lonely
    kept[np.flatnonzero(count)] = by_mean[count[by_mean] > 0]
    return kept


def _crossings(pieces: Pieces, place: Floats) -> int:
    """Pairs of pieces that cross: inversions of the lower ends when sorted by the upper ones."""
    width = int(place.max()) + 1
    low = pieces.layer[pieces.down] * width + place[pieces.down].astype(int)
    high = pieces.layer[pieces.up] * width + place[pieces.up].astype(int)
    values = np.unique(low[np.lexsort([low, high])], return_inverse=True)[1]
    total = 0
    for bit in reversed(range(int(values.max(initial=0)).bit_length())):
        # Those that agree in all higher bits, in their order: how many with this bit stand before one without.
        values = values[np.argsort(values >> (bit + 1), kind="stable")]
        group, ones = values >> (bit + 1), (values >> bit) & 1
        before = np.cumsum(ones) - ones
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        base = np.repeat(before[starts], np.diff(np.append(starts, len(group))))
        total += int(np.sum((before - base)[ones == 0]))
    return total
