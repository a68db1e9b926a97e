"""Shared kernels: which families are pooled, with or without an order of the parents, errors taken out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Kernel
from kgmi.counts.bits import RowCounts
from kgmi.penalty import PENALTIES
from kgmi.search.pools import Pool, count_pools, key_of, make_pool, mixed_with_noise, symmetrised

from . import plain_guides
from .search_drills import observations
from .strategies import kernels, seeds

some = settings(max_examples=40, deadline=None)
NML = PENALTIES["nml"]


def drawn_counts(table, n_cases, rng, law=None):
    """Counts of so many cases, the parents uniform or by a law."""
    law = np.full(table.shape[:-1], 1 / table[..., 0].size) if law is None else law
    per_configuration = rng.multinomial(n_cases, law.ravel())
    rows = table.reshape(-1, table.shape[-1])
    return np.array([rng.multinomial(n, p) for n, p in zip(per_configuration, rows, strict=True)]).reshape(
        table.shape
    )


def pool(counts, n_nodes=5, *, penalty=NML, smoothing=0.0, error=0.0, exchangeable=True):
    return make_pool(
        np.asarray(counts, dtype=float),
        n_nodes,
        penalty,
        smoothing=smoothing,
        error=error,
        exchangeable=exchangeable,
    )


@some
@given(observed=observations(min_nodes=4, max_nodes=4), data=st.data())
def test_families_of_one_label_and_one_set_of_alphabets_are_added_up(observed, data):
    labels = data.draw(st.lists(st.integers(0, 1), min_size=4, max_size=4))
    families = {0: (), 1: (), 2: (1, 0), 3: (0, 1)}
    pooled = count_pools(observed, labels, families, lambda child, parents: observed.family(child, parents))
    expected, members = {}, {}
    for child, parents in families.items():
        key = (labels[child], tuple(observed.sizes[p] for p in parents), observed.sizes[child])
        assert key == key_of(observed, labels, parents, child)
        one = plain_guides.family(observed.codes, observed.sizes, observed.weights, parents, child)
        expected[key] = expected.get(key, 0) + one
        members[key] = members.get(key, 0) + 1
    assert pooled.keys() == expected.keys()
    for key, (counts, n_nodes) in pooled.items():
        np.testing.assert_allclose(counts, expected[key], atol=1e-12)
        assert n_nodes == members[key]


def test_alphabets_of_one_size_are_not_mixed_up():
    observed = RowCounts(np.zeros((3, 3), dtype=np.int8), (2, 2, 2), alphabets=(0, 1, 0))
    assert key_of(observed, (0, 0, 0), (0,), 2) != key_of(observed, (0, 0, 0), (1,), 2)


@pytest.mark.parametrize("n_parents", [1, 2, 3])
def test_the_mean_over_all_orders(n_parents):
    table = Kernel.random(3, n_parents, rng=7301).table
    even = symmetrised(table)
    np.testing.assert_allclose(even, plain_guides.symmetric_table(table), atol=1e-15)
    np.testing.assert_allclose(symmetrised(even), even, atol=1e-15)


def description_length(counts, table, n_nodes, symmetric):
    """Fit less parameters less roles, from the definitions; larger is better."""
    fit = sum(counts[c] * math.log(table[c]) for c in np.ndindex(counts.shape) if counts[c] > 0)
    rows = {}
    for cell in np.ndindex(counts.shape[:-1]):
        name = tuple(sorted(cell)) if symmetric else cell
        rows[name] = rows.get(name, 0) + counts[cell].sum()
    price = sum(plain_guides.regret(int(n), counts.shape[-1]) for n in rows.values() if n)
    return fit - price - (0 if symmetric else n_nodes * math.log(math.factorial(counts.ndim - 1)))


@settings(max_examples=30, deadline=None)
@given(kernel=kernels(max_parents=3), seed=seeds, n_nodes=st.integers(1, 30), lopsided=st.floats(0, 1))
def test_an_order_is_kept_where_it_shortens_the_description(kernel, seed, n_nodes, lopsided):
    table = lopsided * kernel.table + (1 - lopsided) * symmetrised(kernel.table)
    counts = drawn_counts(table, 150, np.random.default_rng(seed)).astype(float)
    found = pool(counts, n_nodes)
    if kernel.n_parents == 1:
        assert found.symmetric
        return
    shares = [c / np.maximum(c.sum(axis=-1, keepdims=True), 1) for c in (counts, symmetrised(counts))]
    ordered, unordered = (
        description_length(counts, t, n_nodes, s) for t, s in zip(shares, (False, True), strict=True)
    )
    assert found.symmetric == (unordered >= ordered - 1e-9) or abs(ordered - unordered) < 1e-6
    seen = counts.sum(axis=-1) > 0
    if found.symmetric:
        seen = symmetrised(counts).sum(axis=-1) > 0
    np.testing.assert_allclose(found.table[seen], shares[int(found.symmetric)][seen], atol=1e-12)
    np.testing.assert_allclose(found.table.sum(axis=-1), 1)


def test_mendels_law_has_no_order_and_the_papers_kernel_has_one():
    rng = np.random.default_rng(7302)
    mendel = Kernel.mendelian()
    found = pool(drawn_counts(mendel.table, 3000, rng, mendel.stationary), 10)
    assert found.symmetric
    assert found.order_cost == 0
    np.testing.assert_allclose(found.table, np.swapaxes(found.table, 0, 1))
    paper = pool(drawn_counts(Kernel.paper().table, 3000, rng), 10)
    assert not paper.symmetric
    assert paper.order_cost == pytest.approx(math.log(2))


def test_parents_of_different_alphabets_have_an_order_anyway():
    mendel = Kernel.mendelian()
    counts = drawn_counts(mendel.table, 3000, np.random.default_rng(7303), mendel.stationary)
    assert not pool(counts, exchangeable=False).symmetric
    assert not pool(np.ones((2, 3, 2)), exchangeable=False).symmetric


def test_a_symmetric_kernel_pays_for_unordered_states_only():
    rng = np.random.default_rng(7304)
    for n_parents in (2, 3):
        counts = rng.integers(0, 4, (3,) * (n_parents + 1)).astype(float)
        even = Pool(symmetrised(counts), np.full(counts.shape, 1 / 3), 4, True, False)
        rows = {}
        for cell in np.ndindex(counts.shape[:-1]):
            rows[tuple(sorted(cell))] = rows.get(tuple(sorted(cell)), 0) + counts[cell].sum()
        assert even.cost(NML) == pytest.approx(sum(plain_guides.regret(int(n), 3) for n in rows.values() if n))
        n_orbits = math.comb(3 + n_parents - 1, n_parents)
        assert even.cost(PENALTIES["aic"]) == n_orbits * 2
        assert Pool(counts, even.table, 4, False, False).cost(PENALTIES["aic"]) == 3**n_parents * 2
        assert Pool(counts, even.table, 4, False, True).cost(NML) == 0  # nothing was fitted to a known kernel


def test_pseudo_cases_are_spread_as_the_child_is_overall():
    counts = np.array([[6.0, 2, 0], [0, 0, 0], [1, 1, 1]])
    found = pool(counts, smoothing=2.0).table
    overall = (counts.sum(axis=0) + 1 / 3) / (counts.sum() + 1)
    expected = (counts + 2 * overall) / (counts.sum(axis=1, keepdims=True) + 2)
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(found[1], overall)  # never seen: as the child is overall
    np.testing.assert_allclose(pool(counts).table[1], 1 / 3)  # without pseudo-cases: anything


@some
@given(kernel=kernels(), error=st.floats(0, 1))
def test_noise_mixes_a_kernel_with_the_uniform_law(kernel, error):
    mixed = mixed_with_noise(kernel.table, error)
    np.testing.assert_allclose(mixed.sum(axis=-1), 1)
    np.testing.assert_allclose(mixed, kernel.table + error * (1 / kernel.n_states - kernel.table), atol=1e-12)
    assert mixed_with_noise(kernel.table, 0.0) is kernel.table


@pytest.mark.parametrize("error", [0.01, 0.1, 0.3])
def test_known_errors_are_taken_out_of_a_kernel(error):
    clean = Kernel.paper().table
    found = pool(1e6 * mixed_with_noise(clean, error), error=error)
    np.testing.assert_allclose(found.table, clean, atol=1e-3)
    np.testing.assert_allclose(found.seen, mixed_with_noise(clean, error), atol=1e-3)


def test_errors_and_pseudo_cases_together_are_a_fixed_point_of_em():
    """The cases that are true readings, each at its probability, and the pseudo-cases make the kernel."""
    counts = drawn_counts(Kernel.paper().table, 500, np.random.default_rng(7308))
    found = pool(counts, error=0.2, smoothing=5.0, exchangeable=False).table
    overall = counts.reshape(-1, 3).sum(axis=0)
    for cell in np.ndindex(3, 3):
        true = counts[cell] * 0.8 * found[cell] / (0.8 * found[cell] + 0.2 / 3)
        weights = true + 5.0 * (overall + 1 / 3) / (overall.sum() + 1)
        np.testing.assert_allclose(found[cell], weights / weights.sum(), atol=1e-6)


def test_known_errors_give_mendels_zeros_back():
    mendel = Kernel.mendelian()
    rng = np.random.default_rng(7305)
    counts = drawn_counts(mixed_with_noise(mendel.table, 0.05), 40_000, rng, mendel.stationary)
    found = pool(counts, error=0.05)
    np.testing.assert_allclose(found.table, mendel.table, atol=0.03)
    rough = pool(counts)
    assert np.abs(rough.table - mendel.table).max() > 0.03  # what was seen is not the law


@pytest.mark.parametrize("error", [0.0, 0.15])
@pytest.mark.parametrize("symmetric", [False, True])
def test_standard_errors_are_the_spread_over_repeated_samples(symmetric, error):
    rng = np.random.default_rng(7306)
    kernel = Kernel.random(2, 2, rng=7307, concentration=3.0)
    table = symmetrised(kernel.table) if symmetric else kernel.table
    seen = mixed_with_noise(table, error)
    tables, errors = [], []
    for _ in range(300):
        made = pool(drawn_counts(seen, 2000, rng), 1 if not symmetric else 20, error=error)
        if made.symmetric == symmetric:
            tables.append(made.table)
            errors.append(made.standard_errors)
    assert len(tables) > 250
    np.testing.assert_allclose(np.mean(errors, axis=0), np.std(tables, axis=0), rtol=0.15)


def test_states_of_parents_that_were_never_seen_have_no_standard_error():
    found = pool([[[3, 1], [0, 0]], [[2, 2], [1, 1]]], exchangeable=False)
    assert np.isinf(found.standard_errors[0, 1]).all()
    assert np.isfinite(found.standard_errors[[0, 1, 1], [0, 0, 1]]).all()
