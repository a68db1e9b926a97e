"""Kernels that follow from that of the most parents, and the last changes of single nodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, learn, sample
from kgmi.kernel.tunables import random_tunables
from kgmi.search.alternate import pools_of, state_of
from kgmi.search.implied import implied_pools
from kgmi.search.polish import polish
from kgmi.search.pools import fit_of

from .search_drills import graphs, plan_for, rows_observed, small_data

KERNEL = Kernel.paper(random_tunables(np.random.default_rng(7)))
MIXED = Dag.paper_mixed()


def observed_of(process, n_rows=3_000):
    return rows_observed(sample(process, n_rows, rng=11))


def test_the_missing_parent_is_averaged_out():
    plan = plan_for(observed_of(Process(MIXED, KERNEL)), 2)
    pools = pools_of(plan, MIXED.parents)
    learned = Kernel(pools[0, (3, 3), 3].table)
    turned = Kernel(learned.table.transpose(1, 0, 2))
    tables = [pool.table for pool in implied_pools(plan, pools)[0, (3,), 3]]
    assert len(tables) == 4  # either parent may be missing, and either may be the first
    for kernel in (learned, turned):
        for keep in (0, 1):
            other = kernel.stationary.sum(axis=0)  # the same for both places
            plain = np.einsum("abc,b->ac" if keep == 0 else "bac,b->ac", kernel.table, other)
            assert any(np.allclose(plain, table, atol=1e-9) for table in tables)


def test_nodes_with_one_parent_follow_the_kernel_of_two_where_the_data_agree():
    plan = plan_for(observed_of(Process(MIXED, KERNEL)), 2)
    one = pools_of(plan, MIXED.parents)[0, (3,), 3]
    assert one.implied is not None
    assert one.table == pytest.approx(KERNEL.marginalise(1).table, abs=0.05)
    assert one.cost(plan.penalty) == one.implied < plan.penalty.of(one.counts)


def test_a_kernel_of_its_own_is_learned_where_the_data_do_not():
    own = Kernel([[0.1, 0.1, 0.8], [0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])
    plan = plan_for(observed_of(Process(MIXED, KERNEL, degree_kernels={1: own})), 2)
    one = pools_of(plan, MIXED.parents)[0, (3,), 3]
    assert one.implied is None
    assert one.table == pytest.approx(own.table, abs=0.05)


def test_one_node_alone_is_not_enough():
    parents = tuple(ps if len(ps) != 1 or node == 6 else () for node, ps in enumerate(MIXED.parents))
    plan = plan_for(observed_of(Process(MIXED, KERNEL)), 2)
    assert [len(ps) for ps in parents].count(1) == 1
    assert pools_of(plan, parents)[0, (3,), 3].implied is None


def test_the_result_says_what_is_implied():
    learned = learn(sample(Process(MIXED, KERNEL), 3_000, rng=12), n_parents=2)
    assert learned.dag.parents == MIXED.parents
    assert [(one.n_parents, one.implied) for one in learned.kernels] == [(2, False), (1, True)]
    assert "One implied kernel for the" in learned.status
    assert "which is that of 2 parents with the missing ones averaged out" in learned.status


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_polishing_never_lowers_the_score_and_ends_where_no_better_parents_are_suggested(data):
    observed, n_parents = data.draw(small_data(max_nodes=4, max_states=2))
    plan = plan_for(observed, n_parents)
    parents = data.draw(graphs(observed.n_nodes, n_parents))
    state = state_of(plan, parents, pools_of(plan, parents))
    found = polish(plan, state)
    assert found.score >= state.score
    again = state_of(plan, found.parents, pools_of(plan, found.parents), found.together)
    assert found is state or found.score == pytest.approx(again.score)
    assert polish(plan, found) is found
    assert all(np.isfinite(fit_of(pool)) for pool in found.pools.values())


def test_polishing_turns_a_node_that_has_bent_the_kernel():
    dag = Dag.paper(5)
    plan = plan_for(observed_of(Process(dag, KERNEL), 300), 2)
    wrong = (*dag.parents[:4], dag.parents[4][::-1])  # one of three nodes, its parents the wrong way round
    found = polish(plan, state_of(plan, wrong, pools_of(plan, wrong))).parents
    assert found in (dag.parents, tuple(parents[::-1] for parents in dag.parents))  # roles have no names
