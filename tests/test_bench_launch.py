from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, __version__, sample
from kgmi.bench import Problem, left_out, peer_named, run_peer
from kgmi.bench.child import reason_of
from kgmi.bench.worker import answer_file, work
from kgmi.paper.table import TUNABLES
from tests.drills import drill

PROCESS = Process(Dag.paper(5), Kernel.paper(TUNABLES))
ROWS = sample(PROCESS, 4_000, rng=12)


def problem(first_state=None):
    rows = ROWS.copy()
    if first_state is not None:
        rows[0, 0] = first_state
    return Problem(rows, PROCESS.kernel)


@pytest.fixture
def run_drill(monkeypatch):
    """A drill in a process of its own, which must find this folder."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    return lambda key, *args, **more: run_peer(drill(key), *args, **more, module="tests.drills")


# The process


def test_our_own_method_in_a_process_of_its_own():
    trial = run_peer(peer_named("kgmi"), [problem(), problem()], problem())
    assert trial.trouble is None
    assert trial.version == __version__
    assert len(trial.answers) == 2
    for answer in trial.answers:
        assert set(answer.edges.directed) == set(PROCESS.dag.edges)
        assert answer.edges.undirected == ()
        assert 1 <= answer.repeats <= 21
        assert 0 < answer.seconds < 10
        assert 0 <= answer.prepare_seconds < answer.seconds


def test_a_library_that_is_not_installed(run_drill):
    trial = run_drill("missing", [problem()], problem())
    assert trial.version is None
    assert trial.answers == ()
    assert trial.trouble == "kgmi-no-such-distribution is not installed (pip install 'kgmi[bench]')"


def test_leaving_a_peer_out_says_why():
    assert left_out(peer_named("kgmi"), "not today").trouble == "not today"
    assert "is not installed" in left_out(drill("missing"), "not today").trouble


def test_an_exception_is_a_reason(run_drill):
    trial = run_drill("raises", [problem()], problem())
    assert trial.answers == ()
    assert trial.trouble == "failed: ValueError: this drill fails on purpose"


def test_a_crash_is_a_reason(run_drill):
    trial = run_drill("aborts", [problem()], problem())
    assert trial.answers == ()
    assert trial.trouble.startswith("crashed (SIGABRT" if sys.platform != "win32" else "failed")


def test_a_peer_is_stopped_at_its_limit_and_keeps_what_it_had_done(run_drill):
    start = time.perf_counter()
    trial = run_drill("sleeps", [problem(0), problem(1), problem(0)], problem(0), limit=2.5)
    assert time.perf_counter() - start < 20, "it would sleep for an hour"
    assert len(trial.answers) == 1
    assert trial.trouble == "stopped after 2.5 s with 1 of 3 data sets done"


def test_a_peer_may_be_stopped_in_its_warm_up(run_drill):
    trial = run_drill("sleeps", [problem(0)], problem(1), limit=0.3)
    assert trial.answers == ()
    assert trial.trouble == "stopped after 0.3 s in the warm-up"


def test_a_cold_peer_has_one_call_in_each_process(run_drill):
    warm = run_drill("sleeps", [problem(0), problem(0)], problem(0))
    assert [answer.repeats for answer in warm.answers] == [21, 21]
    assert [answer.edges.directed for answer in warm.answers] == [((0, 22),), ((0, 43),)]  # one call to warm up
    cold = run_drill("cold", [problem(0), problem(0)], problem(1))  # it would sleep in a warm-up
    assert cold.trouble is None
    assert [answer.repeats for answer in cold.answers] == [1, 1]
    assert [answer.edges.directed for answer in cold.answers] == [((0, 1),), ((0, 1),)]


def test_the_limit_of_a_cold_peer_is_for_all_its_processes(run_drill):
    trial = run_drill("cold", [problem(0), problem(1), problem(0)], problem(0), limit=2.5)
    assert len(trial.answers) == 1
    assert trial.trouble == "stopped after 2.5 s with 1 of 3 data sets done"


def test_our_first_call_of_a_process():
    trial = run_peer(peer_named("kgmi-cold"), [problem()], problem())
    assert trial.trouble is None
    assert set(trial.answers[0].edges.directed) == set(PROCESS.dag.edges)
    assert trial.answers[0].repeats == 1


def test_the_worker_looks_its_peer_up_and_runs_nothing_else(tmp_path):
    (tmp_path / "task.json").write_text(json.dumps({"peer": "os:abort", "n_problems": 0}))
    done = subprocess.run([sys.executable, "-m", "kgmi.bench", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert "there is no peer 'os:abort'" in done.stderr


@pytest.mark.parametrize(
    ("code", "errors", "reason"),
    [
        (-11, "", "crashed (SIGSEGV)"),
        (1, "Traceback …\n  File …\nKeyError: 'x'\n\n", "failed: KeyError: 'x'"),
        (3, " \n", "failed: exit code 3"),
        (1, "E" * 500, f"failed: {'E' * 160}"),
    ],
)
def test_reasons(code, errors, reason):
    assert reason_of(code, errors) == reason


# The work, without the process


@pytest.fixture
def folder(tmp_path):
    for label in ("warm", 0, 1):
        np.save(tmp_path / f"rows-{label}.npy", ROWS)
        np.save(tmp_path / f"kernel-{label}.npy", PROCESS.kernel.table)
    return tmp_path


@pytest.mark.parametrize("key", ["kgmi", "kgmi-limit"])
def test_work_answers_every_problem(folder, key):
    (folder / "task.json").write_text(json.dumps({"peer": key, "n_problems": 2}))
    work(folder)
    for number in range(2):
        answer = json.loads(answer_file(folder, number).read_text())
        assert {tuple(edge) for edge in answer["directed"]} == set(PROCESS.dag.edges)
        assert 1 <= answer["repeats"] <= 21
        assert answer["seconds"] > 0
    assert not answer_file(folder, 2).exists()


def test_pickled_arrays_are_refused(folder):
    np.save(folder / "rows-warm.npy", np.array([{"code": "evil"}], dtype=object), allow_pickle=True)
    (folder / "task.json").write_text(json.dumps({"peer": "kgmi-limit", "n_problems": 1}))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        work(folder)
