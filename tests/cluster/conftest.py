"""Real clusters for all tests of this folder: worker processes on this machine (``make test-cluster``)."""

import gc
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress

import pytest

FOUR = "local:4"
_READY = 30.0  # seconds that a process may take to begin on a busy machine


@pytest.fixture(scope="session")
def four():
    """A client of four worker processes, which the tests share; they must leave it whole."""
    from kgmi.cluster import connect

    with connect(FOUR) as client:
        yield client


def until(holds, what):
    """Wait for something that must come about."""
    end = time.monotonic() + _READY
    while not (found := holds()):
        assert time.monotonic() < end, f"it took too long until {what}"
        time.sleep(0.02)
    return found


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class OwnCluster:
    """A scheduler and workers as a user starts them, each a process of its own that can be killed."""

    def __init__(self, folder):
        self.folder = folder
        self.port = _free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler = None
        self.workers = []
        self._all = []

    def start_scheduler(self):
        words = ["scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        self.scheduler = self._start("scheduler", [*words, "--no-show"])
        until(self._answers, "the scheduler answered")

    def start_workers(self, number=1, *, nanny=False, path="", cwd=None):
        """Workers with one thread each; where ``path`` is given, they find packages there first."""
        for _ in range(number):
            words = ["worker", self.address, "--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard"]
            words += ["--memory-limit", "1GB", "--local-directory", str(self.folder), "--death-timeout", "60"]
            self.workers.append(self._start("worker", [*words, "--nanny" if nanny else "--no-nanny"], path, cwd))

    def _start(self, name, words, path="", cwd=None):
        log = open(self.folder / f"{name}-{len(self._all)}.log", "wb")  # noqa: SIM115 - the process writes it
        found_at = os.pathsep.join(filter(None, [str(path), os.environ.get("PYTHONPATH")]))
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            stdout=log,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONPATH": found_at},
            cwd=cwd,
            start_new_session=True,
        )
        log.close()
        self._all.append(process)
        return process

    def _answers(self):
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def close(self):
        for process in self._all:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)  # with the worker that a nanny has
            process.wait()


@pytest.fixture
def own(tmp_path):
    """A function that starts a scheduler with some workers; all of them end with the test."""
    started = []

    def start(n_workers=1, **options):
        folder = tmp_path / f"dask{len(started)}"
        folder.mkdir()
        cluster = OwnCluster(folder)
        started.append(cluster)
        cluster.start_scheduler()
        cluster.start_workers(n_workers, **options)
        return cluster

    yield start
    for cluster in started:
        cluster.close()
    gc.collect()  # what Dask leaves open of a cluster that was killed belongs to the test that killed it


def worker_of(nanny):
    """The number of the worker process that a nanny has."""
    for number in processes_of(nanny):
        with suppress(OSError), open(f"/proc/{number}/cmdline", "rb") as words:  # it may end just now
            if b"spawn_main" in words.read():
                return number
    return None


def processes_of(parent):
    """Numbers of all processes that descend from this one, and are alive."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as one:
                    state, ppid = re.match(r".*\) (\S) (\d+)", one.read(), re.DOTALL).groups()
            except OSError:
                continue
            if state != "Z":
                children.setdefault(int(ppid), []).append(int(entry))
    found, left = [], [parent]
    while left:
        more = children.get(left.pop(), [])
        found += more
        left += more
    return found
