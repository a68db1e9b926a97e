"""``Bins``: measurements cut into states at their quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from kgmi.data.columns import is_missing
from kgmi.data.origin import row_place
from kgmi.errors import DataError, SettingError
from kgmi.types import Floats

__all__ = ["Bins", "as_floats", "as_measured", "checked_bins", "quantile_bins"]


@dataclass(frozen=True)
class Bins:
    """Where a column of measurements is cut.

    Attributes
    ----------
    edges
        Rising; bin b holds the values from ``edges[b - 1]`` up to, but not including, ``edges[b]``.
    centres
        ``centres[bin]``: the median of the values that the bin had when it was made.
    """

    edges: tuple[float, ...]
    centres: tuple[float, ...]

    def cut(self, values: Floats, label: str) -> Floats:
        """The number of each value's bin; NaN where there is no value."""
        _check_finite(values, label)
        return np.where(np.isnan(values), np.nan, np.searchsorted(self.edges, values, side="right"))


def quantile_bins(values: Floats, n_bins: int, label: str) -> Bins:
    """Bins with about equally many values each; one for each value where there are no more than ``n_bins``."""
    _check_finite(values, label)
    present = values[~np.isnan(values)]
    cuts = np.unique(present)
    if cuts.size > n_bins:
        shares = np.arange(1, n_bins) / n_bins
        cuts = np.unique(np.quantile(present, shares, method="higher"))  # values that occur: no bin is empty
    edges = cuts[cuts > present.min()]
    place = np.searchsorted(edges, present, side="right")
    groups = (present[place == number] for number in range(edges.size + 1))
    centres = (float(np.quantile(group, 0.5, method="higher")) for group in groups)
    return Bins(tuple(edges.tolist()), tuple(centres))


def as_measured(values: Floats | None) -> Floats | None:
    """Numbers of which some are not whole, so that they are no codes; None for all others."""
    if values is None:
        return None
    present = values[~np.isnan(values)]
    return values if (present != np.rint(present)).any() or np.isinf(present).any() else None


def as_floats(cells: list[Any]) -> Floats | None:
    """A list of numbers and gaps as floats, with NaN for the gaps; None where there is anything else."""
    if not all(isinstance(cell, Real | Decimal) or is_missing(cell) for cell in cells):
        return None
    return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])


def checked_bins(bins: object) -> int | None:
    """The number of bins: at least 2, or None where measurements are to be refused."""
    if bins is None:
        return None
    if isinstance(bins, bool) or not isinstance(bins, Integral) or int(bins) < 2:
        raise SettingError(
            f"bins must be a whole number of at least 2, or None to refuse measurements; got {bins!r}"
        )
    return int(bins)


def _check_finite(values: Floats, label: str) -> None:
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise DataError(
            f"{row_place(row, label)} is {values[row]}; a measurement must be finite: correct it or drop the row"
        )
