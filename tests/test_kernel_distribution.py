import re

import numpy as np
import pytest

from kgmi import FiniteKernels, Kernel, KernelSampler
from kgmi.errors import KernelError

STEP = [[0.9, 0.1], [0.2, 0.8]]


def test_a_finite_law_over_kernels():
    kernels = (Kernel.paper(), Kernel.paper(0.05))
    law = FiniteKernels(kernels, [0.25, 0.75])
    assert (law.n_states, law.n_parents, law.kernels, law.weights) == (3, 2, kernels, (0.25, 0.75))
    assert FiniteKernels(kernels).weights == (0.5, 0.5)
    assert law.finite(7, np.random.default_rng(0)) is law


@pytest.mark.parametrize("weights", [[0.5, 0.6], [1.0, 0.0], [1.5, -0.5], [1.0], [np.nan, 1.0]])
def test_weights_of_kernels_must_be_a_law(weights):
    with pytest.raises(KernelError, match="weights must be 2 positive numbers that sum to one"):
        FiniteKernels([Kernel.paper(), Kernel.paper(0.05)], weights)


def test_kernels_of_a_law_have_one_shape():
    for kernels in ([], [Kernel.paper(), Kernel(STEP)]):
        with pytest.raises(KernelError, match="one or more kernels of the same shape"):
            FiniteKernels(kernels)


def test_a_sampler_gives_equally_weighted_draws():
    sampler = KernelSampler(lambda rng: Kernel.random(2, 2, rng=rng), n_states=2, n_parents=2)
    law = sampler.finite(4, np.random.default_rng(0))
    assert law.weights == (0.25,) * 4
    assert len(set(law.kernels)) == 4
    assert law == sampler.finite(4, np.random.default_rng(0))
    with pytest.raises(KernelError, match="n_kernels must be at least 1, got 0"):
        sampler.finite(0, np.random.default_rng(0))
    wrong = KernelSampler(lambda rng: Kernel.random(3, 2, rng=rng), n_states=2, n_parents=2)
    with pytest.raises(KernelError, match=re.escape("promised kernels of shape (2, 2, 2), drew (3, 3, 3)")):
        wrong.finite(1, np.random.default_rng(0))
