"""Clusters are found, started and ended; what cannot work is refused."""

import subprocess
import sys

import pytest

from kgmi.cli.wording import _PHRASES
from kgmi.counts import dask as counting
from kgmi.counts.dask import connect
from kgmi.errors import ClusterError, SettingError

pytestmark = pytest.mark.cluster

NONE_STARTED = ["local:0", "local:", "local:two", "local:-1", "local:1000", 4, None, "client"]
NO_ADDRESSES = ["10.0.0.7:8786", "tcp://", "tls://", "tcp://host", "tcp://:1", "tcp://a:port"]


@pytest.mark.parametrize("cluster", NONE_STARTED + NO_ADDRESSES)
def test_what_names_no_cluster_is_refused(cluster):
    with pytest.raises(SettingError, match="cluster") as caught, connect(cluster):
        pass
    assert any(phrase in str(caught.value) for phrase, *_ in _PHRASES)  # commands offer no client


@pytest.mark.parametrize(
    ("cluster", "says"),
    [("tls://127.0.0.1:1", "certificates"), ("tcp://127.0.0.1:1", "start"), ("local:2", "__main__")],
)
def test_what_cannot_be_opened_is_one_error_and_then_the_end(cluster, says, tmp_path):
    script = tmp_path / "script.py"  # processes of local:2 run it too, as it has no guard
    script.write_text(f"from kgmi.counts import dask\ndask.CONNECTING = .5\ndask.connect({cluster!r}).__enter__()")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=60)
    last = done.stderr.splitlines()[-1]  # nothing more when Python ends
    assert (done.returncode, last.split(":")[0]) == (1, "kgmi.errors.ClusterError")
    assert says in last


def test_a_client_that_is_open_is_used_and_left_open(own):
    from distributed import Client, get_worker

    with Client(own(1).address) as mine:
        for named in (mine, "client"):
            with connect(named) as client:
                assert client is mine
        assert mine.submit(lambda: get_worker().address).result(timeout=30).startswith("tcp://127.0.0.1:")
    with pytest.raises(ClusterError, match="closed"), connect(mine):
        pass


def test_without_workers_the_wait_ends(own, monkeypatch):
    monkeypatch.setattr(counting, "PATIENCE", 1.0)
    with pytest.raises(ClusterError, match="no worker for 1 seconds"), connect(own(0).address):
        pass


@pytest.mark.parametrize("version", ["__version__ = '0.0.1'", "raise ModuleNotFoundError('no such thing')"])
def test_workers_with_another_kgmi_or_none_are_refused(own, tmp_path, version):
    (tmp_path / "kgmi").mkdir()
    (tmp_path / "kgmi" / "__init__.py").write_text("")
    (tmp_path / "kgmi" / "version.py").write_text(version)
    with pytest.raises(ClusterError, match=r"0\.0\.1|no such thing"), connect(own(1, path=tmp_path).address):
        pass
