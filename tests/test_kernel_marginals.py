import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings

from kgmi import Kernel
from kgmi.errors import KernelError

from . import brute
from . import strategies as own

STEP = np.array([[0.9, 0.1], [0.2, 0.8]])
some = settings(max_examples=40, deadline=None)


@some
@given(own.kernels(max_parents=3))
def test_marginal_kernels_are_averages_under_the_stationary_law(kernel):
    law = brute.stationary(kernel.table)
    uniform = np.full(law.shape, 1.0 / law.size)
    for head in range(kernel.n_parents):
        assert np.allclose(kernel.marginal_kernels[head], brute.marginal_kernel(kernel.table, law, head), atol=1e-9)
        assert np.allclose(
            kernel.uniform_marginal_kernels[head], brute.marginal_kernel(kernel.table, uniform, head)
        )
    assert np.allclose(kernel.marginal_kernels.sum(axis=-1), 1)


def test_with_one_parent_the_marginal_kernel_is_the_table():
    kernel = Kernel(STEP)
    assert np.allclose(kernel.marginal_kernels, STEP[None])
    assert kernel.has_distinct_marginals  # there is nothing to tell apart
    assert kernel.marginal_distance == math.inf


def test_a_state_without_mass_has_no_marginal_kernel_beside_other_parents():
    left_for_good = np.array([[0.5, 0.5, 0], [0.2, 0.8, 0], [0.3, 0.3, 0.4]])
    table = 0.5 * left_for_good[:, None] + 0.5 * left_for_good[None, :]
    law = np.outer([0.5, 0.5, 0], [0.5, 0.5, 0])
    for kernel in (Kernel(table), Kernel(table, parent_law=law)):
        assert kernel.marginal[2] == 0
        with pytest.raises(KernelError, match=r"state 2 has probability 0 under the stationary law.* parent 1"):
            _ = kernel.marginal_kernels
    alone = Kernel(left_for_good)  # with one parent there is nothing to average
    assert np.array_equal(alone.marginal_kernels[0], left_for_good)
    assert alone.spectral_norm == pytest.approx(Kernel(left_for_good[:2, :2]).spectral_norm)


def test_equal_marginal_kernels_are_noticed():
    assert Kernel.paper().has_distinct_marginals
    assert not Kernel.mendelian(0.3).has_distinct_marginals
    assert not Kernel.chain(STEP, [0.5, 0.5]).has_distinct_marginals
    assert Kernel.chain(STEP, [0.6, 0.4]).has_distinct_marginals
    kernels = Kernel.paper().marginal_kernels
    assert Kernel.paper().marginal_distance == pytest.approx(np.abs(kernels[0] - kernels[1]).max())


def test_the_spectral_norm_is_the_largest_singular_value_of_the_centred_kernels():
    # Two states: B has rank one, and its one singular value is 1 − a − b for the step [[1−a, a], [b, 1−b]].
    assert Kernel(STEP).spectral_norm == pytest.approx(0.7)
    assert Kernel(STEP).spectral_gap == pytest.approx(0.3)
    kernel = Kernel.paper(0.05)
    largest = 0.0
    for table in kernel.marginal_kernels:
        block = np.zeros((3, 3))
        for s, t in itertools.product(range(3), repeat=2):
            block[s, t] = math.sqrt(kernel.marginal[s] / kernel.marginal[t]) * (table[s, t] - kernel.marginal[t])
        largest = max(largest, math.sqrt(np.linalg.eigvalsh(block.T @ block)[-1]))
    assert kernel.spectral_norm == pytest.approx(largest)


@some
@given(own.kernels(max_parents=3))
def test_marginalise_averages_the_missing_parents_under_their_marginal_law(kernel):
    law, size = brute.stationary(kernel.table), range(kernel.n_states)
    mu = law.reshape(kernel.n_states, -1).sum(axis=1)
    for n_parents in range(1, kernel.n_parents + 1):
        for keep in [None, *itertools.combinations(range(kernel.n_parents), n_parents)]:
            kept = tuple(range(n_parents)) if keep is None else keep
            expected = np.zeros((kernel.n_states,) * (n_parents + 1))
            for past in itertools.product(size, repeat=kernel.n_parents):
                weight = math.prod(mu[s] for axis, s in enumerate(past) if axis not in kept)
                expected[tuple(past[axis] for axis in kept)] += weight * kernel.table[past]
            assert np.allclose(kernel.marginalise(n_parents, keep).table, expected, atol=1e-9)


@pytest.mark.parametrize(
    ("n_parents", "keep", "message"),
    [
        (0, None, "cannot keep 0 parents of a kernel with 2"),
        (3, None, "cannot keep 3 parents of a kernel with 2"),
        (1, (2,), "keep must list 1 of the parents 0..1 once, got [2]"),
        (1, (-1,), "keep must list 1 of the parents 0..1 once, got [-1]"),
        (2, (0, 0), "keep must list 2 of the parents 0..1 once, got [0, 0]"),
        (1, (0, 1), "keep must list 1 of the parents 0..1 once, got [0, 1]"),
    ],
)
def test_parents_that_cannot_be_kept(n_parents, keep, message):
    with pytest.raises(KernelError, match=re.escape(message)):
        Kernel.paper().marginalise(n_parents, keep)
