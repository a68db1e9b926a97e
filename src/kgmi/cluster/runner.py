"""``DaskRunner``: counts the fragments of a stream on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from traceback import walk_tb
from typing import Any

from kgmi.cluster.client import PATIENCE
from kgmi.cluster.computing import local_scheduler
from kgmi.cluster.failing import connected, uncomputed
from kgmi.cluster.graph import Counting, summed, task
from kgmi.cluster.tasks import rows_of
from kgmi.cluster.waiting import Pending, aside, fetched, let_go
from kgmi.counting.part import Heard, Part, Work
from kgmi.counting.threads import Done, Threads
from kgmi.errors import KgmiError, SettingError
from kgmi.streams import Fragment
from kgmi.streams.memory import InMemory
from kgmi.streams.passing import Passing

__all__ = ["DaskRunner", "DaskThreads"]

_AHEAD = 2  # fragments for every thread of the cluster that are under way where parts come here


class DaskThreads:
    """Counts partitions of Dask on its own threads, in this process: where there is no client."""

    def __call__(self, work: Work, fragments: Sequence[Fragment], done: Done | None, heard: Heard) -> Part | None:
        """See :class:`kgmi.counting.threads.Runner`."""
        if not fragments:
            return None
        counting, here = Counting(work, len(fragments), 1), copy_context()

        def noted(part: Part) -> Part:
            if done is not None:
                done(part)
            here.copy().run(heard, part.n_rows)  # who listens is known in the context of the caller
            return part

        works = counting.works()
        parts = [counting.part(works, fragment) for fragment in fragments]
        name = f"kgmi-note-{counting.name}"
        parts = [task(noted, (name, number), part) for number, part in enumerate(parts)]
        source: Any = work.stream.source
        labels = {source.label(fragment): source.parts[fragment.number] for fragment in fragments}
        return summed(parts, counting.name).compute(scheduler=_telling(labels))  # type: ignore[no-any-return]


def _telling(labels: Mapping[str, Any]) -> Callable[..., Any]:
    """Dask's scheduler in this process, with errors that say which partition could not be computed.

    Its threads raise the error of a task as it is, and only the frames, here not yet cut, tell which task it was.
    """
    from dask.base import get_scheduler

    get = get_scheduler(scheduler=local_scheduler())

    def told(*arguments: Any, **options: Any) -> Any:
        try:
            return get(*arguments, **options)
        except KgmiError:
            raise
        except Exception as error:
            frames = [frame for frame, _ in walk_tb(error.__traceback__) if frame.f_code.co_name == "execute_task"]
            keys = [frame.f_locals.get("key") for frame in frames]
            failed = next((label for label, part in labels.items() if any(key in part.dask for key in keys)), None)
            if failed is None:
                raise
            raise uncomputed(error, failed) from error

    return told


class DaskRunner:
    """Counts fragments on workers: one task for each, and the sums as a tree; only the last sum comes here.

    Where parts are to be stored, each comes here when it is done, and they are added here.

    Parameters
    ----------
    client
        A ``distributed.Client``; see :func:`kgmi.cluster.connect`.
    patience
        Seconds to wait for a worker when all have gone.
    """

    def __init__(self, client: Any, *, patience: float = PATIENCE) -> None:
        self._client, self._patience = client, patience

    def __call__(self, work: Work, fragments: Sequence[Fragment], done: Done | None, heard: Heard) -> Part | None:
        """See :class:`kgmi.counting.threads.Runner`."""
        if not fragments:
            return None
        if isinstance(work.stream.source, InMemory):
            return Threads()(work, fragments, done, heard)  # counting rows takes no longer than sending them away
        if isinstance(work.stream.source, Passing):
            raise SettingError(
                f"{work.stream.description} cannot be sent to workers; give files that they can read, a Dask data "
                "frame or array, or leave cluster out"
            )
        with aside(), connected(self._client):
            n_threads = sum(self._client.nthreads().values())
            counting = Counting(work, len(fragments), n_threads)
            if done is None:
                return self._as_tree(counting, fragments, heard)
            return self._one_by_one(counting, fragments, _AHEAD * max(n_threads, 1), done, heard)

    def _as_tree(self, counting: Counting, fragments: Sequence[Fragment], heard: Heard) -> Part:
        """All tasks at once; counts stay with the workers, which tell how many rows they are."""
        works = counting.works()
        parts = [counting.part(works, fragment) for fragment in fragments]
        rows = [task(rows_of, (f"kgmi-rows-{counting.name}", number), part) for number, part in enumerate(parts)]
        futures = self._client.compute([summed(parts, counting.name), *rows])
        pending = Pending(self._client, patience=self._patience)
        try:
            for fragment, future in zip(fragments, futures[1:], strict=True):
                pending.add(future, counting.label(fragment))
            for finished in pending:
                heard(sum(fetched(self._client, finished, self._patience)))
            return fetched(self._client, futures[:1], self._patience)[0]  # type: ignore[no-any-return]
        finally:
            let_go(futures)

    def _one_by_one(
        self, counting: Counting, fragments: Sequence[Fragment], ahead: int, done: Done, heard: Heard
    ) -> Part | None:
        """Parts come here as they are done; no more are under way than can be taken in soon."""
        total: Part | None = None
        works = self._client.compute(counting.works())
        pending, left = Pending(self._client, patience=self._patience), list(reversed(fragments))
        try:
            while left or len(pending):
                while left and len(pending) < ahead:
                    fragment = left.pop()
                    pending.add(self._client.compute(counting.part(works, fragment)), counting.label(fragment))
                for future in pending.take():
                    part = fetched(self._client, [future], self._patience)[0]
                    future.release()
                    done(part)
                    heard(part.n_rows)
                    total = part if total is None else total + part
            return total
        finally:
            let_go([*works, *pending.futures])
