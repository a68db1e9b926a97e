"""Do rows repeat each other? Whether they occur as often as independent rows of some law can occur."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from kgmi.types import Codes, Ints

__all__ = ["REPEATS_LEVEL", "Repeats", "find_repeats"]

REPEATS_LEVEL = 0.002
"""What the test of the order of the rows leaves over of ``LEVEL``, as it draws whole hundreds of orders."""

_MOST_CELLS = 100_000_000  # that are read to find equal rows, some tenths of a second
_MULTIPLES = {2: 0.5, 3: 1 / 3, 5: 0.205, 7: 0.165}
# The largest share of the rows that occur at all to occur a multiple of so many times, whatever their law: of
# counts around c these are 1 in so many for large c, none for small c, and a little more in between for 5 and 7.
_PEAKS = range(2, 21)  # numbers of times that may stick out
_SEED = 20_261_116  # the same answer for the same table


@dataclass(frozen=True)
class Repeats:
    """What is odd in how often equal rows occur.

    Attributes
    ----------
    p_value
        Corrected for all that was looked at; 1 where there is nothing to see.
    n_different
        How many different rows there are.
    oddity
        What sticks out most, in words.
    """

    p_value: float
    n_different: int
    oddity: str


def find_repeats(rows: Codes) -> Repeats:
    """Whether rows occur in numbers that independent draws of no law whatever would give them.

    That there are few different rows says nothing: few columns of few states have no others, and some laws allow
    few. But how often a row occurs is then binomial, which is smooth: at most half of the rows occur an even number
    of times, a third three, six, … times, and those that occur exactly k times are seldom many more than those that
    occur once more or once less (the counts of binomial mixtures, divided by the binomial coefficient, are
    log-convex). Copies break this, in any order and with any dependence inside the rows.
    """
    times = _times(rows)
    by_times = np.bincount(np.minimum(times, _PEAKS[-1] + 2), minlength=_PEAKS[-1] + 3)
    n_rows, n_different = int(times.sum()), len(times)
    rest = np.delete(times, int(times.argmax()))  # the largest follows from the others and the number of rows
    found: list[tuple[float, str]] = []
    for multiple, share in _MULTIPLES.items():
        n_such = int(np.count_nonzero(rest % multiple == 0))
        found.append((_at_least(n_such, len(rest), share), _multiple_text(times, multiple)))
    for k in _PEAKS:
        if n_rows <= 2 * k:
            break
        near = int(by_times[k - 1] + by_times[k + 1])
        n_such = int(by_times[k])
        ratio = sqrt(k * (n_rows - k) / ((k + 1) * (n_rows - k + 1)))
        text = f"{n_such:,} occur exactly {k} times, {near:,} once more or once less"
        found.append((_at_least(n_such, n_such + near, 1 / (1 + 2 * ratio)), text))
    p_value, oddity = min(found, key=lambda one: one[0])
    return Repeats(min(1.0, p_value * (len(_MULTIPLES) + len(_PEAKS))), n_different, oddity)


def _times(rows: Codes) -> Ints:
    """How often each different row occurs.

    Rows are told apart by one random number each; where there is no time for all columns, by some of them, as
    copies agree in these as well.
    """
    n_rows, n_columns = rows.shape
    keep = min(n_columns, max(1, _MOST_CELLS // n_rows))
    columns = np.unique(np.linspace(0, n_columns - 1, keep).astype(int))
    factors = np.random.default_rng(_SEED).integers(0, 2**64, size=len(columns), dtype=np.uint64)
    keys = np.zeros(n_rows, dtype=np.uint64)
    for column, factor in zip(columns, factors, strict=True):
        keys += rows[:, column].astype(np.int64).astype(np.uint64) * factor  # modulo 2**64
    times: Ints = np.unique(keys, return_counts=True)[1].astype(np.int64)
    return times


def _multiple_text(times: Ints, multiple: int) -> str:
    """How many occur a multiple of so many times; of more, where all do."""
    every = int(np.gcd.reduce(times))
    if every % multiple == 0:
        multiple = every
    n_such = int(np.count_nonzero(times % multiple == 0))
    how = "an even number of times" if multiple == 2 else f"a multiple of {multiple:,} times"
    return f"{'all' if n_such == len(times) else f'{n_such:,}'} of them occur {how}"


def _at_least(n_such: int, n_all: int, share: float) -> float:
    """Probability of so many or more of ``n_all``, each with probability ``share``."""
    from scipy.special import betainc  # scipy.stats is slow to load

    return 1.0 if n_such == 0 else float(betainc(n_such, n_all - n_such + 1, share))
