"""Clients of Dask: a cluster that the user has, or local processes that are started and ended here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kgmi.cluster.failing import connected
from kgmi.cluster.processes import start_processes
from kgmi.cluster.scheduler import USAGE, open_scheduler, quiet
from kgmi.errors import ClusterError, SettingError, first_line
from kgmi.version import __version__

__all__ = ["PATIENCE", "check_version", "check_workers", "connect", "current_client", "need_dask"]

PATIENCE = 60.0
"""Seconds to wait for a first worker, or for a new one when all have gone."""

_MOST_LOCAL = 256


@contextmanager
def connect(cluster: Any, *, patience: float = PATIENCE) -> Iterator[Any]:
    """For a while, a ``distributed.Client`` whose workers are there and have this version of kgmi.

    Parameters
    ----------
    cluster
        ``"local:N"`` starts N processes with one thread each, reachable from this machine only, and ends them
        afterwards, whatever happened; ``"tcp://…"`` or ``"tls://…"`` is the scheduler of a cluster that runs
        already; ``"client"`` is the client that is open in this process, and a ``distributed.Client`` is itself.
        A client that was handed over is left open.
    patience
        Seconds to wait for a first worker.
    """
    need_dask()
    if isinstance(cluster, str) and cluster != "client":
        opened = _local(cluster) if cluster.startswith("local:") else open_scheduler(cluster)
        with quiet(), opened as client:
            check_workers(client, patience)
            yield client
        return
    client = _handed_over(cluster)
    check_workers(client, patience)
    yield client


def need_dask() -> None:
    """Refuse where Dask is not installed."""
    try:
        import distributed  # noqa: F401 - it brings dask
    except ImportError:
        raise ClusterError(
            "a cluster needs Dask, which is not installed; install the extra cluster: pip install 'kgmi[cluster]'"
        ) from None


def current_client() -> Any | None:
    """The client that is open in this process, which Dask's own collections would use too; None without one."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


def _handed_over(cluster: Any) -> Any:
    from distributed import Client

    client = current_client() if cluster == "client" else cluster
    if client is None and cluster == "client":
        raise ClusterError("cluster='client' needs a client that is open: distributed.Client('tcp://…') opens one")
    if not isinstance(client, Client):
        raise SettingError(f"cluster cannot be {cluster!r}; {USAGE}")
    if client.asynchronous:
        raise SettingError("an asynchronous client cannot be waited for; open one without asynchronous=True")
    if client.status != "running":
        raise ClusterError(f"the client is {client.status}; open a new one")
    return client


@contextmanager
def _local(cluster: str) -> Iterator[Any]:
    """Processes of this machine, with one thread each."""
    from distributed import Client

    number = cluster.removeprefix("local:")
    if not (number.isascii() and number.isdigit() and 1 <= int(number) <= _MOST_LOCAL):
        raise SettingError(f"cluster='{cluster}' needs a number of processes from 1 to {_MOST_LOCAL}: 'local:4'")
    with start_processes(int(number)) as processes, Client(processes, set_as_default=False) as client:
        yield client


def check_workers(client: Any, patience: float = PATIENCE) -> None:
    """Wait for a first worker, and refuse workers whose kgmi is another one, or that have none."""
    with connected(client):
        _check_workers(client, patience)


def _check_workers(client: Any, patience: float) -> None:
    from pkgutil import resolve_name

    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        raise ClusterError(
            f"the Dask scheduler has had no worker for {patience:.0f} seconds; start some: dask worker ADDRESS"
        ) from None
    # A function of Python itself: one of ours could not even be named to a worker that has no kgmi.
    found = client.run(resolve_name, "kgmi.version:__version__", on_error="return")
    for address, version in sorted(found.items()):
        if isinstance(version, OSError):  # it has just gone; its tasks go to others
            continue
        if isinstance(version, Exception):
            raise ClusterError(
                f"the worker at {address} cannot load kgmi ({first_line(version)}); install version "
                f"{__version__} there"
            )
        check_version(version, address)


def check_version(version: str, where: str) -> None:
    """Refuse another version of kgmi: it may count, or write counts, in another way."""
    if version != __version__:
        raise ClusterError(
            f"{where} has kgmi {version}, here it is {__version__}; install the same version on both sides"
        )
