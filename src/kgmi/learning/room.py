"""How much of ``memory_limit`` is left for work that is done in blocks."""

from __future__ import annotations

from math import prod

from kgmi.errors import TooLargeError
from kgmi.kernel import Kernel
from kgmi.learning.ready import Ready
from kgmi.learning.settings import SEARCHING
from kgmi.memory import shown_bytes

__all__ = ["block_bytes"]

_LEAST_BLOCK = 2_000_000  # bytes of a block of work: with less, the calls would take longer than the work
_KERNELS = 3  # tables of a family that are kept for every node
_OBJECTS = 2_000_000  # bytes of everything that is not an array


def block_bytes(ready: Ready, limit: int | None) -> int | None:
    """Return the bytes that a block of work may take; refuse a ``limit`` that the other arrays do not fit into."""
    if limit is None:
        return None
    least = int(_held(ready)) + _LEAST_BLOCK + _OBJECTS
    if least > limit:
        n_nodes, table = ready.data.n_nodes, ready.data.table
        rows = "" if table is None else f" of {len(table.codes):,} rows"  # counts have none
        raise TooLargeError(
            f"memory_limit is {shown_bytes(limit)}, but {n_nodes:,} columns{rows} need at least "
            f"{shown_bytes(least)}; leave out columns, rows or states, "
            f"or give {shown_bytes(1.05 * least)}"  # it is rounded
        )
    return limit - least + _LEAST_BLOCK


def _held(ready: Ready) -> float:
    """Return the bytes of arrays that are not made in blocks.

    They grow with the cells of the rows, the cells of a table of all pairs, and the scores; the bytes for each of
    them are those of all copies at the same time, measured with tracemalloc in November 2026.
    """
    data, settings = ready.data, ready.settings
    n_nodes = data.n_nodes
    cells = 0 if data.table is None else data.table.codes.size
    pairs = (n_nodes * max(map(len, data.alphabets))) ** 2
    scores = settings.n_heads * n_nodes**2
    if settings.guide not in SEARCHING:
        return 3.2 * cells + 45 * pairs + 17 * scores
    if not data.has_families or not (ready.kernel is None or isinstance(ready.kernel, Kernel)):
        return 30 * pairs + 30 * scores
    widest = sorted(map(len, data.alphabets))[-settings.n_heads - 1 :]
    kernels = 8 * _KERNELS * n_nodes * prod(widest)  # of every node, with its counts and gains
    orders = 200_000 * n_nodes if data.candidates.is_open else 0
    return max(9 * cells, 2.5 * cells + 20 * pairs) + 17 * scores + orders + kernels
