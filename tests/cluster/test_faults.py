"""Workers, scheduler and caller are killed for real: right counts or a clear error, and nothing left behind."""

from __future__ import annotations

import json
import operator
import os
import signal
import subprocess
import sys

import pytest

from kgmi.counting.checkpoint import Checkpoint
from kgmi.counting.count import count
from kgmi.counting.identity import identity_of
from kgmi.counting.threads import Threads
from kgmi.errors import ClusterError, DataError
from kgmi.progress import telling
from kgmi.streams import stream

from .conftest import processes_of, until, worker_of
from .tables import agree, columns, write_files

# Dask leaves the socket of a scheduler that was killed to the garbage collector.
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

_FILES, _ROWS = 240, 250


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("tables") / "data", n_files=_FILES, n_rows=_ROWS)


@pytest.fixture(scope="module")
def rows(folder):
    """A stream of many fragments: enough to be in the middle of when something happens."""
    return stream(folder, missing="pairwise")


@pytest.fixture(scope="module")
def expected(rows):
    return count(rows, 3, runner=Threads(1))


def kill(number):
    os.kill(number, signal.SIGKILL)


def counted_on(cluster, rows, act, *, n_workers, folder=None, patience=60.0):
    """Count on a cluster to which something happens when some rows are counted, but not all."""
    from kgmi.cluster import DaskRunner, connect

    seen = []

    def listen(step):
        if step.unit == "rows" and step.done > 0 and not seen:
            seen.append(step.done)
            act()

    with connect(cluster.address) as client, telling(listen):
        client.wait_for_workers(n_workers, timeout=30)
        keeper = None if folder is None else Checkpoint(folder, identity_of(rows, 3))
        try:
            return count(rows, 3, runner=DaskRunner(client, patience=patience), checkpoint=keeper)
        finally:
            assert len(seen) == 1
            assert seen[0] < _FILES * _ROWS
            if keeper is not None:
                keeper.close()


@pytest.mark.parametrize(("stored", "nanny"), [(False, False), (True, True)], ids=["tree", "checkpoint and nanny"])
def test_a_worker_that_is_killed_changes_nothing(own, rows, expected, tmp_path, nanny, stored):
    cluster = own(2, nanny=nanny)
    victim, killed = cluster.workers[0], []

    def act():
        killed.append(worker_of(victim.pid) if nanny else victim.pid)  # a nanny starts a new worker
        kill(killed[0])

    folder = tmp_path / "kept" if stored else None
    agree(expected, counted_on(cluster, rows, act, n_workers=2, folder=folder))
    assert (victim.poll() is None) == nanny
    assert not nanny or until(lambda: worker_of(victim.pid), "there was a new worker") != killed[0]
    if stored:  # each fragment once
        with Checkpoint(folder, identity_of(rows, 3)) as kept:
            total, left = kept.load(rows.fragments)
        assert (total.n_rows, left) == (_FILES * _ROWS, [])


def test_a_result_that_is_lost_before_it_is_fetched_is_made_again(own):
    from kgmi.cluster import connect
    from kgmi.cluster.waiting import Pending, fetched

    cluster = own(1)
    with connect(cluster.address) as client:
        future = client.submit(operator.add, 1, 2)
        pending = Pending(client, [future])
        until(lambda: future.done() and not pending._news.empty(), "the result was told")
        kill(cluster.workers[0].pid)
        until(lambda: not future.done(), "the result was lost")
        assert pending.take() == [future]
        cluster.start_workers(1)
        assert fetched(client, [future]) == [3]


def test_when_all_workers_are_gone_others_may_take_over(own, rows, expected):
    cluster = own(2)

    def act():
        for victim in cluster.workers:
            kill(victim.pid)
        cluster.start_workers(1)

    agree(expected, counted_on(cluster, rows, act, n_workers=2))


def test_when_all_workers_are_gone_for_good_the_wait_ends(own, rows, monkeypatch):
    monkeypatch.setattr("kgmi.cluster.waiting._LOOK", 0.2)
    cluster = own(1)
    with pytest.raises(ClusterError, match="all workers are gone, and for 1 seconds none has come"):
        counted_on(cluster, rows, lambda: kill(cluster.workers[0].pid), n_workers=1, patience=1.0)


def test_a_scheduler_that_is_lost_is_an_error_and_a_checkpoint_resumes(own, rows, expected, tmp_path):
    from kgmi.cluster import DaskRunner, connect

    cluster = own(1)

    def act():
        kill(cluster.scheduler.pid)
        cluster.scheduler.wait()
        cluster.start_scheduler()

    with pytest.raises(ClusterError, match=r"the Dask scheduler was lost.*with a checkpoint"):
        counted_on(cluster, rows, act, n_workers=1, folder=tmp_path / "kept")
    cluster.start_workers(1)
    with connect(cluster.address) as client, Checkpoint(tmp_path / "kept", identity_of(rows, 3)) as kept:
        agree(expected, count(rows, 3, runner=DaskRunner(client), checkpoint=kept))
        assert 0 < kept.taken < _FILES


def test_a_command_says_in_one_line_that_its_scheduler_was_lost(own, folder, tmp_path):
    cluster, kept = own(1), tmp_path / "kept"
    words = ["count", str(folder), "--missing", "pairwise", "--out", str(tmp_path / "out.counts")]
    words = [sys.executable, "-m", "kgmi", *words, "--cluster", cluster.address, "--checkpoint", str(kept)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: list(kept.glob("part-*.counts")), "a part was stored")
        kill(cluster.scheduler.pid)
        errors = process.stderr.read()
    assert process.returncode == 1, errors
    assert "the Dask scheduler was lost" in errors
    assert len(errors.splitlines()) == 1  # and none of Dask's own


def test_work_that_ends_its_workers_is_given_up(own, monkeypatch):
    import dask

    import kgmi

    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "1")
    cluster = own(1, nanny=True)
    deadly = dask.delayed(os.kill)(dask.delayed(os.getpid)(), signal.SIGKILL)
    with pytest.raises(ClusterError, match="the same piece of work ended its worker 2 times"):
        kgmi.count([dask.delayed(columns(0, 100)), deadly], cluster=cluster.address)


def test_a_worker_that_comes_late_with_another_kgmi_is_refused():
    from kgmi.cluster.tasks import held

    with pytest.raises(ClusterError, match=r"has kgmi 0\.0\.1, here it is"):
        held(None, "0.0.1")


def test_a_file_that_is_cut_off_is_the_error_of_one_process(four, tmp_path):
    from kgmi.cluster import DaskRunner

    rows = stream(write_files(tmp_path / "data", n_files=5, n_rows=250), missing="pairwise")
    path = tmp_path / "data" / "part3.parquet"
    path.write_bytes(path.read_bytes()[:3_000])
    with pytest.raises(DataError, match=r"part3.parquet") as here:
        count(rows, 3, runner=Threads(1))
    with pytest.raises(DataError) as there:
        count(rows, 3, runner=DaskRunner(four))
    assert str(there.value) == str(here.value)
    path.unlink()
    with pytest.raises(DataError, match=r"part3.parquet is gone"):
        count(rows, 3, runner=DaskRunner(four))


@pytest.mark.parametrize("kind", ["files", "dataset"])
def test_workers_in_another_folder_find_files_or_are_named(own, tmp_path, monkeypatch, kind):
    from pyarrow import dataset

    from kgmi.cluster import DaskRunner, connect

    def opened(path):
        return stream(path if kind == "files" else dataset.dataset(path), missing="pairwise", fragment_rows=100)

    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(write_files(tmp_path / "data", n_files=3, n_rows=250).parent)
    rows, seen_here = opened("data"), opened("/proc/self/cwd/data")  # another folder to every process
    cluster = own(1, cwd=tmp_path / "elsewhere")
    with connect(cluster.address) as client:
        agree(count(rows, 3, runner=Threads(1)), count(rows, 3, runner=DaskRunner(client)))
        says = r"the worker at tcp://127\.0\.0\.1:\d+ cannot find /proc/self/cwd/data/part\d.parquet.* same names"
        with pytest.raises(DataError, match=says):
            count(seen_here, 3, runner=DaskRunner(client))
        (tmp_path / "data" / "part1.parquet").unlink()
        for gone in (rows, seen_here):
            with pytest.raises(DataError, match=r"/data/part1.parquet is gone|cannot find .*part[02].parquet"):
                count(gone, 3, runner=DaskRunner(client))


@pytest.mark.parametrize("how", ["Ctrl-C", "kill -9"])
def test_a_command_that_is_ended_leaves_no_process_and_its_checkpoint_goes_on(folder, rows, tmp_path, how):
    out, kept = tmp_path / "out.counts", tmp_path / "kept"
    words = ["count", str(folder), "--missing", "pairwise", "--out", str(out)]
    words = [sys.executable, "-m", "kgmi", *words, "--cluster", "local:2", "--checkpoint", str(kept)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        until(lambda: list(kept.glob("part-*.counts")), "a part was stored")
        others = processes_of(process.pid)
        if how == "Ctrl-C":
            os.killpg(process.pid, signal.SIGINT)  # a terminal tells the workers too
        else:
            process.kill()
        errors = process.stderr.read()
    assert process.returncode == (130 if how == "Ctrl-C" else -signal.SIGKILL), errors
    if how == "Ctrl-C":
        assert errors.startswith("kgmi: stopped; nothing was left half-written")
        assert len(errors.splitlines()) == 1
    assert len(others) >= 2
    until(lambda: not any(os.path.exists(f"/proc/{one}") for one in others), "all workers had ended")
    assert not out.exists()
    width = json.loads((kept / "identity.json").read_text())["identity"]["width"]
    with Checkpoint(kept, identity_of(rows, width)) as keeper:
        agree(count(rows, width, runner=Threads(1)), count(rows, width, checkpoint=keeper))
        assert 0 < keeper.taken < _FILES
