"""The ledger: names that exist, counter-examples that recompute, verdicts that trials confirm."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from kgmi import Dag, Kernel, Process
from kgmi.paper.results import read_result
from kgmi.theory import LEDGER, count_verdicts, examples, information_gap
from kgmi.theory.examples import EXAMPLES, recompute

from .test_documents import resolve

HERE = Path(__file__).parent
PRINTED = {
    *("Assumption II.1", "Assumption III.1", "Definition II.1", "Definition III.1", "Definition III.2"),
    *("Algorithm 1", "Theorem IV.1", "Theorem IV.2 (1)", "Theorem IV.2 (2)", "Theorem IV.3", "Appendix A"),
    *("Lemma B.1 (1)", "Lemma B.1 (2)", "Lemma B.2 (1)", "Lemma B.2 (2)", "Lemma B.2 (3)", "Definition B.1"),
    *("Lemma B.3", "Lemma B.4", "Definition B.2", "Lemma B.5", "Lemma B.6", "Lemma B.7 (1)", "Lemma B.7 (2)"),
    *("Corollary B.8", "Property 1 (1)", "Property 1 (2)", "Lemma C.1", "Lemma D.1", "Lemma D.2", "Lemma D.3"),
}


def test_every_printed_number_is_there_and_every_key_once():
    assert {one.number for one in LEDGER} >= PRINTED
    assert len({one.key for one in LEDGER}) == len(LEDGER) == sum(count_verdicts().values())


@pytest.mark.parametrize("one", LEDGER, ids=lambda one: one.key)
def test_a_statement_names_things_that_exist(one):
    for name in one.code:
        resolve(name)
    for trial in one.tried:
        if not trial.startswith("kgmi reproduce "):
            module, function = trial.split("::")
            assert f"def {function}(" in (HERE / f"{module}.py").read_text(encoding="utf-8"), trial
    if one.verdict == "fails":
        assert one.proof
        assert one.repair
        assert one.examples
    if one.verdict in ("holds where", "cannot be tested"):
        assert one.where
    if one.verdict == "holds":
        assert not one.examples
    if not one.is_claim:
        assert one.verdict == "holds"


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_counter_example_recomputes_and_exceeds_its_bound(name):
    found = {(one.measured, one.bound) for each in LEDGER for one in each.examples if one.name == name}
    measured, bound = recompute(name)
    assert [(measured, bound)] == [pytest.approx(figures, rel=1e-4, abs=1e-9) for figures in found]
    assert measured > bound + 1e-6


def test_the_gap_of_copies():
    for dag, kernel in ((examples.THREE, examples.FLIP), (Dag.paper(), Kernel.paper((0.2, 0.1) + (0.0,) * 7))):
        one, two = (examples.scores_of(Process(d, kernel)) for d in (dag, dag.copies(2)))
        columns = [one[head, i, :i] for i, parents in enumerate(dag.parents) if parents for head in range(2)]
        best = [sorted([*column, 0.0])[-2:] for column in columns]
        assert information_gap(two, dag.copies(2)) == pytest.approx(min(top - second for second, top in best))


def test_trials_agree_with_the_verdicts(quick_run):
    result = read_result(quick_run("theorems")[0] / "theorems")
    checks = {check.name: check for check in result.checks}
    tried = result.numbers["points"]
    assert set(tried) <= {one.key for one in LEDGER}
    for one in LEDGER:
        assert checks[f"{one.number}: {one.title}"].holds is (one.verdict in ("holds", "holds where"))
        points = tried.get(one.key, [])
        if one.verdict == "holds":
            assert all(point["within"] for point in points)
    assert all(check.holds for check in result.checks if check.source == "kgmi")
    assert sum(check.source == "kgmi" for check in result.checks) >= 10
    assert sum(any(not p["within"] for p in points) for points in tried.values()) >= 8  # trials can fail


def test_the_page_is_made_from_the_ledger():
    docs = HERE.parent / "docs"
    made = runpy.run_path(str(docs / "write_ledger.py"))["page"]()
    assert (docs / "ledger.md").read_text(encoding="utf-8") == made, "run: python docs/write_ledger.py"
