"""Nodes in any order: whatever is made of a graph is renumbered with it."""

from __future__ import annotations

import re
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings

from kgmi import Dag, Kernel, Process, exact_joint, theory
from kgmi.bench.networks import Network, sample_network
from kgmi.bench.stream.sampling import sample_block
from kgmi.candidates import candidate_sets
from kgmi.checks import Subject
from kgmi.checks.parents import check_parents
from kgmi.counts.bits import RowCounts
from kgmi.errors import GraphError
from kgmi.exact import exact_rows
from kgmi.model import Model
from kgmi.sampling import _draw, sample

from . import strategies as own

some = settings(max_examples=40, deadline=None)
NUMBERS = (3, 0, 4, 2, 1)


def moved(table, numbers):
    """A table [node, node, …] with the nodes called by their numbers."""
    out = np.empty_like(table)
    out[np.ix_(numbers, numbers)] = table
    return out


@some
@given(own.renumbered(own.role_dags()))
def test_the_order_is_the_first_of_all_that_have_parents_before_children(found):
    dag, _, shuffled = found
    assert dag.order == tuple(range(dag.n_nodes))
    candidates = permutations(range(dag.n_nodes))
    orders = (
        one for one in candidates if all(one.index(parent) < one.index(child) for parent, child in shuffled.edges)
    )
    assert shuffled.order == next(orders)


@some
@given(own.renumbered(own.role_dags()))
def test_a_graph_is_renumbered_and_back(found):
    dag, numbers, shuffled = found
    back = shuffled.renumbered(np.argsort(numbers))
    assert (back, back.root_blocks) == (dag, dag.root_blocks)
    assert {*shuffled.edges} == {(numbers[parent], numbers[child]) for parent, child in dag.edges}
    for node in range(dag.n_nodes):
        assert shuffled.parents[numbers[node]] == tuple(numbers[parent] for parent in dag.parents[node])
    assert np.array_equal(shuffled.matrix_parent_child(), moved(dag.matrix_parent_child(), numbers))
    again = Dag.from_dict(shuffled.to_dict())
    assert (again, again.root_blocks) == (shuffled, shuffled.root_blocks)


@pytest.mark.parametrize("numbers", [(0, 1), (0, 1, 1), (1, 2, 3)])
def test_numbers_must_hold_every_node_once(numbers):
    with pytest.raises(GraphError, match=re.escape(f"numbers must hold each of 0..2 once, got {list(numbers)}")):
        Dag.chain(3).renumbered(numbers)


def test_first_roots_are_first_in_the_order():
    assert Dag([(1, 2), (), (), (0, 4), ()]).root_blocks == ((1, 2), (4,))
    assert Dag([(3,), (0, 2), (), ()]).root_blocks == ((2, 3),)
    assert Dag([(1,), (), (0, 3), ()]).root_blocks == ((1,), (3,))  # node 0 comes before node 3


@some
@given(own.renumbered(own.role_dags()))
def test_copies_and_the_first_nodes_are_renumbered(found):
    dag, numbers, shuffled = found
    twice = dag.copies(2).renumbered([*numbers, *(dag.n_nodes + number for number in numbers)])
    assert (twice, twice.root_blocks) == (shuffled.copies(2), shuffled.copies(2).root_blocks)
    size = (dag.n_nodes + 1) // 2
    first, rest = np.argsort(numbers[:size]).tolist(), range(size, dag.n_nodes)
    there, here = dag.renumbered([*first, *rest]).restrict(size), dag.restrict(size).renumbered(first)
    assert (there, there.root_blocks) == (here, here.root_blocks)


@some
@given(own.processes(), own.seeds)
def test_laws_of_a_process_are_renumbered(plain, seed):
    numbers = np.random.default_rng(seed).permutation(plain.n_nodes)
    dag, shuffled = plain.dag, plain.dag.renumbered(numbers)
    other = Process(shuffled, plain.kernel)
    assert np.allclose(exact_joint(other).joint, moved(exact_joint(plain).joint, numbers))
    (rows, weights), (others, other_weights) = exact_rows(plain), exact_rows(other)
    place = np.lexsort(others[:, numbers].T[::-1])
    assert np.array_equal(others[place][:, numbers], rows)
    assert np.allclose(other_weights[place], weights)
    uniforms = np.random.default_rng(1).random((50, dag.n_nodes))
    drawn = _draw(other, uniforms[:, np.argsort(numbers)], np.dtype(np.int8))
    assert np.array_equal(drawn[:, numbers], _draw(plain, uniforms, np.dtype(np.int8)))
    for name in ("marginal_distance", "parent_distance"):
        there, here = (getattr(theory.check_process(one), name) for one in (other, plain))
        assert np.allclose(there[numbers], here, equal_nan=True)
    distances = theory.node_distances(shuffled)
    assert np.array_equal(distances, moved(theory.node_distances(dag), numbers))


def test_fast_rows_follow_the_law_of_a_graph_in_any_order():
    process = Process(Dag.paper(5).renumbered(NUMBERS), Kernel.paper(0.1))
    rows = sample_block(process, 5, 0, 40_000).T
    law = exact_joint(process).joint
    for child, parent in process.dag.edges:
        seen = np.zeros((3, 3))
        np.add.at(seen, (rows[:, child], rows[:, parent]), 1 / len(rows))
        assert np.abs(seen - law[child, parent]).max() < 0.015


def test_networks_and_models_draw_in_any_order():
    flips = (np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.5, 0.5]))
    dag = Dag([(1,), (2,), ()])
    rows = sample_network(Network("x", ("a", "b", "c"), (("0", "1"),) * 3, dag, flips), 20, rng=1)
    model = Model(dag.parents, flips, (flips[-1],) * 3)
    for one in (rows, model.sample(20, 1)):
        assert 0 < one[:, 2].sum() < 20
        assert np.array_equal(one[:, 0], one[:, 2])
        assert np.array_equal(one[:, 1], 1 - one[:, 2])
    assert np.allclose(model.log_likelihood(rows), np.log(0.5))


def test_the_check_of_the_parents_looks_at_whoever_does_not_follow_the_child():
    process = Process(Dag.paper(5), Kernel.random(3, 2, rng=3))
    rows = sample(process, 500, rng=4)
    wrong = (*process.dag.parents[:4], (0, 1))
    checks = []
    for numbers in (range(5), NUMBERS):
        dag = Dag(wrong).renumbered(numbers)
        codes = np.ascontiguousarray(rows[:, np.argsort(numbers)])
        names = tuple(f"X{node}" for node in np.argsort(numbers))
        subject = Subject(
            observed=RowCounts(codes, (3,) * 5),
            parents=dag.parents,
            given=dag.parents,
            candidates=candidate_sets(5, order="learn"),
            n_heads=2,
            groups=(),
            names=names,
            rows=codes,
        )
        checks.append(check_parents(subject))
    assert checks[0].findings
    assert checks[0].findings == checks[1].findings
    assert checks[0].p_value == checks[1].p_value
