"""The guide ``contextual`` from counts of pairs only: one or two heads, the kernel known, no likelihood."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from kgmi.candidates import Candidates
from kgmi.errors import SettingError
from kgmi.guides.contextual import Contextual
from kgmi.joint import PairJoint
from kgmi.problem import Family, SearchMode
from kgmi.types import Floats, Ints, Parents, ScoreTable

__all__ = ["PairsFound", "search_pairs"]


@dataclass(frozen=True, eq=False)
class PairsFound:
    """Parents of all nodes, the scores of the heads, and how the rounds ended."""

    parents: Parents
    heads: ScoreTable
    rounds: int
    settled: bool


def search_pairs(
    joint: PairJoint,
    kernel: Floats,
    start: ScoreTable,
    candidates: Candidates,
    roots: Collection[int],
    search: SearchMode,
    rounds: int,
) -> PairsFound:
    """Return parents of every node that is no root; ``start`` is a score table from which the heads begin."""
    n_heads, n_nodes = kernel.ndim - 1, joint.n_nodes
    if n_heads > 2:
        raise SettingError(
            "the guide 'contextual' with three or more parents needs the rows, not only pair statistics"
        )
    guide = Contextual(joint)
    table = np.full((n_heads, n_nodes, n_nodes), np.nan)
    found: list[Family] = []
    most, settled = 1, True
    for child in range(n_nodes):
        allowed = candidates.of(child)
        if child in roots or len(allowed) < n_heads:
            found.append(())
            continue
        if search == "heads":
            parents, used, done = _by_heads(guide, child, kernel, allowed, _first(start[:, child], allowed), rounds)
            most, settled = max(most, used), settled and done
        else:
            parents = _jointly(guide, child, kernel, allowed)
        found.append(parents)
        for head in range(n_heads):
            table[head, child, allowed] = _scores(guide, child, kernel, allowed, parents, head)
    return PairsFound(tuple(found), table, most, settled)


def _first(start: Floats, allowed: Ints) -> Family:
    """Return the best candidate of each head that no earlier head holds."""
    parents: list[int] = []
    for row in start:
        order = allowed[np.argsort(-row[allowed], kind="stable")]
        parents.append(next(int(node) for node in order if node not in parents))
    return tuple(parents)


def _by_heads(
    guide: Contextual, child: int, kernel: Floats, allowed: Ints, parents: Family, rounds: int
) -> tuple[Family, int, bool]:
    """Re-guide one head after the other with the others' parents until none moves."""
    for number in range(1, rounds + 1):
        before = parents
        for head in range(len(parents)):
            best = int(allowed[int(np.nanargmax(_scores(guide, child, kernel, allowed, parents, head)))])
            parents = (*parents[:head], best, *parents[head + 1 :])
        if parents == before:
            return parents, number, True
    return parents, rounds, False


def _jointly(guide: Contextual, child: int, kernel: Floats, allowed: Ints) -> Family:
    if kernel.ndim == 2:
        return (int(allowed[int(guide.head(child, kernel, (-1,), 0, allowed).argmax())]),)
    scores = guide.joint_scores(child, kernel, allowed, allowed)
    np.fill_diagonal(scores, -np.inf)
    first, second = divmod(int(scores.argmax()), len(allowed))
    return int(allowed[first]), int(allowed[second])


def _scores(guide: Contextual, child: int, kernel: Floats, allowed: Ints, parents: Family, head: int) -> Floats:
    """Return the scores of a head's candidates, NaN for the parents that other heads hold."""
    scores = np.array(guide.head(child, kernel, parents, head, allowed))
    scores[np.isin(allowed, [p for role, p in enumerate(parents) if role != head])] = np.nan
    return scores
