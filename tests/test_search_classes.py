"""Kernel classes: what a group of families is worth, how groups form, and which partition is kept."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, sample
from kgmi.candidates import candidate_sets
from kgmi.counts.bits import RowCounts
from kgmi.penalty import PENALTIES
from kgmi.search import discover
from kgmi.search.classes import classify
from kgmi.search.discover import alone_state
from kgmi.search.groups import Groups, family_part, group_of, groups_from, joined_by, left_by
from kgmi.search.partition import groups_cost, partition_cost
from kgmi.search.reassign import Chooser
from kgmi.search.regroup import joined, merged, split
from kgmi.search.resize import resized
from kgmi.search.starts import first_parents, own_sets
from kgmi.search.values import aligned, table_value, table_values, turns

from . import plain_guides
from .search_drills import edge_set, graphs, law_observed, plan_for, rows_observed, small_data
from .strategies import seeds

some = settings(max_examples=25, deadline=None)
NML = PENALTIES["nml"]


def partitions(items):
    """All ways of putting items into groups."""
    if not items:
        yield []
        return
    first, *rest = items
    for found in partitions(rest):
        yield [[first], *found]
        for place, group in enumerate(found):
            yield [*found[:place], [first, *group], *found[place + 1 :]]


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 4, 5, 6])
def test_the_probabilities_of_all_partitions_sum_to_one(n_nodes):
    total = sum(math.exp(-partition_cost([len(g) for g in one])) for one in partitions(range(n_nodes)))
    assert total == pytest.approx(1.0)


@some
@given(seed=seeds, n_parents=st.integers(0, 2), n_nodes=st.integers(1, 3))
def test_a_table_is_worth_its_fit_less_its_price(seed, n_parents, n_nodes):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (2,) * n_parents + (3,)).astype(float)
    counts[..., 0] += 1
    found = float(table_values(NML, counts[None], np.array([n_nodes]), (0,) * n_parents)[0])
    assert table_value(NML, counts, n_nodes, (0,) * n_parents) == pytest.approx(found)
    occurring = int((counts.reshape(-1, 3).sum(axis=0) > 0).sum())

    def value(table, orders):
        price = sum(plain_guides.regret(round(n), occurring) for n in table.sum(axis=-1).ravel() if n > 0)
        return plain_guides.fitted(table) - price - (n_nodes * math.log(orders) if n_nodes > 1 else 0.0)

    best = value(counts, math.factorial(n_parents))
    if n_parents == 2 and n_nodes > 1:  # without an order: both mixed configurations are one
        best = max(best, value(np.stack([counts[0, 0], counts[0, 1] + counts[1, 0], counts[1, 1]]), 1))
    assert found == pytest.approx(best, abs=1e-9)


def test_turns_leave_the_alphabets_where_they_are():
    assert turns((0, 0)) == [(0, 1), (1, 0)]
    assert turns((0, 1)) == [(0, 1)]
    assert sorted(turns((0, 0, 1))) == [(0, 1, 2), (1, 0, 2)]
    assert len(turns((0,) * 4)) == 24
    assert all(sorted(turn) == list(range(6)) for turn in turns((0,) * 6))


@some
@given(seed=seeds)
def test_roles_are_aligned_by_the_better_fit(seed):
    rng = np.random.default_rng(seed)
    fixed, counts = rng.integers(0, 30, (2, 3, 3, 3)).astype(float)
    fits = {turn: plain_guides.fitted(fixed + counts.transpose(*turn, 2)) for turn in turns((0, 0))}
    assert fits[aligned(fixed, counts, turns((0, 0)))] == max(fits.values())


@some
@given(data=st.data())
def test_groups_of_one_node_each_score_as_a_kernel_for_each_node(data):
    observed, n_parents = data.draw(small_data())
    plan = plan_for(observed, n_parents)
    parents = data.draw(graphs(observed.n_nodes, n_parents))
    groups = groups_from(plan, [{child: ps} for child, ps in enumerate(parents) if ps])
    score = groups.value(plan) - groups_cost(plan, groups, final=True)
    if not observed.has_gaps:  # with gaps, states may occur in rows only in which a parent is missing
        assert score == pytest.approx(alone_state(plan, parents).score, abs=1e-6)
    assert tuple(map(set, groups.parents)) == tuple(map(set, parents))


@some
@given(data=st.data())
def test_every_step_shortens_the_description(data):
    observed, n_parents = data.draw(small_data())
    plan = plan_for(observed, n_parents)
    sets = own_sets(plan)
    parents = first_parents(plan, sets)
    groups = groups_from(plan, [{child: ps} for child, ps in enumerate(parents) if ps])

    def length(one: Groups) -> float:
        return one.value(plan) - groups_cost(plan, one, final=False)

    chooser = Chooser(plan, sets, thorough=True)
    for step in (merged, split, resized):
        after = step(plan, groups)
        assert sorted(c for group in after.members for c in group.families) == list(range(observed.n_nodes))
        assert length(after) >= length(groups) - 1e-6
        groups = chooser.swept(after)
        assert length(groups) >= length(after) - 1e-6


@some
@given(data=st.data())
def test_the_classes_are_never_worse_than_the_limits(data):
    observed, n_parents = data.draw(small_data())
    plan = plan_for(observed, n_parents)
    found = discover(plan, "auto")
    assert found.state.score >= found.shared_score - 1e-9
    assert found.state.score >= found.node_score - 1e-9
    assert (found.share == "classes") <= (found.classes_score is not None)


def two_kernels(seed, n_rows, n_nodes=12, n_states=3):
    """Rows of a graph whose nodes follow one kernel or another, the graph, and who follows which."""
    rng = np.random.default_rng(seed)
    kernels = [rng.dirichlet(np.ones(n_states), size=(n_states, n_states)) for _ in range(2)]
    parents, labels = [(), ()], [-1, -1]
    rows = np.empty((n_rows, n_nodes), dtype=np.int8)
    rows[:, :2] = rng.integers(0, n_states, (n_rows, 2))
    for child in range(2, n_nodes):
        parents.append(tuple(rng.choice(child, 2, replace=False).tolist()))
        labels.append(int(rng.integers(2)))
        laws = kernels[labels[-1]][tuple(rows[:, parent] for parent in parents[-1])]
        rows[:, child] = (rng.random(n_rows)[:, None] > laws.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return rows, parents, labels


def same_partition(labels, others):
    pairs = zip(labels, others, strict=True)
    return len({*pairs}) == len({*labels}) == len({*others})


@pytest.mark.parametrize("seed", [8401, 8402, 8404])
def test_two_kernels_of_one_in_degree_are_told_apart(seed):
    rows, parents, labels = two_kernels(seed, 300)
    plan = plan_for(rows_observed(rows))
    found = discover(plan)
    assert edge_set(found.state.parents) == edge_set(parents)
    assert found.share == "classes"
    assert found.state.score == found.classes_score > max(found.shared_score, found.node_score)
    assert same_partition(found.plan.labels[2:], labels[2:])
    assert found.plan.labels[:2] == (0, 0)
    if seed == 8401:  # where their mean misleads
        assert edge_set(discover(plan, "shared").state.parents) != edge_set(parents)


def test_one_kernel_stays_one_class():
    rng = np.random.default_rng(8411)
    dag = Dag.random(14, 2, rng=rng)
    rows = sample(Process(dag, Kernel.random(3, 2, rng=rng)), 300, rng=rng)
    found = discover(plan_for(rows_observed(rows)), "classes")
    assert found.share == "shared"
    assert found.classes_score is None
    assert edge_set(found.state.parents) == set(dag.edges)


def test_a_kernel_without_an_order_and_one_with():
    rng = np.random.default_rng(8412)
    ordered, n_rows = Kernel.random(3, 2, rng=rng).table, 400
    rows = np.empty((n_rows, 14), dtype=np.int8)
    rows[:, :4] = rng.integers(0, 3, (n_rows, 4))
    for child in range(4, 14):
        mother, father = rng.choice(child, 2, replace=False)
        table = Kernel.mendelian().table if child % 2 else ordered
        laws = table[rows[:, mother], rows[:, father]]
        rows[:, child] = (rng.random(n_rows)[:, None] > laws.cumsum(axis=1)[:, :-1]).sum(axis=1)
    found = discover(plan_for(rows_observed(rows)))
    pools = {found.plan.labels[child]: found.pool_of(child) for child in range(4, 14)}
    assert same_partition(found.plan.labels[4:], [child % 2 for child in range(4, 14)])
    assert sorted(pool.symmetric for pool in pools.values()) == [False, True]


def test_classes_of_an_exact_law():
    rng = np.random.default_rng(8413)
    kernels = [rng.dirichlet(np.ones(2), size=(2, 2)) for _ in range(2)]
    parents = [(), (), (0, 1), (1, 2), (0, 3), (2, 4), (3, 5)]
    law = np.ones((2,) * 7)
    for cell in np.ndindex(law.shape):
        for child, ps in enumerate(parents):
            law[cell] *= (
                kernels[child % 2][cell[ps[0]], cell[ps[1]], cell[child]] if ps else (0.4, 0.6)[cell[child]]
            )
    found = discover(plan_for(law_observed(law), starts=2))
    assert edge_set(found.state.parents) == edge_set(parents)
    assert found.share == "classes"
    assert same_partition(found.plan.labels[2:], [0, 1, 0, 1, 0])


def test_gaps_errors_and_masks_go_with_classes():
    rows, parents, labels = two_kernels(8402, 600)
    rng = np.random.default_rng(8414)
    holes = np.where(rng.random(rows.shape) < 0.03, -1, rows).astype(np.int8)
    found = discover(plan_for(rows_observed(holes)))
    assert edge_set(found.state.parents) == edge_set(parents)
    assert same_partition(found.plan.labels[2:], labels[2:])
    noisy = np.where(rng.random(rows.shape) < 0.02, rng.integers(0, 3, rows.shape), rows).astype(np.int8)
    free = discover(plan_for(rows_observed(noisy), error=0.02))
    assert free.share == "classes"
    assert all(free.pool_of(child).error == 0.02 for child in range(2, 12))
    masks = candidate_sets(12, required=[(0, 1)], forbidden=[(parents[11][0], 11)])
    masked = discover(plan_for(rows_observed(rows), candidates=masks), "classes")
    assert 0 in masked.state.parents[1]
    assert parents[11][0] not in masked.state.parents[11]


def test_groups_with_parents_of_two_alphabets_have_one_order():
    rng = np.random.default_rng(8415)
    rows = rng.integers(0, 2, (60, 5)).astype(np.int8)
    observed = type(rows_observed(rows))(rows, (2, 3, 2, 2, 2), alphabets=(0, 1, 0, 0, 0))
    plan = plan_for(observed)
    one, other = groups_from(plan, [{2: (1, 0)}, {3: (0, 1)}]).members[:2]
    assert one.families == {2: (0, 1)}
    assert one.shape == other.shape == ((0, 1), 0)
    assert joined(plan, one, other).families == {2: (0, 1), 3: (0, 1)}


def test_many_nodes_are_looked_at_near_the_better_limit_only():
    rows, parents, _ = two_kernels(8403, 200, n_nodes=64)
    plan = plan_for(rows_observed(rows))
    sets = own_sets(plan)
    alone = first_parents(plan, sets)
    found = classify(plan, sets, alone, alone, thorough=False)
    assert found.kind == "classes"
    right = edge_set(found.groups.parents) & edge_set(parents)
    assert len(right) > len(edge_set(alone) & edge_set(parents))


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("weights", [None, "law"])
def test_a_group_that_a_node_joins_and_leaves_is_the_group_of_those_families(gaps, weights):
    rng = np.random.default_rng(7490)
    rows = rng.integers(-1 if gaps else 0, 3, (60, 5))
    observed = rows_observed(rows) if weights is None else RowCounts(rows, (3,) * 5, rng.dirichlet(np.ones(60)))
    plan = plan_for(observed, 2)
    group = group_of(plan, {2: (0, 1), 3: (1, 0)})
    larger = joined_by(plan, group, 4, (3, 1))
    expected = group_of(plan, {2: (0, 1), 3: (1, 0), 4: (3, 1)})
    assert larger.families == expected.families
    np.testing.assert_allclose(larger.counts, expected.counts)
    assert larger.value == pytest.approx(expected.value)
    again = left_by(plan, larger, 4)
    assert again.families == group.families
    assert again.value == pytest.approx(group.value)
    # The rows that a family has depend on its parents where values are missing.
    parts = [family_part(plan, 4, parents) for parents in ((), (0,), (0, 1), (0,))]
    assert parts[1] == parts[3]
    for parents, part in zip(((), (0,), (0, 1)), parts, strict=False):
        assert part == pytest.approx(family_part(plan_for(rebuilt(observed), 2), 4, parents))


def rebuilt(observed):
    """The same rows with nothing remembered."""
    return RowCounts(observed.codes, observed.sizes, observed.weights)


def test_a_family_with_other_roles_has_the_same_counts():
    observed = rows_observed(np.random.default_rng(7491).integers(0, 3, (40, 4)))
    plan = plan_for(observed, 3)
    for parents in itertools.permutations(range(3)):
        np.testing.assert_array_equal(plan.family(3, parents), observed.family(3, parents))
