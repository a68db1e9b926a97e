"""``CountedTable``: counts of all rows of a table, with the names of its columns and what its codes mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from hashlib import sha256
from itertools import accumulate
from typing import Any

import numpy as np

from kgmi.alphabets import Alphabets, Coded, Rules, Seen, choose_alphabets, code_maps, code_of_each, joined_seen
from kgmi.counts.tally import Sets, Tally, tally_bytes
from kgmi.errors import CountsError, DataError, TooLargeError
from kgmi.graph.naming import shown_list
from kgmi.memory import shown_bytes
from kgmi.types import Codes, Names, PathLike

MOST_BYTES = 128_000_000
"""Most memory of the counts of a table; about five are in memory at a time, which stays below 1 GB."""
FIRST_ROWS = 20_000
"""Rows that the checks of a fit look at one by one."""


@dataclass(frozen=True, eq=False, repr=False)
class CountedTable:
    """Counts of the states of all sets of K + 1 columns: enough to learn up to K parents of each column.

    Counts add up: ``counts + others``, or :func:`kgmi.merge`, give what counting all rows at once gives, in any
    order. They hold no rows, but small counts may describe single people: look at them before you share them.

    Attributes
    ----------
    names
        The columns.
    rules
        How cells were read.
    seen
        What was seen in every column: what the codes of ``part`` mean.
    part
        The counts, in codes that do not change when rows are added.
    marks
        Fingerprints of the files or fragments that were counted, so that none is counted twice; a copy of a file
        has the same one.
    where
        Which rows were counted, in words; empty: all.
    first
        Some first rows, each with the number of their fragment, for the checks of a fit; neither saved nor merged.
    """

    names: tuple[str, ...]
    rules: Rules
    seen: tuple[Seen, ...]
    part: Tally
    marks: tuple[str, ...] = ()
    where: str = ""
    first: tuple[tuple[int, Coded], ...] = ()

    def __post_init__(self) -> None:
        if len(self.names) != len(self.seen) or code_sizes(self.seen) != (self.part.sizes, self.part.has_gaps):
            raise DataError("these counts do not fit their columns and states")

    def __repr__(self) -> str:
        return f"CountedTable(n_nodes={self.n_nodes}, n_rows={self.n_rows}, n_parents={self.n_parents})"

    @property
    def n_nodes(self) -> int:
        """Number of columns T."""
        return len(self.names)

    @property
    def n_rows(self) -> int:
        """Number of rows that were counted."""
        return self.part.rows

    @property
    def n_parents(self) -> int:
        """K, how many parents of a column can be learned from these counts."""
        width, has_gaps = self.part.width, self.part.has_gaps and self.rules.missing == "pairwise"
        return max(1, width - 1 - (has_gaps and width < self.n_nodes))

    def final_alphabets(self, header: Names | None = None) -> Alphabets:
        """Return the final states of all columns; see :func:`kgmi.alphabets.choose_alphabets`."""
        filled = [int(self.part.table((node,)).sum()) for node in range(self.n_nodes)]
        return choose_alphabets(self.seen, self.names, self.rules, filled, header=header)

    @cached_property
    def _final(self) -> Alphabets:
        return self.final_alphabets()

    @property
    def states(self) -> tuple[str, ...]:
        """The alphabet that all columns share, or the states of all columns together."""
        return self._final.states

    @property
    def alphabets(self) -> tuple[tuple[str, ...], ...] | None:
        """The alphabet of each column; None where all share one."""
        return self._final.own

    @property
    def column_states(self) -> tuple[tuple[str, ...], ...]:
        """The states of every column."""
        return self.alphabets or (self.states,) * self.n_nodes

    @cached_property
    def tally(self) -> Tally:
        """The counts, in codes of the states."""
        final, part = self._final, self.part
        has_gaps = part.has_gaps and final.gap is None
        check_size(final.sizes, part.width, has_gaps, part.sets)
        return part.recoded(final.maps(self.seen), final.sizes, has_gaps=has_gaps)

    @property
    def first_rows(self) -> Codes | None:
        """Some of the first rows [row, column] in codes of the states; None where there are none."""
        rows = [self._final.coded(some) for _, some in self.first]
        return np.concatenate(rows)[:FIRST_ROWS] if rows else None

    @property
    def reading(self) -> dict[str, Any]:
        """How cells were read, in plain values."""
        rules, gap = self.rules, self._final.gap
        made = {"missing": rules.missing, "alphabet": rules.alphabet, "where": self.where, "gap": gap}
        return {key: value for key, value in made.items() if value}

    @property
    def fingerprint(self) -> str:
        """SHA-256 of columns, states and counts: the same for the same rows from any source."""
        mark = sha256(repr((self.names, self.states, self.alphabets, self.part.width)).encode())
        mark.update(np.ascontiguousarray(self.tally.cells, dtype="<i8").data)
        return f"counts:{mark.hexdigest()}"

    def in_order(self, order: Sequence[int]) -> CountedTable:
        """Return the same counts with the columns in another order."""
        columns = list(order)
        names, seen = tuple(self.names[one] for one in columns), tuple(self.seen[one] for one in columns)
        first = ((n, Coded(one.columns[columns], tuple(one.seen[c] for c in columns))) for n, one in self.first)
        return replace(self, names=names, seen=seen, part=self.part.in_order(columns), first=tuple(first))

    def in_codes_of(self, seen: tuple[Seen, ...]) -> CountedTable:
        """Return the same counts in the codes of ``seen``, which includes what was seen in these rows."""
        if seen == self.seen:
            return self
        sizes, has_gaps = code_sizes(seen)
        check_size(sizes, self.part.width, has_gaps, self.part.sets)
        maps = code_maps(self.seen, code_of_each(one.texts for one in seen), [-1] * len(seen))
        part = self.part.recoded(maps, sizes, has_gaps=has_gaps)
        return replace(self, seen=seen, part=part)

    def __add__(self, other: CountedTable) -> CountedTable:
        return merge([self, other])

    def save(self, path: PathLike, *, force: bool = False) -> None:
        """Write the counts to a file that :meth:`load`, ``kgmi learn`` and ``kgmi merge`` read.

        An existing file that does not hold counts is replaced with ``force`` only.
        """
        from kgmi.counts.files import write_counts

        write_counts(self, path, force=force)

    @classmethod
    def load(cls, path: PathLike) -> CountedTable:
        """Read counts from a file."""
        from kgmi.counts.files import read_counts

        return read_counts(path)


def merge(
    counts: Iterable[CountedTable], *, labels: Iterable[str] | None = None, repeats: bool = False
) -> CountedTable:
    """Return the counts of all rows together, the same in any order.

    Parameters
    ----------
    counts
        Counts of different rows of the same columns, read by the same rules. Their states may differ.
    labels
        Names for error messages, one for each, such as those of their files.
    repeats
        Whether the same rows may be counted several times, and rows may have passed different filters. Otherwise
        counts of the same file or of a copy of it are refused (of files above 4 MB not every byte is compared).

    Raises
    ------
    CountsError
        They do not fit together, or have rows in common.
    """
    listed = list(counts) if isinstance(counts, Iterable) else [counts]
    if not listed or not all(isinstance(one, CountedTable) for one in listed):
        raise CountsError("give one or more CountedTable to merge; kgmi.count makes them")
    called = [f"counts number {number}" for number in range(1, len(listed) + 1)] if labels is None else list(labels)
    first, holders = listed[0], dict[str, str]()  # holders[mark]: the counts of this file or fragment
    for one, its in zip(listed, called, strict=True):
        check_alike(first, one, called[0], its)
        others = [holders[mark] for mark in one.marks if mark in holders]
        if not repeats and (others or one.where != first.where):
            filters = f"rows with different filters ({one.where or 'none'}; {first.where or 'none'})"
            reason, other = ("the same files or rows", others[0]) if others else (filters, called[0])
            raise CountsError(
                f"{its} and {other} are counts of {reason}, so that rows may count twice; leave one of them out, "
                "or, if no row is in both, use repeats=True (--allow-repeats)"
            )
        holders |= dict.fromkeys(one.marks, its)
    if sum(one.n_rows for one in listed) > 2**63 - 1:
        raise TooLargeError("there are more rows than can be counted (2^63 - 1); merge fewer counts")
    wheres = {one.where for one in listed}
    where = first.where if len(wheres) == 1 else " or ".join(sorted(text or "all rows" for text in wheres))
    total = replace(reduce(added, listed), marks=tuple(sorted(holders)), where=where, first=())
    total.final_alphabets()  # refuses states that do not go together
    return total


def added(one: CountedTable, other: CountedTable) -> CountedTable:
    """Return the sum of the counts of two parts of one stream."""
    seen = joined_seen(one.seen, other.seen)
    part = one.in_codes_of(seen).part.merge(other.in_codes_of(seen).part)
    first = sorted((*one.first, *other.first), key=lambda some: some[0])
    before = accumulate((rows.columns.shape[1] for _, rows in first), initial=0)
    needed = tuple(some for some, n_before in zip(first, before, strict=False) if n_before < FIRST_ROWS)
    return replace(one, seen=seen, part=part, marks=tuple(sorted((*one.marks, *other.marks))), first=needed)


def check_alike(first: CountedTable, other: CountedTable, label: str, its: str) -> None:
    """Refuse counts of other columns, rules or sets of columns; ``label`` and ``its`` are their names."""
    if first.names != other.names:
        odd = sorted({*first.names} ^ {*other.names})
        problem = f"only one of them has {shown_list(odd[:8])}" if odd else "they are in another order"
        raise CountsError(
            f"the columns of {its} and of {label} differ: {problem}; count both with the same columns"
        )
    for name, here in vars(first.rules).items():
        if (there := getattr(other.rules, name)) != here:
            raise CountsError(f"{its} was counted with {name}={there!r}, {label} with {here!r}: count both alike")
    if not first.part.has_sets_of(other.part):
        widths = f"{other.part.width} columns, {label} of {first.part.width}"
        raise CountsError(f"{its} has counts of sets of {widths}: count both for the same number of parents")


def code_sizes(seen: Sequence[Seen]) -> tuple[tuple[int, ...], bool]:
    """Return how many states each column has, and whether there are missing values."""
    return tuple(len(one.texts) for one in seen), any(one.has_gaps for one in seen)


def check_size(sizes: Sequence[int], width: int, has_gaps: bool, sets: Sets | None) -> None:
    """Refuse counts that would fill the memory, before they are made."""
    needed = tally_bytes(sizes, width, has_gaps=has_gaps, sets=sets)
    if needed > MOST_BYTES:
        raise TooLargeError(
            f"counts of all sets of {width} of {len(sizes)} columns with up to {max(sizes)} states take "
            f"{shown_bytes(needed)}, and {shown_bytes(MOST_BYTES)} are allowed; take fewer columns (columns=…) or "
            "parents, or columns with fewer states, or let each have its own states (alphabet='own')"
        )
