"""Methods on rows of a network: who they are, how they are compared, and what is reported."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kgmi.bench import Plan, Problem
from kgmi.bench.libraries import LIBRARIES, ORDERED
from kgmi.bench.networks import METHODS, Node, choose_methods, compare_methods, network_of, sample_network
from kgmi.bench.networks.compare import most_parents
from kgmi.bench.networks.ours import OURS
from kgmi.bench.networks.report import describe, outcome_lines, plain_values
from kgmi.bench.peer import Given
from kgmi.bench.report import missing_lines, trouble_lines
from kgmi.bench.worker import answer_file, given_file, work
from kgmi.errors import SettingError
from tests.network_drills import ABSENT, CHAIN, DRILLS, NETWORK, RAISES, SMALL

# Methods


def test_methods_are_ours_and_all_that_can_be_told_the_order():
    assert choose_methods("all") == (*OURS, *ORDERED)
    assert set(METHODS) >= {*OURS, *ORDERED}
    assert all(method.ordered for method in choose_methods("all"))
    assert set(ORDERED) >= {peer for peer in LIBRARIES if peer.ordered}
    keys = [method.key for method in METHODS]
    assert len(set(keys)) == len(keys)


def test_choosing_methods():
    assert choose_methods("none") == OURS
    chosen = [method.key for method in choose_methods("pyagrum-k2, pgmpy-hc")]
    assert chosen == [*(method.key for method in OURS), "pgmpy-hc", "pyagrum-k2"]
    with pytest.raises(SettingError, match=r"no peer 'bnlearn'; choose from .*pgmpy-hc"):
        choose_methods("pgmpy-hc,bnlearn")


def test_our_table_declares_the_states():
    rows = np.array([[0, 1, 0], [1, 0, 1]], dtype=np.int8)
    shared = OURS[0].prepare(rows, Given((3, 3, 3), 2)).table
    assert shared.states == ("0", "1", "2")
    assert shared.alphabets is None
    own = OURS[0].prepare(rows, Given((2, 4, 3), 2)).table
    assert own.alphabets == (("0", "1"), ("0", "1", "2", "3"), ("0", "1", "2"))


@pytest.mark.parametrize("method", OURS, ids=[method.key for method in OURS])
def test_columns_that_are_constant_have_no_edges(method):
    rows = np.zeros((400, 5), dtype=np.int8)
    rows[:, 1] = np.arange(400) % 3
    rows[:, 4] = (rows[:, 1] > 0) ^ (np.arange(400) % 20 == 0)
    given = Given((2, 3, 2, 4, 2), 2)
    kept = method.prepare(rows, given)
    assert kept.columns == (1, 4)
    assert kept.table.names == ("X2", "X5")
    assert kept.table.alphabets == (("0", "1", "2"), ("0", "1"))
    assert method.read(method.fit(kept, given)).directed == ((1, 4),)
    one_left = method.prepare(rows[:, :4], Given((2, 3, 2, 4), 2))
    assert method.read(method.fit(one_left, given)).directed == ()


@pytest.fixture
def folder(tmp_path):
    """The folder of a process, as :func:`kgmi.bench.run_peer` makes it for rows without a kernel."""
    given = json.dumps({"n_states": NETWORK.n_states, "n_parents": 2})
    for label in ("warm", 0):
        np.save(tmp_path / f"rows-{label}.npy", sample_network(NETWORK, 400, rng=6))
        given_file(tmp_path, label).write_text(given, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("key", [method.key for method in OURS])
def test_our_methods_work_in_the_process(folder, key):
    (folder / "task.json").write_text(json.dumps({"peer": key, "n_problems": 1, "most_repeats": 1}))
    work(folder, METHODS)
    answer = json.loads(answer_file(folder, 0).read_text(encoding="utf-8"))
    assert answer["repeats"] == 1
    assert all(parent < child for parent, child in answer["directed"])
    assert [1, 2] in answer["directed"]  # the sprinkler wets, whatever else


def test_a_quick_call_is_repeated_as_often_as_the_task_says(folder):
    (folder / "task.json").write_text(json.dumps({"peer": "chain", "n_problems": 1, "most_repeats": 3}))
    work(folder, DRILLS)
    answer = json.loads(answer_file(folder, 0).read_text(encoding="utf-8"))
    assert (answer["repeats"], answer["directed"]) == (3, [[0, 1], [1, 2]])


# Comparisons


@pytest.fixture
def comparison(monkeypatch):
    """Outcomes of the drills, in processes that must find this folder."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))

    def compare(*methods, rows=(5, 9), tell=None):
        plan = Plan(rows=rows, seeds=(1, 2), methods=methods)
        return plan, compare_methods(NETWORK, plan, tell=tell, module="tests.network_drills")

    return compare


def test_methods_are_compared(comparison):
    steps = []
    plan, outcomes = comparison(CHAIN, ABSENT, tell=lambda done, total: steps.append((done, total)))
    assert [(outcome.n_rows, outcome.method, outcome.trouble) for outcome in outcomes] == [
        (5, CHAIN, None),
        (9, CHAIN, None),
    ]
    assert steps == [(0, 2), (1, 2)]
    for outcome in outcomes:
        assert outcome.seeds == (1, 2)
        assert [score.f1 for score in outcome.scores] == [pytest.approx(0.8)] * 2  # 2 edges of 2, out of 3
        assert [score.shd for score in outcome.scores] == [1, 1]
        assert len(outcome.seconds) == len(outcome.prepare_seconds) == 2
    lines = outcome_lines(outcomes)
    assert lines[0][:2] == ["5", "chain"]
    assert lines[0][3:7] == ["0.800", "0.800..0.800", "1.0", "1..1"]
    assert trouble_lines(outcomes) == []
    assert missing_lines(plan) == [
        "kgmi-no-such-distribution is not installed, so not run: absent",
        "install what is missing: pip install 'kgmi[bench]'",
    ]


def test_failures_are_reported_as_such(comparison):
    plan, outcomes = comparison(RAISES, SMALL, rows=(5,))
    assert [line[3:] for line in outcome_lines(outcomes)] == [["–"] * 5] * 2
    assert trouble_lines(outcomes) == [
        "raises at 5 rows, 0 of 2 samples answered: failed: ValueError: this method fails on purpose",
        "small at 5 rows, 0 of 2 samples answered: not tried: made for at most 2 nodes",
    ]
    assert missing_lines(plan) == []


def test_everything_is_in_the_plain_values(comparison):
    plan, outcomes = comparison(CHAIN, RAISES, ABSENT, rows=(5,))
    content = plain_values([NETWORK], plan, outcomes)
    assert content["networks"] == [
        {
            "name": "sprinkler",
            "n_nodes": 3,
            "n_edges": 3,
            "n_roots": 1,
            "max_in_degree": 2,
            "most_parents": 2,
            "order": ["rain", "sprinkler", "wet"],
            "n_states": [3, 2, 2],
            "edges": [["rain", "sprinkler"], ["rain", "wet"], ["sprinkler", "wet"]],
        }
    ]
    assert [(method["key"], method["installed"]) for method in content["methods"]] == [
        ("chain", True),
        ("raises", True),
        ("absent", False),
    ]
    done, failed = content["outcomes"]
    assert done["seeds"] == [1, 2]
    assert done["f1"] == [pytest.approx(0.8)] * 2
    assert (done["mean_f1"], done["mean_shd"], done["trouble"]) == (pytest.approx(0.8), 1, None)
    assert done["median_seconds"] >= 0
    assert (failed["seeds"], failed["mean_f1"], failed["mean_shd"], failed["median_seconds"]) == (
        [],
        None,
        None,
        None,
    )


def test_a_network_in_words():
    text = describe(NETWORK)
    assert "sprinkler: 3 nodes with 2 to 3 states, 3 edges, 1 root; at most 2 parents per node" in text
    assert text.endswith("topological, nearest to that of the file (rain, sprinkler, wet).")
    many = network_of("x", [Node(f"v{n}", ("0", "1"), (), np.array([0.5, 0.5])) for n in range(9)])
    assert "9 nodes with 2 states, 0 edges, 9 roots; at most 1 parent per node" in describe(many)
    assert describe(many).endswith("(v0, v1, v2, v3, v4, v5, …).")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"rows": ()}, "rows must be different whole numbers from 1 on, got none"),
        ({"rows": (5, 0)}, "rows must be .* got 5, 0"),
        ({"rows": (5, 5)}, "rows must be different"),
        ({"seeds": (-1,)}, "seeds must be different whole numbers from 0 on"),
        ({"limit": 0.0}, "limit must be a positive number"),
        ({"limit": float("nan")}, "limit must be a positive number"),
    ],
)
def test_plans_that_make_no_sense(settings, says):
    with pytest.raises(SettingError, match=says):
        Plan(**({"rows": (5,), "seeds": (1,), "methods": ()} | settings))


def test_the_most_parents_may_be_said():
    assert most_parents(NETWORK) == 2
    assert most_parents(NETWORK, 4) == 4
    assert "at most 4 parents per node" in describe(NETWORK, 4)
    assert plain_values([NETWORK], Plan((5,), (1,), ()), (), 4)["networks"][0]["most_parents"] == 4
    with pytest.raises(SettingError, match="the most parents must be at least 1, got 0"):
        compare_methods(NETWORK, Plan((5,), (1,), ()), 0)


def test_a_problem_tells_its_sizes_with_or_without_a_kernel():
    with pytest.raises(SettingError, match="a kernel, or the states of each column"):
        Problem(np.zeros((2, 2), dtype=int), n_states=(2, 2))
    assert Problem(np.zeros((2, 2), dtype=int), n_states=(2, 2), n_parents=1).kernel is None
