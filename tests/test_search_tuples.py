"""The best tuple of one child under given kernels: against all permutations, with masks and required edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, count_pairs, sample
from kgmi.candidates import candidate_sets
from kgmi.counts.bits import RowCounts
from kgmi.guides.contextual import Contextual
from kgmi.penalty import PENALTIES
from kgmi.search.pools import Pool, key_of
from kgmi.search.root_laws import RootLaws
from kgmi.search.tuples import Choice, as_root, best_tuple, choose, short_lists

from . import plain_guides
from .search_drills import observations, plan_for, rows_observed
from .strategies import seeds

some = settings(max_examples=30, deadline=None)


def pool_for(table, *, symmetric=False):
    return Pool(np.zeros(table.shape), table, 3, symmetric, False)


@st.composite
def problems(draw, n_parents, n_nodes=6, search="exhaustive", with_required=True):
    """A plan with a mask, and a random kernel for the last node."""
    observed = draw(observations(min_nodes=n_nodes, max_nodes=n_nodes, max_states=3, max_rows=25, same_sizes=True))
    child = n_nodes - 1
    allowed = draw(st.sets(st.sampled_from(range(child)), min_size=n_parents))
    required = draw(st.sets(st.sampled_from(sorted(allowed)), max_size=n_parents)) if with_required else set()
    candidates = candidate_sets(
        n_nodes,
        forbidden=[(j, child) for j in range(child) if j not in allowed],
        required=[(j, child) for j in required],
    )
    table = Kernel.random(observed.sizes[0], n_parents, rng=draw(seeds)).table
    plan = plan_for(observed, n_parents, candidates=candidates, search=search, list_length=2)
    return plan, child, pool_for(table)


def key_for(plan, child, n_parents):
    return key_of(plan.observed, plan.labels, (0,) * n_parents, child)


def plain_gain(plan, table, parents, child):
    observed = plan.observed
    return plain_guides.gain(observed.codes, observed.sizes, observed.weights, table, parents, child)


def plain_worth(plan, pool, parents, child):
    """Gain less the log of the number of sets and orders that were open, and the price of gaps."""
    worth = plain_gain(plan, pool.table, parents, child)
    if plan.observed.is_exact:
        return worth
    free = len(plan.candidates.of(child)) - len(plan.candidates.required[child])
    chosen = len(parents) - len(plan.candidates.required[child])
    worth -= plain_guides.log_binomial(free, chosen) + pool.order_cost
    observed = plan.observed
    return worth - plain_guides.mostly_missing(observed.codes, observed.sizes, observed.weights, parents, child)


@pytest.mark.parametrize("n_parents", [1, 2, 3])
@some
@given(data=st.data())
def test_an_exhaustive_look_is_the_best_of_all_permutations(n_parents, data):
    plan, child, pool = data.draw(problems(n_parents))
    candidates, required = plan.candidates.of(child).tolist(), plan.candidates.required[child]
    found = best_tuple(plan, key_for(plan, child, n_parents), pool, child, (), True)
    best = plain_guides.best_tuple(
        candidates, required, n_parents, lambda parents: plain_gain(plan, pool.table, parents, child)
    )
    assert isinstance(found, Choice)
    assert len(set(found.parents)) == n_parents
    assert set(required) <= set(found.parents) <= set(candidates)
    assert found.worth == pytest.approx(plain_worth(plan, pool, found.parents, child), abs=1e-6)
    gain = plain_gain(plan, pool.table, found.parents, child)
    assert gain == pytest.approx(plain_gain(plan, pool.table, best, child), abs=1e-3)  # ranked in float32


@pytest.mark.parametrize("search", ["heads", "lists"])
@pytest.mark.parametrize("n_parents", [1, 2, 3])
@some
@given(data=st.data())
def test_shorter_searches_are_never_worse_than_their_start(n_parents, search, data):
    plan, child, pool = data.draw(problems(n_parents, search=search))
    required = plan.candidates.required[child]
    others = [j for j in plan.candidates.of(child).tolist() if j not in required]
    start = (*required, *data.draw(st.permutations(others))[: n_parents - len(required)])
    start = tuple(data.draw(st.permutations(start)))
    found = best_tuple(plan, key_for(plan, child, n_parents), pool, child, (start,), True)
    gain = plain_gain(plan, pool.table, found.parents, child)
    assert gain >= plain_gain(plan, pool.table, start, child) - 1e-3
    assert set(required) <= set(found.parents) <= set(plan.candidates.of(child).tolist())
    assert len(set(found.parents)) == n_parents
    if search != "heads":
        return
    for head, parent in enumerate(found.parents):  # no head would move by itself
        for j in set(others) - set(found.parents) if parent not in required else ():
            moved = (*found.parents[:head], j, *found.parents[head + 1 :])
            assert plain_gain(plan, pool.table, moved, child) <= gain + 1e-3


@some
@given(data=st.data())
def test_short_lists_hold_the_present_parents_and_the_required_ones(data):
    plan, child, pool = data.draw(problems(3, search="lists"))
    candidates = plan.candidates.of(child)
    required = plan.candidates.required[child]
    parents = tuple(data.draw(st.permutations(candidates.tolist()))[:3])
    lists = short_lists(plan, child, plan.guide.prepare(child, pool.seen), [candidates] * 3, parents)
    assert len(lists) == 3
    for role in lists:
        assert {*parents, *required} <= set(role.tolist()) <= set(candidates.tolist())
        assert len(role) <= plan.list_length + 3 + len(required)
        np.testing.assert_array_equal(role, np.unique(role))


def test_short_lists_hold_the_best_candidates_of_each_head():
    dag, kernel = Dag.paper(10), Kernel.paper()
    plan = plan_for(rows_observed(sample(Process(dag, kernel), 2000, rng=7401)), list_length=3)
    table = plan.guide.prepare(9, kernel.table)
    parents, candidates = (0, 6), np.arange(9)
    lists = short_lists(plan, 9, table, [candidates, candidates], parents)
    for head in (0, 1):
        scores = {
            j: plain_gain(plan, kernel.table, tuple(j if h == head else p for h, p in enumerate(parents)), 9)
            for j in range(9)
            if j != parents[1 - head]
        }
        top = sorted(scores, key=scores.get, reverse=True)[:3]
        assert set(lists[head].tolist()) == {*top, *parents}


def test_heads_alone_miss_xor_and_a_look_at_all_pairs_finds_it():
    rng = np.random.default_rng(7402)
    codes = rng.integers(0, 2, (300, 8))
    codes[:, 7] = np.where(rng.random(300) < 0.9, codes[:, 1] ^ codes[:, 4], codes[:, 7])
    table = np.array([[[0.95, 0.05], [0.05, 0.95]], [[0.05, 0.95], [0.95, 0.05]]])
    observed = RowCounts(codes, (2,) * 8)
    key = (0, (2, 2), 2)
    exhaustive = best_tuple(plan_for(observed, search="exhaustive"), key, pool_for(table), 7, ((0, 2),), True)
    heads = best_tuple(plan_for(observed, search="heads"), key, pool_for(table), 7, ((0, 2),), True)
    assert set(exhaustive.parents) == {1, 4}
    assert heads.worth < exhaustive.worth - 10


def test_the_order_of_the_roles_follows_the_kernel_not_the_start():
    dag, kernel = Dag([(), (), (1, 0)], [(0,), (1,)]), Kernel.paper()
    observed = rows_observed(sample(Process(dag, kernel), 2000, rng=7403))
    for search in ("heads", "lists", "exhaustive"):
        plan = plan_for(observed, search=search)
        assert best_tuple(plan, (0, (3, 3), 3), pool_for(kernel.table), 2, ((0, 1),), True).parents == (1, 0)


def test_roles_are_filled_with_nodes_of_their_alphabets():
    rng = np.random.default_rng(7404)
    sizes = (2, 3, 2, 3, 2)
    observed = RowCounts((rng.random((200, 5)) * sizes).astype(np.int8), sizes)
    table = rng.dirichlet(np.ones(2), size=(3, 2))  # a parent of 3 states, then one of 2
    plan = plan_for(observed, search="exhaustive")
    found = best_tuple(plan, (0, (3, 2), 2), pool_for(table), 4, (), True)
    assert found.parents[0] in (1, 3)
    assert found.parents[1] in (0, 2)
    best = max((plain_gain(plan, table, (a, b), 4), (a, b)) for a in (1, 3) for b in (0, 2))
    assert found.parents == best[1]
    assert best_tuple(plan, (0, (4, 2), 2), pool_for(np.full((4, 2, 2), 0.5)), 4, (), True) is None
    assert best_tuple(plan, (0, (3, 2), 3), pool_for(np.full((3, 2, 3), 1 / 3)), 1, (), True) is None


@pytest.mark.parametrize("seed", range(7405, 7410))
def test_the_contextual_guide_is_searched_the_same_way(seed):
    dag, kernel = Dag.paper(10), Kernel.paper()
    rows = sample(Process(dag, kernel), 20_000, rng=seed)
    observed = rows_observed(rows)
    guide = Contextual(count_pairs(rows, 3).pair_joint(0.0), observed)
    plan = plan_for(observed, guide=guide, search="exhaustive")
    for child in (4, 7):
        assert (
            best_tuple(plan, (0, (3, 3), 3), pool_for(kernel.table), child, (), True).parents == dag.parents[child]
        )


def test_no_parents_cost_a_law_of_their_own_or_fit_the_law_that_roots_share():
    rng = np.random.default_rng(7411)
    observed = rows_observed(rng.choice(3, (100, 4), p=[0.5, 0.3, 0.2]))
    plan = plan_for(observed)
    counts = observed.family(3, ())
    own = -plain_guides.regret(100, 3)
    assert as_root(plan, {}, 3) == Choice((), pytest.approx(own))
    shared = np.array([0.5, 0.3, 0.2])
    gain = plain_guides.gain(observed.codes, observed.sizes, None, shared, (), 3)
    assert gain == pytest.approx(float((counts * np.log(shared)).sum() - plain_guides.fitted(counts[None])))
    far = np.array([0.01, 0.01, 0.98])
    for laws, worth in (([shared], max(gain, own)), ([far, shared], max(gain, own)), ([far], own)):
        table = np.array(laws)
        root_laws = RootLaws(np.zeros(table.shape), table, 3, symmetric=True, known=False)
        assert as_root(plan, {(0, (), 3): root_laws}, 3).worth == pytest.approx(worth)


@some
@given(data=st.data())
def test_the_choice_is_the_best_over_all_in_degrees(data):
    plan, child, pair = data.draw(problems(2, with_required=False))
    single = pool_for(Kernel.random(plan.observed.sizes[0], 1, rng=data.draw(seeds)).table)
    keys = [key_for(plan, child, n) for n in (1, 2)]
    pools = dict(zip(keys, (single, pair), strict=True))
    costs = {degree: data.draw(st.floats(0, 5)) for degree in (0, 1, 2)}
    found = choose(plan, pools, costs, child, (), True)
    options = [
        as_root(plan, pools, child),
        *(best_tuple(plan, key, pool, child, (), True) for key, pool in pools.items()),
    ]
    worths = [one.worth - costs[len(one.parents)] for one in options]
    assert found.worth == pytest.approx(max(worths), abs=1e-6)
    close = [one.parents for one, worth in zip(options, worths, strict=True) if worth > max(worths) - 1e-6]
    assert found.parents in close  # rounding may choose between those that are as good


def test_required_parents_and_fixed_in_degrees_limit_the_choice():
    observed = rows_observed(np.random.default_rng(7412).integers(0, 3, (50, 5)))
    candidates = candidate_sets(5, required=[(2, 4)])
    pools = {(0, (3,) * n, 3): pool_for(np.full((3,) * (n + 1), 1 / 3)) for n in (1, 2)}
    costs = dict.fromkeys((0, 1, 2), 0.0)
    plan = plan_for(observed, candidates=candidates)
    assert [plan.degrees_of(child) for child in range(5)] == [[0], [0, 1], [0, 1, 2], [0, 1, 2], [1, 2]]
    assert 2 in choose(plan, pools, costs, 4, (), True).parents
    fixed = plan_for(observed, candidates=candidates, degrees=(2,))
    assert [fixed.degrees_of(child) for child in range(5)] == [[0], [0], [2], [2], [2]]
    assert len(choose(fixed, pools, costs, 4, (), True).parents) == 2
    assert len(choose(fixed, pools, costs, 3, (), True).parents) == 2
    assert choose(fixed, pools, costs, 1, (), True).parents == ()  # one candidate is too few for two parents


def test_without_a_kernel_for_its_alphabets_a_node_keeps_its_start():
    observed = RowCounts(np.random.default_rng(7413).integers(0, 2, (30, 3)), (2, 2, 2), alphabets=(0, 0, 1))
    plan = plan_for(observed, degrees=(2,))
    assert choose(plan, {(0, (0, 0), 0): pool_for(np.full((2, 2, 2), 0.5))}, {}, 2, ((0,), (1, 0)), True) == Choice(
        (1, 0), 0.0
    )
    assert PENALTIES["nml"] is plan.penalty
