"""``kgmi learn --update``: further rows give what all rows at once give, and nothing is lost or counted twice."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import kgmi
from kgmi.counting.lock import FolderLock
from kgmi.errors import CountsError, RecordError, SettingError
from kgmi.penalty import Penalty
from tests.commands import expect_refused, run_kgmi
from tests.update_drills import as_frame, assert_same_result, content, counts_in, make_rows, write, write_kernel

# Seed, nodes, states, rows, how the table looks, its ending, and options of the command.
PROBLEMS = {
    "six binary columns": (101, 6, 2, 900, {}, ".csv", []),
    "twenty of three states": (102, 20, 3, 1500, {}, ".parquet", []),
    "four states, words": (103, 8, 4, 1200, {"words": True}, ".csv", ["--parents", "1", "--penalty", "bic"]),
    "own alphabets": (104, 9, 3, 1500, {"own": True}, ".parquet", ["--alphabet", "own", "--share", "node"]),
    "own, order learned": (105, 6, 3, 900, {"own": True}, ".csv", ["--alphabet", "own", "--order", "learn"]),
    "order learned": (106, 5, 2, 600, {}, ".parquet", ["--order", "learn"]),
    "an order": (107, 5, 3, 900, {}, ".parquet", ["--order", "c2,c0,c1,c4,c3", "--roots", "c2,c0"]),
    "tiers": (108, 8, 3, 900, {}, ".csv", ["--tiers", "c3,c1|c0,c2,c4|c5,c6,c7", "--max-lag", "1"]),
    "edges": (109, 7, 2, 900, {}, ".csv", ["--forbid", "c0>c5", "--require", "c1>c4", "--classes", "c2,c3|c4"]),
    "a known kernel": (110, 10, 3, 900, {}, ".parquet", ["--kernel", "KERNEL", "--error", "0.01"]),
    "a known kernel over words": (
        111, 8, 3, 900, {"words": True}, ".csv",
        ["--kernel", "KERNEL", "--states", "low,middle,high", "--guide", "contextual"],
    ),
    "the paper's guide": (
        112, 12, 3, 1500, {}, ".parquet", ["--kernel", "KERNEL", "--guide", "stationary", "--divergence", "pearson"]
    ),
    "gaps pair by pair": (114, 6, 2, 900, {"gaps": True}, ".csv", ["--missing", "pairwise"]),
    "pairs alone": (113, 10, 3, 900, {}, ".csv", ["--guide", "plain"]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_updates_give_what_all_rows_at_once_give(name, tmp_path):
    seed, n_nodes, n_states, n_rows, looks, ending, options = PROBLEMS[name]
    rows, kernel = make_rows(seed, n_nodes, n_states, n_rows)
    table = as_frame(rows, **looks)
    options = [write_kernel(kernel, tmp_path / "k.json") if one == "KERNEL" else one for one in options]
    cuts = pairwise([0, n_rows // 2, n_rows // 2 + 1, n_rows])
    files = [write(table.slice(start, end - start), tmp_path / f"{start}{ending}") for start, end in cuts]
    result = tmp_path / "result"
    words = ["--stream"] if seed % 2 else []  # some begin with a table in memory
    assert run_kgmi("learn", files[0], "--out", str(result), *options, *words)[::2] == (0, "")
    for file in files[1:]:
        code, out, err = run_kgmi("learn", "--update", str(result), file)
        assert (code, err) == (0, "")
    assert f"rows of {result}: {n_rows:,} in all." in " ".join(out.split())
    whole = write(table, tmp_path / f"whole{ending}")
    assert run_kgmi("learn", whole, "--out", str(tmp_path / "all"), *options)[::2] == (0, "")
    assert_same_result(kgmi.load(result), kgmi.load(tmp_path / "all"))
    for file in files:  # however the rows came, they do not come again
        before = content(result)
        expect_refused(1, "learn", "--update", str(result), file, says=[f"the rows of {file} are among those"])
        assert content(result) == before


@pytest.fixture
def halves(tmp_path):
    """A result of the first half of some rows, and the file with the second; its columns are c0 .. c5."""
    rows, _ = make_rows(120, 6, 3, 1000)
    table = as_frame(rows, words=True)
    files = [write(table.slice(start, 500), tmp_path / f"{start}.parquet") for start in (0, 500)]
    assert run_kgmi("learn", files[0], "--out", str(tmp_path / "result"))[0] == 0
    return tmp_path / "result", Path(files[1]), table


def test_what_does_not_fit_is_refused_and_changes_nothing(halves, tmp_path):
    result, file, table = halves
    before = content(result)
    strange = write(table.set_column(2, "c2", pa.array(["huge"] * 1000)), tmp_path / "strange.parquet")
    few = write(table.drop_columns(["c3"]), tmp_path / "few.parquet")
    update = ("learn", "--update", str(result))
    expect_refused(
        1, *update, strange, says=["column c2 has huge in the new rows", "its states are high, low, middle"]
    )
    lacks = f"{few} has no column 'c3', which the result {result} has; it has c0, c1, c2, c4, c5"
    expect_refused(1, *update, few, says=[lacks])
    expect_refused(2, *update, says=["give the file with the new rows"])
    expect_refused(2, *update, str(file), "--parents", "2", says=["--parents does not go with --update"])
    for option in ("--plan", "--spent"):
        expect_refused(2, *update, str(file), option, says=["an update takes is not foretold", f"{option} out"])
    expect_refused(2, *update, str(file), "--where", "c1 == low", says=["--where does not go with --update"])
    expect_refused(2, *update, str(file), "--no-stream", says=["leave --no-stream out"])
    expect_refused(2, *update, str(file), "some.counts", says=["not both at once"])
    expect_refused(1, "learn", "--update", str(tmp_path), str(file), says=[f"there is no result in {tmp_path}"])
    lock = FolderLock(result / ".update.lock")
    expect_refused(1, *update, str(file), says=[f"{result} is in use by another run of kgmi"])
    lock.close()
    assert content(result) == before
    counts = counts_in(result)
    merge = f"kgmi merge {counts} new.counts -o all.counts"
    expect_refused(1, "learn", "--update", str(counts), str(file), says=["is a file of counts, not a res", merge])
    expect_refused(2, *update, str(counts), "--no-header", says=["these are counted already"])
    counts.write_bytes(before[counts.name][:-1])
    expect_refused(1, *update, str(file), says=[counts.name])
    assert run_kgmi("learn", str(file), "--out", str(tmp_path / "other"))[0] == 0
    counts.write_bytes(counts_in(tmp_path / "other").read_bytes())
    expect_refused(1, *update, str(file), says=["does not belong to the record beside it", "kgmi learn "])
    counts.unlink()
    expect_refused(1, *update, str(file), says=[f"{counts.name} is gone"])


def test_results_without_counts_say_so(tmp_path):
    rows, _ = make_rows(121, 5, 2, 300)
    gaps = rows.astype(object)
    gaps[::50, 1] = None
    table = pa.table({f"c{node}": gaps[:, node].tolist() for node in range(5)})
    file = write(table, tmp_path / "gaps.csv")
    assert run_kgmi("learn", file, "--out", str(tmp_path / "result"), "--missing", "category")[0] == 0
    assert counts_in(tmp_path / "result").exists()
    assert run_kgmi("learn", file, "--out", str(tmp_path / "result"), "--prepare")[0] == 0
    assert counts_in(tmp_path / "result") is None  # the earlier ones were of another result
    expect_refused(1, "learn", "--update", str(tmp_path / "result"), file, says=["keeps no counts of its rows"])
    with pytest.raises(RecordError, match="learned from rows, and no counts"):
        kgmi.update(kgmi.learn(rows), rows)


def test_new_rows_go_through_the_same_filter_and_columns(tmp_path):
    rows, _ = make_rows(122, 6, 3, 2000)
    table = as_frame(rows).append_column("year", pa.array(np.arange(2000) % 5 + 2020))
    files = [write(table.slice(start, 1000), tmp_path / f"{start}.parquet") for start in (0, 1000)]
    chosen = ["--columns", "c4,c1,c2,c0", "--where", "year >= 2022", "--where", "c3 in 0,1"]
    assert run_kgmi("learn", files[0], *chosen, "--out", str(tmp_path / "result"))[0] == 0
    assert run_kgmi("learn", "--update", str(tmp_path / "result"), files[1])[0] == 0
    assert run_kgmi("learn", *files, *chosen, "--out", str(tmp_path / "all"))[0] == 0
    assert_same_result(kgmi.load(tmp_path / "result"), kgmi.load(tmp_path / "all"))
    kept = rows[(np.arange(2000) % 5 >= 2) & (rows[:, 3] <= 1)][:, [4, 1, 2, 0]]
    assert kgmi.load(tmp_path / "result").configuration["n_rows"] == len(kept)
    assert kgmi.learn(kept).dag.parents == kgmi.load(tmp_path / "all").dag.parents


def test_counts_may_come_instead_of_rows_and_the_old_result_may_stay(halves, tmp_path):
    result, file, table = halves
    counts = str(tmp_path / "new.counts")
    assert run_kgmi("count", str(file), "-o", counts)[0] == 0
    before = content(result)
    words = ("--out", str(tmp_path / "both"), "--json")
    assert run_kgmi("learn", "--update", str(result), counts, *words)[0] == 0
    assert content(result) == before
    assert_same_result(kgmi.load(tmp_path / "both"), kgmi.learn(table.to_pandas()))
    expect_refused(1, "learn", "--update", str(tmp_path / "both"), counts, says=["some of these counts are among"])
    expect_refused(
        1, "learn", "--update", str(tmp_path / "both"), str(file), says=[f"the rows of {file} are among"]
    )
    again = kgmi.load(tmp_path / "both").configuration["origin"]
    assert again["table"] == str(counts_in(tmp_path / "both"))
    assert again["updates"] == [f"kgmi learn --update {result} {counts} --out {tmp_path / 'both'} --json"]
    assert_same_result(kgmi.learn(kgmi.Counts.load(again["table"])), kgmi.load(tmp_path / "both"))


def test_update_in_python(tmp_path):
    rows, kernel = make_rows(123, 8, 3, 1200)
    frames = [as_frame(rows[part]).to_pandas() for part in (slice(0, 400), slice(400, 900), slice(900, 1200))]
    learned = kgmi.learn(kgmi.stream(frames[0]), kernel=kernel, tiers=[[0, 1, 2, 4], [3, 5, 6, 7]])
    learned = kgmi.update(learned, frames[1])
    kgmi.save(learned, tmp_path / "result")
    learned = kgmi.update(tmp_path / "result", kgmi.stream(frames[2], n_states=3))
    whole = kgmi.learn(as_frame(rows).to_pandas(), kernel=kernel, tiers=[[0, 1, 2, 4], [3, 5, 6, 7]])
    assert_same_result(learned, whole)
    with pytest.raises(CountsError, match="would count twice"):
        kgmi.update(learned, frames[1])
    with pytest.raises(SettingError, match="header says how rows are read"):
        kgmi.update(learned, kgmi.stream(frames[1]), header=False)
    with pytest.raises(RecordError, match="of other columns, states or rows"):
        kgmi.save(whole, tmp_path / "other", counts=kgmi.count(frames[0]))
    own = kgmi.learn(kgmi.stream(frames[0]), penalty=Penalty("mine", lambda n, s, n_rows: n * 0.0 + s))
    with pytest.raises(RecordError, match=r"a function of its own \(mine\)"):
        kgmi.update(own, frames[1])
    with pytest.raises(RecordError, match="there is no record"):
        kgmi.update(tmp_path / "nothing", frames[1])
