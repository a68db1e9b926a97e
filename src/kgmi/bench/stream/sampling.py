"""Many rows quickly: blocks of codes drawn from a process, each from random numbers of its own.

:func:`kgmi.sample_chunks` draws every cell from a number of 53 bits; here 32 bits do, which is several times as
fast. Every single row is drawn, none is written twice. A block depends on the seed and its number alone: threads
and files make no difference, and where the last block is cut, the rows of a small table are the first of a larger.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kgmi.bench.graphs.setting import Setting
from kgmi.process import Process
from kgmi.sampling import code_type
from kgmi.types import Codes, Floats

__all__ = ["process_of", "sample_block"]

_PARENTS = 2


def process_of(n_nodes: int, seed: int) -> Process:
    """A random graph, with two parents for every node but the first two, and the paper's kernel with random p."""
    return Setting(f"random:{n_nodes},{_PARENTS}", "paper", 1).draw(seed)[0]


def sample_block(process: Process, seed: int, number: int, n_rows: int) -> Codes:
    """Codes [column, row] of the block with that number; all blocks of a table have as many rows."""
    n_nodes = process.n_nodes
    words = np.random.SFC64([seed, number]).random_raw(-(-n_nodes * n_rows // 2))
    drawn = words.view(np.uint32)[: n_nodes * n_rows].reshape(n_nodes, n_rows)
    columns = np.empty((n_nodes, n_rows), dtype=code_type(process.n_states))
    for block in process.dag.root_blocks:
        law = process.root_law(len(block))
        tuples = np.searchsorted(_limits(law.ravel()), drawn[block[0]], side="right")
        for node, codes in zip(block, np.unravel_index(tuples, law.shape), strict=True):
            columns[node] = codes
    limits = {degree: _limits(process.kernel_of_degree(degree).table) for degree in _degrees(process)}
    for child in process.dag.order:
        if parents := process.dag.parents[child]:
            _draw(columns, child, parents, limits[len(parents)], drawn[child])
    return columns


def _draw(columns: Codes, child: int, parents: tuple[int, ...], limits: NDArray[np.uint32], drawn: Codes) -> None:
    """The child's codes: how many limits of the configuration of its parents the random number reaches."""
    places = columns[parents[0]].astype(np.intp)
    for parent in parents[1:]:
        places *= limits.shape[-1] + 1  # states
        places += columns[parent]
    columns[child] = 0
    for limit in limits.reshape(-1, limits.shape[-1]).T:
        columns[child] += drawn >= np.take(np.ascontiguousarray(limit), places)


def _limits(law: Floats) -> NDArray[np.uint32]:
    """[…, S − 1]: cumulative probabilities as numbers of 32 bits; the last state takes what is left."""
    below = np.rint(np.cumsum(law, axis=-1)[..., :-1] * 2.0**32)
    return np.asarray(np.minimum(below, 2**32 - 1).astype(np.uint32))


def _degrees(process: Process) -> set[int]:
    return {len(parents) for parents in process.dag.parents if parents}
