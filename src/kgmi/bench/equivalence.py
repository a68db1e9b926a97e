"""The equivalence class of a graph: which of its edges every equivalent graph directs the same way."""

from __future__ import annotations

from collections.abc import Collection

from kgmi.bench.peer import Edges
from kgmi.graph import Dag

__all__ = ["equivalence_class"]


def equivalence_class(edges: Collection[tuple[int, int]]) -> Edges:
    """Of a directed acyclic graph, as :meth:`kgmi.Dag.cpdag` finds it.

    Libraries have functions for this, but pybnesian 0.5.1's gives a wrong class now and then, so all learners that
    answer with one graph of the class are read with this one.
    """
    found = Dag.from_edges(edges, 1 + max((max(edge) for edge in edges), default=0)).cpdag()
    return Edges(found.directed, found.undirected)
