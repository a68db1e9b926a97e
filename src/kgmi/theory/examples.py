"""Counter-examples to statements of the paper, as small as we know them, each recomputed from its process.

A statement says that some value is at most a bound; an example computes both. The ledger
(:mod:`kgmi.theory.ledger`) holds the figures, and a test compares.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor

import numpy as np

from kgmi.attention import ascend, best_objective, candidate_mask, gradient, masked_softmax, objective
from kgmi.exact import exact_joint
from kgmi.graph import Dag
from kgmi.guides import scores
from kgmi.joint import PairJoint
from kgmi.kernel import Kernel
from kgmi.process import Process
from kgmi.theory.bounds import (
    column_epochs,
    information_gap,
    paper_optimum,
    root_bound,
    suboptimality_bound,
    tau_star,
)
from kgmi.theory.mixing import correlation_bound, frequency_bound, frequency_error
from kgmi.types import Floats, ScoreTable

__all__ = ["EXAMPLES", "cyclic_kernel", "frequency_error_of_copies", "recompute", "scores_of", "two_states"]

RATE = 10.0  # η of the paper's experiments


def two_states(p00: float, p01: float, p10: float, p11: float) -> Kernel:
    """Kernel of two states and two parents from P(1 | s_1, s_2)."""
    ones = np.array([[p00, p01], [p10, p11]])
    return Kernel(np.stack([1 - ones, ones], axis=-1))


def cyclic_kernel(n_states: int, n_parents: int = 1, slip: float = 0.03) -> Kernel:
    """Nearly deterministic kernel: the state after that of the last parent; all states slip, others act a little.

    Information is then above 1 nat, which the paper's own kernel (0.02 nats) is far from.
    """
    step = np.roll(np.eye(n_states), 1, axis=1) * (1 - slip) + slip / n_states
    weights = [0.15 / max(n_parents - 1, 1)] * (n_parents - 1) + [0.85 if n_parents > 1 else 1.0]
    return Kernel.chain(step, weights)


def scores_of(process: Process, divergence: str = "kl", guide: str = "stationary") -> ScoreTable:
    """Exact KG-MI of a process."""
    return scores(exact_joint(process), process.kernel, divergence, guide)


THREE = Dag([[], [], [0, 1]])  # two roots and their child: the shortest order-2 chain
FOUR = Dag([[], [], [0, 1], [0, 2]])  # the smallest graph with two parents that is no order-2 chain
FLIP = two_states(0.8, 0.1, 0.9, 0.2)  # P(1 | s_1, s_2) = .8 + .1 s_1 − .7 s_2; μ = (½, ½)


def _joint(process: Process) -> PairJoint:
    joint = exact_joint(process)
    assert isinstance(joint, PairJoint)  # the kernel is fixed
    return joint


def _no_positive_gap() -> tuple[float, float]:
    process = Process(Dag.chain(4, 2), two_states(0.1, 0.1, 0.9, 0.9))
    return process.fixed_kernel().marginal_distance, max(information_gap(scores_of(process), process.dag), 0.0)


def _equal_heads() -> tuple[float, float]:
    kernel = two_states(0.1, 0.1, 0.9, 0.9)
    found = scores_of(Process(THREE, kernel))[:, 2, 1]
    return kernel.marginal_distance, float(abs(found[0] - found[1]))


def _not_information() -> tuple[float, float]:
    process = Process(FOUR, FLIP)
    guided, plain = (scores_of(process, guide=guide)[0, 3, 0] for guide in ("stationary", "plain"))
    return float(abs(guided - plain)), 0.0


def _one_candidate() -> tuple[float, float]:
    """By how much both heads of node 3 prefer root 2 to root 1, with χ²; the smaller of the two."""
    column = scores_of(Process(THREE, two_states(0.2, 0.8, 0.3, 0.9)), "pearson")[:, 2, :2]
    return float((column[:, 1] - column[:, 0]).min()), 0.0


def _loss_in_optimality() -> tuple[float, float]:
    table = scores_of(Process(THREE, FLIP))
    return paper_optimum(table, THREE), best_objective(table)


def _loss_on_paper_graph() -> tuple[float, float]:
    process = Process(Dag.paper(), Kernel.paper())
    table = scores_of(process)
    return paper_optimum(table, process.dag), best_objective(table)


def _trained(process: Process, eps_attn: float, rate: float, *, longer: bool) -> tuple[float, float]:
    """Loss L* − L after τ*, or after the epochs of theorem 2, and the printed bound I_max ε_attn."""
    table = scores_of(process)
    largest = float(np.nanmax(table))
    sizes = {"n_heads": len(table), "n_nodes": process.n_nodes}
    gap = information_gap(table, process.dag)
    if longer:
        epochs = column_epochs(process.n_nodes - 1, gap=gap, eps_attn=eps_attn, rate=rate, **sizes)
    else:
        epochs = tau_star(gap=gap, max_information=largest, eps_attn=eps_attn, rate=rate, **sizes)
    attention = ascend(table, rate=rate, epochs=ceil(epochs), stop=0, record_at=()).attention
    bound = suboptimality_bound(max_information=largest, eps_attn=eps_attn, estimation_error=0.0)
    return best_objective(table) - objective(table, attention), bound


def _negative_scores() -> tuple[float, float]:
    return _trained(Process(Dag.chain(3), cyclic_kernel(3, slip=1e-30)), 0.5, 0.001, longer=False)


def _negative_scores_longer() -> tuple[float, float]:
    return _trained(Process(Dag.chain(3), cyclic_kernel(3, slip=1e-30)), 0.3, 0.001, longer=True)


def _too_few_epochs() -> tuple[float, float]:
    return _trained(Process(Dag.chain(3), Kernel([[0.4, 0.6], [0.6, 0.4]])), 0.01, RATE, longer=False)


def _unreachable_optimum() -> tuple[float, float]:
    table = scores_of(Process(THREE, FLIP))
    bound = suboptimality_bound(max_information=float(np.nanmax(table)), eps_attn=0.1, estimation_error=0.0)
    return paper_optimum(table, THREE) - best_objective(table), bound


def _ratio_to_bound(copies: int) -> float:
    """τ* over the measured stopping epoch, for copies of the paper's graph at ε_attn = 0.1."""
    process = Process(Dag.paper().copies(copies), Kernel.paper())
    table = scores_of(process)
    children = np.array([bool(parents) for parents in process.dag.parents])
    wait_for = np.broadcast_to(children, (len(table), len(children)))
    run = ascend(table, rate=RATE, epochs=10**6, stop=0.1, wait_for=wait_for, record_at=())
    gap, largest = information_gap(table, process.dag), float(np.nanmax(table))
    sizes = {"n_heads": len(table), "n_nodes": process.n_nodes}
    return tau_star(gap=gap, max_information=largest, eps_attn=0.1, rate=RATE, **sizes) / run.epochs


def _not_tight() -> tuple[float, float]:
    return _ratio_to_bound(4), _ratio_to_bound(1)


def _slower_with_larger_gap() -> tuple[float, float]:
    """Epochs until L* − L falls to a tenth: Pearson, whose Δ is larger, and Neyman, whose Δ is smaller."""
    process, epochs = Process(Dag.paper(), Kernel.paper()), []
    for name in ("pearson", "neyman"):
        trace = ascend(scores_of(process, name), rate=RATE, epochs=2_000, stop=0, record_at=range(2_001)).trace
        assert trace is not None  # it was asked for
        rest = trace.best_objective - trace.objective
        epochs.append(float(trace.epochs[np.flatnonzero(rest <= 0.1 * rest[0])[0]]))
    return epochs[0], epochs[1]


def _root_epochs(table: ScoreTable, root: int, gap: float, eps_attn: float) -> int:
    n_heads, n_nodes, _ = table.shape
    return floor(column_epochs(root, gap=gap, n_heads=n_heads, n_nodes=n_nodes, eps_attn=eps_attn, rate=RATE))


def _roots_together() -> tuple[float, float]:
    dag, root = THREE.copies(2), 4
    table = scores_of(Process(dag, FLIP))
    epochs = _root_epochs(table, root, information_gap(table, dag), 0.1)
    attention = ascend(table, rate=RATE, epochs=epochs, stop=0, record_at=()).attention
    return float(np.abs(attention[:, root, :root] - 1 / root).max()), 0.0


def _roots_with_error() -> tuple[float, float]:
    dag, root = Dag.chain(2).copies(10), 18
    table = scores_of(Process(dag, Kernel([[0.9, 0.1], [0.2, 0.8]])))
    gap = information_gap(table, dag)
    error = 0.045 * gap
    estimate = np.full(table.shape, np.nan)
    estimate[0, root, :root] = -error
    estimate[0, root, 0] = error
    run = ascend(estimate, rate=RATE, epochs=_root_epochs(table, root, gap, 0.1), stop=0, record_at=())
    bound = root_bound(root, gap=gap, estimation_error=error, eps_attn=0.1)
    return float(np.abs(run.attention[0, root, :root] - 1 / root).max()), bound


def _root_scores() -> tuple[float, float]:
    return float(np.abs(scores_of(Process(THREE, FLIP))[:, 1, 0]).max()), 0.0


def _root_scores_of_copies() -> tuple[float, float]:
    process = Process(Dag.paper().copies(2), Kernel.paper())
    return float(np.abs(scores_of(process)[:, 11, 10]).max()), 0.0


def _copies_change_gap() -> tuple[float, float]:
    one, two = (information_gap(scores_of(Process(dag, FLIP)), dag) for dag in (THREE, THREE.copies(2)))
    return one, two


def _wrong_parent() -> tuple[float, float]:
    column = scores_of(Process(FOUR, FLIP))[0, 3, :3]
    return float(column[1]), float(column[0])


def _surplus_head() -> tuple[float, float]:
    """Head 2 at a node with the one parent 1: its score of root 2, which is no parent, and of the parent."""
    column = scores_of(Process(Dag([[], [], [0]]), FLIP))[1, 2, :2]
    return float(column[1]), float(column[0])


def _node_law() -> tuple[float, float]:
    process = Process(FOUR, two_states(0.2, 0.1, 0.9, 0.1))
    return float(np.abs(_joint(process).marginal[3] - process.fixed_kernel().marginal).sum() / 2), 0.0


def _node_law_of_paper() -> tuple[float, float]:
    process = Process(Dag.paper(), Kernel.paper())
    away = np.abs(_joint(process).marginal - process.fixed_kernel().marginal).sum(axis=1) / 2
    return float(away.max()), 0.0


def _joint_law() -> tuple[float, float]:
    kernel = two_states(0.2, 0.5, 0.3, 0.6)
    excess = np.abs(_joint(Process(THREE, kernel)).joint[0, 1] - np.outer(kernel.marginal, kernel.marginal))
    return float(excess[1, 1]), float(correlation_bound(THREE, kernel.marginal, kernel.spectral_norm)[0, 1, 1, 1])


def frequency_error_of_copies(process: Process, copies: int) -> Floats:
    """E (μ̂(s) − μ(s))² in independent copies: the variance of one over their number, and its bias as it is."""
    square, bias = frequency_error(_joint(process), process.fixed_kernel().marginal)
    return np.asarray((square - bias) / copies + bias)


def _frequencies(process: Process, copies: int, state: int) -> tuple[float, float]:
    bound = frequency_bound(process.dag, process.fixed_kernel())[state] / copies
    return float(frequency_error_of_copies(process, copies)[state]), float(bound)


def _frequencies_of_four() -> tuple[float, float]:
    return _frequencies(Process(FOUR, two_states(0.1, 0.1, 0.9, 0.1)), 2_500, 1)


def _frequencies_of_paper() -> tuple[float, float]:
    return _frequencies(Process(Dag.paper(), Kernel.paper()), 100_000, 0)


def _frequency_mean() -> tuple[float, float]:
    process = Process(FOUR, two_states(0.1, 0.1, 0.9, 0.1))
    return float(np.abs(_joint(process).marginal.mean(axis=0) - process.fixed_kernel().marginal).max()), 0.0


def _uniform_parents() -> tuple[float, float]:
    process = Process(THREE, FLIP)
    guided, uniform = (scores_of(process, "pearson", guide)[0, 2, 0] for guide in ("stationary", "uniform"))
    return float(abs(guided - uniform)), 0.0


def _uniform_parents_of_paper() -> tuple[float, float]:
    process = Process(Dag.paper(), Kernel.paper())
    guided, uniform = (scores_of(process, "pearson", guide) for guide in ("stationary", "uniform"))
    children = [child for child, parents in enumerate(process.dag.parents) if parents]
    return float(np.nanmax(np.abs(guided - uniform)[:, children])), 0.0


def _kappa() -> tuple[float, float]:
    kernel, error = Kernel([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]), 0.1
    mu = kernel.marginal
    weight = (mu[:, None] * kernel.table**2).sum(axis=0)  # Σ_s π(s'|s) P(s', s) of a child and its parent
    return float(abs((weight * (1 / (mu + error / 4) - 1 / mu)).sum())), error


def _root_gradient() -> tuple[float, float]:
    table = scores_of(Process(THREE.copies(2), FLIP))
    steps = gradient(table, masked_softmax(np.zeros(table.shape), candidate_mask(table)))[:, 4, :4]
    return float(np.ptp(steps, axis=1).max()), 0.0


EXAMPLES: dict[str, Callable[[], tuple[float, float]]] = {
    "no-positive-gap": _no_positive_gap,
    "equal-heads": _equal_heads,
    "not-information": _not_information,
    "one-candidate": _one_candidate,
    "loss-in-optimality": _loss_in_optimality,
    "loss-on-paper-graph": _loss_on_paper_graph,
    "negative-scores": _negative_scores,
    "negative-scores-longer": _negative_scores_longer,
    "too-few-epochs": _too_few_epochs,
    "unreachable-optimum": _unreachable_optimum,
    "not-tight": _not_tight,
    "slower-with-larger-gap": _slower_with_larger_gap,
    "roots-together": _roots_together,
    "roots-with-error": _roots_with_error,
    "root-scores": _root_scores,
    "root-scores-of-copies": _root_scores_of_copies,
    "copies-change-gap": _copies_change_gap,
    "wrong-parent": _wrong_parent,
    "surplus-head": _surplus_head,
    "node-law": _node_law,
    "node-law-of-paper": _node_law_of_paper,
    "joint-law": _joint_law,
    "frequencies-of-four": _frequencies_of_four,
    "frequencies-of-paper": _frequencies_of_paper,
    "frequency-mean": _frequency_mean,
    "uniform-parents": _uniform_parents,
    "uniform-parents-of-paper": _uniform_parents_of_paper,
    "kappa": _kappa,
    "root-gradient": _root_gradient,
}
"""Counter-examples by name: each computes the value that a statement bounds, and the bound."""


def recompute(name: str) -> tuple[float, float]:
    """The value that a statement bounds and its bound, in the counter-example ``name``."""
    return EXAMPLES[name]()
