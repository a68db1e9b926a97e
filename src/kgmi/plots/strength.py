"""How sure edges are, as widths of their lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kgmi.errors import DataError
from kgmi.graph import Dag
from kgmi.learning import Learned
from kgmi.plots.style import INK
from kgmi.types import Floats

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

__all__ = ["checked_strengths", "line_width", "strength_handles", "strength_widths", "strengths_of"]

_WIDTHS = {"certain": 1.6, "clear": 1.0, "weak": 0.5}  # of the usual width


def strengths_of(learned: Learned) -> list[str]:
    """The strength of every edge, in the order of ``learned.dag.edges``."""
    names, told = learned.names, learned.trust.edges
    return [told[names[parent], names[child]] for parent, child in learned.dag.edges]


def checked_strengths(strengths: Sequence[str] | None, dag: Dag) -> list[str] | None:
    """One word for each edge, or None."""
    if strengths is None:
        return None
    if len(strengths) != dag.n_edges or not set(strengths) <= set(_WIDTHS):
        raise DataError(f"strengths must be {dag.n_edges} words, one per edge: {', '.join(_WIDTHS)}")
    return list(strengths)


def line_width(n_edges: int) -> float:
    """Width of an edge in points: thinner on larger graphs."""
    return float(np.clip(6 / np.sqrt(max(n_edges, 1)), 0.35, 1.5))


def strength_widths(strengths: Sequence[str] | None, n_edges: int) -> Floats:
    """Width of every line in points: bold where certain, thin where weak."""
    usual = line_width(n_edges)
    if strengths is None:
        return np.full(n_edges, usual)
    return np.array([usual * _WIDTHS[one] for one in strengths], dtype=np.float64)


def strength_handles(strengths: Sequence[str] | None) -> list[Line2D]:
    """Entries of a legend for the strengths that occur."""
    from matplotlib.lines import Line2D

    seen = [one for one in _WIDTHS if one in (strengths or ())]
    return [Line2D([], [], color=INK, linewidth=1.5 * _WIDTHS[one], label=f"{one} edge") for one in seen]
