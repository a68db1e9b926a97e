"""Counts with names: files, sums, and what is refused."""

import json
import tracemalloc
import zlib
from dataclasses import replace
from hashlib import sha256
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

from kgmi import count, merge
from kgmi.counts.counted import CountedTable
from kgmi.counts.files import VERSION, read_container, write_container
from kgmi.errors import CountsError, DataError, OutputError, TooLargeError
from kgmi.memory import within
from kgmi.outputs import COUNTS_MAGIC

from .tables import FAR, KINDS, rows_of, same, table_of


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "part.counts"
    KINDS["own"]().save(path)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_counts_add_up_in_any_order_and_files_keep_them(kind, tmp_path):
    parts = [KINDS[kind](seed, str(seed)) for seed in (104, 105, 106)]
    merged = [merge(some) for some in permutations(parts)] + [parts[1] + (parts[2] + parts[0])]
    assert merged[0].n_rows == sum(one.n_rows for one in parts)
    np.testing.assert_array_equal(merged[0].tally.cells, sum(one.tally.cells for one in parts))
    for number, one in enumerate(merged):
        one.save(tmp_path / "new" / f"{number}.counts")
    read = CountedTable.load(tmp_path / "new" / "0.counts")
    assert same(read, merged[0])
    assert (read.marks, read.fingerprint) == (("104", "105", "106"), merged[0].fingerprint)
    read.save(tmp_path / "new" / "again.counts")
    assert len({path.read_bytes() for path in (tmp_path / "new").iterdir()}) == 1


TABLES = {
    "gaps": {"x": ["a", None, "b"], "y": ["u", "v", "u"]},
    "none": {"x": ["b", "c", "a"], "y": ["v", "w", "w"]},
    "text": {"x": ["missing", "a", "b"], "y": ["u", "u", "v"]},
    "numbers": {"x": [3, 1, 2], "y": [10, 9, 9]},
}


@pytest.mark.parametrize("missing", ["pairwise", "category"])
@pytest.mark.parametrize("alphabet", ["own", "shared", "auto"])
@pytest.mark.parametrize("kinds", [("gaps", "none"), ("gaps", "text"), ("none", "text"), ("none", "numbers")])
def test_states_that_differ_are_merged_as_if_counted_at_once(kinds, alphabet, missing):
    options = {"missing": missing, "alphabet": alphabet, "n_parents": 1}
    tables = [pa.table({name: cells * 4 for name, cells in TABLES[kind].items()}) for kind in kinds]
    texts = [pa.table({name: one[name].cast("string") for name in "xy"}) for one in tables]
    at_once = count(pa.concat_tables(texts), **options)
    for some in permutations(count(one, **options) for one in tables):
        assert same(merge(some), at_once)


def test_columns_in_another_order_keep_names_states_and_counts():
    counts = table_of(rows_of(109))
    moved = counts.in_order([2, 0, 3, 1])
    assert moved.names == ("x2", "x0", "x3", "x1")
    assert moved.alphabets == tuple(counts.alphabets[column] for column in (2, 0, 3, 1))
    np.testing.assert_array_equal(moved.tally.cells, table_of(rows_of(109)[[2, 0, 3, 1]], (2, 2, 4, 3)).tally.cells)
    assert same(moved.in_order([1, 3, 0, 2]), counts)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"names": ("x1", "x0", "x2", "x3", "x4")}, "another order"),
        ({"names": ("x0", "x1", "x2", "x3", "y, z")}, "x4"),
        ({"gaps": True}, "missing"),
        ({"width": 2}, "parents"),
        ({"sets": FAR}, "sets"),
    ],
)
def test_counts_that_do_not_fit_together_are_refused(changed, says):
    rows = rows_of(109, sizes=(3,) * 5)
    parts = [table_of(rows, (3,) * 5), table_of(rows, (3,) * 5, mark="b", **changed)]
    for some in (parts, parts[::-1]):
        with pytest.raises(CountsError, match=says) as caught:
            merge(some, labels=["a.counts", "b.counts"])
        assert "a.counts" in str(caught.value)
        assert "b.counts" in str(caught.value)


def test_the_same_rows_are_counted_once_unless_that_is_meant():
    first, second = KINDS["own"](), KINDS["own"](mark="b")
    both = first + second
    filtered = table_of(rows_of(110), mark="c", where="x > 0")
    for some, says in (([second, both], "twice"), ([first, first], "twice"), ([first, filtered], "filters")):
        with pytest.raises(CountsError, match=says):
            merge(some)
    again = merge([first, both], repeats=True)
    assert (again.n_rows, again.marks) == (600, ("a", "b"))
    assert merge([first, filtered], repeats=True).where == "all rows or x > 0"


def test_only_counts_are_merged():
    first = KINDS["own"]()
    for bad in ([], [first, 3]):
        with pytest.raises(CountsError):
            merge(bad)
    with pytest.raises(DataError, match="fit"):
        table_of(rows_of(101), names=("a", "b"))
    most = replace(first.part, rows=2**62)
    with pytest.raises(TooLargeError):
        merge([table_of(rows_of(101), part=most, mark=mark) for mark in "ab"])


def test_counts_beyond_32_bits_are_kept(tmp_path):
    part = table_of(rows_of(102)).part
    many = table_of(rows_of(102), part=replace(part, rows=part.rows * 10**14, cells=part.cells * 10**14))
    many.save(tmp_path / "many.counts")
    assert same(CountedTable.load(tmp_path / "many.counts"), many)


def test_a_file_that_is_something_else_is_replaced_by_force_only(tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text("text")
    with pytest.raises(OutputError):
        KINDS["own"]().save(mine)
    assert mine.read_text() == "text"
    KINDS["own"]().save(mine, force=True)
    assert CountedTable.load(mine).n_rows == 200


# Damage and forged files


def edited(path, header=None, **arrays):
    """Write a file again with another header or other arrays, and a checksum that holds."""
    old, stored = read_container(path)
    write_container(path, old | (header or {}), {k: v for k, v in (stored | arrays).items() if v is not None})
    return path


def refused(path, error=CountsError, match=None):
    with pytest.raises(error, match=match) as caught:
        CountedTable.load(path)
    assert str(path) in str(caught.value)
    assert str(caught.value).isprintable()


def test_bytes_that_change_or_are_missing_are_noticed(saved):
    content, rng = saved.read_bytes(), np.random.default_rng(103)
    for end in range(0, len(content), 3):
        saved.write_bytes(content[:end])
        refused(saved, CountsError)
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= int(rng.integers(1, 256))
        saved.write_bytes(changed)
        refused(saved, CountsError)


def test_what_is_no_file_of_counts_is_refused(saved, tmp_path):
    path = tmp_path / "table.parquet"
    for content in (b"", b"x0,x1\n0,1\n", b"PAR1" + b"\0" * 500):
        path.write_bytes(content)
        refused(path, CountsError, "no file of counts")
    path.write_bytes(COUNTS_MAGIC + b"PK\3\4" * 99)  # as version 3 wrote it
    refused(path, CountsError, "another version of kgmi: count again")
    for missing in (tmp_path, tmp_path / "gone.counts"):
        refused(missing, CountsError, "kgmi count")
    with within(100), pytest.raises(TooLargeError, match="memory_limit"):
        CountedTable.load(saved)


@pytest.mark.parametrize(
    "header",
    [
        *({"cells": ["<u8", shape]} for shape in ([2**62, 4], [10**9], ["2"], 2)),
        *({"cells": ["|u1", shape]} for shape in ([-1], [9, 9])),
        {"cells": ["|O", [2]]},
        [["|u1", [1]]],
        b"[" * 200_000,
        b"[]",
        b"{}",
        b"\xff",
    ],
    ids=lambda header: str(header)[:20],
)
def test_headers_that_cannot_be_do_not_fill_the_memory(header, saved):
    text = saved.read_bytes()[41:].partition(b"\n")[0]
    if not isinstance(header, bytes):
        header = json.dumps(json.loads(text) | {"arrays": header}).encode()
    content = header + b"\n" + zlib.compress(b"\0" * 50_000_000)
    saved.write_bytes(COUNTS_MAGIC + VERSION + sha256(content).digest() + content)
    tracemalloc.start()
    try:
        refused(saved)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


CELL = np.ones(1, dtype="|u1")
SEEN = [[f"{column}s{code}" for code in range(size)] for column, size in enumerate((2, 3, 2, 4))]


def seen_as(*texts, **changed):
    plain = {"declared": None, "has_gaps": False}
    return {"seen": [plain | {"texts": some} | changed for some in texts]}


@pytest.mark.parametrize(
    "edit",
    [
        *({"n_rows": value} for value in (199, -1, 2**63, True, None)),
        *({"names": value} for value in (["x0", "x1", "x2", "x2"], ["x0", "x1", "x2"], "x0x1", ["", *"abc"])),
        *({"names": ["x0", value, "x2", "x3"]} for value in ("\x1b[2Jx1", "x\x9b3", "\ud800")),
        *({"marks": value} for value in (None, "abc", ["a", "a"])),
        {"where": 1},
        *({"rules": value} for value in ([], None, {"missing": ["error"]}, {"more": 1}, {"missing": "x"})),
        *({"seen": value} for value in ([], None, [1, 2, 3, 4])),
        seen_as(*SEEN[:3], ["3s0", "3s1", "3s2"]),
        seen_as(["a", "a"], *SEEN[1:]),
        seen_as([1, 2], *SEEN[1:]),
        seen_as(*SEEN, has_gaps=True),
        seen_as(*SEEN, has_gaps=0),
        seen_as(*SEEN, declared=[3]),
    ],
    ids=str,
)
def test_a_header_that_cannot_be_is_refused_even_where_the_checksum_holds(edit, saved):
    refused(edited(saved, edit))


def test_arrays_that_cannot_be_are_refused_even_where_the_checksum_holds(saved):
    content, arrays = saved.read_bytes(), read_container(saved)[1]
    cells, sets = arrays["cells"], arrays["sets"]
    bad = [{"cells": some} for some in (cells[:-1], cells[None], cells[::-1], cells.astype("<i4") - 1, None)]
    bad += [{"sets": some} for some in (sets[::-1], sets[:, ::-1], sets[[0, 0, 1, 2]], sets + 1, sets[0], sets[:0])]
    for change in bad:
        saved.write_bytes(content)
        refused(edited(saved, **change))


def forged(path, n_columns, n_states, sets, cells=CELL):
    """Write counts of so many columns and states, whether or not there can be any."""
    names, texts = [f"x{one}" for one in range(n_columns)], [str(one) for one in range(n_states)]
    header = {"names": names, "rules": {}, "marks": [], "where": "", "n_rows": 0, "is_part": False}
    write_container(path, header | seen_as(*[texts] * n_columns), {"cells": cells, "sets": sets})
    return path


@pytest.mark.parametrize(("n_columns", "n_states", "n_sets"), [(1_000, 2, 1), (150, 1_000, 1), (3, 2, 20_000_000)])
def test_forged_sets_of_columns_do_not_fill_the_memory(n_columns, n_states, n_sets, tmp_path):
    width = 1 if n_sets > 1 else n_columns
    sets = np.broadcast_to(np.arange(width, dtype="<u2"), (n_sets, width))
    path = forged(tmp_path / "a.counts", n_columns, n_states, sets)
    tracemalloc.start()
    try:
        refused(path, match="more sets of columns than can be counted")
        assert tracemalloc.get_traced_memory()[1] < 3 * sets.size * 2 + 20_000_000
    finally:
        tracemalloc.stop()


def test_forged_counts_of_very_many_states_are_refused(tmp_path):
    cells, pair = np.zeros(5_000**2, dtype="|u1"), np.array([[0, 1]], dtype="|u1")
    path = forged(tmp_path / "a.counts", 2, 5_000, pair, cells)
    refused(path, match="25,000,000 counts, which is more than can be counted")
