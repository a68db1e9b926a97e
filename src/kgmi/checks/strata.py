"""Independence within strata: Pearson's statistic, and what it would be if one side were shuffled in each stratum.

The law of the shuffled statistic is not simulated: its mean and variance are exact (Kazi-Aoual, Hitier, Sabatier
and Lebreton, 1995, for two projections), and a gamma law with these gives the p-value. That holds where tables are
sparse too, in which the χ² law does not.
"""

from __future__ import annotations

import numpy as np

from kgmi.types import Bools, Floats

__all__ = ["LEAST_EXPECTED", "cross_statistic", "fit_p_value", "merge_rare", "tail"]

LEAST_EXPECTED = 1.0
"""Cases that a cell must expect; where fewer are, the tail of the statistic is longer than that of a gamma law."""

_FEWEST = 4  # cases of a stratum that is looked at; of fewer the variance is not defined
_ROUNDING = 1e-9


def cross_statistic(tables: Floats) -> tuple[Floats, Floats, Floats]:
    """X² of tables [..., stratum, row, column], summed over the strata, with its mean and variance."""
    total = tables.sum(axis=(-2, -1))
    used = total >= _FEWEST
    n = np.where(used, total, _FEWEST)
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = rows[..., :, None] * columns[..., None, :] / n[..., None, None]
    gap = (tables - expected) ** 2
    statistic = np.divide(gap, expected, out=np.zeros(gap.shape), where=expected > 0).sum(axis=(-2, -1))
    first, first_squares = _projection(rows, n)
    second, second_squares = _projection(columns, n)
    mean = first * second * n / (n - 1)
    uneven = _uneven(first, first_squares, n) * _uneven(second, second_squares, n)
    even = 2 * (first * (n - 1 - first)) * (second * (n - 1 - second))
    variance = even / ((n - 1) ** 2 * (n + 1) * (n - 2))
    variance += uneven / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    variance = np.maximum(variance, 0.0) * n**2
    return _total(statistic, used), _total(mean, used), _total(variance, used)


def _total(part: Floats, used: Bools) -> Floats:
    return np.asarray(np.where(used, part, 0.0).sum(axis=-1))


def merge_rare(tables: Floats, least: Floats) -> Floats:
    """Tables [..., stratum, row, column] whose columns with fewer than ``least`` cases are one, or left out.

    What is rare is decided by the margin alone, which shuffling does not change.
    """
    margin = tables.sum(axis=-2)
    rare = margin < least[..., None]
    bucket = np.where(rare[..., None, :], tables, 0.0).sum(axis=-1, keepdims=True)
    enough = bucket.sum(axis=-2, keepdims=True) >= least[..., None, None]
    kept = np.where(rare[..., None, :], 0.0, tables)
    return np.concatenate([kept, np.where(enough, bucket, 0.0)], axis=-1)


def fit_p_value(counts: Floats, law: Floats) -> float:
    """P-value of counts [stratum, state] against given laws.

    Pearson's statistic for the states that were to be expected at least once, given that it was one of these; the
    others, as rare as they are, are counted over all strata (Poisson's law). The smaller p-value counts twice.
    """
    from scipy.special import pdtrc

    if (counts[law <= 0] > 0).any():  # what cannot be
        return 0.0
    expected = counts.sum(axis=-1, keepdims=True) * law
    rare = expected < LEAST_EXPECTED
    n_rare, n_expected = float(counts[rare].sum()), float(expected[rare].sum())
    surprise = 1.0 if n_rare == 0 else float(pdtrc(n_rare - 1, n_expected))
    kept = np.where(rare, 0.0, law)
    kept = np.divide(kept, kept.sum(axis=-1, keepdims=True), out=np.zeros(law.shape), where=~rare)
    usual = tail(*_fit_statistic(np.where(rare, 0.0, counts), kept))
    return min(1.0, 2 * min(surprise, float(usual)))


def _fit_statistic(counts: Floats, law: Floats) -> tuple[Floats, Floats, Floats]:
    """X² of counts against laws, with its mean and variance, which are exact; zeros of a law are left out."""
    total = counts.sum(axis=-1)
    counts, law, total = counts[total > 0], law[total > 0], total[total > 0]
    inverse = np.divide(1.0, law, out=np.zeros(law.shape), where=law > 0)
    n_states = (law > 0).sum(axis=-1)
    statistic = ((counts - total[:, None] * law) ** 2 * inverse).sum(axis=-1) / total
    variance = 2 * (n_states - 1) + (inverse.sum(axis=-1) - n_states**2 - 2 * n_states + 2) / total
    return np.asarray(statistic.sum()), np.asarray((n_states - 1.0).sum()), np.asarray(variance.sum())


def tail(statistic: Floats, mean: Floats, variance: Floats) -> Floats:
    """P-values under the gamma law of this mean and variance; 1 where the statistic cannot vary."""
    from scipy.special import gammaincc  # scipy.stats is slow to load

    fixed = (variance <= _ROUNDING) | (mean <= _ROUNDING)
    safe_mean, safe_variance = np.where(fixed, 1.0, mean), np.where(fixed, 1.0, variance)
    p_values = gammaincc(safe_mean**2 / safe_variance, statistic * safe_mean / safe_variance)
    return np.where(fixed, 1.0, p_values)


def _projection(margin: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Of the projection on the indicators of a margin, less the mean: its rank and the squares of its diagonal."""
    present = margin > 0
    inverse = np.divide(1.0, margin, out=np.zeros(margin.shape), where=present).sum(axis=-1)
    kinds = present.sum(axis=-1)
    return np.maximum(kinds - 1.0, 0.0), inverse - (2 * kinds - 1) / n


def _uneven(rank: Floats, squares: Floats, n: Floats) -> Floats:
    return np.asarray(n * (n + 1) * squares - (n - 1) * (rank**2 + 2 * rank))
