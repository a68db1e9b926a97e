"""The contract of all engines that count pairs: the same whole numbers as a plain loop, however the work is cut."""

import dataclasses
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import threads
from kgmi.errors import SettingError
from kgmi.statistics import Observed, bit_kernels, blocks, count_checked, engines, packed, tiles
from kgmi.statistics.engines import ENGINES
from kgmi.statistics.methods import BITS, HISTOGRAM, PLAIN_BITS, PLAIN_HISTOGRAM
from kgmi.statistics.packed import pack_compiled, pack_plain

every_engine = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)


def brute_pairs(codes, sizes):
    """One row at a time; a row with a gap in either column is left out."""
    n_nodes = codes.shape[1]
    counts = np.zeros((n_nodes, n_nodes, max(sizes), max(sizes)), dtype=np.int64)
    for i, j in np.ndindex(n_nodes, n_nodes):
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        np.add.at(counts[i, j], (codes[both, i], codes[both, j]), 1)
    return counts


def draw(sizes, n_rows, *, gaps=False, seed=0):
    rng = np.random.default_rng(100 + seed)
    return np.column_stack([rng.integers(-1 if gaps else 0, size, n_rows) for size in sizes])


def check(engine, codes, sizes):
    found = engine(Observed(codes, tuple(sizes)))
    assert found.dtype == np.int64
    assert np.array_equal(found, brute_pairs(codes.astype(int), sizes))


@every_engine
@pytest.mark.parametrize("gaps", [False, True], ids=["full", "gaps"])
@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 1_000])
@pytest.mark.parametrize("n_states", [2, 3, 4, 9, 40])
def test_counts_are_those_of_a_plain_loop(engine, n_states, n_rows, gaps):
    sizes = (n_states,) * 7
    check(engine, draw(sizes, n_rows, gaps=gaps), sizes)


@every_engine
@pytest.mark.parametrize("gaps", [False, True], ids=["full", "gaps"])
@pytest.mark.parametrize(
    "sizes", [(2, 3), (3, 2, 3, 2), (5, 2, 40, 3, 40, 2, 17), (2, 130), (1, 3, 1), (1, 1), (300, 2)]
)
def test_columns_may_have_alphabets_of_their_own(engine, sizes, gaps):
    check(engine, draw(sizes, 500, gaps=gaps), sizes)


@every_engine
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint64, bool])
def test_codes_may_be_of_any_type(engine, dtype):
    sizes = (2,) * 40
    codes = draw(sizes, 130)
    for given_codes in (codes.astype(dtype), np.asfortranarray(codes.astype(dtype)), codes.astype(dtype)[::2, ::3]):
        check(engine, given_codes, sizes[: given_codes.shape[1]])


@pytest.fixture
def small(monkeypatch):
    """Blocks of two columns at most, chunks of 64 rows and threads for every count."""
    tiny = [dataclasses.replace(method, lines=6) for method in (BITS, HISTOGRAM, PLAIN_BITS, PLAIN_HISTOGRAM)]
    monkeypatch.setattr(blocks, "_COST_FOR_THREADS", 0.0)
    monkeypatch.setattr(tiles, "_COST_FOR_THREADS", 0.0)
    monkeypatch.setattr(blocks, "_CHUNK_CELLS", 1)
    return [tiny[:2], tiny[2:], tiny[:1], tiny[1:2]]


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("gaps", [False, True], ids=["full", "gaps"])
def test_blocks_chunks_and_threads_do_not_matter(small, n_threads, gaps, monkeypatch):
    monkeypatch.setattr(threads, "n_workers", lambda: n_threads)
    for sizes in ((3, 2, 3, 3, 18, 3, 20, 3, 2), (3,) * 19):
        codes = draw(sizes, 333, gaps=gaps)
        for methods in small:
            check(lambda rows, methods=methods: blocks.count_in_blocks(rows, methods), codes, sizes)


@pytest.mark.parametrize("width", [6, 30, 96])
def test_words_are_counted_in_pieces(width):
    """More words than are kept in the cache at a time, and blocks whose lines are no multiple of three."""
    methods = [dataclasses.replace(BITS, lines=width)]
    for sizes in ((3,) * 5, (3, 3, 3, 2, 3)):
        codes = draw(sizes, 64 * 600 + 5)
        check(lambda rows: blocks.count_in_blocks(rows, methods), codes, sizes)
    assert codes.shape[0] > 64 * 2 * bit_kernels._WORDS_AT_ONCE


@every_engine
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from([2, 3, 5, 16, 21]), min_size=1, max_size=6),
    st.integers(1, 200),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_any_table_is_counted_alike(engine, sizes, n_rows, gaps, seed):
    check(engine, draw(sizes, n_rows, gaps=gaps, seed=seed), sizes)


@pytest.mark.parametrize(
    ("loaded", "n_nodes", "engine"),
    [
        ((), 100, "plain"),
        ((), 2_000, "mixed"),
        (("numba",), 50, "plain"),
        (("numba",), 500, "mixed"),
        (("numba", "kgmi.statistics.bit_kernels"), 5, "mixed"),
    ],
)
def test_the_engine_is_chosen_by_size_and_by_what_is_loaded(loaded, n_nodes, engine, monkeypatch):
    for name in ("numba", "kgmi.statistics.bit_kernels"):
        if name not in loaded:
            monkeypatch.delitem(sys.modules, name)
    rows = Observed(np.zeros((10_000, n_nodes), dtype=np.int8), (3,) * n_nodes)
    assert engines.choose(rows) == engine


def test_sizes_say_which_states_to_look_for():
    sizes = (2, 3, 2)
    codes = draw(sizes, 100)
    assert np.array_equal(count_checked(codes, 3, sizes).counts, count_checked(codes, 3).counts)


# Bits


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 1_000])
@pytest.mark.parametrize("n_states", [2, 3, 40, 130])
@pytest.mark.parametrize("gaps", [False, True], ids=["full", "gaps"])
def test_packing_sets_one_bit_for_each_row_that_has_the_state(n_rows, n_states, gaps):
    codes = draw((n_states,) * 5, n_rows, gaps=gaps)
    codes[0, 0] = -1 if gaps else 0
    plain, compiled = pack_plain(codes, n_states), pack_compiled(codes, n_states)
    assert np.array_equal(plain.words, compiled.words)
    assert plain.words.shape == (5, n_states - 1 + gaps, -(-n_rows // 64))
    assert plain.words.flags.c_contiguous
    assert compiled.words.flags.c_contiguous
    bits = np.unpackbits(plain.words.astype("<u8").view(np.uint8), axis=2, bitorder="little")
    assert not bits[:, :, n_rows:].any()
    for state in range(n_states - 1):
        assert np.array_equal(bits[:, state, :n_rows], (codes == state).T)
    if gaps:
        assert np.array_equal(bits[:, -1, :n_rows], (codes >= 0).T)
    assert (plain.has_gaps, plain.n_rows, plain.n_states, plain.n_nodes) == (gaps, n_rows, n_states, 5)


def test_words_without_rows_are_zeros_whatever_was_there_before(monkeypatch):
    room = packed._room

    def used_room(*shape):
        words = room(*shape)
        words[:] = ~np.uint64(0)
        return words

    codes = draw((3,) * 40, 1_001)
    clean = pack_plain(codes, 3).words
    monkeypatch.setattr(packed, "_room", used_room)
    for pack in (pack_plain, pack_compiled):
        words = pack(codes, 3, multiple=24).words
        assert words.shape == (40, 2, 24)
        assert words.ctypes.data % 64 == 0
        assert np.array_equal(words[:, :, :16], clean)
        assert not words[:, :, 16:].any()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64])
def test_many_columns_are_packed_alike_from_any_type(dtype):
    codes = draw((4,) * 600, 700).astype(dtype)
    assert np.array_equal(pack_plain(codes, 4).words, pack_compiled(codes, 4).words)
    assert np.array_equal(pack_plain(codes.T, 4).words, pack_compiled(codes.T, 4).words)


def test_gaps_that_are_known_of_have_a_plane_where_there_are_none():
    codes = draw((3,) * 4, 100)
    for pack in (pack_plain, pack_compiled):
        assert np.array_equal(pack(codes, 3, has_gaps=True).ones[:, -1], [100] * 4)


# Tiles


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("gaps", [False, True], ids=["full", "gaps"])
@pytest.mark.parametrize(
    ("children", "candidates"), [(range(9), range(9)), (range(2, 5), range(3, 9)), (range(8, 9), range(1))]
)
def test_a_tile_is_a_part_of_the_table(small, children, candidates, gaps, compiled, monkeypatch):
    monkeypatch.setattr(tiles, "is_worth_compiling", lambda _: compiled)
    monkeypatch.setattr(tiles, "BITS", small[0][0])
    monkeypatch.setattr(tiles, "PLAIN_BITS", small[1][0])
    codes = draw((3,) * 9, 200, gaps=gaps)
    found = tiles.count_tile(pack_plain(codes, 3), children, candidates)
    assert np.array_equal(found, brute_pairs(codes, (3,) * 9)[np.ix_(children, candidates)])


@pytest.mark.parametrize("columns", [range(0, 4, 2), range(-1, 2), range(3, 5)])
def test_a_tile_of_columns_that_are_not_there_is_refused(columns):
    four = pack_plain(draw((3,) * 4, 100), 3)
    for ranges in ((columns, range(4)), (range(4), columns)):
        with pytest.raises(SettingError, match="one after the other, from 0 to 3"):
            tiles.count_tile(four, *ranges)
    assert tiles.count_tile(four, range(2, 2), range(4)).shape == (0, 4, 3, 3)
