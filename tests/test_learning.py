"""``learn`` from every kind of input to a graph."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from kgmi import (
    Dag,
    FiniteKernels,
    Kernel,
    PairMixture,
    Process,
    Table,
    count_pairs,
    exact_joint,
    learn,
    sample,
)
from kgmi.metrics import compare

KERNEL = Kernel.paper()
PAPER = Process(Dag.paper(), KERNEL)
POPULATION = exact_joint(PAPER)
ROWS = sample(PAPER, 20_000, rng=np.random.default_rng(0))
LABELLED = sample(PAPER, 40_000, rng=np.random.default_rng(1), labelled=True)
NAMES = tuple("ABCDEFGHIJ")


@pytest.mark.parametrize("solver", ["ascent", "limit"])
def test_the_population_gives_all_sixteen_edges(solver):
    learned = learn(POPULATION, kernel=KERNEL, solver=solver)
    result = compare(learned.dag, PAPER.dag)
    assert (result.n_true, result.f1, result.shd) == (16, 1.0, 0)
    assert learned.converged
    assert (learned.trace is None) == (solver == "limit")
    assert learned.kernel is KERNEL
    assert learned.attention.shape == learned.scores.shape == (2, 10, 10)
    assert learned.names == tuple(f"X{n}" for n in range(1, 11))
    assert (learned.n_nodes, learned.n_heads) == (10, 2)
    assert learned.margins[:, 2:].min() == pytest.approx(0.002, abs=1e-4)
    assert str(learned).startswith("10 nodes, 16 edges. ")


def test_rows_counts_and_tables_give_the_same_graph():
    table = Table(ROWS, NAMES, ("low", "mid", "high"))
    counts = count_pairs(ROWS[:7_000], 3) + count_pairs(ROWS[7_000:], 3)
    sources = (ROWS, ROWS.tolist(), counts, table)
    learned = [learn(source, kernel=KERNEL, guide="stationary") for source in sources]
    for one in learned:
        assert one.dag == PAPER.dag
        np.testing.assert_array_equal(one.scores, learned[0].scores)
        assert one.configuration == learned[0].configuration
        assert one.joint.n_rows == 20_000
    assert learned[3].names == NAMES
    assert learned[3].states == ("low", "mid", "high")
    assert learned[3].parents["C"] == ("A", "B")
    assert learned[0].parents["X1"] == ()
    assert learn(table, kernel=KERNEL, names=learned[0].names).names == learned[0].names


def test_labelled_rows_need_no_kernel():
    learned = learn(LABELLED, labelled_form="factorised")
    assert compare(learned.dag, PAPER.dag).f1 > 0.9
    assert learned.configuration["guide"] == "labelled"
    assert learned.configuration["divergence"] == "pearson"
    assert learned.kernel is None
    assert learned.assumptions is None
    printed = learn(LABELLED, kappa=0.1)
    assert printed.configuration["labelled_form"] == "printed"
    assert not np.array_equal(printed.scores, learned.scores, equal_nan=True)
    known = learn(LABELLED, kernel=KERNEL, guide="stationary")
    assert known.dag == PAPER.dag


def test_joints_of_a_random_kernel_are_averaged_and_their_late_roots_found():
    dag = Dag([(), (), (0, 1), (1, 2), (), (3, 4)])
    law = FiniteKernels([Kernel.paper(), Kernel([[[0.8, 0.1, 0.1]] * 3] * 2 + [[[0.1, 0.1, 0.8]] * 3])], [0.5, 0.5])
    mixture = exact_joint(Process(dag, law))
    assert isinstance(mixture, PairMixture)
    learned = learn(mixture, kernel=law, solver="limit")
    # Averaged over kernels node 4 depends on the others; under each kernel it does not.
    assert learned.dag.parents[4] == ()
    assert learned.assumptions is None
    assert learned.joint.n_rows is None
    np.testing.assert_allclose(learned.joint.joint, mixture.joint)
    assert "No kernel was given" not in learn(mixture, kernel=law, guide="plain").status


def test_a_node_that_depends_under_one_kernel_is_no_root():
    blind = Kernel([[0.5, 0.5], [0.5, 0.5]])
    law = FiniteKernels([blind, Kernel([[0.9, 0.1], [0.2, 0.8]])])
    learned = learn(exact_joint(Process(Dag.chain(3), law)), kernel=law)
    assert learned.dag == Dag.chain(3)


def test_plain_information_collapses_both_heads_onto_one_parent():
    learned = learn(POPULATION, n_parents=2)
    np.testing.assert_array_equal(learned.attention[0], learned.attention[1])
    assert [len(set(parents)) for parents in learned.dag.parents] == [0, 0] + [1] * 8
    assert learn(POPULATION, kernel=KERNEL, guide="plain").dag == learned.dag


def test_mixed_in_degrees_are_read_off_concentrated_heads():
    process = Process(Dag.paper_mixed(), KERNEL)
    learned = learn(exact_joint(process), kernel=KERNEL, in_degree="mixed")
    result = compare(learned.dag, process.dag)
    assert result.missing == ()  # every true edge; surplus heads may add an ancestor
    assert result.apart == ((0, 1),)
    assert learned.dag.parents[1] == (0,)  # one candidate; with in-degree 0 or K it would be a root
    short = learn(exact_joint(process), kernel=KERNEL, in_degree="mixed", epochs=100)
    assert short.dag.n_edges < learned.dag.n_edges
    assert not short.converged


def test_roots_are_told_or_tested():
    two = Process(Dag.paper(5).copies(2), KERNEL)
    rows = sample(two, 20_000, rng=np.random.default_rng(3))
    tested = learn(rows, kernel=KERNEL, guide="stationary")
    assert 5 in tested.dag.roots
    assert tested.dag.parents[6] != ()  # drawn jointly with node 5, which looks like an edge
    told = learn(rows, kernel=KERNEL, guide="stationary", roots={5, 6})
    assert told.dag == two.dag
    children = [node for node, parents in enumerate(two.dag.parents) if parents]
    assert told.trace.epochs[-1] == told.stopped[:, children].max()  # roots are not waited for
    assert (told.stopped[:, 5] < 0).any()
    assert told.configuration["roots"] == [5, 6]
    assert learn(rows, kernel=KERNEL, guide="stationary", roots=[]).dag.parents[5] != ()
    assert learn(rows, kernel=KERNEL, guide="stationary", roots=range(10)).dag.n_edges == 0


def test_likelihood_sees_which_roots_are_drawn_together():
    two = Process(Dag.paper(5).copies(2), KERNEL)
    rows = sample(two, 20_000, rng=np.random.default_rng(3))
    for options in ({}, {"kernel": KERNEL}, {"roots": {1, 5, 6}}):
        learned = learn(rows, **options)
        assert learned.dag == two.dag
        assert learned.dag.root_blocks == two.dag.root_blocks
    assert learn(rows, kernel=KERNEL, roots=range(10)).dag.n_edges == 0


def test_a_state_that_never_occurs_is_still_a_state():
    rows = np.where(ROWS == 2, 1, ROWS)
    assert learn(rows, n_states=4, solver="limit").states == ("0", "1", "2", "3")
    assert learn(rows, solver="limit").configuration["n_states"] == 2
    assert learn(rows, kernel=KERNEL, solver="limit").configuration["n_states"] == 3


@pytest.mark.parametrize("guide", ["stationary", "likelihood", "contextual"])
def test_inputs_are_not_modified(guide):
    rows, roots, names = ROWS.copy(), [1, 4], list(NAMES)
    learn(rows, kernel=KERNEL, guide=guide, roots=roots, names=names)
    np.testing.assert_array_equal(rows, ROWS)
    assert roots == [1, 4]
    assert names == list(NAMES)


def test_a_trace_and_progress_are_passed_on():
    seen = []
    learned = learn(POPULATION, kernel=KERNEL, record_at=[5, 50], progress=seen.append)
    assert list(learned.trace.epochs[:3]) == [0, 5, 50]
    assert [step.phase for step in seen][-1] == "ascent"
    assert (seen[-1].total, seen[-1].unit) == (50_000, "epochs")
    assert 0 < seen[-1].done <= 4_663


@pytest.mark.parametrize("source", [POPULATION, ROWS[:500]], ids=["population", "rows"])
def test_a_result_can_be_pickled_and_copied(source):
    learned = learn(source, kernel=KERNEL, solver="limit")
    for again in (pickle.loads(pickle.dumps(learned)), copy.deepcopy(learned)):  # noqa: S301
        assert again.status == learned.status
        assert str(again.assumptions) == str(learned.assumptions)
        assert again.dag == learned.dag
        assert np.array_equal(again.scores, learned.scores, equal_nan=True)
        assert again.fit == learned.fit
        assert (again.model is None) == (source is POPULATION)


@pytest.mark.parametrize("guide", ["stationary", "likelihood", "contextual"])
def test_what_is_said_later_does_not_depend_on_what_became_of_the_input(guide):
    rows = sample(Process(Dag.paper(10), KERNEL), 3_000, rng=8)
    learned, same = (learn(given, kernel=KERNEL, guide=guide) for given in (rows, rows.copy()))
    rows[:] = 0
    assert learned.status == same.status
    assert str(learned.assumptions) == str(same.assumptions)
    for found, expected in zip(learned.model.tables, same.model.tables, strict=True):
        np.testing.assert_array_equal(found, expected)
