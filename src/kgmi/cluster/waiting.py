"""Waiting for what workers do: results as they come, and every way in which a cluster fails as a sentence."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any

from kgmi.cluster.client import PATIENCE
from kgmi.errors import ClusterError, KgmiError

__all__ = ["Pending", "fetched", "let_go"]

_LOOK = 2.0  # seconds without news after which to look whether there still are workers
_AGAIN = "Run it again; with a checkpoint what was counted so far is not counted again"


class Pending:
    """Futures that are waited for, in the order in which they finish; the first that fails is an error.

    Tasks of a worker that dies are done by others, which Dask sees to. Where all workers are gone for more than
    ``patience`` seconds, or the scheduler is, that is an error.
    """

    def __init__(self, client: Any, futures: Sequence[Any] = (), patience: float = PATIENCE) -> None:
        self._news: SimpleQueue[Any] = SimpleQueue()
        self._watch = _Watch(client, patience)
        self.futures: set[Any] = set()
        for future in futures:
            self.add(future)

    def __len__(self) -> int:
        return len(self.futures)

    def add(self, future: Any) -> None:
        """Wait for this one too."""
        self.futures.add(future)
        future.add_done_callback(self._news.put)

    def take(self) -> list[Any]:
        """Those that have finished since the last time; at least one."""
        finished = [self._watch.next_of(self._news)]
        while not self._news.empty():
            finished.append(self._news.get())
        for future in finished:
            if future.status != "finished":
                _raise(_error_of(future))
        self.futures.difference_update(finished)
        return finished

    def __iter__(self) -> Iterator[list[Any]]:
        """All of them, as they finish."""
        while self.futures:
            yield self.take()


def fetched(client: Any, futures: Sequence[Any], patience: float = PATIENCE) -> list[Any]:
    """What the futures hold, in their order, once all have finished; :class:`Pending` says what can fail."""
    for _ in Pending(client, futures, patience):
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
        _raise(error)
    return list(found)


def let_go(futures: Sequence[Any]) -> None:
    """Tell the scheduler that nobody waits for these any more: what has not begun is not done then."""
    for future in futures:
        future.release()


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
            raise _lost()
        now = monotonic()
        if n_workers:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = now
        elif now - self._alone_since > self._patience:
            raise ClusterError(
                f"all workers are gone, and for {self._patience:.0f} seconds none has come. {_AGAIN}"
            )


def _error_of(future: Any) -> BaseException:
    if future.status != "error":
        return _lost()
    error = future.exception()
    return error if isinstance(error, BaseException) else ClusterError(str(error))


def _lost() -> ClusterError:
    return ClusterError(
        f"the Dask scheduler was lost, or let go of the work: it ended, was restarted, or was told to. {_AGAIN}"
    )


def _raise(error: BaseException) -> None:
    """Raise what went wrong as one process would, or, where Dask gave up, as an error of ours."""
    from distributed import KilledWorker

    if isinstance(error, KgmiError):
        raise error.with_traceback(None)  # the frames of the worker tell nothing here
    if isinstance(error, KilledWorker):
        raise ClusterError(
            f"the same piece of work ended its worker {1 + error.allowed_failures} times: workers were killed, or "
            f"have too little memory for it. Give them more, or count fewer columns. {_AGAIN}"
        ) from None
    if isinstance(error, CancelledError):
        raise _lost() from None
    if isinstance(error, ImportError):
        raise ClusterError(
            f"a worker lacks what it needs ({error}); install the same packages there as here"
        ) from None
    raise error
