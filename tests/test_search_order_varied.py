"""Directions of edges where kernels are of several kinds: alphabets of several sizes, classes, required parents."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pyarrow as pa
import pytest

from kgmi import learn, stream
from kgmi.candidates import candidate_sets
from kgmi.counts.bits import RowCounts
from kgmi.penalty import log_choices
from kgmi.search import discover_order, reversals
from kgmi.search.order.sweep import order_of
from kgmi.table import as_table

from .search_drills import edge_set, plan_for

SHARES = ("shared", "auto", "node")


def varied(rng, sizes):
    """Rows in which nodes follow from none to two others; nodes of the same kind share a kernel."""
    rows = np.empty((int(rng.integers(40, 300)), len(sizes)), dtype=np.int8)
    laws = {}
    order = rng.permutation(len(sizes)).tolist()
    for at, node in enumerate(order):
        parents = rng.permutation(order[:at])[: rng.integers(0, 3)].tolist()
        kind = (*(sizes[parent] for parent in parents), sizes[node])
        law = laws.setdefault(kind, rng.dirichlet([0.8] * kind[-1], size=kind[:-1]))
        cases = law[tuple(rows[:, parent] for parent in parents)] if parents else law[None]
        rows[:, node] = (cases.cumsum(axis=1) > rng.random((len(rows), 1))).argmax(axis=1)
    return rows


def graphs(n_nodes, n_parents):
    """Every graph without cycles, with the parents in every order of their roles."""
    others = [[one for one in range(n_nodes) if one != child] for child in range(n_nodes)]
    tuples = [[ps for size in range(n_parents + 1) for ps in permutations(some, size)] for some in others]
    for parents in product(*tuples):
        try:
            order_of(parents)
        except ValueError:
            continue
        yield parents


EVERY = {n_parents: list(graphs(3, n_parents)) for n_parents in (1, 2)}


def any_plan(rng, n_parents, rule):
    """Of three nodes of different sizes, with an order to be learned."""
    sizes = tuple(rng.permutation([2, 3, int(rng.integers(2, 5))]).tolist())
    edges = {rule: [(0, 1)]} if rule in ("required", "forbidden") else {}
    observed = RowCounts(varied(rng, sizes), sizes)
    plan = plan_for(observed, n_parents, candidates=candidate_sets(3, order="learn", **edges))
    changes = {"uniform": {"degrees": (0, n_parents)}, "classes": {"labels": (0, 1, 0)}, "roots": {"roots": {0}}}
    return replace(plan, **changes.get(rule, {}))


def is_allowed(plan, parents):
    return all(
        len(chosen) in plan.degrees_of(child)
        and {*plan.candidates.required[child]} <= {*chosen} <= {*plan.candidates.of(child).tolist()}
        for child, chosen in enumerate(parents)
    )


@pytest.mark.parametrize("n_parents", [1, 2])
@pytest.mark.parametrize("share", SHARES)
def test_directions_are_those_of_all_graphs(share, n_parents):
    """By how much the best graph of all with an edge reversed is worse: on 126 tables in all."""
    n_edges = 0
    rules = ["none", "required", "forbidden", "uniform", "classes", "roots", "none"]
    for number, rule in enumerate(3 * rules):
        rng = np.random.default_rng([7361, number, n_parents, SHARES.index(share)])
        plan = any_plan(rng, n_parents, rule)
        opened = discover_order(plan, share)
        parents = opened.found.state.parents
        scores = {graph: opened.state(graph).score for graph in EVERY[n_parents] if is_allowed(plan, graph)}
        found = reversals(opened, parents)
        assert set(found) == edge_set(parents)
        for (parent, child), nats in found.items():
            best = max((score for graph, score in scores.items() if child in graph[parent]), default=-np.inf)
            assert nats == pytest.approx(max(opened.state(parents).score - best, 0.0), abs=1e-6), rule
        n_edges += len(found)
    assert n_edges > 21


@pytest.mark.parametrize("n_parents", [1, 2])
@pytest.mark.parametrize("share", SHARES)
def test_rows_and_streams_tell_the_same_directions(share, n_parents):
    rng = np.random.default_rng([7362, n_parents])
    first = rng.integers(0, 3, 200)
    second = np.where(rng.random(200) < 0.6, first > 0, rng.random(200) < 0.5).astype(int)
    third = np.where(rng.random(200) < 0.6, first, rng.integers(0, 3, 200))
    table = pa.table({"a": second, "b": first, "c": third})
    sources = (as_table(table, alphabet="own"), stream(table, alphabet="own"))
    one, other = (learn(source, n_parents=n_parents, order="learn", share=share) for source in sources)
    assert one.directions
    assert all(np.isfinite(nats) for nats in one.directions.values())
    assert other.directions == pytest.approx(one.directions)
    assert "The order was learned" in one.status
    assert other.parents == one.parents


def chain(rng, n_states=3, n_rows=300):
    """X1 → X2 → X3 → X4, with noise."""
    columns = [rng.integers(0, n_states, n_rows)]
    for _ in range(3):
        columns.append(np.where(rng.random(n_rows) < 0.3, rng.integers(0, n_states, n_rows), columns[-1]))
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("n_nodes", [7, 21])
def test_an_edge_of_its_own_kind_can_be_turned_among_more_nodes(n_nodes):
    """The graph has no kernel from three states to two; with the edge reversed there is one."""
    rng = np.random.default_rng(7363)
    columns = [rng.integers(0, 2, 300)]
    for _ in range(n_nodes - 1):
        columns.append(np.where(rng.random(300) < 0.3, rng.integers(0, 3, 300), columns[-1]))
    learned = learn(np.stack(columns, axis=1), n_parents=1, alphabet="own", order="learn", share="shared")
    touching = {edge: nats for edge, nats in learned.directions.items() if "X1" in edge}
    assert touching
    assert all(np.isfinite(nats) for nats in touching.values())


@pytest.mark.parametrize("alphabet", ["shared", "own"])
def test_classes_that_were_given_need_kernels_of_their_own(alphabet):
    rows = chain(np.random.default_rng(7364))
    if alphabet == "own":
        rows[:, 1] //= 2
    learned = learn(rows, n_parents=1, alphabet=alphabet, order="learn", classes=[0, 1, 1, 0])
    assert len(learned.directions) == 3
    assert all(np.isfinite(nats) for nats in learned.directions.values())


@pytest.mark.parametrize("share", SHARES)
def test_an_edge_cannot_be_turned_into_a_node_that_has_all_its_parents(share):
    """X2 has X1 for its only parent, and must have it: so X2 → X3 has one direction, and all others of X2 too."""
    rows = chain(np.random.default_rng(7365))
    learned = learn(rows, n_parents=1, order="learn", share=share, required=[("X1", "X2")])
    for (parent, child), nats in learned.directions.items():
        assert np.isinf(nats) == (parent == "X2" or (parent, child) == ("X1", "X2"))
    assert ("X2", "X3") in learned.directions
    assert "The order was learned" in learned.status


def test_no_set_has_fewer_parents_than_none():
    assert log_choices(5, -1) == np.inf
    assert log_choices(5, 6) == np.inf
    assert log_choices(5, 0) == 0.0


def test_a_direction_between_equal_alphabets_is_not_called_sure_where_the_reversed_graph_scores_better():
    counted = {(1, 1, 0): 29, (1, 0, 1): 15, (0, 0, 0): 7, (0, 1, 1): 7, (1, 1, 1): 1, (0, 0, 1): 1}
    rows = np.array([row for row, n in counted.items() for _ in range(n)])
    learned = learn(rows, n_parents=2, order="learn", in_degree="mixed", share="shared", forbidden=[("X2", "X3")])
    assert max(learned.directions.values()) == 0.0
