"""``learn`` with ``order='learn'``: columns in any order, and how sure each direction is."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kgmi import KGMI, Dag, Kernel, Process, learn, load, sample, save
from kgmi.counts.bits import count_pairs
from kgmi.errors import SettingError
from kgmi.learning.status import sentences
from kgmi.metrics import compare

from .commands import expect_refused, run_kgmi
from .search_drills import paper_kernel

NAMES = [f"n{node + 1}" for node in range(10)]


def shuffled(process, n_rows, seed):
    """Rows with their columns in any order, and which node each column is."""
    columns = np.random.default_rng([seed, 1]).permutation(process.n_nodes)
    return sample(process, n_rows, rng=seed)[:, columns], columns


def against(learned, columns, dag):
    return compare(learned.dag, dag, columns)


@pytest.mark.parametrize("seed", [7401, 7402, 7403])
def test_the_shuffled_papers_graph_directions_included(seed):
    process = Process(Dag.paper(), paper_kernel(np.random.default_rng(seed)))
    rows, columns = shuffled(process, 1_000, seed)
    learned = learn(rows, names=[NAMES[column] for column in columns], order="learn")
    assert against(learned, columns, process.dag).exact
    assert learned.parents["n10"] in (("n1", "n7"), ("n7", "n1"))
    assert learned.configuration["order"] == "learn"
    assert set(learned.directions) == {(edge["parent"], edge["child"]) for edge in learned.edges}
    assert min(learned.directions.values()) > 3
    assert (
        learned.edges[0]["direction"] == learned.directions[learned.edges[0]["parent"], learned.edges[0]["child"]]
    )
    assert "The order was learned: " in learned.status
    assert "The edge that is turned most easily is " in learned.status


def test_two_shuffled_copies():
    process = Process(Dag.paper().copies(2), paper_kernel(np.random.default_rng(7411)))
    rows, columns = shuffled(process, 1_000, 7411)
    assert against(learn(rows, order="learn"), columns, process.dag).f1 >= 0.98


def test_with_the_kernel_known_and_from_the_population():
    process = Process(Dag.paper(5), Kernel.paper())
    rows, columns = shuffled(process, 2_000, 7421)
    learned = learn(rows, order="learn", kernel=process.kernel)
    assert against(learned, columns, process.dag).exact
    assert "The known kernel does not fit" not in learned.status
    exact = learn(process, order="learn")
    assert compare(exact.dag, process.dag).exact
    assert exact.joint is None


def test_a_chain_that_looks_the_same_backwards_has_no_direction():
    process = Process(Dag([(), (0,), (1,), (2,)]), Kernel([[0.8, 0.2], [0.3, 0.7]]))
    rows, columns = shuffled(process, 2_000, 7431)
    learned = learn(rows, n_parents=1, order="learn")
    links = {frozenset((int(columns[j]), int(columns[i]))) for j, i in learned.dag.edges}
    assert links == {frozenset(pair) for pair in ((0, 1), (1, 2), (2, 3))}
    assert max(learned.directions.values()) < 3
    assert "The data hardly direct 3 of 3 edges" in learned.status
    assert all(sentence.endswith(".") for sentence in sentences(learned.status))


def test_without_sharing_only_the_class_of_graphs_is_directed():
    rng = np.random.default_rng(7441)
    rows = np.empty((3_000, 3), dtype=np.int8)
    rows[:, 0] = rng.integers(0, 2, 3_000)
    rows[:, 1] = rows[:, 0] ^ (rng.random(3_000) < 0.2)
    rows[:, 2] = rows[:, 1] ^ (rng.random(3_000) < 0.3)
    learned = learn(rows, order="learn", share="node")
    assert learned.dag.n_edges == 2
    assert max(learned.directions.values()) < 3
    collider = rows.copy()
    collider[:, 1] = rng.integers(0, 2, 3_000)
    collider[:, 2] = np.where(rng.random(3_000) < 0.1, rng.integers(0, 2, 3_000), rows[:, 0] & collider[:, 1])
    learned = learn(collider, names=["a", "b", "c"], order="learn", share="node")
    assert set(learned.directions) == {("a", "c"), ("b", "c")}
    assert min(learned.directions.values()) > 3


def test_tiers_leave_the_order_inside_each_open():
    process = Process(Dag.paper(), paper_kernel(np.random.default_rng(7451)))
    rows, columns = shuffled(process, 400, 7451)
    tier = {int(place): int(node >= 5) for place, node in enumerate(columns)}
    learned = learn(rows, order="learn", tiers=tier)
    assert against(learned, columns, process.dag).f1 > 0.9
    tiers = [tier[column] for column in learned.order]
    assert tiers == sorted(tiers)
    across = [(j, i) for j, i in learned.dag.edges if tier[j] < tier[i]]
    sure = {(edge["parent"], edge["child"]): edge["direction"] for edge in learned.edges}
    assert all(sure[learned.names[j], learned.names[i]] == np.inf for j, i in across)
    assert "2 tiers" in learned.status


def test_required_and_forbidden_edges_hold():
    process = Process(Dag.paper(5), Kernel.paper())
    rows, _ = shuffled(process, 500, 7461)
    free = learn(rows, order="learn")
    parent, child = next(iter(free.directions))
    turned = learn(rows, order="learn", required=[(child, parent)])
    assert child in turned.parents[parent]
    without = learn(rows, order="learn", forbidden=[(parent, child), (child, parent)])
    assert parent not in without.parents[child]
    assert child not in without.parents[parent]
    assert turned.fit.score < free.fit.score
    assert turned.directions[child, parent] == np.inf
    assert "The order was learned" in turned.status
    roots = learn(rows, order="learn", roots=[0, 1])
    assert {name for name, ps in roots.parents.items() if not ps} == {"X1", "X2"}
    assert "The order was learned" in roots.status


def test_required_edges_among_many_nodes():
    process = Process(Dag.paper().copies(2), Kernel.paper())
    rows, columns = shuffled(process, 300, 7465)
    place = np.argsort(columns).tolist()
    needed = [(place[0], place[2]), (place[12], place[13])]
    learned = learn(rows, order="learn", required=needed)
    assert {*learned.dag.edges} >= {*needed}


def test_the_order_of_the_columns_does_not_matter():
    rows = sample(Process(Dag.paper(), Kernel.paper()), 1_000, rng=7466)
    columns = np.random.default_rng(7466).permutation(10)
    one, other = learn(rows, names=NAMES, order="learn"), learn(rows[:, columns], order="learn")
    assert one.fit.score == pytest.approx(other.fit.score)
    named = {(NAMES[columns[j]], NAMES[columns[i]]) for j, i in other.dag.edges}
    assert named == set(one.directions)


def test_gaps_and_several_alphabets():
    rng = np.random.default_rng(7471)
    rows, columns = shuffled(Process(Dag.paper(), Kernel.paper()), 3_000, 7471)
    rows = rows.copy()
    rows[rng.random(rows.shape) < 0.05] = -1
    learned = learn(rows, order="learn", missing="pairwise")
    assert against(learned, columns, Dag.paper()).f1 > 0.9
    first = rng.integers(0, 3, 2_000)
    second = rng.integers(0, 2, 2_000)
    third = (first + second + (rng.random(2_000) < 0.1)) % 4
    own = learn(np.stack([third, second, first], axis=1), alphabet="own", order="learn")
    assert set(own.parents["X1"]) == {"X2", "X3"}


def test_an_order_may_be_given_as_a_list():
    process = Process(Dag.paper(5), Kernel.paper())
    rows, columns = shuffled(process, 2_000, 7481)
    places = np.argsort(columns).tolist()
    learned = learn(rows, order=places)
    assert learned.order == tuple(places)
    assert against(learned, columns, process.dag).exact
    assert learned.directions is None
    assert learned.configuration["order"] == "given"
    assert learned.configuration["candidates"]["order"] == places
    named = learn(rows, names=list("abcde"), order=["abcde"[place] for place in places])
    assert named.dag == learned.dag


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 5}, "order must be given, learn, or the columns in their order; got 5"),
        ({"order": "learn", "roots": []}, "no order was found in which"),
        ({"order": "learn", "roots": [0], "in_degree": "uniform"}, "no order was found in which"),
        ({"order": "learn", "roots": [0], "kernel": Kernel.paper()}, "no order was found in which"),
        ({"order": "sideways"}, "order must be given, learn, or the columns in their order"),
        ({"order": [0, 1, 2, 3]}, "must have every column once; missing or twice: 'X5'"),
        ({"order": [0, 1, 2, 3, 3]}, "missing or twice: 'X4', 'X5'"),
        (
            {"order": [4, 3, 2, 1, 0], "tiers": [0, 0, 0, 1, 1]},
            "order has 'X4', 'X3' in turn, and tiers the other way round",
        ),
        ({"order": [4, 3, 2, 1, 0], "required": [(0, 1)]}, "goes against the order"),
        ({"order": "learn", "max_lag": 2}, "max_lag counts columns back"),
        ({"order": "learn", "guide": "contextual"}, "goes with the guide 'likelihood'"),
        ({"order": "learn", "guide": "plain"}, "needs an order"),
        ({"order": "learn", "required": [(0, 1), (1, 2), (2, 0)]}, "go round in a circle"),
        ({"order": "learn", "tiers": [0, 0, 0, 1, 1], "required": [(4, 0)]}, "goes against the tiers"),
        ({"order": "learn", "search": "lists"}, "search does nothing here"),
    ],
)
def test_orders_that_make_no_sense_are_refused(options, message):
    rows = sample(Process(Dag.paper(5), Kernel.paper()), 100, rng=7491)
    with pytest.raises(SettingError, match=message):
        learn(rows, **options)


def test_what_has_an_order_already_is_refused():
    rows = sample(Process(Dag.paper(5), Kernel.paper()), 100, rng=7492)
    with pytest.raises(SettingError, match="needs the rows"):
        learn(count_pairs(rows), order="learn", kernel=Kernel.paper(), guide="contextual")
    for order in ("learn", [1, 0, 2]):
        with pytest.raises(SettingError, match="windows of a sequence have an order"):
            learn(rows[:, 0], windows=3, order=order)


def test_a_record_keeps_the_directions(tmp_path):
    process = Process(Dag.paper(5), Kernel.paper())
    rows, _ = shuffled(process, 500, 7501)
    learned = learn(rows, order="learn", tiers=[0, 0, 1, 1, 1])
    save(learned, tmp_path)
    loaded = load(tmp_path)
    assert loaded.directions == learned.directions
    assert loaded.order == learned.order
    assert loaded.status == learned.status
    content = json.loads((tmp_path / "record.json").read_text())
    assert len(content["directions"]) == learned.dag.n_edges


def test_the_estimator_learns_an_order():
    process = Process(Dag.paper(5), Kernel.paper())
    rows, columns = shuffled(process, 2_000, 7511)
    model = KGMI(order="learn").fit(rows)
    edges = {(int(columns[j]), int(columns[i])) for j, i in np.argwhere(model.adjacency_matrix_)}
    assert edges == set(process.dag.edges)
    assert model.score(rows) > model.score(np.random.default_rng(1).permuted(rows, axis=0))


def test_the_command_learns_an_order(tmp_path):
    process = Process(Dag.paper(5), Kernel.paper())
    rows, columns = shuffled(process, 1_000, 7521)
    table = tmp_path / "table.csv"
    names = [NAMES[column] for column in columns]
    table.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows.tolist())]) + "\n")
    learning = ("learn", str(table), "--json", "--order")
    content = json.loads(run_kgmi(*learning, "learn", "--out", str(tmp_path / "out"))[1])
    assert {(edge["parent"], edge["child"]) for edge in content["edges"]} == {
        (NAMES[j], NAMES[i]) for j, i in process.dag.edges
    }
    assert all(edge["direction"] > 3 for edge in content["edges"])
    header = (tmp_path / "out" / "edges.csv").read_text().partition("\n")[0]
    assert header == "parent,child,head,attention,margin,direction,strength"
    places = ",".join(names[place] for place in np.argsort(columns))
    listed = json.loads(run_kgmi(*learning, places)[1])
    both = [{child: sorted(parents) for child, parents in one["parents"].items()} for one in (listed, content)]
    assert both[0] == both[1]
    for name in ("graph.json", "graph.dot"):
        again = json.loads(run_kgmi(*learning, "learn", "--truth", str(tmp_path / "out" / name))[1])
        assert again["comparison"]["f1"] == 1.0
    expect_refused(2, *learning, "n1,n2", says=["must have every column once"])
