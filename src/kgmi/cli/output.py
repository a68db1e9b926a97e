"""What people and machines see: tables on a terminal, JSON with --json."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.checks import Check, checks_to_dicts
from kgmi.cli.terminal import escaped, put, say
from kgmi.cli.wording import as_said
from kgmi.graph.naming import quoted, shown_list
from kgmi.learning import Learned
from kgmi.learning.status import sentences, shown_margin
from kgmi.metrics import Comparison
from kgmi.theory import AssumptionReport
from kgmi.values import plain_values

if TYPE_CHECKING:
    from rich.table import Table as RichTable

__all__ = [
    "assumption_rows",
    "comparison_dict",
    "learned_dict",
    "print_assumptions",
    "print_checks",
    "print_comparison",
    "print_json",
    "print_kernels",
    "print_learned",
    "print_table",
]


_MOST_CONFIGURATIONS = 27  # lines of a kernel that a person still reads


def print_json(content: dict[str, Any]) -> None:
    """One JSON object on standard output; NaN and infinities become null."""
    text = json.dumps(plain_values(content), ensure_ascii=False, allow_nan=False)
    put(escaped(text, short=r"\u{:04x}"))  # JSON knows no \x


def print_table(columns: list[str], rows: list[list[str]], title: str | None = None, right: int = 1) -> None:
    """A plain table; the columns from number ``right`` on are aligned to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    shown = None if title is None else escaped(title)
    table: RichTable = Table(box=box.SIMPLE_HEAD, title=shown, title_justify="left", title_style="bold")
    for number, name in enumerate(columns):
        table.add_column(escaped(name), justify="right" if number >= right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(escaped, row))
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:  # a pipe has no width: give every line the room it needs
        console = Console(highlight=False, markup=False, width=200)
    with console.capture() as text:
        console.print(table)
    put("\n".join(line.rstrip() for line in text.get().splitlines()))


def print_wrapped(sentence: str, indent: str = "", hang: str = "  ") -> None:
    """A sentence broken into lines that fit a terminal; continued lines hang further in."""
    width = min(shutil.get_terminal_size().columns, 100)
    wrapper = textwrap.TextWrapper(width, initial_indent=indent, subsequent_indent=indent + hang)
    wrapper.break_on_hyphens = wrapper.break_long_words = False  # a path or a name can be copied in one piece
    put(wrapper.fill(escaped(sentence)))


def print_learned(learned: Learned, most_nodes: int = 60, *, trust: bool = True) -> None:
    """The learned graph, node by node, how far to trust it, and the status."""
    n_rows = learned.configuration.get("n_rows")
    source = f"{n_rows:,} rows" if n_rows else "the exact population"
    edges = "1 edge" if learned.dag.n_edges == 1 else f"{learned.dag.n_edges:,} edges"
    say(
        f"{edges} among {learned.n_nodes} nodes, from {source} "
        f"({len(learned.states)} states: {shown_list(learned.states[:8])}{' …' if len(learned.states) > 8 else ''})"
    )
    margins = learned.margins
    rows = []
    only = learned.configuration.get("candidates", {}).get("only_children")  # of windows, the newest position
    for child in (range(learned.n_nodes) if only is None else only)[:most_nodes]:
        heads = [head for head in range(learned.n_heads) if _speaks(learned, head, child)]
        rows.append(
            [
                learned.names[child],
                _parents(learned, child),
                ", ".join(f"{learned.attention[h, child].max():.2f}" for h in heads),
                ", ".join(_margin(margins[h, child]) for h in heads),
            ]
        )
    unit = " (nats)" if learned.fit is not None else ""
    print_table(["node", "parents", "attention per head", f"margin per head{unit}"], rows, right=2)
    if only is None and learned.n_nodes > most_nodes:
        say(f"  … and {learned.n_nodes - most_nodes} more nodes (all of them with --json or --out)")
    names = (*learned.names, *learned.states)
    if trust:
        print_wrapped(as_said(learned.trust.sentence, names), hang="")
        say("")
    for sentence in sentences(learned.status):
        print_wrapped(as_said(sentence, names))


def _margin(margin: float) -> str:
    if not np.isfinite(margin):
        return "only candidate"
    return shown_margin(margin)


def _speaks(learned: Learned, head: int, child: int) -> bool:
    """Whether the head had candidates to choose from, and the child is no root."""
    wanted = bool(learned.dag.parents[child]) or child in learned.undecided
    return wanted and bool(learned.attention[head, child].max() > 0)


def _parents(learned: Learned, child: int) -> str:
    if parents := learned.dag.parents[child]:
        return shown_list(learned.names[parent] for parent in parents)
    if child in learned.undecided:
        return "(undecided)"
    block = next((block for block in learned.dag.root_blocks if child in block), ())
    others = [learned.names[node] for node in block if node != child] if learned.fit is not None else []
    return f"(root, drawn with {shown_list(others)})" if others else "(root)"


def print_kernels(learned: Learned) -> None:
    """Learned kernels that are small enough to read: one line for every configuration of the parents."""
    for one in learned.kernels:
        alone = len(one.children) < 2 and len(learned.kernels) > 1
        if one.known or alone or one.counts[..., 0].size > _MOST_CONFIGURATIONS:
            continue
        alphabets = learned.alphabets or (learned.states,) * learned.n_nodes
        child = one.children[0]
        given = [alphabets[node] for node in learned.dag.parents[child]]
        rows = []
        for place in np.ndindex(one.table.shape[:-1]):
            if one.symmetric and list(place) != sorted(place):
                continue  # the same line with the parents the other way round
            law = zip(one.table[place], one.standard_errors[place], strict=True)
            rows.append(
                [
                    shown_list(states[code] for states, code in zip(given, place, strict=True)),
                    *(f"{p:.3f} ± {e:.3f}" if np.isfinite(e) else f"{p:.3f}" for p, e in law),
                    f"{round(float(one.cases[place])):,}",
                ]
            )
        order = " in any order" if one.symmetric and one.n_parents > 1 else ""
        parents = f"parent{'s' * (one.n_parents > 1)}{order}"
        nodes = "one node" if len(one.children) == 1 else f"{len(one.children)} nodes"
        members = "" if one.class_name is None else f" of class {quoted(one.class_name)}"
        title = f"Learned kernel of the {nodes}{members} with {one.n_parents} {parents}"
        sets = {learned.dag.parents[node] for node in one.children}
        heading = shown_list(learned.names[node] for node in sets.pop()) if len(sets) == 1 else parents
        print_table([heading, *alphabets[child], "cases"], rows, title=title)


def print_assumptions(report: AssumptionReport) -> None:
    """The assumption report."""
    say("Assumptions of the paper:")
    for one in report.assumptions:
        print_wrapped(str(one), indent="  ", hang="       ")


def print_checks(checks: Sequence[Check], names: Sequence[str]) -> None:
    """What speaks for the model and against it; the names of the columns are told from options."""
    if checks:
        say("Model check:")
    for check in checks:
        print_wrapped(as_said(str(check), names), indent="  ")


def print_comparison(result: Comparison) -> None:
    """One line against the truth."""
    text = (
        f"Against the true graph: F1 {result.f1:.3f}, precision {result.precision:.3f}, "
        f"recall {result.recall:.3f}, SHD {result.shd} "
        f"({result.n_true - len(result.missing)} of {result.n_true} true edges found"
    )
    turned = f", {len(result.turned)} the wrong way round" if result.turned else ""
    apart = f"; {len(result.apart)} between jointly drawn roots not counted" if result.apart else ""
    say(f"{text}{turned}{apart})")


def learned_dict(learned: Learned) -> dict[str, Any]:
    """A learned graph for machines: names, edges with their attention and margin, status, settings."""
    report = learned.assumptions
    return {
        "names": list(learned.names),
        "states": list(learned.states),
        "parents": learned.parents,
        "edges": learned.edges,
        "order": list(learned.order),
        "undecided": [learned.names[node] for node in learned.undecided],
        "root_blocks": [[learned.names[node] for node in block] for block in learned.dag.root_blocks],
        "kernels": [
            {
                "children": [learned.names[node] for node in one.children],
                "table": one.table.tolist(),
                "counts": one.counts.tolist(),
                "standard_errors": one.standard_errors.tolist(),
                "symmetric": one.symmetric,
                "implied": one.implied,
                "known": one.known,
                "error": one.error,
                "class_name": one.class_name,
            }
            for one in learned.kernels
        ],
        "fit": None if learned.fit is None else asdict(learned.fit),
        "trust": learned.trust.to_dict(),
        "status": learned.status,
        "converged": learned.converged,
        "configuration": learned.configuration,
        "input": learned.fingerprint,
        "assumptions": None if report is None else assumption_rows(report),
        "checks": checks_to_dicts(learned.checks),
    }


def assumption_rows(report: AssumptionReport) -> list[dict[str, Any]]:
    """The assumption report for machines."""
    return [
        {"name": a.name, "holds": a.holds, "value": a.value, "sentence": a.sentence} for a in report.assumptions
    ]


def comparison_dict(result: Comparison) -> dict[str, Any]:
    """A comparison for machines."""
    return {
        "f1": result.f1,
        "precision": result.precision,
        "recall": result.recall,
        "shd": result.shd,
        "missing": result.missing,
        "extra": result.extra,
        "apart": result.apart,
        "turned": result.turned,
    }
