"""Clear cases: one look gives what the whole search gives, and unclear ones are left to the search."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import kgmi
from kgmi.counts.bits import RowCounts
from kgmi.counts.tally import all_sets
from kgmi.learning.inputs import Limits, Reading, gather
from kgmi.learning.ready import make_ready
from kgmi.learning.searched import plan_of
from kgmi.search.alternate import state_of
from kgmi.search.decisive import decide
from kgmi.search.decisive.compiled import compiled_scan
from kgmi.search.decisive.shared import heaviest_tail
from kgmi.search.decisive.tiny import TinyScan

SCANS = ("tiny", "compiled")


def rows_of(graph, n_rows, seed, kernel=None):
    rng = np.random.default_rng(seed)
    kernel = kernel or kgmi.Kernel.paper(rng.uniform(-0.1, 0.1, 9))
    return kgmi.sample(kgmi.Process(graph, kernel), n_rows, rng=rng)


def plan_for(rows, **options):
    usual = kgmi.learn.__kwdefaults__
    ready = make_ready({"rows": rows, **usual, "n_parents": 2, **options}, usual)
    return plan_of(ready.data, ready.kernel, ready.settings)


def scan_of(name, rows, n_states):
    n_nodes = rows.shape[1]
    scan = compiled_scan(RowCounts(rows, (n_states,) * n_nodes))
    return scan if name == "compiled" else TinyScan(scan.rows, scan.tables(all_sets(n_nodes, 3).astype(np.int64)))


def brute(rows, n_states, *nodes):
    table = np.zeros((n_states,) * len(nodes), dtype=int)
    np.add.at(table, tuple(rows[:, node] for node in nodes), 1)
    return table


def fit(table):
    """Log-likelihood of the last axis given the others."""
    share = table / np.maximum(table.sum(axis=-1, keepdims=True), 1)
    return float((table * np.log(np.where(table > 0, share, 1.0))).sum())


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize(("n_states", "n_rows"), [(2, 63), (3, 200), (4, 65), (5, 1)])
def test_every_scan_counts_families_of_three_as_brute_force_does(name, n_states, n_rows):
    rows = np.random.default_rng(n_states).integers(0, n_states, (n_rows, 7))
    scan = scan_of(name, rows, n_states)
    families = np.array([(0, 1, 2), (3, 1, 6), (5, 0, 6), (2, 4, 5)])
    for family, table in zip(families.tolist(), scan.tables(families), strict=True):
        assert (table == brute(rows, n_states, *family)).all()
    pairs = scan.rows.pair_tables(np.array([0, 5, 6]), np.array([3, 2, 1]))
    for (first, second), table in zip([(0, 3), (5, 2), (6, 1)], pairs, strict=True):
        assert (table == brute(rows, n_states, first, second)).all()
    assert (scan.rows.singles == [np.bincount(column, minlength=n_states) for column in rows.T]).all()


@pytest.mark.parametrize("name", SCANS)
def test_every_scan_finds_the_best_parents_of_every_node(name):
    rows = rows_of(kgmi.Dag.paper(), 500, 101)
    scan = scan_of(name, rows, 3)
    leads, single_fits = scan.best_singles()
    pairs, pair_fits = scan.best_pairs(leads)
    assert leads[0] == -1
    assert (pairs[:2] == -1).all()
    for child in range(1, 10):
        singles = [fit(brute(rows, 3, node, child)) for node in range(child)]
        assert leads[child] == int(np.argmax(singles))
        assert single_fits[child] == pytest.approx(max(singles))
    for child in range(2, 10):
        every = {(a, b): fit(brute(rows, 3, a, b, child)) for b in range(child) for a in range(b)}
        best = max(every, key=every.get)
        assert tuple(sorted(pairs[child].tolist())) == best
        assert pair_fits[child, 0] == pytest.approx(every.pop(best))
        seen = [value for pair, value in every.items() if {*pair} & {*best}] or [-np.inf]
        assert max(seen) - 1e-9 <= pair_fits[child, 1] <= max(every.values(), default=-np.inf) + 1e-9


@pytest.mark.parametrize("name", SCANS)
def test_every_scan_scores_heads_and_roots_alike(name):
    rows = rows_of(kgmi.Dag.paper(), 300, 102)
    scan = scan_of(name, rows, 3)
    logs = np.log(np.random.default_rng(5).dirichlet(np.ones(3), (3, 3)))
    families = np.array([(1, 0, 2), (2, 5, 7)])
    sums = scan.head_sums(families, logs)
    for first, second, child in families.tolist():
        for node in range(10):
            for head, family in enumerate([(node, second, child), (first, node, child)]):
                stays = (second, first)[head]
                if node < child and node != stays:
                    assert sums[head, child, node] == pytest.approx((brute(rows, 3, *family) * logs).sum())
                else:
                    assert np.isnan(sums[head, child, node])
    assert np.isnan(sums[:, [0, 1, 3, 4, 5, 6, 8, 9]]).all()
    every = [(brute(rows, 3, a, b, 6) * logs).sum() for a in range(6) for b in range(6) if a != b]
    assert scan.best_fits(np.array([6]), np.array([-1]), logs)[:, 0] == pytest.approx(max(every))
    if name != "tiny":
        led = [(brute(rows, 3, a, b, 6) * logs).sum() for a in range(6) for b in range(6) if a != b and 4 in (a, b)]
        assert scan.best_fits(np.array([6]), np.array([4]), logs)[:, 0] == pytest.approx(max(led))


def _xor():
    table = np.full((2, 2, 2), 0.1)
    for a in range(2):
        for b in range(2):
            table[a, b, a ^ b] = 0.9
    return table


CLEAR = {
    "paper": lambda seed: rows_of(kgmi.Dag.paper(), 3000, seed),
    "copies": lambda seed: rows_of(kgmi.Dag.paper().copies(3), 2000, seed),
    "mendelian": lambda seed: rows_of(kgmi.Dag.random(12, 2, rng=seed), 2000, seed, kgmi.Kernel.mendelian()),
    "xor": lambda seed: rows_of(kgmi.Dag.random(10, 2, rng=seed), 2000, seed, kgmi.Kernel(_xor())),
    "two states": lambda seed: rows_of(
        kgmi.Dag.random(10, 2, rng=seed), 5000, seed, kgmi.Kernel.random(2, 2, rng=seed)
    ),
}


@pytest.mark.parametrize("name", CLEAR)
def test_a_clear_case_ends_where_the_whole_search_ends(name, monkeypatch):
    n_clear = 0
    for seed in range(101, 105):
        rows = CLEAR[name](seed)
        quick = kgmi.learn(rows, n_parents=2)
        if "Clear at the first look" not in quick.status:
            continue
        n_clear += 1
        with monkeypatch.context() as patch:
            patch.setattr(sys.modules["kgmi.search.discover"], "decide", lambda plan, share: None)
            whole = kgmi.learn(rows, n_parents=2)
        assert [set(ps) for ps in quick.dag.parents] == [set(ps) for ps in whole.dag.parents]
        assert quick.dag.root_blocks == whole.dag.root_blocks
        assert quick.fit.score == pytest.approx(whole.fit.score, abs=1e-6 * abs(whole.fit.score))
        assert quick.fit.node_score == pytest.approx(whole.fit.node_score)
        if quick.dag.parents == whole.dag.parents:  # else the roles are exchanged
            assert np.allclose(quick.scores, whole.scores, atol=0.01, equal_nan=True)
    assert n_clear >= 2


def test_the_score_of_a_clear_case_is_that_of_its_state():
    plan = plan_for(rows_of(kgmi.Dag.paper().copies(2), 2000, 101))
    found = decide(plan, "auto")
    again = state_of(plan, found.state.parents, found.state.pools, found.state.together)
    assert any(found.state.together)
    assert found.state.score == pytest.approx(again.score)


def _two_kernels(seed):
    rng = np.random.default_rng(seed)
    rows = rows_of(kgmi.Dag.random(16, 2, rng=seed), 3000, seed, kgmi.Kernel.random(3, 2, rng=rng))
    other = kgmi.Kernel.random(3, 2, rng=rng).table
    for child, parents in enumerate(kgmi.Dag.random(16, 2, rng=seed).parents):
        if len(parents) == 2 and child % 2:
            law = other[tuple(rows[:, p] for p in parents)]
            rows[:, child] = (law.cumsum(axis=1) < rng.random((len(rows), 1))).sum(axis=1).clip(0, 2)
    return rows


UNCLEAR = {
    "few rows": lambda: rows_of(kgmi.Dag.paper(), 50, 101),
    "two kernels": lambda: _two_kernels(101),
    "one parent": lambda: rows_of(kgmi.Dag.paper_mixed(), 3000, 101),
    "nothing": lambda: np.random.default_rng(101).integers(0, 3, (1000, 8)),
    "a state that never occurs": lambda: np.minimum(rows_of(kgmi.Dag.paper(), 3000, 101), [[2] * 9 + [1]]),
}


@pytest.mark.parametrize("name", UNCLEAR)
def test_an_unclear_case_is_left_to_the_search(name):
    assert decide(plan_for(UNCLEAR[name]()), "auto") is None


@pytest.mark.parametrize(
    "options",
    [
        {"n_parents": 1},
        {"n_parents": 3},
        {"forbidden": [(0, 5)]},
        {"required": [(0, 5)]},
        {"tiers": [0] * 3 + [1] * 7},
        {"guide": "contextual"},
        {"error": 0.05},
        {"roots": [0, 1]},
        {"search": "heads"},
        {"order": "learn"},
    ],
    ids=str,
)
def test_what_the_quick_look_does_not_cover_is_left_to_the_search(options):
    rows = rows_of(kgmi.Dag.paper(), 3000, 101)
    assert decide(plan_for(rows), "auto") is not None
    assert decide(plan_for(rows, **options), "auto") is None


def test_kernels_for_each_node_or_class_are_left_to_the_search():
    plan = plan_for(rows_of(kgmi.Dag.paper(), 3000, 101))
    assert decide(plan, "node") is None
    assert decide(plan, "classes") is None
    assert decide(plan, "shared").node_score is None


def test_the_tail_of_misfits_is_heavy_only_where_a_class_could_pay_for_itself():
    rng = np.random.default_rng(101)
    for n_nodes in (8, 80, 800):
        chance = rng.chisquare(18, n_nodes) / 2
        assert heaviest_tail(chance, 18, 60.0) < 0
        some = chance.copy()
        some[: n_nodes // 4] += 60.0 / (n_nodes // 4) + 12
        assert heaviest_tail(some, 18, 60.0) > 0
    one = rng.chisquare(18, 80) / 2
    one[3] += 80
    assert heaviest_tail(one, 18, 60.0) > 0


def test_rows_with_gaps_are_left_to_the_search():
    rows = rows_of(kgmi.Dag.paper(), 1000, 101).astype(float)
    rows[0, 0] = np.nan
    data = gather(rows, Reading(missing="pairwise"), Limits())
    assert data.observed.has_gaps
    assert decide(plan_for(rows, missing="pairwise"), "auto") is None


def weak_followers(n_parents, seed):
    """Six nodes under a strong kernel of two parents, and six that follow others too weakly to pay for a kernel."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (1000, 16))
    strong = rng.dirichlet(np.full(3, 0.3), size=(3, 3)).cumsum(axis=2)
    for child in range(4, 10):
        first, second = rng.choice(child, 2, replace=False)
        laws = strong[rows[:, first], rows[:, second], :2]
        rows[:, child] = (rng.random(1000)[:, None] > laws).sum(axis=1)
    for child in range(10, 16):
        follow = rng.random(1000) < (0.12 if n_parents == 1 else 0.17)
        rows[follow, child] = rows[follow][:, rng.choice(4, n_parents, replace=False)].sum(axis=1) % 3
    return rows


@pytest.mark.parametrize("n_parents", [1, 2])
def test_roots_that_together_could_pay_for_a_kernel_are_left_to_the_search(n_parents):
    for seed in (217, 219, 227):
        plan = plan_for(weak_followers(n_parents, seed))
        assert decide(plan, "auto") is None


@pytest.mark.parametrize("name", SCANS)
def test_every_scan_looks_at_all_pairs_of_some_children(name):
    rows = np.random.default_rng(231).integers(0, 3, (300, 9))
    rows[:, 8] = (rows[:, 3] + rows[:, 6]) % 3
    children = np.array([2, 5, 8])
    fits = scan_of(name, rows, 3).best_fits(children, np.full(3, -1), np.zeros((3, 3, 3)))
    for child, found in zip(children.tolist(), fits[:, 1], strict=True):
        pairs = [(i, j) for j in range(child) for i in range(j)]
        assert found == pytest.approx(max(fit(brute(rows, 3, *pair, child)) for pair in pairs))


@pytest.mark.parametrize("search", ["auto", "exhaustive"])
def test_parents_that_tell_nothing_each_by_itself_are_left_to_the_search(search):
    rng = np.random.default_rng(232)
    first, second = rng.integers(0, 3, (2, 3000, 1))
    both = np.where(rng.random((3000, 1)) < 0.3, rng.integers(0, 3, (3000, 1)), (first + second) % 3)
    for n_copies in (1, 2):  # all families are counted at once, or not
        rows = rows_of(kgmi.Dag.paper().copies(n_copies), 3000, 233)
        learned = kgmi.learn(np.hstack([rows, first, second, both]), n_parents=2, search=search)
        node = rows.shape[1] + 2
        assert {*learned.dag.parents[node]} == {node - 2, node - 1}
