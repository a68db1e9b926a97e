"""``kgmi learn``: from a table to a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgmi.cli.choices import (
    AlphabetName,
    FormName,
    GuideName,
    KernelSourceName,
    MissingName,
    SearchName,
    ShareName,
    SolverName,
)
from kgmi.cli.helping import offers
from kgmi.cli.limits import QUOTES
from kgmi.cli.options import (
    AlphabetOption,
    ExampleOption,
    ForbidOption,
    ForceOption,
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
from kgmi.divergence import DIVERGENCES
from kgmi.penalty import PENALTIES
from kgmi.specs import DIVERGENCE_NAMES, GRAPH_HELP, GRAPHS

__all__ = ["learn"]


def learn(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="Table: .csv, .tsv (also .gz), .parquet, .feather, .arrow or .npy; see --order. Several files, "
            "folders, or patterns like 'data/*.parquet', with the same columns; or one file of counts (.counts)."
        ),
    ] = None,
    example: ExampleOption = None,
    parents: ParentsOption = None,
    kernel: KnownKernelOption = None,
    p: TunablesOption = None,
    kernel_source: Annotated[
        KernelSourceName | None,
        typer.Option(help="Where the kernel comes from; by default known with --kernel, else learned."),
    ] = None,
    guide: Annotated[
        GuideName | None,
        typer.Option(help="What steers the heads; by default likelihood. stationary is the paper's KG-MI."),
    ] = None,
    divergence: Annotated[
        str | None,
        typer.Option(
            help=f"Of the paper's guides: {', '.join(DIVERGENCES)}; -matched behind it for the matched form. "
            "Default kl.",
            autocompletion=offers(*DIVERGENCE_NAMES),
        ),
    ] = None,
    search: Annotated[
        SearchName, typer.Option(help="How the heads of a child are searched for together.")
    ] = SearchName.auto,
    list_length: Annotated[int, typer.Option(help="Candidates on the short list of a head.")] = 12,
    in_degree: InDegreeOption = None,
    penalty: Annotated[
        str,
        typer.Option(
            help=f"Price of parameters: {', '.join(PENALTIES)}, or nats for each.",
            autocompletion=offers(*PENALTIES),
        ),
    ] = "nml",
    share: Annotated[
        ShareName,
        typer.Option(
            help="Who shares learned kernels: all nodes, classes of nodes that are found, or none; auto: what "
            "describes the data best."
        ),
    ] = ShareName.auto,
    classes: Annotated[
        str | None,
        typer.Option(
            help=f"Columns that share kernels, where that is known: A,B|C,D; the others are one more. {QUOTES}"
        ),
    ] = None,
    error: Annotated[
        str, typer.Option(help="Share of readings that are random (typos, genotyping); or estimate, with --kernel.")
    ] = "0",
    missing: Annotated[
        MissingName, typer.Option(help="What a missing value is: an error, one more state, or left out of counts.")
    ] = MissingName.error,
    alphabet: AlphabetOption = AlphabetName.auto,
    order: Annotated[
        str,
        typer.Option(
            help="given: parents stand before children; learn: the order is found too; or the columns, A,B,C. "
            f"{QUOTES}",
            autocompletion=offers("given", "learn"),
        ),
    ] = "given",
    forbid: ForbidOption = None,
    require: RequireOption = None,
    tiers: TiersOption = None,
    max_lag: LagOption = None,
    windows: Annotated[
        int | None, typer.Option(help="The table is one long sequence: learn which lags below this matter.")
    ] = None,
    labelled_form: Annotated[
        FormName, typer.Option(help="Labelled estimator: printed, or for one kernel factorised or reweighted.")
    ] = FormName.printed,
    kappa: Annotated[float, typer.Option(help="κ of the labelled estimator.")] = 0.0,
    solver: Annotated[
        SolverName, typer.Option(help="Gradient ascent, or the point it ends at.")
    ] = SolverName.ascent,
    rate: Annotated[
        float | None, typer.Option(help="Rate η of the ascent; by default 10, or what suits the scores.")
    ] = None,
    epochs: Annotated[int, typer.Option(help="Most epochs of the ascent.")] = 50_000,
    stop: Annotated[float, typer.Option(help="ε_attn: a head is done above 1 − ε_attn.")] = 0.1,
    smoothing: Annotated[
        float, typer.Option(help="Pseudo-rows of every pair, or of every configuration of the parents.")
    ] = 1.0,
    roots: RootsOption = None,
    root_level: Annotated[float, typer.Option(help="Level of the test for roots of the paper's guides.")] = 0.01,
    starts: Annotated[int, typer.Option(help="Most starts of the search for kernels.")] = 6,
    rounds: Annotated[int, typer.Option(help="Most rounds of re-guiding from a start.")] = 50,
    states: StatesOption = None,
    header: HeaderOption = True,
    columns: ColumnsOption = None,
    where: WhereOption = None,
    prepare: PrepareOption = False,
    drop: DropOption = None,
    missing_values: MissingValuesOption = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            help="Count rows in pieces, so that they need not fit into memory, or read them all into memory. By "
            "default what is large is counted in pieces.",
        ),
    ] = None,
    checkpoint: CheckpointOption = None,
    cluster: ClusterOption = None,
    device: Annotated[
        str | None, typer.Option(help="Learn on this device with PyTorch: cuda, cuda:1 … (or cpu).")
    ] = None,
    memory_limit: Annotated[
        str | None, typer.Option(help="Most memory that the fit may take, such as 500MB or 2GB.")
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(help=f"True graph to compare with: {GRAPH_HELP}", autocompletion=offers(*GRAPHS)),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result files.")] = None,
    force: ForceOption = False,
    pictures: Annotated[bool, typer.Option("--pictures", help="Write pictures too (with --out).")] = False,
    json: JsonOption = False,
) -> None:
    """Learn a graph from a table: parents before children, or in any order (--order learn).

    Example: kgmi learn table.csv --parents 2 --out result

    Example: kgmi learn --example paper

    Rows are observations, columns are variables with a few states each. The result says for every column which
    earlier columns it depends on directly, how sure that is, and what to beware of. If the columns stand in no
    meaningful order, add --order learn; if the file has gaps or measurements, add --prepare. With --out DIR all is
    kept, to be looked at with kgmi show, plot, report, compare and export. Rows that do not
    fit into memory are counted in pieces, with the same result (docs/large.md).
    """
    told = dict(locals())
    from kgmi.cli.learning import run_learn

    run_learn(told)
