"""Networks: their records, and rows drawn from them."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from kgmi import Dag
from kgmi.bench.networks import Node, network_of, sample_network
from kgmi.errors import DataError, SettingError, TooLargeError
from tests.network_drills import NETWORK, NODES

COIN = np.array([0.5, 0.5])


def coin(name, *parents):
    """A node of two states that copies its parents' number of ones, modulo two, three times out of four."""
    table = np.full((2,) * (len(parents) + 1), 0.25)
    for states in product(range(2), repeat=len(parents)):
        table[(*states, sum(states) % 2)] = 0.75
    return Node(name, ("0", "1"), parents, table if parents else COIN)


# Records


def test_a_network_is_put_in_order():
    assert NETWORK.names == ("rain", "sprinkler", "wet")
    assert NETWORK.dag == Dag([(), (0,), (0, 1)])
    assert NETWORK.dag.root_blocks == ((0,),)
    assert NETWORK.n_states == (3, 2, 2)
    assert NETWORK.alphabets[0] == ("no", "some", "much")
    for table, old in zip(NETWORK.tables, (1, 2, 0), strict=True):
        np.testing.assert_allclose(table, NODES[old].table, rtol=1e-15)


def test_parents_keep_the_order_of_the_table():
    table = np.arange(1.0, 13).reshape(3, 2, 2)
    table /= table.sum(axis=-1, keepdims=True)
    nodes = [coin("b"), Node("a", ("0", "1", "2"), (), np.full(3, 1 / 3)), Node("c", ("0", "1"), ("a", "b"), table)]
    network = network_of("x", nodes)
    assert network.names == ("b", "a", "c")
    assert network.dag.parents[2] == (1, 0)  # the first axis of the table is a
    assert network.tables[2].shape == (3, 2, 2)


def test_roots_are_blocks_of_their_own():
    network = network_of("x", [coin("a"), coin("b"), coin("c", "a", "b")])
    assert network.dag.root_blocks == ((0,), (1,))


@settings(max_examples=60)
@given(st.integers(2, 5).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.binary(min_size=n * n))))
def test_the_order_is_the_first_of_all_topological_ones(case):
    """By brute force: of all topological orders the one whose places in the file come first."""
    order, bits = case
    n = len(order)
    above = {
        child: [parent for j, parent in enumerate(order[:i]) if bits[i * n + j] % 3 == 0]
        for i, child in enumerate(order)
    }
    nodes = [coin(str(place), *map(str, above[place])) for place in range(n)]
    possible = [p for p in permutations(range(n)) if all(p.index(q) < p.index(c) for c in above for q in above[c])]
    network = network_of("x", nodes)
    assert tuple(map(int, network.names)) == min(possible)
    edges = {(network.names[j], network.names[i]) for j, i in network.dag.edges}
    assert edges == {(str(parent), str(child)) for child in above for parent in above[child]}


def test_rounded_laws_are_made_exact():
    network = network_of("x", [Node("a", ("0", "1", "2"), (), np.array([0.333, 0.333, 0.333]))])
    np.testing.assert_allclose(network.tables[0], 1 / 3, rtol=1e-12)
    assert not network.tables[0].flags.writeable


BAD_NODES = {
    "nothing": ([], "there is no variable"),
    "a name twice": ([coin("a"), coin("a")], "'a' is declared twice"),
    "one state": ([Node("a", ("0",), (), np.array([1.0]))], "two or more different states"),
    "a state twice": ([Node("a", ("0", "0"), (), COIN)], "two or more different states"),
    "a parent twice": ([coin("a"), coin("b", "a", "a")], "'b' lists a parent twice"),
    "an unknown parent": ([coin("a", "z")], "'a' has the parent 'z', which is not declared"),
    "a table of another shape": (
        [coin("a"), Node("b", ("0", "1"), ("a",), COIN)],
        r"'b': its table has shape \(2,\)",
    ),
    "a negative entry": ([Node("a", ("0", "1"), (), np.array([1.5, -0.5]))], "no probability"),
    "NaN": ([Node("a", ("0", "1"), (), np.array([np.nan, 1]))], "no probability"),
    "a wrong root": ([Node("a", ("0", "1"), (), np.array([0.5, 0.4]))], "its probabilities sum to 0.9, not to 1"),
    "a missing line": (
        [coin("a"), Node("b", ("0", "1"), ("a",), np.array([[0.5, 0.5], [0.0, 0.0]]))],
        "'b': its probabilities given a = 1 sum to 0, not to 1",
    ),
    "a cycle": ([coin("a", "c"), coin("b", "a"), coin("c", "b"), coin("d")], "cycle: a → b → c → a"),
    "its own parent": ([coin("a", "a")], "cycle: a → a"),
}


@pytest.mark.parametrize("name", BAD_NODES)
def test_bad_networks(name):
    nodes, says = BAD_NODES[name]
    with pytest.raises(DataError, match=f"^file: .*{says}"):
        network_of("file", nodes)


# Rows


def joint_law(network):
    """Probability of every row, by enumeration."""
    law = np.ones(network.n_states)
    for states in product(*map(range, network.n_states)):
        for node, (parents, table) in enumerate(zip(network.dag.parents, network.tables, strict=True)):
            law[states] *= table[(*(states[parent] for parent in parents), states[node])]
    return law


def test_rows_follow_the_joint_law():
    law = joint_law(NETWORK)
    rows = sample_network(NETWORK, 50_000, rng=4)
    counts = np.zeros(law.shape)
    np.add.at(counts, tuple(rows.T), 1)
    possible = law > 0
    assert not possible.all(), "the network has a state that is impossible given its parent"
    assert counts[~possible].sum() == 0
    assert chisquare(counts[possible], law[possible] * len(rows)).pvalue > 0.01


def test_laws_without_chance_are_followed_exactly():
    copy = Node("copy", ("a", "b", "c"), ("first",), np.eye(3)[[2, 0, 1]])
    both = Node("both", ("0", "1"), ("first", "copy"), np.eye(2)[np.indices((3, 3)).sum(axis=0) % 2])
    network = network_of("x", [Node("first", ("a", "b", "c"), (), np.array([0.1, 0.2, 0.7])), copy, both])
    rows = sample_network(network, 2_000, rng=9)
    assert set(rows[:, 0]) == {0, 1, 2}
    np.testing.assert_array_equal(rows[:, 1], np.array([2, 0, 1])[rows[:, 0]])
    np.testing.assert_array_equal(rows[:, 2], (rows[:, 0] + rows[:, 1]) % 2)


def test_a_state_of_probability_zero_at_the_end_is_never_drawn():
    tenths = np.array([0.1] * 10 + [0.0])  # ten times 0.1 is a little less than 1
    network = network_of("x", [Node("a", tuple(map(str, range(11))), (), tenths)])

    class Highest(np.random.Generator):
        def random(self, size=None, *args, **kwargs):
            return np.full(size, np.nextafter(1.0, 0.0))

    rows = sample_network(network, 3, rng=Highest(np.random.PCG64(0)))
    assert rows.tolist() == [[9]] * 3


def test_seeds_and_sizes():
    large, small = (sample_network(NETWORK, n, rng=3) for n in (500, 20))
    np.testing.assert_array_equal(large[:20], small)
    assert (large != sample_network(NETWORK, 500, rng=5)).any()
    assert large.dtype == np.int8
    assert large.shape == (500, 3)


def test_sizes_that_cannot_be():
    with pytest.raises(SettingError, match="at least 1, got 0"):
        sample_network(NETWORK, 0, rng=0)
    with pytest.raises(TooLargeError, match="too many"):
        sample_network(NETWORK, 10**9, rng=0)
