"""Exact search from pomegranate, for discrete data: the optimum that A* finds too, by another road."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.bench.peer import Edges, Given, Peer
from kgmi.types import Rows

__all__ = ["POMEGRANATE"]


def _tensor(rows: Rows, given: Given) -> Any:
    import torch

    return torch.from_numpy(rows.astype(np.int64))


def _exact(rows: Any, given: Given) -> Any:
    """The shortest path through the graph of orders, as in A*.

    With its default pseudocount of 0 an unseen cell costs nothing and nearly the full graph is returned. Unlike the
    others it also fits the tables of the network, a small part of its time.
    """
    from pomegranate.bayesian_network import BayesianNetwork

    n_nodes = rows.shape[1]
    later = [tuple(range(node + 1, n_nodes)) for node in range(n_nodes)]
    network = BayesianNetwork(algorithm="exact", exclude_parents=later, max_parents=given.n_parents, pseudocount=1)
    return network.fit(rows)


def _structure_edges(network: Any) -> Edges:
    return Edges.of((parent, child) for child, parents in enumerate(network.structure) for parent in parents)


POMEGRANATE = (
    Peer(
        key="pomegranate-exact",
        name="exact search",
        library="pomegranate",
        ordered=True,
        setting="MDL, at most K parents, pseudocount 1",
        prepare=_tensor,
        fit=_exact,
        read=_structure_edges,
        paper="A*",
        most_nodes=16,
    ),
)
