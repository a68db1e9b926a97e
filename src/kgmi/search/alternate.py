"""Kernels from parents, parents from kernels, until the graph stops changing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log

import numpy as np

from kgmi.guides.likelihood import family_gain, gain_table
from kgmi.progress import told
from kgmi.search.blocks import Block, begins_stage, best_block, block_laws, joinable, still_open, together_gain
from kgmi.search.implied import with_implied
from kgmi.search.order.sweep import acyclic_sweep
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool, count_pools, is_symmetric, key_of, make_pool, mixed_with_noise
from kgmi.search.root_laws import roots_score, shared_root_laws
from kgmi.search.tuples import Choice, as_root, choose
from kgmi.threads import spread
from kgmi.types import Floats, Parents

__all__ = ["State", "alternate", "open_blocks", "pools_of", "state_of", "worth_of"]

_FIRST_ERROR = 0.05
_MOST_ERROR = 0.5  # readings that are wrong more often than right say nothing


@dataclass(frozen=True, eq=False)
class State:
    """Parents of all nodes, the kernels estimated from them, and their penalised likelihood.

    Attributes
    ----------
    parents
        In role order.
    together
        For every root the earlier roots that it is drawn with; empty for most.
    pools
        The shared kernels.
    score
        Σ gains over no parents − what parameters and choices cost; larger is better.
    rounds
        Rounds that led here.
    settled
        Whether the last round changed nothing.
    """

    parents: Parents
    together: Parents
    pools: dict[Key, Pool]
    score: float
    rounds: int = 0
    settled: bool = False
    _laws: list[dict[Key, list[Floats]]] = field(default_factory=list, repr=False)

    def block_laws(self, plan: Plan) -> dict[Key, list[Floats]]:
        """Laws of roots that are drawn together, found once."""
        if not self._laws:
            self._laws.append(block_laws(plan, self.pools))
        return self._laws[0]


def alternate(
    plan: Plan, start: State, hints: Sequence[Sequence[tuple[int, ...]]], banned: frozenset[Key]
) -> State:
    """Re-guide from a start until the graph stops changing; the best state on the way is kept.

    ``hints[child]`` are tuples from which its heads may start; kernels in ``banned`` are not used. The first round
    and the last look at everything.
    """
    now = start
    anew = state_of(plan, start.parents, pools_of(plan, start.parents, banned), start.together)
    best = anew if anew.score >= start.score else start  # with kernels of its own graph, if that is no loss
    seen: set[tuple[Parents, Parents]] = set()
    thorough = True
    costs = plan.degree_costs(())
    moving: set[int] | None = None  # nodes that the last round moved; None for all
    for number in range(1, plan.rounds + 1):
        parents, together = _sweep(plan, now, costs, hints, None if thorough else moving)
        moved = zip(parents, together, now.parents, now.together, strict=True)
        moving = {node for node, (ps, block, was, with_) in enumerate(moved) if (ps, block) != (was, with_)}
        costs = plan.degree_costs([len(ps) for ps in parents])
        now = state_of(plan, parents, pools_of(plan, parents, banned), together)
        best = now if now.score > best.score else best
        if (parents, together) in seen:  # nothing new: look at everything once more, unless that was just done
            if thorough:
                return replace(best, rounds=number, settled=True)
            thorough = True
        else:  # between two looks at everything, short lists of the nodes that move will do
            thorough = plan.is_small or not moving
        seen.add((parents, together))
    return replace(best, rounds=plan.rounds, settled=False)


def _sweep(
    plan: Plan,
    now: State,
    costs: dict[int, float],
    hints: Sequence[Sequence[tuple[int, ...]]],
    moving: set[int] | None,
) -> tuple[Parents, Parents]:
    """Parents of every node in turn under the present kernels, and the earlier roots that it is drawn with.

    Nodes that are not among the ``moving`` stay as they are; with None all are looked at, thoroughly. Where the
    order is open all choose together, so that no cycle arises, and no roots are drawn together.
    """
    if plan.is_open:
        return acyclic_sweep(plan, now.pools, now.parents, costs), now.together
    laws = now.block_laws(plan)

    def chosen(child: int) -> Choice | None:
        if moving is not None and child not in moving:
            return None
        starts = (now.parents[child], *hints[child])
        return choose(plan, now.pools, costs, child, starts, thorough=moving is None)

    choices = spread(told(chosen, "search", "looks"), range(plan.observed.n_nodes), parallel=not plan.is_small)
    parents: list[tuple[int, ...]] = []
    together: list[Block] = []
    blocks: list[Block] = []  # that a later root may join
    followed: list[int] = []  # parents of the nodes of this stage
    for child, choice in enumerate(choices):
        if begins_stage(plan, child):
            blocks, followed = still_open(blocks, followed), []
        ps, block = now.parents[child], now.together[child]
        if choice is not None or (block and block not in blocks):
            choice = choice or choose(plan, now.pools, costs, child, (ps, *hints[child]), thorough=False)
            ps, block = _with_block(plan, laws, costs, child, choice, blocks)
        if ps:
            followed += ps
        elif laws:
            if block:
                blocks.remove(block)
            blocks.append((*block, child))
        parents.append(ps)
        together.append(block)
    return tuple(parents), tuple(together)


def _with_block(
    plan: Plan,
    laws: dict[Key, list[Floats]],
    costs: dict[int, float],
    child: int,
    choice: Choice,
    blocks: Sequence[Block],
) -> tuple[tuple[int, ...], Block]:
    """The parents that were chosen, or, if that explains more, none and a block of roots to be drawn with."""
    if laws and 0 in plan.degrees_of(child):
        found = best_block(plan, laws, child, blocks)
        said = costs.get(0, 0.0) if child in plan.free else 0.0
        margin = 0.0 if choice.parents else plan.indifference  # where all fits are the same, no edge is simplest
        if found is not None and found[0] - said > choice.worth + margin:
            return (), found[1]
    return choice.parents, ()


def open_blocks(plan: Plan, state: State, child: int) -> list[Block]:
    """Blocks of roots before the child, as far as they are complete by then and nobody follows from them yet."""
    blocks: list[Block] = []
    followed: list[int] = []
    for node in range(child + 1):
        if begins_stage(plan, node):
            blocks, followed = still_open(blocks, followed), []
        if node == child:
            break
        if state.parents[node]:
            followed += state.parents[node]
        else:
            if state.together[node] in blocks:
                blocks.remove(state.together[node])
            blocks.append((*state.together[node], node))
    return blocks


def pools_of(
    plan: Plan, parents: Parents | Mapping[int, tuple[int, ...]], banned: frozenset[Key] = frozenset()
) -> dict[Key, Pool]:
    """Kernels estimated from the families of a graph, or of some of its nodes; known ones are as given."""
    families = parents if isinstance(parents, Mapping) else dict(enumerate(parents))
    with_parents = {child: chosen for child, chosen in families.items() if chosen}
    pooled = count_pools(plan.observed, plan.labels, with_parents, plan.family)
    counted = {k: v for k, v in pooled.items() if k not in banned}
    if plan.known:
        return _known_pools(plan, counted)
    made = {}
    for key, (counts, n_nodes) in counted.items():
        made[key] = make_pool(
            counts,
            n_nodes,
            plan.price,
            smoothing=0.0 if plan.observed.is_exact else plan.smoothing,
            error=plan.error or 0.0,
            exchangeable=len(set(key[1])) == 1,
        )
    return with_implied(plan, made) | _root_pools(plan, families)


def _root_pools(plan: Plan, families: Mapping[int, tuple[int, ...]]) -> dict[Key, Pool]:
    """The laws that roots share, wherever sharing pays."""
    roots: dict[Key, list[int]] = {}
    for child, parents in families.items():
        if not parents:
            roots.setdefault(key_of(plan.observed, plan.labels, (), child), []).append(child)
    found = {key: shared_root_laws(plan, some) for key, some in roots.items()}
    return {key: laws for key, laws in found.items() if laws is not None}


def _known_pools(plan: Plan, counted: dict[Key, tuple[Floats, int]]) -> dict[Key, Pool]:
    """The given kernels, with the rate of errors that explains the families best, if that is asked for."""
    alphabet = plan.observed.alphabets[0]
    error = plan.error
    keys = {degree: (0, (alphabet,) * degree, alphabet) for degree in plan.known}
    if error is None:
        error = _fitted_error([(counted[key][0], plan.known[d]) for d, key in keys.items() if key in counted])
    made = {}
    for degree, table in plan.known.items():
        counts, n_nodes = counted.get(keys[degree], (np.zeros(table.shape), 0))
        made[keys[degree]] = Pool(counts, table, n_nodes, is_symmetric(table), True, error)
    return made


def _fitted_error(families: list[tuple[Floats, Floats]]) -> float:
    """The rate of errors ε of greatest likelihood."""
    from scipy.optimize import minimize_scalar

    if not families:  # no error at all would make the true parents impossible at the first misreading
        return _FIRST_ERROR

    def loss(error: float) -> float:
        return -sum(float((c * np.log(np.maximum(mixed_with_noise(t, error), 1e-300))).sum()) for c, t in families)

    found = minimize_scalar(loss, bounds=(0.0, _MOST_ERROR), method="bounded", options={"xatol": 1e-6})
    return float(found.x) if loss(float(found.x)) < loss(0.0) else 0.0


def state_of(plan: Plan, parents: Parents, pools: dict[Key, Pool], together: Parents | None = None) -> State:
    """Score a graph under its kernels."""
    state = State(parents, ((),) * len(parents) if together is None else together, pools, 0.0)
    roots = [node for node, ps in enumerate(parents) if not ps and not state.together[node]]
    others = {*range(len(parents))}.difference(roots)
    score = roots_score(plan, pools, roots) + sum(worth_of(plan, state, node) for node in sorted(others))
    if not all(_is_allowed(plan, root, ()) for root in roots):
        score = -np.inf
    score -= plan.indifference * sum(map(len, parents))  # of graphs that fit an exact law alike, the simplest
    if not plan.observed.is_exact:
        score -= sum(pool.cost(plan.penalty) for pool in pools.values() if pool.n_parents)
        score -= plan.degrees_cost([len(ps) for ps in parents])
    return replace(state, score=score)


def worth_of(plan: Plan, state: State, child: int) -> float:
    """What the parents of one node, or its being a root, are worth: the gain less the price of the choice."""
    parents, block = state.parents[child], state.together[child]
    if not _is_allowed(plan, child, parents):
        return -np.inf
    if block:
        n_open = len(joinable(plan, child, open_blocks(plan, state, child)))
        return together_gain(plan, state.block_laws(plan), child, block) - plan.order_cost(log(max(n_open, 1)))
    if not parents:
        return as_root(plan, state.pools, child).worth
    pool = state.pools.get(key_of(plan.observed, plan.labels, parents, child))
    if pool is None:
        return -np.inf
    gains = gain_table(plan.observed, child, pool.seen)
    gain = family_gain(plan.family(child, parents), gains)
    price = plan.choice_cost(child, len(parents)) + plan.gap_cost(child, parents)
    return gain - price - plan.order_cost(pool.order_cost)


def _is_allowed(plan: Plan, child: int, parents: tuple[int, ...]) -> bool:
    """Whether the plan allows these parents: a start may leave out what it demands, but no search may end there."""
    return len(parents) in plan.degrees_of(child) and {*plan.candidates.required[child]} <= {*parents}
