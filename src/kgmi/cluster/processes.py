"""Worker processes on this machine: started, and ended whatever happens meanwhile."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from kgmi.errors import ClusterError, first_line

__all__ = ["start_processes"]


@contextmanager
def start_processes(number: int) -> Iterator[Any]:
    """For a while, a cluster of so many processes with one thread each, reachable from this machine only."""
    made: list[Any] = []
    ready = Event()
    Thread(target=_start, args=(number, made, ready), name="kgmi-cluster", daemon=True).start()
    try:
        ready.wait()
    except BaseException:  # Ctrl-C while they are being started: they are ended all the same
        ready.wait()
        if not isinstance(made[0], Exception):
            made[0].close()
        raise
    processes = made[0]
    if isinstance(processes, Exception):
        raise ClusterError(
            f"{number} processes could not be started ({first_line(processes)}). {_advice()}"
        ) from None
    with processes:
        yield processes


def _start(number: int, made: list[Any], ready: Event) -> None:
    """Start processes, from a thread that does not hear Ctrl-C, so that they do not hear it either.

    On a terminal it is sent to all of them, but it is the first one that has to end the others.
    """
    try:
        if hasattr(signal, "pthread_sigmask"):  # not on Windows
            from multiprocessing import resource_tracker

            resource_tracker.ensure_running()  # started by the first process, it would let the signal through again
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        made.append(_processes(number))
    except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
        made.append(error)
    finally:
        ready.set()


def _processes(number: int) -> Any:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=number,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        # Without a dashboard there still is a small page for machines; not on a port that others want.
        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        silence_logs=logging.CRITICAL,
    )


def _advice() -> str:
    """What to do where processes do not start: which of the two reasons it was, Dask does not say."""
    ended = "one was ended while it started, or has too little memory: run it again, with fewer of them if need be"
    if _is_command():
        return ended[0].upper() + ended[1:]
    return (
        "A script that starts them needs the line «if __name__ == '__main__':» before its first call, as every new "
        f"process reads the script. If it has that line, {ended}"
    )


def _is_command() -> bool:
    """Whether this process is ``kgmi`` or ``python -m kgmi``, which new processes may read again."""
    main = sys.modules.get("__main__")
    name = getattr(getattr(main, "__spec__", None), "name", "")
    return name.partition(".")[0] == "kgmi" or Path(getattr(main, "__file__", None) or "").stem == "kgmi"
