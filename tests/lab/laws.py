"""Processes of many forms, and plain NumPy laws of their rows: the oracle of this folder."""

from __future__ import annotations

import numpy as np

from kgmi import Dag, Kernel, Process

PAPER = Kernel.paper()
CHAIN = Kernel.chain([[0.8, 0.1, 0.1], [0.3, 0.5, 0.2], [0.1, 0.2, 0.7]], [0.7, 0.3])
PROCESSES = {
    "paper": Process(Dag.paper(10), PAPER),
    "mixed": Process(Dag.paper_mixed(), PAPER),
    "copies": Process(Dag.paper(5).copies(3), PAPER),
    "pedigree": Process(Dag([(), (), (0, 1), (), (2, 3), (3, 0), (4, 5)]), Kernel.mendelian(0.3)),
    "order 2": Process(Dag.chain(8, 2), CHAIN),
    "degrees": Process(Dag.paper_mixed(), PAPER, {1: Kernel.random(3, 1, rng=5)}),
    "three": Process(Dag([(), (), (), (2, 0, 1), (3,), (4, 0), (1, 5, 3)]), Kernel.random(2, 3, rng=3)),
}
SMALL = Process(
    Dag([(), (), (1, 0), (2,), (), (4, 2)]), Kernel.random(3, 2, rng=8), {1: Kernel.random(3, 1, rng=9)}
)


def pair_frequencies(rows, n_states):
    """[i, j, s', s] of rows."""
    states = np.eye(n_states)[rows].reshape(len(rows), -1)
    shape = (rows.shape[1], n_states)
    return (states.T @ states / len(rows)).reshape(*shape, *shape).transpose(0, 2, 1, 3)


def near(found, exact, n_rows):
    """Whether frequencies of so many rows are within five standard errors."""
    return bool((np.abs(found - exact) <= 5 * np.sqrt(exact * (1 - exact) / n_rows) + 1e-9).all())


def law_of(process, kernel, child, row):
    """π(. | states of the parents), or the law of a root given the roots of its block before it."""
    one = process.with_kernel(kernel)
    if parents := process.dag.parents[child]:
        return one.kernel_of_degree(len(parents)).table[tuple(row[list(parents)])]
    block = next(block for block in process.dag.root_blocks if child in block)
    place = block.index(child)
    law = one.root_law(place + 1)[tuple(row[list(block[:place])])]
    return law / law.sum()


def entropy_given(rows, weights, child, given):
    """H(X_child | X_given) of listed rows, by grouping them."""

    def entropy(columns):
        _, group = np.unique(rows[:, columns], axis=0, return_inverse=True)
        law = np.bincount(group.ravel(), weights)
        return -(law[law > 0] * np.log(law[law > 0])).sum()

    return entropy([*given, child]) - (entropy(list(given)) if len(given) else 0.0)
