from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from kgmi import Dag, metrics
from kgmi.bench import PEERS, Edges, peer_named, score_edges
from kgmi.errors import GraphError, SettingError

PAPER_5 = Dag.paper(5)  # 0→2, 1→2, 0→3, 2→3, 1→4, 3→4; roots 0 and 1 drawn jointly


# Edges


def test_edges_are_plain_sorted_integers():
    edges = Edges.of(np.array([[3, 1], [0, 2]]), [(np.int64(4), np.int64(0))])
    assert edges == Edges(((0, 2), (3, 1)), ((4, 0),))
    assert all(type(node) is int for pair in (*edges.directed, *edges.undirected) for node in pair)


@pytest.mark.parametrize(
    ("directed", "undirected"),
    [([(0, 1), (1, 0)], []), ([(0, 1)], [(1, 0)]), ([], [(0, 1), (1, 0)]), ([(2, 2)], [])],
)
def test_a_pair_is_linked_once(directed, undirected):
    with pytest.raises(GraphError, match="linked a pair of nodes twice"):
        Edges.of(directed, undirected)


# Scores


def test_the_truth_scores_one():
    score = score_edges(Edges(PAPER_5.edges), PAPER_5)
    assert (score.f1, score.f1_strict, score.shd) == (1.0, 1.0, 0)


def test_forward_answers_score_as_in_metrics():
    rng = np.random.default_rng(8)
    pairs = list(combinations(range(5), 2))
    for _ in range(50):
        chosen = [pair for pair in pairs if rng.random() < 0.5]
        expected = metrics.compare(Dag.from_edges(chosen, 5), PAPER_5)
        score = score_edges(Edges.of(chosen), PAPER_5)
        assert score.f1 == pytest.approx(expected.f1)
        assert score.shd == expected.shd


def test_an_edge_the_wrong_way_round_is_one_step_away():
    turned = [(2, 0), *(edge for edge in PAPER_5.edges if edge != (0, 2))]
    score = score_edges(Edges.of(turned), PAPER_5)
    assert score.shd == 1
    assert score.f1 == pytest.approx(2 * 5 / (6 + 6))


def test_a_wrong_link_is_one_step_away_in_either_direction():
    forward = score_edges(Edges.of([*PAPER_5.edges, (0, 4)]), PAPER_5)
    backward = score_edges(Edges.of([*PAPER_5.edges, (4, 0)]), PAPER_5)
    assert forward == backward
    assert forward.shd == 1
    assert forward.f1 == pytest.approx(12 / 13)


@pytest.mark.parametrize("link", [((0, 1), "directed"), ((1, 0), "directed"), ((1, 0), "undirected")])
def test_links_between_jointly_drawn_roots_do_not_count(link):
    pair, kind = link
    directed = [*PAPER_5.edges, pair] if kind == "directed" else PAPER_5.edges
    score = score_edges(Edges.of(directed, [pair] if kind == "undirected" else []), PAPER_5)
    assert (score.f1, score.f1_strict, score.shd) == (1.0, 1.0, 0)


def test_an_edge_without_direction_is_read_favourably_and_strictly():
    rest = [edge for edge in PAPER_5.edges if edge != (3, 4)]
    score = score_edges(Edges.of(rest, [(4, 3)]), PAPER_5)
    assert (score.f1, score.shd) == (1.0, 0)
    assert score.f1_strict == pytest.approx(2 * 5 / (6 + 6))


def test_nothing_found_and_nothing_to_find():
    assert score_edges(Edges(()), PAPER_5).f1 == 0.0
    assert score_edges(Edges(()), PAPER_5).shd == 6
    empty = score_edges(Edges(()), Dag([(), ()]))
    assert (empty.f1, empty.f1_strict, empty.shd) == (1.0, 1.0, 0)


# Registry


def test_every_peer_is_found_by_its_key():
    keys = [peer.key for peer in PEERS]
    assert len(set(keys)) == len(keys)
    assert [peer_named(key).key for key in keys] == keys
    assert peer_named("kgmi").ordered
    assert [peer.key for peer in PEERS if peer.cold] == ["kgmi-cold"]
    assert {peer.key for peer in PEERS if peer.paper == "MMHC"} == {"pgmpy-mmhc", "pybnesian-mmhc"}
    assert {peer.paper for peer in PEERS} - {None} == {"KG-MI", "NOTEARS", "PC", "MMHC", "HC", "A*"}


def test_an_unknown_key_is_refused():
    with pytest.raises(SettingError, match=r"no peer 'os:system'; choose from kgmi, .*pyagrum-k2"):
        peer_named("os:system")
