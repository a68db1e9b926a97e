"""The graph as a still picture (SVG), for readers without JavaScript and until the script has run."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

from kgmi.report.tables import safe

__all__ = ["graph_picture"]

_WIDTH, _SIDE, _TOP = 800.0, 64.0, 26.0  # pixels: of the picture, and free at its sides
_LAYER = 74.0  # between layers
_HEIGHTS = (200.0, 640.0)
_PILL = 24.0  # height of a name in its box
_LETTER = 7.4  # usual width of a letter
_LONGEST = 16  # letters of a name that are shown
_DASHES = ("", "7 4", "2 3", "9 3 2 3")
_NAMED = 60  # nodes up to which names are written


def graph_picture(view: dict[str, Any]) -> str:
    """Parents above children, edges by head in colour and dashes; names up to 60 nodes, above that dots."""
    low, high = _HEIGHTS
    height = min(max(view["drawing"]["height"] * _LAYER + 2 * _TOP + _PILL, low), high)

    def place(x: float, y: float) -> tuple[float, float]:
        return _SIDE + x * (_WIDTH - 2 * _SIDE), _TOP + y * (height - 2 * _TOP)

    nodes = [place(node["x"], node["y"]) for node in view["nodes"]]
    named = view["n_nodes"] <= _NAMED
    half = _PILL / 2 if named else 4.0
    edges = [
        _edge(edge, [nodes[edge["parent"]], *(place(*bend) for bend in edge["bends"]), end], half)
        for edge, end in zip(view["edges"], _ends(view, nodes), strict=True)
    ]
    marks = [_node(view, node, nodes[node], named, half) for node in range(view["n_nodes"])]
    label = (
        f"Graph with {view['n_nodes']:,} nodes and {view['n_edges']:,} edges; the table of parents says the same"
    )
    return (
        f'<svg class="still" viewBox="0 0 {_WIDTH:g} {height:g}" role="img" aria-label="{safe(label)}">'
        f"<g>{''.join(edges)}</g><g>{''.join(marks)}</g></svg>"
    )


def _ends(view: dict[str, Any], nodes: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Where each edge arrives: those of one child side by side, in the order of where they come from."""
    arriving = defaultdict(list)
    for number, edge in enumerate(view["edges"]):
        before = edge["bends"][-1][0] if edge["bends"] else view["nodes"][edge["parent"]]["x"]
        arriving[edge["child"]].append((before, number))
    ends = [nodes[edge["child"]] for edge in view["edges"]]
    for several in arriving.values():
        for rank, (_, number) in enumerate(sorted(several)):
            x, y = ends[number]
            ends[number] = (x + 10 * (rank - (len(several) - 1) / 2), y)
    return ends


def _edge(edge: dict[str, Any], points: list[tuple[float, float]], half: float) -> str:
    (x0, y0), (x1, y1) = points[0], points[-1]
    y1 -= half + 1
    points = [(x0, y0 + half), *points[1:-1], (x1, y1 - 6)]
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (a, b), (c, d) in pairwise(points):
        middle = (b + d) / 2
        path += f"C{a:.1f} {middle:.1f} {c:.1f} {middle:.1f} {c:.1f} {d:.1f}"
    head, dash = edge["head"], _DASHES[(edge["head"] - 1) % len(_DASHES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<g class="kgmi-edge kgmi-head-{(head - 1) % 7 + 1} kgmi-{edge["strength"] or "clear"}">'
        f'<path class="kgmi-line" d="{path}"{dashes}/>'
        f'<path class="kgmi-tip" d="M{x1:.1f} {y1:.1f}l-4 -8h8z"/></g>'
    )


def _node(view: dict[str, Any], number: int, point: tuple[float, float], named: bool, half: float) -> str:
    name, kind = view["names"][number], view["nodes"][number]["kind"]
    short = name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[1 - _LONGEST // 2 :]}"
    wide = max(len(short) * _LETTER + 18, _PILL) / 2 if named else half
    text = f'<text text-anchor="middle" dy="0.35em">{safe(short)}</text>' if named else ""
    return (
        f'<g class="kgmi-node kgmi-{kind}" transform="translate({point[0]:.1f} {point[1]:.1f})">'
        f"<title>{safe(name)}</title>"
        f'<rect x="{-wide:.1f}" y="{-half:g}" width="{2 * wide:.1f}" height="{2 * half:g}" rx="{half:g}"/>'
        f"{text}</g>"
    )
