"""``kgmi.data.prepare``: any table made fit for learning, and a sentence on all that was done."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgmi
from kgmi.data import ORDER_NOTE, Prepared, prepare, read_table
from kgmi.data.bins import quantile_bins
from kgmi.errors import DataError, KgmiError, SettingError

OWN = "Every column has its own states, as no two columns have the same values."
SOME = "Columns over the same values share their states; columns over other values have their own."


def column(make, n_rows=60):
    """A column of ``n_rows`` values, each made from the number of its row."""
    return [make(row) for row in range(n_rows)]


def frame(n_rows=60, **makers):
    """Two columns of plain states, a and b, and those that are made."""
    plain = {"a": lambda row: "xy"[row % 2], "b": lambda row: "xy"[row // 3 % 2]}
    return pd.DataFrame({name: column(make, n_rows) for name, make in {**makers, **plain}.items()})


def notes_on(n_rows=60, **makers):
    """What is told of a table that has these columns beside two plain ones."""
    return [note for note in prepare(frame(n_rows, **makers)).notes if note != SOME]


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (b"A,B,C\n0,1,2\n2,1,0\n1,0,1\n", {}),
        (b"A,B\nno,yes\nyes,no\nno,no\n", {}),
        (b"0,1\n1,0\n1,1\n", {"header": False}),
        (b"A,B\n" + b"".join(b"%d,%d\n" % (row % 20, row // 20 % 20) for row in range(400)), {}),
    ],
    ids=["numbers", "texts", "no header", "twenty states in common"],
)
def test_a_table_that_can_be_learned_from_stays_as_it_is(write, content, options):
    made, plain = prepare(write(content), **options), read_table(write(content), **options)
    assert made.notes == ()
    assert (made.table.names, made.table.states, made.table.alphabets) == (plain.names, plain.states, None)
    assert made.table.codes.dtype == plain.codes.dtype
    assert np.array_equal(made.table.codes, plain.codes)
    assert prepare(plain).table is plain


@pytest.mark.parametrize(
    ("make", "note"),
    [
        (lambda row: row + 1, "z left out: it counts the rows, from 1 to 60."),
        (lambda row: (row * 7) % 60, "z left out: it counts the rows, from 0 to 59."),
        (lambda row: f"p{row}", "z left out: 60 different values in 60 rows, it names the rows."),
        (lambda row: f"p{max(row, 3)}", "z left out: 57 different values in 60 rows, it names the rows."),
        (
            lambda row: 7_000_000 + row * row,
            "z left out: 60 different whole numbers in 60 rows, all of 7 digits, it names the rows.",
        ),
        (lambda row: "same", "z left out: one value only («same»)."),
        (
            lambda row: "yes" if row % 3 else None,
            "z left out: one value only («yes») in the 40 rows that have one; if none means no, write no.",
        ),
        (lambda row: None, "z left out: no value in any row."),
        (lambda row: row % 2 if row > 57 else None, "z left out: a value in 2 of 60 rows only."),
        (lambda row: [row], "z left out: it holds lists or other things that are no states."),
        (
            lambda row: f"v{row // 2}",
            "z left out: 30 different values in 60 rows, none of them in 5 or more.",
        ),
    ],
)
def test_what_is_left_out_and_why(make, note):
    assert notes_on(z=make) == [note]
    made = prepare(frame(z=make))
    assert made.table.names == ("a", "b")
    assert list(made.left_out) == ["z"]


@pytest.mark.parametrize("name", ["id", "patient_id", "PassengerId", "row.Nr"])
def test_a_name_tells_which_whole_numbers_name_rows(name):
    assert "it names the rows" in prepare(frame(**{name: lambda row: row * row})).left_out[name]
    assert prepare(frame(paid=lambda row: row * row)).left_out == {}


@pytest.mark.parametrize(
    "make",
    [
        lambda row: date(2020, 1 + row % 12, 1 + row % 28),
        lambda row: f"2020-{1 + row % 12:02}-{1 + row % 28:02}T10:00",
        lambda row: f"{1 + row % 28}.{1 + row % 12}.2020",
        lambda row: f"{row % 12}:{10 + row % 30}",
        lambda row: f"Mar {1 + row % 28}, {1990 + row}",
    ],
)
def test_dates_are_left_out_with_a_word_on_how_to_use_them(make):
    (note,) = notes_on(z=make)
    assert note.startswith("z left out: it holds dates or times («")
    assert note.endswith("to use it, write the year, the month or the like into a column of its own.")


def test_few_dates_are_states_in_their_order():
    made = prepare(frame(z=lambda row: f"202{2 - row % 3}-01-31"))
    assert made.table.column_states[0] == ("2020-01-31", "2021-01-31", "2022-01-31")


def test_a_measurement_is_cut_into_bins_with_readable_names_in_their_order():
    made = prepare(frame(bp=lambda row: 100 + row * 37 % 61, temp=lambda row: 36 + (row * 7 % 60) / 20))
    assert made.notes[:2] == (
        "bp cut into 3 bins at 120, 141: it is a measurement (60 different numbers).",
        "temp cut into 3 bins at 37, 38: it is a measurement (60 different numbers).",
    )
    assert made.table.column_states[:2] == (
        ("below 120", "120 to 140", "141 or more"),
        ("below 37", "37 to 38", "38 or more"),
    )
    values = np.array(column(lambda row: 100 + row * 37 % 61))
    assert np.array_equal(made.table.codes[:, 0], np.digitize(values, made.bins["bp"].edges))
    assert np.bincount(made.table.codes[:, 1]).tolist() == [20, 20, 20]
    assert len(prepare(frame(400, z=lambda row: row * 0.37 % 1)).bins["z"].centres) == 4
    assert len(prepare(frame(z=lambda row: row * 0.37 % 1), bins=2).bins["z"].centres) == 2


def test_a_heap_at_the_smallest_value_is_a_bin_of_its_own():
    made = prepare(frame(claims=lambda row: 0 if row % 4 else row + 0.5))
    assert made.table.column_states[0] == ("0", "0.5 or more")
    assert made.table.codes[:5, 0].tolist() == [1, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("make", "states"),
    [
        (lambda row: 1 + row % 12, tuple(map(str, range(1, 13)))),
        (lambda row: row % 3 / 2, ("0", "0.5", "1")),
        (lambda row: f"0{row % 3}", ("00", "01", "02")),
        (lambda row: bool(row % 2), ("False", "True")),
        (lambda row: row % 3 if row % 5 else np.inf, ("0", "1", "2")),
    ],
)
def test_few_numbers_and_codes_stay_states(make, states):
    assert prepare(frame(z=make)).table.column_states[0] == states


def test_rare_values_are_joined():
    towns = ["Rome"] * 40 + ["Oslo"] * 30 + [f"village {k % 37}" for k in range(37)] + ["Bern"] * 13
    made = prepare(frame(120, city=lambda row: towns[row]))
    assert made.notes[0] == "city: the 37 rarest of 40 values joined as «other» (37 rows)."
    assert made.table.column_states[0] == ("Bern", "Oslo", "Rome", "other")
    assert np.bincount(made.table.codes[:, 0]).tolist() == [13, 30, 40, 37]
    known = [town if town != "Bern" else "Other" for town in towns]
    assert prepare(frame(120, city=lambda row: known[row])).table.column_states[0] == ("Oslo", "Rome", "Other")
    ordered = pd.Categorical(towns, categories=["Rome", "Oslo", "Bern", *sorted(set(towns[70:107]))], ordered=True)
    declared = prepare(frame(120).assign(city=ordered))
    assert declared.table.column_states[2] == ("Rome", "Oslo", "Bern", "other")


def test_missing_values_are_left_out_of_counts_or_a_state():
    gaps = frame(smoker=lambda row: "no" if row % 3 else None if row % 2 else "yes")
    made = prepare(gaps)
    assert made.notes[0] == "10 missing values in smoker: left out of the counts that need them."
    assert made.table.n_missing == 10
    assert prepare(gaps, missing="category").table.column_states[0] == ("no", "yes", "missing")


def test_states_are_shared_where_columns_have_them_in_common():
    assert prepare(frame(z=lambda row: "xyz"[row % 3])).table.states == ("x", "y", "z")
    made = prepare(frame(z=lambda row: ["low", "mid", "high"][row % 3]))
    assert made.notes == (SOME,)
    assert made.table.column_states == (("high", "low", "mid"), ("x", "y"), ("x", "y"))
    assert prepare(frame(), alphabet="own").table.own_alphabets
    assert prepare(frame()).notes == ()
    assert prepare(pd.DataFrame({"a": [0, 1] * 9, "b": [*"xyy"] * 6})).notes == (OWN,)


def test_what_repeats_is_told_and_kept():
    same = "a and twin say the same in every row: which of them is a parent is arbitrary; leave all but one out."
    assert notes_on(a=lambda row: "xy"[row % 2], twin=lambda row: "xy"[row % 2]) == [same]
    twice = pd.concat([frame(z=lambda row: row * 0.37), frame(z=lambda row: row * 0.37)[:6]])
    assert "6 rows repeat others in all columns; if they were entered twice, take them out." in prepare(twice).notes


def test_spellings_that_differ_in_capitals_are_joined_where_they_are_words():
    start = "Spellings that differ in capital letters only are joined: "
    marks = ["True", "true", "TRUE", "True", "False", "FALSE", "False"]
    made = prepare(frame(z=lambda row: marks[row % 7], w=lambda row: ["Large", "small", "SMALL"][row * 5 % 3]))
    assert made.notes[0].startswith(start)
    told = set(made.notes[0].removeprefix(start).removesuffix(".").split(", "))
    assert told >= {"«true» as «True»", "«TRUE» as «True»", "«FALSE» as «False»"}
    assert len(told) == 4
    assert made.table.column_states[0] == ("False", "True")
    truth = [marks[row % 7].casefold() == "true" for row in range(60)]
    assert made.table.codes[:, 0].tolist() == list(map(int, truth))
    assert len(made.table.column_states[1]) == 2
    mixed = prepare(frame(z=lambda row: ["yes", "Yes", "no", "NO", "1", "0", None, "no", "yes"][row % 9]))
    assert mixed.notes[:2] == (
        f"{start}«Yes» as «yes», «NO» as «no».",
        "z: «0», «1», «no», «yes» stay 4 states; if some mean the same, write them alike.",
    )
    assert mixed.table.n_missing == 6
    between = prepare(frame(z=lambda row: ["yes", "no"][row % 2], w=lambda row: ["NO", "YES"][row % 5 % 2]))
    assert between.table.column_states[0] == between.table.column_states[1]


def test_genotypes_and_single_letters_are_no_spellings_of_one_word():
    one, two = ("AA", "Aa", "aa"), ("AABB", "AaBb", "aabb")
    genes = prepare(frame(z=lambda row: one[row % 3], w=lambda row: two[row % 3]))
    assert genes.table.column_states[:2] == (one, two)
    assert "z: «AA», «Aa» and «aa» differ in capital letters only, and stay 3 states." in genes.notes
    letters = prepare(frame(z=lambda row: ["T", "t", "C"][row % 3], w=lambda row: ["Y", "n", "N", "y"][row % 4]))
    assert letters.table.column_states[0] == ("C", "T", "t")
    assert len(letters.table.column_states[1]) == 2
    declared = pd.Categorical(["Small", "small"] * 30, categories=["Small", "small"])
    assert prepare(frame().assign(z=declared.as_ordered())).table.column_states[2] == ("Small", "small")


def test_few_numbers_in_few_rows_are_cut():
    assert len(prepare(frame(20, z=lambda row: 30 + row % 9)).bins["z"].centres) == 3
    assert "z" not in prepare(frame(45, z=lambda row: 30 + row % 9)).bins


def test_many_columns_that_are_treated_alike_are_told_of_in_one_sentence():
    wide = pd.DataFrame(np.random.default_rng(301).normal(size=(60, 30))).rename(columns=lambda k: f"c{k}")
    assert prepare(wide).notes == (
        "30 columns cut into up to 3 bins of about equally many rows: they are measurements (c0, c1, c2, c3, c4, "
        "c5, c6, c7 and 22 more).",
        OWN,
    )
    wide[wide > 2.2] = np.nan
    assert any(note.startswith(f"{wide.isna().sum().sum()} missing values in ") for note in prepare(wide).notes)


def test_too_little_is_left(write):
    with pytest.raises(DataError) as caught:
        prepare(write(b"id,a,b\n" + b"".join(b"%d,x,%d\n" % (row, row % 2) for row in range(30))))
    assert str(caught.value).endswith(
        "has one column that can be learned from, and a graph needs two. id left out: it counts the rows, from 0 "
        "to 29. a left out: one value only («x»). Give a table of more columns with states in them"
    )


def test_options_that_make_no_sense():
    for options, message in (
        ({"missing": "error"}, "missing must be 'pairwise' or 'category'"),
        ({"alphabet": "mine"}, "alphabet must be 'auto', 'shared' or 'own'"),
        ({"bins": 1}, "bins must be a whole number of at least 2"),
    ):
        with pytest.raises(SettingError, match=message):
            prepare(frame(), **options)


def test_every_kind_of_frame_and_array_gives_the_same():
    table = frame(m=lambda row: row * 0.37 % 1, c=lambda row: "uvw"[row % 3])
    made = prepare(table)
    for other in (pl.from_pandas(table), table.astype(object), table.astype({"c": "category"})):
        same = prepare(other)
        assert (same.notes, same.table.alphabets) == (made.notes, made.table.alphabets)
        assert np.array_equal(same.table.codes, made.table.codes)
    array = prepare(table.to_numpy())
    assert array.table.names == ("X1", "X2", "X3", "X4")
    assert np.array_equal(array.table.codes, made.table.codes)
    masked = prepare(np.ma.masked_equal(np.random.default_rng(302).integers(0, 4, (50, 3)), 3))
    assert masked.table.states == ("0", "1", "2")
    assert masked.table.n_missing > 10
    gapped = np.random.default_rng(303).integers(-1, 3, (40, 3))
    spins = np.random.default_rng(303).choice([-1, 1], (40, 3))
    assert (prepare(spins).table.states, prepare(spins).notes) == (("-1", "1"), ())
    assert prepare(gapped).notes[0].startswith("-1 is read as a missing value")


def test_columns_of_every_type_find_their_place():
    plain = pl.from_pandas(frame())
    days = pl.date_range(date(2020, 1, 1), date(2020, 2, 29), eager=True)
    typed = plain.with_columns(
        day=days,
        moment=days.cast(pl.Datetime),
        lists=pl.Series([[row] for row in range(60)]),
        bytes=pl.Series([b"x"] * 60),
        price=pl.Series([f"{row * 7 % 60}.25" for row in range(60)]).cast(pl.Decimal(10, 2)),
        gapped=pl.Series([row % 3 or None for row in range(60)]),
        kind=pl.Series(["u", " v "] * 30, dtype=pl.Categorical),
        size=pl.Series(["S", "L"] * 30, dtype=pl.Enum(["S", "M", "L"])),
    )
    made = prepare(typed)
    assert set(made.left_out) == {"day", "moment", "lists", "bytes"}
    assert "(«2020-01-01» …)" in made.left_out["moment"]
    assert made.table.column_states[2:] == (
        ("below 20.25", "20.25 to 40.25", "40.25 or more"),
        ("1", "2"),
        ("u", "v"),
        ("S", "M", "L"),
    )
    assert made.table.missing_by_column.tolist() == [0, 0, 0, 20, 0, 0]
    mixed = prepare(frame(z=lambda row: [3, 0.5, "x", b"y", True][row % 5]))
    assert mixed.table.column_states[0] == ("0.5", "3", "True", "x", "y")
    with pytest.raises(DataError, match="the table has 0 rows and 2 columns; there is nothing to learn from"):
        prepare(frame(0))


def test_bins_that_differ_in_the_last_digits_have_names_of_their_own():
    near = [0.12345678, 0.12345679, 0.12345681]
    made = prepare(frame(z=lambda row: near[row % 3]), bins=2)
    assert made.table.column_states[0] == tuple(map(repr, near))
    spread = quantile_bins(np.array([*near, *near, 0.5, 0.6]), 4, "column 'z'")
    assert len(set(spread.labels())) == len(spread.centres)
    assert quantile_bins(np.array([2.0, 2.0]), 3, "column 'z'").labels() == ("2",)


def test_learning_keeps_the_notes_with_the_result(tmp_path):
    made = prepare(frame(bp=lambda row: 100 + row * 37 % 61))
    learned = kgmi.learn(made, n_parents=1)
    assert learned.names == ("bp", "a", "b")
    assert learned.configuration["prepared"] == [*made.notes, ORDER_NOTE]
    kgmi.save(learned, tmp_path / "result")
    assert kgmi.load(tmp_path / "result").configuration["prepared"] == [*made.notes, ORDER_NOTE]
    assert kgmi.learn(made, order="learn").configuration["prepared"] == list(made.notes)
    assert "prepared" not in kgmi.learn(Prepared(made.table), tiers=[0, 0, 1]).configuration
    assert "prepared" not in kgmi.learn(made.table).configuration


CELLS = st.one_of(
    st.text(max_size=4),
    st.integers(-3, 12),
    st.floats(),
    st.booleans(),
    st.none(),
    st.dates(),
    st.decimals(allow_nan=False),
    st.binary(max_size=2),
    st.sampled_from(["1,5", "$3", "NA", "-", "2020-01-01"]),
)
KINDS = st.sampled_from([CELLS, st.floats(-9, 9), st.integers(), st.sampled_from(["a", "b", None]), st.dates()])


@settings(deadline=None, max_examples=60)
@given(data=st.data(), n_rows=st.integers(1, 30))
def test_whatever_the_cells_are_it_ends_in_a_graph_or_a_sentence(data, n_rows):
    kinds = data.draw(st.lists(KINDS, min_size=1, max_size=4))
    cells = {f"c{k}": data.draw(st.lists(kind, min_size=n_rows, max_size=n_rows)) for k, kind in enumerate(kinds)}
    try:
        made = prepare(pd.DataFrame(cells, dtype=object))
        learned = kgmi.learn(made, n_parents=1)
    except KgmiError as error:
        told = str(error)
    else:
        told = str(learned)
        assert learned.names == made.table.names
        assert set(made.table.names) | set(made.left_out) == set(cells)
        assert made.table.codes.max() < max(made.table.sizes)
    assert len(told) > 20
