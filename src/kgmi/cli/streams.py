"""Rows from standard input, read in batches and no further than needed."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

import numpy as np

from kgmi.alphabets import MISSING
from kgmi.errors import DataError
from kgmi.table import Table, checked_names

__all__ = ["Batches", "read_batches"]


@dataclass(frozen=True, eq=False)
class Batches:
    """Names and states of the columns, and the rows as tables, one after the other."""

    names: tuple[str, ...]
    states: tuple[str, ...]
    tables: Iterable[Table]


def read_batches(stream: TextIO, states: Sequence[str], header: bool, missing: str, size: int) -> Batches:
    """Rows of values separated by commas; the first line is read at once, as it names or numbers the columns."""
    lines = csv.reader(stream)
    first = next((line for line in lines if line), None)
    if first is None:
        raise DataError("standard input is empty; give a line of names and then rows, separated by commas")
    names = checked_names([cell.strip() for cell in first] if header else None, len(first))
    tables = _tables(lines, names, tuple(states), [] if header else [first], missing, size)
    return Batches(names, tuple(states), tables)


def _tables(
    lines: Iterator[list[str]],
    names: tuple[str, ...],
    states: tuple[str, ...],
    waiting: list[list[str]],
    missing: str,
    size: int,
) -> Iterator[Table]:
    code = {state: number for number, state in enumerate(states)}
    number = 0
    while True:
        batch: list[list[int]] = []
        while len(batch) < size:
            line = waiting.pop(0) if waiting else next(lines, None)
            if line is None:
                break
            number += 1
            if line:
                batch.append(_codes(line, names, code, missing, number))
        if batch:
            yield Table(np.array(batch, dtype=np.min_scalar_type(-len(states))), names, states)
        if len(batch) < size:
            return


def _codes(line: list[str], names: tuple[str, ...], code: dict[str, int], missing: str, number: int) -> list[int]:
    if len(line) != len(names):
        raise DataError(f"row {number} of standard input has {len(line)} values for {len(names)} columns")
    found = []
    for name, cell in zip(names, (cell.strip() for cell in line), strict=True):
        if cell in code:
            found.append(code[cell])
        elif cell in MISSING and missing == "pairwise":
            found.append(-1)
        else:
            what = "has no value" if cell in MISSING else f"has {cell!r}, which is not among the states"
            raise DataError(
                f"row {number} of standard input, column {name}, {what}; list all states with --states, or allow "
                "missing values with --missing pairwise"
            )
    return found
