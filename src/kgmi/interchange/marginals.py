"""The law of every node alone, from the laws given parents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgmi.elimination import Factor, JunctionTree
from kgmi.errors import TooLargeError
from kgmi.graph import Dag
from kgmi.model import Model
from kgmi.types import Floats

__all__ = ["marginals_of"]

_MOST_CELLS = 20_000_000  # of a junction tree: 160 MB
_DRAWN, _AT_ONCE = 100_000, 5_000_000  # rows that stand for a network too entangled; cells drawn at once


def marginals_of(dag: Dag, tables: Sequence[Floats]) -> tuple[Floats, ...]:
    """Laws of the nodes alone: exact by a junction tree, or, where that would be too large, from rows.

    Those rows are always the same 100,000, so that probabilities are off by some thousandths at most.
    """
    laws: dict[int, Floats] = {}
    for nodes in dag.components:
        factors = [Factor((*dag.parents[node], node), tables[node]) for node in nodes]
        try:
            tree = JunctionTree(factors, max(tables[node].shape[-1] for node in nodes), _MOST_CELLS)
        except TooLargeError:
            laws |= _from_rows(dag, tables, nodes)
        else:
            laws |= {node: tree.law((node,)) for node in nodes}
    return tuple(laws[node] for node in range(dag.n_nodes))


def _from_rows(dag: Dag, tables: Sequence[Floats], nodes: tuple[int, ...]) -> dict[int, Floats]:
    place = {node: number for number, node in enumerate(nodes)}
    given = tuple(tuple(place[parent] for parent in dag.parents[node]) for node in nodes)
    sizes = [tables[node].shape[-1] for node in nodes]
    part = Model(given, tuple(tables[node] for node in nodes), tuple(np.full(size, 1 / size) for size in sizes))
    rng, left = np.random.default_rng(0), _DRAWN
    counts = [np.zeros(size) for size in sizes]
    while left:
        n_rows = min(left, max(_AT_ONCE // len(nodes), 1))
        rows = part.sample(n_rows, rng)
        for column, seen in enumerate(counts):
            seen += np.bincount(rows[:, column], minlength=len(seen))
        left -= n_rows
    return {node: seen / _DRAWN for node, seen in zip(nodes, counts, strict=True)}
