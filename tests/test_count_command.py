"""``kgmi count`` and ``kgmi merge``: from tables in several places to counts of all rows."""

import json

import numpy as np
import pytest

import kgmi
from kgmi.report.again import run_again
from tests.commands import expect_refused, run_kgmi
from tests.counts.tables import by_hand, same
from tests.result_drills import as_frame, write

ROWS = {name: np.random.default_rng(seed).integers(0, 3, (400, 4)) for seed, name in enumerate("abc", 141)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three files, two of Parquet and one of text: whole numbers 0, 1, 2 in the columns c0 to c3."""
    made = tmp_path_factory.mktemp("places")
    for name, ending in zip("abc", ("parquet", "parquet", "csv"), strict=True):
        write(as_frame(ROWS[name]), made / f"{name}.{ending}")
    return made


def done(*words):
    """What a command prints."""
    code, out, err = run_kgmi(*map(str, words))
    assert (code, err) == (0, "")
    return out


def load(path):
    return kgmi.CountedTable.load(path)


def test_counts_are_those_of_the_rows(folder, tmp_path):
    out, sources = tmp_path / "ab.counts", (folder / "a.parquet", folder / "b.parquet")
    printed = " ".join(done("count", *sources, "--out", out, "--parents", "1").split())
    assert "800 rows of 4 columns (3 states: 0, 1, 2) in " in printed
    assert f"wrote {out} (" in printed
    rows, counts = np.vstack([ROWS["a"], ROWS["b"]]), load(out)
    for nodes in ((0, 1), (3, 1)):
        assert (counts.tally.family(nodes[1], nodes[:1]) == by_hand(rows, (3,) * 4, nodes)).all()
    filters = ("--where", "c0 != 1", "--where", "c3 in 0,2")
    done("count", *sources, "-o", out, "--parents", "1", "--columns", "c2,c1", *filters, "--states", "0,1,2")
    counts, kept = load(out), rows[(rows[:, 0] != 1) & (rows[:, 3] != 1)]
    assert (counts.names, counts.n_rows) == (("c2", "c1"), len(kept))
    assert (counts.tally.family(1, (0,)) == by_hand(kept, (3,) * 4, (2, 1))).all()


def test_counts_of_places_merge_to_the_counts_of_all(folder, tmp_path):
    for path in (folder / "a.parquet", folder / "b.parquet", folder / "c.csv"):
        done("count", path, "-o", tmp_path / f"{path.stem}.counts")
    *files, total, again, twice = (tmp_path / f"{name}.counts" for name in ("c", "a", "b", "all", "again", "twice"))
    assert done("merge", *files, "-o", total).startswith("3 files of counts: 1,200 rows of 4 columns")
    printed = json.loads(done("merge", *files[::-1], "-o", again, "--json"))
    assert (printed["n_rows"], printed["merged"]) == (1_200, [str(file) for file in files[::-1]])
    assert again.read_bytes() == total.read_bytes()
    done("count", folder / "a.parquet", folder / "b.parquet", "-o", tmp_path / "ab.counts")
    assert same(load(total), load(tmp_path / "ab.counts") + load(tmp_path / "c.counts"))
    expect_refused(1, "merge", *map(str, [*files, total]), "-o", str(twice), says=["count twice"])
    done("merge", *files, files[0], "-o", twice, "--allow-repeats")
    assert load(twice).n_rows == 1_600


def test_counts_of_rows_that_passed_different_filters_are_merged_on_request_only(folder, tmp_path):
    some, others, total = (tmp_path / f"{name}.counts" for name in ("some", "others", "sum"))
    assert "where 'c0' < 2: " in done("count", folder / "a.parquet", "--where", "c0 < 2", "-o", some)
    done("count", folder / "b.parquet", "-o", others)
    merge = ("merge", str(some), str(others), "-o", str(total))
    expect_refused(1, *merge, says=["'c0' < 2", "--allow-repeats"])
    done(*merge, "--allow-repeats")
    assert load(total).n_rows == (ROWS["a"][:, 0] < 2).sum() + 400


def test_what_is_written_into_the_folder_of_the_data_is_no_data(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    lines = "".join(f"{a},{b},{a}\n" for a, b in np.random.default_rng(77).integers(0, 2, (300, 2)))
    (data / "a.csv").write_text("x,y,z\n" + lines)
    count = ("count", data, "--out", data / "all.counts", "--json")
    for _ in range(2):
        assert "from 300 rows" in done("learn", data, "--out", data / "result", "--checkpoint", data / "kept")
        assert json.loads(done(*count))["n_rows"] == 300
    out = str(tmp_path / "x.counts")
    expect_refused(1, "count", str(data / "**" / "*.csv"), "-o", out, says=["edges.csv"])
    expect_refused(1, "count", str(data / "result"), "-o", out, says=["no tables"])
    (data / "result" / "more.csv").write_text("x,y,z\n" + lines)  # a table beside a result is data
    (data / "edges.csv").write_text("x,y,z\n0,1,0\n")
    (data / "record.json").write_text("{}")  # of another program
    assert json.loads(done(*count))["n_rows"] == 601


def test_patterns_that_the_shell_left_mean_all_that_match(folder, tmp_path):
    files = [tmp_path / "parts" / f"{name}.counts" for name in "ab"]
    for file in files:
        done("count", folder / f"{file.stem}.parquet", "-o", file)
    pattern, total = str(tmp_path / "parts" / "*.counts"), tmp_path / "all.counts"
    printed = json.loads(done("merge", pattern, "-o", total, "--json"))
    assert (printed["merged"], printed["n_rows"]) == ([str(file) for file in files], 800)
    expect_refused(2, "learn", pattern, says=[f"kgmi merge {files[0]} {files[1]} -o"])
    expect_refused(2, "merge", pattern, "-o", str(files[0]), says=["a.counts", "read"])
    done("learn", tmp_path / "al*.counts", "--out", tmp_path / "result")
    again = run_again(kgmi.load(tmp_path / "result"))["python"]
    assert f"kgmi.CountedTable.load('{total}')" in again  # the file, not the pattern


def test_json_has_every_number(folder, tmp_path):
    out, words = tmp_path / "a.counts", ("count", folder / "a.parquet", "--checkpoint", tmp_path / "kept")
    first, second = (json.loads(done(*words, "-o", out, "--json")) for _ in range(2))
    assert (first["n_rows"], first["names"]) == (400, ["c0", "c1", "c2", "c3"])
    assert (first["states"], first["alphabets"], first["n_parents"]) == (["0", "1", "2"], None, 2)
    assert (first["bytes"], first["where"]) == (out.stat().st_size, None)
    assert (first["fragments_from_checkpoint"], second["fragments_from_checkpoint"]) == (0, first["fragments"])
    assert (first["rows_from_checkpoint"], second["rows_from_checkpoint"]) == (0, 400)
    assert (second["rows_per_second"], second["fingerprint"]) == (0, first["fingerprint"])
    assert "of these, 400 rows (1 fragment" in done(*words, "-o", out)


def test_what_cannot_be_done_is_said_in_one_line(folder, tmp_path):
    made, out = str(folder / "a.parquet"), str(tmp_path / "a.counts")
    for code, words, says in (
        (2, ("count", "-o", out), "at least one file"),
        (2, ("count", made), "--out part.counts"),
        (2, ("count", made, "-o", out, "--parents", "0"), "--parents must be at least 1"),
        (2, ("count", made, "-o", out, "--parents", "4"), "5 columns"),
        (2, ("count", made, "-o", str(tmp_path)), f"{tmp_path} is a folder"),
        (2, ("count", made, "-o", str(tmp_path / "x.txt")), f"name it {tmp_path / 'x.counts'}"),
        (2, ("count", made, "-o", out, "--where", "c0"), "COLUMN OP VALUE"),
        (2, ("count", made, "-o", out, "--where", "c9 == 1"), "no column 'c9'"),
        (1, ("count", made, "-o", out, "--where", "c0 == 7"), "filter"),
        (2, ("merge", "-o", out), "files of counts"),
        (2, ("merge", str(tmp_path / "no*.counts"), "-o", out), "no file"),
        (2, ("merge", made), "--out all.counts"),
        (1, ("merge", made, "-o", out), "a.parquet is no file of counts"),
    ):
        expect_refused(code, *words, says=[says])
    assert list(tmp_path.iterdir()) == []
