"""``Counter``: exact counts from products of indicators, every block checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kgmi.device.formats import Format
from kgmi.device.place import Tensor, free_memory
from kgmi.errors import KgmiError

__all__ = ["LINE", "STEP", "TILE_ROWS", "Counter"]

STEP = 16
"""Sizes of matrices are multiples of it: fp8 and int8 need that."""
LINE = 128
"""Rows are padded to multiples of it: columns then begin where the device likes to read."""
TILE_ROWS = {"cuda": 4_608, "cpu": 512}
"""Of the left matrix of a product: larger tiles count more pairs that are not needed."""

_EXACT = 2**24  # float32 counts exactly below


class Counter:
    """Counts cells of items (the states of a child, or of a child and a parent) with the states of candidates.

    Rows are counted in :attr:`chunks`: one where their indicators fit on the device.

    Over all cells and states the counts of every pair must sum to the number of rows. A format that fails is given
    up, and :attr:`given_up` says so.
    """

    def __init__(
        self, columns: Tensor, n_nodes: int, n_rows: int, n_states: int, formats: Iterable[Format]
    ) -> None:
        self.columns, self.n_nodes, self.n_rows, self.n_states = columns, n_nodes, n_rows, n_states
        self.place: Any = columns.device
        self.given_up: list[str] = []
        self._formats = list(formats)
        self._hot: Tensor = None
        self.chunks = self._in_chunks()

    @property
    def format(self) -> Format:
        """The number format that is counted in."""
        return self._formats[0]

    def _in_chunks(self) -> list[slice]:
        """Rows in pieces whose indicators fit and whose counts are exact."""
        width = self.columns.shape[0] * self.n_states + 2 * TILE_ROWS[self.place.type]
        fits = free_memory(self.place) // 4 // (width * 2)
        size = max(LINE, min(fits, _EXACT - 1) // LINE * LINE)
        length = self.columns.shape[1]
        return [slice(start, min(start + size, length)) for start in range(0, length, size)]

    def count(self, cells: Tensor | slice, n_cells: int, nodes: int | Tensor) -> tuple[Tensor, ...]:
        """[state of the candidate][item, cell, candidate]: rows in which an item has the cell, and that the state.

        ``cells[item, row]`` are numbers below ``n_cells``, negative in the padding. Candidates are the first
        ``nodes``, or those that are listed. Whole numbers, in whatever type holds them exactly.
        """
        parts = (self._checked(_part(cells, chunk), n_cells, nodes, chunk) for chunk in self.chunks)
        return _summed(parts, len(self.chunks))

    def _checked(
        self, cells: Tensor | slice, n_cells: int, nodes: int | Tensor, chunk: slice
    ) -> tuple[Tensor, ...]:
        """Counts of some rows; in the next format where their sums are wrong."""
        while True:
            counts, right = self.tried(cells, n_cells, nodes, chunk)
            if bool(right):
                return counts
            self.give_up()

    def tried(
        self, cells: Tensor | slice, n_cells: int, nodes: int | Tensor, chunk: slice
    ) -> tuple[tuple[Tensor, ...], Tensor]:
        """Counts of some rows, and whether their sums are right: on the device, so that nobody has to wait yet."""
        counts = self._block(cells, n_cells, nodes, chunk)
        seen = counts[0].sum(1)
        for more in counts[1:]:
            seen += more.sum(1)
        n_rows = max(0, min(chunk.stop, self.n_rows) - chunk.start)
        return counts, (seen == n_rows).all()

    def _block(self, cells: Tensor | slice, n_cells: int, nodes: int | Tensor, chunk: slice) -> tuple[Tensor, ...]:
        """Counts of some rows; cells may be a slice of nodes, whose states are meant."""
        import torch

        hot = self._indicators(chunk)
        if isinstance(cells, slice):
            n_items, left = cells.stop - cells.start, torch.cat([one[cells] for one in hot])
        else:
            numbers = torch.arange(n_cells, device=self.place, dtype=cells.dtype)
            n_items, left = len(cells), self.format.store((cells == numbers[:, None, None]).flatten(0, 1))
        n_left = len(left)
        if n_left % STEP or n_left < 2 * STEP:
            left = torch.nn.functional.pad(left, (0, 0, 0, max(-n_left % STEP, 2 * STEP - n_left)))
        n_right = nodes if isinstance(nodes, int) else len(nodes)
        padded = -(-n_right // STEP) * STEP
        if not isinstance(nodes, int):  # the padding behind the last node is zero everywhere
            nodes = torch.nn.functional.pad(nodes, (0, padded - n_right), value=self.n_nodes)
        found = []
        for state in range(self.n_states):
            right = hot[state, :padded] if isinstance(nodes, int) else hot[state].index_select(0, nodes)
            counts = self.format.product(left, right)[:n_left, :n_right]
            found.append(counts.unflatten(0, (n_cells, n_items)).transpose(0, 1))
        return tuple(found)

    def _indicators(self, chunk: slice) -> Tensor:
        """[state, node, row] of some rows; kept where all rows fit."""
        import torch

        if self._hot is not None:
            return self._hot
        columns = self.columns[:, chunk]
        states = torch.arange(self.n_states, device=self.place, dtype=columns.dtype)
        hot = self.format.store(columns == states[:, None, None])
        if columns.shape[1] == self.columns.shape[1]:
            self._hot = hot
        return hot

    def forget_indicators(self) -> None:
        """Make room: they are made again when something is counted."""
        self._hot = None

    def give_up(self) -> None:
        """Use the next format from now on."""
        if len(self._formats) == 1:
            raise KgmiError(
                f"{self.place} counts wrongly in every number format, the last being {self.format.name}: the "
                "device or its driver is faulty. Leave device out"
            )
        self.given_up.append(self._formats.pop(0).name)
        self.forget_indicators()


def _part(cells: Tensor | slice, chunk: slice) -> Tensor | slice:
    return cells if isinstance(cells, slice) else cells[:, chunk]


def _summed(parts: Iterator[tuple[Tensor, ...]], n_parts: int) -> tuple[Tensor, ...]:
    """Counts of all rows from those of the chunks, in double precision where there are several."""
    total = next(parts)
    if n_parts > 1:
        total = tuple(one.double() for one in total)
        for part in parts:
            for one, more in zip(total, part, strict=True):
                one += more
    return total
