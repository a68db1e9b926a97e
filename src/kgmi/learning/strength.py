"""How strong the evidence for each edge is: certain, clear or weak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from kgmi.certify import Certificate
from kgmi.counts.tally import Tally
from kgmi.divergence import DIVERGENCES
from kgmi.learning.settings import SEARCHING
from kgmi.types import Codes, Floats, Ints

if TYPE_CHECKING:
    from kgmi.learning.learned import Learned

__all__ = ["Strength", "edge_strengths", "required_edges", "surely_dependent"]

Strength = Literal["certain", "clear", "weak"]

_ODDS = np.log(20.0)  # against the next candidate, after all candidates of all nodes were looked at
_SHARERS = 3  # nodes from which on a kernel is hardly fitted to one of them
_MOST_LOOKED_AT = 200_000_000  # cells of all edges together: some seconds
_LEAST_RIVALS = 5
_SURE = 1 / 299  # p-value of the rows check: all of its 300 or more orders are less extreme
_LEAST = 1e-9  # difference of scores in exact arithmetic that is none


def edge_strengths(learned: Learned, certificate: Certificate | None) -> dict[tuple[str, str], Strength]:
    """The strength of every edge (parent, child), by name.

    An edge is certain where it is certified. It is clear where its head prefers the parent to every other
    candidate by log 20 nats and log T more, so that a candidate that is best by chance among T is rarely called
    so. Where the margin of the head says too much, because the kernel was fitted to hardly more than this child or
    the edge was required, or too little, because candidates were not compared (there was none, they have other
    states, or they were looked at one by one), the parent must be better by as much than each other candidate, and
    than none, with a kernel fitted to each of them. Where rows surely depend on each other, all margins
    are too large and every edge is weak.
    """
    if surely_dependent(learned):
        return {(learned.names[parent], learned.names[child]): "weak" for parent, child in learned.dag.edges}
    asked = {*required_edges(learned)}
    certain = set() if certificate is None else {*certificate.edges} - asked
    nats, needed = _nats(learned), _ODDS + np.log(learned.n_nodes)
    trained = _well_trained(learned)
    found: dict[tuple[str, str], Strength] = {}
    for parent, child in learned.dag.edges:
        edge = (learned.names[parent], learned.names[child])
        head = int(learned.attention[:, child, parent].argmax())
        margin = nats[head, child]
        compared = np.isfinite(margin) and child in trained and not _unseen(learned, head, child).size
        if edge not in certain and (edge in asked or not compared):
            margin = min(margin, _own_margin(learned, head, parent, child))
        found[edge] = "certain" if edge in certain else "clear" if margin > needed else "weak"
    return found


def surely_dependent(learned: Learned) -> bool:
    """Whether rows depend on each other beyond doubt: no order of them that was drawn shows as much."""
    return any(
        one.name == "rows" and one.passed is False and (one.p_value or 0.0) < _SURE for one in learned.checks
    )


def required_edges(learned: Learned) -> list[tuple[str, str]]:
    """Edges (parent, child) that were asked for, by name."""
    limits = learned.configuration.get("candidates") or {}
    return [(learned.names[parent], learned.names[child]) for parent, child in limits.get("required") or ()]


def _well_trained(learned: Learned) -> set[int]:
    """Children whose kernel was known beforehand, or learned from several of them, so that margins can be taken."""
    guide = learned.configuration.get("guide")
    if guide not in SEARCHING:
        return set()
    if guide != "likelihood" or learned.configuration.get("kernel_source") == "known":
        return {*range(learned.n_nodes)}
    return {
        child for one in learned.kernels if one.known or len(one.children) >= _SHARERS for child in one.children
    }


def _nats(learned: Learned) -> Floats:
    """[head, child]: margins in nats of log-likelihood, at least about; those of the exact law are 0 or infinite.

    A score of the guides of pairs is a divergence, so N of them are about as many nats: near independence every
    f-divergence is f''(1) times the relative entropy.
    """
    margins = learned.margins
    n_rows = learned.configuration.get("n_rows")
    if n_rows is None:
        return np.where(margins > _LEAST, np.inf, 0.0)
    if learned.configuration.get("guide") == "likelihood":
        return margins
    name = str(learned.configuration.get("divergence") or "kl").removesuffix("-matched")
    curvature = DIVERGENCES[name].curvature_at_one if name in DIVERGENCES else 1.0
    return margins * (float(n_rows) / max(curvature, 1.0))


def _unseen(learned: Learned, head: int, child: int) -> Ints:
    """Candidates that the head did not score, for they have other states than its kernel takes."""
    if learned.witness is None or learned.alphabets is None:
        return np.zeros(0, dtype=np.int64)
    open_to = learned.witness.data.candidates.of(child)
    unscored = open_to[np.isnan(learned.scores[head, child, open_to])]
    rivals: Ints = unscored[~np.isin(unscored, learned.dag.parents[child])]
    return rivals


def _own_margin(learned: Learned, head: int, parent: int, child: int) -> float:
    """Nats (less half of log N a parameter) by which the parent is better than no or any other candidate.

    Beside the other parents of the child, and with a kernel fitted to each. Infinite for an exact law, and minus
    infinity where the rows are not at hand.
    """
    if learned.configuration.get("n_rows") is None:
        return float("inf")
    if learned.witness is None:
        return float("-inf")
    others = [node for node in learned.dag.parents[child] if node != parent]
    if learned.witness.data.counts is not None:
        return _counted_margin(learned, learned.witness.data.counts.tally, (head, parent, child), others)
    if learned.witness.data.table is None:
        return float("-inf")
    codes = learned.witness.data.table.codes
    rows = codes[(codes[:, [parent, child, *others]] >= 0).all(axis=1)]
    if not len(rows):
        return float("-inf")
    given, states = _joined(rows, others), rows[:, child].astype(np.int64)
    best = _score(given, rows[:, parent], states)
    rivals = [_score(given, np.zeros_like(states), states)]
    for candidate in _rivals(learned, head, child, rows.shape[0]):
        if candidate not in (parent, *others) and (rows[:, candidate] >= 0).all():
            rivals.append(_score(given, rows[:, candidate], states))
    return best - max(rivals)


def _counted_margin(learned: Learned, tally: Tally, edge: tuple[int, int, int], others: list[int]) -> float:
    """:func:`_own_margin` where there are counts instead of rows."""
    head, parent, child = edge
    if len(others) + 2 > tally.width:
        return float("-inf")
    whole = tally.table((parent, *others, child))
    own, alone = _worth(_by_state(whole)), _worth(_by_state(whole.sum(axis=0)))
    rivals = [node for node in _rivals(learned, head, child, 1).tolist() if node not in (parent, *others)]
    found = [alone]
    for node in rivals:
        if tally.has_gaps and tally.holds((parent, node, *others, child)):
            both = tally.table((parent, node, *others, child))  # compared on the same rows, as they are where none
            if both.sum() == whole.sum():  # of them lacks the value of the rival
                found.append(_worth(_by_state(both.sum(axis=0))))
        elif not tally.has_gaps and tally.holds((node, *others, child)):
            found.append(_worth(_by_state(tally.table((node, *others, child)))))
    return own - max(found)


def _by_state(counts: Ints) -> Floats:
    """Counts [configuration, state of the child]."""
    return counts.reshape(-1, counts.shape[-1]).astype(np.float64)


def _rivals(learned: Learned, head: int, child: int, n_rows: int) -> Ints:
    """Candidates to compare with: those without a score, and the best of the others, as many as time allows."""
    scores = learned.scores[head, child]
    ranked = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
    ranked = ranked[np.isfinite(scores[ranked])]
    most = max(_LEAST_RIVALS, int(_MOST_LOOKED_AT / n_rows / max(learned.dag.n_edges, 1)))
    return np.concatenate([_unseen(learned, head, child)[:most], ranked[:most]])


def _score(given: Ints, candidate: Codes, states: Ints) -> float:
    """Log-likelihood of the states, each with its share among rows alike in the others, less the price of that."""
    n_states = int(states.max()) + 1
    groups = given * (int(candidate.max()) + 1) + candidate
    counts = np.bincount(groups * n_states + states).astype(np.float64)
    return _worth(np.append(counts, np.zeros(-len(counts) % n_states)).reshape(-1, n_states))


def _worth(counts: Floats) -> float:
    """:func:`_score` of counts [configuration, state]."""
    cases = counts.sum(axis=1)
    seen = counts > 0
    fitted = (counts[seen] * np.log(counts[seen])).sum() - (cases[cases > 0] * np.log(cases[cases > 0])).sum()
    free = np.count_nonzero(cases) * (np.count_nonzero(seen.any(axis=0)) - 1)
    return float(fitted - 0.5 * free * np.log(counts.sum()))


def _joined(rows: Codes, columns: list[int]) -> Ints:
    """A number for every combination of states that occurs."""
    if not columns:
        return np.zeros(len(rows), dtype=np.int64)
    return np.unique(rows[:, columns], axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
