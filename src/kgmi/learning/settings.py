"""``Settings``: the options of a fit, checked in one place."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from kgmi.attention import check_steps
from kgmi.divergence import Divergence
from kgmi.errors import SettingError
from kgmi.guides import GUIDES
from kgmi.guides.labelled import LabelledForm
from kgmi.penalty import Penalty
from kgmi.problem import SearchMode, Share

__all__ = [
    "MOST_SMOOTHING",
    "PAPER_RATE",
    "SEARCHING",
    "InDegree",
    "KernelSource",
    "Settings",
    "Solver",
    "check_whole",
]

Solver = Literal["ascent", "limit"]
InDegree = Literal["uniform", "mixed"]
KernelSource = Literal["known", "labelled", "learned"]

PAPER_RATE = 10.0
"""η of the paper's experiments."""
MOST_SMOOTHING = 1e12
"""Pseudo-rows beyond which no table of counts would show; sums of the largest numbers overflow."""
SEARCHING = ("likelihood", "contextual")
"""Guides whose heads are re-guided with each other's parents."""


@dataclass(frozen=True)
class Settings:
    """Options of :func:`kgmi.learn`, described there."""

    n_heads: int
    guide: str
    divergence: Divergence
    solver: Solver
    rate: float | None
    epochs: int
    stop: float
    smoothing: float
    in_degree: InDegree
    roots: Collection[int] | Literal["test"]
    root_level: float
    kappa: float
    labelled_form: LabelledForm
    kernel_source: KernelSource | None
    search: SearchMode
    list_length: int
    penalty: Penalty
    share: Share
    error: float | Literal["estimate"]
    starts: int
    rounds: int
    order: Literal["given", "learn"] = "given"
    classes: Mapping[str, str] | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        _one_of("guide", self.guide, (*GUIDES, "labelled", *SEARCHING))
        _one_of("solver", self.solver, ("ascent", "limit"))
        _one_of("in_degree", self.in_degree, ("uniform", "mixed"))
        _one_of("labelled_form", self.labelled_form, get_args(LabelledForm))
        _one_of("search", self.search, ("auto", "heads", "lists", "exhaustive"))
        _one_of("share", self.share, ("auto", "shared", "classes", "node"))
        if self.classes is not None and self.share in ("classes", "node"):
            other = "that no nodes do" if self.share == "node" else "that this is to be found"
            raise SettingError(
                f"classes says which nodes share kernels, and share='{self.share}' {other}; leave one of them out"
            )
        if self.guide == "labelled" and self.divergence.name != "pearson":
            raise SettingError(f"the labelled estimator is Pearson's χ²; it cannot use '{self.divergence.name}'")
        if self.guide in SEARCHING and self.divergence.name != "kl":
            raise SettingError(f"the guide '{self.guide}' takes no divergence; use guide='stationary' (or 'plain')")
        if isinstance(self.roots, str):
            _one_of("roots", self.roots, ("test",))
        check_steps(PAPER_RATE if self.rate is None else self.rate, self.epochs, self.stop)
        most = MOST_SMOOTHING
        _within("smoothing", self.smoothing, 0 <= self.smoothing <= most, f"from 0 to {most:g} pseudo-rows")
        _within("root_level", self.root_level, 0 < self.root_level < 1, "between 0 and 1")
        _within("kappa (κ)", self.kappa, self.kappa >= 0, "zero or more")
        for name in ("list_length", "starts", "rounds"):
            check_whole(name, getattr(self, name))
        self._check_error()

    def _check_error(self) -> None:
        if isinstance(self.error, str):
            _one_of("error", self.error, ("estimate",))
            if self.kernel_source == "learned":
                raise SettingError(
                    "the rate of errors cannot be estimated together with the kernel: a noisy kernel and a clean "
                    "one with errors give the same data. Give the kernel, or the rate"
                )
        elif isinstance(self.error, bool) or not isinstance(self.error, int | float | np.number):
            raise SettingError(
                f"error (ε) must be a number at least 0 and below 1, or 'estimate'; got {self.error!r}"
            )
        else:
            _within("error (ε)", self.error, 0 <= self.error < 1, "at least 0 and below 1")
        if self.error != 0 and self.guide not in SEARCHING:
            raise SettingError(f"a rate of errors needs the guide 'likelihood' or 'contextual', not '{self.guide}'")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a record."""
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        content = {name: v.item() if isinstance(v, np.generic) else v for name, v in content.items()}
        roots = self.roots if isinstance(self.roots, str) else sorted(int(r) for r in self.roots)
        content["classes"] = None if self.classes is None else dict(self.classes)
        return content | {"divergence": self.divergence.name, "penalty": self.penalty.name, "roots": roots}


def check_whole(name: str, value: object) -> None:
    """Refuse what is not a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise SettingError(f"{name} must be a whole number, got {value!r}")
    if value < 1:
        raise SettingError(f"{name} must be at least 1, got {value}")


def _one_of(name: str, value: str, options: tuple[str, ...]) -> None:
    if value not in options:
        raise SettingError(f"{name} must be one of {', '.join(options)}; got {value!r}")


def _within(name: str, value: float, inside: bool, what: str) -> None:
    if not (np.isfinite(value) and inside):
        raise SettingError(f"{name} must be {what}, got {value}")
