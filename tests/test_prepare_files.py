"""Text files that nobody would accept as they are, and the command line that makes them fit for learning."""

import gzip
import json
import re
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgmi.data import ORDER_NOTE, prepare, read_table
from kgmi.data.preparing.numerals import read_numerals
from kgmi.errors import DataError, KgmiError
from tests.commands import expect_refused, run_kgmi

ROWS = [f"{150 + row * 37 % 61},5;{50 + row * 11 % 61},25;{'ab'[row % 2]}" for row in range(60)]
EUROPEAN = "\r\n".join(["Größe;Gewicht;Art", *ROWS, ""])
PLAIN = EUROPEAN.replace(",", ".")
SEMICOLONS = "The columns of the file are separated by semicolons."
COMMA = "Größe, Gewicht: the comma read as the decimal sign."
UTF_16 = "The file is read as UTF-16 text: it is not UTF-8."
WINDOWS = "The file is read as Windows (cp1252) text: it is not UTF-8."


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (EUROPEAN.encode(), "t.csv", [SEMICOLONS, COMMA]),
        (EUROPEAN.encode("utf-8-sig"), "t.csv", [SEMICOLONS, COMMA]),
        (EUROPEAN.encode("cp1252"), "t.csv", [WINDOWS, SEMICOLONS, COMMA]),
        (
            EUROPEAN.encode("utf-16"),
            "t.csv",
            [UTF_16, SEMICOLONS, COMMA],
        ),
        (f"sep=;\r\n{EUROPEAN}".encode(), "t.csv", [SEMICOLONS, COMMA]),
        (gzip.compress(EUROPEAN.encode("cp1252")), "t.csv.gz", [WINDOWS, SEMICOLONS, COMMA]),
        (PLAIN.replace(";", ",").encode(), "t.csv", []),
        (PLAIN.replace(";", "\t").encode(), "t.tsv", []),
        (PLAIN.replace(";", "\t").encode(), "t.csv", ["The columns of the file are separated by tabs."]),
        (PLAIN.replace(";", "|").encode(), "t.csv", ["The columns of the file are separated by bars."]),
        (PLAIN.replace(";", " ").encode(), "t.txt", ["The columns of the file are separated by spaces."]),
        (PLAIN.replace(";", ",").encode(), "t.txt", ["The columns of the file are separated by commas."]),
    ],
    ids=["semicolons", "BOM", "windows", "utf-16", "sep", "gz", "csv", "tsv", "tabs", "bars", "spaces", "txt"],
)
def test_every_way_to_write_the_same_measurements(write, content, name, told):
    made = prepare(write(content, name))
    assert made.table.names == ("Größe", "Gewicht", "Art")
    assert made.bins["Größe"].edges == (170.5, 191.5)
    assert np.bincount(made.table.codes[:, 1]).tolist() == [20, 20, 20]
    assert [note for note in made.notes if " cut into " not in note and "has its own states" not in note] == told


@pytest.mark.parametrize(
    ("texts", "comma", "numbers", "remark"),
    [
        (["1", "-2.5", "3e2", ".5"], False, [1, -2.5, 300, 0.5], ""),
        (["1,5", "2,25", "3"], False, [1.5, 2.25, 3], "the comma read as the decimal sign"),
        (["1,500", "2,750"], True, [1.5, 2.75], "the comma read as the decimal sign"),
        (["1,500", "12", "1,234,567.5"], False, [1500, 12, 1234567.5], "the marks between thousands taken off"),
        (["1 234", "2'000", "5\u00a0000"], False, [1234, 2000, 5000], "the marks between thousands taken off"),
        (
            ["1.234,5", "3,25", "1.000"],
            True,
            [1234.5, 3.25, 1000],
            "the comma read as the decimal sign, the point as that of thousands",
        ),
        (["$1.50", "$ 3"], False, [1.5, 3], "signs of money or per cent taken off"),
        (["5 %", "7%", "x"], False, [5, 7, np.nan], "signs of money or per cent taken off"),
        (["1e999", "2", "nan", "inf"], False, [np.nan, 2, np.nan, np.nan], ""),
    ],
)
def test_numbers_as_people_write_them(texts, comma, numbers, remark):
    import pyarrow as pa

    found = read_numerals(pa.array(texts, pa.large_string()), comma=comma)
    assert np.array_equal(found.numbers, numbers, equal_nan=True)
    assert found.remark == remark


def test_texts_that_are_no_numbers():
    import pyarrow as pa

    for texts in (["01234", "2"], ["x", "y"], ["1-2", "3-4"], []):
        assert read_numerals(pa.array(texts, pa.large_string()), comma=False) is None


def test_semicolons_between_decimal_commas_are_found_without_a_header(write):
    made = prepare(
        write("".join(f"{row * 37 % 61},5;{row * 11 % 61},25\n" for row in range(60)).encode()), header=False
    )
    assert made.notes[0] == SEMICOLONS
    assert made.table.names == ("X1", "X2")


def test_remarks_among_numbers_are_missing_values(write):
    cells = {0: "-", 20: "-", 40: "-", 7: ">200"}
    lines = "".join(f"{cells.get(row, 100 + row * 37 % 61)},{row % 2}\n" for row in range(60))
    made = prepare(write(f"bp,sex\n{lines}".encode()))
    assert "bp: 4 cells are no numbers («-», «>200») and read as missing." in made.notes
    assert "4 missing values in bp: left out of the counts that need them." in made.notes
    doses = "".join(f"{'12-'[row % 3]},{row // 3 % 2}\n" for row in range(60))
    few = prepare(write(f"dose,sex\n{doses}".encode()))
    assert few.table.column_states == (("1", "2"), ("0", "1"))


def test_two_spellings_of_a_number_are_one_state(write):
    made = prepare(write(b"A,B\n" + b"".join(b"%d,%.1f\n" % (row % 2, row // 2 % 2) for row in range(40))))
    assert made.notes == ("0 and 0.0 are the same number and are read as one.",)
    assert (made.table.states, made.table.alphabets) == (("0", "1"), None)


def test_columns_without_a_name_and_with_the_name_of_another(write):
    made = prepare(write(b",A,A,\n" + b"".join(b"%d,%d,%d,\n" % (row, row % 2, row // 2 % 2) for row in range(30))))
    assert made.table.names == ("A", "A_2")
    assert made.notes == (
        "2 columns are named A: column 3 is called A_2.",
        "column 1 left out: it counts the rows, from 0 to 29.",
        "column 4 left out: no value in any row.",
    )


def test_values_of_several_lines_are_read_but_not_a_quote_that_is_open(write):
    rows = "".join(f'"line {row}\nmore, and more",{row % 2},{row // 2 % 2}\n' for row in range(40))
    made = prepare(write(f"comment,A,B\n{rows}".encode()))
    assert made.table.codes.shape == (40, 2)
    with pytest.raises(DataError, match="odd number of quotes; close the quote that is open"):
        prepare(write(b'A,B\nx,"y\n' + b"x,y\nz,w\n" * 20))


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"5.1,3.5,a\n4.9,3.0,b\n", "t.csv", "looks like data (5.1, 3.5, a): if it is, say so with header=False"),
        (b"x,y\nx,y\ny,x\n", "t.csv", "looks like data (x, y)"),
        (b"a;b\n1;2\n3;4;5\n", "t.csv", "line 3 of {path} has 3 values where 2 are expected: '3;4;5'"),
        (b"a,b\n", "t.csv", "{path} has a header but no rows"),
        (b"", "t.csv", "{path} is empty"),
        (bytes(range(256)) * 4, "t.csv", "it is neither UTF-8 nor Windows text; is it a table at all?"),
        (b"a,b\nx\0,y\nz,w\n", "t.csv", "line 2 of {path} (row 1), column 'a': the value 'x\\x00' contains a NUL"),
        (b"PK\x03\x04", "t.xlsx", "{path} is a spreadsheet, which is not read; save the sheet as CSV"),
        (b"{}", "t.json", "{path} is not a .csv"),
        (b"not gzip at all", "t.csv.gz", "{path} cannot be read"),
        (b"a\0,b\nx,y\n", "t.csv", "the first line of {path}: the name 'a\\x00' contains a NUL byte"),
        (b"only\nx\ny\n", "t.csv", "{path} has one column that can be learned from, and a graph needs two."),
    ],
)
def test_bad_luck_ends_in_a_sentence(write, content, name, message):
    path = write(content, name)
    with pytest.raises(DataError, match=re.escape(message.format(path=path))):
        prepare(path)


def test_other_files_are_prepared_like_frames(tmp_path, write):
    frame = pd.DataFrame({"m": [row * 37 % 61 + 0.5 for row in range(60)], "a": list("xy") * 30})
    expected = prepare(frame)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    np.save(tmp_path / "t.npy", np.column_stack([frame["m"], frame["a"] == "y"]).astype(float))
    for name in ("t.parquet", "t.csv", "t.npy"):
        made = prepare(tmp_path / name)
        assert np.array_equal(made.table.codes, expected.table.codes)
    damaged = write(b"PAR1....", "bad.parquet")
    with pytest.raises(DataError, match=re.escape(f"{damaged} cannot be read, it may be damaged")):
        prepare(damaged)


TEXTS = st.one_of(
    st.text(max_size=5), st.integers().map(str), st.text(alphabet=";,|\t\"\n'0123456789.- ", max_size=6)
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cells=st.integers(1, 4).flatmap(lambda k: st.lists(st.lists(TEXTS, min_size=k, max_size=k), max_size=12)),
    mark=st.sampled_from(",;\t|"),
    name=st.sampled_from(["t.csv", "t.tsv", "t.txt"]),
    encoding=st.sampled_from(["utf-8", "utf-16", "cp1252"]),
    header=st.booleans(),
)
def test_whatever_the_file_holds_it_is_prepared_or_refused_in_words(write, cells, mark, name, encoding, header):
    text = "\n".join(mark.join(line) for line in cells)
    try:
        made = prepare(write(text.encode(encoding, errors="replace"), name), header=header)
    except KgmiError as error:
        told = str(error)
    else:
        told = str(made.table.names)
    assert told


def test_the_command_says_what_was_done_and_keeps_it(write, tmp_path):
    path = write(EUROPEAN.encode("cp1252"))
    code, out, err = run_kgmi("learn", str(path), "--prepare", "--out", str(tmp_path / "result"))
    assert (code, err) == (0, "")
    assert out.startswith("Prepared:\n  The file is read as Windows (cp1252) text: it is not UTF-8.\n")
    assert out.index("have it found: --order learn.") < out.index("edges among 3 nodes")
    record = json.loads((tmp_path / "result" / "record.json").read_text(encoding="utf-8"))
    assert record["configuration"]["prepared"] == [*prepare(path).notes, ORDER_NOTE]
    code, out, _ = run_kgmi("learn", str(path), "--prepare", "--json", "--order", "learn")
    assert (code, json.loads(out)["configuration"]["prepared"]) == (0, list(prepare(path).notes))
    code, out, _ = run_kgmi("certify", str(path), "--prepare", "--parents", "1")
    assert (code, out.startswith("Prepared:\n")) == (0, True)
    code, out, _ = run_kgmi("learn", str(path), "--prepare")
    assert (code, out.startswith("Prepared:\n")) == (0, True)
    code, out, _ = run_kgmi("show", str(tmp_path / "result"))
    assert (code, out.count("Prepared:\n"), out.count("separated by semicolons")) == (0, 1, 1)
    page = (tmp_path / "result" / "report.html").read_text(encoding="utf-8")
    assert "How the table was prepared" in page
    assert "kgmi.data.prepare(" in page


def test_the_command_advises_it_and_refuses_what_does_not_go_with_it(write):
    path = str(write(b"id,B\n" + b"".join(b"p%d,%d\n" % (k, k % 2) for k in range(30))))
    says = ["looks like a measurement or an identifier", "or let --prepare do it"]
    expect_refused(1, "learn", path, says=says)
    for option, value in (("--states", "a,b"), ("--kernel", "paper"), ("--windows", "3"), ("--guide", "labelled")):
        says = [f"--prepare finds out what the states are, and {option} knows it; leave one out"]
        expect_refused(2, "learn", path, "--prepare", option, value, says=says)
    expect_refused(2, "learn", "--example", "paper", "--prepare", says=["say how a FILE is read"])
    expect_refused(2, "certify", path, "--prepare", "--until-certified", says=["--prepare needs a FILE"])


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes"])
def test_real_tables_of_measurements_are_learned_from(name):
    from sklearn import datasets

    import kgmi

    made = prepare(getattr(datasets, f"load_{name}")(as_frame=True).frame)
    assert made.left_out == {}
    assert max(made.table.sizes) <= 4
    assert kgmi.learn(made).dag.n_edges >= len(made.table.names) // 2


def test_the_example_in_the_documentation_prints_what_it_says(tmp_path, capsys):
    page = (Path(__file__).parent.parent / "docs" / "tables.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "block.py").write_text(block, encoding="utf-8")
    runpy.run_path(str(tmp_path / "block.py"))
    printed = capsys.readouterr().out
    for said in re.findall(r"  # (?!or the)(.*?)(?: …)?$", block, re.MULTILINE):
        assert said in printed


def test_remarks_before_the_table_are_passed_over(write):
    rows = b"".join(b"%d,%d\n" % (row % 3, row * 5 // 3 % 3) for row in range(40))
    plain = prepare(write(b"a,b\n" + rows))
    for remarks, note in (
        (b"# a tool\n\n# 2024, at, noon\n\n", "The first 2 lines begin with # and are not read."),
        (b"# one\n", "The first line begins with # and is not read."),
        (b"# one\n# two, three, four\n", "The first 2 lines begin with # and are not read."),
    ):
        made = prepare(write(remarks + b"a,b\n" + rows))
        assert made.notes == (note,)
        assert made.table.names == ("a", "b")
        assert np.array_equal(made.table.codes, plain.table.codes)
    named = prepare(write(b"# one\n#a,b\n" + rows))
    assert (named.table.names, named.notes) == (("#a", "b"), ("The first line begins with # and is not read.",))
    with pytest.raises(DataError, match=r"line 44 of .* has 3 values where 2 are expected: '1,2,3'$"):
        prepare(write(b"# one\n\n# two\na,b\n" + rows[: 4 * 39] + b"1,2,3\n"))
    with pytest.raises(DataError, match=r"line 2 of .*'a,b'; lines that begin with # are no table: take them "):
        read_table(write(b"# one\na,b\n" + rows))


def test_a_first_line_of_data_is_shown_as_it_is(write):
    with pytest.raises(DataError, match=r"looks like data \(0, 0, 1, 1\): if it is"):
        prepare(write(b"0,0,1,1\n" + b"0,1,2,0\n1,2,1,0\n" * 20))
