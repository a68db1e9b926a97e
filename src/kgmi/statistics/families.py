"""Families of columns counted as bits: all candidates beside all tuples of parents, without a table of all of them.

A word has 64 rows, so that one AND and one count of bits do what 64 multiplications do in a product of matrices.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kgmi.memory import at_most
from kgmi.statistics.packed import Packed, Words
from kgmi.types import Floats, Ints

if TYPE_CHECKING:
    from kgmi.statistics.observed import Observed

__all__ = ["can_count_bits", "planes_of", "prepare_for", "tuple_scores", "tuple_values"]

_MOST_CELLS = 1_000  # of a family; tables of more no longer stay in the cache
_WORTH_LOADING = 100_000  # families, which take a second or so with NumPy
_WORTH_COMPILING = 5_000  # where numba is loaded already
_KERNELS = "kgmi.statistics.family_kernels"
_MOST_WORDS = 4_000_000  # of the configurations of tuples at a time: 32 MB
_WORD_BYTES = 16  # with what it is made from
_EVERYTHING = ~np.uint64(0)  # all rows of a word


def can_count_bits(observed: Observed, n_cells: int) -> bool:
    """Whether families of so many cells are counted as bits: whole rows, small tables, and the compiler prepared.

    What takes long prepares for it; for a few families nothing is loaded or compiled.
    """
    if observed.is_tallied:  # they are counted already
        return True
    return _KERNELS in sys.modules and observed.weights is None and n_cells <= _MOST_CELLS


def prepare_for(n_families: float, *, in_any_case: bool = False) -> None:
    """Load what is compiled where so many families take longer without it; numba may be needed ``in_any_case``."""
    if n_families > (_WORTH_COMPILING if in_any_case or "numba" in sys.modules else _WORTH_LOADING):
        import_module(_KERNELS)


def planes_of(packed: Packed) -> Words:
    """[node, state, word]: in which rows the node has the state; none of them where its value is missing."""
    last = packed.n_states - 1
    words = np.empty((packed.n_nodes, packed.n_states, packed.words.shape[2]), dtype=np.uint64)
    words[:, :last] = packed.words[:, :last]
    words[:, last] = packed.words[:, last] if packed.has_gaps else _rows(packed.n_rows)
    for state in range(last):  # the last state is where there is a value, but none of the others
        words[:, last] &= ~words[:, state]
    return words


def _rows(n_rows: int) -> NDArray[np.uint64]:
    """[word]: the rows that there are."""
    bits = np.zeros(-(-n_rows // 64) * 64, dtype=bool)
    bits[:n_rows] = True
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def tuple_values(
    observed: Observed, child: int, tuples: Ints, candidates: Ints, prices: Floats, *, is_half: bool
) -> Floats:
    """[tuple, candidate]: prices of the counts of every tuple of parents with every candidate as one more.

    Parameters
    ----------
    observed, child
        The rows, and whose parents they are.
    tuples, candidates
        [tuple, parent], all of the same sizes, and nodes of one size; where a candidate is in the tuple the value
        is nonsense.
    prices
        [4, count], to be added up: of a cell, of a configuration, of a state of the child, of all cases.
    is_half
        Whether the tuples are the candidates, one parent each; then only candidates behind the tuple are looked at,
        and the others are at -inf.
    """
    return np.asarray(_worth(observed, child, tuples, candidates, prices, np.empty((0, 0)), is_half)[0])


def tuple_scores(
    observed: Observed, child: int, tuples: Ints, candidates: Ints, gains: Floats, *, is_half: bool
) -> Floats:
    """[kernel, tuple, candidate]: Σ counts · gains [kernel, states of the tuple and the candidate …, child]."""
    flat = np.ascontiguousarray(gains.reshape(len(gains), -1), dtype=np.float64)
    if observed.is_tallied:
        return _looked_up(observed, child, tuples, candidates, flat, is_half)
    return _worth(observed, child, tuples, candidates, np.empty((0, 0)), flat, is_half)


def _worth(
    observed: Observed, child: int, tuples: Ints, candidates: Ints, prices: Floats, gains: Floats, is_half: bool
) -> Floats:
    from kgmi.statistics.family_kernels import family_worth

    n_kernels = max(len(gains), 1)
    out = np.full((n_kernels, len(tuples), len(candidates)), -np.inf)
    target, right, shape = _sides(observed, child, tuples, candidates)
    for part, left in _lefts(observed, tuples, is_half):
        piece = out if len(left) == len(tuples) else np.empty((n_kernels, len(left), len(candidates)))
        family_worth(target, left, right, shape, is_half, observed.has_gaps, prices, gains, piece)
        if piece is not out:
            out[:, part] = piece
    return out


def _looked_up(
    observed: Observed, child: int, tuples: Ints, candidates: Ints, gains: Floats, is_half: bool
) -> Floats:
    """:func:`tuple_scores` from counts that are there already."""
    from kgmi.statistics.tallied import Tallied

    assert isinstance(observed, Tallied)
    out = np.empty((len(gains), len(tuples), len(candidates)))
    for part, counts in observed.beside(child, tuples, candidates):
        out[:, part] = np.moveaxis(counts.reshape(*counts.shape[:2], -1) @ gains.T, -1, 0)
    if is_half:
        out[:, np.tri(len(tuples), len(candidates), dtype=bool)] = -np.inf
    return out


def _sides(observed: Observed, child: int, tuples: Ints, candidates: Ints) -> tuple[Words, Words, tuple[int, int]]:
    """The bits of the child, those of the candidates side by side, and the shape of a table of parents."""
    size = observed.sizes[int(candidates[0])]
    n_left = prod(observed.sizes[node] for node in tuples[0].tolist())
    return observed.planes[child, : observed.sizes[child]], _lanes(observed, candidates, size), (n_left, size)


def _lanes(observed: Observed, candidates: Ints, size: int) -> Words:
    """The bits of the candidates side by side, kept while there is room: the same ones are asked for many times."""
    from kgmi.statistics.family_kernels import LANES

    known = observed.kept.setdefault("lanes", {})
    key = candidates.tobytes()
    if (found := known.get(key)) is not None:
        return np.asarray(found)
    lanes = np.zeros((-(-len(candidates) // LANES) * LANES, size, observed.planes.shape[2]), dtype=np.uint64)
    lanes[: len(candidates)] = observed.planes[candidates, :size]
    right = np.ascontiguousarray(lanes.reshape(-1, LANES, *lanes.shape[1:]).transpose(0, 2, 3, 1))
    if (len(known) + 1) * right.size > at_most(_MOST_WORDS, _WORD_BYTES):
        known.clear()
    known[key] = right
    return right


def _lefts(observed: Observed, tuples: Ints, is_half: bool) -> Iterator[tuple[slice, Words]]:
    """Tuples in pieces, with the bits [tuple, configuration, word] of each."""
    sizes = [observed.sizes[node] for node in tuples[0].tolist()]
    n_words = observed.planes.shape[2]
    step = len(tuples) if is_half else max(1, at_most(_MOST_WORDS, _WORD_BYTES) // (prod(sizes) * n_words))
    for start in range(0, len(tuples), step):
        part = slice(start, min(start + step, len(tuples)))
        left = np.full((part.stop - start, 1, n_words), _EVERYTHING) if not sizes else None
        for place, size in enumerate(sizes):
            more = observed.planes[tuples[part, place], :size]
            left = more if left is None else (left[:, :, None] & more[:, None]).reshape(len(left), -1, n_words)
        assert left is not None
        yield part, left
