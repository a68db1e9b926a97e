"""Counts of four workers are those of one process, bit for bit: cells, alphabets, marks."""

from __future__ import annotations

import numpy as np
import pytest

from kgmi.counting.checkpoint import Checkpoint, identity_of
from kgmi.counting.count import count
from kgmi.counting.part import Work
from kgmi.counting.threads import Threads
from kgmi.errors import SettingError
from kgmi.progress import telling
from kgmi.statistics.sets import all_sets
from kgmi.streams import stream

from .tables import agree, columns, write_files

pytestmark = pytest.mark.cluster

READINGS = [{"missing": "pairwise"}, {"missing": "category", "alphabet": "own"}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("tables") / "data")


def runner(client):
    from kgmi.cluster import DaskRunner

    return DaskRunner(client)


@pytest.mark.parametrize("reading", READINGS, ids=str)
@pytest.mark.parametrize("width", [2, 3])
def test_four_workers_and_one_process_agree_bit_for_bit(four, folder, reading, width):
    rows = stream(folder, fragment_rows=250, **reading)
    assert len(rows.fragments) > 8  # more than are added in one task
    steps = []
    with telling(steps.append):
        there = count(rows, width, runner=runner(four))
    agree(count(rows, width, runner=Threads(1)), there)
    assert [step.unit for step in steps[:1]] == ["rows"]
    assert steps[-1].done <= there.n_rows == 6 * 900


def test_parts_that_are_stored_come_here_and_are_not_counted_again(four, folder, tmp_path):
    rows = stream(folder, missing="pairwise", fragment_rows=250)
    with Checkpoint(tmp_path / "kept", identity_of(rows, 3)) as kept:
        there = count(rows, 3, runner=runner(four), checkpoint=kept)
    agree(count(rows, 3, runner=Threads(1)), there)
    with Checkpoint(tmp_path / "kept", identity_of(rows, 3)) as kept:
        assert kept.load(rows.fragments)[1] == []
        agree(there, count(rows, 3, runner=runner(four), checkpoint=kept))
        assert kept.taken_rows == 6 * 900


@pytest.mark.parametrize("stored", [False, True])
def test_few_fragments_with_many_sets_are_spread_by_sets(four, folder, tmp_path, monkeypatch, stored):
    from kgmi.cluster.graph import Counting

    monkeypatch.setattr("kgmi.cluster.graph._LEAST_SETS", 10)
    rows = stream(folder / "part5.parquet", missing="pairwise")
    assert len(rows.fragments) == 1
    for sets in (None, np.ascontiguousarray(all_sets(8, 3)[::2])):
        assert len(Counting(Work(rows, 3, sets), 1, 4).works()) == (4 if sets is None else 2)
        keeper = Checkpoint(tmp_path / f"kept{sets is None}", identity_of(rows, 3, sets)) if stored else None
        there = count(rows, 3, sets=sets, runner=runner(four), checkpoint=keeper)
        agree(count(rows, 3, sets=sets, runner=Threads(1)), there)
        if keeper is not None:
            keeper.close()


def test_rows_that_cannot_be_sent_are_refused_and_those_in_memory_counted_here(four):
    table = columns(2, 300)
    with pytest.raises(SettingError, match=r"iterator of batches .* cannot be sent to workers; give files"):
        count(stream(iter(table.to_batches())), 2, runner=runner(four))
    agree(count(stream(table), 2), count(stream(table), 2, runner=runner(four)))
