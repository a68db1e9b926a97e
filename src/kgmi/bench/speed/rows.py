"""Whole fits on 10³ to 10⁷ rows, and how their time grows with nodes and rows together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgmi.bench.compare import Tell
from kgmi.bench.speed.growth import Growth, fit_growth
from kgmi.bench.speed.measured import Lines, Measured
from kgmi.bench.speed.methods import OURS, STATIONARY, label_of
from kgmi.bench.speed.points import Point, check_nodes, curve_of, note_of, shown, take_points
from kgmi.bench.speed.timing import check_sizes

__all__ = ["measure_rows"]


def measure_rows(
    nodes: Sequence[int] = (10, 50, 200),
    rows: Sequence[int] = (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    *,
    seed: int = 1,
    limit: float = 600.0,
    most_cells: int = 100_000_000,
    tell: Tell | None = None,
) -> Measured:
    """Learn copies of the paper's graph from more and more rows: likelihood with an unknown kernel, and stationary.

    Parameters
    ----------
    nodes, rows
        Sizes T, multiples of 10, and N; all pairs of them are measured for which T · N is at most ``most_cells``
        (by default 10 nodes times 10⁷ rows).
    seed
        Of the kernel and the rows.
    limit
        Seconds for one fit, its start included.
    tell
        Called with the pairs of sizes done and all of them.
    """
    check_sizes(nodes=nodes, rows=rows)
    check_nodes(nodes)
    sizes = [(n, r) for n in sorted(nodes) for r in sorted(rows) if n * r <= most_cells]
    points: list[Point] = []
    gone: dict[int, dict[str, str]] = {n: {} for n in nodes}  # what is too slow on many rows, by nodes
    for number, (n_nodes, n_rows) in enumerate(sizes):
        if tell is not None:
            tell(number, len(sizes))
        points += take_points((OURS, STATIONARY), n_nodes, n_rows, seed, limit, gone[n_nodes])
    settings = {
        "nodes": sorted(nodes),
        "rows": sorted(rows),
        "most_cells": most_cells,
        "seed": seed,
        "limit_seconds": limit,
        "graph": "copies of the paper's graph of 10 nodes, each with roots of its own",
        "kernel": "the paper's, random p of the seed",
        "methods": {method.key: method.setting for method in (OURS, STATIONARY)},
    }
    return _report(settings, points)


def _report(settings: dict[str, Any], points: list[Point]) -> Measured:
    growth: list[dict[str, Any]] = []
    curves = []
    laws = []
    for method in (OURS, STATIONARY):
        mine = [point for point in points if point.method.key == method.key]
        for n_nodes in settings["nodes"]:
            here = [point for point in mine if point.n_nodes == n_nodes]
            curve, law = curve_of(f"{label_of(method)}, T = {n_nodes}", here, "n_rows")
            curves += [] if curve is None else [curve]
            growth += [] if law is None else [{**law, "n_nodes": n_nodes}]
        if (both := _both(mine)) is not None:
            laws.append(_law_line(label_of(method), both))
            growth.append({"method": method.key, **both.to_dict()})
    lines = [[f"{p.n_nodes:,}", f"{p.n_rows:,}", *shown(p)] for p in points]
    title = f"Whole fits by rows, order given (seed {settings['seed']})"
    tables = [Lines(title, ["nodes", "rows", "method", "time", "F1", "peak MB"], lines, right=3)]
    if laws:
        tables.append(Lines("Growth: time ∝ T^a · N^b", ["method", "a", "b", "measurements"], laws))
    return Measured(
        kind="rows",
        settings=settings,
        results=[point.to_dict() for point in points],
        growth=growth,
        tables=tuple(tables),
        sentences=tuple(
            f"{p.method.key} at {p.n_nodes:,} nodes and {p.n_rows:,} rows: {p.trouble}."
            for p in points
            if p.trouble
        ),
        curves=tuple(curves),
        x_label="rows N (order given)",
        note=note_of(points),
    )


def _both(points: Sequence[Point]) -> Growth | None:
    """T^a · N^b over all sizes."""
    done = [(point.seconds, point.n_nodes, point.n_rows) for point in points if point.seconds is not None]
    if not done:
        return None
    seconds, nodes, rows = zip(*done, strict=True)
    return fit_growth(seconds, {"T": nodes, "N": rows})


def _law_line(label: str, law: Growth) -> list[str]:
    return [label, law.shown("T"), law.shown("N"), str(law.n_measured)]
