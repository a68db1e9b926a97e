"""What a fitted table of probabilities and a choice of parents cost, in nats of log-likelihood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from math import lgamma
from typing import TypeAlias

import numpy as np

from kgmi.errors import SettingError
from kgmi.types import Floats

__all__ = ["PENALTIES", "Penalty", "log_choices", "penalty_named", "regret"]

_MOST_LISTED = 100_000  # cases whose regret is kept
_STATES_TO_SCALE = 30  # after which the normaliser is below 10¹⁵⁰ for any number of rows
_EXACT_ROWS = 300  # below, the normaliser of two states is summed; above, its expansion is right to 10⁻⁵

_Cost: TypeAlias = Callable[[Floats, int, float], Floats]


@dataclass(frozen=True)
class Penalty:
    """Price of the free parameters of a table.

    Attributes
    ----------
    name
        As it stands in a record.
    cost
        ``cost(n, n_states, n_rows)``: price of the law of a child of which ``n_states`` states occur for every
        configuration of its parents that was seen ``n`` times, in a fit on ``n_rows`` cases. Which states occur
        is said once for every column, whatever its parents, so that the others need not be paid for.
    """

    name: str
    cost: _Cost

    def of(self, counts: Floats) -> float:
        """Price of a table fitted to ``counts[…, state of the child]``; states that never occur cost nothing."""
        seen = counts.sum(axis=-1)
        occurring = int((counts.reshape(-1, counts.shape[-1]).sum(axis=0) > 0).sum())
        return float(self.cost(seen, occurring, max(float(seen.sum()), 1.0)).sum())


def regret(n: Floats, n_states: int) -> Floats:
    """Log normaliser of the NML law of ``n_states`` states after ``n`` cases; 0 where n = 0.

    What the best-fitting multinomial gains over the shortest code that knows nothing beforehand. It is
    (S − 1)/2 log n + a constant for large n, which is why BIC is its limit, but it charges nothing for
    configurations that never occurred and less than BIC for rare ones.
    """
    cases = np.asarray(n, dtype=np.float64)
    if n_states < 2:
        return np.zeros(cases.shape)
    whole = cases.astype(np.intp)
    largest = int(whole.max(initial=0))
    if largest < _MOST_LISTED and (whole == cases).all():
        return np.asarray(_listed(n_states, 1 << largest.bit_length())[whole])
    return _regret(cases, n_states)


@lru_cache(maxsize=32)
def _listed(n_states: int, size: int) -> Floats:
    """The regret of 0, 1, 2 … cases: looking it up takes a fraction of the time."""
    return _regret(np.arange(size, dtype=np.float64), n_states)


def _regret(whole: Floats, n_states: int) -> Floats:
    before, now, log_scale = np.ones(whole.shape), _two_states(whole), np.zeros(whole.shape)
    for states in range(3, n_states + 1):  # Kontkanen and Myllymäki's recurrence over the number of states
        before, now = now, now + whole / (states - 2) * before
        if states % _STATES_TO_SCALE == 0:  # the sums would overflow
            log_scale += np.log(now)
            before, now = before / now, np.ones(whole.shape)
    return np.where(whole > 0, log_scale + np.log(now), 0.0)


def _two_states(n: Floats) -> Floats:
    few = np.interp(n, np.arange(_EXACT_ROWS + 1), _summed())
    many = np.maximum(n, _EXACT_ROWS)
    expansion = np.sqrt(np.pi * many / 2) + 2 / 3 + np.sqrt(2 * np.pi) / 24 / np.sqrt(many) - 4 / 135 / many
    return np.where(n <= _EXACT_ROWS, few, expansion)


@lru_cache(maxsize=1)
def _summed() -> Floats:
    """Σ_k C(n, k) (k/n)^k (1 − k/n)^(n−k) for n = 0.._EXACT_ROWS."""
    log_factorial = np.array([lgamma(k + 1) for k in range(_EXACT_ROWS + 1)])
    sums = np.ones(_EXACT_ROWS + 1)
    for n in range(1, _EXACT_ROWS + 1):
        k = np.arange(n + 1)
        share = np.maximum(k, 1) / n
        power = k * np.log(share)
        sums[n] = np.exp(log_factorial[n] - log_factorial[k] - log_factorial[n - k] + power + power[::-1]).sum()
    return sums


def log_choices(n_candidates: int, n_parents: int) -> float:
    """Log of the number of parent sets of this size: what it costs to have looked through them all.

    Infinite where there are none: for more parents than candidates, and for fewer than none.
    """
    if not 0 <= n_parents <= n_candidates:
        return np.inf
    return lgamma(n_candidates + 1) - lgamma(n_parents + 1) - lgamma(n_candidates - n_parents + 1)


# Functions of the module, not of the moment: a penalty can be pickled with the estimator that has it.


def _nml(n: Floats, n_states: int, n_rows: float) -> Floats:
    return regret(n, n_states)


def _bic(n: Floats, n_states: int, n_rows: float) -> Floats:
    return np.full(np.shape(n), 0.5 * float(np.log(n_rows)) * (n_states - 1))


def _flat(n: Floats, n_states: int, n_rows: float, price: float) -> Floats:
    return np.full(np.shape(n), price * (n_states - 1))


PENALTIES: dict[str, Penalty] = {
    "nml": Penalty("nml", _nml),
    "bic": Penalty("bic", _bic),
    "aic": Penalty("aic", partial(_flat, price=1.0)),
    "none": Penalty("none", partial(_flat, price=0.0)),
}
"""Penalties by name."""


def penalty_named(penalty: str | float | Penalty) -> Penalty:
    """A penalty from its name, or from a number: nats per free parameter."""
    if isinstance(penalty, Penalty):
        return penalty
    if isinstance(penalty, str):
        if penalty not in PENALTIES:
            raise SettingError(
                f"there is no penalty '{penalty}'; choose one of {', '.join(PENALTIES)}, or a number of nats per "
                "free parameter"
            )
        return PENALTIES[penalty]
    if not (np.isfinite(penalty) and penalty >= 0):
        raise SettingError(f"a penalty is zero or more nats per free parameter, got {penalty}")
    price = float(penalty)
    name = f"{price:g}" if float(f"{price:g}") == price else repr(price)  # a record must give the same price again
    return Penalty(name, partial(_flat, price=price))
