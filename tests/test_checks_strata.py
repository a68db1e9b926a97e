"""Tests of independence within strata: moments against all shuffles, p-values against what they promise."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from kgmi.checks.check import holm, shown_p
from kgmi.checks.strata import cross_statistic, fit_p_value, merge_rare, tail


def table_of(first, second, n_states=3):
    counts = np.zeros((n_states, n_states))
    np.add.at(counts, (first, second), 1)
    return counts


@pytest.mark.parametrize("n_cases", [4, 5, 6, 7])
def test_mean_and_variance_are_those_of_all_shuffles(n_cases):
    rng = np.random.default_rng(n_cases)
    first, second = rng.integers(0, 3, (2, n_cases))
    shuffled = [table_of(first, second[list(order)])[None] for order in permutations(range(n_cases))]
    values = [float(cross_statistic(table)[0]) for table in shuffled]
    _, mean, variance = cross_statistic(shuffled[0])
    assert mean == pytest.approx(np.mean(values))
    assert variance == pytest.approx(np.var(values))


def test_strata_add_up_and_the_smallest_are_left_out():
    rng = np.random.default_rng(31)
    tables = rng.integers(0, 9, (3, 2, 3)).astype(float)
    apart = np.array([cross_statistic(one[None]) for one in tables])
    assert np.array(cross_statistic(tables)) == pytest.approx(apart.sum(axis=0))
    tiny = np.zeros((1, 2, 3))
    tiny[0, 0, 0] = tiny[0, 1, 1] = 1
    assert np.array(cross_statistic(np.concatenate([tables, tiny]))) == pytest.approx(apart.sum(axis=0))
    assert tail(*cross_statistic(tiny)) == 1.0


def test_the_statistic_is_that_of_scipy():
    from scipy.stats import chi2_contingency

    tables = np.random.default_rng(32).integers(5, 90, (4, 3, 3)).astype(float)
    for one in tables:
        known = chi2_contingency(one, correction=False)
        statistic, mean, variance = cross_statistic(one[None])
        assert statistic == pytest.approx(known.statistic)
        assert tail(statistic, mean, variance) == pytest.approx(known.pvalue, abs=0.01)


def test_rare_columns_are_put_together_or_left_out():
    table = np.array([[[9.0, 1, 2, 0], [8, 2, 0, 1]]])
    merged = merge_rare(table, np.array([5.0]))
    assert merged.tolist() == [[[9, 0, 0, 0, 3], [8, 0, 0, 0, 3]]]
    assert merge_rare(table, np.array([7.0])).tolist() == [[[9, 0, 0, 0, 0], [8, 0, 0, 0, 0]]]


def test_p_values_in_sparse_tables_are_small_as_often_as_they_should_be():
    rng = np.random.default_rng(33)
    law = np.array([0.65, 0.25, 0.1])
    below = []
    for _ in range(2_000):
        tables = np.stack([table_of(*rng.choice(3, (2, 25), p=law)) for _ in range(4)])
        least = np.sqrt(tables.sum(axis=(1, 2)))
        merged = merge_rare(merge_rare(tables, least).swapaxes(1, 2), least)
        below.append(float(tail(*cross_statistic(merged))))
    assert np.mean(np.array(below) < 0.01) <= 0.02
    assert np.mean(np.array(below) < 0.5) == pytest.approx(0.5, abs=0.15)


def test_a_given_law_is_kept_or_not():
    rng = np.random.default_rng(34)
    law = np.array([[0.7, 0.2985, 0.0015], [0.1, 0.6, 0.3]])
    drawn = [np.stack([rng.multinomial(n, p) for n, p in zip((300, 200), law, strict=True)]) for _ in range(2_000)]
    p_values = np.array([fit_p_value(counts.astype(float), law) for counts in drawn])
    assert 0.001 <= np.mean(p_values < 0.01) <= 0.02
    assert fit_p_value(np.array([[210.0, 80, 10], [20, 120, 60]]), law) < 1e-6  # ten where half a case was expected
    assert fit_p_value(np.array([[150.0, 150, 0], [20, 120, 60]]), law) < 1e-6
    assert fit_p_value(np.array([[210.0, 90, 0], [20, 120, 60]]), law) > 0.5


def test_what_cannot_be_is_noticed_at_once():
    law = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    assert fit_p_value(np.array([[500.0, 500, 1], [9, 0, 0]]), law) == 0.0
    assert fit_p_value(np.array([[500.0, 500, 0], [9, 0, 0]]), law) == 1.0


def test_holm():
    assert holm(np.array([0.04, 0.01, 0.03])) == pytest.approx([0.06, 0.03, 0.06])
    assert holm(np.array([0.01]), 50) == pytest.approx([0.5])
    assert holm(np.array([0.4]), 50) == pytest.approx([1.0])
    assert len(holm(np.array([]))) == 0


def test_p_values_for_people():
    assert shown_p(0.0312) == "p = 0.031"
    assert shown_p(1e-12) == "p < 0.000001"
