"""Clear cases: one look gives what the whole search gives, and unclear ones are left to the search."""

from __future__ import annotations

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, count_pairs, sample
from kgmi.guides.contextual import Contextual
from kgmi.search import solution as solving
from kgmi.search import solve
from kgmi.search.early_exit import clear_case
from kgmi.search.rounds import make_state
from kgmi.search.scan import Scan

from . import plain_guides
from .search_drills import problem_for, rows_observed

PAPER = Dag.paper()
XOR = Kernel(np.array([[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]]))


def rows_of(graph, n_rows, seed, kernel=None):
    rng = np.random.default_rng(seed)
    kernel = kernel or Kernel.paper(rng.uniform(-0.1, 0.1, 9))
    return sample(Process(graph, kernel), n_rows, rng=rng)


def problem_of(rows, **more):
    return problem_for(rows_observed(rows, int(rows.max()) + 1), **more)


def tables_of(rows, n_states, *nodes):
    table = np.zeros((n_states,) * len(nodes), dtype=int)
    np.add.at(table, tuple(rows[:, node] for node in nodes), 1)
    return table


@pytest.mark.parametrize("n_copies", [1, 2])
def test_the_best_parents_are_those_of_brute_force(n_copies):
    """Of few nodes all pairs are looked at; of more, pairs with the best partners of a parent."""
    rows = rows_of(PAPER.copies(n_copies), 500, 101)
    n_nodes, scan = rows.shape[1], Scan(rows_observed(rows))
    leads, single_fits = scan.best_singles()
    pairs, pair_fits = scan.best_pairs(leads)
    for child in range(1, n_nodes):
        singles = [plain_guides.fitted(tables_of(rows, 3, node, child)) for node in range(child)]
        assert leads[child] == int(np.argmax(singles))
        assert single_fits[child] == pytest.approx(max(singles))
    for child in range(2, n_nodes):
        every = {
            (a, b): plain_guides.fitted(tables_of(rows, 3, a, b, child)) for b in range(child) for a in range(b)
        }
        best = tuple(sorted(pairs[child].tolist()))
        assert pair_fits[child, 0] == pytest.approx(every[best])
        if n_copies == 1:
            assert best == max(every, key=every.get)
        del every[best]
        seen = [value for pair, value in every.items() if {*pair} & {*best}] or [-np.inf]
        assert max(seen) - 1e-9 <= pair_fits[child, 1] <= max(every.values(), default=-np.inf) + 1e-9


def test_heads_and_roots_are_scored_as_brute_force_does():
    rows = rows_of(PAPER, 300, 102)
    scan = Scan(rows_observed(rows))
    logs = np.log(np.random.default_rng(5).dirichlet(np.ones(3), (3, 3)))
    sums = scan.head_sums(np.array([(1, 0, 2), (2, 5, 7)]), logs)
    expected = np.full((2, 10, 10), np.nan)
    for first, second, child in ((1, 0, 2), (2, 5, 7)):
        for node in range(child):
            for head, family in enumerate([(node, second, child), (first, node, child)]):
                if node != (second, first)[head]:
                    expected[head, child, node] = (tables_of(rows, 3, *family) * logs).sum()
    np.testing.assert_allclose(sums, expected)
    every = {(a, b): tables_of(rows, 3, a, b, 6) for a in range(6) for b in range(6) if a != b}
    for lead in (-1, 4):
        some = [table for pair, table in every.items() if lead in (-1, *pair)]
        found = scan.best_fits(np.array([6]), np.array([lead]), logs)[0]
        assert found == pytest.approx(
            [max((one * logs).sum() for one in some), max(map(plain_guides.fitted, some))]
        )


CLEAR = {
    "paper": lambda seed: rows_of(PAPER, 3000, seed),
    "copies": lambda seed: rows_of(PAPER.copies(3), 2000, seed),
    "mendelian": lambda seed: rows_of(Dag.random(12, 2, rng=seed), 2000, seed, Kernel.mendelian()),
    "xor": lambda seed: rows_of(Dag.random(10, 2, rng=seed), 2000, seed, XOR),
    "two states": lambda seed: rows_of(Dag.random(10, 2, rng=seed), 5000, seed, Kernel.random(2, 2, rng=seed)),
    "few rows": lambda seed: rows_of(PAPER, 400, seed),
}


def whole_search(problem, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(solving, "clear_case", lambda problem: None)
        return solve(problem)


def assert_same(quick, whole):
    """The roles of all parents may be exchanged."""
    assert whole.margin is None
    assert [{*ps} for ps in quick.parents] == [{*ps} for ps in whole.parents]
    assert quick.state.together == whole.state.together
    assert quick.share == whole.share == "shared"
    for name, score in quick.scores.items():
        assert whole.scores[name] == pytest.approx(score)
    again = make_state(quick.problem, quick.state.groups, quick.state.together)
    assert quick.score.total == pytest.approx(again.total)
    if quick.parents == whole.parents:
        np.testing.assert_allclose(quick.heads, whole.heads, atol=0.01)


@pytest.mark.parametrize("share", ["auto", "shared"])
@pytest.mark.parametrize("name", CLEAR)
def test_a_clear_case_ends_where_the_whole_search_ends(name, share, monkeypatch):
    n_clear = 0
    for seed in range(101, 107):
        quick = solve(problem_of(CLEAR[name](seed), share=share))
        if quick.margin is not None:
            n_clear += 1
            assert_same(quick, whole_search(problem_of(CLEAR[name](seed), share=share), monkeypatch))
    assert n_clear >= (0 if name == "few rows" else 2)


def test_on_random_tables_clear_or_not_the_answer_is_that_of_the_whole_search(monkeypatch):
    n_clear = 0
    for number in range(40):
        rng = np.random.default_rng([9501, number])
        n_nodes, n_rows, n_states = (
            int(rng.integers(4, 20)),
            int(rng.choice([100, 300, 1000])),
            int(rng.integers(2, 4)),
        )
        table = Kernel.random(n_states, 2, rng=rng, concentration=rng.choice([0.1, 0.3, 1.0])).table
        dag = Dag.random(n_nodes, 2, rng=rng, mixed=bool(rng.random() < 0.3), root_probability=0.2)
        rows = rows_of(dag, n_rows, rng, Kernel((table + 0.01) / (1 + 0.01 * n_states)))
        quick = solve(problem_of(rows))
        if quick.margin is not None:
            n_clear += 1
            assert_same(quick, whole_search(problem_of(rows), monkeypatch))
    assert 5 < n_clear < 35


def two_kernels():
    rng = np.random.default_rng(101)
    dag = Dag.random(16, 2, rng=101)
    rows = rows_of(dag, 3000, 101, Kernel.random(3, 2, rng=rng))
    other = Kernel.random(3, 2, rng=rng).table
    for child, parents in enumerate(dag.parents):
        if len(parents) == 2 and child % 2:
            law = other[tuple(rows[:, p] for p in parents)]
            rows[:, child] = (law.cumsum(axis=1) < rng.random((len(rows), 1))).sum(axis=1).clip(0, 2)
    return rows


UNCLEAR = {
    "few rows": lambda: rows_of(PAPER, 50, 101),
    "two kernels": two_kernels,
    "one parent": lambda: rows_of(Dag.paper_mixed(), 3000, 101),
    "nothing": lambda: np.random.default_rng(101).integers(0, 3, (1000, 8)),
    "a state that never occurs": lambda: np.minimum(rows_of(PAPER, 3000, 101), [[2] * 9 + [1]]),
    "gaps": lambda: np.where(np.arange(30_000).reshape(3000, 10) == 7, -1, rows_of(PAPER, 3000, 101)),
}


@pytest.mark.parametrize("name", UNCLEAR)
def test_an_unclear_case_is_left_to_the_search(name):
    assert clear_case(problem_of(UNCLEAR[name]())) is None


RULES = [
    {"forbidden": [(0, 5)]},
    {"required": [(0, 5)]},
    {"tiers": [0] * 3 + [1] * 7},
    {"order": "learn"},
    {"only_children": [9]},
]
OPTIONS = [{"n_heads": 1}, {"n_heads": 3}, {"error": 0.05}, {"roots": frozenset({0, 1})}, {"search": "heads"}]
OPTIONS += [{"share": "node"}, {"share": "classes"}, {"labels": (0, 1) * 5}, {"known": {2: Kernel.paper().table}}]


@pytest.mark.parametrize("more", [*({"candidates": rules} for rules in RULES), *OPTIONS], ids=str)
def test_what_the_quick_look_does_not_cover_is_left_to_the_search(more):
    observed = rows_observed(rows_of(PAPER, 3000, 101))
    assert clear_case(problem_for(observed)) is not None
    assert clear_case(problem_for(observed, **more)) is None


def test_other_guides_weights_and_alphabets_are_left_to_the_search():
    rows = rows_of(PAPER, 3000, 101)
    guide = Contextual(count_pairs(rows, 3).pair_joint(0.0))
    assert clear_case(problem_for(rows_observed(rows), guide=guide)) is None
    assert clear_case(problem_for(rows_observed(rows, weights=np.full(3000, 2.0)))) is None
    assert clear_case(problem_for(rows_observed(rows, alphabets=(0, 1) * 5))) is None


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
@pytest.mark.parametrize("seed", [217, 219, 227])
def test_roots_that_together_could_pay_for_a_kernel_are_left_to_the_search(n_parents, seed):
    assert clear_case(problem_of(weak_followers(n_parents, seed))) is None


@pytest.mark.parametrize("n_copies", [1, 2])
def test_parents_that_tell_nothing_each_by_itself_are_found(n_copies):
    rng = np.random.default_rng(232)
    first, second = rng.integers(0, 3, (2, 3000, 1))
    both = np.where(rng.random((3000, 1)) < 0.3, rng.integers(0, 3, (3000, 1)), (first + second) % 3)
    rows = np.hstack([rows_of(PAPER.copies(n_copies), 3000, 233), first, second, both])
    assert {*solve(problem_of(rows)).parents[-1]} == {rows.shape[1] - 3, rows.shape[1] - 2}
