"""``WebSettings``: where the server listens, and what one job, one upload and all of them together may take."""

from __future__ import annotations

import ipaddress
import math
import re
from dataclasses import dataclass

from kgmi.errors import SettingError
from kgmi.memory import shown_bytes

__all__ = ["LEAST_MEMORY", "WebSettings", "is_loopback", "read_seconds", "shown_seconds"]

LEAST_MEMORY = 400_000_000
"""Bytes that a process of a job needs to load its libraries and to learn from a small table."""

_UNITS = {"": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class WebSettings:
    """Options of the server.

    Attributes
    ----------
    host, port
        Where it listens; only this machine can reach 127.0.0.1.
    hosts
        Further names under which browsers may call it.
    upload_bytes, most_cells, most_columns
        The largest file that may be sent, and the largest table that it may hold.
    stall_seconds
        Seconds without a byte after which an upload is given up.
    memory_bytes, seconds
        What one job may take; then it is stopped.
    n_workers
        Jobs that run at a time.
    most_waiting
        Jobs that may wait for their turn; more are turned away.
    most_jobs, most_tables, keep_seconds
        Finished jobs and tables beyond these numbers are forgotten, the oldest first, and so are those that nobody
        has asked for in so many seconds. Tables that are still being sent count as well, so that all files together
        never take more than ``most_tables`` times ``upload_bytes``.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    hosts: tuple[str, ...] = ()
    upload_bytes: int = 50_000_000
    stall_seconds: float = 30.0
    most_cells: int = 50_000_000
    most_columns: int = 1_000
    memory_bytes: int = 2_000_000_000
    seconds: float = 120.0
    n_workers: int = 1
    most_waiting: int = 12
    most_jobs: int = 60
    most_tables: int = 20
    keep_seconds: float = 7200.0

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise SettingError(f"a port is a number from 0 (any that is free) to 65535, got {self.port}")
        if self.memory_bytes < LEAST_MEMORY:
            least, got = shown_bytes(LEAST_MEMORY), shown_bytes(self.memory_bytes)
            raise SettingError(f"a job needs at least {least} of memory to load its libraries, got {got}")
        if not (math.isfinite(self.seconds) and self.seconds >= 1):
            raise SettingError(f"a job needs a time limit of at least 1 s, got {self.seconds:g} s")
        if not (math.isfinite(self.stall_seconds) and self.stall_seconds > 0):
            raise SettingError(f"an upload may stall for more than 0 s, got {self.stall_seconds:g} s")
        if not 1 <= self.n_workers <= 64:
            raise SettingError(f"from 1 to 64 jobs can run at a time, got {self.n_workers}")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def read_seconds(amount: str, name: str = "--time-limit") -> float:
    """Seconds from a text like 120s, 5min or 1h; a number alone is seconds."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*(s|min|h|)\s*", amount)
    if not found:
        raise SettingError(f"{name} must be a time like 120s, 5min or 1h, got {amount!r}")
    return float(found[1]) * _UNITS[found[2]]


def shown_seconds(seconds: float) -> str:
    """A time as people read it."""
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.3g} h"
