"""Published networks that nobody here wrote: those that pgmpy brings along. make test-bench installs it."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files

import numpy as np
import pytest

import kgmi
from kgmi.bench import Plan
from kgmi.bench.networks import METHODS, compare_methods, read_bif, sample_network
from kgmi.table import Table

pytestmark = pytest.mark.peers

SEEDS = (701, 702, 703)


@cache
def network_named(name):
    with as_file(files("pgmpy") / "utils" / "example_models" / f"{name}.bif.gz") as path:
        return read_bif(path)


def table_of(network, n_rows, seed):
    """Rows with the states declared; columns that have one state in all rows are left out, as in the benchmark."""
    rows = sample_network(network, n_rows, rng=seed)
    varied = np.flatnonzero((rows != rows[0]).any(axis=0))
    alphabets = tuple(network.alphabets[node] for node in varied)
    states = tuple(dict.fromkeys(state for alphabet in alphabets for state in alphabet))
    own = None if len(set(alphabets)) == 1 else alphabets
    return Table(rows[:, varied], tuple(network.names[node] for node in varied), states, own)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_pedigree_of_441_pigs_from_200_rows(seed):
    network = network_named("pigs")
    learned = kgmi.learn(table_of(network, 200, seed), n_parents=2)
    found, true = set(learned.dag.edges), set(network.dag.edges)
    assert 2 * len(found & true) / (len(found) + len(true)) >= 0.998
    (kernel,) = learned.kernels
    assert kernel.symmetric
    law = next(table for table in network.tables if table.ndim == 3)  # Mendel's, as the file has it
    assert np.abs(kernel.table - law).max() <= 0.02


@pytest.mark.parametrize("name", ["child", "insurance"])
def test_no_worse_than_hill_climbing_where_kernels_are_not_shared(name):
    network = network_named(name)
    learned = kgmi.learn(table_of(network, 300, SEEDS[0]), n_parents=network.dag.max_in_degree)
    assert "Sharing does not hold: a kernel for each node describes the data better" in learned.status
    methods = tuple(method for method in METHODS if method.key in ("kgmi", "pybnesian-hc-order"))
    outcomes = compare_methods(network, Plan(rows=(300,), seeds=SEEDS, methods=methods))
    scores = {outcome.method.key: np.mean([score.f1 for score in outcome.scores]) for outcome in outcomes}
    assert scores["kgmi"] >= scores["pybnesian-hc-order"]
