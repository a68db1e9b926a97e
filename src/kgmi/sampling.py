"""Rows from a process, in chunks, with the labelled tail of appendix C-B and a kernel per sequence if asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, overload

import numpy as np

from kgmi.errors import SettingError, TooLargeError
from kgmi.kernel import FiniteKernels, Kernel, KernelSampler
from kgmi.process import Process
from kgmi.types import Bools, Codes, Floats, Rng, Rows

__all__ = ["LabelledRows", "sample", "sample_chunks"]

_CHUNK_ROWS = 65_536
_MOST_CELLS = 10_000_000_000


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows with the labelled tail of appendix C-B.

    Attributes
    ----------
    rows
        ``rows[row, node]``.
    uniform
        ``uniform[row, head]``: K tokens drawn uniformly, the parents of the label.
    label
        ``label[row]``: one token drawn from the row's kernel given the uniform tokens.
    """

    rows: Rows
    uniform: Codes
    label: Codes


@overload
def sample(process: Process, n_rows: int, *, rng: Rng, labelled: Literal[False] = False) -> Rows: ...
@overload
def sample(process: Process, n_rows: int, *, rng: Rng, labelled: Literal[True]) -> LabelledRows: ...
def sample(process: Process, n_rows: int, *, rng: Rng, labelled: bool = False) -> Rows | LabelledRows:
    """Draw ``n_rows`` independent sequences.

    The codes are of the smallest signed integer type that holds the states. One uniform number is used per
    cell, so the rows do not depend on how the work is cut into chunks.
    """
    width = process.n_nodes + (process.kernel.n_parents + 1 if labelled else 0)
    if n_rows * width > _MOST_CELLS:
        raise TooLargeError(f"{n_rows:,} rows of {width} columns at once are too many; use sample_chunks")
    chunks = sample_chunks(process, n_rows, rng=rng, labelled=labelled)
    out = np.empty((n_rows, width), dtype=code_type(process.n_states))
    start = 0
    for chunk in chunks:
        out[start : start + len(chunk)] = chunk
        start += len(chunk)
    if not labelled:
        return out
    return LabelledRows(out[:, : process.n_nodes], out[:, process.n_nodes : -1], out[:, -1])


def sample_chunks(
    process: Process,
    n_rows: int,
    *,
    rng: Rng,
    labelled: bool = False,
    chunk_rows: int = _CHUNK_ROWS,
) -> Iterator[Codes]:
    """Like :func:`sample`, in chunks of ``chunk_rows`` rows; the tail, if asked for, is the last K + 1 columns."""
    if n_rows < 1:
        raise SettingError(f"n_rows must be at least 1, got {n_rows}")
    if chunk_rows < 1:
        raise SettingError(f"chunk_rows must be at least 1, got {chunk_rows}")
    return _chunks(process, n_rows, np.random.default_rng(rng), labelled, chunk_rows)


def _chunks(
    process: Process, n_rows: int, rng: np.random.Generator, labelled: bool, chunk_rows: int
) -> Iterator[Codes]:
    kernel_rng = rng.spawn(1)[0] if isinstance(process.kernel, KernelSampler) else rng
    width = process.n_nodes + (process.kernel.n_parents + 1 if labelled else 0)
    for start in range(0, n_rows, chunk_rows):
        size = min(chunk_rows, n_rows - start)
        # The first column chooses the kernel of the row where kernels are random.
        uniforms = rng.random((size, width + 1))
        out = np.empty((size, width), dtype=code_type(process.n_states))
        for kernel, chosen in _kernels(process, uniforms[:, 0], kernel_rng):
            out[chosen] = _draw(process.with_kernel(kernel), uniforms[chosen, 1:], out.dtype)
        yield out


def code_type(n_states: int) -> np.dtype[np.signedinteger]:
    """Smallest signed integer type for codes 0..S-1."""
    return np.dtype(np.min_scalar_type(-n_states))


def _kernels(
    process: Process, uniforms: Floats, rng: np.random.Generator
) -> Iterator[tuple[Kernel, Bools | slice]]:
    """Each kernel in use with the rows of the chunk that follow it."""
    kernel = process.kernel
    if isinstance(kernel, FiniteKernels):
        choice = np.searchsorted(np.cumsum(kernel.weights)[:-1], uniforms, side="right")
        for index in np.unique(choice):
            yield kernel.kernels[index], choice == index
    elif isinstance(kernel, KernelSampler):
        for row in range(len(uniforms)):
            yield kernel.one(rng), slice(row, row + 1)
    else:
        yield process.fixed_kernel(), slice(None)


def _draw(process: Process, uniforms: Floats, dtype: np.dtype[np.signedinteger]) -> Codes:
    """All nodes of a chunk under one kernel, by inverting cumulative laws; then the tail, if there is room."""
    dag, kernel, n_states = process.dag, process.fixed_kernel(), process.n_states
    rows = np.empty(uniforms.shape, dtype=dtype)
    for block in dag.root_blocks:
        law = process.root_law(len(block))
        tuples = np.searchsorted(np.cumsum(law)[:-1], uniforms[:, block[0]], side="right")
        rows[:, block] = np.stack(np.unravel_index(tuples, law.shape), axis=1)
    steps: dict[int, Floats] = {}
    for child in dag.order:
        if degree := len(parents := dag.parents[child]):
            if degree not in steps:
                steps[degree] = np.cumsum(process.kernel_of_degree(degree).table, axis=-1)
            rows[:, child] = _invert(steps[degree], [rows[:, p] for p in parents], uniforms[:, child])
    if rows.shape[1] > dag.n_nodes:
        tail = slice(dag.n_nodes, -1)
        rows[:, tail] = uniforms[:, tail] * n_states
        given = [rows[:, dag.n_nodes + head] for head in range(kernel.n_parents)]
        rows[:, -1] = _invert(np.cumsum(kernel.table, axis=-1), given, uniforms[:, -1])
    return rows


def _invert(cumulative: Floats, given: list[Codes], uniforms: Floats) -> Codes:
    """The state whose cumulative probability, given the parents' states, first exceeds the uniform number."""
    steps = cumulative[tuple(given)][:, :-1]  # the last is 1 up to rounding and must catch everything
    return np.asarray((uniforms[:, None] >= steps).sum(axis=1))
