from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest

from kgmi import Dag, Kernel, learn, metrics, sample
from kgmi.bench import PEERS, left_out
from kgmi.paper.experiment import Run, verdict_of
from kgmi.paper.results import read_result
from kgmi.paper.setting import heads_right, paper_process, population_scores
from kgmi.paper.table.checks import checks, why
from kgmi.paper.table.draw import draw
from kgmi.paper.table.measure import PAPER, TUNABLES, Sizes, measure, sizes_of
from kgmi.paper.table.rows import label_of
from kgmi.paper.table.text import NONE, mean_and_spread, tables
from kgmi.theory import information_gap
from tests.pictures import draw_figure

NAMES = [
    "every edge found",
    "faster than the paper's five",
    "HC and A* find every edge too",
    "NOTEARS, PC and MMHC miss edges",
    "faster than every exact peer",
    "twenty times as fast",
    "twenty times as fast, reading included",
    "p = 0",
]


@pytest.fixture(scope="module")
def outcome(quick_run):
    return read_result(quick_run("table")[0] / "table")


def row(key, f1, seconds, shd=0, weak_f1=(), trouble=None, **more):
    """A row as measured, from a peer of the registry."""
    peer = next(peer for peer in PEERS if peer.key == key)
    n_sets = len(f1)
    empty = {"f1_strict": [], "shd": [], "n_undirected": [], "prepare_seconds": [], "repeats": []}
    return {
        "key": key,
        "name": peer.name,
        "library": peer.library,
        "version": "1.2.3",
        "ordered": peer.ordered,
        "paper": peer.paper,
        "setting": peer.setting,
        "trouble": trouble,
        "f1": list(f1),
        "f1_strict": [value / 2 for value in f1],
        "shd": [shd] * n_sets,
        "n_undirected": [0 if peer.ordered else 2] * n_sets,
        "seconds": [seconds] * n_sets,
        "prepare_seconds": [0.01] * n_sets,
        "repeats": [5] * n_sets,
        "weak": {"f1": list(weak_f1), "seconds": [seconds] * len(weak_f1), **empty},
        "in_weak_table": bool(weak_f1),
        **more,
    }


def numbers(**seconds):
    """A full run as one would wish for it; some of the times can be changed."""
    time = {"kgmi": 0.002, "pyagrum-k2": 0.004, "causal-learn-exact": 0.05, "pybnesian-mmhc": 0.06, **seconds}
    rows = [
        row("kgmi", [1.0, 1.0], time["kgmi"], weak_f1=[1.0, 1.0, 1.0, 0.9]),
        row("gcastle-notears", [0.6, 0.7], 1.0, shd=8),
        row("causal-learn-pc", [0.9, 0.7], 0.2, shd=3),
        row("pybnesian-mmhc", [0.9, 1.0], time["pybnesian-mmhc"], shd=1),
        row("pgmpy-mmhc", [], 0.0, trouble="stopped after 20 s in the warm-up"),
        row("pgmpy-hc", [1.0, 1.0], 0.2),
        row("pomegranate-exact", [1.0, 1.0], 0.3),
        row("causal-learn-exact", [0.6, 0.6], time["causal-learn-exact"], shd=12),
        row("pyagrum-k2", [1.0, 1.0], time["pyagrum-k2"], weak_f1=[1.0] * 4),
    ]
    found = {"n_sets": 2, "n_rows": 10_000, "n_weak_sets": 4, "gap": 0.03, "weak_gap": 0.002, "rows": rows}
    found["paper"] = {name: list(values) for name, values in PAPER.items()}
    return found


def holds(found):
    return {check.name: check.holds for check in checks(found)}


def measured(found, name):
    return next(check.measured for check in checks(found) if check.name == name)


# The kernel


def test_the_tunables_are_the_draw_with_the_largest_gap():
    base, moved = Kernel.paper(0.0).table.reshape(9, 3), Kernel.paper(0.01).table.reshape(9, 3)
    gains, loses = (moved - base).argmax(axis=1), (moved - base).argmin(axis=1)
    low = np.maximum(-0.3, 0.05 - base[np.arange(9), gains])
    high = np.minimum(0.3, base[np.arange(9), loses] - 0.05)
    rng = np.random.default_rng(1)
    draws = [np.clip(rng.uniform(low, high).round(2), low, high).round(2) for _ in range(2_000)]
    places = [number for number, p in enumerate(draws) if np.allclose(p, TUNABLES)]
    assert len(places) == 1

    def gap(p):
        process = paper_process(10, p)
        table = population_scores(process)
        return information_gap(table, process.dag) if heads_right(table, process.dag) == 16 else 0.0

    best = gap(TUNABLES)
    assert best == pytest.approx(0.02971, abs=1e-5)
    assert max(map(gap, draws[:60])) < best  # all 2,000 take some seconds; they were compared when it was chosen
    assert gap(np.zeros(9)) == pytest.approx(0.0020, abs=1e-4)
    assert Kernel.paper(TUNABLES).min_entry >= 0.05


def test_with_these_tunables_every_edge_is_found():
    process = paper_process(10, TUNABLES)
    for seed in range(20):
        rows = sample(process, 10_000, rng=np.random.default_rng([9, seed]))
        learned = learn(rows, kernel=process.kernel, solver="limit")
        assert metrics.compare(learned.dag, process.dag).exact


# A real run


def test_a_quick_run_measures_ours_for_real(outcome):
    ours = outcome.numbers["rows"][0]
    assert ours["key"] == "kgmi"
    assert ours["trouble"] is None
    assert ours["f1"] == [1.0]
    assert ours["shd"] == [0]
    assert 0 < ours["seconds"][0] < 10
    assert len(ours["weak"]["f1"]) == outcome.numbers["n_weak_sets"]
    assert [check.name for check in outcome.checks] == NAMES
    assert outcome.checks[0].holds


def test_peers_that_did_not_run_say_so_and_prove_nothing(outcome):
    silent = [row for row in outcome.numbers["rows"] if not row["f1"]]
    assert silent, "a quick run leaves most peers out"
    for found in silent:
        assert "is not installed (pip install 'kgmi[bench]')" in found["trouble"] or "left out" in found["trouble"]
    by_name = {check.name: check for check in outcome.checks}
    for name in NAMES[1:4]:
        assert by_name[name].holds is None
        assert "not measured" in by_name[name].measured
    assert verdict_of(outcome.checks) == "holds in part"
    assert "learners from other libraries ran to the end" in outcome.why


def test_the_figure_has_a_row_for_every_learner(outcome):
    figures = draw(outcome.numbers)
    assert set(figures) == {"table", "time"}
    texts = [text.get_text() for text in figures["table"].axes[0].texts]
    assert "KG-MI, gradient ascent" in texts
    assert any("not installed" in text or "left out" in text for text in texts)


def test_the_configuration_tells_everything_needed(outcome):
    assert outcome.configuration["p"] == list(TUNABLES)
    assert set(outcome.configuration["peers"]) == {peer.key for peer in PEERS}
    assert outcome.configuration["n_rows"] == outcome.numbers["n_rows"]


def test_the_load_is_taken_before_any_learner_runs(monkeypatch):
    seen = []

    def left_out_and_seen(peer, why):
        seen.append(peer.key)
        return left_out(peer, why)

    monkeypatch.setattr("os.getloadavg", lambda: (float(len(seen)),) * 3, raising=False)
    monkeypatch.setitem(measure.__globals__, "left_out", left_out_and_seen)  # a function has the module's name
    configuration, _ = measure(Run(quick=True, seed=41), Sizes(1, 100, 1, ()))
    assert len(seen) == len(PEERS)
    assert configuration["load_before"] == [0.0, 0.0, 0.0]


# Checks on made-up numbers


def test_all_claims_hold_on_wishful_numbers():
    assert all(holds(numbers()).values())
    assert verdict_of(checks(numbers())) == "holds"
    assert measured(numbers(), "twenty times as fast").startswith("the smallest ratio is 25, to A*, Gaussian")
    assert "fastest of them is K2 (pyAgrum) with 4 ms, 2 times KG-MI's 2 ms (7 times" in measured(
        numbers(), "faster than every exact peer"
    )


def test_a_slower_method_loses_its_claims():
    slow = holds(numbers(kgmi=0.055))
    assert not slow["faster than the paper's five"]  # causal-learn's A* takes 0.050
    assert not slow["faster than every exact peer"]
    assert not slow["twenty times as fast"]
    assert slow["every edge found"]


def test_one_fast_peer_is_enough_to_lose():
    assert holds(numbers(**{"pyagrum-k2": 0.001}))["faster than every exact peer"] is False
    assert holds(numbers(**{"pybnesian-mmhc": 0.03}))["twenty times as fast"] is False


def test_every_row_that_stands_for_one_of_the_papers_counts():
    found = numbers()
    found["rows"].append(row("pgmpy-mmhc", [0.9, 0.9], 0.008, shd=1))
    assert holds(found)["twenty times as fast"] is False
    assert measured(found, "twenty times as fast").startswith(
        "the smallest ratio is 4, to MMHC (pgmpy, no order); "
    )
    assert "HC (pgmpy) 100" in measured(found, "twenty times as fast")
    assert "MMHC (pgmpy, no order), takes 4 times as long" in why(found)
    assert holds(found)["faster than the paper's five"] is True
    found["rows"][-1] = row("pgmpy-mmhc", [0.9, 0.9], 0.001)
    assert holds(found)["faster than the paper's five"] is False


def test_the_first_call_of_a_process_is_in_no_check():
    found = numbers()
    expected = checks(found), why(found)
    found["rows"].append(row("kgmi-cold", [1.0, 1.0], 0.0001))
    assert (checks(found), why(found)) == expected


def test_reading_the_rows_can_be_counted():
    found = holds(numbers(**{"pybnesian-mmhc": 0.035}))  # and 0.01 to read
    assert not found["twenty times as fast"]
    assert found["twenty times as fast, reading included"]


def test_a_tie_is_not_a_win():
    found = numbers(**{"pyagrum-k2": 0.0021})
    assert holds(found)["faster than every exact peer"] is True
    found["rows"][-1]["seconds"] = [0.0018, 0.0024]  # the same mean, but 0.0004 apart from it
    assert holds(found)["faster than every exact peer"] is False


def test_one_missed_edge_is_enough():
    found = numbers()
    found["rows"][0] = row("kgmi", [1.0, 0.97], 0.002, shd=1, weak_f1=[1.0, 0.9, 0.9, 0.9])
    assert holds(found)["every edge found"] is False
    assert holds(found)["p = 0"] is False
    assert "KG-MI, gradient ascent 1, K2 (pyAgrum) 4" in measured(found, "p = 0")


@pytest.mark.parametrize(
    ("key", "lost"),
    [("pgmpy-hc", "HC and A* find every edge too"), ("gcastle-notears", "NOTEARS, PC and MMHC miss edges")],
)
def test_a_missing_library_leaves_the_claims_about_it_open(key, lost):
    found = numbers()
    place = next(number for number, row in enumerate(found["rows"]) if row["key"] == key)
    library = found["rows"][place]["library"]
    found["rows"][place] = row(key, [], 0.0, trouble=f"{library} is not installed (…)", version=None)
    assert holds(found)[lost] is None
    assert holds(found)["faster than the paper's five"] is None
    assert verdict_of(checks(found)) == "holds in part"
    assert f"not measured ({library} not installed)" in measured(found, lost)


def test_our_own_failure_is_told():
    found = numbers()
    found["rows"][0] = row("kgmi", [], 0.0, trouble="crashed (SIGSEGV)")
    assert not any(holds(found)[name] for name in NAMES if name not in ("HC and A* find every edge too", NAMES[3]))
    assert measured(found, "every edge found") == "not measured: crashed (SIGSEGV)"
    assert "KG-MI: F1" not in why(found)


def test_a_learner_that_finds_all_edges_breaks_the_claim_that_it_misses_some():
    found = numbers()
    found["rows"][2] = row("causal-learn-pc", [1.0, 1.0], 0.2)
    assert holds(found)["NOTEARS, PC and MMHC miss edges"] is False


# Text


def test_mean_and_spread():
    assert mean_and_spread([1.0, 2.0, 3.0], 1) == "2.0 ± 1.0"
    assert mean_and_spread([0.25], 2) == "0.25"


def test_tables_have_the_papers_numbers_beside_ours():
    main, told, weak = tables(numbers())
    for table in (main, told, weak):
        assert set(table) == {"title", "columns", "rows", "note"}
        assert all(len(cells) == len(table["columns"]) for cells in table["rows"])
        assert all(isinstance(cell, str) for cells in table["rows"] for cell in cells)
    cells = {(row[0], row[1]): row for row in main["rows"]}
    assert cells["NOTEARS", "gcastle 1.2.3"][3:] == [
        "0.650 ± 0.071", "8.0 ± 0.0", "1.00 ± 0.00", "0.210", "22.2", "7.279",
    ]  # fmt: skip
    assert cells["MMHC", "pgmpy 1.2.3"][3:6] == [NONE, NONE, "stopped after 20 s in the warm-up"]
    assert cells["K2", "pyAgrum 1.2.3"][5:] == ["0.00400 ± 0.00000", NONE, NONE, NONE]
    assert f"PC (causal-learn) {fmean([0.45, 0.35]):.3f}" in main["note"]
    assert [cells[3] for cells in weak["rows"]] == ["3 of 4", "4 of 4"]


def test_rows_of_the_time_figure_have_names_of_their_own():
    found = numbers()
    found["rows"] += [row(key, [1.0, 1.0], 0.1) for key in ("pybnesian-hc-order", "pybnesian-hc")]
    found["tables"] = tables(found)
    figure = draw(found)["time"]
    draw_figure(figure)
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert len(set(names)) == len(names) == 10  # one of the eleven did not run
    everyone = [label_of(row(peer.key, [1.0], 0.1)) for peer in PEERS]
    assert len(set(everyone)) == len(everyone)


def test_the_note_tells_how_p_was_chosen():
    assert (
        "theorem 3's conclusion is true (the best candidate of each of the 16 heads" in tables(numbers())[0]["note"]
    )


def test_a_run_without_any_answer_can_be_drawn():
    found = numbers()
    found["rows"] = [row("kgmi", [], 0.0, trouble="crashed (SIGSEGV) " + "and more " * 20)]
    found["tables"] = tables(found)
    figures = draw(found)
    for figure in figures.values():
        draw_figure(figure)
    shown = [text.get_text() for ax in figures["table"].axes for text in ax.texts]
    assert any("crashed (SIGSEGV)" in text for text in shown)


def test_a_full_run_has_the_papers_sizes_and_every_peer():
    sizes = sizes_of(Run())
    assert (sizes.n_sets, sizes.n_rows) == (5, 10_000)
    assert set(sizes.peers) == {peer.key for peer in PEERS}


def test_the_graph_is_the_papers():
    assert Dag.paper(10).n_edges == 16
    assert set(PAPER) == {peer.paper for peer in PEERS} - {None}
