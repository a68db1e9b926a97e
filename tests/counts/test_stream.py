"""Counts of streams: one pass, the same counts however rows are cut, and what cannot be counted."""

import time
from functools import reduce
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

import kgmi
from kgmi.counts.counted import added
from kgmi.counts.stream import Work, count, sample_table
from kgmi.counts.tally import family_width
from kgmi.errors import DataError, SettingError, TooLargeError
from kgmi.progress import telling
from kgmi.sources import stream
from kgmi.threads import one_thread

from .tables import (
    by_hand,
    cells,
    counted,
    random_codes,
    same,
    write_categories,
    write_files,
    write_rows,
)

SIZES = (3, 2, 3, 5)
CODES = random_codes(np.random.default_rng(121), 3_000, SIZES)
TABLE = pa.table({**{f"x{node}": CODES[:, node] for node in range(4)}, "day": np.arange(3_000) // 50})
COLUMNS = ["x0", "x1", "x2", "x3"]


def check(counts, codes=CODES):
    assert (counts.n_rows, counts.tally.sizes) == (len(codes), SIZES)
    for nodes in ((0, 1, 2), (3, 1), (2,)):
        np.testing.assert_array_equal(counts.tally.table(nodes), by_hand(codes, SIZES, nodes))


@pytest.mark.parametrize("fragment_rows", [1, 64, 999, 10_000])
def test_rows_cut_anywhere_give_the_same_counts(fragment_rows):
    few = CODES[:300]
    found = counted(few, fragment_rows=fragment_rows)
    check(found, few)
    with one_thread():
        assert same(counted(few, fragment_rows=fragment_rows), found)


def test_states_and_missing_values_may_come_late():
    late = np.concatenate([CODES % np.array([2, 2, 1, 2]), CODES, np.where(CODES == 4, -1, CODES)])
    for fragment_rows in (100, 5_000, 20_000):
        check(counted(late, fragment_rows=fragment_rows), late)
    chunks = np.array_split(late, 90)
    rows = stream(iter([cells(one) for one in chunks]), missing="pairwise", alphabet="own")
    check(count(rows, width=3), late)


def test_parts_merge_in_any_order_to_the_same_counts(tmp_path):
    """Parts know different states, categories in the order of their files, and one has no rows."""
    for name, categories in (("a", ["low", "high"]), ("b", ["high", "top", "low"]), ("c", ["none", "low"])):
        write_categories(tmp_path / f"{name}.parquet", categories)
    for rows in (stream(tmp_path), stream(cells(CODES[:200]), alphabet="own", fragment_rows=60)):
        work = Work(rows, 3)
        parts = [work(fragment) for fragment in rows.fragments]
        found = []
        for some in permutations(parts):
            found.append(reduce(added, some))
        assert all(same(one, found[0]) for one in found)
        assert all(np.array_equal(one.first_rows, found[0].first_rows) for one in found)


def test_only_rows_that_pass_a_filter_are_counted():
    found = kgmi.count(TABLE, columns=COLUMNS, where=[("day", ">=", 30)], alphabet="own")
    check(found, CODES[1_500:])
    assert "day" in found.reading["where"]
    np.testing.assert_array_equal(found.first_rows, CODES[1_500:])
    with pytest.raises(DataError, match="no rows that pass the filter"):
        kgmi.count(TABLE, columns=COLUMNS, where=[("x0", "==", 7)])


def test_the_first_rows_come_from_as_many_fragments_as_it_takes(tmp_path):
    folder = write_files(tmp_path / "rows", 30, 1_000)
    counts = kgmi.count(folder)
    rows = stream(folder).table().codes
    assert counts.n_rows == 30_000
    np.testing.assert_array_equal(counts.first_rows, rows[:20_000])


def test_a_sample_lies_over_all_fragments(tmp_path):
    folder = write_files(tmp_path / "rows", 8, 100)
    some = sample_table(stream(folder), 80)
    assert some.codes.shape == (80, 4)
    rows = stream(folder).table().codes.reshape(8, 100, 4)
    np.testing.assert_array_equal(some.codes.reshape(8, 10, 4), rows[:, :10])
    with pytest.raises(DataError, match="once"):
        sample_table(stream(iter([CODES])), 80)
    with pytest.raises(DataError, match="no rows"):
        sample_table(stream(TABLE, where=[("x0", "==", 7)]), 80)


def test_what_was_counted_is_reported_and_can_be_stopped(tmp_path):
    folder, steps = write_files(tmp_path / "rows", 3, 100), []
    with telling(steps.append):
        kgmi.count(folder)
    assert {(step.total, step.unit) for step in steps if step.phase == "counting"} == {(300, "rows")}

    class StoppedError(Exception):
        pass

    def stop(step):
        if step.done:
            raise StoppedError
        time.sleep(0.06)  # steps that follow at once are not reported

    with pytest.raises(StoppedError), telling(stop):
        kgmi.count(folder)


def test_the_number_of_parents_says_how_wide_sets_are():
    assert [kgmi.count(TABLE, n_parents=k).tally.width for k in (1, 2, 9)] == [2, 3, 5]
    assert kgmi.count(TABLE, width=2).tally.width == 2
    assert kgmi.count(TABLE, missing="pairwise").tally.width == family_width(2, 5, has_gaps=True)


@pytest.mark.parametrize("name", ["n_parents", "width"])
@pytest.mark.parametrize("value", [1.5, "2", True, 0, -1])
def test_settings_that_make_no_sense_are_refused(name, value):
    with pytest.raises(SettingError, match=f"{name}|sets of"):
        kgmi.count(TABLE, **{name: value})


def test_what_cannot_be_counted_is_refused(tmp_path):
    with pytest.raises(SettingError, match="sets of 9"):
        kgmi.count(TABLE, width=9)
    with pytest.raises(SettingError, match="missing"):
        kgmi.count(stream(TABLE), missing="error")
    with pytest.raises(DataError, match="row"):
        kgmi.count(TABLE.slice(0, 0))
    for name in ("", "\x1b[2J", "\ud800"):
        with pytest.raises(DataError, match="rename"):
            kgmi.count(CODES, names=["a", name, "c", "d"])
    wide = random_codes(np.random.default_rng(123), 400, (30,) * 60)
    with pytest.raises(TooLargeError, match="fewer columns"):
        kgmi.count(wide, n_parents=3)
    write_rows(tmp_path / "rows.parquet", 124, 50)
    other = stream(tmp_path / "rows.parquet")
    (tmp_path / "rows.parquet").unlink()
    with pytest.raises(DataError, match=r"rows\.parquet"):
        count(other, width=3)


def test_a_place_without_states_or_values_is_counted_and_merged(tmp_path):
    pieces = ["A,B,C\n0,1,\n1,0,\n", "A,B,C\n0,0,0\n", "A,B,C\n1,0,1\n0,1,2\n"]
    for number, text in enumerate(pieces):
        (tmp_path / f"{number}.csv").write_text(text)
    counts = [kgmi.count(tmp_path / f"{number}.csv", missing="pairwise") for number in range(3)]
    assert [one.tally.sizes for one in counts[:2]] == [(2, 2, 0), (1, 1, 1)]
    assert same(kgmi.merge(counts), kgmi.count(tmp_path, missing="pairwise"))
