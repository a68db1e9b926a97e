"""``kgmi bench certificates``: how often certificates are false, and how many rows they need."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgmi.cli import output
from kgmi.cli.display import progress_bar
from kgmi.cli.options import ForceOption
from kgmi.cli.terminal import say
from kgmi.errors import SettingError
from kgmi.outputs import check_replaceable

__all__ = ["certificates"]


def certificates(
    nodes: Annotated[
        int, typer.Option(help="Null nodes whose true parents are tested, for each way to certify; 0 for none.")
    ] = 10_000,
    alpha: Annotated[
        str, typer.Option(help="Levels α, with commas; power is measured at the first.")
    ] = "0.05,0.01",
    null_rows: Annotated[int, typer.Option(help="Rows of each null sample, looked at again and again.")] = 300,
    rows: Annotated[
        str, typer.Option(help="Rows at which power is measured, with commas.")
    ] = "100,150,200,300,400,600,800,1000,1500,2000,3000",
    kernels: Annotated[int, typer.Option(help="Kernels drawn from each seed to measure power; 0 for none.")] = 12,
    graph: Annotated[str, typer.Option(help="Graph, as for kgmi bench graphs.")] = "paper",
    kernel: Annotated[str, typer.Option(help="Kernels, as for kgmi bench graphs.")] = "paper",
    ways: Annotated[
        str, typer.Option(help="Ways to certify, with commas: known, sequential, split.")
    ] = "known,sequential,split",
    seeds: Annotated[
        str, typer.Option(help="Seeds of the samples, with commas; the null nodes are drawn from the first.")
    ] = "1,2,3",
    out: Annotated[Path | None, typer.Option(help="Folder for certificates.json and certificates.png.")] = None,
    force: ForceOption = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Test certificates by simulation: true parents that are ever refuted, and nodes certified by number of rows.

    Example: kgmi bench certificates --nodes 10000 --alpha 0.05,0.01

    The first part must stay below α, the second says how many rows a certificate costs. Small numbers for a first
    look: --nodes 200 --kernels 2 --rows 200,400.
    """
    from kgmi.bench.certificates import calibrate, measure_power, report
    from kgmi.bench.graphs import Setting
    from kgmi.bench.saving import save_benchmark

    levels, kinds = _levels(alpha), tuple(part.strip() for part in ways.split(","))
    drawn = [_whole(part, "--seeds") for part in seeds.split(",")]
    sizes = [_whole(part, "--rows") for part in rows.split(",")]
    if nodes < 0 or kernels < 0 or nodes == kernels == 0:
        raise SettingError("--nodes and --kernels must not be negative, and not both 0")
    if out is not None:
        check_replaceable(out / "certificates.json", "benchmark", force=force)
        check_replaceable(out / "certificates.png", "png", force=force)
    setting = Setting(graph, kernel, max(kernels, 1))
    with progress_bar("null nodes", "graphs", quiet=json) as tell:
        found = (
            calibrate(
                setting, n_nodes=nodes, n_rows=null_rows, alphas=levels, seed=drawn[0], kinds=kinds, tell=tell
            )
            if nodes
            else []
        )
    with progress_bar("power", "samples", quiet=json) as tell:
        powers = (
            measure_power(setting, rows=sizes, seeds=drawn, alpha=levels[0], kinds=kinds, tell=tell)
            if kernels
            else []
        )
    content = report.plain_values(setting, levels, drawn, found, powers)
    if out is not None:
        save_benchmark(out / "certificates.json", content, force=force)
        if powers:
            from kgmi.plots.canvas import write_figure

            write_figure(report.power_figure(powers, levels[0]), out / "certificates.png", force=force)
    if json:
        output.print_json(content)
        return
    if found:
        title = f"True parents ever refuted within {null_rows:,} rows, and false certificates of whole fits"
        output.print_table(report.calibration_columns(levels), report.calibration_lines(found, levels), title)
    if powers:
        title = (
            f"Share of nodes with parents that are certified (α = {levels[0]:g}, {len(powers[0].shares)} samples)"
        )
        output.print_table(report.power_columns(powers), report.power_lines(powers), title, right=0)
        wrong = sum(sum(one.n_false) for one in powers)
        say(f"False certificates among all of these: {wrong}")
    if out is not None:
        say(f"wrote {out / 'certificates.json'}")


def _levels(text: str) -> tuple[float, ...]:
    try:
        levels = tuple(float(part) for part in text.split(","))
    except ValueError:
        levels = ()
    if not levels or not all(0 < level < 1 for level in levels):
        raise SettingError(f"--alpha takes levels between 0 and 1, separated by commas; got {text!r}")
    return levels


def _whole(text: str, option: str) -> int:
    if not text.strip().isdecimal():
        raise SettingError(f"{option} takes whole numbers separated by commas, got {text!r}")
    return int(text)
