"""Counts of sets of columns against counting by hand, however they are counted, cut, moved and recoded."""

from itertools import combinations, permutations

import numpy as np
import pytest

from kgmi.errors import DataError
from kgmi.statistics import tallying
from kgmi.statistics.sets import all_sets, numbers_in, smaller_sets
from kgmi.statistics.tally import Tally, tally_bytes
from kgmi.statistics.tallying import Tallier, tally_rows


def by_hand(columns, sizes, nodes):
    """[codes of the nodes …]: rows in which all have a value."""
    some = columns[list(nodes)].astype(int)
    some = some[:, (some >= 0).all(axis=0)]
    table = np.zeros([sizes[node] for node in nodes], dtype=int)
    np.add.at(table, tuple(some), 1)
    return table


def random_columns(seed):
    """Columns of small and large alphabets, with and without gaps."""
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(2, 7))
    most = (3, 5, 12)[seed % 3]
    sizes = tuple(rng.integers(1, most, size=n_nodes).tolist()) if seed % 4 else (3,) * n_nodes
    has_gaps = bool(seed % 2)
    n_rows = int(rng.integers(0, 400))
    columns = np.stack([rng.integers(-1 if has_gaps else 0, size, size=n_rows) for size in sizes])
    return rng, columns.astype((np.int8, np.int16, np.int32)[seed % 3]), sizes, has_gaps


@pytest.mark.parametrize("n_nodes", [1, 2, 5, 8])
def test_sets_are_numbered_by_their_last_nodes_first(n_nodes):
    for width in range(1, n_nodes + 1):
        expected = sorted(combinations(range(n_nodes), width), key=lambda one: one[::-1])
        sets = all_sets(n_nodes, width)
        assert [tuple(one) for one in sets.tolist()] == expected
        assert (numbers_in(None, sets) == np.arange(len(sets))).all()
        some = sets[:: max(1, len(sets) // 3)]
        assert (numbers_in(some, some) == np.arange(len(some))).all()
        assert (numbers_in(some, sets) >= 0).sum() == len(some)
        inside = {one for each in some.tolist() for one in combinations(each, width - 1)}
        assert {tuple(one) for one in smaller_sets(some, width - 1).tolist()} == inside or width == 1


@pytest.mark.parametrize("seed", range(101, 125))
def test_every_family_is_what_is_counted_by_hand(seed):
    rng, columns, sizes, has_gaps = random_columns(seed)
    width = int(rng.integers(1, min(len(sizes), 4) + 1))
    tally = tally_rows(columns, sizes, width, has_gaps=has_gaps)
    assert tally.n_rows == columns.shape[1]
    assert tally.cells.nbytes == tally_bytes(sizes, width, has_gaps=has_gaps)
    for size in range(1, width + 1):
        for nodes in permutations(range(len(sizes)), size):
            assert (tally.family(nodes) == by_hand(columns, sizes, nodes)).all()


@pytest.mark.parametrize("seed", range(125, 140))
def test_pieces_in_any_order_and_of_any_size_add_up_to_the_same(seed, monkeypatch):
    rng, columns, sizes, has_gaps = random_columns(seed)
    width = min(len(sizes), 3)
    whole = tally_rows(columns, sizes, width, has_gaps=has_gaps)
    monkeypatch.setattr(tallying, "_ROWS", int(rng.integers(1, 100)))
    monkeypatch.setattr(tallying, "_MOST_FILLED", 1)
    monkeypatch.setattr(tallying, "_MOST_PLANES", int(rng.integers(0, 20)))  # bits for some, histograms for others
    cuts = np.sort(rng.integers(0, columns.shape[1] + 1, size=3))
    pieces = np.split(columns, cuts, axis=1)
    total = Tally.of_nothing(sizes, width, has_gaps=has_gaps)
    for place in rng.permutation(len(pieces)):
        total = total + tally_rows(pieces[place], sizes, width, has_gaps=has_gaps)
    tallier = Tallier(sizes, width, has_gaps)
    for piece in pieces:
        tallier.add(piece)
    assert (total.cells == whole.cells).all()
    assert (tallier.tally().cells == whole.cells).all()
    assert total.n_rows == whole.n_rows == tallier.n_rows


@pytest.mark.parametrize("seed", range(140, 155))
def test_some_sets_columns_in_another_order_and_other_codes(seed):
    rng, columns, sizes, has_gaps = random_columns(seed)
    width = min(len(sizes), 3)
    every = all_sets(len(sizes), width)
    sets = every[rng.random(len(every)) < 0.6] if seed % 2 else None
    if sets is not None and not len(sets):
        sets = every[:1]
    tally = tally_rows(columns, sizes, width, has_gaps=has_gaps, sets=sets)
    for nodes in tally.listed.tolist():
        assert tally.holds(nodes[::-1])
        for size in range(1, width + 1):
            assert (tally.family(nodes[:size]) == by_hand(columns, sizes, nodes[:size])).all()
    order = rng.permutation(len(sizes))
    moved = tally.in_order(order)
    again = tally_rows(columns[order], [sizes[one] for one in order], width, has_gaps=has_gaps, sets=moved.sets)
    assert (moved.cells == again.cells).all()
    maps = [rng.permutation(size + 1)[:size] for size in sizes]
    wider = [size + 1 for size in sizes]
    recoded = np.stack([np.append(codes, -1)[column] for codes, column in zip(maps, columns, strict=True)])
    for gaps in {has_gaps, True}:
        found = tally.recoded(maps, wider, has_gaps=gaps)
        expected = tally_rows(recoded.astype(np.int16), wider, width, has_gaps=gaps, sets=sets)
        assert (found.cells == expected.cells).all()


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n_states", [2, 64, 127, 128, 129, 255, 256, 257, 32_768])
def test_alphabets_as_large_as_the_type_of_their_codes(n_states, gaps):
    rng, sizes = np.random.default_rng(155), (2, 1, n_states, 2)
    columns = np.stack([rng.integers(-1 if gaps else 0, size, size=3_000) for size in sizes])
    columns = columns.astype(np.min_scalar_type(-n_states))
    tally = tally_rows(columns, sizes, 2, has_gaps=gaps)
    for nodes in permutations(range(4), 2):
        assert (tally.family(nodes) == by_hand(columns, sizes, nodes)).all()


def test_columns_that_are_not_counted_in_bits_have_no_planes():
    tallier = Tallier((2, 1, 2, 300, 2), 2)  # also not where the other column has one state only
    assert tallier._lines.tolist() == [0, 1, 1, 2, 2, 3]


def test_the_size_of_counts_does_not_overflow():
    sizes = (65_536,) * 5
    assert tally_bytes(sizes, 4, sets=all_sets(5, 4)) == tally_bytes(sizes, 4)


def test_gaps_may_become_a_state():
    columns = np.array([[0, -1, 1, 0], [1, 1, -1, 0]], dtype=np.int8)
    tally = tally_rows(columns, (2, 2), 2, has_gaps=True)
    filled = tally.recoded([np.array([0, 1, 2])] * 2, (3, 3), has_gaps=False)
    assert (filled.family((0, 1)) == by_hand(np.where(columns < 0, 2, columns), (3, 3), (0, 1))).all()
    with pytest.raises(DataError, match="values are missing"):
        tally.recoded([np.array([0, 1])] * 2, (2, 2), has_gaps=False)


def test_counts_that_do_not_fit_are_refused():
    one = tally_rows(np.zeros((3, 5), dtype=np.int8), (2, 2, 2), 2)
    with pytest.raises(DataError, match="cannot add"):
        one + tally_rows(np.zeros((3, 5), dtype=np.int8), (2, 2, 2), 3)
    with pytest.raises(DataError, match="cannot add"):
        one + tally_rows(np.zeros((3, 5), dtype=np.int8), (2, 2, 2), 2, sets=all_sets(3, 2)[:2])
    with pytest.raises(DataError, match="cannot be made"):
        Tally.of_nothing((2, 2), 3)
    with pytest.raises(DataError, match="cells"):
        Tally((2, 2), 2, 0, np.zeros(3, dtype=np.int64))
    some = tally_rows(np.zeros((3, 5), dtype=np.int8), (2, 2, 2), 2, sets=all_sets(3, 2)[:1])
    with pytest.raises(DataError, match="not counted together"):
        some.family((0, 2))
    assert not some.holds((0, 2))
    assert not some.holds((0, 1, 2))
    with pytest.raises(DataError, match="columns are counted"):
        Tallier((2, 2), 2).add(np.zeros((3, 5), dtype=np.int8))
    with pytest.raises(ValueError, match="read-only"):
        one.cells[0] = 1
