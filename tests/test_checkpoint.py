"""Parts that are kept: a count goes on where it stood, nothing counts twice, and what changed is noticed."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import numpy as np
import pytest

from kgmi.counting import checkpoint as room
from kgmi.counting.checkpoint import Checkpoint
from kgmi.counting.count import count
from kgmi.counting.identity import identity_of
from kgmi.counting.part import count_fragment
from kgmi.errors import CountsError, DataError
from kgmi.streams import stream
from tests.count_drills import put_together, same, taken_apart, write_categories, write_rows

N_FRAGMENTS = 90
RULES = {"states": None, "n_states": None, "missing": "error", "alphabet": "auto"}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A stream of many small fragments; some have states that others have not."""
    folder = tmp_path_factory.mktemp("rows")
    write_rows(folder / "a.parquet", 111, 600, 10)
    write_rows(folder / "b.parquet", 112, 300, 10, states=2, first=2)
    made = stream(folder, fragment_rows=10)
    assert len(made.fragments) == N_FRAGMENTS
    return made


@pytest.fixture(scope="module")
def whole(rows):
    return count(rows, 3)


@pytest.fixture(scope="module")
def parts(rows):
    return [count_fragment(rows, fragment, 3) for fragment in rows.fragments]


def files(folder):
    return sorted(folder.glob("part-*.counts"))


def opened(folder, rows):
    return Checkpoint(folder, identity_of(rows, 3))


def kept(folder, rows, parts):
    """A folder with these parts."""
    with opened(folder, rows) as checkpoint:
        assert checkpoint.load(rows.fragments) == (None, list(rows.fragments))
        for part in parts:
            checkpoint.store(part)
    return folder


def resumed(folder, rows):
    """The counts, and the checkpoint that part of them came from."""
    with opened(folder, rows) as checkpoint:
        return count(rows, 3, checkpoint=checkpoint), checkpoint


@pytest.mark.parametrize("n_done", [0, 7, 64, 65])
def test_a_count_goes_on_where_it_stood(n_done, rows, parts, whole, tmp_path):
    turned = np.random.default_rng(113).permutation(N_FRAGMENTS)[:n_done]
    folder = kept(tmp_path / "kept", rows, [parts[place] for place in turned])
    assert len(files(folder)) == (n_done if n_done <= 64 else 1 + (n_done - 65))
    counts, checkpoint = resumed(folder, rows)
    assert (checkpoint.taken, checkpoint.taken_rows, checkpoint.notes) == (n_done, n_done * 10, [])
    assert same(counts, whole)
    assert counts.marks == whole.marks
    again, checkpoint = resumed(folder, rows)
    assert checkpoint.taken == N_FRAGMENTS
    assert same(again, whole)


def test_parts_come_from_many_threads(rows, parts, whole, tmp_path):
    folder = tmp_path / "kept"
    with opened(folder, rows) as checkpoint:
        checkpoint.load(rows.fragments)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(checkpoint.store, parts))
    counts, checkpoint = resumed(folder, rows)
    assert checkpoint.taken == N_FRAGMENTS
    assert same(counts, whole)


def test_a_damaged_part_is_counted_again_and_told(rows, parts, whole, tmp_path):
    folder = kept(tmp_path / "kept", rows, parts[:4])
    cut, flipped, empty, good = files(folder)
    cut.write_bytes(cut.read_bytes()[:-9])
    content = bytearray(flipped.read_bytes())
    content[len(content) // 2] ^= 8
    flipped.write_bytes(content)
    empty.write_bytes(b"")
    (folder / ".part-0.counts.abc.part").write_bytes(good.read_bytes()[:50])  # what kill -9 leaves of a write
    counts, checkpoint = resumed(folder, rows)
    assert checkpoint.taken == 1
    assert sorted(note.split()[0] for note in checkpoint.notes) == [str(cut), str(flipped), str(empty)]
    assert all("counted again" in note for note in checkpoint.notes)
    assert same(counts, whole)
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    assert resumed(folder, rows)[1].notes == []


def test_a_crash_while_parts_are_folded_counts_nothing_twice(rows, parts, whole, tmp_path, monkeypatch):
    folder, saved = kept(tmp_path / "kept", rows, parts[:20]), tmp_path / "saved"
    shutil.copytree(folder, saved)
    monkeypatch.setattr(room, "_MOST_FILES", 20)
    with opened(folder, rows) as checkpoint:
        checkpoint.load(rows.fragments)
        checkpoint.store(parts[20])
    (folded,) = files(folder)
    for path in files(saved)[::2]:  # the sum is written, and some of those in it are not removed yet
        shutil.copy(path, folder)
    counts, checkpoint = resumed(folder, rows)
    assert (checkpoint.taken, checkpoint.notes) == (21, [])
    assert same(counts, whole)
    folded.unlink(missing_ok=True)


def test_parts_that_overlap_are_not_added(rows, parts, whole, tmp_path):
    folder = kept(tmp_path / "kept", rows, [parts[0] + parts[1] + parts[2]])
    other = kept(tmp_path / "other", rows, [parts[2] + parts[3]])
    shutil.copy(files(other)[0], folder)
    counts, checkpoint = resumed(folder, rows)
    assert checkpoint.taken == 3
    assert "overlaps other parts" in checkpoint.notes[0]
    assert same(counts, whole)


def test_large_parts_are_folded_by_their_size(rows, parts, whole, tmp_path, monkeypatch):
    one = kept(tmp_path / "one", rows, parts[:1])
    monkeypatch.setattr(room, "_MOST_BYTES", 3 * files(one)[0].stat().st_size)
    folder = kept(tmp_path / "kept", rows, parts[:40])
    assert len(files(folder)) <= 5
    assert same(resumed(folder, rows)[0], whole)


def test_fragments_without_rows_are_kept_too(rows, tmp_path):
    few = stream(
        sorted({fragment.label.split(",")[0] for fragment in rows.fragments}),
        fragment_rows=10,
        where=[("x0", "==", 3)],
    )
    with opened(tmp_path / "kept", few) as checkpoint:
        counts = count(few, 3, checkpoint=checkpoint)
    again, checkpoint = resumed(tmp_path / "kept", few)
    assert checkpoint.taken == len(few.fragments)
    assert same(again, counts)
    assert 0 < counts.n_rows < 300


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"width": 2},
            "it was counted for n_parents = 2 (--parents 2), which are sets of 3 columns, now for n_parents = 1 "
            "(--parents 1), which are sets of 2 columns",
        ),
        ({"where": "'x0' == 1"}, "it was counted without a filter, now where 'x0' == 1 (where=…)"),
        ({"columns": ["x0"]}, "it has the columns x1, x2, x3, which are left out now (columns=…)"),
        (
            {"columns": ["x0", "x1", "x2", "y"]},
            "it has the column x3, which is left out now, and it has not the column y, which is there now",
        ),
        ({"columns": ["x0", "x1", "x2", "x3", "z"]}, "it has not the column z, which is there now (columns=…)"),
        ({"columns": ["x1", "x0", "x2", "x3"]}, "it has the same columns in another order: x0, x1, x2, x3"),
        (
            {"rules": RULES | {"missing": "pairwise"}, "width": 4},
            "with missing='error' (--missing error), now with missing='pairwise' (--missing pairwise)",
        ),
        ({"rules": RULES | {"alphabet": "own"}}, "(--alphabet auto), now with alphabet='own' (--alphabet own)"),
        ({"rules": RULES | {"states": list("012")}}, "without declared states, now with the states 0, 1, 2 (st"),
        ({"rules": RULES | {"n_states": 3}}, "it was counted for any states, now for 3 states"),
        ({"form": "cells"}, "it was counted from typed columns, as Parquet has, now from an array of texts"),
        ({"sets": "0" * 64}, "it was counted for all sets of columns, now for short lists of likely parents"),
        ({"more": [1]}, "it was written by another version of kgmi"),
        ({"where": "?" * 500}, "it was counted without a filter, now where ???"),
    ],
)
def test_the_parts_of_another_count_are_refused(change, says, rows, parts, tmp_path):
    folder = kept(tmp_path / "kept", rows, parts[:2])
    with pytest.raises(DataError, match="delete the folder to begin again, or choose another one") as caught:
        Checkpoint(folder, identity_of(rows, 3) | change)
    text = str(caught.value)
    assert text.startswith(f"the checkpoint {folder} is of another count: it ")
    assert says in text
    assert len(text) < len(str(folder)) + 350
    assert resumed(folder, rows)[1].taken == 2  # it is not locked, and nothing is lost


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"columns": 3},
        {"columns": [1]},
        {"rules": 5},
        {"rules": {"states": 5}},
        {"width": "x"},
        {"where": ["y"]},
    ],
)
def test_an_identity_of_which_nothing_is_known_is_refused_in_words(stored, rows, parts, tmp_path):
    folder = kept(tmp_path / "kept", rows, parts[:1])
    content = json.loads((folder / "identity.json").read_bytes())
    content["identity"] = content["identity"] | stored if stored else {}
    (folder / "identity.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"is of another count: it .*; delete the folder to begin again"):
        opened(folder, rows)


def test_lists_of_likely_parents_that_differ(rows, tmp_path):
    with Checkpoint(tmp_path / "kept", identity_of(rows, 3, np.array([[0, 1, 2]]))):
        pass
    with pytest.raises(DataError, match="it was counted for short lists of likely parents too, but of others"):
        Checkpoint(tmp_path / "kept", identity_of(rows, 3, np.array([[0, 1, 3]])))


def test_a_part_that_was_moved_here_from_another_count_is_refused(rows, parts, tmp_path):
    folder = kept(tmp_path / "kept", rows, parts[:2])
    with Checkpoint(tmp_path / "other", {"width": 2}) as other:
        other.store(parts[5])
    shutil.copy(files(tmp_path / "other")[0], folder)
    with pytest.raises(DataError, match="belongs to another count"):
        resumed(folder, rows)


def test_what_cannot_be_a_checkpoint_is_refused(rows, parts, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "table.csv").write_text("x0\n1\n")
    with pytest.raises(DataError, match=r"mine holds other files \(table.csv …\) and is no checkpoint"):
        opened(tmp_path / "mine", rows)
    with pytest.raises(DataError, match=r"table.csv is a file; a checkpoint needs a folder"):
        opened(tmp_path / "mine" / "table.csv", rows)
    folder = kept(tmp_path / "kept", rows, parts[:1])
    for content, says in (
        (b"{", "is damaged"),
        (b"[]", "is damaged"),
        (json.dumps({"identity": {}, "format": "other", "version": 1}).encode(), "has format 'other'"),
        (json.dumps({"identity": {}, "format": "kgmi-checkpoint", "version": 2}).encode(), "has version 2"),
    ):
        (folder / "identity.json").write_bytes(content)
        with pytest.raises(DataError, match=f"identity.json {says}.*; delete the folder"):
            opened(folder, rows)


def test_a_part_of_another_version_is_no_damage(rows, parts, tmp_path):
    folder = kept(tmp_path / "kept", rows, parts[:1])
    _, header, arrays = taken_apart(files(folder)[0])
    put_together(files(folder)[0], 9, header, arrays)
    with pytest.raises(CountsError, match=r"has format version 9, .*update kgmi"):
        resumed(folder, rows)
    assert len(files(folder)) == 1


def test_a_source_that_changed_is_noticed_with_the_place(tmp_path):
    (tmp_path / "rows").mkdir()
    paths = [tmp_path / "rows" / f"{name}.parquet" for name in "abc"]
    for seed, path in enumerate(paths, 114):
        write_rows(path, seed, 50, 50)
    before = stream(tmp_path / "rows")
    folder = kept(tmp_path / "kept", before, [count_fragment(before, one, 3) for one in before.fragments[:2]])
    write_rows(paths[2], 120, 50, 50)  # not counted yet: nothing is wrong
    assert resumed(folder, stream(tmp_path / "rows"))[1].taken == 2
    write_rows(paths[1], 121, 50, 50)
    with pytest.raises(DataError, match=r"the source changed .*: .*b\.parquet.* is gone, is not what it was, or"):
        resumed(folder, stream(tmp_path / "rows"))
    paths[1].unlink()
    with pytest.raises(DataError, match=r"b\.parquet.*delete the folder to begin again, or choose another one"):
        resumed(folder, stream(tmp_path / "rows"))


def test_a_file_that_was_written_again_is_counted_again_even_where_it_looks_the_same(tmp_path):
    """The marks of large files see samples of their bytes only."""
    path = tmp_path / "rows.parquet"
    write_rows(path, 115, 50, 50)
    rows = stream(path)
    folder = kept(tmp_path / "kept", rows, [count_fragment(rows, rows.fragments[0], 3)])
    assert resumed(folder, stream(path))[1].taken == 1
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    counts, checkpoint = resumed(folder, stream(path))
    assert (checkpoint.taken, counts.n_rows) == (0, 50)
    assert f"rows of a file that was written again ({path}); its rows are counted again" in checkpoint.notes[0]
    assert resumed(folder, stream(path))[1].taken == 1


def test_files_that_come_before_do_not_change_the_order_of_categories(tmp_path):
    """Categories have the order of their files; so those that stood elsewhere are counted again."""
    (tmp_path / "rows").mkdir()
    for name, categories in (("b", ["low", "high"]), ("c", ["high", "top"])):
        write_categories(tmp_path / "rows" / f"{name}.parquet", categories)
    before = stream(tmp_path / "rows")
    folder = kept(tmp_path / "kept", before, [count_fragment(before, one, 3) for one in before.fragments])
    write_categories(tmp_path / "rows" / "d.parquet", ["top", "none"])
    grown = stream(tmp_path / "rows")
    counts, checkpoint = resumed(folder, grown)
    assert (checkpoint.taken, checkpoint.notes) == (2, [])
    assert counts.states == count(grown, 3).states == ("low", "high", "top", "none")
    write_categories(tmp_path / "rows" / "a.parquet", ["none", "all"])
    grown = stream(tmp_path / "rows")
    counts, checkpoint = resumed(folder, grown)
    assert checkpoint.taken == 0
    assert "files came before or between; its rows are counted again" in checkpoint.notes[0]
    assert same(counts, count(grown, 3))
    assert counts.states[0] == "none"


def test_rows_that_can_be_read_once_only_have_no_checkpoint(tmp_path):
    once = stream(iter([np.zeros((3, 4), dtype=np.int64), np.ones((3, 4), dtype=np.int64)]))
    with (
        opened(tmp_path / "kept", once) as checkpoint,
        pytest.raises(DataError, match="rows that can be read again"),
    ):
        count(once, 2, checkpoint=checkpoint)


def test_one_run_at_a_time_and_a_killed_one_does_not_block(rows, parts, tmp_path):
    folder = kept(tmp_path / "kept", rows, parts[:1])
    script = (
        "import sys, time, kgmi.counting.lock, pathlib\n"
        "held = kgmi.counting.lock.FolderLock(pathlib.Path(sys.argv[1]))\n"
        "print('held', flush=True)\n"
        "time.sleep(600)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(folder / "lock")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "held\n"
        with pytest.raises(
            DataError, match=rf"kept is in use by another run of kgmi \(process {child.pid}\): wait"
        ):
            opened(folder, rows)
    finally:
        child.kill()
        child.communicate()
    with opened(folder, rows) as checkpoint:
        assert checkpoint.load(rows.fragments)[0].n_rows == 10
        with pytest.raises(DataError, match="in use by another run of kgmi"):
            opened(folder, rows)


def test_names_of_parts_say_what_is_in_them(rows, parts, tmp_path):
    folder = kept(tmp_path / "kept", rows, parts[:1])
    mark = sha256(parts[0].marks[0].encode()).hexdigest()[:24]
    assert [path.name for path in files(folder)] == [f"part-{mark}.counts"]
    header = taken_apart(files(folder)[0])[1]
    first = rows.fragments[0]
    assert header["more"]["places"] == {first.mark: [first.label, 0, first.written]}
    assert first.written == (rows.source.files[0].path).stat().st_mtime_ns
