"""Server-sent events: the state of jobs whenever it changes, in one stream for all that a page follows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from kgmi.web.jobs import Jobs
from kgmi.web.running import Running

__all__ = ["job_events"]

_PAUSE = 0.1  # seconds between two events: more often nobody can read it
_HEARTBEAT = 10.0  # seconds of silence after which a line says that the connection is alive


async def job_events(jobs: Jobs, followed: Sequence[Running], seen: int) -> AsyncIterator[str]:
    """The state of each job now, unless its number was ``seen``, and whenever it changes, until all are over.

    Every event tells the whole state of a job, so that nothing is lost where one is missed.
    """
    yield "retry: 1000\n\n"
    while not jobs.is_closing:
        news = [job for job in followed if job.number > seen]
        for job in sorted(news, key=lambda one: one.number):
            seen = max(seen, job.number)
            yield f"id: {job.number}\nevent: job\ndata: {jobs.shown(job).model_dump_json()}\n\n"
        if all(job.is_over and job.number <= seen for job in followed):
            return
        if news:
            await asyncio.sleep(_PAUSE)
        elif not await jobs.wait_for_change(_HEARTBEAT):
            yield ": still here\n\n"
