"""Kernels that were lost are found again, and the score never falls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, sample
from kgmi.counts.bits import RowCounts
from kgmi.search.alternate import alternate, pools_of, state_of
from kgmi.search.reopen import reopen
from kgmi.search.simplify import simplify
from kgmi.search.starts import grown, order_inside, own_sets, start_state

from .search_drills import edge_set, hints_of, observations, paper_kernel, plan_for, rows_observed
from .strategies import seeds

NONE = frozenset()
SINGLE = Kernel([[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.3, 0.6, 0.1]])


@settings(max_examples=30, deadline=None)
@given(observed=observations(min_nodes=3, max_nodes=5, max_rows=60, max_states=3, weighted=False), seed=seeds)
def test_never_worse_than_before(observed, seed):
    rng = np.random.default_rng(seed)
    parents = tuple(tuple(rng.permutation(i)[: rng.integers(0, 3)].tolist()) for i in range(observed.n_nodes))
    plan = plan_for(observed)
    sets = own_sets(plan)
    start = state_of(plan, parents, pools_of(plan, parents))
    found = reopen(plan, start, sets, hints_of(sets))
    assert found.score >= start.score
    assert reopen(plan, found, sets, hints_of(sets)).score >= found.score
    assert state_of(plan, found.parents, found.pools, found.together).score == pytest.approx(found.score)


def rows_of_two_kernels(seed, n_rows):
    """Nodes with two parents follow one of two kernels, by turns: no kernel is shared by all of them."""
    rng = np.random.default_rng(seed)
    dag = Dag.random(8, 2, rng=rng, mixed=True, root_probability=0.2)
    single, *pairs = (Kernel.random(3, n, rng=rng).table for n in (1, 2, 2))
    rows = np.zeros((n_rows, 8), dtype=int)
    for child, parents in enumerate(dag.parents):
        table = {0: np.full(3, 1 / 3), 1: single, 2: pairs[child % 2]}[len(parents)]
        steps = np.cumsum(np.broadcast_to(table[tuple(rows[:, p] for p in parents)], (n_rows, 3)), axis=1)
        rows[:, child] = (rng.random(n_rows)[:, None] >= steps[:, :-1]).sum(axis=1)
    return rows


@pytest.mark.parametrize(("seed", "n_rows"), [(7319, 400), (7478, 400), (7426, 150)])
def test_a_new_kernel_that_promises_more_than_it_keeps_is_dropped(seed, n_rows):
    plan = plan_for(rows_observed(rows_of_two_kernels(seed, n_rows)))
    sets = own_sets(plan)
    hints = hints_of(sets)
    state = alternate(plan, start_state(plan, sets, 0), hints, NONE)
    assert reopen(plan, state, sets, hints).score >= state.score


@pytest.mark.parametrize("seed", [7701, 7702, 7703])
def test_a_kernel_that_nobody_follows_any_more_comes_back(seed):
    """Without a kernel for one parent no round can give a node one parent; grown from one of them, it is back."""
    rng = np.random.default_rng(seed)
    dag = Dag.paper_mixed()
    rows = sample(Process(dag, paper_kernel(rng), {1: SINGLE}), 2000, rng=rng)
    plan = plan_for(rows_observed(rows))
    sets = own_sets(plan)
    hints = hints_of(sets)
    lost = tuple(ps if len(ps) == 2 else () for ps in dag.parents)
    stuck = alternate(plan, state_of(plan, lost, pools_of(plan, lost)), hints, NONE)
    assert (0, (3,), 3) not in stuck.pools
    found = reopen(plan, stuck, sets, hints)
    assert edge_set(found.parents) == set(dag.edges)
    assert found.score > stuck.score
    np.testing.assert_allclose(found.pools[0, (3,), 3].table, SINGLE.table, atol=0.08)


def test_a_graph_that_is_right_is_left_alone():
    rng = np.random.default_rng(7704)
    dag = Dag.paper(10)
    plan = plan_for(rows_observed(sample(Process(dag, paper_kernel(rng)), 1000, rng=rng)))
    sets = own_sets(plan)
    hints = hints_of(sets)
    right = simplify(
        plan, alternate(plan, state_of(plan, dag.parents, pools_of(plan, dag.parents)), hints, NONE), hints
    )
    found = reopen(plan, right, sets, hints)
    assert edge_set(found.parents) == set(dag.edges)
    assert found.score == right.score


def shuffled_families(dag, rng):
    """(child, parents), the roles of the parents as they fall."""
    return [(child, tuple(rng.permutation(ps).tolist())) for child, ps in enumerate(dag.parents) if ps]


def test_a_kernel_grows_with_every_family_turned_its_way():
    rng = np.random.default_rng(7705)
    dag, kernel = Dag.random(20, 2, rng=rng), paper_kernel(rng)
    plan = plan_for(rows_observed(sample(Process(dag, kernel), 1000, rng=rng)))
    families = shuffled_families(dag, rng)
    pool, oriented = grown(plan, (0, (3, 3), 3), families)
    assert pool.n_nodes == len(oriented) == 18
    assert oriented[families[0][0]] == families[0][1]  # the first one settles the roles
    turned = [oriented[child] != ps for child, ps in enumerate(dag.parents) if ps]
    assert all(turned) or not any(turned)
    table = kernel.table.swapaxes(0, 1) if turned[0] else kernel.table
    np.testing.assert_allclose(pool.table, table, atol=0.06)
    assert np.abs(pool.table - (kernel.table + kernel.table.swapaxes(0, 1)) / 2).max() > 0.1  # not the mean of both


def test_a_picky_kernel_takes_only_what_it_explains():
    rng = np.random.default_rng(7706)
    dag, kernel = Dag.random(12, 2, rng=rng), paper_kernel(rng)
    rows = sample(Process(dag, kernel), 1000, rng=rng)
    rows = np.concatenate([rows, rng.integers(0, 3, (1000, 2))], axis=1)  # two nodes of noise
    plan = plan_for(rows_observed(rows))
    families = [*shuffled_families(dag, rng), (12, (0, 1)), (13, (2, 3))]
    picky, members = grown(plan, (0, (3, 3), 3), families, picky=True)
    assert set(members) == set(range(2, 12))
    assert picky.n_nodes == 10
    assert grown(plan, (0, (3, 3), 3), families)[0].n_nodes == 12


def test_parents_are_sorted_by_alphabet_so_that_families_share_a_kernel():
    observed = RowCounts(np.zeros((4, 4), dtype=np.int8), (3, 2, 3, 2))
    plan = plan_for(observed)
    assert order_inside(plan, (0, 1)) == (1, 0)
    assert order_inside(plan, (2, 0, 1)) == (1, 0, 2)


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_growing_counts_every_family_once(data):
    observed = data.draw(observations(min_nodes=5, max_nodes=5, same_sizes=True, max_states=3, weighted=False))
    plan = plan_for(observed)
    families = [(child, tuple(data.draw(st.permutations(range(child)))[:2])) for child in (2, 3, 4)]
    size = observed.sizes[0]
    pool, oriented = grown(plan, (0, (size, size), size), families)
    expected = sum(observed.family(child, parents) for child, parents in oriented.items())
    assert {child: set(ps) for child, ps in oriented.items()} == {child: set(ps) for child, ps in families}
    if not pool.symmetric:
        np.testing.assert_allclose(pool.counts, expected)
    assert pool.counts.sum() == pytest.approx(expected.sum())
