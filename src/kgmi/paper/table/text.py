"""The numbers as tables of text, for the report and for the figure."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from statistics import fmean, stdev
from typing import Any

from kgmi.paper.experiment import Numbers
from kgmi.paper.table.rows import complete

__all__ = ["NONE", "mean_and_spread", "tables"]

NONE = "–"


def tables(numbers: Numbers) -> list[dict[str, Any]]:
    """The table, what every learner was told, and the smaller table for p = 0."""
    return [_main(numbers), _told(numbers), _weak(numbers)]


def mean_and_spread(values: Sequence[float], decimals: int) -> str:
    """Mean ± standard deviation of the sample; the mean alone of a single value."""
    mean = f"{fmean(values):.{decimals}f}"
    return f"{mean} ± {stdev(values):.{decimals}f}" if len(values) > 1 else mean


def _seconds(values: Sequence[float]) -> str:
    """Three figures of the mean, and the spread to the same place."""
    return mean_and_spread(values, max(0, 2 - floor(log10(max(fmean(values), 1e-9)))))


def _main(numbers: Numbers) -> dict[str, Any]:
    sets = f"{numbers['n_sets']} data set{'s' if numbers['n_sets'] > 1 else ''} of {numbers['n_rows']:,} rows"
    return {
        "title": f"Learners on {sets} from the 10-node graph (mean ± standard deviation)",
        "columns": ["method", "library", "order", "F1", "SHD", "seconds", "paper F1", "paper SHD", "paper s"],
        "rows": [_main_row(row, numbers) for row in numbers["rows"]],
        "note": _note(numbers),
    }


def _main_row(row: dict[str, Any], numbers: Numbers) -> list[str]:
    paper = numbers["paper"].get(row["paper"])
    theirs = [f"{paper[0]:.3f}", f"{paper[1]:.1f}", f"{paper[2]:.3f}"] if paper else [NONE] * 3
    if complete(row, numbers):
        found = [mean_and_spread(row["f1"], 3), mean_and_spread(row["shd"], 1), _seconds(row["seconds"])]
    else:
        found = [NONE, NONE, row["trouble"]]
    return [row["name"], _library(row), _order(row), *found, *theirs]


def _note(numbers: Numbers) -> str:
    strict = [
        f"{row['name']} ({row['library']}) {fmean(row['f1_strict']):.3f}"
        for row in numbers["rows"]
        if complete(row, numbers) and any(row["n_undirected"])
    ]
    instead = f" Counted as wrong instead, F1 would be {', '.join(strict)}." if strict else ""
    return (
        "Seconds: the learning call alone, in a process of its own after a warm-up, median of up to 21 calls; "
        "«first call» is that of a new process for each data set, which still has to load SciPy and the like. "
        "Libraries use as many threads as they like. KG-MI starts from the raw codes, so counting and what it "
        "derives from the kernel are included; the others get the rows in their own format. KG-MI knows the "
        "kernel, the others do not; all are told that a node has at most two parents where they can be told. "
        "Learners without the order answer with an equivalence class; an edge without a direction counts as right "
        f"if the link is right, since the order would settle it.{instead} A wrong direction counts once in SHD. "
        "Links between the two jointly drawn roots count neither for nor against. The paper gives no p: these have "
        f"the largest information gap of the population (Δ = {numbers['gap']:.4f}) of those of 2,000 random p for "
        "which theorem 3's conclusion is true (the best candidate of each of the 16 heads is its parent); no data "
        "involved."
    )


def _told(numbers: Numbers) -> dict[str, Any]:
    rows = []
    for row in numbers["rows"]:
        reading = _seconds(row["prepare_seconds"]) if complete(row, numbers) else NONE
        ours = row["library"] == "kgmi"
        rows.append([row["name"], _library(row), _order(row), row["setting"], "0 (raw codes)" if ours else reading])
    return {
        "title": "What each learner was told, and the seconds that reading the rows took it besides",
        "columns": ["method", "library", "order", "setting", "seconds to read the rows"],
        "rows": rows,
        "note": "K = 2 is the number of parents. Reading the rows is not part of the seconds of the table.",
    }


def _weak(numbers: Numbers) -> dict[str, Any]:
    n_sets = numbers["n_weak_sets"]
    rows = []
    for row in (row for row in numbers["rows"] if row["in_weak_table"]):
        weak, found = row["weak"], [NONE, NONE, row["trouble"] or NONE]
        if len(weak["f1"]) == n_sets:
            exact = f"{sum(f1 == 1 for f1 in weak['f1'])} of {n_sets}"
            found = [exact, mean_and_spread(weak["f1"], 3), _seconds(weak["seconds"])]
        rows.append([row["name"], _library(row), _order(row), *found])
    return {
        "title": f"The same with all p = 0: {n_sets} data sets of {numbers['n_rows']:,} rows",
        "columns": ["method", "library", "order", "all edges found", "F1", "seconds"],
        "rows": rows,
        "note": (
            f"Here the information gap is small (Δ = {numbers['weak_gap']:.4f}): the best and the second best "
            "candidate of some heads are so close that KG-MI, which looks at pairs of columns, sometimes confuses "
            "them. Learners that score a node with both parents at once can tell them apart better."
        ),
    }


def _library(row: dict[str, Any]) -> str:
    return f"{row['library']} {row['version']}" if row["version"] else str(row["library"])


def _order(row: dict[str, Any]) -> str:
    return "given" if row["ordered"] else "unknown"
