"""Ways to count the pairs of columns of two alphabets, and what each costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from kgmi.statistics.bits import count_bits, count_bits_plain
from kgmi.statistics.histograms import count_histograms_plain, count_in_histograms, in_columns
from kgmi.statistics.packed import Packed, pack
from kgmi.statistics.places import Block
from kgmi.types import Codes, Ints

__all__ = ["BITS", "HISTOGRAM", "PLAIN_BITS", "PLAIN_HISTOGRAM", "Method"]

_MANY_ROWS = 4_000  # from which on words are filled up to what is counted at a time, which takes less than the rest


@dataclass(frozen=True)
class Method:
    """A way to count the pairs of columns of two alphabets.

    Attributes
    ----------
    prepare
        Codes [row, node] of one alphabet, its size, whether values are missing → what ``count`` reads.
    count
        Adds the counts of a block to the table [i, j, s', s].
    cost
        Sizes of two alphabets, whether values are missing, number of rows → nanoseconds for a pair of columns.
    lines, cells
        How large a block may be: lines of bits on a side, and cells of its part of the table.
    is_compiled
        Whether it is compiled, and so leaves the interpreter to other threads.
    """

    prepare: Callable[[Codes, int, bool], Any]
    count: Callable[[Any, Any, Block, Ints], None]
    cost: Callable[[int, int, bool, int], float]
    lines: int
    cells: int
    is_compiled: bool

    def n_nodes(self, n_states: int) -> int:
        """Columns of so many states on one side of a block."""
        return max(1, min(self.lines // n_states, int(self.cells**0.5) // n_states))


def _in_bits(codes: Codes, n_states: int, has_gaps: bool) -> Packed:
    return pack(codes, n_states, has_gaps=has_gaps, multiple=16 if len(codes) >= _MANY_ROWS else 1)


def _bits_cost(first: int, second: int, has_gaps: bool, n_rows: int, line: float, row: float) -> float:
    """So much for each pair of lines of bits, and so much for each row of it."""
    return (first - 1 + has_gaps) * (second - 1 + has_gaps) * (line + row * n_rows)


def _histogram_cost(first: int, second: int, has_gaps: bool, n_rows: int) -> float:
    return n_rows * (1.7 if has_gaps else 0.43) + 0.6 * first * second


def _plain_histogram_cost(_first: int, _second: int, has_gaps: bool, n_rows: int) -> float:
    return 4_000 + n_rows * (4.5 if has_gaps else 1.5)


# The costs were measured in November 2026 on one core of an AMD EPYC with AVX-512. In 10,000 rows, alphabets of up
# to 18 states are counted in bits and larger ones as histograms; in 1,000 rows, those of up to 11 states.

BITS = Method(_in_bits, count_bits, partial(_bits_cost, line=3.8, row=0.00105), 144, 64_000, True)
HISTOGRAM = Method(in_columns, count_in_histograms, _histogram_cost, 10**9, 64_000, True)
PLAIN_BITS = Method(_in_bits, count_bits_plain, partial(_bits_cost, line=50.0, row=0.023), 600, 10**9, False)
PLAIN_HISTOGRAM = Method(in_columns, count_histograms_plain, _plain_histogram_cost, 10**9, 10**9, False)
