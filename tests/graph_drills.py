"""Methods for graphs with a shared kernel that do as they are told, to see what a comparison makes of them.

``python -m tests.graph_drills FOLDER`` is the process of such a method, as that of a real one is
``python -m kgmi.bench.graphs FOLDER``.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from kgmi import Dag, Kernel
from kgmi.bench.graphs import Setting
from kgmi.bench.peer import Edges, Given, Peer
from kgmi.bench.worker import work


def _rows(rows, given: Given):
    return rows


def _small_paper_graph(rows, given: Given) -> list[tuple[int, int]]:
    """The truth, and the edge between the two roots, which are drawn jointly."""
    assert given.n_states == (3,) * 5
    assert given.n_parents == 2
    return [(0, 1), *Dag.paper(5).edges]


def _one_edge(rows, given: Given) -> list[tuple[int, int]]:
    return [(0, 2)]


def _first_state(rows, given: Given) -> list[tuple[int, int]]:
    """One edge less where the first row begins with state 0, to tell samples apart."""
    edges = list(Dag.paper(5).edges)
    return edges[1:] if rows[0, 0] == 0 else edges


def _told_the_law(rows, given: Given) -> list[tuple[int, int]]:
    """Nothing, but it fails unless the law of the parents came with the kernel (the warm-up's has none)."""
    if given.n_states == (3,) * 6:
        assert given.kernel == Kernel.mendelian()
        assert np.array_equal(given.kernel.stationary, Kernel.mendelian().stationary)
    return []


def _shuffled_nodes(rows) -> list[int]:
    """Which node each column is: the settings' samples are drawn again, and their columns looked up."""
    for seed in (11, 12):
        for _, drawn in Setting("paper5", "paper", 3).sample(seed, len(rows)):
            found = [[n for n in range(5) if np.array_equal(drawn[:, n], column)] for column in rows.T]
            if all(found):
                return [nodes[0] for nodes in found]
    return list(range(5))  # the warm-up, whose columns are in order


def _any_order(rows, given: Given) -> list[tuple[int, int]]:
    """The truth, between the columns as they stand."""
    nodes = _shuffled_nodes(rows)
    return [(nodes.index(parent), nodes.index(child)) for parent, child in Dag.paper(5).edges]


def _undirected(pairs: list[tuple[int, int]]) -> Edges:
    return Edges.of([], pairs)


def _method(key: str, fit) -> Peer:
    return Peer(key, key, "kgmi", True, "as told", _rows, fit, Edges.of)


RIGHT = _method("right", _small_paper_graph)
ONE_EDGE = _method("one-edge", _one_edge)
FIRST_STATE = _method("first-state", _first_state)
LAW = _method("law", _told_the_law)
ANY_ORDER = _method("any-order", _any_order)
LINKS = replace(_method("links", _any_order), read=_undirected)
DRILLS = (RIGHT, ONE_EDGE, FIRST_STATE, LAW, ANY_ORDER, LINKS)


if __name__ == "__main__":
    work(Path(sys.argv[1]), DRILLS)
