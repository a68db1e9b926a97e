"""The speed benchmarks end to end, at small sizes; what they say, not how long anything takes."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kgmi.bench.speed.counts import measure_counts
from kgmi.bench.speed.fit import measure_fits
from kgmi.bench.speed.methods import OURS, PEERS, STATIONARY, label_of, with_sizes
from kgmi.bench.speed.points import draw, take_points
from kgmi.bench.speed.rows import measure_rows
from kgmi.counts.base import PairCounts
from kgmi.errors import KgmiError, SettingError
from kgmi.memory import peak_bytes
from tests.commands import expect_refused, run_kgmi

BAD_USAGE = 2
LAYOUT = ["kind", "machine", "versions", "settings", "results", "growth", "made"]


def run_quick(command, *more):
    """Content of the JSON file that a quick run writes, and what it prints."""
    code, out, err = run_kgmi("bench", command, "--quick", *more)
    assert (code, err) == (0, "")
    return out


# Counts


def test_counts_for_people_and_files(tmp_path):
    out = run_quick("counts", "--states", "4", "--seed", "63", "--pairs", "50", "--out", str(tmp_path))
    assert "Counts of all pairs, S = 4, 2,000 rows" in out
    assert "All ways gave the same counts." in " ".join(out.split())
    assert out.endswith(f"wrote {tmp_path / 'counts.json'}\nwrote {tmp_path / 'counts.png'}\n")
    content = json.loads((tmp_path / "counts.json").read_text(encoding="utf-8"))
    assert list(content) == ["format", *LAYOUT]
    assert content["settings"]["nodes"] == [20, 40]
    ceiling = content["settings"]["ceiling_words_per_second"]
    assert ceiling == max(content["settings"]["ceiling_of_loops"].values())
    assert [(r["n_nodes"], r["method"]) for r in content["results"]] == [
        (n, method) for n in (20, 40) for method in ("kgmi", "pack", "gemm", "syrk", "bincount")
    ]
    for result in content["results"]:
        if result["method"] != "pack":
            words = result["n_nodes"] * (result["n_nodes"] - 1) // 2 * 9 * 32  # 3 of 4 states; 2,000 rows
            assert result["words_per_second"] * result["seconds"] == pytest.approx(words)
            assert result["share_of_ceiling"] * ceiling == pytest.approx(result["words_per_second"])
    assert [law["method"] for law in content["growth"]] == ["kgmi", "gemm", "syrk", "bincount"]


def test_counts_that_differ_are_an_error(monkeypatch):
    wrong = PairCounts(np.zeros((3, 3, 2, 2), dtype=np.int64))
    monkeypatch.setattr("kgmi.bench.speed.counts.count_pairs", lambda rows, n_states: wrong)
    with pytest.raises(KgmiError, match="counts differ"):
        measure_counts((3,), 2, 100, repeats=1)


def test_more_states_than_eight_bits_hold():
    found = measure_counts((3,), 200, 100, repeats=1, sample_pairs=3)
    assert {result["n_nodes"] for result in found.results} == {3}


def test_counting_needs_pairs_and_states():
    for nodes, states in (((1, 2), 3), ((5,), 1)):
        with pytest.raises(SettingError, match="at least 2 nodes and 2 states"):
            measure_counts(nodes, states, 10)


# Fits


def test_fits_for_people_and_files(tmp_path):
    out = run_quick("fit", "--peers", "none", "--seed", "64", "--out", str(tmp_path))
    assert "Whole fits, 2,000 rows, order given (seed 64)" in " ".join(out.split())
    assert "fastest exact peer" not in out
    content = json.loads((tmp_path / "fit.json").read_text(encoding="utf-8"))
    assert list(content) == ["format", *LAYOUT]
    assert [(r["n_nodes"], r["method"], r["trouble"]) for r in content["results"]] == [
        (10, "kgmi", None),
        (20, "kgmi", None),
    ]
    for result in content["results"]:
        assert result["seconds"] > 0
        assert 1 <= result["repeats"] <= 21
        assert result["f1"] > 0.8
        assert 20e6 < result["peak_bytes"] < 2e9
    assert (tmp_path / "fit.png").exists()


def test_the_fastest_exact_peer_is_set_beside_ours():
    """A stand-in peer: our own stationary guide, from another «library»."""
    peer = replace(STATIONARY, library="numpy", most_nodes=10)
    found = measure_fits((20, 10), 10_000, (OURS, peer), seed=65)
    fits, rivals, laws = found.tables
    assert [line[:2] for line in fits.rows] == [["10", "kgmi"], ["10", label_of(peer)], ["20", "kgmi"]]
    results = {(r["n_nodes"], r["method"]): r for r in found.results}
    assert [line[:2] for line in rivals.rows] == [["10", label_of(peer)]]
    ratio = results[10, peer.key]["seconds"] / results[10, "kgmi"]["seconds"]
    assert float(rivals.rows[0][4]) == pytest.approx(ratio, abs=0.006)
    assert "not tried beyond 10 nodes" in results[20, peer.key]["trouble"]
    assert [line[0] for line in laws.rows] == ["kgmi"]
    assert any("not tried beyond 10 nodes" in sentence for sentence in found.sentences)
    assert [curve.label for curve in found.curves] == ["kgmi", label_of(STATIONARY)]


def test_a_method_that_is_too_slow_is_not_tried_on_more_nodes():
    found = measure_fits((10, 20), 200, (OURS,), seed=66, limit=0.01)
    small, large = found.results
    assert small["trouble"] == "stopped after 0.01 s in the warm-up"
    assert large["trouble"] == "not tried: at 10 nodes and 200 rows it was stopped after 0.01 s in the warm-up"
    assert found.curves == ()
    assert found.growth == []


def test_methods_that_are_not_installed_are_named():
    missing = replace(PEERS[0], library="kgmi-no-such-distribution")
    found = measure_fits((10,), 200, (missing,), seed=66)
    assert found.settings["missing"] == [missing.key]
    assert any(f"Not installed, so not run: {missing.key}" in sentence for sentence in found.sentences)


def test_other_largest_sizes():
    changed = {peer.key: peer.most_nodes for peer in with_sizes(PEERS, "pgmpy-hc=30, pyagrum-k2=2000")}
    assert changed["pgmpy-hc"] == 30
    assert changed["pyagrum-k2"] == 2000
    assert with_sizes(PEERS, "") == PEERS


def test_everybody_gets_the_same_rows_and_warm_ups_are_others():
    process, problem = draw(20, 50, 67)
    assert process.n_nodes == problem.rows.shape[1] == 20
    assert np.array_equal(draw(20, 50, 67)[1].rows, problem.rows)
    assert draw(10, 50, 67)[0].fixed_kernel().table == pytest.approx(process.fixed_kernel().table)
    assert not np.array_equal(draw(20, 50, 67 + 1_000_003)[1].rows, problem.rows)


def test_memory_is_that_of_the_process_and_not_of_the_one_that_started_it():
    ballast = np.ones(60_000_000)  # 480 MB
    (point,) = take_points((STATIONARY,), 10, 200, 68, 60.0, {})
    assert peak_bytes() > ballast.nbytes
    assert 20e6 < point.peak_bytes < 400e6


# Rows


def test_rows_for_machines():
    out = run_quick("rows", "--seed", "69", "--json")
    content = json.loads(out)
    assert list(content) == LAYOUT
    measured = [(r["n_nodes"], r["n_rows"]) for r in content["results"]]
    assert measured == [(10, 500)] * 2 + [(10, 1_000)] * 2 + [(20, 500)] * 2, "20 × 1,000 has too many cells"
    both = [law for law in content["growth"] if set(law["exponents"]) == {"T", "N"}]
    assert [law["method"] for law in both] == ["kgmi", "kgmi-stationary"]
    assert [law.get("n_nodes") for law in content["growth"]] == [10, None] * 2


def test_a_fit_that_is_too_slow_is_not_tried_on_more_rows():
    found = measure_rows((10,), (200, 300), seed=70, limit=0.01)
    assert [r["trouble"][:11] for r in found.results] == ["stopped aft"] * 2 + ["not tried: "] * 2
    assert len(found.sentences) == 4
    assert found.growth == []


# Ascent


def test_ascent_for_people_and_files(tmp_path):
    out = run_quick("ascent", "--divergence", "pearson", "--out", str(tmp_path))
    assert "Gradient ascent, exact pearson scores" in out
    content = json.loads((tmp_path / "ascent.json").read_text(encoding="utf-8"))
    assert list(content) == ["format", *LAYOUT]
    assert [(r["n_nodes"], r["stop"], r["epochs"]) for r in content["results"]] == [
        (10, 0.1, 500),
        (20, 0.1, 500),
        (20, 0.0, 500),
    ]


# Commands


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("counts", "--nodes", "few"), ["--nodes takes whole numbers"]),
        (("counts", "--nodes", "10,10"), ["nodes must be different"]),
        (("counts", "--repeats", "0"), ["repeats"]),
        (("fit", "--nodes", "15"), ["copies of the paper's 10 nodes", "15"]),
        (("fit", "--peers", "pc"), ["no peer 'pc'", "pgmpy-hc"]),
        (("fit", "--most", "pgmpy-hc"), ["KEY=T", "'pgmpy-hc'"]),
        (("fit", "--limit", "0"), ["--limit must be a positive"]),
        (("fit", "--seed", "-1"), ["--seed"]),
        (("rows", "--rows", "0"), ["rows must be different whole numbers from 1 on"]),
        (("ascent", "--copies", "0"), ["copies must be different"]),
        (("ascent", "--divergence", "kk"), ["kk"]),
        (("ascent", "--out", __file__), ["is a file"]),
    ],
)
def test_bad_options(arguments, says):
    expect_refused(BAD_USAGE, "bench", *arguments, says=says)


@pytest.mark.parametrize("command", ["counts", "fit", "rows", "ascent"])
def test_help(command):
    code, shown, _ = run_kgmi("bench", command, "--help")
    assert code == 0
    assert f"Example: kgmi bench {command} " in " ".join(shown.split())
    for option in ("--json", "--out", "--quick"):
        assert option in shown


@pytest.mark.peers
@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.key)
def test_every_peer_finds_a_small_graph(peer):
    (point,) = take_points((peer,), 10, 10_000, 71, 120.0, {})
    assert point.trouble is None
    assert point.exact
