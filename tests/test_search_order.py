"""The search for an order: the exact one, climbing, and graphs without cycles from both."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, sample
from kgmi.candidates import candidate_sets
from kgmi.guides.likelihood import family_gain, gain_table
from kgmi.search import discover_order, proved, reversals, settle_order
from kgmi.search.alternate import pools_of, state_of, worth_of
from kgmi.search.order.alone import own_offers, sets_in
from kgmi.search.order.best import best_order, parents_in, worth_in
from kgmi.search.order.choices import Offer, gather_choices, trimmed
from kgmi.search.order.compiled import best_over_subsets, climb
from kgmi.search.order.offers import choices_under, forget_choices, offers_under
from kgmi.search.order.proof import proved_order
from kgmi.search.order.sweep import generations, order_of, without_descendants
from kgmi.search.own import OwnSearch

from .search_drills import edge_set, plan_for, rows_observed, small_data
from .strategies import seeds


def random_choices(rng, n_nodes, n_heads=2, n_tuples=12):
    """Offers of made-up worth; having no parents is worth 0."""
    offers = []
    for child in range(n_nodes):
        others = [node for node in range(n_nodes) if node != child]
        tuples = [rng.permutation(others)[: rng.integers(1, n_heads + 1)] for _ in range(n_tuples)]
        some = [Offer(np.array([one]), rng.normal(1, 1, 1)) for one in tuples]
        offers.append(trimmed([Offer(np.empty((1, 0), dtype=np.int64), np.zeros(1)), *some], n_heads))
    return gather_choices(offers)


def parts(choices):
    return choices.parents, choices.worth, choices.start


def plainly_worth(choices, order):
    """The same as ``worth_in``, written without any trick."""
    place = {node: spot for spot, node in enumerate(order)}
    total = 0.0
    for child in range(choices.n_nodes):
        offer = choices.of(child)
        fits = [all(p < 0 or place[p] < place[child] for p in one) for one in offer.parents.tolist()]
        total += max(worth for worth, good in zip(offer.worth, fits, strict=True) if good)
    return total


def open_plan(observed, n_heads=2, **more):
    return plan_for(observed, n_heads, candidates=candidate_sets(observed.n_nodes, order="learn"), **more)


@given(seeds, st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_the_exact_order_is_the_best_of_all(seed, n_nodes):
    choices = random_choices(np.random.default_rng(seed), n_nodes, n_heads=min(2, n_nodes - 1))
    order = best_over_subsets(*parts(choices))
    every = [plainly_worth(choices, one) for one in permutations(range(n_nodes))]
    assert sorted(order.tolist()) == list(range(n_nodes))
    assert worth_in(choices, order) == pytest.approx(max(every))
    assert worth_in(choices, order) == pytest.approx(plainly_worth(choices, order.tolist()))


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_climbing_ends_where_no_single_node_is_better_elsewhere(seed):
    rng = np.random.default_rng(seed)
    choices = random_choices(rng, 7)
    order = rng.permutation(7)
    value = climb(*parts(choices), order, rng.permutation(7))
    assert value == pytest.approx(plainly_worth(choices, order.tolist()))
    for node, place in product(range(7), range(7)):
        rest = [other for other in order.tolist() if other != node]
        moved = [*rest[:place], node, *rest[place:]]
        assert plainly_worth(choices, moved) <= value + 1e-6
    assert value <= worth_in(choices, best_over_subsets(*parts(choices))) + 1e-6


def test_climbing_with_disturbances_finds_the_exact_order_of_seventeen_nodes():
    rng = np.random.default_rng(7300)
    choices = random_choices(rng, 17, n_tuples=30)
    order = best_order(choices, rng.permutation(17), rng)
    exact = worth_in(choices, best_over_subsets(*parts(choices)))
    assert worth_in(choices, order) == pytest.approx(exact, rel=0.02)
    plain = best_order(choices, np.arange(17), rng, kicked=False)
    assert worth_in(choices, plain) <= worth_in(choices, order) + 1e-9
    assert edge_set(parents_in(choices, order))


@given(small_data())
@settings(max_examples=15, deadline=None)
def test_what_is_offered_under_a_kernel_is_what_the_state_says_of_it(data):
    observed, n_heads = data
    if observed.n_nodes <= n_heads or observed.has_gaps:
        return
    plan = open_plan(observed, n_heads)
    graph = tuple(tuple(range(max(0, child - n_heads), child)) for child in range(observed.n_nodes))
    pools = pools_of(plan, graph)
    costs = plan.degree_costs([len(ps) for ps in graph])
    choices = choices_under(plan, pools, costs)
    parents = parents_in(choices, best_order(choices, np.arange(observed.n_nodes), np.random.default_rng(0)))
    order_of(parents)  # raises if there is a cycle
    best = sum(choices.of(child).worth.max() for child in range(observed.n_nodes))
    state = state_of(plan, parents, pools)
    priced = sum(worth_of(plan, state, child) for child in range(observed.n_nodes))
    priced -= sum(costs[len(ps)] for node, ps in enumerate(parents) if node in plan.free)
    assert priced <= best + 1e-3  # offers are single precision
    assert priced == pytest.approx(worth_in(choices, order_of(parents)), abs=1e-2)


@given(small_data())
@settings(max_examples=15, deadline=None)
def test_the_sets_of_an_order_are_the_best_of_the_earlier_nodes(data):
    observed, n_heads = data
    plan = open_plan(observed, n_heads)
    if observed.n_nodes <= n_heads:
        return
    offers = own_offers(plan)
    order = np.random.default_rng(3).permutation(observed.n_nodes)
    place = np.argsort(order)
    search = OwnSearch(observed, plan.penalty, 1)
    for child, by_size in enumerate(sets_in(offers, order)):
        earlier = [node for node in range(observed.n_nodes) if place[node] < place[child]]
        for size, one in enumerate(by_size):
            if size > len(earlier):
                assert one is None
            elif size == 1:
                assert one.value == pytest.approx(max(search.value(child, (node,)) for node in earlier))
            assert one is None or set(one.parents) <= set(earlier)
    assert all(one is not None for by_size in sets_in(offers, None) for one in by_size)


def all_graphs(n_nodes):
    """Every graph without cycles in which nodes have at most one parent."""
    for chosen in product(range(-1, n_nodes), repeat=n_nodes):
        parents = tuple((p,) if p >= 0 else () for p in chosen)
        if any(p == node for node, p in enumerate(chosen)):
            continue
        try:
            order_of(parents)
        except ValueError:
            continue
        yield parents


@pytest.mark.parametrize("seed", [7310, 7311, 7312, 7313, 7314])
def test_graph_and_directions_against_all_graphs(seed):
    """Directions are what a search finds: never below the truth, and right wherever there is a doubt."""
    rng = np.random.default_rng(seed)
    kernel = rng.dirichlet([2.0] * 3, size=3)
    rows = np.empty((150, 4), dtype=np.int8)
    rows[:, 2] = rng.choice(3, 150, p=[0.6, 0.3, 0.1])
    for parent, child in ((2, 0), (2, 3), (3, 1)):
        rows[:, child] = [rng.choice(3, p=kernel[state]) for state in rows[:, parent]]
    plan = open_plan(rows_observed(rows), 1)
    opened = discover_order(plan, "shared")
    every = {graph: state_of(plan, graph, pools_of(plan, graph)).score for graph in all_graphs(4)}
    best = max(every.values())
    if not any(opened.found.state.parents):  # edges that may be chance are left out
        assert best - np.log(100) < opened.found.state.score == pytest.approx(every[((),) * 4])
        return
    assert opened.found.state.score == pytest.approx(best)
    found = reversals(opened, opened.found.state.parents)
    assert set(found) == edge_set(opened.found.state.parents)
    for (parent, child), nats in found.items():
        exact = best - max(score for graph, score in every.items() if child in graph[parent])
        assert nats >= exact - 1e-6
        assert nats == pytest.approx(exact, rel=0.1, abs=0.1) or exact > 40


@pytest.mark.parametrize("seed", [7330, 7331])
def test_the_proof_agrees_with_all_subsets(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    choices = random_choices(rng, 9, n_tuples=20)
    exact = best_over_subsets(*parts(choices))
    monkeypatch.setattr("kgmi.search.order.proof._MOST_SUBSETS", 0)
    for start in (exact, rng.permutation(9)):
        order, sure = proved_order(choices, start)
        assert sure
        assert worth_in(choices, order) == pytest.approx(worth_in(choices, exact))
    monkeypatch.setattr("kgmi.search.order.proof._MOST_TUPLES", 3)
    order, sure = proved_order(choices, np.arange(9))
    assert not sure
    assert order.tolist() == list(range(9))


def test_a_graph_that_is_not_the_best_is_replaced_by_the_proof():
    rng = np.random.default_rng(7340)
    first = rng.integers(0, 3, 300)
    noisy = [np.where(rng.random(300) < 0.3, rng.integers(0, 3, 300), first) for _ in range(3)]
    plan = open_plan(rows_observed(np.stack([first, *noisy], axis=1).astype(np.int8)), 1)
    opened = discover_order(plan, "node")
    assert proved(opened).proved
    poor = replace(opened.found, state=opened.state(((), (), (), ())))
    mended = proved(replace(opened, found=poor))
    assert mended.found.state.score == pytest.approx(opened.found.state.score)
    assert not mended.proved  # of the new graph nothing is said


def test_no_direction_is_told_where_there_are_very_many_edges(monkeypatch):
    monkeypatch.setattr("kgmi.search.order.reversals._MOST_EDGES", 0)
    rng = np.random.default_rng(7320)
    first = rng.integers(0, 2, 200)
    rows = np.stack([first, first ^ (rng.random(200) < 0.1)], axis=1).astype(np.int8)
    opened = discover_order(open_plan(rows_observed(rows, 2), 1), "auto")
    assert edge_set(opened.found.state.parents)
    assert reversals(opened, opened.found.state.parents) == {}


def test_generations_and_descendants():
    parents = ((2,), (), (1,), (0, 2))
    assert generations(parents).tolist() == [2, 0, 1, 3]
    assert order_of(parents).tolist() == [1, 2, 0, 3]
    plan = open_plan(rows_observed(np.zeros((3, 4), dtype=np.int8)))
    assert without_descendants(plan, parents, 2).candidates.of(2).tolist() == [1]
    assert without_descendants(plan, parents, 3).candidates.of(3).tolist() == [0, 1, 2]


@given(small_data(), st.sampled_from(["auto", "shared", "node"]))
@settings(max_examples=25, deadline=None)
def test_any_rows_give_a_graph_without_cycles_in_its_order(data, share):
    observed, n_heads = data
    if observed.n_nodes <= n_heads:
        return
    order, found = settle_order(discover_order(open_plan(observed, n_heads), share))
    assert sorted(order.tolist()) == list(range(observed.n_nodes))
    assert all(max(parents, default=-1) < child for child, parents in enumerate(found.state.parents))
    assert np.isfinite(found.state.score)
    assert (found.plan.observed.codes == observed.codes[:, order]).all()


def test_choices_are_made_once_for_the_same_kernels_and_forgotten_in_the_end():
    observed = rows_observed(np.random.default_rng(7350).integers(0, 3, (60, 5)))
    plan = open_plan(observed, 2)
    parents = ((), (0,), (0, 1), (1, 2), ())
    pools, costs = pools_of(plan, parents), plan.degree_costs([len(ps) for ps in parents])
    choices = choices_under(plan, pools, costs)
    assert choices_under(plan, pools_of(plan, parents), dict(costs)) is choices
    assert choices_under(plan, pools, {**costs, 1: 3.0}) is not choices
    assert choices_under(replace(plan, smoothing=2.0), pools, costs) is not choices
    forget_choices(plan)
    assert choices_under(plan, pools, costs) is not choices


@pytest.mark.parametrize("required", [(), (1,), (1, 3)])
def test_offers_are_the_sets_that_are_worth_more_than_none(required):
    rows = sample(Process(Dag.paper(10), Kernel.paper()), 150, rng=7351)
    child, others = 5, [node for node in range(10) if node != 5]
    candidates = candidate_sets(10, order="learn", required=[(one, child) for one in required])
    plan = replace(open_plan(rows_observed(rows), 2), candidates=candidates)
    pools = pools_of(plan, Dag.paper(10).parents)
    offers = offers_under(plan, pools, child, {})
    least, expected = offers[0].worth[0], {}
    for key, pool in pools.items():
        for parents in permutations(others, len(key[1])) if pool.n_parents in plan.degrees_of(child) else ():
            worth = worth_under(plan, pool, child, parents)
            if parents and worth > least and {*required} <= {*parents}:
                expected[frozenset(parents)] = max(worth, expected.get(frozenset(parents), worth))
    found = trimmed(offers, 2)
    sets = [frozenset(one) - {-1} for one in found.parents.tolist()]
    assert sets[-1] == frozenset()
    assert {*sets[:-1]} == {*expected}
    np.testing.assert_allclose(found.worth[:-1], [expected[one] for one in sets[:-1]], atol=1e-3)


def worth_under(plan, pool, child, parents):
    """The gain of these parents in these roles, less what choosing them costs."""
    gain = family_gain(plan.family(child, parents), gain_table(plan.observed, child, pool.seen))
    return gain - plan.choice_cost(child, len(parents)) - pool.order_cost
