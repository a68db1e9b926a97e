"""Memory: amounts as text, blocks that fit a limit, and limits that reach other threads and later work."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from kgmi.errors import SettingError, TooLargeError
from kgmi.memory import (
    at_most,
    carried,
    check_fits,
    free_bytes,
    peak_bytes,
    read_bytes,
    shown_bytes,
    thread_failures,
    within,
)
from kgmi.threads import spread


@pytest.mark.parametrize(
    ("amount", "n_bytes"),
    [
        (None, None),
        (1, 1),
        (2.5e6, 2_500_000),
        (np.int64(7), 7),
        (1e20, 10**20),
        ("500MB", 500_000_000),
        (" 2 gb ", 2_000_000_000),
        ("1.5GiB", 1_610_612_736),
        ("4096", 4096),
        ("64 kB", 64_000),
    ],
)
def test_amounts_are_read(amount, n_bytes):
    assert read_bytes(amount) == n_bytes


@pytest.mark.parametrize(
    "amount", ["much", "2 XB", "", "-1GB", -5, 0, "0MB", True, float("nan"), float("inf"), [1]]
)
def test_what_is_no_amount_is_refused(amount):
    with pytest.raises(SettingError, match="memory_limit must be"):
        read_bytes(amount)


@pytest.mark.parametrize(
    ("n_bytes", "shown"),
    [(12, "12 bytes"), (1_500, "1.5 kB"), (25e6, "25 MB"), (3.21e9, "3.2 GB"), (4.56e12, "4,560 GB")],
)
def test_amounts_are_shown_as_people_read_them(n_bytes, shown):
    assert shown_bytes(n_bytes) == shown


def test_blocks_are_as_usual_without_a_limit_and_smaller_within_one():
    assert at_most(1_000_000, 8) == 1_000_000
    with within(4_000, 800):
        assert at_most(1_000_000, 8) == 100
        assert at_most(50, 8) == 50  # never more than usual
        with within(4_000):  # no room of its own: the limit
            assert at_most(1_000_000, 8) == 500
        assert at_most(1_000_000, 1e9) == 1  # never nothing
    assert at_most(1_000_000, 8) == 1_000_000


def test_an_error_ends_the_limit():
    with pytest.raises(ZeroDivisionError), within(10):
        _ = 1 / 0
    assert at_most(1_000, 1) == 1_000


def test_what_does_not_fit_is_refused_before_it_is_made():
    check_fits(1e15, "a table takes", "leave it out")  # no limit, no check
    with within(10**6):
        check_fits(10**6, "a table takes", "leave it out")
        with pytest.raises(
            TooLargeError, match=r"a table takes 2\.0 MB of memory, and memory_limit is 1\.0 MB; leave"
        ):
            check_fits(2 * 10**6, "a table takes", "leave it out")


@pytest.mark.parametrize("parallel", [False, True])
def test_threads_have_the_limit_of_the_call(parallel):
    with within(10_000, 1_000):
        assert spread(lambda _: at_most(10**6, 1), range(4), parallel=parallel) == [1_000] * 4
    assert spread(lambda _: at_most(10**6, 1), range(4), parallel=parallel) == [10**6] * 4


def test_later_work_has_the_limit_that_held_when_it_was_put_off():
    with within(10_000, 1_000):
        later = carried(lambda usual: at_most(usual, 1))
    assert later(10**6) == 1_000
    assert carried(lambda usual: at_most(usual, 1))(10**6) == 10**6


def test_the_machine_tells_its_memory():
    free, peak = free_bytes(), peak_bytes()
    assert free is None or free > 0
    assert peak is None or peak > 10**7  # an interpreter with NumPy


TIGHT = """
import re, resource, sys
from pathlib import Path
import numpy, pyarrow.csv, pyarrow.parquet
from kgmi.sources import read_table
from kgmi.errors import TooLargeError

held = int(re.search(r"VmData:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (held + 3_000_000, held + 3_000_000))  # the stack of a thread has 8 MB
try:
    read_table(sys.argv[1])
except TooLargeError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the memory of a process like this")
def test_a_file_that_cannot_be_read_for_want_of_threads_does_not_fit_into_memory(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "0,1\n1,0\n" * 1_000)
    made = subprocess.run([sys.executable, "-c", TIGHT, path], capture_output=True, text=True, check=True)
    assert made.stdout.startswith(f"{path} does not fit into memory")


def test_only_failures_to_start_a_thread_become_memory_errors():
    with pytest.raises(MemoryError, match="can't start new thread"), thread_failures():
        raise RuntimeError("can't start new thread")
    with pytest.raises(RuntimeError, match="another"), thread_failures():
        raise RuntimeError("another")
