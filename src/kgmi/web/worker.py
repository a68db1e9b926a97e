"""One task in a process of its own: ``python -m kgmi.web.worker FOLDER``.

The folder holds ``task.json``. Steps go to standard output, one line of JSON each; results go into the folder, and
nowhere else. The process ends with the server, however that ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from kgmi.errors import KgmiError
from kgmi.files import atomic_write
from kgmi.memory import thread_failures
from kgmi.progress import Step, telling
from kgmi.web.wording import FULL_CODE, MEMORY_ADVICE, is_full, worded

__all__ = ["main", "work"]

_PATIENCE = 60.0  # seconds that removing the folder may take
_MEMORY = "It needs more memory than a job may take here."


def work(folder: Path) -> dict[str, Any] | None:
    """Do what ``task.json`` says; what is wrong and what to do about it, or None when it is done."""
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    try:
        with telling(_say), thread_failures():
            if task["kind"] == "describe":
                from kgmi.web.describing import describe

                _write(folder / "described.json", describe(folder, task))
            elif task["kind"] == "lab":
                from kgmi.web.trainings import train_in

                train_in(folder, task["wanted"])
            else:
                from kgmi.web.fitting import fit

                fit(folder, task)
    except MemoryError:
        return {"error": _MEMORY, "advice": MEMORY_ADVICE}
    except KgmiError as error:
        return worded(error, folder, str(task["name"]))
    return None


def main(folder: Path) -> None:
    """Do the task within its limits, and leave what went wrong in ``failure.json``."""
    from kgmi.bench.parent import end_with_parent

    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    end_with_parent(Path(task["ends_with"]))
    _limit_memory(int(task["memory_bytes"]))
    code = _code(folder)
    sys.stdout.flush()
    os._exit(code)  # without waiting for threads of libraries


def _code(folder: Path) -> int:
    """Do the task; how the process ends."""
    try:
        failure = work(folder)
        if failure is not None:
            _write(folder / "failure.json", failure)
    except Exception as error:  # noqa: BLE001  # the server has it in its terminal; the user is told a number
        if is_full(error):
            return FULL_CODE
        traceback.print_exc()
        return 1
    return 0 if failure is None else 1


def _limit_memory(n_bytes: int) -> None:
    """Have the system refuse what is too much, so that it ends in a MemoryError; where it can (Linux)."""
    try:
        import resource
    except ImportError:  # Windows
        return
    if sys.platform == "linux":  # elsewhere this limit is not about memory that is mapped
        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _say(step: Step) -> None:
    line = json.dumps({"phase": step.phase, "done": step.done, "total": step.total, "unit": step.unit})
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The server was killed. The thread that notices takes the folder away and ends this process: were it to end
        # here by itself, or to go on writing, something might be left.
        threading.Event().wait(_PATIENCE)
        raise


def _write(path: Path, content: dict[str, Any]) -> None:
    with atomic_write(path, "internal") as stream:
        stream.write(json.dumps(content).encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
