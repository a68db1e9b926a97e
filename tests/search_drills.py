"""Small data and plans for the tests of the search."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from kgmi import Kernel, Process, sample
from kgmi.candidates import candidate_sets
from kgmi.counts.bits import RowCounts
from kgmi.errors import KernelError
from kgmi.guides.likelihood import Likelihood
from kgmi.penalty import penalty_named
from kgmi.search.alternate import alternate
from kgmi.search.plan import Plan
from kgmi.search.reopen import reopen
from kgmi.search.simplify import simplify
from kgmi.search.starts import own_sets, start_state

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
    """Few rows of a random process, or of nothing at all; gaps now and then."""
    rng = np.random.default_rng(draw(seeds))
    kernel = draw(kernels(max_states=max_states))
    dag = draw(dags(n_parents=kernel.n_parents, max_nodes=max_nodes))
    rows = sample(Process(dag, kernel), draw(st.integers(10, 80)), rng=rng)
    if draw(st.booleans()):
        rows = rng.permuted(rows, axis=0)  # every column by itself: independent nodes
    if draw(st.booleans()):
        rows[rng.random(rows.shape) < 0.1] = -1
    return rows_observed(rows, kernel.n_states), kernel.n_parents


@st.composite
def graphs(draw, n_nodes, n_parents):
    """Parents of every node in any order of roles."""
    chosen = []
    for child in range(n_nodes):
        earlier = draw(st.permutations(range(child)))
        chosen.append(tuple(earlier[: draw(st.integers(0, min(n_parents, child)))]))
    return tuple(chosen)


def rows_observed(rows, n_states=3, **more):
    return RowCounts(rows, (n_states,) * rows.shape[1], **more)


def law_observed(full):
    """An exact law, as rows with probabilities."""
    codes = np.array(list(np.ndindex(full.shape)), dtype=np.int8)
    return RowCounts(codes, full.shape, full.ravel(), is_exact=True)


def plan_for(observed, n_heads=2, *, degrees=None, penalty="nml", guide=None, candidates=None, **more):
    """A plan with the defaults of the learner."""
    n_nodes = observed.n_nodes
    return Plan(
        observed,
        candidate_sets(n_nodes) if candidates is None else candidates,
        Likelihood(observed) if guide is None else guide,
        n_heads,
        tuple(range(n_heads + 1)) if degrees is None else degrees,
        more.pop("labels", (0,) * n_nodes),
        penalty_named(penalty),
        **more,
    )


def hints_of(sets):
    return [[one.parents for one in by_size if one is not None] for by_size in sets]


def search(plan, n_starts=1):
    """From rows to a graph, as the learner does it."""
    sets = own_sets(plan)
    hints = hints_of(sets)
    found = [alternate(plan, start_state(plan, sets, n), hints, frozenset()) for n in range(n_starts)]
    best = max(found, key=lambda state: state.score)
    return reopen(plan, simplify(plan, best, hints), sets, hints)


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
