"""Two worker processes for the tests marked ``cluster``, open while one of them runs."""

import pytest


@pytest.fixture(scope="session")
def two():
    """A client of two worker processes."""
    from kgmi.counts.dask import connect

    with connect("local:2") as client:
        yield client


@pytest.fixture(autouse=True)
def workers(request):
    """Make these workers those of the process that are open."""
    if request.node.get_closest_marker("cluster") is None:
        yield
        return
    with request.getfixturevalue("two").as_current():
        yield
