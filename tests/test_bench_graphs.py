"""Graphs with a shared kernel: what is drawn from a seed, who learns them, and what is reported."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kgmi import Dag, Kernel
from kgmi.bench import Plan
from kgmi.bench.graphs import METHODS, Setting, choose_methods, compare_graphs
from kgmi.bench.graphs.ours import OURS
from kgmi.bench.graphs.report import describe, outcome_lines, plain_values
from kgmi.bench.libraries import ORDERED
from kgmi.bench.peer import Given
from kgmi.bench.report import trouble_lines
from kgmi.errors import SettingError
from tests.graph_drills import FIRST_STATE, LAW, ONE_EDGE, RIGHT

# What is drawn


def test_the_paper_kernels_have_random_tunables():
    processes = Setting("paper", "paper", 20).draw(7)
    tables = [process.kernel.table for process in processes]
    assert all(process.dag == Dag.paper() for process in processes)
    assert min(table.min() for table in tables) >= 0.02
    away = np.array([np.abs(table - Kernel.paper().table).max() for table in tables])
    assert (away <= 0.3).all()
    assert (away > 0.05).all()
    assert len({table.tobytes() for table in tables}) == 20


def test_a_seed_always_gives_the_same_graphs_kernels_and_rows():
    few, many = Setting("random:8,2", "random:4,2", 2), Setting("random:8,2", "random:4,2", 3)
    assert few.draw(3) == many.draw(3)[:2]
    assert few.draw(3) != few.draw(4)
    first, second = few.draw(3)
    assert first.dag != second.dag
    assert first.kernel.table.shape == (4, 4, 4)
    small, large = few.sample(3, 30), few.sample(3, 50)
    for (process, rows), (_, more) in zip(small, large, strict=True):
        assert process in (first, second)
        assert rows.shape == (30, 8)
        assert np.array_equal(rows, more[:30])
    assert not np.array_equal(small[0][1], small[1][1])


def test_roots_that_start_a_component_are_drawn_jointly():
    (process, rows), *_ = Setting("paper", "paper", 1).sample(5, 20_000)
    counts = np.zeros((3, 3))
    np.add.at(counts, (rows[:, 0], rows[:, 1]), 1)
    assert np.abs(counts / len(rows) - process.kernel.stationary).max() < 0.015


def test_the_kernels_that_are_always_the_same():
    xor = Setting("random:15,2", "xor", 1).draw(0)[0].kernel.table
    assert xor[..., 1] == pytest.approx(np.array([[0.1, 0.9], [0.9, 0.1]]))
    assert Setting("mixed", "mendelian", 1).draw(0)[0].kernel == Kernel.mendelian()
    assert [process.kernel for process in Setting("paper", "paper:0", 2).draw(6)] == [Kernel.paper()] * 2


def test_copies_have_roots_of_their_own():
    process = Setting("copies:3", "paper", 1).draw(7)[0]
    assert process.dag == Dag.paper().copies(3)
    assert process.dag.root_blocks == ((0, 1), (10, 11), (20, 21))


@pytest.mark.parametrize(
    ("graph", "kernel", "n_kernels", "says"),
    [
        (
            "papers",
            "paper",
            1,
            "'papers' is not a graph .* use paper, paper5, mixed, copies:N or random:T,K",
        ),
        (
            "paper",
            "papers",
            1,
            "'papers' is not a kernel .* use paper, paper:0, random:S,K, mendelian or xor",
        ),
        ("random:10", "paper", 1, "'random:10' should be written random:T,K"),
        ("random:10,2,1", "paper", 1, "should be written random:T,K"),
        ("random:2,2", "paper", 1, "'random:2,2' needs .* more than K nodes"),
        ("random:5,0", "paper", 1, "needs K of at least 1"),
        ("paper", "random:x,2", 1, "should be written random:S,K"),
        ("paper", "random:1,2", 1, "at least 2 states"),
        ("random:10,3", "paper", 1, "up to 3 parents, but the kernel 'paper' takes 2"),
        ("paper", "random:3,3", 1, "up to 2 parents, but the kernel 'random:3,3' takes 3"),
        ("copies:two", "paper", 1, "'copies:two' should be written copies:N with a whole number"),
        ("copies:0", "paper", 1, "'copies:0' needs at least one copy"),
        ("paper", "paper", 0, "number of kernels must be at least 1, got 0"),
    ],
)
def test_settings_that_make_no_sense(graph, kernel, n_kernels, says):
    with pytest.raises(SettingError, match=says):
        Setting(graph, kernel, n_kernels)


# Methods


def test_choosing_methods():
    usual = ["kgmi", "kgmi-known", "kgmi-contextual", "kgmi-stationary", "kgmi-node"]
    assert [method.key for method in choose_methods("paper", "usual", "none")] == usual
    for_xor = [method.key for method in choose_methods("xor", "usual", "pyagrum-k2")]
    assert for_xor == ["kgmi", "kgmi-exhaustive", "kgmi-lists", "pyagrum-k2"]
    assert choose_methods("paper", "all", "all") == (*OURS, *ORDERED)
    assert set(METHODS) >= {*OURS, *ORDERED}
    assert [method.key for method in choose_methods("xor", "kgmi-node, kgmi", "none")] == ["kgmi", "kgmi-node"]
    with pytest.raises(SettingError, match="no peer 'kgmj'; choose from kgmi, kgmi-known"):
        choose_methods("paper", "kgmj", "none")
    keys = [method.key for method in METHODS]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("method", OURS, ids=[method.key for method in OURS])
def test_our_methods_find_a_small_graph(method):
    setting = Setting("paper5", "paper", 1)
    process, rows = setting.sample(2, 6_000)[0]
    given = Given((3,) * 5, 2, process.kernel)
    edges = set(method.read(method.fit(method.prepare(rows, given), given)).directed)
    assert edges - {(0, 1)} == set(process.dag.edges)  # the roots are drawn jointly


@pytest.mark.parametrize("method", OURS, ids=[method.key for method in OURS])
def test_too_few_columns_that_vary_have_no_edges(method):
    rows = np.zeros((40, 4), dtype=np.int8)
    rows[:, 1] = np.arange(40) % 3
    given = Given((3,) * 4, 2, Kernel.paper())
    assert method.read(method.fit(method.prepare(rows, given), given)).directed == ()


# Comparisons


@pytest.fixture
def comparison(monkeypatch):
    """Outcomes of the drills, in processes that must find this folder."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))

    def compare(setting, *methods, rows=(4,), seeds=(1, 2), tell=None):
        plan = Plan(rows=rows, seeds=seeds, methods=methods)
        return plan, compare_graphs(setting, plan, tell=tell, module="tests.graph_drills")

    return compare


def test_methods_are_compared_on_every_kernel_of_every_seed(comparison):
    setting, steps = Setting("paper5", "paper", 3), []
    plan, outcomes = comparison(setting, RIGHT, ONE_EDGE, tell=lambda done, total: steps.append((done, total)))
    assert steps == [(0, 2), (1, 2)]
    right, one_edge = outcomes
    assert right.seeds == one_edge.seeds == (1, 1, 1, 2, 2, 2)
    assert right.n_samples == 6
    assert [score.shd for score in right.scores] == [0] * 6  # the edge between the roots is counted apart
    assert [score.f1 for score in one_edge.scores] == [pytest.approx(2 / 7)] * 6  # 1 of 1, out of 6
    assert [line[:2] + line[3:6] for line in outcome_lines(outcomes)] == [
        ["4", "right", "6 of 6", "100 %", "1.000"],
        ["4", "one-edge", "0 of 6", "0 %", "0.286"],
    ]
    assert trouble_lines(outcomes) == []
    text = describe(setting, plan)
    assert text.startswith(
        "paper5 graph, paper kernel: 5 nodes with 3 states, at most 2 parents; 6 samples of each"
    )
    assert "3 from each seed (1, 2)" in text


def test_every_sample_is_scored_by_itself(comparison):
    setting = Setting("paper5", "paper", 4)
    plan, (outcome,) = comparison(setting, FIRST_STATE, rows=(2,), seeds=(8, 9))
    begins = [rows[0, 0] for seed in (8, 9) for _, rows in setting.sample(seed, 2)]
    assert 0 in begins
    assert set(begins) != {0}
    assert [score.shd for score in outcome.scores] == [int(state == 0) for state in begins]
    content = json.loads(json.dumps(plain_values(setting, plan, [outcome])))
    assert content["outcomes"][0]["n_right"] == sum(state != 0 for state in begins)
    assert content["outcomes"][0]["share_right"] == pytest.approx(np.mean([state != 0 for state in begins]))
    assert [process["seed"] for process in content["processes"]] == [8] * 4 + [9] * 4
    second = setting.draw(8)[1]
    assert content["processes"][1]["kernel"] == second.kernel.table.tolist()
    assert Dag.from_dict(content["processes"][1]) == second.dag


def test_the_law_of_the_parents_travels_with_the_kernel(comparison):
    _, (outcome,) = comparison(Setting("random:6,2", "mendelian", 1), LAW, seeds=(1,))
    assert outcome.trouble is None
    assert outcome.seeds == (1,)


def test_failures_are_reported_as_such(comparison):
    setting = Setting("random:6,2", "paper", 1)
    plan, outcomes = comparison(setting, RIGHT, seeds=(1,))  # it insists on five columns
    assert outcome_lines(outcomes)[0][3:] == ["–"] * 4
    assert len(trouble_lines(outcomes)) == 1
    assert trouble_lines(outcomes)[0].startswith("right at 4 rows, 0 of 1 samples answered: failed: AssertionError")
    values = plain_values(setting, plan, outcomes)["outcomes"][0]
    assert (values["n_right"], values["share_right"], values["mean_f1"]) == (0, None, None)
