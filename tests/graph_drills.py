"""Methods for graphs with a shared kernel that do as they are told, to see what a comparison makes of them.

``python -m tests.graph_drills FOLDER`` is the process of such a method, as that of a real one is
``python -m kgmi.bench.graphs FOLDER``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from kgmi import Dag, Kernel
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


def _method(key: str, fit) -> Peer:
    return Peer(key, key, "kgmi", True, "as told", _rows, fit, Edges.of)


RIGHT = _method("right", _small_paper_graph)
ONE_EDGE = _method("one-edge", _one_edge)
FIRST_STATE = _method("first-state", _first_state)
LAW = _method("law", _told_the_law)
DRILLS = (RIGHT, ONE_EDGE, FIRST_STATE, LAW)


if __name__ == "__main__":
    work(Path(sys.argv[1]), DRILLS)
