"""Scores of all pairs: against the formulas cell by cell, and as a contract over every guide."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from kgmi import (
    DIVERGENCES,
    GUIDES,
    Dag,
    FiniteKernels,
    Kernel,
    PairJoint,
    Process,
    exact_joint,
    scores,
)
from kgmi.divergence import divergence_named

from . import brute
from .strategies import kernels, processes

NAMES = [name + form for name in DIVERGENCES for form in ("", "-matched")]
TILT = {"kl": 0, "pearson": 1, "neyman": 3, "hellinger": 0.5, "reverse-kl": 2, "jensen-shannon": 0.25}
TILT["total-variation"] = 1


def oracle_f(name):
    """f as typed in brute, tilted by (f''(1) − f'(1))(x − 1) where the matched form is meant."""
    plain = name.removesuffix("-matched")
    tilt = 0 if plain == name else TILT[plain]
    return lambda x: brute.F[plain](x) + tilt * (x - 1)


def pairs_below(n_nodes):
    return [(i, j) for i in range(n_nodes) for j in range(i)]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=100, deadline=None)
@given(process=processes(max_nodes=4))
def test_scores_are_the_formulas_of_the_paper_cell_by_cell(process, name):
    full = brute.pair_joint(brute.full_table(process))
    kernel, f = process.kernel, oracle_f(name)
    law = brute.stationary(kernel.table)
    flat = np.full(law.shape, 1 / law.size)
    found = {guide: scores(PairJoint(full), kernel, name, guide) for guide in GUIDES}
    for head in range(kernel.n_parents):
        for i, j in pairs_below(process.n_nodes):
            for guide, weight in (("stationary", law), ("uniform", flat)):
                marginal = brute.marginal_kernel(kernel.table, weight, head)
                expected = brute.kg_information(full[i, j], marginal, f)
                assert found[guide][head, i, j] == pytest.approx(expected, rel=1e-7, abs=1e-9)
            expected = brute.f_information(full[i, j], f)
            assert found["plain"][head, i, j] == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("guide", GUIDES)
@settings(max_examples=100, deadline=None)
@given(process=processes(max_nodes=5))
def test_every_guide_keeps_the_contract(guide, process):
    joint = exact_joint(process)
    before = joint.joint.copy(), process.kernel.table.copy()
    first, second = (scores(joint, process.kernel, "kl", guide) for _ in range(2))
    n_nodes = process.n_nodes
    assert first.shape == (process.kernel.n_parents, n_nodes, n_nodes)
    earlier = np.tril(np.ones((n_nodes, n_nodes), dtype=bool), k=-1)
    np.testing.assert_array_equal(np.isnan(first), np.broadcast_to(~earlier, first.shape))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(joint.joint, before[0])
    np.testing.assert_array_equal(process.kernel.table, before[1])


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10, deadline=None)
@given(kernel=kernels(max_parents=3))
def test_kg_mi_of_a_true_parent_under_the_stationary_law_is_f_mi(kernel, name):
    dag = Dag.chain(kernel.n_parents + 3, kernel.n_parents)
    joint = exact_joint(Process(dag, kernel))
    guided, plain = (scores(joint, kernel, name, guide) for guide in ("stationary", "plain"))
    for child, parents in enumerate(dag.parents):
        for head, parent in enumerate(parents):
            assert guided[head, child, parent] == pytest.approx(plain[head, child, parent], rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_independent_nodes_score_zero(name):
    joint = exact_joint(Process(Dag.chain(4, 2).copies(2), Kernel.paper()))
    for guide in GUIDES:
        np.testing.assert_allclose(scores(joint, Kernel.paper(), name, guide)[:, 4:, :4], 0, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(process=processes(max_nodes=5, max_parents=2))
def test_plain_information_is_the_same_for_all_heads(process):
    table = scores(exact_joint(process), guide="plain", n_heads=3)
    assert len(table) == 3
    np.testing.assert_array_equal(table[0], table[1])
    np.testing.assert_array_equal(table[0], table[2])


@pytest.mark.parametrize("name", [name for name in DIVERGENCES if name != "kl"])
def test_matching_changes_kg_mi_but_not_f_mi(name):
    joint, kernel = exact_joint(Process(Dag.paper(5), Kernel.paper())), Kernel.paper()
    plain, guided = (
        [scores(joint, kernel, n, guide) for n in (name, f"{name}-matched")] for guide in ("plain", "stationary")
    )
    np.testing.assert_allclose(plain[0], plain[1], atol=1e-12)
    assert np.nanmax(np.abs(guided[0] - guided[1])) > 1e-4
    np.testing.assert_array_equal(scores(joint, kernel, "kl"), scores(joint, kernel, "kl-matched"))


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("total-variation")])
def test_second_order_expansion_near_independence(name):
    """docs/method.md: Ĩ ≈ f'(1)⟨B^ℓ, B_ij⟩ + (f''(1)/2 − f'(1))‖B_ij‖², up to third order."""
    rng = np.random.default_rng(5)
    f = divergence_named(name)
    direction = rng.normal(size=(3, 3, 3))
    direction -= direction.mean(axis=-1, keepdims=True)
    errors = []
    for size in (2e-2, 1e-2):
        kernel = Kernel(1 / 3 + size * 0.3 * direction)
        dag = Dag([(), (), (0, 1), (0, 2), (1, 3)])
        joint = exact_joint(Process(dag, kernel))
        guided = scores(joint, kernel, f)
        worst = 0.0
        for head, i, j in np.argwhere(~np.isnan(guided)):
            p_i, p_j = joint.marginal[i], joint.marginal[j]
            weight = np.sqrt(np.outer(p_i, p_j))
            b_pair = (joint.joint[i, j] - np.outer(p_i, p_j)) / weight
            b_head = (kernel.marginal_kernels[head].T * p_j - np.outer(p_i, p_j)) / weight
            inner, square = (b_head * b_pair).sum(), (b_pair**2).sum()
            expansion = f.slope_at_one * inner + (f.curvature_at_one / 2 - f.slope_at_one) * square
            worst = max(worst, abs(guided[head, i, j] - expansion))
        errors.append(worst)
    assert errors[0] < 2e-5  # the scores themselves are near 1e-4
    assert errors[1] < errors[0] / 5 + 1e-14  # halving the size divides a third-order error by eight


@settings(max_examples=100, deadline=None)
@given(kernel=kernels())
def test_uniform_guide_is_the_stationary_one_when_the_stationary_law_is_uniform(kernel):
    table = kernel.table
    for _ in range(500):  # make the kernel doubly stochastic in its first parent: then M_π is uniform
        table = table / table.sum(axis=0, keepdims=True)
        table = table / table.sum(axis=-1, keepdims=True)
    balanced = Kernel(table)
    np.testing.assert_allclose(balanced.stationary, 1 / balanced.stationary.size, atol=1e-6)
    joint = exact_joint(Process(Dag.chain(kernel.n_parents + 2, kernel.n_parents), balanced))
    first, second = (scores(joint, balanced, "pearson", guide) for guide in ("uniform", "stationary"))
    np.testing.assert_allclose(first, second, atol=1e-5)
    paper = exact_joint(Process(Dag.paper(5), Kernel.paper()))
    first, second = (scores(paper, Kernel.paper(), "pearson", guide) for guide in ("uniform", "stationary"))
    assert np.nanmax(np.abs(first - second)) > 1e-3


@pytest.mark.parametrize("guide", GUIDES)
def test_scores_of_a_random_kernel_are_the_average_over_its_law(guide):
    rng = np.random.default_rng(0)
    law = FiniteKernels([Kernel.random(3, 2, rng=rng) for _ in range(3)], [0.2, 0.3, 0.5])
    dag = Dag.paper(5)
    found = scores(exact_joint(Process(dag, law)), law, "pearson", guide)
    expected = 0.0
    for weight, kernel in zip(law.weights, law.kernels, strict=True):
        expected += weight * scores(exact_joint(Process(dag, kernel)), kernel, "pearson", guide)
    np.testing.assert_allclose(found, expected, atol=1e-13)
