"""Experiment 3: lines of the stopping epoch, against runs and lines computed another way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, ascend
from kgmi.kernel.tunables import is_kernel, random_tunables
from kgmi.paper.experiment import Run
from kgmi.paper.rates import gap, gap_report, length
from kgmi.paper.rates.stopping import shown_r2, stopping
from kgmi.paper.results import read_result
from kgmi.paper.setting import fit_line, heads_right, paper_process, population_scores
from kgmi.theory import information_gap


@pytest.fixture(scope="module")
def by_length(quick_run):
    return read_result(quick_run("rate-length")[0] / "rate-length")


@pytest.fixture(scope="module")
def by_gap(quick_run):
    return read_result(quick_run("rate-gap")[0] / "rate-gap")


def test_the_stopping_epoch_is_that_of_a_plain_run():
    process = paper_process()
    found = stopping(process, 0.3)
    plain = ascend(population_scores(process), epochs=20_000, stop=0.3, engine="plain")
    assert found["epochs"] == plain.stopped[:, 2:].max()
    assert found["stopped"]
    assert found["heads_right"] == 16


def test_the_bounds_are_the_formulas_of_the_theorems():
    found = stopping(paper_process(), 0.1)
    gap_, largest = found["gap"], found["max_information"]
    second = 4 * 2 * 100 * np.log(10) / (10 * gap_)
    assert largest < 0.1  # so the first term of theorem 1 is none
    assert found["tau_star"] == pytest.approx(second)
    assert found["theorem_2"] >= 4 * 2 * 10 * np.log(10) / 0.1 / (10 * gap_)


def test_two_heads_that_prefer_one_candidate_still_stop():
    chain = Process(Dag([(), (), (0, 1)]), Kernel.paper())
    found = stopping(chain, 0.2)
    assert found["stopped"]
    assert found["epochs"] > 0


def test_the_line_is_that_of_a_regression():
    rng = np.random.default_rng(3)
    x = rng.uniform(1, 9, 30)
    y = 3 * x - 2 + rng.normal(0, 0.5, 30)
    line = fit_line(x, y)
    assert line.slope == pytest.approx(np.cov(x, y)[0, 1] / np.var(x, ddof=1))
    assert line.intercept == pytest.approx(y.mean() - line.slope * x.mean())
    assert line.r_squared == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)


def test_length_the_epochs_lie_on_a_line_in_t_squared_log_t(by_length):
    ten = by_length.numbers["series"]["10"]
    assert [point["n_nodes"] for point in ten["points"]] == [10, 20, 30]
    assert ten["points"][0]["epochs"] == 4_663  # as kgmi exact finds for the base kernel
    assert ten["line"]["r_squared"] > 0.99
    assert {check.name: check.holds for check in by_length.checks}["line in T² log T, 10-node copies"]


def test_gap_the_sum_of_inverse_gaps_predicts_every_kernel(by_gap):
    points = [p for one in by_gap.numbers["sweeps"].values() for p in one["points"]]
    points += by_gap.numbers["random"]["points"]
    assert all(0.95 < point["epochs"] / point["first_order"] < 1.1 for point in points)
    held = {check.name: check.holds for check in by_gap.checks}
    assert held["the sum of 1/Δ_j"]
    assert held["bound: theorem 2"]


def test_gap_only_kernels_whose_heads_are_right_are_kept(by_gap):
    for point in by_gap.numbers["random"]["points"]:
        assert is_kernel(point["p"])
        assert point["heads_right"] == 16


def test_gap_what_is_left_out_is_counted_and_told(by_gap):
    (table,) = by_gap.numbers["tables"]
    assert "0.0003" in table["note"]
    for one in by_gap.numbers["sweeps"].values():
        assert len(one["points"]) + one["left_out"] == 5
    rng, kept, drawn = Run().rng(3), 0, 0
    while kept < 6:
        process = paper_process(p=random_tunables(rng))
        scores = population_scores(process)
        drawn += 1
        right = heads_right(scores, process.dag) == 16
        kept += right and information_gap(scores, process.dag) >= 3e-4
    assert by_gap.numbers["random"]["left_out"] == drawn - 6
    assert [row[2] for row in table["rows"]][-1] == str(drawn - 6)


def test_the_same_statement_has_the_same_source_in_both_halves(by_length, by_gap):
    for outcome in (by_length, by_gap):
        sources = {check.name: check.source for check in outcome.checks}
        assert sources["bound: τ* of theorem 1"] == "kgmi"
        assert sources["bound: theorem 2"] == "paper"


def test_the_reasons_follow_the_checks(by_length, by_gap):
    assert "As a bound, 1/Δ (theorem 2) holds for every kernel." in by_gap.why
    turned = tuple(replace(check, holds=not check.holds) for check in by_gap.checks)
    opposite = gap_report.why(by_gap.numbers, turned)
    assert "As a bound, 1/Δ (theorem 2) does not hold" in opposite
    assert "what counts is the sum" not in opposite
    assert "The line in T² is the closer one" in by_length.why
    turned = tuple(replace(check, holds=False) for check in by_length.checks)
    opposite = length._why(by_length.numbers["series"], turned)
    assert "do not lie on a line in T² log T" in opposite
    assert "closer" not in opposite


def test_r_squared_is_never_rounded_to_one():
    assert [shown_r2(value) for value in (0.0652, 0.99994, 0.999987, 1.0)] == [
        "0.0652",
        "0.9999",
        "0.99999",
        "1.0000",
    ]


def test_random_tunables_make_kernels_and_follow_the_seed():
    first, again = (random_tunables(np.random.default_rng(4), least=0.05) for _ in range(2))
    assert first == again
    assert Kernel.paper(first).min_entry >= 0.05
    assert not is_kernel([0.6] + [0.0] * 8)


@pytest.mark.parametrize("which", ["by_length", "by_gap"])
def test_figures_show_the_lines_and_the_bounds(which, request):
    outcome = request.getfixturevalue(which)
    experiment = length.EXPERIMENT if which == "by_length" else gap.EXPERIMENT
    figures = experiment.draw(outcome.numbers)
    (figure,) = figures.values()
    assert all(ax.get_xlabel() for ax in figure.axes)
    texts = [text.get_text() for ax in figure.axes for text in ax.get_legend().get_texts()]
    assert any("R²" in text for text in texts)
    assert any("no bound on this epoch" in text for text in texts)
    if which == "by_gap":
        law = shown_r2(outcome.numbers["random"]["law"]["r_squared"])
        assert any(f"R² = {law}" in text for text in texts)
        assert f"R² = {law}." in outcome.why  # one precision in figure and text
