"""Counting with Dask (extra ``cluster``): a task for every fragment, whose counts are added as a tree.

Rows stay where they are: workers read files, and count partitions of a collection where these were computed. Only
counts come back, and they are those of one process, bit for bit.
"""

from __future__ import annotations

import logging
import signal
from asyncio import CancelledError
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import reduce
from itertools import islice
from operator import attrgetter
from os.path import exists
from re import fullmatch
from threading import Event, Thread
from typing import Any, NoReturn, TypeAlias
from uuid import uuid4

from kgmi.counts.counted import CountedTable, added
from kgmi.counts.stream import Heard, Work
from kgmi.errors import ClusterError, DataError, KgmiError, SettingError, first_line
from kgmi.memory import carried
from kgmi.sources import Files, Fragment, Partitions, Passing, Stream, uncomputed
from kgmi.version import __version__

__all__ = ["CONNECTING", "PATIENCE", "connect", "current_client", "parts_on"]

CONNECTING = 10.0
"""Seconds for a scheduler to answer."""
PATIENCE = 60.0
"""Seconds to wait for a first worker, or for a new one when all have gone."""

_LOOK = 2.0  # seconds between two looks at whether there are workers
_MOST_LOCAL = 256
_TOGETHER = 8  # parts that are added in one task
_AHEAD = 2  # fragments per thread of the cluster that are under way where every part comes here
_AGAIN = "run it again; with a checkpoint what was counted so far is not counted again"
_USAGE = (
    "it is 'local:4' for four processes on this machine, the address of a Dask scheduler such as "
    "'tcp://10.0.0.7:8786', 'client' for the client that is open in this process, or such a client"
)

_Found: TypeAlias = tuple[Fragment | None, Any]


@contextmanager
def connect(cluster: Any) -> Iterator[Any]:
    """Yield a ``distributed.Client`` that has workers, and close what was opened for it.

    Parameters
    ----------
    cluster
        ``"local:N"`` starts N processes with one thread each, reachable from this machine only; ``"tcp://…"`` or
        ``"tls://…"`` is the scheduler of a running cluster; ``"client"`` is the client that is open in this
        process, and a ``distributed.Client`` is itself. A client that was handed over is left open.
    """
    try:
        from distributed import Client
        from distributed.utils import silence_logging_cmgr
    except ImportError:
        raise ClusterError(
            "a cluster needs Dask, which is not installed; install the extra cluster: pip install 'kgmi[cluster]'"
        ) from None
    with ExitStack() as stack:
        client = current_client() if cluster == "client" else cluster
        if isinstance(client, str):
            stack.enter_context(silence_logging_cmgr(logging.CRITICAL))  # what matters is raised as an error
            client = stack.enter_context(_local(client) if client.startswith("local:") else _scheduler(client))
        if not isinstance(client, Client):
            raise SettingError(f"cluster={cluster!r} is no open client of Dask; {_USAGE}")
        if client.asynchronous or client.status != "running":
            state = "asynchronous" if client.asynchronous else client.status
            raise ClusterError(f"the client of Dask is {state}; open a new one: distributed.Client('tcp://…')")
        with _connected(client):
            _check_workers(client)
        yield client


def current_client() -> Any | None:
    """Return the client that is open in this process, or that of the worker which runs this; None without one."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


@contextmanager
def _local(cluster: str) -> Iterator[Any]:
    """Start processes of this machine with one thread each, and end them."""
    from distributed import Client, LocalCluster

    number = cluster.removeprefix("local:")
    if not (number.isascii() and number.isdigit() and 1 <= int(number) <= _MOST_LOCAL):
        raise SettingError(f"cluster='{cluster}' needs a number of processes from 1 to {_MOST_LOCAL}: 'local:4'")
    with ExitStack() as stack:
        before = None
        if hasattr(signal, "pthread_sigmask"):  # a terminal sends Ctrl-C to all processes; this one ends the others
            from multiprocessing import resource_tracker

            resource_tracker.ensure_running()  # started by the first process, it would let the signal through again
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            stack.callback(signal.pthread_sigmask, signal.SIG_SETMASK, before)
        try:
            processes = LocalCluster(
                n_workers=int(number),
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                silence_logs=logging.CRITICAL,
            )
        except (RuntimeError, OSError, TimeoutError) as error:
            raise ClusterError(
                f"{number} processes could not be started ({first_line(error)}): one was ended, or has too little "
                "memory; start fewer. A script needs `if __name__ == '__main__':`, as every process reads it"
            ) from None
        client = stack.enter_context(Client(stack.enter_context(processes), set_as_default=False))
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield client


@contextmanager
def _scheduler(address: str) -> Iterator[Any]:
    """Open a client of a scheduler that runs already."""
    from distributed import Client, Security

    if not fullmatch(r"\w+://.+:\d+", address):
        raise SettingError(f"cluster='{address}' has no host and port, such as 'tcp://10.0.0.7:8786'; {_USAGE}")
    if address.startswith("tls:") and Security().get_connection_args("client").get("ssl_context") is None:
        raise ClusterError(
            f"{address} needs certificates: name their files in the configuration of Dask, or hand "
            "over a client that has them (distributed.Security)"
        )
    try:
        opened = Client(address, timeout=CONNECTING, set_as_default=False)
    except (OSError, TimeoutError, ValueError, RuntimeError, ImportError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address} ({first_line(error)}); start one with `dask scheduler`, "
            "workers with `dask worker ADDRESS`, or let kgmi start processes here: 'local:4'"
        ) from None
    with opened:
        yield opened


def _check_workers(client: Any) -> None:
    """Wait for a first worker, and refuse workers with another kgmi, or none: the first task would end them."""
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
            problem = (
                f"cannot load kgmi ({first_line(found)})" if isinstance(found, Exception) else f"has kgmi {found}"
            )
            raise ClusterError(f"the worker at {address} {problem}; install version {__version__} there")


@contextmanager
def _connected(client: Any) -> Iterator[None]:
    """Say that the scheduler was lost where that is why something failed: Dask says it in many ways."""
    from distributed.comm import CommClosedError

    try:
        yield
    except (Exception, CancelledError) as error:
        lost = client.status != "running" or isinstance(error, CommClosedError | CancelledError)
        if isinstance(error, KgmiError) or not lost:
            raise
        raise ClusterError(
            f"the Dask scheduler was lost, or let go of the work: it ended or was restarted; {_AGAIN}"
        ) from None


def parts_on(
    client: Any | None, work: Work, fragments: Sequence[Fragment], heard: Heard, *, one_by_one: bool
) -> Generator[CountedTable]:
    """Count fragments with Dask, and yield their sum.

    Parameters
    ----------
    client
        A ``distributed.Client``; None: the one that is open, or else Dask in this process (for partitions only).
    work, fragments
        What is counted.
    heard
        Called with numbers of rows as fragments are done.
    one_by_one
        Whether the part of every fragment is yielded instead. With Dask in this process it never is.
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
    client = current_client() if client is None else client
    name, counting = uuid4().hex, delayed(carried(_count), pure=False)
    held: Any = delayed(work, name=f"kgmi-work-{name}", traverse=False)
    if client is not None:
        with _connected(client), dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
            held = client.compute(held)  # a task: made again where its worker dies, and sent once to each worker
    tables = rows.partitions if isinstance(rows, Partitions) else ()  # a delayed table for every fragment
    parts = [
        counting(held, one, *tables[one.number : one.number + 1], dask_key_name=(f"kgmi-count-{name}", k))
        for k, one in enumerate(fragments)
    ]
    if client is None:
        yield _count_here(rows, parts, heard)
        return
    with ExitStack() as stack:
        stack.enter_context(_connected(client))
        with suppress(ValueError):  # where this is itself a task, other tasks get its thread while it waits
            from distributed import worker_client

            stack.enter_context(worker_client())
        if one_by_one:
            ahead = _AHEAD * max(1, sum(client.nthreads().values()))
            for _, part in _results(client, rows, zip(fragments, parts, strict=True), ahead):
                yield part
                heard(part.n_rows)
            return
        n_rows = [delayed(attrgetter("n_rows"))(part) for part in parts]
        tasks = [(None, _sum(parts)), *zip(fragments, n_rows, strict=True)]
        for fragment, found in _results(client, rows, tasks, len(tasks)):
            if fragment is None:
                total = found
            else:
                heard(found)
        yield total


def _count(work: Work, fragment: Fragment, *tables: Any) -> CountedTable:
    """Return the counts of a fragment; runs on a worker, where ``tables`` is that of a partition."""
    rows: Any = work.stream
    if tables:
        work = replace(work, stream=replace(rows, rows=tables))
    try:
        return work(fragment)
    except DataError as error:
        if not isinstance(rows, Files) or exists(rows.held[fragment.file].path):
            raise
        from distributed import get_worker

        # Whether the file is gone, or is not for this worker, is known where files were listed.
        raise FileNotFoundError(str(error), get_worker().address) from None


def _sum(parts: Sequence[Any]) -> Any:
    """Return the task that adds parts: neighbours first, then their sums, until one is left."""
    from dask import delayed

    while len(parts) > 1:
        groups = [parts[first : first + _TOGETHER] for first in range(0, len(parts), _TOGETHER)]
        parts = [delayed(reduce)(added, group) for group in groups]
    return parts[0]


def _count_here(rows: Stream, parts: Sequence[Any], heard: Heard) -> CountedTable:
    """Count with Dask in this process: by threads, or as its configuration says."""
    from dask.callbacks import Callback

    keys = {part.key for part in parts}

    def done(key: Any, part: Any, *_: Any) -> None:
        if key in keys:
            heard(part.n_rows)

    try:
        with Callback(posttask=done):
            found: CountedTable = _sum(parts).compute()
    except KgmiError:
        raise
    except Exception as error:
        raise uncomputed(error, f"a partition of {rows.description}") from error
    return found


def _results(client: Any, rows: Stream, tasks: Iterable[_Found], ahead: int) -> Iterator[_Found]:
    """Yield what tasks give, as they finish, with at most ``ahead`` under way; the first that fails is an error.

    Dask gives the tasks of a worker that dies to others; where none is left, it would wait for ever.
    """
    from distributed import as_completed

    left, fragments = iter(tasks), dict[Any, Fragment | None]()
    running, ended, alone = as_completed(loop=client.loop), Event(), Event()

    def begin(number: int) -> None:
        if batch := list(islice(left, number)):
            made = client.compute([task for _, task in batch])
            fragments.update(zip(made, (fragment for fragment, _ in batch), strict=True))
            running.update(made)

    def watch() -> None:
        since = 0.0
        while since < PATIENCE:
            if ended.wait(_LOOK):
                return
            with suppress(OSError, TimeoutError, RuntimeError, CancelledError):  # a lost scheduler shows elsewhere
                since = 0.0 if client.nthreads() else since + _LOOK
        alone.set()
        client.cancel(list(fragments))

    try:
        begin(ahead)
        Thread(target=watch, name="kgmi-watch", daemon=True).start()
        for future in running:
            try:
                found = future.result()
            except (Exception, CancelledError) as error:  # noqa: BLE001 - it is raised again
                if alone.is_set():
                    raise ClusterError(
                        f"all workers are gone, and for {PATIENCE:.0f} seconds none has come; {_AGAIN}"
                    ) from None
                failed = (one for future, one in fragments.items() if one is not None and future.status == "error")
                _fail(error, rows, fragments[future] or next(failed, None))  # sums fail with what they add
            yield fragments.pop(future), found
            future.release()
            begin(1)
    finally:
        ended.set()
        for future in fragments:
            future.release()  # what has not begun is not done then


def _fail(error: BaseException, rows: Any, fragment: Fragment | None) -> NoReturn:
    """Raise what a task failed with as one process would, or, where Dask gave up, as an error of ours."""
    from distributed import KilledWorker

    label = rows.description if fragment is None else fragment.label
    if isinstance(error, KgmiError):
        raise error.with_traceback(None) from None  # the frames of the worker tell nothing here
    if isinstance(error, KilledWorker):
        raise ClusterError(
            f"{1 + error.allowed_failures} workers ended one after the other with {label} among what they counted: "
            f"they were killed, or have too little memory; give them more, or count fewer columns. Then {_AGAIN}"
        ) from None
    if isinstance(error, CancelledError):
        raise error  # the scheduler was lost
    if isinstance(rows, Partitions):
        raise uncomputed(error, label) from error
    if isinstance(error, MemoryError):
        raise ClusterError(
            f"a worker has too little memory for {label}; give it more, or count fewer columns"
        ) from None
    if isinstance(error, ImportError):
        raise ClusterError(f"a worker lacks what it needs ({error}); install the same packages as here") from None
    if isinstance(error, FileNotFoundError) and fragment is not None:
        path, (gone, worker) = rows.held[fragment.file].path, error.args
        if not exists(path):
            raise DataError(gone) from None
        raise DataError(
            f"the worker at {worker} cannot find {path}, which is there for the process that listed the files; "
            "give all workers the same files by the same names: a folder that they share, or copies"
        ) from None
    raise error
