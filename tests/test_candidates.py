import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kgmi.candidates import Columns, candidate_sets
from kgmi.errors import SettingError, TooLargeError

NAMES = ["child", "mother", "father", "aunt", "grandmother"]
GENERATIONS = [["grandmother"], ["mother", "father", "aunt"], ["child"]]


def brute(n_nodes, forbidden=(), tiers=None, max_lag=None, only_children=None, order=None, **_):
    """All edges (parent, child) that may be there, from the words of the definition."""
    place = [*range(n_nodes)] if order in (None, "learn") else np.argsort(order).tolist()
    level = place if tiers is None else [sorted({*tiers}).index(tier) for tier in tiers]

    def comes_before(one, other):
        if tiers is not None and tiers[one] != tiers[other]:
            return tiers[one] < tiers[other]
        return order == "learn" or (place[one] < place[other] and (tiers is None or order is not None))

    return {
        (parent, child)
        for parent, child in permutations(range(n_nodes), 2)
        if comes_before(parent, child)
        and (max_lag is None or level[child] - level[parent] <= max_lag)
        and (parent, child) not in forbidden
        and (only_children is None or child in only_children)
    }


def edges(candidates):
    return {(parent, child) for child, parent in np.argwhere(candidates.allowed).tolist()}


def required(candidates):
    return {(parent, child) for child, parents in enumerate(candidates.required) for parent in parents}


@st.composite
def restrictions(draw, orders=("given", "learn", "other"), max_nodes=7):
    n_nodes = draw(st.integers(1, max_nodes))
    nodes = st.integers(0, n_nodes - 1)
    tiers = draw(st.none() | st.lists(st.integers(-3, 3), min_size=n_nodes, max_size=n_nodes))
    order = draw(st.sampled_from(orders))
    if order == "other":
        shuffled = draw(st.permutations(range(n_nodes)))
        order = shuffled if tiers is None else sorted(shuffled, key=tiers.__getitem__)
    asked = {
        "n_nodes": n_nodes,
        "forbidden": draw(st.sets(st.tuples(nodes, nodes).filter(lambda pair: pair[0] != pair[1]), max_size=8)),
        "tiers": tiers,
        "max_lag": None if order == "learn" and tiers is None else draw(st.none() | st.integers(1, max_nodes)),
        "only_children": draw(st.none() | st.sets(nodes)) if order == "given" else None,
        "order": None if order == "given" else order,
    }
    first = draw(st.permutations(range(n_nodes)))  # no circles while the order is open
    possible = sorted(edge for edge in brute(**asked) if first.index(edge[0]) < first.index(edge[1]))
    asked["required"] = draw(st.sets(st.sampled_from(possible))) if possible else set()
    return asked


@settings(max_examples=400, deadline=None)
@given(restrictions())
def test_the_candidates_are_those_of_the_definition(asked):
    candidates = candidate_sets(**asked)
    stage, n_nodes = candidates.stage, asked["n_nodes"]
    assert edges(candidates) == brute(**asked)
    assert required(candidates) == asked["required"] <= edges(candidates)
    assert candidates.n_pairs == len(edges(candidates))
    assert candidates.is_open == (asked["order"] == "learn")
    assert candidates.is_sequence == (asked["only_children"] is not None)
    assert all(stage[j] < stage[i] or (candidates.is_open and stage[j] == stage[i]) for j, i in edges(candidates))
    assert candidates.sequence() == tuple(sorted(range(n_nodes), key=stage.tolist().__getitem__))
    everything = brute(n_nodes, order="learn" if candidates.is_open else None)
    assert candidates.is_full == (edges(candidates) == everything and not asked["required"])
    for child in range(n_nodes):
        found = candidates.of(child)
        assert found.dtype == np.int64
        assert found is candidates.of(child)
        assert found.tolist() == [parent for parent in range(n_nodes) if candidates.allowed[child, parent]]
        assert list(candidates.required[child]) == sorted(candidates.required[child])
    for array in (candidates.allowed, *map(candidates.of, range(n_nodes))):
        assert not array.flags.writeable


@settings(max_examples=300, deadline=None)
@given(restrictions(), st.data())
def test_other_numbers_say_the_same(asked, data):
    candidates = candidate_sets(**asked)
    n_nodes = asked["n_nodes"]
    order = data.draw(st.permutations(range(n_nodes)))
    again = data.draw(st.permutations(range(n_nodes)))
    moved = candidates.renumbered(order)
    assert {(order[j], order[i]) for j, i in edges(moved)} == edges(candidates)
    assert {(order[j], order[i]) for j, i in required(moved)} == required(candidates)
    assert moved.stage.tolist() == candidates.stage[order].tolist()
    assert all(list(parents) == sorted(parents) for parents in moved.required)
    assert (moved.n_pairs, moved.is_open) == (candidates.n_pairs, candidates.is_open)
    for one, other in permutations(range(n_nodes), 2):
        assert moved.may_be_drawn_with(one, other) == candidates.may_be_drawn_with(order[one], order[other])
    twice, at_once = moved.renumbered(again), candidates.renumbered([order[node] for node in again])
    assert np.array_equal(twice.allowed, at_once.allowed)
    assert (twice.required, twice.column) == (at_once.required, at_once.column)
    assert candidates.renumbered(range(n_nodes)) is candidates
    assert candidates.is_open or not np.triu(candidates.renumbered(candidates.sequence()).allowed).any()


@settings(max_examples=300, deadline=None)
@given(restrictions(orders=["learn"]), st.data())
def test_an_order_that_was_found_is_as_one_that_was_given(asked, data):
    candidates = candidate_sets(**asked)
    n_nodes, tiers = asked["n_nodes"], asked["tiers"] or [0] * asked["n_nodes"]
    order = sorted(data.draw(st.permutations(range(n_nodes))), key=tiers.__getitem__)
    assume(all(order.index(parent) < order.index(child) for parent, child in asked["required"]))
    given_ = candidate_sets(**asked | {"order": order})
    found = candidates.ordered(np.array(order))
    assert np.array_equal(found.allowed, given_.allowed)
    assert (found.required, found.rules.to_dict()) == (given_.required, given_.rules.to_dict())
    places = data.draw(st.permutations(range(n_nodes)))
    moved = candidates.renumbered(places).ordered([places.index(node) for node in order])
    assert np.array_equal(moved.allowed, given_.renumbered(places).allowed)
    short = np.random.default_rng(data.draw(st.integers(0, 99))).random((n_nodes, n_nodes)) < 0.5
    assert np.array_equal(candidates.restricted(short).ordered(order).allowed, given_.allowed & short)
    assert candidates.restricted(short).required == candidates.required


@settings(max_examples=200, deadline=None)
@given(restrictions())
def test_a_dictionary_rebuilds_the_candidates(asked):
    candidates = candidate_sets(**asked)
    content = json.loads(json.dumps(candidates.rules.to_dict()))
    again = candidate_sets(**content)
    assert np.array_equal(again.allowed, candidates.allowed)
    assert (again.required, again.stage.tolist()) == (candidates.required, candidates.stage.tolist())
    assert again.rules.to_dict() == content == candidates.rules.to_dict()
    assert again.describe() == candidates.describe()


def test_roots_of_a_tier_may_be_drawn_together():
    tiers = candidate_sets(4, tiers=[1, 0, 0, 1], max_lag=1, forbidden=[(3, 0)])
    may = {(i, j) for i, j in permutations(range(4), 2) if tiers.may_be_drawn_with(i, j)}
    assert may == {(1, 2), (2, 1), (0, 1), (0, 2), (3, 1), (3, 2)}
    assert tiers.renumbered([1, 2, 0, 3]).may_be_drawn_with(1, 0)
    assert not candidate_sets(4, max_lag=1).may_be_drawn_with(2, 0)


@pytest.mark.parametrize(
    "tiers",
    [
        [["grandmother"], {"mother", "father", "aunt"}, ("child",)],
        [np.array([4]), np.array([1, 2, 3]), ["child"]],
        np.array([1, 0, 0, 0, -1], dtype=np.int8),
        (tier for tier in (3, 2, 2, 2, 1)),
        {"child": 9, 1: 5, 2: 5, 3: 5, "grandmother": 0},
        [2**60 + 2, 2**60 + 1, 2**60 + 1, 2**60 + 1, 2**60],  # as floats the first four are one number
    ],
)
def test_tiers_in_all_their_forms(tiers):
    candidates = candidate_sets(5, names=NAMES, tiers=tiers)
    assert candidates.rules.tiers == (2, 1, 1, 1, 0)
    assert candidates.sequence() == (4, 1, 2, 3, 0)


def test_only_tiers_that_have_columns_are_a_step():
    assert candidate_sets(3, tiers=[0, 1, 30], max_lag=1).of(2).tolist() == [1]
    assert candidate_sets(3, tiers=[[0], [], [1], [2]], max_lag=1).of(2).tolist() == [1]


def test_edges_are_called_by_name_or_by_number():
    by_name = candidate_sets(3, names=["a", "b", "c"], forbidden=[("a", "c")], required=[("b", "c")])
    mixed = candidate_sets(3, names=["a", "b", "c"], forbidden=[("a", 2), (np.int32(0), "c")], required=[[1, "c"]])
    assert by_name.rules.to_dict() == mixed.rules.to_dict()
    assert candidate_sets(3, forbidden=np.array([[0, 2]])).of(2).tolist() == [1]
    assert candidate_sets(3, names=["2", "1", "0"], tiers=[5, 0, 0]).sequence() == (1, 2, 0)
    assert Columns(3, ["0", "x", "1x"]).numbers([0, np.int8(1), "1x"], "roots") == (0, 1, 2)


def test_lists_without_gaps_are_views():
    candidates = candidate_sets(5, max_lag=10**30)
    assert candidates.is_full
    assert candidates.of(4).base is candidates.of(3).base is not None


def test_the_sentence_says_what_was_asked_for():
    assert candidate_sets(5).describe() == candidate_sets(3, order="learn").describe() == ""
    edges = {"forbidden": [(3, 0)], "required": [(1, 0), (2, 0)]}
    assert candidate_sets(5, tiers=[2, 1, 1, 1, 0], max_lag=1, only_children=[0, 1], **edges).describe() == (
        "Candidates were restricted beforehand to 3 of 10 pairs: 3 tiers; lags up to 1 tier; parents for 2 nodes "
        "only; 1 forbidden edge; 2 required edges."
    )
    assert candidate_sets(4, max_lag=2).describe().endswith("to 5 of 6 pairs: lags up to 2 columns.")
    learned = candidate_sets(4, tiers=[0, 1, 1, 1], order="learn")
    assert learned.describe() == "Candidates were restricted beforehand: 2 tiers."


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"forbidden": [("mother", 0)], "required": [(1, 0)], "order": "learn"}, "'mother' → 'child' forbidden"),
        ({"required": [("father", "mother")]}, "'father' → 'mother' the order"),
        ({"required": [(0, 1)], "order": [2, 1, 0, 3, 4]}, "'child' → 'mother' the order"),
        ({"required": [(1, 2)], "tiers": GENERATIONS}, "'mother' → 'father' the tiers"),
        ({"required": [(1, 4)], "tiers": GENERATIONS, "order": "learn"}, "'mother' → 'grandmother' the tiers"),
        ({"required": [(2, 1)], "tiers": GENERATIONS, "order": [4, 1, 2, 3, 0]}, "'father' → 'mother' the order"),
        ({"required": [("child", "aunt")], "max_lag": 2}, "'child' → 'aunt' max_lag = 2 back by 3"),
        ({"required": [(4, 0)], "max_lag": 1, "tiers": GENERATIONS}, "'grandmother' → 'child' max_lag = 1 by 2"),
        ({"required": [(0, 1)], "only_children": [2]}, "'child' → 'mother' only_children"),
        ({"required": [(0, 1)], "only_children": []}, "'child' → 'mother' only_children"),
        ({"required": [(0, 1), (1, 2), (2, 0)], "order": "learn"}, "circle 'child' 'mother' 'father'"),
        ({"order": [0, 4, 1, 2, 3], "tiers": GENERATIONS}, "'child', 'grandmother' order tiers"),
        ({"order": "learn", "max_lag": 1}, "max_lag tiers"),
        ({"order": "learn", "only_children": [4]}, "windows order"),
        ({"order": [1, 0, 2, 3, 4], "only_children": [4]}, "windows order"),
        ({"order": [0, 1, 2, 3]}, "order 'grandmother'"),
        ({"order": [0, 1, 2, 3, 3, 4]}, "order 'aunt'"),
        ({"order": "sideways"}, "order given learn 'sideways'"),
        ({"order": {0, 1, 2, 3, 4}}, "order given learn {0, 1, 2, 3, 4}"),
        ({"order": 3}, "order given learn 3"),
        *(({"max_lag": lag}, f"max_lag whole number {lag!r}") for lag in (0, -1, 1.0, True, "2")),
        *(({"only_children": children}, f"only_children list {children!r}") for children in ("child", 2)),
        *(
            ({option: pairs}, f"{option} {words}")
            for option in ("forbidden", "required")
            for pairs, words in [
                ([("moter", "child")], "'moter' did you mean 'mother'?"),
                ([("mother", "CHILD")], "'CHILD' did you mean 'child'?"),
                ([("xyz", "child")], "'xyz' 'child', 'mother', 'father', 'aunt'"),
                *(([(node, 2)], f"{node!r} 0..4") for node in (5, -1, 0.0, False, np.True_, None)),
                *(([pair], f"{pair!r} for a pair") for pair in ("ab", {0, 1}, (0, 1, 2), 0)),
                ("mother", "'m' for a pair"),
                ({("mother", "child"): 1}, "{('mother', 'child'): 1} for a pair"),
                (3, "3 for a pair"),
                ([(4, "grandmother")], "'grandmother' to itself"),
            ]
        ),
        *(
            ({"tiers": tiers}, words)
            for tiers, words in [
                ([["mother"], ["child", "aunt", 4]], "tiers 'father'"),
                ([1, 2, 3, 4], "tiers 'grandmother'"),
                ([], "tiers 'child', 'mother', 'father'"),
                ([1, 2, 3, 4, 5, 6], "tiers 6 5"),
                ([["mother", "father"], ["child", "father", "aunt", 4]], "tiers 'father'"),
                ({"mother": 1, 1: 7, 0: 1, 2: 1, 3: 1, 4: 0}, "tiers 'mother'"),
                ([["mother", "fathr"], ["child", "aunt", 4]], "tiers 'fathr' 'father'"),
                ([["mother", "father"], "child", ["aunt", 4]], "tiers 'child' in place of a list"),
                *(([0, 1, tier, 1, 1], f"tier 'father' {tier!r}") for tier in ("old", None, True, np.nan, np.inf)),
                ({1: ["mother", "father"], 2: ["child"]}, "tier 'mother' ['mother', 'father']"),
                *((tiers, f"tiers {tiers!r}") for tiers in ({0, 1}, "01123", 2)),
            ]
        ),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(asked, words):
    with pytest.raises(SettingError) as refused:
        candidate_sets(5, names=NAMES, **asked)
    message = str(refused.value)
    assert all(word in message for word in words.split()), message
    assert "\n" not in message


@pytest.mark.parametrize("option", ["forbidden", "required", "tiers", "order", "only_children"])
def test_a_number_that_names_another_column_is_refused(option):
    asked = {"forbidden": [(1, 2)], "required": [(1, 2)], "tiers": [[np.int64(1)], [2, 3, 4]]}.get(option, [1])
    with pytest.raises(SettingError, match=rf"{option} mentions 1, which .* named '1' or column number 1"):
        candidate_sets(4, names=list("1234"), **{option: asked})
    with pytest.raises(SettingError, match="forbidden mentions -1, which may be the column named '-1'"):
        candidate_sets(2, names=["-1", "a"], forbidden=[(-1, 1)])


def test_bad_sizes_names_and_messages():
    for n_nodes, names in ((0, None), (2.0, None), (3, "ab"), (3, "aba"), (3, "abca"), (2, [0, 1])):
        with pytest.raises(SettingError, match="n_nodes must be a whole" if names is None else "names must be"):
            candidate_sets(n_nodes, names=names)
    with pytest.raises(TooLargeError, match="1,000,000 nodes have too many pairs"):
        candidate_sets(10**6)
    with pytest.raises(SettingError, match="node 8 and 21 more"):
        candidate_sets(30, tiers={0: 1})
    with pytest.raises(
        SettingError, match="forbidden names 'pet', but there is no such column; the columns are node 0"
    ):
        candidate_sets(4, forbidden=[("pet", 1)])


def test_required_parents_need_heads():
    candidates = candidate_sets(5, names=NAMES, tiers=GENERATIONS, required=[("mother", "child"), (2, 0)])
    candidates.check_heads(2)
    with pytest.raises(SettingError, match=r"'child' has 2 required parents, more than 1: .*n_parents"):
        candidates.renumbered([4, 3, 2, 1, 0]).check_heads(1)
