"""Rows from a network, by forward sampling."""

from __future__ import annotations

import numpy as np

from kgmi.errors import SettingError, TooLargeError
from kgmi.interchange.network import Network
from kgmi.sampling import code_type
from kgmi.types import Rng, Rows

__all__ = ["sample_network"]

_MOST_CELLS = 1_000_000_000


def sample_network(network: Network, n_rows: int, *, rng: Rng) -> Rows:
    """Draw ``n_rows`` independent rows, columns in the order of the network.

    One uniform number is used per cell, row by row, so the rows of a small sample are the first rows of a larger
    one from the same seed.
    """
    if n_rows < 1:
        raise SettingError(f"the number of rows must be at least 1, got {n_rows}")
    if n_rows * network.n_nodes > _MOST_CELLS:
        raise TooLargeError(f"{n_rows:,} rows of {network.n_nodes} columns are too many to draw at once")
    uniforms = np.random.default_rng(rng).random((n_rows, network.n_nodes))
    rows = np.empty(uniforms.shape, dtype=code_type(max(network.n_states)))
    for node in network.dag.order:
        parents, steps = network.dag.parents[node], np.cumsum(network.tables[node], axis=-1)
        steps /= steps[..., -1:]  # exactly 1 from the last possible state on: uniform numbers stay below
        given = steps[tuple(rows[:, parent] for parent in parents)]  # one law for all rows where there is no parent
        rows[:, node] = (uniforms[:, node, None] >= given).sum(axis=-1)
    return rows
