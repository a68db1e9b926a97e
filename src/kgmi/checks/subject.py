"""``Subject``: what is checked: rows, a graph, and which nodes are taken to follow one kernel."""

from __future__ import annotations

from dataclasses import dataclass

from kgmi.candidates import Candidates
from kgmi.counts.base import Counts
from kgmi.counts.bits import RowCounts
from kgmi.types import Codes, Floats

__all__ = ["Group", "Subject"]


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes with parents that follow one kernel.

    Attributes
    ----------
    children
        The nodes.
    table
        The kernel as it is seen in the data, where it is known and not learned from these nodes; else None.
    symmetric
        Whether the parents have no order.
    """

    children: tuple[int, ...]
    table: Floats | None = None
    symmetric: bool = False


@dataclass(frozen=True, eq=False)
class Subject:
    """A fit.

    Attributes
    ----------
    observed
        The rows, ready to be counted.
    parents
        ``parents[node]``, in role order.
    given
        ``given[node]``: the nodes that its law depends on: its parents, or roots that it is drawn with.
    candidates
        Who may be whose parent.
    n_heads
        K, the most parents of a node.
    groups
        Which nodes follow which kernel.
    names
        Of the nodes.
    rows
        The rows in the order of the table; None where there are only counts of them.
    short
        Nodes that follow a shared kernel, or none, with fewer parents than they could have.
    fixed
        Whether more than K parents cannot be allowed: the kernel is known, or the guide looks at pairs only.
    sample
        The first rows, where ``observed`` has nothing but counts of all.
    """

    observed: Counts
    parents: tuple[tuple[int, ...], ...]
    given: tuple[tuple[int, ...], ...]
    candidates: Candidates
    n_heads: int
    groups: tuple[Group, ...]
    names: tuple[str, ...]
    rows: Codes | None
    short: tuple[int, ...] = ()
    fixed: bool = False
    sample: RowCounts | None = None
