"""What ``kgmi learn`` prints."""

from __future__ import annotations

from pathlib import Path

import kgmi
from kgmi.cli import output
from kgmi.cli.results import REPORT
from kgmi.cli.terminal import say
from kgmi.graph import Dag
from kgmi.metrics import Comparison, compare

__all__ = ["compared", "report"]


def compared(learned: kgmi.Learned, true: Dag, names: list[str] | None) -> Comparison:
    """By name where the graph knows the names, as files of ours do; else by the place of the columns."""
    if names is None or {*names} != {*learned.names}:
        return compare(learned.dag, true)
    return compare(learned.dag, true, [names.index(name) for name in learned.names])


def report(learned: kgmi.Learned, comparison: Comparison | None, written: list[Path], json: bool) -> None:
    """The result, for people or for machines."""
    if json:
        content = output.learned_dict(learned) | {"files": [str(path) for path in written]}
        if comparison is not None:
            content["comparison"] = output.comparison_dict(comparison)
        output.print_json(content)
        return
    output.print_learned(learned)
    output.print_checks(learned.checks, learned.names)
    output.print_kernels(learned)
    if learned.assumptions is not None:
        output.print_assumptions(learned.assumptions)
    if comparison is not None:
        output.print_comparison(comparison)
    for path in written:
        say(f"wrote {path}")
    for path in written:
        if path.name == REPORT:
            output.print_wrapped(f"To look at it node by node, with the evidence: open {path}")
