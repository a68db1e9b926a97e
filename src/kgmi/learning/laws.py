"""The law of every node given its parents, for ``Model``."""

from __future__ import annotations

import numpy as np

from kgmi.counts.base import Counts
from kgmi.graph import Dag
from kgmi.model import Model
from kgmi.search import Solution
from kgmi.types import Floats

__all__ = ["are_counted", "laws_of"]

_PSEUDO_ROWS = 1.0  # spread over the states, so that what was not seen yet is not impossible


def laws_of(observed: Counts, dag: Dag, found: Solution | None) -> Model:
    """Laws from the kernels of a search, or, without one, from the families of the graph, pooled by in-degree.

    Roots that are drawn together depend on each other by a law of their own.
    """
    pseudo = 0.0 if observed.is_exact else _PSEUDO_ROWS
    marginals = tuple(_shares(counts, pseudo) for counts in observed.marginals)
    given = _given(dag)
    pooled = _pooled(observed, dag)
    tables: list[Floats] = []
    for node, others in enumerate(given):
        group = None if found is None else found.group_of(node)
        if group is not None:
            tables.append(group.seen.view())
        elif dag.parents[node]:
            tables.append(_shares(pooled[_shape(observed, others, node)], pseudo))
        else:
            tables.append(_shares(observed.family(node, others), pseudo) if others else marginals[node])
    for table in (*tables, *marginals):
        table.setflags(write=False)
    return Model(given, tuple(tables), marginals)


def are_counted(observed: Counts, dag: Dag) -> bool:
    """Whether every node can be counted together with its parents; of rows it can."""
    return all(observed.holds((*others, node)) for node, others in enumerate(_given(dag)))


def _given(dag: Dag) -> tuple[tuple[int, ...], ...]:
    """What the law of every node depends on: its parents, or the roots that are drawn before it."""
    earlier = {node: block[: block.index(node)] for block in dag.root_blocks for node in block}
    return tuple(parents or earlier.get(node, ()) for node, parents in enumerate(dag.parents))


def _pooled(observed: Counts, dag: Dag) -> dict[tuple[int, ...], Floats]:
    totals: dict[tuple[int, ...], Floats] = {}
    for child, parents in enumerate(dag.parents):
        if parents:
            shape = _shape(observed, parents, child)
            totals[shape] = totals.get(shape, 0.0) + observed.family(child, parents)
    return totals


def _shape(observed: Counts, parents: tuple[int, ...], child: int) -> tuple[int, ...]:
    return tuple(observed.sizes[node] for node in (*parents, child))


def _shares(counts: Floats, pseudo: float) -> Floats:
    total = counts.sum(axis=-1, keepdims=True) + pseudo
    even = np.full(counts.shape, 1 / counts.shape[-1])
    return np.asarray(np.divide(counts + pseudo / counts.shape[-1], total, out=even, where=total > 0))
