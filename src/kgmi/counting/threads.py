"""Who counts fragments: the threads of this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import partial
from typing import Protocol, TypeAlias

from kgmi.counting.part import Heard, Part, Work
from kgmi.streams import Fragment
from kgmi.threads import n_workers

__all__ = ["Done", "Runner", "Threads"]

Done: TypeAlias = Callable[[Part], object]
"""Called with every part that is finished."""


class Runner(Protocol):
    """Counts fragments, somewhere."""

    def __call__(self, work: Work, fragments: Sequence[Fragment], done: Done | None, heard: Heard) -> Part | None:
        """The sum of the parts of all fragments; None where there are none.

        ``done`` is called in this process, once for each fragment; None: parts need not come here. ``heard`` is
        called in this process too.
        """
        ...


class Threads:
    """Threads of this process, as many as it has cores unless told otherwise.

    At most one fragment for each thread is under way, so that memory stays bounded however many there are; parts
    are added as they come, which makes no difference to the sum.
    """

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = n_threads or n_workers()

    def __call__(self, work: Work, fragments: Sequence[Fragment], done: Done | None, heard: Heard) -> Part | None:
        """See :class:`Runner`."""
        total: Part | None = None
        count = partial(work, heard=heard)
        left = list(reversed(fragments))
        if self.n_threads < 2 or len(left) < 2:
            while left:
                total = _added(total, count(left.pop()), done)
            return total
        here = copy_context()
        with ThreadPoolExecutor(self.n_threads, "kgmi-count") as pool:
            running: set[Future[Part]] = set()
            try:
                while left or running:
                    while left and len(running) < self.n_threads:
                        running.add(pool.submit(here.copy().run, count, left.pop()))
                    finished, running = wait(running, return_when=FIRST_COMPLETED)
                    for one in finished:
                        total = _added(total, one.result(), done)
            except BaseException:
                for one in running:
                    one.cancel()
                raise
        return total


def _added(total: Part | None, part: Part, done: Done | None) -> Part:
    if done is not None:
        done(part)
    return part if total is None else total + part
