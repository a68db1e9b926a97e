"""Packing of bits that numba compiles. Import it where it is needed: this loads the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.jit import compiled, inlined

__all__ = ["pack_words"]

_NODES_AT_ONCE = 256  # whose bits are gathered at a time


@inlined
def _pack_eight(codes: Any, first: Any, left: Any, state: Any, is_state: Any, out: Any) -> None:
    """One byte for each node: in which of eight rows it has the state, or any value at all."""
    out[:] = 0
    for row in range(min(first + 8, codes.shape[0]) - 1, first - 1, -1):
        line = codes[row, left : left + len(out)]
        if is_state:
            for k in range(len(out)):
                out[k] = (out[k] << 1) | (line[k] == state)
        else:
            for k in range(len(out)):
                out[k] = (out[k] << 1) | (line[k] >= 0)


@compiled
def pack_words(codes: Any, words: Any, first_word: int, has_gaps: Any) -> None:
    """Write the bits of ``codes`` [row, node] into ``words`` [node, plane, word] from one word on.

    Nodes side by side lie side by side in memory, so eight rows of many nodes are gathered at a time, one byte to
    a node, from the last row to the first; then eight bytes make a word.
    """
    n_rows, n_nodes = codes.shape
    n_planes = words.shape[1]
    n_states = n_planes - 1 if has_gaps else n_planes
    eights = np.empty((8, _NODES_AT_ONCE), np.uint8)
    for word in range((n_rows + 63) // 64):
        for left in range(0, n_nodes, _NODES_AT_ONCE):
            width = min(_NODES_AT_ONCE, n_nodes - left)
            for plane in range(n_planes):
                for part in range(8):
                    _pack_eight(codes, word * 64 + part * 8, left, plane, plane < n_states, eights[part, :width])
                for k in range(width):
                    bits = np.uint64(0)
                    for part in range(8):
                        bits |= np.uint64(eights[part, k]) << np.uint64(8 * part)
                    words[left + k, plane, first_word + word] = bits
