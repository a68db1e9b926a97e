"""What ``kgmi learn`` learns from: a table or an example, with the kernel that goes with it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from kgmi.cli.choices import GuideName
from kgmi.cli.limits import read_names
from kgmi.cli.specs import read_kernel
from kgmi.data import Alphabet, Missing, Prepared, Table, read_table
from kgmi.data.labelled import split_tail, tail_length
from kgmi.errors import SettingError
from kgmi.examples import example
from kgmi.graph import Dag
from kgmi.graph.naming import shown_list
from kgmi.kernel import Kernel
from kgmi.sampling import LabelledRows

__all__ = ["Source", "example_source", "file_source"]


@dataclass(frozen=True, eq=False)
class Source:
    """Rows, their names and states, the kernel, K, and the true graph where it is known."""

    rows: Table | LabelledRows | Prepared
    names: tuple[str, ...]
    kernel: Kernel | None
    n_parents: int | None
    truth: Dag | None = None

    def names_for(self, windows: int | None) -> tuple[str, ...] | None:
        """Names of the nodes; windows of one sequence have lags for names."""
        return self.names if windows is None else None


def example_source(
    name: str, kernel: str | None, p: str | None, parents: int | None, guide: GuideName | None
) -> Source:
    """Example data; guides that cannot do without a kernel get the example's own."""
    chosen = example(name)
    needs = guide in (GuideName.stationary, GuideName.uniform)
    known = read_kernel(kernel, p) if kernel is not None else chosen.kernel if needs else None
    return Source(chosen.table, chosen.table.names, known, parents, chosen.truth)


def file_source(
    file: Path,
    *,
    kernel_spec: str | None,
    p: str | None,
    parents: int | None,
    states: str | None,
    header: bool,
    tailed: bool,
    missing: Missing,
    alphabet: Alphabet,
) -> Source:
    """A table from a file; its last columns are the labelled tail where that is said."""
    kernel = None if kernel_spec is None else read_kernel(kernel_spec, p)
    declared = None if states is None else read_names(states, "--states")
    if kernel is not None and declared is not None and len(declared) != kernel.n_states:
        raise SettingError(f"the kernel has {kernel.n_states} states, --states lists {len(declared)}")
    n_states = None if kernel is None else kernel.n_states
    table = read_table(file, header=header, states=declared, n_states=n_states, missing=missing, alphabet=alphabet)
    if kernel is not None and declared is None and table.states != tuple(map(str, range(kernel.n_states))):
        shown = shlex.quote(shown_list(table.states[:8], ",") + (",…" if len(table.states) > 8 else ""))
        raise SettingError(
            f"the kernel numbers its states 0..{kernel.n_states - 1}; say which states of the table these are, "
            f"in their order: --states {shown}"
        )
    tail = tail_length(table.names)
    if not tailed:
        if tail:
            listed = shown_list(table.names[-tail:])
            raise SettingError(
                f"the last columns of {file} are a labelled tail ({listed}), not nodes: use --guide labelled or "
                "--kernel-source labelled, or leave them out"
            )
        return Source(table, table.names, kernel, parents)
    heads = parents or (tail - 1 if tail else None) or (None if kernel is None else kernel.n_parents)
    if heads is None:
        raise SettingError(f"{file} names no labelled tail (uniform1, …, label); say its size with --parents")
    rows, names = split_tail(table, heads)
    return Source(rows, names, kernel, heads)
