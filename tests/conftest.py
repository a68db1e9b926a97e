"""Settings for all tests."""

import os

import pytest
from hypothesis import settings

# CI must give the same answer twice; at home new examples are drawn on every run.
settings.register_profile("repeatable", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("repeatable")


def pytest_make_parametrize_id(val, argname):
    """Bytes make no name: a gzip file carries its second, and both processes must collect the same names."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture
def write(tmp_path):
    """A function that writes bytes into a file of its own folder and returns the path."""

    def put(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return put
