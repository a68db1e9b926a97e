"""``kgmi learn`` on several files, folders, patterns and counts: the result of one table in memory."""

import json
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
    code, out, err = run_kgmi("learn", *map(str, words))
    assert (code, err) == (0, "")
    return out


SOURCES = {
    "files": ["words/0.parquet", "words/1.parquet", "words/2.parquet"],
    "folder": ["words"],
    "pattern": ["words/*.parquet"],
}


@pytest.mark.parametrize("kind", SOURCES)
def test_many_files_give_what_one_table_gives(kind, places, tmp_path, monkeypatch):
    monkeypatch.chdir(places)
    out = learn(*SOURCES[kind], "--out", tmp_path / "result", "--order", "learn", "--truth", "random:8,2,130")
    assert " ".join(out.split()).startswith("Streaming 3 Parquet files (words")
    assert "2,400 rows of 8 columns." in " ".join(out.split())
    learned = kgmi.load(tmp_path / "result")
    assert_same_result(learned, kgmi.learn(TABLE.to_pandas(), order="learn"))
    assert learned.checks[2].passed is not None  # the first rows were looked at
    told = run_again(learned)
    assert told["command"].startswith(f"kgmi learn {shlex.join(SOURCES[kind])} --out")
    (tmp_path / "again.py").write_text(told["python"])
    assert_same_result(run_path(str(tmp_path / "again.py"))["learned"], learned)


def test_counts_are_learned_from_as_the_rows_are(places, tmp_path):
    counts = tmp_path / "all.counts"
    assert run_kgmi("count", str(places / "words"), "-o", str(counts))[0] == 0
    learn(counts, "--out", tmp_path / "result", "--tiers", "c3,c1,c0|c2,c4,c5|c6,c7")
    expected = kgmi.learn(TABLE.to_pandas(), tiers=[["c3", "c1", "c0"], ["c2", "c4", "c5"], ["c6", "c7"]])
    assert_same_result(kgmi.load(tmp_path / "result"), expected)
    again = run_again(kgmi.load(tmp_path / "result"))["python"]
    assert f"kgmi.CountedTable.load('{counts}')" in again
    for words, says in (
        ([counts, counts], f"kgmi merge {counts} {counts} -o all.counts"),
        ([counts, "--columns", "c1"], "--columns does nothing here: the rows of a file of counts were read"),
        ([counts, "--missing", "category"], "--no-header, --missing and --alphabet do nothing here"),
        ([counts, "--stream"], "--stream does nothing here"),
        ([counts, "--kernel", places / "kernel.json"], "say which states of the table these are"),
        ([counts, "--states", "low,middle,high"], "the states of"),
        ([counts, "--parents", "3"], "of sets of 3 columns, and 3 parents with the guide"),
    ):
        expect_refused(2, "learn", *map(str, words), says=[says])
    ordered = tmp_path / "ordered.counts"
    assert run_kgmi("count", str(places / "words"), "-o", str(ordered), "--states", "low,middle,high")[0] == 0
    learn(ordered, "--kernel", places / "kernel.json", "--states", "low,middle,high", "--out", tmp_path / "known")
    assert_same_result(kgmi.load(tmp_path / "known"), kgmi.learn(CODED.to_pandas(), kernel=KERNEL))


def test_a_kernel_needs_its_codes(places, tmp_path):
    known = ("--kernel", places / "kernel.json")
    learn(places / "codes.parquet", "--stream", *known, "--guide", "stationary", "--out", tmp_path / "result")
    expected = kgmi.learn(CODED.to_pandas(), kernel=KERNEL, guide="stationary")
    assert_same_result(kgmi.load(tmp_path / "result"), expected)
    refused = ["the kernel numbers its states 0..2; say which states of the table these are, in their order: --st"]
    expect_refused(2, "learn", str(places / "words"), *map(str, known), "--json", says=refused)
    learn(places / "words", *known, "--states", "low,middle,high", "--out", tmp_path / "words")
    assert_same_result(kgmi.load(tmp_path / "words"), kgmi.learn(CODED.to_pandas(), kernel=KERNEL))


def test_columns_filters_and_a_checkpoint(places, tmp_path):
    words = [places / "words", "--columns", "c5,c2,c0", "--where", "c7 != high", "--alphabet", "own"]
    words += ["--checkpoint", tmp_path / "kept", "--json"]
    first = json.loads(learn(*words))
    assert (tmp_path / "kept" / "identity.json").exists()
    kept = TABLE.to_pandas()[["c5", "c2", "c0"]][ROWS[:, 7] != 2]
    expected = kgmi.learn(kept, alphabet="own")
    assert first["parents"] == {name: list(parents) for name, parents in expected.parents.items()}
    assert json.loads(learn(*words))["parents"] == first["parents"]
    expect_refused(
        1, "learn", *map(str, words), "--parents", "1", says=["another count", "--parents 2", "--parents 1"]
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["a", "b", "--prepare"],
            "--prepare needs all rows in memory, and several files are read in pieces; give one file, or leave",
        ),
        (["a", "--stream", "--windows", "3"], "--windows needs all rows in memory, and --stream"),
        (["a", "--columns", "c1", "--device", "cpu"], "--device needs all rows in memory, and --columns"),
        (["a", "--stream", "--guide", "labelled"], "--guide labelled needs all rows in memory, and --stream reads"),
        (["a", "b", "--no-stream"], "--no-stream reads one file whole, and several files are read in pieces;"),
        (
            ["a", "--no-stream", "--cluster", "local:2"],
            "--no-stream reads one file whole, and --cluster",
        ),
        (["--example", "paper", "--stream"], "--stream does nothing here: the example is a small table"),
        (["--example", "paper", "--where", "a == 1"], "--where does nothing here"),
        ([], "give one table: a FILE (or several, a folder, a pattern), or --example NAME"),
        (["a", "--example", "paper"], "give one table"),
    ],
)
def test_what_does_not_go_together(words, says, places):
    files = {"a": str(places / "words" / "0.parquet"), "b": str(places / "words" / "1.parquet")}
    expect_refused(2, "learn", *(files.get(word, word) for word in words), says=[says])


def test_nothing_there_and_a_labelled_tail(places, tmp_path):
    expect_refused(1, "learn", str(tmp_path / "none*.parquet"), says=["no file matches"])
    expect_refused(1, "learn", str(tmp_path), says=["there are no tables"])
    learn(places / "codes.parquet", "--out", tmp_path / "result")
    expect_refused(2, "learn", str(tmp_path / "result"), says=["is a result, not a table"])
    tail = CODED.append_column("uniform1", CODED.column(0)).append_column("label", CODED.column(1))
    write(tail, tmp_path / "tail.parquet")
    expect_refused(2, "learn", str(tmp_path / "tail.parquet"), "--stream", says=["are a labelled tail"])


def test_too_few_columns_are_refused_before_anything_is_counted(places):
    file = str(places / "codes.parquet")
    expect_refused(1, "learn", file, "--columns", "c1", "--json", says=["needs at least two columns"])
    words = ["learn", file, "--columns", "c1,c2", "--parents", "2", "--json"]
    expect_refused(2, *words, says=["2 parents need at least 3 columns, got 2"])


def test_what_does_not_fit_says_what_would(places, monkeypatch):
    file = str(places / "codes.parquet")
    code, _, err = run_kgmi("learn", file, "--stream", "--memory-limit", "1MB", "--json")
    assert code == 1
    enough = err.rpartition(" give ")[2].strip()
    assert run_kgmi("learn", file, "--stream", "--memory-limit", enough, "--json")[0] == 0
    monkeypatch.setattr("kgmi.learning.shortlist.MOST_BYTES", 1000)
    monkeypatch.setattr(learning_source, "_MOST_CELLS", 100)  # so that it is streamed by itself
    code, _, err = run_kgmi("learn", file, "--order", "learn", "--json")
    assert code == 1
    assert "short lists of candidates need an order" in err
    assert err.endswith("; --no-stream reads the file whole, if there is memory for it\n")


def test_large_files_are_streamed_by_themselves(places, tmp_path, monkeypatch):
    file = places / "codes.parquet"
    text = tmp_path / "codes.csv"
    write(CODED, text)
    assert not learn(file).startswith("Streaming")
    monkeypatch.setattr(learning_source, "_MOST_CELLS", 8 * 2400 - 1)
    monkeypatch.setattr(learning_source, "_MOST_TEXT", text.stat().st_size - 1)
    for path in (file, text):
        assert learn(path, "--out", tmp_path / "result").startswith("Streaming")
        assert_same_result(kgmi.load(tmp_path / "result"), kgmi.learn(CODED.to_pandas()))
        assert not learn(path, "--no-stream").startswith("Streaming")
        assert not learn(path, "--prepare").startswith("Streaming")
    gaps = write(CODED.set_column(0, "c0", pa.array([None, *ROWS[1:, 0].tolist()])), tmp_path / "gaps.parquet")
    assert learn(gaps, "--missing", "pairwise", "--out", tmp_path / "with-gaps").startswith("Streaming")
    whole = kgmi.learn(pq.read_table(gaps).to_pandas(), missing="pairwise")
    assert_same_result(kgmi.load(tmp_path / "with-gaps"), whole)
    monkeypatch.setattr("kgmi.counting.part.MOST_BYTES", 1000)
    assert not learn(file).startswith("Streaming")  # the counts would be too large


def test_what_is_no_whole_count_is_not_merged_but_counted(places, tmp_path):
    counts, kept, words = str(tmp_path / "paris.counts"), tmp_path / "kept", str(places / "words")
    assert run_kgmi("count", words, "-o", counts, "--checkpoint", str(kept))[0] == 0
    advice = f"count {places}/words/0.parquet first, kgmi count {places}/words/0.parquet -o 0.counts, and then"
    expect_refused(2, "learn", counts, f"{places}/words/0.parquet", says=[advice])
    advice = f"kgmi count '{places}/words/*.parquet' -o rows.counts, and"
    expect_refused(2, "learn", counts, f"{places}/words/*.parquet", says=[advice])
    parts = [str(path) for path in kept.glob("part-*.counts")]
    again = f"run the command that began it once more, with --checkpoint {kept}"
    for given in (parts, [str(kept / "*.counts")], [counts, *parts]):
        expect_refused(2, "learn", *given, says=["is a part of a checkpoint", again])
    expect_refused(2, "learn", str(kept), says=["is a checkpoint, not a table", again])
    assert run_kgmi("count", words, "-o", str(kept / "all.counts"), "--checkpoint", str(kept))[0] == 0
    assert learn(kept / "all.counts") == learn(counts)
