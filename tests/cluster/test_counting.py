"""Counts of four workers are those of one process, bit for bit, and rows stay where they are."""

from __future__ import annotations

import numpy as np
import psutil
import pytest

from kgmi.counts.files import Checkpoint
from kgmi.counts.sets import all_sets
from kgmi.counts.stream import count_stream
from kgmi.errors import SettingError
from kgmi.progress import telling
from kgmi.sources import stream

from .tables import agree, columns, write_files

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("tables") / "data")


@pytest.mark.parametrize("reading", [{"missing": "pairwise"}, {"missing": "category", "alphabet": "own"}], ids=str)
@pytest.mark.parametrize("width", [2, 3])
def test_four_workers_and_one_process_agree_bit_for_bit(four, folder, tmp_path, reading, width):
    rows = stream(folder, fragment_rows=250, **reading)
    assert len(rows.fragments) > 8  # more than are added in one task
    steps, here = [], count_stream(rows, width)
    with telling(steps.append):
        there = count_stream(rows, width, client=four)
    agree(here, there)
    assert np.array_equal(here.first, there.first)
    assert {step.unit for step in steps} == {"rows"}
    assert there.tally.rows == 6 * 900
    for taken in (0, len(rows.fragments)):  # then nothing is left to count
        with Checkpoint(tmp_path / "kept", rows, width) as kept:
            agree(here, count_stream(rows, width, client=four, checkpoint=kept))
            assert kept.taken == taken


def test_some_sets_only(four, folder):
    rows, sets = stream(folder, missing="pairwise"), np.ascontiguousarray(all_sets(8, 3)[::2])
    agree(count_stream(rows, 3, sets=sets), count_stream(rows, 3, sets=sets, client=four))


@pytest.mark.parametrize("stored", [False, True])
def test_the_process_that_asks_takes_in_counts_and_no_rows(four, tmp_path, stored):
    n_rows, n_columns = 200_000, 40
    for number in range(4):
        codes = np.random.default_rng(number).integers(0, 3, (n_rows, n_columns), dtype=np.int8)
        np.save(tmp_path / f"{number}.npy", codes)
    rows = stream(tmp_path, fragment_rows=100_000)
    count_stream(rows, 1, client=four)  # what is loaded once is not counted
    keeper = Checkpoint(tmp_path / "kept", rows, 2) if stored else None
    before = psutil.net_io_counters(pernic=True)["lo"].bytes_sent
    there = count_stream(rows, 2, client=four, checkpoint=keeper)
    sent = psutil.net_io_counters(pernic=True)["lo"].bytes_sent - before
    assert there.tally.rows == 4 * n_rows
    assert sent < n_rows * n_columns  # a quarter of the rows
    if keeper is not None:
        keeper.close()


def test_rows_that_cannot_be_sent_are_refused_and_those_in_memory_counted_here(four):
    table = columns(2, 300)
    with pytest.raises(SettingError, match="cannot be sent"):
        count_stream(stream(iter(table.to_batches())), 2, client=four)
    agree(count_stream(stream(table), 2), count_stream(stream(table), 2, client=four))
