"""Files of counts: what is written is read again, and every damage, trick and difference is noticed."""

import tracemalloc
import zlib

import numpy as np
import pytest

from kgmi.counting.container import VERSION
from kgmi.counting.counts import Counts
from kgmi.counting.merge import merge
from kgmi.errors import CountsError, TooLargeError
from kgmi.memory import within
from kgmi.statistics.tally import Tally
from tests.count_drills import KINDS, counts_of, put_together, rows_of, same, taken_apart


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "part.counts"
    KINDS["own"]().save(path)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_read_again_and_gives_the_same_bytes(kind, tmp_path):
    counts = KINDS[kind]()
    first, second = tmp_path / "first.counts", tmp_path / "folder" / "second.counts"
    counts.save(first)
    read = Counts.load(first)
    assert same(read, counts)
    assert read.marks == counts.marks
    assert read.tally.cells.dtype == np.int64
    read.save(second)
    assert second.read_bytes() == first.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.counts", "folder"]


def test_counts_are_shown_in_a_line(tmp_path):
    counts = KINDS["own"]()
    assert repr(counts) == "Counts(4 columns: 'x0', 'x1', 'x2', 'x3'; n_rows=200, width=3)"
    assert str(counts) == (
        "Counts of 200 rows of 4 columns (x0, x1, x2, x3), from which up to 2 parents of each can be learned."
    )
    names = tuple(f"node {number}" for number in range(30))
    many = counts_of(rows_of(104, 2_000, (2,) * 30), (2,) * 30, width=2, names=names, marks=("0" * 64,) * 500)
    assert len(repr(many)) < 200
    assert str(many).startswith("Counts of 2,000 rows of 30 columns (node 0, node 1,")
    assert "node 7 …), from which up to 1 parent of each" in str(many)


def test_counts_beyond_32_bits_are_kept(tmp_path):
    counts = counts_of(rows_of(102))
    many = Tally(counts.tally.sizes, 3, counts.n_rows * 10**14, counts.tally.cells * 10**14)
    counts_of(rows_of(102), tally=many).save(tmp_path / "many.counts")
    assert (Counts.load(tmp_path / "many.counts").tally.cells == many.cells).all()


def test_no_single_byte_can_change_and_no_end_be_cut_off_or_added(saved):
    content = saved.read_bytes()
    rng = np.random.default_rng(103)
    bad = [content[:end] for end in range(len(content))]
    bad += [content + extra for extra in (b"\0", content, b"\n")]
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= int(rng.integers(1, 256))
        bad.append(bytes(changed))
    for one in bad:
        saved.write_bytes(one)
        with pytest.raises(CountsError) as caught:
            Counts.load(saved)
        assert str(saved) in str(caught.value)
    saved.write_bytes(content)
    assert Counts.load(saved).n_rows == 200


@pytest.mark.parametrize("content", [b"", b"x0,x1\n0,1\n", b"PAR1" + b"\0" * 500, b"\x93NUMPY\x01\0" + b"\0" * 200])
def test_files_that_are_something_else(content, tmp_path):
    path = tmp_path / "table.parquet"
    path.write_bytes(content)
    with pytest.raises(CountsError, match=r"table.parquet is no file of counts of kgmi; kgmi count writes them"):
        Counts.load(path)


def test_places_where_there_is_no_file(tmp_path):
    with pytest.raises(CountsError, match="is a folder, not a file of counts"):
        Counts.load(tmp_path)
    with pytest.raises(CountsError, match=r"there is no file of counts at .*gone.counts; kgmi count writes one"):
        Counts.load(tmp_path / "gone.counts")


@pytest.mark.parametrize(("version", "says"), [(VERSION + 1, "update kgmi to read it"), (0, "count again with")])
def test_other_versions_are_told_so(saved, version, says):
    _, header, arrays = taken_apart(saved)
    put_together(saved, version, header, arrays)
    with pytest.raises(CountsError, match=f"part.counts has format version {version}, this kgmi reads .*{says}"):
        Counts.load(saved)


def refused_without_memory(path, match, error=CountsError):
    tracemalloc.start()
    try:
        with pytest.raises(error, match=match) as caught:
            Counts.load(path)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    assert str(path) in str(caught.value)


def test_bombs_do_not_fill_the_memory(saved):
    _, header, arrays = taken_apart(saved)
    for shape in ([10**12], [2**62, 2**62], [10**18]):
        big = header | {"arrays": [{"name": "cells", "dtype": "<i8", "shape": shape}]}
        put_together(saved, VERSION, big, arrays)
        refused_without_memory(saved, "which .* cannot hold")
    put_together(saved, VERSION, header, b"", packed=zlib.compress(bytes(300_000_000), 9))
    refused_without_memory(saved, "more counts than its header says")
    put_together(saved, VERSION, header, arrays, length=2**60)
    refused_without_memory(saved, "claims a header of")
    put_together(saved, VERSION, b'{"a":' + b"[" * 200_000, arrays)
    refused_without_memory(saved, "not JSON")
    listing = header["arrays"]
    for key, value in (("width", 30), ("width", 10**9)):
        many = header | {"names": [f"x{n}" for n in range(60)], "sizes": [0] * 60, "states": [], "alphabets": None}
        put_together(saved, VERSION, many | {key: value, "n_rows": 0, "arrays": listing}, arrays)
        refused_without_memory(saved, "claims|need")


def test_a_limit_of_memory_holds(saved):
    with within(100), pytest.raises(TooLargeError, match=r"part.counts takes .* memory_limit is 100 bytes"):
        Counts.load(saved)


def test_content_that_cannot_be_is_refused_even_where_the_checksum_holds(saved):
    _, header, arrays = taken_apart(saved)
    listing = header["arrays"][0]
    edits = [
        {"n_rows": 199},
        {"n_rows": -1},
        {"n_rows": 2**63},
        {"n_rows": True},
        {"width": 2},
        {"width": 0},
        {"width": "3"},
        {"has_gaps": True},
        {"has_gaps": 0},
        {"every_set": False},
        {"every_set": None},
        {"names": ["x0", "x1", "x2", "x2"]},
        {"names": ["x0", "x1", "x2"]},
        {"names": "x0x1"},
        {"sizes": [2, 3, 4, 2]},
        {"sizes": None},
        {"states": [1]},
        {"alphabets": None},
        {"alphabets": [["a", "b"]]},
        {"alphabets": [["a", "a"], *header["alphabets"][1:]]},
        {"marks": None},
        {"reading": []},
        {"kind": "part"},
        {"kind": None},
        {"arrays": None},
        {"arrays": [listing | {"dtype": "|O8"}]},
        {"arrays": [listing | {"dtype": "<f8"}]},
        {"arrays": [listing | {"shape": [-1]}]},
        {"arrays": [listing | {"shape": [listing["shape"][0] - 1]}]},
        {"arrays": [listing | {"shape": [1, 1, listing["shape"][0]]}]},
        {"arrays": [listing | {"name": "other"}]},
    ]
    for edit in edits:
        put_together(saved, VERSION, header | edit, arrays)
        with pytest.raises(CountsError) as caught:
            Counts.load(saved)
        assert str(saved) in str(caught.value), edit
    moved = bytearray(arrays)
    moved[0], moved[1], moved[listing["shape"][0] - 1] = moved[0] + 1, moved[1], moved[-1] - 1
    for changed in (bytes(moved), arrays[:-1], arrays + b"\0"):
        put_together(saved, VERSION, header, changed)
        with pytest.raises(CountsError, match=r"part\.counts"):
            Counts.load(saved)


@pytest.mark.parametrize(
    "sets", [[[0, 1, 1], [0, 1, 3]], [[0, 1, 3], [0, 1, 2]], [[0, 1, 2]] * 2, [[0, 1, 4], [0, 1, 5]]]
)
def test_sets_that_are_none_are_refused(sets, tmp_path):
    path = tmp_path / "sets.counts"
    KINDS["sets"]().save(path)
    _, header, arrays = taken_apart(path)
    n_cells = len(arrays) - 2 * 3 * 4
    put_together(path, VERSION, header, arrays[:n_cells] + np.array(sets, dtype="<i4").tobytes())
    with pytest.raises(CountsError, match="sets of columns that are none, or not in their order"):
        Counts.load(path)


@pytest.mark.parametrize("kind", KINDS)
def test_merging_pieces_in_any_order_gives_the_whole(kind, tmp_path):
    pieces = [KINDS[kind](mark=str(seed), seed=seed) for seed in (104, 105, 106)]
    merged = [merge([pieces[i] for i in order]) for order in ((0, 1, 2), (2, 0, 1))]
    merged.append(pieces[1] + (pieces[2] + pieces[0]))
    assert merged[0].n_rows == sum(one.n_rows for one in pieces)
    assert (merged[0].tally.cells == sum(one.tally.cells for one in pieces)).all()
    for number, one in enumerate(merged):
        one.save(tmp_path / f"{number}.counts")
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


def test_counts_without_gaps_and_with_them_are_those_of_all_rows():
    sizes, full, gappy = (2, 3, 2, 4), rows_of(107), rows_of(108, gaps=True)
    reading = {"missing": "pairwise", "alphabet": "own"}
    parts = [counts_of(full, reading=reading), counts_of(gappy, gaps=True, mark="b", reading=reading)]
    whole = counts_of(np.hstack([full, gappy]), sizes, gaps=True, reading=reading)
    assert same(merge(parts), whole)
    assert same(merge(parts[::-1]), whole)


SHARED = ("s0", "s1", "s2")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"names": ("x1", "x0", "x2", "x3", "x4")},
            "b.counts has the columns of a.counts in another order: count it again with --columns x0,x1,x2,x3,x4",
        ),
        (
            {"names": ("x0", "x1", "x2", "x3", "y, z")},
            'it lacks x4 and has "y, z" too; count both with --columns x0,x1,x2,x3',
        ),
        (
            {"states": ("s0", "s1", "s 3")},
            "b.counts has the states s0, s1, s 3, a.counts has s0, s1, s2: count both again with all states in the "
            "same order, --states 's 3,s0,s1,s2'",
        ),
        ({"states": ("s1", "s0", "s2")}, "--states s0,s1,s2"),
        (
            {"reading": {"missing": "pairwise", "alphabet": "shared"}},
            "b.counts was counted with missing='pairwise', a.counts with missing='error': count again with the "
            "same --missing",
        ),
        (
            {"alphabets": (("s0", "s1", "s2"),) * 4 + (("s0", "s1", "s9"),)},
            "count both again with all states in the same order",
        ),
        (
            {"width": 2},
            "b.counts was counted with --parents 1, a.counts with --parents 2: count again with the same",
        ),
        (
            {"sets": np.array([[0, 1, 2]], dtype=np.int32)},
            "b.counts has counts of other sets of columns than a.counts",
        ),
    ],
)
def test_counts_that_do_not_fit_together_say_what_to_do(changed, says):
    rows = rows_of(109, sizes=(3,) * 5)
    parts = [counts_of(rows, (3,) * 5), counts_of(rows, (3,) * 5, mark="b", **changed)]
    with pytest.raises(CountsError) as caught:
        merge(parts, labels=["a.counts", "b.counts"])
    assert says in str(caught.value)


def test_a_column_whose_own_states_differ_is_named():
    first = KINDS["own"]()
    own = (*first.alphabets[:3], ("3s0", "3s1", "3s2", "3s9"))
    other = counts_of(rows_of(101), mark="b", alphabets=own)
    with pytest.raises(
        CountsError,
        match=r"column x3 has the states 3s0, 3s1, 3s2, 3s9 in the counts number 2, and .*same categories",
    ):
        first + other


def test_rows_that_would_count_twice_are_refused_unless_that_is_meant():
    first, second = KINDS["own"](), KINDS["own"](mark="b")
    both = first + second
    with pytest.raises(
        CountsError, match=r"c has rows that b has too \(1 of 2 of its fragments\), .*--allow-repeats"
    ):
        merge([second, both], labels="bc")
    with pytest.raises(CountsError, match=r"b has rows that a has too \(all of its fragments\)"):
        merge([first, first], labels="ab")
    twice = merge([first, both], repeats=True)
    assert twice.n_rows == 600
    assert twice.marks == tuple(sorted([*first.marks, *both.marks]))
    with pytest.raises(CountsError, match="there are no counts to merge"):
        merge([])


def test_more_rows_than_can_be_counted_are_refused():
    rows = np.zeros((4, 1), dtype=np.int8)
    one = counts_of(rows)
    most = Tally(one.tally.sizes, 3, 2**62, one.tally.cells * 2**62)
    huge = [counts_of(rows, tally=most, mark=mark) for mark in "ab"]
    with pytest.raises(TooLargeError, match="with b there are more rows than can be counted"):
        merge(huge, labels="ab")
