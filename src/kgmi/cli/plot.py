"""``kgmi plot``: pictures of a saved result."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kgmi.cli.display import live
from kgmi.cli.options import ForceOption
from kgmi.cli.terminal import say
from kgmi.errors import SettingError
from kgmi.record import load

__all__ = ["plot"]


class PictureName(StrEnum):
    """What can be drawn; the same as ``kgmi.plots.FIGURE_NAMES``."""

    graph = "graph"
    layers = "layers"
    attention = "attention"
    overlay = "overlay"
    scores = "scores"
    training = "training"
    kernel = "kernel"
    marginals = "marginals"
    margins = "margins"


class FormatName(StrEnum):
    """How pictures are written."""

    png = "png"
    svg = "svg"
    pdf = "pdf"


def plot(
    record: Annotated[Path, typer.Argument(help="Folder of a result, or its record.json.", metavar="RESULT")],
    what: Annotated[
        list[PictureName] | None,
        typer.Argument(
            help="graph: arcs along the order. layers: parents above children. attention, scores: a heat map per "
            "head. overlay: two heads in one. training: curves over epochs. kernel: its table. marginals: what "
            "each head sees of it, and the law of each node. margins: how clear each choice was. By default all "
            "that apply.",
            metavar="WHAT",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder, or for one picture a file such as graph.svg; by default the result's folder."),
    ] = None,
    force: ForceOption = False,
    kind: Annotated[
        FormatName | None,
        typer.Option("--format", help="How to write them; by default as the file says, else png."),
    ] = None,
    width: Annotated[
        float | None, typer.Option(help="Width in inches; letters keep their size. By default as needed.")
    ] = None,
    dpi: Annotated[int, typer.Option(help="Dots per inch of png files.")] = 200,
) -> None:
    """Draw a saved result: graph, attention, scores, training, kernel and margins, as png, svg or pdf.

    Example: kgmi plot result

    Example: kgmi plot result layers --out graph.svg --width 6

    Pictures that do not apply (a kernel that is too large, a training that was skipped) are left out, and it says
    why. Colours can be told apart by everybody and in print.
    """
    from kgmi.plots import FIGURE_NAMES, figure_of, save_figures, why_not
    from kgmi.plots.canvas import write_figure

    names = [str(name) for name in what or FIGURE_NAMES]
    file = _file(out, names, kind)
    learned = load(record)
    reasons = {name: reason for name in names if (reason := why_not(learned, name))}
    if len(reasons) == len(names):
        raise SettingError("; ".join(f"no picture «{name}»: {reason}" for name, reason in reasons.items()))
    with live("pictures", quiet=False):
        if file is not None:
            write_figure(figure_of(learned, names[0], width), file, dpi, force=force)
            paths = [file]
        else:
            home = record if record.is_dir() else record.parent
            folder = home if out is None else out
            paths = save_figures(learned, folder, str(kind or "png"), names, width, dpi, force=force)
    for path in paths:
        say(f"wrote {path}")
    for name, reason in reasons.items():
        say(f"kgmi: note: no picture «{name}»: {reason}", err=True)


def _file(out: Path | None, names: list[str], kind: FormatName | None) -> Path | None:
    """The file to write, where one is named; then it must be for one picture, in the format of its ending."""
    ending = "" if out is None else out.suffix.removeprefix(".").lower()
    if out is None or out.is_dir() or not ending:
        if out is not None and out.is_file():
            raise SettingError(f"{out} is a file; --out needs a folder, or a file that ends in .png, .svg or .pdf")
        return None
    if ending not in set(FormatName):
        raise SettingError(f"pictures are written as png, svg or pdf, not as {out.name}; a folder must be there")
    if len(names) != 1:
        raise SettingError(f"{out} is one file: name the one picture for it, or give a folder")
    if kind is not None and kind != ending:
        raise SettingError(f"{out.name} and --format {kind} do not agree; leave one of them out")
    return out.with_suffix(f".{ending}")
