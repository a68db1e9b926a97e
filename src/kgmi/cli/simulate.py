"""``kgmi sample`` and ``kgmi exact``: rows from a process, and its exact population."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, BinaryIO

import numpy as np
import typer

from kgmi.attention import decode, limit
from kgmi.cli import output
from kgmi.cli.choices import GuideName
from kgmi.cli.display import live
from kgmi.cli.helping import offers
from kgmi.cli.options import ForceOption
from kgmi.cli.specs import CopiesOption, GraphOption, KernelOption, TunablesOption, process_in_order
from kgmi.cli.terminal import say
from kgmi.errors import SettingError
from kgmi.exact import exact_joint
from kgmi.files import atomic_write
from kgmi.guides import scores
from kgmi.guides.labelled import expected_labelled_scores, tail_names
from kgmi.guides.stationary import find_roots
from kgmi.metrics import compare
from kgmi.outputs import check_replaceable
from kgmi.process import Process
from kgmi.progress import tell
from kgmi.sampling import sample_chunks
from kgmi.specs import DIVERGENCE_NAMES, read_divergence, read_graph, read_kernel
from kgmi.table import default_names
from kgmi.types import Codes

__all__ = ["exact", "sample"]


def sample(
    rows: Annotated[int, typer.Option(help="Number of rows.")],
    graph: GraphOption = "paper",
    kernel: KernelOption = "paper",
    p: TunablesOption = None,
    copies: CopiesOption = 1,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = 0,
    labelled: Annotated[
        bool,
        typer.Option("--labelled", help="Add the labelled tail of appendix C-B: K uniform tokens and a label."),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write a .csv, .tsv or .npy file; by default CSV on standard output.")
    ] = None,
    force: ForceOption = False,
    json: Annotated[bool, typer.Option("--json", help="Describe the written file as JSON.")] = False,
) -> None:
    """Draw rows from a graph and a kernel.

    Example: kgmi sample --graph paper --kernel paper --rows 10000 --seed 1 --out rows.csv

    The graph says who depends on whom, the kernel how: roots are drawn first, then every node given the states of
    its parents. Use it to make tables whose true graph you know, and try kgmi learn on them.
    """
    if rows < 1:
        raise SettingError(f"--rows must be at least 1, got {rows}")
    if seed < 0:
        raise SettingError(f"--seed must not be negative, got {seed}")
    ending = ".csv" if out is None else out.suffix.lower()
    if ending not in (".csv", ".tsv", ".npy"):
        raise SettingError(f"--out must end in .csv, .tsv or .npy, got {out}")
    if json and out is None:
        raise SettingError("--json describes the file that was written; it needs --out")
    process = Process(read_graph(graph, copies), read_kernel(kernel, p))
    chunks = sample_chunks(process, rows, rng=seed, labelled=labelled)
    names = default_names(process.n_nodes) + (tail_names(process.kernel.n_parents) if labelled else ())
    if out is None:
        _write(sys.stdout.buffer, chunks, names, ending)
        return
    with live("drawing rows", quiet=json), atomic_write(out, "unmarked", force=force) as stream:
        _write(stream, _told(chunks, rows), names, ending)
    if json:
        output.print_json({"file": str(out), "rows": rows, "names": names, "seed": seed})
    else:
        say(f"wrote {out}")


def exact(
    graph: GraphOption = "paper",
    kernel: KernelOption = "paper",
    p: TunablesOption = None,
    copies: CopiesOption = 1,
    divergence: Annotated[
        str | None,
        typer.Option(
            help="Divergence of the scores; kl, or pearson for the labelled estimator.",
            autocompletion=offers(*DIVERGENCE_NAMES),
        ),
    ] = None,
    guide: Annotated[
        GuideName, typer.Option(help="labelled is the expectation of the labelled estimator.")
    ] = GuideName.stationary,
    kappa: Annotated[float, typer.Option(help="κ of the labelled estimator.")] = 0.0,
    out: Annotated[
        Path | None, typer.Option(help="Write the pair joints [T, T, S, S], nodes as shown, to this .npy file.")
    ] = None,
    force: ForceOption = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Exact population: laws of the nodes, best candidates of each head, and whether they are the parents.

    Example: kgmi exact --graph paper --kernel paper --divergence hellinger-matched

    What infinitely many rows would say, without sampling error: where the best candidates of a head are not the
    parents here, no number of rows will mend it with this guide.
    """
    process, names = process_in_order(graph, copies, kernel, p)
    if out is not None and out.suffix != ".npy":
        raise SettingError(f"--out must end in .npy, got {out}")
    if kappa != 0 and guide is not GuideName.labelled:
        raise SettingError(f"--kappa belongs to the labelled estimator (--guide labelled), not to '{guide.value}'")
    if out is not None:
        check_replaceable(out, "unmarked", force=force)
    joint = exact_joint(process)
    if guide is GuideName.labelled:
        if divergence not in (None, "pearson"):
            raise SettingError(f"the labelled estimator is Pearson's χ²; it cannot use {divergence!r}")
        divergence, table = "pearson", expected_labelled_scores(process, kappa)
    else:
        divergence = divergence or "kl"
        table = scores(joint, process.kernel, read_divergence(divergence), guide.value)
    found = decode(limit(table).attention, roots=find_roots(joint))
    result = compare(found, process.dag)
    if out is not None:
        with atomic_write(out, "unmarked", force=force) as stream:
            np.save(stream, joint.joint, allow_pickle=False)
    marginal = np.einsum("iiss->is", joint.joint)
    if json:
        content = {"names": names, "marginal": marginal, "scores": table, "best": found.parents}
        output.print_json(content | {"true": process.dag.parents, "comparison": output.comparison_dict(result)})
        return
    rows = [
        [
            name,
            ", ".join(f"{value:.4f}" for value in marginal[node]),
            ", ".join(names[q] for q in process.dag.parents[node]) or "(root)",
            ", ".join(names[q] for q in found.parents[node]) or "(root)",
        ]
        for node, name in enumerate(names)
    ]
    output.print_table(
        ["node", "law (probability of each state)", "parents", f"best by {divergence} ({guide})"], rows, right=9
    )
    output.print_comparison(result)


def _told(chunks: Iterable[Codes], n_rows: int) -> Iterator[Codes]:
    """The same rows, with how many there are so far."""
    done = 0
    for chunk in chunks:
        yield chunk
        done += len(chunk)
        tell("drawing rows", done, n_rows, "rows")


def _write(stream: BinaryIO, chunks: Iterable[Codes], names: Sequence[str], ending: str) -> None:
    """Rows as .csv, .tsv or .npy."""
    if ending == ".npy":
        np.save(stream, np.concatenate(list(chunks)), allow_pickle=False)
        return
    delimiter = "," if ending == ".csv" else "\t"
    stream.write((delimiter.join(names) + "\n").encode())
    for chunk in chunks:
        text = io.BytesIO()
        np.savetxt(text, chunk, fmt="%d", delimiter=delimiter)
        stream.write(text.getvalue())
