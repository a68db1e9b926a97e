"""Where in a text file something is wrong: a slow, careful pass that runs only when there is an error to report."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgmi.errors import DataError

__all__ = ["line_of", "refuse_broken"]


def line_of(path: Path, delimiter: str, record: int, encoding: str = "utf-8-sig") -> int:
    """Line, from 1, on which the ``record``-th line that is not blank (from 0) stands."""
    lines = (line for number, (line, _) in enumerate(_records(path, delimiter, encoding)) if number == record)
    return next(lines, record + 1)


def refuse_broken(path: Path, delimiter: str, encoding: str = "utf-8-sig") -> None:
    """Name the first line with too few or too many values, or with a quote that is not closed."""
    expected = 0
    for line, values in _records(path, delimiter, encoding):
        expected = expected or len(values)
        start = delimiter.join(values)[:60]
        if "\0" in start:  # every other byte of UTF-16
            raise DataError(f"{path} cannot be read: it is not UTF-8 text")
        if len(values) != expected:
            raise DataError(
                f"line {line} of {path} has {len(values)} values where {expected} are expected: {start!r}"
            )
        if any("\n" in value for value in values):
            raise DataError(
                f"line {line} of {path} has a value of several lines: {start!r}; is a quote not closed?"
            )


def _records(path: Path, delimiter: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and values of every line that is not blank."""
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding=encoding, errors="replace", newline="") as stream:
        reader = csv.reader(stream, delimiter=delimiter)
        last = 0
        try:
            for values in reader:
                if values:
                    yield last + 1, values
                last = reader.line_num
        except csv.Error as error:
            raise DataError(f"line {last + 1} of {path} has no end ({error}); is a quote not closed?") from None
