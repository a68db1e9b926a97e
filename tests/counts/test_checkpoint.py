"""Checkpoints: a count that was ended goes on, nothing counts twice, and changes are noticed."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import reduce

import numpy as np
import pytest

import kgmi
from kgmi.counts.counted import added
from kgmi.counts.files import Checkpoint, read_container, write_container
from kgmi.counts.stream import Work, count_stream
from kgmi.errors import DataError
from kgmi.sources import stream

from .tables import same, write_files, write_rows

N_FRAGMENTS = 90


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
    return count_stream(rows, 3)


@pytest.fixture(scope="module")
def parts(rows):
    return [Work(rows, 3)(fragment) for fragment in rows.fragments]


def files(folder):
    return sorted(folder.glob("part-*.counts"))


def kept(folder, rows, parts):
    """A folder with these parts."""
    with Checkpoint(folder) as checkpoint:
        _, left = checkpoint.load(rows, Work(rows, 3).nothing)
        assert left == list(rows.fragments)
        for part in parts:
            checkpoint.store(part)
    return folder


def resumed(folder, rows, width=3, **options):
    """The counts, and the checkpoint that part of them came from."""
    with Checkpoint(folder) as checkpoint:
        return count_stream(rows, width, checkpoint=checkpoint, **options), checkpoint


@pytest.mark.parametrize("n_done", [0, 7, 64, 70])
def test_a_count_goes_on_where_it_was_ended(n_done, rows, parts, whole, tmp_path):
    turned = np.random.default_rng(113).permutation(N_FRAGMENTS)[:n_done]
    folder = kept(tmp_path / "kept", rows, [parts[place] for place in turned])
    assert len(files(folder)) <= 64
    counts, checkpoint = resumed(folder, rows)
    assert (checkpoint.taken, checkpoint.taken_rows, checkpoint.notes) == (n_done, n_done * 10, [])
    assert same(counts, whole)
    assert counts.marks == whole.marks
    again, checkpoint = resumed(folder, rows)
    assert checkpoint.taken == N_FRAGMENTS
    assert same(again, whole)


def test_a_damaged_part_is_counted_again(rows, parts, whole, tmp_path):
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
    assert same(counts, whole)
    assert not list(folder.glob(".*.part"))
    assert resumed(folder, rows)[1].notes == []


def test_parts_with_rows_in_common_are_not_added(rows, parts, whole, tmp_path):
    """A process may end after it wrote a sum, and before it removed all that is in it."""
    folder, saved = kept(tmp_path / "kept", rows, parts[:64]), tmp_path / "saved"
    shutil.copytree(folder, saved)
    with Checkpoint(folder) as checkpoint:
        checkpoint.load(rows, Work(rows, 3).nothing)
        checkpoint.store(parts[64])
    assert len(files(folder)) == 1
    for path in files(saved)[::2]:
        shutil.copy(path, folder)
    shutil.copy(files(kept(tmp_path / "other", rows, [reduce(added, parts[63:66])]))[0], folder)
    counts, checkpoint = resumed(folder, rows)
    assert (checkpoint.taken, checkpoint.notes) == (65, [])
    assert same(counts, whole)


def test_fragments_without_rows_are_kept_too(rows, tmp_path):
    few = stream([held.path for held in rows.held], fragment_rows=10, where=[("x0", "==", 3)])
    counts, _ = resumed(tmp_path / "kept", few)
    again, checkpoint = resumed(tmp_path / "kept", few)
    assert checkpoint.taken == len(few.fragments)
    assert same(again, counts)
    assert 0 < counts.n_rows < 300


@pytest.mark.parametrize(
    ("says", "width", "options"),
    [
        ("parents", 2, {}),
        ("another order", 3, {"columns": ["x1", "x0", "x2", "x3"]}),
        ("x3", 3, {"columns": ["x0", "x1", "x2"]}),
        ("filter", 3, {"where": [("x0", "==", 1)]}),
        ("missing", 3, {"missing": "pairwise"}),
        ("n_states", 3, {"n_states": 4}),
    ],
)
def test_the_parts_of_another_count_are_refused(says, width, options, rows, parts, tmp_path):
    folder = kept(tmp_path / "kept", rows, parts[:2])
    other = stream([held.path for held in rows.held], fragment_rows=10, **options)
    with pytest.raises(DataError, match=f"another count.*{says}"):
        resumed(folder, other, width)
    assert resumed(folder, rows)[1].taken == 2  # it is not locked, and nothing is lost


def test_parts_of_other_sets_or_of_another_version_are_refused(rows, parts, tmp_path):
    folder = kept(tmp_path / "kept", rows, parts[:1])
    with pytest.raises(DataError, match=r"another count.*parents"):
        resumed(folder, rows, sets=np.array([[0, 1, 2]], dtype=np.int32))
    content = files(folder)[0].read_bytes()
    files(folder)[0].write_bytes(content[:8] + b"PK" + content[10:])
    with pytest.raises(DataError, match="version"):
        resumed(folder, rows)
    assert len(files(folder)) == 1


def test_what_cannot_be_a_checkpoint_is_refused(rows, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "table.csv").write_text("x0\n1\n")
    for folder in (tmp_path / "mine", tmp_path / "mine" / "table.csv"):
        with pytest.raises(DataError, match=r"table\.csv"):
            resumed(folder, rows)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["table.csv"]
    with pytest.raises(DataError, match="read again"):
        resumed(tmp_path / "once", stream(iter([np.zeros((3, 4), dtype=np.int64)])), 2)


def test_a_source_that_changed_is_noticed(tmp_path):
    folder = write_files(tmp_path / "rows", 3, 50)
    before, paths = stream(folder), sorted(folder.iterdir())
    stored = kept(tmp_path / "kept", before, [Work(before, 3)(one) for one in before.fragments[:2]])
    write_rows(paths[2], 120, 50)  # not counted yet: nothing is wrong
    write_rows(folder / "rows-0009.parquet", 121, 50)
    assert resumed(stored, stream(folder))[1].taken == 2
    os.utime(paths[0], ns=(0, paths[0].stat().st_mtime_ns + 1))  # the same bytes
    assert resumed(stored, stream(folder))[1].taken == 4
    for change in (lambda: write_rows(paths[1], 122, 50), paths[1].unlink):
        change()
        with pytest.raises(DataError, match="source changed"):
            resumed(stored, stream(folder))


def test_a_large_file_that_was_written_again_is_noticed_even_where_it_looks_the_same(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, np.random.default_rng(123).integers(0, 2, (100_000, 8)))
    resumed(tmp_path / "kept", stream(path))
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    with pytest.raises(DataError, match="source changed"):
        resumed(tmp_path / "kept", stream(path))


# Runs that end


N_FILES, N_ROWS = 120, 300
COUNT = "import sys, kgmi; kgmi.count(sys.argv[1], checkpoint=sys.argv[2]).save(sys.argv[3])"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Many small files, each of which is a fragment."""
    return write_files(tmp_path_factory.mktemp("faults") / "rows", N_FILES, N_ROWS)


def finished(folder, kept, out):
    """Count what is left, and return how many fragments were there already."""
    counts, checkpoint = resumed(kept, stream(folder))
    counts.save(out)
    kgmi.count(folder).save(out.with_name("expected.counts"))
    assert checkpoint.notes == []
    assert out.read_bytes() == out.with_name("expected.counts").read_bytes()
    return checkpoint.taken


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill", "Ctrl-C"])
def test_a_count_that_is_ended_goes_on_and_reads_nothing_again(number, folder, tmp_path):
    kept, out = tmp_path / "kept", tmp_path / "all.counts"
    command = [sys.executable, "-c", COUNT, *map(str, (folder, kept, out))]
    for n_parts in (5, 40):
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
            while child.poll() is None and len(files(kept)) < n_parts:
                time.sleep(0.001)
            child.send_signal(number)
            _, errors = child.communicate(timeout=60)
        assert child.returncode in (-number, 130), errors
        assert not out.exists()
        if number == signal.SIGINT:
            assert not list(kept.glob(".*.part"))
    shutil.copytree(kept, tmp_path / "forged")
    taken = finished(folder, kept, out)
    assert 40 <= taken < N_FILES
    # Parts that say something else than the files, each row twice, show that the files are not read again.
    for path in files(tmp_path / "forged"):
        header, arrays = read_container(path)
        twice = {"cells": 2 * arrays["cells"].astype("<u8")}
        write_container(path, header | {"n_rows": 2 * header["n_rows"]}, arrays | twice)
    assert kgmi.count(folder, checkpoint=tmp_path / "forged").n_rows == (N_FILES + taken) * N_ROWS


def test_a_disk_without_room_leaves_nothing_half_written(folder, tmp_path, monkeypatch):
    kept, sync, room = tmp_path / "kept", os.fsync, iter(range(7))

    def full(number):
        if next(room, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(number)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        kgmi.count(folder, checkpoint=kept)
    monkeypatch.undo()
    assert caught.value.filename.startswith(str(kept))
    assert not list(kept.glob(".*"))
    assert finished(folder, kept, tmp_path / "all.counts") == 7


def test_parts_that_another_run_removes_meanwhile_are_no_other_files(rows, parts, tmp_path, monkeypatch):
    folder = kept(tmp_path / "kept", rows, parts[:2])
    monkeypatch.setattr(Checkpoint, "_files", lambda _: [])  # gone since the folder was listed
    with Checkpoint(folder) as checkpoint:
        assert len(checkpoint.load(rows, Work(rows, 3).nothing)[1]) == N_FRAGMENTS


def test_one_run_at_a_time(rows, parts, whole, tmp_path):
    folder = kept(tmp_path / "kept", rows, parts[:2])
    with Checkpoint(folder) as checkpoint:
        checkpoint.load(rows, Work(rows, 3).nothing)
        with pytest.raises(DataError, match="in use"):
            resumed(folder, rows)
    assert same(resumed(folder, rows)[0], whole)
