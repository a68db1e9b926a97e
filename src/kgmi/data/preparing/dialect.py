"""How a text file is written: its letters and what stands between its columns, found out and told."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path
from typing import Any

from kgmi.data.kinds import DELIMITERS, ending_of
from kgmi.data.text import Dialect

__all__ = ["find_dialect"]

_SAMPLE = 1 << 16  # bytes that are looked at to find the delimiter
_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
_BYTE_ORDER = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_WINDOWS = "cp1252"
_SPREADSHEET_LINE = re.compile(r"sep=(.)\s*$", re.IGNORECASE)  # that spreadsheets put first
_NUMBER = re.compile(r"\s*[+-]?\d+(,\d+)?\s*")


def find_dialect(path: Path) -> tuple[Dialect, list[str]]:
    """The dialect of a text file, and a sentence on each thing that is not what the ending promises."""
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    with opener(path, "rb") as stream:
        start = stream.read(_SAMPLE)
        encoding = _encoding(start, stream)
    notes = [] if encoding == "utf-8-sig" else [f"The file is read as {_named(encoding)} text: it is not UTF-8."]
    is_cut = len(start) == _SAMPLE
    every = start.decode(encoding, errors="replace").splitlines()
    lines = [line for line in every if line.strip()]
    told = _SPREADSHEET_LINE.fullmatch(lines[0]) if lines else None
    lines = lines if told else _without_remarks(lines)
    loose = ending_of(path) not in DELIMITERS
    usual = DELIMITERS.get(ending_of(path), ",")
    delimiter = told[1] if told else _delimiter(lines, usual, loose=loose, is_cut=is_cut)
    if loose or delimiter != usual:
        notes.append(f"The columns of the file are separated by {_MARKS.get(delimiter, repr(delimiter))}.")
    skipped = 1 if told else _remarks_before(every, delimiter)
    if skipped and not told:
        n_lines = sum(bool(line.strip()) for line in every[:skipped])
        what = "line begins with # and is" if n_lines == 1 else f"{n_lines} lines begin with # and are"
        notes.append(f"The first {what} not read.")
    return Dialect(delimiter, encoding, skipped, several_lines=True), notes


def _without_remarks(lines: list[str]) -> list[str]:
    """The lines from the first that does not begin with #; all where there is none."""
    first = next((place for place, line in enumerate(lines) if not line.lstrip().startswith("#")), 0)
    return lines[first:]


def _remarks_before(every: list[str], delimiter: str) -> int:
    """How many lines stand before the table: those that begin with #, and blank ones between them.

    The last of them is not among these if it has as many columns as the next line: it names them («#chrom,start»).
    """
    filled = [place for place, line in enumerate(every) if line.strip()]
    first = next((n for n, place in enumerate(filled) if not every[place].lstrip().startswith("#")), 0)
    if first and _width([every[place] for place in filled[first - 1 : first + 1]], delimiter, is_cut=False):
        first -= 1
    return filled[first] if first else 0


def _encoding(start: bytes, rest: Any) -> str:
    """UTF-8 where all of it is; UTF-16 where it says so; else what spreadsheets write on Windows."""
    for mark, name in _BYTE_ORDER.items():
        if start.startswith(mark):
            return name
    from codecs import getincrementaldecoder

    decoder = getincrementaldecoder("utf-8")()
    piece = start
    try:
        while piece:
            decoder.decode(piece)
            piece = rest.read(1 << 20)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return _WINDOWS
    return "utf-8-sig"


def _named(encoding: str) -> str:
    return "Windows (cp1252)" if encoding == _WINDOWS else "UTF-16"


def _delimiter(lines: list[str], usual: str, *, loose: bool, is_cut: bool) -> str:
    """The usual mark where every line has as many columns with it; else another one with which that is so."""
    marks = [usual, *(mark for mark in ";\t,|" if mark != usual), *(" " if loose else "")]
    widths = {mark: _width(lines, mark, is_cut) for mark in marks}
    if usual == "," and widths[","] > 1 and widths[";"] > 1 and _is_decimal(lines):
        return ";"
    if widths[usual] > 1:
        return usual
    if max(widths.values()) <= 1:  # some line is broken: the first one decides, and the broken one will be named
        widths = {mark: _width(lines[:1], mark, False) for mark in marks}
    return max(marks, key=lambda mark: widths[mark]) if widths[usual] <= 1 else usual


def _width(lines: list[str], mark: str, is_cut: bool) -> int:
    """How many columns every line has with this mark between them; 0 where they differ."""
    try:
        widths = [len(values) for values in csv.reader(lines, delimiter=mark) if values]
    except csv.Error:
        return 0
    found = set(widths[:-1] if is_cut and len(widths) > 1 else widths)  # the sample may end within a value
    return found.pop() if len(found) == 1 else 0


def _is_decimal(lines: list[str]) -> bool:
    """Whether semicolons stand between numbers with a decimal comma."""
    values = [value for line in lines[1:] or lines for value in line.split(";")]
    return all(_NUMBER.fullmatch(value) for value in values)
