"""Comparisons in which nobody is told the order: shuffled columns, who can do without, and how answers count."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, sample
from kgmi.bench import Edges, Plan, Problem, graphs, networks, peer_named, run_peer
from kgmi.bench.compare import Sample
from kgmi.bench.graphs.report import columns, describe, outcome_lines, plain_values
from kgmi.bench.libraries import UNORDERED
from kgmi.bench.networks.report import columns as network_columns
from kgmi.bench.networks.report import describe as describe_network
from kgmi.bench.networks.report import outcome_lines as network_lines
from kgmi.bench.order import put_back, shuffle
from kgmi.bench.peer import Given
from kgmi.bench.score import score_edges, score_without_order
from kgmi.errors import SettingError
from tests.graph_drills import ANY_ORDER, LINKS
from tests.network_drills import NETWORK, SHUFFLED

PAPER_5 = Dag.paper(5)  # 0→2, 1→2, 0→3, 2→3, 1→4, 3→4; roots 0 and 1 drawn jointly


# How answers count


def test_the_truth_scores_one():
    score = score_without_order(Edges(PAPER_5.edges), PAPER_5)
    assert (score.f1, score.f1_strict, score.f1_skeleton, score.shd) == (1.0, 1.0, 1.0, 0)


def test_directed_answers_score_as_with_the_order():
    rng = np.random.default_rng(18)
    for _ in range(50):
        pairs = [(a, b) for a in range(5) for b in range(a) if rng.random() < 0.5]
        edges = Edges.of(pair if rng.random() < 0.5 else pair[::-1] for pair in pairs)
        assert score_without_order(edges, PAPER_5) == score_edges(edges, PAPER_5)


def test_an_edge_without_direction_counts_half_whichever_way_it_is_written():
    rest = [edge for edge in PAPER_5.edges if edge != (3, 4)]
    for pair in ((3, 4), (4, 3)):
        score = score_without_order(Edges.of(rest, [pair]), PAPER_5)
        assert score.f1 == pytest.approx(2 * 5.5 / 12)
        assert score.f1_strict == pytest.approx(2 * 5 / 12)
        assert (score.f1_skeleton, score.shd) == (1.0, 0.5)


def test_half_is_what_a_coin_gets_on_average():
    rest, link = [edge for edge in PAPER_5.edges if edge != (3, 4)], (3, 4)
    coin = [score_without_order(Edges.of([*rest, toss]), PAPER_5) for toss in (link, link[::-1])]
    half = score_without_order(Edges.of(rest, [link]), PAPER_5)
    assert half.f1 == pytest.approx(np.mean([score.f1 for score in coin]))
    assert half.shd == pytest.approx(np.mean([score.shd for score in coin]))


def test_a_link_that_is_not_true_counts_whole():
    score = score_without_order(Edges.of(PAPER_5.edges, [(4, 0)]), PAPER_5)
    assert score.f1 == score.f1_skeleton == pytest.approx(12 / 13)
    assert score.shd == 1


@pytest.mark.parametrize(("directed", "undirected"), [([(0, 1)], []), ([(1, 0)], []), ([], [(1, 0)])])
def test_links_between_jointly_drawn_roots_do_not_count(directed, undirected):
    score = score_without_order(Edges.of([*PAPER_5.edges, *directed], undirected), PAPER_5)
    assert (score.f1, score.f1_strict, score.f1_skeleton, score.shd) == (1.0, 1.0, 1.0, 0)


def test_nothing_to_find():
    assert score_without_order(Edges(()), PAPER_5).f1 == 0.0
    assert score_without_order(Edges(()), PAPER_5).shd == 6
    assert score_without_order(Edges(()), Dag([(), ()])).f1 == 1.0


# Shuffled columns


def test_columns_are_shuffled_with_their_states_and_answers_are_put_back():
    rows = np.arange(12).reshape(3, 4)
    problem, order = shuffle(Problem(rows, n_states=(2, 3, 4, 5), n_parents=1), np.random.default_rng(11))
    assert sorted(order) == [0, 1, 2, 3]
    assert order != (0, 1, 2, 3)
    assert np.array_equal(problem.rows, rows[:, order])
    assert problem.n_states == tuple((2, 3, 4, 5)[node] for node in order)
    there = [order.index(node) for node in range(4)]
    answer = Edges.of([(there[0], there[2])], [(there[3], there[1])])
    assert put_back(answer, order) == Edges.of([(0, 2)], [(3, 1)])
    assert put_back(answer, None) == answer


def test_a_sample_scores_answers_by_what_was_told():
    told = Sample(7, Problem(np.zeros((2, 5), dtype=int), Kernel.paper()), PAPER_5)
    blind = told.without_order(np.random.default_rng(12))
    assert blind.columns is not None
    place = [blind.columns.index(node) for node in range(5)]
    answer = Edges.of([(place[parent], place[child]) for parent, child in PAPER_5.edges])
    assert blind.score(answer).f1 == 1.0
    assert told.score(answer).f1 < 1.0


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))


def test_every_method_gets_the_same_shuffled_columns(here):
    setting = graphs.Setting("paper5", "paper", 3)
    plan = Plan(rows=(40, 60), seeds=(11, 12), methods=(ANY_ORDER, LINKS), order="learn")
    outcomes = graphs.compare_graphs(setting, plan, module="tests.graph_drills")
    assert [outcome.trouble for outcome in outcomes] == [None] * 4
    right, links = outcomes[2:]
    # The first drill draws the rows again and looks its columns up among them.
    assert [score.f1 for score in right.scores] == [1.0] * 6
    assert [score.f1_skeleton for score in links.scores] == [1.0] * 6
    assert {score.f1 for score in links.scores} == {0.5}
    assert columns("learn")[5:] == ["F1", "F1 of skeleton", "seconds"]
    lines = outcome_lines(outcomes[:2], "learn")
    assert [line[1:2] + line[3:7] for line in lines] == [
        ["any-order", "6 of 6", "100 %", "1.000", "1.000"],
        ["links", "0 of 6", "0 %", "0.500", "1.000"],
    ]
    assert len(lines[0]) == len(columns("learn")) == len(columns()) + 1
    text = describe(setting, plan)
    assert "K is told. The columns are shuffled" in text
    assert "counts half, which is what a coin would get" in text
    content = json.loads(json.dumps(plain_values(setting, plan, outcomes)))
    assert content["order"] == "learn"
    assert content["outcomes"][1]["f1_strict"] == [0.0] * 6
    assert content["outcomes"][1]["mean_f1_skeleton"] == 1.0


def test_networks_are_shuffled_by_the_seed(here):
    plan = Plan(rows=(30,), seeds=(11, 12, 13), methods=(SHUFFLED,), order="learn")
    (outcome,) = networks.compare_methods(NETWORK, plan, module="tests.network_drills")
    assert outcome.trouble is None
    # It finds the two edges of rain, by the states of the columns, which were shuffled with them.
    assert [score.f1 for score in outcome.scores] == [pytest.approx(0.8)] * 3
    (line,) = network_lines([outcome], "learn")
    assert line[3:7] == ["0.800", "0.800..0.800", "0.800", "1.0"]
    assert len(line) == len(network_columns("learn")) == len(network_columns()) + 1
    assert "The columns are shuffled" in describe_network(NETWORK, order="learn")
    assert "The order is told" in describe_network(NETWORK)


# Who can do without an order


def test_choosing_methods_that_need_no_order():
    chosen = graphs.choose_methods("paper", "usual", "all", "learn")
    assert [method.key for method in chosen[:2]] == ["kgmi-order", "kgmi-order-node"]
    assert chosen[2:] == UNORDERED == networks.choose_methods("all", "learn")[2:]
    assert not any(method.ordered for method in chosen)
    assert set(graphs.METHODS) >= set(chosen)
    assert set(networks.METHODS) >= set(networks.choose_methods("all", "learn"))
    keys = {method.key for method in UNORDERED}
    assert {
        "causal-learn-pc",
        "causal-learn-ges",
        "causal-learn-boss",
        "causal-learn-grasp",
        "pyagrum-miic",
    } <= keys
    assert {"pybnesian-hc", "pgmpy-hc-free", "pyagrum-greedy", "pybnesian-mmhc", "pgmpy-mmhc"} <= keys
    for rooms in (graphs, networks):
        listed = [method.key for method in rooms.METHODS]
        assert len(set(listed)) == len(listed)
    with pytest.raises(SettingError, match=r"no peer 'pyagrum-k2'; choose from .*pyagrum-miic"):
        graphs.choose_methods("paper", "none", "pyagrum-k2", "learn")
    with pytest.raises(SettingError, match="the order must be given or learn, got 'found'"):
        Plan(rows=(5,), seeds=(11,), methods=(), order="found")  # type: ignore[arg-type]


def test_our_methods_find_a_shuffled_graph():
    process = Process(PAPER_5, Kernel.paper())
    shuffled, order = shuffle(Problem(sample(process, 3_000, rng=14), process.kernel), np.random.default_rng(15))
    given = Given((3,) * 5, 2, process.kernel)
    method = graphs.choose_methods("paper", "kgmi-order", "none", "learn")[0]
    edges = method.read(method.fit(method.prepare(shuffled.rows, given), given))
    assert score_without_order(put_back(edges, order), PAPER_5).f1 == 1.0


def test_graphs_of_miic_have_links_of_both_kinds():
    graph = SimpleNamespace(arcs=lambda: {(2, 1)}, edges=lambda: {(0, 1)})
    assert peer_named("pyagrum-miic", UNORDERED).read(graph) == Edges(((2, 1),), ((0, 1),))


# The libraries themselves: make test-bench installs them


@pytest.mark.peers
@pytest.mark.parametrize("key", [peer.key for peer in UNORDERED])
def test_an_installed_library_learns_without_an_order(key):
    process = Process(PAPER_5, Kernel.paper())
    rows = Problem(sample(process, 5_000, rng=16), process.kernel)
    problem, order = shuffle(rows, np.random.default_rng(17))
    trial = run_peer(peer_named(key, UNORDERED), [problem], rows, module="kgmi.bench.graphs")
    assert trial.trouble is None
    assert score_without_order(put_back(trial.answers[0].edges, order), PAPER_5).f1_skeleton > 0.5
