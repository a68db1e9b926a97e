"""Trials of the paper's statements: measured values beside their bounds, on processes drawn for the purpose.

Every function returns points by statement key (:mod:`kgmi.theory.ledger`). The group of a point says what it tries:
``printed`` the statement as it is, ``condition`` or ``repaired`` the statement under the condition, or in the form,
that the ledger gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Literal, TypeAlias

import numpy as np

from kgmi.attention import ascend, best_objective, candidate_mask, gradient, masked_softmax, objective
from kgmi.exact import exact_joint
from kgmi.graph import Dag
from kgmi.joint import PairJoint
from kgmi.kernel import Kernel
from kgmi.paper.experiment import Numbers
from kgmi.paper.shared import population_scores, rivals
from kgmi.process import Process
from kgmi.theory import (
    column_epochs,
    correlation_bound,
    effective_length,
    effective_length_bound,
    frequency_bound,
    frequency_error,
    information_gap,
    information_gaps,
    paper_optimum,
    repaired_suboptimality_bound,
    root_bound,
    suboptimality,
    suboptimality_bound,
    tau_star,
)
from kgmi.theory.examples import cyclic_kernel
from kgmi.types import Attention, Floats, ScoreTable

__all__ = [
    "Points",
    "Trained",
    "gradient_trials",
    "law_trials",
    "processes",
    "root_trials",
    "score_trials",
    "trained",
    "training_trials",
]

Points: TypeAlias = dict[str, list[Numbers]]
Group: TypeAlias = Literal["printed", "condition", "repaired"]

_ROUNDING = 1e-9
_FREE = 1e-9  # scores below this are 0 but for rounding
_LEAST_GAP = 0.002  # of random processes that are trained: Δ of the paper's own graph
_NOISES = ((0.0, False), (0.1, False), (0.24, False), (0.24, True))  # ε as a share of Δ, and whether at its worst


def point(case: str, group: Group, measured: float, bound: float) -> Numbers:
    """One measurement. It is within the bound when it is at most the bound, rounding apart."""
    within = bool(measured <= bound + _ROUNDING * (1e-3 + abs(bound)))
    values = {"measured": float(f"{measured:.6g}"), "bound": float(f"{bound:.6g}")}
    return {"case": case, "group": group, **values, "within": within}


# Processes


def processes(rng: np.random.Generator, n_random: int) -> Iterator[tuple[str, Group, Process]]:
    """Chains and trees, where the theory is right (``repaired``), and other graphs (``printed``)."""
    paper = Kernel.paper()
    yield "chain of 10, cyclic kernel", "repaired", Process(Dag.chain(10), cyclic_kernel(3, slip=0.3))
    yield "order-2 chain of 8, paper's kernel", "repaired", Process(Dag.chain(8, 2), paper)
    yield "paper's graph", "printed", Process(Dag.paper(), paper)
    yield "paper's graph, 2 copies", "printed", Process(Dag.paper().copies(2), paper)
    for k in range(n_random):
        n_states = 2 + k % 3
        tree = Dag.random(10, 1, rng=rng, root_probability=0.1)
        yield f"random tree {k + 1}", "repaired", Process(tree, Kernel.random(n_states, 1, rng=rng))
        kernel = Kernel.random(n_states, 2, rng=rng)
        yield f"random order-2 chain {k + 1}", "repaired", Process(Dag.chain(8, 2), kernel)
        yield f"random graph {k + 1}", "printed", Process(Dag.random(10, 2, rng=rng), kernel)


def _joint(process: Process) -> PairJoint:
    joint = exact_joint(process)
    assert isinstance(joint, PairJoint)  # the kernel is fixed
    return joint


# Kernels, laws and lengths (appendix B)


def law_trials(name: str, group: Group, process: Process) -> Points:
    """Lemmas of appendix B. Those on decay and frequencies are right on trees only."""
    kernel, dag, joint = process.fixed_kernel(), process.dag, _joint(process)
    law, mu = kernel.stationary, kernel.marginal
    marginals = [law.sum(axis=tuple(a for a in range(law.ndim) if a != axis)) for axis in range(law.ndim)]
    carried = np.tensordot(law, kernel.table, axes=law.ndim)
    gamma = kernel.n_states * kernel.min_entry
    least = min(float(kernel.marginal_kernels.min()), float(mu.min()))
    decay = correlation_bound(dag, mu, kernel.spectral_norm)
    excess = np.abs(joint.joint - np.multiply.outer(mu, mu))
    pair = np.unravel_index(int(np.argmax(excess - decay)), excess.shape)
    square, bias = frequency_error(joint, mu)
    bound = frequency_bound(dag, kernel)
    worst = int(np.argmax(square / bound))
    tree: Group = "repaired" if kernel.n_parents == 1 else "printed"
    return {
        "lemma-b1-law": [point(name, "printed", kernel.stationary_residual, 0.0)],
        "lemma-b1-marginals": [point(name, "printed", max(_apart(one, mu) for one in marginals), 0.0)],
        "lemma-b2-stationarity": [point(name, "printed", _apart(carried, mu), 0.0)],
        "lemma-b2-nodes": [point(name, group, max(_apart(one, mu) for one in joint.marginal), 0.0)],
        "lemma-b2-marginals": [
            point(name, "printed", max(_apart(mu @ one, mu) for one in kernel.marginal_kernels), 0.0)
        ],
        "lemma-b3": [point(name, "printed", kernel.spectral_norm, 1 - gamma / kernel.n_states)],
        "lemma-b4": [point(name, "printed", gamma / kernel.n_states, least)],
        "lemma-b5": [
            point(
                name,
                "printed",
                effective_length_bound(dag, kernel.spectral_norm),
                effective_length(dag, kernel.spectral_norm),
            )
        ],
        "lemma-b6": [point(name, tree, float(excess[pair]), float(decay[pair]))],
        "lemma-b7-mean": [point(name, group, float(np.sqrt(bias).max()), 0.0)],
        "lemma-b7-variance": [_subset(name, tree, process, joint)],
        "corollary-b8": [point(name, tree, float(square[worst]), float(bound[worst]))],
    }


def _apart(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).sum() / 2)


def _subset(name: str, group: Group, process: Process, joint: PairJoint) -> Numbers:
    """Lemma B.7 (2) for the second half of the nodes."""
    chosen = np.arange(process.n_nodes // 2, process.n_nodes)
    part = PairJoint(joint.joint[np.ix_(chosen, chosen)], joint.n_rows)
    square, _ = frequency_error(part, process.fixed_kernel().marginal)
    bound = frequency_bound(process.dag, process.fixed_kernel()) * (process.n_nodes / len(chosen)) ** 2
    worst = int(np.argmax(square / bound))
    return point(f"{name}, second half of the nodes", group, float(square[worst]), float(bound[worst]))


# Scores (sections III and IV, appendix C)


def score_trials(name: str, group: Group, process: Process) -> Points:
    """Statements about exact KG-MI: parents, roots, optimum, independent nodes, bias of the labelled estimator."""
    dag, kernel = process.dag, process.fixed_kernel()
    table, plain = (population_scores(process, "kl", guide) for guide in ("stationary", "plain"))
    chi2, uniform = (population_scores(process, "pearson", guide) for guide in ("stationary", "uniform"))
    children = [child for child, parents in enumerate(dag.parents) if parents]
    edges = [(head, child, parent) for child in children for head, parent in enumerate(dag.parents[child])]
    best, maximum = paper_optimum(table, dag), best_objective(table)
    points: Points = {
        "theorem-3": [
            point(f"{name}, node {child + 1}, head {head + 1}", group, other, parent)
            for head, child, parent, other in rivals(table, dag)
        ],
        "property-1-parent": [
            point(name, group, max(abs(float(table[edge] - plain[edge])) for edge in edges), 0.0)
        ],
        "no-loss": [point(name, "printed", abs(best - maximum), 0.0)],
        "lemma-c1": [point(name, "printed", float(np.nanmax(np.abs(chi2 - uniform)[:, children])), 0.0)],
        "tree-principle": [_parent_information(name, plain, dag)],
        "roots-zero": [],
        "property-1-independent": [],
        "property-1-variation": [],
    }
    independent = _independent(process)
    for child in range(1, dag.n_nodes):
        free = independent[child, :child]
        if not dag.parents[child]:
            size, where = float(np.abs(table[:, child, :child]).max()), f"{name}, node {child + 1}"
            points["roots-zero"].append(point(where, "repaired" if free.all() else "printed", size, 0.0))
        if free.any():
            size = float(np.abs(table[:, child, :child][:, free]).max())
            points["property-1-independent"].append(point(f"{name}, node {child + 1}", "printed", size, 0.0))
    if kernel.n_parents > 1:
        apart = np.abs(table[0] - table[1])
        linked = candidate_mask(table)[0] & ~independent
        points["property-1-variation"].append(point(name, "condition", _ROUNDING, float(apart[linked].min())))
    return points


def _independent(process: Process) -> np.ndarray:
    joint = _joint(process)
    product = np.einsum("it,js->ijts", joint.marginal, joint.marginal)
    return np.asarray(np.abs(joint.joint - product).max(axis=(2, 3)) < 1e-12)


def _parent_information(name: str, plain: ScoreTable, dag: Dag) -> Numbers:
    """By how much another candidate has more information than every parent, at the worst child."""
    over = []
    for child, parents in enumerate(dag.parents):
        others = [j for j in range(child) if j not in parents]
        if parents and others:
            over.append(plain[0, child, others].max() - plain[0, child, list(parents)].max())
    tree: Group = "condition" if dag.max_in_degree == 1 else "printed"
    return point(name, tree, float(max(over, default=-1.0)), 0.0)


# Training (theorems 1 and 2)


@dataclass(frozen=True, eq=False)
class Trained:
    """A process whose heads are trained: its exact KL scores, gap Δ and largest score I_max."""

    name: str
    process: Process
    table: ScoreTable
    gap: float
    top: float

    def tau(self, eps_attn: float, eta: float) -> float:
        """τ* of theorem 1."""
        n_heads, n_nodes, _ = self.table.shape
        return tau_star(
            gap=self.gap, max_information=self.top, n_heads=n_heads, n_nodes=n_nodes, eps_attn=eps_attn, rate=eta
        )

    def epochs(self, child: int, eps_attn: float, eta: float, gap: float | None = None) -> float:
        """Epochs of theorem 2 for a column of ``child``; with the gap Δ by default."""
        n_heads, n_nodes, _ = self.table.shape
        return column_epochs(
            child, gap=gap or self.gap, n_heads=n_heads, n_nodes=n_nodes, eps_attn=eps_attn, rate=eta
        )


def _trained(name: str, dag: Dag, kernel: Kernel) -> Trained:
    table = population_scores(Process(dag, kernel))
    return Trained(name, Process(dag, kernel), table, information_gap(table, dag), float(np.nanmax(table)))


def _drawn(name: str, dag: Callable[[], Dag], n_parents: int, rng: np.random.Generator) -> Trained:
    """A random case, drawn again until its gap is not too small."""
    while True:
        case = _trained(name, dag(), Kernel.random(3, n_parents, rng=rng))
        if case.gap >= _LEAST_GAP:
            return case


def trained(rng: np.random.Generator, n_random: int) -> list[Trained]:
    """Chains, trees, the paper's graphs and random ones; weak and strong dependence."""
    paper, step = Kernel.paper(), Kernel([[0.9, 0.1], [0.2, 0.8]])
    cases = [
        _trained("weak chain, 3 nodes", Dag.chain(3), Kernel([[0.55, 0.45], [0.45, 0.55]])),
        _trained("cyclic chain, 4 states, 5 nodes", Dag.chain(5), cyclic_kernel(4)),
        _trained("paper's graph, 5 nodes", Dag.paper(5), paper),
        _trained("2 chains of 2", Dag.chain(2).copies(2), step),
        _trained("paper's graph, 2 × 5 nodes", Dag.paper(5).copies(2), paper),
        _trained("25 chains of 2", Dag.chain(2).copies(25), step),
    ]
    if n_random > 1:
        cases += [
            _trained("cyclic chain, 8 states, 6 nodes", Dag.chain(6), cyclic_kernel(8)),
            _trained("cyclic tree, 6 states, 8 nodes", Dag.random(8, 1, rng=rng), cyclic_kernel(6)),
            _trained("cyclic order-2 chain, 8 states", Dag.chain(6, 2), cyclic_kernel(8, 2)),
            _trained("order-2 chain, paper's kernel", Dag.chain(8, 2), paper),
            _trained("paper's graph, 10 nodes", Dag.paper(10), paper),
            _trained("paper's graph, 2 × 10 nodes", Dag.paper(10).copies(2), paper),
        ]
    for k in range(min(n_random, 2) if n_random > 1 else 0):
        cases.append(_drawn(f"random tree {k + 1}", lambda: Dag.random(8, 1, rng=rng), 1, rng))
        cases.append(_drawn(f"random order-2 chain {k + 1}", lambda: Dag.chain(7, 2), 2, rng))
        cases.append(_drawn(f"random graph {k + 1}", lambda: Dag.random(8, 2, rng=rng), 2, rng))
    return cases


def training_trials(case: Trained, eps_attn: float, eta: float, most: int, rng: np.random.Generator) -> Points:
    """Theorems 1 and 2: trained on disturbed scores for the epochs that they ask for, judged by the true ones.

    The rate is ``eta``, or larger where a run would take over ``most`` epochs: all these epochs go as 1/η.
    """
    points: Points = {"theorem-1": [], "theorem-2-non-root": []}
    table, dag = case.table, case.process.dag
    best = np.where(candidate_mask(table), table, -np.inf).argmax(axis=-1)
    gaps = information_gaps(table)
    columns = [(h, i) for i, parents in enumerate(dag.parents) if parents and i > 1 for h in range(len(table))]
    own = [case.epochs(child, eps_attn, eta, float(gaps[head, child])) for head, child in columns]
    last = case.epochs(dag.n_nodes - 1, eps_attn, eta)
    for share, worst in _NOISES:
        error = share * case.gap
        estimate = _disturbed(table, error, worst, rng)
        words = f"ε = {share:g} Δ{', at its worst' if worst else ''}" if share else "exact scores"
        name = f"{case.name}, ε_attn = {eps_attn:g}, {words}"
        (after,) = _attention_after(estimate, [case.tau(eps_attn, eta)], eta, most)
        *each, longer = _attention_after(estimate, [*own, last], eta, most)
        printed = suboptimality_bound(max_information=case.top, eps_attn=eps_attn, estimation_error=error)
        # The best that L can reach, and not the printed L*, which may lie above it: the kinder reading.
        loss = max(best_objective(table) - objective(table, after), 0.0)
        repaired = repaired_suboptimality_bound(table, dag, eps_attn)
        points["theorem-1"] += [
            point(name, "printed", loss, printed),
            point(name, "repaired", suboptimality(table, longer, dag), repaired),
        ]
        missing = [1 - seen[(*at, best[at])] for at, seen in zip(columns, each, strict=True)]
        if missing:
            points["theorem-2-non-root"].append(point(name, "printed", float(max(missing)), eps_attn))
    return points


def _disturbed(table: ScoreTable, error: float, worst: bool, rng: np.random.Generator) -> ScoreTable:
    """Scores off by at most ``error``: uniformly, or the best candidate down and all others up."""
    if not worst:
        return np.asarray(table + rng.uniform(-error, error, table.shape))
    known = np.where(candidate_mask(table), table, -np.inf)
    best = known == known.max(axis=-1, keepdims=True)
    return np.asarray(table + np.where(best, -error, error))


def _attention_after(table: ScoreTable, epochs: list[float], eta: float, most: int) -> list[Attention]:
    """Attention after each of ``epochs``, in one run."""
    haste = max(1.0, max(epochs) / most)
    wanted = [ceil(e / haste - 1e-6) for e in epochs]
    kept = sorted(set(wanted))
    trace = ascend(table, rate=eta * haste, epochs=max(wanted), stop=0, record_at=kept).trace
    assert trace is not None  # only the limit point has none
    assert trace.attention is not None  # a few dozen small tables
    seen = dict(zip(trace.epochs.tolist(), trace.attention, strict=True))
    return [seen[epoch] for epoch in wanted]


def root_trials(
    case: Trained, eps_attn: float, share: float, eta: float, most: int, rng: np.random.Generator
) -> Points:
    """Theorem 2 at the last root that is drawn alone and the last that is drawn together with an earlier node."""
    roots = [root for root in case.process.dag.roots if root > 1]
    free = [root for root in roots if np.abs(case.table[:, root, :root]).max() <= _FREE]
    tied = [root for root in roots if root not in free]
    error, points = share * case.gap, []
    for root in free[-1:] + tied[-1:]:
        bound = root_bound(root, gap=case.gap, estimation_error=error, eps_attn=eps_attn)
        group: Group = "repaired" if root in free and bound < 1 / root else "printed"
        for worst in (False, True):
            way = "one candidate up, all others down" if worst else "at random"
            name = f"{case.name}, node {root + 1}, ε_attn = {eps_attn:g}, ε = {share:g} Δ {way}"
            noise = _root_noise((len(case.table), root), error, worst, rng)
            alone: ScoreTable = np.full(case.table.shape, np.nan)  # columns are independent of each other
            alone[:, root, :root] = case.table[:, root, :root] + noise
            epochs = case.epochs(root, eps_attn, eta)
            haste = max(1.0, epochs / most)
            run = ascend(alone, rate=eta * haste, epochs=int(epochs / haste), stop=0, record_at=())
            points.append(point(name, group, float(np.abs(run.attention[:, root, :root] - 1 / root).max()), bound))
    return {"theorem-2-root": points}


def _root_noise(shape: tuple[int, int], error: float, worst: bool, rng: np.random.Generator) -> Floats:
    if not worst:
        return rng.uniform(-error, error, shape)
    noise = np.full(shape, -error)
    noise[:, rng.integers(shape[1])] = error
    return noise


# Gradients (appendix D)


def gradient_trials(case: Trained, rng: np.random.Generator) -> Points:
    """Lemmas D.1 to D.3 at random weights Q, with scores off by up to 0.24 Δ."""
    table, dag = case.table, case.process.dag
    mask, n_heads, n_nodes = candidate_mask(table), len(table), dag.n_nodes
    weights = rng.normal(0.0, 1.0, table.shape)
    attention = masked_softmax(weights, mask)
    error = 0.24 * case.gap
    estimate = _disturbed(table, error, False, rng)
    steps = gradient(estimate, attention)
    cell = tuple(np.argwhere(mask)[rng.integers(mask.sum())])
    moved = weights.copy()
    moved[cell] += 1e-5
    slope = (objective(estimate, masked_softmax(moved, mask)) - objective(estimate, attention)) / 1e-5
    points: Points = {
        "lemma-d1": [point(case.name, "printed", abs(slope - float(steps[cell])), 1e-4)],
        "lemma-d2": [],
        "lemma-d3": [],
    }
    best = np.where(mask, table, -np.inf).argmax(axis=-1)
    gaps = information_gaps(table)
    for head in range(n_heads):
        for child in range(2, n_nodes):
            column = attention[head, child, :child]
            if dag.parents[child]:
                top = int(best[head, child])
                others = [j for j in range(child) if j != top and column[j] <= column[top]]
                least = column[top] * (1 - column[top]) * gaps[head, child] / (2 * n_heads * n_nodes)
                points["lemma-d2"] += [
                    point(
                        case.name, "condition", float(least), float(steps[head, child, top] - steps[head, child, j])
                    )
                    for j in others[:1]
                ]
            else:
                free = np.abs(table[:, child, :child]).max() <= _FREE
                spread = float(np.ptp(steps[head, child, :child]))
                bound = 4 * error * float(column.max()) / (n_heads * n_nodes)
                points["lemma-d3"].append(point(case.name, "repaired" if free else "printed", spread, bound))
    return points
