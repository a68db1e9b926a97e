"""Who shares a kernel: classes of nodes that are found, and roots of one distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, sample
from kgmi.score import make_group, partition_cost, sharing_cost, with_errors
from kgmi.search import solve
from kgmi.search.roots import root_groups

from . import plain_guides
from .search_drills import edge_set, law_observed, problem_for, rows_observed, small_data, two_kernels


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
    sizes = [tuple(sorted(map(len, one))) for one in partitions([*range(n_nodes)])]
    assert sum(math.exp(-partition_cost(one)) for one in sizes) == pytest.approx(1.0)


def test_roots_are_divided_as_well_as_by_the_best_of_all_partitions():
    rng, missed = np.random.default_rng(9101), 0
    for seed in range(40):
        shares, n_rows = rng.choice([0.05, 0.2, 0.5, 0.53], 5), int(rng.choice([20, 80]))
        rows = np.random.default_rng(seed).random((n_rows, 5)) < shares
        problem = problem_for(rows_observed(rows.astype(np.int8), 2))

        def value(groups, problem=problem):
            made = [make_group(problem, dict.fromkeys(some, ())) for some in groups]
            return sum(one.value for one in made) - sharing_cost(problem, made)

        every = [value(groups) for groups in partitions([*range(5)])]
        limits = max(value([[*range(5)]]), value([[root] for root in range(5)]))
        found = value([[*group.families] for group in root_groups(problem, range(5))])
        assert limits - 1e-6 <= found <= max(every) + 1e-6
        missed += found < max(every) - 1e-6
    assert missed <= 7  # it joins two groups at a time


@settings(max_examples=40)
@given(data=st.data())
def test_groups_that_nodes_joined_and_left_are_those_of_their_families(data):
    observed, n_parents = data.draw(small_data())
    found = solve(problem_for(observed, n_parents, share=data.draw(st.sampled_from(["auto", "shared", "classes"]))))
    for group in found.state.groups:
        again = make_group(found.problem, group.families)
        np.testing.assert_allclose(group.counts, again.counts, atol=1e-9)
        assert group.implied or group.value == pytest.approx(again.value)


@pytest.mark.parametrize("error", [0.0, 0.15])
@pytest.mark.parametrize("symmetric", [False, True])
def test_standard_errors_are_the_spread_over_repeated_samples(symmetric, error):
    rng, table = np.random.default_rng(7306), Kernel.random(2, 2, rng=7307, concentration=3.0).table
    table = plain_guides.symmetric_table(table) if symmetric else table
    problem, made = problem_for(rows_observed(np.zeros((1, 4), dtype=int), 2), error=error), []
    families = {2: (0, 1), 3: (0, 1)} if symmetric else {2: (0, 1)}
    for _ in range(300):
        cases = rng.multinomial(2000, np.full(4, 0.25))
        rows = with_errors(table, error).reshape(4, 2)
        drawn = np.array([rng.multinomial(n, law) for n, law in zip(cases, rows, strict=True)])
        made.append(make_group(problem, families, drawn.reshape(2, 2, 2).astype(float)))
    same = [group for group in made if group.symmetric == symmetric]
    assert len(same) > 250
    spread = np.std([group.table for group in same], axis=0)
    np.testing.assert_allclose(np.mean([group.standard_errors for group in same], axis=0), spread, rtol=0.15)


def same_partition(groups, labels):
    """Whether the nodes with parents are divided as these labels say."""
    expected = {}
    for node, label in enumerate(labels):
        expected.setdefault(label, set()).add(node)
    expected.pop(-1, None)
    found = [{*group.families} for group in groups if group.n_parents]
    return sorted(map(sorted, found)) == sorted(map(sorted, expected.values()))


@pytest.mark.parametrize("seed", [8401, 8402, 8404])
def test_two_kernels_of_one_in_degree_are_told_apart(seed):
    rows, parents, labels = two_kernels(seed, 300)
    found = solve(problem_for(rows_observed(rows)))
    assert edge_set(found.parents) == edge_set(parents)
    assert found.share == "classes"
    assert found.score.total == found.scores["classes"] > max(found.scores["shared"], found.scores["node"])
    assert same_partition(found.state.groups, labels)
    if seed == 8401:  # where their mean misleads
        shared = solve(problem_for(rows_observed(rows), share="shared"))
        assert edge_set(shared.parents) != edge_set(parents)


def test_one_kernel_stays_one_class():
    rng = np.random.default_rng(8411)
    dag = Dag.random(14, 2, rng=rng)
    rows = sample(Process(dag, Kernel.random(3, 2, rng=rng)), 300, rng=rng)
    found = solve(problem_for(rows_observed(rows), share="classes"))
    assert found.share == "shared"
    assert len(found.state.kernels) == 1
    assert edge_set(found.parents) == {*dag.edges}


@pytest.mark.parametrize("seed", [8403, 8421, 8422])
def test_nodes_that_share_no_kernel_are_no_classes(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (400, 10)).astype(np.int8)
    for child in range(4, 10):
        law = rng.dirichlet(np.full(3, 0.3), size=3)[rows[:, child - 4]]
        rows[:, child] = (rng.random(400)[:, None] > law.cumsum(axis=1)[:, :-1]).sum(axis=1)
    found = solve(problem_for(rows_observed(rows)))
    assert edge_set(found.parents) == {(child - 4, child) for child in range(4, 10)}
    assert all(group.size == 1 for group in found.state.kernels)
    assert found.share == "node"


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
    found = solve(problem_for(rows_observed(rows)))
    assert same_partition(found.state.groups, [-1] * 4 + [child % 2 for child in range(4, 14)])
    assert [found.group_of(child).symmetric for child in (4, 5)] == [False, True]


def test_classes_of_an_exact_distribution():
    rng = np.random.default_rng(8413)
    kernels = [rng.dirichlet(np.ones(2), size=(2, 2)) for _ in range(2)]
    parents = [(), (), (0, 1), (1, 2), (0, 3), (2, 4), (3, 5)]
    law = np.ones((2,) * 7)
    for cell in np.ndindex(law.shape):
        for child, ps in enumerate(parents):
            odds = kernels[child % 2][cell[ps[0]], cell[ps[1]]] if ps else (0.4, 0.6)
            law[cell] *= odds[cell[child]]
    found = solve(problem_for(law_observed(law), starts=2))
    assert edge_set(found.parents) == edge_set(parents)
    assert found.share == "classes"
    assert same_partition(found.state.groups, [-1, -1, 0, 1, 0, 1, 0])


def test_gaps_errors_and_rules_go_with_classes():
    rows, parents, labels = two_kernels(8402, 600)
    rng = np.random.default_rng(8414)
    holes = np.where(rng.random(rows.shape) < 0.03, -1, rows)
    found = solve(problem_for(rows_observed(holes)))
    assert edge_set(found.parents) == edge_set(parents)
    assert same_partition(found.state.groups, labels)
    noisy = np.where(rng.random(rows.shape) < 0.02, rng.integers(0, 3, rows.shape), rows)
    free = solve(problem_for(rows_observed(noisy), error=0.02))
    assert free.share == "classes"
    assert all(group.error == 0.02 for group in free.state.kernels)
    rules = {"required": [(0, 1)], "forbidden": [(parents[11][0], 11)]}
    masked = solve(problem_for(rows_observed(rows), candidates=rules, share="classes"))
    assert 0 in masked.parents[1]
    assert parents[11][0] not in masked.parents[11]


@pytest.mark.parametrize(("seed", "share"), [(8403, "classes"), (8405, "auto")])
def test_many_nodes_find_classes_too(seed, share):
    rows, parents, _ = two_kernels(seed, 200, n_nodes=64)
    found = solve(problem_for(rows_observed(rows), share=share))
    assert found.share == "classes"
    assert edge_set(found.parents) == edge_set(parents)
    assert len(found.state.kernels) < 6
