"""Waiting for what workers do: results as they come, as long as there are workers."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any

from kgmi.cluster.client import PATIENCE
from kgmi.cluster.failing import AGAIN, error_of, lost, raise_here
from kgmi.errors import ClusterError

__all__ = ["Pending", "aside", "fetched", "let_go"]

_LOOK = 2.0  # seconds without news after which to look whether there still are workers
_FAILED = ("error", "cancelled")  # what Dask calls a future that never will hold anything


class Pending:
    """Futures that are waited for, in the order in which they finish; the first that fails is an error.

    Tasks of a worker that dies are done by others, which Dask sees to. Where all workers are gone for more than
    ``patience`` seconds, or the scheduler is, that is an error.
    """

    def __init__(self, client: Any, futures: Sequence[Any] = (), patience: float = PATIENCE) -> None:
        self._news: SimpleQueue[Any] = SimpleQueue()
        self._watch = _Watch(client, patience)
        self.futures: dict[Any, str] = {}
        for future in futures:
            self.add(future)

    def __len__(self) -> int:
        return len(self.futures)

    def add(self, future: Any, label: str = "") -> None:
        """Wait for this one too; ``label`` says in errors which rows it computes."""
        self.futures[future] = label
        future.add_done_callback(self._news.put)

    def take(self) -> list[Any]:
        """Those that have finished since the last time; at least one.

        What one of them holds may be lost again with its worker; then it is made anew, and fetching waits for it.
        """
        finished = [self._watch.next_of(self._news)]
        while not self._news.empty():
            finished.append(self._news.get())
        for future in finished:
            if future.status in _FAILED:
                raise_here(error_of(future), self.futures.get(future, ""))
        for future in finished:
            self.futures.pop(future, None)
        return finished

    def __iter__(self) -> Iterator[list[Any]]:
        """All of them, as they finish."""
        while self.futures:
            yield self.take()


def fetched(client: Any, futures: Sequence[Any], patience: float = PATIENCE, label: str = "") -> list[Any]:
    """What the futures hold, in their order, once all have finished; :class:`Pending` says what can fail."""
    pending = Pending(client, patience=patience)
    for future in futures:
        pending.add(future, label)
    for _ in pending:
        pass
    news: SimpleQueue[tuple[list[Any], BaseException | None]] = SimpleQueue()

    def gather() -> None:
        try:
            news.put((client.gather(list(futures)), None))
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            news.put(([], error))

    # A result whose worker goes just now is made again, or never comes: so it is another thread that waits for it,
    # one that does not keep a process alive which has given up.
    Thread(target=gather, name="kgmi-gather", daemon=True).start()
    found, error = _Watch(client, patience).next_of(news)
    if error is not None:
        raise_here(error)
    return list(found)


def let_go(futures: Sequence[Any]) -> None:
    """Tell the scheduler that nobody waits for these any more: what has not begun is not done then."""
    for future in futures:
        future.release()


@contextmanager
def aside() -> Iterator[None]:
    """Where this is itself a task of Dask, leave its place on the worker to others meanwhile.

    It waits for other tasks, and without a free place these would wait for it: for ever.
    """
    from distributed import rejoin, secede

    try:
        secede()
        has_place = False
    except (ValueError, KeyError, AttributeError):  # it is no task, or one that has stepped aside before
        has_place = True
    try:
        yield
    finally:
        if not has_place:
            rejoin()


class _Watch:
    """Looks after the cluster while there is no news from it."""

    def __init__(self, client: Any, patience: float) -> None:
        self._client, self._patience = client, patience
        self._alone_since: float | None = None

    def next_of(self, news: SimpleQueue[Any]) -> Any:
        """What comes next, however long it takes, as long as there are workers."""
        while True:
            try:
                return news.get(timeout=_LOOK)
            except Empty:
                self._look()

    def _look(self) -> None:
        try:
            n_workers = len(self._client.nthreads()) if self._client.status == "running" else -1
        except (OSError, TimeoutError, CancelledError):
            n_workers = -1
        if n_workers < 0:
            raise lost()
        now = monotonic()
        if n_workers:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = now
        elif now - self._alone_since > self._patience:
            raise ClusterError(f"all workers are gone, and for {self._patience:.0f} seconds none has come. {AGAIN}")
