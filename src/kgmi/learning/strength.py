"""How strong the evidence for each edge is: certain, clear or weak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from kgmi.certify import Certificate
from kgmi.divergence import DIVERGENCES
from kgmi.learning.settings import SEARCHING
from kgmi.types import Codes, Floats, Ints

if TYPE_CHECKING:
    from kgmi.learning.learned import Learned

__all__ = ["Strength", "edge_strengths"]

Strength = Literal["certain", "clear", "weak"]

_ODDS = np.log(20.0)  # against the next candidate, after all candidates of all nodes were looked at
_SHARERS = 3  # nodes from which on a kernel is hardly fitted to one of them
_MOST_LOOKED_AT = 100_000_000  # cells, for one edge: about a second
_LEAST = 1e-9  # difference of scores in exact arithmetic that is none


def edge_strengths(learned: Learned, certificate: Certificate | None) -> dict[tuple[str, str], Strength]:
    """The strength of every edge (parent, child), by name.

    An edge is certain where it is certified. It is clear where its head prefers the parent to every other
    candidate by log 20 nats and log T more, so that a candidate that is best by chance among T is rarely called
    so. Where the margin of the head says too much, because the kernel was fitted to hardly more than this child,
    or says nothing, because there was no other candidate or candidates were looked at one by one, the parent must
    be better by as much than each other candidate, and than none, with a kernel fitted to each of them.
    """
    certain = set() if certificate is None else {*certificate.edges}
    nats, needed = _nats(learned), _ODDS + np.log(learned.n_nodes)
    trained = _well_trained(learned)
    found: dict[tuple[str, str], Strength] = {}
    for parent, child in learned.dag.edges:
        edge = (learned.names[parent], learned.names[child])
        head = int(learned.attention[:, child, parent].argmax())
        margin = nats[head, child]
        if edge not in certain and (np.isposinf(margin) or child not in trained):
            margin = min(margin, _own_margin(learned, head, parent, child))
        found[edge] = "certain" if edge in certain else "clear" if margin > needed else "weak"
    return found


def _well_trained(learned: Learned) -> set[int]:
    """Children whose kernel was known beforehand, or learned from several of them, so that margins can be taken."""
    guide = learned.configuration.get("guide")
    if guide not in SEARCHING:
        return set()
    if guide != "likelihood":
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


def _own_margin(learned: Learned, head: int, parent: int, child: int) -> float:
    """Nats (less half of log N a parameter) by which the parent is better than no or any other candidate.

    Beside the other parents of the child, and with a kernel fitted to each. Infinite for an exact law, and minus
    infinity where the rows are not at hand.
    """
    if learned.configuration.get("n_rows") is None:
        return float("inf")
    if learned.witness is None or learned.witness.data.table is None:
        return float("-inf")
    codes = learned.witness.data.table.codes
    others = [node for node in learned.dag.parents[child] if node != parent]
    rows = codes[(codes[:, [parent, child, *others]] >= 0).all(axis=1)]
    if not len(rows):
        return float("-inf")
    given, states = _joined(rows, others), rows[:, child]
    best = _score(given, rows[:, parent], states)
    margin = best - _score(given, np.zeros(len(rows), dtype=np.int64), states)
    open_to = np.flatnonzero(~np.isnan(learned.scores[head, child]))
    for candidate in open_to if len(open_to) * rows.size < _MOST_LOOKED_AT else ():
        seen = rows[:, candidate] >= 0
        if candidate not in (parent, *others) and seen.all():
            margin = min(margin, best - _score(given, rows[:, candidate], states))
    return margin


def _score(given: Ints, candidate: Codes, states: Codes) -> float:
    """Log-likelihood of the states, each with its share among rows alike in the others, less the price of that."""
    groups = _joined(np.column_stack([given, candidate]), [0, 1])
    free = (int(groups.max()) + 1) * (len(np.unique(states)) - 1)
    return _log_likelihood(groups, states) - 0.5 * free * float(np.log(len(states)))


def _joined(rows: Codes, columns: list[int]) -> Ints:
    """A number for every combination of states that occurs."""
    if not columns:
        return np.zeros(len(rows), dtype=np.int64)
    return np.unique(rows[:, columns], axis=0, return_inverse=True)[1].reshape(-1)


def _log_likelihood(given: Ints, states: Codes) -> float:
    """Of the states, each with the share that it has among the rows of its group."""
    _, cell, counts = np.unique(np.column_stack([given, states]), axis=0, return_inverse=True, return_counts=True)
    shares = counts[cell.reshape(-1)] / np.bincount(given)[given]
    return float(np.log(shares).sum())
