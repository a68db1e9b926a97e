"""Rows that do not agree on what a column is: categories beside plain texts, columns beside names of folders."""

from itertools import permutations

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import kgmi
from kgmi.errors import DataError
from kgmi.streams import Alphabets, stream

from .stream_drills import whole

PLAIN = pa.table({"a": ["x", "NA", "y"] * 20, "b": ["x", "y", "y"] * 20})
WRITERS = {"parquet": parquet.write_table, "arrow": feather.write_feather, "csv": csv.write_csv}


def declaring(texts, rows=PLAIN):
    """The same rows with a column whose type lists these categories; another text is a gap."""
    codes = [texts.index(text) if text in texts else None for text in rows["a"].to_pylist()]
    return rows.set_column(0, "a", pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), texts))


def as_batches(tables, kind):
    return [table.to_pandas() if kind == "pandas" else table for table in tables]


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_categories_that_read_like_gaps_beside_plain_texts_in_any_order(kind):
    """Whoever comes first, and though all have the same list of values."""
    odd, even = declaring(["x", "NA", "y"]), declaring(["x", "y"])
    for tables in ([PLAIN, odd], [odd, PLAIN], *permutations([PLAIN, odd, even])):
        for rows in (as_batches(tables, kind), iter(as_batches(tables, kind))):
            with pytest.raises(DataError, match="column 'a' declares the category 'NA' in some rows"):
                whole(stream(rows, missing="pairwise"))
    for tables, states in (([odd, even], "x NA y"), ([even, PLAIN], "x y"), ([PLAIN, even], "x y")):
        assert whole(stream(as_batches(tables, kind), missing="pairwise")).states == tuple(states.split())


def test_categories_are_declared_though_plain_texts_had_the_same_list():
    rows = PLAIN.set_column(0, "a", pa.array(["z", "x", "y"] * 20))
    declared = declaring(["z", "x", "y"], rows)
    for tables in ([rows, declared], [declared, rows]):
        assert whole(stream(tables)).states == ("z", "x", "y")


def test_what_was_mixed_stays_so_when_it_is_kept():
    def seen(table):
        opened = stream(table, missing="pairwise")
        return list(opened.batches(opened.fragments[0]))[-1].alphabets

    odd, even, plain = seen(declaring(["x", "NA", "y"])), seen(declaring(["x", "y"])), seen(PLAIN)
    joined = Alphabets.from_dict(even.joined(plain)[0].to_dict())
    assert joined == even.joined(plain)[0]
    for one, other in ((joined, odd), (odd, joined)):
        with pytest.raises(DataError, match="declares the category 'NA' in some rows and is plain text in others"):
            one.joined(other)
    old = even.to_dict()
    for column in old["columns"]:
        del column["is_mixed"]  # as it was kept before there was such a thing
    assert Alphabets.from_dict(old) == even


def write_one(folder, number, ending, texts, declared=None):
    """A file with two columns of the same texts."""
    column = pa.array(texts) if declared is None else declaring(declared, pa.table({"a": texts}))["a"]
    folder.mkdir(exist_ok=True)
    WRITERS[ending](pa.table({"a": column, "b": column}), str(folder / f"{number}.{ending}"))


def counted(folder, kept=None):
    counts = kgmi.count(folder, n_parents=1, checkpoint=kept)
    return counts.states, counts.tally.family((0, 1)).tolist()


def test_a_checkpoint_ends_where_plain_text_joins_files_with_categories(tmp_path):
    """One such file changes how the others are read, so that what was counted of them is another count."""
    folder, kept, new = tmp_path / "data", tmp_path / "kept", tmp_path / "new"
    for number in range(2):
        write_one(folder, number, "parquet", ["y", "x", "x"] * 10, ["y", "x", "never"])
    assert counted(folder, kept) == counted(folder, kept)
    assert counted(folder)[0] == ("y", "x", "never")
    write_one(folder, 2, "parquet", ["x", "y"] * 10)
    message = "it was counted with the categories of a, b, wherever files declare some, now without any categories"
    with pytest.raises(DataError, match=message):
        counted(folder, kept)
    assert counted(folder, new) == counted(folder)
    assert counted(folder)[0] == ("x", "y")
    write_one(folder, 3, "parquet", ["x", "y"] * 10, ["y", "x"])  # this one changes nothing for the others
    assert counted(folder, new) == counted(folder)


@pytest.mark.parametrize("declared", [None, ["y", "x", "never"]])
def test_a_checkpoint_goes_on_where_every_file_keeps_its_meaning(tmp_path, declared):
    """In Arrow files, categories that one declares stay its own."""
    folder, kept = tmp_path / "data", tmp_path / "kept"
    for number, one in enumerate((declared, None if declared else ["y", "x", "never"])):
        write_one(folder, number, "arrow", ["y", "x", "x"] * 10, one)
        assert counted(folder, kept) == counted(folder)


def test_a_checkpoint_ends_where_categories_of_polars_join(tmp_path):
    """A Categorical of polars declares nothing, and takes the meaning from the categories of other files."""
    folder, kept = tmp_path / "data", tmp_path / "kept"
    write_one(folder, 0, "arrow", ["y", "x", "x"] * 10, ["y", "x", "never"])
    assert counted(folder, kept) == counted(folder)
    frame = pl.DataFrame({name: pl.Series(["x", "y"] * 10, dtype=pl.Categorical) for name in "ab"})
    frame.write_ipc(folder / "1.arrow", compat_level=pl.CompatLevel.oldest())
    assert counted(folder)[0] == ("x", "y")
    with pytest.raises(
        DataError, match="it was counted with the categories of a, b, wherever files declare some, now"
    ):
        counted(folder, kept)


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("first", [True, False])
def test_a_column_that_some_files_have_and_others_by_their_folder(tmp_path, ending, first):
    rows = pa.table({"a": ["u", "v"] * 10, "b": ["u", "u", "v", "v"] * 5})
    own = rows.append_column("y", pa.array([1999, 1998] * 10))
    for year, table in zip((2020, 2021), (own, rows) if first else (rows, own), strict=True):
        (tmp_path / f"y={year}").mkdir()
        WRITERS[ending](table, str(tmp_path / f"y={year}" / f"f.{ending}"))
    message = "has no column 'y', which" if first else "has a column 'y' itself, in .* only the name of its folder"
    for options in ({}, {"columns": ["a", "y"]}, {"columns": ["a", "b"], "where": [("y", ">", 2000)]}):
        with pytest.raises(DataError, match=message):
            stream(tmp_path, **options)
    assert len(whole(stream(tmp_path, columns=["a", "b"])).codes) == 40  # nobody asks for it
