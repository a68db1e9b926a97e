import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi.candidates import candidate_sets

NAMES = ["child", "mother", "father", "aunt", "grandmother"]
GENERATIONS = [["grandmother"], ["mother", "father", "aunt"], ["child"]]


def brute(n_nodes, forbidden=(), tiers=None, max_lag=None, only_children=None, **_):
    """All edges (parent, child) that may be there, by column, from the words of the definition."""
    rank = range(n_nodes) if tiers is None else [sorted(set(tiers)).index(tier) for tier in tiers]
    return {
        (parent, child)
        for parent, child in permutations(range(n_nodes), 2)
        if 1 <= rank[child] - rank[parent] <= (n_nodes if max_lag is None else max_lag)
        and (parent, child) not in forbidden
        and (only_children is None or child in only_children)
    }


def edges(candidates):
    """The edges that may be there, by column."""
    return {(candidates.order[j], candidates.order[i]) for i, j in np.argwhere(candidates.allowed).tolist()}


def required(candidates):
    """The edges that must be there, by column."""
    pairs = [(parent, child) for child, parents in enumerate(candidates.required) for parent in parents]
    return {candidates.to_columns(pair) for pair in pairs}


@st.composite
def restrictions(draw, max_nodes=7):
    n_nodes = draw(st.integers(1, max_nodes))
    nodes = st.integers(0, n_nodes - 1)
    pairs = st.sets(st.tuples(nodes, nodes).filter(lambda pair: pair[0] != pair[1]), max_size=8)
    asked = {
        "n_nodes": n_nodes,
        "forbidden": draw(pairs),
        "tiers": draw(st.none() | st.lists(st.integers(-3, 3), min_size=n_nodes, max_size=n_nodes)),
        "max_lag": draw(st.none() | st.integers(1, max_nodes)),
        "only_children": draw(st.none() | st.sets(nodes)),
    }
    possible = sorted(brute(**asked))
    asked["required"] = draw(st.sets(st.sampled_from(possible))) if possible else set()
    return asked


@settings(max_examples=300, deadline=None)
@given(restrictions())
def test_the_candidates_are_those_of_the_definition(asked):
    candidates = candidate_sets(**asked)
    assert edges(candidates) == brute(**asked)
    assert required(candidates) == asked["required"]
    assert candidates.n_pairs == len(brute(**asked))


@settings(max_examples=200, deadline=None)
@given(restrictions())
def test_only_earlier_nodes_are_candidates_and_required_parents_are_among_them(asked):
    candidates = candidate_sets(**asked)
    assert not np.triu(candidates.allowed).any()
    for child in range(candidates.n_nodes):
        found = candidates.of(child)
        assert found.dtype == np.int64
        assert found.tolist() == [j for j in range(candidates.n_nodes) if candidates.allowed[child, j]]
        assert candidates.of(child) is found
        assert set(candidates.required[child]) <= set(found.tolist())
        assert list(candidates.required[child]) == sorted(candidates.required[child])


@settings(max_examples=200, deadline=None)
@given(restrictions())
def test_the_order_is_a_permutation_that_moves_nothing_without_need(asked):
    candidates = candidate_sets(**asked)
    columns = range(candidates.n_nodes)
    assert sorted(candidates.order) == list(columns)
    assert candidates.to_columns(candidates.to_nodes(columns)) == tuple(columns)
    assert candidates.order == tuple(sorted(columns, key=asked["tiers"].__getitem__ if asked["tiers"] else None))
    assert candidates.is_reordered == (candidates.order != tuple(columns))


@settings(max_examples=200, deadline=None)
@given(restrictions(), st.data())
def test_with_tiers_the_order_of_the_columns_does_not_matter(asked, data):
    asked["tiers"] = asked["tiers"] or list(range(asked["n_nodes"]))
    names = [f"c{number}" for number in range(asked["n_nodes"])]
    shuffled = data.draw(st.permutations(names))
    named = {
        "tiers": dict(zip(names, asked["tiers"], strict=True)),
        "max_lag": asked["max_lag"],
        **{key: {(names[j], names[i]) for j, i in asked[key]} for key in ("forbidden", "required")},
        "only_children": None if asked["only_children"] is None else {names[i] for i in asked["only_children"]},
    }
    one = candidate_sets(len(names), names=names, **named)
    other = candidate_sets(len(names), names=shuffled, **named)
    for find in (edges, required):
        assert {(names[j], names[i]) for j, i in find(one)} == {(shuffled[j], shuffled[i]) for j, i in find(other)}


@settings(max_examples=200, deadline=None)
@given(restrictions())
def test_a_dictionary_rebuilds_the_candidates(asked):
    candidates = candidate_sets(**asked)
    content = json.loads(json.dumps(candidates.to_dict()))
    again = candidate_sets(**content)
    assert np.array_equal(again.allowed, candidates.allowed)
    assert (again.required, again.order) == (candidates.required, candidates.order)
    assert again.to_dict() == content
    assert again.describe() == candidates.describe()


@settings(max_examples=200, deadline=None)
@given(restrictions())
def test_full_means_that_nothing_is_ruled_out(asked):
    candidates = candidate_sets(**asked)
    n_nodes = asked["n_nodes"]
    assert candidates.is_full == (candidates.n_pairs == n_nodes * (n_nodes - 1) // 2 and not asked["required"])
    assert (candidates.describe() == "") == (candidates.is_full and not candidates.is_reordered)


def test_without_restrictions_every_earlier_column_is_a_candidate():
    candidates = candidate_sets(4)
    assert candidates.is_full
    assert not candidates.is_reordered
    assert candidates.order == (0, 1, 2, 3)
    assert np.array_equal(candidates.allowed, np.tri(4, k=-1, dtype=bool))
    assert [candidates.of(child).tolist() for child in range(4)] == [[], [0], [0, 1], [0, 1, 2]]
    assert candidates.required == ((), (), (), ())
    assert candidates.n_nodes == 4


def test_generations_in_any_order():
    candidates = candidate_sets(5, names=NAMES, tiers=GENERATIONS, forbidden=[("aunt", "child")])
    assert candidates.arrange_names(NAMES) == ("grandmother", "mother", "father", "aunt", "child")
    assert [candidates.of(child).tolist() for child in range(5)] == [[], [0], [0], [0], [0, 1, 2]]
    lagged = candidate_sets(5, names=NAMES, tiers=GENERATIONS, max_lag=1, required=[("father", "child")])
    assert lagged.of(4).tolist() == [1, 2, 3]
    assert lagged.required == ((), (), (), (), (2,))


@pytest.mark.parametrize(
    "tiers",
    [
        [["grandmother"], {"mother", "father", "aunt"}, ("child",)],
        [[4], [1, 2, 3], [0]],
        [np.array([4]), np.array([1, 2, 3]), ["child"]],
        [3, 2, 2, 2, 1],
        [2001.5, 1970, 1970, 1970, 1940],
        np.array([1, 0, 0, 0, -1], dtype=np.int8),
        (tier for tier in (3, 2, 2, 2, 1)),
        {"child": 9, "mother": 5, "father": 5, "aunt": 5, "grandmother": 0},
        {"child": 9, 1: 5, 2: 5, 3: 5, "grandmother": 0},
        # As floats the first three are one number.
        [2**60 + 2, 2**60 + 1, 2**60 + 1, 2**60 + 1, 2**60],
    ],
)
def test_tiers_in_all_their_forms(tiers):
    candidates = candidate_sets(5, names=NAMES, tiers=tiers)
    assert candidates.order == (4, 1, 2, 3, 0)
    assert candidates.to_dict()["tiers"] == [2, 1, 1, 1, 0]
    assert edges(candidates) == edges(candidate_sets(5, names=NAMES, tiers=GENERATIONS))


def test_only_tiers_that_have_columns_are_a_step():
    assert candidate_sets(3, tiers=[0, 1, 30], max_lag=1).of(2).tolist() == [1]


def test_a_window_has_one_child():
    window = candidate_sets(5, only_children=[4], max_lag=3)
    assert [window.of(child).tolist() for child in range(5)] == [[], [], [], [], [1, 2, 3]]
    assert candidate_sets(3, only_children=[]).n_pairs == 0


def test_a_lag_beyond_the_table_is_no_restriction():
    assert candidate_sets(4, max_lag=10**30).is_full
    assert candidate_sets(4, tiers=[0, 0, 1, 1], max_lag=10**30).n_pairs == 4


def test_edges_are_called_by_name_or_by_number():
    by_name = candidate_sets(3, names=["a", "b", "c"], forbidden=[("a", "c")], required=[("b", "c")])
    mixed = candidate_sets(3, names=["a", "b", "c"], forbidden=[("a", 2), (np.int32(0), "c")], required=[[1, "c"]])
    assert by_name.to_dict() == mixed.to_dict()
    assert by_name.to_dict()["forbidden"] == [[0, 2]]
    assert candidate_sets(3, forbidden=np.array([[0, 2]])).of(2).tolist() == [1]


def test_an_edge_that_the_order_rules_out_may_be_forbidden_too():
    assert candidate_sets(3, forbidden=[(2, 0), (1, 0)]).is_full


def test_rows_are_put_in_the_order_of_the_learner():
    rows = np.arange(12, dtype=np.int8).reshape(2, 6)
    moved = candidate_sets(6, tiers=[1, 0, 1, 0, 1, 0])
    assert moved.order == (1, 3, 5, 0, 2, 4)
    assert moved.place == (3, 0, 4, 1, 5, 2)
    assert moved.arrange_rows(rows).tolist() == [[1, 3, 5, 0, 2, 4], [7, 9, 11, 6, 8, 10]]
    assert rows[0, 0] == 0
    assert candidate_sets(6).arrange_rows(rows) is rows


def test_many_columns_of_one_tier_keep_their_order():
    tiers = np.random.default_rng(4).integers(0, 3, size=400)
    assert candidate_sets(400, tiers=tiers).order == tuple(sorted(range(400), key=tiers.tolist().__getitem__))


def test_nothing_that_is_handed_out_can_be_changed():
    candidates = candidate_sets(5, forbidden=[(1, 4)])
    for array in (candidates.allowed, candidates.of(3), candidates.of(4), candidates.of(0)):
        assert not array.flags.writeable
    assert candidate_sets(5).of(4).base is not None  # a view: lists without gaps take no memory


def test_the_sentence_says_what_was_asked_for():
    assert candidate_sets(5, names=NAMES).describe() == ""
    everything = candidate_sets(
        5,
        names=NAMES,
        tiers=GENERATIONS,
        max_lag=1,
        only_children=["child", "mother"],
        forbidden=[("aunt", "child")],
        required=[("mother", "child"), ("father", "child")],
    )
    assert everything.describe() == (
        "Candidates were restricted beforehand to 3 of 10 pairs: 3 tiers, the columns put in their order; "
        "lags up to 1 tier; parents for 2 nodes only; 1 forbidden edge; 2 required edges."
    )
    assert candidate_sets(4, max_lag=2).describe() == (
        "Candidates were restricted beforehand to 5 of 6 pairs: lags up to 2 columns."
    )
    assert "to 1 of 1 pairs: 2 tiers, the columns put" in candidate_sets(2, tiers=[1, 0]).describe()
    assert "to 1 of 1 pairs: 1 required edge." in candidate_sets(2, required=[(0, 1)]).describe()
