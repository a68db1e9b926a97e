"""How far a result may be trusted: what the words rest on, and that they keep what they promise."""

import copy
import json

import numpy as np
import pandas as pd
import pytest

import kgmi
from kgmi.errors import RecordError
from kgmi.learning.strength import edge_strengths
from kgmi.learning.trust import Trust
from tests.commands import run_kgmi

PAPER = kgmi.Process(kgmi.Dag.paper(10), kgmi.Kernel.paper())


@pytest.fixture(scope="module")
def sure():
    return kgmi.learn(kgmi.sample(PAPER, 2_000, rng=101), n_parents=2)


def test_a_clear_case_is_trusted_far_and_its_edges_are_certain(sure):
    trust = sure.trust
    assert trust.level == "high"
    assert {*trust.edges} == {(sure.names[p], sure.names[c]) for p, c in sure.dag.edges}
    certified = sure.certify(patience=2.0).edges
    assert {edge for edge, strength in trust.edges.items() if strength == "certain"} == {*certified}
    assert trust.count("certain") == len(certified) > 10
    assert f"{len(certified)} edges are certain: with probability 0.95" in trust.sentence
    assert "far, if the columns stand in order." in trust.sentence
    assert str(trust) == trust.sentence


def test_rows_without_a_graph_are_no_proof_that_there_is_none():
    rows = np.random.default_rng(102).integers(3, size=(300, 6))
    trust = kgmi.learn(rows, penalty="bic").trust
    assert (trust.level, trust.edges) == ("fair", {})
    assert "No edge was found, which does not prove" in trust.sentence


def test_few_rows_are_said_to_be_few():
    learned = kgmi.learn(kgmi.sample(PAPER, 60, rng=103), n_parents=2, n_states=3)
    assert learned.trust.level != "high"
    assert "60 rows are few" in learned.trust.sentence


def test_heads_that_collapse_are_trusted_little():
    learned = kgmi.learn(kgmi.sample(PAPER, 2_000, rng=104), n_parents=2, guide="plain")
    assert learned.trust.level == "low"
    assert "they collapse onto one parent" in learned.trust.sentence
    assert learned.trust.count("certain") == 0  # no certificate for a guide that names parents one by one


def test_a_wrong_kernel_is_noticed():
    other = kgmi.Kernel.random(3, 2, rng=105, concentration=0.5)
    learned = kgmi.learn(kgmi.sample(PAPER, 1_000, rng=106), kernel=other)
    assert learned.trust.level == "low"
    assert "The kernel that was given does not fit" in learned.trust.sentence
    told = kgmi.learn(kgmi.sample(PAPER, 1_000, rng=106), kernel=other, guide="stationary").trust
    assert told.level == "low"
    assert "nodes that should follow one kernel do not" in told.sentence
    assert any(not reason.supports and "an ancestor or a sibling" in reason.text for reason in told.reasons)


def test_rows_that_follow_each_other_are_noticed():
    rng = np.random.default_rng(107)
    walk = (np.repeat(rng.integers(3, size=100), 20)[:, None] + np.zeros((1, 4), dtype=int)) % 3
    noisy = np.where(rng.random(walk.shape) < 0.3, rng.integers(3, size=walk.shape), walk)
    trust = kgmi.learn(noisy, n_states=3).trust
    assert trust.level == "low"
    assert {*trust.edges.values()} == {"weak"}
    assert "rows depend on each other" in trust.sentence


def test_a_learned_order_says_which_directions_are_open():
    chain = kgmi.Process(kgmi.Dag([(), (0,)]), kgmi.Kernel(np.array([[0.8, 0.2], [0.2, 0.8]])))
    learned = kgmi.learn(kgmi.sample(chain, 500, rng=108), order="learn", n_parents=1)
    assert learned.trust.level == "low"  # a symmetric kernel points nowhere
    assert "of open direction" in learned.trust.sentence
    assert "if the columns stand in order" not in learned.trust.sentence


def test_the_only_candidate_must_still_pay():
    rng = np.random.default_rng(109)
    first = rng.integers(2, size=400)
    second = np.where(rng.random(400) < 0.1, 1 - first, first)
    learned = kgmi.learn(np.column_stack([first, second]), n_parents=1)
    assert np.isposinf(learned.margins[0, 1])
    assert edge_strengths(learned, None) == {("X1", "X2"): "clear"}
    blind = copy.deepcopy(learned)  # a copy has no rows to look at
    assert edge_strengths(blind, None) == {("X1", "X2"): "weak"}
    exact = kgmi.learn(kgmi.exact_joint(PAPER), kernel=PAPER.kernel, guide="stationary")
    assert {*edge_strengths(exact, None).values()} == {"clear"}


def test_trust_is_saved_and_without_rows_it_says_less(sure, tmp_path):
    unseen = kgmi.learn(kgmi.sample(PAPER, 2_000, rng=101), n_parents=2)
    kgmi.save(unseen, tmp_path)
    assert kgmi.load(tmp_path).trust == unseen.trust == sure.trust
    blind = copy.deepcopy(kgmi.learn(kgmi.sample(PAPER, 2_000, rng=101), n_parents=2)).trust
    assert blind.count("certain") == 0
    assert blind.count("clear") >= 14
    assert "The rows are not at hand any more" in blind.sentence


@pytest.mark.parametrize(
    ("key", "value"),
    [("level", "huge"), ("edges", [["X1", "X2"]]), ("edges", [["X1", "X2", "sure"]]), ("reasons", 3)],
)
def test_harmed_trust_is_refused(sure, key, value):
    with pytest.raises(RecordError, match="trust"):
        Trust.from_dict(sure.trust.to_dict() | {key: value})


def test_trust_in_other_edges_is_refused(sure, tmp_path):
    record = kgmi.save(sure, tmp_path)
    content = json.loads(record.read_text(encoding="utf-8"))
    content["trust"]["edges"] = content["trust"]["edges"][:-1]
    record.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(RecordError, match="other edges"):
        kgmi.load(tmp_path)


def test_an_edge_that_was_asked_for_is_no_evidence():
    rows = np.random.default_rng(112).integers(3, size=(1_000, 5))
    trust = kgmi.learn(rows, n_parents=2, required=[("X1", "X2"), ("X3", "X5")]).trust
    assert {*trust.edges.values()} == {"weak"}
    assert trust.level == "low"
    assert "there because asked for: X1 → X2, X3 → X5" in trust.sentence


def test_what_shows_through_bins_is_not_certain():
    rng = np.random.default_rng(113)
    columns = [rng.standard_normal(30_000)]
    for _ in range(2):
        columns.append(0.9 * columns[-1] + 0.44 * rng.standard_normal(30_000))
    frame = pd.DataFrame(np.column_stack(columns), columns=["A", "B", "C"])
    learned = kgmi.learn(kgmi.prepare(frame), n_parents=2)
    assert ("A", "C") in learned.trust.edges  # there is no such influence but through B
    assert learned.trust.count("certain") == 0
    assert learned.trust.level == "fair"
    assert "Measurements were cut into bins" in learned.trust.sentence


def test_a_kernel_fitted_to_one_child_does_not_vouch_for_itself():
    rng = np.random.default_rng(114)
    notes = rng.integers(7, size=120)  # pure noise, where two lags make 49 laws of it
    learned = kgmi.learn(notes, windows=6, n_parents=2, penalty="none", share="shared")
    assert learned.dag.n_edges == 2
    assert learned.margins[:, -1].min() > 20
    assert learned.trust.count("weak") == 2
    assert "Only the lags that were looked at" in learned.trust.sentence


def test_candidates_with_other_states_are_rivals_too():
    rng = np.random.default_rng(115)
    first = rng.integers(4, size=600)
    second = np.where(rng.random(600) < 0.01, rng.integers(3, size=600), np.minimum(first, 2))
    third = np.where(rng.random(600) < 0.6, rng.integers(3, size=600), second)
    columns = {"A": ("abcd", first), "B": ("xyz", second), "C": ("uvw", third)}
    frame = pd.DataFrame({name: np.array(list(letters))[codes] for name, (letters, codes) in columns.items()})
    learned = kgmi.learn(frame, alphabet="own", n_parents=1, forbidden=[("A", "B")], share="shared")
    (edge,) = [edge for edge in learned.trust.edges if edge[1] == "C"]
    alone = kgmi.learn(frame, alphabet="own", n_parents=1, forbidden=[("A", "B")], share="node")
    assert learned.trust.edges[edge] == alone.trust.edges[edge]
    assert "ruled out beforehand" in learned.trust.sentence


def test_certain_edges_are_right_and_clear_ones_mostly():
    """Small random problems of several kinds: what the words promise holds on average over them."""
    right = {"certain": [], "clear": []}
    rng = np.random.default_rng(110)
    for number in range(24):
        dag = kgmi.Dag.random(8, 2, rng=rng, mixed=bool(number % 2))
        kernel = kgmi.Kernel.random(3, 2, rng=rng, concentration=1.0)
        rows = np.zeros((int(rng.choice([150, 500])), 8), dtype=int)
        for child, parents in enumerate(dag.parents):
            padded = [*parents, *parents, *parents][:2]
            law = kernel.table[tuple(rows[:, p] for p in padded)] if parents else np.full((len(rows), 3), 1 / 3)
            rows[:, child] = (rng.random((len(rows), 1)) > law.cumsum(axis=1)[:, :-1]).sum(axis=1)
        learned = kgmi.learn(rows, n_states=3, n_parents=2)
        true = {(f"X{p + 1}", f"X{c + 1}") for p, c in dag.edges}
        for edge, strength in learned.trust.edges.items():
            if strength in right:
                right[strength].append(edge in true)
    assert len(right["certain"]) > 20
    assert len(right["clear"]) > 20
    assert np.mean(right["certain"]) > 0.98
    assert np.mean(right["clear"]) > 0.9


def test_the_command_line_says_it(tmp_path):
    code, out, _ = run_kgmi("learn", "--example", "paper", "--json")
    assert code == 0
    assert json.loads(out)["trust"]["level"] == "high"
    code, out, _ = run_kgmi("learn", "--example", "paper", "--out", str(tmp_path / "result"))
    assert "How far to trust it: far, if the columns stand in order." in " ".join(out.split())
    assert json.loads((tmp_path / "result" / "record.json").read_text(encoding="utf-8"))["trust"]["level"] == "high"


def test_the_benchmark_counts_what_is_right():
    code, out, _ = run_kgmi("bench", "trust", "--problems", "8", "--seed", "111", "--json")
    assert code == 0
    problems = json.loads(out)["problems"]
    assert [one["kind"] for one in problems] == ["two parents", "mixed", "trees and roots", "no edges"] * 2
    code, out, _ = run_kgmi("bench", "trust", "--problems", "8", "--seed", "111")
    shown = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
    clear = [right for one in problems for strength, right in one["edges"] if strength == "clear"]
    assert int(shown["clear"][0]) == len(clear) > 5
    assert shown["clear"][1] == f"{np.mean(clear):.1%}"
    assert sum(int(shown[level][0]) for level in ("high", "fair", "low")) == 8
    assert run_kgmi("bench", "trust", "--problems", "0")[0] == 2
