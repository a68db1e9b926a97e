"""Every method on rows drawn from a network."""

from __future__ import annotations

import numpy as np

from kgmi.bench.compare import Outcome, Sample, Tell, compare_samples
from kgmi.bench.launch import Problem
from kgmi.bench.networks.sampling import sample_network
from kgmi.bench.plan import Plan
from kgmi.errors import SettingError
from kgmi.interchange.network import Network, Node, network_of

__all__ = ["compare_methods", "most_parents"]


def most_parents(network: Network, told: int | None = None) -> int:
    """K for this network: as told, or its largest in-degree; peers take 0 for no limit at all, so at least 1."""
    if told is not None and told < 1:
        raise SettingError(f"the most parents must be at least 1, got {told}")
    return told or max(network.dag.max_in_degree, 1)


def compare_methods(
    network: Network,
    plan: Plan,
    n_parents: int | None = None,
    *,
    tell: Tell | None = None,
    module: str = "kgmi.bench.networks",
) -> tuple[Outcome, ...]:
    """Run every installed method of the plan on samples of the network, one of each size from each seed.

    ``n_parents`` is the most parents that a method may give a node; by default the largest in-degree of the
    network. Where the order is to be learned, the columns are shuffled by the seed. ``module`` is what the
    processes run; one that calls :func:`kgmi.bench.worker.work` with other methods knows those.
    """
    most = most_parents(network, n_parents)

    def draw(n_rows: int) -> list[Sample]:
        samples = []
        for seed in plan.seeds:
            rows = sample_network(network, n_rows, rng=seed)
            one = Sample(seed, Problem(rows, n_states=network.n_states, n_parents=most), network.dag)
            shuffler = np.random.default_rng([seed, 1])  # other numbers than those of the rows
            samples.append(one.without_order(shuffler) if plan.order == "learn" else one)
        return samples

    return compare_samples(network.name, draw, plan, _warm_up(), module, tell)


def _warm_up() -> Problem:
    """A few rows of a small network, for the first call of a process: it loads and compiles, and is not timed."""
    rain = Node("rain", ("no", "some", "much"), (), np.array([0.5, 0.3, 0.2]))
    sprinkler = Node("sprinkler", ("off", "on"), ("rain",), np.array([[0.5, 0.5], [0.8, 0.2], [0.9, 0.1]]))
    wet = Node("wet", ("no", "yes"), ("rain", "sprinkler"), np.array([[[0.9, 0.1], [0.2, 0.8]]] * 3))
    network = network_of("warm-up", [rain, sprinkler, wet])
    return Problem(sample_network(network, 200, rng=0), n_states=network.n_states, n_parents=2)
