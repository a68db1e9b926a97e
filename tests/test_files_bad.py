import gzip
import os
import re

import pytest

from kgmi import read_table
from kgmi.errors import DataError


@pytest.fixture
def expect_refused(tmp_path):
    def check(content, message, name="data.csv", **options):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(DataError, match=re.escape(message)) as caught:
            read_table(path, **options)
        assert str(path) in str(caught.value)

    return check


RAGGED = "has 3 values where 2 are expected: '1,2,3'"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"A,B\n0,1\n1,2,3\n", f"line 3 of {{path}} {RAGGED}"),
        (b"A,B\n0,1\n\n\n1,2,3\n0\n", f"line 5 of {{path}} {RAGGED}"),
        (b"\r\nA,B\r\n0,1\r\n\r\n1,2,3\r\n", f"line 5 of {{path}} {RAGGED}"),
        (b'A,B\n"two\nlines",1\n1,2,3\n', "line 2 of {path} has a value of several lines: 'two\\nlines,1'"),
        (b"A,B\n0,1\n7\n", "line 3 of {path} has 1 values where 2 are expected: '7'"),
        (b'A,B\n"0,1\n1,1\n', "line 2 of {path} has 1 values where 2 are expected"),
    ],
    ids=["plain", "blank lines", "CRLF", "quoted line end", "too few", "open quote"],
)
def test_a_ragged_line_is_named_by_its_line_in_the_file(expect_refused, tmp_path, content, message):
    for name, made in (("data.csv", content), ("data.csv.gz", gzip.compress(content))):
        expect_refused(made, message.format(path=tmp_path / name), name)


def test_a_ragged_line_without_a_header_and_far_down(expect_refused, tmp_path):
    expect_refused(b"0,1\n1,2,3\n", f"line 2 of {tmp_path / 'data.csv'} {RAGGED}", header=False)
    expect_refused(
        b"0,1\n" * 400_000 + b"1,2,3\n" + b"0,1\n" * 400_000, f"line 400001 of {tmp_path / 'data.csv'} {RAGGED}"
    )


@pytest.mark.parametrize("gap", ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "  "])
def test_a_missing_value_is_named_by_line_column_and_number(expect_refused, tmp_path, gap):
    content = f"A,B\n0,1\n\n1,{gap}\n0,0\n1,{gap}\n".encode()
    place = f"line 4 of {tmp_path / 'data.csv'} (row 2), column 'B'"
    expect_refused(content, f"{place}: the value is missing ({gap.strip()!r}; 2 such cells in this column)")


def test_one_missing_value(expect_refused, tmp_path):
    expect_refused(
        b"0,1\n?,0\n", f"line 2 of {tmp_path / 'data.csv'} (row 2), column 'X1': the value is missing", header=False
    )
    expect_refused(
        b'A,B\n0,"x\ny"\n?,0\n', f"line 4 of {tmp_path / 'data.csv'} (row 2), column 'A': the value is missing"
    )
    expect_refused(b"A,B\n0,1\n?,0\n", "('?'; 1 such cell in this column). Fill it in or drop the row")


def test_a_quote_that_is_not_closed_does_not_take_rows_with_it(expect_refused, tmp_path):
    place = f"line 3 of {tmp_path / 'data.csv'} (row 2), column 'B'"
    expect_refused(
        b'A,B\n0,0\n0,"1\n1,1\n0,0\n', f"{place}: the value runs over the end of the line ('1\\n1,1\\n0,0"
    )
    expect_refused(b'A,B\n0,"1\r\n', "is a quote not closed?")
    long = b"A,B\n" + b'0,"1\n' + b"0,1\n" * 600_000
    expect_refused(
        long, f"line 2 of {tmp_path / 'data.csv'} has no end (field larger than field limit (131072)); is a quote"
    )
    long = b"0,1\n" * 300_000 + b'0,"1\n0,1"\n' * 2 + b"0,1\n" * 300_000
    expect_refused(long, f"line 300001 of {tmp_path / 'data.csv'}")


def test_a_column_without_any_value(expect_refused, tmp_path):
    expect_refused(
        b"A,B\n0,\n1,NA\n", f"column 'B' of {tmp_path / 'data.csv'} has no value in any row; leave it out"
    )


def test_a_state_outside_the_declared_alphabet(expect_refused, tmp_path):
    message = f"line 4 of {tmp_path / 'data.csv'} (row 2), column 'B': 'c' is not among the states a, b"
    expect_refused(b"A,B\na,b\n\nb,c\n", message, states=["a", "b"])
    expect_refused(b"A,B\nx,b\n", "line 2 of", states=["a", "b"])


def test_a_column_that_looks_like_a_measurement(expect_refused, tmp_path):
    content = "A,B\n" + "".join(f"0,{k / 7}\n" for k in range(1_001))
    expect_refused(content.encode(), f"column 'B' of {tmp_path / 'data.csv'} has 1,001 different values in 1,001")
    content = "id,B\n" + "".join(f"p{k},{k % 2}\n" for k in range(500))
    message = f"column 'id' of {tmp_path / 'data.csv'} has 500 different values in 500 rows; it looks like a meas"
    for options in ({}, {"n_states": 3}, {"states": ["0", "1"]}):
        expect_refused(content.encode(), message, **options)
    content = "A,B\n" + "".join(f"{k % 21},0\n" for k in range(41))
    expect_refused(content.encode(), "has 21 different values in 41 rows")


@pytest.mark.parametrize(
    ("content", "name", "header", "message"),
    [
        (b"A;B\n0;1\n1;0\n", "x.csv", True, "';': save it with commas, or name a tab-separated file .tsv"),
        (b"A\tB\n0\t1\n1\t0\n", "x.csv", True, "a tab: save it with commas, or name a tab-separated file"),
        (b"0;1\n1;0\n", "x.csv", False, "';': save it with commas"),
        (b"A,B\n0,1\n1,0\n", "x.tsv", True, "',': save it with tabs, or name a comma-separated file .csv"),
        (b"0,1\n1,0\n", "x.tsv", False, "',': save it with tabs"),
        (b"A;B\n0;1\n1;0\n", "x.tsv", True, "';': save it with tabs"),
    ],
)
def test_one_column_with_other_marks_between_its_values(expect_refused, tmp_path, content, name, header, message):
    message = f"{tmp_path / name} has one column only, and its first line contains {message}"
    expect_refused(content, message, name, header=header)


def test_a_header_that_is_data(expect_refused, tmp_path):
    start = f"the first line of {tmp_path / 'data.csv'} looks like data"
    end = "if it is, say so with header=False (--no-header); if not, rename the columns"
    expect_refused(b"0,1,2\n0,0,1\n2,1,1\n", f"{start} (0, 1, 2 are also states): {end}")
    expect_refused(b"0 , 1\n0,0\n0,1\n", f"{start} (0, 1 are also states): {end}")
    expect_refused(b"x\nx\ny\n", f"{start} (x is also a state): {end}")
    expect_refused(b"0,2\n0,1\n1,0\n", f"{start} (0, 2 are also states)", n_states=3)
    expect_refused(b"a,c\na,b\nb,a\n", f"{start} (a, c are also states)", states=["a", "b", "c"])
    wide = ",".join(map(str, range(10)))
    expect_refused(f"{wide}\n{wide}\n".encode(), f"{start} (0, 1, 2, 3, 4, 5, 6, 7 … are also states)")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"A,B\n1,1.0\n0,0\n", "'1' (column 'A') and '1.0' (column 'B') in {path} are the same number"),
        (b"A,B\n01,x\n1,y\n", "'01' (column 'A') and '1' (column 'A') in {path} are the same number"),
        (b"A,B\n-0,0\n0,1\n", "'-0' (column 'A') and '0' (column"),
        (b"A,B\n1e1,10\n", "are the same number: write them alike, or declare the states"),
    ],
)
def test_one_number_in_two_spellings(expect_refused, tmp_path, content, message):
    expect_refused(content, message.format(path=tmp_path / "data.csv"))
    expect_refused(content, "are the same number", n_states=2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"A,B,A\n0,1,0\n",
            "two columns of {path} are named 'A'; rename one, or, if the first line is data, say "
            "so with header=False (--no-header)",
        ),
        (b"A, A\n0,1\n", "two columns of {path} are named 'A'"),
        (
            b",A,B\n0,1,0\n",
            "column 1 of {path} has no name (an index column? leave it out, or let kgmi.data.prepare",
        ),
        (b"A,,C\n0,1,0\n", "column 2 of {path} has no name"),
        (b"A,B,\n0,1,0\n", "column 3 of {path} has no name"),
        (b"A,B\n", "{path} has a header but no rows"),
        (b"A,B", "{path} has no rows"),
        (b"\n\n", "{path} has no rows"),
        (b"", "{path} is empty"),
        (b"A,B\n0,\xe9\n", "{path} cannot be read: it is not UTF-8 text"),
        (b"A,\xe9\n0,1\n", "{path} cannot be read: it is not UTF-8 text"),
        ("A,B\n0,1\n".encode("utf-16"), "{path} cannot be read: it is not UTF-8 text"),
    ],
)
def test_a_file_that_is_no_table(expect_refused, tmp_path, content, message):
    expect_refused(content, message.format(path=tmp_path / "data.csv"))


def test_a_nul_byte_is_named_by_its_line(expect_refused, tmp_path):
    path = tmp_path / "data.csv"
    advice = "contains a NUL byte; the file is damaged or not UTF-8 text: correct it or save it as UTF-8"
    expect_refused(
        b"A,B\n0,1\n\n1,0\n1,0\x00\n0,\x00\n",
        f"line 5 of {path} (row 3), column 'B': the value '0\\x00' {advice}",
    )
    expect_refused(b"A,B\n\x00,1\n", f"line 2 of {path} (row 1), column 'A': the value '\\x00' {advice}")
    expect_refused(b"\nA,B\x00\n0,1\n", f"line 2 of {path}: the name 'B\\x00' {advice}")


def test_one_state_is_not_enough(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"A,B\n0,0\n0,0\n")
    with pytest.raises(
        DataError, match=r"the whole table has one state only \('0'\), so there is nothing to learn"
    ):
        read_table(path)
    assert read_table(path, n_states=2).states == ("0", "1")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("data", "write the table as one of these"),
        ("data.gz", "write the table as one of these"),
        ("data.npy.gz", "write the table as one of these"),
        ("data.txt", "name it .csv or .tsv, or let kgmi.data.prepare (kgmi learn --prepare) do it"),
    ],
)
def test_endings_that_are_not_read(expect_refused, name, advice):
    kinds = ".csv, .tsv, .csv.gz, .tsv.gz, .parquet, .feather, .arrow or .npy"
    expect_refused(b"A,B\n0,1\n", f"is not a {kinds} file; ", name)
    expect_refused(b"A,B\n0,1\n", advice, name)


def test_a_spreadsheet_is_to_be_saved_as_csv(expect_refused):
    expect_refused(b"PK\x03\x04rest", "is a spreadsheet, which is not read; save the sheet as CSV", "data.xlsx")
    expect_refused(b"PK\x03\x04rest", "is not text but a spreadsheet or a zip archive: save the sheet as CSV")


@pytest.mark.parametrize(
    ("content", "what"),
    [(b"PAR1....", "a Parquet file: name it .parquet"), (gzip.compress(b"A,B\n"), "compressed with gzip: name it")],
)
def test_a_text_file_that_is_something_else(expect_refused, content, what):
    expect_refused(content, f"is not text but {what}")


def test_a_file_that_is_not_what_its_ending_says(expect_refused):
    expect_refused(b"A,B\n0,1\n", "cannot be read", "data.csv.gz")
    expect_refused(gzip.compress(b"A,B\n0,1\n" * 1_000)[:-30], "cannot be read", "data.csv.gz")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(DataError, match=re.escape(f"there is no file {tmp_path / 'none.csv'}")):
        read_table(tmp_path / "none.csv")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    with pytest.raises(DataError, match=re.escape(f"{folder} is a folder; give a file in it")):
        read_table(folder)


def test_standard_input_and_pipes_are_not_read(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for path in ("-", "/dev/stdin", "/dev/null", str(pipe)):
        message = f"{path}: standard input and pipes are not read; give a file"
        with pytest.raises(DataError, match=re.escape(message)):
            read_table(path)
