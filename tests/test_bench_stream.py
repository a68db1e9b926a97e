"""The benchmark of streams: rows that follow their law, files used again, counts that agree, what is reported."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from pyarrow import parquet

from kgmi.bench.stream.measure import PARTS, measure_stream, planned_runs
from kgmi.bench.stream.peers import WAYS, way_named
from kgmi.bench.stream.report import stream_report
from kgmi.bench.stream.runs import Run, check_same, ran
from kgmi.bench.stream.sampling import process_of, sample_block
from kgmi.bench.stream.tables import KINDS, Generated
from kgmi.errors import KgmiError, SettingError, TooLargeError
from tests.commands import expect_refused, run_kgmi

BAD_USAGE = 2
LAYOUT = ["kind", "machine", "versions", "settings", "results", "growth", "made"]


def counted(columns, n_states):
    """[pair, state, state] by histograms."""
    size = n_states * n_states
    pairs = combinations(np.asarray(columns, dtype=np.int64), 2)
    tables = [np.bincount(one * n_states + other, minlength=size) for one, other in pairs]
    return np.array(tables).reshape(-1, n_states, n_states)


# Rows


def test_rows_follow_the_kernel_and_the_law_of_the_roots():
    process, n_rows = process_of(7, 101), 300_000
    columns = sample_block(process, 101, 0, n_rows)
    assert columns.dtype == np.int8
    for block in process.dag.root_blocks:
        law = process.root_law(len(block)).ravel()
        places = np.ravel_multi_index(columns[list(block)], (3,) * len(block))
        found = np.bincount(places, minlength=len(law))
        assert (np.abs(found - n_rows * law) < 5 * np.sqrt(n_rows * law * (1 - law))).all()
    kernel = process.fixed_kernel().table.reshape(9, 3)
    for child, parents in enumerate(process.dag.parents):
        if parents:
            given = columns[parents[0]] * 3 + columns[parents[1]]
            found = np.bincount(given * 3 + columns[child], minlength=27).reshape(9, 3)
            expected = found.sum(axis=1, keepdims=True) * kernel
            assert (np.abs(found - expected) < 5 * np.sqrt(expected * (1 - kernel)) + 1e-9).all()


def test_blocks_are_the_same_again_and_differ_from_each_other():
    process = process_of(4, 102)
    first = sample_block(process, 102, 0, 1_001)
    assert np.array_equal(first, sample_block(process, 102, 0, 1_001))
    for seed, number in ((102, 1), (103, 0)):
        assert not np.array_equal(first, sample_block(process, seed, number, 1_001))


# Files


@pytest.mark.parametrize("kind", KINDS)
def test_files_hold_the_rows_in_order_whatever_their_number(tmp_path, kind):
    table = Generated(25_000, 4, kind, 104, n_files=2, group_rows=10_000)
    heard = []
    folder = table.write(tmp_path, heard.append)
    assert heard == [10_000, 20_000, 25_000]
    blocks = [sample_block(table.process, 104, number, 10_000) for number in range(3)]
    expected = np.concatenate(blocks, axis=1)[:, :25_000]
    files = [parquet.ParquetFile(path) for path in table.files_in(tmp_path)]
    assert [[f.metadata.row_group(g).num_rows for g in range(f.num_row_groups)] for f in files] == [
        [10_000, 10_000],
        [5_000],
    ]
    read = parquet.read_table(folder)
    assert tuple(read.column_names) == table.names
    for name, codes in zip(table.names, expected, strict=True):
        cells = read[name].to_pylist()
        assert [str(cell) for cell in cells] == [table.texts[code] for code in codes]


def test_files_are_written_once_and_anew_where_they_are_not_whole(tmp_path):
    table = Generated(2_000, 3, seed=105, group_rows=1_000)
    folder = table.write(tmp_path)
    (path,) = table.files_in(tmp_path)
    before = path.stat()
    assert table.write(tmp_path) == folder
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    path.unlink()
    table.write(tmp_path)
    assert path.stat().st_size == before.st_size
    other = replace(table, group_rows=500)  # other rows under the same name
    other.write(tmp_path)
    assert parquet.ParquetFile(path).num_row_groups == 4


def test_tables_that_cannot_be_made(tmp_path):
    with pytest.raises(TooLargeError, match=r"100,000,000,000,000 rows of 20 columns may take .*--most"):
        Generated(10**14).write(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SettingError, match="int8, category, text, not 'float'"):
        Generated(10, kind="float")
    with pytest.raises(SettingError, match="at least 3 columns"):
        Generated(10, n_nodes=2)


# Runs


def check_counts(run):
    """They are those of the rows."""
    assert run.trouble is None
    table = run.table
    columns = sample_block(table.process, table.seed, 0, table.group_rows)[:, : table.n_rows]
    assert np.array_equal(run.pairs, counted(columns, 3))
    assert run.seconds > 0
    assert 2 <= run.repeats <= 5
    # The system counts what a process holds per thread and adds it up now and then: both are about right.
    assert 20e6 < run.base_bytes <= 1.02 * run.peak_bytes < 2e9


@pytest.mark.parametrize(
    ("part", "method", "kind", "width"),
    [
        ("kinds", "kgmi", "category", 3),
        ("kinds", "kgmi", "text", 2),
        ("peers", "polars-keys", "int8", 2),
        ("peers", "pyarrow-groups", "int8", 2),
    ],
)
def test_counts_of_processes_are_those_of_the_rows(tmp_path, part, method, kind, width):
    table = Generated(9_000, 4, kind, 106, group_rows=10_000)
    check_counts(ran(Run(part, method, table, width), tmp_path, 60.0))


def test_what_is_run_in_which_order():
    ways = [way_named("duckdb-sets"), way_named("polars-pairs")]
    sizes, versions = [10**6, 10**7, 10**8], {"distributed": "1"}
    runs = planned_runs(sizes, 5, [1, 4], ways, PARTS, 112, 10**6, versions)
    told = [(run.part, run.method, run.table.n_rows, run.table.kind, run.width) for run in runs]
    assert told == [
        *(("rows", "kgmi", n, "int8", width) for n in sizes for width in (2, 3)),
        *(("workers", method, 10**7, "int8", 3) for method in ("kgmi", "kgmi-dask") for _ in (1, 4)),
        *(("kinds", "kgmi", 10**7, kind, 3) for kind in KINDS),
        *(
            ("peers", method, n, "int8", width)
            for n in sizes[:2]
            for method, width in (("kgmi", 2), ("kgmi", 3), ("duckdb-sets", 2), ("polars-pairs", 2))
        ),
        ("learn", "kgmi-learn", 10**8, "int8", 3),
    ]
    assert [run.workers for run in runs if run.part == "workers"] == [1, 4, 1, 4]
    without = planned_runs(sizes, 5, [1, 4], [], ("workers",), 112, 10**6, {"distributed": None})
    assert [run.method for run in without] == ["kgmi", "kgmi"]


@pytest.mark.peers
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.key)
def test_every_peer_counts_pairs(tmp_path, way):
    table = Generated(9_000, 4, seed=106, group_rows=10_000)
    check_counts(ran(Run("peers", way.key, table), tmp_path, 60.0))


def test_counts_that_differ_are_an_error():
    table = Generated(10, 3, seed=107)
    right = counted(np.arange(30).reshape(3, 10) % 3, 3)
    wrong = right.copy()
    wrong[0, 0, 0], wrong[0, 0, 1] = right[0, 0, 1], right[0, 0, 0]
    ours, other = (Run("peers", who, table, pairs=right) for who in ("kgmi", "duckdb-sets"))
    assert check_same([ours, other, replace(other, pairs=None)]) == 2
    for bad in (wrong, right[:2], right - 1):
        with pytest.raises(KgmiError, match="duckdb-sets and kgmi counted other pairs in the same 10 rows"):
            check_same([ours, replace(other, pairs=bad)])
    check_same([ours, replace(other, pairs=right, table=replace(table, kind="text"))])
    with pytest.raises(KgmiError, match="counted other pairs"):
        check_same([replace(ours, pairs=right - 1)])


def test_a_run_that_takes_too_long_or_fails_says_so(tmp_path):
    table = Generated(2_000, 4, seed=108, group_rows=1_000)
    assert ran(Run("peers", "pyarrow-groups", table), tmp_path, 0.01).trouble == "stopped after 0.01 s"
    failed = ran(Run("peers", "sqlite", table), tmp_path, 60.0)
    assert failed.seconds is None
    assert "there is no peer 'sqlite'" in failed.trouble


# What is reported


def made_runs():
    """Runs as they might have come."""
    tables = [Generated(n, 5, seed=109) for n in (1_000_000, 10_000_000)]
    known = {"repeats": 1, "base_bytes": 50_000_000}
    for table, seconds, memory in zip(tables, (0.1, 1.1), (200e6, 210e6), strict=True):
        for width in (2, 3):
            yield Run("rows", "kgmi", table, width, 2, seconds * width / 2, peak_bytes=int(memory), **known)
    for method, workers, seconds in (("kgmi", 1, 3.0), ("kgmi", 2, 1.5), ("kgmi-dask", 1, 3.3)):
        yield Run("workers", method, tables[1], 3, workers, seconds, peak_bytes=10**8, **known)
    yield Run("kinds", "kgmi", replace(tables[1], kind="text"), 3, 2, trouble="crashed (SIGKILL)")
    yield Run("peers", "kgmi", tables[1], 2, 2, 1.0, peak_bytes=None, **known)
    for table, times in zip(tables, ((0.5, 0.4), (4.0, 5.0)), strict=True):
        for key, seconds in zip(("duckdb-pairs", "duckdb-sets"), times, strict=True):
            yield Run("peers", key, table, 2, 2, seconds, peak_bytes=10**8, **known)
    more = {"f1": 0.975, "shd": 1, "counting_seconds": 1.25}
    yield Run("learn", "kgmi-learn", tables[1], 3, 2, 2.0, peak_bytes=3 * 10**8, more=more)


def test_tables_growth_and_sentences_of_runs():
    settings = {
        "n_nodes": 5,
        "n_states": 3,
        "cores": 2,
        "parts": ["rows", "workers", "kinds", "peers", "learn"],
        "peers": {way.key: way.says for way in WAYS},
        "missing": ["polars"],
        "agreeing": 3,
    }
    runs = list(made_runs())
    found = stream_report(settings, runs)
    by_rows, growth, workers, kinds, peers, command = found.tables
    assert by_rows.rows[2] == ["10,000,000", "all pairs", "1.10 s", "9.09", "210"]
    assert growth.rows[0] == ["kgmi, all sets of three", "time", "1.04", "1.04", "2"]
    assert growth.rows[1][:3] == ["kgmi, all sets of three", "memory", "0.02"]
    assert [line[-1] for line in workers.rows] == ["1.00", "2.00", "1.00"]
    assert kinds.rows == [["text", "–", "–", "–"]]
    assert [(line[0], line[3], line[-1]) for line in peers.rows] == [
        ("kgmi, all pairs", "–", "1.00"),
        (way_named("duckdb-pairs").says, "100", "4.00"),
        (way_named("duckdb-sets").says, "100", "5.00"),
    ]
    assert command.rows == [["10,000,000", "2.00 s", "5.00", "300", "1.25 s", "8.00", "0.975"]]
    said = " ".join(found.sentences)
    assert "kgmi on 10,000,000 rows: crashed (SIGKILL)." in said
    assert "Not installed, so not run: polars (pip install 'kgmi[bench]')." in said
    # The fastest way of a library at its largest size has the line, also where it was slower on fewer rows.
    assert [law["method"] for law in found.growth if law["label"] == "DuckDB"] == ["duckdb-pairs"] * 2
    assert [curve.values for curve in found.curves if curve.label == "DuckDB"] == [(0.5, 4.0)]
    assert json.loads(json.dumps(found.results[-1]))["rows_per_second"] == 5_000_000


def test_parts_are_chosen():
    with pytest.raises(SettingError, match="no part 'row' of this benchmark; choose from rows, workers"):
        measure_stream((1_000,), parts=("row",))


# Commands


def test_rows_for_people_and_files(tmp_path):
    code, out, err = run_kgmi(
        "bench", "stream", "--quick", "--parts", "rows", "--nodes", "5", "--seed", "110", "--out", str(tmp_path)
    )
    assert (code, err) == (0, "")
    assert "Counting 5 columns of Parquet files" in out
    assert "4 runs counted all pairs, and all that read the same rows agree." in " ".join(out.split())
    assert out.endswith(f"wrote {tmp_path / 'stream.json'}\nwrote {tmp_path / 'stream.png'}\n")
    content = json.loads((tmp_path / "stream.json").read_text(encoding="utf-8"))
    assert list(content) == ["format", *LAYOUT]
    assert [(run["n_rows"], run["width"]) for run in content["results"]] == [
        (n, width) for n in (20_000, 40_000) for width in (2, 3)
    ]
    assert {(law["method"], law["quantity"]) for law in content["growth"]} == {
        (f"kgmi-{width}", what) for width in (2, 3) for what in ("seconds", "peak_bytes")
    }


def test_the_whole_command_learns_the_graph(tmp_path):
    found = measure_stream((40_000,), n_nodes=6, parts=("learn",), seed=111, folder=tmp_path, group_rows=5_000)
    (run,) = found.results
    assert run["trouble"] is None
    assert run["f1"] == 1.0
    assert 0 < run["counting_seconds"] < run["command_seconds"] < run["seconds"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--most", "1000"), ["--most", "1e6 to 1e10"]),
        (("--most", "many"), ["--most", "'many'"]),
        (("--workers", "0"), ["workers must be different"]),
        (("--peers", "sqlite"), ["no peer 'sqlite'", "duckdb-sets"]),
        (("--parts", "rows,cows"), ["no part 'cows'"]),
        (("--nodes", "2"), ["at least 3 columns"]),
        (("--limit", "0"), ["--limit must be a positive"]),
        (("--folder", __file__), ["is a file"]),
    ],
)
def test_bad_options(arguments, says):
    expect_refused(BAD_USAGE, "bench", "stream", *arguments, says=says)
