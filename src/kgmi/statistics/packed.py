"""Columns of states as rows of bits, 64 rows of data to a word: what counting reads."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kgmi.threads import spread
from kgmi.types import Codes, Ints

__all__ = ["WORD", "Packed", "Words", "lacks_values", "pack", "pack_compiled", "pack_plain"]

WORD = 64  # rows to a word

Words: TypeAlias = NDArray[np.uint64]
"""[node, plane, word]."""

# From which on the compiled version is faster, where it is loaded; where it is not; and from which on threads pay.
# Measured in November 2026.
_MANY_NODES, _MANY_CELLS, _CELLS_FOR_THREADS = 32, 1_000_000, 2_000_000
_WORDS_AT_ONCE = 8  # a cache line, so that no two threads write to the same one
_SMALL_CODES = 127  # states that fit into int8 with room for -1


@dataclass(frozen=True, eq=False)
class Packed:
    """Rows as bits.

    Attributes
    ----------
    words
        ``words[node, plane, word]``: bit r of word w stands for row 64·w + r. Plane s says in which rows the node
        has state s, for all states but the last, S - 1. Only where a value is missing anywhere is there one plane
        more, at the end: in which rows the node has a value at all. Bits beyond the last row are 0.
    n_rows
        Number of rows.
    n_states
        S, of the largest alphabet.
    has_gaps
        Whether a value is missing anywhere, and so whether there is the plane that says where.
    """

    words: Words
    n_rows: int
    n_states: int
    has_gaps: bool

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return int(self.words.shape[0])

    @cached_property
    def ones(self) -> Ints:
        """[node, plane]: bits that are set."""
        return np.asarray(np.bitwise_count(self.words).sum(axis=2, dtype=np.int64))


def lacks_values(codes: Codes) -> bool:
    """Whether a code is -1 anywhere."""
    return bool(codes.dtype.kind == "i" and codes.size and codes.min() < 0)


def pack(codes: Codes, n_states: int, *, has_gaps: bool | None = None, multiple: int = 1) -> Packed:
    """Pack rows of codes.

    Parameters
    ----------
    codes
        ``codes[row, node]`` in 0..S-1, or -1 where the value is missing; of any whole-number type.
    n_states
        S, of the largest alphabet.
    has_gaps
        Whether a value is missing, where that is known; else the codes are looked through.
    multiple
        Of so many words a line is made, with words without rows at its end; 16 are counted at a time.
    """
    loaded = "kgmi.statistics.packing_kernels" in sys.modules  # the compiler is not worth loading for this alone
    if codes.shape[1] >= _MANY_NODES and (loaded or ("numba" in sys.modules and codes.size >= _MANY_CELLS)):
        return pack_compiled(codes, n_states, has_gaps=has_gaps, multiple=multiple)
    return pack_plain(codes, n_states, has_gaps=has_gaps, multiple=multiple)


def pack_plain(codes: Codes, n_states: int, *, has_gaps: bool | None = None, multiple: int = 1) -> Packed:
    """:func:`pack` with NumPy alone; quick for few cells, as it starts nothing."""
    gaps = lacks_values(codes) if has_gaps is None else has_gaps
    n_rows, n_nodes = codes.shape
    # Small codes transpose and compare faster; -1 becomes a code that no state has.
    columns: Any = codes.T.astype(np.uint8 if n_states <= _SMALL_CODES else codes.dtype, order="C")
    words = _room(n_nodes, n_states - 1 + gaps, _n_words(n_rows, multiple))
    words[:] = 0
    packed, n_bytes = words.view(np.uint8), -(-n_rows // 8)
    for state in range(n_states - 1):
        packed[:, state, :n_bytes] = np.packbits(columns == state, axis=1, bitorder="little")
    if gaps:
        there = np.ascontiguousarray(codes.T >= 0)
        packed[:, n_states - 1, :n_bytes] = np.packbits(there, axis=1, bitorder="little")
    if sys.byteorder == "big":
        words.byteswap(inplace=True)
    return Packed(words, n_rows, n_states, gaps)


def pack_compiled(
    codes: Codes, n_states: int, *, has_gaps: bool | None = None, multiple: int = 1, parallel: bool = True
) -> Packed:
    """:func:`pack` with a compiled loop, in threads where there are many cells."""
    from kgmi.statistics.packing_kernels import pack_words

    gaps = lacks_values(codes) if has_gaps is None else has_gaps
    n_rows, n_nodes = codes.shape
    n_words = _n_words(n_rows, 1)
    words = _room(n_nodes, n_states - 1 + gaps, _n_words(n_rows, multiple))
    words[:, :, n_words:] = 0

    def work(start: int) -> None:
        stop = min(start + step, n_words)
        pack_words(_narrow(codes[start * WORD : stop * WORD], n_states), words, start, gaps)

    # Pieces of which a copy with small codes stays in the cache.
    step = max(1, 500_000 // (_WORDS_AT_ONCE * WORD * max(n_nodes, 1))) * _WORDS_AT_ONCE
    spread(work, range(0, n_words, step), parallel=parallel and codes.size >= _CELLS_FOR_THREADS)
    return Packed(words, n_rows, n_states, gaps)


def _n_words(n_rows: int, multiple: int) -> int:
    return -(-n_rows // (WORD * multiple)) * multiple


def _room(n_nodes: int, n_planes: int, n_words: int) -> Words:
    """Room for words that begins with a cache line: reading eight of them at a time is then quicker."""
    n_all = n_nodes * n_planes * n_words
    room = np.empty(n_all + _WORDS_AT_ONCE - 1, dtype=np.uint64)
    first = -(room.ctypes.data // 8) % _WORDS_AT_ONCE
    return room[first : first + n_all].reshape(n_nodes, n_planes, n_words)


def _narrow(codes: Codes, n_states: int) -> Codes:
    """The codes in the smallest type that the compiled loop knows, so that it is compiled for few types."""
    if n_states > _SMALL_CODES:
        return np.ascontiguousarray(codes, dtype=np.int64)
    if codes.dtype == np.uint8 and codes.flags.c_contiguous:
        return codes.view(np.int8)
    return np.ascontiguousarray(codes, dtype=np.int8)
