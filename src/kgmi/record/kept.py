"""Counts of the rows behind a result, which are kept beside its record so that further rows can join them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from kgmi.counting import Counts
from kgmi.counting.plausible import wrong_name
from kgmi.errors import CountsError, RecordError
from kgmi.learning import Learned
from kgmi.learning.inputs import Input
from kgmi.learning.origin import origin_of
from kgmi.outputs import is_ours
from kgmi.record.storage import read_record
from kgmi.statistics.tally import family_width, tally_bytes
from kgmi.statistics.tallying import tally_rows

__all__ = [
    "COUNTS_PATTERN",
    "check_counts",
    "counts_behind",
    "counts_content",
    "counts_name",
    "counts_of_table",
    "kept_name",
    "read_counts",
    "refuse_counts",
]

COUNTS_PATTERN = f"rows-{'[0-9a-f]' * 16}.counts"
"""Of the names of files of counts, beside ``record.json``."""

_FIRST_NAME = "rows.counts"  # of all such files, before they were named by their content

_MOST_BYTES = 16_000_000  # of the counts of a table
_MOST_WORK = 80_000_000_000  # rows times counts: a third of a second on one core (measured November 2026)


def counts_behind(learned: Learned) -> Counts | None:
    """The counts that a result was learned from, columns as they came; None where it was learned from rows."""
    counts = None if learned.witness is None else learned.witness.data.counts
    if counts is None or counts.tally.sets is not None:  # which sets are counted depends on the rows
        return None
    return _as_it_came(counts, learned.order)


def counts_of_table(learned: Learned, marks: Sequence[str], contents: Sequence[str] = ()) -> Counts | None:
    """Counts of the table that a result was learned from, where they are cheap and enough to learn it again.

    ``marks`` and ``contents`` are those of the file, by which rows that come twice are noticed.
    """
    witness = learned.witness
    if witness is None or not marks or witness.data.table is None or not _is_countable(witness.data):
        return None
    settings, table = witness.settings, witness.data.table
    if settings.guide == "labelled" or settings.kernel_source == "labelled" or settings.device is not None:
        return None
    if wrong_name(table.names):  # a file of counts has no such names
        return None
    n_rows, n_nodes = table.codes.shape
    told = learned.configuration.get("reading", {})
    reading = {"missing": told.get("missing", "error"), "alphabet": told.get("alphabet", "auto")}
    if "states" in told:
        reading["states"] = told["states"]
        if (origin_of(learned.configuration)[0] or "").endswith(".npy"):
            reading["placed"] = True
    if reading["missing"] == "category" and table.gap is not None:
        reading["gap"] = table.gap
    width = family_width(settings.n_heads, n_nodes, has_gaps=reading["missing"] == "pairwise")
    n_bytes = tally_bytes(table.sizes, width, has_gaps=table.n_missing > 0)
    if n_bytes > _MOST_BYTES or n_rows * n_bytes // 8 > _MOST_WORK:
        return None
    columns = np.ascontiguousarray(table.codes.T)
    tally = tally_rows(columns, table.sizes, width, has_gaps=table.n_missing > 0)
    made = Counts(
        table.names, table.states, table.alphabets, tally, tuple(marks), reading, contents=tuple(contents)
    )
    return _as_it_came(made, learned.order)


def _is_countable(data: Input) -> bool:
    """Whether the rows are what the file holds, whole and one by one."""
    assert data.table is not None
    windowed = data.candidates.rules.only_children is not None
    return data.weights is None and not windowed and not data.prepared and not data.cut


def _as_it_came(counts: Counts, order: Sequence[int]) -> Counts:
    places = np.argsort(np.array(order)).tolist()
    return counts if places == list(range(len(places))) else counts.in_order(places)


def check_counts(learned: Learned, counts: Counts) -> None:
    """Refuse to keep counts of other rows beside a result."""
    names = [name for _, name in sorted(zip(learned.order, learned.names, strict=True))]
    same = list(counts.names) == names and counts.states == learned.states
    if not same or counts.n_rows != learned.configuration.get("n_rows"):
        raise RecordError("these counts are of other columns, states or rows than those of the result")


def counts_name(counts: Counts) -> str:
    """The name of their file: others have another, so that who is killed while files are replaced loses none."""
    told = [counts.fingerprint, counts.reading, sorted(counts.marks), sorted(counts.contents)]
    return f"rows-{sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]}.counts"


def counts_content(counts: Counts | None) -> dict[str, Any]:
    """What a record says of the counts beside it."""
    kept = None if counts is None else {"file": counts_name(counts), "fingerprint": counts.fingerprint}
    return {"counts": kept}


def kept_name(folder: Path) -> str | None:
    """The name of the counts that the record of a folder says lie beside it; None where there are none."""
    try:
        return _named_in(read_record(folder / "record.json").get("counts"))
    except RecordError:
        return None


def _named_in(kept: Any) -> str | None:
    name = kept.get("file") if isinstance(kept, dict) else None
    known = isinstance(name, str) and (name == _FIRST_NAME or fnmatchcase(name, COUNTS_PATTERN))
    return name if known else None


def refuse_counts(path: Path) -> None:
    """Refuse a file of counts in the place of a record, and say what to do with it."""
    if not is_ours(path, "counts"):
        return
    beside = path.parent / "record.json"
    if fnmatchcase(path.name, COUNTS_PATTERN) and beside.is_file():
        raise RecordError(f"{path} has the counts of a result; give that: {beside}")
    raise RecordError(
        f"{path} is a file of counts, not a result: learn from it first, kgmi learn {quote(str(path))} --out result"
    )


def read_counts(folder: Path, record: dict[str, Any]) -> Counts:
    """The counts beside a record; those of another result are refused."""
    kept = record.get("counts")
    name = _named_in(kept)
    if kept is None or name is None:
        raise RecordError(
            f"{folder} keeps no counts of its rows, so that no others can join them: learn from all rows at once. "
            "Counts are kept by kgmi learn --out from version 0.7 on: of streamed rows, unless there are so many "
            "columns that short lists of candidates were made, and of a table where they are small, as long as it "
            "was not prepared"
        )
    path = folder / name
    if not path.is_file():
        raise RecordError(f"{path} is gone, so that no further rows can join: learn from all rows at once")
    counts = Counts.load(path)
    if counts.fingerprint != kept.get("fingerprint"):
        raise CountsError(
            f"{path} does not belong to the record beside it: one of them was replaced. The counts are whole; "
            f"learn from them, kgmi learn {path}, or from all rows at once"
        )
    return counts
