"""Settings for all tests."""

import os
import signal
from functools import cache

import pytest
from hypothesis import settings

from .commands import run_kgmi

# The same cases on every run; make test-random draws new ones, and prints how to repeat those that fail.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("random", print_blob=True, deadline=None)
settings.load_profile("random" if os.environ.get("KGMI_TEST_RANDOM") else "repeatable")


# A shell that runs the tests in the background has Ctrl-C ignored, and so would all commands that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(val, argname):
    """Name cases whose own texts differ between processes by their argument: both must collect the same names."""
    return argname if isinstance(val, bytes) or " object at 0x" in repr(val) else None


@pytest.fixture
def write(tmp_path):
    """A function that writes bytes into a file of its own folder and returns the path."""

    def put(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return put


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory):
    """A function that runs ``kgmi reproduce NAME --quick`` once and returns its folder and what it printed."""

    @cache
    def run(name):
        out = tmp_path_factory.mktemp("paper")
        code, said, error = run_kgmi("reproduce", name, "--quick", "--out", str(out))
        assert (code, error) == (0, "")
        return out, said

    return run
