"""What a fit spent: seconds of each of its phases, and memory where that is traced."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import ParamSpec, TypeVar

__all__ = ["Clock", "Spent"]

_In = ParamSpec("_In")
_Out = TypeVar("_Out")


@dataclass(frozen=True)
class Spent:
    """What the phases of a fit took.

    Attributes
    ----------
    seconds
        By phase, in the order in which they began.
    peaks
        By phase: the most memory held at a time beyond what was held before the fit, in bytes; empty unless the
        caller has started :mod:`tracemalloc`.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    peaks: dict[str, int] = field(default_factory=dict)


class Clock:
    """Adds up what phases take; a phase inside another one is taken out of it."""

    def __init__(self) -> None:
        self.spent = Spent()
        self._open: list[str] = []
        self._since = 0.0
        self._held = tracemalloc.get_traced_memory()[0]  # 0 where nothing is traced

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count what happens meanwhile as ``name``."""
        self._turn()
        self.spent.seconds.setdefault(name, 0.0)
        self._open.append(name)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def timed(self, name: str, work: Callable[_In, _Out]) -> Callable[_In, _Out]:
        """The work, counted as ``name``."""

        def counted(*args: _In.args, **kwargs: _In.kwargs) -> _Out:
            with self.phase(name):
                return work(*args, **kwargs)

        return counted

    def _turn(self) -> None:
        """What was spent since the last turn belongs to the innermost phase that is open."""
        now = perf_counter()
        if self._open:
            name, spent = self._open[-1], self.spent
            spent.seconds[name] += now - self._since
            if tracemalloc.is_tracing():
                peak = tracemalloc.get_traced_memory()[1] - self._held
                spent.peaks[name] = max(peak, spent.peaks.get(name, 0))
        if tracemalloc.is_tracing():
            tracemalloc.reset_peak()
        self._since = now
