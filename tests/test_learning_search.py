"""``learn`` from rows alone, end to end: the kernel is learned, or known up to errors."""

from __future__ import annotations

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, learn, sample

KERNEL = Kernel.paper()
PAPER = Process(Dag.paper(), KERNEL)
MENDEL = Kernel.mendelian(0.4)
XOR = Kernel([[[0.95, 0.05], [0.05, 0.95]], [[0.05, 0.95], [0.95, 0.05]]])
SILENT = Dag([()] * 10 + [(node, node + 5) for node in range(5)], [(node,) for node in range(10)])


def unordered(dag):
    return [set(parents) for parents in dag.parents]


def farthest(estimate, kernel):
    """The largest difference of two kernels, whichever role each parent has in them."""
    tables = (estimate.table, estimate.table.swapaxes(0, 1))
    return min(np.abs(table - kernel.table).max() for table in tables)


@pytest.mark.parametrize(("guide", "n_rows"), [("likelihood", 1_000), ("contextual", 4_000)])
@pytest.mark.parametrize("search", ["auto", "exhaustive", "lists"])
def test_the_papers_graph_from_rows_and_nothing_else(guide, n_rows, search):
    for seed in (8100, 8101):
        learned = learn(sample(PAPER, n_rows, rng=seed), guide=guide, search=search)
        assert learned.dag == PAPER.dag
        assert learned.dag.root_blocks == PAPER.dag.root_blocks
        assert learned.converged
        (one,) = learned.kernels
        assert one.children == tuple(range(2, 10))
        assert (one.known, one.symmetric, one.error) == (False, False, 0.0)
        assert one.counts.sum() == 8 * n_rows
        assert farthest(one, KERNEL) < 4 * one.standard_errors.max() < 0.1
        assert learned.kernel == Kernel(one.table)
        assert learned.fit.shared
        assert learned.fit.settled
        assert learned.fit.score == learned.fit.shared_score > learned.fit.node_score
    assert "One learned kernel for the 8 nodes with 2 parents" in learned.status
    assert "Sharing kernels describes the data better" in learned.status


def test_an_exact_law_has_one_kernel():
    learned = learn(Process(Dag.paper(5), KERNEL))
    known = learn(Process(Dag.paper(5), KERNEL), kernel=KERNEL)
    for one in (learned, known):
        assert one.dag == Dag.paper(5)
        assert one.dag.root_blocks == ((0, 1),)
        assert one.fit.shared
        np.testing.assert_allclose(one.kernel.table, KERNEL.table, atol=1e-6)
        np.testing.assert_allclose(one.model.marginals[0], KERNEL.marginal, atol=1e-9)
    assert learned.fit.score == pytest.approx(known.fit.score, abs=1e-6)
    assert learned.configuration["n_rows"] is None


@pytest.mark.parametrize("guide", ["likelihood", "contextual"])
@pytest.mark.parametrize("epochs", [0, 3])
def test_heads_that_were_not_trained_to_the_end_name_no_roots(guide, epochs):
    rows = sample(PAPER, 600, rng=8103)
    learned = learn(rows, guide=guide, epochs=epochs, rate=0.01)
    assert not learned.converged
    assert learned.status.startswith("Not converged")
    assert set(learned.dag.roots) - set(learned.undecided) == {0, 1}
    for node, (given, table) in enumerate(zip(learned.model.given, learned.model.tables, strict=True)):
        assert given == (learned.dag.parents[node] or given)
        assert table.shape == (3,) * (len(given) + 1)
    assert np.isfinite(learned.model.log_likelihood(rows)).all()


def test_random_kernels_and_graphs_of_mixed_in_degrees():
    right = 0
    for seed in range(8110, 8118):
        kernel = Kernel.random(3, 2, rng=seed, concentration=1.0)
        dag = Dag.random(12, 2, rng=seed, root_probability=0.2)
        right += unordered(learn(sample(Process(dag, kernel), 2_000, rng=seed)).dag) == unordered(dag)
    assert right >= 7


def test_a_pedigree_has_parents_without_an_order():
    dag = Dag.random(30, 2, rng=8120, root_probability=0.3)
    rows = sample(Process(dag, MENDEL), 500, rng=8121)
    learned = learn(rows)
    assert unordered(learned.dag) == unordered(dag)
    (one,) = learned.kernels
    assert one.symmetric
    np.testing.assert_array_equal(one.table, one.table.swapaxes(0, 1))
    np.testing.assert_allclose(one.table, MENDEL.table, atol=0.03)
    assert "whose parents have no order" in learned.status
    assert unordered(learn(rows, kernel=MENDEL).dag) == unordered(dag)


@pytest.mark.parametrize(("kernel", "share"), [(KERNEL, 0.0), (KERNEL, 0.15), (MENDEL, 0.05)])
def test_the_share_of_errors_is_estimated_under_a_known_kernel(kernel, share):
    dag = Dag.random(12, 2, rng=8130, root_probability=0.3)
    noisy = Kernel((1 - share) * kernel.table + share / 3, kernel.parent_law)
    rows = sample(Process(dag, noisy), 10_000, rng=8131)
    learned = learn(rows, kernel=kernel, error="estimate")
    assert unordered(learned.dag) == unordered(dag)
    (one,) = learned.kernels
    assert one.known
    assert one.error == pytest.approx(share, abs=0.03)
    np.testing.assert_array_equal(one.table, kernel.table)
    told = learn(rows, kernel=kernel, error=share)
    assert told.dag == learned.dag
    assert told.fit.score <= learned.fit.score + 1


def test_a_known_share_of_errors_is_taken_out_of_a_learned_kernel():
    noisy = Kernel(0.8 * KERNEL.table + 0.2 / 3)
    learned = learn(sample(Process(Dag.paper(), noisy), 20_000, rng=8132), error=0.2)
    (one,) = learned.kernels
    assert farthest(one, KERNEL) < 0.03
    assert "a share 0.2 of random readings" in learned.status


def test_a_kernel_from_the_labelled_tail():
    rows = sample(PAPER, 2_000, rng=8140, labelled=True)
    learned = learn(rows, kernel_source="labelled")
    assert learned.dag == PAPER.dag
    assert learned.configuration["kernel_source"] == "labelled"
    assert learned.configuration["guide"] == "likelihood"
    np.testing.assert_allclose(learned.kernel.table, KERNEL.table, atol=0.12)  # about 220 cases a row


def chain_of_lags(n, kernel, rng):
    """A sequence in which every symbol depends on those one and three places before it."""
    steps, uniform = kernel.table.cumsum(axis=-1), rng.random(n)
    symbols = [0, 1, 2]
    for place in range(3, n):
        symbols.append(int((uniform[place] >= steps[symbols[-3], symbols[-1], :-1]).sum()))
    return np.array(symbols)


@pytest.mark.parametrize("n_parents", [2, 3])
def test_which_lags_matter(n_parents):
    kernel = Kernel.random(3, 2, rng=8111, concentration=1.0)
    symbols = chain_of_lags(20_000, kernel, np.random.default_rng(8110))
    learned = learn(symbols, windows=6, n_parents=n_parents)
    assert learned.parents["now"] == ("lag 3", "lag 1")
    assert learned.dag.n_edges == 2
    assert "The newest position depends on lag 1, lag 3." in learned.status
    assert "Drawn together" not in learned.status  # earlier positions are no roots
    assert "Sharing" not in learned.status
    assert learned.kernels[0].counts.sum() == 20_000 - 5
    np.testing.assert_allclose(learned.kernel.table, kernel.table, atol=0.05)
    text = "".join("xyz"[symbol] for symbol in symbols)
    assert learn(text, windows=6, n_parents=n_parents).dag == learned.dag


def test_no_lag_matters_in_noise():
    status = learn(np.random.default_rng(8163).integers(3, size=2_000), windows=5).status
    assert "No lag matters." in status


def test_xor_on_a_random_graph_is_found_by_looking_at_all_pairs():
    for seed in (8170, 8171, 8172):
        dag = Dag.random(15, 2, rng=seed)
        learned = learn(sample(Process(dag, XOR), 1_000, rng=seed + 10), search="exhaustive")
        assert unordered(learned.dag) == unordered(dag)
        np.testing.assert_allclose(learned.kernel.table, XOR.table, atol=0.02)


@pytest.mark.parametrize("search", ["auto", "exhaustive", "lists", "heads"])
def test_where_pairs_show_nothing_the_status_says_so(search):
    learned = learn(sample(Process(SILENT, XOR), 1_000, rng=8180), search=search)
    assert "Pairwise scores are uninformative" in learned.status
    if search in ("auto", "exhaustive"):
        assert unordered(learned.dag) == unordered(SILENT)
    noise = learn(np.random.default_rng(8181).integers(2, size=(500, 8)), search=search)
    assert noise.dag.n_edges == 0
    assert "Pairwise scores are uninformative" in noise.status
    assert ("not certain" in noise.status) == (search in ("lists", "heads"))
    assert "1 parents" not in learn(np.random.default_rng(8181).integers(2, size=(500, 8)), n_parents=1).status


def test_short_lists_do_not_claim_to_have_seen_all_of_xor(monkeypatch):
    monkeypatch.setattr("kgmi.search.own._ALL_SETS", -1.0)  # as for tables where that would take hours
    dag = Dag([()] * 30 + [(node, node + 15) for node in range(15)], [(node,) for node in range(30)])
    learned = learn(sample(Process(dag, XOR), 300, rng=8182), search="lists")
    assert learned.dag.n_edges < dag.n_edges
    assert "Pairwise scores are uninformative" in learned.status
    assert "search='exhaustive'" in learned.status
    assert "not certain" in learned.status


def test_kernels_that_are_not_shared_are_told_from_those_that_are():
    rng = np.random.default_rng(8190)
    tables = rng.dirichlet(np.full(2, 0.5), size=(8, 2, 2))
    dag = Dag.random(10, 2, rng=8191)
    rows = np.empty((3_000, 10), dtype=int)
    for node, parents in enumerate(dag.parents):
        law = tables[node - 2][tuple(rows[:, parent] for parent in parents)] if parents else np.full(2, 0.5)
        rows[:, node] = rng.random(3_000) < law[..., 1]
    learned = learn(rows)
    assert not learned.fit.shared
    assert learned.fit.score == learned.fit.node_score > learned.fit.shared_score
    assert "Sharing does not hold" in learned.status
    assert learned.kernel is None
    assert {len(one.children) for one in learned.kernels} == {1}
    assert learn(rows, share="shared").fit.shared
