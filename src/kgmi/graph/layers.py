"""Layers of one connected graph, its edges in pieces from layer to layer: the first step of Sugiyama's method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgmi.graph.ordering import topological_order
from kgmi.types import Ints, Parents

__all__ = ["Pieces", "n_sweeps", "split"]

_MOST_BENDS = 8  # per node and edge of the graph; the longest edges have none beyond that
_SWEEPS, _FEWEST_SWEEPS = 24, 4
_MOST_STEPS = 6_000  # layers that all sweeps together walk through


@dataclass(frozen=True)
class Pieces:
    """Nodes, then bends, with the pieces of edges between neighbouring layers."""

    n_nodes: int
    layer: Ints
    up: Ints
    """[piece]: its upper end."""
    down: Ints
    """[piece]: its lower end."""
    passing: list[tuple[int, int, int, int]]
    """(parent, child, first bend, last bend + 1) of each edge with bends."""

    @classmethod
    def of(cls, parents: Parents) -> Pieces:
        """Split every edge at the layers that it crosses."""
        layers = _layers(parents)
        edges = [(parent, child) for child, ps in enumerate(parents) for parent in ps]
        spans = np.array([layers[child] - layers[parent] for parent, child in edges])
        by_span = np.argsort(spans, kind="stable")
        within = np.cumsum(spans[by_span] - 1) <= _MOST_BENDS * (len(parents) + len(edges))
        layer, up, down, passing = list(layers), [], [], []
        for edge in sorted(by_span[within].tolist()):
            parent, child = edges[edge]
            first, n_bends = len(layer), int(spans[edge]) - 1
            layer += range(layers[parent] + 1, layers[child])
            bends = range(first, first + n_bends)
            up += [parent, *bends]
            down += [*bends, child]
            if n_bends:
                passing.append((parent, child, first, first + n_bends))
        return cls(len(parents), np.array(layer), np.array(up, dtype=int), np.array(down, dtype=int), passing)


def _layers(parents: Parents) -> list[int]:
    """Longest path from a root; then each root goes down to just above its first child."""
    layers = [0] * len(parents)
    for node in topological_order(parents):
        layers[node] = 1 + max((layers[parent] for parent in parents[node]), default=-1)
    first = [len(parents)] * len(parents)
    for child, ps in enumerate(parents):
        for parent in ps:
            first[parent] = min(first[parent], layers[child])
    return [layer if ps else nearest - 1 for ps, layer, nearest in zip(parents, layers, first, strict=True)]


def n_sweeps(n_layers: int) -> int:
    """How often to go over all layers, down and up in turn: less often where there are very many."""
    return min(_SWEEPS, max(_FEWEST_SWEEPS, _MOST_STEPS // n_layers))


def split(table: Ints, layer: Ints, n_layers: int) -> list[Ints]:
    """The lines of a table by layer."""
    by_layer = np.argsort(layer, kind="stable")
    return np.split(table[by_layer], np.cumsum(np.bincount(layer, minlength=n_layers))[:-1])
