"""Learners that go wrong on purpose, to see what a failing library does to a comparison.

``python -m tests.drills FOLDER`` is the process of a drill, as ``python -m kgmi.bench FOLDER`` is that of a peer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import NoReturn

from kgmi.bench.peer import Edges, Peer, as_they_are
from kgmi.bench.registry import peer_named
from kgmi.bench.worker import work

LONG = 60.0  # seconds; every test stops it long before
PIPE = "KGMI_DRILL_PIPE"  # variable with the path of a named pipe that drills with children keep open

_calls = count(1)


def _nothing(answer: object) -> Edges:
    return Edges(())


def _raise(rows, kernel) -> NoReturn:
    raise ValueError("this drill fails on purpose")


def _abort(rows, kernel) -> NoReturn:
    os.abort()


def _sleep_if_set(rows, kernel) -> int:
    """The number of the call; a data set that begins with a state other than 0 is slept over."""
    if rows[0, 0]:
        time.sleep(LONG)
    return next(_calls)


def _number_as_edge(call: int) -> Edges:
    return Edges(((0, call),))


def _start_child() -> None:
    """A child that holds the pipe and says so."""
    pipe = os.open(os.environ[PIPE], os.O_WRONLY)
    code = f"import time; print('here', flush=True); time.sleep({LONG})"
    subprocess.Popen([sys.executable, "-c", code], stdout=pipe)


def _sleep_with_child(rows, kernel) -> None:
    _start_child()
    time.sleep(LONG)


def _abort_with_child(rows, kernel) -> NoReturn:
    _start_child()
    os.abort()


def _leave_child(rows, kernel) -> None:
    _start_child()


def _drill(key: str, fit, library: str = "kgmi", read=_nothing, cold: bool = False) -> Peer:
    return Peer(key, key, library, False, "fails on purpose", as_they_are, fit, read, cold=cold)


DRILLS = (
    _drill("raises", _raise),
    _drill("aborts", _abort),
    _drill("missing", _raise, library="kgmi-no-such-distribution"),
    _drill("sleeps", _sleep_if_set, read=_number_as_edge),
    _drill("cold", _sleep_if_set, read=_number_as_edge, cold=True),
    _drill("sleeps with a child", _sleep_with_child),
    _drill("aborts with a child", _abort_with_child),
    _drill("leaves a child", _leave_child, cold=True),
)


def drill(key: str) -> Peer:
    return peer_named(key, DRILLS)


if __name__ == "__main__":
    work(Path(sys.argv[1]), DRILLS)
