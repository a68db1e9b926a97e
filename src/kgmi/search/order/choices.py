"""``Choices``: the parent tuples that are worth considering for every child, whatever the order turns out to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.search.set_values import numbers_of
from kgmi.types import Floats, Ints

__all__ = ["MOST_KEPT", "NOTHING", "Choices", "Offer", "gather_choices", "trimmed"]

NOTHING = -1e9
"""Worth of having no parents for a child that must have some: an order in which it comes too early."""
MOST_KEPT = 4_000
"""Tuples of one child that are kept."""


@dataclass(frozen=True, eq=False)
class Offer:
    """Tuples of one child with what they are worth.

    Attributes
    ----------
    parents
        [tuple, role], with -1 behind the last parent of a shorter one.
    worth
        [tuple], in nats.
    whole
        Whether nothing was left out that might have been worth something.
    """

    parents: Ints
    worth: Floats
    whole: bool = True


@dataclass(frozen=True, eq=False)
class Choices:
    """The offers of all children, one after the other, the best of each child first.

    Attributes
    ----------
    parents, worth
        As in :class:`Offer`, for all children.
    start
        [child]: where its offer begins; one more for the end.
    whole
        Whether nothing was left out that might have been worth something.
    """

    parents: Ints
    worth: Floats
    start: Ints
    whole: bool

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return len(self.start) - 1

    def tuple_at(self, number: int) -> tuple[int, ...]:
        """The parents of an offer, in role order."""
        return tuple(int(parent) for parent in self.parents[number] if parent >= 0)

    def of(self, child: int) -> Offer:
        """What is offered to one child."""
        here = slice(int(self.start[child]), int(self.start[child + 1]))
        return Offer(self.parents[here], self.worth[here], self.whole)

    def with_offer(self, child: int, offer: Offer) -> Choices:
        """The same with another offer to one child."""
        return gather_choices([offer if node == child else self.of(node) for node in range(self.n_nodes)])


def gather_choices(offers: Sequence[Offer]) -> Choices:
    """The offers of all children, as :func:`trimmed` gives them, in one list."""
    sizes = [len(one.worth) for one in offers]
    return Choices(
        np.concatenate([one.parents for one in offers]),
        np.concatenate([one.worth for one in offers]),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        all(one.whole for one in offers),
    )


def trimmed(offers: Sequence[Offer], n_heads: int) -> Offer:
    """The best first, at most so many; nothing below having no parents, as that is always possible.

    Of tuples of the same parents in several roles, or under several kernels, only the best stays.
    """
    parents = np.concatenate([_padded(one.parents, n_heads) for one in offers])
    worth = np.concatenate([one.worth for one in offers])
    alone = (parents < 0).all(axis=1)
    root = worth[alone].max(initial=NOTHING)
    keep = np.flatnonzero((worth > root) & ~alone)
    whole = len(keep) <= MOST_KEPT and all(one.whole for one in offers)
    if len(keep) > 4 * MOST_KEPT:
        keep = keep[np.argpartition(-worth[keep], 4 * MOST_KEPT)[: 4 * MOST_KEPT]]
    keep = keep[np.argsort(-worth[keep], kind="stable")]
    same = numbers_of(np.sort(parents[keep], axis=1), int(parents.max(initial=0)) + 1)
    _, first = np.unique(same, return_index=True)
    keep = keep[np.sort(first)][:MOST_KEPT]
    parents = np.concatenate([parents[keep], np.full((1, n_heads), -1)])
    return Offer(parents.astype(np.int64), np.concatenate([worth[keep], [root]]), whole)


def _padded(parents: Ints, n_heads: int) -> Ints:
    out = np.full((len(parents), n_heads), -1, dtype=np.int64)
    out[:, : parents.shape[1]] = parents
    return out
