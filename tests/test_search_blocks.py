"""Roots that are drawn together: their laws against the stationary law, and found from rows."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, sample
from kgmi.candidates import candidate_sets
from kgmi.counts.bits import RowCounts
from kgmi.search.blocks import best_block, block_laws, still_open, together_gain
from kgmi.search.pools import Pool

from . import brute, plain_guides
from .search_drills import paper_kernel, plan_for, rows_observed, search


def pools_with(kernel, *, symmetric=False, known=False):
    table = kernel.table
    key = (0, (kernel.n_states,) * kernel.n_parents, kernel.n_states)
    return {key: Pool(np.zeros(table.shape), table, 4, symmetric, known)}


def random_rows(n_states, n_nodes=5, n_rows=60, seed=7601):
    rng = np.random.default_rng(seed)
    return rows_observed(rng.integers(0, n_states, (n_rows, n_nodes)), n_states)


@pytest.mark.parametrize("n_parents", [2, 3])
def test_laws_are_those_of_the_stationary_law_for_every_order_of_the_roles(n_parents):
    kernel = Kernel.random(2, n_parents, rng=7602)
    found = block_laws(plan_for(random_rows(2), n_parents), pools_with(kernel))
    assert set(found) == {(0, (2,) * size, 2) for size in range(1, n_parents)}
    orders = list(permutations(range(n_parents)))
    for (_, earlier, _), laws in found.items():
        size = len(earlier)
        assert len(laws) == len(orders)
        for order, law in zip(orders, laws, strict=True):
            stationary = brute.stationary(kernel.table.transpose(*order, n_parents))
            joint = stationary.sum(axis=tuple(range(size + 1, n_parents)))
            np.testing.assert_allclose(law, joint / joint.sum(axis=-1, keepdims=True), atol=1e-9)


@pytest.mark.parametrize("flag", ["symmetric", "known"])
def test_roles_that_are_told_or_do_not_matter_leave_one_law(flag):
    laws = block_laws(plan_for(random_rows(2), 3), pools_with(Kernel.random(2, 3, rng=7603), **{flag: True}))
    assert {len(earlier): len(one) for (_, earlier, _), one in laws.items()} == {1: 1, 2: 1}


def test_where_there_is_no_such_law_nobody_is_drawn_together():
    kernel = Kernel.random(2, 2, rng=7604)
    observed = random_rows(2)
    assert block_laws(plan_for(observed, 2), {}) == {}
    assert block_laws(plan_for(observed, 3), pools_with(kernel)) == {}  # nobody has three parents yet
    assert block_laws(plan_for(observed, 1), pools_with(Kernel.random(2, 1, rng=1))) == {}
    assert block_laws(plan_for(random_rows(3), 2), pools_with(Kernel.mendelian(), symmetric=True)) == {}
    mixed = {(0, (2, 3), 2): Pool(np.zeros((2, 3, 2)), np.full((2, 3, 2), 0.5), 4, False, False)}
    assert block_laws(plan_for(observed, 2), mixed) == {}  # the child's alphabet is not that of its parents


def test_a_root_of_another_alphabet_is_drawn_alone():
    kernel = Kernel.random(2, 2, rng=7604)
    observed = random_rows(2)
    plan = plan_for(RowCounts(observed.codes, observed.sizes, alphabets=(2, 5, 2, 2, 5)), 2)
    laws = block_laws(plan, pools_with(kernel))
    assert set(laws) == {(0, (2,), 2)}
    assert best_block(plan, laws, 3, [(0,), (1,), (2,)])[1] in {(0,), (2,)}
    assert best_block(plan, laws, 3, [(1,)]) is None
    assert best_block(plan, laws, 4, [(0,), (1,), (2,)]) is None
    assert together_gain(plan, laws, 4, (1,)) == -math.inf


def test_the_gain_is_that_of_the_law_that_suits_best_less_the_choice_of_one():
    kernel = Kernel.random(3, 2, rng=7605)
    observed = random_rows(3)
    plan = plan_for(observed, 2)
    laws = block_laws(plan, pools_with(kernel))
    gains = [plain_guides.gain(observed.codes, observed.sizes, None, law, (1,), 3) for law in laws[0, (3,), 3]]
    assert len(gains) == 2
    assert together_gain(plan, laws, 3, (1,)) == pytest.approx(max(gains) - math.log(2))
    assert together_gain(plan, laws, 3, (0, 1)) == -math.inf  # a block of three has no law


def test_the_best_block_is_the_best_of_those_that_have_room():
    kernel = Kernel.random(2, 3, rng=7606)
    plan = plan_for(random_rows(2, n_nodes=7), 3)
    laws = block_laws(plan, pools_with(kernel))
    blocks = [(0,), (1, 2), (3,), (5, 4, 0)]
    found = best_block(plan, laws, 6, blocks)
    open_to = blocks[:3]  # three are all that a block can hold
    gains = {block: together_gain(plan, laws, 6, block) for block in open_to}
    assert found[1] == max(gains, key=gains.get)
    assert found[0] == pytest.approx(max(gains.values()) - math.log(3))
    assert best_block(plan, laws, 6, [(5, 4, 0)]) is None
    assert best_block(plan, laws, 6, []) is None


def test_single_roots_are_all_looked_at():
    kernel = Kernel.random(3, 2, rng=7607)
    plan = plan_for(random_rows(3, n_nodes=12, seed=7608), 2)
    laws = block_laws(plan, pools_with(kernel))
    blocks = [(root,) for root in range(11)]
    gains = [together_gain(plan, laws, 11, block) for block in blocks]
    assert best_block(plan, laws, 11, blocks)[1] == blocks[int(np.argmax(gains))]


@pytest.mark.parametrize("seed", [7611, 7612])
def test_two_components_have_two_blocks(seed):
    rng = np.random.default_rng(seed)
    dag = Dag.paper(5).copies(2)
    found = search(plan_for(rows_observed(sample(Process(dag, paper_kernel(rng)), 2000, rng=rng))))
    assert [set(ps) for ps in found.parents] == [set(ps) for ps in dag.parents]
    assert found.together[1] == (0,)
    assert found.together[6] == (5,)


def test_a_block_of_three():
    kernel = Kernel.random(2, 3, rng=7613, concentration=0.7)
    dag = Dag.chain(10, 3)
    rows = sample(Process(dag, kernel), 3000, rng=7614)
    found = search(plan_for(rows_observed(rows, 2), 3))
    assert [set(ps) for ps in found.parents] == [set(ps) for ps in dag.parents]
    assert found.together[:3] == ((), (0,), (0, 1))


def test_roots_that_are_drawn_alone_are_left_alone():
    rng = np.random.default_rng(7615)
    dag = Dag([(), (), (0, 1), (1, 2), (0, 3), (2, 4)], [(0,), (1,)])
    found = search(plan_for(rows_observed(sample(Process(dag, paper_kernel(rng)), 2000, rng=rng))))
    assert [set(ps) for ps in found.parents] == [set(ps) for ps in dag.parents]
    assert found.together == ((),) * 6


def test_nobody_joins_a_block_that_others_follow_from():
    assert still_open([(0,), (1, 2), (4,)], (3, 2)) == [(0,), (4,)]
    dag = Dag([(), (), (0, 1), (1, 2), (0, 3), (2, 4), (0,)], [(0,), (1,)])  # the last node has lost a parent
    kernel = Kernel.random(3, 2, rng=7616, concentration=0.7)
    rows = sample(Process(dag, kernel), 2000, rng=7617)
    found = search(plan_for(rows_observed(rows)))
    assert found.parents[6] == (0,)
    assert found.together[6] == ()


def test_inside_a_tier_a_follower_closes_nothing():
    kernel = Kernel(np.random.default_rng(801).dirichlet(np.ones(3) * 0.4, size=(3, 3)))
    dag = Dag([(), (), (), (0, 2)], [(0, 1), (2,)])
    rows = sample(Process(dag, kernel), 3000, rng=8_000)[:, [0, 2, 3, 1]]  # the last is drawn with the first
    found = search(plan_for(rows_observed(rows), candidates=candidate_sets(4, tiers=[0, 0, 1, 1])))
    assert {*found.parents[2]} == {0, 1}
    assert (found.parents[3], found.together[3]) == ((), (0,))
    later = search(plan_for(rows_observed(rows), candidates=candidate_sets(4, tiers=[0, 0, 1, 2])))
    assert later.together[3] == ()


@pytest.mark.parametrize("limits", [{"forbidden": [(0, 1)]}, {"forbidden": [(1, 0)], "tiers": [0, 0, 1, 1, 1]}])
def test_roots_that_may_not_depend_on_each_other_are_not_drawn_together(limits):
    rng = np.random.default_rng(7618)
    observed = rows_observed(sample(Process(Dag.paper(5), paper_kernel(rng)), 2000, rng=rng))
    free = search(plan_for(observed))
    assert free.together[1] == (0,)
    apart = search(plan_for(observed, candidates=candidate_sets(5, **limits)))
    assert apart.together == ((),) * 5


def test_roots_of_one_tier_may_be_drawn_together():
    candidates = candidate_sets(4, tiers=[1, 0, 0, 1], max_lag=1)
    assert candidates.order == (1, 2, 0, 3)
    assert candidates.may_be_drawn_with(1, 0)
    assert candidates.may_be_drawn_with(2, 0)
    assert not candidate_sets(4, max_lag=1).may_be_drawn_with(2, 0)
