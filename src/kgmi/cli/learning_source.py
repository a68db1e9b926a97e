"""What ``kgmi learn`` is to learn from: one table in memory, rows that are streamed, counts, or an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from glob import has_magic
from os.path import isfile
from pathlib import Path
from typing import Any

from kgmi.alphabets import Alphabet
from kgmi.cli.choices import AlphabetName, GuideName, KernelSourceName, MissingName
from kgmi.cli.counts_files import COUNTS_ENDING, one_file_of_counts
from kgmi.cli.display import live
from kgmi.cli.limits import read_names
from kgmi.cli.preparing import preparation
from kgmi.cli.sources import Source, check_codes, check_tail, example_source, labelled_source, read_known
from kgmi.cli.streaming import read_columns, read_sources, read_where
from kgmi.counts.counted import MOST_BYTES, CountedTable
from kgmi.counts.stream import first_sizes
from kgmi.counts.tally import family_width, tally_bytes
from kgmi.errors import SettingError
from kgmi.graph.naming import shown_list
from kgmi.learning.counted import counted_parents
from kgmi.learning.settings import SEARCHING
from kgmi.memory import free_bytes
from kgmi.prepare import prepare
from kgmi.sources import stream
from kgmi.sources.base import Stream
from kgmi.sources.files import Files

__all__ = ["COUNTS_ENDING", "open_stream", "read_source"]

_MOST_CELLS = 20_000_000  # of a table that is read whole: that takes 300 MB and more (measured November 2026)
_CELL_BYTES = 8  # of a table that is read whole
_MOST_TEXT = 100_000_000  # bytes of text, for the same reason
_MOST_PACKED = 15_000_000  # bytes of compressed text
_STREAMED = ("columns", "where", "checkpoint", "cluster")
_USUAL = {"header": True, "missing": MissingName.error, "alphabet": AlphabetName.auto}


def read_source(told: Mapping[str, Any]) -> Source:
    """Open or read what was named, by the options of ``kgmi learn`` as they were told."""
    sources: list[str] = told["sources"] or []
    if bool(sources) == (told["example"] is not None):
        raise SettingError("give one table: a FILE (or several, a folder, a pattern), or --example NAME")
    if not sources:
        return _example(told)
    if any(source.endswith(COUNTS_ENDING) for source in sources):
        return _counted(one_file_of_counts(sources), told)
    _refuse_results(sources)
    for name, instead in (("missing_values", "--missing"), ("drop", "--columns")):
        if told[name] and not told["prepare"]:
            raise SettingError(f"--{name.replace('_', '-')} goes with --prepare; add it, or use {instead}")
    if told["windows"] and told["where"]:
        raise SettingError("--windows takes neighbouring rows, and --where leaves some out; leave out one of them")
    in_memory, asked = _needs_memory(told), [name for name in ("checkpoint", "cluster") if told[name]]
    if in_memory and (asked or told["stream"]):
        raise SettingError(
            f"{in_memory} needs all rows in memory, and --{asked[0] if asked else 'stream'} counts them in pieces; "
            "leave one of these options out"
        )
    if told["stream"] is False and asked:
        raise SettingError(f"--no-stream reads all rows into memory, and --{asked[0]} counts them in pieces")
    if told["prepare"]:
        return _prepared(told)
    kernel, declared = read_known(told["kernel"], told["p"], told["states"])
    rows = open_stream(told, None if kernel is None else kernel.n_states)
    whole = in_memory or told["stream"] is False or (told["stream"] is None and not asked and _is_small(rows, told))
    if not whole:
        check_tail(rows.names, rows.description)
        return Source(rows, rows.names, kernel, told["parents"])
    with live("reading", quiet=told["json"]):
        table = rows.table()
    if kernel is not None and declared is None:
        check_codes(kernel, table.states)
    if not _is_labelled(told):
        check_tail(table.names, rows.description)
        return Source(table, table.names, kernel, told["parents"])
    return labelled_source(table, rows.description, kernel, told["parents"])


def _refuse_results(sources: Sequence[str]) -> None:
    """Refuse the folder of a result, whose files would be read as tables."""
    for source in sources:
        if isfile(Path(source) / "record.json"):
            raise SettingError(
                f"{source} is a result, not a table: look at it with kgmi show {source}, or learn from all rows"
            )


def _example(told: Mapping[str, Any]) -> Source:
    as_it_is = told["states"] is None and all(told[name] == usual for name, usual in _USUAL.items())
    if not as_it_is or told["prepare"]:
        raise SettingError(
            "--states, --no-header, --missing, --alphabet and --prepare say how a FILE is read; the example "
            "knows all that"
        )
    _refuse(told, (*_STREAMED, "stream"), "the example is a small table in memory")
    return example_source(told["example"], told["kernel"], told["p"], told["parents"], told["guide"])


def _prepared(told: Mapping[str, Any]) -> Source:
    """One file, made ready for learning."""
    for name in ("where", "windows"):
        if told[name]:
            raise SettingError(
                f"--prepare looks at one whole file, and --{name} does not go with it; leave one out"
            )
    if len(told["sources"]) > 1 or Path(told["sources"][0]).is_dir() or _is_pattern(told["sources"][0]):
        raise SettingError("--prepare takes one file; give one, or join the files first")
    if _is_labelled(told):
        raise SettingError(
            "--prepare does not know which columns are a labelled tail; leave one of these options out"
        )
    kernel, declared = read_known(told["kernel"], told["p"], told["states"])
    with live("reading", quiet=told["json"]):
        prepared = prepare(
            Path(told["sources"][0]),
            header=told["header"],
            states=declared,
            n_states=None if kernel is None or declared is not None else kernel.n_states,
            missing="category" if told["missing"] is MissingName.category else "pairwise",
            alphabet=_alphabet(told),
            **preparation(told),
        )
    return Source(prepared, prepared.table.names, kernel, told["parents"])


def _counted(source: str, told: Mapping[str, Any]) -> Source:
    """A file of counts."""
    why = "the rows of a file of counts were read and counted before"
    if told["stream"] is False:
        raise SettingError(f"--no-stream does nothing here: {why}")
    _refuse(told, (*_STREAMED, "stream", "prepare", "drop", "missing_values", "windows", "device"), why)
    if changed := [name for name, usual in _USUAL.items() if told[name] != usual]:
        raise SettingError(f"--{'no-' * (changed[0] == 'header')}{changed[0]} does nothing here: {why}")
    if _is_labelled(told):
        raise SettingError("labelled rows are learned from one by one, not from counts")
    counts = CountedTable.load(source)
    kernel, declared = read_known(told["kernel"], told["p"], told["states"])
    if declared is not None and tuple(declared) != counts.states:
        shown = shown_list(counts.states[:8], ",")
        raise SettingError(f"the states of {source} are {shown}, in this order; to change that, count again")
    if kernel is not None and declared is None:
        check_codes(kernel, counts.states)
    return Source(counts, counts.names, kernel, told["parents"])


def open_stream(told: Mapping[str, Any], n_states: int | None) -> Stream:
    """The rows that were named, before any is read."""
    alphabet = _alphabet(told)
    own = alphabet == "own"
    return stream(
        read_sources(told["sources"]),
        columns=read_columns(told["columns"]),
        where=read_where(told["where"]),
        states=None if told["states"] is None else read_names(told["states"], "--states"),
        n_states=None if own or told["states"] is not None else n_states,
        missing=told["missing"].value,
        alphabet=alphabet,
        header=told["header"],
    )


def _alphabet(told: Mapping[str, Any]) -> Alphabet:
    """Return which columns share an alphabet: some options need one for all columns."""
    needs_one = told["guide"] is GuideName.contextual or told["device"]
    chosen: Alphabet = told["alphabet"].value
    return "shared" if needs_one and chosen == "auto" else chosen


def _is_small(rows: Stream, told: Mapping[str, Any]) -> bool:
    """Whether all rows are better read into memory: they take little of it, or counts of them would take more."""
    if rows.n_rows is None:
        held = rows.held if isinstance(rows, Files) else ()
        is_packed = any(one.path.lower().endswith(".gz") for one in held)
        return sum(one.size for one in held) <= (_MOST_PACKED if is_packed else _MOST_TEXT)
    n_cells = rows.n_rows * len(rows.names)
    if n_cells <= _MOST_CELLS:
        return True
    free = free_bytes()  # of counts that do not fit, short lists of candidates are made: only where rows do not fit
    return not _counts_fit(rows, told) and (free is None or n_cells * _CELL_BYTES <= free)


def _counts_fit(rows: Stream, told: Mapping[str, Any]) -> bool:
    """Whether counts of all sets of columns, with the states of the first rows, fit into memory."""
    guide = "likelihood" if told["guide"] is None else told["guide"].value
    if guide not in SEARCHING:
        return True
    heads = counted_parents(len(rows.names), guide, told["parents"])
    width = family_width(heads, len(rows.names), has_gaps=rows.rules.missing == "pairwise")
    sizes, has_gaps = first_sizes(rows)
    return tally_bytes(sizes, width, has_gaps=has_gaps) <= MOST_BYTES


def _is_pattern(source: str) -> bool:
    return has_magic(source) and not Path(source).exists()


def _is_labelled(told: Mapping[str, Any]) -> bool:
    return told["guide"] is GuideName.labelled or told["kernel_source"] is KernelSourceName.labelled


def _needs_memory(told: Mapping[str, Any]) -> str | None:
    """The option that takes all rows at once, if there is one."""
    options = {"prepare": "--prepare", "windows": "--windows", "device": "--device"}
    found = told.get("needs_rows") or next((option for name, option in options.items() if told[name]), None)
    if found or not _is_labelled(told):
        return found
    return f"--{'guide' if told['guide'] is GuideName.labelled else 'kernel-source'} labelled"


def _refuse(told: Mapping[str, Any], names: Sequence[str], why: str) -> None:
    for name in names:
        if told[name] not in (None, False, []):
            raise SettingError(f"--{name.replace('_', '-')} does nothing here: {why}")
