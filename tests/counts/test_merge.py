"""Counts with names: how they are shown, what merges, and what does not."""

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

from kgmi import count, merge
from kgmi.counts.tally import Tally
from kgmi.errors import CountsError, DataError, TooLargeError

from .tables import FAR, KINDS, counted, random_codes, rows_of, same, table_of


@pytest.mark.parametrize("kind", KINDS)
def test_parts_in_any_order_give_the_whole(kind, tmp_path):
    parts = [KINDS[kind](seed, str(seed)) for seed in (104, 105, 106)]
    merged = [merge(some) for some in permutations(parts)]
    merged.append(parts[1] + (parts[2] + parts[0]))
    assert merged[0].n_rows == sum(one.n_rows for one in parts)
    np.testing.assert_array_equal(merged[0].tally.cells, sum(one.tally.cells for one in parts))
    for number, one in enumerate(merged):
        one.save(tmp_path / f"{number}.counts")
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


def test_counts_with_and_without_missing_values_merge():
    full, gappy, reading = rows_of(107), rows_of(108, gaps=True), {"missing": "pairwise", "alphabet": "own"}
    parts = [table_of(full, reading=reading), table_of(gappy, gaps=True, mark="b", reading=reading)]
    whole = table_of(np.hstack([full, gappy]), gaps=True, reading=reading)
    for some in (parts, parts[::-1]):
        assert same(merge(some), whole)


def test_counts_are_shown_in_a_line():
    counts = KINDS["own"]()
    assert repr(counts) == "CountedTable(4 columns: 'x0', 'x1', 'x2', 'x3'; n_rows=200, width=3)"
    assert "200 rows of 4 columns (x0, x1, x2, x3)" in str(counts)
    assert (counts.n_nodes, counts.n_rows, counts.n_parents) == (4, 200, 2)
    assert KINDS["gaps"]().n_parents == 1
    sizes = (2,) * 30
    many = table_of(rows_of(104, 2_000, sizes), sizes, width=2, names=tuple(f"node {n}" for n in range(30)))
    assert len(repr(many)) < 200


def test_columns_in_another_order_keep_names_states_and_counts():
    counts = table_of(rows_of(109), first=rows_of(109).T)
    moved = counts.in_order([2, 0, 3, 1])
    assert moved.names == ("x2", "x0", "x3", "x1")
    assert moved.alphabets == tuple(counts.alphabets[column] for column in (2, 0, 3, 1))
    np.testing.assert_array_equal(moved.tally.cells, table_of(rows_of(109)[[2, 0, 3, 1]], (2, 2, 4, 3)).tally.cells)
    np.testing.assert_array_equal(moved.first, rows_of(109).T[:, [2, 0, 3, 1]])
    assert same(moved.in_order([1, 3, 0, 2]), counts)


SHARED = {"sizes": (3,) * 5}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"names": ("x1", "x0", "x2", "x3", "x4")}, "another order"),
        ({"names": ("x0", "x1", "x2", "x3", "y, z")}, "lacks x4"),
        ({"states": ("s0", "s1", "s 3")}, "--states"),
        ({"states": ("s1", "s0", "s2")}, "--states s0,s1,s2"),
        ({"alphabets": (("s0", "s1", "s2"),) * 4 + (("s0", "s1", "s9"),)}, "x4"),
        ({"reading": {"missing": "pairwise", "alphabet": "shared"}}, "missing"),
        ({"reading": {"missing": "error", "alphabet": "own"}}, "alphabet"),
        ({"reading": {"missing": "error", "alphabet": "shared", "where": "x > 0"}}, "--where"),
        ({"width": 2}, "--parents"),
        ({"sets": FAR}, "sets"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_counts_that_do_not_fit_together_are_refused(changed, says):
    rows = rows_of(109, **SHARED)
    parts = [table_of(rows, (3,) * 5), table_of(rows, (3,) * 5, mark="b", **changed)]
    for some in (parts, parts[::-1]):
        with pytest.raises(CountsError, match=says if some is parts else None) as caught:
            merge(some, labels=["a.counts", "b.counts"])
        assert "a.counts" in str(caught.value)
        assert "b.counts" in str(caught.value)


def test_the_same_rows_are_counted_once_unless_that_is_meant():
    first, second = KINDS["own"](), KINDS["own"](mark="b")
    both = first + second
    for some in ([second, both], [first, first], [both, first]):
        with pytest.raises(CountsError, match="twice"):
            merge(some)
    again = merge([first, both], repeats=True)
    assert (again.n_rows, again.marks) == (600, ("a", "b"))
    reading = {"missing": "error", "alphabet": "own", "where": "x > 0"}
    filtered = merge([first, table_of(rows_of(110), mark="c", reading=reading)], repeats=True)
    assert filtered.reading["where"] == "all rows or x > 0"


def test_only_counts_are_merged():
    first = KINDS["own"]()
    for bad, labels in (([], None), ([first, 3], None), ([first, KINDS["own"](mark="b")], ["a"])):
        with pytest.raises(CountsError):
            merge(bad, labels=labels)
    with pytest.raises(DataError, match="fit"):
        table_of(rows_of(101), names=("a", "b"))


def test_more_rows_than_can_be_counted_are_refused():
    rows = np.zeros((4, 1), dtype=np.int8)
    one = table_of(rows)
    most = Tally(one.tally.sizes, 3, 2**62, one.tally.cells * 2**62)
    with pytest.raises(TooLargeError, match="with b "):
        merge([table_of(rows, tally=most, mark=mark) for mark in "ab"], labels="ab")


WORDS = {"gaps": ["a", "b", None], "real": ["a", "b", "missing"], "both": ["a", "b", "missing", None]}


def words(kind, seed, **options):
    """Counts of words, in which missing values are a state; and the table that was counted."""
    rng = np.random.default_rng(seed)
    table = pa.table({name: rng.choice(np.array(WORDS[kind], dtype=object), 150).tolist() for name in "uvw"})
    return count(table, missing="category", n_parents=1, **options), table


def test_missing_values_are_not_added_to_a_state_of_their_name():
    gaps, real, both = (words(kind, 301)[0] for kind in WORDS)
    assert [one.reading.get("gap") for one in (gaps, real, both)] == ["missing", None, "missing_2"]
    for some in ((gaps, real), (real, gaps), (gaps, both), (both, gaps)):
        with pytest.raises(CountsError, match="rename"):
            merge(some)


@pytest.mark.parametrize(
    ("kinds", "states"),
    [
        (("gaps", "gaps"), None),
        (("real", "real"), None),
        (("both", "both"), None),
        (("gaps", "real"), ("a", "b", "missing")),
    ],
)
def test_states_that_do_not_conflict_are_merged_as_if_counted_at_once(kinds, states):
    (first, one), (second, two) = (words(kind, seed, states=states) for seed, kind in enumerate(kinds))
    at_once = count(pa.concat_tables([one, two]), missing="category", n_parents=1, states=states)
    assert same(merge([first, second]), at_once)


def test_the_first_rows_are_not_those_of_all():
    first, second = (counted(random_codes(np.random.default_rng(seed), 80, (3, 3, 3))) for seed in (112, 113))
    assert len(first.first) == 80
    assert (first + second).first is None
