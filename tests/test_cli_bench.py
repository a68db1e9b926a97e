"""``kgmi bench``, end to end; network files are read by a stand-in, since the libraries are an extra."""

import json
import sys

import pytest

from kgmi.bench import networks
from kgmi.bench.exact import METHODS, try_methods
from tests.commands import expect_refused, run_kgmi
from tests.network_drills import NETWORK

FAILED, BAD_USAGE = 1, 2


@pytest.fixture
def small_network(monkeypatch):
    monkeypatch.setattr(networks, "read_bif", lambda path: NETWORK)


def refused(code, *arguments, says, command="networks"):
    expect_refused(code, "bench", command, *arguments, says=says)


def test_networks_for_people(small_network, tmp_path):
    arguments = ("--rows", "300", "--seeds", "1,2", "--peers", "none", "--out", str(tmp_path / "out"))
    code, out, err = run_kgmi("bench", "networks", "small.bif", *arguments)
    assert (code, err) == (0, "")
    assert "sprinkler: 3 nodes with 2 to 3 states, 3 edges" in out
    assert "(rain, sprinkler, wet)" in " ".join(out.split())
    line = next(line for line in out.splitlines() if line.split()[:2] == ["300", "kgmi"])
    assert "–" not in line
    assert out.endswith(f"wrote {tmp_path / 'out' / 'networks.json'}\n")
    content = json.loads((tmp_path / "out" / "networks.json").read_text(encoding="utf-8"))
    assert [outcome["method"] for outcome in content["outcomes"]] == ["kgmi", "kgmi-node"]
    for outcome in content["outcomes"]:
        assert outcome["network"] == "sprinkler"
        assert outcome["seeds"] == [1, 2]
        assert outcome["trouble"] is None


def test_networks_for_machines(small_network):
    arguments = ("--rows", "300", "--seeds", "7", "--peers", "none", "--parents", "1", "--json")
    code, out, err = run_kgmi("bench", "networks", "small.bif", *arguments)
    assert (code, err) == (0, "")
    content = json.loads(out)
    assert content["networks"][0]["order"] == ["rain", "sprinkler", "wet"]
    assert content["networks"][0]["most_parents"] == 1
    assert [(o["n_rows"], o["method"], len(o["f1"])) for o in content["outcomes"]] == [
        (300, "kgmi", 1),
        (300, "kgmi-node", 1),
    ]


def test_a_method_that_runs_out_of_time(small_network):
    arguments = ("--rows", "50", "--seeds", "1", "--peers", "none", "--limit", "0.01")
    code, out, _ = run_kgmi("bench", "networks", "small.bif", *arguments)
    assert code == 0
    words = " ".join(out.split())
    assert "kgmi at 50 rows, 0 of 1 samples answered: stopped after 0.01 s in the warm-up" in words


def test_libraries_that_are_missing_are_named(small_network, monkeypatch):
    monkeypatch.setattr("kgmi.bench.plan.installed", lambda peer: "1" if peer.library == "kgmi" else None)
    arguments = ("--rows", "100", "--seeds", "1", "--peers", "pgmpy-hc,pyagrum-k2,pyagrum-k2-bic")
    code, out, _ = run_kgmi("bench", "networks", "small.bif", *arguments)
    assert code == 0
    assert "pgmpy is not installed, so not run: pgmpy-hc\n" in out
    assert "pyAgrum is not installed, so not run: pyagrum-k2, pyagrum-k2-bic\n" in out
    assert "pip install 'kgmi[bench]'" in out


def test_without_the_extra(tmp_path, monkeypatch):
    for name in ("pyagrum", "pgmpy", "pgmpy.readwrite"):
        monkeypatch.setitem(sys.modules, name, None)
    path = tmp_path / "x.bif"
    path.write_text("network x {\n}\n")
    says = ["pyAgrum or pgmpy", "not installed", "extra pgm: pip install 'kgmi[pgm]'"]
    refused(BAD_USAGE, str(path), says=says)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("nowhere.bif",), FAILED, ["there is no file nowhere.bif"]),
        (("x.bif", "--rows", "0"), BAD_USAGE, ["rows must be", "from 1 on", "got 0"]),
        (("x.bif", "--rows", "-5"), BAD_USAGE, ["--rows takes whole numbers", "'-5'"]),
        (("x.bif", "--rows", "many"), BAD_USAGE, ["--rows takes whole numbers", "'many'"]),
        (("x.bif", "--rows", ""), BAD_USAGE, ["--rows takes whole numbers"]),
        (("x.bif", "--seeds", "1,,2"), BAD_USAGE, ["--seeds takes whole numbers"]),
        (("x.bif", "--seeds", "1,1"), BAD_USAGE, ["seeds must be different"]),
        (("x.bif", "--parents", "0"), BAD_USAGE, ["most parents", "at least 1"]),
        (("x.bif", "--limit", "0"), BAD_USAGE, ["limit", "positive"]),
        (("x.bif", "--peers", "bnlearn"), BAD_USAGE, ["no peer 'bnlearn'", "pyagrum-k2"]),
    ],
)
def test_bad_options(arguments, code, says):
    refused(code, *arguments, says=says)


def test_two_networks_of_one_name(small_network):
    refused(BAD_USAGE, "a.bif", "b.bif", says=["two of the files are called 'sprinkler'"])


def test_an_out_that_is_a_file(small_network, tmp_path):
    (tmp_path / "out").write_text("")
    refused(BAD_USAGE, "a.bif", "--out", str(tmp_path / "out"), says=["is a file"])


# Graphs


def test_graphs_for_people(tmp_path):
    arguments = (
        "--graph",
        "paper5",
        "--kernels",
        "2",
        "--rows",
        "400",
        "--seeds",
        "3",
        "--ours",
        "kgmi,kgmi-known",
    )
    out_folder = ("--out", str(tmp_path / "out"))
    code, out, err = run_kgmi("bench", "graphs", *arguments, "--peers", "none", *out_folder)
    assert (code, err) == (0, "")
    assert "paper5 graph, paper kernel: 5 nodes with 3 states" in out
    for key in ("kgmi", "kgmi-known"):
        line = next(line for line in out.splitlines() if line.split()[:2] == ["400", key])
        assert " of 2 " in line
    assert out.endswith(f"wrote {tmp_path / 'out' / 'graphs.json'}\n")
    content = json.loads((tmp_path / "out" / "graphs.json").read_text(encoding="utf-8"))
    assert [outcome["trouble"] for outcome in content["outcomes"]] == [None, None]
    assert len(content["processes"]) == 2


def test_graphs_with_xor_for_machines():
    arguments = ("--kernel", "xor", "--kernels", "1", "--rows", "400", "--seeds", "3", "--ours", "kgmi-exhaustive")
    code, out, err = run_kgmi("bench", "graphs", *arguments, "--peers", "none", "--json")
    assert (code, err) == (0, "")
    content = json.loads(out)
    assert (content["graph"], content["kernel"]) == ("random:15,2", "xor")
    assert content["outcomes"][0]["share_right"] == 1.0


def test_graphs_without_an_order():
    arguments = ("--graph", "paper5", "--kernel", "paper:0", "--kernels", "1", "--rows", "3000", "--seeds", "11")
    code, out, err = run_kgmi("bench", "graphs", *arguments, "--peers", "none", "--order", "learn")
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert "nobody is told an order" in words
    assert "counts half, which is what a coin would get" in words
    assert "F1 of skeleton" in words
    lines = {line.split()[1]: line.split() for line in out.splitlines() if line.split()[:1] == ["3,000"]}
    assert set(lines) == {"kgmi-order", "kgmi-order-node"}
    assert lines["kgmi-order"][4:10] == ["1", "of", "1", "100", "%", "1.000"]


def test_networks_without_an_order(small_network):
    arguments = ("--rows", "300", "--seeds", "11", "--peers", "none", "--order", "learn", "--json")
    code, out, err = run_kgmi("bench", "networks", "small.bif", *arguments)
    assert (code, err) == (0, "")
    content = json.loads(out)
    assert content["order"] == "learn"
    assert [outcome["trouble"] for outcome in content["outcomes"]] == [None, None]
    assert all(0 <= outcome["mean_f1"] <= outcome["mean_f1_skeleton"] for outcome in content["outcomes"])


def test_missing_peers_are_named_on_graphs(monkeypatch):
    monkeypatch.setattr("kgmi.bench.plan.installed", lambda peer: None)
    code, out, _ = run_kgmi("bench", "graphs", "--ours", "none", "--peers", "pgmpy-hc", "--rows", "5")
    assert code == 0
    assert "pgmpy is not installed, so not run: pgmpy-hc" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--graph", "papers"), ["'papers' is not a graph", "random:T,K"]),
        (("--kernel", "papers"), ["'papers' is not a kernel", "xor"]),
        (("--graph", "random:10,3"), ["up to 3 parents", "takes 2"]),
        (("--kernels", "0"), ["number of kernels", "at least 1"]),
        (("--rows", "few"), ["--rows takes whole numbers"]),
        (("--ours", "kgmj"), ["no peer 'kgmj'", "kgmi-known"]),
        (("--peers", "kgmi"), ["no peer 'kgmi'", "pyagrum-k2"]),
        (("--limit", "-1"), ["limit", "positive"]),
        (("--order", "learn", "--peers", "pyagrum-k2"), ["no peer 'pyagrum-k2'", "pyagrum-miic"]),
        (("--out", __file__), ["is a file"]),
    ],
)
def test_bad_options_of_graphs(arguments, says):
    refused(BAD_USAGE, *arguments, says=says, command="graphs")


# Exact laws


@pytest.fixture
def small_laws(monkeypatch):
    """Two methods that need no time, instead of all."""
    quick = [method for method in METHODS if method.key in ("stationary", "joint")]
    monkeypatch.setattr(
        "kgmi.bench.exact.try_methods", lambda settings, seed, tell: try_methods(settings, seed, quick)
    )


def test_exact_laws_for_people(small_laws, tmp_path):
    arguments = ("--kernels", "2", "--graphs", "3", "--seed", "4", "--out", str(tmp_path / "out"))
    code, out, err = run_kgmi("bench", "exact", *arguments)
    assert (code, err) == (0, "")
    joint = [line for line in out.splitlines() if "heads jointly" in line]
    assert [line.split()[0] for line in joint] == ["paper", "random:10,2"]
    assert "2 of 2" in joint[0]
    assert "3 of 3" in joint[1]
    assert out.endswith(f"wrote {tmp_path / 'out' / 'exact.json'}\n")
    content = json.loads((tmp_path / "out" / "exact.json").read_text(encoding="utf-8"))
    assert [outcome["n"] for outcome in content["outcomes"]] == [2, 2, 3, 3]


def test_exact_laws_for_machines(small_laws):
    code, out, err = run_kgmi("bench", "exact", "--kernels", "0", "--graphs", "1", "--json")
    assert (code, err) == (0, "")
    assert [outcome["graph"] for outcome in json.loads(out)["outcomes"]] == ["random:10,2"] * 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--kernels", "-1"), ["--kernels must not be negative"]),
        (("--seed", "-1"), ["--seed must not be negative"]),
        (("--kernels", "0", "--graphs", "0"), ["nothing to learn"]),
        (("--out", __file__), ["is a file"]),
    ],
)
def test_bad_options_of_exact(arguments, says):
    refused(BAD_USAGE, *arguments, says=says, command="exact")


def test_help():
    code, out, err = run_kgmi("bench")
    assert code == BAD_USAGE
    for command in ("networks", "graphs", "exact"):
        assert command in out + err
        code, shown, _ = run_kgmi("bench", command, "--help")
        assert code == 0
        assert f"Example: kgmi bench {command} " in " ".join(shown.split())
        assert "--json" in shown
