"""Exact population laws of a process: no sampling, no S^T table."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from kgmi.elimination import Factor, JunctionTree
from kgmi.errors import KernelError, SettingError
from kgmi.joint import PairJoint, PairMixture, check_pair_size
from kgmi.kernel import FiniteKernels, Kernel
from kgmi.process import Process
from kgmi.types import Codes, Floats

__all__ = ["exact_joint", "exact_pair_share", "exact_parent_laws", "exact_rows"]

_MOST_ROWS = 1_000_000  # rows that are listed rather than summed over
_MOST_POWER = 1_000.0  # κ T up to which the weights of the quadrature are floats: they are near 2^(κ T)

_Tilt: TypeAlias = tuple[int, float]  # (state, its weight)


def exact_joint(process: Process) -> PairJoint | PairMixture:
    """Exact joint laws P_ij of all pairs of nodes.

    Components of the graph are independent; inside each, variables are eliminated along a junction tree,
    so graphs of any length with a small treewidth work. When the kernel is random (a finite P_Π) the result
    holds one joint per kernel.
    """
    if isinstance(process.kernel, Kernel):
        return _joint_of(process)
    if not isinstance(process.kernel, FiniteKernels):
        raise KernelError("the exact joint needs a finite kernel law: use sampler.finite(n_kernels, rng)")
    kernels = process.kernel
    return PairMixture(tuple(_joint_of(process.with_kernel(k)) for k in kernels.kernels), kernels.weights)


def exact_rows(process: Process) -> tuple[Codes, Floats] | None:
    """Every possible row and its probability; None where there are too many to list."""
    n_nodes, n_states = process.n_nodes, process.n_states
    if n_states**n_nodes > _MOST_ROWS:
        return None
    rows = np.indices((n_states,) * n_nodes, dtype=np.min_scalar_type(-n_states)).reshape(n_nodes, -1).T
    weights = np.ones(len(rows))
    for block in process.dag.root_blocks:
        weights *= process.root_law(len(block))[tuple(rows[:, node] for node in block)]
    for child, parents in enumerate(process.dag.parents):
        if parents:
            table = process.kernel_of_degree(len(parents)).table
            weights *= table[tuple(rows[:, node] for node in (*parents, child))]
    return np.ascontiguousarray(rows), weights


def exact_parent_laws(process: Process) -> dict[int, Floats]:
    """Joint law of the parents of every non-root node, axes in the parents' role order."""
    laws: dict[int, Floats] = {}
    for tree in _trees(process):
        for child in tree.variables:
            if parents := process.dag.parents[child]:
                laws[child] = tree.law(parents)
    return dict(sorted(laws.items()))


def exact_pair_share(process: Process, kappa: float = 0.0) -> Floats:
    """E 1[S_i = s'] 1[S_j = s] / (μ̂(s') + κ) as [i, j, s', s], with μ̂ the frequencies in the sequence itself.

    This is what the labelled estimator of appendix C-B averages. With C the number of nodes in state s',
    1/(C/T + κ) = T ∫₀¹ z^(C + κT − 1) dz, and E 1[S_i = s'] 1[S_j = s] z^C is a pair table of the same graph with
    state s' weighted by z at every node: a polynomial in z, so Gauss–Jacobi quadrature is exact.
    """
    from scipy.special import roots_sh_jacobi

    if not (np.isfinite(kappa) and kappa >= 0):
        raise SettingError(f"kappa must be ≥ 0, got {kappa}")
    process.fixed_kernel()
    n_nodes, n_states = process.n_nodes, process.n_states
    power = kappa * n_nodes
    if power > _MOST_POWER:
        most = f"{_MOST_POWER / n_nodes:g} for the exact expectation with {n_nodes} nodes"
        raise SettingError(f"kappa must be at most {most}, got {kappa}")
    points, weights = roots_sh_jacobi(n_nodes // 2 + 1, power + 1.0, power + 1.0)
    share = np.zeros((n_nodes, n_nodes, n_states, n_states))
    for state in range(n_states):
        for z, weight in zip(points, weights, strict=True):
            share[:, :, state] += n_nodes * weight / z * _pair_table(process, (state, z))[:, :, state]
    return share


def _joint_of(process: Process) -> PairJoint:
    joint = _pair_table(process)
    joint.setflags(write=False)
    return PairJoint(joint)


def _pair_table(process: Process, tilt: _Tilt | None = None) -> Floats:
    """Pair joints [i, j, s', s]; with a tilt (s, z), those of the law times z for every node in state s."""
    n_nodes, n_states = process.n_nodes, process.n_states
    check_pair_size(n_nodes, n_states)
    joint = np.zeros((n_nodes, n_nodes, n_states, n_states))
    inside = np.zeros((n_nodes, n_nodes), dtype=bool)
    total = 1.0
    for tree in _trees(process, tilt):
        total *= tree.total
        inside[np.ix_(tree.variables, tree.variables)] = True
        for us, vs, block in tree.pairs():
            joint[np.ix_(us, vs)] = block.transpose(0, 2, 1, 3)
            joint[np.ix_(vs, us)] = block.transpose(2, 0, 3, 1)
    marginal = np.einsum("iiss->is", joint)
    children, candidates = np.nonzero(~inside)
    joint[children, candidates] = marginal[children][:, :, None] * marginal[candidates][:, None, :]
    return joint if tilt is None else joint * total


def _trees(process: Process, tilt: _Tilt | None = None) -> list[JunctionTree]:
    """One calibrated junction tree per set of nodes that are linked by edges or drawn together."""
    dag = process.dag
    weight = np.ones(process.n_states)
    if tilt is not None:
        weight[tilt[0]] = tilt[1]
    # Every node is drawn by one factor, and weighted there: a root by its block, a child by its kernel.
    factors = []
    for block in dag.root_blocks:
        law = process.root_law(len(block))
        for axis in range(len(block)):
            law = law * np.moveaxis(np.broadcast_to(weight, law.shape), -1, axis)
        factors.append(Factor(block, law))
    tables = {
        degree: process.kernel_of_degree(degree).table * weight for degree in set(map(len, dag.parents)) - {0}
    }
    factors += [Factor((*ps, child), tables[len(ps)]) for child, ps in enumerate(dag.parents) if ps]
    return [JunctionTree(group, process.n_states) for group in _linked(factors)]


def _linked(factors: list[Factor]) -> list[list[Factor]]:
    """Group factors that share variables, directly or through others."""
    import networkx

    graph: networkx.Graph[int] = networkx.Graph()
    for factor in factors:
        networkx.add_path(graph, factor.scope)
    groups: list[list[Factor]] = []
    place: dict[int, int] = {}
    for number, nodes in enumerate(sorted(networkx.connected_components(graph), key=min)):
        place.update(dict.fromkeys(nodes, number))
        groups.append([])
    for factor in factors:
        groups[place[factor.scope[0]]].append(factor)
    return groups
