import itertools
import re

import numpy as np
import pytest

from kgmi import Kernel
from kgmi.errors import KernelError, TooLargeError

STEP = np.array([[0.9, 0.1], [0.2, 0.8]])
P = np.array([0.01, -0.02, 0.03, -0.04, 0.05, -0.06, 0.07, -0.08, 0.09])


def test_the_papers_rows_with_nine_different_tunables():
    p = P
    rows = {
        (0, 0): (0.1, 0.5 - p[0], 0.4 + p[0]),
        (0, 1): (0.2 + p[1], 0.3, 0.5 - p[1]),
        (0, 2): (0.3, 0.4 - p[2], 0.3 + p[2]),
        (1, 0): (0.5 - p[3], 0.3, 0.2 + p[3]),
        (1, 1): (0.4 + p[4], 0.4 - p[4], 0.2),
        (1, 2): (0.2 + p[5], 0.3, 0.5 - p[5]),
        (2, 0): (0.6 - p[6], 0.2 + p[6], 0.2),
        (2, 1): (0.1 + p[7], 0.5 - p[7], 0.4),
        (2, 2): (0.2 + p[8], 0.3, 0.5 - p[8]),
    }
    kernel = Kernel.paper(p)
    for past, row in rows.items():
        assert kernel.table[past].tolist() == pytest.approx(row, abs=1e-15)
    assert Kernel.paper(0.05) == Kernel.paper([0.05] * 9)
    assert np.allclose(Kernel.paper().marginal, [0.274, 0.358, 0.368], rtol=0, atol=5e-4)


def test_tunables_that_leave_no_kernel_are_errors():
    with pytest.raises(KernelError, match=re.escape("row (0, 0) of the kernel has probability -0.1 for state 1")):
        Kernel.paper([0.6] + [0.0] * 8)
    for bad in ([0.0] * 8, [[0.0] * 9], np.zeros((3, 3))):
        with pytest.raises(KernelError, match=r"nine tunables p_0\.\.p_8, or one value for all"):
            Kernel.paper(bad)


def test_random_kernels_have_dirichlet_rows():
    kernel = Kernel.random(4, 5, rng=np.random.default_rng(0), concentration=2.0)
    assert kernel.table.shape == (4,) * 6
    # A Dirichlet(2, 2, 2, 2) entry is Beta(2, 6): mean 1/4, variance 1/48, over 1,024 rows.
    entries = kernel.table.reshape(-1, 4)
    assert np.all(np.abs(entries.mean(axis=0) - 0.25) < 5 * np.sqrt(1 / 48 / 1_024))
    assert np.allclose(entries.var(axis=0), 1 / 48, rtol=0.25)
    assert Kernel.random(3, 2, rng=np.random.default_rng(1)) == Kernel.random(3, 2, rng=np.random.default_rng(1))
    assert Kernel.random(3, 2, rng=np.random.default_rng(1), concentration=0.1).table.max(axis=-1).mean() > 0.8


@pytest.mark.parametrize(
    ("size", "options", "message"),
    [
        ((1, 2), {}, "at least 2 states and 1 parent, got 1 and 2"),
        ((2, 0), {}, "at least 2 states and 1 parent, got 2 and 0"),
        ((2, 1), {"concentration": 0}, "concentration must be positive, got 0"),
        ((2, 1), {"concentration": float("nan")}, "concentration must be positive, got nan"),
    ],
)
def test_bad_sizes_of_a_random_kernel(size, options, message):
    with pytest.raises(KernelError, match=message):
        Kernel.random(*size, rng=np.random.default_rng(0), **options)


def test_a_random_kernel_that_is_too_large_is_refused_before_it_is_made():
    with pytest.raises(TooLargeError, match="100 states and 9 parents need 100,000,000,000,000,000,000 prob"):
        Kernel.random(100, 9, rng=np.random.default_rng(0))


def test_mendels_law_by_hand():
    q = 0.3
    kernel = Kernel.mendelian(q)
    rows = {
        (0, 0): (1, 0, 0),
        (0, 1): (0.5, 0.5, 0),
        (0, 2): (0, 1, 0),
        (1, 1): (0.25, 0.5, 0.25),
        (1, 2): (0, 0.5, 0.5),
        (2, 2): (0, 0, 1),
    }
    for (a, b), row in rows.items():
        assert kernel.table[a, b].tolist() == list(row)
        assert kernel.table[b, a].tolist() == list(row)
    hardy_weinberg = np.array([(1 - q) ** 2, 2 * q * (1 - q), q**2])
    assert np.allclose(kernel.marginal, hardy_weinberg)
    assert np.allclose(kernel.stationary, np.outer(hardy_weinberg, hardy_weinberg))
    assert np.allclose(np.einsum("ab,abc->c", kernel.stationary, kernel.table), hardy_weinberg)
    assert np.allclose(kernel.marginal_kernels[0], kernel.marginal_kernels[1])
    for bad in (0, 1, -0.2, float("nan")):
        with pytest.raises(KernelError, match="allele frequency must lie between 0 and 1"):
            Kernel.mendelian(bad)


def test_a_chain_mixes_the_lags():
    kernel = Kernel.chain(STEP, [0.2, 0.5, 0.3])
    for a, b, c in itertools.product(range(2), repeat=3):
        assert np.allclose(kernel.table[a, b, c], 0.2 * STEP[a] + 0.5 * STEP[b] + 0.3 * STEP[c])
    assert np.allclose(kernel.marginal, [2 / 3, 1 / 3])
    assert np.allclose(Kernel.chain(STEP, [1.0]).table, STEP)


@pytest.mark.parametrize("weights", [[0.5, 0.6], [1.5, -0.5], [], [np.nan, 1.0], [[1.0]]])
def test_lag_weights_must_be_probabilities(weights):
    with pytest.raises(KernelError, match="weights of the lags must be probabilities that sum to one"):
        Kernel.chain(STEP, weights)


def test_a_chain_needs_a_square_transition():
    with pytest.raises(KernelError, match=re.escape("an S × S matrix, got shape (3, 3, 3)")):
        Kernel.chain(Kernel.paper().table, [1.0])


def test_counts_become_relative_frequencies():
    counts = np.array([[3, 1], [0, 5]])
    assert np.allclose(Kernel.from_counts(counts).table, [[0.75, 0.25], [0, 1]])
    assert np.allclose(Kernel.from_counts(counts, smoothing=1).table, [[4 / 6, 2 / 6], [1 / 7, 6 / 7]])
    assert np.allclose(Kernel.from_counts(np.zeros((2, 2, 2)), smoothing=0.1).table, 0.5)
    assert counts.tolist() == [[3, 1], [0, 5]]


@pytest.mark.parametrize(
    ("counts", "smoothing", "message"),
    [
        ([[[1, 1], [0, 0]], [[1, 1], [1, 1]]], 0, r"no counts for parent states \(0, 1\): use smoothing > 0"),
        ([[1, -1], [1, 1]], 0, "finite and not negative"),
        ([[1, np.nan], [1, 1]], 0, "finite and not negative"),
        ([[1, 1], [1, 1]], -1, "finite and not negative"),
        ([[1, 1], [1, 1]], np.inf, "finite and not negative"),
        ([[1, 1], [1]], 0, "must be a table of numbers"),
        ([1, 1], 0, r"one axis per parent and one for the child, got shape \(2,\)"),
        ([[1, 1, 1], [1, 1, 1]], 0, "a kernel has shape"),
    ],
)
def test_bad_counts_are_named(counts, smoothing, message):
    with pytest.raises(KernelError, match=message):
        Kernel.from_counts(counts, smoothing)
