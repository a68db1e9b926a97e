"""Workers, scheduler and caller are killed for real: right counts or a clear error, and nothing left behind."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from kgmi.counts import dask as counting
from kgmi.counts.dask import connect
from kgmi.counts.files import Checkpoint
from kgmi.counts.stream import count
from kgmi.errors import ClusterError, DataError
from kgmi.progress import telling
from kgmi.sources import stream

from .conftest import until
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
    return count(rows, width=3)


def kill(*processes):
    for process in processes:
        process.kill()
        process.wait()


def counted_on(cluster, rows, act, *, n_workers=1, checkpoint=None):
    """Count on a cluster to which something happens when some rows are counted (and stored), but not all."""
    seen = []

    def listen(step):
        if step.done > 0 and not seen and (checkpoint is None or checkpoint.exists()):
            seen.append(step.done)
            act(client)

    with connect(cluster.address) as client, telling(listen):
        client.wait_for_workers(n_workers, timeout=60)
        try:
            return count(rows, width=3, cluster=client, checkpoint=checkpoint)
        finally:
            assert 0 < seen[0] < _FILES * _ROWS


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("left", [0, 1])
def test_workers_that_are_killed_change_nothing(own, rows, expected, tmp_path, stored, left):
    cluster = own(2)

    def act(_):
        kill(*cluster.workers[left:])
        if not left:  # others take over
            cluster.start_workers(1)

    folder = tmp_path / "kept" if stored else None
    agree(expected, counted_on(cluster, rows, act, n_workers=2, checkpoint=folder))
    if stored:  # each fragment once
        with Checkpoint(folder) as kept:
            agree(expected, count(rows, width=3, checkpoint=kept))
        assert (kept.taken, kept.taken_rows) == (_FILES, _FILES * _ROWS)


@pytest.mark.parametrize("stored", [False, True])
def test_when_all_workers_are_gone_for_good_the_wait_ends(own, rows, tmp_path, monkeypatch, stored):
    cluster = own(1)

    def act(_):
        monkeypatch.setattr(counting, "PATIENCE", 1.0)
        kill(*cluster.workers)

    with pytest.raises(ClusterError, match="no worker for 1 seconds"):
        counted_on(cluster, rows, act, checkpoint=tmp_path / "kept" if stored else None)


@pytest.mark.parametrize("how", ["killed", "restarted"])
def test_a_scheduler_that_is_lost_is_an_error_and_a_checkpoint_resumes(own, rows, expected, tmp_path, how):
    cluster = own(1, "--nanny" if how == "restarted" else "--no-nanny")

    def act(client):
        if how == "restarted":  # by another user: the scheduler stays, and drops all work
            client.restart(wait_for_workers=False)
        else:
            kill(cluster.scheduler)
            cluster.start_scheduler()

    with pytest.raises(ClusterError, match="the Dask scheduler was lost"):
        counted_on(cluster, rows, act, checkpoint=tmp_path / "kept")
    cluster.start_workers(1)
    with connect(cluster.address) as client, Checkpoint(tmp_path / "kept") as kept:
        agree(expected, count(rows, width=3, cluster=client, checkpoint=kept))
        assert 0 < kept.taken < _FILES


def _die():
    os.kill(os.getpid(), signal.SIGKILL)


def _fill():
    table = np.ones((3_000, 100_000))  # 2.4 GB
    time.sleep(30)  # the nanny looks now and then
    return table


@pytest.mark.parametrize("deadly", [_die, _fill])
def test_work_that_ends_its_workers_is_given_up_and_named(own, monkeypatch, deadly):
    import dask

    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "1")
    rows = stream([dask.delayed(columns(0, 100)), dask.delayed(deadly)()])
    with connect(own(1, "--nanny").address) as client:
        with pytest.raises(ClusterError, match=r"2 workers ended .* partition [01] .*memory"):
            count(rows, width=3, cluster=client)
        assert client.submit(abs, -3).result(timeout=60) == 3  # the nanny has started another one


def test_a_file_that_is_cut_off_or_gone_is_the_error_of_one_process(four, tmp_path):
    rows = stream(write_files(tmp_path / "data", n_files=5), missing="pairwise")
    path = tmp_path / "data" / "part3.parquet"
    path.write_bytes(path.read_bytes()[:3_000])
    for _ in range(2):
        with pytest.raises(DataError, match="part3") as here:
            count(rows, width=3)
        with pytest.raises(DataError) as there:
            count(rows, width=3, cluster=four)
        assert str(there.value) == str(here.value)
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("kind", ["Parquet", "dataset", "CSV"])
def test_workers_in_another_folder_find_files_or_are_named(own, tmp_path, monkeypatch, kind):
    from pyarrow import dataset

    def opened(path):
        return stream(dataset.dataset(path) if kind == "dataset" else path, missing="pairwise")

    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(write_files(tmp_path / "data", n_files=3).parent)
    if kind == "CSV":
        for path in (tmp_path / "data").iterdir():
            columns(2, 300).to_pandas().to_csv(path.with_suffix(".csv"), index=False)
            path.unlink()
    rows, seen_here = opened("data"), opened("/proc/self/cwd/data")  # another folder to every process
    with connect(own(1, cwd=tmp_path / "elsewhere").address) as client:
        agree(count(rows, width=3), count(rows, width=3, cluster=client))
        with pytest.raises(DataError, match=r"worker at tcp://\S+ cannot find /proc/self/cwd/data/part"):
            count(seen_here, width=3, cluster=client)


_SCRIPT = """
import sys
from kgmi import count, stream

if __name__ == "__main__":
    count(stream(sys.argv[1], missing="pairwise"), width=3, cluster="local:2", checkpoint=sys.argv[2])
"""


@pytest.mark.parametrize("how", [0, signal.SIGINT, signal.SIGKILL])
def test_a_script_that_ends_leaves_no_process_and_a_checkpoint(folder, rows, expected, tmp_path, how):
    import psutil

    (tmp_path / "script.py").write_text(_SCRIPT)
    words, kept = [sys.executable, str(tmp_path / "script.py"), str(folder)], tmp_path / "kept"
    with subprocess.Popen(
        [*words, str(kept)], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        until(kept.exists, "counts were stored")
        others = psutil.Process(process.pid).children(recursive=True)
        if how == signal.SIGINT:
            os.killpg(process.pid, how)  # a terminal sends Ctrl-C to the workers too
        elif how:
            process.kill()
        errors = process.stderr.read()
    assert process.returncode == -how, errors
    assert errors.count("Traceback") == (how == signal.SIGINT)  # and none of Dask's own
    assert len(others) >= 2
    assert psutil.wait_procs(others, timeout=60)[1] == []
    with Checkpoint(kept) as keeper:
        agree(expected, count(rows, width=3, checkpoint=keeper))
        assert keeper.taken == _FILES if not how else 0 < keeper.taken < _FILES
