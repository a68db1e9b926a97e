"""The labelled χ² estimator of appendix C-B: the printed formula, its exact mean, and its variance."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

import kgmi
from kgmi import (
    Dag,
    FiniteKernels,
    Kernel,
    LabelledRows,
    Process,
    count_labelled,
    exact_joint,
    labelled_scores,
    sample,
    scores,
)
from kgmi.errors import DataError, SettingError
from kgmi.guides.labelled import LabelledMoments

from . import brute
from .strategies import processes, seeds

FORMS = ("printed", "factorised")


def every_sequence(process, kappa=0.0):
    """Exact means of the sums over all sequences and tails: one row each, weighted by its probability."""
    full, kernel, n_states = brute.full_table(process), process.kernel, process.n_states
    means = [0.0] * 4
    for states in itertools.product(range(n_states), repeat=process.n_nodes):
        for tokens in itertools.product(range(n_states), repeat=kernel.n_parents):
            for label in range(n_states):
                weight = full[states] * n_states**-kernel.n_parents * kernel.table[(*tokens, label)]
                row = LabelledRows(np.array([states]), np.array([tokens]), np.array([label]))
                one = count_labelled(row, n_states, kappa)
                parts = (one.printed, one.tail, one.weighted, one.pairs)
                means = [m + weight * part for m, part in zip(means, parts, strict=True)]
    return LabelledMoments(*means, n_rows=1, kappa=kappa)


def exact_mean(process, kappa=0.0):
    """Σ π^ℓ(s'|s) E[1[S_i = s'] 1[S_j = s] / (μ̂ + κ)] − 1 with the other parents uniform."""
    share = brute.expected_pair_share(brute.full_table(process), kappa)
    table = process.kernel.table
    flat = np.full(table.shape[:-1], 1 / table[..., 0].size)
    marginals = [brute.marginal_kernel(table, flat, head) for head in range(table.ndim - 1)]
    return np.stack([np.einsum("st,ijts->ij", marginal, share) - 1 for marginal in marginals])


def on_candidates(table):
    return table[:, *np.tril_indices(table.shape[1], k=-1)]


@settings(max_examples=40, deadline=None)
@given(process=processes(max_nodes=4), seed=seeds)
@pytest.mark.parametrize("kappa", [0.0, 0.3])
def test_both_forms_are_literal_loops_over_the_formula(process, seed, kappa):
    drawn = sample(process, 12, rng=np.random.default_rng(seed), labelled=True)
    moments = count_labelled(drawn, process.n_states, kappa)
    literal = brute.labelled_scores(drawn.rows, drawn.uniform, drawn.label, process.n_states, kappa)
    np.testing.assert_allclose(labelled_scores(moments), literal, atol=1e-12)
    # Factorised: every pair of one sequence with the tail of another. With crossed tails it is the printed form.
    rows, uniform = np.repeat(drawn.rows, 12, axis=0), np.tile(drawn.uniform, (12, 1))
    crossed = brute.labelled_scores(rows, uniform, np.tile(drawn.label, 12), process.n_states, kappa)
    np.testing.assert_allclose(labelled_scores(moments, "factorised"), crossed, atol=1e-12)


@pytest.mark.parametrize("kappa", [0.0, 0.2])
def test_the_mean_over_all_sequences_is_what_the_formula_says(kappa):
    kernel = Kernel.random(2, 2, rng=np.random.default_rng(3))
    process = Process(Dag([(), (), (0, 1), (1, 2)]), kernel)
    moments, expected = every_sequence(process, kappa), exact_mean(process, kappa)
    for form in FORMS:
        found = labelled_scores(moments, form)
        np.testing.assert_allclose(on_candidates(found), on_candidates(expected), atol=1e-12)


def test_it_estimates_pearson_kg_mi_with_uniform_parents_where_frequencies_are_the_marginal():
    """An alternating sequence of even length has μ̂ = P_i = 1/2 in every row, so nothing is approximate."""
    kernel = Kernel([[0.0, 1.0], [1.0, 0.0]])
    process = Process(Dag.chain(4), kernel)
    population = scores(exact_joint(process), kernel, "pearson", "uniform")
    for form in FORMS:
        np.testing.assert_allclose(labelled_scores(every_sequence(process), form), population, atol=1e-12)


def test_frequencies_of_short_sequences_bias_it_and_long_ones_do_not():
    kernel = Kernel.chain([[0.8, 0.2], [0.3, 0.7]], [0.7, 0.3])
    errors = []
    for copies in (1, 8, 64):
        process = Process(Dag.chain(4, 2).copies(copies), kernel)
        drawn = sample(process, 4_000, rng=np.random.default_rng(copies), labelled=True)
        found = labelled_scores(count_labelled(drawn, 2), "factorised")
        population = scores(exact_joint(process), kernel, "pearson", "uniform")
        blocks = [np.s_[:, start : start + 4, start : start + 4] for start in range(0, 4 * copies, 4)]
        mean = np.mean([found[block] for block in blocks], axis=0)
        errors.append(np.nanmax(np.abs(mean - population[blocks[0]])))
    assert errors[0] > 0.1
    assert errors[1] < errors[0] / 3
    assert errors[2] < 0.02


def test_both_forms_come_near_their_mean_and_factorised_varies_less():
    kernel = Kernel.random(2, 2, rng=np.random.default_rng(8))
    process = Process(Dag([(), (), (0, 1), (1, 2)]), kernel)
    expected = on_candidates(exact_mean(process))
    rng = np.random.default_rng(0)
    repeats = {form: [] for form in FORMS}
    for _ in range(60):
        moments = count_labelled(sample(process, 400, rng=rng, labelled=True), 2)
        for form in FORMS:
            repeats[form].append(on_candidates(labelled_scores(moments, form)))
    spread = {form: np.std(values, axis=0) for form, values in repeats.items()}
    for form, values in repeats.items():
        assert np.all(np.abs(np.mean(values, axis=0) - expected) < 4.5 * spread[form] / np.sqrt(60))
    assert np.all(spread["factorised"] < spread["printed"] / 1.5)


def test_only_the_printed_form_is_right_for_a_random_kernel():
    kernels = [Kernel([[0.9, 0.1], [0.2, 0.8]]), Kernel([[0.1, 0.9], [0.7, 0.3]])]
    law = FiniteKernels(kernels, [0.4, 0.6])
    processes_ = [Process(Dag.chain(3), kernel) for kernel in law.kernels]
    right = sum(w * exact_mean(p) for w, p in zip(law.weights, processes_, strict=True))
    parts = [every_sequence(p) for p in processes_]
    pooled = LabelledMoments(
        *(
            sum(w * getattr(part, name) for w, part in zip(law.weights, parts, strict=True))
            for name in ("printed", "tail", "weighted", "pairs")
        ),
        n_rows=1,
        kappa=0.0,
    )
    np.testing.assert_allclose(on_candidates(labelled_scores(pooled)), on_candidates(right), atol=1e-12)
    assert np.abs(on_candidates(labelled_scores(pooled, "factorised") - right)).max() > 0.1


def test_moments_add_and_an_unknown_form_is_an_error():
    process = Process(Dag.paper(5), Kernel.paper())
    drawn = sample(process, 100, rng=np.random.default_rng(1), labelled=True)
    halves = [LabelledRows(drawn.rows[s], drawn.uniform[s], drawn.label[s]) for s in (slice(37), slice(37, None))]
    whole, parts = count_labelled(drawn, 3), [count_labelled(half, 3) for half in halves]
    for form in FORMS:
        np.testing.assert_allclose(labelled_scores(parts[0] + parts[1], form), labelled_scores(whole, form))
    with pytest.raises(DataError, match=r"κ = 0\.0 and κ = 0\.5"):
        _ = parts[0] + count_labelled(halves[1], 3, 0.5)
    with pytest.raises(SettingError, match="printed, factorised, reweighted, got 'best'"):
        labelled_scores(whole, "best")


def test_the_reweighted_form_converges_to_chi2_kg_mi_and_the_others_do_not():
    process = Process(Dag.paper(5), Kernel.paper())
    moments = count_labelled(sample(process, 400_000, rng=np.random.default_rng(5), labelled=True), 3)
    right = kgmi.scores(kgmi.exact_joint(process), process.kernel, "pearson")
    off = {form: np.nanmax(np.abs(labelled_scores(moments, form) - right)) for form in (*FORMS, "reweighted")}
    assert off["reweighted"] < 0.005
    assert min(off["printed"], off["factorised"]) > 0.03
    exact = kgmi.expected_labelled_scores(process, form="reweighted")
    np.testing.assert_allclose(exact, right, atol=1e-14, equal_nan=True)
