"""The commands, end to end: good input."""

import json

import numpy as np
import pytest

import kgmi
from tests.commands import run_kgmi


@pytest.fixture(scope="module")
def rows_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    code, _, _ = run_kgmi("sample", "--rows", "20000", "--seed", "5", "--out", str(path))
    assert code == 0
    return path


def test_help_teaches_with_an_example():
    code, out, _ = run_kgmi("--help")
    assert code == 0
    assert "kgmi learn --example paper" in out
    for command in ("learn", "sample", "exact", "theory", "show"):
        code, out, _ = run_kgmi(command, "--help")
        assert code == 0
        assert f"Example: kgmi {command}" in out


def test_version():
    assert run_kgmi("--version") == (0, f"kgmi {kgmi.__version__}\n", "")


def test_learn_prints_the_graph_the_status_and_the_comparison(rows_file):
    code, out, err = run_kgmi("learn", str(rows_file), "--kernel", "paper", "--truth", "paper")
    assert (code, err) == (0, "")
    assert "X1, X2" in out
    assert "Converged after" in out
    assert "F1 1.000" in out
    assert "stationary parents" in out


def test_learn_json_has_the_same_graph_as_the_library(rows_file):
    code, out, _ = run_kgmi("learn", str(rows_file), "--kernel", "paper", "--truth", "paper", "--json")
    content = json.loads(out)
    expected = kgmi.learn(kgmi.read_table(rows_file, n_states=3), kernel=kgmi.Kernel.paper())
    assert code == 0
    assert content["parents"] == {name: list(parents) for name, parents in expected.parents.items()}
    assert content["comparison"]["shd"] == 0
    assert content["configuration"]["n_rows"] == 20000
    assert content["input"] == expected.fingerprint


def test_learn_writes_results_that_show_reads(rows_file, tmp_path):
    folder = tmp_path / "result"
    options = ("--kernel", "paper", "--guide", "stationary", "--solver", "limit", "--pictures")
    code, _, _ = run_kgmi("learn", str(rows_file), *options, "--out", str(folder))
    assert code == 0
    names = {path.name for path in folder.iterdir()}
    assert {"record.json", "graph.json", "graph.dot", "edges.csv", "attention.png", "graph.png"} <= names
    assert not [name for name in names if name.endswith(".part")]
    assert kgmi.Dag.from_dot((folder / "graph.dot").read_text()) == kgmi.load(folder).dag
    assert kgmi.Dag.from_dict(json.loads((folder / "graph.json").read_text())) == kgmi.load(folder).dag
    edges = (folder / "edges.csv").read_text().splitlines()
    assert edges[0] == "parent,child,head,attention,margin,strength"
    assert edges[1].startswith("X1,X3,1,1.000000,0.0")
    code, shown, _ = run_kgmi("show", str(folder))
    assert code == 0
    assert "16 edges among 10 nodes, from 20,000 rows" in shown
    code, shown, _ = run_kgmi("show", str(folder / "record.json"), "--json")
    assert json.loads(shown)["parents"]["X10"] == ["X1", "X7"]


def test_learn_without_a_kernel_says_what_it_did(rows_file):
    code, out, _ = run_kgmi("learn", str(rows_file), "--parents", "2", "--truth", "paper")
    assert code == 0
    assert "F1 1.000" in out
    assert "One learned kernel for the 8 nodes with 2 parents" in " ".join(out.split())
    code, out, _ = run_kgmi("learn", str(rows_file), "--parents", "2", "--guide", "plain")
    assert code == 0
    assert "collapse onto one" in out
    assert "No kernel was given" in out


def test_learn_reads_states_in_the_declared_order(tmp_path):
    rows = kgmi.sample(kgmi.Process(kgmi.Dag.paper(5), kgmi.Kernel.paper()), 30_000, rng=np.random.default_rng(1))
    words = np.array(["z", "y", "x"])[rows]
    path = tmp_path / "words.tsv"
    path.write_text("\n".join(["\t".join("abcde"), *("\t".join(row) for row in words)]))
    code, out, _ = run_kgmi(
        "learn", str(path), "--kernel", "paper", "--states", "z,y,x", "--truth", "paper5", "--json"
    )
    assert code == 0
    assert json.loads(out)["comparison"]["f1"] == 1.0
    assert json.loads(out)["parents"]["e"] == ["b", "d"]


def test_labelled_rows_travel_through_a_file(tmp_path):
    path = tmp_path / "labelled.npy"
    run_kgmi("sample", "--graph", "paper5", "--rows", "200000", "--labelled", "--out", str(path))
    code, out, _ = run_kgmi(
        "learn", str(path), "--guide", "labelled", "--parents", "2", "--truth", "paper5", "--json"
    )
    assert code == 0
    assert json.loads(out)["names"] == ["X1", "X2", "X3", "X4", "X5"]
    assert json.loads(out)["comparison"]["f1"] == 1.0


def test_sample_is_the_same_on_standard_output_and_in_every_file(tmp_path):
    arguments = ("sample", "--graph", "random:6,2,3", "--kernel", "random:2,2,9", "--rows", "50", "--seed", "4")
    _, out, _ = run_kgmi(*arguments)
    for ending in (".csv", ".tsv", ".npy"):
        run_kgmi(*arguments, "--out", str(tmp_path / f"rows{ending}"))
    assert (tmp_path / "rows.csv").read_text() == out
    assert (tmp_path / "rows.tsv").read_text() == out.replace(",", "\t")
    codes = kgmi.read_table(tmp_path / "rows.csv", n_states=2).codes
    assert np.array_equal(np.load(tmp_path / "rows.npy"), codes)


def test_exact_shows_population_laws_and_edges(tmp_path):
    code, out, _ = run_kgmi("exact", "--out", str(tmp_path / "joint.npy"))
    assert code == 0
    assert "0.2937, 0.3495, 0.3568" in out
    assert "16 of 16 true edges found" in out
    joint = np.load(tmp_path / "joint.npy")
    assert np.allclose(joint, kgmi.exact_joint(kgmi.Process(kgmi.Dag.paper(), kgmi.Kernel.paper())).joint)
    _, out, _ = run_kgmi("exact", "--divergence", "hellinger", "--json")
    assert json.loads(out)["comparison"]["recall"] == 0.5


@pytest.mark.parametrize(("command", "law"), [("exact", "marginal"), ("theory", "marginal_distance")])
def test_numbers_of_nodes_do_not_matter(command, law, tmp_path):
    numbers = [3, 8, 1, 0, 9, 2, 5, 7, 4, 6]
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(kgmi.Dag.paper().renumbered(numbers).to_dict()))
    here = json.loads(run_kgmi(command, "--json")[1])
    there = json.loads(run_kgmi(command, "--json", "--graph", str(path))[1])
    told = dict(zip(there["names"], there[law], strict=True))
    for number, value in zip(numbers, here[law], strict=True):
        assert told[f"X{number + 1}"] == pytest.approx(value, abs=1e-9)
    if command == "exact":
        assert there["comparison"]["f1"] == 1


def test_theory_reports_gaps_bounds_and_assumptions():
    code, out, _ = run_kgmi("theory", "--json")
    content = json.loads(out)
    assert code == 0
    assert content["numbers"]["information gap Δ"] == pytest.approx(0.0020038, rel=1e-4)
    assert [a["holds"] for a in content["assumptions"]] == [True, True, False, False]
    assert np.flatnonzero(np.array(content["marginal_distance"]) > 1e-9).tolist() == [3, 4, 5, 6, 7, 8, 9]
    code, out, _ = run_kgmi("theory", "--graph", "chain:8,2")
    assert code == 0
    assert "FAILS" not in out


def test_theory_works_where_there_is_no_unique_stationary_law_and_no_gap():
    code, out, _ = run_kgmi("theory", "--kernel", "mendelian", "--graph", "paper5")
    assert code == 0
    assert "12 of 27 entries are 0" in " ".join(out.split())


def test_pictures_of_an_earlier_result_do_not_stay_beside_a_new_one(tmp_path):
    folder = str(tmp_path / "result")
    options = ("learn", "--example", "paper", "--solver", "limit", "--out", folder)
    run_kgmi(*options, "--pictures")
    assert (tmp_path / "result" / "graph.png").exists()
    run_kgmi(*options)
    assert not list((tmp_path / "result").glob("*.png"))
    assert len(list((tmp_path / "result").glob("arrays-*.npz"))) == 1


def test_roots_can_be_told_and_undecided_nodes_are_shown(tmp_path):
    _, out, _ = run_kgmi("learn", "--example", "paper", "--solver", "limit", "--roots", "X1,X2,X9", "--json")
    assert json.loads(out)["parents"]["X9"] == []
    path = tmp_path / "twins.csv"
    lines = [f"{a},{a},{b}" for a, b in [(0, 0), (1, 1), (0, 0), (1, 0), (1, 1)] * 20]
    path.write_text("\n".join(["first,twin,child", *lines]))
    code, out, _ = run_kgmi("learn", str(path), "--guide", "plain")
    assert code == 0
    assert "(undecided)" in out
    assert "Undecided, though not independent of the earlier nodes: child." in " ".join(out.split())
    code, out, _ = run_kgmi("learn", str(path))
    assert code == 0
    assert "Identical columns: first, twin." in " ".join(out.split())


def test_sample_describes_what_it_wrote(tmp_path):
    path = str(tmp_path / "rows.csv")
    _, out, _ = run_kgmi("sample", "--graph", "paper5", "--rows", "7", "--seed", "3", "--out", path, "--json")
    assert json.loads(out) == {"file": path, "rows": 7, "names": ["X1", "X2", "X3", "X4", "X5"], "seed": 3}


def test_exact_finds_the_roots_of_copies_and_both_parents_of_a_symmetric_kernel():
    _, out, _ = run_kgmi("exact", "--copies", "3", "--json")
    assert json.loads(out)["comparison"]["shd"] == 0
    _, out, _ = run_kgmi("exact", "--kernel", "mendelian", "--graph", "chain:3,2", "--json")
    assert json.loads(out)["best"] == [[], [], [0, 1]]


def test_theory_of_a_late_root_has_its_bound():
    _, out, _ = run_kgmi("theory", "--copies", "2")
    assert "root bound at X12" in out


def test_exact_gives_the_expectation_of_the_labelled_estimator():
    code, out, _ = run_kgmi("exact", "--guide", "labelled", "--json")
    content = json.loads(out)
    assert code == 0
    assert content["comparison"]["shd"] == 0
    process = kgmi.Process(kgmi.Dag.paper(), kgmi.Kernel.paper())
    expected = kgmi.expected_labelled_scores(process)
    assert content["scores"][1][9][6] == pytest.approx(expected[1, 9, 6])
