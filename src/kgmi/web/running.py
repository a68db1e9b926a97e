"""``Running``: one job, from the queue to its end."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from kgmi.web.models import Fit, Standing

__all__ = ["Running", "State"]

State = Literal["waiting", "running", "done", "failed", "cancelled"]

_PATIENT = 0.3  # seconds of a phase before one can tell how fast it goes


@dataclass(eq=False)
class Running:
    """A job and all that is known of it."""

    folder: Path
    fit: Fit
    name: str
    task: dict[str, Any]
    state: State = "waiting"
    number: int = 0
    started: float | None = None
    ended: float | None = None
    asked: float = field(default_factory=time.monotonic)
    step: dict[str, Any] | None = None
    phase_began: tuple[float, int] = (0.0, 0)
    failure: dict[str, str] | None = None
    work: asyncio.Task[None] | None = None

    @property
    def id(self) -> str:
        """Its id, which is random."""
        return self.folder.name

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def seconds(self) -> float:
        """How long it has run."""
        end = time.monotonic() if self.ended is None else self.ended
        return 0.0 if self.started is None else end - self.started

    def hear(self, step: dict[str, Any]) -> None:
        """Note what its process says."""
        if self.step is None or self.step["phase"] != step["phase"] or step["done"] < self.step["done"]:
            self.phase_began = (time.monotonic(), int(step["done"]))
        self.step = step

    def standing(self) -> Standing | None:
        """How far it is, how fast it goes, and how long this phase will still take."""
        if self.state != "running":
            return None
        step = self.step or {"phase": "starting", "done": 0, "total": None, "unit": ""}
        began, before = self.phase_began
        passed, done, total = time.monotonic() - began, int(step["done"]), step["total"]
        known = self.step is not None and passed >= _PATIENT and done > before
        rate = (done - before) / passed if known else None
        remaining = None if rate is None or total is None else max(0.0, (total - done) / rate)
        return Standing(
            phase=step["phase"], done=done, total=total, unit=step["unit"], rate=rate, remaining=remaining
        )
