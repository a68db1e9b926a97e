import re

import numpy as np
import pytest

from kgmi import Dag, FiniteKernels, Kernel, KernelSampler, LabelledRows, Process, sample, sample_chunks
from kgmi.errors import KernelError, SettingError, TooLargeError

from .test_sampling import COPY, FLIP, PAPER, assert_frequencies, fresh


def test_the_tail_holds_uniform_tokens_and_a_label_from_the_kernel():
    n_rows = 45_000
    labelled = sample(PAPER, n_rows, rng=fresh(0), labelled=True)
    assert isinstance(labelled, LabelledRows)
    assert (labelled.rows.shape, labelled.uniform.shape, labelled.label.shape) == (
        (n_rows, 10),
        (n_rows, 2),
        (n_rows,),
    )
    counts = np.zeros((3, 3, 3))
    np.add.at(counts, (labelled.uniform[:, 0], labelled.uniform[:, 1], labelled.label), 1)
    assert_frequencies(counts, Kernel.paper().table / 9, n_rows)
    # The tail is independent of the nodes.
    beside = np.zeros((3, 3))
    np.add.at(beside, (labelled.rows[:, 9], labelled.label), 1)
    law = np.outer(np.bincount(labelled.rows[:, 9]), np.bincount(labelled.label)) / n_rows**2
    assert np.all(np.abs(beside / n_rows - law) < 0.01)


def test_the_label_of_a_mixed_graph_follows_the_full_kernel():
    process = Process(Dag.paper_mixed(), Kernel.mendelian(0.3))
    labelled = sample(process, 500, rng=fresh(1), labelled=True)
    chance = Kernel.mendelian(0.3).table[labelled.uniform[:, 0], labelled.uniform[:, 1], labelled.label]
    assert np.all(chance > 0)


def follows(rows, sign):
    """Rows in which every step copies (+1) or flips (-1)."""
    steps = rows[:, 1:] == rows[:, :-1]
    return steps.all(axis=1) if sign > 0 else (~steps).all(axis=1)


def test_every_row_follows_one_kernel_of_a_finite_law():
    law = FiniteKernels([COPY, FLIP], [0.25, 0.75])
    labelled = sample(Process(Dag.chain(6), law), 4_000, rng=fresh(2), labelled=True)
    copied, flipped = follows(labelled.rows, +1), follows(labelled.rows, -1)
    assert np.all(copied ^ flipped)
    assert_frequencies(copied.sum(), np.float64(0.25), 4_000)
    assert np.array_equal(labelled.label == labelled.uniform[:, 0], copied)


def test_every_row_follows_the_kernel_that_its_sampler_drew():
    sampler = KernelSampler(lambda rng: COPY if rng.random() < 0.25 else FLIP, n_states=2, n_parents=1)
    labelled = sample(Process(Dag.chain(6), sampler), 2_000, rng=fresh(3), labelled=True)
    copied, flipped = follows(labelled.rows, +1), follows(labelled.rows, -1)
    assert np.all(copied ^ flipped)
    assert_frequencies(copied.sum(), np.float64(0.25), 2_000)
    assert np.array_equal(labelled.label == labelled.uniform[:, 0], copied)


def test_a_sampler_that_breaks_its_promise_is_found_out():
    sampler = KernelSampler(lambda rng: Kernel.random(3, 2, rng=rng), n_states=2, n_parents=2)
    with pytest.raises(KernelError, match=re.escape("promised kernels of shape (2, 2, 2), drew (3, 3, 3)")):
        sample(Process(Dag.paper(), sampler), 1, rng=fresh())


def test_a_node_with_fewer_parents_follows_its_own_kernel():
    process = Process(Dag([(), (), (0,), (0, 1)]), Kernel(np.full((2, 2, 2), 0.5)), {1: COPY})
    rows = sample(process, 200, rng=fresh(4))
    assert np.array_equal(rows[:, 2], rows[:, 0])
    assert not np.array_equal(rows[:, 3], rows[:, 0])


def test_bad_sizes_are_errors_at_the_call():
    with pytest.raises(SettingError, match="n_rows must be at least 1, got 0"):
        sample(PAPER, 0, rng=fresh())
    with pytest.raises(SettingError, match="n_rows must be at least 1, got -1"):
        sample_chunks(PAPER, -1, rng=fresh())
    with pytest.raises(SettingError, match="chunk_rows must be at least 1, got 0"):
        sample_chunks(PAPER, 5, rng=fresh(), chunk_rows=0)
    with pytest.raises(
        TooLargeError, match="10,000,000,000 rows of 10 columns at once are too many; use sample_ch"
    ):
        sample(PAPER, 10**10, rng=fresh())
