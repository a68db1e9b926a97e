"""Without the extra «cluster» everything else works, and what needs it says how to install it."""

import subprocess
import sys
import threading

import pytest

_WITHOUT = "import sys; sys.modules['distributed'] = sys.modules['dask'] = None\n"


def run(code):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("cluster", ["local:2", "tcp://127.0.0.1:8786", "client"])
def test_a_cluster_without_dask_names_the_extra(cluster, tmp_path):
    (tmp_path / "rows.csv").write_text("A,B\n0,1\n1,0\n1,1\n")
    words = ["kgmi", "count", str(tmp_path / "rows.csv"), "--out", str(tmp_path / "c.counts"), "--parents", "1"]
    done = run(f"{_WITHOUT}sys.argv = {[*words, '--cluster', cluster]!r}\nfrom kgmi.cli import command; command()")
    lines = done.stderr.splitlines()
    assert (done.returncode, len(lines)) == (1, 1), lines
    assert "pip install 'kgmi[cluster]'" in lines[0]


def test_the_module_itself_loads_nothing_of_dask():
    heavy = ["dask", "distributed", "pandas", "pyarrow", "numba"]
    done = run(f"import sys, kgmi.counts.dask; print(*(m for m in {heavy!r} if m in sys.modules))")
    assert (done.stdout, done.stderr) == ("\n", "")


def test_a_piece_of_work_may_have_one_core_to_itself(monkeypatch):
    from kgmi import threads

    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    with threads.one_thread():
        assert threads.n_workers() == 1
        names = threads.spread(lambda _: threading.current_thread().name, range(3), parallel=True)
    assert set(names) == {threading.current_thread().name}
    assert threads.n_workers() == 3
