"""``kgmi.prepare``: what becomes of the columns of any table, and what is said about it."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgmi
from kgmi.bins import quantile_bins
from kgmi.errors import DataError, KgmiError, SettingError, UnknownColumnError
from kgmi.sources import read_table

prepare = kgmi.prepare


def cycle(*values):
    """The values again and again, not in step with the other columns."""
    return lambda row: values[row * 7 // 5 % len(values)]


def frame(n_rows=60, **makers):
    """Columns whose values are made from the number of the row, and behind them two of plain states, a and b."""
    plain = {"a": lambda row: "xy"[row % 2], "b": lambda row: "xy"[row // 3 % 2]}
    return pd.DataFrame({name: [make(row) for row in range(n_rows)] for name, make in {**makers, **plain}.items()})


def notes_on(start, made):
    return [note for note in made.notes if note.startswith((f"{start} ", f"{start}:"))]


MANY = "".join(f"{row % 20},{row // 20},{row * 7 // 3 % 20}\n" for row in range(400))


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("lines", ["0,1,2\n2,1,0\n1,0,1\n", "no,yes,no\nyes,no,no\nyes,yes,yes\n", MANY])
def test_a_ready_table_stays_as_it_is(write, lines, header):
    path = write(("A,B,C\n" * header + lines).encode())
    made, plain = prepare(path, header=header), read_table(path, header=header)
    assert (made.notes, made.left_out, made.bins) == ((), {}, {})
    assert (made.table.names, made.table.states, made.table.alphabets) == (plain.names, plain.states, None)
    assert np.array_equal(made.table.codes, plain.codes)
    assert prepare(plain).table.names == plain.names


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda row: (row * 7) % 60, "numbers from 0 to 59"),
        (lambda row: row * row, "name it in columns: z"),
        (lambda row: f"p{max(row, 3)}", "identifies the rows"),
        (lambda row: str(10**18 + row * row % 7 + row * 8), "identifies the rows"),
        (lambda row: "yes" if row % 3 else None, "one value only"),
        (lambda row: None, "no value"),
        (lambda row: row % 2 if row > 57 else None, "2 of 60"),
        (lambda row: [row], "lists"),
        (lambda row: f"v{row // 2}", "none in 5"),
        (lambda row: date(2020, 1 + row % 12, 1 + row % 28), "dates"),
        (lambda row: f"{1 + row % 28}.{1 + row % 12}.2020" if row % 9 else "-", "dates"),
    ],
)
def test_columns_that_are_left_out(make, why):
    made = prepare(frame(z=make))
    assert (made.table.names, [*made.left_out], len(made.notes)) == (("a", "b"), ["z"], 1)
    assert why in made.left_out["z"]


@pytest.mark.parametrize("name", ["rownames", "Unnamed: 0", "", "EmployeeNumber", "case", "patient_id", "row.Nr"])
@pytest.mark.parametrize("n_rows", [8, 60])
def test_numbers_of_rows_are_known_by_their_names(name, n_rows):
    made = prepare(frame(n_rows, first=cycle("u", "v"), **{name: lambda row: row * row + 3}))
    assert [*made.left_out] == [name or "column 2"]


def test_columns_that_are_named_and_sorted_measurements_are_not_numbers_of_rows():
    made = prepare(frame(year=lambda row: 1950 + row, paid=lambda row: row * row, days=lambda row: 10 * row))
    assert [*made.bins] == ["year", "paid", "days"]
    for name, make in {"paid": lambda row: row * row, "id": lambda row: row + 1}.items():
        assert [*prepare(frame(**{name: make}), columns=[name, "a"]).bins] == [name]
    named = prepare(frame(z=lambda row: f"p{row}"), columns=["z", "a", "b"])
    assert "frequent" in named.left_out["z"]


TOWNS = ["Rome"] * 40 + ["Oslo"] * 30 + [f"village {k % 37}" for k in range(37)] + ["Bern"] * 13


@pytest.mark.parametrize(
    ("n_rows", "make", "states"),
    [
        (60, lambda row: 100 + row * 37 % 61, ("below 120", "120 to 140", "141 or more")),
        (60, lambda row: 0 if row % 4 else row + 0.5, ("0", "0.5 or more")),
        (20, lambda row: 30 + row % 9, ("below 32", "32 to 34", "35 or more")),
        (60, lambda row: 1 + row % 12, tuple(map(str, range(1, 13)))),
        (60, cycle(0, 0.5, 1), ("0", "0.5", "1")),
        (60, cycle("00", "01", "02"), ("00", "01", "02")),
        (60, cycle(True, False), ("False", "True")),
        (60, cycle(0, 1, 2, np.inf), ("0", "1", "2")),
        (60, cycle("2022-01-31", "2020-01-31"), ("2020-01-31", "2022-01-31")),
        (60, cycle("none", "1", "2", "none", "none"), ("1", "2", "none")),
        (60, cycle(3, 0.5, "x", b"y", True), ("0.5", "3", "True", "x", "y")),
        (120, lambda row: TOWNS[row], ("Bern", "Oslo", "Rome", "other")),
        (120, lambda row: TOWNS[row].replace("Bern", "Other"), ("Oslo", "Rome", "Other")),
        (60, cycle("yes", "Yes", "no", "NO", "1", "0", None, "no", "yes"), ("0", "1", "no", "yes")),
        (60, cycle("AA", "Aa", "aa"), ("AA", "Aa", "aa")),
        (60, cycle("T", "t", "C"), ("C", "T", "t")),
        (60, cycle("y", "Y", "n", "y", "y"), ("n", "y")),
        (60, cycle("None", "Pave", "Grvl"), ("Grvl", "None", "Pave")),
    ],
)
def test_states_of_a_column(n_rows, make, states):
    assert prepare(frame(n_rows, z=make)).table.column_states[0] == states


def test_bins_and_joined_categories_hold_the_rows_that_they_should():
    values = [100 + row * 37 % 61 for row in range(60)]
    made = prepare(frame(z=lambda row: values[row]))
    assert np.array_equal(made.table.codes[:, 0], np.digitize(values, made.bins["z"].edges))
    assert np.bincount(prepare(frame(120, z=lambda row: TOWNS[row])).table.codes[:, 0]).tolist() == [13, 30, 40, 37]
    assert len(prepare(frame(400, z=lambda row: row * 0.37 % 1)).bins["z"].centres) == 4
    near = [0.12345678, 0.12345679, 0.12345681]
    assert prepare(frame(z=cycle(*near)), bins=2).table.column_states[0] == tuple(map(repr, near))
    assert len({*quantile_bins(np.array([*near, *near, 0.5, 0.6]), 4).labels()}) == 4


def test_missing_values_and_the_texts_that_were_taken_for_them():
    gaps = frame(z=cycle(None, "no", "yes", "NA", "?", "no"))
    (note,) = notes_on("z", prepare(gaps))
    assert ('"NA"' in note, '"?"' in note, prepare(gaps).table.n_missing) == (True, True, 30)
    assert prepare(gaps, missing="category").table.column_states[0] == ("no", "yes", "missing")
    remarks = prepare(frame(bp=lambda row: {7: ">200", 20: "-"}.get(row, str(100 + row * 37 % 61))))
    assert (remarks.table.n_missing, [*remarks.bins]) == (2, ["bp"])


@pytest.mark.parametrize(
    ("values", "suspects"),
    [
        ([0, 1, 2, -9], ("-9",)),
        ([1, 2, 99], ("99",)),
        ([*range(12), 999], ("999",)),
        ([-1, 1], ()),
        (["lo", "hi", "-"], ("-",)),
        (["Pave", "Grvl", "None"], ("None",)),
        (["+", "-"], ()),
        ([-999, *(row * 37 % 61 + 0.5 for row in range(60))], ("-999",)),
    ],
)
def test_values_that_may_stand_for_missing_ones_are_kept_and_offered(values, suspects):
    made = prepare(frame(130, z=cycle(*values)))
    assert (made.suspects.get("z", ()), made.table.n_missing) == (suspects, 0)
    assert len(notes_on("z", made)) == bool(suspects) + ("z" in made.bins)
    without = prepare(frame(130, z=cycle(*values)), missing_values=suspects)
    assert (without.suspects, without.table.n_missing > 0) == ({}, bool(suspects))


def test_missing_values_are_compared_as_numbers_too(write):
    path = write(b"x,y\n" + b"0.0,a\n1.0,b\n-9.0,a\n1.0,a\n" * 30)
    for code in ("-9", "-9.0", -9):
        assert prepare(path, missing_values=[code]).table.missing_by_column.tolist() == [30, 0]
    assert any("in no column" in note for note in prepare(path, missing_values=["zz"]).notes)


def test_points_beside_decimal_commas_separate_thousands(write):
    rows = [f"{1000 + 1961 * k % 9000:,}".replace(",", ".") + f";{k // 7},{k % 7}5;x" for k in range(200)]
    made = prepare(write(("n;price;z\n" + "\n".join(rows).replace("x", "u", 90) + "\n").encode()))
    assert min(made.bins["n"].edges) > 1_000
    small = [f"{('a', 'b')[k % 2]};0.{('125', '250', '500')[k % 3]};1,{k}" for k in range(60)]
    made = prepare(write(("w;x;q\n" + "\n".join(small) + "\n").encode()))
    assert made.table.column_states[1] == ("0.125", "0.25", "0.5")
    assert not prepare(frame(z=cycle("47%", "0.47", "12%", "0.3"))).bins  # with and without a unit


def test_columns_that_carry_the_same_information_and_empty_rows():
    table = frame(sex=cycle("f", "m"), code=cycle(0, 1), v=cycle("u", "w", None), w=cycle("u", "w", "x"))
    made = prepare(table.assign(twin=table["a"]))
    (coded,), (same,) = notes_on("sex, code", made), notes_on("a, twin", made)
    assert "same information" in coded
    assert "same information" in same  # the gaps of v are values of w
    assert sum("same information" in note for note in made.notes) == 2
    ended = prepare(pd.concat([frame(z=cycle(0, 1, 2)), pd.DataFrame({"a": [None, ""]})]))
    assert (ended.table.codes.shape, ended.table.n_missing) == ((60, 3), 0)


def test_spellings_are_joined_over_columns_and_noted():
    between = prepare(frame(z=cycle("yes", "no"), w=lambda row: ["NO", "YES"][row % 5 % 2]))
    assert between.table.column_states[0] == between.table.column_states[1]
    assert len(notes_on("Spellings", between)) == 1


def test_categories_keep_their_order_and_may_be_missing_values():
    kind = pd.CategoricalDtype(["-9", "b", "a", "c"])
    table = frame(z=cycle("a", "b", "-9"), few=cycle("v", "u")).astype({"z": kind})
    table["few"] = table["few"].astype(pd.CategoricalDtype([*"vu", *map(str, range(40))]))
    made = prepare(table, missing_values=["-9"])
    assert made.table.column_states[:2] == (("b", "a", "c"), ("v", "u"))  # of many categories, those that occur
    assert made.table.missing_by_column.tolist()[:2] == [20, 0]


def test_columns_are_chosen():
    table = frame(x=cycle(0, 1, 2), y=lambda row: row // 3 % 3)
    made = prepare(table, columns=["y", "b", "x"], drop=["b"])
    assert (made.table.names, made.left_out) == (("y", "x"), {"b": "as asked"})
    assert prepare(prepare(table).table, drop=["a", "x"]).table.names == ("y", "b")
    with pytest.raises(UnknownColumnError) as caught:
        prepare(table, drop=["c"])
    assert (caught.value.option, caught.value.column) == ("drop", "c")


PLAIN, TABLE = frame(), kgmi.table.as_table(frame())


@pytest.mark.parametrize(
    ("source", "word", "options"),
    [
        *((PLAIN, "list", some) for some in ({"columns": "ab"}, {"drop": "a"}, {"missing_values": "9"})),
        *((PLAIN, "list", some) for some in ({"drop": 3}, {"missing_values": 9})),
        *((PLAIN, "", some) for some in ({"columns": ["a"]}, {"missing": "error"}, {"bins": 1})),
        *((TABLE, "states already", some) for some in ({"missing_values": ["x"]}, {"bins": 3}, {"n_states": 2})),
    ],
)
def test_bad_options_are_refused(source, word, options):
    with pytest.raises(SettingError, match=word or "least|must"):
        prepare(source, **options)


def test_declared_states_decide_what_is_kept():
    made = {"no": lambda row: row + 7, "q": cycle(0, 1, 2, -9), "few": cycle(*range(5)), "c": cycle("1", "0", "2")}
    made = prepare(frame(**made, bp=lambda row: row * 37 % 61 + 0.5), n_states=3)
    assert (made.table.names, made.table.states, made.table.alphabets) == (("q", "c", "bp"), ("0", "1", "2"), None)
    assert made.table.missing_by_column.tolist() == [15, 0, 0]
    assert np.bincount(made.table.codes[:, 2]).tolist() == [20, 20, 20]
    assert {*made.left_out} == {"no", "few", "a", "b"}
    words = prepare(frame(z=cycle("NO", "yes", "?"), w=cycle("no", "yes", "yes")), states=["yes", "no"])
    assert (words.table.names, words.table.states) == (("z", "w"), ("yes", "no"))
    declared = prepare(frame(z=cycle("NA", "yes"), w=cycle("NA", "yes", "yes")), states=["NA", "yes"])
    assert declared.table.n_missing == 0
    with pytest.raises(DataError, match="--states"):
        prepare(frame(), n_states=2)


def test_many_columns_share_a_note_and_too_few_are_refused():
    wide = pd.DataFrame(np.random.default_rng(301).normal(size=(60, 30))).rename(columns=lambda k: f"c{k}")
    assert (len(prepare(wide).notes), len(prepare(wide[wide < 2.2]).notes)) == (1, 2)
    with pytest.raises(DataError, match="id is left out"):
        prepare(frame()[["a"]].assign(id=range(60)))
    with pytest.raises(DataError):
        prepare(frame(0))


def test_every_kind_of_frame_and_array_gives_the_same():
    table = frame(m=lambda row: row * 0.37 % 1, c=cycle(*"uvw"))
    made = prepare(table)
    for other in (pl.from_pandas(table), table.astype(object), table.astype({"c": "category"}), table.to_numpy()):
        same = prepare(other)
        assert (len(same.notes), same.table.alphabets) == (len(made.notes), made.table.alphabets)
        assert np.array_equal(same.table.codes, made.table.codes)
    spins, gapped = (np.random.default_rng(303).choice(some, (40, 3)) for some in ([-1, 1], [-1, 0, 1]))
    assert (prepare(spins).table.states, prepare(gapped).table.states) == (("-1", "1"), ("0", "1"))


def test_columns_of_every_type_find_their_place(tmp_path):
    days = pl.date_range(date(2020, 1, 1), date(2020, 2, 29), eager=True)
    typed = pl.from_pandas(frame()).with_columns(
        day=days,
        moment=days.cast(pl.Datetime),
        lists=pl.Series([{"q": [row]} for row in range(60)]),
        bytes=pl.Series([b"x"] * 60),
        empty=pl.Series([None] * 60, dtype=pl.String),
        long=pl.Series([2**60 + row * 3 for row in range(60)]),
        price=pl.Series([f"{row * 7 % 60}.25" for row in range(60)]).cast(pl.Decimal(10, 2)),
        gapped=pl.Series([row % 3 or None for row in range(60)]),
        kind=pl.Series(["u", " v "] * 30, dtype=pl.Categorical),
        size=pl.Series(["S", "L"] * 30, dtype=pl.Enum(["S", "M", "L"])),
    )
    typed.write_parquet(tmp_path / "t.parquet", row_group_size=7)
    typed.write_ipc(tmp_path / "t.arrow", record_batch_size=7)
    for source in (typed, tmp_path / "t.parquet", tmp_path / "t.arrow"):
        made = prepare(source)
        assert [*made.left_out] == ["day", "moment", "lists", "bytes", "empty", "long"]
        assert ('"2020-01-01"' in made.left_out["moment"], [*made.bins]) == (True, ["price"])
        assert made.table.column_states[3:] == (("1", "2"), ("u", "v"), ("S", "M", "L"))
        assert made.table.missing_by_column.tolist() == [0, 0, 0, 20, 0, 0]


def test_columns_and_values_may_be_given_in_any_list():
    rows = frame(u=cycle("9", "1", "2"))
    assert "u" not in prepare(rows, drop=rows.columns[:1]).table.names
    assert prepare(rows, columns=(name for name in "ua")).table.names == ("u", "a")
    numbers = rows.assign(u=rows["u"].astype(int)).rename(columns={"u": 0, "a": 1})
    assert prepare(numbers, columns=[0, 1]).table.names == ("0", "1")
    for values in (["9"], [9], [9.0], np.array([9])):
        assert prepare(numbers, missing_values=values).table.n_missing == (rows["u"] == "9").sum()
    assert prepare(pl.from_pandas(rows).to_arrow().to_reader()).table.names == ("u", "a", "b")


WRITTEN = st.sampled_from(["1,5", "$3", "NA", "-", "2020-01-01", "4 kg", "(3)"])
NUMBERS = st.integers(-3, 12) | st.floats() | st.booleans() | st.decimals(allow_nan=False)
CELLS = st.text(max_size=4) | NUMBERS | st.none() | st.dates() | st.binary(max_size=2) | WRITTEN
KINDS = st.sampled_from([CELLS, st.floats(-9, 9), st.integers(), st.sampled_from(["a", "b", None]), st.dates()])


@settings(deadline=None, max_examples=60)
@given(data=st.data(), n_rows=st.integers(1, 30), n_states=st.sampled_from([None, None, 3]))
def test_whatever_the_cells_are_it_ends_in_a_table_or_an_error(data, n_rows, n_states):
    kinds = data.draw(st.lists(KINDS, min_size=1, max_size=4))
    cells = {f"c{k}": data.draw(st.lists(kind, min_size=n_rows, max_size=n_rows)) for k, kind in enumerate(kinds)}
    try:
        made = prepare(pd.DataFrame(cells, dtype=object), n_states=n_states)
    except KgmiError:
        return
    assert {*made.table.names, *made.left_out} == {*cells}
    assert (made.table.codes.max(axis=0) < made.table.sizes).all()
