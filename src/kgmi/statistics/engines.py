"""Who counts pairs of columns: engines that agree bit for bit, and the choice between them by size."""

from __future__ import annotations

import sys
from functools import partial
from typing import Protocol

from kgmi.statistics.blocks import cost, count_in_blocks
from kgmi.statistics.methods import BITS, HISTOGRAM, PLAIN_BITS, PLAIN_HISTOGRAM
from kgmi.statistics.observed import Observed
from kgmi.types import Ints

__all__ = ["ENGINES", "Engine", "choose", "is_worth_compiling"]

# Nanoseconds of plain counting from which on the compiler is worth loading (.4 s), and, where it is loaded already,
# what it has compiled (10 ms). Measured in November 2026.
_WITHOUT_COMPILER, _WITH_COMPILER = 400_000_000.0, 10_000_000.0


class Engine(Protocol):
    """Counts all pairs of columns."""

    def __call__(self, rows: Observed) -> Ints:
        """``counts[i, j, s', s]``: rows with S_i = s' and S_j = s, for S states, those of the largest alphabet.

        The weights of the rows are not looked at.
        """
        ...


ENGINES: dict[str, Engine] = {
    "plain": partial(count_in_blocks, methods=(PLAIN_BITS, PLAIN_HISTOGRAM)),
    "bits": partial(count_in_blocks, methods=(BITS,)),
    "histogram": partial(count_in_blocks, methods=(HISTOGRAM,)),
    "mixed": partial(count_in_blocks, methods=(BITS, HISTOGRAM)),
}
"""By name. ``mixed`` takes bits or histograms for each pair of columns, by the sizes of their alphabets; ``plain``
does the same with NumPy alone. Others may be added; the contract in tests/test_counting.py walks over all."""


def choose(rows: Observed) -> str:
    """The quickest engine: NumPy where there is little to count and nothing compiled is loaded, else ``mixed``."""
    return "mixed" if is_worth_compiling(cost(rows, (PLAIN_BITS, PLAIN_HISTOGRAM))) else "plain"


def is_worth_compiling(plain: float) -> bool:
    """Whether what takes so many nanoseconds with NumPy alone is quicker compiled, loading included."""
    if "kgmi.statistics.bit_kernels" in sys.modules:
        return True  # nothing is too small for it
    return plain >= (_WITH_COMPILER if "numba" in sys.modules else _WITHOUT_COMPILER)
