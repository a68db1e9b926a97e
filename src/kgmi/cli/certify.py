"""``kgmi certify``: what is certain about a graph, and how many rows are still missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import kgmi
from kgmi.certify import Certificate, NodeCertificate
from kgmi.cli import output
from kgmi.cli.choices import AlphabetName, MethodName, MissingName, ShareName
from kgmi.cli.display import live
from kgmi.cli.limits import (
    QUOTES,
    read_classes,
    read_edges,
    read_error,
    read_names,
    read_order,
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
from kgmi.cli.preparing import PrepareOption, prepared_source, print_notes
from kgmi.cli.sources import Source, example_source, file_source
from kgmi.cli.specs import TunablesOption, read_kernel
from kgmi.cli.streams import Batches, read_batches
from kgmi.data import Table
from kgmi.data.windows import window_names
from kgmi.errors import DataError, SettingError
from kgmi.graph.naming import shown_list
from kgmi.learning.certified import learn_and_keep, refuse_learned_order

__all__ = ["certify"]


def certify(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Table, as for kgmi learn, rows in the order in which they came; - for standard input."
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
    alphabet: AlphabetOption = AlphabetName.shared,
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
    if (file is None) == (example is None):
        raise SettingError("give one table: a FILE (- for standard input), or --example NAME")
    if p is not None and kernel is None:
        raise SettingError("--p sets the tunables of the paper's kernel; use it with --kernel paper")
    refuse_learned_order(order)
    piped = file is not None and str(file) == "-"
    _check_batches(piped, until_certified, batch, bootstrap, method, windows, alphabet, missing)
    if prepare and (example is not None or until_certified):
        raise SettingError("--prepare needs a FILE and looks at all of it; leave --example, --until-certified out")
    options: dict[str, Any] = {
        "in_degree": None if in_degree is None else in_degree.value,
        "share": share.value,
        "classes": read_classes(classes),
        "order": read_order(order),
        "error": read_error(error),
        "forbidden": read_edges(forbid, "--forbid"),
        "required": read_edges(require, "--require"),
        "tiers": read_tiers(tiers),
        "max_lag": max_lag,
    }
    size = batch or 100
    if piped:
        options |= {"kernel": None if kernel is None else read_kernel(kernel, p), "n_parents": parents}
        batches = read_batches(sys.stdin, _piped_states(states, kernel, p), header, missing.value, size)
        options["roots"] = read_roots(roots, batches.names)
        _stream(batches, alpha, patience, {"missing": missing.value, **options}, json)
        return
    if example is not None:
        source = example_source(example, kernel, p, parents, None)
    elif prepare:
        assert file is not None
        told = {"states": states, "kernel": kernel, "windows": windows}
        source = prepared_source(file, parents, header, missing, alphabet, told)
    else:
        assert file is not None
        source = file_source(
            file,
            kernel_spec=kernel,
            p=p,
            parents=parents,
            states=states,
            header=header,
            tailed=False,
            missing=missing.value,
            alphabet=alphabet.value,
        )
    names = source.names if windows is None else window_names(windows)
    options |= {"kernel": source.kernel, "n_parents": source.n_parents, "roots": read_roots(roots, names)}
    options["missing"] = missing.value
    if until_certified:
        _stream(_batches_of(source, size), alpha, patience, options, json)
        return
    if not json:
        print_notes(source.rows, options["order"], options["tiers"])
    options |= {"windows": windows, "names": source.names_for(windows)}
    with live("learning", quiet=json):
        learned = learn_and_keep(source.rows, options)
        certificate = learned.certify(alpha, method=method.value, patience=patience)
        shares = None if bootstrap is None else learned.bootstrap(bootstrap)
    _report(certificate, shares, None, json, None if windows is None else names[-1:])


def _check_batches(
    piped: bool,
    until_certified: bool,
    batch: int | None,
    bootstrap: int | None,
    method: MethodName,
    windows: int | None,
    alphabet: AlphabetName,
    missing: MissingName,
) -> None:
    """Refuse options that do not go together."""
    if piped and not until_certified:
        raise SettingError("rows from standard input are read until all is certified: add --until-certified")
    if not until_certified:
        if batch is not None:
            raise SettingError("--batch says how many rows are read at a time; use it with --until-certified")
        return
    if batch is not None and batch < 1:
        raise SettingError(f"--batch must be at least 1 row, got {batch}")
    wrong = {
        "--bootstrap": bootstrap is not None,
        "--method split": method is MethodName.in_halves,
        "--windows": windows is not None,
        "--alphabet own": alphabet is AlphabetName.own,
        "--missing category": missing is MissingName.category,
    }
    for option, given in wrong.items():
        if given:
            raise SettingError(f"{option} needs the whole table; leave it or --until-certified out")


def _piped_states(states: str | None, kernel: str | None, p: str | None) -> list[str]:
    if states is not None:
        return read_names(states, "--states")
    if kernel is None:
        raise SettingError("rows from standard input need their states beforehand: --states A,B,…")
    return [str(code) for code in range(read_kernel(kernel, p).n_states)]


def _batches_of(source: Source, size: int) -> Batches:
    table = source.rows
    assert isinstance(table, Table)
    pieces = (
        Table(table.codes[start : start + size], table.names, table.states)
        for start in range(0, len(table.codes), size)
    )
    return Batches(table.names, table.states, pieces)


def _stream(batches: Batches, alpha: float, patience: float, options: dict[str, Any], json: bool) -> None:
    """Read until all is certified, or the rows end."""
    certifier = kgmi.Certifier(alpha=alpha, patience=patience, states=batches.states, **options)
    with live("learning", quiet=json):
        done = any(certifier.update(table) for table in batches.tables)
    made, n_rows = certifier.certificate, certifier.n_rows
    if made is None:
        raise DataError(
            f"nothing can be learned from these {n_rows:,} rows: a column is constant or has too few values, or no "
            "row is complete"
        )
    _report(made, None, (done, _outcome(made, done, n_rows)), json, None)


def _outcome(made: Certificate, done: bool, n_rows: int) -> str:
    """Why reading ended."""
    if not done:
        return f"The rows ended, {n_rows:,} of them, before everything was certified."
    if len(made.certified) == len(made.nodes):
        return f"Everything is certified, after {n_rows:,} rows: reading stopped."
    return (
        f"Every node with parents so far is certified as far as it can be, after {n_rows:,} rows: reading stopped. "
        "A node without parents so far may still turn out to have some."
    )


def _report(
    certificate: Certificate,
    shares: dict[tuple[str, str], float] | None,
    ended: tuple[bool, str] | None,
    json: bool,
    only: tuple[str, ...] | None,
) -> None:
    if json:
        content = certificate.to_dict() | {"certified": list(certificate.certified), "text": str(certificate)}
        if shares is not None:
            content["bootstrap"] = [{"parent": a, "child": b, "share": s} for (a, b), s in shares.items()]
        if ended is not None:
            content |= {"complete": ended[0], "outcome": ended[1]}
        output.print_json(content)
        return
    shown = [node for node in certificate.nodes if only is None or node.name in only]
    columns = ["node", "parents", "certified", "log e (nats)", "p-value", "rows missing", "hardest alternative"]
    output.print_table(columns, [_line(node) for node in shown], right=3)
    for sentence in [*certificate.sentences, *([] if ended is None else [ended[1]])]:
        output.print_wrapped(sentence)
    if shares is not None:
        lines = [[parent, child, f"{share:.3f}"] for (parent, child), share in shares.items()]
        output.print_table(["parent", "child", "share of resamples"], lines, right=2)


def _line(node: NodeCertificate) -> list[str]:
    what = "no" if not node.certified else "yes" if node.exact else "these, maybe more"
    if node.certified and node.settled:
        what = "no other is open"
    if not node.certified and (sure := [edge.parent for edge in node.edges if edge.certified]):
        what = f"only {shown_list(sure)}"
    if node.hardest is None:
        return [
            node.name,
            shown_list(node.parents) or "(root)",
            what,
            "",
            "",
            "",
            "",
        ]
    missing = "" if node.certified else "unknown" if node.rows_missing is None else f"{node.rows_missing:,}"
    if not node.certified and not node.certifiable:
        missing = "never"
    return [
        node.name,
        shown_list(node.parents) or "(root)",
        what,
        f"{node.log_e:,.1f}",
        f"{node.p_value:.2g}",
        missing,
        shown_list(node.hardest) or "(root)",
    ]
