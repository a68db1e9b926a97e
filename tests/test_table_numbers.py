"""Whole numbers as states: the same table gives the same result whatever it comes in."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kgmi
from kgmi.data import as_table, read_table
from kgmi.data.distinct import distinct_numbers, places
from kgmi.errors import DataError

NAMES = list("ABCDE")
PROCESS = kgmi.Process(kgmi.Dag.chain(5), kgmi.Kernel.random(3, 1, rng=77))
CODES = kgmi.sample(PROCESS, 400, rng=78).astype(np.int64)
VALUES = {
    "gaps": (0, 5, 10),
    "not from zero": (5, 6, 7),
    "negative": (-3, -1, 4),
    "all negative": (-30, -20, -10),
    "huge": (10**12, 10**12 + 1, 2**62),
    "far apart": (-(2**62), 0, 2**62),
    "plain": (0, 1, 2),
}


def csv(cells, folder):
    path = folder / "table.csv"
    pd.DataFrame(cells, columns=NAMES).to_csv(path, index=False)
    return read_table(path)


def npy(cells, folder):
    np.save(folder / "table.npy", cells)
    return as_table(read_table(folder / "table.npy"), names=NAMES)


FORMS = {
    "csv": csv,
    "npy": npy,
    "numpy": lambda cells, _: as_table(cells, names=NAMES),
    "Fortran": lambda cells, _: as_table(np.asfortranarray(cells), names=NAMES),
    "objects": lambda cells, _: as_table(cells.astype(object), names=NAMES),
    "lists": lambda cells, _: as_table(cells.tolist(), names=NAMES),
    "pandas": lambda cells, _: as_table(pd.DataFrame(cells, columns=NAMES)),
    "pandas Int64": lambda cells, _: as_table(pd.DataFrame(cells, columns=NAMES).astype("Int64")),
    "polars": lambda cells, _: as_table(pl.DataFrame(cells, schema=NAMES)),
    "pyarrow": lambda cells, _: as_table(pa.table(dict(zip(NAMES, cells.T, strict=True)))),
}


@pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))
@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_every_form_has_the_states_that_occur(values, form, tmp_path):
    table = form(np.array(values)[CODES], tmp_path)
    assert (table.names, table.states) == (tuple(NAMES), tuple(map(str, values)))
    np.testing.assert_array_equal(table.codes, CODES)


@pytest.mark.parametrize("alphabet", ["shared", "own"])
def test_a_state_that_only_some_columns_have(alphabet, tmp_path):
    cells = np.array([[0, 3, 8, 8, 0], [9, 9, 3, 8, 3], [0, 3, 8, 0, 0]])
    path = tmp_path / "table.csv"
    pd.DataFrame(cells, columns=NAMES).to_csv(path, index=False)
    file = read_table(path, alphabet=alphabet)
    for source in (cells, cells.astype(float), pd.DataFrame(cells, columns=NAMES)):
        table = as_table(source, names=NAMES, alphabet=alphabet)
        assert (table.states, table.alphabets) == (file.states, file.alphabets)
        np.testing.assert_array_equal(table.codes, file.codes)


@pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))
def test_the_graph_does_not_depend_on_what_the_states_are_called(values, tmp_path):
    cells = np.array(values)[CODES]
    sources = [cells, pd.DataFrame(cells, columns=NAMES), csv(cells, tmp_path)]
    learned = [kgmi.learn(source, n_parents=1, names=NAMES) for source in sources]
    expected = kgmi.learn(CODES, n_parents=1, names=NAMES)
    assert expected.dag.n_edges > 2
    for found in learned:
        assert (found.parents, found.fit.score) == (expected.parents, expected.fit.score)
        assert found.states == tuple(map(str, values))


@pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))
def test_the_estimator_draws_states_that_occurred(values):
    cells = np.array(values)[CODES]
    array, frame = kgmi.KGMI(1).fit(cells), kgmi.KGMI(1).fit(pd.DataFrame(cells, columns=NAMES))
    assert set(array.sample(200, random_state=9).ravel().tolist()) == set(values)
    assert set(frame.sample(200, random_state=9).to_numpy().ravel().tolist()) == set(values)
    plain = kgmi.KGMI(1).fit(CODES)
    np.testing.assert_array_equal(array.adjacency_matrix_, plain.adjacency_matrix_)
    assert array.score(cells) == frame.score(pd.DataFrame(cells, columns=NAMES)) == plain.score(CODES)


def test_declared_numbers_of_states_and_kernels_keep_the_codes():
    cells = np.where(CODES == 1, 0, CODES)  # code 1 never occurs
    assert as_table(cells).states == ("0", "2")
    for source in (cells, cells.astype(object), pd.DataFrame(cells)):
        table = as_table(source, n_states=3)
        assert table.states == ("0", "1", "2")
        np.testing.assert_array_equal(table.codes, cells)
    known = kgmi.learn(cells, kernel=PROCESS.kernel)
    assert (known.states, known.kernel.n_states) == (("0", "1", "2"), 3)
    assert kgmi.KGMI(None, kernel=PROCESS.kernel).fit(cells).learned_.states == ("0", "1", "2")
    with pytest.raises(DataError, match=re.escape("row 0, column 0 is 5, outside the alphabet 0..2")):
        as_table([[5, 0], [0, 1]], n_states=3)


def test_labelled_rows_keep_their_codes():
    rows = np.where(CODES == 1, 0, CODES)
    uniform, label = CODES[:, :1], CODES[:, 1]
    learned = kgmi.learn(kgmi.LabelledRows(rows, uniform, label))
    assert learned.states == ("0", "1", "2")


def test_truth_values_are_two_states_even_where_one_never_occurs():
    for cells in (np.ones((3, 2), dtype=bool), np.full((3, 2), True, dtype=object)):
        table = as_table(cells)
        assert (table.states, table.codes.tolist()) == (("0", "1"), [[1, 1]] * 3)


def test_gaps_are_no_states():
    cells = np.array([[5, -1], [9, 5], [-1, 9]])
    for source in (cells, np.where(cells < 0, np.nan, cells), np.ma.masked_less(cells, 0), cells.astype(object)):
        table = as_table(source, missing="pairwise")
        assert (table.states, table.codes.tolist()) == (("5", "9"), [[0, -1], [1, 0], [-1, 1]])
        table = as_table(source, missing="category")
        assert (table.states, table.codes.tolist()) == (("5", "9", "missing"), [[0, 2], [1, 0], [2, 1]])
    assert cells.tolist() == [[5, -1], [9, 5], [-1, 9]]
    assert as_table([[7, None], [None, 7]], missing="category").states == ("7", "missing")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("ends", ["small", "whole range"])
def test_numbers_of_every_type_find_their_places(dtype, ends):
    low, high = (0, 100) if ends == "small" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    numbers = np.array([[high, low + 1, low], [low + 1, high, high - 1]], dtype=dtype)
    distinct = distinct_numbers(numbers)
    assert distinct == [int(low), int(low) + 1, int(high) - 1, int(high)]
    assert places(numbers, distinct).tolist() == [[3, 1, 0], [1, 3, 2]]


def test_tables_longer_than_a_block_are_read_whole(monkeypatch):
    monkeypatch.setattr("kgmi.data.distinct._BLOCK_CELLS", 4)
    numbers = np.array([[3, 3], [3, 3], [3, 3], [3, 19], [1, 3]])
    assert distinct_numbers(numbers) == [1, 3, 19]
