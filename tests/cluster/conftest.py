"""Real clusters for all tests of this folder: worker processes on this machine (``make test-cluster``)."""

import gc
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from kgmi.counts.dask import connect

FOUR = "local:4"
_READY = 60.0  # seconds that a process may take to begin on a busy machine


@pytest.fixture(scope="session")
def four():
    """A client of four worker processes, which the tests share; they must leave it whole."""
    with connect(FOUR) as client:
        yield client


def until(holds, what):
    """Wait for something that must come about."""
    end = time.monotonic() + _READY
    while not holds():
        assert time.monotonic() < end, f"it took too long until {what}"
        time.sleep(0.02)


class OwnCluster:
    """A scheduler and workers as a user starts them, each a process of its own that can be killed."""

    def __init__(self, folder):
        self.folder, self.workers, self._all = folder, [], []
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.start_scheduler()

    def start_scheduler(self):
        self.scheduler = self._start("scheduler", "--port", str(self.port), "--no-show")
        until(self._answers, "the scheduler answered")

    def start_workers(self, number, nanny="--no-nanny", **places):
        """Workers with one thread each."""
        words = ["worker", self.address, "--nthreads", "1", "--memory-limit", "1GB", "--death-timeout", "60", nanny]
        words += ["--local-directory", str(self.folder)]
        self.workers += [self._start(*words, **places) for _ in range(number)]

    def _start(self, *words, path="", cwd=None):
        found_at = os.pathsep.join(filter(None, [str(path), os.environ.get("PYTHONPATH")]))
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words, "--host", "127.0.0.1", "--no-dashboard"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": found_at},
            cwd=cwd,
            start_new_session=True,
        )
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
    """A function that starts a scheduler and some workers; ``path`` is where these look for packages first."""
    started = []

    def start(n_workers, *nanny, **places):
        folder = tmp_path / f"dask{len(started)}"
        folder.mkdir()
        started.append(OwnCluster(folder))
        started[-1].start_workers(n_workers, *nanny, **places)
        return started[-1]

    yield start
    for cluster in started:
        cluster.close()
    gc.collect()  # what Dask leaves open of a cluster that was killed belongs to the test that killed it
