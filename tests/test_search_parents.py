"""Parents of one child, under a kernel of its own or a given one: against plain loops over all sets and tuples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, count_pairs, sample
from kgmi.counts.bits import RowCounts
from kgmi.guides.contextual import Contextual
from kgmi.memory import within
from kgmi.penalty import PENALTIES
from kgmi.score import degrees_cost
from kgmi.search import solve
from kgmi.search.given import own_state
from kgmi.search.own import OwnSets
from kgmi.search.rounds import choose
from kgmi.search.tuples import best_tuple, worth_under

from . import plain_guides
from .search_drills import kernel_of, observations, problem_for, rows_observed
from .strategies import seeds

some = settings(max_examples=25)


def masked(draw, observed, n_parents, **more):
    """A problem in which some nodes may not be parents of the last one, and others must be."""
    child = observed.n_nodes - 1
    allowed = draw(st.sets(st.sampled_from(range(child)), min_size=n_parents))
    required = draw(st.sets(st.sampled_from(sorted(allowed)), max_size=n_parents))
    rules = {
        "forbidden": [(node, child) for node in range(child) if node not in allowed],
        "required": [(node, child) for node in required],
    }
    return problem_for(observed, n_parents, candidates=rules, **more)


# ---- kernels of their own ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PENALTIES)
@some
@given(observed=observations(min_nodes=4, max_nodes=4, max_states=3, max_rows=20))
def test_a_set_is_worth_what_it_adds_to_the_score(name, observed):
    problem = problem_for(observed, 3, penalty=name)
    sets, nothing = OwnSets(problem), own_state(problem, ((),) * 4)
    for parents in [(0,), (2, 0), (0, 1, 2)]:
        n_parents = len(parents)
        gained = own_state(problem, ((), (), (), parents)).total - nothing.total
        said = degrees_cost(problem, [0, 0, 0, n_parents]) - degrees_cost(problem, [0] * 4)
        said += problem.choice_cost(3, n_parents) + problem.indifference * n_parents
        assert sets.value(3, parents) - sets.value(3, ()) == pytest.approx(gained + said, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("name", ["nml", "none"])
@some
@given(observed=observations(min_nodes=4, max_nodes=5, max_states=3), n_heads=st.integers(1, 3), data=st.data())
def test_the_best_sets_are_those_of_a_look_at_all_subsets(name, observed, n_heads, data):
    problem = masked(data.draw, observed, n_heads, penalty=name)
    sets, child = OwnSets(problem), observed.n_nodes - 1
    candidates, required = problem.candidates.of(child).tolist(), problem.candidates.required[child]
    for size, one in enumerate(sets.every()[child]):
        best = plain_guides.best_set(candidates, required, size, lambda parents: sets.value(child, parents))
        if best is None:
            assert one is None
            continue
        assert one.value == pytest.approx(sets.value(child, best), abs=1e-5)  # weights are summed in float32
        assert sets.value(child, one.parents) == pytest.approx(one.value, abs=1e-5)  # ties break either way
        assert list(one.parents) == sorted({*one.parents})
        assert len(one.parents) == size
        assert {*required} <= {*one.parents} <= {*candidates}


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("seed", range(7211, 7214))
def test_a_narrow_beam_keeps_what_is_required_and_no_exchange_of_one_parent_improves_it(seed, width):
    rows = np.random.default_rng(seed).integers(0, 2, (40, 9))
    sets = OwnSets(problem_for(rows_observed(rows, 2), 4, candidates={"required": [(2, 8)]}))
    narrow, wide = sets.best(8, width), sets.best(8, 10**6)
    for found, best in zip(narrow[1:], wide[1:], strict=True):
        assert 2 in found.parents
        assert found.value == pytest.approx(sets.value(8, found.parents))
        assert found.value <= best.value + 1e-9
        for parent, other in itertools.product({*found.parents} - {2}, {*range(8)} - {*found.parents}):
            exchanged = (*(p for p in found.parents if p != parent), other)
            assert len(found.parents) < 3 or sets.value(8, exchanged) <= found.value + 1e-9


def test_rows_in_blocks_give_the_same():
    codes = np.random.default_rng(7205).integers(-1, 3, (40, 5))
    whole = OwnSets(problem_for(rows_observed(codes))).every()
    with within(None, 1):
        assert OwnSets(problem_for(rows_observed(codes))).every() == whole


# ---- given kernels ----------------------------------------------------------------------------------------------


@st.composite
def cases(draw, n_parents, search="exhaustive"):
    """A problem, its last node, and a random kernel for it."""
    observed = draw(observations(min_nodes=6, max_nodes=6, max_states=3, max_rows=25, same_sizes=True))
    problem = masked(draw, observed, n_parents, search=search, list_length=2)
    table = Kernel.random(observed.sizes[0], n_parents, rng=draw(seeds)).table
    return problem, 5, kernel_of(problem, 5, range(n_parents), table)


def plain_gain(problem, table, parents, child):
    counts = problem.counts
    return plain_guides.gain(counts.codes, counts.sizes, counts.weights, table, parents, child)


@pytest.mark.parametrize("n_parents", [1, 2, 3])
@some
@given(data=st.data())
def test_an_exhaustive_look_is_the_best_of_all_permutations(n_parents, data):
    problem, child, kernel = data.draw(cases(n_parents))
    candidates, required = problem.candidates.of(child).tolist(), problem.candidates.required[child]
    found = best_tuple(problem, kernel, child, (), thorough=True)
    best = plain_guides.best_tuple(
        candidates, required, n_parents, lambda parents: plain_gain(problem, kernel.table, parents, child)
    )
    assert len({*found}) == n_parents
    assert {*required} <= {*found} <= {*candidates}
    gain = plain_gain(problem, kernel.table, found, child)
    assert gain == pytest.approx(plain_gain(problem, kernel.table, best, child), abs=1e-3)  # ranked in float32
    if not problem.is_exact and not problem.counts.has_gaps:
        n_orders = len(list(itertools.permutations(found)))
        price = plain_guides.log_binomial(len(candidates) - len(required), n_parents - len(required))
        price += 0.0 if kernel.symmetric else np.log(n_orders)
        price += n_parents * problem.indifference
        assert worth_under(problem, kernel, child, found) == pytest.approx(gain - price, abs=1e-8)


@pytest.mark.parametrize("search", ["heads", "lists"])
@pytest.mark.parametrize("n_parents", [1, 2, 3])
@some
@given(data=st.data())
def test_shorter_searches_are_never_worse_than_their_start(n_parents, search, data):
    problem, child, kernel = data.draw(cases(n_parents, search))
    required = problem.candidates.required[child]
    others = [node for node in problem.candidates.of(child).tolist() if node not in required]
    start = (*required, *data.draw(st.permutations(others))[: n_parents - len(required)])
    start = tuple(data.draw(st.permutations(start)))
    found = best_tuple(problem, kernel, child, (start,), thorough=True)
    gain = plain_gain(problem, kernel.table, found, child)
    assert gain >= plain_gain(problem, kernel.table, start, child) - 1e-3
    assert {*required} <= {*found} <= {*problem.candidates.of(child).tolist()}
    assert len({*found}) == n_parents
    for head, parent in enumerate(found if search == "heads" else ()):  # no head would move by itself
        for node in {*others} - {*found} if parent not in required else ():
            moved = (*found[:head], node, *found[head + 1 :])
            assert plain_gain(problem, kernel.table, moved, child) <= gain + 1e-3


def test_heads_alone_miss_xor_and_a_look_at_all_pairs_finds_it():
    rng = np.random.default_rng(7402)
    codes = rng.integers(0, 2, (300, 8))
    codes[:, 7] = np.where(rng.random(300) < 0.9, codes[:, 1] ^ codes[:, 4], codes[:, 7])
    table = np.array([[[0.95, 0.05], [0.05, 0.95]], [[0.05, 0.95], [0.95, 0.05]]])
    found, worths = {}, {}
    for search in ("exhaustive", "heads"):
        problem = problem_for(rows_observed(codes, 2), search=search)
        kernel = kernel_of(problem, 7, (0, 1), table)
        found[search] = best_tuple(problem, kernel, 7, ((0, 2),), thorough=True)
        worths[search] = worth_under(problem, kernel, 7, found[search])
    assert {*found["exhaustive"]} == {1, 4}
    assert worths["heads"] < worths["exhaustive"] - 10


@pytest.mark.parametrize("search", ["heads", "lists", "exhaustive"])
def test_the_order_of_the_roles_follows_the_kernel_not_the_start(search):
    process = Process(Dag([(), (), (1, 0)], [(0,), (1,)]), Kernel.paper())
    problem = problem_for(rows_observed(sample(process, 2000, rng=7403)), search=search)
    kernel = kernel_of(problem, 2, (0, 1), Kernel.paper().table)
    assert best_tuple(problem, kernel, 2, ((0, 1),), thorough=True) == (1, 0)


def test_roles_are_filled_with_nodes_of_their_alphabets():
    rng = np.random.default_rng(7404)
    sizes = (2, 3, 2, 3, 2)
    problem = problem_for(RowCounts((rng.random((200, 5)) * sizes).astype(np.int8), sizes), search="exhaustive")
    table = rng.dirichlet(np.ones(2), size=(3, 2))  # a parent of 3 states, then one of 2
    kernel = kernel_of(problem, 4, (1, 0), table)
    found = best_tuple(problem, kernel, 4, (), thorough=True)
    assert found == max(itertools.product((1, 3), (0, 2)), key=lambda ps: plain_gain(problem, table, ps, 4))
    assert best_tuple(problem, kernel, 1, (), thorough=True) is None  # only one node before it, and no 3 states


@pytest.mark.parametrize("seed", range(7405, 7410))
def test_the_contextual_guide_is_searched_the_same_way(seed):
    rows = sample(Process(Dag.paper(10), Kernel.paper()), 20_000, rng=seed)
    observed = rows_observed(rows)
    guide = Contextual(count_pairs(rows, 3).pair_joint(0.0), observed)
    problem = problem_for(observed, guide=guide, search="exhaustive")
    kernel = kernel_of(problem, 9, (0, 1), Kernel.paper().table)
    for child in (4, 7):
        assert best_tuple(problem, kernel, child, (), thorough=True) == Dag.paper(10).parents[child]


@some
@given(data=st.data())
def test_the_choice_is_the_best_over_all_in_degrees(data):
    problem, child, pair = data.draw(cases(2))
    table = Kernel.random(problem.counts.sizes[0], 1, rng=data.draw(seeds)).table
    kernels = [kernel_of(problem, child, (0,), table), pair]
    costs = {degree: data.draw(st.floats(0, 5)) for degree in (0, 1, 2)}
    worth, parents = choose(problem, kernels, costs, child, (), True)
    degrees = problem.degrees_of(child)
    paid = costs if child in problem.free else dict.fromkeys(costs, 0.0)
    options = {(): OwnSets(problem).value(child, ()) - paid[0]} if 0 in degrees else {}
    for kernel in [one for one in kernels if one.n_parents in degrees]:
        best = best_tuple(problem, kernel, child, (), thorough=True)
        options[best] = worth_under(problem, kernel, child, best) - paid[len(best)]
    assert worth == pytest.approx(max(options.values()), abs=1e-6)
    assert options[parents] == pytest.approx(worth, abs=1e-6)  # rounding may choose between those that are as good


def test_required_parents_and_fixed_in_degrees_limit_the_choice():
    observed = rows_observed(np.random.default_rng(7412).integers(0, 3, (50, 5)))
    costs = dict.fromkeys((0, 1, 2), 0.0)
    open_to = {(0, 1, 2): [[0], [0, 1], [0, 1, 2], [0, 1, 2], [1, 2]], (2,): [[0], [0], [2], [2], [2]]}
    for degrees, expected in open_to.items():
        problem = problem_for(observed, degrees=degrees, candidates={"required": [(2, 4)]})
        flat = [kernel_of(problem, 4, range(n), np.full((3,) * (n + 1), 1 / 3)) for n in (1, 2)]
        assert [problem.degrees_of(child) for child in range(5)] == expected
        chosen = [choose(problem, flat, costs, child, (), True)[1] for child in range(5)]
        assert 2 in chosen[4]
        assert [len(parents) in allowed for parents, allowed in zip(chosen, expected, strict=True)] == [True] * 5


@pytest.mark.parametrize(
    ("dag", "n_rows", "share"),
    [
        (Dag.paper(10), 120, "shared"),
        (Dag.paper(10), 500, "node"),  # with fewer rows no parents are worth a kernel of their own
        (Dag.paper(5), 2000, "shared"),
        (Dag.paper(5), 2000, "node"),
        (Dag.paper_mixed(), 400, "shared"),
        (Dag.paper_mixed(), 400, "node"),
    ],
)
def test_the_scores_of_the_heads_against_a_plain_loop(dag, n_rows, share):
    rows = sample(Process(dag, Kernel.paper()), n_rows, rng=7420)
    problem = problem_for(rows_observed(rows), share=share)
    solution = solve(problem)
    expected = np.full((2, dag.n_nodes, dag.n_nodes), np.nan)
    for child, parents in enumerate(solution.parents):
        for head in range(len(parents)):
            for node in {*range(child)} - {*parents[:head], *parents[head + 1 :]}:
                moved = (*parents[:head], node, *parents[head + 1 :])
                if share == "node":
                    expected[head, child, node] = OwnSets(problem).value(child, moved)
                else:
                    expected[head, child, node] = plain_gain(problem, solution.group_of(child).seen, moved, child)
    assert np.isfinite(expected).any()
    np.testing.assert_allclose(solution.heads, expected, rtol=1e-5, atol=1e-3)
