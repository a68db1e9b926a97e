"""From rows, or an exact distribution, to the graph and its kernels: what a user meets."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, learn, sample
from kgmi.counts.bits import RowCounts
from kgmi.kernel.tunables import random_tunables
from kgmi.metrics import compare
from kgmi.score import block_laws, with_errors
from kgmi.search import solve
from kgmi.search.rounds import State, keyed_state

from . import brute, plain_guides
from .search_drills import (
    edge_set,
    kernel_of,
    law_observed,
    paper_kernel,
    problem_for,
    rows_observed,
    small_data,
)

SINGLE = Kernel([[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.3, 0.6, 0.1]])


def drawn(dag, kernel, n_rows, seed, **more):
    """Counts of rows of a process."""
    return rows_observed(sample(Process(dag, kernel, **more), n_rows, rng=seed), kernel.n_states)


def kernel_in(state: State, n_parents):
    """The one group of nodes with so many parents."""
    (found,) = [group for group in state.groups if group.n_parents == n_parents]
    return found


def off_in_either_order(table, kernel):
    """How far a table is from a kernel; which parent is the first is not told by the rows."""
    return min(np.abs(table - one).max() for one in (kernel.table, kernel.table.swapaxes(0, 1)))


# ---- one kernel for many nodes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(7501, 7507))
def test_the_papers_graph_is_found_from_rows_alone(seed):
    kernel = paper_kernel(np.random.default_rng(seed))
    found = solve(problem_for(drawn(Dag.paper(10), kernel, 1000, seed)))
    assert edge_set(found.parents) == {*Dag.paper(10).edges}
    assert found.state.together[1] == (0,)  # the two roots are drawn together from the stationary distribution
    group = kernel_in(found.state, 2)
    assert group.size == 8
    assert off_in_either_order(group.table, kernel) < 0.1
    assert found.state.settled


PEDIGREE = Dag([(), (), (), (), (0, 1), (2, 3), (1, 2), (4, 5), (0, 6), (4, 6)], [(i,) for i in range(4)])
XOR = Kernel(np.array([[[0.95, 0.05], [0.05, 0.95]], [[0.05, 0.95], [0.95, 0.05]]]))
CHAIN = Dag.chain(10, 3), Kernel.random(2, 3, rng=7613, concentration=0.7)


@pytest.mark.parametrize(
    ("dag", "kernel", "n_rows", "is_symmetric"),
    [
        (PEDIGREE, Kernel.mendelian(), 300, True),
        (Dag.random(10, 2, rng=7512), XOR, 300, True),
        (*CHAIN, 3000, False),
    ],
    ids=["no order of the parents", "xor", "three parents"],
)
def test_kernels_of_all_kinds_are_found(dag, kernel, n_rows, is_symmetric):
    found = solve(problem_for(drawn(dag, kernel, n_rows, 7511), kernel.n_parents))
    assert edge_set(found.parents) == {*dag.edges}
    group = kernel_in(found.state, kernel.n_parents)
    assert group.symmetric == is_symmetric
    if is_symmetric:
        np.testing.assert_allclose(group.table, kernel.table, atol=0.08)
    else:
        assert found.state.together[:3] == ((), (0,), (0, 1))  # roots are drawn together by threes


@pytest.mark.parametrize("seed", [7601, 7602, 7603])
def test_nodes_that_share_a_kernel_need_fewer_rows(seed):
    counts = drawn(Dag.paper(10), paper_kernel(np.random.default_rng(seed)), 150, seed)
    alone, shared = (Dag(solve(problem_for(counts, share=share)).parents) for share in ("node", "auto"))
    assert compare(shared, Dag.paper(10)).f1 >= max(0.9, compare(alone, Dag.paper(10)).f1)


@pytest.mark.parametrize(("dag", "n_rows"), [(Dag.paper(10), 1000), (Dag.paper(5).copies(3), 600)])
def test_heads_short_lists_and_all_tuples_agree_where_the_rows_are_clear(dag, n_rows):
    counts = drawn(dag, Kernel.paper(), n_rows, 7513)
    found = [solve(problem_for(counts, search=search)) for search in ("heads", "lists", "exhaustive")]
    assert edge_set(found[2].parents) == {*dag.edges}
    between_roots = {(one, other) for one in dag.roots for other in dag.roots}
    for quick in found[:2]:  # they may draw two roots together that all tuples keep apart
        assert {*dag.edges} <= edge_set(quick.parents) <= {*dag.edges} | between_roots
        assert quick.score.total == pytest.approx(found[2].score.total, abs=4.0)


def test_exact_distributions_are_searched_like_rows():
    rng = np.random.default_rng(7515)
    dag = Dag([(), (), (0, 1), (1, 2), (0, 3)])
    for _ in range(3):
        kernel = paper_kernel(rng)
        found = solve(problem_for(law_observed(brute.full_table(Process(dag, kernel))), degrees=(0, 2)))
        assert edge_set(found.parents) == {*dag.edges}
        assert off_in_either_order(kernel_in(found.state, 2).table, kernel) < 1e-9


def test_the_roles_of_the_parents_are_those_of_one_kernel():
    """Of several nodes all have their parents in the order of the kernel, or all the other way round."""
    dag = Dag([(), (), (1, 0), (0, 2), (3, 1), (2, 4), (5, 3)], [(0,), (1,)])
    found = solve(problem_for(drawn(dag, paper_kernel(np.random.default_rng(7901)), 1000, 7901)))
    assert found.parents in (dag.parents, tuple(parents[::-1] for parents in dag.parents))


def test_parents_of_several_alphabets_share_a_kernel_in_one_order():
    rng = np.random.default_rng(7516)
    sizes = (2, 3, 2, 3, 2, 2, 2, 2)
    rows = (rng.random((600, 8)) * sizes).astype(np.int8)
    table = rng.dirichlet(np.ones(2) * 0.3, size=(2, 3))
    parents = [(), (), (), (), (0, 1), (2, 3), (4, 1), (5, 3)]
    for child in range(4, 8):
        law = table[rows[:, parents[child][0]], rows[:, parents[child][1]]]
        rows[:, child] = rng.random(600) < law[:, 1]
    found = solve(problem_for(RowCounts(rows, sizes)))
    assert [{*ps} for ps in found.parents] == [{*ps} for ps in parents]
    group = kernel_in(found.state, 2)
    assert group.size == 4
    assert group.table.shape in ((2, 3, 2), (3, 2, 2))
    assert not group.symmetric


# ---- kernels of fewer parents -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [1000, 3000])
def test_each_in_degree_has_its_kernel(n_rows):
    dag, kernel = Dag.paper_mixed(), paper_kernel(np.random.default_rng(7512))
    found = solve(problem_for(drawn(dag, kernel, n_rows, 7512, degree_kernels={1: SINGLE})))
    assert edge_set(found.parents) == {*dag.edges}
    single = kernel_in(found.state, 1)
    assert single.size == sum(len(ps) == 1 for ps in dag.parents)
    assert not single.implied
    np.testing.assert_allclose(single.table, SINGLE.table, atol=0.08)


def test_a_kernel_of_fewer_parents_is_that_of_the_most_with_the_others_averaged_out():
    dag, kernel = Dag.paper_mixed(), Kernel.paper(random_tunables(np.random.default_rng(7)))
    problem = problem_for(drawn(dag, kernel, 3000, 11))
    found = solve(problem)
    single, pair = kernel_in(found.state, 1), kernel_in(found.state, 2)
    assert single.implied
    assert not single.known
    options = []
    for turned in (pair.table, pair.table.transpose(1, 0, 2)):
        other = Kernel(turned).stationary.sum(axis=0)  # the same for both places
        options += [np.einsum("abc,b->ac", turned, other), np.einsum("bac,b->ac", turned, other)]
    assert min(np.abs(single.table - one).max() for one in options) < 1e-9
    np.testing.assert_allclose(single.table, kernel.marginalise(1).table, atol=0.05)
    # With one node alone it is as likely a root that is drawn together with its parent.
    parents = tuple(ps if len(ps) != 1 or node == 6 else () for node, ps in enumerate(dag.parents))
    assert not kernel_in(keyed_state(problem, parents), 1).implied


# ---- roots ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_parents", [2, 3])
def test_roots_are_drawn_from_the_stationary_distribution_of_every_order_of_the_roles(n_parents):
    kernel = Kernel.random(2, n_parents, rng=7602)
    problem = problem_for(rows_observed(np.random.default_rng(7601).integers(0, 2, (60, 5)), 2), n_parents)
    laws = block_laws(problem, [kernel_of(problem, 4, range(n_parents), kernel.table)])
    assert {len(earlier) for _, earlier, _ in laws} == {*range(1, n_parents)}
    for (_, earlier, _), some in laws.items():
        for order, law in zip(permutations(range(n_parents)), some, strict=True):
            stationary = brute.stationary(kernel.table.transpose(*order, n_parents))
            joint = stationary.sum(axis=tuple(range(len(earlier) + 1, n_parents)))
            np.testing.assert_allclose(law, joint / joint.sum(axis=-1, keepdims=True), atol=1e-9)
    mendel = problem_for(rows_observed(np.zeros((5, 4), dtype=int)), 2)
    assert block_laws(mendel, [kernel_of(mendel, 3, (0, 1), Kernel.mendelian().table)]) == {}


ROOTS = {
    "two components": (Dag.paper(5).copies(2), [1, 6]),
    "drawn alone": (Dag([(), (), (0, 1), (1, 2), (0, 3), (2, 4)], [(0,), (1,)]), []),
    "followed": (Dag([(), (), (0, 1), (1, 2), (0, 3), (2, 4), (0,)], [(0,), (1,)]), []),  # no block is open then
}


@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.parametrize("seed", [7611, 7612])
def test_roots_are_drawn_together_or_alone_as_they_are(name, seed):
    dag, later = ROOTS[name]
    found = solve(problem_for(drawn(dag, Kernel.random(3, 2, rng=7616, concentration=0.7), 2000, seed)))
    assert edge_set(found.parents) == {*dag.edges}
    assert [node for node, block in enumerate(found.state.together) if block] == later


def test_inside_a_tier_a_follower_closes_nothing():
    kernel = Kernel(np.random.default_rng(801).dirichlet(np.ones(3) * 0.4, size=(3, 3)))
    dag = Dag([(), (), (), (0, 2)], [(0, 1), (2,)])
    rows = sample(Process(dag, kernel), 3000, rng=8_000)[:, [0, 2, 3, 1]]  # the last is drawn with the first
    counts, tiers = rows_observed(rows), ([0, 0, 1, 1], [0, 0, 1, 2])
    one, other = (solve(problem_for(counts, candidates={"tiers": some})) for some in tiers)
    assert {*one.parents[2]} == {0, 1}
    assert (one.parents[3], one.state.together[3]) == ((), (0,))
    assert other.state.together[3] == ()


def test_roots_that_may_not_depend_on_each_other_or_have_other_states_are_not_drawn_together():
    counts = drawn(Dag.paper(5), paper_kernel(np.random.default_rng(7618)), 2000, 7618)
    assert solve(problem_for(counts)).state.together[1] == (0,)
    for limits in ({"forbidden": [(0, 1)]}, {"forbidden": [(1, 0)], "tiers": [0, 0, 1, 1, 1]}):
        assert solve(problem_for(counts, candidates=limits)).state.together[1] == ()
    other = RowCounts(counts.codes, counts.sizes, alphabets=(3, 5, 3, 3, 3))
    assert solve(problem_for(other)).state.together[1] == ()


def test_two_marginals_are_two_distributions_and_no_edges():
    shares = [0.01, 0.03] * 5
    rows = (np.random.default_rng(9103).random((10_000, 10)) < shares).astype(np.int8)
    found = solve(problem_for(rows_observed(rows, 2)))
    assert not any(found.parents)
    assert sorted(group.table[1].round(2) for group in found.state.groups) == [0.01, 0.03]


# ---- what is known beforehand -----------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [{}, {2: Kernel.paper().table}])
def test_required_edges_are_in_the_result_even_where_the_rows_say_nothing(known):
    observed = rows_observed(np.random.default_rng(7531).integers(0, 3, (60, 6)))
    found = solve(problem_for(observed, candidates={"required": [(1, 4), (0, 5)]}, known=known))
    assert {(1, 4), (0, 5)} <= edge_set(found.parents)


@settings(max_examples=40)
@given(data=st.data())
def test_any_rows_under_any_rules_give_an_allowed_graph_that_no_start_beats(data):
    observed, n_parents = data.draw(small_data())
    child = observed.n_nodes - 1
    required = [(data.draw(st.integers(0, child - 1)), child)] if data.draw(st.booleans()) else []
    forbidden = [(j, child) for j in range(child) if (j, child) not in required and data.draw(st.booleans())]
    degrees = data.draw(st.sampled_from([None, (0, n_parents)]))
    share = data.draw(st.sampled_from(["auto", "shared", "classes", "node"]))
    search = data.draw(st.sampled_from(["auto", "lists", "heads"]))
    order = data.draw(st.permutations(range(child)))
    rules = {"required": required, "forbidden": forbidden, "order": [*order, child]}
    problem = problem_for(observed, n_parents, degrees=degrees, candidates=rules, share=share, search=search)
    found = solve(problem)
    assert np.isfinite(found.score.total)
    assert {*required} <= edge_set(found.parents)
    assert not edge_set(found.parents) & {*forbidden}
    place = np.argsort(found.order)
    assert all(place[parent] < place[node] for parent, node in edge_set(found.parents))
    assert all(problem.allows(node, parents) for node, parents in enumerate(found.parents))
    assert found.score.total == pytest.approx(found.scores[found.share])
    chance = 0.0 if any(found.parents) else np.log(100)  # edges that may be chance are left out
    assert found.score.total >= max(found.scores.values()) - 1e-9
    if not observed.has_gaps and share != "node":
        assert found.score.total >= found.start_score - chance - 1e-9


def test_nodes_with_another_label_have_a_kernel_of_their_own():
    rng = np.random.default_rng(7517)
    tables = [Kernel.random(2, 1, rng=rng).table for _ in range(2)]
    rows = rng.integers(0, 2, (500, 6))
    for child in range(2, 6):
        rows[:, child] = rng.random(500) < tables[child % 2][rows[:, child - 2], 1]
    found = solve(problem_for(rows_observed(rows, 2), 1, labels=(0, 1) * 3, smoothing=0.0, share="shared"))
    assert [*map(set, found.parents[2:])] == [{0}, {1}, {2}, {3}]
    for group in found.state.kernels:
        assert {*group.families} in ({2, 4}, {3, 5})
        counts = [plain_guides.family(rows, (2,) * 6, None, ps, child) for child, ps in group.families.items()]
        np.testing.assert_allclose(group.table, sum(counts) / sum(counts).sum(axis=1, keepdims=True))


def noisy(kernel, error, n_rows, seed):
    """Rows in which every node is drawn from its parents as they are read; a share of the readings is random."""
    return drawn(Dag(Dag.paper(10).parents, [(0,), (1,)]), Kernel(with_errors(kernel.table, error)), n_rows, seed)


@pytest.mark.parametrize("error", [0.0, 0.05, 0.2])
def test_the_rate_of_errors_is_estimated_with_a_known_kernel(error):
    known = {2: Kernel.paper().table}
    problem = problem_for(noisy(Kernel.paper(), error, 3000, 7514), degrees=(0, 2), known=known, error=None)
    found = solve(problem)
    assert found.parents == Dag.paper(10).parents  # the known kernel tells the roles too
    group = kernel_in(found.state, 2)
    assert group.known
    assert group.size == 8
    assert group.error == found.problem.error == pytest.approx(error, abs=0.02)
    np.testing.assert_array_equal(group.table, known[2])
    fits = [float((group.counts * np.log(with_errors(known[2], e))).sum()) for e in np.linspace(0, 0.5, 101)]
    assert group.fit >= max(fits) - 1e-9


@pytest.mark.parametrize("kernel", [Kernel.paper(), Kernel.mendelian()])
def test_known_errors_are_no_part_of_the_learned_kernel(kernel):
    counts, parents = noisy(kernel, 0.1, 5000, 7516), Dag.paper(10).parents
    states = [keyed_state(problem_for(counts, error=error), parents) for error in (0.1, 0.0)]
    off = [np.abs(kernel_in(state, 2).table - kernel.table).max() for state in states]
    assert off[0] < min(0.05, off[1])


# ---- parents with gaps ------------------------------------------------------------------------------------------


def copied(rng, column, share):
    """A column with a share of its values drawn anew."""
    return np.where(rng.random(len(column)) < share, rng.integers(0, 3, len(column)), column)


def with_gaps(rng, rows, shares):
    rows = rows.copy()
    rows[rng.random(rows.shape) < shares] = -1
    return rows


def stand_in(seed, n_rows, gaps, noise):
    """X1 → X3 with many gaps in X1, and X2, which resembles X1 and has none."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 3, n_rows)
    rows = np.stack([true, copied(rng, true, noise), copied(rng, true, 0.2)], axis=1)
    return with_gaps(rng, rows, [gaps, 0, 0])


@pytest.mark.parametrize("share", ["auto", "node", "shared"])
@pytest.mark.parametrize(("n_rows", "gaps", "noise"), [(2_000, 0.8, 0.4), (2_000, 0.5, 0.15), (30_000, 0.8, 0.4)])
def test_the_true_parent_beats_a_stand_in_that_was_always_seen(share, n_rows, gaps, noise):
    """Where nodes must share kernels, X2 and X3 cannot both follow X1 alone if they do so in different ways."""
    learned = learn(stand_in(7701, n_rows, gaps, noise), n_parents=2, missing="pairwise", share=share)
    assert "X1" in learned.parents["X3"]
    assert share == "shared" or learned.parents["X3"] == ("X1",)


def test_the_scores_of_the_heads_are_those_that_decided_and_what_is_required_stays():
    rows = stand_in(7722, 2_000, 0.8, 0.4)
    learned = learn(rows, n_parents=1, missing="pairwise")
    assert learned.scores[0, 2, 0] > learned.scores[0, 2, 1]
    assert learned.attention[0, 2].argmax() == 0
    assert "prefers X1 to X2" in learned.status
    assert "Taken one by one" not in learned.status
    needed = learn(rows, n_parents=1, missing="pairwise", required=[("X2", "X3")])
    assert needed.parents["X3"] == ("X2",)


def test_one_of_two_parents_with_gaps_beats_its_stand_in():
    rng = np.random.default_rng(7702)
    rows = rng.integers(0, 3, (4_000, 3))
    rows[:, 2] = copied(rng, rows[:, 0], 0.3)
    chance = Kernel.random(3, 2, rng=7703, concentration=0.3).table[rows[:, 0], rows[:, 1]]
    full = np.column_stack([rows, (rng.random(4_000)[:, None] > chance.cumsum(axis=1)).sum(axis=1)])
    for table in (full, with_gaps(rng, full, [0.6, 0, 0, 0])):
        assert {*learn(table, n_parents=2, missing="pairwise").parents["X4"]} == {"X1", "X2"}


def test_without_stand_ins_gaps_change_nothing():
    rng = np.random.default_rng(7705)
    rows = with_gaps(rng, sample(Process(Dag.paper(), paper_kernel(rng)), 1_500, rng=rng), 0.15)
    assert edge_set(solve(problem_for(rows_observed(rows))).parents) == {*Dag.paper().edges}


@pytest.mark.parametrize("filled", [0.02, 0.1])
def test_a_noise_column_that_is_hardly_ever_seen_is_nobodys_parent(filled):
    edges = 0
    for seed in range(7710, 7718):
        rng = np.random.default_rng(seed)
        rows = sample(Process(Dag.paper(), Kernel.paper()), 500, rng=rng)
        noise = np.where(rng.random(500) < filled, rng.integers(0, 3, 500), -1)
        learned = learn(np.column_stack([noise, rows]), n_parents=2, n_states=3, missing="pairwise")
        edges += sum(0 in parents for parents in learned.dag.parents)
        heads = [(head, child) for child, ps in enumerate(learned.dag.parents) for head in range(len(ps))]
        assert all(learned.attention[head, child, 0] < 0.5 for head, child in heads if not edges)
    assert edges <= 1


@pytest.mark.parametrize("share", ["node", "auto"])
def test_without_common_rows_nobody_is_replaced(share):
    rng = np.random.default_rng(7720)
    rows = rng.integers(0, 3, (3_000, 6))
    rows[:, 5] = copied(rng, (rows[:, 2] + rows[:, 3]) % 3, 0.3)
    rows[:, 4] = copied(rng, rows[:, 5], 0.2)  # a copy of the child, before it in the order
    rows[:2_700, 4] = -1
    rows[2_700:, [2, 3]] = -1
    learned = learn(rows, n_parents=2, missing="pairwise", share=share)
    assert {*learned.parents["X6"]} == {"X3", "X4"}
    assert learned.status


def test_tables_that_would_be_too_large_are_not_made():
    rng = np.random.default_rng(7721)
    rows = rng.integers(0, 70, (30_000, 4))
    rows[:, 3] = np.where(rng.random(30_000) < 0.3, rows[:, 3], rows[:, 0])
    rows[rng.random(30_000) < 0.4, 1] = -1
    assert learn(rows, n_parents=2, missing="pairwise", share="node").parents["X4"] == ("X1",)
