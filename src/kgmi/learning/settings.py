"""``Settings``: the options of a fit, checked in one place."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kgmi.ascent import check_steps
from kgmi.divergence import Divergence
from kgmi.errors import SettingError
from kgmi.guides import GUIDES
from kgmi.guides.labelled import LabelledForm

__all__ = ["InDegree", "Settings", "Solver"]

Solver = Literal["ascent", "limit"]
InDegree = Literal["uniform", "mixed"]


@dataclass(frozen=True)
class Settings:
    """Options of :func:`kgmi.learn`, described there."""

    n_heads: int
    guide: str
    divergence: Divergence
    solver: Solver
    rate: float
    epochs: int
    stop: float
    smoothing: float
    in_degree: InDegree
    roots: Collection[int] | Literal["test"]
    root_level: float
    kappa: float
    labelled_form: LabelledForm

    def __post_init__(self) -> None:
        _one_of("guide", self.guide, (*GUIDES, "labelled"))
        _one_of("solver", self.solver, ("ascent", "limit"))
        _one_of("in_degree", self.in_degree, ("uniform", "mixed"))
        _one_of("labelled_form", self.labelled_form, ("printed", "factorised"))
        if self.guide == "labelled" and self.divergence.name != "pearson":
            raise SettingError(f"the labelled estimator is Pearson's χ²; it cannot use '{self.divergence.name}'")
        if isinstance(self.roots, str):
            _one_of("roots", self.roots, ("test",))
        check_steps(self.rate, self.epochs, self.stop)
        _within("smoothing", self.smoothing, self.smoothing >= 0, "zero or more pseudo-rows")
        _within("root_level", self.root_level, 0 < self.root_level < 1, "between 0 and 1")
        _within("kappa (κ)", self.kappa, self.kappa >= 0, "zero or more")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a record."""
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        content = {name: v.item() if isinstance(v, np.generic) else v for name, v in content.items()}
        roots = self.roots if isinstance(self.roots, str) else sorted(int(r) for r in self.roots)
        return content | {"divergence": self.divergence.name, "roots": roots}


def _one_of(name: str, value: str, options: tuple[str, ...]) -> None:
    if value not in options:
        raise SettingError(f"{name} must be one of {', '.join(options)}; got {value!r}")


def _within(name: str, value: float, inside: bool, what: str) -> None:
    if not (np.isfinite(value) and inside):
        raise SettingError(f"{name} must be {what}, got {value}")
