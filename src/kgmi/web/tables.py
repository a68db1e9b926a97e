"""Tables that were sent: stored under random names, described by a process with limits, forgotten after a while."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgmi.memory import shown_bytes
from kgmi.web.gallery import GALLERY
from kgmi.web.kinds import ending_of, shown_name
from kgmi.web.problems import Problem
from kgmi.web.process import Failed, run_task
from kgmi.web.settings import WebSettings, shown_seconds

__all__ = ["Stored", "Tables", "new_folder"]

_AT_A_TIME = 2  # tables that are described
_MOST_SECONDS = 60.0  # for describing one
_BEGINNING = 4_096  # bytes that say what kind of file it is


@dataclass
class Stored:
    """A table: a file that was sent, or an example, which is made where it is needed."""

    id: str
    name: str
    file: Path | None
    described: dict[str, Any] = field(default_factory=dict)
    asked: float = field(default_factory=time.monotonic)  # when somebody last wanted it

    def task(self, folder: Path) -> dict[str, Any]:
        """What a task has to know of the table; its file is linked into the folder, and so outlives this record."""
        if self.file is None:
            return {"name": self.name, "example": self.id}
        here = folder / self.file.name
        try:
            os.link(self.file, here)
        except OSError:  # no links on this disk
            shutil.copyfile(self.file, here)
        return {"name": self.name, "file": here.name}


def new_folder(root: Path) -> Path:
    """A folder of its own with a random name, below ``root``."""
    folder = root / secrets.token_hex(16)
    folder.mkdir(mode=0o700)
    return folder


class Tables:
    """All tables of a server."""

    def __init__(self, root: Path, settings: WebSettings) -> None:
        self._root, self._settings = root, settings
        self._stored = {
            key: Stored(key, exhibit.title, None) for key, exhibit in GALLERY.items()
        }  # examples stay; the others come and go
        self._n_coming = 0  # uploads that are not finished
        self._describing = asyncio.Semaphore(_AT_A_TIME)

    def get(self, key: str) -> Stored:
        """A table by its id, or an example by its key."""
        if key not in self._stored:
            advice = "Send the file again: tables are forgotten after a while, and when the server is started anew."
            raise Problem(404, "There is no such table here.", advice)
        found = self._stored[key]
        found.asked = time.monotonic()
        return found

    async def add(self, name: str, stream: AsyncIterator[bytes]) -> dict[str, Any]:
        """Store a file while it comes in, and describe it; what cannot be learned from at all is not kept."""
        if self._n_coming >= self._settings.most_tables:
            raise Problem(
                429, f"{self._n_coming} tables are being sent already, and no more are taken.", "Try again later."
            )
        self._n_coming += 1
        try:
            self.forget()
            return await self._added(shown_name(name), stream)
        finally:
            self._n_coming -= 1

    async def _added(self, shown: str, stream: AsyncIterator[bytes]) -> dict[str, Any]:
        folder = new_folder(self._root)
        try:
            file = await self._receive(shown, stream, folder)
            stored = Stored(folder.name, shown, file)
            described = await self._described(stored)
            failure = described["prepared"]["failure"] or {}
            if failure and described["as_it_is"]["failure"]:
                raise Problem(422, failure["error"], failure["advice"] or "Mend the file and send it again.")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._stored[stored.id] = stored
        return described

    async def describe(self, key: str) -> dict[str, Any]:
        """What :meth:`add` said of a table; of an example it is found out when it is first asked for."""
        return await self._described(self.get(key))

    def remove(self, key: str) -> None:
        """Forget a table that was sent; jobs that learn from it go on."""
        stored = self.get(key)
        if stored.file is None:
            raise Problem(409, "Examples stay.", "")
        del self._stored[key]
        shutil.rmtree(stored.file.parent, ignore_errors=True)

    def forget(self) -> None:
        """Forget what nobody has asked for in a long time, and the oldest of too many, with those being sent."""
        sent = sorted((one for one in self._stored.values() if one.file is not None), key=lambda one: one.asked)
        too_old = time.monotonic() - self._settings.keep_seconds
        n_extra = len(sent) + self._n_coming - self._settings.most_tables
        for place, stored in enumerate(sent):
            if place < n_extra or stored.asked < too_old:
                self.remove(stored.id)

    async def _receive(self, name: str, stream: AsyncIterator[bytes], folder: Path) -> Path:
        """Write what comes in, never more than is allowed, and only while it comes."""
        most, n_bytes, part = self._settings.upload_bytes, 0, folder / "part"
        beginning = b""
        with part.open("wb") as file:
            async for chunk in self._steady(name, stream):
                n_bytes += len(chunk)
                if n_bytes <= most:
                    file.write(chunk)
                    beginning += chunk[: _BEGINNING - len(beginning)]
                elif n_bytes > 2 * most:  # what is only a little too large is heard out, so that the answer is too
                    break
        if n_bytes > most:
            raise Problem(
                413,
                f"{name} is larger than {shown_bytes(most)}, the most that may be sent here.",
                "Learn it on the command line (kgmi learn), or start kgmi serve with a larger --upload-limit.",
            )
        if n_bytes == 0:
            raise Problem(422, f"{name} is empty.", "Send a table with a line of names and rows below it.")
        return part.rename(folder / f"table{ending_of(name, beginning)}")

    async def _steady(self, name: str, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass on what comes in; an error where nothing has come for too long, or the whole takes too long."""
        stall, end = self._settings.stall_seconds, time.monotonic() + self._settings.keep_seconds
        while True:
            try:
                async with asyncio.timeout(min(stall, end - time.monotonic())):
                    chunk = await anext(stream)
            except StopAsyncIteration:
                return
            except TimeoutError:
                slow = f"nothing more of it came for {shown_seconds(stall)}, or it took too long altogether"
                raise Problem(
                    408,
                    f"{name} was given up: {slow}.",
                    "Send it again, or start kgmi serve with a longer --stall-limit.",
                ) from None
            yield chunk

    async def _described(self, stored: Stored) -> dict[str, Any]:
        async with self._describing:
            if not stored.described:
                folder = new_folder(self._root)
                try:
                    task = {"kind": "describe", **stored.task(folder)}
                    await run_task(folder, task, self._settings, _MOST_SECONDS)
                    found = json.loads((folder / "described.json").read_text(encoding="utf-8"))
                except Failed as failure:
                    raise Problem(422, **failure.content) from None
                finally:
                    shutil.rmtree(folder, ignore_errors=True)
                stored.described = {"id": stored.id, "name": stored.name, **found}
        return stored.described
