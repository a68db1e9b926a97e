"""Counts of sets of columns: their order, some sets, other codes, and pieces of any size."""

from itertools import combinations, permutations

import numpy as np
import pytest

from kgmi.counts.tally import Layout, Tallier, Tally, all_sets, family_width, smaller_sets, tally_bytes
from kgmi.errors import DataError, TooLargeError

from .tables import by_hand, random_codes


def tally_of(columns, sizes, width, gaps=False, sets=None):
    tallier = Tallier(tuple(sizes), width, gaps, sets)
    tallier.add(columns)
    return tallier.tally()


def case(seed):
    """Columns [column, row] of small and large alphabets, with and without gaps."""
    rng = np.random.default_rng(seed)
    sizes = (
        (3,) * 5 if seed % 4 == 0 else tuple(rng.integers(1, (3, 5, 12, 40)[seed % 4], rng.integers(2, 7)).tolist())
    )
    codes = random_codes(
        rng, int(rng.integers(0, 400)), sizes, gaps=bool(seed % 2), dtype=(np.int8, np.int32)[seed % 2]
    )
    return rng, codes, sizes, bool(seed % 2)


@pytest.mark.parametrize("n_nodes", [1, 2, 5, 8])
def test_sets_are_numbered_by_their_last_nodes_first(n_nodes):
    for width in range(1, n_nodes + 1):
        sets = all_sets(n_nodes, width)
        expected = sorted(combinations(range(n_nodes), width), key=lambda one: one[::-1])
        assert [tuple(one) for one in sets.tolist()] == expected
        codes = np.full(n_nodes, 2)
        assert Layout(codes, sets).find(sets).tolist() == list(range(len(sets)))
        some = sets[:: max(1, len(sets) // 3)]
        assert Layout(codes, some).find(some).tolist() == list(range(len(some)))
        assert (Layout(codes, some).find(sets) >= 0).sum() == len(some)
        inside = {one for each in some.tolist() for one in combinations(each, width - 1)}
        assert width == 1 or {tuple(one) for one in smaller_sets(some, width - 1).tolist()} == inside
    with pytest.raises(TooLargeError):
        smaller_sets(np.array([[0, 1, 10**7, 10**8, 10**9]]), 5)


@pytest.mark.parametrize("seed", range(121, 131))
def test_pieces_of_any_size_add_up_to_the_same(seed):
    rng, codes, sizes, gaps = case(seed)
    width = min(len(sizes), 3)
    whole, tallier = tally_of(codes.T, sizes, width, gaps), Tallier(sizes, width, gaps)
    pieces = np.split(codes.T, np.sort(rng.integers(0, len(codes) + 1, 3)), axis=1)
    for number, piece in enumerate(pieces):
        tallier.add(piece)
        assert tallier.tally().rows == sum(one.shape[1] for one in pieces[: number + 1])
    total = Tally.of_nothing(sizes, width, has_gaps=gaps)
    for place in rng.permutation(len(pieces)):
        total = total.merge(tally_of(pieces[place], sizes, width, gaps))
    for one in (tallier.tally(), total):
        assert one.rows == whole.rows
        np.testing.assert_array_equal(one.cells, whole.cells)


def test_more_rows_than_are_counted_at_a_time():
    sizes = (3, 2, 30, 3)
    codes = random_codes(np.random.default_rng(131), 100_001, sizes)
    tally = tally_of(codes.T, sizes, 2)
    for one, two in combinations(range(4), 2):
        expected = np.bincount(
            codes[:, one].astype(int) * sizes[two] + codes[:, two], minlength=sizes[one] * sizes[two]
        )
        np.testing.assert_array_equal(tally.table((one, two)).ravel(), expected)


@pytest.mark.parametrize("seed", range(140, 164))
def test_all_and_some_sets_columns_in_another_order_and_other_codes(seed):
    rng, codes, sizes, gaps = case(seed)
    width = int(rng.integers(1, min(len(sizes), 4 if max(sizes) < 12 else 3) + 1))
    sets = None if seed % 3 else np.ascontiguousarray(all_sets(len(sizes), width)[::2])
    tally = tally_of(codes.T, sizes, width, gaps, sets)
    assert tally.cells.nbytes == tally_bytes(sizes, width, has_gaps=gaps, sets=sets)
    for nodes in map(tuple, rng.permuted(tally.sets, axis=1).tolist()):
        assert tally.holds(nodes)
        for size in range(width + 1):
            np.testing.assert_array_equal(tally.table(nodes[:size]), by_hand(codes, sizes, nodes[:size]))
    order = rng.permutation(len(sizes))
    moved = tally.in_order(order)
    again = tally_of(codes.T[order], [sizes[one] for one in order], width, gaps, moved.sets)
    np.testing.assert_array_equal(moved.cells, again.cells)
    maps, wider = [rng.permutation(size + 1)[:size] for size in sizes], [size + 1 for size in sizes]
    recoded = np.stack([np.append(new, -1)[column] for new, column in zip(maps, codes.T, strict=True)])
    for with_gaps in {gaps, True}:
        found = tally.recoded([np.append(new, -1) for new in maps], wider, has_gaps=with_gaps)
        np.testing.assert_array_equal(found.cells, tally_of(recoded, wider, width, with_gaps, sets).cells)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n_states", [127, 128, 256, 257, 32_768])
def test_alphabets_as_large_as_the_type_of_their_codes(n_states, gaps):
    sizes = (2, 1, n_states, 2)
    codes = random_codes(np.random.default_rng(155), 1_000, sizes, gaps=gaps, dtype=np.min_scalar_type(-n_states))
    tally = tally_of(codes.T, sizes, 2, gaps)
    for nodes in permutations(range(4), 2):
        np.testing.assert_array_equal(tally.table(nodes), by_hand(codes, sizes, nodes))


def test_the_size_of_counts_does_not_overflow():
    assert tally_bytes((65_536,) * 5, 4, sets=all_sets(5, 4)) == tally_bytes((65_536,) * 5, 4)


def test_missing_values_may_become_a_state():
    codes = np.array([[0, 1], [-1, 1], [1, -1], [0, 0]])
    tally = tally_of(codes.T, (2, 2), 2, True)
    filled = tally.recoded([np.arange(3)] * 2, (3, 3), has_gaps=False)
    np.testing.assert_array_equal(filled.table((0, 1)), by_hand(np.where(codes < 0, 2, codes), (3, 3), (0, 1)))
    with pytest.raises(DataError):
        tally.recoded([np.array([0, 1, -1])] * 2, (2, 2), has_gaps=False)


def test_a_search_needs_a_column_more_where_values_are_missing():
    assert [family_width(2, n, has_gaps=gaps) for n in (2, 9) for gaps in (False, True)] == [2, 2, 3, 4]


def test_what_was_not_counted_is_refused():
    some = tally_of(np.zeros((3, 5), dtype=np.int8), (2, 2, 2), 2, sets=np.ascontiguousarray(all_sets(3, 2)[:1]))
    assert not some.holds((0, 2))
    assert not some.holds((0, 1, 2))
    for nodes in ((0, 2), (0, 1, 2)):
        with pytest.raises(DataError, match="counted"):
            some.family(nodes[-1], nodes[:-1])
    with pytest.raises(DataError, match="sets of 3"):
        Tally.of_nothing((2, 2), 3)
    with pytest.raises(DataError, match="cells"):
        Tally((2, 2), all_sets(2, 2), 0, np.zeros(3, dtype=np.int64))
    with pytest.raises(DataError, match="columns are counted"):
        Tallier((2, 2), 2).add(np.zeros((3, 5), dtype=np.int8))
