"""Roots: which of them share a distribution, and which are drawn together from that of a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kgmi.guides.likelihood import Likelihood, gain_table
from kgmi.problem import Key, Problem
from kgmi.score import Block, Group, drawn_gain, joinable, kernel_values, make_group, sharing_cost
from kgmi.types import Floats

__all__ = ["best_block", "root_gain", "root_groups"]

_MOST_GROUPS = 300  # that are compared two by two; more roots are put together with their likes first


def root_groups(problem: Problem, roots: Sequence[int]) -> list[Group]:
    """Return groups of roots that share a distribution wherever that is shorter, for each label and alphabet.

    There may be several shared ones, so that no edge is needed to give a column another than the rest have.
    """
    by_key: dict[Key, list[int]] = {}
    for root in roots:
        by_key.setdefault(problem.key(root, ()), []).append(root)
    kept = problem.counts.kept.setdefault(("roots", problem.penalty, problem.error), {})
    found: list[Group] = []
    for key, some in by_key.items():
        name = (key, tuple(some))
        if name not in kept:
            kept[name] = _shared(problem, some)
        found += kept[name]
    return found


def _shared(problem: Problem, roots: Sequence[int]) -> list[Group]:
    alone = [make_group(problem, {root: ()}) for root in roots]
    if problem.is_exact or problem.known or len(roots) < 2 or problem.share == "node":
        return alone
    options = [alone, [make_group(problem, dict.fromkeys(roots, ()))]]
    if len(roots) > 2:
        options.append(_agglomerated(problem, alone))
    return max(options, key=lambda groups: sum(g.value for g in groups) - sharing_cost(problem, groups))


def _agglomerated(problem: Problem, alone: list[Group]) -> list[Group]:
    """Return the groups after joining the two that gain most by it for as long as any do."""
    order = np.argsort([float(one.counts[0] / max(one.counts.sum(), 1.0)) for one in alone], kind="stable")
    parts = np.array_split(order, min(len(order), _MOST_GROUPS))
    members = [[node for place in part for node in alone[place].families] for part in parts]
    made = [make_group(problem, dict.fromkeys(nodes, ())) for nodes in members]
    counts, sizes = np.array([one.counts for one in made]), np.array([one.size for one in made])
    values = np.array([one.value for one in made])
    whole = make_group(problem, dict.fromkeys([node for nodes in members for node in nodes], ()))
    gains = np.full((len(made), len(made)), -np.inf)

    def compare(one: int, others: np.ndarray) -> Floats:
        both = kernel_values(problem, counts[others] + counts[one], sizes[others] + sizes[one], whole)
        return np.asarray(both - values[others] - values[one])

    for one in range(1, len(made)):
        gains[one, :one] = compare(one, np.arange(one))
    left = [*range(len(made))]
    while gains.max(initial=-np.inf) > 0:
        gone, stays = divmod(int(gains.argmax()), len(made))
        values[stays] += gains[gone, stays] + values[gone]
        counts[stays] += counts[gone]
        sizes[stays] += sizes[gone]
        members[stays] += members[gone]
        gains[gone], gains[:, gone] = -np.inf, -np.inf
        left.remove(gone)
        others = np.array([one for one in left if one != stays], dtype=np.int64)
        gains[np.maximum(others, stays), np.minimum(others, stays)] = compare(stays, others) if len(others) else 0.0
    return [make_group(problem, dict.fromkeys(sorted(members[one]), ())) for one in left]


def root_gain(problem: Problem, groups: Iterable[Group], child: int) -> float:
    """Return the gain of a node under the best distribution that roots share; -inf where there is none."""
    key, counts = problem.key(child, ()), problem.family(child, ())
    shared = [group for group in groups if group.key == key and group.size > 1]
    return max(
        (float((counts * gain_table(problem.counts, child, one.seen)).sum()) for one in shared), default=-np.inf
    )


def best_block(
    problem: Problem, laws: Mapping[Key, list[Floats]], child: int, blocks: Sequence[Block]
) -> tuple[float, Block] | None:
    """Return the block among those that are open to which the child is best added, and what that is worth."""
    open_to = [b for b in joinable(problem, child, blocks) if problem.key(child, b) in laws]
    if not open_to:
        return None
    alone = np.array([block[0] for block in open_to if len(block) == 1], dtype=np.int64)
    short = {block for block in open_to if len(block) > 1}
    guide = Likelihood(problem.counts)
    for law in laws[problem.key(child, alone[:1].tolist())] if len(alone) else ():
        # There may be hundreds of single roots: they are scored at once, and one for each law is enough.
        gains = guide.joint(child, guide.prepare(child, law), np.empty((1, 0), dtype=np.int64), alone)[0]
        short.add((int(alone[int(gains.argmax())]),))
    worth, block = max((drawn_gain(problem, laws, child, one), one) for one in short)
    return worth - (0.0 if problem.is_exact else float(np.log(len(open_to)))), block
