"""Counts that contradict themselves are not believed, and what merging advises can be merged."""

import re
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kgmi
from kgmi.counting.container import VERSION
from kgmi.counting.counts import Counts
from kgmi.counting.merge import merge
from kgmi.errors import CountsError, DataError, SettingError
from kgmi.statistics.tally import Tally
from tests.commands import expect_refused, run_kgmi
from tests.count_drills import KINDS, counts_of, put_together, rows_of, taken_apart

FAR = np.array([[0, 1, 2], [2, 3, 4]], dtype=np.int32)  # these have one column in common
TRICKED = KINDS | {"far": lambda: counts_of(rows_of(201, sizes=(2, 3, 2, 2, 3)), (2, 3, 2, 2, 3), sets=FAR)}


def moved(counts, path, moves):
    """The same with rows that moved between cells of the last table, where each still has all rows."""
    start, cells = int(counts.tally.starts[-2]), counts.tally.cells.copy()
    for place, change in moves.items():
        cells[start + place if place >= 0 else place] += change
    tally = counts.tally
    tally = Tally(tally.sizes, tally.width, tally.n_rows, cells, tally.has_gaps, tally.sets)
    counts_of(rows_of(101), **(vars(counts) | {"tally": tally})).save(path)


@pytest.mark.parametrize("kind", TRICKED)
def test_tables_that_disagree_on_a_column_are_refused(kind, tmp_path):
    counts, path = TRICKED[kind](), tmp_path / "tricked.counts"
    moved(counts, path, {})
    assert Counts.load(path).n_rows == counts.n_rows
    moved(counts, path, {0: -1, -1: 1})
    with pytest.raises(CountsError, match=r"tricked\.counts has tables of counts that contradict each other"):
        Counts.load(path)


def test_tables_that_disagree_on_pairs_alone_are_refused(tmp_path):
    path = tmp_path / "tricked.counts"
    moved(KINDS["shared"](), path, {0: -1, 3: 1, 9: 1, 12: -1})  # x2 and x3 with x4 = s0: no column changes
    with pytest.raises(CountsError, match="contradict each other"):
        Counts.load(path)


def test_sums_that_come_round_are_noticed(tmp_path):
    cells = np.array([2**62] * 5 + [0] * 3, dtype=np.int64)  # their sum is 2^62 again, in 64 bits
    tally = Tally((2, 2, 2), 3, 2**62, cells)
    counts_of(rows_of(202, sizes=(2, 2, 2)), (2, 2, 2), tally=tally).save(tmp_path / "round.counts")
    with pytest.raises(CountsError, match="do not add up to its 4,611,686,018,427,387,904 rows"):
        Counts.load(tmp_path / "round.counts")


@pytest.mark.parametrize(
    ("kind", "edit"),
    [
        ("own", {"names": ["", "x1", "x2", "x3"]}),
        ("own", {"names": ["x0", "\x1b[2Jx1", "x2", "x3"]}),
        ("own", {"names": ["x0", "x1", "x2", "x\x9b3"]}),
        ("own", {"names": ["x0", "x1", "x2", "\ud800"]}),
        ("own", {"states": ["yes", "no"]}),
        ("own", {"states": ["more", *(f"{c}s{s}" for c, n in enumerate((2, 3, 2, 4)) for s in range(n))]}),
        ("own", {"reading": {"missing": "error", "alphabet": "shared"}}),
        ("shared", {"reading": {"missing": "error", "alphabet": "own"}}),
        ("shared", {"reading": {"missing": "never", "alphabet": "shared"}}),
        ("shared", {"reading": {"missing": ["error"], "alphabet": "shared"}}),
        ("shared", {"reading": {"missing": "error", "alphabet": "shared", "more": 1}}),
        ("gaps", {"reading": {"missing": "error", "alphabet": "own"}}),
        ("gaps", {"reading": {}}),
    ],
)
def test_names_states_and_rules_that_cannot_be_are_refused(kind, edit, tmp_path):
    path = tmp_path / "a.counts"
    KINDS[kind]().save(path)
    _, header, arrays = taken_apart(path)
    put_together(path, VERSION, header | edit, arrays)
    with pytest.raises(CountsError, match=r"a\.counts") as caught:
        Counts.load(path)
    assert str(caught.value).isprintable()


def test_more_sets_than_can_be_listed_do_not_fill_the_memory(tmp_path):
    path = tmp_path / "a.counts"
    KINDS["shared"]().save(path)
    _, header, _ = taken_apart(path)
    names, n_sets = [f"x{node}" for node in range(26)], 10_400_600  # sets of 13 of 26 columns with one state
    many = {"names": names, "states": ["s"], "sizes": [1] * 26, "width": 13, "n_rows": 1}
    put_together(
        path, VERSION, header | many | {"arrays": [header["arrays"][0] | {"shape": [n_sets]}]}, b"\1" * n_sets
    )
    with pytest.raises(CountsError, match="claims counts of 10,400,600 sets of 13 columns, which is beyond reason"):
        Counts.load(path)


def test_names_that_no_file_may_have_are_refused_before_counting(tmp_path):
    rows = rows_of(203).T
    for name in ("", "\x1b[2J", "\ud800"):
        with pytest.raises(DataError, match=r"column 2.*rename it"):
            kgmi.count(rows, names=["a", name, "c", "d"])
    counts = kgmi.count(rows, names=["a", "two\nlines", "c\td", "é"])
    counts.save(tmp_path / "a.counts")
    assert Counts.load(tmp_path / "a.counts").names == counts.names


def test_the_first_rows_are_not_those_of_all():
    first, second = (kgmi.count(rows_of(seed).T) for seed in (204, 205))
    assert first.first is not None
    assert (first + second).first is None
    assert merge([first]).first is None


def test_only_counts_are_added_up():
    first, second = KINDS["own"](), KINDS["own"](mark="b")
    with pytest.raises(CountsError, match="the counts number 2 is of the type int, and only counts are added up"):
        first + 3
    with pytest.raises(CountsError, match="there are more counts than labels"):
        merge([first, second], labels=["a"])


@pytest.mark.parametrize("option", ["n_parents", "width"])
@pytest.mark.parametrize("value", [1.5, "2", True, 0])
def test_numbers_of_parents_and_columns_are_whole(option, value):
    with pytest.raises(SettingError, match=f"{option} must be "):
        kgmi.count(rows_of(206).T, **{option: value})
    assert kgmi.count(rows_of(206).T, **{option: np.int64(2)}).tally.width in (2, 3)


def test_a_stream_does_not_take_windows():
    with pytest.raises(SettingError, match="windows are cut from a sequence in memory, not from a stream"):
        kgmi.learn(kgmi.stream(rows_of(207).T), windows=3)


def test_a_source_without_rows_has_no_filter(tmp_path):
    pq.write_table(pa.table({"a": pa.array([], pa.int8()), "b": pa.array([], pa.int8())}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"^there are no rows in .*a\.parquet$"):
        kgmi.count(tmp_path / "a.parquet", n_parents=1)


def write_gaps(folder):
    """Two tables of words; the second lacks values in two of three columns."""
    for name, words in (("a", ["no", "yes"]), ("b", ["no", "yes", ""])):
        rng = np.random.default_rng(ord(name))
        columns = [rng.choice(words, 60), rng.choice(words, 60), rng.choice(["s0", "zz"], 60)]
        lines = ["x,y,z", *(",".join(row) for row in zip(*columns, strict=True))]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("own", [[], ["--alphabet", "own"]])
def test_what_merging_advises_for_missing_values_can_be_merged(own, tmp_path):
    write_gaps(tmp_path)
    files = [str(tmp_path / f"{name}.counts") for name in "ab"]

    def count_both(*words):
        for name, file in zip("ab", files, strict=True):
            assert run_kgmi("count", str(tmp_path / f"{name}.csv"), "-o", file, *words)[0] == 0

    count_both("--missing", "category", *own)
    code, _, err = run_kgmi("merge", *files, "-o", str(tmp_path / "all.counts"))
    assert code == 1
    advised = re.search(r"in the same order, (--.*)", err)[1]
    assert advised.endswith("--missing category --states no,s0,yes,zz,missing")
    count_both(*shlex.split(advised))
    assert run_kgmi("merge", *files, "-o", str(tmp_path / "all.counts"))[0] == 0
    counts = Counts.load(tmp_path / "all.counts")
    cells = [line.split(",") for name in "ab" for line in (tmp_path / f"{name}.csv").read_text().split()[1:]]
    assert counts.tally.family((0,)).tolist() == [
        sum((row[0] or "missing") == state for row in cells) for state in counts.states
    ]


def test_a_state_of_rows_that_is_called_missing_is_to_be_renamed():
    rows, reading = rows_of(208, sizes=(3,) * 5), {"missing": "category", "alphabet": "shared"}
    states = (("no", "missing", "yes"), ("no", "missing", "missing_2"))
    parts = [counts_of(rows, (3,) * 5, mark=str(one), states=one, reading=reading) for one in states]
    with pytest.raises(CountsError, match=r"have a state missing of their own.*give that state another name"):
        merge(parts)


def test_categories_that_are_declared_in_one_place_only_are_told():
    alphabets = (("b", "c"), ("a", "d"), ("a", "d"))
    orders = (("a", "b", "c", "d"), ("b", "c", "a", "d"))
    changed = [{"alphabets": alphabets, "states": order} for order in orders]
    parts = [counts_of(rows_of(209, sizes=(2,) * 3), (2,) * 3, mark=str(one), **one) for one in changed]
    with pytest.raises(CountsError, match=r"have the same states, but not all declare them in both: write all"):
        merge(parts)


def test_a_command_advises_only_what_it_has(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n0,1\n1.0,1\n")
    says = ["are the same number", "(kgmi learn --prepare) do it"]
    expect_refused(1, "count", str(tmp_path / "a.csv"), "-o", str(tmp_path / "a.counts"), says=says)
