"""Which rows an update takes: those that go through the filter of the result, are read as its own, and are new."""

import os
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import kgmi
from kgmi import KGMI
from kgmi.errors import CountsError, DataError, RecordError, SettingError
from kgmi.estimator import kept
from kgmi.learning import shortlist
from tests.commands import expect_refused, run_kgmi
from tests.update_drills import as_frame, assert_same_result, make_rows, write

COLUMNS = [f"c{node}" for node in range(5)]
FILTER = ["--columns", ",".join(COLUMNS), "--where", "y < 5"]


@pytest.fixture
def halves(tmp_path):
    """Two files of 1,000 rows; the column y is not learned from, and below 5 in half of the rows."""
    rows, _ = make_rows(140, 5, 2, 2000)
    table = as_frame(rows).append_column("y", pa.array(np.arange(2000) % 10))
    table = table.append_column("day", pa.array([date(2024, 1, 1 + number % 10) for number in range(2000)]))
    return [write(table.slice(start, 1000), tmp_path / f"{start}.parquet") for start in (0, 1000)]


def run(*words):
    code, _, err = run_kgmi(*map(str, words))
    assert (code, err) == (0, "")


def test_counts_know_the_filter_that_their_rows_went_through(halves, tmp_path):
    some, all_rows = tmp_path / "some.counts", tmp_path / "all.counts"
    run("count", halves[0], *FILTER, "-o", some)
    run("count", halves[1], *FILTER[:2], "-o", all_rows)
    run("learn", some, "--out", tmp_path / "result")
    update = ("learn", "--update", str(tmp_path / "result"))
    expect_refused(1, *update, str(all_rows), says=["counted where 'y' < 5, the new ones without a filter"])
    expect_refused(1, *update, halves[0], says=["are among those of the result already"])
    run(*update, halves[1])
    run("learn", *halves, *FILTER, "--out", tmp_path / "both")
    assert kgmi.load(tmp_path / "result").configuration["n_rows"] == 1000
    assert_same_result(kgmi.load(tmp_path / "result"), kgmi.load(tmp_path / "both"))
    out = str(tmp_path / "sum.counts")
    merge = ("merge", str(some), str(all_rows), "-o", out)
    expect_refused(1, *merge, says=["was counted without a filter", "some.counts where 'y' < 5", "--allow-repeats"])
    run(*merge, "--allow-repeats")
    counts = kgmi.Counts.load(out)
    assert (counts.n_rows, counts.reading["where"]) == (1500, [[["y", "<", 5]], []])
    again = kgmi.merge([kgmi.Counts.load(all_rows), kgmi.Counts.load(some)], repeats=True)
    assert again.reading == counts.reading  # in whatever order they come
    run("learn", out, "--out", tmp_path / "mixed")
    fresh = write(as_frame(make_rows(143, 6, 2, 100)[0]).rename_columns([*COLUMNS, "y"]), tmp_path / "c.parquet")
    expect_refused(
        1, "learn", "--update", str(tmp_path / "mixed"), fresh, says=["where 'y' < 5 or all rows, and which"]
    )


@pytest.mark.parametrize("where", [[("y", "in", (1, 2)), ("c0", "!=", 7.5)], [("y", "not in", {3, 4})]])
def test_a_result_of_python_knows_its_filter(where, halves, tmp_path):
    learned = kgmi.learn(kgmi.stream(halves[0], columns=COLUMNS, where=where))
    whole = kgmi.learn(kgmi.stream(halves, columns=COLUMNS, where=where))
    kgmi.save(learned, tmp_path / "result")
    for record in (learned, tmp_path / "result"):
        assert_same_result(kgmi.update(record, halves[1]), whole)
        with pytest.raises(CountsError, match="the new ones without a filter: read or count them with the same"):
            kgmi.update(record, kgmi.stream(halves[1], columns=COLUMNS))
        with pytest.raises(CountsError, match=r"the new ones where 'y' > 7"):
            kgmi.update(record, halves[1], where=[("y", ">", 7)])


def test_new_rows_need_the_columns_of_the_result_and_of_its_filter(halves, tmp_path):
    result = tmp_path / "result"
    run("learn", halves[0], *FILTER, "--out", result)
    rows = as_frame(make_rows(145, 5, 2, 200)[0])
    file = write(rows, tmp_path / "new.csv")
    there = "no column 'y'; it has c0, c1, c2, c3, c4. Give rows that have this column too"
    told = f"the rows of the result {result} were counted where 'y' < 5, but {file} has {there}"
    expect_refused(1, "learn", "--update", str(result), file, says=[told])
    learned = kgmi.learn(kgmi.stream(halves[0], columns=COLUMNS))
    with pytest.raises(
        DataError, match=r"^the new rows have no column 'c2', which the result has; they have c0, c1"
    ):
        kgmi.update(learned, rows.drop_columns(["c2"]))
    with pytest.raises(SettingError, match=r"^columns: there is no column 'C9'; there are c0"):
        kgmi.update(learned, rows, columns=["C9"])
    with pytest.raises(SettingError, match=r"^kgmi.update has no option heder; did you mean header"):
        kgmi.update(learned, rows, heder=False)
    with pytest.raises(SettingError, match=r"^checkpoint says how rows are read or counted; these are"):
        kgmi.update(learned, kgmi.count(halves[1], columns=COLUMNS), checkpoint=tmp_path / "parts")


@pytest.mark.parametrize("where", [pc.field("y") < 3, [("day", ">=", date(2024, 1, 4))]])
def test_a_filter_that_is_kept_in_words_is_told_again(where, halves, tmp_path):
    kgmi.save(kgmi.learn(kgmi.stream(halves[0], columns=COLUMNS, where=where)), tmp_path / "result")
    with pytest.raises(RecordError, match=r"in words only: give the same where=… to kgmi.update"):
        kgmi.update(tmp_path / "result", halves[1])
    whole = kgmi.learn(kgmi.stream(halves, columns=COLUMNS, where=where))
    assert_same_result(kgmi.update(tmp_path / "result", halves[1], where=where), whole)
    with pytest.raises(CountsError, match="the new ones where"):
        kgmi.update(tmp_path / "result", halves[1], where=pc.field("y") < 4)


@pytest.mark.parametrize("n_rows", [400, 40_000])
@pytest.mark.parametrize("words", [[], ["--no-header"]])
def test_a_text_file_that_grew_or_was_touched_does_not_count_twice(n_rows, words, tmp_path):
    file, result = tmp_path / "log.csv", tmp_path / "result"
    lines = [",".join(map(str, row)) for row in make_rows(141, 5, 2, n_rows)[0]]
    head = [] if words else [",".join(COLUMNS)]
    file.write_text("\n".join(head + lines[: n_rows // 2]) + "\n")
    run("learn", file, *words, "--out", result)
    os.utime(file, (1, 1))
    update = ("learn", "--update", str(result))
    expect_refused(1, *update, str(file), says=["are among those of the result already"])
    file.write_text("\n".join(head + lines) + "\n")
    expect_refused(1, *update, str(file), says=[f"{file} begins like a file that is in the result already"])
    (tmp_path / "new.csv").write_text("\n".join(head + lines[n_rows // 2 :]) + "\n")
    run(*update, tmp_path / "new.csv")
    assert kgmi.load(result).configuration["n_rows"] == n_rows


def test_a_file_of_names_only_stands_in_nobodys_way(tmp_path):
    rows = make_rows(142, 5, 2, 400)[0]
    (tmp_path / "first").mkdir()
    write(as_frame(rows[:200]), tmp_path / "first" / "a.csv")
    new = tmp_path / "b.csv"
    write(as_frame(rows[200:]), new)
    names = new.read_text().partition("\n")[0]
    (tmp_path / "first" / "empty.csv").write_text(names + "\n")
    run("learn", tmp_path / "first", "--out", tmp_path / "result")
    run("learn", "--update", tmp_path / "result", new)
    assert kgmi.load(tmp_path / "result").configuration["n_rows"] == 400


def test_folders_and_patterns_of_text_without_names_are_read_as_before(tmp_path):
    rows = make_rows(144, 5, 2, 600)[0]
    for name, part in (("a", rows[:300]), ("b", rows[300:400]), ("c", rows[400:])):
        (tmp_path / name).mkdir()
        np.savetxt(tmp_path / name / f"{name}.csv", part, fmt="%d", delimiter=",")
    run("learn", tmp_path / "a", "--no-header", "--out", tmp_path / "result")
    run("learn", "--update", tmp_path / "result", tmp_path / "b")
    run("learn", "--update", tmp_path / "result", tmp_path / "c" / "*.csv")
    learned = kgmi.load(tmp_path / "result")
    assert learned.configuration["n_rows"] == 600
    assert learned.dag.parents == kgmi.learn(rows).dag.parents


def test_a_result_of_partial_fit_takes_no_update(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "MOST_BYTES", 500)
    rows = make_rows(145, 5, 2, 600)[0]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    model = KGMI(alphabet="own").fit(frame[:300]).partial_fit(frame[300:500])
    assert model._kept.reading == {"missing": "error", "alphabet": "own"}
    kgmi.save(model.learned_, tmp_path / "result")
    for record in (model.learned_, tmp_path / "result"):
        with pytest.raises(RecordError, match=r"came through KGMI\.partial_fit.* go on with partial_fit"):
            kgmi.update(record, frame[500:])
    with pytest.raises(CountsError, match="do not say which rows they are of"):
        kgmi.update(kgmi.learn(kgmi.stream(frame[500:], alphabet="own")), model._kept)


@pytest.mark.parametrize(
    ("options", "changed", "says"),
    [
        ({}, {"missing": "category"}, "missing was 'error' .* now it is 'category'"),
        ({}, {"alphabet": "own"}, "alphabet was 'auto'"),
        ({"states": [0, 1]}, {"states": [1, 0]}, r"states was \[0, 1\] .* now it is \[1, 0\]"),
        ({}, {"states": ["0", "1"]}, "states was None"),
        ({}, {"bins": 7}, "bins was 4"),
    ],
)
def test_further_rows_of_an_estimator_are_read_as_the_first(options, changed, says):
    rows = make_rows(146, 5, 2, 400)[0]
    model = KGMI(**options).fit(rows[:200])
    with pytest.raises(SettingError, match=says):
        model.set_params(**changed).partial_fit(rows[200:])
    assert model.learned_.configuration["n_rows"] == 200
    model.set_params(**{name: KGMI(**options).get_params()[name] for name in changed}).partial_fit(rows[200:])
    assert model.learned_.configuration["n_rows"] == 400


def test_a_result_of_short_lists_says_why_no_rows_can_be_added(tmp_path, monkeypatch):
    monkeypatch.setattr(shortlist, "MOST_BYTES", 150_000)
    rows = make_rows(147, 40, 2, 1000)[0]
    file = write(as_frame(rows), tmp_path / "wide.parquet")
    learned = kgmi.learn(kgmi.stream(file))
    kgmi.save(learned, tmp_path / "result")
    with pytest.raises(RecordError, match="only sets of likely parents were counted"):
        kgmi.update(learned, rows)
    with pytest.raises(RecordError, match="unless there are so many columns that short lists"):
        kgmi.update(tmp_path / "result", rows)
