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
_LEAST = 1e-9  # difference of scores in exact arithmetic that is none


def edge_strengths(learned: Learned, certificate: Certificate | None) -> dict[tuple[str, str], Strength]:
    """The strength of every edge (parent, child), by name.

    An edge is certain where it is certified. It is clear where its head prefers the parent to every other
    candidate by log 20 nats and log T more, so that a candidate that is best by chance among T is rarely called
    so; a parent that was the only candidate, or was found one by one, must pay for its parameters by as much.
    """
    certain = set() if certificate is None else {*certificate.edges}
    nats, needed = _nats(learned), _ODDS + np.log(learned.n_nodes)
    of_pairs = learned.configuration.get("guide") not in SEARCHING
    found: dict[tuple[str, str], Strength] = {}
    for parent, child in learned.dag.edges:
        edge = (learned.names[parent], learned.names[child])
        head = int(learned.attention[:, child, parent].argmax())
        margin = nats[head, child]
        if np.isposinf(margin) or of_pairs:
            margin = min(margin, _gain(learned, parent, child))
        found[edge] = "certain" if edge in certain else "clear" if margin > needed else "weak"
    return found


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


def _gain(learned: Learned, parent: int, child: int) -> float:
    """Nats that a parent adds to the other parents of its child, less the price of a kernel of its own.

    Infinite for an exact law, and minus infinity where the rows are not at hand.
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
    given = _joined(rows, others)
    with_parent = _joined(np.column_stack([given, rows[:, parent]]), [0, 1])
    fitted = _log_likelihood(with_parent, rows[:, child]) - _log_likelihood(given, rows[:, child])
    free = (with_parent.max() - given.max()) * (len(np.unique(rows[:, child])) - 1)
    return float(fitted - 0.5 * free * np.log(len(rows)))


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
