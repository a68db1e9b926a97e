"""Are rows independent? Whether a row says anything about the next ones, in the order of the table, or a copy."""

from __future__ import annotations

from math import prod

import numpy as np

from kgmi.checks.check import LEVEL, Check, Finding, shown_p
from kgmi.checks.repeats import REPEATS_LEVEL, Repeats, find_repeats
from kgmi.graph.naming import quoted
from kgmi.types import Codes, Floats, Ints

__all__ = ["check_rows"]

_LAGS = (1, 2, 3)
_MOST_WORK = 45_000_000  # cells compared, some tenths of a second
_FEWEST_ORDERS, _MOST_ORDERS = 300, 500  # the one of the table among them
_FEWEST_ROWS = 12  # of which there are enough orders to tell one from another
_ENOUGH_ROWS = 100  # from which on it says something that nothing was found
_BATCH = 10_000  # cells of the tables that are shuffled at once
_SEED = 20_251_025  # the same answer for the same table


def check_rows(rows: Codes, names: tuple[str, ...], *, are_all: bool = True) -> Check:
    """Whether the states of each column depend on those some rows earlier, against the same rows in random orders.

    For each lag the statistic is Pearson's of (state, state that many rows later), added up over the columns; the
    largest one, in standard deviations, counts. Whole rows are shuffled, so dependence inside rows does no harm.
    Copies of rows that stand in no order are found by how often rows occur (:func:`find_repeats`). Where there are
    few rows, dependence may be found, but that none was found says nothing. Where they ``are_all`` not, it is said
    how many were looked at.
    """
    n_rows = len(rows)
    if n_rows < _FEWEST_ROWS:
        return Check("rows", None, None, (), f"{n_rows} rows are too few to tell.")
    part, columns, n_shuffles = _bounded(rows)
    lags = _Lags(part)
    drawn = _shuffled(lags, part.shape, n_shuffles)
    observed = lags.excess(np.arange(len(part))[None])[0]
    every = np.concatenate([observed[None], drawn])
    sums = every.sum(axis=-1)
    spread = sums.std(axis=0)
    scores = np.divide(sums - sums.mean(axis=0), spread, out=np.zeros(sums.shape), where=spread > 0)
    largest = scores.max(axis=1)
    p_value = float((largest >= largest[0] - 1e-9).mean())
    lag = int(scores[0].argmax())
    of_column = (observed[lag] - drawn[:, lag].mean(axis=0)) / np.maximum(drawn[:, lag].std(axis=0), 1e-12)
    worst = names[columns[int(of_column.argmax())]]
    some = "" if len(part) == n_rows and are_all else f", in the first {len(part):,} rows"
    repeats = find_repeats(rows)
    if repeats.p_value < REPEATS_LEVEL:
        p_value = min(p_value, repeats.p_value * LEVEL / REPEATS_LEVEL)
        return Check("rows", False, p_value, (), _repeated(repeats, n_rows))
    if p_value < LEVEL:
        sentence = _dependent(p_value, n_shuffles, _LAGS[lag], worst, some)
        return Check("rows", False, p_value, (Finding(worst, None, None, p_value),), sentence)
    if len(part) < _ENOUGH_ROWS:
        return Check("rows", None, None, (), f"{len(part)} rows are too few to tell.")
    return Check("rows", True, p_value, (), f"Rows look independent ({shown_p(p_value)}{some}).")


class _Lags:
    """Statistics of lagged pairs of rows, for many orders of the same rows."""

    def __init__(self, rows: Codes) -> None:
        n_rows, n_columns = rows.shape
        size = int(rows.max()) + 2  # a gap is one more state, which is left out of the sums
        self._codes = np.where(rows < 0, size - 1, rows.astype(np.int64))
        self._shift = np.arange(n_columns) * size**2
        self._shape = (n_columns, size, size)
        shares = np.stack([(self._codes == state).mean(axis=0) for state in range(size)], axis=1)
        shares[:, -1] = 0.0
        expected = n_rows * shares[:, :, None] * shares[:, None, :]
        self._weights: Floats = np.divide(1.0, expected, out=np.zeros(expected.shape), where=expected > 0)

    def excess(self, orders: Ints) -> Floats:
        """[order, lag, column]: Pearson's statistic up to a constant; the last rows are followed by the first."""
        rows = self._codes[orders]  # [order, row, column]
        n_cells = int(np.prod(self._shape))
        apart = np.arange(len(orders))[:, None, None] * n_cells
        first = rows * self._shape[1] + self._shift + apart
        out = np.empty((len(orders), len(_LAGS), self._shape[0]))
        for place, lag in enumerate(_LAGS):
            index = first + np.roll(rows, -lag, axis=1)
            counts = np.bincount(index.ravel(), minlength=len(orders) * n_cells).reshape(-1, *self._shape)
            out[:, place] = (counts**2 * self._weights).sum(axis=(2, 3))
        return out


def _shuffled(lags: _Lags, shape: tuple[int, ...], n_shuffles: int) -> Floats:
    """[shuffle, lag, column]: the statistics of random orders, some at a time."""
    rng = np.random.default_rng(_SEED)
    n_rows, at_once = shape[0], max(1, _BATCH // prod(shape))
    drawn = []
    for start in range(0, n_shuffles, at_once):
        orders = np.tile(np.arange(n_rows), (min(at_once, n_shuffles - start), 1))
        drawn.append(lags.excess(rng.permuted(orders, axis=1)))
    return np.concatenate(drawn)


def _bounded(rows: Codes) -> tuple[Codes, list[int], int]:
    """The rows and columns that there is time for, and how often they are shuffled.

    The orders are whole hundreds, so that p < ``LEVEL`` leaves ``REPEATS_LEVEL`` over: 4 of 500 is the most.
    """
    most = _MOST_WORK // (len(_LAGS) * (_FEWEST_ORDERS - 1))
    n_columns = min(rows.shape[1], max(1, most // min(len(rows), _ENOUGH_ROWS)))
    columns = sorted(set(np.linspace(0, rows.shape[1] - 1, n_columns).astype(int).tolist()))
    n_rows = min(len(rows), max(_FEWEST_ROWS, most // len(columns)))
    part = rows[:n_rows, columns]
    orders = 100 * ((_MOST_WORK // (len(_LAGS) * part.size) + 1) // 100)
    return part, columns, max(_FEWEST_ORDERS, min(orders, _MOST_ORDERS)) - 1


def _dependent(p_value: float, n_shuffles: int, lag: int, worst: str, some: str) -> str:
    small = f"p < {2 / (n_shuffles + 1):.2g}" if p_value * (n_shuffles + 1) < 1.5 else shown_p(p_value)
    near = "neighbouring rows" if lag == 1 else f"rows {lag} apart"
    return (
        f"No: {near} depend on each other ({small}{some}; most in {quoted(worst)}): error bars, "
        "certificates and prices are too optimistic. If the rows are one long sequence, use windows=; if they are "
        "repeated or sorted, thin them out."
    )


def _repeated(repeats: Repeats, n_rows: int) -> str:
    return (
        f"No: rows repeat each other: there are {repeats.n_different:,} different ones among {n_rows:,}, and "
        f"{repeats.oddity}, as independent rows would not ({shown_p(repeats.p_value)}): error bars, certificates "
        "and prices are too optimistic. Keep one row of each case: take copies out."
    )
