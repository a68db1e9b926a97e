"""A small network, and methods for it that do as they are told, to see what a comparison makes of them.

``python -m tests.network_drills FOLDER`` is the process of such a method, as that of a real one is
``python -m kgmi.bench.networks FOLDER``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import numpy as np

from kgmi.bench.networks import Node, network_of
from kgmi.bench.peer import Edges, Given, Peer
from kgmi.bench.worker import work

# Not in order: the file of it would name the child first.
NODES = (
    Node("wet", ("no", "yes"), ("rain", "sprinkler"), np.array([[[0.9, 0.1], [0.2, 0.8]]] * 3)),
    Node("rain", ("no", "some", "much"), (), np.array([0.5, 0.3, 0.2])),
    Node("sprinkler", ("off", "on"), ("rain",), np.array([[0.4, 0.6], [0.8, 0.2], [1.0, 0.0]])),
)
NETWORK = network_of("sprinkler", NODES)  # rain 0, sprinkler 1, wet 2


def _told(rows, given: Given) -> Given:
    return given


def _chain(given: Given, again: Given) -> list[tuple[int, int]]:
    """A chain through the columns; it fails unless the problem was told as it should be."""
    assert given.n_states == (3, 2, 2)
    assert given.n_parents == 2
    assert given.kernel is None
    return [(0, 1), (1, 2)]


def _shuffled(given: Given, again: Given) -> list[tuple[int, int]]:
    """What follows from the states of the columns: rain, which has three, is a parent of both others."""
    assert sorted(given.n_states) == [2, 2, 3]
    rain = given.n_states.index(3)
    return [(rain, other) for other in range(3) if other != rain]


def _raise(given: Given, again: Given) -> NoReturn:
    raise ValueError("this method fails on purpose")


def _method(key: str, fit, library: str = "kgmi", most_nodes: int | None = None) -> Peer:
    return Peer(key, key, library, True, "as told", _told, fit, Edges.of, most_nodes=most_nodes)


CHAIN = _method("chain", _chain)
RAISES = _method("raises", _raise)
SMALL = _method("small", _chain, most_nodes=2)
ABSENT = _method("absent", _chain, library="kgmi-no-such-distribution")
SHUFFLED = _method("shuffled", _shuffled)
DRILLS = (CHAIN, RAISES, SMALL, ABSENT, SHUFFLED)


if __name__ == "__main__":
    work(Path(sys.argv[1]), DRILLS)
