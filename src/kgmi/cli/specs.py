"""Options for graphs and kernels that several commands share, and the process that they make."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from kgmi.cli.helping import offers
from kgmi.process import Process
from kgmi.specs import GRAPH_HELP, GRAPHS, KERNEL_HELP, KERNELS, read_graph, read_kernel
from kgmi.table import default_names

__all__ = ["CopiesOption", "GraphOption", "KernelOption", "TunablesOption", "process_in_order"]

GraphOption = Annotated[str, typer.Option(help=f"The graph: {GRAPH_HELP}", autocompletion=offers(*GRAPHS))]
KernelOption = Annotated[str, typer.Option(help=f"The kernel: {KERNEL_HELP}", autocompletion=offers(*KERNELS))]
CopiesOption = Annotated[int, typer.Option(help="Disjoint copies of the graph.")]
TunablesOption = Annotated[str | None, typer.Option("--p", help="Tunables p_0..p_8 of the paper's kernel.")]


def process_in_order(graph: str, copies: int, kernel: str, p: str | None) -> tuple[Process, tuple[str, ...]]:
    """The process with its nodes numbered parents first, as heads look at them, and their names."""
    dag = read_graph(graph, copies)
    names = default_names(dag.n_nodes)
    process = Process(dag.renumbered(np.argsort(dag.order)), read_kernel(kernel, p))
    return process, tuple(names[node] for node in dag.order)
