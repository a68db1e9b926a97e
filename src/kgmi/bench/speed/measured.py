"""``Measured``: what a benchmark found, for people (tables, sentences, a picture) and for machines (JSON)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kgmi.bench.saving import save_benchmark
from kgmi.bench.speed.growth import Growth, last_exponent
from kgmi.bench.speed.machine import describe_machine, describe_versions
from kgmi.plots.growth import Curve, growth_figure

__all__ = ["Lines", "Measured", "growth_of", "save_measured"]

_DPI = 130  # recorded runs are kept with the source, so pictures should be small


@dataclass(frozen=True)
class Lines:
    """A table for people; the columns from number ``right`` on are numbers."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    right: int = 1


@dataclass(frozen=True, eq=False)
class Measured:
    """One run of a benchmark.

    Attributes
    ----------
    kind
        Its name: ``counts``, ``fit``, ``rows``, ``ascent`` or ``gpu``.
    settings
        What was asked for, as plain values.
    results
        Every single measurement, as plain values.
    growth
        Fitted laws: who, and a :class:`Growth` as plain values (see :func:`growth_of`).
    tables, sentences
        The same for people.
    curves, x_label, y_label
        The picture; no curves, no picture.
    note
        What is said below the picture, for example what an open mark means.
    """

    kind: str
    settings: dict[str, Any]
    results: list[dict[str, Any]]
    growth: list[dict[str, Any]] = field(default_factory=list)
    tables: tuple[Lines, ...] = ()
    sentences: tuple[str, ...] = ()
    curves: tuple[Curve, ...] = ()
    x_label: str = ""
    y_label: str = "seconds"
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with the machine, the versions and the time of the run (UTC)."""
        return {
            "kind": self.kind,
            "machine": describe_machine(with_gpu=self.kind == "gpu"),
            "versions": describe_versions(),
            "settings": self.settings,
            "results": self.results,
            "growth": self.growth,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
        }


def growth_of(who: str, growth: Growth, seconds: Sequence[float], sizes: Sequence[float]) -> dict[str, Any]:
    """A law of one size as an entry of :attr:`Measured.growth`, with its exponent over the last step."""
    return {"method": who, **growth.to_dict(), "last_exponent": last_exponent(seconds, sizes)}


def save_measured(
    measured: Measured, folder: Path, content: dict[str, Any] | None = None, *, force: bool = False
) -> list[Path]:
    """Write ``KIND.json`` and, where there are curves, ``KIND.png`` into the folder; the paths of both.

    ``content`` is ``measured.to_dict()``, where that was called already. Other files of these names are replaced
    with ``force`` only.
    """
    path = folder / f"{measured.kind}.json"
    save_benchmark(path, content or measured.to_dict(), force=force)
    if not measured.curves:
        return [path]
    from kgmi.plots.canvas import write_figure

    picture = folder / f"{measured.kind}.png"
    figure = growth_figure(measured.curves, measured.x_label, measured.y_label, measured.note)
    write_figure(figure, picture, _DPI, force=force)
    return [path, picture]
