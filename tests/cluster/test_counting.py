"""Counts of four workers are those of one process, bit for bit, and rows stay where they are."""

import subprocess
import sys

import numpy as np
import pytest

from kgmi.counts.files import Checkpoint
from kgmi.counts.stream import count
from kgmi.counts.tally import all_sets
from kgmi.errors import DataError, SettingError
from kgmi.progress import telling
from kgmi.sources import stream

from .tables import agree, columns, write_files

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("tables") / "data")


@pytest.mark.parametrize("reading", [{"missing": "pairwise"}, {"missing": "category", "alphabet": "own"}], ids=str)
@pytest.mark.parametrize("sets", [None, np.ascontiguousarray(all_sets(8, 3)[::2])], ids=["all sets", "some sets"])
def test_four_workers_and_one_process_agree_bit_for_bit(four, folder, tmp_path, reading, sets):
    rows = stream(folder, fragment_rows=250, **reading)
    assert len(rows.fragments) > 8  # more than are added in one task
    steps, here = [], count(rows, width=3, sets=sets)
    with telling(steps.append):
        there = count(rows, width=3, sets=sets, cluster=four)
    agree(here, there)
    assert {step.unit for step in steps} == {"rows"}
    assert there.tally.rows == 6 * 900
    for taken in (0, len(rows.fragments)):  # then nothing is left to count
        with Checkpoint(tmp_path / "kept") as kept:
            agree(here, count(rows, width=3, sets=sets, cluster=four, checkpoint=kept))
            assert kept.taken == taken


def test_what_a_listener_raises_is_raised_as_it_is(four, folder):
    def stop(step):
        if step.done:
            raise TimeoutError("enough")  # Dask has such errors of its own

    with pytest.raises(TimeoutError, match="enough"), telling(stop):
        count(stream(folder, fragment_rows=250, missing="pairwise"), width=2, cluster=four)


_ASKING = """
import sys
import dask
import numpy as np
from distributed import Client
from kgmi.counts.dask import connect
from kgmi.counts.stream import count
from kgmi.memory import peak_bytes
from kgmi.sources import stream

def codes(number, n_rows):
    return np.random.default_rng(number).integers(0, 3, (n_rows, 40), dtype=np.int8)

def counted(n_rows):
    rows = stream([dask.delayed(codes)(number, n_rows) for number in range(4)])
    return count(rows, width=2, cluster=client).tally.rows

with Client(sys.argv[1]), connect("client") as client:  # an open one computes the first row of the list too
    counted(1_000)
    before = peak_bytes()
    print(counted(2_000_000), peak_bytes() - before)
"""


def test_the_process_that_asks_takes_in_counts_and_no_rows(own):
    words = [sys.executable, "-c", _ASKING, own(2).address]
    n_rows, taken = map(int, subprocess.run(words, capture_output=True, check=True).stdout.split())
    assert n_rows == 8_000_000
    assert taken < 40_000_000  # half a partition; all rows are 320 MB


def test_rows_that_cannot_be_sent_are_refused_and_those_in_memory_counted_here(four, tmp_path):
    import dask

    table = columns(2, 300)
    with pytest.raises(SettingError, match="cannot be sent"):
        count(stream(iter(table.to_batches())), width=2, cluster=four)
    with pytest.raises(DataError, match="files"):
        count(stream(dask.delayed(table)), width=2, cluster=four, checkpoint=tmp_path / "kept")
    agree(count(stream(table), width=2), count(stream(table), width=2, cluster=four))
