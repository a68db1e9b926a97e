"""``first_seen``: what the first rows of a stream tell about the size of its counts."""

from __future__ import annotations

from dataclasses import dataclass

from kgmi.counting.sample import some_batches
from kgmi.streams import Alphabets, Stream

__all__ = ["Seen", "first_seen"]


@dataclass(frozen=True)
class Seen:
    """What counts of the first rows have room for.

    Attributes
    ----------
    sizes
        How many states each column has: as declared, or so far; at least two.
    alphabets
        What the codes of the first rows mean; None where they were not looked at, or there are none.
    """

    sizes: tuple[int, ...]
    alphabets: Alphabets | None = None

    @property
    def has_gaps(self) -> bool:
        """Whether a value is missing, so that every column has a code more."""
        return self.alphabets is not None and self.alphabets.has_gaps


def first_seen(stream: Stream) -> Seen:
    """A look at the first rows, where these can be read again."""
    n_nodes, declared = len(stream.names), stream.rules.n_declared
    if not stream.rereadable or (declared and stream.rules.missing == "error"):
        return Seen((declared or 2,) * n_nodes)
    first = next(some_batches(stream, stream.fragments, 1), None)
    if first is None:
        return Seen((declared or 2,) * n_nodes)
    states = stream.rules.column_states(first.alphabets.texts)
    return Seen(tuple(max(2, declared, len(one)) for one in states), first.alphabets)
