"""Checkpoints: a count that was ended goes on, nothing counts twice, and changes are noticed."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import kgmi
from kgmi.counts.counted import added
from kgmi.counts.files import Checkpoint, read_container, write_container
from kgmi.counts.stream import Work, count
from kgmi.errors import CountsError, DataError, SettingError
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
    return count(rows, width=3)


def kept(path, rows, numbers):
    """A checkpoint of a run that was ended when these fragments were counted."""
    work = Work(rows, 3)
    with Checkpoint(path) as checkpoint:
        total, left = checkpoint.load(rows, work.nothing)
        assert left == list(rows.fragments)
        for number in numbers:
            total = added(total, work(rows.fragments[number]))
            checkpoint.store(total)
    return path


def resumed(path, rows, width=3, **options):
    """The counts, and the checkpoint that part of them came from."""
    with Checkpoint(path) as checkpoint:
        return count(rows, width=width, checkpoint=checkpoint, **options), checkpoint


@pytest.mark.parametrize("n_done", [0, 7, 70])
def test_a_count_continues_where_it_was_ended(n_done, rows, whole, tmp_path):
    path = kept(tmp_path / "new" / "kept", rows, np.random.default_rng(113).permutation(N_FRAGMENTS)[:n_done])
    counts, checkpoint = resumed(path, rows)
    assert (checkpoint.taken, checkpoint.taken_rows) == (n_done, n_done * 10)
    assert same(counts, whole)
    assert counts.marks == whole.marks
    again, checkpoint = resumed(path, rows)
    assert checkpoint.taken == N_FRAGMENTS
    assert same(again, whole)


def test_a_damaged_checkpoint_is_refused_and_what_a_kill_leaves_is_removed(rows, whole, tmp_path):
    path = kept(tmp_path / "kept", rows, range(4))
    content = path.read_bytes()
    changed = bytearray(content)
    changed[len(content) // 2] ^= 8
    says = r"kept.*(damaged.*delete|no file of counts.*choose another|version)"
    for damaged in (bytes(changed), content[:-9], b"", content[:8] + b"PK" + content[10:]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=says):
            resumed(path, rows)
        assert path.read_bytes() == damaged
    path.write_bytes(content)
    (tmp_path / ".kept.abc.part").write_bytes(content[:50])  # what kill -9 leaves of a write
    assert same(resumed(path, rows)[0], whole)
    assert not list(tmp_path.glob(".*.part"))


def test_counts_and_checkpoints_do_not_pass_for_each_other(rows, whole, tmp_path):
    whole.save(tmp_path / "all.counts")
    with pytest.raises(DataError, match="no checkpoint"):
        resumed(tmp_path / "all.counts", rows)
    assert same(kgmi.CountedTable.load(tmp_path / "all.counts"), whole)
    with pytest.raises(CountsError, match="checkpoint"):
        kgmi.CountedTable.load(kept(tmp_path / "some.counts", rows, range(4)))


def test_fragments_without_rows_are_kept_too(rows, tmp_path):
    few = stream([held.path for held in rows.held], fragment_rows=10, where=[("x0", "==", 3)])
    counts, _ = resumed(tmp_path / "kept", few)
    again, checkpoint = resumed(tmp_path / "kept", few)
    assert checkpoint.taken == len(few.fragments)
    assert same(again, counts)
    assert 0 < counts.n_rows < 300


@pytest.mark.parametrize(
    ("says", "counting", "reading"),
    [
        ("parents", {"width": 2}, {}),
        ("parents", {"sets": np.array([[0, 1, 2]], dtype=np.int32)}, {}),
        ("another order", {}, {"columns": ["x1", "x0", "x2", "x3"]}),
        ("x3", {}, {"columns": ["x0", "x1", "x2"]}),
        ("filter", {}, {"where": [("x0", "==", 1)]}),
        ("missing", {}, {"missing": "pairwise"}),
        ("n_states", {}, {"n_states": 4}),
    ],
)
def test_the_checkpoint_of_another_run_is_refused(says, counting, reading, rows, tmp_path):
    path = kept(tmp_path / "kept", rows, range(2))
    other = stream([held.path for held in rows.held], fragment_rows=10, **reading)
    with pytest.raises(DataError, match=f"cannot be continued.*{says}"):
        resumed(path, other, **counting)
    assert resumed(path, rows)[1].taken == 2  # it is not locked, and nothing is lost


def test_what_cannot_be_a_checkpoint_is_refused(rows, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "table.csv").write_text("x0\n1\n")
    for path in (tmp_path / "mine", tmp_path / "mine" / "table.csv", tmp_path / "mine" / "table.csv" / "kept"):
        with pytest.raises((DataError, SettingError, OSError), match="mine"):
            resumed(path, rows)
    assert (tmp_path / "mine" / "table.csv").read_text() == "x0\n1\n"
    with pytest.raises(DataError, match="read again"):
        resumed(tmp_path / "once", stream(iter([np.zeros((3, 4), dtype=np.int64)])), 2)


def test_a_source_that_changed_is_noticed(tmp_path):
    folder = write_files(tmp_path / "rows", 3, 50)
    before, paths = stream(folder), sorted(folder.iterdir())
    stored = kept(tmp_path / "kept", before, range(2))
    write_rows(paths[2], 120, 50)  # not counted yet: nothing is wrong
    write_rows(folder / "rows-0009.parquet", 121, 50)
    assert resumed(stored, stream(folder))[1].taken == 2
    os.utime(paths[0], ns=(0, paths[0].stat().st_mtime_ns + 1))  # the same bytes
    assert resumed(stored, stream(folder))[1].taken == 4
    for change in (lambda: write_rows(paths[1], 122, 50), paths[1].unlink):
        change()
        with pytest.raises(DataError, match="not in this source"):
            resumed(stored, stream(folder))


def test_a_large_file_that_was_written_again_is_noticed_even_where_it_looks_the_same(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, np.random.default_rng(123).integers(0, 2, (100_000, 8)))
    resumed(tmp_path / "kept", stream(path))
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    with pytest.raises(DataError, match="not in this source"):
        resumed(tmp_path / "kept", stream(path))


# Runs that end


N_FILES, N_ROWS = 60, 3_000
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
    assert out.read_bytes() == out.with_name("expected.counts").read_bytes()
    return checkpoint.taken


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill", "Ctrl-C"])
def test_a_count_that_is_ended_continues_and_reads_nothing_again(number, folder, tmp_path):
    kept, out = tmp_path / "kept", tmp_path / "all.counts"
    command = [sys.executable, "-c", COUNT, *map(str, (folder, kept, out))]
    for _ in range(2):
        before = kept.read_bytes() if kept.exists() else None
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
            while child.poll() is None and (kept.read_bytes() if kept.exists() else None) == before:
                time.sleep(0.001)
            child.send_signal(number)
            _, errors = child.communicate(timeout=60)
        assert child.returncode in (-number, 130), errors
        assert not out.exists()
        if number == signal.SIGINT:
            assert not list(tmp_path.glob(".*.part"))
    shutil.copy(kept, tmp_path / "forged")
    taken = finished(folder, kept, out)
    assert 0 < taken < N_FILES
    # Counts that say something else than the files, each row twice, show that the files are not read again.
    header, arrays = read_container(tmp_path / "forged")
    twice = {"cells": 2 * arrays["cells"].astype("<u8")}
    write_container(tmp_path / "forged", header | {"n_rows": 2 * header["n_rows"]}, arrays | twice)
    assert kgmi.count(folder, checkpoint=tmp_path / "forged").n_rows == (N_FILES + taken) * N_ROWS


def test_a_disk_without_room_leaves_nothing_half_written(folder, tmp_path, monkeypatch):
    kept, sync, room = tmp_path / "kept", os.fsync, iter(range(1))

    def full(number):
        if next(room, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(number)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        kgmi.count(folder, checkpoint=kept)
    monkeypatch.undo()
    assert caught.value.filename == str(kept)
    assert not list(tmp_path.glob(".*.part"))
    assert finished(folder, kept, tmp_path / "all.counts") > 0


def test_one_run_at_a_time(rows, whole, tmp_path):
    path = kept(tmp_path / "kept", rows, range(2))
    with Checkpoint(path) as checkpoint:
        checkpoint.load(rows, Work(rows, 3).nothing)
        with pytest.raises(DataError, match="in use"):
            resumed(path, rows)
    assert same(resumed(path, rows)[0], whole)
