"""From attention to a graph: which candidates are parents."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Literal

import numpy as np

from kgmi.errors import GraphError, SettingError
from kgmi.graph import Dag
from kgmi.types import Attention, Bools, Floats

__all__ = ["DecodeRule", "decode"]

DecodeRule = Literal["argmax", "concentrated", "each"]

_FLAT = 1e-9  # spread of attention below which a column has not moved from uniform


def decode(
    attention: Attention,
    *,
    rule: DecodeRule = "argmax",
    threshold: float = 0.5,
    roots: Collection[int] | None = None,
) -> Dag:
    """Read the graph off the attention.

    Parameters
    ----------
    attention
        [head, child, candidate], zero where the candidate does not come before the child.
    rule
        ``argmax``: in-degree is 0 or K. Each head names its most attended candidate; a node with fewer than
        K candidates is a root. ``concentrated``: in-degree is 0..K (appendix A). Only heads with more than
        ``threshold`` of their attention on one candidate name it. Heads that agree name one parent, so
        collapsed heads show as fewer parents. A head that is tied names nobody, unless as many heads as
        candidates share one and the same tie (the parents of a symmetric kernel): these name them all.
        ``each``: every head that has candidates names its most attended one, however many heads a node uses.
    threshold
        For ``concentrated``.
    roots
        Nodes known to be roots; their heads are ignored. By default those whose heads are all uniform.
    """
    _check(attention, rule, threshold)
    n_heads, n_nodes, _ = attention.shape
    if not set(roots or ()) <= set(range(n_nodes)):
        raise SettingError(f"roots must be nodes 0..{n_nodes - 1}, got {sorted(roots or ())}")
    top = attention.max(axis=-1)
    best = _most_attended(attention, top)
    sure = (top > (threshold if rule == "concentrated" else 0.0)).T.tolist()
    known = _flat_nodes(attention, top) if roots is None else set(roots)
    parents: list[list[int]] = []
    for child in range(n_nodes):
        is_root = child in known or child == 0 or (rule == "argmax" and child < n_heads)
        parents.append([] if is_root else _named(best[child], sure[child]))
    return Dag(parents)


def _most_attended(attention: Attention, top: Floats) -> list[list[list[int]]]:
    """[child][head]: the candidates with the most attention, none where they are more than all heads could name."""
    n_heads, n_nodes, _ = attention.shape
    before = _before(n_nodes)
    best: list[list[list[int]]] = [[[] for _ in range(n_heads)] for _ in range(n_nodes)]
    # All heads at once: NumPy calls per column would cost more than everything else on small graphs.
    near = attention >= (top - _FLAT)[..., None]
    near &= before
    near[np.count_nonzero(near, axis=-1) > n_heads] = False
    for place in np.flatnonzero(near).tolist():
        column, candidate = divmod(place, n_nodes)
        head, child = divmod(column, n_nodes)
        best[child][head].append(candidate)
    return best


@lru_cache(maxsize=4)
def _before(n_nodes: int) -> Bools:
    """[child, candidate]: whether the candidate comes before the child; not to be changed."""
    return np.tri(n_nodes, k=-1, dtype=bool)


def _flat_nodes(attention: Attention, top: Floats) -> set[int]:
    """Nodes with two candidates or more to all of which all heads attend alike."""
    before = _before(attention.shape[-1])
    spread = top - np.where(before, attention, np.inf).min(axis=-1)
    return {int(node) for node in np.flatnonzero((spread <= _FLAT).all(axis=0)) if node > 1}


def _named(best: list[list[int]], sure: list[bool]) -> list[int]:
    """Parents that the heads of one child name, in the order of the heads."""
    named: list[int] = []
    for candidates, heard in zip(best, sure, strict=True):
        if heard and len(candidates) <= best.count(candidates):
            named += candidates
    return list(dict.fromkeys(named))


def _check(attention: Attention, rule: str, threshold: float) -> None:
    if attention.ndim != 3 or attention.shape[1] != attention.shape[2] or attention.shape[0] < 1:
        raise GraphError(f"attention must have shape [head, child, candidate], got {attention.shape}")
    if not np.isfinite(attention).all():
        raise GraphError("attention has NaN or infinite entries, so no graph can be read off it")
    if ((attention > 0) & ~_before(attention.shape[-1])).any():
        raise GraphError(
            "a head attends to a node that does not come before the child, which could close a cycle; "
            "mask the candidates first (kgmi.attention.masked_softmax)"
        )
    if rule not in ("argmax", "concentrated", "each"):
        raise SettingError(f"the decoding rule must be 'argmax', 'concentrated' or 'each', got {rule!r}")
    if not 0 <= threshold < 1:
        raise SettingError(f"the threshold must lie in [0, 1), got {threshold}")
