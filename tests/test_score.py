"""The score against a plain version of its formula, equivalence of graphs, and what penalties cost."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, sample
from kgmi.candidates import candidate_sets
from kgmi.counts.bits import RowCounts
from kgmi.penalty import PENALTIES, penalty_named, regret
from kgmi.problem import Problem
from kgmi.search.given import own_state
from kgmi.search.solution import solve

from . import plain_guides
from .plain_score import Facts, Shape, log_normaliser, plain_score
from .strategies import seeds

PARTS = ("gain", "kernels", "roles", "sets", "degrees", "sharing", "gaps")


def random_rows(rng, n_nodes, n_rows, sizes, *, shared, independent):
    """Rows of a random graph in the order of the columns; nodes of one size may share a kernel of two parents."""
    codes = np.zeros((n_rows, n_nodes), dtype=np.int8)
    kernels = {}
    for node, size in enumerate(sizes):
        alike = [other for other in range(node) if sizes[other] == size or not shared]
        parents = [] if independent or len(alike) < 2 else rng.permutation(alike)[: rng.integers(1, 3)].tolist()
        shape = (*(sizes[p] for p in parents), size)
        table = rng.dirichlet(np.full(size, 0.4), size=shape[:-1])
        table = kernels.setdefault(shape, table) if shared else table
        law = table[tuple(codes[:, p] for p in parents)] if parents else np.tile(table, (n_rows, 1))
        codes[:, node] = (rng.random((n_rows, 1)) > law.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return codes


@st.composite
def cases(draw):
    """(problem, facts without what an order adds, tiers or None)."""
    rng = np.random.default_rng(draw(seeds))
    n_nodes = draw(st.integers(2, 6))
    is_known = draw(st.sampled_from([False] * 3 + [True]))
    mixed = not is_known and draw(st.booleans())
    sizes = tuple(rng.integers(2, 4, n_nodes).tolist()) if mixed else (draw(st.sampled_from([2, 3])),) * n_nodes
    n_rows = draw(st.integers(20, 300))
    kind = {"shared": draw(st.booleans()), "independent": draw(st.sampled_from([False, False, False, True]))}
    codes = random_rows(rng, n_nodes, n_rows, sizes, **kind)
    is_exact = draw(st.sampled_from([False] * 4 + [True]))
    weights = rng.dirichlet(np.ones(n_rows)) if is_exact else None
    if not is_exact and draw(st.booleans()):
        weights = rng.integers(1, 4, n_rows).astype(float) if draw(st.booleans()) else None
    if not is_exact and draw(st.sampled_from([False, False, True])):
        codes[rng.random(codes.shape) < rng.choice([0.05, 0.7], n_nodes)] = -1
        codes[:5] = 0  # no column is empty, and no two
    sizes = (
        tuple(size + 1 for size in sizes) if draw(st.sampled_from([False, False, True])) and not is_known else sizes
    )
    alphabets = sizes if not mixed or draw(st.booleans()) else tuple(
        (size, int(rng.integers(2))) for size in sizes
    )  # fmt: skip
    alphabets = tuple(sorted(set(alphabets)).index(one) for one in alphabets)
    labels = tuple(rng.integers(0, 2, n_nodes).tolist()) if draw(st.sampled_from([False, False, True])) else ()
    penalty = draw(st.sampled_from(["nml", "nml", "bic", "aic", "none", 0.7]))
    degrees = draw(st.sampled_from([(0, 2), (0, 1, 2)]))
    known, error = {}, 0.0
    if is_known:
        kernel = Kernel.random(sizes[0], 2, rng=rng, concentration=0.5)
        table = 0.98 * kernel.table + 0.02 / sizes[0]
        known = {2: table} | ({1: table.mean(axis=1)} if 1 in degrees else {})
        error, labels = draw(st.sampled_from([0.0, 0.05, None])), ()
    elif not is_exact:
        error = draw(st.sampled_from([0.0, 0.0, 0.05]))
    rules = {"order": draw(st.sampled_from(["given", "learn", rng.permutation(n_nodes).tolist()]))}
    if not isinstance(rules["order"], list) and draw(st.booleans()):
        rules["tiers"] = rng.integers(0, 2, n_nodes).tolist()
    edges = [(a, b) for a in range(n_nodes) for b in range(n_nodes) if a != b and rng.random() < 0.15]
    rules["forbidden"] = edges if draw(st.booleans()) else []
    free = allowed_pairs(n_nodes, rules)
    rules["required"] = free[: 1 if draw(st.booleans()) and not is_known else 0]
    problem = Problem(
        RowCounts(codes, sizes, weights, alphabets, is_exact=is_exact),
        candidate_sets(n_nodes, **rules),
        degrees=degrees,
        penalty=penalty_named(penalty),
        share=draw(st.sampled_from(["auto", "shared", "classes", "node"])),
        labels=labels,
        error=error,
        known=known,
    )
    facts = Facts(
        codes.tolist(), sizes, [], [], [], weights, alphabets, labels or (0,) * n_nodes, degrees, penalty, known,
        error, tuple(rules["required"]), exact=is_exact,
    )  # fmt: skip
    return problem, facts, rules


def allowed_pairs(n_nodes, rules, order=None):
    """(parent, child) that are allowed, in the order that was learned if there is one."""
    tiers = rules.get("tiers") or [0] * n_nodes
    order = rules["order"] if isinstance(rules["order"], list) else order
    place = np.argsort(order).tolist() if order else [0] * n_nodes
    if not order and rules["order"] == "given" and not rules.get("tiers"):
        place = list(range(n_nodes))
    is_open = rules["order"] == "learn" and not order
    pairs = itertools.permutations(range(n_nodes), 2)
    found = [(a, b) for a, b in pairs if (tiers[a], place[a]) < (tiers[b], place[b])]
    found += [(a, b) for a, b in itertools.permutations(range(n_nodes), 2) if is_open and tiers[a] == tiers[b]]
    return sorted({*found} - {*map(tuple, rules["forbidden"])})


def shape_of(solution):
    return Shape(
        [list(ps) for ps in solution.parents],
        [list(group.families) for group in solution.state.groups],
        [list(block) for block in solution.state.together],
        [group.implied for group in solution.state.groups],
        solution.share,
    )


def fill(facts, rules, solution):
    """Add what the order says to the facts."""
    n_nodes, tiers = len(facts.sizes), rules.get("tiers")
    learned = list(solution.order) if rules["order"] == "learn" else None
    pairs = allowed_pairs(n_nodes, rules, learned)
    facts.candidates = [[a for a, b in pairs if b == node] for node in range(n_nodes)]
    facts.order = list(solution.order)
    by_tier = tiers and not learned
    facts.stage = list(tiers) if by_tier else [facts.order.index(node) for node in range(n_nodes)]
    if learned:
        tiers = tiers or [0] * n_nodes
        facts.n_choices = [sum(tier <= tiers[node] for tier in tiers) - 1 for node in range(n_nodes)]
    facts.error = solution.problem.error
    apart = {(a, b) for a, b in rules["forbidden"]} | {(b, a) for a, b in rules["forbidden"]}
    facts.together_ok = lambda one, other: (
        other in facts.candidates[one]
        or bool(rules.get("tiers") and rules["tiers"][one] == rules["tiers"][other] and (one, other) not in apart)
    )


def check(problem, facts, rules):
    """Compare the parts of the score of what is found; return the solution."""
    solution = solve(problem)
    fill(facts, rules, solution)
    parts, found = plain_score(facts, shape_of(solution)), solution.score
    # Beyond 300 cases the normaliser of two states is an expansion that is right to 1e-5.
    many = facts.penalty == "nml" and not facts.exact and problem.counts.n_rows * problem.n_nodes > 300
    slack = 1e-9 + many * 3e-5 * problem.n_nodes
    for name in PARTS:
        assert getattr(found, name) == pytest.approx(parts[name], rel=1e-9, abs=slack), name
    prices = sum(parts[name] for name in PARTS[1:])
    assert found.total == pytest.approx(parts["gain"] - prices, rel=1e-9, abs=slack)
    assert {(a, b) for a, b in rules["required"]} <= {(p, c) for c, ps in enumerate(solution.parents) for p in ps}
    return solution


@settings(max_examples=150)
@given(cases())
def test_the_score_of_what_was_found_is_that_of_the_formula(case):
    check(*case)


@pytest.mark.parametrize(
    ("dag", "n_rows", "order", "part"),
    [
        (Dag.paper(10), 100, "learn", "drawn"),
        (Dag.paper(10), 250, "given", "drawn"),
        (Dag.paper(10), 1000, "given", "clear"),
        (Dag.paper_mixed(), 251, "given", "implied"),
        (Dag.paper_mixed(), 1000, "learn", "implied"),
    ],
)
def test_the_same_with_implied_kernels_and_roots_drawn_together(dag, n_rows, order, part):
    rng = np.random.default_rng(n_rows)
    table = Kernel.random(3, 2, rng=rng, concentration=0.7).table
    codes = sample(Process(dag, Kernel((table + 0.03) / 1.09)), n_rows, rng=rng)
    n_nodes, rules = codes.shape[1], {"order": order, "forbidden": [], "required": []}
    problem = Problem(RowCounts(codes, (3,) * n_nodes), candidate_sets(n_nodes, order=order), share="shared")
    facts = Facts(codes.tolist(), (3,) * n_nodes, [], [], [], None, (3,) * n_nodes, (0,) * n_nodes)
    solution = check(problem, facts, rules)
    assert solution.margin is not None if part == "clear" else solution.margin is None
    assert any(group.implied for group in solution.state.groups) == (part == "implied")
    assert any(solution.state.together)
    assert edges_of(solution.parents) == {*dag.edges} or order == "learn"


# ---- equivalent graphs -------------------------------------------------------------------------------------------


def edges_of(parents):
    return {(parent, child) for child, ps in enumerate(parents) for parent in ps}


def all_dags(n_nodes):
    """Parents of all graphs without cycles, by trying all choices of edges."""
    nodes = range(n_nodes)
    sets = [
        [c for size in nodes for c in itertools.combinations([p for p in nodes if p != child], size)]
        for child in nodes
    ]
    for parents in itertools.product(*sets):
        left = set(nodes)
        while free := [node for node in left if not left & {*parents[node]}]:
            left -= {*free}
        if not left:
            yield parents


def pattern(parents):
    """Skeleton and v-structures: what equivalent graphs have in common."""
    skeleton = frozenset(frozenset(edge) for edge in edges_of(parents))
    colliders = frozenset(
        (child, pair)
        for child, ps in enumerate(parents)
        for pair in map(frozenset, itertools.combinations(ps, 2))
        if pair not in skeleton
    )
    return skeleton, colliders


@pytest.mark.parametrize("penalty", ["nml", "bic", "aic", 0.7])
@pytest.mark.parametrize(("n_nodes", "n_classes"), [(3, 11), (4, 185)])
def test_equivalent_graphs_have_one_score_where_each_node_has_its_kernel(n_nodes, n_classes, penalty):
    rng = np.random.default_rng(n_nodes)
    for sizes, n_rows in [((2, 3, 2, 4), 90), ((3, 3, 3, 3), 700)]:
        codes = random_rows(rng, n_nodes, n_rows, sizes[:n_nodes], shared=False, independent=False)
        problem = Problem(
            RowCounts(codes, tuple(size + 1 for size in sizes[:n_nodes])),  # a state that never occurs
            candidate_sets(n_nodes, order="learn"),
            n_heads=3,
            degrees=(0, 1, 2, 3),
            share="node",
            penalty=penalty_named(penalty),
        )
        found = {}
        for parents in all_dags(n_nodes):
            found.setdefault(pattern(parents), []).append(own_state(problem, parents))
        assert len(found) == n_classes
        for states in found.values():
            scores = [one.total for one in states]
            assert max(scores) == pytest.approx(min(scores), rel=1e-9, abs=1e-9)


# ---- penalties ---------------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(st.integers(1, 300), st.integers(1, 300))
def test_the_regret_is_the_sum_over_all_samples(n_cases, n_states):
    assert regret(n_cases, n_states) == pytest.approx(log_normaliser(n_cases, n_states), rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("n_states", [2, 3, 4])
def test_so_it_is_sample_by_sample(n_states):
    for n_cases in range(1, 10):
        assert log_normaliser(n_cases, n_states) == pytest.approx(plain_guides.regret(n_cases, n_states), rel=1e-12)


@pytest.mark.parametrize("n_states", [2, 9, 301, 1000, 5000])
@pytest.mark.parametrize("n_cases", [1, 10, 301, 1500])
def test_expansions_are_right(n_cases, n_states):
    exact = 1e-5 if n_states <= 300 else 1e-3
    assert regret(n_cases, n_states) == pytest.approx(log_normaliser(n_cases, n_states), abs=exact)


@settings(max_examples=200)
@given(st.sampled_from([*PENALTIES, 0.7]), st.integers(0, 5000), st.integers(1, 360))
def test_costs_are_not_negative_and_grow_with_cases_and_states(name, n_cases, n_states):
    def cost(n_cases, n_states):
        return float(penalty_named(name).cost(np.array(float(n_cases)), np.array(n_states)))

    least = cost(n_cases, n_states)
    assert least >= 0 if n_states > 1 else least == 0
    assert cost(n_cases + 7, n_states) >= least - 2e-3  # expansions begin at 300 states
    assert cost(n_cases, n_states + 1) >= least - 2e-3
