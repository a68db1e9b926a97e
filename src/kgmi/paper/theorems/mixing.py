"""The spectral and concentration lemmas: decay of correlation, effective length, frequencies in one sequence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgmi.exact import exact_joint
from kgmi.graph import Dag
from kgmi.joint import PairJoint
from kgmi.kernel import Kernel
from kgmi.paper.experiment import Numbers
from kgmi.paper.theorems.cases import Points, cyclic_kernel, point
from kgmi.process import Process
from kgmi.theory import effective_length, effective_length_bound, node_distances
from kgmi.types import Floats

__all__ = ["copies_points", "frequency_error", "mixing_points", "mixing_processes"]

_FAINT = 1e-8  # a bound λ^d below this is compared with rounding, not with a correlation


def mixing_processes(rng: np.random.Generator, quick: bool) -> list[tuple[str, Process]]:
    """Trees (one parent), where the lemmas are proved, and graphs with two parents."""
    paper = Kernel.paper()
    lengths = (10, 30) if quick else (10, 30, 100)
    n_random = 3 if quick else 12
    trees = [
        (f"random tree {k + 1}", Process(_tree(12 + 2 * k, rng), Kernel.random(2 + k % 3, 1, rng=rng)))
        for k in range(n_random)
    ]
    trees += [(f"chain of {t}, cyclic kernel", Process(Dag.chain(t), cyclic_kernel(3, slip=0.3))) for t in lengths]
    twos = [(f"paper's graph, {n} × 10 nodes", Process(Dag.paper().copies(n), paper)) for n in (1, 3)]
    twos += [(f"order-2 chain of {t}, paper's kernel", Process(Dag.chain(t, 2), paper)) for t in lengths]
    for k in range(n_random):
        kernel = Kernel.random(2 + k % 3, 2, rng=rng)
        twos.append((f"random order-2 chain {k + 1}", Process(Dag.chain(12, 2), kernel)))
        twos.append((f"random graph {k + 1}", Process(Dag.random(12, 2, rng=rng), kernel)))
    return trees + twos


def _tree(n_nodes: int, rng: np.random.Generator) -> Dag:
    return Dag.random(n_nodes, 1, rng=rng, root_probability=0.1)


def mixing_points(name: str, process: Process) -> dict[str, Points]:
    """Points of the three lemmas."""
    kernel, dag = process.fixed_kernel(), process.dag
    joint = _joint(process)
    group = "trees" if kernel.n_parents == 1 else "two parents"
    norm = kernel.spectral_norm
    length = effective_length(dag, norm)
    square, _ = frequency_error(joint, kernel.marginal)
    return {
        "decay": _decay(name, group, joint, kernel, node_distances(dag)),
        "length": [point(name, "all", 1 / length, 1 / effective_length_bound(dag, norm))],
        "concentration": [_worst_state(name, group, square, kernel.marginal / length)],
    }


def copies_points(process: Process, copies: Sequence[int]) -> tuple[Points, list[Numbers]]:
    """Concentration in ``copies`` of a graph, as points and as rows of a table.

    Copies are independent: their variance is that of one copy over their number, T_eff is that of one times
    their number, and the bias stays as it is.
    """
    kernel = process.fixed_kernel()
    square, bias = frequency_error(_joint(process), kernel.marginal)
    length = effective_length(process.dag, kernel.spectral_norm)
    points, rows = [], []
    for n in copies:
        found = (square - bias) / n + bias
        bound = kernel.marginal / (n * length)
        worst = int(np.argmax(found / bound))
        points.append(_worst_state(f"paper's graph, {n:,} × 10 nodes", "two parents", found, bound))
        values = {"measured": float(found[worst]), "bias": float(bias[worst]), "bound": float(bound[worst])}
        rows.append({"n_nodes": n * process.n_nodes, "length": n * length, **values})
    return points, rows


def _worst_state(name: str, group: str, square: Floats, bound: Floats) -> Numbers:
    worst = int(np.argmax(square / bound))
    return point(name, group, float(square[worst]), float(bound[worst]))


def _joint(process: Process) -> PairJoint:
    joint = exact_joint(process)
    assert isinstance(joint, PairJoint)  # the kernel is fixed
    return joint


def frequency_error(joint: PairJoint, marginal: Floats) -> tuple[Floats, Floats]:
    """E (μ̂(s) − μ(s))² over sequences, exactly, and the part (E μ̂(s) − μ(s))² that is bias; both [s].

    μ̂(s) is the share of the T nodes of a sequence that are in state s. Its second moment is the mean over all
    pairs of nodes of P(S_i = s, S_j = s), so pair laws are all it takes.
    """
    mean = joint.marginal.mean(axis=0)
    second = np.einsum("ijss->s", joint.joint) / joint.n_nodes**2
    return second - 2 * marginal * mean + marginal**2, np.square(mean - marginal)


def _decay(name: str, group: str, joint: PairJoint, kernel: Kernel, distances: Floats) -> Points:
    """The most dependent pair of nodes at each distance, against λ^d; pairs without a path against 0."""
    root = np.sqrt(kernel.marginal)
    scale = np.outer(root, root)
    excess = (np.abs(joint.joint - scale**2) / scale).max(axis=(2, 3))
    points = []
    for distance in np.unique(distances[distances > 0]):
        bound = kernel.spectral_norm**distance if np.isfinite(distance) else 0.0
        if bound > _FAINT or not np.isfinite(distance):
            apart = f"d = {distance:g}" if np.isfinite(distance) else "no path between them"
            points.append(point(f"{name}, {apart}", group, float(excess[distances == distance].max()), bound))
    return points
