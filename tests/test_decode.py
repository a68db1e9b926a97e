"""From attention to a graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, decode, exact_joint, limit, scores
from kgmi.attention import candidate_mask, masked_softmax
from kgmi.errors import GraphError, SettingError

from .strategies import seeds
from .test_attention import random_tables


def attention_of(*heads):
    """Each head lists the columns of nodes 1, 2, …."""
    n_nodes = len(heads[0]) + 1
    table = np.zeros((len(heads), n_nodes, n_nodes))
    for head, columns in enumerate(heads):
        for child, column in enumerate(columns, start=1):
            table[head, child, :child] = column
    return table


TWO_HEADS = attention_of(
    [[1.0], [0.9, 0.1], [0.2, 0.2, 0.6], [0.25, 0.25, 0.25, 0.25], [0.3, 0.4, 0.1, 0.1, 0.1]],
    [[1.0], [0.1, 0.9], [0.3, 0.1, 0.6], [0.25, 0.25, 0.25, 0.25], [0.1, 0.1, 0.1, 0.6, 0.1]],
)


def test_argmax_takes_the_most_attended_candidate_of_every_head():
    # Node 1 has too few candidates, node 3 has collapsed heads, node 4 is uniform.
    assert decode(TWO_HEADS) == Dag([(), (), (0, 1), (2,), (), (1, 3)])


def test_concentrated_takes_only_heads_above_the_threshold():
    assert decode(TWO_HEADS, rule="concentrated") == Dag([(), (0,), (0, 1), (2,), (), (3,)])
    assert decode(TWO_HEADS, rule="concentrated", threshold=0.35) == Dag([(), (0,), (0, 1), (2,), (), (1, 3)])
    assert decode(TWO_HEADS, rule="concentrated", threshold=0.7) == Dag([(), (0,), (0, 1), (), (), ()])


def test_the_order_of_the_parents_is_the_order_of_the_heads():
    swapped = TWO_HEADS[::-1]
    assert decode(swapped).parents[2] == (1, 0)


@pytest.mark.parametrize("rule", ["argmax", "concentrated"])
def test_known_roots_have_no_parents(rule):
    assert decode(TWO_HEADS, rule=rule, roots=[1, 2, 5]).roots[-1] == 5
    assert not decode(TWO_HEADS, rule=rule, roots={0, 1, 2, 3, 4, 5}).edges


def test_with_one_head_the_second_node_has_a_parent_unless_it_is_a_root():
    attention = attention_of([[1.0], [0.5, 0.5]])
    assert decode(attention) == Dag([(), (0,), ()])
    assert decode(attention, roots=[1]) == Dag([(), (), ()])


@given(seeds, st.integers(1, 3), st.integers(1, 6), st.sampled_from(["argmax", "concentrated"]), st.floats(0, 0.99))
def test_every_masked_attention_decodes_to_an_acyclic_graph(seed, n_heads, n_nodes, rule, threshold):
    table, weights = random_tables(seed, n_heads, n_nodes)
    dag = decode(masked_softmax(weights, candidate_mask(table)), rule=rule, threshold=threshold)
    assert dag.n_nodes == n_nodes
    assert all(parent < child for parent, child in dag.edges)
    assert dag.max_in_degree <= n_heads


def test_the_input_is_not_modified():
    before = TWO_HEADS.copy()
    decode(TWO_HEADS, rule="concentrated")
    np.testing.assert_array_equal(TWO_HEADS, before)


@settings(max_examples=60)
@given(seeds, st.integers(1, 3), st.integers(1, 7), st.sampled_from(["argmax", "concentrated", "each"]))
def test_nodes_may_be_numbered_in_any_order(seed, n_heads, n_nodes, rule):
    table, weights = random_tables(seed, n_heads, n_nodes)
    attention, order = (
        masked_softmax(weights, candidate_mask(table)),
        np.random.default_rng(seed).permutation(n_nodes),
    )
    moved, expected = attention[:, order][:, :, order], decode(attention, rule=rule).parents
    for mask in (None, np.tri(n_nodes, k=-1, dtype=bool)[order][:, order]):
        found = decode(moved, rule=rule, mask=mask).parents
        assert [tuple(order[list(parents)]) for parents in found] == [expected[node] for node in order]


def test_the_mask_says_among_which_candidates_heads_are_flat_and_how_many_there_are():
    tied = attention_of([[1.0], [0.5, 0.5], [0.5, 0.5, 0.0]], [[1.0], [0.5, 0.5], [0.5, 0.5, 0.0]])
    assert decode(tied).parents[2:] == ((), (0, 1))
    fewer = np.tri(4, k=-1, dtype=bool)
    fewer[3, 2] = False
    assert decode(tied, mask=fewer).parents[2:] == ((), ())
    fewer[3, 1] = tied[:, 3, 1] = False
    assert decode(tied, mask=fewer, roots=[]).parents[3] == ()  # one candidate, two heads
    assert decode(tied, mask=fewer, roots=[], rule="each").parents[3] == (0,)


def test_attention_to_what_is_no_candidate_is_an_error():
    attention, mask = np.zeros((1, 3, 3)), np.tri(3, k=-1, dtype=bool)
    attention[0, 1, 2] = 0.1
    with pytest.raises(GraphError):
        decode(attention, mask=mask)
    with pytest.raises(SettingError):
        decode(attention, mask=mask[None])
    with pytest.raises(GraphError):
        decode(np.ones((1, 1, 1)))


@pytest.mark.parametrize(
    ("error", "attention", "options"),
    [
        *((GraphError, np.zeros(shape), {}) for shape in [(3, 3), (1, 3, 4), (0, 3, 3)]),
        (GraphError, np.full((1, 2, 2), np.nan), {}),
        (SettingError, TWO_HEADS, {"rule": "best"}),
        (SettingError, TWO_HEADS, {"threshold": 1}),
        (SettingError, TWO_HEADS, {"threshold": -0.1}),
        (SettingError, TWO_HEADS, {"roots": [6]}),
    ],
)
def test_bad_attention_and_rules_are_errors(error, attention, options):
    with pytest.raises(error):
        decode(attention, **options)


def test_plain_information_collapses_to_one_parent_and_guided_does_not():
    joint, kernel = exact_joint(Process(Dag.paper(), Kernel.paper())), Kernel.paper()
    plain = decode(limit(scores(joint, kernel, guide="plain")).attention)
    assert {len(parents) for parents in plain.parents[2:]} == {1}
    assert decode(limit(scores(joint, kernel)).attention) == Dag.paper()


def test_a_tied_head_names_nobody_and_the_other_heads_still_speak():
    tied = attention_of([[1.0], [0.5, 0.5], [0.5, 0.5, 0.0]], [[1.0], [0.1, 0.9], [0.1, 0.1, 0.8]])
    assert decode(tied, roots=[]) == Dag([(), (), (1,), (2,)])
    assert decode(tied[:1], roots=[]) == Dag([(), (0,), (), ()])


def test_heads_that_share_a_tie_of_their_own_number_name_all_of_it():
    shared = attention_of([[1.0], [0.5, 0.5], [0.5, 0.5, 0.0]], [[1.0], [0.5, 0.5], [0.5, 0.5, 0.0]])
    assert decode(shared, roots=[]) == Dag([(), (), (0, 1), (0, 1)])
    three = attention_of([[1.0], [0.5, 0.5], [1 / 3] * 3], [[1.0], [0.5, 0.5], [1 / 3] * 3])
    assert decode(three, roots=[]) == Dag([(), (), (0, 1), ()])  # three candidates, two heads: undecided


def test_uniform_heads_are_roots_only_where_nobody_told_the_roots():
    flat = attention_of([[1.0], [0.5, 0.5]], [[1.0], [0.5, 0.5]])
    assert decode(flat) == Dag([(), (), ()])
    assert decode(flat, roots=[0, 1]) == Dag([(), (), (0, 1)])
    mendel = Kernel.mendelian()
    population = exact_joint(Process(Dag([(), (), (0, 1)]), mendel))
    assert decode(limit(scores(population, mendel)).attention, roots=[0, 1]) == Dag([(), (), (0, 1)])


@given(seeds, st.integers(1, 3), st.integers(2, 9))
def test_every_head_names_its_most_attended_candidates_unless_they_are_too_many(seed, n_heads, n_nodes):
    shares = np.random.default_rng(seed).integers(0, 3, size=(n_heads, n_nodes, n_nodes))  # ties, and empty heads
    attention = np.tril(shares, k=-1) / 10
    expected = []
    for child in range(n_nodes):
        heads = [list(attention[head, child, :child]) for head in range(n_heads)]
        best = [[k for k, share in enumerate(head) if share == max(head)] for head in heads]
        named = [best[h] for h, head in enumerate(heads) if any(head) and len(best[h]) <= best.count(best[h])]
        expected.append(tuple(dict.fromkeys(k for names in named for k in names)))
    assert decode(attention, rule="each", roots=[]) == Dag(expected)
