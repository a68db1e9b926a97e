"""``Cpdag``: which edges of a graph every equivalent graph directs the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from kgmi.graph.dag import Dag
from kgmi.types import Ints

__all__ = ["Cpdag", "cpdag"]


@dataclass(frozen=True)
class Cpdag:
    """A completed partially directed graph.

    Attributes
    ----------
    n_nodes
        Number of nodes T.
    directed
        Edges (parent, child) whose direction is known.
    undirected
        Pairs (a, b) with a < b, linked in one direction or the other.
    """

    n_nodes: int
    directed: tuple[tuple[int, int], ...]
    undirected: tuple[tuple[int, int], ...]

    @property
    def n_edges(self) -> int:
        """Number of edges, directed or not."""
        return len(self.directed) + len(self.undirected)

    def matrix(self) -> Ints:
        """M[a, b] = 1 for a → b; for a – b both M[a, b] and M[b, a] are 1."""
        matrix = np.zeros((self.n_nodes, self.n_nodes), dtype=np.int64)
        for a, b in (*self.directed, *self.undirected, *((b, a) for a, b in self.undirected)):
            matrix[a, b] = 1
        return matrix


def cpdag(dag: Dag, evidence: Mapping[tuple[int, int], float] | None = None, least: float = 3.0) -> Cpdag:
    """Direct the edges of which the direction is known, and leave it open for the others.

    Two graphs are equivalent (no data can tell them apart) when they link the same pairs and have the same
    colliders a → b ← c with a and c not linked. Edges of colliders are directed, then those of which there is
    evidence, then all that follow from these by Meek's rules.

    Parameters
    ----------
    dag
        One graph of the class.
    evidence
        ``evidence[(parent, child)]``: nats by which the best graph with that edge reversed is worse. Edges that
        are not in the graph do not count.
    least
        Nats from which an edge is taken as directed.
    """
    marks, told = _Marks(dag), evidence or {}
    for parent, child in dag.edges:
        collides = marks.parents[child] & ~marks.linked[parent] & ~(1 << parent)
        if collides or told.get((parent, child), 0.0) >= least:
            marks.direct(parent, child)
    waiting = set(range(dag.n_nodes))
    while waiting:
        node = waiting.pop()
        for other in _bits(marks.open[node]):
            parent, child = (other, node) if marks.parents[node] >> other & 1 else (node, other)
            if marks.follows(parent, child):
                marks.direct(parent, child)
                waiting |= {parent, child, *_bits(marks.down[child])}
    known = [edge for edge in dag.edges if marks.down[edge[0]] >> edge[1] & 1]
    left = [(min(edge), max(edge)) for edge in {*dag.edges} - {*known}]
    return Cpdag(dag.n_nodes, tuple(sorted(known)), tuple(sorted(left)))


class _Marks:
    """Of every node its parents, neighbours, known parents (up) and children (down), and neighbours still open.

    Sets of nodes are the bits of whole numbers, so that a rule is a few operations on all nodes at once.
    """

    def __init__(self, dag: Dag) -> None:
        self.parents = [sum(1 << parent for parent in ps) for ps in dag.parents]
        self.linked, self.up, self.down = list(self.parents), [0] * dag.n_nodes, [0] * dag.n_nodes
        for parent, child in dag.edges:
            self.linked[parent] |= 1 << child
        self.open = list(self.linked)

    def direct(self, parent: int, child: int) -> None:
        """Note the direction of an edge."""
        self.down[parent] |= 1 << child
        self.up[child] |= 1 << parent
        self.open[parent] &= ~(1 << child)
        self.open[child] &= ~(1 << parent)

    def follows(self, a: int, b: int) -> bool:
        """Whether turning a → b round would make a new collider or a cycle: Meek's rules 1 to 4."""
        apart = ~self.linked[b]
        if self.up[a] & apart or self.down[a] & self.up[b]:
            return True
        around = self.open[a] & self.up[b]
        if any(around & ~self.linked[c] & ~(1 << c) for c in _bits(around)):
            return True
        return any(self.open[a] & self.up[c] & apart for c in _bits(self.up[b]))


def _bits(nodes: int) -> Iterator[int]:
    """Numbers of the nodes in a set."""
    while nodes:
        yield (lowest := (nodes & -nodes).bit_length() - 1)
        nodes ^= 1 << lowest
