"""``kgmi count``: rows of any number to a file of counts."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from kgmi.cli import output
from kgmi.cli.choices import AlphabetName, MissingName
from kgmi.cli.counts_files import check_file
from kgmi.cli.display import live, shown_rate
from kgmi.cli.limits import read_names
from kgmi.cli.options import AlphabetOption, ForceOption, HeaderOption, JsonOption, StatesOption
from kgmi.cli.streaming import (
    CheckpointOption,
    ClusterOption,
    ColumnsOption,
    SourcesArgument,
    WhereOption,
    read_columns,
    read_sources,
    read_where,
    tell_checkpoint,
)
from kgmi.cli.terminal import say
from kgmi.counts.counted import CountedTable
from kgmi.counts.dask import connect as connected
from kgmi.counts.files import Checkpoint
from kgmi.counts.stream import count as count_rows
from kgmi.counts.tally import family_width
from kgmi.errors import SettingError
from kgmi.graph.naming import shown_list
from kgmi.memory import shown_bytes
from kgmi.sources import stream

__all__ = ["count", "described", "print_counts"]

_PARENTS = 2  # where nothing is said, or as many as there are other columns


def count(
    sources: SourcesArgument = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File for the counts, such as part.counts.")
    ] = None,
    force: ForceOption = False,
    parents: Annotated[
        int | None, typer.Option(help="Most parents K that can be learned from the counts; by default 2.")
    ] = None,
    columns: ColumnsOption = None,
    where: WhereOption = None,
    states: StatesOption = None,
    missing: Annotated[
        MissingName, typer.Option(help="What a missing value is: an error, one more state, or left out of counts.")
    ] = MissingName.error,
    alphabet: AlphabetOption = AlphabetName.auto,
    header: HeaderOption = True,
    checkpoint: CheckpointOption = None,
    cluster: ClusterOption = None,
    json: JsonOption = False,
) -> None:
    """Count rows, of any number, into a small file that can be merged with others and learned from.

    Example: kgmi count table.csv --out table.counts

    Example: kgmi count table.csv --parents 1 --checkpoint kept --out pairs.counts

    The file holds how often the states of all sets of K + 1 columns occur together, which is all that learning
    needs: kgmi merge adds up files of several places, and kgmi learn learns from them as from the rows. Rows are
    read once, a piece at a time, so they need not fit into memory.
    """
    if parents is not None and parents < 1:
        raise SettingError(f"--parents must be at least 1, got {parents}")
    with ExitStack() as stack:
        stack.enter_context(live("counting", quiet=json))
        rows = stream(
            read_sources(sources),
            columns=read_columns(columns),
            where=read_where(where),
            states=None if states is None else read_names(states, "--states"),
            missing=missing.value,
            alphabet=alphabet.value,
            header=header,
        )
        path = check_file(out, "part.counts", force=force)
        if checkpoint is not None and checkpoint.resolve() == path.resolve():
            raise SettingError(f"--checkpoint and --out are both {path}; give them different names")
        if parents is not None and parents >= len(rows.names):
            raise SettingError(
                f"--parents {parents} takes counts of {parents + 1} columns together, and there "
                f"{'is only 1 column' if len(rows.names) == 1 else f'are {len(rows.names)} columns'}"
            )
        width = family_width(parents or _PARENTS, len(rows.names), has_gaps=missing is MissingName.pairwise)
        kept = None
        if checkpoint is not None:
            kept = stack.enter_context(Checkpoint(checkpoint))
        client = None if cluster is None else stack.enter_context(connected(cluster))
        begun = time.monotonic()
        counts = count_rows(rows, width=width, checkpoint=kept, cluster=client)
        seconds = time.monotonic() - begun
        counts.save(path, force=force)
    content = described(counts, path) | _pace(counts, kept, seconds)
    if json:
        further = {"fragments": len(rows.fragments), "where": rows.where or None}
        output.print_json(content | further)
        return
    print_counts(content, f"{rows.description}{f', where {rows.where}' if rows.where else ''}: ", kept)


def described(counts: CountedTable, path: Path) -> dict[str, Any]:
    """What a file of counts holds, for machines."""
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "n_rows": counts.n_rows,
        "names": list(counts.names),
        "states": list(counts.states),
        "alphabets": None if counts.alphabets is None else [list(states) for states in counts.alphabets],
        "n_parents": counts.n_parents,
        "fingerprint": counts.fingerprint,
    }


def _pace(counts: CountedTable, kept: Checkpoint | None, seconds: float) -> dict[str, Any]:
    """How long counting took, and what was there already."""
    before = 0 if kept is None else kept.taken_rows
    return {
        "seconds": seconds,
        "rows_per_second": (counts.n_rows - before) / seconds if seconds > 0 else None,
        "rows_from_checkpoint": before,
        "fragments_from_checkpoint": 0 if kept is None else kept.taken,
    }


def print_counts(content: dict[str, Any], opening: str, kept: Checkpoint | None = None) -> None:
    """A few lines on counts that were written."""
    states, own, n_parents = content["states"], content["alphabets"] is not None, content["n_parents"]
    kinds = (
        f"{len(states)} states{' in all' if own else ''}: {shown_list([one[:40] for one in states[:8]])}"
        f"{' …' if len(states) > 8 else ''}"
    )
    rate = shown_rate(content.get("rows_per_second") or 0.0, "rows")
    took = f" in {content['seconds']:.1f} s ({rate})" if rate else ""
    columns = f"{len(content['names'])} column{'s' * (len(content['names']) != 1)}"
    output.print_wrapped(f"{opening}{content['n_rows']:,} rows of {columns} ({kinds}){took}")
    tell_checkpoint(kept)
    most = f"up to {n_parents} parent{'s' * (n_parents > 1)} can be learned from it"
    if len(content["names"]) == 1:
        most = "learning needs at least two columns"
    say(f"wrote {content['file']} ({shown_bytes(content['bytes'])}); {most}")
