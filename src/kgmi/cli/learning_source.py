"""What ``kgmi learn`` is to learn from: one table in memory, rows that are streamed, counts, or an example."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgmi.cli.choices import AlphabetName, GuideName, KernelSourceName, MissingName
from kgmi.cli.counts_files import COUNTS_ENDING, is_checkpoint, one_file_of_counts
from kgmi.cli.display import live
from kgmi.cli.limits import read_names
from kgmi.cli.preparing import prepared_source
from kgmi.cli.sources import Source, check_codes, check_tail, example_source, file_source, read_known
from kgmi.cli.streaming import read_columns, read_sources, read_where
from kgmi.errors import KgmiError, SettingError
from kgmi.graph.naming import shown_list
from kgmi.memory import free_bytes
from kgmi.sources import DELIMITERS, ending_of

if TYPE_CHECKING:
    from kgmi.sources import Stream

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
    in_memory, asked = _needs_memory(told), [name for name in _STREAMED if told[name]]
    several = len(sources) > 1 or Path(sources[0]).is_dir() or _is_pattern(sources[0])
    if in_memory and (several or asked or told["stream"]):
        what = "several files are read" if several else f"--{asked[0] if asked else 'stream'} reads them"
        instead = f"give one file, or leave {in_memory} out" if several else "leave one of these options out"
        raise SettingError(f"{in_memory} needs all rows in memory, and {what} in pieces; {instead}")
    if told["stream"] is False and (several or asked):
        what = "several files are read" if several else f"--{asked[0]} reads it"
        raise SettingError(f"--no-stream reads one file whole, and {what} in pieces; leave --no-stream out")
    if several or asked or told["stream"] or (told["stream"] is None and not in_memory and _is_large(told)):
        return _streamed(told)
    return _table(Path(sources[0]), told)


def _refuse_results(sources: Sequence[str]) -> None:
    """Refuse the folder of a result, whose files would be read as tables, and that of a checkpoint."""
    for source in sources:
        if is_checkpoint(Path(source)):
            raise SettingError(
                f"{source} is a checkpoint, not a table; to go on from there, run the command that began it once "
                f"more, with --checkpoint {shlex.quote(source)}"
            )
        if (Path(source) / "record.json").is_file():
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


def _table(file: Path, told: Mapping[str, Any]) -> Source:
    """One file, read whole."""
    with live("reading", quiet=told["json"]):
        if told["prepare"]:
            given = {name: told[name] for name in ("states", "kernel", "windows")} | {"guide": _is_labelled(told)}
            return prepared_source(file, told["parents"], told["header"], told["missing"], told["alphabet"], given)
        return file_source(
            file,
            kernel_spec=told["kernel"],
            p=told["p"],
            parents=told["parents"],
            states=told["states"],
            header=told["header"],
            tailed=_is_labelled(told),
            missing=told["missing"].value,
            alphabet=told["alphabet"].value,
        )


def _counted(source: str, told: Mapping[str, Any]) -> Source:
    """A file of counts."""
    from kgmi.counts.counted import CountedTable

    why = "the rows of a file of counts were read and counted before"
    _refuse(told, (*_STREAMED, "stream", "prepare", "windows", "device"), why)
    if any(told[name] != usual for name, usual in _USUAL.items()):
        raise SettingError(f"--no-header, --missing and --alphabet do nothing here: {why}")
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


def _streamed(told: Mapping[str, Any]) -> Source:
    """Rows that are read in pieces."""
    kernel, _ = read_known(told["kernel"], told["p"], told["states"])
    stream = open_stream(told, None if kernel is None else kernel.n_states)
    check_tail(stream.names, stream.description)
    return Source(stream, stream.names, kernel, told["parents"])


def open_stream(told: Mapping[str, Any], n_states: int | None) -> Stream:
    """The rows that were named, before any is read."""
    from kgmi.sources import stream

    own = told["alphabet"] is AlphabetName.own
    return stream(
        read_sources(told["sources"]),
        columns=read_columns(told["columns"]),
        where=read_where(told["where"]),
        states=None if told["states"] is None else read_names(told["states"], "--states"),
        n_states=None if own or told["states"] is not None else n_states,
        missing=told["missing"].value,
        alphabet=told["alphabet"].value,
        header=told["header"],
    )


def _is_large(told: Mapping[str, Any]) -> bool:
    """Whether a file is better streamed: it would take long, or much memory, to read it whole."""
    path = Path(told["sources"][0])
    if not path.is_file():
        return False
    if ending_of(path) in DELIMITERS:
        return path.stat().st_size > (_MOST_PACKED if path.suffix.lower() == ".gz" else _MOST_TEXT)
    try:
        stream = open_stream(told, None)
    except KgmiError:
        return False
    n_cells = (stream.n_rows or 0) * len(stream.names)
    if n_cells <= _MOST_CELLS or _counts_fit(stream, told):
        return n_cells > _MOST_CELLS
    free = free_bytes()  # of counts that do not fit, short lists of candidates are made: only where rows do not fit
    return free is not None and n_cells * _CELL_BYTES > free


def _counts_fit(stream: Stream, told: Mapping[str, Any]) -> bool:
    """Whether counts of all sets of columns, with the states of the first rows, fit into memory."""
    from kgmi.counting.first import first_seen
    from kgmi.counting.part import MOST_BYTES
    from kgmi.learning.counted import counted_parents
    from kgmi.learning.settings import SEARCHING
    from kgmi.statistics.tally import family_width, tally_bytes

    guide = "likelihood" if told["guide"] is None else told["guide"].value
    if guide not in SEARCHING:
        return True
    n_nodes, seen = len(stream.names), first_seen(stream)
    heads = counted_parents(n_nodes, guide, told["parents"])
    width = family_width(heads, n_nodes, has_gaps=stream.rules.missing == "pairwise")
    return tally_bytes(seen.sizes, width, has_gaps=seen.has_gaps) <= MOST_BYTES


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
            raise SettingError(f"--{name} does nothing here: {why}")
