"""Jobs: a queue with a bound, each job in a process of its own, and where every one of them stands."""

from __future__ import annotations

import asyncio
import shutil
import time
from pathlib import Path
from typing import Any

from kgmi.web.models import Fit, Job
from kgmi.web.problems import Problem, unexpected
from kgmi.web.process import Failed, run_task
from kgmi.web.running import Running, State
from kgmi.web.settings import WebSettings
from kgmi.web.tables import Stored, new_folder

__all__ = ["Jobs"]


class Jobs:
    """All jobs of a server; used by its one event loop only."""

    def __init__(self, root: Path, settings: WebSettings) -> None:
        self._root, self._settings = root, settings
        self._jobs: dict[str, Running] = {}
        self._number = 0
        self._change = asyncio.Event()
        self.is_closing = False

    def get(self, key: str) -> Running:
        """A job by its id."""
        if key not in self._jobs:
            advice = "Learn again: results are forgotten after a while, and when the server is started anew."
            raise Problem(404, "There is no such job here.", advice)
        found = self._jobs[key]
        found.asked = time.monotonic()
        return found

    def of_tab(self, tab: str) -> list[Running]:
        """The jobs of a tab, the newest first."""
        return [job for job in reversed(self._jobs.values()) if job.fit.tab == tab]

    def shown(self, job: Running) -> Job:
        """A job as it is told to others."""
        waiting = self._in_state("waiting")
        return Job(
            id=job.id,
            name=job.name,
            state=job.state,
            place=waiting.index(job) if job.state == "waiting" else 0,
            fit=job.fit,
            standing=job.standing(),
            seconds=round(job.seconds, 2),
            most_seconds=self._settings.seconds,
            failure=None if job.failure is None else job.failure,  # type: ignore[arg-type]  # pydantic makes it one
            number=job.number,
        )

    def add(self, fit: Fit, stored: Stored) -> Running:
        """A new job at the end of the queue; none where that is too long already."""
        self.forget(room=1)
        n_waiting = len(self._in_state("waiting"))
        if n_waiting >= self._settings.most_waiting:
            raise Problem(
                429,
                f"{n_waiting} jobs are waiting already, and no more are taken.",
                "Wait until some are done, or cancel those that are not needed.",
            )
        folder = new_folder(self._root)
        job = Running(folder, fit, stored.name, {"kind": "fit", **stored.task(folder), "fit": fit.model_dump()})
        self._jobs[job.id] = job
        self._changed(job)
        self._begin()
        return job

    def cancel(self, key: str) -> Running:
        """End a job: at once, with its process, if it runs. One that is over stays as it is."""
        job = self.get(key)
        if not job.is_over:
            if job.work is not None:
                job.work.cancel()
            self._finish(job, "cancelled")
        return job

    def remove(self, key: str) -> None:
        """Forget a job and its files; it is ended first."""
        job = self.cancel(key)
        del self._jobs[key]
        shutil.rmtree(job.folder, ignore_errors=True)

    def forget(self, room: int = 0) -> None:
        """Forget what nobody has asked for in a long time, and the oldest of too many (``room`` are to come)."""
        over = sorted((job for job in self._jobs.values() if job.is_over), key=lambda job: job.asked)
        too_old = time.monotonic() - self._settings.keep_seconds
        n_extra = len(over) - self._settings.most_jobs + room
        for place, job in enumerate(over):
            if place < n_extra or job.asked < too_old:
                self.remove(job.id)

    async def wait_for_change(self, seconds: float) -> bool:
        """Wait until something has changed in any job, or that time has passed; whether something has."""
        try:
            async with asyncio.timeout(seconds):
                return await self._change.wait()
        except TimeoutError:
            return False

    def end_streams(self) -> None:
        """Let all who follow jobs go."""
        self.is_closing = True
        self._change.set()

    async def close(self) -> None:
        """End all jobs and whoever waits for their news."""
        self.end_streams()
        works = [job.work for job in self._jobs.values() if job.work is not None and not job.work.done()]
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)

    def _in_state(self, state: State) -> list[Running]:
        return [job for job in self._jobs.values() if job.state == state]

    def _begin(self) -> None:
        """Start the jobs whose turn it is."""
        n_free = self._settings.n_workers - len(self._in_state("running"))
        for job in self._in_state("waiting")[: max(0, n_free)]:
            job.state, job.started = "running", time.monotonic()
            job.work = asyncio.create_task(self._run(job))
            self._changed(job)
            for other in self._in_state("waiting"):  # their places have changed
                self._changed(other)

    async def _run(self, job: Running) -> None:
        def hear(step: dict[str, Any]) -> None:
            job.hear(step)
            self._changed(job)

        try:
            await run_task(job.folder, job.task, self._settings, self._settings.seconds, hear)
            self._finish(job, "done")
        except Failed as failure:
            job.failure = failure.content
            self._finish(job, "failed")
        except Exception as error:  # noqa: BLE001  # one job must not end the server
            job.failure = unexpected(error).content
            self._finish(job, "failed")

    def _finish(self, job: Running, state: State) -> None:
        if job.is_over:
            return
        job.state, job.ended = state, time.monotonic()
        self._changed(job)
        if not self.is_closing:
            self._begin()

    def _changed(self, job: Running) -> None:
        self._number += 1
        job.number = self._number
        self._change.set()
        self._change = asyncio.Event()
