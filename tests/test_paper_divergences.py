"""Experiment 4: training curves, their order and their common tail, and which divergences recover the graph."""

from __future__ import annotations

import numpy as np
import pytest

from kgmi import ascend
from kgmi.attention import best_objective, objective
from kgmi.divergence import DIVERGENCES
from kgmi.kernel.tunables import random_tunables
from kgmi.paper.divergences import long, short
from kgmi.paper.divergences.curves import curve
from kgmi.paper.divergences.speed import curve_checks, order_words, speed_sentence
from kgmi.paper.divergences.tail import tail_check, tails_over_kernels
from kgmi.paper.experiment import Run
from kgmi.paper.results import read_result
from kgmi.paper.setting import paper_process, population_scores


@pytest.fixture(scope="module")
def outcome(quick_run):
    return read_result(quick_run("divergences")[0] / "divergences")


def test_a_curve_is_the_suboptimality_of_a_plain_run():
    process = paper_process()
    found = curve(process, "pearson", 300)
    table = population_scores(process, "pearson")
    for k in (0, 5, len(found["epochs"]) - 1):
        attention = ascend(table, epochs=found["epochs"][k], stop=0, engine="plain").attention
        expected = best_objective(table) - objective(table, attention)
        assert found["suboptimality"][k] == pytest.approx(expected, rel=1e-9)


def test_the_time_to_a_tenth_lies_between_the_epochs_around_it():
    found = curve(paper_process(), "kl", 5_000)
    rest, epochs = np.array(found["suboptimality"]), np.array(found["epochs"])
    after = int(np.argmax(rest <= rest[0] / 10))
    assert epochs[after - 1] <= found["epochs_to_tenth"] <= epochs[after]
    assert curve(paper_process(), "kl", 50)["epochs_to_tenth"] is None


def test_late_in_training_all_divergences_share_one_tail(outcome):
    for one in outcome.numbers["curves"]:
        # By hand: two heads, nodes 3..10 with 2..9 candidates.
        total = 2 * sum(1 - 1 / n for n in range(2, 10))
        expected = total / (10 * one["epochs"][-1])
        assert one["suboptimality"][-1] == pytest.approx(expected, rel=0.12)
        assert one["tail"] == pytest.approx(one["suboptimality"][-1] / expected)


def made(name, gap, tenth, stop=None, tail=1.0):
    return {
        "divergence": name,
        "gap": gap,
        "epochs_to_tenth": tenth,
        "stopping_epoch": stop or tenth,
        "tail": tail,
        "suboptimality": [1.0, 0.01],
    }


def test_the_tail_of_random_kernels_is_the_end_of_plain_runs():
    run = Run(quick=True, seed=5)
    (found,) = tails_over_kernels(run, ("pearson",), 1, 3_000)
    table = population_scores(paper_process(p=random_tunables(run.rng(44))), "pearson")
    attention = ascend(table, epochs=3_000, stop=0, engine="plain").attention
    rest = best_objective(table) - objective(table, attention)
    # Two heads, nodes 3..10 with 2..9 candidates: node 2 has one, and nothing to learn.
    assert found["pearson"] == pytest.approx(rest * 10 * 3_000 / (2 * sum(1 - 1 / n for n in range(2, 10))))


def test_the_tail_check_counts_the_trainings_that_are_near():
    near = tail_check([{"kl": 1.1, "pearson": 0.9}] * 10, 100)
    assert near.holds
    assert near.measured.startswith("20 of 20 trainings (10 kernels, 2 divergences)")
    far = tail_check([{"kl": 1.1, "pearson": 0.9}] * 9 + [{"kl": 1.3, "pearson": 0.7}], 100)
    assert not far.holds
    assert "18 of 20" in far.measured
    assert "from 0.700 (Pearson χ²) to 1.300 (KL)" in far.measured


def test_the_sentence_says_only_what_was_measured():
    good = [made("kl", 0.1, 50.0), made("pearson", 0.2, 20.0)]
    assert speed_sentence(good).endswith("Late in training all curves are one.")
    assert "curves are one" not in speed_sentence([made("kl", 0.1, 50.0, tail=1.5), made("pearson", 0.2, 20.0)])
    mixed = curve_checks([made("kl", 0.1, 50.0, 5), made("pearson", 0.2, 20.0, 9)])
    falls, last = order_words(mixed[1], mixed[2]).split(", ")
    assert falls == "is the order in which the suboptimality falls to a tenth"
    assert last == "but is not that in which the last head concentrates"


def test_order_and_convergence_are_judged_from_the_curves():
    right = curve_checks([made("kl", 0.1, 50.0), made("pearson", 0.2, 20.0)])
    wrong = curve_checks([made("kl", 0.1, 10.0), made("pearson", 0.2, 20.0), made("neyman", 0.3, None)])
    assert [check.holds for check in right] == [True, True, True, True]
    assert [check.holds for check in wrong] == [True, False, False, True]
    rising = {**made("kl", 0.1, 10.0), "suboptimality": [1.0, 1.1, 0.01]}
    assert not curve_checks([rising])[0].holds


def test_written_and_matched_forms_recover_what_method_says(outcome):
    found = {one["divergence"]: one for one in outcome.numbers["recovered"]}
    assert {name: one["heads"] for name, one in found.items()} == {
        "kl": 16,
        "pearson": 16,
        "neyman": 2,
        "hellinger": 8,
        "reverse-kl": 0,
        "jensen-shannon": 8,
        "total-variation": 8,
    }
    assert all(one["heads_matched"] == 16 for one in found.values())
    assert found["kl"]["graphs"] == found["kl"]["graphs_matched"]  # KL is matched already


def test_the_other_forms_are_the_same_divergences(outcome):
    rng = np.random.default_rng(6)
    p, q = rng.dirichlet(np.ones(5), size=2)
    for form in short._OTHER_FORMS:
        same = DIVERGENCES[form.name.split("-")[0]]
        assert form.between(p, q) == pytest.approx(same.between(p, q))
        tilt = (form.f(np.array([3.0])) - same.f(np.array([3.0])))[0] / 2
        assert form.f(np.array([0.2]))[0] == pytest.approx(same.f(np.array([0.2]))[0] - 0.8 * tilt)


def test_the_other_form_of_neyman_is_judged_by_both_clocks(outcome):
    curves = {one["divergence"]: one for one in outcome.numbers["curves"] + outcome.numbers["other_forms"]}
    shown = [curves[name] for name in ("kl", "hellinger", "pearson", "neyman-centred")]
    by_gap = [one["divergence"] for one in sorted(shown, key=lambda one: -one["gap"])]
    checks = {check.name: check for check in outcome.checks}
    for key, what in (("epochs_to_tenth", "L* − L falls to a tenth"), ("stopping_epoch", "all heads pass 0.9")):
        check = checks[f"Neyman as (x − 1)²/x, larger Δ, faster: {what}"]
        assert check.holds == (by_gap == [one["divergence"] for one in sorted(shown, key=lambda one: one[key])])
        assert check.source == "kgmi"  # the form is a guess


def test_long_sequences_train_too(quick_run):
    found = read_result(quick_run("long")[0] / "long")
    held = {check.name: check.holds for check in found.checks}
    assert held["training converges"]
    assert held["KL finds the graph"]
    assert [one["heads_right"] for one in found.numbers["curves"]] == [32, 16, 32]
    (figure,) = long.EXPERIMENT.draw(found.numbers).values()
    assert len(figure.axes[0].get_lines()) == 3
    assert "T = 20" in figure.get_suptitle()  # what was run, not what the paper ran
    assert all(check.measured.startswith("T = 20: ") for check in found.checks)
    assert found.why.startswith("Run at T = 20.")


def test_figures_show_four_curves_and_seven_pairs_of_bars(outcome):
    figures = short.EXPERIMENT.draw(outcome.numbers)
    assert len(figures["divergences"].axes[0].get_lines()) == 4
    bars = [patch for patch in figures["divergences-recovered"].axes[0].patches if patch.get_width() > 0]
    assert len(bars) == 14
