"""A plan of a stream does not promise what learning refuses, and both say it in the same words."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kgmi
from kgmi.counting import part
from kgmi.learning import shortlist
from tests.commands import expect_refused, run_kgmi

RNG = np.random.default_rng(411)
ROWS = RNG.integers(0, 3, (400, 12), dtype=np.int8)
SETS_OF_3, SETS_OF_4 = 220 * 27 * 8, 495 * 81 * 8  # bytes of the counts, three states each
WITH_GAPS = 495 * 256 * 8


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """``full.parquet``; ``gap.parquet``, which lacks a value in the first rows; ``many.parquet`` of 20 states."""
    folder = tmp_path_factory.mktemp("places")
    columns = {f"c{node}": pa.array(ROWS[:, node]) for node in range(12)}
    pq.write_table(pa.table(columns), folder / "full.parquet")
    lacking = pa.array(ROWS[:, 3], mask=np.arange(400) == 5)
    pq.write_table(pa.table(columns | {"c3": lacking}), folder / "gap.parquet")
    many = RNG.integers(0, 20, (2_000, 12))
    pq.write_table(pa.table({f"c{node}": many[:, node] for node in range(12)}), folder / "many.parquet")
    return folder


def allow(n_bytes, monkeypatch):
    for module in ("kgmi.cli.stream_plan", part.__name__, shortlist.__name__):
        monkeypatch.setattr(f"{module}.MOST_BYTES", n_bytes)


def plan(*words):
    code, out, err = run_kgmi("learn", *map(str, words), "--stream", "--plan", "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def refused(*words):
    """What learning says, which its plan and, for machines, the command with --json say too."""
    said = set()
    for more in ([], ["--plan"], ["--json"]):
        code, out, err = run_kgmi("learn", *map(str, words), *more)
        assert (code, out) == (1, "")  # not even the line on what is streamed
        said.add(err)
    assert len(said) == 1
    return said.pop()


def test_a_missing_value_is_a_code_more(places, monkeypatch):
    known = plan(places / "gap.parquet", "--missing", "pairwise")
    assert (known["bytes"], known["bytes_with_gaps"]) == (WITH_GAPS, None)
    unknown = plan(places / "full.parquet", "--missing", "pairwise")
    assert (unknown["bytes"], unknown["bytes_with_gaps"]) == (SETS_OF_4, WITH_GAPS)
    assert plan(places / "full.parquet")["bytes_with_gaps"] is None
    allow(SETS_OF_4, monkeypatch)
    says = "counts of all sets of 4 of 12 columns with up to 3 states, and a code for missing values, take 1.0 MB"
    assert says in refused(places / "gap.parquet", "--stream", "--missing", "pairwise")
    assert plan(places / "full.parquet", "--missing", "pairwise")["passes"] == 1
    _, out, _ = run_kgmi("learn", str(places / "full.parquet"), "--stream", "--missing", "pairwise", "--plan")
    assert "The first rows lack no value; where later ones do, it is 1.0 MB, and 321 kB are" in out


def test_what_short_lists_cannot_do_is_refused_at_once(places, monkeypatch):
    allow(SETS_OF_3 - 1, monkeypatch)
    assert plan(places / "full.parquet")["passes"] == 2
    says = "short lists of candidates need an order"
    assert says in (said := refused(places / "full.parquet", "--stream", "--order", "learn"))
    assert "--no-stream" not in said
    monkeypatch.setattr("kgmi.cli.learning_source._MOST_CELLS", 100)  # so that it is streamed by itself
    monkeypatch.setattr("kgmi.cli.learning_source.has_room", lambda *_: True)
    assert says in (said := refused(places / "full.parquet", "--order", "learn"))
    assert said.endswith("; --no-stream reads the file whole, if there is memory for it\n")


def test_lists_are_made_where_the_first_rows_have_many_states(places, monkeypatch):
    assert plan(places / "many.parquet")["passes"] == 1
    allow(220 * 8**3 * 8, monkeypatch)  # enough for eight states, which were always thought to be few
    assert plan(places / "many.parquet", "--parents", "1")["passes"] == 1
    assert "with up to 20 states and 2 parents do not fit into memory, even with short lists" in refused(
        places / "many.parquet", "--stream"
    )
    allow(220 * 20**3 * 8 - 1, monkeypatch)
    monkeypatch.setattr(shortlist, "_LONGEST", 5)
    assert plan(places / "many.parquet")["passes"] == 2
    learned = kgmi.learn(kgmi.stream(places / "many.parquet"))
    assert "candidates for each, and all rows decided among these" in learned.status


def test_columns_that_are_too_few_have_no_plan(places):
    file = str(places / "full.parquet")
    for more in ([], ["--plan"]):
        expect_refused(1, "learn", file, "--columns", "c1", *more, says=["needs at least two columns"])
        words = ["learn", file, "--columns", "c1,c2", "--parents", "2", *more]
        expect_refused(2, *words, says=["2 parents need at least 3 columns, got 2"])


def test_one_column_is_not_many(places, tmp_path):
    file, out = str(places / "full.parquet"), str(tmp_path / "a.counts")
    assert "400 rows of 1 column (3 states" in " ".join(
        run_kgmi("count", file, "--columns", "c1", "-o", out)[1].split()
    )
    says = ["there is only 1 column"]
    expect_refused(2, "count", file, "--columns", "c1", "--parents", "2", "-o", out, says=says)


def test_a_memory_limit_that_is_too_small_for_counts_says_what_is_enough(places):
    code, _, err = run_kgmi("learn", str(places / "full.parquet"), "--stream", "--memory-limit", "1MB", "--json")
    assert code == 1
    assert "12 columns need at least 4." in err
    enough = err.rpartition(": give ")[2].strip()
    code, _, err = run_kgmi("learn", str(places / "full.parquet"), "--stream", "--memory-limit", enough, "--json")
    assert (code, err) == (0, "")


def test_what_is_not_there_may_be_a_folder(tmp_path):
    missing = f"{tmp_path / 'nodata'}/"
    for words in (["learn", missing], ["count", missing, "-o", str(tmp_path / "a.counts")]):
        expect_refused(1, *words, says=[f"there is no file or folder {tmp_path / 'nodata'}"])
    expect_refused(1, "learn", str(tmp_path / "no.csv"), says=[f"there is no file {tmp_path / 'no.csv'}"])
