"""The assumption report: which conditions of the paper hold, and by how much the others fail.

Theorem 3 (the best candidate of head ℓ is the ℓ-th parent) needs every node's parents to be jointly
distributed as M_π. That holds for an order-K Markov chain, but not for a general graph (docs/method.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from kgmi.errors import KernelError
from kgmi.exact import exact_joint, exact_parent_laws
from kgmi.graph import Dag
from kgmi.graph.naming import quoted
from kgmi.joint import PairJoint
from kgmi.kernel import Kernel
from kgmi.process import Process
from kgmi.types import Bools, Floats, Names

__all__ = ["Assumption", "AssumptionReport", "check_fit", "check_process"]

_EXACT = 1e-9  # distances below this are rounding
_LEVEL = 0.01  # of the tests in a fit, before it is divided by their number


@dataclass(frozen=True)
class Assumption:
    """One condition: whether it holds, and the number that says so."""

    name: str
    holds: bool
    value: float
    sentence: str

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'FAILS'}  {self.name}: {self.sentence}"


@dataclass(frozen=True, eq=False)
class AssumptionReport:
    """All conditions for one process or fit.

    Attributes
    ----------
    assumptions
        The conditions, in the paper's order.
    marginal_distance
        [node]: total variation between the node's law and μ_π.
    parent_distance
        [node]: total variation between the joint law of its parents and M_π; NaN for roots. For a fit with
        more than two parents, the largest over pairs of parents (that is all that pair counts show).
    n_rows
        Rows behind the laws of a fit, None for a process. A fit fails a condition only where a χ² test at level
        0.01, divided by the number of comparisons, says that sampling alone does not explain the distance.
    """

    assumptions: tuple[Assumption, ...]
    marginal_distance: Floats
    parent_distance: Floats
    n_rows: int | None

    @property
    def holds(self) -> bool:
        """Whether all conditions hold."""
        return all(a.holds for a in self.assumptions)

    def __str__(self) -> str:
        return "\n".join(map(str, self.assumptions))


def check_process(process: Process, names: Names | None = None) -> AssumptionReport:
    """Check the conditions for a known process, in exact arithmetic; ``names`` are used in the sentences."""
    kernel = process.fixed_kernel()
    joint = exact_joint(process)
    assert isinstance(joint, PairJoint)  # the kernel is fixed
    laws = {child: [(law, _parents_law(kernel, law.ndim))] for child, law in exact_parent_laws(process).items()}
    return _report(kernel, joint, laws, names)


def check_fit(dag: Dag, kernel: Kernel, joint: PairJoint, names: Names | None = None) -> AssumptionReport:
    """Check the conditions for a learned graph and the pair joint that it was learned from.

    With more than two parents only their pairs are compared, since that is what a pair joint shows. Where the
    kernel has no unique stationary law (zeros), all conditions that are about it fail, with NaN for numbers.
    """
    try:
        _ = kernel.stationary
    except KernelError as error:
        return _without_law(kernel, joint, error)
    laws: dict[int, list[_Comparison]] = {}
    for child, parents in enumerate(dag.parents):
        if len(parents) == 1:
            laws[child] = [(joint.marginal[parents[0]], kernel.marginal)]
        elif parents:
            pairs = combinations(range(len(parents)), 2)
            laws[child] = [(joint.joint[parents[a], parents[b]], _pair_law(kernel, a, b)) for a, b in pairs]
    return _report(kernel, joint, laws, names)


_Comparison: TypeAlias = tuple[Floats, Floats]  # (law found, law expected)


def _report(
    kernel: Kernel, joint: PairJoint, parents: dict[int, list[_Comparison]], names: Names | None
) -> AssumptionReport:
    labels = [str(node + 1) for node in range(joint.n_nodes)] if names is None else list(names)
    nodes = {node: [(law, kernel.marginal)] for node, law in enumerate(joint.marginal)}
    distances, differs = zip(
        *(_compare(laws, joint.n_nodes, joint.n_rows) for laws in (nodes, parents)), strict=True
    )
    checks = (
        _positivity(kernel),
        _distinctness(kernel),
        _stationarity("stationary nodes", "follow μ_π", distances[0], differs[0], joint.n_rows, labels),
        _stationarity(
            "stationary parents", "have parents distributed as M_π", distances[1], differs[1], joint.n_rows, labels
        ),
    )
    return AssumptionReport(checks, distances[0], distances[1], joint.n_rows)


def _without_law(kernel: Kernel, joint: PairJoint, error: KernelError) -> AssumptionReport:
    names = ("stationary nodes", "stationary parents")
    failed = (_unknown(name, error) for name in names)
    distance = np.full(joint.n_nodes, np.nan)
    return AssumptionReport((_positivity(kernel), _distinctness(kernel), *failed), distance, distance, joint.n_rows)


def _unknown(name: str, error: KernelError) -> Assumption:
    """A condition that fails as what it compares with is not defined; the remedy of the error is for other uses."""
    return Assumption(name, False, np.nan, str(error).split(". ")[0])


def _positivity(kernel: Kernel) -> Assumption:
    zeros = int((kernel.table <= 0).sum())
    text = f"the smallest entry of the kernel is {kernel.min_entry:.3g}"
    if zeros:
        text += f" ({zeros} of {kernel.table.size} entries are 0)"
    return Assumption("positive kernel", kernel.is_positive, kernel.min_entry, text)


def _distinctness(kernel: Kernel) -> Assumption:
    if kernel.n_parents == 1:
        return Assumption("distinct marginal kernels", True, np.inf, "there is one head")
    try:
        gap = kernel.marginal_distance
    except KernelError as error:  # no unique stationary law, or a state without mass
        return _unknown("distinct marginal kernels", error)
    text = f"the two closest marginal kernels differ by {gap:.3g} in their most different entry"
    return Assumption("distinct marginal kernels", kernel.has_distinct_marginals, gap, text)


def _stationarity(
    name: str, claim: str, distance: Floats, differs: Bools, n_rows: int | None, labels: list[str]
) -> Assumption:
    compared = int((~np.isnan(distance)).sum())
    if not compared:
        return Assumption(name, True, 0.0, "there is no node to check")
    off, worst = np.flatnonzero(differs), float(np.nanmax(distance))
    tested = "" if n_rows is None else f", beyond what {n_rows:,} rows scatter by chance"
    if not len(off):
        return Assumption(name, True, worst, f"all {compared} nodes {claim} (largest distance {worst:.3g})")
    listed = ", ".join(f"{quoted(labels[node])} by {distance[node]:.3g}" for node in off[:10])
    more = f" and {len(off) - 10} more" if len(off) > 10 else ""
    text = f"{len(off)} of {compared} nodes do not {claim}: {listed}{more} in total variation{tested}"
    return Assumption(name, False, worst, text)


def _compare(laws: dict[int, list[_Comparison]], n_nodes: int, n_rows: int | None) -> tuple[Floats, Bools]:
    """Largest total variation between the laws of each node and those expected, and whether one truly differs.

    Exact laws differ by anything beyond rounding. Counted laws differ where Pearson's χ² test of fit says so.
    """
    distance, differs = np.full(n_nodes, np.nan), np.zeros(n_nodes, dtype=bool)
    level = _LEVEL / max(sum(map(len, laws.values())), 1)
    by_size: dict[int, list[tuple[int, Floats, Floats]]] = {}
    for node, pairs in laws.items():
        for found, expected in pairs:
            by_size.setdefault(found.size, []).append((node, found.ravel(), expected.ravel()))
    for group in by_size.values():
        nodes = np.array([node for node, _, _ in group])
        found, expected = (np.stack([one[k] for one in group]) for k in (1, 2))
        away = 0.5 * np.abs(found - expected).sum(axis=1)
        np.fmax.at(distance, nodes, away)
        np.logical_or.at(
            differs, nodes, away > _EXACT if n_rows is None else _fails(found, expected, n_rows, level)
        )
    return distance, differs


def _fails(found: Floats, expected: Floats, n_rows: int, level: float) -> Bools:
    """Pearson's χ² test of fit, row by row; what cannot happen but did fails at once."""
    from scipy.special import chdtrc

    possible = expected > 0
    terms = np.divide(np.square(found - expected), expected, out=np.zeros(found.shape), where=possible)
    free = np.maximum(possible.sum(axis=1) - 1, 1)
    return np.asarray((chdtrc(free, n_rows * terms.sum(axis=1)) < level) | (~possible & (found > 0)).any(axis=1))


def _parents_law(kernel: Kernel, size: int) -> Floats:
    law = kernel.stationary
    return np.asarray(law.sum(axis=tuple(range(size, law.ndim))))


def _pair_law(kernel: Kernel, first: int, second: int) -> Floats:
    law = kernel.stationary
    return np.asarray(law.sum(axis=tuple(axis for axis in range(law.ndim) if axis not in (first, second))))
