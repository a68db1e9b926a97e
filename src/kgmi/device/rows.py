"""``DeviceRows``: rows on a device, and counts of cells against the states of candidates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kgmi.device.counter import LINE, STEP, TILE_ROWS, Counter
from kgmi.device.formats import Format, exact_formats
from kgmi.device.place import Tensor
from kgmi.errors import TooLargeError
from kgmi.types import Codes, Floats, Ints

__all__ = ["DeviceRows"]

_MOST_STATES = 100  # codes are kept in eight bits with a sign
_CELLS = {"cuda": 2**28, "cpu": 2**22}  # of counts at a time
_AHEAD = 3  # tiles that are under way at a time
_FAMILY_CELLS = 2**25  # places in families that are numbered at a time


class DeviceRows:
    """Rows of state codes on a device.

    Counts of pairs and families come from :class:`Counter`, whole numbers in whatever type holds them exactly.

    Attributes
    ----------
    columns
        [node, row] codes on the device, -1 in the padding.
    margins
        [node, state] counts, on the device.
    counter
        What counts.
    """

    def __init__(self, codes: Codes, n_states: int, place: Any, formats: tuple[Format, ...] | None = None) -> None:
        if n_states > _MOST_STATES:
            raise TooLargeError(
                f"{n_states} states are too many for a device (at most {_MOST_STATES}); leave it out"
            )
        self.place, self.n_states = place, n_states
        self.n_rows, self.n_nodes = codes.shape
        self.columns = _columns(codes, place)
        known = exact_formats(place) if formats is None else formats
        self.counter = Counter(self.columns, self.n_nodes, self.n_rows, n_states, known)
        states = range(n_states)
        self.margins = _stacked([(self.columns[: self.n_nodes] == state).sum(1) for state in states]).double()

    def tiles(self, n_cells: int, first: int = 0, last: int | None = None) -> Iterator[tuple[int, int]]:
        """Children first..last-1 in tiles (start, end) whose counts against all before ``end`` fit."""
        start, last = first, self.n_nodes if last is None else last
        while start < last:
            end = min(last, start + self.tile_size(n_cells, min(last, start + 1_024)))
            yield start, end
            start = end

    def tile_size(self, n_cells: int, width: int) -> int:
        """How many children are counted at a time against so many candidates."""
        fits = _CELLS[self.place.type] // (n_cells * self.n_states * max(width, 1))
        return max(1, min(fits, TILE_ROWS[self.place.type] // n_cells))

    def pairs(self, start: int, end: int) -> tuple[Tensor, ...]:
        """[state s of the candidate][child, its state s', candidate] of children start..end-1 and all before it."""
        return self.counter.count(slice(start, end), self.n_states, end)

    def counted_pairs(self) -> Iterator[tuple[int, int, tuple[Tensor, ...]]]:
        """(start, end, counts as :meth:`pairs` has them) of all children, tile by tile.

        The next tiles are under way before the sums of one are looked at, and the largest, which are the last, are
        begun first: so the device never waits for us.
        """
        chunks, waiting = self.counter.chunks, []
        for start, end in reversed([*self.tiles(self.n_states)]):
            if len(chunks) > 1:
                yield start, end, self.pairs(start, end)
                continue
            waiting.append((start, end, *self.counter.tried(slice(start, end), self.n_states, end, chunks[0])))
            if len(waiting) > _AHEAD:
                yield self._finished(*waiting.pop(0))
        for tile in waiting:
            yield self._finished(*tile)

    def _finished(
        self, start: int, end: int, counts: tuple[Tensor, ...], right: Tensor
    ) -> tuple[int, int, tuple[Tensor, ...]]:
        if bool(right):
            return start, end, counts
        return start, end, self.pairs(start, end)  # which gives up the format, unless that was done meanwhile

    def families(self, children: Tensor, others: Tensor, width: int) -> tuple[Tensor, ...]:
        """[state of the candidate][child, state of the other parent · S + state of the child, candidate]."""
        other = self.columns[others].to(self._small_type())
        return self.counter.count(other * self.n_states + self.columns[children], self.n_states**2, width)

    def _small_type(self) -> Any:
        import torch

        return torch.int16 if self.n_states**2 < 2**15 else torch.int32

    def tables(self, children: Ints, *parents: Ints) -> Floats:
        """[item, states of the parents …, state of the child]: counts of chosen families, in double precision."""
        import torch

        n_states = self.n_states
        n_cells = n_states ** (len(parents) + 1)
        size = max(1, _FAMILY_CELLS // max(self.n_rows, n_cells))
        found = [np.zeros((0, n_cells))]
        for start in range(0, len(children), size):
            index: Tensor = 0
            for nodes in (*parents, children):
                here = torch.as_tensor(np.array(nodes[start : start + size]), device=self.place)
                index = index * n_states + self.columns[here, : self.n_rows].int()
            index += n_cells * torch.arange(len(index), device=self.place, dtype=torch.int32)[:, None]
            counts = torch.bincount(index.reshape(-1), minlength=n_cells * len(index))
            found.append(counts.cpu().numpy().reshape(-1, n_cells).astype(np.float64))
        return np.concatenate(found).reshape(-1, *(n_states,) * (len(parents) + 1))


def _columns(codes: Codes, place: Any) -> Tensor:
    """[node, row] in eight bits, with one node and some rows of padding at least behind the last."""
    import torch

    n_rows, n_nodes = codes.shape
    rows = torch.empty(codes.shape, dtype=torch.int8)
    rows.numpy()[...] = codes  # a copy: rows of others are not to be written to, which PyTorch cannot promise
    shape = (n_nodes // STEP + 1) * STEP, -(-n_rows // LINE) * LINE
    columns = torch.full(shape, -1, dtype=torch.int8, device=place)
    columns[:n_nodes, :n_rows] = rows.to(place).t()
    return columns


def _stacked(parts: list[Tensor]) -> Tensor:
    import torch

    return torch.stack(parts, dim=1)
