"""What a fit will take, before it begins: seconds and memory of every phase, from the sizes of the table.

`kgmi bench plan` compares it with what happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from kgmi.errors import TooLargeError
from kgmi.kernel import Kernel
from kgmi.learning.pricing import COSTS, Cost, Sizes
from kgmi.learning.ready import Ready
from kgmi.learning.searched import plan_of
from kgmi.learning.settings import SEARCHING
from kgmi.memory import shown_bytes
from kgmi.search import Plan
from kgmi.search.decisive import is_plain, may_be_clear

__all__ = ["Forecast", "Phase", "first_room", "forecast", "room_for"]

_Choice: TypeAlias = tuple[str, Cost]  # a phase, and what it costs

_LEAST_ROOM = 2_000_000  # bytes of a block of work: with less, the calls would take longer than the work
_FURTHER = "further search"
_KEPT = 0.7  # of a block: the indicators alone
_OBJECTS = 2_000_000  # bytes of everything that is not an array


@dataclass(frozen=True)
class Phase:
    """One phase of a fit, as foreseen.

    Attributes
    ----------
    name, how
        ``reading``, ``scores``, ``search``, ``further search``, ``ascent`` or ``report``, and how it is done.
    seconds, n_bytes
        How long it takes, and the most memory that is held in it at a time.
    in_doubt
        Whether it is needed only where the rows do not make the case clear.
    """

    name: str
    how: str
    seconds: float
    n_bytes: int
    in_doubt: bool = False


@dataclass(frozen=True)
class Forecast:
    """What a fit will take.

    Attributes
    ----------
    phases
        In their order.
    least_bytes
        The smallest ``memory_limit`` with which it can be done.
    is_compiled
        Whether there is compiled code in it, which takes longer the first time on a machine.
    """

    phases: tuple[Phase, ...]
    least_bytes: int
    is_compiled: bool

    @property
    def seconds(self) -> float:
        """Of all phases, where the rows make the case clear."""
        return sum(phase.seconds for phase in self.phases if not phase.in_doubt)

    @property
    def at_worst(self) -> float:
        """The same where they do not, and all that may be needed is done."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def n_bytes(self) -> int:
        """The most memory that is held at a time."""
        return max(phase.n_bytes for phase in self.phases)


def forecast(ready: Ready, most: int | None = None) -> Forecast:
    """What the fit will take, within ``most`` bytes where that is said."""
    sizes, chosen = _sizes(ready), list(_costs(ready))
    least = _least(sizes, chosen)
    room = None if most is None else max(most - least, 0) + _LEAST_ROOM
    held = [_held(cost, sizes, room) for _, cost in chosen]
    counted = replace(sizes, n_rows=_n_counted(ready))
    phases = []
    for place, (name, cost) in enumerate(chosen):
        if cost.keeps:  # what is kept weighs on the phases after it
            kept = cost.block_bytes(sizes) if room is None else min(cost.block_bytes(sizes), room)
            held[place] = max(held[place], *(later + _KEPT * kept for later in held[place + 1 :]))
        seconds = cost.seconds(sizes if place == 0 else counted)
        phases.append(Phase(name, cost.how, seconds, int(held[place]), name == _FURTHER))
    return Forecast(tuple(phases), least, any(cost.compiled for _, cost in chosen))


def first_room(most: int | None) -> int | None:
    """Room for a block of work while rows are read and sizes are not known yet."""
    return None if most is None else most // 4


def room_for(ready: Ready, most: int | None) -> int | None:
    """Bytes that a block of work may take; refused where ``most`` is not enough for what cannot be in blocks."""
    if most is None:
        return None
    sizes, chosen = _sizes(ready), list(_costs(ready))
    least = _least(sizes, chosen)
    if least > most:
        name = max(chosen, key=lambda one: one[1].held(sizes))[0]
        rows = f" of {sizes.n_rows:,} rows" if sizes.n_rows else ""  # counts have none
        raise TooLargeError(
            f"memory_limit is {shown_bytes(most)}, but {sizes.n_nodes:,} columns{rows} need at least "
            f"{shown_bytes(least)}, most of it in the phase '{name}'. {_advice(sizes, chosen, most, least)}"
        )
    return most - least + _LEAST_ROOM


def _advice(sizes: Sizes, chosen: list[_Choice], most: int, least: int) -> str:
    """What to leave out so that it fits."""
    fewer = sizes.n_nodes
    while fewer > 1 and _least(replace(sizes, n_nodes=fewer), chosen) > most:
        fewer = fewer * 9 // 10
    fewer_rows = sizes.n_rows
    while fewer_rows > 1 and _least(replace(sizes, n_rows=fewer_rows), chosen) > most:
        fewer_rows = fewer_rows * 9 // 10
    options = [f"about {fewer:,} columns"] if fewer > 1 else []
    options += [f"{fewer_rows:,} rows"] if fewer_rows > 1 else []
    if options:
        return f"It would do for {' or '.join(options)}"
    return f"That is too little for any table: give {shown_bytes(1.05 * least)}"  # a little more, as it is rounded


def _sizes(ready: Ready) -> Sizes:
    data = ready.data
    n_rows = 0 if data.table is None else len(data.table.codes)
    return Sizes(data.n_nodes, n_rows, max(map(len, data.alphabets)), ready.settings.n_heads)


def _n_counted(ready: Ready) -> int:
    """Rows that families are counted in: of equal ones, where there are many, only one."""
    return ready.data.observed.n_looked_at if ready.data.has_families else 0


def _costs(ready: Ready) -> Iterator[_Choice]:
    """The phases, and what each costs."""
    data, settings = ready.data, ready.settings
    if settings.guide not in SEARCHING:
        yield "reading", COSTS["counting"]
        yield "scores", COSTS["scores"]
        yield "ascent", COSTS["limit" if settings.solver == "limit" else "paper"]
        return
    yield "reading", COSTS["reading"]
    if not data.has_families or not (ready.kernel is None or isinstance(ready.kernel, Kernel)):
        yield "search", COSTS["pairs"]
    else:
        plan = plan_of(data, ready.kernel, settings)
        thorough = COSTS[_way(plan)]
        if may_be_clear(plan, settings.share):
            sizes = plan.observed.n_nodes, plan.observed.n_looked_at, max(plan.observed.sizes)
            yield "search", COSTS["plain look" if is_plain(*sizes) else "look"]
            yield _FURTHER, thorough
        else:
            yield "search", thorough
    yield "ascent", COSTS["limit" if settings.solver == "limit" else "ascent"]
    yield "report", COSTS["report"]


def _way(plan: Plan) -> str:
    if plan.is_open:
        return "order"
    if plan.known:
        return "known"
    return "exhaustive" if plan.is_exhaustive else "heads" if plan.search == "heads" else "lists"


def _least(sizes: Sizes, chosen: list[_Choice]) -> int:
    """Bytes without which it cannot be done, blocks of work as small as they may be."""
    return int(max(cost.held(sizes) for _, cost in chosen)) + _LEAST_ROOM + _OBJECTS


def _held(cost: Cost, sizes: Sizes, room: int | None) -> float:
    """Bytes at the same time, with a block of the usual size or of that for which there is room."""
    usual = cost.block_bytes(sizes)
    return cost.held(sizes) + (usual if room is None else min(usual, room)) + _OBJECTS
