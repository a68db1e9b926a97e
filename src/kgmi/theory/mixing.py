"""Spectral quantities of a graph and a kernel: distances, T_eff, L, decay of correlation, state frequencies."""

from __future__ import annotations

import numpy as np

from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.joint import PairJoint
from kgmi.kernel import Kernel
from kgmi.types import Floats, PairTable

__all__ = [
    "correlation_bound",
    "effective_length",
    "effective_length_bound",
    "frequency_bound",
    "frequency_error",
    "largest_sphere",
    "node_distances",
]


def node_distances(dag: Dag) -> Floats:
    """d(i, j): edges on the shortest path between two nodes, either way along them; inf when there is none."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    parents, children = np.array(dag.edges, dtype=np.int32).reshape(-1, 2).T  # csgraph wants 32 bits
    shape = (dag.n_nodes, dag.n_nodes)
    graph = csr_array((np.ones(len(parents)), (parents, children)), shape=shape)
    return np.asarray(shortest_path(graph, directed=False, unweighted=True))


def effective_length(dag: Dag, spectral_norm: float) -> float:
    """T_eff(λ) = T² / Σ_{i,j} λ^{d(i,j)}, with λ^∞ = 0."""
    return float(dag.n_nodes**2 / _decay(dag, spectral_norm).sum())


def effective_length_bound(dag: Dag, spectral_norm: float) -> float:
    """The paper's lower bound T_eff ≥ T (1 − λ) / L."""
    return dag.n_nodes * (1.0 - _checked(spectral_norm)) / largest_sphere(dag)


def largest_sphere(dag: Dag) -> int:
    """L: the most nodes that lie at one and the same (finite) distance from some node."""
    distances = node_distances(dag)
    finite = np.where(np.isfinite(distances), distances, -1).astype(np.int64)
    return int(max(np.bincount(row[row >= 0]).max() for row in finite))


def correlation_bound(dag: Dag, marginal: Floats, spectral_norm: float) -> PairTable:
    """Lemma B.6: sqrt(μ(s') μ(s)) λ^{d(i,j)} ≥ |P_ij(s', s) − μ(s') μ(s)|, as [i, j, s', s].

    It holds on trees (K = 1). With more parents it can fail even on an order-K chain: roots that are drawn
    together have no edge between them, and parents that act only together (XOR) leave λ = 0.
    """
    root = np.sqrt(marginal)
    return np.asarray(_decay(dag, spectral_norm)[:, :, None, None] * np.outer(root, root))


def frequency_error(joint: PairJoint, marginal: Floats) -> tuple[Floats, Floats]:
    """E (μ̂(s) − μ(s))² over sequences, exactly, and the part (E μ̂(s) − μ(s))² that is bias; both [s].

    μ̂(s) is the share of the T nodes of a sequence that are in state s. Its second moment is the mean over all
    pairs of nodes of P(S_i = s, S_j = s), so pair laws are all it takes.
    """
    mean = joint.marginal.mean(axis=0)
    second = np.einsum("ijss->s", joint.joint) / joint.n_nodes**2
    return second - 2 * marginal * mean + marginal**2, np.square(mean - marginal)


def frequency_bound(dag: Dag, kernel: Kernel) -> Floats:
    """Corollary B.8: E (μ̂(s) − μ(s))² ≤ μ(s) L S/(T γ) with γ = S · smallest kernel entry, as [s].

    It holds on trees (K = 1). With more parents nodes may be off μ, which leaves a bias that no T removes.
    """
    gamma = kernel.n_states * kernel.min_entry
    return np.asarray(kernel.marginal * largest_sphere(dag) * kernel.n_states / (dag.n_nodes * gamma))


def _decay(dag: Dag, spectral_norm: float) -> Floats:
    distances = node_distances(dag)
    power = _checked(spectral_norm) ** np.where(np.isfinite(distances), distances, 0.0)
    return np.where(np.isfinite(distances), power, 0.0)


def _checked(spectral_norm: float) -> float:
    if not 0 <= spectral_norm <= 1:
        raise SettingError(f"λ must lie in [0, 1], got {spectral_norm}")
    return spectral_norm
