"""Counts of a tile: some columns against some others, for tables of pairs that would not fit as a whole."""

from __future__ import annotations

import numpy as np

from kgmi.errors import SettingError
from kgmi.statistics.engines import is_worth_compiling
from kgmi.statistics.methods import BITS, PLAIN_BITS
from kgmi.statistics.packed import Packed
from kgmi.statistics.places import Block
from kgmi.threads import spread
from kgmi.types import Ints

__all__ = ["count_tile"]

_COST_FOR_THREADS = 2_000_000.0  # as in blocks


def count_tile(packed: Packed, children: range, candidates: range) -> Ints:
    """Counts [i, j, s', s] of the columns ``children`` (i) against ``candidates`` (j).

    The ranges may overlap; nothing is saved where they do.
    """
    for columns in (children, candidates):
        if columns.step != 1 or (len(columns) and not 0 <= columns.start < columns.stop <= packed.n_nodes):
            raise SettingError(
                f"a tile is made of columns one after the other, from 0 to {packed.n_nodes - 1}, got {columns}"
            )
    n_pairs = len(children) * len(candidates)
    pair = packed.n_states, packed.n_states, packed.has_gaps, packed.n_rows
    method = BITS if is_worth_compiling(n_pairs * PLAIN_BITS.cost(*pair)) else PLAIN_BITS
    out = np.zeros((len(children), len(candidates), packed.n_states, packed.n_states), dtype=np.int64)
    width = method.n_nodes(packed.n_states)
    i_all, j_all = np.arange(len(children)), np.arange(len(candidates))

    def count(block: Block) -> None:
        method.count(packed, packed, block, out)

    blocks = [
        Block(
            slice(children[i], min(children[i] + width, children.stop)),
            slice(candidates[j], min(candidates[j] + width, candidates.stop)),
            (i_all[i : i + width], j_all[j : j + width]),
            is_half=False,
            has_mirror=False,
        )
        for i in range(0, len(children), width)
        for j in range(0, len(candidates), width)
    ]
    _ = packed.ones  # counted once, before the threads ask for it
    spread(count, blocks, parallel=method.is_compiled and n_pairs * method.cost(*pair) >= _COST_FOR_THREADS)
    return out
