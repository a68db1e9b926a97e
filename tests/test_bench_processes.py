from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import kgmi
from kgmi import Kernel
from kgmi.bench import Problem, run_peer
from tests.drills import LONG, PIPE, drill

ROOT = str(Path(__file__).parents[1])
PROBLEM = Problem(np.zeros((4, 3), dtype=np.int64), Kernel.paper(0.0))

# A program that runs a drill and says what became of it.
PARENT = """
import sys
import numpy as np
from kgmi import Kernel
from kgmi.bench import Problem, run_peer
from {module} import drill

problem = Problem(np.zeros((4, 3), dtype=np.int64), Kernel.paper(0.0))
print(run_peer(drill(sys.argv[1]), [problem], problem, module={module!r}).trouble)
"""

posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes and process groups")


class Pipe:
    """A named pipe for the processes of a drill: it ends when the last of them has ended, however it did."""

    def __init__(self, path):
        os.mkfifo(path)
        self._end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def read(self):
        """What they have written; empty when there is no process (any more), None while they are silent."""
        try:
            return os.read(self._end, 100)
        except BlockingIOError:
            return None

    def wait_for(self, content):
        end = time.monotonic() + LONG / 3
        while time.monotonic() < end:
            if self.read() == content:
                return True
            time.sleep(0.02)
        return False

    def close(self):
        os.close(self._end)


@pytest.fixture
def pipe(tmp_path, monkeypatch):
    monkeypatch.setenv(PIPE, str(tmp_path / "pipe"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(kgmi.__file__).parents[1]), ROOT]))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    found = Pipe(tmp_path / "pipe")
    yield found
    found.close()


@posix
@pytest.mark.parametrize("how", ["SIGTERM", "SIGKILL"])
def test_all_goes_when_the_parent_is_killed(pipe, tmp_path, how):
    command = [sys.executable, "-c", PARENT.format(module="tests.drills"), "sleeps with a child"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as parent:
        assert pipe.wait_for(b"here\n"), "the child of the worker has started"
        assert len(list(tmp_path.glob("kgmi-bench-*"))) == 1
        assert pipe.read() is None, "and stays"
        parent.send_signal(getattr(signal, how))
    assert pipe.wait_for(b""), "worker and child are gone"
    assert list(tmp_path.glob("kgmi-bench-*")) == []


@posix
@pytest.mark.parametrize(
    ("key", "limit", "trouble"),
    [
        ("aborts with a child", None, "crashed (SIGABRT)"),
        ("sleeps with a child", 1.5, "stopped after 1.5 s in the warm-up"),
        ("leaves a child", None, None),
    ],
)
def test_children_go_however_the_worker_ends(pipe, tmp_path, monkeypatch, key, limit, trouble):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    trial = run_peer(drill(key), [PROBLEM], PROBLEM, limit=limit, module="tests.drills")
    assert trial.trouble == trouble
    assert pipe.wait_for(b"")
    assert list(tmp_path.glob("kgmi-bench-*")) == []


@posix
def test_the_worker_runs_the_kgmi_of_its_parent(tmp_path):
    """From a path that is relative and holds another kgmi than the one that is installed, if any is."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "kgmi").symlink_to(Path(kgmi.__file__).parent)
    (tmp_path / "src" / "mine.py").write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "import kgmi\n"
        "from kgmi.bench.peer import Edges, Peer, as_they_are\n"
        "from kgmi.bench.worker import work\n"
        "def fit(rows, kernel):\n"
        "    raise ValueError(Path(kgmi.__file__).relative_to(Path(__file__).parent))\n"
        "def drill(key):\n"
        "    return Peer(key, key, 'kgmi', False, '', as_they_are, fit, Edges.of)\n"
        "if __name__ == '__main__':\n"
        "    work(Path(sys.argv[1]), [drill('told')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", PARENT.format(module="mine"), "told"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": "src"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "failed: ValueError: kgmi/__init__.py\n", done.stderr
