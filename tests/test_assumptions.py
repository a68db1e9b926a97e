"""The assumption report: what holds, what does not, and by how much."""

from __future__ import annotations

import numpy as np
import pytest

from kgmi import Dag, FiniteKernels, Kernel, PairJoint, Process, count_pairs, exact_joint, sample
from kgmi.errors import KernelError
from kgmi.theory import check_fit, check_process

from . import brute

NAMES = ["positive kernel", "distinct marginal kernels", "stationary nodes", "stationary parents"]
PAPER = Process(Dag.paper(), Kernel.paper())


def held(report):
    assert [a.name for a in report.assumptions] == NAMES
    return [a.holds for a in report.assumptions]


def test_on_the_papers_graph_the_first_three_nodes_follow_the_stationary_law_and_the_others_do_not():
    report = check_process(PAPER)
    assert held(report) == [True, True, False, False]
    assert not report.holds
    np.testing.assert_allclose(report.marginal_distance[:3], 0, atol=1e-12)
    assert np.all(report.marginal_distance[3:] > 0.005)
    assert np.isnan(report.parent_distance[:2]).all()
    assert report.parent_distance[2] < 1e-12
    assert np.all(report.parent_distance[3:] > 0.05)
    assert report.n_rows is None
    text = str(report)
    assert text.count("FAILS") == 2
    assert "7 of 10 nodes do not follow μ_π: 4 by 0.02, 5 by 0.00909" in text
    assert "7 of 8 nodes do not have parents distributed as M_π: 4 by 0.111" in text
    joint = exact_joint(PAPER)
    np.testing.assert_allclose(joint.marginal[3], [0.294, 0.350, 0.357], atol=1e-3)  # measured once, by hand
    np.testing.assert_allclose(Kernel.paper().marginal, [0.274, 0.358, 0.368], atol=1e-3)


def test_distances_are_those_of_the_full_table():
    process = Process(Dag.paper(5), Kernel.paper(0.05))
    report = check_process(process)
    full, law = brute.full_table(process), brute.stationary(process.kernel.table)
    pair, mu = brute.pair_joint(full), law.sum(axis=1)
    for node, parents in enumerate(process.dag.parents):
        distance = 0.5 * np.abs(np.diag(pair[node, node]) - mu).sum()
        assert report.marginal_distance[node] == pytest.approx(distance, abs=1e-10)
        if parents:
            distance = 0.5 * np.abs(pair[parents[0], parents[1]] - law).sum()
            assert report.parent_distance[node] == pytest.approx(distance, abs=1e-10)
    worst = report.assumptions[3]
    assert worst.value == pytest.approx(np.nanmax(report.parent_distance))


@pytest.mark.parametrize("n_parents", [1, 2, 3])
def test_on_an_order_k_chain_everything_holds(n_parents):
    kernel = Kernel.random(3, n_parents, rng=np.random.default_rng(n_parents))
    report = check_process(Process(Dag.chain(n_parents + 4, n_parents), kernel))
    assert held(report) == [True] * 4
    assert report.holds
    assert "FAILS" not in str(report)
    if n_parents == 1:
        assert report.assumptions[1].value == np.inf


def test_mendels_law_is_neither_positive_nor_distinct():
    report = check_process(Process(Dag([(), (), (0, 1), (0, 1)]), Kernel.mendelian()))
    assert held(report) == [False, False, True, True]
    assert "12 of 27 entries are 0" in report.assumptions[0].sentence
    assert report.assumptions[1].value == pytest.approx(0)


def test_inbreeding_breaks_the_law_of_the_parents():
    report = check_process(Process(Dag([(), (), (0, 1), (0, 1), (2, 3)]), Kernel.mendelian()), names="ABCDE")
    assert held(report) == [False, False, False, False]
    assert "1 of 3 nodes do not have parents distributed as M_π: E by" in str(report)


def test_a_graph_without_edges_has_no_parents_to_check():
    report = check_process(Process(Dag([(), ()]), Kernel.paper()))
    assert report.assumptions[3].holds
    assert "no node to check" in report.assumptions[3].sentence


def test_more_than_ten_nodes_are_not_all_listed():
    report = check_process(Process(Dag.paper().copies(2), Kernel.paper()))
    assert "and 4 more in total variation" in report.assumptions[2].sentence


def test_a_random_kernel_has_no_report():
    with pytest.raises(KernelError, match="fixed kernel"):
        check_process(Process(Dag.paper(), FiniteKernels([Kernel.paper(), Kernel.paper(0.01)])))


@pytest.mark.parametrize("seed", range(3))
def test_a_fit_finds_the_same_parents_off_and_nothing_on_a_chain(seed):
    rng = np.random.default_rng(seed)
    joint = count_pairs(sample(PAPER, 20_000, rng=rng), 3).pair_joint(0.0)
    report = check_fit(PAPER.dag, PAPER.kernel, joint)
    assert held(report) == [True, True, False, False]
    assert report.n_rows == 20_000
    sentence = report.assumptions[3].sentence
    listed = [part.split()[0] for part in sentence.split(": ")[1].split(", ")[:7]]
    assert listed == [str(position) for position in range(4, 11)]
    assert "beyond what 20,000 rows scatter by chance" in sentence
    chain = Dag.chain(8, 2)
    joint = count_pairs(sample(Process(chain, PAPER.kernel), 20_000, rng=rng), 3).pair_joint(0.0)
    assert check_fit(chain, PAPER.kernel, joint).holds


def test_an_exact_fit_is_the_report_of_the_process():
    fit, process = check_fit(PAPER.dag, PAPER.kernel, exact_joint(PAPER)), check_process(PAPER)
    assert str(fit) == str(process)
    np.testing.assert_allclose(fit.parent_distance, process.parent_distance, atol=1e-12)
    mixed = Process(Dag.paper_mixed(), Kernel.paper())
    fit, process = check_fit(mixed.dag, mixed.kernel, exact_joint(mixed)), check_process(mixed)
    np.testing.assert_allclose(fit.parent_distance, process.parent_distance, atol=1e-12)


def test_with_three_parents_a_fit_compares_their_pairs():
    kernel = Kernel.random(2, 3, rng=np.random.default_rng(0))
    chain = Dag.chain(6, 3)
    assert check_fit(chain, kernel, exact_joint(Process(chain, kernel))).holds
    other = Dag([(), (), (), (0, 1, 2), (0, 1, 3), (0, 3, 4)])
    assert not check_fit(other, kernel, exact_joint(Process(other, kernel))).holds


def test_a_state_that_the_stationary_law_forbids_fails_at_once():
    kernel = Kernel([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])  # state 2 is left and never entered
    pair = np.diag([0.5, 0.49, 0.01])
    joint = PairJoint(np.full((2, 2, 3, 3), pair), n_rows=100)  # one row in state 2, which chance would explain
    assert held(check_fit(Dag.chain(2), kernel, joint)) == [False, True, False, False]
