"""``kgmi compare``: two results, or a result and a graph, by the names of the nodes."""

import json

import numpy as np
import pytest

import kgmi
from tests.commands import expect_refused, run_kgmi

NAMES = tuple(f"n{number}" for number in range(1, 11))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A result from many rows, one from few, and one with the columns in another order and one more."""
    folder = tmp_path_factory.mktemp("results")
    rows = kgmi.sample(kgmi.Process(kgmi.Dag.paper(10), kgmi.Kernel.paper()), 5_000, rng=71)
    noise = np.random.default_rng(8).integers(0, 3, len(rows))
    tiers = {name: number for number, name in enumerate(NAMES)}
    made = {
        "many": kgmi.learn(rows, n_parents=2, names=NAMES),
        "few": kgmi.learn(rows[:120], n_parents=2, names=NAMES),
        "moved": kgmi.learn(
            np.column_stack([rows[:, ::-1], noise]), names=(*NAMES[::-1], "more"), tiers=tiers | {"more": 20}
        ),
    }
    for name, learned in made.items():
        kgmi.save(learned, folder / name)
    return folder


def compared(*arguments):
    code, out, err = run_kgmi("compare", *map(str, arguments), "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def said(*arguments):
    code, out, err = run_kgmi("compare", *map(str, arguments))
    assert (code, err) == (0, "")
    return " ".join(out.split())


def test_a_result_and_the_true_graph(results):
    found = compared(results / "many", "paper")
    assert (found["f1"], found["shd"], len(found["common"])) == (1.0, 0, 16)
    assert "The same graph: 16 edges in both" in said(results / "many", "paper")


def test_edges_that_differ_come_with_what_both_say(results):
    found = compared(results / "few", results / "many")
    few, many = kgmi.load(results / "few"), kgmi.load(results / "many")
    expected = {(one["parent"], one["child"]) for one in few.edges} - {
        (e["parent"], e["child"]) for e in many.edges
    }
    assert {(one["parent"], one["child"]) for one in found["only_in_a"]} == expected != set()
    for one in found["only_in_a"]:
        assert one["a"]["there"]
        assert one["a"]["strength"] == few.trust.edges[one["parent"], one["child"]]
        assert not one["b"]["there"]
        assert one["b"]["margin"] is None or one["b"]["margin"] < 0
    result = kgmi.metrics.compare(few.dag, many.dag)
    assert (found["f1"], found["shd"]) == (result.f1, result.shd)
    assert found["settings"] == {"n_rows": {"a": 120, "b": 5_000}}
    assert found["same_rows"] is False
    text = said(results / "few", results / "many")
    assert "With A as found and B as the reference: F1" in text
    assert "ahead by" in text
    assert "behind by" in text


def test_the_order_of_the_columns_does_not_count_and_a_further_node_is_told(results):
    found = compared(results / "moved", results / "many")
    assert (found["f1"], found["shd"], found["nodes_only_in_a"]) == (1.0, 0, ["more"])
    assert found["kernels"]["largest_difference"] < 1e-9  # the same rows, whatever the order of the columns
    assert "Only A has the node more" in said(results / "moved", results / "many")
    assert "All settings are the same" in said(results / "many", results / "many")


def test_a_graph_with_an_edge_turned(results, tmp_path):
    true = kgmi.Dag.paper(10)
    edges = [(p, c) for p, c in true.edges if (p, c) != (0, 9)]
    parents = [[] for _ in range(11)]  # the last node first, so that it can be a parent
    for parent, child in edges:
        parents[child + 1].append(parent + 1)
    order = [9, *range(9)]
    moved = [[order.index(p - 1) for p in parents[node + 1]] for node in order]
    moved[0], moved[order.index(0)] = [], [0]  # X10 → X1, and no other parent of X10
    graph = {"names": [NAMES[node] for node in order], "parents": moved}
    (tmp_path / "turned.json").write_text(json.dumps(graph))
    found = compared(results / "many", tmp_path / "turned.json")
    assert [(one["parent"], one["child"]) for one in found["turned"]] == [("n1", "n10")]
    assert [(one["parent"], one["child"]) for one in found["only_in_a"]] == [("n7", "n10")]
    assert found["only_in_b"] == []
    assert found["shd"] == 2
    assert "1 the other way round" in said(results / "many", tmp_path / "turned.json")


def test_graphs_alone_can_be_compared(tmp_path):
    assert compared("paper", "paper")["shd"] == 0
    found = compared("chain:10,2", "paper")
    result = kgmi.metrics.compare(kgmi.Dag.chain(10, 2), kgmi.Dag.paper(10))
    assert (found["shd"], found["between_joint_roots_of_b"]) == (result.shd, len(result.apart))


def test_one_common_node_is_nothing_to_compare(results, tmp_path):
    graph = {"names": ["n1", "x", "y"], "parents": [[], [0], [1]]}
    (tmp_path / "other.json").write_text(json.dumps(graph))
    text = said(results / "many", tmp_path / "other.json")
    assert "Nothing to compare" in text
    assert "The same graph" not in text
    assert "F1" not in text


def test_kernels_that_are_the_same_and_how_rows_were_read(results, tmp_path):
    assert "Kernels of nodes with the same parents: the same in both." in said(results / "moved", results / "many")
    assert "no probability differs by more than 0." in said(results / "few", results / "many")
    (tmp_path / "gap.csv").write_text("a,b,c\n" + "0,0,1\n1,1,0\n,1,1\n" * 40)
    for missing in ("pairwise", "category"):
        out = str(tmp_path / missing)
        assert run_kgmi("learn", str(tmp_path / "gap.csv"), "--missing", missing, "--out", out)[0] == 0
    settings = compared(tmp_path / "pairwise", tmp_path / "category")["settings"]
    assert settings["missing"] == {"a": "pairwise", "b": "category"}
    assert not {"origin", "reading", "names"} & settings.keys()


def test_what_cannot_be_compared_is_refused(results, tmp_path):
    expect_refused(2, "compare", str(results / "many"), "paper5", says=["5 nodes without names", "10 nodes"])
    (tmp_path / "other.json").write_text('{"names": ["a", "b"], "parents": [[], [0]]}')
    expect_refused(2, "compare", str(results / "many"), str(tmp_path / "other.json"), says=["no node has the same"])
    expect_refused(2, "compare", "nowhere", "paper", says=["'nowhere' is not a graph", "--out wrote"])
    expect_refused(1, "compare", str(tmp_path), "paper", says=["no record at"])
