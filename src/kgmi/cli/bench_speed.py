"""``kgmi bench counts``, ``fit``, ``rows``, ``ascent``, ``gpu``: how fast, with a picture and fitted growth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgmi.cli import output
from kgmi.cli.bench import whole_numbers
from kgmi.cli.display import progress_bar
from kgmi.cli.options import ForceOption, JsonOption
from kgmi.cli.terminal import say
from kgmi.errors import SettingError
from kgmi.outputs import check_replaceable

if TYPE_CHECKING:
    from kgmi.bench.speed import Measured

__all__ = ["ascent", "check_measured", "counts", "fit", "gpu", "rows", "show_measured"]


def _check_seed(seed: int) -> int:
    if seed < 0:
        raise SettingError(f"--seed must be a whole number from 0 on, got {seed}")
    return seed


OutOption = Annotated[Path | None, typer.Option(help="Folder for a JSON file and a picture (PNG).")]
QuickOption = Annotated[bool, typer.Option("--quick", help="Small sizes, to see that it works.")]
SeedOption = Annotated[int, typer.Option(help="Seed of the data.", callback=_check_seed)]
_RepeatsOption = Annotated[int, typer.Option(help="Rounds; the shortest time counts.")]
_LimitOption = Annotated[float, typer.Option(help="Seconds for one method on one size, its start included.")]


def counts(
    nodes: Annotated[str, typer.Option(help="Sizes T, with commas.")] = "100,200,500,1000",
    states: Annotated[int, typer.Option(help="States S of every column.")] = 3,
    rows: Annotated[int, typer.Option(help="Rows N.")] = 10_000,
    pairs: Annotated[int, typer.Option(help="Pairs that np.bincount is timed on; scaled to all.")] = 2_000,
    repeats: _RepeatsOption = 5,
    seed: SeedOption = 0,
    quick: QuickOption = False,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Count all pairs: kgmi, one-hot matrix products, np.bincount, and the AND + popcount ceiling of the machine.

    Example: kgmi bench counts --nodes 100,200,500,1000 --states 3 --rows 10000 --out benchmarks/counts

    Counting is the first step of every fit. Add --quick to see that it works.
    """
    from kgmi.bench.speed.counts import measure_counts

    check_measured(out, "counts", force)
    sizes, n_rows = ((20, 40), 2_000) if quick else (whole_numbers(nodes, "--nodes"), rows)
    with progress_bar("counts", "sizes", quiet=json) as tell:
        found = measure_counts(
            sizes, states, n_rows, repeats=2 if quick else repeats, sample_pairs=pairs, seed=seed, tell=tell
        )
    show_measured(found, out, json, force)


def fit(
    nodes: Annotated[
        str, typer.Option(help="Sizes T, multiples of 10, with commas.")
    ] = "10,20,50,100,200,500,1000",
    rows: Annotated[int, typer.Option(help="Rows N.")] = 10_000,
    peers: Annotated[str, typer.Option(help="Peers: all, none, or their keys with commas.")] = "all",
    most: Annotated[
        str,
        typer.Option(help="Up to which T a peer is tried, where that is not to be as usual: KEY=T, with commas."),
    ] = "",
    seed: SeedOption = 1,
    limit: _LimitOption = 600.0,
    quick: QuickOption = False,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Learn copies of the paper's graph, order given, kernel unknown: kgmi and peers, with F1 and memory.

    Example: kgmi bench fit --nodes 10,100,1000 --peers pybnesian-mmhc-order,pyagrum-k2 --out benchmarks/fit

    Whole fits, from rows to graph. Add --quick to see that it works.
    """
    from kgmi.bench.registry import chosen_peers
    from kgmi.bench.speed.fit import measure_fits
    from kgmi.bench.speed.methods import OURS, PEERS, with_sizes

    check_measured(out, "fit", force)
    _check_limit(limit)
    chosen = (OURS, *chosen_peers(peers, with_sizes(PEERS, most)))
    sizes, n_rows = ((10, 20), 2_000) if quick else (whole_numbers(nodes, "--nodes"), rows)
    with progress_bar("fits", "sizes", quiet=json) as tell:
        found = measure_fits(sizes, n_rows, chosen, seed=seed, limit=limit, tell=tell)
    show_measured(found, out, json, force)


def rows(
    nodes: Annotated[str, typer.Option(help="Sizes T, multiples of 10, with commas.")] = "10,50,200",
    rows: Annotated[
        str, typer.Option(help="Sizes N, with commas; T · N goes up to 10⁸.")
    ] = "1000,10000,100000,1000000,10000000",
    seed: SeedOption = 1,
    limit: _LimitOption = 600.0,
    quick: QuickOption = False,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Learn from more and more rows, and fit time ∝ T^a · N^b: likelihood with unknown kernel, and stationary.

    Example: kgmi bench rows --nodes 10 --rows 1000,10000,100000,1000000,10000000 --out benchmarks/rows

    How the time of a fit grows with the rows. Add --quick to see that it works.
    """
    from kgmi.bench.speed.rows import measure_rows

    check_measured(out, "rows", force)
    _check_limit(limit)
    sizes, most_cells = (whole_numbers(nodes, "--nodes"), whole_numbers(rows, "--rows")), 100_000_000
    if quick:
        sizes, most_cells = ((10, 20), (500, 1_000)), 10_000
    with progress_bar("rows", "sizes", quiet=json) as tell:
        found = measure_rows(*sizes, seed=seed, limit=limit, most_cells=most_cells, tell=tell)
    show_measured(found, out, json, force)


def ascent(
    copies: Annotated[
        str, typer.Option(help="Copies of the paper's 10-node graph, with commas; 10 are the paper's T = 100.")
    ] = "1,2,5,10",
    epochs: Annotated[int, typer.Option(help="Most epochs.")] = 1_000_000,
    divergence: Annotated[str, typer.Option(help="Divergence of the scores.")] = "kl",
    plain_epochs: Annotated[
        int, typer.Option(help="Epochs that the plain loop is timed on; scaled to as many as kgmi ran.")
    ] = 1_000,
    repeats: _RepeatsOption = 3,
    quick: QuickOption = False,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Train attention on the paper's T = 100 experiment: the compiled ascent, and a plain NumPy loop.

    Example: kgmi bench ascent --copies 1,2,5,10 --out benchmarks/ascent

    How long training takes, epoch by epoch. Add --quick to see that it works.
    """
    from kgmi.bench.speed.ascent import measure_ascent
    from kgmi.specs import read_divergence_name

    check_measured(out, "ascent", force)
    read_divergence_name(divergence)  # refuses one that does not exist
    sizes, most, some = ((1, 2), 500, 100) if quick else (whole_numbers(copies, "--copies"), epochs, plain_epochs)
    with progress_bar("ascent", "sizes", quiet=json) as tell:
        found = measure_ascent(
            sizes, most, divergence=divergence, plain_epochs=some, repeats=1 if quick else repeats, tell=tell
        )
    show_measured(found, out, json, force)


def gpu(
    nodes: Annotated[str, typer.Option(help="Sizes T, multiples of 10, with commas.")] = "1000,5000",
    rows: Annotated[int, typer.Option(help="Rows N.")] = 10_000,
    device: Annotated[str, typer.Option(help="cuda, cuda:1 … (or cpu).")] = "cuda",
    repeats: _RepeatsOption = 3,
    seed: SeedOption = 1,
    quick: QuickOption = False,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Count and learn on a device: its best matrix product, counting as a share of it, whole fits.

    Example: kgmi bench gpu --nodes 1000,5000 --rows 10000 --out benchmarks/gpu

    Needs the extra gpu and an NVIDIA device. Add --quick to see that it works.
    """
    from kgmi.bench.speed.gpu import measure_gpu

    check_measured(out, "gpu", force)
    sizes, n_rows = ((20, 40), 2_000) if quick else (whole_numbers(nodes, "--nodes"), rows)
    with progress_bar("gpu", "sizes", quiet=json) as tell:
        found = measure_gpu(sizes, n_rows, device, repeats=1 if quick else repeats, seed=seed, tell=tell)
    show_measured(found, out, json, force)


def show_measured(found: Measured, out: Path | None, json: bool, force: bool) -> None:
    """Write the files that are asked for, and print tables or JSON."""
    from kgmi.bench.speed import save_measured

    content = found.to_dict()
    paths = [] if out is None else save_measured(found, out, content, force=force)
    if json:
        output.print_json(content)
        return
    for table in found.tables:
        output.print_table(table.columns, table.rows, table.title, right=table.right)
    for sentence in found.sentences:
        output.print_wrapped(sentence)
    machine = content["machine"]
    output.print_wrapped(f"Machine: {machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB.")
    for path in paths:
        say(f"wrote {path}")


def check_measured(out: Path | None, kind: str, force: bool) -> None:
    """Look at the files of a benchmark before any work is done."""
    if out is not None:
        check_replaceable(out / f"{kind}.json", "benchmark", force=force)
        check_replaceable(out / f"{kind}.png", "png", force=force)


def _check_limit(limit: float) -> None:
    if not 0 < limit < float("inf"):
        raise SettingError(f"--limit must be a positive number of seconds, got {limit}")
