"""``update``: further rows join those behind a saved result, and the graph is learned anew from all of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kgmi.counting import Counts
from kgmi.counting.merge import merge
from kgmi.data.kinds import DELIMITERS, ending_of
from kgmi.errors import CountsError, RecordError, SettingError
from kgmi.learning import Learned
from kgmi.learning.asked import READING, asked_of
from kgmi.learning.counted import count
from kgmi.learning.learn import learn
from kgmi.learning.origin import origin_of, stream_of
from kgmi.penalty import PENALTIES
from kgmi.record import load
from kgmi.record.kept import counts_behind, read_counts
from kgmi.record.recoding import recoded
from kgmi.record.storage import read_record
from kgmi.types import PathLike

__all__ = ["update"]

_NOT_OF_LEARN = (*READING, "names", "prepare", "windows")


def update(
    record: PathLike | Learned,
    rows: Any,
    *,
    checkpoint: PathLike | None = None,
    cluster: Any = None,
    memory_limit: int | str | None = None,
    **reading: Any,
) -> Learned:
    """Learn from further rows and from all that came before, with the settings of the result that there is.

    The graph, the kernels and the scores are those of all rows learned from at once. Nothing is written:
    :func:`kgmi.save` keeps the new result, and the counts of all its rows, for the next update.

    Parameters
    ----------
    record
        The folder of a saved result that keeps counts of its rows (``rows.counts``), or a result that was learned
        from a stream or from counts.
    rows
        The new rows: anything that :func:`kgmi.stream` takes, a stream, or :class:`kgmi.Counts` of them. They need
        the columns of the result, and no states that it does not know. Rows that it has already are refused, where
        they come from the same files or from copies of them.
    checkpoint, cluster, memory_limit
        As for :func:`kgmi.learn`.
    **reading
        Options of :func:`kgmi.stream` that are not as for the first rows: ``header=False`` where a text file has no
        first line of names. Of a result of the command line all are known; one that was learned in Python does not
        know ``where`` and ``states`` that its stream was told: give them again.
    """
    before, counts = _behind(record)
    if not isinstance(rows, Counts):
        rows = _counted(before, counts, rows, checkpoint, cluster, reading)
    _check_new(counts, ((mark, "some of these counts") for mark in (*rows.marks, *rows.contents)))
    total = merge([counts, recoded(counts, rows)], labels=["the result", "counts of the new rows"])
    return _learned_again(before, total, memory_limit)


def _behind(record: PathLike | Learned) -> tuple[Learned, Counts]:
    """A result and the counts of its rows."""
    if isinstance(record, Learned):
        counts = counts_behind(record)
        if counts is None:
            raise RecordError(
                "this result was learned from rows, and no counts of them were kept: learn from kgmi.stream(…), or "
                "give the folder that kgmi learn --out wrote"
            )
        return record, counts
    folder = Path(record)
    folder = folder if folder.is_dir() else folder.parent
    return load(record), read_counts(folder, read_record(folder / "record.json"))


def _counted(
    before: Learned, counts: Counts, rows: Any, checkpoint: PathLike | None, cluster: Any, reading: dict[str, Any]
) -> Counts:
    """Counts of new rows, read as those before were."""
    from kgmi.streams import Stream, stream

    if isinstance(rows, Stream) and reading:
        raise SettingError(f"{next(iter(reading))} says how rows are read; give it to kgmi.stream")
    if not isinstance(rows, Stream):
        rows = stream(rows, **_reading(before, counts, rows) | reading)
    _check_new(counts, ((fragment.mark, fragment.label) for fragment in rows.fragments))  # before anything is read
    _check_new(counts, rows.files.items())
    return count(rows, width=counts.tally.width, checkpoint=checkpoint, cluster=cluster)


def _reading(before: Learned, counts: Counts, rows: Any) -> dict[str, Any]:
    """How rows are read: as those before were."""
    told = origin_of(before.configuration)[2]
    missing, alphabet = counts.reading.get("missing", "error"), counts.reading.get("alphabet", "shared")
    known = before.kernel if before.configuration.get("kernel_source") == "known" else None
    sized = None if known is None or "states" in told or alphabet == "own" else known.n_states
    return {
        "columns": list(counts.names),
        "where": _where(before),
        "states": told.get("states"),
        "n_states": told.get("n_states", sized),
        "missing": missing,
        "alphabet": alphabet,
        "header": told.get("header", True) or not _are_texts(rows),
    }


def _are_texts(rows: Any) -> bool:
    """Whether these are text files, by their names."""
    paths = rows if isinstance(rows, list | tuple) else [rows]
    return all(isinstance(path, str | Path) and ending_of(Path(path)) in DELIMITERS for path in paths)


def _check_new(counts: Counts, found: Iterable[tuple[str, str]]) -> None:
    """Refuse rows (mark, label) that are among those of the result."""
    known = {*counts.marks, *counts.contents}
    twice = [label for mark, label in found if mark in known]
    if twice:
        more = f" and {len(set(twice)) - 1:,} more" if len(set(twice)) > 1 else ""
        raise CountsError(
            f"the rows of {twice[0]}{more} are among those of the result already, and would count twice; leave "
            "them out"
        )


def _where(before: Learned) -> list[Any] | None:
    """The filter that the rows before went through."""
    told = stream_of(before.configuration).get("where")
    return [tuple(one) for one in told] if isinstance(told, list) and told else None


def _learned_again(before: Learned, counts: Counts, memory_limit: int | str | None) -> Learned:
    """The result of all counts with the settings of the one before, which says where it comes from as that did."""
    told = before.configuration
    _check_settings(told)
    asked = {name: value for name, value in asked_of(before).items() if name not in _NOT_OF_LEARN}
    known = before.kernel if told.get("kernel_source") == "known" else None
    learned = learn(counts, kernel=known, memory_limit=memory_limit, **asked)
    if "reading" in told:
        learned.configuration["reading"] = told["reading"]
    origin = told["origin"] if isinstance(told.get("origin"), dict) else {}
    learned.configuration["origin"] = origin | {"table": None, "command": None}  # no table has all rows
    return learned


def _check_settings(told: dict[str, Any]) -> None:
    """Refuse what a record does not keep in full."""
    penalty = str(told.get("penalty", "nml"))
    try:
        float(penalty)
    except ValueError:
        if penalty not in PENALTIES:
            raise RecordError(
                f"the price of parameters of this result was a function of its own ({penalty}), which a record "
                "does not keep: learn from all rows at once"
            ) from None
