"""``kgmi learn`` on files, folders, patterns, counts and streams: the result of one table in memory."""

import shlex
from runpy import run_path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kgmi
from kgmi.cli import learning_source
from kgmi.report.again import run_again
from tests.commands import expect_refused, run_kgmi
from tests.result_drills import as_frame, assert_same_result, make_rows, write, write_kernel

ROWS, KERNEL = make_rows(130, 8, 3, 2400)
TABLE = as_frame(ROWS, words=True)
CODED = as_frame(ROWS)


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """``words/`` with three Parquet files of words, ``codes.parquet`` and ``kernel.json``."""
    made = tmp_path_factory.mktemp("places")
    (made / "words").mkdir()
    for number in range(3):
        write(TABLE.slice(800 * number, 800), made / "words" / f"{number}.parquet")
    write(CODED, made / "codes.parquet")
    write_kernel(KERNEL, made / "kernel.json")
    return made


def learn(*words):
    """What the command prints."""
    code, out, err = run_kgmi("learn", *map(str, words))
    assert (code, err) == (0, "")
    return out


def result(folder, *words):
    """The result that the command writes into the folder."""
    learn(*words, "--out", folder)
    return kgmi.load(folder)


SOURCES = {
    "files": ["words/0.parquet", "words/1.parquet", "words/2.parquet"],
    "folder": ["words"],
    "pattern": ["words/*.parquet"],
}


@pytest.mark.parametrize("stream", [False, True], ids=["in memory", "in pieces"])
@pytest.mark.parametrize("kind", SOURCES)
def test_many_files_give_what_one_table_gives(kind, stream, places, tmp_path, monkeypatch):
    monkeypatch.chdir(places)
    words = [*SOURCES[kind], *["--stream"] * stream, "--out", tmp_path / "result", "--order", "learn"]
    assert learn(*words, "--truth", "random:8,2,130").startswith("Streaming 3 Parquet files") is stream
    learned = kgmi.load(tmp_path / "result")
    assert_same_result(learned, kgmi.learn(TABLE.to_pandas(), order="learn"))
    assert {check.name: check.passed for check in learned.checks}["parents"] is not None  # first rows were kept
    told = run_again(learned)
    assert told["command"].startswith(f"kgmi learn {shlex.join(SOURCES[kind])} --")
    (tmp_path / "again.py").write_text(told["python"])
    assert_same_result(run_path(str(tmp_path / "again.py"))["learned"], learned)


def test_counts_are_learned_from_as_the_rows_are(places, tmp_path):
    counts, ordered, words = tmp_path / "all.counts", tmp_path / "ordered.counts", str(places / "words")
    assert run_kgmi("count", words, "-o", str(counts))[0] == 0
    learned = result(tmp_path / "result", counts, "--tiers", "c3,c1,c0|c2,c4,c5|c6,c7")
    expected = kgmi.learn(TABLE.to_pandas(), tiers=[["c3", "c1", "c0"], ["c2", "c4", "c5"], ["c6", "c7"]])
    assert_same_result(learned, expected)
    assert f"kgmi.CountedTable.load('{counts}')" in run_again(learned)["python"]
    for more, says in (
        ([counts], f"kgmi merge {counts} {counts} -o"),
        (["--columns", "c1"], "--columns"),
        (["--missing", "category"], "--missing"),
        (["--stream"], "--stream"),
        (["--no-stream"], "--no-stream"),
        (["--drop", "c1"], "--drop"),
        (["--missing-values", "9"], "--missing-values"),
        (["--kernel", places / "kernel.json"], "--states"),
        (["--states", "low,middle,high"], "the states of"),
        (["--parents", "3"], "3 parents"),
        ([f"{places}/words/0.parquet"], f"kgmi count {places}/words/0.parquet -o 0.counts"),
        ([f"{places}/words/*.parquet"], f"kgmi count '{places}/words/*.parquet' -o"),
    ):
        expect_refused(2, "learn", *map(str, [counts, *more]), says=[says])
    states = ("--states", "low,middle,high")
    assert run_kgmi("count", words, "-o", str(ordered), *states)[0] == 0
    known = result(tmp_path / "known", ordered, "--kernel", places / "kernel.json", *states)
    assert_same_result(known, kgmi.learn(CODED.to_pandas(), kernel=KERNEL))


def test_a_guide_of_one_alphabet_reads_one_in_memory_and_in_pieces(tmp_path):
    mixed = TABLE.set_column(0, "c0", pa.array([f"x{code}" for code in ROWS[:, 0]]))
    file = write(mixed, tmp_path / "mixed.parquet")
    words = [file, "--guide", "contextual"]
    whole = result(tmp_path / "whole", *words)
    assert_same_result(whole, result(tmp_path / "pieces", *words, "--stream"))
    prepared = result(tmp_path / "prepared", *words, "--prepare").parents
    assert {child: {*ps} for child, ps in prepared.items()} == {child: {*ps} for child, ps in whole.parents.items()}


@pytest.mark.parametrize("more", [[], ["--stream"]], ids=["in memory", "in pieces"])
def test_a_kernel_needs_its_codes(more, places, tmp_path):
    known = ["--kernel", places / "kernel.json", *more]
    learned = result(tmp_path / "codes", places / "codes.parquet", *known, "--guide", "stationary")
    assert_same_result(learned, kgmi.learn(CODED.to_pandas(), kernel=KERNEL, guide="stationary"))
    words = [places / "words", *known]
    expect_refused(2, "learn", *map(str, words), "--json", says=["the kernel numbers its states 0..2", "--states"])
    learned = result(tmp_path / "words", *words, "--states", "low,middle,high")
    assert_same_result(learned, kgmi.learn(CODED.to_pandas(), kernel=KERNEL))


def test_columns_filters_and_a_checkpoint(places, tmp_path):
    words = [places / "words", "--columns", "c5,c2,c0", "--where", "c7 != high and c6 in low,middle,high"]
    kept = ["--checkpoint", tmp_path / "kept"]
    expected = kgmi.learn(TABLE.to_pandas()[["c5", "c2", "c0"]][ROWS[:, 7] != 2])
    for name, more in (("whole", []), ("first", kept), ("second", kept)):
        assert_same_result(result(tmp_path / name, *words, *more), expected)
    first, second = (kgmi.load(tmp_path / name).checks for name in ("first", "second"))
    assert first == second  # they look at the first rows, whenever these were counted
    assert "counted before" in learn(*words, *kept)
    for name in ("whole", "first"):
        (tmp_path / "again.py").write_text(run_again(kgmi.load(tmp_path / name))["python"])
        assert_same_result(run_path(str(tmp_path / "again.py"))["learned"], expected)
    expect_refused(1, "learn", *map(str, [*words, *kept]), "--parents", "1", "--json", says=["cannot be continued"])


def test_prepared_tables_take_columns_states_and_a_kernel(places, tmp_path):
    text = write(CODED, tmp_path / "codes.csv")
    learned = result(tmp_path / "some", text, "--prepare", "--columns", "c5,c2,c0")
    assert learned.parents == kgmi.learn(CODED.to_pandas()[["c5", "c2", "c0"]]).parents
    known = ("--kernel", places / "kernel.json", "--states", "0,1,2")
    learned = result(tmp_path / "known", text, "--prepare", *known)
    assert learned.parents == kgmi.learn(CODED.to_pandas(), kernel=KERNEL).parents
    assert learned.states == ("0", "1", "2")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["a", "b", "--prepare"], ["--prepare", "one file"]),
        (["a", "--prepare", "--where", "c1 == low"], ["--prepare", "--where"]),
        (["a", "--stream", "--prepare"], ["--prepare", "--stream"]),
        (["a", "--stream", "--windows", "3"], ["--windows", "--stream"]),
        (["a", "--where", "c1 == low", "--columns", "c0", "--windows", "3"], ["--windows", "--where"]),
        (["a", "--checkpoint", "kept", "--device", "cpu"], ["--device", "--checkpoint"]),
        (["a", "--stream", "--guide", "labelled"], ["--guide labelled", "--stream"]),
        (["a", "--no-stream", "--cluster", "local:2"], ["--no-stream", "--cluster"]),
        (["--example", "paper", "--stream"], ["--stream", "example"]),
        (["--example", "paper", "--where", "a == 1"], ["--where"]),
        ([], ["FILE", "--example NAME"]),
        (["a", "--example", "paper"], ["FILE", "--example NAME"]),
        (["a", "--columns", "c1,c2", "--parents", "2"], ["at least 3 columns"]),
    ],
)
def test_what_does_not_go_together(words, says, places):
    files = {"a": str(places / "words" / "0.parquet"), "b": str(places / "words" / "1.parquet")}
    expect_refused(2, "learn", *(files.get(word, word) for word in words), says=says)


def test_what_is_no_table(places, tmp_path):
    expect_refused(1, "learn", str(tmp_path / "none*.parquet"), says=["no file matches"])
    expect_refused(1, "learn", str(tmp_path), says=["there are no tables"])
    expect_refused(1, "learn", str(places / "codes.parquet"), "--columns", "c1", "--json", says=["two columns"])
    learn(places / "codes.parquet", "--out", tmp_path / "result")
    expect_refused(2, "learn", str(tmp_path / "result"), says=["is a result, not a table"])
    tail = CODED.append_column("uniform1", CODED.column(0)).append_column("label", CODED.column(1))
    write(tail, tmp_path / "tail.parquet")
    for more in ((), ("--stream",)):
        expect_refused(2, "learn", str(tmp_path / "tail.parquet"), *more, says=["labelled tail"])


def test_what_does_not_fit_says_what_would(places, monkeypatch):
    file = str(places / "codes.parquet")
    code, _, err = run_kgmi("learn", file, "--stream", "--memory-limit", "1MB", "--json")
    assert code == 1
    enough = err.rpartition(" give ")[2].strip()
    assert run_kgmi("learn", file, "--stream", "--memory-limit", enough, "--json")[0] == 0
    monkeypatch.setattr("kgmi.learning.shortlist.MOST_BYTES", 1000)
    monkeypatch.setattr(learning_source, "_MOST_CELLS", 100)  # so that it is streamed by itself
    expect_refused(1, "learn", file, "--order", "learn", "--json", says=["short lists", "--no-stream"])


def test_large_files_are_streamed_by_themselves(places, tmp_path, monkeypatch):
    file, text = places / "codes.parquet", tmp_path / "codes.csv"
    write(CODED, text)
    assert not learn(file).startswith("Streaming")
    monkeypatch.setattr(learning_source, "_MOST_CELLS", 8 * 2400 - 1)
    monkeypatch.setattr(learning_source, "_MOST_TEXT", text.stat().st_size - 1)
    for path in (file, text):
        assert learn(path, "--out", tmp_path / "result").startswith("Streaming")
        assert_same_result(kgmi.load(tmp_path / "result"), kgmi.learn(CODED.to_pandas()))
        for option in ("--no-stream", "--prepare"):
            assert not learn(path, option).startswith("Streaming")
    gaps = write(CODED.set_column(0, "c0", pa.array([None, *ROWS[1:, 0].tolist()])), tmp_path / "gaps.parquet")
    with_gaps = result(tmp_path / "with-gaps", gaps, "--missing", "pairwise")
    assert_same_result(with_gaps, kgmi.learn(pq.read_table(gaps).to_pandas(), missing="pairwise"))
    monkeypatch.setattr(learning_source, "MOST_BYTES", 1000)
    assert not learn(file).startswith("Streaming")  # the counts would be too large


def test_a_checkpoint_is_not_learned_from(places, tmp_path):
    kept = str(tmp_path / "kept.counts")
    assert run_kgmi("count", str(places / "words"), "-o", str(tmp_path / "a.counts"), "--checkpoint", kept)[0] == 0
    expect_refused(1, "learn", kept, says=["checkpoint", "run the command"])
