"""Files of counts: what is written is read again, and damage, tricks and other versions are refused."""

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from kgmi.counts.counted import CountedTable
from kgmi.counts.files import VERSION, DamagedError, read_container, write_container
from kgmi.counts.tally import Tally
from kgmi.errors import CountsError, OutputError, TooLargeError
from kgmi.memory import within

from .tables import KINDS, rows_of, same, table_of


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "part.counts"
    KINDS["own"]().save(path)
    return path


def edited(path, header=None, **arrays):
    """Write a file again with another header or other arrays, and checksums that hold."""
    old, stored = read_container(path)
    write_container(path, old | (header or {}), {k: v for k, v in (stored | arrays).items() if v is not None})
    return path


def refused(path, error=DamagedError, match=None):
    with pytest.raises(error, match=match) as caught:
        CountedTable.load(path)
    assert str(path) in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_read_again_and_gives_the_same_bytes(kind, tmp_path):
    counts = KINDS[kind]()
    first, second = tmp_path / "first.counts", tmp_path / "folder" / "second.counts"
    counts.save(first)
    read = CountedTable.load(first)
    assert same(read, counts)
    assert read.marks == counts.marks
    assert read.fingerprint == counts.fingerprint
    read.save(second)
    assert second.read_bytes() == first.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.counts", "folder"]


def test_counts_beyond_32_bits_are_kept(tmp_path):
    counts = table_of(rows_of(102))
    many = Tally(counts.tally.sizes, 3, counts.n_rows * 10**14, counts.tally.cells * 10**14)
    table_of(rows_of(102), tally=many).save(tmp_path / "many.counts")
    np.testing.assert_array_equal(CountedTable.load(tmp_path / "many.counts").tally.cells, many.cells)


def test_a_file_that_is_something_else_is_replaced_by_force_only(saved, tmp_path):
    KINDS["gaps"]().save(saved)
    mine = tmp_path / "mine.txt"
    mine.write_text("text")
    with pytest.raises(OutputError):
        KINDS["own"]().save(mine)
    assert mine.read_text() == "text"
    KINDS["own"]().save(mine, force=True)
    assert CountedTable.load(mine).n_rows == 200


def test_bytes_that_change_or_are_missing_give_an_error_or_the_same_counts(saved):
    """Some bytes, such as the dates of an archive, mean nothing."""
    content, counts, rng = saved.read_bytes(), KINDS["own"](), np.random.default_rng(103)
    for end in range(len(content)):
        saved.write_bytes(content[:end])
        refused(saved)
    n_errors = 0
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= int(rng.integers(1, 256))
        saved.write_bytes(changed)
        try:
            assert same(CountedTable.load(saved), counts)
        except CountsError:
            n_errors += 1
    assert n_errors > len(content) / 2


@pytest.mark.parametrize("content", [b"", b"x0,x1\n0,1\n", b"PAR1" + b"\0" * 500, b"\x93NUMPY\x01\0" + b"\0" * 200])
def test_files_that_are_something_else(content, tmp_path):
    path = tmp_path / "table.parquet"
    path.write_bytes(content)
    refused(path, match="no file of counts")


def test_places_where_there_is_no_file(tmp_path):
    refused(tmp_path, CountsError, "folder")
    refused(tmp_path / "gone.counts", CountsError, "kgmi count")


@pytest.mark.parametrize(
    ("version", "says"), [(VERSION + 1, "update kgmi"), (1, "count again"), ("2", "count again")]
)
def test_other_versions_are_refused(saved, version, says):
    refused(edited(saved, {"version": version}), CountsError, says)


def zipped(path, header, cells):
    """Write a file whose members are these bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", header)
        archive.writestr("cells.npy", cells)
    path.write_bytes(path.read_bytes()[:8] + content.getvalue())
    return path


def npy(shape, dtype="<i8", content=b""):
    text = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}}}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text + content


def test_claims_do_not_fill_the_memory(saved):
    with zipfile.ZipFile(saved) as archive:
        header, cells = (archive.read(name) for name in archive.namelist())
    content = saved.read_bytes()
    size = content.rindex(b"PK\x01\x02") + 24  # of the cells when unpacked, in the list of members
    bad = [
        lambda: saved.write_bytes(content[:size] + b"\xf0\xff\xff\xff" + content[size + 4 :]),
        lambda: zipped(saved, header, npy((2**62, 4))),
        lambda: zipped(saved, header, npy((10**18,))),
        lambda: zipped(saved, header, npy((-1,))),
        lambda: zipped(saved, header, npy((1,), "|O", b"cos\nsystem\n(S'true'\ntR.")),
        lambda: zipped(saved, header, cells[:-1]),
        lambda: zipped(saved, b"[" * 200_000, cells),
        lambda: zipped(saved, b"[]", cells),
        lambda: zipped(saved, b"\xff", cells),
    ]
    for make in bad:
        make()
        tracemalloc.start()
        try:
            refused(saved)
            assert tracemalloc.get_traced_memory()[1] < 5_000_000
        finally:
            tracemalloc.stop()


def test_more_sets_than_can_be_listed_do_not_fill_the_memory(saved):
    n_sets = 10_400_600  # sets of 13 of 26 columns with one state
    names = [f"x{node}" for node in range(26)]
    header = {"names": names, "states": ["s"], "alphabets": None, "sizes": [1] * 26, "width": 13, "n_rows": 1}
    refused(edited(saved, header, cells=np.ones(n_sets, dtype=np.uint8)))


def test_a_limit_of_memory_holds(saved):
    with within(100), pytest.raises(TooLargeError, match="memory_limit"):
        CountedTable.load(saved)


OWN = [["0s0", "0s1"], ["1s0", "1s1", "1s2"], ["2s0", "2s1"], ["3s0", "3s1", "3s2", "3s3"]]
EDITS = [
    *({"n_rows": value} for value in (199, -1, 2**63, True, None)),
    *({"width": value} for value in (2, 0, 4, 10**9, "3")),
    *({"has_gaps": value} for value in (True, 0)),
    *({"every_set": value} for value in (False, None)),
    *({"names": value} for value in (["x0", "x1", "x2", "x2"], ["x0", "x1", "x2"], "x0x1", ["", "x1", "x2", "x3"])),
    *({"names": ["x0", value, "x2", "x3"]} for value in ("\x1b[2Jx1", "x\x9b3", "\ud800")),
    *({"sizes": value} for value in ([2, 3, 4, 2], None)),
    *({"states": value} for value in ([1], ["yes", "no"], [*(text for own in OWN for text in own), "more"])),
    *({"alphabets": value} for value in (None, [["a", "b"]], [["a", "a"], *OWN[1:]], [*OWN[:3], 3])),
    *({"marks": value} for value in (None, "abc")),
    *({"reading": value} for value in ([], None, {"missing": ["error"]}, {"more": 1})),
    *({"kind": value} for value in ("part", None)),
]


@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_a_header_that_cannot_be_is_refused_even_where_the_checksum_holds(edit, saved):
    refused(edited(saved, edit), CountsError)


def test_cells_that_cannot_be_are_refused_even_where_the_checksum_holds(saved):
    content, cells = saved.read_bytes(), read_container(saved)[1]["cells"]
    for bad in (cells[:-1], cells[None], cells.astype("<i4") - 1, cells.astype("<i8").astype(">i8"), None):
        saved.write_bytes(content)
        with pytest.raises(CountsError):
            CountedTable.load(edited(saved, cells=bad))
    saved.write_bytes(content)
    refused(edited(saved, more=cells))


def test_missing_values_come_with_rows_that_were_read_so(tmp_path):
    path = tmp_path / "gaps.counts"
    KINDS["gaps"]().save(path)
    refused(edited(path, {"reading": {"missing": "error", "alphabet": "own"}}))


@pytest.mark.parametrize(
    "sets", [[[0, 1, 1], [0, 2, 3]], [[0, 2, 3], [0, 1, 2]], [[0, 1, 2]] * 2, [[0, 1, 4], [0, 2, 5]]]
)
def test_sets_that_are_none_are_refused(sets, tmp_path):
    path = tmp_path / "sets.counts"
    KINDS["sets"]().save(path)
    refused(edited(path, sets=np.array(sets, dtype="<i4")))
    refused(edited(path, sets=np.array(sets, dtype="<i8")))


@pytest.mark.parametrize(
    ("kind", "moves"), [(kind, {0: -1, -1: 1}) for kind in KINDS] + [("shared", {0: -1, 3: 1, 9: 1, 12: -1})]
)
def test_tables_that_contradict_each_other_are_refused(kind, moves, tmp_path):
    """Rows move between the cells of one table; in the last case no column changes."""
    counts, path = KINDS[kind](), tmp_path / "tricked.counts"
    counts.save(path)
    cells, start = counts.tally.cells.copy(), int(counts.tally.starts[-2])
    for place, change in moves.items():
        cells[start + place if place >= 0 else place] += change
    refused(edited(path, cells=cells))


def test_sums_that_wrap_around_are_noticed(tmp_path):
    cells = np.array([2**62] * 5 + [0] * 3, dtype=np.int64)  # their sum is 2^62 again, in 64 bits
    path = tmp_path / "round.counts"
    table_of(rows_of(202, sizes=(2, 2, 2)), (2, 2, 2), tally=Tally((2, 2, 2), 3, 2**62, cells)).save(path)
    refused(path, match="add up")
