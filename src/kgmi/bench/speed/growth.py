"""Growth: time ≈ c · T^a · N^b, fitted by least squares in logarithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgmi.errors import DataError

__all__ = ["Growth", "fit_growth", "last_exponent"]


@dataclass(frozen=True)
class Growth:
    """A fitted law.

    Attributes
    ----------
    factor
        c: seconds where all sizes are 1.
    exponents
        By the name of each size.
    errors
        Their standard errors; NaN where there are as many measurements as unknowns.
    n_measured
        Measurements behind it.
    """

    factor: float
    exponents: dict[str, float]
    errors: dict[str, float]
    n_measured: int

    def predict(self, **sizes: float) -> float:
        """Seconds at these sizes."""
        return self.factor * float(np.prod([sizes[name] ** power for name, power in self.exponents.items()]))

    def shown(self, name: str) -> str:
        """An exponent with its standard error, where that is known."""
        error = self.errors[name]
        return f"{self.exponents[name]:.2f}" + (f" ± {error:.2f}" if np.isfinite(error) else "")

    def __str__(self) -> str:
        return " · ".join(f"{name}^{power:.2f}" for name, power in self.exponents.items())

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with null for an error that is not known."""
        errors = {name: error if np.isfinite(error) else None for name, error in self.errors.items()}
        return {
            "factor": self.factor,
            "exponents": self.exponents,
            "standard_errors": errors,
            "n_measured": self.n_measured,
        }


def fit_growth(seconds: Sequence[float], sizes: Mapping[str, Sequence[float]]) -> Growth | None:
    """The law of these times; None where there are too few to tell every exponent.

    Parameters
    ----------
    seconds
        Times, all positive.
    sizes
        By name, for example T and N, the size at which each was taken.
    """
    times = np.asarray(seconds, dtype=np.float64)
    table = np.array([np.asarray(values, dtype=np.float64) for values in sizes.values()]).reshape(len(sizes), -1)
    if table.shape[1] != len(times):
        raise DataError(f"{len(times)} times do not fit {table.shape[1]} sizes")
    if not (times > 0).all() or not (table > 0).all():
        raise DataError("times and sizes must be positive to take their logarithms")
    design = np.vstack([np.ones(len(times)), np.log(table)]).T
    unknown = design.shape[1]
    if np.linalg.matrix_rank(design) < unknown:
        return None
    found, *_ = np.linalg.lstsq(design, np.log(times), rcond=None)
    rest = np.log(times) - design @ found
    free = len(times) - unknown
    variance = float(rest @ rest) / free if free else np.nan
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    return Growth(
        factor=float(np.exp(found[0])),
        exponents=dict(zip(sizes, map(float, found[1:]), strict=True)),
        errors=dict(zip(sizes, map(float, errors[1:]), strict=True)),
        n_measured=len(times),
    )


def last_exponent(seconds: Sequence[float], sizes: Sequence[float]) -> float | None:
    """The exponent between the two largest sizes, where fixed costs weigh least; None for fewer than two."""
    by_size = sorted(zip(sizes, seconds, strict=True))
    if len(by_size) < 2 or by_size[-1][0] == by_size[-2][0]:
        return None
    (small, before), (large, after) = by_size[-2:]
    return float(np.log(after / before) / np.log(large / small))
