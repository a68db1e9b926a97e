"""Which nodes are roots: those that depend on no earlier node."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kgmi.errors import SettingError
from kgmi.guides.information import candidate_pairs
from kgmi.joint import PairJoint, PairMixture
from kgmi.types import Bools, Floats, Ints

__all__ = ["dependent_pairs", "find_roots"]

_EXACT_ZERO = 1e-12  # mutual information of independent nodes in exact arithmetic


@lru_cache(maxsize=256)
def _quantile(degrees: int, level: float) -> float:
    """Where the tail of the chi-square law has mass ``level``."""
    from scipy.special import chdtri  # scipy.stats is slow to load

    return float(chdtri(degrees, level))


def find_roots(joint: PairJoint | PairMixture, level: float = 0.01) -> tuple[int, ...]:
    """Nodes that are independent of every earlier node.

    Exact joints: no mutual information. Counted joints: no candidate passes the G-test of independence at
    ``level``, divided by the number of pairs of nodes tested; states that a node never takes do not count.
    Joints of a random kernel: independent under each of its kernels, since the average of independent laws may
    be dependent. Node 0 is always a root.
    """
    if isinstance(joint, PairMixture):
        return tuple(sorted(set.intersection(*(set(find_roots(one, level)) for one in joint.joints))))
    if not 0 < level < 1:
        raise SettingError(f"the level of the root test must lie between 0 and 1, got {level}")
    children, candidates = candidate_pairs(joint.n_nodes)
    dependent = set(children[dependent_pairs(joint, children, candidates, level)].tolist())
    return tuple(node for node in range(joint.n_nodes) if node not in dependent)


def dependent_pairs(joint: PairJoint, children: Ints, candidates: Ints, level: float = 0.01) -> Bools:
    """[pair]: whether the two nodes depend on each other; the level is divided by the number of pairs."""
    information = _kl_information(joint.joint[children, candidates], joint.marginal, children, candidates)
    bound: float | Floats = _EXACT_ZERO
    if joint.n_rows is not None:
        free = (joint.marginal > 0).sum(axis=1) - 1
        bound = _bounds(np.maximum(free[children] * free[candidates], 1), level) / (2 * joint.n_rows)
    return np.asarray(information > bound)


def _kl_information(together: Floats, marginal: Floats, children: Ints, candidates: Ints) -> Floats:
    """Mutual information of every pair, with 0 log 0 = 0; the general f-MI takes three times as long."""
    product = marginal[children][:, :, None] * marginal[candidates][:, None, :]
    ratio = np.divide(together, product, out=np.ones(product.shape), where=together > 0)
    return np.asarray((together * np.log(ratio)).sum(axis=(1, 2)))


def _bounds(degrees: Ints, level: float) -> Floats:
    """Quantile of the G statistic of every pair at ``level`` over their number; few degrees differ."""
    out = np.empty(degrees.shape)
    for degree in set(degrees.tolist()):
        out[degrees == degree] = _quantile(degree, level / max(len(degrees), 1))
    return out
