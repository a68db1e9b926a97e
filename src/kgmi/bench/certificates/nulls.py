"""Calibration: how often the evidence against the true parents ever gets as far as it may with probability α."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log

import numpy as np

from kgmi.bench.certificates.plans import Template, check_kinds, falsehoods, options_for
from kgmi.bench.compare import Tell
from kgmi.bench.graphs.setting import Setting
from kgmi.certify import Stream
from kgmi.certify.evidence import Look
from kgmi.certify.timeline import TablesOf
from kgmi.counts.base import Counts
from kgmi.counts.bits import RowCounts
from kgmi.errors import SettingError
from kgmi.learning import learn
from kgmi.process import Process
from kgmi.types import Floats, Rows

__all__ = ["Calibration", "calibrate"]

_LOOKS = 12  # at the rows, evenly spaced, where nothing else says when to look


@dataclass(frozen=True, eq=False)
class Calibration:
    """One way to certify, on nodes whose true parents are under test.

    Attributes
    ----------
    kind
        ``known``, ``sequential`` or ``split``.
    largest
        [null node]: the largest log e-value against the true parents at any look.
    n_fits, n_false
        Graphs that were learned from the same rows and certified as a whole, and those in which anything certified
        was false, by α.
    """

    kind: str
    largest: Floats
    n_fits: int
    n_false: dict[float, int]

    def share(self, alpha: float) -> float:
        """Share of null nodes whose true parents were ever refuted at level α."""
        return float((self.largest >= log(1 / alpha)).mean())


def calibrate(
    setting: Setting,
    *,
    n_nodes: int,
    n_rows: int,
    alphas: Sequence[float],
    seed: int,
    kinds: tuple[str, ...],
    tell: Tell | None = None,
) -> list[Calibration]:
    """Test the true parents of at least ``n_nodes`` nodes in every way, at many looks each."""
    check_kinds(kinds)
    if n_nodes < 1 or n_rows < 2:
        raise SettingError(f"a calibration needs null nodes and rows, got {n_nodes} and {n_rows}")
    first = Setting(setting.graph, setting.kernel, 1).sample(seed, n_rows)[0]
    found = []
    for number, kind in enumerate(kinds):
        template = Template(kind, *first)
        n_graphs = ceil(n_nodes / template.n_decided)
        drawn = Setting(setting.graph, setting.kernel, n_graphs)
        largest: list[Floats] = []
        n_false = dict.fromkeys(alphas, 0)
        for place, (process, rows) in enumerate(drawn.sample(seed, n_rows)):
            if tell is not None:
                tell(number * n_graphs + place, len(kinds) * n_graphs)
            values, false = _one(kind, template, process, rows, alphas)
            largest.append(values)
            for alpha in alphas:
                n_false[alpha] += false[alpha]
        found.append(Calibration(kind, np.concatenate(largest)[:n_nodes], n_graphs, n_false))
    return found


def _one(
    kind: str, template: Template, process: Process, rows: Rows, alphas: Sequence[float]
) -> tuple[Floats, dict[float, bool]]:
    """Largest log e-values against the true parents of one graph, and whether a certificate of it is false."""
    stream = Stream(template.problem(process.fixed_kernel(), rows), len(rows))
    evidence = {child: stream.evidence(child) for child in stream.chosen}
    largest = np.full(len(evidence), -np.inf)
    looks: dict[int, Look] = {}
    n_counted = 0
    for piece, tables_of in _pieces(kind, stream, rows):
        n_counted += int(piece.n_rows)
        for child, one in evidence.items():
            one.add(piece, tables_of(child))
        looks = {child: one.look() for child, one in evidence.items()}
        now = [look.log_bet - look.fit_of(process.dag.parents[child]) for child, look in looks.items()]
        largest = np.maximum(largest, now)
    learned = learn(rows, **options_for(kind, process))
    false = {}
    for alpha in alphas:
        made = stream.certificate(looks, learned.dag.parents, learned.names, alpha, n_counted, 0, "sequential")
        false[alpha] = falsehoods(made, process.dag) > 0
    return largest, false


def _pieces(kind: str, stream: Stream, rows: Rows) -> list[tuple[Counts, TablesOf]]:
    """Rows with what they are predicted by, in pieces after each of which there is a look."""
    if kind == "sequential":
        return list(stream.pieces(rows))
    whole = stream.halves(rows) if kind == "split" else list(stream.pieces(rows))
    return [
        (RowCounts(part, piece.sizes), tables_of)
        for piece, tables_of in whole
        if isinstance(piece, RowCounts)
        for part in np.array_split(piece.codes, _LOOKS)
        if len(part)
    ]
