"""Small data and problems for the tests of the search."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from kgmi import Kernel, Process, sample
from kgmi.candidates import candidate_sets
from kgmi.counts.bits import RowCounts
from kgmi.errors import KernelError
from kgmi.penalty import penalty_named
from kgmi.problem import Problem
from kgmi.score import Group

from .strategies import dags, kernels, seeds


@st.composite
def observations(draw, min_nodes=1, max_nodes=5, max_states=4, max_rows=30, same_sizes=False, weighted=True):
    """Random rows, now and then with gaps, with whole weights or as a law; every node of its own size, or not."""
    rng = np.random.default_rng(draw(seeds))
    n_nodes, n_rows = draw(st.integers(min_nodes, max_nodes)), draw(st.integers(1, max_rows))
    if same_sizes:
        sizes = (draw(st.integers(2, max_states)),) * n_nodes
    else:
        sizes = tuple(rng.integers(2, max_states + 1, n_nodes).tolist())
    codes = (rng.random((n_rows, n_nodes)) * sizes).astype(np.int8)
    if draw(st.booleans()):
        codes[rng.random(codes.shape) < 0.2] = -1
    kind = draw(st.sampled_from(["rows", "repeated rows", "law"])) if weighted else "rows"
    if kind == "law":
        return RowCounts(codes, sizes, rng.dirichlet(np.ones(n_rows)), is_exact=True)
    return RowCounts(codes, sizes, None if kind == "rows" else rng.integers(1, 4, n_rows).astype(float))


@st.composite
def small_data(draw, max_nodes=5, max_states=3):
    """Few rows of a random process, or of nothing at all, gaps now and then; and the most parents."""
    rng = np.random.default_rng(draw(seeds))
    kernel = draw(kernels(max_states=max_states))
    dag = draw(dags(n_parents=kernel.n_parents, max_nodes=max_nodes))
    rows = sample(Process(dag, kernel), draw(st.integers(10, 80)), rng=rng)
    if draw(st.booleans()):
        rows = rng.permuted(rows, axis=0)  # every column by itself: independent nodes
    if draw(st.booleans()):
        rows[rng.random(rows.shape) < 0.1] = -1
    return rows_observed(rows, kernel.n_states), kernel.n_parents


def rows_observed(rows, n_states=3, **more):
    return RowCounts(np.asarray(rows), (n_states,) * np.shape(rows)[1], **more)


def law_observed(full):
    """An exact law, as rows with probabilities."""
    codes = np.array(list(np.ndindex(full.shape)), dtype=np.int8)
    return RowCounts(codes, full.shape, full.ravel(), is_exact=True)


def problem_for(counts, n_heads=2, *, degrees=None, penalty="nml", candidates=None, **more):
    """A problem with the defaults of the learner; ``candidates`` may be the options of :func:`candidate_sets`."""
    if candidates is None or isinstance(candidates, dict):
        candidates = candidate_sets(counts.n_nodes, **(candidates or {}))
    return Problem(
        counts,
        candidates,
        n_heads,
        tuple(range(n_heads + 1)) if degrees is None else degrees,
        penalty_named(penalty),
        **more,
    )


def kernel_of(problem, child, parents, table):
    """A kernel that nobody follows yet, for nodes like this child and parents like these, in role order."""
    zeros = np.zeros(table.shape)
    return Group(problem.key(child, parents), {}, zeros, 0.0, 0.0, 0.0, len(parents) < 2, table, implied=True)


def paper_kernel(rng):
    """The paper's kernel with random p, no entry below 0.02."""
    while True:
        try:
            kernel = Kernel.paper(rng.uniform(-0.3, 0.3, 9))
        except KernelError:  # a negative entry
            continue
        if kernel.min_entry >= 0.02:
            return kernel


def edge_set(parents):
    """Edges without the roles of the parents."""
    return {(parent, child) for child, ps in enumerate(parents) for parent in ps}


def two_kernels(seed, n_rows, n_nodes=12, n_states=3):
    """Rows of a graph whose nodes follow one kernel or another, the graph, and who follows which."""
    rng = np.random.default_rng(seed)
    kernels = [rng.dirichlet(np.ones(n_states), size=(n_states, n_states)) for _ in range(2)]
    parents, labels = [(), ()], [-1, -1]
    rows = np.empty((n_rows, n_nodes), dtype=np.int8)
    rows[:, :2] = rng.integers(0, n_states, (n_rows, 2))
    for child in range(2, n_nodes):
        parents.append(tuple(rng.choice(child, 2, replace=False).tolist()))
        labels.append(int(rng.integers(2)))
        laws = kernels[labels[-1]][tuple(rows[:, parent] for parent in parents[-1])]
        rows[:, child] = (rng.random(n_rows)[:, None] > laws.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return rows, parents, labels
