"""``kgmi learn --update RECORD``: further rows for a saved result."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import kgmi
from kgmi.cli.counts_files import find_counts
from kgmi.cli.display import live
from kgmi.cli.learning import check_output
from kgmi.cli.learning_report import compared, report
from kgmi.cli.learning_source import COUNTS_ENDING
from kgmi.cli.output import print_wrapped
from kgmi.cli.plan import finish_report
from kgmi.cli.results import write_results
from kgmi.cli.streaming import read_sources
from kgmi.counting import Counts
from kgmi.counting.lock import FolderLock
from kgmi.counting.merge import merge
from kgmi.errors import RecordError, SettingError
from kgmi.outputs import reads_noted
from kgmi.record.kept import counts_behind, counts_name
from kgmi.record.update import update
from kgmi.specs import read_named_graph
from kgmi.streams.listing import find_files

__all__ = ["run_update"]

_LOCK = ".update.lock"
_FORETOLD = ("plan", "spent")  # which are no settings of a result
_ALLOWED = "sources update out header checkpoint cluster memory_limit truth pictures json stream force"


def run_update(told: Mapping[str, Any]) -> None:
    """Add rows to those of a result, learn again, and write everything."""
    _check(told)
    folder: Path = told["update"].parent if told["update"].name == "record.json" else told["update"]
    if not (folder / "record.json").is_file():
        if folder.suffix == COUNTS_ENDING and folder.is_file():
            raise RecordError(
                f"{folder} is a file of counts, not a result: count the new rows, kgmi count … -o new.counts, add "
                f"both up, kgmi merge {shlex.quote(str(folder))} new.counts -o all.counts, and learn from these"
            )
        raise RecordError(f"there is no result in {folder}: give the folder that kgmi learn --out wrote")
    out = folder if told["out"] is None else told["out"]
    truth, names = (None, None) if told["truth"] is None else read_named_graph(told["truth"])
    rows = _rows(told["sources"])
    check_output({**told, "out": out})
    with _held(folder, out), live("counting", quiet=told["json"]):
        with reads_noted():  # what is read here may be replaced: the result itself
            before = kgmi.load(folder).configuration.get("n_rows")
            learned = update(
                folder,
                rows,
                checkpoint=told["checkpoint"],
                cluster=told["cluster"],
                memory_limit=told["memory_limit"],
                **({} if told["header"] else {"header": False}),
            )
        counts = counts_behind(learned)
        assert counts is not None  # it was learned from counts
        _keep_origin(learned.configuration, out / counts_name(counts))
        finish_report(learned)
        _ = learned.trust  # made now, while it is told how far it is
        written = write_results(learned, out, pictures=told["pictures"], force=told["force"])
    if not told["json"]:
        n_rows = learned.configuration["n_rows"]
        print_wrapped(f"{n_rows - (before or 0):,} new rows joined {before:,} rows of {folder}: {n_rows:,} in all.")
    report(learned, None if truth is None else compared(learned, truth, names), written, None, told["json"])


def _check(told: Mapping[str, Any]) -> None:
    """Refuse options that the result has already."""
    if not told["sources"]:
        raise SettingError("--update adds rows to a result: give the file with the new rows")
    context = told["context"]
    for parameter in context.command.params:
        given = getattr(context.get_parameter_source(parameter.name), "name", "") == "COMMANDLINE"
        if given and parameter.name in _FORETOLD:
            raise SettingError(
                f"{parameter.opts[0]} does not go with --update: what an update takes is not foretold; leave "
                f"{parameter.opts[0]} out"
            )
        if given and parameter.name not in _ALLOWED.split():
            raise SettingError(
                f"{parameter.opts[0]} does not go with --update, which learns with the settings of the result; to "
                "change them, learn from all rows at once"
            )
    if told["stream"] is False:
        raise SettingError("--update counts rows in pieces; leave --no-stream out")


def _rows(sources: list[str]) -> Any:
    """The new rows: files as they are, or the sum of counts."""
    counted = [source.endswith(COUNTS_ENDING) for source in sources]
    if not any(counted):
        find_files(sources)  # notes which files these are, before the output is looked at
        return read_sources(sources)
    if not all(counted):
        raise SettingError("give files of rows, or files of counts, not both at once")
    found = find_counts(sources)
    return merge(map(Counts.load, found), labels=found)


def _keep_origin(configuration: dict[str, Any], counts: Path) -> None:
    """Say that all rows are in the counts, and by which commands they came there."""
    origin = configuration["origin"]
    commands = [*origin.get("updates", ()), shlex.join(["kgmi", *sys.argv[1:]])]
    configuration["origin"] = origin | {"table": str(counts), "updates": commands}


@contextmanager
def _held(folder: Path, out: Path) -> Iterator[None]:
    """Let no other update write into the folder meanwhile: rows would be lost."""
    if folder.resolve() != out.resolve():
        yield
        return
    lock = FolderLock(folder / _LOCK)
    try:
        yield
    finally:
        lock.remove()
