"""All experiments by name, in the order of the report."""

from __future__ import annotations

from kgmi.errors import SettingError
from kgmi.paper import assumptions, collapse, degrees, heatmaps, table, theorems
from kgmi.paper.divergences import long, short
from kgmi.paper.experiment import Experiment
from kgmi.paper.rates import gap, length

__all__ = ["EXPERIMENTS", "experiments_named"]

_ROOMS = (collapse, heatmaps, length, gap, short, long, table, degrees, assumptions, theorems)
EXPERIMENTS: dict[str, Experiment] = {room.EXPERIMENT.name: room.EXPERIMENT for room in _ROOMS}


def experiments_named(name: str) -> tuple[Experiment, ...]:
    """One experiment, or ``all`` of them."""
    if name == "all":
        return tuple(EXPERIMENTS.values())
    if name not in EXPERIMENTS:
        raise SettingError(f"there is no experiment '{name}'; choose all or one of {', '.join(EXPERIMENTS)}")
    return (EXPERIMENTS[name],)
