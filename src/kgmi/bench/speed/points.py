"""``Point``: one method on one sample of copies of the paper's graph, timed in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgmi.bench.graphs.setting import Setting
from kgmi.bench.launch import Problem, Trial, left_out, run_peer
from kgmi.bench.peer import Peer
from kgmi.bench.score import score_edges
from kgmi.bench.speed.growth import fit_growth
from kgmi.bench.speed.measured import growth_of
from kgmi.bench.speed.methods import label_of
from kgmi.bench.speed.timing import shown_seconds
from kgmi.errors import SettingError
from kgmi.plots.growth import Curve
from kgmi.process import Process

__all__ = ["Point", "check_nodes", "curve_of", "draw", "note_of", "shown", "take_points"]

_COPY = 10  # nodes of the paper's graph
_OTHER = 1_000_003  # what is added to a seed for the rows of the warm-up
_SMALL = 200  # rows of the warm-up of peers


@dataclass(frozen=True)
class Point:
    """What came of it: numbers are None where it did not finish, and ``trouble`` then says why."""

    n_nodes: int
    n_rows: int
    method: Peer
    version: str | None
    seconds: float | None
    prepare_seconds: float | None
    repeats: int | None
    f1: float | None
    peak_bytes: int | None
    trouble: str | None

    @property
    def exact(self) -> bool:
        """Whether it found every edge and no other."""
        return self.f1 == 1.0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        numbers = ("seconds", "prepare_seconds", "repeats", "f1", "peak_bytes", "trouble")
        return {
            "n_nodes": self.n_nodes,
            "n_rows": self.n_rows,
            "method": self.method.key,
            "library": self.method.library,
            "version": self.version,
            "setting": self.method.setting,
            **{name: getattr(self, name) for name in numbers},
        }


def check_nodes(nodes: Sequence[int]) -> None:
    """Refuse sizes that copies of the paper's graph do not have."""
    wrong = [n for n in nodes if n % _COPY]
    if wrong:
        raise SettingError(f"the graphs are copies of the paper's {_COPY} nodes, so nodes cannot be {wrong[0]}")


def draw(n_nodes: int, n_rows: int, seed: int) -> tuple[Process, Problem]:
    """Copies of the paper's graph with one kernel, random p of that seed, and rows."""
    setting = Setting(f"copies:{n_nodes // _COPY}", "paper", 1)
    ((process, rows),) = setting.sample(seed, n_rows)
    return process, Problem(rows, process.fixed_kernel())


def take_points(
    methods: Sequence[Peer], n_nodes: int, n_rows: int, seed: int, limit: float, gone: dict[str, str]
) -> list[Point]:
    """Every method on the same rows, one after the other.

    The first call of a process is not timed: ours on other rows of the same size, since what it loads and compiles
    depends on the size; peers, which compile nothing, on a few rows of a small graph. A method that did not finish
    is entered into ``gone`` with the reason, and is not tried again.
    """
    process, problem = draw(n_nodes, n_rows, seed)
    small = draw(_COPY, _SMALL, seed + _OTHER)[1]
    points = []
    for method in methods:
        if method.key in gone:
            trial = left_out(method, gone[method.key])
        elif method.most_nodes is not None and n_nodes > method.most_nodes:
            trial = left_out(method, f"not tried beyond {method.most_nodes} nodes (--most {method.key}=T)")
        else:
            warm_up = draw(n_nodes, n_rows, seed + _OTHER)[1] if method.library == "kgmi" else small
            trial = run_peer(method, [problem], warm_up, limit, "kgmi.bench.speed")
            if trial.trouble is not None:
                gone[method.key] = f"not tried: at {n_nodes} nodes and {n_rows:,} rows it {_past(trial.trouble)}"
        points.append(_point(trial, process, n_rows))
    return points


def curve_of(label: str, points: Sequence[Point], size: str) -> tuple[Curve | None, dict[str, Any] | None]:
    """The points of one method as a curve over ``n_nodes`` (T) or ``n_rows`` (N), and its law of growth."""
    done = [(getattr(point, size), point.seconds, point.exact) for point in points if point.seconds is not None]
    if not done:
        return None, None
    sizes, seconds, exact = zip(*done, strict=True)
    law = fit_growth(seconds, {"T" if size == "n_nodes" else "N": sizes})
    curve = Curve(label, sizes, seconds, "" if law is None else str(law), exact)
    return curve, None if law is None else growth_of(points[0].method.key, law, seconds, sizes)


def note_of(points: Sequence[Point]) -> str:
    """What open marks in a picture of these points mean, where there are any."""
    wrong = any(point.seconds is not None and not point.exact for point in points)
    return "Open marks: not every edge right (F1 below 1)." if wrong else ""


def shown(point: Point) -> list[str]:
    """Method, time, F1 and memory of a point as a line of a table."""
    if point.seconds is None or point.f1 is None:
        return [label_of(point.method), "–", "–", "–"]
    memory = "–" if point.peak_bytes is None else f"{point.peak_bytes / 1e6:,.0f}"
    return [label_of(point.method), shown_seconds(point.seconds), f"{point.f1:.3f}", memory]


def _past(trouble: str) -> str:
    return f"was {trouble}" if trouble.startswith("stopped") else trouble


def _point(trial: Trial, process: Process, n_rows: int) -> Point:
    answer = trial.answers[0] if trial.answers else None
    return Point(
        n_nodes=process.n_nodes,
        n_rows=n_rows,
        method=trial.peer,
        version=trial.version,
        seconds=None if answer is None else answer.seconds,
        prepare_seconds=None if answer is None else answer.prepare_seconds,
        repeats=None if answer is None else answer.repeats,
        f1=None if answer is None else score_edges(answer.edges, process.dag).f1,
        peak_bytes=None if answer is None else answer.peak_bytes,
        trouble=trial.trouble,
    )
