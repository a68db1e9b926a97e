"""``kgmi learn``: from a table to a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

import kgmi
from kgmi.cli import output
from kgmi.cli.choices import FormName, GuideName, InDegreeName, SolverName
from kgmi.cli.results import check_folder, write_results
from kgmi.cli.sources import Source, example_source, file_source
from kgmi.cli.specs import GRAPH_HELP, KERNEL_HELP, read_divergence, read_graph
from kgmi.divergence import DIVERGENCES
from kgmi.errors import SettingError
from kgmi.examples import EXAMPLES
from kgmi.metrics import Comparison, compare

__all__ = ["learn"]


def learn(
    file: Annotated[
        Path | None, typer.Argument(help="Table: .csv or .tsv (also .gz) or .npy; columns in order, parents first.")
    ] = None,
    example: Annotated[
        str | None, typer.Option(help=f"Use example data instead of a file: {', '.join(EXAMPLES)}.")
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
        str | None,
        typer.Option(help=f"One of {', '.join(DIVERGENCES)}; -matched behind it for the matched form. Default kl."),
    ] = None,
    labelled_form: Annotated[
        FormName, typer.Option(help="Labelled estimator as printed, or factorised (one kernel for all rows).")
    ] = FormName.printed,
    kappa: Annotated[float, typer.Option(help="κ of the labelled estimator.")] = 0.0,
    solver: Annotated[
        SolverName, typer.Option(help="Gradient ascent, or the point it ends at.")
    ] = SolverName.ascent,
    rate: Annotated[float, typer.Option(help="Rate η of the ascent.")] = 10.0,
    epochs: Annotated[int, typer.Option(help="Most epochs of the ascent.")] = 50_000,
    stop: Annotated[float, typer.Option(help="ε_attn: a head is done above 1 − ε_attn.")] = 0.1,
    smoothing: Annotated[float, typer.Option(help="Pseudo-rows spread over the cells of every pair.")] = 1.0,
    in_degree: Annotated[
        InDegreeName, typer.Option(help="uniform: 0 or K parents; mixed: 0 to K, from heads above one half.")
    ] = InDegreeName.uniform,
    roots: Annotated[str | None, typer.Option(help="Names of the roots, with commas; by default tested.")] = None,
    root_level: Annotated[float, typer.Option(help="Level of the test for roots.")] = 0.01,
    states: Annotated[
        str | None, typer.Option(help="The states in their order, with commas; by default those that occur.")
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
    if out is not None:
        check_folder(out)
    if (file is None) == (example is None):
        raise SettingError("give one table: a FILE, or --example NAME")
    if example is not None:
        if states is not None or not header:
            raise SettingError("--states and --no-header belong to a FILE; the example knows its states")
        source = example_source(example, kernel, p, parents)
    else:
        assert file is not None
        source = file_source(
            file, kernel_spec=kernel, p=p, parents=parents, states=states, header=header, guide=guide
        )
    true_dag = source.truth if truth is None else read_graph(truth)
    if true_dag is not None and true_dag.n_nodes != len(source.names):
        raise SettingError(f"the true graph has {true_dag.n_nodes} nodes, the table {len(source.names)} columns")
    with output.progress_bar("ascent", quiet=json) as progress:
        learned = kgmi.learn(
            source.rows,
            names=source.names,
            n_states=source.n_states,
            kernel=source.kernel,
            n_parents=source.n_parents,
            guide=None if guide is None else guide.value,
            divergence=None if divergence is None else read_divergence(divergence),
            labelled_form=labelled_form.value,
            kappa=kappa,
            solver=solver.value,
            rate=rate,
            epochs=epochs,
            stop=stop,
            smoothing=smoothing,
            in_degree=in_degree.value,
            roots=_root_numbers(roots, source),
            root_level=root_level,
            progress=progress,
        )
    written = [] if out is None else write_results(learned, out, pictures=pictures)
    _report(learned, None if true_dag is None else compare(learned.dag, true_dag), written, json)


def _root_numbers(roots: str | None, source: Source) -> list[int] | Literal["test"]:
    if roots is None:
        return "test"
    chosen = [name.strip() for name in roots.split(",")]
    unknown = [name for name in chosen if name not in source.names]
    if unknown:
        raise SettingError(f"--roots names {unknown[0]!r}, which is no column of the table")
    return [source.names.index(name) for name in chosen]


def _report(learned: kgmi.Learned, comparison: Comparison | None, written: list[Path], json: bool) -> None:
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
