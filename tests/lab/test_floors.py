"""Losses of predictors that know the graph, against lists of all rows and slow loops."""

import numpy as np
import pytest

from kgmi import Dag, FiniteKernels, Kernel, KernelSampler, Process
from kgmi.exact import exact_rows
from kgmi.kernel import DirichletKernels
from kgmi.lab import Task, bayes

from .laws import SMALL, entropy_given, law_of

pytestmark = pytest.mark.lab

TREE = Dag([(), (0,), (0,), (2,), (3,), (1,), (5,), (6,), (3,)])
TWO = Dag([(), (), (1, 0), (2, 0), (3, 1), (4, 2), (5, 3), (6, 4)])
MIXED = Dag([(), (), (1, 0), (2,), (3, 1), (4,), (5, 3), (6, 4)])


def children_of(process):
    return [child for child, parents in enumerate(process.dag.parents) if parents]


def brute(process, predicts):
    """Bayes and one-parent losses of a fixed kernel from all rows, or from all tails and labels."""
    if predicts == "label":
        table = process.kernel.table
        rows, weights = np.indices(table.shape).reshape(table.ndim, -1).T, table.ravel() / table[..., 0].size
        targets = [table.ndim - 1]
    else:
        rows, weights = exact_rows(process)
        targets = children_of(process) if predicts == "next" else [process.n_nodes - 1]
    every = [entropy_given(rows, weights, i, range(i)) for i in targets]
    one = [min(entropy_given(rows, weights, i, [j]) for j in range(i)) for i in targets]
    return np.mean(every), np.mean(one)


@pytest.mark.parametrize("predicts", ["next", "last", "label"])
@pytest.mark.parametrize(
    "process", [SMALL, Process(TREE, Kernel.random(2, 1, rng=3)), Process(Dag.paper(5), Kernel.mendelian(0.4))]
)
def test_a_fixed_kernel_gives_the_entropies_of_all_rows(process, predicts):
    floor = bayes(Task(process, predicts, replicas=2))
    assert floor.exact
    assert np.allclose([floor.bayes, floor.one_parent], np.array(brute(process, predicts))[:, None], atol=1e-10)
    assert np.isnan(floor.construction).all()


def test_every_replica_has_its_own_floor():
    processes = [Process(TREE, Kernel.random(2, 1, rng=seed)) for seed in (1, 2)]
    assert np.allclose(bayes(Task(processes)).bayes, [brute(one, "next")[0] for one in processes])


def test_floors_of_mixed_in_degrees_with_random_kernels_are_not_known():
    kernels = FiniteKernels([Kernel.random(3, 2, rng=seed) for seed in (1, 2)])
    assert np.isnan(bayes(Task(Process(MIXED, kernels))).bayes).all()


def test_a_masked_token_is_predicted_from_all_others():
    rows, weights = exact_rows(SMALL)
    others = {i: [j for j in range(6) if j != i] for i in children_of(SMALL)}
    exact = np.mean([entropy_given(rows, weights, i, given) for i, given in others.items()])
    floor = bayes(Task(SMALL, "masked", replicas=2), n_rows=8_000)
    assert floor.bayes == pytest.approx(exact, abs=0.03)
    assert np.isnan(floor.one_parent).all()
    assert not floor.exact


def asked(task, row):
    """Targets of a row: its tokens before the target, the states of the target's parents, their places."""
    process, n_nodes = task.processes[0], task.n_nodes
    if task.predicts == "label":
        return [(row[:n_nodes], tuple(row[n_nodes:]))]
    targets = children_of(process) if task.predicts == "next" else [n_nodes - 1]
    return [(row[:i], tuple(row[list(process.dag.parents[i])])) for i in targets]


def laws_of(task, batch, number):
    chosen = np.flatnonzero(batch.weight[0].numpy())
    return batch.law[0, number].numpy().astype(float)[chosen]


def counted(task, before, parents, roles, alpha):
    """Posterior mean of what followed the same states of these parents."""
    counts = np.full(task.n_states, alpha)
    for child in children_of(task.processes[0]):
        places = task.processes[0].dag.parents[child]
        if child < len(before) and all(before[places[role]] == parents[role] for role in roles):
            counts[before[child]] += 1
    return counts / counts.sum()


@pytest.mark.parametrize("predicts", ["next", "last", "label"])
@pytest.mark.parametrize(("dag", "n_parents", "alpha"), [(TREE, 1, 0.3), (TWO, 2, 1.5)])
def test_dirichlet_kernels_give_the_posterior_mean_of_counts(dag, n_parents, alpha, predicts):
    task = Task(Process(dag, DirichletKernels(3, n_parents, alpha)), predicts)
    floor, batch = bayes(task, 5, 60), task.sample(5, 60)

    def loss(roles):
        found = []
        for number, row in enumerate(batch.tokens[0].numpy()):
            logs = [np.log(counted(task, before, parents, roles, alpha)) for before, parents in asked(task, row)]
            found.append(-(laws_of(task, batch, number) * logs).sum(axis=1).mean())
        return np.mean(found)

    assert floor.bayes == pytest.approx(loss(range(n_parents)), abs=1e-5)
    assert floor.one_parent == pytest.approx(min(loss([role]) for role in range(n_parents)), abs=1e-5)
    assert not floor.exact
    assert floor.construction <= np.log(3) + 1e-6


def test_every_replica_counts_with_its_own_concentration():
    processes = [Process(TREE, DirichletKernels(3, 1, alpha)) for alpha in (0.1, 5.0)]
    alone = [bayes(Task(one), n_rows=300).bayes[0] for one in processes]
    assert bayes(Task(processes), n_rows=300).bayes == pytest.approx(alone, abs=0.1)


@pytest.mark.parametrize(
    ("dag", "predicts"),
    [(TWO, "next"), (TWO, "last"), (TWO, "label"), (MIXED, "label")],
)
def test_finite_kernels_give_the_posterior_mixture(dag, predicts):
    kernels = FiniteKernels(
        [Kernel.random(3, 2, rng=seed, concentration=0.5) for seed in (1, 2, 3)], [0.2, 0.5, 0.3]
    )
    process = Process(dag, kernels)
    task = Task(process, predicts)
    floor, batch = bayes(task, 6, 40), task.sample(6, 40)
    found = []
    for number, row in enumerate(batch.tokens[0].numpy()):
        predictions = []
        for before, parents in asked(task, row):
            shares = [
                weight * np.prod([law_of(process, kernel, i, before)[before[i]] for i in range(len(before))])
                for kernel, weight in zip(kernels.kernels, kernels.weights, strict=True)
            ]
            laws = [
                process.with_kernel(one).kernel_of_degree(len(parents)).table[parents] for one in kernels.kernels
            ]
            predictions.append(np.average(laws, axis=0, weights=shares))
        found.append(-(laws_of(task, batch, number) * np.log(predictions)).sum(axis=1).mean())
    assert floor.bayes == pytest.approx(np.mean(found), abs=1e-5)


def test_a_sampler_without_a_known_law_has_no_bayes_predictor():
    sampler = KernelSampler(lambda rng: Kernel.random(2, 1, rng=rng), 2, 1)
    floor = bayes(Task(Process(TREE, sampler)), n_rows=50)
    assert np.isnan(floor.bayes).all()
    assert np.isfinite(floor.one_parent).all()
