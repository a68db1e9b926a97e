"""What ``kgmi learn`` does: read, learn, write, print."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import kgmi
from kgmi.cli.choices import AlphabetName, MissingName
from kgmi.cli.counts_files import find_counts
from kgmi.cli.display import live
from kgmi.cli.learning_report import compared, report
from kgmi.cli.learning_source import COUNTS_ENDING, read_source
from kgmi.cli.limits import read_limits, read_names, read_penalty, read_roots
from kgmi.cli.preparing import preparation, print_notes
from kgmi.cli.results import check_results, write_results
from kgmi.cli.sources import Source, check_codes
from kgmi.cli.streaming import read_columns, read_where, tell_checkpoint, tell_stream
from kgmi.counts.counted import CountedTable
from kgmi.counts.files import Checkpoint
from kgmi.errors import SettingError, TooLargeError
from kgmi.graph import Dag
from kgmi.learning.origin import keep_origin
from kgmi.sources.base import Stream
from kgmi.specs import read_divergence_name, read_named_graph
from kgmi.table import window_names

__all__ = ["run_learn"]

# Options that kgmi.learn takes as they were told, and those that are one of a few words.
_PLAIN = "list_length max_lag windows kappa rate epochs stop smoothing root_level starts rounds memory_limit device"
_CHOSEN = "kernel_source guide search in_degree share labelled_form solver"


def run_learn(told: Mapping[str, Any]) -> None:
    """Do as the command was ``told``, by the names of its options."""
    _check(told)
    source = read_source(told)
    stream = source.rows if isinstance(source.rows, Stream) else None
    truth, true_names = _truth(told, source)
    options = _options(told, source)
    _check_output(told)
    if not told["json"]:
        print_notes(source.rows, options["order"], options["tiers"])
        if stream is not None:
            tell_stream(stream)
    kept = None if told["checkpoint"] is None else Checkpoint(told["checkpoint"])
    with live("learning", quiet=told["json"]), kept or nullcontext():
        learned = _learned(told, source, options | ({} if kept is None else {"checkpoint": kept}))
        _keep_origin(learned, told, stream is not None)
        written = _written(learned, told)
    comparison = None if truth is None else compared(learned, truth, true_names)
    if not told["json"]:
        tell_checkpoint(kept)
    report(learned, comparison, written, told["json"])


def _check_output(told: Mapping[str, Any]) -> None:
    """Refuse what cannot be written, before any work is done but after it is known what is read."""
    if told["pictures"] and told["out"] is None:
        raise SettingError("--pictures needs --out FOLDER to write them to")
    if told["out"] is not None:
        check_results(told["out"], pictures=told["pictures"], force=told["force"])


def _check(told: Mapping[str, Any]) -> None:
    """Refuse options that do not go together."""
    if told["windows"] is not None and told["alphabet"] is AlphabetName.own:
        raise SettingError("--alphabet does nothing with --windows: a sequence is one column, with one alphabet")
    if told["p"] is not None and told["kernel"] is None:
        raise SettingError("--p sets the tunables of the paper's kernel; use it with --kernel paper")


def _truth(told: Mapping[str, Any], source: Source) -> tuple[Dag | None, list[str] | None]:
    """The true graph to compare with, and its names where it knows them."""
    dag, names = (source.truth, None) if told["truth"] is None else read_named_graph(told["truth"])
    if dag is not None and dag.n_nodes != len(source.names):
        raise SettingError(f"the true graph has {dag.n_nodes} nodes, the table {len(source.names)} columns")
    return dag, names


def _options(told: Mapping[str, Any], source: Source) -> dict[str, Any]:
    """The options of :func:`kgmi.learn`."""
    windows = told["windows"]
    options: dict[str, Any] = {name: told[name] for name in _PLAIN.split()}
    options |= {name: None if told[name] is None else told[name].value for name in _CHOSEN.split()}
    options |= {
        "n_parents": source.n_parents,
        "kernel": source.kernel,
        "divergence": None if told["divergence"] is None else read_divergence_name(told["divergence"]),
        "penalty": read_penalty(told["penalty"]),
        **read_limits(told),
        "roots": read_roots(told["roots"], source.names if windows is None else window_names(windows)),
    }
    if isinstance(source.rows, Stream):
        return options | {"cluster": told["cluster"]}
    if isinstance(source.rows, CountedTable):
        return options
    return options | {"missing": told["missing"].value, "names": source.names_for(windows)}


def _learned(told: Mapping[str, Any], source: Source, options: dict[str, Any]) -> kgmi.Learned:
    with _or_whole(told) if isinstance(source.rows, Stream) else nullcontext():
        learned: kgmi.Learned = kgmi.learn(source.rows, **options)
    if isinstance(source.rows, Stream) and source.kernel is not None and told["states"] is None:
        check_codes(source.kernel, learned.states)  # known only now
    return learned


@contextmanager
def _or_whole(told: Mapping[str, Any]) -> Iterator[None]:
    """Where counts of a stream are too large, say that the file can be read whole, if it can."""
    try:
        yield
    except TooLargeError as error:
        in_pieces = [name for name in ("stream", "columns", "where", "checkpoint", "cluster") if told[name]]
        if in_pieces or len(told["sources"]) > 1 or not Path(told["sources"][0]).is_file():
            raise
        raise TooLargeError(f"{error}; --no-stream reads the file whole, if there is memory for it") from None


def _written(learned: kgmi.Learned, told: Mapping[str, Any]) -> list[Path]:
    """Finish the result, and write its files where that is asked for."""
    _ = learned.status, learned.checks, learned.trust  # made now, while it is told how far it is
    if told["out"] is None:
        return []
    return write_results(learned, told["out"], pictures=told["pictures"], force=told["force"])


def _keep_origin(learned: kgmi.Learned, told: Mapping[str, Any], streamed: bool) -> None:
    """What a result, and every report of it, says of where the rows came from, and how to run it again."""
    reading: dict[str, Any] = {} if told["header"] else {"header": False}
    if told["missing"] is not MissingName.error:
        reading["missing"] = told["missing"].value
    if told["alphabet"] is not AlphabetName.auto:
        reading["alphabet"] = told["alphabet"].value
    if told["states"] is not None:
        reading["states"] = read_names(told["states"], "--states")
    if told["prepare"]:
        reading |= preparation(told)
    sources = told["sources"] or []
    if any(source.endswith(COUNTS_ENDING) for source in sources):  # the file itself, not a pattern for it
        sources = find_counts(sources)
    chosen = told["columns"] or told["where"] or len(sources) > 1 or any(not Path(one).is_file() for one in sources)
    in_pieces = streamed or (bool(sources) and bool(chosen) and not told["prepare"])
    stream = {
        "sources": sources,
        "columns": read_columns(told["columns"]),
        "where": [list(one) for one in read_where(told["where"]) or ()],
    }
    keep_origin(
        learned.configuration,
        ", ".join(sources) or None,
        reading,
        shlex.join(["kgmi", *sys.argv[1:]]),
        stream if in_pieces else None,
    )
