"""Parent sets with a kernel of their own: against plain sums over configurations and all subsets."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process, sample
from kgmi.counts.bits import RowCounts
from kgmi.memory import within
from kgmi.penalty import PENALTIES, penalty_named
from kgmi.search.own import OwnSearch, ParentSet
from kgmi.search.set_values import numbers_of

from . import plain_guides
from .search_drills import observations, rows_observed

some = settings(max_examples=25, deadline=None)
WIDE = 10**6


def price_of(name, n_states, n_rows):
    """What one configuration costs, as a function of how often it was seen."""
    return {
        "none": lambda n: 0.0,
        "aic": lambda n: n_states - 1.0,
        "bic": lambda n: 0.5 * (n_states - 1) * math.log(n_rows),
        "nml": lambda n: plain_guides.regret(int(n), n_states) if n > 0 else 0.0,
    }[name]


def plain_value(observed, name, parents, child):
    occurring = plain_guides.occurring(observed.codes, child)
    price = price_of("none" if observed.is_exact else name, occurring, observed.n_rows)
    return plain_guides.own_value(observed.codes, observed.sizes, observed.weights, parents, child, price)


@pytest.mark.parametrize("name", PENALTIES)
@some
@given(observed=observations(min_nodes=4, max_nodes=4, max_states=3, max_rows=20))
def test_values_are_the_plain_formula(name, observed):
    search = OwnSearch(observed, PENALTIES[name], WIDE)
    for parents in [(), (0,), (2, 0), (0, 1, 2)]:
        found = search.value(3, parents)
        assert found == pytest.approx(plain_value(observed, name, parents, 3), rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("name", ["nml", "none"])
@some
@given(observed=observations(min_nodes=2, max_nodes=5, max_states=3), n_heads=st.integers(1, 3), data=st.data())
def test_the_best_sets_are_those_of_a_look_at_all_subsets(name, observed, n_heads, data):
    child = observed.n_nodes - 1
    candidates = sorted(data.draw(st.sets(st.sampled_from(range(child)), min_size=1)))
    required = sorted(data.draw(st.sets(st.sampled_from(candidates), max_size=n_heads)))
    search = OwnSearch(observed, PENALTIES[name], WIDE)
    found = search.best(child, np.array(candidates), required, n_heads)
    assert len(found) == n_heads + 1
    for size, one in enumerate(found):

        def value(parents):
            return search.value(child, parents)  # itself checked above

        best = plain_guides.best_set(candidates, required, size, value)
        if best is None:
            assert one is None
        else:
            assert isinstance(one, ParentSet)
            assert one.value == pytest.approx(value(best), abs=1e-5)  # weights are summed in float32
            assert value(one.parents) == pytest.approx(one.value, abs=1e-5)  # a tie may be broken either way
            assert list(one.parents) == sorted(set(one.parents))
            assert len(one.parents) == size
            assert set(required) <= set(one.parents) <= set(candidates)


def test_a_beam_as_wide_as_there_are_candidates_sees_all_pairs():
    rng = np.random.default_rng(7201)
    for _ in range(10):
        observed = RowCounts(rng.integers(0, 2, (30, 8)), (2,) * 8)
        search = OwnSearch(observed, PENALTIES["nml"], 7)
        best = max(search.value(7, pair) for pair in itertools.combinations(range(7), 2))
        assert search.best(7, np.arange(7), (), 2)[2].value == pytest.approx(best)


@some
@given(observed=observations(min_nodes=6, max_nodes=6, max_states=3, weighted=False), width=st.integers(1, 3))
def test_a_narrow_beam_reports_true_values_and_keeps_what_is_required(observed, width):
    narrow, wide = (OwnSearch(observed, PENALTIES["nml"], w).best(5, np.arange(5), (2,), 4) for w in (width, WIDE))
    assert narrow[0] is None
    for one, best in zip(narrow[1:], wide[1:], strict=True):
        assert 2 in one.parents
        assert one.value == pytest.approx(plain_value(observed, "nml", one.parents, 5), abs=1e-7)
        assert one.value <= best.value + 1e-9


@pytest.mark.parametrize("seed", range(7211, 7216))
def test_no_exchange_of_one_parent_improves_what_a_narrow_beam_found(seed):
    observed = RowCounts(np.random.default_rng(seed).integers(0, 2, (40, 9)), (2,) * 9)
    search = OwnSearch(observed, PENALTIES["nml"], 1)
    for found in search.best(8, np.arange(8), (), 4)[3:]:
        for parent, other in itertools.product(found.parents, set(range(8)) - set(found.parents)):
            exchanged = (*(p for p in found.parents if p != parent), other)
            assert search.value(8, exchanged) <= found.value + 1e-9


def test_fewer_candidates_than_heads_leave_the_larger_sizes_open():
    observed = RowCounts(np.random.default_rng(7203).integers(0, 2, (20, 3)), (2, 2, 2))
    found = OwnSearch(observed, PENALTIES["bic"], 4).best(2, np.array([1]), (), 3)
    assert [one if one is None else one.parents for one in found] == [(), (1,), None, None]
    alone = OwnSearch(observed, PENALTIES["bic"], 4).best(0, np.array([], dtype=int), (), 2)
    assert [one if one is None else one.parents for one in alone] == [(), None, None]


def test_looking_up_logarithms_and_prices_changes_nothing():
    observed = rows_observed(np.random.default_rng(7204).integers(0, 3, (50, 4)))
    quick, slow = (OwnSearch(observed, PENALTIES["nml"], WIDE) for _ in range(2))
    slow.__dict__["_whole"] = False
    for one, other in zip(*(search.best(3, np.arange(3), (), 3) for search in (quick, slow)), strict=True):
        assert one.parents == other.parents
        assert one.value == pytest.approx(other.value)


def test_rows_in_blocks_give_the_same():
    codes = np.random.default_rng(7205).integers(-1, 3, (40, 5))
    whole = OwnSearch(rows_observed(codes), PENALTIES["nml"], WIDE).best(4, np.arange(4), (), 2)
    with within(None, 1):
        assert OwnSearch(rows_observed(codes), PENALTIES["nml"], WIDE).best(4, np.arange(4), (), 2) == whole


def test_from_enough_rows_every_node_finds_its_parents_by_itself():
    dag = Dag.paper(10)
    observed = rows_observed(sample(Process(dag, Kernel.paper()), 6_000, rng=7206))
    search = OwnSearch(observed, penalty_named("nml"), WIDE)
    for child in range(2, 10):
        found = [one for one in search.best(child, np.arange(child), (), 2) if one is not None]
        assert max(found).parents == dag.parents[child]


def test_all_longer_sets_are_there_once_with_their_values():
    sizes = (2, 3, 2, 3, 2, 3)
    codes = (np.random.default_rng(7600).random((60, 6)) * sizes).astype(np.int8)
    search = OwnSearch(RowCounts(codes, sizes), PENALTIES["nml"], 100)
    for beam in (np.arange(1, 6)[:, None], np.array([[3, 4], [1, 2], [1, 4]])):
        sets, values = search.longer(0, beam, np.arange(1, 6))
        expected = {tuple(sorted((*one, node))) for one in beam.tolist() for node in range(1, 6) if node not in one}
        assert sorted(map(tuple, sets.tolist())) == sorted(expected)
        for one, value in zip(sets.tolist(), values, strict=True):
            assert value == pytest.approx(search.value(0, one))


@pytest.mark.parametrize("n_nodes", [3, 10**6, 10**15])
def test_sets_have_different_numbers_in_their_order(n_nodes):
    sets = np.array(sorted({*itertools.product((-1, 0, 1, n_nodes - 1), repeat=4)}))
    assert (np.diff(numbers_of(sets, n_nodes)) > 0).all()
