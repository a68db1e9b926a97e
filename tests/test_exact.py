import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from kgmi import Dag, FiniteKernels, Kernel, KernelSampler, PairMixture, Process, exact_joint
from kgmi.errors import KernelError, TooLargeError
from kgmi.exact import exact_parent_laws

from . import brute
from . import strategies as own

PAPER = Process(Dag.paper(), Kernel.paper())


def parent_law(full, parents):
    """Joint law of ``parents`` in their order, summed from the full table."""
    law = np.zeros((full.shape[0],) * len(parents))
    for states in itertools.product(range(full.shape[0]), repeat=full.ndim):
        law[tuple(states[p] for p in parents)] += full[states]
    return law


def assert_exact(process):
    full = brute.full_table(process)
    found = exact_joint(process)
    assert found.n_rows is None
    assert np.allclose(found.joint, brute.pair_joint(full), rtol=0, atol=1e-12)
    laws = exact_parent_laws(process)
    assert list(laws) == [child for child, parents in enumerate(process.dag.parents) if parents]
    for child, law in laws.items():
        assert np.allclose(law, parent_law(full, process.dag.parents[child]), rtol=0, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(own.processes())
def test_the_exact_joint_is_that_of_the_full_table(process):
    assert_exact(process)


@settings(max_examples=60, deadline=None)
@given(own.odd_processes())
def test_the_same_with_shuffled_roles_given_root_blocks_and_kernels_per_degree(process):
    assert_exact(process)


@pytest.mark.parametrize(
    "process",
    [
        Process(Dag.chain(6), Kernel([[0.9, 0.1], [0.3, 0.7]])),
        Process(Dag.paper().restrict(7), Kernel.mendelian(0.3)),
        Process(Dag([(), (), (), (0, 1), (1, 2), (3, 4)]), Kernel.mendelian(0.3)),
        Process(Dag([(), (), (1, 0), (2, 1), (3, 2)]), Kernel([[[0.5, 0.5], [0, 1]], [[0, 1], [1, 0]]])),
        Process(
            Dag([(), (), (0,), (), (3, 1)], [(3, 0), (1,)]), Kernel.paper(), {1: Kernel(np.eye(3), [1 / 3] * 3)}
        ),
        Process(Dag([(), (), ()], [(2, 0), (1,)]), Kernel.paper()),
        Process(Dag([()]), Kernel.paper()),
    ],
    ids=["tree", "Mendel", "Mendel, three founders", "zeros", "own degree kernel", "no edges", "one node"],
)
def test_special_processes(process):
    assert_exact(process)


def test_mixed_in_degrees_use_the_averaged_kernel():
    kernel = Kernel.paper(0.02)
    joint = exact_joint(Process(Dag([(), (), (0, 1), (2,)]), kernel)).joint
    averaged = np.einsum("b,abt->at", kernel.marginal, kernel.table)
    assert np.allclose(joint[3, 2], (np.diag(joint[2, 2])[:, None] * averaged).T)


@pytest.mark.parametrize("n_parents", [1, 2, 3])
def test_along_a_chain_everything_is_stationary(n_parents):
    kernel = Kernel.random(3, n_parents, rng=np.random.default_rng(n_parents))
    found = exact_joint(Process(Dag.chain(12, n_parents), kernel))
    assert np.allclose(found.marginal, kernel.marginal)
    for lag in range(1, 5):
        for child in range(lag, 12):
            assert np.allclose(found.joint[child, child - lag], found.joint[lag, 0])
    for child, head in itertools.product(range(n_parents, 12), range(n_parents)):
        parent = child - n_parents + head
        expected = (kernel.marginal[:, None] * kernel.marginal_kernels[head]).T
        assert np.allclose(found.joint[child, parent], expected)
    for law in exact_parent_laws(Process(Dag.chain(12, n_parents), kernel)).values():
        assert np.allclose(law, kernel.stationary)


def test_on_the_papers_graph_the_nodes_are_not_stationary():
    found = exact_joint(PAPER)
    assert found.marginal[3].tolist() == pytest.approx([0.294, 0.350, 0.357], abs=6e-4)
    assert PAPER.fixed_kernel().marginal.tolist() == pytest.approx([0.274, 0.358, 0.368], abs=6e-4)
    full = brute.full_table(Process(Dag.paper(5), Kernel.paper()))
    assert np.allclose(found.joint[:5, :5], brute.pair_joint(full), rtol=0, atol=1e-12)


def test_ten_copies_are_ten_independent_graphs():
    one = exact_joint(PAPER)
    ten = exact_joint(Process(Dag.paper().copies(10), Kernel.paper()))
    for copy in range(10):
        nodes = slice(10 * copy, 10 * copy + 10)
        assert np.allclose(ten.joint[nodes, nodes], one.joint)
    product = one.marginal[:, None, :, None] * one.marginal[None, :, None, :]
    assert np.allclose(ten.joint[30:40, 70:80], product)
    assert np.allclose(ten.joint[70:80, 30:40], product)


def test_a_long_chain_agrees_with_a_short_one():
    kernel = Kernel.paper(0.01)
    long = exact_joint(Process(Dag.chain(300, 2), kernel))
    short = exact_joint(Process(Dag.chain(8, 2), kernel))
    for start in (0, 150, 292):
        assert np.allclose(long.joint[start : start + 8, start : start + 8], short.joint)
    assert np.allclose(long.joint[299, 0], np.outer(kernel.marginal, kernel.marginal))


def test_a_large_tree_multiplies_the_kernel_along_its_paths():
    kernel = Kernel.random(3, 1, rng=np.random.default_rng(0))
    dag = Dag.random(200, 1, rng=np.random.default_rng(1))
    found = exact_joint(Process(dag, kernel))
    for node in (1, 50, 120, 199):
        steps, above = 0, node
        while above:
            steps, above = steps + 1, dag.parents[above][0]
        path = np.linalg.matrix_power(kernel.table, steps)
        assert np.allclose(found.joint[node, 0], (kernel.marginal[:, None] * path).T)


def test_an_entangled_graph_is_refused():
    dag = Dag.random(300, 2, rng=np.random.default_rng(0))
    with pytest.raises(TooLargeError, match=r"tables over \d+ nodes at once .* too entangled .* Sample rows"):
        exact_joint(Process(dag, Kernel.paper()))


def test_tables_of_many_nodes_over_a_large_bag_are_refused_too(monkeypatch):
    from kgmi import elimination

    process = Process(Dag.chain(100, 2), Kernel.paper())
    monkeypatch.setattr(elimination, "_MOST_CELLS", 5_000)  # the bags hold 2,646 cells, the widest table 8,100
    assert len(exact_parent_laws(process)) == 98
    with pytest.raises(TooLargeError, match="too entangled"):
        exact_joint(process)


def test_a_finite_kernel_law_gives_one_joint_per_kernel():
    kernels = [Kernel.paper(), Kernel.paper(0.1)]
    mixture = exact_joint(Process(Dag.paper(), FiniteKernels(kernels, [0.3, 0.7])))
    assert isinstance(mixture, PairMixture)
    assert (mixture.n_nodes, mixture.n_states, mixture.weights) == (10, 3, (0.3, 0.7))
    parts = [exact_joint(Process(Dag.paper(), kernel)).joint for kernel in kernels]
    assert np.array_equal(mixture.joints[1].joint, parts[1])
    assert np.allclose(mixture.joint, 0.3 * parts[0] + 0.7 * parts[1])
    assert not np.allclose(parts[0], parts[1])


def test_a_sampler_has_no_exact_joint():
    sampler = KernelSampler(lambda rng: Kernel.random(3, 2, rng=rng), 3, 2)
    with pytest.raises(KernelError, match=r"needs a finite kernel law: use sampler\.finite\(n_kernels, rng\)"):
        exact_joint(Process(Dag.paper(), sampler))
    with pytest.raises(KernelError, match="needs a fixed kernel"):
        exact_parent_laws(Process(Dag.paper(), sampler))
