"""Single edges turned round, each with the kernels estimated anew.

Under kernels that were learned with an edge in one direction the other one looks poor. And turning it changes two
nodes at once, so that no change of a single node leads there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgmi.search.alternate import State, pools_of, state_of
from kgmi.search.order.sweep import generations
from kgmi.search.plan import Plan
from kgmi.search.polish import polish
from kgmi.types import Parents

__all__ = ["best_touched_up", "touched_up"]

_FEW_NODES = 6
_MOST_TRIED = 8
_MOST_NODES = 20  # more take long
_MOST_SWEEPS = 10


def best_touched_up(plan: Plan, states: Sequence[State]) -> State:
    """The best of these states after small changes; of very few nodes all of them are tried, else the first."""
    several = _MOST_TRIED if plan.observed.n_nodes <= _FEW_NODES else 1
    graphs = {tuple(map(frozenset, state.parents)): state for state in reversed(states)}
    tried = list(reversed(graphs.values()))[:several]
    return max((touched_up(plan, state) for state in tried), key=lambda state: state.score)


def touched_up(plan: Plan, state: State) -> State:
    """Change single nodes and turn single edges, as long as the score rises."""
    for _ in range(_MOST_SWEEPS):
        before = state
        state = _turned(plan, polish(plan, state))
        if state is before:
            break
    return state


def _turned(plan: Plan, state: State) -> State:
    """The state after the best turn of one edge; the same where none helps."""
    if not plan.is_small or plan.observed.n_nodes > _MOST_NODES:
        return state
    best = state
    for parents in _turns(plan, state.parents):
        found = state_of(plan, parents, pools_of(plan, parents))
        if found.score > best.score + 1e-9:
            best = replace(found, rounds=state.rounds, settled=state.settled)
    return best


def _turns(plan: Plan, parents: Parents) -> Iterator[Parents]:
    """All graphs without cycles in which one edge is turned; its old parent may give up one of its own for it."""
    for child, chosen in enumerate(parents):
        for parent in chosen:
            if parent in plan.candidates.required[child] or not plan.candidates.allowed[parent, child]:
                continue
            left = tuple(one for one in chosen if one != parent)
            for more in _with_one_more(parents[parent], child, plan.n_heads):
                if len(left) in plan.degrees_of(child) and len(more) in plan.degrees_of(parent):
                    turned = list(parents)
                    turned[child], turned[parent] = left, more
                    if not _has_cycle(turned):
                        yield tuple(turned)


def _with_one_more(chosen: tuple[int, ...], new: int, most: int) -> Iterator[tuple[int, ...]]:
    """The parents with a new one in any role, instead of one of them or, if there is room, besides them."""
    for role in range(len(chosen)):
        yield (*chosen[:role], new, *chosen[role + 1 :])
    if len(chosen) < most:
        for role in range(len(chosen) + 1):
            yield (*chosen[:role], new, *chosen[role:])


def _has_cycle(parents: list[tuple[int, ...]]) -> bool:
    try:
        generations(parents)
    except ValueError:
        return True
    return False
