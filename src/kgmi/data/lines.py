"""Where in a text file something is wrong: a slow, careful pass that runs only when there is an error to report."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgmi.data.kinds import PREPARE_ADVICE
from kgmi.errors import DataError

__all__ = ["line_of", "refuse_broken"]


def line_of(path: Path, delimiter: str, record: int, encoding: str = "utf-8-sig", skipped: int = 0) -> int:
    """Line, from 1, on which the ``record``-th line that is not blank (from 0) after the skipped ones stands."""
    records = enumerate(_records(path, delimiter, encoding, skipped))
    return next((line for number, (line, _) in records if number == record), skipped + record + 1)


def refuse_broken(path: Path, delimiter: str, encoding: str = "utf-8-sig", skipped: int = 0) -> None:
    """Name the first line with too few or too many values, or with a quote that is not closed."""
    expected, remark = 0, False
    for line, values in _records(path, delimiter, encoding, skipped):
        if not expected:
            expected, remark = len(values), values[0].lstrip().startswith("#")
        start = delimiter.join(values)[:60]
        if "\0" in start:  # every other byte of UTF-16
            raise DataError(f"{path} cannot be read: it is not UTF-8 text")
        if len(values) != expected:
            advice = f"; lines that begin with # are no table: take them out, {PREPARE_ADVICE}" if remark else ""
            raise DataError(
                f"line {line} of {path} has {len(values)} values where {expected} are expected: {start!r}{advice}"
            )
        if any("\n" in value for value in values):
            raise DataError(
                f"line {line} of {path} has a value of several lines: {start!r}; is a quote not closed?"
            )


def _records(path: Path, delimiter: str, encoding: str, skipped: int) -> Iterator[tuple[int, list[str]]]:
    """Line number and values of every line that is not blank."""
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding=encoding, errors="replace", newline="") as stream:
        for _ in range(skipped):
            next(stream, None)
        reader = csv.reader(stream, delimiter=delimiter)
        last = skipped
        try:
            for values in reader:
                if values:
                    yield last + 1, values
                last = skipped + reader.line_num
        except csv.Error as error:
            raise DataError(f"line {last + 1} of {path} has no end ({error}); is a quote not closed?") from None
