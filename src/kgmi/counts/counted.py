"""``CountedTable``: counts of all rows of a table with the names of its columns and states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import numpy as np

from kgmi.alphabets import in_order
from kgmi.counts.tally import Tally
from kgmi.errors import CountsError, DataError, TooLargeError
from kgmi.graph.naming import quoted, shown_list
from kgmi.types import Codes, PathLike

__all__ = ["CountedTable", "merge"]

_SHOWN = 8  # columns or states that a message lists


@dataclass(frozen=True, eq=False, repr=False)
class CountedTable:
    """How often the states of all sets of K + 1 columns occur together: enough to learn up to K parents of each.

    Counts add up: ``counts + others``, or :func:`kgmi.merge`, where data are in several places. No row can be read
    off them, but small numbers in them may say something about single people; look before you share them.

    Attributes
    ----------
    names
        The columns.
    states, alphabets
        The alphabet that all columns share, or all states; and the alphabet of each column where each has its own.
    tally
        The counts themselves.
    marks
        Fingerprints of the files or rows that were counted, so that none is counted twice; a copy of a file has the
        same one.
    reading
        How cells were read: ``missing``, ``alphabet`` and, if there was a filter, ``where``; ``gap`` is the state
        that missing values are, where they are one.
    first
        The first rows [row, column], where they were at hand: for the checks of a fit only, neither saved nor
        merged.
    """

    names: tuple[str, ...]
    states: tuple[str, ...]
    alphabets: tuple[tuple[str, ...], ...] | None
    tally: Tally
    marks: tuple[str, ...] = ()
    reading: dict[str, Any] = field(default_factory=dict)
    first: Codes | None = None

    def __post_init__(self) -> None:
        expected = tuple(len(states) for states in self.column_states)
        if len(self.names) != self.tally.n_nodes or expected != self.tally.sizes:
            raise DataError("these counts do not fit their columns and states")

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.names[:_SHOWN])) + ", …" * (len(self.names) > _SHOWN)
        return f"CountedTable({len(self.names)} columns: {shown}; n_rows={self.n_rows}, width={self.tally.width})"

    def __str__(self) -> str:
        columns = "1 column" if len(self.names) == 1 else f"{len(self.names):,} columns"
        shown = shown_list(self.names[:_SHOWN]) + " …" * (len(self.names) > _SHOWN)
        parents = "1 parent" if self.n_parents == 1 else f"{self.n_parents} parents"
        rows = "1 row" if self.n_rows == 1 else f"{self.n_rows:,} rows"
        return f"Counts of {rows} of {columns} ({shown}), from which up to {parents} of each can be learned."

    @property
    def n_nodes(self) -> int:
        """Number of columns T."""
        return len(self.names)

    @property
    def n_rows(self) -> int:
        """Rows that were counted."""
        return self.tally.rows

    @property
    def n_parents(self) -> int:
        """K, how many parents of a column can be learned from these counts."""
        return max(1, self.tally.width - 1 - (self.tally.has_gaps and self.tally.width < self.n_nodes))

    @property
    def column_states(self) -> tuple[tuple[str, ...], ...]:
        """The states of every column."""
        return (self.states,) * len(self.names) if self.alphabets is None else self.alphabets

    @property
    def fingerprint(self) -> str:
        """SHA-256 of columns, states and counts: the same for the same rows, however they came."""
        mark = sha256(repr((self.names, self.states, self.alphabets, self.tally.width)).encode())
        mark.update(np.ascontiguousarray(self.tally.cells, dtype="<i8").tobytes())
        return f"counts:{mark.hexdigest()}"

    def in_order(self, order: Sequence[int]) -> CountedTable:
        """Return the same with the columns in another order."""
        return replace(
            self,
            names=tuple(self.names[column] for column in order),
            alphabets=None if self.alphabets is None else tuple(self.alphabets[column] for column in order),
            tally=self.tally.in_order(order),
            first=None if self.first is None else self.first[:, list(order)],
        )

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
        Counts of different rows of the same columns, with the same states, read by the same rules.
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
    if not listed or len(called) < len(listed):
        raise CountsError(
            "there are no counts to merge" if not listed else "there are more counts than labels for them"
        )
    for one, its in zip(listed, called, strict=False):
        if not isinstance(one, CountedTable):
            raise CountsError(
                f"{its}: got {type(one).__name__}, and only counts are added up: kgmi.count makes them, "
                "kgmi.CountedTable.load reads them from a file"
            )
    first, label = listed[0], called[0]
    total, reading, holders = first.tally, dict(first.reading), dict.fromkeys(first.marks, label)
    filters = {str(first.reading.get("where", ""))}
    for other, its in zip(listed[1:], called[1:], strict=False):
        _check_alike(first, other, label, its)
        if not repeats:
            _check_new(first, other, label, its, holders)
        if total.rows + other.n_rows > 2**63 - 1:
            raise TooLargeError(f"with {its} there are more rows than can be counted (2^63 - 1)")
        total = _with_gaps(total, other.tally.has_gaps).merge(_with_gaps(other.tally, total.has_gaps))
        holders |= dict.fromkeys(other.marks, its)
        filters.add(str(other.reading.get("where", "")))
        reading |= {"gap": other.reading["gap"]} if "gap" in other.reading else {}
    if len(filters) > 1:
        reading["where"] = " or ".join(sorted(text or "all rows" for text in filters))
    return replace(first, tally=total, marks=tuple(sorted(holders)), reading=reading, first=None)


def _with_gaps(tally: Tally, wanted: bool) -> Tally:
    """Return the same, with a code for missing values where the other counts have one."""
    if tally.has_gaps or not wanted:
        return tally
    return tally.recoded([np.arange(size) for size in tally.sizes], tally.sizes, has_gaps=True)


def _check_new(first: CountedTable, other: CountedTable, label: str, its: str, holders: dict[str, str]) -> None:
    """Refuse counts of rows that were counted already, and of rows that passed another filter."""
    common = [mark for mark in other.marks if mark in holders]
    if common:
        some = "all" if len(common) == len(other.marks) else f"{len(common):,} of {len(other.marks):,}"
        raise CountsError(
            f"{its} and {holders[common[0]]} were counted from the same rows or files ({some}), which would count "
            "twice; leave one of them out, or, if no row passes both filters, use repeats=True (--allow-repeats)"
        )
    here, there = (one.reading.get("where", "") for one in (first, other))
    if here != there:
        raise CountsError(
            f"{its} was counted {f'where {there}' if there else 'without a filter'}, {label} "
            f"{f'where {here}' if here else 'without a filter'}: count again with the same --where, or, if no row "
            "passes both filters, use repeats=True (--allow-repeats)"
        )


def _check_alike(first: CountedTable, other: CountedTable, label: str, its: str) -> None:
    """Refuse counts of other columns, states, rules or sets, and say what to do about it."""
    if first.names != other.names:
        lacks = [name for name in first.names if name not in other.names]
        extra = [name for name in other.names if name not in first.names]
        problems = [f"lacks {_some(lacks)}"] * bool(lacks) + [f"has {_some(extra)} too"] * bool(extra)
        problem = " and ".join(problems) or "has them in another order"
        raise CountsError(f"{its} has other columns than {label}: it {problem}; count both with the same --columns")
    for here, there in zip(_settings(first), _settings(other), strict=True):
        if here != there:
            raise CountsError(f"{its} was counted with {there}, {label} with {here}: count both alike")
    for one, two, one_label, two_label in ((first, other, label, its), (other, first, its, label)):
        gap = one.reading.get("gap")
        if gap is not None and gap in two.states and two.reading.get("gap") != gap:
            raise CountsError(
                f"missing values are the state {quoted(gap)} in {one_label}, and a state of the rows has this name "
                f"in {two_label}; rename that state in the rows, or declare it as the last of --states in both"
            )
    if first.column_states != other.column_states:
        pairs = zip(first.names, first.column_states, other.column_states, strict=True)
        name, mine, theirs = next(one for one in pairs if one[1] != one[2])
        union = shown_list(in_order({*mine, *theirs})[:100], ",")
        raise CountsError(
            f"column {quoted(name)} has the states {_some(theirs)} in {its}, and {_some(mine)} in {label}: count "
            f"both with the same states (--states {union}), or with the same categories in both tables"
        )
    if not first.tally.has_sets_of(other.tally):
        raise CountsError(f"{its} has counts of other sets of columns than {label}: count both for the same sets")


def _settings(counts: CountedTable) -> list[str]:
    """Return in words what two counts must have in common to be added."""
    reading = [f"{key}={counts.reading.get(key)!r}" for key in ("missing", "alphabet")]
    return [*reading, f"sets of {counts.tally.width} columns (--parents)"]


def _some(texts: Iterable[str]) -> str:
    listed = list(texts)
    return shown_list(listed[:_SHOWN]) + (f" … ({len(listed):,} in all)" if len(listed) > _SHOWN else "")
