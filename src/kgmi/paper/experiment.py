"""What an experiment is: settings, a run that measures, checks of claims, and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from kgmi.paper.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Check", "Experiment", "Numbers", "Outcome", "Run", "Verdict", "reason_of", "table", "verdict_of"]

Numbers: TypeAlias = dict[str, Any]
"""Plain values (numbers, texts, lists, dicts), so that they survive JSON and a figure can be drawn again."""

_FEW = 3  # failed claims up to which a reason gives their measurements

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
        Who claims it: the ``paper`` (or another source of the experiment), or ``kgmi`` (a finding of ours, which
        does not enter the verdict).
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

    @property
    def whose(self) -> str:
        """Who claims it, as in the tables."""
        return "paper" if self.source == "paper" else "ours"


@dataclass(frozen=True)
class Outcome:
    """What a run found.

    Attributes
    ----------
    numbers
        The measurements; all that the figures need.
    checks
        Claims against measurements.
    tables
        Tables for the report, made by :func:`table`.
    remark
        What the checks do not say, in a sentence or two.
    """

    numbers: Numbers
    checks: tuple[Check, ...]
    tables: tuple[Numbers, ...] = ()
    remark: str = ""


@dataclass(frozen=True)
class Run:
    """Seed and progress of one run; ``tell(share, what)`` receives the share of the work done (0 to 1)."""

    seed: int = 2027
    tell: Callable[[float, str], None] = lambda share, what: None

    def rng(self, *key: int) -> np.random.Generator:
        """A generator of its own for every key, so that no experiment depends on what ran before it."""
        return np.random.default_rng([self.seed, *key])


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper, or of the laboratory.

    Attributes
    ----------
    name
        As on the command line.
    title
        As in the report.
    claim
        What the source says, in our words.
    settings
        The class of its settings; the defaults are the paper's.
    quick
        Settings of a quick run, where they differ.
    run
        Measures; takes settings and a :class:`Run`.
    draw
        The numbers as figures, by file name without its ending.
    source
        Who makes the claim.
    """

    name: str
    title: str
    claim: str
    settings: type[Settings]
    run: Callable[[Any, Run], Outcome]
    draw: Callable[[Numbers], dict[str, Figure]]
    quick: Mapping[str, Any] = field(default_factory=dict)
    source: str = "The paper"


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> Numbers:
    """A table of texts for the report."""
    return {"title": title, "columns": list(columns), "rows": [list(row) for row in rows], "note": note}


def reason_of(checks: tuple[Check, ...]) -> str:
    """The reason for the verdict: how many claims of the source hold, and which do not."""
    own = [check for check in checks if check.source == "paper"]
    failed = [check for check in own if check.holds is False]
    absent = [check.name for check in own if check.holds is None]
    few = len(failed) <= _FEW
    listed = "; ".join(f"{check.name} ({check.measured.rstrip('.')})" if few else check.name for check in failed)
    text = f"{sum(bool(check.holds) for check in own)} of {len(own)} claims hold."
    text += f" Not confirmed: {listed}." if failed else ""
    return text + (f" Not measured: {'; '.join(absent)}." if absent else "")


def verdict_of(checks: tuple[Check, ...]) -> Verdict:
    """All claims of the source hold, some, or none; what could not be measured does not count as holding."""
    held = [check.holds for check in checks if check.source == "paper"]
    if all(one is None for one in held):
        return "not measured"
    return "holds" if all(held) else "holds in part" if any(held) else "does not hold"
