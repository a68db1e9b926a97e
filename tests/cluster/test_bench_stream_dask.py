"""The benchmark of streams with processes of Dask beside threads."""

import pytest

from kgmi.bench.stream.measure import measure_stream

pytestmark = pytest.mark.cluster


def test_processes_of_dask_count_the_same(tmp_path):
    found = measure_stream(
        (9_000,), n_nodes=4, workers=(1, 2), parts=("workers",), seed=107, folder=tmp_path, group_rows=4_000
    )
    methods = [(run["method"], run["workers"], run["trouble"]) for run in found.results]
    assert methods == [(method, n, None) for method in ("kgmi", "kgmi-dask") for n in (1, 2)]
    assert found.settings["agreeing"] == 4
    one, two = (run["peak_bytes"] for run in found.results[2:])
    assert two > one + 60e6, "memory is that of all processes"
