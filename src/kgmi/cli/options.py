"""Options that several commands have, in the same words."""

from __future__ import annotations

from typing import Annotated

import typer

from kgmi.cli.choices import AlphabetName, InDegreeName
from kgmi.cli.helping import offers
from kgmi.cli.limits import QUOTES
from kgmi.examples import EXAMPLES
from kgmi.specs import KERNEL_HELP, KERNELS

__all__ = [
    "AlphabetOption",
    "ExampleOption",
    "ForbidOption",
    "ForceOption",
    "HeaderOption",
    "InDegreeOption",
    "JsonOption",
    "KnownKernelOption",
    "LagOption",
    "ParentsOption",
    "RequireOption",
    "RootsOption",
    "StatesOption",
    "TiersOption",
]

ExampleOption = Annotated[
    str | None,
    typer.Option(
        help=f"Use example data instead of a file: {', '.join(EXAMPLES)}.", autocompletion=offers(*EXAMPLES)
    ),
]
ParentsOption = Annotated[
    int | None,
    typer.Option(help="Most parents of a node K; by default as the kernel has, else 2, or as counts allow."),
]
KnownKernelOption = Annotated[
    str | None,
    typer.Option(help=f"The shared kernel, where it is known: {KERNEL_HELP}", autocompletion=offers(*KERNELS)),
]
InDegreeOption = Annotated[
    InDegreeName | None,
    typer.Option(help="uniform: 0 or K parents; mixed: 0 to K. By default mixed when the kernel is learned."),
]
AlphabetOption = Annotated[
    AlphabetName,
    typer.Option(help="Whether all columns share their states or each has its own (auto: by their values)."),
]
ForbidOption = Annotated[str | None, typer.Option(help=f"Edges that must not be there: PARENT>CHILD,… {QUOTES}")]
ForceOption = Annotated[
    bool,
    typer.Option(
        "--force", help="Replace files even if kgmi did not write them; never one that the command reads."
    ),
]
RequireOption = Annotated[str | None, typer.Option(help="Edges that must be there, written as for --forbid.")]
TiersOption = Annotated[
    str | None,
    typer.Option(help=f"Generations, earliest first: A,B|C,D|E; columns then in any order. {QUOTES}"),
]
LagOption = Annotated[int | None, typer.Option(help="Most columns (or tiers) between parent and child.")]
RootsOption = Annotated[
    str | None, typer.Option(help=f"Names of the roots, with commas; by default found. {QUOTES}")
]
StatesOption = Annotated[
    str | None,
    typer.Option(help=f"The states in their order, with commas; by default those that occur. {QUOTES}"),
]
HeaderOption = Annotated[bool, typer.Option(help="Whether the first line names the columns.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
