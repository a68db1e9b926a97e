"""``kgmi reproduce``: every figure and table of the paper, with the truth beside it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgmi.cli import output
from kgmi.errors import SettingError

if TYPE_CHECKING:
    from kgmi.paper.experiment import Experiment
    from kgmi.paper.reproduce import Tell

__all__ = ["reproduce"]

# Written out, as the catalogue loads all experiments; a test compares the two.
_NAMES = "all, collapse, heatmaps, rate-length, rate-gap, divergences, long, table, degrees, assumptions, theorems"


def reproduce(
    experiment: Annotated[str, typer.Argument(help=f"Which experiment: {_NAMES}.")] = "all",
    out: Annotated[Path, typer.Option(help="Folder for results, figures and the report.")] = Path("paper-output"),
    quick: Annotated[bool, typer.Option("--quick", help="Small grids: seconds instead of minutes.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn at random.")] = 2027,
    json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Run the paper's experiments: results, figures in the paper's form, and a report with verdicts.

    Example: kgmi reproduce all --quick --out paper-output
    """
    from kgmi.paper.catalogue import experiments_named
    from kgmi.paper.reproduce import reproduce as run

    if seed < 0:
        raise SettingError(f"the seed must not be negative, got {seed}")
    chosen = experiments_named(experiment)
    with _progress(len(chosen)) as tell:
        done = run(chosen, out, quick=quick, seed=seed, tell=tell)
    if json:
        checks = {one.name: [vars(check) for check in one.checks] for one in done.results}
        verdicts = {one.name: {"verdict": one.verdict, "why": one.why} for one in done.results}
        output.print_json({"verdicts": verdicts, "checks": checks, "files": [str(path) for path in done.files]})
        return
    rows = [
        [
            one.name,
            check.name,
            "paper" if check.source == "paper" else "ours",
            check.answer,
            check.measured,
        ]
        for one in done.results
        for check in one.checks
    ]
    output.print_table(["experiment", "check", "whose", "holds", "measured"], rows, right=9)
    for one in done.results:
        output.print_wrapped(f"{one.name}: {one.verdict}. {one.why}")
    for path in done.files[-2:]:
        typer.echo(f"wrote {path}")


@contextmanager
def _progress(n_experiments: int) -> Iterator[Tell | None]:
    """A bar on a terminal; in a pipe one line on standard error as each experiment starts."""
    if not sys.stderr.isatty():
        yield _start_lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.fields[name]:>12}"),
        BarColumn(bar_width=20),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=n_experiments, name="")
        finished: list[str] = []

        def tell(experiment: Experiment, share: float, what: str) -> None:
            if experiment.name not in finished:
                finished.append(experiment.name)
            done = len(finished) - 1 + min(share, 1.0)
            bars.update(task, completed=done, description=what, name=experiment.name)

        yield tell


def _start_lines() -> Tell:
    begin = time.perf_counter()
    seen: set[str] = set()

    def tell(experiment: Experiment, share: float, what: str) -> None:
        if experiment.name not in seen:
            seen.add(experiment.name)
            typer.echo(f"{time.perf_counter() - begin:7.1f} s  {experiment.name}: {experiment.title}", err=True)

    return tell
