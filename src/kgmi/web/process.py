"""Start the process of a task, follow it, and end it when it is done, takes too much, or is no longer wanted."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kgmi.memory import shown_bytes
from kgmi.web.problems import log
from kgmi.web.settings import WebSettings, shown_seconds
from kgmi.web.wording import FULL, FULL_CODE, MEMORY_ADVICE

__all__ = ["Failed", "run_task"]

_LOOK_SECONDS = 0.25  # between two looks at how much memory a process holds
_LONGEST_LINE = 10_000  # bytes of a step; a line that is longer is none of ours


class Failed(Exception):
    """A task did not succeed: what is wrong, and what to do."""

    def __init__(self, error: str, advice: str = "") -> None:
        super().__init__(error)
        self.content = {"error": error, "advice": advice}


async def run_task(
    folder: Path,
    task: dict[str, Any],
    settings: WebSettings,
    seconds: float,
    hear: Callable[[dict[str, Any]], None] = lambda step: None,
) -> None:
    """Run ``task`` in ``folder``; its results are files there. Cancelling this call ends the process at once.

    Raises
    ------
    Failed
        With what the process says is wrong, or why it was stopped.
    """
    limits = {"memory_bytes": settings.memory_bytes, "most_cells": settings.most_cells}
    limits["most_columns"] = settings.most_columns
    # The folder of the whole server goes with the last process, should the server be killed.
    content = json.dumps({**task, **limits, "ends_with": str(folder.parent)})
    (folder / "task.json").write_text(content, encoding="utf-8")
    with (folder / "errors.txt").open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "kgmi.web.worker", str(folder)),
            cwd=folder,
            env=_environment(folder),
            stdin=asyncio.subprocess.PIPE,  # nothing is ever written to it; it ends when the server does
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            limit=_LONGEST_LINE,
            start_new_session=True,  # so that all that it may start is ended with it
        )
    follow = asyncio.create_task(_follow(process, hear))
    watch = asyncio.create_task(_watch_memory(process.pid, settings.memory_bytes))
    try:
        async with asyncio.timeout(seconds):
            await asyncio.wait((follow, watch), return_when=asyncio.FIRST_COMPLETED)
            if watch.done():
                watch.result()  # raises where it held too much
            await follow
    except TimeoutError:
        raise Failed(
            f"It was stopped after {shown_seconds(seconds)}, the time that a job may take here.",
            "Use fewer rows or columns, fewer parents or the given order, or start kgmi serve with a larger "
            "--time-limit.",
        ) from None
    finally:
        follow.cancel()
        watch.cancel()
        _end(process)
        await process.wait()
    _check(folder, process.returncode or 0)


async def _follow(process: asyncio.subprocess.Process, hear: Callable[[dict[str, Any]], None]) -> None:
    """Hear what the process says, until it ends."""
    assert process.stdout is not None
    while True:
        try:
            line = await process.stdout.readline()
        except ValueError:  # too long to be ours
            continue
        if not line:
            break
        with contextlib.suppress(ValueError):
            step = json.loads(line)
            if isinstance(step, dict) and "phase" in step:
                hear(step)
    await process.wait()


async def _watch_memory(pid: int, most: int) -> None:
    """Stop a process that holds too much, where the system's own limit has not done so."""
    while (held := _held_bytes(pid)) is not None:
        if held > most:
            raise Failed(
                f"It was stopped when it held {shown_bytes(held)} of memory; a job may take {shown_bytes(most)}.",
                MEMORY_ADVICE,
            )
        await asyncio.sleep(_LOOK_SECONDS)


def _held_bytes(pid: int) -> int | None:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):  # it has ended, or this is no Linux
        return None


def _check(folder: Path, code: int) -> None:
    """Raise what the process left as its failure, or why it ended without a word."""
    if code == 0:
        return
    if code == FULL_CODE:
        raise Failed(*FULL)
    try:
        failure = json.loads((folder / "failure.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        failure = None
    if failure is not None:
        raise Failed(failure["error"], failure["advice"])
    trace = (folder / "errors.txt").read_text(encoding="utf-8", errors="replace")[-4_000:]
    log.error("job %s ended with code %s\n%s", folder.name, code, trace)
    if code < 0:
        how = signal.Signals(-code).name
        raise Failed(f"Its process was ended by the system ({how}), most likely for want of memory.", MEMORY_ADVICE)
    raise Failed(
        f"Something went wrong that should not (job {folder.name[:8]}).",
        "The terminal where kgmi serve runs has the details under this number; please report them.",
    )


def _environment(folder: Path) -> dict[str, str]:
    """Ours, with the same kgmi first on the path, and temporary files in the folder of the task."""
    here = str(Path(__file__).absolute().parents[2])
    given = os.environ.get("PYTHONPATH")
    path = [here, *(os.path.abspath(entry) for entry in given.split(os.pathsep))] if given else [here]
    # Few pools of memory: what they only reserve counts against the limit.
    pools = {"MALLOC_ARENA_MAX": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    return {**os.environ, **pools, "PYTHONPATH": os.pathsep.join(path), "TMPDIR": str(folder)}


def _end(process: asyncio.subprocess.Process) -> None:
    """End the process and all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:  # Windows has no process groups of this kind
            process.kill()
