"""Counting with Dask (extra ``cluster``): a task for every fragment, and tasks that add up the counts of some.

Rows stay where they are: workers read files, and count partitions of a collection where these were computed. Only
counts come back, and they are those of one process, bit for bit.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator, Iterator, Sequence
from concurrent import futures
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import reduce
from os.path import exists
from pathlib import Path
from pkgutil import resolve_name
from re import fullmatch
from typing import Any, NoReturn

from kgmi.counts.counted import CountedTable, added
from kgmi.counts.stream import Report, Work
from kgmi.errors import ClusterError, DataError, KgmiError, SettingError, first_line
from kgmi.memory import carried
from kgmi.sources.base import Fragment, Stream
from kgmi.sources.files import Files
from kgmi.sources.memory import BatchStream, Partitions, uncomputed
from kgmi.version import __version__

CONNECTING = 10.0  # seconds for a scheduler to answer
PATIENCE = 60.0  # seconds to wait for a first worker, or for a new one when all have gone
_LOOK = 2.0  # seconds without a result after which there must be a worker
_TOGETHER = 8  # fragments whose counts are added up by a worker before they come here
_AHEAD = 2  # fragments per thread of the cluster that are under way
_CLUSTER = r"local:(?P<number>[1-9][0-9]{0,2})|\w+://.+:\d+"
_NO_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"  # a terminal sends Ctrl-C to all
_AGAIN = "run it again; with a checkpoint what was counted so far is not counted again"


@contextmanager
def connect(cluster: Any) -> Iterator[Any]:
    """Yield a ``distributed.Client`` that has workers, and close what was opened for it.

    Parameters
    ----------
    cluster
        ``"local:N"`` starts N processes with one thread each, reachable from this machine only; ``"tcp://…"`` or
        ``"tls://…"`` is the scheduler of a running cluster; ``"client"`` is the client that is open in this
        process, and a ``distributed.Client`` is itself. Such a client is left open.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError(
            "a cluster needs Dask, which is not installed; install the extra cluster: pip install 'kgmi[cluster]'"
        ) from None
    with ExitStack() as stack:
        client = open_client() if cluster == "client" else cluster
        if isinstance(client, str) and (known := fullmatch(_CLUSTER, client)):
            client = _opened(client, known["number"], stack)
        if not isinstance(client, Client):
            raise SettingError(
                f"cluster={cluster!r} cannot be opened; give 'local:4' for four processes on this machine (at most "
                "999), the address of a Dask scheduler such as 'tcp://10.0.0.7:8786', 'client' for the client that "
                "is open in this process, or such a client"
            )
        if client.asynchronous or client.status != "running":
            raise ClusterError("the client of Dask is closed or asynchronous; open another: distributed.Client(…)")
        with _connected(client):
            _await_worker(client)
            _check_versions(client)
        yield client


def open_client() -> Any | None:
    """Return the client that is open in this process, or that of the worker which runs this; None without one."""
    with suppress(ImportError, ValueError):
        from distributed import get_client

        return get_client()
    return None


def _opened(cluster: str, n_processes: str | None, stack: ExitStack) -> Any:
    """Return a client of so many processes that are started here, or of a scheduler that is running."""
    from distributed import Client, LocalCluster, Security
    from distributed.utils import silence_logging_cmgr

    place: Any = cluster
    remedy = "start a scheduler with `dask scheduler`, and workers with `dask worker ADDRESS`"
    stack.enter_context(silence_logging_cmgr(logging.CRITICAL))  # errors are raised, not logged
    try:
        if n_processes:
            remedy = "start fewer processes, or free memory; a script needs `if __name__ == '__main__':`"
            place = LocalCluster(
                n_workers=int(n_processes),
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                silence_logs=logging.CRITICAL,
                preload=_NO_INTERRUPTS,
            )
            stack.enter_context(place)
        elif cluster.startswith("tls:") and not Security().get_connection_args("client").get("ssl_context"):
            raise ValueError("certificates are missing; name their files in the configuration of Dask")
        return stack.enter_context(Client(place, timeout=CONNECTING, set_as_default=False))
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        raise ClusterError(f"{cluster} cannot be opened ({first_line(error)}); {remedy}") from None


def _await_worker(client: Any) -> None:
    """Wait until there is a worker; an error where none comes, for which Dask would wait for ever."""
    try:
        if not client.nthreads():
            client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ClusterError(
            f"the Dask scheduler has had no worker for {PATIENCE:.0f} seconds; start some (dask worker ADDRESS), "
            f"and {_AGAIN}"
        ) from None


def _check_versions(client: Any) -> None:
    """Refuse workers with another kgmi or none, which the first task would end."""
    versions = client.run(resolve_name, "kgmi.version:__version__", on_error="return")
    for address, found in versions.items():
        if found != __version__ and not isinstance(found, OSError):  # that one has just gone
            raise ClusterError(
                f"the worker at {address} does not have kgmi {__version__} ({first_line(found)}); install it there"
            )


@contextmanager
def _connected(client: Any) -> Iterator[None]:
    """Raise one error where the scheduler is lost, which Dask reports in many ways."""
    cancelled = asyncio.CancelledError, futures.CancelledError
    try:
        yield
    except (Exception, *cancelled) as error:
        lost = client.status != "running" or isinstance(error, (OSError, *cancelled))
        if isinstance(error, KgmiError) or not lost:
            raise
        raise ClusterError(
            f"the Dask scheduler was lost, or dropped the work: it ended or was restarted; {_AGAIN}"
        ) from None


def parts_on(client: Any, work: Work, fragments: Sequence[Fragment], report: Report) -> Generator[CountedTable]:
    """Count fragments with Dask, and yield the sums of some at a time, which workers add up.

    ``report`` is called with numbers of rows as fragments are done.
    """
    rows = work.stream
    if isinstance(rows, BatchStream) and not isinstance(rows, Partitions):
        raise SettingError(
            f"{rows.description} cannot be sent to workers; give files that they can read, a Dask data frame or "
            "array, or leave cluster out"
        )
    for found in _results(client, work, fragments):
        if isinstance(found, CountedTable):
            yield found
        else:
            report(found)


def _results(client: Any, work: Work, fragments: Sequence[Fragment]) -> Iterator[Any]:
    """Yield what :func:`_begun` asks for as it is there; some begin when others have their sum.

    The first failure is raised.
    """
    import dask
    from distributed import wait, worker_client

    under_way, groups = dict[Any, Fragment](), _begun(client, work, fragments)
    with ExitStack() as stack:
        stack.enter_context(_connected(client))
        stack.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}))
        with suppress(ValueError):  # where this is itself a task, other tasks get its thread while it waits
            stack.enter_context(worker_client())
        stack.callback(lambda: [future.release() for future in under_way])  # what has not begun is dropped
        for _ in range(1 + _AHEAD * sum(client.nthreads().values()) // _TOGETHER):
            under_way |= next(groups, {})
        while under_way:
            try:
                with client.as_current():
                    finished = wait([*under_way], _LOOK, "FIRST_COMPLETED").done
                for future in finished:
                    found = future.result(PATIENCE)
                    del under_way[future]
                    future.release()
                    if isinstance(found, CountedTable):
                        under_way |= next(groups, {})
                    yield found
            except Exception as error:
                for future, fragment in under_way.items():  # a sum, which is the last, fails with what it adds
                    if future.status == "error":
                        _fail(client, future.exception(), work.stream, fragment)
                if not isinstance(error, TimeoutError):
                    raise
                _await_worker(client)  # a result that was lost with its worker is made again


def _begun(client: Any, work: Work, fragments: Sequence[Fragment]) -> Iterator[dict[Any, Fragment]]:
    """Begin to count some fragments at a time: their numbers of rows, and last the sum of their counts."""
    from dask import delayed

    rows, counting = work.stream, delayed(carried(_count), pure=False)
    shared = client.compute(delayed(work, pure=False, traverse=False))  # a task: made again where a worker dies
    tables = rows.partitions if isinstance(rows, Partitions) else ()  # a delayed table for every fragment
    for first in range(0, len(fragments), _TOGETHER):
        some = fragments[first : first + _TOGETHER]
        parts = [counting(shared, one, *tables[one.number : one.number + 1]) for one in some]
        tasks = [*(part.n_rows for part in parts), delayed(reduce)(added, parts)]
        yield dict(zip(client.compute(tasks), [*some, Fragment(rows.description)], strict=True))


def _count(work: Work, fragment: Fragment, *tables: Any) -> CountedTable:
    """Return the counts of a fragment; runs on a worker, where ``tables`` is that of a partition."""
    if tables:
        rows: Any = work.stream
        work = replace(work, stream=replace(rows, rows=tables))
    return work(fragment)


def _fail(client: Any, error: Exception, rows: Stream, fragment: Fragment) -> NoReturn:
    """Raise the error of a task as one process would, or say what workers lack."""
    from distributed import KilledWorker

    if isinstance(error, DataError) and isinstance(rows, Files):
        path = Path(rows.held[fragment.file].path).absolute()
        there = client.run(exists, path, on_error="return") if path.exists() else {}
        if blind := [address for address, found in there.items() if found is False]:
            raise DataError(
                f"the worker at {blind[0]} cannot find {path}, which is there for this process; give all workers "
                "the same files by the same names: a folder that they share, or copies"
            ) from None
    if isinstance(error, KgmiError):
        raise error.with_traceback(None) from None  # without the frames of the worker
    if isinstance(error, KilledWorker):
        raise ClusterError(
            f"{1 + error.allowed_failures} workers ended one after the other while they counted {fragment.label}: "
            f"they were killed, or have too little memory; give them more, or count fewer columns. Then {_AGAIN}"
        ) from None
    if isinstance(rows, Partitions):
        raise uncomputed(error, fragment.label) from error
    raise ClusterError(
        f"a worker cannot count {fragment.label} ({type(error).__name__}: {first_line(error)}); it needs the same "
        "packages as this process, and enough memory"
    ) from error
