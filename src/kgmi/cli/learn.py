"""``kgmi learn``: from a table to a graph."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import kgmi
from kgmi.cli import output
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
from kgmi.cli.display import live
from kgmi.cli.helping import offers
from kgmi.cli.limits import (
    QUOTES,
    read_classes,
    read_edges,
    read_error,
    read_names,
    read_order,
    read_penalty,
    read_roots,
    read_tiers,
)
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
from kgmi.cli.plan import finish_report, forecast_dict, print_forecast, print_spent, spent_dict
from kgmi.cli.preparing import PrepareOption, prepared_source, print_notes
from kgmi.cli.results import REPORT, check_folder, write_results
from kgmi.cli.sources import example_source, file_source
from kgmi.cli.specs import DIVERGENCE_NAMES, GRAPH_HELP, GRAPHS, TunablesOption, read_divergence, read_named_graph
from kgmi.cli.wide import report_wide, write_wide
from kgmi.data.windows import window_names
from kgmi.divergence import DIVERGENCES
from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.learning.cost import Forecast
from kgmi.learning.foresee import foresee
from kgmi.learning.inputs import Source
from kgmi.learning.on_device import MOST_TABLED
from kgmi.learning.origin import keep_origin
from kgmi.learning.wide import Wide
from kgmi.memory import read_bytes
from kgmi.metrics import Comparison, compare
from kgmi.penalty import PENALTIES

__all__ = ["learn"]


def learn(
    file: Annotated[
        Path | None,
        typer.Argument(help="Table: .csv, .tsv (also .gz), .parquet, .feather, .arrow or .npy; see --order."),
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
    alphabet: AlphabetOption = AlphabetName.shared,
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
        FormName, typer.Option(help="Labelled estimator as printed, or factorised (one kernel for all rows).")
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
    prepare: PrepareOption = False,
    device: Annotated[
        str | None, typer.Option(help="Learn on this device with PyTorch: cuda, cuda:1 … (or cpu).")
    ] = None,
    memory_limit: Annotated[
        str | None, typer.Option(help="Most memory that the fit may take, such as 500MB or 2GB.")
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what it will take, in seconds and memory, and do not learn.")
    ] = False,
    spent: Annotated[
        bool, typer.Option("--spent", help="Say afterwards what it took, beside what was foreseen.")
    ] = False,
    truth: Annotated[
        str | None,
        typer.Option(help=f"True graph to compare with: {GRAPH_HELP}", autocompletion=offers(*GRAPHS)),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result files.")] = None,
    pictures: Annotated[bool, typer.Option("--pictures", help="Write pictures too (with --out).")] = False,
    json: JsonOption = False,
) -> None:
    """Learn a graph from a table: parents before children, or in any order (--order learn).

    Example: kgmi learn table.csv --parents 2 --out result

    Example: kgmi learn --example paper

    Rows are observations, columns are variables with a few states each. The result says for every column which
    earlier columns it depends on directly, how sure that is, and what to beware of. If the columns stand in no
    meaningful order, add --order learn; if the file has gaps or measurements, add --prepare. With --out DIR all is
    kept, to be looked at with kgmi show, plot, report, compare and export.
    """
    if plan and (out is not None or pictures or spent or truth is not None):
        raise SettingError(
            "--plan only says what learning would take; leave out --out, --pictures, --spent, --truth"
        )
    if device is not None and (plan or spent):
        raise SettingError("--plan and --spent know what the processor takes, not a device; leave --device out")
    if pictures and out is None:
        raise SettingError("--pictures needs --out FOLDER to write them to")
    if out is not None:
        check_folder(out)
    if windows is not None and alphabet is AlphabetName.own:
        raise SettingError("--alphabet does nothing with --windows: a sequence is one column, with one alphabet")
    if p is not None and kernel is None:
        raise SettingError("--p sets the tunables of the paper's kernel; use it with --kernel paper")
    if (file is None) == (example is None):
        raise SettingError("give one table: a FILE, or --example NAME")
    if example is not None:
        as_it_is = states is None and header and missing is MissingName.error and alphabet is AlphabetName.shared
        if not as_it_is or prepare:
            raise SettingError(
                "--states, --no-header, --missing, --alphabet and --prepare say how a FILE is read; the example "
                "knows all that"
            )
        source = example_source(example, kernel, p, parents, guide)
    elif prepare:
        assert file is not None
        labelled = guide is GuideName.labelled or kernel_source is KernelSourceName.labelled
        with live("reading", quiet=json):
            told = {"states": states, "kernel": kernel, "windows": windows, "guide": labelled}
            source = prepared_source(file, parents, header, missing, alphabet, told)
    else:
        assert file is not None
        with live("reading", quiet=json):
            source = file_source(
                file,
                kernel_spec=kernel,
                p=p,
                parents=parents,
                states=states,
                header=header,
                tailed=guide is GuideName.labelled or kernel_source is KernelSourceName.labelled,
                missing=missing.value,
                alphabet=alphabet.value,
            )
    if pictures and device is not None and len(source.names) > MOST_TABLED:
        raise SettingError(f"there are no pictures of {len(source.names):,} nodes; leave --pictures out")
    true_dag, true_names = (source.truth, None) if truth is None else read_named_graph(truth)
    if true_dag is not None and true_dag.n_nodes != len(source.names):
        raise SettingError(f"the true graph has {true_dag.n_nodes} nodes, the table {len(source.names)} columns")
    options: dict[str, Any] = {
        "n_parents": source.n_parents,
        "kernel": source.kernel,
        "kernel_source": None if kernel_source is None else kernel_source.value,
        "guide": None if guide is None else guide.value,
        "divergence": None if divergence is None else read_divergence(divergence),
        "search": search.value,
        "list_length": list_length,
        "in_degree": None if in_degree is None else in_degree.value,
        "penalty": read_penalty(penalty),
        "share": share.value,
        "classes": read_classes(classes),
        "error": read_error(error),
        "missing": missing.value,
        "order": read_order(order),
        "forbidden": read_edges(forbid, "--forbid"),
        "required": read_edges(require, "--require"),
        "tiers": read_tiers(tiers),
        "max_lag": max_lag,
        "windows": windows,
        "labelled_form": labelled_form.value,
        "kappa": kappa,
        "solver": solver.value,
        "rate": rate,
        "epochs": epochs,
        "stop": stop,
        "smoothing": smoothing,
        "roots": read_roots(roots, source.names if windows is None else window_names(windows)),
        "root_level": root_level,
        "starts": starts,
        "rounds": rounds,
        "names": source.names_for(windows),
        "memory_limit": memory_limit,
        "device": device,
    }
    if not json:
        print_notes(source.rows, options["order"], options["tiers"])
    if plan:
        _print_plan(source.rows, options, json)
        return
    forecast = foresee(source.rows, **options) if spent else None
    with live("learning", quiet=json):
        learned: kgmi.Learned | Wide = kgmi.learn(source.rows, **options)
        _keep_origin(learned, file, header, missing, alphabet, states)
        if isinstance(learned, Wide):  # of many nodes, on a device
            written = [] if out is None else write_wide(learned, out)
        else:
            finish_report(learned)
            _ = learned.trust  # made now, while it is told how far it is
            written = [] if out is None else write_results(learned, out, pictures=pictures)
    if isinstance(learned, Wide):
        compared = None if true_dag is None else _compared(learned, true_dag, true_names)
        report_wide(learned, compared, written, json)
        return
    comparison = None if true_dag is None else _compared(learned, true_dag, true_names)
    _report(learned, comparison, written, forecast, json)


def _keep_origin(
    learned: kgmi.Learned | Wide,
    file: Path | None,
    header: bool,
    missing: MissingName,
    alphabet: AlphabetName,
    states: str | None,
) -> None:
    """What a result, and every report of it, says of where the rows came from, and how to run it again."""
    reading: dict[str, Any] = {} if header else {"header": False}
    if missing is not MissingName.error:
        reading["missing"] = missing.value
    if alphabet is not AlphabetName.shared:
        reading["alphabet"] = alphabet.value
    if states is not None:
        reading["states"] = read_names(states, "--states")
    table, command = None if file is None else str(file), shlex.join(["kgmi", *sys.argv[1:]])
    keep_origin(learned.configuration, table, reading, command)


def _print_plan(rows: Source, options: dict[str, Any], json: bool) -> None:
    forecast, most = foresee(rows, **options), read_bytes(options["memory_limit"])
    if json:
        output.print_json(forecast_dict(forecast, most))
    else:
        print_forecast(forecast, most)


def _compared(learned: kgmi.Learned | Wide, true: Dag, names: list[str] | None) -> Comparison:
    """By name where the graph knows the names, as files of ours do; else by the place of the columns."""
    if names is None or {*names} != {*learned.names}:
        return compare(learned.dag, true, learned.order)
    return compare(learned.dag, true, [names.index(name) for name in learned.names])


def _report(
    learned: kgmi.Learned,
    comparison: Comparison | None,
    written: list[Path],
    forecast: Forecast | None,
    json: bool,
) -> None:
    if json:
        content = output.learned_dict(learned) | {"files": [str(path) for path in written]}
        if comparison is not None:
            content["comparison"] = output.comparison_dict(comparison)
        if forecast is not None:
            content["spent"] = spent_dict(learned, forecast)
        output.print_json(content)
        return
    output.print_learned(learned)
    output.print_checks(learned.checks)
    output.print_kernels(learned)
    if learned.assumptions is not None:
        output.print_assumptions(learned.assumptions)
    if comparison is not None:
        output.print_comparison(comparison)
    for path in written:
        typer.echo(f"wrote {path}")
    for path in written:
        if path.name == REPORT:
            output.print_wrapped(f"To look at it node by node, with the evidence: open {path}")
    if forecast is not None:
        print_spent(learned, forecast)
