"""Measurements cut into states at their quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real

import numpy as np

from kgmi.cells import Cells, is_missing
from kgmi.errors import CellError, DataError
from kgmi.types import Floats


@dataclass(frozen=True)
class Bins:
    """Where a column of measurements is cut.

    Attributes
    ----------
    edges
        Increasing; bin b holds the values from ``edges[b - 1]`` up to, but not including, ``edges[b]``.
    centres
        ``centres[bin]``: the median of the values from which the bin was made.
    single
        ``single[bin]``: whether the bin was made from one value only, which is then its centre.
    """

    edges: tuple[float, ...]
    centres: tuple[float, ...]
    single: tuple[bool, ...]

    def cut(self, cells: Cells, name: str) -> Cells:
        """Return the numbers of the bins of a column."""
        if not are_numbers(cells):
            raise DataError(f"column '{name}' holds measurements, and these rows of it hold other things")
        values = numbers_in(cells)
        _check_finite(values, name)
        places = np.where(np.isnan(values), -1, np.searchsorted(self.edges, values, side="right"))
        return Cells(places, range(len(self.centres)))

    def labels(self, *, whole: bool = False) -> tuple[str, ...]:
        """Return the names of the bins: "below 118", "118 to 127", "127 or more"; "0" for one value.

        For ``whole`` numbers, both ends of "118 to 126" are in the bin.
        """
        centres, edges = shown_numbers(self.centres), shown_numbers(self.edges)
        ends = shown_numbers([edge - 1 for edge in self.edges]) if whole else edges
        inner = [f"{low} to {high}" for low, high in zip(edges[:-1], ends[1:], strict=True)]
        ranges = [f"below {edges[0]}", *inner, f"{edges[-1]} or more"] if edges else centres
        return tuple(np.where(self.single, centres, ranges).tolist())


def are_numbers(cells: Cells) -> bool:
    """Return whether a column has numbers and missing values only, and declares no categories."""
    others = {kind for kind in {*map(type, cells.values)} if not issubclass(kind, Real | Decimal)}
    return cells.declared is None and all(is_missing(one) for one in cells.values if type(one) in others)


def numbers_in(cells: Cells) -> Floats:
    """Return a column of numbers as floats; NaN for missing values."""
    values = cells.values
    if not {*map(type, values)} <= {int, float, np.float64}:
        values = [np.nan if is_missing(one) else float(one) for one in values]
    floats: Floats = np.append(np.asarray(values, dtype=np.float64), np.nan)[cells.index]
    return floats


def quantile_bins(values: Floats, n_bins: int, name: str) -> Bins:
    """Return bins with about equally many values each; one for each value if there are at most ``n_bins`` values.

    If the smallest value alone fills so many bins that no cut remains, it is one bin, and the other values are
    another.
    """
    _check_finite(values, name)
    present = np.sort(values[~np.isnan(values)])
    lowest = np.unique(present)  # of each bin
    if lowest.size > n_bins:
        shares = np.arange(1, n_bins) / n_bins
        chosen = np.unique(np.quantile(present, shares, method="higher"))  # values that occur: no bin is empty
        lowest = chosen if chosen[-1] > present[0] else lowest[:2]
    edges = lowest[lowest > present[0]]
    groups = np.split(present, np.searchsorted(present, edges))
    centres = tuple(float(np.quantile(group, 0.5, method="higher")) for group in groups)
    return Bins(tuple(edges.tolist()), centres, tuple(bool(group[0] == group[-1]) for group in groups))


def shown_numbers(numbers: Sequence[float]) -> list[str]:
    """Return numbers as texts: whole ones with all digits, others rounded as long as the texts remain different."""
    short = [_shown_number(number) for number in numbers]
    return short if len({*short}) == len(short) else [_shown_number(number, in_full=True) for number in numbers]


def _shown_number(number: float, *, in_full: bool = False) -> str:
    if isinstance(number, int) or (abs(number) < 1e15 and number.is_integer()):
        return str(int(number))
    if in_full:
        return repr(number)
    return f"{number:.0f}" if 1e6 <= abs(number) < 1e15 else f"{number:.6g}"


def _check_finite(values: Floats, name: str) -> None:
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        problem = f"is {values[row]}; a measurement must be finite: correct it or drop the row"
        raise CellError(f"row {row}, column '{name}' {problem}", column=name, row=row, value=values[row])
