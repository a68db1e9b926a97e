"""``discover``: from a plan to parents and kernels, shared by many nodes or one for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kgmi.search.alternate import Parents, State, alternate, pools_of, state_of
from kgmi.search.own import ParentSet
from kgmi.search.plan import Plan
from kgmi.search.polish import polish
from kgmi.search.pools import Key, Pool, key_of, make_pool
from kgmi.search.reopen import reopen
from kgmi.search.roles import reorient
from kgmi.search.simplify import simplify, without_idle_blocks
from kgmi.search.starts import first_parents, own_sets, start_state

__all__ = ["Found", "Share", "discover"]

Share = Literal["auto", "shared", "node"]

_LONG_STARTS = 2  # where a start takes seconds
_FAR_OFF = 0.02  # of the score with a kernel for each node


@dataclass(frozen=True, eq=False)
class Found:
    """What a search ended with.

    Attributes
    ----------
    plan
        With the labels that were used: all alike when kernels are shared, all different when not.
    state
        Parents, roots that are drawn together, kernels, score.
    shared
        Whether kernels are shared.
    shared_score, node_score
        Penalised log-likelihood gain of the best graph with shared kernels, and with a kernel for each node; None
        where it was not looked at.
    n_starts
        Starts that were tried.
    start_score
        Score of the best start, before any round.
    """

    plan: Plan
    state: State
    shared: bool
    shared_score: float | None
    node_score: float | None
    n_starts: int
    start_score: float

    def pool_of(self, child: int) -> Pool | None:
        """The kernel of a node with parents."""
        parents = self.state.parents[child]
        key = key_of(self.plan.observed, self.plan.labels, parents, child)
        return self.state.pools.get(key) if parents else None


def discover(plan: Plan, share: Share = "auto") -> Found:
    """Search with shared kernels, with one for each node, or with both, and keep what describes the rows better."""
    sets = own_sets(plan)
    hints = [[one.parents for one in by_size[1:] if one is not None] for by_size in sets]
    empty: Parents = ((),) * plan.observed.n_nodes
    if plan.known:
        start = state_of(plan, empty, pools_of(plan, empty))
        state = without_idle_blocks(plan, alternate(plan, start, hints, frozenset()))
        return Found(plan, state, True, state.score, None, 1, start.score)
    alone = _each_alone(plan, sets) if share != "shared" else None
    if share == "node":
        assert alone is not None
        return alone
    best, n_starts, start_score = _best_start(plan, sets, hints, poor=None if alone is None else alone.state.score)
    nothing = replace(state_of(plan, empty, pools_of(plan, empty)), rounds=1, settled=True)
    best = polish(plan, reopen(plan, simplify(plan, best, hints), sets, hints))
    best = max(best, nothing, key=lambda state: state.score)
    best = without_idle_blocks(plan, best)
    together = Found(plan, best, True, best.score, None, n_starts, start_score)
    if alone is None:
        return together
    enough = alone.state.score - plan.indifference * plan.observed.n_nodes
    better = together if best.score >= enough or _nothing_to_share(alone) else alone
    return replace(better, shared_score=best.score, node_score=alone.state.score, n_starts=n_starts)


def _best_start(
    plan: Plan,
    sets: list[list[ParentSet | None]],
    hints: Sequence[Sequence[tuple[int, ...]]],
    poor: float | None,
) -> tuple[State, int, float]:
    """The best end of several starts; where a start takes long, more than one only while the best is ``poor``."""
    best, number, start_score = None, 0, -float("inf")
    for number in range(1, plan.starts + 1):
        start = start_state(plan, sets, number - 1)
        start_score = max(start_score, start.score)
        end = alternate(plan, start, hints, frozenset())
        if (turned := reorient(plan, end)) is not end:
            end = alternate(plan, turned, hints, frozenset())
        if best is None or end.score > best.score:
            best = end
        if not plan.is_small and (poor is None or best.score > poor or best.score < poor - _FAR_OFF * abs(poor)):
            break  # good enough, or so far off that another start will not help
        if not plan.is_small and number >= _LONG_STARTS:
            break
    assert best is not None
    return best, number, start_score


def _each_alone(plan: Plan, sets: list[list[ParentSet | None]]) -> Found:
    """Every node with the parents that it would take by itself, and a kernel of its own."""
    parents = first_parents(plan, sets)
    own = replace(plan, labels=tuple(range(plan.observed.n_nodes)))
    score = -plan.degrees_cost([len(ps) for ps in parents]) - plan.indifference * sum(map(len, parents))
    pools: dict[Key, Pool] = {}
    for child, chosen in enumerate(parents):
        one = sets[child][len(chosen)]
        assert one is not None
        score += one.value - plan.choice_cost(child, len(chosen))
        smoothing = 0.0 if plan.observed.is_exact else plan.smoothing
        pools[key_of(plan.observed, own.labels, chosen, child)] = make_pool(
            plan.family(child, chosen),
            1,
            plan.price,
            smoothing=smoothing,
            error=plan.error or 0.0,
            exchangeable=False,
        )
    state = State(parents, ((),) * len(parents), pools, score, rounds=1, settled=True)
    return Found(own, state, False, None, score, 1, score)


def _nothing_to_share(alone: Found) -> bool:
    """Whether no two nodes have parents, so that a shared kernel and one for each node are the same thing."""
    return sum(bool(parents) for parents in alone.state.parents) < 2
