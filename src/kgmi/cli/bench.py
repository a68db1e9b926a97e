"""``kgmi bench``: our methods beside those of other libraries, and by themselves in exact arithmetic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgmi.cli import output
from kgmi.cli.choices import OrderName
from kgmi.cli.display import progress_bar
from kgmi.cli.helping import GroupedCommand, ListedGroup
from kgmi.cli.options import ForceOption
from kgmi.cli.terminal import say
from kgmi.errors import SettingError
from kgmi.outputs import check_replaceable

if TYPE_CHECKING:
    from kgmi.bench import Outcome, Plan
    from kgmi.bench.networks import Network
    from kgmi.bench.order import Order

__all__ = ["bench", "whole_numbers"]

bench = typer.Typer(
    name="bench",
    help="Compare kgmi with the methods of other libraries (extra bench), each in a process of its own.",
    no_args_is_help=True,
    cls=ListedGroup,
    rich_markup_mode=None,
)

_SeedsOption = Annotated[str, typer.Option(help="Seeds of the samples, with commas.")]
_PeersOption = Annotated[str, typer.Option(help="Peers to compare with: all, none, or their keys with commas.")]
_LimitOption = Annotated[
    float, typer.Option(help="Seconds for one method on all samples of one size, its start included.")
]
_OrderOption = Annotated[
    OrderName,
    typer.Option(
        help="given: the columns stand in the order of the graph, and everybody is told. learn: they are shuffled, "
        "and nobody is told an order."
    ),
]
_JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


@bench.command(cls=GroupedCommand)
def networks(
    files: Annotated[list[Path], typer.Argument(help="Bayesian networks: .bif files, also packed as .bif.gz.")],
    rows: Annotated[str, typer.Option(help="Rows of the samples, with commas.")] = "50,100,200",
    seeds: _SeedsOption = "1,2,3",
    parents: Annotated[
        int | None, typer.Option(help="Most parents of a node; by default the most in the network.")
    ] = None,
    peers: _PeersOption = "all",
    order: _OrderOption = OrderName.given,
    limit: _LimitOption = 120.0,
    out: Annotated[Path | None, typer.Option(help="Folder for networks.json.")] = None,
    force: ForceOption = False,
    json: _JsonOption = False,
) -> None:
    """Learn the graphs of Bayesian networks from rows drawn from them, with the order given or without.

    Example: kgmi bench networks alarm.bif.gz --rows 100,1000 --seeds 1,2,3 --peers all

    Every method gets the same rows, in a process of its own with a time limit. Libraries that are not installed are
    lines that say so.
    """
    from kgmi.bench import Plan
    from kgmi.bench.networks import choose_methods, read_bif

    told = _order(order)
    methods = choose_methods(peers, told)
    plan = Plan(whole_numbers(rows, "--rows"), whole_numbers(seeds, "--seeds"), methods, limit, told)
    if parents is not None and parents < 1:
        raise SettingError(f"--parents, the most parents of a node, must be at least 1, got {parents}")
    chosen = [read_bif(file) for file in files]
    _check_names(chosen)
    path = _path(out, "networks.json", force)
    _run_networks(chosen, plan, parents, path, json, force)


@bench.command(cls=GroupedCommand)
def graphs(
    graph: Annotated[
        str | None,
        typer.Option(
            help="paper, paper5, mixed, copies:N (of paper) or random:T,K (another one for every kernel); by "
            "default paper, for xor random:15,2."
        ),
    ] = None,
    kernel: Annotated[
        str,
        typer.Option(
            help="paper (random p, smallest entry at least 0.02), paper:0 (p = 0), random:S,K, mendelian or xor "
            "(right in 9 of 10 cases)."
        ),
    ] = "paper",
    kernels: Annotated[int, typer.Option(help="Kernels drawn from each seed, one sample of each size each.")] = 12,
    rows: Annotated[str, typer.Option(help="Rows of the samples, with commas.")] = "100,300,1000",
    seeds: _SeedsOption = "1,2,3",
    ours: Annotated[
        str, typer.Option(help="Our methods: usual (those that matter for the kernel), all, none, or their keys.")
    ] = "usual",
    peers: _PeersOption = "all",
    order: _OrderOption = OrderName.given,
    limit: _LimitOption = 120.0,
    out: Annotated[Path | None, typer.Option(help="Folder for graphs.json.")] = None,
    force: ForceOption = False,
    json: _JsonOption = False,
) -> None:
    """Learn graphs whose nodes share one kernel from rows drawn from them, with the order given or without.

    Example: kgmi bench graphs --graph paper --kernels 12 --rows 100,300,1000 --seeds 1,2,3 --peers none

    How many rows it takes until a method finds the whole graph. Every method gets the same rows, in a process of
    its own with a time limit.
    """
    from kgmi.bench import Plan, report
    from kgmi.bench.graphs import Setting, choose_methods, compare_graphs
    from kgmi.bench.graphs.report import columns, describe, outcome_lines, plain_values
    from kgmi.bench.saving import save_benchmark

    setting = Setting(graph or ("random:15,2" if kernel == "xor" else "paper"), kernel, kernels)
    told = _order(order)
    methods = choose_methods(kernel, ours, peers, told)
    plan = Plan(whole_numbers(rows, "--rows"), whole_numbers(seeds, "--seeds"), methods, limit, told)
    path = _path(out, "graphs.json", force)
    with progress_bar(setting.name, "methods", quiet=json) as tell:
        found = compare_graphs(setting, plan, tell=tell)
    content = plain_values(setting, plan, found)
    if path is not None:
        save_benchmark(path, content, force=force)
    if json:
        output.print_json(content)
        return
    output.print_wrapped(describe(setting, plan), hang="")
    output.print_table(columns(plan.order), outcome_lines(found, plan.order), right=3)
    _end([*report.trouble_lines(found), *report.missing_lines(plan)], path)


@bench.command(cls=GroupedCommand)
def exact(
    kernels: Annotated[int, typer.Option(help="Kernels with random p on the paper's 10-node graph.")] = 100,
    graphs: Annotated[int, typer.Option(help="Random graphs of 10 nodes, each with such a kernel.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of graphs and kernels.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for exact.json.")] = None,
    force: ForceOption = False,
    json: _JsonOption = False,
) -> None:
    """Learn graphs from their exact laws: without sampling error, what is wrong is the method's own doing.

    Example: kgmi bench exact --kernels 100 --graphs 100 --seed 1

    Shows which guides would fail however many rows there are, and how often.
    """
    from kgmi.bench.exact import try_methods
    from kgmi.bench.exact.report import COLUMNS, outcome_lines, plain_values, trouble_lines
    from kgmi.bench.graphs import Setting
    from kgmi.bench.saving import save_benchmark

    for option, number in (("--kernels", kernels), ("--graphs", graphs), ("--seed", seed)):
        if number < 0:
            raise SettingError(f"{option} must not be negative, got {number}")
    if kernels == graphs == 0:
        raise SettingError("--kernels and --graphs are both 0, so there is nothing to learn")
    path = _path(out, "exact.json", force)
    settings = [Setting(graph, "paper", n) for graph, n in (("paper", kernels), ("random:10,2", graphs)) if n]
    with progress_bar("exact laws", "graphs", quiet=json) as tell:
        found = try_methods(settings, seed, tell=tell)
    content = plain_values(found, seed)
    if path is not None:
        save_benchmark(path, content, force=force)
    if json:
        output.print_json(content)
        return
    output.print_table(COLUMNS, outcome_lines(found), right=4)
    _end(trouble_lines(found), path)


def _run_networks(
    chosen: list[Network], plan: Plan, parents: int | None, path: Path | None, json: bool, force: bool
) -> None:
    """Compare on one network after the other; each is shown and written as soon as it is done."""
    from kgmi.bench import report
    from kgmi.bench.networks import compare_methods
    from kgmi.bench.networks.report import columns, describe, outcome_lines, plain_values
    from kgmi.bench.saving import save_benchmark

    outcomes: list[Outcome] = []
    for number, network in enumerate(chosen, start=1):
        with progress_bar(network.name, "methods", quiet=json) as tell:
            found = compare_methods(network, plan, parents, tell=tell)
        outcomes += found
        if path is not None:
            save_benchmark(path, plain_values(chosen[:number], plan, outcomes, parents), force=force)
        if not json:
            output.print_wrapped(describe(network, parents, plan.order), hang="")
            output.print_table(columns(plan.order), outcome_lines(found, plan.order), right=3)
            for line in report.trouble_lines(found):
                output.print_wrapped(line)
    if json:
        output.print_json(plain_values(chosen, plan, outcomes, parents))
    else:
        _end(report.missing_lines(plan), path)


def _end(lines: list[str], path: Path | None) -> None:
    """What is to be said below the tables."""
    for line in lines:
        output.print_wrapped(line)
    if path is not None:
        say(f"wrote {path}")


def _path(folder: Path | None, name: str, force: bool) -> Path | None:
    """The file in the folder, which is looked at before any work is done."""
    if folder is None:
        return None
    check_replaceable(folder / name, "benchmark", force=force)
    return folder / name


def _order(name: OrderName) -> Order:
    return "learn" if name is OrderName.learn else "given"


def whole_numbers(text: str, option: str) -> tuple[int, ...]:
    """Whole numbers with commas between them."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise SettingError(f"{option} takes whole numbers separated by commas, got {text!r}")
    return tuple(map(int, parts))


def _check_names(chosen: list[Network]) -> None:
    names = [network.name for network in chosen]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"two of the files are called {name!r}; the report could not tell them apart")
