"""Options and paths that cannot be meant: refused in a sentence, whatever Python would say of them."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import kgmi
from kgmi.cli.app import FAILED
from kgmi.data import as_table
from kgmi.errors import DataError, KgmiError, SettingError
from kgmi.streams import stream

from .commands import expect_refused


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A file in the current folder, which an empty path must not stand for."""
    monkeypatch.chdir(tmp_path)
    made = pa.table({"a": ["x", "y"] * 50, "b": ["x", "x", "y", "y"] * 25})
    parquet.write_table(made, "t.parquet")
    return made


@pytest.mark.parametrize("path", ["", [""], ["t.parquet", ""]])
def test_an_empty_path_is_not_the_current_folder(table, path):
    with pytest.raises(DataError, match=r"the path is empty; give a file, a folder \('\.' is the current one\)"):
        stream(path)
    assert stream(".").n_rows == stream(Path()).n_rows == 100


def test_an_empty_path_on_the_command_line(table):
    for words in (("count", "", "-o", "o.counts"), ("learn", ""), ("learn", "", "--stream")):
        expect_refused(FAILED, *words, says=("the path is empty; give a file, a folder",))
    assert os.listdir() == ["t.parquet"]


@pytest.mark.parametrize("path", ["a\0b.parquet", Path("a\0b.parquet"), ["t.parquet", "*\0.csv"]])
def test_a_path_with_a_nul_byte(table, path):
    with pytest.raises(DataError, match="the path has a NUL byte"):
        stream(path)


def test_a_path_that_the_system_refuses(table):
    with pytest.raises(DataError, match=r"cannot be read .*; give another path"):
        stream("a" * 5_000)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fragment_rows": 2.5}, "fragment_rows must be a whole number, got 2.5"),
        ({"fragment_rows": "5"}, "fragment_rows must be a whole number, got '5'"),
        ({"n_states": "2"}, "n_states must be a whole number, got '2'"),
        ({"n_states": True}, "n_states must be a whole number, got True"),
        ({"names": 5}, "names must be a list of texts, got 5"),
        ({"columns": 5}, "columns must be a list of texts, got 5"),
        ({"states": 5}, "states must be a list of texts, got 5"),
        ({"checkpoint": 5}, "checkpoint must be a path, got 5"),
        ({"checkpoint": b"kept"}, "checkpoint must be a path, got b'kept'"),
        ({"checkpoint": ""}, "checkpoint must be a path, got ''"),
        ({"checkpoint": "a\0b"}, r"checkpoint must be a path, got 'a\\x00b'"),
        ({"checkpoint": "t.parquet/kept"}, r"cannot be a folder for a checkpoint \(.*\): choose another one"),
        ({"checkpoint": "k" * 5_000}, r"cannot be a folder for a checkpoint \(.*\): choose another one"),
    ],
)
def test_options_that_cannot_be_meant(table, options, message):
    with pytest.raises(KgmiError, match=message):
        kgmi.count("t.parquet", n_parents=1, **options)
    assert os.listdir() == ["t.parquet"]


def test_lists_that_can_be_read_once_and_numbers_of_other_libraries(table):
    given = {"names": (name for name in "uv"), "columns": (name for name in "ba"), "states": (s for s in "yx")}
    opened = stream("t.parquet", fragment_rows=np.int64(10), **given)
    assert (opened.names, opened.source.columns, opened.rules.states) == (("u", "v"), ("b", "a"), ("y", "x"))
    counts = kgmi.count("t.parquet", n_parents=1, n_states=np.int64(2), checkpoint="kept")
    assert counts.states == kgmi.count("t.parquet", n_parents=1, n_states=2, checkpoint="kept").states
    assert as_table(table, names=(name for name in "uv"), states=(s for s in "yx")).names == ("u", "v")
    for options in ({"n_states": "2"}, {"names": 5}, {"states": 5}):
        with pytest.raises(SettingError, match=f"{next(iter(options))} must be a"):
            as_table(table, **options)


@pytest.mark.parametrize("path", ["", "a\0.counts", 5])
def test_counts_and_their_path(table, path):
    counts = kgmi.count("t.parquet", n_parents=1)
    for work in (counts.save, kgmi.Counts.load):
        with pytest.raises(SettingError, match="the file of counts must be a path, got"):
            work(path)
