"""Learners that go wrong on purpose, so that tests can see what a failing library does to a comparison."""

from __future__ import annotations

import os
import time
from typing import NoReturn

from kgmi.bench.peer import Edges, Peer
from kgmi.kernel import Kernel
from kgmi.types import Rows

__all__ = ["DRILLS"]

_LONG = 3600.0  # seconds; every test stops it long before


def _as_they_are(rows: Rows) -> Rows:
    return rows


def _nothing(answer: object) -> Edges:
    return Edges(())


def _raise(rows: Rows, kernel: Kernel) -> NoReturn:
    raise ValueError("this drill fails on purpose")


def _abort(rows: Rows, kernel: Kernel) -> NoReturn:
    os.abort()


def _sleep_from_the_second(rows: Rows, kernel: Kernel) -> None:
    # The warm-up and the first data set are done at once, so that there is an answer to keep.
    if rows[0, 0]:
        time.sleep(_LONG)


def _drill(key: str, library: str, fit: object) -> Peer:
    assert callable(fit)
    return Peer(key, key, library, False, "fails on purpose", _as_they_are, fit, _nothing)


DRILLS = (
    _drill("drill-raises", "kgmi", _raise),
    _drill("drill-aborts", "kgmi", _abort),
    _drill("drill-sleeps", "kgmi", _sleep_from_the_second),
    _drill("drill-missing", "kgmi-no-such-distribution", _raise),
)
