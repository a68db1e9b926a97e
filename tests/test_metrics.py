"""A learned graph against the true one, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from kgmi import Dag
from kgmi.errors import GraphError
from kgmi.metrics import compare

from .strategies import dags, seeds

TRUE = Dag([(), (), (0, 1), (1, 2), (2, 3)])


def test_by_hand():
    learned = Dag([(), (), (0, 1), (0, 2), (2,)])  # 1 → 3 and 3 → 4 missing, 0 → 3 extra
    result = compare(learned, TRUE)
    assert result.missing == ((1, 3), (3, 4))
    assert result.extra == ((0, 3),)
    assert result.apart == ()
    assert (result.n_true, result.n_learned) == (6, 5)
    assert result.precision == pytest.approx(4 / 5)
    assert result.recall == pytest.approx(4 / 6)
    assert result.f1 == pytest.approx(2 * 4 / (5 + 6))
    assert result.shd == 3
    assert not result.exact


def test_edges_between_roots_that_are_drawn_jointly_count_apart():
    learned = Dag([(), (0,), (0, 1), (1, 2), (2, 3)])
    result = compare(learned, TRUE)
    assert result.apart == ((0, 1),)
    assert (result.f1, result.shd, result.n_learned, result.exact) == (1.0, 0, 6, True)


def test_edges_between_other_roots_count_as_extra():
    true = Dag([(), (), (0, 1), (1, 2), (2, 3)], root_blocks=[(0,), (1,)])
    learned = Dag([(), (0,), (0, 1), (1, 2), (2, 3)])
    result = compare(learned, true)
    assert result.extra == ((0, 1),)
    assert result.shd == 1
    two = Dag.chain(3, 2).copies(2)
    result = compare(Dag([(), (), (0, 1), (0,), (), (3, 4)]), two)
    assert result.extra == ((0, 3),)


def test_an_edge_between_a_root_and_a_child_of_its_block_is_not_apart():
    learned = Dag([(), (), (0, 1), (0, 2), (2, 3)])
    assert compare(learned, TRUE).apart == ()


def test_roles_of_parents_do_not_count():
    assert compare(Dag([(), (), (1, 0), (2, 1), (3, 2)]), TRUE).exact


@pytest.mark.parametrize(
    ("learned", "true", "expected"),
    [
        (Dag([(), ()]), Dag([(), ()]), (1.0, 1.0, 1.0, 0)),
        (Dag([(), ()]), Dag([(), (0,)]), (0.0, 0.0, 0.0, 1)),
        (Dag([(), (0,)]), Dag([(), ()]), (0.0, 0.0, 0.0, 1)),
        (Dag([(), (0,), (0,)]), Dag([(), (), (1,)]), (0.0, 0.0, 0.0, 3)),
    ],
)
def test_empty_graphs_and_nothing_in_common(learned, true, expected):
    result = compare(learned, true)
    assert (result.precision, result.recall, result.f1, result.shd) == expected


@settings(max_examples=100, deadline=None)
@given(dags(), dags())
def test_a_graph_is_perfect_against_itself_and_distances_are_symmetric_but_for_root_pairs(first, second):
    same = compare(first, first)
    assert (same.f1, same.precision, same.recall, same.shd, same.exact) == (1, 1, 1, 0, True)
    assert same.missing == same.extra == same.apart == ()
    if first.n_nodes != second.n_nodes:
        with pytest.raises(GraphError, match=f"graphs of {first.n_nodes} and {second.n_nodes} nodes"):
            compare(first, second)
        return
    there, back = compare(first, second), compare(second, first)
    assert there.shd == len(there.missing) + len(there.extra)
    assert there.shd + len(there.apart) == back.shd + len(back.apart)
    assert there.exact == (there.f1 == 1)


def test_edges_the_wrong_way_round_are_told():
    result = compare(Dag([(2,), (), (1,), (1, 2), (2, 3)]), TRUE)
    assert result.turned == ((2, 0),)
    assert (result.missing, result.extra, result.shd) == (((0, 2),), ((2, 0),), 1)


@settings(max_examples=50, deadline=None)
@given(dags(max_nodes=5), dags(max_nodes=5), seeds)
def test_numbers_of_nodes_do_not_matter(first, second, seed):
    n_nodes = min(first.n_nodes, second.n_nodes)
    first, second = (dag.restrict(n_nodes) for dag in (first, second))
    numbers, others = (np.random.default_rng(seed + k).permutation(n_nodes) for k in (0, 1))
    found = compare(first.renumbered(others), second.renumbered(numbers), numbers[np.argsort(others)])
    plain = compare(first, second)
    for name in ("f1", "precision", "recall", "shd"):
        assert getattr(found, name) == getattr(plain, name)
    for kind in ("missing", "extra", "apart", "turned"):
        edges = {(numbers[parent], numbers[child]) for parent, child in getattr(plain, kind)}
        assert {*getattr(found, kind)} == edges
