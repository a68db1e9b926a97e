"""What may be learned from, brought into one form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kgmi.alphabets import Alphabet, Missing
from kgmi.candidates import Candidates, Order, candidate_sets
from kgmi.counts.base import Counts, PairCounts
from kgmi.counts.bits import RowCounts
from kgmi.counts.counted import CountedTable
from kgmi.errors import DataError, SettingError
from kgmi.exact import exact_joint, exact_rows
from kgmi.guides.labelled import LabelledMoments, count_labelled
from kgmi.guides.stationary import Pairs
from kgmi.joint import PairJoint, PairMixture
from kgmi.learning.fingerprint import fingerprint
from kgmi.prepare import Prepared
from kgmi.process import Process
from kgmi.sampling import LabelledRows
from kgmi.sources.base import Stream
from kgmi.table import Table, as_table, check_learnable, checked_codes, checked_names, window_table
from kgmi.types import Bools, Codes, Floats, Ints, Names

__all__ = ["Edges", "Input", "Limits", "Reading", "Source", "gather"]

_SMALL = 256_000_000  # bytes of rows, as small whole numbers, that a result may keep
_QUICK_COPY = 1_000_000  # bytes that are copied in no time

Source: TypeAlias = "ArrayLike | Table | Prepared | LabelledRows | Pairs | Process | CountedTable | Stream"
"""Rows in any form, statistics of pairs, or a process to learn from in exact arithmetic."""


Edges: TypeAlias = Iterable[tuple[int | str, int | str]]
"""Edges (parent, child), by name or number."""


@dataclass(frozen=True)
class Reading:
    """How the source is read; described at :func:`kgmi.learn`."""

    n_states: int | None = None
    states: Names | None = None
    names: Names | None = None
    missing: Missing = "error"
    alphabet: Alphabet = "auto"
    windows: int | None = None
    kappa: float = 0.0
    paired: bool = False  # whether pairs will be counted in any case


@dataclass(frozen=True)
class Limits:
    """Who may be whose parent; described at :func:`kgmi.learn`."""

    forbidden: Edges | None = None
    required: Edges | None = None
    tiers: Sequence[Any] | Mapping[Any, Any] | None = None
    max_lag: int | None = None
    order: Order = "given"


@dataclass(frozen=True, eq=False)
class Input:
    """Rows or statistics with names, whatever came in.

    Attributes
    ----------
    table, weights
        The rows, and their weights where they are an exact law; None where statistics came in.
    statistics
        Statistics of pairs that came in; None where they are counted.
    counts
        Counts of families that came in instead of rows.
    n_choices, n_sampled
        Where candidates were put on short lists, by what so many rows tell: how many each node had before.
    is_limited
        Whether the counts allow fewer parents than are usually looked for, and nobody said how many.
    prepared, cut
        What was done to the table beforehand, each in a sentence; and the columns that were cut into bins.
    reading
        How its cells were read, as far as that is not as usual.
    """

    table: Table | None
    weights: Floats | None
    statistics: Pairs | None
    labelled: LabelledMoments | None
    candidates: Candidates
    names: tuple[str, ...]
    states: tuple[str, ...]
    identify: Callable[[], str]
    counts: CountedTable | None = None
    n_choices: tuple[int, ...] | None = None
    n_sampled: int | None = None
    is_limited: bool = False
    prepared: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False)  # what was counted; copies share it

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return len(self.names)

    @property
    def is_large(self) -> bool:
        """Whether the rows are too many to be kept only because a result may be asked about them later."""
        return self.table is not None and self.table.codes.nbytes > _SMALL

    @property
    def has_families(self) -> bool:
        """Whether families of columns can be counted, or are counted already, and not only pairs."""
        return self.table is not None or self.counts is not None

    @property
    def sample(self) -> Codes | None:
        """The first of the rows behind the counts, where they could be read again; for checks only."""
        first = None if self.counts is None else self.counts.first_rows
        return first if first is not None and len(first) else None

    @property
    def only_counts(self) -> bool:
        """Whether there are counts and not one row."""
        return self.counts is not None and self.sample is None

    @property
    def own_alphabets(self) -> tuple[tuple[str, ...], ...] | None:
        """The states of every node where each has its own; else None."""
        return next((one.alphabets for one in (self.table, self.counts) if one is not None), None)

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None for exact laws."""
        if self.counts is not None:
            return self.counts.n_rows
        if self.table is not None and self.weights is None:
            return len(self.table.codes)
        return None if self.table is not None else self.pair_joint(0.0).n_rows

    @property
    def alphabets(self) -> tuple[tuple[str, ...], ...]:
        """The states of every node."""
        return self.own_alphabets or (self.states,) * self.n_nodes

    @property
    def pairs(self) -> Pairs:
        """Statistics of all pairs, as given or counted."""
        if self.statistics is not None:
            return self.statistics
        if "pairs" not in self._kept:
            self._kept["pairs"] = (self.as_read if self.counts is None else self.counts.tally).pairs()
        found: Pairs = self._kept["pairs"]
        return found

    @property
    def observed(self) -> Counts:
        """Counts of the rows; equal rows as one where that pays."""
        if "observed" not in self._kept:
            self._kept["observed"] = self.as_read.compressed()
        found: Counts = self._kept["observed"]
        return found

    @property
    def as_read(self) -> Counts:
        """Counts of the rows, row by row."""
        if "as_read" not in self._kept:
            self._kept["as_read"] = self._counted()
        found: Counts = self._kept["as_read"]
        return found

    def _counted(self) -> Counts:
        if not self.has_families:
            raise DataError("this guide counts families of columns and needs the rows, not statistics of pairs")
        alphabets = self.alphabets
        numbers = {alphabet: number for number, alphabet in enumerate(dict.fromkeys(alphabets))}
        kinds = tuple(numbers[alphabet] for alphabet in alphabets)
        if self.counts is not None:
            return replace(self.counts.tally, alphabets=kinds)
        assert self.table is not None
        exact = self.weights is not None
        return RowCounts(self.table.codes, self.table.sizes, self.weights, kinds, exact)

    @property
    def missing_by_column(self) -> Ints:
        """[node]: rows in which it has no value."""
        if self.counts is not None:
            return self.counts.n_rows - np.array([int(one.sum()) for one in self.as_read.marginals])
        assert self.table is not None
        return self.table.missing_by_column

    @cached_property
    def never_together(self) -> bool:
        """Whether two columns have no row that was counted for both, so that nothing can be said of their pair."""
        if self.counts is not None and not self.counts.tally.is_complete:
            return True  # not all were counted
        if self.counts is not None:
            return self.counts.tally.has_gaps and int(self.counts.tally.pairs().pair_rows.min()) == 0
        if self.table is None or not self.table.n_missing:
            return False
        seen = (self.table.codes >= 0).astype(np.float32)
        return bool((seen.T @ seen).min() == 0)

    def pair_joint(self, smoothing: float) -> PairJoint:
        """One pair joint: counts smoothed, a mixture averaged."""
        if smoothing not in self._kept:
            if isinstance(self.pairs, PairCounts):
                made = self.pairs.pair_joint(smoothing)
            else:
                made = PairJoint(self.pairs.joint) if isinstance(self.pairs, PairMixture) else self.pairs
            self._kept[smoothing] = made
        joint: PairJoint = self._kept[smoothing]
        return joint

    def restricted(self, allowed: Bools, n_sampled: int) -> Input:
        """The same with short lists of candidates, ``allowed`` [child, candidate]."""
        n_choices = tuple(len(self.candidates.of(node)) for node in range(self.n_nodes))
        return replace(
            self, candidates=self.candidates.restricted(allowed), n_choices=n_choices, n_sampled=n_sampled
        )

    def scorable(self, smoothing: float) -> PairJoint | PairMixture:
        """What the guides of pairs look at: a mixture as it is, counts as a joint."""
        return self.pairs if isinstance(self.pairs, PairMixture) else self.pair_joint(smoothing)


def gather(source: Source, reading: Reading, limits: Limits) -> Input:
    """Check the source and bring it into one form."""
    if reading.windows is not None:
        table = window_table(
            source, reading.windows, states=reading.states, n_states=reading.n_states, missing=reading.missing
        )
        named = replace(table, names=checked_names(reading.names or table.names, reading.windows))
        return _from_table(named, limits, None, reading)
    if isinstance(source, PairJoint | PairCounts | PairMixture):
        return _from_statistics(source, reading, limits)
    if isinstance(source, CountedTable):
        return _from_counts(source, reading, limits)
    if isinstance(source, Process):
        return _from_process(source, reading, limits)
    rows = source.rows if isinstance(source, LabelledRows) else source
    declared = reading.n_states is not None or reading.states is not None or reading.alphabet == "own"
    if isinstance(source, LabelledRows) and not declared:  # the tail has codes too: those of the rows must stay
        reading = replace(reading, n_states=checked_codes(source.rows, missing=reading.missing)[1])
    table = as_table(
        rows,
        states=reading.states,
        n_states=reading.n_states,
        names=reading.names,
        missing=reading.missing,
        alphabet=reading.alphabet,
    )
    # A copy, and a compact one: what is said later must not depend on what becomes of the caller's rows.
    table = replace(table, codes=table.codes.astype(np.min_scalar_type(-max(table.sizes))))
    return _from_table(table, limits, source if isinstance(source, LabelledRows) else None, reading)


def _from_table(table: Table, limits: Limits, labelled: LabelledRows | None, reading: Reading) -> Input:
    candidates = _candidates(table.names, limits, reading.windows)
    moments: LabelledMoments | None = None
    content: tuple[Codes, ...] = (table.codes,)
    if labelled is not None:
        moments = count_labelled(labelled, table.n_states, reading.kappa)
        content = (table.codes, labelled.uniform, labelled.label)
    known = table.states if table.alphabets is None else tuple(map(str, table.alphabets))
    made = Input(table, None, None, moments, candidates, table.names, table.states, _identify(known, content))
    check_learnable(_state_counts(made, reading.paired), made.names, made.alphabets)
    return made


def _from_statistics(source: Pairs, reading: Reading, limits: Limits) -> Input:
    if reading.n_states not in (None, source.n_states):
        raise SettingError(
            f"n_states is {reading.n_states}, but there are {source.n_states} states in the statistics"
        )
    names = checked_names(reading.names, source.n_nodes)
    candidates = _candidates(names, limits, None)
    states = tuple(str(code) for code in range(source.n_states))
    made = Input(None, None, source, None, candidates, names, states, _identify(states, (source,)))
    if isinstance(source, PairCounts):
        check_learnable(_state_counts(made, True), names, made.alphabets)
    return made


def _from_counts(source: CountedTable, reading: Reading, limits: Limits) -> Input:
    if reading.n_states not in (None, len(source.states)):
        raise SettingError(
            f"n_states is {reading.n_states}, but there are {len(source.states)} states in the counts"
        )
    counts = source
    if reading.names is not None:
        counts = replace(counts, names=checked_names(reading.names, source.n_nodes))
    candidates = _candidates(counts.names, limits, None)
    mark = source.fingerprint
    made = Input(None, None, None, None, candidates, counts.names, counts.states, lambda: mark, counts)
    check_learnable(_state_counts(made, False), made.names, made.alphabets)
    return made


def _from_process(process: Process, reading: Reading, limits: Limits) -> Input:
    joint = exact_joint(process)
    made = _from_statistics(joint, reading, limits)
    rows = None if isinstance(joint, PairMixture) else exact_rows(process)
    if rows is None:
        return made
    return replace(made, table=Table(rows[0], made.names, made.states), weights=rows[1], _kept={})


def _candidates(names: tuple[str, ...], limits: Limits, windows: int | None) -> Candidates:
    return candidate_sets(
        len(names),
        names=names,
        forbidden=limits.forbidden,
        required=limits.required,
        tiers=limits.tiers,
        max_lag=limits.max_lag,
        only_children=None if windows is None else [names[-1]],
        order=limits.order,
    )


def _state_counts(data: Input, paired: bool) -> Sequence[Ints]:
    """Return the rows of every state of each node, from the counts of pairs where these are needed anyway."""
    if paired and isinstance(data.pairs, PairCounts):
        return list(np.einsum("iiss->is", data.pairs.counts))
    return [one.astype(np.int64) for one in data.as_read.marginals]


def _identify(states: tuple[str, ...], content: tuple[Codes | Pairs, ...]) -> Callable[[], str]:
    """The fingerprint: of rows when it is asked for, as hashing takes longer than counting.

    The first of the arrays, the codes, is a copy of the caller's rows already.
    """
    rows = [part for part in content if isinstance(part, np.ndarray)]
    if len(rows) == len(content) and sum(part.nbytes for part in rows) <= _SMALL:
        kept = [
            part if number == 0 and part.nbytes > _QUICK_COPY else part.copy() for number, part in enumerate(rows)
        ]
        return lambda: fingerprint(states, *kept)
    mark = fingerprint(states, *content)
    return lambda: mark
