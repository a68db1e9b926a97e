"""Roots that are drawn together: the law of their block follows from the kernel, so it costs no parameters.

The first K nodes of a component may be drawn from the stationary law M_π (docs/method.md). Such roots depend on
each other, and without this they would be taken for parent and child.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from kgmi.errors import KernelError
from kgmi.guides.likelihood import Likelihood, family_gain, gain_table
from kgmi.kernel.stationary import stationary_law
from kgmi.search.implied import largest_tables, with_fewer_parents
from kgmi.search.plan import Plan
from kgmi.search.pools import Key, Pool, key_of
from kgmi.types import Floats

__all__ = ["Block", "begins_stage", "best_block", "block_laws", "joinable", "still_open", "together_gain"]

Block = tuple[int, ...]
"""The earlier members of a node's root block; empty for a node that is drawn alone."""


def block_laws(plan: Plan, pools: dict[Key, Pool]) -> dict[Key, list[Floats]]:
    """Return the laws [earlier members …, next member] that the largest kernels imply.

    The key names the alphabet of the members, and has as many places for parents as there are earlier members.
    Every order of the parents gives one law.
    """
    if plan.candidates.rules.only_children is not None:  # the others are what came before, not roots
        return {}
    if plan.is_open:  # which roots come first is not known yet
        return {}
    laws: dict[Key, list[Floats]] = {}
    for key, tables in largest_tables(plan, pools).items():
        for table in tables:
            try:
                stationary, _ = stationary_law(table)
            except KernelError:  # zeros in the kernel trap the chain: no such law
                continue
            for size in range(1, plan.n_heads):
                laws.setdefault(with_fewer_parents(key, size), []).append(_next_given_earlier(stationary, size))
    return laws


def _next_given_earlier(stationary: Floats, size: int) -> Floats:
    joint = stationary.sum(axis=tuple(range(size + 1, stationary.ndim)))
    total = joint.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(joint, total, out=np.full(joint.shape, 1 / joint.shape[-1]), where=total > 0))


def begins_stage(plan: Plan, node: int) -> bool:
    """Whether the node comes after the one before it: inside a tier nobody does, and none closes a block there."""
    stages, order = plan.candidates.rules.stages, plan.candidates.order
    return node > 0 and bool(stages[order[node]] != stages[order[node - 1]])


def still_open(blocks: Sequence[Block], parents: Sequence[int]) -> list[Block]:
    """Blocks that a later root may join after nodes with these parents: what is drawn together is drawn first."""
    return [block for block in blocks if not {*block} & {*parents}]


def together_gain(plan: Plan, laws: dict[Key, list[Floats]], child: int, block: Block) -> float:
    """Gain of drawing a root together with earlier ones, under the law that suits it best."""
    counts = plan.family(child, block)
    suited = laws.get(key_of(plan.observed, plan.labels, block, child), ())
    options = [family_gain(counts, gain_table(plan.observed, child, law)) for law in suited]
    price = plan.order_cost(log(max(len(options), 1))) + plan.gap_cost(child, block)
    return max(options, default=-np.inf) - price


def joinable(plan: Plan, child: int, blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks of the child's alphabet that are not full and that the child may depend on."""
    may, alphabets = plan.candidates.may_be_drawn_with, plan.observed.alphabets
    return [
        block
        for block in blocks
        if len(block) < plan.n_heads
        and all(alphabets[one] == alphabets[child] and may(child, one) for one in block)
        and plan.observed.holds((*block, child))
    ]


def best_block(
    plan: Plan, laws: dict[Key, list[Floats]], child: int, blocks: Sequence[Block]
) -> tuple[float, Block] | None:
    """The block among those that are open to which the child, as a root, is best added; with its worth in nats."""
    may_join = joinable(plan, child, blocks)
    open_to = [block for block in may_join if key_of(plan.observed, plan.labels, block, child) in laws]
    if not open_to:
        return None
    short = _promising(plan, laws, child, open_to)
    worth, block = max((together_gain(plan, laws, child, b), b) for b in short)
    return worth - plan.order_cost(log(len(open_to))), block


def _promising(plan: Plan, laws: dict[Key, list[Floats]], child: int, blocks: Sequence[Block]) -> set[Block]:
    """Single roots, of which there may be hundreds, are scored all at once; one for each law is enough."""
    alone = np.array([block[0] for block in blocks if len(block) == 1], dtype=np.int64)
    keep = {block for block in blocks if len(block) > 1}
    if len(alone):
        guide = Likelihood(plan.observed)
        for law in laws[key_of(plan.observed, plan.labels, alone[:1].tolist(), child)]:
            gains = guide.singles(child, guide.prepare(child, law), alone)
            keep.add((int(alone[int(gains.argmax())]),))
    return keep
