"""Reading the rows of the numbers: which are complete, what they stand for, and how they are called."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import Any

from kgmi.paper.experiment import Numbers

__all__ = [
    "BASELINES",
    "absent_rows",
    "complete",
    "in_words",
    "label_of",
    "ours_row",
    "ratios",
    "seconds_of",
    "spread_of",
    "standing_for",
]

BASELINES = ("NOTEARS", "PC", "MMHC", "HC", "A*")


def complete(row: dict[str, Any], numbers: Numbers) -> bool:
    """Whether the learner answered every data set of the table."""
    return bool(len(row["f1"]) == numbers["n_sets"])


def ours_row(numbers: Numbers) -> dict[str, Any]:
    """The row of our gradient ascent, the paper's method."""
    row: dict[str, Any] = next(row for row in numbers["rows"] if row["key"] == "kgmi")
    return row


def standing_for(numbers: Numbers, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Complete rows that stand for one of these rows of the paper."""
    return [row for row in numbers["rows"] if row["paper"] in names and complete(row, numbers)]


def absent_rows(numbers: Numbers, names: tuple[str, ...]) -> list[str]:
    """A few words for each of the paper's rows for which nothing ran to the end."""
    measured = {row["paper"] for row in standing_for(numbers, names)}
    found = []
    for name in (name for name in names if name not in measured):
        reasons = [
            row["trouble"] if row["version"] else f"{row['library']} not installed"
            for row in numbers["rows"]
            if row["paper"] == name
        ]
        found.append(f"{name} not measured ({', '.join(dict.fromkeys(reasons))})")
    return found


def ratios(numbers: Numbers, reading: bool = False) -> list[tuple[float, dict[str, Any]]]:
    """Seconds of every complete row that stands for one of the paper's, with or without ``reading``, over ours."""
    ours = ours_row(numbers)
    if not complete(ours, numbers):
        return []
    found = []
    for row in standing_for(numbers, BASELINES):
        seconds = fmean(row["seconds"]) + (fmean(row["prepare_seconds"]) if reading else 0.0)
        found.append((seconds / fmean(ours["seconds"]), row))
    return found


def label_of(row: dict[str, Any]) -> str:
    """A learner by name, library and, where it has none, order."""
    if row["library"] == "kgmi":
        return str(row["name"])
    order = "" if row["ordered"] else ", no order"
    return f"{row['name']} ({row['library']}{order})"


def seconds_of(row: dict[str, Any]) -> str:
    """Its mean time in words."""
    return in_words(fmean(row["seconds"])) if row["seconds"] else "not measured"


def spread_of(row: dict[str, Any]) -> float:
    """Standard deviation of its times; 0 with a single one."""
    return stdev(row["seconds"]) if len(row["seconds"]) > 1 else 0.0


def in_words(seconds: float) -> str:
    """A time in milliseconds below a second."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
