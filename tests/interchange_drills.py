"""Results with nasty names, and every row that a small result can say something about."""

from __future__ import annotations

from functools import cache

import numpy as np

import kgmi

NAMES = ("a b", 'say "x", y', "1st -> 2nd", "Größe & <Höhe>", "table", "A B")
STATES = ("<5", "5, 12", "default")
DAG = kgmi.Dag([(), (), (0, 1), (1, 2), (0, 3), (2, 4)], root_blocks=[[0, 1]])


@cache
def learned_of(names=NAMES, states=STATES):
    """The paper's kernel on six nodes, learned from 1,500 rows; its roots are drawn together."""
    rows = kgmi.sample(kgmi.Process(DAG, kgmi.Kernel.paper()), 1_500, rng=np.random.default_rng(6))
    return kgmi.learn(kgmi.Table(rows, names, states), n_parents=2)


@cache
def mixed():
    """Nodes with two, three and four states, so that no two axes of a table can be mistaken for each other."""
    rng = np.random.default_rng(8)
    one, two = rng.integers(0, 2, 3_000), rng.integers(0, 3, 3_000)
    tables = rng.dirichlet([0.4] * 4, size=(3, 2))  # [two, one]
    steps = tables.cumsum(axis=-1)[two, one]
    three = (rng.random((3_000, 1)) >= steps[:, :-1]).sum(axis=1)
    alphabets = (("no", "yes"), ("x", "y", "z"), ("0", "1", "2", "3"))
    states = tuple(dict.fromkeys(state for alphabet in alphabets for state in alphabet))
    table = kgmi.Table(np.stack([one, two, three], axis=1), ("one", "two", "three"), states, alphabets)
    return kgmi.learn(table, n_parents=2)


def all_rows(learned):
    """Every possible row, as codes."""
    sizes = [len(law) for law in learned.model.marginals]
    return np.indices(sizes).reshape(len(sizes), -1).T
