"""Clusters are found, started and ended; what cannot work is refused with a sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from kgmi import __version__
from kgmi.errors import ClusterError, SettingError
from tests.commands import expect_refused, run_kgmi

from .conftest import processes_of, until, worker_of

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize(
    "cluster", ["local:0", "local:", "local:two", "local:-1", "local:1000", "10.0.0.7:8786", 4, None]
)
def test_what_names_no_cluster_is_refused(cluster):
    from kgmi.cluster import connect

    with pytest.raises(SettingError, match="cluster"), connect(cluster):
        pass


@pytest.mark.parametrize("address", ["tcp://", "tls://", "tcp://127.0.0.1", "tcp://:8786", "tcp://host:port"])
def test_an_address_without_host_or_port_is_refused_before_anything_is_tried(address, monkeypatch):
    from kgmi.cluster import connect

    monkeypatch.setattr("distributed.Client", None)
    with pytest.raises(SettingError, match="needs the host and the port"), connect(address):
        pass


def test_tls_without_certificates_is_one_sentence_and_then_the_end(tmp_path):
    (tmp_path / "rows.csv").write_text("A,B\n0,1\n1,0\n")
    words = ["-m", "kgmi", "count", "rows.csv", "-o", "out.counts", "--cluster", "tls://127.0.0.1:1"]
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1  # nothing more when Python ends
    assert "tls://127.0.0.1:1 needs certificates" in done.stderr
    assert "distributed.comm.tls.ca-file" in done.stderr


def test_a_scheduler_that_is_not_there_is_an_error(monkeypatch):
    from kgmi.cluster import connect

    monkeypatch.setattr("kgmi.cluster.scheduler._CONNECTING", 0.5)
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at tcp://127.0.0.1:1 .*«dask scheduler»"):
        connect("tcp://127.0.0.1:1").__enter__()


def test_a_client_that_is_open_is_used_and_left_open(own):
    from distributed import Client, get_worker

    from kgmi.cluster import connect

    cluster = own(1)
    with pytest.raises(ClusterError, match="needs a client that is open"), connect("client"):
        pass
    with Client(cluster.address) as mine:
        for named in (mine, "client"):
            with connect(named) as client:
                assert client is mine
        assert mine.submit(lambda: get_worker().address).result(timeout=30).startswith("tcp://127.0.0.1:")
    with pytest.raises(ClusterError, match="the client is closed"), connect(mine):
        pass


def test_without_workers_the_wait_ends(own):
    from kgmi.cluster import connect

    with pytest.raises(ClusterError, match="has had no worker for 1 seconds"), connect(own(0).address, patience=1):
        pass


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("__version__ = '0.0.1'", f"has kgmi 0.0.1, here it is {__version__}"),
        (
            "raise ModuleNotFoundError('no such thing')",
            f"cannot load kgmi .no such thing.; install version {__version__}",
        ),
    ],
)
def test_workers_with_another_kgmi_or_none_are_refused(own, tmp_path, version, says):
    from kgmi.cluster import connect

    (tmp_path / "other" / "kgmi").mkdir(parents=True)
    (tmp_path / "other" / "kgmi" / "__init__.py").write_text("")
    (tmp_path / "other" / "kgmi" / "version.py").write_text(version)
    cluster = own(1, path=tmp_path / "other")
    with pytest.raises(ClusterError, match=says), connect(cluster.address):
        pass


STARTED = """
import sys
from kgmi.cluster import connect

if __name__ == "__main__":
    with connect("local:2") as client:
        print("ready", flush=True)
        {then}
"""


@pytest.mark.parametrize("then", ["sys.stdin.read()", "raise KeyError"], ids=["end", "error"])
def test_no_process_is_left_behind(tmp_path, then):
    script = tmp_path / "script.py"
    script.write_text(STARTED.format(then=then))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, script], **pipes, start_new_session=True) as process:
        assert process.stdout.readline() == b"ready\n"
        others = processes_of(process.pid)
        _, errors = process.communicate()
    if "KeyError" in then:
        assert (process.returncode, errors.splitlines()[-1]) == (1, b"KeyError")
    else:
        assert (process.returncode, errors) == (0, b"")
        assert len(others) >= 2
    until(lambda: not any(os.path.exists(f"/proc/{one}") for one in others), "all workers had ended")


def test_a_command_whose_processes_are_killed_at_the_start_is_not_told_to_change_a_script(tmp_path):
    (tmp_path / "rows.csv").write_text("A,B\n0,1\n1,0\n")
    words = ["-m", "kgmi", "count", "rows.csv", "-o", "out.counts", "--cluster", "local:1"]
    with subprocess.Popen(
        [sys.executable, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        os.kill(until(lambda: worker_of(process.pid), "there was a worker"), signal.SIGKILL)
        errors = process.stderr.read()
    assert process.returncode == 1
    assert "1 processes could not be started" in errors
    assert "One was ended while it started" in errors
    assert "__main__" not in errors
    assert "Traceback" not in errors


def test_a_script_that_cannot_start_processes_is_told_why(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from kgmi.cluster import connect\nwith connect('local:1') as client: print('ready')\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "kgmi.errors.ClusterError: 1 processes could not be started" in done.stderr.splitlines()[-1]
    assert "if __name__ == '__main__':" in done.stderr.splitlines()[-1]


def test_a_cluster_is_what_a_command_can_have(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("A,B\n0,1\n1,0\n")
    counting = ("count", str(path), "--parents", "1", "--out", str(tmp_path / "a.counts"), "--cluster")
    code, _, err = run_kgmi(*counting, "nonsense")
    assert code == 2
    assert "--cluster nonsense is not known; it is 'local:4' for four processes on this machine, or the addr" in err
    assert "client" not in err
    expect_refused(1, *counting, "client", says=["--cluster client is for Python", "give local:N"])


_LOGGING = """
import logging, sys
import distributed
from kgmi.cluster.scheduler import quiet

with quiet():
    logging.getLogger(sys.argv[1]).error("a connection is closed already")
    logging.getLogger(sys.argv[1]).critical("the process ends")
logging.getLogger(sys.argv[1]).error("afterwards")
"""


@pytest.mark.parametrize("name", ["distributed.scheduler", "asyncio", "tornado.application"])
def test_what_dask_and_its_parts_log_is_kept_from_the_terminal_for_a_while(name):
    done = subprocess.run([sys.executable, "-c", _LOGGING, name], capture_output=True, text=True, check=True)
    assert "a connection is closed already" not in done.stderr
    assert "the process ends" in done.stderr
    assert "afterwards" in done.stderr
