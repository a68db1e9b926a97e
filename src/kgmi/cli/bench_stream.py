"""``kgmi bench stream``: rows that need not fit into memory, counted and learned from, beside databases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgmi.cli.bench import whole_numbers
from kgmi.cli.bench_speed import OutOption, QuickOption, SeedOption, check_measured, show_measured
from kgmi.cli.display import progress_bar
from kgmi.cli.options import ForceOption, JsonOption
from kgmi.errors import SettingError
from kgmi.outputs import check_folder

__all__ = ["stream"]

_LEAST, _MOST = 1_000_000, 10_000_000_000


def stream(
    most: Annotated[
        str, typer.Option(help="Most rows, 1e6 to 1e10; sizes are 10⁶, 10⁷ … up to it. 10⁸ take 0.6 GB of disk.")
    ] = "1e8",
    nodes: Annotated[int, typer.Option(help="Columns T.")] = 20,
    workers: Annotated[str, typer.Option(help="Threads, and processes of Dask, with commas.")] = "1,2,4",
    peers: Annotated[str, typer.Option(help="Peers: all, none, or their keys with commas.")] = "all",
    parts: Annotated[
        str, typer.Option(help="Parts, with commas, or all: rows, workers, kinds (of cells), peers, learn.")
    ] = "all",
    folder: Annotated[
        Path | None, typer.Option(help="Where generated files are kept for another time; else they are temporary.")
    ] = None,
    seed: SeedOption = 1,
    limit: Annotated[float, typer.Option(help="Seconds for one run, its start included.")] = 1_800.0,
    quick: QuickOption = False,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Count and learn from generated Parquet files: rows per second and memory against rows, workers and peers.

    Example: kgmi bench stream --most 1e8 --peers duckdb-sets,polars-pairs --out benchmarks/stream

    The last part is kgmi learn on the largest table, as one command. Add --quick to see that it works.
    """
    from kgmi.bench.stream.measure import PARTS, measure_stream
    from kgmi.bench.stream.peers import chosen_ways

    check_measured(out, "stream", force)
    if folder is not None:
        check_folder(folder)
    if not 0 < limit < float("inf"):
        raise SettingError(f"--limit must be a positive number of seconds, got {limit}")
    chosen = PARTS if parts == "all" else tuple(part.strip() for part in parts.split(","))
    sizes, group_rows = ((20_000, 40_000), 5_000) if quick else (_sizes(most), 1_000_000)
    with progress_bar("stream", "runs", quiet=json) as tell:
        found = measure_stream(
            sizes,
            n_nodes=nodes,
            workers=whole_numbers(workers, "--workers"),
            ways=chosen_ways(peers),
            parts=chosen,
            seed=seed,
            folder=None if folder is None else folder.absolute(),
            limit=limit,
            group_rows=group_rows,
            tell=tell,
        )
    show_measured(found, out, json, force)


def _sizes(most: str) -> tuple[int, ...]:
    """Powers of ten from 10⁶ up to a number like 1e8, and that number itself."""
    try:
        largest = float(most)
    except ValueError:
        largest = 0.0
    if not (_LEAST <= largest <= _MOST and largest.is_integer()):
        raise SettingError(f"--most is a whole number from 1e6 to 1e10, got {most!r}")
    powers = [_LEAST * 10**k for k in range(5)]
    return tuple(sorted({size for size in powers if size < largest} | {int(largest)}))
