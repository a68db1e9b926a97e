"""One long sequence as rows of its last positions."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgmi.errors import CellError, DataError, SettingError
from kgmi.table import Table, as_table, window_names, window_table

CODES = [0, 2, 1, 0, 2]
TEXTS = ["a", "c", "b", "a", "c"]
NUMBERS = [
    CODES,
    np.array(CODES, dtype=float),
    [[code] for code in CODES],
    pd.Series(CODES),
    pd.DataFrame({"x": CODES}),
    pl.DataFrame({"x": CODES}),
    pl.LazyFrame({"x": CODES}),
    pa.array(CODES),
    pa.chunked_array([CODES[:2], CODES[2:]]),
    pa.table({"x": CODES}),
    Table(np.array(CODES)[:, None], ("x",), ("0", "1", "2")),
]
LETTERS = [
    "".join(TEXTS),
    TEXTS,
    np.array(TEXTS, dtype=object),
    pd.Series(TEXTS, name="now", dtype="category"),
    pl.Series(TEXTS, dtype=pl.Enum(["a", "b", "c"])),
    pa.array(TEXTS).dictionary_encode(),
    as_table([[text] for text in TEXTS], alphabet="own"),
]


@pytest.mark.parametrize("sequence", NUMBERS + LETTERS, ids=lambda sequence: type(sequence).__name__)
def test_sequences_of_all_kinds(sequence):
    table = window_table(sequence, 3)
    assert (table.names, table.alphabets) == (("lag 2", "lag 1", "now"), None)
    read = [[table.states[code] for code in row] for row in table.codes]
    cells = TEXTS if "a" in table.states else [str(code) for code in CODES]
    assert read == [cells[k : k + 3] for k in range(3)]


@given(st.lists(st.integers(0, 3), min_size=3, max_size=30), st.data())
def test_a_row_is_the_last_positions(sequence, data):
    n = data.draw(st.integers(2, len(sequence) - 1))
    table = window_table(sequence, n, n_states=4)
    assert table.codes.tolist() == [sequence[t - n + 1 : t + 1] for t in range(n - 1, len(sequence))]
    assert table.names == window_names(n)


def test_every_character_of_a_text_is_a_state():
    table = window_table("a? b?", 2)
    assert (table.states, table.codes.tolist()) == ((" ", "?", "a", "b"), [[2, 1], [1, 0], [0, 3], [3, 1]])
    assert window_table("0201", 2, n_states=4).states == tuple("0123")
    assert window_table("abab", 2, states=["b", "a", "c"]).codes.tolist() == [[1, 0], [0, 1], [1, 0]]
    assert window_table(["a", 1, "b", 1.0], 2).states == ("1", "a", "b")


def test_windows_take_no_more_memory_than_the_sequence():
    sequence = np.random.default_rng(0).integers(0, 3, 100_000).astype(np.int8)
    table = window_table(sequence, 1_000)
    assert (table.codes.shape, table.codes.dtype, table.codes.strides) == ((99_001, 1_000), np.int8, (1, 1))
    assert not np.shares_memory(table.codes, sequence)
    assert not table.codes.flags.writeable


@pytest.mark.parametrize("sequence", [[0, None, 1, 0], [0, -1, 1, 0], np.array([0, np.nan, 1, 0])], ids=str)
def test_missing_positions(sequence):
    assert window_table(sequence, 2, missing="pairwise").codes.tolist() == [[0, -1], [-1, 1], [1, 0]]
    assert window_table(sequence, 2, missing="category").states == ("0", "1", "missing")
    with pytest.raises(CellError) as caught:
        window_table(sequence, 2)
    assert caught.value.row == 1


@pytest.mark.parametrize("n", [1, 0, -3, 10**30, 2.0, "3", None, True, np.True_])
def test_a_length_that_makes_no_sense(n):
    with pytest.raises(SettingError):
        window_table(CODES, n)


TOO_SHORT = [CODES[:2], "", [], pd.Series([], dtype=object), as_table([[0], [1]])]
NO_COLUMN = [None, b"abc", Path("x.csv"), 5, np.zeros((3, 3, 3)), [[0, 1], [0]], pl.Series([[1], [2], [3]])]
TWO_COLUMNS = [np.zeros((5, 2)), pd.DataFrame({"A": CODES, "B": CODES}), as_table([[0, 1]] * 5, n_states=2)]
MEASURED = [[0.5, 1, 2, 3]]


@pytest.mark.parametrize("sequence", TOO_SHORT + NO_COLUMN + TWO_COLUMNS + MEASURED, ids=str)
def test_what_is_no_sequence(sequence):
    with pytest.raises(DataError):
        window_table(sequence, 2)


@pytest.mark.parametrize("length", [1, 100_001])
def test_windows_that_are_too_short_or_too_long(length):
    with pytest.raises(SettingError, match=rf"between 2 and 100,000, got {length:,}"):
        window_names(length)
