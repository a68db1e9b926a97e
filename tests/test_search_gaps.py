"""Parents with many gaps, and stand-ins that have none."""

from __future__ import annotations

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, learn, sample
from kgmi.search.discover import discover
from kgmi.search.gaps import weigh_gaps

from .search_drills import paper_kernel, plan_for, rows_observed


def copied(rng, column, share):
    """A column with a share of its values drawn anew."""
    return np.where(rng.random(len(column)) < share, rng.integers(0, 3, len(column)), column)


def with_gaps(rng, rows, shares):
    rows = rows.copy()
    rows[rng.random(rows.shape) < shares] = -1
    return rows


@pytest.mark.parametrize("share", ["auto", "node", "shared"])
@pytest.mark.parametrize(("n_rows", "gaps", "noise"), [(2_000, 0.8, 0.4), (2_000, 0.5, 0.15), (30_000, 0.8, 0.4)])
def test_the_true_parent_beats_a_stand_in_that_was_always_seen(share, n_rows, gaps, noise):
    rng = np.random.default_rng(7701)
    true = rng.integers(0, 3, n_rows)
    rows = np.stack([true, copied(rng, true, noise), copied(rng, true, 0.2)], axis=1)
    learned = learn(with_gaps(rng, rows, [gaps, 0, 0]), n_parents=2, missing="pairwise", share=share)
    assert learned.parents["X3"] == ("X1",)


def test_one_of_two_parents_with_gaps_beats_its_stand_in():
    rng = np.random.default_rng(7702)
    rows = rng.integers(0, 3, (4_000, 3))
    rows[:, 2] = copied(rng, rows[:, 0], 0.3)
    chance = Kernel.random(3, 2, rng=7703, concentration=0.3).table[rows[:, 0], rows[:, 1]]
    child = (rng.random(4_000)[:, None] > chance.cumsum(axis=1)).sum(axis=1)
    full = np.column_stack([rows, child])
    assert set(learn(full, n_parents=2).parents["X4"]) == {"X1", "X2"}
    found = learn(with_gaps(rng, full, [0.6, 0, 0, 0]), n_parents=2, missing="pairwise")
    assert set(found.parents["X4"]) == {"X1", "X2"}


def test_required_parents_stay():
    rng = np.random.default_rng(7704)
    true = rng.integers(0, 3, 2_000)
    rows = np.stack([true, copied(rng, true, 0.4), copied(rng, true, 0.2)], axis=1)
    gappy = with_gaps(rng, rows, [0.8, 0, 0])
    found = learn(gappy, n_parents=1, missing="pairwise", required=[("X2", "X3")])
    assert found.parents["X3"] == ("X2",)


def test_without_stand_ins_nothing_changes():
    rng = np.random.default_rng(7705)
    dag = Dag.paper()
    rows = with_gaps(rng, sample(Process(dag, paper_kernel(rng)), 1_500, rng=rng), 0.15)
    plan = plan_for(rows_observed(rows))
    found = discover(plan)
    assert [set(ps) for ps in found.state.parents] == [set(ps) for ps in dag.parents]
    assert weigh_gaps(found.plan, found.state) == found.state.parents


@pytest.mark.parametrize("filled", [0.02, 0.1])
def test_a_noise_column_that_is_hardly_ever_seen_is_nobodys_parent(filled):
    edges = 0
    for seed in range(7710, 7718):
        rng = np.random.default_rng(seed)
        rows = sample(Process(Dag.paper(), Kernel.paper()), 500, rng=rng)
        noise = np.where(rng.random(500) < filled, rng.integers(0, 3, 500), -1)
        learned = learn(np.column_stack([noise, rows]), n_parents=2, n_states=3, missing="pairwise")
        edges += sum(0 in parents for parents in learned.dag.parents)
        heads = [(head, child) for child, ps in enumerate(learned.dag.parents) for head in range(len(ps))]
        assert all(learned.attention[head, child, 0] < 0.5 for head, child in heads if not edges)
    assert edges <= 1


@pytest.mark.parametrize("share", ["node", "auto"])
def test_without_common_rows_nobody_is_replaced_and_the_status_can_be_read(share):
    rng = np.random.default_rng(7720)
    rows = rng.integers(0, 3, (3_000, 6))
    rows[:, 5] = copied(rng, (rows[:, 2] + rows[:, 3]) % 3, 0.3)
    rows[:, 4] = copied(rng, rows[:, 5], 0.2)  # a copy of the child, before it in the order
    rows[:2_700, 4] = -1
    rows[2_700:, [2, 3]] = -1
    learned = learn(rows, n_parents=2, missing="pairwise", share=share)
    assert set(learned.parents["X6"]) == {"X3", "X4"}
    assert "Nodes by number of parents" in learned.status


def test_tables_that_would_be_too_large_are_not_made():
    rng = np.random.default_rng(7721)
    rows = rng.integers(0, 70, (30_000, 4))
    rows[:, 3] = np.where(rng.random(30_000) < 0.3, rows[:, 3], rows[:, 0])
    rows[rng.random(30_000) < 0.4, 1] = -1
    assert learn(rows, n_parents=2, missing="pairwise", share="node").parents["X4"] == ("X1",)


def test_the_scores_are_those_that_decided():
    rng = np.random.default_rng(7722)
    true = rng.integers(0, 3, 2_000)
    rows = np.stack([true, copied(rng, true, 0.4), copied(rng, true, 0.2)], axis=1)
    learned = learn(with_gaps(rng, rows, [0.8, 0, 0]), n_parents=1, missing="pairwise")
    assert learned.scores[0, 2, 0] > learned.scores[0, 2, 1]
    assert learned.attention[0, 2].argmax() == 0
    assert "prefers X1 to X2" in learned.status
    assert "Taken one by one" not in learned.status
