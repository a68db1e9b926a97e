"""The population version of the labelled estimator, against full tables and against large samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from kgmi import (
    Dag,
    FiniteKernels,
    Kernel,
    KernelSampler,
    Process,
    count_labelled,
    expected_labelled_scores,
    labelled_scores,
    sample,
)
from kgmi.errors import KernelError, SettingError
from kgmi.exact import exact_pair_share

from . import brute
from .strategies import odd_processes, processes
from .test_labelled import exact_mean, on_candidates


@settings(max_examples=30, deadline=None)
@given(process=processes(max_nodes=6))
@pytest.mark.parametrize("kappa", [0.0, 0.05, 3.0])
def test_shares_are_those_of_the_full_table(process, kappa):
    expected = brute.expected_pair_share(brute.full_table(process), kappa)
    np.testing.assert_allclose(exact_pair_share(process, kappa), expected, rtol=1e-10, atol=1e-13)


@settings(max_examples=20, deadline=None)
@given(process=odd_processes())
def test_the_same_with_root_blocks_and_kernels_per_degree(process):
    expected = brute.expected_pair_share(brute.full_table(process), 0.0)
    np.testing.assert_allclose(exact_pair_share(process), expected, rtol=1e-10, atol=1e-13)


@settings(max_examples=20, deadline=None)
@given(process=processes(max_nodes=5))
def test_scores_are_the_mean_over_all_sequences(process):
    for form in ("printed", "factorised"):
        found = on_candidates(expected_labelled_scores(process, 0.1, form))
        np.testing.assert_allclose(found, on_candidates(exact_mean(process, 0.1)), rtol=1e-9, atol=1e-12)


def test_for_a_random_kernel_the_printed_form_averages_products_and_the_factorised_one_does_not():
    law = FiniteKernels([Kernel.paper(), Kernel.paper([0.3, 0.3, 0.3, 0.3, 0.2, 0.3, 0.4, 0.2, 0.3])], [0.3, 0.7])
    process = Process(Dag.paper(5), law)
    printed, factorised = (expected_labelled_scores(process, 0.0, form) for form in ("printed", "factorised"))
    parts = [exact_mean(process.with_kernel(kernel)) for kernel in law.kernels]
    mean = sum(w * part for w, part in zip(law.weights, parts, strict=True))
    np.testing.assert_allclose(on_candidates(printed), on_candidates(mean), rtol=1e-9, atol=1e-12)
    assert np.abs(on_candidates(printed - factorised)).max() > 1e-3


def test_large_samples_come_near_it():
    process = Process(Dag.paper(), Kernel.paper())
    moments = count_labelled(sample(process, 200_000, rng=11, labelled=True), 3)
    expected = expected_labelled_scores(process)
    assert np.nanmax(np.abs(labelled_scores(moments, "factorised") - expected)) < 0.01
    assert np.nanmax(np.abs(labelled_scores(moments, "printed") - expected)) < 0.03


def test_copies_share_their_frequencies():
    """Components are independent, but the frequencies in the denominator run over all of them."""
    process = Process(Dag.chain(2).copies(3), Kernel([[0.9, 0.1], [0.2, 0.8]]))
    expected = brute.expected_pair_share(brute.full_table(process), 0.0)
    np.testing.assert_allclose(exact_pair_share(process), expected, rtol=1e-12)


def test_bad_arguments():
    process = Process(Dag.paper(5), Kernel.paper())
    for kappa in (-1.0, np.nan, np.inf):
        with pytest.raises(SettingError, match="kappa must be ≥ 0"):
            expected_labelled_scores(process, kappa)
    with pytest.raises(SettingError, match="printed, factorised, reweighted, got 'best'"):
        expected_labelled_scores(process, form="best")
    with pytest.raises(KernelError, match="finite kernel law"):
        expected_labelled_scores(Process(Dag.paper(5), KernelSampler(lambda rng: Kernel.paper(), 3, 2)))
    with pytest.raises(KernelError, match="fixed kernel"):
        exact_pair_share(Process(Dag.paper(5), FiniteKernels([Kernel.paper()])))
