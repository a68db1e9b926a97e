"""Options for graphs and kernels that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from kgmi.cli.helping import offers
from kgmi.specs import GRAPH_HELP, GRAPHS, KERNEL_HELP, KERNELS

__all__ = ["CopiesOption", "GraphOption", "KernelOption", "TunablesOption"]

GraphOption = Annotated[str, typer.Option(help=f"The graph: {GRAPH_HELP}", autocompletion=offers(*GRAPHS))]
KernelOption = Annotated[str, typer.Option(help=f"The kernel: {KERNEL_HELP}", autocompletion=offers(*KERNELS))]
CopiesOption = Annotated[int, typer.Option(help="Disjoint copies of the graph.")]
TunablesOption = Annotated[str | None, typer.Option("--p", help="Tunables p_0..p_8 of the paper's kernel.")]
