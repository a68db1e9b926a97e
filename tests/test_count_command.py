"""``kgmi count`` and ``kgmi merge``: from tables in several places to counts of all rows."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import kgmi
from kgmi.cli.streaming import read_where
from kgmi.counting.counts import Counts
from kgmi.errors import SettingError
from kgmi.report.again import run_again
from tests.commands import expect_refused, run_kgmi
from tests.counts.tables import same, write_rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three files: whole numbers 0, 1, 2 in four columns."""
    made = tmp_path_factory.mktemp("places")
    rows = [write_rows(made / f"{name}.parquet", seed, 400, 100) for seed, name in enumerate("abc", 141)]
    lines = [",".join(f"x{column}" for column in range(4)), *(",".join(map(str, row)) for row in rows[2].tolist())]
    (made / "c.csv").write_text("\n".join(lines) + "\n")
    (made / "c.parquet").unlink()
    return made, np.vstack(rows)


def counted(*arguments):
    code, out, err = run_kgmi("count", *map(str, arguments))
    assert (code, err) == (0, "")
    return " ".join(out.split())


def test_counts_are_those_of_the_rows(folder, tmp_path):
    made, rows = folder
    out = counted(made / "a.parquet", made / "b.parquet", "--out", tmp_path / "ab.counts", "--parents", "1")
    assert "800 rows of 4 columns (3 states: 0, 1, 2) in " in out
    assert "rows/s)" in out
    assert f"wrote {tmp_path / 'ab.counts'} (" in out
    assert "up to 1 parent can be learned from it" in out
    counts = Counts.load(tmp_path / "ab.counts")
    for i, j in ((0, 1), (3, 1)):
        table = np.zeros((3, 3), dtype=int)
        np.add.at(table, (rows[:800, i], rows[:800, j]), 1)
        assert (counts.tally.family((i, j)) == table).all()


def test_counts_of_places_merge_to_the_counts_of_all(folder, tmp_path):
    made, _ = folder
    states = ("--states", "0,1,2")
    sources = {"a": made / "a.parquet", "b": made / "b.parquet", "c": made / "c.csv"}
    for name, path in sources.items():
        counted(path, "-o", tmp_path / f"{name}.counts", *states)
    files = [str(tmp_path / f"{name}.counts") for name in "cab"]
    code, out, err = run_kgmi("merge", *files, "-o", str(tmp_path / "all.counts"))
    assert (code, err) == (0, "")
    assert out.startswith("3 files of counts: 1,200 rows of 4 columns (3 states: 0, 1, 2)\nwrote ")
    code, told, _ = run_kgmi("merge", *files[::-1], "-o", str(tmp_path / "again.counts"), "--json")
    assert json.loads(told)["n_rows"] == 1_200
    assert json.loads(told)["merged"] == files[::-1]
    assert (tmp_path / "again.counts").read_bytes() == (tmp_path / "all.counts").read_bytes()
    counted(made / "a.parquet", made / "b.parquet", "-o", tmp_path / "ab.counts", *states)
    whole = Counts.load(tmp_path / "ab.counts") + Counts.load(tmp_path / "c.counts")
    assert same(Counts.load(tmp_path / "all.counts"), whole)
    expect_refused(
        1, "merge", *files, str(tmp_path / "all.counts"), "-o", str(tmp_path / "x.counts"), says=["count twice"]
    )
    code, _, _ = run_kgmi("merge", *files, files[0], "-o", str(tmp_path / "x.counts"), "--allow-repeats")
    assert code == 0
    assert Counts.load(tmp_path / "x.counts").n_rows == 1_600


def test_an_old_sum_that_a_pattern_takes_in(folder, tmp_path):
    for name in ("a", "b"):
        counted(folder[0] / f"{name}.parquet", "-o", tmp_path / f"{name}.counts")
    words = ("merge", str(tmp_path / "*.counts"), "-o", str(tmp_path / "sum.counts"))
    assert run_kgmi(*words)[0] == 0
    says = ["sum.counts is one of the files that are read", "pattern"]
    expect_refused(2, *words, says=says)
    expect_refused(2, *words[:2], str(tmp_path / "a.counts"), *words[2:], says=says)


def test_counts_have_names_by_which_they_are_known(folder, tmp_path):
    for name, better in (("a.txt", "a.counts"), ("a", "a.counts"), ("a.COUNTS", "a.counts")):
        for words in (("count", folder[0] / "a.parquet"), ("merge", folder[0] / "a.parquet")):
            says = ["does not end in .counts", f"name it {tmp_path / better}"]
            expect_refused(2, *map(str, words), "-o", str(tmp_path / name), says=says)
    assert list(tmp_path.iterdir()) == []


def test_counts_of_rows_that_passed_different_filters_are_merged_on_request_only(folder, tmp_path):
    made, rows = folder
    some, others = tmp_path / "some.counts", tmp_path / "others.counts"
    counted(made / "a.parquet", "--where", "x0 < 2", "-o", some)
    counted(made / "b.parquet", "-o", others)
    merge = ("merge", str(some), str(others), "-o", str(tmp_path / "sum.counts"))
    expect_refused(1, *merge, says=["'x0' < 2", "--allow-repeats"])
    assert run_kgmi(*merge, "--allow-repeats")[0] == 0
    total = kgmi.CountedTable.load(tmp_path / "sum.counts")
    assert total.n_rows == (rows[:400, 0] < 2).sum() + 400
    assert kgmi.merge(map(kgmi.CountedTable.load, (others, some)), repeats=True).reading == total.reading


def test_what_is_written_into_the_folder_of_the_data_is_no_data(folder, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    lines = "".join(f"{a},{b},{a}\n" for a, b in np.random.default_rng(77).integers(0, 2, (300, 2)))
    (data / "a.csv").write_text("x,y,z\n" + lines)
    learn = ("learn", str(data), "--out", str(data / "result"), "--checkpoint", str(data / "kept"))
    count = (data, "--out", data / "all.counts")
    fingerprints = set()
    for _ in range(2):
        code, out, err = run_kgmi(*learn)
        assert (code, err) == (0, "")
        assert "from 300 rows" in out
        fingerprints.add(json.loads(counted(*count, "--json"))["fingerprint"])
    assert len(fingerprints) == 1
    assert {path.name for path in data.rglob("*.csv")} == {"a.csv", "edges.csv"}
    expect_refused(1, "count", str(data / "**" / "*.csv"), "-o", str(tmp_path / "x.counts"), says=["edges.csv"])
    expect_refused(
        1, "count", str(data / "result"), "-o", str(tmp_path / "x.counts"), says=["but what kgmi learned"]
    )
    (data / "result" / "more.csv").write_text("x,y,z\n" + lines)  # a table beside a result is data
    assert json.loads(counted(*count, "--json"))["n_rows"] == 600
    (data / "edges.csv").write_text("x,y,z\n0,1,0\n")
    (data / "record.json").write_text("{}")  # somebody else's
    assert json.loads(counted(*count, "--json"))["n_rows"] == 601


def test_patterns_that_the_shell_left_stand_for_all_that_match(folder, tmp_path):
    for name in ("a", "b"):
        counted(folder[0] / f"{name}.parquet", "-o", tmp_path / "parts" / f"{name}.counts")
    pattern, files = str(tmp_path / "parts" / "*.counts"), [str(tmp_path / "parts" / f"{n}.counts") for n in "ab"]
    code, told, _ = run_kgmi("merge", pattern, "-o", str(tmp_path / "all.counts"), "--json")
    assert (code, json.loads(told)["merged"], json.loads(told)["n_rows"]) == (0, files, 800)
    expect_refused(2, "learn", pattern, says=["from one file of counts", f"kgmi merge {files[0]} {files[1]} -o"])
    expect_refused(2, "merge", str(tmp_path / "no*.counts"), "-o", str(tmp_path / "x"), says=["no file matches"])
    code, _, err = run_kgmi("learn", str(tmp_path / "al*.counts"), "--out", str(tmp_path / "result"))
    assert (code, err) == (0, "")
    again = run_again(kgmi.load(tmp_path / "result"))["python"]
    assert f"kgmi.CountedTable.load('{tmp_path / 'all.counts'}')" in again  # the file, not the pattern


def test_json_has_every_number(folder, tmp_path):
    made, _ = folder
    arguments = (made / "a.parquet", "-o", tmp_path / "a.counts", "--checkpoint", tmp_path / "kept", "--json")
    first, second = (json.loads(counted(*arguments)) for _ in range(2))
    assert first["n_rows"] == 400
    assert first["names"] == ["x0", "x1", "x2", "x3"]
    assert first["states"] == ["0", "1", "2"]
    assert (first["n_parents"], first["alphabets"], first["notes"]) == (2, None, [])
    assert first["bytes"] == (tmp_path / "a.counts").stat().st_size
    assert (first["fragments_from_checkpoint"], second["fragments_from_checkpoint"]) == (0, first["fragments"])
    assert (first["rows_from_checkpoint"], second["rows_from_checkpoint"]) == (0, 400)
    assert second["rows_per_second"] == 0
    assert first["fingerprint"] == second["fingerprint"]
    out = counted(*arguments[:-1])
    assert "of these, 400 rows (1 fragment" in out


def test_columns_and_filters(folder, tmp_path):
    made, rows = folder
    source = (made / "a.parquet", made / "b.parquet", "-o", tmp_path / "some.counts", "--parents", "1")
    filters = ("--where", "x0 != 1", "--where", "x3 in 0,2")
    counted(*source, "--columns", "x2,x1", *filters, "--states", "0,1,2")
    counts = Counts.load(tmp_path / "some.counts")
    kept = rows[:800][(rows[:800, 0] != 1) & np.isin(rows[:800, 3], (0, 2))]
    assert (counts.names, counts.n_rows) == (("x2", "x1"), len(kept))
    table = np.zeros((3, 3), dtype=int)
    np.add.at(table, (kept[:, 2], kept[:, 1]), 1)
    assert (counts.tally.family((0, 1)) == table).all()


def test_what_cannot_be_done_is_said_in_one_line(folder, tmp_path):
    made, out = str(folder[0] / "a.parquet"), str(tmp_path / "a.counts")
    expect_refused(2, "count", "-o", out, says=["give at least one file"])
    expect_refused(2, "count", made, says=["--out part.counts"])
    expect_refused(2, "count", made, "-o", out, "--parents", "0", says=["--parents must be at least 1, got 0"])
    expect_refused(2, "count", made, "-o", out, "--parents", "4", says=["5 columns", "4 columns"])
    expect_refused(2, "count", made, "-o", str(tmp_path), says=[f"{tmp_path} is a folder"])
    expect_refused(2, "count", made, "-o", out, "--where", "x0", says=["COLUMN OP VALUE", "'x0'"])
    expect_refused(1, "count", made, "-o", out, "--where", "x0 == 7", says=["no rows that the filter lets through"])
    expect_refused(2, "merge", "-o", out, says=["give the files of counts"])
    expect_refused(2, "merge", made, says=["--out all.counts"])
    expect_refused(1, "merge", made, "-o", out, says=["a.parquet is no file of counts of kgmi"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("year >= 2020", ("year", ">=", 2020)),
        ("year>=-2.5e1", ("year", ">=", -25.0)),
        ("a = true", ("a", "==", True)),
        ("a == nan", ("a", "==", "nan")),
        ("a != '3'", ("a", "!=", "3")),
        ("my name == x y", ("my name", "==", "x y")),
        ('"a <= ""b""" < 1', ('a <= "b"', "<", 1)),
        ("state in A,B", ("state", "in", ["A", "B"])),
        ("state  not   in (A, \"B,C\", 'd,e', 3)", ("state", "not in", ["A", "B,C", "d,e", 3])),
        ("inn in 1", ("inn", "in", [1])),
        ("code == 007", ("code", "==", "007")),
        ("n <= 0.50", ("n", "<=", 0.5)),
        ("g not in [x, y]", ("g", "not in", ["x", "y"])),
        ("g in{x}", ("g", "in", ["x"])),
        ("bo != False", ("bo", "!=", False)),
        ("age == (0, 10]", ("age", "==", "(0, 10]")),
        ('g == "x and q == 2"', ("g", "==", "x and q == 2")),
    ],
)
def test_conditions_as_they_are_written(text, found):
    assert read_where([text]) == [found]


NONE = ["", "x", "x ==", ">= 3", "x => 3", "x == = 3", "x in", "x in a,,b", "x in a,", "x ~ 3"]


MORE = [
    "g != x and q == 2",
    "g == x or y",
    "a == 1 & b == 2",
    "g in x,y and q",
    "s == 'a' or s == 'b'",
    "x in (0, 1],(1, 2]",
]


@pytest.mark.parametrize("text", MORE)
def test_conditions_that_are_several(text):
    with pytest.raises(SettingError, match="give each condition with a --where of its own"):
        read_where([text])


def test_the_filter_is_named(folder, tmp_path):
    made, rows = folder
    out = counted(made / "a.parquet", "-o", tmp_path / "a.counts", "--where", "x0 >= 1")
    assert f"a.parquet, where 'x0' >= 1: {int((rows[:400, 0] >= 1).sum())} rows" in out


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("x == 007", ["column 'x' holds numbers and cannot be compared with '007'"]),
        ("t == 7", ["column 't' holds texts and cannot be compared with 7; put it in quotes"]),
        ("b == yes", ["column 'b' holds truth values and cannot be compared with 'yes'"]),
    ],
)
def test_values_of_another_type_say_what_to_write(where, says, tmp_path):
    table = pa.table({"x": [0, 1] * 5, "t": ["u", "v"] * 5, "b": [True, False] * 5})
    parquet.write_table(table, tmp_path / "a.parquet")
    out = ("-o", str(tmp_path / "a.counts"), "--parents", "1", "--columns", "x,t", "--alphabet", "own")
    expect_refused(2, "count", str(tmp_path / "a.parquet"), *out, "--where", where, says=says)
    out = (*out[:-3], "b,x", "--alphabet", "own")
    assert (
        run_kgmi("count", str(tmp_path / "a.parquet"), *out, "--where", "t in u,v", "--where", "b == True")[0] == 0
    )


@pytest.mark.parametrize("text", NONE)
def test_conditions_that_are_none(text):
    with pytest.raises(SettingError, match="--where"):
        read_where([text])
