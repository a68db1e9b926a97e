"""``kgmi.prepare``: what becomes of the columns of any table, and what is said about it."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets

import kgmi
from kgmi.bins import quantile_bins
from kgmi.errors import DataError, KgmiError, SettingError, UnknownColumnError
from kgmi.prepare_columns import missing_suspects
from kgmi.sources import read_table

prepare = kgmi.prepare


def frame(n_rows=60, **makers):
    """Columns whose values are made from the number of the row, and behind them two of plain states, a and b."""
    plain = {"a": lambda row: "xy"[row % 2], "b": lambda row: "xy"[row // 3 % 2]}
    return pd.DataFrame({name: [make(row) for row in range(n_rows)] for name, make in {**makers, **plain}.items()})


def states_of(make, n_rows=60, **options):
    """The states of a column that is made so."""
    return prepare(frame(n_rows, z=make), **options).table.column_states[0]


def notes_on(name, made):
    return [note for note in made.notes if note.startswith((f"{name} ", f"{name}:"))]


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
def test_a_ready_table_stays_as_it_is(write, content, options):
    made, plain = prepare(write(content), **options), read_table(write(content), **options)
    assert (made.notes, made.left_out, made.bins) == ((), {}, {})
    assert (made.table.names, made.table.states, made.table.alphabets) == (plain.names, plain.states, None)
    assert np.array_equal(made.table.codes, plain.codes)
    assert prepare(plain).table.names == plain.names


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda row: row + 1, "counts the rows, from 1 to 60"),
        (lambda row: (row * 7) % 60, "counts the rows, from 0 to 59"),
        (lambda row: row * row, "name it in columns: z"),
        (lambda row: f"p{row}", "identify the rows"),
        (lambda row: f"p{max(row, 3)}", "identify the rows"),
        (lambda row: str(10**18 + row * row % 7 + row * 8), "identify the rows"),
        (lambda row: 7_000_000 + row * 7919 % 1000 * 100, "all of 7 digits"),
        (lambda row: "same", "one value only"),
        (lambda row: "yes" if row % 3 else None, "if empty means no, write no"),
        (lambda row: None, "no value"),
        (lambda row: row % 2 if row > 57 else None, "only 2 of 60"),
        (lambda row: [row], "lists"),
        (lambda row: f"v{row // 2}", "none of them in 5 or more"),
        (lambda row: date(2020, 1 + row % 12, 1 + row % 28), "dates"),
        (lambda row: f"2020-{1 + row % 12:02}-{1 + row % 28:02}T10:00", "dates"),
        (lambda row: f"{1 + row % 28}.{1 + row % 12}.2020" if row % 9 else "-", "dates"),
        (lambda row: f"Mar {1 + row % 28}, {1990 + row}", "dates"),
    ],
)
def test_columns_that_are_left_out(make, why):
    made = prepare(frame(z=make))
    assert made.table.names == ("a", "b")
    assert list(made.left_out) == ["z"]
    assert why in made.left_out["z"]
    assert len(made.notes) == 1


@pytest.mark.parametrize(
    "name", ["rownames", "Unnamed: 0", "", "EmployeeNumber", "case", "patient_id", "row.Nr", "Id"]
)
def test_numbers_of_rows_are_known_by_their_names(name):
    made = prepare(frame(first=lambda row: "uv"[row // 5 % 2], **{name: lambda row: row * row + 3}))
    assert [*made.left_out] == [name or "column 2"]
    few = prepare(frame(8, first=lambda row: "uv"[row % 3 % 2], **{name: lambda row: row * row + 3}))
    assert [*few.left_out] == [name or "column 2"]


def test_measurements_that_increase_are_not_numbers_of_rows():
    sorted_ = {"first": lambda row: "uv"[row // 5 % 2], "paid": lambda row: row * row}
    assert [*prepare(frame(**sorted_)).bins] == ["paid"]
    assert [*prepare(frame(paid=lambda row: row * row), columns=["paid", "a"]).bins] == ["paid"]
    assert [*prepare(frame(year=lambda row: 1950 + row)).bins] == ["year"]


def test_measurements_are_cut_into_bins_with_names():
    made = prepare(frame(bp=lambda row: 100 + row * 37 % 61, temp=lambda row: 36 + (row * 7 % 60) / 20))
    assert made.table.column_states[:2] == (
        ("below 120", "120 to 140", "141 or more"),
        ("below 37", "37 to 38", "38 or more"),
    )
    values = np.array([100 + row * 37 % 61 for row in range(60)])
    assert np.array_equal(made.table.codes[:, 0], np.digitize(values, made.bins["bp"].edges))
    assert np.bincount(made.table.codes[:, 1]).tolist() == [20, 20, 20]
    assert len(states_of(lambda row: row * 0.37 % 1, 400)) == 4
    assert len(states_of(lambda row: row * 0.37 % 1, bins=2)) == 2
    assert states_of(lambda row: 0 if row % 4 else row + 0.5) == ("0", "0.5 or more")
    assert len(prepare(frame(20, z=lambda row: 30 + row % 9)).bins["z"].centres) == 3
    assert "z" not in prepare(frame(45, z=lambda row: 30 + row % 9)).bins
    near = [0.12345678, 0.12345679, 0.12345681]
    assert states_of(lambda row: near[row % 3], bins=2) == tuple(map(repr, near))
    assert len({*quantile_bins(np.array([*near, *near, 0.5, 0.6]), 4, "z").labels()}) == 4


@pytest.mark.parametrize(
    ("make", "states"),
    [
        (lambda row: 1 + row % 12, tuple(map(str, range(1, 13)))),
        (lambda row: row % 3 / 2, ("0", "0.5", "1")),
        (lambda row: f"0{row % 3}", ("00", "01", "02")),
        (lambda row: bool(row % 2), ("False", "True")),
        (lambda row: row % 3 if row % 5 else np.inf, ("0", "1", "2")),
        (lambda row: f"202{2 - row % 3}-01-31", ("2020-01-31", "2021-01-31", "2022-01-31")),
        (lambda row: ["none", "1", "2", "none", "none"][row % 5], ("1", "2", "none")),
        (lambda row: ["True", "False", "None"][row % 3], ("False", "True")),
        (lambda row: ["0-9", "10-19", "20+"][row % 3], ("0-9", "10-19", "20+")),
        (lambda row: [3, 0.5, "x", b"y", True][row % 5], ("0.5", "3", "True", "x", "y")),
    ],
)
def test_few_values_remain_states(make, states):
    assert states_of(make) == states


def test_rare_values_are_joined():
    towns = ["Rome"] * 40 + ["Oslo"] * 30 + [f"village {k % 37}" for k in range(37)] + ["Bern"] * 13
    made = prepare(frame(120, city=lambda row: towns[row]))
    assert made.table.column_states[0] == ("Bern", "Oslo", "Rome", "other")
    assert np.bincount(made.table.codes[:, 0]).tolist() == [13, 30, 40, 37]
    known = [town if town != "Bern" else "Other" for town in towns]
    assert states_of(lambda row: known[row], 120) == ("Oslo", "Rome", "Other")
    ordered = pd.Categorical(towns, categories=["Rome", "Oslo", "Bern", *sorted({*towns[70:107]})], ordered=True)
    assert prepare(frame(120).assign(city=ordered)).table.column_states[2] == ("Rome", "Oslo", "Bern", "other")


def test_missing_values_and_the_texts_that_were_taken_for_them():
    gaps = frame(z=lambda row: [None, "no", "yes", "NA", "?", "no"][row % 6])
    made = prepare(gaps)
    assert made.table.n_missing == 30
    (note,) = notes_on("30 missing values in z", made)
    assert '"NA"' in note
    assert '"?"' in note
    assert states_of(lambda row: gaps["z"][row], missing="category") == ("no", "yes", "missing")
    remarks = prepare(frame(bp=lambda row: {7: ">200", 20: "-"}.get(row, str(100 + row * 37 % 61))))
    assert remarks.table.n_missing == 2
    assert [*remarks.bins] == ["bp"]


def test_none_is_a_state_among_words():
    made = prepare(frame(alley=lambda row: ["None", "Pave", "Grvl"][row % 3]))
    assert made.table.column_states[0] == ("Grvl", "None", "Pave")
    assert made.suspects == {"alley": ("None",)}
    assert len(notes_on("alley", made)) == 1


@pytest.mark.parametrize(
    ("values", "suspects"),
    [
        ([0, 1, 2, -9], ("-9",)),
        ([0, 1, 2, -1], ("-1",)),
        ([1, 2, 99], ("99",)),
        ([1, 2, 3], ()),
        ([-2, -1, 0, 1], ()),
        ([-1, 1], ()),
        (["lo", "hi", "-"], ("-",)),
        (["+", "-"], ()),
        (["lo", "hi", "-9"], ("-9",)),
        ([*range(12), 999], ("999",)),
    ],
)
def test_values_that_may_stand_for_missing_ones_are_offered_and_kept(values, suspects):
    made = prepare(frame(130, z=lambda row: values[row * 7 // 5 % len(values)]))
    assert made.suspects.get("z", ()) == suspects
    assert made.table.n_missing == 0
    assert len(notes_on("z", made)) == bool(suspects) + ("z" in made.bins)
    assert missing_suspects([*map(str, values)]) == suspects
    if suspects:
        without = prepare(frame(130, z=lambda row: values[row * 7 // 5 % len(values)]), missing_values=suspects)
        assert (without.suspects, without.table.n_missing > 9) == ({}, True)


def test_a_suspect_in_a_measurement_becomes_missing_on_request():
    made = prepare(frame(z=lambda row: -999 if row == 5 else row * 37 % 61 + 0.5))
    assert made.suspects == {"z": ("-999",)}
    again = prepare(frame(z=lambda row: -999 if row == 5 else row * 37 % 61 + 0.5), missing_values=["-999"])
    assert (again.suspects, again.table.n_missing) == ({}, 1)


def test_columns_that_carry_the_same_information():
    table = frame(sex=lambda row: ["f", "m"][row * 7 % 5 % 2], code=lambda row: row * 7 % 5 % 2)
    made = prepare(table.assign(twin=table["a"]))
    (coded,), (same,) = notes_on("sex", made), notes_on("a", made)
    assert "code" in coded
    assert "f = 0, m = 1" in coded
    assert "twin" in same
    assert made.table.names == ("sex", "code", "a", "b", "twin")
    assert prepare(frame(z=lambda row: "xy"[row % 2] if row else None)).notes[1:] == ()


def test_rows_that_are_repeated_are_noted_and_empty_ones_left_out():
    twice = pd.concat([frame(z=lambda row: row * 0.37), frame(z=lambda row: row * 0.37)[:6]])
    assert len(notes_on("6 rows", prepare(twice))) == 1
    ended = pd.concat([frame(z=lambda row: row % 3), pd.DataFrame({"a": [None, ""]})])
    assert prepare(ended).table.codes.shape == (60, 3)
    assert prepare(ended).table.n_missing == 0


def test_spellings_of_a_word_are_joined():
    marks = ["True", "true", "TRUE", "True", "False", "FALSE", "False"]
    made = prepare(frame(z=lambda row: marks[row % 7], w=lambda row: ["Large", "small", "SMALL"][row * 5 % 3]))
    assert made.table.column_states[0] == ("False", "True")
    assert made.table.codes[:, 0].tolist() == [marks[row % 7].casefold() == "true" for row in range(60)]
    assert len(made.table.column_states[1]) == 2
    assert len(notes_on("Spellings", made)) == 1
    styles = prepare(frame(z=lambda row: ["yes", "Yes", "no", "NO", "1", "0", None, "no", "yes"][row % 9]))
    assert styles.table.column_states[0] == ("0", "1", "no", "yes")
    assert len(notes_on("z", styles)) == 1
    between = prepare(frame(z=lambda row: ["yes", "no"][row % 2], w=lambda row: ["NO", "YES"][row % 5 % 2]))
    assert between.table.column_states[0] == between.table.column_states[1]


def test_genotypes_and_letters_are_not_spellings_of_a_word():
    one, two = ("AA", "Aa", "aa"), ("AABB", "AaBb", "aabb")
    genes = prepare(frame(z=lambda row: one[row % 3], w=lambda row: two[row * 5 // 4 % 3]))
    assert genes.table.column_states[:2] == (one, two)
    assert len(notes_on("z", genes)) == 1
    assert states_of(lambda row: ["T", "t", "C"][row % 3]) == ("C", "T", "t")
    declared = pd.Categorical(["Small", "small"] * 30, categories=["small", "Small"], ordered=True)
    assert prepare(frame().assign(z=declared)).table.column_states[2] == ("small", "Small")


def test_columns_are_chosen():
    table = frame(x=lambda row: row % 3, y=lambda row: row // 3 % 3)
    made = prepare(table, columns=["y", "b", "x"], drop=["b"])
    assert (made.table.names, made.left_out) == (("y", "x"), {"b": "as asked"})
    assert prepare(kgmi.prepare(table).table, drop=["a", "x"]).table.names == ("y", "b")
    with pytest.raises(UnknownColumnError) as caught:
        prepare(table, drop=["c"])
    assert (caught.value.option, caught.value.column) == ("drop", "c")
    for options in ({"columns": ["x"]}, {"columns": "xy"}, {"drop": 3}):
        with pytest.raises(SettingError):
            prepare(table, **options)


def test_declared_states_decide_what_is_kept():
    table = frame(
        no=lambda row: row + 7,
        q=lambda row: [0, 1, 2, -9][row % 4],
        few=lambda row: row // 4 % 5,
        bp=lambda row: row * 37 % 61 + 0.5,
    ).assign(c=[str(row * 5 // 3 % 3) for row in range(60)])
    made = prepare(table, n_states=3)
    assert (made.table.names, made.table.states, made.table.alphabets) == (("q", "bp", "c"), ("0", "1", "2"), None)
    assert made.table.missing_by_column.tolist() == [15, 0, 0]
    assert np.bincount(made.table.codes[:, 1]).tolist() == [20, 20, 20]
    assert {*made.left_out} == {"no", "few", "a", "b"}
    words = prepare(
        frame(z=lambda row: ["NO", "yes", "?"][row % 3], w=lambda row: ["no", "yes"][row // 3 % 2]),
        states=["yes", "no"],
    )
    assert (words.table.names, words.table.states) == (("z", "w"), ("yes", "no"))
    assert (
        prepare(
            frame(z=lambda row: ["NA", "yes"][row % 2], w=lambda row: ["NA", "yes"][row // 3 % 2]),
            states=["NA", "yes"],
        ).table.n_missing
        == 0
    )
    assert prepare(frame(), alphabet="own").table.own_alphabets


def test_columns_that_are_treated_alike_share_a_note():
    wide = pd.DataFrame(np.random.default_rng(301).normal(size=(60, 30))).rename(columns=lambda k: f"c{k}")
    assert len(prepare(wide).notes) == 1
    wide[wide > 2.2] = np.nan
    assert len(prepare(wide).notes) == 2


def test_too_little_is_left_and_options_that_make_no_sense():
    with pytest.raises(DataError) as caught:
        prepare(frame()[["a"]].assign(id=range(60)))
    assert "id left out" in str(caught.value)
    with pytest.raises(DataError):
        prepare(frame(0))
    for options in (
        {"missing": "error"},
        {"alphabet": "mine"},
        {"bins": 1},
        {"states": ["0", "1"], "alphabet": "own"},
    ):
        with pytest.raises(SettingError):
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
    assert (masked.table.states, masked.table.n_missing > 10) == (("0", "1", "2"), True)
    spins, gapped = (np.random.default_rng(303).choice(some, (40, 3)) for some in ([-1, 1], [-1, 0, 1]))
    assert (prepare(spins).table.states, prepare(spins).notes) == (("-1", "1"), ())
    assert (prepare(gapped).table.states, len(prepare(gapped).notes) > 0) == (("0", "1"), True)


def test_columns_of_every_type_find_their_place():
    days = pl.date_range(date(2020, 1, 1), date(2020, 2, 29), eager=True)
    typed = pl.from_pandas(frame()).with_columns(
        day=days,
        moment=days.cast(pl.Datetime),
        lists=pl.Series([[row] for row in range(60)]),
        bytes=pl.Series([b"x"] * 60),
        long=pl.Series([2**60 + row * 3 for row in range(60)]),
        price=pl.Series([f"{row * 7 % 60}.25" for row in range(60)]).cast(pl.Decimal(10, 2)),
        gapped=pl.Series([row % 3 or None for row in range(60)]),
        kind=pl.Series(["u", " v "] * 30, dtype=pl.Categorical),
        size=pl.Series(["S", "L"] * 30, dtype=pl.Enum(["S", "M", "L"])),
    )
    made = prepare(typed)
    assert [*made.left_out] == ["day", "moment", "lists", "bytes", "long"]
    assert '"2020-01-01"' in made.left_out["moment"]
    assert [*made.bins] == ["price"]
    assert made.table.column_states[3:] == (("1", "2"), ("u", "v"), ("S", "M", "L"))
    assert made.table.missing_by_column.tolist() == [0, 0, 0, 20, 0, 0]


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes"])
def test_real_tables_of_measurements(name):
    made = prepare(getattr(datasets, f"load_{name}")(as_frame=True).frame)
    assert (made.left_out, made.suspects, max(made.table.sizes) <= 4) == ({}, {}, True)


CELLS = st.one_of(
    st.text(max_size=4),
    st.integers(-3, 12),
    st.floats(),
    st.booleans(),
    st.none(),
    st.dates(),
    st.decimals(allow_nan=False),
    st.binary(max_size=2),
    st.sampled_from(["1,5", "$3", "NA", "-", "2020-01-01", "4 kg", "(3)"]),
)
KINDS = st.sampled_from([CELLS, st.floats(-9, 9), st.integers(), st.sampled_from(["a", "b", None]), st.dates()])


@settings(deadline=None, max_examples=60)
@given(data=st.data(), n_rows=st.integers(1, 30), n_states=st.sampled_from([None, None, 3]))
def test_whatever_the_cells_are_it_ends_in_a_table_or_an_error(data, n_rows, n_states):
    kinds = data.draw(st.lists(KINDS, min_size=1, max_size=4))
    cells = {f"c{k}": data.draw(st.lists(kind, min_size=n_rows, max_size=n_rows)) for k, kind in enumerate(kinds)}
    try:
        made = prepare(pd.DataFrame(cells, dtype=object), n_states=n_states)
    except KgmiError as error:
        assert type(error) is DataError
    else:
        assert {*made.table.names, *made.left_out} == {*cells}
        assert (made.table.codes.max(axis=0) < made.table.sizes).all()
