"""``kgmi certify``: what is certain about a graph, and how many rows are still missing."""

from __future__ import annotations

from typing import Annotated

import typer

from kgmi.cli.choices import AlphabetName, MethodName, MissingName, ShareName
from kgmi.cli.limits import QUOTES
from kgmi.cli.options import (
    AlphabetOption,
    ExampleOption,
    ForbidOption,
    HeaderOption,
    InDegreeOption,
    JsonOption,
    KnownKernelOption,
    LagOption,
    ParentsOption,
    RequireOption,
    RootsOption,
    StatesOption,
    TiersOption,
)
from kgmi.cli.preparing import DropOption, MissingValuesOption, PrepareOption
from kgmi.cli.specs import TunablesOption
from kgmi.cli.streaming import CheckpointOption, ClusterOption, ColumnsOption, WhereOption

__all__ = ["certify"]


def certify(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="Table, as for kgmi learn, rows in the order in which they came; several, a folder, a pattern or "
            "counts (.counts), whose order does not matter; - for standard input."
        ),
    ] = None,
    example: ExampleOption = None,
    alpha: Annotated[float, typer.Option(help="α: probability that anything certified is wrong.")] = 0.05,
    method: Annotated[
        MethodName,
        typer.Option(help="With a learned kernel: it predicts the next rows, or, from the first half, the second."),
    ] = MethodName.sequential,
    parents: ParentsOption = None,
    kernel: KnownKernelOption = None,
    p: TunablesOption = None,
    in_degree: InDegreeOption = None,
    share: Annotated[ShareName, typer.Option(help="Whether nodes share learned kernels.")] = ShareName.auto,
    classes: Annotated[
        str | None, typer.Option(help=f"Columns that share kernels, where that is known: A,B|C,D. {QUOTES}")
    ] = None,
    order: Annotated[
        str, typer.Option(help=f"given: parents stand before children; or the columns in order, A,B,C. {QUOTES}")
    ] = "given",
    error: Annotated[
        str, typer.Option(help="Share of readings of a child that are random; its parents must be read right.")
    ] = "0",
    missing: Annotated[
        MissingName, typer.Option(help="What a missing value is; of pairwise, only complete rows count here.")
    ] = MissingName.error,
    alphabet: AlphabetOption = AlphabetName.auto,
    forbid: ForbidOption = None,
    require: RequireOption = None,
    tiers: TiersOption = None,
    max_lag: LagOption = None,
    windows: Annotated[
        int | None, typer.Option(help="The table is one long sequence: certify which lags below this matter.")
    ] = None,
    roots: RootsOption = None,
    states: StatesOption = None,
    header: HeaderOption = True,
    prepare: PrepareOption = False,
    drop: DropOption = None,
    missing_values: MissingValuesOption = None,
    stream: Annotated[
        bool | None,
        typer.Option("--stream/--no-stream", help="Count rows in pieces, or read them all; by default by size."),
    ] = None,
    columns: ColumnsOption = None,
    where: WhereOption = None,
    checkpoint: CheckpointOption = None,
    cluster: ClusterOption = None,
    patience: Annotated[float, typer.Option(help="Seconds that a look at all alternatives may take.")] = 60.0,
    bootstrap: Annotated[
        int | None, typer.Option(help="Show also how often each edge is found in so many resamples of the rows.")
    ] = None,
    until_certified: Annotated[
        bool, typer.Option("--until-certified", help="Read rows in batches, and stop as soon as all is certified.")
    ] = False,
    batch: Annotated[
        int | None, typer.Option(help="Rows of a batch (with --until-certified); 100 by default.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Certify the parents of every node: all that is certified is right with probability at least 1 − α.

    Example: kgmi certify table.csv --parents 2 --alpha 0.05

    Example: kgmi certify --example paper --alpha 0.01

    A certificate is more than a good score: if the model holds, everything that is certified is right at the same
    time with probability 1 − α, at any number of rows. For the other nodes it says about how many rows are missing.
    The options are those of kgmi learn; choose them before you look at the rows.
    """
    told = dict(locals())
    from kgmi.cli.certifying import run_certify

    run_certify(told)
