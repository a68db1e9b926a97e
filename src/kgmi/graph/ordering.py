"""A topological order of nodes with any numbers, or the cycle that rules it out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush

from kgmi.errors import GraphError

__all__ = ["topological_order"]


def topological_order(parents: Sequence[Sequence[int]], label: Callable[[int], str] = str) -> tuple[int, ...]:
    """Return the nodes, parents first; of those whose parents are all placed, the smallest is next.

    Where there is a cycle, the error calls its nodes by their ``label``.
    """
    if all(parent < child for child, ps in enumerate(parents) for parent in ps):
        return tuple(range(len(parents)))
    waiting = [len(ps) for ps in parents]
    children: list[list[int]] = [[] for _ in parents]
    for child, ps in enumerate(parents):
        for parent in ps:
            children[parent].append(child)
    ready = [node for node, count in enumerate(waiting) if not count]
    order: list[int] = []
    while ready:
        order.append(heappop(ready))
        for child in children[order[-1]]:
            waiting[child] -= 1
            if not waiting[child]:
                heappush(ready, child)
    if len(order) < len(parents):
        shown = " → ".join(map(label, _cycle(parents, waiting)))
        raise GraphError(f"the graph has a cycle: {shown}; leave out one of these edges, or turn it")
    return tuple(order)


def _cycle(parents: Sequence[Sequence[int]], waiting: Sequence[int]) -> list[int]:
    """Return one cycle: every node that still waits has such a parent, so going up must come round."""
    node, path = next(node for node, count in enumerate(waiting) if count), dict[int, None]()
    while node not in path:
        path[node] = None
        node = next(parent for parent in parents[node] if waiting[parent])
    walk = [*path, node]
    return walk[walk.index(node) :][::-1]
