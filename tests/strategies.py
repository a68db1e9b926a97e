"""Hypothesis strategies for graphs, kernels and processes small enough for the oracle."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process

seeds = st.integers(0, 2**32 - 1)


@st.composite
def kernels(draw, max_states=3, max_parents=2, concentration=1.5):
    """Random positive kernels, kept away from zero."""
    n_states = draw(st.integers(2, max_states))
    n_parents = draw(st.integers(1, max_parents))
    rng = np.random.default_rng(draw(seeds))
    table = Kernel.random(n_states, n_parents, rng=rng, concentration=concentration).table
    return Kernel((table + 0.02) / (1 + 0.02 * n_states))


@st.composite
def dags(draw, n_parents=2, max_nodes=6):
    """Random graphs of in-degree 0..K, with extra roots now and then."""
    n_nodes = draw(st.integers(n_parents + 1, max_nodes))
    rng = np.random.default_rng(draw(seeds))
    return Dag.random(
        n_nodes, n_parents, rng=rng, mixed=draw(st.booleans()), root_probability=draw(st.sampled_from([0.0, 0.3]))
    )


@st.composite
def processes(draw, max_nodes=6, max_states=3, max_parents=2):
    """A graph with a kernel that fits it."""
    kernel = draw(kernels(max_states=max_states, max_parents=max_parents))
    return Process(draw(dags(n_parents=kernel.n_parents, max_nodes=max_nodes)), kernel)


@st.composite
def renumbered(draw, dags):
    """A graph, new numbers of its nodes, and the graph with these."""
    dag = draw(dags)
    numbers = draw(st.permutations(range(dag.n_nodes)))
    return dag, numbers, dag.renumbered(numbers)


@st.composite
def role_dags(draw, n_parents=3, max_nodes=7):
    """Random graphs whose parents take their roles in any order."""
    dag = draw(dags(n_parents=n_parents, max_nodes=max_nodes))
    return Dag([draw(st.permutations(ps)) for ps in dag.parents])


@st.composite
def root_blocks(draw, dag, largest):
    """A random split of the roots into ordered blocks of at most ``largest``, whatever component they are in."""
    roots = list(draw(st.permutations(dag.roots)))
    blocks = []
    while roots:
        size = draw(st.integers(1, min(largest, len(roots))))
        blocks.append(roots[:size])
        del roots[:size]
    return blocks


@st.composite
def odd_processes(draw, max_nodes=6, max_states=3):
    """Like ``processes``, with shuffled nodes and roles, given root blocks and some own kernels per in-degree."""
    kernel = draw(kernels(max_states=max_states, max_parents=3))
    *_, dag = draw(renumbered(role_dags(n_parents=kernel.n_parents, max_nodes=max_nodes)))
    dag = Dag(dag.parents, draw(root_blocks(dag, kernel.n_parents)))
    rng = np.random.default_rng(draw(seeds))
    degrees = [degree for degree in range(1, kernel.n_parents) if draw(st.booleans())]
    return Process(dag, kernel, {k: Kernel.random(kernel.n_states, k, rng=rng) for k in degrees})
