"""``kgmi learn``: from a table to a graph."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import kgmi
from kgmi.cli import output
from kgmi.cli.results import write_results
from kgmi.cli.specs import GRAPH_HELP, KERNEL_HELP, read_divergence, read_graph, read_kernel
from kgmi.data.labelled import split_tail
from kgmi.divergence import DIVERGENCES
from kgmi.errors import SettingError
from kgmi.examples import EXAMPLES, example
from kgmi.metrics import compare

__all__ = ["learn"]


class GuideName(StrEnum):
    """Guides on the command line."""

    stationary = "stationary"
    uniform = "uniform"
    plain = "plain"
    labelled = "labelled"


class SolverName(StrEnum):
    """Solvers on the command line."""

    ascent = "ascent"
    limit = "limit"


class InDegreeName(StrEnum):
    """In-degree rules on the command line."""

    uniform = "uniform"
    mixed = "mixed"


def learn(
    file: Annotated[
        Path | None, typer.Argument(help="Table: .csv or .tsv (also .gz) or .npy; columns in order, parents first.")
    ] = None,
    example_name: Annotated[
        str | None, typer.Option("--example", help=f"Use example data instead of a file: {', '.join(EXAMPLES)}.")
    ] = None,
    kernel: Annotated[str | None, typer.Option(help=f"The shared kernel: {KERNEL_HELP}")] = None,
    p: Annotated[str | None, typer.Option("--p", help="Tunables p_0..p_8 of the paper's kernel.")] = None,
    parents: Annotated[
        int | None, typer.Option(help="Parents per node K; by default as the kernel has, else 1.")
    ] = None,
    guide: Annotated[
        GuideName | None,
        typer.Option(help="What steers the heads; by default stationary with a kernel, else plain."),
    ] = None,
    divergence: Annotated[
        str, typer.Option(help=f"One of {', '.join(DIVERGENCES)}; append -matched for the matched form.")
    ] = "kl",
    solver: Annotated[
        SolverName, typer.Option(help="Gradient ascent, or the point it ends at.")
    ] = SolverName.ascent,
    rate: Annotated[float, typer.Option(help="Rate η of the ascent.")] = 10.0,
    epochs: Annotated[int, typer.Option(help="Most epochs of the ascent.")] = 50_000,
    stop: Annotated[float, typer.Option(help="ε_attn: a head is done above 1 − ε_attn.")] = 0.1,
    smoothing: Annotated[float, typer.Option(help="Pseudo-rows spread over the cells of every pair.")] = 1.0,
    in_degree: Annotated[
        InDegreeName, typer.Option(help="uniform: 0 or K parents; mixed: 0 to K.")
    ] = InDegreeName.uniform,
    states: Annotated[
        str | None,
        typer.Option(help="The states in their order, separated by commas; by default those that occur."),
    ] = None,
    header: Annotated[bool, typer.Option(help="Whether the first line names the columns.")] = True,
    truth: Annotated[str | None, typer.Option(help=f"True graph to compare with: {GRAPH_HELP}")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result files.")] = None,
    pictures: Annotated[bool, typer.Option("--pictures", help="Write pictures too (with --out).")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Learn a graph from a table whose columns are in order (parents before children).

    Example: kgmi learn rows.csv --kernel kernel.json --out result
    """
    if pictures and out is None:
        raise SettingError("--pictures needs --out FOLDER to write them to")
    alphabet = None if states is None else [state.strip() for state in states.split(",")]
    source, options, true_dag = _source(file, example_name, kernel, p, parents, alphabet, header, guide)
    if truth is not None:
        true_dag = read_graph(truth)
    with output.progress_bar("ascent", quiet=json) as progress:
        learned = kgmi.learn(
            source,
            **options,
            guide=None if guide is None else guide.value,
            divergence=read_divergence(divergence),
            solver=solver.value,
            rate=rate,
            epochs=epochs,
            stop=stop,
            smoothing=smoothing,
            in_degree=in_degree.value,
            progress=progress,
        )
    comparison = None if true_dag is None else compare(learned.dag, true_dag)
    written = [] if out is None else write_results(learned, out, pictures=pictures)
    if json:
        content = output.learned_dict(learned) | {"files": [str(path) for path in written]}
        if comparison is not None:
            content["comparison"] = output.comparison_dict(comparison)
        output.print_json(content)
        return
    output.print_learned(learned)
    if learned.assumptions is not None:
        output.print_assumptions(learned.assumptions)
    if comparison is not None:
        output.print_comparison(comparison)
    for path in written:
        typer.echo(f"wrote {path}")


def _source(
    file: Path | None,
    example_name: str | None,
    kernel_spec: str | None,
    p: str | None,
    parents: int | None,
    states: list[str] | None,
    header: bool,
    guide: GuideName | None,
) -> tuple[Any, dict[str, Any], kgmi.Dag | None]:
    """The rows, the options that go with them, and the true graph where it is known."""
    if (file is None) == (example_name is None):
        raise SettingError("give one table: a FILE, or --example NAME")
    kernel = None if kernel_spec is None else read_kernel(kernel_spec, p)
    if example_name is not None:
        chosen = example(example_name)
        keep = guide is not GuideName.plain or kernel is not None
        kernel = kernel or (chosen.kernel if keep else None)
        heads = parents or chosen.kernel.n_parents
        return chosen.table, {"kernel": kernel, "n_parents": heads}, chosen.truth
    assert file is not None
    table = kgmi.read_table(
        file, header=header, states=states, n_states=None if kernel is None else kernel.n_states
    )
    options: dict[str, Any] = {"kernel": kernel, "n_parents": parents}
    if guide is not GuideName.labelled:
        return table, options, None
    rows, names = split_tail(table, parents or (kernel.n_parents if kernel is not None else 1))
    return rows, options | {"names": names, "n_states": table.n_states}, None
