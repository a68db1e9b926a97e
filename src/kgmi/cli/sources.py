"""What ``kgmi learn`` learns from, with the kernel that goes with it: a table, an example, a stream, counts."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from kgmi.cli.choices import GuideName
from kgmi.cli.limits import read_names
from kgmi.counts.counted import CountedTable
from kgmi.errors import SettingError
from kgmi.examples import example
from kgmi.graph import Dag
from kgmi.graph.naming import shown_list
from kgmi.guides.labelled import split_tail, tail_length
from kgmi.kernel import Kernel
from kgmi.prepare import Prepared
from kgmi.sampling import LabelledRows
from kgmi.sources.base import Stream
from kgmi.specs import read_kernel
from kgmi.table import Table

__all__ = ["Source", "check_codes", "check_tail", "example_source", "labelled_source", "read_known"]


@dataclass(frozen=True, eq=False)
class Source:
    """Rows, their names and states, the kernel, K, and the true graph where it is known."""

    rows: Table | LabelledRows | Prepared | CountedTable | Stream
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


def labelled_source(table: Table, where: str, kernel: Kernel | None, parents: int | None) -> Source:
    """A table whose last columns are the labelled tail."""
    tail = tail_length(table.names)
    heads = parents or (tail - 1 if tail else None) or (None if kernel is None else kernel.n_parents)
    if heads is None:
        raise SettingError(f"{where} names no labelled tail (uniform1, …, label); say its size with --parents")
    rows, names = split_tail(table, heads)
    return Source(rows, names, kernel, heads)


def read_known(
    kernel_spec: str | None, p: str | None, states: str | None
) -> tuple[Kernel | None, list[str] | None]:
    """The kernel, where it is known, and the states, where they are declared: as many as the kernel has."""
    kernel = None if kernel_spec is None else read_kernel(kernel_spec, p)
    declared = None if states is None else read_names(states, "--states")
    if kernel is not None and declared is not None and len(declared) != kernel.n_states:
        raise SettingError(f"the kernel has {kernel.n_states} states, --states lists {len(declared)}")
    return kernel, declared


_WHICH = "say which states of the table these are, in their order: --states"


def check_codes(kernel: Kernel, states: tuple[str, ...], advice: str = _WHICH) -> None:
    """Refuse states that are not those of a kernel, which nobody has put in order."""
    if states == tuple(map(str, range(kernel.n_states))):
        return
    shown = shlex.quote(shown_list(states[:8], ",") + (",…" if len(states) > 8 else ""))
    raise SettingError(f"the kernel numbers its states 0..{kernel.n_states - 1}; {advice} {shown}")


def check_tail(names: tuple[str, ...], where: str) -> None:
    """Refuse a labelled tail among the nodes."""
    tail = tail_length(names)
    if tail:
        listed = shown_list(names[-tail:])
        raise SettingError(
            f"the last columns of {where} are a labelled tail ({listed}), not nodes: use --guide labelled or "
            "--kernel-source labelled, or leave them out"
        )
