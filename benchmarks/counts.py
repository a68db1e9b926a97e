"""Measure the counts of all pairs of columns against a product of matrices of the same rows.

Run ``python benchmarks/counts.py [COLUMNS …]``. Every number of columns is measured in a process of its own: 10,000
rows of 3 states are packed and counted, and the float32 product (GEMM) of their indicators is made. The first call
loads the compiler, or compiles; the last column is the quickest product by the quickest call from the second on.
"""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter

import numpy as np

N_ROWS, N_STATES, N_CALLS = 10_000, 3, 8


def timed(work):
    """Return the seconds that a call takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def measure(n_nodes):
    """Print the line of a number of columns."""
    from kgmi.counts.bits import RowCounts

    rows = np.random.default_rng(0).integers(0, N_STATES, (N_ROWS, n_nodes)).astype(np.int8)
    ones = (rows[:, :, None] == np.arange(N_STATES)).reshape(N_ROWS, -1).astype(np.float32)

    def count():
        return RowCounts(rows, (N_STATES,) * n_nodes).pairs()

    others = ones.copy()  # NumPy computes only half of the product of an array with itself (SYRK)

    def product():
        return ones.T @ others

    first, *later = [timed(count) for _ in range(N_CALLS)]
    gemm = min(timed(product) for _ in range(N_CALLS))  # afterwards: its threads stay busy for a while
    second, best = later[0], min(later)
    milliseconds = (1_000 * seconds for seconds in (first, second, best, gemm))
    print(f"{n_nodes:7}", *(f"{one:11.1f}" for one in milliseconds), f"{gemm / best:11.1f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(int(sys.argv[2]))
    else:
        heads = ("first ms", "second ms", "best ms", "product ms", "× faster")
        print(f"{'columns':>7}", *(f"{head:>11}" for head in heads), flush=True)
        for number in sys.argv[1:] or ("100", "300", "600", "1000"):
            subprocess.run([sys.executable, __file__, "--one", number], check=True)
