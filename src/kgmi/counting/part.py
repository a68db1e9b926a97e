"""``Part``: what was counted in some fragments of a stream; parts add up, in any order, to the same counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kgmi.data.rules import Rules
from kgmi.errors import DataError, TooLargeError
from kgmi.memory import shown_bytes
from kgmi.statistics.sets import Sets
from kgmi.statistics.tally import Tally, tally_bytes
from kgmi.statistics.tallying import Tallier
from kgmi.streams import Alphabets, Fragment, Stream

__all__ = ["MOST_BYTES", "Heard", "Part", "Work", "check_alphabets", "check_size", "count_fragment"]

MOST_BYTES = 128_000_000
"""Of the counts of a part: about five are in memory at a time, and all of it stays below 1 GB."""

Heard: TypeAlias = Callable[[int], object]
"""Called with numbers of rows as they are counted."""


@dataclass(frozen=True, eq=False)
class Part:
    """Counts of some fragments, with what their codes mean so far.

    Attributes
    ----------
    names
        The columns.
    alphabets
        What the codes mean; other parts may have met other states.
    tally
        The counts.
    marks
        Which fragments were counted: none may be counted twice.
    """

    names: tuple[str, ...]
    alphabets: Alphabets
    tally: Tally
    marks: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """Rows that were counted."""
        return self.tally.n_rows

    def __add__(self, other: Part) -> Part:
        if self.names != other.names:
            raise DataError(f"cannot add counts of the columns {_few(self.names)} and {_few(other.names)}")
        if twice := set(self.marks) & set(other.marks):
            raise DataError(f"{len(twice)} of the fragments would be counted twice")
        marks = tuple(sorted({*self.marks, *other.marks}))
        for empty, full in ((self, other), (other, self)):
            if empty.n_rows == 0:  # it may not even know what kind of rows there are
                return replace(full, marks=marks)
        alphabets, mine, theirs = self.alphabets.joined(other.alphabets)
        sizes = _sizes(alphabets)
        check_size(sizes, self.tally.width, alphabets.has_gaps, self.tally.sets)
        tally = self.tally.recoded(mine, sizes, has_gaps=alphabets.has_gaps)
        tally = tally + other.tally.recoded(theirs, sizes, has_gaps=alphabets.has_gaps)
        return Part(self.names, alphabets, tally, marks)


@dataclass(frozen=True, eq=False)
class Work:
    """What is counted of every fragment of a stream, by threads of this process or by workers elsewhere."""

    stream: Stream
    width: int
    sets: Sets | None = None

    def __call__(self, fragment: Fragment, heard: Heard | None = None) -> Part:
        """The counts of one fragment; see :func:`count_fragment`."""
        return count_fragment(self.stream, fragment, self.width, self.sets, heard)


def count_fragment(
    stream: Stream,
    fragment: Fragment,
    width: int,
    sets: Sets | None = None,
    heard: Heard | None = None,
) -> Part:
    """Count one fragment, batch by batch: what a thread or a worker does.

    Where a batch has states that those before had not, counting begins a new tally and what was counted so far is
    kept as one: alphabets only grow.
    """
    before: tuple[Alphabets, Tally] | None = None
    tallier: Tallier | None = None
    alphabets: Alphabets | None = None
    for batch in stream.batches(fragment):
        if alphabets is None or batch.alphabets != alphabets or tallier is None:
            if tallier is not None and alphabets is not None:
                before = alphabets, _followed(before, alphabets, tallier.tally())
            alphabets = batch.alphabets
            check_alphabets(alphabets, stream.rules, width, sets)
            tallier = Tallier(_sizes(alphabets), width, alphabets.has_gaps, sets)
        tallier.add(batch.columns)
        if heard is not None:
            heard(batch.columns.shape[1])
    if tallier is None or alphabets is None:
        return _nothing(stream, fragment, width, sets)
    total = _followed(before, alphabets, tallier.tally())
    return Part(stream.names, alphabets, total, (stream.mark_of(fragment),))


def _followed(before: tuple[Alphabets, Tally] | None, alphabets: Alphabets, tally: Tally) -> Tally:
    """The counts with those before, which knew fewer states."""
    if before is None:
        return tally
    _, _, maps = alphabets.joined(before[0])
    return tally + before[1].recoded(maps, tally.sizes, has_gaps=tally.has_gaps)


def check_alphabets(alphabets: Alphabets, rules: Rules, width: int, sets: Sets | None) -> None:
    """Refuse counts that would fill the memory, now or once columns share their alphabets."""
    sizes = _sizes(alphabets)
    check_size(sizes, width, alphabets.has_gaps, sets)
    final = [max(len(some), rules.n_declared) for some in rules.column_states(alphabets.texts)]
    try:
        check_size(final, width, alphabets.has_gaps, sets)
    except TooLargeError as error:
        raise TooLargeError(f"{error}; or let each column have its own states (alphabet='own')") from None


def check_size(sizes: Sequence[int], width: int, has_gaps: bool, sets: Sets | None) -> None:
    """Refuse counts that would fill the memory, before they are made."""
    needed = tally_bytes(sizes, width, has_gaps=has_gaps, sets=sets)
    if needed > MOST_BYTES:
        gaps = ", and a code for missing values," if has_gaps else ""
        raise TooLargeError(
            f"counts of all sets of {width} of {len(sizes)} columns with up to {max(sizes)} states{gaps} take "
            f"{shown_bytes(needed)}, and {shown_bytes(MOST_BYTES)} are allowed; take fewer columns (columns=…), "
            "fewer parents, or columns with fewer states"
        )


def _sizes(alphabets: Alphabets) -> tuple[int, ...]:
    return tuple(len(texts) for texts in alphabets.texts)


def _nothing(stream: Stream, fragment: Fragment, width: int, sets: Sets | None) -> Part:
    """The part of a fragment without rows, as all may have been filtered out."""
    alphabets = Alphabets.of_nothing(stream.names)
    tally = Tally.of_nothing(_sizes(alphabets), width, sets=sets)
    return Part(stream.names, alphabets, tally, (stream.mark_of(fragment),))


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
