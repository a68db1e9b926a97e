"""Text files that hardly anything accepts as they are, and numbers as people write them."""

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgmi import prepare
from kgmi.errors import DataError, KgmiError

ROWS = [f"{150 + row * 37 % 61},5;{50 + row * 11 % 61},25;{'ab'[row % 2]}" for row in range(60)]
EUROPEAN = "\r\n".join(["Größe;Gewicht;Art", *ROWS, ""])
PLAIN = EUROPEAN.replace(",", ".").replace(";", ",")


def frame_of(texts):
    """A column of texts, repeated, beside one of plain states."""
    return pd.DataFrame({"z": [texts[row % len(texts)] for row in range(60)], "a": list("xyxxyyyxyx") * 6})


@pytest.mark.parametrize(
    ("content", "name", "n_notes"),
    [
        (EUROPEAN.encode(), "semicolons.csv", 2),
        (EUROPEAN.encode("cp1252"), "windows.csv", 3),
        (EUROPEAN.encode("utf-16"), "utf-16.csv", 3),
        (gzip.compress(EUROPEAN.encode("cp1252"), mtime=0), "packed.csv.gz", 3),
        (f"sep=;\r\n{EUROPEAN}".encode(), "sep.csv", 2),
        (f"{EUROPEAN};;\r\n   \r\n\r\n".encode(), "empty lines.csv", 3),
        (f"# a tool\n\n# 2024, at, noon\n\n{PLAIN}".encode(), "comments.csv", 1),
        (PLAIN.encode(), "commas.txt", 1),
        (PLAIN.replace(",", "\t").encode(), "tabs.tsv", 0),
        (PLAIN.replace(",", "\t").encode(), "tabs.csv", 1),
        (PLAIN.replace(",", "|").encode(), "bars.csv", 1),
        (PLAIN.replace(",", " ").encode(), "spaces.csv", 1),
    ],
)
def test_every_way_to_write_the_same_measurements(write, content, name, n_notes):
    made = prepare(write(content, name))
    assert (made.table.names, made.table.codes.shape) == (("Größe", "Gewicht", "Art"), (60, 3))
    assert made.bins["Größe"].edges == (170.5, 191.5)
    assert np.bincount(made.table.codes[:, 1]).tolist() == [20, 20, 20]
    assert len([note for note in made.notes if " cut into " not in note]) == n_notes


@pytest.mark.parametrize(
    ("texts", "numbers", "remark"),
    [
        (["1", "-2.5", "3e2", ".5", "+4"], [-2.5, 0.5, 1, 4, 300], ""),
        (["−1", "2", "#DIV/0!"], [-1, 2], ""),
        (["1,5", "2,25", "3"], [1.5, 2.25, 3], "comma"),
        (["1,500", "12", "1,234,567.5"], [12, 1500, 1234568], "thousands"),
        (["1.234.567", "3.000", "12"], [12, 3000, 1234567], "thousands"),
        (["1.234,56 €", "3,25 €", "1.000 €"], [3.25, 1000, 1234.56], "thousands"),
        (["$1.50", "$ 3", "-$2", "0"], [-2, 0, 1.5, 3], "$"),
        (["($5.00)", "$2.50"], [-5, 2.5], "negative"),
        (["12.3 km", "4 km", "0"], [0, 4, 12.3], "km"),
    ],
)
def test_numbers_as_people_write_them(texts, numbers, remark):
    made = prepare(frame_of(texts))
    assert [*map(float, made.table.column_states[0])] == numbers
    notes = [note for note in made.notes if note.startswith("z has") and "missing" not in note]
    assert any(remark in note for note in notes) == bool(remark)


@pytest.mark.parametrize("texts", ["01234 20095", "1-2 3-4", "1.2k 900", "3A 3B", "5km 3mi", "(1) (2)"])
def test_texts_that_are_not_numbers(texts):
    assert {*prepare(frame_of(texts.split())).table.column_states[0]} == {*texts.split()}


def test_columns_and_rows_of_odd_files(write):
    made = prepare(write(b",A,A,\n" + b"".join(b"%d,%d,%.1f,\n" % (k, k % 2, k // 2 % 2) for k in range(30))))
    assert (made.table.names, [*made.left_out], len(made.notes)) == (("A", "A_2"), ["column 1", "column 4"], 3)
    assert (made.table.states, made.table.alphabets) == (("0", "1"), None)  # 1 and 1.0
    made = prepare(write(b"# one\n#a,b\n" + b"0,1\n1,1\n2,0\n" * 9))
    assert (made.table.names, len(made.notes)) == (("#a", "b"), 1)
    rows = "".join(f'"line {row}\nmore, and more",{row % 2},{row // 2 % 2}\n' for row in range(40))
    assert prepare(write(f"comment,A,B\n{rows}".encode())).table.codes.shape == (40, 2)
    rows = "".join(f"{row * 37 % 61},125;{row * 11 % 61},25\n" for row in range(60))
    made = prepare(write(rows.encode()), header=False)
    assert (made.table.names, made.bins["X1"].edges[0] % 1) == (("X1", "X2"), 0.125)


@pytest.mark.parametrize(
    ("content", "name", "word"),
    [
        (b"5.1,3.5,a\n4.9,3.0,b\n", "t.csv", "header=False"),
        (b"x,y\nx,y\ny,x\n", "t.csv", "header=False"),
        (b"a;b\n1;2\n3;4;5\n", "t.csv", "line 3"),
        (b"# one\n\n# two\na,b\n" + b"0,1\n" * 9 + b"1,2,3\n", "t.csv", "line 14"),
        (b'A,B\nx,"y\n' + b"x,y\nz,w\n" * 20, "t.csv", "quote"),
        (b"a,b\n", "t.csv", "no rows"),
        (bytes(range(1, 256)) * 4, "t.csv", "neither"),
        (b"a,b\nx\0,y\nz,w\n", "t.csv", "line 2"),
        (b"PK\x03\x04", "t.xlsx", "spreadsheet"),
        (b"only\nx\ny\n", "t.csv", "one column"),
    ],
)
def test_files_that_cannot_be_prepared(write, content, name, word):
    path = write(content, name)
    with pytest.raises(DataError, match=word) as caught:
        prepare(path)
    assert str(path) in str(caught.value)


def test_other_files_are_prepared_like_frames(tmp_path):
    frame = pd.DataFrame({"m": [row * 37 % 61 + 0.5 for row in range(60)], "a": list("xy") * 30})
    frame.to_parquet(tmp_path / "t.parquet")
    np.save(tmp_path / "t.npy", np.column_stack([frame["m"], frame["a"] == "y"]).astype(float))
    for name in ("t.parquet", "t.npy"):
        assert np.array_equal(prepare(tmp_path / name).table.codes, prepare(frame).table.codes)
    np.save(tmp_path / "line.npy", np.arange(9))
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04")
    bad = {"none.csv": "no file or folder", "line.npy": r"shape \(9,\)"}
    for name, problem in (bad | {"": "is not a file", "t.xlsx": r"as CSV \(UTF-8\)$"}).items():
        with pytest.raises(DataError, match=problem) as caught:
            prepare(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)


def test_quotes_that_swallow_rows_are_noticed(write):
    lines = [f"{row % 2},{row % 3},{row // 2 % 2}" for row in range(60)]
    for texts in ({20: '"1', 30: '1"'}, {20: '"1'}):
        changed = [f"0,1,{texts[row]}" if row in texts else line for row, line in enumerate(lines)]
        with pytest.raises(DataError):
            prepare(write("\n".join(["A,B,C", *changed]).encode(), "quotes.csv"))
    spoken = [f'{row % 2},{row % 3},"{"yes" if row % 2 else "no"},\nI think\nso"' for row in range(60)]
    assert prepare(write("\n".join(["A,B,C", *spoken]).encode(), "spoken.csv")).table.sizes == (3, 3, 2)


TEXTS = st.text(max_size=5) | st.integers().map(str) | st.text(alphabet=";,|\t\"\n'0123456789.- ", max_size=6)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cells=st.integers(1, 4).flatmap(lambda k: st.lists(st.lists(TEXTS, min_size=k, max_size=k), max_size=12)),
    mark=st.sampled_from(",;\t|"),
    name=st.sampled_from(["t.csv", "t.tsv", "t.txt"]),
    encoding=st.sampled_from(["utf-8", "utf-16", "cp1252"]),
    header=st.booleans(),
)
def test_whatever_a_file_holds_it_is_prepared_or_refused(write, cells, mark, name, encoding, header):
    path = write("\n".join(mark.join(line) for line in cells).encode(encoding, errors="replace"), name)
    try:
        made = prepare(path, header=header)
    except KgmiError:
        return
    assert len(made.table.names) >= 2
