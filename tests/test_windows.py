"""One long sequence as rows of its last positions."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgmi import count_pairs
from kgmi.data import Table, as_table, window_table
from kgmi.errors import DataError, SettingError

CODES = [0, 2, 1, 0, 2]
TEXTS = ["a", "c", "b", "a", "c"]
ROWS = [[0, 2, 1], [2, 1, 0], [1, 0, 2]]


@pytest.mark.parametrize(
    "sequence",
    [
        CODES,
        tuple(CODES),
        np.array(CODES),
        np.array(CODES, dtype=float),
        np.array(CODES, dtype=np.uint8)[:, None],
        [[code] for code in CODES],
        pd.Series(CODES),
        pd.DataFrame({"x": CODES}),
        pl.Series(CODES),
        pl.Series(CODES).to_frame(),
        pl.LazyFrame({"x": CODES}),
        pa.array(CODES),
        pa.chunked_array([CODES[:2], CODES[2:]]),
        pa.table({"x": CODES}),
        Table(np.array(CODES)[:, None], ("x",), ("0", "1", "2")),
    ],
    ids=lambda sequence: type(sequence).__name__,
)
def test_sequences_of_codes(sequence):
    table = window_table(sequence, 3)
    assert (table.names, table.states) == (("lag 2", "lag 1", "now"), ("0", "1", "2"))
    assert table.codes.tolist() == ROWS


@pytest.mark.parametrize(
    "sequence",
    [
        "".join(TEXTS),
        TEXTS,
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        pd.Series(TEXTS, name="now"),
        pd.Series(TEXTS, dtype="category"),
        pl.Series(TEXTS),
        pl.Series(TEXTS, dtype=pl.Enum(["a", "b", "c"])),
        pa.array(TEXTS),
        pa.array(TEXTS).dictionary_encode(),
        as_table([[text] for text in TEXTS]),
        as_table([[text] for text in TEXTS], alphabet="own"),
    ],
    ids=lambda sequence: type(sequence).__name__,
)
def test_sequences_of_texts(sequence):
    table = window_table(sequence, 3)
    assert sorted(table.states) == ["a", "b", "c"]
    assert [[table.states[code] for code in row] for row in table.codes] == [TEXTS[k : k + 3] for k in range(3)]
    assert table.alphabets is None


def test_every_character_of_a_text_is_a_state():
    table = window_table("a? b?", 2)
    assert table.states == (" ", "?", "a", "b")
    assert table.codes.tolist() == [[2, 1], [1, 0], [0, 3], [3, 1]]
    assert window_table("0201", 2, n_states=4).states == tuple("0123")
    assert window_table("abab", 2, states=["b", "a", "c"]).codes.tolist() == [[1, 0], [0, 1], [1, 0]]
    with pytest.raises(DataError, match="one state only"):
        window_table("aaaa", 2)


def test_numbers_among_texts():
    assert window_table(["a", 1, "b", 1.0], 2).states == ("1", "a", "b")


@given(st.lists(st.integers(0, 3), min_size=3, max_size=30), st.data())
def test_a_row_is_the_last_positions(sequence, data):
    n = data.draw(st.integers(2, len(sequence) - 1))
    table = window_table(sequence, n, n_states=4)
    assert table.codes.tolist() == [sequence[t - n + 1 : t + 1] for t in range(n - 1, len(sequence))]
    assert table.names == tuple(f"lag {lag}" if lag else "now" for lag in range(n - 1, -1, -1))


def test_windows_take_no_more_memory_than_the_sequence():
    sequence = np.random.default_rng(0).integers(0, 3, 100_000)
    table = window_table(sequence, 1_000)
    assert table.codes.shape == (99_001, 1_000)
    assert table.codes.dtype == np.int8
    assert table.codes.strides == (1, 1)
    assert not np.shares_memory(table.codes, sequence)
    assert not table.codes.flags.writeable
    assert not np.shares_memory(window_table(sequence.astype(np.int8), 5).codes, sequence)


def test_windows_can_be_counted():
    sequence = np.random.default_rng(0).integers(0, 3, 500)
    table = window_table(sequence, 4)
    assert np.array_equal(count_pairs(table.codes, 3).counts, count_pairs(table.codes.copy(), 3).counts)


@pytest.mark.parametrize(
    "sequence", [[0, None, 1, 0], [0, -1, 1, 0], np.array([0, np.nan, 1, 0]), pd.Series([0, None, 1, 0])]
)
def test_missing_positions(sequence):
    table = window_table(sequence, 2, missing="pairwise")
    assert table.codes.tolist() == [[0, -1], [-1, 1], [1, 0]]
    assert table.missing_by_column.tolist() == [1, 1]
    table = window_table(sequence, 2, missing="category")
    assert (table.codes.tolist(), table.states) == ([[0, 2], [2, 1], [1, 0]], ("0", "1", "missing"))
    with pytest.raises(DataError, match=r"row 1, column .*missing='pairwise'"):
        window_table(sequence, 2)


@pytest.mark.parametrize("n", [1, 0, -3, 2.0, "3", None, True, np.True_])
def test_a_length_that_makes_no_sense(n):
    with pytest.raises(SettingError, match=re.escape(f"windows must be a whole number of at least 2, got {n!r}")):
        window_table(CODES, n)


@pytest.mark.parametrize(
    ("sequence", "n", "message"),
    [
        (CODES, 5, "windows of 5 positions need a sequence of at least 6, got 5; use shorter windows"),
        (CODES, 10**30, "need a sequence of at least 1000000000000000000000000000001, got 5"),
        ("", 2, "need a sequence of at least 3, got 0"),
        ([], 2, "need a sequence of at least 3, got 0"),
        (pd.Series([], dtype=object), 2, "need a sequence of at least 3, got 0"),
        (as_table([[0], [1]]), 2, "need a sequence of at least 3, got 2"),
        (None, 2, "a sequence is an array, a list, a series or a text, got None"),
        (b"abc", 2, "a sequence is an array, a list, a series or a text, got b'abc'"),
        (Path("x.csv"), 2, "a sequence is an array, a list, a series or a text, got PosixPath('x.csv')"),
        (5, 2, "a sequence has one axis, got an array of shape ()"),
        (np.zeros((3, 3, 3)), 2, "a sequence has one axis, got an array of shape (3, 3, 3)"),
        ([[0, 1], [0]], 2, "the parts of this one are not equally long"),
        (np.zeros((5, 2)), 2, "a sequence is one column, got 2; choose one of them"),
        (pd.DataFrame({"A": CODES, "B": CODES}), 2, "a sequence is one column, got 2; choose one of them"),
        (as_table([[0, 1]] * 5), 2, "a sequence is one column, got 2; choose one of them"),
        ([0.5, 1, 2, 3], 2, "row 0, column 0 is 0.5; codes must be whole numbers"),
        (pl.Series([[1], [2], [3]]), 2, "column 'sequence' of the table is of type List"),
    ],
)
def test_what_is_no_sequence(sequence, n, message):
    with pytest.raises(DataError, match=re.escape(message)):
        window_table(sequence, n)
