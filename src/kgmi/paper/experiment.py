"""What an experiment of the paper is: a claim, a run that measures it, checks, and a drawing of the numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Check", "Experiment", "Numbers", "Outcome", "Run", "Verdict", "verdict_of"]

Numbers: TypeAlias = dict[str, Any]
"""Plain values (numbers, texts, lists, dicts), so that they survive JSON and a figure can be drawn again."""

Verdict: TypeAlias = Literal["holds", "holds in part", "does not hold", "not measured"]


@dataclass(frozen=True)
class Check:
    """One claim against its measurement.

    Attributes
    ----------
    name
        A few words, unique within the experiment.
    claim
        What should be seen.
    measured
        What was seen, with its numbers.
    holds
        Whether the two agree; None where it could not be measured.
    source
        Who claims it: the ``paper``, or ``kgmi`` (a finding of ours, which does not enter the verdict).
    """

    name: str
    claim: str
    measured: str
    holds: bool | None
    source: Literal["paper", "kgmi"] = "paper"

    @property
    def answer(self) -> str:
        """Whether it holds, in a word or two."""
        return "not measured" if self.holds is None else "yes" if self.holds else "no"


@dataclass(frozen=True)
class Outcome:
    """What a run found.

    Attributes
    ----------
    configuration
        Everything needed to run it again, seed apart.
    numbers
        The measurements; all that the figure needs.
    checks
        Claims against measurements.
    why
        The reason for the verdict, in a sentence or two with its numbers.
    """

    configuration: Numbers
    numbers: Numbers
    checks: tuple[Check, ...]
    why: str


@dataclass(frozen=True)
class Run:
    """How to run: quickly (smaller grids, as in the tests) or in full, from which seed, telling whom.

    ``tell(share, what)`` is called now and then with the share of the work done (0 to 1) and a few words.
    """

    quick: bool = False
    seed: int = 2027
    tell: Callable[[float, str], None] = lambda share, what: None

    def rng(self, *key: int) -> np.random.Generator:
        """A generator of its own for every key, so that no experiment depends on what ran before it."""
        return np.random.default_rng([self.seed, *key])


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper.

    Attributes
    ----------
    name
        As on the command line.
    title
        As in the report.
    claim
        What the paper says, in our words.
    run
        Measures; takes a :class:`Run`.
    draw
        The numbers as figures, by file name without its ending.
    """

    name: str
    title: str
    claim: str
    run: Callable[[Run], Outcome]
    draw: Callable[[Numbers], dict[str, Figure]]


def verdict_of(checks: tuple[Check, ...]) -> Verdict:
    """All of the paper's claims hold, some, or none; what could not be measured does not count as holding."""
    held = [check.holds for check in checks if check.source == "paper"]
    if all(one is None for one in held):
        return "not measured"
    return "holds" if all(held) else "holds in part" if any(held) else "does not hold"
