"""The equivalence class of a graph: which of its edges every equivalent graph directs the same way."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from kgmi.bench.peer import Edges

__all__ = ["equivalence_class"]


def equivalence_class(edges: Iterable[tuple[int, int]]) -> Edges:
    """Of a directed acyclic graph, by colliders and Meek's rules.

    Two graphs are equivalent (no data can tell them apart) when they link the same pairs and have the same
    colliders a → b ← c with a and c not linked. Libraries have functions for this, but pybnesian 0.5.1's gives a
    wrong class now and then, so all learners that answer with one graph of the class are read with this one.
    """
    arcs = set(edges)
    parents: dict[int, set[int]] = {}
    for parent, child in arcs:
        parents.setdefault(child, set()).add(parent)
    linked = {frozenset(arc) for arc in arcs}
    fixed: set[tuple[int, int]] = set()
    for child, above in parents.items():
        for a, b in combinations(above, 2):
            if frozenset((a, b)) not in linked:
                fixed |= {(a, child), (b, child)}
    while new := {arc for arc in arcs - fixed if _compelled(arc, fixed, linked)}:
        fixed |= new
    return Edges.of(fixed, arcs - fixed)


def _compelled(arc: tuple[int, int], fixed: set[tuple[int, int]], linked: set[frozenset[int]]) -> bool:
    """Whether turning a → b round would make a new collider or a cycle (Meek's rules 1 to 3)."""
    a, b = arc
    if any(child == a and frozenset((parent, b)) not in linked for parent, child in fixed):
        return True
    into = [parent for parent, child in fixed if child == b]
    if any((a, middle) in fixed for middle in into):
        return True
    around = [c for c in into if frozenset((a, c)) in linked and (a, c) not in fixed and (c, a) not in fixed]
    return any(frozenset(pair) not in linked for pair in combinations(around, 2))
