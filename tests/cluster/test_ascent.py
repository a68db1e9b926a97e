"""The ascent on workers gives what one process gives, to the last bit, a worker that is killed included."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from kgmi.ascent import ascend
from kgmi.errors import DataError

pytestmark = pytest.mark.cluster


@pytest.fixture(autouse=True)
def spread_early(monkeypatch):
    """Everything is sent away, however little it is."""
    monkeypatch.setattr("kgmi.cluster.ascent._SPREAD_FROM", 0)


@pytest.fixture(scope="module")
def table():
    """Scores of 60 nodes: some equal, some children with few candidates or none, one that is tied."""
    rng = np.random.default_rng(77)
    made = np.round(rng.gamma(2.0, 3.0, size=(2, 60, 60)), 2)
    made[:, *np.triu_indices(60)] = np.nan
    made[:, 50] = np.where(np.isnan(made[:, 50]), np.nan, 5.0)
    made[0, 40:45, :30], made[1, 5] = 0.0, np.nan
    return made


def agree(one, other):
    assert one.epochs == other.epochs
    for name in ("attention", "stopped"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(one.trace.epochs, other.trace.epochs)
    assert np.array_equal(one.trace.objective, other.trace.objective)
    assert (one.trace.attention is None) == (other.trace.attention is None)
    assert one.trace.attention is None or np.array_equal(one.trace.attention, other.trace.attention)


@pytest.mark.parametrize("engine", ["plain", "compiled"])
@pytest.mark.parametrize("with_attention", [True, False])
def test_four_workers_and_one_process_agree_to_the_last_bit(four, table, engine, with_attention, monkeypatch):
    from kgmi.cluster import ascend_on

    if not with_attention:
        monkeypatch.setattr("kgmi.ascent.trace._TRACE_BYTES", 0)
    monkeypatch.setattr("kgmi.ascent.engines._FIRST", 40)  # so that it takes several stretches
    monkeypatch.setattr("kgmi.ascent.engines._CHUNK", 100_000)
    monkeypatch.setattr("kgmi.ascent.engines._PLAIN_WORK", 100_000)
    wait_for = np.random.default_rng(78).random((2, 60)) < 0.8
    options = {"rate": 20.0, "stop": 0.1, "epochs": 600, "engine": engine, "wait_for": wait_for}
    told = []
    here = ascend(table, **options)
    there = ascend_on(four, table, progress=lambda epoch, epochs: told.append((epoch, epochs)), **options)
    agree(here, there)
    assert len(told) > 2
    assert told[-1] == (here.epochs, 600)
    assert {-1, 0} < set(there.stopped.ravel().tolist())


def test_a_short_run_stays_here(four, table, monkeypatch):
    from kgmi.cluster import ascend_on

    monkeypatch.setattr("kgmi.cluster.ascent._SPREAD_FROM", 10**9)
    monkeypatch.setattr(four, "map", None)  # nothing may be sent away
    options = {"rate": 20.0, "epochs": 50, "engine": "plain"}
    agree(ascend(table, **options), ascend_on(four, table, **options))


def test_a_table_without_candidates_is_the_same_error(four, table):
    from kgmi.cluster import ascend_on

    with pytest.raises(DataError, match="all NaN"):
        ascend_on(four, np.full((1, 4, 4), np.nan))


def test_a_worker_killed_on_the_way_changes_nothing(own, table, monkeypatch):
    from kgmi.cluster import ascend_on, connect

    monkeypatch.setattr("kgmi.ascent.engines._CHUNK", 100_000)
    cluster = own(2)
    options = {"rate": 20.0, "stop": 0.1, "epochs": 400, "engine": "compiled"}

    def kill(epoch, _):
        if epoch and cluster.workers[0].poll() is None:
            os.kill(cluster.workers[0].pid, signal.SIGKILL)

    with connect(cluster.address) as client:
        client.wait_for_workers(2, timeout=30)
        there = ascend_on(client, table, progress=kill, **options)
    assert cluster.workers[0].wait() == -signal.SIGKILL
    agree(ascend(table, **options), there)
