"""From attention to a graph: which candidates are parents, and which nodes are roots."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np

from kgmi.divergence import DIVERGENCES
from kgmi.errors import GraphError, SettingError
from kgmi.graph import Dag
from kgmi.guides.information import mutual_information
from kgmi.joint import PairJoint
from kgmi.types import Attention

__all__ = ["DecodeRule", "decode", "find_roots"]

DecodeRule = Literal["argmax", "concentrated"]

_FLAT = 1e-9  # spread of attention below which a column has not moved from uniform
_EXACT_ZERO = 1e-12  # mutual information of independent nodes in exact arithmetic


def decode(
    attention: Attention,
    *,
    rule: DecodeRule = "argmax",
    threshold: float = 0.5,
    roots: Collection[int] = (),
) -> Dag:
    """Read the graph off the attention.

    Parameters
    ----------
    attention
        [head, child, candidate], zero where the candidate does not come before the child.
    rule
        ``argmax``: in-degree is 0 or K. Each head names its most attended candidate; a node with fewer than
        K candidates, or whose heads are all uniform, is a root. ``concentrated``: in-degree is 0..K
        (appendix A). Only heads with more than ``threshold`` of their attention on one candidate name it.
        Heads that agree name one parent, so collapsed heads show as fewer parents.
    threshold
        For ``concentrated``.
    roots
        Nodes known to be roots; their heads are ignored.
    """
    _check(attention, rule, threshold)
    n_heads, n_nodes, _ = attention.shape
    if not set(roots) <= set(range(n_nodes)):
        raise SettingError(f"roots must be nodes 0..{n_nodes - 1}, got {sorted(roots)}")
    parents: list[list[int]] = []
    for child in range(n_nodes):
        columns = attention[:, child, :child]
        if child in roots or child == 0 or (rule == "argmax" and child < n_heads):
            parents.append([])
            continue
        if rule == "argmax":
            flat = child > 1 and bool((np.ptp(columns, axis=1) <= _FLAT).all())
            speaks = np.full(n_heads, not flat)
        else:
            speaks = columns.max(axis=1) > threshold
        named = [int(column.argmax()) for column, heard in zip(columns, speaks, strict=True) if heard]
        parents.append(list(dict.fromkeys(named)))
    return Dag(parents)


def find_roots(joint: PairJoint, level: float = 0.01) -> tuple[int, ...]:
    """Nodes that are independent of every earlier node.

    Exact joints: no mutual information. Counted joints: no candidate passes the G-test of independence at
    ``level``, divided by the number of pairs of nodes tested. Node 0 is always a root.
    """
    if not 0 < level < 1:
        raise SettingError(f"the level of the root test must lie between 0 and 1, got {level}")
    best = np.nan_to_num(mutual_information(joint, DIVERGENCES["kl"]), nan=-np.inf).max(axis=1)
    if joint.n_rows is None:
        bound = np.full(joint.n_nodes, _EXACT_ZERO)
    else:
        from scipy.special import chdtri  # quantile of the chi-square tail; scipy.stats is slow to load

        pairs = joint.n_nodes * (joint.n_nodes - 1) / 2
        bound = np.full(joint.n_nodes, chdtri((joint.n_states - 1) ** 2, level / pairs) / (2 * joint.n_rows))
    return tuple(int(node) for node in np.flatnonzero(best <= bound))


def _check(attention: Attention, rule: str, threshold: float) -> None:
    if attention.ndim != 3 or attention.shape[1] != attention.shape[2] or attention.shape[0] < 1:
        raise GraphError(f"attention must have shape [head, child, candidate], got {attention.shape}")
    if not np.all(np.isfinite(attention)):
        raise GraphError("attention has NaN or infinite entries, so no graph can be read off it")
    if np.any(np.triu(np.ones(attention.shape[1:], dtype=bool)) & (attention > 0)):
        raise GraphError(
            "a head attends to a node that does not come before the child, which could close a cycle; "
            "mask the candidates first (kgmi.attention.masked_softmax)"
        )
    if rule not in ("argmax", "concentrated"):
        raise SettingError(f"the decoding rule must be 'argmax' or 'concentrated', got {rule!r}")
    if not 0 <= threshold < 1:
        raise SettingError(f"the threshold must lie in [0, 1), got {threshold}")
