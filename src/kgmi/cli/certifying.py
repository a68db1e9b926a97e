"""What ``kgmi certify`` does: read, learn, certify, print."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import kgmi
from kgmi.certify import Certificate, NodeCertificate
from kgmi.cli import output
from kgmi.cli.choices import AlphabetName, MethodName, MissingName
from kgmi.cli.display import live
from kgmi.cli.learning_source import read_source
from kgmi.cli.limits import read_limits, read_names, read_roots
from kgmi.cli.preparing import print_notes
from kgmi.cli.sources import Source, check_codes
from kgmi.cli.streaming import tell_stream
from kgmi.cli.streams import Batches, read_batches
from kgmi.counts.counted import CountedTable
from kgmi.errors import DataError, SettingError
from kgmi.graph.naming import shown_list
from kgmi.learning.certified import learn_and_keep, refuse_learned_order
from kgmi.sources.base import Stream
from kgmi.specs import read_kernel
from kgmi.table import Table, window_names

__all__ = ["run_certify"]

_UNUSED = dict.fromkeys(("guide", "kernel_source", "device"))  # options of kgmi learn that there are not here


def run_certify(told: Mapping[str, Any]) -> None:
    """Do as the command was ``told``, by the names of its options."""
    sources, json = told["sources"] or [], told["json"]
    if bool(sources) == (told["example"] is not None):
        raise SettingError("give one table: a FILE (- for standard input), or --example NAME")
    if told["p"] is not None and told["kernel"] is None:
        raise SettingError("--p sets the tunables of the paper's kernel; use it with --kernel paper")
    refuse_learned_order(told["order"])
    piped = sources == ["-"]
    _check_batches(told, piped)
    options = _options(told)
    if piped:
        _read_pipe(told, options)
        return
    source = read_source({**_UNUSED, **told, "stream": _streamed(told), "needs_rows": _needs_rows(told)})
    names = source.names if told["windows"] is None else window_names(told["windows"])
    options |= {"kernel": source.kernel, "n_parents": source.n_parents, "roots": read_roots(told["roots"], names)}
    if told["until_certified"]:
        _stream(_batches_of(source, told["batch"] or 100), told, options | {"missing": told["missing"].value})
        return
    if not json:
        print_notes(source.rows, options["order"], options["tiers"])
    if isinstance(source.rows, Stream):
        options |= {"checkpoint": told["checkpoint"], "cluster": told["cluster"]}
        if not json:
            tell_stream(source.rows)
    elif not isinstance(source.rows, CountedTable):
        named = source.names_for(told["windows"])
        options |= {"missing": told["missing"].value, "windows": told["windows"], "names": named}
    with live("learning", quiet=json):
        learned = learn_and_keep(source.rows, options)
        if isinstance(source.rows, Stream) and source.kernel is not None and told["states"] is None:
            check_codes(source.kernel, learned.states)  # known only now
        certificate = learned.certify(told["alpha"], method=told["method"].value, patience=told["patience"])
        shares = None if told["bootstrap"] is None else learned.bootstrap(told["bootstrap"])
    _report(certificate, shares, None, json, None if told["windows"] is None else names[-1:])


def _options(told: Mapping[str, Any]) -> dict[str, Any]:
    """Options of :func:`kgmi.learn` that do not depend on the rows."""
    return {
        "in_degree": None if told["in_degree"] is None else told["in_degree"].value,
        "share": told["share"].value,
        **read_limits(told),
        "max_lag": told["max_lag"],
    }


def _streamed(told: Mapping[str, Any]) -> bool | None:
    """Whether to stream; None where that is for the size of the file to decide.

    Of rows with gaps the complete ones count, and which these are is known in memory only.
    """
    one = len(told["sources"] or ()) == 1 and Path(told["sources"][0]).is_file()
    asked = any(told[name] for name in ("columns", "where", "checkpoint", "cluster"))
    gaps = told["missing"] is MissingName.pairwise and one and not asked
    return False if gaps and told["stream"] is None else told["stream"]


def _needs_rows(told: Mapping[str, Any]) -> str | None:
    """The option that takes rows one by one, if there is one."""
    asked = {
        "--until-certified": told["until_certified"],
        "--bootstrap": told["bootstrap"] is not None,
        "--method split": told["method"] is MethodName.in_halves,
    }
    return next((option for option, given in asked.items() if given), None)


def _check_batches(told: Mapping[str, Any], piped: bool) -> None:
    """Refuse options that do not go together."""
    batch = told["batch"]
    if piped and not told["until_certified"]:
        raise SettingError("rows from standard input are read until all is certified: add --until-certified")
    of_files = [name for name in ("columns", "where", "checkpoint", "cluster", "stream") if told[name]]
    if piped and of_files:
        raise SettingError(f"--{of_files[0]} goes with files, not with standard input; leave it out")
    if told["prepare"] and (told["example"] is not None or told["until_certified"]):
        raise SettingError("--prepare needs a FILE and looks at all of it; leave --example, --until-certified out")
    if not told["until_certified"]:
        if batch is not None:
            raise SettingError("--batch says how many rows are read at a time; use it with --until-certified")
        return
    if batch is not None and batch < 1:
        raise SettingError(f"--batch must be at least 1 row, got {batch}")
    wrong = {
        "--bootstrap": told["bootstrap"] is not None,
        "--method split": told["method"] is MethodName.in_halves,
        "--windows": told["windows"] is not None,
        "--alphabet own": told["alphabet"] is AlphabetName.own,
        "--missing category": told["missing"] is MissingName.category,
    }
    for option, given in wrong.items():
        if given:
            raise SettingError(f"{option} needs the whole table; leave it or --until-certified out")


def _read_pipe(told: Mapping[str, Any], options: dict[str, Any]) -> None:
    """Rows from standard input, until all is certified."""
    kernel = None if told["kernel"] is None else read_kernel(told["kernel"], told["p"])
    missing = told["missing"].value
    batches = read_batches(
        sys.stdin, _piped_states(told["states"], kernel), told["header"], missing, told["batch"] or 100
    )
    roots = read_roots(told["roots"], batches.names)
    known = {"kernel": kernel, "n_parents": told["parents"], "roots": roots, "missing": missing}
    _stream(batches, told, options | known)


def _piped_states(states: str | None, kernel: kgmi.Kernel | None) -> list[str]:
    if states is not None:
        return read_names(states, "--states")
    if kernel is None:
        raise SettingError("rows from standard input need their states beforehand: --states A,B,…")
    return [str(code) for code in range(kernel.n_states)]


def _batches_of(source: Source, size: int) -> Batches:
    table = source.rows
    if not isinstance(table, Table):
        raise SettingError("--until-certified takes rows one by one, and only counts of them are there")
    pieces = (
        Table(table.codes[start : start + size], table.names, table.states)
        for start in range(0, len(table.codes), size)
    )
    return Batches(table.names, table.states, pieces)


def _stream(batches: Batches, told: Mapping[str, Any], options: dict[str, Any]) -> None:
    """Read until all is certified, or the rows end."""
    certifier = kgmi.Certifier(alpha=told["alpha"], patience=told["patience"], states=batches.states, **options)
    with live("learning", quiet=told["json"]):
        done = any(certifier.update(table) for table in batches.tables)
    made, n_rows = certifier.certificate, certifier.n_rows
    if made is None:
        raise DataError(
            f"nothing can be learned from these {n_rows:,} rows: a column is constant or has too few values, or no "
            "row is complete"
        )
    _report(made, None, (done, _outcome(made, done, n_rows)), told["json"], None)


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
