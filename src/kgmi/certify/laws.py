"""Logarithms of probabilities of counted cases: of greatest likelihood, and predicted one case after the other."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kgmi.types import Floats

__all__ = ["averaged", "best_fit", "predicted"]

_MOST_LISTED = 1 << 20  # counts up to which values are listed: looking them up is quicker than working them out


def best_fit(counts: Floats) -> Floats:
    """[set]: log-likelihood of counts [set, states of its nodes …, state of the child], maximised over all laws."""
    axes = tuple(range(1, counts.ndim))
    given = counts.sum(axis=-1)
    return np.asarray(_x_log_x(counts).sum(axis=axes) - _x_log_x(given).sum(axis=axes[:-1]))


def predicted(counts: Floats, n_states: int) -> Floats:
    """[set]: log-probability of the same cases when each is predicted from those before it.

    Krichevsky and Trofimov: half a pseudo-case for every state of the child, for each configuration of the set. The
    probabilities of all possible rows sum to one, so this is a bet that can be made.
    """
    axes = tuple(range(1, counts.ndim))
    given = counts.sum(axis=-1)
    return np.asarray(_rising(counts, 0.5).sum(axis=axes) - _rising(given, n_states / 2).sum(axis=axes[:-1]))


def averaged(logs: Floats) -> float:
    """Log of the mean of exp: a bet split evenly over many."""
    top = float(logs.max(initial=-np.inf))
    if not np.isfinite(top):
        return top
    return top + float(np.log(np.exp(logs - top).mean()))


def _x_log_x(counts: Floats) -> Floats:
    if (length := _enough(counts)) > _MOST_LISTED:
        from scipy.special import xlogy  # it takes a while to load, and few need it

        return np.asarray(xlogy(counts, counts))
    return _listed_x_log_x(length)[counts.astype(np.intp)]


def _rising(counts: Floats, start: float) -> Floats:
    """log(start (start + 1) … (start + n − 1))."""
    if (length := _enough(counts)) > _MOST_LISTED:
        from scipy.special import gammaln

        return np.asarray(gammaln(counts + start) - gammaln(start))
    return _listed_rising(length, start)[counts.astype(np.intp)]


def _enough(counts: Floats) -> int:
    """A length, in a few steps only, that has room for every count."""
    return 1 << int(counts.max(initial=1.0)).bit_length()


@lru_cache(maxsize=8)
def _listed_x_log_x(length: int) -> Floats:
    numbers = np.arange(length, dtype=np.float64)
    return np.asarray(numbers * np.log(np.maximum(numbers, 1.0)))


@lru_cache(maxsize=32)
def _listed_rising(length: int, start: float) -> Floats:
    steps = np.log(np.arange(length - 1, dtype=np.float64) + start)
    return np.concatenate([[0.0], np.cumsum(steps)])
