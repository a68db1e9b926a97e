"""Options of commands that read more rows than fit into memory, and how their values are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kgmi.cli.limits import QUOTES, read_names
from kgmi.cli.output import print_wrapped
from kgmi.counts.files import Checkpoint
from kgmi.errors import SettingError
from kgmi.sources.base import Stream
from kgmi.where import parse_where

__all__ = [
    "CheckpointOption",
    "ClusterOption",
    "ColumnsOption",
    "SourcesArgument",
    "WhereOption",
    "read_columns",
    "read_sources",
    "read_where",
    "tell_checkpoint",
    "tell_stream",
]

SourcesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help="Files (.parquet, .feather, .arrow, .csv, .tsv, .npy), folders of such files, or patterns like "
        "'data/*.parquet'; all have the same columns."
    ),
]
ColumnsOption = Annotated[str | None, typer.Option(help=f"Read these columns only, in this order: A,B,C. {QUOTES}")]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Read only rows where this holds: 'COLUMN OP VALUE' with ==, !=, <, <=, >, >=, in or not in (then "
        "VALUE is a list A,B,C), joined by and. Texts that read like a number or have signs in them stand in "
        "double quotes. May be given several times: all must hold."
    ),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(help="File that keeps the counts so far; after a crash, the same command continues from there."),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        help="Count on a Dask cluster: local:N starts N processes, or the address tcp://HOST:PORT of one."
    ),
]


def read_sources(texts: list[str] | None) -> str | list[str]:
    """One path, folder or pattern as it is; several as a list."""
    if not texts:
        raise SettingError("give at least one file, folder or pattern to count, such as data/*.parquet")
    return texts[0] if len(texts) == 1 else texts


def read_columns(text: str | None) -> list[str] | None:
    """``A,B,C`` as names of columns; None: all of them."""
    return None if text is None else read_names(text, "--columns")


def read_where(texts: list[str] | None) -> list[tuple[str, str, Any]] | None:
    """Conditions ``COLUMN OP VALUE`` as (column, operator, value); None where there are none."""
    return [one for text in texts for one in parse_where(text)] if texts else None


def tell_checkpoint(kept: Checkpoint | None) -> None:
    """Print what was taken from a checkpoint."""
    if kept is not None and kept.taken:
        print_wrapped(
            f"of these, {kept.taken_rows:,} rows ({kept.taken:,} fragment{'s' * (kept.taken > 1)}) were counted "
            "before, and taken from the checkpoint"
        )


def tell_stream(stream: Stream) -> None:
    """Print, before it begins, what is streamed."""
    rows = "rows" if stream.n_rows is None else f"{stream.n_rows:,} rows"
    columns = "1 column" if len(stream.names) == 1 else f"{len(stream.names):,} columns"
    passing = f" where {stream.where}" if stream.where else ""
    print_wrapped(f"Streaming {stream.description}: {rows} of {columns}{passing}.")
