"""The score table of the heads: every candidate against the parents that the other heads hold."""

from __future__ import annotations

import numpy as np

from kgmi.guides.likelihood import Likelihood
from kgmi.progress import tick
from kgmi.search.found import Found
from kgmi.search.gaps import lead_of
from kgmi.search.own import OwnSearch
from kgmi.search.tuples import head_scores
from kgmi.types import Floats, Ints, ScoreTable

__all__ = ["head_table"]


def head_table(found: Found) -> ScoreTable:
    """[head, child, candidate]: the score of the candidate in the place of the head's parent.

    NaN for candidates that are not allowed or that another head holds, and where a head has no parent to look for
    because the node has fewer. Where values are missing, whoever would be above the parent is compared with it
    on common rows.
    """
    if found.heads is not None:
        return found.heads
    plan, n_nodes = found.plan, found.plan.observed.n_nodes
    table = np.full((plan.n_heads, n_nodes, n_nodes), np.nan)
    search = OwnSearch(plan.observed, plan.penalty, 1)
    for child, parents in enumerate(found.state.parents):
        tick("search", "looks")
        pool = found.pool_of(child)
        if pool is None:
            continue
        candidates = plan.candidates.of(child)
        required = plan.candidates.required[child]
        own = None if found.share == "shared" or (found.shared and pool.n_nodes > 1) else search
        alphabets = np.array(plan.observed.alphabets)
        prepared = plan.guide.prepare(child, pool.seen)
        for head, parent in enumerate(parents):
            if parent in required:
                table[head, child, parent] = 0.0  # nothing to choose
            elif own is not None:
                table[head, child] = _own_scores(own, child, parents, head, candidates, n_nodes)
            else:
                role = candidates[alphabets[candidates] == alphabets[parent]]
                table[head, child, role] = head_scores(plan, child, prepared, role, parents, head)
            if plan.observed.has_gaps and parent not in required and isinstance(plan.guide, Likelihood):
                _on_common_rows(found, table[head, child], child, head)
    return table


def _on_common_rows(found: Found, row: Floats, child: int, head: int) -> None:
    """Score whoever is above the parent, perhaps as it was seen more often, by what decided: their common rows."""
    parents = found.state.parents[child]
    own = row[parents[head]]
    for other in np.flatnonzero(row > own).tolist():
        rival = (*parents[:head], other, *parents[head + 1 :])
        lead = lead_of(found.plan, found.state, child, rival)
        row[other] = own + lead if np.isfinite(lead) else row[other]


def _own_scores(
    own: OwnSearch, child: int, parents: tuple[int, ...], head: int, candidates: Ints, n_nodes: int
) -> Floats:
    """Penalised gain, with a kernel of its own, of every candidate in the place of one parent."""
    others = tuple(sorted(p for role, p in enumerate(parents) if role != head))
    row = np.full(n_nodes, np.nan)
    nodes, values = own.extended(child, others, candidates)
    row[nodes] = values
    return row
