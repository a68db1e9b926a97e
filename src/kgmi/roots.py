"""Which nodes are roots: those that depend on no earlier node."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kgmi.divergence import DIVERGENCES
from kgmi.errors import SettingError
from kgmi.guides.information import mutual_information
from kgmi.joint import PairJoint, PairMixture

__all__ = ["find_roots"]

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
    information = mutual_information(joint, DIVERGENCES["kl"])
    bound = np.full(information.shape, _EXACT_ZERO)
    if joint.n_rows is not None:
        free = (joint.marginal > 0).sum(axis=1) - 1
        pairs = joint.n_nodes * (joint.n_nodes - 1) / 2
        degrees = np.maximum(np.outer(free, free), 1)
        bound = np.empty(degrees.shape)
        for degree in np.unique(degrees).tolist():  # few different ones, and each quantile is a search
            bound[degrees == degree] = _quantile(degree, level / max(pairs, 1)) / (2 * joint.n_rows)
    return tuple(int(node) for node in np.flatnonzero(~(information > bound).any(axis=1)))
