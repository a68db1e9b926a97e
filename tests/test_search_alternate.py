"""Kernels from parents and parents from kernels: the score from its definition, and never worse than the start."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, sample
from kgmi.candidates import candidate_sets
from kgmi.counts.bits import RowCounts
from kgmi.search.alternate import alternate, pools_of, state_of, worth_of
from kgmi.search.root_laws import roots_score
from kgmi.search.simplify import simplify
from kgmi.search.starts import first_parents, own_sets, start_state

from . import plain_guides
from .search_drills import edge_set, graphs, hints_of, paper_kernel, plan_for, rows_observed, search, small_data

some = settings(max_examples=30, deadline=None)
NONE = frozenset()


def plain_score(plan, state):
    """Gains less the price of parameters, sets, orders and in-degrees, from the definitions (NML)."""
    observed, total = plan.observed, 0.0
    args = (observed.codes, observed.sizes, observed.weights)
    for child, parents in enumerate(state.parents):
        if parents:
            pool = state.pools[0, tuple(observed.sizes[p] for p in parents), observed.sizes[child]]
            gain = plain_guides.gain(*args, pool.table, parents, child)
            n_orders = 1 if pool.symmetric else math.factorial(len(parents))
            total += gain - plain_guides.log_binomial(child, len(parents)) - math.log(n_orders)
    total += roots_score(plan, state.pools, [child for child, parents in enumerate(state.parents) if not parents])
    largest = [pool for pool in state.pools.values() if pool.n_parents == plan.n_heads]
    for (_, parents, _), pool in state.pools.items():
        if not parents:  # the laws of roots: tests/test_search_root_laws.py
            continue
        if pool.implied is not None:  # one in e³ is, by one of so many choices of the parents that stay
            n_choices = math.factorial(plan.n_heads) * math.comb(plan.n_heads, len(parents))
            total -= 3 + (0.0 if largest[0].symmetric else math.log(n_choices))
            continue
        rows = {}
        for cell in np.ndindex(pool.counts.shape[:-1]):
            name = tuple(sorted(cell)) if pool.symmetric else cell
            rows[name] = rows.get(name, 0.0) + pool.counts[cell].sum()
        n_states = int((pool.counts.reshape(-1, pool.counts.shape[-1]).sum(axis=0) > 0).sum())  # that occur
        total -= sum(plain_guides.regret(round(n), n_states) for n in rows.values() if n > 0)
        assert pool.n_parents == len(parents)
    seen = [0] * len(plan.degrees)
    choosers = [
        ps for child, ps in enumerate(state.parents) if child >= plan.n_heads
    ]  # who can have all in-degrees
    for place, parents in enumerate(choosers):  # each in-degree is told at its frequency so far
        total += math.log((seen[len(parents)] + 0.5) / (place + 0.5 * len(seen)))
        seen[len(parents)] += 1
    return total


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_the_score_is_the_sum_of_its_parts(data):
    observed, n_parents = data.draw(small_data(max_nodes=4, max_states=2))
    parents = data.draw(graphs(observed.n_nodes, n_parents))
    plan = plan_for(observed, n_parents)
    state = state_of(plan, parents, pools_of(plan, parents))
    assert state.score == pytest.approx(plain_score(plan, state), rel=1e-9, abs=1e-7)
    roots = [child for child, ps in enumerate(parents) if not ps]
    worths = sum(worth_of(plan, state, child) for child, ps in enumerate(parents) if ps)
    costs = sum(pool.cost(plan.penalty) for pool in state.pools.values() if pool.n_parents)
    price = plan.degrees_cost([len(ps) for ps in parents])
    assert state.score == pytest.approx(worths + roots_score(plan, state.pools, roots) - costs - price)


@some
@given(data=st.data())
def test_never_worse_than_the_start_by_its_own_score(data):
    observed, n_parents = data.draw(small_data())
    parents = data.draw(graphs(observed.n_nodes, n_parents))
    plan = plan_for(observed, n_parents, search=data.draw(st.sampled_from(["auto", "lists", "heads"])))
    hints = hints_of(own_sets(plan))
    start = state_of(plan, parents, pools_of(plan, parents))
    end = alternate(plan, start, hints, NONE)
    assert end.score >= start.score
    assert 1 <= end.rounds <= plan.rounds
    simple = simplify(plan, end, hints)
    assert simple.score >= end.score
    for state in (end, simple):
        assert all(len(set(ps)) == len(ps) and max(ps, default=-1) < i for i, ps in enumerate(state.parents))
        again = state_of(plan, state.parents, state.pools, state.together)
        assert again.score == pytest.approx(state.score)
        assert alternate(plan, state, hints, NONE).score >= state.score


@some
@given(data=st.data())
def test_every_start_is_a_graph_and_none_ends_worse(data):
    observed, n_parents = data.draw(small_data())
    plan = plan_for(observed, n_parents)
    sets = own_sets(plan)
    first = first_parents(plan, sets)
    for number in range(5):
        start = start_state(plan, sets, number)
        assert all(max(ps, default=-1) < child for child, ps in enumerate(start.parents))
        if number == 0:  # every node as it would be by itself, but for the roles
            assert [set(ps) for ps in start.parents] == [set(ps) for ps in first]
        assert alternate(plan, start, hints_of(sets), NONE).score >= start.score


@pytest.mark.parametrize("seed", [7009, 7143, 7207, 7275])
def test_a_start_that_no_round_improves_is_kept(seed):
    """Few rows of noise: re-estimated kernels lead away from the start to lower scores."""
    plan = plan_for(rows_observed(np.random.default_rng(seed).integers(0, 3, (40, 6))))
    sets = own_sets(plan)
    for number in (0, 1):
        start = start_state(plan, sets, number)
        assert alternate(plan, start, hints_of(sets), NONE).score >= start.score


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_the_first_parents_are_each_nodes_own_choice_of_size_and_set(data):
    observed, n_parents = data.draw(small_data())
    plan = plan_for(observed, n_parents)
    sets = own_sets(plan)
    chosen = first_parents(plan, sets)
    said = plan.degree_costs([len(parents) for parents in chosen])
    for child, parents in enumerate(chosen):
        values = {
            one.parents: one.value
            - plain_guides.log_binomial(child, len(one.parents))
            - (said[len(one.parents)] if child >= n_parents else 0.0)
            for one in sets[child]
            if one is not None
        }
        assert values[parents] == max(values.values())


@some
@given(data=st.data())
def test_what_the_plan_demands_is_in_every_result(data):
    """A start may leave out required edges, or in-degrees that are fixed; the search must not end there."""
    observed, n_parents = data.draw(small_data())
    child = observed.n_nodes - 1
    required = [(data.draw(st.integers(0, child - 1)), child)]
    forbidden = [(j, child) for j in range(child) if j != required[0][0] and data.draw(st.booleans())]
    masked = candidate_sets(observed.n_nodes, required=required, forbidden=forbidden)
    plan = plan_for(observed, n_parents, candidates=masked)
    found = search(plan, n_starts=3)
    assert required[0][0] in found.parents[child]
    assert not edge_set(found.parents) & set(forbidden)
    assert np.isfinite(found.score)
    fixed = search(plan_for(observed, n_parents, degrees=(n_parents,)), n_starts=3)
    assert [len(ps) for ps in fixed.parents] == [n_parents if i >= n_parents else 0 for i in range(child + 1)]


def test_nodes_with_another_label_have_a_kernel_of_their_own():
    rng = np.random.default_rng(7517)
    first, second = Kernel.random(2, 1, rng=1), Kernel.random(2, 1, rng=2)
    rows = rng.integers(0, 2, (500, 4))
    for child, kernel in ((2, first), (3, second)):
        rows[:, child] = rng.random(500) < kernel.table[rows[:, child - 2], 1]
    plan = plan_for(RowCounts(rows, (2,) * 4), 1, labels=(0, 0, 0, 1), smoothing=0.0)
    pools = pools_of(plan, ((), (), (0,), (1,)))
    for label, child, parent in ((0, 2, 0), (1, 3, 1)):
        counts = plain_guides.family(rows, (2,) * 4, None, (parent,), child)
        np.testing.assert_allclose(pools[label, (2,), 2].table, counts / counts.sum(axis=1, keepdims=True))


def test_a_kernel_fitted_to_noise_is_given_up():
    """One node of noise has a kernel to itself; doing without it raises the score, and the others stay."""
    rng = np.random.default_rng(7518)
    kernel = paper_kernel(rng)
    dag = Dag([(), (), (0, 1), (0, 2), (1, 3), (2, 4), ()], [(0,), (1,), (6,)])
    plan = plan_for(rows_observed(sample(Process(dag, kernel), 400, rng=rng)))
    wrong = (*dag.parents[:6], (5,))
    start = state_of(plan, wrong, pools_of(plan, wrong))
    found = simplify(plan, start, [[] for _ in range(7)])
    assert found.parents[6] == ()
    assert edge_set(found.parents) == set(dag.edges)
    assert found.score > start.score


def test_a_bounded_number_of_rounds_says_that_it_did_not_settle():
    rows = sample(Process(Dag.paper(10), Kernel.paper()), 300, rng=7519)
    plan = plan_for(rows_observed(rows), rounds=1)
    empty = ((),) * 10
    pools = pools_of(plan, Dag.paper(10).parents)
    found = alternate(plan, state_of(plan, empty, pools_of(plan, empty) | pools), [[] for _ in range(10)], NONE)
    assert (found.rounds, found.settled) == (1, False)


def test_banned_kernels_are_not_used():
    rows = sample(Process(Dag.paper(10), Kernel.paper()), 300, rng=7520)
    plan = plan_for(rows_observed(rows))
    key = (0, (3,), 3)
    sets = own_sets(plan)
    assert key not in pools_of(plan, tuple(() if i == 0 else (i - 1,) for i in range(10)), frozenset({key}))
    start = start_state(plan, sets, 0)
    kept = {k: pool for k, pool in start.pools.items() if k != key}
    found = alternate(plan, state_of(plan, start.parents, kept), hints_of(sets), frozenset({key}))
    assert key not in found.pools
    assert {len(ps) for ps in found.parents} <= {0, 2}


def test_the_roles_of_the_start_do_not_matter():
    """Every family turned round gives the mirrored kernel and the same score."""
    rng = np.random.default_rng(7521)
    dag, kernel = Dag.paper(10), paper_kernel(rng)
    plan = plan_for(rows_observed(sample(Process(dag, kernel), 500, rng=rng)))
    scores = []
    for order in permutations((0, 1)):
        parents = tuple(tuple(ps[i] for i in order) if ps else () for ps in dag.parents)
        state = state_of(plan, parents, pools_of(plan, parents))
        scores.append((state.score, alternate(plan, state, hints_of(own_sets(plan)), NONE).score))
    assert scores[0] == pytest.approx(scores[1])
