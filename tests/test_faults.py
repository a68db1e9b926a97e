"""Counting that is killed, stopped, without room, or whose files change: the right answer or a clear error."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from kgmi.counting.counts import Counts
from tests.commands import run_kgmi
from tests.count_drills import put_together, taken_apart, write_files, write_rows

KGMI = [sys.executable, "-W", "error", "-W", "ignore::ResourceWarning", "-m", "kgmi"]
N_FILES, N_ROWS = 160, 300


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A folder of many small files, each of which is a fragment."""
    return write_files(tmp_path_factory.mktemp("faults") / "rows", N_FILES, N_ROWS)


@pytest.fixture(scope="module")
def expected(rows, tmp_path_factory):
    """The bytes of the counts of a run that nobody disturbed."""
    path = tmp_path_factory.mktemp("expected") / "all.counts"
    code, _, err = run_kgmi("count", str(rows), "--out", str(path))
    assert code == 0, err
    assert Counts.load(path).n_rows == N_FILES * N_ROWS
    return path.read_bytes()


CHILDREN = []


@pytest.fixture(autouse=True)
def _nobody_is_left_behind():
    yield
    while CHILDREN:
        child = CHILDREN.pop()
        child.kill()
        child.communicate()


def started(*arguments, **options):
    command = [*KGMI, *map(str, arguments)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    CHILDREN.append(child)
    return child


def parts(folder):
    return list(folder.glob("part-*.counts"))


def signalled(process, number, ready):
    """Send a signal as soon as something is so, in the middle of the work."""
    while not ready():
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)
    process.send_signal(number)


def ended(process):
    """Exit code, output and errors; a process that was paused goes on."""
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def told(*arguments):
    code, out, err = run_kgmi(*map(str, arguments), "--json")
    assert code == 0, err
    return json.loads(out)


def labels(folder):
    """What the parts in a folder hold."""
    return {place[0] for path in parts(folder) for place in taken_apart(path)[1]["more"]["places"].values()}


def test_a_killed_count_goes_on_and_reads_nothing_again(rows, expected, tmp_path):
    kept, out = tmp_path / "kept", tmp_path / "all.counts"
    command = ("count", rows, "--checkpoint", kept, "--out", out)
    taken = 0
    for n_parts in (5, 40):
        process = started(*command)
        signalled(process, signal.SIGKILL, lambda n=n_parts: len(parts(kept)) >= n)
        assert ended(process)[0] == -signal.SIGKILL
        assert not out.exists()
        assert len(labels(kept)) > taken  # the second run went on from the first
        taken = len(labels(kept))
    assert taken < N_FILES
    shutil.copytree(kept, tmp_path / "forged")
    found = told(*command)
    assert found["fragments_from_checkpoint"] == taken
    assert found["rows_from_checkpoint"] == taken * N_ROWS
    assert (found["fragments"], found["n_rows"], found["notes"]) == (N_FILES, N_FILES * N_ROWS, [])
    assert out.read_bytes() == expected
    # Parts that say something else than the files, each row twice, show that the files are not read again.
    for path in parts(tmp_path / "forged"):
        version, header, arrays = taken_apart(path)
        listing = header["arrays"][0]
        twice = 2 * np.frombuffer(arrays, listing["dtype"]).astype("<i8")
        header |= {"n_rows": 2 * header["n_rows"], "arrays": [listing | {"dtype": "<i8"}]}
        put_together(path, version, header, twice.tobytes())
    found = told("count", rows, "--checkpoint", tmp_path / "forged", "--out", tmp_path / "forged.counts")
    assert found["n_rows"] == (N_FILES + taken) * N_ROWS


def test_ctrl_c_leaves_whole_parts_and_no_result(rows, expected, tmp_path):
    kept, out = tmp_path / "kept", tmp_path / "all.counts"
    command = ("count", rows, "--checkpoint", kept, "--out", out)
    process = started(*command)
    signalled(process, signal.SIGINT, lambda: len(parts(kept)) >= 5)
    code, printed, err = ended(process)
    assert (code, printed) == (130, "")
    assert err.startswith("kgmi: stopped; nothing was left half-written")
    assert err.count("\n") == 1
    assert not [path for path in kept.iterdir() if path.name.startswith(".")]
    assert not out.exists()
    taken = len(labels(kept))
    found = told(*command)
    assert (found["fragments_from_checkpoint"], found["notes"]) == (taken, [])
    assert out.read_bytes() == expected


@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_disk_without_room_is_said_and_leaves_nothing_half_written(checkpoint, rows, expected, tmp_path):
    kept, out = tmp_path / "kept", tmp_path / "all.counts"
    command = ("count", rows, *(("--checkpoint", kept) if checkpoint else ()), "--out", out)
    most = 900 if checkpoint else len(expected) // 2
    process = started(*command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    printed, err = process.communicate(timeout=60)
    assert (process.returncode, printed) == (1, "")
    assert err.startswith(f"kgmi: error: {kept if checkpoint else out}")
    assert "nothing was left half-written: make room, or write to another disk" in err
    assert err.count("\n") == 1
    assert not out.exists()
    left = [path for path in tmp_path.rglob("*") if path.name.startswith(".")]
    assert left == []
    assert told(*command)["n_rows"] == N_FILES * N_ROWS
    assert out.read_bytes() == expected


def damaged(path, how):
    """A file that is gone, cut off, or holds other rows."""
    if how == "deleted":
        path.unlink()
    elif how == "truncated":
        os.truncate(path, path.stat().st_size // 2)
    else:
        write_rows(path, 9_999, N_ROWS, N_ROWS)


@pytest.mark.parametrize("how", ["deleted", "truncated", "rewritten"])
def test_a_file_that_changes_between_two_runs_is_noticed(how, tmp_path):
    rows = write_files(tmp_path / "rows", 4, N_ROWS)
    kept, out = tmp_path / "kept", tmp_path / "all.counts"
    command = tuple(map(str, ("count", rows, "--checkpoint", kept, "--out", out)))
    assert run_kgmi(*command)[0] == 0
    out.unlink()
    damaged(rows / "rows-0002.parquet", how)
    code, printed, err = run_kgmi(*command)
    assert (code, printed) == (1, "")
    assert err.startswith("kgmi: error: ")
    assert err.count("\n") == 1
    assert "rows-0002.parquet" in err
    assert not out.exists()


@pytest.mark.parametrize("how", ["deleted", "truncated"])
def test_a_file_that_changes_while_it_runs_is_noticed(how, tmp_path):
    rows = write_files(tmp_path / "rows", 80, N_ROWS)
    kept, out = tmp_path / "kept", tmp_path / "all.counts"
    process = started("count", rows, "--checkpoint", kept, "--out", out)
    signalled(process, signal.SIGSTOP, lambda: len(parts(kept)) >= 3)
    damaged(rows / "rows-0079.parquet", how)
    code, printed, err = ended(process)
    assert (code, printed) == (1, "")
    assert err.startswith("kgmi: error: ")
    assert "rows-0079.parquet" in err
    assert err.count("\n") == 1
    assert not out.exists()


def test_a_file_that_is_swapped_for_another_while_it_is_read_is_noticed(tmp_path):
    """The other file has as many rows and row groups, but other rows."""
    path, other, kept, out = (tmp_path / name for name in ("a.parquet", "b.parquet", "kept", "all.counts"))
    for seed, one in ((131, path), (132, other)):
        write_rows(one, seed, 200_000, 1_000)
    process = started("count", path, "--checkpoint", kept, "--out", out)
    signalled(process, signal.SIGSTOP, (kept / "identity.json").exists)
    os.replace(other, path)
    code, printed, err = ended(process)
    assert (code, printed) == (1, "")
    assert err.startswith(f"kgmi: error: {path} changed while it was read")
    assert parts(kept) == []
    assert not out.exists()


def test_two_runs_in_one_folder_do_not_mix(rows, expected, tmp_path):
    kept, out = tmp_path / "kept", tmp_path / "all.counts"
    command = ("count", rows, "--checkpoint", kept)
    process = started(*command, "--out", out)
    signalled(process, signal.SIGSTOP, lambda: bool(parts(kept)))
    code, printed, err = run_kgmi(*map(str, command), "--out", str(tmp_path / "other.counts"))
    assert (code, printed) == (1, "")
    assert f"{kept} is in use by another run of kgmi (process {process.pid})" in err
    assert ended(process)[0] == 0
    assert out.read_bytes() == expected
