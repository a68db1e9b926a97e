"""Conditions mean the same, exactly, whoever looks at the cells: bounds of files, Arrow, polars, plain Python."""

import operator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import dataset, feather, parquet

from kgmi.errors import SettingError
from kgmi.streams import stream

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
WHOLE = [
    3,
    3.5,
    3.0,
    0,
    -1,
    127,
    128,
    300,
    2**63 - 1,
    2**63,
    2**64 - 1,
    2**64,
    -(2**63),
    -(2**63) - 1,
    1e30,
    np.inf,
]
FLOATS = [0.25, 0, 1, -np.inf, np.inf, 0.1, float(np.float32(0.1)), 2.5, np.float32(2.5), 1e300, 2**53 + 1]
DAYS = [date(2020, 1, 2), datetime(2020, 1, 3), date(1900, 1, 1), date(2100, 1, 1)]
TIMES = [datetime(2020, 1, 2, 12), datetime(2020, 1, 3, 0, 0, 0, 500_000), datetime(2020, 1, 3), date(2020, 1, 2)]
MONEY = (
    [Decimal(x) for x in ("-1.10", "0.10", "1.10", "999.99")],
    [0.1, 1, 1.105, -1.1, Decimal("1.10"), 10**6, -(10**6), 999.99, -np.inf],
)
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
    "text": (pa.string(), ["", "a", "b", "b", "bb", "é"], ["b", "", "ba", "é", "zz"]),
    "view": (pa.string_view(), ["", "a", "b", "bb"], ["b", "ba"]),
    "category": (pa.dictionary(pa.int8(), pa.string()), ["a", "b", "b", "c"], ["b", "bb"]),
    "date": (pa.date32(), [date(2020, 1, day) for day in (1, 2, 2, 3)], DAYS),
    "ms": (pa.timestamp("ms"), [datetime(2020, 1, 2, hour) for hour in (0, 12, 23)], TIMES),
    "ns": (pa.timestamp("ns"), [datetime(2020, 1, 2, hour) for hour in (0, 12, 23)], TIMES),
    "zoned": (
        pa.timestamp("us", "Europe/Oslo"),
        [datetime(2020, 1, 2, hour, tzinfo=UTC) for hour in (0, 12, 23)],
        [datetime(2020, 1, 2, 12, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)],
    ),
    "null": (pa.null(), [None, None], [1, "x", date(2020, 1, 1)]),
}


def table_of(kind, cells):
    """Twice the cells, with gaps between them, so that row groups of two have bounds that rule something out."""
    cells = [cell for cell in cells for _ in range(2)] + [None, cells[0], None, None]
    array = (
        pa.array(cells, kind.value_type).dictionary_encode()
        if pa.types.is_dictionary(kind)
        else pa.array(cells, kind)
    )
    return pa.table({"x": array, "row": pa.array(range(len(cells)), pa.int32())})


def sources(table, folder):
    """The same rows, to be read in many ways; each is made anew where it can be read once only."""
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
    opened = stream(source, columns=["row"], where=where if isinstance(where, pc.Expression) else [where])
    batches = [batch for fragment in opened.fragments for batch in opened.batches(fragment)]
    return sorted(int(batch.alphabets.texts[0][code]) for batch in batches for code in batch.columns[0])


def meant(value, kind):
    """What Python compares with: floats are decimals as they are written, and days begin at midnight."""
    if pa.types.is_decimal(kind) and isinstance(value, float):
        return Decimal(repr(value))
    if pa.types.is_timestamp(kind) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    if pa.types.is_date(kind) and isinstance(value, datetime):
        return value.date()
    return value.item() if isinstance(value, np.generic) else value


def expected(table, sign, value, kind):
    cells = [None if cell is None or cell != cell else cell for cell in table["x"].to_pylist()]
    value = [meant(one, kind) for one in value] if isinstance(value, list) else meant(value, kind)
    return [row for row, cell in enumerate(cells) if cell is not None and SIGNS[sign](cell, value)]


@pytest.mark.parametrize("name", CASES)
def test_all_see_the_same_rows(name, tmp_path):
    kind, cells, values = CASES[name]
    table, rng = table_of(kind, cells), np.random.default_rng(131)
    made, refused, found = sources(table, tmp_path), 0, 0
    for sign in SIGNS:
        some = [values[k] for k in rng.permutation(len(values))[:5]]
        asked = [some[:1], some[1:4], []] if "in" in sign else some
        for value in asked:
            where = ("x", sign, value)
            try:
                right = passed(table, where)
            except SettingError:
                refused += 1
                for source in made:
                    with pytest.raises(SettingError, match=r"where: column 'x'"):
                        stream(source, columns=["row"], where=[where])
                continue
            assert right == expected(table, sign, value, kind), where
            assert [passed(source, where) for source in made] == [right] * len(made), where
            found += len(right)
    assert (found > 0) == (name != "null")
    assert refused == 0 or name in ("double", "float", "half", "date")


@pytest.mark.parametrize(
    ("name", "sign", "value", "message"),
    [
        (
            "float",
            "==",
            0.1,
            r"floats of 32 bits, none of which is exactly 0\.1; the nearest is 0\.10000000149011612",
        ),
        ("float", "not in", [0.25, 0.1], r"none of which is exactly 0\.1"),
        ("double", "<", 2**53 + 1, "none of which is exactly 9007199254740993"),
        ("int8", "==", True, "holds numbers and cannot be compared with True; give 1 or 0"),
        ("int8", "in", ["3"], "holds numbers and cannot be compared with '3'; give a number, without quotes"),
        ("text", "==", 7, "holds texts and cannot be compared with 7; put it in quotes: 'x == \"7\"'"),
        ("bool", "==", "True", "holds truth values and cannot be compared with 'True'; compare it with true or"),
        ("bool", "==", 1, "holds truth values and cannot be compared with 1"),
        ("date", "==", datetime(2020, 1, 2, 12), "which has no value that is exactly"),
        ("date", "in", ["2020-01-02 12:00"], "which has no value that is exactly '2020-01-02 12:00'"),
        ("date", ">", 5, "holds values of type date32.* give a date or a time"),
        ("ms", "==", datetime(2020, 1, 2, 0, 0, 0, 1), "which has no value that is exactly"),
        ("zoned", "<", datetime(2020, 1, 2), "which has no value that is exactly"),
        ("ms", "<", datetime(2020, 1, 2, tzinfo=UTC), "which has no value that is exactly"),
        ("text", "==", "\ud800", "no text that a file can hold"),
    ],
)
def test_what_cannot_be_compared_exactly_is_refused(name, sign, value, message, tmp_path):
    kind, cells, _ = CASES[name]
    for source in sources(table_of(kind, cells), tmp_path):
        with pytest.raises(SettingError, match=message) as caught:
            stream(source, columns=["row"], where=("x", sign, value))
        assert "no kernel" not in str(caught.value)


@pytest.mark.parametrize("value", [None, np.nan, float("nan"), pa.scalar(None), np.datetime64("NaT")], ids=repr)
def test_no_value_is_refused(value):
    table = pa.table({"x": [1, 2], "row": [0, 1]})
    for where in [("x", "==", value), ("x", "not in", [1, value])]:
        with pytest.raises(SettingError, match=r"which is no value; rows without a value never pass"):
            stream(table, where=where)
    assert passed(table, ("x", "not in", [])) == [0, 1]


def test_dates_as_texts_go_with_lists_too(tmp_path):
    kind, cells, _ = CASES["date"]
    table = table_of(kind, cells)
    for source in sources(table, tmp_path):
        assert passed(source, ("x", "in", ["2020-01-02", "2021-01-01"])) == passed(table, ("x", "==", "2020-01-02"))
        assert passed(source, ("x", "in", [np.datetime64("2020-01-02")])) == [2, 3, 4, 5]


def test_files_whose_numbers_have_other_widths(tmp_path):
    for number, kind in enumerate([pa.int16(), pa.int8(), pa.float64()]):
        cells = pa.array([1, 2, 100], kind)
        parquet.write_table(
            pa.table({"x": cells, "row": range(3 * number, 3 * number + 3)}), tmp_path / f"{number}.parquet"
        )
    assert passed(tmp_path, ("x", "in", [1, 300])) == [0, 3, 6]
    parquet.write_table(pa.table({"x": [1.5, 300.0], "row": [6, 7]}), tmp_path / "2.parquet")
    assert passed(tmp_path, ("x", "in", [1.5, 300])) == [6, 7]
    assert passed(tmp_path, ("x", "==", 1.5)) == [6]
    parquet.write_table(pa.table({"x": pa.array([0.1], pa.float32()), "row": [6]}), tmp_path / "2.parquet")
    with pytest.raises(SettingError, match=r"2\.parquet: where: column 'x' holds floats of 32 bits"):
        stream(tmp_path, columns=["row"], where=("x", "==", 0.1))


def test_the_text_of_a_filter_does_not_follow_the_order_of_a_set():
    table = pa.table({"x": ["x", "y", "z"], "row": [0, 1, 2]})
    texts = {stream(table, where=("x", "in", values)).where for values in ({"y", "x"}, frozenset("xy"), ["x", "y"])}
    assert texts == {"'x' in ('x', 'y')"}
    assert stream(table, where=("row", "in", np.array([2, 1]))).where == "'row' in (2, 1)"


def test_expressions_are_not_misled_by_bounds_that_leave_nan_out(tmp_path):
    table = pa.table({"x": [1.0, np.nan, 2.0, 2.0], "row": range(4)})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    differs = pc.field("x") != 1.0
    assert passed(tmp_path / "a.parquet", differs) == passed(table, differs) == [1, 2, 3]


def test_durations_are_compared_with_durations():
    table = pa.table({"x": [timedelta(hours=1), timedelta(hours=2)], "row": [0, 1]})
    assert passed(table, ("x", ">", timedelta(hours=1))) == [1]
