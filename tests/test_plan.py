"""What a fit will take: foreseen, printed without learning, and compared with what it took."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

import kgmi
from kgmi.cli.plan import finish_report
from kgmi.errors import SettingError
from kgmi.learning.foresee import foresee
from kgmi.learning.pricing import COSTS, Cost, Sizes
from kgmi.learning.spent import Clock
from tests.commands import expect_refused, run_kgmi


def _rows(n_nodes: int = 10, n_rows: int = 500, seed: int = 31) -> np.ndarray:
    dag = kgmi.Dag.paper(10) if n_nodes == 10 else kgmi.Dag.paper(10).copies(n_nodes // 10)
    return kgmi.sample(kgmi.Process(dag, kgmi.Kernel.paper()), n_rows, rng=np.random.default_rng(seed))


def _phases(forecast) -> list[str]:
    return [phase.name for phase in forecast.phases]


def test_the_phases_of_a_search_are_foreseen():
    forecast = foresee(_rows())
    assert _phases(forecast) == ["reading", "search", "further search", "ascent", "report"]
    assert [phase.name for phase in forecast.phases if phase.in_doubt] == ["further search"]
    assert 0 < forecast.seconds < forecast.at_worst
    assert forecast.n_bytes == max(phase.n_bytes for phase in forecast.phases)
    assert forecast.least_bytes > 0


def test_larger_tables_are_said_to_need_compiled_code():
    assert not foresee(_rows()).is_compiled
    assert foresee(_rows(300, 5_000)).is_compiled


def test_the_phases_of_the_papers_guides_are_foreseen():
    forecast = foresee(_rows(), kernel=kgmi.Kernel.paper(), guide="stationary")
    assert _phases(forecast) == ["reading", "scores", "ascent"]
    assert forecast.seconds == forecast.at_worst


@pytest.mark.parametrize(
    "options",
    [
        {"order": "learn"},
        {"share": "node"},
        {"kernel": kgmi.Kernel.paper()},
        {"search": "heads"},
        {"n_parents": 3},
        {"solver": "limit"},
        {"guide": "contextual", "kernel": kgmi.Kernel.paper()},
    ],
)
def test_whatever_is_asked_for_is_foreseen_as_it_is_done(options):
    rows = _rows()
    forecast, learned = foresee(rows, **options), kgmi.learn(rows, **options)
    assert {phase.name for phase in forecast.phases} - {"further search"} == learned.spent.seconds.keys()


@pytest.mark.parametrize(
    "source",
    [
        kgmi.Process(kgmi.Dag.paper(10), kgmi.Kernel.paper()),
        kgmi.exact_joint(kgmi.Process(kgmi.Dag.paper(10), kgmi.Kernel.paper())),
    ],
)
def test_laws_and_statistics_are_foreseen_too(source):
    forecast = foresee(source, kernel=kgmi.Kernel.paper())
    learned = kgmi.learn(source, kernel=kgmi.Kernel.paper())
    assert {phase.name for phase in forecast.phases} == learned.spent.seconds.keys()


def test_more_columns_and_rows_take_longer_and_more_memory():
    small, wide, long = (foresee(_rows(*size)) for size in ((20, 300), (60, 300), (20, 3_000)))
    assert small.at_worst < wide.at_worst
    assert small.at_worst < long.at_worst
    assert small.n_bytes < wide.n_bytes
    assert small.n_bytes < long.n_bytes


@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
def test_every_price_grows_with_the_sizes(cost):
    sizes = [Sizes(10, 100, 2, 1), Sizes(100, 10_000, 3, 2), Sizes(1_000, 100_000, 4, 3)]
    for law in (cost.seconds, cost.held):
        values = [law(one) for one in sizes]
        assert values == sorted(values)
    assert cost.seconds(sizes[0]) > 0
    assert all(cost.held(one) + cost.block_bytes(one) > 0 for one in sizes)
    assert cost.how


def test_a_price_is_what_it_says():
    cost = Cost("so", 1.0, 2.0, 1.0, 2.0, 3.0, cell=1.0, pair=10.0, score=100.0, block=(0.5, 70.0))
    sizes = Sizes(n_nodes=3, n_rows=5, n_states=2, n_heads=4)
    assert cost.seconds(sizes) == pytest.approx(1 + 2 * 3 * 5**2 * 2**3)
    assert cost.held(sizes) == 3 * 5 + 10 * (3 * 2) ** 2 + 100 * 4 * 3**2
    assert cost.block_bytes(sizes) == 0.5 * 3 * 5 * 2
    assert cost.block_bytes(Sizes(30, 5, 2, 4)) == 70


def test_a_trace_is_kept_while_it_is_small_and_cases_are_bounded():
    traced = Cost("so", 1.0, 0.0, trace=(8.0, 100.0))
    assert traced.block_bytes(Sizes(3, 10, 2, 1)) == 8 * 9
    assert traced.block_bytes(Sizes(4, 10, 2, 1)) == 0
    checked = Cost("so", 1.0, 0.0, case=10.0)
    assert checked.block_bytes(Sizes(100, 50, 2, 1)) == 10 * 100 * 50
    assert checked.block_bytes(Sizes(100, 10**6, 2, 1)) == checked.block_bytes(Sizes(100, 10**7, 2, 1))


def test_bad_options_are_refused_as_when_learning():
    with pytest.raises(SettingError, match="learn has no option 'colour'"):
        foresee(_rows(), colour="red")
    with pytest.raises(SettingError, match="guide must be one of"):
        foresee(_rows(), guide="magic")
    with pytest.raises(SettingError, match="memory_limit must be"):
        foresee(_rows(), memory_limit="lots")


def test_a_clock_takes_inner_phases_out_of_outer_ones():
    clock = Clock()
    start = time.perf_counter()
    with clock.phase("outer"):
        inner = clock.timed("inner", lambda: sum(range(200_000)))
        assert inner() == inner()
    whole = time.perf_counter() - start
    assert list(clock.spent.seconds) == ["outer", "inner"]
    assert all(taken > 0 for taken in clock.spent.seconds.values())
    assert sum(clock.spent.seconds.values()) <= whole
    assert clock.spent.peaks == {}  # nothing is traced


def test_what_was_spent_is_no_part_of_the_configuration_or_the_record(tmp_path):
    learned = kgmi.learn(_rows())
    assert learned.spent.seconds.keys() == {"reading", "search", "ascent", "report"}
    assert "spent" not in learned.configuration
    assert "memory_limit" not in learned.configuration
    kgmi.save(learned, tmp_path)
    assert kgmi.load(tmp_path).spent is None


def test_the_command_prints_the_plan_and_learns_nothing():
    code, out, err = run_kgmi("learn", "--example", "paper", "--plan", "--memory-limit", "1MB")
    assert (code, err) == (0, "")
    for text in ("reading", "(further search)", "in all", "is not enough", "Nothing was learned"):
        assert text in out
    assert "edges among" not in out


def test_the_command_prints_the_plan_for_machines():
    _, out, _ = run_kgmi("learn", "--example", "paper", "--plan", "--json", "--memory-limit", "2GB")
    content = json.loads(out)
    assert content["memory_limit"] == 2_000_000_000
    assert content["phases"][0]["phase"] == "reading"
    assert content["seconds"] <= content["at_worst"]
    assert content["least_bytes"] > 0
    assert content["bytes"] == max(phase["bytes"] for phase in content["phases"])


@pytest.mark.parametrize("option", [("--out", "somewhere"), ("--spent",), ("--truth", "paper")])
def test_a_plan_goes_with_nothing_that_needs_a_result(option):
    says = ["--plan only says what learning would take"]
    expect_refused(2, "learn", "--example", "paper", "--plan", *option, says=says)


def test_the_command_says_what_was_spent_beside_what_was_foreseen():
    code, out, err = run_kgmi("learn", "--example", "paper", "--spent")
    assert (code, err) == (0, "")
    for text in ("edges among", "seconds foreseen", "seconds taken", "foreseen for the fit"):
        assert text in out
    content = json.loads(run_kgmi("learn", "--example", "paper", "--spent", "--json")[1])
    assert content["spent"]["seconds"].keys() == {"reading", "search", "ascent", "report"}
    assert content["spent"]["foreseen"]["seconds"] > 0
    code, _, err = run_kgmi("learn", "--example", "paper", "--spent", "--guide", "plain", "--epochs", "100")
    assert (code, err) == (0, "")


def test_the_status_is_part_of_what_was_spent():
    learned = kgmi.learn(np.random.default_rng(7901).integers(0, 3, (400, 6)))
    before = learned.spent.seconds["report"]
    assert "status" not in vars(learned)  # it is made when it is looked at
    finish_report(learned)
    assert {"status", "checks"} <= vars(learned).keys()
    assert learned.spent.seconds["report"] > before


def test_a_memory_limit_that_is_too_small_is_an_error_of_one_line():
    says = ["--memory-limit is 1.0 kB, but 10 columns of 20,000 rows need at least"]
    expect_refused(1, "learn", "--example", "paper", "--memory-limit", "1kB", says=says)


def test_foreseen_and_taken_are_compared_by_a_benchmark(tmp_path):
    code, out, err = run_kgmi("bench", "plan", "--quick", "--cases", "clear,stationary", "--out", str(tmp_path))
    assert (code, err) == (0, "")
    content = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert {one["case"] for one in content["results"]} == {"clear", "stationary"}
    for one in content["results"]:
        assert one["seconds"] > 0
        assert one["foreseen_seconds"] > 0
        assert one["n_bytes"] > 10_000
        assert one["phases"].keys() <= one["foreseen_phases"].keys()
    assert "Foreseen and taken" in out


def test_a_case_that_there_is_not_is_refused():
    expect_refused(
        2, "bench", "plan", "--quick", "--cases", "cloudy", says=["there is no case 'cloudy'; there are"]
    )


def test_devices_are_not_foreseen():
    with pytest.raises(SettingError, match="what a fit takes on a device is not foreseen"):
        foresee(_rows(), device="cpu")
