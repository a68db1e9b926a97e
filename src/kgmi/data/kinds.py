"""Kinds of files: which endings are read, and what a file is by its first bytes when its ending says otherwise."""

from __future__ import annotations

from pathlib import Path

from kgmi.errors import DataError
from kgmi.outputs import note_read

__all__ = [
    "ARROW_ENDINGS",
    "DELIMITERS",
    "LOOSE_TEXT",
    "PREPARE_ADVICE",
    "check_content",
    "check_file",
    "ending_of",
    "refuse_ending",
]

DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""What stands between the columns of a text file, by its ending."""
ARROW_ENDINGS = (".parquet", ".pq", ".feather", ".arrow", ".ipc")
"""Files with typed columns."""
LOOSE_TEXT = (".txt", ".dat", ".tab", ".psv", ".data", ".text")
"""Text files whose ending does not say what stands between the columns."""
PREPARE_ADVICE = "or let kgmi.data.prepare (kgmi learn --prepare) do it"
"""What a person can do who does not want to mend a table by hand."""

_STANDARD_INPUT = {"-", "/dev/stdin"}  # the latter may be a file on some days and a pipe on others
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
_READ = ".csv, .tsv, .csv.gz, .tsv.gz, .parquet, .feather, .arrow or .npy"
_SAVE_SHEET = "save the sheet as CSV (UTF-8) in the program that made it, and give that file"
_MARKS = {  # first bytes of files that are often given a wrong name
    b"PAR1": "a Parquet file: name it .parquet",
    b"ARROW1": "an Arrow file: name it .arrow",
    b"\x93NUMPY": "an array of NumPy: name it .npy",
    b"\x1f\x8b": "compressed with gzip: name it .csv.gz or .tsv.gz",
    b"PK\x03\x04": f"a spreadsheet or a zip archive: {_SAVE_SHEET}",
    b"\xd0\xcf\x11\xe0": f"an old spreadsheet: {_SAVE_SHEET}",
    b"%PDF": "a PDF document: give the table itself, as CSV",
}


def check_file(path: Path) -> None:
    """Refuse what is no file, and an empty one; what is read is noted, so that no output replaces it."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; give a file in it")
    if str(path) in _STANDARD_INPUT or (path.exists() and not path.is_file()):
        # An error is looked up in a second pass, and a pipe can be read only once.
        raise DataError(f"{path}: standard input and pipes are not read; give a file")
    if not path.is_file():
        raise DataError(f"there is no file{'' if path.suffix else ' or folder'} {path}")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty")
    note_read(path)


def ending_of(path: Path) -> str:
    """The ending that says how a file is read, in small letters; that of gzip is passed over behind a text's."""
    ending = path.suffix.lower()
    if ending != ".gz":
        return ending
    inner = Path(path.stem).suffix.lower()
    return inner if inner in DELIMITERS or inner in LOOSE_TEXT else ending


def check_content(path: Path) -> None:
    """Refuse a text file that starts like one of another kind."""
    with path.open("rb") as stream:
        start = stream.read(8)
    for mark, what in _MARKS.items():
        if start.startswith(mark) and not (mark == b"\x1f\x8b" and path.suffix.lower() == ".gz"):
            raise DataError(f"{path} is not text but {what}")


def refuse_ending(path: Path) -> DataError:
    """The error on a file whose kind is not read, with what to do about it."""
    ending = ending_of(path)
    if ending in _SPREADSHEETS:
        return DataError(f"{path} is a spreadsheet, which is not read; {_SAVE_SHEET}")
    if ending in LOOSE_TEXT:
        return DataError(
            f"{path} is not a {_READ} file; if commas or tabs stand between its columns, name it .csv or .tsv, "
            f"{PREPARE_ADVICE}"
        )
    return DataError(f"{path} is not a {_READ} file; write the table as one of these")
