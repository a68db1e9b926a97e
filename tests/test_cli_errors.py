"""The commands, end to end: bad input gives one clear line and the right exit code, never a trace."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.commands import expect_refused, run_kgmi

FAILED, BAD_USAGE = 1, 2
PAPER = ("--kernel", "paper")


def write(tmp_path, text, name="rows.csv"):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


BAD_TABLES = {
    "an empty file": ("", ["is empty"]),
    "a header only": ("a,b,c\n", ["no rows"]),
    "a ragged line": ("a,b,c\n0,1,2\n0,1\n", ["line 3", "2 values", "the first line 3"]),
    "a missing value": ("a,b,c\n0,1,2\n0,,1\n1,2,0\n", ["line 3", "row 1", "column 'b'", "missing"]),
    "a state outside the alphabet": ("a,b,c\n0,1,2\n0,3,1\n1,2,0\n", ["3 states were expected", "4"]),
    "a constant column": ("a,b,c\n0,1,2\n1,1,0\n2,1,1\n", ["column 'b'", "constant"]),
    "fewer rows than states": ("a,b,c\n0,1,2\n1,2,0\n", ["2 rows", "3 states"]),
    "two columns of one name": ("a,a,c\n0,1,2\n", ["two columns", "'a'"]),
    "too few columns": ("a,b\n0,1\n1,2\n2,0\n", ["2 parents need at least 3 columns"]),
}


def test_a_file_of_counts_is_no_result(tmp_path):
    rows = write(tmp_path, "a,b,c\n" + "0,1,0\n1,1,0\n1,0,1\n0,0,1\n" * 5)
    counts, result = tmp_path / "all.counts", tmp_path / "result"
    assert run_kgmi("count", rows, "--parents", "1", "-o", str(counts))[0] == 0
    code, out, err = run_kgmi("learn", str(counts), "--out", str(result))
    assert (code, err) == (0, "")
    assert "No more than one parent of a node was looked for" in " ".join(out.split())
    told = f"{counts} is a file of counts, not a result: learn from it first, kgmi learn {counts} --out result"
    for words in ("show", "plot", "report", "export --to dot", f"compare {result}"):
        expect_refused(FAILED, *words.split(), str(counts), says=[told])
    expect_refused(FAILED, "show", str(tmp_path / "no.counts"), says=["there is no record at"])


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables(name, tmp_path):
    text, says = BAD_TABLES[name]
    code = BAD_USAGE if "columns" in says[0] and "two" not in says[0] else FAILED
    expect_refused(code, "learn", write(tmp_path, text), *PAPER, says=says)


BAD_KERNELS = {
    "a row that does not sum to one": ([[0.5, 0.4], [0.5, 0.5]], ["row (0)", "0.9", "0.1 below 1"]),
    "a negative probability": ([[1.5, -0.5], [0.5, 0.5]], ["row (0)", "[0, 1]"]),
    "the wrong shape": ([[0.5, 0.5]], ["shape"]),
    "no numbers": ([["a", "b"], ["c", "d"]], ["table of numbers"]),
}


@pytest.mark.parametrize("name", BAD_KERNELS)
def test_bad_kernels(name, tmp_path):
    table, says = BAD_KERNELS[name]
    kernel = write(tmp_path, json.dumps({"table": table}), "kernel.json")
    expect_refused(FAILED, "exact", "--graph", "chain:5,1", "--kernel", kernel, says=says)


def test_a_kernel_with_nan(tmp_path):
    np.save(tmp_path / "kernel.npy", np.full((2, 2), np.nan))
    expect_refused(FAILED, "exact", "--graph", "chain:5,1", "--kernel", str(tmp_path / "kernel.npy"), says=["NaN"])


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("learn",), BAD_USAGE, ["FILE", "--example"]),
        (("learn", "nowhere.csv"), FAILED, ["no file or folder nowhere.csv"]),
        (("learn", "--example", "other"), BAD_USAGE, ["no example 'other'"]),
        (("learn", "--example", "paper", "--rate", "0"), BAD_USAGE, ["rate", "positive"]),
        (("learn", "--example", "paper", "--rate", "nan"), BAD_USAGE, ["rate", "positive"]),
        (("learn", "--example", "paper", "--stop", "1"), BAD_USAGE, ["stop"]),
        (("learn", "--example", "paper", "--kernel", "paper", "--parents", "3"), BAD_USAGE, ["--parents is 3"]),
        (("learn", "--example", "paper", "--divergence", "none"), BAD_USAGE, ["no divergence 'none'", "hellinger"]),
        (("learn", "--example", "paper", "--kernel", "mendelian", "--p", "0"), BAD_USAGE, ["--p"]),
        (("learn", "--example", "paper", "--pictures"), BAD_USAGE, ["--out"]),
        (("learn", "--example", "paper", "--guide", "labelled"), FAILED, ["labelled tail"]),
        (("learn", "--example", "paper", "--states", "0,1,2"), BAD_USAGE, ["--states", "FILE"]),
        (("learn", "--example", "paper", "--truth", "paper5"), BAD_USAGE, ["5 nodes", "10 columns"]),
        (("learn", "--example", "paper", "--roots", "X1,Y"), BAD_USAGE, ["'Y'", "no column"]),
        (("sample", "--rows", "5", "--json"), BAD_USAGE, ["--out"]),
        (("sample", "--rows", "0"), BAD_USAGE, ["--rows"]),
        (("sample", "--rows", "5", "--seed", "-1"), BAD_USAGE, ["--seed"]),
        (("sample", "--rows", "5", "--out", "rows.xlsx"), BAD_USAGE, [".csv, .tsv or .npy"]),
        (("sample", "--rows", "5", "--p", "1,2"), BAD_USAGE, ["nine tunables"]),
        (("sample", "--rows", "5", "--p", "a"), BAD_USAGE, ["numbers separated by commas"]),
        (("sample", "--rows", "5", "--p", "0.9"), BAD_USAGE, ["nine tunables"]),
        (("sample", "--rows", "5", "--p", ",".join(["0.9"] * 9)), FAILED, ["[0, 1]"]),
        (("exact", "--graph", "paper11"), BAD_USAGE, ["not a graph"]),
        (("exact", "--graph", "chain:5"), BAD_USAGE, ["chain:T,K"]),
        (("exact", "--graph", "random:30,9,1"), FAILED, ["9 parents", "the kernel takes 2"]),
        (("exact", "--copies", "0"), BAD_USAGE, ["--copies"]),
        (("exact", "--copies", "99999999"), BAD_USAGE, ["999,999,990 nodes", "at most 100,000"]),
        (("compare", "paper", "chain:99999999,2"), BAD_USAGE, ["99,999,999 nodes", "at most 100,000"]),
        (("sample", "--rows", "5", "--kernel", f"random:{9**50},2,1"), BAD_USAGE, ["at most 9 digits"]),
        (("certify", "--example", "paper", "--windows", "9999999999"), BAD_USAGE, ["--windows must be between"]),
        (("exact", "--guide", "labelled", "--divergence", "kl"), BAD_USAGE, ["Pearson"]),
        (("exact", "--guide", "labelled", "--kappa", "-1"), BAD_USAGE, ["kappa"]),
        (("theory", "--eps-attn", "2"), BAD_USAGE, ["--eps-attn must"]),
        (("show", "nowhere"), FAILED, ["no record at nowhere"]),
    ],
)
def test_bad_usage_and_failures(arguments, code, says):
    expect_refused(code, *arguments, says=says)


@pytest.mark.parametrize(
    "arguments",
    [("fly",), ("learn", "--fast"), ("exact", "--guide", "none"), ("learn", "--solver", "magic"), ("sample",)],
)
def test_unknown_words_are_bad_usage(arguments):
    code, _, err = run_kgmi(*arguments)
    assert code == BAD_USAGE
    assert "Usage:" in err


def test_graphs_from_bad_files(tmp_path):
    cycle = write(tmp_path, json.dumps({"parents": [[1], [0]]}), "cycle.json")
    expect_refused(FAILED, "exact", "--graph", cycle, says=["cycle"])
    expect_refused(FAILED, "exact", "--graph", write(tmp_path, "{", "broken.json"), says=["not JSON"])
    expect_refused(FAILED, "exact", "--graph", write(tmp_path, "graph {}", "other.dot"), says=["DOT"])
    deep = write(tmp_path, "[" * 100_000, "deep.json")
    expect_refused(FAILED, "exact", "--graph", deep, says=["not JSON"])
    expect_refused(FAILED, "exact", "--graph", "nowhere.json", says=["no file nowhere.json"])


def test_debug_shows_the_trace_anywhere_on_the_line():
    for arguments in (["--debug", "show", "nowhere"], ["show", "nowhere", "--debug"]):
        done = subprocess.run([sys.executable, "-m", "kgmi", *arguments], capture_output=True, text=True)
        assert done.returncode == FAILED
        assert "Traceback" in done.stderr
        assert "RecordError" in done.stderr


def test_a_file_where_a_folder_is_wanted(tmp_path):
    target = write(tmp_path, "text", "taken")
    expect_refused(BAD_USAGE, "learn", "--example", "paper", "--out", target, says=["is a file, not a folder"])
    inside = f"{target}/rows.csv"
    expect_refused(BAD_USAGE, "sample", "--rows", "5", "--out", inside, says=["taken"])


def test_words_need_an_order_before_a_kernel_can_number_them(tmp_path):
    text = "a,b,c\n" + "low,mid,high\nmid,high,low\nhigh,low,mid\n" * 5
    path = write(tmp_path, text)
    expect_refused(BAD_USAGE, "learn", path, *PAPER, says=["--states high,low,mid", "0..2"])
    expect_refused(BAD_USAGE, "learn", path, *PAPER, "--states", "low,mid", says=["3 states", "lists 2"])
    assert run_kgmi("learn", path, *PAPER, "--states", "low,mid,high", "--solver", "limit")[0] == 0


def test_a_labelled_tail_is_never_taken_for_nodes(tmp_path):
    labelled, plain, bare = (str(tmp_path / name) for name in ("labelled.csv", "plain.csv", "labelled.npy"))
    run_kgmi("sample", "--rows", "500", "--labelled", "--out", labelled)
    run_kgmi("sample", "--rows", "500", "--labelled", "--out", bare)
    run_kgmi("sample", "--rows", "500", "--out", plain)
    expect_refused(BAD_USAGE, "learn", labelled, *PAPER, says=["uniform1, uniform2, label", "--guide labelled"])
    expect_refused(BAD_USAGE, "learn", plain, "--guide", "labelled", says=["names no labelled tail", "--parents"])
    expect_refused(BAD_USAGE, "learn", bare, "--guide", "labelled", says=["--parents"])
    code, out, _ = run_kgmi("learn", labelled, "--guide", "labelled", "--solver", "limit", "--json")
    assert code == 0
    assert len(json.loads(out)["names"]) == 10
    assert json.loads(out)["configuration"]["n_heads"] == 2


def test_letters_that_the_terminal_lacks_are_no_trace():
    for encoding in ("cp1252", "ascii"):
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        for arguments in (["theory"], ["learn", "--help"], ["theory", "--json"]):
            command = [sys.executable, "-m", "kgmi", *arguments]
            done = subprocess.run(command, capture_output=True, env=environment, check=False)
            assert done.returncode == 0
            assert done.stderr == b""


def test_a_closed_pipe_is_no_trace():
    command = f"{sys.executable} -m kgmi sample --rows 200000 | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("X1,X2")
    assert done.stderr == ""
