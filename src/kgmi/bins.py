"""Measurements cut into states at their quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

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
        values = numbers_in(cells, name)
        if values is None:
            raise DataError(f"column '{name}' holds measurements, and these rows of it hold other things")
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


def numbers_in(cells: Cells, name: str) -> Floats | None:
    """Return a column of numbers as floats, NaN for missing values; None for a column that holds other things."""
    values: Any = cells.values
    if not {*map(type, values)} <= {int, float}:
        values = [np.nan if is_missing(one) else one for one in values]
        if not all(isinstance(one, Real | Decimal) for one in values):
            return None
    if cells.declared is not None:
        return None
    floats: Floats = np.append(np.asarray(values, dtype=np.float64), np.nan)[cells.index]
    if np.isinf(floats).any():
        row = int(np.isinf(floats).argmax())
        problem = f"is {floats[row]}; a measurement must be finite: correct it or drop the row"
        raise CellError(f"row {row}, column '{name}' {problem}", column=name, row=row, value=floats[row])
    return floats


def quantile_bins(values: Floats, n_bins: int) -> Bins:
    """Return bins with about equally many values each; one for each value if there are at most ``n_bins`` values.

    If the smallest value alone fills so many bins that no cut remains, it is one bin, and the other values are
    another.
    """
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
    short = [f"{one:.0f}" if 1e6 <= abs(one) < 1e15 else f"{one or 0:.6g}" for one in numbers]  # no -0
    return short if len({*short}) == len(short) else [repr(one).removesuffix(".0") for one in numbers]
