"""Exact population laws of a process: no sampling, no S^T table."""

from __future__ import annotations

import numpy as np

from kgmi.elimination import Factor, JunctionTree
from kgmi.errors import KernelError
from kgmi.joint import PairJoint, PairMixture, check_pair_size
from kgmi.kernel import FiniteKernels, Kernel
from kgmi.process import Process
from kgmi.types import Floats

__all__ = ["exact_joint", "exact_parent_laws"]


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


def exact_parent_laws(process: Process) -> dict[int, Floats]:
    """Joint law of the parents of every non-root node, axes in the parents' role order."""
    laws: dict[int, Floats] = {}
    for tree in _trees(process):
        for child in tree.variables:
            if parents := process.dag.parents[child]:
                laws[child] = tree.law(parents)
    return dict(sorted(laws.items()))


def _joint_of(process: Process) -> PairJoint:
    n_nodes, n_states = process.n_nodes, process.n_states
    check_pair_size(n_nodes, n_states)
    joint = np.zeros((n_nodes, n_nodes, n_states, n_states))
    inside = np.zeros((n_nodes, n_nodes), dtype=bool)
    for tree in _trees(process):
        inside[np.ix_(tree.variables, tree.variables)] = True
        for us, vs, block in tree.pairs():
            joint[np.ix_(us, vs)] = block.transpose(0, 2, 1, 3)
            joint[np.ix_(vs, us)] = block.transpose(2, 0, 3, 1)
    marginal = np.einsum("iiss->is", joint)
    children, candidates = np.nonzero(~inside)
    joint[children, candidates] = marginal[children][:, :, None] * marginal[candidates][:, None, :]
    joint.setflags(write=False)
    return PairJoint(joint)


def _trees(process: Process) -> list[JunctionTree]:
    """One calibrated junction tree per set of nodes that are linked by edges or drawn together."""
    dag = process.dag
    factors = [Factor(block, process.root_law(len(block))) for block in dag.root_blocks]
    tables = {degree: process.kernel_of_degree(degree).table for degree in set(map(len, dag.parents)) if degree}
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
