"""Tasks draw what the process says, and ask for what they are documented to ask for."""

import numpy as np
import pytest
import torch

import kgmi
from kgmi import Dag, FiniteKernels, Kernel, KernelSampler, Process
from kgmi.errors import SettingError
from kgmi.kernel import DirichletKernels
from kgmi.lab import Task

from .laws import PAPER, PROCESSES, SMALL, law_of, near, pair_frequencies

pytestmark = pytest.mark.lab

MANY = 100_000
STAR = Dag([(), (0,), (0,)])


@pytest.mark.parametrize("name", PROCESSES)
def test_rows_have_the_exact_laws_of_all_pairs(name):
    process = PROCESSES[name]
    rows = Task(process).rows(1, MANY)[0].numpy()
    assert near(pair_frequencies(rows, process.n_states), kgmi.exact_joint(process).joint, MANY)


def test_every_replica_follows_its_own_process():
    processes = [PROCESSES["mixed"], PROCESSES["paper"], Process(Dag.paper(10), Kernel.paper(0.05))]
    joints = [kgmi.exact_joint(one).joint for one in processes]
    found = [pair_frequencies(rows, 3) for rows in Task(processes).rows(2, MANY).numpy()]
    assert [[near(a, b, MANY) for b in joints] for a in found] == np.eye(3, dtype=bool).tolist()


def test_a_finite_law_gives_every_row_its_own_kernel():
    keeps, turns = (Kernel([[p, 1 - p], [1 - p, p]]) for p in (0.95, 0.05))
    process = Process(Dag.chain(40), FiniteKernels([keeps, turns], [0.3, 0.7]))
    rows = Task(process).rows(3, MANY)[0].numpy()
    assert near(pair_frequencies(rows, 2), kgmi.exact_joint(process).joint, MANY)
    changes = (rows[:, 1:] != rows[:, :-1]).mean(axis=1)
    assert near(np.mean(changes < 0.5), np.float64(0.3), MANY)
    assert not ((changes > 0.4) & (changes < 0.6)).any()


LATE = Process(Dag([(), (), (0, 1), (2, 0)], [(1, 0)]), PAPER)
FINITE = Process(Dag.paper(5), FiniteKernels([PAPER, Kernel.paper(0.05)]))


@pytest.mark.parametrize(
    ("processes", "more"),
    [
        ([], {}),
        (LATE, {}),
        (Process(Dag([(1, 2), (), ()]), PAPER), {}),
        ([FINITE, Process(Dag.paper(5), PAPER)], {}),
        (PROCESSES["paper"], {"uniform_roots": True}),
        (PROCESSES["paper"], {"replicas": 0}),
        (Process(Dag([(), ()]), PAPER), {}),
    ],
)
def test_what_cannot_be_drawn_is_refused(processes, more):
    with pytest.raises(SettingError):
        Task(processes, **more)


@pytest.mark.parametrize(
    ("kernels", "n_rows"),
    [
        (DirichletKernels(3, 1, 0.5), MANY),
        (KernelSampler(lambda rng: Kernel.random(3, 1, rng=rng, concentration=0.5), 3, 1), 5_000),
    ],
)
def test_random_kernels_have_the_moments_of_the_dirichlet_law(kernels, n_rows):
    rows = Task(Process(STAR, kernels), uniform_roots=True).rows(4, n_rows)[0].numpy()
    moments = np.full((3, 3), 0.5 / (3 * 2.5))  # E p_a p_b of a Dirichlet law with α = 0.5, Σα = 1.5
    np.fill_diagonal(moments, 1.5 / (3 * 2.5))
    for state in range(3):
        chosen = rows[rows[:, 0] == state, 1:]
        found = pair_frequencies(chosen, 3)
        assert near(found[0, 1], moments, len(chosen))
        assert near(np.diag(found[0, 0]), np.full(3, 1 / 3), len(chosen))


@pytest.mark.parametrize("degrees", [{}, pytest.param({1: Kernel([[0.95, 0.05], [0.05, 0.95]])})])
def test_rows_of_random_kernels_are_those_of_sample(degrees):
    process = Process(Dag([(), (), (0, 1), (2,)]), DirichletKernels(2, 2, 0.4), degrees)
    wanted = pair_frequencies(kgmi.sample(process, 6_000, rng=0), 2)
    assert near(pair_frequencies(Task(process).rows(5, MANY)[0].numpy(), 2), wanted, 5_000)


@pytest.mark.parametrize("predicts", ["next", "last", "label", "masked"])
def test_a_seed_gives_one_batch_and_leaves_the_generator_alone(predicts):
    task = Task(PROCESSES["paper"], predicts, replicas=2)
    before = torch.get_rng_state()
    one, other, third = (task.sample(seed, 20) for seed in (7, 7, 8))
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    assert not torch.equal(one.tokens, third.tokens)
    assert not torch.equal(one.tokens[0], one.tokens[1])


@pytest.mark.parametrize("name", ["mixed", "degrees", "pedigree", "three"])
def test_next_asks_for_every_node_with_parents(name):
    process = PROCESSES[name]
    n_nodes, children = process.n_nodes, [i for i, ps in enumerate(process.dag.parents) if ps]
    for soft in (True, False):
        batch = Task(process).sample(9, 30, soft=soft)
        rows = batch.tokens[0].numpy()
        assert rows.shape == (30, n_nodes)
        assert (batch.child[0].numpy() == np.arange(1, n_nodes)).all()
        weight = np.isin(np.arange(1, n_nodes), children) / len(children)
        assert np.allclose(batch.weight[0], weight, atol=1e-7)
        for child in children:
            laws = np.array([law_of(process, process.kernel, child, row) for row in rows])
            wanted = laws if soft else np.eye(process.n_states)[rows[:, child]]
            assert np.allclose(batch.law[0, :, child - 1], wanted, atol=1e-6)


def test_last_asks_for_the_last_node():
    batch = Task(SMALL, "last", replicas=2).sample(10, 50)
    assert batch.tokens.shape == (2, 50, 5)
    assert (batch.child == 5).all()
    assert batch.child.shape == (2, 50, 1)
    assert batch.weight.tolist() == [[1.0], [1.0]]
    rows = batch.tokens[1].numpy()
    assert np.allclose(batch.law[1, :, 0], SMALL.kernel.table[rows[:, 4], rows[:, 2]], atol=1e-6)


def test_label_asks_for_a_token_given_uniform_ones():
    task = Task(PROCESSES["mixed"], "label")
    batch, drawn = task.sample(11, MANY), task.sample(11, MANY, soft=False)
    tail = batch.tokens[0, :, 10:].numpy()
    assert task.length == 12
    assert batch.tokens.shape == (1, MANY, 12)
    assert (batch.child == 12).all()
    assert batch.law.shape == (1, MANY, 1, 3)
    assert near(pair_frequencies(tail, 3)[0, 1], np.full((3, 3), 1 / 9), MANY)
    assert np.allclose(batch.law[0, :, 0], PAPER.table[tail[:, 0], tail[:, 1]], atol=1e-6)
    tail, label = drawn.tokens[0, :, 10:].numpy(), drawn.law[0, :, 0].numpy()
    assert set(np.unique(label)) == {0.0, 1.0}
    assert (label.sum(axis=1) == 1).all()
    seen = label[(tail == [1, 2]).all(axis=1)]
    assert near(seen.mean(axis=0), PAPER.table[1, 2], len(seen))


def test_masked_hides_one_node_with_parents():
    process = PROCESSES["mixed"]
    batch = Task(process, "masked").sample(12, MANY)
    rows, child, law = batch.tokens[0].numpy(), batch.child[0, :, 0].numpy(), batch.law[0, :, 0].numpy()
    assert ((rows == 3) == (np.arange(10) == child[:, None])).all()
    children = np.array([bool(ps) for ps in process.dag.parents])
    assert near(np.bincount(child, minlength=10) / MANY, children / children.sum(), MANY)
    assert set(np.unique(law)) == {0.0, 1.0}
    rows[np.arange(MANY), child] = law.argmax(axis=1)
    assert near(pair_frequencies(rows, 3), kgmi.exact_joint(process).joint, MANY)


def test_uniform_roots_are_uniform_and_independent():
    dag = Dag.paper(5).copies(2)
    rows = Task(Process(dag, DirichletKernels(3, 2)), uniform_roots=True).rows(13, MANY)[0].numpy()
    found = pair_frequencies(rows, 3)
    roots = dag.roots
    for one in roots:
        for other in set(roots) - {one}:
            assert near(found[one, other], np.full((3, 3), 1 / 9), MANY)


@pytest.mark.parametrize(
    ("process", "predicts"),
    [
        (PROCESSES["paper"], "nothing"),
        ([PROCESSES["paper"], PROCESSES["copies"]], "next"),
        ([PROCESSES["paper"], Process(Dag.paper(10), DirichletKernels(3, 2))], "next"),
        (Process(Dag([(), (), (0, 1), ()]), PAPER), "last"),
    ],
)
def test_tasks_that_cannot_be(process, predicts):
    with pytest.raises(SettingError):
        Task(process, predicts)
