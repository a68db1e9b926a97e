import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import (
    Dag,
    FiniteKernels,
    Kernel,
    KernelSampler,
    Process,
    exact_joint,
    sample,
    sample_chunks,
)
from kgmi.sampling import code_type

from . import brute
from . import strategies as own

PAPER = Process(Dag.paper(), Kernel.paper())
# From either start: a node that copies its parent for ever, and one that always changes.
COPY = Kernel(np.eye(2), parent_law=[0.5, 0.5])
FLIP = Kernel(np.eye(2)[::-1], parent_law=[0.5, 0.5])


def fresh(seed=0):
    return np.random.default_rng(seed)


def assert_frequencies(counts, law, n_rows):
    """Counts within five standard deviations of ``n_rows`` times ``law``, and none where the law is 0."""
    bound = 5 * np.sqrt(n_rows * law * (1 - law)) + 1e-6
    assert np.all(np.abs(counts - n_rows * law) <= bound)


def test_rows_are_small_codes_of_the_right_shape():
    rows = sample(PAPER, 100, rng=fresh())
    assert (rows.shape, rows.dtype) == ((100, 10), np.int8)
    assert set(np.unique(rows)) == {0, 1, 2}


@pytest.mark.parametrize(("n_states", "dtype"), [(2, np.int8), (128, np.int8), (129, np.int16), (40_000, np.int32)])
def test_the_smallest_type_that_holds_the_states(n_states, dtype):
    assert code_type(n_states) == dtype
    assert np.iinfo(code_type(n_states)).max >= n_states - 1


def test_the_same_seed_gives_the_same_rows_and_the_global_generator_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002  (that is what is checked)
    assert np.array_equal(sample(PAPER, 50, rng=fresh(1)), sample(PAPER, 50, rng=fresh(1)))
    assert not np.array_equal(sample(PAPER, 50, rng=fresh(1)), sample(PAPER, 50, rng=fresh(2)))
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    one = fresh(1)
    assert not np.array_equal(sample(PAPER, 50, rng=one), sample(PAPER, 50, rng=one))


LAWS = {
    "fixed": Kernel.paper(),
    "finite": FiniteKernels([Kernel.paper(), Kernel.paper(0.1)]),
    "sampler": KernelSampler(lambda rng: Kernel.random(3, 2, rng=rng), 3, 2),
}


@pytest.mark.parametrize("kernel", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("labelled", [False, True])
@settings(max_examples=8, deadline=None)
@given(chunk_rows=st.integers(1, 25))
def test_the_rows_do_not_depend_on_the_chunks(kernel, labelled, chunk_rows):
    process = Process(Dag.paper_mixed(), kernel)
    chunks = list(sample_chunks(process, 20, rng=fresh(3), labelled=labelled, chunk_rows=chunk_rows))
    assert [len(chunk) for chunk in chunks[:-1]] == [chunk_rows] * (len(chunks) - 1)
    whole = sample(process, 20, rng=fresh(3), labelled=labelled)
    if labelled:
        whole = np.column_stack([whole.rows, whole.uniform, whole.label])
    assert np.array_equal(np.concatenate(chunks), whole)


@settings(max_examples=10, deadline=None)
@given(own.odd_processes(max_nodes=5))
def test_pairs_are_as_frequent_as_the_full_table_says(process):
    n_rows = 2_000
    joint = brute.pair_joint(brute.full_table(process))
    rows = sample(process, n_rows, rng=fresh(4))
    # A property over many draws: the bound is widened so that no sensible draw can fail.
    found = brute.count_pairs(rows, process.n_states) / n_rows
    assert np.all(np.abs(found - joint) <= 7 * np.sqrt(joint * (1 - joint) / n_rows) + 3 / n_rows)


def test_the_papers_pairs_are_as_frequent_as_they_should_be():
    n_rows = 40_000
    joint = exact_joint(PAPER).joint
    rows = sample(PAPER, n_rows, rng=fresh(5))
    hot = rows[:, :, None] == np.arange(3)
    counts = np.einsum("nia,njb->ijab", hot.astype(float), hot.astype(float), optimize=True)
    assert_frequencies(counts, joint, n_rows)


def test_a_root_block_is_drawn_jointly_in_its_order():
    law = np.array([[0.0, 0.3, 0.2], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    law = (law + law.T) / 2
    kernel = Kernel(np.full((3, 3, 3), 1 / 3), parent_law=law)
    rows = sample(Process(Dag([(), (), (), (0, 1)], [(2, 0), (1,)]), kernel), 20_000, rng=fresh(6))
    pair = np.zeros((3, 3))
    np.add.at(pair, (rows[:, 2], rows[:, 0]), 1)
    assert_frequencies(pair, law, 20_000)
    apart = np.zeros((3, 3))
    np.add.at(apart, (rows[:, 2], rows[:, 1]), 1)
    assert_frequencies(apart, np.outer(law.sum(axis=1), law.sum(axis=1)), 20_000)


def test_the_order_inside_a_root_block_and_the_roles_of_parents_count():
    after = np.roll(np.eye(3), 1, axis=1) / 3  # the second of a pair is always the first plus one
    first_plus_one = np.broadcast_to(3 * after[:, None, :], (3, 3, 3))
    kernel = Kernel(first_plus_one, parent_law=after)
    forward = sample(Process(Dag([(), (), (0, 1)], [(0, 1)]), kernel), 50, rng=fresh(7))
    assert np.array_equal(forward[:, 1], (forward[:, 0] + 1) % 3)
    assert np.array_equal(forward[:, 2], (forward[:, 0] + 1) % 3)
    backward = sample(Process(Dag([(), (), (1, 0)], [(1, 0)]), kernel), 50, rng=fresh(7))
    assert np.array_equal(backward[:, 0], (backward[:, 1] + 1) % 3)
    assert np.array_equal(backward[:, 2], (backward[:, 1] + 1) % 3)


def test_a_seed_is_as_good_as_a_generator():
    process = Process(Dag.random(6, 2, rng=3), Kernel.random(3, 2, rng=4))
    assert process.dag == Dag.random(6, 2, rng=np.random.default_rng(3))
    assert process.kernel == Kernel.random(3, 2, rng=np.random.default_rng(4))
    assert np.array_equal(sample(process, 50, rng=5), sample(process, 50, rng=np.random.default_rng(5)))
