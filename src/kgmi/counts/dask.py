"""Counting with Dask (extra ``cluster``): a task for every fragment, and tasks that add up the counts of some.

Rows stay where they are: workers read files, and count partitions of a collection where these were computed. Only
counts come back, and they are those of one process, bit for bit.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent import futures
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import reduce
from itertools import islice
from os.path import exists
from pathlib import Path
from queue import Empty, SimpleQueue
from re import fullmatch
from time import monotonic
from typing import Any, NoReturn

from kgmi.counts.counted import CountedTable, added
from kgmi.counts.stream import Heard, Work
from kgmi.errors import ClusterError, DataError, KgmiError, SettingError, first_line
from kgmi.memory import carried
from kgmi.sources.base import Fragment, Stream
from kgmi.sources.files import Files
from kgmi.sources.memory import Partitions, Passing, uncomputed
from kgmi.version import __version__

CONNECTING = 10.0  # seconds for a scheduler to answer
PATIENCE = 60.0  # seconds to wait for a first worker, or for a new one when all have gone
_LOOK = 2.0  # seconds without a result after which the workers are counted
_TOGETHER = 8  # fragments whose counts are added up by a worker before they come here
_AHEAD = 2  # fragments per thread of the cluster that are under way
_CLUSTER = r"local:(?P<number>[1-9][0-9]{0,2})|\w+://.+:\d+"
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
        client = _current_client() if cluster == "client" else cluster
        if isinstance(client, str) and (known := fullmatch(_CLUSTER, client)):
            client = stack.enter_context(_opened(client, known["number"]))
        if not isinstance(client, Client):
            raise SettingError(
                f"cluster={cluster!r} cannot be opened; give 'local:4' for four processes on this machine (at most "
                "999), the address of a Dask scheduler with host and port such as 'tcp://10.0.0.7:8786', 'client' "
                "for the client that is open in this process, or such a client"
            )
        if client.asynchronous or client.status != "running":
            raise ClusterError("the client of Dask is closed or asynchronous; open another: distributed.Client(…)")
        with _connected(client):
            _check_workers(client)
        yield client


def _current_client() -> Any | None:
    """Return the client that is open in this process, or that of the worker which runs this; None without one."""
    with suppress(ImportError, ValueError):
        from distributed import get_client

        return get_client()
    return None


@contextmanager
def _opened(cluster: str, n_processes: str | None) -> Iterator[Any]:
    """Open a client of so many processes that are started here, or of a scheduler that is running."""
    from distributed import Client, LocalCluster, Security
    from distributed.utils import silence_logging_cmgr

    with ExitStack() as stack:
        stack.enter_context(silence_logging_cmgr(logging.CRITICAL))  # errors are raised, not logged
        try:
            if cluster.startswith("tls:") and not Security().get_connection_args("client").get("ssl_context"):
                raise ValueError("certificates are missing; name their files in the configuration of Dask")
            if n_processes is None:
                client = Client(cluster, timeout=CONNECTING, set_as_default=False)
            else:
                with _no_interrupts():
                    processes = LocalCluster(
                        n_workers=int(n_processes),
                        threads_per_worker=1,
                        host="127.0.0.1",
                        dashboard_address=None,
                        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                        silence_logs=logging.CRITICAL,
                    )
                    client = Client(stack.enter_context(processes), set_as_default=False)
        except (OSError, RuntimeError, ValueError, ImportError) as error:
            remedy = "start fewer processes, or free memory; a script needs `if __name__ == '__main__':`"
            if n_processes is None:
                remedy = "start a scheduler with `dask scheduler`, and workers with `dask worker ADDRESS`"
            raise ClusterError(f"{cluster} cannot be opened ({first_line(error)}); {remedy}") from None
        yield stack.enter_context(client)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block Ctrl-C, which a terminal sends to all processes, in those that are started: this process ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # started by the first process, it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _check_workers(client: Any) -> None:
    """Wait for a first worker, and refuse workers with another kgmi or none, which the first task would end."""
    from pkgutil import resolve_name

    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ClusterError(
            f"the Dask scheduler has had no worker for {PATIENCE:.0f} seconds; start some: dask worker ADDRESS"
        ) from None
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


def parts_on(
    client: Any | None, work: Work, fragments: Sequence[Fragment], heard: Heard
) -> Generator[CountedTable]:
    """Count fragments with Dask, and yield the sums of some at a time, which workers add up.

    Where ``client`` is None, partitions are counted by the client that is open, or else by Dask in this process.
    ``heard`` is called with numbers of rows as fragments are done.
    """
    import dask
    from dask import delayed

    if not fragments:
        return
    rows = work.stream
    if isinstance(rows, Passing) and not isinstance(rows, Partitions):
        raise SettingError(
            f"{rows.description} cannot be sent to workers; give files that they can read, a Dask data frame or "
            "array, or leave cluster out"
        )
    client = _current_client() if client is None else client
    with ExitStack() as stack:
        shared: Any = delayed(work, pure=False, traverse=False)
        if client is not None:
            stack.enter_context(_connected(client))
            stack.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}))
            with suppress(ValueError):  # where this is itself a task, other tasks get its thread while it waits
                from distributed import worker_client

                stack.enter_context(worker_client())
            shared = client.compute(shared)  # a task: sent once to each worker, and made again where one dies
        counting, groups = delayed(carried(_count), pure=False), []
        tables = rows.partitions if isinstance(rows, Partitions) else ()  # a delayed table for every fragment
        for first in range(0, len(fragments), _TOGETHER):
            some = fragments[first : first + _TOGETHER]
            parts = [counting(shared, one, *tables[one.number : one.number + 1]) for one in some]
            each = zip(some, (part.n_rows for part in parts), strict=True)
            groups.append([*each, (Fragment(rows.description), delayed(reduce)(added, parts))])
        if client is not None:
            ahead = 1 + _AHEAD * sum(client.nthreads().values()) // _TOGETHER
            for found in _results(client, rows, groups, ahead):
                if isinstance(found, CountedTable):
                    yield found
                else:
                    heard(found)
            return
        for *_, (_, total) in groups:
            try:
                part = total.compute()
            except KgmiError:
                raise
            except Exception as error:
                raise uncomputed(error, f"a partition of {rows.description}") from error
            heard(part.n_rows)
            yield part


def _count(work: Work, fragment: Fragment, *tables: Any) -> CountedTable:
    """Return the counts of a fragment; runs on a worker, where ``tables`` is that of a partition."""
    if tables:
        rows: Any = work.stream
        work = replace(work, stream=replace(rows, rows=tables))
    return work(fragment)


def _results(client: Any, rows: Stream, groups: Iterable[list[tuple[Fragment, Any]]], ahead: int) -> Iterator[Any]:
    """Yield the results of tasks as they finish, the last of each group being the sum of those before.

    At most ``ahead`` groups are under way. The first failure is raised.
    """
    left, under_way, finished = iter(groups), dict[Any, Fragment](), SimpleQueue[Any]()

    def begin(number: int) -> None:
        for group in islice(left, number):
            for (fragment, _), future in zip(group, client.compute([task for _, task in group]), strict=True):
                under_way[future] = fragment
                future.add_done_callback(finished.put)

    try:
        begin(ahead)
        seen = monotonic()  # when there was a worker
        while under_way:
            try:
                future = finished.get(timeout=_LOOK)
                found = future.result(timeout=PATIENCE)
            except Empty:
                seen = _last_seen(client, seen)
            except Exception as error:
                for one, fragment in under_way.items():  # a sum, which is the last, fails with what it adds
                    if one.status == "error":
                        _fail(client, one.exception(), rows, fragment)
                if not isinstance(error, TimeoutError):
                    raise
                finished.put(future)  # the worker that had the result is gone: it is made again
                seen = _last_seen(client, seen)
            else:
                yield found
                del under_way[future]
                future.release()
                begin(isinstance(found, CountedTable))
                seen = monotonic()
    finally:
        for future in under_way:
            future.release()  # tasks that have not begun are dropped


def _last_seen(client: Any, before: float) -> float:
    """Return when there was a worker; an error where that is long ago, for Dask would wait for ever."""
    if client.nthreads():
        return monotonic()
    if monotonic() - before >= PATIENCE:
        raise ClusterError(f"all workers are gone, and for {PATIENCE:.0f} seconds none has come; {_AGAIN}")
    return before


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
