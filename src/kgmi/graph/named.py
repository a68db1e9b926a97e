"""Graphs by name: the paper's, chains, and random ones."""

from __future__ import annotations

import numpy as np

from kgmi.errors import GraphError
from kgmi.graph.dag import Dag
from kgmi.graph.formats import from_edges
from kgmi.types import Rng

__all__ = ["chain", "paper", "paper_mixed", "random"]

# Numbered from 1 as in the paper's figures.
_PAPER_EDGES = (
    *((1, 3), (1, 4), (1, 10), (2, 3), (2, 5), (2, 6), (2, 7), (3, 4)),
    *((3, 8), (4, 5), (4, 7), (5, 6), (6, 9), (7, 8), (7, 10), (8, 9)),
)
_MIXED_EDGES = (
    *((1, 3), (2, 4), (3, 4), (1, 5), (4, 5), (3, 6), (4, 6)),
    *((5, 7), (6, 8), (7, 8), (8, 9), (6, 10), (9, 10)),
)


def paper(n_nodes: int = 10) -> Dag:
    """The paper's meta-graph on 10 nodes (16 edges), or its restriction to 5."""
    if n_nodes not in (5, 10):
        raise GraphError(f"the paper has graphs of 5 and 10 nodes, not {n_nodes}; use copies(n) for longer ones")
    return from_edges([(j - 1, i - 1) for j, i in _PAPER_EDGES], 10).restrict(n_nodes)


def paper_mixed() -> Dag:
    """The paper's graph with in-degrees 0, 1 and 2 (appendix A)."""
    return from_edges([(j - 1, i - 1) for j, i in _MIXED_EDGES], 10)


def chain(n_nodes: int, n_parents: int = 1) -> Dag:
    """Order-K Markov chain; its first K nodes are one root block."""
    _check_size(n_nodes, n_parents)
    return Dag([range(i - n_parents, i) if i >= n_parents else () for i in range(n_nodes)])


def random(
    n_nodes: int,
    n_parents: int = 2,
    *,
    rng: Rng,
    mixed: bool = False,
    root_probability: float = 0.0,
) -> Dag:
    """Random graph in topological order.

    Parameters
    ----------
    n_nodes, n_parents
        T and K. The first K nodes are roots; the others draw their parents uniformly from the earlier nodes.
    rng
        Random generator, or a seed.
    mixed
        False: every other node has K parents. True: between 0 and K, uniformly.
    root_probability
        Chance that a later node is a root after all.
    """
    _check_size(n_nodes, n_parents)
    if not 0.0 <= root_probability <= 1.0:
        raise GraphError(f"root_probability must lie in [0, 1], got {root_probability}")
    rng = np.random.default_rng(rng)
    parents: list[list[int]] = [[] for _ in range(n_parents)]
    for child in range(n_parents, n_nodes):
        degree = int(rng.integers(0, n_parents + 1)) if mixed else n_parents
        if rng.random() < root_probability:
            degree = 0
        parents.append(sorted(int(p) for p in rng.choice(child, degree, replace=False)))
    return Dag(parents)


def _check_size(n_nodes: int, n_parents: int) -> None:
    if n_parents < 1:
        raise GraphError(f"n_parents must be at least 1, got {n_parents}")
    if n_nodes <= n_parents:
        raise GraphError(f"{n_parents} parents need at least {n_parents + 1} nodes, got {n_nodes}")
