"""The best candidates of every head of every node."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.learning import Learned

__all__ = ["MOST_CANDIDATES", "best_candidates"]

MOST_CANDIDATES = 8
"""Candidates that are shown of a head."""


def best_candidates(learned: Learned) -> list[list[dict[str, Any]]]:
    """[node]: a list of its heads that had candidates, best candidates first.

    Each has the number of the ``head`` (from 1), its ``margin``, how many candidates there were (``of``), and
    ``list``: rows [candidate, score, attention].
    """
    margins = learned.margins
    found: list[list[dict[str, Any]]] = []
    for child in range(learned.n_nodes):
        heads = []
        for head in range(learned.n_heads):
            scores = learned.scores[head, child]
            open_to = np.flatnonzero(~np.isnan(scores))
            if not len(open_to):
                continue
            best = open_to[np.argsort(-scores[open_to], kind="stable")[:MOST_CANDIDATES]]
            attention = learned.attention[head, child]
            heads.append(
                {
                    "head": head + 1,
                    "margin": float(margins[head, child]),
                    "of": len(open_to),
                    "list": [[int(one), float(scores[one]), float(attention[one])] for one in best],
                }
            )
        found.append(heads)
    return found
