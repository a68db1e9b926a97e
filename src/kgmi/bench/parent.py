"""A process that ends when the one that started it ends, even where that was killed."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from pathlib import Path

__all__ = ["end_with_parent"]

_ATTEMPTS = 10  # to remove a folder into which the rest of the process may still be writing


def end_with_parent(folder: Path) -> None:
    """End this process, those it started and the folder as soon as its standard input ends.

    The other end of that pipe belongs to the parent, and the system closes it however the parent goes. A thread
    waits for it; since it sleeps until then, it takes no time from what is being measured. It can act only when
    the interpreter lets another thread run, so that one call that keeps it is not cut short. From here on
    standard input is empty for everybody else.
    """
    pipe = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    threading.Thread(target=_wait, args=(pipe, folder), daemon=True).start()


def _wait(pipe: int, folder: Path) -> None:
    os.read(pipe, 1)
    for _ in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():  # the group is ours, nobody else is in it
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)
