"""Very many columns: counts of all sets would not fit, so every column gets a short list of candidates first.

Some rows are learned from in memory. Who comes near to being a parent there, by the scores of the heads or by
mutual information, is on the list; all rows are then counted for the sets that the lists make. Who is on no list is
not looked at again, and the result says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from kgmi.counts.bits import RowCounts
from kgmi.counts.counted import MOST_BYTES
from kgmi.counts.stream import first_sizes, sample_table
from kgmi.counts.tally import Sets, smaller_sets, tally_bytes
from kgmi.errors import TooLargeError
from kgmi.guides.stationary import scores
from kgmi.sources.base import Stream
from kgmi.table import Table
from kgmi.types import Bools, Floats

__all__ = ["ShortList", "needs_short_list", "short_list"]

_SAMPLE_CELLS = 20_000_000  # of the rows in memory
_MOST_SAMPLED = 50_000
_SHORTEST, _LONGEST = 4, 20
_MOST_COLUMNS = 2_000  # of whom tables of all pairs are made
_MANY_STATES = 20  # more than most columns have
_SOME_STATES = 8  # at least, where they are not declared: further rows may have more than the first


@dataclass(frozen=True, eq=False)
class ShortList:
    """Who may be whose parent, by what some rows tell.

    Attributes
    ----------
    allowed
        [child, candidate], by columns.
    sets
        The sets of columns that are counted.
    n_rows
        Rows that were looked at.
    """

    allowed: Bools
    sets: Sets
    n_rows: int


def needs_short_list(stream: Stream, n_heads: int) -> Table | None:
    """Some rows, where counts of all sets of K + 1 columns would be too large; None where they are not."""
    n_nodes, width = len(stream.names), n_heads + 1
    least = stream.rules.n_declared or _SOME_STATES
    if tally_bytes([max(least, _MANY_STATES)] * n_nodes, width, has_gaps=True) <= MOST_BYTES:
        return None  # without a look
    sizes, has_gaps = first_sizes(stream)
    if tally_bytes([max(size, least) for size in sizes], width, has_gaps=has_gaps) <= MOST_BYTES:
        return None
    sample = sample_table(stream, max(1_000, min(_MOST_SAMPLED, _SAMPLE_CELLS // n_nodes)))
    needed = tally_bytes(sample.sizes, width), tally_bytes(sizes, width, has_gaps=has_gaps)
    return sample if max(needed) > MOST_BYTES else None


def _check_listed(n_nodes: int, n_states: int, n_heads: int, order: object, *, own: bool) -> None:
    """Refuse what short lists of candidates are not made for, or do not help with."""
    if n_nodes > _MOST_COLUMNS:
        raise TooLargeError(
            f"rows that do not fit into memory may have up to {_MOST_COLUMNS:,} columns, these have {n_nodes:,}; "
            "take some of them (columns=…), or use guide='stationary'"
        )
    if isinstance(order, str) and order == "learn":
        raise TooLargeError(
            f"counts of all sets of {n_nodes:,} columns are too large, and short lists of candidates need an "
            "order; give one (order=…, tiers=…), or take fewer columns (columns=…)"
        )
    _length(n_states, n_nodes, n_heads, own)


def short_list(sample: Table, n_heads: int, options: Mapping[str, Any]) -> ShortList:
    """The lists, as long as there is room for what they make."""
    from kgmi.learning.learn import learn

    n_nodes = len(sample.names)
    own = sample.alphabets is not None
    _check_listed(n_nodes, max(sample.sizes), n_heads, options["order"], own=own)
    learned = learn(sample, n_parents=n_heads, **options)
    worth = np.full((n_nodes, n_nodes), -np.inf)
    for head in range(learned.n_heads):
        worth = np.maximum(worth, _ranked(np.nan_to_num(learned.scores[head], nan=-np.inf)))
    information = scores(_pairs(sample), None, "kl", "plain", n_heads=1, allowed=~np.eye(n_nodes, dtype=bool))[0]
    worth = np.maximum(worth, _ranked(np.nan_to_num(information, nan=-np.inf)) - 0.5)
    assert learned.witness is not None
    candidates = learned.witness.data.candidates
    worth[~candidates.allowed] = -np.inf
    for parent, child in learned.dag.edges:
        worth[child, parent] = np.inf
    for child, required in enumerate(candidates.required):
        worth[child, list(required)] = np.inf
    length = _length(max(sample.sizes), n_nodes, n_heads, own)
    keep = np.argsort(-worth, axis=1, kind="stable")[:, :length]
    allowed = np.zeros((n_nodes, n_nodes), dtype=bool)
    np.put_along_axis(allowed, keep, True, axis=1)
    allowed &= worth > -np.inf
    return ShortList(allowed, _sets(allowed, n_heads + 1), len(sample.codes))


def _ranked(values: Floats) -> Floats:
    """[child, candidate]: minus the place of the candidate, the best first; what is not finite stays last."""
    place = np.argsort(np.argsort(-values, axis=1, kind="stable"), axis=1, kind="stable")
    return np.where(np.isfinite(values), -place.astype(np.float64), -np.inf)


def _pairs(sample: Table) -> Any:
    return RowCounts(sample.codes, sample.sizes).pairs().pair_joint(1.0)


def _length(n_states: int, n_nodes: int, n_heads: int, own: bool) -> int:
    """As many candidates as there is room for what they make."""
    each = n_nodes * 8 * float(n_states) ** (n_heads + 1)
    fitting = [n for n in range(_SHORTEST, _LONGEST + 1) if comb(n, n_heads) * each <= MOST_BYTES]
    if not fitting or fitting[-1] < n_heads:
        raise TooLargeError(
            f"counts of {n_nodes:,} columns with up to {n_states} states and {n_heads} parents do not fit into "
            "memory, even with short lists of candidates; take fewer columns (columns=…) or fewer parents"
            + ("" if own else ", or let each column have its own states (alphabet='own')")
        )
    return fitting[-1]


def _sets(allowed: Bools, width: int) -> Sets:
    """All sets of a child and as many of its candidates as make up the width, each once."""
    found = []
    for child, row in enumerate(allowed):
        listed = np.flatnonzero(row).tolist()
        some = listed if len(listed) >= width - 1 else [*listed, *_fill(child, listed, len(allowed), width)]
        found += [sorted((child, *chosen)) for chosen in combinations(some, width - 1)]
    return smaller_sets(np.array(found, dtype=np.int32), width)


def _fill(child: int, listed: list[int], n_nodes: int, width: int) -> list[int]:
    """Any other columns, where a list is too short for a set: smaller sets follow from it."""
    others = (node for node in range(n_nodes) if node != child and node not in listed)
    return [node for node, _ in zip(others, range(width - 1 - len(listed)), strict=False)]
