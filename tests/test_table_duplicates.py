"""Columns that hold the same values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from kgmi.data import duplicate_columns


def slow(codes):
    """Every pair of columns compared."""
    groups = {}
    for column in range(codes.shape[1]):
        groups.setdefault(tuple(codes[:, column].tolist()), []).append(column)
    return sorted(tuple(group) for group in groups.values() if len(group) > 1)


@given(npst.arrays(np.int8, st.tuples(st.integers(1, 4), st.integers(0, 12)), elements=st.integers(-1, 1)))
def test_groups_are_those_of_a_slow_search(codes):
    assert duplicate_columns(codes) == slow(codes)
    assert duplicate_columns(np.asfortranarray(codes.astype(np.int64))) == slow(codes)


@pytest.mark.parametrize("order", ["C", "F"])
def test_many_rows_and_columns(order):
    rng = np.random.default_rng(0)
    codes = np.array(rng.integers(0, 3, (5_000, 100)), order=order)
    assert duplicate_columns(codes) == []
    codes[:, [3, 40, 99]] = codes[:, [60]]
    codes[:, 8] = codes[:, 7]
    assert duplicate_columns(codes) == [(3, 40, 60, 99), (7, 8)]
    codes[-1, 40] = (codes[-1, 40] + 1) % 3  # one cell far down
    assert duplicate_columns(codes) == [(3, 60, 99), (7, 8)]


def test_columns_with_one_hash_are_compared(monkeypatch):
    monkeypatch.setattr("kgmi.data.duplicates.hash", lambda _: 0, raising=False)
    assert duplicate_columns(np.array([[0, 1, 0, 1, 2], [1, 1, 1, 1, 1]])) == [(0, 2), (1, 3)]


def test_the_codes_are_not_changed():
    codes = np.array([[0, 0], [1, 1]])
    codes.flags.writeable = False
    assert duplicate_columns(codes) == [(0, 1)]
    windows = np.lib.stride_tricks.sliding_window_view(np.zeros(10, dtype=np.int8), 3)
    assert duplicate_columns(windows) == [(0, 1, 2)]
