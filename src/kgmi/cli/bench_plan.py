"""``kgmi bench plan``: what --plan foresees against what happens."""

from __future__ import annotations

from typing import Annotated

import typer

from kgmi.cli.bench import whole_numbers
from kgmi.cli.bench_speed import OutOption, QuickOption, SeedOption, check_measured, show_measured
from kgmi.cli.display import progress_bar
from kgmi.cli.options import ForceOption, JsonOption
from kgmi.errors import SettingError

__all__ = ["plan"]


def plan(
    cases: Annotated[
        str,
        typer.Option(help="Kinds of fits, with commas, or all: clear, doubt, known, stationary, order."),
    ] = "all",
    nodes: Annotated[str, typer.Option(help="Sizes T, multiples of 10, with commas.")] = "10,50,200,1000",
    rows: Annotated[str, typer.Option(help="Sizes N, with commas.")] = "1000,10000,100000",
    repeats: Annotated[int, typer.Option(help="Fits of each; the shortest counts.")] = 3,
    limit: Annotated[float, typer.Option(help="Seconds: fits foreseen to take longer are left out.")] = 60.0,
    seed: SeedOption = 0,
    quick: QuickOption = False,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Foresee seconds and memory of whole fits, fit, and compare.

    Example: kgmi bench plan --cases clear,doubt --nodes 10,100 --rows 1000,10000

    Says how far off kgmi learn --plan is on this machine.
    """
    from kgmi.bench.speed.plan import measure_plan

    check_measured(out, "plan", force)
    if not limit > 0:
        raise SettingError(f"--limit must be a positive number of seconds, got {limit}")
    chosen = [] if cases == "all" else [case.strip() for case in cases.split(",")]
    sizes = ((10, 20), (300,)) if quick else (whole_numbers(nodes, "--nodes"), whole_numbers(rows, "--rows"))
    with progress_bar("fits", "fits", quiet=json) as tell:
        found = measure_plan(chosen, *sizes, repeats=1 if quick else repeats, limit=limit, seed=seed, tell=tell)
    show_measured(found, out, json, force)
