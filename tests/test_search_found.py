"""From rows, or an exact law, to the graph and its kernels: all steps of the search together."""

from __future__ import annotations

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, sample
from kgmi.candidates import candidate_sets
from kgmi.search import discover
from kgmi.search.alternate import alternate, pools_of, state_of
from kgmi.search.pools import mixed_with_noise
from kgmi.search.starts import own_sets

from . import brute
from .search_drills import edge_set, hints_of, law_observed, paper_kernel, plan_for, rows_observed, search

NONE = frozenset()


@pytest.mark.parametrize("seed", range(7501, 7507))
def test_the_papers_graph_is_found_from_rows_alone(seed):
    rng = np.random.default_rng(seed)
    dag, kernel = Dag.paper(10), paper_kernel(rng)
    plan = plan_for(rows_observed(sample(Process(dag, kernel), 1000, rng=rng)))
    found = search(plan)
    assert edge_set(found.parents) == set(dag.edges)
    assert found.together[1] == (0,)  # the two roots are drawn together from the stationary law
    pool = found.pools[0, (3, 3), 3]
    assert pool.n_nodes == 8
    mirrored = [kernel.table, kernel.table.swapaxes(0, 1)]  # which role is the first is not told by the rows
    assert min(np.abs(pool.table - table).max() for table in mirrored) < 0.1
    again = alternate(plan, found, hints_of(own_sets(plan)), NONE)  # settled: a fixed point
    assert found.settled
    assert again.settled
    assert (again.parents, again.together) == (found.parents, found.together)
    assert again.score == found.score


def test_unordered_parents_of_mendels_law_are_found():
    rng = np.random.default_rng(7511)
    dag = Dag([(), (), (), (), (0, 1), (2, 3), (1, 2), (4, 5), (0, 6), (4, 6)], [(i,) for i in range(4)])
    plan = plan_for(rows_observed(sample(Process(dag, Kernel.mendelian()), 300, rng=rng)))
    found = search(plan)
    assert edge_set(found.parents) == set(dag.edges)
    pool = found.pools[0, (3, 3), 3]
    assert pool.symmetric
    np.testing.assert_allclose(pool.table, Kernel.mendelian().table, atol=0.06)


def test_in_degrees_are_mixed_and_each_has_its_kernel():
    rng = np.random.default_rng(7512)
    dag, pair = Dag.paper_mixed(), paper_kernel(rng)
    single = Kernel([[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.3, 0.6, 0.1]])
    rows = sample(Process(dag, pair, {1: single}), 3000, rng=rng)
    found = search(plan_for(rows_observed(rows)), n_starts=3)
    assert edge_set(found.parents) == set(dag.edges)
    assert found.pools[0, (3,), 3].n_nodes == sum(len(ps) == 1 for ps in dag.parents)
    np.testing.assert_allclose(found.pools[0, (3,), 3].table, single.table, atol=0.05)


def test_exact_laws_are_searched_like_rows():
    rng = np.random.default_rng(7513)
    dag = Dag([(), (), (0, 1), (1, 2), (0, 3)])
    for _ in range(3):
        kernel = paper_kernel(rng)
        plan = plan_for(law_observed(brute.full_table(Process(dag, kernel))), degrees=(2,))
        found = search(plan)
        assert edge_set(found.parents) == set(dag.edges)
        table = found.pools[0, (3, 3), 3].table
        assert min(np.abs(table - t).max() for t in (kernel.table, kernel.table.swapaxes(0, 1))) < 1e-9


@pytest.mark.parametrize("known", [{}, {2: Kernel.paper().table}])
def test_required_edges_are_in_the_result_even_where_the_rows_say_nothing(known):
    for seed in range(7531, 7534):
        observed = rows_observed(np.random.default_rng(seed).integers(0, 3, (60, 6)))
        masked = candidate_sets(6, required=[(1, 4), (0, 5)])
        found = discover(plan_for(observed, candidates=masked, known=known)).state
        assert 1 in found.parents[4]
        assert 0 in found.parents[5]


def test_the_whole_search_is_never_worse_than_its_start():
    for seed in range(7541, 7546):
        rng = np.random.default_rng(seed)
        process = Process(Dag.random(8, 2, rng=rng, mixed=True), Kernel.random(3, 2, rng=rng))
        found = discover(plan_for(rows_observed(sample(process, 100, rng=rng))), "shared")
        chance = 0.0 if any(found.state.parents) else np.log(100)  # edges that may be chance are left out
        assert found.state.score >= found.start_score - chance


def known_plan(rows, error, **more):
    return plan_for(rows_observed(rows), known={2: Kernel.paper().table}, error=error, **more)


def noisy_rows(error, seed):
    """Every node is drawn from its parents as they are read; a share of the readings is random."""
    table = mixed_with_noise(Kernel.paper().table, error)
    return sample(Process(Dag.paper(10), Kernel(table)), 3000, rng=seed)


@pytest.mark.parametrize("error", [0.0, 0.05, 0.2])
def test_the_rate_of_errors_is_estimated_with_a_known_kernel(error):
    rows, dag = noisy_rows(error, 7514), Dag.paper(10)
    plan = known_plan(rows, None, degrees=(0, 2))
    empty = state_of(plan, ((),) * 10, pools_of(plan, ((),) * 10))
    found = alternate(plan, empty, [[] for _ in range(10)], NONE)
    assert found.parents == dag.parents  # the known kernel tells the roles too
    pool = found.pools[0, (3, 3), 3]
    assert pool.known
    assert pool.n_nodes == 8
    assert pool.error == pytest.approx(error, abs=0.02)
    np.testing.assert_array_equal(pool.table, Kernel.paper().table)


def test_the_estimated_rate_of_errors_is_the_most_likely_one():
    plan = known_plan(noisy_rows(0.1, 7515), None, degrees=(0, 2))
    pool = pools_of(plan, Dag.paper(10).parents)[0, (3, 3), 3]

    def likelihood(error):
        return float((pool.counts * np.log(mixed_with_noise(pool.table, error))).sum())

    assert all(likelihood(pool.error) >= likelihood(e) for e in np.linspace(0, 0.5, 101))
    assert 0 <= pools_of(plan, ((),) * 10)[0, (3, 3), 3].error <= 0.1  # nothing to estimate it from: a guess
    assert pools_of(known_plan(noisy_rows(0.1, 7515), 0.3), Dag.paper(10).parents)[0, (3, 3), 3].error == 0.3


def test_known_errors_are_no_part_of_the_learned_kernel():
    rows, clean = noisy_rows(0.15, 7516), Kernel.paper().table
    parents = Dag.paper(10).parents
    tables = [
        pools_of(plan_for(rows_observed(rows), error=error), parents)[0, (3, 3), 3].table for error in (0.15, 0.0)
    ]
    assert np.abs(tables[0] - clean).max() < np.abs(tables[1] - clean).max()
