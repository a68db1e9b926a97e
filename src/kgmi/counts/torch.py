"""``TorchCounts``: counts of rows on a device, from products of matrices of zeros and ones with exact sums.

:func:`one_hot` writes in which rows an item is in a state, :func:`product` counts the rows that two such lines
share, and :meth:`TorchCounts.block` adds these counts up and checks them; on ``cuda`` and ``cpu`` alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np

from kgmi.counts.base import PairCounts
from kgmi.counts.bits import RowCounts
from kgmi.errors import KgmiError, SettingError, TooLargeError
from kgmi.joint import check_pair_size
from kgmi.memory import at_most, shown_bytes
from kgmi.types import Codes, Floats, Ints

try:
    import torch
except ImportError:  # open_device says so
    torch = None

Tensor: TypeAlias = Any
"""A tensor of PyTorch, which has no types here: it is optional."""
Block: TypeAlias = tuple[Tensor, ...]
"""[state of the candidate][item, cell, candidate]: counts on the device, whole numbers in a type that is exact."""

_FORMATS = (  # from which compute capability on a device has which number formats, the fastest first
    ((8, 9), ("fp8", "int8", "bfloat16", "float32")),
    ((8, 0), ("int8", "bfloat16", "float32")),
    ((0, 0), ("float16", "float32")),
)
_STEP = 16  # sizes of matrices are multiples of it: fp8 and int8 need that
_LINE = 128  # rows are padded to multiples of it, so that columns begin where devices read best
_TILE_ROWS = {"cuda": 4_608, "cpu": 512}  # of the left matrix; larger tiles count more pairs that are not needed
_MOST_CELLS = {"cuda": 2**28, "cpu": 2**22}  # of counts at a time
_CELL_BYTES = 64  # of a cell with what is made of it
_CPU_MEMORY = 2_000_000_000  # bytes that are used where the device is the processor
_EXACT = 2**24  # float32 counts exactly below
_AHEAD = 3  # blocks of pairs that are under way at a time
_FP8_SCALE = 2.0**9  # the byte 1, a true value, is 2⁻⁹ in float8_e4m3fn: so masks need not be converted


def open_device(device: str) -> Any:
    """Return the device of this name, ``cuda``, ``cuda:1`` … or ``cpu``."""
    if not isinstance(device, str) or not re.fullmatch("cpu|cuda(:[0-9]+)?", device):
        raise SettingError(
            f"device must be 'cuda', 'cuda:1' … or 'cpu', got {device!r}; leave it out to count without PyTorch"
        )
    if torch is None:
        raise SettingError(
            f"device='{device}' needs PyTorch, which is not installed: pip install 'kgmi[gpu]', or leave device out"
        )
    kind, _, number = device.partition(":")
    if kind == "cpu":
        return torch.device(kind)
    if int(number or 0) >= (n_devices := torch.cuda.device_count()):
        raise SettingError(
            f"device='{device}': PyTorch {torch.__version__} finds {n_devices} NVIDIA devices. Install its build "
            "for CUDA and a driver, use device='cpu' to try the same code, or leave device out"
        )
    return torch.device(kind, int(number) if number else torch.cuda.current_device())


def wait_for(place: Any) -> None:
    """Wait until the device has done all that was asked of it."""
    if place.type == "cuda":
        torch.cuda.synchronize(place)


def exact_formats(place: Any) -> tuple[str, ...]:
    """Return the number formats in which this device counts exactly, in the order in which they are used."""
    if place.type == "cpu":
        return "int8", "float32"
    return next(formats for least, formats in _FORMATS if torch.cuda.get_device_capability(place) >= least)


def stored(mask: Tensor, name: str) -> Tensor:
    """Return a mask as a matrix in a number format, in a type that can be indexed; it may share its memory."""
    if name in ("fp8", "int8"):
        return mask.view(torch.int8 if name == "int8" else torch.uint8)
    return mask.to(getattr(torch, name))


def one_hot(cells: Tensor, n_cells: int, name: str) -> Tensor:
    """Return [cell, item, row] in a number format: one where ``cells`` [item, row] is that cell, else zero."""
    numbers = torch.arange(n_cells, device=cells.device, dtype=cells.dtype)
    return stored(cells == numbers[:, None, None], name)


def product(left: Tensor, right: Tensor, name: str) -> Tensor:
    """Return left · rightᵀ of two matrices of :func:`stored`: whole numbers in float32 or int32."""
    if name == "float32":
        return left @ right.t()
    if name == "int8":
        return torch._int_mm(left, right.t())
    if name in ("bfloat16", "float16"):
        return torch.mm(left, right.t(), out_dtype=torch.float32)
    scale = torch.full((), _FP8_SCALE, device=left.device)
    left, right = (one.view(torch.float8_e4m3fn) for one in (left, right.t()))
    # With fast accumulation sums of some thousand ones are wrong on Hopper devices.
    return torch._scaled_mm(left, right, scale, scale, out_dtype=torch.float32, use_fast_accum=False)


class TorchCounts(RowCounts):
    """Counts of rows of state codes, of which pairs and families are counted on a device of PyTorch.

    Rows that are merged or put into another order are counted in main memory.

    A missing value is one more code for all columns, so the counts of every pair, summed over its codes, are the
    number of rows. Every block is checked for that; a number format that fails is given up for the next one.
    """

    def __init__(
        self, codes: Codes, sizes: Sequence[int], device: str = "cpu", alphabets: Sequence[int] = ()
    ) -> None:
        super().__init__(codes, sizes, alphabets=alphabets)
        self.place = open_device(device)
        self.formats = exact_formats(self.place)
        self.given_up: list[str] = []  # formats in which a block was counted wrongly
        self.n_codes = max(self.sizes) + self.has_gaps  # of every column on the device; the last is a missing value
        on_cpu = self.place.type == "cpu"
        free = at_most(_CPU_MEMORY, 1) if on_cpu else int(torch.cuda.mem_get_info(self.place)[0])
        shape = (self.n_nodes // _STEP + 1) * _STEP, max(1, -(-len(codes) // _LINE)) * _LINE
        line_bytes = 4 * (shape[0] * self.n_codes + 2 * _TILE_ROWS[self.place.type])  # one-hot, of one row
        if (least := 2 * prod(shape) + _LINE * line_bytes) > free:
            raise TooLargeError(
                f"{len(codes):,} rows of {self.n_nodes:,} columns need {shown_bytes(least)} of memory on "
                f"{self.place}, and {shown_bytes(free)} may be used; use fewer rows or columns, or leave device out"
            )
        self._most_cells = min(_MOST_CELLS[self.place.type], free // _CELL_BYTES)
        at_once = max(_LINE, min(free // 2 // line_bytes, _EXACT - 1) // _LINE * _LINE)
        self._chunks = [slice(start, start + at_once) for start in range(0, shape[1], at_once)]
        rows = torch.from_numpy(codes.astype(np.min_scalar_type(-self.n_codes))).to(self.place)
        # [node, row]: -1 in the padding, which is one node at least, and the rows behind the last.
        self._padded = torch.full(shape, -1, dtype=rows.dtype, device=self.place)
        self._padded[: self.n_nodes, : len(codes)] = rows.masked_fill_(rows < 0, self.n_codes - 1).t()
        self._hot: tuple[Any, Tensor] = None, None

    @property
    def format(self) -> str:
        """The number format that is used first."""
        for name in self.formats:
            if name not in self.given_up:
                return name
        raise KgmiError(
            f"{self.place} counts wrongly in {', '.join(self.formats)}: the device or its driver is faulty; leave "
            "device out"
        )

    @cached_property
    def margins(self) -> Tensor:
        """[node, code]: counts on the device, in double precision."""
        rows = self._padded[: self.n_nodes]
        return torch.stack([(rows == code).sum(1) for code in range(self.n_codes)], dim=1).double()

    def pairs(self) -> PairCounts:
        """Return the counts of all pairs of nodes."""
        n_nodes, n_states = self.n_nodes, max(self.sizes)
        check_pair_size(n_nodes, n_states)
        out = np.empty((n_nodes, n_nodes, n_states, n_states), dtype=np.int64)
        for start, end, block in self.pair_blocks():
            made = _in_memory(block, n_states, n_states)
            out[start:end, :end] = made
            out[:end, start:end] = made.transpose(1, 0, 3, 2)
        return PairCounts(out)

    def pair_blocks(self) -> Iterator[tuple[int, int, Block]]:
        """Yield (start, end, counts) of all children start..end-1 with all nodes before ``end``, on the device.

        The next blocks are under way before the sums of one are looked at, and the largest blocks, which are the
        last, come first: so the device never waits.
        """
        waiting: list[tuple[slice, Block, Tensor]] = []
        for start, end in reversed([*self.tiles(self.n_codes)]):
            waiting.append((slice(start, end), *self._counted(slice(start, end), end, self.format)))
            while len(waiting) > (_AHEAD if start else 0):
                items, counts, is_right = waiting.pop(0)
                yield items.start, items.stop, counts if bool(is_right) else self.block(items, items.stop)

    def tiles(self, n_cells: int) -> Iterator[tuple[int, int]]:
        """Yield all children in tiles (start, end) whose counts with all nodes before ``end`` fit."""
        start = 0
        while start < self.n_nodes:
            end = min(self.n_nodes, start + self.tile_size(n_cells, min(self.n_nodes, start + 1_024)))
            yield start, end
            start = end

    def tile_size(self, n_cells: int, n_candidates: int) -> int:
        """Return how many items of so many cells are counted at a time with so many candidates."""
        fits = self._most_cells // (n_cells * self.n_codes * max(n_candidates, 1))
        return max(1, min(fits, _TILE_ROWS[self.place.type] // n_cells))

    def numbers(self, nodes: Any) -> Tensor:
        """Return numbers of nodes as a tensor on the device."""
        return torch.as_tensor(np.array(nodes, dtype=np.int64), device=self.place)

    def joint_states(self, nodes: Tensor) -> Tensor:
        """Return [item, row]: the states of nodes [item, place] as one number, the first the most significant.

        Nodes of a place are of one size. A missing value gives the number behind the last, padding a negative one.
        """
        shape = [self.sizes[node] for node in nodes[0].tolist()]
        dtype = torch.int16 if max(prod(shape), self.n_codes) < 2**15 else torch.int32
        columns = self._padded[nodes.t()].to(dtype)  # [place, item, row]
        cells = columns[0]
        for size, column in zip(shape[1:], columns[1:], strict=True):
            cells = cells * size + column
        if self.has_gaps:
            cells = cells.masked_fill((columns == self.n_codes - 1).any(0), prod(shape))
        return cells

    def _count(self, child: int, tuples: Ints, candidates: Ints, wanted: Any, out: Floats) -> None:
        *parents, size, n_states = out.shape[2:]
        if (n_cells := prod(parents) * n_states) > _TILE_ROWS[self.place.type]:
            super()._count(child, tuples, candidates, wanted, out)
            return
        items = self.numbers(np.column_stack([tuples, np.full(len(tuples), child)]))
        behind, step = self.numbers(candidates), self.tile_size(n_cells + self.has_gaps, len(candidates))
        for start in range(0, len(items), step):
            here = slice(start, start + step)
            made = _in_memory(self.block(items[here], behind), n_cells, size)
            made = made.reshape(*made.shape[:2], *parents, n_states, size).swapaxes(-1, -2)
            out[here][wanted[here]] = made[wanted[here]]

    def weighed(self, block: Block, weights: Floats) -> Tensor:
        """Return [item, candidate]: Σ counts · weights [state of the candidate, cell], in double precision."""
        out = torch.zeros_like(block[0][:, 0], dtype=torch.float64)
        for counts, row in zip(block, weights.tolist(), strict=False):  # without missing values, which are the last
            for cell, weight in enumerate(row):
                out.add_(counts[:, cell], alpha=weight)
        return out

    def block(self, items: slice | Tensor, candidates: int | Tensor) -> Block:
        """Return counts [state of the candidate][item, cell, candidate] on the device.

        Items are a slice of nodes, whose cells are their codes, or nodes [item, place], whose cells are those of
        :meth:`joint_states`. Candidates are so many of the first nodes, or a tensor of nodes.
        """
        while True:
            name = self.format
            counts, is_right = self._counted(items, candidates, name)
            if bool(is_right):
                return counts
            self.given_up.append(name)

    def _counted(self, items: slice | Tensor, candidates: int | Tensor, name: str) -> tuple[Block, Tensor]:
        """Return a block in one format, and whether its sums are right, without waiting for the device."""
        pad, cells, n_cells = torch.nn.functional.pad, None, self.n_codes
        if not isinstance(items, slice):
            cells = self.joint_states(items)
            n_cells = prod(self.sizes[node] for node in items[0].tolist()) + self.has_gaps
        if isinstance(candidates, int):
            n_right, right = candidates, slice(candidates + -candidates % _STEP)
        else:
            n_right = len(candidates)
            right = pad(candidates, (0, -n_right % _STEP), value=self.n_nodes)  # a node of the padding, all zero
        total: list[Tensor] = []
        for chunk in self._chunks:
            hot = self._indicators(chunk, name)
            left = (hot[:, items] if cells is None else one_hot(cells[:, chunk], n_cells, name)).flatten(0, 1)
            n_left = len(left)
            if (missing := max(-n_left % _STEP, 2 * _STEP - n_left)) > 0:
                left = pad(left, (0, 0, 0, missing))
            made = [product(left, one[right], name)[:n_left, :n_right] for one in hot]
            # Sums over all rows may need double precision.
            total = [one.double() + new for one, new in zip(total, made, strict=True)] if total else made
        counts = tuple(one.unflatten(0, (n_cells, -1)).transpose(0, 1) for one in total)
        return counts, (sum((one.sum(1) for one in counts[1:]), counts[0].sum(1)) == len(self.codes)).all()

    def _indicators(self, chunk: slice, name: str) -> Tensor:
        """Return [code, node, row] of some rows; the last ones are kept."""
        if self._hot[0] != (chunk, name):
            self.forget_indicators()  # before there are others
            self._hot = (chunk, name), one_hot(self._padded[:, chunk], self.n_codes, name)
        return self._hot[1]

    def forget_indicators(self) -> None:
        """Free the memory of indicators; they are made again when something is counted."""
        self._hot = None, None


def _in_memory(block: Block, n_cells: int, n_states: int) -> Any:
    """Return [item, candidate, cell, state of the candidate] in main memory, without missing values."""
    cells = torch.stack([one[:, :n_cells] for one in block[:n_states]], dim=-1)
    return cells.transpose(1, 2).contiguous().cpu().numpy()
