"""Rows that are read once more: the first ones for checks, and some from everywhere to choose candidates by."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import kgmi
from kgmi.counting import sample
from kgmi.errors import DataError

RNG = np.random.default_rng(410)
ROWS = RNG.integers(0, 3, (30_000, 4), dtype=np.int8)
ROWS[:, 2] = (ROWS[:, 0] + (RNG.random(30_000) < 0.1)) % 3
TABLE = pa.table({**{f"x{node}": ROWS[:, node] for node in range(4)}, "day": np.arange(30_000) // 500})
COLUMNS = ["x0", "x1", "x2", "x3"]


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    """Sixty Parquet files of 500 rows; what day they are of is no bound that readers can skip them by."""
    folder = tmp_path_factory.mktemp("days")
    for day in range(60):
        pq.write_table(TABLE.slice(500 * day, 500), folder / f"{day:02}.parquet", write_statistics=False)
    return folder


def test_the_first_rows_come_from_as_many_files_as_it_takes(days):
    counts = kgmi.count(days, columns=COLUMNS)
    assert counts.n_rows == 30_000
    assert np.array_equal(counts.first, ROWS[:20_000])
    late = kgmi.count(days, columns=COLUMNS, where=[("day", ">=", 30)])
    assert np.array_equal(late.first, ROWS[15_000:])
    checks = kgmi.learn(kgmi.stream(days, columns=COLUMNS, where=[("day", ">=", 30)])).checks
    assert checks[2].passed


@pytest.mark.parametrize("name", ["one.feather", "one.csv"])
def test_a_filter_that_lets_hardly_a_row_pass_does_not_cost_a_second_pass(name, tmp_path, monkeypatch):
    path = tmp_path / name
    if name == "one.csv":
        monkeypatch.setattr("kgmi.streams.text._BLOCK_BYTES", 10_000)
        pc.write_csv(TABLE, path)
    else:
        feather.write_feather(TABLE, path, chunksize=1_000)
    rows = kgmi.stream(path, columns=COLUMNS, where=[("day", ">=", 50)])
    assert len(rows.fragments) == 1
    monkeypatch.setattr(sample, "_MOST_LOOKED_AT", 26_000)
    some = kgmi.count(rows).first
    assert 1_000 <= len(some) < 2_500
    assert np.array_equal(some, ROWS[25_000 : 25_000 + len(some)])
    monkeypatch.setattr(sample, "_MOST_LOOKED_AT", 20_000)
    learned = kgmi.learn(rows)
    assert learned.configuration["n_rows"] == 5_000
    why = "the filter lets none of the first rows pass, which are read once more for it."
    assert [check.sentence.endswith(why) for check in learned.checks] == [False, True, True]
    assert learned.parents["x2"] == ("x0",)


def test_pieces_without_rows_are_not_laid_at_the_door_of_a_filter(tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "_MOST_FRAGMENTS", 1)
    pc.write_csv(TABLE.slice(0, 0), tmp_path / "0.csv")
    pc.write_csv(TABLE.slice(0, 900), tmp_path / "1.csv")
    learned = kgmi.learn(kgmi.stream(tmp_path, columns=COLUMNS))
    why = "and the first pieces of the data, which are read once more for it, have none."
    assert [check.sentence.endswith(why) for check in learned.checks] == [False, True, True]


def test_a_sample_lies_over_all_files_and_takes_more_of_them_where_they_are_small(days):
    stream = kgmi.stream(days)
    some = sample.sample_table(stream, 4_000)
    day = np.array([int(state) for state in some.column_states[4]])[some.codes[:, 4]]
    assert len(some.codes) == 4_000
    assert np.unique(day).tolist() == np.linspace(0, 59, 16).astype(int).tolist()
    assert len(sample.sample_table(stream, 20_000).codes) == 20_000
    assert len(sample.sample_table(stream, 50_000).codes) == 30_000


def test_a_sample_without_rows_says_why(days, monkeypatch):
    for where, says in ((("x0", "==", 7), "there are no rows that the filter lets through in"),):
        with pytest.raises(DataError, match=says):
            kgmi.count(days, columns=COLUMNS, where=[where])
    monkeypatch.setattr(sample, "_MOST_LOOKED_AT", 10)
    rare = kgmi.stream(days, columns=COLUMNS, where=[("day", "==", 58)])
    with pytest.raises(DataError, match="some rows are looked at first, and the filter lets none of these pass"):
        sample.sample_table(rare, 4_000)
