"""Tallies with other codes, or with their columns in another order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import prod

import numpy as np

from kgmi.errors import DataError
from kgmi.statistics.sets import numbers_in
from kgmi.statistics.tally import Tally, pieces
from kgmi.types import Ints

__all__ = ["recode", "reorder"]


def recode(tally: Tally, maps: Sequence[Ints], sizes: Sequence[int], *, has_gaps: bool) -> Tally:
    """The same counts with other codes.

    Parameters
    ----------
    tally
        The counts.
    maps
        ``maps[column][old code]``: the new code. Two codes may become one. Gaps stay gaps, unless there is one code
        more than states: then it is what they become.
    sizes
        Number of states of every column afterwards.
    has_gaps
        Whether there are codes for «no value» afterwards.
    """
    made = Tally.of_nothing(sizes, tally.width, has_gaps=has_gaps, sets=tally.sets)
    columns = zip(maps, tally.sizes, sizes, strict=True)
    whole = [_with_gap(np.asarray(codes, dtype=np.int64), old, new, tally, has_gaps) for codes, old, new in columns]
    if any(len(codes) and codes.max() >= most for codes, most in zip(whole, made.codes.tolist(), strict=True)):
        raise DataError("a state is not among those that the counts are to have")
    if _is_same(tally, made, whole):
        return Tally(made.sizes, tally.width, tally.n_rows, tally.cells, has_gaps, tally.sets)
    apart = all(len(np.unique(codes)) == len(codes) for codes in whole)  # no two codes become one
    out = np.zeros(made.n_cells, dtype=np.int64)
    for shape, which in pieces(tally.codes, tally.listed):
        places = np.zeros((len(which), 1), dtype=np.int64)
        for place in range(tally.width):
            nodes = tally.listed[which, place]
            steps = np.stack([whole[node][: shape[place]] for node in nodes.tolist()])
            places = places[:, :, None] * made.codes[nodes][:, None, None] + steps[:, None]
            places = places.reshape(len(which), prod(shape[: place + 1]))
        places += made.starts[which][:, None]
        cells = tally.cells_of(which, prod(shape))
        if apart:
            out[places] = cells
        else:
            np.add.at(out, places.ravel(), cells.ravel())
    return Tally(made.sizes, tally.width, tally.n_rows, out, has_gaps, tally.sets)


def _with_gap(codes: Ints, old: int, new: int, tally: Tally, has_gaps: bool) -> Ints:
    """The new codes of all old ones, of the gap too where there is one."""
    if not tally.has_gaps or len(codes) > old:
        return codes
    if not has_gaps:
        raise DataError("values are missing, but there is no code for them")
    return np.append(codes, new)


def _is_same(tally: Tally, made: Tally, maps: Sequence[Ints]) -> bool:
    same = bool((made.codes == tally.codes).all())
    return same and all(np.array_equal(m[:n], np.arange(n)) for m, n in zip(maps, tally.codes, strict=True))


def reorder(tally: Tally, order: Sequence[int]) -> Tally:
    """The same counts with the columns in another order; ``order`` has their present numbers."""
    nodes, width = np.array(order, dtype=np.int64), tally.width
    place = np.empty(len(nodes), dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    sets = None
    if tally.sets is not None:
        sets = np.sort(place[tally.sets], axis=1).astype(np.int32)
        sets = np.ascontiguousarray(sets[np.lexsort(sets.T)])
    sizes = tuple(tally.sizes[node] for node in nodes.tolist())
    made = Tally.of_nothing(sizes, width, has_gaps=tally.has_gaps, sets=sets)
    old = nodes[made.listed]  # [set, place]: not ascending any more
    turns = np.argsort(old, axis=1)
    numbers = numbers_in(tally.sets, np.take_along_axis(old, turns, axis=1))
    cells = np.empty(made.n_cells, dtype=np.int64)
    for shape, which in pieces(made.codes, made.listed):
        for turn in permutations(range(width)):
            here = which[(turns[which] == turn).all(axis=1)]
            found = tally.cells_of(numbers[here], prod(shape)).reshape(len(here), *(shape[one] for one in turn))
            back = (0, *(1 + turn.index(one) for one in range(width)))
            at = made.starts[here][:, None] + np.arange(prod(shape))
            cells[at] = found.transpose(back).reshape(len(here), prod(shape))
    return Tally(sizes, width, tally.n_rows, cells, tally.has_gaps, sets)
