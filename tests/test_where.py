"""Filters: conditions mean exactly what they mean in Python, whatever the cells are and wherever they come from."""

import operator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, dataset, feather, parquet

from kgmi.errors import DataError, SettingError, UnknownColumnError
from kgmi.sources import stream
from kgmi.table import as_table
from kgmi.where import parse_where, read_filter

from .tables import same, whole

SIGNS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda cell, values: any(cell == value for value in values),
    "not in": lambda cell, values: not any(cell == value for value in values),
}
WHOLE = [3, 3.5, 3.0, 0, -1, 127, 128, 300, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 1e30]
FLOATS = [0.25, 0, 1, -np.inf, np.inf, 0.1, float(np.float32(0.1)), 2.5, np.float32(2.5), 1e300, 2**53 + 1]
DAYS = [date(2020, 1, 2), date(2020, 1, 3), date(1900, 1, 1), date(2100, 1, 1)]
TIMES = [datetime(2020, 1, 2, 12), datetime(2020, 1, 3, 0, 0, 0, 500_000), datetime(2020, 1, 3), date(2020, 1, 2)]
MONEY = (
    [Decimal(x) for x in ("-1.10", "0.10", "1.10", "999.99")],
    [0.1, 1, 1.105, -1.1, Decimal("1.10"), 10**6, -(10**6), 999.99],
)
HOURS = [datetime(2020, 1, 2, hour) for hour in (0, 12, 23)]
ZONED = [one.replace(tzinfo=UTC) for one in HOURS]
CASES = {
    "int8": (pa.int8(), [-128, -1, 0, 3, 3, 4, 127], WHOLE),
    "uint8": (pa.uint8(), [0, 1, 3, 3, 128, 255], WHOLE),
    "int64": (pa.int64(), [-(2**63), -5, 0, 3, 2**53, 2**53 + 1, 2**63 - 1], [*WHOLE, 2**53, 2.0**53]),
    "uint64": (pa.uint64(), [0, 3, 2**63, 2**64 - 1], WHOLE),
    "double": (pa.float64(), [-np.inf, -1.0, 0.0, 0.1, 0.25, 2.5, np.nan, np.inf], FLOATS),
    "float": (pa.float32(), [-1.0, -0.0, 0.1, 0.1, 0.25, 2.5, np.nan], FLOATS),
    "half": (pa.float16(), [np.float16(x) for x in (-1.0, 0.1, 0.25, 2.5)], FLOATS),
    "decimal": (pa.decimal128(5, 2), *MONEY),
    **{name: (getattr(pa, name)(5, 2), *MONEY) for name in ("decimal32", "decimal64") if hasattr(pa, name)},
    "bool": (pa.bool_(), [False, False, True, True], [True, False]),
    "text": (pa.string(), ["", "a", "b", "b", "bb", "\u00e9"], ["b", "", "ba", "\u00e9", "zz"]),
    "view": (pa.string_view(), ["", "a", "b", "bb"], ["b", "ba"]),
    "category": (pa.dictionary(pa.int8(), pa.string()), ["a", "b", "b", "c"], ["b", "bb"]),
    "date": (pa.date32(), [date(2020, 1, day) for day in (1, 2, 2, 3)], DAYS),
    "ms": (pa.timestamp("ms"), HOURS, TIMES),
    "ns": (pa.timestamp("ns"), HOURS, TIMES),
    "zoned": (pa.timestamp("us", "Europe/Oslo"), ZONED, [ZONED[1], datetime(2021, 1, 1, tzinfo=UTC)]),
    "null": (pa.null(), [None, None], [1, "x", date(2020, 1, 1)]),
}


def table_of(kind, cells):
    """Twice the cells, with missing values between them, so that row groups of two have bounds."""
    cells = [cell for cell in cells for _ in range(2)] + [None, cells[0], None, None]
    is_category = pa.types.is_dictionary(kind)
    array = pa.array(cells, kind.value_type).dictionary_encode() if is_category else pa.array(cells, kind)
    return pa.table({"x": array, "row": pa.array(range(len(cells)), pa.int32())})


def sources(table, folder):
    """The same rows, to be read in many ways."""
    parquet.write_table(table, folder / "a.parquet", row_group_size=2)
    parquet.write_table(table, folder / "b.parquet", row_group_size=2, write_statistics=False)
    made = [folder / "a.parquet", folder / "b.parquet", table, dataset.dataset(folder / "a.parquet")]
    made += [dataset.dataset(table)]
    if not pa.types.is_string_view(table.schema.field("x").type):
        feather.write_feather(table, folder / "a.feather", chunksize=3)
        made += [folder / "a.feather", pl.from_arrow(table).lazy(), pl.scan_parquet(folder / "a.parquet")]
    return made


def passed(source, where):
    """The numbers of the rows that pass."""
    opened = stream(source, columns=["row"], where=where)
    batches = [batch for fragment in opened.fragments for batch in opened.batches(fragment)]
    return [int(batch.seen[0].texts[code]) for batch in batches for code in batch.columns[0]]


def meant(value, kind):
    """What Python compares with: floats are decimals as they are written, and days begin at midnight."""
    if pa.types.is_decimal(kind) and isinstance(value, float):
        return Decimal(repr(value))
    if pa.types.is_timestamp(kind) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    return value.item() if isinstance(value, np.generic) else value


def expected(table, sign, value, kind):
    cells = [None if cell is None or cell != cell else cell for cell in table["x"].to_pylist()]
    value = [meant(one, kind) for one in value] if isinstance(value, list) else meant(value, kind)
    return [row for row, cell in enumerate(cells) if cell is not None and SIGNS[sign](cell, value)]


@pytest.mark.parametrize("name", CASES)
def test_all_types_and_sources_see_the_rows_that_python_sees(name, tmp_path):
    kind, cells, given = CASES[name]
    table, rng = table_of(kind, cells), np.random.default_rng(131)
    made, found = sources(table, tmp_path), 0
    for sign in SIGNS:
        some = [given[k] for k in rng.permutation(len(given))[:5]]
        for value in [some[:1], some[1:4], []] if "in" in sign else some:
            where = ("x", sign, value)
            try:
                read_filter(where, table.schema)
            except SettingError:  # it would be rounded
                assert name in ("double", "float", "half")
                continue
            right = expected(table, sign, value, kind)
            assert [passed(source, where) for source in made] == [right] * len(made), where
            found += len(right)
    assert (found > 0) == (name != "null")


REFUSED = {
    "float": [("==", 0.1), ("not in", [0.25, 0.1])],
    "double": [("<", 2**53 + 1)],
    "int8": [("==", True), ("in", ["3"]), ("<", np.inf), ("in", 1), ("==", [1]), ("~", 1)],
    "uint8": [("==", None), ("not in", [1, np.nan]), ("==", np.datetime64("NaT"))],
    "decimal": [("<", -np.inf), ("==", "1.10")],
    "text": [("==", 7), ("==", "\ud800")],
    "bool": [("==", "True"), ("==", 1)],
    "date": [("==", datetime(2020, 1, 2, 12)), ("in", ["2020-01-02 12:00"]), (">", 5)],
    "ms": [("==", datetime(2020, 1, 2, 0, 0, 0, 1)), ("<", datetime(2020, 1, 2, tzinfo=UTC))],
    "zoned": [("<", datetime(2020, 1, 2))],
}


@pytest.mark.parametrize(("name", "condition"), [(name, one) for name, some in REFUSED.items() for one in some])
def test_what_cannot_be_compared_exactly_is_refused(name, condition):
    with pytest.raises(SettingError):
        read_filter(("x", *condition), pa.schema({"x": CASES[name][0]}))


def test_dates_as_texts_and_durations():
    kind, cells, _ = CASES["date"]
    table = table_of(kind, cells)
    for value in ("2020-01-02", np.datetime64("2020-01-02"), date(2020, 1, 2)):
        assert passed(table, ("x", "in", [value, "2021-01-01"])) == [2, 3, 4, 5]
    spans = pa.table({"x": [timedelta(hours=1), timedelta(hours=2)], "row": [0, 1]})
    assert passed(spans, ("x", ">", timedelta(hours=1))) == [1]


def test_files_whose_numbers_have_other_widths(tmp_path):
    for number, cells in enumerate(
        [pa.array([1, 2, 100], pa.int16()), pa.array([1, 2, 3], pa.int8()), [1.5, 300.0, 1]]
    ):
        table = pa.table({"x": cells, "row": range(3 * number, 3 * number + 3)})
        parquet.write_table(table, tmp_path / f"{number}.parquet")
    assert passed(tmp_path, ("x", "in", [1.5, 300])) == [6, 7]
    assert passed(tmp_path, ("x", ">=", 2)) == [1, 2, 4, 5, 7]
    parquet.write_table(pa.table({"x": pa.array([0.1], pa.float32()), "row": [6]}), tmp_path / "2.parquet")
    with pytest.raises(SettingError):
        passed(tmp_path, ("x", "==", 0.1))


def test_row_groups_that_cannot_pass_are_not_read(tmp_path):
    year = pa.array(np.repeat(range(2015, 2021), 100), mask=np.arange(600) % 9 == 0)
    table = pa.table({"year": year, "town": ["Bern", "Oslo"] * 300, "w": np.linspace(0, 1, 600)})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=100)

    def groups(where):
        return [
            one.pieces[0]
            for one in stream(tmp_path / "a.parquet", where=where, columns=["year"], fragment_rows=1).fragments
        ]

    for where in ("year == 2100", "year in 2100,1900", "town < Adam", "year < 2015", "w > 1.5"):
        assert groups(where) == []
    assert groups("year >= 2018") == [3, 4, 5]
    assert groups("w < 100") == [0, 1, 2, 3, 4, 5]


RNG = np.random.default_rng(101)
TABLE = pa.table(
    {
        "year": pa.array(np.sort(RNG.integers(2015, 2022, 600)), mask=RNG.random(600) < 0.1),
        "town": pa.array(RNG.choice(["Oslo", "Bern", "Rome"], 600), mask=RNG.random(600) < 0.1),
        "ill": RNG.random(600) < 0.5,
        "a": RNG.integers(0, 3, 600),
        "b": RNG.integers(1, 3, 600),
    }
)
FILTERS = [
    ("year >= 2019", lambda row: (row["year"] or 0) >= 2019),
    (
        [("town", "in", ["Oslo", "Rome"]), ("a", "!=", 1)],
        lambda row: row["town"] in ("Oslo", "Rome") and row["a"] != 1,
    ),
    (("town", "not in", ("Bern",)), lambda row: row["town"] in ("Oslo", "Rome")),
    (["ill == true", ("year", "<", 2018.5)], lambda row: row["ill"] and (row["year"] or 3000) < 2018.5),
]
SOURCES = {
    "dataset": lambda folder: dataset.dataset(TABLE),
    "reader": lambda folder: TABLE.to_reader(max_chunksize=70),
    "pandas": lambda folder: TABLE.to_pandas(),
    "polars": lambda folder: pl.from_arrow(TABLE),
    "iterator": lambda folder: iter(TABLE.to_batches(max_chunksize=70)),
    "parquet": lambda folder: parquet.write_table(TABLE, folder / "a.parquet", row_group_size=100) or folder,
    "csv": lambda folder: csv.write_csv(TABLE, folder / "a.csv") or folder / "a.csv",
}


@pytest.mark.parametrize("number", range(len(FILTERS)))
@pytest.mark.parametrize("name", SOURCES)
def test_the_same_rows_pass_in_their_order_wherever_they_come_from(name, number, tmp_path):
    where, holds = FILTERS[number]
    opened = stream(SOURCES[name](tmp_path), columns=["a", "b"], where=where, fragment_rows=150, alphabet="shared")
    assert (opened.n_rows, bool(opened.where)) == (None, True)
    kept = pa.array([bool(holds(row)) for row in TABLE.to_pylist()])
    same(whole(opened), as_table(TABLE.filter(kept).select(["a", "b"]), alphabet="shared"))


def test_arrays_are_filtered_too(tmp_path):
    array = np.column_stack([TABLE["a"].to_numpy(), TABLE["b"].to_numpy()])
    np.save(tmp_path / "a.npy", array)
    right = as_table(array[array[:, 0] != 1])
    for source in (array, tmp_path / "a.npy", array.astype(np.float16), array.astype(np.longdouble)):
        same(whole(stream(source, where="X1 != 1")), right)
    assert len(whole(stream(np.where(array == 1, "x", "y"), where="X2 == x")).codes) == (array[:, 1] == 1).sum()
    masked = np.ma.MaskedArray(array, array == 1)
    assert len(whole(stream(masked, where="X1 < 5", missing="pairwise")).codes) == (array[:, 0] != 1).sum()
    with pytest.raises(DataError):
        whole(stream(np.array([["x", 1], [1, 0]], dtype=object), where="X1 == x"))


@pytest.mark.parametrize(
    "where",
    [
        *(f"{name} {sign} {value}" for sign in ("==", "!=", "<", ">=") for name, value in [
            ("time", "2021-01-03T12:00:00"), ("time", "2021-01-03"), ("zoned", "2021-01-03T00:00:00Z"),
            ("day", "2021-01-03"), ("number", 2**53 + 3)
        ]),
        "time in 2021-01-03,2021-01-04T01:00",
        "truth == True",
        "truth != true",
    ],
)  # fmt: skip
def test_text_files_and_typed_files_pass_the_same_rows(where, tmp_path):
    hours = [datetime(2021, 1, 1, tzinfo=UTC) + timedelta(hours=hour) for hour in range(120)]
    columns = {"row": list(range(120)), "time": [one.replace(tzinfo=None) for one in hours], "zoned": hours}
    columns |= {"day": [one.date() for one in hours], "number": [2**53 + hour for hour in range(120)]}
    table = pa.table(columns | {"truth": [hour % 3 == 0 for hour in range(120)]})
    parquet.write_table(table, tmp_path / "a.parquet")
    csv.write_csv(table, tmp_path / "a.csv")
    rows = passed(tmp_path / "a.parquet", where)
    assert 0 < len(rows) < 120
    assert passed(tmp_path / "a.csv", where) == rows


def test_texts_are_compared_as_numbers_with_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("n,row\n 9,0\n10,1\nNA,2\n2.5,3\n")
    for where, rows in [
        ("n > 5", [0, 1]),
        ("n in 9,2.5", [0, 3]),
        ('n != "9"', [1, 3]),
        (("row", "==", "1"), [1]),
    ]:
        assert passed(path, where) == rows
    for refused in (("n", "==", "NA"), 'n > "5"', "n < ten"):
        with pytest.raises(SettingError):
            stream(path, where=refused)
    path.write_text("n,row\n9,0\nmany,1\n")
    with pytest.raises(DataError):
        passed(path, "n > 5")


def test_texts_of_conditions():
    assert parse_where("year >= 2020 and sex in f,m") == [("year", ">=", 2020), ("sex", "in", ["f", "m"])]
    found = parse_where('a=1.5 AND b not  in (\'x y\', "q""r")')
    assert found == [("a", "==", 1.5), ("b", "not in", ["x y", 'q"r'])]
    assert parse_where('"a and b" != true') == [("a and b", "!=", True)]
    assert parse_where("'a b' in (1, 2)") == [("a b", "in", [1, 2])]
    assert parse_where("code == 007 and x == '7'") == [("code", "==", "007"), ("x", "==", "7")]
    for text in (
        "",
        "a",
        "a ==",
        "a == 1 or b == 2",
        "a == 1,2",
        "a > 1 and",
        "a > 1 and ",
        "== 3",
        "a in (1,2]",
        "a == (1",
    ):
        with pytest.raises(SettingError) as caught:
            parse_where(text)
        assert ("use in" if text == "a == 1,2" else "COLUMN OP VALUE") in str(caught.value)
        assert "pyarrow" not in str(caught.value)


def test_filters_that_make_no_sense():
    with pytest.raises(UnknownColumnError) as caught:
        stream(TABLE, where="yaer > 1")
    assert (caught.value.option, caught.value.column) == ("where", "yaer")
    assert caught.value.names == tuple(TABLE.column_names)
    for where in (
        5,
        [("year", ">")],
        ("year", "==", "x"),
        TABLE["ill"],
    ):
        with pytest.raises(SettingError):
            stream(TABLE.to_pandas(), where=where)


def test_filters_are_known_by_their_text():
    same_one = {
        stream(TABLE, where=("town", "in", some)).where for some in ({"y", "x"}, frozenset("xy"), ["x", "y"])
    }
    assert len(same_one) == 1
    assert stream(TABLE, columns=["a", "b"], where=[]).where == ""


def test_categories_stay_declared_where_rows_are_left_out():
    frame = pd.DataFrame({"size": pd.Categorical(["S", "L", None, "L"], ["S", "M", "L"]), "n": [0, 1, 1, 1]})
    table = whole(stream(frame, where="n == 1", missing="pairwise", alphabet="own"))
    assert (table.alphabets, table.codes[:, 0].tolist()) == ((("S", "M", "L"), ("1",)), [2, -1, 2])
