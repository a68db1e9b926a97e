"""``update``: further rows join those behind a saved result, and the graph is learned anew from all of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgmi.counting import Counts
from kgmi.counting.filtered import told_filter
from kgmi.counting.merge import merge
from kgmi.errors import CountsError, RecordError, SettingError
from kgmi.learning import Learned
from kgmi.learning.asked import READING, asked_of
from kgmi.learning.counted import count
from kgmi.learning.learn import learn
from kgmi.learning.options import check_options, stream_options
from kgmi.learning.origin import origin_of
from kgmi.penalty import PENALTIES
from kgmi.record import load
from kgmi.record.joining import check_filter, check_grown, check_new, filter_before, lacking
from kgmi.record.kept import counts_behind, read_counts
from kgmi.record.likewise import called_as_now, check_numbers, columns_before
from kgmi.record.recoding import recoded
from kgmi.record.storage import read_record
from kgmi.types import PathLike

if TYPE_CHECKING:
    from kgmi.streams import Stream

__all__ = ["update"]

_UNKNOWN = "nobody can tell whether rows come twice"
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
        The folder of a saved result that keeps counts of its rows (``rows-….counts``), or a result that was learned
        from a stream or from counts.
    rows
        The new rows: anything that :func:`kgmi.stream` takes, a stream, or :class:`kgmi.Counts` of them. They need
        the columns of the result, and no states that it does not know. Rows that it has already are refused, where
        they come from the same files or from copies of them.
    checkpoint, cluster, memory_limit
        As for :func:`kgmi.learn`.
    **reading
        Options of :func:`kgmi.stream` that are not as for the first rows: ``header=False`` where a text file has no
        first line of names. A ``where`` that is an expression of PyArrow is not known: give it again. ``columns``
        and ``names`` say which columns of the new rows are those of the result, where they are called otherwise
        than in the first ones. Rows that went through another filter than those of the result are refused.
    """
    check_options(reading, stream_options(), "kgmi.update", ("checkpoint", "cluster", "memory_limit"))
    before, counts = _behind(record)
    if isinstance(rows, Counts):
        _check_counted(rows, {"checkpoint": checkpoint, "cluster": cluster} | reading)
    else:
        label = "the result" if isinstance(record, Learned) else f"the result {record}"
        opened = _opened(before, counts, rows, reading, label)
        rows = count(opened, width=counts.tally.width, checkpoint=checkpoint, cluster=cluster)
    check_filter(counts, rows.reading)
    check_new(counts, ((mark, "some of these counts") for mark in (*rows.marks, *rows.contents)))
    total = merge([counts, recoded(counts, rows)], labels=["the result", "counts of the new rows"])
    return _learned_again(before, total, memory_limit)


def _behind(record: PathLike | Learned) -> tuple[Learned, Counts]:
    """A result and the counts of its rows."""
    if isinstance(record, Learned):
        counts = counts_behind(record)
        if counts is None:
            raise RecordError(_without_counts(record))
        learned = record
    else:
        folder = Path(record)
        folder = folder if folder.is_dir() else folder.parent
        learned, counts = load(record), read_counts(folder, read_record(folder / "record.json"))
    if not counts.marks:
        raise RecordError(
            "the rows of this result came through KGMI.partial_fit, or as counts without fingerprints, so that "
            f"{_UNKNOWN}: go on with partial_fit, or learn from all rows at once"
        )
    return learned, counts


def _without_counts(learned: Learned) -> str:
    """Why no rows can be added to a result."""
    if learned.witness is not None and learned.witness.data.counts is not None:
        return (
            "this result has so many columns that only sets of likely parents were counted, and other rows may "
            "have other likely parents: learn from all rows at once"
        )
    return (
        "this result was learned from rows, and no counts of them were kept: learn from kgmi.stream(…), or give "
        "the folder that kgmi learn --out wrote"
    )


def _check_counted(rows: Counts, told: dict[str, Any]) -> None:
    """Refuse counts of nobody knows which rows, and options that say how rows are counted."""
    if given := [name for name, value in told.items() if value is not None]:
        raise SettingError(f"{given[0]} says how rows are read or counted; these are counted already: leave it out")
    if not rows.marks:
        raise CountsError(f"these counts do not say which rows they are of, so that {_UNKNOWN}")


def _opened(before: Learned, counts: Counts, rows: Any, reading: dict[str, Any], label: str) -> Stream:
    """New rows, to be read as those before were; none of them is among these."""
    from kgmi.streams import Stream, stream
    from kgmi.streams.filters import UnknownColumn

    if isinstance(rows, Stream) and reading:
        raise SettingError(f"{next(iter(reading))} says how rows are read; give it to kgmi.stream")
    if isinstance(rows, Stream):
        opened, declared_again = rows, rows.rules.states is not None
    else:
        told, declared_again = _reading(before, counts, rows, reading), "states" in reading
        try:
            try:
                opened = stream(rows, **told)
            except UnknownColumn as error:
                if (called := called_as_now(counts, rows, error, reading)) is None:
                    raise
                opened = stream(rows, **(told | called))
        except UnknownColumn as error:
            if error.option in reading:  # whoever asked for it is here
                raise
            raise lacking(counts, rows, error, label) from None
    if not declared_again:
        check_numbers(counts, _declared(before, counts), opened)
    check_filter(counts, told_filter(opened))
    check_new(counts, ((fragment.mark, fragment.label) for fragment in opened.fragments))  # before any is read
    check_new(counts, opened.files.items())
    check_grown(counts, opened)
    return opened


def _reading(before: Learned, counts: Counts, rows: Any, given: dict[str, Any]) -> dict[str, Any]:
    """How rows are read: as those before were, but for what is ``given``."""
    told = origin_of(before.configuration)[2]
    missing, alphabet = counts.reading.get("missing", "error"), counts.reading.get("alphabet", "auto")
    known = before.kernel if before.configuration.get("kernel_source") == "known" else None
    declared = None if given.get("alphabet") == "own" else _declared(before, counts)
    sized = None if known is None or declared is not None or alphabet == "own" else known.n_states
    return {
        **columns_before(counts, given),
        "where": None if "where" in given else filter_before(counts),
        "states": declared,
        "n_states": told.get("n_states", sized),
        "missing": missing,
        "alphabet": alphabet,
        "header": told.get("header", True) or not _are_texts(rows),
    } | given


def _declared(before: Learned, counts: Counts) -> list[str] | None:
    """The states that were declared for the rows before."""
    declared: list[str] | None = counts.reading.get("states", origin_of(before.configuration)[2].get("states"))
    return declared


def _are_texts(rows: Any) -> bool:
    """Whether these are text files, or folders and patterns of such."""
    paths = rows if isinstance(rows, list | tuple) else [rows]
    if not paths or not all(isinstance(path, str | Path) for path in paths):
        return False
    from kgmi.streams.listing import find_files

    return find_files(paths).kind == "text"


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
