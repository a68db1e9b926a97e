"""``CountedTable``: counts of all rows of a table, with the names of its columns and what its codes mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from hashlib import sha256
from itertools import accumulate
from typing import Any

import numpy as np

from kgmi.alphabets import Alphabets, Rules, Seen, choose_alphabets
from kgmi.counts.tally import Sets, Tally, tally_bytes
from kgmi.errors import CountsError, DataError, TooLargeError
from kgmi.graph.naming import shown_list
from kgmi.memory import shown_bytes
from kgmi.sources import Coded, joined_seen, recode_maps, recoded
from kgmi.types import Codes, Names, PathLike

__all__ = ["FIRST_ROWS", "MOST_BYTES", "CountedTable", "added", "check_alike", "check_size", "merge"]

MOST_BYTES = 128_000_000
"""Most memory of the counts of a table; about five are in memory at a time, and all of it stays below 1 GB."""
FIRST_ROWS = 20_000
"""Rows that the checks of a fit look at one by one."""

_SHOWN = 8  # columns that a message lists


@dataclass(frozen=True, eq=False, repr=False)
class CountedTable:
    """How often the states of all sets of K + 1 columns occur together: enough to learn up to K parents of each.

    Counts add up: ``counts + others``, or :func:`kgmi.merge`, where data are in several places; in whatever order
    they are added, the sum is that of counting all rows at once. No row can be read off them, but small numbers in
    them may say something about single people; look before you share them.

    Attributes
    ----------
    names
        The columns.
    rules
        How cells were read.
    seen
        What was seen in every column: what the codes of ``part`` mean.
    part
        The counts, in codes that rows to come do not change.
    marks
        Fingerprints of the files or fragments that were counted, so that none is counted twice; a copy of a file
        has the same one.
    where
        Which rows were counted, in words; empty: all.
    first
        Some first rows, each with the number of their fragment, for the checks of a fit only: they are neither
        saved nor merged.
    """

    names: tuple[str, ...]
    rules: Rules
    seen: tuple[Seen, ...]
    part: Tally
    marks: tuple[str, ...] = ()
    where: str = ""
    first: tuple[tuple[int, Coded], ...] = ()

    def __post_init__(self) -> None:
        sizes, has_gaps = tuple(len(one.texts) for one in self.seen), any(one.has_gaps for one in self.seen)
        if len(self.names) != len(self.seen) or (sizes, has_gaps) != (self.part.sizes, self.part.has_gaps):
            raise DataError("these counts do not fit their columns and states")

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.names[:_SHOWN])) + ", …" * (len(self.names) > _SHOWN)
        return f"CountedTable({len(self.names)} columns: {shown}; n_rows={self.n_rows}, n_parents={self.n_parents})"

    @property
    def n_nodes(self) -> int:
        """Number of columns T."""
        return len(self.names)

    @property
    def n_rows(self) -> int:
        """Rows that were counted."""
        return self.part.rows

    @property
    def n_parents(self) -> int:
        """K, how many parents of a column can be learned from these counts."""
        width, has_gaps = self.part.width, self.part.has_gaps and self.rules.missing == "pairwise"
        return max(1, width - 1 - (has_gaps and width < self.n_nodes))

    @cached_property
    def _final(self) -> Alphabets:
        return self.final_alphabets()

    def final_alphabets(self, header: Names | None = None) -> Alphabets:
        """Return what the states are in the end; see :func:`kgmi.alphabets.choose_alphabets`."""
        filled = [int(self.part.table((node,)).sum()) for node in range(self.n_nodes)]
        return choose_alphabets(self.seen, self.names, self.rules, filled, header=header)

    @property
    def states(self) -> tuple[str, ...]:
        """The alphabet that all columns share, or all states."""
        return self._final.states

    @property
    def alphabets(self) -> tuple[tuple[str, ...], ...] | None:
        """The alphabet of each column, where each has its own."""
        return self._final.own

    @property
    def column_states(self) -> tuple[tuple[str, ...], ...]:
        """The states of every column."""
        return (self.states,) * self.n_nodes if self.alphabets is None else self.alphabets

    @property
    def gap(self) -> str | None:
        """The state that missing values are; None where they are none."""
        return self._final.gap

    @cached_property
    def tally(self) -> Tally:
        """The counts, in codes of the states."""
        final, part = self._final, self.part
        has_gaps = part.has_gaps and final.gap is None
        check_size(final.sizes, part.width, has_gaps, part.sets)
        return part.recoded(final.maps, final.sizes, has_gaps=has_gaps)

    @property
    def first_rows(self) -> Codes | None:
        """Some of the first rows [row, column] in codes of the states; None where they are not at hand."""
        rows = [self._final.coded(recoded(some, self.seen)) for _, some in self.first]
        return np.concatenate(rows)[:FIRST_ROWS] if rows else None

    @property
    def reading(self) -> dict[str, Any]:
        """How cells were read, in plain values."""
        made = {
            "missing": self.rules.missing,
            "alphabet": self.rules.alphabet,
            "where": self.where,
            "gap": self.gap,
        }
        return {key: value for key, value in made.items() if value}

    @property
    def fingerprint(self) -> str:
        """SHA-256 of columns, states and counts: the same for the same rows, however they came."""
        mark = sha256(repr((self.names, self.states, self.alphabets, self.part.width)).encode())
        mark.update(np.ascontiguousarray(self.tally.cells, dtype="<i8").tobytes())
        return f"counts:{mark.hexdigest()}"

    def in_order(self, order: Sequence[int]) -> CountedTable:
        """Return the same with the columns in another order."""
        columns = list(order)
        names, seen = tuple(self.names[one] for one in columns), tuple(self.seen[one] for one in columns)
        first = ((n, Coded(one.columns[columns], tuple(one.seen[c] for c in columns))) for n, one in self.first)
        return replace(self, names=names, seen=seen, part=self.part.in_order(columns), first=tuple(first))

    def in_codes_of(self, seen: tuple[Seen, ...]) -> CountedTable:
        """Return the same with the codes of what was seen in these rows and in others."""
        if seen == self.seen:
            return self
        sizes, has_gaps = tuple(len(one.texts) for one in seen), any(one.has_gaps for one in seen)
        check_size(sizes, self.part.width, has_gaps, self.part.sets)
        part = self.part.recoded(recode_maps(self.seen, seen), sizes, has_gaps=has_gaps)
        return replace(self, seen=seen, part=part)

    def __add__(self, other: CountedTable) -> CountedTable:
        return merge([self, other])

    def save(self, path: PathLike, *, force: bool = False) -> None:
        """Write the counts to a file that :meth:`load`, ``kgmi learn`` and ``kgmi merge`` read.

        An existing file that does not hold counts is replaced with ``force`` only.
        """
        from kgmi.counts.files import save_counts

        save_counts(self, path, force=force)

    @classmethod
    def load(cls, path: PathLike) -> CountedTable:
        """Read counts from a file."""
        from kgmi.counts.files import load_counts

        return load_counts(path)


def merge(
    counts: Iterable[CountedTable], *, labels: Iterable[str] | None = None, repeats: bool = False
) -> CountedTable:
    """Return the counts of all rows together; in whatever order they come, the result is the same.

    Parameters
    ----------
    counts
        Counts of different rows of the same columns, read by the same rules. Their states may differ.
    labels
        What errors call them, one for each, such as the names of their files.
    repeats
        Whether the same rows may be counted several times, and rows may have passed different filters. Otherwise
        counts of the same file or of a copy of it are refused (of files above 4 MB not every byte is compared).

    Raises
    ------
    CountsError
        They do not fit together, or have rows in common.
    """
    listed = list(counts)
    called = [f"counts number {number}" for number in range(1, len(listed) + 1)] if labels is None else list(labels)
    if not listed:
        raise CountsError("there are no counts to merge")
    holders: dict[str, str] = {}
    for one, its in zip(listed, called, strict=True):
        if not isinstance(one, CountedTable):
            raise CountsError(f"{its}: only counts are added up, got {type(one).__name__}; kgmi.count makes them")
        check_alike(listed[0], one, called[0], its)
        if not repeats:
            _check_new(one, its, holders)
            if one.where != listed[0].where:
                raise CountsError(
                    f"{its} and {called[0]} were counted with different filters ({one.where or 'none'}; "
                    f"{listed[0].where or 'none'}); count again with the same filter, or, if no row passes both, "
                    "use repeats=True (--allow-repeats)"
                )
        holders |= dict.fromkeys(one.marks, its)
    if sum(one.n_rows for one in listed) > 2**63 - 1:
        raise TooLargeError("there are more rows than can be counted (2^63 - 1); merge fewer counts")
    filters = {one.where for one in listed}
    where = " or ".join(sorted(text or "all rows" for text in filters)) if len(filters) > 1 else listed[0].where
    return replace(reduce(added, listed), marks=tuple(sorted(holders)), where=where, first=())


def added(one: CountedTable, other: CountedTable) -> CountedTable:
    """Return the counts of parts of one stream together."""
    seen = joined_seen(one.seen, other.seen)
    part = one.in_codes_of(seen).part.merge(other.in_codes_of(seen).part)
    first = sorted((*one.first, *other.first), key=lambda some: some[0])
    before = accumulate((rows.columns.shape[1] for _, rows in first), initial=0)
    needed = tuple(some for some, n_before in zip(first, before, strict=False) if n_before < FIRST_ROWS)
    return replace(one, seen=seen, part=part, marks=tuple(sorted((*one.marks, *other.marks))), first=needed)


def check_alike(first: CountedTable, other: CountedTable, label: str, its: str) -> None:
    """Refuse counts of other columns, rules or sets of columns, and say what to do about it."""
    if first.names != other.names:
        lacks = [name for name in first.names if name not in other.names]
        extra = [name for name in other.names if name not in first.names]
        problem = f"lacks {_some(lacks)}" if lacks else f"has {_some(extra)} too" if extra else "has another order"
        raise CountsError(f"the columns of {its} are not those of {label}: it {problem}; count both with the same")
    for name, here in vars(first.rules).items():
        if (there := getattr(other.rules, name)) != here:
            raise CountsError(f"{its} was counted with {name}={there!r}, {label} with {here!r}: count both alike")
    if not first.part.has_sets_of(other.part):
        widths = f"{other.part.width} columns, {label} of {first.part.width}"
        raise CountsError(f"{its} has counts of sets of {widths}: count both for the same number of parents")


def _check_new(one: CountedTable, its: str, holders: dict[str, str]) -> None:
    """Refuse counts of rows that were counted already; ``holders[mark]`` says in which counts."""
    common = [mark for mark in one.marks if mark in holders]
    if common:
        some = "all" if len(common) == len(one.marks) else f"{len(common):,} of {len(one.marks):,}"
        raise CountsError(
            f"{its} and {holders[common[0]]} were counted from the same rows or files ({some}), which would count "
            "twice; leave one of them out, or, if no row passes the filters of both, use repeats=True "
            "(--allow-repeats)"
        )


def check_size(sizes: Sequence[int], width: int, has_gaps: bool, sets: Sets | None) -> None:
    """Refuse counts that would fill the memory, before they are made."""
    needed = tally_bytes(sizes, width, has_gaps=has_gaps, sets=sets)
    if needed > MOST_BYTES:
        raise TooLargeError(
            f"counts of all sets of {width} of {len(sizes)} columns with up to {max(sizes)} states take "
            f"{shown_bytes(needed)}, and {shown_bytes(MOST_BYTES)} are allowed; take fewer columns (columns=…) or "
            "parents, or columns with fewer states, or let each have its own states (alphabet='own')"
        )


def _some(texts: Sequence[str]) -> str:
    return shown_list(texts[:_SHOWN]) + (f" … ({len(texts):,} in all)" if len(texts) > _SHOWN else "")
