"""Families counted as bits: against plain loops over rows, for any number of rows, sizes and gaps."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi.memory import within
from kgmi.penalty import PENALTIES
from kgmi.search.own import OwnSearch
from kgmi.search.set_values import numbers_of
from kgmi.statistics import families
from kgmi.statistics.families import can_count_bits, planes_of, prepare_for, tuple_scores, tuple_values
from kgmi.statistics.observed import Observed
from kgmi.statistics.packed import pack

from . import plain_guides
from .search_drills import observations

some = settings(max_examples=25, deadline=None)
ROWS = [1, 5, 63, 64, 65, 200, 257, 330]  # around words of 64 rows, and four of them


def rows_of(n_rows, sizes, *, gaps, seed=7600):
    rng = np.random.default_rng([seed, n_rows, gaps])
    codes = (rng.random((n_rows, len(sizes))) * sizes).astype(np.int8)
    if gaps:
        codes[rng.random(codes.shape) < 0.2] = -1
        codes[0, 0] = -1
    return Observed(codes, tuple(sizes))


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n_rows", ROWS)
def test_planes_say_in_which_rows_a_node_has_a_state(n_rows, gaps):
    observed = rows_of(n_rows, (2, 3, 4, 2), gaps=gaps)
    planes = planes_of(pack(observed.codes, 4))
    bits = np.unpackbits(planes.view(np.uint8), axis=-1, bitorder="little")
    for node, state in itertools.product(range(4), range(4)):
        np.testing.assert_array_equal(bits[node, state, :n_rows], observed.codes[:, node] == state)
    assert not bits[..., n_rows:].any()


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n_rows", ROWS)
@pytest.mark.parametrize("n_leads", [0, 1, 2])
def test_scores_are_sums_over_the_rows_that_have_all_values(n_rows, gaps, n_leads):
    observed = rows_of(n_rows, (3, 2, 3, 4, 4, 2, 4), gaps=gaps)
    child, tuples = 0, np.array([(1, 2), (5, 2)])[:, :n_leads]
    candidates = np.array([3, 4, 6])
    sizes = [observed.sizes[node] for node in (*tuples[0], 3, child)]
    gains = np.random.default_rng(7601).normal(size=(2, *sizes))
    found = tuple_scores(observed, child, tuples, candidates, gains, is_half=False)
    for kernel, (row, parents), (place, node) in itertools.product(
        range(2), enumerate(tuples.tolist()), enumerate(candidates.tolist())
    ):
        counts = plain_guides.family(observed.codes, observed.sizes, None, (*parents, node), child)
        expected = (np.asarray(counts) * gains[kernel]).sum()
        assert found[kernel, row, place] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n_nodes", [3, 64, 65, 70])
def test_half_of_the_pairs_are_the_later_candidates(n_nodes, gaps):
    observed = rows_of(70, (3,) * (n_nodes + 1), gaps=gaps)
    nodes = np.arange(1, n_nodes + 1)
    gains = np.random.default_rng(7602).normal(size=(1, 3, 3, 3))
    half = tuple_scores(observed, 0, nodes[:, None], nodes, gains, is_half=True)[0]
    whole = tuple_scores(observed, 0, nodes[:, None], nodes, gains, is_half=False)[0]
    later = nodes[:, None] < nodes
    np.testing.assert_array_equal(half[later], whole[later])
    assert (half[~later] == -np.inf).all()


def test_values_are_prices_of_cells_configurations_states_and_cases():
    observed = rows_of(90, (3, 2, 3, 3), gaps=True)
    prices = np.random.default_rng(7603).normal(size=(4, 91))
    found = tuple_values(observed, 0, np.array([[1]]), np.array([2, 3]), prices, is_half=False)
    for place, node in enumerate((2, 3)):
        counts = observed.family((1, node), 0).astype(int)
        expected = prices[0, counts].sum() + prices[1, counts.sum(axis=-1)].sum()
        expected += prices[2, counts.sum(axis=(0, 1))].sum() + prices[3, counts.sum()]
        assert found[0, place] == pytest.approx(expected)


def test_tuples_in_pieces_and_lanes_that_are_not_kept_give_the_same():
    observed = rows_of(300, (3,) * 9, gaps=False)
    tuples = np.array(list(itertools.combinations(range(1, 9), 2)))
    gains = np.random.default_rng(7604).normal(size=(2, 3, 3, 3, 3))
    whole = tuple_scores(observed, 0, tuples, np.arange(1, 9), gains, is_half=False)
    with within(1_000):
        again = Observed(observed.codes, observed.sizes)
        pieces = tuple_scores(again, 0, tuples, np.arange(1, 9), gains, is_half=False)
        tuple_scores(again, 0, tuples, np.arange(1, 8), gains, is_half=False)
        assert len(again.kept["lanes"]) == 1
    np.testing.assert_array_equal(whole, pieces)


@some
@given(
    observed=observations(min_nodes=5, max_nodes=7, max_states=4, max_rows=80, weighted=False),
    n_heads=st.integers(1, 3),
    width=st.sampled_from([2, 1_000]),
    name=st.sampled_from(sorted(PENALTIES)),
)
def test_sets_counted_as_bits_and_by_products_are_worth_the_same(observed, n_heads, width, name):
    prepare_for(np.inf)
    child = observed.n_nodes - 1
    found = OwnSearch(observed, PENALTIES[name], width).best(child, np.arange(child), (), n_heads)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(families, "_MOST_CELLS", 0)
        other = OwnSearch(observed, PENALTIES[name], width).best(child, np.arange(child), (), n_heads)
    for one, two in zip(found, other, strict=True):
        assert (one is None) == (two is None)
        assert one is None or one.value == pytest.approx(two.value, abs=1e-8)


def test_all_longer_sets_are_there_once_with_their_values():
    observed = rows_of(60, (2, 3, 2, 3, 2, 3), gaps=False)
    search = OwnSearch(observed, PENALTIES["nml"], 100)
    for beam in (np.arange(1, 6)[:, None], np.array([[3, 4], [1, 2], [1, 4]])):
        sets, values = search.longer(0, beam, np.arange(1, 6))
        expected = {tuple(sorted((*one, node))) for one in beam.tolist() for node in range(1, 6) if node not in one}
        assert sorted(map(tuple, sets.tolist())) == sorted(expected)
        for one, value in zip(sets.tolist(), values, strict=True):
            assert value == pytest.approx(search.value(0, one))


def test_bits_are_for_whole_rows_and_small_tables_once_they_are_prepared_for(monkeypatch):
    observed = rows_of(10, (2, 2), gaps=False)
    prepare_for(np.inf)
    monkeypatch.delitem(sys.modules, "kgmi.statistics.family_kernels")
    prepare_for(10)
    assert not can_count_bits(observed, 8)
    prepare_for(np.inf)
    assert can_count_bits(observed, 8)
    assert not can_count_bits(observed, 10**6)
    assert not can_count_bits(Observed(observed.codes, (2, 2), np.full(10, 2.0)), 8)


@pytest.mark.parametrize("n_nodes", [3, 10**6, 10**15])
def test_sets_have_different_numbers_in_their_order(n_nodes):
    sets = np.array(sorted({(a, b, c, d) for a, b, c, d in itertools.product((-1, 0, 1, n_nodes - 1), repeat=4)}))
    numbers = numbers_of(sets, n_nodes)
    assert (np.diff(numbers) > 0).all()
