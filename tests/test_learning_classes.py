"""Kernel classes from end to end: given or found, told in the status, kept in the record."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kgmi import KGMI, Kernel, Process, exact_joint, learn, load, save
from kgmi.candidates import Columns
from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.learning.classes import class_labels, read_classes
from kgmi.metrics import compare

from .commands import expect_refused, run_kgmi
from .search_drills import two_kernels


def slices(seed, n_rows, n_variables=6, n_slices=5):
    """Rows of a network in time slices: every variable follows its own kernel, the same in all slices."""
    rng = np.random.default_rng(seed)
    kernels = rng.dirichlet(np.ones(3), size=(n_variables, 3, 3))
    others = [int(rng.choice([v for v in range(n_variables) if v != one])) for one in range(n_variables)]
    rows = rng.integers(0, 3, (n_rows, n_variables * n_slices)).astype(np.int8)
    parents = [()] * n_variables
    for node in range(n_variables, n_variables * n_slices):
        variable, before = node % n_variables, node - node % n_variables - n_variables
        parents.append((before + variable, before + others[variable]))
        laws = kernels[variable][rows[:, parents[-1][0]], rows[:, parents[-1][1]]]
        rows[:, node] = (rng.random(n_rows)[:, None] > laws.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return rows, Dag(parents, [(node,) for node in range(n_variables)])


@pytest.mark.parametrize("seed", [8501, 8502])
def test_time_slices_find_their_kernels_and_need_no_more_rows(seed):
    rows, dag = slices(seed, 100)
    learned, alone = learn(rows, n_states=3), learn(rows, n_states=3, share="node")
    assert compare(learned.dag, dag).shd <= compare(alone.dag, dag).shd
    assert learned.fit.share == "classes"
    by_class: dict[str, set[int]] = {}
    for name, one in learned.classes.items():
        by_class.setdefault(one, set()).add(learned.names.index(name) % 6)
    assert len(by_class) == 6
    assert all(len(variables) == 1 for variables in by_class.values())


def test_what_is_said_of_classes():
    rows, _, labels = two_kernels(8401, 400)
    learned = learn(rows, n_states=3)
    members = {c: [f"X{n + 1}" for n in range(12) if labels[n] == c] for c in (0, 1)}
    for names in members.values():
        assert f": {', '.join(names)}" in learned.status
    assert "2 kernel classes (" in learned.status
    assert "Classes describe the data better than one kernel for all nodes of an in-degree, by " in learned.status
    assert "Classes, kernels and parents were chosen in turn for " in learned.status
    assert "One learned kernel" not in learned.status
    assert {one.class_name for one in learned.kernels} == {"1", "2"}
    assert set(learned.classes) == {f"X{n + 1}" for n in range(2, 12)}
    assert learned.kernel is None  # there are two of them
    assert learned.fit.score == learned.fit.classes_score
    assert learned.model.log_likelihood(rows).shape == (400,)


def test_nodes_with_a_kernel_to_themselves_are_named():
    rows, _, _ = two_kernels(8401, 600)
    rng = np.random.default_rng(8511)
    odd = (rows[:, 3] + 2 * rows[:, 5] + (rng.random(600) < 0.1)) % 3
    learned = learn(np.column_stack([rows, odd]), n_states=3)
    assert "with a kernel to itself: X13" in learned.status
    assert "2 kernel classes" in learned.status


def test_classes_that_are_given_are_kept_apart(tmp_path):
    rows, parents, labels = two_kernels(8402, 150)
    names = {f"X{node + 1}": "ab"[label] for node, label in enumerate(labels) if label >= 0}
    learned = learn(rows, n_states=3, classes=names)
    assert learned.classes == {name: names[name] for name in learned.classes}
    assert "2 kernel classes as given (" in learned.status
    assert learned.configuration["classes"] == names | {"X1": "rest", "X2": "rest"}
    assert learned.configuration["share"] == "shared"
    mixed = learn(rows, n_states=3, share="shared")
    assert compare(learned.dag, Dag(parents)).f1 > compare(mixed.dag, Dag(parents)).f1
    loaded = load(save(learned, tmp_path))
    assert loaded.classes == learned.classes
    assert loaded.fit == learned.fit
    assert [one.class_name for one in loaded.kernels] == [one.class_name for one in learned.kernels]


def test_a_class_may_have_kernels_of_several_in_degrees():
    rng = np.random.default_rng(8512)
    rows = rng.integers(0, 2, (500, 6)).astype(np.int8)
    for child, parents in ((2, (0,)), (3, (1,)), (4, (0, 1)), (5, (2, 3))):
        clean = rows[:, list(parents)].sum(axis=1) % 2
        rows[:, child] = np.where(rng.random(500) < 0.1, 1 - clean, clean)
    learned = learn(rows, n_states=2, classes=[["X3", "X5"], ["X4", "X6"]])
    assert sorted((one.class_name, one.n_parents) for one in learned.kernels) == [
        ("1", 1),
        ("1", 2),
        ("2", 1),
        ("2", 2),
    ]


def test_records_of_before_have_no_classes(tmp_path):
    rows, _, _ = two_kernels(8401, 200)
    path = save(learn(rows, n_states=3, share="node"), tmp_path)
    content = json.loads(path.read_text(encoding="utf-8"))
    for one in content["kernels"]:
        del one["class_name"]
    del content["fit"]["share"], content["fit"]["classes_score"]
    path.write_text(json.dumps(content), encoding="utf-8")
    loaded = load(path)
    assert loaded.classes == {}
    assert loaded.fit.share == "node"
    assert loaded.fit.classes_score is None


def test_the_estimator_takes_classes():
    rows, _, labels = two_kernels(8401, 300)
    model = KGMI(classes={f"x{node}": label for node, label in enumerate(labels)}).fit(rows)
    assert {name: int(one) for name, one in model.learned_.classes.items()} == {
        f"x{node}": label for node, label in enumerate(labels) if label >= 0
    }


FORMS = [
    ({"A": "x", 1: "x", "C": 2}, ["x", "x", "2", "rest"]),
    (["x", "y", "x", "y"], ["x", "y", "x", "y"]),
    (np.array([3, 3, 1, 1]), ["3", "3", "1", "1"]),
    ([["A", "D"], ["B"]], ["1", "2", "rest", "1"]),
    ({"A": "rest"}, ["rest", *["rest of the columns"] * 3]),
]


@pytest.mark.parametrize(("classes", "expected"), FORMS)
def test_classes_in_all_their_forms(classes, expected):
    found = read_classes(classes, Columns(4, list("ABCD")))
    assert list(found.values()) == expected
    labels = class_labels(found, "DCBA")
    assert [expected[::-1][n] == expected[::-1][0] for n in range(4)] == [label == labels[0] for label in labels]


BAD = [
    ({"Z": 1}, "there is no such column"),
    (["x"], "1 entries for 4 columns"),
    ([["A"], "B"], r"mixes groups with 'B'; a group of one is written \['B'\]"),
    ("AB", "classes must be"),
    (3, "classes must be"),
    ({}, "is empty"),
    ({"A": 1.5}, "got 1.5 for a class"),
    ({"A": True}, "got True for a class"),
    ([["A"], ["A"]], "'A' is in class 1 and again in class 2"),
]


@pytest.mark.parametrize(("classes", "says"), BAD)
def test_classes_that_cannot_be(classes, says):
    with pytest.raises(SettingError, match=says):
        read_classes(classes, Columns(4, list("ABCD")))


KNOWN = Kernel.paper()
IDLE = [
    ({"share": "node"}, "share='node' that no nodes do"),
    ({"share": "classes"}, "share='classes' that this is to be found"),
    ({"kernel": KNOWN}, "all nodes follow the known kernel"),
    ({"kernel": KNOWN, "guide": "stationary"}, "does not search"),
]


@pytest.mark.parametrize(("options", "says"), IDLE)
def test_classes_that_do_nothing_are_refused(options, says):
    rows, _, _ = two_kernels(8401, 60)
    with pytest.raises(SettingError, match=says):
        learn(rows, n_states=3, classes={"X3": "a"}, **options)


def test_classes_do_nothing_in_windows_and_for_statistics():
    with pytest.raises(SettingError, match="only the newest has parents"):
        learn(np.arange(300)[:, None] % 2, windows=4, classes={0: "a"})
    population = exact_joint(Process(Dag.paper(5), KNOWN))
    with pytest.raises(SettingError, match="classes does nothing here"):
        learn(population, kernel=KNOWN, guide="contextual", classes={0: "a"})


def test_the_command_line_takes_classes(tmp_path):
    rows, _, labels = two_kernels(8401, 300)
    table = tmp_path / "table.csv"
    header = ",".join(f"c{node}" for node in range(12))
    np.savetxt(table, rows, fmt="%d", delimiter=",", header=header, comments="")
    groups = [",".join(f"c{node}" for node in range(12) if labels[node] == one) for one in (0, 1)]
    code, out, _ = run_kgmi("learn", str(table), "--classes", "|".join(groups), "--json")
    assert code == 0
    told = {one["class_name"]: one["children"] for one in json.loads(out)["kernels"]}
    assert told == {str(n + 1): group.split(",") for n, group in enumerate(groups)}
    code, out, _ = run_kgmi("learn", str(table), "--share", "classes")
    assert code == 0
    assert "2 kernel classes (" in out
    assert "nodes of class 1 with 2 parents" in out
    expect_refused(2, "learn", str(table), "--classes", "c1,,c2", says=["--classes takes columns", "separated"])
    expect_refused(2, "learn", str(table), "--classes", "c1|nobody", says=["classes names 'nobody'"])
