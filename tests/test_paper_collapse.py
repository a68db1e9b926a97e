"""Head collapse: the measurements against mutual information by hand, and checks that can fail."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kgmi import Dag, sample
from kgmi.paper.collapse import EXPERIMENT
from kgmi.paper.collapse.measure import from_rows, measure, span
from kgmi.paper.collapse.report import checks_of
from kgmi.paper.experiment import Run, verdict_of
from kgmi.paper.results import read_result
from kgmi.paper.setting import paper_process

DAG = Dag.paper(10)
CHILDREN = range(2, 10)


@pytest.fixture(scope="module")
def outcome(quick_run):
    return read_result(quick_run("collapse")[0] / "collapse")


def information(rows, child, candidate):
    """KL mutual information of two columns, from the definition."""
    joint = np.bincount(3 * rows[:, child] + rows[:, candidate], minlength=9).reshape(3, 3) / len(rows)
    product = joint.sum(axis=1)[:, None] * joint.sum(axis=0)[None, :]
    return float((joint * np.log(joint / product)).sum())


def test_every_head_ends_where_mutual_information_is_largest(outcome):
    rows = sample(paper_process(), 300_000, rng=1)
    maps = np.array(outcome.numbers["maps"]["plain kl"])
    for child in CHILDREN:
        best = max(range(child), key=lambda candidate: information(rows, child, candidate))
        assert maps[:, child].argmax(axis=-1).tolist() == [best, best]


def test_half_of_the_edges_are_lost_and_only_with_plain_information(outcome):
    for key, found in outcome.numbers["population"].items():
        plain = key.startswith("plain")
        assert (found["agree"], found["true"], found["edges"]) == ((8, 8, 8) if plain else (0, 0, 16))
        assert found["besides"] == 0
        assert found["difference"] == 0 if plain else found["difference"] > 0.8


def table_with_best(first, second):
    """Scores of 3 nodes in a row whose heads prefer the candidates ``first`` and ``second`` of the last."""
    table = np.full((2, 3, 3), np.nan)
    table[:, 1, 0] = 0.0
    table[:, 2, :2] = 0.0
    table[0, 2, first] = table[1, 2, second] = 0.5
    return table


def test_heads_that_agree_are_told_from_heads_that_are_right():
    dag = Dag([(), (), (0, 1)])
    right, attention = measure(table_with_best(0, 1), dag)
    assert (right["agree"], right["edges"], right["besides"]) == (0, 2, 0)
    assert right["difference"] == pytest.approx(abs(attention[0, 2] - attention[1, 2]).max())
    collapsed, _ = measure(table_with_best(1, 1), dag)
    assert (collapsed["agree"], collapsed["true"], collapsed["edges"], collapsed["difference"]) == (1, 1, 1, 0.0)
    wrong, _ = measure(table_with_best(1, 1), Dag([(), (), (0,)]))
    assert (wrong["agree"], wrong["true"], wrong["edges"], wrong["besides"]) == (1, 0, 0, 1)


def test_checks_hold_and_fail_with_the_numbers(outcome):
    assert all(check.holds for check in outcome.checks)
    assert verdict_of(outcome.checks) == "holds"
    population = json.loads(json.dumps(outcome.numbers["population"]))
    rows = outcome.numbers["rows"]
    for key, field, value, broken in (
        ("plain kl", "difference", 0.01, "KL-MI: heads identical"),
        ("plain pearson", "agree", 7, "χ²-MI: heads identical"),
        ("plain kl", "true", 7, "one true parent each"),
        ("stationary kl", "agree", 1, "KG-MI does not collapse"),
    ):
        changed = {**population, key: {**population[key], field: value}}
        assert [c.name for c in checks_of(changed, rows, DAG) if not c.holds] == [broken]
    spoiled = {**rows, "plain kl": [{**rows["plain kl"][0], "true": 7}]}
    assert [c.name for c in checks_of(population, spoiled, DAG) if not c.holds] == ["from rows"]


def test_rows_depend_on_the_seed_alone(outcome):
    again = EXPERIMENT.run(Run(quick=True))
    # The attention itself may differ in its last digits: short trainings are compiled or not, as it pays.
    assert again.checks == outcome.checks
    assert again.numbers["tables"] == outcome.numbers["tables"]
    other = from_rows(paper_process(), Run(seed=6).rng(1, 0))
    assert other["plain kl"]["epochs"] != outcome.numbers["rows"]["plain kl"][0]["epochs"]


def test_spans_and_the_table(outcome):
    assert (span([8, 8]), span([1200, 7])) == ("8", "7–1,200")
    (table,) = outcome.numbers["tables"]
    assert table["rows"][0][:5] == ["KL-MI", "population", "0", "8", "8"]
    assert table["rows"][1][1] == "2 × 10,000 rows"


def test_four_heat_maps_with_the_true_edges(outcome):
    figures = EXPERIMENT.draw(outcome.numbers)
    assert list(figures) == ["collapse"]
    panels = [ax for ax in figures["collapse"].axes if ax.get_title()]
    assert [ax.get_title() for ax in panels] == [f"{f}-MI, head {h}" for f in ("KL", "χ²") for h in (1, 2)]
    shown = [ax.images[0].get_array().filled(0.0) for ax in panels]
    assert np.array_equal(shown[0], shown[1])
    assert (shown[0] > 0.5).sum() == 9  # eight children, and the root 2, which has one candidate
