"""Restrictions that contradict each other or make no sense are refused by name."""

import re

import numpy as np
import pytest

from kgmi.candidates import candidate_sets
from kgmi.errors import SettingError, TooLargeError

NAMES = ["mother", "father", "child", "pet"]


def refused(message, n_nodes=4, names=NAMES, **asked):
    with pytest.raises(SettingError, match=re.escape(message)):
        candidate_sets(n_nodes, names=names, **asked)
    return True


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"forbidden": [("mother", "child")], "required": [(0, 2)]},
            "the edge 'mother' → 'child' is both forbidden and required",
        ),
        (
            {"required": [("child", "father")]},
            "required edge 'child' → 'father' goes against the order of the columns, in which 'father' comes first",
        ),
        (
            {"required": [("child", "pet")], "tiers": [["mother", "father"], ["child", "pet"]]},
            "required edge 'child' → 'pet' goes against the tiers: the parent is in tier 2, the child in tier 2",
        ),
        (
            {"required": [("mother", "child")], "tiers": {"mother": 1990, "father": 1991, "child": 1960, "pet": 0}},
            "'mother' → 'child' goes against the tiers: the parent is in tier 1990, the child in tier 1960",
        ),
        (
            {"required": [("mother", "pet")], "max_lag": 2},
            "the required edge 'mother' → 'pet' spans 3 columns, more than max_lag = 2",
        ),
        (
            {"required": [("mother", "pet")], "max_lag": 1, "tiers": [10, 20, 20, 30]},
            "the required edge 'mother' → 'pet' spans 2 tiers, more than max_lag = 1",
        ),
        (
            {"required": [("mother", "child")], "only_children": ["pet", "father"]},
            "'mother' → 'child' is required, but 'child' may not have parents: only_children has 'father', 'pet'",
        ),
        ({"required": [("mother", "child")], "only_children": []}, "only_children has no nodes"),
        ({"required": [("pet", "pet")]}, "required has an edge from 'pet' to itself"),
        ({"forbidden": [(3, "pet")]}, "forbidden has an edge from 'pet' to itself"),
    ],
)
def test_contradictions_name_both_sides(asked, message):
    assert refused(message, **asked)


def test_nodes_without_names_go_by_their_numbers():
    assert refused("the edge node 0 → node 2 is both", names=None, forbidden=[(0, 2)], required=[(0, 2)])
    assert refused(
        "forbidden names 'pet', but the columns have no names: give numbers 0..3",
        names=None,
        forbidden=[("pet", 1)],
    )


@pytest.mark.parametrize("option", ["forbidden", "required"])
@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("moter", "child")], "names 'moter', but there is no such column; did you mean 'mother'?"),
        ([("mother", "CHILD")], "names 'CHILD', but there is no such column; did you mean 'child'?"),
        ([("xyz", "child")], "there is no such column; the columns are 'mother', 'father', 'child', 'pet'"),
        ([(0, 4)], "mentions 4: nodes are numbers 0..3 or names of columns"),
        ([(-1, 2)], "mentions -1: nodes are numbers 0..3"),
        ([(0.0, 2)], "mentions 0.0: nodes are numbers 0..3"),
        ([(False, 2)], "mentions False: nodes are numbers 0..3"),
        ([(np.True_, 2)], "mentions np.True_: nodes are numbers 0..3"),
        ([(None, 2)], "mentions None: nodes are numbers 0..3"),
        (["ab"], "must hold pairs (parent, child), got 'ab' in place of a pair"),
        (("mother", "child"), "must hold pairs (parent, child), got 'mother' in place of a pair"),
        ((0, 1), "must hold pairs (parent, child), got 0 in place of a pair"),
        ([{0, 1}], "got {0, 1} in place of a pair"),
        ([(0, 1, 2)], "got (0, 1, 2) in place of a pair"),
        ("mother", "must be a list of pairs (parent, child), got 'mother'"),
        ({"mother": "child"}, "must be a list of pairs (parent, child), got {'mother': 'child'}"),
        (3, "must be a list of pairs (parent, child), got 3"),
    ],
)
def test_bad_edges(option, pairs, message):
    assert refused(message, **{option: pairs})


@pytest.mark.parametrize(
    ("tiers", "message"),
    [
        ([["mother"], ["child", "pet"]], "tiers must hold every column once, but none has 'father'"),
        ([1, 2, 3], "tiers must hold every column once, but none has 'pet'"),
        ([], "none has 'mother', 'father', 'child', 'pet'"),
        ({"mother": 1, "child": 2}, "none has 'father', 'pet'"),
        ([1, None, 2, 3], "none has 'father'"),
        ([1, 2, float("nan"), 3], "none has 'child'"),
        ([1, 2, float("inf"), 3], "none has 'child'"),
        ([1, 2, 3, 4, 5], "tiers has 5 numbers for 4 columns"),
        ([["mother", "father"], ["child", "father", "pet"]], "'father' is in tier 1 and again in tier 2"),
        ([[0, 1], ["child", "pet", 3]], "'pet' is in tier 2 and again in tier 2"),
        ({"mother": 1, 0: 7, 1: 1, 2: 1, 3: 1}, "'mother' is in tier 1 and again in tier 7"),
        (
            [["mother", "fathr"], ["child", "pet"]],
            "tiers names 'fathr', but there is no such column; did you mean 'father'?",
        ),
        ({"mother": 1, "father": 1, "child": 2, "pets": 3}, "did you mean 'pet'?"),
        ([["mother", "father"], [], ["child", "pet"]], "tier 2 has no columns; leave it out"),
        ([["mother", "father"], "child", ["pet"]], "a group of one is written ['child']"),
        (["old", "old", "new", "new"], "got the text 'old', which has no place in an order"),
        ({"mother": "old", "father": 1, "child": 1, "pet": 1}, "the tier of 'mother' must be a number, got 'old'"),
        ([True, False, True, True], "the tier of 'mother' must be a number, got True"),
        (
            {1: ["mother", "father"], 2: ["child", "pet"]},
            "list of groups of columns, earliest first; got ['mother', 'father'] for 1",
        ),
        ({0, 1}, "tiers must be a number for each column"),
        ("0112", "tiers must be a number for each column"),
        (2, "tiers must be a number for each column"),
    ],
)
def test_bad_tiers(tiers, message):
    assert refused(message, tiers=tiers)


def test_long_lists_are_cut_short():
    names = [f"column {number}" for number in range(30)]
    assert refused("'column 8' and 21 more", n_nodes=30, names=names, tiers={"column 0": 1})


@pytest.mark.parametrize("max_lag", [0, -1, 1.0, True, "2"])
def test_bad_lags(max_lag):
    assert refused(f"max_lag must be a whole number, 1 or more; got {max_lag!r}", max_lag=max_lag)


@pytest.mark.parametrize("children", ["child", 2])
def test_only_children_is_a_list(children):
    assert refused(f"only_children must be a list of nodes, got {children!r}", only_children=children)


def test_unknown_only_children_are_named():
    assert refused(
        "only_children names 'chidl', but there is no such column; did you mean 'child'?", only_children=["chidl"]
    )


@pytest.mark.parametrize(
    ("n_nodes", "names", "message"),
    [
        (0, None, "n_nodes must be a whole number, 1 or more; got 0"),
        (2.0, None, "n_nodes must be a whole number"),
        (3, ["a", "b"], "3 nodes need 3 names, got 2"),
        (3, ["a", "b", "a"], "two columns are named 'a'; rename one"),
        (3, "abc", "names must be a list of texts, got 'abc'"),
        (2, [0, 1], "names must be a list of texts, got [0, 1]"),
    ],
)
def test_bad_sizes_and_names(n_nodes, names, message):
    assert refused(message, n_nodes=n_nodes, names=names)


def test_more_nodes_than_a_mask_can_hold_are_refused_before_it_is_made():
    with pytest.raises(TooLargeError, match="1,000,000 nodes have too many pairs"):
        candidate_sets(10**6)


def test_required_parents_need_heads():
    asked = {
        "required": [("mother", "child"), ("father", "child")],
        "tiers": {"child": 2, "mother": 1, "father": 1, "pet": 1},
    }
    candidates = candidate_sets(4, names=["child", "pet", "father", "mother"], **asked)
    candidates.check_heads(2)
    message = "'child' has 2 required parents ('father', 'mother'), but a node has at most 1: allow more (n_parents"
    with pytest.raises(SettingError, match=re.escape(message)):
        candidates.check_heads(1)
