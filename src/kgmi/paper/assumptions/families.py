"""Families of random processes over which theorem 3 is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.kernel.tunables import random_tunables
from kgmi.paper.setting import paper_process
from kgmi.process import Process

__all__ = ["CONTROL", "FAMILIES", "LEAST_ENTRY", "TUNABLE", "Family"]

TUNABLE = 0.3  # p_0..p_8 are uniform in ± this
LEAST_ENTRY = 0.02  # and drawn again until every kernel entry is at least this
CONTROL = "chains"


@dataclass(frozen=True)
class Family:
    """One family of processes.

    Attributes
    ----------
    name
        A word, unique.
    label
        As in the figures and tables.
    draw
        A process at random.
    n_graphs
        How many are drawn in a full run.
    """

    name: str
    label: str
    draw: Callable[[np.random.Generator], Process]
    n_graphs: int


def _random_kernel(n_states: int, rng: np.random.Generator) -> Kernel:
    return Kernel.random(n_states, 2, rng=rng)


def _random_process(n_nodes: int, n_states: int) -> Callable[[np.random.Generator], Process]:
    return lambda rng: Process(Dag.random(n_nodes, 2, rng=rng), _random_kernel(n_states, rng))


FAMILIES = (
    Family(
        CONTROL,
        "control: order-2 chains, random kernels",
        lambda rng: Process(Dag.chain(10, 2), _random_kernel(3, rng)),
        300,
    ),
    Family(
        "p", "paper's graph, random p", lambda rng: paper_process(p=random_tunables(rng, TUNABLE, LEAST_ENTRY)), 500
    ),
    Family(
        "kernels", "paper's graph, random kernels", lambda rng: Process(Dag.paper(), _random_kernel(3, rng)), 500
    ),
    Family("graphs", "random graphs, random kernels", _random_process(10, 3), 500),
    Family("two-states", "random graphs, 2 states", _random_process(10, 2), 300),
    Family("four-states", "random graphs, 4 states", _random_process(10, 4), 300),
    Family("twenty-nodes", "random graphs, 20 nodes", _random_process(20, 3), 300),
)
"""All have K = 2; 10 nodes and 3 states where the label says nothing else."""
