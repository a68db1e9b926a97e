"""The two engines of the ascent are one algorithm: a contract over both, and over how the work is cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import ascend, exact_joint, limit, scores
from kgmi.ascent import compiled, engines, kernels, plain, survey
from kgmi.ascent.columns import columns_of
from kgmi.ascent.surveyed import survey_and_start
from kgmi.ascent.trace import Recorder
from kgmi.attention import objective
from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.process import Process

from . import brute
from .test_attention import random_tables

COPIES = Process(Dag.paper(10).copies(4), Kernel.paper())


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n_nodes=st.integers(2, 9), rate=st.sampled_from([0.1, 10.0, 3_000.0]))
@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_each_engine_is_a_plain_loop_over_columns(engine, seed, n_nodes, rate):
    table, _ = random_tables(seed, 2, n_nodes)
    found = ascend(table, rate=rate, epochs=30, stop=0, engine=engine)
    assert np.allclose(found.attention, brute.ascend(table, rate=rate, epochs=30), atol=1e-10)


@pytest.mark.parametrize("process", [COPIES, Process(Dag.paper(10), Kernel.paper())], ids=["copies", "one"])
def test_both_engines_stop_at_the_same_epochs(process):
    table = scores(exact_joint(process), process.kernel)
    plain, fast = (ascend(table, epochs=3_000, stop=0.3, engine=engine) for engine in ("plain", "compiled"))
    assert np.array_equal(plain.stopped, fast.stopped)
    assert plain.epochs == fast.epochs
    assert np.allclose(plain.attention, fast.attention, atol=1e-9)
    assert np.allclose(plain.trace.objective, fast.trace.objective, rtol=1e-9)


def test_equal_candidates_are_carried_as_one_and_come_out_equal():
    table = scores(exact_joint(COPIES), COPIES.kernel)
    n = table.shape[-1]
    for child in range(20, n):
        column, (s, m, a) = table[0, child], np.zeros((3, n + 4))
        group, slot = np.zeros(n, dtype=np.int32), np.zeros(128, dtype=np.int32)
        start = (column, column.view(np.int64), np.ones(n), np.nanmax(column))
        n_groups = kernels._gather(*start, s, m, a, group, slot, child % 2)
        assert n_groups % 4 == child % 2  # filled up with groups of nobody
        assert n_groups <= 13 < child  # the nodes of other copies are one group
        assert m[:n_groups].sum() == child
        assert np.array_equal(s[group[:child]], column[:child])
        assert np.all(group[child:] == -1)
    found = ascend(table, epochs=200, stop=0)
    assert np.ptp(found.attention[0, 39, :30]) == 0
    assert found.attention[0, 39].sum() == pytest.approx(1, abs=1e-12)
    assert np.allclose(found.attention, brute.ascend(table, rate=10.0, epochs=200), atol=1e-12)


def test_threads_and_chunks_change_nothing(monkeypatch):
    table = scores(exact_joint(COPIES), COPIES.kernel)
    whole = ascend(table, epochs=2_000, stop=0.3, engine="compiled")
    monkeypatch.setattr(compiled, "_THREAD_WORK", 0)
    monkeypatch.setattr(compiled, "_PIECE", 3)
    monkeypatch.setattr("kgmi.threads.n_workers", lambda: 3)
    spread = ascend(table, epochs=2_000, stop=0.3, engine="compiled")
    assert np.array_equal(whole.stopped, spread.stopped)
    assert np.array_equal(whole.attention, spread.attention)
    assert np.array_equal(whole.trace.objective, spread.trace.objective)
    monkeypatch.setattr(engines, "_FIRST", 7)
    monkeypatch.setattr(engines, "_CHUNK", 100)
    cut = ascend(table, epochs=2_000, stop=0.3, engine="compiled")
    assert np.array_equal(whole.stopped, cut.stopped)
    assert np.allclose(whole.attention, cut.attention, atol=1e-12)
    assert np.allclose(whole.trace.objective, cut.trace.objective, rtol=1e-12)


def test_what_is_compiled_is_right_as_plain_python_too(monkeypatch):
    for name in ("_small_epoch", "_large_epoch", "_power", "_gather", "_scatter", "_slots"):
        monkeypatch.setattr(kernels, name, getattr(kernels, name).py_func)
    table, _ = random_tables(8, 2, 5)
    for rate in (0.01, 40.0):  # the series and exp
        seen, attention = survey_and_start(table)
        columns = columns_of(table, seen, attention)
        recorder = Recorder(columns, seen, np.array([7]))
        which = np.flatnonzero(seen.moves)
        arrays = (columns.scores, columns.scores.view(np.int64), columns.best, columns.least)
        found = (columns.attention, columns.value, columns.stopped)
        kept = (recorder.epochs, recorder.value, recorder.attention)
        kernels.advance_columns.py_func(*arrays, *found, *kept, which, 0, 25, rate, 0.0)
        then = recorder.trace(25).attention[1]
        assert np.allclose(attention, brute.ascend(table, rate=rate * 10, epochs=25), atol=1e-12)
        assert np.allclose(then, brute.ascend(table, rate=rate * 10, epochs=7), atol=1e-12)
        kernels.advance_columns.py_func(*arrays, *found, *kept, which, 25, 26, rate, 0.99)
        assert np.all(columns.stopped[which] == 26)


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_the_trace_is_the_same_whoever_keeps_it(engine, monkeypatch):
    table = scores(exact_joint(COPIES), COPIES.kernel)
    full = ascend(table, epochs=900, stop=0.6, record_at=[1, 50, 400, 700], engine=engine).trace
    monkeypatch.setattr("kgmi.ascent.trace._TRACE_BYTES", 0)
    lean = ascend(table, epochs=900, stop=0.6, record_at=[1, 50, 400, 700], engine=engine).trace
    assert lean.attention is None
    assert np.allclose(lean.objective, full.objective, rtol=1e-12)
    assert np.allclose(full.objective, [objective(table, one) for one in full.attention], rtol=1e-12)


@pytest.fixture(scope="module")
def wide():
    """Scores of 300 nodes, many of them equal, some children with few candidates and some with none."""
    rng = np.random.default_rng(77)
    unit = 10.0 ** -rng.integers(-1, 7, size=(1, 300, 1))
    table = np.round(rng.gamma(2.0, 300.0, size=(2, 300, 300)) / unit) * unit
    table[:, *np.triu_indices(300)] = np.nan
    table[:, ::7][rng.random((2, 43, 300)) < 0.9] = np.nan
    table[:, 250] = np.where(np.isnan(table[:, 250]), np.nan, 5.0)  # tied: it never moves
    table[0, 200:220, :100], table[1, 5] = 0.0, np.nan
    return table


def test_wide_tables_come_out_alike_from_both_engines(wide):
    first, fast = (ascend(wide, rate=40.0, stop=0.1, epochs=60, engine=e) for e in ("plain", "compiled"))
    assert np.array_equal(first.stopped, fast.stopped)
    assert {-1, 0} < set(fast.stopped.ravel().tolist())
    assert np.allclose(first.attention, fast.attention, atol=1e-12)
    assert np.allclose(first.trace.objective, fast.trace.objective, rtol=1e-12)
    assert np.allclose(fast.attention.sum(axis=-1), survey(wide).n_candidates > 0, atol=1e-12)
    assert np.all(fast.attention[np.isnan(wide)] == 0)
    assert fast.trace.attention is not None
    assert objective(wide, fast.attention) == pytest.approx(fast.trace.objective[-1], rel=1e-12)


def test_threads_do_not_change_a_bit_of_a_wide_table(wide, monkeypatch):
    runs = []
    for n_workers, piece in ((1, 16), (2, 16), (5, 1)):
        monkeypatch.setattr("kgmi.threads.n_workers", lambda n_workers=n_workers: n_workers)
        monkeypatch.setattr(compiled, "_PIECE", piece)
        runs.append(ascend(wide, rate=40.0, stop=0.1, epochs=60, engine="compiled"))
    for run in runs[1:]:
        assert np.array_equal(run.attention, runs[0].attention)
        assert np.array_equal(run.stopped, runs[0].stopped)


def test_blocks_do_not_change_a_bit_of_the_plain_engine(wide, monkeypatch):
    whole = ascend(wide, rate=40.0, stop=0.1, epochs=60, engine="plain")
    monkeypatch.setattr(plain, "_BLOCK", 20_000)
    cut = ascend(wide, rate=40.0, stop=0.1, epochs=60, engine="plain")
    assert np.array_equal(whole.attention, cut.attention)
    assert np.array_equal(whole.trace.objective, cut.trace.objective)


def test_tables_that_are_cut_out_or_locked_are_read_where_they_lie(wide):
    expected = ascend(wide[:, :260, :260].copy(), rate=40.0, epochs=20, engine="compiled")
    n_compiled = len(kernels.advance_columns.signatures)
    locked = wide[:, :260, :260]
    locked.setflags(write=False)
    found = ascend(locked, rate=40.0, epochs=20, engine="compiled")
    assert np.array_equal(found.attention, expected.attention)
    assert len(kernels.advance_columns.signatures) == n_compiled  # nothing was compiled once more


@pytest.mark.parametrize("rate", [1e30, 1e100])
def test_no_rate_is_too_large_for_either_engine(rate):
    table = scores(exact_joint(COPIES), COPIES.kernel)
    for engine in ("plain", "compiled"):
        found = ascend(table, rate=rate, epochs=5, stop=0.1, engine=engine).attention
        assert np.all(np.isfinite(found))
        assert np.array_equal(found.argmax(axis=-1), limit(table).attention.argmax(axis=-1))


def test_an_engine_that_does_not_exist_is_an_error():
    with pytest.raises(SettingError, match="engine must be"):
        ascend(random_tables(1, 1, 3)[0], engine="gpu")
