"""Counting with Dask (extra ``cluster``): a task for every fragment, whose counts are added as a tree.

Rows stay where they are: workers read files, and count partitions of a collection where these were computed. Only
counts come back, and they are those of one process, bit for bit.
"""

from __future__ import annotations

import logging
import signal
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from os.path import exists
from threading import Event, Thread
from typing import Any, NoReturn, TypeAlias
from uuid import uuid4

import numpy as np

from kgmi.counts.stream import Heard, Part, Work
from kgmi.errors import ClusterError, DataError, KgmiError, SettingError, first_line
from kgmi.memory import carried
from kgmi.sources import Block, Form, Fragment, Passing, _Batch, _Choice, passing
from kgmi.version import __version__
from kgmi.where import Filter

__all__ = ["CONNECTING", "PATIENCE", "Partitions", "connect", "count_on", "current_client", "open_partitions"]

CONNECTING = 10.0
"""Seconds for a scheduler to answer."""
PATIENCE = 60.0
"""Seconds to wait for a first worker, or for a new one when all have gone."""

_LOOK = 2.0  # seconds between two looks at whether there are workers
_MOST_LOCAL = 256
_TOGETHER = 8  # parts that are added in one task
_AHEAD = 2  # fragments per thread of the cluster that are under way where every part comes here
_HEAD = 1 << 15  # rows of a partition that come first where rows are read here: mostly they are enough
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
                f"{number} processes could not be started ({first_line(error)}): one was ended or has too little "
                "memory; start fewer. A script needs the line «if __name__ == '__main__':» before its first call, as "
                "every process reads it"
            ) from None
        client = stack.enter_context(Client(stack.enter_context(processes), set_as_default=False))
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield client


@contextmanager
def _scheduler(address: str) -> Iterator[Any]:
    """Open a client of a scheduler that runs already."""
    from distributed import Client, Security
    from distributed.comm import get_address_host_port

    try:
        is_whole = all(get_address_host_port(address, strict=True))
    except ValueError:
        is_whole = False
    if not is_whole:
        raise SettingError(f"cluster='{address}' has no host and port, such as 'tcp://10.0.0.7:8786'; {_USAGE}")
    if address.startswith("tls:") and Security().get_connection_args("client").get("ssl_context") is None:
        raise ClusterError(
            f"{address} needs certificates, and none are known: name their files in Dask's configuration "
            "(distributed.comm.tls.ca-file, distributed.comm.tls.client.cert and .key), or hand over a client that "
            "has them (distributed.Security)"
        )
    try:
        opened = Client(address, timeout=CONNECTING, set_as_default=False)
    except (OSError, TimeoutError, ValueError, RuntimeError, ImportError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address} ({first_line(error)}); start one with «dask scheduler», workers "
            "with «dask worker ADDRESS», or let kgmi start processes here: 'local:4'"
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
            f"the Dask scheduler was lost, or let go of the work: it ended, was restarted, or was told to; {_AGAIN}"
        ) from None


def count_on(
    client: Any | None,
    work: Work,
    fragments: Sequence[Fragment],
    store: Callable[[Part], object] | None,
    heard: Heard,
) -> Part | None:
    """Count fragments with Dask, and return the sum; None for no fragments.

    Parameters
    ----------
    client
        A ``distributed.Client``; None: the one that is open, and without one Dask in this process (partitions only).
    work, fragments
        What is counted.
    store
        Called with the part of every fragment, which then comes here; without it only their sum does.
    heard
        Called with numbers of rows as fragments are done.
    """
    import dask
    from dask import delayed

    if not fragments:
        return None
    source: Any = work.stream.source
    if isinstance(source, Passing):
        raise SettingError(
            f"{source.description} cannot be sent to workers; give files that they can read, a Dask data frame or "
            "array, or leave cluster out"
        )
    client = current_client() if client is None else client
    name, counting = uuid4().hex, delayed(carried(_count), pure=False)
    held: Any = delayed(work, name=f"kgmi-work-{name}", traverse=False)
    if client is not None:
        with _connected(client), dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
            held = client.compute(
                held
            )  # a task, made again where its worker dies, and not sent with every fragment
    parts = [
        counting(held, __version__, one, *_partition(source, one), dask_key_name=(f"kgmi-count-{name}", one.number))
        for one in fragments
    ]
    if client is None:
        return _count_here(source, parts, heard)
    total: Part | None = None
    with ExitStack() as stack:
        stack.enter_context(_connected(client))
        with suppress(ValueError):  # where this is itself a task, other tasks get its thread while it waits
            from distributed import worker_client

            stack.enter_context(worker_client())
        if store is not None:
            ahead = _AHEAD * max(1, sum(client.nthreads().values()))
            for _, part in _results(client, source, zip(fragments, parts, strict=True), ahead):
                store(part)
                heard(part.tally.rows)
                total = part if total is None else total.merge(part)
            return total
        rows = [delayed(_rows_of)(part) for part in parts]
        tasks = [(None, _sum(parts)), *zip(fragments, rows, strict=True)]
        for fragment, found in _results(client, source, tasks, len(tasks)):
            if fragment is None:
                total = found
            else:
                heard(found)
    return total


def _partition(source: Any, fragment: Fragment) -> Sequence[Any]:
    return source.partitions[fragment.number : fragment.number + 1] if isinstance(source, Partitions) else ()


def _count(work: Work, version: str, fragment: Fragment, *rows: Any) -> Part:
    """Return the counts of a fragment; runs on a worker, where ``rows`` are those of a partition."""
    if version != __version__:
        raise ClusterError(
            f"a worker has kgmi {__version__}, not {version}; install the same version on both sides"
        )
    source: Any = work.stream.source
    if rows:
        work = replace(work, stream=replace(work.stream, source=replace(source, rows=rows)))
    try:
        return work(fragment)
    except DataError:
        if not hasattr(source, "held") or exists(source.held[fragment.file].path):
            raise
    from distributed import get_worker

    raise FileNotFoundError(get_worker().address)  # whether it is gone is known where the files were listed


def _rows_of(part: Part) -> int:
    return part.tally.rows


def _merged(parts: Sequence[Part]) -> Part:
    return reduce(Part.merge, parts)


def _sum(parts: Sequence[Any]) -> Any:
    """Return the task that adds parts: neighbours first, then their sums, until one is left."""
    from dask import delayed

    while len(parts) > 1:
        groups = [parts[first : first + _TOGETHER] for first in range(0, len(parts), _TOGETHER)]
        parts = [delayed(_merged)(group) for group in groups]
    return parts[0]


def _count_here(source: Any, parts: Sequence[Any], heard: Heard) -> Part:
    """Count with Dask in this process: by threads, or as its configuration says."""
    from dask.callbacks import Callback

    keys = {part.key for part in parts}

    def done(key: Any, part: Any, *_: Any) -> None:
        if key in keys:
            heard(part.tally.rows)

    try:
        with Callback(posttask=done):
            found: Part = _sum(parts).compute()
    except KgmiError:
        raise
    except Exception as error:
        raise _uncomputed(error, f"a partition of {source.description}") from error
    return found


def _results(client: Any, source: Any, tasks: Iterable[_Found], ahead: int) -> Iterator[_Found]:
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
                _fail(error, source, fragments[future] or next(failed, None))  # sums fail with what they add
            yield fragments.pop(future), found
            future.release()
            begin(1)
    finally:
        ended.set()
        for future in fragments:
            future.release()  # what has not begun is not done then


def _fail(error: BaseException, source: Any, fragment: Fragment | None) -> NoReturn:
    """Raise what a task failed with as one process would, or, where Dask gave up, as an error of ours."""
    from distributed import KilledWorker

    label = source.description if fragment is None else fragment.label
    if isinstance(error, KgmiError):
        raise error.with_traceback(None) from None  # the frames of the worker tell nothing here
    if isinstance(error, KilledWorker):
        raise ClusterError(
            f"{1 + error.allowed_failures} workers ended one after the other while they had {label} to count: they "
            f"were killed, or have too little memory; give them more, or count fewer columns. Then {_AGAIN}"
        ) from None
    if isinstance(error, CancelledError):
        raise error  # the scheduler was lost
    if isinstance(source, Partitions):
        raise _uncomputed(error, f"{label} of {source.description}") from error
    if isinstance(error, MemoryError):
        raise ClusterError(
            f"a worker has too little memory for {label}; give it more, or count fewer columns"
        ) from None
    if isinstance(error, ImportError):
        raise ClusterError(f"a worker lacks what it needs ({error}); install the same packages as here") from None
    if isinstance(error, FileNotFoundError) and fragment is not None:
        path = source.held[fragment.file].path
        if not exists(path):
            raise DataError(f"{path} is gone: it was there when the files were listed; start again") from None
        raise DataError(
            f"the worker at {error} cannot find {path}, which is there for the process that listed the files; give "
            "all workers the same files by the same names: a folder that they share, or copies"
        ) from None
    raise error


def _uncomputed(error: BaseException, label: str) -> DataError:
    """Return the error on rows that code of the user could not compute."""
    return DataError(f"{label} cannot be computed: {type(error).__name__}: {first_line(error)}")


@dataclass(frozen=True, eq=False)
class Partitions:
    """Tables that Dask holds as a source; each partition is a fragment, and is counted where it was computed.

    What a partition holds is known only then, so fragments have no marks before, and a checkpoint needs files.

    Attributes
    ----------
    model
        A table without rows that has the columns.
    every
        Whether all columns are read, so that a partition may have no further ones.
    partitions
        Delayed tables, one for each fragment; workers get none of them.
    rows
        The rows of a fragment, as one table or several, where they are here.
    """

    model: _Batch
    columns: tuple[str, ...]
    filter: Filter | None
    every: bool
    description: str
    fragments: tuple[Fragment, ...]
    partitions: tuple[Any, ...]
    rows: Iterable[Any] | None = None
    rereadable: bool = True

    @property
    def form(self) -> Form:
        """How cells are read."""
        return self.model.form

    @property
    def marks(self) -> dict[str, str]:
        """No files."""
        return {}

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a partition, which are computed and brought here where they are not."""
        label, rows = self._label(fragment), self._computed(fragment) if self.rows is None else self.rows
        held = Passing(lambda: rows, self.model, self.columns, self.filter, self.every, label, rereadable=True)
        try:
            yield from held.read(fragment)
        except DataError as error:
            raise error if label in str(error) else DataError(f"{label}: {error}") from None

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Return a function that says where a cell is."""
        which = "" if self.filter is None else " of those that pass the filter"
        return lambda row, name: f"{self._label(fragment)}: row {row}{which}, column '{name}'"

    def _label(self, fragment: Fragment) -> str:
        return f"{fragment.label} of {self.description}"

    def _computed(self, fragment: Fragment) -> Iterator[Any]:
        for first, last in ((0, _HEAD), (_HEAD, None)):
            yield (rows := _computed(self.partitions[fragment.number], first, last, self._label(fragment)))
            if len(rows) < _HEAD:
                return

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"partitions": ()}


def open_partitions(source: Any, choice: _Choice) -> Partitions:
    """Return a ``dask.dataframe``, a ``dask.array`` [row, column] or a list of delayed tables as a source."""
    from dask.delayed import Delayed

    parts: Sequence[Any] = [source] if isinstance(source, Delayed) else source
    sizes: Sequence[int | None] = ()
    if isinstance(parts, list | tuple):
        kind = "list of delayed tables"
        if not all(isinstance(one, Delayed) for one in parts):
            raise DataError("a list of partitions must hold delayed tables only (dask.delayed)")
        if len({one.key for one in parts}) < len(parts):
            raise DataError(
                "a delayed table is in the list twice, so that its rows would count twice; leave one out"
            )
        model = _computed(parts[0], 0, 1, f"partition 0 of the Dask {kind}")
    elif hasattr(source, "rechunk"):
        kind, width = "array", source.shape[-1] if source.ndim == 2 else np.nan
        if width != width:
            raise DataError(f"rows must be a table [row, node], got a Dask array with shape {source.shape}")
        whole = source.rechunk({1: -1})
        model, parts = whole._meta.reshape(0, width), whole.to_delayed()[:, 0]
        sizes = [int(size) if size == size else None for size in whole.chunks[0]]  # NaN: not known yet
    elif hasattr(source, "npartitions") and hasattr(source, "columns"):
        kind, model = "data frame", source._meta
    else:
        raise DataError(
            f"rows cannot be read from {type(source).__module__}.{type(source).__name__}; give a dask.dataframe, a "
            "dask.array [row, column], or a list of delayed tables"
        )
    read = passing(lambda: (), _Batch.of(model), choice, "", rereadable=True)
    if kind == "data frame":
        needed = {*read.columns, *(() if read.filter is None else read.filter.columns)}  # others are not computed
        parts = (source if read.every else source[[one for one in source if str(one) in needed]]).to_delayed()
    fragments = tuple(
        Fragment(number, f"partition {number}", n_rows=size if read.filter is None else None)
        for number, size in enumerate(sizes or [None] * len(parts))
    )
    description = f"the Dask {kind} ({len(parts):,} partition{'s' if len(parts) > 1 else ''})"
    return Partitions(read.model, read.columns, read.filter, read.every, description, fragments, tuple(parts))


def _computed(part: Any, first: int, last: int | None, label: str) -> Any:
    """Return some rows of a delayed table, computed by the open client or as Dask's configuration says."""
    from dask import delayed

    try:
        return delayed(_rows_between)(part, first, last).compute()
    except KgmiError as error:
        raise DataError(f"{label}: {error}") from None
    except Exception as error:
        raise _uncomputed(error, label) from error


def _rows_between(table: Any, first: int, last: int | None) -> Any:
    """Return some rows of a table of any kind, as such a table."""
    batch = _Batch.of(table)
    rows = batch.part(first, len(batch.rows) if last is None else last).rows
    return rows.to_native() if batch.form == "typed" else rows
