"""Whole fits on 10 to 1,000 nodes, the order given: ours and peers on the same rows, F1 beside the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgmi.bench.compare import Tell
from kgmi.bench.launch import installed
from kgmi.bench.peer import Peer
from kgmi.bench.speed.measured import Lines, Measured
from kgmi.bench.speed.methods import METHODS, OURS, PEERS, label_of
from kgmi.bench.speed.points import Point, check_nodes, curve_of, note_of, shown, take_points
from kgmi.bench.speed.timing import check_sizes, shown_seconds

__all__ = ["measure_fits"]


def measure_fits(
    nodes: Sequence[int] = (10, 20, 50, 100, 200, 500, 1_000),
    n_rows: int = 10_000,
    methods: Sequence[Peer] = (OURS, *PEERS),
    *,
    seed: int = 1,
    limit: float = 600.0,
    tell: Tell | None = None,
) -> Measured:
    """Learn copies of the paper's graph with every method that is installed, each in a process of its own.

    Parameters
    ----------
    nodes
        Sizes T, multiples of 10.
    n_rows
        N.
    methods
        Of those in :mod:`kgmi.bench.speed.methods`; ``most_nodes`` says up to which size each is tried.
    seed
        Of the kernel and the rows.
    limit
        Seconds for one method on one size, its start included. One that does not finish is not tried on more nodes.
    tell
        Called with the sizes done and all of them.
    """
    check_sizes(nodes=nodes, rows=n_rows)
    check_nodes(nodes)
    ready = [method for method in methods if installed(method) is not None]
    points: list[Point] = []
    gone: dict[str, str] = {}
    for number, n_nodes in enumerate(sorted(nodes)):
        if tell is not None:
            tell(number, len(nodes))
        points += take_points(ready, n_nodes, n_rows, seed, limit, gone)
    settings = {
        "nodes": sorted(nodes),
        "n_rows": n_rows,
        "seed": seed,
        "limit_seconds": limit,
        "graph": "copies of the paper's graph of 10 nodes, each with roots of its own",
        "kernel": "the paper's, random p of the seed",
        "order": "given",
        "warm_up": "ours: other rows of the same size; peers: 200 rows of 10 nodes",
        "methods": {method.key: {"setting": method.setting, "most_nodes": method.most_nodes} for method in ready},
        "missing": [method.key for method in methods if method not in ready],
    }
    return _report(settings, points)


def _report(settings: dict[str, Any], points: list[Point]) -> Measured:
    growth, curves = [], []
    for method in METHODS:
        mine = [point for point in points if point.method.key == method.key]
        curve, law = curve_of(label_of(method), mine, "n_nodes")
        curves += [] if curve is None else [curve]
        growth += [] if law is None else [law]
    title = f"Whole fits, {settings['n_rows']:,} rows, order given (seed {settings['seed']})"
    lines = [[f"{point.n_nodes:,}", *shown(point)] for point in points if point.seconds is not None]
    fits = Lines(title, ["nodes", "method", "time", "F1", "peak MB"], lines, right=2)
    return Measured(
        kind="fit",
        settings=settings,
        results=[point.to_dict() for point in points],
        growth=growth,
        tables=(fits, *_rivals(points), *_laws(growth)),
        sentences=_sentences(settings, points),
        curves=tuple(curves),
        x_label=f"nodes T ({settings['n_rows']:,} rows, order given)",
        note=note_of(points),
    )


def _rivals(points: list[Point]) -> list[Lines]:
    """For every size our time and that of the fastest peer that found the graph."""
    lines = []
    for n_nodes in sorted({point.n_nodes for point in points}):
        here = [point for point in points if point.n_nodes == n_nodes and point.seconds is not None]
        ours = next((point for point in here if point.method.key == OURS.key), None)
        peers = [point for point in here if point.method.library != "kgmi" and point.exact]
        best = min(peers, key=_time, default=None)
        if ours is None or best is None:
            continue
        ratio = f"{_time(best) / _time(ours):.2f}"
        memory = [f"{(point.peak_bytes or 0) / 1e6:,.0f}" for point in (ours, best)]
        found = f"{ours.f1:.3f}"
        times = [shown_seconds(_time(point)) for point in (ours, best)]
        lines.append([f"{n_nodes:,}", label_of(best.method), times[1], times[0], ratio, found, *memory])
    columns = ["nodes", "fastest exact peer", "its time", "kgmi", "times as fast", "our F1", "our MB", "its MB"]
    return [Lines("kgmi and the fastest peer with F1 = 1", columns, lines, right=2)] if lines else []


def _laws(growth: list[dict[str, Any]]) -> list[Lines]:
    """How the time of each method grows with T."""
    lines = []
    for law in growth:
        error, last = law["standard_errors"]["T"], law["last_exponent"]
        power = f"{law['exponents']['T']:.2f}" + ("" if error is None else f" ± {error:.2f}")
        lines.append([law["method"], power, "–" if last is None else f"{last:.2f}", str(law["n_measured"])])
    columns = ["method", "exponent of T", "over the last step", "sizes"]
    return [Lines("Growth: time ∝ T^a", columns, lines)] if lines else []


def _sentences(settings: dict[str, Any], points: list[Point]) -> tuple[str, ...]:
    told: dict[str, str] = {}
    for point in points:
        if point.trouble is not None:
            told.setdefault(point.method.key, f"{point.method.key} at {point.n_nodes:,} nodes: {point.trouble}.")
    missing = settings["missing"]
    more = [f"Not installed, so not run: {', '.join(missing)} (pip install 'kgmi[bench]')."] if missing else []
    apart = (
        "Time is that of the learning call (the median of up to 21 calls within a second); memory is the most that "
        "the process held. Edges between roots that are drawn together count neither for nor against anybody."
    )
    return (apart, *told.values(), *more)


def _time(point: Point) -> float:
    assert point.seconds is not None
    return point.seconds
