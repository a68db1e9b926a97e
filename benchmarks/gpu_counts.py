"""Time counting on a device: all pairs by TorchCounts, beside products of the same size in every exact format.

    PYTHONPATH=src python benchmarks/gpu_counts.py [cuda | cpu] [COLUMNS ...]

Needs torch, numba, numpy and scipy. The product of a size has as many operations as the counts of all pairs of
columns need: 2 · rows · S² · T (T - 1) / 2. Times are the shortest of five.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np
import torch

from kgmi.counts.bits import RowCounts
from kgmi.counts.torch import TorchCounts, exact_formats, open_device, product, stored, wait_for
from kgmi.errors import TooLargeError

ROWS, STATES, REPEATS = 10_000, 3, 5


def shortest(work: Callable[[], object], place: torch.device) -> float:
    """Return the shortest of some times, in seconds; the first call loads code onto the device."""
    times = []
    for _ in range(REPEATS + 1):
        wait_for(place)
        start = perf_counter()
        work()
        wait_for(place)
        times.append(perf_counter() - start)
    return min(times[1:])


def count_blocks(counts: TorchCounts) -> None:
    """Count all pairs, every block checked, from codes that are on the device; results stay there."""
    counts.forget_indicators()
    for _ in counts.pair_blocks():
        pass


def measure(n_columns: int, device: str) -> None:
    """Print times of products and of counting."""
    place, start = open_device(device), f"T = {n_columns:,}:"
    codes = np.random.default_rng(1).integers(0, STATES, (ROWS, n_columns)).astype(np.int8)
    counts = TorchCounts(codes, (STATES,) * n_columns, device=device)
    tera = ROWS * STATES**2 * n_columns * (n_columns - 1) / 1e12
    side = -(-int((n_columns * (n_columns - 1) / 2) ** 0.5 * STATES) // 16) * 16
    mask = torch.rand(side, -(-ROWS // 128) * 128, device=place) < 1 / STATES
    best = np.inf
    for name in exact_formats(place):
        seconds = shortest(partial(product, stored(mask, name), stored(mask, name), name), place)
        best = min(best, seconds)
        print(f"{start} product of side {side:,} in {name}: {seconds:.3g} s, {tera / seconds:.3g} Tera/s")
    seconds = shortest(partial(count_blocks, counts), place)
    print(f"{start} pair_blocks() in {counts.format}: {seconds:.3g} s, {tera / seconds:.3g} Tera/s,", end=" ")
    print(f"{best / seconds:.0%} of the best product; given up: {counts.given_up}")
    try:
        print(f"{start} pairs(), the table in main memory: {shortest(counts.pairs, place):.3g} s")
    except TooLargeError as error:
        print(f"{start} pairs() is refused: {error}")


if __name__ == "__main__":
    chosen, sizes = (sys.argv[1:2] or ["cuda"])[0], (STATES,) * 300
    for lowest in (0, -1):
        rows = np.random.default_rng(2).integers(lowest, STATES, (ROWS, 300)).astype(np.int8)
        tables = RowCounts(rows, sizes).pairs().counts, TorchCounts(rows, sizes, device=chosen).pairs().counts
        print(f"T = 300, {'with' if lowest else 'no'} gaps: equal to RowCounts: {np.array_equal(*tables)}")
    for n in [int(one) for one in sys.argv[2:]] or [1_000, 10_000]:
        measure(n, chosen)
