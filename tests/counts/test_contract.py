"""The contract of all implementations of ``Counts``: what is counted by hand, bit for bit, whatever counts."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgmi import Dag, Kernel, Process
from kgmi.counts.base import repeats
from kgmi.counts.bits import RowCounts
from kgmi.counts.tally import Tally
from kgmi.errors import DataError, TooLargeError
from kgmi.exact import exact_rows
from kgmi.memory import within
from kgmi.threads import one_thread
from tests import brute

from .tables import IMPLEMENTATIONS, by_hand, random_codes, tables

every_implementation = pytest.mark.parametrize("make", IMPLEMENTATIONS)
some = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def check(counts, found, expected, n_rows):
    """The counts, whole numbers to the last bit; those of a law are frequencies."""
    assert found.shape == expected.shape
    if counts.is_exact:
        np.testing.assert_allclose(found * n_rows, expected, atol=1e-9)
    else:
        np.testing.assert_array_equal(found, expected)


@every_implementation
@some
@given(table=tables())
def test_pairs_families_and_marginals_are_those_counted_by_hand(make, table, tmp_path):
    codes, sizes = table
    counts, n_rows = make(codes, sizes, tmp_path), len(codes)
    assert (counts.sizes, counts.n_nodes) == (sizes, len(sizes))
    assert counts.n_rows == pytest.approx(1 if counts.is_exact else n_rows)
    assert counts.has_gaps == bool((codes < 0).any())
    assert counts.is_whole == (not counts.is_exact)
    pairs = counts.pairs().counts
    expected = np.zeros((len(sizes),) * 2 + (max(sizes),) * 2, dtype=np.int64)
    for i, j in np.ndindex(len(sizes), len(sizes)):
        expected[i, j, : sizes[i], : sizes[j]] = by_hand(codes, sizes, (i, j))
    check(counts, pairs, expected, n_rows)
    for size in (1, 2, 3):
        for *parents, child in permutations(range(len(sizes)), size):
            found = counts.family(child, parents)
            assert found.dtype == np.float64
            check(counts, found, by_hand(codes, sizes, (*parents, child)), n_rows)
    for node, found in enumerate(counts.marginals):
        check(counts, found, by_hand(codes, sizes, (node,)), n_rows)
    assert counts.holds(range(min(3, len(sizes))))


@st.composite
def asked(draw):
    """A table, a child, tuples of parents and candidates of one size each; nodes may be there twice."""
    codes, sizes = draw(tables())
    nodes = st.integers(0, len(sizes) - 1)
    child, width = draw(nodes), draw(st.integers(0, 1))
    first, lead = draw(nodes), draw(nodes)
    candidates = np.array([node for node in range(len(sizes)) if sizes[node] == sizes[first]])
    alike = [node for node in range(len(sizes)) if sizes[node] == sizes[lead]]
    return codes, sizes, child, np.array(alike)[:, None][:, :width], candidates


def families_of(counts, child, tuples, candidates):
    shape = [counts.sizes[node] for node in (*tuples[0].tolist(), int(candidates[0]), child)]
    found = np.full((len(tuples), len(candidates), *shape), np.nan)
    for block, some in counts.families(child, tuples, candidates):
        assert np.isnan(found[block]).all()
        found[block] = some
    assert not np.isnan(found).any()
    return found


@every_implementation
@some
@given(case=asked())
def test_families_scores_and_values_are_those_of_single_families(make, case, tmp_path):
    codes, sizes, child, tuples, candidates = case
    counts, n_rows = make(codes, sizes, tmp_path), len(codes)
    found = families_of(counts, child, tuples, candidates)
    with within(1):
        np.testing.assert_array_equal(families_of(counts, child, tuples, candidates), found)
    rng = np.random.default_rng(1)
    gains = rng.normal(size=(2, *found.shape[2:]))
    prices = rng.normal(size=(4, n_rows + 1))
    scores = counts.worth(child, tuples, candidates, gains=gains)
    values = counts.worth(child, tuples, candidates, prices=prices) if counts.is_whole else None
    if counts.is_whole and not counts.is_exact:  # the same sums bit for bit, so that ties end alike everywhere
        rows, differ = RowCounts(codes, sizes), ~repeats(child, tuples, candidates)
        for asked_by, own in (({"gains": gains}, scores), ({"prices": prices}, values)):
            np.testing.assert_array_equal(
                rows.worth(child, tuples, candidates, **asked_by)[:, differ], own[:, differ]
            )
    for (row, parents), (place, node) in product(enumerate(tuples.tolist()), enumerate(candidates.tolist())):
        nodes = (*parents, node, child)
        if len(set(nodes)) < len(nodes):
            assert not found[row, place].any()
            continue
        table = by_hand(codes, sizes, nodes)
        check(counts, found[row, place], table, n_rows)
        np.testing.assert_allclose(
            scores[:, row, place] * (n_rows if counts.is_exact else 1),
            (gains * table).reshape(2, -1).sum(axis=1),
            atol=1e-9,
        )
        if values is not None:
            configurations, states = table.sum(axis=-1), table.reshape(-1, sizes[child]).sum(axis=0)
            alone = prices[0, table].sum(), prices[1, configurations].sum()
            expected = sum(alone) + prices[2, states].sum() + prices[3, table.sum()]
            occurring = np.count_nonzero(table), np.count_nonzero(configurations)
            lines = [expected, *occurring, table.sum(), *alone]
            np.testing.assert_allclose(values[:, row, place], lines, atol=1e-9)
    nodes = candidates[candidates != child]
    if len(nodes):
        gains = rng.normal(size=(1, *[sizes[nodes[0]]] * 2, sizes[child]))
        whole = counts.worth(child, nodes[:, None], nodes, gains=gains)[0]
        half = counts.worth(child, nodes[:, None], nodes, gains=gains, is_half=True)[0]
        later = nodes[:, None] < nodes
        np.testing.assert_allclose(half[later], whole[later])
        assert (half[~later] == -np.inf).all()


@every_implementation
@some
@given(table=tables(), seed=st.integers(0, 2**32 - 1))
def test_nodes_in_another_order_keep_their_counts(make, table, seed, tmp_path):
    codes, sizes = table
    order = np.random.default_rng(seed).permutation(len(sizes)).tolist()
    counts = make(codes, sizes, tmp_path)
    moved = counts.in_order(order)
    assert moved.sizes == tuple(sizes[node] for node in order)
    assert moved.alphabets == tuple(counts.alphabets[node] for node in order)
    assert (moved.n_rows, moved.is_exact) == (counts.n_rows, counts.is_exact)
    check(moved, moved.pairs().counts, RowCounts(codes[:, order], moved.sizes).pairs().counts, len(codes))
    if len(sizes) >= 3:
        check(moved, moved.family(0, (2, 1)), by_hand(codes, sizes, (order[2], order[1], order[0])), len(codes))


@pytest.mark.parametrize("make", [one for one in IMPLEMENTATIONS if one.id != "law"])
@some
@given(table=tables(max_nodes=4), seed=st.integers(0, 2**32 - 1))
def test_counts_of_parts_merge_in_any_order(make, table, seed, tmp_path):
    codes, sizes = table
    gaps = bool((codes < 0).any())
    others = random_codes(np.random.default_rng(seed), 20, sizes, gaps=gaps)
    always = np.concatenate([codes[-3 * max(sizes) :], np.full((int(gaps), len(sizes)), -1, dtype=np.int8)])
    rows = [np.concatenate([some, always]) for some in (codes, others, others[:9])]
    a, b, c = (make(one, sizes, tmp_path) for one in rows)
    merged = [a.merge(b).merge(c), c.merge(a.merge(b)), b.merge(c).merge(a)]
    together = np.concatenate(rows)
    for one in merged:
        assert one.n_rows == len(together)
        np.testing.assert_array_equal(one.pairs().counts, RowCounts(together, sizes).pairs().counts)
        np.testing.assert_array_equal(one.family(0, (1,)), by_hand(together, sizes, (1, 0)))


@every_implementation
def test_cases_are_rows_in_which_all_nodes_have_a_value(make, tmp_path):
    sizes = (2, 3, 2, 3)
    codes = random_codes(np.random.default_rng(2), 200, sizes, gaps=True)
    counts = make(codes, sizes, tmp_path)
    for nodes in ((), (0,), (3, 1)):
        others = np.array([node for node in range(4) if node not in nodes])
        expected = [(codes[:, [*nodes, other]] >= 0).all(axis=1).sum() for other in others]
        check(counts, counts.cases(nodes, others), np.array(expected), 200)


# Rows with weights


@pytest.mark.parametrize("gaps", [False, True], ids=["full", "gaps"])
@pytest.mark.parametrize("sizes", [(3,) * 6, (2, 30, 3, 1, 25)])
@pytest.mark.parametrize("most", [3, 1_000, None])
def test_weights_are_added_up(sizes, gaps, most):
    rng, is_whole = np.random.default_rng(3), most is not None
    codes = random_codes(rng, 90, sizes, gaps=gaps)
    weights = rng.integers(0, most, 90).astype(float) if is_whole else rng.gamma(1.0, size=90)
    counts = RowCounts(codes, sizes, weights)
    merged, both = counts.merge(RowCounts(codes[:5], sizes)), np.append(weights, np.ones(5))
    pairs, families = counts.pairs().counts, families_of(counts, 0, np.array([[1], [0]]), np.array([2]))
    found = {pair: pairs[pair][: sizes[pair[0]], : sizes[pair[1]]] for pair in permutations(range(4), 2)}
    found |= {(1, 2, 0): families[0, 0], (3, 2, 0): counts.family(0, (3, 2))}
    for nodes, table in found.items():
        np.testing.assert_allclose(table, by_hand(codes, sizes, nodes, weights), rtol=0 if is_whole else 1e-7)
    np.testing.assert_allclose(merged.family(0, ()), by_hand(np.append(codes, codes[:5], 0), sizes, (0,), both))
    assert (counts.is_whole, pairs.dtype.kind) == (is_whole, "i" if is_whole else "f")
    assert counts.n_rows == pytest.approx(weights.sum())


@pytest.mark.parametrize("gaps", [False, True], ids=["full", "gaps"])
def test_many_equal_rows_are_one_with_a_weight(gaps):
    sizes = (2, 3, 2)
    codes = random_codes(np.random.default_rng(5), 50_000, sizes, gaps=gaps)
    counts = RowCounts(codes, sizes, alphabets=(0, 1, 5))
    fewer = counts.compressed()
    assert fewer.effort < 50 < counts.effort
    assert (fewer.n_rows, fewer.alphabets, fewer.has_gaps) == (50_000, (0, 1, 5), gaps)
    np.testing.assert_array_equal(fewer.pairs().counts, counts.pairs().counts)
    np.testing.assert_array_equal(fewer.family(1, (0, 2)), counts.family(1, (0, 2)))
    rows = RowCounts(random_codes(np.random.default_rng(6), 30_000, (3,) * 20, gaps=gaps), (3,) * 20)
    assert rows.compressed() is rows  # they differ


# Tables of all shapes


@pytest.mark.parametrize("gaps", [False, True], ids=["full", "gaps"])
@pytest.mark.parametrize(
    ("n_rows", "sizes"),
    [
        (1, (2, 2)),
        (64 * 600 + 5, (3,) * 5),
        (5_000, (3,) * 300),
        (80_000, (3,) * 260),
        (700, (2, 3, 4) * 70),
        (300, (2, 130, 300, 17, 18, 19)),
    ],
    ids=["one row", "many rows", "300 columns", "so many that threads count", "mixed columns", "many states"],
)
def test_pairs_of_tables_of_all_shapes(n_rows, sizes, gaps):
    codes = random_codes(np.random.default_rng(7), n_rows, sizes, gaps=gaps, dtype=np.int16)
    found = RowCounts(codes, sizes).pairs().counts
    again = RowCounts(np.roll(codes, 1, axis=0)[::-1], sizes)
    with one_thread():
        np.testing.assert_array_equal(again.pairs().counts, found)
    np.testing.assert_array_equal(found, found.transpose(1, 0, 3, 2))
    rng = np.random.default_rng(8)
    for i, j in rng.integers(0, len(sizes), (60, 2)).tolist():
        expected = np.zeros(found.shape[2:], dtype=np.int64)
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        np.add.at(expected, (codes[both, i], codes[both, j]), 1)
        np.testing.assert_array_equal(found[i, j], expected)


@pytest.mark.parametrize("gaps", [False, True], ids=["full", "gaps"])
@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 511, 513, 5_000])
def test_bits_say_in_which_rows_a_node_has_a_state(n_rows, gaps):
    sizes = (2, 3, 1, 18, 40, 3) * 12  # columns of more than 18 states are not packed
    counts = RowCounts(random_codes(np.random.default_rng(10), n_rows, sizes, gaps=gaps), sizes)
    packed = counts.packed
    assert packed.has_gaps == counts.has_gaps
    assert len(packed.words) == sum(size - (not counts.has_gaps) for size in sizes if size <= 18)
    for node, size in enumerate(sizes):
        if size <= 18:
            bits = np.unpackbits(np.ascontiguousarray(packed.of(node)).view(np.uint8), axis=1, bitorder="little")
            assert not bits[:, n_rows:].any()
            np.testing.assert_array_equal(bits[:, :n_rows], counts.codes[:, node] == np.arange(size)[:, None])


@pytest.mark.parametrize("n_nodes", [64, 65, 130])
def test_many_candidates_and_pieces_of_tuples_score_alike(n_nodes):
    sizes = (3,) * (n_nodes + 1)
    counts = RowCounts(random_codes(np.random.default_rng(11), 70, sizes), sizes)
    nodes = np.arange(1, n_nodes + 1)
    gains = np.random.default_rng(12).normal(size=(2, 3, 3, 3))
    whole = counts.worth(0, nodes[:, None], nodes, gains=gains)
    with within(1_000):
        np.testing.assert_array_equal(
            RowCounts(counts.codes, sizes).worth(0, nodes[:, None], nodes, gains=gains), whole
        )
    for one, two in ((1, 2), (n_nodes, 1), (2, n_nodes)):
        expected = (gains * counts.family(0, (one, two))).sum(axis=(1, 2, 3))
        np.testing.assert_allclose(whole[:, one - 1, two - 1], expected)


# The law of a process


def test_the_law_of_a_process_is_its_full_table():
    process = Process(Dag.paper(5), Kernel.random(2, 2, rng=13))
    codes, weights = exact_rows(process)
    counts, full = RowCounts(codes, (2,) * 5, weights, is_exact=True), brute.full_table(process)
    assert counts.is_exact
    assert counts.n_rows == pytest.approx(1)
    np.testing.assert_allclose(counts.pairs().counts, brute.pair_joint(full))
    for child, *parents in ((0, 1, 4), (3, 2), (2,)):
        axes = tuple(node for node in range(5) if node not in (child, *parents))
        expected = np.moveaxis(full.sum(axis=axes), sorted((child, *parents)).index(child), -1)
        np.testing.assert_allclose(counts.family(child, sorted(parents)), expected)
    assert exact_rows(Process(Dag.paper().copies(3), Kernel.paper())) is None  # of too many states


# What is refused, and what is not changed


def test_counts_of_other_columns_or_states_do_not_merge():
    codes = np.zeros((3, 2), dtype=np.int8)
    for other in (RowCounts(codes, (2, 3)), RowCounts(codes, (2, 2), alphabets=(0, 1))):
        with pytest.raises(DataError, match="merge"):
            RowCounts(codes, (2, 2)).merge(other)
    sets = np.array([[0, 1]], dtype=np.int32)
    for sizes, width, options in (
        ((2, 2, 3), 2, {}),
        ((2, 2, 2), 3, {}),
        ((2, 2, 2), 2, {"has_gaps": True}),
        ((2, 2, 2), 2, {"sets": sets}),
    ):
        with pytest.raises(DataError, match="add"):
            Tally.of_nothing((2, 2, 2), 2).merge(Tally.of_nothing(sizes, width, **options))


def test_families_too_large_to_count_are_refused():
    rows = RowCounts(np.full((2, 4), 99, dtype=np.int8), (100,) * 4)
    assert rows.family(2, (0, 1))[99, 99, 99] == 2  # narrow codes do not overflow
    with pytest.raises(TooLargeError, match="fewer parents or fewer states"):
        rows.family(3, (0, 1, 2))


def test_what_is_given_is_not_changed():
    codes = random_codes(np.random.default_rng(14), 100, (3,) * 5, gaps=True)
    before = codes.copy()
    codes.setflags(write=False)
    counts = RowCounts(codes, (3,) * 5)
    pairs = counts.pairs()
    counts.worth(0, np.array([[1]]), np.array([2, 3]), gains=np.ones((1, 3, 3, 3)))
    np.testing.assert_array_equal(codes, before)
    with pytest.raises(ValueError, match="read-only"):
        pairs.counts[0, 0, 0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        Tally.of_nothing((2, 2), 2).cells[0] = 1
