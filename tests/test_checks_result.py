"""The model check of a result: in Python, in records, on the command line and in the estimator."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest

import kgmi
from kgmi.checks import QUESTIONS, checks_from, checks_to_dicts
from kgmi.errors import RecordError
from kgmi.learning import inputs
from tests.commands import run_kgmi
from tests.records import edit

OLD_RECORD = Path(__file__).parent / "record_version_1"
PROCESS = kgmi.Process(kgmi.Dag.paper(), kgmi.Kernel.paper())
ROWS = kgmi.sample(PROCESS, 600, rng=61)


@pytest.fixture(scope="module")
def learned():
    return kgmi.learn(ROWS, n_parents=2)


@pytest.fixture(scope="module")
def one_parent():
    """A result in which K is too small."""
    return kgmi.learn(ROWS, n_parents=1)


def test_three_checks_with_numbers_and_sentences(learned, one_parent):
    assert [check.name for check in learned.checks] == list(QUESTIONS)
    for check in learned.checks:
        assert check.passed is True
        assert 0.01 <= check.p_value <= 1
        assert str(check) == f"{check.question} {check.sentence}"
    assert learned.checks is learned.checks  # made once
    found = one_parent.checks[1]
    assert found.passed is False
    assert {finding.node for finding in found.findings} <= set(one_parent.names)


def test_checks_survive_copies_and_records(one_parent, tmp_path):
    assert copy.deepcopy(one_parent).checks == one_parent.checks
    kgmi.save(one_parent, tmp_path / "out")
    assert kgmi.load(tmp_path / "out").checks == one_parent.checks
    assert checks_from(json.loads(json.dumps(checks_to_dicts(one_parent.checks)))) == one_parent.checks


def test_records_of_earlier_versions_have_none(learned, tmp_path):
    assert kgmi.load(OLD_RECORD).checks == ()
    kgmi.save(learned, tmp_path / "out")
    edit(tmp_path / "out", lambda content: content.pop("checks"))
    assert kgmi.load(tmp_path / "out").checks == ()


@pytest.mark.parametrize(
    "harm",
    [
        {"name": "colours"},
        {"passed": "yes"},
        {"p_value": "small"},
        {"findings": 3},
        {"findings": [{"node": "X1"}]},
    ],
)
def test_checks_that_are_none_are_refused(learned, tmp_path, harm):
    kgmi.save(learned, tmp_path / "out")
    edit(tmp_path / "out", lambda content: content["checks"][0].update(harm))
    with pytest.raises(RecordError):
        kgmi.load(tmp_path / "out")


def test_large_tables_are_checked_before_they_are_forgotten(monkeypatch):
    lazy = kgmi.learn(ROWS, n_parents=2)
    monkeypatch.setattr(inputs, "_SMALL", 100)
    assert kgmi.learn(ROWS, n_parents=2).checks == lazy.checks


def test_exact_laws_and_counts_are_not_checked():
    small = kgmi.Process(kgmi.Dag.paper(5), PROCESS.kernel)
    for check in kgmi.learn(small).checks:
        assert (check.passed, check.sentence) == (None, "Not checked: an exact law has no sampling error.")
    counts = kgmi.count_pairs(ROWS, 3)
    for check in kgmi.learn(counts, kernel=PROCESS.kernel).checks:
        assert (check.passed, check.sentence) == (None, "Not checked: it takes rows, not counts of pairs.")


def test_windows_overlap():
    sequence = np.cumsum(np.random.default_rng(62).integers(0, 2, 400)) % 3
    kernels, parents, rows = kgmi.learn(sequence, windows=4, n_parents=1).checks
    assert kernels.passed is None  # one position has one kernel
    assert parents.passed is True
    assert rows.sentence.startswith("Not checked: windows of one sequence overlap")


def test_each_class_is_looked_at_by_itself():
    rng = np.random.default_rng(65)
    two = [kgmi.Process(kgmi.Dag.paper(), kgmi.Kernel.random(3, 2, rng=rng)) for _ in range(2)]
    rows = np.hstack([kgmi.sample(process, 800, rng=rng) for process in two])
    check = kgmi.learn(rows, n_parents=2, share="classes").checks[0]
    assert check.passed is True
    assert "16 nodes that share one of 2 kernels look alike" in check.sentence
    assert kgmi.learn(rows, n_parents=2, share="shared").checks[0].passed is False


def test_kernels_for_each_node_have_nothing_to_share():
    node = kgmi.learn(ROWS, n_parents=2, share="node").checks[0]
    assert (node.passed, node.sentence) == (
        None,
        "Every node has a kernel of its own: there is nothing to compare.",
    )


@pytest.mark.parametrize("guide", ["likelihood", "stationary"])
def test_known_kernels_are_compared_with_the_nodes(guide):
    process = kgmi.Process(kgmi.Dag.paper(5), PROCESS.kernel)
    rows = kgmi.sample(process, 5_000, rng=63)
    right = kgmi.learn(rows, kernel=process.kernel, guide=guide).checks[0]
    assert right.passed is True
    assert "nodes that have parents follow the known kernel" in right.sentence
    other = kgmi.Kernel.paper([0.1, 0.1, 0, 0.1, 0, 0, 0.1, 0, 0])
    assert kgmi.learn(rows, kernel=other, guide=guide).checks[0].passed is False


def test_the_estimator_shows_them(learned):
    model = kgmi.KGMI(n_parents=2).fit(ROWS)
    assert [check.passed for check in model.checks_] == [True] * 3
    assert [check.p_value for check in model.checks_] == [check.p_value for check in learned.checks]


def test_a_learned_order_asks_only_those_that_come_before():
    shuffled = ROWS[:, np.random.default_rng(64).permutation(10)]
    assert kgmi.learn(shuffled, n_parents=2, order="learn").checks[1].passed is True


def test_the_command_line_shows_them(tmp_path):
    table = tmp_path / "rows.csv"
    names = ",".join(f"X{n + 1}" for n in range(10))
    np.savetxt(table, ROWS, fmt="%d", delimiter=",", header=names, comments="")
    code, out, _ = run_kgmi("learn", str(table), "--parents", "1", "--out", str(tmp_path / "out"))
    assert code == 0
    assert "Model check:\n  Is one kernel enough? " in out
    assert "Allow --parents 2." in " ".join(out.split())
    code, shown, _ = run_kgmi("show", str(tmp_path / "out"))
    assert code == 0
    assert shown.partition("Model check:")[2].split()[:40] == out.partition("Model check:")[2].split()[:40]
    code, plain, _ = run_kgmi("show", str(tmp_path / "out"), "--json")
    assert code == 0
    checks = json.loads(plain)["checks"]
    assert [check["name"] for check in checks] == list(QUESTIONS)
    assert checks[1]["passed"] is False
    assert checks[1]["findings"][0]["nats"] > 0
    code, old, _ = run_kgmi("show", str(OLD_RECORD))
    assert code == 0
    assert "Model check" not in old
