"""Last changes of single nodes, each with the kernels estimated anew.

A kernel that was estimated with a node's present parents speaks for them. Without that node it has no opinion; and
what the others suggest is taken if the score, with the kernels that follow from it, rises.
"""

from __future__ import annotations

from dataclasses import replace

from kgmi.search.alternate import State, open_blocks, pools_of, state_of
from kgmi.search.blocks import Block, best_block
from kgmi.search.order.sweep import without_descendants
from kgmi.search.plan import Plan
from kgmi.search.tuples import options

__all__ = ["polish"]

_MOST_SWEEPS = 10
_MOST_NODES = 40  # more nodes take long, and one of many cannot bend a kernel


def polish(plan: Plan, state: State) -> State:
    """Let every node in turn choose under the kernels of the other nodes, as long as the score rises."""
    if not plan.is_small or plan.observed.n_nodes > _MOST_NODES:
        return state
    for _ in range(_MOST_SWEEPS):
        before = state
        for child in range(plan.observed.n_nodes):
            state = _changed(plan, state, child)
        if state is before:
            break
    return state


def _changed(plan: Plan, state: State, child: int) -> State:
    """The state after the best change of one node; the same where none helps."""
    others = {node: parents for node, parents in enumerate(state.parents) if node != child}
    best = state
    acyclic = without_descendants(plan, state.parents, child) if plan.is_open else plan
    apart = tuple(() if child in (*block, node) else block for node, block in enumerate(state.together))
    chosen: list[tuple[Block, Block]] = [
        (one.parents, ()) for one in options(acyclic, pools_of(plan, others), child, (), thorough=True)
    ]
    taken = {node for later in apart[child + 1 :] for node in later}
    blocks = [b for b in open_blocks(plan, replace(state, together=apart), child) if not taken & {*b}]
    joined = best_block(plan, state.block_laws(plan), child, blocks)
    if joined is not None and 0 in plan.degrees_of(child):
        chosen.append(((), joined[1]))
    for parents, block in chosen:
        if (parents, block) == (state.parents[child], state.together[child]):
            continue
        changed = (*state.parents[:child], parents, *state.parents[child + 1 :])
        together = (*apart[:child], block, *apart[child + 1 :])
        found = state_of(plan, changed, pools_of(plan, changed), together)
        if found.score > best.score + 1e-9:
            best = replace(found, rounds=state.rounds, settled=state.settled)
    return best
