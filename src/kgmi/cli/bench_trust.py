"""``kgmi bench trust``: whether «certain», «clear» and «weak» keep what they promise."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from kgmi.cli import output
from kgmi.cli.display import progress_bar
from kgmi.cli.options import JsonOption
from kgmi.errors import SettingError

__all__ = ["trust"]


def trust(
    problems: Annotated[int, typer.Option(help="Random problems to learn.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the graphs, kernels and rows.")] = 1,
    json: JsonOption = False,
) -> None:
    """Learn random problems from rows alone, and count how often what is said about trust is right.

    Example: kgmi bench trust --problems 200 --seed 1

    The words must keep what they promise: nearly all edges that are called certain should be right.
    """
    from kgmi.bench.trust import level_lines, try_trust, word_lines

    if problems < 1 or seed < 0:
        raise SettingError("--problems must be at least 1, and --seed not negative")
    with progress_bar("problems", "problems", quiet=json) as tell:
        tried = try_trust(problems, seed, tell)
    if json:
        output.print_json({"problems": [asdict(one) for one in tried]})
        return
    title = f"Edges of {problems} random problems, by what is said of them"
    output.print_table(["said of an edge", "edges", "right"], word_lines(tried), title=title)
    columns = ["trust in a graph", "graphs", "mean F1", "edges right"]
    output.print_table(columns, level_lines(tried), title="The same problems, by what is said of the whole graph")
