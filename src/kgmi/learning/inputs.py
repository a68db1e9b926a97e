"""What may be learned from, brought into one form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kgmi.data import Table, check_learnable, checked_codes, default_names
from kgmi.errors import DataError, SettingError
from kgmi.guides.scores import Pairs
from kgmi.joint import PairJoint, PairMixture
from kgmi.learning.fingerprint import fingerprint
from kgmi.sampling import LabelledRows
from kgmi.statistics import LabelledMoments, PairCounts, count_checked, count_labelled
from kgmi.types import Codes, Names

__all__ = ["Input", "Source", "gather"]

_SMALL = 1_000_000  # bytes of rows that a result may keep

Source: TypeAlias = ArrayLike | Table | LabelledRows | Pairs
"""Rows in any form, or statistics of pairs."""


@dataclass(frozen=True, eq=False)
class Input:
    """Statistics and names, whatever came in."""

    pairs: Pairs
    labelled: LabelledMoments | None
    names: tuple[str, ...]
    states: tuple[str, ...]
    identify: Callable[[], str]
    _joints: dict[float, PairJoint] = field(default_factory=dict, repr=False)  # each is needed several times

    def pair_joint(self, smoothing: float) -> PairJoint:
        """One pair joint: counts smoothed, a mixture averaged."""
        if smoothing not in self._joints:
            if isinstance(self.pairs, PairCounts):
                made = self.pairs.pair_joint(smoothing)
            else:
                made = PairJoint(self.pairs.joint) if isinstance(self.pairs, PairMixture) else self.pairs
            self._joints[smoothing] = made
        return self._joints[smoothing]

    def scorable(self, smoothing: float) -> PairJoint | PairMixture:
        """What the guides look at: a mixture as it is, counts as a joint."""
        return self.pairs if isinstance(self.pairs, PairMixture) else self.pair_joint(smoothing)


def gather(source: Source, n_states: int | None, names: Names | None, kappa: float) -> Input:
    """Check the source and count what the guides need."""
    states: tuple[str, ...] | None = None
    if isinstance(source, Table):
        names, states = source.names if names is None else names, source.states
        _check_size(n_states, len(states), "table")
        n_states, source = len(states), source.codes
    elif names is None and hasattr(source, "columns"):  # a data frame knows the names of its columns
        names = [str(column) for column in source.columns]
    labelled = None
    if isinstance(source, PairJoint | PairCounts | PairMixture):
        pairs = source
        _check_size(n_states, pairs.n_states, "statistics")
        content: tuple[Codes | Pairs, ...] = (source,)
    else:
        codes, size = checked_codes(source.rows if isinstance(source, LabelledRows) else source, n_states, names)
        pairs, content = count_checked(codes, size), (codes,)
        if isinstance(source, LabelledRows):
            labelled = count_labelled(source, size, kappa)
            content = (codes, source.uniform, source.label)
    labels = _checked_names(names, pairs.n_nodes)
    states = states or tuple(str(code) for code in range(pairs.n_states))
    if isinstance(pairs, PairCounts):
        check_learnable(np.einsum("iiss->is", pairs.counts), labels, states)
    return Input(pairs, labelled, labels, states, _identify(states, content))


def _identify(states: tuple[str, ...], content: tuple[Codes | Pairs, ...]) -> Callable[[], str]:
    """The fingerprint: of small rows when it is asked for, from a copy, as hashing takes longer than counting."""
    rows = [part for part in content if isinstance(part, np.ndarray)]
    if len(rows) == len(content) and sum(part.nbytes for part in rows) <= _SMALL:
        kept = [part.copy() for part in rows]
        return lambda: fingerprint(states, *kept)
    mark = fingerprint(states, *content)
    return lambda: mark


def _check_size(n_states: int | None, known: int, what: str) -> None:
    if n_states not in (None, known):
        raise SettingError(f"n_states is {n_states}, but there are {known} states in the {what}")


def _checked_names(names: Names | None, n_nodes: int) -> tuple[str, ...]:
    if names is None:
        return default_names(n_nodes)
    if len(names) != n_nodes:
        raise DataError(f"{n_nodes} columns need as many names, got {len(names)}")
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise DataError(f"two columns are named {twice!r}; names must differ")
    return tuple(names)
