"""The first kernel of a search on a device: some hundred children with strong evidence, roles aligned."""

from __future__ import annotations

import numpy as np

from kgmi.device.own import OwnValues
from kgmi.penalty import log_choices
from kgmi.types import Floats, Ints

__all__ = ["aligned", "first_counts"]

_BATCH = 256  # children whose own pairs of parents are looked at
_MOST_BATCHES = 4
_ENOUGH = 16  # children with two parents make a first kernel
_LEADS = 4  # single parents of each that are extended by a second one
_ROUNDS = 5  # of turning roles around


def first_counts(own: OwnValues, values: Floats, leads: Ints) -> tuple[Floats, int]:
    """Counts [s_1, s_2, s'] of the first kernel, and from how many children; 0 where nobody has two parents.

    ``values`` and ``leads`` are [child, rank]: the best single parents of every child.
    """
    rows = own.rows
    nodes = np.arange(rows.n_nodes)
    strength = np.where(nodes >= 2, values[:, 0] - np.log(np.maximum(nodes, 1)), -np.inf)
    order = np.argsort(-strength, kind="stable")
    order = order[np.isfinite(strength[order])]
    tables, weights = [np.zeros((0,) + (rows.n_states,) * 3)], [np.zeros(0)]
    for number in range(_MOST_BATCHES):
        children = np.sort(order[number * _BATCH : (number + 1) * _BATCH])
        if not len(children) or sum(map(len, weights)) >= max(1, min(_ENOUGH, rows.n_nodes // 4)):
            break
        value, first, second = _best_pairs(own, children, leads)
        choices = np.array([log_choices(int(child), 2) for child in children])
        paid = value - choices
        good = paid > np.maximum(strength[children], 0.0)
        tables.append(rows.tables(children[good], first[good], second[good]))
        weights.append(paid[good])
    counts, strengths = np.concatenate(tables), np.concatenate(weights)
    if not len(counts):
        return np.zeros((rows.n_states,) * 3), 0
    return aligned(counts[np.argsort(-strengths, kind="stable")]).sum(axis=0), len(counts)


def _best_pairs(own: OwnValues, children: Ints, leads: Ints) -> tuple[Floats, Ints, Ints]:
    """[child]: value, lead and second parent of the best pair that extends one of the leads."""
    best = np.full(len(children), -np.inf)
    first, second = np.full(len(children), -1), np.full(len(children), -1)
    for rank in range(min(_LEADS, leads.shape[1])):
        lead = leads[children, rank]
        has = lead >= 0
        value, other = np.full(len(children), -np.inf), np.full(len(children), -1)
        value[has], other[has] = own.seconds(children[has], lead[has])
        better = value > best
        best[better], first[better], second[better] = value[better], lead[better], other[better]
    return best, first, second


def aligned(counts: Floats) -> Floats:
    """Tables [family, s_1, s_2, s'] with the parents of each in the roles in which all fit one kernel best.

    Pooled as they come, half of them would have their parents the wrong way round, and the mean of a kernel and its
    mirror image guides nobody. As in :func:`kgmi.search.starts.grown`: one after the other first, then all again.
    """
    turned = counts.swapaxes(1, 2)
    out = counts.copy()
    total = counts[0].copy()
    for family in range(1, len(counts)):
        logs = _logs(total)
        if float((turned[family] * logs).sum()) > float((counts[family] * logs).sum()):
            out[family] = turned[family]
        total += out[family]
    for _ in range(_ROUNDS):
        logs = _logs(out.sum(axis=0))
        fits = np.stack([np.einsum("fabc,abc->f", one, logs) for one in (counts, turned)])
        now = np.where((fits[1] > fits[0])[:, None, None, None], turned, counts)
        if (now == out).all():
            break
        out = now
    return out


def _logs(counts: Floats) -> Floats:
    """log of the kernel that fits best, lightly smoothed."""
    overall = counts.reshape(-1, counts.shape[-1]).sum(axis=0) + 1e-9
    table = counts + overall / overall.sum()
    return np.asarray(np.log(table / table.sum(axis=-1, keepdims=True)))
