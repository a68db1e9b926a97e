import re

import numpy as np
import pytest

from kgmi import Dag, FiniteKernels, Kernel, Process
from kgmi.errors import GraphError, KernelError

COIN = Kernel([[0.5, 0.5], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (
            lambda: Process(Dag.paper(), Kernel(np.full((3, 3), 1 / 3))),
            GraphError,
            "node 2 has 2 parents, but the kernel takes 1",
        ),
        (
            lambda: Process(Dag([(), (), ()], [(0, 1, 2)]), Kernel.paper()),
            GraphError,
            "root block (0, 1, 2) is larger than the 2 parents of the kernel",
        ),
        (
            lambda: Process(Dag.paper_mixed(), Kernel.paper(), {1: COIN}),
            KernelError,
            "the kernel for in-degree 1 has 1 parents and 2 states; it needs 1 and 3",
        ),
        (
            lambda: Process(Dag.paper_mixed(), Kernel.paper(), {1: Kernel.paper()}),
            KernelError,
            "the kernel for in-degree 1 has 2 parents and 3 states; it needs 1 and 3",
        ),
        (
            lambda: Process(Dag.paper(), Kernel.paper(), {2: Kernel.paper(0.1)}),
            KernelError,
            "a kernel for in-degree 2; it is for nodes with 1 to 1 parents, those with 2 follow the kernel",
        ),
        (
            lambda: Process(Dag.paper(), Kernel.paper(), {0: COIN}),
            KernelError,
            "a kernel for in-degree 0; it is for nodes with 1 to 1 parents",
        ),
    ],
)
def test_a_graph_and_a_kernel_that_do_not_fit(make, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        make()


def test_a_process_knows_its_sizes():
    process = Process(Dag.paper(), Kernel.paper())
    assert (process.n_nodes, process.n_states) == (10, 3)
    assert process.fixed_kernel() is process.kernel


def test_kernels_by_in_degree():
    kernel = Kernel.paper(0.02)
    own = Kernel.random(3, 1, rng=np.random.default_rng(0))
    assert Process(Dag.paper_mixed(), kernel).kernel_of_degree(1) == kernel.marginalise(1)
    assert Process(Dag.paper_mixed(), kernel, {1: own}).kernel_of_degree(1) is own
    assert Process(Dag.paper_mixed(), kernel, {1: own}).kernel_of_degree(2) is kernel
    with pytest.raises(KernelError, match="cannot keep 3 parents"):
        Process(Dag.paper(), kernel).kernel_of_degree(3)


def test_the_law_of_a_root_block_is_a_marginal_of_the_stationary_law():
    kernel = Kernel.random(2, 3, rng=np.random.default_rng(1))
    process = Process(Dag.chain(5, 3), kernel)
    assert np.allclose(process.root_law(3), kernel.stationary)
    assert np.allclose(process.root_law(2), kernel.stationary.sum(axis=2))
    assert np.allclose(process.root_law(1), kernel.marginal)


def test_a_root_block_takes_the_first_coordinates_of_a_given_law():
    law = np.zeros((3, 3, 3))
    for state in range(3):
        law[state, (state + 1) % 3, (state + 1) % 3] = 1 / 3
    process = Process(Dag.chain(5, 3), Kernel(np.full((3,) * 4, 1 / 3), parent_law=law))
    assert np.allclose(process.root_law(2), np.roll(np.eye(3), 1, axis=1) / 3)


def test_a_random_kernel_has_to_be_fixed_first():
    law = FiniteKernels([Kernel.paper(), Kernel.paper(0.1)])
    own = Kernel.random(3, 1, rng=np.random.default_rng(0))
    process = Process(Dag.paper_mixed(), law, {1: own})
    with pytest.raises(KernelError, match=r"needs a fixed kernel; take one of the distribution with with_kernel"):
        process.fixed_kernel()
    fixed = process.with_kernel(law.kernels[1])
    assert fixed.fixed_kernel() == law.kernels[1]
    assert fixed.dag is process.dag
    assert fixed.kernel_of_degree(1) is own


def test_a_process_can_be_hashed_and_its_kernels_cannot_be_swapped():
    kernels = {1: Kernel.paper().marginalise(1)}
    process = Process(Dag.paper_mixed(), Kernel.paper(), kernels)
    kernels[1] = Kernel.random(3, 1, rng=0)
    assert process.kernel_of_degree(1) == Kernel.paper().marginalise(1)
    assert hash(process) == hash(Process(Dag.paper_mixed(), Kernel.paper(), dict(process.degree_kernels)))
    with pytest.raises(TypeError):
        process.degree_kernels[1] = Kernel.paper()


def test_bare_tables_and_lists_are_told_to_be_wrapped():
    with pytest.raises(KernelError, match=r"wrap a table .* as kgmi.Kernel"):
        Process(Dag.paper(), Kernel.paper().table)
    with pytest.raises(GraphError, match=r"wrap parents as kgmi.Dag"):
        Process([(), (0,)], Kernel.paper())


def test_processes_with_other_root_blocks_are_different():
    apart = Dag(Dag.paper().parents, [(0,), (1,)])
    assert apart == Dag.paper()
    assert Process(apart, Kernel.paper()) != Process(Dag.paper(), Kernel.paper())
    assert Process(Dag.paper(), Kernel.paper()) == Process(Dag.paper(), Kernel.paper())
