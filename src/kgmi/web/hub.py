"""``Hub``: the folder of a server and all that it keeps there."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from kgmi.web.jobs import Jobs
from kgmi.web.settings import WebSettings
from kgmi.web.tables import Tables
from kgmi.web.trainings import Trainings

__all__ = ["Hub", "TheHub"]

_SWEEP_SECONDS = 60.0  # between two looks for what may be forgotten


class Hub:
    """Tables and jobs, in a temporary folder that only this user can read and that goes with the server."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.folder = Path(tempfile.mkdtemp(prefix="kgmi-web-"))
        self.tables = Tables(self.folder, settings)
        self.jobs = Jobs(self.folder, settings)
        self.trainings = Trainings(self.folder, settings)
        self._sweeping: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Begin to forget what is old; to be called in the event loop."""
        self._sweeping = asyncio.create_task(self._sweep())

    async def close(self) -> None:
        """End all jobs and remove the folder."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sweeping
        await self.jobs.close()
        await self.trainings.close()
        self.remove_folder()

    def remove_folder(self) -> None:
        """Remove all files; harmless if they are gone."""
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            self.tables.forget()
            self.jobs.forget()


def _hub(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


TheHub = Annotated[Hub, Depends(_hub)]
"""The hub of the server that a request came to."""
