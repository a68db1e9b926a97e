"""Measurements cut into states at their quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kgmi.alphabets import whole_number
from kgmi.errors import CellError, SettingError
from kgmi.types import Floats

__all__ = ["Bins", "checked_bins", "quantile_bins", "shown_number"]


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
    single: tuple[bool, ...] = ()

    def cut(self, values: Floats, name: str) -> Floats:
        """Return the number of each value's bin; NaN where the value is missing."""
        _check_finite(values, name)
        return np.where(np.isnan(values), np.nan, np.searchsorted(self.edges, values, side="right"))

    def labels(self, *, whole: bool = False) -> tuple[str, ...]:
        """Return the names of the bins: "below 118", "118 to 127", "127 or more"; "0" for one value.

        For ``whole`` numbers, both ends of "118 to 126" are in the bin.
        """
        alone = self.single or (False,) * len(self.centres)
        names, cuts = _as_different(self.centres), self.shown_edges
        if not cuts:
            return (names[0],)
        last = [shown_number(edge - 1) for edge in self.edges] if whole else cuts
        inner = (f"{low} to {high}" for low, high in zip(cuts[:-1], last[1:], strict=True))
        ranges = (f"below {cuts[0]}", *inner, f"{cuts[-1]} or more")
        return tuple(name if one else text for text, name, one in zip(ranges, names, alone, strict=True))

    @property
    def shown_edges(self) -> tuple[str, ...]:
        """The edges as texts, rounded as long as they remain different."""
        return _as_different(self.edges)


def _as_different(numbers: tuple[float, ...]) -> tuple[str, ...]:
    short = tuple(map(shown_number, numbers))
    return short if len({*short}) == len(short) else tuple(map(repr, numbers))


def quantile_bins(values: Floats, n_bins: int, name: str) -> Bins:
    """Return bins with about equally many values each; one for each value if there are at most ``n_bins`` values.

    If the smallest value alone fills so many bins that no cut remains, it is one bin, and the other values are
    another.
    """
    _check_finite(values, name)
    present = np.sort(values[~np.isnan(values)])
    starts = np.flatnonzero(np.diff(present, prepend=-np.inf) > 0)  # of every different value
    cuts = present[starts]
    if cuts.size > n_bins:
        shares = np.arange(1, n_bins) / n_bins
        chosen = np.unique(np.quantile(present, shares, method="higher"))  # values that occur: no bin is empty
        cuts = chosen if chosen[-1] > cuts[0] else cuts[:2]
    edges = cuts[cuts > present[0]]
    bounds = np.concatenate([[0], np.searchsorted(present, edges), [present.size]])
    groups = [present[low:high] for low, high in pairwise(bounds)]
    centres = tuple(float(np.quantile(group, 0.5, method="higher")) for group in groups)
    return Bins(tuple(edges.tolist()), centres, tuple(bool(group[0] == group[-1]) for group in groups))


def shown_number(number: float, *, in_full: bool = False) -> str:
    """Return a number as text: whole ones with all digits, others with six or all digits."""
    if abs(number) < 1e15 and number == int(number):
        return str(int(number))
    return repr(number) if in_full else f"{number:.0f}" if 1e6 <= abs(number) < 1e15 else f"{number:.6g}"


def checked_bins(bins: object) -> int | None:
    """Return the number of bins: at least 2, or None."""
    if bins is not None and whole_number("bins", bins) < 2:
        raise SettingError(f"bins must be at least 2, or None to refuse measurements; got {bins!r}")
    return None if bins is None else whole_number("bins", bins)


def _check_finite(values: Floats, name: str) -> None:
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        problem = f"is {values[row]}; a measurement must be finite: correct it or drop the row"
        raise CellError(f"row {row}, column '{name}' {problem}", column=name, row=row, value=values[row])
