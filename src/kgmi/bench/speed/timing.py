"""Times of several calls taken in turns, so that a busy moment of the machine hits all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kgmi.errors import SettingError

__all__ = ["check_sizes", "in_turns", "seconds_of", "shown_seconds"]

_TURN_SECONDS, _MOST_CALLS = 0.2, 10  # a call is repeated in its turn until one of them is reached


def seconds_of(call: Callable[[], Any]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def in_turns(calls: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The shortest time of each call: all are called once without being timed, then in ``repeats`` rounds.

    What a call needs at least is the shortest; anything longer is what others did to the machine meanwhile. In its
    turn a quick call is repeated for a while, as a slow one has its chance of a quiet moment within one call.
    """
    for call in calls.values():
        call()
    rounds = [{name: _turn(call) for name, call in calls.items()} for _ in range(repeats)]
    return {name: min(one[name] for one in rounds) for name in calls}


def _turn(call: Callable[[], Any]) -> float:
    taken = [seconds_of(call)]
    while sum(taken) < _TURN_SECONDS and len(taken) < _MOST_CALLS:
        taken.append(seconds_of(call))
    return min(taken)


def check_sizes(**sizes: Sequence[int] | int) -> None:
    """Refuse sizes that are not positive, or that are given twice."""
    for what, given in sizes.items():
        values = [given] if isinstance(given, int) else list(given)
        if not values or min(values) < 1 or len(set(values)) < len(values):
            shown = ", ".join(map(str, values)) or "none"
            raise SettingError(f"{what} must be different whole numbers from 1 on, got {shown}")


def shown_seconds(seconds: float) -> str:
    """A time with three digits, in the unit that people would use."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{_three(seconds / size)} {unit}"
    return f"{_three(seconds / 1e-6)} µs"


def _three(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
