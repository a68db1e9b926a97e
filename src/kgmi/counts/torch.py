"""``TorchCounts``: counts of rows on a device, from products of matrices of zeros and ones with exact sums.

PyTorch (extra ``gpu``) is loaded when a device is opened. The same code runs on ``cuda`` and on ``cpu``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from math import prod
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from kgmi.counts.base import PairCounts
from kgmi.counts.bits import RowCounts
from kgmi.errors import KgmiError, SettingError, TooLargeError
from kgmi.joint import check_pair_size
from kgmi.memory import at_most, shown_bytes
from kgmi.types import Codes, Floats, Ints

__all__ = ["FORMATS", "Tensor", "TorchCounts", "exact_formats", "open_device", "product", "stored", "wait_for"]

Tensor: TypeAlias = Any
"""A tensor of PyTorch, which has no types here: it is optional."""
Block: TypeAlias = tuple[Any, ...]
"""[state of the candidate][item, cell, candidate]: counts on the device, whole numbers in a type that is exact."""

FORMATS = ("fp8-fast", "fp8", "int8", "bfloat16", "float16", "float32")
"""Number formats of products. Which are exact, and which is fastest, differs between devices; all have the last."""

_STEP = 16  # sizes of matrices are multiples of it: fp8 and int8 need that
_LINE = 128  # rows are padded to multiples of it, so that columns begin where devices read best
_TILE_ROWS = {"cuda": 4_608, "cpu": 512}  # of the left matrix; larger tiles count more pairs that are not needed
_MOST_CELLS = {"cuda": 2**28, "cpu": 2**22}  # of counts at a time
_CELL_BYTES = 64  # of a cell with what is made of it
_CPU_MEMORY = 2_000_000_000  # bytes that are used where the device is the processor
_EXACT = 2**24  # float32 counts exactly below
_AHEAD = 3  # blocks of pairs that are under way at a time
_TRUE_IN_FP8 = 2.0**-9  # what the byte 1, a true value, means in float8_e4m3fn: so masks need not be converted
_LONG, _NARROW = 100_000, 64  # rows and columns of the trial for exactness
_TIMED = {"cuda": (4_096, 8_192), "cpu": (192, 2_048)}  # columns and rows of the trial for speed


def open_device(device: str) -> Any:
    """Return the device of this name, ``cuda``, ``cuda:1`` … or ``cpu``."""
    unknown = f"device must be 'cuda', 'cuda:1' … or 'cpu', got {device!r}; leave it out to count without PyTorch"
    if not isinstance(device, str) or device.partition(":")[0] not in ("cuda", "cpu"):
        raise SettingError(unknown)
    if find_spec("torch") is None:
        raise SettingError(
            f"device='{device}' needs PyTorch, which is not installed: pip install 'kgmi[gpu]', or leave device out"
        )
    import torch

    try:
        place = torch.device(device)
    except RuntimeError:
        raise SettingError(unknown) from None
    if place.type == "cpu":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise SettingError(
            f"device='{device}': PyTorch {torch.__version__} finds no NVIDIA device. Install its build for CUDA "
            "and a driver, use device='cpu' to try the same code, or leave device out"
        )
    if (place.index or 0) >= torch.cuda.device_count():
        raise SettingError(f"device='{device}': there are {torch.cuda.device_count()} devices here, from cuda:0 on")
    return torch.device("cuda", torch.cuda.current_device() if place.index is None else place.index)


def wait_for(place: Any) -> None:
    """Wait until the device has done all that was asked of it."""
    if place.type == "cuda":
        import torch

        torch.cuda.synchronize(place)


def _free_memory(place: Any) -> int:
    if place.type != "cuda":
        return at_most(_CPU_MEMORY, 1)
    import torch

    return int(torch.cuda.mem_get_info(place)[0])


def stored(mask: Tensor, name: str) -> Tensor:
    """Return a mask as a matrix in a number format, in a type that can be indexed; it may share its memory."""
    import torch

    if name in ("fp8-fast", "fp8", "int8"):
        return mask.view(torch.int8 if name == "int8" else torch.uint8)
    return mask.to(getattr(torch, name))


def product(left: Tensor, right: Tensor, name: str) -> Tensor:
    """Return left · rightᵀ of two matrices of :func:`stored`: whole numbers in float32 or int32."""
    import torch

    if name == "float32":
        return left @ right.t()
    if name == "int8":
        return torch._int_mm(left, right.t())
    if name in ("bfloat16", "float16"):
        return torch.mm(left, right.t(), out_dtype=torch.float32)
    scale = _fp8_scale(left.device)
    return torch._scaled_mm(
        left.view(torch.float8_e4m3fn),
        right.view(torch.float8_e4m3fn).t(),
        scale_a=scale,
        scale_b=scale,
        out_dtype=torch.float32,
        use_fast_accum=name == "fp8-fast",
    )


@lru_cache(maxsize=16)
def _fp8_scale(place: Any) -> Tensor:
    import torch

    return torch.full((), 1 / _TRUE_IN_FP8, device=place)


@lru_cache(maxsize=16)
def exact_formats(place: Any) -> tuple[str, ...]:
    """Return the formats that count exactly on this device, the fastest first; they are tried once in a process."""
    import torch

    size, n_rows = _TIMED[place.type]
    odds = torch.Generator().manual_seed(0)
    # Ones in nearly all places: sums that are kept in too few bits go wrong when they are large.
    long = (torch.rand(_NARROW, _LONG, generator=odds) < 0.97).to(place)
    wide = (torch.rand(size, n_rows, generator=odds) < 0.3).to(place)
    right = long.double() @ long.double().t()
    seconds: dict[str, float] = {}
    for name in FORMATS:
        try:
            matrix, timed = stored(long, name), stored(wide, name)
            if bool((product(matrix, matrix, name).double() == right).all()):
                seconds[name] = min(_seconds(timed, name, place) for _ in range(3))
        except (RuntimeError, NotImplementedError, TypeError, ValueError, AttributeError):
            continue  # this device or this version has no such product
    return tuple(sorted(seconds, key=lambda name: seconds[name]))


def _seconds(matrix: Tensor, name: str, place: Any) -> float:
    wait_for(place)
    start = perf_counter()
    product(matrix, matrix, name)
    wait_for(place)
    return perf_counter() - start


class TorchCounts(RowCounts):
    """Counts of rows of state codes, of which pairs and families are counted on a device of PyTorch.

    A missing value is one more code for all columns, so the counts of every pair, summed over its codes, are the
    number of rows. Every product is checked for that; a format that fails is given up, and the next one is used.

    Parameters
    ----------
    codes
        ``codes[row, node]`` in 0..S_node - 1, or -1 where the value is missing.
    sizes
        Number of states of every node.
    alphabets
        Which alphabet each node has, as a number; by default nodes of one size have the same.
    device
        ``cuda``, ``cuda:1`` … or ``cpu``.
    formats
        Number formats to use, in this order; by default those that are exact on the device, the fastest first.

    Attributes
    ----------
    place
        The device.
    n_codes
        Codes on the device, for all columns alike: the states of the largest alphabet, and a missing value.
    padded
        [node, row] codes on the device, -1 in the padding.
    given_up
        Formats that counted wrongly.
    """

    def __init__(
        self,
        codes: Codes,
        sizes: Sequence[int],
        alphabets: Sequence[int] = (),
        device: str = "cpu",
        formats: Sequence[str] | None = None,
    ) -> None:
        super().__init__(codes, sizes, alphabets=alphabets)
        self.device = device
        self.place = open_device(device)
        self.n_codes = max(self.sizes) + self.has_gaps
        self.given_up: list[str] = []
        self._formats = list(exact_formats(self.place) if formats is None else formats)
        free = _free_memory(self.place)
        shape = (self.n_nodes // _STEP + 1) * _STEP, max(1, -(-len(codes) // _LINE)) * _LINE
        line_bytes = 4 * (shape[0] * self.n_codes + 2 * _TILE_ROWS[self.place.type])  # indicators of one row
        if (least := 2 * prod(shape) + _LINE * line_bytes) > free:
            raise TooLargeError(
                f"{len(codes):,} rows of {self.n_nodes:,} columns need {shown_bytes(least)} of memory on "
                f"{self.place}, and {shown_bytes(free)} may be used; use fewer rows or columns, or leave device out"
            )
        self._most_cells = min(_MOST_CELLS[self.place.type], free // _CELL_BYTES)
        self.padded = self._padded(shape)
        at_once = max(_LINE, min(free // 2 // line_bytes, _EXACT - 1) // _LINE * _LINE)
        self._chunks = [slice(start, min(start + at_once, shape[1])) for start in range(0, shape[1], at_once)]
        self._hot: Tensor = None

    def _padded(self, shape: tuple[int, int]) -> Tensor:
        """Return [node, row], with one node at least and some rows of padding behind the last."""
        import torch

        dtype = next(one for one in (torch.int8, torch.int16, torch.int32) if self.n_codes <= torch.iinfo(one).max)
        rows = torch.empty(self.codes.shape, dtype=dtype)
        rows.numpy()[...] = self.codes  # a copy: PyTorch cannot promise not to write to arrays of others
        if self.has_gaps:
            rows[rows < 0] = self.n_codes - 1
        columns = torch.full(shape, -1, dtype=dtype, device=self.place)
        columns[: self.n_nodes, : len(rows)] = rows.to(self.place).t()
        return columns

    @property
    def format(self) -> str:
        """The number format that is used now."""
        return self._formats[0]

    @cached_property
    def margins(self) -> Tensor:
        """[node, code]: counts on the device, in double precision."""
        import torch

        rows = self.padded[: self.n_nodes]
        return torch.stack([(rows == code).sum(1) for code in range(self.n_codes)], dim=1).double()

    def _like(
        self, codes: Codes, sizes: tuple[int, ...], weights: Floats | None, alphabets: tuple[int, ...]
    ) -> RowCounts:
        if weights is not None:
            return super()._like(codes, sizes, weights, alphabets)
        return TorchCounts(codes, sizes, alphabets, self.device, self._formats)

    def pairs(self) -> PairCounts:
        """Return the counts of all pairs of nodes."""
        import torch

        n_nodes, n_states = self.n_nodes, max(self.sizes)
        check_pair_size(n_nodes, n_states)
        out = np.empty((n_nodes, n_nodes, n_states, n_states), dtype=np.int64)
        for start, end, block in self.pair_blocks():
            cells = torch.stack(
                [one[:, :n_states] for one in block[:n_states]], dim=-1
            )  # [child, s', candidate, s]
            made = cells.transpose(1, 2).contiguous().long().cpu().numpy()
            out[start:end, :end] = made
            out[:end, start:end] = made.transpose(1, 0, 3, 2)
        return PairCounts(out)

    def pair_blocks(self) -> Iterator[tuple[int, int, Block]]:
        """Yield (start, end, counts) of all children start..end-1 with all nodes before ``end``, on the device.

        The next blocks are under way before the sums of one are looked at, and the largest, which are the last, are
        begun first: so the device never waits.
        """
        waiting = []
        for start, end in reversed([*self.tiles(self.n_codes)]):
            if len(self._chunks) > 1:
                yield start, end, self.block(slice(start, end), end)
                continue
            waiting.append((start, end, *self._tried(slice(start, end), self.n_codes, end, self._chunks[0])))
            while len(waiting) > (_AHEAD if start else 0):
                begin, stop, counts, is_right = waiting.pop(0)
                # Counting again gives up the format, unless that was done meanwhile.
                yield begin, stop, counts if bool(is_right) else self.block(slice(begin, stop), stop)

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
        import torch

        return torch.as_tensor(np.array(nodes, dtype=np.int64), device=self.place)

    def _shape(self, nodes: Any) -> list[int]:
        """Return the numbers of states of nodes [item, place], which are the same for all items."""
        return [self.sizes[node] for node in nodes[0].tolist()]

    def joint_states(self, nodes: Tensor) -> Tensor:
        """Return [item, row]: the states of nodes [item, place] as one number, the first the most significant.

        A missing value gives the number behind the last, and the padding a negative one.
        """
        import torch

        shape = self._shape(nodes)
        dtype = torch.int16 if prod(shape) < 2**15 and self.n_codes < 2**15 else torch.int32
        cells = self.padded[nodes[:, 0]].to(dtype)
        for place in range(1, len(shape)):
            cells = cells * shape[place] + self.padded[nodes[:, place]]
        if self.has_gaps:
            for place in range(len(shape)):
                cells.masked_fill_(self.padded[nodes[:, place]] == self.n_codes - 1, prod(shape))
        return cells

    def adds_prices(self, child: int, tuples: Ints, candidates: Ints) -> bool:
        """Return whether :meth:`values` can be called: not for counts on a device."""
        return False

    def _count(self, child: int, tuples: Ints, candidates: Ints, wanted: Any, out: Floats) -> None:
        import torch

        shape = out.shape[2:]
        n_cells = prod(shape) // shape[-2]
        if n_cells > _TILE_ROWS[self.place.type]:
            super()._count(child, tuples, candidates, wanted, out)
            return
        for part, block in self._family_blocks(child, tuples, candidates):
            cells = torch.stack([one[:, :n_cells] for one in block[: shape[-2]]], dim=-1)
            cells = cells.unflatten(1, (-1, shape[-1])).permute(0, 3, 1, 4, 2)
            some = wanted[part]
            out[part][some] = cells.double().cpu().numpy().reshape(-1, len(candidates), *shape)[some]

    def _family_blocks(self, child: int, tuples: Ints, candidates: Ints) -> Iterator[tuple[slice, Block]]:
        """Yield counts [state of the candidate][tuple, (states of the tuple …, of the child), candidate]."""
        items = self.numbers(np.column_stack([tuples, np.full(len(tuples), child)]))
        behind = self.numbers(candidates)
        step = self.tile_size(prod(self._shape(items)) + self.has_gaps, len(candidates))
        for start in range(0, len(items), step):
            part = slice(start, min(start + step, len(items)))
            yield part, self.block(items[part], behind)

    def scores(self, child: int, tuples: Ints, candidates: Ints, gains: Floats, *, is_half: bool = False) -> Floats:
        """Return [kernel, tuple, candidate]: Σ counts · gains; see :meth:`Counts.scores`."""
        turned = np.moveaxis(gains, -2, 1).reshape(len(gains), gains.shape[-2], -1)
        if turned.shape[-1] > _TILE_ROWS[self.place.type]:
            return super().scores(child, tuples, candidates, gains, is_half=is_half)
        out = np.empty((len(gains), len(tuples), len(candidates)))
        for part, block in self._family_blocks(child, tuples, candidates):
            for kernel, weights in enumerate(turned):
                out[kernel, part] = self.weighed(block, weights).cpu().numpy()
        if is_half:
            out[:, np.tri(len(tuples), len(candidates), dtype=bool)] = -np.inf
        return out

    def weighed(self, block: Block, weights: Floats) -> Tensor:
        """Return [item, candidate]: Σ counts · weights [state of the candidate, cell], in double precision."""
        import torch

        n_items, _, n_candidates = block[0].shape
        out = torch.zeros(n_items, n_candidates, dtype=torch.float64, device=self.place)
        for counts, row in zip(block, weights.tolist(), strict=False):  # without missing values, which are the last
            for cell, weight in enumerate(row):
                out.add_(counts[:, cell], alpha=weight)
        return out

    def block(self, items: slice | Tensor, candidates: int | Tensor) -> Block:
        """Return counts [state of the candidate][item, cell, candidate] on the device.

        Parameters
        ----------
        items
            A slice of nodes, whose cells are their codes; or nodes [item, place], whose cells are their joint
            states, the first place the most significant. Where values are missing, the last cell has those rows.
        candidates
            How many of the first nodes, or their numbers.
        """
        cells, n_cells = items, self.n_codes
        if not isinstance(items, slice):
            cells, n_cells = self.joint_states(items), prod(self._shape(items)) + self.has_gaps
        total: Block = ()
        for chunk in self._chunks:
            part = cells if isinstance(cells, slice) else cells[:, chunk]
            counts, is_right = self._tried(part, n_cells, candidates, chunk)
            while not bool(is_right):
                self._give_up()
                counts, is_right = self._tried(part, n_cells, candidates, chunk)
            if len(self._chunks) > 1:  # the sum may need double precision
                counts = tuple(one.double() for one in counts)
                counts = tuple(one.add_(more) for one, more in zip(total, counts, strict=True)) if total else counts
            total = counts
        return total

    def _tried(
        self, cells: slice | Tensor, n_cells: int, candidates: int | Tensor, chunk: slice
    ) -> tuple[Block, Tensor]:
        """Return counts of some rows, and whether their sums are right, on the device: nobody has to wait yet."""
        import torch

        hot = self._indicators(chunk)
        if isinstance(cells, slice):
            n_items, left = cells.stop - cells.start, torch.cat([one[cells] for one in hot])
        else:
            numbers = torch.arange(n_cells, device=self.place, dtype=cells.dtype)
            n_items, left = len(cells), stored((cells == numbers[:, None, None]).flatten(0, 1), self.format)
        n_left = len(left)
        if n_left % _STEP or n_left < 2 * _STEP:
            left = torch.nn.functional.pad(left, (0, 0, 0, max(-n_left % _STEP, 2 * _STEP - n_left)))
        n_right = candidates if isinstance(candidates, int) else len(candidates)
        padded = -(-n_right // _STEP) * _STEP
        if not isinstance(candidates, int):  # the padding behind the last node is zero everywhere
            candidates = torch.nn.functional.pad(candidates, (0, padded - n_right), value=self.n_nodes)
        counts = []
        for one in hot:
            right = one[:padded] if isinstance(candidates, int) else one.index_select(0, candidates)
            made = product(left, right, self.format)[:n_left, :n_right]
            counts.append(made.unflatten(0, (n_cells, n_items)).transpose(0, 1))
        seen = counts[0].sum(1)
        for more in counts[1:]:
            seen += more.sum(1)
        n_rows = max(0, min(chunk.stop, len(self.codes)) - chunk.start)
        return tuple(counts), (seen == n_rows).all()

    def _indicators(self, chunk: slice) -> Tensor:
        """Return [code, node, row] of some rows; kept where all rows fit."""
        import torch

        if self._hot is not None:
            return self._hot
        columns = self.padded[:, chunk]
        codes = torch.arange(self.n_codes, device=self.place, dtype=columns.dtype)
        hot = stored(columns == codes[:, None, None], self.format)
        if len(self._chunks) == 1:
            self._hot = hot
        return hot

    def forget_indicators(self) -> None:
        """Free the memory of indicators; they are made again when something is counted."""
        self._hot = None

    def _give_up(self) -> None:
        """Use the next format from now on."""
        if len(self._formats) == 1:
            raise KgmiError(
                f"{self.place} counts wrongly in every number format, the last being {self.format}: the device or "
                "its driver is faulty. Leave device out"
            )
        self.given_up.append(self._formats.pop(0))
        self.forget_indicators()
