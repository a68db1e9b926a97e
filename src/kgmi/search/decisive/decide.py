"""``decide``: the graph of a clear case, or None where a search is needed."""

from __future__ import annotations

import numpy as np

from kgmi.counts.bits import RowCounts
from kgmi.counts.tally import Tally, all_sets
from kgmi.guides.likelihood import Likelihood
from kgmi.search.alternate import State
from kgmi.search.decisive.compiled import compiled_scan
from kgmi.search.decisive.evidence import Evidence, gather_evidence
from kgmi.search.decisive.margins import least_margin
from kgmi.search.decisive.roots import Roots, place_roots
from kgmi.search.decisive.rows import few_counts
from kgmi.search.decisive.scan import Scan
from kgmi.search.decisive.shared import SharedKernel, heaviest_tail, share_kernel
from kgmi.search.decisive.tiny import TinyScan
from kgmi.search.found import Found, Share
from kgmi.search.plan import Plan
from kgmi.search.root_laws import roots_score

__all__ = ["decide"]

_CLEAR = 10.0  # nats by which everything must be better than what else there is
_TURNED = 5.0  # nats by which the order of the parents of every node must be better than the other
_MOST_STATES = 8  # from where on bits are no longer the quickest way to count
_TINY = 16  # columns, all families of which are counted at once
_MOST_CELLS = 5_000_000  # of all families that were counted before, of which there are some copies


def decide(plan: Plan, share: Share) -> Found | None:
    """Parents and one kernel where all nodes agree on it and none of them hesitates; None where one does.

    Every node with two parents must prefer them, under the shared kernel, to whatever any other parents could gain
    with a kernel of their own; that bounds what they gain under any shared one. No class of nodes may follow the
    kernel so badly that another kernel could pay for itself. The others must be roots beyond doubt, not only each
    but also all of them together.
    """
    if not _may_be_clear(plan, share):
        return None
    scan = _scan_of(plan)
    if scan is None:
        return None
    evidence = gather_evidence(plan, scan)
    if len(evidence.children) < 2 or not len(evidence.rest):
        return None
    shared = share_kernel(plan, evidence)
    if shared.turn_margin < _TURNED:
        return None
    roots = place_roots(plan, evidence, shared)
    margin = least_margin(plan, evidence, shared, roots, _CLEAR)
    if margin < _CLEAR or _has_classes(evidence, shared):
        return None
    return _found(plan, share, evidence, shared, roots, margin)


def _may_be_clear(plan: Plan, share: Share) -> bool:
    """Whether this is a plan that the quick look covers."""
    observed = plan.observed
    return (
        share in ("auto", "shared")
        and plan.n_heads == 2
        and isinstance(plan.guide, Likelihood)
        and not plan.known
        and not plan.is_open
        and plan.n_open is None
        and plan.error == 0
        and plan.roots is None
        and plan.search in ("auto", "lists", "exhaustive")
        and isinstance(observed, Tally | RowCounts)
        and getattr(observed, "weights", None) is None
        and len(set(observed.alphabets)) == 1
        and 2 <= observed.sizes[0] <= _MOST_STATES
        and len(set(plan.labels)) == 1
        and plan.candidates.is_full
        and plan.candidates.rules.only_children is None
        and not observed.has_gaps
    )


def _scan_of(plan: Plan) -> Scan | None:
    """Return a scan of the families; None where a column lacks a state, or families were not all counted."""
    counts = plan.observed
    if isinstance(counts, Tally):
        if counts.width < 3 or not counts.is_complete or len(counts.cells) > _MOST_CELLS:
            return None
        scan: Scan = TinyScan(few_counts(counts), counts.tables(all_sets(counts.n_nodes, 3).astype(np.int64)))
    else:
        assert isinstance(counts, RowCounts)
        scan = compiled_scan(counts)
        if counts.n_nodes <= _TINY:
            scan = TinyScan(scan.rows, scan.tables(all_sets(counts.n_nodes, 3).astype(np.int64)))
    return None if scan.rows.singles.min() == 0 else scan


def _has_classes(evidence: Evidence, shared: SharedKernel) -> bool:
    """Whether some nodes follow the kernel so badly that another one could pay for itself."""
    n_states = evidence.scan.rows.n_states
    children = evidence.children
    misfits = evidence.pair_gains[children] - shared.gains
    prices = evidence.pair_gains[children] - evidence.choices[children, 2] - evidence.values[children, 2]
    return heaviest_tail(misfits, n_states**2 * (n_states - 1), float(prices.min())) > 0


def _found(
    plan: Plan, share: Share, evidence: Evidence, shared: SharedKernel, roots: Roots, margin: float
) -> Found | None:
    """The result, scored as in :func:`kgmi.search.alternate.state_of`; None if a kernel for each node is better."""
    children, rows = evidence.children, evidence.scan.rows
    worth = shared.gains - evidence.choices[children, 2] - shared.pool.order_cost
    drawn = [node for node in evidence.rest.tolist() if roots.together[node]]
    alone_roots = [node for node in evidence.rest.tolist() if not roots.together[node]]
    score = float(worth.sum() + roots.worth[drawn].sum()) + roots_score(plan, shared.pools, alone_roots)
    score -= shared.pool.cost(plan.penalty)
    score -= plan.degrees_cost([len(parents) for parents in shared.parents])
    alone = None
    if share == "auto":
        degrees = evidence.degrees
        alone = float(evidence.values[np.arange(rows.n_nodes), degrees].sum()) - plan.degrees_cost(degrees.tolist())
        if score < alone + _CLEAR:
            return None
    state = State(shared.parents, roots.together, shared.pools, score, rounds=1, settled=True)
    heads = evidence.scan.head_sums(shared.families, shared.logs)
    heads -= rows.alone[:, None]
    return Found(plan, state, True, score, alone, 1, score, clear=margin, heads=heads)
