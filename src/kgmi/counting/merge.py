"""Counts of different rows added up; what does not fit together, or would count rows twice, is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from kgmi.counting.alike import check_alike
from kgmi.counting.counts import Counts
from kgmi.counting.filtered import joined_filters, shown_filters
from kgmi.errors import CountsError, TooLargeError
from kgmi.statistics.tally import Tally

__all__ = ["merge"]

_MOST_ROWS = 2**63 - 1


def merge(counts: Iterable[Counts], *, labels: Iterable[str] | None = None, repeats: bool = False) -> Counts:
    """The counts of all rows together; in whatever order they come, the result is the same.

    Parameters
    ----------
    counts
        Counts of different rows of the same columns, with the same states, read by the same rules.
    labels
        What errors call them, one for each, such as the names of their files.
    repeats
        Whether the same rows may be counted several times, and rows may have gone through different filters.
        Otherwise counts that read from the same file are refused, whichever of its rows and columns they read; so
        are those of copies of a file, byte for byte (of files above 4 MB not every byte is looked at). The same
        rows in files that were written anew, in a file to which others were added, and in tables in memory that
        were cut in other pieces, are not noticed.

    Raises
    ------
    CountsError
        They do not fit together, or have rows in common: which, in what, and how to mend it.
    """
    named = _named(counts, labels)
    first, label = next(named, (None, ""))
    if first is None:
        raise CountsError("there are no counts to merge")
    holders, readers = dict.fromkeys(first.marks, label), dict.fromkeys(first.contents, label)
    marks, total, reading = list(first.marks), first.tally, dict(first.reading)
    for other, its in named:
        check_alike(first, other, label, its)
        if not repeats:
            _check_new(other, its, holders)
            _check_files(other, its, readers)
            _check_filters(first, other, label, its)
        if total.n_rows + other.n_rows > _MOST_ROWS:
            raise TooLargeError(f"with {its} there are more rows than can be counted (2^63 - 1)")
        total = _with_gaps(total, other.tally.has_gaps) + _with_gaps(other.tally, total.has_gaps)
        marks += other.marks
        holders |= dict.fromkeys(other.marks, its)
        readers |= dict.fromkeys(other.contents, its)
        reading |= joined_filters([reading, other.reading])
        reading |= {key: told for key, told in other.reading.items() if key == "gap"}
    contents = tuple(sorted(readers))
    return replace(first, tally=total, marks=tuple(sorted(marks)), reading=reading, first=None, contents=contents)


def _named(counts: Iterable[Counts], labels: Iterable[str] | None) -> Iterator[tuple[Counts, str]]:
    """Counts with what errors call them."""
    called = iter(labels) if labels is not None else (f"the counts number {number}" for number in count(1))
    for one in counts:
        label = next(called, None)
        if label is None:
            raise CountsError("there are more counts than labels for them")
        if not isinstance(one, Counts):
            raise CountsError(
                f"{label} is of the type {type(one).__name__}, and only counts are added up: kgmi.count makes "
                "them, kgmi.Counts.load reads them from a file"
            )
        yield one, label


def _with_gaps(tally: Tally, wanted: bool) -> Tally:
    """The same, with a code for «no value» where the other counts have one."""
    if tally.has_gaps or not wanted:
        return tally
    return tally.recoded([np.arange(size) for size in tally.sizes], tally.sizes, has_gaps=True)


def _check_new(other: Counts, its: str, holders: dict[str, str]) -> None:
    common = [mark for mark in other.marks if mark in holders]
    if common:
        some = "all" if len(common) == len(other.marks) else f"{len(common):,} of {len(other.marks):,}"
        raise CountsError(
            f"{its} has rows that {holders[common[0]]} has too ({some} of its fragments), and they would count "
            "twice; leave one of them out, or allow it: repeats=True (--allow-repeats)"
        )


def _check_files(other: Counts, its: str, readers: dict[str, str]) -> None:
    """Refuse counts that read from a file that others read from, or from a copy of it."""
    common = [content for content in other.contents if content in readers]
    if common:
        some = "all" if len(common) == len(other.contents) else f"{len(common):,} of {len(other.contents):,}"
        raise CountsError(
            f"{its} and {readers[common[0]]} were counted from the same file or a copy of it ({some} of its "
            "files), and rows that both let through would count twice; leave one of them out, or, where their "
            "filters have no row in common, allow it: repeats=True (--allow-repeats)"
        )


def _check_filters(first: Counts, other: Counts, label: str, its: str) -> None:
    """Refuse counts of rows that went through different filters."""
    if repr(joined_filters([first.reading])) != repr(joined_filters([other.reading])):
        raise CountsError(
            f"{its} was counted {shown_filters(other.reading)}, {label} {shown_filters(first.reading)}: count "
            "again with the same --where, or, where no row passes both filters, allow it: repeats=True "
            "(--allow-repeats)"
        )
