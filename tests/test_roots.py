"""Which nodes are roots."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from kgmi import Dag, FiniteKernels, Kernel, PairJoint, Process, count_pairs, exact_joint, find_roots, learn, sample
from kgmi.errors import SettingError

from . import brute
from .strategies import processes


@settings(max_examples=60, deadline=None)
@given(processes(max_nodes=5))
def test_exact_roots_are_the_nodes_that_are_independent_of_each_earlier_one(process):
    joint = brute.pair_joint(brute.full_table(process))
    marginal = np.einsum("iiss->is", joint)
    distance = np.abs(joint - marginal[:, None, :, None] * marginal[None, :, None, :]).max(axis=(2, 3))
    independent = {i for i in range(process.n_nodes) if distance[i, :i].max(initial=0) < 1e-7}
    assert set(find_roots(PairJoint(joint))) == independent
    assert independent <= set(process.dag.roots)
    assert independent >= {block[0] for block in process.dag.root_blocks if len(block) == 1}


def test_roots_of_several_components_are_found_exactly():
    process = Process(Dag.chain(4, 2).copies(3), Kernel.paper())
    assert find_roots(exact_joint(process)) == (0, 4, 8)  # 1, 5 and 9 are drawn jointly with the node before


def test_the_g_test_rarely_takes_independent_columns_for_children():
    rng = np.random.default_rng(0)
    wrong = sum(len(find_roots(count_pairs(rng.integers(3, size=(500, 6)), 3), 0.05)) < 6 for _ in range(200))
    assert 0 < wrong <= 20  # at most 5 % of 200 in the mean, so 10; 20 is more than three deviations above
    strict = sum(len(find_roots(count_pairs(rng.integers(3, size=(500, 6)), 3), 1e-4)) < 6 for _ in range(100))
    assert strict == 0


def test_the_g_test_finds_the_children_of_the_paper():
    process = Process(Dag.paper(), Kernel.paper())
    counts = count_pairs(sample(process, 20_000, rng=np.random.default_rng(1)), 3)
    assert find_roots(counts.pair_joint(0.0)) == (0,)  # node 1 is drawn jointly with node 0
    few = PairJoint(counts.joint, n_rows=5)
    assert find_roots(few) == tuple(range(10))  # five rows prove nothing


@pytest.mark.parametrize("level", [0, 1, -0.1, np.nan])
def test_the_level_of_the_root_test_must_be_a_probability(level):
    with pytest.raises(SettingError, match="level of the root test"):
        find_roots(PairJoint(np.eye(2)[None, None] / 2), level)


def test_states_that_never_occur_do_not_weaken_the_test():
    first = np.random.default_rng(0).integers(3, size=500)
    second = np.where(np.random.default_rng(1).random(500) < 0.9, first, 0)
    rows = np.stack([first, second], axis=1)
    for factor, n_states in ((1, 3), (1, 40), (100, 201)):
        assert find_roots(count_pairs(rows * factor, n_states).pair_joint(0.0)) == (0,)
        assert learn(rows * factor, n_states=n_states).dag == Dag([(), (0,)])


def test_roots_of_a_random_kernel_are_those_under_every_kernel():
    """Two components: their roots are independent under each kernel, but not once the kernels are averaged."""
    kernels = FiniteKernels([Kernel([[0.9, 0.1], [0.8, 0.2]]), Kernel([[0.2, 0.8], [0.1, 0.9]])])
    mixture = exact_joint(Process(Dag.chain(2).copies(2), kernels))
    assert find_roots(mixture) == (0, 2)
    assert find_roots(PairJoint(mixture.joint)) == (0,)
