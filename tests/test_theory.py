"""Gaps, bounds and mixing quantities: by hand, and against the paper's formulas typed out again."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, ascend, exact_joint, theory
from kgmi.errors import SettingError

from .strategies import dags, kernels

positive = st.floats(1e-3, 5)


def test_gaps_by_hand():
    scores = np.full((2, 4, 4), np.nan)
    scores[0, 1, :1], scores[0, 2, :2], scores[0, 3, :3] = 0.3, [0.1, 0.5], [0.2, -0.1, 0.15]
    scores[1, 1, :1], scores[1, 2, :2], scores[1, 3, :3] = 0.3, [0.4, 0.4], [-1.0, 1.0, 0.0]
    gaps = theory.information_gaps(scores)
    assert np.isnan(gaps[:, 0]).all()
    assert np.isinf(gaps[:, 1]).all()
    np.testing.assert_allclose(gaps[:, 2:], [[0.4, 0.05], [0.0, 1.0]])
    assert theory.information_gap(scores, Dag([(), (), (), (0, 1)])) == pytest.approx(0.05)
    assert theory.information_gap(scores, Dag([(), (), (0, 1), (0, 1)])) == 0
    assert theory.information_gap(scores, Dag([(), (0,), (), ()])) == inf
    assert theory.information_gap(scores, Dag([(), (), (), ()])) == inf


@settings(max_examples=100, deadline=None)
@given(positive, positive, st.integers(1, 4), st.integers(2, 50), st.floats(1e-3, 0.9), st.floats(0.1, 100))
def test_epochs_and_bounds_are_the_formulas_of_the_paper(gap, top, k, t, eps, eta):
    first = 4 * k * t * top * max(log(top / eps), 0) / (eps * eta * gap)
    expected = first + 4 * k * t**2 * log(t) / (eta * gap)
    options = {"gap": gap, "n_heads": k, "n_nodes": t, "eps_attn": eps, "rate": eta}
    assert theory.tau_star(max_information=top, **options) == pytest.approx(expected)
    for i in (2, t):  # positions, counted from 1
        expected = 4 * k * t * log(1 / eps) / (eps * eta * gap) + 4 * k * t * i * log(i) / (eta * gap)
        assert theory.column_epochs(i - 1, **options) == pytest.approx(expected)
        error = 0.01
        expected = 64 * (log(1 / eps) / eps + i * log(i)) * error / ((i - 1) ** 2 * gap)
        found = theory.root_bound(i - 1, gap=gap, estimation_error=error, eps_attn=eps)
        assert found == pytest.approx(expected)
    bound = theory.suboptimality_bound(max_information=top, eps_attn=eps, estimation_error=0.01)
    assert bound == max(top * eps, 0.01)


def test_information_that_is_not_positive_leaves_the_second_term():
    options = {"gap": 0.1, "n_heads": 1, "n_nodes": 5, "eps_attn": 0.1}
    second = 4 * 25 * log(5) / (10 * 0.1)
    for top in (0.0, -0.2, 0.05):
        assert theory.tau_star(max_information=top, **options) == pytest.approx(second)


@pytest.mark.parametrize(
    ("match", "change"),
    [
        ("gap must be positive", {"gap": 0.0}),
        ("gap must be positive", {"gap": -1.0}),
        ("gap must be positive", {"gap": np.nan}),
        ("eps_attn must be at least 1e-100 and below 1, got 0", {"eps_attn": 0}),
        ("eps_attn must be at least 1e-100 and below 1, got 1", {"eps_attn": 1}),
        (r"rate η must be from 1e-100 to 1e\+100, got 0", {"rate": 0}),
    ],
)
def test_bounds_refuse_values_without_meaning(match, change):
    options = {"gap": 0.1, "n_heads": 1, "n_nodes": 5, "eps_attn": 0.1, "rate": 10.0} | change
    with pytest.raises(SettingError, match=match):
        theory.tau_star(max_information=0.5, **options)
    with pytest.raises(SettingError, match=match):
        theory.column_epochs(3, **options)
    if "rate" not in change:
        with pytest.raises(SettingError, match=match):
            theory.root_bound(3, gap=options["gap"], estimation_error=0.1, eps_attn=options["eps_attn"])


def test_the_first_node_has_no_bounds():
    with pytest.raises(SettingError, match="no candidates"):
        theory.root_bound(0, gap=0.1, estimation_error=0.1, eps_attn=0.1)
    with pytest.raises(SettingError, match="no candidates"):
        theory.column_epochs(0, gap=0.1, n_heads=1, n_nodes=3, eps_attn=0.1)


def test_distances_effective_length_and_spheres_by_hand():
    dag = Dag([(), (), (0, 1), (2,), ()])  # 0 and 1 meet in 2, 3 hangs on it, 4 is alone
    expected = [[0, 2, 1, 2, inf], [2, 0, 1, 2, inf], [1, 1, 0, 1, inf], [2, 2, 1, 0, inf], [inf] * 4 + [0]]
    np.testing.assert_array_equal(theory.node_distances(dag), expected)
    total = 5 + 6 * 0.5 + 6 * 0.25
    assert theory.effective_length(dag, 0.5) == pytest.approx(25 / total)
    assert theory.effective_length(dag, 0.0) == 5
    assert theory.effective_length(dag, 1.0) == pytest.approx(25 / 17)
    assert theory.largest_sphere(dag) == 3
    assert theory.effective_length_bound(dag, 0.5) == pytest.approx(5 * 0.5 / 3)
    alone = Dag([(), ()])
    np.testing.assert_array_equal(theory.node_distances(alone), [[0, inf], [inf, 0]])
    assert theory.largest_sphere(alone) == 1


@settings(max_examples=100, deadline=None)
@given(dags(max_nodes=8), st.floats(0, 1))
def test_effective_length_is_above_its_bound(dag, norm):
    length = theory.effective_length(dag, norm)
    assert length >= theory.effective_length_bound(dag, norm) - 1e-12
    assert 1 - 1e-12 <= length <= dag.n_nodes + 1e-12


@pytest.mark.parametrize("norm", [-0.1, 1.1, np.nan])
def test_a_spectral_norm_outside_the_unit_interval_is_an_error(norm):
    for function in (theory.effective_length, theory.effective_length_bound):
        with pytest.raises(SettingError, match=r"λ must lie in \[0, 1\]"):
            function(Dag.paper(), norm)


def excess_correlation(dag, kernel):
    """[i, j] by how much |P_ij − μμ| passes the lemma's bound."""
    product = np.outer(kernel.marginal, kernel.marginal)
    distance = np.abs(exact_joint(Process(dag, kernel)).joint - product)
    bound = theory.correlation_bound(dag, kernel.marginal, kernel.spectral_norm)
    off = ~np.eye(dag.n_nodes, dtype=bool)
    return np.where(off, (distance - bound).max(axis=(2, 3)), -1.0)


@settings(max_examples=60, deadline=None)
@given(kernels(max_states=4, max_parents=1), dags(n_parents=1, max_nodes=7))
def test_correlation_decays_with_distance_on_trees(kernel, dag):
    assert excess_correlation(dag, kernel).max() <= 1e-12


def test_correlation_lemma_fails_with_two_parents():
    """Even where every parent pair follows M_π, and so on the paper's graph too."""
    xor = Kernel([[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]])
    excess = excess_correlation(Dag.chain(4, 2), xor)
    assert xor.spectral_norm == pytest.approx(0)
    assert excess[3, 0] > 0.1  # x_3 = x_1 ⊕ x_2 and x_2 = x_0 ⊕ x_1, so x_3 is x_0 again
    paper = Kernel.paper()
    assert excess_correlation(Dag.chain(4, 2), paper)[0, 1] > 0.01  # roots drawn jointly, two edges apart
    assert excess_correlation(Dag.paper(), paper).max() > 0.01


def test_to_first_order_the_sum_of_inverse_gaps_says_when_a_column_stops():
    scores = np.full((1, 4, 4), np.nan)
    scores[0, 1, 0] = 0.3
    scores[0, 2, :2] = [0.05, 0.01]
    scores[0, 3, :3] = [0.02, 0.05, 0.041]
    for eps in (1e-2, 1e-3):
        predicted = theory.asymptotic_epochs(scores, eps_attn=eps, rate=1.0)
        stopped = ascend(scores, rate=1.0, epochs=10**6, stop=eps).stopped
        assert np.isnan(predicted[0, 0])
        assert predicted[0, 1] == 0
        # By hand: KT/(n η ε) Σ 1/Δ_j with K = 1, T = 4.
        assert predicted[0, 2] == pytest.approx(4 / (2 * eps) * (1 / 0.04))
        assert predicted[0, 3] == pytest.approx(4 / (3 * eps) * (1 / 0.03 + 1 / 0.009))
        assert np.allclose(stopped[0, 2:] / predicted[0, 2:], 1, atol=25 * eps)


def test_a_tie_for_the_best_never_stops_to_first_order():
    scores = np.full((1, 3, 3), np.nan)
    scores[0, 2, :2] = 0.1
    assert theory.asymptotic_epochs(scores, eps_attn=0.1)[0, 2] == np.inf
