"""Counts over a family: shares with their intervals, by distance of the parents from M_π and by kind of error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from kgmi.paper.assumptions.families import Family
from kgmi.paper.assumptions.measure import DIVERGENCES, HEADS, KINDS, Seen
from kgmi.paper.experiment import Numbers

__all__ = ["EXACT", "family_numbers", "share", "text_of", "total"]

EXACT = 1e-9  # distances up to here are 0 but for rounding
_EDGES = (EXACT, 0.05, 0.1, 0.15, 0.2, 0.3, 1.0)
_Z = 1.959964  # 95 %


def share(hits: int, n: int) -> Numbers:
    """A share with its 95 % Wilson interval; an empty one is 0 of 0, with the whole interval."""
    if n == 0:
        return {"hits": 0, "n": 0, "share": 0.0, "low": 0.0, "high": 1.0}
    p, z2 = hits / n, _Z**2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * np.sqrt(p * (1 - p) / n + z2 / (4 * n**2))
    low, high = max(float(centre - half), 0.0), min(float(centre + half), 1.0)
    return {"hits": hits, "n": n, "share": p, "low": low, "high": high}


def text_of(found: Numbers, interval: bool = True) -> str:
    """A share as people read it."""
    if not found["n"]:
        return "none"
    ends = f", 95 % interval {100 * found['low']:.1f}–{100 * found['high']:.1f} %" if interval else ""
    return f"{found['hits']:,} of {found['n']:,} ({100 * found['share']:.1f} %{ends})"


def total(shares: Sequence[Numbers]) -> Numbers:
    """Several shares as one."""
    return share(sum(s["hits"] for s in shares), sum(s["n"] for s in shares))


def family_numbers(family: Family, seen: Sequence[Seen]) -> Numbers:
    """All that is reported about a family, as plain numbers."""
    columns = [column for one in seen for column in one.columns]
    distance = np.array([column.distance for column in columns])
    right = np.array([column.kind == KINDS[0] for column in columns])
    kinds = Counter(column.kind for column in columns)
    heads = Counter(kind for one in seen for kind in one.children)
    deficits = [column.deficit for column in columns if column.kind != KINDS[0]]
    graph_distance = np.array([one.distance for one in seen])
    graph_right = np.array([one.all_right() for one in seen])
    off = distance > EXACT
    # A family has its own split, or one with short distances and poor heads would turn a pooled comparison.
    split = float(np.median(distance[off])) if off.any() else 0.0
    return {
        "name": family.name,
        "label": family.label,
        "graphs": share(int(graph_right.sum()), len(seen)),
        "columns": share(int(right.sum()), len(columns)),
        "edges": share(sum(one.edges_found for one in seen), len(columns)),
        "on_condition": _where(right, ~off),
        "split": split,
        "near": _where(right, off & (distance <= split)),
        "far": _where(right, off & (distance > split)),
        "distance": {"median": float(np.median(distance)), "largest": float(distance.max())},
        "bins": _binned(distance, right),
        "graph_bins": _binned(graph_distance, graph_right),
        "kinds": {kind: kinds[kind] for kind in KINDS},
        "children": {kind: heads[kind] for kind in HEADS},
        "deficit": float(np.median(deficits)) if deficits else 0.0,
        "divergences": {
            name: {
                "graphs": share(sum(one.all_right(name) for one in seen), len(seen)),
                "columns": share(sum(one.columns_right[name] for one in seen), len(columns)),
            }
            for name in DIVERGENCES
        },
    }


def _where(right: np.ndarray, mask: np.ndarray) -> Numbers:
    return share(int(right[mask].sum()), int(mask.sum()))


def _binned(distance: np.ndarray, right: np.ndarray) -> list[Numbers]:
    """Shares by distance; the first bin is distance 0. Empty bins are left out."""
    bins = []
    for low, high in zip((-1.0, *_EDGES[:-1]), _EDGES, strict=True):
        inside = (distance > low) & (distance <= high)
        if inside.any():
            middle = 0.0 if high == EXACT else float(distance[inside].mean())
            ends = {"from": max(low, 0.0) if low > EXACT else 0.0, "to": high if high > EXACT else 0.0}
            bins.append({**ends, "distance": middle, **_where(right, inside)})
    return bins
