"""Whether heads went to different candidates, in words: with plain mutual information they cannot."""

from __future__ import annotations

import numpy as np

from kgmi.learning import Learned
from kgmi.types import Bools

__all__ = ["collapsed", "heads_sentence"]

_SAME = 1e-9  # largest difference of attention that is none


def collapsed(learned: Learned) -> bool:
    """Whether all heads have the same attention on every node that has a choice."""
    choosing = _choosing(learned)
    if learned.n_heads < 2 or not choosing.any():
        return False
    attention = learned.attention[:, choosing]
    return bool(np.nanmax(np.abs(attention - attention[:1])) <= _SAME)


def heads_sentence(learned: Learned) -> str:
    """What the heads of the nodes ended on, beside each other; empty where there is one head or no choice."""
    choosing = _choosing(learned)
    n_nodes, n_heads = int(choosing.sum()), learned.n_heads
    if n_heads < 2 or not n_nodes:
        return ""
    heads = "both heads" if n_heads == 2 else f"all {n_heads} heads"
    if collapsed(learned):
        return (
            f"The heads collapsed: {heads} have exactly the same attention for all {n_nodes} nodes that have a "
            "choice, so that a second parent cannot be found this way."
        )
    best = np.nan_to_num(learned.attention[:, choosing], nan=-1.0).argmax(axis=-1)
    n_same = int((best == best[:1]).all(axis=0).sum())
    if not n_same:
        return f"Heads went separate ways: no node has {heads} on the same candidate."
    return f"{heads.capitalize()} look at the same candidate for {n_same} of {n_nodes} nodes that have a choice."


def _choosing(learned: Learned) -> Bools:
    """[node]: whether it has parents or should have, and at least two candidates."""
    several = (np.nan_to_num(learned.attention[0], nan=0.0) > 0).sum(axis=-1) > 1
    decided = np.array([bool(parents) for parents in learned.dag.parents])
    decided[list(learned.undecided)] = True
    chosen: Bools = several & decided
    return chosen
