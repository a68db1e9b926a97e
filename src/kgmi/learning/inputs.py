"""What may be learned from, brought into one form."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kgmi.data import Table, check_learnable, checked_codes, default_names
from kgmi.errors import DataError, SettingError
from kgmi.guides.scores import Pairs
from kgmi.joint import PairJoint, PairMixture
from kgmi.sampling import LabelledRows
from kgmi.statistics import LabelledMoments, PairCounts, count_labelled, count_pairs
from kgmi.types import Names

__all__ = ["Input", "Source", "gather"]

Source: TypeAlias = ArrayLike | Table | LabelledRows | Pairs
"""Rows in any form, or statistics of pairs."""


@dataclass(frozen=True, eq=False)
class Input:
    """Statistics and names, whatever came in."""

    pairs: Pairs
    labelled: LabelledMoments | None
    names: tuple[str, ...]
    states: tuple[str, ...]
    fingerprint: str

    def pair_joint(self, smoothing: float) -> PairJoint:
        """One pair joint: counts smoothed, a mixture averaged."""
        if isinstance(self.pairs, PairCounts):
            return self.pairs.pair_joint(smoothing)
        return PairJoint(self.pairs.joint) if isinstance(self.pairs, PairMixture) else self.pairs


def gather(source: Source, n_states: int | None, names: Names | None, kappa: float) -> Input:
    """Check the source and count what the guides need."""
    labelled = None
    states: tuple[str, ...] | None = None
    if isinstance(source, Table):
        names, states = source.names if names is None else names, source.states
        if n_states not in (None, len(states)):
            raise SettingError(f"n_states is {n_states}, but the table has {len(states)} states")
        n_states, source = len(states), source.codes
    if isinstance(source, PairJoint | PairCounts | PairMixture):
        pairs, content = source, _content(source)
        if n_states not in (None, pairs.n_states):
            raise SettingError(f"n_states is {n_states}, but the statistics have {pairs.n_states} states")
    else:
        rows = source.rows if isinstance(source, LabelledRows) else source
        codes, size = checked_codes(rows, n_states, names)
        check_learnable(codes, size, names)
        pairs, content = count_pairs(codes, size), np.ascontiguousarray(codes, dtype=np.int64).tobytes()
        if isinstance(source, LabelledRows):
            labelled = count_labelled(source, size, kappa)
            content += np.ascontiguousarray(np.column_stack([source.uniform, source.label]), np.int64).tobytes()
    labels = default_names(pairs.n_nodes) if names is None else tuple(names)
    if len(labels) != pairs.n_nodes or len(set(labels)) != len(labels):
        raise DataError(f"names must be {pairs.n_nodes} different names, got {len(labels)}")
    states = states or tuple(str(code) for code in range(pairs.n_states))
    mark = sha256(repr((pairs.n_nodes, states)).encode() + content).hexdigest()
    return Input(pairs, labelled, labels, states, f"sha256:{mark}")


def _content(pairs: Pairs) -> bytes:
    """The bytes of statistics: what two inputs must share to be the same."""
    if isinstance(pairs, PairMixture):
        return repr(pairs.weights).encode() + b"".join(map(_content, pairs.joints))
    if isinstance(pairs, PairCounts):
        return np.ascontiguousarray(pairs.counts, dtype=np.int64).tobytes()
    return repr(pairs.n_rows).encode() + np.ascontiguousarray(pairs.joint).tobytes()
