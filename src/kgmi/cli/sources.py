"""What ``kgmi learn`` learns from: a table or an example, with the kernel that goes with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kgmi.cli.choices import GuideName
from kgmi.cli.specs import read_kernel
from kgmi.data import Table, read_table
from kgmi.data.labelled import split_tail, tail_length
from kgmi.errors import SettingError
from kgmi.examples import example
from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.sampling import LabelledRows

__all__ = ["Source", "example_source", "file_source"]


@dataclass(frozen=True, eq=False)
class Source:
    """Rows, their names and states, the kernel, K, and the true graph where it is known."""

    rows: Table | LabelledRows
    names: tuple[str, ...]
    n_states: int
    kernel: Kernel | None
    n_parents: int | None
    truth: Dag | None = None


def example_source(name: str, kernel: str | None, p: str | None, parents: int | None) -> Source:
    """Example data, by default with their own kernel."""
    chosen = example(name)
    guided = chosen.kernel if kernel is None else read_kernel(kernel, p)
    return Source(chosen.table, chosen.table.names, chosen.table.n_states, guided, parents, chosen.truth)


def file_source(
    file: Path,
    *,
    kernel_spec: str | None,
    p: str | None,
    parents: int | None,
    states: str | None,
    header: bool,
    guide: GuideName | None,
) -> Source:
    """A table from a file; its last columns are the labelled tail where the guide says so."""
    kernel = None if kernel_spec is None else read_kernel(kernel_spec, p)
    declared = None if states is None else [state.strip() for state in states.split(",")]
    if kernel is not None and declared is not None and len(declared) != kernel.n_states:
        raise SettingError(f"the kernel has {kernel.n_states} states, --states lists {len(declared)}")
    table = read_table(file, header=header, states=declared, n_states=None if kernel is None else kernel.n_states)
    if kernel is not None and declared is None and table.states != tuple(map(str, range(kernel.n_states))):
        shown = ",".join(table.states[:8])
        raise SettingError(
            f"the kernel numbers its states 0..{kernel.n_states - 1}; say which states of the table these are, "
            f"in their order: --states {shown}{',…' if len(table.states) > 8 else ''}"
        )
    tail = tail_length(table.names)
    if guide is not GuideName.labelled:
        if tail:
            listed = ", ".join(table.names[-tail:])
            raise SettingError(
                f"the last columns of {file} are a labelled tail ({listed}), not nodes: use --guide labelled, "
                "or leave them out"
            )
        return Source(table, table.names, table.n_states, kernel, parents)
    heads = parents or (tail - 1 if tail else None) or (None if kernel is None else kernel.n_parents)
    if heads is None:
        raise SettingError(f"{file} names no labelled tail (uniform1, …, label); say its size with --parents")
    rows, names = split_tail(table, heads)
    return Source(rows, names, table.n_states, kernel, heads)
